/* Whether the whens of a text explain what an event makes of their variables. At an event they fire
 * in passes: pre is what was before the pass, a branch fires where its condition becomes true from
 * one pass to the next, and the event is over when nothing changes any more (Modelica 3.6, 8.6). A
 * run shows the values before the first pass and after the last. This searches for passes that lead
 * from one to the other: where relations are uncertain all choices are tried, and values that no
 * when changes are taken from before the event or from after it. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "solve/verify/verify_reader.h"

enum { MOST_STAGES = 40, MOST_RISING = 4, ROUNDS = 3, MOST_EXPLAINED = 1000 };

/* What one pass leaves. Values that are not known are NAN. */
typedef struct stage {
    double *v;      /* per value: of what whens change, the others as before the event */
    double *other;  /* the same, computed from the values after the event */
    double *spread; /* how far it may be from either */
    char *was;      /* per condition: what it may have been in the pass before */
    char *fired;    /* per branch: it has fired on the way */
} stage;

typedef struct search {
    reader *x;
    const double *before, *after;
    bool first; /* the event is the start */
    stage stage[MOST_STAGES];
    int count;
    bool full;            /* there are too many ways */
    bool found;           /* some way leads to what there is */
    char *may;            /* per condition, in the pass at hand */
    int *rising;          /* per branch: work space */
    double *values, *pre; /* work space */
    double *room;         /* of all of it; owned */
    char *flags;          /* the same */
} search;

static bool moves(const reader *x, int i)
{
    const judge_variable *q = &x->variable[i];
    return (q->in_when || q->reinit) && x->column[i] >= 0;
}

/* values = `row`, with what whens change from v; reinit: states too, which pass by pass get their
 * new values when it is over */
static void place(const reader *x, const double *row, const double *v, const double *states,
                  double *values)
{
    for (int i = 0; i < x->n; i++) {
        bool state = x->variable[i].variability == JUDGE_CONTINUOUS;
        values[i] = !moves(x, i) ? row[i] : state ? states[i] : v[i];
    }
}

static bool search_new(search *q, reader *x)
{
    size_t n = (size_t)x->n, c = (size_t)x->conditions + 1, w = (size_t)x->whens + 1;
    q->x = x;
    q->room = DAE_ARRAY(double, 3 * n * MOST_STAGES + 3 * n + 1);
    q->flags = DAE_ARRAY(char, (c + w) * MOST_STAGES + c);
    q->rising = DAE_ARRAY(int, w);
    if (!q->room || !q->flags || !q->rising) return false;
    for (size_t k = 0; k < MOST_STAGES; k++)
        q->stage[k] = (stage){q->room + 3 * n * k, q->room + 3 * n * k + n,
                              q->room + 3 * n * k + 2 * n, q->flags + (c + w) * k,
                              q->flags + (c + w) * k + c};
    q->values = q->room + 3 * n * MOST_STAGES;
    q->pre = q->values + n;
    q->may = q->flags + (c + w) * MOST_STAGES;
    return true;
}

static void search_free(search *q)
{
    dae_free_all(q->room, q->flags, q->rising);
}

/* ---- conditions ---- */

/* Add to q->may what all conditions may be with these values; event false: clocks do not strike, and
 * it is not the start. */
static bool add_conditions(search *q, const double *values, bool event)
{
    reader *x = q->x;
    sighting at = {.t = x->chain[x->chained - 1].t,
                   .v = values,
                   .before = q->pre,
                   .event = event,
                   .first = event && q->first};
    for (int k = 0; k < x->whens; k++)
        if (!reader_add_conditions(x, &at, x->when[k].group, q->may)) return false;
    return true;
}

/* q->may = what conditions may be in the pass after a stage. */
static bool find_conditions(search *q, const stage *s)
{
    reader *x = q->x;
    const double *rows[] = {q->before, q->after};
    memset(q->may, 0, (size_t)x->conditions + 1);
    for (int k = 0; k < 2; k++) {
        place(x, s == q->stage ? q->before : rows[k], s->v, s->v, q->pre);
        place(x, rows[k], s->v, s->v, q->values);
        if (!add_conditions(q, q->values, true)) return false;
        if (!add_conditions(q, q->after, true)) return false;
    }
    return true;
}

/* Whether branch k may fire in the pass after a stage. */
static bool rises(const search *q, const stage *s, int k)
{
    const judge_when *w = &q->x->when[k];
    for (int c = w->first; c < w->first + w->count; c++)
        if ((s->was[c] & MAY_BE_FALSE) && (q->may[c] & MAY_BE_TRUE)) return true;
    return false;
}

/* ---- effects ---- */

