/* radau when things go wrong: a callback that fails at its k-th call, for every k; and when they do
 * not: no allocation in the step loop, and the memory that docs/methods/radau.md states. */
#include "fault_alloc.h"

#include "models.h"
#include "pendulum.h"
#include "solve/bind/solver.h"

#include <math.h>
#include <stdio.h>

static const char *const methods[] = {"radau", "radau:5", "radau:9", "radau:13"};
enum { METHODS = 4 };

/* ---- the k-th call fails ---- */

typedef enum failure { RETRY, NOT_A_NUMBER, STOP } failure;

typedef struct moody {
    long calls, bad; /* the bad one, from 1 */
    failure how;
} moody;

/* y' = -50 (y - cos t), 0 = z^3 - y - 2 */
static int moody_f(double t, const double *y, const double *yp, double *f, void *user)
{
    moody *m = user;
    f[0] = yp[0] + 50.0 * (y[0] - cos(t));
    f[1] = y[1] * y[1] * y[1] - y[0] - 2.0;
    if (++m->calls != m->bad) return 0;
    if (m->how == NOT_A_NUMBER) f[1] = NAN;
    return m->how == RETRY ? 1 : m->how == STOP ? -1 : 0;
}

static double solution(double t)
{
    return (2500.0 * cos(t) + 50.0 * sin(t)) / 2501.0;
}

