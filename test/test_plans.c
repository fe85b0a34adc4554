/* Plans are kept with their problem: what depends on the model, its mode and its structure is made
 * once, for all solvers, starts and events. What is found again gives the bits, and the words, of a
 * problem that is fresh. */
#define _POSIX_C_SOURCE 200809L
#include "model_run.h"
#include "sanitized.h"

#include <dirent.h>
#include <pthread.h>

#include "model/model.h"
#include "problem/residual.h"

/* ---- counts ---- */

static plan_counts counts_of(const dae_problem *problem)
{
    return problem->model->counts;
}

/* Analyses since the last time that they were counted */
static long analyses_since(const dae_problem *problem, long *before)
{
    long now = counts_of(problem).analyses, made = now - *before;
    *before = now;
    return made;
}

#define PENDULUM                                                                                   \
    MODEL("  parameter Real m = 1, g = 9.81, L = 1;\n"                                             \
          "  Real x(start = 1, fixed = true), y(start = 0), vx(start = 0, fixed = true), vy, l;\n" \
          "equation\n"                                                                             \
          "  der(x) = vx; der(y) = vy;\n"                                                          \
          "  m*der(vx) = -l*x; m*der(vy) = -l*y - m*g;\n"                                          \
          "  x^2 + y^2 = L^2;")

/* Capacitors in a loop: the index shows only in numbers, and equations are rewritten. */
#define LOOP                                                                                       \
    MODEL("  parameter Real C = 2, R = 1;\n  Real u(start = 1, fixed = true), w, i, j;\n"          \
          "equation\n"                                                                             \
          "  C*(der(u) - der(w)) = i; C*(der(w) - der(u)) = -i - j + w/R;\n"                       \
          "  j = 0; i + u/R = sin(time);")

/* A switch that changes the index: the position is free, or held. */
#define CATCH                                                                                      \
    MODEL("  parameter Real k = 3;\n  Real x(start = 1, fixed = true), v(start = 0, fixed = "      \
          "true), f;\n  Boolean held(start = false, fixed = true);\nequation\n"                    \
          "  der(x) = v; der(v) = -k*x + f;\n"                                                     \
          "  0 = if held then v else f;\n"                                                         \
          "  when {x < 0, time > 1.5} then\n    held = not pre(held);\n"                           \
          "    reinit(v, 0);\n  end when;")

/* A constraint twice */
#define TWICE                                                                                      \
    MODEL("  parameter Real g = 1;\n  Real x(start = 0.6, fixed = true), y(start = 0.8), "         \
          "vx(start = 0, fixed = true), vy, "                                                      \
          "k, l;\nequation\n  der(x) = vx; der(y) = vy;\n"                                         \
          "  der(vx) = -2*x*k - 4*x*l; der(vy) = -g - 2*y*k - 4*y*l;\n"                            \
          "  x^2 + y^2 = 1; 2*x^2 + 2*y^2 = 2;")

static const char *const texts[] = {
    PENDULUM, LOOP,
    MODEL("  parameter Real a = 2;\n  Real x(start = 1, fixed = true), y;\nequation\n"
          "  der(x) = -y;\n  y = a*x;")};
enum { TEXTS = sizeof texts / sizeof *texts };

static const char *const methods[] = {"auto", "radau", "bdf", "taylor"};
enum { METHODS = sizeof methods / sizeof *methods };

/* The second solver of a problem, and the second start of one, analyse nothing. */
static void second_solver_analyses_nothing(void **unused)
{
    (void)unused;
    for (int i = 0; i < TEXTS * METHODS; i++) {
        run r;
        prepare(&r, texts[i / METHODS]);
        r.options.method = methods[i % METHODS];
        long before = 0;
        dae_solver *other = NULL;
        OK(start_at(&r, 0.0));
        assert_true(analyses_since(r.problem, &before) > 0);
        long forms = counts_of(r.problem).forms;
        r.options.rtol = 1e-6; /* touches no structure */
        OK(dae_solver_new(r.problem, &r.options, &other, &r.diag));
        OK(dae_solver_start(other, 0.0, NULL, NULL));
        OK(dae_solver_start(other, 0.0, NULL, NULL));
        OK(dae_solver_start(r.solver, 0.0, NULL, NULL));
        assert_int_equal(analyses_since(r.problem, &before), 0);
        assert_int_equal(counts_of(r.problem).forms, forms);
        dae_solver_free(other);
        end(&r);
    }
}

