/* A rejected attempt leaves the method's state as it was, byte for byte, whatever it was rejected
 * for; and the step that follows is the one that would have been made without it. */
#include "method/common/method.h"
#include "models.h"
#include "second_order_problems.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- a method that watches another one ---- */

static const method *inner = &method_bdf;

enum { RESULTS = DAE_STEP_SINGULAR + 1 };

/* cmocka runs one test at a time, so one watch will do. */
static struct {
    unsigned char *shadow; /* state since the last start or accept */
    size_t size;
    long attempts, changes;
    long results[RESULTS];
} watch;

static void take_shadow(const void *state)
{
    memcpy(watch.shadow, state, watch.size);
}

static void compare_shadow(const void *state)
{
    watch.changes += memcmp(watch.shadow, state, watch.size) != 0;
}

static void watched_start(void *state, void *scratch, const method_context *ctx,
                          const start_point *at)
{
    inner->start(state, scratch, ctx, at);
    take_shadow(state);
}

static void watched_attempt(const void *state, void *scratch, const method_context *ctx, double h,
                            int order, attempt *result)
{
    compare_shadow(state); /* nobody touched it since */
    inner->attempt(state, scratch, ctx, h, order, result);
    compare_shadow(state);
    watch.attempts++;
}

static void watched_accept(void *state, void *scratch, const method_context *ctx)
{
    compare_shadow(state);
    inner->accept(state, scratch, ctx);
    take_shadow(state);
}

static void watched_interpolate(const void *state, const method_context *ctx, double t,
                                int derivative, double *y)
{
    compare_shadow(state);
    inner->interpolate(state, ctx, t, derivative, y);
    compare_shadow(state);
}

static method watched; /* the inner one with the functions above */

static void count_results(const dae_step_info *info, void *user)
{
    (void)user;
    watch.results[info->result]++;
}

/* A solver under watch. */
typedef struct stage {
    dae_problem *problem;
    dae_solver *solver;
} stage;

