#include "solve/bind/array_run.h"

#include <string.h>

#include "base/memory.h"
#include "base/vector.h"

/* Ranks: singular values below this part of the largest count as zero. */
static const double RANK_TOLERANCE = 1e-9;
enum { MOST_DERIVATIVES = 4 };

void array_run_free(array_run *run)
{
    if (!run) return;
    if (run->is_reduced) reduced_system_free(&run->reduced);
    derivative_array_free(&run->array);
    dae_free_all(run->x, run);
}

void array_run_load(array_run *run, const double *y, const double *yp)
{
    int n = run->array.n;
    memset(run->x, 0, (size_t)n * (size_t)(run->array.limit + 2) * sizeof *run->x);
    vector_copy(n, y, run->x);
    vector_copy(n, yp, run->x + n);
}

array_status array_run_find(array_run *run, double t, double rank)
{
    array_report report;
    run->rank = rank;
    array_status status = derivative_array_analyse(&run->array, t, run->x, rank, &report);
    if (status != ARRAY_OK) return status;
    if (report.dependent || report.strangeness < 0) return ARRAY_RANK;
    if (report.strangeness >= run->array.limit)
        return ARRAY_RANK; /* a start needs one more level */
    if (run->is_reduced) reduced_system_free(&run->reduced);
    status = reduced_system_new(&run->reduced, &run->array, report.strangeness, t, run->x, rank);
    run->is_reduced = status == ARRAY_OK;
    return status;
}

/* The reduced system around a point of the model: ARRAY_OK where the array determines it. */
static array_status find_near(array_run *run, const model_point *at)
{
    run->x = DAE_ARRAY(double, (size_t)run->array.n *(size_t)(run->array.limit + 2));
    if (!run->x) return ARRAY_MEMORY;
    array_run_load(run, at->y, at->yp);
    return array_run_find(run, at->t, RANK_TOLERANCE);
}

array_run *array_run_new_black(int n, int limit, array_black_box f, void *context)
{
    array_run *run = DAE_NEW(array_run);
    if (run) run->x = DAE_ARRAY(double, (size_t)n *(size_t)(limit + 2));
    if (run && run->x && derivative_array_new_black(&run->array, n, limit, f, context) == ARRAY_OK)
        return run;
    array_run_free(run);
    return NULL;
}

/* Whether u_i of the array is unknown i of the form. */
static bool in_order(const derivative_array *d)
{
    for (int i = 0; i < d->n; i++)
        if (d->variable[i] != i || d->order[i] != 0) return false;
    return true;
}

int array_run_limit(int index)
{
    return index > MOST_DERIVATIVES ? index : MOST_DERIVATIVES;
}

dae_status array_run_new(array_run **result, const model_form *f, const mode_slots *slots,
                         const model_point *at, int limit, const double *ease)
{
    *result = NULL;
    if (f->n > ARRAY_RUN_SIZE) return DAE_OK;
    equation_set set;
    array_run *run = DAE_NEW(array_run);
    if (!run || !model_equations(f, slots, at->memory, &set)) {
        dae_free(run);
        return DAE_ERR_MEMORY;
    }
    array_status status = derivative_array_new(&run->array, &set, limit);
    equation_set_free(&set);
    run->array.parameters = at->parameters;
    run->array.memory = at->memory;
    if (status == ARRAY_OK && !(run->array.n == f->n && in_order(&run->array)))
        status = ARRAY_SHAPE;
    if (status == ARRAY_OK) vector_copy(f->n, ease, run->array.ease);
    if (status == ARRAY_OK) status = find_near(run, at);
    if (status == ARRAY_OK)
        *result = run;
    else
        array_run_free(run);
    return status == ARRAY_MEMORY ? DAE_ERR_MEMORY : DAE_OK;
}

/* Coefficients near (t, y, y') that satisfy the array of level k: from the derivatives that the
 * reduced system found last, which are close between two steps, or from none. */
static array_status reach_point(array_run *run, int k, double t, const double *y, const double *yp)
{
    int n = run->array.n, mu = run->reduced.mu;
    vector_copy(n * (mu + 2), run->reduced.x, run->x);
    vector_copy(n, y, run->x);
    vector_copy(n, yp, run->x + n);
    array_status status = derivative_array_consistent(&run->array, k, t, run->x);
    if (status == ARRAY_OK || status == ARRAY_MEMORY) return status;
    array_run_load(run, y, yp);
    return derivative_array_consistent(&run->array, k, t, run->x);
}

/* The reduced system at a point of level k. */
static array_status renew(array_run *run, int k, double t, const double *y, const double *yp)
{
    int mu = run->reduced.mu;
    array_status status = reach_point(run, k, t, y, yp);
    if (status != ARRAY_OK) return status;
    reduced_system anew; /* rows of the last step are still asked for where it fails */
    status = reduced_system_new(&anew, &run->array, mu, t, run->x, run->rank);
    if (status != ARRAY_OK) return status;
    reduced_system_free(&run->reduced);
    run->reduced = anew;
    return status;
}

array_status array_run_renew(array_run *run, double t, const double *y, const double *yp)
{
    array_status status = renew(run, run->reduced.mu + 1, t, y, yp);
    /* a level less is easier to meet, and tells all constraints */
    return status == ARRAY_INCONSISTENT ? renew(run, run->reduced.mu, t, y, yp) : status;
}

array_status array_run_start(array_run *run, double t, double *y, double *yp)
{
    /* one level more determines y' */
    array_status status = renew(run, run->reduced.mu + 1, t, y, yp);
    if (status != ARRAY_OK) return status;
    vector_copy(run->array.n, run->x, y);
    vector_copy(run->array.n, run->x + run->array.n, yp);
    for (int i = 0; i < run->array.n; i++) run->array.ease[i] = 1.0;
    run->array.near = true;
    return ARRAY_OK;
}

int array_run_residual(array_run *run, double t, const double *y, const double *yp, double *f)
{
    return derivative_array_reduced_residual(&run->reduced, t, y, yp, f) == ARRAY_OK ? 0 : 1;
}

int array_run_jacobian(array_run *run, double t, const double *y, const double *yp, double *dfdy,
                       double *dfdyp)
{
    array_status status = derivative_array_reduced_jacobian(&run->reduced, t, y, yp, dfdy, dfdyp);
    return status == ARRAY_OK ? 0 : 1;
}
