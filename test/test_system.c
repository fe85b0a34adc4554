/* Jacobians and iteration matrices against formulas and plain Gaussian elimination. */
#include "matrix/iteration.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---------------------------------------------------------------------------------------------
 * A random nonlinear system on a prescribed pattern,
 *   F_i = sum_j ( a_ij sin(y_j) + b_ij y'_j + c_ij y_i y'_j ),
 * whose partial derivatives are known: dF_i/dy_j = a_ij cos(y_j) + [i=j] sum_k c_ik y'_k and
 * dF_i/dy'_j = b_ij + c_ij y_i.
 * ------------------------------------------------------------------------------------------- */

enum { N = 40, CAPACITY = N * N };

typedef struct toy {
    bool in[N][N]; /* the pattern, with the diagonal */
    double a[N][N], b[N][N], c[N][N];
    double y[N], yp[N], weights[N], scale[N], f[N];
    int lower, upper, colptr[N + 1], rowind[CAPACITY];
    dae_structure structure; /* in which the callback writes */
    long calls, fail_at;     /* F fails at this call (and stays so if `forever`) */
    int fail_code;           /* 0: NaN */
    bool forever;
    long setups, precond_solves, products;
    double precond[N][N]; /* inverse of the user's P */
    double limit;         /* F refuses |y_0| above it */
    dae_problem *problem;
    dae_stats stats;
    evaluator eval;
} toy;

static double uniform(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*state >> 33) / (double)(UINT64_C(1) << 31);
}

static int toy_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t;
    toy *w = user;
    long call = w->calls++;
    if (w->limit > 0.0 && fabs(y[0]) > w->limit) return 1;
    for (int i = 0; i < N; i++) {
        f[i] = 0.0;
        for (int j = 0; j < N; j++)
            if (w->in[i][j])
                f[i] += w->a[i][j] * sin(y[j]) + (w->b[i][j] + w->c[i][j] * y[i]) * yp[j];
    }
    if (call == w->fail_at || (w->forever && call > w->fail_at)) {
        f[3] = w->fail_code ? f[3] : NAN;
        return w->fail_code;
    }
    return 0;
}

/* The two matrices by formula, as dense row-major arrays. */
static void toy_exact(const toy *w, const double *y, const double *yp, double dfdy[N][N],
                      double dfdyp[N][N])
{
    for (int i = 0; i < N; i++) {
        double sum = 0.0;
        for (int j = 0; j < N; j++) {
            dfdy[i][j] = w->in[i][j] ? w->a[i][j] * cos(y[j]) : 0.0;
            dfdyp[i][j] = w->in[i][j] ? w->b[i][j] + w->c[i][j] * y[i] : 0.0;
            sum += w->in[i][j] ? w->c[i][j] * yp[j] : 0.0;
        }
        dfdy[i][i] += sum;
    }
}

static int toy_jacobian(double t, const double *y, const double *yp, double *dfdy, double *dfdyp,
                        void *user)
{
    (void)t;
    toy *w = user;
    static double exact_y[N][N], exact_yp[N][N];
    toy_exact(w, y, yp, exact_y, exact_yp);
    for (int j = 0, k = 0; j < N; j++)
        for (int i = 0; i < N; i++) {
            size_t at = (size_t)(i + j * N);
            bool inside = true;
            if (w->structure == DAE_STRUCTURE_BANDED) {
                inside = i - j <= w->lower && j - i <= w->upper;
                at = (size_t)(w->upper + i - j + j * (w->lower + w->upper + 1));
            } else if (w->structure == DAE_STRUCTURE_SPARSE) {
                inside = w->in[i][j];
                at = (size_t)(inside ? k++ : 0);
            }
            if (inside) dfdy[at] = exact_y[i][j];
            if (inside) dfdyp[at] = exact_yp[i][j];
        }
    return 0;
}

typedef enum pattern { PATTERN_RANDOM, PATTERN_TRIDIAGONAL, PATTERN_ARROW, PATTERN_BAND } pattern;

static bool in_pattern(pattern which, int i, int j, uint64_t *random)
{
    switch (which) {
    case PATTERN_TRIDIAGONAL: return abs(i - j) <= 1;
    case PATTERN_ARROW: return i == j || i == N - 1 || j == N - 1;
    case PATTERN_BAND: return i - j <= 2 && j - i <= 1;
    case PATTERN_RANDOM: break;
    }
    return i == j || uniform(random) < 0.06;
}

/* Rows >= N - algebraic have no y', and y' of the variables >= N - algebraic appears nowhere. */
static void toy_fill(toy *w, pattern which, int algebraic, bool linear_derivatives, uint64_t seed)
{
    memset(w, 0, sizeof *w);
    w->fail_at = -1;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            w->in[i][j] = in_pattern(which, i, j, &seed);
            w->a[i][j] = uniform(&seed) - 0.5 + (i == j ? 4.0 : 0.0);
            bool derivative = i < N - algebraic && j < N - algebraic;
            w->b[i][j] = derivative ? uniform(&seed) - 0.5 + (i == j ? 3.0 : 0.0) : 0.0;
            w->c[i][j] = derivative && !linear_derivatives ? 0.2 * (uniform(&seed) - 0.5) : 0.0;
        }
    for (int j = 0; j < N; j++) {
        w->colptr[j + 1] = w->colptr[j];
        for (int i = 0; i < N; i++)
            if (w->in[i][j]) w->rowind[w->colptr[j + 1]++] = i;
        w->y[j] = (uniform(&seed) < 0.5 ? -1.0 : 1.0) * (0.5 + 0.5 * uniform(&seed));
        w->yp[j] = 2.0 * uniform(&seed) - 1.0;
        w->weights[j] = 1e-6 * (fabs(w->y[j]) + 1e-3);
        w->scale[j] = 1.0 / w->weights[j];
    }
}

static int toy_setup(double t, const double *y, const double *yp, double cj, void *user);
static int toy_precond(double t, const double *y, const double *yp, double cj, double *b,
                       void *user);
