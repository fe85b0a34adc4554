/* Quasilinear forms of the examples in [Baese17], and a small driver for one method. */
#ifndef DAE_TEST_HERK_PROBLEMS_H
#define DAE_TEST_HERK_PROBLEMS_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "method/half_explicit/herk.h"

enum { MOST = 8, LONGEST = 512 };
static const double PI = 3.14159265358979323846;

typedef struct counter {
    long f, g, g_x, E;
    int bad_component; /* f delivers NaN there after t_bad */
    double t_bad;
} counter;

#define SHAPE(N, NG, CONSTANT)                                                                     \
    .n = N, .ne = N, .ng = NG,                                                                     \
    .E_matrix = {.rows = N, .columns = N, .count = (size_t)(N) * (N), .constant = CONSTANT},       \
    .g_x_matrix = {.rows = NG, .columns = N, .count = (size_t)(NG) * (N)}

static inline eval_status zero_slope(void *c, double t, const double *x, double *g_t, int ng)
{
    (void)c, (void)t, (void)x;
    memset(g_t, 0, (size_t)ng * sizeof *g_t);
    return EVAL_OK;
}

static inline eval_status diagonal(void *c, int n, const double *d, double *E)
{
    ((counter *)c)->E++;
    memset(E, 0, (size_t)n * (size_t)n * sizeof *E);
    for (int i = 0; i < n; i++) E[i + n * i] = d[i];
    return EVAL_OK;
}

/* ---- section 4.2.3: x' = x, 0 = x - y ------------------------------------------------------- */

static eval_status growth_E(void *c, double t, const double *x, double *E)
{
    (void)t, (void)x;
    return diagonal(c, 2, (double[]){1, 0}, E);
}
static eval_status growth_f(void *c, double t, const double *x, double *f)
{
    (void)t;
    ((counter *)c)->f++;
    f[0] = x[0];
    f[1] = x[0] - x[1];
    return EVAL_OK;
}
static eval_status growth_g(void *c, double t, const double *x, double *g)
{
    (void)c, (void)t;
    g[0] = x[0] - x[1];
    return EVAL_OK;
}
static eval_status growth_g_x(void *c, double t, const double *x, double *J)
{
    (void)c, (void)t, (void)x;
    J[0] = 1;
    J[1] = -1;
    return EVAL_OK;
}
static eval_status growth_g_t(void *c, double t, const double *x, double *g_t)
{
    return zero_slope(c, t, x, g_t, 1);
}
static const quasilinear_form growth = {SHAPE(2, 1, true), .E = growth_E,     .f = growth_f,
                                        .g = growth_g,     .g_x = growth_g_x, .g_t = growth_g_t};

/* ---- section 4.2.4: the selection changes at pi/4 ------------------------------------------- */

static eval_status trig_E(void *c, double t, const double *x, double *E)
{
    (void)t, (void)x;
    return diagonal(c, 3, (double[]){1, 1, 0}, E);
}
static eval_status trig_f(void *c, double t, const double *x, double *f)
{
    ((counter *)c)->f++;
    f[0] = x[1];
    f[1] = -sin(t) * x[2];
    f[2] = x[0] * x[0] + x[1] * x[1] - 1;
    return EVAL_OK;
}
static eval_status trig_g(void *c, double t, const double *x, double *g)
{
    (void)c;
    g[0] = x[0] * x[0] + x[1] * x[1] - 1;
    g[1] = x[0] * x[1] - sin(t) * x[1] * x[2];
    return EVAL_OK;
}
static eval_status trig_g_x(void *c, double t, const double *x, double *J)
{
    ((counter *)c)->g_x++;
    J[0] = 2 * x[0];
    J[1] = x[1];
    J[2] = 2 * x[1];
    J[3] = x[0] - sin(t) * x[2];
    J[4] = 0;
    J[5] = -sin(t) * x[1];
    return EVAL_OK;
}
static eval_status trig_g_t(void *c, double t, const double *x, double *g_t)
{
    (void)c;
    g_t[0] = 0;
    g_t[1] = -cos(t) * x[1] * x[2];
    return EVAL_OK;
}
static const quasilinear_form trig = {SHAPE(3, 2, true), .E = trig_E,     .f = trig_f,
                                      .g = trig_g,       .g_x = trig_g_x, .g_t = trig_g_t};

