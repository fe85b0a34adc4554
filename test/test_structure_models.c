/* The structure of models whose answers are known: models/structure.txt against the analysis.
 *
 * The table holds index, degrees of freedom and offsets of the equations as written. The analysis
 * sees them without aliases and with v for der(x) where an equation says so; offsets are compared
 * through the names. The format of the table is told in its head. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daedal.h"
#include "model/analyse.h"
#include "solve/bind/solver.h"

enum {
    MAX_ENTRIES = 128,
    MAX_EQUATIONS = 128,
    LINE_SIZE = 256,
    TEXT_SIZE = 4096,
    PATH_SIZE = 1024
};
enum { LEAST_ENTRIES = 50, LEAST_BROKEN = 25 };

/* Path of a file below the models: they are beside the directory of this file. */
static const char *model_path(const char *name, const char *ending)
{
    static char path[PATH_SIZE];
    const char *slash = strrchr(__FILE__, '/');
    int length = slash ? (int)(slash - __FILE__) + 1 : 0;
    int used = snprintf(path, sizeof path, "%.*s../models/%s%s", length, __FILE__, name, ending);
    assert_true(used > 0 && used < PATH_SIZE);
    return path;
}

/* ---- the table ---- */

typedef struct entry {
    char model[64], mode[32];
    int equations, structural, reduced, value, index, freedom;
    bool regular;
    int c[MAX_EQUATIONS], c_count;
    char d[TEXT_SIZE]; /* "x=1 v[2]=0 .." */
} entry;

/* Offsets "3*1 0 2" of equations: 1 1 1 0 2. */
static void read_offsets(entry *e, const char *text)
{
    for (int used = 0, times, c; sscanf(text, "%d%n", &c, &used) == 1; text += used) {
        times = 1;
        if (text[used] == '*') {
            times = c;
            text += used + 1;
            assert_int_equal(sscanf(text, "%d%n", &c, &used), 1);
        }
        assert_true(e->c_count + times <= MAX_EQUATIONS);
        while (times-- > 0) e->c[e->c_count++] = c;
    }
}

static void set_number(entry *e, const char *key, int value)
{
    struct {
        const char *key;
        int *place;
    } numbers[] = {{"equations", &e->equations}, {"structural", &e->structural},
                   {"reduced", &e->reduced},     {"value", &e->value},
                   {"index", &e->index},         {"freedom", &e->freedom}};
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
        if (strcmp(key, numbers[k].key) == 0) *numbers[k].place = value;
}

/* One item "key text" of an entry, continuation lines included. */
static void read_item(entry *e, const char *key, const char *text)
{
    if (strcmp(key, "c") == 0)
        read_offsets(e, text);
    else if (strcmp(key, "d") == 0)
        snprintf(e->d, sizeof e->d, "%s", text);
    else if (strcmp(key, "regular") == 0)
        e->regular = strncmp(text, "yes", 3) == 0;
    else if (strcmp(key, "source") != 0)
        set_number(e, key, atoi(text));
}

static entry *new_entry(entry *entries, int *count, const char *text)
{
    assert_true(*count < MAX_ENTRIES);
    entry *e = &entries[(*count)++];
    *e = (entry){.reduced = -1, .structural = -1, .value = -1, .index = -1, .freedom = -1};
    assert_true(sscanf(text, "%63s %31s", e->model, e->mode) >= 1);
    return e;
}

/* Give the item that has been collected to its entry. */
static void finish_item(entry *entries, int *count, const char *item)
{
    char key[32];
    int used = 0;
    if (sscanf(item, "%31s %n", key, &used) != 1) return;
    if (strcmp(key, "model") == 0) {
        new_entry(entries, count, item + used);
    } else {
        assert_true(*count > 0);
        read_item(&entries[*count - 1], key, item + used);
    }
}

