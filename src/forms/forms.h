/* The forms that methods integrate beside the residual form: what callbacks were written in, and
 * what the structure of a model offers.
 *
 * A form is a table of functions with a context; derivatives that were not given are differenced by
 * the form itself, so that a method may always ask. Matrices are dense, by columns, or compressed
 * columns on the pattern that comes with them. Functions return EVAL_OK, EVAL_RETRY (smaller step)
 * or EVAL_STOP, and count their calls in the statistics. */
#ifndef DAE_FORMS_FORMS_H
#define DAE_FORMS_FORMS_H

#include "base/persist.h"
#include "problem/residual.h"

/* Forms that a problem can offer, and that a method can work on. */
enum {
    FORM_RESIDUAL = 1,
    FORM_HESSENBERG = 2,
    FORM_MECHANICAL = 4,
    FORM_QUASILINEAR = 8,
    FORM_SECOND_ORDER = 16, /* second_order.h: the residual form, seen without its velocities */
    FORM_MANIFOLD = 32,
    FORM_SERIES = 64 /* series_form.h: the equations of a model in Taylor series */
};

/* A matrix whose values a form delivers: rows x columns, dense if colptr is NULL. */
typedef struct form_matrix {
    int rows, columns;
    const int *colptr, *rowind; /* borrowed; NULL: dense, element (i,j) at [i + j*rows] */
    size_t count;               /* of values */
    bool constant;              /* the same at every point */
    bool diagonal; /* square, and only the diagonal may be nonzero, whether dense or compressed */
    int block;     /* > 1: block diagonal with blocks of this size, compressed; else 0 */
} form_matrix;

/* Row and column of value k */
void form_matrix_locate(const form_matrix *m, size_t k, int *row, int *column);

/* y' = f(t, y, z), 0 = g(t, y): index 2 where g_y f_z is regular [BH93 (1.1)]. With u (nu > 0) also
 * 0 = k(t, y, z, u) with k_u regular [BH93 (1.4)]: f then reads u, too. */
typedef struct hessenberg_form {
    int ny, nz, nu;
    void *context;
    eval_status (*f)(void *context, double t, const double *y, const double *z, const double *u,
                     double *f);
    eval_status (*g)(void *context, double t, const double *y, double *g);
    eval_status (*g_y)(void *context, double t, const double *y, double *values);
    eval_status (*g_t)(void *context, double t, const double *y, double *g_t);
    eval_status (*f_z)(void *context, double t, const double *y, const double *z, const double *u,
                       double *values);
    eval_status (*k)(void *context, double t, const double *y, const double *z, const double *u,
                     double *k); /* NULL if nu = 0 */
    eval_status (*k_u)(void *context, double t, const double *y, const double *z, const double *u,
                       double *values);
    form_matrix g_y_matrix, f_z_matrix, k_u_matrix;
    const double *z_size; /* nz typical sizes, for differences; NULL: 1 */
} hessenberg_form;

/* q' = v, M(t,q) v' = f(t,q,v) - G(t,q)' lambda, 0 = g(t,q), G = g_q [HW96 VII.1]. */
typedef struct mechanical_form {
    int nq, nl;
    void *context;
    /* Everything that a stage needs at (t, q, v), any output may be NULL: M and G on their
     * patterns, f, and the constraint's velocity and acceleration terms
     *   rate = g_t,   curvature = g_qq(v,v) + 2 g_tq v + g_tt,
     * so that 0 = G v + rate and 0 = G v' + curvature. */
    eval_status (*evaluate)(void *context, double t, const double *q, const double *v, double *M,
                            double *f, double *G, double *rate, double *curvature);
    eval_status (*g)(void *context, double t, const double *q, double *g);
    /* v' with 0 = G v' + curvature in place of all this; false: by the matrices, which tell why.
     * NULL: never */
    bool (*accelerations)(void *context, double t, const double *q, const double *v, double *a);
    form_matrix M_matrix, G_matrix;
} mechanical_form;