/* ---- (4.5): the pendulum with all levels, m = l = 1; (4.6): the last level alone ------------- */

static const double GRAVITY = 13.7503716373294544;
static const double EXACT_GRAVITY = 13.75037163604074565; /* period 2 */

static eval_status pendulum_E(void *c, double t, const double *x, double *E)
{
    (void)t, (void)x;
    return diagonal(c, 5, (double[]){1, 1, 1, 1, 0}, E);
}
static eval_status pendulum_rhs(void *c, double t, const double *x, double *f, double gravity)
{
    counter *count = c;
    count->f++;
    f[0] = x[2];
    f[1] = x[3];
    f[2] = -2 * x[0] * x[4];
    f[3] = -2 * x[1] * x[4] - gravity;
    f[4] = x[0] * x[0] + x[1] * x[1] - 1;
    if (count->bad_component > 0 && t > count->t_bad) f[count->bad_component] = NAN;
    return EVAL_OK;
}
static eval_status pendulum_f(void *c, double t, const double *x, double *f)
{
    return pendulum_rhs(c, t, x, f, GRAVITY);
}
static eval_status exact_pendulum_f(void *c, double t, const double *x, double *f)
{
    return pendulum_rhs(c, t, x, f, EXACT_GRAVITY);
}
static double pendulum_level3(const double *x, double gravity)
{
    double r2 = x[0] * x[0] + x[1] * x[1];
    return 2 * (x[2] * x[2] + x[3] * x[3]) - 4 * r2 * x[4] - 2 * gravity * x[1];
}
static void pendulum_levels(const double *x, double *g, double gravity)
{
    g[0] = x[0] * x[0] + x[1] * x[1] - 1;
    g[1] = 2 * x[0] * x[2] + 2 * x[1] * x[3];
    g[2] = pendulum_level3(x, gravity);
}
static eval_status pendulum_g(void *c, double t, const double *x, double *g)
{
    (void)t;
    ((counter *)c)->g++;
    pendulum_levels(x, g, GRAVITY);
    return EVAL_OK;
}
static eval_status exact_pendulum_g(void *c, double t, const double *x, double *g)
{
    (void)t;
    ((counter *)c)->g++;
    pendulum_levels(x, g, EXACT_GRAVITY);
    return EVAL_OK;
}
static void level3_gradient(const double *x, double *row, int stride, double gravity)
{
    double r2 = x[0] * x[0] + x[1] * x[1];
    row[0] = -8 * x[0] * x[4];
    row[stride] = -8 * x[1] * x[4] - 2 * gravity;
    row[2 * stride] = 4 * x[2];
    row[3 * stride] = 4 * x[3];
    row[4 * stride] = -4 * r2;
}
static eval_status pendulum_g_x(void *c, double t, const double *x, double *J)
{
    (void)t;
    ((counter *)c)->g_x++;
    memset(J, 0, 15 * sizeof *J);
    J[0] = 2 * x[0];
    J[3] = 2 * x[1];
    J[1] = 2 * x[2];
    J[4] = 2 * x[3];
    J[7] = 2 * x[0];
    J[10] = 2 * x[1];
    level3_gradient(x, J + 2, 3, GRAVITY);
    return EVAL_OK;
}
static eval_status pendulum_g_t(void *c, double t, const double *x, double *g_t)
{
    return zero_slope(c, t, x, g_t, 3);
}
static const quasilinear_form pendulum = {SHAPE(5, 3, true),   .E = pendulum_E,
                                          .f = pendulum_f,     .g = pendulum_g,
                                          .g_x = pendulum_g_x, .g_t = pendulum_g_t};
static const quasilinear_form exact_pendulum = {SHAPE(5, 3, true),     .E = pendulum_E,
                                                .f = exact_pendulum_f, .g = exact_pendulum_g,
                                                .g_x = pendulum_g_x,   .g_t = pendulum_g_t};

