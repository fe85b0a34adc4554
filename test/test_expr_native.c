/* Emitted C, compiled and loaded: the same bits as the tape; and the cache around it. */
#define _POSIX_C_SOURCE 200809L
#include "expr/native.h"

#include "base/memory.h"
#include "compiler_place.h"
#include "expr/derive.h"
#include "expr/emit.h"
#include "expr/native_parts.h"
#include "expr_random.h"

#include <dirent.h>
#include <fcntl.h>
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- a cache and a compiler of our own ------------------------------------------------------- */

typedef compiler_place place;

static int set_up(void **state)
{
    *state = place_new();
    return *state ? 0 : -1;
}

static int tear_down(void **state)
{
    place_free(*state);
    return 0;
}

static const place *need_compiler(void **state)
{
    const place *p = *state;
    if (!p->there) skip();
    return p;
}

static int starts(const place *p)
{
    return place_starts(p, NULL);
}

/* Number of entries of the cache; the path of the last of them. */
static int entries(const place *p, char path[NATIVE_PATH])
{
    return place_entries(p, "", path);
}

static const char answer[] = "void f(double time, const double *y, const double *yp,\n"
                             "const double *ypp, const double *p, const double *m, double *out)\n"
                             "{\n (void)y, (void)yp, (void)ypp, (void)p, (void)m;\n"
                             " out[0] = 42.0 * time;\n}\n";

/* Load `answer` and use it. */
static void load_answer(void)
{
    native_module *module;
    char reason[NATIVE_REASON];
    double out = 0.0;
    if (native_load(answer, strlen(answer), &module, reason) != NATIVE_OK) fail_msg("%s", reason);
    native_function f = native_find(module, "f");
    assert_non_null(f);
    assert_null(native_find(module, "g"));
    f(0.5, NULL, NULL, NULL, NULL, NULL, &out);
    assert_true(out == 21.0);
    native_free(module);
}

static native_status try(const char *source, char reason[NATIVE_REASON])
{
    native_module *module;
    native_status status = native_load(source, strlen(source), &module, reason);
    assert_true((module != NULL) == (status == NATIVE_OK));
    native_free(module);
    return status;
}

/* ---- the cache ------------------------------------------------------------------------------- */

/* The examples of FIPS 180-2, appendix B, and the empty message. */
static void test_hash(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        unsigned char first[4], last[4];
    } known[] = {
        {"abc", {0xba, 0x78, 0x16, 0xbf}, {0xf2, 0x00, 0x15, 0xad}},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         {0x24, 0x8d, 0x6a, 0x61},
         {0x19, 0xdb, 0x06, 0xc1}},
        {"", {0xe3, 0xb0, 0xc4, 0x42}, {0x78, 0x52, 0xb8, 0x55}},
    };
    for (int k = 0; k < 3; k++) {
        hash h;
        unsigned char digest[HASH_BYTES];
        hash_start(&h);
        hash_add(&h, known[k].text, strlen(known[k].text));
        hash_finish(&h, digest);
        assert_memory_equal(digest, known[k].first, 4);
        assert_memory_equal(digest + 28, known[k].last, 4);
    }
}

static void test_second_load_starts_nothing(void **state)
{
    const place *p = need_compiler(state);
    struct stat s;
    load_answer();
    assert_int_equal(starts(p), 1);
    load_answer();
    assert_int_equal(starts(p), 1);
    assert_int_equal(entries(p, NULL), 1); /* and no workshop is left */
    assert_int_equal(stat(p->cache, &s), 0);
    assert_int_equal(s.st_mode & 0777, 0700);
}

/* Another compiler, or the same one changed, makes another module. */
static void test_compiler_is_part_of_the_key(void **state)
{
    const place *p = need_compiler(state);
    char words[NATIVE_PATH + 16];
    load_answer();
    snprintf(words, sizeof words, "%s -DSOMETHING", p->compiler);
    setenv("DAEDAL_CC", words, 1);
    load_answer();
    assert_int_equal(starts(p), 2);
    assert_int_equal(entries(p, NULL), 2);
}

