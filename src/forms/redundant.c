#include "forms/redundant.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vector.h"

/* A row of which no more than this is left across those before it depends on them. G may come from
 * differences, and points are on g = 0 up to rounding. */
static const double DEPENDENT = 1e-6;

/* How far around the point is looked, in sizes of the positions and in units of time. */
static const double AROUND = 1e-2;
/* The points: beside the first one, then later. Constraints that agree now may move apart. */
static const double LATER[] = {0.0, 1.0, 2.7};
enum { POINTS = 3, ITERATIONS = 30 };

/* What is left of a constraint that is met, and what is more than rounding of one that should be,
 * in units of the positions. Rates may come from differences. */
static const double MET = 1e-10, OFF = 1e-7;

/* Row i of Q = what is left of row i of G across the kept ones before it, of length 1, and R with
 * G = R Q; twice for rounding. Returns what is left, over the length of the row. */
static double orthogonalise(int m, int n, const double *G, const bool *left_out, int i, double *Q,
                            double *R)
{
    double *q = Q + i * n, length = sqrt(vector_dot(n, G + i * n, G + i * n));
    memcpy(q, G + i * n, (size_t)n * sizeof *q);
    for (int k = 0; k < m; k++) R[i * m + k] = 0.0;
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k < i; k++) {
            if (left_out[k]) continue;
            double along = vector_dot(n, q, Q + k * n);
            R[i * m + k] += along;
            for (int j = 0; j < n; j++) q[j] -= along * Q[k * n + j];
        }
    double left = sqrt(vector_dot(n, q, q));
    R[i * m + i] = left;
    for (int j = 0; j < n && left > 0.0; j++) q[j] /= left;
    return length > 0.0 ? left / length : 0.0;
}

/* left_out := rows that depend on kept ones before them; returns how many */
static int find_dependent(int m, int n, const double *G, bool *left_out, double *Q, double *R)
{
    int count = 0;
    for (int i = 0; i < m; i++) {
        left_out[i] = false;
        left_out[i] = !(orthogonalise(m, n, G, left_out, i, Q, R) > DEPENDENT);
        count += left_out[i];
    }
    return count;
}

/* Everything a search needs. */
typedef struct search {
    const redundant_rows *rows;
    int m, n;
    double t;
    double *q, *v, *centre, *g, *rate, *G, *Q, *R, *z; /* owned: one block, at q */
    bool *left_out;                                    /* owned */
} search;

static bool search_new(search *s, const redundant_rows *rows)
{
    size_t m = (size_t)rows->m, n = (size_t)rows->n;
    *s = (search){.rows = rows, .m = rows->m, .n = rows->n, .t = rows->t};
    s->left_out = DAE_ARRAY(bool, m);
    return SHARED_BLOCK(SHARE(s->q, n), SHARE(s->v, n), SHARE(s->centre, n), SHARE(s->g, m),
                        SHARE(s->rate, m), SHARE(s->z, m), SHARE(s->G, m * n), SHARE(s->Q, m * n),
                        SHARE(s->R, m * m)) &&
           s->left_out;
}

static void search_free(search *s)
{
    dae_free_all(s->q, s->left_out);
}

/* g, rate and G at s->t, s->q, s->v, columns in sizes of the positions. */
static bool look(search *s)
{
    const redundant_rows *r = s->rows;
    if (!r->evaluate(r->context, s->t, s->q, s->v, s->g, s->rate, s->G)) return false;
    for (int i = 0; i < s->m; i++)
        for (int j = 0; j < s->n; j++) s->G[i * s->n + j] *= r->size[j];
    return vector_finite(s->m, s->g) && vector_finite(s->m, s->rate) &&
           vector_finite(s->m * s->n, s->G);
}

/* How large the positions of constraint i are, in their nominal sizes; where they are all zero, how
 * large the others are, or 1: a belt of 1e-6 m is as wrong by a tenth as one of 1 m. */
static double extent_of(const search *s, int i)
{
    double most = 0.0, all = 0.0;
    for (int j = 0; j < s->n; j++) {
        double size = fabs(s->q[j]) / s->rows->size[j];
        all = fmax(all, size);
        if (s->G[i * s->n + j] != 0.0) most = fmax(most, size);
    }
    return most > 0.0 ? most : all > 0.0 ? all : 1.0;
}

/* How fast positions of such an extent move, in units of it; at least 1. */
static double speed(const search *s, double extent)
{
    double most = 1.0;
    for (int j = 0; j < s->n; j++) most = fmax(most, fabs(s->v[j]) / (s->rows->size[j] * extent));
    return most;
}

/* How far constraint i is from being met, on the level of which `values` are. */
static double misfit(const search *s, const double *values, int i)
{
    const double *row = s->G + i * s->n;
    double length = sqrt(vector_dot(s->n, row, row)), extent = extent_of(s, i);
    double scale = extent * (values == s->rate ? speed(s, extent) : 1.0);
    return fabs(values[i]) / (scale * (length > 0.0 ? length : 1.0));
}

static bool kept_are_met(const search *s)
{
    for (int i = 0; i < s->m; i++)
        if (!s->left_out[i] && (misfit(s, s->g, i) > MET || misfit(s, s->rate, i) > MET))
            return false;
    return true;
}

