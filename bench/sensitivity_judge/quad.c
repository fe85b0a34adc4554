/* Differences of whole runs in quadruple precision: the judge of sensitivities.
 *
 * It is compiled together with the equations of one model, as judge.py writes them (model.h), and
 * shares nothing with the library. It integrates F(t, y, y', p) = 0 as the text has it, whatever
 * the index, by Radau IIA collocation of STAGES stages: derivatives are those of the polynomial
 * through all stages, so no constraint is differentiated. The run at p, and those at p + d and
 * p - d for every parameter, take the same steps; events and starts are found for each of them. The
 * derivative is (y(p + d) - y(p - d))/2d, d = 1e-10 |p|: its truncation is 1e-20 of the third
 * derivative, its rounding 1e-24.
 *
 *     quad TOLERANCE FIRST_STEP < times > derivatives
 *
 * Input: for each unknown guesses of its start value and slope there, then output times. Output: a
 * line "t v .." for each time, values of all variables, then their derivatives by each parameter.
 */
#include <math.h>
#include <quadmath.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef __float128 Q;
#include "model.h"

#ifndef STAGES
#define STAGES 9
#endif
enum {
    S = STAGES,
    N = UNKNOWNS,
    ALL = UNKNOWNS + DEFINITIONS,
    RUNS = 2 * MOVED + 1,
    START_STAGES = UNKNOWNS > 40 ? 3 : 9,
    BIG = N * (S > START_STAGES + 1 ? S : START_STAGES + 1)
};

/* One trajectory: its parameters, where it is, and the stages of its last step. */
typedef struct run {
    Q p[PARAMETERS + 1], t, y[ALL + 1], d[DISCRETES + 1], z[S][ALL + 1];
    Q from[N + 1]; /* where the last step began */
} run;

static run runs[RUNS];
static Q sizes[N + 1]; /* the largest that variables have become */
static bool truth[RELATIONS + 1];
static Q node[S + 1], slope[S + 1][S + 1], lead_weight[S];
static Q moved_by[MOVED + 1];
static Q guessed_slope[N + 1]; /* of the run at its start */

static void stop(const char *why, double t)
{
    fprintf(stderr, "quad: %s, t = %.12g\n", why, t);
    exit(1);
}

/* ---- collocation ---- */

/* The Radau polynomial P_{s-1} - P_s on [0, 1], and its derivative, by recursion. */
static Q radau(int s, Q c, Q *derivative)
{
    Q x = 2 * c - 1, a = 1, b = x, da = 0, db = 1;
    for (int k = 2; k <= s; k++) {
        Q next = ((2 * k - 1) * x * b - (k - 1) * a) / k;
        Q dnext = ((2 * k - 1) * (b + x * db) - (k - 1) * da) / k;
        a = b, da = db, b = next, db = dnext;
    }
    *derivative = 2 * (da - db);
    return a - b;
}

static void find_nodes(int s, Q *c)
{
    enum { FINE = 20000 };
    int found = 0;
    Q unused, last = radau(s, 1e-9Q, &unused);
    c[0] = 0;
    for (int i = 1; i < FINE && found < s - 1; i++) {
        Q x = (Q)i / FINE, now = radau(s, x, &unused), d;
        if (now * last < 0) {
            for (int k = 0; k < 12; k++) x -= radau(s, x, &d) / d;
            c[++found] = x;
        }
        last = now;
    }
    c[s] = 1;
    if (found != s - 1) stop("nodes of the method not found", 0);
}

/* Derivatives at the nodes of the Lagrange polynomials through them, by barycentric weights. */
static void find_slopes(int count, const Q *c, Q *out, int stride)
{
    Q w[64];
    for (int i = 0; i < count; i++) {
        w[i] = 1;
        for (int j = 0; j < count; j++)
            if (j != i) w[i] /= c[i] - c[j];
    }
    for (int i = 0; i < count; i++) {
        Q sum = 0;
        for (int j = 0; j < count; j++)
            if (j != i) sum += out[i * stride + j] = w[j] / w[i] / (c[i] - c[j]);
        out[i * stride + i] = -sum;
    }
}

