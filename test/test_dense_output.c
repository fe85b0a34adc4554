/* Dense output: order of values and derivatives between mesh points, continuity across them,
 * residuals there with and without projection, and algebraic variables beside differential ones. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "solve/bind/solver.h"

enum { N = 3, DIFFERENTIAL = 2, INSIDE = 7 };

/* ---- problems with known solutions -------------------------------------------------------------
 */

/* x = (2 + cos 2t, e^-t sin t), z = 1 / (1 + t^2) */
static void exact(double t, double *y, double *yp)
{
    y[0] = 2.0 + cos(2.0 * t);
    y[1] = exp(-t) * sin(t);
    y[2] = 1.0 / (1.0 + t * t);
    yp[0] = -2.0 * sin(2.0 * t);
    yp[1] = exp(-t) * (cos(t) - sin(t));
    yp[2] = -2.0 * t * y[2] * y[2];
}

/* 0 = g(x, z) - g at the solution, with dg/dz = x1 + 3 z^2 */
static int index1(double t, const double *y, const double *yp, double *f, void *user)
{
    double x[N], xp[N];
    (void)user;
    exact(t, x, xp);
    f[0] = yp[0] - xp[0] + (y[0] - x[0]) - y[1] * (y[2] - x[2]);
    f[1] = yp[1] - xp[1] + y[2] * y[1] - x[2] * x[1] + (y[0] - x[0]);
    f[2] = y[0] * y[2] + y[2] * y[2] * y[2] + y[1] - (x[0] * x[2] + x[2] * x[2] * x[2] + x[1]);
    return 0;
}

/* The constraint is free of z and bent in x; z drives both derivatives. */
static int index2(double t, const double *y, const double *yp, double *f, void *user)
{
    double x[N], xp[N];
    (void)user;
    exact(t, x, xp);
    f[0] = yp[0] - xp[0] + (y[0] - x[0]) - y[0] * (y[2] - x[2]);
    f[1] = yp[1] - xp[1] - (y[2] * y[2] - x[2] * x[2]) + (y[1] - x[1]);
    f[2] = y[0] * y[0] + y[1] + y[0] * y[1] - (x[0] * x[0] + x[1] + x[0] * x[1]);
    return 0;
}

typedef struct subject {
    const char *name;
    dae_residual_fn f;
    dae_kind kind; /* of z */
} subject;

static const subject subjects[] = {{"index 1", index1, DAE_KIND_INDEX1},
                                   {"index 2", index2, DAE_KIND_INDEX2}};
static const dae_dense modes[] = {DAE_DENSE_CONTINUOUS, DAE_DENSE_SMOOTH};

static dae_solver *open_solver(const subject *p, const dae_options *options, dae_problem **problem)
{
    const dae_kind kinds[N] = {DAE_KIND_DIFFERENTIAL, DAE_KIND_DIFFERENTIAL, p->kind};
    dae_residual form = {.n = N, .f = p->f, .kinds = kinds};
    assert_int_equal(dae_problem_from_residual(&form, problem, NULL), DAE_OK);
    dae_solver *s;
    assert_int_equal(dae_solver_new(*problem, options, &s, NULL), DAE_OK);
    return s;
}

static void close_solver(dae_solver *s, dae_problem *problem)
{
    dae_solver_free(s);
    dae_problem_free(problem);
}

/* ---- order on constant grids, started from exact values ----------------------------------------
 */

/* Largest errors: values and derivatives of differential variables, then of algebraic ones. */
typedef struct errors {
    double of[4];
} errors;

static const char *const error_names[4] = {"y", "y'", "z", "z'"};

/* Errors of the interpolant at points inside [t0, t1] join the largest so far. */
static void record_inside(const dae_solver *s, double t0, double t1, errors *e)
{
    for (int k = 1; k <= INSIDE; k++) {
        double t = t0 + (t1 - t0) * k / (INSIDE + 1), y[N], yp[N], x[N], xp[N];
        s->bound.method->interpolate(s->bound.state, &s->bound.context, t, 0, y);
        s->bound.method->interpolate(s->bound.state, &s->bound.context, t, 1, yp);
        exact(t, x, xp);
        for (int i = 0; i < N; i++) {
            double *most = e->of + (i < DIFFERENTIAL ? 0 : 2);
            most[0] = fmax(most[0], fabs(y[i] - x[i]));
            most[1] = fmax(most[1], fabs(yp[i] - xp[i]));
        }
    }
}

