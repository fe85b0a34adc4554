/* The curve R(x(s)) = (1 - s) R(x_0): its end is the solution near the start, where Newton's full
 * steps pass poles and end far beyond them, in either direction, for any size of the equations and
 * any mixture of them. */
#include "init/engine.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { MOST = 3 };

/* Equations f_i(x_i) = goal_i, mixed by unit lower triangular rows: R_i = size (f_i + sum of those
 * before it). */
typedef struct system {
    double (*f)(double x, double *slope);
    double goal[MOST], size;
    double slope[MOST]; /* at x */
} system;

static double tangent(double x, double *slope)
{
    *slope = 1.0 + tan(x) * tan(x);
    return tan(x);
}

/* It bends at 0 alone. */
static double saturating(double x, double *slope)
{
    const double k = 1e-6;
    *slope = k / ((k + fabs(x)) * (k + fabs(x)));
    return x / (k + fabs(x));
}

static double line(double x, double *slope)
{
    *slope = 3.0;
    return 3.0 * x;
}

static void residual(const system *q, int n, const double *x, double *r, double *slope)
{
    double before = 0.0;
    for (int i = 0; i < n; i++) {
        const double own = q->f(x[i], &slope[i]) - q->goal[i];
        r[i] = q->size * (own + before);
        before += own;
    }
}

static engine_outcome linearise(engine *e)
{
    system *q = e->user;
    double r[MOST];
    residual(q, e->n, e->x, r, q->slope);
    return ENGINE_MET;
}

static engine_outcome correction(engine *e, const double *r, double *dx)
{
    const system *q = e->user;
    double before = 0.0;
    for (int i = 0; i < e->n; i++) {
        const double own = r[i] / q->size - before;
        before += own;
        dx[i] = -own / q->slope[i];
    }
    return ENGINE_MET;
}

static engine_outcome evaluate(engine *e)
{
    double slope[MOST];
    residual(e->user, e->n, e->trial, e->trial_r, slope);
    return isfinite(e->trial_r[e->n - 1]) ? ENGINE_MET : ENGINE_UNDEFINED;
}

static engine_outcome follow(system *q, int n, double *x)
{
    static const engine_source source = {
        .linearise = linearise, .correction = correction, .evaluate = evaluate};
    double trial[MOST], r[MOST], trial_r[MOST], dx[MOST], next[MOST], slope[MOST];
    engine e = {.source = &source,
                .user = q,
                .n = n,
                .m = n,
                .counted = n,
                .x = x,
                .trial = trial,
                .r = r,
                .trial_r = trial_r,
                .dx = dx,
                .next = next,
                .tolerance = 1e-12,
                .longest_stride = 1.0,
                .most = 50};
    residual(q, n, x, r, slope);
    return engine_follow(&e);
}

static void expect(system *q, int n, const double *from, const double *to)
{
    double x[MOST];
    for (int i = 0; i < n; i++) x[i] = from[i];
    assert_int_equal(follow(q, n, x), ENGINE_MET);
    for (int i = 0; i < n; i++)
        if (!(fabs(x[i] - to[i]) < 1e-9 * (fabs(from[i]) + fabs(to[i])) + 1e-11))
            fail_msg("%.17g, not %.17g", x[i], to[i]);
}

/* tan x = c: the root of the branch of the start. */
static void poles_are_not_passed(void **state)
{
    (void)state;
    static const double goals[] = {0.1, 2.0, 30.0, 1000.0}, sizes[] = {1e-12, 1.0, 1e12};
    for (int k = 0; k < 4; k++)
        for (int sign = -1; sign <= 1; sign += 2)
            for (int j = 0; j < 9; j++) {
                const double c = sign * goals[k], from[3] = {0.0, -0.7, 0.3};
                system q = {.f = tangent, .goal = {c, -c, 0.5 * c}, .size = sizes[j % 3]};
                expect(&q, 1 + j / 3, from, (double[3]){atan(c), atan(-c), atan(0.5 * c)});
            }
}

/* x/(k + |x|) = c for small k: from far on one side of the bend to the other. */
static void bends_are_passed(void **state)
{
    (void)state;
    for (int sign = -1; sign <= 1; sign += 2) {
        system q = {.f = saturating, .goal = {sign * 0.5}, .size = 1.0};
        expect(&q, 1, (double[1]){-sign * 2e-6}, (double[1]){sign * 1e-6});
        expect(&q, 1, (double[1]){sign * 2e-6}, (double[1]){sign * 1e-6});
    }
}

/* Straight lines lead to their zeros, from far and from near. */
static void lines_are_straight(void **state)
{
    (void)state;
    system q = {.f = line, .goal = {6.0, -3.0, 0.0}, .size = 1.0};
    expect(&q, 3, (double[3]){1e6, -1e-3, 5.0}, (double[3]){2.0, -1.0, 0.0});
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(poles_are_not_passed),
                                       cmocka_unit_test(bends_are_passed),
                                       cmocka_unit_test(lines_are_straight)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
