/* What the files of the forms share. */
#ifndef DAE_FORMS_FORM_PARTS_H
#define DAE_FORMS_FORM_PARTS_H

#include "base/vector.h"
#include "forms/forms.h"
#include "forms/redundant.h"
#include "linalg/coloring.h"
#include "linalg/linear_solver.h"

/* Compressed columns with their storage. */
typedef struct form_pattern {
    int *colptr, *rowind; /* owned; NULL: dense */
} form_pattern;

/* Equations of second and higher order. */
typedef struct higher_form {
    dae_higher_order h;         /* its orders are always there */
    dae_second_order_fn second; /* of a second order description, in the place of h.f; or NULL */
    dae_second_order_jacobian_fn second_jacobian;
    int *place; /* order x n: x_i^(j) is y[place[j n + i]]; -1: it is no unknown. Owned */
} higher_form;

struct form_source {
    form_kind kind;
    union { /* arrays and names owned */
        dae_mechanical m;
        dae_hessenberg h;
        dae_quasilinear x;
        higher_form s;
    } as;
    form_pattern mass; /* of M in the order of its values: diagonal, blocks, or the user's; owned */
    const char **constraint_names; /* generated where there were none; owned, one block */
    const char **variable_names, **equation_names; /* of the as-given residual form; owned */
    int n, constraints;                            /* unknowns; nlambda + nvelocity, nz or ng */
    int positions; /* mechanical: constraints that have a position level, the first ones */
    bool manifold; /* quasilinear: x' = phi, 0 = c, and so are its parts called */
    bool full;     /* mechanical with more than q, v, lambda, or with forces by lambda */
    bool complete; /* mechanical: `all` writes every value that it is asked for, zeros too */
    /* mechanical: v' at once, finite or not; false: not at this point. NULL: by matrices only */
    bool (*accelerations)(void *user, double t, const double *q, const double *v, double *a);
    dae_event_fn event_function; /* the user's, with the user's pointer */
    void *user;
};

/* Where the parts of the full mechanical form are in y; rows of the same numbers belong to them. */
typedef struct mechanical_places {
    int v, r, w, s, lambda;
} mechanical_places;

static inline mechanical_places mechanical_parts(const dae_mechanical *m)
{
    int v = m->nq, r = v + m->nq, w = r + m->nr, s = w + m->nw;
    return (mechanical_places){v, r, w, s, s + m->ns};
}

/* ---- differences ---- */

/* c = c(t, x): what is to be differentiated */
typedef eval_status (*form_function)(void *context, double t, const double *x, double *c);

typedef struct differencer {
    int rows, columns;
    coloring groups;                 /* of the pattern; no groups: dense, one column at a time */
    double *x, *up, *down, *further; /* owned; further: 2 * rows */
    bool still; /* the function does not depend on t: it is asked for at t itself only, which
                   matters at the stop time */
} differencer;

bool differencer_new(differencer *d, const form_matrix *m); /* false: memory */
void differencer_free(differencer *d);

/* values = dc/dx on the pattern of m by central differences; nominal: sizes of x, NULL: 1. */
eval_status difference_matrix(differencer *d, const form_matrix *m, form_function c, void *context,
                              double t, const double *x, const double *nominal, double *values);
/* out = dc/ds along (t + s, x + s v), v NULL: at fixed x. Fourth order. scale: of s. */
eval_status difference_along(differencer *d, form_function c, void *context, double t,
                             const double *x, const double *v, double scale, double *out);
/* out = d^2 c / ds^2 likewise */
eval_status difference_twice(differencer *d, form_function c, void *context, double t,
                             const double *x, const double *v, double scale, double *out);
/* A time scale as the user gives it, or 1. */
static inline double time_scale_of(double given)
{
    return given > 0.0 ? given : 1.0;
}
/* The length of s in which x + s v moves by its size, at most `most`. */
double difference_scale(int n, const double *x, const double *v, const double *nominal,
                        double most);

/* ---- matrices ---- */

form_matrix form_matrix_dense(int rows, int columns);
form_matrix form_matrix_on(int rows, int columns, const int *colptr, const int *rowind);
/* out += a A x */
void form_matrix_multiply(const form_matrix *m, const double *values, double a, const double *x,
                          double *out);
/* out += a A'x */
void form_matrix_transposed(const form_matrix *m, const double *values, double a, const double *x,
                            double *out);
/* to[i row + j column] = A_ij for every stored entry: a full matrix by columns, by rows,
 * transposed, or a part of a larger one */
