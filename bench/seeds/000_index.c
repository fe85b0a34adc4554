/* Second order DAEs: index notions and condensed forms */
#include "independent_reduction.h"
#include "parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 16 };

/* ---- linear systems by matrices ---- */

/* Matrices are written by rows, A_0 first. NULL: the row failed. */
static dae_condensed *condense(seeds_run *run, int m, int n, int order, const double *const *rows)
{
    static double a[3][MOST * MOST];
    dae_linear_system s = {.m = m, .n = n, .order = order};
    dae_condensed *c = NULL;
    dae_diag diag = {0};
    for (int k = 0; k <= order; k++) {
        for (int i = 0; i < m * n; i++) a[k][i / n + i % n * m] = rows[k][i];
        s.a[k] = a[k];
    }
    return seeds_ok(run, dae_linear_condense(&s, &c, &diag), &diag) ? c : NULL;
}

/* An integer that must be what is printed */
static void count(seeds_run *run, const char *label, int ours, int printed)
{
    seeds_number(run, label, ours, printed, 0.0);
}

/* r, a, s, d, u, v of a step */
static void expect_step(seeds_run *run, const dae_condensed *c, int step, const int *printed)
{
    static const char *const names[] = {"r", "a", "s", "d", "u", "v"};
    const dae_characteristic *v = &c->steps[step];
    const int ours[] = {v->r, v->a, v->s01, v->d1, v->left, v->right};
    char label[40];
    for (int k = 0; k < 6; k++) {
        snprintf(label, sizeof label, "%s of step %d", names[k], step);
        count(run, label, ours[k], printed[k]);
    }
}

/* d^(k) of (f1, f2) = (exp(t/2), sin(2t)), and 0 behind them */
static const double TIME = 0.3;
static void right_side(int k, double *d)
{
    d[0] = pow(0.5, k) * exp(0.5 * TIME);
    d[1] = pow(2.0, k) * sin(2.0 * TIME + k * acos(0.0));
}

/* Of (delta1, delta2, delta3) = (f1, f2, exp(-t)) */
static void right_side3(int k, double *d)
{
    right_side(k, d);
    d[2] = (k % 2 ? -1.0 : 1.0) * exp(-TIME);
}

/* b = sum of left_k d^(k) of a system without strangeness */
static void reduced_right(const dae_condensed *c, void (*side)(int, double *), double *b)
{
    for (int i = 0; i < c->m; i++) b[i] = 0.0;
    for (int k = 0; k <= c->derivatives; k++) {
        double d[MOST] = {0};
        side(k, d);
        for (int i = 0; i < c->m; i++)
            for (int j = 0; j < c->m; j++) b[i] += c->left[k * c->m * c->m + i + j * c->m] * d[j];
    }
}

/* x of a[0] x = b, an algebraic system, by Gauss-Jordan with row interchanges */
static void solve(const dae_condensed *c, void (*side)(int, double *), double *x)
{
    const int n = c->n;
    double m[MOST * MOST];
    for (int i = 0; i < n * n; i++) m[i] = c->a[0][i];
    reduced_right(c, side, x);
    for (int k = 0; k < n; k++) {
        int top = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(m[i + k * n]) > fabs(m[top + k * n])) top = i;
        for (int j = 0; j <= n; j++) {
            double *a = j < n ? &m[k + j * n] : &x[k], *b = j < n ? &m[top + j * n] : &x[top];
            double swap = *a;
            *a = *b, *b = swap;
        }
        for (int i = 0; i < n; i++) {
            double factor = i == k ? 0.0 : m[i + k * n] / m[k + k * n];
            for (int j = 0; j < n; j++) m[i + j * n] -= factor * m[k + j * n];
            x[i] -= factor * x[k];
        }
    }
    for (int i = 0; i < n; i++) x[i] /= m[i + i * n];
}

/* ---- Example 2.1.3: (2.8) ---- */

static const double chain_E[] = {0, 1, 0, 0, 0, 1, 0, 0, 0},
                    chain_A[] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
static const double *const chain[] = {chain_A, chain_E};