static void damage(const char *path, off_t at)
{
    int file = open(path, O_RDWR);
    char byte = 0;
    assert_true(file >= 0 && pread(file, &byte, 1, at) == 1);
    byte = (char)(byte ^ 1);
    assert_int_equal(pwrite(file, &byte, 1, at), 1);
    close(file);
}

static void test_damaged_module_is_rebuilt(void **state)
{
    const place *p = need_compiler(state);
    char path[NATIVE_PATH];
    struct stat s;
    load_answer();
    assert_int_equal(entries(p, path), 1);
    assert_int_equal(stat(path, &s), 0);
    damage(path, s.st_size / 2);
    load_answer();
    assert_int_equal(starts(p), 2);
    assert_int_equal(truncate(path, s.st_size / 2), 0);
    load_answer();
    assert_int_equal(starts(p), 3);
    assert_int_equal(truncate(path, 0), 0);
    load_answer();
    assert_int_equal(starts(p), 4);
    load_answer();
    assert_int_equal(starts(p), 4);
}

static void test_writable_by_others_is_not_trusted(void **state)
{
    const place *p = need_compiler(state);
    char path[NATIVE_PATH], reason[NATIVE_REASON];
    load_answer();
    entries(p, path);
    assert_int_equal(chmod(path, 0722), 0);
    load_answer();
    assert_int_equal(starts(p), 2);
    assert_int_equal(chmod(p->cache, 0770), 0);
    assert_int_equal(try(answer, reason), NATIVE_FAILED);
    assert_non_null(strstr(reason, "can write"));
}

static void test_no_directory(void **state)
{
    const place *p = need_compiler(state);
    char path[NATIVE_PATH], reason[NATIVE_REASON];
    assert_true(cache_join(path, p->compiler, "cache")); /* below a file nothing can be made */
    setenv("DAEDAL_CACHE_DIR", path, 1);
    assert_int_equal(try(answer, reason), NATIVE_FAILED);
    assert_non_null(strstr(reason, "cache directory"));
    assert_int_equal(starts(p), 0);
}

/* A link in the path of the cache, made by the user, or by somebody else. */
static void load_by_link(const place *p, const char *below, uid_t owner, bool refused)
{
    char link[NATIVE_PATH], path[NATIVE_PATH], reason[NATIVE_REASON];
    assert_true(cache_join(link, p->cache, "../../link") && cache_join(path, link, below));
    assert_int_equal(symlink(p->cache, link), 0);
    assert_int_equal(lchown(link, owner, (gid_t)-1), 0);
    setenv("DAEDAL_CACHE_DIR", *below ? path : link, 1);
    native_status result = try(answer, reason);
    unlink(link);
    assert_int_equal(result, refused ? NATIVE_FAILED : NATIVE_OK);
    if (refused) assert_non_null(strstr(reason, "others own a symbolic link"));
}

static void test_links(void **state)
{
    const place *p = need_compiler(state);
    load_answer(); /* the directory is there */
    load_by_link(p, "", geteuid(), false);
    load_by_link(p, "below", geteuid(), false);
    char below[NATIVE_PATH];
    assert_true(cache_join(below, p->cache, "below"));
    cache_remove(below);
    if (geteuid() != 0) return; /* others cannot give links away */
    load_by_link(p, "", 12345, true);
    load_by_link(p, "below", 12345, true);
    load_by_link(p, "/", 12345, true);
}

