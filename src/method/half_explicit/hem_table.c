/* Tables of half-explicit methods. Row s + 1 of each matrix a holds the weights b, so that abar is
 * a from its second row on. test/test_hem.c checks all order conditions. */
#include "method/half_explicit/hem_table.h"

/* [BH93 Table 2]: the only method of order 3 with three stages. */
static const double hem3_a[4][HEM_STAGES] = {{0.0}, {1.0 / 3.0}, {-1.0, 2.0}, {0.0, 0.75, 0.25}};
static const double hem3_c[4] = {0.0, 1.0 / 3.0, 1.0, 1.0};
static const double hem3_zeta[3] = {1.0 / 6.0, 1.0 / 3.0, 1.0};

const hem_table hem3_table = {
    .stages = 3,
    .order = 3,
    .stable = 2.5127,
    .error_order = 2,
    .transversal = true,
    .a = hem3_a,
    .a_bar = hem3_a + 1,
    .c = hem3_c,
    .c_bar = hem3_c + 1,
    .zeta = hem3_zeta,
    .error = {0.0, -0.75, 0.25},
    .error_start = 0.5,
};

/* [BH93 Table 5], w = sqrt(6): rows ((1 + w)/30, (11 - 4w)/30), .. to 21 digits. */
static const double hem4_a[6][HEM_STAGES] = {
    {0.0},
    {0.3},
    {0.114982991426105936607, 0.0400680342955762535737},
    {-1.03289454684185680696, -0.359931965704423746426, 2.03777548682459836321},
    {4.37457478565264841516, 1.52440469991370778123, -6.53660704987056167185,
     1.63762756430420547545},
    {0.0, 0.0, 0.37640306270046727505, 0.512485826188421613839, 1.0 / 9.0}};
static const double hem4_c[6] = {0.0, 0.3, 0.15505102572168219018, 0.64494897427831780982,
                                 1.0, 1.0};
static const double hem4_zeta[5] = {0.15, -0.130454076850486028838, 0.15505102572168219018,
                                    0.64494897427831780982, 1.0};

/* What all methods with the coefficients of [BH93 Table 5] share. */
#define HEM4_COEFFICIENTS                                                                          \
    .stages = 5, .order = 4, .stable = 5.3649, .a = hem4_a, .a_bar = hem4_a + 1, .c = hem4_c,      \
    .c_bar = hem4_c + 1, .zeta = hem4_zeta

/* The embedded solution is the quadrature of order 3 on the slopes at 0, c3, c4. */
#define HEM4_QUADRATURE                                                                            \
    .error_order = 3, .transversal = true,                                                         \
    .error = {0.0, 0.0, 0.519359401574974127477, -0.297137179352751905255, 1.0 / 9.0},             \
    .error_start = -1.0 / 3.0

const hem_table hem4_table = {HEM4_COEFFICIENTS, HEM4_QUADRATURE};

/* z = Z_5, of order 2: it meets condition 1 of [BH93 Table 4], and not those of the next order. */
const hem_table hem4_stage_table = {HEM4_COEFFICIENTS, HEM4_QUADRATURE, .last_stage = true};

/* The code of the article: the embedded solution is Y_5, of order 2 and on the manifold (6.1). */
const hem_table hem4_published_table = {
    HEM4_COEFFICIENTS,
    .error_order = 2,
    .published = true,
    .error = {-4.37457478565264841516, -1.52440469991370778123, 6.91301011257102894690,
              -1.12514173811578386161, 1.0 / 9.0},
};

/* Brasey's method [Bra94], as in his code HEM5; its 16 digits brought to 21 by Newton's method on
 * the 76 order conditions, c2, c3, c6, c7, c8 held fixed. */
static const double hem5_a[9][HEM_STAGES] = {
    {0.0},
    {0.1},
    {0.0375, 0.1125},
    {0.322216923621601669039, -1.18888332298759898628, 1.22814513402336043888},
    {-0.0350112389812982684141, 0.372542060108611057567, -0.272105353558198918112,
     0.0199303757857503697759},
    {-0.557654705504192513684, 1.36730728964589903944, -1.73223636046072388815,
     0.458777200746756681709, 0.963806575572260680687},
    {0.0865451719356432600008, -0.088100828479457920443, 0.198127554732911529736,
     -0.464542267933107088609, 0.161517009110998651871, 0.906453360633011567444},
    {0.0, 0.0, 0.0, 3.62447724875387538594, -0.461772418918293995826, -3.19802462816433377483,
     1.03531979832875238472},
    {0.0, 0.0, 0.0, 0.246776066763679629907, 0.210659408748972759825, 0.176921814912500849031,
     0.306444644414793488008, 0.0591980651600532732296}};
static const double hem5_c[9] = {
    0.0, 0.1, 0.15, 0.361478734657363121637, 0.0853558433548642408164, 0.5, 0.8, 1.0, 1.0};
static const double hem5_zeta[8] = {0.05,
                                    1.0 / 12.0,
                                    0.120748108480320646806,
                                    0.361478734657363121637,
                                    0.0853558433548642408164,
                                    0.5,
                                    0.8,
                                    1.0};

/* Y_8 is on the manifold and of order 3; 5/2 k_7 - 3/2 k_8 is the coarser quadrature [Bra94]. */
const hem_table hem5_table = {
    .stages = 8,
    .order = 5,
    .stable = 3.2559,
    .error_order = 4,
    .a = hem5_a,
    .a_bar = hem5_a + 1,
    .c = hem5_c,
    .c_bar = hem5_c + 1,
    .zeta = hem5_zeta,
    .error = {0.0, 0.0, 0.0, -3.37770118199019575603, 0.672431827667266755651,
              3.37494644307683462386, -0.728875153913958896713, 0.0591980651600532732296},
    .coarse = {0.0, 0.0, 0.0, 0.246776066763679629907, 0.210659408748972759825,
               0.176921814912500849031, -2.19355535558520651199, 1.55919806516005327323},
    .middle = 0.5,
    .dense = {0.0, 0.0, 0.0, 0.187482532802559701629, 0.269108503524637773894,
              0.0884609074562504245155, -0.0191527902759245930005, -0.0258991535075233070379},
    .dense_start = -0.03125,
    .dense_end = 0.03125,
};

/* phem5: partitioned, of order 5 [Mur97], [AM98]. The explicit stages are those of Dormand and
 * Prince [DP80]; each of the stages 2 .. 6 fixes its multiplier by a constraint at a point of its
 * own, abar, and stage 1 is the slope that ended the step before. So there are five stage equations
 * and one for the slope at the end, where HEM5 has eight and one. The table is that of the code
 * PHEM56; it satisfies all 110 conditions of order 5 for partitioned methods in rational
 * arithmetic. */
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
