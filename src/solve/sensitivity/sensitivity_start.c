/* Sensitivities where a run begins: those of the states by what determines their start values, all
 * others by the linearised equations of all levels. */
#include <math.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"
#include "solve/run/run.h"
#include "solve/sensitivity/rough.h"
#include "solve/sensitivity/run_error.h"
#include "solve/sensitivity/sensitivity_parts.h"
#include "solve/sensitivity/tangent_past.h"

bool sensitivity_room(dae_sensitivity *x)
{
    const size_t rows = (size_t)x->directions.count * (size_t)x->lead.n;
    dae_free(x->s);
    x->s = DAE_ARRAY(double, 2 * rows);
    x->sp = x->s ? x->s + rows : NULL;
    return x->s;
}

/* ---- start values that decide alone ---- */

enum { NO_VARIABLE = -1, SEVERAL = -2 };

/* variable_i = the flat variable whose start value the unknown i of the base form has: the first
 * that is fixed, else the only one; below 0: there is none. */
static void list_start_variables(const dae_solver *s, int *variable)
{
    const model_form *f = s->base->model;
    for (int i = 0; i < s->base->form.n; i++) variable[i] = NO_VARIABLE;
    for (size_t v = 0; v < f->flat->variable_count; v++) {
        const flat_variable *q = &f->flat->variables[v];
        if (q->discrete || !(q->has_start || !isnan(f->start[v]))) continue;
        const int i = f->first_unknown[f->alias[v].top];
        if (i < 0) continue;
        const bool fixed = variable[i] >= 0 && f->flat->variables[variable[i]].fixed;
        if (q->fixed && !fixed)
            variable[i] = (int)v;
        else if (!fixed)
            variable[i] = variable[i] == NO_VARIABLE ? (int)v : SEVERAL;
    }
}

/* Whether an unknown of the base form with value y stands at the start value of its variable. */
static bool stands_at_start(const dae_solver *s, double y, bool alone, int variable)
{
    const model_form *f = s->base->model;
    static const double CLOSE = 1e-12;
    if (variable < 0) return false;
    double start = hybrid_start_value(f, (size_t)variable) * f->alias[variable].top_sign;
    bool fixed = f->flat->variables[variable].fixed;
    bool there = fabs(y - start) <= CLOSE * fmax(fabs(start), 1e-3);
    return there && (fixed || alone);
}

/* unknown_i = the user's unknown that unknown i of the lead is; -1: it is none, or a derivative. */
static void list_unknowns(const dae_sensitivity *x, int *unknown)
{
    const lead *l = &x->lead;
    for (int i = 0; i < l->n; i++) unknown[i] = is_formulated(l->solver) ? -1 : i;
    for (int u = x->run->base->form.n - 1; is_formulated(l->solver) && u >= 0; u--) {
        model_place at = l->form->place[u];
        if (at.unknown >= 0 && !at.slope) unknown[at.unknown] = u;
    }
}

/* Rates of states whose start values decide alone, named rows of the lead's size; `variable` and
 * `unknown` as listed. False: some are decided by more. */
static bool take_listed(dae_sensitivity *x, const double *user_y, const int *variable,
                        const int *unknown, double *rates)
{
    const lead *l = &x->lead;
    const model_form *f = x->run->base->model;
    bool alone = !is_formulated(l->solver) && !f->initial;
    for (int i = 0; i < l->n; i++) {
        const int u = unknown[i];
        if (!lead_is_state(l, i)) continue;
        if (u < 0 || !stands_at_start(x->run, user_y[u], alone, variable[u])) return false;
        int sign = is_formulated(l->solver) ? l->form->place[u].sign : 1;
        sign *= f->alias[variable[u]].top_sign;
        if (!directions_move_start(&x->directions, f, variable[u])) continue;
        for (int k = 0; k < x->directions.named; k++)
            rates[(size_t)k * (size_t)l->n + (size_t)i] =
                sign * directions_start_value(&x->directions, f, k, variable[u]);
    }
    return true;
}