static eval_status level_g(void *c, double t, const double *x, double *g)
{
    (void)c, (void)t;
    g[0] = pendulum_level3(x, GRAVITY);
    return EVAL_OK;
}
static eval_status level_g_x(void *c, double t, const double *x, double *J)
{
    (void)c, (void)t;
    level3_gradient(x, J, 1, GRAVITY);
    return EVAL_OK;
}
static eval_status level_g_t(void *c, double t, const double *x, double *g_t)
{
    return zero_slope(c, t, x, g_t, 1);
}
static const quasilinear_form level_pendulum = {SHAPE(5, 1, true), .E = pendulum_E,
                                                .f = pendulum_f,   .g = level_g,
                                                .g_x = level_g_x,  .g_t = level_g_t};

/* ---- (4.7), corrected: length l(t), wind alpha(t), m = 2 ------------------------------------- */

static const double WIND_M = 2, WIND_GRAVITY = 9.78;
static double wind_length(double t)
{
    return 0.5 + 0.03 * (50 - t);
}
static double wind_force(double t)
{
    return 1 - 0.04 * t;
}
static eval_status wind_E(void *c, double t, const double *x, double *E)
{
    (void)t, (void)x;
    return diagonal(c, 5, (double[]){1, 1, WIND_M, WIND_M, 0}, E);
}
static eval_status wind_f(void *c, double t, const double *x, double *f)
{
    double l = wind_length(t);
    ((counter *)c)->f++;
    f[0] = x[2];
    f[1] = x[3];
    f[2] = -2 * x[0] * x[4] + WIND_M * wind_force(t);
    f[3] = -2 * x[1] * x[4] - WIND_M * WIND_GRAVITY;
    f[4] = x[0] * x[0] + x[1] * x[1] - l * l;
    return EVAL_OK;
}
static eval_status wind_g(void *c, double t, const double *x, double *g)
{
    double l = wind_length(t), lp = -0.03;
    (void)c;
    g[0] = x[0] * x[0] + x[1] * x[1] - l * l;
    g[1] = 2 * x[0] * x[2] + 2 * x[1] * x[3] - 2 * l * lp;
    g[2] = 2 * (x[2] * x[2] + x[3] * x[3]) + 2 * x[0] * wind_force(t) - 4 / WIND_M * l * l * x[4] -
           2 * WIND_GRAVITY * x[1] - 2 * lp * lp;
    return EVAL_OK;
}
static eval_status wind_g_x(void *c, double t, const double *x, double *J)
{
    double l = wind_length(t);
    (void)c;
    memset(J, 0, 15 * sizeof *J);
    J[0] = 2 * x[0];
    J[3] = 2 * x[1];
    J[1] = 2 * x[2];
    J[4] = 2 * x[3];
    J[7] = 2 * x[0];
    J[10] = 2 * x[1];
    J[2] = 2 * wind_force(t);
    J[5] = -2 * WIND_GRAVITY;
    J[8] = 4 * x[2];
    J[11] = 4 * x[3];
    J[14] = -4 / WIND_M * l * l;
    return EVAL_OK;
}
static eval_status wind_g_t(void *c, double t, const double *x, double *g_t)
{
    double l = wind_length(t), lp = -0.03;
    (void)c;
    g_t[0] = -2 * l * lp;
    g_t[1] = -2 * lp * lp;
    g_t[2] = -0.08 * x[0] - 8 / WIND_M * l * lp * x[4];
    return EVAL_OK;
}
static const quasilinear_form wind_pendulum = {SHAPE(5, 3, true), .E = wind_E,     .f = wind_f,
                                               .g = wind_g,       .g_x = wind_g_x, .g_t = wind_g_t};

/* ---- (4.8): three masses, the middle one on a prescribed path -------------------------------- */

static const double SPRING = 1.0 / 6.0;