/* The full mechanical form, as far as ends of steps need it. M, G and the levels of the constraints
 * are those of the mechanical form, whose G may have rows behind those of g that restrict
 * velocities only; f is asked with r, w and lambda as they are. */
typedef struct multibody_form {
    const mechanical_form *mechanical;
    int nr;        /* dynamic force elements, behind q and v in y */
    bool pushes;   /* multipliers act on r' */
    int followers; /* w, s and lambda: the last ones of y */
    void *context;
    void (*near)(void *context, const double *y); /* r, w, lambda, and s near by, are those of y */
    /* Factors for solve at (t, y): the dx with G dx = r into which multipliers push, by the
     * equations of motion and 0 = auxiliary as they depend on them. *regular: there is one. */
    eval_status (*factor)(void *context, double t, double *y, bool *regular);
    void (*solve)(void *context, double *dx, const double *r);
    /* What the multipliers that moved v by the last dx did to r meanwhile, at (t, y) */
    eval_status (*push)(void *context, double t, double *y, double *dr);
    /* s, lambda and w in y, and q', v', r' in yp, from q, v and r; *settled: they were found */
    eval_status (*settle)(void *context, double t, double *y, double *yp, bool *settled);
} multibody_form;

/* E(t,x) x' = f(t,x), and all constraints of all levels 0 = g(t,x) that are known; rows of E and f
 * may be fewer than n [Baese17]. */
typedef struct quasilinear_form {
    int n, ne, ng; /* unknowns, rows of E, constraints */
    void *context;
    eval_status (*E)(void *context, double t, const double *x, double *values);
    eval_status (*f)(void *context, double t, const double *x, double *f);
    eval_status (*g)(void *context, double t, const double *x, double *g);
    eval_status (*g_x)(void *context, double t, const double *x, double *values);
    eval_status (*g_t)(void *context, double t, const double *x, double *g_t);
    form_matrix E_matrix, g_x_matrix;
    bool differenced; /* g_x is made of differences of g */
} quasilinear_form;

/* x' = phi(t, x) on { c(t,x) = 0 }. phi is defined around the manifold, too, and keeps it: c_x phi
 * + c_t = 0. With alpha > 0 it is drawn to it, c_x x' + c_t = -alpha c [Bau72]. */
typedef struct manifold_form {
    int n, nc;
    void *context;
    eval_status (*phi)(void *context, double t, const double *x, double alpha, double *xp);
    eval_status (*c)(void *context, double t, const double *x, double *c);
    eval_status (*c_x)(void *context, double t, const double *x, double *values);
    form_matrix c_x_matrix;
    const int *level; /* nc: how often a constraint was differentiated; NULL: none was */
    /* After phi asked for a smaller step: the component whose derivative nothing determines, or -1.
     */
    int (*undetermined)(void *context);
    const char *deficient; /* what that means, in words */
} manifold_form;

/* Where the parts of a form are among the n unknowns y of the problem that the driver and the user
 * see: unknown part[i] is component i. */
typedef struct form_places {
    int *q, *v, *lambda; /* mechanical; hessenberg: q = y, lambda = z, v = u; quasilinear: q = x */
} form_places;

/* What a problem offers beside its residual form; NULL: not that. Owned by who made them. */
typedef struct form_set {
    const hessenberg_form *hessenberg;
    const mechanical_form *mechanical;
    const multibody_form *multibody;
    const quasilinear_form *quasilinear;
    const manifold_form *manifold;
    const struct series_form *series; /* series_form.h */
    form_places hessenberg_places, mechanical_places, quasilinear_places, manifold_places;
    form_places multibody_places;
} form_set;

/* ---- forms from callbacks ---- */

/* What a description is written in; x' = phi on a manifold is quasilinear. */
typedef enum form_kind {
    KIND_MECHANICAL,
    KIND_HESSENBERG,
    KIND_QUASILINEAR,
    KIND_SECOND_ORDER,
    FORM_KINDS
} form_kind;

/* The problem's own copy of a description, immutable; and one solver's view of it, with work space
 * for differences and conversions. */
typedef struct form_source form_source;
typedef struct form_instance form_instance;

