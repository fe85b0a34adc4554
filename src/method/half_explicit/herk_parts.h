/* What the parts of herk share: the matrices of a quasilinear form, the selection of components,
 * Newton's iteration and the derivative. None of it is method state.
 *
 * Notation of [Baese17]: x = x^d (+) x^a; R, S are the columns of g_x that belong to x^a and x^d;
 * columns of E without entries belong to components that are required to be algebraic. */
#ifndef DAE_METHOD_HALF_EXPLICIT_HERK_PARTS_H
#define DAE_METHOD_HALF_EXPLICIT_HERK_PARTS_H

#include "forms/stacked.h"
#include "linalg/linear_solver.h"
#include "linalg/pivoting.h"
#include "method/half_explicit/herk.h"

/* ---- a square part of a form's matrix, factorised (herk_block.c) ---------------------------- */

typedef struct square_part {
    int size;
    const form_matrix *source; /* borrowed */
    int *target;               /* per value of the source: where among `values`; -1: not in it */
    matrix_layout layout;
    double *values;
    linear_solver *solver; /* NULL if size = 0 or nothing was chosen yet */
    bool factored;
} square_part;

/* Row i of the source is row row_place[i] of the part, column j column column_place[j]; negative:
 * left out. Rows must keep their order. False: memory. */
bool part_choose(square_part *p, const form_matrix *source, int size, const int *row_place,
                 const int *column_place);
void part_free(square_part *p);
/* In a checkpoint; `source` is what it was chosen of. */
void part_persist(square_part *a, const form_matrix *source, persist *p);
/* Take the values of the source; LINEAR_SINGULAR: p->solver->singular_column tells where. */
linear_status part_factor(square_part *p, const double *source_values);
void part_solve(const square_part *p, double *b);
/* y += a A x over those columns of A whose place is negative (differential = true) or not. */
void matrix_times_part(const form_matrix *m, const double *values, const int *column_place,
                       bool differential, double a, const double *x, double *y);

/* ---- choice of the algebraic components (herk_select.c) ------------------------------------- */

/* The choice of the default mode. Procedure 3.11 may pair any row with any column, and so find
 * positions from velocities: regular as long as nothing comes to rest. Here a row takes, where it
 * can, a column that no row with fewer entries knows: constraints of each level are solved for what
 * their level brings in, and the pivots stay what they are. seen: entries of a dense matrix that
 * are there (NULL: all). pivot_of[i]: the column that row i is solved for. generation[j]: the
 * place, in the order of the rows, of the first one that knows column j. */
select_status select_by_levels(const form_matrix *m, const double *values, const bool *seen,
                               const bool *required, double tolerance, int *pivot_of,
                               int *generation, int *row, int *column);

/* ---- the work space (herk_work.c) ----------------------------------------------------------- */

typedef enum leading_kind {
    LEADING_UNKNOWN = 0,
    LEADING_REDUCIBLE, /* Definition 3.8: zero rows and columns around a regular block */
    LEADING_GENERAL    /* anything else: [E; g_x] x' = [f; -g_t] */
} leading_kind;

/* Stages of continuous extensions: three of DOP853, seven of a half step by a table of the user. */
enum { HERK_FURTHER = (TABLEAU_MOST_ALL - 1) / 2 };

typedef struct herk_failure {
    const char *reason;
    int component, constraint; /* of the form, -1: none */
} herk_failure;

typedef struct herk_work {
    const quasilinear_form *form; /* borrowed */
    const int *places;            /* of the components among y; NULL: as they are */
    int n, ng, ne;
    evaluator *eval; /* may be NULL */
    herk_config config;
    rounded_tableau table;
    herk_failure failure;

    /* E and x' */
    leading_kind leading;
    square_part leading_part;
    bool leading_constant_known; /* E is constant, and its part factorised */
    bool *required;              /* per component */
    int *row_place, *column_place;
    double *E, *f;
    double *E_end;                        /* E where a step ends, to see that it is constant */
    double *shifted, *g_shifted, *g_here; /* of differences for g_x: x, g, and g before it */
    stacked *stacked;                     /* for LEADING_GENERAL; NULL: not needed so far */

    /* g and the selection */
    bool selected;
    bool look;            /* R was factorised anew: the next step looks at the selection */
    bool factored_end;    /* with g_x at the end of this step */
    bool R_current;       /* the factors belong to J[current] */
    int *algebraic_place; /* per component: its place in x^a, or -1 */
    int *algebraic;       /* component of each place */
    int *chosen;          /* columns; of select_by_levels by rows */
    square_part R;
    double *J[2];        /* g_x at the start of the step, and at its end */
    int current;         /* which is which */
    long J_step;         /* the step at whose end J[current] is; 0: none */
    bool ended;          /* J[1 - current] is at the end of the last attempt */
    long numbered;       /* the last number of a start or an accepted step */
    double *J_stage;     /* g_x at a stage */
    double quality;      /* how much algebraic components move with others, when chosen */
    int *generation;     /* per component, as select_by_levels has it */
    bool *seen;          /* entries of a dense g_x that were not 0 at some point */
    double *select_work; /* a dense copy of g_x, for Procedure 3.11 */
    int *select_order;
    double rate; /* of convergence */
    double *g, *g_t, *delta, *correction;

    /* the continuous extension of one step */
    long prepared; /* number of the step it belongs to; 0: none */
    double *dense; /* r_5 .. r_8, then q at the nodes */
    double *dense_stages;
    double *dense_point;
} herk_work;

