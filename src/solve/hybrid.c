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

/* So many events within CROWD_SPAN of the time since the start are no progress: at that rate the
 * same time again would take 10^8 of them. */
enum { MOST_CROWDED = 1000 };
static const double CROWD_SPAN = 1e-5;

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
    h->sample = DAE_ARRAY(sample_clock, m->sample_count);
    h->crossing = DAE_ARRAY(double, m->relation_count);
    h->crossing_ahead = DAE_ARRAY(double, m->relation_count);
    h->decided = DAE_ARRAY(bool, m->relation_count);
    h->zero = DAE_ARRAY(double, m->relation_count);
    h->active = DAE_ARRAY(int, m->when_count);
    h->reset = DAE_ARRAY(double, form->n);
    h->is_reset = DAE_ARRAY(bool, form->n);
    h->fixed_by = DAE_ARRAY(int, form->n);
    h->assertion = DAE_ARRAY(double, m->assert_count);
    h->warned = DAE_ARRAY(bool, m->assert_count);
    h->ahead = DAE_ARRAY(double, form->n);
    h->ahead_yp = DAE_ARRAY(double, form->n);
    h->before = DAE_ARRAY(double, m->memory_count);
    h->start = DAE_ARRAY(double, form->n);
    h->next_time = INFINITY;
    if (h->start && h->instance && h->sample && h->crossing && h->crossing_ahead && h->decided &&
        h->zero && h->active && h->reset && h->is_reset && h->fixed_by && h->assertion &&
        h->warned && h->ahead && h->ahead_yp && h->before)
        return h;
    hybrid_free(h);
    return NULL;
}

static void drop_initial(hybrid *h)
{
    dae_solver_free(h->initial_solver);
    dae_problem_free(h->initial_problem);
    model_instance_free(h->initial);
    dae_free(h->initial_y);
    dae_free(h->initial_yp);
    h->initial_solver = NULL;
    h->initial_problem = NULL;
    h->initial = NULL;
    h->initial_y = h->initial_yp = NULL;
}