static dae_solver *open_exactly(const subject *p, dae_dense mode, dae_problem **problem)
{
    dae_options options = dae_options_default();
    options.rtol = options.atol = 1e-10;
    options.newton_tolerance = 1e-9; /* down to rounding */
    options.newton_iterations = 10;
    options.dense = mode;
    return open_solver(p, &options, problem);
}

/* The method of order k stands at t = k h with exact values behind it. */
static void start_exactly(dae_solver *s, int k, double h)
{
    double past_t[6], past_y[6 * N], yp[N];
    for (int i = k; i >= 0; i--) {
        past_t[i] = (k - i) * h;
        exact(past_t[i], past_y + i * N, yp);
    }
    assert_int_equal(dae_solver_start_history(s, k + 1, past_t, past_y, yp), DAE_OK);
    start_point at = {.t = past_t[0],
                      .h = h,
                      .y = s->bound.y,
                      .yp = s->bound.yp,
                      .history = k + 1,
                      .past_t = past_t,
                      .past_y = past_y};
    s->bound.method->start(s->bound.state, s->bound.scratch, &s->bound.context, &at);
    s->run.phase = PHASE_RUNNING;
}

/* Interpolation of exact values, without any step. */
static errors interpolation_errors(int k, int steps)
{
    dae_problem *problem;
    dae_solver *s = open_exactly(&subjects[0], DAE_DENSE_CONTINUOUS, &problem);
    double h = 1.0 / steps;
    errors e = {{0.0}};
    start_exactly(s, k, h);
    record_inside(s, (k - 1) * h, k * h, &e);
    close_solver(s, problem);
    return e;
}

/* Largest errors on the second half of [0, 1]. */
static errors step_errors(const subject *p, dae_dense mode, int k, int steps)
{
    dae_problem *problem;
    dae_solver *s = open_exactly(p, mode, &problem);
    double h = 1.0 / steps;
    errors e = {{0.0}};
    start_exactly(s, k, h);
    for (int i = k; i < steps; i++) {
        attempt a;
        s->bound.method->attempt(s->bound.state, s->bound.scratch, &s->bound.context, h, k, &a);
        assert_int_equal(a.status, ATTEMPT_OK);
        s->bound.method->accept(s->bound.state, s->bound.scratch, &s->bound.context);
        if (2 * i >= steps) record_inside(s, a.t, a.t + h, &e);
    }
    close_solver(s, problem);
    return e;
}

/* Errors below it show rounding. A derivative divides it by h, and so does an index-2 variable,
 * which is one. */
static double round_off_level(int which, int steps, dae_kind kind)
{
    int divisions = which % 2 + (which >= 2 && kind == DAE_KIND_INDEX2);
    return divisions == 0 ? 3e-12 : 1e-12 * pow(steps, divisions);
}

/* log2 of the ratio of errors, where the finer one is above round-off */
static void observe_orders(errors coarse, errors fine, int steps, dae_kind kind, double order[4])
{
    for (int i = 0; i < 4; i++)
        if (fine.of[i] > round_off_level(i, steps, kind))
            order[i] = log2(coarse.of[i] / fine.of[i]);
}

static void expect_order(double order, double wanted, const char *what, int k, const char *where)
{
    if (!(order >= wanted - 0.25))
        fail_msg("order %d, %s: %s is of order %.2f, %g wanted", k, where, what, order, wanted);
}

/* A polynomial through k + 1 exact values: order k + 1, and k for its derivative. */
static void order_of_interpolation(void **state)
{
    (void)state;
    for (int k = 1; k <= 5; k++) {
        double order[4] = {NAN, NAN, NAN, NAN};
        errors coarse = interpolation_errors(k, 20);
        for (int steps = 40; steps <= 640; steps *= 2) {
            errors fine = interpolation_errors(k, steps);
            observe_orders(coarse, fine, steps, DAE_KIND_INDEX1, order);
            coarse = fine;
        }
        for (int i = 0; i < 4; i++)
            expect_order(order[i], i % 2 ? k : k + 1, error_names[i], k, "exact values");
    }
}

