/* Problems by lines of seed 003, 6.5, integrated by a program that shares nothing with the library:
 * each is brought by hand to an explicit ODE, y' = f(t, y), and takes many small steps of the
 * classical Runge-Kutta method. */
#include "independent_lines.h"

#include <math.h>
#include <string.h>

enum { MOST = 256 };

typedef void (*right_side)(double t, const double *y, double *yp, const void *data);

static void runge_kutta(int n, right_side f, const void *data, double t, double tend, long steps,
                        double *y)
{
    double k[4][MOST], at[MOST], h = (tend - t) / (double)steps;
    static const double c[] = {0, 0.5, 0.5, 1};
    for (long s = 0; s < steps; s++) {
        for (int i = 0; i < 4; i++) {
            for (int j = 0; j < n; j++) at[j] = y[j] + (i ? c[i] * h * k[i - 1][j] : 0);
            f(t + ((double)s + c[i]) * h, at, k[i], data);
        }
        for (int j = 0; j < n; j++) y[j] += h / 6 * (k[0][j] + 2 * k[1][j] + 2 * k[2][j] + k[3][j]);
    }
}

/* ---- ignition: y = T_0 .. T_{N-1}. The radii add up to the vessel's, so that
 *     p = 2 d R / (W radius^2) sum_{j>=1} T_j. ---- */

typedef struct gas {
    int N;
    double heat; /* 20, or 0 when the source is off */
} gas;

static double gas_pressure(int N, const double *T)
{
    double sum = 1; /* the wall */
    for (int j = 1; j < N; j++) sum += T[j];
    return sum / N; /* 2 d = 1/N */
}

static void gas_slope(double t, const double *T, double *slope, const void *data)
{
    const gas *g = data;
    const int N = g->N;
    const double cp = 3.5, lambda = 0.05, d = 0.5 / N, p = gas_pressure(N, T);
    double flux = 0, r = 0, sum = 0, weight = 0;
    (void)t;
    for (int j = 0; j < N; j++) {
        double next = j + 1 < N ? T[j + 1] : 1, here = p / T[j], there = p / next;
        double further = sqrt(r * r + 2 * d / there), middle = (r + further) / 2;
        double out = (here + there) / 2 * middle * middle * lambda * (next - T[j]) / d;
        double reach = j * d * 12;
        slope[j] = (out - flux) / (cp * d) + g->heat * exp(-reach * reach) / cp;
        flux = out, r = further;
        if (j > 0) sum += slope[j], weight += T[j];
    }
    /* T_j' = slope_j + p' T_j / (p cp), p' = (sum of T_j', j >= 1) / N */
    double rate = sum / N / (1 - weight / (N * p * cp));
    for (int j = 0; j < N; j++) slope[j] += rate * T[j] / (p * cp);
}

double independent_ignition(int N, double *T)
{
    gas g = {.N = N, .heat = 20};
    for (int j = 0; j < N; j++) T[j] = 1;
    runge_kutta(N, gas_slope, &g, 0, 0.02, 20000, T);
    g.heat = 0;
    runge_kutta(N, gas_slope, &g, 0.02, 0.1, 80000, T);
    return gas_pressure(N, T);
}

/* ---- the flame: y = T, and x behind it if the mesh moves ---- */

static double reaction(double T)
{
    return 5 * exp(30.0) / 30 * (2 - T) * exp(-30 / T);
}

/* (6.5.9) */
static void moving_slope(double t, const double *y, double *yp, const void *data)
{
    const int N = *(const int *)data;
    const double *T = y, *x = y + N;
    (void)t;
    memset(yp, 0, 2 * (size_t)N * sizeof *yp);
    yp[0] = 2 * (T[1] - T[0]) / ((x[1] - x[0]) * (x[1] - x[0])) + reaction(T[0]);
    for (int i = 1; i < N - 1; i++) {
        double Tx = (T[i + 1] - T[i - 1]) / (x[i + 1] - x[i - 1]);
        double right = (T[i + 1] - T[i]) / (x[i + 1] - x[i]);
        double left = (T[i] - T[i - 1]) / (x[i] - x[i - 1]);
        double f = 2 * (right - left) / (x[i + 1] - x[i - 1]) + reaction(T[i]);
        yp[i] = f - Tx * f * Tx / (1 + Tx * Tx);
        yp[N + i] = -f * Tx / (1 + Tx * Tx);
    }
}

static void fixed_slope(double t, const double *T, double *Tp, const void *data)
{
    const int N = *(const int *)data;
    const double h = 1.0 / (N - 1);
    (void)t;
    Tp[0] = 2 * (T[1] - T[0]) / (h * h) + reaction(T[0]);
    for (int i = 1; i < N - 1; i++)
        Tp[i] = (T[i + 1] - 2 * T[i] + T[i - 1]) / (h * h) + reaction(T[i]);
    Tp[N - 1] = 0;
}

void independent_flame(int N, bool moving, double tend, double *y)
{
    for (int i = 0; i < N; i++) {
        y[i] = 1;
        if (moving) y[N + i] = (double)i / (N - 1);
    }
    runge_kutta(moving ? 2 * N : N, moving ? moving_slope : fixed_slope, &N, 0, tend,
                (long)(tend / 1e-6), y);
}

/* ---- the gas network: y = p_2, p_3, p_4 of every section ---- */

typedef struct network {
    int n;
    double demand;
} network;

/* q of k q |q| + b q = from^2 - to^2 */
static double flow(double from, double to)
{
    const double k = 0.02, b = 0.02, drop = from * from - to * to;
    double q = 2 * fabs(drop) / (b + sqrt(b * b + 4 * k * fabs(drop)));
    return drop < 0 ? -q : q;
}

static void network_slope(double t, const double *y, double *yp, const void *data)
{
    const network *w = data;
    const double c = 0.05, ratio = 1.015;
    double first = 2;
    (void)t;
    for (int s = 0; s < w->n; s++) {
        const double *p = y + 3 * s;
        double q1 = flow(first, p[0]), q2 = flow(p[0], p[1]), q3 = flow(p[1], p[2]);
        bool last = s == w->n - 1;
        double next = last ? 0 : ratio * p[2];
        yp[3 * s] = (q1 - q2) / c;
        yp[3 * s + 1] = (q2 - q3) / c;
        double beyond = last ? 0 : flow(next, p[3]);
        yp[3 * s + 2] = (q3 - w->demand - beyond) / (last ? c : c + c * ratio);
        first = next;
    }
}

void independent_network(int n, double *p)
{
    static const double time[] = {0, 6, 9, 17, 22, 24}, day[] = {0.5, 1.5, 1, 1.3, 0.5};
    network w = {.n = n};
    for (int i = 0; i < 3 * n; i++) p[i] = 2;
    for (int k = 0; k < 5; k++) {
        w.demand = 0.02 * day[k];
        runge_kutta(3 * n, network_slope, &w, time[k], time[k + 1],
                    (long)((time[k + 1] - time[k]) * 20000), p);
    }
}
