/* Every allocation of the flattener fails once: no model comes back, nothing leaks. The one door to
 * the heap asks calloc and aligned_alloc, which are replaced here; free is watched. */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "test_modelica_flatten.h"

static long countdown = -1; /* allocations until one fails; negative: none does */
static long requests, live;
static bool watching;

static void *request(size_t alignment, size_t size)
{
    void *block = NULL;
    if (watching) {
        requests++;
        if (countdown >= 0 && countdown-- == 0) return NULL;
    }
    if (posix_memalign(&block, alignment, size) != 0) return NULL;
    if (watching) live++;
    return block;
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return request(alignment, size);
}

void *calloc(size_t count, size_t size)
{
    void *block = size == 0 || count <= SIZE_MAX / size ? request(64, count * size) : NULL;
    return block ? memset(block, 0, count * size) : NULL;
}

void free(void *block)
{
    static void (*real)(void *);
    if (!real) {
        void *symbol = dlsym(RTLD_NEXT, "free");
        memcpy(&real, &symbol, sizeof symbol);
    }
    if (block && watching) live--;
    real(block);
}

/* Something of everything. */
static const char *const text =
    "model M\n"
    "  type Size = enumeration(small, large);\n"
    "  record Point\n    Real x;\n    Real y[2];\n  end Point;\n"
    "  function f\n    input Real x;\n    input Integer n = 3;\n    output Real y;\n    output "
    "Point p;\n"
    "  protected\n    Real v[n];\n  algorithm\n    for i in 1:n loop\n      v[i] := x^i;\n"
    "      if v[i] > 5 then\n        break;\n      end if;\n    end for;\n"
    "    assert(x > -9, \"small \" + String(x));\n"
    "    y := sum(v[1:1]) + max(v[1], 2);\n    p := Point(x, {y, 2});\n  end f;\n"
    "  parameter Size s = Size.large;\n  parameter String name = \"a\" + \"b\";\n"
    "  parameter Integer n = 4;\n  parameter Point q(x = 1, y = {2, 3});\n"
    "  Real u[n](each start = 1, each unit = \"V\"), w[n, 2] = fill(time, n, 2);\n"
    "  Point a, b;\n  Boolean on(start = false), late;\n  Integer k(start = 0), m(start = 0);\n"
    "  Real z, r;\n"
    "initial equation\n  u[1] = 2;\n"
    "equation\n"
    "  for i in 1:n loop\n    der(u[i]) = -u[i] + floor(time);\n  end for;\n"
    "  (z, a) = f(u[1]);\n  b = a;\n"
    "  late = time > 2 and not pre(on);\n"
    "  when {late, sample(0, 0.1), initial()} then\n    on = not pre(on);\n"
    "    reinit(u[2], 0);\n    if z > 1 then\n      terminate(\"end\");\n    end if;\n"
    "  end when;\n"
    "  if late then\n    r = 1;\n  else\n    r = u[k + 1]*size(w, 1);\n  end if;\n"
    "  k = if s == Size.large then 2 else 1;\n"
    "algorithm\n  when time > 3 then\n    m := pre(m) + k;\n  end when;\n"
    "  annotation(experiment(StopTime = 1));\n"
    "end M;\n";

/* Parse and flatten; true if a model came out. */
static bool everything(bool *clean)
{
    watching = true;
    live = 0;
    arena *tree = arena_new(0);
    message_list *messages = message_list_new("m.mo", text, strlen(text), 0);
    ast_file *file = tree && messages ? parse_file(tree, text, strlen(text), messages) : NULL;
    flatten_setting set = {"n", 5.0};
    flat_model *m = file ? flatten(file, "m.mo", &set, 1, messages) : NULL;
    bool done = m != NULL;
    *clean = !messages || message_errors(messages) == 0;
    flat_model_free(m);
    message_list_free(messages);
    arena_free(tree);
    watching = false;
    assert_int_equal(live, 0);
    return done;
}

static void every_allocation_fails_once(void **state)
{
    (void)state;
    bool clean;
    requests = 0;
    countdown = -1;
    assert_true(everything(&clean));
    assert_true(clean);
    long all = requests;
    assert_true(all > 50);
    for (long k = 0; k < all; k++) {
        requests = 0;
        countdown = k;
        bool done = everything(&clean);
        countdown = -1;
        if (done) print_message("allocation %ld went unnoticed\n", k);
        assert_false(done);
        assert_true(clean); /* lack of memory is not a mistake of the model */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation_fails_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
