/* The heat equation solved matrix-free, with every kind of preconditioner, against the run with a
 * sparse direct solver and against the closed form. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daedal.h"
#include "models.h"

#define PI 3.14159265358979323846

static const double RTOL = 1e-5, ATOL = 1e-7;

/* ---- the model with callbacks of our own ------------------------------------------------------
 */

/* Everything the callbacks below share. The grid has m x m points, k = m - 2 inner ones a side. */
typedef struct heat {
    model *source;
    int m, k;
    double scale;        /* 1 / spacing^2 */
    double *sine;        /* k x k, symmetric and orthogonal: sqrt(2/(k+1)) sin(i j pi/(k+1)) */
    double *eigenvalue;  /* k: of the second difference times scale */
    double *work, *half; /* k x k each */
    double setup_cj;
    long setups, solves, products;
    bool rough; /* start from a bump of many modes */
    dae_residual form;
    dae_problem *problem;
} heat;

static int heat_f(double t, const double *y, const double *yp, double *f, void *user)
{
    heat *h = user;
    return h->source->form.f(t, y, yp, f, h->source->form.user);
}

static int heat_jacobian(double t, const double *y, const double *yp, double *dfdy, double *dfdyp,
                         void *user)
{
    heat *h = user;
    return h->source->form.jacobian(t, y, yp, dfdy, dfdyp, h->source->form.user);
}

static bool on_edge(const heat *h, int i)
{
    int row = i / h->m, column = i % h->m;
    return row == 0 || column == 0 || row == h->m - 1 || column == h->m - 1;
}

/* av = (dF/dy + cj dF/dy') v, by hand */
static int heat_times(double t, const double *y, const double *yp, double cj, const double *v,
                      double *av, void *user)
{
    (void)t, (void)y, (void)yp;
    heat *h = user;
    h->products++;
    for (int i = 0; i < h->m * h->m; i++) {
        av[i] = v[i];
        if (on_edge(h, i)) continue;
        double neighbours = v[i - h->m] + v[i - 1] + v[i + 1] + v[i + h->m];
        av[i] = (cj + 4.0 * h->scale) * v[i] - h->scale * neighbours;
    }
    return 0;
}

/* P = diagonal of the matrix; no setup, so cj must be the current one */
static int diagonal_solve(double t, const double *y, const double *yp, double cj, double *b,
                          void *user)
{
    (void)t, (void)y, (void)yp;
    heat *h = user;
    h->solves++;
    for (int i = 0; i < h->m * h->m; i++)
        if (!on_edge(h, i)) b[i] /= cj + 4.0 * h->scale;
    return 0;
}

/* c = a b, k x k, row by row */
static void multiply(int k, const double *a, const double *b, double *c)
{
    memset(c, 0, (size_t)k * (size_t)k * sizeof *c);
    for (int i = 0; i < k; i++)
        for (int l = 0; l < k; l++)
            for (int j = 0; j < k; j++) c[i * k + j] += a[i * k + l] * b[l * k + j];
}

static int exact_setup(double t, const double *y, const double *yp, double cj, void *user)
{
    (void)t, (void)y, (void)yp;
    heat *h = user;
    h->setups++;
    h->setup_cj = cj;
    return 0;
}

/* P = the matrix itself at the shift of the last setup: edges first, then the inside by sine
 * transforms */
static int exact_solve(double t, const double *y, const double *yp, double cj, double *b,
                       void *user)
{
    (void)t, (void)y, (void)yp;
    heat *h = user;
    int m = h->m, k = h->k;
    h->solves++;
    if (cj != h->setup_cj) return -1; /* the shift belongs to the last setup */
    for (int i = 0; i < k * k; i++) {
        const double *at = b + (i / k + 1) * m + i % k + 1;
        double edges = 0.0;
        if (i / k == 0) edges += at[-m];
        if (i / k == k - 1) edges += at[m];
        if (i % k == 0) edges += at[-1];
        if (i % k == k - 1) edges += at[1];
        h->work[i] = *at + h->scale * edges;
    }
    multiply(k, h->sine, h->work, h->half);
    multiply(k, h->half, h->sine, h->work);
    for (int i = 0; i < k * k; i++) h->work[i] /= cj + h->eigenvalue[i / k] + h->eigenvalue[i % k];
    multiply(k, h->sine, h->work, h->half);
    multiply(k, h->half, h->sine, h->work);
    for (int i = 0; i < k * k; i++) b[(i / k + 1) * m + i % k + 1] = h->work[i];
    return 0;
}

