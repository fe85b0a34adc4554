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
#include <unistd.h>

#include "base/persist.h"
#include "base/random.h"
#include "daedal.h"
#include "models.h"
#include "pendulum.h"

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
    bool ends_in_rounding;  /* a value at the end is that of a rounding error, log(1e-16) */
    const double *y0, *yp0; /* callbacks: where they start */
    double t0;
    const model *model;
    bool *same; /* set where a save has left all bits of a run as they are; NULL: not asked */
} setting;

/* Bits of a step: where it ended, all variables there, and what counts. */
static uint64_t look(dae_solver *s, const dae_problem *problem, dae_status status)
{
    const dae_stats *c = dae_solver_stats(s);
    const int n = dae_problem_variable_count(problem);
    double *y = calloc((size_t)n + 1, sizeof *y), t = dae_solver_time(s);
    const double numbers[] = {t, c->h, c->last_h, (double)status};
    const long counts[] = {c->steps,          c->attempts, c->residuals, c->jacobians,
                           c->factorisations, c->events,   c->starts,    c->newton_iterations};
    uint64_t bits = checksum(0, numbers, sizeof numbers);
    bits = checksum(bits, counts, sizeof counts);
    if (status >= 0 && dae_solver_variables(s, t, y) == DAE_OK)
        bits = checksum(bits, y, (size_t)n * sizeof *y);
    free(y);
    return bits;
}

typedef struct trail {
    uint64_t *bits;
    int count, saved; /* the number of the step behind which it was saved; -1: never */
    dae_status end;
    double t, last; /* where it ended; the last variable there */
    double *values;
    int n;
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
    if (!s->y0) o.stop_time = end_of(s, problem);
    (void)dae_solver_new(problem, &o, &solver, &diag); /* NULL: not for this problem */
    return solver;
}

/* Steps to the end, saved behind step number `when` or soon after (into `file`, if it is given);
 * `back`: go on from there in place of a start. */
static trail run(const setting *set, int when, memory_file *file, memory_file *back)
{
    trail r = {.bits = calloc(MOST_STEPS + 1, sizeof *r.bits), .saved = -1};
    dae_problem *problem = set->problem(set);
    dae_solver *s = problem ? solver_of(set, problem) : NULL;
    dae_diag diag = {0};
    if (!s) {
        dae_problem_free(problem);
        return r;
    }
    dae_experiment e = dae_problem_experiment(problem);
    const double tend = end_of(set, problem);
    if (back) {
        back->at = 0;
        if (dae_solver_read(s, take, back, &diag) != DAE_OK)
            fail_msg("%s, %s: %s", set->name, set->method, diag.text);
        assert_int_equal(back->at, back->count);
    } else {
        const double t0 = set->y0 ? set->t0 : isnan(e.start) ? 0.0 : e.start;
        r.end = dae_solver_start(s, t0, set->y0, set->yp0);
    }
    if (r.end == DAE_OK) r.end = DAE_STEPPED;
    while (r.end > 0 && r.count < MOST_STEPS) {
        r.end = dae_solver_step(s, tend);
        r.bits[r.count++] = look(s, problem, r.end);
        if (r.end <= 0 || when < 0 || r.count < when || r.saved >= 0) continue;
        dae_status status = dae_solver_write(s, file ? put : NULL, file, &diag);
        if (status == DAE_OK) r.saved = r.count;
        if (status == DAE_ERR_UNSUPPORTED) break;
        if (status != DAE_OK && status != DAE_ERR_STATE)
            fail_msg("%s, %s: %s", set->name, set->method, diag.text);
    }
    r.n = dae_problem_variable_count(problem);
    r.values = calloc((size_t)r.n + 1, sizeof *r.values);
    r.t = dae_solver_time(s);
    (void)dae_solver_variables(s, r.t, r.values);
    dae_solver_free(s);
    dae_problem_free(problem);
    return r;
}

static void trail_free(trail *r)
{
    free(r->bits);
    free(r->values);
}

