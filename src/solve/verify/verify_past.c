/* What variables were a while ago, for `delay`: the values of the run within its steps, written
 * down beside it. The run's own record of the past is not looked at: that is what is judged. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "solve/verify/verify_reader.h"

/* Chebyshev's points: polynomials through them are as good as the best ones but for a factor of
 * about 2. Pieces are halved so often, where values between the nodes are not met to this part of
 * a tolerance. */
enum { NODES = 9, PROBES = 2, DEEPEST = 8 };
static const double PART = 0.1;
static const double probe[PROBES] = {-0.83, 0.57}; /* between nodes, not symmetric */

/* A piece in x->past.piece: from, to, errors, then NODES rows of values. */
static double *piece_at(const past *p, size_t k)
{
    return p->piece + k * p->stride;
}

static double node_of(int k)
{
    return -cos(3.14159265358979323846 * k / (NODES - 1));
}

/* The polynomial through v[0], v[m], v[2 m], .. at z in [-1, 1], by the barycentric formula: the
 * weights of these nodes are 1 with alternating signs, halved at the ends. */
static double polynomial(const double *v, int m, double z)
{
    double above = 0.0, below = 0.0;
    for (int k = 0; k < NODES; k++) {
        double d = z - node_of(k), w = (k & 1 ? -1.0 : 1.0) * (k % (NODES - 1) ? 1.0 : 0.5);
        if (d == 0.0) return v[(size_t)k * (size_t)m];
        above += w / d * v[(size_t)k * (size_t)m];
        below += w / d;
    }
    return above / below;
}

bool reader_past_new(reader *x)
{
    past *p = &x->past;
    p->slot = DAE_ARRAY(int, x->n + 1);
    if (!p->slot) return false;
    for (int i = 0; i < x->n; i++) {
        bool delayed = x->variable[i].delayed && x->column[i] >= 0;
        p->slot[i] = delayed ? p->delayed++ : -1;
    }
    p->longest = judge_longest_delay(x->judge);
    p->stride = 2 + (NODES + 1) * (size_t)p->delayed;
    if (p->longest > 0.0 && p->delayed == 0) p->delayed = 1; /* time alone is delayed */
    return true;
}

void reader_past_free(reader *x)
{
    dae_free_all(x->past.slot, x->past.piece);
}

/* ---- writing ---- */

/* Pieces that nothing asks for any more go when there are as many as others. */
static void forget(past *p, double oldest)
{
    while (p->first < p->count && piece_at(p, p->first)[1] < oldest) p->first++;
    if (2 * p->first < p->count || p->first == 0) return;
    p->count -= p->first;
    memmove(p->piece, piece_at(p, p->first), p->count * p->stride * sizeof *p->piece);
    p->first = 0;
}

static void keep_values(const reader *x, const double *v, double *row)
{
    for (int i = 0; i < x->n; i++)
        if (x->past.slot[i] >= 0) row[x->past.slot[i]] = v[i];
}

/* errors[slot] of the piece, at the probes; *fine: they do not matter. False: no values. */
static bool probe_piece(reader *x, dae_solver *s, double *piece, bool *fine)
{
    int m = x->past.delayed;
    double *errors = piece + 2, *rows = errors + m;
    double middle = 0.5 * (piece[0] + piece[1]), half = 0.5 * (piece[1] - piece[0]);
    memset(errors, 0, (size_t)m * sizeof *errors);
    *fine = true;
    for (int k = 0; k < PROBES; k++) {
        if (!reader_values(x, s, middle + half * probe[k], x->mixed)) return false;
        for (int i = 0; i < x->n; i++) {
            int slot = x->past.slot[i];
            if (slot < 0 || x->variable[i].type != JUDGE_REAL) continue;
            double error = fabs(polynomial(rows + slot, m, probe[k]) - x->mixed[i]);
            errors[slot] = fmax(errors[slot], error);
            if (error > PART / x->limit * x->off[i]) *fine = false;
        }
    }
    return true;
}

