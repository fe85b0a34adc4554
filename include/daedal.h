/* Daedal: differential-algebraic equations, solved as people write them down.
 *
 * The only installed header. Read the first half (problem, options, solver) in five minutes; the
 * second half holds statistics, diagnostics and the rarely used calls.
 *
 * Conventions. Handles are opaque, independent of each other, and used by one thread at a time; a
 * dae_problem is immutable and may be shared by solvers in several threads if the user's callbacks
 * allow it. Functions return a dae_status: negative is an error. On failure out parameters are NULL
 * and nothing leaks. The library never prints and never exits. Indices count from 0.
 *
 * Copyright (c) 2026 the Daedal authors. MIT licence.
 */
#ifndef DAEDAL_H
#define DAEDAL_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DAE_VERSION_MAJOR 0
#define DAE_VERSION_MINOR 1
#define DAE_VERSION_PATCH 0

#if defined(__GNUC__) && defined(DAE_BUILDING)
#define DAE_API __attribute__((visibility("default")))
#else
#define DAE_API
#endif

/* ---------------------------------------------------------------------------------------------
 * Status and diagnostics
 * ------------------------------------------------------------------------------------------- */

typedef enum dae_status {
    DAE_OK = 0,      /* done; from dae_solver_step: tend, or a terminal event, was reached */
    DAE_STEPPED = 1, /* one accepted step; call again */
    DAE_EVENT = 2,   /* one or more events at dae_solver_time(); call again */

    DAE_ERR_ARGUMENT = -1,    /* an argument, option or problem description is wrong */
    DAE_ERR_MEMORY = -2,      /* an allocation failed */
    DAE_ERR_CALLBACK = -3,    /* a user callback returned a negative value */
    DAE_ERR_EVALUATION = -4,  /* callbacks kept asking for a smaller step, or returned NaN or Inf */
    DAE_ERR_MAX_STEPS = -5,   /* opt.max_steps steps did not reach tend */
    DAE_ERR_TOLERANCE = -6,   /* tolerances below what the arithmetic can deliver */
    DAE_ERR_ERROR_TEST = -7,  /* the error test kept failing as h went to 0 */
    DAE_ERR_CONVERGENCE = -8, /* the Newton iteration kept failing as h went to 0 */
    DAE_ERR_SINGULAR = -9,    /* the iteration matrix is singular whatever the step size */
    DAE_ERR_INITIAL = -10,    /* no consistent initial values could be found */
    DAE_ERR_BOUND = -11,      /* a bound on a variable cannot be met by any step size */
    DAE_ERR_EVENT = -12,      /* an event function failed, or could not be located */
    DAE_ERR_INTERRUPTED = -13, /* an interrupt callback asked to stop */
    DAE_ERR_UNSUPPORTED = -14, /* the problem cannot offer what the method or option needs */
    DAE_ERR_STATE = -15,       /* calls out of order, such as a step before a start */
    DAE_ERR_MODEL = -16,       /* a model text has errors */
    DAE_ERR_ASSERT = -17,      /* an assertion of the model failed */
    DAE_ERR_FILE = -18,        /* a file could not be read */
    DAE_ERR_STIFF = -19, /* too stiff for an explicit method; stepping may go on, or take another */
    DAE_ERR_STALL = -20  /* steps without progress, as along a jump; stepping may go on */
} dae_status;

enum { DAE_NAME_SIZE = 64, DAE_TEXT_SIZE = 1024 };

/* What went wrong, in words and numbers. Caller-owned; fill with {0}. Indices are -1 if none. */
typedef struct dae_diag {
    dae_status status;
    int variable, equation;            /* the culprit, if one is known */
    int line;                          /* line of the model text, 0 if there is none */
    double t, h;                       /* time and step size of the failure */
    double value;                      /* the offending number: an error, a residual, a value */
    char variable_name[DAE_NAME_SIZE]; /* the user's name, or "y[3]" */
    char equation_name[DAE_NAME_SIZE]; /* the user's name, or "F[3]" */
    char text[DAE_TEXT_SIZE];          /* full sentences: what happened, where, what to try */
} dae_diag;

DAE_API const char *dae_status_name(dae_status status);
DAE_API const char *dae_version(void);

/* A text of a model (a description, a unit, a String) as it may be shown on a terminal: control
 * characters but line ends and tabs, and bytes that are no UTF-8, become \x1b and the like. Writes
 * at most size bytes with the terminating zero, whole characters only, and returns the length that
 * all of it has. Messages and diagnostics of the library are such texts already. */
DAE_API size_t dae_printable(const char *text, char *safe, size_t size);

/* Bytes of the UTF-8 character at the beginning of a text [RFC 3629]; 0 if there is none. */
DAE_API int dae_utf8_length(const char *text);

/* ---------------------------------------------------------------------------------------------
 * A problem from callbacks: the residual form F(t, y, y') = 0
 *
 * Callbacks return 0 for success, > 0 to ask for a smaller step, < 0 to stop the integration.
 * NaN or Inf in a result counts as > 0.
 * ------------------------------------------------------------------------------------------- */

/* f = F(t, y, y') */
typedef int (*dae_residual_fn)(double t, const double *y, const double *yp, double *f, void *user);

/* dfdy = dF/dy and dfdyp = dF/dy', apart, both in the problem's matrix structure:
 *   dense   element (i,j) at [i + j*n]
 *   banded  element (i,j) at [upper + i - j + j*(lower + upper + 1)]
 *   sparse  values in the order of rowind, one pattern for both matrices
 * Both arrays are zero on entry. */
typedef int (*dae_jacobian_fn)(double t, const double *y, const double *yp, double *dfdy,
                               double *dfdyp, void *user);

/* g = event functions; an event is a zero crossing of one of them */
typedef int (*dae_event_fn)(double t, const double *y, const double *yp, double *g, void *user);

/* b = B(t, y, y'), extra conditions at the initial point, solved for B = 0 */
typedef int (*dae_condition_fn)(double t, const double *y, const double *yp, double *b, void *user);

/* Matrix-free solves. P approximates A = dF/dy + cj dF/dy'. Setup is called when P should be
 * computed anew; solve overwrites b by P^-1 b. jac_times: v -> av = A v, if differences of F will
 * not do. */
typedef int (*dae_precond_setup_fn)(double t, const double *y, const double *yp, double cj,
                                    void *user);
typedef int (*dae_precond_solve_fn)(double t, const double *y, const double *yp, double cj,
                                    double *b, void *user);
typedef int (*dae_jac_times_fn)(double t, const double *y, const double *yp, double cj,
                                const double *v, double *av, void *user);

/* Without a pattern a matrix is dense up to n = 59; from n = 60 on the pattern is detected by
 * differences, at 2n + 2 evaluations of F when the solver starts. What is zero around the initial
 * point just then (a switch that closes later, a contact, a branch) cannot be seen there: each
 * Jacobian is therefore checked by one more evaluation, and a pattern that lacks something is
 * looked for again, at 2n evaluations, which costs memory and time in the middle of a run. Give the
 * pattern, or a Jacobian, if you know it. */
