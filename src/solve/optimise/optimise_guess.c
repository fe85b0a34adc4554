/* Guesses on an even mesh: values at the start, a simulation, or rows of a table. */
#include <math.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"
#include "solve/optimise/optimise_parts.h"

/* How to get values of the user's unknowns at ascending times. */
typedef struct guesser {
    dae_optimum *q;
    dae_bvp_guess kind;
    int n;               /* the user's unknowns */
    double *y, *yp;      /* at the time asked for last; owned in one block at y */
    double *held;        /* y where the simulation ended, or at the start */
    double *control;     /* shifts of controls at that time; in the same block */
    dae_solver *run;     /* owned; NULL: it has ended, or there is none */
    int *unknown, *sign; /* per column of the table: the user's unknown, -1: none, -2 - k: control
                            k; owned */
} guesser;

/* ---- tables ---- */

static dae_status check_table(const dae_optimise_request *r, dae_diag *diag)
{
    if (r->rows < 2 || r->columns < 1 || !r->times || !r->variables || !r->values)
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "Optimisation: a table as a guess needs two rows and a column.");
    for (int i = 0; i < r->rows; i++)
        if (!isfinite(r->times[i]) || (i > 0 && !(r->times[i] > r->times[i - 1])))
            return diag_set(diag, DAE_ERR_ARGUMENT,
                            "Optimisation: row %d of the guess has time %g; times ascend.", i + 1,
                            r->times[i]);
    for (size_t k = 0; k < (size_t)r->rows * (size_t)r->columns; k++)
        if (!isfinite(r->values[k]))
            return diag_set(diag, DAE_ERR_ARGUMENT,
                            "Optimisation: row %d of the guess has a value that is not finite.",
                            (int)(k / (size_t)r->columns) + 1);
    return DAE_OK;
}

/* Which unknowns the columns are. Variables that follow from others need no guess. */
static dae_status name_columns(guesser *g, dae_diag *diag)
{
    const dae_optimum *q = g->q;
    const dae_optimise_request *r = &q->request;
    const model_form *f = q->problem->model;
    g->unknown = DAE_ARRAY(int, r->columns);
    g->sign = DAE_ARRAY(int, r->columns);
    if (!g->unknown || !g->sign) return opt_no_memory(diag);
    for (int c = 0; c < r->columns; c++) {
        int v = r->variables[c] ? dae_problem_find_variable(q->problem, r->variables[c]) : -1;
        if (v < 0)
            return diag_set(diag, DAE_ERR_ARGUMENT,
                            "Optimisation: the guess has a column %s, which is no variable of the "
                            "model.",
                            r->variables[c] ? r->variables[c] : "(no name)");
        int root = hybrid_root(f, f->visible[v], &g->sign[c]);
        g->unknown[c] = f->flat->variables[f->visible[v]].discrete ? -1 : f->first_unknown[root];
        for (int k = 0; k < q->c; k++)
            if (q->variable[k] == v) g->unknown[c] = -2 - k;
    }
    return DAE_OK;
}

/* Straight between rows, and as the first or last one outside of them. */
static void look_up(guesser *g, double t)
{
    const dae_optimum *q = g->q;
    const dae_optimise_request *r = &q->request;
    int i = 0;
    while (i < r->rows - 2 && t > r->times[i + 1]) i++;
    const double h = r->times[i + 1] - r->times[i];
    const double part = fmin(1.0, fmax(0.0, (t - r->times[i]) / h));
    for (int c = 0; c < r->columns; c++) {
        const double *value = r->values + (size_t)i * (size_t)r->columns + c;
        const double rise = value[r->columns] - value[0], now = value[0] + part * rise;
        if (g->unknown[c] <= -2) {
            const int k = -2 - g->unknown[c];
            g->control[k] = fmin(q->upper[k], fmax(q->lower[k], now - q->base[k]));
        } else if (g->unknown[c] >= 0) {
            g->y[g->unknown[c]] = g->sign[c] * now;
            g->yp[g->unknown[c]] = g->sign[c] * rise / h;
        }
    }
}

/* ---- simulations ---- */

static void simulate(guesser *g, double t)
{
    dae_status status =
        g->run && t > dae_solver_time(g->run) ? dae_solver_run(g->run, t, g->y, g->yp) : DAE_OK;
    bool good = g->run && status >= 0 && vector_finite(g->n, g->y) && vector_finite(g->n, g->yp);
    if (good) {
        vector_copy(g->n, g->y, g->held);
        return;
    }
    dae_solver_free(g->run); /* from here on the last values have to do */
    g->run = NULL;
    vector_copy(g->n, g->held, g->y);
    vector_zero(g->n, g->yp);
}

static dae_status begin_run(guesser *g, dae_diag *diag)
{
    enum { MOST_STEPS = 20000 };
    dae_options o = dae_options_default();
    o.rtol = 1e-4;
    o.max_steps = MOST_STEPS;
    dae_status status = dae_solver_new(g->q->problem, &o, &g->run, diag);
    if (status == DAE_OK) status = dae_solver_start(g->run, g->q->request.start, NULL, NULL);
    if (status != DAE_OK && g->run && diag) *diag = *dae_solver_diag(g->run);
    return status;
}

/* ---- on the mesh ---- */

/* The block of a point at t. */
static void fill_point(guesser *g, double t, double *block)
{
    dae_optimum *q = g->q;
    const binding *b = &q->companion->bound;
    if (g->kind == DAE_BVP_GUESS_TABLE) look_up(g, t);
    if (g->kind == DAE_BVP_GUESS_SIMULATE) simulate(g, t);
    if (g->kind != DAE_BVP_GUESS_START) values_from_user(q->companion, g->y, g->yp);
    vector_copy(q->n, b->y, block);
    for (int k = 0; k < q->d; k++)
        block[q->n + k] = g->kind == DAE_BVP_GUESS_START ? 0.0 : b->yp[q->state[k]];
    vector_copy(q->c, g->control, block + q->n + q->d);
}

static dae_status prepare(guesser *g, dae_diag *diag)
{
    dae_optimum *q = g->q;
    g->n = q->problem->form.n;
    g->y = DAE_ARRAY(double, 3 * (size_t)g->n + (size_t)q->c);
    double *at_start = g->y ? user_values(q->companion) : NULL;
    if (!at_start) return opt_no_memory(diag);
    g->yp = g->y + g->n;
    g->held = g->y + 2 * g->n;
    g->control = g->y + 3 * g->n;
    vector_copy(g->n, at_start, g->y);
    vector_copy(g->n, at_start, g->held);
    vector_copy(q->c, q->guess, g->control);
    dae_free(at_start);
    if (g->kind == DAE_BVP_GUESS_SIMULATE) return begin_run(g, diag);
    if (g->kind != DAE_BVP_GUESS_TABLE) return DAE_OK;
    dae_status status = check_table(&q->request, diag);
    return status == DAE_OK ? name_columns(g, diag) : status;
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
    guesser g = {.q = q, .kind = guess};
    const double span = q->request.end - q->request.start;
    dae_status status = prepare(&g, diag);
    for (int i = 0; i <= s->intervals; i++) s->t[i] = q->request.start + span * i / s->intervals;
    s->t[s->intervals] = q->request.end;
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
    dae_solver_free(g.run);
    dae_free_all(g.y, g.unknown, g.sign, kept);
    return status;
}
