/* Every allocation of the interpreter of the language fails once: the answer is DAE_ERR_MEMORY, and
 * nothing leaks. */
#include "fault_alloc.h"

#include "judge/judge.h"

static const char text[] =
    "function f\n  input Real v[:];\n  output Real y = 0;\nalgorithm\n"
    "  for i in 1:size(v, 1) loop\n    y := y + v[i];\n  end for;\nend f;\n"
    "record R\n  Real a;\n  Real b = 2*a;\nend R;\n"
    "model M\n  parameter Real p[3] = {1, 2, 3};\n  parameter R r(a = 1);\n"
    "  Real x[3](each start = 1), y, 'w[1]', 'w[2]';\n  Boolean b;\n  Integer n;\n"
    "equation\n  for i in 1:3 loop\n    der(x[i]) = -p[i]*x[i];\n  end for;\n"
    "  y = f(x) + r.b*exp(-time^2);\n  'w' = {x[1], x[2]};\n  b = x[1] > 0.5;\n"
    "  when b then\n    n = pre(n) + 1;\n  end when;\n  assert(y > 0, \"positive\");\nend M;\n";

static dae_status look_at_points(judge *j)
{
    double values[32] = {0}, derivatives[8] = {0}, times[64];
    bool fires[4] = {true, true, true, true};
    const judge_result *r;
    judge_start_values(j, values);
    const judge_force force = {200, 1.0};
    judge_point p = {.values = values,
                     .derivatives = derivatives,
                     .fires = fires,
                     .forces = &force,
                     .force_count = 1};
    dae_status status = judge_evaluate(j, &p, &r);
    size_t count;
    if (status == DAE_OK) status = judge_breaks(j, 0.0, 1.0, 0.1, 64, times, &count);
    dae_diag diag;
    if (status == DAE_OK) status = judge_function(j, "f(p)*y", &p, times, 64, &count, &diag);
    return status;
}

static dae_status all_of_it(void *unused)
{
    judge *j = NULL;
    (void)unused;
    dae_status status = judge_open(text, sizeof text - 1, "m.mo", NULL, 0, &j, NULL);
    assert_int_equal(j == NULL, status != DAE_OK);
    if (status == DAE_OK) status = look_at_points(j);
    judge_free(j);
    return status;
}

static void every_allocation(void **state)
{
    (void)state;
    every_failure_is_told("judge", all_of_it, NULL, 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
