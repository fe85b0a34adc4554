/* Daedal: problems from callbacks in a form with more structure. Included by daedal.h. */
#ifndef DAEDAL_FORMS_H
#define DAEDAL_FORMS_H
#ifndef DAEDAL_H
#error "include daedal.h, which includes this file where it belongs"
#endif

/* Half-explicit and second order methods need these forms; every other method gets the residual
 * form that follows from them (opt.formulation says which: docs/forms.md). Initial values are made
 * consistent on all levels of the constraints, as far as the form tells them.
 *
 * Callbacks find their arguments in a struct and return 0, > 0 or < 0 as above. Matrices are dense
 * by columns, element (i,j) at [i + j*rows], or in the order of their pattern, and zero on entry.
 * Derivatives that are NULL are differenced: central, coloured where there is a pattern. */

/* Compressed columns of a matrix, rows increasing; {0}: dense. Copied. */
typedef struct dae_pattern {
    const int *colptr, *rowind;
} dae_pattern;

/* Where a mechanical system is asked for values. It may grow: never copy or compare it whole. */
typedef struct dae_mechanical_point {
    double t;
    const double *q, *v; /* v is NULL for mass, constraint, contact, gradient and rate */
    /* Of the full form, NULL where there are none: r, w and lambda for force, dynamics, auxiliary
     * (and `all`, if it is asked for forces); s for all but contact_s, where it is there, too. */
    const double *r, *w, *s, *lambda;
} dae_mechanical_point;

typedef int (*dae_mechanical_fn)(const dae_mechanical_point *at, double *out, void *user);

/* What is asked for at once; NULL: not needed. The matrices are zero on entry. It may grow. */
typedef struct dae_mechanical_values {
    double *mass, *force, *gradient, *rate, *curvature;
} dae_mechanical_values;

typedef int (*dae_mechanical_all_fn)(const dae_mechanical_point *at,
                                     const dae_mechanical_values *out, void *user);

/* by_q = d(M a - f + G' lambda)/dq and by_v = -df/dv at (t, q, v, lambda) and accelerations a: full
 * nq x nq matrices, zero on entry. */
typedef int (*dae_mechanical_jacobian_fn)(const dae_mechanical_point *at, const double *a,
                                          double *by_q, double *by_v, void *user);

typedef enum dae_mass {
    DAE_MASS_AUTO = 0, /* by mass_pattern, else dense; a diagonal or constant M is recognised */
    DAE_MASS_DENSE,    /* nq x nq by columns, both triangles */
    DAE_MASS_DIAGONAL, /* nq values */
    DAE_MASS_BLOCK,    /* blocks of size mass_block one after another, each by columns */
    DAE_MASS_SPARSE    /* values in the order of mass_pattern */
} dae_mass;

/* q' = v, M(t,q) v' = f(t,q,v) - G(t,q)' lambda, 0 = g(t,q) with G = dg/dq: index 3. M may be
 * singular as long as [M G'; G 0] is not. The unknowns are y = (q, v, lambda), n = 2 nq + nlambda.
 * Zero means "absent" for every field but nq and force. */
