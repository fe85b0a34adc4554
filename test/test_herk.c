/* herk beyond the thesis: selections, E of every kind, large sparse systems, dense output,
 * failures with their causes, and what a rejected attempt may touch. */
#include "herk_problems.h"

#include "method/half_explicit/herk_parts.h"

static const double rest[] = {-1, 0, 0, 0, 0};

/* ---- Procedure 3.11 ---------------------------------------------------------------------------
 */

static bool is_chosen(const int *chosen, int count, int j)
{
    for (int k = 0; k < count; k++)
        if (chosen[k] == j) return true;
    return false;
}

/* Example 2.13 with the start values as corrected: lambda, w and y; Example 3.13: x3 and x1. */
static void the_procedure_selects_as_in_its_examples(void **state)
{
    (void)state;
    const double x[] = {0.5, -sqrt(0.75), -0.5, -sqrt(1 / 12.0), 5}, g = 11.16;
    double J[15] = {0};
    bool required[] = {false, false, false, false, true};
    int order[8], chosen[4], row = -1, column = -1;
    J[0] = 2 * x[0], J[3] = 2 * x[1];
    J[1] = 2 * x[2], J[4] = 2 * x[3], J[7] = 2 * x[0], J[10] = 2 * x[1];
    level3_gradient(x, J + 2, 3, g);
    assert_int_equal(select_dense(3, 5, J, required, 1e-15, order, chosen, &row, &column),
                     SELECT_OK);
    assert_true(is_chosen(chosen, 3, 4) && is_chosen(chosen, 3, 3) && is_chosen(chosen, 3, 1));
    double second[] = {2, 1, 1, 0.5, 0, 1};
    bool third[] = {false, false, true};
    assert_int_equal(select_dense(2, 3, second, third, 1e-15, order, chosen, &row, &column),
                     SELECT_OK);
    assert_true(chosen[0] == 2 && chosen[1] == 0);
}

/* The default mode pairs velocities with velocity constraints, however fast the pendulum is. */
static void levels_are_solved_for_what_they_bring_in(void **state)
{
    (void)state;
    const double x[] = {0.6, -0.8, 4, 3, 20};
    double J[15];
    counter count = {0};
    bool required[] = {false, false, false, false, true};
    int chosen[4], generation[5], row = -1, column = -1;
    pendulum_g_x(&count, 0, x, J);
    bool seen[15];
    for (int q = 0; q < 15; q++) seen[q] = J[q] != 0;
    assert_int_equal(select_by_levels(&pendulum.g_x_matrix, J, seen, required, 1e-12, chosen,
                                      generation, &row, &column),
                     SELECT_OK);
    assert_true(is_chosen(chosen, 3, 1) && is_chosen(chosen, 3, 3) && is_chosen(chosen, 3, 4));
    assert_true(generation[0] == 0 && generation[2] == 1 && generation[4] == 2);
}

/* ---- E of every kind ----------------------------------------------------------------------------
 */

/* The pendulum's equations of motion mixed by a matrix that turns with t and x: E is full there. */
static void mixing(double t, const double *x, double *c, double *s)
{
    *c = cos(t + x[0]);
    *s = sin(t + x[0]);
}
static eval_status mixed_E(void *context, double t, const double *x, double *E)
{
    double c, s;
    ((counter *)context)->E++;
    mixing(t, x, &c, &s);
    memset(E, 0, 25 * sizeof *E);
    E[0 + 5 * 0] = c, E[0 + 5 * 2] = s; /* rows 0 and 2 */
    E[2 + 5 * 0] = -s, E[2 + 5 * 2] = c;
    E[1 + 5 * 1] = c, E[1 + 5 * 3] = s; /* rows 1 and 3 */
    E[3 + 5 * 1] = -s, E[3 + 5 * 3] = c;
    return EVAL_OK;
}
static eval_status mixed_f(void *context, double t, const double *x, double *f)
{
    double c, s, p[5];
    exact_pendulum_f(context, t, x, p);
    mixing(t, x, &c, &s);
    f[0] = c * p[0] + s * p[2];
    f[2] = -s * p[0] + c * p[2];
    f[1] = c * p[1] + s * p[3];
    f[3] = -s * p[1] + c * p[3];
    f[4] = p[4];
    return EVAL_OK;
}

