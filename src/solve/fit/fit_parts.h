/* What the files of this room share. */
#ifndef DAE_SOLVE_FIT_FIT_PARTS_H
#define DAE_SOLVE_FIT_FIT_PARTS_H

#include "daedal.h"
#include "linalg/singular_values.h"

/* A fit at work: r_i = (value - data)/sigma over all measured values of all experiments. */
typedef struct fit {
    dae_problem *problem;
    dae_fit_request request;
    int count, rows;       /* parameters; residuals */
    double *x;             /* count: parameters */
    double *lower, *upper; /* count */
    double *r, *trial_r;   /* rows */
    double *J;             /* rows x count by columns: dr/dx */
    double *weighted_r;    /* rows: as the loss counts them, */
    double *weighted_J;    /* and their derivatives */
    double *start;         /* count: where the search began */
    double *range;         /* rows: largest size of what the row measures, over its sigma */
    double *effect;        /* count: what a parameter that doubles moves, as part of that, */
    bool *blind;           /* and whether that is below what the derivatives leave open */
    double cost;
    int runs;
    bool sloped; /* J is that of x */
} fit;

/* fit_data.c */

/* Whether names, times, bounds and columns are sound; counts the residuals. */
dae_status fit_check(const dae_problem *problem, const dae_fit_request *r, int *rows,
                     dae_diag *diag);
/* Value of a parameter, or of a start value, as the problem has it. */
double fit_value(const dae_problem *problem, const char *name);
/* Sum of squares of the data over their standard deviations. */
double fit_data_size(const dae_fit_data *d);
/* r, and J unless it is NULL, at x. */
dae_status fit_evaluate(fit *q, const double *x, double *r, double *J, dae_diag *diag);

/* range, by the data and the residuals r. */
void fit_ranges(fit *q);

/* fit_rank.c */

/* Relative error of derivatives: what is below it counts as 0. */
double fit_open(const fit *q);
/* effect and blind, by J and r. */
void fit_look(fit *q);

/* Combinations of parameters, in units of their effect. */
typedef struct fit_split {
    int count;     /* columns of weighted_J that are taken */
    int *at;       /* count: their parameters; owned */
    double *unit;  /* count: their lengths; owned */
    rank_split of; /* of these columns, each of length 1 */
} fit_split;

/* Of the parameters that `take` marks (NULL: all) and that are not blind. False: memory. */
bool fit_split_new(fit_split *s, const fit *q, const bool *take);
void fit_split_free(fit_split *s);

/* fit.c */

/* The loss of all residuals. */
double fit_cost(const fit *q, const double *r);

/* fit_report.c: errors, correlations, and what the data do not see, at the best point. */
dae_status fit_report(const fit *q, dae_fit_result *result, dae_diag *diag);

#endif