/* Each mode is analysed once for all solvers that come to it in the same way. */
static void modes_are_found_again(void **unused)
{
    (void)unused;
    run r;
    long before = 0;
    double x[3];
    prepare(&r, CATCH);
    for (int k = 0; k < 3; k++) {
        OK(start_at(&r, 0.0));
        OK(step_to(&r, 3.0));
        x[k] = value(&r, "x");
        long made = analyses_since(r.problem, &before);
        assert_true(k == 0 ? made >= 2 : made == 0);
        dae_solver_free(r.solver);
    }
    r.solver = NULL;
    assert_true(x[0] == x[1] && x[0] == x[2]);
    end(&r);
}

/* A solver that has made many steps in starts before begins as a new one: steps of Taylor series
 * are counted from the start. */
static void many_starts_of_one_solver(void **unused)
{
    (void)unused;
    run r;
    prepare(&r, MODEL("Real x(start=1, fixed=true), y(start=0), vx(start=0, fixed=true), vy, l;\n"
                      "equation\nder(x) = vx; der(y) = vy;\n"
                      "der(vx) = -l*(x + 0.2*y); der(vy) = -l*y - 9.81; x^2 + y^2 = 1;"));
    for (long steps = 0; steps < 700; steps = dae_solver_stats(r.solver)->steps) {
        OK(steps == 0 ? start_at(&r, 0.0) : dae_solver_start(r.solver, 0.0, NULL, NULL));
        OK(step_to(&r, 10.0));
        assert_string_equal(dae_solver_method(r.solver), "taylor");
    }
    end(&r);
}

/* Other wishes are other plans. */
static void wishes_are_part_of_the_key(void **unused)
{
    (void)unused;
    static const char *const asked[] = {"index1", "ggl", "baumgarte", "baumgarte:7"};
    run r;
    long before = 0;
    prepare(&r, PENDULUM);
    r.options.method = "bdf";
    for (int round = 0; round < 2; round++)
        for (int k = 0; k < 4; k++) {
            r.options.formulation = asked[k];
            OK(start_at(&r, 0.0));
            long made = analyses_since(r.problem, &before);
            assert_true(round == 0 ? made > 0 : made == 0);
            dae_solver_free(r.solver);
        }
    r.solver = NULL;
    end(&r);
}

/* Many plans: those that were not used for the longest go, none that is in use does. */
static void store_is_bounded(void **unused)
{
    (void)unused;
    enum { MANY = 200 };
    run r;
    long before = 0;
    prepare(&r, PENDULUM);
    OK(start_at(&r, 0.0));
    dae_solver *first = r.solver;
    for (int k = 0; k < MANY; k++) {
        OK(start_at(&r, 0.01 * k));
        dae_solver_free(r.solver);
    }
    analyses_since(r.problem, &before);
    OK(start_at(&r, 0.01 * (MANY - 1))); /* the last one is there */
    dae_solver_free(r.solver);
    assert_int_equal(analyses_since(r.problem, &before), 0);
    r.solver = first;
    OK(step_to(&r, 1.0));
    end(&r);
}

/* ---- parameters ---- */

/* A text, a parameter, its other value, and what that comes to: no analysis (KEEPS), a new one
 * (CHANGES), or either. */
typedef enum outcome { KEEPS, CHANGES, EITHER } outcome;
typedef struct change {
    const char *text, *name;
    double value;
    outcome outcome;
} change;

