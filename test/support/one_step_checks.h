/* What every one-step method on the residual form must do, by its name: stiff models, dense output,
 * attempts without traces, failures that are told. To be included once in a program. */
#ifndef DAE_TEST_ONE_STEP_CHECKS_H
#define DAE_TEST_ONE_STEP_CHECKS_H

#include "closed_forms.h"
#include "models.h"

/* A solver started at 0 on a closed form. */
static dae_solver *solver_for(const closed_form *c, dae_problem **p, const char *name,
                              dae_dense dense, double rtol)
{
    dae_options o = dae_options_default();
    dae_solver *s;
    double y[MOST], yp[MOST];
    *p = problem_of(c);
    o.method = name;
    o.rtol = o.atol = rtol;
    o.dense = dense;
    c->solution(0.0, y, yp);
    assert_int_equal(dae_solver_new(*p, &o, &s, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(s, 0.0, y, yp), DAE_OK);
    return s;
}

/* A solver started on a problem of one variable. */
static dae_solver *solver_of_one(const dae_residual *form, dae_problem **p, const dae_options *o,
                                 double y0, double yp0)
{
    dae_solver *s;
    assert_int_equal(dae_problem_from_residual(form, p, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(*p, o, &s, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(s, 0.0, &y0, &yp0), DAE_OK);
    return s;
}

static void close_solver(dae_solver *s, dae_problem *p)
{
    dae_solver_free(s);
    dae_problem_free(p);
}

/* Largest error at tend over rtol |y| + atol; how much work is in *stats. */
static double weighted_error(const model *m, const char *name, double rtol, dae_stats *stats)
{
    int n = m->form.n;
    double *atol = malloc((size_t)n * sizeof *atol), *y = malloc((size_t)n * sizeof *y);
    dae_problem *p;
    dae_solver *s;
    dae_options o = dae_options_default();
    for (int i = 0; i < n; i++) atol[i] = rtol * (m->atol_factor ? m->atol_factor[i] : 1.0);
    o.method = name;
    o.rtol = rtol;
    o.atol_by_unknown = atol;
    o.stop_time = m->tend;
    o.max_steps = 0;
    assert_int_equal(dae_problem_from_residual(&m->form, &p, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(s, m->t0, m->y0, m->yp0), DAE_OK);
    if (dae_solver_run(s, m->tend, y, NULL) != DAE_OK)
        fail_msg("%s, %s: %s", name, m->name, dae_solver_diag(s)->text);
    double most = 0.0;
    for (int i = 0; i < n; i++) {
        double e = fabs(y[i] - m->reference[i]) / (rtol * fabs(m->reference[i]) + atol[i]);
        most = isnan(e) ? INFINITY : fmax(most, e);
    }
    *stats = *dae_solver_stats(s);
    if (getenv("DAE_TEST_VERBOSE"))
        printf("%-9s %-10s %.0e: error %8.2g, %6ld steps, %4ld rejected, %7ld F, %6ld J, %6ld LU\n",
               name, m->name, rtol, most, stats->steps, stats->attempts - stats->steps,
               stats->residuals, stats->jacobians, stats->factorisations);
    close_solver(s, p);
    free(atol);
    free(y);
    return most;
}

/* Errors within `factor` tolerances at rtol = 1e-first .. 1e-last. */
__attribute__((unused)) static void check_model(const char *name, const char *of, int first,
                                                int last, double factor)
{
    for (int digits = first; digits <= last; digits++) {
        model *m = model_new(of, 0);
        dae_stats stats;
        double e = weighted_error(m, name, pow(10.0, -digits), &stats);
        if (!(e <= factor))
            fail_msg("%s, %s at rtol = 1e-%d: error %.3g tolerances", name, of, digits, e);
        model_free(m);
    }
}

/* y1' = y2, y2' = mu ((1 - y1^2) y2 - y1) */
static int vanderpol_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t;
    f[0] = yp[0] - y[1];
    f[1] = yp[1] / *(const double *)user - ((1.0 - y[0] * y[0]) * y[1] - y[0]);
    return 0;
}

static void vanderpol_run(const char *name, double mu, double rtol, double y[2])
{
    const double y0[2] = {2.0, -2.0 / 3.0}, yp0[2] = {-2.0 / 3.0, 0.0};
    dae_problem *p;
    dae_solver *s;
    dae_options o = dae_options_default();
    o.method = name;
    o.rtol = o.atol = rtol;
    o.stop_time = 2.0;
    o.max_steps = 0;
    dae_residual form = {.n = 2, .f = vanderpol_f, .user = &mu};
    assert_int_equal(dae_problem_from_residual(&form, &p, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(s, 0.0, y0, yp0), DAE_OK);
    if (dae_solver_run(s, 2.0, y, NULL) != DAE_OK)
        fail_msg("%s: %s", name, dae_solver_diag(s)->text);
    close_solver(s, p);
}

/* mu = 1e6 against radau13 at rtol = 1e-11, within 30 tolerances */
__attribute__((unused)) static void check_vanderpol(const char *name, int last)
{
    double exact[2], y[2];
    vanderpol_run("radau:13", 1e6, 1e-11, exact);
    for (int digits = 3; digits <= last; digits++) {
        double rtol = pow(10.0, -digits);
        vanderpol_run(name, 1e6, rtol, y);
        for (int i = 0; i < 2; i++)
            if (!(fabs(y[i] - exact[i]) <= 30.0 * rtol * (1.0 + fabs(exact[i]))))
                fail_msg("%s at %g: error %g", name, rtol, y[i] - exact[i]);
    }
}

/* Between steps values and slopes are those of the solution within these bounds at rtol = atol =
 * 1e-7, algebraic variables included; the smooth interpolant has no jumps of its slope. */
__attribute__((unused)) static void check_dense(const char *name, double value_bound,
                                                double slope_bound)
{
    for (int smooth = 0; smooth < 2; smooth++) {
        dae_problem *p;
        dae_solver *s =
            solver_for(&index1, &p, name, smooth ? DAE_DENSE_SMOOTH : DAE_DENSE_CONTINUOUS, 1e-7);
        double y[MOST], exact[MOST], slope[MOST], a, b, before[MOST];
        for (int step = 0; dae_solver_step(s, 2.0) == DAE_STEPPED; step++) {
            dae_solver_last_step(s, &a, &b);
            for (int j = 0; j <= 4; j++) {
                double t = a + (b - a) * j / 4.0;
                index1.solution(t, exact, slope);
                dae_solver_at(s, t, 0, y);
                for (int i = 0; i < 3; i++)
                    if (!(fabs(y[i] - exact[i]) < value_bound))
                        fail_msg("%s at %g: error %g", name, t, y[i] - exact[i]);
                for (int i = 0; step > 0 && j == 0 && i < 3; i++)
                    assert_true(fabs(y[i] - before[i]) < 1e-9); /* steps meet */
                if (j == 4) memcpy(before, y, sizeof before);
                dae_solver_at(s, t, 1, y);
                for (int i = 0; i < 3; i++)
                    if (!(fabs(y[i] - slope[i]) < slope_bound))
                        fail_msg("%s at %g: slope wrong by %g", name, t, y[i] - slope[i]);
                for (int i = 0; smooth && step > 0 && j == 0 && i < 3; i++)
                    if (!(fabs(y[i] - before[MOST / 2 + i]) < 1e-7))
                        fail_msg("%s at %g: slopes %g and %g", name, t, before[MOST / 2 + i], y[i]);
                if (j == 4) memcpy(before + MOST / 2, y, 3 * sizeof *y);
            }
        }
        assert_true(dae_solver_time(s) == 2.0);
        close_solver(s, p);
    }
}

/* An attempt writes scratch only, whether it passes or not. */
static void check_state_bytes(const char *name)
{
    dae_problem *p;
    dae_solver *s = solver_for(&index1, &p, name, DAE_DENSE_CONTINUOUS, 1e-6);
    size_t size, scratch;
    attempt a;
    for (int k = 0; k < 3; k++) assert_int_equal(dae_solver_step(s, 2.0), DAE_STEPPED);
    method_size(s->bound.method, s->bound.n, &size, &scratch);
    unsigned char *copy = malloc(size);
    memcpy(copy, s->bound.state, size);
    for (double h = 1e-3; h < 1e3; h *= 10.0) {
        s->bound.method->attempt(s->bound.state, s->bound.scratch, &s->bound.context, h,
                                 s->bound.method->max_order, &a);
        assert_memory_equal(copy, s->bound.state, size);
        assert_true(a.status != ATTEMPT_OK || a.error > 0.0);
    }
    newton_reset(&s->bound.newton);
    s->bound.method->attempt(s->bound.state, s->bound.scratch, &s->bound.context, 1e-3,
                             s->bound.method->max_order, &a);
    assert_int_equal(a.status, ATTEMPT_OK);
    free(copy);
    close_solver(s, p);
}

/* y' = -sqrt(y), which exists for y >= 0 only; F says so, or gives NaN */
static int root_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t;
    if (user && y[0] < 0.0) return 1;
    f[0] = yp[0] + sqrt(y[0]);
    return 0;
}

static void check_recovery(const char *name)
{
    int flag = 1;
    for (int k = 0; k < 2; k++) {
        double y, tend = 1.9;
        dae_problem *p;
        dae_options o = dae_options_default();
        o.method = name;
        o.initial_step = 3.0;
        o.stop_time = tend;
        dae_residual form = {.n = 1, .f = root_f, .user = k ? &flag : NULL};
        dae_solver *s = solver_of_one(&form, &p, &o, 1.0, -1.0);
        if (dae_solver_run(s, tend, &y, NULL) != DAE_OK)
            fail_msg("%s: %s", name, dae_solver_diag(s)->text);
        assert_true(fabs(y - (1.0 - tend / 2.0) * (1.0 - tend / 2.0)) < 1e-4);
        close_solver(s, p);
    }
}

/* y' = -y^3 up to t = 1, NaN beyond: the failure tells equation, time and stage. */
static int hole_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)user;
    f[0] = t > 1.0 ? NAN : yp[0] + y[0] * y[0] * y[0];
    return 0;
}

static void check_failing_stage(const char *name)
{
    double y;
    dae_problem *p;
    dae_options o = dae_options_default();
    o.method = name;
    dae_residual form = {.n = 1, .f = hole_f};
    dae_solver *s = solver_of_one(&form, &p, &o, 1.0, -1.0);
    assert_int_equal(dae_solver_run(s, 2.0, &y, NULL), DAE_ERR_EVALUATION);
    assert_true(dae_solver_diag(s)->t >= 1.0 && dae_solver_diag(s)->t < 1.001);
    assert_int_equal(dae_solver_diag(s)->equation, 0);
    assert_in_range(s->run.last.stage, 0, 7);
    close_solver(s, p);
}

/* y' = -50 y, y >= 0: F is never asked below 0, and y stays there. */
static int decay_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t;
    if (y[0] < 0.0) *(int *)user = 1;
    f[0] = yp[0] + 50.0 * y[0];
    return 0;
}

