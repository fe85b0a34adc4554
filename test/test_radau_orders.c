/* Orders of Radau IIA on problems of index 0 to 3 against closed forms, every block of variables by
 * itself, at constant steps and on random grids. */
#include "closed_problems.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COARSE = 4 };
static int coarse_intervals = COARSE; /* 2 for order 13, which meets round-off at once */
enum { COUNTS = 11 };
static double tolerance = 1e-13; /* of Newton's method */
static int halvings = 8;         /* numbers of steps 1, 2, 4, .. that are tried, at most COUNTS */

/* A grid of `steps` intervals: equal ones (seed 0), or those of a random grid of COARSE intervals,
 * 1 to 2 long before scaling, each cut into equal parts. */
static void make_grid(double tend, int steps, unsigned seed, double *t)
{
    const int coarse = steps < coarse_intervals ? steps : coarse_intervals, parts = steps / coarse;
    double length[COARSE], sum = 0.0;
    for (int i = 0; i < coarse; i++) {
        seed = seed ? seed * 1664525u + 1013904223u : 0; /* any generator does */
        sum += length[i] = 1.0 + (double)(seed >> 8) / 16777216.0;
    }
    t[0] = 0.0;
    for (int i = 0; i < coarse; i++)
        for (int k = 1; k <= parts; k++)
            t[i * parts + k] = t[i * parts] + tend * length[i] / sum * k / parts;
    t[steps] = tend;
}

/* Largest relative errors of the blocks at tend on a grid; false: a step failed. */
static bool block_errors(const closed_form *c, const char *name, int steps, unsigned seed,
                         double error[3])
{
    dae_problem *p = problem_of(c);
    dae_options o = dae_options_default();
    dae_solver *s;
    double y[MOST], yp[MOST], exact[MOST], *t = malloc((size_t)(steps + 1) * sizeof *t);
    make_grid(c->tend, steps, seed, t);
    o.method = name;
    o.rtol = o.atol = tolerance;
    o.fixed_step = seed ? c->tend : c->tend / steps;
    o.newton_iterations = 200;
    o.stop_time = seed ? t[1] : c->tend;
    o.init = DAE_INIT_NONE;
    c->solution(0.0, y, yp);
    assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(s, 0.0, y, yp), DAE_OK);
    dae_status status = DAE_OK;
    for (int i = 1; i <= steps && seed && status == DAE_OK; i++) {
        dae_solver_set_stop_time(s, t[i]);
        status = dae_solver_run(s, t[i], y, NULL);
        if (status == DAE_OK) assert_int_equal(dae_solver_stats(s)->steps, i);
    }
    if (!seed) status = dae_solver_run(s, c->tend, y, NULL);
    c->solution(c->tend, exact, yp);
    for (int b = 0; b < c->count; b++) {
        int end = b + 1 < c->count ? c->first[b + 1] : c->n;
        error[b] = 0.0;
        for (int i = c->first[b]; i < end; i++)
            error[b] = fmax(error[b], fabs(y[i] - exact[i]) / (1.0 + fabs(exact[i])));
    }
    dae_solver_free(s);
    dae_problem_free(p);
    free(t);
    return status == DAE_OK;
}