typedef enum dae_structure {
    DAE_STRUCTURE_AUTO = 0, /* sparse if a pattern is given; else dense, detected when large */
    DAE_STRUCTURE_DENSE,
    DAE_STRUCTURE_BANDED,
    DAE_STRUCTURE_SPARSE
} dae_structure;

/* How a variable enters the system [BCP96 5.4.2]. */
typedef enum dae_kind {
    DAE_KIND_AUTO = 0,     /* differential or index-1, told by dF/dy' */
    DAE_KIND_DIFFERENTIAL, /* its derivative appears */
    DAE_KIND_INDEX1,       /* algebraic, fixed by the equations as they stand */
    DAE_KIND_INDEX2, /* algebraic, fixed after one differentiation: a multiplier at velocity level
                      */
    DAE_KIND_INDEX3  /* algebraic, fixed after two: a multiplier at position level */
} dae_kind;

typedef struct dae_event {
    const char *name; /* copied; NULL gives "g[i]" */
    int direction;    /* +1 rising only, -1 falling only, 0 both */
    bool terminal;    /* end the integration here */
} dae_event;

/* Everything about a residual problem. Zero means "absent" for every field but n and f. All arrays
 * and names are copied; the callbacks and user pointer must outlive the problem. */
typedef struct dae_residual {
    int n;             /* number of equations and of unknowns */
    dae_residual_fn f; /* F */
    void *user;        /* handed to every callback of this problem */

    dae_jacobian_fn jacobian; /* NULL: differences, coloured where the structure allows */
    dae_structure structure;
    int lower, upper;           /* bandwidths, for banded structure */
    const int *colptr, *rowind; /* CSC pattern of dF/dy and dF/dy' together, for sparse */

    const char *const *variable_names; /* n names, or NULL */
    const char *const *equation_names; /* n names, or NULL */
    const dae_kind *kinds;             /* n kinds, or NULL for all auto */
    /* Bounds on y. Within the steps f is asked inside them only, but for products of GMRES. */
    const double *lower_bounds; /* y[i] >= lower_bounds[i]; -INFINITY for none; or NULL */
    const double *upper_bounds; /* y[i] <= upper_bounds[i]; INFINITY for none; or NULL */

    int n_events;
    dae_event_fn event_function;
    const dae_event *events; /* n_events entries, or NULL: both directions, not terminal */

    int n_conditions;
    dae_condition_fn conditions; /* for DAE_INIT_GENERAL */

    dae_precond_setup_fn precond_setup; /* may be NULL if precond_solve needs no setup */
    dae_precond_solve_fn precond_solve;
    dae_jac_times_fn jac_times;

    /* For second order methods: velocity[i] = j says that y_j is the derivative of y_i, by one row
     * of F that is y_i' - y_j times a constant (the row is found, and checked, at the start); -1:
     * y_i has none. n entries, or NULL. */
    const int *velocity;
} dae_residual;

typedef struct dae_problem dae_problem;

/* Library side of dae_problem_from_residual: `size` says how much of the struct the caller knows.
 */
DAE_API dae_status dae_problem_from_residual_sized(const dae_residual *residual, size_t size,
                                                   dae_problem **problem, dae_diag *diag);

/* Check and copy a problem description. diag may be NULL. */
static inline dae_status dae_problem_from_residual(const dae_residual *residual,
                                                   dae_problem **problem, dae_diag *diag)
{
    return dae_problem_from_residual_sized(residual, sizeof *residual, problem, diag);
}

DAE_API void dae_problem_free(dae_problem *problem); /* NULL is fine; free solvers first */

/* ---------------------------------------------------------------------------------------------
 * A problem from callbacks, in a form with more structure: mechanical, Hessenberg, quasilinear
 *
 * Half-explicit and second order methods need these forms; every other method gets the residual
 * form that follows from them (opt.formulation says which: docs/forms.md). Initial values are made
 * consistent on all levels of the constraints, as far as the form tells them.
 *
 * Callbacks find their arguments in a struct and return 0, > 0 or < 0 as above. Matrices are dense
 * by columns, element (i,j) at [i + j*rows], or in the order of their pattern, and zero on entry.
 * Derivatives that are NULL are differenced: central, coloured where there is a pattern.
 * ------------------------------------------------------------------------------------------- */

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

    int n_events;
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

    int n_events;
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

    int n_events;
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

    int n_events;
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

    int n_events;
    dae_event_fn event_function; /* of y = (x, v) and y' */
    const dae_event *events;
} dae_second_order;

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

/* ---------------------------------------------------------------------------------------------
 * A problem from a model text: Base Modelica
 * ------------------------------------------------------------------------------------------- */

typedef enum dae_engine {
    DAE_ENGINE_AUTO = 0, /* the tape at first, native code once that pays */
    DAE_ENGINE_TAPE,     /* no compiler needed */
    DAE_ENGINE_NATIVE    /* compiled by the machine's C compiler; the tape if that fails */
} dae_engine;

/* A value for a parameter or a start value, by the variable's name. */
typedef struct dae_setting {
    const char *name;
    double value;
} dae_setting;

/* Errors, warnings and notes, whole lines with their places in the text. */
typedef void (*dae_message_fn)(const char *text, void *user);

/* A model text and how to read it. Nothing is kept but copies. */
typedef struct dae_model {
    const char *text;            /* the model; NULL: read it from `file` */
    size_t length;               /* of text; 0: up to its terminating zero */
    const char *file;            /* path, or the name for messages */
    const dae_setting *settings; /* parameters, structural ones too */
    int n_settings;
    dae_engine engine;
    dae_message_fn message; /* NULL: only the first error, in the diagnostic */
    void *user;

    /* More settings, as the language writes them: "n = 100", "mode = Mode.fast" or "mode = fast",
     * "v = {1, 2, 3}", "v[2] = 3", "title = a text", "g = 9.81/6". */
    const char *const *assignments;
    int n_assignments;

    /* Asked now and then during the translation, and by dae_problem_analyse and dae_problem_emit of
     * the problem, which keep it and `user`; nonzero stops with DAE_ERR_INTERRUPTED. NULL: none. */
    int (*interrupt)(void *user);
} dae_model;

DAE_API dae_status dae_problem_from_model_sized(const dae_model *model, size_t size,
                                                dae_problem **problem, dae_diag *diag);

/* Translate a model: parse, check, flatten, differentiate. */
static inline dae_status dae_problem_from_model(const dae_model *model, dae_problem **problem,
                                                dae_diag *diag)
{
    return dae_problem_from_model_sized(model, sizeof *model, problem, diag);
}

DAE_API dae_status dae_problem_from_file(const char *path, dae_problem **problem, dae_diag *diag);

