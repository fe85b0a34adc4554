/* Intervals of a function of time and of its first two derivatives. */
#ifndef DAE_JUDGE_JUDGE_INTERVAL_H
#define DAE_JUDGE_JUDGE_INTERVAL_H

#include <stdbool.h>

#include "modelica/syntax/ast.h"

typedef struct interval {
    double low, high;
} interval;

/* f, f', f'' over an interval of time. Booleans are 0 and 1. Where f jumps or bends, its
 * derivatives are unbounded. */
typedef struct jet {
    interval d[3];
} jet;

jet jet_constant(double v);
jet jet_unknown(void);
jet jet_operator(ast_op op, jet a, jet b);
jet jet_function(const char *name, jet u); /* elementary functions, abs, sign, floor, ceil */
jet jet_mod(jet a, jet b);
jet jet_extreme(bool largest, jet a, jet b);
jet jet_either(jet a, jet b); /* one of the two, changing within the interval */

#endif
