/* Daedal: index and structure of linear systems, problems and models. Included by daedal.h. */
#ifndef DAEDAL_ANALYSIS_H
#define DAEDAL_ANALYSIS_H
#ifndef DAEDAL_H
#error "include daedal.h, which includes this file where it belongs"
#endif

/* ---- Linear systems as matrices, and any problem at a point ---- */

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
    size_t size; /* bytes that the library at hand fills in */
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
    /* Weierstrass' form of a regular pencil, n x n by columns: P B Q = diag(I, N) and
     * P A Q = diag(C, I), I and C of size `finite`, N of nilpotent Jordan blocks, largest first.
     * NULL: singular, above n = 300, or the ranks are not clear enough. */
    const double *p, *q;
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

/* The linear system a[2] u'' + a[1] u' + a[0] u = d(t) with constant matrices, as many equations as
 * one likes. Nothing is kept. */
typedef struct dae_linear_system {
    int m, n;           /* equations, unknowns */
    int order;          /* 1 or 2; a[2] is not read for 1 */
    const double *a[3]; /* m x n, element (i,j) at [i + j*m]; NULL: zero, but for the last one */
    double tolerance;   /* as in dae_pencil */
} dae_linear_system;

/* Characteristic values of one step of the reduction [Wun05 2.1, 3.1]. A system of first order has
 * r, a, s = s01, d = d1, u = left and v = right; its s012, s12, s02 and d2 are 0. Of systems of
 * second order the letters of the last two are v and u. */
typedef struct dae_characteristic {
    int r;                   /* rank of the leading matrix */
    int a;                   /* algebraic part */
    int s012, s12, s02, s01; /* strangeness: equations that share unknowns at these orders */
    int d2, d1;              /* differential parts of second and of first order */
    int left;                /* equations without unknowns: conditions on d */
    int right;               /* unknowns that no equation determines */
} dae_characteristic;

/* Made by the library; free it as a whole. */
typedef struct dae_condensed {
    size_t size; /* bytes that the library at hand fills in */
    int m, n, order;
    int index;                       /* strangeness index: steps until no strangeness is left */
    const dae_characteristic *steps; /* index + 1 of them; the last one has no strangeness */
    bool regular;                    /* left = right = 0 at the end, and m = n */
    int derivatives;                 /* the highest derivative of d that enters */
    /* An equivalent system without strangeness: m x n, rows of second order first, then of first
     * order, then algebraic ones, then such without u. Its right hand side is the sum of
     * left[k*m*m ..] d^(k), k = 0 .. derivatives. */
    const double *a[3], *left;
    /* First order: the condensed form of the pair, P a[1] Q = diag(I_s, I_d, 0), P a[0] Q with I_a
     * and I_s [Wun05 (2.13)]; m x m and n x n. Second order: NULL. */
    const double *p, *q;
    double kept, dropped; /* as for a pencil */
    char text[DAE_TEXT_SIZE];
} dae_condensed;

DAE_API dae_status dae_linear_condense_sized(const dae_linear_system *system, size_t size,
                                             dae_condensed **result, dae_diag *diag);
DAE_API void dae_condensed_free(dae_condensed *condensed); /* NULL is fine */

/* Characteristic values, strangeness index and an equivalent system without strangeness. */
static inline dae_status dae_linear_condense(const dae_linear_system *system,
                                             dae_condensed **result, dae_diag *diag)
{
    return dae_linear_condense_sized(system, sizeof *system, result, diag);
}

/* The index of F(t, y, y') = 0 around a point, from F, its Jacobians, and their differences along
 * the solution. docs/methods/derivative-arrays.md says what is certain and what an indication. */
typedef struct dae_index_report {
    size_t size; /* bytes that the library at hand fills in */
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

/* Which unknowns constraints 0 = g(t,x) are solved for, by elimination on g_x with complete
 * pivoting where unknowns that are `required` come first [Baese17 Procedure 3.11]: multipliers, of
 * which no equation has a derivative. g_x: ng x n at a point, element (i,j) at [i + j*ng];
 * required: n flags, NULL: none. Pivots below pivot_tolerance (0: 1e-15) times its largest entry
 * count as 0. unknowns: ng of them, in the order of the pivots; rows (or NULL): the constraint of
 * each. DAE_ERR_SINGULAR: diag names in `equation` a constraint that depends on others, or in
 * `variable` an unknown that is required and that no constraint determines. */
DAE_API dae_status dae_select_unknowns(int ng, int n, const double *g_x, const bool *required,
                                       double pivot_tolerance, int *unknowns, int *rows,
                                       dae_diag *diag);

/* ---- What a model is: its structure, in the names of its author ---- */

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
    size_t size; /* bytes that the library at hand fills in */
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

/* One notion of index, and what it says of a model. */
typedef struct dae_index_notion {
    const char *name; /* "structural", "differentiation", "strangeness", "perturbation",
                         "tractability", "Kronecker" */
    int low, high;    /* it is between these; -1: not defined here, or it cannot be told */
    const char *text; /* a sentence: what it counts, and why it is this number, or none */
    const char *citation;
} dae_index_notion;

/* Read it freely. All that it points to lives as long as it does. */
typedef struct dae_index_notions {
    size_t size; /* bytes that the library at hand fills in */
    const char *model;
    double t;
    bool consistent; /* looked at where consistent initial values are; else at the start values */
    int n;           /* equations and unknowns, first order, aliases gone */
    int count;
    const dae_index_notion *notion;
    /* Kunkel and Mehrmann's characteristic values [KM98; Wun05 2.1.9]; -1: not known. */
    int strangeness, a, d, u, v, r;
    const dae_characteristic *steps; /* linear with constant coefficients: step_count of them */
    int step_count;
} dae_index_notions;

/* Which index is which, on a model at its start time t (NAN: that of its experiment, or 0). */
DAE_API dae_status dae_problem_indices(const dae_problem *problem, double t,
                                       dae_index_notions **notions, dae_diag *diag);
DAE_API void dae_index_notions_free(dae_index_notions *notions); /* NULL is fine */

DAE_API dae_status dae_model_analyse_sized(const dae_model *model, size_t size, double t,
                                           dae_analysis **analysis, dae_diag *diag);

/* The same for a model text, also if it is structurally singular, which no problem can be. */
static inline dae_status dae_model_analyse(const dae_model *model, double t,
                                           dae_analysis **analysis, dae_diag *diag)
{
    return dae_model_analyse_sized(model, sizeof *model, t, analysis, diag);
}

#endif