typedef struct effect_list {
    search *q;
    int group;
    double *v, *spread;
    bool again; /* of the same pass: values that differ are not known */
} effect_list;

static void take(effect_list *to, int variable, double value, double spread)
{
    if (variable < 0 || !moves(to->q->x, variable)) return;
    bool other = to->again && to->v[variable] != value;
    to->v[variable] = other ? (double)NAN : value;
    to->spread[variable] = fmax(to->spread[variable], spread);
}

/* What a group makes of its variables; with uncertain relations either way. */
static bool take_effects(void *context, const judge_result *r)
{
    effect_list *to = context;
    const reader *x = to->q->x;
    for (size_t k = 0; r && k < r->effect_count; k++) {
        const judge_effect *e = &r->effects[k];
        take(to, e->variable, e->error ? (double)NAN : e->value, e->spread);
    }
    for (int e = 0; e < x->equations; e++) {
        const judge_equation *g = &x->equation[e];
        if (g->group != to->group || g->kind != JUDGE_ALGORITHM || g->variable < 0) continue;
        if (!x->variable[g->variable].in_when) continue;
        const judge_row *row = r ? &r->rows[e] : NULL;
        take(to, g->variable, row && !row->error ? row->right : (double)NAN, row ? row->spread : 0.0);
    }
    to->again = true;
    return !r;
}

/* v = what the branches that x->fires names make of it, from q->values and q->pre. */
static bool apply(search *q, double *v, double *spread)
{
    reader *x = q->x;
    sighting at = {.t = x->chain[x->chained - 1].t,
                   .v = q->values,
                   .before = q->pre,
                   .event = true,
                   .first = q->first,
                   .fires = x->fires};
    for (int k = 0; k < x->whens; k++) {
        effect_list to = {q, x->when[k].group, v, spread, false};
        if (x->fires[k] && !reader_flip(x, &at, to.group, NULL, 0, take_effects, &to)) return false;
    }
    return true;
}