void hybrid_free(hybrid *h)
{
    if (!h) return;
    model_instance_free(h->instance);
    dae_free(h->sample);
    dae_free(h->crossing);
    dae_free(h->crossing_ahead);
    dae_free(h->decided);
    dae_free(h->zero);
    dae_free(h->active);
    dae_free(h->reset);
    dae_free(h->is_reset);
    dae_free(h->fixed_by);
    dae_free(h->assertion);
    dae_free(h->warned);
    dae_free(h->ahead);
    dae_free(h->ahead_yp);
    dae_free(h->before);
    dae_free(h->start);
    drop_initial(h);
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

/* The line of the equation that a diagnostic names. */
static void tell_line(const model_form *f, dae_diag *diag)
{
    if (diag->line == 0 && diag->equation >= 0 && diag->equation < f->n)
        diag->line = f->equation_lines[diag->equation];
}

/* Solve F = 0, initial equations and kept start values for y and y' at once. */
static dae_status solve_initial(dae_solver *s, double t)
{
    hybrid *h = s->hybrid;
    const model_form *form = h->instance->form, *initial = form->initial;
    size_t parameters = form->flat->parameter_count;
    dae_status status = h->initial_solver ? DAE_OK : new_initial(s);
    if (status != DAE_OK) {
        drop_initial(h);
        return status;
    }
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
        tell_line(initial, &s->diag);
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
    *sign = f->alias[v].top_sign;
    return f->alias[v].top;
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
        int v = f->unknown_variable[i];
        double nominal = v < 0 ? 1.0 : fabs(model_form_constant(f, f->flat->variables[v].nominal));
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
    bool tags = f->overdetermined && !options->y_tags;
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

/* Which start value counts where several variables are one: one set from outside (3), a fixed one
 * (2), that of the variable which stands for them (1), another (0). */
static int start_level(const model_form *f, size_t v)
{
    if (!isnan(f->start[v])) return 3;
    return f->flat->variables[v].fixed ? 2 : f->alias[v].root == (int)v;
}

/* Give the unknown of flat variable v its start value; two fixed ones that differ are a conflict.
 */
static void take_start(dae_solver *s, size_t v)
{
    hybrid *h = s->hybrid;
    const model_form *f = h->instance->form;
    int sign, first = f->first_unknown[root_of(f, (int)v, &sign)];
    double value = sign * start_value(f, v);
    if (first < 0 || isnan(value)) return;
    if (start_level(f, v) == 2) {
        double size = fmax(fabs(value), fabs(s->y[first]));
        if (h->fixed_by[first] < 0)
            h->fixed_by[first] = (int)v;
        else if (fabs(value - s->y[first]) > 1e-9 * size)
            h->conflict = (int)v;
    }
    s->y[first] = value;
}

void hybrid_start_values(dae_solver *s)
{
    hybrid *h = s->hybrid;
    const model_form *f = h->instance->form;
    vector_zero(s->n, s->y);
    vector_zero(s->n, s->yp);
    for (int i = 0; i < s->n; i++) h->fixed_by[i] = -1;
    h->conflict = -1;
    for (int level = 0; level < 4; level++) /* later ones win */
        for (size_t v = 0; v < f->flat->variable_count; v++)
            if (!f->flat->variables[v].discrete && start_level(f, v) == level) take_start(s, v);
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

/* *slot := value; whether that changes it. */
static bool store(double *slot, double value)
{
    bool changes = *slot != value && !(isnan(*slot) && isnan(value));
    *slot = value;
    return changes;
}

/* pre(v) := v, for variables and conditions of when; whether anything changed. */
static bool take_pre(dae_solver *s)
{
    const flat_model *m = flat_of(s);
    double *memory = s->hybrid->instance->memory;
    bool changed = false;
    for (size_t v = 0; v < m->variable_count; v++)
        if (m->variables[v].discrete &&
            store(&memory[m->variables[v].memory_pre], memory[m->variables[v].memory]))
            changed = true;
    for (size_t w = 0; w < m->when_count; w++)
        for (size_t b = 0; b < m->whens[w].branch_count; b++) {
            const flat_branch *q = &m->whens[w].branches[b];
            if (store(&memory[q->memory_pre], memory[q->memory])) changed = true;
        }
    return changed;
}

/* A moment ahead of t: differential variables on their tangent, algebraic ones by the equations. A
 * correction before makes the tangent as good as rounding allows; a start stops at its tolerance.
 */
static double look_ahead(dae_solver *s, double t)
{
    hybrid *h = s->hybrid;
    double span = fmax(fabs(s->stats.last_h), fabs(t));
    double delta = 1e-9 * (span > 0.0 ? span : 1.0);
    if (s->stats.last_h < 0.0) delta = -delta;
    vector_copy(s->n, s->y, h->ahead);
    vector_copy(s->n, s->yp, h->ahead_yp);
    initializer_project(s->init, t, delta, s->kinds, s->norm.weights, h->ahead, h->ahead_yp);
    for (int i = 0; i < s->n; i++)
        if (s->kinds[i] == DAE_KIND_DIFFERENTIAL) h->ahead[i] += delta * h->ahead_yp[i];
    initializer_project(s->init, t + delta, delta, s->kinds, s->norm.weights, h->ahead,
                        h->ahead_yp);
    return t + delta;
}

/* What counts as zero of the crossing function of relation r. */
static double noise_of(const hybrid *h, size_t r)
{
    return h->instance->form->rounded[r] ? h->instance->noise : 0.0;
}

/* Relations away from zero take their present values. At zero, closer to it than they move in a
 * moment, they take the side where they are going, so that a solution that leaves zero is already
 * on its new side; zero is where the event was located, rounding included. But not if this event
 * has decided them before: the crossing of T >= Thigh that switches a heater off holds for the
 * event, though T goes back at once. One that stays at zero keeps its value. Whether any changed.
 */
static bool update_relations(dae_solver *s, double t)
{
    hybrid *h = s->hybrid;
    const flat_model *m = flat_of(s);
    bool changed = false;
    if (m->relation_count == 0) return false;
    h->soon = look_ahead(s, t);
    model_instance_crossings(h->instance, t, s->y, s->yp, h->crossing);
    model_instance_crossings(h->instance, h->soon, h->ahead, h->ahead_yp, h->crossing_ahead);
    for (size_t r = 0; r < m->relation_count; r++) {
        double now = h->crossing[r] - h->zero[r], later = h->crossing_ahead[r] - h->zero[r];
        bool away = fabs(now) > fabs(later - now);
        double c = away ? now : later;
        if (!(fabs(c) > noise_of(h, r)) || (h->decided[r] && !away)) continue;
        if (!store(&h->instance->memory[m->relations[r].memory], c < 0.0)) continue;
        changed = h->decided[r] = true;
    }
    return changed;
}

static void decide_relations(dae_solver *s, bool decided)
{
    for (size_t r = 0; r < flat_of(s)->relation_count; r++) s->hybrid->decided[r] = decided;
}

/* Whether relation r is seen on another side than it is held to be: for one that carries rounding
 * errors, by more than atol; for another, by more than the error of its last location. */
static bool overdue(const hybrid *h, size_t r, double crossing)
{
    bool held = h->instance->memory[h->instance->form->flat->relations[r].memory] != 0.0;
    double least = fmax(noise_of(h, r) / NOISE_OF_ATOL, fabs(h->zero[r]));
    return fabs(crossing) > least && held != (crossing < 0.0);
}

/* The relations whose crossing is the event take their new sides; they are decided. Where exactly
 * their zero was met tells what is a step off it: zero_r = crossing function there. */
static void cross_relations(dae_solver *s, double t)
{
    hybrid *h = s->hybrid;
    const flat_model *m = flat_of(s);
    bool found = s->events && !h->time_event && !h->overdue;
    const int *flags = found ? event_finder_flags(s->events) : NULL;
    if (m->relation_count == 0) return;
    model_instance_crossings(h->instance, t, s->y, s->yp, h->crossing);
    for (size_t r = 0; r < m->relation_count; r++) {
        double c = h->crossing[r];
        bool late = h->overdue && overdue(h, r, c);
        h->decided[r] = late || (flags && flags[r] != 0);
        h->zero[r] = h->decided[r] && !h->instance->form->rounded[r] ? c : 0.0;
        if (h->decided[r])
            h->instance->memory[m->relations[r].memory] = late ? c < 0.0 : flags[r] < 0;
    }
    h->overdue = false;
}

/* First guess of the relations, from the start values alone. */
static void start_relations(dae_solver *s, double t)
{
    const flat_model *m = flat_of(s);
    hybrid *h = s->hybrid;
    if (m->relation_count == 0) return;
    model_instance_crossings(h->instance, t, s->y, s->yp, h->crossing);
    for (size_t r = 0; r < m->relation_count; r++) {
        double c = h->crossing[r];
        h->instance->memory[m->relations[r].memory] = m->relations[r].strict ? c < 0.0 : c <= 0.0;
    }
}

/* ---- messages of the model ---- */

static const char *file_of(const dae_solver *s)
{
    const flat_model *m = flat_of(s);
    return m->file ? m->file : m->name;
}

static void print_value(char *text, size_t size, double value, flat_type type)
{
    if (type == FLAT_BOOLEAN)
        snprintf(text, size, "%s", value != 0.0 ? "true" : "false");
    else
        snprintf(text, size, "%.6g", value);
}

/* The message of an action with its values filled in. */
static void compose(const dae_solver *s, double t, const flat_action *a, char *text, size_t size)
{
    size_t used = 0, from = 0, length = strlen(a->message);
    text[0] = '\0';
    for (size_t k = 0; k <= a->hole_count && used + 1 < size; k++) {
        size_t to = k < a->hole_count ? a->holes[k].offset : length;
        char value[64] = "";
        if (k < a->hole_count)
            print_value(value, sizeof value, value_at(s, t, a->holes[k].value), a->holes[k].type);
        int wrote = snprintf(text + used, size - used, "%.*s%s", (int)(to - from),
                             a->message + from, value);
        if (wrote < 0) return;
        used += (size_t)wrote;
        from = k < a->hole_count ? to + a->holes[k].length : to;
    }
}

enum { MESSAGE_SIZE = DAE_TEXT_SIZE - 128 };

static dae_status fail_action(dae_solver *s, double t, const flat_action *a)
{
    char text[MESSAGE_SIZE];
    compose(s, t, a, text, sizeof text);
    s->diag.t = t;
    s->diag.line = a->place.line;
    return diag_set(&s->diag, DAE_ERR_ASSERT, "%s:%d: assertion failed at t = %.9g: %s", file_of(s),
                    a->place.line, t, text);
}

static void warn_action(dae_solver *s, double t, const flat_action *a)
{
    char text[MESSAGE_SIZE], whole[DAE_TEXT_SIZE];
    if (!s->options.message) return;
    compose(s, t, a, text, sizeof text);
    snprintf(whole, sizeof whole, "%s:%d: warning: at t = %.9g: %s", file_of(s), a->place.line, t,
             text);
    tell(s, whole);
}

static void terminate(dae_solver *s, double t, const flat_action *a)
{
    char text[MESSAGE_SIZE];
    if (a->guard != EXPR_NONE && value_at(s, t, a->guard) == 0.0) return;
    if (s->terminated) return; /* the first message stands */
    compose(s, t, a, text, sizeof text);
    s->terminated = true;
    s->diag.t = t;
    s->diag.line = a->place.line;
    diag_set(&s->diag, DAE_OK, "%s:%d: terminated at t = %.9g: %s", file_of(s), a->place.line, t,
             text);
}

/* ---- event iteration ----
 *
 * The equations of an event hold for discrete and continuous variables at once, with pre(..) given.
 * Inner passes solve them: discrete equations and when-clauses in the order of their data flow,
 * then consistent continuous values and the relations, until nothing changes. Then the clauses act:
 * reinit, assert, terminate. If pre(v) differs from v, or a state was set anew, or a relation
 * leaves zero for its other side, pre := v and all of it again (Modelica 3.6, section 8.6). */

/* Discrete variables that a clause defines keep their values unless a branch is active. */
static void hold_assigned(dae_solver *s, const flat_when *w)
{
    const flat_model *m = flat_of(s);
    double *memory = s->hybrid->instance->memory;
    for (size_t b = 0; b < w->branch_count; b++)
        for (size_t i = 0; i < w->branches[b].action_count; i++) {
            const flat_action *a = &w->branches[b].actions[i];
            if (a->kind != ACTION_ASSIGN) continue;
            const flat_variable *v = &m->variables[a->variable];
            memory[v->memory] = memory[v->memory_pre];
        }
}

/* Which branch is active: the first whose condition has just become true; -1 for none. Conditions
 * of all branches are noted, so that each has its own edge. */
static int active_branch(dae_solver *s, double t, const flat_when *w, bool initial)
{
    double *memory = s->hybrid->instance->memory;
    int active = -1;
    for (size_t b = 0; b < w->branch_count; b++) {
        const flat_branch *q = &w->branches[b];
        bool now = value_at(s, t, q->condition) != 0.0;
        bool fires = initial ? q->at_initial : now && memory[q->memory_pre] == 0.0;
        memory[q->memory] = now;
        if (fires && active < 0) active = (int)b;
    }
    return active;
}

static void evaluate_when(dae_solver *s, double t, size_t index, bool initial)
{
    const flat_model *m = flat_of(s);
    const flat_when *w = &m->whens[index];
    double *memory = s->hybrid->instance->memory;
    int active = active_branch(s, t, w, initial);
    s->hybrid->active[index] = active;
    hold_assigned(s, w);
    for (size_t i = 0; active >= 0 && i < w->branches[active].action_count; i++) {
        const flat_action *a = &w->branches[active].actions[i];
        if (a->kind == ACTION_ASSIGN)
            memory[m->variables[a->variable].memory] = value_at(s, t, a->value);
    }
}

/* Initial equations of discrete variables: v = value, pre(v) = value. */
static void take_discrete_initials(dae_solver *s, double t)
{
    const model_form *f = s->hybrid->instance->form;
    double *memory = s->hybrid->instance->memory;
    for (size_t k = 0; k < f->settings_count; k++) {
        const flat_variable *v = &f->flat->variables[f->settings[k].variable];
        memory[v->memory] = memory[v->memory_pre] = value_at(s, t, f->settings[k].value);
    }
}

/* The value of a discrete equation. Like relations, floor(a) with a at an integer goes where a
 * goes. */
static double discrete_value(const dae_solver *s, double t, expr e)
{
    const hybrid *h = s->hybrid;
    const expr_node *node = graph_node(flat_of(s)->graph, e);
    if (node->op != EXPR_FLOOR || !h->solved) return value_at(s, t, e);
    double now = value_at(s, t, node->a);
    double soon = model_instance_value(h->instance, h->soon, h->ahead, h->ahead_yp, node->a);
    bool away = fabs(now - nearbyint(now)) > fabs(soon - now);
    return floor(away ? now : soon);
}

/* Discrete equations and when-clauses, each after what it reads. */
static void evaluate_discretes(dae_solver *s, double t, bool initial)
{
    const flat_model *m = flat_of(s);
    double *memory = s->hybrid->instance->memory;
    if (initial) take_discrete_initials(s, t);
    for (size_t k = 0; k < m->event_count; k++) {
        size_t index = m->event_order[k].index;
        if (m->event_order[k].is_when) {
            evaluate_when(s, t, index, initial);
        } else {
            const flat_discrete *q = &m->discretes[index];
            memory[m->variables[q->variable].memory] = discrete_value(s, t, q->value);
        }
    }
}

/* Consistent continuous values for the memory as it is. */
static dae_status solve_continuous(dae_solver *s, double t, bool initial, dae_init mode)
{
    model_instance_prepare(s->hybrid->instance);
    if (initial && s->hybrid->instance->form->initial) {
        dae_status status = solve_initial(s, t);
        if (status != DAE_OK) return status;
        mode = DAE_INIT_DIFFERENTIAL;
    }
    return solver_begin(s, t, mode);
}

/* Name what differs between the last two passes. */
static dae_status explain_flipping(dae_solver *s, double t)
{
    const flat_model *m = flat_of(s);
    const hybrid *h = s->hybrid;
    const double *memory = h->instance->memory;
    s->diag.t = t;
    diag_set(
        &s->diag, DAE_ERR_EVENT,
        "The event iteration at t = %.9g does not settle after %d passes. These keep changing:", t,
        MOST_PASSES);
    int named = 0;
    for (size_t v = 0; v < m->variable_count && named < 5; v++) {
        const flat_variable *q = &m->variables[v];
        if (!q->discrete || (h->before[q->memory] == memory[q->memory] &&
                             h->before[q->memory_pre] == memory[q->memory_pre]))
            continue;
        diag_append(&s->diag, "%s %s (%s:%d)", named ? "," : "", q->name, file_of(s),
                    q->place.line);
        if (named++ == 0) {
            diag_variable(&s->diag, (int)v, q->name);
            s->diag.line = q->place.line;
        }
    }
    for (size_t r = 0; r < m->relation_count && named < 5; r++) {
        const flat_relation *q = &m->relations[r];
        if (h->before[q->memory] == memory[q->memory]) continue;
        diag_append(&s->diag, "%s the relation at %s:%d", named ? "," : "", file_of(s),
                    q->place.line);
        if (named++ == 0) s->diag.line = q->place.line;
    }
    diag_append(&s->diag,
                "%s. Add hysteresis, break the circle with pre(..), or use noEvent(..) "
                "where no event is meant.",
                named ? "" : " states that reinit sets");
    return DAE_ERR_EVENT;
}

static size_t memory_bytes(const dae_solver *s)
{
    return (size_t)flat_of(s)->memory_count * sizeof(double);
}

/* Inner passes: discrete and continuous values that agree, with pre(..) as it is. *passes counts.
 */
static dae_status agree(dae_solver *s, double t, bool initial, dae_init mode, int *passes)
{
    hybrid *h = s->hybrid;
    for (;;) {
        evaluate_discretes(s, t, initial);
        if (h->solved && memcmp(h->before, h->instance->memory, memory_bytes(s)) == 0)
            return DAE_OK;
        if (++*passes > MOST_PASSES) return explain_flipping(s, t);
        memcpy(h->before, h->instance->memory, memory_bytes(s));
        dae_status status = solve_continuous(s, t, initial, mode);
        if (status != DAE_OK) return status;
        h->solved = true;
        update_relations(s, t);
    }
}

/* Where reinit of flat variable v goes. */
static int reinit_place(const model_form *f, int v, int *sign)
{
    return f->first_unknown[root_of(f, v, sign)];
}

/* Note the new values first and set them afterwards: reinit(x, y) and reinit(y, x) exchange. */
static dae_status act(dae_solver *s, double t, const flat_branch *b, bool *reset)
{
    hybrid *h = s->hybrid;
    const model_form *f = h->instance->form;
    for (size_t i = 0; i < b->action_count; i++) {
        const flat_action *a = &b->actions[i];
        int sign, place;
        switch (a->kind) {
        case ACTION_ASSIGN: break;
        case ACTION_REINIT:
            place = reinit_place(f, a->variable, &sign);
            if (place < 0) break;
            h->reset[place] = sign * value_at(s, t, a->value);
            h->is_reset[place] = *reset = true;
            break;
        case ACTION_ASSERT:
            if (value_at(s, t, a->value) != 0.0) break;
            if (!a->warning) return fail_action(s, t, a);
            warn_action(s, t, a);
            break;
        case ACTION_TERMINATE: terminate(s, t, a); break;
        }
    }
    return DAE_OK;
}

/* A reinit value must be a number. */
static dae_status check_reset(dae_solver *s, double t, int i)
{
    if (isfinite(s->hybrid->reset[i])) return DAE_OK;
    diag_variable(&s->diag, i, problem_variable(s->problem, i));
    s->diag.t = t;
    s->diag.value = s->hybrid->reset[i];
    return diag_set(&s->diag, DAE_ERR_EVALUATION, "reinit sets %s to %g at t = %.9g.",
                    s->diag.variable_name, s->hybrid->reset[i], t);
}

/* What the active clauses do beside assigning; *reset: states have new values. */
static dae_status act_all(dae_solver *s, double t, bool *reset)
{
    hybrid *h = s->hybrid;
    const flat_model *m = flat_of(s);
    dae_status status = DAE_OK;
    *reset = false;
    for (size_t w = 0; w < m->when_count && status == DAE_OK; w++)
        if (h->active[w] >= 0) status = act(s, t, &m->whens[w].branches[h->active[w]], reset);
    for (int i = 0; *reset && i < s->n && status == DAE_OK; i++) {
        if (!h->is_reset[i]) continue;
        h->is_reset[i] = false;
        status = check_reset(s, t, i);
        s->y[i] = h->reset[i];
    }
    return status;
}

/* Outer passes: until pre(v) = v, no state is set anew, and the relations are where they go. */
static dae_status iterate_events(dae_solver *s, double t)
{
    bool again = true, reset;
    int passes = 0;
    while (again) {
        dae_status status = agree(s, t, false, DAE_INIT_DIFFERENTIAL, &passes);
        if (status == DAE_OK) status = act_all(s, t, &reset);
        if (status != DAE_OK) return status;
        again = take_pre(s);
        if (reset) s->hybrid->solved = false;
        if (!again && !reset) {
            decide_relations(s, false);
            again = update_relations(s, t);
        }
        again = again || reset;
        if (++passes > MOST_PASSES) return explain_flipping(s, t);
    }
    return DAE_OK;
}

/* After the event: flags down, conditions of when as they are now, without acting. */
static void settle(dae_solver *s, double t)
{
    const flat_model *m = flat_of(s);
    double *memory = s->hybrid->instance->memory;
    bool flags = memory[m->memory_initial] != 0.0;
    memory[m->memory_initial] = 0.0;
    for (size_t i = 0; i < m->sample_count; i++) {
        flags = flags || memory[m->samples[i].memory] != 0.0;
        memory[m->samples[i].memory] = 0.0;
    }
    if (!flags) return;
    for (size_t i = 0; i < m->discrete_count; i++) {
        const flat_discrete *q = &m->discretes[i];
        memory[m->variables[q->variable].memory] = discrete_value(s, t, q->value);
    }
    for (size_t w = 0; w < m->when_count; w++)
        for (size_t b = 0; b < m->whens[w].branch_count; b++) {
            const flat_branch *q = &m->whens[w].branches[b];
            memory[q->memory] = value_at(s, t, q->condition) != 0.0;
        }
    take_pre(s);
}

/* ---- time events ---- */

double hybrid_next_time(const hybrid *h)
{
    return h->next_time;
}

static void find_next_time(hybrid *h)
{
    h->next_time = INFINITY;
    for (size_t i = 0; i < h->instance->form->flat->sample_count; i++)
        h->next_time = fmin(h->next_time, h->sample[i].next);
}

/* Times this close are one time. */
static double sample_slack(double t)
{
    return 128.0 * DBL_EPSILON * fabs(t);
}

/* Raise the flags of samples due at t, and set their next times; whether there are any. */
static bool raise_samples(dae_solver *s, double t)
{
    const flat_model *m = flat_of(s);
    hybrid *h = s->hybrid;
    bool any = false;
    for (size_t i = 0; i < m->sample_count; i++) {
        sample_clock *c = &h->sample[i];
        bool due = c->next <= t + sample_slack(t);
        h->instance->memory[m->samples[i].memory] = due;
        if (!due) continue;
        any = true;
        c->count += 1.0;
        c->next = c->start + c->count * c->interval;
    }
    find_next_time(h);
    return any;
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
                            file_of(s), m->samples[i].place.line, start, interval);
        }
        double k = fmax(0.0, ceil((t - start) / interval));
        if (k > 0.0 && start + (k - 1.0) * interval >= t - sample_slack(t)) k -= 1.0;
        h->sample[i] = (sample_clock){start, interval, k, start + k * interval};
    }
    find_next_time(h);
    return DAE_OK;
}

