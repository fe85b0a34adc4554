/* The problems: equations, Jacobians, derivatives by parameters and consistent starts. */
#include "sensitivity.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef BENCH_ROOT
#define BENCH_ROOT "."
#endif

static const double PI = 3.14159265358979323846;

static void name_parameter(problem *q, int k, const char *format, int number)
{
    char *text = bench_space(NAME_ROOM, 1);
    snprintf(text, NAME_ROOM, format, number);
    q->names[k] = text;
}

static void take_parameters(problem *q, int np, const double *values)
{
    const size_t n = (size_t)q->form.n, rows = (size_t)np;
    q->np = np;
    q->names = bench_space(rows, sizeof *q->names);
    q->p = bench_space(rows, sizeof *q->p);
    q->s0 = bench_space(rows * n, sizeof *q->s0);
    q->sp0 = bench_space(rows * n, sizeof *q->sp0);
    q->scale = bench_space(n, sizeof *q->scale);
    for (int k = 0; k < np; k++) q->p[k] = values ? values[k] : 1.0;
    for (size_t i = 0; i < n; i++) q->scale[i] = q->of ? model_scale(q->of, (int)i) : 1.0;
}

/* Equations of the corpus */
static void take_model(problem *q, const char *name, const char *file)
{
    q->of = model_new(name, 0);
    if (!q->of) abort();
    q->form = q->of->form;
    q->y0 = q->of->y0, q->yp0 = q->of->yp0;
    q->tend = q->of->tend;
    q->file = file;
}

/* ---- Robertson ---- */

static int robertson_by(double t, const double *y, const double *yp, int k, double *f, void *user)
{
    (void)t, (void)yp, (void)user;
    const double rate = k == 0 ? y[0] : k == 1 ? -y[1] * y[2] : y[1] * y[1];
    f[0] = k == 2 ? 0.0 : rate;
    f[1] = k == 2 ? rate : -rate;
    f[2] = 0.0;
    return 0;
}

static const char *robertson_variable(int i, char text[32])
{
    snprintf(text, 32, "y%d", i + 1);
    return text;
}

static void robertson(problem *q)
{
    static const double values[] = {0.04, 1e4, 3e7};
    take_model(q, "robertson", "models/robertson.mo");
    take_parameters(q, 3, values);
    for (int k = 0; k < 3; k++) name_parameter(q, k, "k%d", k + 1);
    q->by = robertson_by, q->variable = robertson_variable;
    q->sp0[0] = -1.0, q->sp0[1] = 1.0; /* y1' = -k1 at the start */
}

/* ---- Akzo Nobel ---- */

enum { K1, K2, K3, K4, EQUILIBRIUM, KS, TRANSFER, PRESSURE, AKZO_P };
static const double akzo_value[] = {18.7, 0.58, 0.09, 0.42, 34.4, 115.83, 3.3, 0.9};
static const double henry = 737.0;

static int akzo_by(double t, const double *y, const double *yp, int k, double *f, void *user)
{
    (void)t, (void)yp, (void)user;
    static const double nu[5][6] = {{-2, 1, -1, -1, 0, 0},
                                    {-0.5, 0, 0, -1, -0.5, 1},
                                    {1, -1, 1, 0, 0, 0},
                                    {0, -1, 1, -2, 0, 0},
                                    {0, 1, -1, 0, 1, 0}};
    const double *p = akzo_value, root = sqrt(y[1]);
    double r[6] = {0};
    if (y[1] < 0.0) return 1;
    memset(f, 0, 6 * sizeof *f);
    switch (k) {
    case K1: r[0] = y[0] * y[0] * y[0] * y[0] * root; break;
    case K2: r[1] = y[2] * y[3], r[2] = y[0] * y[4] / p[EQUILIBRIUM]; break;
    case K3: r[3] = y[0] * y[3] * y[3]; break;
    case K4: r[4] = y[5] * y[5] * root; break;
    case EQUILIBRIUM: r[2] = -p[K2] * y[0] * y[4] / (p[EQUILIBRIUM] * p[EQUILIBRIUM]); break;
    case KS: f[5] = y[0] * y[3]; break;
    case TRANSFER: r[5] = p[PRESSURE] / henry - y[1]; break;
    default: r[5] = p[TRANSFER] / henry;
    }
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 6; j++) f[i] -= nu[i][j] * r[j];
    return 0;
}

