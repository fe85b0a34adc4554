/* Two runs of one problem side by side, in units of the tolerances. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "solve/verify/verify_parts.h"

/* The size of a variable is its largest value within this part of the interval, to both sides: one
 * that passes zero is not off by a thousand tolerances because of an error in time. */
static const double WINDOW = 1.0 / 20.0;
/* Events are paired across so many that have no partner. */
enum { REACH = 40 };

/* ---- tolerances ---- */

static double nominal_of(const model_form *f, int v)
{
    double nominal = fabs(model_form_constant(f, f->flat->variables[v].nominal));
    return isfinite(nominal) && nominal > 0.0 ? nominal : 1.0;
}

double nominal_size(const dae_problem *problem, int unknown)
{
    int v = problem->model ? problem->model->unknown_variable[unknown] : -1;
    return v < 0 ? 1.0 : nominal_of(problem->model, v);
}

bool tolerances_new(tolerances *w, const dae_problem *problem, const dae_options *options)
{
    int n = dae_problem_variable_count(problem);
    const model_form *f = problem->model;
    w->rtol = DAE_ARRAY(double, 2 * (size_t)n);
    if (!w->rtol) return false;
    w->atol = w->rtol + n;
    for (int i = 0; i < n; i++) {
        int top = f ? f->alias[f->visible[i]].top : i;
        int unknown = f ? f->first_unknown[top] : i;
        bool array = options->atol_by_unknown && unknown >= 0;
        w->rtol[i] = options->rtol_by_unknown && unknown >= 0 ? options->rtol_by_unknown[unknown]
                                                              : options->rtol;
        w->atol[i] = array ? options->atol_by_unknown[unknown] : options->atol;
        if (f && !array) w->atol[i] *= nominal_of(f, top);
    }
    return true;
}

void tolerances_free(tolerances *w)
{
    dae_free(w->rtol);
    *w = (tolerances){0};
}

/* ---- events ---- */

/* Of one relation, or at one time: which of two relations that change together (u > 0, u < 0) is
 * met first is a matter of rounding. */
static bool same_event(const trail_event *a, const trail_event *b, double short_way, bool by_kind)
{
    return (by_kind && a->cause == b->cause && a->index == b->index) ||
           fabs(a->t - b->t) <= short_way;
}

/* The nearest pair of equal events from (i, j) on; false: none is near. */
static bool next_equal(const trail *a, const trail *b, double short_way, bool by_kind, int *i,
                       int *j)
{
    for (int skipped = 0; skipped <= REACH; skipped++)
        for (int p = 0; p <= skipped; p++) {
            int ia = *i + p, jb = *j + skipped - p;
            if (ia >= a->event_count || jb >= b->event_count) continue;
            if (!same_event(&a->event[ia], &b->event[jb], short_way, by_kind)) continue;
            *i = ia;
            *j = jb;
            return true;
        }
    return false;
}

/* Times first: one of them may have two events of a relation where the other has one. */
static bool next_pair(const trail *a, const trail *b, double short_way, int *i, int *j)
{
    return next_equal(a, b, short_way, false, i, j) || next_equal(a, b, short_way, true, i, j);
}

/* Rows that are further apart than this are not of one event. */
static double short_way(const trail *a, const yardstick *by)
{
    double rtol = 0.0;
    for (int i = 0; i < a->n; i++) rtol = fmax(rtol, by->tolerance->rtol[i]);
    return by->limit * rtol * fabs(by->span);
}

void trail_pair_events(trail *a, trail *b, const yardstick *by)
{
    double near = short_way(a, by);
    for (int k = 0; k < a->event_count; k++) a->event[k].partner = -1;
    for (int k = 0; k < b->event_count; k++) b->event[k].partner = -1;
    for (int i = 0, j = 0; next_pair(a, b, near, &i, &j); i++, j++) {
        a->event[i].partner = j;
        b->event[j].partner = i;
    }
}

/* ---- sizes ---- */

/* size[r] = largest |v_i| of rows within the window around row r, where v has n values for each row
 * of x; queue: x->count entries */
static void find_sizes(const trail *x, const double *v, int i, double width, int *queue,
                       double *size)
{
    int head = 0, tail = 0, ahead = 0;
    size_t n = (size_t)x->n;
    v += i;
    for (int r = 0; r < x->count; r++) {
        for (; ahead < x->count && fabs(x->t[ahead] - x->t[r]) <= width; ahead++) {
            double value = fabs(v[(size_t)ahead * n]);
            while (tail > head && !(fabs(v[(size_t)queue[tail - 1] * n]) > value)) tail--;
            queue[tail++] = ahead;
        }
        while (fabs(x->t[queue[head]] - x->t[r]) > width) head++;
        size[r] = fabs(v[(size_t)queue[head] * n]);
    }
}

