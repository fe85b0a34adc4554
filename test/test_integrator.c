/* Integrators from outside, opt.integrator: one that is written here takes the steps of models of
 * any index, through events; rows apart are the rows of the whole. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daedal.h"

/* BDF2 on two equal half steps would do better; implicit Euler shows all that there is to show: its
 * errors go with h, and its step is one line. */
typedef struct euler {
    dae_equations *equations;
    int n, starts, refuse;
    double t, h, *y, *yp, *next, *slope, *f, *fy, *fyp, *dense, *rtol, *atol;
    bool by_rows, accepted;
    int *rows;
} euler;

enum { MOST = 32 };

static int euler_start(void *user, dae_equations *q, double t, double h, const double *y,
                       const double *yp)
{
    euler *e = user;
    (void)h;
    e->equations = q;
    e->n = dae_equations_size(q);
    assert_true(e->n <= MOST);
    e->t = t;
    e->starts++;
    memcpy(e->y, y, (size_t)e->n * sizeof *y);
    memcpy(e->yp, yp, (size_t)e->n * sizeof *yp);
    dae_equations_tolerances(q, e->rtol, e->atol);
    return 0;
}

/* A x = b by elimination with pivots; A by rows, both are lost. */
static void eliminate(int n, double *a, double *b)
{
    for (int j = 0; j < n; j++) {
        int p = j;
        for (int i = j + 1; i < n; i++)
            if (fabs(a[i * n + j]) > fabs(a[p * n + j])) p = i;
        for (int k = 0; k < n; k++) {
            double held = a[j * n + k];
            a[j * n + k] = a[p * n + k];
            a[p * n + k] = held;
        }
        double held = b[j];
        b[j] = b[p];
        b[p] = held;
        for (int i = j + 1; i < n; i++) {
            double m = a[i * n + j] / a[j * n + j];
            for (int k = j; k < n; k++) a[i * n + k] -= m * a[j * n + k];
            b[i] -= m * b[j];
        }
    }
    for (int j = n - 1; j >= 0; j--) {
        for (int k = j + 1; k < n; k++) b[j] -= a[j * n + k] * b[k];
        b[j] /= a[j * n + j];
    }
}

/* F and dF/dy + dF/dy'/h, whole or one row after the other. */
static int evaluate(euler *e, double t, double h)
{
    const int *colptr, *rowind;
    dae_equations_pattern(e->equations, &colptr, &rowind);
    int code = 0;
    memset(e->fy, 0, (size_t)colptr[e->n] * sizeof(double));
    memset(e->fyp, 0, (size_t)colptr[e->n] * sizeof(double));
    if (e->by_rows) {
        for (int k = 0; k < e->n; k += 2) {
            const int rows[2] = {k, k + 1}, count = k + 1 < e->n ? 2 : 1;
            code |=
                dae_equations_residual_rows(e->equations, t, e->next, e->slope, rows, count, e->f);
            code |= dae_equations_jacobian_rows(e->equations, t, e->next, e->slope, rows, count,
                                                e->fy, e->fyp);
        }
    } else {
        code = dae_equations_residual(e->equations, t, e->next, e->slope, e->f);
        code |= dae_equations_jacobian(e->equations, t, e->next, e->slope, e->fy, e->fyp);
    }
    memset(e->dense, 0, (size_t)(e->n * e->n) * sizeof(double));
    for (int j = 0; j < e->n; j++)
        for (int k = colptr[j]; k < colptr[j + 1]; k++)
            e->dense[rowind[k] * e->n + j] = e->fy[k] + e->fyp[k] / h;
    return code;
}

static int newton(euler *e, double h)
{
    for (int i = 0; i < e->n; i++) e->next[i] = e->y[i] + h * e->yp[i];
    for (int pass = 0; pass < 20; pass++) {
        double largest = 0.0;
        for (int i = 0; i < e->n; i++) e->slope[i] = (e->next[i] - e->y[i]) / h;
        int code = evaluate(e, e->t + h, h);
        if (code) return code;
        eliminate(e->n, e->dense, e->f);
        for (int i = 0; i < e->n; i++) {
            e->next[i] -= e->f[i];
            largest = fmax(largest, fabs(e->f[i]) / (e->atol[i] + e->rtol[i] * fabs(e->next[i])));
        }
        for (int i = 0; i < e->n; i++) e->slope[i] = (e->next[i] - e->y[i]) / h;
        if (largest < 1e-3) return 0;
    }
    return 1;
}