void form_matrix_place(const form_matrix *m, const double *values, size_t row, size_t column,
                       double *to);

/* One stored entry: values[at] = A_ij, i = row, j = column. All of them, column by column:
 * for (form_entry e = {0}; form_matrix_next(m, &e);) */
typedef struct form_entry {
    size_t at, next;
    int row, column;
} form_entry;

static inline bool form_matrix_next(const form_matrix *m, form_entry *e)
{
    if (e->next >= m->count) return false;
    e->at = e->next++;
    if (m->colptr) {
        while ((size_t)m->colptr[e->column + 1] <= e->at) e->column++;
        e->row = m->rowind[e->at];
    } else {
        size_t row = e->at - (size_t)e->column * (size_t)m->rows;
        e->column += row == (size_t)m->rows;
        e->row = row == (size_t)m->rows ? 0 : (int)row;
    }
    return true;
}

/* The first entry of column j, for those of one column: while e.column == j. */
static inline form_entry form_matrix_column(const form_matrix *m, int j)
{
    size_t first = m->colptr ? (size_t)m->colptr[j] : (size_t)j * (size_t)m->rows;
    return (form_entry){.next = first, .column = j};
}

/* Solves with a square form matrix; factors are kept while it is constant. */
typedef struct form_solver {
    const form_matrix *matrix; /* borrowed */
    matrix_layout layout;
    linear_solver *solver;
    bool factored;
} form_solver;

bool form_solver_new(form_solver *s, const form_matrix *m); /* false: memory */
void form_solver_free(form_solver *s);
linear_status form_solver_factor(form_solver *s, const double *values);

/* ---- one solver's view ---- */

/* Work space of the mechanical form. */
typedef struct mechanical_work {
    differencer gradient, levels;                         /* of g by q, and of G v + g_t by q */
    double *M, *G, *f, *v, *a, *rate, *curvature, *level; /* owned: one block, at M */
    double *G_moved;                                      /* G at other points; in it, too */
    double *M_kept; /* M where it is constant, in it, too; and whether it is there */
    bool mass_kept;
    double *by_q, *by_v;   /* for the user's Jacobian, n x n each, if there is one; in it, too */
    const double *v_fixed; /* while G v + g_t is differenced */
    /* For form_stabilised.c. */
    differencer along;        /* of G' eta */
    const double *eta;        /* while it is */
    double *K;                /* d(G v + g_t)/dq; owned */
    double *dense;            /* G by rows, where positions are chosen; owned */
    bool *dependent, *before; /* n: the positions p2, and what they were; owned, with work */
    form_solver mass;
} mechanical_work;

/* What the full mechanical form needs besides. */
typedef struct multibody_work {
    const double *r, *w, *lambda; /* what forces are asked with; borrowed */
    double *s, *s_q, s_t;         /* s(t, q) where it was solved for last; owned: one block, at s */
    bool s_known;
    double *h, *h_s, *moved;            /* in it: contact equations, their derivative by s, and s */
    form_matrix h_s_matrix, d_w_matrix; /* dense */
    form_matrix H_matrix, C_matrix; /* derivatives of g, and of what restricts velocities by v */
    double *H, *C;                  /* these; in the block */
    double *zero;                   /* where there is no r, w or lambda; in it, too */
    const double *q, *v;            /* fixed while another argument moves */
    differencer by_s, by_w, by_v;
    form_solver contact;
    struct balance *settles; /* owned; NULL: not for methods */
    multibody_form form;
} multibody_work;

/* What is fixed while another argument moves, and work space. */
typedef struct hessenberg_work {
    differencer g_y, f_z, k_u;
    const double *y, *z, *u;
    double *values;           /* of g_y; owned */
    form_pattern g_y_pattern; /* of the conversion; owned */
} hessenberg_work;

typedef struct quasilinear_work {
    differencer by_x;       /* of g */
    form_pattern E_pattern; /* of the conversion; owned */
    /* For residual forms and initial values, and sizes of x; owned: one block, at E. */
    double *E, *slope, *f, *g, *rate, *rest, *nominal;
} quasilinear_work;

/* x, x', .., and the derivatives by them as the user gives them. */
typedef struct higher_work {
    double *x[DAE_MOST_ORDER + 1], *f_x[DAE_MOST_ORDER + 1]; /* owned: one block, at x[0] */
    double *probe;                                           /* 2n, in that block */
} higher_work;

