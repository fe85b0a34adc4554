/* Events, by the text: a when fires where its condition becomes true and nowhere else, what it says
 * happens, and discrete variables keep their values between events. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "solve/verify/verify_reader.h"

static const double ROUNDING = 1e-12;

static void keep_reading(reading *at, double t, const double *v, int n)
{
    at->t = t;
    at->there = true;
    memcpy(at->v, v, (size_t)n * sizeof *v);
}

/* ---- conditions ---- */

typedef struct condition_search {
    const reader *x;
    int group;
    char *may;
} condition_search;

/* Add what the conditions of a group are now; goes on through all values of switches. */
static bool add_conditions(void *context, const judge_result *r)
{
    condition_search *q = context;
    for (int k = 0; k < q->x->whens; k++) {
        const judge_when *w = &q->x->when[k];
        for (int c = w->first; w->group == q->group && c < w->first + w->count; c++) {
            double value = r ? r->conditions[c] : (double)NAN;
            q->may[c] |= (char)(isnan(value)   ? MAY_BE_BOTH
                                : value != 0.0 ? MAY_BE_TRUE
                                               : MAY_BE_FALSE);
        }
    }
    return !r;
}

/* Whether branch k is the first one of its group: groups of whens are evaluated once. */
static bool begins_group(const reader *x, int k)
{
    for (int i = 0; i < k; i++)
        if (x->when[i].group == x->when[k].group) return false;
    return true;
}

bool reader_add_conditions(reader *x, const sighting *at, int k, char *may)
{
    condition_search q = {x, x->when[k].group, may};
    return !begins_group(x, k) || reader_flip(x, at, q.group, NULL, 0, add_conditions, &q);
}

static bool clear_conditions(const reader *x, char *may)
{
    memset(may, 0, (size_t)x->conditions + 1);
    return true;
}

/* What all conditions may be inside of a step. */
static bool find_conditions(reader *x, double t, const double *v, char *may)
{
    sighting at = {.t = t, .v = v};
    clear_conditions(x, may);
    for (int k = 0; k < x->whens; k++) {
        condition_search q = {x, x->when[k].group, may};
        if (begins_group(x, k) && !reader_flip(x, &at, q.group, NULL, 0, add_conditions, &q))
            return false;
    }
    return true;
}

/* ---- switches at an event ---- */

static bool list_switches(reader *x, const sighting *at, int group, switch_list *list)
{
    const judge_result *r;
    judge_point point = reader_point(x, at);
    list->count = 0;
    if (judge_evaluate_group(x->judge, &point, group, &r) != DAE_OK) return false;
    if (!dae_grow(&list->item, &list->room, r->switch_count, sizeof *list->item)) return false;
    for (size_t k = 0; k < r->switch_count; k++) list->item[list->count++] = r->switches[k];
    return true;
}

static const judge_switch *find_switch(const switch_list *list, int id)
{
    for (size_t k = 0; k < list->count; k++)
        if (list->item[k].id == id) return &list->item[k];
    return NULL;
}

/* Switches that are uncertain at a point of the event have the value that they have after it. */
static size_t force_as_after(const switch_list *here, const switch_list *after, judge_force *forces)
{
    size_t count = 0;
    for (size_t k = 0; k < here->count; k++) {
        const judge_switch *w = &here->item[k], *n = find_switch(after, w->id);
        if (reader_uncertain(w, true) && n && !reader_uncertain(n, false))
            forces[count++] = (judge_force){w->id, n->value};
    }
    return count;
}

/* ---- what an event changes ---- */

/* Add to x->reached what a group hands on; *more: it was something. A Real equation hands on to all
 * that it reads, another one to what is discrete. */
static bool reach_through(reader *x, const judge_point *point, const judge_equation *q, bool *more)
{
    const int *list, *slopes;
    size_t count, slope_count;
    bool real = q->type == JUDGE_REAL && q->kind != JUDGE_WHEN, touched = false;
    if (judge_reads(x->judge, point, q->group, &list, &count, &slopes, &slope_count) != DAE_OK)
        return false;
    for (size_t k = 0; k < count; k++) touched = touched || x->reached[list[k]];
    for (size_t k = 0; k < slope_count; k++)
        touched = touched || x->reached[x->derivative[slopes[k]].variable];
    for (size_t k = 0; touched && k < count + slope_count; k++) {
        int v = k < count ? list[k] : x->derivative[slopes[k - count]].variable;
        bool takes = real || x->variable[v].variability == JUDGE_DISCRETE;
        if (!takes || x->reached[v] || x->variable[v].variability < JUDGE_DISCRETE) continue;
        x->reached[v] = *more = true;
    }
    return true;
}

