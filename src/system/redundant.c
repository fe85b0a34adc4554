#include "system/redundant.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vector.h"

/* A row of which no more than this is left across those before it depends on them. G may come from
 * differences, and points are on g = 0 up to rounding. */
static const double DEPENDENT = 1e-6;

/* How far around the point is looked, in sizes of the positions. */
static const double AROUND = 1e-2;
enum { POINTS = 3, ITERATIONS = 30 };

static double dot(int n, const double *a, const double *b)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* Row i of Q = what is left of row i of G across the kept ones before it, of length 1, and R with
 * G = R Q; twice for rounding. Returns what is left, over the length of the row. */
static double orthogonalise(int m, int n, const double *G, const bool *left_out, int i, double *Q,
                            double *R)
{
    double *q = Q + i * n, length = sqrt(dot(n, G + i * n, G + i * n));
    memcpy(q, G + i * n, (size_t)n * sizeof *q);
    for (int k = 0; k < m; k++) R[i * m + k] = 0.0;
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k < i; k++) {
            if (left_out[k]) continue;
            double along = dot(n, q, Q + k * n);
            R[i * m + k] += along;
            for (int j = 0; j < n; j++) q[j] -= along * Q[k * n + j];
        }
    double left = sqrt(dot(n, q, q));
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
    int m, n;
    const double *size;
    redundant_fn *f;
    void *context;
    double *q, *centre, *g, *G, *Q, *R, *z; /* owned: one block, at q */
    bool *left_out;                         /* owned */
} search;

static bool search_new(search *s, int m, int n, const double *size, redundant_fn *f, void *context)
{
    size_t rows = (size_t)m, columns = (size_t)n;
    *s = (search){.m = m, .n = n, .size = size, .f = f, .context = context};
    s->q = DAE_ARRAY(double, 2 * columns + 2 * rows + 2 * rows * columns + rows * rows);
    s->left_out = DAE_ARRAY(bool, rows);
    if (!s->q || !s->left_out) return false;
    s->centre = s->q + n;
    s->g = s->centre + n;
    s->z = s->g + m;
    s->G = s->z + m;
    s->Q = s->G + rows * columns;
    s->R = s->Q + rows * columns;
    return true;
}

static void search_free(search *s)
{
    dae_free(s->q);
    dae_free(s->left_out);
}

/* g and G at s->q, columns in sizes of the positions. */
static bool look(search *s)
{
    if (!s->f(s->context, s->q, s->g, s->G)) return false;
    for (int i = 0; i < s->m; i++)
        for (int j = 0; j < s->n; j++) s->G[i * s->n + j] *= s->size[j];
    return vector_finite(s->m, s->g) && vector_finite(s->m * s->n, s->G);
}

/* Largest g_i over the length of its row. */
static double misfit(const search *s)
{
    double most = 0.0;
    for (int i = 0; i < s->m; i++) {
        const double *row = s->G + i * s->n;
        double length = sqrt(dot(s->n, row, row));
        most = fmax(most, fabs(s->g[i]) / (length > 0.0 ? length : 1.0));
    }
    return most;
}

/* q := q - G^+ g over the kept rows: R z = -g, q += Q' z */
static void gauss_newton(search *s)
{
    for (int i = 0; i < s->m; i++) {
        s->z[i] = 0.0;
        if (s->left_out[i]) continue;
        s->z[i] = (-s->g[i] - dot(i, s->R + i * s->m, s->z)) / s->R[i * s->m + i];
        for (int j = 0; j < s->n; j++) s->q[j] += s->size[j] * s->z[i] * s->Q[i * s->n + j];
    }
}

/* Move s->q onto g = 0; true: all rows hold there, and their dependences are in left_out. */
static bool reach(search *s, int *count)
{
    for (int k = 0; k < ITERATIONS; k++) {
        if (!look(s)) return false;
        *count = find_dependent(s->m, s->n, s->G, s->left_out, s->Q, s->R);
        if (misfit(s) <= 1e-10) return true;
        gauss_newton(s);
    }
    return false;
}

/* Whether as many rows as `count` depend on others around the centre, too. */
static bool lasts(search *s, int count)
{
    unsigned state = 2463534242u;
    for (int k = 0; k < POINTS; k++) {
        int there = 0;
        for (int j = 0; j < s->n; j++) {
            state = state * 1664525u + 1013904223u;
            double unit = (double)(state >> 8) / 16777216.0 - 0.5;
            s->q[j] = s->centre[j] + 2.0 * AROUND * s->size[j] * unit;
        }
        if (!reach(s, &there) || there < count) return false;
    }
    return true;
}

int redundant_find(int m, int n, const double *q, const double *size, redundant_fn *f,
                   void *context, bool *redundant)
{
    search s;
    int count = -1;
    if (search_new(&s, m, n, size, f, context)) {
        memcpy(s.q, q, (size_t)n * sizeof *q);
        if (!reach(&s, &count)) count = 0;
        memcpy(redundant, s.left_out, (size_t)m * sizeof *redundant);
        memcpy(s.centre, s.q, (size_t)n * sizeof *q);
        if (count > 0 && !lasts(&s, count)) count = 0;
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
