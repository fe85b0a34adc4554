/* Models of any index from their plain equations, with only free initial values given, against
 * reference values: those of models/structure, and those of index above 1 in models. The format of
 * the references: docs/models.md. */
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

#include "daedal.h"

enum { MAX_VALUES = 256, MAX_EVENTS = 32, MAX_MODELS = 128, NAME_SIZE = 64, PATH_SIZE = 1024 };
enum { LEAST_MODELS = 35, TIMES_SIZE = 256 };

static const double default_rtol = 1e-8;
static const double growth = 3000.0;   /* global errors against the tolerance, at most */
static const double smallest = 1e-3;   /* of values that errors are seen against */
static const double published = 1e-15; /* references coarser than this are seen as they are */

/* Path of a file below the models: they are beside the directory of this file. */
static void model_path(char *path, const char *name, const char *ending)
{
    const char *slash = strrchr(__FILE__, '/');
    int length = slash ? (int)(slash - __FILE__) + 1 : 0;
    int used = snprintf(path, PATH_SIZE, "%.*s../models/%s%s", length, __FILE__, name, ending);
    assert_true(used > 0 && used < PATH_SIZE);
}

/* ---- references ---- */

typedef struct reference {
    char title[NAME_SIZE * 2];
    int index;
    double t, accuracy;
    int value_count, event_count;
    char names[MAX_VALUES][NAME_SIZE];
    double values[MAX_VALUES], events[MAX_EVENTS];
} reference;

static void reference_line(reference *r, const char *key, double value)
{
    if (strcmp(key, "index") == 0) {
        r->index = (int)value;
    } else if (strcmp(key, "t") == 0) {
        r->t = value;
    } else if (strcmp(key, "accuracy") == 0) {
        r->accuracy = value;
    } else if (strcmp(key, "event") == 0) {
        assert_true(r->event_count < MAX_EVENTS);
        r->events[r->event_count++] = value;
    } else if (strcmp(key, "rtol") != 0 && strcmp(key, "growth") != 0) {
        assert_true(r->value_count < MAX_VALUES);
        snprintf(r->names[r->value_count], NAME_SIZE, "%s", key);
        r->values[r->value_count++] = value;
    }
}

static void reference_read(reference *r)
{
    char path[PATH_SIZE], line[256], key[NAME_SIZE];
    double value;
    model_path(path, r->title, ".ref");
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        if (line[0] == '#') continue;
        assert_int_equal(sscanf(line, "%63s %lf", key, &value), 2);
        reference_line(r, key, value);
    }
    fclose(file);
    assert_true(r->t > 0.0 && r->accuracy > 0.0 && r->value_count > 0);
}

/* ---- runs ---- */

typedef struct outcome {
    double *values;
    double events[TIMES_SIZE];
    int event_count;
} outcome;

static dae_problem *load(const char *title)
{
    char path[PATH_SIZE];
    dae_problem *p = NULL;
    dae_diag diag = {0};
    model_path(path, title, ".mo");
    dae_model model = {.file = path, .engine = DAE_ENGINE_TAPE};
    dae_status status = dae_problem_from_model(&model, &p, &diag);
    if (status < 0) print_error("%s\n", diag.text);
    assert_int_equal(status, DAE_OK);
    return p;
}

static void step_to(dae_solver *s, double tend, outcome *o)
{
    dae_status status;
    while ((status = dae_solver_step(s, tend)) > 0) {
        if (status != DAE_EVENT) continue;
        assert_true(o->event_count < TIMES_SIZE);
        o->events[o->event_count++] = dae_solver_time(s);
    }
    if (status < 0) print_error("%s\n", dae_solver_diag(s)->text);
    assert_int_equal(status, DAE_OK);
}