static int read_table(entry *entries)
{
    char line[LINE_SIZE], item[TEXT_SIZE] = "";
    int count = 0;
    FILE *file = fopen(model_path("structure", ".txt"), "r");
    if (!file) return 0;
    while (fgets(line, sizeof line, file)) {
        if (line[0] == '#') continue;
        line[strcspn(line, "\n")] = '\0';
        size_t length = strlen(item);
        if (line[0] == ' ') {
            snprintf(item + length, sizeof item - length, " %s", line);
        } else {
            finish_item(entries, &count, item);
            snprintf(item, sizeof item, "%s", line);
        }
    }
    finish_item(entries, &count, item);
    fclose(file);
    return count;
}

/* ---- models ---- */

static dae_problem *load(const char *name)
{
    dae_problem *p = NULL;
    dae_diag diag = {0};
    dae_model model = {.file = model_path(name, ".mo"), .engine = DAE_ENGINE_TAPE};
    dae_status status = dae_problem_from_model(&model, &p, &diag);
    if (status < 0) print_error("%s\n", diag.text);
    assert_int_equal(status, DAE_OK);
    return p;
}

/* A Boolean of the model named `mode` is true, others are not; so for "stick", while "slip" names
 * none and leaves all of them false. */
static void set_mode(model_instance *m, const char *mode)
{
    const flat_model *flat = m->form->flat;
    for (size_t v = 0; v < flat->variable_count; v++) {
        const flat_variable *x = &flat->variables[v];
        if (!x->discrete) continue;
        double value = x->type == FLAT_BOOLEAN ? strcmp(x->name, mode) == 0
                                               : model_form_constant(m->form, x->start);
        m->memory[x->memory] = value;
        if (x->memory_pre >= 0) m->memory[x->memory_pre] = value;
    }
}

/* y = start values of the unknowns, 0 where there are none */
static void start_values(const model_form *f, double *y)
{
    for (int i = 0; i < f->n; i++) {
        int v = f->unknown_variable[i];
        double start = NAN;
        if (v >= 0 && f->unknown_order[i] == 0)
            start = model_form_constant(f, f->flat->variables[v].start);
        y[i] = isfinite(start) ? start : 0.0;
    }
}

static void analyse(const model_form *f, const char *mode, model_analysis *a)
{
    mode_slots slots;
    dae_diag diag = {0};
    model_instance *m = model_instance_new(f);
    double *y = calloc(2 * (size_t)f->n + 1, sizeof *y);
    assert_non_null(m);
    assert_non_null(y);
    assert_true(mode_slots_find(&slots, f));
    set_mode(m, mode);
    start_values(f, y);
    model_point at = {0.3, y, y + f->n, m->parameters, m->memory};
    assert_int_equal(model_analyse(f, &slots, &at, a, &diag), DAE_OK);
    mode_slots_free(&slots);
    model_instance_free(m);
    free(y);
}

/* ---- offsets by name ---- */

/* Whether `name` is `wanted`, or an element of the array `wanted`. */
static bool named(const char *name, const char *wanted, size_t length)
{
    return strncmp(name, wanted, length) == 0 && (name[length] == '\0' || name[length] == '[');
}

/* Offset d of a flat variable in the table; -1 if it is not there. */
static int offset_in_table(const entry *e, const char *name)
{
    for (const char *at = e->d; *at;) {
        size_t length = strcspn(at, "=");
        bool whole = strncmp(name, at, length) == 0 && name[length] == '\0';
        if (whole || (!memchr(at, '[', length) && named(name, at, length)))
            return atoi(at + length + 1);
        at += strcspn(at, " ");
        at += strspn(at, " ");
    }
    return -1;
}

/* least[j] = what the table demands of x_j of the set: of its name, of its aliases, and of the
 * names of its derivatives, of which an offset d counts d + order */
static void demanded(const entry *e, const model_form *f, const equation_set *set, int *least)
{
    for (int j = 0; j < set->n; j++) least[j] = -1;
    for (size_t v = 0; v < f->flat->variable_count; v++) {
        int top = f->alias[v].top, d = offset_in_table(e, f->flat->variables[v].name);
        int unknown = f->flat->variables[v].discrete ? -1 : f->first_unknown[top];
        if (unknown < 0 || d < 0) continue;
        for (int j = 0; j < set->n; j++)
            if (set->model[j] == unknown && d > least[j]) least[j] = d;
        for (int k = 0; k < set->synonym_count; k++) {
            const equation_synonym *s = &set->synonym[k];
            if (s->model == unknown && d + s->order > least[s->variable])
                least[s->variable] = d + s->order;
        }
    }
}

