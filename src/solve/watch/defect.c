/* The defect of a step: whether the values inside it belong to the same solution as its end.
 *
 * Error estimates compare two results of a method at the end of a step. Where both miss the same,
 * a pulse between two stages, a kink, a branch of the equations, they agree. So the dense output u
 * of every attempt that passes its test is put into the equations, at a place inside the step that
 * is another one in each attempt:
 *
 *     d = G^-1 F(t, u, u'),    G = dF/dy + cj dF/dy',    cj about 4/h.
 *
 * Of stiff and algebraic variables d is the error of u itself, of the others h/4 times the defect,
 * which is what errors of collocation come from. Control of the defect makes every value of a step
 * as good as the user asked for [Enr89], [Sha05]: rows need no second solution beside the run. */
#include "solve/watch/defect.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/vector.h"
#include "method/common/stages.h"
#include "solve/watch/watch.h"

/* So many tolerances an interpolant may be off by. Values between steps may be wrong by 10, and one
 * place does not tell the largest error of a step: that of three stages is 2.6 times as large in
 * the mean. */
static const double TRUSTED = 3.0;
/* What is less at one place is less than 10 everywhere: that of five stages is below 1/30 of its
 * largest value in 4 % of the step. */
static const double CERTAIN = 0.3;
/* The shift cj h of the matrix. Smaller ones would hide the defect of slow variables; factors of a
 * method with a larger one show so much less of it. */
static const double SHIFT = 4.0;
/* Places are EDGE to 1 - EDGE of the step, by the golden section: any so many in a row are spread
 * evenly [Knuth73 6.4]. */
static const double EDGE = 0.05, TURN = 0.618033988749895;
/* A step aims at this part of what would be trusted, and changes by no more than control permits
 * after a failure. */
static const double SAFETY = 0.9, MOST_FALL = 0.1;

/* The reciprocal weight of variable j in the check; 0: it does not count. Not those that have left
 * the error test because they jump, nor added multipliers (what a formulation keeps from the error
 * test, and its equations determine, counts: the user sees it). Multipliers of index 2 and 3 count
 * where the method makes them as accurate as others: else a shorter step makes them worse, not
 * better (unwatched.c tells of them). Methods that test algebraic variables at the ends of all steps
 * have them as good between. */
static double weight_of(const binding *b, int j)
{
    const error_norm *norm = &b->norm;
    const dae_kind kind = norm->kinds ? norm->kinds[j] : DAE_KIND_DIFFERENTIAL;
    if (norm->exempt[j] > 0 || b->defect.mute[j] > 0) return 0.0;
    if (norm->hidden && norm->hidden[j] && kind != DAE_KIND_INDEX1) return 0.0;
    if (kind >= DAE_KIND_INDEX2 && !b->method->sharp_multipliers) return 0.0;
    return kind == DAE_KIND_DIFFERENTIAL || b->method->rough_between ? norm->scale[j] : 0.0;
}

/* The largest part of d in tolerances, over variables with memory alone if `states`. */
static double size_of(const dae_solver *s, const double *d, bool states)
{
    double most = 0.0;
    for (int j = 0; j < s->bound.n; j++) {
        if (states && s->bound.kinds[j] != DAE_KIND_DIFFERENTIAL) continue;
        const double weight = weight_of(&s->bound, j), size = weight > 0.0 ? fabs(d[j]) * weight : 0.0;
        if (!(size <= most)) most = isnan(size) ? INFINITY : size;
    }
    return most;
}

/* Methods of second order have factors of their own; those of the residual are older than the step.
 */
static bool serves(const method *m, const iteration *it)
{
    return !(m->forms & FORM_SECOND_ORDER) && it->factored && !it->by_columns && !it->matrix_free;
}

/* u(t) and u'(t) in s->bound.y and s->bound.yp, which are free during a run */
static void look_inside(dae_solver *s, double t)
{
    binding *b = &s->bound;
    b->method->interpolate(b->state, &b->context, t, 0, b->y);
    b->method->interpolate(b->state, &b->context, t, 1, b->yp);
    stages_clamp(&b->problem->form, b->y);
}

/* A matrix whose factors tell errors inside a step of length h around its middle; NULL: there is
 * none. */
