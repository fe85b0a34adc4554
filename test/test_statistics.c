/* Statistics against what callbacks see: counters that add up, causes of rejections, local errors,
 * condition estimates, and the lists of methods, names and statuses. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daedal.h"
#include "models.h"
#include "own_formula.h"

/* ---- a witness that counts ------------------------------------------------------------------ */

enum { RESULTS = DAE_STEP_SINGULAR + 1 };

typedef struct witness {
    model *source;
    long residuals, jacobians;
    long attempts[RESULTS]; /* seen by the monitor, by result */
    long newton_iterations;
    dae_step_info first, last; /* first attempt; last accepted one */
    bool pending;              /* the next attempt is the first one of a step */
    double expected_h;         /* which must have this size and order */
    int expected_order;
    dae_problem *problem;
    dae_solver *solver;
} witness;

static int witness_f(double t, const double *y, const double *yp, double *f, void *user)
{
    witness *w = user;
    w->residuals++;
    return w->source->form.f(t, y, yp, f, w->source->form.user);
}

static int witness_jacobian(double t, const double *y, const double *yp, double *dfdy,
                            double *dfdyp, void *user)
{
    witness *w = user;
    w->jacobians++;
    return w->source->form.jacobian(t, y, yp, dfdy, dfdyp, w->source->form.user);
}

static void witness_monitor(const dae_step_info *info, void *user)
{
    witness *w = user;
    if (w->pending) {
        assert_true(info->h == w->expected_h);
        assert_int_equal(info->order, w->expected_order);
    }
    w->pending = false;
    long seen = 0;
    for (int k = 0; k < RESULTS; k++) seen += w->attempts[k];
    if (seen == 0) w->first = *info;
    if (info->result == DAE_STEP_ACCEPTED) w->last = *info;
    w->attempts[info->result]++;
    w->newton_iterations += info->newton_iterations;
    assert_true(info->variable >= -1 && info->variable < w->source->form.n);
    if (info->result == DAE_STEP_ACCEPTED) assert_true(info->error <= 1.0);
    if (info->result == DAE_STEP_ERROR_TEST) assert_true(info->error > 1.0);
}

static dae_options witness_options(witness *w)
{
    dae_options options = dae_options_default();
    options.monitor = witness_monitor;
    options.user = w;
    return options;
}

/* A model with counting callbacks, with or without its own Jacobian. */
static void witness_open(witness *w, const char *name, int size, bool analytic)
{
    *w = (witness){.source = model_new(name, size)};
    assert_non_null(w->source);
    dae_residual form = w->source->form;
    form.f = witness_f;
    form.jacobian = analytic ? witness_jacobian : NULL;
    form.user = w;
    assert_int_equal(dae_problem_from_residual(&form, &w->problem, NULL), DAE_OK);
}

