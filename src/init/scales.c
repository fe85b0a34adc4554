/* Scales: what is large and what is small, whatever the units of equations and variables. */
#include <float.h>

#include "base/vector.h"
#include "init/workspace.h"

/* Coefficients of y' that give a time below this part of the slowest are rounding errors: no row
 * has such a time. */
static const double VANISHED = 1e-12;

static double relative_tolerance(const initializer *init, int j)
{
    const double *each = init->options->rtol_by_unknown;
    return each ? each[j] : init->options->rtol;
}

void scales_weights(const initializer *init, const double *y)
{
    const dae_options *o = init->options;
    const double *given = init->call->weights;
    double *weights = init->weights;
    for (int j = 0; j < init->n; j++) {
        double relative = relative_tolerance(init, j) * fabs(y[j]);
        double absolute = o->atol_by_unknown ? o->atol_by_unknown[j] : o->atol;
        if (o->weights)
            weights[j] = fmax(given[j], relative);
        else
            weights[j] = fmax(relative + absolute, 1e-6 * given[j]); /* > 0 even if atol is 0 */
    }
}

/* The size that the tolerances ascribe to y_j: |y_j| + atol_j/rtol_j = w_j/rtol_j */
static double ascribed_size(const initializer *init, int j, double y)
{
    return fmax(fabs(y), init->weights[j] / fmax(relative_tolerance(init, j), 1e-8));
}

void scales_spread(const initializer *init, double factor, const double *y)
{
    for (int j = 0; j < init->n; j++) init->spread[j] = factor * ascribed_size(init, j, y[j]);
}

double scales_time(const initializer *init, double rate, const double *y, const double *yp)
{
    const double h = init->call->h;
    double least = rate > 0.0 ? rate : (h != 0.0 ? 1.0 / fabs(h) : 1.0);
    double fastest = 1e-3 * least;
    for (int j = 0; j < init->n; j++)
        fastest = fmax(fastest, fabs(yp[j]) / ascribed_size(init, j, y[j]));
    return 1.0 / fastest;
}

double scales_derivative_unit(const initializer *init, int j, double yp)
{
    return fmax(init->weights[j] / init->T, relative_tolerance(init, j) * fabs(yp));
}

double scales_difference_time(const initializer *init)
{
    const double h = init->call->h;
    double least = h != 0.0 ? fmin(fabs(h), init->T) : init->T;
    return copysign(least, h);
}

/* Take column j's influence on its rows into account. */
static void add_column(row_scales *rows, const matrix_layout *layout, int j, const double *values,
                       double weight, double size)
{
    matrix_column column = layout_column(layout, j);
    for (int k = 0; k < column.count; k++) {
        int i = column_row(&column, k);
        double entry = fabs(values[column.first + (size_t)k]);
        rows->roundoff[i] += entry * fabs(size);
        if (entry * weight > rows->unit[i]) {
            rows->unit[i] = entry * weight;
            rows->variable[i] = j;
        }
    }
}

void scales_rows(const initializer *init, row_scales *rows, const matrix_layout *layout,
                 const double *dfdy, const double *dfdyp, const double *y, const double *yp)
{
    int n = layout->n;
    vector_zero(n, rows->unit);
    vector_zero(n, rows->roundoff);
    for (int i = 0; i < n; i++) rows->variable[i] = -1;
    for (int j = 0; j < n; j++) {
        add_column(rows, layout, j, dfdy, init->weights[j], y[j]);
        add_column(rows, layout, j, dfdyp, scales_derivative_unit(init, j, yp[j]), yp[j]);
    }
    rows->known = true;
}

static void row_extents(const matrix_layout *layout, const double *values, const double *weights,
                        double *row)
{
    vector_zero(layout->n, row);
    for (int j = 0; j < layout->n; j++) {
        matrix_column column = layout_column(layout, j);
        for (int k = 0; k < column.count; k++) {
            int i = column_row(&column, k);
            row[i] = fmax(row[i], fabs(values[column.first + (size_t)k]) * weights[j]);
        }
    }
}