struct form_instance {
    const form_source *source;
    evaluator *eval;
    form_set set;
    mechanical_form mechanical;
    hessenberg_form hessenberg;
    quasilinear_form quasilinear;
    manifold_form manifold;
    struct slope_work *slope; /* of the manifold form; owned */
    mechanical_work mw;
    hessenberg_work hw;
    quasilinear_work qw;
    higher_work sw;
    multibody_work bw;
    bool *redundant;   /* per constraint: it follows from others; NULL: none does; owned */
    double *relations; /* of these, and work; owned */
    int *places;       /* 0 .. n-1, owned */
    const form_rewriting *rewriting;
    double alpha;
    bool releases; /* redundant constraints may be released: a residual form is integrated */
};

/* Build the forms of an instance from its source, or from the form above; false: memory. */
bool mechanical_build(form_instance *x);
bool hessenberg_build(form_instance *x);
bool quasilinear_build(form_instance *x);
void mechanical_release(form_instance *x);
/* x' = phi(t, x) from the quasilinear form, which is there (form_slope.c); false: memory. */
bool manifold_build(form_instance *x);
void manifold_release(form_instance *x);
void hessenberg_release(form_instance *x);
void quasilinear_release(form_instance *x);

/* How many constraints a rewriting has new unknowns for. */
static inline int form_stabilised(const form_source *s)
{
    return s->kind == KIND_MECHANICAL ? s->positions : s->constraints;
}

/* r' - f_d, d and h of the full form; position: also g of the s at hand, in mw.level. */
eval_status multibody_residual(form_instance *x, double t, const double *y, const double *yp,
                               bool position, double *F);
bool stabilised_build(form_instance *x);
/* Work space for a choice of positions. False: memory. */
bool stabilised_prepare_choice(form_instance *x);
void stabilised_release(form_instance *x);

/* Constraints that follow from others (form_redundant.c). Found at (t, q), on g = 0: how many; -1:
 * memory. None is found where a pattern says which rows have which multipliers. */
int form_redundant_find(form_instance *x, double t, const double *y, redundant_conflict *conflict);
void form_redundant_free(form_instance *x);
/* The first constraint from l on that was not released; nl: there is none. */
int form_next_kept(const form_instance *x, int l);
/* c of redundant.h at G, whose values are given. */
const double *form_redundant_relations(form_instance *x, const double *G);
/* The rows of multipliers of least norm in the place of redundant constraints in F. */
eval_status form_redundant_rows(form_instance *x, double t, const double *y, double *F);

/* The full form (form_multibody.c); false: memory. */
bool multibody_build(form_instance *x);
void multibody_release(form_instance *x);
/* Forces are asked with r, w and lambda of y from now on, and s is near that of y. */
void multibody_at(form_instance *x, const double *y);
/* The point (t, q, v) with s(t, q), and r, w, lambda as they are. */
eval_status multibody_point(form_instance *x, double t, const double *q, const double *v,
                            dae_mechanical_point *at);
/* Rows of the constraints on velocities c(t,q,v), behind those of g: G = c_v, rate = c - c_v v, so
 * that G v + rate = c, and curvature = c_q v + c_t. Any may be NULL. G holds all rows, dense; those
 * of g come from bw.H. */
eval_status multibody_velocity_rows(form_instance *x, double t, const double *q, const double *v,
                                    double *G, double *rate, double *curvature);
eval_status multibody_velocity_level(form_instance *x, double t, const double *q, const double *v,
                                     double *c);
/* r' (nr), 0 = auxiliary (nw), 0 = contact (ns) and 0 = g(t, q, s) at y; g may be NULL. */
eval_status multibody_rows(form_instance *x, double t, const double *y, double *rates, double *d,
                           double *h, double *g);
/* Single parts: r' or 0 = auxiliary at (t, q, v) with r, w, lambda as they are; 0 = contact, and
 * the derivatives dd/dw and dh/ds, dense. */
eval_status multibody_dynamics(form_instance *x, double t, const double *q, const double *v,
                               double *rates);
eval_status multibody_auxiliary(form_instance *x, double t, const double *q, const double *v,
                                double *d);
eval_status multibody_contact(form_instance *x, double t, const double *q, const double *s,
                              double *h);
eval_status multibody_d_w(form_instance *x, double t, const double *q, const double *v,
                          double *values);
eval_status multibody_h_s(form_instance *x, double t, const double *q, const double *s,
                          double *values);
/* Accelerations, and lambda and w in y, that satisfy the equations of motion, the acceleration
 * level and 0 = auxiliary at (t, y), by Newton's method (form_multibody_balance.c); NULL: memory.
 */