static void check_unknowns(const entry *e, const model_form *f, const analysed *a)
{
    int *least = calloc((size_t)a->set.n + 1, sizeof *least);
    demanded(e, f, &a->set, least);
    for (int j = 0; j < a->set.n; j++) {
        if (least[j] < 0) continue; /* no variable of the text */
        if (a->structure.d[j] != least[j])
            print_error("d of %s is %d, not %d\n", a->set.name[j], a->structure.d[j], least[j]);
        assert_int_equal(a->structure.d[j], least[j]);
    }
    free(least);
}

/* Whether a flat equation went into an alias. */
static bool eliminated(const model_form *f, int equation)
{
    for (size_t v = 0; v < f->flat->variable_count; v++)
        if (f->alias[v].equation == equation) return true;
    return false;
}

/* Equations of the base form are those of the text that are no aliases, in order. */
static void check_equations(const entry *e, const model_form *f, const analysed *a)
{
    int row = 0;
    int *c = calloc((size_t)f->n + 1, sizeof *c);
    for (int i = 0; i < f->n; i++) c[i] = -1;
    for (int i = 0; i < e->c_count; i++)
        if (!eliminated(f, i)) c[row++] = e->c[i];
    for (int i = 0; i < a->set.m; i++) {
        int source = a->set.row[i].source;
        if (source < 0 || source >= row) continue; /* der(x) = name of it, for second derivatives */
        if (a->structure.c[i] != c[source])
            print_error("c of %s is %d, not %d\n", a->set.row[i].name, a->structure.c[i],
                        c[source]);
        assert_int_equal(a->structure.c[i], c[source]);
    }
    free(c);
}

/* ---- tests ---- */

/* Where structure and numbers agree, both are right, and the offsets are known. */
static void check_regular(const entry *e, const model_form *f, const model_analysis *a)
{
    int structural = e->reduced >= 0 ? e->reduced : e->structural;
    int found = a->reduced.structure.index;
    if (found == 0 && f->evaluated_count > 0) found = 1; /* that of definitions and outputs */
    assert_int_equal(a->rewrites.count, 0);
    assert_int_equal(found, structural);
    assert_int_equal(a->reduced.structure.freedom, e->value);
    assert_int_equal(e->value, e->freedom);
    if (e->reduced >= 0) return; /* the reduced system has other offsets */
    check_unknowns(e, f, &a->reduced);
    check_equations(e, f, &a->reduced);
}

/* Where they do not, a rewriting brings the truth to light. */
static void check_hidden(const entry *e, const model_analysis *a)
{
    assert_int_equal(a->written.freedom, e->value);
    assert_true(a->rewrites.count > 0);
    assert_true(e->index > e->structural || e->freedom < e->value);
    assert_int_equal(a->index, e->index);
    assert_int_equal(a->reduced.structure.freedom, e->freedom);
}

static void test_structure(void **state)
{
    const entry *e = *state;
    dae_problem *p = load(e->model);
    model_analysis a;
    analyse(p->model, e->mode, &a);
    assert_false(a.written.singular);
    assert_int_equal(e->c_count, e->equations);
    assert_true(a.numbers_agree);
    if (e->regular)
        check_regular(e, p->model, &a);
    else
        check_hidden(e, &a);
    model_analysis_free(&a);
    dae_problem_free(p);
}

/* The table is there, and complete: a test of nothing would pass. */
static void test_table(void **state)
{
    const entry *entries = *state;
    int count = 0;
    for (const entry *e = entries; e->model[0]; e++, count++) {
        assert_true(e->structural >= 0 && e->index >= 0 && e->freedom >= 0 && e->value >= 0);
        assert_true(e->d[0]);
    }
    assert_true(count >= LEAST_ENTRIES);
}

