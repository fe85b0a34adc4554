/* Consistent initial values by Leimkuhler, Petzold and Gear [LPG91; BCP96 5.3.4].
 *
 * Unknowns (y, y', y''), equations F = 0, D_h F = 0, B = 0, where D_h F is the derivative of
 * phi(s) = F(t + s, y + s y', y' + s y'') at s = 0 by one-sided differences (5.3.8). The system is
 * over-determined and rank deficient (y'' is never determined), so each Gauss-Newton correction is
 * the shortest one among those that fit best, counted in tolerance units: guesses move only where
 * free values cannot do the work. Values that the user fixed are no unknowns at all. */
#include <float.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"
#include "init/workspace.h"
#include "linalg/kkt.h"

enum { PATH_POINTS = 4 }; /* c_i = 1, .., 4 in (5.3.8) */

static const double armijo = 1e-2; /* share of the predicted decrease that must be met */
static const double least_damping = 1e-10;
/* Entries of unknowns that may move below this part of their row are rounding errors. */
static const double entry_floor = 1e-14;

struct general_work {
    int n, conditions, rows, columns; /* of the present task; leading dimension = rows */
    jacobian jac;                     /* dense; only for the user's derivatives */
    const double *dfdy, *dfdyp;       /* n x n each: jac's, or by differences in `copy` */
    int free, guesses;                /* active unknowns, free ones first */
    double *A, *copy;                 /* rows x columns; copy: scaled, active columns only */
    double *x, *xnew, *dx;            /* (y, y', y''), 3n */
    double *b, *bnew, *rhs;           /* residuals: F, D_h F, B; right-hand side */
    double *unit;                     /* tolerance unit of each unknown, 3n */
    double *row_scale, *row_unit;     /* for the arithmetic, and for judging misfits */
    double *misfit, *uncertainty;     /* in tolerance units */
    double *path;                     /* F at the path's points, PATH_POINTS*n */
    double *ypath, *yppath, *rate;    /* n each; rate: D_h F */
    double *bplus;                    /* conditions */
    int *active, *row_variable;
    row_scales f_rows;
    double step; /* s_1 = step, .., s_4 = 4 step */
    double *reals;
    int *integers;
};

/* ---- storage ---- */

static double *carve(double **from, size_t count)
{
    double *part = *from;
    *from += count;
    return part;
}

static bool general_allocate(general_work *g, size_t n, size_t m)
{
    size_t rows = 2 * n + m, columns = 3 * n;
    g->reals = DAE_ARRAY(double, 2 * rows * columns + 5 * columns + 6 * rows +
                                     ((size_t)PATH_POINTS + 5) * n + m);
    g->integers = DAE_ARRAY(int, columns + rows + n);
    if (!g->reals || !g->integers) return false;
    double *p = g->reals;
    g->A = carve(&p, rows * columns);
    g->copy = carve(&p, rows * columns);
    g->x = carve(&p, columns);
    g->xnew = carve(&p, columns);
    g->dx = carve(&p, columns);
    g->unit = carve(&p, columns);
    g->rhs = carve(&p, columns);
    g->b = carve(&p, rows);
    g->bnew = carve(&p, rows);
    g->row_scale = carve(&p, rows);
    g->row_unit = carve(&p, rows);
    g->misfit = carve(&p, rows);
    g->uncertainty = carve(&p, rows);
    g->path = carve(&p, PATH_POINTS * n);
    g->ypath = carve(&p, n);
    g->yppath = carve(&p, n);
    g->rate = carve(&p, n);
    g->f_rows.unit = carve(&p, n);
    g->f_rows.roundoff = carve(&p, n);
    g->bplus = carve(&p, m);
    g->active = g->integers;
    g->row_variable = g->integers + columns;
    g->f_rows.variable = g->row_variable + rows;
    return true;
}

void general_free(general_work *g)
{
    if (!g) return;
    jacobian_free(&g->jac);
    dae_free_all(g->reals, g->integers, g);
}

