/* What the data say of the parameters: errors, correlations, and directions that they do not see.
 */
#include <math.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/vector.h"
#include "linalg/lapack.h"
#include "linalg/singular_values.h"
#include "solve/fit/fit_parts.h"

/* Directions whose effect is this part of the largest, parameters in units of their own effect, are
 * not seen: differences of runs at usual tolerances are noise there. */
static const double UNSEEN = 1e-7;
/* A parameter with this part in such a direction is named. */
static const double TAKES_PART = 0.1;

/* R of J = Q R with columns of length 1, count x count; unit = lengths. False: memory. */
static bool triangle(const fit *q, double *R, double *unit)
{
    const int n = q->count, m = q->rows > q->count ? q->rows : q->count;
    double *A = DAE_ARRAY(double, (size_t)m *(size_t)n), *tau = DAE_ARRAY(double, n);
    bool ok = A && tau;
    for (int k = 0; ok && k < n; k++) {
        const double *from = q->weighted_J + (size_t)k * (size_t)q->rows;
        unit[k] = sqrt(vector_dot(q->rows, from, from));
        for (int i = 0; i < q->rows; i++)
            A[(size_t)k * (size_t)m + (size_t)i] = unit[k] > 0.0 ? from[i] / unit[k] : 0.0;
    }
    if (ok) {
        lapack_enter();
        ok = LAPACKE_dgeqrf(LAPACK_COL_MAJOR, m, n, A, m, tau) == 0;
        lapack_leave();
    }
    for (int k = 0; ok && k < n; k++)
        for (int i = 0; i < n; i++)
            R[k * n + i] = i <= k ? A[(size_t)k * (size_t)m + (size_t)i] : 0.0;
    dae_free_all(A, tau);
    return ok;
}

/* Covariance of the scaled parameters over the directions that are seen: V S^-2 V'. */
static double covariance(const rank_split *s, int i, int j)
{
    double sum = 0.0;
    for (int d = 0; d < s->rank; d++)
        sum += s->V[d * s->columns + i] * s->V[d * s->columns + j] / (s->sigma[d] * s->sigma[d]);
    return sum;
}

/* Name the parameters of every direction that is not seen. */
static void tell_unseen(const fit *q, const rank_split *s, const double *unit, dae_fit_result *r)
{
    size_t at = strlen(r->text);
    for (int d = s->rank; d < q->count; d++) {
        const double *v = s->V + d * q->count;
        int named = 0;
        for (int k = 0; k < q->count; k++) {
            if (fabs(v[k]) < TAKES_PART) continue;
            r->unidentified[k] = true;
            const char *name = q->request.parameters[k].name;
            at = text_append(r->text, sizeof r->text, at, named++ ? ", " : at ? " " : "", 2);
            at = text_append(r->text, sizeof r->text, at, name, 60);
        }
        bool alone = named == 1;
        for (int k = 0; k < q->count; k++)
            if (fabs(v[k]) >= TAKES_PART && !(unit[k] > 0.0)) alone = true;
        const char *why = alone ? " has no effect on the data: measure something that it moves."
                                : " cannot be told apart: the data see one combination less of "
                                  "them. Fix one, or measure more.";
        at = text_append(r->text, sizeof r->text, at, why, 200);
    }
}

static void tell_values(const fit *q, dae_fit_result *r)
{
    vector_copy(q->count, q->x, r->values);
    r->cost = q->cost;
    r->runs = q->runs;
    r->observations = q->rows;
    for (int k = 0; k < q->count; k++)
        r->at_bound[k] = q->x[k] <= q->lower[k] || q->x[k] >= q->upper[k];
}

static bool has_sigmas(const fit *q)
{
    for (int d = 0; d < q->request.data_count; d++)
        if (!q->request.data[d].sigma && !q->request.data[d].column_sigma) return false;
    return true;
}

/* Without derivatives at the point nothing is known but the point. */
static dae_status report_point(const fit *q, dae_fit_result *r)
{
    tell_values(q, r);
    r->sigma = NAN;
    for (int i = 0; i < q->count; i++) r->errors[i] = NAN;
    for (int i = 0; i < q->count * q->count; i++) r->correlation[i] = NAN;
    return DAE_OK;
}

dae_status fit_report(const fit *q, dae_fit_result *r, dae_diag *diag)
{
    if (!q->sloped) return report_point(q, r);
    const int n = q->count;
    rank_split s = {0};
    double *R = DAE_ARRAY(double, (size_t)n *(size_t)n + (size_t)n), *unit = R + n * n;
    bool ok = R && triangle(q, R, unit) && rank_split_new(&s, n, n, R, UNSEEN, 0.0, NULL);
    if (!ok) {
        dae_free(R);
        return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for a fit.");
    }
    tell_values(q, r);
    r->rank = s.rank;
    if (s.rank == 0 && r->end == DAE_FIT_CONVERGED) r->end = DAE_FIT_STUCK;
    double sum = vector_dot(q->rows, q->weighted_r, q->weighted_r);
    r->sigma = q->rows > s.rank ? sqrt(sum / (q->rows - s.rank)) : 0.0;
    tell_unseen(q, &s, unit, r);
    const double by = has_sigmas(q) ? 1.0 : r->sigma;
    for (int i = 0; i < n; i++) {
        double own = covariance(&s, i, i);
        r->errors[i] = r->unidentified[i] ? INFINITY : by * sqrt(own) / unit[i];
        for (int j = 0; j < n; j++) {
            double other = covariance(&s, j, j), both = sqrt(own * other);
            r->correlation[i * n + j] = both > 0.0 ? covariance(&s, i, j) / both : 0.0;
        }
    }
    rank_split_free(&s);
    dae_free(R);
    return DAE_OK;
}
