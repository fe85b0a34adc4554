/* What the half-explicit methods share: one engine for tables, two kinds of stages. Inside the
 * methods x stands for the differential variables ((q, v) in mechanics, y in Hessenberg form) and w
 * for the algebraic ones (lambda; z and u). */
#ifndef DAE_METHOD_HALF_EXPLICIT_HEM_PARTS_H
#define DAE_METHOD_HALF_EXPLICIT_HEM_PARTS_H

#include "forms/form_manifold.h"
#include "linalg/linear_solver.h"
#include "linalg/saddle.h"
#include "method/common/mechanism.h"
#include "method/common/tableau.h"
#include "method/half_explicit/hem_table.h"

typedef mechanism_failure hem_failure;

/* What survives between steps: both ends of the last one. */
typedef struct hem_state {
    const hem_table *table;
    double t, t_old;
    long step;           /* its number, which no other has: what caches belong to */
    hem_failure failure; /* of the start */
    double *x_old, *k_old, *w_old;
    double *x, *k, *w; /* k = x' with consistent w [BH93 (3.6)] */
    double *z_old, *z; /* Z_s at both ends, where the table takes it for w */
    double *middle;    /* x(t_old + middle (t - t_old)), if the table has it */
    double rough;      /* how rough the last steps were, in tolerances; < 0: unknown */
    double fine;       /* the estimate of order 5 that order 8 is made of, likewise; 0: none */
} hem_state;

/* One attempt. */
typedef struct hem_scratch {
    double t, h;
    double *K[HEM_STAGES]; /* slopes of the stages */
    double *X, *X_bar;     /* stage values */
    double *x, *k, *w;     /* at the end */
    double *z;             /* Z_s */
    double *middle;
    double *error, *coarse;
    double *y, *yp, *estimate; /* as the driver sees them */
    double rough, fine;        /* see hem_state */
} hem_scratch;

enum { HEM_INNER = 4 };

/* Matrices and work, outside state; what belongs to a point of the solution carries its step. */
typedef struct hem_cache {
    const mechanical_form *mechanical;
    const hessenberg_form *hessenberg;
    const manifold_form *manifold;
    int nx, nw, nz, ng;                               /* sizes of x, w, z (or lambda), g */
    const int *x_place, *v_place, *w_place, *u_place; /* among the n unknowns; NULL: in order */
    saddle *saddle;                          /* of the mechanical form: that of the system */
    mechanism system;                        /* the mechanical form's factors, matrices and work */
    double *M_start, *G_start, *force_start; /* those at the start of the step, */
    double *G_aside;                         /* and of a point aside */
    double *matrices;                        /* owned: where these are, or those below */
    int undetermined; /* manifold form: variable that phi fails at, from 1; 0: none */
    long start_step;  /* the step to whose start the matrices belong */
    bool end_here;    /* those of the system are the ones at the end of the last attempt */
    double *f_z, *g_y, *g_y_end; /* Hessenberg */
    matrix_layout k_u_layout;
    linear_solver *k_u;
    double *k_u_values;
    bool k_u_here;          /* its factors are those of the guess that the next solve begins with */
    bool k_u_trusted;       /* they were made where k = 0 */
    const error_norm *norm; /* of the run */
    const double *w_begin;  /* w where the step begins */
    double convergence;     /* rate of the last Newton iterations */
    bool spoilt;            /* an attempt failed, with factors from where it went astray */
    double longest;         /* accepted step since the start */
    int lost;               /* failures of Newton while steps are far below it */
    double *work[6];        /* each of the size of x, w and g together */
    long inner_step;        /* the step to which the values inside it belong */
    double *inner;          /* w at HEM_INNER points inside of the last step */
    bool inner_holds;       /* the polynomial through these is right elsewhere */
    long inner_slope_step;  /* the step of two more of them behind, for slopes */
    double *inner_x, *inner_k;
    long numbered; /* the last number of a start or an accepted step */
    long starts;   /* that of the last start */
    /* explicit methods, and tables of the user: the table, and of the former for dense output the
     * slopes of the last step, those of further stages behind them, and the combinations r_5 .. of
     * them */
    hem_table own;
    double own_zeta[HEM_STAGES]; /* of a half-explicit table of the user */
    const tableau *filled;       /* what it was made of */
    rounded_tableau *tableau;
    double *slopes[TABLEAU_MOST_ALL], *rows[TABLEAU_MOST_ROWS];
    long slopes_step, rows_step;
    long doubt_step; /* the step to which this belongs: */
    double doubt;    /* what the last term of the interpolant adds, in tolerances */
    bool off;        /* and the points inside are far from the interpolant */
    /* explicit methods, beside the mechanical form's */
    double alpha, beta;                /* Baumgarte's, for the step at hand; 0: none */
    manifold projector;                /* of the manifold form: shortest corrections, */
    bool projected;                    /* with factors of this attempt */
    double *reach;                     /* nx: error weights, its unit of length; owned */
    struct chart *chart;               /* local coordinates; NULL: none */
    struct invariant_work *invariants; /* NULL: none */
    struct hem_refinement *refinement; /* for values inside of steps; NULL: none */
} hem_cache;

