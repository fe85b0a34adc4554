/* Geometric integration: conditions of the tables, orders of q and v on the pendulum, a bead on an
 * ellipse (in Cartesian and in polar coordinates, where the mass matrix depends on q) and a planar
 * four-bar linkage, energy over very many periods, reversibility, what is refused. */
#include "daedal.h"
#include "mechanisms.h"
#include "method/geometric/geometric.h"
#include "sanitized.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- tables ---- */

static double sum_of_powers(const composition *c, int power)
{
    long double sum = 0.0L;
    for (int i = 0; i < c->count; i++) sum += powl(c->gamma[i], power);
    return (double)sum;
}

/* sum gamma = 1, and sum gamma^k = 0 for odd k below the order, as the order of a symmetric method
 * of order 2 demands [HLW06 V.3] */
static void test_compositions(void **state)
{
    (void)state;
    const composition *all[] = {&composition_plain, &composition_4, &composition_6, &composition_8};
    for (int k = 0; k < 4; k++) {
        const composition *c = all[k];
        assert_true(fabs(sum_of_powers(c, 1) - 1.0) < 1e-15);
        for (int power = 3; power < c->order; power += 2)
            assert_true(fabs(sum_of_powers(c, power)) < 1e-15);
        for (int i = 0; i < c->count; i++) assert_true(c->gamma[i] == c->gamma[c->count - 1 - i]);
    }
}

/* Quadrature of order 2s - 2, C(s) for IIIA, C(s - 2) for IIIB, symplecticity */
static void test_lobatto_tables(void **state)
{
    (void)state;
    for (int s = 3; s <= 4; s++) {
        lobatto_pair p;
        lobatto_pair_fill(&p, s);
        for (int q = 1; q <= 2 * s - 2; q++) {
            double sum = 0.0;
            for (int i = 0; i < s; i++) sum += p.b[i] * pow(p.c[i], q - 1);
            assert_true(fabs(sum - 1.0 / q) < 1e-15);
        }
        for (int i = 0; i < s; i++) {
            for (int q = 1; q <= s; q++) {
                double a = 0.0, a_hat = 0.0, exact = pow(p.c[i], q) / q;
                for (int j = 0; j < s; j++) {
                    a += p.a[i][j] * pow(p.c[j], q - 1);
                    a_hat += p.a_hat[i][j] * pow(p.c[j], q - 1);
                }
                assert_true(fabs(a - exact) < 1e-15);
                if (q <= s - 2) assert_true(fabs(a_hat - exact) < 1e-15);
            }
            for (int j = 0; j < s; j++)
                assert_true(fabs(p.b[i] * p.a_hat[i][j] + p.b[j] * p.a[j][i] - p.b[i] * p.b[j]) <
                            1e-16);
            assert_true(p.a_hat[i][s - 1] == 0.0);
        }
    }
}

/* ---- runs ---- */

static dae_options options_for(const char *name, double h)
{
    dae_options o = dae_options_default();
    o.method = name;
    o.fixed_step = h;
    o.rtol = o.atol = 1e-13;
    o.max_steps = 0;
    return o;
}

