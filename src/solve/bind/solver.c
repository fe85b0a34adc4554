/* Making and freeing a solver. */
#include <math.h>

#include "solve/bind/solver.h"

#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/team.h"
#include "solve/bind/array_callbacks.h"
#include "solve/prepare/choose.h"
#include "solve/prepare/linear_choice.h"

/* What plans are made by: options as they are kept, and as they were given. */
static wishes first_wishes(const dae_options *kept, const dae_options *given)
{
    return (wishes){.options = kept,
                    .formulation = formulation_find(given->formulation, NULL),
                    .method = method_find(kept->method),
                    .open = choice_is_open(given),
                    .reason = ""};
}

/* A model is bound where its first mode is known: until then there is room for values alone. */
dae_status model_hold(dae_solver *s, dae_diag *diag)
{
    form_instance *old = s->bound.forms;
    s->bound.forms = NULL;
    s->bound.form_set = NULL;
    s->bound.unknowns = &unknowns_as_given;
    binding_empty(&s->bound);
    form_instance_free(old); /* before what its source belongs to */
    modes_free(s->modes);
    hybrid_free(s->hybrid);
    s->modes = NULL;
    s->hybrid = hybrid_new(s->base->model);
    s->modes = s->hybrid ? modes_new() : NULL;
    if (!s->modes) return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for the model.");
    s->bound.method =
        s->wishes.open ? choose_residual(s->base, &s->wishes, s->why) : s->wishes.method;
    dae_status status = binding_loosen(s);
    if (status != DAE_OK && diag) *diag = s->diag;
    return status;
}

static dae_status own_steps(dae_solver *s, dae_diag *diag)
{
    dae_options *o = &s->base_options;
    if (o->step_count == 0) return DAE_OK;
    s->steps = dae_copy(o->step_sequence, (size_t)o->step_count, sizeof(double));
    o->step_sequence = s->steps;
    if (s->steps) return DAE_OK;
    return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for %d steps.", o->step_count);
}

/* The solver's own copy of a table of the user, complete; the options were checked with it. */
static dae_status keep_table(dae_solver *s, dae_options *full, dae_diag *diag)
{
    if (!full->table) return DAE_OK;
    s->table = DAE_NEW(dae_table);
    if (!s->table) return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for the table.");
    dae_status status = own_table_take(full->table, s->table, diag);
    full->table = s->table;
    return status == DAE_OK
               ? own_table_complete(s->table, method_find(full->method)->takes_table, diag)
               : status;
}

dae_status solver_new(const dae_problem *problem, const dae_options *options, dae_solver **solver,
                      dae_diag *diag)
{
    diag_clear(diag);
    if (!solver) return diag_set(diag, DAE_ERR_ARGUMENT, "dae_solver_new: solver is NULL.");
    *solver = NULL;
    if (!problem) return diag_set(diag, DAE_ERR_ARGUMENT, "dae_solver_new: problem is NULL.");
    dae_options full;
    dae_status status = options_complete(options, &full, diag);
    if (status == DAE_OK) status = options_check(&full, problem, diag);
    if (status != DAE_OK) return status;
    dae_solver *s = DAE_NEW(dae_solver);
    if (!s) return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for a solver.");
    int n = problem->form.n;
    s->base = problem;
    s->bound.unknowns = &unknowns_as_given;
    s->stats.size = sizeof s->stats;
    diag_clear(&s->diag);
    status = keep_table(s, &full, diag);
    if (status == DAE_OK) status = options_copy(&s->base_options, &full, n, diag);
    if (status == DAE_OK) s->wishes = first_wishes(&s->base_options, &full);
    if (status == DAE_OK)
        s->wishes.iterative = choose_iterative(problem, &s->wishes, s->why_linear, &s->factor_work);
    if (status == DAE_OK) status = own_steps(s, diag);
    if (full.integrator) s->integrator = *full.integrator;
    if (full.integrator) s->base_options.integrator = &s->integrator;
    if (full.herk) s->base_options.herk = &s->herk;
    if (status == DAE_OK) status = herk_options_read(full.herk, &s->herk, diag);
    s->run.sizes = DAE_ARRAY(double, 2 * (size_t)n);
    s->run.shown = NAN;
    if (s->wishes.open) s->run.past.values = DAE_ARRAY(double, 4 * (size_t)n);
    if (status == DAE_OK && (!s->run.sizes || (s->wishes.open && !s->run.past.values)))
        status = diag_set(diag, DAE_ERR_MEMORY, "Out of memory for %d variables.", n);
    if (status == DAE_OK && !team_new(&s->threads, full.threads))
        status = diag_set(diag, DAE_ERR_MEMORY, "Out of memory for %d threads.", full.threads);
    if (status == DAE_OK) status = monitors_new(s, &full, diag);
    if (status == DAE_OK) status = problem->model ? model_hold(s, diag) : bind_callbacks(s, diag);
    if (status != DAE_OK) {
        dae_solver_free(s);
        return status;
    }
    *solver = s;
    return DAE_OK;
}

double solver_stop_time(const dae_solver *s)
{
    double stop = s->bound.options.stop_time;
    bool implied = isnan(stop) && s->wishes.open && !s->base_options.pass_end && s->run.headed;
    return implied ? s->run.end : stop;
}

bool solver_iterates(const dae_solver *s)
{
    return s->wishes.open && s->wishes.iterative && s->bound.matrix.matrix_free;
}

void dae_solver_free(dae_solver *s)
{
    if (!s) return;
    if (s->observer) s->observer->gone(s->observer->user);
    recycler_empty(&s->spare);
    binding *b = &s->bound;
    binding_empty(b);
    ode_form_free(b->ode);
    callback_array_free(b->array);
    monitors_free(s->monitors);
    options_free(&b->options);
    options_free(&s->base_options);
    form_instance_free(b->forms); /* before what its source belongs to */
    modes_free(s->modes);
    hybrid_free(s->hybrid);
    dae_problem_free(b->rewritten);
    team_free(s->threads);
    dae_free_all(b->multipliers, s->run.sizes, s->run.floors, s->run.past_t, s->run.past_y,
                 s->run.past.values, s->run.last_values, s->steps, s->table, s);
}
