/* glm and classic methods in its frame: conditions of order, stability, and observed orders on
 * problems of index 1, 2 and 3 [Wun05 A.0.8, A.0.10, A.0.11]. */
#include "method/multistep/glm.h"

#include <complex.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daedal.h"

enum { S = GLM_STAGES };

/* All matrices of the frame for equal steps, of internal stages; those of external ones are the
 * same: A~, B~, D~, E~, F~ */
typedef struct glm_frame {
    double A[GLM_STAGES][GLM_STAGES], B[GLM_STAGES][GLM_STAGES], D[GLM_STAGES][GLM_STAGES],
        E[GLM_STAGES][GLM_STAGES], F[GLM_STAGES][GLM_STAGES];
} glm_frame;

static void glm_frame_of(const glm_table *m, double r, glm_frame *frame)
{
    const int s = m->stages;
    *frame = (glm_frame){0};
    glm_weights(m, r, frame->A);
    for (int i = 0; i < s; i++)
        for (int j = 0; j < s; j++) {
            frame->E[i][j] = frame->A[i][j];
            frame->F[i][j] = m->G[i][j];
            for (int k = 0; k <= i; k++) {
                frame->B[i][j] += m->G[i][k] * frame->A[k][j];
                frame->D[i][j] += m->G[i][k] * m->G[k][j];
            }
        }
}

/* Stages meet polynomials of degree 3, for x and, through the frame, for x with x' and x'' given:
 * Y = A~ y + h B~ y' + h^2 D~ Y'', Y' = E~ y' + h F~ Y'' [Wun05 (A.17)] */
static void order_conditions(void **state)
{
    (void)state;
    const glm_table *m = &glm_peer4;
    for (double r = 0.5; r < 1.6; r += 0.25) {
        double B[S][S];
        glm_frame f;
        glm_weights(m, r, B);
        glm_frame_of(m, r, &f);
        for (int k = 0; k < 5; k++)
            for (int i = 0; i < S; i++) {
                double first = -pow(m->c[i], k), second = first, slope = -k * pow(m->c[i], k - 1);
                if (k == 0) slope = 0.0;
                for (int j = 0; j < S; j++) {
                    double old = (m->c[j] - 1.0) / r;
                    double d1 = k > 0 ? k * pow(m->c[j], k - 1) : 0.0;
                    double d2 = k > 1 ? k * (k - 1) * pow(m->c[j], k - 2) : 0.0;
                    double old1 = k > 0 ? k * pow(old, k - 1) : 0.0;
                    first += B[i][j] * pow(old, k) + m->G[i][j] * d1;
                    second += f.A[i][j] * pow(old, k) + f.B[i][j] * old1 + f.D[i][j] * d2;
                    slope += f.E[i][j] * old1 + f.F[i][j] * d2;
                }
                if (k < 4) {
                    assert_true(fabs(first) < 1e-13 && fabs(second) < 1e-12);
                    assert_true(fabs(slope) < 1e-12);
                } else if (i == S - 1) {
                    assert_true(fabs(first) > 1e-3); /* and no more */
                }
            }
    }
}

/* [Wun05 A.0.7]: every row of external stages is one of internal stages, since both are the same;
 * the last stage ends the step, and G is lower triangular with one diagonal element. */
static void stiffly_accurate(void **state)
{
    (void)state;
    const glm_table *m = &glm_peer4;
    assert_true(m->c[S - 1] == 1.0);
    for (int i = 0; i < S; i++) {
        assert_true(m->G[i][i] == m->G[0][0] && m->G[i][i] > 0.0);
        for (int j = i + 1; j < S; j++) assert_true(m->G[i][j] == 0.0);
    }
}

/* The largest entry of M(z)^256, M(z) = (I - z G)^-1 B for equal steps or at a ratio r */
static double power(double complex z, double r)
{
    const glm_table *m = &glm_peer4;
    double B[S][S];
    double complex M[S][S], P[S][S];
    glm_weights(m, r, B);
    for (int j = 0; j < S; j++)
        for (int i = 0; i < S; i++) {
            M[i][j] = B[i][j];
            for (int k = 0; k < i; k++) M[i][j] += z * m->G[i][k] * M[k][j];
            M[i][j] /= 1.0 - z * m->G[i][i];
        }
    for (int n = 0; n < 8; n++) {
        for (int i = 0; i < S; i++)
            for (int j = 0; j < S; j++) {
                P[i][j] = 0.0;
                for (int k = 0; k < S; k++) P[i][j] += M[i][k] * M[k][j];
            }
        memcpy(M, P, sizeof M);
    }
    double most = 0.0;
    for (int i = 0; i < S; i++)
        for (int j = 0; j < S; j++) most = fmax(most, cabs(M[i][j]));
    return most;
}