/* Several processes want the same module at once; all get it, one file stays. */
static void test_many_at_once(void **state)
{
    const place *p = need_compiler(state);
    enum { PROCESSES = 4 };
    pid_t child[PROCESSES];
    for (int k = 0; k < PROCESSES; k++) {
        child[k] = fork();
        if (child[k] != 0) continue;
        native_module *module;
        double out = 0.0;
        bool ok = native_load(answer, strlen(answer), &module, NULL) == NATIVE_OK;
        if (ok) native_find(module, "f")(0.5, NULL, NULL, NULL, NULL, NULL, &out);
        native_free(module);
        _exit(ok && out == 21.0 ? 0 : 1);
    }
    for (int k = 0; k < PROCESSES; k++) {
        int status;
        assert_int_equal(waitpid(child[k], &status, 0), child[k]);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    assert_int_equal(entries(p, NULL), 1);
    int before = starts(p);
    load_answer();
    assert_int_equal(starts(p), before);
}

/* ---- the compiler ---------------------------------------------------------------------------- */

static void test_no_compiler(void **state)
{
    (void)state;
    char reason[NATIVE_REASON];
    setenv("DAEDAL_CC", "/nonexistent/cc", 1);
    assert_false(native_available());
    assert_int_equal(try(answer, reason), NATIVE_NO_COMPILER);
    assert_non_null(strstr(reason, "/nonexistent/cc"));
    char *path = strdup(getenv("PATH"));
    unsetenv("DAEDAL_CC");
    unsetenv("CC");
    setenv("PATH", "/nonexistent", 1);
    native_status status = try(answer, reason);
    setenv("PATH", path, 1);
    free(path);
    assert_int_equal(status, NATIVE_NO_COMPILER);
}

static void test_failing_compiler(void **state)
{
    const place *p = need_compiler(state);
    char reason[NATIVE_REASON];
    assert_int_equal(try("this is not C\n", reason), NATIVE_FAILED);
    assert_non_null(strstr(reason, "error"));
    place_script(p, "exit 1");
    assert_int_equal(try(answer, reason), NATIVE_FAILED);
    assert_non_null(strstr(reason, "without a message"));
    place_script(p, "exit 0"); /* content, and nothing made */
    assert_int_equal(try(answer, reason), NATIVE_FAILED);
    assert_int_equal(entries(p, NULL), 0);
}

static void test_slow_compiler_is_stopped(void **state)
{
    const place *p = need_compiler(state);
    native_module *module;
    char reason[NATIVE_REASON];
    place_script(p, "sleep 100 & wait");
    assert_int_equal(native_load_within(answer, strlen(answer), 0.2, &module, reason),
                     NATIVE_FAILED);
    assert_null(module);
    assert_non_null(strstr(reason, "stopped"));
    assert_int_equal(entries(p, NULL), 0);
}

/* ---- the same bits --------------------------------------------------------------------------- */

static bool same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

/* Ordinary values with special ones among them. */
static double any_value(random_source *s, bool special)
{
    static const double list[] = {0.0,         -0.0,    1.0,      -1.0,      INFINITY, -INFINITY,
                                  (double)NAN, DBL_MAX, -DBL_MAX, 0x1p-1074, DBL_MIN,  0.5};
    if (special && random_below(s, 2) == 0) return list[random_below(s, 12)];
    return random_between(s, -3.0, 3.0);
}

/* Inputs whose arrays are all `values`, different for every leaf. */
typedef struct values {
    double y[3][RANDOM_VARIABLES], parameter[RANDOM_PARAMETERS], memory[RANDOM_MEMORIES];
} values;

static tape_inputs any_inputs(random_source *s, values *v, bool special)
{
    for (int m = 0; m < 3; m++)
        for (int i = 0; i < RANDOM_VARIABLES; i++) v->y[m][i] = any_value(s, special);
    for (int i = 0; i < RANDOM_PARAMETERS; i++) v->parameter[i] = any_value(s, special);
    for (int i = 0; i < RANDOM_MEMORIES; i++) v->memory[i] = any_value(s, special);
    return (tape_inputs){.time = any_value(s, special),
                         .values = {v->y[0], v->y[1], v->y[2]},
                         .parameters = v->parameter,
                         .memory = v->memory};
}

/* Load the functions; the module. */
static native_module *load_functions(const graph *g, const emit_function *f, size_t count,
                                     bool expect_split)
{
    emit_text text = {0};
    native_module *module;
    char reason[NATIVE_REASON];
    emit_unit(&text, g, f, count, NULL, NULL);
    assert_false(text.failed);
    assert_int_equal(strstr(text.text, "PART void") != NULL, expect_split);
    if (native_load(text.text, text.length, &module, reason) != NATIVE_OK)
        fail_msg("%s\n%s", reason, text.text);
    emit_free(&text);
    return module;
}

/* Tape and native code of e, at many points, every other one with special values. */
static void compare_engines(const graph *g, const expr *e, size_t count, native_function f,
                            random_source *s)
{
    expr_code c;
    double *taped = DAE_ARRAY(double, count), *native = DAE_ARRAY(double, count);
    assert_true(code_new(&c, g, e, count));
    for (int k = 0; k < 40; k++) {
        values v;
        tape_inputs in = any_inputs(s, &v, k % 2 == 1);
        code_prepare(&c, &in);
        c.native = NULL;
        code_run(&c, &in, taped);
        c.native = f;
        code_run(&c, &in, native);
        for (size_t i = 0; i < count; i++)
            if (!same_bits(taped[i], native[i]))
                fail_msg("output %zu: %a by the tape, %a natively", i, taped[i], native[i]);
    }
    code_free(&c);
    dae_free(taped);
    dae_free(native);
}

/* 200 functions of one output each. */
static void check_small_functions(void)
{
    enum { COUNT = 200 };
    random_source s = {11};
    graph *g = graph_new();
    expr e[COUNT];
    char name[COUNT][16];
    emit_function f[COUNT];
    for (int k = 0; k < COUNT; k++) {
        e[k] = random_wild(g, &s, 1 + k % 7);
        snprintf(name[k], sizeof name[k], "f%d", k);
        f[k] = (emit_function){.name = name[k], .e = &e[k], .count = 1};
    }
    native_module *module = load_functions(g, f, COUNT, false);
    for (int k = 0; k < COUNT; k++) compare_engines(g, &e[k], 1, native_find(module, name[k]), &s);
    native_free(module);
    graph_free(g);
}

static void test_same_bits(void **state)
{
    (void)need_compiler(state);
    check_small_functions();
}

/* The other compiler, if there is one. */
static void test_same_bits_by_clang(void **state)
{
    (void)need_compiler(state);
    setenv("DAEDAL_CC", "clang", 1);
    if (!native_available()) skip();
    check_small_functions();
}

/* One large function, cut into parts that share temporaries, with all its partial derivatives. */
static void test_same_bits_in_parts(void **state)
{
    (void)need_compiler(state);
    enum { COUNT = 60, MOST = 4000 };
    random_source s = {12};
    graph *g = graph_new();
    static expr e[MOST];
    size_t n = 0;
    for (int k = 0; k < COUNT; k++) {
        gradient slope = {0};
        e[n++] = random_smooth(g, &s, 5);
        assert_true(derive_gradient(g, e[n - 1], &slope));
        for (size_t j = 0; j < slope.count && n < MOST; j++) e[n++] = slope.derivative[j];
        gradient_free(&slope);
    }
    for (size_t k = 0; k < 20; k++) e[n++] = e[7 * k]; /* known in a part long past */
    emit_function f = {.name = "all", .e = e, .count = n};
    native_module *module = load_functions(g, &f, 1, true);
    compare_engines(g, e, n, native_find(module, "all"), &s);
    native_free(module);
    graph_free(g);
}

/* pow(x, 5), exp and their like are calls of the library, never what a compiler makes of them. */
static void test_same_bits_of_powers(void **state)
{
    (void)need_compiler(state);
    static const double exponent[] = {5.0, 0.5, -0.5, 1.5, -2.0, 1.0 / 3, 10.0};
    enum { COUNT = sizeof exponent / sizeof *exponent };
    random_source s = {13};
    graph *g = graph_new();
    expr x = graph_variable(g, 0, 0), e[COUNT + 1];
    for (int k = 0; k < COUNT; k++)
        e[k] = graph_binary(g, EXPR_POW, x, graph_constant(g, exponent[k]));
    e[COUNT] = graph_binary(g, EXPR_POW, graph_constant(g, 2.0), x);
    emit_function f = {.name = "f", .e = e, .count = COUNT + 1};
    native_module *module = load_functions(g, &f, 1, false);
    for (int k = 0; k < 50; k++) compare_engines(g, e, COUNT + 1, native_find(module, "f"), &s);
    native_free(module);
    graph_free(g);
}

/* ---- the text -------------------------------------------------------------------------------- */

/* Numbers read back exactly, with the fewest digits of 15, 16 and 17. */
static void test_numbers(void **state)
{
    (void)state;
    char text[32];
    random_source s = {14};
    for (int k = 0; k < 20000; k++) {
        uint64_t bits = ((uint64_t)random_below(&s, INT32_MAX) << 33) ^
                        ((uint64_t)random_below(&s, INT32_MAX) << 10) ^
                        (uint64_t)random_below(&s, 1 << 12);
        double value;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value)) continue;
        emit_number(value, text);
        assert_true(same_bits(strtod(text, NULL), value));
    }
    emit_number(0.1, text);
    assert_string_equal(text, "0.1");
    emit_number(-3.0, text);
    assert_string_equal(text, "-3.0");
    emit_number(-0.0, text);
    assert_string_equal(text, "-0.0");
    emit_number(1e300, text);
    assert_string_equal(text, "1e+300");
    emit_number(-(double)INFINITY, text);
    assert_string_equal(text, "-INFINITY");
}

