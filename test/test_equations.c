/* Sets of equations: their text, their second order variables, and their structure, with known
 * answers. */
#include "base/memory.h"
#include "structure/index/equations.h"
#include "structure/index/signature.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* ---- short names for building --------------------------------------------------------------- */

static graph *g;

static expr X(int j, int p)
{
    return graph_variable(g, j, p);
}

static expr C(double value)
{
    return graph_constant(g, value);
}

static expr P(int i)
{
    return graph_parameter(g, i);
}

static expr add(expr a, expr b)
{
    return graph_binary(g, EXPR_ADD, a, b);
}

static expr sub(expr a, expr b)
{
    return graph_binary(g, EXPR_SUB, a, b);
}

static expr mul(expr a, expr b)
{
    return graph_binary(g, EXPR_MUL, a, b);
}

static expr neg(expr a)
{
    return graph_unary(g, EXPR_NEG, a);
}

static expr square(expr a)
{
    return graph_binary(g, EXPR_POW, a, C(2.0));
}

static int fresh_graph(void **state)
{
    (void)state;
    g = graph_new();
    if (!g) return -1;
    /* operands of sums and products are kept in the order in which they came up first */
    for (int j = 0; j < 6; j++) square(X(j, 0));
    return 0;
}

static int drop_graph(void **state)
{
    (void)state;
    graph_free(g);
    return 0;
}

static equation_set make(int n, const char *const *names, const expr *residual)
{
    equation_set set;
    assert_true(equation_set_new(&set, g, n, n));
    for (int j = 0; j < n; j++) {
        set.model[j] = j;
        set.name[j] = names ? names[j] : NULL;
        set.row[j] = (equation_row){.residual = residual[j], .source = j, .name = "an equation"};
    }
    return set;
}

static const char *const letters[] = {"x", "y", "vx", "vy", "F", "m", "z", "u"};
static const char *const parameters[] = {"L", "g", "k"};

/* x' = vx, y' = vy, vx' = -F x, vy' = -F y - g, x^2 + y^2 = L^2, as a book has it */
static equation_set pendulum(void)
{
    expr residual[] = {sub(X(0, 1), X(2, 0)), sub(X(1, 1), X(3, 0)),
                       sub(X(2, 1), neg(mul(X(4, 0), X(0, 0)))),
                       sub(X(3, 1), sub(neg(mul(X(4, 0), X(1, 0))), P(1))),
                       sub(add(square(X(0, 0)), square(X(1, 0))), square(P(0)))};
    equation_set set = make(5, letters, residual);
    set.parameter_name = parameters;
    return set;
}

static void expect_text(const equation_set *set, expr residual, const char *text)
{
    char buffer[200];
    size_t length = equation_set_print(set, residual, buffer, sizeof buffer);
    assert_string_equal(buffer, text);
    assert_int_equal(length, strlen(text));
}

/* ---- copies, names, values ------------------------------------------------------------------ */

static void copies_are_independent(void **state)
{
    (void)state;
    equation_set set = pendulum(), copy;
    set.nominal[2] = 7.0;
    assert_true(equation_set_join_derivatives(&set));
    assert_true(equation_set_copy(&copy, &set));
    expr first = set.row[0].residual;
    equation_set_free(&set);
    assert_null(set.row);
    assert_int_equal(copy.n, 3);
    assert_int_equal(copy.m, 3);
    assert_int_equal(copy.row[0].residual, first);
    assert_int_equal(copy.synonym_count, 2);
    assert_string_equal(copy.synonym[1].name, "vy");
    assert_ptr_equal(copy.parameter_name, parameters);
    equation_set_free(&copy);
}