typedef struct balance balance;
typedef enum balance_result { BALANCED, BALANCE_SINGULAR, BALANCE_FAR } balance_result;
balance *balance_new(form_instance *x);
void balance_free(balance *b); /* NULL is fine */
eval_status balance_solve(balance *b, double t, double *y, balance_result *result);
const double *balance_accelerations(const balance *b);
/* After a failure: the unknown in question, or the position whose acceleration is. */
int balance_culprit(const balance *b, balance_result result, bool *acceleration);
/* The form for methods that project; false: memory. */
bool multibody_settles(form_instance *x);
/* The Hessenberg form y = (q, v, r), z = lambda, u = (w, s) (form_mechanical_hessenberg.c). */
bool mechanical_hessenberg(form_instance *x);

/* d(G v + g_t)/dq on the pattern of G, and its derivative by t at fixed q and v. */
eval_status mechanical_velocity_jacobian(form_instance *x, double t, const double *q,
                                         const double *v, double *values);
eval_status mechanical_velocity_rate(form_instance *x, double t, const double *q, const double *v,
                                     double *out);

/* A callback: its name, and what it gives: `count` rows of F from `row` on, or a matrix. */
typedef struct mechanical_part {
    dae_mechanical_fn fn;
    const char *name;
    int row, count;
    const form_matrix *layout; /* NULL: none */
} mechanical_part;

/* What it gives at (t, q, v), judged; v NULL: it looks at positions alone. */
eval_status mechanical_call(form_instance *x, const mechanical_part *part, double t,
                            const double *q, const double *v, double *out);

/* M, f, G and g at (t, q, v) as the callbacks wrote them, M in *M, the others in x->mw; of a form
 * without r, w, s and constraints on velocities. mechanical_judge tells afterwards whether all are
 * finite, and records what is not: it need not be asked while F is. */
eval_status mechanical_given(form_instance *x, double t, const double *q, const double *v,
                             const double **M);
eval_status mechanical_judge(form_instance *x, double t, const double *M);

/* Whether the user's derivatives make those of F, and F's derivatives as a callback, dense; user is
 * the instance (form_mechanical_jacobian.c). */
bool mechanical_has_jacobian(const form_source *s, const form_rewriting *how);
int mechanical_jacobian(double t, const double *y, const double *yp, double *dfdy, double *dfdyp,
                        void *user);

/* a = M^-1 (f - G' lambda); leaves G at the point in mw.G */
eval_status mechanical_acceleration(form_instance *x, double t, const double *q, const double *v,
                                    const double *lambda, double *a);

/* out = g_y f + g_t of a Hessenberg form from callbacks: dg/ds along (t + s, y + s f) */
eval_status hessenberg_rate(form_instance *x, double t, const double *y, const double *f,
                            double *out);

/* F(t, x, x', .., x^(d)) = 0 (form_higher.c): work space; rows and their derivatives as callbacks,
 * user is the instance; the pattern of `size` unknowns behind its own; where derivatives are, and
 * how many unknowns that makes. False, NULL: memory. */
bool higher_build(form_instance *x);
void higher_release_work(form_instance *x);
eval_status higher_rows(form_instance *x, double t, const double *y, const double *yp, double *F);
int higher_jacobian(double t, const double *y, const double *yp, double *dfdy, double *dfdyp,
                    void *user);
bool higher_pattern(const higher_form *form, int size, form_pattern *pattern);
int *higher_places(const higher_form *form, int *count);

/* Rows of the as-given residual form where the constraints begin, for messages. */
int form_constraint_row(const form_source *source);

/* Judge a callback that returned `code` and wrote count values, those of rows first_row, .. of the
 * as-given residual form; m: of a matrix, whose columns are variables, or NULL. */
eval_status form_judge(form_instance *x, const char *callback, double t, int code, size_t count,
                       const double *values, int first_row, const form_matrix *m);
/* The same, known to be good without a call. */
static inline eval_status form_judge_soon(form_instance *x, const char *callback, double t,
                                          int code, size_t count, const double *values,
                                          int first_row, const form_matrix *m)
{
    if (code == 0 && vector_all_finite(count, values)) return EVAL_OK;
    return form_judge(x, callback, t, code, count, values, first_row, m);
}
/* A failure of the library's own arithmetic: M singular where its inverse is needed. */
eval_status form_singular(form_instance *x, double t);

static inline long *form_count(form_instance *x)
{
    return &x->eval->stats->residuals;
}

#endif