/* After steps of order k all have order k: values because of the error at the mesh points,
 * derivatives because that error is smooth. */
static void expect_orders_of_steps(const subject *p, dae_dense mode, int k)
{
    double order[4] = {NAN, NAN, NAN, NAN};
    errors coarse = step_errors(p, mode, k, 20);
    for (int steps = 40; steps <= 640; steps *= 2) {
        errors fine = step_errors(p, mode, k, steps);
        observe_orders(coarse, fine, steps, p->kind, order);
        coarse = fine;
    }
    for (int i = 0; i < 4; i++) expect_order(order[i], k, error_names[i], k, p->name);
}

static void order_of_steps(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++)
        for (size_t j = 0; j < 2; j++)
            for (int k = 1; k <= 5; k++) expect_orders_of_steps(&subjects[i], modes[j], k);
}

/* ---- runs with error control ----------------------------------------------------------------- */

/* A run on [0, 3] that stops after every step. */
typedef struct run {
    const subject *p;
    dae_solver *s;
    dae_problem *problem;
    double start, end; /* of the last step */
} run;

static void run_begin(run *r, const subject *p, double tolerance, dae_dense mode, bool project)
{
    double y[N], yp[N];
    dae_options options = dae_options_default();
    options.method = "bdf";
    options.rtol = options.atol = tolerance;
    options.dense = mode;
    options.project_output = project;
    *r = (run){.p = p};
    r->s = open_solver(p, &options, &r->problem);
    exact(0.0, y, yp);
    assert_int_equal(dae_solver_start(r->s, 0.0, y, yp), DAE_OK);
}

/* One more step; false when t = 3 has been reached. */
static bool run_step(run *r)
{
    if (dae_solver_time(r->s) >= 3.0) return false;
    dae_status status = dae_solver_step(r->s, 3.0);
    if (status < 0) fail_msg("%s: %s", r->p->name, dae_solver_diag(r->s)->text);
    dae_solver_last_step(r->s, &r->start, &r->end);
    return true;
}

static void run_end(run *r)
{
    close_solver(r->s, r->problem);
}

static void at(run *r, double t, double *y, double *yp)
{
    assert_int_equal(dae_solver_at(r->s, t, 0, y), DAE_OK);
    assert_int_equal(dae_solver_at(r->s, t, 1, yp), DAE_OK);
}

/* Equally spaced points of the last step, the end not included. */
static double inside(const run *r, int k)
{
    return r->start + (r->end - r->start) * k / (INSIDE + 1);
}

/* ---- continuity ------------------------------------------------------------------------------ */

/* Largest jumps at mesh points: of values in units of the rounding u, of derivatives in u / h. */
static void largest_jumps(const subject *p, dae_dense mode, double jump[2])
{
    run r;
    double left[N], left_slope[N], right[N], right_slope[N], h = 0.0;
    run_begin(&r, p, 1e-6, mode, false);
    jump[0] = jump[1] = 0.0;
    for (int steps = 0; run_step(&r); steps++) {
        at(&r, r.start, right, right_slope);
        h = fmin(h, r.end - r.start);
        for (int i = 0; i < N && steps > 0; i++) {
            jump[0] = fmax(jump[0], fabs(right[i] - left[i]) / DBL_EPSILON);
            jump[1] = fmax(jump[1], fabs(right_slope[i] - left_slope[i]) * h / DBL_EPSILON);
        }
        at(&r, r.end, left, left_slope);
        h = r.end - r.start;
    }
    run_end(&r);
}

/* Values never jump; derivatives do not in the smooth mode, and visibly in the other. */
static void continuity(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++)
        for (size_t j = 0; j < 2; j++) {
            double jump[2];
            largest_jumps(&subjects[i], modes[j], jump);
            assert_true(jump[0] <= 100.0);
            if (modes[j] == DAE_DENSE_SMOOTH)
                assert_true(jump[1] <= 100.0);
            else
                assert_true(jump[1] >= 1e6);
        }
}

/* ---- residuals between mesh points ------------------------------------------------------------
 */