static int toy_product(double t, const double *y, const double *yp, double cj, const double *v,
                       double *av, void *user);

typedef struct choice {
    dae_structure structure; /* told to the problem; AUTO: nothing is told */
    bool jacobian, precond, product;
} choice;

static void toy_problem(toy *w, choice with)
{
    dae_residual form = {.n = N, .f = toy_f, .user = w, .structure = with.structure};
    w->structure = with.structure == DAE_STRUCTURE_AUTO ? DAE_STRUCTURE_DENSE : with.structure;
    if (with.jacobian) form.jacobian = toy_jacobian;
    if (with.structure == DAE_STRUCTURE_BANDED) {
        form.lower = w->lower = 2;
        form.upper = w->upper = 1;
    }
    if (with.structure == DAE_STRUCTURE_SPARSE) {
        form.colptr = w->colptr;
        form.rowind = w->rowind;
    }
    if (with.precond) {
        form.precond_setup = toy_setup;
        form.precond_solve = toy_precond;
    }
    if (with.product) form.jac_times = toy_product;
    dae_diag diag;
    if (dae_problem_from_residual(&form, &w->problem, &diag) != DAE_OK) fail_msg("%s", diag.text);
    w->eval = (evaluator){.problem = w->problem, .stats = &w->stats};
    toy_f(0.0, w->y, w->yp, w->f, w);
    w->calls = 0;
}

/* Element (i, j) of a matrix on a layout. */
static double element(const matrix_layout *layout, const double *values, int i, int j)
{
    matrix_column column = layout_column(layout, j);
    for (int k = 0; k < column.count; k++)
        if (column_row(&column, k) == i) return values[column.first + (size_t)k];
    return 0.0;
}

static double worst_error(const matrix_layout *layout, const double *values, double exact[N][N])
{
    double worst = 0.0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            worst = fmax(worst, fabs(element(layout, values, i, j) - exact[i][j]));
    return worst;
}

static double dfdy[N][N], dfdyp[N][N];

/* Both matrices of j at the toy's point agree with the formulas. */
static void assert_matches(const toy *w, const jacobian *j, double tolerance)
{
    toy_exact(w, w->y, w->yp, dfdy, dfdyp);
    double error_y = worst_error(&j->layout, j->dfdy, dfdy);
    double error_yp = worst_error(&j->layout, j->dfdyp, dfdyp);
    double size = 0.0;
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++) size = fmax(size, fmax(fabs(dfdy[i][k]), fabs(dfdyp[i][k])));
    tolerance *= size;
    if (error_y > tolerance || error_yp > tolerance)
        fail_msg("errors %g in dF/dy and %g in dF/dy'", error_y, error_yp);
}

/* ---------------------------------------------------------------------------------------------
 * Jacobians
 * ------------------------------------------------------------------------------------------- */

static void test_every_structure_and_solver(void **state)
{
    (void)state;
    static toy w;
    const dae_structure structures[] = {DAE_STRUCTURE_AUTO, DAE_STRUCTURE_DENSE,
                                        DAE_STRUCTURE_BANDED, DAE_STRUCTURE_SPARSE};
    const dae_linear_solver solvers[] = {DAE_LINEAR_AUTO, DAE_LINEAR_DENSE, DAE_LINEAR_BANDED,
                                         DAE_LINEAR_SPARSE};
    for (int s = 0; s < 4; s++)
        for (int l = 0; l < 4; l++)
            for (int user = 0; user < 2; user++) {
                toy_fill(&w, PATTERN_BAND, 8, false, 7);
                toy_problem(&w, (choice){.structure = structures[s], .jacobian = user});
                jacobian j;
                dae_diag diag;
                dae_status status = jacobian_new(&j, &w.eval, solvers[l], &diag);
                bool dense = w.problem->form.structure == DAE_STRUCTURE_DENSE;
                if (dense && solvers[l] == DAE_LINEAR_BANDED) {
                    assert_int_equal(status, DAE_ERR_UNSUPPORTED);
                    assert_non_null(strstr(diag.text, "bandwidths"));
                } else {
                    assert_int_equal(status, DAE_OK);
                    assert_int_equal(jacobian_evaluate(&j, 0.0, w.y, w.yp, 0.01, w.weights, w.f),
                                     EVAL_OK);
                    assert_matches(&w, &j, user ? 1e-15 : 1e-6);
                    if (solvers[l] != DAE_LINEAR_AUTO)
                        assert_int_equal((int)j.layout.kind, (int)solvers[l]);
                }
                jacobian_free(&j);
                dae_problem_free(w.problem);
            }
}

static void test_random_sparse(void **state)
{
    (void)state;
    static toy w;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        toy_fill(&w, PATTERN_RANDOM, 5, false, seed);
        toy_problem(&w, (choice){.structure = DAE_STRUCTURE_SPARSE});
        jacobian j;
        assert_int_equal(jacobian_new(&j, &w.eval, DAE_LINEAR_AUTO, NULL), DAE_OK);
        assert_int_equal(j.layout.kind, DAE_STRUCTURE_SPARSE);
        assert_int_equal(jacobian_evaluate(&j, 0.0, w.y, w.yp, -0.1, w.weights, NULL), EVAL_OK);
        assert_matches(&w, &j, 1e-6);
        assert_int_equal(w.stats.jacobians, 1);
        assert_int_equal(w.stats.jacobian_residuals, w.calls);
        jacobian_free(&j);
        dae_problem_free(w.problem);
    }
}

