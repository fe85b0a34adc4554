#include "solve/hybrid.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"
#include "solve/solver.h"

/* Passes of an event iteration before it is given up as chattering. */
enum { MOST_PASSES = 100 };

/* Part of atol below which a crossing function counts as zero: well above the rounding of values
 * that the equations hold at zero, and well below what any tolerance can resolve. */
static const double NOISE_OF_ATOL = 1e-4;

/* ---- life ---- */

hybrid *hybrid_new(const model_form *form)
{
    const flat_model *m = form->flat;
    hybrid *h = DAE_NEW(hybrid);
    if (!h) return NULL;
    h->instance = model_instance_new(form);
    h->next_sample = DAE_ARRAY(double, m->sample_count);
    h->crossing = DAE_ARRAY(double, m->relation_count);
    h->assertion = DAE_ARRAY(double, m->assert_count);
    h->warned = DAE_ARRAY(bool, m->assert_count);
    h->ahead = DAE_ARRAY(double, form->n);
    h->ahead_yp = DAE_ARRAY(double, form->n);
    h->before = DAE_ARRAY(double, m->memory_count);
    h->start = DAE_ARRAY(double, form->n);
    if (h->start && h->instance && h->next_sample && h->crossing && h->assertion && h->warned &&
        h->ahead && h->before)
        return h;
    hybrid_free(h);
    return NULL;
}

void hybrid_free(hybrid *h)
{
    if (!h) return;
    model_instance_free(h->instance);
    dae_free(h->next_sample);
    dae_free(h->crossing);
    dae_free(h->assertion);
    dae_free(h->warned);
    dae_free(h->ahead);
    dae_free(h->ahead_yp);
    dae_free(h->before);
    dae_free(h->start);
    dae_solver_free(h->initial_solver);
    dae_problem_free(h->initial_problem);
    model_instance_free(h->initial);
    dae_free(h->initial_y);
    dae_free(h->initial_yp);
    dae_free(h);
}

/* A problem and a solver for the initial system. */
static dae_status new_initial(dae_solver *s)
{
    hybrid *h = s->hybrid;
    model_form *form = h->instance->form->initial;
    dae_residual r;
    dae_options options = dae_options_default();
    options.rtol = s->options.rtol;
    options.atol = s->options.atol;
    options.init = DAE_INIT_DERIVATIVE;
    options.init_iterations = s->options.init_iterations;
    options.init_tolerance = s->options.init_tolerance;
    h->initial = model_instance_new(form);
    h->initial_y = DAE_ARRAY(double, form->n);
    h->initial_yp = DAE_ARRAY(double, form->n);
    if (!h->initial || !h->initial_y || !h->initial_yp)
        return diag_set(&s->diag, DAE_ERR_MEMORY, "Out of memory for the initial equations.");
    model_form_describe(form, &r);
    r.user = h->initial;
    dae_status status = dae_problem_from_residual(&r, &h->initial_problem, &s->diag);
    if (status != DAE_OK) return status;
    return dae_solver_new(h->initial_problem, &options, &h->initial_solver, &s->diag);
}

/* Solve F = 0, initial equations and kept start values for y and y' at once. */
static dae_status solve_initial(dae_solver *s, double t)
{
    hybrid *h = s->hybrid;
    const model_form *form = h->instance->form, *initial = form->initial;
    size_t parameters = form->flat->parameter_count;
    dae_status status = h->initial_solver ? DAE_OK : new_initial(s);
    if (status != DAE_OK) return status;
    memcpy(h->initial->parameters, h->instance->parameters, parameters * sizeof(double));
    memcpy(h->initial->memory, h->instance->memory,
           (size_t)form->flat->memory_count * sizeof(double));
    for (int k = 0; k < initial->pinned_count; k++)
        h->initial->parameters[parameters + (size_t)k] = h->start[initial->pinned[k]];
    model_instance_prepare(h->initial);
    vector_copy(s->n, s->y, h->initial_y);
    for (int i = s->n; i < initial->n; i++) h->initial_y[i] = s->yp[initial->slope_of[i]];
    vector_zero(initial->n, h->initial_yp);
    status = dae_solver_start(h->initial_solver, t, h->initial_y, h->initial_yp);
    if (status != DAE_OK) {
        s->diag = *dae_solver_diag(h->initial_solver);
        return status;
    }
    dae_solver_at(h->initial_solver, t, 0, h->initial_y);
    vector_copy(s->n, h->initial_y, s->y);
    for (int i = s->n; i < initial->n; i++) s->yp[initial->slope_of[i]] = h->initial_y[i];
    return DAE_OK;
}

