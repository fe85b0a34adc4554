/* Starts and restarts of runs, as the user asks for them. */
#include <math.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"
#include "solve/begin/begin.h"
#include "solve/explain/explain.h"
#include "solve/hybrid/hybrid.h"
#include "solve/prepare/choose.h"
#include "solve/run/run.h"
#include "solve/watch/watch.h"

static bool finite_input(dae_solver *s, double t, const double *y, const double *yp)
{
    int n = s->base->form.n, bad = y ? vector_first_nonfinite(n, y) : -1;
    const char *what = "y";
    if (bad < 0 && yp) {
        bad = vector_first_nonfinite(n, yp);
        what = "y'";
    }
    if (!isfinite(t)) {
        diag_set(&s->diag, DAE_ERR_ARGUMENT, "The initial time is %g.", t);
        return false;
    }
    if (bad < 0) return true;
    double value = what[1] ? yp[bad] : y[bad];
    diag_variable(&s->diag, bad, problem_variable(s->base, bad));
    s->diag.value = value;
    diag_set(&s->diag, DAE_ERR_ARGUMENT, "The initial value of %s for variable %s is %g.", what,
             s->diag.variable_name, value);
    return false;
}

static void drop_history(dae_solver *s)
{
    dae_free_all(s->run.past_t, s->run.past_y);
    s->run.past_t = s->run.past_y = NULL;
    s->run.history = 0;
}

static dae_status begin_with(dae_solver *s, double t0, const double *y0, const double *yp0)
{
    if (!s->hybrid) return begin_callbacks(s, t0, y0, yp0);
    if (!s->hybrid->opening.stands) {
        hybrid_start_values(s);
        values_from_user(s, y0, yp0);
    }
    return hybrid_start(s, t0);
}

/* Where the method was our choice, and its form is singular here, as with constraints that follow
 * from each other: the residual form may not be. */
static dae_status begin_residual(dae_solver *s, double t0, const double *y0, const double *yp0)
{
    diag_clear(&s->diag);
    s->wishes.implicit = true;
    s->wishes.reason = "the form is singular at the start, so ";
    dae_status status = bind_callbacks(s, &s->diag);
    return status == DAE_OK ? begin_with(s, t0, y0, yp0) : status;
}

/* Nothing of another run stands in the way; what was made ahead of this one stays. */
static dae_status make_room(dae_solver *s, double t0, const double *y0, const double *yp0)
{
    if (s->hybrid) {
        opening *o = &s->hybrid->opening;
        o->stands = !y0 && !yp0 && hybrid_is_open(s, t0);
        if (o->stands) return DAE_OK;
    }
    dae_status status = reset_method(s);
    return status == DAE_OK ? forget_matrices(s) : status;
}

/* The start of a model with homotopy: at the end of its way, else at its start values. */
static dae_status begin_on_the_way(dae_solver *s, double t0)
{
    bool found = false;
    double *y = DAE_ARRAY(double, s->base->form.n);
    dae_status status =
        y ? DAE_OK : diag_set(&s->diag, DAE_ERR_MEMORY, "Out of memory for a start.");
    if (status == DAE_OK && s->hybrid->opening.stands) status = forget_modes(s);
    s->hybrid->opening.stands = false;
    if (status == DAE_OK) status = homotopy_guesses(s, t0, y, &found);
    if (status == DAE_OK) status = begin_with(s, t0, found ? y : NULL, NULL);
    dae_free(y);
    if (!found || status == DAE_OK || status == DAE_ERR_MEMORY) return status;
    diag_clear(&s->diag);
    status = forget_modes(s);
    return status == DAE_OK ? begin_with(s, t0, NULL, NULL) : status;
}

