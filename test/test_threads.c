/* Two solvers in two threads do not meet: on one shared problem and on problems of their own, with
 * every linear solver, the results are those of a run alone, bit by bit. And the same input gives
 * the same bits twice. */
#define _POSIX_C_SOURCE 200809L
#include "daedal.h"
#include "linalg/linear_solver.h"
#include "models.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { THREADS = 2, REPETITIONS = 6, MOST = 128 };

/* ---- what is solved ---- */

typedef struct task {
    const char *model;
    int size;
    dae_linear_solver solver;
    bool derivatives; /* by the model's callback, else by differences */
    double part;      /* of the model's interval */
} task;

static const task tasks[] = {
    {"robertson", 0, DAE_LINEAR_AUTO, true, 1e-3},
    {"pendulum2", 0, DAE_LINEAR_AUTO, false, 1.0},
    {"transamp", 0, DAE_LINEAR_AUTO, true, 0.05},
    {"ladder", 100, DAE_LINEAR_DENSE, true, 1.0}, /* LAPACK */
    {"ladder", 100, DAE_LINEAR_BANDED, false, 1.0},
    {"ladder", 100, DAE_LINEAR_SPARSE, true, 1.0}, /* KLU */
    {"heat2d", 8, DAE_LINEAR_GMRES, false, 1.0},
};
enum { TASKS = sizeof tasks / sizeof *tasks };

/* Everything a run leaves behind. */
typedef struct trace {
    dae_status status;
    double y[MOST], yp[MOST];
    long steps, attempts, residuals, factorisations, newton_iterations;
    double h;
} trace;

static model *new_model(const task *t)
{
    model *m = model_new(t->model, t->size);
    if (m && !t->derivatives) m->form.jacobian = NULL;
    return m;
}

/* Solve with a solver of one's own. Fills all of *r, padding included. */
static void solve(const task *t, const model *m, const dae_problem *problem, trace *r)
{
    memset(r, 0, sizeof *r);
    dae_options options = dae_options_default();
    options.linear_solver = t->solver;
    dae_solver *solver;
    r->status = dae_solver_new(problem, &options, &solver, NULL);
    if (r->status < 0) return;
    r->status = dae_solver_start(solver, m->t0, m->y0, m->yp0);
    double tend = m->t0 + t->part * (m->tend - m->t0);
    if (r->status == DAE_OK) r->status = dae_solver_run(solver, tend, r->y, r->yp);
    const dae_stats *stats = dae_solver_stats(solver);
    r->steps = stats->steps;
    r->attempts = stats->attempts;
    r->residuals = stats->residuals + stats->jacobian_residuals;
    r->factorisations = stats->factorisations;
    r->newton_iterations = stats->newton_iterations;
    r->h = stats->h;
    dae_solver_free(solver);
}

/* Model, problem, solver: all one's own. */
static void solve_alone(const task *t, trace *r)
{
    model *m = new_model(t);
    dae_problem *problem;
    memset(r, 0, sizeof *r);
    r->status = DAE_ERR_MEMORY;
    if (!m) return;
    r->status = dae_problem_from_residual(&m->form, &problem, NULL);
    if (r->status == DAE_OK) solve(t, m, problem, r);
    dae_problem_free(problem);
    model_free(m);
}

/* ---- threads ---- */

typedef struct actor {
    pthread_t thread;
    pthread_barrier_t *together;
    const task *task;
    const trace *expected;
    const model *model;         /* shared, or NULL: an own one each time */
    const dae_problem *problem; /* likewise */
    int differences;            /* results that were not as expected */
} actor;

/* cmocka's assertions are not for threads, so differences are counted. */
static void *act(void *argument)
{
    actor *a = argument;
    trace *r = malloc(sizeof *r);
    for (int k = 0; k < REPETITIONS; k++) {
        pthread_barrier_wait(a->together);
        if (a->problem)
            solve(a->task, a->model, a->problem, r);
        else
            solve_alone(a->task, r);
        a->differences += memcmp(r, a->expected, sizeof *r) != 0;
    }
    free(r);
    return NULL;
}

