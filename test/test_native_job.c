/* Compilers beside a run: started, asked, ended; programs found by what they compute; several
 * files; a cache that does not grow without bound. */
#define _XOPEN_SOURCE 700
#include "expr/native.h"

#include "base/memory.h"
#include "expr/emit.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "compiler_place.h"

/* No child is left, dead or alive. */
static void no_child_is_left(void)
{
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

/* ---- one program ------------------------------------------------------------------------------
 */

/* sin(y)*p + number, and its C text. */
typedef struct sample {
    graph *g;
    expr e;
    expr_code code;
    native_key key;
    emit_text text;
} sample;

static void sample_new(sample *s, double number)
{
    char name[NATIVE_NAME];
    *s = (sample){.g = graph_new()};
    expr y = graph_variable(s->g, 0, 0), p = graph_parameter(s->g, 0);
    expr product = graph_binary(s->g, EXPR_MUL, graph_unary(s->g, EXPR_SIN, y), p);
    s->e = graph_binary(s->g, EXPR_ADD, product, graph_constant(s->g, number));
    assert_true(code_new(&s->code, s->g, &s->e, 1));
    native_key_of(s->code.tape, &s->key);
    native_key_name(&s->key, name);
    s->text.in_files = true;
    emit_unit(&s->text, s->g, &(emit_function){.name = name, .e = &s->e, .count = 1}, 1, NULL,
              NULL);
}

static void sample_free(sample *s)
{
    emit_free(&s->text);
    code_free(&s->code);
    graph_free(s->g);
}

static native_job *start(const sample *s, double seconds)
{
    native_job *job = NULL;
    char reason[NATIVE_REASON];
    if (native_job_new(s->text.text, s->text.length, &s->key, 1, seconds, &job, reason) !=
        NATIVE_OK)
        fail_msg("%s", reason);
    return job;
}

static void check_value(const sample *s, native_function f)
{
    double y = 0.7, p = 1.3, expected, got;
    tape_inputs in = {.values = {&y}, .parameters = &p};
    code_prepare((expr_code *)&s->code, &in);
    code_run((expr_code *)&s->code, &in, &expected);
    assert_non_null(f);
    f(0.0, &y, NULL, NULL, &p, NULL, &got);
    assert_memory_equal(&expected, &got, sizeof got);
}

/* Whether the process has the program in memory; the cache is not asked. */
static bool is_loaded(const sample *s)
{
    native_function f = NULL;
    native_module *m = NULL;
    bool found = native_lookup(&s->key, 1, false, &f, &m) == 1;
    if (found) check_value(s, f);
    native_free(m);
    return found;
}

static void test_keys(void **state)
{
    (void)state;
    sample a, b, c;
    sample_new(&a, 1.0);
    sample_new(&b, 1.0);
    sample_new(&c, 1.5);
    assert_memory_equal(&a.key, &b.key, sizeof a.key);
    assert_memory_not_equal(&a.key, &c.key, sizeof a.key);
    sample_free(&a), sample_free(&b), sample_free(&c);
}

/* Nobody waits while it works; then it is there by its key, in memory and on disk. */
static void test_beside(void **state)
{
    const compiler_place *p = place_need(state);
    sample s;
    native_module *module = NULL, *again = NULL;
    native_function f = NULL;
    sample_new(&s, 2.0);
    assert_true(place_script(p, waits_then_compiles));
    native_job *job = start(&s, 60.0);
    assert_false(native_job_done(job));
    assert_false(is_loaded(&s));
    assert_true(place_write(p->go, ""));
    native_job_wait(job);
    assert_int_equal(native_job_take(job, &module, NULL), NATIVE_OK);
    native_job_free(job);
    assert_int_equal(place_entries(p, "build-", NULL), 0);
    assert_int_equal(place_entries(p, "", NULL), 1);
    assert_true(is_loaded(&s));
    native_free(module);
    assert_true(is_loaded(&s)); /* it stays for a while */
    assert_int_equal(native_lookup(&s.key, 1, true, &f, &again), 1);
    native_free(again);
    native_place place;
    assert_int_equal(native_place_open(&place, (char[NATIVE_REASON]){0}), NATIVE_OK);
    again = native_from_cache(&place, &s.key, true, &(bool){false});
    assert_non_null(again);
    native_free(again);
    assert_int_equal(place_starts(p, NULL), 1);
    no_child_is_left();
    sample_free(&s);
}

/* A damaged file is no module, wherever the damage is. */
static void test_damage(void **state)
{
    const compiler_place *p = place_need(state);
    sample s;
    native_module *module;
    native_place place;
    char path[NATIVE_PATH];
    struct stat file;
    sample_new(&s, 3.0);
    native_job *job = start(&s, 60.0);
    native_job_wait(job);
    assert_int_equal(native_job_take(job, &module, NULL), NATIVE_OK);
    native_job_free(job);
    assert_int_equal(place_entries(p, "", path), 1);
    assert_int_equal(stat(path, &file), 0);
    assert_int_equal(file.st_mode & 0077, 0);
    int open_file = open(path, O_WRONLY | O_APPEND);
    assert_int_equal(write(open_file, "x", 1), 1);
    close(open_file);
    assert_int_equal(native_place_open(&place, (char[NATIVE_REASON]){0}), NATIVE_OK);
    assert_null(native_from_cache(&place, &s.key, true, &(bool){false}));
    native_free(module);
    sample_free(&s);
}

/* ---- compilers that are of no use -------------------------------------------------------------
 */

static void test_ended_before_it_is_done(void **state)
{
    const compiler_place *p = place_need(state);
    sample s;
    long process;
    sample_new(&s, 4.0);
    assert_true(place_script(p, "sleep 100 & wait"));
    native_job *job = start(&s, 60.0);
    while (place_starts(p, &process) == 0) sleep_for(0.01);
    assert_false(native_job_done(job));
    native_job_free(job);
    assert_int_equal(kill((pid_t)process, 0), -1);
    assert_int_equal(place_entries(p, "", NULL), 0);
    no_child_is_left();
    sample_free(&s);
}

static void fails_with(void **state, const char *script, double seconds, const char *words)
{
    const compiler_place *p = place_need(state);
    sample s;
    native_module *module;
    char reason[NATIVE_REASON];
    sample_new(&s, 5.0);
    assert_true(place_script(p, script));
    native_job *job = start(&s, seconds);
    while (!native_job_done(job)) sleep_for(0.01);
    assert_int_equal(native_job_take(job, &module, reason), NATIVE_FAILED);
    assert_null(module);
    if (!strstr(reason, words)) fail_msg("%s", reason);
    native_job_free(job);
    assert_int_equal(place_entries(p, "", NULL), 0);
    no_child_is_left();
    sample_free(&s);
}

static void test_failing(void **state)
{
    fails_with(state, "echo 'error: no more ink' >&2\nexit 1", 60.0, "no more ink");
}

static void test_hanging(void **state)
{
    fails_with(state, "sleep 100 & wait", 0.2, "stopped after");
}

static void test_killed(void **state)
{
    fails_with(state, "kill -9 $$", 60.0, "without a message");
}

static void test_content_with_nothing_made(void **state)
{
    fails_with(state, "exit 0", 60.0, "without a message");
}

/* A child by fork frees its copy: the compiler of its parent goes on. */
static void test_fork(void **state)
{
    const compiler_place *p = place_need(state);
    sample s;
    native_module *module;
    int status;
    sample_new(&s, 6.0);
    assert_true(place_script(p, waits_then_compiles));
    native_job *job = start(&s, 60.0);
    pid_t child = fork();
    if (child == 0) {
        native_job_free(job);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(place_write(p->go, ""));
    native_job_wait(job);
    assert_int_equal(native_job_take(job, &module, NULL), NATIVE_OK);
    native_free(module);
    native_job_free(job);
    sample_free(&s);
}

/* ---- files ------------------------------------------------------------------------------------
 */

/* Long texts become several files, each with the head. */
static void test_files(void **state)
{
    const compiler_place *p = place_need(state);
    enum { PADDING = 300000 };
    static const char head[] = "static double head(void) { return 3.0; }\n";
    static const char first[] =
        "\fdouble part(double a) { return a * head(); }\n"; /* its own file, since it is long */
    static const char second[] =
        "\fdouble part(double a);\nvoid f(double time, const double *y,\n"
        "const double *yp, const double *ypp, const double *p,\n"
        "const double *m, double *out) { out[0] = part(time) + head(); }\n";
    char *text = malloc(PADDING + 1000);
    int n = sprintf(text, "%s%s", head, first);
    memset(text + n, ' ', PADDING);
    strcpy(text + n + PADDING, second);
    assert_true(place_script(p, "ls $TMPDIR/source1.c >/dev/null || exit 1\nexec $cc \"$@\""));
    native_module *module;
    char reason[NATIVE_REASON];
    double out = 0.0;
    if (native_load(text, strlen(text), &module, reason) != NATIVE_OK) fail_msg("%s", reason);
    native_find(module, "f")(2.0, NULL, NULL, NULL, NULL, NULL, &out);
    assert_true(out == 9.0);
    native_free(module);
    free(text);
}

/* ---- the cache --------------------------------------------------------------------------------
 */

static void put_file(const compiler_place *p, const char *name, size_t bytes, time_t age)
{
    char path[NATIVE_PATH], *text = calloc(bytes + 1, 1);
    struct timespec times[2] = {{time(NULL) - age, 0}, {time(NULL) - age, 0}};
    memset(text, 'x', bytes);
    assert_true(cache_join(path, p->cache, name));
    assert_true(cache_write(path, text, bytes, "", 0));
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    free(text);
}

static bool has_file(const compiler_place *p, const char *name)
{
    char path[NATIVE_PATH];
    return cache_join(path, p->cache, name) && access(path, F_OK) == 0;
}

/* What was used least recently goes, names of one file together; others' files stay. */
#define EIGHT(digit) digit digit digit digit digit digit digit digit
#define MODULE(digit) EIGHT(EIGHT(digit)) ".so"
static void test_trim(void **state)
{
    const compiler_place *p = *state;
    const char *old = MODULE("0"), *same = MODULE("1"), *middle = MODULE("2"), *new = MODULE("f");
    char directory[NATIVE_PATH], from[NATIVE_PATH], to[NATIVE_PATH];
    assert_true(cache_open(directory, (char[NATIVE_REASON]){0}));
    put_file(p, old, 1000, 300);
    cache_join(from, p->cache, old);
    cache_join(to, p->cache, same);
    assert_int_equal(link(from, to), 0);
    put_file(p, middle, 1000, 200);
    put_file(p, new, 1000, 100);
    put_file(p, "readme", 1000, 400);
    put_file(p, "libother.so", 1000, 400);
    cache_trim(p->cache, 3000.0);
    assert_int_equal(place_entries(p, "", NULL), 6);
    cache_trim(p->cache, 2000.0);
    assert_false(has_file(p, old) || has_file(p, same));
    assert_true(has_file(p, middle) && has_file(p, new) && has_file(p, "readme"));
    cache_join(from, p->cache, middle);
    cache_touch(from);
    cache_trim(p->cache, 1000.0);
    assert_true(has_file(p, middle) && !has_file(p, new));
    assert_true(has_file(p, "libother.so"));
}

/* What a compilation has left that was cut short by the end of the machine. */
static void test_abandoned(void **state)
{
    const compiler_place *p = *state;
    char directory[NATIVE_PATH], path[NATIVE_PATH];
    struct timespec times[2] = {{time(NULL) - 100000, 0}, {time(NULL) - 100000, 0}};
    assert_true(cache_open(directory, (char[NATIVE_REASON]){0}));
    cache_join(path, p->cache, "build-young");
    assert_int_equal(mkdir(path, 0700), 0);
    cache_join(path, p->cache, "build-old");
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    cache_join(path, p->cache, "build-other");
    assert_int_equal(mkdir(path, 0700), 0);
    put_file(p, "build-other/work", 10, 0);
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    cache_join(path, p->cache, "build-full");
    assert_int_equal(mkdir(path, 0700), 0);
    put_file(p, "build-full/source0.c", 10, 0);
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    cache_trim(p->cache, 1e9);
    assert_false(has_file(p, "build-old") || has_file(p, "build-full"));
    assert_true(has_file(p, "build-young") && has_file(p, "build-other/work"));
    cache_join(path, p->cache, "build-young");
    cache_remove(path);
    cache_join(path, p->cache, "build-other");
    cache_remove(path);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, place_set_up, place_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_keys),    TEST(test_beside),
        TEST(test_damage),  TEST(test_ended_before_it_is_done),
        TEST(test_failing), TEST(test_hanging),
        TEST(test_killed),  TEST(test_content_with_nothing_made),
        TEST(test_fork),    TEST(test_files),
        TEST(test_trim),    TEST(test_abandoned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
