/* Checkpoints: a run that is saved and one that goes on from that in a new solver of a new problem
 * give the same bits, step by step: values, events and counts; with every model and every method.
 * Files that are damaged, or of another run, are refused. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/persist.h"
#include "base/random.h"
#include "daedal.h"
#include "models.h"
#include "pendulum.h"
#include "sanitized.h"

enum { PATH_SIZE = 1024, MOST_STEPS = 400 };

static const char *models_directory(void)
{
    static char path[PATH_SIZE];
    const char *slash = strrchr(__FILE__, '/');
    int length = slash ? (int)(slash - __FILE__) + 1 : 0;
    snprintf(path, sizeof path, "%.*s../models/", length, __FILE__);
    return path;
}

/* ---- memory as a file ---- */

typedef struct memory_file {
    unsigned char *bytes;
    size_t count, at;
} memory_file;

static int put(const void *bytes, size_t count, void *user)
{
    memory_file *f = user;
    unsigned char *more = realloc(f->bytes, f->count + count);
    if (!more) return 1;
    f->bytes = more;
    memcpy(f->bytes + f->count, bytes, count);
    f->count += count;
    return 0;
}

static size_t take(void *bytes, size_t count, void *user)
{
    memory_file *f = user;
    size_t given = count < f->count - f->at ? count : f->count - f->at;
    memcpy(bytes, f->bytes + f->at, given);
    f->at += given;
    return given;
}

/* ---- runs ---- */

/* How a run is made; makes a problem of its own. */
typedef struct setting {
    const char *name;
    dae_problem *(*problem)(const struct setting *s);
    const char *method, *formulation;
    double rtol, fixed_step, tend;
    const double *y0, *yp0; /* callbacks: where they start */
    double t0;
    const model *model;
    dae_linear_solver linear_solver;
} setting;

/* What counts of a run. */
enum { COUNTS = 8 };
static void count(const dae_solver *s, long *counts)
{
    const dae_stats *c = dae_solver_stats(s);
    const long all[COUNTS] = {c->steps,          c->attempts, c->residuals, c->jacobians,
                              c->factorisations, c->events,   c->starts,    c->newton_iterations};
    memcpy(counts, all, sizeof all);
}

/* Bits of a step: where it ended, all variables there, and what counts, but for `besides`. */
static uint64_t look(dae_solver *s, const dae_problem *problem, dae_status status,
                     const long *besides)
{
    const dae_stats *c = dae_solver_stats(s);
    const int n = dae_problem_variable_count(problem);
    double *y = calloc((size_t)n + 1, sizeof *y), t = dae_solver_time(s);
    const double numbers[] = {t, c->h, c->last_h, (double)status};
    uint64_t bits = checksum(0, numbers, sizeof numbers);
    long counts[COUNTS];
    count(s, counts);
    for (int k = 0; k < COUNTS; k++) counts[k] -= besides[k];
    bits = checksum(bits, counts, sizeof counts);
    if (status >= 0 && dae_solver_variables(s, t, y) == DAE_OK)
        bits = checksum(bits, y, (size_t)n * sizeof *y);
    free(y);
    return bits;
}

enum { SAVES = 3 };

typedef struct trail {
    uint64_t *bits;
    int count;
    dae_status end;
    int saved[SAVES];       /* numbers of the steps behind which it was saved; 0: never */
    uint64_t inside[SAVES]; /* bits of values inside the last step, behind the save or the load */
    long besides[COUNTS];   /* what those took, */
    long before[SAVES][COUNTS]; /* and what they had taken before a save */
} trail;

static double end_of(const setting *s, const dae_problem *problem)
{
    dae_experiment e = dae_problem_experiment(problem);
    return s->tend != 0.0 ? s->tend : isnan(e.stop) ? 1.0 : e.stop;
}

