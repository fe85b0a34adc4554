/* Initial equations hold at a start, or it fails. */
#include <math.h>

#include "base/diag.h"
#include "base/memory.h"
#include "model/model_structure.h"
#include "solve/begin/begin.h"

/* Unknowns count as equal that differ by this part of their sizes, or rtol if that is larger, and
 * atol. */
static const double SAME = 1e-6;

static dae_status refuse_start(dae_solver *s, double t, size_t k, double off)
{
    const flat_model *m = s->base->model->flat;
    const flat_equation *q = &m->initial_equations[k];
    char *name = flat_equation_name(m, q);
    diag_equation(&s->diag, -1, name ? name : "?");
    s->diag.line = q->place.line;
    s->diag.t = t;
    s->diag.value = off;
    diag_set(&s->diag, DAE_ERR_INITIAL,
             "The initial %s does not hold at the start, where it is off by %.6g: fixed values, "
             "equations or other initial equations contradict it. Leave one of them out.",
             name ? name : "equation", off);
    dae_free(name);
    return DAE_ERR_INITIAL;
}

/* Work space: values and slopes of the user, and how far each may be off. */
typedef struct start_units {
    double *y, *unit;           /* 2n each */
    double *dfdy, *dfdyp, *row; /* partial derivatives, and what the values leave open in a row */
} start_units;

static void units_free(start_units *u)
{
    dae_free_all(u->y, u->unit);
}

static bool units_new(start_units *u, const dae_solver *s)
{
    const model_form *f = s->base->model;
    const size_t n = (size_t)f->n, entries = (size_t)f->colptr[n];
    u->y = user_values(s);
    return SHARED_BLOCK(SHARE(u->unit, 2 * n), SHARE(u->dfdy, entries), SHARE(u->dfdyp, entries),
                        SHARE(u->row, f->rows)) &&
           u->y;
}

/* row_i = max_j |dF_i/dy_j| unit_j */
static void open_rows(const model_form *f, start_units *u)
{
    for (int j = 0; j < f->n; j++)
        for (int e = f->colptr[j]; e < f->colptr[j + 1]; e++) {
            double *most = &u->row[f->rowind[e]];
            *most = fmax(*most, fabs(u->dfdy[e]) * u->unit[j]);
        }
}

/* What the values leave open of slope j in the strictest of its rows; INFINITY: nothing is said. */
static double open_slope(const model_form *f, const start_units *u, int j)
{
    double strictest = INFINITY;
    for (int e = f->colptr[j]; e < f->colptr[j + 1]; e++) {
        double entry = fabs(u->dfdyp[e]), most = u->row[f->rowind[e]];
        if (entry > 0.0 && most > 0.0) strictest = fmin(strictest, most / entry);
    }
    return strictest;
}

/* unit_j = how far y_j may be off, and unit_(n+j) slopes, by their own sizes or by what the
 * equations make of that. */
static void measure_units(const dae_solver *s, model_instance *m, double t, start_units *u)
{
    const model_form *f = m->form;
    const int n = f->n;
    for (int j = 0; j < n; j++)
        u->unit[j] = fmax(SAME, model_rtol(s, j)) * fabs(u->y[j]) + model_atol(s, j);
    model_jacobian(t, u->y, u->y + n, u->dfdy, u->dfdyp, m);
    open_rows(f, u);
    for (int j = 0; j < n; j++) {
        double open = open_slope(f, u, j), own = fmax(SAME, model_rtol(s, j)) * fabs(u->y[n + j]);
        u->unit[n + j] = fmax(own, isfinite(open) ? open : model_atol(s, j));
    }
}

/* The first initial equation that is violated: by more than all its unknowns may be off. */
static dae_status check_all(dae_solver *s, const model_instance *m, double t, const start_units *u)
{
    const model_form *f = s->base->model;
    for (size_t k = 0; k < f->condition_count; k++) {
        double off, reach;
        if (!model_condition_misfit(m, k, t, u->y, u->unit, &off, &reach))
            return plan_exhausted(&s->diag);
        if (off > reach) return refuse_start(s, t, k, off);
    }
    return DAE_OK;
}

dae_status check_initial_equations(dae_solver *s, double t)
{
    const model_form *f = s->base->model;
    start_units u = {0};
    if (f->condition_count == 0) return DAE_OK;
    model_instance m = *s->modes->base_instance; /* with the discrete side as it is */
    m.memory = s->hybrid->instance->memory;
    m.parameters = s->hybrid->instance->parameters;
    bool ready = units_new(&u, s);
    if (ready) measure_units(s, &m, t, &u);
    graph_enter(f->flat->graph);
    dae_status status = ready ? check_all(s, &m, t, &u) : plan_exhausted(&s->diag);
    graph_leave(f->flat->graph);
    units_free(&u);
    return status;
}