#define DIVIDED                                                                                    \
    MODEL("  parameter Real m = 2, g = 9.81;\n"                                                    \
          "  Real x(start = 1, fixed = true), y(start = 0), vx(start = 0, fixed = true), vy, l;\n" \
          "equation\n  der(x) = vx; der(y) = vy;\n"                                                \
          "  der(vx) = -l*x/m; der(vy) = -l*y/m - g;\n  x^2 + y^2 = 1;")

/* Two masses that a gain couples; with other signs, or without it, the matrix is another one. */
#define COUPLED                                                                                    \
    MODEL("  parameter Real a = 0.5, b = 0.5, m = 2;\n"                                            \
          "  Real x(start = 0.6, fixed = true), y(start = 0.8), z(start = 0, fixed = true);\n"     \
          "  Real vx(start = 0, fixed = true), vy, vz(start = 1, fixed = true), l;\nequation\n"    \
          "  der(x) = vx; der(y) = vy; der(z) = vz;\n"                                             \
          "  m*der(vx) + a*der(vz) = -2*l*x; m*der(vy) = -2*l*y - m;\n"                            \
          "  b*der(vx) + 3*der(vz) = -z;\n  x^2 + y^2 = 1;")

/* The force is divided by s, unless that is zero and the force another one's. */
#define DEFINED                                                                                    \
    MODEL("  parameter Real s = 2;\n"                                                              \
          "  Real x(start = 0.6, fixed = true), y(start = 0.8), vx(start = 0, fixed = true), vy, " \
          "l, f, w;\nequation\n  der(x) = vx; der(y) = vy;\n"                                      \
          "  der(vx) = -2*l*x + f; der(vy) = -2*l*y - 1;\n"                                        \
          "  s*f + w = -x; f - 2*w = 0.1;\n  x^2 + y^2 = 1;")

/* With a = 0 the algebraic variable is a multiplier, and the index 3. */
#define HELD                                                                                       \
    MODEL("  parameter Real a = 1, c = 1;\n  Real x, v, z;\nequation\n"                            \
          "  der(x) = v; der(v) = -z;\n  a*z = c*x - cos(time);")

/* c = 0: one equation loses its variable, and the model determines nothing. */
#define CHAIN                                                                                      \
    MODEL("  parameter Real c = 2, d = 1;\n  Real x(start = 1, fixed = true), y, z;\nequation\n"   \
          "  der(x) = -y;\n  c*y + d*z = x; d*y + z = sin(time);")

/* Capacitors of two sizes: equations are combined with these as factors. */
#define WEIGHTED                                                                                   \
    MODEL("  parameter Real C = 2, D = 5;\n  Real u(start = 1, fixed = true), w, i, j;\n"          \
          "equation\n"                                                                             \
          "  C*(der(u) - der(w)) = i; D*(der(w) - der(u)) = -i - j + w;\n"                         \
          "  j = 0; i + u = sin(time);")

/* The rewriting is right for one sign of p only. */
#define PIECES                                                                                     \
    MODEL("  parameter Real p = 2;\n  Real u(start = 1, fixed = true), w, i, j;\nequation\n"       \
          "  2*(der(u) - der(w)) = i;\n"                                                           \
          "  2*(der(w) - (if p > 0 then 1 else 2)*der(u)) = -i - j + w;\n"                         \
          "  j = 0; i + u = sin(time);")

/* With p = 0 it is a mechanism, else the mass depends on the speed. */
#define SPEEDY(p)                                                                                  \
    MODEL("  parameter Real p = " p ";\n"                                                          \
          "  Real x(start = 0.6, fixed = true), y(start = 0.8), vx(start = 0, fixed = true), vy, " \
          "l;\nequation\n  der(x) = vx; der(y) = vy;\n"                                            \
          "  (2 + p*vx)*der(vx) = -2*l*x; 2*der(vy) = -2*l*y - 1;\n  x^2 + y^2 = 1;")

#define SIZED                                                                                      \
    MODEL("  parameter Real big = 100;\n  Real x(start = 1, fixed = true, nominal = big), y;\n"    \
          "equation\n  der(x) = -y;\n  y = x*x;")

