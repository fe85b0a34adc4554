/* Values between the ends of a step: is the interpolant good enough for them? Where it is not, a
 * second run of the same method, with state and matrices of its own, goes from the beginning of the
 * step to the place that is asked for, by steps whose interpolant is. */
#include "solve/watch/refine.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"
#include "method/common/stages.h"
#include "solve/explain/explain.h"
#include "solve/watch/watch.h"

/* Where interpolants are looked at: no two of the places are close to nodes of one method. */
static const double LOOKS[] = {0.1, 0.381966011250105, 0.81};
enum { LOOK_COUNT = sizeof LOOKS / sizeof *LOOKS };

/* In tolerances: what an interpolant may be wrong by, and what it may be where nothing better can
 * be had. The contract is 10. */
static const double TRUSTED = 0.7, TOLERATED = 3.0;

/* Beyond so many tolerances values between steps are told as doubtful. */
static const double DOUBTFUL = 10.0;

/* Ends of steps may be off by 100 tolerances (docs/testing.md); two runs that end farther apart
 * follow different solutions. */
static const double ELSEWHERE = 100.0;
/* Where they end nearer to each other than this part of what the interpolant is off by inside of
 * the step, the second run is the better one of the two. */
static const double PART_ASTRAY = 0.1;

/* The shift cj h of matrices that are made for the check: errors of an interpolant are h times its
 * defect, times a quarter or less. Smaller ones would hide the defect of slow variables. */
static const double SHIFT = 4.0;

/* Errors of interpolation fall with the step at least as it does, once it resolves the solution.
 * What falls by less, where the step is halved again and again, is no such error: a variable jumps,
 * or noise is all that is left. A large one takes longer to tell, unless there are velocities:
 * first steps from values that do not meet their hidden constraints exactly have errors of this
 * kind. */
static const double STALLED = 0.75, LARGE = 50.0;
enum { STALLS = 2, STALLS_LARGE = 5 };

/* Parts of the step below which nothing is asked of a step any more: the width of a jump. */
static const double NARROW = 1e-10;
enum { MOST_STEPS = 1000 };
/* So many steps of the second run for one place show that the solver's step passes over something
 * fast, which a step that ends at the place may pass over as well. */
enum { CROWDED = 50 };

/* Of smooth output: slopes that differ change values by a part 1 / (BEND e) of the tolerance. */
static const double BEND = 2.0;

/* A second run through the last step of the solver. */
struct refiner {
    owned_part part;
    const method *method;
    evaluator eval;
    iteration matrix; /* of the method */
    iteration check;  /* of the check, where those of the method do not serve */
    error_norm norm;
    newton newton;
    method_context context;
    void *state, *scratch;
    void *before; /* the state before the step that is looked at */
    size_t state_size;
    step_control control;
    double *y, *yp, *f;
    double t_old, t_new; /* its own last step */
    double judged;       /* error of the last interpolant that was sent back; INFINITY: none */
    int stalls;          /* how often it has not fallen with the step */
    bool exempt;         /* algebraic variables that stall are left out within this step */
    double *gap,
        *gap_slope; /* of the solver's step beyond its own, at the end; for smooth output */
    long of;        /* the step of the solver that it is in; 0: none */
    long crowded;   /* the step in which steps end at the places asked for; 0: none */
    long noisy;     /* the step in which errors did not fall with its own steps, */
    long weighed;   /* and the one in which rounding was looked at for that */
    long stubborn;  /* the step in which such steps fail */
    long followed;  /* the step whose end it was compared with, */
    double astray;  /* and how far from that it ends, in tolerances */
    long hopeless;  /* the step in which nothing but one step to the place does not fail, .. */
    double behind;  /* .. for places from here on */
};

/* ---- how wrong an interpolant is --------------------------------------------------------------
 */

/* The reciprocal weight of variable j in the check; 0: it does not count. Not those that have left
 * the error test because they jump, nor added multipliers (what a formulation keeps from the error
 * test, and its equations determine, counts: the user sees it). Multipliers of index 2 and 3 count
 * as others do where the method makes them as accurate, with h and h^2 on forms with velocities, as
 * in the error test [HLR89 7], and else not at all: there a shorter step makes them worse, not
 * better, and they are as good between the ends of a step as there. */
static double weight_of(const error_norm *norm, const method *m, int j)
{
    bool algebraic = norm->kinds && norm->kinds[j] == DAE_KIND_INDEX1;
    if (norm->exempt[j] > 0 || (norm->hidden && norm->hidden[j] && !algebraic)) return 0.0;
    bool higher = norm->kinds && norm->kinds[j] >= DAE_KIND_INDEX2;
    if (!higher || m->sharp_multipliers) return norm->scale[j];
    return method_needs_form(m) ? norm->newton[j] : 0.0;
}

/* The largest part of v in tolerances. */
static double largest(const error_norm *norm, const method *m, const double *v)
{
    double most = 0.0;
    for (int j = 0; j < norm->n; j++) {
        double weight = weight_of(norm, m, j), size = weight > 0.0 ? fabs(v[j]) * weight : 0.0;
        if (!(size <= most)) most = isnan(size) ? INFINITY : size;
    }
    return most;
}

/* Methods of second order have factors of their own; those at hand are older than the step. */
static bool serves(const method *m, const iteration *it)
{
    return !(m->forms & FORM_SECOND_ORDER) && it->factored && !it->by_columns && !it->matrix_free;
}

