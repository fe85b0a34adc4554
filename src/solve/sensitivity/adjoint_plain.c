#include "solve/sensitivity/adjoint_plain.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/vector.h"

void plain_free(plain_parts *q)
{
    linear_free(q->solver);
    layout_free(&q->layout);
    dae_free_all(q->all, q->order);
    *q = (plain_parts){0};
}

static bool plain_room(plain_parts *q, int n)
{
    const size_t m = (size_t)n;
    if (q->all && q->n == n) return true;
    plain_free(q);
    q->n = n;
    q->all = DAE_ARRAY(double, 4 * m * m + 4 * m);
    q->order = DAE_ARRAY(int, n);
    if (!q->all || !q->order) return false;
    q->a = q->all;
    q->e = q->a + m * m;
    q->N = q->e + m * m;
    q->V = q->N + m * m;
    q->row = q->V + m * m;
    q->column = q->row + m;
    q->work = q->column + m;
    return true;
}

static double *at(const plain_parts *q, int i, int j)
{
    return &q->a[(size_t)i * (size_t)q->n + (size_t)j];
}

/* a = F_Y' with rows, then columns scaled to 1; e = 1 */
static void load(plain_parts *q, const matrix_layout *layout, const double *fyp)
{
    const int n = q->n;
    memset(q->a, 0, 2 * (size_t)n * (size_t)n * sizeof *q->a);
    matrix_extents(layout, fyp, q->row, NULL);
    for (int i = 0; i < n; i++) q->row[i] = q->row[i] > 0.0 ? 1.0 / q->row[i] : 1.0;
    for (int j = 0; j < n; j++) {
        const matrix_column c = layout_column(layout, j);
        double most = 0.0;
        for (int k = 0; k < c.count; k++) {
            const int i = column_row(&c, k);
            *at(q, i, j) = q->row[i] * fyp[c.first + (size_t)k];
            most = fmax(most, fabs(*at(q, i, j)));
        }
        q->column[j] = most > 0.0 ? 1.0 / most : 1.0;
        for (int i = 0; i < n; i++) *at(q, i, j) *= q->column[j];
        q->e[(size_t)j * (size_t)n + (size_t)j] = 1.0;
        q->order[j] = j;
    }
}

static void swap_rows(const plain_parts *q, double *m, int i, int k)
{
    for (int j = 0; j < q->n && i != k; j++) {
        double *a = &m[(size_t)i * (size_t)q->n + (size_t)j];
        double *b = &m[(size_t)k * (size_t)q->n + (size_t)j], kept = *a;
        *a = *b;
        *b = kept;
    }
}

static void swap_columns(plain_parts *q, int j, int k)
{
    const int kept = q->order[j];
    q->order[j] = q->order[k];
    q->order[k] = kept;
    for (int i = 0; i < q->n && j != k; i++) {
        const double value = *at(q, i, j);
        *at(q, i, j) = *at(q, i, k);
        *at(q, i, k) = value;
    }
}

/* The largest entry from (k, k) on comes there; false: all are rounding. */
static bool pivot(plain_parts *q, int k)
{
    static const double ROUNDING = 1e-10; /* entries are of size 1 */
    double most = ROUNDING;
    int row = -1, column = -1;
    for (int i = k; i < q->n; i++)
        for (int j = k; j < q->n; j++)
            if (fabs(*at(q, i, j)) > most) {
                most = fabs(*at(q, i, j));
                row = i;
                column = j;
            }
    if (row < 0) return false;
    swap_rows(q, q->a, row, k);
    swap_rows(q, q->e, row, k);
    swap_columns(q, column, k);
    return true;
}

/* Gauss' elimination with complete pivoting: e (scaled F_Y') = a, of which `rank` rows are not 0.
 */
static void eliminate(plain_parts *q)
{
    const size_t n = (size_t)q->n;
    for (q->rank = 0; q->rank < q->n && pivot(q, q->rank); q->rank++) {
        const int k = q->rank;
        for (int i = k + 1; i < q->n; i++) {
            const double factor = *at(q, i, k) / *at(q, k, k);
            if (factor == 0.0) continue;
            vector_axpy(q->n, -factor, q->a + (size_t)k * n, q->a + (size_t)i * n);
            vector_axpy(q->n, -factor, q->e + (size_t)k * n, q->e + (size_t)i * n);
        }
    }
}

