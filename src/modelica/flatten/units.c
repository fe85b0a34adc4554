/* Units of measurement. [MLS chapter "Unit Expressions"; BIPM, The International System of Units,
 * 9th edition] */
#include "modelica/flatten/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

enum { M, KG, S, A, K, MOL, CD };

typedef struct unit_entry {
    const char *name;
    double factor;
    signed char exponent[UNIT_DIMENSIONS];
    bool prefixed; /* k, m, .. may stand before it */
} unit_entry;

static const double PI = 3.14159265358979323846;

static const unit_entry entries[] = {
    {"m", 1.0, {[M] = 1}, true},
    {"g", 1e-3, {[KG] = 1}, true},
    {"s", 1.0, {[S] = 1}, true},
    {"A", 1.0, {[A] = 1}, true},
    {"K", 1.0, {[K] = 1}, true},
    {"mol", 1.0, {[MOL] = 1}, true},
    {"cd", 1.0, {[CD] = 1}, true},
    {"rad", 1.0, {0}, true},
    {"sr", 1.0, {0}, true},
    {"Hz", 1.0, {[S] = -1}, true},
    {"N", 1.0, {[KG] = 1, [M] = 1, [S] = -2}, true},
    {"Pa", 1.0, {[KG] = 1, [M] = -1, [S] = -2}, true},
    {"J", 1.0, {[KG] = 1, [M] = 2, [S] = -2}, true},
    {"W", 1.0, {[KG] = 1, [M] = 2, [S] = -3}, true},
    {"C", 1.0, {[A] = 1, [S] = 1}, true},
    {"V", 1.0, {[KG] = 1, [M] = 2, [S] = -3, [A] = -1}, true},
    {"F", 1.0, {[KG] = -1, [M] = -2, [S] = 4, [A] = 2}, true},
    {"Ohm", 1.0, {[KG] = 1, [M] = 2, [S] = -3, [A] = -2}, true},
    {"S", 1.0, {[KG] = -1, [M] = -2, [S] = 3, [A] = 2}, true},
    {"Wb", 1.0, {[KG] = 1, [M] = 2, [S] = -2, [A] = -1}, true},
    {"T", 1.0, {[KG] = 1, [S] = -2, [A] = -1}, true},
    {"H", 1.0, {[KG] = 1, [M] = 2, [S] = -2, [A] = -2}, true},
    {"lm", 1.0, {[CD] = 1}, true},
    {"lx", 1.0, {[CD] = 1, [M] = -2}, true},
    {"Bq", 1.0, {[S] = -1}, true},
    {"Gy", 1.0, {[M] = 2, [S] = -2}, true},
    {"Sv", 1.0, {[M] = 2, [S] = -2}, true},
    {"kat", 1.0, {[MOL] = 1, [S] = -1}, true},
    {"l", 1e-3, {[M] = 3}, true},
    {"L", 1e-3, {[M] = 3}, true},
    {"bar", 1e5, {[KG] = 1, [M] = -1, [S] = -2}, true},
    {"t", 1e3, {[KG] = 1}, true},
    {"eV", 1.602176634e-19, {[KG] = 1, [M] = 2, [S] = -2}, true},
    {"Wh", 3600.0, {[KG] = 1, [M] = 2, [S] = -2}, true},
    {"min", 60.0, {[S] = 1}, false},
    {"h", 3600.0, {[S] = 1}, false},
    {"d", 86400.0, {[S] = 1}, false},
    {"deg", PI / 180.0, {0}, false},
    {"rev", 2.0 * PI, {0}, false},
    {"rpm", 2.0 * PI / 60.0, {[S] = -1}, false},
    {"degC", 0.0, {[K] = 1}, false},
    {"degF", 0.0, {[K] = 1}, false},
    {"degRk", 5.0 / 9.0, {[K] = 1}, false},
};

static const struct {
    const char *name;
    double factor;
} prefixes[] = {{"da", 1e1},  {"Y", 1e24},  {"Z", 1e21},  {"E", 1e18},  {"P", 1e15},
                {"T", 1e12},  {"G", 1e9},   {"M", 1e6},   {"k", 1e3},   {"h", 1e2},
                {"d", 1e-1},  {"c", 1e-2},  {"m", 1e-3},  {"u", 1e-6},  {"n", 1e-9},
                {"p", 1e-12}, {"f", 1e-15}, {"a", 1e-18}, {"z", 1e-21}, {"y", 1e-24}};