static void a_varying_E_changes_nothing(void **state)
{
    (void)state;
    quasilinear_form mixed = exact_pendulum;
    mixed.E = mixed_E;
    mixed.f = mixed_f;
    mixed.E_matrix.constant = false;
    runner r, plain;
    runner_open(&r, &method_herk_dopri5, &mixed, 1e-8, 1e-8, NULL);
    runner_open(&plain, &method_herk_dopri5, &exact_pendulum, 1e-8, 1e-8, NULL);
    runner_start(&r, 0, rest, 0.01);
    runner_start(&plain, 0, rest, 0.01);
    assert_true(run_to(&r, 2, 0.01) && run_to(&plain, 2, 0.01));
    assert_int_equal(r.accepted, plain.accepted);
    assert_true(distance(5, r.x, plain.x) < 1e-7);
    assert_true(r.count.E >= r.count.f && plain.count.E == 1);
    runner_close(&plain);
    runner_close(&r);
}

/* x1' + x2' = 3 x2, 0 = x1 - 2 x2: one row of E for two components, not reducible; x2 = e^t */
static eval_status sum_E(void *c, double t, const double *x, double *E)
{
    (void)c, (void)t, (void)x;
    E[0] = E[1] = 1;
    return EVAL_OK;
}
static eval_status sum_f(void *c, double t, const double *x, double *f)
{
    (void)t;
    ((counter *)c)->f++;
    f[0] = 3 * x[1];
    return EVAL_OK;
}
static eval_status sum_g(void *c, double t, const double *x, double *g)
{
    (void)c, (void)t;
    g[0] = x[0] - 2 * x[1];
    return EVAL_OK;
}
static eval_status sum_g_x(void *c, double t, const double *x, double *J)
{
    (void)c, (void)t, (void)x;
    J[0] = 1;
    J[1] = -2;
    return EVAL_OK;
}
static const quasilinear_form sum_form = {
    .n = 2,
    .ne = 1,
    .ng = 1,
    .E = sum_E,
    .f = sum_f,
    .g = sum_g,
    .g_x = sum_g_x,
    .g_t = growth_g_t,
    .E_matrix = {.rows = 1, .columns = 2, .count = 2, .constant = true},
    .g_x_matrix = {.rows = 1, .columns = 2, .count = 2, .constant = true}};

static void an_E_that_is_not_reducible_is_stacked_on_g_x(void **state)
{
    (void)state;
    double error[2];
    for (int k = 0; k < 2; k++) {
        runner r;
        runner_open(&r, &method_herk_dopri5, &sum_form, 1e-13, 1e-13, NULL);
        runner_start(&r, 0, (double[]){2, 1}, 0.1);
        run_fixed(&r, 1, 10 << k);
        error[k] = fabs(r.x[1] - exp(1));
        assert_true(fabs(r.x[0] - 2 * r.x[1]) < 1e-14);
        assert_true(fabs(r.last.yp[0] - 2 * r.x[1]) < 1e-12);
        runner_close(&r);
    }
    assert_true(error[0] < 1e-6);
    assert_true(fabs(log2(error[0] / error[1]) - 5) < 0.2);
}

/* ---- many pendulums, sparse
 * ---------------------------------------------------------------------- */

enum { COUNT = 40 }; /* n = 200, 120 constraints; variables and constraints by kind, not by body */

typedef struct many {
    counter count; /* first: the context of a form is a counter */
    int E_colptr[5 * COUNT + 1], E_rowind[4 * COUNT];
    int g_colptr[5 * COUNT + 1], g_rowind[11 * COUNT];
} many;

