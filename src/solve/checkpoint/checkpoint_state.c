/* The walk through a solver: each part is saved, made again, or of no more use (docs/checkpoint.md
 * has the table). */
#include <math.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"
#include "solve/begin/begin.h"
#include "solve/checkpoint/checkpoint.h"
#include "solve/hybrid/hybrid.h"
#include "solve/watch/refine.h"

static dae_status no_memory(dae_solver *s)
{
    return diag_set(&s->diag, DAE_ERR_MEMORY, "Out of memory for a checkpoint.");
}

/* ---- what plans are made by ---- */

static void wishes_persist(dae_solver *s, persist *p)
{
    wishes *w = &s->wishes;
    char reason[CHOICE_TEXT];
    memset(reason, 0, sizeof reason);
    strncpy(reason, w->reason, sizeof reason - 1);
    PERSIST(p, w->implicit);
    PERSIST(p, w->unfolded);
    PERSIST(p, w->failed);
    PERSIST(p, w->iterative);
    PERSIST(p, reason);
    PERSIST(p, s->why);
    if (!p->reading) return;
    memcpy(s->reason, reason, sizeof reason);
    s->reason[sizeof reason - 1] = s->why[sizeof s->why - 1] = '\0';
    w->reason = s->reason;
}

/* ---- what is integrated ---- */

/* A model: its memory, its modes, and the form of one of them. */
static dae_status bind_saved_model(dae_solver *s, persist *p)
{
    model_mode *current = NULL;
    char why[CHOICE_TEXT];
    memcpy(why, s->why, sizeof why);
    dae_status status = p->reading ? model_hold(s, &s->diag) : DAE_OK;
    if (status != DAE_OK) return status;
    hybrid_persist_memory(s, p);
    status = modes_persist(s, p, &current);
    if (!p->reading || status != DAE_OK || !persist_ok(p)) return status;
    double *values = DAE_ARRAY(double, 2 * (size_t)s->base->form.n);
    if (!values) return no_memory(s);
    const double *yp = values + s->base->form.n;
    status = current ? bind_mode(s, current, values, yp) : bind_written(s, values, yp);
    dae_free(values);
    memcpy(s->why, why, sizeof why);
    return status;
}

/* Positions that were chosen make another residual form. */
static dae_status bind_choice(dae_solver *s)
{
    binding *b = &s->bound;
    dae_problem *problem;
    dae_status status = form_residual_chosen(b->forms, s->base, &problem, &s->diag);
    if (status != DAE_OK) return status;
    status = binding_repattern(b, problem, &s->diag);
    dae_problem_free(b->rewritten);
    b->rewritten = problem;
    return status;
}

static dae_status bind_saved(dae_solver *s, persist *p)
{
    dae_status status = s->base->model ? bind_saved_model(s, p)
                        : p->reading   ? bind_callbacks(s, &s->diag)
                                       : DAE_OK;
    if (status != DAE_OK || !persist_ok(p)) return status;
    binding *b = &s->bound;
    persist_same_text(p, b->method->name, "another method is at work");
    persist_same(p, (uint64_t)b->n, "what is integrated has other unknowns");
    const bool chosen = b->forms && form_instance_persist(b->forms, p);
    return p->reading && chosen && b->rewritten && !s->hybrid ? bind_choice(s) : DAE_OK;
}

/* Values, kinds and weights of what is bound. */
static void values_persist(dae_solver *s, persist *p)
{
    binding *b = &s->bound;
    double *const values[] = {b->y, b->yp, b->extent, b->step_start.y, b->step_start.yp};
    for (size_t k = 0; k < sizeof values / sizeof *values; k++) PERSIST_ARRAY(p, values[k], b->n);
    PERSIST_ARRAY(p, b->kinds, b->n);
    PERSIST_ARRAY(p, b->jumps, b->n);
    PERSIST(p, b->step_start.judged);
    PERSIST(p, b->step_start.error);
    PERSIST(p, b->weights_sound);
    PERSIST(p, b->choices);
    PERSIST(p, b->context.error_test);
    if (p->reading) norm_classify(&b->norm, b->kinds, b->context.error_test);
    norm_persist(&b->norm, p);
    followers_persist(s, p);
}

