/* Algebraic variables that jump without an event, as under noEvent, sign or in a table. No step is
 * short enough for the error test then, though none is needed: an algebraic variable that the
 * equations of index 1 determine has no memory, and what its jump does to the differential
 * variables they tell themselves. Such a variable is exempt from the error test until the jump has
 * left the history of the method.
 *
 * A jump is told from a steep change by shrinking the step: the prediction of a smooth variable
 * improves with h at least as h^2. It is one if the prediction of the variable is as wrong as it
 * was on a step a thousand times longer that met the same time. A pole is none: steps shrink with
 * the distance to it, and none meets it before h is down to rounding.
 *
 * Where a slope is infinite, as that of sqrt(x) at 0, the prediction improves as h^(1/2) only.
 * There the step shrinks until the run would have to end; if all that fails the test then are
 * algebraic variables that are no larger than they used to be, which those near a pole are, or that
 * jump at once, they are exempt.
 */
#include <math.h>
#include <stdio.h>

#include "solve/watch/watch.h"

static const double SHORTER = 1e-3, AS_WRONG = 0.5, LEAST_STEP = 1e-10;
static const double ORDINARY =
    1e-7;                       /* part of the time run so far that a step must have to count */
static const double FAR = 10.0; /* beyond this many times its former size a variable has a pole */
enum { HISTORY = 8 };           /* steps until the differences of order five are free of a jump */
enum {
    RECOVERY = 60
}; /* steps until h, doubled each time, is back from rounding to its old size */

/* Whether variable i is as wrong on this rejected step as it was on one a thousand times longer
 * that went over its beginning. Else keep what may be compared later: the longest step since when
 * it is as wrong as now. */
static bool shows_jump(jump_trace *before, const attempt *a, double e)
{
    bool same = before->h * a->h > 0.0 && (before->end - a->t) * a->h > 0.0;
    if (same && fabs(a->h) < fabs(before->h) && e >= AS_WRONG * before->e)
        return fabs(a->h) <= SHORTER * fabs(before->h) && fabs(before->h) > LEAST_STEP * fabs(a->t);
    *before = (jump_trace){a->t + a->h, a->h, e};
    return false;
}

void jump_tell(dae_solver *s, int i, double t)
{
    const model_form *f = s->hybrid->instance->form;
    char text[400];
    int v = f->unknown_variable[i];
    if (s->run.jump_reported || v < 0) return;
    s->run.jump_reported = true;
    snprintf(
        text, sizeof text,
        "note: %.100s:%d: %.100s jumps, or has an infinite slope, at t = %.9g without an event; "
        "its error is not controlled there.",
        model_file(s), f->flat->variables[v].place.line, problem_variable(s->bound.problem, i), t);
    solver_note(s, text);
}

/* Whether variable i is differential, or may become so when states are chosen anew. */
static bool has_memory(const dae_solver *s, int i)
{
    return s->bound.kinds[i] == DAE_KIND_DIFFERENTIAL || s->hybrid->instance->form->differential[i];
}

void jump_note(dae_solver *s)
{
    if (!s->hybrid) return;
    if (!(fabs(s->run.last.h) > ORDINARY * fabs(s->run.t_new - s->hybrid->started))) return;
    double *restrict extent = s->bound.extent;
    const double *restrict y = s->run.last.y;
    for (int i = 0; i < s->bound.n; i++)
        extent[i] = fabs(y[i]) > extent[i] ? fabs(y[i]) : extent[i];
    if (!s->bound.method->fixed_order || s->bound.norm.exempt_count == 0) return;
    for (int i = 0; i < s->bound.n; i++) /* it is enough that h is back from rounding */
        if (s->bound.norm.exempt[i] > HISTORY) s->bound.norm.exempt[i] = HISTORY;
}

/* Whether the value y of variable i is beyond what it was on ordinary steps, as near a pole. */
bool jump_outgrown(const dae_solver *s, int i, double y)
{
    double least =
        s->bound.options.rtol > 0.0 ? s->bound.norm.weights[i] / s->bound.options.rtol : 0.0;
    return !(fabs(y) <= FAR * fmax(s->bound.extent[i], least - fabs(y)));
}

