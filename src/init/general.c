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
#include "forms/form_manifold.h"
#include "init/workspace.h"

enum { PATH_POINTS = 4 }; /* c_i = 1, .., 4 in (5.3.8) */

/* Entries of unknowns that may move below this part of their row are rounding errors. */
static const double entry_floor = 1e-14;

struct general_work {
    int n, conditions, rows, columns; /* of the present task; leading dimension = rows */
    jacobian jac;                     /* dense; only for the user's derivatives */
    const double *dfdy, *dfdyp;       /* n x n each: jac's, or by differences in space.scaled */
    manifold space;               /* A, rows x columns, and shortest corrections; while solving */
    form_matrix matrix;           /* its shape */
    double *x, *xnew, *dx, *next; /* (y, y', y''), 3n, and their corrections */
    double *b, *bnew;             /* residuals: F, D_h F, B */
    double *unit;                 /* tolerance unit of each unknown, 3n */
    double *reach,
        *size; /* 3n: unit, but 0 of what is fixed, and infinite of y'', which is vague */
    double *row_unit, *floor;      /* of rows: to judge misfits; what is rounding */
    double *misfit, *uncertainty;  /* in tolerance units */
    double *path;                  /* F at the path's points, PATH_POINTS*n */
    double *ypath, *yppath, *rate; /* n each; rate: D_h F */
    double *bplus;                 /* conditions */
    int *row_variable;
    row_scales f_rows;
    double step; /* s_1 = step, .., s_4 = 4 step */
    int *integers;
};

/* ---- storage ---- */

static bool general_allocate(general_work *g, size_t n, size_t m)
{
    const size_t rows = 2 * n + m, columns = 3 * n;
    g->integers = DAE_ARRAY(int, rows + n);
    g->row_variable = g->integers;
    g->f_rows.variable = g->integers + rows;
    return SHARED_BLOCK(SHARE(g->x, columns), SHARE(g->xnew, columns), SHARE(g->dx, columns),
                        SHARE(g->next, columns), SHARE(g->unit, columns), SHARE(g->reach, columns),
                        SHARE(g->size, columns), SHARE(g->b, rows), SHARE(g->bnew, rows),
                        SHARE(g->row_unit, rows), SHARE(g->floor, rows), SHARE(g->misfit, rows),
                        SHARE(g->uncertainty, rows), SHARE(g->path, PATH_POINTS * n),
                        SHARE(g->ypath, n), SHARE(g->yppath, n), SHARE(g->rate, n),
                        SHARE(g->f_rows.unit, n), SHARE(g->f_rows.roundoff, n),
                        SHARE(g->bplus, m)) &&
           g->integers;
}