static double gravity_of(int i)
{
    return 5 + 0.2 * i;
}
static void one_of(const double *x, int i, double *own)
{
    for (int k = 0; k < 5; k++) own[k] = x[k * COUNT + i];
}
static eval_status many_E(void *c, double t, const double *x, double *E)
{
    (void)c, (void)t, (void)x;
    for (int i = 0; i < 4 * COUNT; i++) E[i] = 1;
    return EVAL_OK;
}
static eval_status many_f(void *c, double t, const double *x, double *f)
{
    (void)t;
    ((counter *)c)->f++;
    for (int i = 0; i < COUNT; i++) {
        double own[5];
        one_of(x, i, own);
        f[i] = own[2];
        f[COUNT + i] = own[3];
        f[2 * COUNT + i] = -2 * own[0] * own[4];
        f[3 * COUNT + i] = -2 * own[1] * own[4] - gravity_of(i);
    }
    return EVAL_OK;
}
static eval_status many_g(void *c, double t, const double *x, double *g)
{
    (void)c, (void)t;
    for (int i = 0; i < COUNT; i++) {
        double own[5], levels[3];
        one_of(x, i, own);
        pendulum_levels(own, levels, gravity_of(i));
        for (int k = 0; k < 3; k++) g[k * COUNT + i] = levels[k];
    }
    return EVAL_OK;
}
static eval_status many_g_x(void *c, double t, const double *x, double *J)
{
    (void)t;
    ((counter *)c)->g_x++;
    for (int i = 0; i < COUNT; i++) {
        double own[5], row[5];
        one_of(x, i, own);
        level3_gradient(own, row, 1, gravity_of(i));
        for (int k = 0; k < 2; k++) { /* x, y: three levels */
            double *at = J + 3 * (k * COUNT + i);
            at[0] = 2 * own[k];
            at[1] = 2 * own[2 + k];
            at[2] = row[k];
        }
        for (int k = 0; k < 2; k++) { /* v, w: two */
            double *at = J + 6 * COUNT + 2 * (k * COUNT + i);
            at[0] = 2 * own[k];
            at[1] = row[2 + k];
        }
        J[10 * COUNT + i] = row[4];
    }
    return EVAL_OK;
}
static eval_status many_g_t(void *c, double t, const double *x, double *g_t)
{
    return zero_slope(c, t, x, g_t, 3 * COUNT);
}

static void many_patterns(many *m)
{
    int at = 0;
    for (int j = 0; j < 5 * COUNT; j++) {
        m->E_colptr[j] = j < 4 * COUNT ? j : 4 * COUNT;
        if (j < 4 * COUNT) m->E_rowind[j] = j;
        int kind = j / COUNT, body = j % COUNT, first = kind < 2 ? 0 : kind < 4 ? 1 : 2;
        m->g_colptr[j] = at;
        for (int k = first; k < 3; k++) m->g_rowind[at++] = k * COUNT + body;
    }
    m->E_colptr[5 * COUNT] = 4 * COUNT;
    m->g_colptr[5 * COUNT] = at;
    assert_int_equal(at, 11 * COUNT);
}

/* A pattern with all entries says what a dense matrix says: the same selection, steps and values.
 */
static void a_full_pattern_changes_nothing(void **state)
{
    (void)state;
    static runner dense, sparse;
    static const int colptr[] = {0, 3, 6, 9, 12, 15};
    static const int rowind[] = {0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2};
    quasilinear_form full = pendulum;
    full.g_x_matrix.colptr = colptr;
    full.g_x_matrix.rowind = rowind;
    runner_open(&dense, &method_herk, &pendulum, 1e-8, 1e-8, NULL);
    runner_open(&sparse, &method_herk, &full, 1e-8, 1e-8, NULL);
    runner_start(&dense, 0, (double[]){-1, 0, 0, 0, 0}, 0.01);
    runner_start(&sparse, 0, (double[]){-1, 0, 0, 0, 0}, 0.01);
    assert_true(run_to(&dense, 2, 0.01) && run_to(&sparse, 2, 0.01));
    for (int j = 0; j < 5; j++) assert_true(fabs(sparse.x[j] - dense.x[j]) < 1e-6);
    runner_close(&dense);
    runner_close(&sparse);
}

