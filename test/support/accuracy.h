/* Accuracy of every method on models whose solution is known: at the ends of steps, and between
 * them. To be included once in a program; accuracy_models.h has the models.
 *
 * What is asked of a run, in tolerances rtol |x| + atol of each variable (|x| the largest at the
 * time and at the ends of the step around it):
 *   - between the ends of steps it is off by at most 10 times the larger of 1 and its error there;
 *   - at the ends by at most MOST_AT_ENDS; DASSL to the letter, whose errors are DASSL's
 *     (test_dassl compares them), by more than that if a note says so;
 *   - or it ends with an error before. A method that refuses a model at its start does not take it.
 * There is no other exception. */
#ifndef DAE_TEST_ACCURACY_H
#define DAE_TEST_ACCURACY_H

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
#include "sanitized.h"

enum { MOST_NAMES = 8, POINTS = 200, MOST_STEPS = 4000, DEGREE = 24, PANELS = 256 };

static const double FACTOR_BETWEEN = 10.0, MOST_AT_ENDS = 1000.0;

/* A model with a known solution. Without a closed form it is that of `taylor` at 1e-17, computed in
 * quadruple precision. */
typedef struct accuracy_case {
    const char *name, *text;
    const char *const *formulations; /* up to NULL; NULL: as the method chooses */
    double stop;
    int count;
    const char *names[MOST_NAMES]; /* variables that are compared */
    /* The last of them may be multipliers, of index 2 or 3 in some formulations: no error test
     * bounds their errors at the ends of steps. */
    int multipliers;
    void (*exact)(double t, double *x);
    /* Callbacks in place of a text: the problem, and its start values. */
    dae_problem *(*make)(void);
    void (*start)(double *y, double *yp);
} accuracy_case;

/* The solution at any time: a closed form, or Chebyshev series on equal parts of [0, stop]. */
typedef struct trajectory {
    const accuracy_case *of;
    double *series; /* [part][variable][degree] */
} trajectory;

static dae_problem *accuracy_problem(const accuracy_case *c)
{
    dae_model model = {.text = c->text, .file = c->name, .engine = DAE_ENGINE_TAPE};
    dae_problem *p;
    dae_diag diag;
    if (c->make) return c->make();
    if (dae_problem_from_model(&model, &p, &diag) != DAE_OK) fail_msg("%s: %s", c->name, diag.text);
    return p;
}

/* A text has start values of its own. */
static dae_status accuracy_start(dae_solver *s, const dae_problem *p, const accuracy_case *c)
{
    if (!c->start) return dae_solver_start(s, 0.0, NULL, NULL);
    size_t n = (size_t)dae_problem_size(p);
    double *y = calloc(2 * n, sizeof *y);
    c->start(y, y + n);
    dae_status status = dae_solver_start(s, 0.0, y, y + n);
    free(y);
    return status;
}

/* x = the compared variables at t, in the last step */
static dae_status compared_values(dae_solver *s, const dae_problem *p, const accuracy_case *c,
                                  double t, double *x)
{
    double *all = malloc((size_t)dae_problem_variable_count(p) * sizeof *all);
    dae_status status = dae_solver_variables(s, t, all);
    for (int j = 0; j < c->count; j++) {
        int i = dae_problem_find_variable(p, c->names[j]);
        if (i < 0) fail_msg("%s has no variable %s", c->name, c->names[j]);
        x[j] = status == DAE_OK ? all[i] : NAN;
    }
    free(all);
    return status;
}

/* ---- references --------------------------------------------------------------------------------
 */

/* Node k of part p, in time. */
static double node_time(const accuracy_case *c, int part, int k)
{
    double x = cos(acos(-1.0) * (k + 0.5) / (DEGREE + 1));
    return c->stop * (part + 0.5 * (1.0 - x)) / PANELS;
}