/* The same; false without memory, too: differences then say so. */
static bool take_start_values(dae_sensitivity *x, const double *user_y, double *rates)
{
    const int base = x->run->base->form.n;
    int *variable = DAE_ARRAY(int, base + x->lead.n), *unknown = variable + base;
    if (!variable) return false;
    list_start_variables(x->run, variable);
    list_unknowns(x, unknown);
    bool taken = take_listed(x, user_y, variable, unknown, rates);
    dae_free(variable);
    return taken;
}

/* ---- differences of starts ---- */

/* Move the parameter or start value of a direction. */
static dae_status move_value(model_form *f, const direction *q, double h, dae_diag *diag)
{
    if (q->parameter >= 0) {
        f->parameters[q->parameter] += h;
        f->parameter_set[q->parameter] = true;
    } else { /* one of the text stays a word of the text, and counts as much as before; none is 0 */
        const size_t v = (size_t)q->variable;
        const double start = hybrid_start_value(f, v);
        f->start_moved[v] = !model_start_is_outside(f, v);
        f->start[v] = (isnan(start) ? 0.0 : start) + h;
    }
    f->revision++;
    return model_form_evaluate_parameters(f, diag);
}

/* How many numbers a start has: y and y' of the user's unknowns, and all of the memory. */
static size_t start_size(const dae_sensitivity *x)
{
    return 2 * (size_t)x->run->base->form.n + (size_t)x->run->base->model->flat->memory_count;
}

/* A start of another solver, as the problem is now. */
static dae_status start_other(dae_sensitivity *x, double *y)
{
    dae_solver *s = x->run, *other = NULL;
    dae_options o = s->base_options;
    o.message = NULL;
    o.monitor = NULL;
    dae_status status = solver_new(s->base, &o, &other, &s->diag);
    if (status != DAE_OK) return status;
    status = solver_start(other, s->run.t, NULL, NULL);
    const size_t n = (size_t)s->base->form.n;
    if (status == DAE_OK) {
        values_to_user(other, s->run.t, other->bound.y, other->bound.yp, y, y + n);
        memcpy(y + 2 * n, other->hybrid->instance->memory, (start_size(x) - 2 * n) * sizeof *y);
    } else {
        s->diag = other->diag;
    }
    dae_solver_free(other);
    return status;
}

/* The start of the same run with directions first .. end - 1 moved by a part of their sizes, each
 * but the first by less, in proportions that nothing favours. */
static dae_status start_moved(dae_sensitivity *x, int first, int end, double part, double *y)
{
    dae_solver *s = x->run;
    model_form *f = s->base->model;
    kept_values kept = {0};
    if (!model_form_keep(f, &kept)) return sensitivity_no_memory(x);
    dae_status status = DAE_OK;
    for (int k = first; k < end && status == DAE_OK; k++) {
        const direction *q = &x->directions.list[k];
        double less = 1.0 - 0.5 * fmod((k - first) * GOLDEN, 1.0);
        status = move_value(f, q, part * less * q->size, &s->diag);
    }
    if (status == DAE_OK) status = start_other(x, y);
    dae_diag said = s->diag;
    dae_status back = model_form_put_back(f, &kept, &s->diag);
    s->diag = said;
    return status == DAE_OK ? back : status;
}

/* Why a start that was moved by h fails, and that it was. */
static void explain_moved(dae_sensitivity *x, int k, double h, dae_status status)
{
    const flat_model *m = x->run->base->model->flat;
    const direction *q = &x->directions.list[k];
    bool parameter = q->parameter >= 0;
    dae_diag *diag = &x->run->diag;
    char said[sizeof diag->text];
    if (status == DAE_OK || status == DAE_ERR_MEMORY || status == DAE_ERR_INTERRUPTED) return;
    memcpy(said, diag->text, sizeof said);
    diag_set(diag, status,
             "Sensitivities: the start has no derivative by %s %s, as it fails where that moves by "
             "%.3g: %s",
             parameter ? "parameter" : "the start value of",
             parameter ? m->parameters[q->parameter].name : m->variables[q->variable].name, h,
             said);
}

