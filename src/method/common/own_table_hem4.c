/* Half-explicit methods of order 4 with five stages: the family of [BH93 section 4], c2 and c3
 * free. */
#include <math.h>
#include <stdio.h>

#include "base/diag.h"
#include "method/common/own_table.h"

/* Denominators below it count as 0. */
static const double SMALLEST = 1e-8;

/* x with m x = r by Cramer's rule; false: singular */
static bool solve3(const double m[3][3], const double r[3], double x[3])
{
    double minor[3][3], det = 0.0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const int a = (i + 1) % 3, b = (i + 2) % 3, c = (j + 1) % 3, d = (j + 2) % 3;
            minor[i][j] = m[a][c] * m[b][d] - m[a][d] * m[b][c];
        }
    for (int j = 0; j < 3; j++) det += m[0][j] * minor[0][j];
    if (!(fabs(det) > SMALLEST)) return false;
    for (int j = 0; j < 3; j++)
        x[j] = (r[0] * minor[0][j] + r[1] * minor[1][j] + r[2] * minor[2][j]) / det;
    return true;
}

/* Steps 1 and 2: c4, and b3, b4, b5 of the quadrature on c3, c4, 1 (4.2). */
static bool choose_weights(double c2, double c3, dae_table *t)
{
    if (!(fabs(2.0 - 6.0 * c3) > SMALLEST)) return false;
    const double c4 = (1.0 - 2.0 * c3) / (2.0 - 6.0 * c3);
    const double nodes[3][3] = {{1.0, 1.0, 1.0}, {c3, c4, 1.0}, {c3 * c3, c4 * c4, 1.0}};
    t->c[1] = c2;
    t->c[2] = c3;
    t->c[3] = c4;
    t->c[4] = 1.0;
    return solve3(nodes, (double[]){1.0, 0.5, 1.0 / 3.0}, t->b + 2) && fabs(t->b[4]) > SMALLEST;
}

/* Steps 3 and 4: a32 from C(2), a54 from D(1), the rest from (3.2), C(2) and (4.3) by (4.4). */
static bool choose_rows(dae_table *t)
{
    const double c2 = t->c[1], c3 = t->c[2], c4 = t->c[3];
    const double a32 = c3 * c3 / (2.0 * c2), a31 = c3 - a32;
    const double a54 = t->b[3] * (1.0 - c4) / t->b[4];
    if (!(fabs(a32) > SMALLEST)) return false;
    t->A[1][0] = c2;
    t->A[2][0] = a31;
    t->A[2][1] = a32;
    t->A[4][3] = a54;
    const double omega11 = 1.0 / c2, omega21 = -a31 * omega11 / a32;
    const double m[3][3] = {{1.0, 1.0, 1.0}, {0.0, c2, c3}, {omega11, omega21, 0.0}};
    return solve3(m, (double[]){c4, 0.5 * c4 * c4, 0.0}, t->A[3]) &&
           solve3(m, (double[]){1.0 - a54, 0.5 - a54 * c4, 0.0}, t->A[4]);
}

dae_status own_table_construct(double c2, double c3, dae_table *table, dae_diag *diag)
{
    table->stages = 5;
    table->order = 4;
    table->index = 2;
    snprintf(table->name, sizeof table->name, "hem of order 4, c2 = %.6g, c3 = %.6g", c2, c3);
    bool found = isfinite(c2) && isfinite(c3) && fabs(c2) > SMALLEST &&
                 choose_weights(c2, c3, table) && choose_rows(table);
    if (!found)
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "There is no half-explicit method of order 4 with c2 = %g and c3 = %g by "
                        "the construction of Brasey and Hairer: a denominator or the matrix of "
                        "(4.4) is zero.",
                        c2, c3);
    table->has_embedded = true; /* Y_5, which is at t + h and of order 2 (6.1) */
    for (int j = 0; j < 5; j++) table->embedded[j] = table->A[4][j];
    return own_table_complete(table, TABLE_HEM, diag);
}