typedef struct dae_mechanical {
    int nq, nlambda;
    dae_mechanical_fn mass;       /* M; NULL: the identity */
    dae_mechanical_fn force;      /* f, nq values */
    dae_mechanical_fn constraint; /* g, nlambda values; none if nlambda = 0 */
    void *user;

    dae_mechanical_fn gradient;  /* G, nlambda x nq */
    dae_mechanical_fn rate;      /* dg/dt, nlambda values */
    dae_mechanical_fn curvature; /* g_qq(v,v) + 2 g_tq v + g_tt, nlambda values */
    bool scleronomic;            /* g does not depend on t: rate is zero */
    /* NULL, or a function that gives any of these at once, as when they share sines and cosines:
     * asked in place of mass, force, gradient, rate and curvature, all of which may be NULL then
     * (identity and zero are not implied: it gives all of them). */
    dae_mechanical_all_fn all;

    dae_mass mass_structure;
    int mass_block;               /* for DAE_MASS_BLOCK; divides nq */
    bool mass_constant;           /* M is the same everywhere */
    dae_pattern mass_pattern;     /* nq x nq */
    dae_pattern gradient_pattern; /* nlambda x nq */
    dae_pattern force_q_pattern;  /* df/dq, nq x nq */
    dae_pattern force_v_pattern;  /* df/dv, nq x nq */
    const double *nominal;        /* nq typical sizes > 0 of q, for differences; NULL: 1 */
    double time_scale;            /* in which v moves q by its size, and g changes; 0: 1 */

    const char *const *variable_names; /* all of y, or NULL: "q[0]", "v[0]", "r[0]", .., "lambda[0]"
                                        */
    const char *const *constraint_names; /* nlambda + nvelocity, or NULL: "g[0]" */

    int event_count;
    dae_event_fn event_function; /* of y = (q, v, lambda) and y' */
    const dae_event *events;

    /* The full form [Wun05 (1.18), (1.14)], any part of which may be absent:
     *   M(t,q) v' = f(t,q,v,r,w,s,lambda) - G' lambda,  r' = dynamics(t,q,v,r,w,s,lambda),
     *   0 = auxiliary(t,q,v,r,w,s,lambda),  0 = contact(t,q,s),
     *   0 = g(t,q,s),  0 = velocity_constraint(t,q,v).
     * The unknowns are y = (q, v, r, w, s, lambda); lambda has nlambda values for g, then nvelocity
     * values for the constraints on velocities, which act along their derivatives by v. s follows
     * from q by contact, so that G = g_q - g_s h_s^-1 h_q, rate and curvature are total derivatives
     * of g(t, q, s(t,q)) where they are given. */
    int nr, nw, ns;
    dae_mechanical_fn dynamics;    /* nr values */
    dae_mechanical_fn auxiliary;   /* nw values, by which w is determined */
    dae_mechanical_fn contact;     /* ns values, by which s is determined */
    dae_mechanical_fn auxiliary_w; /* its derivative by w, nw x nw */
    dae_mechanical_fn contact_s;   /* its derivative by s, ns x ns */
    bool friction;                 /* force, dynamics or auxiliary depend on lambda */
    int nvelocity;
    dae_mechanical_fn velocity_constraint; /* nvelocity values, nonholonomic */
    dae_mechanical_fn velocity_gradient;   /* its derivative by v, nvelocity x nq */

    /* Spares differences of F for implicit methods at index 3 as given, in full matrices, and
     * without the full form; else it is not asked. */
    dae_mechanical_jacobian_fn jacobian;
} dae_mechanical;

/* Where a Hessenberg system is asked for values; z and u are NULL for g, g_y and g_t. It may grow.
 */
typedef struct dae_hessenberg_point {
    double t;
    const double *y, *z, *u;
} dae_hessenberg_point;

typedef int (*dae_hessenberg_fn)(const dae_hessenberg_point *at, double *out, void *user);

/* y' = f(t,y,z,u), 0 = g(t,y), 0 = k(t,y,z,u): index 2 where g_y f_z (with nu > 0: the same with z
 * and u eliminated by k) and k_u are regular. The unknowns are (y, z, u). Zero means "absent" for
 * every field but ny and f. */
typedef struct dae_hessenberg {
    int ny, nz, nu;
    dae_hessenberg_fn f; /* ny values */
    dae_hessenberg_fn g; /* nz values; none if nz = 0 */
    dae_hessenberg_fn k; /* nu values; none if nu = 0 */
    void *user;

    dae_hessenberg_fn g_y; /* nz x ny */
    dae_hessenberg_fn g_t; /* nz values */
    dae_hessenberg_fn f_z; /* ny x nz */
    dae_hessenberg_fn k_u; /* nu x nu */
    bool autonomous;       /* g does not depend on t: g_t is zero */

    dae_pattern g_y_pattern, f_z_pattern, k_u_pattern;
    /* All of these given as well, and g_y_pattern and f_z_pattern: a sparse residual form. */
    dae_pattern f_y_pattern;                           /* ny x ny */
    dae_pattern f_u_pattern, k_y_pattern, k_z_pattern; /* if nu > 0 */
    const double *nominal; /* ny + nz + nu typical sizes > 0, for differences; NULL: 1 */
    double time_scale;     /* in which g changes with t; 0: 1 */

    const char *const *variable_names;   /* ny + nz + nu, or NULL: "y[0]", "z[0]", "u[0]" */
    const char *const *constraint_names; /* nz, or NULL: "g[0]" */

    int event_count;
    dae_event_fn event_function; /* of (y, z, u) and its derivative */
    const dae_event *events;
} dae_hessenberg;

typedef struct dae_quasilinear_point { /* it may grow */
    double t;
    const double *x;
} dae_quasilinear_point;

typedef int (*dae_quasilinear_fn)(const dae_quasilinear_point *at, double *out, void *user);

