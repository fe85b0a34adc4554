/* What the one-step methods with stages share beside Radau: scales, bounds, a cubic between steps.
 */
#ifndef DAE_METHOD_COMMON_STAGES_H
#define DAE_METHOD_COMMON_STAGES_H

#include "method/common/method.h"

/* Reciprocal weights of the error test: index-2 and index-3 variables with h and h^2 before them
 * [HLR89 7], which the Newton scale has; the others as the options say. */
void stages_error_scale(const error_norm *norm, dae_error_test test, double *scale);

/* The largest relative tolerance, within 1e-14 .. 0.1; without one what the weights make of y. */
double stages_relative_tolerance(const error_norm *norm, const double *y);

/* y, within the bounds of the problem: F need not exist outside. */
void stages_put_within(const dae_residual *form, double *y);
static inline void stages_clamp(const dae_residual *form, double *y)
{
    if (form->lower_bounds || form->upper_bounds) stages_put_within(form, y);
}

/* What counts as a violation of bounds in an attempt with step h. Solutions that come to rest at a
 * bound are on either side of it by rounding; so much is forgiven, but not to a solution that would
 * be outside by more after the step that was tried first: it leaves, and must not crawl along.
 * (Algebraic variables do not move by themselves.) */
typedef struct bound_slack {
    const error_norm *norm;
    double stretch; /* the step tried first over h */
} bound_slack;

/* For an attempt with step h; *first is the size of the first try of this step, 0 before. */
bound_slack stages_slack(const error_norm *norm, double h, double *first);

/* *part becomes less where less of the step is within the bounds: of the way from y0 to y, which is
 * reached at c of the step; *who is the worst variable then. */
void stages_within_bounds(const dae_residual *form, bound_slack slack, double c, const double *y0,
                          const double *y, double *part, int *who);

/* y within the bounds, where it is outside by no more than is forgiven; else the attempt has
 * failed, and nothing may be asked there. */
attempt_status stages_keep_within(const dae_residual *form, const error_norm *norm, double *y);

static inline attempt_status stages_from_evaluation(eval_status status)
{
    switch (status) {
    case EVAL_OK: return ATTEMPT_OK;
    case EVAL_RETRY: return ATTEMPT_EVALUATION;
    case EVAL_STOP: return ATTEMPT_STOP;
    case EVAL_MEMORY: break;
    }
    return ATTEMPT_MEMORY;
}

static inline attempt_status stages_from_iteration(iteration_status status)
{
    switch (status) {
    case ITERATION_OK: return ATTEMPT_OK;
    case ITERATION_RETRY: return ATTEMPT_EVALUATION;
    case ITERATION_SINGULAR: return ATTEMPT_SINGULAR;
    case ITERATION_STOP: return ATTEMPT_STOP;
    case ITERATION_MEMORY: break;
    }
    return ATTEMPT_MEMORY;
}

/* An attempt from t by h with the candidate in y, yp; nothing else is known yet. */
void stages_begin(attempt *a, double t, double h, int order, const double *y, const double *yp);

/* What the method cannot do, with a static text, and for which variable, or -1; true. */
bool stages_refused(attempt *a, int variable, const char *reason);

/* GMRES has no factors: says so in *a and gives true. */
bool stages_need_matrix(const method_context *ctx, attempt *a);

/* Constant steps with variables of index 3, which jump as they begin: no shorter step comes to
 * help. They are worth more iterations, and corrections that stay then are rounding. */
bool stages_alone(const method_context *ctx);

/* Where the method has no order on index-3 variables: says so in *a and gives true. */
bool stages_refuse_index3(const method_context *ctx, attempt *a);

/* h_next / h after an error that behaves as h^power: 0.9 e^(-1/power) within bounds, none above 1
 * after a rejection, 1 where little would be won. `first`: no step was accepted yet. */
double stages_next_factor(double error, int power, bool first, bool rejected);

/* Newton's numbers for the monitor, where there is no Newton iteration. */
void stages_no_newton(const method_context *ctx);

/* Where the interpolant of a step is looked at: no symmetry of a solution meets it. */
static const double STAGES_LOOK = 0.381966011250105;

/* An error that sends the step back, well shortened, where F does not exist. */
static const double STAGES_NOWHERE = 1e4;

/* Whether values between steps matter in the error test: there are events, whose times follow them,
 * or they are asked for (ctx->between). */
bool stages_looked_at(const method_context *ctx);

/* So many stages see what F does within a step; methods with less look at the interpolant, too. */
enum { STAGES_ENOUGH = 3 };

/* How wrong the interpolant is: the correction ||(dF/dy + cj dF/dy')^-1 F(t, y, y')|| of its values
 * y, y' at t with the factors at hand and these reciprocal weights. Where F does not exist: 0, or
 * STAGES_NOWHERE with ctx->between. An error estimate does not see functions of t alone, which
 * stiffly accurate methods meet at the end of any step. */
double stages_dense_error(const method_context *ctx, double t, double *y, const double *yp,
                          const double *scale, double *work);

