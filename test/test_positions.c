/* Minimal extension and the reduced system of models: positions are chosen anew where the old
 * choice has become bad, in every mode, with methods of one and of many steps. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "daedal.h"
#include "forms/positions.h"

enum { MOST = 64 };

static dae_problem *open_model(const char *text, const char *name)
{
    char path[512] = "m.mo";
    const char *slash = strrchr(__FILE__, '/');
    int length = slash ? (int)(slash - __FILE__) + 1 : 0;
    if (name) snprintf(path, sizeof path, "%.*s../models/%s.mo", length, __FILE__, name);
    dae_model model = {.text = text, .file = path, .engine = DAE_ENGINE_TAPE};
    dae_problem *p = NULL;
    dae_diag diag = {0};
    if (dae_problem_from_model(&model, &p, &diag) != DAE_OK) fail_msg("%s", diag.text);
    return p;
}

typedef struct way {
    const char *formulation, *method;
} way;

static const way WAYS[] = {
    {"minimal", "bdf"}, {"minimal", "radau:5"}, {"minimal", "bdf2nd"}, {"minimal", "radau"},
    {"reduced", "bdf"}, {"reduced", "radau:5"}, {"reduced", "bdf2nd"}, {"reduced", "radau"},
};
enum { WAY_COUNT = sizeof WAYS / sizeof WAYS[0] };

/* y(tend); returns how often the solver started. */
static long solve(const dae_problem *p, const way *w, double rtol, double tend, double *y)
{
    dae_solver *s = NULL;
    dae_diag diag = {0};
    dae_options o = dae_options_default();
    o.formulation = w->formulation;
    o.method = w->method;
    o.rtol = rtol;
    o.atol = rtol;
    o.max_steps = 100000;
    if (dae_solver_new(p, &o, &s, &diag) != DAE_OK) fail_msg("%s", diag.text);
    if (dae_solver_start(s, 0.0, NULL, NULL) != DAE_OK ||
        dae_solver_run(s, tend, y, NULL) != DAE_OK)
        fail_msg("%s, %s: %s", w->formulation, w->method, dae_solver_diag(s)->text);
    long starts = dae_solver_stats(s)->starts;
    dae_solver_free(s);
    return starts;
}

static double value(const dae_problem *p, const char *name, const double *y)
{
    for (int i = 0; i < dae_problem_size(p); i++)
        if (strcmp(dae_problem_unknown_name(p, i), name) == 0) return y[i];
    fail_msg("no variable %s", name);
    return NAN;
}

static void expect(const way *w, const char *what, double got, double exact, double tolerance)
{
    if (!(fabs(got - exact) <= tolerance))
        fail_msg("%s, %s: %s = %.10g, not %.10g (%.1e > %.1e)", w->formulation, w->method, what,
                 got, exact, fabs(got - exact), tolerance);
}

/* Through all quadrants, six times round: neither x nor y can be p2 for long. Values of
 * pendulumloop.ref. */
static void pendulum_that_loops(void **unused)
{
    (void)unused;
    dae_problem *p = open_model(NULL, "pendulumloop");
    double y[MOST];
    for (int i = 0; i < WAY_COUNT; i++) {
        const way *w = &WAYS[i];
        long starts = solve(p, w, 1e-8, 10.0, y);
        expect(w, "x", value(p, "x", y), -0.26479558939535105, 2e-5);
        expect(w, "y", value(p, "y", y), -0.96430456591098263, 2e-5);
        expect(w, "vx", value(p, "vx", y), 3.1878411313003689, 5e-5);
        expect(w, "lambda", value(p, "lambda", y), 11.892913697732948, 1e-4);
        assert_in_range(starts, 12, 60); /* three at the start, four or less a turn */
    }
    dae_problem_free(p);
}