static void make_sines(heat *h)
{
    int k = h->k;
    size_t square = (size_t)k * (size_t)k;
    h->sine = calloc(3 * square + (size_t)k, sizeof *h->sine);
    assert_non_null(h->sine);
    h->work = h->sine + square;
    h->half = h->work + square;
    h->eigenvalue = h->half + square;
    for (int i = 0; i < k; i++) {
        double angle = (i + 1) * PI / (k + 1);
        h->eigenvalue[i] = 4.0 * h->scale * sin(angle / 2) * sin(angle / 2);
        for (int j = 0; j < k; j++) h->sine[i * k + j] = sqrt(2.0 / (k + 1)) * sin(angle * (j + 1));
    }
}

/* The equations alone: neither pattern nor Jacobian. */
static void heat_open(heat *h, int m)
{
    *h = (heat){.source = model_new("heat2d", m), .m = m, .k = m - 2};
    assert_non_null(h->source);
    h->scale = (double)(m - 1) * (m - 1);
    make_sines(h);
    h->form = (dae_residual){.n = m * m, .f = heat_f, .kinds = h->source->form.kinds, .user = h};
}

static void give_pattern(heat *h)
{
    h->form.structure = h->source->form.structure;
    h->form.colptr = h->source->form.colptr;
    h->form.rowind = h->source->form.rowind;
}

static void heat_close(heat *h)
{
    dae_problem_free(h->problem);
    free(h->sine);
    model_free(h->source);
}

/* ---- runs -------------------------------------------------------------------------------------
 */

static dae_options matrix_free(dae_preconditioner precond)
{
    dae_options options = dae_options_default();
    options.rtol = RTOL;
    options.atol = ATOL;
    options.linear_solver = DAE_LINEAR_GMRES;
    options.preconditioner = precond;
    return options;
}

/* y = the model's three modes, or a box of height 1 in the middle: all modes */
static void initial_values(const heat *h, double *y)
{
    memcpy(y, h->source->y0, (size_t)(h->m * h->m) * sizeof *y);
    for (int i = 0; h->rough && i < h->m * h->m; i++) {
        double row = i / h->m, column = i % h->m, quarter = 0.25 * h->m;
        y[i] = fmax(fabs(row - 2 * quarter), fabs(column - 2 * quarter)) < quarter ? 1.0 : 0.0;
    }
}

/* Solve to tend; y' at the start is unknown for the box. The solution goes to y. */
static dae_stats solve(heat *h, const dae_options *options, double *y)
{
    dae_diag diag = {0};
    dae_solver *solver;
    dae_problem_free(h->problem);
    assert_int_equal(dae_problem_from_residual(&h->form, &h->problem, &diag), DAE_OK);
    assert_int_equal(dae_solver_new(h->problem, options, &solver, &diag), DAE_OK);
    initial_values(h, y);
    assert_int_equal(dae_solver_start(solver, 0.0, y, h->rough ? NULL : h->source->yp0), DAE_OK);
    dae_status status = dae_solver_run(solver, h->source->tend, y, NULL);
    if (status != DAE_OK) print_error("%s\n", dae_solver_diag(solver)->text);
    assert_int_equal(status, DAE_OK);
    dae_stats stats = *dae_solver_stats(solver);
    assert_int_equal(stats.linear_iterations > 0, options->linear_solver == DAE_LINEAR_GMRES);
    if (options->linear_solver == DAE_LINEAR_GMRES) assert_true(dae_solver_condition(solver) < 0.0);
    dae_solver_free(solver);
    return stats;
}

/* Largest difference in units of the tolerances. */
static double distance(const heat *h, const double *a, const double *b)
{
    double most = 0.0;
    for (int i = 0; i < h->m * h->m; i++)
        most = fmax(most, fabs(a[i] - b[i]) / (RTOL * fabs(b[i]) + ATOL));
    return most;
}

