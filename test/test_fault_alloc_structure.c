/* Every allocation of structural analysis fails once: answers are refusals, nothing leaks, and a
 * set of equations that could not be rewritten is as it was. */
#include "fault_alloc.h"

#include "structure/index/matching.h"
#include "structure/index/signature.h"

enum { BODIES = 30, N = 5 * BODIES };

/* Pendulums in first order, side by side, with a second equation for one variable if `broken`. */
static bool build(equation_set *set, graph *g, bool broken)
{
    if (!equation_set_new(set, g, N, N)) return false;
    for (int k = 0; k < BODIES; k++) {
        expr length = graph_constant(g, -1.0);
        for (int axis = 0; axis < 2; axis++) {
            int at = 5 * k + axis;
            expr x = graph_variable(g, at, 0), v = graph_variable(g, at + 2, 0);
            expr force = graph_binary(g, EXPR_MUL, x, graph_variable(g, 5 * k + 4, 0));
            expr slope = graph_variable(g, at, 1), change = graph_variable(g, at + 2, 1);
            set->row[at].residual = graph_binary(g, EXPR_SUB, slope, v);
            set->row[at + 2].residual = graph_binary(g, EXPR_ADD, change, force);
            length = graph_binary(g, EXPR_ADD, length, graph_binary(g, EXPR_MUL, x, x));
            if (broken && k == 3) set->row[at].residual = x;
        }
        set->row[5 * k + 4].residual = length;
    }
    if (!graph_failed(g)) return true;
    equation_set_free(set);
    return false;
}

static bool join_all(equation_set *set)
{
    expr first = set->row[0].residual;
    bool joined = equation_set_join_derivatives(set);
    assert_int_equal(set->n, joined ? N - 2 * BODIES : N);
    assert_int_equal(set->m, set->n);
    if (!joined) assert_int_equal(set->row[0].residual, first);
    return joined;
}

static bool analyse(const equation_set *set, bool broken)
{
    structure s;
    if (!structure_analyse(&s, set)) {
        assert_null(s.match);
        assert_null(s.sigma.start);
        return false;
    }
    assert_int_equal(s.singular, broken);
    if (!broken) assert_int_equal(s.index, 3);
    structure_free(&s);
    return true;
}

static bool match_rows(void)
{
    const size_t start[] = {0, 2, 4};
    const int column[] = {0, 1, 0, 1};
    matching m;
    bool ok = matching_new(&m, start, column, 2, 2);
    if (ok) assert_true(matching_add(&m, 0) && matching_add(&m, 1));
    matching_free(&m);
    return ok;
}

/* All that allocates. */
static dae_status everything(void *unused)
{
    (void)unused;
    equation_set set = {0}, copy = {0};
    char text[100];
    graph *g = graph_new();
    bool ok = g && build(&set, g, true) && analyse(&set, true);
    equation_set_free(&set);
    ok = ok && build(&set, g, false) && analyse(&set, false) && join_all(&set);
    ok = ok && analyse(&set, false) && equation_set_copy(&copy, &set) && match_rows();
    if (ok) ok = equation_set_print(&set, set.row[0].residual, text, sizeof text) < sizeof text;
    if (ok) assert_int_equal(strlen(text) > 0, 1);
    equation_set_free(&set);
    equation_set_free(&copy);
    graph_free(g);
    return ok ? DAE_OK : DAE_ERR_MEMORY;
}

static void every_allocation_fails_once(void **state)
{
    (void)state;
    every_failure_is_told("structure", everything, NULL, 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation_fails_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