static void check_bounds(const char *name)
{
    int left = 0;
    double y, zero = 0.0;
    dae_problem *p;
    dae_options o = dae_options_default();
    o.method = name;
    o.rtol = o.atol = 1e-3;
    dae_residual form = {.n = 1, .f = decay_f, .lower_bounds = &zero, .user = &left};
    dae_solver *s = solver_of_one(&form, &p, &o, 1.0, -50.0);
    while (dae_solver_step(s, 5.0) > 0) {
        dae_solver_at(s, dae_solver_time(s), 0, &y);
        assert_true(y >= 0.0 && y <= 1.0);
    }
    if (dae_solver_time(s) != 5.0) fail_msg("%s: %s", name, dae_solver_diag(s)->text);
    assert_false(left);
    close_solver(s, p);
}

/* Methods that factor matrices themselves say so if there are none. */
__attribute__((unused)) static void check_no_gmres(const char *name)
{
    double y[MOST], yp[MOST];
    dae_problem *p = problem_of(&ode);
    dae_solver *s;
    dae_options o = dae_options_default();
    o.method = name;
    o.linear_solver = DAE_LINEAR_GMRES;
    ode.solution(0.0, y, yp);
    assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(s, 0.0, y, yp), DAE_OK);
    assert_int_equal(dae_solver_run(s, 1.0, y, NULL), DAE_ERR_UNSUPPORTED);
    assert_int_equal(dae_solver_stats(s)->attempts, 0);
    assert_non_null(strstr(dae_solver_diag(s)->text, "linear solver"));
    close_solver(s, p);
}

