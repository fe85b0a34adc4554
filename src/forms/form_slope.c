/* The manifold form: x' = phi(t, x), the solution of [E; g_x] x' = [f; -g_t - alpha g] in the sense
 * of least squares. On the manifold all rows agree; around it what they cannot agree on is of the
 * size of the distance, so that phi is smooth where [E; g_x] has full rank. Where E = I, x' = f
 * says all, and only Baumgarte's alpha needs the rest. */
#include "base/memory.h"
#include "base/vector.h"
#include "forms/form_parts.h"
#include "forms/stacked.h"

typedef struct slope_work {
    bool plain;             /* E = I: x' = f, unless constraints are to be stabilised */
    stacked *matrix;        /* NULL where x' = f is all */
    double *E, *g_x, *rest; /* one block, at E */
    int *level;
    int undetermined;
} slope_work;

void manifold_release(form_instance *x)
{
    slope_work *s = x->slope;
    x->slope = NULL;
    if (!s) return;
    stacked_free(s->matrix);
    dae_free_all(s->level, s->E, s);
}

/* ---- the slope ---- */

/* f, and -g_t - alpha g behind it */
static eval_status right_side(const quasilinear_form *q, slope_work *s, double t, const double *at,
                              double alpha)
{
    double *right = stacked_right(s->matrix), *g = right + q->ne;
    eval_status status = q->f(q->context, t, at, right);
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
    x->eval->stats->factorisations++;
    switch (stacked_solve(s->matrix, s->E, s->g_x, xp, &s->undetermined)) {
    case STACKED_OK: return EVAL_OK;
    case STACKED_DEFICIENT: return EVAL_RETRY;
    case STACKED_MEMORY: break;
    }
    return EVAL_MEMORY;
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

static bool allocate(slope_work *s, const quasilinear_form *q)
{
    const size_t E = q->E_matrix.count, g_x = q->g_x_matrix.count;
    s->plain = q->E_matrix.diagonal && q->E_matrix.constant && q->ne == q->n;
    s->level = DAE_ARRAY(int, q->ng);
    if (!SHARED_BLOCK(SHARE(s->E, E), SHARE(s->g_x, g_x), SHARE(s->rest, (size_t)q->ng)) ||
        !s->level)
        return false;
    if (s->plain && q->ng == 0) return true;
    s->matrix = stacked_new(q);
    return s->matrix != NULL;
}

bool manifold_build(form_instance *x)
{
    const quasilinear_form *q = &x->quasilinear;
    x->slope = DAE_NEW(slope_work);
    if (!x->slope || !allocate(x->slope, q)) return false;
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
                                  .deficient = STACKED_DEFICIENT_TEXT};
    x->set.manifold = &x->manifold;
    x->set.manifold_places = x->set.quasilinear_places;
    return true;
}
