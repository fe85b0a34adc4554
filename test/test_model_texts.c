/* Every model text of index 0 or 1 against its reference values: on the tape and as native code,
 * with the same steps. The models and the format of their references: docs/models.md. */
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

enum { MAX_VALUES = 256, MAX_EVENTS = 64, NAME_SIZE = 64, PATH_SIZE = 1024 };

/* Unless the reference says otherwise. growth: global against local errors. */
static const double default_rtol = 1e-7, default_growth = 100.0;
static const double atol_share = 1e-3; /* atol = rtol/1000, times what is nominal */

/* out = a b c; false if that is too long */
static bool join(char *out, size_t size, const char *a, const char *b, const char *c)
{
    int length = snprintf(out, size, "%s%s%s", a, b, c);
    return length >= 0 && (size_t)length < size;
}

/* Where the models are: beside the directory of this file. */
static const char *models_directory(void)
{
    static char path[PATH_SIZE];
    const char *slash = strrchr(__FILE__, '/');
    int length = slash ? (int)(slash - __FILE__) + 1 : 0;
    snprintf(path, sizeof path, "%.*s../models/", length, __FILE__);
    return path;
}

/* ---- references ------------------------------------------------------------------------------ */

typedef struct reference {
    int index;
    double t, accuracy, rtol, growth;
    int value_count, event_count;
    char names[MAX_VALUES][NAME_SIZE];
    double values[MAX_VALUES], events[MAX_EVENTS];
} reference;

/* One line "key value" of a reference: a property, an event, or a variable. */
static void reference_line(reference *r, const char *key, double value)
{
    if (strcmp(key, "index") == 0) {
        r->index = (int)value;
    } else if (strcmp(key, "t") == 0) {
        r->t = value;
    } else if (strcmp(key, "accuracy") == 0) {
        r->accuracy = value;
    } else if (strcmp(key, "rtol") == 0) {
        r->rtol = value;
    } else if (strcmp(key, "growth") == 0) {
        r->growth = value;
    } else if (strcmp(key, "event") == 0) {
        assert_true(r->event_count < MAX_EVENTS);
        r->events[r->event_count++] = value;
    } else {
        assert_true(r->value_count < MAX_VALUES);
        snprintf(r->names[r->value_count], NAME_SIZE, "%s", key);
        r->values[r->value_count++] = value;
    }
}

/* The reference of a model, checked for completeness; false if there is no such file. */
static bool reference_read(const char *name, reference *r)
{
    char path[PATH_SIZE], line[256], key[NAME_SIZE];
    double value;
    assert_true(join(path, sizeof path, models_directory(), name, ".ref"));
    FILE *file = fopen(path, "r");
    if (!file) return false;
    *r = (reference){
        .index = -1, .t = NAN, .accuracy = NAN, .rtol = default_rtol, .growth = default_growth};
    while (fgets(line, sizeof line, file)) {
        if (line[0] == '#') continue;
        assert_int_equal(sscanf(line, "%63s %lf", key, &value), 2);
        reference_line(r, key, value);
    }
    fclose(file);
    assert_true(r->index >= 0 && r->t > 0.0 && r->accuracy > 0.0 && r->value_count > 0);
    return true;
}

/* ---- runs ------------------------------------------------------------------------------------ */

typedef struct attempt { /* what both engines must agree on, bit by bit */
    double t, h, error;
    int order, result;
} attempt;

typedef struct run {
    attempt *attempts;
    size_t count, capacity;
    double *values; /* of all variables at the end */
    double events[MAX_EVENTS * 4];
    int event_count;
} run;

static void record(const dae_step_info *info, void *user)
{
    run *r = user;
    if (r->count == r->capacity) {
        r->capacity = r->capacity ? 2 * r->capacity : 1024;
        r->attempts = realloc(r->attempts, r->capacity * sizeof *r->attempts);
        assert_non_null(r->attempts);
    }
    attempt *a = &r->attempts[r->count++];
    memset(a, 0, sizeof *a);
    a->t = info->t, a->h = info->h, a->error = info->error;
    a->order = info->order, a->result = (int)info->result;
}

static void run_free(run *r)
{
    free(r->attempts);
    free(r->values);
}