static dae_solver *solver_with(const mechanics *m, const dae_options *o, dae_problem **p)
{
    dae_solver *s;
    double y[MOST_Y] = {0.0};
    memcpy(y, m->start, 2 * (size_t)m->form.nq * sizeof *y);
    assert_int_equal(dae_problem_from_mechanical(&m->form, p, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(*p, o, &s, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(s, 0.0, y, NULL), DAE_OK);
    return s;
}

static dae_solver *solver_of(const mechanics *m, const char *name, double h, dae_problem **p)
{
    dae_options o = options_for(name, h);
    return solver_with(m, &o, p);
}

/* y at tend in equal steps; 0: a reference by another method. False: the steps are too long. */
static bool try_end(const mechanics *m, const char *name, double tend, int steps, double *y)
{
    dae_problem *p;
    dae_solver *s = solver_of(m, steps ? name : "prk", steps ? tend / steps : 0.0, &p);
    dae_status status = dae_solver_run(s, tend, y, NULL);
    dae_solver_free(s);
    dae_problem_free(p);
    return status == DAE_OK;
}

static void end_of(const mechanics *m, const char *name, double tend, int steps, double *y)
{
    assert_true(try_end(m, name, tend, steps, y));
}

static double block_error(int first, int end, const double *y, const double *exact)
{
    double worst = 0.0;
    for (int i = first; i < end; i++) worst = fmax(worst, fabs(y[i] - exact[i]));
    return worst;
}

/* The order of block b (q or v), by the finest pair of step sizes above round-off. */
static double observed_order(const mechanics *m, const char *name, int b, double *error)
{
    enum { FIRST = 4, LAST = 10000 };
    const double round_off = fmax(strchr(name, '8') ? 3e-13 : 1e-11, m->noise);
    double exact[MOST_Y], y[MOST_Y], before = 0.0, seen = NAN;
    const int nq = m->form.nq;
    end_of(m, name, 6.0, 0, exact);
    for (int steps = FIRST, last = 0; steps < LAST; steps += steps / 2) {
        if (!try_end(m, name, 6.0, steps, y)) continue;
        double after = block_error(b * nq, (b + 1) * nq, y, exact);
        if (after < round_off) break;
        *error = after;
        if (before > 0.0) seen = log(before / after) / log((double)steps / last);
        before = after;
        last = steps;
    }
    return seen;
}

static void check_order(const mechanics *m, const char *name, int order)
{
    for (int b = 0; b < 2; b++) {
        double error = 0.0, seen = observed_order(m, name, b, &error);
        if (!(fabs(seen - order) <= 0.2))
            print_message("%s, %s, %s: order %g (%g)\n", m->name, name, b ? "v" : "q", seen, error);
        assert_true(fabs(seen - order) <= 0.2);
    }
}

static void test_orders(void **state)
{
    (void)state;
    mechanics all[] = {pendulum(), bead(), four_bar(), polar_bead()};
    for (int k = 0; k < 4; k++) {
        if (k < 3) check_order(&all[k], "symplectic_euler", 1);
        if (k < 3) check_order(&all[k], "shake", 2);
        check_order(&all[k], "rattle", 2);
        check_order(&all[k], "rattle:4", 4);
        check_order(&all[k], "rattle:6", 6);
        if (k < 3) check_order(&all[k], "rattle:8", 8); /* noise of differences hides it */
        check_order(&all[k], "lobatto:4", 4);
        check_order(&all[k], "lobatto:6", 6);
    }
}

/* Forwards, and the same way back: symmetric methods return to round-off. */
static void test_reversible(void **state)
{
    (void)state;
    mechanics all[] = {pendulum(), bead(), four_bar(), polar_bead()};
    const char *const names[] = {"rattle",   "rattle:4",  "rattle:6",
                                 "rattle:8", "lobatto:4", "lobatto:6"};
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < 6; i++) {
            mechanics back = all[k];
            double y[MOST_Y], z[MOST_Y];
            const int nq = back.form.nq;
            end_of(&all[k], names[i], 2.0, 100, y);
            for (int j = 0; j < nq; j++) {
                back.start[j] = y[j];
                back.start[nq + j] = -y[nq + j];
            }
            end_of(&back, names[i], 2.0, 100, z);
            double worst = block_error(0, nq, z, all[k].start);
            for (int j = 0; j < nq; j++)
                worst = fmax(worst, fabs(z[nq + j] + all[k].start[nq + j]));
            if (worst > 1e-11) print_message("%s, %s: %g\n", back.name, names[i], worst);
            assert_true(worst < 1e-11);
        }
}

/* The slope of the energy error over so many times 25 steps (of the pendulum about a period, the
 * fit does not mind), by least squares, and its standard error; and the largest error. */
static void energy_fit(const mechanics *m, double h, long periods, double *slope, double *deviation,
                       double *largest)
{
    dae_problem *p;
    dae_solver *s = solver_of(m, "rattle", h, &p);
    double sx = 0, sy = 0, sxx = 0, sxy = 0, syy = 0, y[MOST_Y], start = m->energy(m->start);
    *largest = 0.0;
    for (long k = 1; k <= periods; k++) {
        for (int i = 0; i < 25; i++) {
            assert_true(dae_solver_step(s, 1e9) >= 0);
            dae_solver_at(s, dae_solver_time(s), 0, y);
            *largest = fmax(*largest, fabs(m->energy(y) - start));
        }
        double x = (double)k, e = m->energy(y) - start;
        sx += x, sy += e, sxx += x * x, sxy += x * e, syy += e * e;
    }
    double n = (double)periods, spread = sxx - sx * sx / n;
    *slope = (sxy - sx * sy / n) / spread;
    *deviation = sqrt((syy - sy * sy / n - *slope * *slope * spread) / ((n - 2.0) * spread));
    dae_solver_free(s);
    dae_problem_free(p);
}

/* RATTLE's energy error is bounded: over 1e5 periods (fewer where sanitizers slow it down) it has
 * no trend, while the error itself is that of order 2. */
static void check_energy(const mechanics *m, double h, long periods)
{
    if (SANITIZED) periods /= 50;
    double slope, deviation, largest;
    energy_fit(m, h, periods, &slope, &deviation, &largest);
    if (fabs(slope) >= fmax(3.0 * deviation, 1e-13) || largest >= 10.0 * h * h)
        print_message("%s: slope %g, standard error %g, largest %g\n", m->name, slope, deviation,
                      largest);
    assert_true(fabs(slope) < fmax(3.0 * deviation, 1e-13));
    assert_true(largest < 10.0 * h * h && largest > 1e-3 * h * h);
}

static void test_energy(void **state)
{
    (void)state;
    mechanics first = pendulum(), second = four_bar(), third = bead();
    check_energy(&first, 0.25, 100000);
    check_energy(&second, 0.1, 20000);
    check_energy(&third, 0.1, 10000);
}

/* ---- invariants ---- */

static double (*energy_of)(const double *y);

static int energy_function(double t, const double *y, double *values, void *user)
{
    (void)t;
    values[0] = energy_of(y) + (user ? *(double *)user * y[0] : 0.0);
    return 0;
}

static const char *const all_methods[] = {"symplectic_euler", "shake",    "rattle",    "rattle:4",
                                          "rattle:6",         "rattle:8", "lobatto:4", "lobatto:6"};

/* Steps of all methods end on the energy of the start, and on the constraints, both to round-off;
 * where it is only watched it moves by the error of the method, which those of low order show. */
static void check_kept(const mechanics *m, int i)
{
    const char *name = all_methods[i];
    for (int watch = 0; watch < 2; watch++) {
        dae_options o = options_for(name, 0.05);
        dae_problem *p;
        o.invariant_count = 1;
        o.invariant_function = energy_function;
        o.watch_invariants = watch;
        o.watch_constraints = true;
        energy_of = m->energy;
        dae_solver *s = solver_with(m, &o, &p);
        assert_int_equal(dae_solver_run(s, 10.0, NULL, NULL), DAE_OK);
        const dae_stats *seen = dae_solver_stats(s);
        double drift = seen->invariant_drift, residual = seen->position_residual;
        residual = fmax(residual, watch ? 0.0 : seen->velocity_residual);
        bool good = watch ? i > 2 || drift > 1e-6 : drift < 1e-12 && residual < 1e-12;
        if (!good) print_message("%s, %s, %d: %g %g\n", m->name, name, watch, drift, residual);
        assert_true(good);
        dae_solver_free(s);
        dae_problem_free(p);
    }
}

static void test_invariants(void **state)
{
    (void)state;
    mechanics all[] = {pendulum(), bead(), four_bar(), polar_bead()};
    for (int k = 0; k < 4; k++)
        for (int i = k < 3 ? 0 : 2; i < 8; i++) check_kept(&all[k], i);
}

/* What is no invariant is refused at the start, by its name. */
static void test_no_invariant(void **state)
{
    (void)state;
    mechanics m = four_bar();
    double wrong = 0.1;
    const char *names[] = {"mistaken"};
    for (int i = 0; i < 8; i++) {
        dae_options o = options_for(all_methods[i], 0.05);
        dae_problem *p;
        o.invariant_count = 1;
        o.invariants = names;
        o.invariant_function = energy_function;
        o.user = &wrong;
        energy_of = m.energy;
        dae_solver *s = solver_with(&m, &o, &p);
        assert_int_equal(dae_solver_run(s, 1.0, NULL, NULL), DAE_ERR_UNSUPPORTED);
        assert_non_null(strstr(dae_solver_diag(s)->text, "mistaken"));
        dae_solver_free(s);
        dae_problem_free(p);
    }
}

/* ---- what is refused ---- */

static void refused(const char *name, const mechanics *m, double h, const char *says)
{
    dae_options o = dae_options_default();
    dae_problem *p;
    dae_solver *s = NULL;
    dae_diag diag = {0};
    double y[MOST_Y] = {0.0};
    memcpy(y, m->start, 2 * (size_t)m->form.nq * sizeof *y);
    o.method = name;
    o.fixed_step = h;
    assert_int_equal(dae_problem_from_mechanical(&m->form, &p, NULL), DAE_OK);
    dae_status status = dae_solver_new(p, &o, &s, &diag);
    if (status == DAE_OK) {
        dae_solver_start(s, 0.0, y, NULL);
        status = dae_solver_run(s, 1.0, NULL, NULL);
        diag = *dae_solver_diag(s);
    }
    assert_true(status < 0);
    if (!strstr(diag.text, says)) print_message("%s\n", diag.text);
    assert_non_null(strstr(diag.text, says));
    dae_solver_free(s);
    dae_problem_free(p);
}

static int drag(const dae_mechanical_point *at, double *f, void *user)
{
    (void)user;
    f[0] = 0.0;
    f[1] = -1.0 - 0.1 * at->v[1];
    return 0;
}

static void test_refused(void **state)
{
    (void)state;
    mechanics plain = pendulum(), polar = polar_bead(), dragged = pendulum();
    dragged.form.force = drag;
    refused("rattle", &plain, 0.0, "fixed_step");
    refused("shake", &polar, 0.01, "mass matrix depends on the positions");
    refused("shake", &polar, 0.01, "q[1]"); /* its inertia is r^2 */
    refused("symplectic_euler", &dragged, 0.01, "depends on velocities");
    refused("symplectic_euler", &dragged, 0.01, "q[1]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_compositions), cmocka_unit_test(test_lobatto_tables),
        cmocka_unit_test(test_orders),       cmocka_unit_test(test_reversible),
        cmocka_unit_test(test_energy),       cmocka_unit_test(test_refused),
        cmocka_unit_test(test_invariants),   cmocka_unit_test(test_no_invariant)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