void scales_slopes(const initializer *init, const matrix_layout *layout, const double *dfdy)
{
    double *row = init->cy; /* set anew with the units */
    vector_zero(layout->n, row);
    for (int j = 0; j < init->first_slope; j++) {
        matrix_column column = layout_column(layout, j);
        for (int k = 0; k < column.count; k++) {
            double *most = &row[column_row(&column, k)];
            *most = fmax(*most, fabs(dfdy[column.first + (size_t)k]) * init->weights[j]);
        }
    }
    for (int j = init->first_slope; j < init->n; j++) {
        matrix_column column = layout_column(layout, j);
        double strictest = INFINITY;
        for (int k = 0; k < column.count; k++) {
            double entry = fabs(dfdy[column.first + (size_t)k]);
            double most = row[column_row(&column, k)];
            if (entry > 0.0 && most > 0.0) strictest = fmin(strictest, most / entry);
        }
        double relative = relative_tolerance(init, j) * fabs(init->y[j]);
        if (strictest < INFINITY && strictest > 0.0) init->weights[j] = fmax(strictest, relative);
    }
}

double scales_rate(const matrix_layout *layout, const double *dfdy, const double *dfdyp,
                   const double *weights, double *row_y, double *row_yp)
{
    double sum = 0.0, slowest = 0.0;
    int count = 0;
    row_extents(layout, dfdy, weights, row_y);
    row_extents(layout, dfdyp, weights, row_yp);
    for (int i = 0; i < layout->n; i++)
        if (row_y[i] > 0.0) slowest = fmax(slowest, row_yp[i] / row_y[i]);
    for (int i = 0; i < layout->n; i++) {
        if (row_y[i] <= 0.0 || row_yp[i] <= 0.0) continue;
        if (row_yp[i] < VANISHED * slowest * row_y[i]) continue;
        sum += log(row_y[i]) - log(row_yp[i]);
        count++;
    }
    return count > 0 ? exp(sum / count) : 0.0;
}

/* Fraction of a step dy from y to a bound that lies ahead of y; > 1 if it is not reached. */
static double fraction_to_bound(double y, double dy, double bound)
{
    double room = bound - y;
    if (!isfinite(bound) || fabs(dy) <= fabs(room)) return 2.0;
    return room / dy;
}

double scales_bounds(const initializer *init, const double *y, const double *dy, double slack,
                     int *blocking)
{
    const dae_residual *form = &init->eval->problem->form;
    double fraction = 1.0;
    *blocking = -1;
    for (int j = 0; j < init->n; j++) {
        const double *bounds = dy[j] < 0.0 ? form->lower_bounds : form->upper_bounds;
        /* who starts outside may come back inside, and is judged at the end */
        if (!bounds || (y[j] - bounds[j]) * dy[j] > 0.0) continue;
        double reach = fraction_to_bound(y[j], dy[j], bounds[j]);
        if (reach > 1.0 || (1.0 - reach) * fabs(dy[j]) <= slack * init->weights[j]) continue;
        if (0.9 * reach < fraction) {
            fraction = 0.9 * reach;
            *blocking = j;
        }
    }
    return fraction;
}

void scales_settle(const initializer *init, const double *y, double *ynew)
{
    const dae_residual *form = &init->eval->problem->form;
    for (int j = 0; j < init->n; j++) {
        const double *lower = form->lower_bounds, *upper = form->upper_bounds;
        if (lower && y[j] >= lower[j] && ynew[j] < lower[j]) ynew[j] = lower[j];
        if (upper && y[j] <= upper[j] && ynew[j] > upper[j]) ynew[j] = upper[j];
    }
}

bool scales_inside(const initializer *init, int j, double y)
{
    const dae_residual *form = &init->eval->problem->form;
    return !(form->lower_bounds && y < form->lower_bounds[j]) &&
           !(form->upper_bounds && y > form->upper_bounds[j]);
}

int scales_outside(const initializer *init, const double *y)
{
    for (int j = 0; j < init->n; j++)
        if (!scales_inside(init, j, y[j])) return j;
    return -1;
}
