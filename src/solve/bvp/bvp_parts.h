/* What the files of this room share: collocation of F(t, Y, Y') = 0, the index-1 form of a model
 * with all constraints, on a mesh t_0 < .. < t_N. Of the n unknowns d are states x; V holds slopes
 * of states and values of the others:
 *
 *     F(t_ia, x_i + h_i sum_b A_ab x'_ib, V_ia) = 0,    x_i+1 = x_i + h_i sum_a b_a x'_ia
 *
 * with V at both ends, too, for the conditions there. docs/bvp.md. */
#ifndef DAE_SOLVE_BVP_BVP_PARTS_H
#define DAE_SOLVE_BVP_BVP_PARTS_H

#include <math.h>

#include "linalg/linear_solver.h"
#include "matrix/iteration.h"
#include "method/common/collocation.h"
#include "solve/bvp/mesh_solution.h"
#include "solve/sensitivity/sensitivity_parts.h"

/* Conditions at one end: expressions over the unknowns of the form, each 0. */
typedef struct bvp_conditions {
    int count;
    expr *e;      /* owned, as all below */
    char **names; /* for messages */
    expr_code code;
    bool compiled;
    model_tangent *tangent;
    double *values;
} bvp_conditions;

/* Entries of the matrix as they are put, then on a layout. */
typedef struct bvp_matrix {
    int *row, *column; /* owned, as all below */
    double *entry;
    size_t count, row_room, column_room, entry_room;
    size_t *place; /* of each entry among the values of the layout; NULL: there is none so far */
    matrix_layout layout;
    double *values;
    linear_solver *solver;
} bvp_matrix;

/* A solution, or a guess, on a mesh. */
/* x: V at the start; x_i, V_i1 .. V_is for each interval; x_N; V at the end; p */
typedef mesh_solution bvp_solution;

/* Where things stand in u: `head` numbers of the start; blocks of d states, n numbers for each
 * stage and `extra` ones; d states and `tail` numbers of the end; parameters. */
typedef struct bvp_layout {
    int head, d, n, extra, tail;
} bvp_layout;

enum { BVP_PROBES = 3 };

struct dae_bvp {
    dae_problem *problem;
    dae_bvp_request request;
    dae_solver *companion; /* its form is collocated; it never steps */
    const model_form *form;
    model_instance *instance;
    directions directions; /* unknown parameters */
    bool directed;
    model_tangent *rows; /* F by parameters */
    iteration matrix;
    bool has_matrix;
    const collocation *method;
    double probe[BVP_PROBES], reach[BVP_PROBES]; /* points of an interval; error of the polynomial
                                  over h times its defect there */
    int n, d, m;            /* unknowns of the form, states, unknown parameters */
    int *state;             /* d: which unknowns; owned, as all below */
    int *number;            /* n: which state; -1: none */
    const model_form *seen; /* over whose unknowns conditions are; n of them */
    int seen_n;
    bool *sloped; /* seen_n: the equations have their slope */
    bvp_conditions left, right;
    struct shooting *shooting;           /* owned; NULL: collocation */
    double *y, *yp, *f, *work, *weights; /* n each */
    bvp_layout layout;
    bvp_matrix system, *sink; /* its own, or that of the problem it is the inner one of */
    /* Projected collocation: equations of index 2 between the ends, in a handle of their own. */
    struct dae_bvp *inner; /* owned; NULL: the same as at the ends */
    bool *constraint;      /* inner: rows of states, and of what is known with them; n, owned, as */
    bool *known;           /* what these rows define: n */
    model_place *user;    /* inner: where its states are among the user's unknowns, and outer: among
                             its states (d); owned */
    double *outside;      /* the user's values and slopes; owned */
    dae_solver *finisher; /* completes values between the ends; owned, as companion */
    bvp_solution solution;
    dae_bvp_stats stats;
    dae_diag diag;
};

/* What is collocated: the inner equations, if they are others than those at the ends. */
static inline dae_bvp *bvp_inner(dae_bvp *q)
{
    return q->inner ? q->inner : q;
}

/* The solver whose unknowns bvp_point() gives. */
static inline dae_solver *bvp_teller(const dae_bvp *q)
{
    return q->finisher ? q->finisher : q->companion;
}