static const char *akzo_variable(int i, char text[32])
{
    static const char *const names[] = {"FLB", "CO2", "FLBT", "ZHU", "ZLA", "FLB_ZHU"};
    snprintf(text, 32, "%s", names[i]);
    return text;
}

/* S of the equilibrium by Ks is not 0 at the start; all S' by the rates there. */
static void akzo(problem *q)
{
    static const char *const names[] = {"k1", "k2", "k3", "k4", "K", "Ks", "klA", "pCO2"};
    take_model(q, "akzo", "models/akzo.mo");
    take_parameters(q, AKZO_P, akzo_value);
    q->by = akzo_by, q->variable = akzo_variable;
    q->s0[KS * 6 + 5] = q->y0[0] * q->y0[3];
    for (int k = 0; k < AKZO_P; k++) {
        double f[6], *sp = q->sp0 + (size_t)k * 6, s5 = q->s0[k * 6 + 5];
        name_parameter(q, k, names[k], 0);
        akzo_by(0.0, q->y0, NULL, k, f, NULL);
        for (int i = 0; i < 5; i++) sp[i] = -f[i];
        double r = 2.0 * akzo_value[K4] * q->y0[5] * sqrt(q->y0[1]) * s5;
        sp[1] -= 0.5 * r, sp[4] += r;
    }
}

/* ---- transistor amplifier ---- */

enum { BETA, THERMAL, GAIN, C1, AMP_P = C1 + 5 };
static const double amp_value[] = {1e-6, 0.026, 0.99, 1e-6, 2e-6, 3e-6, 4e-6, 5e-6};

/* By a capacitance: the slope of its voltage, into one node, or out of one into the next */
static void by_capacitance(int c, const double *yp, double *f)
{
    static const int node[] = {0, 2, 3, 5, 6};
    const int i = node[c];
    const bool grounded = c == 1 || c == 3;
    f[i] = grounded ? -yp[i] : yp[i + 1] - yp[i];
    if (!grounded) f[i + 1] = -f[i];
}

static int amp_by(double t, const double *y, const double *yp, int k, double *f, void *user)
{
    (void)t, (void)user;
    memset(f, 0, 8 * sizeof *f);
    if (k >= C1) {
        by_capacitance(k - C1, yp, f);
        return 0;
    }
    const double *p = amp_value;
    for (int b = 1; b <= 4; b += 3) {
        double u = y[b] - y[b + 1], e = exp(u / p[THERMAL]), i = p[BETA] * (e - 1.0);
        double di = k == BETA      ? e - 1.0
                    : k == THERMAL ? -p[BETA] * e * u / (p[THERMAL] * p[THERMAL])
                                   : 0.0;
        f[b] -= k == GAIN ? -i : (1.0 - p[GAIN]) * di;
        f[b + 1] += di;
        f[b + 2] -= k == GAIN ? i : p[GAIN] * di;
    }
    return 0;
}

static const char *amp_variable(int i, char text[32])
{
    snprintf(text, 32, "U[%d]", i + 1);
    return text;
}

/* The transistors carry no current at the start, and start values are given: S = 0. */
static void transamp(problem *q)
{
    static const char *const names[] = {"beta", "UF", "alpha"};
    take_model(q, "transamp", "models/transamp.mo");
    take_parameters(q, AMP_P, amp_value);
    for (int k = 0; k < AMP_P; k++) name_parameter(q, k, k < C1 ? names[k] : "C[%d]", k - C1 + 1);
    q->tight = 1e-11, q->check = 1e-7, q->tightest = 8.0; /* IDAS takes 3 s, at 1e-8 26 s */
    q->by = amp_by, q->variable = amp_variable;
    q->sp0[(C1 + 1) * 8 + 2] = -q->yp0[2] / amp_value[C1 + 1];
    q->sp0[(C1 + 3) * 8 + 5] = -q->yp0[5] / amp_value[C1 + 3];
}

/* ---- patterns ---- */

typedef struct sparse {
    int width, n; /* what a problem needs */
    int *colptr, *rowind;
    double *k; /* parameters */
} sparse;