/* Zero-stable, A-stable as far as the imaginary axis tells, 0 at infinity; and zero-stable while
 * steps grow by 1.2 each */
static void stability(void **state)
{
    (void)state;
    assert_true(power(0.0, 1.0) < 20.0);
    assert_true(power(0.0, 1.2) < 50.0);
    for (double y = 1e-3; y < 1e4; y *= 1.05) assert_true(power(I * y, 1.0) < 20.0);
    assert_true(power(-1e9, 1.0) < 1e-9);
}

/* ---- observed orders: (e^-t, 1 + sin(t)/2, cos t) solves both ---- */

static void exact_values(double t, double *y, double *yp)
{
    y[0] = exp(-t), y[1] = 1.0 + 0.5 * sin(t), y[2] = cos(t);
    yp[0] = -y[0], yp[1] = 0.5 * cos(t), yp[2] = -sin(t);
}

static int index1(double t, const double *y, const double *yp, double *f, void *user)
{
    double x[3], xp[3];
    (void)user;
    exact_values(t, x, xp);
    f[0] = yp[0] + y[0] - y[1] * (y[2] - x[2]);
    f[1] = yp[1] - 0.5 * y[2] - (y[0] - x[0]);
    f[2] = y[2] * y[2] * y[2] + y[2] + y[0] * y[1] - (x[2] * x[2] * x[2] + x[2] + x[0] * x[1]);
    return 0;
}

static int index2(double t, const double *y, const double *yp, double *f, void *user)
{
    double x[3], xp[3];
    (void)user;
    exact_values(t, x, xp);
    f[0] = yp[0] + y[0] - y[0] * y[1] * (y[2] - x[2]);
    f[1] = yp[1] - xp[1] - (y[2] * y[2] - x[2] * x[2]) - (y[0] - x[0]);
    f[2] = y[0] + y[1] + y[0] * y[1] - (x[0] + x[1] + x[0] * x[1]);
    return 0;
}