/* Whether the step begins close to a pole of variable i already. */
static bool begins_at_pole(dae_solver *s, int i)
{
    if (s->bound.extent[i] == 0.0) return false;
    solver_interpolate(s, s->run.t_new, 0, s->bound.work);
    return jump_outgrown(s, i, s->bound.work[i]);
}

/* How far variable i of a failed attempt is off, in tolerances; what the test adds up. */
static double size_of_error(const dae_solver *s, const attempt *a, int i)
{
    return a->error_constant * fabs(a->estimate[i]) * s->bound.norm.tested[i];
}

/* Whether variable i, however large against what it was, is as wrong as on a much longer step that
 * began here: it jumps where both begin, as at a start. After a pole it would be larger by as much
 * as the step is shorter. */
static bool jumps_at_once(const dae_solver *s, const attempt *a, int i)
{
    static const double MUCH = 8.0, TWICE = 2.0;
    const jump_trace *before = &s->bound.jumps[i];
    const double e = fabs(a->estimate[i]);
    if (!(before->h * a->h > 0.0) || MUCH * fabs(a->h) > fabs(before->h)) return false;
    return fabs(before->end - before->h - a->t) <= fabs(a->h) && e <= TWICE * before->e &&
           before->e <= TWICE * e;
}

/* Whether the errors that fail the test are those of algebraic variables that stay within bounds.
 */
static bool only_bounded_algebraic(dae_solver *s, const attempt *a)
{
    for (int i = 0; i < s->bound.n; i++) {
        if (!(size_of_error(s, a, i) > 0.5)) continue;
        if (has_memory(s, i) || begins_at_pole(s, i)) return false;
        if (jump_outgrown(s, i, a->y[i]) && !jumps_at_once(s, a, i)) return false;
    }
    return true;
}

/* Whether the error of an algebraic variable may be left alone. A method that neither iterates nor
 * looks at the equations where its steps end has nothing else that would see it, and it goes on
 * into the states. */
static bool may_exempt(const dae_solver *s, const attempt *a)
{
    return s->hybrid && s->hybrid->instance->form->unmet < 0 && !s->bound.method->ends_unseen &&
           s->bound.options.error_test == DAE_ERROR_AUTO && isfinite(a->error);
}

/* Variable i is exempt for so many steps, unless what looks like a jump is rounding: shorter steps
 * make neither smaller, but without a test steps would grow beyond what i tells of the solution. */
static jump_result exempt(dae_solver *s, const attempt *a, int i, int steps)
{
    double error = a->error_constant * fabs(a->estimate[i]);
    rounding_result found = rounding_hides(s, s->run.goal, 0.0, i, error);
    if (found == ROUNDING_TOO_MUCH) return JUMP_ROUNDING;
    if (found == ROUNDING_HELD) return JUMP_AGAIN;
    norm_exempt(&s->bound.norm, i, steps);
    jump_tell(s, i, a->t);
    return JUMP_AGAIN;
}

jump_result jump_last_resort(dae_solver *s, const attempt *a)
{
    jump_result result = JUMP_NONE; /* an error that is nobody's cannot be exempt */
    if (!may_exempt(s, a) || !only_bounded_algebraic(s, a)) return JUMP_NONE;
    for (int i = 0; i < s->bound.n && result != JUMP_ROUNDING; i++) {
        if (!(size_of_error(s, a, i) > 0.5) || s->bound.norm.exempt[i] > 0)
            continue; /* each once: tries have an end */
        result = exempt(s, a, i, RECOVERY);
    }
    return result;
}

jump_result jump_exempt(dae_solver *s, const attempt *a)
{
    jump_result result = JUMP_NONE;
    if (!may_exempt(s, a)) return JUMP_NONE;
    for (int i = 0; i < s->bound.n && result != JUMP_ROUNDING; i++) {
        bool fails = size_of_error(s, a, i) > 0.5;
        if (has_memory(s, i) || !fails || s->bound.norm.exempt[i] > 0) continue;
        if (!shows_jump(&s->bound.jumps[i], a, fabs(a->estimate[i]))) continue;
        if (begins_at_pole(s, i)) continue;
        result = exempt(s, a, i, HISTORY);
    }
    return result;
}