/* The input that a slot of the memory is, and a start decides: not the past of a delayed value,
 * which follows from S; -1: none. */
static int start_input(const dae_sensitivity *x, size_t slot)
{
    if (flat_is_delayed(x->run->base->model->flat, (int)slot)) return -1;
    return x->directions.inputs.memory[slot];
}

/* Whether states, and with `past` delayed values before them, begin at values that no direction
 * moves: all of them at once change no bit. */
static bool starts_rest(dae_sensitivity *x, bool past)
{
    static const double PART = 1e-2;
    const size_t n = (size_t)x->run->base->form.n, m = (size_t)x->lead.n, all = start_size(x);
    double *user = DAE_ARRAY(double, 2 * all + 4 * m), *moved = user + all, *a = moved + all;
    double *b = a + 2 * m;
    const dae_diag said = x->run->diag;
    bool rest = user && start_moved(x, 0, 0, 0.0, user) == DAE_OK;
    if (rest) lead_from_user(x, user, user + n, a, a + m);
    rest = rest && start_moved(x, 0, x->directions.named, PART, moved) == DAE_OK;
    if (rest) lead_from_user(x, moved, moved + n, b, b + m);
    for (size_t i = 0; rest && i < m; i++) rest = !lead_is_state(&x->lead, (int)i) || a[i] == b[i];
    for (size_t i = 2 * n; rest && i < all; i++) {
        const int slot = (int)(i - 2 * n);
        const bool counts = start_input(x, (size_t)slot) >= 0 ||
                            (past && flat_is_delayed(x->run->base->model->flat, slot));
        rest = !counts || user[i] == moved[i];
    }
    dae_free(user);
    x->run->diag = said;
    return rest;
}

enum { ROUNDS = 6, BENT = 3 };
static const double SHRINK = 4.0, FIRST = 1e-2;

/* Whether values bend as they do at a kink, or have jumped, by second differences, or first ones,
 * of a move and of one that is SHRINK times longer: those of smooth values are SHRINK^2, or SHRINK,
 * times larger. */
static bool falls_short(double now, double before, double least, double smooth, double kink)
{
    return fabs(now) > least && fabs(now) * sqrt(smooth * kink) > fabs(before);
}

static dae_status refuse_bent(dae_sensitivity *x, int k)
{
    const flat_model *m = x->run->base->model->flat;
    const direction *q = &x->directions.list[k];
    bool parameter = q->parameter >= 0;
    return diag_set(&x->run->diag, DAE_ERR_UNSUPPORTED,
                    "Sensitivities: the start has no derivative by %s %s: it has a kink or a jump "
                    "there. Move it a little.",
                    parameter ? "parameter" : "the start value of",
                    parameter ? m->parameters[q->parameter].name : m->variables[q->variable].name);
}

/* The start has a derivative in direction k: differences of round BENT and of the one before it, by
 * rows of `bend` the second and the first ones, fall as those of smooth values do, or are nothing
 * beside the tolerances of what they do to S. */
static dae_status check_smooth(dae_sensitivity *x, int k, const double *bend, const double *base)
{
    const size_t n = (size_t)x->run->base->form.n, m = (size_t)x->lead.n, all = start_size(x);
    const double part = FIRST * pow(SHRINK, -BENT);
    const dae_options *o = &x->run->base_options;
    double *rows = DAE_ARRAY(double, 6 * m), *at = rows + 4 * m, *spare = at + m;
    if (!rows) return sensitivity_no_memory(x);
    for (size_t row = 0; row < 4; row++)
        lead_from_user(x, bend + row * all, bend + row * all + n, rows + row * m, spare);
    lead_from_user(x, base, base + n, at, spare);
    bool bent = false;
    for (size_t i = 0; i < m && !bent; i++) {
        const double least = 100.0 * part * (o->rtol * fabs(at[i]) + o->atol), *q = rows + i;
        bent = lead_is_state(&x->lead, (int)i) &&
               (falls_short(q[m], q[0], least, SHRINK * SHRINK, SHRINK) ||
                falls_short(q[3 * m], q[2 * m], least, SHRINK, 1.0));
    }
    dae_free(rows);
    return bent ? refuse_bent(x, k) : DAE_OK;
}

