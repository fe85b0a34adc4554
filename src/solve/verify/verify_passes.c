/* Whether the text explains what an event makes of what is discrete, and of states that a reinit
 * names. At an event whens fire in passes: pre is what was before the pass, a branch fires where
 * its condition becomes true from one pass to the next, equations of discrete variables hold in
 * each, and the event is over when nothing changes any more (Modelica 3.6, 8.6). A run shows the
 * values before the first pass and after the last. This searches for passes that lead from one to
 * the other: where relations are uncertain all choices are tried, and values that are not searched
 * for are taken from before the event or from after it. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "solve/verify/verify_reader.h"

enum { MOST_STAGES = 64, MOST_RISING = 5, ROUNDS = 3, MOST_DEFINITIONS = 50 };
static const int MOST_PASSES = 20000; /* in a run */

/* What one pass leaves. Values that are not known are NAN. */
typedef struct stage {
    double *v;      /* per value: computed from the values before the event */
    double *other;  /* the same, from those after it */
    double *spread; /* how far it may be from either */
    char *was;      /* per condition: what it was in this pass */
    char *fired;    /* per branch: it has fired on the way */
} stage;

typedef struct search {
    reader *x;
    const double *before, *after;
    bool first; /* the event is the start */
    stage stage[MOST_STAGES + 1];
    int count;
    bool full;            /* there are too many ways */
    bool contrary;        /* what uncertain relations decide is not as after the event */
    bool uncertain;       /* they decide something in the pass at hand */
    bool found;           /* some way leads to what there is */
    char *may;            /* per condition, in the pass at hand */
    int *rising;          /* per branch: work space */
    double *values, *pre; /* work space */
    double *room;         /* of all of it; owned */
    char *flags;          /* the same */
} search;

/* ---- what is searched for ---- */

/* The variable that equation e is a definition of, being discrete; -1: none. Equations have it on
 * their left side. */
static int find_defined(reader *x, int e)
{
    char name[128];
    const judge_equation *q = &x->equation[e];
    int v = q->variable;
    if (q->type == JUDGE_REAL || q->kind > JUDGE_ALGORITHM || x->skipped[e]) return -1;
    if (q->kind == JUDGE_EQUATION && q->text && q->element == 0) {
        size_t length = strcspn(q->text, " =");
        if (length >= sizeof name || strncmp(q->text + length, " = ", 3) != 0) return -1;
        memcpy(name, q->text, length);
        name[length] = '\0';
        v = judge_find(x->judge, name);
    }
    bool right = v >= 0 && x->variable[v].variability == JUDGE_DISCRETE && !x->variable[v].in_when;
    return right && x->column[v] >= 0 ? v : -1;
}

bool reader_find_definitions(reader *x)
{
    int count = 0;
    bool memory = x->whens > 0; /* something reads a value that was before */
    x->defined = DAE_ARRAY(int, x->equations + 1);
    x->moves = DAE_ARRAY(bool, x->n + 1);
    if (!x->defined || !x->moves) return false;
    for (int e = 0; e < x->equations; e++) {
        const char *text = x->equation[e].text;
        memory = memory || (text && strstr(text, "pre(")) || x->equation[e].kind == JUDGE_ALGORITHM;
        x->defined[e] = find_defined(x, e);
        count += x->defined[e] >= 0;
    }
    for (int e = 0; e < x->equations; e++)
        if (count > MOST_DEFINITIONS || !memory)
            x->defined[e] = -1;
        else if (x->defined[e] >= 0)
            x->moves[x->defined[e]] = true;
    for (int i = 0; i < x->n; i++)
        if ((x->variable[i].in_when || x->variable[i].reinit) && x->column[i] >= 0)
            x->moves[i] = true;
    return true;
}

static bool is_state(const reader *x, int i)
{
    return x->variable[i].variability == JUDGE_CONTINUOUS;
}

/* values = `row`, with what is searched for from v; states that a reinit names get their new values
 * when a pass is over */
static void place(const reader *x, const double *row, const double *v, const double *states,
                  double *values)
{
    for (int i = 0; i < x->n; i++)
        values[i] = !x->moves[i] ? row[i] : is_state(x, i) ? states[i] : v[i];
}