/* f = (dF/dy + cj dF/dy')^-1 F(t, y, y'): Newton's correction, which tells how far y is from a
 * solution of stiff and algebraic equations, and h times the defect of the others */
static eval_status correction(evaluator *eval, iteration *it, double t, const double *y,
                              const double *yp, double *f)
{
    const eval_failure failure = eval->failure;
    eval_status status = evaluate_residual(eval, t, y, yp, f, &eval->stats->residuals);
    if (status != EVAL_STOP) eval->failure = failure;
    if (status != EVAL_OK) return status;
    return iteration_solve(it, NULL, f) == ITERATION_OK ? EVAL_OK : EVAL_RETRY;
}

/* A step of a method, to be looked at. */
typedef struct looked {
    const method *method;
    const void *state;
    const method_context *context;
    double from, h;
    double *y, *yp, *f; /* work */
} looked;

/* The correction at t; INFINITY where F does not exist, or cannot be solved. */
static eval_status look_at(const looked *at, evaluator *eval, iteration *it, const error_norm *norm,
                           double t, double *error)
{
    double scale = fmax(1.0, fabs(it->cj * at->h) / SHIFT);
    at->method->interpolate(at->state, at->context, t, 0, at->y);
    at->method->interpolate(at->state, at->context, t, 1, at->yp);
    stages_clamp(&eval->problem->form, at->y);
    eval_status status = correction(eval, it, t, at->y, at->yp, at->f);
    if (status == EVAL_STOP) return status;
    *error = status == EVAL_OK ? scale * largest(norm, at->method, at->f) : INFINITY;
    return EVAL_OK;
}

/* The largest correction over all places. */
static eval_status look(const looked *at, evaluator *eval, iteration *it, const error_norm *norm,
                        double *error)
{
    *error = 0.0;
    for (int k = 0; k < LOOK_COUNT && *error <= TRUSTED; k++) {
        double here;
        if (look_at(at, eval, it, norm, at->from + LOOKS[k] * at->h, &here) == EVAL_STOP)
            return EVAL_STOP;
        *error = fmax(*error, here);
    }
    return EVAL_OK;
}

/* Matrices of the check, at the middle of the step. */
static bool make_check(refiner *r, const looked *at, const error_norm *norm)
{
    const double t = at->from + 0.5 * at->h, cj = SHIFT / at->h;
    const eval_failure failure = r->eval.failure;
    at->method->interpolate(at->state, at->context, t, 0, r->y);
    at->method->interpolate(at->state, at->context, t, 1, r->yp);
    stages_clamp(&r->eval.problem->form, r->y);
    bool ok = iteration_evaluate(&r->check, t, r->y, r->yp, cj, at->h, norm->weights, NULL) ==
                  ITERATION_OK &&
              iteration_factor(&r->check, cj, NULL) == ITERATION_OK;
    r->eval.failure = failure;
    return ok;
}

/* How wrong the interpolant of a step is, in tolerances, with the factors `it` if they serve. */
static eval_status judge(refiner *r, const looked *at, iteration *it, const error_norm *norm,
                         double *error)
{
    *error = INFINITY;
    if (serves(at->method, it)) return look(at, &r->eval, it, norm, error);
    if (r->check.matrix_free || !make_check(r, at, norm)) return EVAL_OK;
    return look(at, &r->eval, &r->check, norm, error);
}

/* ---- making one --------------------------------------------------------------------------------
 */

static void refiner_free(void *self)
{
    refiner *r = self;
    if (r->context.cache) r->method->cache_free(r->context.cache);
    newton_free(&r->newton);
    iteration_free(&r->check);
    iteration_free(&r->matrix);
    norm_free(&r->norm);
    dae_free_all(r->state, r->scratch, r->before, r->y, r);
}

static void drop_refiner(dae_solver *s)
{
    part_free(s->bound.refiner);
    s->bound.refiner = NULL;
}

/* What belongs to the method, with everything that it changes its own. */
static bool refiner_fill(refiner *r, const dae_solver *s)
{
    r->part.free = refiner_free;
    const size_t n = (size_t)s->bound.n;
    size_t scratch;
    r->method = s->bound.method;
    r->eval = s->bound.eval;
    method_size(r->method, s->bound.n, &r->state_size, &scratch);
    r->state = dae_calloc(1, r->state_size);
    r->before = dae_calloc(1, r->state_size);
    r->scratch = dae_calloc(1, scratch);
    r->y = DAE_ARRAY(double, (s->bound.context.smooth ? 5 : 3) * n);
    if (!r->state || !r->before || !r->scratch || !r->y) return false;
    r->yp = r->y + n;
    r->f = r->yp + n;
    if (s->bound.context.smooth) r->gap = r->f + n, r->gap_slope = r->gap + n;
    if (!norm_new(&r->norm, s->bound.n, &s->bound.options) ||
        iteration_new(&r->matrix, &r->eval, &s->bound.options, NULL) != DAE_OK ||
        iteration_new(&r->check, &r->eval, &s->bound.options, NULL) != DAE_OK ||
        !newton_new(&r->newton, &r->eval, &r->matrix, &r->norm, &s->bound.options))
        return false;
    norm_classify(&r->norm, s->bound.kinds, s->bound.context.error_test);
    r->norm.hidden = s->bound.norm.hidden;
    norm_follow(&r->norm, s->bound.norm.tighten, s->bound.norm.followers);
    r->context = s->bound.context;
    r->context.eval = &r->eval;
    r->context.newton = &r->newton;
    r->context.norm = &r->norm;
    r->context.fixed_steps = r->context.look_at_stability = false;
    r->context.cache = r->method->cache_new ? r->method->cache_new(&r->context) : NULL;
    return !r->method->cache_new || r->context.cache;
}

