/* Which method "auto" begins with, for every model of the corpus and its callbacks: decisions that
 * take no time to see. */
#include "daedal.h"
#include "models.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const double tolerances[] = {1e-3, 1e-4, 1e-5, 1e-7, 1e-10};
enum { TOLERANCES = sizeof tolerances / sizeof tolerances[0] };

/* What `auto` begins with, and where few digits are wanted. */
static const struct {
    const char *name, *method, *loose; /* loose NULL: the same */
} texts[] = {
    {"akzo", "radau", NULL},
    {"andrews", "prk", NULL},
    {"andrews1", "radau", "colloc2nd:9"},
    {"ball", "radau", "colloc2nd:9"},
    {"brusselator", "radau", NULL},
    {"caraxis", "prk", NULL},
    {"caraxis1", "radau", "colloc2nd:9"},
    {"circle", "prk", NULL},
    {"cycloid", "taylor", "colloc2nd:9"},
    {"heat2d", "radau", NULL},
    {"hires", "radau", NULL},
    {"ladder", "radau", NULL},
    {"pendulum", "prk", NULL},
    {"pendulum1", "radau", "colloc2nd:9"},
    {"pendulumloop", "prk", NULL},
    {"rectifier", "radau", NULL},
    {"robertson", "radau", NULL},
    {"springchain", "radau", NULL},
    {"thermostat", "radau", NULL},
    {"trajectory2", "radau", NULL},
    {"trajectory3", "taylor", NULL},
    {"transamp", "radau", NULL},
    {"truck", "prk", NULL},
    {"wheel", "taylor", "colloc2nd:9"},
};

/* Tolerances of few digits */
static const double LOOSE = 5e-5;

static dae_problem *from_text(const char *name)
{
    char path[400];
    dae_problem *p;
    dae_diag diag = {0};
    int length = (int)(strrchr(__FILE__, '/') - __FILE__) + 1;
    snprintf(path, sizeof path, "%.*s../models/%s.mo", length, __FILE__, name);
    dae_model m = {.file = path, .engine = DAE_ENGINE_TAPE};
    if (dae_problem_from_model(&m, &p, &diag) != DAE_OK) fail_msg("%s: %s", name, diag.text);
    return p;
}

/* The method at work once a run has begun at t. */
static void begins_with(const dae_problem *p, double rtol, double t, const double *y,
                        const double *yp, const char *name, const char *method)
{
    dae_options o = dae_options_default();
    dae_solver *s;
    o.rtol = rtol;
    o.atol = 1e-3 * rtol;
    assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
    if (dae_solver_start(s, t, y, yp) != DAE_OK) fail_msg("%s", dae_solver_diag(s)->text);
    if (strcmp(dae_solver_method(s), method) != 0)
        fail_msg("%s, rtol %g: %s, not %s", name, rtol, dae_solver_choice(s), method);
    dae_solver_free(s);
}

static void test_texts(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++) {
        dae_problem *p = from_text(texts[k].name);
        double t = dae_problem_experiment(p).start;
        for (int i = 0; i < TOLERANCES; i++) {
            bool loose = tolerances[i] > LOOSE && texts[k].loose;
            begins_with(p, tolerances[i], isnan(t) ? 0.0 : t, NULL, NULL, texts[k].name,
                        loose ? texts[k].loose : texts[k].method);
        }
        dae_problem_free(p);
    }
}

/* Residual callbacks: radau, as for texts, until they are large and few digits are wanted. */
static void test_callbacks(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int size;
        bool large;
    } callbacks[] = {{"akzo", 0, false},      {"hires", 0, false},        {"transamp", 0, false},
                     {"robertson", 0, false}, {"pendulum1", 0, false},    {"pendulum2", 0, false},
                     {"pendulum3", 0, false}, {"brusselator", 50, false}, {"heat2d", 40, true}};
    for (size_t k = 0; k < sizeof callbacks / sizeof callbacks[0]; k++) {
        model *m = model_new(callbacks[k].name, callbacks[k].size);
        dae_problem *p;
        assert_non_null(m);
        assert_int_equal(dae_problem_from_residual(&m->form, &p, NULL), DAE_OK);
        for (int i = 0; i < TOLERANCES; i++) {
            bool few = callbacks[k].large && tolerances[i] > 1e-5;
            begins_with(p, tolerances[i], m->t0, m->y0, m->yp0, m->name, few ? "bdf" : "radau");
        }
        dae_problem_free(p);
        model_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_texts),
                                       cmocka_unit_test(test_callbacks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