/* ---- where the run stands ---- */

/* A vector of the last attempt, which lived in the memory of the method. */
static void last_vector(const double **vector, double *store, int n, persist *p)
{
    const bool there = persist_flag(p, *vector);
    double *values = p->reading ? store : (double *)*vector;
    if (there) PERSIST_ARRAY(p, values, n);
    if (p->reading) *vector = there ? store : NULL;
}

static void last_persist(dae_solver *s, persist *p)
{
    attempt *a = &s->run.last;
    const int n = s->bound.n;
    if (p->reading) {
        dae_free(s->run.last_values);
        s->run.last_values = DAE_ARRAY(double, 4 * (size_t)n);
        p->no_memory = p->no_memory || !s->run.last_values;
    }
    if (!persist_ok(p)) return;
    double *store = s->run.last_values;
    PERSIST_STRUCT(p, a, GAPS(attempt, y, estimate), GAP(attempt, scale), GAP(attempt, reason));
    const double **vectors[] = {&a->y, &a->yp, &a->estimate, &a->scale};
    for (int k = 0; k < 4; k++)
        last_vector(vectors[k], p->reading ? store + (size_t)k * (size_t)n : NULL, n, p);
    if (p->reading) a->reason = NULL;
}

/* An array that is there or not, of numbers per unknown of the user. */
static void optional_persist(double **values, size_t count, persist *p)
{
    const bool there = persist_flag(p, *values);
    if (p->reading && there && !*values) {
        *values = DAE_ARRAY(double, count);
        p->no_memory = p->no_memory || !*values;
    }
    if (there && *values) PERSIST_ARRAY(p, *values, count);
    if (p->reading && !there && *values) memset(*values, 0, count * sizeof **values);
}

static void run_persist(dae_solver *s, persist *p)
{
    run_state *r = &s->run;
    const size_t n = (size_t)s->base->form.n;
    PERSIST_STRUCT(p, r, GAP(run_state, code), GAP(run_state, past),
                   GAPS(run_state, last, last_values), GAP(run_state, sizes),
                   GAP(run_state, floors), GAPS(run_state, history, past_y));
    PERSIST(p, r->past.t);
    PERSIST(p, r->past.step);
    optional_persist(&r->past.values, 4 * n, p);
    optional_persist(&r->sizes, 2 * n, p);
    optional_persist(&r->floors, 2 * n, p);
    last_persist(s, p);
    if (p->reading) r->history = 0;
    PERSIST(p, s->stats);
    PERSIST(p, s->diag);
    if (s->monitors) monitors_persist(s->monitors, p);
}

/* ---- the method ---- */

/* Matrices and memory of the method, and what it finds out where it starts: at the end of the last
 * step, whose values are given. */
static dae_status start_again(dae_solver *s, const double *y, const double *yp)
{
    binding *b = &s->bound;
    const double t = s->run.t_new;
    if (b->forms) form_instance_look(b->forms, t, y);
    dae_status status = binding_second_order(b) ? second_find(s, t) : DAE_OK;
    if (status == DAE_OK) status = solver_ready_method(s);
    if (status != DAE_OK || s->run.phase == PHASE_READY) return status;
    const start_point at = {.t = t, .h = s->run.control.h, .y = y, .yp = yp};
    b->context.fixed_steps = steps_are_given(&b->options);
    b->method->start(b->state, b->scratch, &b->context, &at);
    b->cache_used = true;
    return DAE_OK;
}

static dae_status method_saved(dae_solver *s, persist *p)
{
    binding *b = &s->bound;
    const size_t n = (size_t)b->n;
    const bool steps = s->run.phase != PHASE_READY;
    double *point = DAE_ARRAY(double, 2 * n);
    dae_status status = DAE_OK;
    if (!point) return no_memory(s);
    if (!p->reading) {
        if (steps) solver_interpolate(s, s->run.t_new, 0, point);
        if (steps) solver_interpolate(s, s->run.t_new, 1, point + n);
        if (!steps) memcpy(point, b->y, n * sizeof *point);
        if (!steps) memcpy(point + n, b->yp, n * sizeof *point);
    }
    PERSIST_ARRAY(p, point, 2 * n);
    if (p->reading && persist_ok(p)) status = start_again(s, point, point + n);
    dae_free(point);
    if (status == DAE_OK && steps && persist_ok(p))
        method_persist(&b->context, b->state, b->scratch, p);
    return status;
}