static void names_of_derivatives(void **state)
{
    (void)state;
    equation_set set = pendulum();
    char text[40], tiny[6];
    assert_string_equal(equation_set_variable(&set, 0, 0, text, sizeof text), "x");
    assert_string_equal(equation_set_variable(&set, 0, 2, text, sizeof text), "der(der(x))");
    assert_true(equation_set_join_derivatives(&set));
    assert_string_equal(equation_set_variable(&set, 0, 0, text, sizeof text), "x");
    assert_string_equal(equation_set_variable(&set, 0, 1, text, sizeof text), "vx");
    assert_string_equal(equation_set_variable(&set, 1, 3, text, sizeof text), "der(der(vy))");
    assert_string_equal(equation_set_variable(&set, 2, 1, text, sizeof text), "der(F)");
    assert_string_equal(equation_set_variable(&set, 1, 3, tiny, sizeof tiny), "der(d");
    set.synonym[0].sign = -1;
    assert_string_equal(equation_set_variable(&set, 0, 2, text, sizeof text), "-der(vx)");
    equation_set_free(&set);
}

static void values_at_a_point(void **state)
{
    (void)state;
    equation_set set = pendulum();
    double x[] = {3.0, 4.0, 0.0, 0.0, 2.0}, xp[] = {0.0, 0.0, -6.0, -17.0, 0.0},
           p[] = {5.0, 9.0, 0.0};
    const double *orders[] = {x, xp};
    equation_point at = {.x = orders, .orders = 1, .parameters = p};
    for (int i = 0; i < 5; i++)
        assert_true(equation_set_value(&set, set.row[i].residual, &at) == 0.0);
    assert_true(isnan(equation_set_value(&set, X(0, 2), &at)));
    at.orders = 0;
    assert_true(isnan(equation_set_value(&set, set.row[2].residual, &at)));
    at.time = 7.0;
    assert_true(equation_set_value(&set, graph_time(g), &at) == 7.0);
    equation_set_free(&set);
}

/* ---- text ----------------------------------------------------------------------------------- */

static void equations_read_as_written(void **state)
{
    (void)state;
    equation_set set = pendulum();
    expect_text(&set, set.row[0].residual, "der(x) = vx");
    expect_text(&set, set.row[2].residual, "der(vx) = -x*F");
    expect_text(&set, set.row[4].residual, "x^2 + y^2 = L^2");
    expect_text(&set, add(X(0, 0), X(1, 0)), "x + y = 0");
    expect_text(&set, add(square(X(0, 0)), C(-1.0)), "x^2 = 1");
    expect_text(&set, neg(add(X(0, 0), P(2))), "x = -k");
    expect_text(&set, mul(X(0, 0), X(1, 0)), "x*y = 0");
    expect_text(&set, add(mul(P(2), X(0, 1)), add(X(1, 0), C(3.0))), "k*der(x) = -y - 3");
    expect_text(&set, add(X(0, 1), add(X(1, 1), X(0, 0))), "der(x) + x + der(y) = 0");
    expect_text(&set, add(P(2), C(1.0)), "k + 1 = 0");
    expect_text(&set, C(3.0), "3 = 0");
    equation_set_free(&set);
}

static void synonyms_are_used_with_their_sign(void **state)
{
    (void)state;
    expr residual[] = {add(X(0, 1), X(1, 0)), sub(add(X(1, 1), mul(C(2.0), X(0, 0))), P(2))};
    equation_set set = make(2, (const char *const[]){"x", "w"}, residual);
    set.parameter_name = parameters;
    assert_true(equation_set_join_derivatives(&set)); /* w = -der(x) */
    assert_int_equal(set.n, 1);
    assert_int_equal(set.synonym[0].sign, -1);
    expect_text(&set, add(X(0, 1), X(0, 0)), "x = w");
    expect_text(&set, mul(X(0, 1), X(0, 1)), "w^2 = 0");
    expect_text(&set, mul(X(0, 0), X(0, 2)), "x*der(w) = 0");
    expect_text(&set, sub(X(0, 2), C(4.0)), "-der(w) = 4");
    equation_set_free(&set);
}