static refiner *refiner_of(dae_solver *s)
{
    if (s->bound.refiner && s->bound.refiner->method != s->bound.method) drop_refiner(s);
    if (s->bound.refiner) return s->bound.refiner;
    s->bound.refiner = DAE_NEW(refiner);
    if (s->bound.refiner && !refiner_fill(s->bound.refiner, s)) drop_refiner(s);
    return s->bound.refiner;
}

void refine_note_start(dae_solver *s)
{
    step_start *at = &s->bound.step_start;
    at->judged = false;
    if (!s->bound.method->rough_between) return;
    s->bound.method->interpolate(s->bound.state, &s->bound.context, s->run.t_new, 0, at->y);
    s->bound.method->interpolate(s->bound.state, &s->bound.context, s->run.t_new, 1, at->yp);
}

/* ---- the second run ----------------------------------------------------------------------------
 */

/* Begin where the last step of the solver does. */
static void begin(refiner *r, const dae_solver *s)
{
    const step_start *from = &s->bound.step_start;
    const double way = s->run.t_new - s->run.t_old;
    double part = fmax(0.1, fmin(0.5, pow(TRUSTED / from->error, 0.25)));
    start_point at = {.t = s->run.t_old, .h = part * way, .y = from->y, .yp = from->yp};
    if (r->exempt) norm_classify(&r->norm, s->bound.kinds, s->bound.context.error_test);
    r->exempt = s->bound.norm.exempt_count > 0; /* what jumps in the step does so here */
    for (int j = 0; r->exempt && j < s->bound.n; j++)
        if (s->bound.norm.exempt[j] > 0) norm_exempt(&r->norm, j, INT_MAX);
    r->norm.floor = s->bound.norm.floor;
    norm_update(&r->norm, s->run.t_old, from->y);
    r->norm.reach = fabs(way); /* multipliers are as accurate as those of the step */
    newton_reset(&r->newton);
    r->method->start(r->state, r->scratch, &r->context, &at);
    int order = method_run_order(r->method, &s->bound.options);
    control_start_one_step(&r->control, at.h, order, &s->bound.options);
    r->control.fixed = false;
    r->t_old = r->t_new = s->run.t_old;
    r->judged = INFINITY;
    r->stalls = 0;
    r->of = s->stats.steps;
}

void refine_persist(dae_solver *s, persist *p)
{
    const bool made = s->bound.refiner && s->bound.refiner->method == s->bound.method;
    if (!persist_flag(p, made)) return;
    refiner *r = p->reading ? refiner_of(s) : s->bound.refiner;
    if (!r) p->no_memory = true;
    if (!persist_ok(p)) return;
    if (p->reading) begin(r, s); /* vectors come to their places */
    PERSIST_STRUCT(p, r, GAPS(refiner, part, state_size), GAPS(refiner, y, f),
                   GAPS(refiner, gap, gap_slope));
    persist_block(p, r->y);
    iteration_persist(&r->matrix, p);
    iteration_persist(&r->check, p);
    newton_persist(&r->newton, p);
    norm_persist(&r->norm, p);
    if (p->reading) r->norm.floor = s->bound.norm.floor;
    if (r->context.cache && r->method->cache_persist)
        r->method->cache_persist(r->context.cache, &r->context, p);
    method_persist(&r->context, r->state, r->scratch, p);
}

/* Whether an error, in tolerances, does not fall with the step. */
static bool stalls(refiner *r, double error)
{
    r->stalls += error > STALLED * r->judged;
    r->judged = error;
    bool soon = method_needs_form(r->method) && r->norm.newton != r->norm.scale;
    return r->stalls >= (error > LARGE && !soon ? STALLS_LARGE : STALLS);
}

/* Where errors stall that are those of algebraic variables, as of a difference over a small number,
 * which magnifies what states are uncertain by: these are left out, and states that are off go on.
 * False: there are none, or no states. */
static bool exempt_algebraic(refiner *r)
{
    double states = 0.0, others = 0.0;
    for (int j = 0; j < r->norm.n; j++) {
        double size = fabs(r->f[j]) * weight_of(&r->norm, r->method, j);
        double *most = r->norm.kinds[j] == DAE_KIND_DIFFERENTIAL ? &states : &others;
        *most = fmax(*most, size);
    }
    if (!(states > TRUSTED) || !(others > TRUSTED)) return false;
    for (int j = 0; j < r->norm.n; j++)
        if (r->norm.kinds[j] == DAE_KIND_INDEX1 &&
            fabs(r->f[j]) * weight_of(&r->norm, r->method, j) > TRUSTED)
            norm_exempt(&r->norm, j, INT_MAX);
    r->judged = INFINITY;
    r->stalls = 0;
    r->noisy = r->of;
    return r->exempt = true;
}

/* Commit the attempt if its interpolant is good enough, too, or nothing else can be had; else its
 * error is that of the interpolant. A step that is `narrow` has nothing to interpolate. */