/* "  differentiation  3 ..": the number of one notion on a model; -1: there is none */
static int notion(seeds_run *run, const char *model, const char *name)
{
    seeds_command_result r;
    if (!seeds_command(run, &r, "check models/%s.mo --index %s", model, name)) return -2;
    const char *line = strchr(r.out, '\n');
    int value = -1;
    if (line) sscanf(line, " %*s %d", &value);
    return value;
}

static void example_2_1_3(seeds_run *run)
{
    count(run, "d-index", notion(run, "seeds/nilpotent", "differentiation"), 3);
    dae_condensed *c = condense(run, 3, 3, 1, chain);
    if (!c) return;
    double d[3][3], z[MOST];
    for (int k = 0; k < 3; k++) right_side3(k, d[k]);
    solve(c, right_side3, z);
    seeds_number(run, "z1 = d1 - d2' + d3''", z[0], d[0][0] - d[1][1] + d[2][2], 1e-13);
    seeds_number(run, "z2 = d2 - d3'", z[1], d[0][1] - d[1][2], 1e-13);
    seeds_number(run, "z3 = d3", z[2], d[0][2], 1e-13);
    dae_condensed_free(c);
}

/* ---- condensed forms of pairs ---- */

/* s, d, a, s, u rows and s, d, a, v columns of (2.11), and a pair that is equivalent by (2.10):
 * P E Q, P A Q - P E S. By rows. */
enum { S = 2, D = 1, A = 2, U = 1, V = 2, ROWS = S + D + A + S + U, COLUMNS = S + D + A + V };

/* Deterministic, near the identity */
static double mixing(int i, int j)
{
    return (i == j) + 0.3 * sin(1.0 + 3.0 * i + 7.0 * j);
}

static void mixed(const double *X, double *out) /* P X Q */
{
    double left[ROWS * COLUMNS];
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++) {
            left[i * COLUMNS + j] = 0.0;
            for (int k = 0; k < ROWS; k++)
                left[i * COLUMNS + j] += mixing(i, k) * X[k * COLUMNS + j];
        }
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++) {
            out[i * COLUMNS + j] = 0.0;
            for (int k = 0; k < COLUMNS; k++)
                out[i * COLUMNS + j] += left[i * COLUMNS + k] * mixing(k + 20, j + 20);
        }
}

static void equivalent_pair(double *E, double *B)
{
    double e[ROWS * COLUMNS] = {0}, b[ROWS * COLUMNS] = {0}, es[ROWS * COLUMNS] = {0};
    for (int i = 0; i < S + D; i++) e[i * COLUMNS + i] = 1.0;
    for (int i = 0; i < A; i++) b[(S + D + i) * COLUMNS + S + D + i] = 1.0;
    for (int i = 0; i < S; i++) b[(S + D + A + i) * COLUMNS + i] = 1.0;
    mixed(e, E);
    mixed(b, B);
    for (int i = 0; i < S + D; i++) /* E S */
        for (int j = 0; j < COLUMNS; j++) es[i * COLUMNS + j] = cos(2.0 * i - 3.0 * j);
    double pes[ROWS * COLUMNS];
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++) {
            pes[i * COLUMNS + j] = 0.0;
            for (int k = 0; k < ROWS; k++)
                pes[i * COLUMNS + j] += mixing(i, k) * es[k * COLUMNS + j];
            B[i * COLUMNS + j] -= pes[i * COLUMNS + j];
        }
}

/* Definitions 2.1.4, 2.1.5, Theorem 2.1.6: the values are those of the form, whatever P, Q, S are
 */
static void theorem_2_1_6(seeds_run *run)
{
    static const int printed[] = {S + D, A, S, D, U, V};
    double E[ROWS * COLUMNS], B[ROWS * COLUMNS];
    equivalent_pair(E, B);
    const double *const rows[] = {B, E};
    dae_condensed *c = condense(run, ROWS, COLUMNS, 1, rows);
    if (!c) return;
    expect_step(run, c, 0, printed);
    dae_condensed_free(c);
}

