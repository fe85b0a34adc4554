#include "method/common/tableau.h"

#include <stddef.h>

/* sqrt(6), for the Radau points of HEM4 */
#define ROOT6 2.44948974278317809819728407470589139L

/* ---- classical methods [HNW93 II.1] -------------------------------------------------------- */

static const long double euler_b[] = {1}, euler_c[] = {0};

const tableau tableau_euler = {
    .stages = 1,
    .order = 1,
    .stable = 2.0,
    .a = NULL,
    .b = euler_b,
    .c = euler_c,
};

static const long double heun_a[] = {1}, heun_b[] = {0.5L, 0.5L}, heun_c[] = {0, 1};

const tableau tableau_heun = {
    .stages = 2,
    .order = 2,
    .stable = 2.0,
    .a = heun_a,
    .b = heun_b,
    .c = heun_c,
};

static const long double kutta3_a[] = {0.5L, -1, 2};
static const long double kutta3_b[] = {1 / 6.0L, 2 / 3.0L, 1 / 6.0L}, kutta3_c[] = {0, 0.5L, 1};

const tableau tableau_kutta3 = {
    .stages = 3,
    .order = 3,
    .stable = 2.5127,
    .a = kutta3_a,
    .b = kutta3_b,
    .c = kutta3_c,
};

static const long double rk4_a[] = {0.5L, 0, 0.5L, 0, 0, 1};
static const long double rk4_b[] = {1 / 6.0L, 1 / 3.0L, 1 / 3.0L, 1 / 6.0L};
static const long double rk4_c[] = {0, 0.5L, 0.5L, 1};

const tableau tableau_rk4 = {
    .stages = 4,
    .order = 4,
    .stable = 2.7853,
    .a = rk4_a,
    .b = rk4_b,
    .c = rk4_c,
};

/* ---- HEM4 [BH93 Table 5] ------------------------------------------------------------------- */

static const long double hem4_a[] = {
    0.3L,
    (1 + ROOT6) / 30,
    (11 - 4 * ROOT6) / 30,
    (-79 - 31 * ROOT6) / 150,
    (-1 - 4 * ROOT6) / 30,
    (24 + 11 * ROOT6) / 25,
    (14 + 5 * ROOT6) / 6,
    (-8 + 7 * ROOT6) / 6,
    (-9 - 7 * ROOT6) / 4,
    (9 - ROOT6) / 4,
};
static const long double hem4_b[] = {0, 0, (16 - ROOT6) / 36, (16 + ROOT6) / 36, 1 / 9.0L};
static const long double hem4_c[] = {0, 0.3L, (4 - ROOT6) / 10, (4 + ROOT6) / 10, 1};

const tableau tableau_hem4 = {
    .stages = 5,
    .order = 4,
    .stable = 5.3649,
    .a = hem4_a,
    .b = hem4_b,
    .c = hem4_c,
};

/* ---- Dormand and Prince 5(4) [DP80; HNW93 II.5 Table 5.2] ---------------------------------- */

static const long double dopri5_a[] = {
    1 / 5.0L,       3 / 40.0L,       9 / 40.0L,        44 / 45.0L,      -56 / 15.0L,
    32 / 9.0L,      19372 / 6561.0L, -25360 / 2187.0L, 64448 / 6561.0L, -212 / 729.0L,
    9017 / 3168.0L, -355 / 33.0L,    46732 / 5247.0L,  49 / 176.0L,     -5103 / 18656.0L,
};
static const long double dopri5_b[] = {35 / 384.0L,     0,         500 / 1113.0L, 125 / 192.0L,
                                       -2187 / 6784.0L, 11 / 84.0L};
static const long double dopri5_c[] = {0, 0.2L, 0.3L, 0.8L, 8 / 9.0L, 1};
static const long double dopri5_error[] = {
    71 / 57600.0L, 0, -71 / 16695.0L, 71 / 1920.0L, -17253 / 339200.0L, 22 / 525.0L, -1 / 40.0L};
/* Continuous extension of order 4 [Sha86; HNW93 II.6]. */
static const long double dopri5_dense[] = {
    -12715105075.0L / 11282082432.0L,  0,
    87487479700.0L / 32700410799.0L,   -10690763975.0L / 1880347072.0L,
    701980252875.0L / 199316789632.0L, -1453857185.0L / 822651844.0L,
    69997945.0L / 29380423.0L,
};

const tableau tableau_dopri5 = {
    .stages = 6,
    .order = 5,
    .stable = 3.3066,
    .a = dopri5_a,
    .b = dopri5_b,
    .c = dopri5_c,
    .estimate_order = 4,
    .error = dopri5_error,
    .rows = 1,
    .dense = dopri5_dense,
};

/* ---- rounding -------------------------------------------------------------------------------
 */

static void round_row(int count, const long double *from, double *to)
{
    for (int i = 0; i < count; i++) to[i] = (double)from[i];
}

void tableau_round(const tableau *t, rounded_tableau *r)
{
    int s = t->stages, all = s + 1 + t->further;
    *r = (rounded_tableau){.stages = s,
                           .order = t->order,
                           .stable = t->stable,
                           .estimate_order = t->estimate_order,
                           .further = t->further,
                           .rows = t->rows,
                           .has_error = t->error != NULL,
                           .has_low = t->error_low != NULL};
    for (int i = 1; i < s; i++) round_row(i, t->a + i * (i - 1) / 2, r->a[i]);
    round_row(s, t->b, r->b);
    round_row(s, t->b, r->a[s]);
    round_row(s, t->c, r->c);
    r->c[s] = 1.0;
    if (t->error) round_row(s + 1, t->error, r->error);
    if (t->error_low) round_row(s + 1, t->error_low, r->error_low);
    const long double *row = t->further_a;
    for (int i = s + 1; i < all; row += i, i++) {
        round_row(i, row, r->a[i]);
        r->c[i] = (double)t->further_c[i - s - 1];
    }
    for (int k = 0; k < t->rows; k++) round_row(all, t->dense + k * all, r->dense[k]);
}