/* x->reached: the variables that the event under way changes at once, or may change later. */
static bool find_reached(reader *x)
{
    const double *b = x->chain[0].v, *a = x->chain[x->chained - 1].v;
    sighting at = {
        .t = x->chain[0].t, .v = a, .event = true, .slopes = x->slope, .slopes_off = x->slope_off};
    judge_point point = reader_point(x, &at);
    bool ok = true, more = false;
    for (int d = 0; d < x->derivatives; d++) x->slope[d] = x->slope_off[d] = 0.0;
    for (int v = 0; v < x->n; v++) {
        const judge_variable *q = &x->variable[v];
        x->reached[v] = (q->variability == JUDGE_DISCRETE || q->reinit) && a[v] != b[v];
        more = more || x->reached[v];
    }
    while (ok && more) {
        more = false;
        for (int e = 0; ok && e < x->equations; e++)
            if (x->equation[e].element == 0 && x->equation[e].kind <= JUDGE_WHEN)
                ok = reach_through(x, &point, &x->equation[e], &more);
    }
    return ok;
}

/* Whether the event changes something that a group reads. */
static bool is_reached(reader *x, int group, bool *reached)
{
    const int *list, *slopes;
    size_t count, slope_count;
    sighting at = {.t = x->chain[0].t,
                   .v = x->chain[0].v,
                   .event = true,
                   .slopes = x->slope,
                   .slopes_off = x->slope_off};
    judge_point point = reader_point(x, &at);
    *reached = false;
    if (judge_reads(x->judge, &point, group, &list, &count, &slopes, &slope_count) != DAE_OK)
        return false;
    for (size_t k = 0; k < count; k++) *reached = *reached || x->reached[list[k]];
    return true;
}

/* What the conditions of a group may be at one point of the event. */
static bool conditions_at(reader *x, const sighting *at, int group, bool as_after, char *may)
{
    condition_search q = {x, group, may};
    bool ok = list_switches(x, at, group, &x->at);
    judge_force *forces = ok ? DAE_ARRAY(judge_force, x->at.count + 1) : NULL;
    size_t count = forces && as_after ? force_as_after(&x->at, &x->after, forces) : 0;
    ok = forces && reader_flip(x, at, group, forces, count, add_conditions, &q);
    dae_free(forces);
    return ok;
}

/* x->now: what the conditions of a group may be right after the event, x->can: at all points of
 * it. What the event does not change goes on as it does after it. */
static bool event_conditions(reader *x, int group)
{
    int last = x->chained - 1;
    bool reached = true;
    sighting next = {.t = x->next.t, .v = x->next.v};
    if (x->next.there &&
        (!list_switches(x, &next, group, &x->after) || !is_reached(x, group, &reached)))
        return false;
    for (int k = 0; k <= last; k++) {
        sighting at = {.t = x->chain[k].t,
                       .v = x->chain[k].v,
                       .event = true,
                       .before = x->chain[k > 0 ? k - 1 : 0].v};
        if (!conditions_at(x, &at, group, !reached, x->can)) return false;
        if (k == last && !conditions_at(x, &at, group, x->next.there, x->now)) return false;
    }
    return true;
}

/* ---- what branches do ---- */

/* Whether a value is what it should be. */
static bool same_value(const reader *x, int v, double a, double b, double spread)
{
    if (a == b) return true;
    if (x->variable[v].type != JUDGE_REAL) return false;
    return fabs(a - b) <= spread + x->off[v] + ROUNDING * fabs(b);
}

typedef struct effect_search {
    const reader *x;
    int when;
    const double *v;  /* what there is */
    bool met, some;   /* all effects of a branch are met; it has some */
    judge_effect off; /* the last one that is not */
} effect_search;

static bool match_effects(void *context, const judge_result *r)
{
    effect_search *q = context;
    q->met = true;
    for (size_t k = 0; r && k < r->effect_count; k++) {
        const judge_effect *e = &r->effects[k];
        if (e->when != q->when || e->variable < 0 || q->x->column[e->variable] < 0) continue;
        q->some = true;
        if (e->error || isnan(e->value)) continue;
        if (same_value(q->x, e->variable, q->v[e->variable], e->value, e->spread)) continue;
        q->off = *e;
        q->met = false;
    }
    return q->met;
}