/* (P X Q)_ij, X by rows */
static double transformed(const dae_condensed *c, const double *X, int i, int j)
{
    double sum = 0.0;
    for (int k = 0; k < c->m; k++)
        for (int l = 0; l < c->n; l++)
            sum += c->p[i + k * c->m] * X[k * c->n + l] * c->q[l + j * c->n];
    return sum;
}

/* Theorem 2.1.7: zeros and ones of (2.13); A12, A14, A24 are free, and A22 with constant Q */
static void theorem_2_1_7(seeds_run *run)
{
    double E[ROWS * COLUMNS], B[ROWS * COLUMNS], off[2] = {0, 0};
    equivalent_pair(E, B);
    const double *const rows[] = {B, E};
    dae_condensed *c = condense(run, ROWS, COLUMNS, 1, rows);
    if (!c) return;
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++) {
            const bool open = i < S + D && ((j >= S && j < S + D) || j >= S + D + A);
            const bool algebraic = i == j && i >= S + D && i < S + D + A;
            const bool strange = j < S && i == S + D + A + j;
            off[0] = fmax(off[0], fabs(transformed(c, E, i, j) - (i == j && i < S + D)));
            if (!open)
                off[1] = fmax(off[1], fabs(transformed(c, B, i, j) - (algebraic || strange)));
        }
    seeds_number(run, "P E Q = diag(I_s, I_d, 0)", off[0], 0.0, 1e-12);
    seeds_number(run, "I_a and I_s in P A Q, zeros", off[1], 0.0, 1e-12);
    dae_condensed_free(c);
}

/* (2.14) and the sequence (E_i, A_i): what differentiating (2.14b) leaves, on (2.8) */
static void sequence_2_14(seeds_run *run)
{
    static const int printed[3][6] = {{2, 0, 1, 1, 0, 1}, {1, 1, 1, 0, 0, 1}, {0, 3, 0, 0, 0, 0}};
    dae_condensed *c = condense(run, 3, 3, 1, chain);
    if (!c) return;
    count(run, "s-index", c->index, 2);
    for (int k = 0; k <= c->index && k < 3; k++) expect_step(run, c, k, printed[k]);
    dae_condensed_free(c);
}

/* Theorem 2.1.8 on (2.8): rank M_mu = (mu + 1) n - a - v with M of (2.16), E and A constant */
static void theorem_2_1_8(seeds_run *run)
{
    enum { N = 3, MU = 2, ALL = (MU + 1) * N };
    double m[ALL * ALL] = {0}, one[ALL * ALL] = {0};
    for (int i = 0; i <= MU; i++)
        for (int r = 0; r < N; r++)
            for (int s = 0; s < N; s++) {
                m[i * N + r + (i * N + s) * ALL] = chain_E[r * N + s];
                if (i > 0) /* E x' + A x = delta: minus -A */
                    m[i * N + r + ((i - 1) * N + s) * ALL] = chain_A[r * N + s];
            }
    for (int i = 0; i < ALL; i++) one[i + i * ALL] = 1.0;
    dae_pencil_report *report = NULL;
    dae_diag diag = {0};
    dae_pencil p = {.n = ALL, .a = one, .b = m};
    if (!seeds_ok(run, dae_pencil_analyse(&p, &report, &diag), &diag)) return;
    dae_condensed *c = condense(run, N, N, 1, chain);
    if (c) {
        const dae_characteristic *last = &c->steps[c->index];
        count(run, "rank of M_2 = 3 n - a - v", report->rank_b, 6);
        count(run, "d = n - a", last->d1, N - last->a);
    }
    dae_condensed_free(c);
    dae_pencil_report_free(report);
}

/* (2.17) of a system that has everything: an equivalent one without strangeness, rows d, a, v */
static void system_2_17(seeds_run *run)
{
    /* x1' = x2, x2' = x3, x1 = 0, x4' = x4, 0 = 0 */
    static const double E[] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0},
                        B[] = {0, -1, 0, 0, 0, 0, -1, 0, 1, 0, 0, 0, 0, 0, 0, -1, 0, 0, 0, 0};
    const double *const rows[] = {B, E};
    dae_condensed *c = condense(run, 5, 4, 1, rows);
    if (!c) return;
    const dae_characteristic *last = &c->steps[c->index];
    count(run, "d", last->d1, 1);
    count(run, "a", last->a, 3);
    count(run, "v, equations without unknowns", last->left, 1);
    double rest = 0.0;
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 4; j++) {
            if (i >= last->d1) rest = fmax(rest, fabs(c->a[1][i + j * 5]));
            if (i >= last->d1 + last->a) rest = fmax(rest, fabs(c->a[0][i + j * 5]));
        }
    seeds_number(run, "zeros of (2.17)", rest, 0.0, 1e-13);
    dae_condensed_free(c);
}

