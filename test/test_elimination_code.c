/* Code for the elimination of one pattern and order beside the lists that it takes the place of:
 * the same bits, statuses and changes of order, real, complex and several at once, for values that
 * drift, vanish, overflow and are no numbers. And in runs of models: it comes between two steps, a
 * second solver and another process find it, other modes have their own, and a compiler that fails
 * changes nothing. */
#define _XOPEN_SOURCE 700
#include "compiler_place.h"
#include "daedal.h"
#include "matrix/elimination_code.h"
#include "numbers.h"
#include "problem/residual.h"

#include <math.h>

enum { MOST = 30, ENTRIES = 4 * MOST, STEPS = 32, SYSTEMS = 4 };

static unsigned long seed;

static double number(void) /* in (-1, 1) */
{
    return 2.0 * uniform(&seed) - 1.0;
}

/* About `per_column` entries in each column, the diagonal and others */
static void random_pattern(matrix_layout *layout, int n, int per_column)
{
    int colptr[MOST + 1] = {0}, rowind[ENTRIES];
    for (int j = 0; j < n; j++) {
        bool has[MOST] = {false};
        has[j] = true;
        for (int k = 1; k < per_column; k++) has[(int)(uniform(&seed) * n)] = true;
        colptr[j + 1] = colptr[j];
        for (int i = 0; i < n; i++)
            if (has[i]) rowind[colptr[j + 1]++] = i;
    }
    assert_true(layout_sparse(layout, n, colptr, rowind));
}

/* ---- sequences of matrices ---- */

/* Matrix number `step` of a sequence: values that drift, so that orders are given up; some steps
 * have a column of zeros, values near underflow and overflow, or one that is no number. */
static void draw(const matrix_layout *layout, int step, double *re, double *im)
{
    for (size_t k = 0; k < layout->count; k++) {
        re[k] = step == 0 ? number() : re[k] * exp2(2.0 * number());
        im[k] = step == 0 ? number() : im[k] * exp2(2.0 * number());
    }
}

static void spoil(const matrix_layout *layout, int step, double *value)
{
    static const double factor[] = {1e-300, 1e300, 0.0};
    const int j = step % layout->n, kind = step % 8;
    for (int k = layout->colptr[j]; k < layout->colptr[j + 1] && kind < 3; k++)
        value[k] *= factor[kind];
    if (kind == 3) value[step % (int)layout->count] = step % 16 == 3 ? NAN : INFINITY;
}

/* Solvers of one pattern, with code where the store has it, or without */
typedef struct solvers {
    linear_solver *real, *complex[SYSTEMS];
} solvers;

static void make(solvers *s, const matrix_layout *layout, kernel_store *store)
{
    s->real = linear_elimination.analyse(layout, NULL);
    assert_non_null(s->real);
    linear_use_kernels(s->real, store);
    for (int c = 0; c < SYSTEMS; c++) {
        s->complex[c] = complex_elimination.analyse(layout, s->real);
        assert_non_null(s->complex[c]);
    }
}

static void drop(solvers *s)
{
    for (int c = 0; c < SYSTEMS; c++) linear_free(s->complex[c]);
    linear_free(s->real);
}

/* What came of one matrix */
typedef struct outcome {
    int status[1 + SYSTEMS], column[1 + SYSTEMS];
    long repivots[1 + SYSTEMS];
    double x[MOST], re[SYSTEMS][MOST], im[SYSTEMS][MOST], alone[2][MOST];
} outcome;

static void note(outcome *o, int k, const linear_solver *s, linear_status status)
{
    o->status[k] = status;
    o->column[k] = s->singular_column;
    o->repivots[k] = s->repivots;
}

static void right_sides(outcome *o, int n)
{
    for (int i = 0; i < n; i++) {
        o->x[i] = number();
        for (int c = 0; c < SYSTEMS; c++) o->re[c][i] = number(), o->im[c][i] = number();
        o->alone[0][i] = number(), o->alone[1][i] = number();
    }
}