/* ---- which rows belong together ---- */

/* Which row of b belongs to a row of a. */
typedef struct pairing {
    const trail *a, *b;
    int *row;                 /* per row of a: that of b; -1: there is none */
    int between;              /* rows left out since an event lies between */
    int *before_a, *before_b; /* so many events with a partner are among the first k, k = 0, .. */
    double *gap;              /* per pair of events: how far their times are apart */
    double *lone;             /* times of events without a partner, in both, increasing; */
    int lone_count;           /* so many */
} pairing;

static void pairing_free(pairing *p)
{
    dae_free_all(p->row, p->before_a, p->before_b, p->gap, p->lone);
}

/* Count the events with a partner; false: memory */
static bool count_pairs(const trail *x, int **before)
{
    *before = DAE_ARRAY(int, (size_t)x->event_count + 1);
    for (int k = 0; *before && k < x->event_count; k++)
        (*before)[k + 1] = (*before)[k] + (x->event[k].partner >= 0);
    return *before;
}

static bool measure_gaps(pairing *p)
{
    const trail *a = p->a;
    p->gap = DAE_ARRAY(double, p->before_a[a->event_count]);
    for (int k = 0; p->gap && k < a->event_count; k++) {
        int partner = a->event[k].partner;
        if (partner >= 0) p->gap[p->before_a[k]] = fabs(a->event[k].t - p->b->event[partner].t);
    }
    return p->gap;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool list_lone(pairing *p)
{
    const trail *both[2] = {p->a, p->b};
    p->lone = DAE_ARRAY(double, (size_t)p->a->event_count + (size_t)p->b->event_count);
    for (int k = 0; p->lone && k < 2; k++)
        for (int i = 0; i < both[k]->event_count; i++)
            if (both[k]->event[i].partner < 0) p->lone[p->lone_count++] = both[k]->event[i].t;
    if (p->lone) qsort(p->lone, (size_t)p->lone_count, sizeof *p->lone, by_value);
    return p->lone;
}

/* Whether an event that only one of them has is a short way from t: near an accumulation, say,
 * where one of them is at rest a moment before the other. */
static bool is_near_lone(const pairing *p, double t, double short_way)
{
    int low = 0, high = p->lone_count;
    while (low < high) { /* the first one that is not before t - short_way */
        int middle = (low + high) / 2;
        if (p->lone[middle] < t - short_way)
            low = middle + 1;
        else
            high = middle;
    }
    return low < p->lone_count && p->lone[low] <= t + short_way;
}

/* The row of b at the time of row r of a on the same side of all events; else the nearest one,
 * unless it is a short way in time to the other side. Rows of b at that time begin at `from`. */
static int find_partner(pairing *p, int r, int from, double short_way)
{
    const trail *a = p->a, *b = p->b;
    int here = p->before_a[a->passed[r]], best = -1, least = 0;
    for (int q = from; q < b->count && b->t[q] == a->t[r]; q++) {
        int apart = abs(p->before_b[b->passed[q]] - here);
        if (best < 0 || apart < least) best = q, least = apart;
    }
    if (best >= 0 && is_near_lone(p, a->t[r], short_way)) {
        p->between++;
        return -1;
    }
    if (best < 0 || least == 0) return best;
    int there = p->before_b[b->passed[best]];
    if (p->gap[here < there ? here : there] > short_way) return best;
    p->between++;
    return -1;
}

static bool pair_rows(pairing *p, double short_way)
{
    const trail *a = p->a, *b = p->b;
    p->row = DAE_ARRAY(int, a->count);
    if (!p->row || !count_pairs(a, &p->before_a) || !count_pairs(b, &p->before_b) ||
        !measure_gaps(p) || !list_lone(p))
        return false;
    double sign = a->count > 1 && a->t[a->count - 1] < a->t[0] ? -1.0 : 1.0;
    for (int r = 0, q = 0; r < a->count; r++) {
        while (q < b->count && (b->t[q] - a->t[r]) * sign < 0.0) q++;
        p->row[r] = find_partner(p, r, q, short_way);
    }
    return true;
}

/* ---- comparison ---- */

/* |a - b| in units of w; a value that only one of them has is beyond all units */
static double distance(double a, double b, double w)
{
    double d = fabs(a - b);
    if (a == b || (isnan(a) && isnan(b)) || d <= 4.0 * DBL_EPSILON * fabs(b)) return 0.0;
    return isnan(d) || !(w > 0.0) ? (double)INFINITY : d / w;
}

/* Work space of a comparison. */
typedef struct bench {
    double *size;   /* per row of b: size of the variable around there */
    double *least;  /* per row of a: least unit around there */
    double *around; /* per row of a trail with units */
    int *queue;
    int *unit_row[2]; /* per row of a: that of the trail with units; -1: none */
} bench;

static void bench_free(bench *k)
{
    dae_free_all(k->size, k->least, k->around, k->queue, k->unit_row[0], k->unit_row[1]);
}

/* Which row of `units` has the time of each row of a. */
static void find_unit_rows(const trail *a, const trail *units, int *row)
{
    double sign = a->count > 1 && a->t[a->count - 1] < a->t[0] ? -1.0 : 1.0;
    for (int r = 0, q = 0; r < a->count; r++) {
        while (units && q < units->count && (units->t[q] - a->t[r]) * sign < 0.0) q++;
        bool there = units && units->unit && q < units->count && units->t[q] == a->t[r];
        row[r] = there ? q : -1;
    }
}

static bool bench_new(bench *k, const trail *a, const trail *b, const yardstick *by)
{
    int most = b->count;
    for (int u = 0; u < 2; u++)
        if (by->units[u] && by->units[u]->count > most) most = by->units[u]->count;
    *k = (bench){.size = DAE_ARRAY(double, b->count),
                 .least = DAE_ARRAY(double, a->count),
                 .around = DAE_ARRAY(double, most),
                 .queue = DAE_ARRAY(int, most),
                 .unit_row = {DAE_ARRAY(int, a->count), DAE_ARRAY(int, a->count)}};
    if (!k->size || !k->least || !k->around || !k->queue || !k->unit_row[0] || !k->unit_row[1])
        return false;
    for (int u = 0; u < 2; u++) find_unit_rows(a, by->units[u], k->unit_row[u]);
    return true;
}

/* k->least for variable i. */
static void find_least(bench *k, const trail *a, const yardstick *by, int i, double width)
{
    for (int r = 0; r < a->count; r++) k->least[r] = 0.0;
    for (int u = 0; u < 2; u++) {
        const trail *x = by->units[u];
        if (!x || !x->unit) continue;
        find_sizes(x, x->unit, i, width, k->queue, k->around);
        for (int r = 0; r < a->count; r++)
            if (k->unit_row[u][r] >= 0)
                k->least[r] = fmax(k->least[r], k->around[k->unit_row[u][r]]);
    }
}

/* Variable i at all rows. */
static void compare_variable(comparison *c, const pairing *p, const yardstick *by, const bench *k,
                             int i)
{
    const trail *a = p->a, *b = p->b;
    double sum = 0.0, rtol = by->tolerance->rtol[i], atol = by->tolerance->atol[i];
    size_t n = (size_t)a->n;
    for (int r = 0; r < a->count; r++) {
        int q = p->row[r];
        if (q < 0) continue;
        double unit = fmax(rtol * k->size[q] + atol, k->least[r]);
        double e = distance(a->values[(size_t)r * n + (size_t)i],
                            b->values[(size_t)q * n + (size_t)i], unit);
        sum += e * e;
        if (c->row[i] < 0 || e > c->error[i]) c->error[i] = e, c->row[i] = r, c->other[i] = q;
        bool earlier = isnan(c->parted) || fabs(a->t[r] - a->t[0]) < fabs(c->parted - a->t[0]);
        if (e > by->limit && earlier) c->parted = a->t[r];
    }
    c->rms[i] = c->compared > 0 ? sqrt(sum / c->compared) : 0.0;
    if (c->row[i] >= 0 && (c->variable < 0 || c->error[i] > c->worst))
        c->worst = c->error[i], c->variable = i;
}

void comparison_free(comparison *c)
{
    dae_free_all(c->error, c->row);
    *c = (comparison){0};
}

bool comparison_new(comparison *c, const trail *a, const trail *b, const yardstick *by)
{
    size_t n = (size_t)a->n;
    double width = WINDOW * fabs(by->span);
    *c = (comparison){.variable = -1, .parted = NAN};
    c->error = DAE_ARRAY(double, 2 * n);
    c->row = DAE_ARRAY(int, 2 * n);
    pairing p = {.a = a, .b = b};
    bench k = {0};
    bool ok = c->error && c->row && bench_new(&k, a, b, by) && pair_rows(&p, short_way(a, by));
    if (ok) {
        c->rms = c->error + n;
        c->other = c->row + n;
        c->between = p.between;
        for (int r = 0; r < a->count; r++) c->compared += p.row[r] >= 0;
        for (int i = 0; i < a->n; i++) {
            c->row[i] = c->other[i] = -1;
            find_sizes(b, b->values, i, width, k.queue, k.size);
            find_least(&k, a, by, i, width);
            compare_variable(c, &p, by, &k, i);
        }
    }
    pairing_free(&p);
    bench_free(&k);
    if (!ok) comparison_free(c);
    return ok;
}
