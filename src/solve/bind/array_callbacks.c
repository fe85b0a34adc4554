#include "solve/bind/array_callbacks.h"

#include <float.h>
#include <math.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"

/* F at 2 REACH + 1 points of a curve; coefficients up to MOST_LEVELS - 1: index 3 at most. */
enum { REACH = 5, NODES = 2 * REACH + 1, MOST_LEVELS = 4 };
/* Changes of u and u' for Jacobians, in their sizes; and what ranks are told by, for these. */
static const double CHANGE = 1e-5, RANK_OF_DIFFERENCES = 1e-6;
/* Steps that are tried, from the time in which u changes by its size: each half of the one before.
 */
enum { LADDER = 10 };
/* Errors of derivatives this many times below the tolerance are good enough. */
static const double BELOW_TOLERANCE = 10.0;

/* ---- Taylor coefficients by differences ---- */

/* Coefficient k of a function on the nodes -REACH .. REACH: exact for polynomials of degree 2 REACH
 * (Lagrange's polynomials, expanded). */
static void coefficient_weights(double weight[MOST_LEVELS][NODES])
{
    for (int i = -REACH; i <= REACH; i++) {
        long double p[NODES + 1] = {1.0L}, factor = 1.0L;
        int degree = 0;
        for (int j = -REACH; j <= REACH; j++) {
            if (j == i) continue;
            factor *= i - j;
            for (int k = ++degree; k > 0; k--) p[k] = p[k - 1] - j * p[k];
            p[0] *= -j;
        }
        for (int k = 0; k < MOST_LEVELS; k++) weight[k][i + REACH] = (double)(p[k] / factor);
    }
}

/* Rounding errors of F_0, F_1, .. from steps of h, where terms of F are as large as 1 */
static void rounding_of_series(double h, double rough[MOST_LEVELS])
{
    double weight[MOST_LEVELS][NODES], power = DBL_EPSILON;
    coefficient_weights(weight);
    for (int l = 0; l < MOST_LEVELS; l++, power /= h) {
        rough[l] = 0.0;
        for (int i = 0; i < NODES; i++) rough[l] += power * fabs(weight[l][i]);
    }
}

/* (u, u')(s) of the curve with coefficients x_0 .. x_{k+1} */
static void point_at(int n, int k, const double *x, double s, double *u, double *up)
{
    for (int j = 0; j < n; j++) {
        u[j] = x[(k + 1) * n + j];
        up[j] = (k + 1) * x[(k + 1) * n + j];
        for (int p = k; p >= 0; p--) {
            u[j] = u[j] * s + x[p * n + j];
            if (p > 0) up[j] = up[j] * s + p * x[p * n + j];
        }
    }
}

/* F_0 .. F_k along the curve of x, from steps of h. */
static array_status series_of(callback_array *a, int k, double t, const double *x, double h,
                              double *F)
{
    const int n = a->run->array.n;
    double weight[MOST_LEVELS][NODES], *u = a->work, *up = u + n, *f = up + n;
    coefficient_weights(weight);
    vector_zero(n * (k + 1), F);
    for (int i = -REACH; i <= REACH; i++) {
        double power = 1.0;
        point_at(n, k, x, i * h, u, up);
        if (evaluate_residual(&a->eval, t + i * h, u, up, f, &a->eval.stats->residuals) != EVAL_OK)
            return ARRAY_EVALUATION;
        for (int l = 0; l <= k; l++, power /= h)
            vector_axpy(n, weight[l][i + REACH] * power, f, F + l * n);
    }
    return ARRAY_OK;
}

/* A time in which the curve leaves its point by as much as u is large */
static double time_scale(const callback_array *a, int k, const double *x)
{
    const derivative_array *d = &a->run->array;
    double time = 1.0;
    for (int p = 1; p <= k + 1; p++)
        for (int j = 0; j < d->n; j++) {
            double size = d->nominal[j] + fabs(x[j]), change = fabs(x[p * d->n + j]);
            if (change > 0.0) time = fmin(time, pow(size / change, 1.0 / p));
        }
    return fmax(time, 1e-8);
}

/* The step for the curve of x: short where its derivatives are large */
static double step_for(const callback_array *a, int k, const double *x)
{
    return fmin(a->h, a->part * time_scale(a, k, x));
}

/* G (n (k+1)) = d(F_0 .. F_k) / d x_order,j by central differences; x is moved and put back */
static array_status slope_of(callback_array *a, int k, double t, double *x, double h, int order,
                             int j, double *G)
{
    const int n = a->run->array.n, rows = n * (k + 1);
    double *minus = a->work + 3 * n, *at = &x[order * n + j], kept = *at;
    const double change = CHANGE * (a->run->array.nominal[j] + fabs(kept));
    *at = kept + change;
    array_status status = series_of(a, k, t, x, h, G);
    *at = kept - change;
    if (status == ARRAY_OK) status = series_of(a, k, t, x, h, minus);
    *at = kept;
    for (int i = 0; i < rows; i++) G[i] = (G[i] - minus[i]) / (2.0 * change);
    return status;
}