static const flat_model *flat_of(const dae_solver *s)
{
    return s->hybrid->instance->form->flat;
}

static double value_at(const dae_solver *s, double t, expr e)
{
    return model_instance_value(s->hybrid->instance, t, s->y, s->yp, e);
}

/* ---- options and engine ---- */

/* The flat variable that stands for v, and the sign between them. */
static int root_of(const model_form *f, int v, int *sign)
{
    *sign = 1;
    while (f->alias[v].root != v) {
        *sign *= f->alias[v].sign;
        v = f->alias[v].root;
    }
    return v;
}

/* With initial equations, y tags: fixed values stay, others are guesses. */
static bool tag_fixed(const model_form *f, dae_options *options)
{
    dae_tag *tags = DAE_ARRAY(dae_tag, f->n);
    if (!tags) return false;
    for (size_t v = 0; v < f->flat->variable_count; v++) {
        const flat_variable *q = &f->flat->variables[v];
        int sign, first = q->discrete ? -1 : f->first_unknown[root_of(f, (int)v, &sign)];
        if (first >= 0 && q->fixed) tags[first] = DAE_TAG_FIXED;
    }
    options->y_tags = tags;
    return true;
}

/* atol_i = atol |nominal_i| */
static bool scale_by_nominal(const model_form *f, dae_options *options)
{
    double *atol = DAE_ARRAY(double, f->n);
    if (!atol) return false;
    for (int i = 0; i < f->n; i++) {
        const flat_variable *q = &f->flat->variables[f->unknown_variable[i]];
        double nominal = fabs(model_form_constant(f, q->nominal));
        atol[i] = options->atol * (isfinite(nominal) && nominal > 0.0 ? nominal : 1.0);
    }
    options->atol_by_variable = atol;
    return true;
}

static bool any_nominal(const model_form *f)
{
    for (size_t v = 0; v < f->flat->variable_count; v++)
        if (f->flat->variables[v].nominal != EXPR_NONE) return true;
    return false;
}

bool hybrid_options(const model_form *f, dae_options *options)
{
    bool tags = f->flat->initial_count > 0 && !f->initial && !options->y_tags;
    bool nominal = any_nominal(f) && !options->atol_by_variable;
    return (!tags || tag_fixed(f, options)) && (!nominal || scale_by_nominal(f, options));
}

static void tell(dae_solver *s, const char *text)
{
    if (s->options.message) s->options.message(text, s->options.user);
}

void hybrid_consider_compiling(dae_solver *s)
{
    model_instance *m = s->hybrid->instance;
    dae_engine engine = s->problem->engine;
    if (s->compile_tried || engine == DAE_ENGINE_TAPE) return;
    if (engine == DAE_ENGINE_AUTO && !model_instance_worth_compiling(m)) return;
    s->compile_tried = true;
    char reason[256] = "", text[400];
    native_status status = model_instance_compile(m, reason);
    if (status == NATIVE_OK || (engine == DAE_ENGINE_AUTO && status == NATIVE_NO_COMPILER)) return;
    snprintf(text, sizeof text, "note: the model runs on the tape, without native code: %s",
             reason[0] ? reason : "there is no C compiler");
    tell(s, text);
}

/* ---- start values ---- */

/* The start value of flat variable v: set from outside, or its attribute; NAN if there is none. */
static double start_value(const model_form *f, size_t v)
{
    if (!isnan(f->start[v])) return f->start[v];
    const flat_variable *q = &f->flat->variables[v];
    return q->has_start ? model_form_constant(f, q->start) : NAN;
}

void hybrid_start_values(dae_solver *s)
{
    const model_form *f = s->hybrid->instance->form;
    vector_zero(s->n, s->y);
    vector_zero(s->n, s->yp);
    for (int pass = 0; pass < 2; pass++) /* fixed values, and those of the root itself, win */
        for (size_t v = 0; v < f->flat->variable_count; v++) {
            const flat_variable *q = &f->flat->variables[v];
            if (q->discrete) continue;
            int sign, root = root_of(f, (int)v, &sign);
            double value = start_value(f, v);
            bool strong = q->fixed || root == (int)v;
            if (f->first_unknown[root] >= 0 && !isnan(value) && strong == (pass == 1))
                s->y[f->first_unknown[root]] = sign * value;
        }
}