/* Rows of e below the rank give N; columns of a behind it, and what they need of the others, V. */
static void take_null_spaces(plain_parts *q)
{
    const size_t n = (size_t)q->n;
    for (int b = q->rank; b < q->n; b++) {
        double *N = q->N + (size_t)(b - q->rank) * n, *V = q->V + (size_t)(b - q->rank) * n;
        for (size_t i = 0; i < n; i++) N[i] = q->e[(size_t)b * n + i] * q->row[i];
        vector_zero(q->n, V);
        V[q->order[b]] = 1.0;
        for (int i = q->rank - 1; i >= 0; i--) {
            double sum = *at(q, i, b);
            for (int j = i + 1; j < q->rank; j++) sum += *at(q, i, j) * V[q->order[j]];
            V[q->order[i]] = -sum / *at(q, i, i);
        }
        for (size_t i = 0; i < n; i++) V[i] *= q->column[i];
    }
}

/* The transpose of N' F_Y V, by columns: entry (b, a) = N_a F_Y V_b. */
static linear_status factor(plain_parts *q, const matrix_layout *layout, const double *fy)
{
    const size_t n = (size_t)q->n, m = n - (size_t)q->rank;
    linear_free(q->solver);
    layout_free(&q->layout);
    q->solver = NULL;
    if (m == 0) return LINEAR_OK;
    double *values = DAE_ARRAY(double, m *m);
    bool ok = values && layout_dense(&q->layout, (int)m) && (q->solver = linear_new(&q->layout));
    for (size_t b = 0; ok && b < m; b++) {
        matrix_multiply(layout, fy, q->V + b * n, q->work);
        for (size_t a = 0; a < m; a++) values[b + a * m] = vector_dot(q->n, q->N + a * n, q->work);
    }
    linear_status status = ok ? linear_factor(q->solver, values) : LINEAR_MEMORY;
    dae_free(values);
    return status;
}

linear_status plain_split(plain_parts *q, const matrix_layout *layout, const double *fy,
                          const double *fyp)
{
    if (!plain_room(q, layout->n)) return LINEAR_MEMORY;
    load(q, layout, fyp);
    eliminate(q);
    take_null_spaces(q);
    return factor(q, layout, fy);
}

/* mu += N nu, nu = (V' F_Y' N)^-1 V' w */
static void add_multiples(plain_parts *q, const double *w, double *mu)
{
    const size_t n = (size_t)q->n, m = n - (size_t)q->rank;
    double *nu = q->work;
    if (m == 0) return;
    for (size_t b = 0; b < m; b++) nu[b] = vector_dot(q->n, q->V + b * n, w);
    linear_solve(q->solver, nu);
    for (size_t a = 0; a < m; a++) vector_axpy(q->n, nu[a], q->N + a * n, mu);
}

void plain_complete(plain_parts *q, const matrix_layout *layout, const double *fy, double *w,
                    double *mu)
{
    vector_zero(q->n, mu);
    add_multiples(q, w, mu);
    for (int i = 0; i < q->n; i++) w[i] -= matrix_column_dot(layout, i, fy, mu);
}

void plain_solve(plain_parts *q, const matrix_layout *layout, const double *fy, const double *psi,
                 const double *g, double *mu)
{
    double *m = q->work, *left = q->work + q->n;
    for (int k = 0; k < q->rank; k++) { /* a' m = psi, scaled */
        double sum = psi[q->order[k]] * q->column[q->order[k]];
        for (int i = 0; i < k; i++) sum -= *at(q, i, k) * m[i];
        m[k] = sum / *at(q, k, k);
    }
    vector_zero(q->n, mu);
    for (int k = 0; k < q->rank; k++) vector_axpy(q->n, m[k], q->e + (size_t)k * (size_t)q->n, mu);
    for (int i = 0; i < q->n; i++) mu[i] *= q->row[i];
    for (int i = 0; i < q->n; i++) left[i] = g[i] - matrix_column_dot(layout, i, fy, mu);
    add_multiples(q, left, mu);
}
