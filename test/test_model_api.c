#define _GNU_SOURCE
/* Models from C: names, parameters, start values, texts and files, settings, messages, emitted
 * code, engines and threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daedal.h"

static const char *const decay = "model Decay \"one substance\"\n"
                                 "  parameter Real k(unit = \"1/s\") = 2;\n"
                                 "  parameter Real k2 = 2*k;\n"
                                 "  final parameter Real k3 = k + 1;\n"
                                 "  constant Real c = 7;\n"
                                 "  parameter String label = \"x\";\n"
                                 "  parameter Integer n = 3;\n"
                                 "  parameter Real ambient = 20;\n"
                                 "  Real x(unit = \"mol\", start = 1, fixed = true) \"amount\";\n"
                                 "  Real v[n](each start = 2, each fixed = true), s;\n"
                                 "equation\n"
                                 "  der(x) = -k*x;\n"
                                 "  for i in 1:n loop\n"
                                 "    der(v[i]) = -i*v[i];\n"
                                 "  end for;\n"
                                 "  s = x + k2;\n"
                                 "  annotation(experiment(StartTime = 1, StopTime = 3,\n"
                                 "                        Tolerance = 1e-5, Interval = 0.25));\n"
                                 "end Decay;\n";

static dae_problem *problem_of(const dae_model *model)
{
    dae_problem *p = NULL;
    dae_diag diag = {0};
    dae_status status = dae_problem_from_model(model, &p, &diag);
    if (status != DAE_OK) print_error("%s\n", diag.text);
    assert_int_equal(status, DAE_OK);
    return p;
}

static dae_problem *decay_problem(void)
{
    return problem_of(&(dae_model){.text = decay, .file = "decay.mo", .engine = DAE_ENGINE_TAPE});
}

static dae_solver *solver_of(const dae_problem *p)
{
    dae_solver *s = NULL;
    dae_options options = dae_options_default();
    options.rtol = 1e-9;
    options.atol = 1e-12;
    assert_int_equal(dae_solver_new(p, &options, &s, NULL), DAE_OK);
    return s;
}

static double value_of(dae_solver *s, const dae_problem *p, const char *name)
{
    double values[256];
    int i = dae_problem_find_variable(p, name);
    assert_in_range(dae_problem_variable_count(p), 1, 256);
    assert_true(i >= 0);
    assert_int_equal(dae_solver_variables(s, dae_solver_time(s), values), DAE_OK);
    return values[i];
}

static void near(double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-7 * fmax(1.0, fabs(expected))))
        print_error("%.17g, not %.17g\n", found, expected);
    assert_true(fabs(found - expected) <= 1e-7 * fmax(1.0, fabs(expected)));
}

/* ---- names ---------------------------------------------------------------------------------- */

static void test_names_units_experiment(void **state)
{
    (void)state;
    dae_problem *p = decay_problem();
    assert_string_equal(dae_problem_name(p), "Decay");
    assert_int_equal(dae_problem_variable_count(p), 5);
    int x = dae_problem_find_variable(p, "x"), v = dae_problem_find_variable(p, "v[3]");
    assert_string_equal(dae_problem_variable(p, x), "x");
    assert_string_equal(dae_problem_unit(p, x), "mol");
    assert_string_equal(dae_problem_description(p, x), "amount");
    assert_string_equal(dae_problem_unit(p, v), "");
    assert_string_equal(dae_problem_description(p, v), "");
    assert_int_equal(dae_problem_find_variable(p, "nothing"), -1);
    assert_int_equal(dae_problem_find_variable(p, NULL), -1);
    assert_null(dae_problem_variable(p, 99));
    dae_experiment e = dae_problem_experiment(p);
    assert_true(e.start == 1.0 && e.stop == 3.0 && e.tolerance == 1e-5 && e.interval == 0.25);
    dae_problem_free(p);
    p = problem_of(&(dae_model){.text = "model A Real x; equation der(x) = 1; end A;"});
    e = dae_problem_experiment(p);
    assert_true(isnan(e.start) && isnan(e.stop) && isnan(e.tolerance) && isnan(e.interval));
    dae_problem_free(p);
}

