/* Another method: whether it may help, and going on with it from where the solver stands. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"
#include "solve/begin/begin.h"
#include "solve/hybrid/hybrid.h"
#include "solve/prepare/choose.h"
#include "solve/run/run.h"

/* After so many steps at least so many more: one of stability |lambda| h < order takes thousands on
 * any interval that a stiff problem is solved on, the corpus at most 100. */
enum { MOST_TAYLOR_STEPS = 300 };

bool is_slow(const dae_solver *s, double tend)
{
    if (!s->wishes.open || !s->bound.method->long_steps ||
        s->stats.steps - s->run.before < MOST_TAYLOR_STEPS)
        return false;
    return fabs(tend - s->run.t) > MOST_TAYLOR_STEPS * fabs(s->stats.last_h);
}

/* Steps that are down to rounding are at a singularity, which no method goes beyond: another one
 * would at best leap over it, to where the equations have no solution. */
static const double ROUNDING = 1e-12;

/* ---- GMRES that was our choice ---- */

/* So many attempts may fail for it, in a row or with fewer than FORGIVEN steps between them: a
 * shorter step has a matrix that is nearer to its diagonal, and GMRES recovers; where it does not
 * the steps would only become shorter. */
enum { MOST_FAILURES = 3, FORGIVEN = 10 };
/* Its work is compared with that of factors over so many steps, in which these would be made so
 * often at least: solves with them are not counted otherwise. */
enum { COMPARED_STEPS = 20, LEAST_FACTORINGS = 4 };
/* Factors come at once if they are predicted to take this part of the work: they have memory and
 * a start of the method anew against them. */
static const double MUCH_LESS = 0.5;

void gmres_begin_attempt(dae_solver *s)
{
    s->run.gmres.unmet = s->bound.matrix.unmet;
}

bool gmres_gives_up(dae_solver *s, const attempt *a)
{
    hardship *g = &s->run.gmres;
    if (!solver_iterates(s) || a->status != ATTEMPT_CONVERGENCE) return false;
    if (s->bound.matrix.unmet == g->unmet) return false; /* it is Newton's iteration that failed */
    g->failures += FORGIVEN;
    return g->failures >= MOST_FAILURES * FORGIVEN;
}

void gmres_note_step(dae_solver *s)
{
    if (s->run.gmres.failures > 0) s->run.gmres.failures--;
}

/* Operations of one iteration: a product and a solve with the pattern, orthogonalisation against
 * half of 20 vectors, and what belongs to scaling them */
static double iteration_work(const iteration *it)
{
    return 4.0 * (double)it->jac.layout.count + 80.0 * it->krylov.n;
}

bool gmres_is_slow(dae_solver *s)
{
    hardship *g = &s->run.gmres;
    if (!solver_iterates(s) || s->stats.steps < g->steps + COMPARED_STEPS) return false;
    const double iterated = (double)(s->stats.linear_iterations - g->iterations);
    const double factored =
        fmax(LEAST_FACTORINGS, (double)(s->stats.factorisations - g->factorings));
    g->steps = s->stats.steps;
    g->iterations = s->stats.linear_iterations;
    g->factorings = s->stats.factorisations;
    return factored * s->factor_work < MUCH_LESS * iterated * iteration_work(&s->bound.matrix);
}

bool gmres_failed(const dae_solver *s, dae_status failed)
{
    return solver_iterates(s) && (failed == DAE_ERR_CONVERGENCE || failed == DAE_ERR_ERROR_TEST);
}

dae_status gmres_replace(dae_solver *s, const char *what)
{
    char text[300];
    snprintf(text, sizeof text,
             "note: gmres %s at t = %.6g: matrices are factored from there on (--linear-solver "
             "sparse does so from the start).",
             what, s->run.t);
    solver_note(s, text);
    snprintf(s->reason, sizeof s->reason, "gmres %s, so ", what);
    return change_method(s, s->reason);
}

/* ---- a method of another family ---- */

/* Families that have failed where the run stands, with that of the method at work. */
static unsigned failed_families(const dae_solver *s)
{
    const unsigned before = s->run.fallback.from[0] ? s->wishes.failed : 0;
    return before | s->run.stalled | family_bit(family_of(s->bound.method));
}