extern const method_memory hem_memory;
void hem_start(const hem_table *table, void *state, void *scratch, const method_context *ctx,
               const start_point *at);
void hem_attempt(const void *state, void *scratch, const method_context *ctx, double h, int order,
                 attempt *result);
void hem_accept(void *state, void *scratch, const method_context *ctx);
void hem_interpolate(const void *state, const method_context *ctx, double t, int derivative,
                     double *y);
void hem_cache_free(void *cache);
void hem_cache_persist(void *cache, const method_context *ctx, persist *p);
hem_cache *hem_bare_cache(const method_context *ctx); /* without a refinement */
/* The same cache with a refinement, whose own it takes over; both are freed if that fails. */
hem_cache *hem_cache_with(const method_context *ctx, hem_cache *cache, hem_cache *own);
bool hem_restart(hem_cache *c); /* nothing is known of matrices any more; false: memory */

/* out = x0 + h sum_{j<count} weight_j K_j */
void hem_combine(int n, const double *x0, double h, int count, const double *weight,
                 double *const *K, double *out);
/* sqrt of the mean of (v_i / weight of x_i)^2 over the differential variables first .. last-1 */
double hem_norm(const hem_cache *c, const error_norm *norm, const double *v, int first, int last);
/* Norm of a vector of differential variables in the driver's error test; `full` is work of size n.
 */
double hem_tested_norm(const hem_cache *c, const error_norm *norm, const double *v, double *full);
/* Weights of x_old, x, h k_old, h k and x(middle) in the interpolant at t_old + s h, or in h times
 * its derivative; middle = 0: Hermite's cubic. */
void hem_dense_weights(double middle, double s, int derivative, double weight[5]);
/* The failure for a status of the linear algebra on the Hessenberg form. */
hem_failure hem_linear(const hem_cache *c, saddle_status status);

/* The two kinds of stages. `begin`: what the first one needs; `stage`: K_i and Xbar_i for the X_i
 * in w->X. `slope`: k = x' and w at (t, x), consistent by [BH93 (3.6)]; w is a guess on entry.
 * `end` tells that (t, x) is the end of the step being attempted; else nothing that the attempts
 * need is touched. */
hem_failure hem_mechanical_begin(const hem_state *s, const method_context *ctx);
hem_failure hem_mechanical_stage(const hem_state *s, hem_scratch *w, const method_context *ctx,
                                 int i);
/* The end of an explicit step on either level, or as it is, with its slope and multipliers. */
hem_failure hem_mechanical_end(hem_cache *c, const method_context *ctx, double t, double *x,
                               double *k, double *w, bool position, bool velocity);
hem_failure hem_mechanical_slope(hem_cache *c, const method_context *ctx, double t, const double *x,
                                 double *k, double *w, bool end);
/* Whether slopes may come without matrices: mechanism_accelerate. */
bool hem_mechanical_matrixless(const hem_cache *c);
void hem_mechanical_tangent(hem_cache *c, double *e);
void hem_mechanical_accept(hem_cache *c);
hem_failure hem_hessenberg_begin(const hem_state *s, const method_context *ctx);
hem_failure hem_hessenberg_stage(const hem_state *s, hem_scratch *w, const method_context *ctx,
                                 int i);
hem_failure hem_hessenberg_slope(hem_cache *c, const method_context *ctx, double t, double h,
                                 const double *x, double *k, double *w, bool end);
void hem_hessenberg_tangent(hem_cache *c, double *e);
/* The failure where 0 = g_t + g_y f has no solution near by; its residual is in work[3]. */
hem_failure hem_hessenberg_impasse(const hem_cache *c);
/* y := y + f_z mu with g(t, y) = 0, by the factors at hand or new ones [HW96 (2.8)] */
hem_failure hem_hessenberg_project(hem_cache *c, const method_context *ctx, double t, double *x,
                                   const double *w);

