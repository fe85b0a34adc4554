/* Starts of callbacks: what stays, which solution is taken, what is refused. */
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "daedal.h"

/* ---- a pendulum with its constraint on velocities alone, x vx + y vy = 0, in three forms ---- */

static void accelerate(const double *y, double lambda, double *slope)
{
    slope[0] = y[2];
    slope[1] = y[3];
    slope[2] = -lambda * y[0];
    slope[3] = -lambda * y[1] - 9.81;
}

static int residual_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    accelerate(y, y[4], f);
    for (int i = 0; i < 4; i++) f[i] = yp[i] - f[i];
    f[4] = y[0] * y[2] + y[1] * y[3];
    return 0;
}

static int hessenberg_f(const dae_hessenberg_point *at, double *out, void *user)
{
    (void)user;
    accelerate(at->y, at->z[0], out);
    return 0;
}

static int hessenberg_g(const dae_hessenberg_point *at, double *out, void *user)
{
    (void)user;
    out[0] = at->y[0] * at->y[2] + at->y[1] * at->y[3];
    return 0;
}

static int quasilinear_E(const dae_quasilinear_point *at, double *out, void *user)
{
    (void)at, (void)user;
    for (int k = 0; k < 20; k++) out[k] = k % 4 == k / 4 ? 1.0 : 0.0; /* 4 x 5 */
    return 0;
}

static int quasilinear_f(const dae_quasilinear_point *at, double *out, void *user)
{
    (void)user;
    accelerate(at->x, at->x[4], out);
    return 0;
}

static int quasilinear_g(const dae_quasilinear_point *at, double *out, void *user)
{
    (void)user;
    const double *x = at->x;
    out[0] = x[0] * x[2] + x[1] * x[3];
    out[1] = x[2] * x[2] + x[3] * x[3] - x[4] * (x[0] * x[0] + x[1] * x[1]) - 9.81 * x[1];
    return 0;
}

static dae_status pendulum(int form, dae_problem **p)
{
    static const dae_kind kinds[5] = {[4] = DAE_KIND_INDEX2};
    if (form == 0)
        return dae_problem_from_residual(&(dae_residual){.n = 5, .f = residual_f, .kinds = kinds},
                                         p, NULL);
    if (form == 1)
        return dae_problem_from_hessenberg(
            &(dae_hessenberg){.ny = 4, .nz = 1, .f = hessenberg_f, .g = hessenberg_g}, p, NULL);
    return dae_problem_from_quasilinear(
        &(dae_quasilinear){
            .n = 5, .ne = 4, .ng = 2, .E = quasilinear_E, .f = quasilinear_f, .g = quasilinear_g},
        p, NULL);
}

static void start_from(int form, double *y)
{
    dae_problem *p;
    dae_solver *s;
    assert_int_equal(pendulum(form, &p), DAE_OK);
    assert_int_equal(dae_solver_new(p, NULL, &s, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(s, 0.0, y, NULL), DAE_OK);
    assert_int_equal(dae_solver_at(s, 0.0, 0, y), DAE_OK);
    dae_solver_free(s);
    dae_problem_free(p);
}

/* A rod keeps its length where velocities are off: of (x, y) nothing moves, and of the velocity
 * what lies along the rod is taken away, as an impulse in it does. */
static void velocities_give_way(void **state)
{
    (void)state;
    static const double off[] = {0.0, 1e-6, 1e-3, 0.1, 0.5};
    for (int form = 0; form < 3; form++)
        for (int tilted = 0; tilted < 2; tilted++)
            for (int k = 0; k < 5; k++) {
                const double c = tilted ? 0.6 : 1.0, d = tilted ? -0.8 : 0.0, along = off[k] * c;
                double y[5] = {c, d, off[k], 0.0, 0.0};
                start_from(form, y);
                assert_true(fabs(y[0] - c) <= 1e-12 && fabs(y[1] - d) <= 1e-12);
                assert_true(fabs(y[2] - off[k] + along * c) <= 1e-8);
                assert_true(fabs(y[3] + along * d) <= 1e-8);
            }
}

/* ---- c + K q = 2, q = 5 c/(k + c)/100: one solution near 0, one far below ---- */

typedef struct saturation {
    double K, k;
} saturation;

static int saturation_f(double t, const double *y, const double *yp, double *f, void *user)
{
    const saturation *q = user;
    (void)t, (void)yp;
    f[0] = y[1] + q->K * y[0] - 2.0;
    f[1] = y[0] - 0.05 * y[1] / (q->k + y[1]);
    return 0;
}

static void near_the_guess(void **state)
{
    (void)state;
    static const char *const methods[] = {"auto", "bdf", "radau", "rodas", "sdirk", "liex"};
    for (int m = 0; m < 6; m++)
        for (double K = 60.0; K < 1e6; K *= 10.0)
            for (double k = 1e-2; k > 1e-5; k *= 0.1) {
                saturation q = {K, k};
                double y[2] = {0.0, 1.0}, b = k + 0.05 * K - 2.0;
                double root = -0.5 * (b + sqrt(b * b + 8.0 * k)), near = -2.0 * k / root;
                dae_options o = dae_options_default();
                dae_problem *p;
                dae_solver *s;
                o.method = methods[m];
                assert_int_equal(
                    dae_problem_from_residual(
                        &(dae_residual){.n = 2, .f = saturation_f, .user = &q}, &p, NULL),
                    DAE_OK);
                assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
                assert_int_equal(dae_solver_start(s, 0.0, y, NULL), DAE_OK);
                assert_int_equal(dae_solver_at(s, 0.0, 0, y), DAE_OK);
                if (!(fabs(y[1] - near) <= 1e-5 * near + 1e-9))
                    fail_msg("%s, K = %g, k = %g: %g, not %g", methods[m], K, k, y[1], near);
                dae_solver_free(s);
                dae_problem_free(p);
            }
}

/* ---- bounds ---- */

/* y' = 1000 (1 - y), y within 0 .. 1: F counts how often it is asked outside. */
static int filling_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t;
    const bool outside = y[0] < 0.0 || y[0] > 1.0;
    *(int *)user += outside;
    f[0] = outside ? NAN : yp[0] - 1000.0 * (1.0 - y[0]);
    return 0;
}