static void prepare_method(void)
{
    find_nodes(S, node);
    find_slopes(S + 1, node, slope[0], S + 1);
    for (int i = 0; i < S; i++) {
        lead_weight[i] = 1;
        for (int j = 0; j < S; j++)
            if (j != i) lead_weight[i] /= node[i + 1] - node[j + 1];
        lead_weight[i] *= 2 * powq(0.25Q, S - 1); /* size of the polynomial that it multiplies */
    }
}

/* ---- linear systems ---- */

typedef struct factors {
    Q *a;
    int n, *row;
} factors;

static void new_factors(factors *f, int n)
{
    f->n = n;
    f->a = calloc((size_t)n * (size_t)n, sizeof(Q));
    f->row = calloc((size_t)n, sizeof(int));
    if (!f->a || !f->row) stop("out of memory", 0);
}

/* LU with row scaling and pivoting; zeros are left out. */
static bool factor(factors *f)
{
    const int n = f->n;
    Q *a = f->a;
    static int list[BIG + 1];
    for (int k = 0; k < n; k++) {
        int best = -1;
        Q most = 0;
        for (int i = k; i < n; i++)
            if (fabsq(a[(size_t)i * n + k]) > most) most = fabsq(a[(size_t)i * n + k]), best = i;
        if (best < 0) return false;
        f->row[k] = best;
        if (best != k)
            for (int j = 0; j < n; j++) {
                Q swap = a[(size_t)k * n + j];
                a[(size_t)k * n + j] = a[(size_t)best * n + j];
                a[(size_t)best * n + j] = swap;
            }
        int count = 0;
        const Q *top = a + (size_t)k * n;
        for (int j = k + 1; j < n; j++)
            if (top[j] != 0) list[count++] = j;
        for (int i = k + 1; i < n; i++) {
            Q *low = a + (size_t)i * n;
            if (low[k] == 0) continue;
            Q m = low[k] /= top[k];
            for (int j = 0; j < count; j++) low[list[j]] -= m * top[list[j]];
        }
    }
    return true;
}

static void backsolve(const factors *f, Q *b)
{
    const int n = f->n;
    for (int k = 0; k < n; k++) {
        Q swap = b[k];
        b[k] = b[f->row[k]];
        b[f->row[k]] = swap;
    }
    for (int i = 0; i < n; i++) {
        Q sum = b[i];
        for (int j = 0; j < i; j++)
            if (f->a[(size_t)i * n + j] != 0) sum -= f->a[(size_t)i * n + j] * b[j];
        b[i] = sum;
    }
    for (int i = n - 1; i >= 0; i--) {
        Q sum = b[i];
        for (int j = i + 1; j < n; j++)
            if (f->a[(size_t)i * n + j] != 0) sum -= f->a[(size_t)i * n + j] * b[j];
        b[i] = sum / f->a[(size_t)i * n + i];
    }
}

/* ---- one step ---- */

static factors lu;
static Q row_scale[N * S + 1];

static void stage_point(const run *r, Q h, int i, Q *y, Q *yp)
{
    for (int v = 0; v < N; v++) {
        y[v] = r->z[i][v];
        Q sum = 0;
        if (is_differentiated[v]) {
            sum = slope[i + 1][0] * r->from[v];
            for (int j = 0; j < S; j++) sum += slope[i + 1][j + 1] * r->z[j][v];
        }
        yp[v] = sum / h;
    }
}

static Q increment(int v, Q value)
{
    Q size = fabsq(value) > 1e-3Q * sizes[v] ? fabsq(value) : 1e-3Q * sizes[v];
    return 1e-17Q * (size > 0 ? size : 1);
}

