#include "method/multistep/bdf2nd_tables.h"

#include <math.h>
#include <stdbool.h>

/* Newton's divided differences in place: v[i] becomes v[t_0, .., t_i] */
static void divided_differences(int k, const double *t, double *v)
{
    for (int level = 1; level <= k; level++)
        for (int i = k; i >= level; i--) v[i] = (v[i] - v[i - 1]) / (t[i] - t[i - level]);
}

/* d-th derivative of x^p */
static double power_derivative(double x, int p, int d)
{
    double factor = 1.0;
    for (int i = 0; i < d; i++) factor *= p - i;
    return p < d ? 0.0 : factor * pow(x, p - d);
}

/* The derivative of t^p of the given level as the method holds it at node 0. */
static double held(int level, int p, int nodes, const double *t, const int *accuracy)
{
    int k = accuracy[0];
    if (level == 0 || k >= p - level + 1) return power_derivative(t[0], p, level);
    double alpha[MODIFIED_MOST + 1], v[MODIFIED_MOST + 1], sum = 0.0;
    modified_coefficients(level, k, nodes, t, accuracy, alpha);
    for (int i = 0; i <= k; i++) v[i] = held(level - 1, p, nodes - i, t + i, accuracy + i);
    divided_differences(k, t, v);
    for (int i = 1; i <= k; i++) sum += alpha[i] * v[i];
    return sum;
}

/* Solve the k x k system A x = b in place by elimination with row exchanges; false: singular. */
static bool solve_small(int k, double A[][MODIFIED_MOST], double *b)
{
    for (int c = 0; c < k; c++) {
        int p = c;
        for (int r = c + 1; r < k; r++)
            if (fabs(A[r][c]) > fabs(A[p][c])) p = r;
        if (A[p][c] == 0.0) return false;
        for (int j = 0; j < k; j++) {
            double swap = A[c][j];
            A[c][j] = A[p][j];
            A[p][j] = swap;
        }
        double swap = b[c];
        b[c] = b[p];
        b[p] = swap;
        for (int r = c + 1; r < k; r++) {
            double factor = A[r][c] / A[c][c];
            for (int j = c; j < k; j++) A[r][j] -= factor * A[c][j];
            b[r] -= factor * b[c];
        }
    }
    for (int c = k - 1; c >= 0; c--) {
        for (int j = c + 1; j < k; j++) b[c] -= A[c][j] * b[j];
        b[c] /= A[c][c];
    }
    return true;
}

static double row_sum_norm(int k, double A[][MODIFIED_MOST])
{
    double most = 0.0;
    for (int r = 0; r < k; r++) {
        double sum = 0.0;
        for (int c = 0; c < k; c++) sum += fabs(A[r][c]);
        most = fmax(most, sum);
    }
    return most;
}

/* 1 / (||A|| ||A^-1||) in the row sum norm */
static double reciprocal_condition(int k, double A[][MODIFIED_MOST])
{
    double inverse[MODIFIED_MOST][MODIFIED_MOST] = {{0.0}};
    for (int c = 0; c < k; c++) {
        double copy[MODIFIED_MOST][MODIFIED_MOST], b[MODIFIED_MOST] = {0.0};
        for (int r = 0; r < k; r++)
            for (int j = 0; j < k; j++) copy[r][j] = A[r][j];
        b[c] = 1.0;
        if (!solve_small(k, copy, b)) return 0.0;
        for (int r = 0; r < k; r++) inverse[r][c] = b[r];
    }
    return 1.0 / (row_sum_norm(k, A) * row_sum_norm(k, inverse));
}

/* Conditions (3.22) for t^level .. t^(level+k-1), in the time tau = (t - t_n) / h. */
double modified_coefficients(int level, int k, int nodes, const double *t, const int *accuracy,
                             double *alpha)
{
    double h = fabs(t[0] - t[1]), tau[MODIFIED_NODES];
    for (int m = 0; m < nodes; m++) tau[m] = (t[m] - t[0]) / h;
    alpha[0] = 0.0;
    if (level == 1) { /* (3.20) */
        double product = 1.0;
        for (int i = 1; i <= k; i++) {
            alpha[i] = product;
            product *= t[0] - t[i];
        }
        return 1.0;
    }
    double A[MODIFIED_MOST][MODIFIED_MOST], b[MODIFIED_MOST] = {0.0};
    for (int s = 1; s <= k; s++) {
        double v[MODIFIED_MOST + 1];
        for (int i = 0; i <= k; i++)
            v[i] = held(level - 1, s + level - 1, nodes - i, tau + i, accuracy + i);
        divided_differences(k, tau, v);
        for (int i = 1; i <= k; i++) A[s - 1][i - 1] = v[i];
        b[s - 1] = power_derivative(0.0, s + level - 1, level);
    }
    double condition = reciprocal_condition(k, A);
    if (!solve_small(k, A, b)) return 0.0;
    for (int i = 1; i <= k; i++) alpha[i] = b[i - 1] * pow(h, i - 1);
    return condition;
}

void modified_weights(int k, const double *t, const double *alpha, double *weight)
{
    for (int m = 0; m <= k; m++) {
        weight[m] = 0.0;
        for (int i = m > 1 ? m : 1; i <= k; i++) { /* z_m in the i-th divided difference */
            double product = 1.0;
            for (int j = 0; j <= i; j++)
                if (j != m) product *= t[m] - t[j];
            weight[m] += alpha[i] / product;
        }
    }
}
