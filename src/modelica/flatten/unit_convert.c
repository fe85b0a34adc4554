/* Numbers from one unit to another. [BIPM, The International System of Units, 9th edition] */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "modelica/flatten/units.h"

enum { SECOND = 2 }; /* its place among the dimensions */

/* How others spell what Modelica spells in ASCII. */
static const struct {
    const char *other, *ours;
} spellings[] = {{"\u00B0C", "degC"}, {"\u00B0F", "degF"}, {"\u00B0", "deg"}, {"\u2126", "Ohm"},
                 {"\u03A9", "Ohm"},   {"\u00B5", "u"},     {"\u03BC", "u"},   {"^", ""}};

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || (c & 0x80);
}

/* A blank between two words is a product, "N m"; other blanks mean nothing. */
static const char *blank_as(const char *text, const char *blank)
{
    bool between = blank > text && is_word(blank[-1]) && is_word(blank[1]);
    return between ? "." : "";
}

/* false: the unit is too long to be one */
static bool spell_plainly(const char *text, char plain[UNIT_TEXT])
{
    size_t at = 0, count = sizeof spellings / sizeof *spellings;
    for (const char *c = text; *c;) {
        size_t k = 0, taken = 1;
        char same[2] = {*c, '\0'};
        const char *ours = *c == ' ' ? blank_as(text, c) : same;
        while (k < count && strncmp(c, spellings[k].other, strlen(spellings[k].other)) != 0) k++;
        if (k < count) ours = spellings[k].ours, taken = strlen(spellings[k].other);
        if (at + strlen(ours) >= UNIT_TEXT) return false;
        at += (size_t)snprintf(plain + at, UNIT_TEXT - at, "%s", ours);
        c += taken;
    }
    plain[at] = '\0';
    return true;
}

/* A unit whose values v are (v + shift)*factor in SI units; false: not known. */
static bool read_scale(const char *text, unit *u, double *shift)
{
    *shift = strcmp(text, "degC") == 0 ? 273.15 : strcmp(text, "degF") == 0 ? 459.67 : 0.0;
    if (!unit_read(text, u)) return false;
    if (*shift != 0.0) u->factor = strcmp(text, "degC") == 0 ? 1.0 : 5.0 / 9.0;
    return u->factor != 0.0;
}

static bool has_angle(const char *text)
{
    return strstr(text, "rad") || strstr(text, "deg") || strstr(text, "rev") || strstr(text, "rpm");
}

/* A frequency in 1/s and an angular velocity in rad/s have the same dimension, but 1/min may count
 * revolutions: nobody can say by which number they differ. */
static bool differ_by_turns(const unit *u, const char *a, const char *b)
{
    return u->exponent[SECOND] == -1.0 && has_angle(a) != has_angle(b);
}

static bool measure_the_same(const unit *a, const unit *b)
{
    for (int k = 0; k < UNIT_DIMENSIONS; k++)
        if (fabs(a->exponent[k] - b->exponent[k]) > 1e-9) return false;
    return true;
}

/* x*a/b, where a/b or b/a is most often a whole number: 3 ms are the number 0.003. */
static double scaled(double x, double a, double b)
{
    bool up = a >= b;
    double ratio = up ? a / b : b / a;
    if (fabs(ratio - round(ratio)) <= 1e-14 * ratio) ratio = round(ratio);
    return up ? x * ratio : x / ratio;
}

double unit_converted(double value, const char *from, const char *to)
{
    char a[UNIT_TEXT], b[UNIT_TEXT];
    unit one, other;
    double first, second;
    if (!spell_plainly(from, a) || !spell_plainly(to, b)) return NAN;
    if (strcmp(a, b) == 0) return value;
    if (!read_scale(a, &one, &first) || !read_scale(b, &other, &second)) return NAN;
    if (!measure_the_same(&one, &other) || differ_by_turns(&one, a, b)) return NAN;
    return scaled(value + first, one.factor, other.factor) - second;
}
