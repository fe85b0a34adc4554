/* Gauss-Newton on the derivative array: derivatives at given u, and consistent u. */
#include <math.h>

#include "base/vector.h"
#include "structure/linear/derivative_array.h"
#include "structure/linear/pencil_parts.h"

/* Residuals are measured against the size of the terms in their equations. Below DONE nothing is
 * left to gain; above SOLVED the equations are not met. */
static const double DONE = 1e-15, SOLVED = 1e-10;
/* How much dearer a change of u is than one of its derivatives. */
static const double DEAR = 1e-2;
/* Singular values of the equilibrated matrix below this are noise of a rank deficient one. */
static const double GAUSS_NEWTON_RANK = 1e-8;
enum { MOST_ITERATIONS = 40, MOST_HALVINGS = 8 };

/* One solve: the array's level, and which unknowns move: columns first .. n (k+2) - 1. */
typedef struct gauss_newton {
    derivative_array *d;
    int k, first;
    double t;
} gauss_newton;

/* Typical sizes of the coefficients: nominal / T^p, with T the time in which dF/du' u' and
 * dF/du u are alike, so that units do not matter. */
static void weigh(const gauss_newton *g)
{
    derivative_array *d = g->d;
    const int n = d->n;
    const double a = dense_norm(n * n, d->jac.a), b = dense_norm(n * n, d->jac.b);
    double rate = a > 0.0 && b > 0.0 ? a / b : 1.0;
    if (d->near) rate = 1.0 / pencil_time_unit(n, d->jac.a, d->jac.b);
    double power = 1.0;
    for (int p = 0; p <= g->k + 1; p++, power *= rate)
        for (int j = 0; j < n; j++)
            d->weight[p * n + j] = d->nominal[j] * (p == 0 ? DEAR * d->ease[j] : power);
}

/* d->J at the last point, and the size of the terms in each row: sum_j |J_ij| (|x_j| + weight_j) */
static void linearise(const gauss_newton *g, const double *x)
{
    derivative_array *d = g->d;
    const int rows = d->n * (g->k + 1), columns = rows + d->n;
    array_jacobian(&d->jac, g->k, d->J);
    vector_zero(rows, d->size);
    for (int j = 0; j < columns; j++)
        for (int i = 0; i < rows; i++)
            d->size[i] += fabs(d->J[i + j * rows]) * (fabs(x[j]) + d->weight[j]);
    for (int i = 0; i < rows; i++) {
        double known = d->rough ? d->rough[i / d->n] * d->size[i % d->n] : 0.0;
        d->size[i] =
            fmax(fmax(d->size[i], known / SOLVED), 1e-300); /* no better than it is known */
    }
}

/* Root mean square of F_i / size_i at the last point evaluated: what Gauss-Newton reduces. */
static double residual(const gauss_newton *g)
{
    const int rows = g->d->n * (g->k + 1);
    double sum = 0.0;
    for (int i = 0; i < rows; i++)
        sum += (g->d->F[i] / g->d->size[i]) * (g->d->F[i] / g->d->size[i]);
    return sqrt(sum / rows);
}

/* d->step = the weighted minimum norm solution of J step = -F in the unknowns that move. */
static bool correction(const gauss_newton *g)
{
    derivative_array *d = g->d;
    const int rows = d->n * (g->k + 1), columns = rows + d->n - g->first;
    double *J = d->J + rows * (rows + d->n), *b = d->step;
    for (int j = 0; j < columns; j++)
        for (int i = 0; i < rows; i++)
            J[i + j * rows] =
                d->J[i + (j + g->first) * rows] * d->weight[j + g->first] / d->size[i];
    for (int i = 0; i < rows; i++) b[i] = -d->F[i] / d->size[i];
    if (!least_squares_solve(&d->solver, rows, columns, J, b, GAUSS_NEWTON_RANK)) return false;
    for (int j = 0; j < columns; j++) b[j] *= d->weight[j + g->first];
    return vector_finite(columns, b);
}

/* Along the correction until the residual falls; its new value, or -1. */
static double search(const gauss_newton *g, double old, double *x)
{
    derivative_array *d = g->d;
    const int columns = d->n * (g->k + 2);
    double lambda = 1.0;
    for (int i = 0; i < MOST_HALVINGS; i++, lambda *= 0.5) {
        vector_copy(columns, x, d->trial);
        vector_axpy(columns - g->first, lambda, d->step, d->trial + g->first);
        if (derivative_array_values(d, g->k, g->t, d->trial) != ARRAY_OK) continue;
        const double now = residual(g);
        if (now >= old) continue;
        vector_copy(columns, d->trial, x);
        return now;
    }
    return -1.0;
}

/* Solve the array from x. x holds the last iterate. */
static array_status iterate(const gauss_newton *g, double *x)
{
    derivative_array *d = g->d;
    if (derivative_array_evaluate(d, g->k, g->t, x) != ARRAY_OK) return ARRAY_EVALUATION;
    weigh(g);
    linearise(g, x);
    const double solved = fmax(SOLVED, 10.0 * d->noise);
    double size = residual(g);
    for (int i = 0; i < MOST_ITERATIONS && size > fmax(DONE, 0.01 * d->noise); i++) {
        if (!correction(g)) return ARRAY_INCONSISTENT;
        const double next = search(g, size, x);
        if (next < 0.0) break;
        if (derivative_array_evaluate(d, g->k, g->t, x) != ARRAY_OK) return ARRAY_EVALUATION;
        linearise(g, x);
        const bool slow = size <= solved && next > 0.1 * size;
        size = residual(g);
        if (slow) break;
    }
    return size <= solved ? ARRAY_OK : ARRAY_INCONSISTENT;
}

array_status derivative_array_rates(derivative_array *d, int k, double t, double *x)
{
    const gauss_newton g = {.d = d, .k = k, .first = d->n, .t = t};
    return iterate(&g, x);
}

array_status derivative_array_consistent(derivative_array *d, int k, double t, double *x)
{
    const gauss_newton g = {.d = d, .k = k, .first = 0, .t = t};
    array_status status = derivative_array_rates(d, k, t, x); /* the derivatives that fit u best */
    return status == ARRAY_INCONSISTENT ? iterate(&g, x) : status;
}