/* x := x - G^+ values over the kept rows: R z = -values, x += Q' z */
static void gauss_newton(search *s, const double *values, double *x)
{
    for (int i = 0; i < s->m; i++) {
        s->z[i] = 0.0;
        if (s->left_out[i]) continue;
        s->z[i] = (-values[i] - vector_dot(i, s->R + i * s->m, s->z)) / s->R[i * s->m + i];
        for (int j = 0; j < s->n; j++) x[j] += s->rows->size[j] * s->z[i] * s->Q[i * s->n + j];
    }
}

/* Move s->q and s->v to where the rows hold that are kept; left_out: the others. */
static bool reach(search *s, int *count)
{
    for (int k = 0; k < ITERATIONS; k++) {
        if (!look(s)) return false;
        *count = find_dependent(s->m, s->n, s->G, s->left_out, s->Q, s->R);
        if (kept_are_met(s)) return true;
        gauss_newton(s, s->g, s->q);
        gauss_newton(s, s->rate, s->v);
    }
    return false;
}

/* ---- constraints that contradict each other ---- */

/* The kept rows that make up row l. False: memory */
static bool find_partners(const search *s, int l, bool *with)
{
    size_t m = (size_t)s->m;
    double *c = DAE_ARRAY(double, 2 * m * m + m * (size_t)s->n);
    if (!c) return false;
    redundant_relations(s->m, s->n, s->G, s->left_out, c, c + m * m);
    const double *row = s->G + l * s->n;
    double length = sqrt(vector_dot(s->n, row, row));
    for (int i = 0; i < s->m; i++) {
        const double *other = s->G + i * s->n;
        double part = fabs(c[l * s->m + i]) * sqrt(vector_dot(s->n, other, other));
        with[i] = part > 1e-6 * length && part > 0.0;
    }
    dae_free(c);
    return true;
}

/* Note the row left out that is furthest from zero, unless one is known. False: memory */
static bool note_conflict(const search *s, redundant_conflict *conflict)
{
    double worst = OFF;
    bool known = conflict->row >= 0;
    for (int i = 0; i < s->m && !known; i++) {
        double here = misfit(s, s->g, i), moving = misfit(s, s->rate, i);
        if (!s->left_out[i] || !(fmax(here, moving) > worst)) continue;
        worst = fmax(here, moving);
        conflict->row = i;
        conflict->t = s->t;
        conflict->on_rates = !(here > OFF);
        conflict->off = conflict->on_rates ? s->rate[i] : s->g[i];
    }
    if (known || conflict->row < 0 || !conflict->with) return true;
    return find_partners(s, conflict->row, conflict->with);
}

/* ---- points around ---- */

/* s->q and s->v = the centre, moved in all directions at once by up to AROUND. */
static void step_aside(search *s, unsigned *state)
{
    const redundant_rows *r = s->rows;
    for (int j = 0; j < 2 * s->n; j++) {
        *state = *state * 1664525u + 1013904223u;
        double unit = (double)(*state >> 8) / 16777216.0 - 0.5;
        double size = 2.0 * AROUND * r->size[j % s->n] * unit;
        if (j < s->n)
            s->q[j] = s->centre[j] + size;
        else
            s->v[j - s->n] = (r->v ? r->v[j - s->n] : 0.0) + size;
    }
}

/* Whether as many rows as `count` depend on others around the centre, too, now and later. -1:
 * memory */
static int lasts(search *s, int count, redundant_conflict *conflict)
{
    unsigned state = 2463534242u;
    for (int k = 0; k < POINTS; k++) {
        int there = 0;
        unsigned here = state;
        step_aside(s, &state);
        s->t = s->rows->t + AROUND * LATER[k];
        bool reached = reach(s, &there);
        if (!reached && k > 0) { /* equations may end */
            step_aside(s, &here);
            s->t = s->rows->t;
            reached = reach(s, &there);
        }
        if (!reached || there < count) return 0;
        if (!note_conflict(s, conflict)) return -1;
    }
    return 1;
}

int redundant_find(const redundant_rows *rows, bool *redundant, redundant_conflict *conflict)
{
    search s;
    int count = -1, n = rows->n;
    conflict->row = -1;
    if (search_new(&s, rows)) {
        memcpy(s.q, rows->q, (size_t)n * sizeof *s.q);
        if (rows->v) memcpy(s.v, rows->v, (size_t)n * sizeof *s.v);
        if (!reach(&s, &count)) count = 0;
        memcpy(redundant, s.left_out, (size_t)rows->m * sizeof *redundant);
        memcpy(s.centre, s.q, (size_t)n * sizeof *s.q);
        if (count > 0 && !note_conflict(&s, conflict)) count = -1;
        int last = count > 0 ? lasts(&s, count, conflict) : 1;
        if (last == 0) conflict->row = -1; /* a singular configuration */
        if (last <= 0 || conflict->row >= 0) count = last < 0 ? -1 : 0;
    }
    search_free(&s);
    return count;
}

void redundant_relations(int m, int n, const double *G, const bool *redundant, double *c,
                         double *work)
{
    double *Q = work, *R = work + m * n;
    memset(c, 0, (size_t)m * (size_t)m * sizeof *c);
    for (int i = 0; i < m; i++) orthogonalise(m, n, G, redundant, i, Q, R);
    for (int l = 0; l < m; l++) {
        if (!redundant[l]) continue;
        for (int i = l - 1; i >= 0; i--) { /* c' R = R_l over the kept rows */
            if (redundant[i]) continue;
            double rest = R[l * m + i];
            for (int k = i + 1; k < l; k++) rest -= c[l * m + k] * R[k * m + i];
            c[l * m + i] = rest / R[i * m + i];
        }
    }
}
