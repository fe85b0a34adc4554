/* phem5: partitioned half-explicit Runge-Kutta of order 5 [Mur97], [AM98].
 *
 * The explicit stages are those of Dormand and Prince [DP80]; each of the stages 2 .. 6 fixes its
 * multiplier by a constraint at a point of its own, abar, and stage 1 is the slope that ended the
 * step before. So there are five stage equations and one for the slope at the end, where HEM5 has
 * eight and one. The table is that of the code PHEM56; it satisfies all 110 conditions of order 5
 * for partitioned methods in rational arithmetic. */
#include "method/half_explicit/hem_parts.h"

static const double phem5_a[6][HEM_STAGES] = {
    {0.0},
    {1.0 / 5.0},
    {3.0 / 40.0, 9.0 / 40.0},
    {44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0},
    {19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0},
    {9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0}};
static const double phem5_a_bar[6][HEM_STAGES] = {
    {0.0},
    {3.0 / 40.0, 9.0 / 40.0},
    {21.0 / 256.0, 45.0 / 256.0, 15.0 / 128.0},
    {19235.0 / 98784.0, -225.0 / 392.0, 6235.0 / 6174.0, 2755.0 / 32928.0},
    {-293.0 / 1152.0, 85.0 / 48.0, -2275.0 / 1908.0, 35.0 / 32.0, -2835.0 / 6784.0},
    {35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0}};
static const double phem5_c[6] = {0.0, 0.2, 0.3, 0.8, 8.0 / 9.0, 1.0};
static const double phem5_c_bar[6] = {0.0, 0.3, 0.375, 5.0 / 7.0, 1.0, 1.0};

/* The estimate is that of Dormand and Prince, y1 - yhat with the slope at the end. It does not see
 * what the multipliers of the stages add to the error: on a steered point the error of steps at
 * tolerances of 1e-2 is up to nine times the estimate, and where f has kinks a hundred times. */
const hem_table phem5_table = {
    .stages = 6,
    .order = 5,
    .stable = 3.3066,
    .error_order = 4,
    .partitioned = true,
    .transversal = true,
    .a = phem5_a,
    .a_bar = phem5_a_bar,
    .c = phem5_c,
    .c_bar = phem5_c_bar,
    .zeta = phem5_c,
    .error = {71.0 / 57600.0, 0.0, -71.0 / 16695.0, 71.0 / 1920.0, -17253.0 / 339200.0,
              22.0 / 525.0},
    .error_end = -1.0 / 40.0,
    .caution = 3.0,
    .middle = 19.0 / 30.0,
    .dense = {1812923.0 / 20736000.0, 0.0, 45847.0 / 100170.0, 56677.0 / 414720.0,
              -289161.0 / 13568000.0, -67507.0 / 4536000.0},
    .dense_end = -3971.0 / 324000.0,
};

static void phem5_start(void *state, void *scratch, const method_context *ctx,
                        const start_point *at)
{
    hem_start(&phem5_table, state, scratch, ctx, at);
}

const method method_phem5 = {
    .name = "phem5",
    .summary = "partitioned half-explicit Runge-Kutta of order 5; y' = f(y,z), 0 = g(y)",
    .citation = "Murua: Partitioned half-explicit Runge-Kutta methods for differential-algebraic "
                "systems of index 2, Computing 59 (1997) 43-61",
    .max_order = 5,
    .forms = FORM_MECHANICAL | FORM_HESSENBERG,
    .fixed_order = true,
    .projects = true,
    .index_range = "2 (mechanical: 3)",
    .size = hem_size,
    .start = phem5_start,
    .attempt = hem_attempt,
    .accept = hem_accept,
    .interpolate = hem_interpolate,
    .cache_new = hem_cache_new,
    .cache_free = hem_cache_free};
