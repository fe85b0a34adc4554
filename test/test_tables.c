/* Butcher tables of the user: reading, order conditions, runs, and what is refused. */
#include "method/common/order_trees.h"
#include "method/common/own_table.h"
#include "method/common/tableau.h"
#include "method/half_explicit/hem_table.h"

#include <daedal.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- tables ---- */

/* [BH93 Table 2] */
static const char hem3[] = "name Brasey and Hairer, order 3\n"
                           "order 3\n"
                           "index 2   # half-explicit\n"
                           "c 0 1/3 1\n"
                           "A\n 0\n 1/3\n -1 2\n"
                           "b 0 3/4 1/4\n";

/* [BH93 Table 5]; the embedded solution is Y_5 (6.1) */
static const char hem4[] =
    "name HEM4\norder 4\nindex 2\nstages 5\n"
    "c 0, 3/10, (4-sqrt(6))/10, (4+sqrt(6))/10, 1\n"
    "A\n 0\n 3/10\n (1+sqrt(6))/30 (11-4*sqrt(6))/30\n"
    " (-79-31*sqrt(6))/150 (-1-4*sqrt(6))/30 (24+11*sqrt(6))/25\n"
    " (14+5*sqrt(6))/6 (-8+7*sqrt(6))/6 (-9-7*sqrt(6))/4 (9-sqrt(6))/4\n"
    "b 0 0 (16-sqrt(6))/36 (16+sqrt(6))/36 1/9\n"
    "embedded (14+5*sqrt(6))/6 (-8+7*sqrt(6))/6 (-9-7*sqrt(6))/4 (9-sqrt(6))/4 0\n";

/* Kutta's method of order 3 with the midpoint rule embedded */
static const char kutta[] = "name Kutta\norder 3\nc 0 .5 1\nA\n0 0 0\n1/2 0 0\n-1 2 0\n"
                            "b 1/6 2/3 1/6\nembedded 0 1 0\n";

/* Dormand and Prince 5(4) [DP80] in seven stages, the last of which ends the step */
static const char dopri5[] =
    "name DOPRI5\norder 5\nc 0 1/5 3/10 4/5 8/9 1 1\n"
    "A\n0\n1/5\n3/40 9/40\n44/45 -56/15 32/9\n19372/6561 -25360/2187 64448/6561 -212/729\n"
    "9017/3168 -355/33 46732/5247 49/176 -5103/18656\n"
    "35/384 0 500/1113 125/192 -2187/6784 11/84\n"
    "b 35/384 0 500/1113 125/192 -2187/6784 11/84 0\n"
    "embedded 5179/57600 0 7571/16695 393/640 -92097/339200 187/2100 1/40\n";

static const char classical[] = "name RK4\norder 4\nc 0 1/2 1/2 1\nA\n0\n1/2\n0 1/2\n0 0 1\n"
                                "b 1/6 1/3 1/3 1/6\n";

/* Radau IIA [HW96 IV.5 Table 5.6], Gauss [HW96 IV.5 Table 5.1], Radau IA with three stages [HW96
 * IV.5 Table 5.4], and Alexander's SDIRK method of order 2 with backward Euler embedded in it */
static const char radau5[] =
    "name Radau IIA\norder 5\nindex 2\nc (4-sqrt(6))/10 (4+sqrt(6))/10 1\nA\n"
    "(88-7*sqrt(6))/360 (296-169*sqrt(6))/1800 (-2+3*sqrt(6))/225\n"
    "(296+169*sqrt(6))/1800 (88+7*sqrt(6))/360 (-2-3*sqrt(6))/225\n"
    "(16-sqrt(6))/36 (16+sqrt(6))/36 1/9\nb (16-sqrt(6))/36 (16+sqrt(6))/36 1/9\n";
static const char gauss4[] =
    "name Gauss\norder 4\nindex 2\nc 1/2-sqrt(3)/6 1/2+sqrt(3)/6\nA\n1/4 1/4-sqrt(3)/6\n"
    "1/4+sqrt(3)/6 1/4\nb 1/2 1/2\n";