/* ---- events that crowd ---- */

/* Many events in a vanishing interval: a ball that comes to rest, a switch that chatters. */
static dae_status watch_crowd(dae_solver *s, double t)
{
    hybrid *h = s->hybrid;
    double near = CROWD_SPAN * fabs(t - h->started);
    if (h->crowd == 0 || fabs(t - h->crowd_since) > near) {
        h->crowd = 0;
        h->crowd_since = t;
    }
    if (++h->crowd <= MOST_CROWDED) return DAE_OK;
    const flat_model *m = flat_of(s);
    const int *flags = s->events ? event_finder_flags(s->events) : NULL;
    s->diag.t = t;
    diag_set(
        &s->diag, DAE_ERR_EVENT,
        "%d events without progress: t went from %.17g to %.17g. Events accumulate here, or the "
        "model chatters.",
        MOST_CROWDED, h->crowd_since, t);
    for (size_t r = 0; flags && r < m->relation_count; r++) {
        if (flags[r] == 0) continue;
        s->diag.line = m->relations[r].place.line;
        diag_append(&s->diag, " The last one is of the relation at %s:%d.", file_of(s),
                    s->diag.line);
        break;
    }
    diag_append(&s->diag, " Give the model a state of rest, or the relation some hysteresis.");
    return DAE_ERR_EVENT;
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
    double latest = s->t, sample = s->hybrid->next_time;
    for (size_t r = 0; has_algebraic(s) && r < m->relation_count; r++)
        if (flags[r] != 0) {
            double when = crossing_time(s, r, flags[r]);
            if ((when - latest) * s->direction > 0.0) latest = when;
        }
    bool one = isfinite(sample) && fabs(latest - sample) <= sample_slack(sample) &&
               fabs(sample - s->t_new) <= sample_slack(sample);
    s->t = one ? s->t_new : latest; /* a sample at the same time: both are one event */
}