static const change changes[] = {
    {SPEEDY("0.5"), "p", 0.0, CHANGES}, {SPEEDY("0"), "p", 0.5, CHANGES},
    {SPEEDY("0.5"), "p", 0.25, KEEPS},  {PENDULUM, "g", 3.0, KEEPS},
    {PENDULUM, "m", 5.0, KEEPS},        {PENDULUM, "L", 1.5, KEEPS},
    {PENDULUM, "m", 0.0, CHANGES},      {PENDULUM, "L", 0.0, EITHER},
    {PENDULUM, "m", -1.0, EITHER},      {DIVIDED, "g", 3.0, KEEPS},
    {DIVIDED, "m", 3.0, CHANGES},       {COUPLED, "a", 0.25, CHANGES},
    {COUPLED, "a", 0.0, CHANGES},       {COUPLED, "b", -0.5, CHANGES},
    {COUPLED, "m", 3.0, KEEPS},         {COUPLED, "m", 0.01, EITHER},
    {DEFINED, "s", 3.0, KEEPS},         {DEFINED, "s", 0.0, CHANGES},
    {DEFINED, "s", -0.5, CHANGES},      {HELD, "a", 2.0, KEEPS},
    {HELD, "a", 0.0, CHANGES},          {HELD, "c", 0.0, EITHER},
    {CHAIN, "c", 3.0, KEEPS},           {CHAIN, "d", 0.0, EITHER},
    {CHAIN, "c", 1.0, CHANGES},         {CHAIN, "c", 0.0, EITHER},
    {SIZED, "big", 0.5, CHANGES},       {LOOP, "R", 3.0, KEEPS},
    {LOOP, "C", 0.0, CHANGES},          {LOOP, "C", 5.0, KEEPS},
    {WEIGHTED, "C", 3.0, CHANGES},      {WEIGHTED, "C", 0.0, CHANGES},
    {PIECES, "p", -1.0, CHANGES},       {CATCH, "k", 5.0, KEEPS},
    {TWICE, "g", 2.0, EITHER}};
enum { CHANGES_COUNT = sizeof changes / sizeof *changes };

/* What a run of a small model leaves behind, to the last bit */
typedef struct small_trace {
    dae_status status;
    double values[MOST_VALUES];
    long steps;
    char text[DAE_TEXT_SIZE], messages[MESSAGES], method[40];
} small_trace;

static void run_small(run *r, small_trace *t)
{
    memset(t, 0, sizeof *t);
    r->messages[0] = 0;
    t->status = dae_solver_start(r->solver, 0.0, NULL, NULL);
    if (t->status == DAE_OK) t->status = step_to(r, 0.7);
    if (t->status == DAE_OK) dae_solver_variables(r->solver, 0.7, t->values);
    t->steps = dae_solver_stats(r->solver)->steps;
    snprintf(t->text, sizeof t->text, "%s", diag_of(r)->text);
    snprintf(t->messages, sizeof t->messages, "%s", r->messages);
    snprintf(t->method, sizeof t->method, "%s", dae_solver_method(r->solver));
}

static void expect_same(const change *c, const char *how, const small_trace *a,
                        const small_trace *b)
{
    if (memcmp(a, b, sizeof *a) == 0) return;
    print_error("%s = %g, %s: %s %d %ld %.17g %s %s\nagainst %s %d %ld %.17g %s %s\n%s\n", c->name,
                c->value, how, a->method, a->status, a->steps, a->values[0], a->text, a->messages,
                b->method, b->status, b->steps, b->values[0], b->text, b->messages, c->text);
    fail();
}

static void expect_outcome(const change *c, long made)
{
    bool fits = c->outcome == EITHER || (made == 0) == (c->outcome == KEEPS);
    if (!fits) print_error("%s = %g: %ld analyses\n%s\n", c->name, c->value, made, c->text);
    assert_true(fits);
}

/* A parameter that is set between two starts of a solver, or between two solvers, against a fresh
 * problem with that value; then back again. */
