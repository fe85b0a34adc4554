#include "structure/linear/growth.h"

#include <float.h>
#include <math.h>

#include "base/memory.h"
#include "structure/index/matching.h"
#include "structure/linear/pencil_parts.h"

typedef struct mode {
    int n;
    const double *A, *B;
    double *re, *im; /* eigenvector */
    double rate, frequency;
    int *row_of; /* per variable: the equation that determines it, -1 */
} mode;

/* ---- the eigenvector ---- */

/* The finite eigenvalue of -A x = lambda B x with the largest real part; -1: none. */
static int fastest(const eigen *w, int n)
{
    int best = -1;
    double largest = 0.0;
    for (int j = 0; j < n; j++) largest = fmax(largest, fabs(w->beta[j]));
    for (int j = 0; j < n; j++) {
        bool finite =
            fabs(w->beta[j]) > 1e3 * DBL_EPSILON * largest && fabs(w->re[j] / w->beta[j]) < DBL_MAX;
        if (finite && (best < 0 || w->re[j] / w->beta[j] > w->re[best] / w->beta[best])) best = j;
    }
    return best;
}

/* False: memory, or QZ does not converge. */
static bool find_mode(mode *m)
{
    const int n = m->n;
    eigen w;
    const int j = eigen_find(&w, n, m->A, m->B, false) ? fastest(&w, n) : -1;
    if (j >= 0) {
        int first = w.im[j] < 0.0 && j > 0 ? j - 1 : j; /* a pair is packed as two columns */
        bool paired = fabs(w.im[j]) > 0.0 && first + 1 < n;
        m->rate = w.re[j] / w.beta[j];
        m->frequency = fabs(w.im[j] / w.beta[j]);
        for (int i = 0; i < n; i++) {
            m->re[i] = w.right[i + first * n];
            m->im[i] = paired ? w.right[i + (first + 1) * n] : 0.0;
        }
    }
    eigen_free(&w);
    return j >= 0;
}

/* ---- who feeds whom ---- */

static bool is_differential(const mode *m, int j)
{
    for (int i = 0; i < m->n; i++)
        if (m->B[i + j * m->n] != 0.0) return true;
    return false;
}

/* Equations to variables: derivatives by B, algebraic variables by A. */
static bool match(mode *m)
{
    int n = m->n;
    size_t *start = DAE_ARRAY(size_t, n + 1), count = 0;
    int *column = DAE_ARRAY(int, (size_t)n *(size_t)n);
    matching found = {0};
    bool ok = start && column;
    for (int i = 0; ok && i < n; i++) {
        for (int j = 0; j < n; j++) {
            const double *matrix = is_differential(m, j) ? m->B : m->A;
            if (matrix[i + j * n] != 0.0) column[count++] = j;
        }
        start[i + 1] = count;
    }
    ok = ok && matching_new(&found, start, column, n, n);
    for (int i = 0; ok && i < n; i++) (void)matching_add(&found, i);
    for (int j = 0; ok && j < n; j++) m->row_of[j] = found.row_of[j];
    matching_free(&found);
    dae_free_all(start, column);
    return ok;
}

/* On the way from a variable to those that feed it. */
typedef struct walker {
    int x;        /* the variable at hand, */
    int of;       /* the last differential one, whose growth is looked at, */
    double chain; /* and how much of x is in its derivative */
} walker;

static walker walker_at(int x)
{
    return (walker){x, x, 1.0};
}

/* To the variable that contributes most to x', or to x, in phase with the differential variable z
 * that x feeds: of z' = sum a_w w the share of w in the growth of |z|^2 is Re(conj(z) a_w w). */
static walker feeder(const mode *m, walker at)
{
    int n = m->n, x = at.x, row = m->row_of[x];
    bool differential = is_differential(m, x);
    walker best = {-1, at.of, 0.0};
    if (row < 0) return best;
    if (differential) at = walker_at(x);
    double pivot = (differential ? m->B : m->A)[row + x * n], most = 0.0;
    double size = hypot(m->re[at.of], m->im[at.of]); /* products of small parts would be 0 */
    if (!(size > 0.0)) return best;
    for (int w = 0; w < n; w++) {
        if (w == x && !differential) continue;
        double factor = -at.chain * m->A[row + w * n] / pivot;
        double share = factor * (m->re[at.of] / size * m->re[w] + m->im[at.of] / size * m->im[w]);
        if (!(share > most)) continue;
        most = share;
        best = (walker){w, at.of, factor};
    }
    return best;
}

/* Follow from variable `from` until one comes again: that is the loop. */
static bool follow(const mode *m, int from, growth *g)
{
    bool *seen = DAE_ARRAY(bool, m->n);
    walker at = walker_at(from);
    if (!seen) return false;
    while (at.x >= 0 && !seen[at.x]) {
        seen[at.x] = true;
        at = feeder(m, at);
    }
    int first = at.x, count = 0;
    while (at.x >= 0 && count < GROWTH_LOOP) {
        g->variable[count] = at.x;
        g->equation[count++] = m->row_of[at.x];
        at = feeder(m, at);
        if (at.x == first) {
            g->loop = count;
            break;
        }
    }
    dae_free(seen);
    return true;
}

bool growth_find(int n, const double *A, const double *B, int from, growth *result)
{
    mode m = {.n = n,
              .A = A,
              .B = B,
              .re = DAE_ARRAY(double, n),
              .im = DAE_ARRAY(double, n),
              .row_of = DAE_ARRAY(int, n)};
    *result = (growth){0};
    bool ok = m.re && m.im && m.row_of && match(&m);
    if (ok && find_mode(&m)) {
        result->found = m.rate > 0.0;
        result->rate = m.rate;
        result->frequency = m.frequency;
        if (result->found) ok = follow(&m, from, result);
    }
    dae_free_all(m.re, m.im, m.row_of);
    return ok;
}