/* Deep copies of a checked description; NULL: memory. */
form_source *form_source_mechanical(const dae_mechanical *form);
form_source *form_source_hessenberg(const dae_hessenberg *form);
form_source *form_source_quasilinear(const dae_quasilinear *form);
form_source *form_source_manifold(const dae_manifold *form);
form_source *form_source_second_order(const dae_second_order *form);
form_source *form_source_higher_order(const dae_higher_order *form);
void form_source_free(form_source *source); /* NULL is fine */

/* Unknowns (q, v, lambda), (y, z, u) or x; and constraints with names. */
int form_source_size(const form_source *source);
form_kind form_source_kind(const form_source *source);
bool form_source_is_manifold(const form_source *source);      /* x' = phi, 0 = c */
const char *form_source_kind_name(const form_source *source); /* "mechanical", .. */

/* Whether it tells consistent initial values on all levels of its constraints: F(t, x, x', x'') = 0
 * does not know them. */
bool form_source_has_levels(const form_source *source);

/* FORM_..: what it was written in, and every weaker form. */
unsigned form_source_offers(const form_source *source);

/* Builds the forms in `wanted` that the source offers, and what it was written in. Failures are
 * recorded in eval, calls counted in its statistics; both are borrowed. NULL: memory. */
form_instance *form_instance_new(const form_source *source, unsigned wanted, evaluator *eval);
void form_instance_free(form_instance *instance); /* NULL is fine */
const form_set *form_instance_set(const form_instance *instance);

/* Name of a constraint, and its row in the residual form; NULL: there is none. instance may be
 * NULL.
 */
const char *form_constraint(const form_instance *instance, int constraint, int *row);

/* Numbers that callbacks read have moved: what is kept between points is no more. */
void form_instance_forget(form_instance *instance);

/* What was chosen and found out at numbers: positions, constraints that follow from others, contact
 * points. Whether the residual form is another one since (form_residual_chosen). */
bool form_instance_persist(form_instance *instance, persist *p);

/* Look at the mass matrix at a point and around: whether it is constant or diagonal, where nothing
 * was declared. Before a method starts. */
bool form_instance_look(form_instance *instance, double t, const double *y);

/* F(t, x, x', x'') = 0: an unknown whose second derivative appears although it was said not to, at
 * a point; -1: none. */
int form_instance_wrong(form_instance *instance, double t, const double *y, const double *yp);
/* The order that its description gives an unknown; -1: it is one of second order. */
int form_instance_order(const form_instance *instance, int i);

/* ---- the residual forms that follow ---- */

/* Levels of constraints: g, its first and its second derivative. */
enum { LEVEL_POSITION = 1, LEVEL_VELOCITY = 2, LEVEL_ACCELERATION = 4 };

/* F(t, y, y') = 0 that follows from a description of one kind. Unknowns and rows are those of the
 * description; more may be behind them, one or two for each constraint (with a position level). */
typedef struct form_rewriting {
    eval_status (*rows)(form_instance *x, double t, const double *y, const double *yp, double *F);
    bool as_given;   /* the rows are those of the description */
    unsigned levels; /* LEVEL_..: that are among the rows */
    bool weighted;   /* mechanical: q' = .. is multiplied by M */
    bool kinematic;  /* mechanical: rows q' = v, but for positions that are chosen */
    bool chooses; /* positions p2, at a point: they and their velocities are algebraic; Hessenberg:
                     components y2 */
    bool positions;                /* mechanical: some constraint must have a position level, */
    bool holonomic;                /* and all of them */
    bool patterned;                /* the pattern follows from the patterns of the description */
    dae_kind velocity, multiplier; /* kinds of v and lambda; Hessenberg: of z */
    int added;                     /* new unknowns per constraint: 0, 1, 2 */
    dae_kind added_kind;
    const char *added_name[2], *added_row[2]; /* in front of the constraint's name */
} form_rewriting;

/* The first ones are as given: mechanical of index 3, Hessenberg of index 2. */
extern const form_rewriting mechanical_as_given, hessenberg_as_given, quasilinear_as_given,
    second_as_given;