/* Largest |F_i| inside the steps, over the tolerance */
static void largest_residuals(const subject *p, dae_dense mode, double tolerance, bool project,
                              double most[N])
{
    run r;
    run_begin(&r, p, tolerance, mode, project);
    for (int i = 0; i < N; i++) most[i] = 0.0;
    while (run_step(&r))
        for (int k = 1; k <= INSIDE; k++) {
            double y[N], yp[N], f[N], t = inside(&r, k);
            at(&r, t, y, yp);
            p->f(t, y, yp, f, NULL);
            for (int i = 0; i < N; i++) most[i] = fmax(most[i], fabs(f[i]) / tolerance);
        }
    run_end(&r);
}

static void expect_at_most(double value, double bound, const char *what, const subject *p,
                           dae_dense mode, double tolerance)
{
    if (!(value <= bound))
        fail_msg("%s, %s, tolerance %.0e: %s is %.3g, at most %.3g wanted", p->name,
                 mode == DAE_DENSE_SMOOTH ? "smooth" : "continuous", tolerance, what, value, bound);
}

/* Interpolated values meet the constraint to the tolerance: the error test allows 2 tolerances
 * where |y| = 1, and the derivatives of g are below 7. */
static void constraint_residual(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++)
        for (size_t j = 0; j < 2; j++)
            for (double tolerance = 1e-4; tolerance > 0.5e-8; tolerance /= 100.0) {
                double most[N];
                largest_residuals(&subjects[i], modes[j], tolerance, false, most);
                expect_at_most(most[2], 14.0, "constraint", &subjects[i], modes[j], tolerance);
            }
}

/* Projection brings all equations of index 1 down to the tolerance of Newton, 0.1 * 2 in z. */
static void projected_residual(void **state)
{
    (void)state;
    const subject *p = &subjects[0];
    for (size_t j = 0; j < 2; j++)
        for (double tolerance = 1e-4; tolerance > 0.5e-8; tolerance /= 100.0) {
            double plain[N], most[N];
            largest_residuals(p, modes[j], tolerance, false, plain);
            largest_residuals(p, modes[j], tolerance, true, most);
            expect_at_most(most[2], 0.2 * 7.0, "constraint", p, modes[j], tolerance);
            expect_at_most(most[2], plain[2] / 2.0, "constraint", p, modes[j], tolerance);
            for (int i = 0; i < DIFFERENTIAL; i++)
                expect_at_most(most[i], plain[i] / 100.0, "F of y'", p, modes[j], tolerance);
        }
}

/* ---- algebraic variables beside differential ones -----------------------------------------------
 */

/* Largest errors of y and of z, over the tolerance, at mesh points and inside the steps. */
static void largest_errors(const subject *p, dae_dense mode, double tolerance, bool project,
                           double mesh[2], double between[2])
{
    run r;
    run_begin(&r, p, tolerance, mode, project);
    mesh[0] = mesh[1] = between[0] = between[1] = 0.0;
    while (run_step(&r))
        for (int k = 1; k <= INSIDE + 1; k++) {
            double y[N], yp[N], x[N], xp[N], t = k <= INSIDE ? inside(&r, k) : r.end;
            double *most = k <= INSIDE ? between : mesh;
            at(&r, t, y, yp);
            exact(t, x, xp);
            for (int i = 0; i < N; i++) {
                int part = i >= DIFFERENTIAL;
                most[part] = fmax(most[part], fabs(y[i] - x[i]) / tolerance);
            }
        }
    run_end(&r);
}

/* No worse than at mesh points by more than a factor 3, with projection and without; and asking
 * for projected output does not spoil the integration. */
static void accuracy_between(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++)
        for (size_t j = 0; j < 2; j++)
            for (double tolerance = 1e-4; tolerance > 0.5e-8; tolerance /= 100.0)
                for (int project = 0; project < 2; project++) {
                    const subject *p = &subjects[i];
                    double mesh[2], between[2];
                    largest_errors(p, modes[j], tolerance, project, mesh, between);
                    expect_at_most(mesh[0], 30.0, "error of y", p, modes[j], tolerance);
                    expect_at_most(between[0], 3.0 * mesh[0], "y inside", p, modes[j], tolerance);
                    expect_at_most(between[1], 3.0 * mesh[1], "z inside", p, modes[j], tolerance);
                }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_of_interpolation),
        cmocka_unit_test(order_of_steps),
        cmocka_unit_test(continuity),
        cmocka_unit_test(constraint_residual),
        cmocka_unit_test(projected_residual),
        cmocka_unit_test(accuracy_between),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
