/* Multipliers of index 3 behind forced changes of step and order: the errors of second order
 * methods fall with h, where BDF on the first order form shows errors of size 1 [Wun05 2.4, 3.4].
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "second_order_problems.h"

enum { MAX_ORDER = 5, BEFORE = 8, BEHIND = 4 };

static dae_solver *open_curve(dae_problem *problem, const char *name)
{
    dae_options options = dae_options_default();
    dae_solver *s;
    dae_diag diag = {0};
    options.method = name;
    options.rtol = options.atol = 1e-6;
    options.newton_tolerance = 1e-7; /* to 1e-13, or rounding */
    options.newton_iterations = 10;
    options.init = DAE_INIT_NONE;
    options.fixed_step = 1e-3; /* the steps are taken by hand: index 3 by bdf is our own choice */
    if (dae_solver_new(problem, &options, &s, &diag)) fail_msg("%s", diag.text);
    return s;
}

/* Exact values at k + 1 points with distances h, the last one at t */
static void start_at(dae_solver *s, const curve_problem *p, int k, double t, double h)
{
    double past_t[MAX_ORDER + 1], past_y[(MAX_ORDER + 1) * CURVE_N], yp[CURVE_N];
    for (int i = k; i >= 0; i--) {
        past_t[i] = t - i * h;
        p->exact(past_t[i], past_y + i * CURVE_N, yp);
    }
    if (dae_solver_start_history(s, k + 1, past_t, past_y, yp))
        fail_msg("%s", dae_solver_diag(s)->text);
    start_point at = {.t = t,
                      .h = h,
                      .y = s->bound.y,
                      .yp = s->bound.yp,
                      .history = k + 1,
                      .past_t = past_t,
                      .past_y = past_y};
    s->bound.method->start(s->bound.state, s->bound.scratch, &s->bound.context, &at);
}

/* A change behind BEFORE steps of size h and order k: the step becomes `factor` times as long, the
 * order `to`. The largest error of lambda then, on the step that changes and some behind it. */
typedef struct change {
    int from, to;
    double factor;
} change;

static double worst_multiplier(const curve_problem *p, const char *name, const change *c, double h)
{
    dae_problem *problem = curve_new(p);
    dae_solver *s = open_curve(problem, name);
    int k = c->from > 1 ? c->from : 2; /* a history has two steps at least */
    double t = p->t0 + k * h, worst = 0.0, y[CURVE_N], yp[CURVE_N];
    start_at(s, p, k, t, h);
    for (int i = 0; i < BEFORE + BEHIND; i++) {
        bool changed = i >= BEFORE;
        double step = changed ? c->factor * h : h;
        attempt a;
        s->bound.method->attempt(s->bound.state, s->bound.scratch, &s->bound.context, step,
                                 changed ? c->to : c->from, &a);
        if (a.status != ATTEMPT_OK)
            fail_msg("%s, %d to %d, %g: status %d", name, c->from, c->to, c->factor, (int)a.status);
        t += step;
        p->exact(t, y, yp);
        worst = fmax(worst, fabs(a.y[4] - y[4]));
        s->bound.method->accept(s->bound.state, s->bound.scratch, &s->bound.context);
    }
    dae_solver_free(s);
    dae_problem_free(problem);
    return worst;
}

/* lambda is of size 4 and more; rounding leaves eps/h^2 of it, amplified by steps that grow. */
static void check_change(const curve_problem *p, const char *name, const change *c)
{
    const double h = 4e-3, rounding = 1e-6;
    double coarse = worst_multiplier(p, name, c, h), fine = worst_multiplier(p, name, c, h / 8.0);
    if (!(fine <= fmax(coarse / 4.0, rounding) && fine < 0.1))
        fail_msg("%s, %s, order %d to %d, step times %g: errors of lambda %.2e, %.2e", p->name,
                 name, c->from, c->to, c->factor, coarse, fine);
}

static const double factors[] = {0.2, 0.5, 0.8, 1.0, 1.3, 2.0, 5.0};
enum { FACTORS = sizeof factors / sizeof *factors };

static void check_method(const char *name, int highest)
{
    for (int problem = 0; problem < 3; problem++)
        for (int from = 1; from <= highest; from++)
            for (int to = from > 1 ? from - 1 : 1; to <= from + 1 && to <= highest; to++)
                for (int f = 0; f < FACTORS; f++)
                    check_change(&curves[problem], name, &(change){from, to, factors[f]});
}

static void bdf2nd_knows_no_jumps(void **state)
{
    (void)state;
    check_method("bdf2nd", MAX_ORDER);
}

/* The thesis' variant, up to the orders that it uses */
static void bdf2nd_modified_knows_none_at_low_order(void **state)
{
    (void)state;
    check_method("bdf2nd:modified", 2);
}

/* The trouble is real: first order BDF, where the step changes. */
static void bdf_jumps(void **state)
{
    (void)state;
    const change half = {1, 1, 0.5};
    assert_true(worst_multiplier(&curves[0], "bdf", &half, 5e-4) > 0.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bdf2nd_knows_no_jumps),
        cmocka_unit_test(bdf2nd_modified_knows_none_at_low_order),
        cmocka_unit_test(bdf_jumps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