/* What an error estimate of low order must not make light of.
 *
 * The weight of an estimate O(h^k) of a method of order p > k is rtol^(1 - k/p) or so, since errors
 * are so much smaller. That is not true of stiff variables, whose errors are O(h^k), too: with
 * P = cj (dF/dy + cj dF/dy')^-1 dF/dy', which is 1 where h is short beside the time constant of a
 * variable and 0 where it is long, they are (I - P)^3 times the estimate, and count with this
 * weight at least: up to 30 tolerances. */
static const double STAGES_STIFF = 0.03;

/* ||(I - P)^3 e||, or ||(I - P)^k e|| as soon as that is `little` or less; INFINITY if it cannot be
 * told. With the factors at hand, of shift cj; keep and work are n values each, e stays. */
double stages_stiff_part(const method_context *ctx, const double *scale, const double *e,
                         double little, double *keep, double *work);

/* ||P (I - P)^2 c|| for the correction c of a defect: its part in what is stiff and differential.
 * c is lost; work has n values. */
double stages_stiff_end(const method_context *ctx, const double *scale, double *c, double *work);

/* What is left of c at most: 4/27 for real time constants, twice that for others. */
static const double STAGES_STIFF_MOST = 0.3;

/* The weight of an error of stiff variables that is known, not only bounded: up to 5 tolerances. */
static const double STAGES_STIFF_END = 0.2;

/* An error of the last try of a step, its length, and the power of h with which it fell from the
 * try before; INFINITY: there was none. What does not fall with the step at all is none of the
 * step, but comes with the values it begins with. */
typedef struct stages_trial {
    double error, h, exponent;
} stages_trial;

/* The error, or 0 where it does not fall; `again`: this is not the first try of the step. */
double stages_falling(stages_trial *last, double error, double h, bool again);

/* How wrong the interpolant of an attempt is at x in (0, 1), by stages_dense_error, whose `work` is
 * *correction then. */
typedef double (*stages_look)(const void *state, void *scratch, const method_context *ctx, double x,
                              double **correction);

/* A step with next to no error may have seen nothing: between two pulses of max(f(t), 0) all is
 * constant, steps grow, and the stages of one may all lie beside the next pulse, which then is
 * missing in the states for ever. The interpolant of such a step, and they are few, is looked at in
 * many places. `error`, or what was found if that is more than values between steps may be wrong
 * by; *last: of the attempt before, zero after an accepted step. */
double stages_quiet_error(const method_context *ctx, double error, double h, stages_trial *last,
                          const double *scale, stages_look look, const void *state, void *scratch);

/* The same after the interpolant was looked at, at STAGES_LOOK, if weight > 0: STAGES_DENSE, values
 * between steps may be wrong by 10 tolerances where events depend on them; or 1, where the
 * interpolant is far worse than the ends of steps, so that it would be wrong by that at every
 * event, and the solution goes on from there. */
static const double STAGES_DENSE = 0.1;
double stages_error_between(const method_context *ctx, double weight, double error, double h,
                            stages_trial *last, const double *scale, stages_look look,
                            const void *state, void *scratch);

/* Nor is it true where the solution is not smooth. There the error is out of all proportion to that
 * of the step before (`before` on a step of h / ratio tells what an error O(h^power) would be), or
 * falls too slowly from try to try. The factor from 1 to 1/weight that takes the weight away again,
 * the more the more abrupt it is. */
double stages_abruptness(const stages_trial *now, double before, double ratio, int power,
                         double weight);

/* Estimates of high order of explicit methods are blind to a jump or a kink of f between two of
 * their nodes. What f looks like to a cubic, `rough` in tolerances, goes with h^4 while f is
 * smooth, on a step of `ratio` times the last one, where it was *memory (`known`; its memory fades
 * with every step). Where it leaps up by far more it is the error; else 0. */
double stages_leap(double rough, double ratio, bool known, double *memory);

/* Weight of such an error of slopes, whose part in the error of a step is about 1 or less. */
static const double STAGES_SLOPE = 0.3;

/* e := (dF/dy + cj dF/dy')^-1 dF/dy' e for a difference e of slopes where two steps meet, or of the
 * interpolant and F: jumps of y' between the stages of two steps, which no combination of stages
 * sees, and errors of y' in stiff equations. */
bool stages_filter_slope(const method_context *ctx, double *e, double *work);

/* p(x) = y0 + x (y1 - y0) + x (1 - x) (d1 + x d2) on a step of length h: y = p(x), or p'(x) / h.
 */
void cubic_value(int n, double x, double h, int derivative, const double *y0, const double *y1,
                 const double *d1, const double *d2, double *y);
/* d1, d2 of the cubic with slopes z0 and z1 at the ends; z0 = NULL: the parabola with slope z1. */
void cubic_from_slopes(int n, double h, const double *y0, const double *y1, const double *z0,
                       const double *z1, double *d1, double *d2);
/* y -= h v (l x (1-x)^2 - r x^2 (1-x)): takes slopes l v and r v away at the ends and keeps the
 * values there; derivative = 1: the same for y' */
void cubic_bend(int n, double x, double h, int derivative, double l, double r, const double *v,
                double *y);

#endif
