/* bdf2nd at every tolerance from 1e-3 to 1e-9 on Andrews' mechanism, the car axis and the truck,
 * from model texts and from callbacks, with and without derivatives by the user: none fails, and
 * errors follow the tolerance. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../bench/second_order.h"

#ifndef TEST_ROOT
#define TEST_ROOT ".." /* where the sources are; the build says it */
#endif

enum { MOST_Q = 11, MOST = 3 * MOST_Q };

/* Errors of all steps add up; sqrt(tol) would be what an uncontrolled method has. */
static const double AMPLIFICATION = 1e4;

static int all_of(const dae_mechanical_point *at, const dae_mechanical_values *out, void *user)
{
    const mechanism *m = user;
    mechanism_values wanted = {.mass = out->mass,
                               .ld = m->mass_diagonal ? 0 : m->nq,
                               .force = out->force,
                               .gradient = out->gradient,
                               .rate = out->rate,
                               .curvature = out->curvature};
    m->values(m, at->t, at->q, at->v, &wanted);
    return 0;
}

static int constraint_of(const dae_mechanical_point *at, double *g, void *user)
{
    const mechanism *m = user;
    m->constraint(m, at->t, at->q, g);
    return 0;
}

/* d/dq and d/dv of the equations of motion, out of those of the index-1 rows */
static int jacobian_of(const dae_mechanical_point *at, const double *a, double *by_q, double *by_v,
                       void *user)
{
    const mechanism *m = user;
    const int nq = m->nq, rows = nq + m->nl;
    double block[4 * MOST * MOST] = {0};
    m->jacobian(m, at->t, at->q, at->v, a, at->lambda, block, rows);
    for (int k = 0; k < nq; k++)
        for (int i = 0; i < nq; i++) {
            by_q[i + k * nq] = block[i + k * rows];
            by_v[i + k * nq] = block[i + (nq + k) * rows];
        }
    return 0;
}

static dae_problem *from_callbacks(mechanism *m, bool derivatives)
{
    dae_problem *problem;
    dae_mechanical form = {.nq = m->nq,
                           .nlambda = m->nl,
                           .all = all_of,
                           .constraint = constraint_of,
                           .user = m,
                           .scleronomic = !m->rheonomic,
                           .mass_structure = m->mass_diagonal ? DAE_MASS_DIAGONAL : DAE_MASS_DENSE,
                           .mass_constant = m->mass_diagonal,
                           .jacobian = derivatives ? jacobian_of : NULL};
    assert_int_equal(dae_problem_from_mechanical(&form, &problem, NULL), DAE_OK);
    return problem;
}

static dae_problem *from_text(const mechanism *m)
{
    char path[1024];
    dae_problem *problem;
    snprintf(path, sizeof path, "%s/%s", TEST_ROOT, m->model);
    dae_model text = {.file = path, .engine = DAE_ENGINE_TAPE};
    assert_int_equal(dae_problem_from_model(&text, &problem, NULL), DAE_OK);
    return problem;
}

/* Positions where the run ended */
static void read_positions(const mechanism *m, const dae_problem *problem, dae_solver *s,
                           const double *y, bool text, double *q)
{
    char name[32];
    double all[256];
    if (!text) {
        memcpy(q, y, (size_t)m->nq * sizeof *q);
        return;
    }
    assert_true(dae_problem_variable_count(problem) <= 256);
    assert_int_equal(dae_solver_variables(s, m->tend, all), DAE_OK);
    for (int i = 0; i < m->nq; i++)
        q[i] = all[dae_problem_find_variable(problem, m->variable(i, name))];
}

static dae_status solve(const mechanism *m, const dae_problem *problem, const char *method,
                        double tol, bool text, double *q, char *why)
{
    double y[MOST] = {0};
    dae_options options = dae_options_default();
    dae_solver *s;
    memcpy(y, m->q0, (size_t)m->nq * sizeof *y);
    memcpy(y + m->nq, m->v0, (size_t)m->nq * sizeof *y);
    memcpy(y + 2 * m->nq, m->l0, (size_t)m->nl * sizeof *y);
    options.method = method;
    options.rtol = options.atol = tol;
    options.max_steps = 100000;
    options.stop_time = m->tend;
    assert_int_equal(dae_solver_new(problem, &options, &s, NULL), DAE_OK);
    dae_status status = dae_solver_start(s, 0.0, text ? NULL : y, NULL);
    if (status == DAE_OK) status = dae_solver_run(s, m->tend, text ? NULL : y, NULL);
    if (status == DAE_OK) read_positions(m, problem, s, y, text, q);
    snprintf(why, DAE_TEXT_SIZE, "%s", status == DAE_OK ? "" : dae_solver_diag(s)->text);
    dae_solver_free(s);
    return status;
}

static double distance(int n, const double *q, const double *exact)
{
    double error = 0.0, size = 0.0;
    for (int i = 0; i < n; i++) {
        error = fmax(error, fabs(q[i] - exact[i]));
        size = fmax(size, fabs(exact[i]));
    }
    return error / size;
}