/* ---- nonlinear systems: Hypothesis 2.1.9, semi-explicit ones ---- */

/* What `check --index strangeness` says of a model */
static void hypothesis(seeds_run *run, const char *model, int mu, const char *values)
{
    seeds_command_result r;
    char label[80];
    if (!seeds_command(run, &r, "check models/%s.mo --index strangeness", model)) return;
    const char *line = strchr(r.out, '\n');
    int found = -1;
    if (line) sscanf(line, " strangeness %d", &found);
    snprintf(label, sizeof label, "mu of %s", model);
    count(run, label, found, mu);
    const char *at = strstr(r.out, "a = ");
    char ours[60] = "";
    if (at) snprintf(ours, sizeof ours, "%.*s", (int)strcspn(at, ")"), at);
    seeds_holds(run, label, strcmp(ours, values) == 0, ours, values);
}

/* n = 5: r = (mu + 1) n, as L_mu is a manifold of dimension (mu + 2) n + 1 - r; d = n - a - v */
static void hypothesis_2_1_9(seeds_run *run)
{
    hypothesis(run, "pendulum", 2, "a = 3, d = 2, u = 0, v = 0, r = 15");
    hypothesis(run, "structure/pendulumvelocity", 1, "a = 2, d = 3, u = 0, v = 0, r = 10");
    hypothesis(run, "robertson", 0, "a = 1, d = 2, u = 0, v = 0, r = 3");
    hypothesis(run, "seeds/unstructured", 2, "a = 8, d = 2, u = 0, v = 0, r = 30");
}

/* (2.18), (2.19): a derivative array integrated, on equations that are mixtures of each other */
static void derivative_array(seeds_run *run)
{
    seeds_command_result r;
    if (!seeds_command(run, &r,
                       "run models/seeds/unstructured.mo --formulation array --method radau "
                       "--rtol 1e-9 --atol 1e-12"))
        return;
    seeds_number(run, "x at t = 10", seeds_last(run, &r, "x"), -0.81158645, 1e-7);
    seeds_number(run, "y", seeds_last(run, &r, "y"), -0.58423235, 1e-7);
    seeds_number(run, "lambda", seeds_last(run, &r, "lambda"), 1.752697, 1e-6);
}

/* nu = 0 if mu = a = 0, else nu = mu + 1 */
static void relation(seeds_run *run)
{
    static const char *const models[] = {"seeds/tangent",         "robertson",
                                         "structure/hessenberg2", "pendulum",
                                         "structure/hessenberg4", "springchain"};
    static const int nu[] = {0, 1, 2, 3, 4, 5};
    for (size_t k = 0; k < sizeof models / sizeof *models; k++) {
        char label[80];
        snprintf(label, sizeof label, "d-index of %s", models[k]);
        count(run, label, notion(run, models[k], "differentiation"), nu[k]);
        snprintf(label, sizeof label, "s-index of %s", models[k]);
        count(run, label, notion(run, models[k], "strangeness"), nu[k] > 0 ? nu[k] - 1 : 0);
    }
}

static void index_1(seeds_run *run)
{
    count(run, "robertson", notion(run, "robertson", "differentiation"), 1);
}

static void index_2(seeds_run *run)
{
    count(run, "pendulum", notion(run, "structure/pendulumvelocity", "differentiation"), 2);
    count(run, "Hessenberg", notion(run, "structure/hessenberg2", "differentiation"), 2);
}

static void index_3(seeds_run *run)
{
    count(run, "Hessenberg", notion(run, "structure/hessenberg3", "differentiation"), 3);
    count(run, "(2.55)", notion(run, "seeds/circular_track", "differentiation"), 3);
}

