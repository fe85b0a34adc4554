/* The thesis variant of herk against the tables and figures of [Baese17], and the default mode
 * against the thesis one. Numbers of Table 1 and of the examples were recomputed with two
 * independent programs; where the print differs they are taken instead of it. */
#include "herk_problems.h"

static const double bottom[] = {-1, 0, 0, 0, 0}; /* the pendulum's start: horizontal, at rest */

/* Figures 3 and 4: the four classical tables. */
static const tableau *const classics[] = {&tableau_euler, &tableau_heun, &tableau_kutta3,
                                          &tableau_rk4};

static double growth_error(const tableau *table, int n)
{
    runner r;
    const double e[] = {exp(1), exp(1)};
    herk_config c = {.table = table, .thesis = true, .classical = true, .newton_tolerance = 1e-15};
    runner_open(&r, &method_herk_thesis, &growth, 0, 1, &c);
    runner_start(&r, 0, (double[]){1, 1}, 0.1);
    run_fixed(&r, 1, n);
    double error = distance(2, r.x, e);
    runner_close(&r);
    return error;
}

static void figure_3_has_its_slopes(void **state)
{
    (void)state;
    static const double slope[] = {0.9812, 1.9838, 2.9828, 4.0044};
    for (int k = 0; k < 4; k++) {
        double p = log10(growth_error(classics[k], 10) / growth_error(classics[k], 1000)) / 2;
        assert_true(fabs(p - slope[k]) < 1e-4);
    }
}

static double trig_error(const method *m, const herk_config *config, int n)
{
    runner r;
    double from = 0.2 * PI, to = 0.4 * PI;
    const double exact[] = {sin(to), cos(to), 1};
    runner_open(&r, m, &trig, 1e-14, 1e-14, config);
    runner_start(&r, from, (double[]){sin(from), cos(from), 1}, 0.1);
    run_fixed(&r, to, n);
    double error = distance(3, r.x, exact);
    runner_close(&r);
    return error;
}

/* The selection changes at pi/4, inside of the interval and not in its middle. */
static void a_change_of_selection_keeps_the_order(void **state)
{
    (void)state;
    static const double slope[] = {0.99, 2.01, 2.99, 4.03};
    for (int k = 0; k < 4; k++) {
        herk_config c = {
            .table = classics[k], .thesis = true, .classical = true, .newton_tolerance = 1e-15};
        double p =
            log2(trig_error(&method_herk_thesis, &c, 20) / trig_error(&method_herk_thesis, &c, 40));
        assert_true(fabs(p - slope[k]) < 0.01);
    }
    static const method *const mine[] = {&method_herk_euler,  &method_herk_heun,
                                         &method_herk_kutta3, &method_herk_rk4,
                                         &method_herk_hem4,   &method_herk_dopri5};
    for (int k = 0; k < 6; k++) {
        double p = log2(trig_error(mine[k], NULL, 20) / trig_error(mine[k], NULL, 40));
        assert_true(fabs(p - mine[k]->max_order) < 0.2);
    }
    double p =
        log2(trig_error(&method_herk_dop853, NULL, 4) / trig_error(&method_herk_dop853, NULL, 8));
    assert_true(fabs(p - 8) < 0.4);
}

static void figure_9_has_its_slope(void **state)
{
    (void)state;
    static const int per_second[] = {100, 300, 600, 1000};
    double sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (int k = 0; k < 4; k++) {
        runner r;
        herk_config c = {
            .table = &tableau_kutta3, .thesis = true, .classical = true, .newton_tolerance = 1e-13};
        runner_open(&r, &method_herk_thesis, &pendulum, 0, 1, &c);
        runner_start(&r, 0, bottom, 0.01);
        run_fixed(&r, 2, 2 * per_second[k]);
        double x = -log(per_second[k]), y = log(distance(5, r.x, bottom));
        sx += x, sy += y, sxx += x * x, sxy += x * y;
        runner_close(&r);
    }
    assert_true(fabs((4 * sxy - sx * sy) / (4 * sxx - sx * sx) - 3.0266) < 2e-3);
}

typedef struct cell {
    const quasilinear_form *form;
    double beta;
    int digits; /* eps0 = 10^-digits */
    long steps;
    double error;
} cell;

static const cell table_1[] = {
    {&pendulum, 0.7, 5, 577, 3.33e-2},        {&pendulum, 0.7, 6, 918, 3.07e-3},
    {&pendulum, 0.7, 7, 1451, 2.51e-4},       {&pendulum, 0.7, 8, 2318, 2.25e-5},
    {&pendulum, 0.7, 9, 3614, 2.17e-6},       {&pendulum, 0.9, 5, 493, 1.90e-2},
    {&pendulum, 0.9, 6, 743, 4.56e-3},        {&pendulum, 0.9, 7, 1149, 7.28e-4},
    {&pendulum, 0.9, 8, 1813, 8.00e-5},       {&pendulum, 0.9, 9, 2851, 7.37e-6},
    {&level_pendulum, 0.7, 5, 528, 4.83e-1},  {&level_pendulum, 0.7, 6, 821, 6.61e-2},
    {&level_pendulum, 0.7, 7, 1295, 6.20e-3}, {&level_pendulum, 0.7, 8, 2046, 6.12e-4},
    {&level_pendulum, 0.9, 5, 444, 2.34e-1},  {&level_pendulum, 0.9, 6, 676, 3.04e-2},
    {&level_pendulum, 0.9, 7, 1041, 3.45e-3}, {&level_pendulum, 0.9, 8, 1618, 5.24e-4},
    {&level_pendulum, 0.9, 9, 2530, 1.20e-4},
};