/* ---- the entries ---- */

/* Over at (t, y): outputs there are the values after the event. */
static void end_run(dae_solver *s)
{
    double h = s->direction < 0.0 ? -1.0 : 1.0;
    start_point at = {.t = s->t, .h = h, .y = s->y, .yp = s->yp};
    s->method->start(s->state, s->scratch, &s->context, &at);
    s->phase = PHASE_ENDED;
}

/* Solve the event at s->t for its memory as it is. */
static dae_status run_event(dae_solver *s, double t)
{
    s->hybrid->solved = false;
    dae_status status = iterate_events(s, t);
    if (status != DAE_OK) return status;
    settle(s, t);
    model_instance_prepare(s->hybrid->instance);
    status = hybrid_check(s, t, s->y, s->yp);
    if (status == DAE_OK && s->terminated) end_run(s);
    return status;
}

/* The initial equations, with initial() true and pre(..) given by the start values. */
static dae_status initialise(dae_solver *s, double t)
{
    hybrid *h = s->hybrid;
    bool reset;
    int passes = 0;
    h->solved = false;
    h->instance->memory[flat_of(s)->memory_initial] = 1.0;
    start_relations(s, t);
    decide_relations(s, true);
    dae_status status = agree(s, t, true, s->options.init, &passes);
    if (status == DAE_OK) status = act_all(s, t, &reset);
    if (status != DAE_OK) return status;
    for (size_t w = 0; w < flat_of(s)->when_count; w++) h->active[w] = -1;
    settle(s, t);
    decide_relations(s, false);
    return DAE_OK;
}

