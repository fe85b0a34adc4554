/* Inside of the level engine: problems over a subset of equations, and the stages that solve them.
 */
#ifndef DAE_INIT_LEVELS_PARTS_H
#define DAE_INIT_LEVELS_PARTS_H

#include "init/engine.h"
#include "init/levels.h"
#include "linalg/kkt.h"
#include "structure/index/matching.h"
#include "structure/index/signature.h"

/* One point of the whole system, shared by all problems over parts of it. */
typedef struct level_work {
    const level_system *system;
    const level_request *request;
    double tolerance;
    int iterations;  /* at most, in each stage */
    double *u;       /* n: what the callbacks see; owned like the rest */
    double *origin;  /* n: given values of fixed and preferred unknowns, the start of free ones */
    double *r;       /* m */
    double *values;  /* of the Jacobian */
    double *size;    /* m: max_j |dR_i/du_j| scale_j */
    double *noise;   /* m: rounding errors of R_i */
    double *rough;   /* m: rounding errors that were measured, cancellation within R_i too */
    double *seen;    /* m: the largest size met so far */
    double *first;   /* m: the first size met */
    bool *displaced; /* n: its search began elsewhere than at the start given */
    int failed_row, failed_column; /* of the last evaluation that failed; -1: not known */
} level_work;

/* R_i = offset_i for some rows i in some columns; the other unknowns stand still. */
typedef struct level_problem {
    level_work *work; /* borrowed */
    int m, n;
    int *row, *column;               /* in the system; owned like the rest */
    int *colptr, *rowind, *position; /* pattern, and where its values are in the system's */
    kkt *solver;
    bool *preferred;   /* n: keep near `origin` */
    bool *free;        /* n: the others */
    double *u, *trial; /* n */
    double *good;      /* n: the last point where all rows were met */
    double *start;     /* n */
    double *least;     /* n: the least squares solution, if one was looked for */
    double *r, *misfit;
    double *offset;                               /* m */
    double *values, *B;                           /* Jacobian, and scaled */
    double *rows, *columns;                       /* B = diag(rows) J diag(columns) */
    double *normal, *tangent, *before, *step, *w; /* n */
    double *sizes;                                /* n: max(scale_j, |u_j|) at the last Jacobian */
    double rcond, misfits;      /* of Newton's iteration: idea of rank; the largest misfit so far */
    double *rhs;                /* m */
    const deflation *deflation; /* borrowed, while it lasts */
    bool least_change;          /* move along the solutions towards `origin`, too */
    int iterations;             /* of one Newton iteration, at most */
    int used;                   /* iterations so far */
} level_problem;

/* levels_problem.c */

bool level_work_new(level_work *work, const level_system *system, const level_request *request,
                    const double *u);
void level_work_free(level_work *work);

/* The problem of `rows` (m numbers) with the unknowns that they contain and that `held` does not
 * hold. Starts from work->u. False: memory. */
bool level_problem_new(level_problem *p, level_work *work, int m, const int *rows,
                       const bool *held);
void level_problem_free(level_problem *p);

/* r = R(u) - offset at the problem's unknowns u */
engine_outcome level_residual(level_problem *p, const double *u, double *r);
/* Jacobian at u: values, and sizes and noise of the rows */
engine_outcome level_jacobian(level_problem *p, const double *u);
/* misfit_i = |r_i| in units of the unknown that moves row i most, less rounding errors; returns the
 * largest. */
double level_misfit(level_problem *p, const double *r);
/* Measure the rounding errors of R at u, where the Jacobian is known and r = R(u) - offset: what
 * terms that cancel each other leave cannot be seen in derivatives. */
engine_outcome level_measure_noise(level_problem *p, const double *u, const double *r);
/* Whether a misfit is so small that rounding errors may be all of it. */
bool level_suspicious(const level_problem *p, double misfit);
/* B from the Jacobian: rows scaled to 1, unknowns in their scales, free ones in their own sizes. */
void level_scale(level_problem *p);
/* Whether Newton's correction for p->r, less rounding errors, with the factors at hand, is so small
 * that it matters to nobody. */