static const char radau_ia[] =
    "name Radau IA\norder 5\nc 0 (6-sqrt(6))/10 (6+sqrt(6))/10\nA\n"
    "1/9 (-1-sqrt(6))/18 (-1+sqrt(6))/18\n1/9 (88+7*sqrt(6))/360 (88-43*sqrt(6))/360\n"
    "1/9 (88+43*sqrt(6))/360 (88-7*sqrt(6))/360\nb 1/9 (16+sqrt(6))/36 (16-sqrt(6))/36\n";
static const char sdirk2[] = "name SDIRK\norder 2\nc 1-sqrt(1/2) 1\nA\n1-sqrt(1/2)\n"
                             "sqrt(1/2) 1-sqrt(1/2)\nb sqrt(1/2) 1-sqrt(1/2)\nembedded 0 1\n";
/* Three different eigenvalues; order 2 */
static const char dirk[] = "name DIRK\norder 2\nc 1/4 1/2 1\nA\n1/4\n1/6 1/3\n1/4 5/8 1/8\n"
                           "b 1/4 5/8 1/8\n";

static dae_table read_table(const char *text)
{
    dae_table t = dae_table_empty();
    dae_diag diag = {0};
    if (dae_table_from_text(text, &t, &diag) != DAE_OK) fail_msg("%s", diag.text);
    return t;
}

static void check_takes(const char *text, const char *method)
{
    dae_table t = read_table(text);
    dae_diag diag = {0};
    if (dae_table_check(&t, method, &diag) != DAE_OK) fail_msg("%s: %s", method, diag.text);
}

static void check_refuses(const dae_table *t, const char *method, const char *words)
{
    dae_diag diag = {0};
    assert_int_equal(dae_table_check(t, method, &diag), DAE_ERR_ARGUMENT);
    if (!strstr(diag.text, words)) fail_msg("\"%s\" is not in: %s", words, diag.text);
}

/* ---- conditions ---- */

/* 1, 2, 6, 20 conditions [BH93 Table 1], 76 of order 5; numbers of rooted trees [HNW93 II.2]. */
static void numbers_of_conditions(void **state)
{
    (void)state;
    static const int index2[] = {0, 1, 2, 6, 20, 76};
    static const int classical_trees[] = {0, 1, 2, 4, 8, 17, 37, 85, 200, 486, 1205};
    order_forest *f = malloc(sizeof *f);
    assert_non_null(f);
    order_forest_grow(f, ORDER_MOST_INDEX2, ORDER_INDEX2);
    assert_true(f->count < ORDER_TREES);
    for (int order = 1; order <= 5; order++)
        assert_int_equal(order_forest_roots(f, order, false), index2[order]);
    order_forest_grow(f, ORDER_MOST, ORDER_CLASSICAL);
    for (int order = 1; order <= ORDER_MOST; order++)
        assert_int_equal(order_forest_roots(f, order, false), classical_trees[order]);
    free(f);
}

/* Right-hand sides of [BH93 Table 1], (1) to (20). */
static void numbers_of_table_1(void **state)
{
    (void)state;
    static const double right[20] = {1.0,     0.5,      1.0 / 3,  1.0 / 6, 2.0 / 3, 4.0 / 3, 0.25,
                                     1.0 / 8, 1.0 / 12, 1.0 / 24, 0.5,     1.0,     2.0,     0.75,
                                     3.0 / 8, 0.25,     1.5,      0.75,    1.0 / 6, 1.0 / 3};
    int seen[21] = {0};
    char text[ORDER_TEXT];
    dae_table t = read_table(hem4);
    condition_set *o = malloc(sizeof *o);
    assert_non_null(o);
    assert_true(condition_set_prepare(o, &t, 4, ORDER_INDEX2, true));
    for (int k = 0; k < o->forest.count; k++) {
        const order_tree *tree = &o->forest.trees[k];
        if (tree->fat || tree->lone) continue;
        int number = order_condition_text(o, k, text);
        assert_in_range(number, 1, 20);
        seen[number]++;
        assert_true(fabs((double)tree->gamma - right[number - 1]) < 1e-15);
    }
    for (int n = 1; n <= 20; n++) assert_int_equal(seen[n], 1);
    free(o);
}