static eval_status chain_E(void *c, double t, const double *x, double *E)
{
    (void)t, (void)x;
    return diagonal(c, 7, (double[]){1, 1, 1, 1, 1, 1, 0}, E);
}
static eval_status chain_f(void *c, double t, const double *x, double *f)
{
    double left = SPRING * (x[0] - x[1]), right = SPRING * (x[1] - x[2]);
    ((counter *)c)->f++;
    for (int i = 0; i < 3; i++) f[i] = x[3 + i];
    f[3] = x[6] - left;
    f[4] = left - right;
    f[5] = x[6] + right;
    f[6] = x[1] - sin(t);
    return EVAL_OK;
}
static eval_status chain_g(void *c, double t, const double *x, double *g)
{
    (void)c;
    g[0] = x[1] - sin(t);
    g[1] = x[4] - cos(t);
    g[2] = SPRING * (x[0] - 2 * x[1] + x[2]) + sin(t);
    g[3] = SPRING * (x[3] - 2 * x[4] + x[5]) + cos(t);
    g[4] = SPRING * (-3 * SPRING * (x[0] - 2 * x[1] + x[2]) + 2 * x[6]) - sin(t);
    return EVAL_OK;
}
static eval_status chain_g_x(void *c, double t, const double *x, double *J)
{
    static const double second[] = {1, -2, 1};
    (void)c, (void)t, (void)x;
    memset(J, 0, 35 * sizeof *J);
    J[0 + 5 * 1] = J[1 + 5 * 4] = 1;
    for (int i = 0; i < 3; i++) {
        J[2 + 5 * i] = J[3 + 5 * (3 + i)] = SPRING * second[i];
        J[4 + 5 * i] = -3 * SPRING * SPRING * second[i];
    }
    J[4 + 5 * 6] = 2 * SPRING;
    return EVAL_OK;
}
static eval_status chain_g_t(void *c, double t, const double *x, double *g_t)
{
    (void)c, (void)x;
    g_t[0] = -cos(t);
    g_t[1] = sin(t);
    g_t[2] = cos(t);
    g_t[3] = -sin(t);
    g_t[4] = -cos(t);
    return EVAL_OK;
}
static const quasilinear_form chain = {SHAPE(7, 5, true), .E = chain_E,     .f = chain_f,
                                       .g = chain_g,      .g_x = chain_g_x, .g_t = chain_g_t};
static inline void chain_exact(double t, double *x)
{
    double s = sin(t), k = cos(t);
    double all[] = {-2 * s, s, -2 * s, -2 * k, k, -2 * k, 1.5 * s};
    memcpy(x, all, sizeof all);
}

/* ---- section 4.6: a circuit with one loop of capacitors and a source ------------------------- */

static eval_status circuit_E(void *c, double t, const double *x, double *E)
{
    (void)t, (void)x;
    ((counter *)c)->E++;
    memset(E, 0, 25 * sizeof *E);
    E[0] = -1;
    E[1] = 1;
    E[6] = -1;
    return EVAL_OK;
}
static eval_status circuit_f(void *c, double t, const double *x, double *f)
{
    ((counter *)c)->f++;
    f[0] = x[2] + x[4];
    f[1] = x[3];
    f[2] = x[2] - sin(100 * t);
    f[3] = x[0] - x[2] + x[3];
    f[4] = x[1] - x[3];
    return EVAL_OK;
}
static eval_status circuit_g(void *c, double t, const double *x, double *g)
{
    (void)c;
    g[0] = x[2] - sin(100 * t);
    g[1] = x[0] - x[2] + x[3];
    g[2] = x[1] - x[3];
    g[3] = 2 * x[2] + x[3] + 2 * x[4] + 100 * cos(100 * t);
    return EVAL_OK;
}
static eval_status circuit_g_x(void *c, double t, const double *x, double *J)
{
    (void)c, (void)t, (void)x;
    static const double rows[4][5] = {
        {0, 0, 1, 0, 0}, {1, 0, -1, 1, 0}, {0, 1, 0, -1, 0}, {0, 0, 2, 1, 2}};
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 5; j++) J[i + 4 * j] = rows[i][j];
    return EVAL_OK;
}
static eval_status circuit_g_t(void *c, double t, const double *x, double *g_t)
{
    (void)c, (void)x;
    g_t[0] = -100 * cos(100 * t);
    g_t[1] = g_t[2] = 0;
    g_t[3] = -1e4 * sin(100 * t);
    return EVAL_OK;
}
static const quasilinear_form circuit = {SHAPE(5, 4, true), .E = circuit_E,     .f = circuit_f,
                                         .g = circuit_g,    .g_x = circuit_g_x, .g_t = circuit_g_t};
