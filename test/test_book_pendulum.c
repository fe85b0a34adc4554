/* The pendulum of [BCP96 6.2], against the tables of the book: errors, steps and function counts of
 * the index-1 and the stabilised index-2 form, and constant steps of BDF2 on the index-3 form.
 *
 * The truth is independent of the library: the angle phi of the pendulum obeys phi'' = cos phi
 * (gravity along +z2), and z = (cos phi, sin phi), v = z', lambda = phi'^2 + sin phi. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "models.h"

enum { Z1, Z2, Z3, Z4, LAMBDA, MU, MAX_N };

/* Worst error allowed, and the level below which no error is asked for. */
static const double ERROR_FACTOR = 300.0, ERROR_FLOOR = 1e-9;

/* ---- the truth ---------------------------------------------------------------------------- */

/* One step of the classical Runge-Kutta method for phi'' = cos phi. */
static void angle_step(double h, double *phi, double *omega)
{
    double k1 = *omega, a1 = cos(*phi);
    double k2 = *omega + 0.5 * h * a1, a2 = cos(*phi + 0.5 * h * k1);
    double k3 = *omega + 0.5 * h * a2, a3 = cos(*phi + 0.5 * h * k2);
    double k4 = *omega + h * a3, a4 = cos(*phi + h * k3);
    *phi += h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
    *omega += h / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4);
}

/* y(t) and y'(t) from phi(0) = 0, phi'(0) = 1; steps below 2.5e-4 make the error 1e-15. */
static void truth(double t, double *y, double *yp)
{
    double phi = 0.0, omega = 1.0;
    int steps = 1 + (int)(4000.0 * t);
    for (int i = 0; i < steps; i++) angle_step(t / steps, &phi, &omega);
    double c = cos(phi), s = sin(phi);
    y[Z1] = c;
    y[Z2] = s;
    y[Z3] = yp[Z1] = -s * omega;
    y[Z4] = yp[Z2] = c * omega;
    y[LAMBDA] = omega * omega + s;
    y[MU] = yp[MU] = 0.0;
    yp[Z3] = -c * y[LAMBDA];
    yp[Z4] = 1.0 - s * y[LAMBDA];
    yp[LAMBDA] = 3.0 * y[Z4];
}

/* |y_i - truth_i| / |truth_i|, absolute in mu, as the book measures. */
static double book_error(int i, const double *y, const double *exact)
{
    double error = fabs(y[i] - exact[i]);
    return i == MU ? error : error / fabs(exact[i]);
}

/* The truth has the digits that the book prints. */
static void truth_of_the_book(void **state)
{
    (void)state;
    const double printed[] = {0.1349949261, 0.9908462897, -1.710951582, 0.2331035448, 3.972538869};
    double y[MAX_N], yp[MAX_N];
    truth(1.0, y, yp);
    for (int i = Z1; i <= LAMBDA; i++) assert_true(fabs(y[i] / printed[i] - 1.0) <= 5e-10);
    model *m = model_new("pendulum1", 0);
    assert_non_null(m);
    for (int i = Z1; i <= LAMBDA; i++) assert_true(fabs(y[i] - m->reference[i]) <= 1e-13);
    model_free(m);
}

/* ---- variable steps: Tables 6.2.2 to 6.2.4 --------------------------------------------------- */

typedef struct outcome {
    double y[MAX_N];
    double error[MAX_N];
    double g1, g2, g3; /* (6.2.13), with the sign of z2 that belongs to g along +z2 */
    dae_stats stats;
} outcome;

static void constraints_at_end(outcome *o)
{
    const double *y = o->y;
    o->g1 = 1.0 - y[Z1] * y[Z1] - y[Z2] * y[Z2];
    o->g2 = y[Z1] * y[Z3] + y[Z2] * y[Z4];
    o->g3 = y[Z3] * y[Z3] + y[Z4] * y[Z4] - y[LAMBDA] + y[Z2];
}