/* Factor and solve: the real one, the complex ones side by side, and the first alone */
static void work(solvers *s, int n, int step, const double *re, const double *im, outcome *o)
{
    double *r[SYSTEMS], *i[SYSTEMS];
    linear_solver *sound[SYSTEMS];
    int count = 0;
    memset(o, 0, sizeof *o);
    right_sides(o, n);
    note(o, 0, s->real, linear_factor(s->real, re));
    if (o->status[0] == LINEAR_OK) linear_solve(s->real, o->x);
    for (int c = 0; c < SYSTEMS; c++) {
        double shifted[ENTRIES];
        for (size_t k = 0; k < s->real->layout->count; k++) shifted[k] = im[k] * (c + 1);
        note(o, 1 + c, s->complex[c], s->complex[c]->ops->factor(s->complex[c], re, shifted));
        if (o->status[1 + c] != LINEAR_OK) continue;
        sound[count] = s->complex[c];
        r[count] = o->re[c];
        i[count++] = o->im[c];
    }
    count = count < 1 + step % SYSTEMS ? count : 1 + step % SYSTEMS;
    if (count > 0) sound[0]->ops->solve(sound[0], o->alone[0], o->alone[1]);
    if (count > 0) linear_solve_several(sound, count, r, i);
}

/* A sequence with one set of solvers */
static void follow(const matrix_layout *layout, unsigned long from, kernel_store *store,
                   outcome *list)
{
    double re[ENTRIES], im[ENTRIES], bad[ENTRIES];
    solvers s;
    make(&s, layout, store);
    seed = from;
    for (int step = 0; step < STEPS; step++) {
        draw(layout, step, re, im);
        memcpy(bad, re, sizeof bad);
        if (step % 3 == 2) spoil(layout, step / 3, bad);
        work(&s, layout->n, step, bad, im, &list[step]);
    }
    drop(&s);
}

/* Compile all shapes of a store as one module. */
static native_module *compile(kernel_store *store)
{
    emit_text text = {0};
    native_key key;
    native_module *module = NULL;
    char reason[NATIVE_REASON], name[NATIVE_NAME];
    elimination_emit_head(&text);
    for (int k = 0; k < store->count; k++) {
        elimination_key(store->list[k]->shape, &key);
        elimination_emit(&text, store->list[k]->shape, &key);
    }
    assert_false(text.failed);
    if (native_load_within(text.text, text.length, 900.0, &module, reason) != NATIVE_OK)
        fail_msg("%s", reason);
    for (int k = 0; k < store->count; k++) {
        elimination_key(store->list[k]->shape, &key);
        native_key_name(&key, name);
        native_function function = native_find(module, name);
        assert_non_null(function);
        store->list[k]->kernel = elimination_kernel_of(function);
    }
    emit_free(&text);
    return module;
}

/* Largest entries of the rows, which no solution shows but where an order is given up */
static void rows_are_measured(const matrix_layout *layout, const kernel_store *store)
{
    double re[ENTRIES], im[ENTRIES], most[2][MOST], expected[2][MOST] = {{0.0}}, factors[2 * 150];
    for (size_t k = 0; k < layout->count; k++) {
        double *const row[] = {&expected[0][layout->rowind[k]], &expected[1][layout->rowind[k]]};
        re[k] = number(), im[k] = number();
        *row[0] = fmax(*row[0], fabs(re[k]));
        *row[1] = fmax(*row[1], fabs(re[k]) + fabs(im[k]));
    }
    const elimination_kernel *kernel = store->list[0]->kernel;
    for (int c = 0; c < 2; c++) {
        kernel->of[c].place(re, im, factors, most[c]);
        assert_memory_equal(most[c], expected[c], (size_t)layout->n * sizeof **most);
    }
}

static void code_gives_the_bits_of_lists(void **state)
{
    static outcome expected[STEPS], found[STEPS];
    long repivots = 0, singular = 0;
    place_need(state);
    for (int round = 0; round < 5; round++) {
        static const int sizes[] = {2, 5, 9, 13, 18};
        matrix_layout layout;
        seed = (unsigned long)(100 + round);
        random_pattern(&layout, sizes[round], 2 + round % 3);
        kernel_store *store = kernel_store_new();
        follow(&layout, 7, NULL, expected);
        follow(&layout, 7, store, found); /* by lists: the shapes that come up */
        assert_memory_equal(found, expected, sizeof expected);
        assert_true(store->count > 0);
        assert_true(kernel_store_work(store) > 0.0);
        native_module *module = compile(store);
        const double before = kernel_store_work(store);
        const int shapes = store->count;
        rows_are_measured(&layout, store);
        follow(&layout, 7, store, found);
        for (int k = 0; k < STEPS; k++) {
            assert_memory_equal(found[k].status, expected[k].status, sizeof found->status);
            assert_memory_equal(&found[k], &expected[k], sizeof *expected);
            singular += found[k].status[0] == LINEAR_SINGULAR;
        }
        repivots += found[STEPS - 1].repivots[0] + found[STEPS - 1].repivots[1];
        assert_int_equal(store->count, shapes);
        assert_true(shapes == KERNELS_MOST || kernel_store_work(store) == before); /* no lists */
        kernel_store_free(store);
        native_free(module);
        layout_free(&layout);
    }
    assert_true(repivots > 5);
    assert_true(singular > 5);
}

