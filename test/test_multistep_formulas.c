/* Linear multistep and one-leg formulas [BCP96 3.4]: conditions of order and stability, observed
 * orders at index 0 and 1, perturbations of algebraic variables, refusals. */
#include "daedal.h"
#include "method/common/formula.h"

#include <complex.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* ---- coefficients ---- */

/* BDF of order k: sum_(m=1..k) 1/m (1 - z^-1)^m, as a formula with b = (1, 0, ..) */
static formula bdf_formula(int k, bool one_leg)
{
    formula f = {.one_leg = one_leg, .steps = k, .b = {1.0}};
    for (int m = 1; m <= k; m++) {
        double binomial = 1.0;
        for (int j = 0; j <= m; j++) {
            f.a[j] += (j % 2 ? -1.0 : 1.0) * binomial / m;
            binomial *= (double)(m - j) / (j + 1);
        }
    }
    return f;
}

static void conditions_of_order(void **state)
{
    (void)state;
    assert_int_equal(formula_order(&formula_adams2), 2);
    assert_int_equal(formula_order(&formula_adams3), 3);
    assert_int_equal(formula_order(&formula_adams4), 4);
    assert_int_equal(formula_order(&formula_leg2), 2);
    assert_int_equal(formula_order(&formula_midpoint), 2);
    for (int k = 1; k <= 6; k++)
        for (int one_leg = 0; one_leg < 2; one_leg++) {
            formula f = bdf_formula(k, one_leg);
            bool marginal;
            assert_int_equal(formula_order(&f), k);
            assert_int_equal(formula_check(&f, &marginal, NULL), DAE_OK);
            assert_false(marginal);
        }
}

/* BDF of order 7 is not stable; the midpoint rule is, but only just. */
static void roots(void **state)
{
    (void)state;
    formula f = bdf_formula(7, true);
    dae_diag diag;
    bool marginal;
    assert_int_equal(formula_check(&f, &marginal, &diag), DAE_ERR_ARGUMENT);
    assert_non_null(strstr(diag.text, "rho"));
    assert_int_equal(formula_check(&formula_midpoint, &marginal, NULL), DAE_OK);
    assert_true(marginal);
    assert_int_equal(formula_check(&formula_leg2, &marginal, NULL), DAE_OK);
    assert_false(marginal);
}

/* rho = (z - 1)(z^2 - 2 cos(w) z + 1): roots as far apart as w are three; much nearer ones are one.
 */
static void near_roots(void **state)
{
    (void)state;
    bool marginal;
    for (int k = 0; k < 2; k++) {
        const double w = k == 0 ? 5e-3 : 5e-4, c = 2.0 * cos(w),
                     rise = 3.0 - 2.0 * (1.0 + c) + 1.0 + c;
        formula f = {.steps = 3, .a = {1.0, -1.0 - c, 1.0 + c, -1.0}, .b = {rise}};
        assert_int_equal(formula_check(&f, &marginal, NULL), k == 0 ? DAE_OK : DAE_ERR_ARGUMENT);
    }
}

/* Re rho/sigma >= 0 on the unit circle: A-stable, as the roots of sigma are inside. */
static void one_leg_is_a_stable(void **state)
{
    (void)state;
    const formula *f = &formula_leg2;
    for (int m = 0; m <= 200; m++) {
        double complex z = cexp(I * 3.14159265358979324 * m / 200.0), rho = 0.0, sigma = 0.0;
        for (int j = 0; j <= f->steps; j++) {
            rho += f->a[j] * cpow(z, f->steps - j);
            sigma += f->b[j] * cpow(z, f->steps - j);
        }
        assert_true(creal(rho / sigma) > -1e-12);
    }
}

/* ---- runs ---- */

/* x(1) with `steps` equal steps; formulas of the user have their coefficients in f */
static dae_status run(dae_residual_fn f, int n, const char *method, const formula *own, int steps,
                      const double *y0, const double *yp0, double *y, dae_diag *diag)
{
    dae_residual form = {.n = n, .f = f};
    dae_options o = dae_options_default();
    dae_problem *p;
    dae_solver *s;
    o.method = method;
    o.rtol = o.atol = 1e-12;
    o.fixed_step = 1.0 / steps;
    o.init = DAE_INIT_NONE;
    if (own) {
        o.formula_steps = own->steps;
        memcpy(o.formula_a, own->a, sizeof own->a);
        memcpy(o.formula_b, own->b, sizeof own->b);
    }
    assert_int_equal(dae_problem_from_residual(&form, &p, NULL), DAE_OK);
    dae_status status = dae_solver_new(p, &o, &s, diag);
    if (status == DAE_OK) {
        assert_int_equal(dae_solver_start(s, 0.0, y0, yp0), DAE_OK);
        status = dae_solver_run(s, 1.0, y, NULL);
        if (diag) *diag = *dae_solver_diag(s);
        dae_solver_free(s);
    }
    dae_problem_free(p);
    return status;
}