/* Coloured differences cost a few evaluations, and a constant dF/dy' only one after the first. */
static void test_evaluation_counts(void **state)
{
    (void)state;
    static toy w;
    toy_fill(&w, PATTERN_TRIDIAGONAL, 0, true, 3);
    toy_problem(&w, (choice){.structure = DAE_STRUCTURE_SPARSE});
    jacobian j;
    assert_int_equal(jacobian_new(&j, &w.eval, DAE_LINEAR_AUTO, NULL), DAE_OK);
    assert_int_equal(jacobian_evaluate(&j, 0.0, w.y, w.yp, 0.1, w.weights, w.f), EVAL_OK);
    assert_int_equal(w.calls, 6); /* three colours, y and y' */
    for (int i = 0; i < N; i++) w.y[i] += 0.1;
    w.calls = 0;
    assert_int_equal(jacobian_evaluate(&j, 0.0, w.y, w.yp, 0.1, w.weights, NULL), EVAL_OK);
    assert_int_equal(w.calls, 1 + 3 + 1); /* F, three colours, one probe of dF/dy' */
    assert_matches(&w, &j, 1e-6);
    jacobian_free(&j);
    dae_problem_free(w.problem);
}

/* dF/dy' that moves must not be taken for constant. */
static void test_moving_derivative_matrix(void **state)
{
    (void)state;
    static toy w;
    toy_fill(&w, PATTERN_BAND, 8, false, 11);
    toy_problem(&w, (choice){.structure = DAE_STRUCTURE_BANDED});
    jacobian j;
    assert_int_equal(jacobian_new(&j, &w.eval, DAE_LINEAR_AUTO, NULL), DAE_OK);
    assert_int_equal(jacobian_evaluate(&j, 0.0, w.y, w.yp, 0.1, w.weights, w.f), EVAL_OK);
    for (int step = 0; step < 5; step++) {
        w.y[step] += 0.01;
        assert_int_equal(jacobian_evaluate(&j, 0.0, w.y, w.yp, 0.1, w.weights, NULL), EVAL_OK);
        assert_matches(&w, &j, 3e-6);
    }
    w.b[0][1] = 1.5; /* one entry appears from outside: the probe must see it */
    assert_int_equal(jacobian_evaluate(&j, 0.0, w.y, w.yp, 0.1, w.weights, NULL), EVAL_OK);
    assert_matches(&w, &j, 3e-6);
    w.b[N - 1][N - 1] = 1.0; /* and one in a row that had none */
    assert_int_equal(jacobian_evaluate(&j, 0.0, w.y, w.yp, 0.1, w.weights, NULL), EVAL_OK);
    assert_matches(&w, &j, 3e-6);
    assert_false(j.constraint_row[N - 1]);
    jacobian_free(&j);
    dae_problem_free(w.problem);
}

static void test_rows_and_columns_without_derivatives(void **state)
{
    (void)state;
    static toy w;
    for (int user = 0; user < 2; user++) {
        toy_fill(&w, PATTERN_RANDOM, 6, false, 5);
        toy_problem(&w, (choice){.structure = DAE_STRUCTURE_SPARSE, .jacobian = user});
        jacobian j;
        assert_int_equal(jacobian_new(&j, &w.eval, DAE_LINEAR_AUTO, NULL), DAE_OK);
        assert_int_equal(jacobian_evaluate(&j, 0.0, w.y, w.yp, 0.1, w.weights, w.f), EVAL_OK);
        for (int i = 0; i < N; i++) {
            assert_int_equal(j.constraint_row[i], i >= N - 6);
            assert_int_equal(j.algebraic_column[i], i >= N - 6);
        }
        jacobian_free(&j);
        dae_problem_free(w.problem);
    }
}

/* Variables at zero beside large ones: increments of sqrt(u) times the weight would drown. With a
 * weight that is no help either, the column vanishes and is differenced again. */
static void tiny_variables(double weight, double tolerance)
{
    static toy w;
    toy_fill(&w, PATTERN_BAND, 8, true, 2);
    for (int i = 0; i < N; i += 5) {
        w.y[i] = w.yp[i] = 0.0;
        w.weights[i] = weight;
    }
    toy_problem(&w, (choice){.structure = DAE_STRUCTURE_BANDED});
    jacobian j;
    assert_int_equal(jacobian_new(&j, &w.eval, DAE_LINEAR_AUTO, NULL), DAE_OK);
    assert_int_equal(jacobian_evaluate(&j, 0.0, w.y, w.yp, 0.1, w.weights, w.f), EVAL_OK);
    assert_matches(&w, &j, tolerance);
    for (int again = 0; again < 3; again++) { /* what was found once is not lost later */
        for (int i = 1; i < N; i += 5) w.y[i] += 0.01;
        assert_int_equal(jacobian_evaluate(&j, 0.0, w.y, w.yp, 0.1, w.weights, NULL), EVAL_OK);
        assert_matches(&w, &j, tolerance);
    }
    jacobian_free(&j);
    dae_problem_free(w.problem);
}

static void test_tiny_variables(void **state)
{
    (void)state;
    for (double weight = 1e-8; weight > 1e-20; weight *= 0.1) tiny_variables(weight, 0.02);
    tiny_variables(0.0, 1e-3);
}

/* Bounds hold during differences, and a refused side is left for the other one. */
static void test_differences_avoid_forbidden_points(void **state)
{
    (void)state;
    static toy w;
    toy_fill(&w, PATTERN_BAND, 8, false, 13);
    w.y[0] = 0.3;
    w.yp[0] = 1.0; /* the increment is positive */
    toy_problem(&w, (choice){.structure = DAE_STRUCTURE_BANDED});
    w.limit = 0.3;
    jacobian j;
    assert_int_equal(jacobian_new(&j, &w.eval, DAE_LINEAR_AUTO, NULL), DAE_OK);
    assert_int_equal(jacobian_evaluate(&j, 0.0, w.y, w.yp, 0.1, w.weights, w.f), EVAL_OK);
    assert_matches(&w, &j, 1e-6);
    long with_retry = w.calls;
    jacobian_free(&j);
    double upper[N];
    for (int i = 0; i < N; i++) upper[i] = i == 0 ? 0.3 : INFINITY;
    w.problem->form.upper_bounds = upper;
    w.calls = 0;
    assert_int_equal(jacobian_new(&j, &w.eval, DAE_LINEAR_AUTO, NULL), DAE_OK);
    assert_int_equal(jacobian_evaluate(&j, 0.0, w.y, w.yp, 0.1, w.weights, w.f), EVAL_OK);
    assert_matches(&w, &j, 1e-6);
    assert_int_equal(w.calls, with_retry - 1);
    w.problem->form.upper_bounds = NULL;
    jacobian_free(&j);
    dae_problem_free(w.problem);
}

