/* Quadrature between rows: equations alone hold at every row of a run that leapt over a pulse. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "solve/verify/verify_reader.h"

/* Lobatto's rule of four nodes and Kronrod's extension of it to seven [GG00]. */
static const double node[PANEL_NODES] = {-1.0, -0.8164965809277260, -0.4472135954999579,
                                         0.0,  0.4472135954999579,  0.8164965809277260,
                                         1.0};
static const double fine[PANEL_NODES] = {11.0 / 210,  72.0 / 245, 125.0 / 294, 16.0 / 35,
                                         125.0 / 294, 72.0 / 245, 11.0 / 210};
static const double coarse[PANEL_NODES] = {1.0 / 6, 0, 5.0 / 6, 0, 5.0 / 6, 0, 1.0 / 6};

/* Panels are halved so often; where an integral is too large, twice whatever two rules say. */
enum { DEEPEST = 12, SURE = 1 };
/* Two rules that differ by more than this part of the integral do not tell it. */
static const double AGREE = 0.01;
/* Parts of what is allowed for a step are no matter. */
static const double PART = 0.05;

/* Errors move by this part of themselves where steps are not looked at: slopes of errors are up to
 * 40/length times as large, near the ends that are left out, 1e-4 to 1.1e-3 of the length each. */
static const double MARGINS = 0.05;

/* Slope at node k of the polynomial that is 1 at node j != k and 0 at the others. */
static double slope_of_node(int k, int j)
{
    double product = 1.0 / (node[j] - node[k]);
    for (int i = 0; i < PANEL_NODES; i++)
        if (i != j && i != k) product *= (node[k] - node[i]) / (node[j] - node[i]);
    return product;
}

/* d[k][j]: the same for all; constants have no slope. */
static void slopes_of_nodes(double d[PANEL_NODES][PANEL_NODES])
{
    for (int k = 0; k < PANEL_NODES; k++) {
        d[k][k] = 0.0;
        for (int j = 0; j < PANEL_NODES; j++) {
            if (j == k) continue;
            d[k][j] = slope_of_node(k, j);
            d[k][k] -= d[k][j];
        }
    }
}

bool panels_new(panels *p)
{
    size_t n = (size_t)p->values, m = (size_t)p->residuals;
    p->work = DAE_ARRAY(double, (size_t)(DEEPEST + 1) * PANEL_NODES * (n + 2 * m) +
                                    (PANEL_NODES + 1) * n + 6 * m);
    p->looked.of = DAE_ARRAY(double, 5 * m);
    p->tiled.of = DAE_ARRAY(double, 5 * m);
    p->tile = DAE_ARRAY(double, (2 * PANEL_NODES - 1) * n + 1);
    return p->work && p->looked.of && p->tiled.of && p->tile;
}

void panels_free(panels *p)
{
    dae_free_all(p->work, p->tile, p->looked.of, p->tiled.of);
    p->work = p->tile = p->looked.of = p->tiled.of = NULL;
}

/* What is known of each residual over the whole step; in p->work. */
typedef struct totals {
    double *sum, *unsure;   /* its integral, and how far that may be wrong */
    double *allowed;        /* what errors of the values explain */
    double *largest, *when; /* the largest one, and its time */
    double *ends;           /* of `allowed`, what errors at the ends of the step explain */
} totals;

static totals totals_of(const panels *p)
{
    double *at = p->work + (PANEL_NODES + 1) * (size_t)p->values;
    size_t m = (size_t)p->residuals;
    return (totals){at, at + m, at + 2 * m, at + 3 * m, at + 4 * m, at + 5 * m};
}

/* A panel at work. */
typedef struct panel {
    double from, to;
    double *v, *residual, *spread; /* PANEL_NODES rows */
} panel;

static panel make_panel(const panels *p, double from, double to, int depth)
{
    size_t n = (size_t)p->values, m = (size_t)p->residuals;
    double *room =
        p->work + (PANEL_NODES + 1) * n + 6 * m + (size_t)depth * PANEL_NODES * (n + 2 * m);
    return (panel){from, to, room, room + PANEL_NODES * n, room + PANEL_NODES * (n + m)};
}

static double time_of(const panel *q, int k)
{
    return 0.5 * (q->from + q->to) + 0.5 * (q->to - q->from) * node[k];
}