static void long_texts_are_cut(void **state)
{
    (void)state;
    equation_set set = pendulum();
    char text[10];
    assert_int_equal(equation_set_print(&set, set.row[4].residual, text, sizeof text), sizeof text);
    assert_int_equal(strlen(text) < sizeof text, 1);
    assert_int_equal(strncmp(text, "x^2", 3), 0);
    assert_non_null(strstr(text, ".."));
    for (size_t size = 0; size < 30; size++) {
        char guarded[32];
        memset(guarded, 'z', sizeof guarded);
        equation_set_print(&set, set.row[4].residual, guarded, size);
        assert_int_equal(guarded[size], 'z');
        if (size > 0) assert_true(strlen(guarded) < size);
    }
    equation_set_free(&set);
}

/* ---- second order variables ----------------------------------------------------------------- */

static void first_order_becomes_second_order(void **state)
{
    (void)state;
    equation_set set = pendulum();
    assert_true(equation_set_join_derivatives(&set));
    assert_int_equal(set.n, 3);
    assert_int_equal(set.m, 3);
    assert_int_equal(set.row[0].source, 2);
    assert_int_equal(set.row[2].source, 4);
    assert_int_equal(set.model[2], 4);
    assert_int_equal(set.row[0].residual, add(X(0, 2), mul(X(0, 0), X(2, 0))));
    expect_text(&set, set.row[0].residual, "der(vx) = -x*F");
    assert_int_equal(set.synonym[1].variable, 1);
    assert_int_equal(set.synonym[1].model, 3);
    assert_int_equal(set.synonym[1].order, 1);
    assert_true(equation_set_join_derivatives(&set)); /* nothing more to join */
    assert_int_equal(set.n, 3);
    assert_int_equal(set.synonym_count, 2);
    equation_set_free(&set);
}

/* -v = x', a = v', j = -a', in any order of the equations; j = sin(x) */
static void chains_join_to_their_end(void **state)
{
    (void)state;
    for (int turn = 0; turn < 3; turn++) {
        expr chain[] = {add(X(0, 1), X(1, 0)), sub(X(2, 0), X(1, 1)), add(X(3, 0), X(2, 1))};
        expr residual[] = {chain[turn], chain[(turn + 1) % 3], chain[(turn + 2) % 3],
                           sub(X(3, 0), graph_unary(g, EXPR_SIN, X(0, 0)))};
        equation_set set = make(4, (const char *const[]){"x", "v", "a", "j"}, residual);
        assert_true(equation_set_join_derivatives(&set));
        assert_int_equal(set.n, 1);
        assert_int_equal(set.synonym_count, 3);
        const int signs[] = {-1, -1, 1};
        for (int k = 0; k < 3; k++) {
            assert_int_equal(set.synonym[k].variable, 0);
            assert_int_equal(set.synonym[k].order, k + 1);
            assert_int_equal(set.synonym[k].model, k + 1);
            assert_int_equal(set.synonym[k].sign, signs[k]);
        }
        assert_int_equal(set.row[0].residual, sub(X(0, 3), graph_unary(g, EXPR_SIN, X(0, 0))));
        equation_set_free(&set);
    }
}

/* x' = x, and x' = v with v' = x: no variable is its own derivative. */
static void circles_are_not_joined(void **state)
{
    (void)state;
    expr own[] = {sub(X(0, 1), X(0, 0))};
    equation_set set = make(1, letters, own);
    assert_true(equation_set_join_derivatives(&set));
    assert_int_equal(set.n, 1);
    assert_int_equal(set.row[0].residual, own[0]);
    equation_set_free(&set);
    expr two[] = {sub(X(0, 1), X(1, 0)), sub(X(1, 1), X(0, 0))};
    set = make(2, letters, two);
    assert_true(equation_set_join_derivatives(&set));
    assert_int_equal(set.n, 1);
    assert_int_equal(set.row[0].residual, sub(X(0, 2), X(0, 0)));
    equation_set_free(&set);
}