/* What annotation(experiment(..)) says; NAN where it says nothing. */
typedef struct dae_experiment {
    double start, stop, tolerance, interval;
} dae_experiment;

/* All variables of a problem: for a model every declared scalar, eliminated and discrete ones too;
 * for callbacks the n unknowns. */
DAE_API int dae_problem_variable_count(const dae_problem *problem);
DAE_API const char *dae_problem_variable(const dae_problem *problem, int i);
DAE_API const char *dae_problem_unit(const dae_problem *problem, int i);        /* "" if none */
DAE_API const char *dae_problem_description(const dae_problem *problem, int i); /* "" if none */
/* -1: none. The quotes of quoted identifiers may be left out. */
DAE_API int dae_problem_find_variable(const dae_problem *problem, const char *name);

DAE_API int dae_problem_parameter_count(const dae_problem *problem);
DAE_API const char *dae_problem_parameter(const dae_problem *problem, int i);
DAE_API const char *dae_problem_parameter_unit(const dae_problem *problem, int i);
DAE_API double dae_problem_parameter_value(const dae_problem *problem, int i);

/* Set a parameter or a start value by name; solvers see it at their next start. Not while a solver
 * of this problem is at work in another thread. A value must fit its type: a whole number for an
 * Integer, 0 or 1 for a Boolean, 1 .. for an enumeration; that of a parameter its min and max. */
DAE_API dae_status dae_problem_set_parameter(dae_problem *problem, const char *name, double value,
                                             dae_diag *diag);
DAE_API dae_status dae_problem_set_start(dae_problem *problem, const char *name, double value,
                                         dae_diag *diag);
/* Start values as the language writes them: "x = 0.5", "v = {1, 2}", "mode = fast", "on = true". */
DAE_API dae_status dae_problem_assign_start(dae_problem *problem, const char *assignment,
                                            dae_diag *diag);
DAE_API dae_experiment dae_problem_experiment(const dae_problem *problem);
DAE_API const char *dae_problem_name(const dae_problem *problem); /* of the model; "" if none */

typedef enum dae_type {
    DAE_TYPE_REAL = 0,
    DAE_TYPE_INTEGER,
    DAE_TYPE_BOOLEAN, /* 0 and 1 */
    DAE_TYPE_STRING,
    DAE_TYPE_ENUMERATION /* 1, 2, .. */
} dae_type;

/* What is known of a variable before it is computed. Pointers live as long as the problem. */
typedef struct dae_variable_info {
    dae_type type;
    bool discrete; /* changes at events only */
    bool state;    /* its derivative is determined, see dae_problem_derivative */
    bool input, output, is_protected;
    int alias;                   /* it is alias_sign times that variable; itself if it stands for */
    int alias_sign;              /* others; -1 if it is a constant over parameters */
    double min, max;             /* with the parameters as they are; -INFINITY, INFINITY: none */
    const char *const *literals; /* of an enumeration; else NULL */
    int literal_count;
} dae_variable_info;

typedef struct dae_parameter_info {
    dae_type type;
    bool settable;   /* neither constant nor final */
    bool structural; /* set before the translation only */
    double min, max;
    const char *text;        /* value of a String; else NULL */
    const char *description; /* "" if none */
    const char *const *literals;
    int literal_count;
} dae_parameter_info;

/* For i out of range, and for callbacks: a Real that stands alone. */
DAE_API dae_variable_info dae_problem_variable_info(const dae_problem *problem, int i);
DAE_API dae_parameter_info dae_problem_parameter_info(const dae_problem *problem, int i);

/* The sizes of a model after translation; for callbacks what is known. */
typedef struct dae_counts {
    int equations; /* and unknowns: dae_problem_size */
    int states;    /* unknowns whose derivatives appear */
    int variables; /* dae_problem_variable_count; of these: */
    int eliminated, discrete;
    int parameters;
    int nonzeros;                  /* of dF/dy and dF/dy' together */
    int relations, samples, whens; /* sources of events */
    int outputs; /* variables that nothing else needs: they and their equations are no unknowns and
                    equations of the system, but evaluated after it */
    bool idle;   /* nothing is left to be solved: the one equation lets time go on */
} dae_counts;

DAE_API dae_counts dae_problem_counts(const dae_problem *problem);

/* Derivatives of the variables of a model that are states, or aliases of them: "der(x)". */
DAE_API int dae_problem_derivative_count(const dae_problem *problem);
DAE_API const char *dae_problem_derivative(const dae_problem *problem, int k);
DAE_API const char *dae_problem_derivative_unit(const dae_problem *problem, int k);
DAE_API int dae_problem_derivative_of(const dae_problem *problem, int k); /* the variable x */

/* C text of the model, self-contained: functions, sizes, parameters, start values, the pattern of
 * the Jacobian. Free it with dae_text_free. NULL: memory, an interruption, or no
 * model. */
DAE_API char *dae_problem_emit(const dae_problem *problem);
DAE_API void dae_text_free(char *text);

/* ---------------------------------------------------------------------------------------------
 * Options: plain data
 * ------------------------------------------------------------------------------------------- */

typedef enum dae_linear_solver {
    DAE_LINEAR_AUTO = 0, /* by structure and size */
    DAE_LINEAR_DENSE,    /* LU with partial pivoting */
    DAE_LINEAR_BANDED,   /* band LU */
    DAE_LINEAR_SPARSE,   /* KLU */
    DAE_LINEAR_GMRES     /* matrix-free, left preconditioned [BHP94] */
} dae_linear_solver;

typedef enum dae_preconditioner {
    DAE_PRECOND_AUTO = 0, /* the user's; else ILU if a pattern is known; else banded */
    DAE_PRECOND_NONE,
    DAE_PRECOND_USER,
    DAE_PRECOND_BANDED, /* band of the matrix, bandwidths opt.precond_lower and _upper */
    DAE_PRECOND_ILU     /* incomplete LU without fill on the pattern */
} dae_preconditioner;

/* Which components the local error test sees [BCP96 5.4.2]. */
typedef enum dae_error_test {
    DAE_ERROR_AUTO = 0,     /* what measured best: docs/notes/bdf.md */
    DAE_ERROR_ALL,          /* every variable, as DASSL does */
    DAE_ERROR_DIFFERENTIAL, /* algebraic variables left out */
    DAE_ERROR_FILTERED      /* (dF/dy' + dF/dy/cj)^-1 dF/dy' applied to the estimate */
} dae_error_test;

/* What dae_solver_start makes consistent. */
typedef enum dae_init {
    DAE_INIT_AUTO = 0,     /* NONE if the residual is small already, else DIFFERENTIAL; GENERAL if
                              there are tags or conditions */
    DAE_INIT_NONE,         /* trust the user */
    DAE_INIT_DIFFERENTIAL, /* y of differential variables given: find algebraic y, differential y'
                            */
    DAE_INIT_DERIVATIVE,   /* all y' given: find all y (steady state: y' = 0) */
    DAE_INIT_GENERAL       /* tags and conditions B = 0 [LPG91] */
} dae_init;