/* Values at all nodes; false: there are none at some */
static bool find_values(panels *p, dae_solver *s, const panel *q)
{
    for (int k = 0; k < PANEL_NODES; k++) {
        double *v = q->v + (size_t)k * (size_t)p->values;
        if (!p->value(p->of, s, time_of(q, k), v)) return false;
    }
    for (int k = 0; k < PANEL_NODES; k++) p->sized(p->of, q->v + (size_t)k * (size_t)p->values);
    return true;
}

/* slope = derivatives of the polynomial through all rows of v, at node k */
static void find_slopes(const panels *p, const panel *q, int k, const double *v, double *slope)
{
    double d[PANEL_NODES][PANEL_NODES], scale = 2.0 / (q->to - q->from);
    size_t n = (size_t)p->values;
    slopes_of_nodes(d);
    for (size_t i = 0; i < n; i++) {
        double sum = 0.0;
        for (size_t j = 0; j < PANEL_NODES; j++) sum += d[k][j] * (v[j * n + i] - v[i]);
        slope[i] = scale * sum;
    }
}

/* Residuals at all nodes, with slopes of the polynomial through the values. An error of the values
 * at both ends of the step is one of the slope all along. */
static bool find_residuals(panels *p, const panel *q)
{
    size_t n = (size_t)p->values, m = (size_t)p->residuals;
    double *slope = p->work, *second = slope + PANEL_NODES * n;
    for (int k = 0; k < PANEL_NODES; k++) find_slopes(p, q, k, q->v, slope + (size_t)k * n);
    for (int k = 0; k < PANEL_NODES; k++) {
        size_t row = (size_t)k;
        if (p->second) find_slopes(p, q, k, slope, second);
        panel_point at = {time_of(q, k),   q->v + row * n,
                          slope + row * n, p->second ? second : NULL,
                          2.0 / p->length, p->anywhere};
        p->evaluations++;
        if (!p->residual(p->of, &at, q->residual + row * m, q->spread + row * m)) return false;
    }
    return true;
}

/* What the panel says of residual e. */
typedef struct integral {
    double fine, coarse, allowed;
} integral;

static integral integrate(const panels *p, const panel *q, int e)
{
    integral sum = {0.0, 0.0, 0.0};
    double half = 0.5 * (q->to - q->from);
    for (int k = 0; k < PANEL_NODES; k++) {
        size_t at = (size_t)k * (size_t)p->residuals + (size_t)e;
        sum.fine += half * fine[k] * q->residual[at];
        sum.coarse += half * coarse[k] * q->residual[at];
        sum.allowed += fabs(half) * fine[k] * q->spread[at];
    }
    return sum;
}

static void add_integrals(panels *p, const panel *q, bool first)
{
    totals x = totals_of(p);
    for (int e = 0; e < p->residuals; e++) {
        integral i = integrate(p, q, e);
        x.sum[e] += i.fine;
        x.unsure[e] += fabs(i.fine - i.coarse);
        if (first) x.allowed[e] += i.allowed;
        for (int k = 0; k < PANEL_NODES; k++) {
            double r = fabs(q->residual[(size_t)k * (size_t)p->residuals + (size_t)e]);
            if (r > x.largest[e]) x.largest[e] = r, x.when[e] = time_of(q, k);
        }
    }
}

/* What errors of slopes explain, as the middle of the panel has it: that is what errors at the ends
 * of the step are. */
static bool add_ends(panels *p, const panel *q)
{
    enum { MIDDLE = PANEL_NODES / 2 };
    size_t n = (size_t)p->values, row = MIDDLE;
    double *slope = p->work, *second = slope + PANEL_NODES * n;
    panel other = make_panel(p, q->from, q->to, 1); /* its room */
    totals x = totals_of(p);
    if (p->second) find_slopes(p, q, MIDDLE, slope, second);
    panel_point at = {
        time_of(q, MIDDLE), q->v + row * n, slope + row * n, p->second ? second : NULL, 0.0,
        p->anywhere};
    p->evaluations++;
    if (!p->residual(p->of, &at, other.residual, other.spread)) return false;
    for (int e = 0; e < p->residuals; e++) {
        double spread = q->spread[row * (size_t)p->residuals + (size_t)e];
        x.ends[e] += fabs(q->to - q->from) * fmax(0.0, spread - other.spread[e]);
    }
    return true;
}