/* ---- reading ---- */

static void entry_unit(const unit_entry *e, double prefix, unit *out)
{
    *out = (unit){.factor = e->factor * prefix};
    for (int k = 0; k < UNIT_DIMENSIONS; k++) out->exponent[k] = e->exponent[k];
}

static const unit_entry *find_entry(const char *name, size_t length)
{
    for (size_t k = 0; k < sizeof entries / sizeof *entries; k++)
        if (strlen(entries[k].name) == length && strncmp(entries[k].name, name, length) == 0)
            return &entries[k];
    return NULL;
}

/* A unit's name with or without prefix. */
static bool read_name(const char *name, size_t length, unit *out)
{
    const unit_entry *e = find_entry(name, length);
    if (e) {
        entry_unit(e, 1.0, out);
        return true;
    }
    for (size_t k = 0; k < sizeof prefixes / sizeof *prefixes; k++) {
        size_t n = strlen(prefixes[k].name);
        if (length <= n || strncmp(prefixes[k].name, name, n) != 0) continue;
        e = find_entry(name + n, length - n);
        if (!e || !e->prefixed) continue;
        entry_unit(e, prefixes[k].factor, out);
        return true;
    }
    return false;
}

static void multiply_into(unit *a, const unit *b, double exponent)
{
    for (int k = 0; k < UNIT_DIMENSIONS; k++) a->exponent[k] += exponent * b->exponent[k];
    if (b->factor == 1.0) return;
    a->factor *= b->factor == 0.0 ? 0.0 : pow(b->factor, exponent);
}

