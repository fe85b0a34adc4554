/* What the files of this room share: collocation of F(t, Y, Y') = 0, the index-1 form of a model
 * with all constraints, at the points of Radau IIA on a mesh t_0 < .. < t_N, with controls u and
 * parameters p as unknowns of an optimisation.
 *
 * Point 0 is the start, point 1 + s i + a is stage a of interval i. Each has a block of B = n + d +
 * c numbers: Y (n), slopes of the d states, shifts of the c controls. The blocks, then p, are the
 * vector x. Rows are, for each point, F and conditions along the path; for each stage and state
 *
 *     X_ia - X_i - h_i sum_b A_ab X'_ib = 0
 *
 * where X_i is that of the last stage before; conditions at both ends. docs/optimise.md. */
#ifndef DAE_SOLVE_OPTIMISE_OPTIMISE_PARTS_H
#define DAE_SOLVE_OPTIMISE_OPTIMISE_PARTS_H

#include <math.h>

#include "solve/bvp/mesh_solution.h"
#include "solve/optimise/ipopt.h"
#include "solve/sensitivity/sensitivity_parts.h"

/* lower <= e <= upper */
typedef struct opt_condition {
    char *text; /* as it was given; owned */
    expr e;     /* over flat variables, then over the unknowns of the form */
    double lower, upper;
} opt_condition;

typedef struct opt_conditions {
    int count;
    opt_condition *list; /* owned */
    size_t room;
} opt_conditions;

/* Values of expressions over one block and p, with their derivatives, and those of second order of
 * their sum with weights. */
typedef struct opt_program {
    int rows;
    expr_code code[3]; /* values, first and second derivatives */
    bool made[3];
    size_t first_count, second_count;
    int *first_row, *first_column;   /* owned, as all below */
    int *second_row, *second_column; /* row >= column */
    double *value, *first, *second;
} opt_program;

typedef mesh_solution opt_solution; /* x: blocks of all points, then p */

struct dae_optimum {
    const dae_model *model; /* while the search is at work */
    dae_optimise_request request;
    dae_problem *problem;  /* with controls as numbers; owned */
    dae_solver *companion; /* its form is collocated; it never steps; owned */
    const model_form *form;
    model_instance *instance;
    const collocation *method;
    double reach[2]; /* error of the polynomial over h times its defect, at the start of an interval
                        and in its middle */
    int n, d, c, m;  /* unknowns of the form, states, controls, parameters */
    int *state;      /* d: which unknowns; owned, as all below */
    int *number;     /* n: which state; -1: none */
    int *variable;   /* c: visible variable of a control, */
    int *slot;       /* c: where its shift begins in the memory, */
    double *base;    /* c: what the shift adds to */
    int *parameter;  /* m: of the model */
    double *lower, *upper; /* c + m: bounds of shifts and parameters */
    double *guess;         /* c + m: in the same units */
    expr *bound_value;     /* per parameter of the model: what it is over those that are varied, or
                              EXPR_NONE: it does not move */
    int derived;           /* control whose derivative the equations contain; -1: none */
    opt_conditions start, path, end;
    expr objective, integral; /* over the unknowns of the form; EXPR_NONE: none */
    int rows;                 /* of F */
    bool whole_start;         /* F holds at the start, too: conditions need it */
    opt_program at_point, at_start, at_end;
    double *scale;                   /* B + m: what numbers of a block and p are in units of */
    double *local;                   /* B + m, and weights of rows behind them */
    double *y, *yp, *weights, *work; /* n each */
    opt_solution solution;
    dae_optimise_stats stats;
    double *path_price; /* per condition along the path: what its violation gains; owned */
    double path_error;  /* of conditions along the path between points, in tolerances */
    double run_time;    /* by simulation: where values were asked for last */
    dae_diag diag;
};

static inline int opt_block(const dae_optimum *q)
{
    return q->n + q->d + q->c;
}
static inline int opt_points(const dae_optimum *q, int intervals)
{
    return 1 + intervals * q->method->stages;
}
static inline size_t opt_at(const dae_optimum *q, int point)
{
    return (size_t)point * (size_t)opt_block(q);
}
static inline size_t opt_at_p(const dae_optimum *q, int intervals)
{
    return opt_at(q, opt_points(q, intervals));
}
static inline size_t opt_size(const dae_optimum *q, int intervals)
{
    return opt_at_p(q, intervals) + (size_t)q->m;
}
/* The time of a point. */
static inline double opt_time(const dae_optimum *q, const opt_solution *s, int point)
{
    if (point == 0) return s->t[0];
    const int i = (point - 1) / q->method->stages, a = (point - 1) % q->method->stages;
    return s->t[i] + q->method->nodes[a] * (s->t[i + 1] - s->t[i]);
}

/* What the objective may be off. */
static inline double opt_objective_tolerance(const dae_optimum *q, double value)
{
    return q->request.rtol * fabs(value) + q->request.atol;
}

dae_status opt_no_memory(dae_diag *diag);

