/* Modified BDF of orders 1 and 2 by Table 3.3, Newton with a matrix of every iterate, error test
 * and steps of chapter 4, output by (4.31). Unknowns x = (q1, q2, lambda), velocities from
 * differences of positions. */
#include "independent_second_order.h"

#include <math.h>
#include <stdbool.h>

enum { MOST = 400, N = 5 };

typedef struct circle_run {
    int count;         /* points */
    double t[MOST];    /* newest last */
    double y[MOST][N]; /* q1, q2, lambda, q1', q2' */
    double h;
    int failures;
} circle_run;

/* l_i(at) of `count` nodes, newest first from point `last` on; or its derivative */
static double lagrange(const circle_run *r, int last, int count, int i, double at, bool slope)
{
    double ti = r->t[last - i], value = 1.0, derivative = 0.0;
    for (int j = 0; j < count; j++) {
        if (j == i) continue;
        double d = ti - r->t[last - j];
        derivative = derivative * (at - r->t[last - j]) / d + value / d;
        value *= (at - r->t[last - j]) / d;
    }
    return slope ? derivative : value;
}

static double polynomial(const circle_run *r, int last, int degree, int j, double at)
{
    double sum = 0.0;
    for (int i = 0; i <= degree; i++)
        sum += lagrange(r, last, degree + 1, i, at, false) * r->y[last - i][j];
    return sum;
}

/* alpha_1, alpha_2 of Table 3.3 for step number n = 1, 2, ..: BDF(2,1), BDF(3,1,2), BDF(1,2,2)
 * with its sign mended, then BDF(2,2,2) */
static void table_3_3(const circle_run *r, int n, double *a1, double *a2)
{
    const double *t = r->t + n;
    if (n == 1) {
        *a1 = 2.0;
        *a2 = 0.0;
        return;
    }
    double a = 2 * t[0] - t[-1] - t[-2], h1 = t[0] - t[-1], h2 = t[-1] - t[-2];
    if (n == 2) {
        *a1 = 2 * (t[-2] - t[0]) / a;
        *a2 = 2 * a;
        return;
    }
    double b = t[0] - t[-3], c = 2 * t[-1] - t[-2] - t[-3], d = 3 * t[0] - t[-1] - t[-2] - t[-3];
    double bracket = 2 * h1 * a - b * h2;
    if (n == 3) {
        *a1 = 2 * d * h1 * (t[-2] - t[-3]) / (a * b * c) + 2 * h2 / c;
        *a2 = 2 * (t[0] - t[-2]) * h2 * bracket / (c * a * b);
        return;
    }
    *a1 = 1.0;
    *a2 = (t[0] - t[-2]) * h2 * bracket / (a * b * h2 - h1 * (t[-1] - t[-4]) * (t[-2] - t[-3]));
}

/* One step's equations: velocities, then the residual of (8.1) */
typedef struct circle_step {
    double slope[3], bend[3]; /* q1_n = sum slope_i q_{n-i}, q2_n = sum bend_i q1_{n-i} */
    int order;
} circle_step;

static void discretise(const circle_run *r, int n, circle_step *s)
{
    double a1, a2, h1 = r->t[n] - r->t[n - 1];
    s->order = n == 1 ? 1 : 2;
    for (int i = 0; i <= s->order; i++)
        s->slope[i] = lagrange(r, n, s->order + 1, i, r->t[n], true);
    table_3_3(r, n, &a1, &a2);
    s->bend[0] = a1 / h1;
    s->bend[1] = -a1 / h1;
    if (n == 1) return;
    double h2 = r->t[n - 1] - r->t[n - 2], h12 = h1 + h2;
    s->bend[0] += a2 / (h1 * h12);
    s->bend[1] -= a2 / (h1 * h2);
    s->bend[2] = a2 / (h2 * h12);
}

static void residual(const circle_run *r, int n, const circle_step *s, double *y, double *F)
{
    double a[2];
    for (int j = 0; j < 2; j++) {
        y[3 + j] = s->slope[0] * y[j];
        for (int i = 1; i <= s->order; i++) y[3 + j] += s->slope[i] * r->y[n - i][j];
        a[j] = s->bend[0] * y[3 + j];
        for (int i = 1; i <= s->order; i++) a[j] += s->bend[i] * r->y[n - i][3 + j];
    }
    F[0] = a[0] + y[0] + 2 * y[0] * y[3] * y[4] + 2 * y[0] * y[2];
    F[1] = a[1] + y[3] - 2 * y[0] * y[1] * y[1] + 2 * y[1] * y[2];
    F[2] = y[0] * y[0] + y[1] * y[1] - 1;
}