/* Columns of one equation at one stage, by differences: their error is some 1e-17. */
static void equation_columns(const run *r, Q h, int e, int i, Q t, Q *y, Q *yp)
{
    Q *row = lu.a + (size_t)(e * S + i) * lu.n;
    const Q f = equation(e, t, y, yp, r->p, r->d, r->d, truth);
    for (int k = 0; k < value_count[e]; k++) {
        int v = value_list[e][k];
        Q old = y[v], by = increment(v, old);
        y[v] += by;
        row[v * S + i] += (equation(e, t, y, yp, r->p, r->d, r->d, truth) - f) / (y[v] - old);
        y[v] = old;
    }
    for (int k = 0; k < rate_count[e]; k++) {
        int v = rate_list[e][k];
        Q old = yp[v], by = 1e-17Q * (fabsq(old) + (sizes[v] > 0 ? sizes[v] : 1) / h);
        yp[v] += by;
        Q g = (equation(e, t, y, yp, r->p, r->d, r->d, truth) - f) / (yp[v] - old);
        yp[v] = old;
        for (int j = 0; j < S; j++) row[v * S + j] += g * slope[i + 1][j + 1] / h;
    }
}

static bool factor_stages(const run *r, Q h)
{
    Q y[ALL + 1], yp[N + 1];
    memset(lu.a, 0, (size_t)lu.n * (size_t)lu.n * sizeof(Q));
    for (int i = 0; i < S; i++) {
        stage_point(r, h, i, y, yp);
        for (int e = 0; e < N; e++) equation_columns(r, h, e, i, r->t + node[i + 1] * h, y, yp);
    }
    for (int k = 0; k < lu.n; k++) {
        Q most = 0, *row = lu.a + (size_t)k * lu.n;
        for (int j = 0; j < lu.n; j++)
            if (fabsq(row[j]) > most) most = fabsq(row[j]);
        row_scale[k] = most > 0 ? 1 / most : 1;
        for (int j = 0; j < lu.n; j++) row[j] *= row_scale[k];
    }
    return factor(&lu);
}

/* One correction of all stages; returns its size, relative to those of variables. */
static Q correct(run *r, Q h)
{
    static Q b[BIG + 1];
    Q y[ALL + 1], yp[N + 1], most = 0;
    for (int i = 0; i < S; i++) {
        stage_point(r, h, i, y, yp);
        for (int e = 0; e < N; e++)
            b[e * S + i] = -row_scale[e * S + i] *
                           equation(e, r->t + node[i + 1] * h, y, yp, r->p, r->d, r->d, truth);
    }
    backsolve(&lu, b);
    for (int v = 0; v < N; v++)
        for (int i = 0; i < S; i++) {
            r->z[i][v] += b[v * S + i];
            Q size = fabsq(r->z[i][v]) > sizes[v] ? fabsq(r->z[i][v]) : sizes[v];
            Q part = fabsq(b[v * S + i]) / (size > 0 ? size : 1);
            if (!finiteq(part)) return part;
            if (part > most) most = part;
        }
    return most;
}

/* Solve the stages of the first run; false: take a smaller step. */
static bool solve_first(run *r, Q h)
{
    if (!factor_stages(r, h)) return false;
    Q last = 0;
    for (int k = 0; k < 40; k++) {
        Q now = correct(r, h);
        if (!finiteq(now) || (k > 3 && now > 10 * last && now > 1e-20Q)) return false;
        if (now < 1e-29Q || (k > 0 && now * now / last < 1e-28Q && now < 1e-16Q)) return true;
        if (now < 1e-19Q && now >= last / 4) return true; /* rounding, of multipliers mostly */
        if (k > 0 && now > 1e-3Q * last && now > 1e-19Q && !factor_stages(r, h)) return false;
        last = now;
    }
    return false;
}

/* Solve those of a run nearby with the same factors. */
static void solve_other(run *r, Q h)
{
    Q last = 1;
    for (int k = 0; k < 60; k++) {
        Q now = correct(r, h);
        if (now < 1e-29Q || (k > 0 && now * now / last < 1e-26Q && now < 1e-16Q)) return;
        if (now < 1e-19Q && now >= last / 4) return; /* rounding, of multipliers mostly */
        last = now;
    }
    stop("a run nearby does not converge", (double)r->t);
}