/* ---- memory ---- */

/* Discrete variables and pre values from their start attributes, flags cleared. */
static void start_memory(dae_solver *s)
{
    const model_form *f = s->hybrid->instance->form;
    double *memory = s->hybrid->instance->memory;
    for (int k = 0; k < f->flat->memory_count; k++) memory[k] = 0.0;
    for (size_t v = 0; v < f->flat->variable_count; v++) {
        const flat_variable *q = &f->flat->variables[v];
        if (!q->discrete) continue;
        double value = start_value(f, v);
        memory[q->memory] = memory[q->memory_pre] = isnan(value) ? 0.0 : value;
    }
}

/* pre(v) := v, for variables and conditions of when */
static void take_pre(dae_solver *s)
{
    const flat_model *m = flat_of(s);
    double *memory = s->hybrid->instance->memory;
    for (size_t v = 0; v < m->variable_count; v++)
        if (m->variables[v].discrete)
            memory[m->variables[v].memory_pre] = memory[m->variables[v].memory];
    for (size_t w = 0; w < m->when_count; w++)
        for (size_t b = 0; b < m->whens[w].branch_count; b++) {
            const flat_branch *q = &m->whens[w].branches[b];
            memory[q->memory_pre] = memory[q->memory];
        }
}

/* A moment ahead of t: differential variables on their tangent, algebraic ones by the equations. */
static double look_ahead(dae_solver *s, double t)
{
    hybrid *h = s->hybrid;
    double span = fmax(fabs(s->stats.last_h), fabs(t));
    double delta = 1e-9 * (span > 0.0 ? span : 1.0);
    if (s->stats.last_h < 0.0) delta = -delta;
    for (int i = 0; i < s->n; i++) {
        bool moves = s->kinds[i] == DAE_KIND_DIFFERENTIAL;
        h->ahead[i] = s->y[i] + (moves ? delta * s->yp[i] : 0.0);
        h->ahead_yp[i] = s->yp[i];
    }
    initializer_project(s->init, t + delta, delta, s->kinds, s->norm.weights, h->ahead,
                        h->ahead_yp);
    return t + delta;
}

/* Where the relations are heading: their values a moment later, so that a solution that leaves zero
 * after an event is already on its new side. One that stays at zero keeps its value. */
static void update_relations(dae_solver *s, double t)
{
    hybrid *h = s->hybrid;
    const flat_model *m = flat_of(s);
    if (m->relation_count == 0) return;
    double soon = look_ahead(s, t);
    for (size_t r = 0; r < m->relation_count; r++) {
        const flat_relation *q = &m->relations[r];
        double now = model_instance_value(h->instance, t, s->y, s->yp, q->crossing);
        double later = model_instance_value(h->instance, soon, h->ahead, h->ahead_yp, q->crossing);
        /* Far from zero the present counts; at zero, the future. */
        double c = fabs(now) > fabs(later - now) ? now : later;
        if (fabs(c) > h->instance->noise) h->instance->memory[q->memory] = c < 0.0;
    }
}

/* First guess of the relations, from the start values alone. */
static void start_relations(dae_solver *s, double t)
{
    const flat_model *m = flat_of(s);
    for (size_t r = 0; r < m->relation_count; r++) {
        const flat_relation *q = &m->relations[r];
        double c = value_at(s, t, q->crossing);
        s->hybrid->instance->memory[q->memory] = q->strict ? c < 0.0 : c <= 0.0;
    }
}

/* Discrete variables defined by equations outside when, in their order. */
static void update_discretes(dae_solver *s, double t)
{
    const flat_model *m = flat_of(s);
    double *memory = s->hybrid->instance->memory;
    for (size_t i = 0; i < m->discrete_count; i++) {
        const flat_discrete *q = &m->discretes[i];
        memory[m->variables[q->variable].memory] = value_at(s, t, q->value);
    }
}

/* ---- actions ---- */