static const char *leaf_name(void *context, const expr_node *leaf)
{
    (void)context;
    return leaf->op == EXPR_VARIABLE ? "*/ int evil; /*" : "mass";
}

/* Text as a person would write it; and comments that cannot be escaped from. */
static void test_text(void **state)
{
    (void)state;
    graph *g = graph_new();
    expr x = graph_variable(g, 0, 0), v = graph_variable(g, 0, 1), m = graph_parameter(g, 0);
    expr product = graph_binary(g, EXPR_MUL, m, v), s = graph_unary(g, EXPR_SIN, x);
    expr e[] = {graph_binary(g, EXPR_SUB, product, graph_binary(g, EXPR_ADD, x, s)),
                graph_binary(g, EXPR_DIV, x, graph_binary(g, EXPR_MUL, v, m))};
    const char *labels[] = {"balance */ of /* momentum", NULL};
    emit_function f = {"f", "What moves", e, 2, labels};
    emit_text t = {0};
    emit_unit(&t, g, &f, 1, leaf_name, NULL);
    assert_false(t.failed || t.unsupported);
    assert_non_null(strstr(t.text, "/* What moves */\nvoid f("));
    assert_non_null(strstr(t.text, "    const double t1 = "));
    assert_non_null(strstr(t.text, "balance * / of / * momentum"));
    assert_non_null(strstr(t.text, "    out[0] = t1 - ("));
    assert_non_null(strstr(t.text, "    out[1] = y[0] / t1;\n"));
    assert_non_null(strstr(t.text, "yp[0]  der(* / int evil; / *)"));
    assert_non_null(strstr(t.text, "p[0]  mass"));
    emit_free(&t);
    graph_free(g);
}