static eval_status accept(refiner *r, attempt *a, bool narrow, bool *accepted)
{
    double error = 0.0;
    memcpy(r->before, r->state, r->state_size);
    r->method->accept(r->state, r->scratch, &r->context);
    looked at = {r->method, r->state, &r->context, a->t, a->h, r->y, r->yp, r->f};
    eval_status status = narrow ? EVAL_OK : judge(r, &at, &r->matrix, &r->norm, &error);
    *accepted =
        status == EVAL_OK && (error <= TRUSTED || (stalls(r, error) && !exempt_algebraic(r)));
    if (!*accepted) {
        memcpy(r->state, r->before, r->state_size);
        a->error = fmin(fmax(error / TRUSTED, 1.0), 1e4);
        a->next_factor = fmin(0.5, pow(a->error, -1.0 / a->order));
        return status;
    }
    r->judged = INFINITY;
    r->stalls = 0;
    r->t_old = r->t_new;
    r->t_new = a->t + a->h;
    norm_update(&r->norm, r->t_new, a->y);
    control_accept(&r->control, a);
    return status;
}

/* The next step towards `end`; one that nearly reaches it is stretched or halved. */
static double next_step(const refiner *r, double end)
{
    double rest = end - r->t_new, h = r->control.h;
    if (fabs(h) >= fabs(rest) * (1.0 - 1e-9)) return rest;
    return fabs(h) > 0.5 * fabs(rest) ? 0.5 * rest : h;
}

static dae_status out_of_memory(dae_solver *s)
{
    return diag_set(&s->diag, DAE_ERR_MEMORY, "Out of memory for an output.");
}

/* The variable that the interpolant of the last step has farthest from the equations at t, and how
 * far, in tolerances; -1: it cannot be told. */
static int worst_between(refiner *r, dae_solver *s, double t, double *size)
{
    looked at = {s->bound.method,
                 s->bound.state,
                 &s->bound.context,
                 s->run.t_old,
                 s->run.t_new - s->run.t_old,
                 r->y,
                 r->yp,
                 r->f};
    if (binding_uses_forms(&s->bound) || r->check.matrix_free ||
        !make_check(r, &at, &s->bound.norm))
        return -1;
    solver_interpolate(s, t, 0, r->y);
    solver_interpolate(s, t, 1, r->yp);
    if (correction(&r->eval, &r->check, t, r->y, r->yp, r->f) != EVAL_OK) return -1;
    int variable = vector_argmax(s->bound.n, r->f, s->bound.norm.scale);
    *size = fabs(r->f[variable]) * s->bound.norm.scale[variable];
    return variable;
}

/* Which callback has no value within the last step of the solver. */
static dae_status explain_no_callback(refiner *r, dae_solver *s)
{
    dae_status status = evaluator_report(&r->eval, EVAL_RETRY, &s->diag);
    diag_append(&s->diag,
                " Values within the step [%.9g, %.9g] cannot be computed to the tolerances without "
                "it.",
                s->run.t_old, s->run.t_new);
    return explain_growth(s, status);
}

/* No step from t on within the last step of the solver is good enough. */
static dae_status explain_nowhere(refiner *r, dae_solver *s, double t, const attempt *a)
{
    bool evaluation = a->status == ATTEMPT_EVALUATION;
    if (evaluation && !s->hybrid && r->eval.failure.callback) return explain_no_callback(r, s);
    double size = 0.0;
    int variable = evaluation ? -1 : worst_between(r, s, t, &size);
    dae_status status = diag_set(
        &s->diag, evaluation ? DAE_ERR_EVALUATION : DAE_ERR_CONVERGENCE,
        "Values within the step [%.9g, %.9g] cannot be computed to the tolerances: %s "
        "at t = %.9g with every step size down to h = %.2g%s%s.",
        s->run.t_old, s->run.t_new, evaluation ? "the equations have no value" : "the method fails",
        t, a->h, a->reason ? ": it " : "", a->reason ? a->reason : "");
    s->diag.t = t;
    s->diag.h = a->h;
    if (variable >= 0 && size > TRUSTED) {
        diag_variable(&s->diag, variable, problem_variable(s->bound.problem, variable));
        diag_append(
            &s->diag, " Variable %s (%s) is off by %.2g tolerances there.", s->diag.variable_name,
            s->bound.kinds[variable] == DAE_KIND_DIFFERENTIAL ? "differential" : "algebraic", size);
    }
    if (s->hybrid && s->hybrid->instance->array) explain_array(s);
    diag_append(&s->diag, " Limit the steps (max_step, --max-step), or choose another method, such "
                          "as bdf, or rodas.");
    return explain_growth(s, status);
}

/* A callback asked to stop. */
static dae_status stopped(const refiner *r, dae_solver *s)
{
    s->bound.eval.failure = s->stop.code < 0 ? s->stop : r->eval.failure;
    return explain_evaluation(s, EVAL_STOP);
}

/* Failures of a step after which rounding is looked at. */
enum { SUSPICIOUS = 4 };

/* Whether steps fail since nothing but rounding determines some variables, which are held now. */
static bool goes_on_held(refiner *r, dae_solver *s)
{
    r->method->interpolate(r->state, &r->context, r->t_new, 0, r->y);
    r->method->interpolate(r->state, &r->context, r->t_new, 1, r->yp);
    if (!undetermined_within(s, r->t_new, r->y, r->yp)) return false;
    const double h = 0.1 * (s->run.t_new - s->run.t_old);
    (void)iteration_evaluate(&r->matrix, r->t_new, r->y, r->yp, 1.0 / h, h, r->norm.weights, NULL);
    newton_reset(&r->newton);
    r->control.h = h;
    r->control.error_failures = r->control.other_failures = 0;
    return true;
}