/* Every number of a shape counts: code for another one does other things. */
static void other_shapes_have_other_keys(void **state)
{
    (void)state;
    double values[ENTRIES];
    matrix_layout layout;
    native_key key[2];
    kernel_store *store[2];
    linear_solver *s[2];
    seed = 11;
    random_pattern(&layout, 6, 3);
    for (size_t k = 0; k < layout.count; k++) values[k] = number();
    for (int k = 0; k < 2; k++) {
        store[k] = kernel_store_new();
        s[k] = linear_elimination.analyse(&layout, NULL);
        linear_use_kernels(s[k], store[k]);
        assert_int_equal(linear_factor(s[k], values), LINEAR_OK);
        elimination_key(store[k]->list[0]->shape, &key[k]);
    }
    const elimination_shape *a = store[0]->list[0]->shape, *b = store[1]->list[0]->shape;
    assert_true(a != b && elimination_shape_equal(a, b));
    assert_memory_equal(&key[0], &key[1], sizeof *key);
    int *const lists[] = {b->row,   b->column, b->lower, b->upper,
                          b->index, b->target, b->place, b->home};
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
        lists[k][1]++;
        assert_false(elimination_shape_equal(a, b));
        elimination_key(b, &key[1]);
        assert_memory_not_equal(&key[0], &key[1], sizeof *key);
        lists[k][1]--;
    }
    for (int k = 0; k < 2; k++) {
        linear_free(s[k]);
        kernel_store_free(store[k]);
    }
    layout_free(&layout);
}

/* ---- runs of models ---- */

static dae_problem *problem_of(const char *name, dae_engine engine)
{
    static char text[20000];
    char path[1000];
    dae_problem *p = NULL;
    dae_diag diag = {0};
    snprintf(path, sizeof path, TEST_ROOT "/models/%s.mo", name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    dae_model model = {.text = text, .engine = engine};
    if (dae_problem_from_model(&model, &p, &diag) != DAE_OK) fail_msg("%s", diag.text);
    return p;
}

enum { VARIABLES = 64 };
typedef struct record {
    double y[VARIABLES];
    long steps, evaluations, factorisations, repivots;
    int notes;
} record;

static void count_note(const char *text, void *user)
{
    if (strstr(text, "native code")) ((record *)user)->notes++;
}

static record run(const dae_problem *p, const char *method, double end)
{
    record r = {0};
    dae_solver *s = NULL;
    dae_options options = dae_options_default();
    options.method = method;
    options.rtol = options.atol = 1e-6;
    options.message = count_note;
    options.user = &r;
    assert_int_equal(dae_solver_new(p, &options, &s, NULL), DAE_OK);
    dae_status status = dae_solver_start(s, 0.0, NULL, NULL);
    while (status >= 0 && (status = dae_solver_step(s, end)) > 0) continue;
    if (status != DAE_OK) fail_msg("%s %s", method, dae_solver_diag(s)->text);
    assert_true(dae_problem_variable_count(p) <= VARIABLES);
    assert_int_equal(dae_solver_variables(s, end, r.y), DAE_OK);
    const dae_stats *stats = dae_solver_stats(s);
    r.steps = stats->steps;
    r.evaluations = stats->residuals;
    r.factorisations = stats->factorisations;
    r.repivots = stats->repivots;
    dae_solver_free(s);
    return r;
}

static void same(const record *a, const record *b)
{
    assert_memory_equal(a->y, b->y, sizeof a->y);
    assert_memory_equal(&a->steps, &b->steps, 4 * sizeof a->steps);
}

/* Real and complex shifts, pairs of them, chains of the second order, modes that events change */
static void models_keep_their_bits(void **state)
{
    static const struct {
        const char *name;
        double end;
        const char *methods[4];
    } cases[] = {{"hires", 30.0, {"bdf", "radau", "rodas"}}, {"akzo", 20.0, {"bdf", "radau"}},
                 {"transamp", 0.02, {"bdf", "radau"}},       {"caraxis", 0.3, {"radau", "bdf2nd"}},
                 {"rectifier", 0.1, {"bdf", "radau"}},       {"ringmod", 2e-5, {"radau"}}};
    place_need(state);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        dae_problem *p = problem_of(cases[k].name, DAE_ENGINE_AUTO);
        record lists[4] = {0};
        for (int m = 0; cases[k].methods[m]; m++)
            lists[m] = run(p, cases[k].methods[m], cases[k].end);
        assert_true(p->kernels->count > 0);
        native_module *module = compile(p->kernels);
        const double before = kernel_store_work(p->kernels);
        for (int m = 0; cases[k].methods[m]; m++) {
            const record code = run(p, cases[k].methods[m], cases[k].end);
            same(&lists[m], &code);
        }
        assert_true(kernel_store_work(p->kernels) == before);
        dae_problem_free(p);
        native_free(module);
    }
}