/* What the user knows of one initial value. */
typedef enum dae_tag {
    DAE_TAG_GUESS = 0, /* start of the iteration; may move */
    DAE_TAG_FIXED,     /* must stay */
    DAE_TAG_FREE       /* unknown; the value given is ignored but for its scale */
} dae_tag;

/* What a method that projects moves onto the constraints at the end of a step, with both levels
 * where g depends on t as well. */
typedef enum dae_projection {
    DAE_PROJECTION_AUTO = 0, /* what suits the method: docs/methods */
    DAE_PROJECTION_NONE,
    DAE_PROJECTION_POSITION, /* q onto 0 = g(t,q) */
    DAE_PROJECTION_VELOCITY, /* v onto 0 = G v + g_t */
    DAE_PROJECTION_BOTH      /* q, then v at the new q */
} dae_projection;

/* In what explicit methods on manifolds compute (dopri5, dop853): docs/methods/manifold.md. */
typedef enum dae_coordinates {
    DAE_COORDINATES_AMBIENT = 0, /* in all variables, with projections */
    DAE_COORDINATES_PARTITIONED, /* in as many of the variables as there are degrees of freedom */
    DAE_COORDINATES_TANGENT      /* in the tangent space at a point of the solution */
} dae_coordinates;

/* The numbers that a run computes with. Tolerances stay doubles, such as 1e-28. */
typedef enum dae_precision {
    DAE_PRECISION_DOUBLE = 0,
    DAE_PRECISION_LONG, /* long double: 18 digits on x86 */
    DAE_PRECISION_QUAD  /* 33 digits, where compiler and C library have them */
} dae_precision;

typedef enum dae_dense {
    DAE_DENSE_CONTINUOUS = 0, /* the method's interpolant */
    DAE_DENSE_SMOOTH          /* continuously differentiable */
} dae_dense;

struct dae_step_info; /* below */

/* ||v|| in the scale of the tolerances: weights[i] = rtol|y_i| + atol. Must be a norm. */
typedef double (*dae_norm_fn)(int n, const double *v, const double *weights, void *user);
/* weights[i] > 0 from y; replaces rtol|y_i| + atol. Returns 0, or < 0 to stop. */
typedef int (*dae_weights_fn)(int n, double t, const double *y, double *weights, void *user);
/* Seen after every attempted step. */
typedef void (*dae_monitor_fn)(const struct dae_step_info *info, void *user);
/* Asked before every attempted step, and now and then while a solver is made and started and while
 * equations of a model are compiled or analysed anew; nonzero stops with DAE_ERR_INTERRUPTED. */
typedef int (*dae_interrupt_fn)(void *user);

/* values = first integrals of the problem at its unknowns y; returns 0, > 0 or < 0 as others do */
typedef int (*dae_invariant_fn)(double t, const double *y, double *values, void *user);

/* Absolute tolerances for opt.atol_by_variable, n values: atol times the nominal value of each
 * unknown. follow: of states without one, whose start value the text or the user gives and that is
 * not 0, at most rtol times that value (but at least 1e-15 atol): a trace of 1e-11 is known in its
 * own size. Callbacks: atol. */
DAE_API dae_status dae_problem_atol(const dae_problem *problem, double rtol, double atol,
                                    bool follow, double *values);

/* Always start from dae_options_default(). Strings and arrays are copied by dae_solver_new. */
typedef struct dae_options {
    size_t size; /* set by dae_options_default; do not touch */

    const char *method; /* "auto" or a name from dae_method_at(); see order and variant below */
    const char *formulation; /* "auto", "residual" (as given), or for models a name from
                                dae_formulation_name(), with a parameter as "baumgarte:10" */

    double rtol, atol;              /* 1e-6, 1e-9 */
    const double *rtol_by_variable; /* n values, or NULL for rtol */
    const double *atol_by_variable; /* n values, or NULL for atol */
    dae_error_test error_test;

    double initial_step;          /* 0: chosen; the sign follows tend */
    double max_step;              /* 0: no limit */
    double min_step;              /* 0: round-off decides */
    double fixed_step;            /* > 0: constant steps, no error control */
    int min_order, max_order;     /* 0: the method's limits. Equal: fixed order after the start */
    double stop_time;             /* F is never evaluated beyond it, but for differences by t of
                                     constraints that depend on it (docs/forms.md); NAN: none. A run to
                                     an end beyond it comes to the stop time, and says so with
                                     DAE_ERR_ARGUMENT; it may go on once the stop time is moved */
    long max_steps;               /* steps in one dae_solver_run, 100000; 0: no limit */
    int max_error_failures;       /* per step: 10 */
    int max_convergence_failures; /* per step: 10 */

    dae_linear_solver linear_solver;
    dae_preconditioner preconditioner;
    int precond_lower, precond_upper; /* 1, 1 */
    int krylov_dimension;             /* 0: min(n, 20) */
    int krylov_restarts;              /* 5 */
    double krylov_tolerance;          /* linear against nonlinear tolerance, 0.05 */

    int newton_iterations;   /* at most this many per attempt: 4, or a method's own number */
    double newton_tolerance; /* iteration error against local error tolerance: 0.1 */

    dae_init init;
    const dae_tag *y_tags, *yp_tags; /* n tags, or NULL; for DAE_INIT_GENERAL */
    int init_iterations;             /* 50 */
    double init_tolerance;           /* against the error tolerances: 0.01 */

    dae_dense dense;
    bool project_output;    /* one Newton correction of the algebraic variables in dae_solver_at */
    double event_tolerance; /* location in time, relative to max(|t|, |h|): 0 means 100 ulp */

    dae_norm_fn norm;           /* NULL: weighted root mean square */
    dae_weights_fn weights;     /* NULL: rtol|y| + atol */
    dae_monitor_fn monitor;     /* NULL: none */
    dae_interrupt_fn interrupt; /* NULL: none */
    void *user;                 /* handed to the callbacks of the options */

    dae_message_fn message; /* warnings at the start, and of a model while it runs; NULL: dropped */

    double formulation_parameter; /* of the formulation, if it has one; 0: its default */

    dae_projection projection; /* for methods that project */

    dae_precision precision; /* other than double: for methods that have it, such as taylor */

    int threads; /* for methods with several linear systems a step: 0, 1: none beside the caller's;
                    2: a second one where systems are large */
    /* bdf on an index-3 form with velocities (dae_residual.velocity, mechanical callbacks):
     * multipliers and accelerations are corrected after every step, and keep their accuracy where
     * step or order change. */
    bool multiplier_correction;

    /* For explicit methods on manifolds (dopri5, dop853, prk): g'' + 2 alpha g' + beta^2 g = 0 in
     * place of projection. alpha 0: by step size and order; beta 0: alpha. */
    bool baumgarte;
    double baumgarte_alpha, baumgarte_beta;
    dae_coordinates coordinates;

    /* First integrals, whose values at the start are kept: n_invariants of them, by a function of
     * the options' user, or for models by names of variables (else the names are for messages, and
     * may be NULL). Methods that can project onto them (explicit ones on manifolds, geometric ones)
     * do so, unless projection is
     * DAE_PROJECTION_NONE or watch_invariants is set; the statistics tell how far they drift. */
    int n_invariants;
    dae_invariant_fn invariant_function;
    const char *const *invariants;
    bool watch_invariants;

    bool watch_constraints; /* the statistics tell the largest residuals of the constraints */

    int order;           /* of the method: one that it has, dae_method_at(); 0: its own choice */
    const char *variant; /* of the method, such as "thesis"; NULL: none */
} dae_options;