/* E(t,x) x' = f(t,x) in ne rows, and all constraints 0 = g(t,x) that are known, hidden ones too:
 * [E; g_x] must have rank n for half-explicit methods. Zero means "absent" for every field but n,
 * ne and f. */
typedef struct dae_quasilinear {
    int n, ne, ng;        /* unknowns; rows of E and f; constraints */
    dae_quasilinear_fn E; /* ne x n; NULL: the identity, ne = n */
    dae_quasilinear_fn f; /* ne values */
    dae_quasilinear_fn g; /* ng values; none if ng = 0 */
    void *user;

    dae_quasilinear_fn g_x; /* ng x n */
    dae_quasilinear_fn g_t; /* ng values */
    bool autonomous;        /* g does not depend on t: g_t is zero */

    bool E_constant; /* E is the same everywhere */
    dae_pattern E_pattern, g_x_pattern;
    dae_pattern f_x_pattern; /* ne x n; with the others, and E constant: a sparse residual form */
    const double *nominal;   /* n typical sizes > 0, for differences; NULL: 1 */
    double time_scale;       /* in which g changes with t; 0: 1 */

    const char *const *variable_names;   /* n, or NULL: "x[0]" */
    const char *const *equation_names;   /* ne, of the rows of E, or NULL: "E[0]" */
    const char *const *constraint_names; /* ng, or NULL: "g[0]" */

    int event_count;
    dae_event_fn event_function;
    const dae_event *events;

    /* ng: how often a constraint was differentiated, 0: it is as written (positions), 1: a hidden
     * one (velocities), ..; for opt.projection and the statistics. NULL: 0. */
    const int *constraint_levels;
} dae_quasilinear;

typedef dae_quasilinear_point dae_manifold_point;
typedef dae_quasilinear_fn dae_manifold_fn;

/* x' = phi(t,x), which stays on 0 = c(t,x) once it is there: constraints of all levels, or first
 * integrals. Zero means "absent" for every field but n and phi. */
typedef struct dae_manifold {
    int n, nc;           /* unknowns; constraints */
    dae_manifold_fn phi; /* n values */
    dae_manifold_fn c;   /* nc values; none if nc = 0 */
    void *user;

    dae_manifold_fn c_x; /* nc x n */
    dae_manifold_fn c_t; /* nc values */
    bool autonomous;     /* c does not depend on t: c_t is zero */

    dae_pattern c_x_pattern;
    dae_pattern phi_x_pattern; /* n x n; with the other: a sparse residual form */
    const double *nominal;     /* n typical sizes > 0, for differences; NULL: 1 */
    double time_scale;         /* in which c changes with t; 0: 1 */

    const char *const *variable_names;   /* n, or NULL: "x[0]" */
    const char *const *constraint_names; /* nc, or NULL: "c[0]" */
    const int *constraint_levels;        /* nc, as in dae_quasilinear */

    int event_count;
    dae_event_fn event_function;
    const dae_event *events;
} dae_manifold;

/* F(t, x, x', x'') = 0, or its derivatives by x, x' and x'', apart: dense n x n by columns, or in
 * the order of the pattern; zero on entry. */
typedef int (*dae_second_order_fn)(double t, const double *x, const double *xp, const double *xpp,
                                   double *f, void *user);
typedef int (*dae_second_order_jacobian_fn)(double t, const double *x, const double *xp,
                                            const double *xpp, double *f_x, double *f_xp,
                                            double *f_xpp, void *user);

/* F(t, x, x', x'') = 0, n equations for n unknowns, whose leading matrix dF/dx'' may be singular.
 * The unknowns of the problem are y = (x, v) with v = x_i' for those i with second derivatives, in
 * their order. Zero means "absent" for every field but n and f. */
typedef struct dae_second_order {
    int n;
    dae_second_order_fn f; /* n values */
    void *user;
    const bool *second; /* n: x_i'' appears; f is given 0 for the others; NULL: all */

    dae_second_order_jacobian_fn jacobian; /* NULL: differences */
    dae_pattern pattern;                   /* n x n, of the three together; {0}: dense, detected */

    const char *const *variable_names; /* n, or NULL: "x[0]"; velocities are named "der(x[0])" */
    const char *const *equation_names; /* n, or NULL: "F[0]" */
    const dae_kind *kinds;             /* n, of x; NULL: all auto */
    const dae_kind *velocity_kinds;    /* n, of x', where x'' appears; NULL: all auto */

    int event_count;
    dae_event_fn event_function; /* of y = (x, v) and y' */
    const dae_event *events;
} dae_second_order;