/* Cramer's rule for the matrix with columns J[0], J[1], J[2] */
static void solve3(double J[3][3], const double *b, double *x)
{
    double det[4];
    for (int k = 0; k < 4; k++) {
        const double *c[3] = {J[0], J[1], J[2]};
        if (k < 3) c[k] = b;
        det[k] = c[0][0] * (c[1][1] * c[2][2] - c[1][2] * c[2][1]) -
                 c[1][0] * (c[0][1] * c[2][2] - c[0][2] * c[2][1]) +
                 c[2][0] * (c[0][1] * c[1][2] - c[0][2] * c[1][1]);
    }
    for (int k = 0; k < 3; k++) x[k] = det[k] / det[3];
}

/* y_n by Newton's method from the predictor (4.12); matrices by central differences */
static void corrector(circle_run *r, int n)
{
    circle_step s;
    double *y = r->y[n], F[3], plus[3], minus[3], J[3][3], d[3], moved[N];
    static const double first[3] = {1.0, 0.0, 1.0}; /* q1', q2', lambda' at the start */
    discretise(r, n, &s);
    for (int j = 0; j < 3; j++)
        y[j] =
            n == 1 ? r->y[0][j] + r->h * first[j] : polynomial(r, n - 1, n > 2 ? 2 : 1, j, r->t[n]);
    for (int m = 0; m < 8; m++) {
        residual(r, n, &s, y, F);
        for (int j = 0; j < 3; j++) {
            for (int sign = 1; sign >= -1; sign -= 2) {
                for (int i = 0; i < 3; i++) moved[i] = y[i] + (i == j ? sign * 1e-6 : 0.0);
                residual(r, n, &s, moved, sign > 0 ? plus : minus);
            }
            for (int i = 0; i < 3; i++) J[j][i] = (plus[i] - minus[i]) / 2e-6;
        }
        solve3(J, F, d);
        for (int i = 0; i < 3; i++) y[i] -= d[i];
    }
    residual(r, n, &s, y, F);
}

/* ERR of (4.24) with m = 3 and WT literally as (4.20); 0 in the first four steps */
static double error_of(const circle_run *r, int n)
{
    static const double atol[N] = {1e-4, 1e-4, 1e-2, 1e-2, 1e-2};
    double sum = 0.0;
    if (n <= 4) return 0.0;
    for (int j = 0; j < N; j++) {
        double v = r->y[n][j] - polynomial(r, n - 1, 3, j, r->t[n]);
        sum += pow(v / (1e-4 * fabs(v) + atol[j]), 2.0);
    }
    return sqrt(sum / N);
}

/* One accepted step: four of them constant, then doubled; a quarter after every failure, and what
 * (4.26) says for the first step after one */
static void advance(circle_run *r)
{
    int n = r->count;
    for (;;) {
        r->t[n] = r->t[n - 1] + r->h;
        corrector(r, n);
        double error = error_of(r, n);
        if (error > 1.0) {
            r->failures++;
            r->h *= 0.25;
            continue;
        }
        double ratio = pow(2.0 * error, -1.0 / 3.0), factor = 2.0;
        if (n < 4)
            factor = 1.0;
        else if (r->failures > 0 && ratio < 2.0)
            factor = ratio > 1.0 ? 1.0 : fmax(0.5, fmin(0.9, ratio));
        r->h *= factor;
        r->failures = 0;
        r->count++;
        return;
    }
}

void independent_table_8_1(circle_output rows[10])
{
    static circle_run r;
    static const double start[N] = {0, 1, 0, 1, 0};
    r = (circle_run){.count = 1, .h = 1e-4};
    for (int j = 0; j < N; j++) r.y[0][j] = start[j];
    for (int i = 0; i < 10; i++) {
        double t = 0.1 * (i + 1);
        while (r.t[r.count - 1] < t && r.count < MOST) advance(&r);
        int last = r.count - 1;
        rows[i] = (circle_output){fabs(polynomial(&r, last, 5, 0, t) - sin(t)),
                                  fabs(polynomial(&r, last, 5, 2, t) - sin(t) * cos(t)), last};
    }
}