static void run_actors(actor actors[THREADS])
{
    pthread_barrier_t together;
    assert_int_equal(pthread_barrier_init(&together, NULL, THREADS), 0);
    for (int i = 0; i < THREADS; i++) {
        actors[i].together = &together;
        assert_int_equal(pthread_create(&actors[i].thread, NULL, act, &actors[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(actors[i].thread, NULL);
    pthread_barrier_destroy(&together);
    for (int i = 0; i < THREADS; i++)
        if (actors[i].differences > 0)
            fail_msg("%s: %d of %d runs differ in a thread", actors[i].task->model,
                     actors[i].differences, (int)REPETITIONS);
}

/* ---- the tests ---- */

static trace expected[TASKS];

static int solve_serially(void **state)
{
    (void)state;
    for (int i = 0; i < TASKS; i++) solve_alone(&tasks[i], &expected[i]);
    return 0;
}

static void test_same_bits_twice(void **state)
{
    (void)state;
    static trace again;
    for (int i = 0; i < TASKS; i++) {
        if (expected[i].status != DAE_OK)
            fail_msg("%s: %s", tasks[i].model, dae_status_name(expected[i].status));
        assert_true(expected[i].steps > 10);
        solve_alone(&tasks[i], &again);
        assert_memory_equal(&again, &expected[i], sizeof again);
    }
}

static void test_shared_problem(void **state)
{
    (void)state;
    for (int i = 0; i < TASKS; i++) {
        model *m = new_model(&tasks[i]);
        dae_problem *problem;
        assert_int_equal(dae_problem_from_residual(&m->form, &problem, NULL), DAE_OK);
        actor actors[THREADS] = {{0}};
        for (int k = 0; k < THREADS; k++)
            actors[k] = (actor){
                .task = &tasks[i], .expected = &expected[i], .model = m, .problem = problem};
        run_actors(actors);
        dae_problem_free(problem);
        model_free(m);
    }
}

/* Every task beside the next one. */
static void test_own_problems(void **state)
{
    (void)state;
    for (int i = 0; i < TASKS; i++) {
        actor actors[THREADS] = {{0}};
        for (int k = 0; k < THREADS; k++) {
            int which = (i + k) % TASKS;
            actors[k] = (actor){.task = &tasks[which], .expected = &expected[which]};
        }
        run_actors(actors);
    }
}

/* ---- LAPACK ---- */

enum { ORDER = 90, FACTORISATIONS = 3000 };

typedef struct factoring {
    pthread_t thread;
    matrix_layout layout;
    linear_solver *solver;
    double matrix[ORDER * ORDER], expected[ORDER];
    int differences;
} factoring;

static void factor_and_solve(factoring *f, double *x)
{
    for (int i = 0; i < ORDER; i++) x[i] = 1.0;
    if (linear_factor(f->solver, f->matrix) == LINEAR_OK) linear_solve(f->solver, x);
}

static void *factor_often(void *argument)
{
    factoring *f = argument;
    double x[ORDER];
    for (int k = 0; k < FACTORISATIONS; k++) {
        factor_and_solve(f, x);
        f->differences += memcmp(x, f->expected, sizeof x) != 0;
    }
    return NULL;
}

/* OpenBLAS without threads shares its buffers without a lock; the library must have one. */
static void test_lapack(void **state)
{
    (void)state;
    static factoring all[THREADS];
    unsigned random = 1;
    for (int i = 0; i < THREADS; i++) {
        for (int k = 0; k < ORDER * ORDER; k++) {
            random = random * 1664525u + 1013904223u;
            all[i].matrix[k] = (double)(random >> 8) * 0x1p-24;
        }
        assert_true(layout_dense(&all[i].layout, ORDER));
        all[i].solver = linear_dense.analyse(&all[i].layout, NULL);
        assert_non_null(all[i].solver);
        factor_and_solve(&all[i], all[i].expected);
    }
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&all[i].thread, NULL, factor_often, &all[i]), 0);
    for (int i = 0; i < THREADS; i++) pthread_join(all[i].thread, NULL);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(all[i].differences, 0);
        linear_free(all[i].solver);
        layout_free(&all[i].layout);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bits_twice),
        cmocka_unit_test(test_shared_problem),
        cmocka_unit_test(test_own_problems),
        cmocka_unit_test(test_lapack),
    };
    return cmocka_run_group_tests(tests, solve_serially, NULL);
}