/* x->mixed = what is discrete from one row, the rest from another */
static void mix(reader *x, const double *discrete, const double *others)
{
    for (int i = 0; i < x->n; i++)
        x->mixed[i] = x->variable[i].variability == JUDGE_CONTINUOUS ? others[i] : discrete[i];
}

/* Whether what branch k says is there after the event: with continuous values before it, or after
 * it, and from each row of the event. */
static bool check_effects(reader *x, int k, effect_search *q)
{
    int last = x->chained - 1, group = x->when[k].group;
    bool ok = true;
    *q = (effect_search){.x = x, .when = k, .v = x->chain[last].v};
    x->fires[k] = true;
    for (int i = 0; ok && i < x->chained && !q->met; i++) {
        if (i == last && last > 0) break;
        const double *from = x->chain[i].v, *to = x->chain[i < last ? i + 1 : i].v;
        sighting at = {
            .t = x->chain[last].t, .v = x->mixed, .before = from, .event = true, .fires = x->fires};
        mix(x, to, from);
        ok = reader_flip(x, &at, group, NULL, 0, match_effects, q);
        at.v = to;
        if (ok && !q->met) ok = reader_flip(x, &at, group, NULL, 0, match_effects, q);
    }
    x->fires[k] = false;
    return ok;
}

/* Whether a condition of branch k rises for certain, or may do so. */
static bool must_rise(const reader *x, int k)
{
    const judge_when *w = &x->when[k];
    for (int c = w->first; c < w->first + w->count; c++)
        if (x->could[c] == MAY_BE_FALSE && x->now[c] == MAY_BE_TRUE) return true;
    return false;
}

static bool may_rise(const reader *x, int k)
{
    const judge_when *w = &x->when[k];
    for (int c = w->first; c < w->first + w->count; c++) {
        bool was_false = !x->could[c] || ((x->could[c] | x->can[c]) & MAY_BE_FALSE);
        if (was_false && (x->can[c] & MAY_BE_TRUE)) return true;
    }
    return false;
}

static bool is_equation(const reader *x, int k)
{
    for (int e = 0; e < x->equations; e++)
        if (x->equation[e].group == x->when[k].group) return x->equation[e].kind == JUDGE_WHEN;
    return false;
}

/* Whether a condition of branch k may have become true in this event. */
static bool becomes_true(const reader *x, int k)
{
    const judge_when *w = &x->when[k];
    for (int c = w->first; c < w->first + w->count; c++)
        if (x->could[c] != MAY_BE_TRUE && ((x->can[c] | x->now[c]) & MAY_BE_TRUE)) return true;
    return false;
}

bool reader_must_fire(const reader *x, int k)
{
    bool must = must_rise(x, k);
    for (int p = x->when[k].previous; p >= 0; p = x->when[p].previous)
        must = must && !becomes_true(x, p);
    return must;
}

/* A branch whose condition rises has done what it says. */
static bool check_branch(reader *x, int k)
{
    effect_search q;
    char left[64], right[64];
    const judge_when *w = &x->when[k];
    if (!reader_must_fire(x, k) || !is_equation(x, k)) return true;
    if (!check_effects(x, k, &q)) return false;
    if (q.met || !q.some) return true;
    const judge_effect *e = &q.off;
    double t = x->chain[x->chained - 1].t;
    dae_verify_fault f = {.line = e->line,
                          .t = t,
                          .left = q.v[e->variable],
                          .right = e->value,
                          .allowed = e->spread + x->off[e->variable]};
    reader_note(x, x->equations + k, &f,
                "line %d, when %s: it becomes true at t = %.9g, so that %s would be %s; it is %s",
                w->line, w->text ? w->text : "", t, x->variable[e->variable].name,
                reader_value(x, e->variable, e->value, right, sizeof right),
                reader_value(x, e->variable, f.left, left, sizeof left));
    return true;
}

/* ---- changes that nothing explains ---- */

typedef struct target_search {
    reader *x;
    int when, variable;
    bool found;
} target_search;

/* Whether a when has no value at an event, as where it reads a derivative: then it may have done
 * anything, and is listed as not judged. */
static bool is_mute(target_search *q, const judge_result *r)
{
    reader *x = q->x;
    for (int e = 0; r && e < x->equations; e++) {
        if (x->equation[e].group != x->when[q->when].group || !r->rows[e].error) continue;
        x->mute[e] = r->rows[e].error;
        q->found = true;
    }
    return q->found;
}

static bool find_target(void *context, const judge_result *r)
{
    target_search *q = context;
    if (!r) q->found = true;
    for (size_t k = 0; r && k < r->effect_count && !q->found; k++)
        q->found = r->effects[k].when == q->when && r->effects[k].variable == q->variable;
    return q->found || is_mute(q, r);
}

