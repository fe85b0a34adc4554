/* Making and freeing what a run needs for the problem at hand. */
#include "solve/bind/binding.h"

#include <math.h>

#include "base/diag.h"
#include "base/memory.h"
#include "solve/bind/solver.h"

/* ---- memory ---- */

static bool allocate_values(binding *b, int user_n)
{
    int most = b->n > user_n ? b->n : user_n;
    b->y = DAE_ARRAY(double, b->n);
    b->yp = DAE_ARRAY(double, b->n);
    b->work = DAE_ARRAY(double, b->n);
    b->at_y = DAE_ARRAY(double, most);
    b->at_yp = DAE_ARRAY(double, most);
    return b->y && b->yp && b->work && b->at_y && b->at_yp;
}

static bool allocate_work(binding *b)
{
    b->kinds = DAE_ARRAY(dae_kind, b->n);
    b->jumps = DAE_ARRAY(jump_trace, b->n);
    b->extent = DAE_ARRAY(double, b->n);
    b->step_start = (step_start){.y = DAE_ARRAY(double, b->n), .yp = DAE_ARRAY(double, b->n)};
    return b->step_start.y && b->step_start.yp && b->kinds && b->jumps && b->extent;
}

/* The method's own matrices, for the forms at hand. */
static bool renew_cache(binding *b)
{
    const method *m = b->method;
    if (!m->cache_new) return true;
    bool same = b->context.cache && b->cache_forms == b->context.forms;
    if (same && (!b->cache_used || !b->forms)) return true;
    if (b->context.cache) b->cache_method->cache_free(b->context.cache);
    b->context.cache = m->cache_new(&b->context);
    b->cache_method = m;
    b->cache_forms = b->context.forms;
    b->cache_used = false;
    return b->context.cache;
}

size_t binding_scratch_size(const binding *b)
{
    size_t state, scratch;
    method_size(b->method, b->n, &state, &scratch);
    return scratch;
}

bool binding_ready_method(binding *b)
{
    size_t scratch;
    if (b->values_only) return true;
    method_size(b->method, b->n, &b->state_size, &scratch);
    if (!b->state) b->state = dae_calloc(1, b->state_size);
    const bool looks = b->eval.instance; /* functions of time are known of models alone */
    if (looks && !b->kept) b->kept = dae_calloc(1, b->state_size + scratch);
    if (!b->scratch) b->scratch = dae_calloc(1, scratch);
    return b->state && (b->kept || !looks) && b->scratch && renew_cache(b);
}

static dae_status out_of_memory(const binding *b, dae_diag *diag)
{
    return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for %d variables.", b->n);
}

static void drop_output_projector(binding *b)
{
    part_free(b->refiner);
    initializer_free(b->output_projector);
    iteration_free(&b->view);
    b->refiner = NULL;
    b->output_projector = NULL;
    b->view = (iteration){0};
}

initializer *binding_output_projector(binding *b)
{
    if (b->output_projector) return b->output_projector;
    if (iteration_new(&b->view, &b->eval, &b->options, NULL) != DAE_OK ||
        initializer_new(&b->output_projector, &b->eval, &b->view, &b->options, NULL) != DAE_OK)
        drop_output_projector(b);
    return b->output_projector;
}

static void ends_release(binding *b)
{
    iteration_free(&b->ends);
    dae_free_all(b->end_off, b->end_beside);
    b->ends = (iteration){0};
    b->end_off = b->end_beside = NULL;
    b->ends_free = false;
}