/* The stage after s where the branches that x->fires names fire. */
static bool add_stage(search *q, const stage *s)
{
    reader *x = q->x;
    size_t size = (size_t)x->n * sizeof(double);
    if (q->count == MOST_STAGES) {
        q->full = true;
        return true;
    }
    stage *d = &q->stage[q->count++];
    memcpy(d->v, s->v, size);
    memcpy(d->other, s->other, size);
    memcpy(d->spread, s->spread, size);
    memcpy(d->was, q->may, (size_t)x->conditions + 1);
    memcpy(d->fired, s->fired, (size_t)x->whens + 1);
    for (int k = 0; k < x->whens; k++) {
        if (x->fires[k]) d->fired[k] = 1;
        if (x->fires[k] && x->when[k].count == 1) d->was[x->when[k].first] = MAY_BE_TRUE;
    }
    place(x, q->before, s->v, s->v, q->pre);
    for (int round = 0; round < ROUNDS; round++) {
        place(x, q->before, d->v, s->v, q->values);
        if (!apply(q, d->v, d->spread)) return false;
    }
    memcpy(q->values, q->after, size);
    return apply(q, d->other, d->spread);
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

/* All stages after one: of each clause no branch, or one that may fire. */
static bool add_stages(search *q, int from)
{
    reader *x = q->x;
    int count = 0;
    if (!find_conditions(q, &q->stage[from])) return false;
    for (int k = 0; k < x->whens; k++)
        if (rises(q, &q->stage[from], k)) q->rising[count++] = k;
    if (count > MOST_RISING) q->full = true;
    bool ok = true;
    for (unsigned mask = 1; ok && !q->full && mask < 1u << count; mask++) {
        if (is_clash(q, mask, count)) continue;
        for (int i = 0; i < count; i++) x->fires[q->rising[i]] = mask & 1u << i;
        ok = add_stage(q, &q->stage[from]);
    }
    for (int i = 0; i < count; i++) x->fires[q->rising[i]] = false;
    return ok;
}

/* ---- the answer ---- */

static bool is_value(const reader *x, int i, double there, double said, double spread)
{
    double off = x->variable[i].type == JUDGE_REAL ? spread + x->off[i] : 0.0;
    return isnan(said) || isnan(there) || there == said ||
           fabs(there - said) <= off + 1e-12 * fabs(said) * (off > 0.0);
}

/* How many values are not those of a stage; *which: the first one */
static int count_off(const search *q, const stage *s, int *which)
{
    int count = 0;
    for (int i = 0; i < q->x->n; i++) {
        if (!moves(q->x, i) || is_value(q->x, i, q->after[i], s->v[i], s->spread[i]) ||
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
        bool fired = s->fired[k];
        for (int p = w->previous; p >= 0; p = x->when[p].previous) fired = fired || s->fired[p];
        for (int c = w->first; fired && c < w->first + w->count; c++) x->could[c] |= MAY_BE_TRUE;
    }
}

/* The first stage: before the event, or what the start is to be. */
static bool begin(search *q)
{
    reader *x = q->x;
    stage *s = &q->stage[q->count++];
    for (int i = 0; i < x->n; i++) {
        const judge_variable *v = &x->variable[i];
        bool fixed = v->fixed && isfinite(v->start);
        s->v[i] = s->other[i] = !q->first ? q->before[i] : fixed ? v->start : (double)NAN;
        if (!moves(x, i)) s->v[i] = s->other[i] = q->before[i];
    }
    if (!q->first) {
        for (int c = 0; c < x->conditions; c++) s->was[c] = x->could[c] ? x->could[c] : MAY_BE_BOTH;
        return true;
    }
    memset(q->may, 0, (size_t)x->conditions + 1);
    place(x, q->before, s->v, s->v, q->pre);
    if (!add_conditions(q, q->pre, false)) return false;
    memcpy(s->was, q->may, (size_t)x->conditions + 1);
    return true;
}

/* The value of variable i is not that of a stage. */
static void note_value(const search *q, const stage *best, int i)
{
    char there[64], said[64], ago[64];
    reader *x = q->x;
    const judge_variable *v = &x->variable[i];
    double t = x->chain[x->chained - 1].t, right = isnan(best->v[i]) ? best->other[i] : best->v[i];
    dae_verify_fault f = {
        .line = v->line, .t = t, .left = q->after[i], .right = right, .allowed = x->off[i]};
    reader_value(x, i, q->after[i], there, sizeof there);
    reader_value(x, i, right, said, sizeof said);
    if (q->first)
        reader_note(x, x->equations + x->whens + i, &f,
                    "line %d: %s begins with %s, where it is fixed and the whens leave it at %s",
                    v->line, v->name, there, said);
    else
        reader_note(x, x->equations + x->whens + i, &f,
                    "%s (line %d) changes from %s to %s at t = %.9g, where the whens that fire "
                    "make it %s",
                    v->name, v->line, reader_value(x, i, q->before[i], ago, sizeof ago), there, t,
                    said);
}

/* Branch k has not fired. */
static void note_idle(const search *q, int k)
{
    reader *x = q->x;
    if (k < 0) return;
    const judge_when *w = &x->when[k];
    double t = x->chain[x->chained - 1].t;
    dae_verify_fault f = {.line = w->line, .t = t, .left = 0.0, .right = 1.0, .allowed = 0.0};
    reader_note(x, x->equations + k, &f,
                "line %d, when %s: it becomes true at t = %.9g, and what it says does not happen",
                w->line, w->text ? w->text : "", t);
}

/* No way leads to what there is: say what the nearest one says. */
static void note_nearest(const search *q)
{
    int least = -1, best = 0, variable = -1;
    for (int k = 0; k < q->count; k++) {
        int which = -1, off = count_off(q, &q->stage[k], &which);
        if (find_idle(q, &q->stage[k]) >= 0 || off == 0) continue;
        if (least < 0 || off <= least) least = off, variable = which, best = k;
    }
    if (variable >= 0)
        note_value(q, &q->stage[best], variable);
    else
        note_idle(q, find_idle(q, q->stage));
}

/* Search, the shortest ways first, until some stage is what there is; of the first pass all. */
static bool find_way(search *q)
{
    bool ok = begin(q);
    int first = 1;
    for (int k = 0; ok && !q->full && k < q->count && (!q->found || k < first); k++) {
        int which;
        bool there = count_off(q, &q->stage[k], &which) == 0 && find_idle(q, &q->stage[k]) < 0;
        if (there) remember(q, &q->stage[k]);
        q->found = q->found || there;
        if (!q->found || k == 0) ok = add_stages(q, k);
        if (k == 0) first = q->count;
    }
    if (ok && !q->full && !q->found) note_nearest(q);
    return ok;
}

/* Nobody knows what has fired. */
static void forget(reader *x)
{
    for (int c = 0; c < x->conditions; c++) x->could[c] = MAY_BE_BOTH;
}

bool reader_explain(reader *x, bool first)
{
    bool any = false;
    for (int i = 0; i < x->n; i++) any = any || moves(x, i);
    if (!any || x->overlong || x->explained >= MOST_EXPLAINED) {
        forget(x);
        return true;
    }
    x->explained++;
    search q = {.before = x->chain[0].v, .after = x->chain[x->chained - 1].v, .first = first};
    bool ok = search_new(&q, x) && find_way(&q);
    if (!q.found) forget(x);
    search_free(&q);
    return ok;
}