static dae_solver *solver_of(const setting *s, const dae_problem *problem)
{
    dae_options o = dae_options_default();
    dae_diag diag = {0};
    dae_solver *solver = NULL;
    dae_experiment e = dae_problem_experiment(problem);
    o.rtol = s->rtol > 0.0 ? s->rtol : e.tolerance > 0.0 ? e.tolerance : 1e-6;
    o.atol = 1e-3 * o.rtol;
    o.method = s->method ? s->method : "auto";
    if (s->formulation) o.formulation = s->formulation;
    o.fixed_step = s->fixed_step;
    o.linear_solver = s->linear_solver;
    if (!s->y0) o.stop_time = end_of(s, problem);
    (void)dae_solver_new(problem, &o, &solver, &diag); /* NULL: not for this problem */
    return solver;
}

/* Values inside the last step. */
static uint64_t look_inside(dae_solver *s, const dae_problem *problem, long *besides)
{
    long before[COUNTS], after[COUNTS];
    count(s, before);
    const int n = dae_problem_variable_count(problem);
    double *y = calloc((size_t)n + 1, sizeof *y), start, end;
    uint64_t bits = 1;
    dae_solver_last_step(s, &start, &end);
    for (int k = 0; k < 3; k++) {
        dae_status status = dae_solver_variables(s, start + 0.25 * (1 + k) * (end - start), y);
        bits = checksum(bits, &status, sizeof status);
        if (status == DAE_OK) bits = checksum(bits, y, (size_t)n * sizeof *y);
    }
    count(s, after);
    for (int k = 0; k < COUNTS; k++) besides[k] += after[k] - before[k];
    free(y);
    return bits;
}

/* Save behind this step if it can be, and look inside it; the steps in `when` are those wanted.
 * Without files it is only looked at. */
static void save_now(const setting *set, const dae_problem *problem, dae_solver *s, trail *r,
                     const int *when, memory_file *files)
{
    for (int k = 0; k < SAVES; k++) {
        dae_diag diag = {0};
        if (r->saved[k] || r->count < when[k]) continue;
        dae_status status = files ? dae_solver_write(s, put, &files[k], &diag) : DAE_OK;
        if (status != DAE_OK && status != DAE_ERR_STATE && status != DAE_ERR_UNSUPPORTED)
            fail_msg("%s, %s: %s", set->name, set->method, diag.text);
        if (status != DAE_OK) continue;
        r->saved[k] = r->count;
        memcpy(r->before[k], r->besides, sizeof r->besides);
        r->inside[k] = look_inside(s, problem, r->besides);
    }
}

/* A run that goes on from a file looks inside the steps that the one that was saved has looked at:
 * behind save `of`, and behind the later ones. */
static void look_alike(const dae_problem *problem, dae_solver *s, trail *r, const trail *saved,
                       int of)
{
    for (int k = 0; k < SAVES; k++) {
        const bool here = saved->saved[k] && saved->saved[k] == saved->saved[of] + r->count;
        if (!here || (r->count == 0 && k < of)) continue;
        const uint64_t bits = look_inside(s, problem, r->besides);
        if (r->count == 0 && k == of) r->inside[0] = bits;
    }
}

/* Steps to the end, saved behind steps number when[k] or soon after; `saved`: go on from save `of`
 * of that run, in place of a start. */
static trail run(const setting *set, const int *when, memory_file *files, const trail *saved,
                 int of)
{
    trail r = {.bits = calloc(MOST_STEPS + 1, sizeof *r.bits)};
    dae_problem *problem = set->problem(set);
    dae_solver *s = problem ? solver_of(set, problem) : NULL;
    dae_diag diag = {0};
    if (!s) {
        dae_problem_free(problem);
        return r;
    }
    dae_experiment e = dae_problem_experiment(problem);
    const double tend = end_of(set, problem);
    if (saved) {
        memory_file *back = &files[of];
        back->at = 0;
        if (dae_solver_read(s, take, back, &diag) != DAE_OK)
            fail_msg("%s, %s: %s", set->name, set->method, diag.text);
        assert_int_equal(back->at, back->count);
        memcpy(r.besides, saved->before[of], sizeof r.besides);
        look_alike(problem, s, &r, saved, of);
    } else {
        const double t0 = set->y0 ? set->t0 : isnan(e.start) ? 0.0 : e.start;
        r.end = dae_solver_start(s, t0, set->y0, set->yp0);
    }
    if (r.end == DAE_OK) r.end = DAE_STEPPED;
    while (r.end > 0 && r.count < MOST_STEPS) {
        r.end = dae_solver_step(s, tend);
        r.bits[r.count++] = look(s, problem, r.end, r.besides);
        if (r.end > 0 && when) save_now(set, problem, s, &r, when, files);
        if (r.end > 0 && saved) look_alike(problem, s, &r, saved, of);
    }
    dae_solver_free(s);
    dae_problem_free(problem);
    return r;
}

