/* SDIRK methods: L-stable, stiffly accurate, b the last row of A. From fractions and roots with 50
 * digits. The weights between steps satisfy the conditions of order 3 (5 stages) or 2, and with 3
 * and 5 stages sum b_i(x) w_ij c_j^2 = x^2, W = A^-1, for algebraic variables of index 1. */
#include "method/implicit/sdirk.h"

/* 2 stages, order 2, embedded order 1 [Alex77] */
const sdirk_table sdirk_sdirk2 = {
    .stages = 2,
    .order = 2,
    .gamma = 0.2928932188134524756,
    .c = {0.2928932188134524756, 1.0},
    .a = {0.7071067811865475244},
    .e = {-0.2928932188134524756, 0.2928932188134524756},
    .dense = {{1.4142135623730950488, -0.4142135623730950488},
              {-0.7071067811865475244, 0.7071067811865475244}},
};

/* 3 stages, order 3 [Alex77], embedded order 2 */
const sdirk_table sdirk_sdirk3 = {
    .stages = 3,
    .order = 3,
    .gamma = 0.43586652150845899942,
    .c = {0.43586652150845899942, 0.71793326075422949971, 1.0},
    .a = {0.28206673924577050029, 1.2084966491760100703, -0.64436317068446906975},
    .e = {0.43586652150845899942, -0.87173304301691799883, 0.43586652150845899942},
    .dense = {{2.8134049597494878523, -2.0815496641638735628, 0.26814470441438571048},
              {-1.604908310573477782, 1.437186493479404493, 0.16772181709407328894}},
};

/* 5 stages, order 4, embedded order 3 [HW96 IV.6, Table 6.5] */
const sdirk_table sdirk_sdirk4 = {
    .stages = 5,
    .order = 4,
    .gamma = 0.25,
    .c = {0.25, 0.75, 0.55, 0.5, 1.0},
    .a = {0.5, 0.34, -0.04, 0.27279411764705882353, -0.050367647058823529412,
          0.027573529411764705882, 1.0416666666666666667, -1.0208333333333333333, 7.8125,
          -7.0833333333333333333},
    .e = {-0.1875, -0.84375, 0.78125, 0.0, 0.25},
    .dense = {{3.03125, 2.640625, -4.296875, 1.5085394628253028957e-49, -0.375},
              {-3.40625, -10.453125, 33.984375, -21.25, 1.125},
              {1.4166666666666666667, 6.7916666666666666667, -21.875, 14.166666666666666667, -0.5}},
};

/* 3 stages, order 2: three steps of implicit Euler, each h/3 long, with weights of order 2 for
 * which R(infinity) = 0; embedded order 1, their end. It has what [BCP96 Table 4.3.1] prints of the
 * method of Houbak and Thomsen: r = 0, k_d = 2, k_a1 = 1, k_I = 1; their own coefficients are in a
 * report that the book does not print. */
const sdirk_table sdirk_houbak = {
    .stages = 3,
    .order = 2,
    .gamma = 1.0 / 3.0,
    .c = {1.0 / 3.0, 2.0 / 3.0, 1.0},
    .a = {1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0},
    .b = {1.0 / 3.0, 5.0 / 6.0, -1.0 / 6.0},
    .e = {0.0, 0.5, -0.5},
    .dense = {{2.0, -1.0, 0.0}, {-5.0 / 3.0, 11.0 / 6.0, -1.0 / 6.0}},
};
