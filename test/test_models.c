/* Every model: consistent start, Jacobian against differences, sound pattern, true references. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models.h"

/* Sizes worth trying: 0, the default, for all; a small and a larger one for models with a size. */
static const int sizes[] = {0, 5, 40};

typedef void (*check_fn)(const model *m);

static void for_every_model(check_fn check)
{
    for (int i = 0; i < model_count(); i++)
        for (int s = 0; s < 3; s++) {
            model *m = model_new(model_name(i), sizes[s]);
            assert_non_null(m);
            if (s == 0 || m->sized) check(m);
            model_free(m);
        }
}

static double *vector(int n)
{
    double *v = calloc((size_t)n + 1, sizeof *v);
    assert_non_null(v);
    return v;
}

static int entries(const model *m)
{
    const dae_residual *form = &m->form;
    return form->structure == DAE_STRUCTURE_SPARSE ? form->colptr[form->n] : form->n * form->n;
}

static void jacobian(const model *m, double t, const double *y, const double *yp, double *dfdy,
                     double *dfdyp)
{
    size_t bytes = (size_t)entries(m) * sizeof(double);
    memset(dfdy, 0, bytes);
    memset(dfdyp, 0, bytes);
    assert_int_equal(m->form.jacobian(t, y, yp, dfdy, dfdyp, m->form.user), 0);
}

/* Element (i, j) of a matrix in the model's structure; 0 outside the pattern. */
static double element(const model *m, const double *a, int i, int j)
{
    const dae_residual *form = &m->form;
    if (form->structure != DAE_STRUCTURE_SPARSE) return a[i + j * form->n];
    for (int k = form->colptr[j]; k < form->colptr[j + 1]; k++)
        if (form->rowind[k] == i) return a[k];
    return 0.0;
}

/* scale[i] = sum_j |dF_i/dy_j| |y_j| + |dF_i/dy'_j| |y'_j|: the size of the terms of F_i */
static void term_sizes(const model *m, double t, const double *y, const double *yp, double *scale)
{
    int n = m->form.n;
    double *dfdy = vector(entries(m)), *dfdyp = vector(entries(m));
    jacobian(m, t, y, yp, dfdy, dfdyp);
    memset(scale, 0, (size_t)n * sizeof *scale);
    for (int j = 0; j < n; j++) {
        bool sparse = m->form.structure == DAE_STRUCTURE_SPARSE;
        int first = sparse ? m->form.colptr[j] : j * n;
        int last = sparse ? m->form.colptr[j + 1] : (j + 1) * n;
        for (int k = first; k < last; k++)
            scale[sparse ? m->form.rowind[k] : k - first] +=
                fabs(dfdy[k] * y[j]) + fabs(dfdyp[k] * yp[j]);
    }
    free(dfdy);
    free(dfdyp);
}

/* rate[i] != 0 where some y' enters equation i */
static void rows_with_derivatives(const model *m, double t, const double *y, const double *yp,
                                  double *rate)
{
    int n = m->form.n;
    bool sparse = m->form.structure == DAE_STRUCTURE_SPARSE;
    double *dfdy = vector(entries(m)), *dfdyp = vector(entries(m));
    jacobian(m, t, y, yp, dfdy, dfdyp);
    for (int k = 0; k < entries(m); k++) rate[sparse ? m->form.rowind[k] : k % n] += fabs(dfdyp[k]);
    free(dfdy), free(dfdyp);
}

/* max_i |F_i| / scale_i over all equations, or over those without y' only */
static double worst_residual(const model *m, double t, const double *y, const double *yp,
                             const double *scale, bool algebraic_only)
{
    int n = m->form.n;
    double *f = vector(n), *rate = vector(n), worst = 0.0;
    assert_int_equal(m->form.f(t, y, yp, f, m->form.user), 0);
    if (algebraic_only) rows_with_derivatives(m, t, y, yp, rate);
    for (int i = 0; i < n; i++)
        if (rate[i] == 0.0) worst = fmax(worst, fabs(f[i]) / (scale[i] + DBL_MIN));
    free(f), free(rate);
    return worst;
}

