/* Factors or iteration: what the symbolic analysis predicts; GMRES where factors are dear, with its
 * reason, and not where the user chose; ILU on equations in an order of their own. */
#include "daedal.h"
#include "linalg/ilu.h"
#include "linalg/sparse_order.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- patterns ---- */

typedef struct pattern {
    int n, *colptr, *rowind;
} pattern;

static int by_number(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* A ring, and `chords` more neighbours of each node at random places: chords of a ring have no
 * small separators, so that its factors are full. */
static pattern ring_with_chords(int n, int chords)
{
    pattern p = {n, calloc((size_t)n + 1, sizeof(int)), calloc((size_t)n * 16, sizeof(int))};
    unsigned random = 7;
    for (int c = 0; c < n; c++) {
        int row[16], count = 3, last = -1;
        row[0] = c, row[1] = (c + 1) % n, row[2] = (c + n - 1) % n;
        for (int k = 0; k < chords; k++) {
            random = random * 1664525u + 1013904223u;
            row[count++] = (int)((random >> 4) % (unsigned)n);
        }
        qsort(row, (size_t)count, sizeof *row, by_number);
        int at = p.colptr[c];
        for (int k = 0; k < count; k++)
            if (row[k] != last) p.rowind[at++] = last = row[k];
        p.colptr[c + 1] = at;
    }
    return p;
}

static void pattern_free(pattern *p)
{
    free(p->colptr), free(p->rowind);
}

/* A ring of n: eliminating a node costs one division and two updates for each of two neighbours, at
 * most; a full matrix costs 2/3 n^3. */
static void test_forecast(void **state)
{
    (void)state;
    matrix_layout layout;
    pattern ring = ring_with_chords(3000, 0);
    assert_true(layout_sparse(&layout, ring.n, ring.colptr, ring.rowind));
    double work = sparse_forecast(&layout);
    assert_true(work >= 2.0 * ring.n && work <= 20.0 * ring.n);
    layout_free(&layout);
    pattern_free(&ring);
    pattern full = ring_with_chords(3000, 8);
    assert_true(layout_sparse(&layout, full.n, full.colptr, full.rowind));
    work = sparse_forecast(&layout);
    assert_true(work >= 1e-3 * pow(full.n, 3.0) && work <= pow(full.n, 3.0));
    layout_free(&layout);
    pattern_free(&full);
}

/* ---- the rule ---- */

/* y' = A y - y; columns of A add up to 1/2 */
static int residual(double t, const double *y, const double *yp, double *f, void *user)
{
    const pattern *p = user;
    (void)t;
    for (int i = 0; i < p->n; i++) f[i] = yp[i] + y[i];
    for (int c = 0; c < p->n; c++) {
        const double part = y[c] / (double)(p->colptr[c + 1] - p->colptr[c]);
        for (int k = p->colptr[c]; k < p->colptr[c + 1]; k++) f[p->rowind[k]] -= 0.5 * part;
    }
    return 0;
}

static int jacobian(double t, const double *y, const double *yp, double *dfdy, double *dfdyp,
                    void *user)
{
    const pattern *p = user;
    (void)t, (void)y, (void)yp;
    for (int c = 0; c < p->n; c++)
        for (int k = p->colptr[c]; k < p->colptr[c + 1]; k++) {
            dfdy[k] = -0.5 / (double)(p->colptr[c + 1] - p->colptr[c]) + (p->rowind[k] == c);
            dfdyp[k] = p->rowind[k] == c;
        }
    return 0;
}

static dae_solver *solver_for(const dae_problem *p, dae_linear_solver which)
{
    dae_options o = dae_options_default();
    dae_solver *s = NULL;
    dae_diag diag = {0};
    o.linear_solver = which;
    if (dae_solver_new(p, &o, &s, &diag) != DAE_OK) fail_msg("%s", diag.text);
    return s;
}

/* Every column of the coupling adds up to 1/2: the sum of y is exp(-t/2) times what it was. */
static void run_and_compare(dae_solver *s, int n)
{
    double *y = calloc(2 * (size_t)n, sizeof *y), *yp = y + n, sum = 0.0;
    for (int i = 0; i < n; i++) y[i] = 1.0;
    dae_status status = dae_solver_start(s, 0.0, y, yp);
    if (status == DAE_OK) status = dae_solver_run(s, 1.0, y, NULL);
    if (status != DAE_OK) fail_msg("%s", dae_solver_diag(s)->text);
    for (int i = 0; i < n; i++) sum += y[i] / n;
    if (fabs(sum - exp(-0.5)) > 1e-4) fail_msg("%.12g in place of %.12g", sum, exp(-0.5));
    free(y);
}

static void test_rule(void **state)
{
    (void)state;
    pattern p = ring_with_chords(10000, 4);
    dae_residual form = {.n = p.n,
                         .f = residual,
                         .jacobian = jacobian,
                         .user = &p,
                         .structure = DAE_STRUCTURE_SPARSE,
                         .colptr = p.colptr,
                         .rowind = p.rowind};
    dae_problem *problem = NULL;
    assert_int_equal(dae_problem_from_residual(&form, &problem, NULL), DAE_OK);
    dae_solver *s = solver_for(problem, DAE_LINEAR_AUTO);
    assert_string_equal(dae_solver_method(s), "bdf");
    assert_non_null(strstr(dae_solver_linear(s), "gmres with ILU"));
    assert_non_null(strstr(dae_solver_linear(s), "operations"));
    run_and_compare(s, p.n);
    assert_true(dae_solver_stats(s)->linear_iterations > 0);
    dae_solver_free(s);
    s = solver_for(problem, DAE_LINEAR_SPARSE); /* as told */
    assert_string_equal(dae_solver_linear(s), "");
    dae_solver_free(s);
    dae_problem_free(problem);
    pattern_free(&p);
}

/* A ring of as many unknowns has cheap factors. */
static void test_cheap_factors(void **state)
{
    (void)state;
    pattern p = ring_with_chords(20000, 0);
    dae_residual form = {.n = p.n,
                         .f = residual,
                         .jacobian = jacobian,
                         .user = &p,
                         .structure = DAE_STRUCTURE_SPARSE,
                         .colptr = p.colptr,
                         .rowind = p.rowind};
    dae_problem *problem = NULL;
    assert_int_equal(dae_problem_from_residual(&form, &problem, NULL), DAE_OK);
    dae_solver *s = solver_for(problem, DAE_LINEAR_AUTO);
    assert_string_equal(dae_solver_linear(s), "");
    run_and_compare(s, p.n);
    assert_int_equal(dae_solver_stats(s)->linear_iterations, 0);
    dae_solver_free(s);
    dae_problem_free(problem);
    pattern_free(&p);
}

/* ---- ILU ---- */

/* A tridiagonal matrix has exact incomplete factors, also with its rows turned round. */
static void test_ilu_of_other_orders(void **state)
{
    (void)state;
    enum { N = 50 };
    int colptr[N + 1] = {0}, rowind[3 * N];
    double values[3 * N], b[N], x[N];
    const int turn = 17;
    for (int c = 0; c < N; c++) {
        int count = 0, row[3];
        double value[3];
        for (int i = c - 1; i <= c + 1; i++)
            if (i >= 0 && i < N) row[count] = (i + turn) % N, value[count++] = i == c ? 4.0 : -1.0;
        for (int k = 0; k < count; k++) { /* rows in their order */
            int rank = 0;
            for (int j = 0; j < count; j++) rank += row[j] < row[k];
            rowind[colptr[c] + rank] = row[k];
            values[colptr[c] + rank] = value[k];
        }
        colptr[c + 1] = colptr[c] + count;
    }
    for (int i = 0; i < N; i++) x[i] = sin(i), b[i] = 0.0;
    for (int c = 0; c < N; c++)
        for (int k = colptr[c]; k < colptr[c + 1]; k++) b[rowind[k]] += values[k] * x[c];
    matrix_layout layout;
    assert_true(layout_sparse(&layout, N, colptr, rowind));
    ilu *f = ilu_analyse(&layout);
    ilu_arrange(f, &layout, values);
    assert_true(ilu_factor(f, values));
    ilu_solve(f, b);
    for (int i = 0; i < N; i++) assert_true(fabs(b[i] - x[i]) < 1e-14);
    ilu_free(f);
    layout_free(&layout);
}

/* Unknowns of two species one behind the other, equations in turns, as loops write them */
static void test_gmres_on_a_text(void **state)
{
    (void)state;
    static const char text[] =
        "model M parameter Integer n = 40; Real u[n](each start = 1, each fixed = true);\n"
        "Real v[n](each start = 2, each fixed = true);\nequation for i in 1:n loop\n"
        "der(u[i]) = 1 + u[i]^2*v[i] - 4.4*u[i]; der(v[i]) = 3.4*u[i] - u[i]^2*v[i];\n"
        "end for; end M;";
    double end[2];
    for (int k = 0; k < 2; k++) {
        dae_problem *p = NULL;
        dae_model m = {.text = text, .engine = DAE_ENGINE_TAPE};
        assert_int_equal(dae_problem_from_model(&m, &p, NULL), DAE_OK);
        dae_options o = dae_options_default();
        o.linear_solver = k ? DAE_LINEAR_GMRES : DAE_LINEAR_SPARSE;
        o.method = "bdf";
        dae_solver *s = NULL;
        double y[80];
        assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
        assert_int_equal(dae_solver_start(s, 0.0, NULL, NULL), DAE_OK);
        if (dae_solver_run(s, 1.0, y, NULL) != DAE_OK) fail_msg("%s", dae_solver_diag(s)->text);
        end[k] = y[0];
        assert_true(dae_solver_stats(s)->steps < 1000);
        dae_solver_free(s);
        dae_problem_free(p);
    }
    assert_true(fabs(end[0] - end[1]) < 1e-4 * fabs(end[0]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forecast),        cmocka_unit_test(test_rule),
        cmocka_unit_test(test_cheap_factors),   cmocka_unit_test(test_ilu_of_other_orders),
        cmocka_unit_test(test_gmres_on_a_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