/* Central differences with smaller and smaller moves, extrapolated to none [Ridders 1982]: of each
 * value the best that the table has. bend: second differences about the start, `base`, of rounds
 * BENT - 1 and BENT, then the first ones. */
static dae_status differ_starts(dae_sensitivity *x, int k, const double *base, double *slope,
                                double *doubt, double *bend)
{
    const size_t n = start_size(x);
    double *table = DAE_ARRAY(double, n *(ROUNDS + 2)), part = FIRST;
    double *up = table + n * ROUNDS, *down = up + n;
    dae_status status = table ? DAE_OK : sensitivity_no_memory(x);
    for (size_t i = 0; i < n; i++) doubt[i] = INFINITY;
    for (int round = 0; round < ROUNDS && status == DAE_OK; round++, part /= SHRINK) {
        const double h = part * x->directions.list[k].size;
        status = start_moved(x, k, k + 1, part, up);
        if (status == DAE_OK) status = start_moved(x, k, k + 1, -part, down);
        explain_moved(x, k, h, status);
        for (size_t i = 0; status == DAE_OK && i < n; i++) {
            double value = (up[i] - down[i]) / (2.0 * h), power = SHRINK * SHRINK;
            if (round == BENT - 1 || round == BENT) {
                double *row = bend + (round == BENT ? n : 0);
                row[i] = up[i] - base[i] + (down[i] - base[i]);
                row[2 * n + i] = up[i] - down[i];
            }
            for (int j = 0; j <= round; j++, power *= SHRINK * SHRINK) {
                double before = table[(size_t)j * n + i];
                table[(size_t)j * n + i] = value;
                if (j == round) break;
                double better = value + (value - before) / (power - 1.0);
                double error = fmax(fabs(better - value), fabs(better - before));
                if (error < doubt[i]) {
                    doubt[i] = error;
                    slope[i] = better;
                }
                value = better;
            }
        }
    }
    dae_free(table);
    return status;
}

/* The same by differences of whole starts; `past`: and of delayed values before them. */
static dae_status take_differences(dae_sensitivity *x, bool past, double *rates)
{
    const size_t n = (size_t)x->run->base->form.n, m = (size_t)x->lead.n, all = start_size(x);
    double *slope = DAE_ARRAY(double, 7 * all + m), *doubt = slope + all, *bend = doubt + all;
    double *base = bend + 4 * all, *spare = base + all;
    dae_status status = slope ? start_moved(x, 0, 0, 0.0, base) : sensitivity_no_memory(x);
    for (int k = 0; k < x->directions.named && status == DAE_OK; k++) {
        status = differ_starts(x, k, base, slope, doubt, bend);
        if (status == DAE_OK) status = check_smooth(x, k, bend, base);
        if (status != DAE_OK) break;
        lead_from_user(x, slope, slope + n, rates + (size_t)k * m, spare);
        for (size_t i = 2 * n; i < all; i++) {
            int input = start_input(x, i - 2 * n);
            if (input >= 0) directions_named(&x->directions, k)[input] = slope[i];
        }
        if (past) tangent_past_told(x, k, slope + 2 * n);
    }
    dae_free(slope);
    directions_remix(&x->directions);
    return status;
}

/* ---- the start ---- */

static bool has_discrete_reals(const dae_sensitivity *x)
{
    const flat_model *m = x->run->base->model->flat;
    for (size_t v = 0; v < m->variable_count; v++)
        if (m->variables[v].discrete && m->variables[v].type == FLAT_REAL) return true;
    return false;
}

/* Whether reinit has acted where the run begins: start values went through it. */
static bool reinit_acted(const dae_solver *s)
{
    return s->hybrid->thrown == s->run.t;
}

