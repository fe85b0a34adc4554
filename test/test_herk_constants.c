/* Numbers in herk that are a matter of choice do what its page says: how often estimates count,
 * which table a tolerance takes, when a small pivot is left alone, when an iteration that stalls
 * has come to its end. Expected values come from the tables and from polynomials, not from runs. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "daedal.h"
#include "method/common/tableau.h"
#include "method/half_explicit/herk_parts.h"

/* ---- the first attempt on x' = x, x(0) = 1, with rtol = 0 ---- */

static int growth(const dae_quasilinear_point *at, double *f, void *user)
{
    (void)user;
    f[0] = at->x[0];
    return 0;
}

static void keep_first(const dae_step_info *info, void *user)
{
    dae_step_info *first = user;
    if (first->size == 0) *first = *info;
}

static dae_step_info first_attempt(const char *name, double rtol, double atol, double h)
{
    const dae_quasilinear form = {.n = 1, .ne = 1, .f = growth};
    dae_step_info first = {0};
    dae_problem *problem = NULL;
    dae_solver *solver = NULL;
    dae_options o = dae_options_default();
    double y[1] = {1};
    o.method = name;
    o.rtol = rtol;
    o.atol = atol;
    o.initial_step = h;
    o.monitor = keep_first;
    o.user = &first;
    assert_int_equal(dae_problem_from_quasilinear(&form, &problem, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(problem, &o, &solver, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(solver, 0, y, NULL), DAE_OK);
    assert_int_equal(dae_solver_run(solver, 10 * h, y, NULL), DAE_OK);
    dae_solver_free(solver);
    dae_problem_free(problem);
    return first;
}

/* h sum e_i K_i of a pair on x' = x */
static void estimates(const tableau *table, double h, double *error, double *low)
{
    rounded_tableau b;
    double K[TABLEAU_MOST_ALL], x = 1;
    tableau_round(table, &b);
    *error = *low = 0;
    for (int i = 0; i <= b.stages; i++) {
        x = 1;
        for (int j = 0; j < i; j++) x += h * b.a[i][j] * K[j];
        K[i] = x;
        *error += h * b.error[i] * K[i];
        if (b.has_low) *low += h * b.error_low[i] * K[i];
    }
}

static void estimates_count_as_the_page_says(void **state)
{
    (void)state;
    const double h = 0.3, atol = 1e-4;
    double error, low;
    estimates(&tableau_dopri5, h, &error, &low);
    double seen = first_attempt("herk:5", 0, atol, h).error, expected = 3 * fabs(error) / atol;
    assert_true(fabs(seen - expected) < 1e-9 * expected);
    estimates(&tableau_dop853, h, &error, &low);
    seen = first_attempt("herk:8", 0, 1e-9, h).error;
    expected = 10 * error * error / sqrt(error * error + 0.01 * low * low) / 1e-9;
    assert_true(fabs(seen - expected) < 1e-5 * expected);
}

/* Without a pair: 8/p times the difference of one step and two halves, each a polynomial */
static void differences_of_halves_count_by_order(void **state)
{
    (void)state;
    const double h = 0.1, atol = 1e-3;
    for (int p = 2; p <= 4; p++) {
        char name[] = {'h', 'e', 'r', 'k', ':', (char)('0' + p), 0};
        double one = 1, half = 1, term = 1, half_term = 1;
        for (int k = 1; k <= p; k++) {
            one += term *= h / k;
            half += half_term *= 0.5 * h / k;
        }
        double expected = 8.0 / p * fabs(one - half * half) / atol;
        double seen = first_attempt(name, 0, atol, h).error;
        assert_true(fabs(seen - expected) < 1e-8 * expected);
    }
}

static void the_tolerance_takes_a_table(void **state)
{
    (void)state;
    assert_int_equal(first_attempt("herk", 2.1e-6, 1e-3, 0.01).order,
                     first_attempt("herk:5", 2.1e-6, 1e-3, 0.01).order);
    assert_int_equal(first_attempt("herk", 1.9e-6, 1e-3, 0.01).order,
                     first_attempt("herk:8", 1.9e-6, 1e-3, 0.01).order);
    assert_int_not_equal(first_attempt("herk:5", 1e-6, 1e-3, 0.01).order,
                         first_attempt("herk:8", 1e-6, 1e-3, 0.01).order);
}

/* ---- a column of its own, unless that is below 1/1000 of the largest ---- */

static int choice_of_the_second_row(double own)
{
    /* row 0 knows columns 0 and 1, row 1 all of them; column 2 is its own */
    const double J[] = {1, 1, 0.5, -1, 0, own};
    const bool seen[] = {true, true, true, true, false, true}, required[3] = {false};
    const form_matrix m = {.rows = 2, .columns = 3, .count = 6};
    int chosen[3], generation[3], row = -1, column = -1;
    assert_int_equal(
        select_by_levels(&m, J, seen, required, 1e-12, chosen, generation, &row, &column),
        SELECT_OK);
    return chosen[1];
}

static void rows_take_columns_of_their_own(void **state)
{
    (void)state;
    assert_int_equal(choice_of_the_second_row(1), 2);
    assert_int_equal(choice_of_the_second_row(2e-3), 2);
    assert_int_equal(choice_of_the_second_row(1e-3), 1);
    assert_int_equal(choice_of_the_second_row(1e-4), 1);
}

/* ---- pivots, and iterations that stall: x + y = 2 + t, x + (1 + gap) y = 2 + gap + t ---- */

static int nothing(const dae_quasilinear_point *at, double *E, void *user)
{
    (void)at, (void)user;
    memset(E, 0, 4 * sizeof *E);
    return 0;
}

static int two_lines(const dae_quasilinear_point *at, double *g, void *user)
{
    const double gap = *(const double *)user, *x = at->x;
    g[0] = x[0] + x[1] - 2 - at->t;
    g[1] = x[0] + (1 + gap) * x[1] - 2 - gap - at->t;
    return 0;
}

static int two_slopes(const dae_quasilinear_point *at, double *J, void *user)
{
    const double gap = *(const double *)user;
    (void)at;
    J[0] = J[1] = J[2] = 1;
    J[3] = 1 + gap;
    return 0;
}

static dae_status run_lines(double gap, const dae_herk_options *herk, double *y)
{
    const dae_quasilinear form = {.n = 2,
                                  .ne = 2,
                                  .ng = 2,
                                  .E = nothing,
                                  .f = two_lines,
                                  .g = two_lines,
                                  .g_x = two_slopes,
                                  .user = &gap,
                                  .E_constant = true};
    dae_problem *problem = NULL;
    dae_solver *solver = NULL;
    dae_options o = dae_options_default();
    o.method = "herk:4:thesis";
    o.fixed_step = 0.1;
    o.herk = herk;
    y[0] = y[1] = 1;
    assert_int_equal(dae_problem_from_quasilinear(&form, &problem, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(problem, &o, &solver, NULL), DAE_OK);
    dae_status status = dae_solver_start(solver, 0, y, NULL);
    if (status == DAE_OK) status = dae_solver_run(solver, 1, y, NULL);
    dae_solver_free(solver);
    dae_problem_free(problem);
    return status;
}

/* The default tolerance of pivots is 1e-15: constraints that differ by 1e-6 are two. */
static void pivots_of_the_thesis_may_be_small(void **state)
{
    (void)state;
    double y[2];
    assert_int_equal(run_lines(1e-6, NULL, y), DAE_OK);
    assert_true(fabs(y[0] - 2) < 1e-8 && fabs(y[1] - 1) < 1e-8);
    int unknowns[2];
    const double apart[] = {1, 1, 1, 1 + 1e-14}, equal[] = {1, 1, 1, 1 + 2.3e-16};
    assert_int_equal(dae_select_unknowns(2, 2, apart, NULL, 0, unknowns, NULL, NULL), DAE_OK);
    assert_int_equal(dae_select_unknowns(2, 2, equal, NULL, 0, unknowns, NULL, NULL),
                     DAE_ERR_SINGULAR);
}

/* g cannot come below 1e-25. Rounding errors of g, 2e-16, are magnified by 1/gap = 100, to at most
 * 1000 units of rounding of x: that is as far as an iteration gets, and its end. */
static void an_iteration_that_stalls_ends(void **state)
{
    (void)state;
    double y[2];
    const dae_herk_options herk = {.size = sizeof herk, .newton_tolerance = 1e-25};
    assert_int_equal(run_lines(1e-2, &herk, y), DAE_OK);
    assert_true(fabs(y[0] - 2) < 1e-12 && fabs(y[1] - 1) < 1e-12);
}

/* ---- Estat: rounding is no change of E, a billionth is ---- */

static int nearly_constant(const dae_quasilinear_point *at, double *E, void *user)
{
    (void)at;
    memset(E, 0, 4 * sizeof *E);
    E[0] = 1 + *(const double *)user * at->t;
    return 0;
}

static int grows(const dae_quasilinear_point *at, double *f, void *user)
{
    (void)user;
    f[0] = at->x[0];
    f[1] = 0;
    return 0;
}

static int equal_ones(const dae_quasilinear_point *at, double *g, void *user)
{
    (void)user;
    g[0] = at->x[0] - at->x[1];
    return 0;
}

static dae_status run_with_change(double change)
{
    const dae_quasilinear form = {.n = 2,
                                  .ne = 2,
                                  .ng = 1,
                                  .E = nearly_constant,
                                  .f = grows,
                                  .g = equal_ones,
                                  .user = &change,
                                  .autonomous = true};
    const dae_herk_options herk = {.size = sizeof herk, .constant_E = DAE_SWITCH_ON};
    dae_problem *problem = NULL;
    dae_solver *solver = NULL;
    dae_options o = dae_options_default();
    double y[2] = {1, 1};
    o.method = "herk";
    o.herk = &herk;
    assert_int_equal(dae_problem_from_quasilinear(&form, &problem, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(problem, &o, &solver, NULL), DAE_OK);
    dae_status status = dae_solver_start(solver, 0, y, NULL);
    if (status == DAE_OK) status = dae_solver_run(solver, 1, y, NULL);
    dae_solver_free(solver);
    dae_problem_free(problem);
    return status;
}

static void rounding_is_no_change_of_E(void **state)
{
    (void)state;
    assert_int_equal(run_with_change(1e-15), DAE_OK);
    assert_int_equal(run_with_change(1e-9), DAE_ERR_UNSUPPORTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(estimates_count_as_the_page_says),
        cmocka_unit_test(differences_of_halves_count_by_order),
        cmocka_unit_test(the_tolerance_takes_a_table),
        cmocka_unit_test(rows_take_columns_of_their_own),
        cmocka_unit_test(pivots_of_the_thesis_may_be_small),
        cmocka_unit_test(an_iteration_that_stalls_ends),
        cmocka_unit_test(rounding_is_no_change_of_E),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