extern const form_rewriting mechanical_index2;    /* 0 = G v + g_t */
extern const form_rewriting mechanical_index1;    /* 0 = G v' + .. */
extern const form_rewriting hessenberg_index1;    /* 0 = g_y f + g_t */
extern const form_rewriting mechanical_baumgarte; /* 0 = g'' + 2 alpha g' + alpha^2 g */
extern const form_rewriting mechanical_ggl;  /* q' = v - G' mu, constraints of two levels [GLG85] */
extern const form_rewriting mechanical_gglm; /* M q' = M v - G' mu [HW96 VII (1.48)] */
extern const form_rewriting mechanical_ggl2; /* of second order [Wun05 (7.19)] */
/* Constraints of three levels, multipliers mu and eta [HW96 VII (2.27)]; by the length of residuals
 */
extern const form_rewriting mechanical_fuehrer, mechanical_odassl;
/* Minimal extension, positions are chosen; and without its new unknowns */
extern const form_rewriting mechanical_minimal, mechanical_reduced;
/* y1' = f1, constraints of both levels, y2 is chosen */
extern const form_rewriting hessenberg_reduced;
/* A'(A x' - b) = 0 for A = [E; g_x], b = [f; -g_t]; the same with g = 0 and + g_x' mu */
extern const form_rewriting quasilinear_squares, quasilinear_ggl;

/* What is integrated if nothing else is asked for. */
const form_rewriting *form_default_rewriting(const form_source *source);
/* Whether the description has the constraints and rows that a rewriting of its kind needs. */
bool form_rewriting_fits(const form_source *source, const form_rewriting *rewriting);

/* A problem in the unknowns of the form, which takes over the source, also on failure; and another
 * residual problem of it, whose first unknowns are the same. Their evaluators need `forms`. The
 * second one does not own the source. */
dae_status form_problem_new(form_source *source, int event_count, const dae_event *events,
                            dae_problem **problem, dae_diag *diag);
dae_status form_residual_problem(const dae_problem *base, const form_rewriting *rewriting,
                                 dae_problem **problem, dae_diag *diag);
/* The rewriting behind the first one: as given, if that is square. */
const form_rewriting *form_base_rewriting(const form_source *source);
/* Which rewriting the residual callbacks of an instance compute. False: memory. */
bool form_instance_rewrite(form_instance *instance, const form_rewriting *rewriting, double alpha);

typedef enum form_choice {
    CHOICE_KEPT = 0,
    CHOICE_CHANGED, /* describe the problem anew: form_residual_chosen */
    CHOICE_SINGULAR,
    CHOICE_EVALUATION /* G cannot be evaluated there, recorded */
} form_choice;
/* Choose at a point (`anew`), or see whether the choice is still good. */
form_choice form_instance_choose(form_instance *instance, double t, const double *y, bool anew);
dae_status form_residual_chosen(const form_instance *instance, const dae_problem *base,
                                dae_problem **problem, dae_diag *diag);
/* New unknowns that follow from the others and y'. */
void form_instance_complete(const form_instance *instance, double *y, double *yp);

/* Kinds of the unknowns for methods that work on the form itself: multipliers are of index 2. */
void form_kinds(const form_instance *instance, dae_kind *kinds);

/* ---- redundant constraints ---- */

/* Whether redundant constraints of callbacks may be released at a start: where a residual form is
 * integrated whose rows they may leave. */
void form_instance_release(form_instance *x, bool may);
/* After a start: whether constraint l was released, as it follows from others. */
bool form_instance_released(const form_instance *x, int l);
int form_instance_constraints(const form_instance *x);
/* A released constraint that (t, y) does not meet on one of its levels, by more than `far` weights
 * and `more` times as much as any that is kept; -1: none. *off: what it is there. */
int form_instance_apart(form_instance *x, double t, const double *y, const double *weights,
                        double far, double more, double *off);
const char *form_instance_constraint_name(const form_instance *x, int l);

#endif