/* One accepted step towards `end`; its interpolant is looked at unless nobody asks for it. */
static dae_status one_step(refiner *r, dae_solver *s, double end, bool looked_at)
{
    attempt a;
    for (int failures = 1;; failures++) {
        if (s->bound.options.interrupt && s->bound.options.interrupt(s->bound.options.user) != 0)
            return explain_interrupt(s);
        double h = next_step(r, end), least = NARROW * fabs(s->run.t_new - s->run.t_old);
        bool narrow = fabs(h) <= least || r->t_new + h == r->t_new, accepted = false;
        newton_guard guard;
        newton_guard_open(&r->newton, &guard);
        r->method->attempt(r->state, r->scratch, &r->context, h, r->control.order, &a);
        if (newton_guard_close(&r->newton, &guard)) return explain_interrupt(s);
        if (a.status == ATTEMPT_STOP || s->stop.code < 0) return stopped(r, s);
        bool passed = a.status == ATTEMPT_OK &&
                      (a.error <= 1.0 || narrow || (looked_at && stalls(r, TRUSTED * a.error)));
        if (passed && accept(r, &a, narrow || !looked_at, &accepted) == EVAL_STOP)
            return stopped(r, s);
        if (accepted) return DAE_OK;
        if (a.status == ATTEMPT_MEMORY) return out_of_memory(s);
        if (failures == SUSPICIOUS && goes_on_held(r, s)) continue;
        if (narrow || a.status >= ATTEMPT_UNSUPPORTED) return explain_nowhere(r, s, r->t_new, &a);
        control_reject(&r->control, &a);
    }
}

/* Steps up to t; they are left where there are so many of them that others are tried. */
static dae_status advance(refiner *r, dae_solver *s, double t)
{
    const double direction = s->run.t_new > s->run.t_old ? 1.0 : -1.0;
    for (int k = 0; (t - r->t_new) * direction > 0.0; k++) {
        if (k == CROWDED && !r->gap && r->stubborn != s->stats.steps) {
            r->crowded = r->noisy = s->stats.steps;
            return DAE_OK;
        }
        dae_status status = k < MOST_STEPS ? one_step(r, s, s->run.t_new, true)
                                           : explain_nowhere(r, s, t, &(attempt){0});
        if (status == DAE_OK) continue;
        r->of = 0;
        return status;
    }
    return DAE_OK;
}

/* Smooth output meets the ends of the solver's steps, slopes included: how far apart both runs are
 * at the end. */
static dae_status find_gap(refiner *r, dae_solver *s)
{
    dae_status status = advance(r, s, s->run.t_new);
    if (status != DAE_OK) return status;
    solver_interpolate(s, s->run.t_new, 0, r->gap);
    solver_interpolate(s, s->run.t_new, 1, r->gap_slope);
    r->method->interpolate(r->state, &r->context, s->run.t_new, 0, r->y);
    r->method->interpolate(r->state, &r->context, s->run.t_new, 1, r->yp);
    vector_axpy(s->bound.n, -1.0, r->y, r->gap);
    vector_axpy(s->bound.n, -1.0, r->yp, r->gap_slope);
    begin(r, s);
    return DAE_OK;
}

/* at_y, at_yp += what is 0 with slope 0 where the step begins, and the gap at its end. Slopes of
 * algebraic variables may be far off there: they bend the curve so near to the end that its values
 * do not feel it, h x^m (1 - x) being h / (m e) at most. */
static void close_gap(const refiner *r, dae_solver *s, double t)
{
    const double h = s->run.t_new - s->run.t_old, x = (t - s->run.t_old) / h;
    const double m = fmax(2.0, BEND * fabs(h) * largest(&r->norm, r->method, r->gap_slope));
    const double bend = pow(x, m - 1.0);
    vector_axpy(s->bound.n, x * x * (3.0 - 2.0 * x), r->gap, s->bound.at_y);
    vector_axpy(s->bound.n, bend * x * (x - 1.0) * h, r->gap_slope, s->bound.at_y);
    vector_axpy(s->bound.n, 6.0 * x * (1.0 - x) / h, r->gap, s->bound.at_yp);
    vector_axpy(s->bound.n, bend * ((m + 1.0) * x - m), r->gap_slope, s->bound.at_yp);
}

/* ---- methods on other forms --------------------------------------------------------------------
 * There is no F to look at them with: steps to places inside the step tell how wrong the
 * interpolant is, and where it is, values are those at the ends of such steps. */

/* The second run by steps that end at t: as far from the beginning of the step as t is. */
static dae_status run_exactly_to(refiner *r, dae_solver *s, double t)
{
    begin(r, s);
    r->of = 0; /* nothing to go on from */
    r->control.h = t - s->run.t_old;
    for (int k = 0; r->t_new != t && k < MOST_STEPS; k++) {
        dae_status status = one_step(r, s, t, false);
        if (status != DAE_OK) return status;
        if (fabs(r->t_new - t) <= 4.0 * DBL_EPSILON * fabs(t)) return DAE_OK;
    }
    return r->t_new == t ? DAE_OK : explain_nowhere(r, s, t, &(attempt){0});
}