static iteration *matrix_for(dae_solver *s, double middle, double h)
{
    binding *b = &s->bound;
    if (serves(b->method, &b->matrix)) return &b->matrix;
    if (!b->ends.eval || b->ends.matrix_free) return NULL;
    const eval_failure failure = b->eval.failure;
    look_inside(s, middle);
    const double cj = SHIFT / h;
    const bool made = iteration_evaluate(&b->ends, middle, b->y, b->yp, cj, fabs(h),
                                         b->norm.weights, NULL) == ITERATION_OK &&
                      iteration_factor(&b->ends, cj, NULL) == ITERATION_OK;
    if (s->stop.code >= 0) b->eval.failure = failure;
    return made ? &b->ends : NULL;
}

/* A place inside a step of length h, and factors that tell errors there. */
typedef struct defect_place {
    iteration *matrix;
    double t, h;
} defect_place;

/* d = G^-1 F(t, u, u') there, by all rows or by those with derivatives alone */
static eval_status defect_of(dae_solver *s, const defect_place *at, bool with_derivatives, double *d)
{
    binding *b = &s->bound;
    const eval_failure failure = b->eval.failure;
    look_inside(s, at->t);
    const eval_status status =
        evaluate_residual(&b->eval, at->t, b->y, b->yp, d, &s->stats.residuals);
    if (status == EVAL_OK) b->eval.failure = failure;
    if (status != EVAL_OK) return status;
    for (int i = 0; with_derivatives && i < b->n; i++)
        if (at->matrix->constraint_row[i]) d[i] = 0.0;
    if (iteration_solve(at->matrix, NULL, d) != ITERATION_OK) d[0] = INFINITY;
    const double part = fmax(1.0, fabs(at->matrix->cj * at->h) / SHIFT);
    for (int i = 0; part > 1.0 && i < b->n; i++) d[i] *= part;
    return EVAL_OK;
}

/* The size of the defect, and d. Where rows are solved for their algebraic variables, what these
 * are off by without doing harm to a state is no error: a source that nothing feels may turn
 * a thousand times in a step. What they are off by because states are off is one. */
static eval_status measure(dae_solver *s, const defect_place *at, double *d, double *size)
{
    eval_status status = defect_of(s, at, false, d);
    if (status != EVAL_OK) return status;
    const bool solved = output_is_solved(s);
    const double states = solved ? size_of(s, d, true) : INFINITY;
    *size = size_of(s, d, false);
    s->bound.defect.limits = fmax(s->bound.defect.limits, fmin(states, *size));
    if (*size <= TRUSTED || !solved || states > TRUSTED) return EVAL_OK;
    status = defect_of(s, at, true, d);
    *size = size_of(s, d, false);
    s->bound.defect.limits = fmax(s->bound.defect.limits, *size);
    s->bound.defect.solved = true;
    return status;
}

iteration *defect_matrix(dae_solver *s)
{
    binding *b = &s->bound;
    const double h = s->run.t_new - s->run.t_old;
    if (binding_uses_forms(b)) return NULL;
    if (!serves(b->method, &b->matrix) && b->defect.step == s->stats.steps &&
        b->defect.factoring == b->ends.factorings && b->ends.factored)
        return &b->ends;
    iteration *it = matrix_for(s, s->run.t_old + 0.5 * h, h);
    b->defect.step = s->stats.steps;
    b->defect.factoring = b->ends.factorings;
    return it;
}

double defect_at(dae_solver *s, double t)
{
    const defect_place at = {defect_matrix(s), t, s->run.t_new - s->run.t_old};
    const eval_failure failure = s->bound.eval.failure;
    if (!at.matrix) return INFINITY;
    const eval_status status = defect_of(s, &at, false, s->bound.work);
    if (status == EVAL_RETRY) s->bound.eval.failure = failure;
    return status == EVAL_OK ? size_of(s, s->bound.work, false) : INFINITY;
}

/* Whether the values inside of steps are the business of the driver. Variants that repeat a source
 * to the letter have its errors, and given steps those of their length. */
static bool is_due(const dae_solver *s)
{
    const binding *b = &s->bound;
    const method *m = b->method;
    return !binding_uses_forms(b) && !s->run.control.fixed && !m->dassl && !m->own_steps &&
           !m->raw_output && !b->matrix.matrix_free;
}

/* Errors of the dense output fall with this power of the step, as those of a collocation method of
 * this order do [HW96 II.7]. */
static double power_of(int order)
{
    return (order + 3) / 2;
}

/* The part of a step after which its defect would be what is trusted. */
static double factor_for(double defect, int order)
{
    return fmax(MOST_FALL, SAFETY * pow(defect / TRUSTED, -1.0 / power_of(order)));
}

