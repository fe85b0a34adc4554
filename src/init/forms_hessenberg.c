/* Consistent initial values of the Hessenberg form: y on 0 = g, then z and u. */
#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"
#include "init/forms_parts.h"

/* H(z, u) = (g_y f + g_t, k) at fixed y: [BH93 (3.6)] gives z */
typedef struct closing {
    form_instance *x;
    const double *y;
    double *f, *g_t; /* ny; nz: g_t, with g_y in hw.values, found once; borrowed */
    form_matrix matrix;
    differencer difference;
} closing;

static eval_status closing_value(void *context, double t, const double *w, double *H)
{
    closing *c = context;
    const hessenberg_form *h = &c->x->hessenberg;
    eval_status status = h->f(c->x, t, c->y, w, w + h->nz, c->f);
    if (!status && h->nu > 0) status = h->k(c->x, t, c->y, w, w + h->nz, H + h->nz);
    if (status != EVAL_OK) return status;
    vector_copy(h->nz, c->g_t, H);
    form_matrix_multiply(&h->g_y_matrix, c->x->hw.values, 1.0, c->f, H);
    return EVAL_OK;
}

static eval_status closing_jacobian(void *context, double t, const double *w, double *values)
{
    closing *c = context;
    const double *nominal = c->x->source->as.h.nominal;
    return difference_matrix(&c->difference, &c->matrix, closing_value, c, t, w,
                             nominal ? nominal + c->x->hessenberg.ny : NULL, values);
}

static dae_status report_closing(const start *s, manifold *p, engine_outcome moved)
{
    const hessenberg_form *h = &s->x->hessenberg;
    bool judged = moved == ENGINE_MET || moved == ENGINE_STALLED;
    if (judged && manifold_dependent(p, p->dx)) {
        int worst = vector_argmax(p->m, p->dx, NULL);
        if (worst < h->nz) start_constraint(s, worst);
        return diag_set(s->diag, DAE_ERR_SINGULAR,
                        "%s is singular at t = %.9g, at %s %s: z and u are not determined there, "
                        "the index is above 2.",
                        h->nu > 0 ? "The derivative of (g_y f, k) by (z, u)" : "g_y f_z", s->t,
                        worst < h->nz ? "constraint" : "equation",
                        s->x->source->equation_names[h->ny + worst]);
    }
    if (moved != ENGINE_STALLED) return start_moved(s, p, moved, "constraint");
    return diag_set(s->diag, DAE_ERR_INITIAL,
                    "No z and u were found near those given for which g_y f + g_t = 0 and k = 0 "
                    "hold at t = %.9g: %s is farthest from it.",
                    s->t, s->x->source->equation_names[h->ny + p->worst]);
}

/* z and u at fixed y: square, so that the shortest step is Newton's. */
static dae_status find_multipliers(const start *s)
{
    form_instance *x = s->x;
    const hessenberg_form *h = &x->hessenberg;
    int n = h->nz + h->nu;
    /* y' of z has no other use yet */
    closing c = {
        .x = x, .y = s->y, .f = s->yp, .g_t = s->yp + h->ny, .matrix = form_matrix_dense(n, n)};
    eval_status eval = h->g_t(x, s->t, s->y, c.g_t);
    if (eval == EVAL_OK) eval = h->g_y(x, s->t, s->y, x->hw.values);
    if (eval != EVAL_OK) return start_evaluation(s, eval);
    manifold p = {0};
    bool ready = differencer_new(&c.difference, &c.matrix);
    ready = ready && manifold_new(&p, &c.matrix, s->size + h->ny, NULL);
    const start_part closes = {&c.matrix, closing_value, closing_jacobian, &c, h->ny, "constraint"};
    engine_outcome moved = ready ? start_move(s, &closes, &p) : ENGINE_MEMORY;
    dae_status status = report_closing(s, &p, moved);
    manifold_free(&p);
    differencer_free(&c.difference);
    return status;
}

dae_status hessenberg_start(const start *s)
{
    form_instance *x = s->x;
    const hessenberg_form *h = &x->hessenberg;
    start_sizes(s, 0, h->ny);
    start_sizes(s, h->ny, h->nz + h->nu);
    dae_status status = DAE_OK;
    if (h->nz > 0) {
        manifold p;
        const start_part constraints = {&h->g_y_matrix, h->g, h->g_y, h->context, 0, "constraint"};
        status = start_project(s, &constraints, &p);
        if (status == DAE_OK) status = start_independent(s, &p, p.A, p.b);
        manifold_free(&p);
    }
    if (status == DAE_OK && h->nz + h->nu > 0) status = find_multipliers(s);
    if (status != DAE_OK) return status;
    vector_zero(x->source->n, s->yp);
    const double *z = s->y + h->ny;
    eval_status eval = h->f(x, s->t, s->y, z, z + h->nz, s->yp);
    return eval == EVAL_OK ? DAE_OK : start_evaluation(s, eval);
}