/* A tape is not told to take code. */
static void the_tape_has_lists(void **state)
{
    (void)state;
    dae_problem *p = problem_of("hires", DAE_ENGINE_TAPE);
    assert_null(p->kernels);
    dae_problem_free(p);
}

static bool has_code(const dae_problem *p)
{
    for (int k = 0; k < p->kernels->count; k++)
        if (p->kernels->list[k]->kernel) return true;
    return false;
}

/* Runs until code for eliminations is there, or `most` of them; all have the same bits. */
static void run_until(const dae_problem *p, const record *expected,
                      bool (*over)(const dae_problem *), int most)
{
    for (int k = 0; k < most && !over(p); k++) {
        const record r = run(p, "radau", 30.0);
        same(expected, &r);
        assert_int_equal(r.notes, 0);
    }
    assert_true(over(p));
}

/* It comes beside runs that go on; a second solver, and a second problem of the same text, have it
 * without another compiler. */
static void code_comes_and_is_found_again(void **state)
{
    const compiler_place *place = place_need(state);
    dae_problem *p = problem_of("hires", DAE_ENGINE_TAPE);
    const record expected = run(p, "radau", 30.0);
    dae_problem_free(p);
    p = problem_of("hires", DAE_ENGINE_NATIVE);
    const record first = run(p, "radau", 30.0);
    same(&expected, &first);
    assert_false(has_code(p)); /* one run is too short to start a compiler */
    assert_int_equal(place_starts(place, NULL), 1);
    run_until(p, &expected, has_code, 100000);
    const double before = kernel_store_work(p->kernels);
    const record second = run(p, "radau", 30.0);
    same(&expected, &second);
    assert_true(kernel_store_work(p->kernels) == before);
    assert_int_equal(place_starts(place, NULL), 2);
    dae_problem_free(p);
    p = problem_of("hires", DAE_ENGINE_NATIVE);
    run_until(p, &expected, has_code, 1);
    assert_int_equal(place_starts(place, NULL), 2);
    dae_problem_free(p);
}

static bool has_failed(const dae_problem *p)
{
    return p->kernels->count > 0 && p->kernels->list[0]->failed;
}

/* A compiler that refuses it: lists go on, nobody is bothered, and it is not asked again. */
static void failures_leave_lists(void **state)
{
    const compiler_place *place = place_need(state);
    assert_true(place_script(place, "for a in \"$@\"; do case \"$a\" in *.c)\n"
                                    "grep -q may_alias \"$a\" && exit 1;; esac; done\n"
                                    "exec $cc \"$@\""));
    dae_problem *p = problem_of("akzo", DAE_ENGINE_NATIVE);
    const record expected = run(p, "radau", 30.0);
    run_until(p, &expected, has_failed, 100000);
    assert_false(has_code(p));
    const int starts = place_starts(place, NULL);
    for (int k = 0; k < 20; k++) run(p, "radau", 30.0);
    assert_int_equal(place_starts(place, NULL), starts);
    assert_int_equal(starts, 2);
    dae_problem_free(p);
}

#define IN_PLACE(test) cmocka_unit_test_setup_teardown(test, place_set_up, place_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_PLACE(code_gives_the_bits_of_lists),         IN_PLACE(models_keep_their_bits),
        IN_PLACE(code_comes_and_is_found_again),        IN_PLACE(failures_leave_lists),
        cmocka_unit_test(other_shapes_have_other_keys), cmocka_unit_test(the_tape_has_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