/* The last polynomial of a run at node x of its step, by all stages and its beginning. */
static Q polynomial(const run *r, int v, Q x, bool with_begin)
{
    Q top = 0, bottom = 0;
    for (int i = with_begin ? 0 : 1; i <= S; i++) {
        Q w = 1;
        for (int j = with_begin ? 0 : 1; j <= S; j++)
            if (j != i) w /= node[i] - node[j];
        if (x == node[i]) return i ? r->z[i - 1][v] : r->from[v];
        w /= x - node[i];
        top += w * (i ? r->z[i - 1][v] : r->from[v]);
        bottom += w;
    }
    return top / bottom;
}

/* Guess the stages of a step of length h by the last one, of length `past`. */
static void extrapolate(run *r, Q h, Q past)
{
    Q guess[S][N + 1];
    for (int v = 0; v < N; v++)
        for (int i = 0; i < S; i++)
            guess[i][v] = past > 0
                              ? polynomial(r, v, 1 + node[i + 1] * h / past, is_differentiated[v])
                              : r->y[v];
    for (int i = 0; i < S; i++) memcpy(r->z[i], guess[i], N * sizeof(Q));
}

/* The leading coefficient of the stages by the size of each variable: what one node more changes.
 * Only of differentiated ones: multipliers of index 3 have the errors of velocities over h. */
static Q estimate(const run *r)
{
    Q most = 0;
    for (int v = 0; v < N; v++) {
        if (!is_differentiated[v]) continue;
        Q sum = 0, size = 1e-3Q * sizes[v];
        for (int i = 0; i < S; i++) {
            sum += lead_weight[i] * r->z[i][v];
            if (fabsq(r->z[i][v]) > size) size = fabsq(r->z[i][v]);
        }
        if (size > 0 && fabsq(sum) / size > most) most = fabsq(sum) / size;
    }
    return most;
}

/* ---- events ---- */

static void define(run *r, Q t, Q *y)
{
    definitions(t, y, r->p, r->d, r->d, truth);
}

/* A relation at node x of the last step. */
static Q relation_at(run *r, int k, Q x, Q h)
{
    Q y[ALL + 1];
    for (int v = 0; v < N; v++) y[v] = polynomial(r, v, x, is_differentiated[v]);
    define(r, r->t + x * h, y);
    return relation(k, r->t + x * h, y, r->p, r->d, r->d);
}

static bool holds(int k, Q g)
{
    return relation_is_strict[k] ? g < 0 : g <= 0;
}

/* Would the other truth of relation k do anything? */
static bool matters(run *r, int k, Q x, Q h)
{
    if (relation_in_equations[k]) return true;
    Q y[ALL + 1], d[DISCRETES + 1], into[N + 1];
    bool to[N + 1], old[RELATIONS + 1];
    for (int v = 0; v < N; v++) y[v] = polynomial(r, v, x, is_differentiated[v]);
    define(r, r->t + x * h, y);
    memcpy(d, r->d, sizeof d);
    memcpy(old, truth, sizeof old);
    memset(to, 0, sizeof to);
    truth[k] = !truth[k];
    update(r->t + x * h, y, r->p, d, r->d, truth, old, to, into);
    truth[k] = !truth[k];
    bool any = memcmp(d, r->d, DISCRETES * sizeof(Q)) != 0;
    for (int v = 0; v < N; v++) any |= to[v];
    return any;
}

/* The first relation that changes within the step, and about where: a node, or -1. */
static int first_change(run *r, Q h, Q *where)
{
    enum { FINE = 24 };
    for (int i = 1; i <= FINE; i++) {
        Q x = (Q)i / FINE;
        for (int k = 0; k < RELATIONS; k++) {
            if (holds(k, relation_at(r, k, x, h)) == truth[k]) continue;
            if (!matters(r, k, x, h)) {
                truth[k] = !truth[k];
                continue;
            }
            Q low = x - 1.0Q / FINE, high = x;
            for (int j = 0; j < 60; j++) {
                Q mid = (low + high) / 2;
                *(holds(k, relation_at(r, k, mid, h)) == truth[k] ? &low : &high) = mid;
            }
            *where = high;
            return k;
        }
    }
    return -1;
}