/* ---- optimise_texts.c: expressions and conditions, read with the model ---- */

/* Translate the model with controls as numbers; conditions over flat variables. */
dae_status opt_translate(dae_optimum *q, dae_diag *diag);
/* Room for one more. NULL: memory. */
opt_condition *opt_add(opt_conditions *list, const char *text, double lower, double upper);
void opt_conditions_free(opt_conditions *list);

/* ---- optimise_form.c: the form, programs over it ---- */

dae_status opt_take_form(dae_optimum *q, dae_diag *diag);
void opt_program_free(opt_program *p);
/* Values (0), first (1) or second (2) derivatives at q->local. */
void opt_program_run(const dae_optimum *q, opt_program *p, double t, int what);
/* Parameters that are not varied may have changed. */
void opt_programs_prepare(dae_optimum *q);

/* ---- optimise_nlp.c: one mesh as a problem of IPOPT ---- */

/* From what s holds to the best of its mesh. *ended: how the search did; s has the last iterate in
 * any case. */
dae_status opt_solve_mesh(dae_optimum *q, opt_solution *s, bool warm, ipopt_end *ended,
                          dae_diag *diag);

/* What IPOPT sees of one mesh; for tests, too. */
typedef struct opt_nlp {
    dae_optimum *q;
    const opt_solution *mesh;
    int size, rows;
    size_t jacobian, hessian;                                           /* entries */
    int *jacobian_row, *jacobian_column, *hessian_row, *hessian_column; /* owned, as all below */
    double *lower, *upper, *row_lower, *row_upper;
    double *x;                          /* scaled */
    double *lambda;                     /* multipliers of rows at the end of the search */
    double objective_scale, *row_scale; /* their gradients are about 1, as x is */
    double smoothing;                   /* what ripples of controls cost; 0: nothing */
    double hessian_factor;              /* that of the objective, while a Hessian is put together */
    long iterations;
    bool stopped;
} opt_nlp;

dae_status opt_nlp_new(opt_nlp *p, dae_optimum *q, const opt_solution *s, dae_diag *diag);
void opt_nlp_free(opt_nlp *p);
bool opt_nlp_objective(opt_nlp *p, const double *x, double *value);
bool opt_nlp_gradient(opt_nlp *p, const double *x, double *gradient);
bool opt_nlp_rows(opt_nlp *p, const double *x, double *g);
bool opt_nlp_jacobian(opt_nlp *p, const double *x, double *values);
bool opt_nlp_hessian(opt_nlp *p, const double *x, double factor, const double *lambda,
                     double *values);

/* ---- optimise_units.c ---- */

/* Units by the guess s, once for all meshes. False: memory. */
bool opt_choose_units(dae_optimum *q, const opt_solution *s);
/* Units by the solution s, where they differ much from those so far. Whether there were such. */
bool opt_units_of(dae_optimum *q, const opt_solution *s);

/* ---- optimise_mesh.c ---- */

bool opt_solution_new(const dae_optimum *q, int intervals, opt_solution *s); /* false: memory */
/* A block at part r of interval i, on the polynomials. */
void opt_polynomial(const dae_optimum *q, const opt_solution *s, int i, double r, double *block);
/* All unknowns of the form at t: states on the polynomials, controls too, but within their bounds,
 * the rest by the equations. q->local is the block. False: the equations give no rest. */
bool opt_point(dae_optimum *q, const opt_solution *s, double t, double *y, double *yp);
/* Parameters of s hold from now on. */
dae_status opt_set_parameters(dae_optimum *q, const opt_solution *s, dae_diag *diag);
/* Error of the states in each interval, in tolerances; the largest one. */
double opt_estimate(dae_optimum *q, const opt_solution *s, double *error);
/* A finer mesh with the values of s: by errors of states, or where controls change. */
bool opt_refine(const dae_optimum *q, const opt_solution *s, const double *error,
                opt_solution *next);
bool opt_refine_controls(const dae_optimum *q, const opt_solution *s, opt_solution *next);

/* ---- optimise_guess.c ---- */

dae_status opt_guess(dae_optimum *q, dae_bvp_guess guess, opt_solution *s, dae_diag *diag);

/* ---- optimise_verify.c: a simulation with the controls that were found ---- */

void opt_verify(dae_optimum *q);
/* Conditions along the path, and bounds of controls, between points: into the statistics, and where
 * error is not NULL into those of intervals, in tolerances. */
void opt_look_between(dae_optimum *q, const opt_solution *s, double *error);
/* A note where a condition along the path is violated at the start, whatever controls do. */
void opt_note_start(dae_optimum *q);
/* How far the integral at points of collocation is from that of what lies between them. Into share,
 * each interval's. */
double opt_integral_error(dae_optimum *q, const opt_solution *s, double *share);

/* ---- optimise_runs.c: parameters by simulation ---- */

dae_status opt_by_runs(dae_optimum *q, dae_diag *diag);
dae_status opt_run_at(dae_optimum *q, double t, double *values);

#endif