/* x' = v and y' = v: v is one of them, and the other equation stays. */
static void a_variable_is_joined_once(void **state)
{
    (void)state;
    expr residual[] = {sub(X(0, 1), X(2, 0)), sub(X(1, 1), X(2, 0)), sub(X(2, 0), C(3.0))};
    equation_set set = make(3, letters, residual);
    assert_true(equation_set_join_derivatives(&set));
    assert_int_equal(set.n, 2);
    assert_int_equal(set.row[0].residual, sub(X(1, 1), X(0, 1)));
    assert_int_equal(set.row[1].residual, sub(X(0, 1), C(3.0)));
    equation_set_free(&set);
}

/* Orders stay within what a graph can hold, however long the chain. */
static void long_chains_keep_within_bounds(void **state)
{
    (void)state;
    enum { N = 2000 };
    static expr residual[N];
    for (int j = 0; j < N - 1; j++) residual[j] = sub(X(j, 1), X(j + 1, 0));
    residual[N - 1] = sub(X(0, 0), graph_time(g));
    equation_set set = make(N, NULL, residual);
    assert_true(equation_set_join_derivatives(&set));
    assert_int_equal(set.n, set.m);
    assert_int_equal(set.n + set.synonym_count, N);
    assert_true(set.n < N / 50);
    structure s;
    assert_true(structure_analyse(&s, &set));
    assert_false(s.singular);
    assert_int_equal(s.freedom, 0);
    structure_free(&s);
    equation_set_free(&set);
}

/* ---- structure ------------------------------------------------------------------------------ */

static structure analyse(const equation_set *set)
{
    structure s;
    assert_true(structure_analyse(&s, set));
    return s;
}

/* [Pryce01]: index 3, two degrees of freedom, whether of first or of second order */
static void the_pendulum(void **state)
{
    (void)state;
    equation_set set = pendulum();
    structure s = analyse(&set);
    assert_false(s.singular);
    assert_int_equal(s.index, 3);
    assert_int_equal(s.freedom, 2);
    assert_memory_equal(s.c, ((int[]){1, 1, 0, 0, 2}), 5 * sizeof(int));
    assert_memory_equal(s.d, ((int[]){2, 2, 1, 1, 0}), 5 * sizeof(int));
    structure_free(&s);
    assert_true(equation_set_join_derivatives(&set));
    s = analyse(&set);
    assert_int_equal(s.index, 3);
    assert_int_equal(s.freedom, 2);
    assert_memory_equal(s.c, ((int[]){0, 0, 2}), 3 * sizeof(int));
    assert_memory_equal(s.d, ((int[]){2, 2, 0}), 3 * sizeof(int));
    assert_int_equal(s.blocks.count, 1);
    structure_free(&s);
    equation_set_free(&set);
}

/* Hessenberg form of size k: x_1' = f_1(x_1 .. x_k), x_i' = f_i(x_(i-1) .. x_(k-1)), 0 = x_(k-1)
 * [BCP96]: index k, and no freedom is left to a chain. */
static void hessenberg_chains(void **state)
{
    (void)state;
    for (int k = 2; k <= 6; k++) {
        expr residual[6];
        residual[0] = X(0, 1);
        for (int j = 0; j < k; j++)
            residual[0] = sub(residual[0], graph_unary(g, EXPR_SIN, X(j, 0)));
        for (int i = 1; i < k - 1; i++) {
            residual[i] = X(i, 1);
            for (int j = i - 1; j < k - 1; j++)
                residual[i] = sub(residual[i], graph_unary(g, EXPR_SIN, X(j, 0)));
        }
        residual[k - 1] = sub(X(k - 2, 0), graph_unary(g, EXPR_COS, graph_time(g)));
        equation_set set = make(k, NULL, residual);
        structure s = analyse(&set);
        assert_false(s.singular);
        assert_int_equal(s.index, k);
        assert_int_equal(s.freedom, 0);
        structure_free(&s);
        equation_set_free(&set);
    }
}