/* dF_l/dx_0 = a_l, dF_l/dx_1 = a_{l-1} + b_l */
static array_status black_box(void *context, int k, double t, const double *x, double *F, double *A,
                              double *B)
{
    callback_array *a = context;
    const int n = a->run->array.n;
    const double h = step_for(a, k, x);
    array_status status = k < MOST_LEVELS ? series_of(a, k, t, x, h, F) : ARRAY_EVALUATION;
    if (!A || status != ARRAY_OK) return status;
    rounding_of_series(h, a->rough);
    double *moved = a->work + 3 * n + n * MOST_LEVELS, *G = moved + n * (MOST_LEVELS + 1);
    vector_copy(n * (k + 2), x, moved);
    for (int j = 0; j < n && status == ARRAY_OK; j++) {
        status = slope_of(a, k, t, moved, h, 0, j, G);
        for (int l = 0; l <= k; l++) vector_copy(n, G + l * n, A + (l * n + j) * n);
        if (status == ARRAY_OK) status = slope_of(a, k, t, moved, h, 1, j, G);
        for (int l = 0; l <= k; l++) {
            vector_copy(n, G + l * n, B + (l * n + j) * n);
            if (l > 0) vector_axpy(n, -1.0, A + ((l - 1) * n + j) * n, B + (l * n + j) * n);
        }
    }
    return status;
}

/* ---- which step ---- */

/* max |F_l - G_l| time^l over all l, against the largest F_l time^l */
static double distance(int n, int k, double time, const double *F, const double *G)
{
    double most = 0.0, size = DBL_MIN, power = 1.0;
    for (int l = 0; l <= k; l++, power *= time)
        for (int i = 0; i < n; i++) {
            most = fmax(most, power * fabs(F[l * n + i] - G[l * n + i]));
            size = fmax(size, power * fabs(F[l * n + i]));
        }
    return most / fmax(size, 1.0);
}

/* The largest rounding error of F_l time^l, from steps of h. Where F is 0 term by term, as it may
 * be at a start, two steps agree whatever they are. */
static double largest_rounding(int k, double time, double h)
{
    double rough[MOST_LEVELS], most = 0.0, power = 1.0;
    rounding_of_series(h, rough);
    for (int l = 0; l <= k; l++, power *= time) most = fmax(most, rough[l] * power);
    return most;
}

/* Take the step at which two in a row agree best; how well is the noise of derivatives. */
static array_status choose_step(callback_array *a, int k, double t, const double *x)
{
    const int n = a->run->array.n;
    const double time = time_scale(a, k, x);
    double *F[2] = {a->work + 3 * n, a->work + 3 * n + n * MOST_LEVELS}, best = INFINITY, h = time;
    bool before = false;
    for (int e = 0; e < LADDER; e++, h /= 2.0) {
        bool now = series_of(a, k, t, x, h / REACH, F[e % 2]) == ARRAY_OK;
        double apart = now && before ? distance(n, k, time, F[e % 2], F[1 - e % 2]) +
                                           largest_rounding(k, time, h / REACH)
                                     : INFINITY;
        if (apart < best) best = apart, a->h = h / REACH;
        before = now;
    }
    a->part = a->h / time;
    a->run->array.noise = best;
    return isfinite(best) ? ARRAY_OK : ARRAY_EVALUATION;
}

/* ---- the reduced system as a problem ---- */

static int reduced_residual(double t, const double *y, const double *yp, double *f, void *user)
{
    return array_run_residual(((callback_array *)user)->run, t, y, yp, f);
}

static int reduced_jacobian(double t, const double *y, const double *yp, double *dfdy,
                            double *dfdyp, void *user)
{
    return array_run_jacobian(((callback_array *)user)->run, t, y, yp, dfdy, dfdyp);
}

static int user_events(double t, const double *y, const double *yp, double *g, void *user)
{
    const dae_residual *form = &((callback_array *)user)->eval.problem->form;
    return form->event_function(t, y, yp, g, form->user);
}

static dae_status describe(callback_array *a, const dae_problem *base, dae_diag *diag)
{
    const dae_residual *f = &base->form;
    dae_residual d = {.n = f->n,
                      .f = reduced_residual,
                      .user = a,
                      .jacobian = reduced_jacobian,
                      .structure = DAE_STRUCTURE_DENSE,
                      .variable_names = f->variable_names,
                      .lower_bounds = f->lower_bounds,
                      .upper_bounds = f->upper_bounds,
                      .event_count = f->event_count,
                      .event_function = f->event_function ? user_events : NULL,
                      .events = f->events};
    return dae_problem_from_residual(&d, &a->problem, diag);
}

