/* The reduced system of index 1 out of a derivative array [KM98]. */
#include <math.h>

#include "base/memory.h"
#include "base/vector.h"
#include "structure/linear/derivative_array.h"

/* Singular values below this part of the largest are zero in the inverse. */
static const double INVERSE_RANK = 1e-12;
/* Newton ends at relative changes of CLOSE, has converged at CONVERGED; where a change is more than
 * SLOW times the one before the inverse is renewed. */
static const double CLOSE = 1e-12, CONVERGED = 1e-8, SLOW = 0.1;
enum { MOST_ITERATIONS = 20 };

/* Multiply row i of block l of Z (blocks of n rows) by row[i] unit^l: tests were made on scaled
 * equations, the residual is not. */
static void unscale(int n, int blocks, int columns, const double *row, double unit, double *Z)
{
    for (int c = 0; c < columns; c++) {
        double power = 1.0;
        for (int l = 0; l < blocks; l++, power *= unit)
            for (int i = 0; i < n; i++) Z[(c * blocks + l) * n + i] *= row[i] * power;
    }
}

/* Z1, Z2 and Y of a level whose hypothesis holds. */
static array_status take_level(reduced_system *r, const array_level *level,
                               const series_scaling *scaling)
{
    const int n = r->array->n, rows = n * (r->mu + 1);
    const double *row = scaling->row, unit = scaling->unit;
    rank_split split = {0};
    if (!level->reduces) return ARRAY_RANK;
    r->a = level->a;
    r->d = n - level->a;
    r->Z1 = dae_copy(level->Z1, (size_t)(n * r->d), sizeof(double));
    r->Z2 = dae_copy(level->Z2, (size_t)(rows * r->a), sizeof(double));
    r->Y = DAE_ARRAY(double, rows *(rows - r->a));
    bool done = r->Z1 && r->Z2 && r->Y && rank_split_new(&split, rows, r->a, r->Z2, 0.5, 1.0, NULL);
    if (done) {
        vector_copy(rows * (rows - r->a), rank_left_null(&split), r->Y);
        unscale(n, 1, r->d, row, unit, r->Z1);
        unscale(n, r->mu + 1, r->a, row, unit, r->Z2);
        unscale(n, r->mu + 1, rows - r->a, row, unit, r->Y);
    }
    rank_split_free(&split);
    return done ? ARRAY_OK : ARRAY_MEMORY;
}

/* Level mu at x, and what follows from it. */
static array_status set_up(reduced_system *r, double t, const double *x, double tolerance)
{
    series_scaling scaling;
    array_level level;
    array_status status = derivative_array_scaling(r->array, t, x, &scaling);
    if (status != ARRAY_OK) return status;
    status = derivative_array_level(r->array, r->mu, t, x, &scaling, tolerance, &level);
    if (status == ARRAY_OK) status = take_level(r, &level, &scaling);
    array_level_free(&level);
    series_scaling_free(&scaling);
    return status;
}

array_status reduced_system_new(reduced_system *r, derivative_array *d, int mu, double t,
                                const double *x, double tolerance)
{
    const int rows = d->n * (mu + 1), columns = rows + d->n;
    *r = (reduced_system){.array = d, .mu = mu};
    if (mu < 0 || mu > d->limit) return ARRAY_SHAPE;
    r->x = dae_copy(x, (size_t)columns, sizeof *x);
    r->origin = dae_copy(x + d->n, (size_t)rows, sizeof *x);
    r->start = DAE_ARRAY(double, columns);
    r->M = DAE_ARRAY(double, 2 * rows * columns);
    r->b = DAE_ARRAY(double, 2 * rows);
    r->inverse = DAE_ARRAY(double, rows *rows);
    bool done = r->x && r->origin && r->start && r->M && r->b && r->inverse &&
                least_squares_new(&r->solver, rows, columns);
    array_status status = done ? set_up(r, t, x, tolerance) : ARRAY_MEMORY;
    if (status != ARRAY_OK) reduced_system_free(r);
    return status;
}

void reduced_system_free(reduced_system *r)
{
    dae_free_all(r->Z1, r->Z2, r->Y, r->x, r->M, r->b, r->inverse, r->origin, r->start);
    least_squares_free(&r->solver);
    *r = (reduced_system){0};
}

/* The pseudo-inverse of Y' M at the point evaluated last, (t, r->x). */
static bool renew_inverse(reduced_system *r, double t)
{
    derivative_array *d = r->array;
    if (d->old_jacobians && derivative_array_evaluate(d, r->mu, t, r->x) != ARRAY_OK) return false;
    const int n = d->n, rows = n * (r->mu + 1), equations = rows - r->a;
    array_jacobian(&d->jac, r->mu, d->J);
    dense_multiply_left(equations, rows, rows, r->Y, d->J + rows * n, r->M);
    r->has_inverse =
        least_squares_inverse(&r->solver, equations, rows, r->M, r->inverse, INVERSE_RANK) &&
        vector_finite(rows * equations, r->inverse);
    return r->has_inverse;
}

/* A correction of the derivatives in r->x: min ||w||, Y'(M w + F) = 0. Its size. */
static double correct(reduced_system *r)
{
    derivative_array *d = r->array;
    const int n = d->n, rows = n * (r->mu + 1), equations = rows - r->a;
    double *step = r->b + equations, most = 0.0;
    dense_multiply_left(equations, 1, rows, r->Y, d->F, r->b);
    vector_zero(rows, step);
    for (int j = 0; j < equations; j++) vector_axpy(rows, -r->b[j], r->inverse + j * rows, step);
    vector_axpy(rows, 1.0, step, r->x + n);
    for (int i = 0; i < rows; i++)
        most = fmax(most, fabs(step[i]) / (d->nominal[i % n] + fabs(r->x[n + i])));
    return most;
}