dae_status general_new(initializer *init, dae_diag *diag)
{
    int n = init->n;
    if (init->general) return DAE_OK;
    if (n > GENERAL_LIMIT)
        return diag_set(diag, DAE_ERR_UNSUPPORTED,
                        "General consistent initial values need dense matrices of order 3n and are "
                        "limited to n <= %d; this problem has n = %d. Give consistent values, or "
                        "use init = differential or derivative.",
                        (int)GENERAL_LIMIT, n);
    general_work *g = DAE_NEW(general_work);
    if (!g) return report_memory(diag);
    g->n = n;
    g->conditions = init->eval->problem->form.condition_count;
    dae_status status = DAE_OK;
    if (init->eval->problem->form.jacobian)
        status = jacobian_new(&g->jac, init->eval, DAE_LINEAR_DENSE, diag);
    if (status == DAE_OK && !general_allocate(g, (size_t)n, (size_t)g->conditions))
        status = report_memory(diag);
    if (status != DAE_OK) {
        general_free(g);
        return status;
    }
    init->general = g;
    return DAE_OK;
}

/* ---- residuals ---- */

static eval_status evaluate_f(initializer *init, double t, const double *y, const double *yp,
                              double *f)
{
    return evaluate_residual(init->eval, t, y, yp, f, &init->eval->stats->residuals);
}

/* phi(s) for s = step, .., 4 step along x */
static eval_status evaluate_path(initializer *init, double t, const double *x, double step)
{
    general_work *g = init->general;
    int n = g->n;
    for (int i = 1; i <= PATH_POINTS; i++) {
        double s = i * step;
        for (int j = 0; j < n; j++) {
            g->ypath[j] = x[j] + s * x[n + j];
            g->yppath[j] = x[n + j] + s * x[2 * n + j];
        }
        eval_status status = evaluate_f(init, t + s, g->ypath, g->yppath, g->path + (i - 1) * n);
        if (status != EVAL_OK) return status;
    }
    return EVAL_OK;
}

/* D_h F_i of order 4, with that of order 3 in *lower, from phi(0) = f and the path [For88]. */
static double path_derivative(const general_work *g, const double *f, int i, double step,
                              double *lower)
{
    const double *p = g->path + i;
    int n = g->n;
    double d1 = p[0] - f[i], d2 = p[n] - f[i], d3 = p[2 * n] - f[i], d4 = p[3 * n] - f[i];
    *lower = (3.0 * d1 - 1.5 * d2 + d3 / 3.0) / step;
    return (4.0 * d1 - 3.0 * d2 + 4.0 / 3.0 * d3 - 0.25 * d4) / step;
}

/* b = (F, D_h F, B) at x */
static eval_status evaluate_system(initializer *init, const general_task *task, double t,
                                   const double *x, double *b)
{
    general_work *g = init->general;
    int n = g->n;
    eval_status status = evaluate_f(init, t, x, x + n, b);
    if (status != EVAL_OK) return status;
    if (task->differentiate) {
        status = evaluate_path(init, t, x, g->step);
        if (status != EVAL_OK) return status;
        double lower;
        for (int i = 0; i < n; i++) b[n + i] = path_derivative(g, b, i, g->step, &lower);
    }
    if (!task->conditions) return EVAL_OK;
    return evaluate_conditions(init->eval, t, x, x + n, b + (task->differentiate ? 2 * n : n));
}

/* Largest error estimate of D_h F, in tolerance units of F per T, for one step. */
static double path_error(const initializer *init, double t, double step)
{
    const general_work *g = init->general;
    double most = 0.0;
    for (int i = 0; i < g->n; i++) {
        if (g->f_rows.unit[i] <= 0.0) continue;
        double lower, rate = path_derivative(g, g->b, i, step, &lower);
        double noise = DBL_EPSILON * (g->f_rows.roundoff[i] + fabs(t * rate)) / fabs(step);
        most = fmax(most, (fabs(rate - lower) + noise) / g->f_rows.unit[i]);
    }
    return most;
}

/* Largest step of the path: a tenth of T, towards h, never past the stop time. */
static double longest_path(const initializer *init, double t, double h)
{
    double step = copysign(0.1 * init->T, h), stop = init->options->stop_time;
    if (isnan(stop) || (stop - t) * step < 0.0) return step;
    double room = (stop - t) / PATH_POINTS;
    if (fabs(room) < 1e3 * DBL_EPSILON * fabs(t) || room == 0.0) return -step;
    return fabs(room) < fabs(step) ? room : step;
}

