/* Lines: a problem from its model text and from callbacks, beside other codes. */
#ifndef BENCH_LINES_H
#define BENCH_LINES_H

#include "../radau.h"
#include "../work_precision.h"
#include "event_problem.h"

#include <stdio.h>

enum { WAYS_MOST = 20, DIGITS_MOST = 8 };

/* A problem. One of e and hybrid is there. */
typedef struct line {
    char name[32];
    entry *e;              /* owned; a mechanism with constraints on accelerations */
    entry *second;         /* owned; a mechanism's constraints on velocities, else NULL */
    event_problem *hybrid; /* owned */
    const char *file;      /* the model text under BENCH_ROOT */
    const char *set;       /* an assignment for it, or "" */
    double tend;
    int compared;
    bool each; /* digits of each variable by itself */
    const double *reference;
    bool hard;       /* thousands of events: two digits less are asked for */
    int most;        /* digits that are not more than those of the reference, or than codes reach */
    double patience; /* seconds for one run after which a code is given up */
    dae_problem *native, *tape; /* owned; the text, translated once */
    int *position;              /* owned; of the compared values among the variables of the text */
    int unknowns;               /* of the text */
} line;

line *line_new(const char *name); /* NULL: unknown, or the text is wrong; exits without memory */
void line_free(line *l);          /* NULL is fine */
extern const char *const line_names[];
extern const int line_count;

/* A way to a solution */
typedef struct way {
    const char *name;
    bool ours;
    bool (*suits)(const line *l);
    void (*solve)(const struct way *w, line *l, double rtol, run *out);
} way;

enum { WAY_NATIVE, WAY_TAPE, WAY_FIRST, WAY_CALLBACKS, WAYS_OF_OURS };
extern const way ways[];
extern const int way_count;
const char *ways_open(void); /* loads the other codes; what is missing, or NULL */

/* The text of a line as a problem; NULL if that fails */
dae_problem *line_translate(const line *l, dae_engine engine);
/* Absolute tolerances for the text: rtol times the nominal values, of what is compared times the
 * sizes that all codes get. The caller frees them. */
double *line_text_atol(const line *l, const dae_problem *problem, double rtol);
/* new, start, run and free; then the compared values */
void line_solve_text(const line *l, dae_problem *problem, double rtol, run *out);

/* What a run of the program does */
typedef struct wishes {
    int rounds, digits[DIGITS_MOST], digit_count;
    double step; /* of the ladder of tolerances, in powers of ten */
    bool verbose, table;
    const char *codes; /* between commas; NULL: all */
    FILE *csv;         /* NULL: none */
} wishes;

typedef struct record {
    curve c;
    int failures, beyond; /* runs that failed; that have more digits than any that is asked for */
    bool given_up;
} record;

/* All tolerances, all ways in turn; records has way_count places */
void line_measure(line *l, const wishes *w, record *records);
/* Number i of the digits asked for, fewer where that is hard; 0: none */
int line_digits(const line *l, const wishes *w, int i);
double record_time(const record *r, int digits); /* NAN: not reached */

void table_begin(const wishes *w);
void table_line(const line *l, const wishes *w, const record *records);
void table_end(const wishes *w);

#endif