/* One run with the settings of Table 1; right-hand sides go to *f. */
static double thesis_pendulum(const cell *c, long *steps, long *f)
{
    runner r;
    herk_config config = {
        .table = &tableau_hem4, .thesis = true, .newton_tolerance = 1e-13, .beta = c->beta};
    runner_open(&r, &method_herk_thesis, c->form, 0, pow(10, -c->digits), &config);
    runner_start(&r, 0, bottom, 0.01);
    run_thesis(&r, 20, 0.01, NULL, NULL);
    double error = distance(5, r.x, bottom);
    *steps = r.accepted + 1;
    *f = r.count.f;
    runner_close(&r);
    return error;
}

static void table_1_is_reproduced(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof table_1 / sizeof table_1[0]; k++) {
        const cell *c = &table_1[k];
        long steps, f;
        double error = thesis_pendulum(c, &steps, &f);
        assert_true(fabs((double)(steps - c->steps)) <= 0.005 * (double)c->steps);
        assert_true(fabs(error - c->error) <= 0.05 * c->error);
    }
}

/* Largest errors along a run. */
typedef struct worst {
    void (*exact)(double t, double *x);
    int n, watched; /* component watched apart */
    double all, one;
} worst;

static void compare(runner *r, void *user)
{
    worst *m = user;
    double exact[MOST];
    m->exact(r->t, exact);
    m->all = fmax(m->all, distance(m->n, r->x, exact));
    m->one = fmax(m->one, fabs(r->x[m->watched] - exact[m->watched]));
}

static void the_circuit_is_reproduced(void **state)
{
    (void)state;
    runner r;
    worst m = {.exact = circuit_exact, .n = 5, .watched = 2};
    herk_config c = {.table = &tableau_rk4, .thesis = true, .newton_tolerance = 1e-10};
    runner_open(&r, &method_herk_thesis, &circuit, 0, 1e-10, &c);
    runner_start(&r, 0, (double[]){0, 0, 0, 0, -50}, 0.001);
    run_thesis(&r, 1, 0.001, compare, &m);
    assert_true(labs(r.accepted + 1 - 1134) <= 11); /* "about 1134" */
    assert_true(m.all < 3.4e-8);
    assert_true(m.one < 1e-15);
    runner_close(&r);
}

static void the_chain_is_reproduced(void **state)
{
    (void)state;
    runner r;
    worst m = {.exact = chain_exact, .n = 7};
    herk_config c = {.table = &tableau_rk4,
                     .thesis = true,
                     .classical = true,
                     .newton_tolerance = 1e-8, /* a tenth of eps0 */
                     .beta = 0.8};
    runner_open(&r, &method_herk_thesis, &chain, 0, 1e-7, &c);
    runner_start(&r, 0, (double[]){0, 0, 0, -2, 1, -2, 0}, 0.001);
    run_thesis(&r, 400, 0.001, compare, &m);
    assert_true(labs(r.accepted + 1 - 2779) <= 14);
    assert_true(m.all < 1e-5); /* and does not accumulate over 60 periods */
    runner_close(&r);
}

static const double wind_start[] = {0, -2, 0, 0.03, 4.89};
static const double wind_end[] = {0.08353861, -0.49297191, 0.22257854, 0.06814567, 19.164047};

static void the_modified_pendulum_is_reproduced(void **state)
{
    (void)state;
    double error[2];
    for (int k = 0; k < 2; k++) {
        runner r;
        herk_config c = {
            .table = &tableau_kutta3, .thesis = true, .classical = true, .newton_tolerance = 1e-10};
        runner_open(&r, &method_herk_thesis, &wind_pendulum, 0, 1, &c);
        runner_start(&r, 0, wind_start, 0.02);
        run_fixed(&r, 50, k == 0 ? 2500 : 5000);
        error[k] = distance(4, r.x, wind_end);
        runner_close(&r);
    }
    assert_true(error[0] < 1e-3);
    assert_true(fabs(log2(error[0] / error[1]) - 3) < 0.1);
}

/* Steps and error of one run */
static double akzo_error(double eps0, double beta, long *steps)
{
    runner r;
    herk_config c = {
        .table = &tableau_hem4, .thesis = true, .newton_tolerance = fmin(1e-7, eps0), .beta = beta};
    runner_open(&r, &method_herk_thesis, &akzo, 0, eps0, &c);
    runner_start(&r, 0, akzo_start, 0.01);
    run_thesis(&r, 180, 0.01, NULL, NULL);
    double error = distance(6, r.x, akzo_end);
    *steps = r.accepted + 1;
    runner_close(&r);
    return error;
}