/* The second run, up to t; *end: its values are those where it ends. */
static dae_status run_to(refiner *r, dae_solver *s, double t, bool *end)
{
    const double direction = s->run.t_new > s->run.t_old ? 1.0 : -1.0;
    const long step = s->stats.steps;
    dae_status status = DAE_OK;
    if (r->crowded != step) {
        bool anew = r->of != step, behind = (t - r->t_old) * direction < 0.0;
        if (anew || behind) begin(r, s);
        if (anew && r->gap) status = find_gap(r, s);
        if (status == DAE_OK) status = advance(r, s, t);
        if (r->crowded != step) return status;
    }
    *end = true;
    status = run_exactly_to(r, s, t);
    if (status != DAE_ERR_CONVERGENCE && status != DAE_ERR_EVALUATION) return status;
    *end = false;
    diag_clear(&s->diag);
    r->crowded = 0;
    r->stubborn = step;
    return run_to(r, s, t, end);
}

/* The distance of the interpolant from what steps to places inside give. */
static dae_status compare_step(refiner *r, dae_solver *s)
{
    /* more places: extrapolation methods have polynomials of high degree */
    static const double places[] = {0.1, 0.27, 0.44, 0.61, 0.78, 0.93};
    enum { PLACES = sizeof places / sizeof *places };
    step_start *at = &s->bound.step_start;
    at->error = 0.0;
    for (int k = 0; k < PLACES && at->error <= TRUSTED; k++) {
        double t = s->run.t_old + places[k] * (s->run.t_new - s->run.t_old);
        dae_status status = run_exactly_to(r, s, t);
        if (status != DAE_OK) return status;
        r->method->interpolate(r->state, &r->context, t, 0, r->y);
        s->bound.method->interpolate(s->bound.state, &s->bound.context, t, 0, r->f);
        vector_axpy(s->bound.n, -1.0, r->y, r->f);
        at->error = fmax(at->error, largest(&s->bound.norm, s->bound.method, r->f));
    }
    at->judged = true;
    return DAE_OK;
}

/* ---- whether it is the same solution -----------------------------------------------------------
 * Where the step went over something that shorter steps see, the second run follows another
 * solution than the one that goes on, and rows of both would be mixed. */

/* Shorter steps end elsewhere than the last step has: it is said once, with how far in tolerances.
 */
static void tell_astray(dae_solver *s, double size)
{
    char text[400];
    if (s->run.doubt_reported) return;
    s->run.doubt_reported = true;
    snprintf(text, sizeof text,
             "note: the step [%.9g, %.9g] may have passed over something fast: shorter steps end "
             "%.2g tolerances elsewhere. What follows goes on from the step as it was taken. Limit "
             "the steps (max_step, --max-step), or tighten "
             "the tolerance.",
             s->run.t_old, s->run.t_new, size);
    solver_note(s, text);
}

/* How far the second run is at t from y, in states that are in the error test, in tolerances. */
static double states_apart(refiner *r, const error_norm *norm, double t, const double *y)
{
    double most = 0.0;
    r->method->interpolate(r->state, &r->context, t, 0, r->y);
    for (int j = 0; j < norm->n; j++) {
        if (norm->kinds[j] != DAE_KIND_DIFFERENTIAL) continue;
        const double size = fabs(r->y[j] - y[j]) * weight_of(norm, r->method, j);
        if (!(size <= most)) most = isnan(size) ? INFINITY : size;
    }
    return most;
}

/* Weights of the larger ones of the values at both ends of the step: y may pass 0 at one of them.
 */
static void weigh_both_ends(refiner *r, dae_solver *s)
{
    const double *before = s->bound.step_start.y;
    solver_interpolate(s, s->run.t_new, 0, r->yp);
    for (int j = 0; j < s->bound.n; j++)
        if (fabs(before[j]) > fabs(r->yp[j])) r->yp[j] = before[j];
    norm_update(&r->norm, s->run.t_new, r->yp);
}

/* r->astray, by at least two steps of the second run to the end of the step; what cannot be
 * followed as far as that is as it is. */
static dae_status follow_to_end(refiner *r, dae_solver *s)
{
    const double end = s->run.t_new, direction = end > s->run.t_old ? 1.0 : -1.0;
    dae_status status = DAE_OK;
    begin(r, s);
    r->of = 0; /* places inside come after it */
    r->followed = s->stats.steps;
    r->astray = 0.0;
    for (int k = 0; status == DAE_OK && (end - r->t_new) * direction > 0.0; k++) {
        if (k == CROWDED) return DAE_OK;
        status = one_step(r, s, end, !binding_uses_forms(&s->bound));
    }
    if (status == DAE_ERR_CONVERGENCE || status == DAE_ERR_EVALUATION) {
        diag_clear(&s->diag);
        return s->stop.code < 0 ? stopped(r, s) : DAE_OK;
    }
    if (status != DAE_OK) return status;
    weigh_both_ends(r, s);
    solver_interpolate(s, end, 0, r->f);
    r->astray = states_apart(r, &r->norm, end, r->f);
    return DAE_OK;
}

/* *apart: the second run, which is at t now, is far from the interpolant there, in at_y, and ends
 * far from the step; it has to go to t again if it is not. */
static dae_status compare_ends(refiner *r, dae_solver *s, double t, bool *apart, bool *again)
{
    *apart = *again = false;
    const double apart_here = states_apart(r, &s->bound.norm, t, s->bound.at_y);
    if (!(apart_here > DOUBTFUL)) return DAE_OK;
    *again = r->followed != s->stats.steps;
    dae_status status = *again ? follow_to_end(r, s) : DAE_OK;
    *apart = r->astray > fmax(ELSEWHERE, PART_ASTRAY * apart_here);
    if (status == DAE_OK && *apart) tell_astray(s, r->astray);
    return status;
}