static void test_failing_differences(void **state)
{
    (void)state;
    static toy w;
    const int codes[] = {1, -1, 0};
    for (int c = 0; c < 3; c++)
        for (long at = 0; at < 8; at++) {
            toy_fill(&w, PATTERN_BAND, 8, false, 17);
            toy_problem(&w, (choice){.structure = DAE_STRUCTURE_BANDED});
            w.fail_at = at;
            w.fail_code = codes[c];
            jacobian j;
            assert_int_equal(jacobian_new(&j, &w.eval, DAE_LINEAR_AUTO, NULL), DAE_OK);
            eval_status once = jacobian_evaluate(&j, 0.0, w.y, w.yp, 0.1, w.weights, w.f);
            assert_int_equal(once, codes[c] < 0 ? EVAL_STOP : EVAL_OK);
            assert_int_equal(j.valid, codes[c] >= 0);
            if (codes[c] >= 0) assert_matches(&w, &j, 1e-6);
            w.calls = 0;
            w.forever = true;
            eval_status always = jacobian_evaluate(&j, 0.0, w.y, w.yp, 0.1, w.weights, w.f);
            bool reached = w.calls > at;
            eval_status expected = codes[c] < 0 ? EVAL_STOP : EVAL_RETRY;
            if (reached) assert_int_equal(always, expected);
            if (reached) assert_false(j.valid);
            jacobian_free(&j);
            dae_problem_free(w.problem);
        }
}

/* ---------------------------------------------------------------------------------------------
 * Detection
 * ------------------------------------------------------------------------------------------- */

static void assert_detects(pattern which, uint64_t seed, bool zeros)
{
    static toy w;
    toy_fill(&w, which, 4, false, seed);
    if (zeros) memset(w.y, 0, sizeof w.y);
    if (zeros) memset(w.yp, 0, sizeof w.yp);
    toy_problem(&w, (choice){.structure = DAE_STRUCTURE_AUTO});
    jacobian j;
    assert_int_equal(jacobian_new(&j, &w.eval, DAE_LINEAR_SPARSE, NULL), DAE_OK);
    assert_true(j.undetected);
    assert_int_equal(jacobian_detect(&j, 0.0, w.y, w.yp, w.weights), EVAL_OK);
    assert_int_equal(w.calls, 2 * N + 2);
    assert_int_equal(w.stats.jacobian_residuals, w.calls);
    assert_memory_equal(j.layout.colptr, w.colptr, sizeof w.colptr);
    assert_memory_equal(j.layout.rowind, w.rowind, (size_t)w.colptr[N] * sizeof(int));
    assert_int_equal(jacobian_evaluate(&j, 0.0, w.y, w.yp, 0.1, w.weights, NULL), EVAL_OK);
    assert_matches(&w, &j, 1e-6);
    jacobian_free(&j);
    dae_problem_free(w.problem);
}

static void test_detection(void **state)
{
    (void)state;
    assert_detects(PATTERN_TRIDIAGONAL, 1, false);
    assert_detects(PATTERN_ARROW, 2, false);
    for (uint64_t seed = 1; seed < 6; seed++) assert_detects(PATTERN_RANDOM, seed, seed % 2);
}

/* F refuses distant points: detection comes nearer. */
static void test_detection_shrinks(void **state)
{
    (void)state;
    static toy w;
    toy_fill(&w, PATTERN_TRIDIAGONAL, 4, false, 21);
    w.y[0] = 0.3;
    toy_problem(&w, (choice){.structure = DAE_STRUCTURE_AUTO});
    w.limit = 0.3003;
    jacobian j;
    assert_int_equal(jacobian_new(&j, &w.eval, DAE_LINEAR_SPARSE, NULL), DAE_OK);
    assert_int_equal(jacobian_detect(&j, 0.0, w.y, w.yp, w.weights), EVAL_OK);
    assert_memory_equal(j.layout.rowind, w.rowind, (size_t)w.colptr[N] * sizeof(int));
    jacobian_free(&j);
    w.fail_at = 0;
    w.fail_code = -3;
    w.forever = true;
    assert_int_equal(jacobian_new(&j, &w.eval, DAE_LINEAR_SPARSE, NULL), DAE_OK);
    assert_int_equal(jacobian_detect(&j, 0.0, w.y, w.yp, w.weights), EVAL_STOP);
    assert_true(j.undetected);
    jacobian_free(&j);
    dae_problem_free(w.problem);
}

/* y_i' = y_{i-1} - 2 y_i + y_{i+1} (sparse), or y_i' = sum_j y_j (full) */
typedef struct wide {
    int n;
    bool full;
} wide;

static int wide_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t;
    const wide *w = user;
    double sum = 0.0;
    for (int i = 0; i < w->n; i++) sum += y[i] * y[i];
    for (int i = 0; i < w->n; i++)
        f[i] = yp[i] + 2.0 * y[i] - (i > 0 ? y[i - 1] : 0.0) - (i < w->n - 1 ? y[i + 1] : 0.0) +
               (w->full ? sum : 0.0);
    return 0;
}

static void test_unknown_structure_of_large_problems(void **state)
{
    (void)state;
    for (int full = 0; full < 2; full++) {
        wide w = {.n = 200, .full = full};
        dae_problem *p;
        dae_stats stats = {0};
        double y[200], yp[200] = {0}, weights[200];
        for (int i = 0; i < 200; i++) y[i] = weights[i] = 1.0 + 1e-3 * i;
        dae_residual form = {.n = w.n, .f = wide_f, .user = &w};
        assert_int_equal(dae_problem_from_residual(&form, &p, NULL), DAE_OK);
        evaluator eval = {.problem = p, .stats = &stats};
        jacobian j;
        assert_int_equal(jacobian_new(&j, &eval, DAE_LINEAR_AUTO, NULL), DAE_OK);
        assert_true(j.undetected);
        assert_int_equal(jacobian_evaluate(&j, 0.0, y, yp, 0.1, weights, NULL), EVAL_OK);
        assert_int_equal(j.layout.kind, full ? DAE_STRUCTURE_DENSE : DAE_STRUCTURE_SPARSE);
        if (!full) assert_int_equal(j.layout.count, 3 * 200 - 2);
        assert_true(fabs(element(&j.layout, j.dfdy, 7, 7) - (full ? 4.014 : 2.0)) < 1e-4);
        jacobian_free(&j);
        dae_problem_free(p);
    }
}