/* x' = -y x, y^3 + y = x^3 + x: x = y = 1/(1 + t) */
static int semi_explicit(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = yp[0] + y[0] * y[1];
    f[1] = y[1] * y[1] * y[1] + y[1] - y[0] * y[0] * y[0] - y[0];
    return 0;
}

/* (4.3.33) */
static int mixed_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)user;
    f[0] = yp[0] - t * yp[1] + y[0] - (1.0 + t) * y[1];
    f[1] = y[1] - sin(t);
    return 0;
}

static double observed(dae_residual_fn f, const char *method, const formula *own, int variable,
                       double exact)
{
    const bool is_mixed = f == mixed_f;
    const double y0[2] = {1.0, is_mixed ? 0.0 : 1.0}, yp0[2] = {-1.0, is_mixed ? 1.0 : -1.0};
    double y[2], error[2];
    for (int half = 0; half < 2; half++) {
        dae_diag diag;
        if (run(f, 2, method, own, 32 << half, y0, yp0, y, &diag) != DAE_OK)
            fail_msg("%s: %s", method, diag.text);
        error[half] = fabs(y[variable] - exact);
    }
    return log2(error[0] / error[1]);
}

static void check_order(dae_residual_fn f, const char *method, const formula *own, double exact,
                        double order)
{
    for (int i = 0; i < (f == mixed_f ? 1 : 2); i++) {
        double seen = observed(f, method, own, i, exact);
        if (!(fabs(seen - order) < 0.3)) fail_msg("%s: order %.2f, not %.0f", method, seen, order);
    }
}

/* Index 1: q for multistep formulas [BCP96 Theorem 3.4.1] and for one-leg formulas with stable
 * sigma, also where the null space of F_x' turns. */
static void observed_orders(void **state)
{
    (void)state;
    const double turned = exp(-1.0) + sin(1.0);
    check_order(semi_explicit, "multistep:2", NULL, 0.5, 2.0);
    check_order(semi_explicit, "multistep:3", NULL, 0.5, 3.0);
    check_order(semi_explicit, "multistep:4", NULL, 0.5, 4.0);
    check_order(semi_explicit, "oneleg:2", NULL, 0.5, 2.0);
    check_order(semi_explicit, "oneleg:2:midpoint", NULL, 0.5, 2.0);
    check_order(mixed_f, "oneleg:2", NULL, turned, 2.0);
    for (int k = 1; k <= 4; k++) {
        formula f = bdf_formula(k, true);
        check_order(semi_explicit, "oneleg:own", &f, 0.5, k);
        check_order(semi_explicit, "multistep:own", &f, 0.5, k);
        check_order(mixed_f, "oneleg:own", &f, turned, k);
    }
}

/* x = g(t), n steps of 1/n from a start that is off by `start`; w = 1/2 (-1)^n perturbs at the legs
 */
typedef struct perturbed {
    int steps;
    bool always;
} perturbed;

static int algebraic(double t, const double *y, const double *yp, double *f, void *user)
{
    const perturbed *p = user;
    double w = p->always ? 0.5 * cos(3.14159265358979324 * (t * p->steps + 0.5)) : 0.0;
    f[0] = y[0] - w;
    f[1] = yp[1] + y[1]; /* a system without states would be solved at every time */
    return 0;
}