static double relative_residual(const model *m, double t, const double *y, const double *yp,
                                bool algebraic_only)
{
    double *scale = vector(m->form.n);
    term_sizes(m, t, y, yp, scale);
    double worst = worst_residual(m, t, y, yp, scale, algebraic_only);
    free(scale);
    return worst;
}

static void check_start(const model *m)
{
    double r = relative_residual(m, m->t0, m->y0, m->yp0, false);
    if (r > 1e-13) fail_msg("%s: F(t0, y0, y0') is %g of its terms", m->name, r);
}

static void start_is_consistent(void **state)
{
    (void)state;
    for_every_model(check_start);
}

/* A point off the solution, so that no product hides behind a zero: y0 moved by 10 % of its size,
 * and by a hundredth where it is zero; small enough for exponentials. */
static void perturbed(const model *m, double *y, double *yp)
{
    for (int i = 0; i < m->form.n; i++) {
        double sign = i % 3 == 0 ? 1.0 : -0.7;
        y[i] = m->y0[i] + (m->y0[i] != 0.0 ? 0.05 * sign * m->y0[i] : 0.01 * (1.0 + 0.1 * (i % 7)));
        yp[i] = m->yp0[i] + 0.1 * sign * (1.0 + fabs(m->yp0[i]));
    }
}

/* column := (F(.. + e_j) - F(.. - e_j)) / 2e with respect to y_j or y'_j */
static void difference_column(const model *m, double t, double *at, int j, const double *y,
                              const double *yp, double *column, double *work, double *step)
{
    double keep = at[j], e = 6e-6 * fmax(fabs(keep), 1e-2);
    at[j] = keep + e;
    assert_int_equal(m->form.f(t, y, yp, column, m->form.user), 0);
    double high = at[j];
    at[j] = keep - e;
    assert_int_equal(m->form.f(t, y, yp, work, m->form.user), 0);
    *step = high - at[j];
    for (int i = 0; i < m->form.n; i++) column[i] = (column[i] - work[i]) / *step;
    at[j] = keep;
}

/* Compare one column of a matrix with differences; scale[i] bounds the terms of F_i. */
static void check_column(const model *m, const double *a, int j, const double *column, double step,
                         const double *scale, const char *what)
{
    for (int i = 0; i < m->form.n; i++) {
        double exact = element(m, a, i, j);
        double allowed = 1e-5 * fabs(exact) + 50 * DBL_EPSILON * scale[i] / step + 1e-9;
        if (fabs(exact - column[i]) > allowed)
            fail_msg("%s: %s(%d,%d) is %.10g, differences say %.10g", m->name, what, i, j, exact,
                     column[i]);
    }
}

static void check_jacobian(const model *m)
{
    int n = m->form.n;
    double t = m->t0 + 0.37 * fmin(m->tend - m->t0, 1.0), step;
    double *y = vector(n), *yp = vector(n), *column = vector(n), *work = vector(n);
    double *scale = vector(n), *dfdy = vector(entries(m)), *dfdyp = vector(entries(m));
    perturbed(m, y, yp);
    jacobian(m, t, y, yp, dfdy, dfdyp);
    term_sizes(m, t, y, yp, scale);
    int stride = n > 400 ? 7 : 1;
    for (int j = 0; j < n; j += stride) {
        difference_column(m, t, y, j, y, yp, column, work, &step);
        check_column(m, dfdy, j, column, step, scale, "dF/dy");
        difference_column(m, t, yp, j, y, yp, column, work, &step);
        check_column(m, dfdyp, j, column, step, scale, "dF/dy'");
    }
    free(y), free(yp), free(column), free(work), free(scale), free(dfdy), free(dfdyp);
}

static void jacobian_matches_differences(void **state)
{
    (void)state;
    for_every_model(check_jacobian);
}

static void check_pattern(const model *m)
{
    const dae_residual *form = &m->form;
    if (form->structure != DAE_STRUCTURE_SPARSE) return;
    assert_int_equal(form->colptr[0], 0);
    for (int j = 0; j < form->n; j++) {
        assert_true(form->colptr[j] <= form->colptr[j + 1]);
        for (int k = form->colptr[j]; k < form->colptr[j + 1]; k++) {
            assert_true(form->rowind[k] >= 0 && form->rowind[k] < form->n);
            if (k > form->colptr[j]) assert_true(form->rowind[k - 1] < form->rowind[k]);
        }
    }
}