/* Why there are no values at t: what bvp_point() says. */
dae_status bvp_explain_point(const dae_bvp *q, double t, dae_diag *diag);

/* The larger one of an error and the next; what is no number is infinite. */
static inline double bvp_larger(double most, double error)
{
    return isnan(error) ? (double)INFINITY : fmax(most, error);
}

/* Places in u, and its size. */
static inline size_t bvp_block(const dae_bvp *q)
{
    const bvp_layout *l = &q->layout;
    return (size_t)(l->d + q->method->stages * l->n + l->extra);
}
static inline size_t bvp_at_x(const dae_bvp *q, int i)
{
    return (size_t)q->layout.head + (size_t)i * bvp_block(q);
}
static inline size_t bvp_at_v(const dae_bvp *q, int i, int a)
{
    return bvp_at_x(q, i) + (size_t)(q->layout.d + a * q->layout.n);
}
static inline size_t bvp_at_right(const dae_bvp *q, int intervals)
{
    return bvp_at_x(q, intervals) + (size_t)q->layout.d;
}
static inline size_t bvp_at_p(const dae_bvp *q, int intervals)
{
    return bvp_at_right(q, intervals) + (size_t)q->layout.tail;
}
static inline size_t bvp_size(const dae_bvp *q, int intervals)
{
    return bvp_at_p(q, intervals) + (size_t)q->m;
}

/* bvp_conditions.c: conditions at both ends, compiled; whether there are as many as it takes. */
dae_status bvp_conditions_make(dae_bvp *q, dae_diag *diag);
void bvp_conditions_free(bvp_conditions *c);

/* bvp_system.c */

/* y, y' = those of states x and V. */
void bvp_fill(const dae_bvp *q, const double *x, const double *v, double *y, double *yp);
/* The unknown parameters of u hold from now on. */
dae_status bvp_set_parameters(dae_bvp *q, const double *p, dae_diag *diag);
/* residual = all equations at u; with_matrix: and its derivatives, factored. */
dae_status bvp_residual(dae_bvp *q, const bvp_solution *s, double *residual, bool with_matrix,
                        dae_diag *diag);
void bvp_matrix_free(bvp_matrix *m);
/* One entry more, which is added to those at its place; false: memory. */
bool bvp_put(bvp_matrix *m, size_t row, size_t column, double value);
/* Sum the entries up, and factor. */
linear_status bvp_finish_matrix(dae_bvp *q, int size);
/* "u at t = 0.3" and "equation 4 (m.mo:7) at t = 0.3" of an unknown and an equation. */
void bvp_name_unknown(const dae_bvp *q, const bvp_solution *s, size_t k, char *text, size_t size);
void bvp_name_equation(const dae_bvp *q, const bvp_solution *s, size_t k, char *text, size_t size);

/* bvp_newton.c: equations of a square system as Newton's method sees them. `linearise` factors the
 * matrix q->system at the point at hand; `move` makes a trial of it, `residual` is that of the
 * trial, `take` lets the trial be the point at hand, moved by `more` (NULL: not). */
typedef struct bvp_equations {
    void *user;
    size_t size;
    int intervals; /* for messages */
    double enough; /* a correction, in tolerances, that is none */
    dae_status (*linearise)(void *user, double *residual, dae_diag *diag);
    void (*move)(void *user, double damping, const double *step);
    dae_status (*residual)(void *user, double *residual, dae_diag *diag);
    void (*take)(void *user, const double *more);
    void (*weigh)(void *user, double *weight); /* what an error of one tolerance is */
    void (*name_unknown)(void *user, size_t k, char *text, size_t size);
    void (*name_equation)(void *user, size_t k, char *text, size_t size);
} bvp_equations;
dae_status bvp_newton(dae_bvp *q, const bvp_equations *e, dae_diag *diag);
/* Where Radau points fail, others may do. */
void bvp_advise_points(const dae_bvp *q, dae_diag *diag);

/* bvp_collocation.c: Newton's method on the mesh of s, from what s holds. */
dae_status bvp_solve_mesh(dae_bvp *q, bvp_solution *s, dae_diag *diag);