/* Columns from a function that lists rows of column j, ascending */
static void take_pattern(problem *q, sparse *d, int (*rows)(const sparse *d, int j, int *row))
{
    const int n = q->form.n;
    int row[8], count = 0;
    d->colptr = bench_space((size_t)n + 1, sizeof *d->colptr);
    for (int j = 0; j < n; j++) d->colptr[j + 1] = count += rows(d, j, row);
    d->rowind = bench_space((size_t)count, sizeof *d->rowind);
    for (int j = 0; j < n; j++) rows(d, j, d->rowind + d->colptr[j]);
    q->form.colptr = d->colptr, q->form.rowind = d->rowind, q->form.user = d;
}

static double *entry(const sparse *d, double *values, int i, int j)
{
    for (int e = d->colptr[j]; e < d->colptr[j + 1]; e++)
        if (d->rowind[e] == i) return &values[e];
    abort();
}

/* ---- heat equation ---- */

enum { STRIPES = 10, STRIPE_WIDTH = 2, SIDE = STRIPES * STRIPE_WIDTH + 2 };

static bool on_edge(int i)
{
    const int x = i / SIDE, y = i % SIDE;
    return x == 0 || y == 0 || x == SIDE - 1 || y == SIDE - 1;
}

/* The stripe of the link from column x - 1 to x */
static int stripe(int x)
{
    const int z = (x - 1) / STRIPE_WIDTH;
    return z < STRIPES ? z : STRIPES - 1;
}

/* h^2 u' = sum over four neighbours of k (u_j - u_i) */
static int heat_f(double t, const double *u, const double *up, double *f, void *user)
{
    (void)t;
    const sparse *d = user;
    const double h2 = 1.0 / ((SIDE - 1.0) * (SIDE - 1.0));
    for (int i = 0; i < SIDE * SIDE; i++) {
        if (on_edge(i)) {
            f[i] = u[i];
            continue;
        }
        const double own = d->k[stripe(i / SIDE)], right = d->k[stripe(i / SIDE + 1)];
        f[i] = h2 * up[i] - own * (u[i - SIDE] + u[i - 1] + u[i + 1] - 3.0 * u[i]) -
               right * (u[i + SIDE] - u[i]);
    }
    return 0;
}

static int heat_jacobian(double t, const double *u, const double *up, double *dfdy, double *dfdyp,
                         void *user)
{
    (void)t, (void)u, (void)up;
    const sparse *d = user;
    for (int j = 0; j < SIDE * SIDE; j++)
        for (int e = d->colptr[j]; e < d->colptr[j + 1]; e++) {
            const int i = d->rowind[e];
            const double own = d->k[stripe(i / SIDE)], right = d->k[stripe(i / SIDE + 1)];
            if (on_edge(i))
                dfdy[e] = 1.0;
            else
                dfdy[e] = i == j ? 3.0 * own + right : j == i + SIDE ? -right : -own;
            if (i == j && !on_edge(i)) dfdyp[e] = 1.0 / ((SIDE - 1.0) * (SIDE - 1.0));
        }
    return 0;
}

static int heat_by(double t, const double *u, const double *up, int k, double *f, void *user)
{
    (void)t, (void)up, (void)user;
    memset(f, 0, SIDE * SIDE * sizeof *f);
    for (int i = SIDE; i < SIDE * (SIDE - 1); i++) {
        if (on_edge(i)) continue;
        if (stripe(i / SIDE) == k) f[i] -= u[i - SIDE] + u[i - 1] + u[i + 1] - 3.0 * u[i];
        if (stripe(i / SIDE + 1) == k) f[i] -= u[i + SIDE] - u[i];
    }
    return 0;
}

static int heat_rows(const sparse *d, int j, int *row)
{
    (void)d;
    const int near[] = {j - SIDE, j - 1, j, j + 1, j + SIDE};
    int count = 0;
    for (int e = 0; e < 5; e++)
        if (near[e] == j || (near[e] >= 0 && near[e] < SIDE * SIDE && !on_edge(near[e])))
            row[count++] = near[e];
    return count;
}

static const char *heat_variable(int i, char text[32])
{
    snprintf(text, 32, "u[%d,%d]", i / SIDE + 1, i % SIDE + 1);
    return text;
}

