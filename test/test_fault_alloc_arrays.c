/* Every allocation of pencils, derivative arrays and diagnoses fails once: answers are refusals,
 * nothing leaks. */
#include "fault_alloc.h"

#include <math.h>

#include "structure/linear/derivative_array.h"

/* ---- pencils --------------------------------------------------------------------------------- */

/* A regular system with a pair of eigenvalues on the axis and index 2. */
static const double regular_a[] = {0, 1, 0, 0, -1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
static const double regular_b[] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0};
/* A singular one. */
static const double singular_a[] = {1, 1, 1, 1}, singular_b[] = {1, 1, 1, 1};

static dae_status analyse(int n, const double *a, const double *b)
{
    const dae_pencil p = {.n = n, .a = a, .b = b};
    dae_pencil_report *report = NULL;
    dae_status status = dae_pencil_analyse(&p, &report, NULL);
    assert_int_equal(report == NULL, status != DAE_OK);
    dae_pencil_report_free(report);
    return status;
}

static dae_status all_of_pencils(void *unused)
{
    double u[4] = {1, 2, 3, 4}, up[4];
    const double d[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    const dae_pencil p = {.n = 4, .a = regular_a, .b = regular_b};
    (void)unused;
    dae_status status = analyse(4, regular_a, regular_b);
    if (status == DAE_OK) status = analyse(2, singular_a, singular_b);
    if (status == DAE_OK) status = dae_pencil_consistent(&p, 2, d, u, up, NULL);
    return status;
}

static void pencils(void **state)
{
    (void)state;
    every_failure_is_told("pencils", all_of_pencils, NULL, 10);
}

/* ---- condensed forms and indices --------------------------------------------------------------
 */

/* x1'' + x1' + x2, x1 [Wun05 (3.9)], and a chain of first order */
static dae_status all_of_condensed(void *unused)
{
    static const double leading[] = {1, 0, 0, 0}, zero[] = {0, 1, 1, 0};
    dae_linear_system s = {.m = 2, .n = 2, .order = 2, .a = {zero, leading, leading}};
    dae_condensed *c = NULL;
    (void)unused;
    dae_status status = dae_linear_condense(&s, &c, NULL);
    assert_int_equal(c == NULL, status != DAE_OK);
    dae_condensed_free(c);
    s.order = 1;
    if (status == DAE_OK) {
        status = dae_linear_condense(&s, &c, NULL);
        dae_condensed_free(c);
    }
    return status;
}

static void condensed_forms(void **state)
{
    (void)state;
    every_failure_is_told("condensed forms", all_of_condensed, NULL, 10);
}

/* ---- derivative arrays ----------------------------------------------------------------------- */

/* x'' = -z, x = sin t */
static bool build(equation_set *set, graph *g)
{
    expr x = graph_variable(g, 0, 0), z = graph_variable(g, 1, 0), a = graph_variable(g, 0, 2);
    if (!equation_set_new(set, g, 2, 2)) return false;
    set->row[0].residual = graph_binary(g, EXPR_ADD, a, z);
    set->row[1].residual = graph_binary(g, EXPR_SUB, x, graph_unary(g, EXPR_SIN, graph_time(g)));
    return !graph_failed(g);
}

static bool use_array(const equation_set *set)
{
    derivative_array d;
    reduced_system reduced;
    array_report report;
    double x[15] = {0};
    array_status status = derivative_array_new(&d, set, 3);
    if (status == ARRAY_OK) status = derivative_array_analyse(&d, 0.3, x, 1e-10, &report);
    if (status == ARRAY_OK) {
        assert_int_equal(report.index, 3);
        status = reduced_system_new(&reduced, &d, report.strangeness, 0.3, x, 1e-10);
        if (status == ARRAY_OK) reduced_system_free(&reduced);
    }
    if (status != ARRAY_OK) assert_int_equal(status, ARRAY_MEMORY);
    derivative_array_free(&d);
    return status == ARRAY_OK;
}

static dae_status all_of_arrays(void *unused)
{
    equation_set set = {0};
    graph *g = graph_new();
    bool done = g && build(&set, g) && use_array(&set);
    (void)unused;
    equation_set_free(&set);
    graph_free(g);
    return done ? DAE_OK : DAE_ERR_MEMORY;
}

static void derivative_arrays(void **state)
{
    (void)state;
    every_failure_is_told("arrays", all_of_arrays, NULL, 10);
}

/* ---- diagnoses ------------------------------------------------------------------------------- */

static int chain(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)user;
    f[0] = yp[0] - y[1];
    f[1] = y[0] - sin(t);
    return 0;
}

static dae_problem *problem;
static dae_solver *solver;

static dae_status all_of_diagnoses(void *unused)
{
    const double y[] = {0.5, 0.6};
    dae_index_report *report = NULL;
    (void)unused;
    dae_status status = dae_problem_diagnose(problem, 0.0, y, NULL, &report, NULL);
    assert_int_equal(report == NULL, status != DAE_OK);
    dae_index_report_free(report);
    if (status != DAE_OK) return status;
    status = dae_solver_diagnose(solver, &report);
    assert_int_equal(report == NULL, status != DAE_OK);
    dae_index_report_free(report);
    return status;
}

static void diagnoses(void **state)
{
    (void)state;
    const double y[] = {0.0, 1.0}, yp[] = {1.0, 0.0};
    const dae_kind kinds[] = {DAE_KIND_DIFFERENTIAL, DAE_KIND_INDEX2};
    dae_residual form = {.n = 2, .f = chain, .kinds = kinds};
    assert_int_equal(dae_problem_from_residual(&form, &problem, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(problem, NULL, &solver, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(solver, 0.0, y, yp), DAE_OK);
    every_failure_is_told("diagnoses", all_of_diagnoses, NULL, 10);
    dae_solver_free(solver);
    dae_problem_free(problem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pencils),
        cmocka_unit_test(condensed_forms),
        cmocka_unit_test(derivative_arrays),
        cmocka_unit_test(diagnoses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