static dae_status start_run(dae_solver *s, double t0, const double *y0, const double *yp0)
{
    diag_clear(&s->diag);
    s->run.phase = PHASE_NEW;
    s->run.doubt_reported = s->run.unwatched_reported = false;
    followers_start(s);
    s->run.unwatched_steps = 0;
    s->run.headed = false;
    s->run.shown = NAN;
    s->run.resumption = (resumption){0};
    s->run.before = s->stats.steps;
    drop_history(s);
    if (s->base->model && !s->modes) { /* a checkpoint that could not be read for lack of memory */
        dae_status held = model_hold(s, &s->diag);
        if (held != DAE_OK) return held;
    }
    if (!y0 && !s->hybrid)
        return diag_set(&s->diag, DAE_ERR_ARGUMENT, "dae_solver_start: y0 is NULL.");
    if (!finite_input(s, t0, y0, yp0)) return s->diag.status;
    if (sequence_check_span(&s->base_options, t0, &s->diag) != DAE_OK) return s->diag.status;
    s->run.stall = (stall){.t0 = t0};
    floors_drop(s);
    s->bound.terms.count = s->bound.terms_within = 0;
    s->bound.held_at = NAN;
    sizes_start(s, y0);
    dae_status status = make_room(s, t0, y0, yp0);
    if (status != DAE_OK) return status;
    bool leads = s->base->simplified && !y0 && !yp0;
    status = leads ? begin_on_the_way(s, t0) : begin_with(s, t0, y0, yp0);
    bool again = status == DAE_ERR_SINGULAR && !s->hybrid && change_may_help(s, status);
    if (again) return begin_residual(s, t0, y0, yp0);
    bool conflict = status == DAE_ERR_INITIAL || status == DAE_ERR_SINGULAR;
    return conflict ? explain_parameters(s, t0, status) : status;
}

dae_status solver_start(dae_solver *s, double t0, const double *y0, const double *yp0)
{
    if (!s) return DAE_ERR_ARGUMENT;
    solver_forget_stop(s);
    dae_status status = solver_heed_stop(s, start_run(s, t0, y0, yp0));
    if (status != DAE_OK) s->run.phase = PHASE_NEW;
    return status == DAE_OK && s->observer ? s->observer->started(s->observer->user) : status;
}

/* Times must move strictly in one direction, away from times[0]. */
static bool ordered_times(int count, const double *times)
{
    for (int i = 1; i < count; i++) {
        double step = times[i] - times[i - 1];
        if (!isfinite(step) || step == 0.0 || (step > 0.0) != (times[1] > times[0])) return false;
    }
    return isfinite(times[0]);
}

/* yp = derivative at times[0] of the polynomial through the past values (Lagrange's form) */
static void history_slope(int n, int count, const double *times, const double *values, double *yp)
{
    double first = 0.0;
    vector_zero(n, yp);
    for (int i = 1; i < count; i++) {
        double weight = 1.0 / (times[i] - times[0]);
        first -= weight;
        for (int j = 1; j < count; j++)
            if (j != i) weight *= (times[0] - times[j]) / (times[i] - times[j]);
        vector_axpy(n, weight, values + (size_t)i * (size_t)n, yp);
    }
    vector_axpy(n, first, values, yp);
}

/* count rows of n values each, with zeros behind up to `longer`; NULL: memory */
static double *longer_rows(const double *values, int count, int n, int longer)
{
    double *rows = DAE_ARRAY(double, (size_t)count *(size_t)longer);
    for (int i = 0; rows && i < count; i++)
        vector_copy(n, values + (size_t)i * (size_t)n, rows + (size_t)i * (size_t)longer);
    return rows;
}

/* A model starts with an event; a history that it does not continue is of no use. */
static dae_status start_model(dae_solver *s, double t)
{
    vector_copy(s->bound.n, s->bound.yp, s->bound.at_yp);
    dae_status status = hybrid_start_given(s, t);
    if (status != DAE_OK) return status;
    if (is_formulated(s)) { /* its derivatives have no past */
        drop_history(s);
        return DAE_OK;
    }
    for (int i = 0; i < s->bound.n; i++) s->bound.work[i] = s->bound.y[i] - s->run.past_y[i];
    if (norm_of(&s->bound.norm, s->bound.work, s->bound.norm.scale) > 1.0) {
        drop_history(s);
        return DAE_OK;
    }
    values_from_user(s, s->run.past_y, s->bound.at_yp);
    return DAE_OK;
}

/* Past values of callbacks are of use to a multistep method alone: where the choice is ours it is
 * bdf, until the next start. */