/* Energy and length of every one. */
static void many_pendulums_run_sparse(void **state)
{
    (void)state;
    static many m;
    static runner r;
    many_patterns(&m);
    quasilinear_form form = {.n = 5 * COUNT,
                             .ne = 4 * COUNT,
                             .ng = 3 * COUNT,
                             .E = many_E,
                             .f = many_f,
                             .g = many_g,
                             .g_x = many_g_x,
                             .g_t = many_g_t,
                             .E_matrix = {.rows = 4 * COUNT,
                                          .columns = 5 * COUNT,
                                          .colptr = m.E_colptr,
                                          .rowind = m.E_rowind,
                                          .count = 4 * COUNT,
                                          .constant = true},
                             .g_x_matrix = {.rows = 3 * COUNT,
                                            .columns = 5 * COUNT,
                                            .colptr = m.g_colptr,
                                            .rowind = m.g_rowind,
                                            .count = 11 * COUNT}};
    double start[5 * COUNT] = {0};
    for (int i = 0; i < COUNT; i++) start[i] = -1;
    runner_open(&r, &method_herk, &form, 1e-9, 1e-9, NULL);
    runner_start(&r, 0, start, 0.01);
    assert_true(run_to(&r, 2, 0.01));
    const herk_work *w = r.ctx.cache;
    assert_int_equal(w->R.layout.kind, DAE_STRUCTURE_SPARSE);
    for (int i = 0; i < COUNT; i++) {
        double own[5];
        one_of(r.x, i, own);
        double energy = 0.5 * (own[2] * own[2] + own[3] * own[3]) + gravity_of(i) * own[1];
        assert_true(fabs(energy) < 1e-6);
        assert_true(fabs(own[0] * own[0] + own[1] * own[1] - 1) < 1e-9);
    }
    runner_close(&r);
}

/* ---- dense output
 * -------------------------------------------------------------------------------- */

/* Largest error in a step of size h from the start, over components and places in the step. */
static double dense_error(const method *m, double h, int derivative)
{
    runner r;
    double from = 0.3, most = 0;
    runner_open(&r, m, &trig, 1e-14, 1e-14, NULL);
    runner_start(&r, from, (double[]){sin(from), cos(from), 1}, h);
    assert_int_equal(runner_try(&r, h), ATTEMPT_OK);
    runner_accept(&r);
    for (int k = 1; k < 16; k++) {
        double t = from + h * k / 16, y[3];
        double exact[2][3] = {{sin(t), cos(t), 1}, {cos(t), -sin(t), 0}};
        m->interpolate(r.state, &r.ctx, t, derivative, y);
        for (int j = 0; j < 3; j++) most = fmax(most, fabs(y[j] - exact[derivative][j]));
    }
    runner_close(&r);
    return most;
}

static void dense_output_has_its_order(void **state)
{
    (void)state;
    static const struct {
        const method *m;
        double h, order; /* of the local error */
    } cases[] = {{&method_herk_kutta3, 0.2, 4},
                 {&method_herk_rk4, 0.2, 5},
                 {&method_herk_dopri5, 0.2, 5},
                 {&method_herk_dop853, 0.4, 7}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++)
        for (int d = 0; d < 2; d++) {
            double ratio =
                dense_error(cases[k].m, cases[k].h, d) / dense_error(cases[k].m, cases[k].h / 2, d);
            assert_true(log2(ratio) > cases[k].order - d - 0.4);
        }
}

/* Multipliers included, and equal to the ends of the step at its ends. */
static void dense_output_of_the_pendulum_stays_on_its_constraints(void **state)
{
    (void)state;
    static const method *const methods[] = {&method_herk_dopri5, &method_herk_dop853,
                                            &method_herk_rk4, &method_herk_hem4};
    for (int k = 0; k < 4; k++) {
        runner r;
        double before[5], y[5], g[3], worst = 0;
        runner_open(&r, methods[k], &exact_pendulum, 1e-8, 1e-8, NULL);
        runner_start(&r, 0, rest, 0.01);
        for (int i = 0; i < 60; i++) {
            memcpy(before, r.x, sizeof before);
            assert_int_equal(runner_try(&r, k == 1 ? 0.04 : 0.02), ATTEMPT_OK);
            runner_accept(&r);
            r.m->interpolate(r.state, &r.ctx, r.last.t, 0, y);
            assert_true(distance(5, y, before) < 1e-14);
            r.m->interpolate(r.state, &r.ctx, r.t, 0, y);
            assert_true(distance(5, y, r.x) == 0);
            r.m->interpolate(r.state, &r.ctx, r.last.t + 0.3 * r.last.h, 0, y);
            pendulum_levels(y, g, EXACT_GRAVITY);
            for (int j = 0; j < 3; j++) worst = fmax(worst, fabs(g[j]));
        }
        assert_true(worst < 2e-5);
        runner_close(&r);
    }
}