/* Choose the step between truncation and round-off: the least estimated error on a ladder. */
static eval_status choose_step(initializer *init, double t, double h)
{
    general_work *g = init->general;
    double step = longest_path(init, t, h), least = INFINITY;
    eval_status failure = EVAL_OK;
    for (int k = 0; k < 16; k++, step *= 0.25) {
        volatile double sum = t + step;
        double exact = sum - t; /* representable, so that t + s carries no error of its own */
        if (exact == 0.0) break;
        eval_status status = evaluate_path(init, t, g->x, exact);
        if (status == EVAL_STOP) return status;
        if (status != EVAL_OK) {
            failure = status;
            continue;
        }
        double error = path_error(init, t, exact);
        if (error < least) {
            least = error;
            g->step = exact;
        }
        if (error > 1e4 * least) break;
    }
    return isfinite(least) ? EVAL_OK : (failure == EVAL_OK ? EVAL_RETRY : failure);
}

/* ---- the matrix ---- */

static double *entry(general_work *g, int i, int j)
{
    return g->A + (size_t)i + (size_t)j * (size_t)g->rows;
}

/* Rows of F: A = [dF/dy, dF/dy', 0] */
static void place_derivatives(general_work *g)
{
    size_t n = (size_t)g->n;
    for (int j = 0; j < g->n; j++) {
        vector_copy(g->n, g->dfdy + (size_t)j * n, entry(g, 0, j));
        vector_copy(g->n, g->dfdyp + (size_t)j * n, entry(g, 0, g->n + j));
    }
}

/* (after - before)/s, or 0 where it is noise of the derivatives themselves */
static double drift(double before, double after, double s, double noise)
{
    double change = after - before;
    return fabs(change) <= noise * fmax(fabs(before), fabs(after)) ? 0.0 : change / s;
}

/* Rows of D_h F: [d/dt dF/dy, dF/dy + d/dt dF/dy', dF/dy'], with partial derivatives evaluated
 * anew at the far end of the path. */
static void place_rates(general_work *g, double s, double noise)
{
    int n = g->n;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            size_t at = (size_t)i + (size_t)j * (size_t)n;
            double fy = *entry(g, i, j), fyp = *entry(g, i, n + j);
            *entry(g, n + i, j) = drift(fy, g->dfdy[at], s, noise);
            *entry(g, n + i, n + j) = fy + drift(fyp, g->dfdyp[at], s, noise);
            *entry(g, n + i, 2 * n + j) = fyp;
        }
}

/* One column of dB by a forward difference in x_j */
static eval_status place_condition_column(initializer *init, double t, int first, int j)
{
    general_work *g = init->general;
    int n = g->n;
    double keep = g->x[j];
    double size = fmax(fabs(keep), g->unit[j]);
    volatile double moved = keep + sqrt(DBL_EPSILON) * size;
    g->x[j] = moved;
    eval_status status = evaluate_conditions(init->eval, t, g->x, g->x + n, g->bplus);
    g->x[j] = keep;
    if (status != EVAL_OK) return status;
    for (int i = 0; i < g->conditions; i++)
        *entry(g, first + i, j) = (g->bplus[i] - g->b[first + i]) / (moved - keep);
    return EVAL_OK;
}

static matrix_layout dense_layout(int n)
{
    return (matrix_layout){.kind = DAE_STRUCTURE_DENSE, .n = n, .count = (size_t)n * (size_t)n};
}

/* Weights, and T from the equations themselves where they tell. */
static void set_units(initializer *init, const double *given_weights)
{
    general_work *g = init->general;
    int n = g->n;
    matrix_layout dense = dense_layout(n);
    scales_weights(init, given_weights, g->x, init->weights);
    double rate = scales_rate(&dense, g->dfdy, g->dfdyp, init->weights, g->ypath, g->yppath);
    if (rate > 0.0 && isfinite(1.0 / rate)) init->T = 1.0 / rate;
    for (int j = 0; j < n; j++) {
        g->unit[j] = init->weights[j];
        g->unit[n + j] = scales_derivative_unit(init, j, g->x[n + j]);
        g->unit[2 * n + j] = g->unit[n + j] / init->T;
    }
}