/* Whether the panel is to be halved: some integral matters and is not known. */
static bool needs_halves(const panels *p, const panel *q, int depth)
{
    totals x = totals_of(p);
    if (depth == DEEPEST || p->evaluations >= p->most) return false;
    for (int e = 0; e < p->residuals; e++) {
        integral i = integrate(p, q, e);
        double size = fmax(fabs(i.fine), fabs(i.coarse));
        if (!(size > PART * x.allowed[e])) continue; /* NAN: it has no value */
        if (depth < SURE || fabs(i.fine - i.coarse) > AGREE * fabs(i.fine)) return true;
    }
    return false;
}

static bool refine(panels *p, dae_solver *s, double from, double to, int depth)
{
    panel q = make_panel(p, from, to, depth);
    double middle = 0.5 * (from + to);
    if (!find_values(p, s, &q)) return true; /* the run itself says so */
    if (!find_residuals(p, &q)) return false;
    if (needs_halves(p, &q, depth))
        return refine(p, s, from, middle, depth + 1) && refine(p, s, middle, to, depth + 1);
    add_integrals(p, &q, false);
    return true;
}

/* The panels between `count` times as they are; *fine: nothing is too large. */
static bool look_once(panels *p, dae_solver *s, const double *times, size_t count, bool *none)
{
    totals x = totals_of(p);
    for (int i = 0; i < 6 * p->residuals; i++) x.sum[i] = 0.0;
    for (size_t k = 0; k + 1 < count; k++) {
        panel q = make_panel(p, times[k], times[k + 1], 0);
        if (!find_values(p, s, &q)) continue;
        if (!find_residuals(p, &q)) return false;
        add_integrals(p, &q, true);
        if (!add_ends(p, &q)) return false;
    }
    *none = true;
    for (int e = 0; e < p->residuals; e++)
        if (fmax(fabs(x.sum[e]), x.unsure[e]) > x.allowed[e]) *none = false;
    return true;
}

/* ---- many steps ---- */

static void clear_drift(drift *d, int residuals)
{
    for (int i = 0; d->of && i < 5 * residuals; i++) d->of[i] = 0.0;
    d->steps = 0;
}

void panels_part(panels *p, bool jumps)
{
    if (jumps) clear_drift(&p->looked, p->residuals);
    clear_drift(&p->tiled, p->residuals);
    p->collected = 0;
}

void panels_skip(panels *p)
{
    clear_drift(&p->looked, p->residuals);
}

/* Integrals over intervals in a row add up: of errors at ends those of the first and the last count
 * alone, and `margins` of these for what lies between the intervals. What two rules do not tell is
 * left, and begins anew. */
static void add_drift(panels *p, drift *d, double from, double to, double margins)
{
    totals x = totals_of(p);
    size_t m = (size_t)p->residuals;
    double *sum = d->of, *unsure = sum + m, *inner = unsure + m, *ends = inner + m;
    double *begin = ends + m;
    d->steps++;
    for (size_t e = 0; e < m; e++) {
        if (ends[e] == 0.0 && sum[e] == 0.0) begin[e] = from;
        sum[e] += x.sum[e];
        unsure[e] += x.unsure[e];
        inner[e] += fmax(0.0, x.allowed[e] - x.ends[e]);
        ends[e] = fmax(ends[e], x.ends[e]);
        double allowed = inner[e] + ends[e] * (1.0 + margins * (double)d->steps);
        if (fabs(sum[e]) - unsure[e] > allowed)
            p->leak(p->of, (int)e, begin[e], to, x.when[e], sum[e], allowed);
        if (!(unsure[e] <= allowed)) sum[e] = unsure[e] = inner[e] = ends[e] = 0.0;
    }
}

/* Times of a tile: the nodes, and the middles between them, at which the polynomial is tried. */
enum { TILE_TIMES = 2 * PANEL_NODES - 1 };
/* It is no good where it is off by this part of what errors are fine: a part of a step's own. */
static const double ROUGH = 0.02, ROUNDING = 1e-12;
/* The next tile is twice as long, up to so many times, where two rules differ by less than this
 * part of what is allowed. A drift is seen as well, for less work. */
static const double LONGEST = 16.0, CLEAR = 1e-3;

static double tile_node(int k)
{
    return k % 2 == 0 ? node[k / 2] : 0.5 * (node[k / 2] + node[k / 2 + 1]);
}