static int parameter_named(const dae_problem *p, const char *name)
{
    for (int i = 0; i < dae_problem_parameter_count(p); i++)
        if (strcmp(dae_problem_parameter(p, i), name) == 0) return i;
    return -1;
}

static void test_parameters(void **state)
{
    (void)state;
    dae_problem *p = decay_problem();
    int k = parameter_named(p, "k"), k2 = parameter_named(p, "k2"), k3 = parameter_named(p, "k3");
    assert_true(k >= 0 && k2 >= 0);
    assert_string_equal(dae_problem_parameter_unit(p, k), "1/s");
    assert_true(dae_problem_parameter_value(p, k2) == 4.0);
    assert_int_equal(dae_problem_set_parameter(p, "k", 5.0, NULL), DAE_OK);
    assert_true(dae_problem_parameter_value(p, k2) == 10.0); /* follows */
    if (k3 >= 0) assert_true(dae_problem_parameter_value(p, k3) == 6.0);
    assert_int_equal(dae_problem_set_parameter(p, "k2", 1.0, NULL), DAE_OK);
    assert_int_equal(dae_problem_set_parameter(p, "k", 3.0, NULL), DAE_OK);
    assert_true(dae_problem_parameter_value(p, k2) == 1.0); /* no longer */
    assert_true(isnan(dae_problem_parameter_value(p, -1)));
    dae_problem_free(p);
}

static void refuse(dae_problem *p, const char *name, double value, bool start, const char *word)
{
    dae_diag diag = {0};
    dae_status status = start ? dae_problem_set_start(p, name, value, &diag)
                              : dae_problem_set_parameter(p, name, value, &diag);
    assert_int_equal(status, DAE_ERR_ARGUMENT);
    if (!strstr(diag.text, word)) print_error("no \"%s\" in: %s\n", word, diag.text);
    assert_non_null(strstr(diag.text, word));
}

static void test_refused_names_and_values(void **state)
{
    (void)state;
    dae_problem *p = decay_problem();
    refuse(p, "ambeint", 1.0, false, "Did you mean ambient?");
    refuse(p, "xx[1]", 1.0, true, "no variable xx[1]");
    refuse(p, "k", NAN, false, "finite");
    refuse(p, "k", INFINITY, false, "finite");
    refuse(p, "k3", 1.0, false, "final");
    refuse(p, "c", 1.0, false, "constant");
    refuse(p, "label", 1.0, false, "String");
    refuse(p, "n", 4.0, false, "settings"); /* before the translation */
    refuse(p, "x", 1.0, false, "x");
    refuse(p, "v[4]", 1.0, true, "v[");
    refuse(p, "x", NAN, true, "finite");
    refuse(p, "k", 1.0, true, "k");
    refuse(NULL, "k", 1.0, false, "model");
    refuse(p, NULL, 1.0, false, "name");
    dae_problem_free(p);
}

/* A value that makes another parameter impossible is refused, and what was there stays. */
static void test_refused_parameter_leaves_no_trace(void **state)
{
    (void)state;
    dae_diag diag = {0};
    dae_problem *p = problem_of(&(dae_model){
        .text = "model M parameter Real a = 2; parameter Real b = 1/(a - 1); Real x(start=0);\n"
                "equation der(x) = b; end M;"});
    assert_int_equal(dae_problem_set_parameter(p, "a", 1.0, &diag), DAE_ERR_ARGUMENT);
    assert_non_null(strstr(diag.text, "Parameter b"));
    assert_true(dae_problem_parameter_value(p, parameter_named(p, "a")) == 2.0);
    assert_true(dae_problem_parameter_value(p, parameter_named(p, "b")) == 1.0);
    dae_problem_free(p);
}