/* (2.26), (2.29): two hidden constraints, with the lines they come from */
static void hidden_constraints(seeds_run *run)
{
    seeds_command_result r;
    if (!seeds_command(run, &r, "check models/pendulum.mo")) return;
    seeds_holds(run, "(2.26)", strstr(r.out, "x*vx + y*vy = 0") != NULL, "x*vx + y*vy = 0",
                "g_y f = 0");
    seeds_holds(run, "(2.29)", strstr(r.out, "differentiated twice") != NULL,
                "differentiated twice", "second derivative of g");
    hypothesis(run, "pendulum", 2, "a = 3, d = 2, u = 0, v = 0, r = 15");
}

static void lemma_4_1_1(seeds_run *run)
{
    static const char *const models[] = {"pendulum", "caraxis", "andrews",
                                         "seeds/cycloid_energies"};
    for (size_t k = 0; k < sizeof models / sizeof *models; k++)
        count(run, models[k], notion(run, models[k], "differentiation"), 3);
}

/* ---- second order ---- */

static const double second_A2[] = {1, 0, 0, 0}, second_A0[] = {0, 1, 1, 0};
static const double *const second[] = {second_A0, second_A2, second_A2};
static const double first_E[] = {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1},
                    first_A[] = {1, 0, 0, 1, 0, 0, 1, 0, -1, 0, 0, 0, 0, -1, 0, 0};
static const double *const first[] = {first_A, first_E};

/* Definition 3.1.1: the d-index of an equation of order d is that of its first order form */
static void definition_3_1_1(seeds_run *run)
{
    count(run, "pendulum in second order", notion(run, "structure/pendulum2nd", "differentiation"),
          notion(run, "pendulum", "differentiation"));
    count(run, "(2.55)", notion(run, "seeds/circular_track", "differentiation"), 3);
}

/* A triple with every kind of strangeness, and what is left: (3.2), (3.3) by hand, mixed */
static void triple_3_2(seeds_run *run)
{
    /* unknowns x1 (s012), x2 (s12), x3 (s02), x4 (d2), x5 (s01), x6 (d1), x7 (a), x8 (u) */
    enum { N = 8, M = 13 };
    double a[3][M * N] = {{0}}, mix[3][M * N];
    for (int i = 0; i < 4; i++) a[2][i * N + i] = 1.0;
    a[1][4 * N + 4] = a[1][5 * N + 5] = a[1][6 * N + 0] = a[1][7 * N + 1] = 1.0;
    a[0][8 * N + 6] = a[0][9 * N + 4] = a[0][10 * N + 2] = a[0][11 * N + 0] = 1.0;
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < M; i++)
            for (int j = 0; j < N; j++) {
                mix[k][i * N + j] = 0.0;
                for (int l = 0; l < M; l++)
                    for (int c = 0; c < N; c++)
                        mix[k][i * N + j] +=
                            mixing(i, l) * a[k][l * N + c] * mixing(c + 20, j + 20);
            }
    const double *const rows[] = {mix[0], mix[1], mix[2]};
    dae_condensed *c = condense(run, M, N, 2, rows);
    if (!c) return;
    const dae_characteristic *v = &c->steps[0];
    const int ours[] = {v->r,   v->a,   v->s012, v->s01,   v->d1,
                        v->s12, v->s02, v->d2,   v->right, v->left};
    static const int printed[] = {4, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    static const char *const names[] = {"r",   "a",   "s012", "s01", "d1",
                                        "s12", "s02", "d2",   "u",   "v"};
    for (int k = 0; k < 10; k++) count(run, names[k], ours[k], printed[k]);
    count(run, "u = n - r - s01 - d1 - a", v->right, N - v->r - v->s01 - v->d1 - v->a);
    dae_condensed_free(c);
}

/* (3.5) to (3.8) on (3.9): two steps */
static void reduction_3_8(seeds_run *run)
{
    dae_condensed *c = condense(run, 2, 2, 2, second);
    if (!c) return;
    count(run, "s02 of step 0", c->steps[0].s02, 1);
    count(run, "s01 of step 1", c->steps[1].s01, 1);
    count(run, "steps until all strangeness vanishes", c->index, 2);
    count(run, "a at the end", c->steps[c->index].a, 2);
    dae_condensed_free(c);
}