static void change_and_compare(const change *c, const char *method)
{
    static small_trace first, fresh, again, other, back;
    run r, alone;
    long before = 0;
    prepare(&alone, c->text);
    alone.options.method = method;
    OK(dae_problem_set_parameter(alone.problem, c->name, c->value, NULL));
    assert_int_equal(dae_solver_new(alone.problem, &alone.options, &alone.solver, NULL), DAE_OK);
    run_small(&alone, &fresh);
    prepare(&r, c->text);
    r.options.method = method;
    double value = NAN;
    for (int k = 0; k < dae_problem_parameter_count(r.problem); k++)
        if (strcmp(dae_problem_parameter(r.problem, k), c->name) == 0)
            value = dae_problem_parameter_value(r.problem, k);
    assert_int_equal(dae_solver_new(r.problem, &r.options, &r.solver, &r.diag), DAE_OK);
    run_small(&r, &first);
    analyses_since(r.problem, &before);
    OK(dae_problem_set_parameter(r.problem, c->name, c->value, NULL));
    run_small(&r, &again);
    if (strcmp(method, "auto") == 0) expect_outcome(c, analyses_since(r.problem, &before));
    dae_solver_free(r.solver);
    assert_int_equal(dae_solver_new(r.problem, &r.options, &r.solver, &r.diag), DAE_OK);
    run_small(&r, &other);
    OK(dae_problem_set_parameter(r.problem, c->name, value, NULL));
    run_small(&r, &back);
    other.steps = again.steps = fresh.steps = first.steps = back.steps = 0; /* they add up */
    expect_same(c, "second start", &again, &fresh);
    expect_same(c, "second solver", &other, &fresh);
    expect_same(c, "and back", &back, &first);
    end(&alone);
    end(&r);
}

static void parameters_between_starts_and_solvers(void **unused)
{
    (void)unused;
    for (int k = 0; k < CHANGES_COUNT; k++)
        for (int i = 0; i < METHODS; i++) change_and_compare(&changes[k], methods[i]);
}

/* Modes that another solver has met at other points */
static void modes_with_other_parameters(void **unused)
{
    (void)unused;
    run r;
    long before = 0;
    prepare(&r, CATCH);
    for (int k = 0; k < 4; k++) {
        OK(dae_problem_set_parameter(r.problem, "k", 3.0 + k, NULL));
        OK(start_at(&r, 0.0));
        OK(step_to(&r, 3.0));
        long made = analyses_since(r.problem, &before);
        assert_true(k == 0 ? made >= 2 : made == 0);
        dae_solver_free(r.solver);
    }
    r.solver = NULL;
    end(&r);
}

/* ---- words ---- */

static void second_solver_says_the_same(void **unused)
{
    (void)unused;
    for (int i = 0; i < METHODS; i++) {
        run r;
        char first[MESSAGES];
        prepare(&r, TWICE);
        r.options.method = methods[i];
        for (int k = 0; k < 3; k++) {
            r.messages[0] = 0;
            start_at(&r, 0.0);
            if (k == 2) {
                r.messages[0] = 0;
                dae_solver_start(r.solver, 0.0, NULL, NULL);
            }
            if (k == 0) snprintf(first, sizeof first, "%s", r.messages);
            assert_string_equal(first, r.messages);
            dae_solver_free(r.solver);
        }
        WORDS(first, "follow from the others");
        r.solver = NULL;
        end(&r);
    }
}

/* ---- the corpus: the bits of a fresh problem ---- */

enum { PATH = 1024, STEPS = 25, MOST = 512 };

/* What a run leaves behind */
typedef struct trace {
    dae_status status;
    double t;
    long steps, events;
    double y[MOST];
    char text[DAE_TEXT_SIZE];
} trace;

static const char *models_directory(void)
{
    static char path[PATH];
    const char *slash = strrchr(__FILE__, '/');
    snprintf(path, sizeof path, "%.*s../models/", slash ? (int)(slash - __FILE__) + 1 : 0,
             __FILE__);
    return path;
}