static void test_values_are_seen_at_the_next_start(void **state)
{
    (void)state;
    dae_problem *p = decay_problem();
    dae_solver *s = solver_of(p);
    assert_int_equal(dae_solver_start(s, 0.0, NULL, NULL), DAE_OK);
    assert_int_equal(dae_problem_set_parameter(p, "k", 0.5, NULL), DAE_OK);
    assert_int_equal(dae_problem_set_start(p, "v[2]", 8.0, NULL), DAE_OK);
    assert_int_equal(dae_solver_run(s, 1.0, NULL, NULL), DAE_OK);
    near(value_of(s, p, "x"), exp(-2.0));
    near(value_of(s, p, "v[2]"), 2.0 * exp(-2.0));
    assert_int_equal(dae_solver_start(s, 0.0, NULL, NULL), DAE_OK);
    assert_int_equal(dae_solver_run(s, 1.0, NULL, NULL), DAE_OK);
    near(value_of(s, p, "x"), exp(-0.5));
    near(value_of(s, p, "v[2]"), 8.0 * exp(-2.0));
    near(value_of(s, p, "s"), exp(-0.5) + 1.0);
    dae_solver_free(s);
    dae_problem_free(p);
}

/* The start value of an alias reaches what stands for it; that of a discrete variable its memory.
 */
static void test_start_values_of_aliases_and_discretes(void **state)
{
    (void)state;
    dae_problem *p = problem_of(&(dae_model){
        .text = "model M\n Real x(start=1, fixed=true), y; Integer k(start=2);\nequation\n"
                "der(x) = 0; y = -x;\nwhen time > 0.5 then k = pre(k) + 1; end when; end M;"});
    assert_int_equal(dae_problem_set_start(p, "y", 3.0, NULL), DAE_OK);
    assert_int_equal(dae_problem_set_start(p, "k", 10.0, NULL), DAE_OK);
    dae_solver *s = solver_of(p);
    assert_int_equal(dae_solver_start(s, 0.0, NULL, NULL), DAE_OK);
    near(value_of(s, p, "y"), 3.0);
    near(value_of(s, p, "x"), -3.0);
    assert_int_equal(dae_solver_run(s, 1.0, NULL, NULL), DAE_OK);
    near(value_of(s, p, "k"), 11.0);
    dae_solver_free(s);
    dae_problem_free(p);
}

/* ---- texts, files, settings, sizes -------------------------------------------------------------
 */

static void test_settings_before_the_translation(void **state)
{
    (void)state;
    const dae_setting settings[] = {{"n", 7.0}, {"k", 1.5}};
    dae_problem *p = problem_of(&(dae_model){.text = decay, .settings = settings, .n_settings = 2});
    assert_int_equal(dae_problem_variable_count(p), 9);
    assert_true(dae_problem_parameter_value(p, parameter_named(p, "k2")) == 3.0);
    dae_problem_free(p);
    const dae_setting wrong[] = {{"ambeint", 1.0}};
    dae_diag diag = {0};
    dae_model model = {.text = decay, .settings = wrong, .n_settings = 1};
    assert_true(dae_problem_from_model(&model, &p, &diag) < 0);
    assert_null(p);
    assert_non_null(strstr(diag.text, "ambeint"));
    assert_non_null(strstr(diag.text, "ambient"));
    model.settings = &(dae_setting){"k", NAN};
    assert_int_equal(dae_problem_from_model(&model, &p, &diag), DAE_ERR_ARGUMENT);
    model.settings = NULL;
    assert_int_equal(dae_problem_from_model(&model, &p, &diag), DAE_ERR_ARGUMENT);
}

static void test_text_in_memory_and_in_a_file(void **state)
{
    (void)state;
    char path[] = "/tmp/daedal-test-XXXXXX";
    int handle = mkstemp(path);
    assert_true(handle >= 0);
    FILE *file = fdopen(handle, "w");
    fputs(decay, file);
    fclose(file);
    dae_problem *from_file = NULL, *from_text = decay_problem(), *counted = NULL;
    dae_diag diag = {0};
    assert_int_equal(dae_problem_from_file(path, &from_file, &diag), DAE_OK);
    size_t length = strlen(decay);
    char *longer = malloc(length + 8);
    memcpy(longer, decay, length);
    memcpy(longer + length, "garbage", 8);
    counted = problem_of(&(dae_model){.text = longer, .length = length});
    free(longer);
    assert_int_equal(dae_problem_size(from_file), dae_problem_size(from_text));
    assert_int_equal(dae_problem_size(counted), dae_problem_size(from_text));
    remove(path);
    dae_problem_free(from_file);
    dae_problem_free(from_text);
    dae_problem_free(counted);
    assert_int_equal(dae_problem_from_file(path, &from_file, &diag), DAE_ERR_FILE);
    assert_non_null(strstr(diag.text, path));
    assert_null(from_file);
    assert_int_equal(dae_problem_from_file("/", &from_file, &diag), DAE_ERR_FILE);
    assert_int_equal(dae_problem_from_file(NULL, &from_file, &diag), DAE_ERR_ARGUMENT);
}

