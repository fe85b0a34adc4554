/* The manifold form: x' = phi(t, x), the solution of [E; g_x] x' = [f; -g_t - alpha g] in the sense
 * of least squares. On the manifold all rows agree; around it what they cannot agree on is of the
 * size of the distance, so that phi is smooth where [E; g_x] has full rank. Where E = I, x' = f
 * says all, and only Baumgarte's alpha needs the rest. */
#include <math.h>

#include "base/memory.h"
#include "base/vector.h"
#include "forms/form_parts.h"
#include "linalg/kkt.h"
#include "linalg/least_squares.h"

/* Singular values below this part of the largest count as 0. */
static const double RANK_TOLERANCE = 1e-11;
enum { DENSE_UP_TO = 64 };

typedef struct slope_work {
    int rows, n;
    bool plain; /* E = I: x' = f, unless constraints are to be stabilised */
    bool sparse;
    least_squares qr;                                /* dense */
    kkt *augmented;                                  /* sparse, */
    int *colptr, *rowind;                            /* with its pattern */
    double *E, *g_x, *values, *right, *rest, *scale; /* one block, at E */
    int *level;
    int undetermined;
} slope_work;

void manifold_release(form_instance *x)
{
    slope_work *s = x->slope;
    x->slope = NULL;
    if (!s) return;
    least_squares_free(&s->qr);
    kkt_free(s->augmented);
    dae_free(s->colptr);
    dae_free(s->rowind);
    dae_free(s->level);
    dae_free(s->E);
    dae_free(s);
}

/* ---- [E; g_x] ---- */

/* Its pattern by columns */
static bool stack_patterns(slope_work *s, const form_matrix *E, const form_matrix *g_x)
{
    s->colptr = DAE_ARRAY(int, s->n + 1);
    s->rowind = DAE_ARRAY(int, E->count + g_x->count);
    if (!s->colptr || !s->rowind) return false;
    int at = 0;
    for (int j = 0; j < s->n; j++) {
        for (int q = E->colptr[j]; q < E->colptr[j + 1]; q++) s->rowind[at++] = E->rowind[q];
        for (int q = g_x->colptr[j]; q < g_x->colptr[j + 1]; q++)
            s->rowind[at++] = E->rows + g_x->rowind[q];
        s->colptr[j + 1] = at;
    }
    s->augmented = kkt_new(s->rows, s->n, s->colptr, s->rowind, NULL);
    return s->augmented != NULL;
}

/* Values of one part, rows from `first` on, in the dense matrix */
static void place_dense(slope_work *s, const form_matrix *m, const double *values, int first)
{
    for (int j = 0; j < s->n; j++) {
        double *column = s->values + (size_t)j * (size_t)s->rows + first;
        vector_zero(m->rows, column);
        size_t at;
        int count;
        form_matrix_column(m, j, &at, &count);
        for (int k = 0; k < count; k++) column[form_matrix_row(m, at, k)] = values[at + (size_t)k];
    }
}

static void place_sparse(slope_work *s, const form_matrix *E, const form_matrix *g_x)
{
    size_t at = 0;
    for (int j = 0; j < s->n; j++) {
        for (int q = E->colptr[j]; q < E->colptr[j + 1]; q++) s->values[at++] = s->E[q];
        for (int q = g_x->colptr[j]; q < g_x->colptr[j + 1]; q++) s->values[at++] = s->g_x[q];
    }
}

/* Rows scaled to a largest entry of 1, with the right-hand side */
static void scale_rows(slope_work *s)
{
    size_t count = s->sparse ? (size_t)s->colptr[s->n] : (size_t)s->rows * (size_t)s->n;
    vector_zero(s->rows, s->scale);
    for (size_t q = 0; q < count; q++) {
        int i = s->sparse ? s->rowind[q] : (int)(q % (size_t)s->rows);
        s->scale[i] = fmax(s->scale[i], fabs(s->values[q]));
    }
    for (int i = 0; i < s->rows; i++) s->scale[i] = s->scale[i] > 0.0 ? 1.0 / s->scale[i] : 1.0;
    for (size_t q = 0; q < count; q++)
        s->values[q] *= s->scale[s->sparse ? s->rowind[q] : (int)(q % (size_t)s->rows)];
    for (int i = 0; i < s->rows; i++) s->right[i] *= s->scale[i];
}

/* ---- the slope ---- */

static eval_status solve_dense(slope_work *s, double *xp)
{
    if (!least_squares_solve(&s->qr, s->rows, s->n, s->values, s->right, RANK_TOLERANCE))
        return EVAL_MEMORY;
    if (s->qr.rank < s->n) {
        s->undetermined = s->qr.pivots[s->n - 1] - 1;
        return EVAL_RETRY;
    }
    vector_copy(s->n, s->right, xp);
    return EVAL_OK;
}

static eval_status solve_sparse(slope_work *s, double *xp)
{
    if (kkt_factor(s->augmented, s->values, RANK_TOLERANCE, 0.0) != LINEAR_OK) return EVAL_MEMORY;
    kkt_solve(s->augmented, s->right, xp);
    s->undetermined = vector_first_nonfinite(s->n, xp);
    return s->undetermined < 0 ? EVAL_OK : EVAL_RETRY;
}

