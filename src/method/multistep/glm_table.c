#include "method/multistep/glm.h"

#include <math.h>

/* Stage order and order 3, L-stable: found by a search for methods of this form that are A-stable,
 * have M(infinity) = 0 (as all of them), and whose B has the eigenvalue 1 and three small ones,
 * here below 0.021; B follows from the conditions of order, so that the digits of G and c do not
 * matter for the order. The first node lies a little before the step. */
const glm_table glm_peer4 = {.stages = 4,
                             .order = 3,
                             .c = {-0.02332924, 0.2405415, 0.64980759, 1.0},
                             .G = {{0.43476766, 0.0, 0.0, 0.0},
                                   {0.00102543, 0.43476766, 0.0, 0.0},
                                   {0.22986124, 0.0289858, 0.43476766, 0.0},
                                   {0.14929968, -0.17518236, 0.31101692, 0.43476766}}};

/* G_ij = g w_{i-j}, where w are the coefficients of 1/(1 - r_1 z - r_2 z^2 - ..), r_i =
 * -alpha_i/alpha_0 and g = 1/(s alpha_0) with alpha of [Wun05 Table 2.1] */
const glm_table glm_bdf2 = {.stages = 2,
                            .order = 2,
                            .c = {1.0 / 2.0, 1.0},
                            .G = {{1.0 / 3.0, 0.0}, {4.0 / 9.0, 1.0 / 3.0}}};

const glm_table glm_bdf3 = {.stages = 3,
                            .order = 3,
                            .c = {1.0 / 3.0, 2.0 / 3.0, 1.0},
                            .G = {{2.0 / 11.0, 0.0, 0.0},
                                  {36.0 / 121.0, 2.0 / 11.0, 0.0},
                                  {450.0 / 1331.0, 36.0 / 121.0, 2.0 / 11.0}}};

const glm_table glm_bdf4 = {
    .stages = 4,
    .order = 4,
    .c = {1.0 / 4.0, 1.0 / 2.0, 3.0 / 4.0, 1.0},
    .G = {{3.0 / 25.0, 0.0, 0.0, 0.0},
          {144.0 / 625.0, 3.0 / 25.0, 0.0, 0.0},
          {4212.0 / 15625.0, 144.0 / 625.0, 3.0 / 25.0, 0.0},
          {102576.0 / 390625.0, 4212.0 / 15625.0, 144.0 / 625.0, 3.0 / 25.0}}};

/* gamma the root of x^3 - 3 x^2 + 3/2 x - 1/6 between 1/6 and 1/2 [Alex77 Theorem 5] */
#define GAMMA 0.4358665215084589994160194511935568425
const glm_table glm_rk3 = {.stages = 3,
                           .order = 3,
                           .one_step = true,
                           .c = {GAMMA, (1.0 + GAMMA) / 2.0, 1.0},
                           .G = {{GAMMA, 0.0, 0.0},
                                 {(1.0 - GAMMA) / 2.0, GAMMA, 0.0},
                                 {(-6.0 * GAMMA * GAMMA + 16.0 * GAMMA - 1.0) / 4.0,
                                  (6.0 * GAMMA * GAMMA - 20.0 * GAMMA + 5.0) / 4.0, GAMMA}}};
#undef GAMMA

/* V B' = R by elimination with pivots, V s x s by rows */
static void solve_small(int s, double V[GLM_STAGES][GLM_STAGES], double R[GLM_STAGES][GLM_STAGES])
{
    for (int k = 0; k < s; k++) {
        int p = k;
        for (int i = k + 1; i < s; i++)
            if (fabs(V[i][k]) > fabs(V[p][k])) p = i;
        for (int j = 0; j < s; j++) {
            double v = V[k][j], r = R[k][j];
            V[k][j] = V[p][j], V[p][j] = v;
            R[k][j] = R[p][j], R[p][j] = r;
        }
        for (int i = 0; i < s; i++) {
            double factor = i == k ? 0.0 : V[i][k] / V[k][k];
            for (int j = 0; j < s && factor != 0.0; j++) {
                V[i][j] -= factor * V[k][j];
                R[i][j] -= factor * R[k][j];
            }
        }
    }
    for (int i = 0; i < s; i++)
        for (int j = 0; j < s; j++) R[i][j] /= V[i][i];
}

/* c_i^k - k sum_j g_ij c_j^(k-1): what B has to make of the old stages */
static double moment(const glm_table *m, int i, int k)
{
    double sum = pow(m->c[i], k);
    for (int j = 0; j <= i && k > 0; j++) sum -= k * m->G[i][j] * pow(m->c[j], k - 1);
    return sum;
}

void glm_weights(const glm_table *m, double r, double B[GLM_STAGES][GLM_STAGES])
{
    const int s = m->stages;
    double V[GLM_STAGES][GLM_STAGES], R[GLM_STAGES][GLM_STAGES];
    for (int i = 0; i < s; i++)
        for (int j = 0; j < s; j++) B[i][j] = j + 1 == s;
    if (m->one_step) return;
    for (int k = 0; k < s; k++)
        for (int j = 0; j < s; j++) {
            V[k][j] = pow((m->c[j] - 1.0) / r, k);
            R[k][j] = moment(m, j, k);
        }
    solve_small(s, V, R); /* R = B' */
    for (int i = 0; i < s; i++)
        for (int j = 0; j < s; j++) B[i][j] = R[j][i];
}

double glm_error_constant(const glm_table *m, double r, double B[GLM_STAGES][GLM_STAGES])
{
    const int s = m->stages;
    double most = 0.0, factorial = 1.0;
    for (int k = 2; k <= s; k++) factorial *= k;
    for (int i = 0; i < s; i++) {
        double sum = moment(m, i, s);
        for (int j = 0; j < s; j++) sum -= B[i][j] * pow((m->c[j] - 1.0) / r, s);
        most = fmax(most, fabs(sum) / factorial);
    }
    return most;
}