/* False: memory. */
static bool write_piece(reader *x, dae_solver *s, double from, double to, int depth)
{
    past *p = &x->past;
    bool fine;
    if (!dae_grow(&p->piece, &p->room, p->count + 1, p->stride * sizeof(double))) return false;
    double *piece = piece_at(p, p->count), *rows = piece + 2 + p->delayed;
    piece[0] = from, piece[1] = to;
    for (int k = 0; k < NODES; k++) {
        double t = k == 0           ? from
                   : k == NODES - 1 ? to
                                    : 0.5 * (from + to) + 0.5 * (to - from) * node_of(k);
        if (!reader_values(x, s, t, x->mixed)) return true; /* the run itself says so */
        reader_sized(x, x->size_time, x->mixed);
        keep_values(x, x->mixed, rows + (size_t)k * (size_t)p->delayed);
    }
    if (!probe_piece(x, s, piece, &fine)) return true;
    double middle = 0.5 * (from + to);
    if (!fine && depth < DEEPEST)
        return write_piece(x, s, from, middle, depth + 1) &&
               write_piece(x, s, middle, to, depth + 1);
    p->count++;
    return true;
}

/* Before the first step there is the start. */
bool reader_past_start(reader *x, double t, const double *v)
{
    past *p = &x->past;
    if (p->longest == 0.0 || p->stride == 2) return true;
    if (!dae_grow(&p->piece, &p->room, p->count + 1, p->stride * sizeof(double))) return false;
    double *piece = piece_at(p, p->count++), *rows = piece + 2 + p->delayed;
    piece[0] = piece[1] = p->origin = t;
    for (int i = 0; i < p->delayed; i++) piece[2 + i] = 0.0;
    for (int k = 0; k < NODES; k++) keep_values(x, v, rows + (size_t)k * (size_t)p->delayed);
    return true;
}

/* Pieces end where something of time alone bends. */
bool reader_past_step(reader *x, dae_solver *s, double from, double to)
{
    past *p = &x->past;
    double at = from;
    if (p->longest == 0.0 || p->stride == 2) return true;
    forget(p, from - 1.01 * (p->longest + x->panels.stretch * x->cell)); /* tiles begin before */
    for (size_t k = 0; k < x->break_count && x->breaks[k] < to; k++) {
        if (!(x->breaks[k] > at)) continue;
        if (!write_piece(x, s, at, x->breaks[k], 0)) return false;
        at = x->breaks[k];
    }
    return write_piece(x, s, at, to, 0);
}

/* ---- reading ---- */

/* The piece that contains t, or the nearest one. */
static const double *find_piece(const past *p, double t)
{
    size_t a = p->first, b = p->count;
    while (b - a > 1) {
        size_t middle = (a + b) / 2;
        if (piece_at(p, middle)[0] <= t)
            a = middle;
        else
            b = middle;
    }
    return piece_at(p, a);
}

static double value_at(const reader *x, int i, double t)
{
    const past *p = &x->past;
    const double *piece = find_piece(p, t), *v = piece + 2 + p->delayed + p->slot[i];
    double length = piece[1] - piece[0];
    double z = length > 0.0 ? (2.0 * t - piece[0] - piece[1]) / length : 0.0;
    z = fmax(-1.0, fmin(1.0, z));
    if (x->variable[i].type == JUDGE_REAL) return polynomial(v, p->delayed, z);
    return v[(size_t)(z < 1.0 ? 0 : NODES - 1) * (size_t)p->delayed]; /* no step goes over a jump */
}

double reader_past_value(void *of, int i, double t, double off, double *spread)
{
    reader *x = of;
    past *p = &x->past;
    *spread = 0.0;
    if (x->column[i] < 0 || p->slot[i] < 0) return x->base[i];
    double near = 1e-12 * fmax(fabs(t), fabs(x->span)) + off;
    bool known = p->count > p->first && t <= piece_at(p, p->count - 1)[1] + near &&
                 (t >= piece_at(p, p->first)[0] || t <= p->origin + near);
    if (!known) {
        p->lost = true;
        return NAN;
    }
    double v = value_at(x, i, t);
    if (x->variable[i].type == JUDGE_REAL) *spread = x->off[i] + find_piece(p, t)[2 + p->slot[i]];
    *spread += fmax(fabs(value_at(x, i, t - off) - v), fabs(value_at(x, i, t + off) - v));
    return v;
}
