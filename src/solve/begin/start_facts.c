/* What a start need not compute, as one before has: only at starts, since events of a run are not
 * the same twice. */
#include "solve/begin/begin_parts.h"

#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"

fact_key key_at(const dae_solver *s, const model_point *at)
{
    fact_key key = {.count = 0};
    const flat_model *m = s->base->model->flat;
    const size_t n = (size_t)s->base->form.n;
    fact_key_add_numbers(&key, &at->t, 1);
    fact_key_add_numbers(&key, at->y, n);
    fact_key_add_numbers(&key, at->yp, n);
    fact_key_add_numbers(&key, at->parameters, m->parameter_count);
    fact_key_add_numbers(&key, at->memory, (size_t)m->memory_count);
    return key;
}

bool recalls(const dae_solver *s, start_fact what, const fact_key *key, void *result, size_t bytes)
{
    return s->hybrid->at_start && plan_recalls(&s->modes->current->plan, what, key, result, bytes);
}

void remembers(const dae_solver *s, start_fact what, const fact_key *key, const void *result,
               size_t bytes)
{
    if (s->hybrid->at_start) plan_remembers(&s->modes->current->plan, what, key, result, bytes);
}

/* ---- guesses ---- */

/* Which start values there are decides, too: they change with the revision of the model. */
static fact_key guesses_key(const dae_solver *s, const model_point *at)
{
    fact_key key = key_at(s, at);
    fact_key_add(&key, &s->base->model->revision, sizeof s->base->model->revision);
    return key;
}

bool guesses_recall(dae_solver *s, const model_point *at)
{
    const fact_key key = guesses_key(s, at);
    return problem_recalls(s->base, FACT_GUESSES, &key, s->bound.y,
                           (size_t)s->base->form.n * sizeof *s->bound.y);
}

void guesses_remember(const dae_solver *s, const model_point *at)
{
    const fact_key key = guesses_key(s, at);
    problem_remembers(s->base, FACT_GUESSES, &key, s->bound.y,
                      (size_t)s->base->form.n * sizeof *s->bound.y);
}

/* ---- values of the equations as they are written ---- */

/* The plan of the mode that is bound as it is written, at a start of a model without crossings;
 * NULL: there is none. At events factors of the start count, so that a run would not be the same,
 * to the last bit, without them. */
static const plan *plan_as_written(const dae_solver *s)
{
    const iteration *it = &s->bound.matrix;
    bool plain = s->hybrid && s->hybrid->at_start && s->bound.problem == s->base &&
                 s->modes->slots_known && !s->bound.events && !s->bound.options.rtol_by_unknown;
    if (!plain || it->matrix_free) return NULL;
    const model_mode *v = mode_find(s->modes, s->hybrid->instance->memory);
    return v ? &v->plan : NULL;
}

/* What a search counts. */
enum { COUNTS = 8 };
static void tell_counts(dae_stats *stats, long *count[COUNTS])
{
    long *const all[COUNTS] = {&stats->residuals,           &stats->jacobian_residuals,
                               &stats->jacobians,           &stats->factorisations,
                               &stats->factor_step_changed, &stats->factor_new_jacobian,
                               &stats->newton_iterations,   &stats->solves};
    for (int k = 0; k < COUNTS; k++) count[k] = all[k];
}

/* All that the values depend on beside the plan; settings: h, rtol, tolerance and stop time */
static fact_key written_key(const dae_solver *s, const model_point *at, const dae_init *mode,
                            const double settings[4])
{
    const size_t n = (size_t)s->bound.n;
    fact_key key = key_at(s, at);
    fact_key_add(&key, mode, sizeof *mode);
    fact_key_add_numbers(&key, settings, 4);
    fact_key_add(&key, &s->bound.options.init_iterations, sizeof(int));
    fact_key_add(&key, s->bound.kinds, n * sizeof *s->bound.kinds);
    fact_key_add_numbers(&key, s->bound.norm.weights, n);
    fact_key_add(&key, initializer_fixed(s->bound.init), n * sizeof(bool));
    return key;
}

/* y, y' and counts of a search, in one block */
static void take_found(dae_solver *s, const double *found, long *const count[COUNTS])
{
    vector_copy(s->bound.n, found, s->bound.y);
    vector_copy(s->bound.n, found + s->bound.n, s->bound.yp);
    for (int k = 0; k < COUNTS; k++) *count[k] += (long)found[2 * s->bound.n + k];
}