void binding_empty(binding *b)
{
    if (b->context.cache) b->cache_method->cache_free(b->context.cache);
    b->context.cache = NULL;
    second_release(b);
    drop_output_projector(b);
    event_finder_free(b->events);
    initializer_free(b->init);
    newton_free(&b->newton);
    iteration_free(&b->matrix);
    ends_release(b);
    norm_free(&b->norm);
    dae_free_all(b->state, b->kept, b->scratch, b->kinds, b->y, b->yp, b->work, b->at_y, b->at_yp,
                 b->jumps, b->extent, b->step_start.y, b->step_start.yp, b->undetermined);
    followers_free(b->followers);
    b->undetermined = NULL;
    b->followers = NULL;
    b->terms.count = b->terms_within = 0;
    b->held_at = NAN;
    b->lost = 0;
    b->events = NULL;
    b->init = NULL;
    b->newton = (newton){0};
    b->matrix = (iteration){0};
    b->norm = (error_norm){0};
    b->state = b->kept = b->scratch = NULL;
    b->kinds = NULL;
    b->y = b->yp = b->work = b->at_y = b->at_yp = NULL;
    b->jumps = NULL;
    b->extent = NULL;
    b->step_start = (step_start){0};
}

/* ---- making ---- */

/* The smallest relative tolerance of any variable; 0 if the user makes the weights. */
static double finest_rtol(const dae_options *o, int n)
{
    if (o->weights) return 0.0;
    double least = o->rtol_by_unknown ? INFINITY : o->rtol;
    for (int i = 0; o->rtol_by_unknown && i < n; i++) least = fmin(least, o->rtol_by_unknown[i]);
    return least;
}

/* The iteration matrix; methods on forms have others, and seldom need it. */
static dae_status make_matrix(binding *b, dae_diag *diag)
{
    if (method_needs_form(b->method))
        return iteration_new_idle(&b->matrix, &b->eval, &b->options, diag);
    return iteration_new(&b->matrix, &b->eval, &b->options, diag);
}

/* That of the ends of steps, for methods whose iteration does not look at F there. */
static dae_status make_ends(binding *b, dae_diag *diag)
{
    ends_release(b);
    if (b->method->confirms && !b->eval.instance) return DAE_OK;
    b->end_off = DAE_ARRAY(double, b->n);
    b->end_beside = DAE_ARRAY(double, b->n);
    if (!b->end_off || !b->end_beside) return out_of_memory(b, diag);
    return iteration_new_idle(&b->ends, &b->eval, &b->options, diag);
}

/* Matrices, norms, Newton, the search for consistent values and for events. */
static dae_status make_tools(binding *b, dae_diag *diag)
{
    if (!norm_new(&b->norm, b->n, &b->options)) return out_of_memory(b, diag);
    dae_status status = make_matrix(b, diag);
    if (status == DAE_OK) status = make_ends(b, diag);
    if (status != DAE_OK) return status;
    if (!newton_new(&b->newton, &b->eval, &b->matrix, &b->norm, &b->options))
        return out_of_memory(b, diag);
    status = initializer_new(&b->init, &b->eval, &b->matrix, &b->options, diag);
    if (status != DAE_OK) return status;
    if (b->problem->form.event_count > 0)
        status = event_finder_new(&b->events, &b->eval, b->options.event_tolerance, diag);
    if (b->multipliers) b->norm.hidden = b->multipliers;
    return status;
}

/* Whether GMRES takes the place of factors: where it was chosen (linear_choice.h) for bdf on the
 * equations as they are given. */
static bool binding_iterates(const dae_solver *s)
{
    const binding *b = &s->bound;
    return s->wishes.iterative && b->method == &method_bdf && !b->forms && !b->rewritten &&
           b->options.linear_solver == DAE_LINEAR_AUTO;
}