/* Errors of interpolation fall with the step at least as it does, once it resolves the solution.
 * What falls by less, where the step is made shorter again and again, is no such error: a variable
 * jumps, or the tolerance of Newton's iteration over h is all that is left. A large one takes longer
 * to tell. */
static const double STALLED = 0.75, LARGE = 50.0;
enum { STALLS = 2, STALLS_LARGE = 5 };
/* Steps for which a variable that stalls does not count. */
enum { MUTE = 50 };

/* Whether the defect does not fall with the step. */
static bool stalls(defect_watch *w)
{
    w->stalls += w->size > STALLED * w->failed;
    w->failed = w->size;
    return w->stalls >= (w->size > LARGE ? STALLS_LARGE : STALLS);
}

/* What stalls and has no memory, as a difference over a small number, which magnifies what states
 * are uncertain by, does not count for a while. */
static void mute(dae_solver *s, const double *d)
{
    binding *b = &s->bound;
    for (int j = 0; j < b->n; j++)
        if (b->kinds[j] != DAE_KIND_DIFFERENTIAL && fabs(d[j]) * weight_of(b, j) > TRUSTED)
            b->defect.mute[j] = MUTE;
}

/* The defect of an attempt at the next place of the sequence, and at one more where that may have
 * been close to a place where the defect of any solution is zero. */
static eval_status look_at_attempt(dae_solver *s, const attempt *a)
{
    binding *b = &s->bound;
    defect_watch *w = &b->defect;
    memcpy(b->kept, b->state, b->state_size);
    b->method->accept(b->state, b->scratch, &b->context);
    defect_place at = {.matrix = matrix_for(s, a->t + 0.5 * a->h, a->h), .h = a->h};
    eval_status status = EVAL_OK;
    double size = 0.0;
    for (int k = 0; k < 2 && at.matrix && status == EVAL_OK && w->size <= TRUSTED; k++) {
        w->place = fmod(w->place + TURN, 1.0);
        at.t = a->t + (EDGE + (1.0 - 2.0 * EDGE) * w->place) * a->h;
        status = measure(s, &at, b->end_off, &size);
        w->size = fmax(w->size, size);
        if (size <= CERTAIN) break;
    }
    memcpy(b->state, b->kept, b->state_size);
    return status;
}

attempt_status defect_look(dae_solver *s, attempt *a)
{
    defect_watch *w = &s->bound.defect;
    w->size = w->limits = 0.0;
    w->solved = false;
    if (a->status != ATTEMPT_OK || !(a->error <= 1.0) || !is_due(s)) return a->status;
    const eval_status status = look_at_attempt(s, a);
    if (s->stop.code < 0) return ATTEMPT_STOP;
    if (status == EVAL_RETRY) a->next_factor = 0.0; /* was that of an attempt that passes */
    if (status == EVAL_RETRY) return ATTEMPT_EVALUATION;
    if (w->size <= TRUSTED) return ATTEMPT_OK;
    if (stalls(w)) {
        mute(s, s->bound.end_off);
        return ATTEMPT_OK;
    }
    a->error = fmin(w->size / TRUSTED, DBL_MAX);
    a->estimate = s->bound.end_off;
    a->error_constant = 1.0;
    a->scale = s->bound.norm.scale;
    a->next_factor = factor_for(w->size, a->order);
    return ATTEMPT_OK;
}

void defect_accept(dae_solver *s)
{
    const attempt *a = &s->run.last;
    defect_watch *w = &s->bound.defect;
    const bool falls = w->limits > 0.0 && w->stalls < STALLS;
    const double most = falls ? fabs(a->h) * factor_for(w->limits, a->order) : INFINITY;
    if (fabs(s->run.control.h) > most) s->run.control.h = copysign(most, a->h);
    w->failed = INFINITY;
    w->stalls = 0;
    for (int j = 0; j < s->bound.n; j++) w->mute[j] -= w->mute[j] > 0;
}

bool defect_prefers_equations(dae_solver *s, double t)
{
    const defect_place at = {defect_matrix(s), t, s->run.t_new - s->run.t_old};
    double *d = s->bound.work;
    if (!at.matrix || defect_of(s, &at, false, d) != EVAL_OK) return false;
    const double interpolated = size_of(s, d, false);
    return defect_of(s, &at, true, d) == EVAL_OK && size_of(s, d, false) < interpolated;
}

bool defect_is_small(const dae_solver *s)
{
    const defect_watch *w = &s->bound.defect;
    if (!(w->size <= TRUSTED) || w->solved) return false;
    for (int j = 0; j < s->bound.n; j++)
        if (w->mute[j] > 0) return false;
    return true;
}