/* Known tables have their orders and no more. */
static void known_tables(void **state)
{
    (void)state;
    check_takes(hem3, "hem");
    check_takes(hem4, "hem");
    check_takes(hem4, "herk");
    check_takes(kutta, "prk");
    check_takes(dopri5, "prk");
    check_takes(dopri5, "herk");
    check_takes(classical, "herk");
    dae_table t = read_table(classical);
    t.order = 5;
    check_refuses(&t, "prk", "it has not order 5 but 4: sum b_i");
    t.order = 4;
    check_refuses(&t, "hem",
                  "for index 2 but 2: condition (6) of Brasey and Hairer, sum b_i omega_ij "
                  "c_{j+1}^2 omega_ik c_{k+1}^2 = 1.5, not 4/3; 8 more");
    t = read_table(dopri5);
    t.embedded_order = 5;
    check_refuses(&t, "prk", "the embedded weights have not order 5 but 4");
    t = read_table(hem4);
    t.embedded_order = 3;
    check_refuses(&t, "hem", "the embedded weights have not order 3 but 2");
}

/* Implicit ones, with conditions of index 1 and 2, stiffly accurate or projected. */
static void implicit_tables(void **state)
{
    (void)state;
    check_takes(radau5, "irk");
    check_takes(gauss4, "irk");
    check_takes(radau_ia, "irk");
    check_takes(sdirk2, "irk");
    dae_table t = read_table(radau_ia);
    t.index = 2;
    check_refuses(&t, "irk", "with C(2) and D(3) the order is no more than 4: C(3) in row 1 of A");
    t.order = 4;
    dae_diag diag = {0};
    assert_int_equal(dae_table_check(&t, "irk", &diag), DAE_OK);
    t = read_table(sdirk2);
    t.order = 3;
    check_refuses(&t, "irk", "it has not order 3 but 2: sum b_i");
    t.order = 2;
    t.index = 2;
    check_refuses(&t, "irk", "variables of index 2 have order 1 only: C(2) in row 1 of A");
    t = read_table(radau5);
    t.order = 6;
    check_refuses(&t, "irk", "it has not order 6 for index 2 but 5: sum b_i");
    t.index = 1;
    check_refuses(&t, "irk", "it has not order 6 but 5: sum b_i");
    t.index = 3;
    check_refuses(&t, "irk", "for index 3; method irk takes tables for index 1 or 2");
    check_refuses(&t, "prk", "in column 1; method prk is explicit");
    t = read_table("order 2\nc 0 1\nA\n0 0\n1/2 1/2\nb 1/2 1/2\n"); /* Lobatto IIIA */
    check_refuses(&t, "irk", "its matrix A is singular, and method irk needs its inverse");
}

/* Every coefficient counts: with one of them off, and its row sum kept, no table passes. */
static void every_coefficient_counts(void **state)
{
    (void)state;
    const dae_table right = read_table(hem4);
    for (int i = 2; i <= 5; i++)
        for (int j = 1; j < i; j++) {
            dae_table t = right;
            double *row = i < 5 ? t.A[i] : t.b;
            row[j] += 1e-6;
            row[j - 1] -= 1e-6;
            check_refuses(&t, "hem", "condition (");
        }
    dae_table t = right;
    t.b[1] += 1e-6;
    t.b[0] -= 1e-6;
    check_refuses(&t, "hem",
                  "condition (2) of Brasey and Hairer, sum b_i c_i = 0.5000003, not 1/2");
}

/* ---- as methods read them ---- */