/* ---- all of it ---- */

/* F where the run stands: equations whose callbacks, parameters or inputs are others show it. */
static dae_status fingerprint_persist(dae_solver *s, persist *p)
{
    binding *b = &s->bound;
    uint64_t hash = 0;
    long counter = 0;
    const eval_failure failure = b->eval.failure;
    const double *y = s->run.phase == PHASE_READY ? b->y : s->run.last.y;
    const double *yp = s->run.phase == PHASE_READY ? b->yp : s->run.last.yp;
    if (y && yp && evaluate_residual(&b->eval, s->run.t_new, y, yp, b->work, &counter) == EVAL_OK)
        hash = checksum(1, b->work, (size_t)b->n * sizeof *b->work);
    b->eval.failure = failure;
    persist_same(p, hash, "the equations give other values where the run was saved");
    return DAE_OK;
}

/* Derivatives, factors and what is known of them; matrices of the method. */
static dae_status matrices_saved(dae_solver *s, persist *p)
{
    binding *b = &s->bound;
    iteration_persist(&b->matrix, p);
    if (b->ends.eval) iteration_persist(&b->ends, p);
    PERSIST(p, b->ends_free);
    PERSIST(p, b->terms);
    PERSIST(p, b->terms_within);
    PERSIST(p, b->held_at);
    PERSIST(p, b->lost);
    PERSIST(p, b->lost_of);
    const bool undetermined = persist_flag(p, b->undetermined != NULL);
    if (p->reading && undetermined && !b->undetermined) b->undetermined = DAE_ARRAY(bool, b->n);
    if (undetermined && !b->undetermined) p->no_memory = true;
    if (undetermined && persist_ok(p)) PERSIST_ARRAY(p, b->undetermined, (size_t)b->n);
    newton_persist(&b->newton, p);
    initializer_persist(b->init, p);
    if (b->ode) ode_form_persist(b->ode, p);
    const bool cache = persist_flag(p, b->context.cache != NULL);
    if (cache != (b->context.cache != NULL)) persist_refuse(p, "a part is missing");
    if (cache && persist_ok(p) && b->method->cache_persist)
        b->method->cache_persist(b->context.cache, &b->context, p);
    return DAE_OK;
}

/* What values inside steps are made with. */
static dae_status outputs_saved(dae_solver *s, persist *p)
{
    binding *b = &s->bound;
    if (persist_flag(p, b->output_projector != NULL)) {
        if (!binding_output_projector(b)) return no_memory(s);
        iteration_persist(&b->view, p);
        initializer_persist(b->output_projector, p);
    }
    refine_persist(s, p);
    return DAE_OK;
}

typedef dae_status (*part_fn)(dae_solver *s, persist *p);

static dae_status wishes_part(dae_solver *s, persist *p)
{
    wishes_persist(s, p);
    return DAE_OK;
}

static dae_status values_part(dae_solver *s, persist *p)
{
    values_persist(s, p);
    run_persist(s, p);
    return DAE_OK;
}

static dae_status events_part(dae_solver *s, persist *p)
{
    dae_status status = s->hybrid ? hybrid_persist(s, p) : DAE_OK;
    if (status == DAE_OK && s->bound.events) event_finder_persist(s->bound.events, p);
    return status;
}

dae_status state_persist(dae_solver *s, persist *p)
{
    static const part_fn parts[] = {wishes_part,  bind_saved,         values_part,
                                    method_saved, matrices_saved,     outputs_saved,
                                    events_part,  fingerprint_persist};
    dae_stats stats = s->stats;
    dae_status status = DAE_OK;
    for (size_t k = 0; status == DAE_OK && k < sizeof parts / sizeof *parts && persist_ok(p); k++) {
        status = parts[k](s, p);
        persist_same(p, k, "its parts do not follow each other as they should");
        if (k == 2) stats = s->stats; /* behind that they only count what is made anew */
    }
    if (status == DAE_OK && p->no_memory) status = no_memory(s);
    s->stats = stats;
    return status;
}