/* Two fixed start values of one unknown must agree. */
static dae_status check_fixed(dae_solver *s)
{
    const model_form *f = s->hybrid->instance->form;
    int v = s->hybrid->conflict, sign;
    if (v < 0) return DAE_OK;
    const flat_variable *q = &f->flat->variables[v];
    const flat_variable *p =
        &f->flat->variables[s->hybrid->fixed_by[f->first_unknown[root_of(f, v, &sign)]]];
    diag_variable(&s->diag, v, q->name);
    s->diag.line = q->place.line;
    s->diag.value = start_value(f, (size_t)v);
    return diag_set(&s->diag, DAE_ERR_INITIAL,
                    "The fixed start value %.9g of %s (%s:%d) contradicts that of %s (%s:%d): the "
                    "equations make them one variable.",
                    s->diag.value, q->name, file_of(s), q->place.line, p->name, file_of(s),
                    p->place.line);
}

dae_status hybrid_explain(dae_solver *s, dae_status status)
{
    if (status < 0 && s->diag.line == 0) tell_line(s->hybrid->instance->form, &s->diag);
    return status;
}

dae_status hybrid_start(dae_solver *s, double t)
{
    const flat_model *m = flat_of(s);
    hybrid *h = s->hybrid;
    h->pending = h->overdue = h->time_event = false;
    for (size_t r = 0; r < m->relation_count; r++) h->zero[r] = 0.0;
    h->crowd = 0;
    h->started = t;
    s->terminated = false;
    vector_copy(s->n, s->y, h->start);
    model_instance_load(h->instance);
    start_memory(s);
    for (size_t i = 0; i < m->assert_count; i++) h->warned[i] = false;
    h->instance->noise = NOISE_OF_ATOL * s->options.atol;
    dae_status status = start_samples(s, t);
    if (status == DAE_OK) status = check_fixed(s);
    if (status == DAE_OK) status = initialise(s, t);
    if (status != DAE_OK) return hybrid_explain(s, status);
    raise_samples(s, t);
    return hybrid_explain(s, run_event(s, t));
}