static dae_problem *open_model(const char *name)
{
    char path[2 * PATH];
    dae_problem *problem = NULL;
    dae_diag diag = {0};
    snprintf(path, sizeof path, "%s%s", models_directory(), name);
    dae_model model = {.file = path, .engine = DAE_ENGINE_TAPE};
    if (dae_problem_from_model(&model, &problem, &diag) != DAE_OK) print_error("%s\n", diag.text);
    assert_non_null(problem);
    return problem;
}

/* A few steps of a solver of one's own */
static void trace_run(const dae_problem *problem, trace *r)
{
    dae_options options = dae_options_default();
    dae_solver *s = NULL;
    memset(r, 0, sizeof *r);
    options.rtol = options.atol = 1e-5;
    r->status = dae_solver_new(problem, &options, &s, NULL);
    if (r->status == DAE_OK) r->status = dae_solver_start(s, 0.0, NULL, NULL);
    dae_experiment about = dae_problem_experiment(problem);
    double tend = about.stop > 0.0 ? about.stop : 1.0;
    for (int k = 0; k < STEPS && r->status >= 0; k++) {
        r->status = dae_solver_step(s, tend);
        if (r->status == DAE_OK) break;
    }
    if (s) {
        snprintf(r->text, sizeof r->text, "%s", dae_solver_diag(s)->text);
        r->t = dae_solver_time(s);
        r->steps = dae_solver_stats(s)->steps;
        r->events = dae_solver_stats(s)->events;
        if (dae_problem_variable_count(problem) <= MOST && r->status >= 0)
            dae_solver_variables(s, r->t, r->y);
    }
    dae_solver_free(s);
}

static bool same_trace(const trace *a, const trace *b, const char *name, const char *what)
{
    if (memcmp(a, b, sizeof *a) == 0) return true;
    print_error("%s, %s: %d %.17g %ld %s against %d %.17g %ld %s\n", name, what, a->status, a->t,
                a->steps, a->text, b->status, b->t, b->steps, b->text);
    return false;
}

/* A parameter set between two solvers against a fresh problem with that value */
static bool compare_changed(const char *name, int parameter, double factor)
{
    static trace kept, fresh;
    dae_problem *old = open_model(name), *other = open_model(name);
    const char *parameter_name = dae_problem_parameter(old, parameter);
    double value = factor * dae_problem_parameter_value(old, parameter);
    trace_run(old, &kept);
    bool ok = true;
    if (dae_problem_set_parameter(old, parameter_name, value, NULL) == DAE_OK &&
        dae_problem_set_parameter(other, parameter_name, value, NULL) == DAE_OK) {
        trace_run(old, &kept);
        trace_run(other, &fresh);
        ok = same_trace(&kept, &fresh, name, parameter_name);
    }
    dae_problem_free(old);
    dae_problem_free(other);
    return ok;
}

static bool compare_model(const char *name)
{
    static trace first, second;
    dae_problem *problem = open_model(name);
    trace_run(problem, &first);
    trace_run(problem, &second);
    bool ok = same_trace(&first, &second, name, "second solver");
    int count = dae_problem_parameter_count(problem);
    dae_problem_free(problem);
    static const double factors[] = {1.25, 0.0, -1.0};
    for (int k = 0; k < count && k < 12; k++) ok = compare_changed(name, k, factors[k % 3]) && ok;
    return ok;
}

static void corpus_has_the_bits_of_fresh_problems(void **unused)
{
    (void)unused;
    DIR *directory = opendir(models_directory());
    assert_non_null(directory);
    int failed = 0, seen = 0;
    for (struct dirent *at = readdir(directory); at; at = readdir(directory)) {
        const char *dot = strrchr(at->d_name, '.');
        if (!dot || strcmp(dot, ".mo") != 0) continue;
        if (strncmp(at->d_name, "heat2d", 6) == 0 || strncmp(at->d_name, "ladder", 6) == 0)
            continue; /* large: what they have to show the others show */
        seen++;
        if (!SANITIZED || seen % 3 == 0) failed += !compare_model(at->d_name);
    }
    closedir(directory);
    assert_true(seen > 15);
    assert_int_equal(failed, 0);
}