DAE_API void dae_options_fill(dae_options *options, size_t size);

static inline dae_options dae_options_default(void)
{
    dae_options options;
    dae_options_fill(&options, sizeof options);
    return options;
}

/* ---------------------------------------------------------------------------------------------
 * A solver
 * ------------------------------------------------------------------------------------------- */

typedef struct dae_solver dae_solver;

/* Options may be NULL for the defaults; they are copied. The problem is borrowed. */
DAE_API dae_status dae_solver_new(const dae_problem *problem, const dae_options *options,
                                  dae_solver **solver, dae_diag *diag);
DAE_API void dae_solver_free(dae_solver *solver); /* NULL is fine */

/* Set the initial point and make it consistent (opt.init). yp0 may be NULL: unknown. For a model
 * y0 may be NULL, too: its own start values. */
DAE_API dae_status dae_solver_start(dae_solver *solver, double t0, const double *y0,
                                    const double *yp0);

/* Start with known past values y(times[i]) = values[i*n ..], times strictly towards the past,
 * times[0] = current time. Allows multistep methods to start at order count-1. No initialisation.
 */
DAE_API dae_status dae_solver_start_history(dae_solver *solver, int count, const double *times,
                                            const double *values, const double *yp0);

/* One internal step towards tend: DAE_STEPPED, DAE_EVENT, DAE_OK = tend reached, or < 0. The step
 * may pass tend (see opt.stop_time); dae_solver_at(tend) is then interpolated. */
DAE_API dae_status dae_solver_step(dae_solver *solver, double tend);

/* Step until tend, an event, or an error; y and yp (each may be NULL) receive the values there. The
 * events of a model do not end it, unless they terminate the run. */
DAE_API dae_status dae_solver_run(dae_solver *solver, double tend, double *y, double *yp);

/* Value (derivative = 0) or derivative (1) at any t in the last step. */
DAE_API dae_status dae_solver_at(dae_solver *solver, double t, int derivative, double *y);

/* Go on from the current time with new values (NULL: keep), made consistent; history is dropped. */
DAE_API dae_status dae_solver_restart(dae_solver *solver, const double *y, const double *yp);

/* The run is over: the last event of a model, with terminal() true, at the solver's time. Its
 * values are read afterwards at that time; further steps do nothing. Nothing happens for callbacks.
 */
DAE_API dae_status dae_solver_finish(dae_solver *solver);

/* All variables of the problem (dae_problem_variable_count values) at any t in the last step. */
DAE_API dae_status dae_solver_variables(dae_solver *solver, double t, double *values);

/* Their derivatives (dae_problem_derivative_count values), likewise. */
DAE_API dae_status dae_solver_derivatives(dae_solver *solver, double t, double *values);

/* All variables as decimal numbers with every digit of the precision of the run (opt.precision),
 * likewise; t is taken as the decimal number that it is printed as, so that 0.03 is 3/100. text has
 * DAE_DIGITS_SIZE bytes for each of them, where one string stands. */
enum { DAE_DIGITS_SIZE = 48 };
DAE_API dae_status dae_solver_digits(dae_solver *solver, double t, char *text);

/* How a model runs at the moment: DAE_ENGINE_TAPE or DAE_ENGINE_NATIVE; DAE_ENGINE_AUTO for
 * callbacks. */
DAE_API dae_engine dae_solver_engine(const dae_solver *solver);

/* The method at work, and, if opt.method is "auto", why it was chosen, in one line ("" if it was
 * not). It may change at a start, at an event and during a run. Borrowed until the next call. */
DAE_API const char *dae_solver_method(const dae_solver *solver);
DAE_API const char *dae_solver_choice(const dae_solver *solver);

/* Where the solver stands: tend, an event, or the end of the last step. */
DAE_API double dae_solver_time(const dae_solver *solver);
/* The last step covers [last_step_start, last_step_end]; dae_solver_at is valid there. */
DAE_API void dae_solver_last_step(const dae_solver *solver, double *start, double *end);
/* n_events flags for the last DAE_EVENT: 0, +1 rising, -1 falling. Borrowed until the next call. */
DAE_API const int *dae_solver_events(const dae_solver *solver);

/* Change the tolerances or the stop time between steps. */
DAE_API dae_status dae_solver_set_tolerances(dae_solver *solver, double rtol, double atol);
DAE_API dae_status dae_solver_set_stop_time(dae_solver *solver, double stop_time);

/* ---------------------------------------------------------------------------------------------
 * Statistics, history and diagnostics
 * ------------------------------------------------------------------------------------------- */

typedef struct dae_stats {
    long steps;    /* accepted */
    long attempts; /* accepted and rejected */
    long rejected_error, rejected_convergence, rejected_evaluation, rejected_bound,
        rejected_singular;
    long residuals;          /* F calls for Newton, error estimates and initial values */
    long jacobian_residuals; /* F calls for difference Jacobians and matrix-free products */
    long jacobians;          /* evaluations of dF/dy, dF/dy' (or of the preconditioner) */
    long factorizations;     /* all; of these: */
    long factor_step_changed, factor_new_jacobian; /* because cj moved; because J is new */
    long repivots; /* sparse factorisations with a fresh pivot order */
    long newton_iterations;
    long linear_iterations; /* GMRES */
    long solves;            /* linear solves with the factors */
    long event_evaluations, events;
    long starts;           /* starts and restarts */
    int order, last_order; /* next and last */
    double h, last_h;      /* next and last */
    double h0;             /* first step tried */
    double t;              /* end of the last step */
    /* Largest values at the ends of steps; -1: not measured. Of the constraints as written (0 = g),
     * and of hidden ones (0 = G v + g_t), with opt.watch_constraints; of |I - I(t0)| over all
     * invariants, dae_solver_invariant tells them apart. */
    double position_residual, velocity_residual, invariant_drift;
} dae_stats;

typedef enum dae_step_result {
    DAE_STEP_ACCEPTED = 0,
    DAE_STEP_ERROR_TEST,
    DAE_STEP_CONVERGENCE,
    DAE_STEP_EVALUATION,
    DAE_STEP_BOUND,
    DAE_STEP_SINGULAR
} dae_step_result;