static int failures;

/* A run that differs is told, and all others are looked at before the test fails. */
static void differs(const setting *set, int step, int of, const char *how)
{
    print_error("%s, %s, %s: saved behind step %d of %d, %s\n", set->name,
                set->method ? set->method : "auto", set->formulation ? set->formulation : "auto",
                step, of, how);
    failures++;
}

static bool same_bits(const trail *a, const trail *b)
{
    return a->count == b->count &&
           memcmp(a->bits, b->bits, (size_t)a->count * sizeof *a->bits) == 0;
}

/* The run that was saved has the bits of one that was not. Values inside a step may raise the
 * tolerances that rounding allows: then they are those of one that was looked at alike. */
static void compare_saved(const setting *set, trail *plain, const trail *saved)
{
    if (same_bits(plain, saved)) return;
    free(plain->bits);
    *plain = run(set, saved->saved, NULL, NULL, 0);
    if (!same_bits(plain, saved))
        differs(set, saved->saved[0], plain->count, "the run that was saved goes on otherwise");
}

static void compare(const setting *set, const trail *plain, const trail *loaded, int at,
                    uint64_t inside)
{
    char text[80];
    const int left = plain->count - at;
    int same = 0;
    while (same < left && same < loaded->count && plain->bits[at + same] == loaded->bits[same])
        same++;
    snprintf(text, sizeof text, "the bits of step %d behind the load differ", same + 1);
    if (same < left)
        differs(set, at, plain->count, text);
    else if (plain->count < MOST_STEPS && (loaded->count != left || loaded->end != plain->end))
        differs(set, at, plain->count, "the loaded run ends otherwise");
    if (loaded->inside[0] != inside)
        differs(set, at, plain->count, "values inside the last step differ behind the load");
}

/* A run that is never saved; one that is saved at random steps, with the same bits; and those that
 * go on from there, with the same bits. The number of saves that were tried. */
static int check(const setting *set, uint64_t seed)
{
    memory_file files[SAVES] = {{0}};
    int when[SAVES], tried = 0;
    trail plain = run(set, NULL, NULL, NULL, 0);
    for (int k = 0; k < SAVES; k++)
        when[k] = 1 + (int)((double)(random_bits(&seed) >> 11) * 0x1p-53 * plain.count);
    trail saved = run(set, when, files, NULL, 0);
    compare_saved(set, &plain, &saved);
    for (int k = 0; k < SAVES; k++) {
        if (saved.saved[k]) {
            trail loaded = run(set, NULL, files, &saved, k);
            compare(set, &plain, &loaded, saved.saved[k], saved.inside[k]);
            free(loaded.bits);
            tried++;
        }
    }
    for (int k = 0; k < SAVES; k++) free(files[k].bytes);
    free(plain.bits);
    free(saved.bits);
    return tried;
}

/* ---- models ---- */

static dae_problem *from_text(const setting *s)
{
    char path[PATH_SIZE];
    dae_diag diag = {0};
    dae_problem *problem = NULL;
    snprintf(path, sizeof path, "%s%s", models_directory(), s->name);
    dae_model m = {.file = path};
    (void)dae_problem_from_model(&m, &problem, &diag); /* NULL: a model with errors */
    return problem;
}

static int is_model(const struct dirent *e)
{
    const char *dot = strrchr(e->d_name, '.');
    return dot && strcmp(dot, ".mo") == 0;
}

/* Where a model is saved follows from its name: the same on every machine, whatever models there
 * are beside it. */
static uint64_t seed_of(const char *name)
{
    uint64_t hash = 7;
    for (; *name; name++) hash = 31 * hash + (unsigned char)*name;
    return hash;
}