/* Whether some branch that may have fired changes variable v. */
static bool find_cause(reader *x, int v, bool *found)
{
    int last = x->chained - 1;
    *found = false;
    for (int k = 0; k < x->whens && !*found; k++) {
        if (!may_rise(x, k)) continue;
        target_search q = {x, k, v,
                           !is_equation(x, k)}; /* in algorithms all values are looked at */
        sighting at = {.t = x->chain[last].t,
                       .v = x->chain[last].v,
                       .before = x->chain[0].v,
                       .event = true,
                       .fires = x->fires};
        x->fires[k] = true;
        bool ok = q.found || reader_flip(x, &at, x->when[k].group, NULL, 0, find_target, &q);
        x->fires[k] = false;
        if (!ok) return false;
        *found = q.found;
    }
    return true;
}

static bool check_changes(reader *x)
{
    char before[64], after[64];
    const reading *b = &x->chain[0], *a = &x->chain[x->chained - 1];
    for (int v = 0; v < x->n; v++) {
        const judge_variable *q = &x->variable[v];
        bool found, watched = (q->in_when || q->reinit) && x->column[v] >= 0;
        if (!watched || x->faulty[x->equations + x->whens + v]) continue;
        if (same_value(x, v, a->v[v], b->v[v], 0.0) || isnan(a->v[v]) || isnan(b->v[v])) continue;
        if (!find_cause(x, v, &found)) return false;
        if (found) continue;
        dae_verify_fault f = {
            .line = q->line, .t = a->t, .left = a->v[v], .right = b->v[v], .allowed = x->off[v]};
        reader_note(x, x->equations + x->whens + v, &f,
                    "%s (line %d) changes from %s to %s at t = %.9g, where no when that changes it "
                    "has a condition that becomes true",
                    q->name, q->line, reader_value(x, v, b->v[v], before, sizeof before),
                    reader_value(x, v, a->v[v], after, sizeof after), a->t);
    }
    return true;
}

/* What has a derivative in the text is continuous, unless a reinit says otherwise: a jump would be
 * an impulse of the derivative. */
static void check_jumps(reader *x)
{
    const reading *b = &x->chain[0], *a = &x->chain[x->chained - 1];
    for (int v = 0; v < x->n; v++) {
        const judge_variable *q = &x->variable[v];
        if (q->derivative < 0 || q->reinit || q->type != JUDGE_REAL || x->column[v] < 0) continue;
        if (same_value(x, v, a->v[v], b->v[v], 0.0) || isnan(a->v[v]) || isnan(b->v[v])) continue;
        dae_verify_fault f = {
            .line = q->line, .t = a->t, .left = a->v[v], .right = b->v[v], .allowed = x->off[v]};
        reader_note(x, x->equations + x->whens + v, &f,
                    "%s (line %d) jumps from %.9g to %.9g at t = %.9g, where no reinit says so and "
                    "der(%s) is asked for",
                    q->name, q->line, b->v[v], a->v[v], a->t, q->name);
    }
}

/* What is differentiated goes on from other values. */
static bool any_jumps(const reader *x)
{
    const reading *b = &x->chain[0], *a = &x->chain[x->chained - 1];
    for (int v = 0; v < x->n; v++)
        if (x->variable[v].derivative >= 0 && !(fabs(a->v[v] - b->v[v]) <= 0.01 * x->off[v]))
            return true;
    return false;
}

/* Discrete variables of whens keep their values from one row to another. */
static void check_kept(reader *x, const double *from, double t, const double *v)
{
    char before[64], after[64];
    for (int i = 0; i < x->n; i++) {
        const judge_variable *q = &x->variable[i];
        if (!q->in_when || x->column[i] < 0 || v[i] == from[i]) continue;
        if (isnan(v[i]) || isnan(from[i])) continue;
        dae_verify_fault f = {
            .line = q->line, .t = t, .left = v[i], .right = from[i], .allowed = 0.0};
        reader_note(x, x->equations + x->whens + i, &f,
                    "%s (line %d) changes from %s to %s before t = %.9g, where there is no event",
                    q->name, q->line, reader_value(x, i, from[i], before, sizeof before),
                    reader_value(x, i, v[i], after, sizeof after), t);
    }
}

/* ---- events ---- */