dae_status hybrid_update(dae_solver *s)
{
    hybrid *h = s->hybrid;
    double t = s->t;
    solver_interpolate(s, t, 0, s->y);
    solver_interpolate(s, t, 1, s->yp);
    h->pending = false;
    dae_status status = watch_crowd(s, t);
    if (status != DAE_OK) return status;
    raise_samples(s, t);
    cross_relations(s, t);
    double direction = s->direction; /* an event may lie beyond tend by its rounding: no way back */
    status = run_event(s, t);
    s->direction = direction;
    return hybrid_explain(s, status);
}

dae_status hybrid_finish(dae_solver *s)
{
    const flat_model *m = flat_of(s);
    double *memory = s->hybrid->instance->memory;
    if (s->phase == PHASE_RUNNING) {
        solver_interpolate(s, s->t, 0, s->y);
        solver_interpolate(s, s->t, 1, s->yp);
    }
    memory[m->memory_terminal] = 1.0;
    decide_relations(s, true); /* nothing lies ahead */
    dae_status status = run_event(s, s->t);
    memory[m->memory_terminal] = 0.0;
    if (status == DAE_OK && s->phase != PHASE_ENDED) end_run(s);
    return hybrid_explain(s, status);
}

/* A solution may leave zero without a sign change that could be searched for, since the search
 * begins at zero. An update is then due. */