static void check_directory(const char *inner)
{
    char path[PATH_SIZE], name[PATH_SIZE];
    struct dirent **list = NULL;
    snprintf(path, sizeof path, "%s%s", models_directory(), inner);
    int found = scandir(path, &list, is_model, alphasort), saved = 0;
    assert_true(found > 0);
    for (int k = 0; k < found; k++) {
        snprintf(name, sizeof name, "%s%.200s", inner, list[k]->d_name);
        free(list[k]);
        setting set = {.name = name, .problem = from_text};
        saved += check(&set, seed_of(name));
    }
    free(list);
    assert_true(saved > found);
    assert_int_equal(failures, 0);
}

static void test_models(void **state)
{
    (void)state;
    failures = 0;
    check_directory("");
}

static void test_more_models(void **state)
{
    (void)state;
    failures = 0;
    check_directory("structure/");
    check_directory("traps/");
}

static void test_methods(void **state)
{
    static const char *const models[] = {"pendulum.mo", "rectifier.mo", "ball.mo", "echo.mo",
                                         "relays.mo"};
    int saved = 0;
    (void)state;
    failures = 0;
    const int stride = SANITIZED ? 4 : 1; /* a model in turn for each method, with sanitizers */
    for (int m = 0; m < 5; m++)
        for (int i = m % stride; dae_method_name(i); i += stride) {
            dae_method_info info = dae_method_at(i);
            setting set = {.name = models[m], .problem = from_text, .method = info.name};
            if (info.constant_steps) set.fixed_step = 1e-2;
            saved += check(&set, (uint64_t)(31 + 7 * i + m));
        }
    assert_true(saved > 600 / stride);
    assert_int_equal(failures, 0);
}

static void test_formulations(void **state)
{
    (void)state;
    failures = 0;
    for (int i = 0; dae_formulation_name(i); i++)
        for (int k = 0; k < 4; k++) {
            static const char *const methods[] = {"auto", "bdf", "radau", "rodas"};
            setting set = {.name = k % 2 ? "pendulumloop.mo" : "caraxis.mo",
                           .problem = from_text,
                           .method = methods[k],
                           .formulation = dae_formulation_name(i)};
            (void)check(&set, (uint64_t)(5 * i + k));
        }
    assert_int_equal(failures, 0);
}

/* ---- callbacks ---- */

static dae_problem *from_model(const setting *s)
{
    dae_problem *problem = NULL;
    dae_diag diag = {0};
    assert_int_equal(dae_problem_from_residual(&s->model->form, &problem, &diag), DAE_OK);
    return problem;
}

static void test_callbacks(void **state)
{
    static const char *const methods[] = {"auto", "bdf",   "radau", "rodas",
                                          "liex", "sdirk", "gauss"};
    int saved = 0;
    (void)state;
    failures = 0;
    for (int i = 0; model_name(i); i++) {
        model *m = model_new(model_name(i), 0);
        assert_non_null(m);
        for (int k = 0; k < 7; k++) {
            setting set = {.name = m->name,
                           .problem = from_model,
                           .method = methods[k],
                           .tend = m->tend,
                           .y0 = m->y0,
                           .yp0 = m->yp0,
                           .t0 = m->t0,
                           .model = m};
            if (m->form.n < 500) saved += check(&set, (uint64_t)(11 * i + k));
        }
        static const dae_linear_solver solvers[] = {DAE_LINEAR_SPARSE, DAE_LINEAR_GMRES};
        for (int k = 0; k < 4; k++) {
            setting set = {.name = m->name,
                           .problem = from_model,
                           .method = k < 2 ? "bdf" : "radau",
                           .tend = m->tend,
                           .y0 = m->y0,
                           .yp0 = m->yp0,
                           .t0 = m->t0,
                           .model = m,
                           .linear_solver = solvers[k % 2]};
            if (m->form.n < 500) saved += check(&set, (uint64_t)(11 * i + k));
        }
        model_free(m);
    }
    assert_true(saved > 150);
    assert_int_equal(failures, 0);
}