static void witness_start(witness *w, const dae_options *options)
{
    const model *m = w->source;
    dae_solver_free(w->solver);
    w->residuals = w->jacobians = w->newton_iterations = 0;
    memset(w->attempts, 0, sizeof w->attempts);
    assert_int_equal(dae_solver_new(w->problem, options, &w->solver, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(w->solver, m->t0, m->y0, m->yp0), DAE_OK);
}

static void witness_close(witness *w)
{
    dae_solver_free(w->solver);
    dae_problem_free(w->problem);
    model_free(w->source);
}

static long all_rejections(const dae_stats *s)
{
    return s->rejected_error + s->rejected_convergence + s->rejected_evaluation +
           s->rejected_bound + s->rejected_singular;
}

/* Everything that must hold between counters at any time. */
static void check_sums(const witness *w)
{
    const dae_stats *s = dae_solver_stats(w->solver);
    assert_int_equal(s->attempts, s->steps + all_rejections(s));
    assert_int_equal(s->factorisations, s->factor_step_changed + s->factor_new_jacobian);
    assert_int_equal(s->residuals + s->jacobian_residuals, w->residuals);
    if (w->jacobians > 0) assert_int_equal(s->jacobians, w->jacobians);
    assert_true(s->repivots <= s->factorisations);
    assert_true(s->solves >= s->newton_iterations);
    assert_int_equal(s->steps, w->attempts[DAE_STEP_ACCEPTED]);
    assert_int_equal(s->rejected_error, w->attempts[DAE_STEP_ERROR_TEST]);
    assert_int_equal(s->rejected_convergence, w->attempts[DAE_STEP_CONVERGENCE]);
    assert_int_equal(s->rejected_evaluation, w->attempts[DAE_STEP_EVALUATION]);
    assert_int_equal(s->rejected_bound, w->attempts[DAE_STEP_BOUND]);
    assert_int_equal(s->rejected_singular, w->attempts[DAE_STEP_SINGULAR]);
}

/* ---- sums ----------------------------------------------------------------------------------- */

/* Run a model in three parts with a restart between them; the counters never stop adding up. */
static void check_model(const char *method, const char *name, int size, bool analytic,
                        dae_linear_solver linear)
{
    witness w;
    witness_open(&w, name, size, analytic);
    dae_options options = witness_options(&w);
    options.method = method;
    options.linear_solver = linear;
    options.rtol = 1e-5;
    witness_start(&w, &options);
    check_sums(&w);
    double t0 = w.source->t0, range = w.source->tend - t0;
    for (int part = 1; part <= 3; part++) {
        assert_int_equal(dae_solver_run(w.solver, t0 + range * part / 3, NULL, NULL), DAE_OK);
        check_sums(&w);
        if (part == 2) assert_int_equal(dae_solver_restart(w.solver, NULL, NULL), DAE_OK);
    }
    const dae_stats *s = dae_solver_stats(w.solver);
    assert_int_equal(s->starts, 2);
    assert_true(s->steps > 5);
    assert_true(s->newton_iterations >= w.newton_iterations);
    assert_int_equal(s->linear_iterations > 0, linear == DAE_LINEAR_GMRES);
    bool differs_t = strncmp(method, "rodas", 5) == 0; /* dF/dt, which no callback gives */
    if (analytic && linear != DAE_LINEAR_GMRES && !differs_t)
        assert_int_equal(s->jacobian_residuals, 0);
    if (!analytic) assert_true(s->jacobian_residuals > 0);
    assert_true(s->jacobians > 0 && s->factorisations > 0);
    witness_close(&w);
}

static void test_counters_add_up(void **state)
{
    (void)state;
    for (int analytic = 0; analytic <= 1; analytic++) {
        check_model("bdf", "robertson", 0, analytic, DAE_LINEAR_AUTO);
        check_model("bdf", "akzo", 0, analytic, DAE_LINEAR_AUTO);
        check_model("bdf", "heat2d", 8, analytic, DAE_LINEAR_SPARSE);
        check_model("bdf", "heat2d", 8, analytic, DAE_LINEAR_DENSE);
        check_model("bdf", "heat2d", 8, analytic, DAE_LINEAR_GMRES);
    }
}

/* The same for methods with several matrices a step. */
static void test_counters_of_stages_add_up(void **state)
{
    (void)state;
    static const char *const methods[] = {"radau",   "radau:5", "radau:13", "lobattoc:6",
                                          "gauss:4", "sirk:2",  "sdirk:4",  "rodas:p2"};
    for (int k = 0; k < 8; k++)
        for (int analytic = 0; analytic <= 1; analytic++) {
            check_model(methods[k], "akzo", 0, analytic, DAE_LINEAR_AUTO);
            check_model(methods[k], "heat2d", 8, analytic, DAE_LINEAR_SPARSE);
            check_model(methods[k], "brusselator", 20, analytic, DAE_LINEAR_BANDED);
        }
}

/* What the statistics say of the last and the next step is what the monitor sees of them. */
static void check_steps_as_monitored(const char *method)
{
    witness w;
    witness_open(&w, "robertson", 0, true);
    dae_options options = witness_options(&w);
    options.method = method;
    witness_start(&w, &options);
    const dae_stats *s = dae_solver_stats(w.solver);
    dae_status status;
    long steps = 0;
    while ((status = dae_solver_step(w.solver, w.source->tend)) == DAE_STEPPED) {
        assert_int_equal(s->steps, ++steps);
        assert_true(s->last_h == w.last.h && s->t == w.last.t + w.last.h);
        assert_int_equal(s->last_order, w.last.order);
        assert_true(s->t == dae_solver_time(w.solver));
        double start, end;
        dae_solver_last_step(w.solver, &start, &end);
        assert_true(start == w.last.t && end == s->t);
        w.pending = true;
        w.expected_h = s->h;
        w.expected_order = s->order;
    }
    assert_int_equal(status, DAE_OK);
    assert_true(s == dae_solver_stats(w.solver));
    assert_true(s->h0 == w.first.h && w.first.t == w.source->t0);
    check_sums(&w);
    witness_close(&w);
}

static void test_steps_as_monitored(void **state)
{
    (void)state;
    check_steps_as_monitored("bdf");
    check_steps_as_monitored("radau");
    check_steps_as_monitored("lobattoc:6");
    check_steps_as_monitored("rodas");
}

static int spring(const dae_mechanical_point *at, double *f, void *user)
{
    (void)user;
    f[0] = -at->q[0];
    return 0;
}

static void see_nobody(const dae_step_info *info, void *user)
{
    assert_int_equal(info->variable, -1);
    ++*(long *)user;
}

/* Constant steps have no error estimate, which no variable can dominate. */
static void test_nobody_dominates(void **state)
{
    (void)state;
    const double y[2] = {1.0, 0.0}, yp[2] = {0.0, -1.0};
    long seen = 0;
    dae_mechanical form = {.nq = 1, .force = spring};
    dae_problem *problem;
    dae_solver *s;
    dae_options options = dae_options_default();
    options.method = "rattle";
    options.fixed_step = 0.125;
    options.monitor = see_nobody;
    options.user = &seen;
    assert_int_equal(dae_problem_from_mechanical(&form, &problem, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(problem, &options, &s, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(s, 0.0, y, yp), DAE_OK);
    assert_int_equal(dae_solver_run(s, 1.0, NULL, NULL), DAE_OK);
    assert_int_equal(seen, 8);
    dae_solver_free(s);
    dae_problem_free(problem);
}

/* ---- causes of rejections -----------------------------------------------------------------------
 */

/* Scalar problems, each with one way to fail. */
typedef struct trap {
    double (*rate)(double t, double y); /* y' = rate */
    double wall;                        /* F asks for smaller steps once t passes it from below */
    double reach;                       /* .. by more than this */
    double known;                       /* largest t that was accepted */
    int code;                           /* what F returns there */
} trap;

static int trap_f(double t, const double *y, const double *yp, double *f, void *user)
{
    const trap *p = user;
    f[0] = yp[0] - p->rate(t, y[0]);
    return p->code != 0 && t > p->known + p->reach && t > p->wall ? p->code : 0;
}

static void trap_monitor(const dae_step_info *info, void *user)
{
    trap *p = user;
    if (info->result == DAE_STEP_ACCEPTED) p->known = info->t + info->h;
}

static double growing(double t, double y)
{
    (void)t;
    return y;
}

static double decaying(double t, double y)
{
    (void)t;
    return -y;
}

/* Newton from y = 0 with a large step goes astray. */
static double wild(double t, double y)
{
    (void)t;
    return 1.0 - y * y * y * y * y * 1e8;
}

/* Run to t = 2; statistics. */
static dae_stats run_trap(trap *p, double y0, double initial_step, const double *lower,
                          dae_status expected)
{
    dae_options options = dae_options_default();
    options.method = "bdf";
    options.initial_step = initial_step;
    options.monitor = trap_monitor;
    options.user = p;
    dae_residual form = {.n = 1, .f = trap_f, .user = p, .lower_bounds = lower};
    dae_problem *problem;
    dae_solver *solver;
    assert_int_equal(dae_problem_from_residual(&form, &problem, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(problem, &options, &solver, NULL), DAE_OK);
    double yp0 = p->rate(0.0, y0);
    assert_int_equal(dae_solver_start(solver, 0.0, &y0, &yp0), DAE_OK);
    assert_int_equal(dae_solver_run(solver, 2.0, NULL, NULL), expected);
    dae_stats stats = *dae_solver_stats(solver);
    assert_int_equal(stats.attempts, stats.steps + all_rejections(&stats));
    dae_solver_free(solver);
    dae_problem_free(problem);
    return stats;
}

static void test_rejected_by_error_test(void **state)
{
    (void)state;
    trap p = {.rate = decaying};
    dae_stats s = run_trap(&p, 1.0, 0.5, NULL, DAE_OK);
    assert_true(s.rejected_error > 0);
    assert_int_equal(all_rejections(&s), s.rejected_error);
}

/* With h = 1 at order 1 the matrix of y' = y is 1 - 1. */
static void test_rejected_singular(void **state)
{
    (void)state;
    trap p = {.rate = growing};
    dae_stats s = run_trap(&p, 1.0, 1.0, NULL, DAE_OK);
    assert_int_equal(s.rejected_singular, 1);
    assert_int_equal(s.rejected_convergence + s.rejected_evaluation + s.rejected_bound, 0);
}

static void test_rejected_by_evaluation(void **state)
{
    (void)state;
    trap p = {.rate = decaying, .code = 1, .wall = 1.0, .reach = 1e-3};
    dae_stats s = run_trap(&p, 1.0, 1e-4, NULL, DAE_OK);
    assert_true(s.rejected_evaluation > 0);
    assert_int_equal(s.rejected_convergence + s.rejected_singular + s.rejected_bound, 0);
}

static void test_rejected_by_convergence(void **state)
{
    (void)state;
    trap p = {.rate = wild};
    dae_stats s = run_trap(&p, 0.0, 1.0, NULL, DAE_OK);
    assert_true(s.rejected_convergence > 0);
    assert_int_equal(s.rejected_evaluation + s.rejected_singular + s.rejected_bound, 0);
}

static double constant_fall(double t, double y)
{
    (void)t, (void)y;
    return -1.0;
}

/* y = 1 - t with y >= 0: no way beyond t = 1. */
static void test_rejected_by_bound(void **state)
{
    (void)state;
    trap p = {.rate = constant_fall};
    const double zero = 0.0;
    dae_stats s = run_trap(&p, 1.0, 0.0, &zero, DAE_ERR_BOUND);
    assert_true(s.rejected_bound > 0);
    assert_true(s.t <= 1.0 && s.t > 0.99);
    assert_int_equal(s.rejected_evaluation + s.rejected_singular + s.rejected_convergence, 0);
}

/* A stopped attempt is neither accepted nor rejected: the sums hold without it. */
static void test_stopped_attempt(void **state)
{
    (void)state;
    trap p = {.rate = decaying, .code = -1, .wall = 1.0};
    dae_stats s = run_trap(&p, 1.0, 0.0, NULL, DAE_ERR_CALLBACK);
    assert_true(s.steps > 0 && s.t <= 1.0);
}

/* ---- local errors -------------------------------------------------------------------------------
 */

/* sqrt(mean (e_i / w_i)^2) with w from y */
static double weighted_norm(int n, const double *e, const double *y, double rtol, double atol)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        double x = e[i] / (rtol * fabs(y[i]) + atol);
        sum += x * x;
    }
    return sqrt(sum / n);
}

/* In the norm of the step's start they are what the error test saw, at most 1. */
static void test_local_errors(void **state)
{
    (void)state;
    enum { MOST = 8 };
    witness w;
    double errors[MOST], y[MOST];
    witness_open(&w, "akzo", 0, true);
    int n = w.source->form.n;
    assert_true(n <= MOST);
    dae_options options = witness_options(&w);
    options.error_test = DAE_ERROR_ALL;
    witness_start(&w, &options);
    assert_int_equal(dae_solver_local_errors(w.solver, errors), DAE_ERR_STATE);
    while (dae_solver_step(w.solver, w.source->tend) == DAE_STEPPED) {
        assert_int_equal(dae_solver_local_errors(w.solver, errors), DAE_OK);
        assert_int_equal(dae_solver_at(w.solver, w.last.t, 0, y), DAE_OK);
        double size = weighted_norm(n, errors, y, options.rtol, options.atol);
        assert_true(size <= 1.0 + 1e-9);
        assert_true(fabs(size - w.last.error) <= 1e-6 * size + 1e-9);
    }
    assert_int_equal(dae_solver_local_errors(w.solver, NULL), DAE_ERR_ARGUMENT);
    witness_close(&w);
}

/* y' jumps at t = 1: the error test fails there for sure. */
static double turning(double t, double y)
{
    (void)y;
    return t < 1.0 ? 1.0 : -1.0;
}

static void count_failures(const dae_step_info *info, void *user)
{
    *(long *)user += info->result == DAE_STEP_ERROR_TEST;
}

static int after_failure(void *user)
{
    return *(long *)user > 0;
}

/* Between a rejected attempt and the next one there is no estimate of an accepted step. */
static void test_local_errors_of_accepted_steps(void **state)
{
    (void)state;
    trap p = {.rate = turning};
    long failures = 0;
    dae_residual form = {.n = 1, .f = trap_f, .user = &p};
    dae_options options = dae_options_default();
    options.monitor = count_failures;
    options.interrupt = after_failure;
    options.user = &failures;
    dae_problem *problem;
    dae_solver *solver;
    double y = 0.0, yp = 1.0, error;
    assert_int_equal(dae_problem_from_residual(&form, &problem, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(problem, &options, &solver, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(solver, 0.0, &y, &yp), DAE_OK);
    assert_int_equal(dae_solver_run(solver, 2.0, NULL, NULL), DAE_ERR_INTERRUPTED);
    assert_true(dae_solver_stats(solver)->steps > 0);
    assert_int_equal(dae_solver_local_errors(solver, &error), DAE_ERR_STATE);
    dae_solver_free(solver);
    dae_problem_free(problem);
}

/* y' = -y: the first step is implicit Euler from y = 1, whose error is h^2/2 + O(h^3). */
static void test_local_error_is_the_error(void **state)
{
    (void)state;
    trap p = {.rate = decaying};
    dae_residual form = {.n = 1, .f = trap_f, .user = &p};
    dae_options options = dae_options_default();
    options.method = "bdf";
    options.initial_step = 1e-3;
    options.rtol = 1e-4;
    dae_problem *problem;
    dae_solver *solver;
    double y = 1.0, yp = -1.0, error;
    assert_int_equal(dae_problem_from_residual(&form, &problem, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(problem, &options, &solver, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(solver, 0.0, &y, &yp), DAE_OK);
    assert_int_equal(dae_solver_step(solver, 1.0), DAE_STEPPED);
    assert_int_equal(dae_solver_at(solver, 1e-3, 0, &y), DAE_OK);
    assert_int_equal(dae_solver_local_errors(solver, &error), DAE_OK);
    assert_true(fabs(fabs(error) - fabs(y - exp(-1e-3))) < 0.01 * fabs(error));
    dae_solver_free(solver);
    dae_problem_free(problem);
}

/* ---- condition ----------------------------------------------------------------------------------
 */

enum { DIAGONAL = 30 };

/* y_i' + d_i y_i = 0 with d from 1 to 1e6 */
static int diagonal_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    for (int i = 0; i < DIAGONAL; i++) f[i] = yp[i] + pow(10.0, 6.0 * i / (DIAGONAL - 1)) * y[i];
    return 0;
}

/* With h = 1 at order 1 the condition of the matrix is (1 + 1)/(1 + 1e6). */
static void test_condition(void **state)
{
    (void)state;
    const dae_linear_solver solvers[3] = {DAE_LINEAR_DENSE, DAE_LINEAR_BANDED, DAE_LINEAR_SPARSE};
    dae_residual form = {.n = DIAGONAL, .f = diagonal_f, .structure = DAE_STRUCTURE_BANDED};
    dae_problem *problem;
    assert_int_equal(dae_problem_from_residual(&form, &problem, NULL), DAE_OK);
    for (int k = 0; k < 3; k++) {
        dae_options options = dae_options_default();
        dae_solver *solver;
        double y0[DIAGONAL] = {0.0};
        options.linear_solver = solvers[k];
        options.fixed_step = 1.0;
        options.max_order = 1;
        assert_int_equal(dae_solver_new(problem, &options, &solver, NULL), DAE_OK);
        assert_true(dae_solver_condition(solver) < 0.0);
        assert_int_equal(dae_solver_start(solver, 0.0, y0, y0), DAE_OK);
        assert_int_equal(dae_solver_step(solver, 10.0), DAE_STEPPED);
        double condition = dae_solver_condition(solver), exact = 2.0 / (1.0 + 1e6);
        assert_true(condition > 0.99 * exact && condition < 1.01 * exact);
        dae_solver_free(solver);
    }
    dae_problem_free(problem);
}

static void test_condition_is_a_fraction(void **state)
{
    (void)state;
    witness w;
    witness_open(&w, "robertson", 0, true);
    dae_options options = witness_options(&w);
    witness_start(&w, &options);
    while (dae_solver_step(w.solver, w.source->tend) == DAE_STEPPED) {
        double condition = dae_solver_condition(w.solver);
        assert_true(condition > 0.0 && condition <= 1.0);
    }
    witness_close(&w);
}

/* ---- lists -------------------------------------------------------------------------------------
 */

static void test_method_list(void **state)
{
    (void)state;
    dae_problem *problem;
    trap p = {.rate = decaying};
    dae_residual form = {.n = 1, .f = trap_f, .user = &p};
    assert_int_equal(dae_problem_from_residual(&form, &problem, NULL), DAE_OK);
    int count = 0;
    bool bdf = false;
    for (; dae_method_name(count); count++) {
        const char *name = dae_method_name(count);
        bdf = bdf || strcmp(name, "bdf") == 0;
        assert_true(strlen(dae_method_at(count).summary) > 0);
        assert_true(strlen(dae_method_at(count).citation) > 0);
        for (int k = 0; k < count; k++) assert_string_not_equal(name, dae_method_name(k));
        dae_options options = dae_options_default();
        dae_solver *solver;
        options.method = name;
        options.fixed_step = 0.1; /* some take nothing else */
        give_formula(&options);
        const char *forms = dae_method_at(count).forms; /* an ODE is a manifold, too */
        bool takes = strstr(forms, "residual") || strstr(forms, "manifold");
        assert_int_equal(dae_solver_new(problem, &options, &solver, NULL),
                         takes ? DAE_OK : DAE_ERR_UNSUPPORTED);
        dae_solver_free(solver);
    }
    assert_true(bdf);
    assert_null(dae_method_at(count).forms);
    assert_null(dae_method_at(count).index_range);
    assert_int_equal(dae_method_at(count).max_order, 0);
    assert_null(dae_method_at(count).summary);
    assert_null(dae_method_at(count).citation);
    assert_null(dae_method_name(-1));
    dae_problem_free(problem);
}

static void test_names(void **state)
{
    (void)state;
    const char *const variables[2] = {"height", "speed"}, *const equations[2] = {"kinematics",
                                                                                 "law"};
    dae_residual form = {.n = 2, .f = trap_f, .variable_names = variables};
    dae_problem *problem;
    assert_int_equal(dae_problem_from_residual(&form, &problem, NULL), DAE_OK);
    assert_int_equal(dae_problem_size(problem), 2);
    assert_string_equal(dae_problem_unknown_name(problem, 1), "speed");
    assert_string_equal(dae_problem_equation_name(problem, 1), "F[1]");
    assert_null(dae_problem_unknown_name(problem, 2));
    assert_null(dae_problem_equation_name(problem, -1));
    dae_problem_free(problem);
    form.variable_names = NULL;
    form.equation_names = equations;
    assert_int_equal(dae_problem_from_residual(&form, &problem, NULL), DAE_OK);
    assert_string_equal(dae_problem_unknown_name(problem, 0), "y[0]");
    assert_string_equal(dae_problem_equation_name(problem, 0), "kinematics");
    dae_problem_free(problem);
}

static void test_status_names(void **state)
{
    (void)state;
    for (int a = DAE_ERR_STATE; a <= DAE_EVENT; a++) {
        const char *name = dae_status_name((dae_status)a);
        assert_non_null(name);
        assert_true(strncmp(name, "DAE_", 4) == 0);
        for (int b = DAE_ERR_STATE; b < a; b++)
            assert_string_not_equal(name, dae_status_name((dae_status)b));
    }
    assert_string_equal(dae_status_name(DAE_ERR_SINGULAR), "DAE_ERR_SINGULAR");
    assert_non_null(dae_status_name((dae_status)1000));
    char version[32];
    snprintf(version, sizeof version, "%d.%d.%d", DAE_VERSION_MAJOR, DAE_VERSION_MINOR,
             DAE_VERSION_PATCH);
    assert_string_equal(dae_version(), version);
}

/* Questions to nobody have answers, too. */
static void test_null_handles(void **state)
{
    (void)state;
    double start, end, x;
    assert_null(dae_solver_stats(NULL));
    assert_null(dae_solver_diag(NULL));
    assert_null(dae_solver_events(NULL));
    assert_true(isnan(dae_solver_time(NULL)));
    dae_solver_last_step(NULL, &start, &end);
    assert_true(isnan(start) && isnan(end));
    assert_true(dae_solver_condition(NULL) < 0.0);
    assert_int_equal(dae_solver_local_errors(NULL, &x), DAE_ERR_ARGUMENT);
    assert_int_equal(dae_solver_step(NULL, 1.0), DAE_ERR_ARGUMENT);
    assert_int_equal(dae_solver_run(NULL, 1.0, NULL, NULL), DAE_ERR_ARGUMENT);
    assert_int_equal(dae_solver_at(NULL, 1.0, 0, &x), DAE_ERR_ARGUMENT);
    assert_int_equal(dae_solver_restart(NULL, NULL, NULL), DAE_ERR_ARGUMENT);
    dae_solver_free(NULL);
    dae_problem_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counters_add_up),
        cmocka_unit_test(test_counters_of_stages_add_up),
        cmocka_unit_test(test_steps_as_monitored),
        cmocka_unit_test(test_nobody_dominates),
        cmocka_unit_test(test_rejected_by_error_test),
        cmocka_unit_test(test_rejected_singular),
        cmocka_unit_test(test_rejected_by_evaluation),
        cmocka_unit_test(test_rejected_by_convergence),
        cmocka_unit_test(test_rejected_by_bound),
        cmocka_unit_test(test_stopped_attempt),
        cmocka_unit_test(test_local_errors),
        cmocka_unit_test(test_local_errors_of_accepted_steps),
        cmocka_unit_test(test_local_error_is_the_error),
        cmocka_unit_test(test_condition),
        cmocka_unit_test(test_condition_is_a_fraction),
        cmocka_unit_test(test_method_list),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_status_names),
        cmocka_unit_test(test_null_handles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