/* f = F with component c of z = (y, y') moved by d, unless bounds or callbacks refuse it. */
static eval_status evaluate_moved(initializer *init, double t, double *z, int c, double d,
                                  double *f)
{
    int n = init->n;
    double keep = z[c];
    z[c] = keep + d;
    eval_status status = EVAL_RETRY;
    if (c >= n || scales_inside(init, c, z[c]))
        status =
            evaluate_residual(init->eval, t, z, z + n, f, &init->eval->stats->jacobian_residuals);
    z[c] = keep;
    return status;
}

/* dF/dz_c by central differences, or one-sided ones where only one side exists */
static eval_status difference_column(initializer *init, double t, double *z, const double *f, int c,
                                     double d, double *column)
{
    general_work *g = init->general;
    volatile double up = z[c] + d, down = z[c] - d;
    double plus = up - z[c], minus = down - z[c];
    eval_status above = evaluate_moved(init, t, z, c, plus, column);
    if (above == EVAL_STOP) return above;
    eval_status below = evaluate_moved(init, t, z, c, minus, g->rate);
    if (below == EVAL_STOP || (above != EVAL_OK && below != EVAL_OK)) return below;
    const double *high = above == EVAL_OK ? column : f, *low = below == EVAL_OK ? g->rate : f;
    double width = (above == EVAL_OK ? plus : 0.0) - (below == EVAL_OK ? minus : 0.0);
    for (int i = 0; i < g->n; i++) column[i] = (high[i] - low[i]) / width;
    return EVAL_OK;
}

/* dF/dy and dF/dy' at z = (y, y'): the user's, or central differences. Ranks and d/dt of the
 * derivatives hang on them, so that an error of sqrt(u) would be too much. */
static eval_status differentiate(initializer *init, double t, double h, double *z, const double *f)
{
    general_work *g = init->general;
    int n = g->n;
    const double cube_root = 6e-6; /* u^(1/3) */
    if (init->eval->problem->form.jacobian) {
        g->dfdy = g->jac.dfdy;
        g->dfdyp = g->jac.dfdyp;
        return jacobian_evaluate(&g->jac, t, z, z + n, scales_difference_time(init, h),
                                 init->weights, f);
    }
    g->dfdy = g->copy;
    g->dfdyp = g->copy + (size_t)n * (size_t)n;
    scales_spread(init, cube_root, z, z + n);
    eval_status status = EVAL_OK;
    for (int c = 0; c < 2 * n && status == EVAL_OK; c++) {
        double d =
            c < n ? init->spread[c] : init->spread[c - n] / fabs(scales_difference_time(init, h));
        status = difference_column(init, t, z, f, c, d, g->copy + (size_t)c * (size_t)n);
    }
    init->eval->stats->jacobians++;
    return status;
}

/* Derivatives of F at x, placed and measured. */
static eval_status linearise_f(initializer *init, double t, double h, const double *given_weights)
{
    general_work *g = init->general;
    eval_status status = differentiate(init, t, h, g->x, g->b);
    if (status != EVAL_OK) return status;
    matrix_layout dense = dense_layout(g->n);
    memset(g->A, 0, (size_t)g->rows * (size_t)g->columns * sizeof *g->A);
    set_units(init, given_weights);
    place_derivatives(g);
    scales_rows(init, &g->f_rows, &dense, g->dfdy, g->dfdyp, g->x, g->x + g->n);
    return EVAL_OK;
}

/* D_h F and its derivatives. A second evaluation of the partial derivatives at the path's end gives
 * their change in time. */
static eval_status linearise_path(initializer *init, double t, double h)
{
    general_work *g = init->general;
    int n = g->n;
    eval_status status = EVAL_OK;
    if (g->step == 0.0) status = choose_step(init, t, h);
    if (status == EVAL_OK) status = evaluate_path(init, t, g->x, g->step);
    if (status != EVAL_OK) return status;
    for (int i = 0; i < n; i++) {
        double lower;
        g->b[n + i] = path_derivative(g, g->b, i, g->step, &lower);
        g->uncertainty[n + i] =
            fabs(g->b[n + i] - lower) +
            DBL_EPSILON * (g->f_rows.roundoff[i] + fabs(t * g->b[n + i])) / fabs(g->step);
    }
    /* ypath and yppath are the far end, path + 3n is F there */
    double s = PATH_POINTS * g->step;
    vector_copy(n, g->ypath, g->xnew);
    vector_copy(n, g->yppath, g->xnew + n);
    status = differentiate(init, t + s, h, g->xnew, g->path + (PATH_POINTS - 1) * n);
    if (status != EVAL_OK) return status;
    place_rates(g, s, init->eval->problem->form.jacobian ? 1e-12 : 1e-7);
    return EVAL_OK;
}