static double *new_vector(const heat *h)
{
    double *v = calloc((size_t)(h->m * h->m), sizeof *v);
    assert_non_null(v);
    return v;
}

/* Global errors of BDF are several times the local tolerance; both runs stay within this many. */
static const double NEARNESS = 20.0;

static const int sides[2] = {20, 40};

/* The run with KLU for a grid of sides[size], from the modes or from the box. Made once; the tests
 * borrow it. */
static const double *direct_solution(int size, bool rough)
{
    static double *kept[2][2];
    if (kept[size][rough]) return kept[size][rough];
    heat h;
    heat_open(&h, sides[size]);
    give_pattern(&h);
    h.form.jacobian = heat_jacobian;
    h.rough = rough;
    double *y = new_vector(&h);
    dae_options options = matrix_free(DAE_PRECOND_AUTO);
    options.linear_solver = DAE_LINEAR_SPARSE;
    solve(&h, &options, y);
    if (!rough) assert_true(distance(&h, y, h.source->reference) < NEARNESS);
    heat_close(&h);
    kept[size][rough] = y;
    return y;
}

/* One matrix-free run beside the run with KLU. */
static dae_stats compare(heat *h, dae_preconditioner precond)
{
    double *y = new_vector(h);
    dae_options options = matrix_free(precond);
    dae_stats stats = solve(h, &options, y);
    double apart = distance(h, y, direct_solution(h->m == sides[1], h->rough));
    if (!(apart < NEARNESS)) print_error("%g tolerances apart\n", apart);
    assert_true(apart < NEARNESS);
    free(y);
    return stats;
}

/* With the exact P there is nothing left to do but follow the drift of cj. */
static void test_exact_user_preconditioner(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        heat h;
        heat_open(&h, sides[k]);
        h.form.precond_setup = exact_setup;
        h.form.precond_solve = exact_solve;
        dae_stats stats = compare(&h, DAE_PRECOND_AUTO);
        assert_true(h.setups > 0 && h.setups < stats.steps);
        assert_true(h.solves > 0);
        assert_true(stats.linear_iterations <= 2 * stats.solves);
        assert_int_equal(stats.rejected_convergence, 0);
        heat_close(&h);
    }
}

/* A poor P without a setup still serves. */
static void test_diagonal_user_preconditioner(void **state)
{
    (void)state;
    heat h;
    heat_open(&h, sides[0]);
    h.form.precond_solve = diagonal_solve;
    compare(&h, DAE_PRECOND_USER);
    assert_true(h.solves > 0);
    assert_int_equal(h.setups, 0);
    heat_close(&h);
}

/* Known pattern: ILU by default, from differences or from the Jacobian callback. */
static void test_ilu_is_default_with_pattern(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        heat h;
        heat_open(&h, sides[k / 2]);
        give_pattern(&h);
        if (k % 2) h.form.jacobian = heat_jacobian;
        dae_stats automatic = compare(&h, DAE_PRECOND_AUTO);
        dae_stats named = compare(&h, DAE_PRECOND_ILU);
        assert_memory_equal(&automatic, &named, sizeof named);
        assert_true(automatic.jacobians > 0 && automatic.factorisations > 0);
        heat_close(&h);
    }
}

/* No pattern: the band of the matrix. */
static void test_band_is_default_without_pattern(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        heat h;
        heat_open(&h, sides[k]);
        dae_stats automatic = compare(&h, DAE_PRECOND_AUTO);
        dae_stats named = compare(&h, DAE_PRECOND_BANDED);
        assert_memory_equal(&automatic, &named, sizeof named);
        assert_true(automatic.jacobians > 0 && automatic.factorisations > 0);
        heat_close(&h);
    }
}

static void test_no_preconditioner(void **state)
{
    (void)state;
    heat h;
    heat_open(&h, sides[0]);
    dae_stats stats = compare(&h, DAE_PRECOND_NONE);
    assert_int_equal(stats.factorisations, 0);
    heat_close(&h);
}

