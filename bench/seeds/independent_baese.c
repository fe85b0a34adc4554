/* The pendulum of Table 1 of seed 004, integrated by a program that shares nothing with the
 * library: the algorithm as it is printed, over long doubles, with the derivatives of (4.5) and
 * (4.6) written out. */
#include "independent_baese.h"

#include <math.h>
#include <string.h>

typedef long double real;
enum { N = 5, STAGES = 5 };

typedef struct system_of {
    int m;          /* constraints: 3 of (4.5), 1 of (4.6) */
    bool chosen[N]; /* algebraic components */
    real tolerance; /* of Newton's iteration */
    real gravity;
} system_of;

/* Constraints in the order of (4.5): position, velocity, acceleration; of (4.6) the last alone */
static void constraints(const system_of *s, const real *u, real *g)
{
    real all[3] = {u[0] * u[0] + u[1] * u[1] - 1, 2 * u[0] * u[2] + 2 * u[1] * u[3],
                   2 * u[2] * u[2] + 2 * u[3] * u[3] - 4 * (u[0] * u[0] + u[1] * u[1]) * u[4] -
                       2 * s->gravity * u[1]};
    memcpy(g, all + 3 - s->m, (size_t)s->m * sizeof *g);
}

static void jacobian(const system_of *s, const real *u, real (*J)[N])
{
    real all[3][N] = {{2 * u[0], 2 * u[1], 0, 0, 0},
                      {2 * u[2], 2 * u[3], 2 * u[0], 2 * u[1], 0},
                      {-8 * u[0] * u[4], -8 * u[1] * u[4] - 2 * s->gravity, 4 * u[2], 4 * u[3],
                       -4 * (u[0] * u[0] + u[1] * u[1])}};
    memcpy(J, all + 3 - s->m, (size_t)s->m * sizeof *J);
}

static void slope(const system_of *s, const real *u, real *up)
{
    up[0] = u[2];
    up[1] = u[3];
    up[2] = -2 * u[0] * u[4];
    up[3] = -2 * u[1] * u[4] - s->gravity;
    up[4] = 0;
}

/* Procedure 3.11: lambda first, then the largest entry that is left. */
static void choose(system_of *s, const real *u)
{
    real J[3][N];
    bool used[3] = {false};
    jacobian(s, u, J);
    memset(s->chosen, 0, sizeof s->chosen);
    for (int k = 0; k < s->m; k++) {
        int row = -1, column = -1;
        for (int i = 0; i < s->m; i++)
            for (int j = 0; j < N; j++) {
                if (used[i] || s->chosen[j] || (k == 0 && j != 4)) continue;
                if (row < 0 || fabsl(J[i][j]) > fabsl(J[row][column])) row = i, column = j;
            }
        used[row] = s->chosen[column] = true;
        for (int i = 0; i < s->m; i++) {
            if (used[i]) continue;
            real factor = J[i][column] / J[row][column];
            for (int j = 0; j < N; j++) J[i][j] -= factor * J[row][j];
        }
    }
}

/* x = A^-1 b, by elimination with row exchanges */
static void solve(int m, real (*A)[3], real *b)
{
    for (int k = 0; k < m; k++) {
        int p = k;
        for (int i = k + 1; i < m; i++)
            if (fabsl(A[i][k]) > fabsl(A[p][k])) p = i;
        for (int j = 0; j < m; j++) {
            real keep = A[k][j];
            A[k][j] = A[p][j], A[p][j] = keep;
        }
        real keep = b[k];
        b[k] = b[p], b[p] = keep;
        for (int i = k + 1; i < m; i++) {
            real factor = A[i][k] / A[k][k];
            for (int j = k; j < m; j++) A[i][j] -= factor * A[k][j];
            b[i] -= factor * b[k];
        }
    }
    for (int k = m - 1; k >= 0; k--) {
        for (int j = k + 1; j < m; j++) b[k] -= A[k][j] * b[j];
        b[k] /= A[k][k];
    }
}

/* Newton's iteration for the algebraic components, to the end. */
static bool newton(const system_of *s, real *u)
{
    for (int k = 0; k < 100; k++) {
        real g[3], J[3][N], A[3][3], size = 0;
        constraints(s, u, g);
        jacobian(s, u, J);
        for (int i = 0; i < s->m; i++) {
            size += g[i] * g[i];
            for (int j = 0, to = 0; j < N; j++)
                if (s->chosen[j]) A[i][to++] = J[i][j];
        }
        solve(s->m, A, g);
        for (int j = 0, from = 0; j < N; j++)
            if (s->chosen[j]) u[j] -= g[from++];
        if (sqrtl(size) < s->tolerance) return true;
        if (!isfinite(size)) return false;
    }
    return false;
}

