/* Quadrature between rows: equations alone hold at every row of a run that leapt over a pulse. */
#include <math.h>

#include "base/memory.h"
#include "solve/verify/verify_reader.h"

/* Lobatto's rule of four nodes and Kronrod's extension of it to seven [GG00]. */
static const double node[PANEL_NODES] = {-1.0, -0.8164965809277260, -0.4472135954999579,
                                         0.0,  0.4472135954999579,  0.8164965809277260,
                                         1.0};
static const double fine[PANEL_NODES] = {11.0 / 210,  72.0 / 245, 125.0 / 294, 16.0 / 35,
                                         125.0 / 294, 72.0 / 245, 11.0 / 210};
static const double coarse[PANEL_NODES] = {1.0 / 6, 0, 5.0 / 6, 0, 5.0 / 6, 0, 1.0 / 6};

/* Panels are halved so often. */
enum { DEEPEST = 12 };
/* Two rules that differ by more than this part of the integral do not tell it. */
static const double AGREE = 0.1;

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
    p->work = DAE_ARRAY(double, (size_t)(DEEPEST + 1) * PANEL_NODES * (n + 2 * m) + 2 * n);
    return p->work;
}

void panels_free(panels *p)
{
    dae_free(p->work);
    p->work = NULL;
}

/* A panel at work. */
typedef struct panel {
    double from, to;
    int depth;
    double *v, *residual, *spread; /* PANEL_NODES rows */
} panel;

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

/* Residuals at all nodes, with slopes of the polynomial through the values. An error of the values
 * at both ends is one of the slope all along. */
static bool find_residuals(panels *p, const panel *q)
{
    double d[PANEL_NODES][PANEL_NODES], length = fabs(q->to - q->from);
    size_t n = (size_t)p->values, m = (size_t)p->residuals;
    double *slope = p->work, *off = p->work + n;
    slopes_of_nodes(d);
    for (size_t i = 0; i < n; i++) off[i] = 2.0 * p->off[i] / length;
    for (int k = 0; k < PANEL_NODES; k++) {
        for (size_t i = 0; i < n; i++) {
            double sum = 0.0;
            for (size_t j = 0; j < PANEL_NODES; j++) sum += d[k][j] * (q->v[j * n + i] - q->v[i]);
            slope[i] = 2.0 * sum / (q->to - q->from);
        }
        p->evaluations++;
        if (!p->residual(p->of, time_of(q, k), q->v + (size_t)k * n, slope, off,
                         q->residual + (size_t)k * m, q->spread + (size_t)k * m))
            return false;
    }
    return true;
}

/* What the panel says of residual e. */
typedef struct integral {
    double fine, coarse, allowed; /* times the length */
    double worst;                 /* where the residual is largest */
} integral;

static integral integrate(const panels *p, const panel *q, int e)
{
    integral sum = {0.0, 0.0, 0.0, 0.5 * (q->from + q->to)};
    double half = 0.5 * (q->to - q->from), most = 0.0;
    for (int k = 0; k < PANEL_NODES; k++) {
        size_t at = (size_t)k * (size_t)p->residuals + (size_t)e;
        double r = q->residual[at];
        sum.fine += half * fine[k] * r;
        sum.coarse += half * coarse[k] * r;
        sum.allowed += fabs(half) * fine[k] * q->spread[at];
        if (fabs(r) > most) most = fabs(r), sum.worst = time_of(q, k);
    }
    return sum;
}

/* Whether the panel is to be halved: some integral is too large, or may be, and not known. */
static bool judge_panel(panels *p, const panel *q)
{
    bool halve = false;
    for (int e = 0; e < p->residuals; e++) {
        integral i = integrate(p, q, e);
        double apart = fabs(i.fine - i.coarse), size = fmax(fabs(i.fine), fabs(i.coarse));
        if (!(size > i.allowed)) continue; /* NAN: it has no value */
        if (q->depth < DEEPEST && p->evaluations < p->most && apart > AGREE * fabs(i.fine))
            halve = true;
        else if (apart <= AGREE * fabs(i.fine) && fabs(i.fine) > i.allowed)
            p->leak(p->of, e, q->from, q->to, i.worst, i.fine, i.allowed);
    }
    return halve;
}

static bool look(panels *p, dae_solver *s, double from, double to, int depth)
{
    size_t n = (size_t)p->values, m = (size_t)p->residuals;
    double *room = p->work + 2 * n + (size_t)depth * PANEL_NODES * (n + 2 * m);
    panel q = {from, to, depth, room, room + PANEL_NODES * n, room + PANEL_NODES * (n + m)};
    double middle = 0.5 * (from + to);
    if (!find_values(p, s, &q)) return true; /* the run itself says so */
    if (!find_residuals(p, &q)) return false;
    if (!judge_panel(p, &q)) return true;
    return look(p, s, from, middle, depth + 1) && look(p, s, middle, to, depth + 1);
}

bool panels_look(panels *p, dae_solver *s, double from, double to)
{
    return p->residuals == 0 || p->evaluations >= p->most || look(p, s, from, to, 0);
}