static void test_size_tag(void **state)
{
    (void)state;
    dae_model model = {.text = "model A Real x; equation der(x) = 1; end A;",
                       .engine = (dae_engine)99};
    dae_problem *p = NULL;
    dae_diag diag = {0};
    assert_int_equal(dae_problem_from_model(&model, &p, &diag), DAE_ERR_ARGUMENT);
    /* one who does not know of engines yet */
    assert_int_equal(dae_problem_from_model_sized(&model, offsetof(dae_model, engine), &p, &diag),
                     DAE_OK);
    dae_problem_free(p);
    assert_int_equal(dae_problem_from_model_sized(&model, 0, &p, &diag), DAE_ERR_ARGUMENT);
    assert_int_equal(dae_problem_from_model_sized(&model, sizeof model + 8, &p, &diag),
                     DAE_ERR_ARGUMENT);
    assert_int_equal(dae_problem_from_model_sized(NULL, sizeof model, &p, &diag), DAE_ERR_ARGUMENT);
    assert_int_equal(dae_problem_from_model_sized(&model, sizeof model, NULL, &diag),
                     DAE_ERR_ARGUMENT);
    assert_int_equal(dae_problem_from_model(&(dae_model){0}, &p, &diag), DAE_ERR_ARGUMENT);
}

static void collect(const char *text, void *user)
{
    char *all = user;
    snprintf(all + strlen(all), 4096 - strlen(all), "%s", text);
}

static void test_messages(void **state)
{
    (void)state;
    char all[4096] = "";
    dae_problem *p = NULL;
    dae_diag diag = {0};
    dae_model model = {.text =
                           "model A\n  Real x;\nequation\n  der(x) = yy;\n  foo(x) = 1;\nend A;\n",
                       .file = "a.mo",
                       .message = collect,
                       .user = all};
    assert_int_equal(dae_problem_from_model(&model, &p, &diag), DAE_ERR_MODEL);
    assert_null(p);
    assert_non_null(strstr(all, "a.mo:4:"));
    assert_non_null(strstr(all, "a.mo:5:")); /* all of them */
    assert_int_equal(diag.line, 4);
    assert_non_null(strstr(diag.text, "a.mo:4:"));
    assert_non_null(strstr(diag.text, "more error"));
}

/* ---- emitted code ---------------------------------------------------------------------------- */

typedef void (*program)(double t, const double *y, const double *yp, const double *ypp,
                        const double *p, const double *m, double *out);

static void run_command(const char *format, const char *a, const char *b)
{
    char command[512];
    snprintf(command, sizeof command, format, a, b);
    assert_int_equal(system(command), 0);
}

/* The emitted text compiles without a warning, and its residual is that of the library to the last
 * bit: a problem from the compiled function takes the same steps. */
static program emitted;
static const double *emitted_parameters;

static int emitted_residual(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)user;
    emitted(t, y, yp, NULL, emitted_parameters, NULL, f);
    return 0;
}

