/* Consistent values over all constraint levels: the point nearest to given values that satisfies
 * every equation, hidden ones too.
 *
 *     minimise  sum_i ((u_i - given_i) / reach_i)^2 weight_i   subject to  R(u) = 0,  u_i = given_i
 * if fixed
 *
 * One engine for the start, for events and for restarts of models; dimension m x n of R arbitrary.
 */
#ifndef DAE_INIT_LEVELS_H
#define DAE_INIT_LEVELS_H

#include "daedal.h"
#include "problem/residual.h"

/* R(u) = 0: m equations in n unknowns with a sparse Jacobian. */
typedef struct level_system {
    int n, m;
    eval_status (*residual)(void *user, const double *u, double *r);
    eval_status (*jacobian)(void *user, const double *u, double *values); /* in CSC order */
    const int *colptr, *rowind;                                           /* n columns, m rows */
    const char *const *variable_names, *const *equation_names;
    const int *equation_lines; /* or NULL */
    void *user;
} level_system;

/* What is known of the unknowns. All arrays borrowed. */
typedef struct level_request {
    const dae_tag *tag;  /* n: FIXED stays, GUESS is preferred, FREE may go anywhere near */
    const double *given; /* n */
    const double *scale; /* n: > 0, nominal sizes: all tests are relative to them */
    const double *reach; /* n: > 0, how far preferred values go for the same price; NULL: scale */
    double tolerance;    /* of unknowns, relative to scale: 1e-12, say */
    /* n each, or NULL: a correction of relative_j |u_j| + absolute_j matters to nobody. A point
     * where Newton's correction is larger is no solution, however small residuals are there. */
    const double *relative, *absolute;
    int iterations; /* at most, in each stage */
    /* n, or NULL: unknowns of lower rank move only for equations that have no higher ones, so that
     * a jump of velocities leaves positions alone. */
    const int *rank;
    const bool *open;  /* n, or NULL: preferred values that nobody gave */
    const bool *state; /* n, or NULL: states of the model, free or not */
    /* n, or NULL: given values are guesses of these: of several solutions the one near them */
    const bool *guessed;
    bool kept;        /* preferred values are those of a run: none begins elsewhere */
    bool turned;      /* searches that leave their start look at the negative side first */
    bool unexplained; /* nobody reads why it failed: no search for what contradicts itself */
    bool count_rank;  /* for the report: orthogonal factors of all equations, as a rule */
} level_request;

typedef enum level_stage {
    LEVEL_GIVEN,
    LEVEL_NEWTON,
    LEVEL_GAUSS_NEWTON,
    LEVEL_HOMOTOPY
} level_stage;

typedef struct level_report {
    level_stage stage; /* which stage succeeded */
    int iterations;
    double residual; /* scaled, largest, at the end */
    int redundant;   /* equations that follow from the others there, if they are counted, */
    int rank;        /* and how many do not */
    bool in_parts;   /* equations that free unknowns can meet came last */
    /* Where the search had to leave the start: an unknown of which the equations have another
     * solution, -1: none was seen; and that solution (n, owned). */
    int other;
    double *other_u;
    /* On conflict: an irreducible set of equations and fixed values that cannot hold together. */
    int *equation, equation_count; /* owned */
    int *fixed, fixed_count;       /* owned: unknowns */
} level_report;

/* u: start of the iteration and result. DAE_OK, DAE_ERR_INITIAL with names in diag (the irreducible
 * conflict, or the equations that remain worst), DAE_ERR_EVALUATION naming the equation that could
 * not be evaluated, with u where it could not, DAE_ERR_MEMORY. */
dae_status levels_solve(const level_system *system, const level_request *request, double *u,
                        level_report *report, dae_diag *diag);
void level_report_free(level_report *report);

#endif