/* Move the end of the step until the relation is zero there. Returns the step. */
static Q locate(run *r, int k, Q h, Q rate, bool first)
{
    for (int i = 0; i < 60; i++) {
        if (first ? !solve_first(r, h) : (solve_other(r, h), false))
            stop("a step to an event fails", (double)r->t);
        Q g = relation_at(r, k, 1, h), by = g / rate;
        if (i > 0 && fabsq(by) <= 1e-30Q * (fabsq(r->t) + h)) return h;
        if (i > 20) {
            if (fabsq(by) <= 1e-26Q * (fabsq(r->t) + h)) return h;
            stop("an event is not found", (double)r->t);
        }
        h -= by;
    }
    return h;
}

static void advance(run *r, Q h)
{
    r->t += h;
    for (int v = 0; v < N; v++) {
        r->y[v] = r->z[S - 1][v];
    }
    define(r, r->t, r->y);
}

static bool act(run *r, int k, const bool *old)
{
    Q pre[DISCRETES + 1], into[N + 1];
    bool to[N + 1], before[RELATIONS + 1];
    memset(to, 0, sizeof to);
    memcpy(before, old, sizeof before);
    (void)k;
    for (int i = 0; i < 20; i++) {
        memcpy(pre, r->d, sizeof pre);
        update(r->t, r->y, r->p, r->d, pre, truth, before, to, into);
        memcpy(before, truth, sizeof before);
        if (memcmp(pre, r->d, DISCRETES * sizeof(Q)) == 0) break;
    }
    for (int v = 0; v < N; v++)
        if (to[v]) r->y[v] = into[v];
    define(r, r->t, r->y);
    return true;
}

/* ---- starts ---- */

/* Unknowns: all variables at 0 and at the nodes of a short interval; equations at all of them, and
 * what is known of the start. Whatever the index, this has one solution more equations than
 * unknowns agree about; least squares find it by Householder's reflections. */
typedef struct beginning {
    int rows, columns;
    Q *a, *diagonal, scale[BIG + CONDITIONS + 1];
    Q c[START_STAGES + 1], d[START_STAGES + 1][START_STAGES + 1], h;
} beginning;

static void begin_point(const beginning *q, int i, const Q *z, Q *y, Q *yp)
{
    for (int v = 0; v < N; v++) {
        y[v] = z[i * N + v];
        yp[v] = 0;
        for (int j = 0; j <= START_STAGES; j++) yp[v] += q->d[i][j] * z[j * N + v] / q->h;
    }
}

static void begin_residual(const beginning *q, const run *r, const Q *z, Q *f)
{
    Q y[ALL + 1], yp[N + 1];
    for (int i = 0; i <= START_STAGES; i++) {
        begin_point(q, i, z, y, yp);
        for (int e = 0; e < N; e++)
            f[i * N + e] = equation(e, r->t + q->c[i] * q->h, y, yp, r->p, r->d, r->d, truth);
    }
    begin_point(q, 0, z, y, yp);
    define((run *)r, r->t, y);
    for (int k = 0; k < CONDITIONS; k++) f[q->columns + k] = condition(k, r->t, y, yp, r->p, r->d);
    for (int k = 0; k < q->rows; k++) f[k] *= q->scale[k];
}