static dae_status fail_action(dae_solver *s, double t, const flat_action *a)
{
    const flat_model *m = flat_of(s);
    s->diag.t = t;
    s->diag.line = a->place.line;
    return diag_set(&s->diag, DAE_ERR_ASSERT, "%s:%d: assertion failed at t = %.9g: %s",
                    m->file ? m->file : m->name, a->place.line, t, a->message);
}

/* y of variable v := value */
static void reinit(dae_solver *s, int v, double value)
{
    const model_form *f = s->hybrid->instance->form;
    int sign;
    v = root_of(f, v, &sign);
    if (f->first_unknown[v] >= 0) s->y[f->first_unknown[v]] = sign * value;
}

static dae_status perform(dae_solver *s, double t, const flat_action *a)
{
    const flat_model *m = flat_of(s);
    double *memory = s->hybrid->instance->memory;
    switch (a->kind) {
    case ACTION_ASSIGN: memory[m->variables[a->variable].memory] = value_at(s, t, a->value); break;
    case ACTION_REINIT: reinit(s, a->variable, value_at(s, t, a->value)); break;
    case ACTION_ASSERT:
        if (value_at(s, t, a->value) != 0.0) break;
        if (!a->warning) return fail_action(s, t, a);
        tell(s, a->message);
        break;
    case ACTION_TERMINATE:
        s->terminated = true;
        diag_set(&s->diag, DAE_OK, "%s:%d: terminated at t = %.9g: %s", m->file ? m->file : m->name,
                 a->place.line, t, a->message);
        break;
    }
    return DAE_OK;
}

/* The first branch whose condition has just become true acts. */
static dae_status fire_when(dae_solver *s, double t, const flat_when *w, bool initial)
{
    double *memory = s->hybrid->instance->memory;
    const flat_branch *active = NULL;
    for (size_t b = 0; b < w->branch_count; b++) {
        const flat_branch *q = &w->branches[b];
        bool now = value_at(s, t, q->condition) != 0.0;
        bool edge = initial ? q->at_initial && memory[q->memory_pre] == 0.0 && now
                            : now && memory[q->memory_pre] == 0.0;
        memory[q->memory] = now;
        if (edge && !active) active = q;
    }
    dae_status status = DAE_OK;
    for (size_t i = 0; active && i < active->action_count && status == DAE_OK; i++)
        status = perform(s, t, &active->actions[i]);
    return status;
}

/* ---- event iteration ---- */

static bool memory_changed(const dae_solver *s)
{
    const hybrid *h = s->hybrid;
    return memcmp(h->before, h->instance->memory,
                  (size_t)flat_of(s)->memory_count * sizeof(double)) != 0;
}

/* Name what differs between the last two passes. */
static dae_status explain_chattering(dae_solver *s, double t)
{
    const flat_model *m = flat_of(s);
    const hybrid *h = s->hybrid;
    s->diag.t = t;
    diag_set(
        &s->diag, DAE_ERR_EVENT,
        "The event iteration at t = %.9g does not settle after %d passes. These keep changing:", t,
        MOST_PASSES);
    int named = 0;
    for (size_t v = 0; v < m->variable_count && named < 5; v++) {
        const flat_variable *q = &m->variables[v];
        if (!q->discrete || h->before[q->memory] == h->instance->memory[q->memory]) continue;
        diag_append(&s->diag, " %s", q->name);
        diag_variable(&s->diag, (int)v, q->name);
        named++;
    }
    for (size_t r = 0; r < m->relation_count && named < 5; r++) {
        const flat_relation *q = &m->relations[r];
        if (h->before[q->memory] == h->instance->memory[q->memory]) continue;
        diag_append(&s->diag, " the relation in line %d", q->place.line);
        s->diag.line = q->place.line;
        named++;
    }
    diag_append(&s->diag, ". Add hysteresis, or noEvent(..) where no event is meant.");
    return DAE_ERR_EVENT;
}

/* One pass: discrete equations and when, then consistent continuous values, then relations. */
static dae_status pass(dae_solver *s, double t, bool initial, dae_init mode)
{
    const flat_model *m = flat_of(s);
    update_discretes(s, t);
    dae_status status = DAE_OK;
    for (size_t w = 0; w < m->when_count && status == DAE_OK; w++)
        status = fire_when(s, t, &m->whens[w], initial);
    if (status != DAE_OK) return status;
    model_instance_prepare(s->hybrid->instance);
    if (initial && s->hybrid->instance->form->initial) {
        status = solve_initial(s, t);
        if (status != DAE_OK) return status;
        mode = DAE_INIT_DIFFERENTIAL;
    }
    status = solver_begin(s, t, mode);
    if (status == DAE_OK) update_relations(s, t);
    return status;
}