void *herk_work_new(const method_context *ctx);
void herk_work_free(void *work);
void herk_work_persist(void *work, const method_context *ctx, persist *p);

static inline int herk_place(const herk_work *w, int component)
{
    return w->places && component >= 0 ? w->places[component] : component;
}

/* [E; g_x] x' = [f; -g_t] by a rank revealing factorisation (herk_general.c). */
attempt_status herk_general_derivative(herk_work *w, double t, const double *x, double *xp);

/* Forget all that depends on values. */
void herk_work_reset(herk_work *w);

/* Functions of the form. Values that are not finite are a failure, remembered in eval->failure. */
typedef enum herk_function {
    HERK_LEADING,
    HERK_RIGHT_HAND_SIDE,
    HERK_CONSTRAINTS,
    HERK_JACOBIAN,
    HERK_TIME_SLOPE
} herk_function;
attempt_status herk_evaluate(herk_work *w, herk_function what, double t, const double *x,
                             double *values);
/* g_x of differences with increments as the user gave them [Baese17 4.1.1 delta]
 * (herk_difference.c). */
attempt_status herk_difference(herk_work *w, double t, const double *x, double *values);
attempt_status herk_fail(herk_work *w, attempt_status status, const char *reason, int component,
                         int constraint);
/* Statistics that an evaluator may be there for. */
#define HERK_COUNT(w, what)                                                                        \
    do {                                                                                           \
        if ((w)->eval && (w)->eval->stats) (w)->eval->stats->what++;                               \
    } while (0)

/* What is given by E x' = f: all components but the required ones, which become 0; with a general E
 * all of them. */
attempt_status herk_derivative(herk_work *w, double t, const double *x, double *xp);
/* Whether E is at the end of a step what it was, if the user says that it is constant. */
attempt_status herk_watch_leading(herk_work *w, double t, const double *x);
/* x'^a = -R^-1 (g_t + S x'^d), with R, S from J; the factors of R may be older. */
attempt_status herk_complete_derivative(herk_work *w, double t, const double *x, const double *J,
                                        double *xp);
/* e^a = -R^-1 S e^d */
void herk_extend(herk_work *w, const double *J, double *e);

/* Procedure 3.11 at a point with g_x = J, and factors of R. */
attempt_status herk_select(herk_work *w, const double *J);
/* A look at the present selection, anew only if it has become bad. */
attempt_status herk_watch(herk_work *w, const double *J);
attempt_status herk_factor(herk_work *w, const double *J);

/* Divided Newton (Definition 3.14): x^a such that g(t, x) = 0. */
attempt_status herk_newton(herk_work *w, const error_norm *norm, double t, double *x);
attempt_status herk_newton_thesis(herk_work *w, double tolerance, double t, double *x);

/* ---- method state --------------------------------------------------------------------------- */

typedef struct herk_state {
    double t, t_old; /* the last step: from t_old to t; equal before the first one */
    long steps;      /* accepted since the start, from 1 */
    long step;       /* the number of the last one, which no other has: what caches belong to */
    bool embedded;   /* K of the last step is there */
    double rough;    /* how rough the last steps were, in tolerances */
    double *x, *x_old, *xp, *xp_old;
    double *y; /* values of unknowns that the form does not know stay as they were */
    double *K; /* s + 1 derivatives of the last step; not embedded: x' and x at its middle */
} herk_state;

/* x(t) or x'(t) on the last step, in the form's numbering (herk_dense.c). */
void herk_interpolate(const herk_state *s, herk_work *w, const error_norm *norm, double t,
                      int derivative, double *x);

/* x0 + h sum_{j<count} a_j K_j, K_j = K + j n */
void herk_combine(int n, const double *x0, double h, int count, const double *a, const double *K,
                  double *x);

#endif