static dae_status take_multistep(dae_solver *s)
{
    bool stands = s->bound.init && !s->bound.method->gives_way;
    if (!s->wishes.open || s->hybrid || stands) return DAE_OK;
    s->wishes.failed = family_bit(FAMILY_STAGES);
    s->wishes.reason = "past values are given, so ";
    return bind_callbacks(s, &s->diag);
}

dae_status dae_solver_start_history(dae_solver *s, int count, const double *times,
                                    const double *values, const double *yp0)
{
    if (!s) return DAE_ERR_ARGUMENT;
    diag_clear(&s->diag);
    s->run.phase = PHASE_NEW;
    s->run.headed = false;
    drop_history(s);
    dae_status status = take_multistep(s);
    if (status != DAE_OK) return status;
    int most = method_most_order(s->bound.method, s->bound.options.max_order) + 1;
    if (count < 1 || count > most)
        return diag_set(&s->diag, DAE_ERR_ARGUMENT,
                        "dae_solver_start_history: %d past values; method %s takes 1 to %d.", count,
                        s->bound.method->name, most);
    if (!times || !values || !ordered_times(count, times))
        return diag_set(&s->diag, DAE_ERR_ARGUMENT,
                        "dae_solver_start_history: times and values must be given, and times move "
                        "strictly from the newest to the oldest.");
    for (int i = 0; i < count; i++)
        if (!finite_input(s, times[i], values + (size_t)i * (size_t)s->base->form.n, yp0))
            return s->diag.status;
    status = sequence_check_span(&s->base_options, times[0], &s->diag);
    if (status == DAE_OK && s->hybrid) status = forget_modes(s);
    if (status != DAE_OK) return status;
    int n = s->base->form.n;
    if (s->bound.rewritten) vector_zero(s->bound.n, s->bound.yp);
    if (!yp0) history_slope(s->bound.rewritten ? n : s->bound.n, count, times, values, s->bound.yp);
    if (s->bound.rewritten) vector_zero(s->bound.n, s->bound.y);
    values_from_user(s, values, yp0);
    s->run.past_t = dae_copy(times, (size_t)count, sizeof(double));
    s->run.past_y = s->bound.rewritten
                        ? longer_rows(values, count, n, s->bound.n)
                        : dae_copy(values, (size_t)count * (size_t)s->bound.n, sizeof(double));
    if (!s->run.past_t || !s->run.past_y) {
        drop_history(s);
        return diag_set(&s->diag, DAE_ERR_MEMORY, "Out of memory for the history.");
    }
    s->run.history = count;
    status = forget_matrices(s);
    if (status == DAE_OK)
        status = s->hybrid ? start_model(s, times[0]) : solver_begin(s, times[0], DAE_INIT_NONE);
    if (s->run.history > 1) s->run.direction = times[0] > times[1] ? 1.0 : -1.0;
    return status;
}

dae_status dae_solver_restart(dae_solver *s, const double *y, const double *yp)
{
    if (!s) return DAE_ERR_ARGUMENT;
    diag_clear(&s->diag);
    if (s->run.phase == PHASE_NEW)
        return diag_set(&s->diag, DAE_ERR_STATE,
                        "dae_solver_restart was called before a successful dae_solver_start.");
    if (!finite_input(s, s->run.t, y, yp)) return s->diag.status;
    if (s->observer && s->observer->restarting(s->observer->user) != DAE_OK) return s->diag.status;
    if (delays_record(s) != DAE_OK) return s->diag.status;
    if (s->run.phase != PHASE_READY) {
        if (!y) solver_interpolate(s, s->run.t, 0, s->bound.y);
        if (!yp) solver_interpolate(s, s->run.t, 1, s->bound.yp);
    }
    /* relations may be about to cross here, as the search for events knows */
    dae_status status = is_formulated(s) ? bind_as_written(s) : release_mode(s);
    if (status != DAE_OK) return status;
    drop_history(s);
    values_from_user(s, y, yp);
    if (s->hybrid) return hybrid_restart(s, y || yp);
    return solver_begin(s, s->run.t, s->bound.options.init);
}