static dae_status refine_on_form(dae_solver *s, double t, bool *refined)
{
    refiner *r = refiner_of(s);
    if (!r) return out_of_memory(s);
    dae_status status = s->bound.step_start.judged ? DAE_OK : compare_step(r, s);
    if (status != DAE_OK || s->bound.step_start.error <= TRUSTED) return status;
    status = run_exactly_to(r, s, t);
    if (status != DAE_OK) return status;
    bool apart, again;
    status = compare_ends(r, s, t, &apart, &again);
    if (status == DAE_OK && !apart && again) status = run_exactly_to(r, s, t);
    if (status != DAE_OK || apart) return status;
    r->method->interpolate(r->state, &r->context, r->t_new, 0, s->bound.at_y);
    r->method->interpolate(r->state, &r->context, r->t_new, 1, s->bound.at_yp);
    *refined = true;
    return DAE_OK;
}

/* The last step of the run; s->bound.y and s->bound.yp are free during a run. */
static looked last_step(dae_solver *s)
{
    return (looked){s->bound.method,
                    s->bound.state,
                    &s->bound.context,
                    s->run.t_old,
                    s->run.t_new - s->run.t_old,
                    s->bound.y,
                    s->bound.yp,
                    s->bound.work};
}

/* How wrong the interpolant of the last step is; the second run is made for it only where the
 * factors of the step do not serve. */
static dae_status judge_step(dae_solver *s)
{
    step_start *at = &s->bound.step_start;
    looked last = last_step(s);
    eval_status status = EVAL_OK;
    if (at->judged) return DAE_OK;
    if (serves(s->bound.method, &s->bound.matrix))
        status = look(&last, &s->bound.eval, &s->bound.matrix, &s->bound.norm, &at->error);
    else if (refiner_of(s))
        status = judge(s->bound.refiner, &last, &s->bound.matrix, &s->bound.norm, &at->error);
    else
        return out_of_memory(s);
    at->judged = status == EVAL_OK;
    if (at->judged) return DAE_OK;
    if (!serves(s->bound.method, &s->bound.matrix))
        s->bound.eval.failure = s->bound.refiner->eval.failure;
    return explain_evaluation(s, status);
}

double refine_defect(dae_solver *s, double t)
{
    looked last = last_step(s);
    const bool own = serves(s->bound.method, &s->bound.matrix);
    refiner *r = own || binding_uses_forms(&s->bound) ? NULL : refiner_of(s);
    if (!own && (!r || r->check.matrix_free || !make_check(r, &last, &s->bound.norm)))
        return INFINITY;
    double error = INFINITY;
    (void)look_at(&last, own ? &s->bound.eval : &r->eval, own ? &s->bound.matrix : &r->check,
                  &s->bound.norm, t, &error);
    return error;
}

/* Of constraints that are met up to Newton's tolerance, velocities of an index-3 form inherit that
 * over h, whatever the step: such noise is no reason to fail. */
static bool has_index3(const dae_solver *s)
{
    for (int j = 0; j < s->bound.n; j++)
        if (s->bound.kinds[j] == DAE_KIND_INDEX3) return true;
    return false;
}

/* Values at t are not as good as asked for: it is said once, with the error in tolerances. */
static void tell_doubt(dae_solver *s, double t, double error)
{
    char text[400];
    if (s->run.doubt_reported) return;
    s->run.doubt_reported = true;
    snprintf(text, sizeof text,
             "note: values at t = %.9g, within the step [%.9g, %.9g], may be off by %.2g "
             "tolerances, and so may others between steps: no shorter step comes nearer. Values at "
             "the ends of steps (--interval 0) are not concerned; a looser tolerance, or another "
             "method or formulation, may be better.",
             t, s->run.t_old, s->run.t_new, error);
    solver_note(s, text);
}

/* One step to t itself, whatever its error test says: it is shorter than the one that has passed.
 * Without projections methods of second order leave velocities off their constraints, and shorter
 * first steps from these do not pass; nor do others pass where noise is above the tolerance. */
static bool whole_step_to(refiner *r, dae_solver *s, double t)
{
    attempt a;
    begin(r, s);
    r->of = 0;
    r->method->attempt(r->state, r->scratch, &r->context, t - s->run.t_old, r->control.order, &a);
    if (a.status != ATTEMPT_OK) return false;
    r->method->accept(r->state, r->scratch, &r->context);
    r->t_new = a.t + a.h;
    if (!(a.error <= DOUBTFUL)) tell_doubt(s, t, a.error);
    return true;
}

/* Shorter steps fail, for whatever reason: is the interpolant, in at_y, not that bad at t? */
static bool is_tolerable(refiner *r, dae_solver *s, double t)
{
    double size = INFINITY;
    if (worst_between(r, s, t, &size) < 0 || !(size <= TOLERATED)) return false;
    solver_interpolate(s, t, 0, s->bound.at_y);
    solver_interpolate(s, t, 1, s->bound.at_yp);
    return true;
}

/* The second run where steps with good interpolants cannot be made: steps that end at t, then one
 * step. *end: values are those where it ends. */
static dae_status run_otherwise(refiner *r, dae_solver *s, double t, dae_status failed, bool *end)
{
    const dae_diag why = s->diag;
    dae_status status = *end ? failed : run_exactly_to(r, s, t);
    *end = true;
    bool fails = status == DAE_ERR_CONVERGENCE || status == DAE_ERR_EVALUATION;
    if (status != DAE_OK && !fails) return status;
    if (fails && whole_step_to(r, s, t)) {
        r->hopeless = s->stats.steps; /* further places lie behind what these fail at */
        r->behind = t;
        status = DAE_OK;
    }
    s->diag = why;
    if (status != DAE_OK) return failed;
    diag_clear(&s->diag);
    return DAE_OK;
}