dae_status callback_array_new(callback_array **result, const dae_problem *base, dae_stats *stats,
                              eval_failure *stop, dae_diag *diag)
{
    const int n = base->form.n;
    *result = NULL;
    if (n > ARRAY_CALLBACKS_SIZE)
        return diag_set(diag, DAE_ERR_UNSUPPORTED,
                        "Formulation array is for callbacks of up to %d unknowns, as it takes "
                        "differences of F in each of them; this problem has %d.",
                        (int)ARRAY_CALLBACKS_SIZE, n);
    callback_array *a = DAE_NEW(callback_array);
    if (a) a->run = array_run_new_black(n, MOST_LEVELS - 1, black_box, a);
    if (a) a->work = DAE_ARRAY(double, n *(4 + 3 * MOST_LEVELS));
    if (a) a->rough = DAE_ARRAY(double, MOST_LEVELS);
    if (!a || !a->run || !a->work || !a->rough) {
        callback_array_free(a);
        return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for a derivative array.");
    }
    a->run->array.rough = a->rough;
    a->eval = (evaluator){.problem = base, .stats = stats, .stop = stop};
    dae_status status = describe(a, base, diag);
    if (status == DAE_OK)
        *result = a;
    else
        callback_array_free(a);
    return status;
}

void callback_array_free(callback_array *a)
{
    if (!a) return;
    array_run_free(a->run);
    dae_problem_free(a->problem);
    dae_free_all(a->work, a->rough, a);
}

/* ---- starting ---- */

static dae_status refuse(dae_diag *diag, double t, array_status found)
{
    if (diag) diag->t = t;
    if (found == ARRAY_MEMORY)
        return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for a derivative array.");
    if (found == ARRAY_EVALUATION)
        return diag_set(diag, DAE_ERR_EVALUATION,
                        "Formulation array: F has no value at points around t = %.9g that its "
                        "derivatives are taken from. Start farther from the limits of its domain.",
                        t);
    if (found == ARRAY_INCONSISTENT)
        return diag_set(diag, DAE_ERR_INITIAL,
                        "Formulation array: no consistent values were found at t = %.9g near those "
                        "given, by F and its derivatives up to order %d. Give better start values.",
                        t, (int)MOST_LEVELS - 1);
    return diag_set(diag, DAE_ERR_SINGULAR,
                    "Formulation array: at t = %.9g F and its derivatives up to order %d do not "
                    "determine the solution: the index is above %d, or ranks change there.",
                    t, (int)MOST_LEVELS - 1, (int)MOST_LEVELS - 1);
}

/* Differences have the accuracy that the tolerance needs. */
static dae_status check_noise(const callback_array *a, double t, double rtol, dae_diag *diag)
{
    const double noise = a->run->array.noise;
    if (BELOW_TOLERANCE * noise <= rtol) return DAE_OK;
    if (diag) diag->t = t;
    return diag_set(diag, DAE_ERR_UNSUPPORTED,
                    "Formulation array takes derivatives of callbacks by differences, which are "
                    "accurate to %.1e at t = %.9g, but rtol = %.1e asks for more. Raise it above "
                    "%.1e, or give the problem as a model text, whose derivatives are exact.",
                    noise, t, rtol, BELOW_TOLERANCE * noise);
}

dae_status callback_array_start(callback_array *a, double t, const bool *fixed, double rtol,
                                double *y, double *yp, dae_diag *diag)
{
    derivative_array *d = &a->run->array;
    for (int i = 0; i < d->n; i++) {
        d->nominal[i] = fmax(1.0, fabs(y[i]));
        d->ease[i] = fixed && fixed[i] ? 1e-6 : 1.0;
    }
    d->near = false;
    array_run_load(a->run, y, yp);
    array_status found = choose_step(a, MOST_LEVELS - 1, t, a->run->x);
    if (found == ARRAY_OK) found = array_run_find(a->run, t, RANK_OF_DIFFERENCES);
    /* along the solution now, and no farther than it needs */
    if (found == ARRAY_OK) found = choose_step(a, a->run->reduced.mu + 1, t, a->run->x);
    /* rough derivatives tell nothing of ranks: they are named first */
    dae_status status = found == ARRAY_EVALUATION ? DAE_OK : check_noise(a, t, rtol, diag);
    if (status != DAE_OK) return status;
    if (found != ARRAY_OK) return refuse(diag, t, found);
    found = array_run_start(a->run, t, y, yp);
    return found == ARRAY_OK ? DAE_OK : refuse(diag, t, found);
}
