/* Guesses on an even mesh: values at the start, a simulation, or rows of a table. */
#include <math.h>

#include "base/memory.h"
#include "base/vector.h"
#include "solve/bvp/whole_guess.h"
#include "solve/optimise/optimise_parts.h"

/* A guess, and which of its columns are controls. */
typedef struct guesser {
    dae_optimum *q;
    whole_guess whole;
    double *control; /* shifts of controls at the time asked for last; owned */
    int *column;     /* per control: its column in the table, -1: none; owned */
} guesser;

/* Controls by the table, within their bounds. */
static void look_up_controls(guesser *g)
{
    const dae_optimum *q = g->q;
    for (int k = 0; k < q->c; k++)
        if (g->column[k] >= 0)
            g->control[k] =
                fmin(q->upper[k], fmax(q->lower[k], g->whole.row[g->column[k]] - q->base[k]));
}

/* ---- on the mesh ---- */

/* The block of a point at t. */
static void fill_point(guesser *g, double t, double *block)
{
    dae_optimum *q = g->q;
    const binding *b = &q->companion->bound;
    whole_guess *w = &g->whole;
    whole_guess_at(w, t);
    if (w->kind == DAE_BVP_GUESS_TABLE) look_up_controls(g);
    if (w->kind != DAE_BVP_GUESS_START) values_from_user(q->companion, w->y, w->yp);
    vector_copy(q->n, b->y, block);
    for (int k = 0; k < q->d; k++)
        block[q->n + k] = w->kind == DAE_BVP_GUESS_START ? 0.0 : b->yp[q->state[k]];
    vector_copy(q->c, g->control, block + q->n + q->d);
}

static dae_status prepare(guesser *g, dae_diag *diag)
{
    const dae_optimum *q = g->q;
    const dae_optimise_request *r = &q->request;
    g->control = DAE_ARRAY(double, q->c);
    g->column = DAE_ARRAY(int, q->c);
    if (!g->control || !g->column) return opt_no_memory(diag);
    vector_copy(q->c, q->guess, g->control);
    dae_status status = whole_guess_open(&g->whole, q->companion, diag);
    for (int k = 0; k < q->c && status == DAE_OK; k++) {
        g->column[k] = -1;
        for (int c = 0; c < g->whole.table.columns && g->whole.kind == DAE_BVP_GUESS_TABLE; c++)
            if (dae_problem_find_variable(q->problem, r->variables[c]) == q->variable[k])
                g->column[k] = c;
    }
    return status;
}

static void fill_mesh(guesser *g, opt_solution *s)
{
    const dae_optimum *q = g->q;
    const int points = opt_points(q, s->intervals);
    for (int k = 0; k < points; k++) fill_point(g, opt_time(q, s, k), s->x + opt_at(q, k));
    vector_copy(q->m, q->guess + q->c, s->x + opt_at_p(q, s->intervals));
}

dae_status opt_guess(dae_optimum *q, dae_bvp_guess guess, opt_solution *s, dae_diag *diag)
{
    const dae_optimise_request *r = &q->request;
    guesser g = {.q = q,
                 .whole = {.what = "Optimisation",
                           .problem = q->problem,
                           .start = r->start,
                           .kind = guess,
                           .table = {r->rows, r->columns, r->times, r->variables, r->values}}};
    dae_status status = prepare(&g, diag);
    even_mesh(s->intervals, r->start, r->end, s->t);
    binding *b = &q->companion->bound; /* what guesses change there is put back */
    double *kept = status == DAE_OK ? DAE_ARRAY(double, 2 * (size_t)q->n) : NULL;
    if (status == DAE_OK && !kept) status = opt_no_memory(diag);
    if (status == DAE_OK) {
        vector_copy(q->n, b->y, kept);
        vector_copy(q->n, b->yp, kept + q->n);
        fill_mesh(&g, s);
        vector_copy(q->n, kept, b->y);
        vector_copy(q->n, kept + q->n, b->yp);
    }
    whole_guess_close(&g.whole);
    dae_free_all(g.control, g.column, kept);
    return status;
}