static dae_problem *from_mechanism(const setting *s)
{
    dae_problem *problem = NULL;
    dae_diag diag = {0};
    const dae_mechanical m = {.nq = 2,
                              .nlambda = 1,
                              .force = pendulum_weight,
                              .constraint = pendulum_rod,
                              .gradient = pendulum_gradient};
    (void)s;
    assert_int_equal(dae_problem_from_mechanical(&m, &problem, &diag), DAE_OK);
    return problem;
}

static void test_mechanism(void **state)
{
    static const double y0[] = {1.0, 0.0, 0.0, 0.0, 0.0};
    int saved = 0;
    (void)state;
    failures = 0;
    for (int i = 0; dae_method_name(i); i++) {
        dae_method_info info = dae_method_at(i);
        setting set = {.name = "pendulum in C",
                       .problem = from_mechanism,
                       .method = info.name,
                       .tend = 5.0,
                       .y0 = y0};
        if (info.constant_steps) set.fixed_step = 1e-2;
        saved += check(&set, (uint64_t)(3 * i));
    }
    for (int i = 0; dae_formulation_name(i); i++) {
        setting set = {.name = "pendulum in C",
                       .problem = from_mechanism,
                       .method = i % 2 ? "bdf" : "radau",
                       .formulation = dae_formulation_name(i),
                       .tend = 5.0,
                       .y0 = y0};
        saved += check(&set, (uint64_t)i);
    }
    assert_true(saved > 120);
    assert_int_equal(failures, 0);
}

/* ---- what is refused ---- */

static dae_solver *pendulum(dae_problem **problem)
{
    const setting set = {.name = "pendulumwall.mo", .problem = from_text};
    *problem = from_text(&set);
    return solver_of(&set, *problem);
}

static void save_pendulum(memory_file *file)
{
    dae_problem *problem;
    dae_solver *s = pendulum(&problem);
    dae_diag diag = {0};
    assert_int_equal(dae_solver_write(s, put, file, &diag), DAE_ERR_STATE); /* not started */
    assert_int_equal(dae_solver_start(s, 0.0, NULL, NULL), DAE_OK);
    for (int k = 0; k < 60; k++) assert_true(dae_solver_step(s, 20.0) > 0);
    while (dae_solver_write(s, put, file, &diag) == DAE_ERR_STATE)
        assert_true(dae_solver_step(s, 20.0) > 0);
    dae_solver_free(s);
    dae_problem_free(problem);
}

/* Bytes that differ, wherever they are, and an end that comes too early: an error, and a solver
 * that can still be started. */
static void test_damage(void **state)
{
    memory_file file = {0};
    dae_problem *problem;
    dae_solver *s = pendulum(&problem);
    dae_diag diag = {0};
    (void)state;
    save_pendulum(&file);
    for (size_t k = 0; k < file.count; k += k < 80 ? 1 : 37) {
        file.bytes[k] ^= 0x40;
        file.at = 0;
        dae_status status = dae_solver_read(s, take, &file, &diag);
        file.bytes[k] ^= 0x40;
        if (status != DAE_ERR_FILE) fail_msg("byte %zu: status %d, %s", k, status, diag.text);
        assert_true(strlen(diag.text) > 20);
    }
    for (size_t count = 0; count < file.count; count += 1 + count / 3) {
        memory_file shorter = {.bytes = file.bytes, .count = count};
        assert_int_equal(dae_solver_read(s, take, &shorter, &diag), DAE_ERR_FILE);
    }
    assert_int_equal(dae_solver_start(s, 0.0, NULL, NULL), DAE_OK);
    file.at = 0;
    assert_int_equal(dae_solver_read(s, take, &file, &diag), DAE_OK);
    assert_true(dae_solver_step(s, 20.0) > 0);
    dae_solver_free(s);
    dae_problem_free(problem);
    free(file.bytes);
}

