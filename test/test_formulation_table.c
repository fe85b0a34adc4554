/* Every formulation with every method, on four mechanisms: what fits runs, what does not says why,
 * and formulations that keep a constraint do not leave it (docs/notes/formulations-table.md). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "../bench/formulation_cells.h"
#include "sanitized.h"

#ifndef TEST_ROOT
#define TEST_ROOT ".." /* where the sources are; the build says it */
#endif

/* Linearly implicit methods satisfy equations to the tolerance only, and others to a part of it. */
static const double MANY = 20.0;

/* Fast: 1e-4, and what methods of low order manage */
static double loose(int method)
{
    return dae_method_at(method).max_order < 3 ? 1e-3 : 1e-4;
}

/* Levels of constraints (0: positions, 1: velocities) that are among the equations: they hold to
 * the tolerance, however long the run is */
static const struct {
    const char *formulation;
    int from, to;
} kept[] = {{"dummy", 0, 2},    {"tangent", 0, 2}, {"index3", 0, 1},  {"index2", 1, 2},
            {"ggl", 0, 2},      {"gglm", 0, 2},    {"ggl2", 0, 1},    {"fuehrer", 0, 2},
            {"odassl", 0, 2},   {"minimal", 0, 2}, {"reduced", 0, 2}, {"overdetermined", 0, 2},
            {"manifold", 0, 2}, {"array", 0, 2}};

/* The size of a constraint's terms at each level: lengths, and with the speed of the motion once
 * and twice */
static double level_size(const cell_problem *p, int level)
{
    double v = 1.0;
    for (int i = p->m->nq; i < 2 * p->m->nq; i++) v = fmax(v, fabs(p->reference[i]));
    return pow(v, level);
}

static bool drifts(const cell_problem *p, const char *formulation, const cell *c)
{
    for (size_t k = 0; k < sizeof kept / sizeof *kept; k++)
        for (int level = kept[k].from;
             !strcmp(kept[k].formulation, formulation) && level < kept[k].to; level++)
            if (!(c->drift[level] <= MANY * c->rtol * level_size(p, level))) return true;
    return false;
}

static bool is_finite(const cell *c)
{
    bool finite = true;
    for (int k = 0; k < 3; k++) finite = finite && isfinite(c->error[k]) && isfinite(c->drift[k]);
    return finite && c->steps > 0;
}

static int check_row(const cell_problem *p, const char *formulation)
{
    int bad = 0;
    for (int m = 0; dae_method_name(m); m++) {
        cell c = cell_run(p, formulation, m, loose(m));
        const bool formula = strcmp(dae_method_at(m).family, "multistep") == 0 ||
                             strcmp(dae_method_at(m).family, "oneleg") == 0;
        if (formula && c.status == CELL_FAILS) continue; /* not all are for stiff formulations */
        const char *fault = c.status == CELL_FAILS                                ? c.why
                            : c.status == CELL_RUNS && !is_finite(&c)             ? "is not finite"
                            : c.status == CELL_RUNS && drifts(p, formulation, &c) ? "drifts"
                            : c.status == CELL_REFUSED && strlen(c.why) < 20 ? "gives no reason"
                                                                             : NULL;
        if (!fault) continue;
        print_error("%s, %s, %s: %s (errors %.1e %.1e %.1e, drift %.1e %.1e %.1e)\n", p->name,
                    formulation, dae_method_name(m), fault, c.error[0], c.error[1], c.error[2],
                    c.drift[0], c.drift[1], c.drift[2]);
        bad++;
    }
    return bad;
}

/* Derivative arrays are dense: Andrews' mechanism takes seconds a method, and with sanitizers the
 * others do, whose code is that of the circle. */
static bool takes_long(const char *problem, const char *formulation)
{
    const bool large = !strcmp(problem, "andrews") || (SANITIZED && strcmp(problem, "circle") != 0);
    return large && !strcmp(formulation, "array");
}

/* The row of a formulation. A step of the car axis' array takes a millisecond: constant ones, which
 * keep constraints whatever they are, are longer there. */
static int check_formulation(cell_problem *p, const char *formulation)
{
    static const double LONGER = 4.0;
    const double step = p->fixed_step;
    if (!strcmp(p->name, "caraxis") && !strcmp(formulation, "array")) p->fixed_step *= LONGER;
    int bad = check_row(p, formulation);
    p->fixed_step = step;
    return bad;
}

static void check_problem(const char *name)
{
    cell_problem *p = cell_problem_new(name, TEST_ROOT, DAE_ENGINE_TAPE);
    assert_non_null(p);
    int bad = check_row(p, "auto");
    for (int f = 0; dae_formulation_name(f); f++)
        if (!takes_long(name, dae_formulation_name(f)))
            bad += check_formulation(p, dae_formulation_name(f));
    cell_problem_free(p);
    assert_int_equal(bad, 0);
}

static void circle(void **state)
{
    (void)state;
    check_problem("circle");
}