static void nothing_is_asked_outside(void **state)
{
    (void)state;
    static const char *const methods[] = {"dopri", "dopri:8", "glm", "liex", "liex:2"};
    const double lower = 0.0, upper = 1.0;
    for (int m = 0; m < 5; m++)
        for (double rtol = 1e-3; rtol > 5e-7; rtol *= 0.1) {
            int outside = 0;
            double y = 0.0;
            dae_options o = dae_options_default();
            dae_problem *p;
            dae_solver *s;
            o.method = methods[m];
            o.rtol = o.atol = rtol;
            assert_int_equal(dae_problem_from_residual(&(dae_residual){.n = 1,
                                                                       .f = filling_f,
                                                                       .user = &outside,
                                                                       .lower_bounds = &lower,
                                                                       .upper_bounds = &upper},
                                                       &p, NULL),
                             DAE_OK);
            assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
            assert_int_equal(dae_solver_start(s, 0.0, &y, NULL), DAE_OK);
            dae_status status = dae_solver_run(s, 0.2, &y, NULL);
            if (status != DAE_OK) fail_msg("%s: %s", methods[m], dae_solver_diag(s)->text);
            if (outside) fail_msg("%s, %g: %d", methods[m], rtol, outside);
            if (!(fabs(y - 1.0) <= 10.0 * rtol && y <= 1.0 + 0.1 * rtol))
                fail_msg("%s, %g: y - 1 = %g", methods[m], rtol, y - 1.0);
            dae_solver_free(s);
            dae_problem_free(p);
        }
}

/* ---- what is refused ---- */

static void steps_without_a_length(void **state)
{
    (void)state;
    int outside = 0;
    dae_options o = dae_options_default();
    dae_problem *p;
    dae_solver *s;
    dae_diag diag;
    o.max_step = 1e-3;
    o.min_step = 1e-2;
    assert_int_equal(dae_problem_from_residual(
                         &(dae_residual){.n = 1, .f = filling_f, .user = &outside}, &p, NULL),
                     DAE_OK);
    assert_int_equal(dae_solver_new(p, &o, &s, &diag), DAE_ERR_ARGUMENT);
    assert_non_null(strstr(diag.text, "max_step"));
    assert_non_null(strstr(diag.text, "min_step"));
    o.max_step = o.min_step;
    assert_int_equal(dae_solver_new(p, &o, &s, &diag), DAE_OK);
    dae_solver_free(s);
    dae_problem_free(p);
}

static void more_unknowns_than_memory(void **state)
{
    (void)state;
    dae_problem *p;
    dae_diag diag;
    assert_int_equal(
        dae_problem_from_residual(&(dae_residual){.n = INT_MAX, .f = filling_f}, &p, &diag),
        DAE_ERR_ARGUMENT);
    assert_null(p);
    assert_non_null(strstr(diag.text, "2147483647"));
}