static void heat_start(problem *q, sparse *d)
{
    const double h = 1.0 / (SIDE - 1);
    double *f = bench_space((size_t)q->form.n, sizeof *f);
    dae_kind *kinds = bench_space((size_t)q->form.n, sizeof *kinds);
    for (int i = 0; i < q->form.n; i++) {
        const double x = i / SIDE * h, y = i % SIDE * h;
        kinds[i] = on_edge(i) ? DAE_KIND_INDEX1 : DAE_KIND_DIFFERENTIAL;
        if (!on_edge(i))
            q->y0[i] = sin(PI * x) * sin(PI * y) + 0.5 * sin(2.0 * PI * x) * sin(3.0 * PI * y);
    }
    heat_f(0.0, q->y0, q->yp0, f, d);
    for (int i = 0; i < q->form.n; i++) q->yp0[i] = on_edge(i) ? 0.0 : -f[i] / (h * h);
    for (int k = 0; k < q->np; k++) {
        double *sp = q->sp0 + (size_t)k * (size_t)q->form.n;
        heat_by(0.0, q->y0, NULL, k, sp, d);
        for (int i = 0; i < q->form.n; i++) sp[i] /= -h * h;
    }
    q->form.kinds = kinds;
    free(f);
}

static void heat(problem *q)
{
    static const double values[] = {1, 0.9, 1.1, 1.2, 0.8, 1, 1.3, 0.7, 1, 1.1};
    sparse *d = bench_space(1, sizeof *d);
    q->file = "bench/sensitivity/heat_zones.mo", q->tend = 0.05;
    q->form = (dae_residual){.n = SIDE * SIDE, .f = heat_f, .jacobian = heat_jacobian};
    q->y0 = bench_space(SIDE * SIDE, sizeof *q->y0);
    q->yp0 = bench_space(SIDE * SIDE, sizeof *q->yp0);
    take_parameters(q, STRIPES, values);
    d->k = q->p;
    take_pattern(q, d, heat_rows);
    for (int k = 0; k < STRIPES; k++) name_parameter(q, k, "k[%d]", k + 1);
    q->by = heat_by, q->variable = heat_variable;
    heat_start(q, d);
}

/* ---- RC ladder: e, i, then the voltages of n cells ---- */

enum { ZONES = 1000, ZONE_WIDTH = 10, CELLS = ZONES * ZONE_WIDTH };

/* The conductance before cell c = 1 .. CELLS, times CELLS */
static int zone(int c)
{
    return (c - 1) / ZONE_WIDTH;
}

static int ladder_f(double t, const double *y, const double *yp, double *f, void *user)
{
    const sparse *d = user;
    const double *v = y + 1;
    f[0] = y[0] - sin(4.0 * PI * t);
    f[1] = y[1] - CELLS * d->k[0] * (y[0] - v[1]);
    for (int c = 1; c <= CELLS; c++) {
        const double before = c > 1 ? CELLS * d->k[zone(c)] * (v[c - 1] - v[c]) : y[1];
        const double behind = c < CELLS ? CELLS * d->k[zone(c + 1)] * (v[c] - v[c + 1]) : 0.0;
        f[1 + c] = yp[1 + c] / CELLS - before + behind;
    }
    return 0;
}

static int ladder_rows(const sparse *d, int j, int *row)
{
    (void)d;
    int count = 0;
    if (j == 0) row[count++] = 0;
    if (j <= 2) row[count++] = 1; /* of i */
    if (j == 1) row[count++] = 2;
    for (int i = j - 1; j >= 2 && i <= j + 1; i++)
        if (i >= 2 && i <= CELLS + 1) row[count++] = i;
    return count;
}

static int ladder_jacobian(double t, const double *y, const double *yp, double *dfdy, double *dfdyp,
                           void *user)
{
    (void)t, (void)y, (void)yp;
    const sparse *d = user;
    const double first = CELLS * d->k[0];
    *entry(d, dfdy, 0, 0) = 1.0;
    *entry(d, dfdy, 1, 0) = -first;
    *entry(d, dfdy, 1, 1) = 1.0;
    *entry(d, dfdy, 1, 2) = first;
    *entry(d, dfdy, 2, 1) = -1.0;
    for (int c = 1; c <= CELLS; c++) {
        const double before = c > 1 ? CELLS * d->k[zone(c)] : 0.0;
        const double behind = c < CELLS ? CELLS * d->k[zone(c + 1)] : 0.0;
        *entry(d, dfdy, 1 + c, 1 + c) = before + behind;
        *entry(d, dfdyp, 1 + c, 1 + c) = 1.0 / CELLS;
        if (c > 1) *entry(d, dfdy, 1 + c, c) = -before;
        if (c < CELLS) *entry(d, dfdy, 1 + c, 2 + c) = -behind;
    }
    return 0;
}

