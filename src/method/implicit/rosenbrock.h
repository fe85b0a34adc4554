/* Rosenbrock methods for F(t, y, y') = 0: linear systems only, one matrix a step.
 *
 * With z = y' the system y' = z, 0 = F(t, y, z) is of the form that the methods are made for. Its
 * stages U_i (of y) and V_i (of z) satisfy, with the coefficients of [HW96 IV.7] and
 * cj = 1 / (gamma h),
 *
 * - Y_i = y + sum_{j<i} a_ij U_j, Z_i = z + sum_{j<i} a_ij V_j, S_i = Z_i + sum_{j<i} c_ij U_j / h,
 * - (dF/dy + cj dF/dy') U_i = dF/dy' S_i - F(t + alpha_i h, Y_i, Z_i) - gamma_i h dF/dt,
 * - V_i = cj U_i - S_i, y_1 = y + sum m_i U_i, z_1 = z + sum m_i V_i.
 *
 * If F = M y' - f(t, y) with constant M this is the method for M y' = f, and Z_i drops out.
 *
 * V_i is linear in z and U_1 .. U_i, so it is never formed: Z_i = zeta_i z + sum_{j<i} b_ij U_j / h
 *
 * - with zeta_i = 1 - sum_{j<i} a_ij zeta_j, b_ij = a_ij / gamma - sum_{j<k<i} a_ik (b_kj + c_kj),
 *
 * and z_1 likewise, with m in place of a. So all points of a stage are one product of a small
 * matrix with h z, U_1, .. */
#ifndef DAE_METHOD_IMPLICIT_ROSENBROCK_H
#define DAE_METHOD_IMPLICIT_ROSENBROCK_H

#include "method/common/method.h"

enum {
    ROSENBROCK_STAGES = 6,
    ROSENBROCK_ENTRIES = ROSENBROCK_STAGES * (ROSENBROCK_STAGES - 1) / 2
};

/* Strictly lower triangles by rows: entry (i, j), i > j, from 0, at [i (i-1) / 2 + j]. */
typedef struct rosenbrock_table {
    int stages, order; /* the embedded method has one less */
    double gamma;
    double a[ROSENBROCK_ENTRIES], c[ROSENBROCK_ENTRIES];
    double alpha[ROSENBROCK_STAGES], gamma_sum[ROSENBROCK_STAGES];
    double m[ROSENBROCK_STAGES], e[ROSENBROCK_STAGES]; /* y_1 - y and its error */
    bool within; /* stages evaluate F between the ends of a step, too */
    bool dense;  /* d1, d2 of cubic_value as sums over U_i, of order 3; else from slopes */
    double d1[ROSENBROCK_STAGES], d2[ROSENBROCK_STAGES];
} rosenbrock_table;

/* Rows over the columns h z, U_1, .. U_(i-1) for Y_i - y, h Z_i, h S_i, and over h z, U_1, .. U_s
 * for y_1 - y, h z_1, its error, d1, d2 */
typedef struct rosenbrock_mix {
    double stage[ROSENBROCK_STAGES][3 * ROSENBROCK_STAGES];
    double end[5 * (ROSENBROCK_STAGES + 1)];
} rosenbrock_mix;

void rosenbrock_mix_of(const rosenbrock_table *table, rosenbrock_mix *mix);

extern const rosenbrock_table rosenbrock_rodas, rosenbrock_rodasp, rosenbrock_rodas4p2,
    rosenbrock_rodas3;

#endif