/* One attempted step, for opt.monitor. */
typedef struct dae_step_info {
    dae_step_result result;
    double t, h; /* from t to t + h */
    int order;
    double error; /* weighted error estimate; <= 1 passes */
    int newton_iterations;
    double convergence_rate;
    int variable; /* the one that dominates the error or the Newton correction; -1 if none */
} dae_step_info;

/* Borrowed; valid and kept current until the solver is freed. */
DAE_API const dae_stats *dae_solver_stats(const dae_solver *solver);
/* Invariant i of opt.n_invariants: its value at the start, and the largest |I - I(t0)| at the ends
 * of steps; either place may be NULL. */
DAE_API dae_status dae_solver_invariant(const dae_solver *solver, int i, double *start,
                                        double *drift);
/* The last failure of this solver. Borrowed until the next call. */
DAE_API const dae_diag *dae_solver_diag(const dae_solver *solver);
/* Reciprocal condition estimate of the current iteration matrix; < 0 if there is none. */
DAE_API double dae_solver_condition(dae_solver *solver);
/* Unknowns that no accuracy was asked for: at the ends of all steps since the start |y_i| was below
 * ten absolute tolerances, and yet the equations do not hold with 0 in its place. Returns how many
 * there are, or an error (< 0); flags, the largest |y_i|, and the absolute tolerances have n values
 * each, and may be NULL. Not for weights of the user's own. */
DAE_API int dae_solver_unresolved(dae_solver *solver, bool *flags, double *largest, double *atol);
/* Estimated local errors of the last accepted step, per variable. */
DAE_API dae_status dae_solver_local_errors(const dae_solver *solver, double *errors);

DAE_API int dae_problem_size(const dae_problem *problem);
DAE_API const char *dae_problem_variable_name(const dae_problem *problem, int i);
DAE_API const char *dae_problem_equation_name(const dae_problem *problem, int i);

/* A method on offer. Texts live as long as the program. */
typedef struct dae_method_info {
    const char *name;    /* what opt.method takes: "radau:9", family[:order][:variant] */
    const char *family;  /* "radau"; opt.method takes it, too: its first member */
    const char *variant; /* "thesis", ..; "": none */
    int order;           /* if the family has several members by order; else 0 */
    int max_order;       /* the highest */
    bool variable_order; /* any from 1 on */
    bool constant_steps; /* only with opt.fixed_step */
    bool by_tolerance;   /* it chooses between orders of its own */
    const char *group;   /* of families: "Multistep" */
    const char *use;     /* of the family: use this when .. */
    const char *reason;  /* for whom the family is there: best, of a source, a classic */
    const char *summary; /* one line on this member */
    const char *citation;
    const char *forms;       /* "residual", or those it works on: "mechanical, hessenberg" */
    const char *index_range; /* "1", "2 (mechanical: 3)" */
    const char *old_name;    /* a name of version 0.1 that still works in 0.2; "": none */
} dae_method_info;

DAE_API void dae_method_info_fill(int i, dae_method_info *info, size_t size);

/* All members of all families, i = 0, 1, ..; a name of NULL past the end. Those of a family follow
 * each other, the default first. */
static inline dae_method_info dae_method_at(int i)
{
    dae_method_info info;
    dae_method_info_fill(i, &info, sizeof info);
    return info;
}

DAE_API const char *dae_method_name(int i); /* dae_method_at(i).name */
/* Formulations of models on offer, likewise. */
DAE_API const char *dae_formulation_name(int i);
DAE_API const char *dae_formulation_summary(int i);
DAE_API const char *dae_formulation_citation(int i);

/* ---------------------------------------------------------------------------------------------
 * Index and structure: linear systems as matrices, and any problem at a point
 * ------------------------------------------------------------------------------------------- */

/* The linear system B u' + A u = d(t) with constant matrices. Nothing is kept. */
typedef struct dae_pencil {
    int n;
    const double *a, *b; /* n x n, element (i,j) at [i + j*n] */
    double tolerance;    /* singular values below it, relative to the scaled matrices, count as 0;
                            0 means 1e-11 */
    const char *const *variable_names; /* n, for the text; NULL: u[i] */
    const char *const *equation_names; /* n, for the text; NULL: F[i] */
} dae_pencil;

typedef enum dae_stability {
    DAE_STABILITY_NONE = 0,   /* singular pencil */
    DAE_STABILITY_ASYMPTOTIC, /* every finite eigenvalue has a negative real part */
    DAE_STABILITY_STABLE,     /* bounded: those on the imaginary axis are semisimple */
    DAE_STABILITY_UNSTABLE    /* growing solutions, by exponentials or by powers of t */
} dae_stability;

/* Kronecker's structure of lambda B + A. Made by the library; free it as a whole. */
typedef struct dae_pencil_report {
    int n;
    bool regular;    /* det(lambda B + A) is not 0 for all lambda: solutions exist and are unique */
    int index;       /* of nilpotency, which is the index of the system; -1: singular */
    int rank_b;      /* rank of B */
    int normal_rank; /* of lambda B + A for almost every lambda; n if regular */
    int finite;      /* number of finite eigenvalues: degrees of freedom of a regular system */
    int infinite;    /* dimension of the part at infinity */
    const double *re, *im;    /* the finite eigenvalues: solutions exp(lambda t) v */
    int levels;               /* entries of block_count */
    const int *block_count;   /* block_count[k]: nilpotent Jordan blocks of size k + 1 */
    dae_stability stability;  /* of the homogeneous system */
    int column_count;         /* singular: so many free functions in the solutions, */
    const int *column_index;  /* by their minimal indices: derivatives of the function taken */
    int row_count;            /* singular: so many conditions on d(t), */
    const int *row_index;     /* by their minimal indices: derivatives of d taken */
    double kept, dropped;     /* smallest singular value taken for nonzero, and largest taken for
                                 zero: a wide gap is a sure result */
    char text[DAE_TEXT_SIZE]; /* the verdict; which equations and variables are dependent */
} dae_pencil_report;

DAE_API dae_status dae_pencil_analyse_sized(const dae_pencil *pencil, size_t size,
                                            dae_pencil_report **report, dae_diag *diag);
DAE_API dae_status dae_pencil_consistent_sized(const dae_pencil *pencil, size_t size, int orders,
                                               const double *d, double *u, double *up,
                                               dae_diag *diag);

/* Regularity, index, eigenvalues and stability of a linear system. */
static inline dae_status dae_pencil_analyse(const dae_pencil *pencil, dae_pencil_report **report,
                                            dae_diag *diag)
{
    return dae_pencil_analyse_sized(pencil, sizeof *pencil, report, diag);
}

DAE_API void dae_pencil_report_free(dae_pencil_report *report); /* NULL is fine */

/* The consistent initial value nearest to u, which is overwritten. d holds d(t0), d'(t0), ..,
 * `orders` columns of n; derivatives not given count as 0. Up to the (index-1)-st enter u; the
 * index-th enters up, u'(t0), which may be NULL. */