static eval_status linearise(initializer *init, const general_task *task, double t, double h,
                             const double *given_weights)
{
    general_work *g = init->general;
    int n = g->n, first = task->differentiate ? 2 * n : n;
    eval_status status = evaluate_f(init, t, g->x, g->x + n, g->b);
    if (status == EVAL_OK) status = linearise_f(init, t, h, given_weights);
    if (status == EVAL_OK && task->differentiate) status = linearise_path(init, t, h);
    if (status == EVAL_OK && task->conditions) {
        status = evaluate_conditions(init->eval, t, g->x, g->x + n, g->b + first);
        for (int j = 0; j < 2 * n && status == EVAL_OK; j++)
            status = place_condition_column(init, t, first, j);
    }
    return status;
}

/* ---- one correction ---- */

static dae_tag tag_of(const general_work *g, const general_task *task, int j)
{
    int n = g->n;
    if (j >= 2 * n) return DAE_TAG_FREE;
    return j < n ? task->y_tags[j] : task->yp_tags[j - n];
}

/* Units of the rows: what one tolerance unit of the most influential unknown, fixed or not, makes
 * of them; and which one that is. */
static void measure_rows(general_work *g)
{
    vector_zero(g->rows, g->row_unit);
    for (int i = 0; i < g->rows; i++) g->row_variable[i] = -1;
    for (int j = 0; j < g->columns; j++)
        for (int i = 0; i < g->rows; i++) {
            double size = fabs(*entry(g, i, j)) * g->unit[j];
            if (size <= g->row_unit[i]) continue;
            g->row_unit[i] = size;
            g->row_variable[i] = j % g->n;
        }
}

/* Append the columns with one tag that appear at all, in units, to the active ones. */
static int gather(general_work *g, const general_task *task, dae_tag tag, int used)
{
    for (int j = 0; j < g->columns; j++) {
        if (tag_of(g, task, j) != tag) continue;
        double *column = g->copy + (size_t)used * (size_t)g->rows, most = 0.0;
        for (int i = 0; i < g->rows; i++) {
            column[i] = *entry(g, i, j) * g->unit[j];
            g->row_scale[i] = fmax(g->row_scale[i], fabs(column[i]));
            most = fmax(most, fabs(column[i]));
        }
        if (most > 0.0) g->active[used++] = j;
    }
    return used;
}

/* copy = R A S on the unknowns that may move, S their units, R making each row's largest entry 1 */
static void scale_matrix(general_work *g, const general_task *task)
{
    vector_zero(g->rows, g->row_scale);
    g->free = gather(g, task, DAE_TAG_FREE, 0);
    g->guesses = gather(g, task, DAE_TAG_GUESS, g->free) - g->free;
    for (int i = 0; i < g->rows; i++) {
        bool moves = g->row_scale[i] > entry_floor * g->row_unit[i];
        double unit = moves ? g->row_scale[i] : g->row_unit[i];
        g->row_scale[i] = unit > 0.0 ? 1.0 / unit : 0.0;
    }
    for (int k = 0; k < g->free + g->guesses; k++)
        for (int i = 0; i < g->rows; i++)
            g->copy[(size_t)i + (size_t)k * (size_t)g->rows] *= g->row_scale[i];
}

static double scaled_square(const general_work *g, const double *b)
{
    double sum = 0.0;
    for (int i = 0; i < g->rows; i++) sum += (g->row_scale[i] * b[i]) * (g->row_scale[i] * b[i]);
    return sum;
}

/* ||R (b + A dx)||^2 */
static double predicted_square(general_work *g)
{
    vector_copy(g->rows, g->b, g->bnew);
    for (int j = 0; j < g->columns; j++)
        if (g->dx[j] != 0.0)
            vector_axpy(g->rows, g->dx[j], g->A + (size_t)j * (size_t)g->rows, g->bnew);
    return scaled_square(g, g->bnew);
}

/* rhs = the least squares solution of copy rhs = bnew with the shortest part of guesses, then of
 * free unknowns. False: memory. */