/* Whether multipliers of index 2 or 3 count as others do: their rounding errors are those of the
 * constraints over h, so that the ends of short steps are no better for them. */
static bool weighs_multipliers(const dae_solver *s)
{
    for (int j = 0; j < s->bound.n; j++)
        if (s->bound.kinds[j] >= DAE_KIND_INDEX2 &&
            weight_of(&s->bound.norm, s->bound.method, j) > 0.0)
            return true;
    return false;
}

/* at_y, at_yp = those of the second run at t, its own last step. Where that had no choice of its
 * steps, multipliers that shorter steps make worse stay as they are. */
static void take_values(refiner *r, dae_solver *s, double t, bool otherwise)
{
    r->method->interpolate(r->state, &r->context, t, 0, r->y);
    r->method->interpolate(r->state, &r->context, t, 1, r->yp);
    for (int j = 0; j < s->bound.n; j++) {
        bool higher = s->bound.kinds[j] >= DAE_KIND_INDEX2;
        if (otherwise && higher && weight_of(&s->bound.norm, s->bound.method, j) == 0.0) continue;
        s->bound.at_y[j] = r->y[j];
        s->bound.at_yp[j] = r->yp[j];
    }
}

/* Values at t by a second run where the interpolant is not good enough; `last`: nobody else knows
 * what to do where that fails. */
static dae_status refine_once(dae_solver *s, double t, bool last, bool *refined)
{
    *refined = false;
    if (binding_uses_forms(&s->bound)) return refine_on_form(s, t, refined);
    dae_status status = judge_step(s);
    if (status != DAE_OK || s->bound.step_start.error <= TRUSTED) return status;
    refiner *r = refiner_of(s);
    if (!r) return out_of_memory(s);
    /* of second order: the ends of steps are on the constraints, what is between them need not be;
     * without a matrix there is nothing to tell good interpolants by */
    bool end = binding_second_order(&s->bound) || s->bound.matrix.matrix_free, otherwise = false;
    bool hopeless = r->hopeless == s->stats.steps &&
                    (t - r->behind) * (s->run.t_new - s->run.t_old) >= 0.0 &&
                    whole_step_to(r, s, t);
    if (hopeless)
        end = otherwise = true;
    else
        status = end ? run_exactly_to(r, s, t) : run_to(r, s, t, &end);
    otherwise = otherwise || (end && r->crowded == s->stats.steps);
    bool failed = status == DAE_ERR_CONVERGENCE || status == DAE_ERR_EVALUATION;
    /* what the noise of callbacks makes is theirs to hear of: there is no measure of it */
    if (failed && (end || (last && s->hybrid && !weighs_multipliers(s)))) {
        status = run_otherwise(r, s, t, status, &end);
        otherwise = true;
    }
    if (s->stop.code < 0) return stopped(r, s);
    failed = status == DAE_ERR_CONVERGENCE || status == DAE_ERR_EVALUATION;
    bool tolerable = failed && is_tolerable(r, s, t);
    if (tolerable || (failed && has_index3(s))) {
        diag_clear(&s->diag);
        if (!tolerable) tell_doubt(s, t, s->bound.step_start.error);
        return DAE_OK;
    }
    if (status != DAE_OK) return status;
    bool apart = false, again = false;
    if (!otherwise && !end && !r->gap) status = compare_ends(r, s, t, &apart, &again);
    /* the interpolant of algebraic variables may be anything there: it is told, and no more */
    if (status == DAE_OK && again) status = run_to(r, s, t, &end);
    if (status != DAE_OK) return status;
    take_values(r, s, end ? r->t_new : t, otherwise);
    if (r->gap && !end) close_gap(r, s, t);
    stages_clamp(&s->bound.problem->form, s->bound.at_y);
    *refined = true;
    return DAE_OK;
}

/* Whether the second run has just met errors, in this step for the first time, that do not fall
 * with its steps. */
static bool meets_noise(const dae_solver *s)
{
    refiner *r = s->bound.refiner;
    if (!r || r->noisy != s->stats.steps || r->weighed == s->stats.steps) return false;
    r->weighed = s->stats.steps;
    return true;
}

/* Noise that rounding makes is no error of an interpolant: see whether it is that. */
dae_status refine_point(dae_solver *s, double t, bool *refined)
{
    dae_status status = refine_once(s, t, false, refined);
    bool failed = status == DAE_ERR_CONVERGENCE || status == DAE_ERR_EVALUATION;
    bool noisy = status == DAE_ERR_CONVERGENCE || (status == DAE_OK && meets_noise(s));
    if ((!failed && !noisy) || binding_uses_forms(&s->bound)) return status;
    rounding_result found = noisy ? rounding_look(s, s->run.t_new, 0.0) : ROUNDING_FINE;
    if (found == ROUNDING_TOO_MUCH) return DAE_ERR_TOLERANCE;
    if (!failed && found == ROUNDING_FINE) return status;
    diag_clear(&s->diag);
    solver_interpolate(s, t, 0, s->bound.at_y);
    solver_interpolate(s, t, 1, s->bound.at_yp);
    if (found != ROUNDING_FINE) s->bound.step_start.judged = false;
    return refine_once(s, t, true, refined);
}