/* Another model, parameter, tolerance or method, other callbacks. */
static void test_others(void **state)
{
    memory_file file = {0};
    dae_diag diag = {0};
    (void)state;
    save_pendulum(&file);
    const setting settings[] = {
        {.name = "pendulum.mo", .problem = from_text},
        {.name = "pendulumwall.mo", .problem = from_text, .rtol = 1e-5},
        {.name = "pendulumwall.mo", .problem = from_text, .method = "bdf"},
        {.name = "pendulumwall.mo", .problem = from_text},
        {.name = "pendulumwall.mo", .problem = from_text, .formulation = "index1"}};
    static const char *const says[] = {"another model", "rtol", "method", "parameter",
                                       "formulation"};
    for (int k = 0; k < 5; k++) {
        dae_problem *problem = from_text(&settings[k]);
        if (k == 3) assert_int_equal(dae_problem_set_parameter(problem, "g", 9.0, &diag), DAE_OK);
        dae_solver *s = solver_of(&settings[k], problem);
        assert_non_null(s);
        file.at = 0;
        assert_int_equal(dae_solver_read(s, take, &file, &diag), DAE_ERR_ARGUMENT);
        if (!strstr(diag.text, says[k])) fail_msg("no '%s' in: %s", says[k], diag.text);
        dae_solver_free(s);
        dae_problem_free(problem);
    }
    free(file.bytes);
}

/* A ball with one number of it in each place that no equation of the motion has. */
static dae_problem *ball_of(const char *start, const char *bounce, const char *state,
                            const char *lag, const char *limit)
{
    char text[700];
    dae_problem *problem = NULL;
    dae_diag diag = {0};
    snprintf(text, sizeof text,
             "model Ball Real h(start = %s, fixed = true), v, z(start = 1, fixed = true);\n"
             "discrete Integer c(start = 0, fixed = true);\ninitial equation v = %s;\nequation\n"
             "der(h) = v; der(v) = -9.81; der(z) = -delay(z, %s);\n"
             "when h < 0 then reinit(v, -%s*pre(v)); c = pre(c) + 1; end when;\n"
             "assert(h < %s, \"high\");\nend Ball;\n",
             start, state, lag, bounce, limit);
    if (dae_problem_from_model(&(dae_model){.text = text}, &problem, &diag) != DAE_OK)
        fail_msg("%s", diag.text);
    return problem;
}

/* What events do, delays, asserts, and where the run began belong to a model as equations do. */
static void test_others_behind_equations(void **state)
{
    static const char *const words[][5] = {
        {"1", "0.8", "0", "0.3", "9"},  {"2", "0.8", "0", "0.3", "9"},
        {"1", "0.7", "0", "0.3", "9"},  {"1", "0.8", "0.5", "0.3", "9"},
        {"1", "0.8", "0", "0.25", "9"}, {"1", "0.8", "0", "0.3", "8"}};
    memory_file file = {0};
    dae_diag diag = {0};
    (void)state;
    for (int k = 0; k < 7; k++) {
        const char *const *w = words[k % 6];
        dae_problem *problem = ball_of(w[0], w[1], w[2], w[3], w[4]);
        dae_solver *s = NULL;
        if (k == 6) assert_int_equal(dae_problem_set_start(problem, "z", 2.0, &diag), DAE_OK);
        assert_int_equal(dae_solver_new(problem, NULL, &s, &diag), DAE_OK);
        if (k == 0) {
            assert_int_equal(dae_solver_start(s, 0.0, NULL, NULL), DAE_OK);
            for (int i = 0; i < 4; i++) assert_true(dae_solver_step(s, 3.0) > 0);
            assert_int_equal(dae_solver_write(s, put, &file, &diag), DAE_OK);
        }
        file.at = 0;
        const dae_status status = dae_solver_read(s, take, &file, &diag);
        const char *says = k == 6 ? "start value of z" : "another model";
        if (status != (k == 0 ? DAE_OK : DAE_ERR_ARGUMENT)) fail_msg("%d: %s", k, diag.text);
        if (k > 0 && !strstr(diag.text, says)) fail_msg("no '%s' in: %s", says, diag.text);
        dae_solver_free(s);
        dae_problem_free(problem);
    }
    free(file.bytes);
}