/* x(theta) of the continuous extension for x' = t^power over [0, 1], nested as tableau.h has it */
static double extension_at(const rounded_tableau *r, int power, double theta)
{
    const int s = r->stages, all = s + 1 + r->further;
    double K[TABLEAU_MOST_ALL], x1 = 0.0, row[2] = {0.0, 0.0}, rest = 1.0 - theta;
    for (int i = 0; i < all; i++) K[i] = power == 0 ? 1.0 : pow(r->c[i], power);
    for (int i = 0; i < s; i++) x1 += r->b[i] * K[i];
    for (int i = 0; i < all; i++)
        for (int k = 0; k < 2; k++) row[k] += r->dense[k][i] * K[i];
    double left = K[0] - x1, right = x1 - K[s];
    double cubic = theta * (x1 + rest * (rest * left + theta * right));
    return cubic + theta * theta * rest * rest * (row[0] + theta * row[1]);
}

/* The quintic through the middle of a step is exact where the quadrature of the table is; further
 * stages are those of half a step. */
static void continuous_extension(void **state)
{
    (void)state;
    dae_table t = read_table(dopri5);
    rounded_tableau r;
    t.embedded_order = 4;
    own_tableau(&t, &r);
    assert_int_equal(r.rows, 2);
    assert_int_equal(r.further, t.stages);
    for (int power = 0; power <= 4; power++)
        for (double theta = 0.1; theta < 1.0; theta += 0.2)
            assert_true(fabs(extension_at(&r, power, theta) - pow(theta, power + 1) / (power + 1)) <
                        1e-14);
    for (int i = t.stages + 1; i <= 2 * t.stages; i++) {
        double sum = 0.0;
        for (int j = 0; j < i; j++) sum += r.a[i][j];
        assert_true(fabs(sum - r.c[i]) < 1e-14);
    }
    assert_true(fabs(r.c[2 * t.stages] - 0.5) < 1e-15);
    assert_true(fabs(r.stable - 3.3066) < 0.011); /* [HW96 IV.2] */
}

/* Z_i = z0 + h zeta_i z' as hem has it for its own table. */
static void start_values_of_z(void **state)
{
    (void)state;
    dae_table t = read_table(hem4);
    double zeta[DAE_TABLE_STAGES];
    own_table_zeta(&t, zeta);
    for (int i = 0; i < 5; i++) assert_true(fabs(zeta[i] - hem4_table.zeta[i]) < 1e-14);
}

/* ---- construction [BH93 section 4] ---- */

static void constructed_tables(void **state)
{
    (void)state;
    const dae_table known = read_table(hem4);
    dae_table t = dae_table_empty();
    dae_diag diag = {0};
    assert_int_equal(dae_table_hem4(0.3, (4.0 - sqrt(6.0)) / 10.0, &t, &diag), DAE_OK);
    for (int i = 0; i < 5; i++) {
        assert_true(fabs(t.b[i] - known.b[i]) < 1e-14 && fabs(t.c[i] - known.c[i]) < 1e-14);
        for (int j = 0; j < 5; j++) assert_true(fabs(t.A[i][j] - known.A[i][j]) < 1e-13);
    }
    static const double free_nodes[][2] = {{0.2, 0.2}, {0.5, 0.75}, {0.4, 0.1}, {0.25, 0.6}};
    for (int k = 0; k < 4; k++) {
        if (dae_table_hem4(free_nodes[k][0], free_nodes[k][1], &t, &diag) != DAE_OK)
            fail_msg("%s", diag.text);
        assert_int_equal(dae_table_check(&t, "hem", &diag), DAE_OK);
        assert_true(t.c[1] == free_nodes[k][0] && t.c[2] == free_nodes[k][1]);
    }
    assert_int_equal(dae_table_hem4(0.3, 1.0 / 3.0, &t, &diag), DAE_ERR_ARGUMENT);
    assert_non_null(strstr(diag.text, "c2 = 0.3 and c3 = 0.333333"));
    assert_int_equal(dae_table_hem4(0.0, 0.25, &t, &diag), DAE_ERR_ARGUMENT);
    assert_int_equal(dae_table_hem4((double)NAN, 0.25, &t, &diag), DAE_ERR_ARGUMENT);
}