/* The rates of all states, by what the run has started at. */
static dae_status take_rates(dae_sensitivity *x)
{
    dae_solver *s = x->run;
    const size_t all = (size_t)x->directions.named * (size_t)x->lead.n;
    dae_free(x->rates);
    x->rates = DAE_ARRAY(double, all);
    if (!x->rates) return sensitivity_no_memory(x);
    if (!s->hybrid) {
        if (x->request.y0) memcpy(x->rates, x->request.y0, all * sizeof *x->rates);
        return DAE_OK;
    }
    double *y = user_values(s);
    if (!y) return sensitivity_no_memory(x);
    dae_status status = DAE_OK;
    /* what discrete Reals begin at, and what reinit sets, clauses, clocks and initial equations
     * decide: whole starts tell */
    const bool past = tangent_past_apart(x);
    if (past || has_discrete_reals(x) || reinit_acted(s) || !take_start_values(x, y, x->rates)) {
        vector_zero((int)all, x->rates);
        if (!starts_rest(x, past))
            status = take_differences(x, past, x->rates);
        else if (past)
            tangent_past_told(x, 0, NULL);
    }
    dae_free(y);
    return status;
}

/* S of the states, of the directions that are integrated. */
static void take_states(dae_sensitivity *x)
{
    const directions *d = &x->directions;
    const size_t n = (size_t)x->lead.n;
    vector_zero((int)((size_t)d->count * n), x->s);
    for (int k = 0; k < d->named; k++)
        vector_axpy((int)n, d->mix ? d->mix[k] * d->list[k].size : 1.0, x->rates + (size_t)k * n,
                    x->s + (d->mix ? 0 : (size_t)k * n));
    if (d->mix) return; /* the gradient needs them */
    dae_free(x->rates);
    x->rates = NULL;
}

static dae_status explain_fixed(dae_sensitivity *x, int k, size_t v, double asked, double found)
{
    const flat_model *m = x->run->base->model->flat;
    const direction *q = &x->directions.list[k];
    bool parameter = q->parameter >= 0;
    dae_diag *diag = &x->run->diag;
    diag_variable(diag, -1, m->variables[v].name);
    diag->line = m->variables[v].place.line;
    if (x->directions.mix) /* whose numbers say nothing */
        return diag_set(diag, DAE_ERR_INITIAL,
                        "%s: the start has no derivative by all of the names asked for: the fixed "
                        "start value of %s would move otherwise than the equations and other fixed "
                        "values let it. Free one of them (remove fixed = true).",
                        x->what, m->variables[v].name);
    return diag_set(diag, DAE_ERR_INITIAL,
                    "Sensitivities: the start has no derivative by %s %s: the fixed start value of "
                    "%s would move by %.6g, and the equations and other fixed values let it move "
                    "by %.6g. Free one of them (remove fixed = true).",
                    parameter ? "parameter" : "the start value of",
                    parameter ? m->parameters[q->parameter].name : m->variables[q->variable].name,
                    m->variables[v].name, asked, found);
}

/* Fixed start values move as they are said to, all of them: there may be more than states, as long
 * as they agree with the equations, and so must their derivatives. Those that reinit has changed do
 * not: whole starts were made for them, and would have failed. */
static dae_status check_fixed(dae_sensitivity *x, int k, const double *y, double *user)
{
    const dae_solver *s = x->run;
    const model_form *f = s->base->model;
    const size_t row = (size_t)k * (size_t)x->lead.n;
    const double size = directions_size(&x->directions, k);
    lead_to_user(x, x->s + row, x->sp + row, user, NULL);
    for (size_t v = 0; v < f->flat->variable_count; v++) {
        const flat_variable *q = &f->flat->variables[v];
        bool given = q->has_start || !isnan(f->start[v]);
        int u = q->discrete || q->type != FLAT_REAL ? -1 : f->first_unknown[f->alias[v].top];
        if (!q->fixed || !given || u < 0) continue;
        double sign = f->alias[v].top_sign, found = sign * user[u];
        double asked = directions_start_rate(&x->directions, f, k, (int)v);
        double off = fabs(found - asked), most = fmax(fabs(found), fabs(asked));
        double least = 1e-6 * fabs(y[u]) + 1e3 * s->base_options.atol;
        if (off > 1e-4 * most && off * size > least) return explain_fixed(x, k, v, asked, found);
    }
    return DAE_OK;
}