/* bvp_mesh.c */

/* x and V of interval i at its part r, on the polynomials. */
void bvp_on_polynomial(const dae_bvp *q, const bvp_solution *s, int i, double r, double *x,
                       double *v);

bool bvp_solution_new(const dae_bvp *q, int intervals, bvp_solution *s); /* false: memory */
/* x and V of a solution at t, n values of y and y' each; the rest by the equations. */
bool bvp_point(dae_bvp *q, const bvp_solution *s, double t, double *y, double *yp);
/* to = from on the mesh of `to`. */
void bvp_transfer(dae_bvp *q, const bvp_solution *from, bvp_solution *to);
/* Error of the polynomial in each interval, in tolerances; the largest one. NAN: memory,
 * INFINITY: one is no number. */
double bvp_estimate(dae_bvp *q, const bvp_solution *s, double *error);
/* The same at many points of each interval: what the largest defect does over the part of the
 * interval that is next to it. */
double bvp_look_closer(dae_bvp *q, const bvp_solution *s, double *error);
/* The mesh on which errors would be alike and at most `target`, with at least so many intervals. */
bool bvp_redistribute(dae_bvp *q, const bvp_solution *s, const double *error, double target,
                      int least, bvp_solution *next);
/* Each interval halved. */
bool bvp_halve(dae_bvp *q, const bvp_solution *s, bvp_solution *next);
/* The largest difference of two solutions at the mesh of the second, in tolerances. */
double bvp_difference(dae_bvp *q, const bvp_solution *a, const bvp_solution *b);

/* bvp_projected.c: equations of index 2 between the ends. */

/* Open them in q->inner: the form, which rows are constraints, and where its states are outside. */
dae_status bvp_open_inner(dae_bvp *q, dae_diag *diag);
/* y, y' of the ends' form from those of the inner one at t, in an interval of length h: states as
 * they are, chosen there, the rest by the equations. */
bool bvp_outward(dae_bvp *q, double t, double h, const double *y, const double *yp, double *out,
                 double *out_p);
/* y, y' of a form from the user's values and slopes. */
void bvp_from_user(const dae_bvp *q, const double *user_y, const double *user_yp, double *y,
                   double *yp);
/* slope = that of the inner states by values of the ends' form. */
void bvp_inner_slopes(dae_bvp *q, double t, const double *y, const double *yp, double *slope);
/* Rows, from `row` on: states of both forms are the same at the start (inner ones) and at the end
 * (those of the ends); the projection behind interval i. *row moves on. */
dae_status bvp_link_ends(dae_bvp *q, bool right, size_t *row, const bvp_solution *s,
                         double *residual, bool with_matrix, dae_diag *diag);
dae_status bvp_add_projection(dae_bvp *in, int i, size_t row, const bvp_solution *s,
                              double *residual, bool with_matrix, dae_diag *diag);

/* Projections that do nothing, where a solution on another mesh, or a guess, was put on that of s.
 */
void bvp_start_projections(dae_bvp *in, const bvp_solution *s);

/* bvp_form.c: bind the equations of a solver, number their states, and take the unknown parameters.
 */
dae_status bvp_bind_form(dae_bvp *q, const dae_options *o, dae_diag *diag);

/* bvp_shooting.c: runs between nodes. */
dae_status bvp_shoot(dae_bvp *q, dae_bvp_guess guess, dae_diag *diag);
void shooting_free(struct shooting *h); /* NULL is fine */
dae_status shooting_at(struct shooting *h, double t, double *values, dae_diag *diag);
double shooting_parameter(const struct shooting *h, int k);
double shooting_node(const struct shooting *h, int i);

/* bvp_guess.c: a guess on an even mesh, and of the user's unknowns and their slopes at `count`
 * ascending times, a row each. */
dae_status bvp_guess_rows(dae_bvp *q, dae_bvp_guess guess, int count, const double *t, double *rows,
                          dae_diag *diag);
dae_status bvp_guess_make(dae_bvp *q, dae_bvp_guess guess, bvp_solution *s, dae_diag *diag);

dae_status bvp_no_memory(dae_diag *diag);

#endif