static int euler_attempt(void *user, dae_integrator_step *step)
{
    euler *e = user;
    if (e->refuse > 0 && e->starts == 1) {
        e->refuse--;
        step->reason = "it was asked to";
        return 1;
    }
    int code = newton(e, step->h);
    if (code) return code;
    double error = 0.0;
    for (int i = 0; i < e->n; i++) { /* half of what slopes change by, of differential ones */
        dae_kind kinds[MOST];
        dae_equations_kinds(e->equations, kinds);
        if (kinds[i] != DAE_KIND_DIFFERENTIAL) continue;
        double off = 0.5 * step->h * (e->slope[i] - e->yp[i]);
        step->errors[i] = off;
        error = fmax(error, fabs(off) / (e->atol[i] + e->rtol[i] * fabs(e->next[i])));
    }
    memcpy(step->y, e->next, (size_t)e->n * sizeof(double));
    memcpy(step->yp, e->slope, (size_t)e->n * sizeof(double));
    step->error = error;
    step->order = 1;
    e->h = step->h;
    return 0;
}

static int euler_accept(void *user)
{
    euler *e = user;
    e->t += e->h;
    memcpy(e->y, e->next, (size_t)e->n * sizeof(double));
    memcpy(e->yp, e->slope, (size_t)e->n * sizeof(double));
    return 0;
}

static euler *euler_new(void)
{
    euler *e = calloc(1, sizeof *e);
    double *block = calloc(12 * MOST + 3 * MOST * MOST, sizeof *block);
    double **vectors[] = {&e->y, &e->yp, &e->next, &e->slope, &e->f, &e->rtol, &e->atol};
    for (int k = 0; k < 7; k++) *vectors[k] = block + k * MOST;
    e->fy = block + 12 * MOST;
    e->fyp = e->fy + MOST * MOST;
    e->dense = e->fyp + MOST * MOST;
    return e;
}

static void euler_free(euler *e)
{
    free(e->y);
    free(e);
}

/* All variables of a model at tend, by the integrator; its diagnostic where it fails. */
static dae_status run(const char *text, euler *e, double rtol, double tend, double *values,
                      dae_diag *diag)
{
    dae_integrator g = {.name = "implicit Euler",
                        .order = 1,
                        .start = euler_start,
                        .attempt = euler_attempt,
                        .accept = euler_accept,
                        .user = e};
    dae_options opt = dae_options_default();
    dae_problem *p = NULL;
    dae_solver *s = NULL;
    opt.integrator = &g;
    opt.rtol = opt.atol = rtol;
    opt.max_steps = 1000000;
    dae_status status = dae_problem_from_model(&(dae_model){.text = text}, &p, diag);
    assert_int_equal(status, DAE_OK);
    status = dae_solver_new(p, &opt, &s, diag);
    if (status == DAE_OK) status = dae_solver_start(s, 0.0, NULL, NULL);
    if (status == DAE_OK) status = dae_solver_run(s, tend, NULL, NULL);
    if (status == DAE_OK) status = dae_solver_variables(s, tend, values);
    if (s && status != DAE_OK) *diag = *dae_solver_diag(s);
    dae_solver_free(s);
    dae_problem_free(p);
    return status;
}

/* x' = -x + z, 0 = z - cos t: index 1. Errors are those of Euler's method: below so many tolerances
 * of its local error test, and they fall with it. */
static const char *const INDEX1 = "model A Real x(start = 1, fixed = true); Real z; equation "
                                  "der(x) = -x + z; z = cos(time); end A;";

static double index1_error(double rtol)
{
    euler *e = euler_new();
    dae_diag diag = {0};
    double v[2], t = 2.0;
    assert_int_equal(run(INDEX1, e, rtol, t, v, &diag), DAE_OK);
    euler_free(e);
    return fabs(v[0] - (0.5 * (cos(t) + sin(t)) + 0.5 * exp(-t)));
}

static void test_index1(void **state)
{
    (void)state;
    double coarse = index1_error(1e-4), fine = index1_error(1e-6);
    assert_true(coarse < 100.0 * sqrt(1e-4)); /* errors of order h, which is as sqrt(tolerance) */
    assert_true(fine < coarse / 5.0);         /* by theory a tenth */
}

/* A pendulum of index 3 over a small angle: x'' = -g/L x nearly; its constraint holds. */
static const char *const PENDULUM =
    "model P Real x(start = 0.6, fixed = true); Real y(start = -0.8); Real vx(start = 0, fixed = "
    "true); Real vy; Real l; equation der(x) = vx; der(y) = vy; der(vx) = -l*x; der(vy) = -l*y - "
    "1; x^2 + y^2 = 1; end P;";

