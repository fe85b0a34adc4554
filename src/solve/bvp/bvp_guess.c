/* Guesses on an even mesh: values at the start, a simulation, or rows of a table. */
#include "base/memory.h"
#include "base/vector.h"
#include "solve/bvp/bvp_parts.h"
#include "solve/bvp/whole_guess.h"

static whole_guess guess_of(dae_bvp *q, dae_bvp_guess kind)
{
    const dae_bvp_request *r = &q->request;
    return (whole_guess){.what = "Boundary values",
                         .problem = q->problem,
                         .start = r->start,
                         .kind = kind,
                         .table = {r->rows, r->columns, r->times, r->variables, r->values}};
}

/* Values of all unknowns of the form at t, into q->y and q->yp. */
static void values_at(dae_bvp *q, whole_guess *g, double t)
{
    binding *b = &q->companion->bound;
    whole_guess_at(g, t);
    if (g->kind != DAE_BVP_GUESS_START) values_from_user(q->companion, g->y, g->yp);
    vector_copy(q->n, b->y, q->y);
    vector_copy(q->n, b->yp, q->yp);
    if (q->inner) bvp_from_user(q->inner, g->y, g->yp, q->inner->y, q->inner->yp);
}

static void store_x(const dae_bvp *q, double *u)
{
    for (int k = 0; k < q->d; k++) u[k] = q->y[q->state[k]];
}

static void store_v(const dae_bvp *q, bool rest, double *u)
{
    for (int i = 0; i < q->n; i++) u[i] = q->number[i] < 0 ? q->y[i] : rest ? 0.0 : q->yp[i];
}

/* One end: its own states, if it has other equations; V. */
static void store_end(const dae_bvp *q, bool rest, double *u)
{
    if (q->inner) store_x(q, u);
    store_v(q, rest, u + (q->inner ? q->d : 0));
}

static void fill_mesh(dae_bvp *q, whole_guess *g, bvp_solution *s)
{
    dae_bvp *in = bvp_inner(q);
    const bool rest = g->kind == DAE_BVP_GUESS_START;
    for (int i = 0; i < s->intervals; i++) {
        values_at(q, g, s->t[i]);
        store_x(in, s->x + bvp_at_x(q, i));
        if (i == 0) store_end(q, false, s->x);
        for (int a = 0; a < q->method->stages; a++) {
            values_at(q, g, s->t[i] + q->method->nodes[a] * (s->t[i + 1] - s->t[i]));
            store_v(in, rest, s->x + bvp_at_v(q, i, a));
        }
    }
    bvp_start_projections(in, s);
    values_at(q, g, s->t[s->intervals]);
    store_x(in, s->x + bvp_at_x(q, s->intervals));
    store_end(q, rest, s->x + bvp_at_right(q, s->intervals));
    const model_form *f = q->problem->model;
    for (int k = 0; k < q->m; k++)
        s->x[bvp_at_p(q, s->intervals) + (size_t)k] =
            f->parameters[q->directions.list[k].parameter];
}

dae_status bvp_guess_make(dae_bvp *q, dae_bvp_guess guess, bvp_solution *s, dae_diag *diag)
{
    whole_guess g = guess_of(q, guess);
    dae_status status = whole_guess_open(&g, q->companion, diag);
    even_mesh(s->intervals, q->request.start, q->request.end, s->t);
    binding *b = &q->companion->bound; /* what guesses change there is put back */
    double *kept = status == DAE_OK ? DAE_ARRAY(double, 2 * (size_t)q->n) : NULL;
    if (status == DAE_OK && !kept) status = bvp_no_memory(diag);
    if (status == DAE_OK) {
        vector_copy(q->n, b->y, kept);
        vector_copy(q->n, b->yp, kept + q->n);
        fill_mesh(q, &g, s);
        vector_copy(q->n, kept, b->y);
        vector_copy(q->n, kept + q->n, b->yp);
    }
    whole_guess_close(&g);
    dae_free(kept);
    return status;
}

dae_status bvp_guess_rows(dae_bvp *q, dae_bvp_guess guess, int count, const double *t, double *rows,
                          dae_diag *diag)
{
    whole_guess g = guess_of(q, guess);
    dae_status status = whole_guess_open(&g, q->companion, diag);
    for (int i = 0; i < count && status == DAE_OK; i++) {
        double *row = rows + 2 * (size_t)i * (size_t)g.n;
        whole_guess_at(&g, t[i]);
        vector_copy(g.n, g.y, row);
        vector_copy(g.n, g.yp, row + g.n);
    }
    whole_guess_close(&g);
    return status;
}