/* Orders of the blocks from the finest pair of step sizes above round-off. */
static void orders_on(const closed_form *c, const char *name, const double floor_of[3],
                      unsigned seed, double order[3])
{
    double error[COUNTS][3];
    bool solved[COUNTS], done[3] = {false, false, false};
    for (int b = 0; b < 3; b++) order[b] = NAN;
    for (int k = 0; k < halvings; k++) {
        solved[k] = block_errors(c, name, 1 << k, seed, error[k]);
        for (int b = 0; solved[k] && b < c->count; b++) {
            done[b] = done[b] || error[k][b] <= floor_of[b];
            bool nested = k > 0 && (seed == 0 || 1 << (k - 1) >= coarse_intervals);
            if (nested && solved[k - 1] && !done[b]) order[b] = log2(error[k - 1][b] / error[k][b]);
        }
    }
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool random_grids; /* which grids the tests use now */

/* On equal steps; on random grids the median of five seeds. */
static void measure_orders(const closed_form *c, const char *name, const double floor_of[3],
                           double order[3])
{
    double all[3][5];
    coarse_intervals = !strcmp(name, "radau:13") ? 2 : COARSE;
    if (!random_grids) {
        orders_on(c, name, floor_of, 0, order);
        return;
    }
    for (unsigned k = 0; k < 5; k++) {
        double one[3];
        orders_on(c, name, floor_of, 17 + k, one);
        for (int b = 0; b < 3; b++) all[b][k] = isnan(one[b]) ? -1.0 : one[b];
    }
    for (int b = 0; b < c->count; b++) {
        qsort(all[b], 5, sizeof(double), by_size);
        order[b] = all[b][2];
    }
}

static void check_order(const closed_form *c, const char *name, int b, double order, double least,
                        double most)
{
    if (!(order >= least && order <= most))
        fail_msg("%s on %s, block %d: order %.2f, not in %.1f .. %.1f", name, c->name, b, order,
                 least, most);
}

static const char *const methods[] = {"radau:5", "radau:9", "radau:13"};

static void as_usual(void)
{
    halvings = 8;
    tolerance = 1e-13;
}

/* Index 0 and 1: 2s - 1 for all variables [HW96 VI.1]; on nonlinear problems at least */
static void orders_index_0_and_1(void **state)
{
    (void)state;
    as_usual();
    double floors[3] = {2e-12, 2e-12, 2e-12}, order[3];
    for (int m = 0; m < 3; m++) {
        int p = 4 * m + 5;
        double slack = m < 2 ? 0.3 : 0.7;
        const closed_form *both[] = {&rotation, &ode, &index1};
        /* round-off leaves too few points on the others to the highest orders */
        const int problems = m == 0 || (m == 1 && !random_grids) ? 3 : 1;
        for (int k = 0; k < problems; k++) {
            measure_orders(both[k], methods[m], floors, order);
            for (int b = 0; b < both[k]->count; b++)
                check_order(both[k], methods[m], b, order[b], p - slack,
                            k == 0 ? p + slack : 2.0 * p);
        }
    }
}

/* The same, within the slack on both sides, on a nonlinear problem of index 1: y and z apart */
static void orders_nonlinear_index_1(void **state)
{
    (void)state;
    as_usual();
    double floors[3] = {2e-12, 5e-14, 0.0}, order[3];
    for (int m = 0; m < 3; m++) {
        int p = 4 * m + 5;
        double slack = m < 2 ? 0.3 : 0.7;
        measure_orders(&turning, methods[m], floors, order);
        for (int b = 0; b < 2; b++)
            check_order(&turning, methods[m], b, order[b], p - slack, p + slack);
    }
}

/* On random grids of two intervals order 13 needs a longer way, lest it meet round-off at once. */
static closed_form longer(const closed_form *c, int m)
{
    closed_form other = *c;
    if (random_grids && m == 2) other.tend *= 3.0;
    return other;
}

/* Index 2: y 2s - 1, z s [HLR89 4] */
static void orders_index_2(void **state)
{
    (void)state;
    as_usual();
    double floors[3] = {2e-12, 2e-10, 0.0}, order[3];
    for (int m = 0; m < 3; m++) {
        int s = 2 * m + 3;
        const closed_form c = longer(&linear2, m);
        measure_orders(&c, methods[m], floors, order);
        check_order(&c, methods[m], 0, order[0], 2 * s - 1 - (m < 2 ? 0.3 : 0.7), 3.0 * s);
        check_order(&c, methods[m], 1, order[1], s - 0.3, 3.0 * s);
    }
}

/* Index 3: y s + 1 for 3 stages and s + 2 above, z s, u s - 1 [HLR89 6] */
static void orders_index_3(void **state)
{
    (void)state;
    as_usual();
    double floors[3] = {2e-11, 2e-10, 2e-8}, order[3];
    for (int m = 0; m < 3; m++) {
        int s = 2 * m + 3;
        const closed_form c = linear3;
        measure_orders(&c, methods[m], floors, order);
        check_order(&c, methods[m], 0, order[0], (s == 3 ? 4 : s + 2) - 0.3, 3.0 * s);
        check_order(&c, methods[m], 1, order[1], s - 0.3, 3.0 * s);
        check_order(&c, methods[m], 2, order[2], s - 1 - 0.3, 3.0 * s);
    }
}

/* Nonlinear systems of index 2 and 3: 2s - 1 and s, and s + 1, s and s - 1 [HLR89 4, 6], at least.
 * The order of z shows late. 5 stages meet round-off before Newton's method takes steps so long. */
static void orders_nonlinear_higher_index(void **state)
{
    (void)state;
    double floors[3] = {2e-12, 2e-10, 2e-8}, order[3];
    halvings = COUNTS;
    tolerance = 1e-12; /* noise of F in u, times h^2, is about 1e-13 */
    measure_orders(&index2, "radau:5", floors, order);
    check_order(&index2, "radau:5", 0, order[0], 4.7, 9.0);
    check_order(&index2, "radau:5", 1, order[1], 2.7, 9.0);
    floors[0] = 1e-10;
    measure_orders(&index3, "radau:5", floors, order);
    check_order(&index3, "radau:5", 0, order[0], 3.7, 9.0);
    check_order(&index3, "radau:5", 1, order[1], 2.7, 9.0);
    check_order(&index3, "radau:5", 2, order[2], 1.7, 9.0);
}

static void all_orders_on_random_grids(void **state)
{
    random_grids = true;
    orders_index_0_and_1(state);
    orders_nonlinear_index_1(state);
    orders_nonlinear_higher_index(state);
    orders_index_2(state);
    orders_index_3(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders_index_0_and_1),
        cmocka_unit_test(orders_nonlinear_index_1),
        cmocka_unit_test(orders_nonlinear_higher_index),
        cmocka_unit_test(orders_index_2),
        cmocka_unit_test(orders_index_3),
        cmocka_unit_test(all_orders_on_random_grids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