/* ---------------------------------------------------------------------------------------------
 * Iteration matrices
 * ------------------------------------------------------------------------------------------- */

/* x = A^-1 b by Gaussian elimination with partial pivoting; A and b are overwritten. */
static void gauss(double A[N][N], double *b)
{
    for (int k = 0; k < N; k++) {
        int p = k;
        for (int i = k + 1; i < N; i++)
            if (fabs(A[i][k]) > fabs(A[p][k])) p = i;
        for (int j = 0; j < N; j++) {
            double swap = A[k][j];
            A[k][j] = A[p][j];
            A[p][j] = swap;
        }
        double swap = b[k];
        b[k] = b[p];
        b[p] = swap;
        for (int i = k + 1; i < N; i++) {
            double m = A[i][k] / A[k][k];
            for (int j = k; j < N; j++) A[i][j] -= m * A[k][j];
            b[i] -= m * b[k];
        }
    }
    for (int i = N - 1; i >= 0; i--) {
        for (int j = i + 1; j < N; j++) b[i] -= A[i][j] * b[j];
        b[i] /= A[i][i];
    }
}

/* The user's P: block of G near the diagonal, kept as a dense inverse; P(cj) of the last setup. */
static int toy_setup(double t, const double *y, const double *yp, double cj, void *user)
{
    (void)t;
    toy *w = user;
    w->setups++;
    static double y_part[N][N], yp_part[N][N], A[N][N];
    toy_exact(w, y, yp, y_part, yp_part);
    for (int c = 0; c < N; c++) {
        double e[N] = {0};
        e[c] = 1.0;
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                A[i][j] = abs(i - j) < 4 ? y_part[i][j] + cj * yp_part[i][j] : 0.0;
        gauss(A, e);
        for (int i = 0; i < N; i++) w->precond[i][c] = e[i];
    }
    return 0;
}

static int toy_precond(double t, const double *y, const double *yp, double cj, double *b,
                       void *user)
{
    (void)t, (void)y, (void)yp, (void)cj;
    toy *w = user;
    double x[N] = {0};
    w->precond_solves++;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) x[i] += w->precond[i][j] * b[j];
    memcpy(b, x, sizeof x);
    return 0;
}

static int toy_product(double t, const double *y, const double *yp, double cj, const double *v,
                       double *av, void *user)
{
    (void)t;
    toy *w = user;
    static double y_part[N][N], yp_part[N][N];
    w->products++;
    toy_exact(w, y, yp, y_part, yp_part);
    for (int i = 0; i < N; i++) {
        av[i] = 0.0;
        for (int j = 0; j < N; j++) av[i] += (y_part[i][j] + cj * yp_part[i][j]) * v[j];
    }
    return 0;
}

static dae_options options_for(dae_linear_solver solver, dae_preconditioner preconditioner)
{
    dae_options options = {.linear_solver = solver, .preconditioner = preconditioner};
    options.precond_lower = options.precond_upper = 2;
    options.krylov_dimension = N;
    options.krylov_restarts = 5;
    return options;
}

/* Reference solution with columns cy dF/dy + cyp dF/dy'. */
static void reference(const toy *w, const double *cy, const double *cyp, double *b)
{
    static double A[N][N];
    toy_exact(w, w->y, w->yp, dfdy, dfdyp);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) A[i][j] = cy[j] * dfdy[i][j] + cyp[j] * dfdyp[i][j];
    gauss(A, b);
}

static double distance(const double *x, const double *y)
{
    double worst = 0.0, size = 0.0;
    for (int i = 0; i < N; i++) {
        worst = fmax(worst, fabs(x[i] - y[i]));
        size = fmax(size, fabs(y[i]));
    }
    return worst / size;
}

/* Solve with G(cj), then with the columns of an initial value problem, and compare. */
static void assert_solves(toy *w, dae_options options, double cj, double tolerance)
{
    iteration it;
    dae_diag diag;
    if (iteration_new(&it, &w->eval, &options, &diag)) fail_msg("%s", diag.text);
    linear_point point = {.cj = cj, .y = w->y, .yp = w->yp, .f = w->f, .scale = w->scale};
    double b[N], x[N], ones[N], shift[N], cy[N], cyp[N];
    for (int i = 0; i < N; i++) {
        x[i] = b[i] = 1e-6 * sin(i + 1.0);
        ones[i] = 1.0;
        shift[i] = cj;
        cy[i] = i < N - 8 ? 0.0 : 1.0;
        cyp[i] = i < N - 8 ? 1.0 : 0.0;
    }
    point.tolerance = 1e-9;
    assert_int_equal(iteration_evaluate(&it, 0.0, w->y, w->yp, cj, 1.0 / cj, w->weights, w->f),
                     ITERATION_OK);
    assert_int_equal(iteration_factor(&it, cj, &point), ITERATION_OK);
    assert_int_equal(iteration_solve(&it, &point, x), ITERATION_OK);
    double expected[N];
    memcpy(expected, b, sizeof b);
    reference(w, ones, shift, expected);
    if (distance(x, expected) > tolerance) fail_msg("G: error %g", distance(x, expected));
    assert_int_equal(iteration_factor_columns(&it, cy, cyp), ITERATION_OK);
    memcpy(x, b, sizeof b);
    memcpy(expected, b, sizeof b);
    assert_int_equal(iteration_solve(&it, &point, x), ITERATION_OK);
    reference(w, cy, cyp, expected);
    if (distance(x, expected) > tolerance) fail_msg("columns: error %g", distance(x, expected));
    for (int i = 0; i < N; i++) b[i] = x[i] = sin(i + 1.0);
    assert_int_equal(iteration_apply_yp(&it, &point, x, b), ITERATION_OK);
    for (int i = 0; i < N; i++) {
        double sum = 0.0;
        for (int j = 0; j < N; j++) sum += dfdyp[i][j] * x[j];
        assert_true(fabs(b[i] - sum) < 1e-6);
    }
    iteration_free(&it);
}