static void test_index3(void **state)
{
    (void)state;
    euler *e = euler_new();
    dae_diag diag = {0};
    double v[5];
    assert_int_equal(run(PENDULUM, e, 1e-7, 1.0, v, &diag), DAE_OK);
    assert_true(fabs(v[0] * v[0] + v[1] * v[1] - 1.0) < 1e-6);
    double energy = 0.5 * (v[2] * v[2] + v[3] * v[3]) + v[1];
    assert_true(fabs(energy + 0.8) < 100.0 * sqrt(1e-7)); /* Euler's method damps */
    euler_free(e);
}

/* A ball that falls from 1 with g = 2 meets the ground at t = 1 and comes back with half of its
 * speed: h(1.5) = 0.25. Each event begins anew. */
static void test_events(void **state)
{
    (void)state;
    const char *ball = "model B Real h(start = 1, fixed = true); Real v(start = 0, fixed = true); "
                       "equation der(h) = v; der(v) = -2; when h < 0 then reinit(v, -0.5*pre(v)); "
                       "end when; end B;";
    euler *e = euler_new();
    dae_diag diag = {0};
    double v[2];
    assert_int_equal(run(ball, e, 1e-8, 1.5, v, &diag), DAE_OK);
    assert_int_equal(e->starts, 2);
    assert_true(fabs(v[0] - 0.25) < 100.0 * sqrt(1e-8));
    assert_true(fabs(v[1]) < 100.0 * sqrt(1e-8));
    euler_free(e);
}

/* Rows apart are the rows of the whole: all bits of a run are the same. */
static void test_rows(void **state)
{
    (void)state;
    const char *const models[] = {INDEX1, PENDULUM};
    for (int k = 0; k < 2; k++) {
        double v[2][5] = {{0}};
        dae_diag diag = {0};
        for (int by_rows = 0; by_rows < 2; by_rows++) {
            euler *e = euler_new();
            e->by_rows = by_rows;
            assert_int_equal(run(models[k], e, 1e-5, 0.5, v[by_rows], &diag), DAE_OK);
            euler_free(e);
        }
        assert_memory_equal(v[0], v[1], sizeof v[0]);
    }
}

/* Refused attempts are tried again, shorter; too many of them end the run in the integrator's
 * words. */
static void test_failures(void **state)
{
    (void)state;
    euler *e = euler_new();
    dae_diag diag = {0};
    double v[2];
    e->refuse = 3;
    assert_int_equal(run(INDEX1, e, 1e-4, 1.0, v, &diag), DAE_OK);
    e->starts = 0;
    e->refuse = 1000;
    assert_int_equal(run(INDEX1, e, 1e-4, 1.0, v, &diag), DAE_ERR_CONVERGENCE);
    assert_non_null(strstr(diag.text, "it was asked to"));
    euler_free(e);
}

/* What an integrator remembers is not in a checkpoint: there is none. */
static void test_checkpoint_refused(void **state)
{
    (void)state;
    euler *e = euler_new();
    dae_integrator g = {
        .start = euler_start, .attempt = euler_attempt, .accept = euler_accept, .user = e};
    dae_problem *p = NULL;
    dae_solver *s = NULL;
    dae_diag diag = {0};
    dae_options opt = dae_options_default();
    opt.integrator = &g;
    assert_int_equal(dae_problem_from_model(&(dae_model){.text = INDEX1}, &p, &diag), DAE_OK);
    assert_int_equal(dae_solver_new(p, &opt, &s, &diag), DAE_OK);
    assert_int_equal(dae_solver_start(s, 0.0, NULL, NULL), DAE_OK);
    assert_int_equal(dae_solver_step(s, 1.0), DAE_STEPPED);
    assert_int_equal(dae_solver_save(s, NULL, &diag), DAE_ERR_UNSUPPORTED);
    assert_non_null(strstr(diag.text, "integrator"));
    dae_solver_free(s);
    dae_problem_free(p);
    euler_free(e);
}

static void test_bad_options(void **state)
{
    (void)state;
    dae_problem *p = NULL;
    dae_solver *s = NULL;
    dae_diag diag = {0};
    dae_integrator g = {.name = "nothing"};
    dae_options opt = dae_options_default();
    assert_int_equal(dae_problem_from_model(&(dae_model){.text = INDEX1}, &p, &diag), DAE_OK);
    opt.integrator = &g;
    assert_int_equal(dae_solver_new(p, &opt, &s, &diag), DAE_ERR_ARGUMENT);
    assert_non_null(strstr(diag.text, "start is NULL"));
    g.start = euler_start;
    g.attempt = euler_attempt;
    opt.method = "radau";
    assert_int_equal(dae_solver_new(p, &opt, &s, &diag), DAE_ERR_ARGUMENT);
    assert_non_null(strstr(diag.text, "exclude each other"));
    assert_null(s);
    dae_problem_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_index1),
        cmocka_unit_test(test_index3),
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_bad_options),
        cmocka_unit_test(test_checkpoint_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