/* From the start time of the text to that of the reference, with default settings. */
static void solve(const dae_problem *p, const reference *r, outcome *o)
{
    dae_solver *s = NULL;
    dae_diag diag = {0};
    dae_options opt = dae_options_default();
    dae_experiment experiment = dae_problem_experiment(p);
    opt.rtol = default_rtol, opt.atol = 1e-3 * default_rtol;
    *o = (outcome){.values = calloc((size_t)dae_problem_variable_count(p), sizeof(double))};
    assert_non_null(o->values);
    assert_int_equal(dae_solver_new(p, &opt, &s, &diag), DAE_OK);
    dae_status status = dae_solver_start(s, experiment.start, NULL, NULL);
    if (status < 0) print_error("%s\n", dae_solver_diag(s)->text);
    assert_int_equal(status, DAE_OK);
    step_to(s, r->t, o);
    assert_int_equal(dae_solver_variables(s, r->t, o->values), DAE_OK);
    dae_solver_free(s);
}

/* ---- checks ---- */

static double allowed(const reference *r)
{
    return growth * default_rtol + (r->accuracy > published ? 10.0 * r->accuracy : 0.0);
}

/* The largest |value| in the array that value k belongs to: errors are seen against their block. */
static double block_size(const reference *r, int k)
{
    double largest = fmax(fabs(r->values[k]), smallest);
    size_t stem = strcspn(r->names[k], "[");
    for (int i = 0; i < r->value_count; i++)
        if (strcspn(r->names[i], "[") == stem && r->names[i][stem] == '[' &&
            strncmp(r->names[i], r->names[k], stem) == 0)
            largest = fmax(largest, fabs(r->values[i]));
    return largest;
}

static void check_values(const dae_problem *p, const reference *r, const outcome *o)
{
    for (int k = 0; k < r->value_count; k++) {
        int i = dae_problem_find_variable(p, r->names[k]);
        if (i < 0) print_error("no variable %s\n", r->names[k]);
        assert_true(i >= 0);
        double error = fabs(o->values[i] - r->values[k]) / block_size(r, k);
        if (!(error <= allowed(r)))
            print_error("%s is %.12g, not %.12g\n", r->names[k], o->values[i], r->values[k]);
        assert_true(error <= allowed(r));
    }
}

static void check_events(const reference *r, const outcome *o)
{
    for (int k = 0; k < r->event_count; k++) {
        double nearest = INFINITY;
        for (int i = 0; i < o->event_count; i++)
            nearest = fmin(nearest, fabs(o->events[i] - r->events[k]));
        if (!(nearest <= allowed(r)))
            print_error("event at %.12g: nearest is %g away\n", r->events[k], nearest);
        assert_true(nearest <= allowed(r));
    }
}

static void test_run(void **state)
{
    reference *r = *state;
    outcome o;
    dae_problem *p = load(r->title);
    solve(p, r, &o);
    check_values(p, r, &o);
    check_events(r, &o);
    free(o.values);
    dae_problem_free(p);
}

/* ---- which models ---- */

/* Add the references below a directory whose index is at least `least`. */
static int find_references(const char *below, int least, reference *list, int count)
{
    char path[PATH_SIZE];
    model_path(path, below, "");
    DIR *dir = opendir(path);
    if (!dir) return count;
    for (struct dirent *file; (file = readdir(dir)) && count < MAX_MODELS;) {
        const char *dot = strrchr(file->d_name, '.');
        if (!dot || strcmp(dot, ".ref") != 0) continue;
        reference *r = &list[count];
        *r = (reference){.index = -1};
        snprintf(r->title, sizeof r->title, "%s%.*s", below, (int)(dot - file->d_name),
                 file->d_name);
        reference_read(r);
        if (r->index >= least) count++;
    }
    closedir(dir);
    return count;
}

static void test_corpus(void **state)
{
    assert_true(*(const int *)*state >= LEAST_MODELS);
}

static int by_title(const void *a, const void *b)
{
    return strcmp(((const reference *)a)->title, ((const reference *)b)->title);
}

int main(void)
{
    static reference list[MAX_MODELS];
    static struct CMUnitTest tests[MAX_MODELS + 1]; /* entries without a name are passed over */
    int count = find_references("", 2, list, 0);
    count = find_references("structure/", 0, list, count);
    qsort(list, (size_t)count, sizeof *list, by_title);
    tests[0] = (struct CMUnitTest){"corpus", test_corpus, NULL, NULL, &count};
    for (int i = 0; i < count; i++)
        tests[i + 1] = (struct CMUnitTest){list[i].title, test_run, NULL, NULL, &list[i]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