/* Step to tend through all events, noting their times. */
static void run_to(dae_solver *s, double tend, run *r)
{
    dae_status status;
    while ((status = dae_solver_step(s, tend)) > 0) {
        if (status != DAE_EVENT) continue;
        assert_true(r->event_count < (int)(sizeof r->events / sizeof r->events[0]));
        r->events[r->event_count++] = dae_solver_time(s);
    }
    if (status < 0) print_error("%s\n", dae_solver_diag(s)->text);
    assert_int_equal(status, DAE_OK);
}

static dae_problem *load(const char *title, dae_engine engine)
{
    char path[PATH_SIZE];
    assert_true(join(path, sizeof path, models_directory(), title, ""));
    dae_problem *p = NULL;
    dae_diag diag = {0};
    dae_model model = {.file = path, .engine = engine};
    dae_status status = dae_problem_from_model(&model, &p, &diag);
    if (status < 0) print_error("%s\n", diag.text);
    assert_int_equal(status, DAE_OK);
    return p;
}

static void solve(const dae_problem *p, const reference *ref, run *r)
{
    dae_solver *s = NULL;
    dae_diag diag = {0};
    dae_options opt = dae_options_default();
    opt.rtol = ref->rtol, opt.atol = atol_share * ref->rtol;
    opt.monitor = record, opt.user = r;
    *r = (run){.values = calloc((size_t)dae_problem_variable_count(p), sizeof(double))};
    assert_non_null(r->values);
    assert_int_equal(dae_solver_new(p, &opt, &s, &diag), DAE_OK);
    dae_status status = dae_solver_start(s, 0.0, NULL, NULL);
    if (status < 0) print_error("%s\n", dae_solver_diag(s)->text);
    assert_int_equal(status, DAE_OK);
    run_to(s, ref->t, r);
    assert_int_equal(dae_solver_variables(s, ref->t, r->values), DAE_OK);
    dae_solver_free(s);
}

/* ---- checks ---------------------------------------------------------------------------------- */

/* The variable by its name, or by its name in quotes as exported texts have it. */
static int find_variable(const dae_problem *p, const char *name)
{
    char quoted[NAME_SIZE + 3];
    int i = dae_problem_find_variable(p, name);
    if (i >= 0) return i;
    size_t stem = strcspn(name, "[");
    snprintf(quoted, sizeof quoted, "'%.*s'%s", (int)stem, name, name + stem);
    i = dae_problem_find_variable(p, quoted);
    if (i < 0) print_error("no variable %s\n", name);
    assert_true(i >= 0);
    return i;
}

/* The largest |value| in the array that value k belongs to: errors are seen against their block. */
static double block_size(const reference *ref, int k)
{
    double largest = fabs(ref->values[k]);
    size_t stem = strcspn(ref->names[k], "[");
    for (int i = 0; i < ref->value_count; i++)
        if (strcspn(ref->names[i], "[") == stem && ref->names[i][stem] == '[' &&
            strncmp(ref->names[i], ref->names[k], stem) == 0)
            largest = fmax(largest, fabs(ref->values[i]));
    return largest;
}

/* max_k |y_k - ref_k| / (rtol max|block of k|) and the k that has it; where all is 0, atol counts
 */
static double worst_error(const dae_problem *p, const reference *ref, const run *r, int *worst)
{
    double largest = 0.0;
    *worst = 0;
    for (int k = 0; k < ref->value_count; k++) {
        double size = block_size(ref, k), scale = ref->rtol * (size > 0.0 ? size : atol_share);
        double error = fabs(r->values[find_variable(p, ref->names[k])] - ref->values[k]) / scale;
        if (!(error <= largest)) largest = error, *worst = k;
    }
    return largest;
}

static void check_values(const char *title, const dae_problem *p, const reference *ref,
                         const run *r)
{
    int worst;
    double error = worst_error(p, ref, r, &worst);
    print_message("%s: %zu attempts, %d events, %.3g tolerances off in %s\n", title, r->count,
                  r->event_count, error, ref->names[worst]);
    assert_true(error <= ref->growth);
}

/* Every event of the reference happened, at its time up to the errors allowed to the values. A run
 * may report more: a ball that leaves the floor. */