static void patterns_are_sound(void **state)
{
    (void)state;
    for_every_model(check_pattern);
}

/* Names are there and differ; kinds agree with the columns of dF/dy'. */
static void check_names_and_kinds(const model *m)
{
    const dae_residual *form = &m->form;
    double *dfdy = vector(entries(m)), *dfdyp = vector(entries(m));
    jacobian(m, m->t0, m->y0, m->yp0, dfdy, dfdyp);
    for (int j = 0; j < form->n; j++) {
        assert_true(form->variable_names[j][0] != '\0' && form->equation_names[j][0] != '\0');
        for (int i = j > 20 ? j - 20 : 0; i < j; i++) {
            assert_string_not_equal(form->variable_names[i], form->variable_names[j]);
            assert_string_not_equal(form->equation_names[i], form->equation_names[j]);
        }
        bool appears = false;
        for (int i = 0; i < form->n && !appears; i++) appears = element(m, dfdyp, i, j) != 0.0;
        if (form->kinds) assert_int_equal(form->kinds[j] == DAE_KIND_DIFFERENTIAL, appears);
    }
    free(dfdy), free(dfdyp);
}

static void names_and_kinds_fit(void **state)
{
    (void)state;
    for_every_model(check_names_and_kinds);
}

/* The equations without y' hold at the reference to the digits it claims. A reference with an
 * error e in each component gives a residual of about e times the size of the terms. */
static void check_reference(const model *m)
{
    if (!m->reference) return;
    double *zero = vector(m->form.n);
    double r = relative_residual(m, m->tend, m->reference, zero, true);
    if (r > fmax(2.0 * m->reference_accuracy, 1e-13))
        fail_msg("%s: reference off by %g", m->name, r);
    free(zero);
}

static void reference_meets_constraints(void **state)
{
    (void)state;
    for_every_model(check_reference);
}

/* The amplifier's algebraic equations are sums of rows that share a capacitor. */
static void amplifier_reference_meets_constraints(void **state)
{
    (void)state;
    static const int pairs[3] = {0, 3, 6};
    double zero[8] = {0.0}, f[8];
    model *m = model_new("transamp", 0);
    assert_non_null(m);
    assert_int_equal(m->form.f(m->tend, m->reference, zero, f, m->form.user), 0);
    for (int k = 0; k < 3; k++)
        assert_true(fabs(f[pairs[k]] + f[pairs[k] + 1]) < 1e-11 * fabs(f[pairs[k]]));
    model_free(m);
}

static void check_solution(const model *m)
{
    static const double parts[] = {0.0, 1e-6, 0.013, 0.3, 0.77, 1.0, 1.9};
    if (!m->closed_form) return;
    int n = m->form.n;
    double *y = vector(n), *yp = vector(n), *level = vector(n), *scale = vector(n);
    for (int k = 0; k < 7; k++) {
        double t = m->t0 + parts[k] * (m->tend - m->t0), largest = 0.0;
        assert_int_equal(m->solution(m, t, y, yp), 0);
        /* small components are differences of large ones: round-off is that of the largest */
        for (int i = 0; i < n; i++) largest = fmax(largest, fabs(y[i]));
        for (int i = 0; i < n; i++) level[i] = largest;
        term_sizes(m, t, level, yp, scale);
        double r = worst_residual(m, t, y, yp, scale, false);
        if (r > 5e-15) fail_msg("%s n=%d t=%g: residual %g", m->name, n, t, r);
    }
    free(y), free(yp), free(level), free(scale);
}

static void closed_forms_solve_the_equations(void **state)
{
    (void)state;
    for_every_model(check_solution);
    model *large = model_new("ladder", 100000);
    assert_non_null(large);
    check_solution(large);
    model_free(large);
}