/* From the box, with all its modes: iterations a solve. The better P is, the fewer. */
static void test_iteration_counts(void **state)
{
    (void)state;
    heat h;
    double mean[4];
    const dae_preconditioner kinds[4] = {DAE_PRECOND_USER, DAE_PRECOND_ILU, DAE_PRECOND_BANDED,
                                         DAE_PRECOND_NONE};
    heat_open(&h, sides[1]);
    give_pattern(&h);
    h.rough = true;
    h.form.precond_setup = exact_setup;
    h.form.precond_solve = exact_solve;
    for (int k = 0; k < 4; k++) {
        dae_stats stats = compare(&h, kinds[k]);
        mean[k] = (double)stats.linear_iterations / (double)stats.solves;
    }
    print_message("iterations a solve: exact %.1f, ILU %.1f, band %.1f, none %.1f\n", mean[0],
                  mean[1], mean[2], mean[3]);
    assert_true(mean[0] < mean[1] + 0.1);
    assert_true(mean[1] < mean[2]);
    assert_true(mean[2] < mean[3]);
    assert_true(mean[3] < 50.0);
    heat_close(&h);
}

/* A wider band is a better preconditioner: with the bandwidth of the matrix it is the matrix. */
static void test_preconditioner_bandwidth(void **state)
{
    (void)state;
    heat h;
    heat_open(&h, 12);
    give_pattern(&h);
    h.rough = true;
    double *y = new_vector(&h);
    dae_stats stats[2];
    for (int k = 0; k < 2; k++) {
        dae_options options = matrix_free(DAE_PRECOND_BANDED);
        options.precond_lower = options.precond_upper = k == 0 ? 1 : h.m;
        stats[k] = solve(&h, &options, y);
    }
    assert_true(5 * stats[1].linear_iterations < 4 * stats[0].linear_iterations);
    free(y);
    heat_close(&h);
}

/* ---- products -----------------------------------------------------------------------------------
 */

/* The callback takes the place of differences of F. */
static void test_jac_times_is_used(void **state)
{
    (void)state;
    heat h;
    heat_open(&h, sides[0]);
    h.form.precond_setup = exact_setup;
    h.form.precond_solve = exact_solve;
    dae_stats differences = compare(&h, DAE_PRECOND_USER);
    assert_true(differences.jacobian_residuals >= differences.linear_iterations);
    assert_int_equal(h.products, 0);
    h.form.jac_times = heat_times;
    dae_stats products = compare(&h, DAE_PRECOND_USER);
    assert_true(h.products >= products.linear_iterations);
    assert_int_equal(products.jacobian_residuals, 0);
    heat_close(&h);
}

/* ---- what cannot work is said -------------------------------------------------------------------
 */

static double any_norm(int n, const double *v, const double *weights, void *user)
{
    (void)user;
    double most = 0.0;
    for (int i = 0; i < n; i++) most = fmax(most, fabs(v[i] / weights[i]));
    return most;
}