/* ---- broken models ---- */

/* The text of a broken model, of at most TEXT_SIZE - 1 bytes. */
static void read_text(const char *name, char *text)
{
    char below[PATH_SIZE];
    snprintf(below, sizeof below, "broken/%.64s", name);
    FILE *file = fopen(model_path(below, ".mo"), "r");
    assert_non_null(file);
    size_t length = fread(text, 1, TEXT_SIZE - 1, file);
    assert_true(length > 0 && length < TEXT_SIZE - 1);
    text[length] = '\0';
    fclose(file);
}

/* Whether line number `wanted` of a text contains `word`. */
static bool line_contains(const char *text, int wanted, const char *word)
{
    char line[LINE_SIZE];
    for (int k = 1; k < wanted && text; k++)
        text = strchr(text, '\n') ? strchr(text, '\n') + 1 : NULL;
    if (!text) return false;
    snprintf(line, sizeof line, "%.*s", (int)strcspn(text, "\n"), text);
    return strstr(line, word);
}

/* The model is read and understood up to what is wrong with its equations: it fails, if at all,
 * with a message that is none of syntax or of names. */
static void check_readable(const char *name)
{
    char below[PATH_SIZE];
    dae_problem *p = NULL;
    dae_diag diag = {0};
    snprintf(below, sizeof below, "broken/%.64s", name);
    dae_model model = {.file = model_path(below, ".mo"), .engine = DAE_ENGINE_TAPE};
    dae_status status = dae_problem_from_model(&model, &p, &diag);
    assert_true(status == DAE_OK || diag.text[0]);
    assert_null(strstr(diag.text, "expected"));
    assert_null(strstr(diag.text, "unknown name"));
    dae_problem_free(p);
}

/* One item of models/broken.txt: culprits are marked in the text, names are in it. */
static void check_broken_item(const char *key, const char *rest, const char *text)
{
    char word[64];
    for (int used; sscanf(rest, "%63s%n", word, &used) == 1; rest += used) {
        if (strcmp(key, "lines") == 0) assert_true(line_contains(text, atoi(word), "// culprit"));
        bool names = strcmp(key, "names") == 0 || strcmp(key, "under") == 0 ||
                     strcmp(key, "fixed") == 0 || strcmp(key, "parameter") == 0;
        word[strcspn(word, "[")] = '\0';
        if (names) assert_non_null(strstr(text, word));
    }
}

/* models/broken.txt speaks of the texts as they are, and of enough of them. */
static void test_broken(void **state)
{
    (void)state;
    char line[LINE_SIZE], key[32], text[TEXT_SIZE] = "";
    int count = 0, used;
    FILE *file = fopen(model_path("broken", ".txt"), "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        if (line[0] == '#' || sscanf(line, "%31s %n", key, &used) != 1) continue;
        line[strcspn(line, "\n")] = '\0';
        if (strcmp(key, "model") == 0) {
            read_text(line + used, text);
            check_readable(line + used);
            count++;
        } else {
            check_broken_item(key, line + used, text);
        }
    }
    fclose(file);
    assert_true(count >= LEAST_BROKEN);
}

int main(void)
{
    static entry entries[MAX_ENTRIES + 1]; /* the last one stays empty */
    static char titles[MAX_ENTRIES][128];
    static struct CMUnitTest tests[MAX_ENTRIES + 2]; /* entries without a name are passed over */
    int count = read_table(entries);
    tests[0] = (struct CMUnitTest){"table", test_table, NULL, NULL, entries};
    tests[1] = (struct CMUnitTest){"broken", test_broken, NULL, NULL, NULL};
    for (int i = 0; i < count; i++) {
        snprintf(titles[i], sizeof titles[i], "%.63s %.31s", entries[i].model, entries[i].mode);
        tests[i + 2] = (struct CMUnitTest){titles[i], test_structure, NULL, NULL, &entries[i]};
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
