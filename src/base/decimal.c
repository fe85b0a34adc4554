#include "base/decimal.h"

#include <ctype.h>
#include <float.h>
#include <locale.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static size_t digits(const char *text)
{
    size_t n = 0;
    while (isdigit((unsigned char)text[n])) n++;
    return n;
}

size_t decimal_length(const char *text)
{
    size_t n = digits(text), behind = text[n] == '.' ? digits(text + n + 1) : 0;
    if (n + behind == 0) return 0;
    if (text[n] == '.') n += 1 + behind;
    if (text[n] != 'e' && text[n] != 'E') return n;
    size_t sign = text[n + 1] == '+' || text[n + 1] == '-' ? 1 : 0;
    size_t exponent = digits(text + n + 1 + sign);
    return exponent > 0 ? n + 1 + sign + exponent : n;
}

/* digits * 10^exponent where both are exact in double, so that one operation rounds as it should:
 * at most 15 digits and a power of ten up to 10^22 [Cli90]. False: it is no such number. */
static bool short_value(const char *text, size_t length, double *value)
{
    static const double ten_to[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    enum { MOST_DIGITS = 15, MOST_POWER = 22 };
    long long whole = 0;
    size_t i = 0;
    int taken = 0, power = 0, written = 0;
    for (bool behind = false; i < length; i++) {
        if (text[i] == '.' && !behind) {
            behind = true;
            continue;
        }
        if (!isdigit((unsigned char)text[i])) break;
        if (++taken > MOST_DIGITS) return false;
        whole = 10 * whole + (text[i] - '0');
        power -= behind;
    }
    if (i < length && taken > 0 && (text[i] == 'e' || text[i] == 'E')) {
        bool less = ++i < length && text[i] == '-';
        i += i < length && (text[i] == '-' || text[i] == '+');
        for (size_t from = i; i < length && isdigit((unsigned char)text[i]); i++) {
            if (i - from > 2) return false;
            written = 10 * written + (text[i] - '0');
        }
        power += less ? -written : written;
    }
    if (taken == 0 || i != length || abs(power) > MOST_POWER) return false;
    *value = power < 0 ? (double)whole / ten_to[-power] : (double)whole * ten_to[power];
    return true;
}

/* With the locale's point in place of '.'; exact rounding is left to strtod. */
double decimal_value(const char *text, size_t length)
{
    double value;
    if (FLT_EVAL_METHOD == 0 && short_value(text, length, &value)) return value;
    char copy[DECIMAL_LONGEST + 16];
    const char *point = localeconv()->decimal_point;
    size_t n = 0, point_length = strlen(point);
    if (point_length == 0 || point_length > 8) point = ".", point_length = 1;
    if (length > DECIMAL_LONGEST) length = DECIMAL_LONGEST;
    for (size_t i = 0; i < length; i++) {
        bool is_point = text[i] == '.';
        memcpy(copy + n, is_point ? point : text + i, is_point ? point_length : 1);
        n += is_point ? point_length : 1;
    }
    copy[n] = '\0';
    return strtod(copy, NULL);
}
