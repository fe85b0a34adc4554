/* Extrapolated linearly implicit Euler in 33 digits, apart from the library: one basic step H on
 *   y' = -y^2 + ((z q)^2 - 1) y,  s' = 1,  0 = -z^3 - y z + 1/q^3 + 1/((1 + s) q),  q = 1 + s/2,
 * from y = z = 1, s = 0, whose solution is y = 1/(1 + s), z = 1/q. */
#include "independent_extrapolation.h"

#include <math.h>

#ifdef __SIZEOF_FLOAT128__
__extension__ typedef __float128 digits;
#else
typedef long double digits;
#endif

enum { N = 3, ROWS = 10 };

static void right_side(const digits *u, digits *f)
{
    digits y = u[0], q = 1 + u[1] / 2, z = u[2];
    f[0] = -y * y + (z * q * z * q - 1) * y;
    f[1] = 1;
    f[2] = -z * z * z - y * z + 1 / (q * q * q) + 1 / ((1 + u[1]) * q);
}

static void derivatives(const digits *u, digits J[N][N])
{
    digits y = u[0], p = 1 + u[1], q = 1 + u[1] / 2, z = u[2];
    J[0][0] = -2 * y + z * q * z * q - 1;
    J[0][1] = z * z * q * y;
    J[0][2] = 2 * z * q * q * y;
    J[1][0] = J[1][1] = J[1][2] = 0;
    J[2][0] = -z;
    J[2][1] = -3 / (2 * q * q * q * q) - 1 / (p * p * q) - 1 / (2 * p * q * q);
    J[2][2] = -3 * z * z - y;
}

/* b := A^-1 b by Gaussian elimination; pivots are on the diagonal here. */
static void eliminate(digits A[N][N], digits *b)
{
    for (int k = 0; k < N; k++)
        for (int i = k + 1; i < N; i++) {
            digits factor = A[i][k] / A[k][k];
            for (int j = k; j < N; j++) A[i][j] -= factor * A[k][j];
            b[i] -= factor * b[k];
        }
    for (int i = N - 1; i >= 0; i--) {
        for (int j = i + 1; j < N; j++) b[i] -= A[i][j] * b[j];
        b[i] /= A[i][i];
    }
}

/* (B - h J) (u_m+1 - u_m) = h f(u_m), B = diag(1, 1, 0), J at the start; u := u_count */
static void small_steps(digits H, int count, digits *u)
{
    digits J[N][N], h = H / count;
    derivatives(u, J);
    for (int m = 0; m < count; m++) {
        digits A[N][N], d[N];
        right_side(u, d);
        for (int i = 0; i < N; i++) {
            for (int j = 0; j < N; j++) A[i][j] = (i == j && i < 2) - h * J[i][j];
            d[i] *= h;
        }
        eliminate(A, d);
        for (int i = 0; i < N; i++) u[i] += d[i];
    }
}

/* T_jk of variable `which`, with 1, 2, 3, .. small steps */
static void tableau(digits H, int which, digits T[ROWS][ROWS])
{
    for (int j = 0; j < ROWS; j++) {
        digits u[N] = {1, 0, 1};
        small_steps(H, j + 1, u);
        T[j][0] = u[which];
        for (int k = 1; k <= j; k++)
            T[j][k] =
                T[j][k - 1] + (T[j][k - 1] - T[j - 1][k - 1]) / ((digits)(j + 1) / (j + 1 - k) - 1);
    }
}

void independent_tableau(double H, int which, double T[ROWS][ROWS])
{
    digits all[ROWS][ROWS];
    tableau(H, which, all);
    for (int j = 0; j < ROWS; j++)
        for (int k = 0; k <= j; k++) T[j][k] = (double)all[j][k];
}

void independent_tableau_orders(int which, double order[ROWS][ROWS])
{
    digits T[2][ROWS][ROWS], H[2] = {(digits)1 / 512, (digits)1 / 1024}, exact[2];
    for (int half = 0; half < 2; half++) {
        tableau(H[half], which, T[half]);
        exact[half] = which == 0 ? 1 / (1 + H[half]) : 1 / (1 + H[half] / 2);
    }
    for (int j = 0; j < ROWS; j++)
        for (int k = 0; k <= j; k++) {
            double ratio = (double)((T[0][j][k] - exact[0]) / (T[1][j][k] - exact[1]));
            order[j][k] = log2(fabs(ratio));
        }
}
