#include "method/half_explicit/chart.h"

#include "base/memory.h"
#include "base/vector.h"
#include "linalg/pivoting.h"
#include "method/common/layout.h"

#include <math.h>

/* Pivots below this part of the first one count as 0; differenced Jacobians have errors of 1e-10.
 */
static const double RANK_TOLERANCE = 1e-9;
/* Dependent variables that move so much faster than independent ones are chosen anew; with complete
 * pivoting a fresh choice has factors around 1. Larger limits save choices, but errors grow with
 * the fifth and eighth power of the factor: with 10 they were ten times as large on the four-bar
 * linkage. */
static const double MOST_GROWTH = 1.5;

void chart_free(chart *c)
{
    if (!c) return;
    saddle_free(c->saddle);
    manifold_free(&c->shortest);
    dae_free_all(c->A, c->M, c->full, c);
}

chart *chart_new(dae_coordinates kind, const form_matrix *matrix, const saddle_shape *mechanism,
                 size_t mass)
{
    chart *c = DAE_NEW(chart);
    if (!c) return NULL;
    *c = (chart){.kind = kind, .matrix = matrix, .m = matrix->rows, .n = matrix->columns};
    size_t m = (size_t)c->m, n = (size_t)c->n;
    bool fits = SHARED_BLOCK(SHARE(c->A, matrix->count), SHARE(c->r, m), SHARE(c->row_scale, m),
                             SHARE(c->dx, n), SHARE(c->unit, n));
    if (fits && kind == DAE_COORDINATES_PARTITIONED)
        fits = SHARED_BLOCK(SHARE(c->full, m * n), SHARE(c->lu, m * m), SHARE(c->dependent, m),
                            SHARE(c->order, m + n), SHARE(c->pivots, m));
    else if (fits && mechanism) {
        c->saddle = saddle_new(mechanism);
        fits = SHARED_BLOCK(SHARE(c->M, mass), SHARE(c->base, matrix->count)) && c->saddle;
    } else if (fits)
        fits = manifold_new(&c->shortest, matrix, c->unit, NULL);
    if (fits) return c;
    chart_free(c);
    return NULL;
}

/* ---- tangent space ---- */

static chart_status choose_mechanical(chart *c)
{
    vector_copy((int)c->matrix->count, c->A, c->base);
    switch (saddle_factor(c->saddle, c->M, c->base, c->base)) {
    case SADDLE_OK: return CHART_OK;
    case SADDLE_DEPENDENT: c->row = saddle_row(c->saddle); return CHART_DEPENDENT;
    case SADDLE_MEMORY: return CHART_MEMORY;
    default: return CHART_RETRY;
    }
}

static chart_status choose_shortest(chart *c)
{
    vector_copy((int)c->matrix->count, c->A, c->shortest.A);
    if (!manifold_factor(&c->shortest, c->shortest.A)) return CHART_MEMORY;
    if (kkt_rank(c->shortest.solver) >= c->m) return CHART_OK;
    c->row = manifold_dependent(&c->shortest, c->r) ? vector_argmax(c->m, c->r, NULL) : -1;
    return CHART_DEPENDENT;
}

/* ---- partitioning [WH82] ---- */

/* full = c_x with columns in units of the variables, rows scaled to 1 */
static void spread(chart *c)
{
    vector_zero(c->m * c->n, c->full);
    for (form_entry e = {0}; form_matrix_next(c->matrix, &e);)
        c->full[e.row + e.column * c->m] = c->A[e.at] * c->unit[e.column];
    for (int i = 0; i < c->m; i++) {
        double most = 0.0;
        for (int j = 0; j < c->n; j++) most = fmax(most, fabs(c->full[i + j * c->m]));
        c->row_scale[i] = most > 0.0 ? most : 1.0;
        for (int j = 0; j < c->n; j++) c->full[i + j * c->m] /= c->row_scale[i];
    }
}

/* The columns of complete pivoting are the dependent variables. */
static chart_status pick_dependent(chart *c)
{
    int column;
    spread(c);
    select_status status = select_dense(c->m, c->n, c->full, NULL, RANK_TOLERANCE, c->order,
                                        c->dependent, &c->row, &column);
    return status == SELECT_OK ? CHART_OK : CHART_DEPENDENT;
}