/* Chebyshev coefficients in place of the values at the nodes. */
static void to_series(double *a)
{
    double v[DEGREE + 1], turn[4 * (DEGREE + 1)];
    memcpy(v, a, sizeof v);
    for (int i = 0; i < 4 * (DEGREE + 1); i++) turn[i] = cos(acos(-1.0) * i / (2 * (DEGREE + 1)));
    for (int m = 0; m <= DEGREE; m++) {
        a[m] = 0.0;
        for (int k = 0; k <= DEGREE; k++)
            a[m] += v[k] * turn[m * (2 * k + 1) % (4 * (DEGREE + 1))] * 2.0 / (DEGREE + 1);
    }
    a[0] *= 0.5;
}

static void reference_value(const trajectory *r, double t, double *x)
{
    const accuracy_case *c = r->of;
    if (c->exact) {
        c->exact(t, x);
        return;
    }
    int part = (int)(t / c->stop * PANELS);
    if (part >= PANELS) part = PANELS - 1;
    double u = 1.0 - 2.0 * (t / c->stop * PANELS - part);
    for (int j = 0; j < c->count; j++) {
        const double *a = r->series + ((size_t)part * (size_t)c->count + (size_t)j) * (DEGREE + 1);
        double b1 = 0.0, b2 = 0.0;
        for (int m = DEGREE; m > 0; m--) {
            double b = 2.0 * u * b1 - b2 + a[m];
            b2 = b1;
            b1 = b;
        }
        x[j] = u * b1 - b2 + a[0];
    }
}

/* Values of the reference run at the nodes of all parts, which increase with k. */
static void record(trajectory *r, dae_solver *s, const dae_problem *p)
{
    const accuracy_case *c = r->of;
    double x[MOST_NAMES], from, to = -1.0;
    for (int part = 0; part < PANELS; part++)
        for (int k = 0; k <= DEGREE; k++) {
            double t = node_time(c, part, k);
            while (to < t) {
                dae_status status = dae_solver_step(s, c->stop);
                if (status < 0) fail_msg("reference of %s: %s", c->name, dae_solver_diag(s)->text);
                dae_solver_last_step(s, &from, &to);
            }
            compared_values(s, p, c, t, x);
            for (int j = 0; j < c->count; j++)
                r->series[((size_t)part * (size_t)c->count + (size_t)j) * (DEGREE + 1) +
                          (size_t)k] = x[j];
        }
    for (int i = 0; i < PANELS * c->count; i++) to_series(r->series + i * (DEGREE + 1));
}

static trajectory reference_of(const accuracy_case *c, const dae_problem *p)
{
    trajectory r = {.of = c};
    if (c->exact) return r;
    r.series = malloc((size_t)(PANELS * c->count * (DEGREE + 1)) * sizeof(double));
    dae_options o = dae_options_default();
    dae_solver *s;
    o.method = "taylor";
    o.precision = DAE_PRECISION_QUAD;
    o.rtol = o.atol = 1e-17;
    o.stop_time = c->stop;
    assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
    if (accuracy_start(s, p, c) != DAE_OK)
        fail_msg("reference of %s: %s", c->name, dae_solver_diag(s)->text);
    record(&r, s, p);
    dae_solver_free(s);
    return r;
}

/* ---- one run -----------------------------------------------------------------------------------
 */

/* Largest errors of each variable in tolerances, and when. */
typedef struct found_errors {
    double ends[MOST_NAMES], between[MOST_NAMES], when[MOST_NAMES];
    dae_status status;
    long steps;
    bool told; /* that errors are those of another code */
    char text[DAE_TEXT_SIZE];
} found_errors;

typedef struct accuracy_run {
    const trajectory *reference;
    const dae_problem *problem;
    dae_solver *solver;
    double tolerance;
    found_errors found;
} accuracy_run;

/* size = the largest of |x| at t and at both ends of the step: solvers weigh a step so */
static void sizes(const accuracy_run *r, double t, double *size)
{
    const accuracy_case *c = r->reference->of;
    double at[3] = {t, t, t}, x[MOST_NAMES];
    dae_solver_last_step(r->solver, at + 1, at + 2);
    for (int j = 0; j < c->count; j++) size[j] = 0.0;
    for (int k = 0; k < 3; k++) {
        reference_value(r->reference, fmin(at[k], c->stop), x);
        for (int j = 0; j < c->count; j++) size[j] = fmax(size[j], fabs(x[j]));
    }
}