/* An ODE has index 0, an equation without derivatives index 1, nothing at all index 0. */
static void small_indices(void **state)
{
    (void)state;
    expr ode[] = {sub(X(0, 1), X(0, 0))}, algebraic[] = {sub(square(X(0, 0)), C(2.0))};
    equation_set set = make(1, letters, ode);
    structure s = analyse(&set);
    assert_int_equal(s.index, 0);
    assert_int_equal(s.freedom, 1);
    structure_free(&s);
    equation_set_free(&set);
    set = make(1, letters, algebraic);
    s = analyse(&set);
    assert_int_equal(s.index, 1);
    assert_int_equal(s.freedom, 0);
    structure_free(&s);
    equation_set_free(&set);
    set = make(0, letters, algebraic);
    s = analyse(&set);
    assert_false(s.singular);
    assert_int_equal(s.index, 0);
    assert_int_equal(s.blocks.count, 0);
    structure_free(&s);
    equation_set_free(&set);
}

/* Two equations for F, none for u: both parts are named. */
static void singular_models_are_explained(void **state)
{
    (void)state;
    expr residual[] = {sub(X(0, 1), mul(X(1, 0), X(2, 0))), sub(X(1, 0), C(1.0)),
                       sub(mul(C(2.0), X(1, 0)), graph_time(g)), sub(X(0, 1), X(2, 0))};
    equation_set set = make(4, letters, residual);
    structure s = analyse(&set);
    assert_true(s.singular);
    assert_null(s.c);
    assert_int_equal(s.parts.count, 2);
    assert_true(s.parts.part[0].over); /* the cause before its consequence */
    assert_int_equal(s.parts.part[0].rows, 2);
    assert_memory_equal(s.parts.part[0].row, ((int[]){1, 2}), 2 * sizeof(int));
    assert_int_equal(s.parts.part[0].column[0], 1);
    assert_false(s.parts.part[1].over); /* vy appears nowhere */
    assert_int_equal(s.parts.part[1].rows, 0);
    assert_int_equal(s.parts.part[1].columns, 1);
    assert_int_equal(s.parts.part[1].column[0], 3);
    structure_free(&s);
    equation_set_free(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(copies_are_independent, fresh_graph, drop_graph),
        cmocka_unit_test_setup_teardown(names_of_derivatives, fresh_graph, drop_graph),
        cmocka_unit_test_setup_teardown(values_at_a_point, fresh_graph, drop_graph),
        cmocka_unit_test_setup_teardown(equations_read_as_written, fresh_graph, drop_graph),
        cmocka_unit_test_setup_teardown(synonyms_are_used_with_their_sign, fresh_graph, drop_graph),
        cmocka_unit_test_setup_teardown(long_texts_are_cut, fresh_graph, drop_graph),
        cmocka_unit_test_setup_teardown(first_order_becomes_second_order, fresh_graph, drop_graph),
        cmocka_unit_test_setup_teardown(chains_join_to_their_end, fresh_graph, drop_graph),
        cmocka_unit_test_setup_teardown(circles_are_not_joined, fresh_graph, drop_graph),
        cmocka_unit_test_setup_teardown(a_variable_is_joined_once, fresh_graph, drop_graph),
        cmocka_unit_test_setup_teardown(long_chains_keep_within_bounds, fresh_graph, drop_graph),
        cmocka_unit_test_setup_teardown(the_pendulum, fresh_graph, drop_graph),
        cmocka_unit_test_setup_teardown(hessenberg_chains, fresh_graph, drop_graph),
        cmocka_unit_test_setup_teardown(small_indices, fresh_graph, drop_graph),
        cmocka_unit_test_setup_teardown(singular_models_are_explained, fresh_graph, drop_graph),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