static bool search_new(search *q, reader *x)
{
    size_t n = (size_t)x->n, c = (size_t)x->conditions + 1, w = (size_t)x->whens + 1;
    size_t stages = MOST_STAGES + 1;
    q->x = x;
    q->room = DAE_ARRAY(double, 3 * n * stages + 3 * n + 1);
    q->flags = DAE_ARRAY(char, (c + w) * stages + c);
    q->rising = DAE_ARRAY(int, w);
    if (!q->room || !q->flags || !q->rising) return false;
    for (size_t k = 0; k < stages; k++)
        q->stage[k] =
            (stage){q->room + 3 * n * k, q->room + 3 * n * k + n, q->room + 3 * n * k + 2 * n,
                    q->flags + (c + w) * k, q->flags + (c + w) * k + c};
    q->values = q->room + 3 * n * stages;
    q->pre = q->values + n;
    q->may = q->flags + (c + w) * stages;
    return true;
}

static void search_free(search *q)
{
    dae_free_all(q->room, q->flags, q->rising);
}

static double time_of(const search *q)
{
    return q->x->chain[q->x->chained - 1].t;
}

/* ---- conditions ---- */

/* Add to q->may what all conditions may be with q->values; event false: clocks do not strike, and
 * it is not the start. */
static bool add_conditions(search *q, bool event)
{
    reader *x = q->x;
    sighting at = {.t = time_of(q),
                   .v = q->values,
                   .before = q->pre,
                   .event = event,
                   .first = event && q->first};
    for (int k = 0; k < x->whens; k++)
        if (!reader_add_conditions(x, &at, k, q->may)) return false;
    return true;
}

/* q->may = what conditions may be in a pass from s, at the end of which there is v. */
static bool find_conditions(search *q, const stage *s, const double *v)
{
    reader *x = q->x;
    const double *rows[] = {q->before, q->after};
    memset(q->may, 0, (size_t)x->conditions + 1);
    for (int k = 0; k < 2; k++) {
        place(x, s == q->stage ? q->before : rows[k], s->v, s->v, q->pre);
        place(x, rows[k], v, s->v, q->values);
        if (!add_conditions(q, true)) return false;
    }
    return true;
}

/* Whether branch k may fire in the pass at hand after s, or must do so by its own condition. */
static bool may_fire(const search *q, const stage *s, int k)
{
    const judge_when *w = &q->x->when[k];
    for (int c = w->first; c < w->first + w->count; c++)
        if ((s->was[c] & MAY_BE_FALSE) && (q->may[c] & MAY_BE_TRUE)) return true;
    return false;
}

static bool becomes_true(const search *q, const stage *s, int k)
{
    const judge_when *w = &q->x->when[k];
    for (int c = w->first; c < w->first + w->count; c++)
        if (s->was[c] == MAY_BE_FALSE && q->may[c] == MAY_BE_TRUE) return true;
    return false;
}

/* Whether the branches that x->fires names are those that fire in the pass at hand. */
static bool is_consistent(const search *q, const stage *s)
{
    const reader *x = q->x;
    for (int k = 0; k < x->whens; k++) {
        bool earlier = false;
        for (int p = x->when[k].previous; p >= 0; p = x->when[p].previous)
            earlier = earlier || may_fire(q, s, p);
        if (x->fires[k] ? !may_fire(q, s, k) : becomes_true(q, s, k) && !earlier) return false;
    }
    return true;
}

/* ---- effects ---- */

typedef struct effect_list {
    search *q;
    int group;
    double *v, *spread;
    bool again; /* of the same pass, with other values of switches */
} effect_list;

/* Of values that uncertain relations choose between, that after the event or the contrary. */
static void take(effect_list *to, int i, double value, double spread)
{
    const reader *x = to->q->x;
    if (i < 0 || !x->moves[i]) return;
    double after = to->q->after[i];
    bool differs = to->again && to->v[i] != value;
    bool nearer = fabs(value - after) < fabs(to->v[i] - after);
    to->q->uncertain = to->q->uncertain || differs;
    if (!differs || nearer != to->q->contrary) to->v[i] = value;
    to->spread[i] = fmax(to->spread[i], spread);
}

/* What a group makes of its variables. */
static bool take_effects(void *context, const judge_result *r)
{
    effect_list *to = context;
    const reader *x = to->q->x;
    to->again = to->again || !r;
    for (size_t k = 0; r && k < r->effect_count; k++) {
        const judge_effect *e = &r->effects[k];
        take(to, e->variable, e->error ? (double)NAN : e->value, e->spread);
    }
    for (int e = 0; e < x->equations; e++) {
        const judge_equation *g = &x->equation[e];
        if (g->group != to->group || g->kind > JUDGE_ALGORITHM) continue;
        int i = g->kind == JUDGE_ALGORITHM ? g->variable : x->defined[e];
        const judge_row *row = r ? &r->rows[e] : NULL;
        if (i >= 0 && (x->variable[i].in_when || x->defined[e] == i))
            take(to, i, row && !row->error ? row->right : (double)NAN, row ? row->spread : 0.0);
    }
    to->again = true;
    return !r;
}