/* LU of the columns of the dependent variables, by rows; false: singular */
static bool factor_dependent(chart *c)
{
    int m = c->m;
    spread(c);
    for (int k = 0; k < m; k++)
        for (int i = 0; i < m; i++) c->lu[i + k * m] = c->full[i + c->dependent[k] * m];
    for (int k = 0; k < m; k++) {
        int best = k;
        for (int i = k + 1; i < m; i++)
            if (fabs(c->lu[i + k * m]) > fabs(c->lu[best + k * m])) best = i;
        c->pivots[k] = best;
        if (!(fabs(c->lu[best + k * m]) > RANK_TOLERANCE)) return false;
        for (int j = 0; j < m; j++) {
            double keep = c->lu[k + j * m];
            c->lu[k + j * m] = c->lu[best + j * m];
            c->lu[best + j * m] = keep;
        }
        for (int i = k + 1; i < m; i++) {
            double factor = c->lu[i + k * m] /= c->lu[k + k * m];
            for (int j = k + 1; j < m; j++) c->lu[i + j * m] -= factor * c->lu[k + j * m];
        }
    }
    return true;
}

/* b := (LU)^-1 b */
static void solve_dependent(const chart *c, double *b)
{
    int m = c->m;
    for (int k = 0; k < m; k++) {
        double keep = b[k];
        b[k] = b[c->pivots[k]];
        b[c->pivots[k]] = keep;
    }
    for (int k = 0; k < m; k++)
        for (int i = k + 1; i < m; i++) b[i] -= c->lu[i + k * m] * b[k];
    for (int k = m - 1; k >= 0; k--) {
        b[k] /= c->lu[k + k * m];
        for (int i = 0; i < k; i++) b[i] -= c->lu[i + k * m] * b[k];
    }
}

/* max |d dependent / d independent|, in units of the variables */
static double growth(chart *c)
{
    double most = 0.0;
    for (int j = 0; j < c->n; j++) {
        vector_copy(c->m, c->full + (size_t)j * (size_t)c->m, c->r);
        solve_dependent(c, c->r);
        bool is_dependent = false;
        for (int k = 0; k < c->m; k++) is_dependent |= c->dependent[k] == j;
        for (int k = 0; k < c->m && !is_dependent; k++) most = fmax(most, fabs(c->r[k]));
    }
    return most;
}

/* ---- choice ---- */

chart_status chart_choose(chart *c, const double *unit)
{
    vector_copy(c->n, unit, c->unit);
    chart_status status = c->kind == DAE_COORDINATES_PARTITIONED ? pick_dependent(c)
                          : c->saddle                            ? choose_mechanical(c)
                                                                 : choose_shortest(c);
    if (status == CHART_OK && c->kind == DAE_COORDINATES_PARTITIONED && !factor_dependent(c))
        status = CHART_DEPENDENT;
    c->chosen = c->fresh = status == CHART_OK;
    c->rate = 0.0;
    c->choices++;
    return status;
}

chart_status chart_watch(chart *c, const double *unit)
{
    c->fresh = false;
    if (c->kind != DAE_COORDINATES_PARTITIONED) return CHART_OK;
    vector_copy(c->n, unit, c->unit);
    bool good = factor_dependent(c) && growth(c) <= MOST_GROWTH;
    if (!good) return chart_choose(c, unit);
    c->fresh = true; /* its matrices are */
    return CHART_OK;
}

void chart_correct(chart *c, const double *r, double *dx)
{
    if (c->kind == DAE_COORDINATES_PARTITIONED) {
        for (int i = 0; i < c->m; i++) c->r[i] = -r[i] / c->row_scale[i];
        solve_dependent(c, c->r);
        vector_zero(c->n, dx);
        for (int k = 0; k < c->m; k++) dx[c->dependent[k]] = c->r[k] * c->unit[c->dependent[k]];
    } else if (c->saddle) {
        for (int i = 0; i < c->m; i++) c->r[i] = -r[i];
        vector_zero(c->n, dx);
        saddle_solve_x(c->saddle, dx, c->r);
    } else
        manifold_step(&c->shortest, r, dx);
}