/* ---- runs ---- */

static const char pendulum[] =
    "model P Real x(start=1); Real y(start=0,fixed=true); Real u(start=0); "
    "Real v(start=0,fixed=true); Real l; equation der(x)=u; der(y)=v; der(u)=-l*x; "
    "der(v)=-l*y-1; x^2+y^2=1; end P;";

/* The pendulum at t = 10, from its angle in quadruple precision: models/pendulum.ref. */
static const double at_10[5] = {-8.115864461913038e-1, -5.842323513453959e-1, -6.315291490650178e-1,
                                8.772887988410693e-1, 1.752697054036187};

/* The largest error of x, y, u, v and l at t = 10. */
static double error_of_run(const char *method, const char *variant, const dae_table *table,
                           double fixed_step, double tolerance)
{
    dae_problem *problem = NULL;
    dae_solver *solver = NULL;
    dae_diag diag = {0};
    dae_options opt = dae_options_default();
    double y[5], most = 0.0;
    opt.method = method;
    opt.variant = variant;
    opt.table = table;
    opt.fixed_step = fixed_step;
    opt.rtol = opt.atol = tolerance;
    if (table->index == 2 && strcmp(method, "irk") == 0) opt.formulation = "ggl";
    dae_model model = {.text = pendulum};
    assert_int_equal(dae_problem_from_model(&model, &problem, &diag), DAE_OK);
    dae_status status = dae_solver_new(problem, &opt, &solver, &diag);
    if (status != DAE_OK) fail_msg("%s: %s", method, diag.text);
    if (dae_solver_start(solver, 0.0, NULL, NULL) != DAE_OK ||
        dae_solver_run(solver, 10.0, y, NULL) != DAE_OK)
        fail_msg("%s: %s", method, dae_solver_diag(solver)->text);
    for (int i = 0; i < 5; i++) most = fmax(most, fabs(y[i] - at_10[i]));
    dae_solver_free(solver);
    dae_problem_free(problem);
    return most;
}

/* Observed orders with constant steps are those of the tables, on the user's order. */
static void observed_orders(void **state)
{
    (void)state;
    static const struct {
        const char *method, *text;
        double order, step;
    } runs[] = {
        {"hem", hem3, 3.0, 0.01},  {"hem", hem4, 4.0, 0.01},       {"prk", kutta, 3.0, 0.01},
        {"prk", hem4, 4.0, 0.01},  {"herk", classical, 4.0, 0.01}, {"herk", kutta, 3.0, 0.01},
        {"irk", gauss4, 4.0, 0.1}, {"irk", radau_ia, 5.0, 0.04},   {"irk", dirk, 2.0, 0.01}};
    for (size_t k = 0; k < sizeof runs / sizeof *runs; k++) {
        dae_table t = read_table(runs[k].text);
        double tolerance = strcmp(runs[k].method, "irk") == 0 ? 1e-8 : 1e-10; /* of Newton */
        double coarse = error_of_run(runs[k].method, NULL, &t, runs[k].step, tolerance);
        double fine = error_of_run(runs[k].method, NULL, &t, runs[k].step / 2.0, tolerance);
        double order = log2(coarse / fine);
        if (!(fabs(order - runs[k].order) < 0.3))
            fail_msg("%s with %s: order %g", runs[k].method, t.name, order);
    }
}

/* With embedded weights, or herk's two half steps, tolerances are met within a factor of 100. */
static void tolerances(void **state)
{
    (void)state;
    static const char *const runs[][2] = {{"hem", hem4},    {"prk", dopri5},     {"prk", kutta},
                                          {"herk", dopri5}, {"herk", classical}, {"irk", radau5},
                                          {"irk", gauss4},  {"irk", radau_ia},   {"irk", sdirk2}};
    for (size_t k = 0; k < sizeof runs / sizeof *runs; k++) {
        dae_table t = read_table(runs[k][1]);
        double error = error_of_run(runs[k][0], NULL, &t, 0.0, 1e-6);
        if (!(error < 1e-4)) fail_msg("%s with %s: off by %g", runs[k][0], t.name, error);
    }
    dae_table t = read_table(classical);
    assert_true(error_of_run("herk", "thesis", &t, 0.05, 1e-6) < 1e-4);
}

