/* Problems of index 0 to 3 with closed forms, and the orders of one-step methods on them, at
 * constant steps and on random grids. To be included once in a program. */
#ifndef DAE_TEST_CLOSED_FORMS_H
#define DAE_TEST_CLOSED_FORMS_H

#include "solve/bind/solver.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "closed_problems.h"

/* A number in 0.5 .. 1.5 for step k of a grid. */
static double random_length(unsigned seed, int k)
{
    unsigned x = seed * 2654435761u + (unsigned)k * 40503u + 12345u;
    x ^= x >> 15;
    x *= 2246822519u;
    x ^= x >> 13;
    return 0.5 + (double)(x % 10007u) / 10006.0;
}

/* error_b = max(error_b, largest relative error in block b at t) */
static void add_errors(const closed_form *c, double t, const double *y, double error[3])
{
    double exact[MOST], slope[MOST];
    c->solution(t, exact, slope);
    for (int b = 0; b < c->count; b++) {
        int end = b + 1 < c->count ? c->first[b + 1] : c->n;
        for (int i = c->first[b]; i < end; i++)
            error[b] = fmax(error[b], fabs(y[i] - exact[i]) / (1.0 + fabs(exact[i])));
    }
}

/* Largest relative errors of the blocks over the ends of all of `steps` steps up to tend, equal
 * ones if seed is 0; false: a step failed. */
static bool grid_errors(const closed_form *c, const char *name, int steps, unsigned seed,
                        double error[3])
{
    dae_problem *p = problem_of(c);
    dae_options o = dae_options_default();
    dae_solver *s;
    double y[MOST], yp[MOST], sum = 0.0, done = 0.0;
    for (int k = 0; k < steps; k++) sum += seed ? random_length(seed, k) : 1.0;
    o.method = name;
    o.rtol = o.atol = 1e-13;
    o.fixed_step = c->tend / sum * (seed ? random_length(seed, 0) : 1.0);
    o.newton_iterations = 200;
    o.stop_time = c->tend;
    o.init = DAE_INIT_NONE;
    o.max_steps = 0;
    c->solution(0.0, y, yp);
    assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(s, 0.0, y, yp), DAE_OK);
    dae_status status = DAE_STEPPED;
    for (int b = 0; b < 3; b++) error[b] = 0.0;
    for (int k = 0; k < steps && status > 0; k++) {
        done += seed ? random_length(seed, k) : 1.0;
        if (k > 0) s->run.control.h = c->tend * done / sum - s->run.t_new;
        status = dae_solver_step(s, c->tend);
        if (status < 0) break;
        dae_solver_at(s, dae_solver_time(s), 0, y);
        add_errors(c, dae_solver_time(s), y, error);
    }
    if (status != DAE_OK && getenv("DAE_TEST_VERBOSE"))
        printf("%s on %s, %d steps: %.100s\n", name, c->name, steps, dae_solver_diag(s)->text);
    dae_solver_free(s);
    dae_problem_free(p);
    return status == DAE_OK;
}

/* Orders of the blocks from the finest pair of step sizes above round-off, up to 2^most steps. */
static void grid_orders(const closed_form *c, const char *name, unsigned seed, int most,
                        const double floor_of[3], double order[3])
{
    double before[3] = {0.0, 0.0, 0.0}, error[3];
    bool solved = false, done[3] = {false, false, false};
    for (int b = 0; b < 3; b++) order[b] = NAN;
    for (int k = 2; k <= most; k++) {
        bool ok = grid_errors(c, name, 1 << k, seed, error);
        for (int b = 0; ok && b < c->count; b++) {
            done[b] = done[b] || error[b] <= floor_of[b];
            if (solved && !done[b]) order[b] = log2(before[b] / error[b]);
        }
        solved = ok;
        memcpy(before, error, sizeof before);
    }
    if (getenv("DAE_TEST_VERBOSE"))
        printf("%-9s %-16s %s: %5.2f %5.2f %5.2f  (%.1e %.1e %.1e)\n", name, c->name,
               seed ? "random" : "equal ", order[0], order[1], order[2], error[0], error[1],
               error[2]);
}

/* The median over five random grids. */
static void random_orders(const closed_form *c, const char *name, int most,
                          const double floor_of[3], double order[3])
{
    double all[5][3];
    for (unsigned k = 0; k < 5; k++) grid_orders(c, name, k + 1, most, floor_of, all[k]);
    for (int b = 0; b < 3; b++) {
        double x[5];
        for (int k = 0; k < 5; k++) x[k] = all[k][b];
        for (int i = 0; i < 5; i++)
            for (int j = i + 1; j < 5; j++)
                if (x[j] < x[i]) {
                    double swap = x[i];
                    x[i] = x[j];
                    x[j] = swap;
                }
        order[b] = x[2];
    }
}

/* At least `least` (less 0.3) at constant steps and on random grids. */
__attribute__((unused)) static void check_orders(const closed_form *c, const char *name, int most,
                                                 const double floor_of[3], const double least[3])
{
    double order[2][3];
    grid_orders(c, name, 0, most, floor_of, order[0]);
    random_orders(c, name, most, floor_of, order[1]);
    for (int k = 0; k < 2; k++)
        for (int b = 0; b < c->count; b++)
            if (!(order[k][b] >= least[b] - 0.3))
                fail_msg("%s on %s, %s steps, block %d: order %.2f, not %.1f", name, c->name,
                         k ? "random" : "equal", b, order[k][b], least[b]);
}

#endif