static inline dae_status dae_pencil_consistent(const dae_pencil *pencil, int orders,
                                               const double *d, double *u, double *up,
                                               dae_diag *diag)
{
    return dae_pencil_consistent_sized(pencil, sizeof *pencil, orders, d, u, up, diag);
}

/* The index of F(t, y, y') = 0 around a point, from F, its Jacobians, and their differences along
 * the solution. docs/methods/derivative-arrays.md says what is certain and what an indication. */
typedef struct dae_index_report {
    int n;
    double t;
    int index;             /* 0, 1, 2 or 3; 4: above 3; -1: singular here, or it cannot be told */
    int pencil_index;      /* of dF/dy' u' + dF/dy u with both frozen; -1: a singular pencil */
    bool certain;          /* ranks are clear and the same around the point */
    int freedom;           /* initial values that can be chosen; -1 if the index is not known */
    double kept, dropped;  /* as for a pencil, over all rank decisions */
    const bool *rows;      /* n: equations to be differentiated, or dependent (index -1) */
    const bool *variables; /* n: variables that the equations as they stand do not determine */
    const dae_kind *kinds; /* n: what each variable is; AUTO where that is not known */
    char text[DAE_TEXT_SIZE];
} dae_index_report;

/* For problems from callbacks. yp may be NULL: zero. */
DAE_API dae_status dae_problem_diagnose(const dae_problem *problem, double t, const double *y,
                                        const double *yp, dae_index_report **report,
                                        dae_diag *diag);
/* Where the solver stands, along its last step; also after a failure. */
DAE_API dae_status dae_solver_diagnose(dae_solver *solver, dae_index_report **report);
DAE_API void dae_index_report_free(dae_index_report *report); /* NULL is fine */

/* ---------------------------------------------------------------------------------------------
 * What a model is: its structure, in the names of its author
 * ------------------------------------------------------------------------------------------- */

/* What becomes of the initial value of a variable. */
typedef enum dae_role {
    DAE_ROLE_IMPLIED = 0, /* it follows from the equations and the values that are fixed */
    DAE_ROLE_FIXED,       /* given by fixed = true */
    DAE_ROLE_FREE /* one of those to choose from, `to_choose` of them in all: its start value is
                     kept as well as can be */
} dae_role;

/* A continuous variable of the model. */
typedef struct dae_analysis_variable {
    const char *name;
    int line;
    bool differential; /* its derivative appears in the equations; else it is algebraic */
    int index;         /* algebraic: 1 if the equations determine it as they stand, 2 if some must
                          be differentiated once, ..; 0 for differential ones, -1: not known */
    int unknown; /* it is sign times the order-th derivative of that unknown; -1: a constant */
    int order, sign;
    dae_role role;
    double start; /* value given; NAN: none */
    double value; /* at the initial point if `consistent`; else NAN */
    bool output;  /* nothing else needs it: it is evaluated after the solve */
} dae_analysis_variable;

/* An unknown of the analysed system: aliases are gone, and so are names of derivatives. */
typedef struct dae_analysis_unknown {
    const char *name;
    int offset; /* d: its highest derivative, once the equations are differentiated */
    int block;
} dae_analysis_unknown;

/* An equation of the analysed system. */
typedef struct dae_analysis_equation {
    const char *name; /* "equation 4 (pendulum.mo:17)", or its comment */
    int line;
    const char *text; /* "der(x) = vx" */
    int offset;       /* c: how often it is differentiated */
    int block;
    int determines;         /* unknown whose highest derivative it determines, */
    const char *determined; /* in words: "der(vx)" */
} dae_analysis_equation;

/* What values must satisfy at all times, beside equations that determine algebraic variables. */
typedef struct dae_analysis_constraint {
    const char *text; /* "x*vx + y*vy = 0" */
    bool hidden;      /* not written in the model: it follows by differentiation */
    int equation;     /* of the analysed system, that it comes from */
    int times;        /* how often that one was differentiated */
    const int *lines; /* of all equations that it was made of, increasing */
    int line_count;
    bool derivatives; /* it contains derivatives that could not be eliminated */
} dae_analysis_constraint;

/* Equations that are too many for their unknowns, or unknowns with too few equations. */
typedef struct dae_analysis_part {
    bool over; /* more equations than unknowns; without any one of them they would not be */
    int equation_count, unknown_count;
    const char *const *equations; /* names, with places; at most 100 of them */
    const int *lines;             /* of these */
    const char *const *unknowns;  /* names; at most 100 */
} dae_analysis_part;

/* A condition that decides which equations hold: the analysis is of this case. */
typedef struct dae_analysis_mode {
    const char *condition;
    double value; /* 0 and 1 for false and true */
} dae_analysis_mode;

/* Read it freely. All that it points to lives as long as it does. */
typedef struct dae_analysis {
    const char *model;
    double t;
    bool consistent; /* consistent initial values were found, and are looked at; else the
                        start values as they are */
    char initial_text[DAE_TEXT_SIZE]; /* why not, if a search failed */
    int equations, unknowns;          /* as written; */
    int remaining;                    /* after aliases have left, */
    int analysed;                     /* and names of derivatives: of this the rest speaks */

    bool singular; /* by structure: only `parts` is there, those with too many equations
                      first, then smallest first */
    const dae_analysis_part *parts;
    int part_count;

    int structural_index; /* of the equations after aliases have left, */
    int reduced_index;    /* of the analysed system */
    int index;   /* differentiation index, if the numbers agree with the structure; else -1 */
    int freedom; /* initial values that can be chosen; -1 as index */
    int fixed_count, condition_count, to_choose; /* by fixed values, initial equations, and left */
    int unsettled; /* fixed values and initial equations beyond what can be chosen */

    const dae_analysis_variable *variables;
    int variable_count;
    const dae_analysis_unknown *unknown;   /* analysed of them */
    const dae_analysis_equation *equation; /* analysed of them */
    const dae_analysis_constraint *constraints;
    int constraint_count; /* explicit ones first */
    int hidden_count;     /* of these */

    int block_count;
    const int *block_start;    /* block b has equations block_equation[block_start[b] ..] and the */
    const int *block_equation; /* unknowns that they determine, block_unknown[..] */
    const int *block_unknown;
    const int *entry_start; /* equation i contains the unknowns entry_unknown[entry_start[i] ..] */
    const int *entry_unknown; /* with derivatives up to entry_order[..] */
    const int *entry_order;

    bool agree;       /* the system Jacobian is regular where generic, after the rewriting */
    bool agree_here;  /* and at the very point, if it is consistent */
    double condition; /* reciprocal, of its worst scaled block there; NAN: not known */
    const int *culprit_equations; /* if not: equations that depend on each other, */
    int culprit_equation_count;
    const char *const *culprit_unknowns; /* and what they leave open */
    int culprit_unknown_count;
    const char *const *rewrites; /* what was done to make structure and numbers agree */
    int rewrite_count;
    const char *rewrite_failure; /* why that did not succeed; "" if it did, or need not */

    const dae_pencil_report *pencil; /* linear with constant coefficients, and small; else NULL */
    const dae_analysis_mode *modes;
    int mode_count;
    int positions;   /* > 0: the equations are M(q,t) q'' = f - G' lambda, 0 = g(q,t) with so many q
                      */
    int multipliers; /* .. and so many lambda; */
    int contacts;    /* so many contact coordinates s, where g(q,s,t) and 0 = h(q,s,t); */
    int velocity_constraints; /* so many of the constraints are on velocities, 0 = c(q,v,s,t); */
    bool friction;            /* and f depends on lambda: it acts otherwise than along G' */
} dae_analysis;