/* v = what the text makes of q->values and q->pre where the branches fire that x->fires names. */
static bool apply(search *q, double *v, double *spread)
{
    reader *x = q->x;
    int last = -1;
    sighting at = {.t = time_of(q),
                   .v = q->values,
                   .before = q->pre,
                   .event = true,
                   .first = q->first,
                   .fires = x->fires};
    for (int k = 0; k < x->whens; k++) {
        effect_list to = {q, x->when[k].group, v, spread, false};
        if (x->fires[k] && !reader_flip(x, &at, to.group, NULL, 0, take_effects, &to)) return false;
    }
    at.event = !q->first; /* at the start the text says what holds */
    for (int e = 0; e < x->equations; e++) {
        effect_list to = {q, x->equation[e].group, v, spread, false};
        if (x->defined[e] < 0 || to.group == last) continue;
        last = to.group;
        if (!reader_flip(x, &at, to.group, NULL, 0, take_effects, &to)) return false;
    }
    return true;
}

/* ---- passes ---- */

static bool same_stage(const search *q, const stage *a, const stage *b)
{
    for (int i = 0; i < q->x->n; i++) {
        if (!q->x->moves[i]) continue;
        if (a->v[i] != b->v[i] && !(isnan(a->v[i]) && isnan(b->v[i]))) return false;
        if (a->other[i] != b->other[i] && !(isnan(a->other[i]) && isnan(b->other[i]))) return false;
    }
    return memcmp(a->was, b->was, (size_t)q->x->conditions + 1) == 0;
}

/* d->was: what conditions are in the pass from s to d. One that may be either is what it was,
 * unless its branch fires, or one before it does. */
static void keep_conditions(const search *q, const stage *s, stage *d)
{
    const reader *x = q->x;
    memcpy(d->was, q->may, (size_t)x->conditions + 1);
    for (int k = 0; k < x->whens; k++) {
        const judge_when *w = &x->when[k];
        bool earlier = false;
        for (int p = w->previous; p >= 0; p = x->when[p].previous) earlier = earlier || x->fires[p];
        if (x->fires[k]) d->fired[k] = 1;
        for (int c = w->first; c < w->first + w->count; c++) {
            if (x->fires[k] && w->count == 1)
                d->was[c] = MAY_BE_TRUE;
            else if (q->may[c] == MAY_BE_BOTH && !earlier && !x->fires[k])
                d->was[c] = s->was[c];
        }
    }
}

/* Values of the pass from s where the branches fire that x->fires names, in a stage that is not yet
 * one of the list; *fits: it is a pass. */
static bool make_pass(search *q, const stage *s, bool *fits)
{
    reader *x = q->x;
    stage *d = &q->stage[q->count];
    size_t size = (size_t)x->n * sizeof(double);
    memcpy(d->v, s->v, size);
    memcpy(d->other, s->other, size);
    memcpy(d->spread, s->spread, size);
    memcpy(d->fired, s->fired, (size_t)x->whens + 1);
    place(x, q->before, s->v, s->v, q->pre);
    for (int round = 0; round < ROUNDS; round++) {
        place(x, q->before, d->v, s->v, q->values);
        if (!apply(q, d->v, d->spread)) return false;
    }
    place(x, q->after, q->after, q->after, q->values);
    if (!apply(q, d->other, d->spread) || !find_conditions(q, s, d->v)) return false;
    *fits = is_consistent(q, s);
    keep_conditions(q, s, d);
    x->passes++;
    return true;
}

/* The stage that was made is one of the list, unless it is there already. */
static void keep_stage(search *q)
{
    for (int k = 0; k < q->count; k++)
        if (same_stage(q, &q->stage[k], &q->stage[q->count])) return;
    if (++q->count == MOST_STAGES) q->full = true;
}

/* Whether two of the branches that a mask chooses are of one clause. */
static bool is_clash(const search *q, unsigned mask, int count)
{
    for (int i = 0; i < count; i++)
        for (int p = q->x->when[q->rising[i]].previous; mask & 1u << i && p >= 0;
             p = q->x->when[p].previous)
            for (int j = 0; j < i; j++)
                if (mask & 1u << j && q->rising[j] == p) return true;
    return false;
}