/* x'' = -x with two invariants, as words and tables of the options tell it to integrate. */
static dae_solver *oscillator(dae_problem **problem, const char *const *invariants, double stage)
{
    static const char text[] =
        "model O Real x(start = 1, fixed = true), v(start = 0, fixed = true);"
        "Real e = x^2 + v^2, f = 2*x^2 + 2*v^2;\nequation der(x) = v; der(v) = -x;\n"
        "end O;\n";
    dae_options options = dae_options_default();
    dae_table table = dae_table_empty();
    dae_solver *s = NULL;
    dae_diag diag = {0};
    table.stages = 1;
    table.order = 1;
    table.A[0][0] = table.c[0] = stage;
    table.b[0] = 1.0;
    options.method = invariants ? "dopri" : "irk";
    options.invariants = invariants;
    options.invariant_count = invariants ? 1 : 0;
    if (!invariants) options.table = &table, options.fixed_step = 0.125;
    if (dae_problem_from_model(&(dae_model){.text = text}, problem, &diag) != DAE_OK ||
        dae_solver_new(*problem, &options, &s, &diag) != DAE_OK)
        fail_msg("%s", diag.text);
    return s;
}

/* Options that are behind a pointer belong to a run as others do. */
static void test_others_behind_options(void **state)
{
    static const char *const names[][1] = {{"e"}, {"f"}};
    static const struct {
        const char *const *invariants;
        double stage;
    } pairs[][2] = {{{names[0], 0.0}, {names[1], 0.0}}, {{NULL, 0.75}, {NULL, 0.625}}};
    (void)state;
    for (int k = 0; k < 2; k++) {
        memory_file file = {0};
        for (int i = 0; i < 3; i++) {
            dae_problem *problem;
            dae_solver *s = oscillator(&problem, pairs[k][i % 2].invariants, pairs[k][i % 2].stage);
            dae_diag diag = {0};
            if (i == 0) {
                assert_int_equal(dae_solver_start(s, 0.0, NULL, NULL), DAE_OK);
                for (int n = 0; n < 4; n++) assert_true(dae_solver_step(s, 30.0) > 0);
                assert_int_equal(dae_solver_write(s, put, &file, &diag), DAE_OK);
            }
            file.at = 0;
            dae_status status = dae_solver_read(s, take, &file, &diag);
            if (status != (i == 1 ? DAE_ERR_ARGUMENT : DAE_OK))
                fail_msg("%d, %d: %s", k, i, diag.text);
            if (i == 1) assert_non_null(strstr(diag.text, "other options"));
            dae_solver_free(s);
            dae_problem_free(problem);
        }
        free(file.bytes);
    }
}

/* y' = -k y, with a k that no description tells. */
static int decay(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t;
    f[0] = yp[0] + *(const double *)user * y[0];
    return 0;
}

/* Callbacks are known by what they give where the run was saved. */
static void test_other_callbacks(void **state)
{
    double k = 1.0, y0 = 1.0;
    memory_file file = {0};
    dae_diag diag = {0};
    dae_problem *problem = NULL;
    dae_solver *s = NULL;
    (void)state;
    const dae_residual d = {.n = 1, .f = decay, .user = &k};
    assert_int_equal(dae_problem_from_residual(&d, &problem, &diag), DAE_OK);
    assert_int_equal(dae_solver_new(problem, NULL, &s, &diag), DAE_OK);
    assert_int_equal(dae_solver_start(s, 0.0, &y0, NULL), DAE_OK);
    for (int i = 0; i < 3; i++) assert_int_equal(dae_solver_step(s, 100.0), DAE_STEPPED);
    assert_int_equal(dae_solver_write(s, put, &file, &diag), DAE_OK);
    k = 2.0;
    assert_int_equal(dae_solver_read(s, take, &file, &diag), DAE_ERR_FILE);
    assert_non_null(strstr(diag.text, "other values"));
    k = 1.0;
    file.at = 0;
    assert_int_equal(dae_solver_read(s, take, &file, &diag), DAE_OK);
    assert_int_equal(dae_solver_step(s, 100.0), DAE_STEPPED);
    dae_solver_free(s);
    dae_problem_free(problem);
    free(file.bytes);
}