/* Example 3.2.1: the solution (3.10) of (3.9), and how often the right side is differentiated */
static void second_order(seeds_run *run, const double f[4][2])
{
    double x[MOST];
    dae_condensed *c = condense(run, 2, 2, 2, second);
    if (!c) return;
    solve(c, right_side, x);
    seeds_number(run, "x1 of (3.10)", x[0], f[0][1], 1e-13);
    seeds_number(run, "x2 of (3.10)", x[1], f[0][0] - f[1][1] - f[2][1], 1e-13);
    count(run, "derivatives of f in (3.10)", c->derivatives, 2);
    dae_condensed_free(c);
}

static void example_3_2_1(seeds_run *run)
{
    double f[4][2], y[MOST];
    for (int k = 0; k < 4; k++) right_side(k, f[k]);
    second_order(run, (const double(*)[2])f);
    dae_condensed *c = condense(run, 4, 4, 1, first);
    if (!c) return;
    solve(c, right_side, y);
    seeds_number(run, "x1 of (3.12)", y[2], f[0][1], 1e-11);
    seeds_number(run, "x2 of (3.12)", y[3], f[0][0] - f[1][1] - f[2][1], 1e-11);
    seeds_number(run, "v1 of (3.12)", y[0], f[1][1], 1e-11);
    seeds_misprint(run, "v2 of (3.12)", y[1], f[1][0] - f[1][1] - f[3][1], independent_slope(TIME),
                   1e-11,
                   "f2' is printed for f2'': v2 is the derivative of x2, as in Example 3.2.2");
    count(run, "derivatives of f in (3.12)", c->derivatives, 3);
    dae_condensed_free(c);
}

static void run_3_9(seeds_run *run)
{
    seeds_command_result r;
    if (!seeds_command(run, &r, "run models/seeds/order_reduction.mo --rtol 1e-9")) return;
    seeds_number(run, "x1 = f2 at t = 2", seeds_last(run, &r, "x1"), sin(4.0), 1e-8);
    seeds_number(run, "x2 = f1 - f2' - f2''", seeds_last(run, &r, "x2"),
                 cos(6.0) - 2.0 * cos(4.0) + 4.0 * sin(4.0), 1e-6);
}

/* Example 3.2.2: s-index 2 as it is, 3 in first order; (3.13) has no derivatives */
static void example_3_2_2(seeds_run *run)
{
    dae_condensed *two = condense(run, 2, 2, 2, second), *one = condense(run, 4, 4, 1, first);
    if (two) {
        double rest = 0.0;
        for (int i = 0; i < 4; i++) rest = fmax(rest, fmax(fabs(two->a[1][i]), fabs(two->a[2][i])));
        count(run, "s-index of (3.9)", two->index, 2);
        seeds_number(run, "A2 and A1 of (3.13)", rest, 0.0, 1e-14);
    }
    if (one) count(run, "s-index of (3.11)", one->index, 3);
    dae_condensed_free(two);
    dae_condensed_free(one);
}

/* Remark 3.2.3: M q'' + K q + G' lambda = f, G q = g in first order has d-index 3; with w = lambda'
 * as an unknown, 4 */
static void remark_3_2_3(seeds_run *run)
{
    static const double M[] = {2, 3}, G[] = {1, 2}, K[] = {1, 5};
    for (int more = 0; more < 2; more++) {
        const int n = 5 + more; /* q1 q2 v1 v2 lambda w */
        double a[36] = {0}, b[36] = {0};
        for (int i = 0; i < 2; i++) {
            b[i + i * n] = 1.0, a[i + (2 + i) * n] = -1.0;
            b[2 + i + (2 + i) * n] = M[i], a[2 + i + i * n] = K[i], a[2 + i + 4 * n] = G[i];
            a[4 + i * n] = G[i];
        }
        if (more) b[5 + 4 * n] = 1.0, a[5 + 5 * n] = -1.0;
        dae_pencil_report *report = NULL;
        dae_diag diag = {0};
        dae_pencil p = {.n = n, .a = a, .b = b};
        if (!seeds_ok(run, dae_pencil_analyse(&p, &report, &diag), &diag)) return;
        count(run, more ? "d-index with w = lambda'" : "d-index", report->index, 3 + more);
        dae_pencil_report_free(report);
    }
}

