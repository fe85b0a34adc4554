/* Checkpoints: a run that is saved and one that goes on from that in a new solver of a new problem
 * give the same bits, step by step: values, events and counts; with every model and every method.
 * Files that are damaged, or of another run, are refused. */
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

enum { PATH_SIZE = 1024, MOST_STEPS = 3000 };

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
    bool starts; /* callbacks: y0 below */
    double y0[16], yp0[16];
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
    if (!s->starts) o.stop_time = end_of(s, problem);
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
        const double *y0 = set->starts ? set->y0 : NULL, *yp0 = set->starts ? set->yp0 : NULL;
        r.end = dae_solver_start(s, isnan(e.start) ? 0.0 : e.start, y0, yp0);
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
    if (r.end < 0 && getenv("VERBOSE")) printf("%s: %s\n", set->name, dae_solver_diag(s)->text);
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
    double off = distance(&plain, &first, set->rtol > 0.0 ? set->rtol : 1e-6);
    if (getenv("VERBOSE"))
        printf(
            "%-20s %-10s %s end %d steps %d / %d off %.2g saved %d bytes %zu same as unsaved: %s\n",
            set->name, set->method ? set->method : "auto", set->formulation ? set->formulation : "",
            first.end == plain.end ? 0 : first.end, plain.count, first.count, off, first.saved,
            file.count,
            plain.count == first.count && memcmp(plain.bits + first.saved, first.bits + first.saved,
                                                 (size_t)left * sizeof *plain.bits) == 0
                ? "yes"
                : "no");
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

static void check_directory(const char *inner, int most)
{
    char path[PATH_SIZE], name[PATH_SIZE];
    snprintf(path, sizeof path, "%s%s", models_directory(), inner);
    DIR *d = opendir(path);
    assert_non_null(d);
    int count = 0, saved = 0;
    for (struct dirent *e; (e = readdir(d)) && count < most;) {
        const char *dot = strrchr(e->d_name, '.');
        if (!dot || strcmp(dot, ".mo") != 0) continue;
        if (getenv("ONLY") && !strstr(e->d_name, getenv("ONLY"))) continue;
        snprintf(name, sizeof name, "%s%.200s", inner, e->d_name);
        setting set = {.name = name, .problem = from_text};
        saved += check(&set, (uint64_t)(7 + count++));
    }
    closedir(d);
    if (!getenv("ONLY")) assert_true(saved > count / 2);
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
    static const char *const models[] = {"pendulum.mo", "robertson.mo", "rectifier.mo",
                                         "ball.mo",     "caraxis.mo",   "echo.mo",
                                         "circle.mo",   "relays.mo"};
    int saved = 0;
    (void)state;
    for (int m = 0; m < 8; m++)
        for (int i = 0; dae_method_name(i); i++) {
            dae_method_info info = dae_method_at(i);
            setting set = {.name = models[m], .problem = from_text, .method = info.name};
            if (info.constant_steps) set.fixed_step = 1e-2;
            if (getenv("ONLY") && !strstr(info.name, getenv("ONLY"))) continue;
            saved += check(&set, (uint64_t)(31 + 7 * i + m));
        }
    printf("%d\n", saved);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_models),
        cmocka_unit_test(test_more_models),
        cmocka_unit_test(test_methods),
        cmocka_unit_test(test_formulations),
    };
    return cmocka_run_group_tests_name("checkpoint", tests, NULL, NULL);
}