static void pendulum(void **state)
{
    (void)state;
    check_problem("pendulum");
}

static void caraxis(void **state)
{
    (void)state;
    check_problem("caraxis");
}

static void andrews(void **state)
{
    (void)state;
    if (SANITIZED) skip(); /* the same code as the car axis, with more equations: it is slow */
    check_problem("andrews");
}

/* Every formulation runs with some method; the reference is the closed solution. */
static void nothing_is_left_out(void **state)
{
    (void)state;
    cell_problem *p = cell_problem_new("circle", TEST_ROOT, DAE_ENGINE_TAPE);
    assert_non_null(p);
    const double exact[] = {sin(1.0), cos(1.0), cos(1.0), -sin(1.0), sin(1.0) * cos(1.0)};
    for (int i = 0; i < 5; i++) assert_float_equal(p->reference[i], exact[i], 1e-10);
    for (int f = 0; dae_formulation_name(f); f++) {
        int count = 0;
        for (int m = 0; count == 0 && dae_method_name(m); m++)
            count += cell_run(p, dae_formulation_name(f), m, 1e-2).status == CELL_RUNS;
        if (count == 0) print_error("%s runs nowhere\n", dae_formulation_name(f));
        assert_true(count > 0);
    }
    cell_problem_free(p);
}

static int method_number(const char *name)
{
    int m = 0;
    while (dae_method_name(m) && strcmp(dae_method_name(m), name)) m++;
    assert_non_null(dae_method_name(m));
    return m;
}

/* Springs and regularisations in place of constraints make equations stiff; methods that damp take
 * about the steps of the constraints themselves: within a factor of 4, for other errors than theirs
 * are in the test. */
static void stiff_formulations_cost_what_their_limit_does(void **state)
{
    (void)state;
    static const char *const problems[] = {"circle", "pendulum"};
    static const char *const methods[] = {"radau", "radau:5", "radau:9", "radau:13", "lobattoc:6"};
    for (int i = 0; i < 2; i++) {
        cell_problem *p = cell_problem_new(problems[i], TEST_ROOT, DAE_ENGINE_TAPE);
        assert_non_null(p);
        for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
            int m = method_number(methods[k]);
            cell limit = cell_run(p, "index3", m, 1e-6), soft = cell_run(p, "penalty", m, 1e-6),
                 relaxed = cell_run(p, "regularised", m, 1e-6);
            assert_int_equal(limit.status, CELL_RUNS);
            if (soft.steps > 4 * limit.steps + 20 || relaxed.steps > 4 * limit.steps + 20)
                fail_msg("%s, %s: %ld, %ld steps in place of %ld", problems[i], methods[k],
                         soft.steps, relaxed.steps, limit.steps);
        }
        cell_problem_free(p);
    }
}

/* Tolerances below the rounding errors of accelerations (1e6 eps) are no impasse: the thesis
 * half-explicit method iterates as far as it gets. */
static void rounding_is_no_impasse(void **state)
{
    (void)state;
    cell_problem *p = cell_problem_new("andrews", TEST_ROOT, DAE_ENGINE_TAPE);
    assert_non_null(p);
    cell c = cell_run(p, "auto", method_number("herk:thesis"), 1e-9);
    if (c.status != CELL_RUNS) fail_msg("%s", c.why);
    assert_true(c.error[0] < 1e-6);
    cell_problem_free(p);
}

/* Pairs that theory speaks against are refused by the library, with a reason and at once. */
static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *formulation, *method, *words;
    } pairs[] = {{"penalty", "gauss:4", "does not damp"},
                 {"penalty", "colloc2nd:4", "does not damp"},
                 {"regularised", "gauss:6", "index 3"},
                 {"regularised", "sdirk:4", "index 3"},
                 {"integral", "gauss:8", "does not damp"},
                 {"index3", "liex", "index 3"},
                 {"index3", "sirk:3", "index 3"},
                 {"index3", "bdf2nd:thesis", "rtol_by_unknown"},
                 {"index1", "colloc2nd:3:thesis", "rtol_by_unknown"}};
    cell_problem *p = cell_problem_new("pendulum", TEST_ROOT, DAE_ENGINE_TAPE);
    assert_non_null(p);
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
        cell c = cell_run(p, pairs[k].formulation, method_number(pairs[k].method), 1e-5);
        if (c.status != CELL_REFUSED || c.steps > 0 || !strstr(c.why, pairs[k].words))
            fail_msg("%s, %s: %s", pairs[k].formulation, pairs[k].method, c.why);
    }
    cell_problem_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(circle),
        cmocka_unit_test(pendulum),
        cmocka_unit_test(caraxis),
        cmocka_unit_test(andrews),
        cmocka_unit_test(nothing_is_left_out),
        cmocka_unit_test(stiff_formulations_cost_what_their_limit_does),
        cmocka_unit_test(rounding_is_no_impasse),
        cmocka_unit_test(what_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