static const char CONDENSE[] = "dae_linear_condense with the matrices of the row";

static const seeds_row rows[] = {
    {"000-E2.1.3", "Example 2.1.3, Definition 2.1.2, (2.7), (2.8)",
     "linear chain: d-index 3, and its solution", NULL, example_2_1_3, false},
    {"000-T2.1.6", "Definitions 2.1.4, 2.1.5, Theorem 2.1.6, (2.9) to (2.11)",
     "r, a, s, d, u, v do not depend on P, Q and S", CONDENSE, theorem_2_1_6, false},
    {"000-T2.1.7", "Theorem 2.1.7, (2.13)", "P and Q of the condensed form, non-square",
     "dae_linear_condense: p and q", theorem_2_1_7, false},
    {"000-2.14", "(2.12), (2.14), strangeness index", "sequence of characteristic values on (2.8)",
     CONDENSE, sequence_2_14, false},
    {"000-T2.1.8", "(2.15), (2.16), Theorem 2.1.8", "rank of the inflated matrix M_mu",
     "dae_pencil_analyse with b = M_mu: rank_b", theorem_2_1_8, false},
    {"000-2.17", "(2.17)", "equivalent system without strangeness, overdetermined",
     "dae_linear_condense: a and left", system_2_17, false},
    {"000-H2.1.9", "(2.18) to (2.20), Hypothesis 2.1.9", "mu, a, d, v and r of nonlinear systems",
     NULL, hypothesis_2_1_9, false},
    {"000-2.18", "(2.18), (2.19)", "derivative array of a mixed pendulum, integrated", NULL,
     derivative_array, false},
    {"000-nu-mu", "2.1, last paragraph", "nu = 0 for mu = a = 0, else nu = mu + 1", NULL, relation,
     false},
    {"000-2.21", "(2.21), (2.22)", "semi-explicit systems of d-index 1", NULL, index_1, false},
    {"000-2.23", "(2.23), (2.24)", "semi-explicit systems of d-index 2", NULL, index_2, false},
    {"000-2.25", "(2.25), (2.30)", "semi-explicit systems of d-index 3", NULL, index_3, false},
    {"000-2.26", "(2.26) to (2.29)", "hidden constraints, conditions on initial values", NULL,
     hidden_constraints, false},
    {"000-D3.1.1", "Definition 3.1.1", "d-index of equations of second order", NULL,
     definition_3_1_1, false},
    {"000-3.2", "(3.1) to (3.4)", "characteristic values of a matrix triple, 13 x 8",
     "dae_linear_condense with order = 2", triple_3_2, false},
    {"000-3.8", "(3.5) to (3.8)", "reduction of a triple step by step",
     "dae_linear_condense with order = 2", reduction_3_8, false},
    {"000-E3.2.1", "Example 3.2.1, (3.9) to (3.12)", "order reduction asks for more derivatives",
     "dae_linear_condense: derivatives", example_3_2_1, false},
    {"000-3.9", "(3.9), (3.10)", "its solution by a run", NULL, run_3_9, false},
    {"000-E3.2.2", "Example 3.2.2, (3.13)", "s-index 2, in first order 3", CONDENSE, example_3_2_2,
     false},
    {"000-R3.2.3", "Remark 3.2.3", "d-index 4 with lambda' as an unknown",
     "dae_pencil_analyse with the matrices of the row", remark_3_2_3, false},
    {"000-L4.1.1", "Lemma 4.1.1, (4.2), (4.3)", "equations of motion have d-index 3", NULL,
     lemma_4_1_1, false},
};

const seeds_part seeds_000_index = {
    .seed = "000",
    .title = "Second order DAEs: index notions and condensed forms",
    SEEDS_ROWS(rows),
};