/* Passes until nothing changes. */
static dae_status iterate_events(dae_solver *s, double t, bool initial, dae_init mode)
{
    hybrid *h = s->hybrid;
    size_t bytes = (size_t)flat_of(s)->memory_count * sizeof(double);
    for (int k = 0; k < MOST_PASSES; k++) {
        memcpy(h->before, h->instance->memory, bytes);
        dae_status status = pass(s, t, initial, mode);
        if (status != DAE_OK) return status;
        if (!memory_changed(s)) return DAE_OK;
        take_pre(s);
    }
    return explain_chattering(s, t);
}

/* After the event: flags down, conditions of when as they are now, without acting. */
static void settle(dae_solver *s, double t)
{
    const flat_model *m = flat_of(s);
    double *memory = s->hybrid->instance->memory;
    memory[m->memory_initial] = 0.0;
    for (size_t i = 0; i < m->sample_count; i++) memory[m->samples[i].memory] = 0.0;
    update_discretes(s, t);
    for (size_t w = 0; w < m->when_count; w++)
        for (size_t b = 0; b < m->whens[w].branch_count; b++) {
            const flat_branch *q = &m->whens[w].branches[b];
            memory[q->memory] = value_at(s, t, q->condition) != 0.0;
        }
    take_pre(s);
    model_instance_prepare(s->hybrid->instance);
}

/* ---- time events ---- */

double hybrid_next_time(const hybrid *h)
{
    double next = INFINITY;
    for (size_t i = 0; i < h->instance->form->flat->sample_count; i++)
        next = fmin(next, h->next_sample[i]);
    return next;
}

/* Raise the flags of samples due at t, and set their next times. */
static void raise_samples(dae_solver *s, double t)
{
    const flat_model *m = flat_of(s);
    hybrid *h = s->hybrid;
    for (size_t i = 0; i < m->sample_count; i++) {
        double start = model_form_constant(h->instance->form, m->samples[i].start);
        double interval = model_form_constant(h->instance->form, m->samples[i].interval);
        double slack = 16.0 * DBL_EPSILON * fmax(fabs(t), fabs(start));
        bool due = h->next_sample[i] <= t + slack;
        h->instance->memory[m->samples[i].memory] = due;
        if (!due) continue;
        double k = floor((t - start + slack) / interval + 1e-9);
        h->next_sample[i] = start + (k + 1.0) * interval;
    }
}

/* First sample times at or after t. */
static dae_status start_samples(dae_solver *s, double t)
{
    const flat_model *m = flat_of(s);
    hybrid *h = s->hybrid;
    for (size_t i = 0; i < m->sample_count; i++) {
        double start = model_form_constant(h->instance->form, m->samples[i].start);
        double interval = model_form_constant(h->instance->form, m->samples[i].interval);
        if (!isfinite(start) || !(interval > 0.0) || !isfinite(interval)) {
            s->diag.line = m->samples[i].place.line;
            return diag_set(&s->diag, DAE_ERR_ARGUMENT,
                            "%s:%d: sample(%g, %g) needs a finite start and a positive interval.",
                            m->file ? m->file : m->name, m->samples[i].place.line, start, interval);
        }
        double k = ceil((t - start) / interval - 1e-9);
        h->next_sample[i] = k > 0.0 ? start + k * interval : start;
    }
    return DAE_OK;
}

/* ---- where an event happens ---- */

/* The crossing function of relation r at t, with variables that meet the equations. */
static double crossing_at(dae_solver *s, double t, size_t r)
{
    hybrid *h = s->hybrid;
    solver_interpolate(s, t, 0, h->ahead);
    solver_interpolate(s, t, 1, h->ahead_yp);
    initializer_project(s->init, t, s->t_new - s->t_old, s->kinds, s->norm.weights, h->ahead,
                        h->ahead_yp);
    return model_instance_value(h->instance, t, h->ahead, h->ahead_yp,
                                flat_of(s)->relations[r].crossing);
}

static bool has_algebraic(const dae_solver *s)
{
    for (int i = 0; i < s->n; i++)
        if (s->kinds[i] != DAE_KIND_DIFFERENTIAL) return true;
    return false;
}