/* ---- contracts and failures
 * ----------------------------------------------------------------------- */

static void a_rejected_attempt_leaves_the_state_alone(void **state)
{
    (void)state;
    static const method *const methods[] = {&method_herk_dopri5, &method_herk_rk4,
                                            &method_herk_thesis};
    for (int k = 0; k < 3; k++) {
        runner r;
        size_t bytes, scratch;
        runner_open(&r, methods[k], &exact_pendulum, 1e-6, 1e-6, NULL);
        runner_start(&r, 0, rest, 0.01);
        method_size(methods[k], 5, &bytes, &scratch);
        void *copy = malloc(bytes);
        for (int i = 0; i < 5; i++) {
            memcpy(copy, r.state, bytes);
            runner_try(&r, 0.3);
            assert_memory_equal(copy, r.state, bytes);
            runner_try(&r, 0.02);
            assert_memory_equal(copy, r.state, bytes);
            runner_accept(&r);
        }
        free(copy);
        runner_close(&r);
    }
}

/* Constant constraints: the block of E and R once each. */
static void factors_are_renewed_rarely_where_nothing_moves(void **state)
{
    (void)state;
    runner r;
    quasilinear_form form = chain;
    form.g_x_matrix.constant = true;
    runner_open(&r, &method_herk_dopri5, &form, 1e-8, 1e-8, NULL);
    runner_start(&r, 0, (double[]){0, 0, 0, -2, 1, -2, 0}, 0.01);
    assert_true(run_to(&r, 20, 0.01));
    assert_true(r.accepted > 50);
    assert_true(r.stats.factorisations <= 3);
    assert_true(r.stats.newton_iterations > 0 && r.stats.solves > 0);
    runner_close(&r);
}

static eval_status twice_g(void *c, double t, const double *x, double *g)
{
    pendulum_g(c, t, x, g);
    g[1] = 3 * g[0];
    return EVAL_OK;
}
static eval_status twice_g_x(void *c, double t, const double *x, double *J)
{
    pendulum_g_x(c, t, x, J);
    for (int j = 0; j < 5; j++) J[1 + 3 * j] = 3 * J[3 * j];
    return EVAL_OK;
}

static void dependent_constraints_are_named(void **state)
{
    (void)state;
    static const method *const methods[] = {&method_herk, &method_herk_thesis};
    quasilinear_form form = pendulum;
    form.g = twice_g;
    form.g_x = twice_g_x;
    for (int k = 0; k < 2; k++) {
        runner r;
        runner_open(&r, methods[k], &form, 1e-6, 1e-6, NULL);
        runner_start(&r, 0, (double[]){-0.6, -0.8, 0, 0, 5.5}, 0.01);
        assert_int_equal(runner_try(&r, 0.01), ATTEMPT_SINGULAR);
        assert_non_null(strstr(r.last.reason, "full rank"));
        assert_in_range(r.last.constraint, 0, 1);
        assert_int_equal(r.last.variable, -1);
        runner_close(&r);
    }
}

/* x^2 + y^2 = 1 alone does not determine the multiplier. */
static eval_status circle_g(void *c, double t, const double *x, double *g)
{
    (void)c, (void)t;
    g[0] = x[0] * x[0] + x[1] * x[1] - 1;
    return EVAL_OK;
}
static eval_status circle_g_x(void *c, double t, const double *x, double *J)
{
    (void)c, (void)t;
    memset(J, 0, 5 * sizeof *J);
    J[0] = 2 * x[0];
    J[1] = 2 * x[1];
    return EVAL_OK;
}

static void a_component_without_equation_is_named(void **state)
{
    (void)state;
    static const method *const methods[] = {&method_herk, &method_herk_thesis};
    quasilinear_form form = pendulum;
    form.ng = 1;
    form.g = circle_g;
    form.g_x = circle_g_x;
    form.g_t = growth_g_t;
    form.g_x_matrix = (form_matrix){.rows = 1, .columns = 5, .count = 5};
    for (int k = 0; k < 2; k++) {
        runner r;
        runner_open(&r, methods[k], &form, 1e-6, 1e-6, NULL);
        runner_start(&r, 0, (double[]){-0.6, -0.8, 0, 0, 5.5}, 0.01);
        assert_int_equal(runner_try(&r, 0.01), ATTEMPT_SINGULAR);
        assert_non_null(strstr(r.last.reason, "Criterion 3.6"));
        assert_int_equal(r.last.variable, 4);
        runner_close(&r);
    }
}