/* The errors at t join those between steps, or those at their ends. */
static dae_status look(accuracy_run *r, double t, bool end)
{
    const accuracy_case *c = r->reference->of;
    double x[MOST_NAMES], exact[MOST_NAMES], size[MOST_NAMES];
    dae_status status = compared_values(r->solver, r->problem, c, t, x);
    if (status != DAE_OK) return status;
    reference_value(r->reference, t, exact);
    sizes(r, t, size);
    for (int j = 0; j < c->count; j++) {
        double error = fabs(x[j] - exact[j]) / (r->tolerance * (1.0 + size[j]));
        double *most = (end ? r->found.ends : r->found.between) + j;
        if (error <= *most) continue;
        *most = isnan(error) ? INFINITY : error;
        if (!end) r->found.when[j] = t;
    }
    return DAE_OK;
}

/* From step to step: the points that lie in each, then its end. */
static dae_status walk(accuracy_run *r)
{
    const double stop = r->reference->of->stop;
    dae_status status = DAE_STEPPED;
    int next = 1;
    for (int k = 0; status > 0; k++) {
        if (k >= MOST_STEPS) return DAE_ERR_MAX_STEPS;
        double before = dae_solver_time(r->solver);
        status = dae_solver_step(r->solver, stop);
        if (status < 0) return status;
        double now = dae_solver_time(r->solver), from, to;
        dae_solver_last_step(r->solver, &from, &to);
        if (now == before) continue;
        /* where an event begins an update, the values before it */
        dae_status at = DAE_OK;
        for (; at == DAE_OK && next < POINTS && stop * next / POINTS <= now; next++)
            if (stop * next / POINTS < now) at = look(r, stop * next / POINTS, false);
        if (at == DAE_OK) at = look(r, now, now == to);
        if (at != DAE_OK) return at;
    }
    return DAE_OK;
}

/* A note of the run. */
static void hear(const char *text, void *user)
{
    accuracy_run *r = user;
    r->found.told = r->found.told || strstr(text, "its errors are DASSL's");
}

/* rtol = atol; false: the method does not take the model */
static bool measure(accuracy_run *r, const char *method, const char *formulation, bool cut)
{
    const accuracy_case *c = r->reference->of;
    dae_options o = dae_options_default();
    o.method = method;
    if (formulation) o.formulation = formulation;
    o.rtol = o.atol = r->tolerance;
    if (cut) o.stop_time = c->stop;
    o.message = hear;
    o.user = r;
    memset(&r->found, 0, sizeof r->found);
    if (dae_solver_new(r->problem, &o, &r->solver, NULL) != DAE_OK) return false;
    bool taken = accuracy_start(r->solver, r->problem, c) == DAE_OK;
    if (taken) r->found.status = walk(r);
    snprintf(r->found.text, sizeof r->found.text, "%s", dae_solver_diag(r->solver)->text);
    r->found.steps = dae_solver_stats(r->solver)->steps;
    dae_solver_free(r->solver);
    return taken && r->found.status != DAE_ERR_UNSUPPORTED;
}

/* ---- verdicts ----------------------------------------------------------------------------------
 */

/* What to look at: all of it, or by the arguments of the program: case, method, tolerance. */
typedef struct accuracy_choice {
    const char *name, *method;
    double tolerance;
    bool verbose;
} accuracy_choice;

static accuracy_choice chosen;

/* Explicit methods alone may all give a stiff model up. */
static bool may_give_up;