/* Lowest rooms first. */
static dae_status fill(dae_solver *s, dae_diag *diag)
{
    binding *b = &s->bound;
    const invariant_set *invariants = s->monitors ? &s->monitors->set : NULL;
    b->finest_rtol = finest_rtol(&b->options, b->n);
    b->eval = (evaluator){.problem = b->problem,
                          .stats = &s->stats,
                          .forms = b->forms,
                          .stop = &s->stop,
                          .threads = s->threads,
                          .terms = &b->terms};
    if (s->hybrid) {
        b->eval.instance = s->hybrid->instance;
        if (!model_options(s->hybrid->instance->form, &b->options))
            return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for the model.");
    }
    if (binding_iterates(s)) b->options.linear_solver = DAE_LINEAR_GMRES;
    if (!allocate_values(b, s->base->form.n) || !allocate_work(b)) return out_of_memory(b, diag);
    dae_status status = make_tools(b, diag);
    if (status != DAE_OK) return status;
    if (!followers_bind(s)) return out_of_memory(b, diag);
    b->context =
        (method_context){.method = b->method,
                         .n = b->n,
                         .eval = &b->eval,
                         .newton = &b->newton,
                         .norm = &b->norm,
                         .forms = b->form_set,
                         .projection = b->options.projection,
                         .invariants = invariants && invariants->count > 0 ? invariants : NULL,
                         .options = &b->options,
                         .smooth = b->options.dense == DAE_DENSE_SMOOTH};
    if (!monitors_bind(s->monitors, b->form_set))
        return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for the monitors.");
    return second_bind(b, diag);
}

dae_status binding_fill(dae_solver *s, dae_diag *diag)
{
    dae_status status = fill(s, diag);
    if (status != DAE_OK) binding_empty(&s->bound);
    return status;
}

dae_status binding_replace(dae_solver *s, const dae_problem *problem, dae_options *options)
{
    binding *b = &s->bound;
    binding_empty(b);
    options_free(&b->options);
    b->options = *options;
    b->problem = problem;
    b->n = problem->form.n;
    s->run.phase = PHASE_NEW;
    return binding_fill(s, &s->diag);
}

dae_status binding_loosen(dae_solver *s)
{
    binding *b = &s->bound;
    binding_empty(b);
    options_free(&b->options);
    b->problem = s->base;
    b->n = s->base->form.n;
    s->run.phase = PHASE_NEW;
    dae_status status = options_copy(&b->options, &s->base_options, b->n, &s->diag);
    if (status == DAE_OK && !allocate_values(b, b->n)) {
        status = out_of_memory(b, &s->diag);
        binding_empty(b); /* all of them, or none */
    }
    return status;
}

/* Other velocities, or none: the method begins anew, with matrices for them. */
static dae_status renew_second(binding *b, dae_diag *diag)
{
    if (b->context.cache) b->cache_method->cache_free(b->context.cache);
    b->context.cache = NULL;
    dae_status status = second_bind(b, diag);
    if (status != DAE_OK || !b->context.second) return status;
    return renew_cache(b) ? DAE_OK : out_of_memory(b, diag);
}

dae_status binding_repattern(binding *b, const dae_problem *problem, dae_diag *diag)
{
    const long version = b->matrix.jac.layout_version;
    b->problem = b->eval.problem = problem;
    iteration_free(&b->matrix);
    b->matrix = (iteration){0};
    drop_output_projector(b);
    dae_status status = make_matrix(b, diag);
    if (status == DAE_OK) status = make_ends(b, diag);
    b->matrix.jac.layout_version = version + 1; /* methods keep maps of the layout before */
    newton_reset(&b->newton);
    if (status == DAE_OK && binding_second_order(b)) status = renew_second(b, diag);
    return status;
}

/* ---- questions ---- */

/* Which of the forms the set has. */
static unsigned forms_in(const form_set *set)
{
    if (!set) return 0;
    return (set->hessenberg ? FORM_HESSENBERG : 0u) | (set->mechanical ? FORM_MECHANICAL : 0u) |
           (set->quasilinear ? FORM_QUASILINEAR : 0u) | (set->manifold ? FORM_MANIFOLD : 0u) |
           (set->series ? FORM_SERIES : 0u);
}

bool binding_uses_forms(const binding *b)
{
    return (b->method->forms & forms_in(b->form_set)) != 0;
}

bool binding_has_all_rows(const binding *b)
{
    const quasilinear_form *q = b->form_set ? b->form_set->quasilinear : NULL;
    if (!q || !(b->method->forms & (FORM_QUASILINEAR | FORM_MANIFOLD))) return true;
    return q->ne + q->ng <= q->n;
}

bool binding_second_order(const binding *b)
{
    return (b->method->forms & FORM_SECOND_ORDER) != 0;
}