static void begin_matrix(beginning *q, const run *r, Q *z)
{
    Q *f = malloc((size_t)q->rows * 2 * sizeof(Q)), *g = f + q->rows;
    for (int k = 0; k < q->rows; k++) q->scale[k] = 1;
    begin_residual(q, r, z, f);
    for (int j = 0; j < q->columns; j++) {
        Q old = z[j];
        z[j] += increment(j % N, old);
        begin_residual(q, r, z, g);
        for (int i = 0; i < q->rows; i++)
            q->a[(size_t)i * q->columns + j] = (g[i] - f[i]) / (z[j] - old);
        z[j] = old;
    }
    for (int i = 0; i < q->rows; i++) {
        Q most = 0, *row = q->a + (size_t)i * q->columns;
        for (int j = 0; j < q->columns; j++)
            if (fabsq(row[j]) > most) most = fabsq(row[j]);
        q->scale[i] = most > 0 ? 1 / most : 1;
        for (int j = 0; j < q->columns; j++)
            row[j] *= q->scale[i] * (sizes[j % N] > 0 ? sizes[j % N] : 1);
    }
    free(f);
}

/* Householder's QR in place; the columns have been scaled by sizes. */
static void begin_factor(beginning *q)
{
    const int n = q->columns;
    for (int k = 0; k < n; k++) {
        Q norm = 0;
        for (int i = k; i < q->rows; i++) norm += q->a[(size_t)i * n + k] * q->a[(size_t)i * n + k];
        norm = sqrtq(norm);
        Q *top = &q->a[(size_t)k * n + k];
        q->diagonal[k] = *top > 0 ? -norm : norm;
        if (norm < 1e-32Q) stop("the start is not determined", 0);
        *top -= q->diagonal[k];
        Q weight = -q->diagonal[k] * *top;
        for (int j = k + 1; j < n; j++) {
            Q sum = 0;
            for (int i = k; i < q->rows; i++)
                sum += q->a[(size_t)i * n + k] * q->a[(size_t)i * n + j];
            sum /= weight;
            for (int i = k; i < q->rows; i++)
                q->a[(size_t)i * n + j] -= sum * q->a[(size_t)i * n + k];
        }
    }
}

/* One Gauss-Newton correction; returns its size. */
static Q begin_correct(const beginning *q, const run *r, Q *z, Q *rest)
{
    const int n = q->columns;
    Q *f = malloc((size_t)q->rows * sizeof(Q)), most = 0;
    begin_residual(q, r, z, f);
    for (int k = 0; k < n; k++) {
        Q sum = 0, weight = -q->diagonal[k] * q->a[(size_t)k * n + k];
        for (int i = k; i < q->rows; i++) sum += q->a[(size_t)i * n + k] * f[i];
        sum /= weight;
        for (int i = k; i < q->rows; i++) f[i] -= sum * q->a[(size_t)i * n + k];
    }
    *rest = 0;
    for (int i = n; i < q->rows; i++)
        if (fabsq(f[i]) > *rest) *rest = fabsq(f[i]);
    for (int k = n - 1; k >= 0; k--) {
        for (int j = k + 1; j < n; j++) f[k] -= q->a[(size_t)k * n + j] * f[j];
        f[k] /= q->diagonal[k];
        if (fabsq(f[k]) > most) most = fabsq(f[k]);
    }
    for (int k = 0; k < n; k++) z[k] -= f[k] * (sizes[k % N] > 0 ? sizes[k % N] : 1);
    free(f);
    return most;
}

static void begin_all(Q h)
{
    static beginning q;
    static Q first[BIG + 1], z[BIG + 1];
    q.columns = N * (START_STAGES + 1);
    q.rows = q.columns + CONDITIONS;
    q.h = h;
    find_nodes(START_STAGES, q.c);
    find_slopes(START_STAGES + 1, q.c, q.d[0], START_STAGES + 1);
    q.a = malloc((size_t)q.rows * (size_t)q.columns * sizeof(Q));
    q.diagonal = malloc((size_t)q.columns * sizeof(Q));
    for (int i = 0; i <= START_STAGES; i++)
        for (int v = 0; v < N; v++) first[i * N + v] = runs[0].y[v] + q.c[i] * h * guessed_slope[v];
    Q now = 1, last = 1, rest = 0;
    for (int k = 0; k < 60 && (now > 1e-27Q && (now > 1e-22Q || now < last)); k++) {
        last = now;
        if (k < 4 || now > 1e-12Q) begin_matrix(&q, &runs[0], first), begin_factor(&q);
        now = begin_correct(&q, &runs[0], first, &rest);
        if (getenv("QUAD_TRACE"))
            fprintf(stderr, "start %d: %.3g rest %.3g\n", k, (double)now, (double)rest);
    }
    if (!(now < 1e-14Q) || !(rest < 1e-9Q)) stop("no consistent start", (double)runs[0].t);
    begin_matrix(&q, &runs[0], first), begin_factor(&q);
    for (int j = 0; j < RUNS; j++) {
        memcpy(z, first, sizeof z);
        for (int k = 0; k < 12; k++)
            if (begin_correct(&q, &runs[j], z, &rest) < 1e-29Q) break;
        memcpy(runs[j].y, z, N * sizeof(Q));
        define(&runs[j], runs[j].t, runs[j].y);
    }
    free(q.a);
    free(q.diagonal);
}