/* Between the ends of steps values are as good: x^2 + y^2 = 1 and the energy at 20 places. */
static void between_steps(void **state)
{
    (void)state;
    static const char *const runs[][2] = {{"hem", hem4},       {"prk", dopri5},   {"herk", dopri5},
                                          {"herk", classical}, {"irk", radau_ia}, {"irk", sdirk2}};
    for (size_t k = 0; k < sizeof runs / sizeof *runs; k++) {
        dae_table t = read_table(runs[k][1]);
        dae_problem *problem = NULL;
        dae_solver *solver = NULL;
        dae_options opt = dae_options_default();
        double y[5], worst = 0.0;
        opt.method = runs[k][0];
        opt.table = &t;
        opt.rtol = opt.atol = 1e-7;
        dae_model model = {.text = pendulum};
        assert_int_equal(dae_problem_from_model(&model, &problem, NULL), DAE_OK);
        assert_int_equal(dae_solver_new(problem, &opt, &solver, NULL), DAE_OK);
        assert_int_equal(dae_solver_start(solver, 0.0, NULL, NULL), DAE_OK);
        double before = 0.0;
        for (int step = 0; step < 40 && dae_solver_time(solver) < 2.0; step++) {
            dae_status status = dae_solver_step(solver, 2.0);
            assert_true(status == DAE_STEPPED || status == DAE_OK);
            for (int i = 1; i < 8; i++) {
                double at = before + (dae_solver_time(solver) - before) * i / 8.0;
                assert_int_equal(dae_solver_at(solver, at, 0, y), DAE_OK);
                worst = fmax(worst, fabs(y[0] * y[0] + y[1] * y[1] - 1.0));
                worst = fmax(worst, fabs((y[2] * y[2] + y[3] * y[3]) / 2.0 + y[1]));
                worst = fmax(worst, fabs(y[4] - (y[2] * y[2] + y[3] * y[3] - y[1])));
            }
            before = dae_solver_time(solver);
        }
        if (!(worst < 1e-5)) fail_msg("%s with %s: off by %g", runs[k][0], t.name, worst);
        dae_solver_free(solver);
        dae_problem_free(problem);
    }
}

/* ---- refusals ---- */