static double algebraic_end(const char *method, int steps, double start, bool always)
{
    perturbed p = {steps, always};
    dae_residual form = {.n = 2, .f = algebraic, .user = &p};
    dae_options o = dae_options_default();
    dae_problem *problem;
    dae_solver *s;
    double y[2] = {start, 1.0}, yp[2] = {0.0, -1.0};
    o.method = method;
    o.fixed_step = 1.0 / steps;
    o.init = DAE_INIT_NONE;
    assert_int_equal(dae_problem_from_residual(&form, &problem, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(problem, &o, &s, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(s, 0.0, y, yp), DAE_OK);
    assert_int_equal(dae_solver_run(s, 1.0, y, NULL), DAE_OK);
    dae_solver_free(s);
    dae_problem_free(problem);
    return y[0];
}

/* [BCP96 (3.4.34)]: the midpoint rule never forgets an error of x = 0, and with perturbations
 * 1/2 (-1)^n of the equation x_n = (-1)^n n; the other formula forgets both. */
static void errors_of_algebraic_variables(void **state)
{
    (void)state;
    assert_true(fabs(fabs(algebraic_end("oneleg:2:midpoint", 64, 1e-3, false)) - 1e-3) < 1e-9);
    assert_true(fabs(algebraic_end("oneleg:2", 64, 1e-3, false)) < 1e-9);
    assert_true(fabs(algebraic_end("oneleg:2:midpoint", 64, 0.0, true) - 64.0) < 1e-6);
    assert_true(fabs(algebraic_end("oneleg:2", 64, 0.0, true)) < 1.0);
}

/* x' = -x, y = t^2 */
static int decay_and_parabola(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)user;
    f[0] = yp[0] + y[0];
    f[1] = yp[1] - 2.0 * t;
    return 0;
}

static void keep_note(const char *text, void *user)
{
    snprintf(user, 400, "%s", text);
}

/* Steps 0.1, 0.2, 0.05, 0.3, or four of 0.1 */
static void run_steps(const char *method, bool equal, double at, double *y, double *between,
                      char *note)
{
    const double uneven[] = {0.1, 0.3, 0.35, 0.65}, even[] = {0.1, 0.2, 0.3, 0.4};
    dae_residual form = {.n = 2, .f = decay_and_parabola};
    dae_options o = dae_options_default();
    dae_problem *p;
    dae_solver *s;
    o.method = method;
    o.rtol = o.atol = 1e-12;
    o.step_sequence = equal ? even : uneven;
    o.step_count = 4;
    o.message = keep_note;
    o.user = note;
    note[0] = '\0';
    assert_int_equal(dae_problem_from_residual(&form, &p, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(s, 0.0, (double[]){1.0, 0.0}, (double[]){-1.0, 0.0}), DAE_OK);
    assert_int_equal(dae_solver_run(s, o.step_sequence[3], y, NULL), DAE_OK);
    assert_int_equal(dae_solver_at(s, at, 0, between), DAE_OK);
    dae_solver_free(s);
    dae_problem_free(p);
}

/* Formulas with one step take steps of any length as they are: factors (1 - h/2)/(1 + h/2). So is
 * the parabola between steps. Others tell what they do. */
static void uneven_steps(void **state)
{
    (void)state;
    static const char *const one_step[] = {"multistep:2", "oneleg:2:midpoint"};
    static const char *const more[] = {"multistep:3", "multistep:4", "oneleg:2"};
    const double h[] = {0.1, 0.2, 0.05, 0.3};
    double y[2], between[2], exact = 1.0;
    char note[400];
    for (int i = 0; i < 4; i++) exact *= (1.0 - 0.5 * h[i]) / (1.0 + 0.5 * h[i]);
    for (int k = 0; k < 2; k++) {
        run_steps(one_step[k], false, 0.5, y, between, note);
        assert_true(fabs(y[0] - exact) < 1e-10 && fabs(y[1] - 0.65 * 0.65) < 1e-10);
        assert_true(fabs(between[1] - 0.25) < 1e-10);
        assert_string_equal(note, "");
    }
    for (int k = 0; k < 3; k++) {
        run_steps(more[k], true, 0.35, y, between, note);
        assert_string_equal(note, "");
        run_steps(more[k], false, 0.5, y, between, note);
        assert_non_null(strstr(note, "the step to t = 0.3 has another one"));
        assert_true(fabs(between[1] - 0.25) < 1e-10);
    }
}

static void refusals(void **state)
{
    (void)state;
    const double y0[2] = {1.0, 1.0}, yp0[2] = {-1.0, -1.0};
    const struct {
        const char *method, *words;
        formula f;
    } bad[] = {
        {"oneleg:own", "sigma(z)", {.steps = 1, .a = {1.0, -1.0}, .b = {0.25, 0.75}}},
        {"multistep:own", "rho(z)", {.steps = 2, .a = {1.0, -3.0, 2.0}, .b = {0.5, -1.0, -0.5}}},
        {"multistep:own", "more than once", {.steps = 2, .a = {1.0, -2.0, 1.0}, .b = {1.0, -1.0}}},
        {"oneleg:own", "sum b_j = 0.9", {.steps = 1, .a = {1.0, -1.0}, .b = {0.5, 0.4}}},
        {"multistep:own", "sum a_j = 0.1", {.steps = 1, .a = {1.1, -1.0}, .b = {0.5, 0.5}}},
        {"multistep:own", "b_0 = 0", {.steps = 1, .a = {1.0, -1.0}, .b = {0.0, 1.0}}},
        {"multistep:own", "formula_steps is 9", {.steps = 9, .a = {1.0, -1.0}, .b = {1.0}}},
        {"multistep:own", "no coefficients", {.steps = 0}},
        {"multistep:2", "coefficients of its own", {.steps = 1, .a = {1.0, -1.0}, .b = {1.0}}},
        {"bdf", "coefficients of its own", {.steps = 1, .a = {1.0, -1.0}, .b = {1.0}}}};
    double y[2];
    dae_diag diag;
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        assert_true(run(semi_explicit, 2, bad[k].method, &bad[k].f, 10, y0, yp0, y, &diag) < 0);
        if (!strstr(diag.text, bad[k].words)) fail_msg("\"%s\" in: %s", bad[k].words, diag.text);
    }
    const double m0[2] = {1.0, 0.0}, mp0[2] = {-1.0, 1.0};
    assert_int_equal(run(mixed_f, 2, "multistep:2", NULL, 10, m0, mp0, y, &diag),
                     DAE_ERR_UNSUPPORTED);
    assert_non_null(strstr(diag.text, "oneleg"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conditions_of_order), cmocka_unit_test(roots),
        cmocka_unit_test(near_roots),          cmocka_unit_test(one_leg_is_a_stable),
        cmocka_unit_test(observed_orders),     cmocka_unit_test(errors_of_algebraic_variables),
        cmocka_unit_test(uneven_steps),        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
