/* Derivatives of F = (q' - v, M v' - f + G' lambda, g) from the user's of the second part. */
#include <string.h>

#include "forms/form_parts.h"

bool mechanical_has_jacobian(const form_source *s, const form_rewriting *how)
{
    return s->kind == KIND_MECHANICAL && s->as.m.jacobian && how->as_given && !s->full &&
           s->as.m.nvelocity == 0;
}

/* Multipliers of least norm in the rows of constraints that follow from others. The derivatives of
 * their relations by q are left out. */
static void put_redundant(form_instance *x, size_t height, size_t lambda, double *dfdy)
{
    const int m = x->mechanical.nl;
    const double *c = form_redundant_relations(x, x->mw.G);
    for (int l = 0; l < m; l++) {
        if (!x->redundant[l]) continue;
        double *row = dfdy + lambda + (size_t)l;
        for (size_t j = 0; j < height; j++) row[j * height] = 0.0;
        for (int i = 0; i < m; i++)
            row[(lambda + (size_t)i) * height] = (i == l ? 1.0 : 0.0) - c[l * m + i];
    }
}

/* The parts, counted as one evaluation of a Jacobian by the caller. */
static eval_status evaluate_matrices(form_instance *x, double t, const double *y, const double *yp)
{
    const dae_mechanical *form = &x->source->as.m;
    mechanical_work *w = &x->mw;
    const size_t n = (size_t)form->nq;
    const dae_mechanical_point at = {.t = t, .q = y, .v = y + n, .lambda = y + 2 * n};
    const long jacobians = x->eval->stats->jacobians;
    eval_status status = x->mechanical.evaluate(x, t, y, y + n, w->M, NULL,
                                                form->nlambda > 0 ? w->G : NULL, NULL, NULL);
    x->eval->stats->jacobians = jacobians;
    if (status != EVAL_OK) return status;
    memset(w->by_q, 0, 2 * n * n * sizeof *w->by_q);
    int code = form->jacobian(&at, yp + n, w->by_q, w->by_v, form->user);
    const form_matrix full = form_matrix_dense(form->nq, form->nq);
    return form_judge(x, "jacobian", t, code, n * n, w->by_q, form->nq, &full);
}

int mechanical_jacobian(double t, const double *y, const double *yp, double *dfdy, double *dfdyp,
                        void *user)
{
    form_instance *x = user;
    const mechanical_work *w = &x->mw;
    const mechanical_form *form = &x->mechanical;
    const size_t n = (size_t)form->nq, height = (size_t)x->source->n, lambda = 2 * n;
    const form_matrix full = form_matrix_dense(form->nq, form->nq);
    eval_status status = evaluate_matrices(x, t, y, yp);
    if (status != EVAL_OK) return status == EVAL_STOP ? -1 : 1;
    for (size_t i = 0; i < n; i++) {
        dfdyp[i + i * height] = 1.0;
        dfdy[i + (n + i) * height] = -1.0;
    }
    form_matrix_place(&full, w->by_q, 1, height, dfdy + n);
    form_matrix_place(&full, w->by_v, 1, height, dfdy + n + n * height);
    form_matrix_place(&form->M_matrix, w->M, 1, height, dfdyp + n + n * height);
    if (form->nl == 0) return 0;
    form_matrix_place(&form->G_matrix, w->G, 1, height, dfdy + lambda);
    form_matrix_place(&form->G_matrix, w->G, height, 1, dfdy + n + lambda * height);
    if (x->redundant) put_redundant(x, height, lambda, dfdy);
    return 0;
}
