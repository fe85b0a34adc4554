/* Pieces of the past: found, fitted, forgotten; put into the memory of an instance. */
#include "model/model_delay.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "model/model_build.h"

delay_table *delay_table_new(const flat_model *flat)
{
    delay_table *t = DAE_NEW(delay_table);
    if (!t) return NULL;
    t->flat = flat;
    t->broken = DELAY_SMOOTH;
    t->past = DAE_ARRAY(delay_past, flat->delay_count);
    t->work = DAE_ARRAY(double, (DELAY_NODES + 3) * flat->delay_count);
    if (t->past && t->work) return t;
    delay_table_free(t);
    return NULL;
}

void delay_table_free(delay_table *t)
{
    if (!t) return;
    for (size_t i = 0; t->past && i < t->flat->delay_count; i++) dae_free(t->past[i].piece);
    dae_free_all(t->past, t->work, t);
}

/* ---- pieces ---- */

double delay_slack(double t, double lag)
{
    return 256.0 * DBL_EPSILON * fmax(fabs(t), lag);
}

/* The last piece that begins at or before `then`, or the first one. */
static size_t piece_at(delay_past *p, double then)
{
    size_t low = 0, high = p->count, hint = p->hint;
    if (hint < p->count && p->piece[hint].from <= then) {
        if (hint + 1 == p->count || p->piece[hint + 1].from > then) return hint;
        low = hint;
    }
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (p->piece[middle].from <= then)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Whether a step or event of its own passes where piece k begins. */
static bool is_break(const delay_past *p, size_t k)
{
    return k > 0 && k < p->count && p->piece[k].rank < DELAY_SMOOTH;
}

const delay_piece *delay_find(delay_past *p, double t, double then)
{
    size_t k = piece_at(p, then);
    double slack = delay_slack(t, p->most);
    p->hint = k;
    if (is_break(p, k) && p->piece[k].from > p->passed && then - p->piece[k].from <= slack) k--;
    if (is_break(p, k + 1) && p->piece[k + 1].from <= p->passed &&
        p->piece[k + 1].from - then <= slack)
        k++;
    return &p->piece[k];
}

double delay_next(delay_past *p, double then)
{
    size_t k = piece_at(p, then) + 1;
    return k < p->count ? p->piece[k].from : INFINITY;
}

const delay_piece *delay_break_behind(const delay_past *p, double passed, int low, int high)
{
    if (isnan(p->lag) || p->identity) return NULL;
    size_t k = p->count;
    while (k > 0 && p->piece[k - 1].from > passed) k--;
    for (; k < p->count; k++)
        if (p->piece[k].rank >= low && p->piece[k].rank <= high) return &p->piece[k];
    return NULL;
}

bool delay_returns(const delay_past *p, const delay_piece *broken, double t)
{
    return broken->from + p->lag <= t + delay_slack(t, p->most);
}

const delay_piece *delay_break_at(delay_past *p, double t)
{
    const double slack = delay_slack(t, p->most);
    if (isnan(p->lag) || p->identity) return NULL;
    size_t k = piece_at(p, t - p->lag + slack);
    return is_break(p, k) && p->piece[k].from >= t - p->lag - slack ? &p->piece[k] : NULL;
}

delay_piece *delay_append(delay_past *p)
{
    if (!dae_grow(&p->piece, &p->capacity, p->count + 1, sizeof *p->piece)) return NULL;
    return &p->piece[p->count++];
}

/* Half of the room at a time, so that it costs nothing. */
void delay_forget(delay_past *p, double then)
{
    size_t old = 0;
    while (old + 1 < p->count && p->piece[old + 1].from < then) old++;
    if (2 * old < p->count) return;
    p->count -= old;
    memmove(p->piece, p->piece + old, p->count * sizeof *p->piece);
    p->hint = 0;
}

void delay_rewind(delay_past *p, double t)
{
    while (p->count > 1 && p->piece[p->count - 1].from >= t) p->count--;
    if (p->lag > 0.0) p->passed = fmin(p->passed, t - p->lag + delay_slack(t, p->most));
    p->hint = 0;
}

/* ---- polynomials ---- */

void delay_fit(const double *v, double *c)
{
    memcpy(c, v, DELAY_NODES * sizeof *c);
    for (int k = 1; k < DELAY_NODES; k++)
        for (int i = DELAY_NODES - 1; i >= k; i--)
            c[i] = (c[i] - c[i - 1]) / (flat_delay_node(i) - flat_delay_node(i - k));
}

double delay_at(const double *c, double x)
{
    double sum = c[DELAY_NODES - 1];
    for (int k = DELAY_NODES - 2; k >= 0; k--) sum = c[k] + (x - flat_delay_node(k)) * sum;
    return sum;
}

double delay_slope(const double *c, double x)
{
    double sum = c[DELAY_NODES - 1], slope = 0.0;
    for (int k = DELAY_NODES - 2; k >= 0; k--) {
        slope = sum + (x - flat_delay_node(k)) * slope;
        sum = c[k] + (x - flat_delay_node(k)) * sum;
    }
    return slope;
}

/* ---- what an instance reads ---- */

/* Puts a piece where the expression reads it; NULL: no value. Whether that changes anything. */
static bool load(double *slot, const delay_piece *p)
{
    double from = p ? p->from : NAN, scale = p ? 1.0 / (p->to - p->from) : 0.0;
    bool same = p ? slot[DELAY_FROM] == from && slot[DELAY_SCALE] == scale &&
                        memcmp(slot + DELAY_FIRST, p->c, sizeof p->c) == 0
                  : isnan(slot[DELAY_FROM]);
    if (same) return false;
    slot[DELAY_FROM] = from;
    slot[DELAY_SCALE] = scale;
    if (p) memcpy(slot + DELAY_FIRST, p->c, sizeof p->c);
    return true;
}

void delay_table_load(const delay_table *d, double t, double *memory)
{
    for (size_t i = 0; d->begun && i < d->flat->delay_count; i++) {
        delay_past *p = &d->past[i];
        if (d->flat->delays[i].varies || p->identity) continue;
        load(memory + d->flat->delays[i].memory, delay_find(p, t, t - p->lag));
    }
}

double model_instance_lag(const model_instance *m, size_t i, double t, const double *y,
                          const double *yp)
{
    const flat_delay *d = &m->form->flat->delays[i];
    if (!d->varies) return m->delays->past[i].lag;
    return model_instance_value_now(m, t, y, yp, d->lag);
}

/* The piece of delay i at a point; NULL: its lag is not one, or leads to what is not past yet. */
static const delay_piece *piece_of(const model_instance *m, size_t i, double t, const double *y,
                                   const double *yp)
{
    delay_past *p = &m->delays->past[i];
    double lag = model_instance_lag(m, i, t, y, yp), then = t - lag,
           slack = delay_slack(t, p->most);
    if (!m->form->flat->delays[i].varies) return delay_find(p, t, then);
    bool sound = lag >= -slack && lag <= p->most + slack;
    return sound && then <= m->delays->reached + slack ? delay_find(p, t, then) : NULL;
}

void model_instance_recall(model_instance *m, double t, const double *y, const double *yp)
{
    const delay_table *d = m->delays;
    if (!d || !d->begun || d->held) return;
    bool changed = false;
    for (size_t i = 0; i < m->form->flat->delay_count; i++) {
        if (d->past[i].identity || (m->form->flat->delays[i].by_unknowns && !(y && yp))) continue;
        double *slot = m->memory + m->form->flat->delays[i].memory;
        if (load(slot, piece_of(m, i, t, y, yp))) changed = true;
    }
    if (changed) model_instance_prepare(m);
}

/* ---- checkpoints ---- */

static void past_persist(delay_past *past, persist *p)
{
    uint64_t count = past->count;
    PERSIST(p, count);
    if (p->reading && count > (p->count - p->at) / sizeof *past->piece)
        persist_refuse(p, "it ends within the past of a delayed value");
    if (!persist_ok(p)) return;
    if (p->reading && !dae_grow(&past->piece, &past->capacity, count + 1, sizeof *past->piece)) {
        p->no_memory = true;
        return;
    }
    PERSIST_STRUCT(p, past, GAP(delay_past, piece), GAP(delay_past, capacity));
    past->count = count;
    PERSIST_ARRAY(p, past->piece, count);
}

void delay_table_persist(delay_table *t, persist *p)
{
    persist_same(p, t->flat->delay_count, "the model has other delayed values");
    PERSIST_STRUCT(p, t, GAP(delay_table, flat), GAP(delay_table, past), GAP(delay_table, work));
    for (size_t i = 0; i < t->flat->delay_count; i++) past_persist(&t->past[i], p);
}