static void errors_of(const char *name, dae_residual_fn f, dae_kind kind, double h, double tol,
                      double error[2], long *steps)
{
    const dae_kind kinds[3] = {DAE_KIND_DIFFERENTIAL, DAE_KIND_DIFFERENTIAL, kind};
    dae_residual form = {.n = 3, .f = f, .kinds = kinds};
    dae_options options = dae_options_default();
    dae_problem *problem;
    dae_solver *s;
    double y[3], yp[3], x[3], xp[3];
    options.method = name;
    options.rtol = options.atol = tol;
    options.fixed_step = h;
    options.stop_time = 1.0;
    options.init = DAE_INIT_NONE;
    assert_int_equal(dae_problem_from_residual(&form, &problem, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(problem, &options, &s, NULL), DAE_OK);
    exact_values(0.0, y, yp);
    assert_int_equal(dae_solver_start(s, 0.0, y, yp), DAE_OK);
    if (dae_solver_run(s, 1.0, y, NULL) != DAE_OK) fail_msg("%s", dae_solver_diag(s)->text);
    exact_values(1.0, x, xp);
    error[0] = fmax(fabs(y[0] - x[0]), fabs(y[1] - x[1]));
    error[1] = fabs(y[2] - x[2]);
    if (steps) *steps = dae_solver_stats(s)->steps;
    dae_solver_free(s);
    dae_problem_free(problem);
}

static void errors(dae_residual_fn f, dae_kind kind, double h, double tol, double error[2],
                   long *steps)
{
    errors_of("glm", f, kind, h, tol, error, steps);
}

/* [Wun05 Theorems A.0.8 and A.0.10]: order 3 in y and z, at index 1 and 2; at equal steps y gains
 * one
 */
static void observed_orders(void **state)
{
    (void)state;
    static const struct {
        dae_residual_fn f;
        dae_kind kind;
    } problems[2] = {{index1, DAE_KIND_INDEX1}, {index2, DAE_KIND_INDEX2}};
    for (int p = 0; p < 2; p++) {
        double coarse[2], fine[2];
        errors(problems[p].f, problems[p].kind, 1.0 / 10.0, 1e-11, coarse, NULL);
        errors(problems[p].f, problems[p].kind, 1.0 / 20.0, 1e-11, fine, NULL);
        for (int i = 0; i < 2; i++) {
            double order = log2(coarse[i] / fine[i]);
            if (!(order >= 2.7)) fail_msg("index %d, %s: %.3f", p + 1, i ? "z" : "y", order);
        }
    }
}

/* ---- classic methods in the frame ---- */

/* c_i^k = sum_j b_ij (c_j - 1)^k + k sum_j g_ij c_j^(k-1) for all stages, k = 0 .. s: BDF of order
 * s is exact for polynomials of degree s */
static void multistep_methods_have_stage_order_s(void **state)
{
    (void)state;
    static const glm_table *const tables[] = {&glm_bdf2, &glm_bdf3, &glm_bdf4};
    for (int which = 0; which < 3; which++) {
        const glm_table *m = tables[which];
        const int s = m->stages;
        double B[GLM_STAGES][GLM_STAGES];
        glm_weights(m, 1.0, B);
        assert_int_equal(s, which + 2);
        for (int k = 0; k <= s + 1; k++)
            for (int i = 0; i < s; i++) {
                double sum = -pow(m->c[i], k);
                for (int j = 0; j < s; j++) {
                    sum += B[i][j] * pow(m->c[j] - 1.0, k);
                    if (k > 0) sum += k * m->G[i][j] * pow(m->c[j], k - 1);
                }
                if (k <= s) assert_true(fabs(sum) < 1e-13);
                if (k > s && i + 1 == s) assert_true(fabs(sum) > 1e-4); /* and no more */
            }
    }
}

/* sum b = 1, b c = 1/2, b c^2 = 1/3, b A c = 1/6; the last stage ends the step; row sums are c */
static void runge_kutta_method_has_order_3(void **state)
{
    (void)state;
    const glm_table *m = &glm_rk3;
    double sum[4] = {0.0};
    for (int i = 0; i < 3; i++) {
        double row = 0.0, b = m->G[2][i];
        for (int j = 0; j < 3; j++) {
            row += m->G[i][j];
            sum[3] += b * m->G[i][j] * m->c[j];
        }
        assert_true(fabs(row - m->c[i]) < 1e-15);
        sum[0] += b;
        sum[1] += b * m->c[i];
        sum[2] += b * m->c[i] * m->c[i];
    }
    const double exact[4] = {1.0, 0.5, 1.0 / 3.0, 1.0 / 6.0};
    for (int i = 0; i < 4; i++) assert_true(fabs(sum[i] - exact[i]) < 1e-15);
    assert_true(m->c[2] == 1.0 && m->one_step);
}

/* y of order min(p, q + 1) and z of order p at index 1, both at least q at index 2 (z of the method
 * with q = 1 is left out: its local error is of order 1) */
static void orders_at_index_1_and_2(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int index1, index2, z;
    } cases[] = {{"glm:2:bdf", 2, 2, 2},
                 {"glm:3:bdf", 3, 3, 3},
                 {"glm:4:bdf", 4, 4, 4},
                 {"glm:3:rk", 3, 2, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int p = 0; p < 2; p++) {
            double coarse[2], fine[2];
            dae_residual_fn f = p == 0 ? index1 : index2;
            dae_kind kind = p == 0 ? DAE_KIND_INDEX1 : DAE_KIND_INDEX2;
            errors_of(cases[i].name, f, kind, 1.0 / 20.0, 1e-12, coarse, NULL);
            errors_of(cases[i].name, f, kind, 1.0 / 40.0, 1e-12, fine, NULL);
            int wanted[2] = {p == 0 ? cases[i].index1 : cases[i].index2,
                             p == 0 ? cases[i].index1 : cases[i].z};
            for (int k = 0; k < 2; k++) {
                double order = log2(coarse[k] / fine[k]);
                if (!(order >= wanted[k] - 0.3))
                    fail_msg("%s, index %d, %s: %.3f", cases[i].name, p + 1, k ? "z" : "y", order);
            }
        }
}

/* (2.55): y = (sin t^2, cos t^2), z = y', lambda = -4 t^2 */
static int track(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = yp[0] - y[2];
    f[1] = yp[1] - y[3];
    f[2] = yp[2] - 2.0 * y[1] - y[4] * y[0];
    f[3] = yp[3] + 2.0 * y[0] - y[4] * y[1];
    f[4] = y[0] * y[0] + y[1] * y[1] - 1.0;
    return 0;
}

static int decay(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = yp[0] + y[0];
    return 0;
}

/* Largest errors of y and y' in the middle of the steps of glm:3:rk on y' = -y, t = 0 .. 1 */
static void middle_errors(int steps, double error[2])
{
    dae_residual form = {.n = 1, .f = decay};
    dae_options o = dae_options_default();
    dae_problem *p;
    dae_solver *s;
    double y = 1.0, yp = -1.0;
    error[0] = error[1] = 0.0;
    o.method = "glm:3:rk";
    o.rtol = o.atol = 1e-12;
    o.fixed_step = 1.0 / steps;
    assert_int_equal(dae_problem_from_residual(&form, &p, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(s, 0.0, &y, &yp), DAE_OK);
    for (dae_status status = DAE_STEPPED; status > 0;) {
        double from, to;
        status = dae_solver_step(s, 1.0);
        assert_true(status >= 0);
        dae_solver_last_step(s, &from, &to);
        const double t = 0.5 * (from + to), exact = exp(-t);
        assert_int_equal(dae_solver_at(s, t, 0, &y), DAE_OK);
        assert_int_equal(dae_solver_at(s, t, 1, &yp), DAE_OK);
        error[0] = fmax(error[0], fabs(y - exact));
        error[1] = fmax(error[1], fabs(yp + exact));
    }
    dae_solver_free(s);
    dae_problem_free(p);
}

/* Order 3 between steps, too, though its stages have order 1. */
static void runge_kutta_method_between_steps(void **state)
{
    (void)state;
    double coarse[2], fine[2];
    middle_errors(16, coarse);
    middle_errors(32, fine);
    for (int d = 0; d < 2; d++) assert_true(log2(coarse[d] / fine[d]) > 2.7);
}

/* y, y' at t */
static void track_exact(double t, double *y, double *yp)
{
    const double s = sin(t * t), c = cos(t * t);
    const double values[5] = {s, c, 2.0 * t * c, -2.0 * t * s, -4.0 * t * t};
    const double slopes[5] = {values[2], values[3], 2.0 * c - 4.0 * t * t * s,
                              -2.0 * s - 4.0 * t * t * c, -8.0 * t};
    memcpy(y, values, sizeof values);
    memcpy(yp, slopes, sizeof slopes);
}

/* Largest errors of y, z and lambda at the ends of steps from 1.2 to 1.4: at one point they may
 * change their sign. */
static void track_errors(const char *name, int steps, double error[3])
{
    static const dae_kind kinds[5] = {DAE_KIND_DIFFERENTIAL, DAE_KIND_DIFFERENTIAL, DAE_KIND_INDEX2,
                                      DAE_KIND_INDEX2, DAE_KIND_INDEX3};
    const dae_residual form = {.n = 5, .f = track, .kinds = kinds};
    double y[5], yp[5], exact[5], h = 0.4 / steps;
    dae_options o = dae_options_default();
    dae_problem *p;
    dae_solver *s;
    o.method = name;
    o.rtol = o.atol = 1e-12;
    o.fixed_step = h;
    o.init = DAE_INIT_NONE;
    track_exact(1.0, y, yp);
    assert_int_equal(dae_problem_from_residual(&form, &p, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(s, 1.0, y, yp), DAE_OK);
    error[0] = error[1] = error[2] = 0.0;
    for (int i = 0; i < steps; i++) {
        dae_status status = dae_solver_step(s, 2.0);
        if (status != DAE_STEPPED) fail_msg("%s: %s", name, dae_solver_diag(s)->text);
        double t = dae_solver_time(s);
        assert_int_equal(dae_solver_at(s, t, 0, y), DAE_OK);
        track_exact(t, exact, yp);
        for (int k = 0; 2 * i >= steps && k < 5; k++)
            error[k / 2] = fmax(error[k / 2], fabs(y[k] - exact[k]));
    }
    dae_solver_free(s);
    dae_problem_free(p);
}

/* Theorem A.0.11 with stage order q: y and z of order q, u of order q - 1, at least. glm has a term
 * of h^4 in y that is larger on coarse grids and has the other sign: y is looked at over three
 * halvings. */
static void orders_at_index_3(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int variable, theory, coarse, fine;
    } cases[] = {
        {"glm", 0, 3, 40, 320},      {"glm", 1, 3, 160, 320},     {"glm", 2, 2, 160, 320},
        {"glm:3:bdf", 0, 3, 40, 80}, {"glm:3:bdf", 1, 3, 40, 80}, {"glm:3:bdf", 2, 2, 40, 80},
        {"glm:4:bdf", 0, 4, 20, 40}, {"glm:4:bdf", 1, 4, 20, 40}, {"glm:4:bdf", 2, 3, 20, 40}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double coarse[3], fine[3];
        int k = cases[i].variable;
        track_errors(cases[i].name, cases[i].coarse, coarse);
        track_errors(cases[i].name, cases[i].fine, fine);
        double order = log2(coarse[k] / fine[k]) / log2((double)cases[i].fine / cases[i].coarse);
        if (!(order >= cases[i].theory - 0.3))
            fail_msg("%s, %c: %.3f, theory %d", cases[i].name, "yzu"[k], order, cases[i].theory);
    }
}

/* With control: errors follow the tolerance */
static void errors_follow_the_tolerance(void **state)
{
    (void)state;
    for (double tol = 1e-4; tol > 1e-8; tol /= 10.0) {
        double error[2];
        long steps;
        errors(index1, DAE_KIND_INDEX1, 0.0, tol, error, &steps);
        if (!(error[0] < 10.0 * tol && error[1] < 10.0 * tol))
            fail_msg("index 1, %g: %g, %g in %ld steps", tol, error[0], error[1], steps);
        errors(index2, DAE_KIND_INDEX2, 0.0, tol, error, &steps);
        if (!(error[0] < 10.0 * tol))
            fail_msg("index 2, %g: %g in %ld steps", tol, error[0], steps);
    }
}

static int falls_to_zero(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = yp[0] + (y[0] > 0.0 ? 1.0 : y[0] < 0.0 ? -1.0 : 0.0);
    return 0;
}

/* x' = -sign x, x(0) = 1: x stays at 0 from t = 1 on. Slopes are +1 or -1 at all stages of a step,
 * and x must not move by more than they allow: it is right, or the run says where it ends. */
static void jumping_slopes_are_seen(void **state)
{
    (void)state;
    for (double tol = 1e-3; tol > 1e-9; tol *= 0.1) {
        dae_residual form = {.n = 1, .f = falls_to_zero};
        dae_options options = dae_options_default();
        dae_problem *problem;
        dae_solver *s;
        double x = 1.0, slope = -1.0;
        options.method = "glm";
        options.rtol = options.atol = tol;
        options.max_steps = 100000;
        assert_int_equal(dae_problem_from_residual(&form, &problem, NULL), DAE_OK);
        assert_int_equal(dae_solver_new(problem, &options, &s, NULL), DAE_OK);
        assert_int_equal(dae_solver_start(s, 0.0, &x, &slope), DAE_OK);
        dae_status status = DAE_STEPPED;
        while (status == DAE_STEPPED) {
            status = dae_solver_step(s, 2.0);
            assert_int_equal(dae_solver_at(s, dae_solver_time(s), 0, &x), DAE_OK);
            assert_true(fabs(x - fmax(0.0, 1.0 - dae_solver_time(s))) <= 100.0 * tol);
        }
        dae_solver_free(s);
        dae_problem_free(problem);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_conditions),
        cmocka_unit_test(stiffly_accurate),
        cmocka_unit_test(stability),
        cmocka_unit_test(observed_orders),
        cmocka_unit_test(multistep_methods_have_stage_order_s),
        cmocka_unit_test(runge_kutta_method_between_steps),
        cmocka_unit_test(runge_kutta_method_has_order_3),
        cmocka_unit_test(orders_at_index_1_and_2),
        cmocka_unit_test(orders_at_index_3),
        cmocka_unit_test(errors_follow_the_tolerance),
        cmocka_unit_test(jumping_slopes_are_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