/* Stability limits the steps. The error at the end is that of the second component alone, and where
 * the last steps happen to fall decides on it: beta = 0.78 changed by up to 2e-4 moves it by two
 * powers of ten. What others found lies among these values. */
static void akzo_nobel_is_reproduced(void **state)
{
    (void)state;
    static const long steps[] = {143, 161, 198, 268, 403};
    static const double errors[] = {2.7e-7, 2.1e-7, 3.2e-9, 8.1e-10, 1.2e-10};
    for (int k = 0; k < 5; k++) {
        double eps0 = pow(10, -6 - k), least = INFINITY, most = 0;
        long count;
        assert_true(akzo_error(eps0, 0.78, &count) < 10 * eps0);
        assert_true(labs(count - steps[k]) <= 4);
        for (int i = -20; i <= 20; i++) {
            double error = akzo_error(eps0, 0.78 + 1e-5 * i, &count);
            least = fmin(least, error);
            most = fmax(most, error);
        }
        assert_true(least <= 1.2 * errors[k] && most >= errors[k]);
    }
}

/* ---- the default mode ------------------------------------------------------------------------ */

/* Error of the default mode with at most `budget` right-hand sides: the best tolerance found. */
static double best_within(const quasilinear_form *form, double tf, double h, const double *start,
                          const double *end, int n, long budget)
{
    double best = INFINITY;
    for (double digits = 2; digits <= 13; digits += 0.5) {
        runner r;
        double tolerance = pow(10, -digits);
        runner_open(&r, &method_herk, form, tolerance, tolerance, NULL);
        runner_start(&r, 0, start, h);
        assert_true(run_to(&r, tf, h));
        if (r.count.f <= budget) best = fmin(best, distance(n, r.x, end));
        runner_close(&r);
    }
    return best;
}

static void ten_times_more_accurate_on_the_pendulum(void **state)
{
    (void)state;
    for (int k = 5; k < 10; k++) {
        long steps, f;
        double error = thesis_pendulum(&table_1[k], &steps, &f);
        double mine = best_within(&exact_pendulum, 20, 0.01, bottom, bottom, 5, f);
        assert_true(mine < 0.01 * error);
    }
}

/* The same on the other examples, thesis' settings against any tolerance. */
static void ten_times_more_accurate_elsewhere(void **state)
{
    (void)state;
    double end[MOST];
    herk_config c = {.table = &tableau_rk4, .thesis = true, .newton_tolerance = 1e-10};
    runner r;
    circuit_exact(1, end);
    const double circuit_start[] = {0, 0, 0, 0, -50};
    runner_open(&r, &method_herk_thesis, &circuit, 0, 1e-10, &c);
    runner_start(&r, 0, circuit_start, 0.001);
    run_thesis(&r, 1, 0.001, NULL, NULL);
    double mine = best_within(&circuit, 1, 0.001, circuit_start, end, 5, r.count.f);
    assert_true(mine < 0.1 * distance(5, r.x, end));
    runner_close(&r);
    chain_exact(400, end);
    c.beta = 0.8;
    const double chain_start[] = {0, 0, 0, -2, 1, -2, 0};
    runner_open(&r, &method_herk_thesis, &chain, 0, 1e-7, &c);
    runner_start(&r, 0, chain_start, 0.001);
    run_thesis(&r, 400, 0.001, NULL, NULL);
    mine = best_within(&chain, 400, 0.001, chain_start, end, 7, r.count.f);
    assert_true(mine < 0.1 * distance(7, r.x, end));
    runner_close(&r);
}

static void the_modified_pendulum_meets_its_reference(void **state)
{
    (void)state;
    runner r;
    runner_open(&r, &method_herk, &wind_pendulum, 1e-11, 1e-11, NULL);
    runner_start(&r, 0, wind_start, 0.02);
    assert_true(run_to(&r, 50, 0.02));
    assert_true(distance(4, r.x, wind_end) < 2e-8);
    assert_true(fabs(r.x[4] - wind_end[4]) < 1e-6);
    runner_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figure_3_has_its_slopes),
        cmocka_unit_test(a_change_of_selection_keeps_the_order),
        cmocka_unit_test(figure_9_has_its_slope),
        cmocka_unit_test(table_1_is_reproduced),
        cmocka_unit_test(the_circuit_is_reproduced),
        cmocka_unit_test(the_chain_is_reproduced),
        cmocka_unit_test(the_modified_pendulum_is_reproduced),
        cmocka_unit_test(akzo_nobel_is_reproduced),
        cmocka_unit_test(ten_times_more_accurate_on_the_pendulum),
        cmocka_unit_test(ten_times_more_accurate_elsewhere),
        cmocka_unit_test(the_modified_pendulum_meets_its_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