/* Number of variables that break the bounds, which are named. */
static int judge(const accuracy_run *r, const char *method, const char *formulation, bool cut)
{
    const accuracy_case *c = r->reference->of;
    const found_errors *f = &r->found;
    int bad = 0;
    for (int j = 0; j < c->count; j++) {
        bool wrong = !(f->between[j] <= FACTOR_BETWEEN * fmax(1.0, f->ends[j]));
        bool far = j < c->count - c->multipliers && !f->told && !(f->ends[j] <= MOST_AT_ENDS);
        if (wrong || far || chosen.verbose)
            print_message("%s %-12s %-11s %-18s rtol %.0e%s %-6s: %8.2g at ends, %8.2g between "
                          "(t = %.6g)%s; %ld steps %s\n",
                          wrong || far ? "BAD" : "   ", c->name, method,
                          formulation ? formulation : "", r->tolerance, cut ? "" : " (open)",
                          c->names[j], f->ends[j], f->between[j], f->when[j],
                          f->status < 0 ? " then an error" : "", f->steps,
                          chosen.verbose && f->status < 0 ? f->text : "");
        bad += wrong || far;
    }
    return bad;
}

#if SANITIZED /* the same code at a few tolerances: it is slow */
static const double tolerances[] = {1e-3, 1e-6};
#else
static const double tolerances[] = {1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-10};
#endif

/* One method at all tolerances, in turn with and without a stop time; *finished counts runs. */
static int judge_method(accuracy_run *r, const char *method, const char *formulation, int *finished)
{
    int bad = 0;
    for (size_t k = 0; k < sizeof tolerances / sizeof *tolerances; k++) {
        r->tolerance = tolerances[k];
        bool cut = k % 2 == 0;
        if (chosen.tolerance > 0.0 && fabs(chosen.tolerance / r->tolerance - 1.0) > 1e-6) continue;
        if (!measure(r, method, formulation, cut)) {
            if (chosen.verbose)
                print_message("    %s: %s does not take it: %s\n", r->reference->of->name, method,
                              r->found.text);
            break;
        }
        *finished += r->found.status == DAE_OK;
        bad += judge(r, method, formulation, cut);
    }
    return bad;
}

/* All methods that `wanted` says yes to, at all tolerances; `auto` must finish each time. */
static void judge_case(const accuracy_case *c, bool (*wanted)(int i))
{
    static const char *const any[] = {NULL, NULL};
    int bad = 0, finished = 0;
    if (chosen.name && strcmp(chosen.name, "all") != 0 && strcmp(chosen.name, c->name) != 0) return;
    dae_problem *p = accuracy_problem(c);
    trajectory reference = reference_of(c, p);
    accuracy_run r = {.reference = &reference, .problem = p};
    for (const char *const *f = c->formulations ? c->formulations : any;; f++) {
        for (int i = 0; dae_method_name(i); i++) {
            const char *method = dae_method_name(i);
            if (chosen.method ? strcmp(chosen.method, method) != 0 : !wanted(i)) continue;
            bad += judge_method(&r, method, *f, &finished);
        }
        if (!*f || !f[1]) break;
    }
    free(reference.series);
    dae_problem_free(p);
    if (chosen.verbose) print_message("%s: %d runs finished\n", c->name, finished);
    if (bad > 0) fail_msg("%s: %d times a variable is off", c->name, bad);
    if (finished == 0 && !chosen.method && !may_give_up) fail_msg("%s: no run finished", c->name);
}

static void case_holds(void **state);

/* One test for each model. */
static int run_accuracy_cases(int count, const accuracy_case *cases)
{
    struct CMUnitTest tests[64];
    for (int i = 0; i < count && i < 64; i++)
        tests[i] = (struct CMUnitTest){.name = cases[i].name,
                                       .test_func = case_holds,
                                       .initial_state = (void *)(uintptr_t)&cases[i]};
    return _cmocka_run_group_tests("accuracy", tests, (size_t)count, NULL, NULL);
}

/* Arguments: [CASE [METHOD [RTOL]]], CASE may be "all". */
static void choose(int argc, char **argv)
{
    chosen = (accuracy_choice){.name = argc > 1 ? argv[1] : NULL,
                               .method = argc > 2 ? argv[2] : NULL,
                               .tolerance = argc > 3 ? atof(argv[3]) : 0.0,
                               .verbose = argc > 1};
}

#endif