/* The first time from s->t on at which relation r has crossed in direction `flag`, by doubling and
 * bisection; s->t if it is not found within the step. */
static double crossing_time(dae_solver *s, size_t r, int flag)
{
    double near = s->t, reach = 1e-12 * (s->t_new - s->t_old), far = near;
    if (crossing_at(s, near, r) * flag > 0.0) return near;
    do {
        near = far;
        far = s->t + reach;
        if ((far - s->t_new) * s->direction >= 0.0) return s->t;
        reach *= 4.0;
    } while (crossing_at(s, far, r) * flag <= 0.0);
    for (int k = 0; k < 60 && far != near; k++) {
        double middle = 0.5 * (near + far);
        if (middle == near || middle == far) break;
        if (crossing_at(s, middle, r) * flag > 0.0)
            far = middle;
        else
            near = middle;
    }
    return far;
}

bool hybrid_relation_changes(const dae_solver *s)
{
    const flat_model *m = flat_of(s);
    const int *flags = event_finder_flags(s->events);
    for (size_t r = 0; r < m->relation_count; r++) {
        bool held = s->hybrid->instance->memory[m->relations[r].memory] != 0.0;
        if (flags[r] != 0 && held != (flags[r] < 0)) return true;
    }
    return false;
}

void hybrid_polish(dae_solver *s)
{
    const flat_model *m = flat_of(s);
    const int *flags = event_finder_flags(s->events);
    if (!has_algebraic(s)) return;
    double latest = s->t;
    for (size_t r = 0; r < m->relation_count; r++)
        if (flags[r] != 0) {
            double when = crossing_time(s, r, flags[r]);
            if ((when - latest) * s->direction > 0.0) latest = when;
        }
    s->t = latest;
}

/* ---- the three entries ---- */

dae_status hybrid_start(dae_solver *s, double t)
{
    const flat_model *m = flat_of(s);
    hybrid *h = s->hybrid;
    h->pending = false;
    s->terminated = false;
    vector_copy(s->n, s->y, h->start);
    model_instance_load(h->instance);
    start_memory(s);
    dae_status status = start_samples(s, t);
    if (status != DAE_OK) return status;
    for (size_t i = 0; i < m->assert_count; i++) h->warned[i] = false;
    h->instance->memory[m->memory_initial] = 1.0;
    raise_samples(s, t);
    h->instance->noise = NOISE_OF_ATOL * s->options.atol;
    start_relations(s, t);
    model_instance_prepare(h->instance);
    status = iterate_events(s, t, true, s->options.init);
    if (status != DAE_OK) return status;
    settle(s, t);
    return hybrid_check(s, t, s->y, s->yp);
}

dae_status hybrid_update(dae_solver *s)
{
    hybrid *h = s->hybrid;
    double t = s->t;
    solver_interpolate(s, t, 0, s->y);
    solver_interpolate(s, t, 1, s->yp);
    const flat_model *m = flat_of(s);
    take_pre(s);
    if (h->time_event) raise_samples(s, t);
    const int *flags = s->events && !h->time_event ? event_finder_flags(s->events) : NULL;
    for (size_t r = 0; flags && r < m->relation_count; r++)
        if (flags[r] != 0) h->instance->memory[m->relations[r].memory] = flags[r] < 0;
    h->pending = false;
    dae_status status = iterate_events(s, t, false, DAE_INIT_DIFFERENTIAL);
    if (status != DAE_OK) return status;
    settle(s, t);
    if (s->terminated) s->phase = PHASE_ENDED;
    return hybrid_check(s, t, s->y, s->yp);
}

dae_status hybrid_check(dae_solver *s, double t, const double *y, const double *yp)
{
    const flat_model *m = flat_of(s);
    hybrid *h = s->hybrid;
    if (m->assert_count == 0) return DAE_OK;
    model_instance_assertions(h->instance, t, y, yp, h->assertion);
    for (size_t i = 0; i < m->assert_count; i++) {
        if (h->assertion[i] != 0.0) continue;
        if (!m->asserts[i].warning) return fail_action(s, t, &m->asserts[i]);
        if (!h->warned[i]) tell(s, m->asserts[i].message);
        h->warned[i] = true;
    }
    return DAE_OK;
}