/* What is known of an event is complete: judge it. */
static bool settle_event(reader *x)
{
    bool ok = true, first = x->starting;
    int faults = x->faults;
    const reading *after = &x->chain[x->chained - 1];
    sighting at = {.t = after->t, .v = after->v, .event = true};
    clear_conditions(x, x->now);
    clear_conditions(x, x->can);
    ok = reader_equations(x, &at, NULL, NULL) && (x->whens == 0 || find_reached(x));
    for (int k = 0; ok && k < x->whens; k++)
        if (begins_group(x, k)) ok = event_conditions(x, x->when[k].group);
    for (int k = 0; ok && k < x->whens && !first; k++) ok = check_branch(x, k);
    if (ok && !first && !x->overlong) ok = check_changes(x);
    if (ok && !first) check_jumps(x);
    panels_part(&x->panels, any_jumps(x));
    if (ok && (!first || x->fixed) && x->faults == faults) ok = reader_explain(x, first);
    x->chained = 0;
    x->overlong = x->starting = false;
    return ok;
}

bool reader_watch_event(reader *x, double t, const double *row)
{
    if (!x->judge) return true;
    reader_place(x, row, x->mixed);
    if (x->starting && !reader_past_start(x, t, x->mixed)) return false;
    if (x->chained == MOST_CHAIN) x->chained--, x->overlong = true;
    keep_reading(&x->chain[x->chained++], t, x->mixed, x->n);
    return true;
}

/* A condition has become true without an event. */
static bool check_missed(reader *x, double t, const double *v)
{
    bool ok = true;
    keep_reading(&x->chain[0], x->last.t, x->last.v, x->n);
    keep_reading(&x->chain[1], t, v, x->n);
    x->chained = 2;
    memcpy(x->can, x->now, (size_t)x->conditions + 1);
    int faults = x->faults;
    bool must = false;
    for (int k = 0; ok && k < x->whens; k++) {
        must = must || reader_must_fire(x, k);
        ok = check_branch(x, k);
    }
    if (must) keep_reading(&x->chain[0], t, v, x->n);
    if (ok && must && x->faults == faults) ok = reader_explain(x, false);
    x->chained = 0;
    return ok;
}

/* What conditions are before the next event. One that was false, and may be either now, is to fire
 * on its way to true; one that was true is to be false at an event first. */
static void keep_conditions(reader *x)
{
    for (int c = 0; c < x->conditions; c++)
        if (x->now[c] != MAY_BE_BOTH || !x->could[c]) x->could[c] = x->now[c];
}

bool reader_watch_row(reader *x, double t, const double *v)
{
    bool after = x->chained > 0, ok = true;
    reading *next = &x->next;
    keep_reading(next, t, v, x->n);
    if (after && !x->given) check_kept(x, x->chain[x->chained - 1].v, t, v);
    if (after) ok = settle_event(x);
    if (ok) ok = find_conditions(x, t, v, x->now);
    if (ok && !after && x->last.there && !x->given) {
        check_kept(x, x->last.v, t, v);
        ok = check_missed(x, t, v);
    }
    keep_conditions(x);
    keep_reading(&x->last, t, v, x->n);
    next->there = false;
    return ok;
}

/* Ticks of clocks within a step, which no event belongs to. */
static bool check_ticks(reader *x, dae_solver *s, double from, double to)
{
    for (int k = 0; k < x->samples; k++) {
        const judge_sample *q = &x->sample[k];
        double passes = ceil((fmin(from, to) - q->start) / q->interval);
        double tick = q->start + fmax(passes, 0.0) * q->interval;
        double margin = 1e-9 * q->interval;
        if (tick <= fmin(from, to) + margin) tick += q->interval;
        if (!(tick < fmax(from, to) - margin)) continue;
        if (!reader_values(x, s, tick, x->mixed)) continue;
        keep_reading(&x->chain[0], tick, x->mixed, x->n);
        x->chained = 1;
        x->starting = false;
        if (!settle_event(x)) return false;
    }
    return true;
}

bool reader_watch_step(reader *x, dae_solver *s, double from, double to)
{
    double margin = 1e-3 * (to - from);
    for (int k = 0; k < 2; k++) {
        if (x->chained == 0 && (x->whens == 0 || k == 0)) continue;
        if (x->chained == 0 && !check_ticks(x, s, from, to)) return false;
        double t = k == 0 ? from + margin : to - margin;
        if (!reader_values(x, s, t, x->here)) continue;
        reader_sized(x, t, x->here);
        if (!reader_watch_row(x, t, x->here)) return false;
    }
    return true;
}

bool reader_watch_end(reader *x)
{
    if (x->chained == 0) return true;
    x->next.there = false;
    return settle_event(x);
}