static void bad_texts(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"order 3\nc 0 1/x 1\n", "Line 2 of the table: \"1/x\" in c is not a number"},
        {"order 3\nc 0 0x10\n", "Line 2 of the table: \"0x10\" in c is not a number"},
        {"order 1\nc 0 nan\n", "\"nan\" in c is not a number"},
        {"order 1\nc 0 1/0\n", "\"1/0\" in c is not finite"},
        {"order 1\nc 0 sqrt(0-1)\n", "\"sqrt(0-1)\" in c is not finite"},
        {"order 1\nc (((1)\n", "\"(((1)\" in c is not a number"},
        {"order three\n", "order needs a whole number from 1 to 99, not \"three\""},
        {"order 3\norder 2\n", "Line 2 of the table: order is given twice"},
        {"order 1\nb 1\nb 1\n", "Line 3 of the table: b is given twice"},
        {"steps 3\n", "Line 1 of the table: \"steps\" is no part of a table"},
        {"order 1\nA 0\n", "write the rows of A on the lines after it"},
        {"order 1\nc 0\nA\n0\n", "The table has no b"},
        {"c 0\nA\n0\nb 1\n", "The table has no order"},
        {"order 2\nc 0 1\nA\n0\nb 1/2 1/2\n", "The table has 2 stages, but A has 1 rows"},
        {"order 2\nc 0 1\nA\n0\n1\nb 1\n", "The table has 2 stages, but b has 1 numbers"},
        {"order 2\nstages 3\nc 0 1\nA\n0\n1\nb 1 0\n", "3 stages, but c has 2 numbers"},
        {"order 3\nc 0 1/2 1\nA\n0\n1/2\n2\nb 0 0 1\n",
         "Row 3 of A has 1 number; it needs 3, or 2 of an explicit method"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        dae_table t = dae_table_empty();
        dae_diag diag = {0};
        assert_int_equal(dae_table_from_text(cases[k][0], &t, &diag), DAE_ERR_ARGUMENT);
        if (!strstr(diag.text, cases[k][1]))
            fail_msg("\"%s\" is not in: %s", cases[k][1], diag.text);
    }
    char deep[300] = "order 1\nc ";
    memset(deep + strlen(deep), '(', 250);
    dae_table t = dae_table_empty();
    assert_int_equal(dae_table_from_text(deep, &t, NULL), DAE_ERR_ARGUMENT);
    dae_diag diag = {0};
    char numeral[600] = "order 1\nc 0.";
    memset(numeral + strlen(numeral), '0', 500); /* what follows must not be cut off */
    strcat(numeral, "1e600\nA\n0\nb 1\n");
    assert_int_equal(dae_table_from_text(numeral, &t, &diag), DAE_ERR_ARGUMENT);
    assert_non_null(strstr(diag.text, "Line 2 of the table: a number in c is longer than"));
    assert_int_equal(dae_table_from_file("no/such/table", &t, &diag), DAE_ERR_FILE);
    assert_non_null(strstr(diag.text, "no/such/table"));
}

static void bad_tables(void **state)
{
    (void)state;
    dae_table t = read_table(kutta);
    t.c[2] = 0.9;
    check_refuses(&t, "prk", "row 3 of A sums to 1, but c_3 is 0.9");
    t = read_table(kutta);
    t.b[2] = 0.3;
    check_refuses(&t, "prk", "the weights b sum to 1.133333333, not to 1");
    t = read_table(kutta);
    t.embedded[0] = 0.5;
    check_refuses(&t, "herk", "the embedded weights sum to 1.5, not to 1");
    t = read_table(kutta);
    t.A[1][1] = 0.25;
    check_refuses(&t, "prk", "row 2 of A has 0.25 in column 2; method prk is explicit");
    t = read_table(kutta);
    t.A[2][1] = (double)INFINITY;
    check_refuses(&t, "prk", "number 2 in row 3 of A is not finite");
    t = read_table(kutta);
    memcpy(t.embedded, t.b, sizeof t.b);
    check_refuses(&t, "prk", "the embedded weights are those of b");
    t = read_table(classical);
    t.stages = 17;
    check_refuses(&t, "prk", "it has 17 stages; method prk takes 1 to 12");
    t = read_table(hem4);
    t.index = 1;
    check_refuses(&t, "hem", "for index 1; method hem takes tables for index 2");
    t = read_table(hem3);
    t.b[1] = 1.0;
    t.b[2] = 0.0;
    check_refuses(&t, "hem", "number 3 of b is 0");
    t = read_table(classical);
    t.order = 0;
    check_refuses(&t, "prk", "it claims order 0; method prk takes tables of order 1 to 10");
    check_refuses(&t, "bdf", "Method \"bdf\" takes no table");
}