static void check_events(const reference *ref, const run *r)
{
    for (int k = 0; k < ref->event_count; k++) {
        double nearest = INFINITY;
        for (int i = 0; i < r->event_count; i++)
            nearest = fmin(nearest, fabs(r->events[i] - ref->events[k]));
        if (!(nearest <= ref->growth * ref->rtol * ref->t))
            print_error("event at %.17g: nearest is %g away\n", ref->events[k], nearest);
        assert_true(nearest <= ref->growth * ref->rtol * ref->t);
    }
}

static void check_same(const run *a, const run *b, int variables)
{
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++)
        assert_memory_equal(&a->attempts[i], &b->attempts[i], sizeof(attempt));
    assert_memory_equal(a->values, b->values, (size_t)variables * sizeof(double));
}

static void check_model(const char *title, const reference *ref)
{
    run on_tape, native;
    dae_problem *p = load(title, DAE_ENGINE_TAPE), *q = load(title, DAE_ENGINE_NATIVE);
    solve(p, ref, &on_tape);
    solve(q, ref, &native);
    check_values(title, p, ref, &on_tape);
    check_events(ref, &on_tape);
    check_same(&on_tape, &native, dae_problem_variable_count(p));
    run_free(&on_tape), run_free(&native);
    dae_problem_free(p), dae_problem_free(q);
}

/* ---- one test for every text ------------------------------------------------------------------
 */

typedef struct text {
    char title[NAME_SIZE * 2], name[NAME_SIZE];
} text;

enum { MAX_TEXTS = 64, LEAST_SHORT = 13, LEAST_EXPORTED = 5 };

/* A text of higher index is understood, down to the names of its variables, but not solved. */
static void check_names(const char *title, const reference *ref)
{
    dae_problem *p = load(title, DAE_ENGINE_TAPE);
    for (int k = 0; k < ref->value_count; k++) (void)find_variable(p, ref->names[k]);
    dae_problem_free(p);
}

static void test_text(void **state)
{
    static reference ref;
    const text *t = *state;
    assert_true(reference_read(t->name, &ref));
    if (ref.index > 1)
        check_names(t->title, &ref);
    else
        check_model(t->title, &ref);
}

/* Add the texts of a directory below that of the models; how many. */
static int find_texts(const char *below, const char *ending, text *texts)
{
    char directory[PATH_SIZE];
    int count = 0;
    if (!join(directory, sizeof directory, models_directory(), below, "")) return 0;
    DIR *dir = opendir(directory);
    if (!dir) return 0;
    for (struct dirent *entry; (entry = readdir(dir)) && count < MAX_TEXTS / 2;) {
        const char *dot = strrchr(entry->d_name, '.');
        if (!dot || strcmp(dot, ending) != 0) continue;
        text *t = &texts[count];
        if (!join(t->title, sizeof t->title, below, entry->d_name, "")) continue;
        count++;
        snprintf(t->name, sizeof t->name, "%.*s", (int)(dot - entry->d_name), entry->d_name);
    }
    closedir(dir);
    return count;
}

static int by_title(const void *a, const void *b)
{
    return strcmp(((const text *)a)->title, ((const text *)b)->title);
}

/* All models are there: a test of nothing would pass. */
static void test_corpus(void **state)
{
    const int *counts = *state;
    assert_true(counts[0] >= LEAST_SHORT);
    assert_true(counts[1] >= LEAST_EXPORTED);
}

int main(void)
{
    static text texts[MAX_TEXTS];
    static struct CMUnitTest tests[MAX_TEXTS + 1]; /* entries without a name are passed over */
    int counts[2];
    counts[0] = find_texts("", ".mo", texts);
    counts[1] = find_texts("base/", ".bmo", texts + counts[0]);
    int count = counts[0] + counts[1];
    qsort(texts, (size_t)count, sizeof *texts, by_title);
    tests[0] = (struct CMUnitTest){.name = "corpus", .test_func = test_corpus};
    tests[0].initial_state = counts;
    for (int i = 0; i < count; i++) {
        tests[i + 1] = (struct CMUnitTest){.name = texts[i].title, .test_func = test_text};
        tests[i + 1].initial_state = &texts[i];
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