static dae_status search_by(dae_solver *s, initializer *init, double t, double h, dae_init mode)
{
    return initialize(init, mode, t, h, s->bound.kinds, s->bound.norm.weights, s->bound.y,
                      s->bound.yp, &s->diag);
}

/* The same with factors, where GMRES is our choice and has failed. */
static dae_status search_by_factors(dae_solver *s, double t, double h, dae_init mode)
{
    dae_options options = s->bound.options;
    iteration factors = {0};
    initializer *init = NULL;
    options.linear_solver = DAE_LINEAR_AUTO;
    diag_clear(&s->diag);
    dae_status status = iteration_new(&factors, &s->bound.eval, &options, &s->diag);
    if (status == DAE_OK)
        status = initializer_new(&init, &s->bound.eval, &factors, &options, &s->diag);
    if (status == DAE_OK) {
        memcpy(initializer_fixed(init), initializer_fixed(s->bound.init),
               (size_t)s->bound.n * sizeof(bool));
        status = search_by(s, init, t, h, mode);
    }
    initializer_free(init);
    iteration_free(&factors);
    return status;
}

static bool may_be_linear(dae_status status)
{
    return status == DAE_ERR_INITIAL || status == DAE_ERR_CONVERGENCE || status == DAE_ERR_SINGULAR;
}

static dae_status search(dae_solver *s, double t, double h, dae_init mode)
{
    const size_t n = (size_t)s->bound.n;
    double *given = solver_iterates(s) ? DAE_ARRAY(double, 2 * n) : NULL;
    if (!given) return search_by(s, s->bound.init, t, h, mode);
    vector_copy(s->bound.n, s->bound.y, given);
    vector_copy(s->bound.n, s->bound.yp, given + n);
    s->bound.matrix.impatient = true;
    dae_status status = search_by(s, s->bound.init, t, h, mode);
    s->bound.matrix.impatient = s->bound.matrix.given_up = false;
    if (may_be_linear(status)) {
        vector_copy(s->bound.n, given, s->bound.y);
        vector_copy(s->bound.n, given + n, s->bound.yp);
        status = search_by_factors(s, t, h, mode);
    }
    dae_free(given);
    return status;
}

/* The same, and whether it may be remembered: found, with no other solution in sight. Pivots that
 * the search chose are given up: the run begins as one that finds its values. */
static dae_status search_counted(dae_solver *s, double t, double h, dae_init mode,
                                 long *const count[COUNTS], double *found, bool *plain)
{
    double other, *to = found + 2 * s->bound.n;
    bool slope;
    for (int k = 0; k < COUNTS; k++) to[k] = -(double)*count[k];
    dae_status status = search(s, t, h, mode);
    for (int k = 0; k < COUNTS; k++) to[k] += (double)*count[k];
    *plain = status == DAE_OK && initializer_other(s->bound.init, &other, &slope) < 0;
    vector_copy(s->bound.n, s->bound.y, found);
    vector_copy(s->bound.n, s->bound.yp, found + s->bound.n);
    return *plain ? forget_matrices(s) : status;
}

dae_status initialize_once(dae_solver *s, double t, double h, dae_init mode, bool *known)
{
    *known = false;
    const plan *p = plan_as_written(s);
    const size_t n = (size_t)s->bound.n, size = 2 * n + COUNTS;
    double *block = p ? DAE_ARRAY(double, 2 * n + size) : NULL;
    if (!block) return search(s, t, h, mode);
    const model_instance *m = s->hybrid->instance;
    double *found = block + 2 * n; /* behind what was given */
    const double settings[4] = {h, s->bound.options.rtol, s->bound.options.init_tolerance,
                                s->bound.options.stop_time};
    long *count[COUNTS];
    bool plain = false;
    dae_status status = DAE_OK;
    vector_copy(s->bound.n, s->bound.y, block);
    vector_copy(s->bound.n, s->bound.yp, block + n);
    model_point at = {t, block, block + n, m->parameters, m->memory};
    fact_key key = written_key(s, &at, &mode, settings);
    tell_counts(&s->stats, count);
    *known = plan_recalls(p, FACT_CONSISTENT, &key, found, size * sizeof *found);
    if (*known)
        take_found(s, found, count);
    else
        status = search_counted(s, t, h, mode, count, found, &plain);
    if (plain) plan_remembers(p, FACT_CONSISTENT, &key, found, size * sizeof *found);
    dae_free(block);
    return status;
}