/* What dae_solver_new says of options with a table. */
static void check_option(const char *method, const char *variant, int order, const char *text,
                         double fixed_step, const char *words)
{
    dae_problem *problem = NULL;
    dae_solver *solver = NULL;
    dae_diag diag = {0};
    dae_options opt = dae_options_default();
    dae_table t = text ? read_table(text) : dae_table_empty();
    opt.method = method;
    opt.variant = variant;
    opt.order = order;
    opt.fixed_step = fixed_step;
    opt.table = text ? &t : NULL;
    dae_model model = {.text = pendulum};
    assert_int_equal(dae_problem_from_model(&model, &problem, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(problem, &opt, &solver, &diag), DAE_ERR_ARGUMENT);
    assert_null(solver);
    if (!strstr(diag.text, words)) fail_msg("\"%s\" is not in: %s", words, diag.text);
    dae_problem_free(problem);
}

static void bad_options(void **state)
{
    (void)state;
    check_option("auto", NULL, 0, kutta, 0.0, "name hem, herk, prk or irk in option method");
    check_option("bdf", NULL, 0, kutta, 0.0, "Option table is for methods hem, herk, prk and irk");
    check_option("bdf2nd", "thesis", 0, kutta, 0.0, "Option table is for methods");
    check_option("hem", "table", 0, NULL, 0.0, "by a table of yours: give it, opt.table");
    check_option("hem:table", NULL, 0, NULL, 0.0, "by a table of yours: give it, opt.table");
    check_option("prk", NULL, 4, kutta, 0.0,
                 "Order 4 is asked for, but the table \"Kutta\" claims");
    check_option("hem", NULL, 0, kutta, 0.0, "condition (6) of Brasey and Hairer");
    check_option("hem", NULL, 0, hem3, 0.0,
                 "no embedded weights, and without them method hem:table");
    check_option("irk", NULL, 0, dirk, 0.0, "without them method irk:table cannot estimate errors");
    check_option("irk", NULL, 0, "order 1\nc 1\nA\n1\nb 1\n", 0.0, "The table has order 1");
}

/* Variables of index 2 need a table that claims its order for it. */
static void index_that_is_not_claimed(void **state)
{
    (void)state;
    dae_problem *problem = NULL;
    dae_solver *solver = NULL;
    dae_options opt = dae_options_default();
    dae_table t = read_table(radau_ia);
    opt.method = "irk";
    opt.table = &t;
    opt.formulation = "ggl";
    dae_model model = {.text = pendulum};
    assert_int_equal(dae_problem_from_model(&model, &problem, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(problem, &opt, &solver, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(solver, 0.0, NULL, NULL), DAE_OK);
    assert_int_equal(dae_solver_run(solver, 1.0, NULL, NULL), DAE_ERR_UNSUPPORTED);
    assert_non_null(strstr(dae_solver_diag(solver)->text, "claims its order for index 1"));
    dae_solver_free(solver);
    dae_problem_free(problem);
}

/* The solver keeps a copy: the caller's table may go. */
static void table_is_copied(void **state)
{
    (void)state;
    dae_problem *problem = NULL;
    dae_solver *solver = NULL;
    dae_options opt = dae_options_default();
    dae_table t = read_table(hem4);
    double y[5];
    opt.method = "hem";
    opt.table = &t;
    dae_model model = {.text = pendulum};
    assert_int_equal(dae_problem_from_model(&model, &problem, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(problem, &opt, &solver, NULL), DAE_OK);
    memset(&t, 0xff, sizeof t);
    assert_int_equal(dae_solver_start(solver, 0.0, NULL, NULL), DAE_OK);
    assert_int_equal(dae_solver_run(solver, 10.0, y, NULL), DAE_OK);
    assert_true(fabs(y[0] - at_10[0]) < 1e-4);
    dae_solver_free(solver);
    dae_problem_free(problem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_of_conditions),
        cmocka_unit_test(numbers_of_table_1),
        cmocka_unit_test(known_tables),
        cmocka_unit_test(implicit_tables),
        cmocka_unit_test(every_coefficient_counts),
        cmocka_unit_test(continuous_extension),
        cmocka_unit_test(start_values_of_z),
        cmocka_unit_test(constructed_tables),
        cmocka_unit_test(observed_orders),
        cmocka_unit_test(tolerances),
        cmocka_unit_test(between_steps),
        cmocka_unit_test(bad_texts),
        cmocka_unit_test(bad_tables),
        cmocka_unit_test(bad_options),
        cmocka_unit_test(index_that_is_not_claimed),
        cmocka_unit_test(table_is_copied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