/* Values of parameters of well-known models touch no structure. */
static void corpus_keeps_its_plans(void **unused)
{
    (void)unused;
    static const char *const names[] = {"andrews.mo",  "caraxis.mo",   "transamp.mo", "akzo.mo",
                                        "pendulum.mo", "rectifier.mo", "truck.mo"};
    static trace r;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        dae_problem *problem = open_model(names[i]);
        trace_run(problem, &r);
        long before = counts_of(problem).analyses;
        for (int k = 0; k < dae_problem_parameter_count(problem); k++) {
            const char *name = dae_problem_parameter(problem, k);
            double value = dae_problem_parameter_value(problem, k);
            if (dae_problem_set_parameter(problem, name, 1.05 * value, NULL) != DAE_OK) continue;
            dae_solver *s = NULL;
            assert_int_equal(dae_solver_new(problem, NULL, &s, NULL), DAE_OK);
            assert_int_equal(dae_solver_start(s, 0.0, NULL, NULL), DAE_OK);
            dae_solver_free(s);
            assert_int_equal(dae_problem_set_parameter(problem, name, value, NULL), DAE_OK);
        }
        if (counts_of(problem).analyses != before) print_error("%s\n", names[i]);
        assert_int_equal(counts_of(problem).analyses, before);
        dae_problem_free(problem);
    }
}

/* ---- threads ---- */

typedef struct job {
    const dae_problem *problem;
    double end[MOST_VALUES];
    dae_status status;
} job;

static void *work(void *argument)
{
    job *j = argument;
    for (int k = 0; k < 20; k++) {
        dae_solver *s = NULL;
        dae_options options = dae_options_default();
        if (k % 2) options.method = "radau";
        j->status = dae_solver_new(j->problem, &options, &s, NULL);
        if (j->status == DAE_OK) j->status = dae_solver_start(s, 0.0, NULL, NULL);
        if (j->status == DAE_OK) j->status = dae_solver_run(s, 2.0, NULL, NULL);
        if (j->status == DAE_OK) j->status = dae_solver_variables(s, 2.0, j->end);
        dae_solver_free(s);
        if (j->status != DAE_OK) break;
    }
    return NULL;
}

static void threads_share_plans(void **unused)
{
    (void)unused;
    enum { THREADS = 4 };
    static const char *const shared[] = {PENDULUM, CATCH};
    for (int i = 0; i < 2; i++) {
        run r;
        prepare(&r, shared[i]);
        pthread_t threads[THREADS];
        static job jobs[THREADS];
        memset(jobs, 0, sizeof jobs);
        for (int k = 0; k < THREADS; k++) {
            jobs[k].problem = r.problem;
            assert_int_equal(pthread_create(&threads[k], NULL, work, &jobs[k]), 0);
        }
        for (int k = 0; k < THREADS; k++) pthread_join(threads[k], NULL);
        for (int k = 0; k < THREADS; k++) {
            assert_int_equal(jobs[k].status, DAE_OK);
            assert_memory_equal(jobs[k].end, jobs[0].end, sizeof jobs[0].end);
        }
        end(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(second_solver_analyses_nothing),
        cmocka_unit_test(modes_are_found_again),
        cmocka_unit_test(many_starts_of_one_solver),
        cmocka_unit_test(wishes_are_part_of_the_key),
        cmocka_unit_test(store_is_bounded),
        cmocka_unit_test(parameters_between_starts_and_solvers),
        cmocka_unit_test(modes_with_other_parameters),
        cmocka_unit_test(second_solver_says_the_same),
        cmocka_unit_test(corpus_has_the_bits_of_fresh_problems),
        cmocka_unit_test(corpus_keeps_its_plans),
        cmocka_unit_test(threads_share_plans),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