static void test_emitted_code(void **state)
{
    (void)state;
    static const char *const text =
        "model M parameter Real k = 2; parameter Real q = k/3;\n"
        "Real x(start=1, fixed=true), y(start=0.5, fixed=true), z(start=1);\nequation\n"
        "der(x) = -k*x + sin(y)*z; der(y) = exp(-x) - q*y^3; z^2 + x = 4 + atan2(y, x); end M;";
    dae_problem *p = problem_of(&(dae_model){.text = text, .engine = DAE_ENGINE_TAPE});
    char *code = dae_problem_emit(p);
    assert_non_null(code);
    char directory[] = "/tmp/daedal-emit-XXXXXX", path[128];
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/m.c", directory);
    FILE *file = fopen(path, "w");
    fputs(code, file);
    fclose(file);
    dae_text_free(code);
    run_command("gcc -std=c11 -O2 -ffp-contract=off -Wall -Wextra -Werror -fPIC -shared %s -o "
                "%s/m.so -lm",
                path, directory);
    snprintf(path, sizeof path, "%s/m.so", directory);
    void *handle = dlopen(path, RTLD_NOW);
    assert_non_null(handle);
    void *symbol = dlsym(handle, "model_residual");
    assert_non_null(symbol);
    memcpy(&emitted, &symbol, sizeof symbol);

    enum { N = 3 };
    double parameters[8], y0[N] = {1.0, 0.5, 1.0}, ends[2][N];
    for (int i = 0; i < dae_problem_parameter_count(p); i++)
        parameters[i] = dae_problem_parameter_value(p, i);
    emitted_parameters = parameters;
    assert_int_equal(dae_problem_size(p), N);
    dae_problem *by_hand = NULL;
    dae_residual description = {.n = N, .f = emitted_residual};
    assert_int_equal(dae_problem_from_residual(&description, &by_hand, NULL), DAE_OK);
    const dae_problem *both[2] = {p, by_hand};
    for (int k = 0; k < 2; k++) { /* two Jacobians, one solution */
        dae_solver *s = solver_of(both[k]);
        assert_int_equal(dae_solver_start(s, 0.0, y0, NULL), DAE_OK);
        assert_int_equal(dae_solver_run(s, 1.0, ends[k], NULL), DAE_OK);
        dae_solver_free(s);
    }
    for (int i = 0; i < N; i++) near(ends[0][i], ends[1][i]);
    dae_problem_free(by_hand);
    dlclose(handle);
    run_command("rm -r %s%s", directory, "");
    dae_problem_free(p);
    assert_null(dae_problem_emit(NULL));
}

/* ---- threads --------------------------------------------------------------------------------- */

typedef struct job {
    const dae_problem *problem;
    double end[3];
    dae_status status;
} job;

static void *work(void *argument)
{
    job *j = argument;
    dae_solver *s = NULL;
    j->status = dae_solver_new(j->problem, NULL, &s, NULL);
    for (int k = 0; k < 20 && j->status == DAE_OK; k++) {
        j->status = dae_solver_start(s, 0.0, NULL, NULL);
        if (j->status == DAE_OK) j->status = dae_solver_run(s, 3.0, NULL, NULL);
    }
    if (j->status == DAE_OK) j->status = dae_solver_variables(s, 3.0, j->end);
    dae_solver_free(s);
    return NULL;
}

static void test_two_threads(void **state)
{
    (void)state;
    dae_problem *p = problem_of(&(dae_model){
        .text = "model Ball Real h(start=1, fixed=true), v(start=0, fixed=true);\n"
                "Integer n(start=0);\nequation\nder(h) = v; der(v) = -9.81;\n"
                "when h <= 0 then reinit(v, -0.8*pre(v)); n = pre(n) + 1; end when; end Ball;"});
    job jobs[2] = {{.problem = p}, {.problem = p}};
    pthread_t threads[2];
    for (int k = 0; k < 2; k++)
        assert_int_equal(pthread_create(&threads[k], NULL, work, &jobs[k]), 0);
    for (int k = 0; k < 2; k++) pthread_join(threads[k], NULL);
    assert_int_equal(jobs[0].status, DAE_OK);
    assert_int_equal(jobs[1].status, DAE_OK);
    assert_memory_equal(jobs[0].end, jobs[1].end, sizeof jobs[0].end);
    assert_true(jobs[0].end[2] == 6.0);
    dae_problem_free(p);
}

/* ---- engines --------------------------------------------------------------------------------- */

typedef struct trace {
    double sums[4];
    long count;
} trace;

static void note_step(const dae_step_info *info, void *user)
{
    trace *t = user;
    double weight = (double)(++t->count % 97 + 1);
    t->sums[0] += weight * info->t;
    t->sums[1] += weight * info->h;
    t->sums[2] += weight * (isnan(info->error) ? 0.5 : info->error);
    t->sums[3] += weight * info->order;
}

/* The same attempts, tape or native, also where events, discrete variables and initial equations
 * are involved. */