void general_free(general_work *g)
{
    if (!g) return;
    jacobian_free(&g->jac);
    dae_free_all(g->x, g->integers, g);
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
static double longest_path(const initializer *init, double t)
{
    double step = copysign(0.1 * init->T, init->call->h), stop = init->options->stop_time;
    if (isnan(stop) || (stop - t) * step < 0.0) return step;
    double room = (stop - t) / PATH_POINTS;
    if (fabs(room) < 1e3 * DBL_EPSILON * fabs(t) || room == 0.0) return -step;
    return fabs(room) < fabs(step) ? room : step;
}

/* Choose the step between truncation and round-off: the least estimated error on a ladder. */
static eval_status choose_step(initializer *init, double t)
{
    general_work *g = init->general;
    double step = longest_path(init, t), least = INFINITY;
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
    return g->space.A + (size_t)i + (size_t)j * (size_t)g->rows;
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
static void set_units(initializer *init)
{
    general_work *g = init->general;
    int n = g->n;
    matrix_layout dense = dense_layout(n);
    scales_weights(init, g->x);
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
static eval_status differentiate(initializer *init, double t, double *z, const double *f)
{
    general_work *g = init->general;
    int n = g->n;
    const double cube_root = 6e-6; /* u^(1/3) */
    if (init->eval->problem->form.jacobian) {
        g->dfdy = g->jac.dfdy;
        g->dfdyp = g->jac.dfdyp;
        return jacobian_evaluate(&g->jac, t, z, z + n, scales_difference_time(init), init->weights,
                                 f);
    }
    double *copy = g->space.scaled; /* the factors are old */
    g->dfdy = copy;
    g->dfdyp = copy + (size_t)n * (size_t)n;
    scales_spread(init, cube_root, z);
    eval_status status = EVAL_OK;
    for (int c = 0; c < 2 * n && status == EVAL_OK; c++) {
        double d = init->spread[c % n];
        if (c >= n) d = fmax(d / fabs(scales_difference_time(init)), cube_root * fabs(z[c]));
        status = difference_column(init, t, z, f, c, d, copy + (size_t)c * (size_t)n);
    }
    init->eval->stats->jacobians++;
    return status;
}

/* Derivatives of F at x, placed and measured. */
static eval_status linearise_f(initializer *init, double t)
{
    general_work *g = init->general;
    eval_status status = differentiate(init, t, g->x, g->b);
    if (status != EVAL_OK) return status;
    matrix_layout dense = dense_layout(g->n);
    memset(g->space.A, 0, g->matrix.count * sizeof *g->space.A);
    set_units(init);
    place_derivatives(g);
    scales_rows(init, &g->f_rows, &dense, g->dfdy, g->dfdyp, g->x, g->x + g->n);
    return EVAL_OK;
}

/* D_h F and its derivatives. A second evaluation of the partial derivatives at the path's end gives
 * their change in time. */
static eval_status linearise_path(initializer *init, double t)
{
    general_work *g = init->general;
    int n = g->n;
    eval_status status = EVAL_OK;
    if (g->step == 0.0) status = choose_step(init, t);
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
    status = differentiate(init, t + s, g->xnew, g->path + (PATH_POINTS - 1) * n);
    if (status != EVAL_OK) return status;
    place_rates(g, s, init->eval->problem->form.jacobian ? 1e-12 : 1e-7);
    return EVAL_OK;
}

static eval_status linearise(initializer *init, const general_task *task, double t)
{
    general_work *g = init->general;
    int n = g->n, first = task->differentiate ? 2 * n : n;
    eval_status status = evaluate_f(init, t, g->x, g->x + n, g->b);
    if (status == EVAL_OK) status = linearise_f(init, t);
    if (status == EVAL_OK && task->differentiate) status = linearise_path(init, t);
    if (status == EVAL_OK && task->conditions) {
        status = evaluate_conditions(init->eval, t, g->x, g->x + n, g->b + first);
        for (int j = 0; j < 2 * n && status == EVAL_OK; j++)
            status = place_condition_column(init, t, first, j);
    }
    return status;
}

/* ---- as a source of the engine ---- */

/* One solve. */
typedef struct general_call {
    initializer *init;
    const general_task *task;
} general_call;

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

/* The size of y_j, of which 1 is the least, or by how much its absolute tolerance is another than
 * the common one. */
static double size_of(const initializer *init, int j)
{
    const dae_options *o = init->options;
    bool own = o->atol_by_unknown && o->atol > 0.0 && o->atol_by_unknown[j] > 0.0;
    return fmax(fabs(init->general->x[j]), own ? o->atol_by_unknown[j] / o->atol : 1.0);
}

/* How far guesses may move at equal cost: in proportion to their sizes. Tolerance units would hold
 * what happens to be near 0 a thousand times harder. */
static void equal_reach(const initializer *init, const general_task *task)
{
    general_work *g = init->general;
    double part = 0.0;
    for (int j = 0; j < g->n; j++) part = fmax(part, g->unit[j] / size_of(init, j));
    for (int j = 0; j < g->n; j++)
        if (tag_of(g, task, j) == DAE_TAG_GUESS) g->reach[j] = part * size_of(init, j);
}

static engine_outcome source_linearise(engine *e)
{
    const general_call *c = e->user;
    general_work *g = c->init->general;
    engine_outcome outcome = engine_from(linearise(c->init, c->task, c->init->call->t));
    if (outcome != ENGINE_MET) return outcome;
    measure_rows(g);
    for (int i = 0; i < g->rows; i++) g->floor[i] = entry_floor * g->row_unit[i];
    for (int j = 0; j < g->columns; j++) {
        g->reach[j] = tag_of(g, c->task, j) == DAE_TAG_FIXED ? 0.0 : g->unit[j];
        g->size[j] = j < 2 * g->n ? g->unit[j] : (double)INFINITY;
    }
    equal_reach(c->init, c->task);
    return manifold_factor(&g->space, g->space.A) ? ENGINE_MET : ENGINE_MEMORY;
}

static engine_outcome source_correction(engine *e, const double *b, double *dx)
{
    manifold_step(&((const general_call *)e->user)->init->general->space, b, dx);
    return ENGINE_MET;
}

static void source_move(engine *e, double lambda, const double *dx)
{
    for (int j = 0; j < e->n; j++) e->trial[j] = e->x[j] + lambda * dx[j];
    scales_settle(((const general_call *)e->user)->init, e->x, e->trial);
}

static engine_outcome source_evaluate(engine *e)
{
    const general_call *c = e->user;
    return engine_from(evaluate_system(c->init, c->task, c->init->call->t, e->trial, e->trial_r));
}

static double source_room(engine *e, double stride, const double *dx)
{
    initializer *init = ((const general_call *)e->user)->init;
    (void)stride; /* none is longer than 1 */
    return scales_bounds(init, e->x, dx, init->options->init_tolerance, &init->blocking);
}

/* Values that were consistent when they came stay as they were, but y'' is unknown even then, and
 * without it D_h F = 0 cannot hold. Skipped where the bounds or the callbacks object. */
static engine_outcome source_last(engine *e, double *dx)
{
    if (e->taken == 0) vector_zero(2 * ((const general_call *)e->user)->init->n, dx);
    if (source_room(e, 1.0, dx) < 1.0) return ENGINE_STALLED;
    source_move(e, 1.0, dx);
    engine_outcome outcome = source_evaluate(e);
    if (outcome == ENGINE_MET) vector_copy(e->m, e->trial_r, e->r);
    return outcome;
}

static const engine_source general_source = {.linearise = source_linearise,
                                             .correction = source_correction,
                                             .move = source_move,
                                             .evaluate = source_evaluate,
                                             .room = source_room,
                                             .last = source_last};

/* What rounding and differences may have made of row i of b. */
static double row_noise(const general_work *g, const general_task *task, int i)
{
    if (i < g->n) return 100.0 * DBL_EPSILON * g->f_rows.roundoff[i];
    return task->differentiate && i < 2 * g->n ? 10.0 * g->uncertainty[i] : 0.0;
}

/* Where no damping factor has helped, whether that is since x is a solution up to noise: there the
 * correction for what noise does not explain, by derivatives and units of x itself, is small. */
static engine_outcome look_at_halt(engine *e)
{
    const general_call *c = e->user;
    general_work *g = c->init->general;
    engine_outcome outcome = source_linearise(e);
    if (outcome != ENGINE_MET) return engine_ends(outcome) ? outcome : ENGINE_STALLED;
    for (int i = 0; i < g->rows; i++) {
        double excess = fmax(0.0, fabs(g->b[i]) - row_noise(g, c->task, i));
        g->bnew[i] = copysign(excess, g->b[i]);
    }
    manifold_step(&g->space, g->bnew, g->next);
    return engine_length(e, g->next) <= 10.0 * e->tolerance ? ENGINE_MET : ENGINE_STALLED;
}

/* The path's step is chosen at the start and, since the start may have been far away, once more at
 * the solution. */
static engine_outcome gauss_newton(general_call *c)
{
    initializer *init = c->init;
    general_work *g = init->general;
    engine e = {.source = &general_source,
                .user = c,
                .n = g->columns,
                .m = g->rows,
                .counted = g->n,
                .x = g->x,
                .trial = g->xnew,
                .r = g->b,
                .trial_r = g->bnew,
                .dx = g->dx,
                .next = g->next,
                .size = g->size,
                .tolerance = init->options->init_tolerance,
                .longest_stride = 1.0,
                .most = init->options->init_iterations};
    g->step = 0.0;
    engine_outcome outcome = engine_solve(&e);
    if (outcome == ENGINE_MET && c->task->differentiate && e.taken > 0) {
        g->step = 0.0;
        outcome = engine_solve(&e);
    }
    if (outcome == ENGINE_STALLED) outcome = look_at_halt(&e);
    init->iterations = e.taken;
    init->tried += e.taken;
    init->eval->stats->newton_iterations += e.taken;
    return outcome;
}

/* ---- solving ---- */

/* Misfits in tolerance units; true if all rows are met. Rows of D_h F are allowed ten times what
 * the differences may be wrong by. */
static bool judge(const initializer *init, const general_task *task)
{
    general_work *g = init->general;
    double allowed = fmin(1.0, 10.0 * init->options->init_tolerance);
    bool met = true;
    for (int i = 0; i < g->rows; i++) {
        double excess = fmax(0.0, fabs(g->b[i]) - row_noise(g, task, i));
        g->misfit[i] =
            g->row_unit[i] > 0.0 ? excess / g->row_unit[i] : (excess > 0.0 ? INFINITY : 0.0);
        met = met && g->misfit[i] <= allowed;
    }
    return met;
}

/* Space for the task's shape, at (y, yp, 0). False: memory. */
static bool load(general_work *g, const general_task *task, const double *y, const double *yp)
{
    int n = g->n;
    g->rows = (task->differentiate ? 2 * n : n) + (task->conditions ? g->conditions : 0);
    g->columns = task->differentiate ? 3 * n : 2 * n;
    g->matrix = form_matrix_dense(g->rows, g->columns);
    bool *free = DAE_ARRAY(bool, g->columns);
    for (int j = 0; free && j < g->columns; j++) free[j] = tag_of(g, task, j) == DAE_TAG_FREE;
    bool ready = free && manifold_new(&g->space, &g->matrix, g->reach, free);
    g->space.floor = g->floor;
    dae_free(free);
    vector_copy(n, y, g->x);
    vector_copy(n, yp, g->x + n);
    vector_zero(n, g->x + 2 * n);
    vector_zero(g->rows, g->uncertainty);
    vector_zero(g->rows, g->b);
    vector_zero(g->rows, g->row_unit);
    return ready;
}

/* Solve at one rank tolerance, and say how it went. */
static dae_status attempt(general_call *c, double rcond, dae_diag *diag)
{
    initializer *init = c->init;
    general_work *g = init->general;
    g->space.rank = rcond;
    engine_outcome outcome = gauss_newton(c);
    if (outcome == ENGINE_MEMORY) return report_memory(diag);
    if (outcome == ENGINE_UNDEFINED) return evaluator_report(init->eval, EVAL_RETRY, diag);
    if (outcome == ENGINE_STOP) return evaluator_report(init->eval, EVAL_STOP, diag);
    if (judge(init, c->task) && outcome == ENGINE_MET) return DAE_OK;
    init->conflict = outcome == ENGINE_MET;
    return report_general(init, c->task, g->misfit, g->b, g->row_variable, diag);
}

dae_status general_solve(initializer *init, const general_task *task, double *y, double *yp,
                         dae_diag *diag)
{
    dae_status status = general_new(init, diag);
    if (status != DAE_OK) return status;
    general_work *g = init->general;
    general_call call = {init, task};
    int n = g->n;
    /* differences carry errors, amplified in d/dt of the derivatives; should directions that matter
     * lie below that, a second attempt keeps more of them */
    double rcond = init->eval->problem->form.jacobian ? 1e-8 : 1e-6;
    for (int k = 0; k < 2; k++, rcond *= 1e-4) {
        init->iterations = 0;
        init->blocking = -1;
        init->conflict = false;
        init->T = scales_time(init, 0.0, y, yp);
        status = load(g, task, y, yp) ? attempt(&call, rcond, diag) : report_memory(diag);
        manifold_free(&g->space);
        if (status != DAE_ERR_INITIAL) break;
    }
    vector_copy(n, g->x, y);
    vector_copy(n, g->x + n, yp);
    return status;
}