static dae_status check_all_fixed(dae_sensitivity *x)
{
    const size_t n = (size_t)x->run->base->form.n;
    double *y = user_values(x->run), *user = DAE_ARRAY(double, n);
    dae_status status = y && user ? DAE_OK : sensitivity_no_memory(x);
    for (int k = 0; k < directions_asked(&x->directions) && status == DAE_OK; k++)
        status = check_fixed(x, k, y, user);
    dae_free_all(y, user);
    return status;
}

/* Nothing of what was before stands; the lead is chosen where the run begins. */
static dae_status begin(dae_sensitivity *x)
{
    dae_solver *s = x->run;
    pieces_drop(x);
    x->stands = false;
    x->broken = NULL;
    if (x->rough) rough_watch_begin(x->rough);
    x->h = 0.0;
    x->stats = (dae_sensitivity_stats){0};
    if (s->hybrid) directions_start(&x->directions, s->hybrid->instance);
    run_error_begin(x->error);
    dae_status status = tangent_past_open(x);
    if (status == DAE_OK) status = lead_take(x, s->run.t, true);
    if (status == DAE_OK && !sensitivity_room(x)) return sensitivity_no_memory(x);
    return status;
}

/* The rest of S from its states, by the equations that are linearised where the run begins. */
static dae_status complete_all(dae_sensitivity *x)
{
    const lead *l = &x->lead;
    x->t = x->run->run.t;
    dae_status status = lead_values(x, x->t);
    if (status == DAE_OK) status = lead_linearise(x, x->t);
    if (status == DAE_OK) status = lead_factor_states(x);
    for (int k = 0; k < x->directions.count && status == DAE_OK; k++) {
        const size_t row = (size_t)k * (size_t)l->n;
        status = lead_complete(x, x->t, k, 0.0, x->s + row, x->sp + row);
    }
    return status;
}

dae_status sensitivity_start(dae_sensitivity *x)
{
    dae_status status = begin(x);
    /* before whole starts are compared, which it would bend, and where they tell how clocks move */
    if (status == DAE_OK && x->run->hybrid) status = jump_check_start(x);
    if (status == DAE_OK) status = take_rates(x);
    if (status == DAE_OK) take_states(x);
    if (status == DAE_OK) status = complete_all(x);
    if (status == DAE_OK) status = tangent_past_begin(x);
    if (status == DAE_OK && x->run->hybrid) status = jump_check_start(x);
    if (status == DAE_OK && x->run->hybrid && !reinit_acted(x->run)) status = check_all_fixed(x);
    for (int k = 0; k < directions_asked(&x->directions) && status == DAE_OK; k++)
        if (lead_has_forms(&x->lead) && x->request.y0) status = lead_check_start(x, k);
    x->stands = status == DAE_OK;
    return status;
}

dae_status sensitivity_begin_states(dae_sensitivity *x)
{
    dae_status status = begin(x);
    if (status != DAE_OK) return status;
    const lead *l = &x->lead;
    int states = 0;
    vector_zero(x->directions.count * l->n, x->s);
    for (int i = 0; i < l->n; i++) {
        if (!lead_is_state(l, i)) continue;
        if (states < x->states) x->s[(size_t)states * (size_t)l->n + (size_t)i] = 1.0;
        states++;
    }
    if (states != x->states)
        return diag_set(&x->run->diag, DAE_ERR_UNSUPPORTED,
                        "%s: the model has %d states at t = %.9g, and %d at its start.", x->what,
                        states, x->run->run.t, x->states);
    status = complete_all(x);
    for (int i = 0, k = 0; i < l->n && status == DAE_OK; i++) {
        const double size = fabs(l->y[i]);
        if (lead_is_state(l, i)) x->directions.list[k++].size = size > 0.0 ? size : 1.0;
    }
    x->stands = status == DAE_OK;
    return status;
}