/* x' = y, y' = z, 0 = x - sin t without kinds: whatever the tolerances, the index is told. */
static int chain_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)user;
    f[0] = yp[0] - y[1];
    f[1] = yp[1] - y[2];
    f[2] = y[0] - sin(t);
    return 0;
}

static void index_is_told(void **state)
{
    (void)state;
    static const char *const methods[] = {"auto", "bdf", "radau:5", "rodas", "sdirk"};
    for (int m = 0; m < 5; m++)
        for (double rtol = 1e-3; rtol > 5e-11; rtol *= 0.1) {
            double y[3] = {0.0, 1.0, 0.0};
            dae_options o = dae_options_default();
            dae_problem *p;
            dae_solver *s;
            o.method = methods[m];
            o.rtol = rtol;
            o.atol = 1e-3 * rtol;
            assert_int_equal(
                dae_problem_from_residual(&(dae_residual){.n = 3, .f = chain_f}, &p, NULL), DAE_OK);
            assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
            dae_status status = dae_solver_start(s, 0.0, y, NULL);
            if (status == DAE_OK) status = dae_solver_run(s, 1.0, y, NULL);
            assert_true(status < 0);
            if (!strstr(dae_solver_diag(s)->text, "3 (equation F[2]"))
                fail_msg("%s, %g: %s", methods[m], rtol, dae_solver_diag(s)->text);
            dae_solver_free(s);
            dae_problem_free(p);
        }
}

/* ---- sizes: x = 0.7, z = -0.4, x' = -0.3 in units of any size ----------------------------------
 */

static int of_any_size(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t;
    const double *size = user, x = y[0] / size[0], z = y[1] / size[1];
    f[0] = yp[0] / size[0] + x + x * x * x + (0.3 - 0.7 - 0.343);
    f[1] = z + sinh(z) + sin(x) - (-0.4 + sinh(-0.4) + sin(0.7)); /* inf at 1e3, as at -1e3 */
    return 0;
}

/* From guesses a fifth off: with x given; with x' given; with x' given by a tag; and with a guess
 * of z' that is off by any factor, which need not lead to values, but not to wrong ones. */
static void start_of_size(double *size, int way)
{
    static const dae_kind kinds[2] = {[1] = DAE_KIND_INDEX1};
    static const dae_tag tags[2] = {DAE_TAG_GUESS, DAE_TAG_FREE},
                         slopes[2] = {DAE_TAG_FIXED, DAE_TAG_FREE};
    static const dae_init ways[4] = {DAE_INIT_DIFFERENTIAL, DAE_INIT_DERIVATIVE, DAE_INIT_GENERAL,
                                     DAE_INIT_GENERAL};
    const double atol[2] = {1e-9 * size[0], 1e-9 * size[1]};
    double y[2] = {0.7 * size[0] * (way == 0 ? 1.0 : 1.2), -0.48 * size[1]};
    double yp[2] = {way == 0 ? 0.0 : -0.3 * size[0], way == 3 ? 1.0 : 0.0};
    dae_options o = dae_options_default();
    dae_problem *p;
    dae_solver *s;
    o.atol_by_unknown = atol;
    o.init = ways[way];
    if (way >= 2) o.y_tags = tags, o.yp_tags = slopes;
    dae_residual r = {.n = 2, .f = of_any_size, .kinds = kinds, .user = size};
    assert_int_equal(dae_problem_from_residual(&r, &p, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
    dae_status status = dae_solver_start(s, 0.0, y, yp);
    if (status != DAE_OK && way < 3)
        print_error("sizes %g, %g, way %d: %s\n", size[0], size[1], way, dae_solver_diag(s)->text);
    if (way < 3) assert_int_equal(status, DAE_OK);
    dae_solver_at(s, 0.0, 0, y);
    bool right = fabs(y[0] / size[0] - 0.7) < 1e-6 && fabs(y[1] / size[1] + 0.4) < 1e-6;
    assert_true(status != DAE_OK || right);
    dae_solver_free(s);
    dae_problem_free(p);
}

static void sizes_do_not_matter(void **state)
{
    (void)state;
    for (int k = -12; k <= 12; k += 6)
        for (int l = -12; l <= 12; l += 6)
            for (int way = 0; way < 4; way++)
                start_of_size((double[]){pow(10.0, k), pow(10.0, l)}, way);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(velocities_give_way),       cmocka_unit_test(near_the_guess),
        cmocka_unit_test(nothing_is_asked_outside),  cmocka_unit_test(steps_without_a_length),
        cmocka_unit_test(more_unknowns_than_memory), cmocka_unit_test(index_is_told),
        cmocka_unit_test(sizes_do_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