/* Solve a model from 0 to 1 with rtol = atol = tolerance. */
static void solve(const char *name, double tolerance, outcome *o)
{
    model *m = model_new(name, 0);
    assert_non_null(m);
    dae_problem *problem;
    dae_solver *s;
    dae_options options = dae_options_default();
    options.method = "bdf";
    options.rtol = options.atol = tolerance;
    assert_int_equal(dae_problem_from_residual(&m->form, &problem, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(problem, &options, &s, NULL), DAE_OK);
    dae_status status = dae_solver_start(s, 0.0, m->y0, m->yp0);
    if (status == DAE_OK) status = dae_solver_run(s, 1.0, o->y, NULL);
    if (status != DAE_OK)
        fail_msg("%s at tolerance %.0e: %s", name, tolerance, dae_solver_diag(s)->text);
    double exact[MAX_N], slope[MAX_N];
    truth(1.0, exact, slope);
    for (int i = 0; i < m->form.n; i++) o->error[i] = book_error(i, o->y, exact);
    constraints_at_end(o);
    o->stats = *dae_solver_stats(s);
    dae_solver_free(s);
    dae_problem_free(problem);
    model_free(m);
}

static void expect_at_most(double value, double bound, const char *what, double tolerance)
{
    if (!(fabs(value) <= bound))
        fail_msg("tolerance %.0e: %s is %.3g, at most %.3g wanted", tolerance, what, value, bound);
}

static double error_bound(double tolerance)
{
    return fmax(ERROR_FACTOR * tolerance, ERROR_FLOOR);
}

/* Errors of the first so many variables are within 300 tolerances, or 1e-9. */
static void expect_errors(const outcome *o, int count, double tolerance)
{
    static const char *const names[] = {"z1", "z2", "z3", "z4", "lambda", "mu"};
    for (int i = 0; i < count; i++)
        expect_at_most(o->error[i], error_bound(tolerance), names[i], tolerance);
}

/* A line of the book: what DASSL needed. */
typedef struct book_line {
    double tolerance;
    long steps, functions;
} book_line;

/* At most 1.6 times the steps and 1.3 times the evaluations of F; neither counts those for
 * Jacobians.
 */
static void expect_work(const outcome *o, const book_line *line)
{
    expect_at_most((double)o->stats.steps, 1.6 * (double)line->steps, "steps", line->tolerance);
    expect_at_most((double)o->stats.residuals, 1.3 * (double)line->functions, "function count",
                   line->tolerance);
}

static const book_line table_6_2_2[] = {{1e-5, 43, 89},    {1e-6, 53, 114},  {1e-7, 84, 164},
                                        {1e-8, 90, 197},   {1e-9, 116, 254}, {1e-10, 155, 359},
                                        {1e-11, 233, 524}, {1e-12, 369, 642}};
static const book_line table_6_2_3[] = {{1e-5, 35, 101}, {1e-6, 45, 123}, {1e-7, 80, 225}};

#define LINES(table) (sizeof(table) / sizeof((table)[0]))

/* Table 6.2.2. Only the acceleration constraint G(3) is imposed, to the tolerance of lambda, which
 * weighs |lambda| + 1 = 5 at the end; the others drift with the errors. */
static void index_1_form(void **state)
{
    (void)state;
    double steps = 0.0, printed = 0.0;
    for (size_t k = 0; k < LINES(table_6_2_2); k++) {
        double tolerance = table_6_2_2[k].tolerance;
        outcome o;
        solve("pendulum1", tolerance, &o);
        steps += (double)o.stats.steps;
        printed += (double)table_6_2_2[k].steps;
        expect_errors(&o, LAMBDA + 1, tolerance);
        expect_work(&o, &table_6_2_2[k]);
        expect_at_most(o.g3, 10.0 * tolerance, "G(3)", tolerance);
        expect_at_most(o.g2, error_bound(tolerance), "G(2)", tolerance);
        expect_at_most(o.g1, error_bound(tolerance), "G(1)", tolerance);
    }
    expect_at_most(steps, 1.3 * printed, "steps of all lines", 0.0);
}

/* Tables 6.2.3 and 6.2.4: both constraints hold to the tolerance, there is no drift. */
static void stabilised_index_2_form(void **state)
{
    (void)state;
    for (size_t k = 0; k < LINES(table_6_2_3); k++) {
        double tolerance = table_6_2_3[k].tolerance;
        outcome o;
        solve("pendulum2", tolerance, &o);
        expect_errors(&o, MU + 1, tolerance);
        expect_work(&o, &table_6_2_3[k]);
        expect_at_most(o.g2, tolerance, "G(2)", tolerance);
        expect_at_most(o.g1, tolerance, "G(1)", tolerance);
    }
}

/* The same where DASSL's corrector fails, multipliers included. */
static void where_dassl_fails(void **state)
{
    (void)state;
    for (double tolerance = 1e-8; tolerance > 0.5e-10; tolerance /= 10.0) {
        outcome o;
        solve("pendulum2", tolerance, &o);
        expect_errors(&o, MU + 1, tolerance);
        expect_at_most(o.g2, tolerance, "G(2)", tolerance);
        expect_at_most(o.g1, tolerance, "G(1)", tolerance);
    }
}

/* ---- constant steps: Table 6.2.1 ------------------------------------------------------------ */

/* The truth at 2h, h and 0, newest first. */
static void exact_history(double h, double *times, double *values, double *yp)
{
    for (int i = 2; i >= 0; i--) {
        double y[MAX_N];
        times[i] = (2 - i) * h;
        truth(times[i], y, yp);
        for (int j = Z1; j <= LAMBDA; j++) values[5 * i + j] = y[j];
    }
}

/* Errors at t = 1 of BDF2 on the index-3 form with step h. What Newton leaves of the position
 * constraint enters lambda divided by h^2, so little may be left. */
static void constant_step_errors(double h, double *error)
{
    double times[3], values[3 * 5], y[MAX_N], yp[MAX_N], exact[MAX_N], slope[MAX_N];
    model *m = model_new("pendulum3", 0);
    assert_non_null(m);
    dae_problem *problem;
    dae_solver *s;
    dae_options options = dae_options_default();
    options.rtol = options.atol = 1e-10;
    options.newton_tolerance = 1e-4;
    options.newton_iterations = 10;
    options.fixed_step = h;
    options.min_order = options.max_order = 2;
    assert_int_equal(dae_problem_from_residual(&m->form, &problem, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(problem, &options, &s, NULL), DAE_OK);
    exact_history(h, times, values, yp);
    assert_int_equal(dae_solver_start_history(s, 3, times, values, yp), DAE_OK);
    dae_status status = dae_solver_run(s, 1.0, y, NULL);
    if (status != DAE_OK) fail_msg("h = %g: %s", h, dae_solver_diag(s)->text);
    truth(1.0, exact, slope);
    for (int i = Z1; i <= LAMBDA; i++) error[i] = book_error(i, y, exact);
    dae_solver_free(s);
    dae_problem_free(problem);
    model_free(m);
}

/* Table 6.2.1, to its two digits. */
static void index_3_form(void **state)
{
    (void)state;
    static const double steps[] = {0.01, 0.005, 0.0025};
    static const double table[5][3] = {{2.6e-3, 6.5e-4, 1.6e-4},
                                       {4.8e-5, 1.2e-5, 3.0e-6},
                                       {2.7e-4, 6.6e-5, 1.7e-5},
                                       {2.5e-3, 6.2e-4, 1.6e-4},
                                       {1.9e-4, 4.7e-5, 1.2e-5}};
    for (int k = 0; k < 3; k++) {
        double error[MAX_N];
        constant_step_errors(steps[k], error);
        for (int i = Z1; i <= LAMBDA; i++)
            if (!(fabs(error[i] - table[i][k]) <= 0.1 * table[i][k]))
                fail_msg("h = %g, variable %d: error %.3g, the book has %.2g", steps[k], i,
                         error[i], table[i][k]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(truth_of_the_book),
        cmocka_unit_test(index_1_form),
        cmocka_unit_test(stabilised_index_2_form),
        cmocka_unit_test(where_dassl_fails),
        cmocka_unit_test(index_3_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