/* All tolerances, half a power of ten apart; how many fail */
static int check_source(const mechanism *m, const dae_problem *problem, const char *source,
                        const double *exact)
{
    int bad = 0;
    for (int k = 6; k <= 18; k++) {
        char why[DAE_TEXT_SIZE];
        double q[MOST_Q], tol = pow(10.0, -0.5 * k);
        bool text = strcmp(source, "text") == 0;
        dae_status status = solve(m, problem, "bdf2nd", tol, text, q, why);
        double error = status == DAE_OK ? distance(m->nq, q, exact) : INFINITY;
        if (error <= AMPLIFICATION * tol) continue;
        print_error("%s, %s, %.1e: error %.1e %s\n", m->name, source, tol, error, why);
        bad++;
    }
    return bad;
}

static void check_mechanism(mechanism *m)
{
    char why[DAE_TEXT_SIZE];
    double exact[MOST_Q];
    dae_problem *problem[3] = {from_text(m), from_callbacks(m, true), from_callbacks(m, false)};
    const char *const source[3] = {"text", "callbacks", "callbacks without derivatives"};
    assert_int_equal(solve(m, problem[1], "prk", 1e-12, false, exact, why), DAE_OK);
    int bad = 0;
    for (int i = 0; i < 3; i++) bad += check_source(m, problem[i], source[i], exact);
    for (int i = 0; i < 3; i++) dae_problem_free(problem[i]);
    mechanism_free(m);
    assert_int_equal(bad, 0);
}

static void andrews(void **state)
{
    (void)state;
    check_mechanism(mechanism_new("andrews", 0));
}

static void caraxis(void **state)
{
    (void)state;
    check_mechanism(mechanism_new("caraxis", 0));
}

static void truck(void **state)
{
    (void)state;
    check_mechanism(truck_new());
}

/* ---- the thesis variant with minimal extension ---- */

/* Relative error of positions at the end; tolerances by variable as in [Wun05 8.1]: that of
 * velocities and multipliers is `rate`, and what the formulation adds has none to speak of. */
static double thesis_error(const mechanism *m, const dae_problem *problem, const char *formulation,
                           double tol, double rate, const double *exact)
{
    double y[MOST] = {0}, atol[MOST], rtol[MOST];
    dae_options options = dae_options_default();
    dae_solver *s;
    memcpy(y, m->q0, (size_t)m->nq * sizeof *y);
    memcpy(y + m->nq, m->v0, (size_t)m->nq * sizeof *y);
    memcpy(y + 2 * m->nq, m->l0, (size_t)m->nl * sizeof *y);
    for (int i = 0; i < MOST; i++) {
        atol[i] = i < m->nq ? tol : rate;
        rtol[i] = tol;
    }
    options.method = "bdf2nd";
    options.variant = "thesis";
    options.formulation = formulation;
    options.rtol = tol;
    options.atol = 1e6 * rate;
    options.atol_by_unknown = atol;
    options.rtol_by_unknown = rtol;
    assert_int_equal(dae_solver_new(problem, &options, &s, NULL), DAE_OK);
    dae_status status = dae_solver_start(s, 0.0, y, NULL);
    if (status == DAE_OK) status = dae_solver_run(s, m->tend, y, NULL);
    if (status != DAE_OK) fail_msg("%s, %s: %s", m->name, formulation, dae_solver_diag(s)->text);
    dae_solver_free(s);
    return distance(m->nq, y, exact);
}

/* The estimate (4.24) is of order 4 in the step, and the error of order 2: a tenth of the tolerance
 * of velocities, the weaker demand, makes it 10^(-1/2) times as large. */
static void check_thesis(mechanism *m, double rate)
{
    static const char *const formulations[] = {"minimal", "reduced"};
    char why[DAE_TEXT_SIZE];
    double exact[MOST_Q];
    dae_problem *problem = from_callbacks(m, false);
    assert_int_equal(solve(m, problem, "prk", 1e-12, false, exact, why), DAE_OK);
    for (int k = 0; k < 2; k++) {
        double coarse = thesis_error(m, problem, formulations[k], 1e-4, rate, exact);
        double fine = thesis_error(m, problem, formulations[k], 1e-6, 0.1 * rate, exact);
        if (!(coarse < 0.1 && fine < coarse / 3.0))
            fail_msg("%s, %s: %.1e, then %.1e", m->name, formulations[k], coarse, fine);
    }
    dae_problem_free(problem);
    mechanism_free(m);
}

static void thesis_from_callbacks(void **state)
{
    (void)state;
    check_thesis(mechanism_new("andrews", 0), 10.0);
    check_thesis(mechanism_new("pendulum", 0), 1e-2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(andrews),
        cmocka_unit_test(caraxis),
        cmocka_unit_test(truck),
        cmocka_unit_test(thesis_from_callbacks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