/* x1' + x2' = .. with 0 = x1 + x2 - ..: [1 1; 1 1] has rank 1. */
static eval_status same_g_x(void *c, double t, const double *x, double *J)
{
    return sum_E(c, t, x, J);
}

static void a_derivative_that_is_not_determined_is_named(void **state)
{
    (void)state;
    runner r;
    quasilinear_form form = sum_form;
    form.g_x = same_g_x;
    runner_open(&r, &method_herk, &form, 1e-6, 1e-6, NULL);
    runner_start(&r, 0, (double[]){2, 1}, 0.01);
    assert_int_equal(runner_try(&r, 0.01), ATTEMPT_SINGULAR);
    assert_non_null(strstr(r.last.reason, "full rank"));
    assert_in_range(r.last.variable, 0, 1);
    runner_close(&r);
}

static void values_that_are_not_finite_are_named(void **state)
{
    (void)state;
    runner r;
    runner_open(&r, &method_herk_dopri5, &pendulum, 1e-6, 1e-6, NULL);
    r.count.bad_component = 3;
    r.count.t_bad = 0.105;
    runner_start(&r, 0, rest, 0.01);
    assert_false(run_to(&r, 1, 0.01)); /* stops at the wall */
    assert_true(r.t > 0.1 && r.t <= 0.105);
    assert_int_equal(r.last.status, ATTEMPT_EVALUATION);
    assert_non_null(strstr(r.last.reason, "not finite"));
    assert_string_equal(r.eval.failure.callback, "f");
    assert_int_equal(r.eval.failure.component, 3);
    assert_true(isnan(r.eval.failure.value) && r.eval.failure.t > 0.105);
    runner_close(&r);
}

/* x' = -1e6 (x - cos t), 0 = y - x: the solution is smooth, the steps are not allowed to be long.
 */
static eval_status fast_f(void *c, double t, const double *x, double *f)
{
    ((counter *)c)->f++;
    f[0] = -1e6 * (x[0] - cos(t));
    f[1] = 0;
    return EVAL_OK;
}

static void stability_is_measured(void **state)
{
    (void)state;
    static const method *const methods[] = {&method_herk_dopri5, &method_herk_dop853};
    quasilinear_form form = growth;
    form.f = fast_f;
    for (int k = 0; k < 2; k++) {
        runner r;
        runner_open(&r, methods[k], &form, 1e-5, 1e-5, NULL);
        runner_start(&r, 0, (double[]){1.5, 1.5}, 1e-6);
        r.ctx.look_at_stability = true;
        assert_int_equal(runner_try(&r, 2e-6), ATTEMPT_OK);
        assert_true(fabs(r.last.stability * (k ? 6.3936 : 3.3066) - 2.0) < 0.01);
        runner_close(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_procedure_selects_as_in_its_examples),
        cmocka_unit_test(levels_are_solved_for_what_they_bring_in),
        cmocka_unit_test(a_varying_E_changes_nothing),
        cmocka_unit_test(an_E_that_is_not_reducible_is_stacked_on_g_x),
        cmocka_unit_test(a_full_pattern_changes_nothing),
        cmocka_unit_test(many_pendulums_run_sparse),
        cmocka_unit_test(dense_output_has_its_order),
        cmocka_unit_test(dense_output_of_the_pendulum_stays_on_its_constraints),
        cmocka_unit_test(a_rejected_attempt_leaves_the_state_alone),
        cmocka_unit_test(factors_are_renewed_rarely_where_nothing_moves),
        cmocka_unit_test(dependent_constraints_are_named),
        cmocka_unit_test(a_component_without_equation_is_named),
        cmocka_unit_test(a_derivative_that_is_not_determined_is_named),
        cmocka_unit_test(stability_is_measured),
        cmocka_unit_test(values_that_are_not_finite_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
