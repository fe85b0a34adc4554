/* Daedal: words that fields take, and callbacks beside the residual. Included by daedal.h. */
#ifndef DAEDAL_TYPES_H
#define DAEDAL_TYPES_H
#ifndef DAEDAL_H
#error "include daedal.h, which includes this file where it belongs"
#endif

#if defined(__GNUC__) && defined(DAE_BUILDING)
#define DAE_API __attribute__((visibility("default")))
#else
#define DAE_API
#endif

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

/* In what explicit methods on manifolds compute (dopri, prk), and others as a formulation of a
 * model: docs/methods/manifold.md. */
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

/* A choice that may be left open. */
typedef enum dae_switch { DAE_SWITCH_AUTO = 0, DAE_SWITCH_ON, DAE_SWITCH_OFF } dae_switch;

/* Options of method herk (opt.herk), with their names in [Baese17 4.1.1]; 0 stands for the default
 * of each. The thesis' eps0 is opt.atol, h0 is opt.initial_step or opt.fixed_step. */
typedef struct dae_herk_options {
    size_t size; /* sizeof(dae_herk_options) */

    /* of the thesis variants alone */
    dae_switch adaptive_steps; /* ssc. On: steps by the thesis' control, whose test is atol alone in
                                  the Euclidean norm. Off: opt.fixed_step, which they need else */
    double safety;             /* beta, between 0 and 1: factor of that control; 0.9 */
    double newton_tolerance;   /* tol: iterations end where |g|_2 is below it; atol / 100 */

    double pivot_tolerance; /* ptol: pivots of g_x below this part of its largest entry count as 0;
                               1e-15 in the thesis variants, else 1e-12 of their row */
    double increment;       /* delta: of x in differences for g_x; sqrt(u) max(|x|, 1). If it is
                               given, g_x is made of differences */
    dae_switch given_jacobian;    /* Jopt. On: g_x must be given or be that of a model. Off:
                                     differences. Open: what there is */
    dae_switch constant_E;        /* Estat. On: E is factorised once, and a run in which it changes
                                     ends. Off: at every stage. Open: as the problem declares it */
    dae_switch simplified_newton; /* Nopt. On: one g_x for the iterations of a stage. Off: one for
                                     each iteration. Open: on; herk itself keeps it for longer */
} dae_herk_options;

typedef enum dae_dense {
    DAE_DENSE_CONTINUOUS = 0, /* the method's interpolant */
    DAE_DENSE_SMOOTH          /* continuously differentiable */
} dae_dense;

/* dfdy = dF/dy and dfdyp = dF/dy', both zero on entry, in the problem's structure: dense, element
 * (i,j) at [i + j*n]; banded, at [upper + i - j + j*(lower + upper + 1)]; sparse, in the order of
 * rowind, one pattern for both. */
typedef int (*dae_jacobian_fn)(double t, const double *y, const double *yp, double *dfdy,
                               double *dfdyp, void *user);
/* Some rows alone: f[rows[k]], k < count, of F; entries of these rows of dF/dy and dF/dy', where
 * dae_jacobian_fn would put them. The rest stays as it is. */
typedef int (*dae_rows_fn)(double t, const double *y, const double *yp, const int *rows, int count,
                           double *f, void *user);
typedef int (*dae_jacobian_rows_fn)(double t, const double *y, const double *yp, const int *rows,
                                    int count, double *dfdy, double *dfdyp, void *user);

/* g = event functions; an event is a zero crossing of one of them */
typedef int (*dae_event_fn)(double t, const double *y, const double *yp, double *g, void *user);

typedef struct dae_event {
    const char *name; /* copied; NULL gives "g[i]" */
    int direction;    /* +1 rising only, -1 falling only, 0 both */
    bool terminal;    /* end the integration here */
} dae_event;

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

/* Of the options. */
struct dae_step_info; /* in daedal/statistics.h */

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
/* Errors, warnings and notes, whole lines with their places in the text. */
typedef void (*dae_message_fn)(const char *text, void *user);

#endif
