/* The point on the unit circle, models/circle.mo [Wun05 (8.1)]: what the rows of the chapters
 * share. */
#ifndef DAE_BENCH_SEEDS_CIRCLE_H
#define DAE_BENCH_SEEDS_CIRCLE_H

#include "seeds.h"

#include <string.h>

/* Tolerances of section 8.1 for models/circle.mo, and of 8.2: lambda' has ten times that of lambda
 */
#define POSITIONS " --rtol 1e-4 --atol-of 'q*=1e-4'"
#define CIRCLE_TOLERANCES POSITIONS " --atol-of 'v*=1e-2' --atol-of lambda=1e-2"
/* Beyond t = 1, so that no step is cut there */
#define ROWS_AND_STEPS " --stop 1.5 --interval 0.1 --history -"
/* w1 has the name v2 here, and w2 the tolerance of what a formulation adds: --atol. */
#define MINIMAL_TOLERANCES                                                                         \
    POSITIONS " --atol 1e-2 --atol-of v1=1e-2 --atol-of v2=1e-3 --atol-of lambda=1e-2"

/* |error| of q1, q2, v1, v2 or lambda at a time for which there is a row */
double circle_error(seeds_run *run, const seeds_command_result *r, const char *name, double t);

/* A part of the text that a command prints */
static inline void says(seeds_run *run, const seeds_command_result *r, const char *words,
                        const char *printed)
{
    bool found = strstr(r->out, words) != NULL;
    seeds_holds(run, "", found, found ? words : "not in the output", printed);
}

/* A row whose first command shows it */
#define ROW(name, place, about, function)                                                          \
    {                                                                                              \
        .id = name, .where = place, .what = about, .run = function                                 \
    }

#endif
