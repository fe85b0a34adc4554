/* One boundary value problem: opened from a text, solved, asked for values. */
#ifndef DAE_TEST_BVP_RUN_H
#define DAE_TEST_BVP_RUN_H

#include "model_run.h"

typedef struct bvp_run {
    run r;
    dae_bvp *b;
    dae_bvp_request request;
} bvp_run;

static inline void open_with(bvp_run *q, const char *text, int count,
                             const char *const *end_conditions)
{
    memset(q, 0, sizeof *q);
    dae_model model = {.text = text,
                       .file = "m.mo",
                       .engine = DAE_ENGINE_TAPE,
                       .terminal = end_conditions,
                       .terminal_count = count};
    dae_status status = dae_problem_from_model(&model, &q->r.problem, &q->r.diag);
    if (status != DAE_OK) print_error("%s\n", q->r.diag.text);
    assert_int_equal(status, DAE_OK);
    q->request = (dae_bvp_request){.end = 1.0, .rtol = 1e-8, .atol = 1e-8};
}

static inline dae_status try_solve(bvp_run *q)
{
    dae_bvp_free(q->b);
    return dae_bvp_new(q->r.problem, &q->request, &q->b, &q->r.diag);
}

static inline void solve(bvp_run *q)
{
    dae_status status = try_solve(q);
    if (status != DAE_OK) print_error("%s\n", q->r.diag.text);
    assert_int_equal(status, DAE_OK);
    assert_true(dae_bvp_statistics(q->b)->error <= 1.0);
}

static inline double value_at(bvp_run *q, const char *name, double t)
{
    double values[MOST_VALUES];
    int i = dae_problem_find_variable(q->r.problem, name);
    assert_true(i >= 0 && dae_problem_variable_count(q->r.problem) <= MOST_VALUES);
    assert_int_equal(dae_bvp_at(q->b, t, values), DAE_OK);
    return values[i];
}

static inline void expect_about(double found, double exact, double tolerance)
{
    if (fabs(found - exact) <= tolerance) return;
    print_error("%.15g, not %.15g\n", found, exact);
    fail();
}

static inline void shut(bvp_run *q)
{
    dae_bvp_free(q->b);
    end(&q->r);
}

static inline void expect_refused(bvp_run *q, dae_status status, const char *words)
{
    assert_int_equal(try_solve(q), status);
    assert_null(q->b);
    if (!strstr(q->r.diag.text, words)) print_error("%s\n", q->r.diag.text);
    assert_non_null(strstr(q->r.diag.text, words));
}

#endif
