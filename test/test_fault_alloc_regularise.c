/* Every allocation of the certificate and of the rewriting fails once: answers are refusals,
 * nothing leaks, and what was given stays usable. And a watch allocates nothing. */
#include "fault_alloc.h"

#include "structure/rewrite/regularise.h"

static expr mul(graph *g, expr a, expr b)
{
    return graph_binary(g, EXPR_MUL, a, b);
}

static expr add(graph *g, expr a, expr b)
{
    return graph_binary(g, EXPR_ADD, a, b);
}

/* x1 + exp(-x1' - x2 x2''), x1 + x2 x2' + x2^2 (substitution) and x3' + x4' + x3, p (x3' + x4') +
 * x4 (combination with a symbolic factor) */
static bool build(equation_set *set, graph *g)
{
    expr x[4][3];
    for (int j = 0; j < 4; j++)
        for (int p = 0; p < 3; p++) x[j][p] = graph_variable(g, j, p);
    if (!equation_set_new(set, g, 4, 4)) return false;
    expr inner = add(g, x[0][1], mul(g, x[1][0], x[1][2]));
    expr both = add(g, x[2][1], x[3][1]);
    set->row[0].residual =
        add(g, x[0][0], graph_unary(g, EXPR_EXP, graph_unary(g, EXPR_NEG, inner)));
    set->row[1].residual =
        add(g, add(g, x[0][0], mul(g, x[1][0], x[1][1])), mul(g, x[1][0], x[1][0]));
    set->row[2].residual = add(g, both, x[2][0]);
    set->row[3].residual = add(g, mul(g, graph_parameter(g, 0), both), x[3][0]);
    return !graph_failed(g);
}

static bool solved; /* by the last rewriting */

static bool rewrite(graph *g, const equation_point *at)
{
    equation_set set = {0};
    structure s = {0};
    rewrite_list steps = {0};
    system_jacobian J = {0};
    certificate c = {0};
    bool ok = build(&set, g) && structure_analyse(&s, &set) && system_jacobian_new(&J, &set, &s) &&
              certify(&J, &s, at, 1e-10, &c);
    system_jacobian_free(&J);
    certificate_free(&c);
    ok = ok && regularise(&set, &s, at, 1e-10, &steps);
    solved = ok && steps.solved;
    structure_free(&s);
    equation_set_free(&set);
    rewrite_list_free(&steps);
    return ok;
}

static dae_status rewrite_anew(void *at)
{
    graph *g = graph_new();
    bool ok = g && rewrite(g, at);
    graph_free(g);
    return ok ? DAE_OK : DAE_ERR_MEMORY;
}

static void every_allocation_fails_once(void **state)
{
    const double x[4][4] = {
        {0.4, 0.7, 0.2, 0.9}, {0.1, -0.3, 0.5, 0.6}, {0.3, 0.2, 0.8, 0.1}, {0.1, 0.2, 0.3, 0.4}};
    const double *rows[4] = {x[0], x[1], x[2], x[3]}, parameter = 1.7;
    equation_point at = {.time = 0.2, .x = rows, .orders = 3, .parameters = &parameter};
    (void)state;
    heap_faults f = fail_each("rewriting", rewrite_anew, &at);
    assert_int_equal(f.status, DAE_OK);
    assert_true(f.told > 0);
    assert_true(solved); /* the last trial had memory */
}

static void watch_allocates_nothing(void **state)
{
    const double x[2][4] = {{0.4, 0.7, 0.2, 0.9}, {0.1, -0.3, 0.5, 0.6}};
    const double *rows[2] = {x[0], x[1]};
    equation_point at = {.x = rows, .orders = 1};
    equation_set set = {0};
    structure s = {0};
    system_jacobian J = {0};
    certify_watch w = {0};
    graph *g = graph_new();
    (void)state;
    assert_true(equation_set_new(&set, g, 4, 4));
    for (int i = 0; i < 4; i++) {
        expr e = graph_variable(g, i, 0);
        for (int j = 0; j < 4; j++) {
            expr factor = add(g, graph_constant(g, 1.0 / (i + j + 1)), graph_time(g));
            e = add(g, e, mul(g, factor, graph_variable(g, j, 1)));
        }
        set.row[i].residual = e;
    }
    assert_true(structure_analyse(&s, &set) && system_jacobian_new(&J, &set, &s));
    assert_true(certify_watch_new(&w, &J, &s, 1e-10));
    assert_true(certify_watch_check(&w, &at, NULL)); /* LAPACK may fetch its buffers once */
    heap_watch(-1);
    for (int k = 0; k < 20; k++) {
        at.time = 0.1 * k;
        assert_true(certify_watch_check(&w, &at, NULL));
    }
    heap_unwatch();
    assert_int_equal(heap.requests + heap.foreign, 0);
    certify_watch_free(&w);
    system_jacobian_free(&J);
    structure_free(&s);
    equation_set_free(&set);
    graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_fails_once),
        cmocka_unit_test(watch_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