/* One run to t = 1 whose bad call is the k-th; returns the calls that were made. */
static long run_moody(const char *name, failure how, long k)
{
    moody m = {.bad = k, .how = how};
    dae_problem *p;
    dae_solver *s;
    dae_options o = dae_options_default();
    double y[2] = {solution(0.0), cbrt(solution(0.0) + 2.0)};
    o.method = name;
    o.stop_time = 1.0;
    dae_residual form = {.n = 2, .f = moody_f, .user = &m};
    assert_int_equal(dae_problem_from_residual(&form, &p, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
    dae_status status = dae_solver_start(s, 0.0, y, NULL);
    const bool began = status == DAE_OK;
    if (began) status = dae_solver_run(s, 1.0, y, NULL);
    const bool met = m.calls >= k;
    if (how == STOP && met) {
        if (status != DAE_ERR_CALLBACK) fail_msg("%s, call %ld: status %d", name, k, (int)status);
        assert_non_null(strstr(dae_solver_diag(s)->text, "residual"));
    } else if (began) {
        if (status != DAE_OK) fail_msg("%s, call %ld: %s", name, k, dae_solver_diag(s)->text);
        assert_true(fabs(y[0] - solution(1.0)) < 1e-4);
        assert_true(fabs(y[1] - cbrt(solution(1.0) + 2.0)) < 1e-4);
    }
    dae_solver_free(s);
    dae_problem_free(p);
    return m.calls;
}

static void callback_fails_at_every_call(void **state)
{
    (void)state;
    for (int j = 0; j < METHODS; j++)
        for (failure how = RETRY; how <= STOP; how++)
            for (long k = 1; k < 400; k++)
                if (run_moody(methods[j], how, k) < k) break;
}

/* ---- memory ---- */

/* After the first steps nothing is allocated, whatever the structure, by us or by libraries. */
static void no_allocation_in_the_step_loop(void **state)
{
    (void)state;
    static const dae_linear_solver solvers[] = {DAE_LINEAR_DENSE, DAE_LINEAR_BANDED,
                                                DAE_LINEAR_SPARSE};
    static const char *const all[] = {"radau",   "radau:5", "radau:9", "radau:13", "lobattoc:6",
                                      "gauss:4", "sirk:2",  "sdirk:4", "rodas:p2"};
    for (int c = 0; c < 27; c++) {
        model *m = model_new("brusselator", 30);
        dae_problem *p;
        dae_solver *s;
        dae_options o = dae_options_default();
        o.method = all[c / 3];
        o.linear_solver = solvers[c % 3];
        assert_int_equal(dae_problem_from_residual(&m->form, &p, NULL), DAE_OK);
        assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
        assert_int_equal(dae_solver_start(s, m->t0, m->y0, m->yp0), DAE_OK);
        while (dae_solver_time(s) < 0.5 * m->tend)
            if (dae_solver_step(s, m->tend) < 0) fail_msg("%s", dae_solver_diag(s)->text);
        const long repivots = dae_solver_stats(s)->repivots;
        heap_watch(-1);
        dae_status status;
        while ((status = dae_solver_step(s, m->tend)) > 0) continue;
        heap_unwatch();
        assert_int_equal(status, DAE_OK);
        long fresh = dae_solver_stats(s)->repivots - repivots;
        if (heap.requests + heap.foreign > 0 && (fresh == 0 || c % 3 != 2))
            fail_msg("%s, structure %d: %ld requests and %ld of libraries", o.method, c % 3,
                     heap.requests, heap.foreign);
        dae_solver_free(s);
        dae_problem_free(p);
        model_free(m);
    }
}

static void no_allocation_in_projections(void **state)
{
    (void)state;
    dae_mechanical form = {.nq = 2,
                           .nlambda = 1,
                           .force = pendulum_weight,
                           .constraint = pendulum_rod,
                           .scleronomic = true};
    for (int j = 0; j < METHODS; j++) {
        dae_problem *p;
        dae_solver *s;
        dae_options o = dae_options_default();
        double y[5] = {1.0, 0.0, 0.0, 0.0, 0.0};
        o.method = methods[j];
        o.formulation = "index3";
        o.projection = DAE_PROJECTION_BOTH;
        assert_int_equal(dae_problem_from_mechanical(&form, &p, NULL), DAE_OK);
        assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
        assert_int_equal(dae_solver_start(s, 0.0, y, NULL), DAE_OK);
        assert_int_equal(dae_solver_step(s, 10.0), DAE_STEPPED);
        dae_status status;
        heap_watch(-1);
        while ((status = dae_solver_step(s, 10.0)) > 0) continue;
        heap_unwatch();
        assert_int_equal(status, DAE_OK);
        assert_int_equal(heap.requests + heap.foreign, 0);
        dae_solver_free(s);
        dae_problem_free(p);
    }
}

/* 11 vectors of state and 56 of scratch */
static void vectors(void **state)
{
    (void)state;
    for (int j = 0; j < METHODS; j++) {
        size_t small[2], large[2];
        const method *m = method_find(methods[j]);
        method_size(m, 1000, &small[0], &small[1]);
        method_size(m, 2000, &large[0], &large[1]);
        assert_int_equal(large[0] - small[0], 11 * 1000 * sizeof(double));
        assert_int_equal(large[1] - small[1], 56 * 1000 * sizeof(double));
    }
}

/* y_i' = y_(i-1) - 2 y_i + y_(i+1) */
static int line_f(double t, const double *y, const double *yp, double *f, void *user)
{
    const int n = *(const int *)user;
    (void)t;
    for (int i = 0; i < n; i++) {
        double left = i > 0 ? y[i - 1] : 1.0, right = i < n - 1 ? y[i + 1] : 0.0;
        f[i] = yp[i] - (left - 2.0 * y[i] + right);
    }
    return 0;
}

/* Bytes that a problem of n unknowns, its solver and a run ask for; `cut`: up to a step's end. */
static size_t bytes_of(const char *name, int n, bool cut)
{
    dae_residual form = {
        .n = n, .f = line_f, .user = &n, .structure = DAE_STRUCTURE_BANDED, .lower = 1, .upper = 1};
    dae_problem *p;
    dae_solver *s;
    dae_options o = dae_options_default();
    double *y = calloc((size_t)n, sizeof *y);
    o.method = name;
    o.rtol = o.atol = 1e-8;
    if (cut) o.stop_time = 1.0;
    heap_watch(-1);
    assert_int_equal(dae_problem_from_residual(&form, &p, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(s, 0.0, y, NULL), DAE_OK);
    assert_int_equal(dae_solver_run(s, 1.0, y, NULL), DAE_OK);
    heap_unwatch();
    size_t bytes = heap.bytes;
    assert_int_equal(heap.foreign, 0);
    dae_solver_free(s);
    dae_problem_free(p);
    free(y);
    return bytes;
}

/* What docs/methods/radau.md says that a tridiagonal problem asks for, all matrices included */
static void memory_in_all(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) { /* values within steps may ask for as much again */
        size_t more = bytes_of("radau", 4000, k == 0), less = bytes_of("radau", 2000, k == 0);
        double each = (double)(more - less) / 2000.0;
        print_message("%.0f bytes an unknown\n", each);
        assert_true(each <= (k + 1) * 1520.0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(callback_fails_at_every_call),
        cmocka_unit_test(no_allocation_in_the_step_loop),
        cmocka_unit_test(no_allocation_in_projections),
        cmocka_unit_test(vectors),
        cmocka_unit_test(memory_in_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
