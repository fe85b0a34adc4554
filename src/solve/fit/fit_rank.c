/* What the data see at a point: parameters whose effect is above what the derivatives leave open,
 * and combinations of them. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vector.h"
#include "linalg/lapack.h"
#include "solve/fit/fit_parts.h"

/* Derivatives, and values beside them, are known to so many tolerances: global errors are a few
 * times those of steps. Columns in units of their parameters, and singular values of columns of
 * length 1, below that are what the runs leave open. */
static const double OPEN = 10.0;

double fit_open(const fit *q)
{
    const double rtol = q->request.options ? q->request.options->rtol : 1e-6;
    return fmin(1e-3, fmax(1e-12, OPEN * rtol));
}

/* ---- parameters ---- */

/* The size of a parameter: of its value or start. One that begins at 0 is as large as its bounds
 * say, or 1, as in sensitivities. */
static double size_of(const fit *q, int k)
{
    double size = fmax(fabs(q->x[k]), fabs(q->start[k]));
    if (q->start[k] != 0.0) return size;
    const double low = fabs(q->lower[k]), high = fabs(q->upper[k]);
    if (isfinite(low)) size = fmax(size, low);
    if (isfinite(high)) size = fmax(size, high);
    return size > 0.0 ? size : 1.0;
}

/* J_ik as part of the largest value of what row i measures, for a parameter that doubles. */
static double effect_of(const fit *q, int k)
{
    const double *column = q->J + (size_t)k * (size_t)q->rows, size = size_of(q, k);
    double most = 0.0;
    for (int i = 0; i < q->rows; i++) {
        const double change = fabs(column[i]) * size;
        if (change > 0.0) most = fmax(most, change / q->range[i]);
    }
    return most;
}

void fit_look(fit *q)
{
    fit_ranges(q);
    for (int k = 0; k < q->count; k++) {
        q->effect[k] = effect_of(q, k);
        q->blind[k] = !(q->effect[k] > fit_open(q));
    }
}

/* ---- combinations ---- */

void fit_split_free(fit_split *s)
{
    rank_split_free(&s->of);
    dae_free_all(s->unit, s->at);
    *s = (fit_split){0};
}

/* R of J = Q R for the columns that are taken, of length 1 each; A is as large as they are. */
static bool triangle(const fit *q, const fit_split *s, double *A, double *tau, double *R)
{
    const int n = s->count, m = q->rows > n ? q->rows : n;
    for (int c = 0; c < n; c++) {
        const double *from = q->weighted_J + (size_t)s->at[c] * (size_t)q->rows;
        for (int i = 0; i < q->rows; i++)
            A[(size_t)c * (size_t)m + (size_t)i] = from[i] / s->unit[c];
    }
    lapack_enter();
    bool ok = n == 0 || LAPACKE_dgeqrf(LAPACK_COL_MAJOR, m, n, A, m, tau) == 0;
    lapack_leave();
    for (int c = 0; c < n; c++)
        for (int i = 0; i < n; i++)
            R[c * n + i] = i <= c ? A[(size_t)c * (size_t)m + (size_t)i] : 0.0;
    return ok;
}

bool fit_split_new(fit_split *s, const fit *q, const bool *take)
{
    *s = (fit_split){.unit = DAE_ARRAY(double, q->count), .at = DAE_ARRAY(int, q->count)};
    bool ok = s->unit && s->at;
    for (int k = 0; ok && k < q->count; k++) {
        const double *from = q->weighted_J + (size_t)k * (size_t)q->rows;
        const double length = sqrt(vector_dot(q->rows, from, from));
        if (q->blind[k] || (take && !take[k]) || !(length > 0.0)) continue;
        s->unit[s->count] = length;
        s->at[s->count++] = k;
    }
    const size_t n = (size_t)s->count, m = q->rows > s->count ? (size_t)q->rows : n;
    double *A = DAE_ARRAY(double, m *n + n + n * n);
    ok = ok && A && triangle(q, s, A, A + m * n, A + m * n + n) &&
         rank_split_new(&s->of, s->count, s->count, A + m * n + n, fit_open(q), 0.0, NULL);
    dae_free(A);
    if (!ok) fit_split_free(s);
    return ok;
}