static inline void circuit_exact(double t, double *x)
{
    double s = sin(100 * t), k = cos(100 * t), e = exp(-0.5 * t);
    double e2 = (100 * k + 20000 * s - 100 * e) / 40001;
    x[0] = s - e2;
    x[1] = e2;
    x[2] = s;
    x[3] = e2;
    x[4] = (-2000100 * k - 50001 * s + 50 * e) / 40001;
}

/* ---- section 4.7: chemical Akzo Nobel ----------------------------------------------------------
 */

static const double AKZO_KS = 115.83;

static eval_status akzo_E(void *c, double t, const double *x, double *E)
{
    (void)t, (void)x;
    return diagonal(c, 6, (double[]){1, 1, 1, 1, 1, 0}, E);
}
static eval_status akzo_f(void *c, double t, const double *y, double *f)
{
    (void)t;
    ((counter *)c)->f++;
    if (y[1] < 0) return EVAL_RETRY;
    double r1 = 18.7 * pow(y[0], 4) * sqrt(y[1]), r2 = 0.58 * y[2] * y[3];
    double r3 = 0.58 / 34.4 * y[0] * y[4], r4 = 0.09 * y[0] * y[3] * y[3];
    double r5 = 0.42 * y[5] * y[5] * sqrt(y[1]), inflow = 3.3 * (0.9 / 737 - y[1]);
    f[0] = -2 * r1 + r2 - r3 - r4;
    f[1] = -0.5 * r1 - r4 - 0.5 * r5 + inflow;
    f[2] = r1 - r2 + r3;
    f[3] = -r2 + r3 - 2 * r4;
    f[4] = r2 - r3 + r5;
    f[5] = AKZO_KS * y[0] * y[3] - y[5];
    return EVAL_OK;
}
static eval_status akzo_g(void *c, double t, const double *y, double *g)
{
    (void)c, (void)t;
    g[0] = AKZO_KS * y[0] * y[3] - y[5];
    return EVAL_OK;
}
static eval_status akzo_g_x(void *c, double t, const double *y, double *J)
{
    (void)c, (void)t;
    memset(J, 0, 6 * sizeof *J);
    J[0] = AKZO_KS * y[3];
    J[3] = AKZO_KS * y[0];
    J[5] = -1;
    return EVAL_OK;
}
static eval_status akzo_g_t(void *c, double t, const double *x, double *g_t)
{
    return zero_slope(c, t, x, g_t, 1);
}
static const quasilinear_form akzo = {SHAPE(6, 1, true), .E = akzo_E,     .f = akzo_f,
                                      .g = akzo_g,       .g_x = akzo_g_x, .g_t = akzo_g_t};
static const double akzo_start[] = {0.444, 0.00123, 0, 0.007, 0, 0.444 * 0.007 * 115.83};
static const double akzo_end[] = {0.1150794920661702, 0.0012038314715677, 0.1611562887407974,
                                  0.0003656156421249, 0.0170801088526440, 0.0048735313103074};

/* ---- a driver for one method ------------------------------------------------------------------
 */

typedef struct runner {
    const method *m;
    quasilinear_form form;
    form_set forms;
    counter count;
    dae_stats stats;
    evaluator eval;
    error_norm norm;
    method_context ctx;
    void *state, *scratch;
    const herk_config *config; /* NULL: the method's own */
    attempt last;
    double t, x[LONGEST];
    long accepted, attempts;
} runner;