static void test_direct_solves(void **state)
{
    (void)state;
    static toy w;
    const dae_linear_solver solvers[] = {DAE_LINEAR_AUTO, DAE_LINEAR_DENSE, DAE_LINEAR_BANDED,
                                         DAE_LINEAR_SPARSE};
    const double shifts[] = {3.0, 1e6, -40.0};
    for (int l = 0; l < 4; l++)
        for (int c = 0; c < 3; c++)
            for (int auto_structure = 0; auto_structure < 2; auto_structure++) {
                toy_fill(&w, PATTERN_BAND, 8, false, 23);
                dae_structure known = DAE_STRUCTURE_SPARSE;
                toy_problem(&w, (choice){.structure = auto_structure ? DAE_STRUCTURE_AUTO : known});
                assert_solves(&w, options_for(solvers[l], DAE_PRECOND_AUTO), shifts[c], 1e-6);
                dae_problem_free(w.problem);
            }
}

/* Keep the last entry of each column of dF/dy' alone. */
static void thin(iteration *it)
{
    for (int c = 0; c < N; c++) {
        matrix_column column = layout_column(&it->jac.layout, c);
        for (int k = 0; k + 1 < column.count; k++) it->jac.dfdyp[column.first + (size_t)k] = 0.0;
    }
}

/* Products with dF/dy' of one entry a column are the same bits as those of the whole pattern, and
 * are those of the latest evaluation. */
static void test_products_of_single_entries(void **state)
{
    (void)state;
    static toy w;
    const dae_linear_solver solvers[] = {DAE_LINEAR_DENSE, DAE_LINEAR_BANDED, DAE_LINEAR_SPARSE};
    for (int l = 0; l < 3; l++) {
        iteration it;
        double x[N], whole[N], full[N], b[N];
        dae_options options = options_for(solvers[l], DAE_PRECOND_AUTO);
        toy_fill(&w, PATTERN_BAND, 8, false, 23);
        toy_problem(&w, (choice){.structure = DAE_STRUCTURE_SPARSE});
        assert_int_equal(iteration_new(&it, &w.eval, &options, NULL), DAE_OK);
        for (int i = 0; i < N; i++) x[i] = sin(i + 1.0);
        iteration_evaluate(&it, 0.0, w.y, w.yp, 3.0, 0.3, w.weights, w.f);
        iteration_expect_apply(&it);
        iteration_prepare_apply(&it);
        assert_int_equal(it.soles, 0); /* columns have several */
        iteration_apply_yp(&it, NULL, x, full);
        thin(&it);
        iteration_apply_yp(&it, NULL, x, whole);
        iteration_prepare_apply(&it);
        assert_int_equal(it.soles, it.evaluations);
        iteration_apply_yp(&it, NULL, x, b);
        assert_memory_equal(b, whole, sizeof b);
        iteration_evaluate(&it, 0.0, w.y, w.yp, 3.0, 0.3, w.weights, w.f);
        iteration_apply_yp(&it, NULL, x, b);
        assert_memory_equal(b, full, sizeof b);
        iteration_free(&it);
        dae_problem_free(w.problem);
    }
}

static void test_krylov_solves(void **state)
{
    (void)state;
    static toy w;
    const dae_preconditioner preconditioners[] = {DAE_PRECOND_NONE, DAE_PRECOND_USER,
                                                  DAE_PRECOND_BANDED, DAE_PRECOND_ILU};
    const pattern patterns[] = {PATTERN_BAND, PATTERN_RANDOM};
    for (int k = 0; k < 4; k++)
        for (int which = 0; which < 2; which++)
            for (int product = 0; product < 2; product++) {
                toy_fill(&w, patterns[which], 8, true, 29);
                choice with = {.structure = DAE_STRUCTURE_SPARSE, .precond = true};
                with.product = product;
                toy_problem(&w, with);
                assert_solves(&w, options_for(DAE_LINEAR_GMRES, preconditioners[k]), 20.0, 1e-5);
                if (preconditioners[k] == DAE_PRECOND_USER) assert_int_equal(w.setups, 2);
                assert_int_equal(w.products > 0, product);
                assert_true(w.stats.linear_iterations > 0);
                dae_problem_free(w.problem);
            }
}

/* Exact preconditioners need one iteration: the band of a banded matrix, without being told. */
static void test_preconditioners_help(void **state)
{
    (void)state;
    static toy w;
    const dae_preconditioner kinds[] = {DAE_PRECOND_NONE, DAE_PRECOND_BANDED, DAE_PRECOND_ILU};
    long iterations[3];
    for (int k = 0; k < 3; k++) {
        toy_fill(&w, PATTERN_BAND, 8, true, 31);
        toy_problem(&w, (choice){.structure = k == 2 ? DAE_STRUCTURE_SPARSE : DAE_STRUCTURE_AUTO});
        assert_solves(&w, options_for(DAE_LINEAR_GMRES, kinds[k]), 20.0, 1e-5);
        iterations[k] = w.stats.linear_iterations;
        dae_problem_free(w.problem);
    }
    assert_true(iterations[0] > 20);
    assert_true(iterations[1] <= 4);
    assert_true(iterations[2] < iterations[0] / 2);
}