static void ladder_all_by(double t, const double *y, const double *yp, const double *l, double *out,
                          void *user)
{
    (void)t, (void)yp, (void)user;
    const double *v = y + 1, *node = l + 1;
    memset(out, 0, ZONES * sizeof *out);
    out[0] = -CELLS * (y[0] - v[1]) * l[1];
    for (int c = 2; c <= CELLS; c++)
        out[zone(c)] += CELLS * (v[c - 1] - v[c]) * (node[c - 1] - node[c]);
}

static const char *ladder_variable(int i, char text[32])
{
    snprintf(text, 32, i == 0 ? "e" : i == 1 ? "i" : "v[%d]", i - 1);
    return text;
}

static void ladder(problem *q)
{
    sparse *d = bench_space(1, sizeof *d);
    const size_t n = CELLS + 2;
    q->file = "bench/sensitivity/ladder_zones.mo", q->tend = 1.0;
    q->form = (dae_residual){.n = (int)n, .f = ladder_f, .jacobian = ladder_jacobian};
    q->y0 = bench_space(n, sizeof *q->y0);
    q->yp0 = bench_space(n, sizeof *q->yp0);
    take_parameters(q, ZONES, NULL);
    d->k = q->p;
    take_pattern(q, d, ladder_rows);
    for (int k = 0; k < ZONES; k++) name_parameter(q, k, "g[%d]", k + 1);
    q->variable = ladder_variable;
    q->yp0[0] = 4.0 * PI, q->yp0[1] = CELLS * 4.0 * PI;
    q->weights = bench_space(n, sizeof *q->weights);
    q->weights[1 + CELLS / 4] = 1.0;
    q->tight = 1e-9, q->check = 1e-9, q->tightest = 8.0;
    q->all_by = ladder_all_by, q->adjoint_size = 1.0, q->gradient_size = 1e-3;
}

/* ---- all ---- */

static const struct {
    const char *name;
    void (*make)(problem *q);
} all[] = {{"robertson", robertson},
           {"akzo", akzo},
           {"transamp", transamp},
           {"heat", heat},
           {"ladder", ladder}};

/* The text in native code, and where its variables are; false: it has not all of them */
static bool translate(problem *q)
{
    char path[1024], text[32];
    dae_diag diag = {0};
    snprintf(path, sizeof path, "%s/%s", BENCH_ROOT, q->file);
    dae_model text_of = {.file = path, .engine = DAE_ENGINE_NATIVE};
    if (dae_problem_from_model(&text_of, &q->native, &diag) != DAE_OK)
        return fprintf(stderr, "%s: %s\n", q->name, diag.text), false;
    q->position = bench_space((size_t)q->form.n, sizeof *q->position);
    for (int i = 0; i < q->form.n; i++) {
        q->position[i] = dae_problem_find_variable(q->native, q->variable(i, text));
        if (q->position[i] < 0)
            return fprintf(stderr, "%s: the text has no %s\n", q->name, text), false;
    }
    return true;
}

problem *problem_new(const char *name)
{
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (strcmp(all[i].name, name) != 0) continue;
        problem *q = bench_space(1, sizeof *q);
        q->name = all[i].name;
        q->tight = 1e-12, q->check = 1e-10, q->tightest = 10.0;
        all[i].make(q);
        if (translate(q)) return q;
        problem_free(q);
        return NULL;
    }
    return NULL;
}

void problem_free(problem *q)
{
    if (!q) return;
    for (int k = 0; k < q->np; k++) free((void *)q->names[k]);
    if (!q->of) {
        sparse *d = q->form.user;
        free(q->y0), free(q->yp0), free((void *)q->form.kinds);
        free(d->colptr), free(d->rowind), free(d);
    }
    model_free(q->of);
    dae_problem_free(q->native);
    free(q->names), free(q->p), free(q->scale), free(q->s0), free(q->sp0), free(q->weights);
    free(q->position), free(q);
}
