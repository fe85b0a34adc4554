/* Numbers that are not as accurate as asked for are told by a note, and those that are, are not:
 * outputs that magnify the errors of states, multipliers that the error test makes light of. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daedal.h"

/* The notes of a run. */
static char notes[4000];

static void collect(const char *text, void *user)
{
    (void)user;
    snprintf(notes + strlen(notes), sizeof notes - strlen(notes), "%s\n", text);
}

static dae_options noted(const char *method, double rtol)
{
    dae_options o = dae_options_default();
    o.method = method;
    o.rtol = rtol;
    o.atol = 1e-3 * rtol;
    o.message = collect;
    notes[0] = '\0';
    return o;
}

/* A run with rows, from its start to its end; the largest value of the last variable. */
static void run_text(const char *text, const char *method, double stop)
{
    dae_model model = {.text = text, .file = "doubt.mo", .engine = DAE_ENGINE_TAPE};
    dae_problem *p;
    dae_solver *s;
    dae_options o = noted(method, 1e-6);
    o.stop_time = stop;
    assert_int_equal(dae_problem_from_model(&model, &p, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(s, 0.0, NULL, NULL), DAE_OK);
    double *x = calloc((size_t)dae_problem_variable_count(p), sizeof *x);
    dae_status status = DAE_STEPPED;
    double from, to = 0.0;
    for (int row = 1; status > 0; row++) {
        double t = row * stop / 100.0;
        while (status > 0 && to < t) {
            status = dae_solver_step(s, stop);
            dae_solver_last_step(s, &from, &to);
        }
        assert_true(status >= 0);
        if (t < to) assert_int_equal(dae_solver_variables(s, t, x), DAE_OK);
    }
    assert_int_equal(dae_solver_finish(s), DAE_OK);
    free(x);
    dae_solver_free(s);
    dae_problem_free(p);
}

/* log(u/v) is 1e-4 to 1e-6 where u and v, which are as accurate as asked for, are 1 to 3. */
static void small_differences_are_told(void **state)
{
    static const char *const methods[] = {"auto", "radau:5", "rodas", "sdirk:4", "bdf"};
    (void)state;
    for (int k = 0; k < 5; k++)
        for (int digits = 4; digits <= 6; digits++) {
            char text[400];
            snprintf(text, sizeof text,
                     "model Lag\n  Real u, v(start = 2, fixed = true), i;\nequation\n"
                     "  u = 2 + sin(time);\n  i = log(u/v);\n"
                     "  1e-%d*der(v) = u - v;\nend Lag;\n",
                     digits);
            run_text(text, methods[k], 10.0);
            if (!strstr(notes, "doubt.mo:5: i magnifies")) fail_msg("%s: %s", methods[k], notes);
        }
}

/* Large factors, powers, sums, and the residual of a constraint lose nothing. */
static void others_are_not(void **state)
{
    static const char *const methods[] = {"auto", "radau:5", "rodas", "bdf"};
    (void)state;
    for (int k = 0; k < 4; k++) {
        run_text("model Plain\n  Real x(start = 1, fixed = true), a, b, c, d;\nequation\n"
                 "  der(x) = -x;\n  a = 1e6*x;\n  b = x^3;\n  c = 1 + x;\n  d = 1e-9*exp(x);\n"
                 "end Plain;\n",
                 methods[k], 2.0);
        assert_string_equal(notes, "");
        run_text("model Pendulum\n  Real x(start = 1, fixed = true), y(start = 0), vx(start = 0),\n"
                 "    vy(start = 0, fixed = true), F, energy, drift;\nequation\n  der(x) = vx;\n"
                 "  der(y) = vy;\n  der(vx) = -F*x;\n  der(vy) = -F*y - 1;\n  x^2 + y^2 = 1;\n"
                 "  drift = x^2 + y^2 - 1;\n  energy = (vx^2 + vy^2)/2 + y + 1;\nend Pendulum;\n",
                 methods[k], 3.0);
        if (strstr(notes, "magnifies")) fail_msg("%s: %s", methods[k], notes);
    }
}

/* ---- multipliers -------------------------------------------------------------------------------
 */

static int level;

/* The pendulum with its constraint on positions (3), velocities (2) or accelerations (1). */
static int pendulum(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = yp[0] - y[2];
    f[1] = yp[1] - y[3];
    f[2] = yp[2] + y[4] * y[0];
    f[3] = yp[3] + y[4] * y[1] + 1.0;
    if (level == 3) f[4] = y[0] * y[0] + y[1] * y[1] - 1.0;
    if (level == 2) f[4] = y[0] * y[2] + y[1] * y[3];
    if (level == 1) f[4] = y[2] * y[2] + y[3] * y[3] - y[1] - y[4] * (y[0] * y[0] + y[1] * y[1]);
    return 0;
}

/* The largest error of the multiplier, 3 times the height fallen, in tolerances, at 100 rows. */
static double run_callbacks(const char *method, double rtol)
{
    static const dae_kind kinds[4][5] = {
        {0},
        {DAE_KIND_DIFFERENTIAL, DAE_KIND_DIFFERENTIAL, DAE_KIND_DIFFERENTIAL, DAE_KIND_DIFFERENTIAL,
         DAE_KIND_INDEX1},
        {DAE_KIND_DIFFERENTIAL, DAE_KIND_DIFFERENTIAL, DAE_KIND_DIFFERENTIAL, DAE_KIND_DIFFERENTIAL,
         DAE_KIND_INDEX2},
        {DAE_KIND_DIFFERENTIAL, DAE_KIND_DIFFERENTIAL, DAE_KIND_INDEX2, DAE_KIND_INDEX2,
         DAE_KIND_INDEX3}};
    static const char *const names[] = {"x", "y", "vx", "vy", "F"};
    dae_residual form = {.n = 5, .f = pendulum, .variable_names = names, .kinds = kinds[level]};
    dae_options o = noted(method, rtol);
    double y[5] = {1.0, 0.0, 0.0, 0.0, 0.0}, yp[5] = {0.0, 0.0, 0.0, -1.0, 0.0}, most = 0.0;
    dae_problem *p;
    dae_solver *s;
    o.atol = rtol;
    assert_int_equal(dae_problem_from_residual(&form, &p, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(s, 0.0, y, yp), DAE_OK);
    dae_status status = DAE_OK;
    for (int row = 1; status == DAE_OK && row <= 100; row++) {
        status = dae_solver_run(s, 0.03 * row, y, NULL);
        /* F = v^2 - y and v^2 = -2 y on the circle */
        most = fmax(most, fabs(y[4] + 3.0 * y[1]) / (rtol * (1.0 + fabs(y[4]))));
    }
    if (status < 0) most = 0.0; /* told */
    dae_solver_free(s);
    dae_problem_free(p);
    return most;
}

static void multipliers_are_told(void **state)
{
    static const char *const methods[] = {"auto",       "radau", "radau:5", "sdirk:4",
                                          "lobattoc:4", "bdf",   "glm"};
    (void)state;
    for (level = 3; level > 0; level--)
        for (int k = 0; k < 7; k++)
            for (double rtol = 1e-4; rtol > 1e-9; rtol *= 1e-2) {
                if (level == 3 && (k == 3 || k == 5)) continue; /* refuse it */
                double off = run_callbacks(methods[k], rtol);
                bool told = strstr(notes, "note: F is of index") != NULL;
                if (off > 300.0 && !told)
                    fail_msg("index %d, %s at %g: F is off by %g tolerances; %s", level, methods[k],
                             rtol, off, notes);
                if (level == 1 && told) fail_msg("%s: %s", methods[k], notes);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_differences_are_told),
        cmocka_unit_test(others_are_not),
        cmocka_unit_test(multipliers_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