/* So many attempts has another method at least, where the run has just begun: a first step of bdf
 * that is small enough for anything grows to the usual size in some dozens. */
enum { LEAST_ATTEMPTS = 200 };

/* The method at work has failed in a step from t_new: what the next one may cost. It has got over
 * the trouble where it has come beyond the step that failed. */
static void fallback_open(dae_solver *s, dae_status failed)
{
    const long spent = s->stats.attempts;
    s->run.fallback =
        (fallback){.t = s->run.t_new,
                   .beyond = s->run.t_new + s->run.tried,
                   .attempts = spent + (spent > LEAST_ATTEMPTS ? spent : LEAST_ATTEMPTS),
                   .failed = failed};
    snprintf(s->run.fallback.from, sizeof s->run.fallback.from, "%s", s->bound.method->name);
}

void fallback_note_step(dae_solver *s)
{
    fallback *f = &s->run.fallback;
    if (f->from[0] && (s->run.t_new - f->beyond) * s->run.direction >= 0.0) f->from[0] = 0;
}

bool fallback_is_spent(const dae_solver *s)
{
    const fallback *f = &s->run.fallback;
    return f->from[0] && s->stats.attempts >= f->attempts;
}

dae_status fallback_explain(dae_solver *s, dae_status failed)
{
    const fallback *f = &s->run.fallback;
    if (!f->from[0] || failed >= 0) return failed;
    diag_append(&s->diag,
                " Of auto's methods %s had failed from t = %.9g on, and %s was tried there.",
                f->from, f->t, s->bound.method->name);
    return failed;
}

dae_status fallback_explain_spent(dae_solver *s)
{
    const fallback *f = &s->run.fallback;
    s->diag.t = s->run.t_new;
    return diag_set(&s->diag, f->failed,
                    "Method %s failed at t = %.9g, and %s, which was tried from there, has come no "
                    "further than t = %.9g in as many attempts as the run had taken before.",
                    f->from, f->t, s->bound.method->name, s->run.t_new);
}

bool change_may_help(const dae_solver *s, dae_status failed)
{
    if (gmres_failed(s, failed)) return true;
    const family mine = family_of(s->bound.method), left = family_left(failed_families(s));
    if (!s->wishes.open || left == FAMILY_COUNT) return false;
    if (s->wishes.formulation->needs) return false; /* by this method and no other */
    bool refused = declares_index3(s->base) && !s->base_options.multiplier_correction; /* by bdf */
    if (left == FAMILY_STEPS && refused) return false;
    if (failed == DAE_ERR_UNSUPPORTED && s->run.last.invariant > 0) return false; /* it is none */
    if (failed == DAE_ERR_STIFF) return mine != FAMILY_STEPS;
    if (failed == DAE_ERR_STALL) return true;
    if (mine != FAMILY_FORMS && fabs(s->run.last.h) <= ROUNDING * fabs(s->run.t_new)) return false;
    /* what has no value, as exponentials far from the solution, may lie on the way of one alone */
    if (failed == DAE_ERR_EVALUATION) return mine != FAMILY_FORMS;
    return failed == DAE_ERR_SINGULAR || failed == DAE_ERR_CONVERGENCE ||
           failed == DAE_ERR_ERROR_TEST || failed == DAE_ERR_UNSUPPORTED;
}

/* Bound anew, at the values of the user's unknowns where the solver stands. */
static dae_status begin_model_again(dae_solver *s)
{
    dae_status status = forget_modes(s);
    return status == DAE_OK ? hybrid_begin_again(s) : status;
}

static dae_status begin_callbacks_again(dae_solver *s)
{
    const size_t n = (size_t)s->base->form.n;
    double *values = user_values(s), t = s->run.t;
    if (!values) return diag_set(&s->diag, DAE_ERR_MEMORY, "Out of memory for %d values.", (int)n);
    dae_status status = bind_callbacks(s, &s->diag);
    if (status == DAE_OK) {
        values_from_user(s, values, values + n);
        status = solver_begin(s, t, s->bound.options.init);
    }
    dae_free(values);
    return status;
}

