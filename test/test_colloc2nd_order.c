/* Observed orders of colloc2nd on mechanisms of index 3, positions, velocities and multipliers
 * apart, on constant grids and on random ones of +-25 % [Wun05 (2.55)]. */
#include "colloc2nd_problems.h"
#include "numbers.h"

enum { PARTS = 3, SEEDS = 5, MOST_STEPS = 1600, PERIOD = 20 };

static double reference[5]; /* y at tend of the curve at hand */

/* Errors of q, v, lambda at tend on a grid of so many steps */
static void end_errors(const curve *c, const char *name, double tend, int steps, double jitter,
                       unsigned long seed, double error[PARTS])
{
    dae_options options = dae_options_default();
    dae_problem *problem;
    double h[MOST_STEPS];
    options.method = name;
    options.rtol = options.atol = 1e-13;
    options.newton_iterations = 80;
    options.fixed_step = tend / steps; /* steps are taken by hand */
    dae_solver *s = curve_solver(c, &options, &problem);
    start_point at = {.t = 0.0, .h = tend / steps, .y = s->bound.y, .yp = s->bound.yp};
    s->bound.method->start(s->bound.state, s->bound.scratch, &s->bound.context, &at);
    attempt a = {0};
    fill_grid(0.0, tend, steps, PERIOD, jitter, seed, h);
    for (int i = 0; i < steps; i++) {
        s->bound.method->attempt(s->bound.state, s->bound.scratch, &s->bound.context, h[i], 0, &a);
        if (a.status != ATTEMPT_OK) fail_msg("%s at %g: status %d", name, a.t, (int)a.status);
        s->bound.method->accept(s->bound.state, s->bound.scratch, &s->bound.context);
    }
    error[0] = error[1] = error[2] = 0.0;
    for (int j = 0; j < 5; j++) error[j / 2] = fmax(error[j / 2], fabs(a.y[j] - reference[j]));
    dae_solver_free(s);
    dae_problem_free(problem);
}

/* Medians over the seeds */
static void median_errors(const curve *c, const char *name, double tend, int steps, double jitter,
                          double error[PARTS])
{
    double all[PARTS][SEEDS];
    const int seeds = jitter > 0.0 ? SEEDS : 1;
    for (int seed = 0; seed < seeds; seed++) {
        end_errors(c, name, tend, steps, jitter, (unsigned long)seed + 1, error);
        for (int i = 0; i < PARTS; i++) all[i][seed] = error[i];
    }
    for (int i = 0; i < PARTS; i++) {
        qsort(all[i], (size_t)seeds, sizeof(double), compare);
        error[i] = all[i][seeds / 2];
    }
}

typedef struct claim {
    const char *method;
    double order;
    int coarsest, finest; /* steps */
} claim;

static const claim claims[] = {
    {"colloc2nd:1", 1, 400, 1600}, {"colloc2nd:3", 3, 80, 640},   {"colloc2nd:5", 5, 20, 160},
    {"colloc2nd:7", 7, 20, 80},    {"colloc2nd:2", 1, 200, 1600}, {"colloc2nd:4", 2, 100, 1600},
    {"colloc2nd:6", 3, 40, 320},   {"colloc2nd:8", 4, 40, 160},
};
enum { CLAIMS = sizeof claims / sizeof claims[0] };

/* What rounding leaves of values of size 1, with some room */
static const double ROUND_OFF = 1e-12;
static const char *const parts[PARTS] = {"q", "v", "lambda"};

/* log2 of the ratio of errors on the finest pair of grids above round-off */
static void check_order(const claim *m, const curve *c, double tend, double jitter)
{
    double coarse[PARTS] = {0.0}, fine[PARTS], order[PARTS] = {NAN, NAN, NAN};
    for (int steps = m->coarsest; steps <= m->finest; steps *= 2) {
        median_errors(c, m->method, tend, steps, jitter, fine);
        for (int i = 0; i < PARTS; i++) {
            double floor = ROUND_OFF * (1.0 + fabs(reference[2 * i]));
            if (steps > m->coarsest && fine[i] > floor) order[i] = log2(coarse[i] / fine[i]);
            coarse[i] = fine[i];
        }
    }
    for (int i = 0; i < PARTS; i++)
        if (!(fabs(order[i] - m->order) <= 0.3))
            fail_msg("%s, %s, %s, %s grid: observed order %.3f", m->method, c->name, parts[i],
                     jitter > 0.0 ? "random" : "constant", order[i]);
}

static void orders_on(const curve *c, double tend)
{
    curve_reference(c, 1, &tend, reference);
    for (int m = 0; m < CLAIMS; m++) {
        check_order(&claims[m], c, tend, 0.0);
        check_order(&claims[m], c, tend, 0.25);
    }
}

static void orders_on_255(void **state)
{
    (void)state;
    orders_on(&curve_255, 1.7);
}

static void orders_on_the_pendulum(void **state)
{
    (void)state;
    orders_on(&curve_pendulum, 2.9);
}

static void orders_on_an_ellipse(void **state)
{
    (void)state;
    orders_on(&curve_ellipse, 2.8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders_on_255),
        cmocka_unit_test(orders_on_the_pendulum),
        cmocka_unit_test(orders_on_an_ellipse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