/* Explicit methods (hem_exact.c): all stages, and x, x' and w at the end of the step; the slope at
 * (t, x), without w where that is NULL and the form allows it. */
hem_failure hem_exact_step(const hem_state *s, hem_scratch *w, const method_context *ctx);
/* The same for x as it is in w->x, with a guess of w: moved onto the constraints as ends are. */
hem_failure hem_exact_point(const hem_state *s, hem_scratch *w, const method_context *ctx);
hem_failure hem_exact_slope(hem_cache *c, const method_context *ctx, double t, double h,
                            const double *x, double *k, double *w, bool end);
/* The slope of a further stage of the last step, for dense output, where w is a guess and not
 * wanted; x moves as stages do. */
hem_failure hem_exact_inner_slope(hem_cache *c, const method_context *ctx, double t, double h,
                                  double *x, double *k, double *w);
/* How far x is from the constraints of a manifold form that steps end on, in tolerances, by factors
 * of that point or those at hand; 0 where that cannot be told. */
double hem_exact_distance(hem_cache *c, const method_context *ctx, double t, const double *x,
                          bool factored);
void hem_exact_start(hem_cache *c); /* forget what belongs to points */
/* The part of a difference that the constraints allow, as far as they are met. */
void hem_exact_tangent(hem_cache *c, const method_context *ctx, double *e);
/* What they need beside the form's matrices; false: memory. */
bool hem_exact_cache(hem_cache *c, const method_context *ctx);
void hem_exact_release(hem_cache *c);
void hem_exact_persist(hem_cache *c, persist *p);
/* Whether the ends of steps are moved onto constraints as written, and onto hidden ones. */
bool hem_projects_position(const method_context *ctx);

/* hem_look.c: how far h f is from the slope of a polynomial through the step at places inside of
 * it, in tolerances. */
double hem_look_inside(const hem_state *s, hem_scratch *w, const method_context *ctx);
/* How far that polynomial is from the constraints of a manifold form there. */
double hem_look_beside(const hem_state *s, hem_scratch *w, const method_context *ctx);
/* The stages that this polynomial passes: those of an explicit method that are good enough. */
void hem_look_prepare(hem_table *table);

/* hem_refine.c: values inside of the last step by steps of the method from its start. All of it is
 * made when first asked for; it takes over the cache. */
typedef struct hem_refinement hem_refinement;
hem_refinement *hem_refinement_new(const method_context *ctx, hem_cache *cache);
void hem_refinement_free(hem_refinement *r); /* NULL is fine, here and in restart and refine */
void hem_refinement_persist(hem_refinement *r, const method_context *ctx, persist *p);
hem_failure hem_refinement_restart(hem_refinement *r, const hem_state *st,
                                   const method_context *ctx);
hem_cache *hem_refinement_cache(hem_refinement *r); /* matrices apart from the run's; or NULL */
bool hem_refine(hem_refinement *r, const hem_state *st, const method_context *ctx);
const double *hem_refined_middle(const hem_refinement *r); /* x at half of the step */
/* x(t_old + s h), or h x' there, once it is refined */
void hem_refined(const hem_refinement *r, const hem_state *st, int nx, double s, int derivative,
                 double *x);
/* The same step, where its points are far from what was expected: looked at once more. */
void hem_refine_doubted(hem_refinement *r, const hem_state *st, const method_context *ctx);
/* x, k = x' and w at t by steps to t itself, where points inside were hard to reach: polynomials
 * are no good there. False: they were not, or it failed. */
bool hem_refined_at(hem_refinement *r, const hem_state *st, const method_context *ctx, double t,
                    double *x, double *k, double *w);
/* x is moved onto the constraints at t inside the step, as ends of steps are, and k = x' and w
 * belong to it; `x` and `w` are guesses on entry. False: not found. */
bool hem_point_inside(hem_refinement *r, const hem_state *st, const method_context *ctx, double t,
                      double *x, double *k, double *w);
/* w that belongs to x at t inside the step; a guess on entry. False: not found. */
bool hem_followers(hem_refinement *r, const hem_state *st, const method_context *ctx, double t,
                   const double *x, double *w);

/* Places of component i of x, and of w, among the unknowns. */
int hem_x_at(const hem_cache *c, int i);
int hem_w_at(const hem_cache *c, int i);

#endif