static void test_engines_agree(void **state)
{
    (void)state;
    static const char *const text =
        "model M parameter Real p(fixed=false, start=1);\n"
        "Real x(start=1), y(start=1), q(start=0, fixed=true); Integer n(start=0); Boolean up;\n"
        "initial equation der(x) = -2;\nequation\n"
        "der(x) = -p*x + n; y^2 = 1 + x^2; der(q) = y; up = sin(10*time) > 0.3*x;\n"
        "when {up, sample(0, 0.125)} then n = mod(pre(n) + 1, 3); reinit(x, x/2 + 0.1); end when;\n"
        "end M;";
    trace traces[2] = {{.count = 0}};
    double ends[2][8] = {{0}};
    for (int k = 0; k < 2; k++) {
        char messages[4096] = "";
        dae_model model = {.text = text,
                           .engine = k ? DAE_ENGINE_NATIVE : DAE_ENGINE_TAPE,
                           .message = collect,
                           .user = messages};
        dae_problem *p = problem_of(&model);
        dae_solver *s = NULL;
        dae_options options = dae_options_default();
        options.monitor = note_step;
        options.user = &traces[k];
        assert_int_equal(dae_solver_new(p, &options, &s, NULL), DAE_OK);
        dae_status status = dae_solver_start(s, 0.0, NULL, NULL);
        if (status == DAE_OK) status = dae_solver_run(s, 2.0, NULL, NULL);
        if (status != DAE_OK) print_error("%s\n", dae_solver_diag(s)->text);
        assert_int_equal(status, DAE_OK);
        assert_in_range(dae_problem_variable_count(p), 5, 8);
        assert_int_equal(dae_solver_variables(s, 2.0, ends[k]), DAE_OK);
        dae_solver_free(s);
        dae_problem_free(p);
    }
    assert_int_equal(traces[0].count, traces[1].count);
    assert_memory_equal(traces[0].sums, traces[1].sums, sizeof traces[0].sums);
    assert_memory_equal(ends[0], ends[1], sizeof ends[0]);
}

/* ---- goals ----------------------------------------------------------------------------------- */

static void test_stop_before_start(void **state)
{
    (void)state;
    dae_problem *p = decay_problem();
    dae_solver *s = NULL;
    dae_options options = dae_options_default();
    options.stop_time = 1.0;
    assert_int_equal(dae_solver_new(p, &options, &s, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(s, 2.0, NULL, NULL), DAE_OK);
    assert_int_equal(dae_solver_run(s, 3.0, NULL, NULL), DAE_ERR_ARGUMENT);
    assert_non_null(strstr(dae_solver_diag(s)->text, "stop time"));
    assert_int_equal(dae_solver_start(s, NAN, NULL, NULL), DAE_ERR_ARGUMENT);
    assert_int_equal(dae_solver_variables(s, 0.0, (double[8]){0}), DAE_ERR_STATE);
    dae_solver_free(s);
    dae_problem_free(p);
}

/* Backwards without events; a model may run either way. */
static void test_backwards(void **state)
{
    (void)state;
    dae_problem *p = decay_problem();
    dae_solver *s = solver_of(p);
    assert_int_equal(dae_solver_start(s, 0.0, NULL, NULL), DAE_OK);
    assert_int_equal(dae_solver_run(s, -1.0, NULL, NULL), DAE_OK);
    near(value_of(s, p, "x"), exp(2.0));
    dae_solver_free(s);
    dae_problem_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_units_experiment),
        cmocka_unit_test(test_parameters),
        cmocka_unit_test(test_refused_names_and_values),
        cmocka_unit_test(test_refused_parameter_leaves_no_trace),
        cmocka_unit_test(test_values_are_seen_at_the_next_start),
        cmocka_unit_test(test_start_values_of_aliases_and_discretes),
        cmocka_unit_test(test_settings_before_the_translation),
        cmocka_unit_test(test_text_in_memory_and_in_a_file),
        cmocka_unit_test(test_size_tag),
        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_emitted_code),
        cmocka_unit_test(test_two_threads),
        cmocka_unit_test(test_engines_agree),
        cmocka_unit_test(test_stop_before_start),
        cmocka_unit_test(test_backwards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