static stage open_stage(const dae_residual *form, const dae_options *options)
{
    stage st;
    dae_options own = *options;
    size_t scratch;
    memset(&watch, 0, sizeof watch);
    own.monitor = count_results;
    own.method = inner->name;
    watched = *inner;
    watched.start = watched_start;
    watched.attempt = watched_attempt;
    watched.accept = watched_accept;
    watched.interpolate = watched_interpolate;
    assert_int_equal(dae_problem_from_residual(form, &st.problem, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(st.problem, &own, &st.solver, NULL), DAE_OK);
    method_size(inner, form->n, &watch.size, &scratch);
    watch.shadow = malloc(watch.size);
    assert_non_null(watch.shadow);
    st.solver->bound.method = &watched;
    return st;
}

static void close_stage(stage *st)
{
    free(watch.shadow);
    dae_solver_free(st->solver);
    dae_problem_free(st->problem);
}

/* Run with output on every step; what is rejected must be of the kind expected, and change nothing.
 */
static void run_watched(stage *st, double t0, const double *y0, const double *yp0, double tend,
                        dae_step_result expected, dae_status end)
{
    double y[16];
    dae_status status = dae_solver_start(st->solver, t0, y0, yp0);
    assert_int_equal(status, DAE_OK);
    while ((status = dae_solver_step(st->solver, tend)) > 0)
        dae_solver_at(st->solver, 0.5 * (st->solver->run.t_old + st->solver->run.t_new), 0, y);
    if (status != end) fail_msg("%s", dae_solver_diag(st->solver)->text);
    assert_int_equal(watch.changes, 0);
    if (watch.results[expected] == 0) fail_msg("no rejection of kind %d", (int)expected);
    assert_true(watch.attempts >= dae_solver_stats(st->solver)->attempts);
    close_stage(st);
}

/* ---- rejections of every kind ---- */

static void run_model(const char *name, const dae_options *options, const double *low, double tend,
                      dae_step_result expected)
{
    model *m = model_new(name, 0);
    m->form.lower_bounds = low;
    stage st = open_stage(&m->form, options);
    run_watched(&st, m->t0, m->y0, m->yp0, tend, expected, DAE_OK);
    model_free(m);
}

static void test_error_test(void **state)
{
    (void)state;
    dae_options options = dae_options_default();
    run_model("transamp", &options, NULL, 0.05, DAE_STEP_ERROR_TEST);
    options.dense = DAE_DENSE_SMOOTH;
    run_model("transamp", &options, NULL, 0.05, DAE_STEP_ERROR_TEST);
    options.error_test = DAE_ERROR_FILTERED;
    run_model("transamp", &options, NULL, 0.05, DAE_STEP_ERROR_TEST);
}

static void test_bound(void **state)
{
    (void)state;
    const double low[3] = {0.0, 0.0, 0.0};
    dae_options options = dae_options_default();
    options.rtol = 1e-2;
    options.atol = 1e-3;
    run_model("robertson", &options, low, 1e11, DAE_STEP_BOUND);
}

/* Callbacks that misbehave at some calls. */
typedef struct mischief {
    long residuals, jacobians;
    long period; /* every so many residuals fail */
    int code;    /* with this */
    bool flat;   /* every third Jacobian is zero */
    double stop; /* F returns -1 beyond this time */
} mischief;

/* x' = -x z, 0 = z - x */
static int residual(double t, const double *y, const double *yp, double *f, void *user)
{
    mischief *m = user;
    f[0] = yp[0] + y[0] * y[1];
    f[1] = y[1] - y[0];
    if (t > m->stop) return -1;
    return m->period > 0 && ++m->residuals % m->period == 0 ? m->code : 0;
}

static int jacobian_of(double t, const double *y, const double *yp, double *dfdy, double *dfdyp,
                       void *user)
{
    (void)t, (void)yp;
    mischief *m = user;
    if (m->flat && ++m->jacobians % 3 == 0) return 0;
    dfdy[0] = y[1];
    dfdy[2] = y[0];
    dfdy[1] = -1.0;
    dfdy[3] = dfdyp[0] = 1.0;
    return 0;
}

static void run_mischief(mischief *m, dae_step_result expected, dae_status end)
{
    const double y0[2] = {1.0, 1.0}, yp0[2] = {-1.0, -1.0};
    dae_residual form = {.n = 2, .f = residual, .jacobian = jacobian_of, .user = m};
    dae_options options = dae_options_default();
    options.init = DAE_INIT_NONE;
    stage st = open_stage(&form, &options);
    run_watched(&st, 0.0, y0, yp0, 3.0, expected, end);
}

static void test_evaluation(void **state)
{
    (void)state;
    run_mischief(&(mischief){.period = 29, .code = 1, .stop = INFINITY}, DAE_STEP_EVALUATION,
                 DAE_OK);
}

static void test_singular(void **state)
{
    (void)state;
    run_mischief(&(mischief){.flat = true, .stop = INFINITY}, DAE_STEP_SINGULAR, DAE_OK);
}

static void test_stop(void **state)
{
    (void)state;
    run_mischief(&(mischief){.stop = 1.0}, DAE_STEP_ACCEPTED, DAE_ERR_CALLBACK);
}

/* x' = -2 above x = 1/2 and -1/10 below: on the way down there are step sizes for which the
 * corrector has no solution */
static int brake(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = yp[0] + (y[0] > 0.5 ? 2.0 : 0.1);
    return 0;
}

static void test_convergence(void **state)
{
    (void)state;
    const double y0[1] = {1.0}, yp0[1] = {-2.0};
    dae_residual form = {.n = 1, .f = brake};
    dae_options options = dae_options_default();
    stage st = open_stage(&form, &options);
    run_watched(&st, 0.0, y0, yp0, 3.0, DAE_STEP_CONVERGENCE, DAE_OK);
}

/* ---- and the step that follows ---- */

typedef struct snapshot {
    unsigned char *state;
    attempt result;
} snapshot;

/* With a fresh matrix: try, accept, and keep what the state became. */
static void step_from_scratch(dae_solver *s, double h, int order, snapshot *kept)
{
    newton_reset(&s->bound.newton);
    inner->attempt(s->bound.state, s->bound.scratch, &s->bound.context, h, order, &kept->result);
    if (kept->result.status == ATTEMPT_OK)
        inner->accept(s->bound.state, s->bound.scratch, &s->bound.context);
    memcpy(kept->state, s->bound.state, watch.size);
}

/* The same step from the same state, directly and after an attempt with another size and order. */
static void compare_steps(dae_solver *s, unsigned char *before, snapshot *direct, snapshot *after,
                          double factor, int other_order)
{
    double h = s->run.control.h;
    int order = s->run.control.order;
    attempt lost;
    memcpy(before, s->bound.state, watch.size);
    step_from_scratch(s, h, order, direct);
    memcpy(s->bound.state, before, watch.size);
    inner->attempt(s->bound.state, s->bound.scratch, &s->bound.context, factor * h, other_order,
                   &lost);
    assert_memory_equal(s->bound.state, before, watch.size);
    step_from_scratch(s, h, order, after);
    assert_int_equal(direct->result.status, after->result.status);
    assert_memory_equal(direct->state, after->state, watch.size);
    if (direct->result.status == ATTEMPT_OK) {
        assert_true(direct->result.error == after->result.error);
        assert_memory_equal(&direct->result.terms[1], &after->result.terms[1], 2 * sizeof(double));
    }
    memcpy(s->bound.state, before, watch.size);
    newton_reset(&s->bound.newton);
}

static void follow(const dae_residual *form, double t0, const double *y0, const double *yp0,
                   double tend, double tolerance, int most_steps, int least_order)
{
    dae_options options = dae_options_default();
    options.rtol = options.atol = tolerance;
    stage st = open_stage(form, &options);
    dae_solver *s = st.solver;
    s->bound.method = inner;
    unsigned char *before = malloc(watch.size);
    snapshot direct = {.state = malloc(watch.size)}, after = {.state = malloc(watch.size)};
    int highest = 0;
    assert_int_equal(dae_solver_start(s, t0, y0, yp0), DAE_OK);
    for (int k = 0; k < most_steps && dae_solver_step(s, tend) > 0; k++) {
        const double factors[] = {20.0, 0.3, 1.0, 1e6};
        int order = s->run.control.order;
        compare_steps(s, before, &direct, &after, factors[k % 4], k % 3 == 0 ? 1 : order);
        highest = order > highest ? order : highest;
    }
    if (highest < least_order) fail_msg("%s: order %d", inner->name, highest);
    free(before);
    free(direct.state);
    free(after.state);
    close_stage(&st);
}

static void follow_model(const char *name, double tolerance, int most_steps)
{
    model *m = model_new(name, 0);
    follow(&m->form, m->t0, m->y0, m->yp0, m->tend, tolerance, most_steps, 4);
    model_free(m);
}

static void test_step_after_rejection(void **state)
{
    (void)state;
    follow_model("robertson", 1e-6, 150);
    follow_model("pendulum1", 1e-8, 150);
    follow_model("pendulum2", 1e-6, 100);
    follow_model("hires", 1e-7, 150);
}

/* ---- methods on the second order form ---- */

/* A pendulum whose weight doubles at t = 1/2, without an event. */
static int kicked(double t, const double *y, const double *yp, double *f, void *user)
{
    pendulum(t, y, yp, f, user);
    if (t > 0.5) f[3] += 1.0;
    return 0;
}

/* Differences would depend on the evaluations before. */
static int pendulum_jacobian(double t, const double *y, const double *yp, double *dfdy,
                             double *dfdyp, void *user)
{
    (void)t, (void)yp, (void)user;
    dfdyp[0] = dfdyp[6] = dfdyp[12] = dfdyp[18] = 1.0; /* element (i,j) at [i + 5 j] */
    dfdy[10] = dfdy[16] = -1.0;
    dfdy[2] = dfdy[8] = y[4];
    dfdy[22] = y[0];
    dfdy[23] = y[1];
    dfdy[4] = 2.0 * y[0];
    dfdy[9] = 2.0 * y[1];
    return 0;
}

static void test_second_order(void **state)
{
    (void)state;
    static const method *const methods[] = {&method_bdf2nd, &method_bdf2nd_modified,
                                            &method_bdf2nd_thesis};
    static const double loose[CURVE_N] = {1e-4, 1e-4, 1e-2, 1e-2, 1e-2};
    double y0[CURVE_N], yp0[CURVE_N];
    pendulum_exact(0.0, y0, yp0);
    dae_residual form = {.n = CURVE_N,
                         .f = kicked,
                         .jacobian = pendulum_jacobian,
                         .structure = DAE_STRUCTURE_DENSE,
                         .kinds = curve_kinds,
                         .velocity = curve_velocity};
    for (int m = 0; m < 3; m++) {
        inner = methods[m];
        dae_options options = dae_options_default();
        options.rtol = options.atol = 1e-5;
        options.dense = DAE_DENSE_SMOOTH;
        if (m == 2) { /* it doubles until it fails, and stands no kick */
            options.rtol_by_unknown = options.atol_by_unknown = loose;
            form.f = pendulum;
        }
        stage st = open_stage(&form, &options);
        run_watched(&st, 0.0, y0, yp0, 1.0, DAE_STEP_ERROR_TEST, DAE_OK);
        form.f = pendulum;
        if (m < 2) follow(&form, 0.0, y0, yp0, 5.0, 1e-8, 100, m == 0 ? 5 : 2);
        form.f = kicked;
    }
    inner = &method_bdf;
}

/* Explicit methods on y' = phi(t, y), with an invariant to project onto. */
static int kicked_circle(double t, const double *y, const double *yp, double *F, void *user)
{
    (void)user;
    double speed = t < 0.5 ? 1.0 : 40.0;
    F[0] = yp[0] - speed * y[1];
    F[1] = yp[1] + speed * y[0];
    return 0;
}

static int radius(double t, const double *y, double *values, void *user)
{
    (void)t, (void)user;
    values[0] = y[0] * y[0] + y[1] * y[1];
    return 0;
}

static void test_explicit(void **state)
{
    (void)state;
    static const method *const methods[] = {&method_dopri5, &method_dop853};
    const double y0[2] = {0.0, 1.0}, yp0[2] = {1.0, 0.0};
    dae_residual form = {.n = 2, .f = kicked_circle};
    for (int m = 0; m < 4; m++) {
        inner = methods[m % 2];
        dae_options options = dae_options_default();
        options.invariant_count = m / 2;
        options.invariant_function = radius;
        stage st = open_stage(&form, &options);
        run_watched(&st, 0.0, y0, yp0, 1.0, DAE_STEP_ERROR_TEST, DAE_OK);
    }
    inner = &method_bdf;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_error_test),
        cmocka_unit_test(test_bound),
        cmocka_unit_test(test_evaluation),
        cmocka_unit_test(test_singular),
        cmocka_unit_test(test_stop),
        cmocka_unit_test(test_convergence),
        cmocka_unit_test(test_step_after_rejection),
        cmocka_unit_test(test_second_order),
        cmocka_unit_test(test_explicit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