/* exponent = [+-]digits */
static double read_exponent(const char **at)
{
    double sign = 1.0, n = 0.0;
    const char *c = *at;
    if (*c == '+' || *c == '-') sign = *c++ == '-' ? -1.0 : 1.0;
    if (*c < '0' || *c > '9') return 1.0;
    for (; *c >= '0' && *c <= '9'; c++)
        if (n < 1e6) n = 10.0 * n + (*c - '0');
    *at = c;
    return sign * n;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool read_product(const char **at, unit *out, int depth);

/* factor = name [exponent] | "(" product ")" [exponent] | "1" */
static bool read_factor(const char **at, unit *into, int depth)
{
    unit one = {.factor = 1.0};
    if (**at == '1' && !(at[0][1] >= '0' && at[0][1] <= '9')) {
        ++*at;
        return true;
    }
    if (**at == '(') {
        ++*at;
        if (depth > 20 || !read_product(at, &one, depth + 1) || **at != ')') return false;
        ++*at;
    } else {
        const char *start = *at;
        while (is_letter(**at)) ++*at;
        if (*at == start || !read_name(start, (size_t)(*at - start), &one)) return false;
    }
    multiply_into(into, &one, read_exponent(at));
    return true;
}

/* product = factor { "." factor } [ "/" factor ] */
static bool read_product(const char **at, unit *out, int depth)
{
    if (!read_factor(at, out, depth)) return false;
    while (**at == '.' || **at == '*') {
        ++*at;
        if (!read_factor(at, out, depth)) return false;
    }
    while (**at == '/') {
        unit below = {.factor = 1.0};
        ++*at;
        if (!read_factor(at, &below, depth)) return false;
        multiply_into(out, &below, -1.0);
        while (**at == '.' || **at == '*') {
            ++*at;
            if (!read_factor(at, out, depth)) return false;
        }
    }
    return true;
}

bool unit_read(const char *text, unit *out)
{
    *out = (unit){.factor = 1.0};
    snprintf(out->text, sizeof out->text, "%s", text);
    return read_product(&text, out, 0) && *text == '\0';
}

/* ---- spelling a computed unit ---- */

/* The named unit with these dimensions and factor 1, or NULL. */
static const char *coherent_name(const unit *u)
{
    static const char *const preferred[] = {"N",  "Pa", "J", "W", "C", "V", "F", "Ohm", "S",
                                            "Wb", "T",  "H", "m", "s", "A", "K", "mol", "cd"};
    if (fabs(u->factor - 1.0) > 1e-12) return NULL;
    for (size_t k = 0; k < sizeof preferred / sizeof *preferred; k++) {
        unit known;
        if (!read_name(preferred[k], strlen(preferred[k]), &known)) continue;
        bool same = true;
        for (int d = 0; d < UNIT_DIMENSIONS; d++)
            if (fabs(u->exponent[d] - known.exponent[d]) > 1e-9) same = false;
        if (same) return preferred[k];
    }
    return NULL;
}

static void spell_powers(const unit *u, double sign, char *text, size_t size, int *count)
{
    static const char *const names[] = {"m", "kg", "s", "A", "K", "mol", "cd"};
    static const int order[] = {KG, M, S, A, K, MOL, CD};
    *count = 0;
    text[0] = '\0';
    for (int k = 0; k < UNIT_DIMENSIONS; k++) {
        double e = sign * u->exponent[order[k]];
        if (e < 1e-9) continue;
        size_t at = strlen(text);
        snprintf(text + at, size - at, fabs(e - 1.0) < 1e-9 ? "%s%s" : "%s%s%g", *count ? "." : "",
                 names[order[k]], e);
        ++*count;
    }
}

static bool is_plain(const char *text, const char *without)
{
    return text[0] && text[strcspn(text, without)] == '\0' && strchr(text, ' ') == NULL;
}

/* Text of a product or quotient from those of its factors, as a person would write it. */
static bool spell_pair(const unit *a, const unit *b, double exponent, char *text, size_t size)
{
    if (exponent == 1.0 && is_plain(a->text, "/1") && is_plain(b->text, "/1"))
        return snprintf(text, size, "%s.%s", a->text, b->text) < (int)size;
    if (exponent == -1.0 && is_plain(a->text, "/") && is_plain(b->text, "./1"))
        return snprintf(text, size, "%s/%s", a->text, b->text) < (int)size;
    return false;
}

static void spell(unit *u, const unit *a, const unit *b, double exponent)
{
    char above[UNIT_TEXT], below[UNIT_TEXT], text[3 * UNIT_TEXT];
    int up, down;
    const char *name = coherent_name(u);
    if (!name && spell_pair(a, b, exponent, u->text, sizeof u->text)) return;
    spell_powers(u, 1.0, above, sizeof above, &up);
    spell_powers(u, -1.0, below, sizeof below, &down);
    if (name)
        snprintf(text, sizeof text, "%s", name);
    else if (down == 0)
        snprintf(text, sizeof text, "%s", up ? above : "1");
    else
        snprintf(text, sizeof text, down > 1 ? "%s/(%s)" : "%s/%s", up ? above : "1", below);
    if (u->factor != 0.0 && fabs(u->factor - 1.0) > 1e-12)
        snprintf(u->text, sizeof u->text, "%g %.*s", u->factor, UNIT_TEXT - 20, text);
    else
        snprintf(u->text, sizeof u->text, "%.*s", UNIT_TEXT - 1, text);
}

/* ---- the table ---- */

static bool same_unit(const unit *a, const unit *b)
{
    for (int k = 0; k < UNIT_DIMENSIONS; k++)
        if (fabs(a->exponent[k] - b->exponent[k]) > 1e-9) return false;
    if (a->factor == 0.0 || b->factor == 0.0) return true; /* offsets: not compared */
    return fabs(a->factor - b->factor) <= 1e-9 * fabs(a->factor);
}

static int table_add(unit_table *t, const unit *u)
{
    if (!dae_grow(&t->units, &t->capacity, t->count + 1, sizeof *u)) {
        t->failed = true;
        return UNIT_UNKNOWN;
    }
    t->units[t->count++] = *u;
    return (int)t->count;
}

static bool table_begin(unit_table *t) /* number 1 is the unit "1" */
{
    unit one;
    return t->count > 0 || (unit_read("1", &one) && table_add(t, &one) == UNIT_ONE);
}

void unit_table_free(unit_table *t)
{
    dae_free(t->units);
    *t = (unit_table){0};
}

/* Spell what has no text yet: factors have smaller numbers, so theirs come first. Only messages and
 * texts that are new show it. */
static void spell_all(unit_table *t)
{
    for (size_t k = 0; k < t->count; k++) {
        unit *u = &t->units[k];
        if (u->left == 0 || u->text[0]) continue;
        spell(u, &t->units[u->left - 1], &t->units[u->right - 1], u->power);
    }
}

/* The first unit with that text; `read`: of those that were read, not computed. */
static int find_text(const unit_table *t, const char *text, bool read)
{
    for (size_t k = 0; k < t->count; k++)
        if (!(read && t->units[k].left > 0) && strcmp(t->units[k].text, text) == 0)
            return (int)k + 1;
    return UNIT_UNKNOWN;
}

/* Whether some computed unit is the same: no other can have its text. */
static bool is_computed(const unit_table *t, const unit *u)
{
    for (size_t k = 0; k < t->count; k++)
        if (t->units[k].left > 0 && same_unit(&t->units[k], u)) return true;
    return false;
}

int unit_number(unit_table *t, const char *text)
{
    unit u;
    if (!table_begin(t)) return UNIT_UNKNOWN;
    int known = find_text(t, text, true);
    if (known != UNIT_UNKNOWN) return known;
    if (!unit_read(text, &u)) return UNIT_UNKNOWN;
    if (is_computed(t, &u)) {
        spell_all(t);
        known = find_text(t, u.text, false);
    }
    return known != UNIT_UNKNOWN ? known : table_add(t, &u);
}

static int table_find(unit_table *t, const unit *u)
{
    for (size_t k = 0; k < t->count; k++)
        if (t->units[k].factor == u->factor && same_unit(&t->units[k], u)) return (int)k + 1;
    return table_add(t, u);
}

/* Whether a power is so high that no quantity has it: partial products of thousands of factors,
 * each of which would make the table, and with it every search, longer. */
static bool is_beyond_physics(const unit *u)
{
    enum { MOST_POWER = 64 };
    for (int k = 0; k < UNIT_DIMENSIONS; k++)
        if (fabs(u->exponent[k]) > MOST_POWER) return true;
    return false;
}

static int combine(unit_table *t, int a, int b, double exponent)
{
    if (!table_begin(t) || a <= 0 || b <= 0) return UNIT_UNKNOWN;
    const unit *left = &t->units[a - 1];
    unit u = {.factor = left->factor, .left = a, .right = b, .power = exponent};
    memcpy(u.exponent, left->exponent, sizeof u.exponent);
    multiply_into(&u, &t->units[b - 1], exponent);
    if (u.factor == 0.0) return UNIT_UNKNOWN; /* products of temperatures with an offset */
    if (is_beyond_physics(&u)) return UNIT_UNKNOWN;
    return table_find(t, &u);
}

int unit_multiply(unit_table *t, int a, int b)
{
    return combine(t, a, b, 1.0);
}

int unit_divide(unit_table *t, int a, int b)
{
    return combine(t, a, b, -1.0);
}

int unit_power(unit_table *t, int a, double exponent)
{
    return combine(t, UNIT_ONE, a, exponent);
}

bool unit_agree(const unit_table *t, int a, int b)
{
    return a <= 0 || b <= 0 || a == b || same_unit(&t->units[a - 1], &t->units[b - 1]);
}

int unit_join(int a, int b)
{
    if (a == UNIT_LITERAL) return b;
    if (b == UNIT_LITERAL) return a;
    return a == UNIT_UNKNOWN || b == UNIT_UNKNOWN ? UNIT_UNKNOWN : a;
}

bool unit_is_number(const unit_table *t, int a)
{
    return a <= 0 || t->count == 0 || same_unit(&t->units[a - 1], &t->units[0]) ||
           same_unit(&t->units[a - 1], &(unit){.factor = 0.0});
}

const char *unit_text(unit_table *t, int a)
{
    spell_all(t);
    return a > 0 && (size_t)a <= t->count ? t->units[a - 1].text : "";
}