/* Algorithm 3.3 with the table of HEM4 */
static bool step(system_of *s, const real *u0, real h, real *u1)
{
    const real r = sqrtl(6.0L);
    const real a[STAGES + 1][STAGES] = {
        {0},
        {0.3L},
        {(1 + r) / 30, (11 - 4 * r) / 30},
        {(-79 - 31 * r) / 150, (-1 - 4 * r) / 30, (24 + 11 * r) / 25},
        {(14 + 5 * r) / 6, (-8 + 7 * r) / 6, (-9 - 7 * r) / 4, (9 - r) / 4},
        {0, 0, (16 - r) / 36, (16 + r) / 36, 1.0L / 9}};
    real K[STAGES][N], u[N];
    memcpy(u, u0, sizeof u);
    choose(s, u0);
    for (int i = 0; i <= STAGES; i++) {
        for (int j = 0; j < N; j++) {
            if (s->chosen[j]) continue;
            u[j] = u0[j];
            for (int k = 0; k < i; k++) u[j] += h * a[i][k] * K[k][j];
        }
        if (i > 0 && !newton(s, u)) return false;
        if (i < STAGES) slope(s, u, K[i]);
    }
    memcpy(u1, u, sizeof u);
    return true;
}

bool independent_baese(int constraint_count, double tf, double beta, double eps0, double *error,
                       double *steps)
{
    system_of s = {.m = constraint_count, .tolerance = 1e-15L, .gravity = 13.7503716373294544L};
    real u[N] = {-1}, full[N], half[N], two[N], t = 0, h = 0.01L, e0 = eps0;
    long accepted = 0;
    while (t < tf) {
        bool last = t + h >= tf;
        if (last) h = tf - t;
        if (!step(&s, u, h, full) || !step(&s, u, h / 2, half) || !step(&s, half, h / 2, two))
            return false;
        real sum = 0;
        for (int j = 0; j < N; j++) sum += (full[j] - two[j]) * (full[j] - two[j]);
        real e = sqrtl(sum) / 15;
        if (!(e <= e0)) {
            h *= beta * powl(e0 / e, 0.25L);
            if (!(h > 1e-12L)) return false;
            continue;
        }
        memcpy(u, full, sizeof u);
        t = last ? tf : t + h;
        accepted++;
        h *= beta * powl(e0 / e, 0.2L);
    }
    *error = (double)sqrtl((u[0] + 1) * (u[0] + 1) + u[1] * u[1] + u[2] * u[2] + u[3] * u[3] +
                           u[4] * u[4]);
    *steps = (double)(accepted + 1);
    return true;
}

/* ---- (4.1) ---- */

/* x^2 + y^2 = 1 by x or y, then x y = sin(t) y z by z */
static void close_selector(bool by_x, real t, real *u)
{
    if (by_x)
        u[0] = sqrtl(1 - u[1] * u[1]);
    else
        u[1] = sqrtl(1 - u[0] * u[0]);
    u[2] = u[0] / sinl(t);
}

double independent_baese_selector(int order, int n, double from, double to)
{
    static const real a[4][5][4] = {
        {{0}, {1}},
        {{0}, {1}, {0.5L, 0.5L}},
        {{0}, {0.5L}, {-1, 2}, {1.0L / 6, 2.0L / 3, 1.0L / 6}},
        {{0}, {0.5L}, {0, 0.5L}, {0, 0, 1}, {1.0L / 6, 1.0L / 3, 1.0L / 3, 1.0L / 6}}};
    const real(*A)[4] = a[order - 1];
    real x[3] = {sinl(from), cosl(from), 1}, h = ((real)to - from) / n;
    for (int step = 0; step < n; step++) {
        real K[4][2], u[3] = {x[0], x[1], x[2]};
        bool by_x = fabsl(x[0]) > fabsl(x[1]);
        for (int i = 0; i <= order; i++) {
            real c = i == order ? 1 : 0;
            for (int j = 0; j < i && i < order; j++) c += A[i][j];
            real t = from + (step + c) * h;
            u[0] = x[0], u[1] = x[1];
            for (int j = 0; j < i; j++)
                for (int k = 0; k < 2; k++) u[k] += h * A[i][j] * K[j][k];
            if (i > 0) close_selector(by_x, t, u);
            if (i < order) K[i][0] = u[1], K[i][1] = -sinl(t) * u[2];
        }
        memcpy(x, u, sizeof x);
    }
    real e[3] = {x[0] - sinl(to), x[1] - cosl(to), x[2] - 1};
    return (double)sqrtl(e[0] * e[0] + e[1] * e[1] + e[2] * e[2]);
}
