/* Start values by homotopy.
 *
 * A text with homotopy(actual, simplified) has a second model beside it, in which these calls are
 * simplified + way*(actual - simplified) over a parameter, `way` (flatten_given.simplified). It is
 * started with way = 0, where start values matter least, and then followed to way = 1 in steps that
 * are so short that its values go on where they came from. Where nonlinear equations have several
 * solutions, as a comparator with feedback, the one at the end of this way is meant (Modelica 3.6,
 * section 3.7.4.3). Its values are the guesses for the start of the model proper, which decides
 * what is consistent, as ever. A way that turns back, or ends, leaves the guesses of the text. */
#include <math.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"
#include "solve/hybrid/hybrid.h"
#include "solve/run/run.h"

/* Steps of `way`: the first and longest, the shortest; and how many there may be. */
static const double LONGEST = 0.1, SHORTEST = 1e-6;
enum { MOST_STEPS = 1000 };
/* A step goes on where it came from if no value moves by more than this part of its size, or by
 * more than that part of the step away from where the last one pointed. */
static const double SMALL_MOVE = 0.05, OFF_LINE = 0.25;
/* A start value that a solution meets to this part of its size stays as it is. */
static const double SAME = 1e-9;

typedef struct simplified_start {
    dae_solver *solver; /* of the second model; owned */
    model_form *form;   /* of it; borrowed */
    double t, way;
    int n;
    double *y, *before, *guess, *scale; /* n each; y owns them */
    double last;                        /* way at `before` */
    bool exhausted;                     /* there is no memory for it */
} simplified_start;

/* ---- the second model is as the first ---- */

/* The place of a name, looked for at k first, where it is but for names that one model alone has.
 */
static int variable_place(const flat_model *m, const char *name, size_t k)
{
    if (k < m->variable_count && strcmp(m->variables[k].name, name) == 0) return (int)k;
    for (size_t v = 0; v < m->variable_count; v++)
        if (strcmp(m->variables[v].name, name) == 0) return (int)v;
    return -1;
}

static int parameter_place(const flat_model *m, const char *name)
{
    for (size_t p = 0; p < m->parameter_count; p++)
        if (strcmp(m->parameters[p].name, name) == 0) return (int)p;
    return -1;
}

/* Parameters and start values that were set from outside. */
static void copy_settings(const model_form *from, model_form *to)
{
    for (size_t p = 0; p < to->flat->parameter_count; p++) to->parameter_set[p] = false;
    for (size_t p = 0; p < from->flat->parameter_count; p++) {
        int q =
            from->parameter_set[p] ? parameter_place(to->flat, from->flat->parameters[p].name) : -1;
        if (q < 0) continue;
        to->parameters[q] = from->parameters[p];
        to->parameter_set[q] = true;
    }
    for (size_t v = 0; v < to->flat->variable_count; v++) to->start[v] = NAN;
    for (size_t v = 0; v < from->flat->variable_count; v++) {
        int w =
            isnan(from->start[v]) ? -1 : variable_place(to->flat, from->flat->variables[v].name, v);
        if (w < 0) continue;
        to->start[w] = from->start[v];
        to->start_moved[w] = from->start_moved[v];
    }
}

/* ---- the way ---- */

/* The start with `way` at `to`, from y; NULL: the start values. Values into z->guess. */
static bool start_at(simplified_start *z, double to, const double *y)
{
    const size_t p = (size_t)z->form->flat->way_parameter - 1;
    z->form->parameters[p] = to;
    z->form->parameter_set[p] = true;
    z->form->revision++;
    dae_status status = model_form_evaluate_parameters(z->form, &z->solver->diag);
    if (status == DAE_OK) status = solver_start(z->solver, z->t, y, NULL);
    if (status == DAE_OK) status = dae_solver_at(z->solver, z->t, 0, z->guess);
    z->exhausted = status == DAE_ERR_MEMORY;
    return status == DAE_OK;
}

/* The largest move from a to b in units of the values' sizes. */
static double distance(const simplified_start *z, const double *a, const double *b)
{
    double most = 0.0;
    for (int i = 0; i < z->n; i++)
        most = fmax(most, fabs(a[i] - b[i]) / fmax(z->scale[i], fmax(fabs(a[i]), fabs(b[i]))));
    return most;
}

/* One step to `to`; whether it goes on where it came from. work: n */
static bool step_to(simplified_start *z, double to, double *work)
{
    double slope = z->way > z->last ? (to - z->way) / (z->way - z->last) : 0.0;
    for (int i = 0; i < z->n; i++) work[i] = z->y[i] + slope * (z->y[i] - z->before[i]);
    if (!start_at(z, to, work)) return false;
    double off = distance(z, z->guess, work), move = distance(z, work, z->y);
    if (distance(z, z->guess, z->y) > SMALL_MOVE && !(slope > 0.0 && off <= OFF_LINE * move))
        return false;
    vector_copy(z->n, z->y, z->before);
    vector_copy(z->n, z->guess, z->y);
    z->last = z->way;
    z->way = to;
    return true;
}