/* Analyse a model at its start time t (NAN: that of its experiment, or 0). DAE_OK also where it is
 * singular or the numbers disagree: the result says so. Not for problems from callbacks, see
 * dae_problem_diagnose. */
DAE_API dae_status dae_problem_analyse(const dae_problem *problem, double t,
                                       dae_analysis **analysis, dae_diag *diag);
DAE_API void dae_analysis_free(dae_analysis *analysis); /* NULL is fine */

DAE_API dae_status dae_model_analyse_sized(const dae_model *model, size_t size, double t,
                                           dae_analysis **analysis, dae_diag *diag);

/* The same for a model text, also if it is structurally singular, which no problem can be. */
static inline dae_status dae_model_analyse(const dae_model *model, double t,
                                           dae_analysis **analysis, dae_diag *diag)
{
    return dae_model_analyse_sized(model, sizeof *model, t, analysis, diag);
}

/* ---------------------------------------------------------------------------------------------
 * Is a result right? An independent judge (docs/verify.md)
 * ------------------------------------------------------------------------------------------- */

/* What is to be judged: the run that a program would make with the same problem and options. Fill
 * with {0}; zero means the default for every field but tend. */
typedef struct dae_verify_request {
    double t0, tend;
    const double *y0, *yp0; /* as for dae_solver_start */
    int rows;               /* output times, both ends included; 0: 501 */
    const double *times; /* `rows` of them, from t0 on in the order of time; NULL: evenly spaced */
    /* A result that is there already, judged in place of a run: `rows` times dae_problem_variable_
     * count values, row by row. Needs `times`; equations are not evaluated then. NULL: solve. */
    const double *values;
    const char *judge; /* its method; NULL: of another family than that of the run */
    double limit;      /* a variable that is off by more tolerances is wrong; 0: 100 */
} dae_verify_request;

typedef enum dae_verdict {
    DAE_VERDICT_GOOD = 0, /* every variable is within the limit at every row */
    DAE_VERDICT_OFF,      /* some variable is not */
    DAE_VERDICT_UNKNOWN   /* it cannot be told: no judge reached the end, or the judges disagree */
} dae_verdict;

/* How a run or a judge did. */
typedef struct dae_verify_run {
    const char *method; /* at its end */
    double rtol, atol;
    dae_status status; /* DAE_OK: it reached the end, or the model ended it */
    double end;        /* how far it came */
    long steps, evaluations;
    double seconds;           /* of processor time */
    char text[DAE_TEXT_SIZE]; /* why it ended before; "" */
} dae_verify_run;

/* The difference between run and judge: the estimated global error of a variable. Its unit is the
 * tolerance rtol |y| + atol, |y| being the largest value within a twentieth of the interval. */
typedef struct dae_verify_variable {
    const char *name;
    double rtol, atol;
    double tolerances; /* largest error, in tolerances; */
    double rms;        /* root mean square over the rows, in tolerances */
    double error, t;   /* the largest one itself, and when; */
    double run, judge; /* what both say there */
    double largest;    /* largest |y| of the run */
} dae_verify_variable;

/* An equation, or a constraint, at the rows of the run. */
typedef struct dae_verify_equation {
    const char *name;  /* "equation 4 (pendulum.mo:17)" */
    int line;          /* of the model text; 0: none */
    int level;         /* 0: as written; k: it follows by differentiating k times */
    bool differential; /* it contains derivatives: these are the interpolant's */
    double residual;   /* largest |F_i|; */
    double relative;   /* the same against the largest size of its terms; */
    double tolerances; /* and, without derivatives, against what errors of one tolerance in every
                          variable would leave; else NAN */
    double t;          /* where `residual` is largest */
} dae_verify_equation;

typedef struct dae_verify_event {
    const char *name;  /* the relation that changes, "sample", or the event's name */
    double run, judge; /* times; NAN: only the other one has it */
} dae_verify_event;

/* A declared invariant, or a variable named energy: how far it moves from where it starts. */
typedef struct dae_verify_invariant {
    const char *name;
    double start, run, judge; /* value at the start, largest change in the run, with the judge */
} dae_verify_invariant;

enum { DAE_MOST_JUDGES = 16 };

/* Made by the library, read freely; all that it points to lives as long as it does. */
typedef struct dae_verify_report {
    dae_verdict verdict;
    char text[DAE_TEXT_SIZE]; /* the verdict in words */
    double limit;
    int worst;            /* variable with the largest error; -1: none was compared */
    double trusted_until; /* judges agree up to here; tend, or where they part */
    int rows, compared;   /* of the run, those at events included; compared with the judge's */
    int between;          /* rows that lie between the two times of an event: not compared */

    dae_verify_run run;
    int judge_count; /* tried, the deciding one first */
    dae_verify_run judges[DAE_MOST_JUDGES];

    int variable_count; /* as dae_problem_variable */
    const dae_verify_variable *variables;
    int equation_count; /* worst first */
    const dae_verify_equation *equations;
    int constraint_count; /* those of a level of their own, hidden ones too; worst first */
    const dae_verify_equation *constraints;
    int event_count; /* the first ones; */
    const dae_verify_event *events;
    int run_events, judge_events; /* all */
    int invariant_count;
    const dae_verify_invariant *invariants;
} dae_verify_report;

DAE_API dae_status dae_verify_sized(const dae_problem *problem, const dae_options *options,
                                    const dae_verify_request *request, size_t size,
                                    dae_verify_report **report, dae_diag *diag);

/* Solve, solve again by another family of methods with tolerances a hundred times tighter, and
 * compare. DAE_OK if there is a report, also where the run failed on its way: report->run says so.
 * Options may be NULL. */
static inline dae_status dae_verify(const dae_problem *problem, const dae_options *options,
                                    const dae_verify_request *request, dae_verify_report **report,
                                    dae_diag *diag)
{
    return dae_verify_sized(problem, options, request, sizeof *request, report, diag);
}

DAE_API void dae_verify_report_free(dae_verify_report *report); /* NULL is fine */

#ifdef __cplusplus
}
#endif

#endif /* DAEDAL_H */