/* Starts that their own values say. */
static bool begin_plainly(void)
{
    if (!PLAIN_START) return false;
    for (int j = 0; j < RUNS; j++) plain_start(runs[j].y, runs[j].p);
    return true;
}

/* ---- the whole run ---- */

static void write_row(double t)
{
    printf("%.17g", t);
    for (int v = 0; v < ALL; v++) printf(" %.20g", (double)runs[0].y[v]);
    for (int k = 0; k < MOVED; k++)
        for (int v = 0; v < ALL; v++) {
            Q s = (runs[2 * k + 1].y[v] - runs[2 * k + 2].y[v]) / (2 * moved_by[k]);
            char text[64];
            quadmath_snprintf(text, sizeof text, "%.20Qe", s);
            putchar(32);
            fputs(text, stdout);
        }
    putchar('\n');
}

static void note_sizes(void)
{
    for (int v = 0; v < N; v++)
        if (fabsq(runs[0].y[v]) > sizes[v]) sizes[v] = fabsq(runs[0].y[v]);
}

static void open_runs(void)
{
    Q none[PARAMETERS + 1];
    memset(none, 0, sizeof none);
    set_parameters(runs[0].p, -1, 0);
    for (int k = 0; k < MOVED; k++) {
        Q p = runs[0].p[moved[k]];
        moved_by[k] = 1e-10Q * (p != 0 ? fabsq(p) : 1);
        set_parameters(runs[2 * k + 1].p, moved[k], moved_by[k]);
        set_parameters(runs[2 * k + 2].p, moved[k], -moved_by[k]);
    }
    for (int j = 0; j < RUNS; j++) {
        start_discretes(runs[j].d, runs[j].p);
        runs[j].t = START_TIME;
    }
}

static long steps, rejected, events;