/* From the simplified equations to the actual ones; false: the way ends before. */
static bool follow(simplified_start *z, double *work)
{
    double h = LONGEST;
    if (!start_at(z, 0.0, NULL)) return false;
    vector_copy(z->n, z->guess, z->y);
    for (int k = 0; k < MOST_STEPS && z->way < 1.0 && h >= SHORTEST && !z->exhausted; k++)
        h = step_to(z, fmin(1.0, z->way + h), work) ? fmin(2.0 * h, LONGEST) : h / 2.0;
    return z->way >= 1.0;
}

/* ---- what the first model takes over ---- */

/* y = values of the unknowns of s: its own start values where these are met, else those of the
 * second model, by name. values: all visible variables of that, shown: per variable 1 + which. */
static void take_values(const dae_solver *s, const model_form *g, const double *values,
                        const int *shown, double *y)
{
    const model_form *f = s->base->model;
    for (size_t v = 0; v < f->flat->variable_count; v++) {
        const flat_variable *q = &f->flat->variables[v];
        int sign, first = f->first_unknown[hybrid_root(f, (int)v, &sign)];
        if (q->discrete || first < 0 || s->hybrid->fixed_by[first] >= 0) continue;
        int w = variable_place(g->flat, q->name, v), k = w >= 0 ? shown[w] - 1 : -1;
        double value = k >= 0 ? sign * values[k] : NAN, size = fmax(fabs(value), fabs(y[first]));
        if (isfinite(value) && fabs(value - y[first]) > SAME * size) y[first] = value;
    }
}

static bool take_over(const dae_solver *s, simplified_start *z, double *y)
{
    const model_form *g = z->form;
    double *values = DAE_ARRAY(double, g->visible_count);
    int *shown = DAE_ARRAY(int, g->flat->variable_count);
    z->exhausted = !values || !shown;
    bool found = !z->exhausted && dae_solver_variables(z->solver, z->t, values) == DAE_OK;
    for (int k = 0; found && k < g->visible_count; k++) shown[g->visible[k]] = k + 1;
    if (found) take_values(s, g, values, shown, y);
    dae_free_all(values, shown);
    return found;
}

/* Options of the model's own solver, as far as starts read them. */
static dae_options start_options(const dae_solver *s)
{
    dae_options options = dae_options_default();
    options.rtol = s->base_options.rtol;
    options.atol = s->base_options.atol;
    options.init = s->base_options.init;
    options.init_iterations = s->base_options.init_iterations;
    options.init_tolerance = s->base_options.init_tolerance;
    options.stop_time = s->base_options.stop_time;
    return options;
}

static bool open_start(simplified_start *z, const dae_solver *s, double t)
{
    const dae_problem *p = s->base->simplified;
    const dae_options options = start_options(s);
    const size_t n = (size_t)p->form.n;
    dae_diag diag;
    *z =
        (simplified_start){.form = p->model, .t = t, .n = p->form.n, .y = DAE_ARRAY(double, 5 * n)};
    copy_settings(s->base->model, z->form);
    dae_status status = z->y ? model_form_set_start_time(z->form, t, &diag) : DAE_ERR_MEMORY;
    if (status == DAE_OK) status = solver_new(p, &options, &z->solver, &diag);
    z->exhausted = status == DAE_ERR_MEMORY;
    if (status != DAE_OK) return false;
    z->solver->hybrid->unexplained = true;
    z->before = z->y + n;
    z->guess = z->y + 2 * n;
    z->scale = z->y + 3 * n;
    for (int i = 0; i < z->n; i++) z->scale[i] = model_form_nominal(z->form, i);
    return true;
}

static void close_start(simplified_start *z)
{
    dae_solver_free(z->solver);
    dae_free(z->y);
}

static void tell_end(const dae_solver *s, const simplified_start *z)
{
    dae_diag text;
    diag_clear(&text);
    diag_set(&text, DAE_OK,
             "note: homotopy leads from the simplified equations to %.3g of the way and not to the "
             "actual ones: the start values of the text are taken.",
             z->way);
    if (!z->solver || z->way == 0.0)
        diag_set(&text, DAE_OK,
                 "note: the simplified equations of homotopy have no start: %.300s The start "
                 "values of the text are taken.",
                 z->solver ? z->solver->diag.text : "");
    solver_note(s, text.text);
}

dae_status homotopy_guesses(dae_solver *s, double t, double *y, bool *found)
{
    simplified_start z = {0};
    graph *lock = s->base->simplified->model->flat->graph;
    graph_enter(lock); /* other solvers of the problem use it, too */
    hybrid_start_values(s);
    vector_copy(s->base->form.n, s->bound.y, y);
    bool leads = open_start(&z, s, t) && follow(&z, z.y + 4 * (size_t)z.n);
    if (!leads && !z.exhausted) tell_end(s, &z);
    *found = leads && take_over(s, &z, y);
    const bool exhausted = z.exhausted;
    close_start(&z);
    graph_leave(lock);
    return exhausted ? diag_set(&s->diag, DAE_ERR_MEMORY, "Out of memory for start values.")
                     : DAE_OK;
}
