#include "base/decimal.h"

#include <ctype.h>
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

/* With the locale's point in place of '.'; exact rounding is left to strtod. */
double decimal_value(const char *text, size_t length)
{
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