/* A third derivative has no argument: said, not compiled wrongly. */
static void test_unsupported_order(void **state)
{
    (void)state;
    graph *g = graph_new();
    expr e = graph_variable(g, 0, 3);
    emit_function f = {.name = "f", .e = &e, .count = 1};
    emit_text t = {0};
    emit_unit(&t, g, &f, 1, NULL, NULL);
    assert_true(t.unsupported);
    emit_free(&t);
    graph_free(g);
}

#define WITH_PLACE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hash),
        WITH_PLACE(test_second_load_starts_nothing),
        WITH_PLACE(test_compiler_is_part_of_the_key),
        WITH_PLACE(test_damaged_module_is_rebuilt),
        WITH_PLACE(test_writable_by_others_is_not_trusted),
        WITH_PLACE(test_no_directory),
        WITH_PLACE(test_links),
        WITH_PLACE(test_many_at_once),
        WITH_PLACE(test_no_compiler),
        WITH_PLACE(test_failing_compiler),
        WITH_PLACE(test_slow_compiler_is_stopped),
        WITH_PLACE(test_same_bits),
        WITH_PLACE(test_same_bits_by_clang),
        WITH_PLACE(test_same_bits_in_parts),
        WITH_PLACE(test_same_bits_of_powers),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_unsupported_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