/* Branches that may fire in some pass after s, with the values before it or at the end. */
static bool find_rising(search *q, const stage *s, int *count)
{
    reader *x = q->x;
    *count = 0;
    if (!find_conditions(q, s, s->v)) return false;
    for (int k = 0; k < x->whens; k++) {
        bool may = may_fire(q, s, k);
        if (may) q->rising[(*count)++] = k;
    }
    place(x, q->before, s->v, s->v, q->pre);
    place(x, q->after, q->after, s->v, q->values);
    if (!add_conditions(q, true)) return false;
    for (int k = 0; k < x->whens; k++) {
        bool there = false;
        for (int i = 0; i < *count; i++) there = there || q->rising[i] == k;
        if (!there && may_fire(q, s, k)) q->rising[(*count)++] = k;
    }
    return true;
}

/* Whether values are those of a stage, as far as they are known. */
static bool is_value(const reader *x, int i, double there, double said, double spread)
{
    double off = x->variable[i].type == JUDGE_REAL ? spread + x->off[i] + 1e-12 * fabs(said) : 0.0;
    return isnan(said) || isnan(there) || there == said || fabs(there - said) <= off;
}

/* How many values after the event are not those of a stage; *which: the first one */
static int count_off(const search *q, const stage *s, int *which)
{
    int count = 0;
    for (int i = 0; i < q->x->n; i++) {
        if (!q->x->moves[i] || is_value(q->x, i, q->after[i], s->v[i], s->spread[i]) ||
            is_value(q->x, i, q->after[i], s->other[i], s->spread[i]))
            continue;
        if (count++ == 0) *which = i;
    }
    return count;
}

/* A branch that must fire on the way to a stage, and has not; -1: none */
static int find_idle(const search *q, const stage *s)
{
    for (int k = 0; k < q->x->whens && !q->first; k++)
        if (!s->fired[k] && reader_must_fire(q->x, k)) return k;
    return -1;
}

/* Conditions of what has fired, or may have, are not false any more. */
static void remember(const search *q, const stage *s)
{
    reader *x = q->x;
    for (int k = 0; k < x->whens; k++) {
        const judge_when *w = &x->when[k];
        bool later = false;
        for (int p = w->previous; p >= 0; p = x->when[p].previous) later = later || s->fired[p];
        for (int c = w->first; c < w->first + w->count; c++)
            if (s->fired[k] || later) x->could[c] |= MAY_BE_TRUE;
    }
}

/* Whether s is what there is, and nothing changes any more in the pass that was made from it. */
static bool is_last(const search *q, const stage *s)
{
    int which;
    return count_off(q, s, &which) == 0 && count_off(q, &q->stage[q->count], &which) == 0 &&
           find_idle(q, s) < 0;
}

/* All stages after number `from`, which is a last one if nothing needs to change. */
static bool add_stages(search *q, int from)
{
    reader *x = q->x;
    const stage *s = &q->stage[from];
    int count;
    bool fits, ok = true;
    if (!find_rising(q, s, &count)) return false;
    if (count > MOST_RISING) q->full = true;
    for (unsigned mask = 0; ok && !q->full && mask < 1u << count; mask++) {
        if (is_clash(q, mask, count)) continue;
        for (int i = 0; i < count; i++) x->fires[q->rising[i]] = mask & 1u << i;
        q->uncertain = q->contrary = false;
        do {
            ok = make_pass(q, s, &fits);
            bool rests = ok && fits && mask == 0 && is_last(q, s);
            q->found = q->found || rests;
            if (rests) remember(q, s);
            if (ok && fits) keep_stage(q);
            q->contrary = !q->contrary;
        } while (ok && !q->full && q->uncertain && q->contrary);
    }
    for (int i = 0; i < count; i++) x->fires[q->rising[i]] = false;
    return ok;
}

/* ---- the answer ---- */

/* The first stage: before the event, or what the start is to be. */
static bool begin(search *q)
{
    reader *x = q->x;
    stage *s = &q->stage[q->count++];
    for (int i = 0; i < x->n; i++) {
        const judge_variable *v = &x->variable[i];
        bool known = isfinite(v->start) && (v->fixed || !is_state(x, i));
        s->v[i] = s->other[i] = q->first && x->moves[i] && known ? v->start : q->before[i];
    }
    if (!q->first) {
        for (int c = 0; c < x->conditions; c++) s->was[c] = x->could[c] ? x->could[c] : MAY_BE_BOTH;
        return true;
    }
    memset(q->may, 0, (size_t)x->conditions + 1);
    place(x, q->before, s->v, s->v, q->pre);
    memcpy(q->values, q->pre, (size_t)x->n * sizeof(double));
    if (!add_conditions(q, false)) return false;
    memcpy(s->was, q->may, (size_t)x->conditions + 1);
    return true;
}