static void test_user_norm_is_rejected(void **state)
{
    (void)state;
    heat h;
    heat_open(&h, 5);
    dae_diag diag = {0};
    dae_solver *solver;
    dae_options options = dae_options_default();
    options.linear_solver = DAE_LINEAR_GMRES;
    options.norm = any_norm;
    assert_int_equal(dae_problem_from_residual(&h.form, &h.problem, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(h.problem, &options, &solver, &diag), DAE_ERR_UNSUPPORTED);
    assert_null(solver);
    assert_non_null(strstr(diag.text, "norm"));
    heat_close(&h);
}

static void test_missing_user_preconditioner_is_rejected(void **state)
{
    (void)state;
    heat h;
    heat_open(&h, 5);
    dae_diag diag = {0};
    dae_solver *solver;
    dae_options options = dae_options_default();
    options.linear_solver = DAE_LINEAR_GMRES;
    options.preconditioner = DAE_PRECOND_USER;
    assert_int_equal(dae_problem_from_residual(&h.form, &h.problem, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(h.problem, &options, &solver, &diag), DAE_ERR_UNSUPPORTED);
    assert_null(solver);
    assert_non_null(strstr(diag.text, "precond_solve"));
    heat_close(&h);
}

/* A preconditioner that fails for good stops the run; one that fails now and then shortens steps.
 */
static int failing_solve(double t, const double *y, const double *yp, double cj, double *b,
                         void *user)
{
    heat *h = user;
    if (t > 0.05 && h->setup_cj < 0.0) return -1;
    if (h->solves % 50 == 49) {
        h->solves++;
        return 1;
    }
    return diagonal_solve(t, y, yp, cj, b, user);
}

static void test_failing_preconditioner(void **state)
{
    (void)state;
    heat h;
    dae_options options = dae_options_default();
    options.linear_solver = DAE_LINEAR_GMRES;
    heat_open(&h, 8);
    h.form.precond_solve = failing_solve;
    double *y = new_vector(&h);
    assert_int_equal(dae_problem_from_residual(&h.form, &h.problem, NULL), DAE_OK);
    for (int stop = 0; stop <= 1; stop++) {
        dae_solver *solver;
        h.setup_cj = stop ? -1.0 : 1.0;
        assert_int_equal(dae_solver_new(h.problem, &options, &solver, NULL), DAE_OK);
        assert_int_equal(dae_solver_start(solver, 0.0, h.source->y0, h.source->yp0), DAE_OK);
        assert_int_equal(dae_solver_run(solver, 0.1, y, NULL), stop ? DAE_ERR_CALLBACK : DAE_OK);
        if (stop) assert_non_null(strstr(dae_solver_diag(solver)->text, "preconditioner"));
        if (!stop) assert_true(distance(&h, y, h.source->reference) < NEARNESS);
        dae_solver_free(solver);
    }
    free(y);
    heat_close(&h);
}

/* Incomplete GMRES (KMP): against all vectors it is the complete one, bit for bit; against the last
 * one alone it loses what it had, and takes more iterations. Results are right either way. */
static void test_incomplete_orthogonalisation(void **state)
{
    (void)state;
    static const int last[] = {0, 20, 2, 1}; /* of 20 */
    heat h;
    heat_open(&h, sides[0]);
    h.rough = true;
    double *complete = new_vector(&h), *y = new_vector(&h);
    long iterations[4];
    for (int k = 0; k < 4; k++) {
        dae_options options = matrix_free(DAE_PRECOND_NONE);
        options.krylov_orthogonal = last[k];
        iterations[k] = solve(&h, &options, k == 0 ? complete : y).linear_iterations;
        if (k == 1) assert_memory_equal(y, complete, (size_t)(h.m * h.m) * sizeof *y);
        if (k > 0) assert_true(distance(&h, y, direct_solution(0, true)) < NEARNESS);
    }
    assert_int_equal(iterations[1], iterations[0]);
    assert_true(iterations[3] > iterations[0] + iterations[0] / 10);
    free(complete);
    free(y);
    heat_close(&h);
}

static void test_incomplete_without_gmres_is_rejected(void **state)
{
    (void)state;
    heat h;
    heat_open(&h, sides[0]);
    dae_diag diag = {0};
    dae_solver *solver;
    dae_options options = dae_options_default();
    assert_int_equal(dae_problem_from_residual(&h.form, &h.problem, NULL), DAE_OK);
    options.krylov_orthogonal = 3;
    assert_int_equal(dae_solver_new(h.problem, &options, &solver, &diag), DAE_ERR_ARGUMENT);
    assert_non_null(strstr(diag.text, "krylov_orthogonal"));
    options.krylov_orthogonal = -1;
    options.linear_solver = DAE_LINEAR_GMRES;
    assert_int_equal(dae_solver_new(h.problem, &options, &solver, &diag), DAE_ERR_ARGUMENT);
    heat_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact_user_preconditioner),
        cmocka_unit_test(test_diagonal_user_preconditioner),
        cmocka_unit_test(test_ilu_is_default_with_pattern),
        cmocka_unit_test(test_band_is_default_without_pattern),
        cmocka_unit_test(test_no_preconditioner),
        cmocka_unit_test(test_iteration_counts),
        cmocka_unit_test(test_preconditioner_bandwidth),
        cmocka_unit_test(test_jac_times_is_used),
        cmocka_unit_test(test_user_norm_is_rejected),
        cmocka_unit_test(test_missing_user_preconditioner_is_rejected),
        cmocka_unit_test(test_failing_preconditioner),
        cmocka_unit_test(test_incomplete_orthogonalisation),
        cmocka_unit_test(test_incomplete_without_gmres_is_rejected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