static void test_preconditioner_choice(void **state)
{
    (void)state;
    static toy w;
    const struct {
        choice with;
        dae_preconditioner expected;
    } cases[] = {{{.structure = DAE_STRUCTURE_SPARSE, .precond = true}, DAE_PRECOND_USER},
                 {{.structure = DAE_STRUCTURE_SPARSE}, DAE_PRECOND_ILU},
                 {{.structure = DAE_STRUCTURE_BANDED}, DAE_PRECOND_ILU},
                 {{.structure = DAE_STRUCTURE_AUTO}, DAE_PRECOND_BANDED},
                 {{.structure = DAE_STRUCTURE_DENSE}, DAE_PRECOND_BANDED}};
    iteration it;
    dae_diag diag;
    dae_options options = options_for(DAE_LINEAR_GMRES, DAE_PRECOND_AUTO);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        toy_fill(&w, PATTERN_BAND, 8, true, 31);
        toy_problem(&w, cases[k].with);
        assert_int_equal(iteration_new(&it, &w.eval, &options, NULL), DAE_OK);
        assert_int_equal(it.preconditioner, cases[k].expected);
        assert_true(iteration_condition(&it) < 0.0);
        iteration_free(&it);
        if (k == 4) {
            options.preconditioner = DAE_PRECOND_USER;
            assert_int_equal(iteration_new(&it, &w.eval, &options, &diag), DAE_ERR_UNSUPPORTED);
            assert_non_null(strstr(diag.text, "precond_solve"));
        }
        dae_problem_free(w.problem);
    }
}

/* Constraint rows are multiplied by cj in the matrix and in b: the solution does not see it, the
 * condition number does [BCP96 5.4.2]. */
static void test_row_scaling(void **state)
{
    (void)state;
    static toy w;
    toy_fill(&w, PATTERN_BAND, 8, false, 37);
    toy_problem(&w, (choice){.structure = DAE_STRUCTURE_BANDED, .jacobian = true});
    const dae_linear_solver solvers[] = {DAE_LINEAR_DENSE, DAE_LINEAR_BANDED, DAE_LINEAR_SPARSE};
    for (int l = 0; l < 3; l++) {
        iteration it;
        dae_options options = options_for(solvers[l], DAE_PRECOND_AUTO);
        assert_int_equal(iteration_new(&it, &w.eval, &options, NULL), DAE_OK);
        double cj = 1e8, b[N], x[N], y[N];
        assert_int_equal(iteration_evaluate(&it, 0.0, w.y, w.yp, cj, 1e-8, w.weights, w.f),
                         ITERATION_OK);
        for (int i = 0; i < N; i++) x[i] = y[i] = b[i] = cos(i);
        assert_int_equal(iteration_factor(&it, cj, NULL), ITERATION_OK);
        for (int i = 0; i < N; i++) {
            double row = 0.0;
            for (int j = 0; j < N; j++)
                row = fmax(row, fabs(element(&it.jac.layout, it.values, i, j)));
            assert_true(row > 0.5 * cj && row < 20.0 * cj);
        }
        assert_true(iteration_condition(&it) > 1e-4);
        iteration_solve(&it, NULL, x);
        /* The same without scaling. */
        bool saved[N];
        memcpy(saved, it.jac.constraint_row, sizeof saved);
        memset(it.jac.constraint_row, 0, sizeof saved);
        assert_int_equal(iteration_factor(&it, cj, NULL), ITERATION_OK);
        assert_true(iteration_condition(&it) < 1e-6);
        iteration_solve(&it, NULL, y);
        assert_true(distance(x, y) < 1e-12);
        iteration_free(&it);
    }
    dae_problem_free(w.problem);
}

static void test_factorization_counts(void **state)
{
    (void)state;
    static toy w;
    toy_fill(&w, PATTERN_BAND, 8, false, 41);
    toy_problem(&w, (choice){.structure = DAE_STRUCTURE_SPARSE});
    iteration it;
    dae_options options = options_for(DAE_LINEAR_AUTO, DAE_PRECOND_AUTO);
    assert_int_equal(iteration_new(&it, &w.eval, &options, NULL), DAE_OK);
    double b[N] = {1.0};
    assert_int_equal(iteration_factor(&it, 1.0, NULL), ITERATION_RETRY); /* nothing to factor */
    assert_int_equal(iteration_solve(&it, NULL, b), ITERATION_RETRY);
    assert_int_equal(iteration_evaluate(&it, 0.0, w.y, w.yp, 1.0, 1.0, w.weights, w.f), 0);
    assert_int_equal(iteration_solve(&it, NULL, b), ITERATION_RETRY);
    assert_int_equal(iteration_factor(&it, 1.0, NULL), ITERATION_OK);
    assert_int_equal(iteration_factor(&it, 2.0, NULL), ITERATION_OK);
    assert_int_equal(iteration_factor(&it, 3.0, NULL), ITERATION_OK);
    assert_true(it.cj == 3.0);
    assert_int_equal(iteration_solve(&it, NULL, b), ITERATION_OK);
    assert_int_equal(iteration_evaluate(&it, 0.0, w.y, w.yp, 1.0, 1.0, w.weights, w.f), 0);
    assert_false(it.factored);
    assert_int_equal(iteration_factor(&it, 3.0, NULL), ITERATION_OK);
    assert_int_equal(w.stats.factorisations, 4);
    assert_int_equal(w.stats.factor_new_jacobian, 2);
    assert_int_equal(w.stats.factor_step_changed, 2);
    assert_int_equal(w.stats.jacobians, 2);
    assert_int_equal(w.stats.solves, 1);
    /* The pivots chosen so far vanish: the factorisation must choose again, and it is counted. */
    assert_int_equal(w.stats.repivots, 0);
    for (int i = 0; i < N; i++) w.a[i][i] = w.b[i][i] = w.c[i][i] = 0.0;
    assert_int_equal(iteration_evaluate(&it, 0.0, w.y, w.yp, 1.0, 1.0, w.weights, NULL), 0);
    iteration_factor(&it, 3.0, NULL);
    assert_true(w.stats.repivots >= 1);
    assert_int_equal(w.stats.repivots, it.solver->repivots);
    iteration_free(&it);
    dae_problem_free(w.problem);
}