/* Files: written and read, by name in messages where that cannot be; the old one stays then. */
static void test_files(void **state)
{
    char path[] = "/tmp/test_checkpoint_XXXXXX", none[] = "/nonexistent/run.checkpoint";
    dae_problem *problem;
    dae_solver *s = pendulum(&problem);
    dae_diag diag = {0};
    (void)state;
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    close(descriptor);
    assert_int_equal(dae_solver_load(s, path, &diag), DAE_ERR_FILE); /* empty */
    assert_int_equal(dae_solver_start(s, 0.0, NULL, NULL), DAE_OK);
    assert_int_equal(dae_solver_step(s, 20.0), DAE_STEPPED);
    assert_int_equal(dae_solver_save(s, none, &diag), DAE_ERR_FILE);
    assert_non_null(strstr(diag.text, none));
    assert_int_equal(dae_solver_load(s, none, &diag), DAE_ERR_FILE);
    assert_non_null(strstr(diag.text, none));
    unlink(path); /* no file takes the place of what is none */
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(dae_solver_save(s, path, &diag), DAE_ERR_FILE);
    struct stat info;
    assert_true(stat(path, &info) == 0 && S_ISFIFO(info.st_mode));
    unlink(path);
    assert_int_equal(dae_solver_save(s, path, &diag), DAE_OK);
    assert_int_equal(dae_solver_save(s, NULL, &diag), DAE_OK); /* whether it could be */
    const double t = dae_solver_time(s);
    assert_int_equal(dae_solver_step(s, 20.0), DAE_STEPPED);
    assert_int_equal(dae_solver_load(s, path, &diag), DAE_OK);
    assert_true(dae_solver_time(s) == t);
    assert_int_equal(dae_solver_save(NULL, path, &diag), DAE_ERR_ARGUMENT);
    assert_int_equal(dae_solver_load(NULL, path, &diag), DAE_ERR_ARGUMENT);
    assert_int_equal(dae_solver_load(s, NULL, &diag), DAE_ERR_ARGUMENT);
    unlink(path);
    dae_solver_free(s);
    dae_problem_free(problem);
}

/* A sink that fails leaves the run as it was. */
static int put_nothing(const void *bytes, size_t count, void *user)
{
    (void)bytes, (void)count, (void)user;
    return 1;
}

static void test_full_disk(void **state)
{
    dae_problem *problem[2];
    dae_solver *s[2] = {pendulum(&problem[0]), pendulum(&problem[1])};
    const long none[COUNTS] = {0};
    dae_diag diag = {0};
    (void)state;
    for (int k = 0; k < 2; k++) assert_int_equal(dae_solver_start(s[k], 0.0, NULL, NULL), DAE_OK);
    for (int i = 0; i < 40; i++) {
        for (int k = 0; k < 2; k++) assert_true(dae_solver_step(s[k], 20.0) > 0);
        dae_status status = dae_solver_write(s[0], put_nothing, NULL, &diag);
        assert_true(status == DAE_ERR_FILE || status == DAE_ERR_STATE);
        assert_true(look(s[0], problem[0], DAE_OK, none) == look(s[1], problem[1], DAE_OK, none));
    }
    for (int k = 0; k < 2; k++) dae_solver_free(s[k]);
    for (int k = 0; k < 2; k++) dae_problem_free(problem[k]);
}

/* The checksum is that of ECMA-182, bits reversed ("CRC-64/XZ"): its check value. */
static void test_checksum(void **state)
{
    (void)state;
    assert_true(checksum(0, "123456789", 9) == UINT64_C(0x995DC9BBDF1939FA));
    assert_true(checksum(checksum(0, "1234", 4), "56789", 5) == checksum(0, "123456789", 9));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_models),
        cmocka_unit_test(test_more_models),
        cmocka_unit_test(test_methods),
        cmocka_unit_test(test_formulations),
        cmocka_unit_test(test_callbacks),
        cmocka_unit_test(test_mechanism),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_others),
        cmocka_unit_test(test_others_behind_equations),
        cmocka_unit_test(test_others_behind_options),
        cmocka_unit_test(test_other_callbacks),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_full_disk),
        cmocka_unit_test(test_checksum),
    };
    return cmocka_run_group_tests_name("checkpoint", tests, NULL, NULL);
}