static inline void runner_open(runner *r, const method *m, const quasilinear_form *form,
                               double rtol, double atol, const herk_config *config)
{
    memset(r, 0, sizeof *r);
    r->m = m;
    r->form = *form;
    r->form.context = &r->count;
    r->forms.quasilinear = &r->form;
    r->config = config;
    r->eval.stats = &r->stats;
    dae_options options = dae_options_default();
    options.rtol = rtol;
    options.atol = atol;
    assert_true(norm_new(&r->norm, form->n, &options));
    r->ctx = (method_context){
        .method = m, .n = form->n, .eval = &r->eval, .norm = &r->norm, .forms = &r->forms};
    size_t state, scratch;
    method_size(m, form->n, &state, &scratch);
    r->state = dae_calloc(1, state);
    r->scratch = dae_calloc(1, scratch);
    r->ctx.cache = m->cache_new(&r->ctx);
    assert_non_null(r->ctx.cache);
}

static inline void runner_close(runner *r)
{
    r->m->cache_free(r->ctx.cache);
    dae_free(r->state);
    dae_free(r->scratch);
    norm_free(&r->norm);
}

static inline void runner_start(runner *r, double t, const double *x, double h)
{
    double xp[LONGEST] = {0};
    start_point at = {.t = t, .h = h, .y = x, .yp = xp};
    memcpy(r->x, x, (size_t)r->form.n * sizeof *x);
    r->t = t;
    assert_int_equal(norm_update(&r->norm, t, x), -1);
    if (r->config)
        herk_start(r->state, r->scratch, &r->ctx, &at, r->config);
    else
        r->m->start(r->state, r->scratch, &r->ctx, &at);
}

static inline attempt_status runner_try(runner *r, double h)
{
    r->attempts++;
    r->m->attempt(r->state, r->scratch, &r->ctx, h, r->m->max_order, &r->last);
    return r->last.status;
}

static inline void runner_accept(runner *r)
{
    r->m->accept(r->state, r->scratch, &r->ctx);
    r->accepted++;
    r->t = r->last.t + r->last.h;
    memcpy(r->x, r->last.y, (size_t)r->form.n * sizeof *r->x);
    norm_update(&r->norm, r->t, r->x);
}

/* n equal steps to tf */
static inline void run_fixed(runner *r, double tf, int n)
{
    double t0 = r->t, h = (tf - t0) / n;
    for (int i = 0; i < n; i++) {
        assert_int_equal(runner_try(r, h), ATTEMPT_OK);
        runner_accept(r);
    }
    assert_true(fabs(r->t - tf) < 1e-9);
}

/* The control of the thesis, the last step clipped; watch (may be NULL) sees every step. */
static inline void run_thesis(runner *r, double tf, double h, void (*watch)(runner *, void *),
                              void *user)
{
    while (r->t < tf * (1 - 1e-14)) {
        if (r->t + h > tf) h = tf - r->t;
        assert_true(h > 1e-12);
        attempt_status status = runner_try(r, h);
        if (status != ATTEMPT_OK) {
            h *= 0.5;
            continue;
        }
        h *= r->last.next_factor;
        if (r->last.error > 1) continue;
        runner_accept(r);
        if (watch) watch(r, user);
    }
}

/* An ordinary control: errors proportional to h^order. False: it gave up. */
static inline bool run_to(runner *r, double tf, double h)
{
    for (int failures = 0; fabs(tf - r->t) > 1e-13 * (1 + fabs(tf));) {
        if (fabs(h) > fabs(tf - r->t)) h = tf - r->t;
        if (runner_try(r, h) != ATTEMPT_OK) {
            h *= 0.25;
            if (++failures > 20 || r->t + h == r->t) return false;
            continue;
        }
        double factor = 0.9 * pow(fmax(r->last.error, 1e-10), -1.0 / r->last.order);
        if (r->last.error <= 1) {
            runner_accept(r);
            failures = 0;
        }
        h *= fmin(5, fmax(0.2, factor));
    }
    return true;
}

static inline double distance(int n, const double *x, const double *y)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += (x[i] - y[i]) * (x[i] - y[i]);
    return sqrt(sum);
}

#endif