/* Whether the values in the middles are those of the polynomial through the others. */
static bool is_smooth(const panels *p)
{
    size_t n = (size_t)p->values;
    for (int k = 1; k < TILE_TIMES; k += 2) {
        double weight[PANEL_NODES], z = tile_node(k);
        for (int j = 0; j < PANEL_NODES; j++) {
            weight[j] = 1.0;
            for (int i = 0; i < PANEL_NODES; i++)
                if (i != j) weight[j] *= (z - node[i]) / (node[j] - node[i]);
        }
        for (size_t i = 0; i < n; i++) {
            double v = 0.0, there = p->tile[(size_t)k * n + i];
            for (size_t j = 0; j < PANEL_NODES; j++) v += weight[j] * p->tile[2 * j * n + i];
            if (!(fabs(v - there) <= ROUGH * p->off[i] + ROUNDING * fabs(there))) return false;
        }
    }
    return true;
}

/* Whether two rules agree so well on all integrals of a tile that the next one may be longer. */
static bool is_clear(const panels *p)
{
    totals x = totals_of(p);
    for (int e = 0; e < p->residuals; e++)
        if (x.unsure[e] > CLEAR * x.allowed[e]) return false;
    return true;
}

/* The tile is full of values: judge it. */
static bool add_tile(panels *p, const panel *q)
{
    size_t n = (size_t)p->values;
    for (size_t k = 0; k < PANEL_NODES; k++)
        memcpy(q->v + k * n, p->tile + 2 * k * n, n * sizeof *q->v);
    if (!is_smooth(p)) {
        clear_drift(&p->tiled, p->residuals);
        p->stretch = fmax(0.5 * p->stretch, 1.0);
        return true;
    }
    p->length = fabs(q->to - q->from);
    p->anywhere = true;
    for (int i = 0; i < 6 * p->residuals; i++) totals_of(p).sum[i] = 0.0;
    long looked = p->evaluations;
    if (!find_residuals(p, q) || !add_ends(p, q)) return false;
    p->tile_evaluations += p->evaluations - looked;
    p->evaluations = looked;
    add_integrals(p, q, true);
    bool longer = is_clear(p);
    add_drift(p, &p->tiled, q->from, q->to, 0.0);
    p->stretch = longer ? fmin(2.0 * p->stretch, LONGEST) : fmax(0.5 * p->stretch, 1.0);
    return true;
}

bool panels_follow(panels *p, dae_solver *s, double to, double tile_end)
{
    size_t n = (size_t)p->values;
    double sign = to < p->tile_from ? -1.0 : 1.0;
    panel q = make_panel(p, p->tile_from, tile_end, 0);
    for (; p->collected < TILE_TIMES; p->collected++) {
        double t = 0.5 * (q.from + q.to) + 0.5 * (q.to - q.from) * tile_node(p->collected);
        if ((t - to) * sign > 0.0) return true;
        double *v = p->tile + (size_t)p->collected * n;
        if (!p->value(p->of, s, t, v)) {
            panels_part(p, true);
            return true;
        }
        p->sized(p->of, v);
    }
    if (p->tile_evaluations < p->most && !add_tile(p, &q)) return false;
    memcpy(p->tile, p->tile + (TILE_TIMES - 1) * n, n * sizeof *p->tile);
    p->collected = 1;
    p->tile_from = q.to;
    return true;
}

/* ---- one step ---- */

bool panels_look(panels *p, dae_solver *s, const double *times, size_t count)
{
    bool none;
    totals x = totals_of(p);
    if (p->residuals == 0 || count < 2 || p->evaluations >= p->most) return true;
    p->length = fabs(times[count - 1] - times[0]);
    p->anywhere = false;
    if (!look_once(p, s, times, count, &none)) return false;
    if (none) add_drift(p, &p->looked, times[0], times[count - 1], MARGINS);
    if (none) return true;
    for (int i = 0; i < 2 * p->residuals; i++) x.sum[i] = 0.0;
    for (size_t k = 0; k + 1 < count; k++)
        if (!refine(p, s, times[k], times[k + 1], 0)) return false;
    for (int e = 0; e < p->residuals; e++)
        if (fabs(x.sum[e]) - x.unsure[e] > x.allowed[e])
            p->leak(p->of, e, times[0], times[count - 1], x.when[e], x.sum[e], x.allowed[e]);
    add_drift(p, &p->looked, times[0], times[count - 1], MARGINS);
    return true;
}