/* From the end to the beginning, within 100 tolerances. */
static void check_backwards(const char *name)
{
    dae_problem *p = problem_of(&index1);
    dae_solver *s;
    dae_options o = dae_options_default();
    double y[MOST], yp[MOST], exact[MOST];
    o.method = name;
    o.rtol = o.atol = 1e-7;
    o.stop_time = 0.0;
    index1.solution(2.0, y, yp);
    assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(s, 2.0, y, yp), DAE_OK);
    assert_int_equal(dae_solver_run(s, 0.0, y, NULL), DAE_OK);
    index1.solution(0.0, exact, yp);
    for (int i = 0; i < 3; i++)
        if (!(fabs(y[i] - exact[i]) < 1e-5))
            fail_msg("%s backwards: error %g", name, y[i] - exact[i]);
    close_solver(s, p);
}

/* sin t as an algebraic variable of its own, crossing 1/2: a step at which the method is exact must
 * not be so long that its interpolant misses events. */
static int wave_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)user;
    f[0] = yp[0] + y[0];
    f[1] = y[1] - sin(t);
    return 0;
}

static int wave_event(double t, const double *y, const double *yp, double *g, void *user)
{
    (void)t, (void)yp, (void)user;
    g[0] = y[1] - 0.5;
    return 0;
}