static void note_overdue(dae_solver *s, double t, const double *y, const double *yp)
{
    const flat_model *m = flat_of(s);
    hybrid *h = s->hybrid;
    if (m->relation_count == 0) return;
    model_instance_crossings(h->instance, t, y, yp, h->crossing);
    for (size_t r = 0; r < m->relation_count; r++)
        if (overdue(h, r, h->crossing[r])) h->overdue = h->pending = true;
    if (h->pending) h->time_event = false;
}

dae_status hybrid_check(dae_solver *s, double t, const double *y, const double *yp)
{
    const flat_model *m = flat_of(s);
    hybrid *h = s->hybrid;
    if (!y) return DAE_OK; /* no step since the last event, whose location rounded beyond tend */
    if (s->phase == PHASE_RUNNING) note_overdue(s, t, y, yp);
    if (m->assert_count == 0) return DAE_OK;
    model_instance_assertions(h->instance, t, y, yp, h->assertion);
    for (size_t i = 0; i < m->assert_count; i++) {
        if (h->assertion[i] != 0.0) continue;
        if (y != s->y) { /* values in its message are those of this point */
            vector_copy(s->n, y, s->y);
            vector_copy(s->n, yp, s->yp);
        }
        if (!m->asserts[i].warning) return fail_action(s, t, &m->asserts[i]);
        if (!h->warned[i]) warn_action(s, t, &m->asserts[i]);
        h->warned[i] = true;
    }
    return DAE_OK;
}