bool level_close(level_problem *p);
/* How far unknown j of the system may be moved from u without mattering to anybody. */
double level_allowed(const level_request *q, int j, double u);
/* Unknowns of the problem to work->u. */
void level_store(level_problem *p);

/* How sure the value of an unknown is: 2 fixed, 1 preferred, 0 preferred though nobody gave it, -1
 * free. */
int level_surety(const level_request *q, int j);

/* Rank of the scaled Jacobian that Newton's iteration counts on, relative. */
#define LEVEL_RANK 1e-11

/* levels_newton.c, levels_least_squares.c, levels_homotopy.c, levels_bracket.c: the stages. On
 * ENGINE_MET, p->u is the solution. */
engine_outcome level_newton(level_problem *p, double rcond);
/* The same along the curve of engine_follow(). */
engine_outcome level_followed(level_problem *p, double rcond);
/* To a solution that is not known, if engine_deflated() finds it. */
engine_outcome level_deflated(level_problem *p, double rcond, const deflation *known);
engine_outcome level_least_squares(level_problem *p);
/* Equations that are flat at the start, one by one between values of opposite sign, then Newton's
 * iteration. */
engine_outcome level_bracketed(level_problem *p);
/* Newton's iteration from the problem's start, or beside it where that is singular. */
engine_outcome level_from_start(level_problem *p);
/* All stages from the problem's start. *stage tells which succeeded; on ENGINE_STALLED p->u is the
 * least squares solution. */
engine_outcome level_stages(level_problem *p, level_stage *stage);

/* levels_split.c */

/* The pattern by rows; to be freed in any case. False: memory. */
bool level_rows(const level_system *s, signature *rows);
/* A matching of unknowns to the equations that determine them, which grows by matching_add. */
typedef struct level_matching {
    matching of;   /* of.row_of[i]: the unknown of equation i, or -1 */
    size_t *start; /* owned */
} level_matching;
bool level_matching_new(level_matching *m, const level_system *s); /* false: memory; free it then */
void level_matching_free(level_matching *m);

/* core[i]: equation i belongs to the structurally over-determined part of the free unknowns, that
 * is, free unknowns cannot meet it on their own; settled[j]: free unknown j stands in those
 * equations only or among them. Returns how many equations do not belong to it, or -1: memory. */
int level_split(const level_system *system, const dae_tag *tag, bool *core, bool *settled);

/* levels_blocks.c */

/* Unknowns one block after the other, from equations that contain no other one that is not known: r
 * = sqrt(x^2 + y^2) before 1/r^3; blocks that have no solution from their start begin elsewhere. In
 * work->u. ENGINE_STALLED: there are too many of them. */
engine_outcome level_blocks(level_work *work);

/* levels_near.c */

/* Whether some value has gone far from its guess in `start`. */
bool level_left(const level_work *work, const double *start);
/* work->u, a solution, or another one that is nearer to the guess; report->other is then that at
 * work->u. ENGINE_MET, or what ends all. */
engine_outcome level_nearest(level_work *work, const bool *held, const double *start,
                             level_report *report);

/* levels_other.c */

/* At the solution work->u, with the Jacobian there: another one for unknowns that were displaced,
 * in the report. ENGINE_MET, ENGINE_STOP or ENGINE_MEMORY. */
engine_outcome level_another(level_work *work, level_report *report);

/* levels_rank.c */

/* Rank of the rows at the problem's point, for the report. */
engine_outcome level_rank(level_problem *p, int *rank);

/* levels_conflict.c */

/* At the least squares solution work->u: an irreducible set of equations and fixed unknowns that
 * cannot hold together. instead[k]: the value that fixed unknown k of the set would take if it were
 * free (owned by the caller). ENGINE_STALLED: no small set was found. */
engine_outcome level_conflict(level_work *work, level_report *report, double **instead);

/* levels_message.c */

dae_status level_failure(const level_work *work, engine_outcome outcome, dae_diag *diag);
dae_status level_conflict_message(const level_work *work, const level_report *report,
                                  const double *instead, dae_diag *diag);

#endif
