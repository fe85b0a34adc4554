/* Parameters by simulation: what its files share. */
#ifndef DAE_SOLVE_OPTIMISE_OPTIMISE_RUNS_H
#define DAE_SOLVE_OPTIMISE_OPTIMISE_RUNS_H

#include "solve/optimise/optimise_parts.h"

/* A search at work. Rows: conditions along the path at each sample, conditions at the end. */
typedef struct run_search {
    dae_optimum *q;
    dae_solver *solver;
    dae_sensitivity *slopes;
    expr *e; /* path, end, objective; owned, as all below */
    int count;
    expr_code code;
    bool compiled;
    model_tangent *tangent;
    int flat; /* variables of the flat model */
    double *y, *s, *visible, *value;
    double *last;        /* parameters of the last run, */
    bool known;          /* which there was, */
    double *g, *slope;   /* its rows, and their derivatives, m each */
    double f, *gradient; /* and what is minimised */
    double *scale;       /* of parameters */
    double f_scale;      /* of the objective: its gradient is about 1, as parameters are */
    double *row_scale;   /* of rows, likewise */
    double *sizes;       /* of variables, at the looks of all runs so far */
    double *best;        /* the best point of all runs that meets the conditions, */
    double best_f;       /* what counts there; NAN: there was none */
    double *lambda;      /* multipliers of rows at the end of the search */
    double *pair;        /* two runs between which the objective changes other than its gradients
                            say, most of all: parameters */
    double pair_off;     /* by how much; -1: there are none */
    bool watching;       /* runs of the search, not those that look at the result */
    double atol;         /* of runs */
    int rows, iterations;
    int earlier;    /* iterations of searches before this one */
    double *origin; /* where a repeated search began, */
    double *found;  /* and in units of the model */
    bool repeated;  /* it is one: it mends, and does not go far, */
    long most_runs; /* nor on without end */
    bool stopped;
    bool doubtful; /* what was found does not hold in its own units */
    dae_diag diag; /* of the last run that failed */
} run_search;

/* ---- optimise_runs.c ---- */

/* A run at x: rows, objective and derivatives. False: there is none, w->diag says why. */
bool opt_run_with(run_search *w, const double *x);
/* The same, unless it is the last run. */
bool opt_run_evaluate(run_search *w, const double *x);
/* The last run, at x, may be the best so far. */
void opt_run_keep(run_search *w, const double *x);
/* The largest violation of a row, and that in units of rows; *worst: of which one the latter is. */
double opt_run_violation(const run_search *w, double *relative, int *worst);
const opt_condition *opt_run_condition(const dae_optimum *q, int row);
/* -1 where the largest value is sought. */
double opt_run_sign(const run_search *w);
/* Of the search, in its units. */
double opt_run_tolerance(const dae_optimum *q);

/* ---- optimise_settle.c ---- */

/* What a look at the result of a search says of it. */
typedef struct run_doubt {
    int parameter; /* that the objective or a condition is in doubt by; -1: none, it is settled */
    double gain;   /* what the objective may still change by; 0: a condition is not met */
    double tolerance; /* of the objective */
} run_doubt;

/* Whether what was found holds in the units of the result itself. If not, units of parameters are
 * those in which it may be mended. x may move to a better point. False: memory, or no run at x. */
bool opt_run_doubts(run_search *w, double *x, run_doubt *doubt);
/* At the guess: units of parameters that neither it nor bounds give. False: as above. */
bool opt_run_first_units(run_search *w, double *x);

#endif
