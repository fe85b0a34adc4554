/* Steps by an integrator from outside, opt.integrator (daedal/integrator.h): what a method does, by
 * its functions. */
#include <math.h>

#include "base/vector.h"
#include "method/common/interpolation.h"
#include "method/common/method.h"
#include "method/foreign/equations.h"

typedef struct foreign_state {
    double t, t_old;                 /* ends of the last step; equal behind a start */
    double *y, *yp, *y_old, *yp_old; /* there */
} foreign_state;

typedef struct foreign_scratch {
    dae_equations equations; /* handed out at a start */
    double t, first;         /* where the attempt ends; the first step of a start */
    int failed;              /* what a function other than attempt returned; 0: none failed */
    double *y, *yp, *errors; /* the candidate */
} foreign_scratch;

static const method_memory foreign_memory = {
    .state = {sizeof(foreign_state), {VECTORS(foreign_state, y, yp_old)}},
    .scratch = {sizeof(foreign_scratch), {VECTORS(foreign_scratch, y, errors)}},
};

static void foreign_start(void *state, void *scratch, const method_context *ctx,
                          const start_point *at)
{
    foreign_state *s = state;
    foreign_scratch *w = scratch;
    const dae_integrator *g = ctx->options->integrator;
    method_clear(ctx, s, w);
    s->t = s->t_old = at->t;
    vectors_begin(ctx->n, at->y, s->y, s->y_old);
    vectors_begin(ctx->n, at->yp, s->yp, s->yp_old);
    w->equations = (dae_equations){ctx->eval, ctx->norm};
    w->failed = g->start(g->user, &w->equations, at->t, at->h, at->y, at->yp);
}

/* What an attempt that returned `code` has come to. */
static attempt_status status_of(const method_context *ctx, int code)
{
    if (code < 0) return ctx->eval->failure.code < 0 ? ATTEMPT_STOP : ATTEMPT_UNSUPPORTED;
    return ctx->eval->failure.callback ? ATTEMPT_EVALUATION : ATTEMPT_CONVERGENCE;
}

static void foreign_attempt(const void *state, void *scratch, const method_context *ctx, double h,
                            int order, attempt *result)
{
    const foreign_state *s = state;
    foreign_scratch *w = scratch;
    const dae_integrator *g = ctx->options->integrator;
    dae_integrator_step step = {.h = h, .y = w->y, .yp = w->yp, .errors = w->errors};
    (void)order;
    vector_zero(ctx->n, w->errors);
    ctx->eval->failure = (eval_failure){.component = -1, .variable = -1};
    int code = w->failed ? w->failed : g->attempt(g->user, &step);
    *result = (attempt){.t = s->t,
                        .h = step.h,
                        .order = step.order > 0 ? step.order : ctx->method->max_order,
                        .y = w->y,
                        .yp = w->yp,
                        .error = step.error,
                        .estimate = w->errors,
                        .error_constant = 1.0,
                        .reason = step.reason,
                        .variable = -1,
                        .constraint = -1};
    for (int k = 0; k < 4; k++) result->terms[k] = NAN;
    w->t = s->t + step.h;
    if (code != 0) result->status = status_of(ctx, code);
    if (code < 0 && !result->reason) result->reason = "the integrator ended the run";
    if (step.next != 0.0 && step.h != 0.0) result->next_factor = fabs(step.next / step.h);
}

static void foreign_accept(void *state, void *scratch, const method_context *ctx)
{
    foreign_state *s = state;
    foreign_scratch *w = scratch;
    const dae_integrator *g = ctx->options->integrator;
    if (g->accept) w->failed = g->accept(g->user);
    s->t_old = s->t;
    s->t = w->t;
    vectors_advance(ctx->n, w->y, s->y, s->y_old);
    vectors_advance(ctx->n, w->yp, s->yp, s->yp_old);
}

/* The cubic through values and slopes of both ends, at the part x of a step of length h. */
static void hermite(const foreign_state *s, int n, double x, double h, int derivative, double *y)
{
    double left, right;
    cubic_ends(x, h, derivative, &left, &right);
    for (int i = 0; i < n; i++) {
        const double slope = (s->y[i] - s->y_old[i]) / h;
        const double chord = derivative ? slope : s->y_old[i] + x * h * slope;
        y[i] = chord + left * (s->yp_old[i] - slope) + right * (s->yp[i] - slope);
    }
}

static void foreign_interpolate(const void *state, const method_context *ctx, double t,
                                int derivative, double *y)
{
    const foreign_state *s = state;
    const dae_integrator *g = ctx->options->integrator;
    const double h = s->t - s->t_old;
    if (t == s->t || h == 0.0)
        vector_copy(ctx->n, derivative ? s->yp : s->y, y);
    else if (!g->interpolate || g->interpolate(g->user, t, derivative, y) != 0)
        hermite(s, ctx->n, (t - s->t_old) / h, h, derivative, y);
}

const method method_integrator = {
    .name = "integrator",
    .summary = "steps of an integrator of your own, or of another library",
    .citation = "opt.integrator",
    .max_order = 2,
    .fixed_order = true,
    .index_range = "1",
    .kinds_asked = true,
    .own_pattern = true,
    METHOD_STEPS(foreign),
};