/* f, and -g_t - alpha g behind it */
static eval_status right_side(const quasilinear_form *q, slope_work *s, double t, const double *at,
                              double alpha)
{
    double *g = s->right + q->ne;
    eval_status status = q->f(q->context, t, at, s->right);
    if (status == EVAL_OK && q->ng > 0) status = q->g_t(q->context, t, at, g);
    if (status == EVAL_OK && q->ng > 0 && alpha > 0.0) {
        status = q->g(q->context, t, at, s->rest);
        vector_axpy(q->ng, alpha, s->rest, g);
    }
    for (int i = 0; i < q->ng; i++) g[i] = -g[i];
    return status;
}

static eval_status phi(void *context, double t, const double *at, double alpha, double *xp)
{
    form_instance *x = context;
    slope_work *s = x->slope;
    const quasilinear_form *q = &x->quasilinear;
    s->undetermined = -1;
    if (s->plain && !(alpha > 0.0 && q->ng > 0)) return q->f(q->context, t, at, xp);
    eval_status status = right_side(q, s, t, at, alpha);
    if (status == EVAL_OK) status = q->E(q->context, t, at, s->E);
    if (status == EVAL_OK && q->ng > 0) status = q->g_x(q->context, t, at, s->g_x);
    if (status != EVAL_OK) return status;
    if (s->sparse)
        place_sparse(s, &q->E_matrix, &q->g_x_matrix);
    else {
        place_dense(s, &q->E_matrix, s->E, 0);
        place_dense(s, &q->g_x_matrix, s->g_x, q->ne);
    }
    scale_rows(s);
    x->eval->stats->factorisations++;
    return s->sparse ? solve_sparse(s, xp) : solve_dense(s, xp);
}

static eval_status constraints(void *context, double t, const double *at, double *c)
{
    form_instance *x = context;
    return x->quasilinear.g(x->quasilinear.context, t, at, c);
}

static eval_status gradients(void *context, double t, const double *at, double *values)
{
    form_instance *x = context;
    return x->quasilinear.g_x(x->quasilinear.context, t, at, values);
}

static int undetermined(void *context)
{
    const form_instance *x = context;
    return x->slope->undetermined;
}

/* ---- building ---- */

/* Levels of the constraints: as declared, or those of the form they come from, one after another */
static void fill_levels(const form_instance *x, int *level)
{
    const quasilinear_form *q = &x->quasilinear;
    const form_source *source = x->source;
    const int *given = source->kind == KIND_QUASILINEAR ? source->as.x.constraint_levels : NULL;
    int block = source->kind == KIND_QUASILINEAR ? q->ng : source->constraints;
    bool hessenberg = source->kind == KIND_HESSENBERG; /* g, g_y f + g_t, and then k */
    for (int i = 0; i < q->ng; i++) {
        int k = given ? given[i] : block > 0 ? i / block : 0;
        level[i] = hessenberg && i >= 2 * block ? 0 : k;
    }
}

static bool furnish(slope_work *s, const quasilinear_form *q)
{
    s->rows = q->ne + q->ng;
    s->n = q->n;
    s->plain = q->E_matrix.diagonal && q->E_matrix.constant && q->ne == q->n;
    s->sparse = q->E_matrix.colptr && q->g_x_matrix.colptr && s->n > DENSE_UP_TO;
    size_t E = q->E_matrix.count, g_x = q->g_x_matrix.count, rows = (size_t)s->rows;
    size_t n = (size_t)s->n, count = s->sparse ? E + g_x : rows * n;
    s->E = DAE_ARRAY(double, E + g_x + count + (rows > n ? rows : n) + (size_t)q->ng + rows);
    s->level = DAE_ARRAY(int, q->ng);
    if (!s->E || !s->level) return false;
    s->g_x = s->E + E;
    s->values = s->g_x + g_x;
    s->right = s->values + count;
    s->rest = s->right + (rows > n ? rows : n);
    s->scale = s->rest + q->ng;
    if (s->plain && q->ng == 0) return true;
    return s->sparse ? stack_patterns(s, &q->E_matrix, &q->g_x_matrix)
                     : least_squares_new(&s->qr, s->rows, s->n);
}

bool manifold_build(form_instance *x)
{
    const quasilinear_form *q = &x->quasilinear;
    x->slope = DAE_NEW(slope_work);
    if (!x->slope || !furnish(x->slope, q)) return false;
    fill_levels(x, x->slope->level);
    x->manifold = (manifold_form){.n = q->n,
                                  .nc = q->ng,
                                  .context = x,
                                  .phi = phi,
                                  .c = constraints,
                                  .c_x = gradients,
                                  .c_x_matrix = q->g_x_matrix,
                                  .level = x->slope->level,
                                  .undetermined = undetermined,
                                  .deficient = "[E; g_x] has not full rank: equations and "
                                               "constraints do not determine a derivative"};
    x->set.manifold = &x->manifold;
    x->set.manifold_places = x->set.quasilinear_places;
    return true;
}