/* One step of all runs, at most to `end`. Returns what the next may be. */
static Q step(Q end, Q h, Q *past, Q tolerance, bool behind_event)
{
    run *r = &runs[0];
    bool old[RELATIONS + 1];
    for (;;) {
        Q parts =
            ceilq(0.999Q * (end - r->t) / h); /* even ones: short steps magnify errors at index 3 */
        bool last = parts <= 1;
        Q to = last ? end : r->t + (end - r->t) / parts, where, mine = to - r->t;
        memcpy(r->from, r->y, N * sizeof(Q));
        run keep = *r;
        extrapolate(r, mine, behind_event ? 0 : *past);
        bool fine = solve_first(r, mine);
        if (!fine) { /* a plain guess may be better */
            *r = keep;
            extrapolate(r, mine, 0);
            fine = solve_first(r, mine);
        }
        Q off = fine ? estimate(r) / tolerance : 1e30Q;
        if (off > 1) {
            rejected++;
            Q factor = fine ? 0.8Q * powq(off, -1.0Q / (S - 1)) : 0.2Q;
            h = mine * (factor < 0.1Q ? 0.1Q : factor);
            *r = keep;
            if (h < 1e-30Q * fabsq(end)) stop("the steps become too small", (double)r->t);
            continue;
        }
        memcpy(old, truth, sizeof old);
        int k = RELATIONS ? first_change(r, mine, &where) : -1;
        Q rate = 0;
        if (k >= 0) {
            rate =
                (relation_at(r, k, where + 1e-6Q, mine) - relation_at(r, k, where - 1e-6Q, mine)) /
                (2e-6Q * mine);
            for (int i = 0; i < S; i++) /* the stages of the shorter step */
                for (int v = 0; v < N; v++)
                    keep.z[i][v] = polynomial(r, v, node[i + 1] * where, is_differentiated[v]);
            memcpy(r->z, keep.z, sizeof r->z);
            mine = locate(r, k, where * mine, rate, true);
            if (!factor_stages(r, mine)) stop("singular", (double)r->t);
            correct(r, mine);
        } else if (!factor_stages(r, mine))
            stop("singular", (double)r->t);
        for (int j = 1; j < RUNS; j++) {
            run *o = &runs[j];
            memcpy(o->from, o->y, N * sizeof(Q));
            for (int i = 0; i < S; i++)
                for (int v = 0; v < N; v++)
                    o->z[i][v] = r->z[i][v] + (is_differentiated[v] ? o->from[v] - r->from[v] : 0);
            Q h_other = k >= 0 ? mine : to - o->t;
            if (k >= 0)
                h_other = locate(o, k, mine, rate, false);
            else
                solve_other(o, h_other);
            advance(o, h_other);
            if (k < 0) o->t = to;
        }
        advance(r, mine);
        if (k < 0) r->t = to;
        steps++;
        note_sizes();
        Q grow = off > 0 ? 0.8Q * powq(off, -1.0Q / (S - 1)) : 5;
        grow = grow > 5 ? 5 : grow;
        Q next = grow * mine > h ? grow * mine : grow < 1 ? grow * h : h;
        *past = mine;
        if (k < 0) return next;
        events++;
        if (getenv("QUAD_TRACE"))
            fprintf(stderr, "event %d at %.15g, dt/dp %.15g\n", k, (double)r->t,
                    MOVED ? (double)((runs[1].t - runs[2].t) / (2 * moved_by[0])) : 0.0);
        memcpy(old, truth, sizeof old);
        truth[k] = !truth[k];
        for (int j = 0; j < RUNS; j++) act(&runs[j], k, old);
        *past = 0;
        return -next;
    }
}

int main(int argc, char **argv)
{
    if (argc != 3) return 2;
    const Q tolerance = strtoflt128(argv[1], NULL), first = strtoflt128(argv[2], NULL);
    prepare_method();
    new_factors(&lu, N * S);
    open_runs();
    for (int v = 0; v < N; v++) {
        double guess, rate;
        if (scanf("%lf %lf", &guess, &rate) != 2) return 2;
        guessed_slope[v] = rate;
        for (int j = 0; j < RUNS; j++) runs[j].y[v] = guess;
        sizes[v] = fabs(guess) > 1e-6 * nominal[v] ? fabsq((Q)guess) : nominal[v];
    }
    if (!begin_plainly()) begin_all(first);
    for (int k = 0; k < RELATIONS; k++) {
        define(&runs[0], runs[0].t, runs[0].y);
        truth[k] = holds(k, relation(k, runs[0].t, runs[0].y, runs[0].p, runs[0].d, runs[0].d));
    }
    note_sizes();
    double t;
    Q h = first, past = 0;
    bool behind = false;
    while (scanf("%lf", &t) == 1) {
        if (t <= START_TIME) {
            for (int j = 0; j < RUNS; j++) define(&runs[j], runs[j].t, runs[j].y);
            if (!PLAIN_START) write_row(t);
            continue;
        }
        while (runs[0].t < (Q)t) {
            h = step((Q)t, h, &past, tolerance, behind);
            behind = h < 0;
            h = fabsq(h);
            if (behind && h > first) h = first > h / 100 ? first : h / 100;
        }
        write_row(t);
    }
    fprintf(stderr, "quad: %ld steps, %ld rejected, %ld events\n", steps, rejected, events);
    return 0;
}