static void check_events(const char *name)
{
    const double y0[2] = {1.0, 0.0}, yp0[2] = {-1.0, 0.0}, pi = acos(-1.0);
    dae_problem *p;
    dae_solver *s;
    dae_options o = dae_options_default();
    dae_status status;
    int found = 0;
    o.method = name;
    o.rtol = o.atol = 1e-6;
    dae_residual form = {.n = 2, .f = wave_f, .event_count = 1, .event_function = wave_event};
    assert_int_equal(dae_problem_from_residual(&form, &p, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(s, 0.0, y0, yp0), DAE_OK);
    while ((status = dae_solver_step(s, 40.0)) > 0) {
        if (status != DAE_EVENT) continue;
        double t = dae_solver_time(s), exact = found / 2 * 2.0 * pi;
        exact += found % 2 ? 5.0 * pi / 6.0 : pi / 6.0;
        if (!(fabs(t - exact) < 1e-4))
            fail_msg("%s: event %d at %.9g instead of %.9g", name, found, t, exact);
        found++;
    }
    if (status != DAE_OK) fail_msg("%s: %s", name, dae_solver_diag(s)->text);
    assert_int_equal(found, 13);
    close_solver(s, p);
}

/* All of this that holds for every method; the highest orders have the longest steps. */
__attribute__((unused)) static void check_conduct(const char *name)
{
    check_state_bytes(name);
    check_recovery(name);
    check_failing_stage(name);
    check_bounds(name);
    check_backwards(name);
    if (strcmp(name, "sirk:3") != 0) check_events(name); /* docs/methods/irk.md says why */
}

#endif