enum { DAE_MOST_ORDER = 6 }; /* of equations of higher order */

/* F(t, x, x', .., x^(order)) = 0, where x[j] has the n values of x^(j), j = 0 .. order; or its
 * derivatives f_x[j] by x^(j), apart: dense n x n by columns, or in the order of the pattern; zero
 * on entry. */
typedef int (*dae_higher_order_fn)(double t, const double *const *x, double *f, void *user);
typedef int (*dae_higher_order_jacobian_fn)(double t, const double *const *x, double *const *f_x,
                                            void *user);

/* F(t, x, x', .., x^(order)) = 0, n equations for n unknowns, whose leading matrix may be singular.
 * The unknowns of the problem are y = (x, x', .., x^(order-1)), of each derivative those x_i^(j)
 * with orders[i] > j, in their order. Zero means "absent" for every field but n, order and f. */
typedef struct dae_higher_order {
    int n, order;          /* order: 1 to DAE_MOST_ORDER */
    dae_higher_order_fn f; /* n values */
    void *user;
    const int *orders; /* n: highest derivative of x_i that appears, 0 .. order; f is given 0 for
                          those above; NULL: order, of all */

    dae_higher_order_jacobian_fn jacobian; /* NULL: differences */
    dae_pattern pattern;                   /* n x n, of all together; {0}: dense, detected */

    const char *const *variable_names; /* n, or NULL: "x[0]"; derivatives are "der(x[0])", .. */
    const char *const *equation_names; /* n, or NULL: "F[0]" */
    const dae_kind *kinds; /* order x n: of x_i^(j) at [j n + i], where it is an unknown; NULL: all
                              auto */

    int event_count;
    dae_event_fn event_function; /* of y and y' */
    const dae_event *events;
} dae_higher_order;

DAE_API dae_status dae_problem_from_higher_order_sized(const dae_higher_order *form, size_t size,
                                                       dae_problem **problem, dae_diag *diag);
DAE_API dae_status dae_problem_from_second_order_sized(const dae_second_order *form, size_t size,
                                                       dae_problem **problem, dae_diag *diag);
DAE_API dae_status dae_problem_from_mechanical_sized(const dae_mechanical *form, size_t size,
                                                     dae_problem **problem, dae_diag *diag);
DAE_API dae_status dae_problem_from_hessenberg_sized(const dae_hessenberg *form, size_t size,
                                                     dae_problem **problem, dae_diag *diag);
DAE_API dae_status dae_problem_from_quasilinear_sized(const dae_quasilinear *form, size_t size,
                                                      dae_problem **problem, dae_diag *diag);
DAE_API dae_status dae_problem_from_manifold_sized(const dae_manifold *form, size_t size,
                                                   dae_problem **problem, dae_diag *diag);

/* Check and copy a description. Arrays and names are copied; callbacks and user must outlive the
 * problem. diag may be NULL. */
static inline dae_status dae_problem_from_mechanical(const dae_mechanical *form,
                                                     dae_problem **problem, dae_diag *diag)
{
    return dae_problem_from_mechanical_sized(form, sizeof *form, problem, diag);
}

static inline dae_status dae_problem_from_second_order(const dae_second_order *form,
                                                       dae_problem **problem, dae_diag *diag)
{
    return dae_problem_from_second_order_sized(form, sizeof *form, problem, diag);
}

static inline dae_status dae_problem_from_higher_order(const dae_higher_order *form,
                                                       dae_problem **problem, dae_diag *diag)
{
    return dae_problem_from_higher_order_sized(form, sizeof *form, problem, diag);
}

static inline dae_status dae_problem_from_hessenberg(const dae_hessenberg *form,
                                                     dae_problem **problem, dae_diag *diag)
{
    return dae_problem_from_hessenberg_sized(form, sizeof *form, problem, diag);
}

static inline dae_status dae_problem_from_quasilinear(const dae_quasilinear *form,
                                                      dae_problem **problem, dae_diag *diag)
{
    return dae_problem_from_quasilinear_sized(form, sizeof *form, problem, diag);
}

static inline dae_status dae_problem_from_manifold(const dae_manifold *form, dae_problem **problem,
                                                   dae_diag *diag)
{
    return dae_problem_from_manifold_sized(form, sizeof *form, problem, diag);
}

#endif
