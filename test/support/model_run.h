/* Shared by the tests that run small model texts: a run from its text on, its values by name, and
 * what is expected of values, statuses and messages, told with the line of the test. */
#ifndef DAE_TEST_MODEL_RUN_H
#define DAE_TEST_MODEL_RUN_H

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

enum { MOST_VALUES = 256, MESSAGES = 8192 };

/* Declarations and equations between "model M" and "end M". */
#define MODEL(body) "model M\n" body "\nend M;\n"

/* ---- one run ---- */

typedef struct run {
    dae_problem *problem;
    dae_solver *solver;
    dae_options options;
    dae_diag diag;
    double values[MOST_VALUES];
    char messages[MESSAGES];
    int events; /* steps that ended at one */
} run;

static inline void note(const char *text, void *user)
{
    run *r = user;
    size_t used = strlen(r->messages);
    snprintf(r->messages + used, MESSAGES - used, "%s\n", text);
}

/* The problem of a text, if it has one. */
static inline dae_status load(run *r, const char *text)
{
    memset(r, 0, sizeof *r);
    dae_model model = {.text = text, .file = "m.mo", .engine = DAE_ENGINE_TAPE};
    return dae_problem_from_model(&model, &r->problem, &r->diag);
}

/* The problem of a text that has one, and options that a test may still change. */
static inline void prepare(run *r, const char *text)
{
    dae_status status = load(r, text);
    if (status != DAE_OK) print_error("%s\n", r->diag.text);
    assert_int_equal(status, DAE_OK);
    r->options = dae_options_default();
    r->options.rtol = 1e-9;
    r->options.atol = 1e-12;
    r->options.message = note;
    r->options.user = r;
}

/* A solver for what is prepared, and its start at t. */
static inline dae_status start_at(run *r, double t)
{
    assert_int_equal(dae_solver_new(r->problem, &r->options, &r->solver, &r->diag), DAE_OK);
    return dae_solver_start(r->solver, t, NULL, NULL);
}

static inline dae_status begin(run *r, const char *text)
{
    prepare(r, text);
    return start_at(r, 0.0);
}

static inline dae_status step_to(run *r, double tend)
{
    dae_status status;
    while ((status = dae_solver_step(r->solver, tend)) > 0) r->events += status == DAE_EVENT;
    return status;
}

static inline void end(run *r)
{
    dae_solver_free(r->solver);
    dae_problem_free(r->problem);
}

static inline double value(run *r, const char *name)
{
    int i = dae_problem_find_variable(r->problem, name);
    if (i < 0) print_error("no variable %s\n", name);
    assert_true(i >= 0 && i < MOST_VALUES);
    double t = dae_solver_time(r->solver);
    assert_int_equal(dae_solver_variables(r->solver, t, r->values), DAE_OK);
    return r->values[i];
}

static inline const dae_diag *diag_of(run *r)
{
    return dae_solver_diag(r->solver);
}

/* ---- what is expected ---- */

static inline void expect_near(run *r, const char *name, double expected, double tolerance,
                               int line)
{
    double found = value(r, name);
    if (fabs(found - expected) <= tolerance) return;
    print_error("line %d: %s = %.17g, not %.17g\n", line, name, found, expected);
    fail();
}
#define NEAR(name, expected) expect_near(&r, name, expected, 1e-7, __LINE__)
#define EXACTLY(name, expected) expect_near(&r, name, expected, 0.0, __LINE__)

static inline void expect_ok(run *r, dae_status status, int line)
{
    if (status == DAE_OK) return;
    print_error("line %d: %s: %s\n", line, dae_status_name(status),
                r->solver ? diag_of(r)->text : r->diag.text);
    fail();
}
#define OK(status) expect_ok(&r, status, __LINE__)

/* All of a|b|c in the text, and nothing of what speaks of callbacks. */
static inline void expect_words(const char *text, const char *words, int line)
{
    static const char *const foreign[] = {"callback", "DAE_KIND", "equation equation", "B[", "opt.",
                                          "F[",       "y["};
    char copy[512];
    snprintf(copy, sizeof copy, "%s", words);
    for (char *word = strtok(copy, "|"); word; word = strtok(NULL, "|"))
        if (!strstr(text, word)) {
            print_error("line %d: no \"%s\" in: %s\n", line, word, text);
            fail();
        }
    for (size_t k = 0; k < sizeof foreign / sizeof *foreign; k++)
        if (strstr(text, foreign[k])) {
            print_error("line %d: \"%s\" in: %s\n", line, foreign[k], text);
            fail();
        }
}
#define WORDS(text, words) expect_words(text, words, __LINE__)

#endif