static bool shortest(general_work *g, double rcond)
{
    int count = g->free + g->guesses;
    bool *free = DAE_ARRAY(bool, count);
    for (int k = 0; free && k < g->free; k++) free[k] = true;
    kkt *solver = free ? kkt_new(g->rows, count, NULL, NULL, free) : NULL;
    bool ok = solver && kkt_factor(solver, g->copy, rcond, 0.0) == LINEAR_OK;
    if (ok) kkt_solve(solver, g->bnew, g->rhs);
    kkt_free(solver);
    dae_free(free);
    return ok;
}

/* dx = -S (R A S)^+ R b, where guesses move only if free values cannot do the work; false when
 * memory is exhausted */
static bool correct(general_work *g, const general_task *task, double rcond)
{
    measure_rows(g);
    scale_matrix(g, task);
    vector_zero(g->columns, g->dx);
    for (int i = 0; i < g->rows; i++) g->bnew[i] = -g->row_scale[i] * g->b[i];
    if (!shortest(g, rcond)) return false;
    for (int k = 0; k < g->free + g->guesses; k++) {
        int j = g->active[k];
        g->dx[j] = g->rhs[k] * g->unit[j];
    }
    return true;
}

/* Root mean square of dx over y and y', in tolerance units. y'' does not count: it stays vague. */
static double correction_norm(const general_work *g)
{
    double sum = 0.0;
    for (int j = 0; j < 2 * g->n; j++) sum += (g->dx[j] / g->unit[j]) * (g->dx[j] / g->unit[j]);
    return sqrt(sum / g->n);
}

/* ---- the iteration ---- */

typedef enum general_end {
    END_GO_ON,
    END_CONVERGED,
    END_STALLED,
    END_EVALUATION,
    END_MEMORY
} general_end;

static void move(initializer *init, double lambda)
{
    general_work *g = init->general;
    for (int j = 0; j < g->columns; j++) g->xnew[j] = g->x[j] + lambda * g->dx[j];
    scales_settle(init, g->x, g->xnew);
}

/* Backtrack until the scaled residual falls as the linear model says [DS96 6.3.2]. */
static general_end backtrack(initializer *init, const general_task *task, double t,
                             eval_status *failure)
{
    general_work *g = init->general;
    double now = scaled_square(g, g->b), gain = now - predicted_square(g);
    double lambda =
        scales_bounds(init, g->x, g->dx, init->options->init_tolerance, &init->blocking);
    general_end end = END_STALLED;
    for (; lambda >= least_damping; lambda *= 0.5) {
        move(init, lambda);
        *failure = evaluate_system(init, task, t, g->xnew, g->bnew);
        if (*failure == EVAL_STOP) return END_EVALUATION;
        end = *failure == EVAL_OK ? END_STALLED : END_EVALUATION;
        if (*failure != EVAL_OK) continue;
        if (scaled_square(g, g->bnew) > now - armijo * lambda * gain) continue;
        vector_copy(g->columns, g->xnew, g->x);
        vector_copy(g->rows, g->bnew, g->b);
        return END_GO_ON;
    }
    return end;
}

/* A last correction below the tolerance; skipped where the bounds or the callbacks object. */
static eval_status finish(initializer *init, const general_task *task, double t)
{
    general_work *g = init->general;
    double slack = init->options->init_tolerance;
    if (scales_bounds(init, g->x, g->dx, slack, &init->blocking) < 1.0) return EVAL_OK;
    move(init, 1.0);
    eval_status status = evaluate_system(init, task, t, g->xnew, g->bnew);
    if (status != EVAL_OK) return status == EVAL_STOP ? status : EVAL_OK;
    vector_copy(g->columns, g->xnew, g->x);
    vector_copy(g->rows, g->bnew, g->b);
    return EVAL_OK;
}

static general_end iterate(initializer *init, const general_task *task, double t, double h,
                           const double *given_weights, double rcond, eval_status *failure)
{
    general_work *g = init->general;
    *failure = linearise(init, task, t, h, given_weights);
    if (*failure != EVAL_OK) return END_EVALUATION;
    if (!correct(g, task, rcond)) return END_MEMORY;
    if (correction_norm(g) <= init->options->init_tolerance) {
        /* values that were consistent when they came stay as they were, but y'' is unknown even
         * then, and without it D_h F = 0 cannot hold */
        if (init->iterations == 0) vector_zero(2 * g->n, g->dx);
        *failure = finish(init, task, t);
        return *failure == EVAL_OK ? END_CONVERGED : END_EVALUATION;
    }
    init->iterations++;
    init->tried++;
    init->eval->stats->newton_iterations++;
    return backtrack(init, task, t, failure);
}