/* Sixty turns: on the rod to rounding, energy 9/2 to what the method loses. */
static void many_turns(void **unused)
{
    (void)unused;
    const way ways[] = {
        {"minimal", "bdf"}, {"reduced", "bdf"}, {"reduced", "radau:5"}, {"reduced", "bdf2nd"}};
    dae_problem *p = open_model(NULL, "pendulumloop");
    double q[MOST];
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        solve(p, &ways[i], 1e-8, 100.0, q);
        double x = value(p, "x", q), y = value(p, "y", q), vx = value(p, "vx", q),
               vy = value(p, "vy", q);
        expect(&ways[i], "x^2 + y^2", x * x + y * y, 1.0, 1e-10);
        expect(&ways[i], "x vx + y vy", x * vx + y * vy, 0.0, 1e-9);
        expect(&ways[i], "energy", 0.5 * (vx * vx + vy * vy) + y, 4.5, 2e-4);
    }
    dae_problem_free(p);
}

/* Accelerations that are coupled by M: Andrews' squeezer, beta at its reference of [MM08]. */
static void coupled_masses(void **unused)
{
    (void)unused;
    const way ways[] = {{"reduced", "bdf"}, {"reduced", "radau:5"}, {"minimal", "radau:5"}};
    const way exact = {"dummy", "radau"};
    dae_problem *p = open_model(NULL, "andrews");
    double reference[MOST], y[MOST];
    solve(p, &exact, 1e-10, 0.03, reference);
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        solve(p, &ways[i], 1e-8, 0.03, y);
        for (int k = 0; k < 7; k++) expect(&ways[i], "q", y[k], reference[k], 1e-5);
    }
    expect(&exact, "q[1]", value(p, "q[1]", reference), 0.1581077119629904e2, 1e-6);
    dae_problem_free(p);
}

/* An impact that turns the motion, and weight that changes at a time: choices across events. */
static const char *const bounced =
    "model M\n"
    "  Real x(start = 1), y(start = 0, fixed = true), vx, vy(start = 3, fixed = true), f;\n"
    "equation\n"
    "  der(x) = vx; der(y) = vy;\n"
    "  der(vx) = -f*x;\n"
    "  der(vy) = -f*y - (if time < 2.2 then 1 else 2);\n"
    "  x^2 + y^2 = 1;\n"
    "  when x < -0.8 then reinit(vy, -vy); end when;\n"
    "end M;\n";

static void choices_and_events(void **unused)
{
    (void)unused;
    const way exact = {"dummy", "radau"};
    dae_problem *p = open_model(bounced, NULL);
    double reference[MOST], y[MOST];
    solve(p, &exact, 1e-11, 5.0, reference);
    for (int i = 0; i < WAY_COUNT; i++) {
        solve(p, &WAYS[i], 1e-9, 5.0, y);
        for (int k = 0; k < dae_problem_size(p); k++)
            expect(&WAYS[i], dae_problem_unknown_name(p, k), y[k], reference[k], 1e-4);
    }
    dae_problem_free(p);
}

/* X = G2^-1 G1 by hand, and rows that depend on each other. */
static void elimination(void **unused)
{
    (void)unused;
    double G[6] = {1.0, 0.0, 4.0, 0.0, 2.0, 2.0};
    bool chosen[2 * 3 + 2] = {true, true, false};
    assert_true(fabs(positions_eliminate(2, 3, G, chosen, true) - 4.0) < 1e-15);
    double again[6] = {1.0, 0.0, 4.0, 0.0, 2.0, 2.0};
    assert_true(fabs(positions_eliminate(2, 3, again, chosen, false) - 0.25) < 1e-15);
    assert_false(chosen[0]);
    assert_true(chosen[1] && chosen[2]);
    double dependent[6] = {1.0, 2.0, 3.0, 2.0, 4.0, 6.0};
    assert_true(isinf(positions_eliminate(2, 3, dependent, chosen, false)));
    assert_int_equal(positions_dependent_row(2, 3, chosen), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elimination),        cmocka_unit_test(pendulum_that_loops),
        cmocka_unit_test(many_turns),         cmocka_unit_test(coupled_masses),
        cmocka_unit_test(choices_and_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