static void test_singular_matrices(void **state)
{
    (void)state;
    static toy w;
    const dae_linear_solver solvers[] = {DAE_LINEAR_DENSE, DAE_LINEAR_BANDED, DAE_LINEAR_SPARSE};
    for (int l = 0; l < 3; l++) {
        toy_fill(&w, PATTERN_BAND, 8, false, 43);
        for (int i = 0; i < N; i++) w.a[i][N - 3] = 0.0; /* nothing depends on variable N-3 */
        toy_problem(&w, (choice){.structure = DAE_STRUCTURE_BANDED});
        iteration it;
        dae_options options = options_for(solvers[l], DAE_PRECOND_AUTO);
        assert_int_equal(iteration_new(&it, &w.eval, &options, NULL), DAE_OK);
        assert_int_equal(iteration_evaluate(&it, 0.0, w.y, w.yp, 1.0, 1.0, w.weights, w.f), 0);
        assert_int_equal(iteration_factor(&it, 1.0, NULL), ITERATION_SINGULAR);
        assert_int_equal(it.singular_column, N - 3);
        assert_false(it.factored);
        iteration_free(&it);
        dae_problem_free(w.problem);
    }
}

/* Callbacks that fail inside a matrix-free solve. */
static void test_failing_products(void **state)
{
    (void)state;
    static toy w;
    const int codes[] = {2, -2, 0};
    for (int c = 0; c < 3; c++) {
        toy_fill(&w, PATTERN_RANDOM, 8, false, 47);
        toy_problem(&w, (choice){.structure = DAE_STRUCTURE_SPARSE});
        iteration it;
        dae_options options = options_for(DAE_LINEAR_GMRES, DAE_PRECOND_BANDED);
        assert_int_equal(iteration_new(&it, &w.eval, &options, NULL), DAE_OK);
        linear_point point = {.cj = 9.0, .y = w.y, .yp = w.yp, .f = w.f, .scale = w.scale};
        point.tolerance = 1e-9;
        double b[N] = {[0] = 1e-6, [30] = 1e-6};
        assert_int_equal(iteration_evaluate(&it, 0.0, w.y, w.yp, 9.0, 0.1, w.weights, w.f), 0);
        assert_int_equal(iteration_factor(&it, 9.0, &point), ITERATION_OK);
        w.fail_at = w.calls + 2;
        w.fail_code = codes[c];
        assert_int_equal(iteration_solve(&it, &point, b),
                         codes[c] < 0 ? ITERATION_STOP : ITERATION_RETRY);
        assert_int_equal(it.eval->failure.code, codes[c]);
        iteration_free(&it);
        dae_problem_free(w.problem);
    }
}

/* Too few Krylov vectors without preconditioner: accepted only if the residual fell by half. */
static void test_stalled_krylov(void **state)
{
    (void)state;
    static toy w;
    toy_fill(&w, PATTERN_TRIDIAGONAL, N, true, 53);
    for (int i = 0; i < N; i++) { /* eigenvalues on both sides of zero: slow */
        for (int j = 0; j < N; j++) w.a[i][j] = 0.0;
        w.a[i][i] = (i % 2 ? -1.0 : 1.0) * (1.0 + i);
    }
    toy_problem(&w, (choice){.structure = DAE_STRUCTURE_SPARSE, .product = true});
    dae_options options = options_for(DAE_LINEAR_GMRES, DAE_PRECOND_NONE);
    options.krylov_restarts = 0;
    linear_point point = {.cj = 100.0, .y = w.y, .yp = w.yp, .f = w.f, .scale = w.scale};
    toy_exact(&w, w.y, w.yp, dfdy, dfdyp);
    bool refused = false, accepted = false;
    for (int dimension = 1; dimension < N; dimension += 2) {
        options.krylov_dimension = dimension;
        iteration it;
        assert_int_equal(iteration_new(&it, &w.eval, &options, NULL), DAE_OK);
        double b[N], x[N], before = 0.0, after = 0.0;
        for (int i = 0; i < N; i++) b[i] = x[i] = w.weights[i] * cos(3.0 * i);
        iteration_evaluate(&it, 0.0, w.y, w.yp, 100.0, 0.1, w.weights, w.f);
        assert_int_equal(iteration_factor(&it, 100.0, &point), ITERATION_OK);
        iteration_status status = iteration_solve(&it, &point, x);
        for (int i = 0; i < N; i++) {
            double r = b[i];
            for (int j = 0; j < N; j++) r -= (dfdy[i][j] + 100.0 * dfdyp[i][j]) * x[j];
            before += b[i] * b[i] * w.scale[i] * w.scale[i];
            after += r * r * w.scale[i] * w.scale[i];
        }
        double reduction = sqrt(after / before);
        if (status == ITERATION_OK) assert_true(reduction <= 0.5 + 1e-6);
        refused = refused || status == ITERATION_RETRY;
        accepted = accepted || status == ITERATION_OK;
        iteration_free(&it);
    }
    assert_true(refused && accepted);
    dae_problem_free(w.problem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_structure_and_solver),
        cmocka_unit_test(test_random_sparse),
        cmocka_unit_test(test_evaluation_counts),
        cmocka_unit_test(test_moving_derivative_matrix),
        cmocka_unit_test(test_rows_and_columns_without_derivatives),
        cmocka_unit_test(test_tiny_variables),
        cmocka_unit_test(test_differences_avoid_forbidden_points),
        cmocka_unit_test(test_failing_differences),
        cmocka_unit_test(test_detection),
        cmocka_unit_test(test_detection_shrinks),
        cmocka_unit_test(test_unknown_structure_of_large_problems),
        cmocka_unit_test(test_direct_solves),
        cmocka_unit_test(test_products_of_single_entries),
        cmocka_unit_test(test_krylov_solves),
        cmocka_unit_test(test_preconditioners_help),
        cmocka_unit_test(test_preconditioner_choice),
        cmocka_unit_test(test_row_scaling),
        cmocka_unit_test(test_factorization_counts),
        cmocka_unit_test(test_singular_matrices),
        cmocka_unit_test(test_failing_products),
        cmocka_unit_test(test_stalled_krylov),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