/* Newton from the derivatives in r->x, with the inverse at hand while it serves; `anew`: with one
 * of each point. */
static array_status iterate(reduced_system *r, double t, bool anew)
{
    derivative_array *d = r->array;
    double change = INFINITY;
    array_status status = derivative_array_values(d, r->mu, t, r->x);
    for (int i = 0; status == ARRAY_OK && i < MOST_ITERATIONS && !(change <= CLOSE); i++) {
        if ((anew || !r->has_inverse) && !renew_inverse(r, t)) return ARRAY_RANK;
        const double next = correct(r);
        status = derivative_array_values(d, r->mu, t, r->x);
        if (change < CONVERGED && next > 0.5 * change) break; /* rounding is all that is left */
        if (next > SLOW * change) r->has_inverse = false;
        change = next;
    }
    return status == ARRAY_OK && !(change <= CONVERGED) ? ARRAY_INCONSISTENT : status;
}

/* w(t, u): Newton from the derivatives where the system was set up, so that it is a function of t
 * and u; where that is too far away, from those of the last point, which stay as they were on
 * failure. */
static array_status find_derivatives(reduced_system *r, double t, const double *u)
{
    const int n = r->array->n, rows = n * (r->mu + 1);
    const double *from[] = {r->origin, r->origin, r->start};
    array_status status = ARRAY_INCONSISTENT;
    vector_copy(rows, r->x + n, r->start);
    vector_copy(n, u, r->x);
    for (int k = 0; k < 3 && status != ARRAY_OK; k++) {
        vector_copy(rows, from[k], r->x + n);
        status = iterate(r, t, k > 0);
    }
    if (status != ARRAY_OK) vector_copy(rows, r->start, r->x + n);
    return status;
}

/* F_0 and, unless values will do, its Jacobians at (t, u, u'). */
static array_status evaluate_plain(reduced_system *r, double t, const double *u, const double *up,
                                   bool values)
{
    const int n = r->array->n;
    vector_copy(n, u, r->start);
    vector_copy(n, up, r->start + n);
    return (values ? derivative_array_values : derivative_array_evaluate)(r->array, 0, t, r->start);
}

array_status derivative_array_reduced_residual(reduced_system *r, double t, const double *u,
                                               const double *up, double *f)
{
    derivative_array *d = r->array;
    const int n = d->n;
    array_status status = find_derivatives(r, t, u);
    if (status != ARRAY_OK) return status;
    dense_multiply_left(r->a, 1, n * (r->mu + 1), r->Z2, d->F, f + r->d);
    status = evaluate_plain(r, t, u, up, true);
    if (status == ARRAY_OK) dense_multiply_left(r->d, 1, n, r->Z1, d->F, f);
    return status;
}

/* Rows first .. first + count - 1 of an n x n matrix := X (count x n) */
static void put_rows(int n, int first, int count, const double *X, double *to)
{
    for (int j = 0; j < n; j++) vector_copy(count, X + j * count, to + j * n + first);
}

/* out (a x n) = d/du Z2' F(u, w(u)) = Z2' (F_u + F_w w_u), with Y' (F_u + F_w w_u) = 0. Where the
 * system was set up Z2' F_w = 0; away from there methods that rely on Jacobians (Rosenbrock's, say)
 * lose their order without the second term. */
static void constraint_jacobian(reduced_system *r, double *out)
{
    derivative_array *d = r->array;
    const int n = d->n, rows = n * (r->mu + 1), equations = rows - r->a, a = r->a;
    double *by_w = out + a * n, *slope = by_w + a * rows, *w_u = slope + equations * n;
    dense_multiply_left(a, n, rows, r->Z2, d->J, out);
    dense_multiply_left(a, rows, rows, r->Z2, d->J + rows * n, by_w);
    dense_multiply_left(equations, n, rows, r->Y, d->J, slope);
    vector_zero(rows * n, w_u);
    for (int c = 0; c < n; c++) {
        for (int j = 0; j < equations; j++)
            vector_axpy(rows, -slope[c * equations + j], r->inverse + j * rows, w_u + c * rows);
        for (int j = 0; j < rows; j++) vector_axpy(a, w_u[c * rows + j], by_w + j * a, out + c * a);
    }
}

array_status derivative_array_reduced_jacobian(reduced_system *r, double t, const double *u,
                                               const double *up, double *fu, double *fup)
{
    derivative_array *d = r->array;
    const int n = d->n;
    array_status status = find_derivatives(r, t, u);
    if (status != ARRAY_OK) return status;
    if (!renew_inverse(r, t)) return ARRAY_RANK;
    constraint_jacobian(r, r->M);
    vector_zero(n * n, fup);
    put_rows(n, r->d, r->a, r->M, fu);
    status = evaluate_plain(r, t, u, up, false);
    if (status != ARRAY_OK) return status;
    dense_multiply_left(r->d, n, n, r->Z1, d->jac.a, r->M);
    put_rows(n, 0, r->d, r->M, fu);
    dense_multiply_left(r->d, n, n, r->Z1, d->jac.b, r->M);
    put_rows(n, 0, r->d, r->M, fup);
    return ARRAY_OK;
}