/* The value of variable i is not that of a stage. */
static void note_value(const search *q, const stage *best, int i)
{
    char there[64], said[64], ago[64];
    reader *x = q->x;
    const judge_variable *v = &x->variable[i];
    double t = time_of(q), right = isnan(best->v[i]) ? best->other[i] : best->v[i];
    dae_verify_fault f = {
        .line = v->line, .t = t, .left = q->after[i], .right = right, .allowed = x->off[i]};
    reader_value(x, i, q->after[i], there, sizeof there);
    reader_value(x, i, right, said, sizeof said);
    if (q->first)
        reader_note(x, x->equations + x->whens + i, &f,
                    "line %d: %s begins with %s, where what the text fixes makes it %s", v->line,
                    v->name, there, said);
    else
        reader_note(x, x->equations + x->whens + i, &f,
                    "%s (line %d) changes from %s to %s at t = %.9g, where the text makes it %s",
                    v->name, v->line, reader_value(x, i, q->before[i], ago, sizeof ago), there, t,
                    said);
}

/* Branch k has not fired. */
static void note_idle(const search *q, int k)
{
    reader *x = q->x;
    const judge_when *w = &x->when[k];
    dae_verify_fault f = {.line = w->line, .t = time_of(q), .right = 1.0};
    reader_note(x, x->equations + k, &f,
                "line %d, when %s: it becomes true at t = %.9g, and what it says does not happen",
                w->line, w->text ? w->text : "", time_of(q));
}

/* No way leads to what there is: say what the nearest one says. */
static void note_nearest(const search *q)
{
    int least = -1, best = 0, variable = -1, idle = find_idle(q, q->stage);
    for (int k = 0; k < q->count; k++) {
        int which = -1, off = count_off(q, &q->stage[k], &which);
        if (off == 0) continue;
        if (least < 0 || off <= least) least = off, variable = which, best = k;
    }
    if (idle >= 0 && count_off(q, q->stage, &best) == 0)
        note_idle(q, idle);
    else if (variable >= 0)
        note_value(q, &q->stage[best], variable);
    else if (idle >= 0)
        note_idle(q, idle);
}

/* Search, the shortest ways first, until one ends with what there is. */
static bool find_way(search *q)
{
    bool ok = begin(q);
    for (int k = 0; ok && !q->full && !q->found && k < q->count; k++) ok = add_stages(q, k);
    if (ok && !q->full && !q->found) note_nearest(q);
    return ok;
}

/* Search between two rows of the event. */
static bool explain(reader *x, const double *before, const double *after, bool first)
{
    search q = {.before = before, .after = after, .first = first};
    bool ok = search_new(&q, x) && find_way(&q);
    search_free(&q);
    for (int c = 0; c < x->conditions; c++)
        if (!q.found)
            x->could[c] = MAY_BE_BOTH;
        else if ((x->can[c] | x->now[c]) & MAY_BE_FALSE)
            x->could[c] |= MAY_BE_FALSE;
    return ok;
}

/* Whether a when has no value at events, and may have done anything: it is listed as not judged. */
static bool any_mute(const reader *x)
{
    for (int e = 0; e < x->equations; e++)
        if (x->mute[e]) return true;
    return false;
}

bool reader_explain(reader *x, bool first)
{
    const double *before = x->chain[0].v, *after = x->chain[x->chained - 1].v;
    bool any = false, ok = true, begins = first;
    for (int i = 0; i < x->n; i++) any = any || x->moves[i];
    for (int e = 0; e < x->equations; e++) /* the start is not what start values say */
        begins = begins && !(x->equation[e].kind >= JUDGE_INITIAL_EQUATION &&
                             x->equation[e].kind <= JUDGE_INITIAL_ALGORITHM);
    if (!any || x->overlong || x->passes >= MOST_PASSES || any_mute(x)) {
        for (int c = 0; c < x->conditions; c++) x->could[c] = MAY_BE_BOTH;
        return true;
    }
    if (begins) ok = explain(x, before, before, true);
    return ok && (!first || x->chained > 1) ? explain(x, before, after, false) : ok;
}