/* Gauss-Newton at one rank tolerance. The path's step is chosen at the start and, since the start
 * may have been far away, once more at the solution. */
static general_end gauss_newton(initializer *init, const general_task *task, double t, double h,
                                const double *given_weights, double rcond, eval_status *failure)
{
    general_work *g = init->general;
    bool again = task->differentiate;
    g->step = 0.0;
    for (int k = 0; k < init->options->init_iterations; k++) {
        general_end end = iterate(init, task, t, h, given_weights, rcond, failure);
        if (end == END_GO_ON) continue;
        if (end != END_CONVERGED || !again || init->iterations == 0) return end;
        again = false;
        g->step = 0.0;
    }
    return END_STALLED;
}

/* Misfits in tolerance units; true if all rows are met. Rows of D_h F are allowed ten times what
 * the differences may be wrong by. */
static bool judge(const initializer *init, const general_task *task)
{
    general_work *g = init->general;
    double allowed = fmin(1.0, 10.0 * init->options->init_tolerance);
    bool met = true;
    for (int i = 0; i < g->rows; i++) {
        bool of_path = task->differentiate && i >= g->n && i < 2 * g->n;
        double noise = i < g->n ? 100.0 * DBL_EPSILON * g->f_rows.roundoff[i] : 0.0;
        if (of_path) noise = 10.0 * g->uncertainty[i];
        double excess = fmax(0.0, fabs(g->b[i]) - noise);
        g->misfit[i] =
            g->row_unit[i] > 0.0 ? excess / g->row_unit[i] : (excess > 0.0 ? INFINITY : 0.0);
        met = met && g->misfit[i] <= allowed;
    }
    return met;
}

static void load(general_work *g, const general_task *task, const double *y, const double *yp)
{
    int n = g->n;
    g->rows = (task->differentiate ? 2 * n : n) + (task->conditions ? g->conditions : 0);
    g->columns = task->differentiate ? 3 * n : 2 * n;
    vector_copy(n, y, g->x);
    vector_copy(n, yp, g->x + n);
    vector_zero(n, g->x + 2 * n);
    vector_zero(g->rows, g->uncertainty);
    vector_zero(g->rows, g->b);
    vector_zero(g->rows, g->row_unit);
}

/* Solve at one rank tolerance, and say how it went. */
static dae_status attempt(initializer *init, const general_task *task, double t, double h,
                          const double *given_weights, double rcond, dae_diag *diag)
{
    general_work *g = init->general;
    eval_status failure = EVAL_OK;
    general_end end = gauss_newton(init, task, t, h, given_weights, rcond, &failure);
    if (end == END_MEMORY) return report_memory(diag);
    if (end == END_EVALUATION) return evaluator_report(init->eval, failure, diag);
    bool met = judge(init, task);
    if (met) return DAE_OK; /* a halt on values that meet everything is one at round-off */
    init->conflict = end == END_CONVERGED;
    return report_general(init, task, g->misfit, g->b, g->row_variable, t, h, diag);
}

dae_status general_solve(initializer *init, const general_task *task, double t, double h,
                         const double *given_weights, double *y, double *yp, dae_diag *diag)
{
    dae_status status = general_new(init, diag);
    if (status != DAE_OK) return status;
    general_work *g = init->general;
    int n = g->n;
    /* differences carry errors, amplified in d/dt of the derivatives; should directions that matter
     * lie below that, a second attempt keeps more of them */
    double rcond = init->eval->problem->form.jacobian ? 1e-8 : 1e-6;
    for (int k = 0; k < 2; k++, rcond *= 1e-4) {
        init->iterations = 0;
        init->blocking = -1;
        init->conflict = false;
        init->T = scales_time(init, h, 0.0, y, yp);
        load(g, task, y, yp);
        status = attempt(init, task, t, h, given_weights, rcond, diag);
        if (status != DAE_ERR_INITIAL) break;
    }
    vector_copy(n, g->x, y);
    vector_copy(n, g->x + n, yp);
    return status;
}