/* The derivative that a closed form returns is that of its values. */
static void check_solution_derivative(const model *m)
{
    if (!m->closed_form) return;
    int n = m->form.n;
    double t = 0.4 * m->tend, e = 1e-5 * m->tend, largest = 0.0;
    double *a = vector(n), *b = vector(n), *y = vector(n), *yp = vector(n);
    m->solution(m, t - e, a, NULL);
    m->solution(m, t + e, b, NULL);
    m->solution(m, t, y, yp);
    for (int i = 0; i < n; i++) largest = fmax(largest, fabs(yp[i]));
    for (int i = 0; i < n; i++) assert_true(fabs((b[i] - a[i]) / (2 * e) - yp[i]) < 1e-5 * largest);
    free(a), free(b), free(y), free(yp);
}

static void closed_form_derivatives(void **state)
{
    (void)state;
    for_every_model(check_solution_derivative);
}

/* Literature values with fewer digits than the models hold. */
static void literature_values(void **state)
{
    (void)state;
    static const double truth[] = {0.1349949261, 0.9908462897, -1.710951582, 0.2331035448,
                                   3.972538869}; /* [BCP96 Table 6.2.1] */
    static const double flight[] = {14200.8114, 4.17108462, 2.33149735, 1433.29213,
                                    -10.0,      135.0,      7.15558457, 26.3775452};
    const double degree = 3.14159265358979323846 / 180.0;
    model *p = model_new("pendulum3", 0), *q = model_new("trajectory2", 0);
    assert_true(p && q);
    for (int i = 0; i < 5; i++) assert_true(fabs(p->reference[i] / truth[i] - 1.0) < 1e-9);
    for (int i = 0; i < 8; i++) {
        double unit = i == 0 || i == 3 ? 1.0 : degree;
        assert_true(fabs(q->reference[i] / (flight[i] * unit) - 1.0) < 5e-9);
    }
    assert_true(fabs(q->y0[6] / degree / 2.6728700072 - 1.0) < 1e-9);
    assert_true(fabs(q->y0[7] / degree / -0.0522095866 - 1.0) < 1e-8);
    model_free(p), model_free(q);
}

/* Values printed in the literature for Robertson's problem, to their digits: the test set's at
 * t = 1e11, and those of the LSODE documentation at 40. */
static void robertson_values(void **state)
{
    (void)state;
    static const double published[] = {0.2083340149701255e-7, 0.8333360770334713e-13,
                                       0.9999999791665050};
    static const double lsode[] = {7.158e-1, 9.1851e-6, 2.842e-1};
    double y[3];
    model *m = model_new("robertson", 0);
    assert_non_null(m);
    for (int i = 0; i < 3; i++) assert_true(fabs(m->reference[i] / published[i] - 1.0) < 1e-12);
    assert_int_equal(m->solution(m, 40.0, y, NULL), 0);
    for (int i = 0; i < 3; i++) assert_true(fabs(y[i] / lsode[i] - 1.0) < 2e-4);
    for (double t = 0.4; t < 1e11; t *= 10.0) {
        assert_int_equal(m->solution(m, t, y, NULL), 0);
        assert_true(fabs(y[0] + y[1] + y[2] - 1.0) < 3e-16);
    }
    assert_int_equal(m->solution(m, 41.0, y, NULL), 1);
    model_free(m);
}

static void bad_requests(void **state)
{
    (void)state;
    assert_null(model_new("no such model", 0));
    assert_null(model_new(NULL, 0));
    assert_null(model_new("heat2d", 2));
    assert_null(model_new("heat2d", -1));
    assert_null(model_new("ladder", 3));
    assert_null(model_name(-1));
    assert_null(model_name(model_count()));
    model_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(start_is_consistent),
        cmocka_unit_test(jacobian_matches_differences),
        cmocka_unit_test(patterns_are_sound),
        cmocka_unit_test(names_and_kinds_fit),
        cmocka_unit_test(reference_meets_constraints),
        cmocka_unit_test(amplifier_reference_meets_constraints),
        cmocka_unit_test(closed_forms_solve_the_equations),
        cmocka_unit_test(closed_form_derivatives),
        cmocka_unit_test(literature_values),
        cmocka_unit_test(robertson_values),
        cmocka_unit_test(bad_requests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