dae_status change_family(dae_solver *s, dae_status failed)
{
    const char *reason = family_failed(family_of(s->bound.method));
    const unsigned families = failed_families(s);
    fallback_open(s, failed);
    s->wishes.failed = families;
    return change_method(s, reason);
}

dae_status change_stalled(dae_solver *s)
{
    s->run.stalled |= family_bit(family_of(s->bound.method));
    return change_method(s, "steps without progress, so ");
}

dae_status change_method(dae_solver *s, const char *reason)
{
    double direction = s->run.direction;
    if (s->bound.matrix.matrix_free)
        s->wishes.iterative = false; /* factors, dear as they are */
    else
        s->wishes.failed = failed_families(s);
    s->wishes.implicit = true;
    s->wishes.reason = reason;
    if (s->run.phase == PHASE_RUNNING) {
        solver_interpolate(s, s->run.t, 0, s->bound.y);
        solver_interpolate(s, s->run.t, 1, s->bound.yp);
    }
    diag_clear(&s->diag);
    dae_status status = s->hybrid ? begin_model_again(s) : begin_callbacks_again(s);
    s->run.direction = direction;
    return status;
}

/* ---- back to a point before a problem proved stiff ---- */

/* Fast modes grow within some steps, and are seen when they lead the error: as many steps lie
 * between two points that are kept. */
enum { STEPS_BETWEEN = 25 };

static bool may_go_back(const dae_solver *s)
{
    bool explicit_one = method_needs_form(s->bound.method) || s->bound.method->long_steps;
    /* events that were reported would be found again */
    bool silent = s->hybrid || s->base->form.event_count == 0;
    if (s->hybrid && s->hybrid->delays) return false; /* what was before is forgotten */
    return s->wishes.open && !s->wishes.implicit && explicit_one && silent;
}

static void keep_values(dae_solver *s, int k, double t, const double *y, const double *yp)
{
    const size_t n = (size_t)s->base->form.n;
    double *values = s->run.past.values + (size_t)k * 2 * n;
    values_to_user(s, t, y, yp, values, values + n);
    s->run.past.t[k] = t;
}

void keep_start(dae_solver *s)
{
    if (!may_go_back(s)) return;
    for (int k = 0; k < 2; k++) keep_values(s, k, s->run.t, s->bound.y, s->bound.yp);
    s->run.past.step = s->stats.steps;
}

void keep_point(dae_solver *s)
{
    past_points *p = &s->run.past;
    bool due = s->stats.steps >= p->step + STEPS_BETWEEN && s->run.stiffness.stiff == 0;
    if (!due || !may_go_back(s)) return;
    vector_copy(2 * s->base->form.n, p->values + 2 * s->base->form.n, p->values);
    p->t[0] = p->t[1];
    keep_values(s, 1, s->run.t_new, s->run.last.y, s->run.last.yp);
    p->step = s->stats.steps;
}

dae_status change_stiff_method(dae_solver *s, const char *reason)
{
    const double *y = s->run.past.values;
    if (may_go_back(s)) {
        s->run.shown = s->run.t;
        s->run.t = s->run.past.t[0];
        values_from_user(s, y, y + s->base->form.n);
        s->run.phase = PHASE_READY;
    }
    s->run.stall = (stall){.t0 = s->run.stall.t0};
    return change_method(s, reason);
}

dae_status reset_method(dae_solver *s)
{
    bool other = s->wishes.open && (s->wishes.implicit || s->wishes.failed);
    const bool iterative = s->why_linear[0] != '\0';
    other = other || iterative != s->wishes.iterative;
    s->wishes.implicit = false;
    s->wishes.failed = 0;
    s->run.fallback = (fallback){0};
    s->run.stalled = 0;
    s->wishes.iterative = iterative;
    s->wishes.reason = "";
    s->run.gmres = (hardship){.steps = s->stats.steps,
                              .iterations = s->stats.linear_iterations,
                              .factorings = s->stats.factorisations};
    /* plans of a model are for its parameters, and for values near those that they were made at */
    if (s->hybrid) return forget_modes(s);
    return other ? bind_callbacks(s, &s->diag) : DAE_OK;
}