/* In tolerances; some formulations have global errors of that size. */
static const double FAR_OFF = 1000.0;

/* How far the ends of two runs are from each other, in tolerances. */
static double distance(const trail *a, const trail *b, double rtol)
{
    double most = 0.0;
    for (int i = 0; i < a->n; i++) {
        double size = fmax(fabs(a->values[i]), fabs(b->values[i]));
        double off = fabs(a->values[i] - b->values[i]) / (rtol * size + 1e-3 * rtol);
        if (off > most) most = off;
    }
    return most;
}

/* A run that is saved at a random step, and one that goes on from there. */
static bool check(const setting *set, uint64_t seed)
{
    uint64_t random = seed;
    memory_file file = {0};
    trail plain = run(set, -1, NULL, NULL);
    const double tried = plain.count;
    const int when = 1 + (int)((double)(random_bits(&random) >> 11) * 0x1p-53 * 0.8 * tried);
    trail first = run(set, when, &file, NULL);
    if (first.saved < 0) { /* it has no end of a step behind that */
        trail_free(&plain);
        trail_free(&first);
        free(file.bytes);
        return false;
    }
    trail second = run(set, -1, NULL, &file);
    int left = first.count - first.saved;
    for (int k = 0; k < left && k < second.count; k++)
        if (first.bits[first.saved + k] != second.bits[k])
            fail_msg("%s, %s: saved behind step %d of %d, the bits of step %d behind it differ",
                     set->name, set->method, first.saved, first.count, k + 1);
    if (first.count < MOST_STEPS) assert_int_equal(second.count, left);
    assert_int_equal(second.end, first.count < MOST_STEPS ? first.end : second.end);
    bool same = plain.count == first.count;
    for (int k = 0; same && k < first.count; k++) same = plain.bits[k] == first.bits[k];
    if (set->same) *set->same = *set->same || same;
    if (first.end < 0 && plain.end >= 0)
        fail_msg("%s, %s: the run that was saved fails", set->name, set->method);
    /* what is made anew does not change where the run goes: by far less than its global errors */
    if (plain.count < MOST_STEPS && first.count < MOST_STEPS) {
        assert_int_equal(first.end, plain.end);
        double off = distance(&plain, &first, set->rtol > 0.0 ? set->rtol : 1e-6);
        bool comparable = set->fixed_step == 0.0 && !set->ends_in_rounding;
        if (plain.end == DAE_OK && comparable && off > FAR_OFF)
            fail_msg("%s, %s: the run that was saved ends %.2g tolerances away from the other",
                     set->name, set->method, off);
    }
    trail_free(&plain);
    trail_free(&first);
    trail_free(&second);
    free(file.bytes);
    return true;
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

/* Models whose method evaluates its matrices in every step, or has none: a save shows nowhere. */
static bool shows_nothing(const char *name)
{
    static const char *const list[] = {"pendulumwall.mo", "pendulum.mo", "caraxis.mo",
                                       "transamp.mo",     "truck.mo",    "robertson.mo",
                                       "andrews.mo",      "akzo.mo",     "pendulumloop.mo"};
    for (size_t k = 0; k < sizeof list / sizeof *list; k++)
        if (strcmp(name, list[k]) == 0) return true;
    return false;
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

/* Runs towards a pole magnify the last digits without bound. */
static bool ends_at_pole(const char *name)
{
    return strcmp(name, "traps/output_needed.mo") == 0 || strcmp(name, "traps/growth_pole.mo") == 0;
}

static void check_directory(const char *inner, int most)
{
    enum { TRIES = 10 };
    char path[PATH_SIZE], name[PATH_SIZE];
    struct dirent **list = NULL;
    snprintf(path, sizeof path, "%s%s", models_directory(), inner);
    int found = scandir(path, &list, is_model, alphasort), count = 0, saved = 0;
    assert_true(found > 0);
    for (int k = 0; k < found; k++) {
        snprintf(name, sizeof name, "%s%.200s", inner, list[k]->d_name);
        free(list[k]);
        bool same = false;
        setting set = {.name = name,
                       .problem = from_text,
                       .same = &same,
                       .ends_in_rounding = ends_at_pole(name)};
        if (count == most) continue;
        saved += check(&set, seed_of(name));
        for (uint64_t more = 1; shows_nothing(name) && !same && more < TRIES; more++)
            check(&set, seed_of(name) + more);
        if (shows_nothing(name) && !same) fail_msg("%s: no save leaves the bits as they are", name);
        count++;
    }
    free(list);
    assert_true(2 * saved > count);
}

static void test_models(void **state)
{
    (void)state;
    check_directory("", 1000);
}

static void test_more_models(void **state)
{
    (void)state;
    check_directory("structure/", 1000);
    check_directory("traps/", 1000);
}

static void test_methods(void **state)
{
    static const char *const models[] = {"pendulum.mo", "rectifier.mo", "ball.mo", "echo.mo",
                                         "relays.mo"};
    int saved = 0;
    (void)state;
    for (int m = 0; m < 5; m++)
        for (int i = 0; dae_method_name(i); i++) {
            dae_method_info info = dae_method_at(i);
            setting set = {.name = models[m], .problem = from_text, .method = info.name};
            if (info.constant_steps) set.fixed_step = 1e-2;
            saved += check(&set, (uint64_t)(31 + 7 * i + m));
        }
    assert_true(saved > 200);
}

static void test_formulations(void **state)
{
    (void)state;
    for (int i = 0; dae_formulation_name(i); i++)
        for (int k = 0; k < 4; k++) {
            static const char *const methods[] = {"auto", "bdf", "radau", "rodas"};
            setting set = {.name = k % 2 ? "pendulumloop.mo" : "caraxis.mo",
                           .problem = from_text,
                           .method = methods[k],
                           .formulation = dae_formulation_name(i)};
            (void)check(&set, (uint64_t)(5 * i + k));
        }
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
        model_free(m);
    }
    assert_true(saved > 50);
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
    assert_true(saved > 40);
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
    assert_int_equal(dae_solver_save(s, path, &diag), DAE_OK);
    assert_int_equal(dae_solver_save(s, NULL, &diag), DAE_OK); /* goes on as if it had been */
    const double t = dae_solver_time(s);
    double start, end, y[32];
    dae_solver_last_step(s, &start, &end); /* behind a save it has an end only */
    assert_int_equal(dae_solver_variables(s, end, y), DAE_OK);
    assert_int_equal(dae_solver_variables(s, 0.5 * (start + end), y), DAE_ERR_ARGUMENT);
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
    dae_diag diag = {0};
    (void)state;
    for (int k = 0; k < 2; k++) assert_int_equal(dae_solver_start(s[k], 0.0, NULL, NULL), DAE_OK);
    for (int i = 0; i < 40; i++) {
        for (int k = 0; k < 2; k++) assert_true(dae_solver_step(s[k], 20.0) > 0);
        dae_status status = dae_solver_write(s[0], put_nothing, NULL, &diag);
        assert_true(status == DAE_ERR_FILE || status == DAE_ERR_STATE);
        assert_true(look(s[0], problem[0], DAE_OK) == look(s[1], problem[1], DAE_OK));
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
        cmocka_unit_test(test_models),          cmocka_unit_test(test_more_models),
        cmocka_unit_test(test_methods),         cmocka_unit_test(test_formulations),
        cmocka_unit_test(test_callbacks),       cmocka_unit_test(test_mechanism),
        cmocka_unit_test(test_damage),          cmocka_unit_test(test_others),
        cmocka_unit_test(test_other_callbacks), cmocka_unit_test(test_files),
        cmocka_unit_test(test_full_disk),       cmocka_unit_test(test_checksum),
    };
    return cmocka_run_group_tests_name("checkpoint", tests, NULL, NULL);
}
