/* Units of measurement: "N.m", "kg/(m.s2)", "1/min", .. read, multiplied and compared. Syntax and
 * names as in the Modelica Language Specification, chapter "Unit Expressions". */
#ifndef DAE_MODELICA_FLATTEN_UNITS_H
#define DAE_MODELICA_FLATTEN_UNITS_H

#include <stdbool.h>
#include <stddef.h>

enum { UNIT_DIMENSIONS = 7, UNIT_TEXT = 64 }; /* m kg s A K mol cd; the radian counts as 1 */

typedef struct unit {
    double exponent[UNIT_DIMENSIONS];
    double factor;        /* to SI units; 0: not comparable (degC and other offsets) */
    char text[UNIT_TEXT]; /* empty: not spelled yet, */
    int left, right;      /* which is for units that were computed: left * right^power */
    double power;
} unit;

enum { UNIT_UNKNOWN = 0, UNIT_LITERAL = -1, UNIT_ONE = 1 };

/* Units in use, each once; numbers start at 1. */
typedef struct unit_table {
    unit *units;
    size_t count, capacity;
    bool failed; /* memory */
} unit_table;

bool unit_read(const char *text, unit *out); /* false: not a known unit */

/* The value in unit `to` of a value in unit `from`; NAN: one is not known, or they measure
 * different things. '^' may be left out, and a blank be a product. Two texts that are the same need
 * not be known. */
double unit_converted(double value, const char *from, const char *to);

void unit_table_free(unit_table *t);
int unit_number(unit_table *t, const char *text); /* UNIT_UNKNOWN if it cannot be read */
int unit_multiply(unit_table *t, int a, int b);
int unit_divide(unit_table *t, int a, int b);
int unit_power(unit_table *t, int a, double exponent);
/* Whether a sum of both makes sense: also if one is unknown or a literal. */
bool unit_agree(const unit_table *t, int a, int b);
/* What a sum of both has. */
int unit_join(int a, int b);
bool unit_is_number(const unit_table *t, int a); /* 1 or rad, or not known */
const char *unit_text(unit_table *t, int a);

#endif
