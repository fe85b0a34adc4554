/* Problems in Hessenberg and mechanical form, and drivers for one-step methods, shared by the tests
 * of the half-explicit methods. */
#ifndef TEST_HALF_EXPLICIT_H
#define TEST_HALF_EXPLICIT_H

#include "method/half_explicit/hem_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Count of calls, in every problem's context. */
typedef struct counts {
    long f, g, evaluations;
    int poison; /* > 0: the call of f with this number returns NaN */
    double mass[2];
} counts;

/* ---- (1.9) of [HW96 VII.1]: f is nonlinear in z ---- */

static inline eval_status steer_f(void *context, double t, const double *y, const double *z,
                                  const double *u, double *f)
{
    counts *c = context;
    (void)t, (void)u;
    c->f++;
    f[0] = 0.7 * y[1] + sin(2.5 * z[0]);
    f[1] = 1.4 * y[0] + cos(2.5 * z[0]);
    if (c->poison > 0 && c->f >= c->poison) f[0] = NAN;
    return EVAL_OK;
}
static inline eval_status steer_g(void *context, double t, const double *y, double *g)
{
    (void)t;
    ((counts *)context)->g++;
    g[0] = y[0] * y[0] + y[1] * y[1] - 1.0;
    return EVAL_OK;
}
static inline eval_status steer_g_y(void *context, double t, const double *y, double *v)
{
    (void)context, (void)t;
    v[0] = 2.0 * y[0];
    v[1] = 2.0 * y[1];
    return EVAL_OK;
}
static inline eval_status steer_g_t(void *context, double t, const double *y, double *v)
{
    (void)context, (void)t, (void)y;
    v[0] = 0.0;
    return EVAL_OK;
}
static inline eval_status steer_f_z(void *context, double t, const double *y, const double *z,
                                    const double *u, double *v)
{
    (void)context, (void)t, (void)y, (void)u;
    v[0] = 2.5 * cos(2.5 * z[0]);
    v[1] = -2.5 * sin(2.5 * z[0]);
    return EVAL_OK;
}

static inline hessenberg_form steering(counts *c)
{
    return (hessenberg_form){.ny = 2,
                             .nz = 1,
                             .context = c,
                             .f = steer_f,
                             .g = steer_g,
                             .g_y = steer_g_y,
                             .g_t = steer_g_t,
                             .f_z = steer_f_z,
                             .g_y_matrix = {.rows = 1, .columns = 2, .count = 2},
                             .f_z_matrix = {.rows = 2, .columns = 1, .count = 2}};
}

/* ---- pendulum m = l = g = 1 as mechanical form, and at velocity level as Hessenberg form ---- */

static inline eval_status pendulum_evaluate(void *context, double t, const double *q,
                                            const double *v, double *M, double *f, double *G,
                                            double *rate, double *curvature)
{
    counts *c = context;
    (void)t;
    c->evaluations++;
    if (M) M[0] = M[3] = 1.0, M[1] = M[2] = 0.0;
    if (f) {
        c->f++;
        f[0] = 0.0;
        f[1] = -1.0;
        if (c->poison > 0 && c->f >= c->poison) f[0] = NAN;
    }
    if (G) G[0] = 2.0 * q[0], G[1] = 2.0 * q[1];
    if (rate) rate[0] = 0.0;
    if (curvature) curvature[0] = 2.0 * (v[0] * v[0] + v[1] * v[1]);
    return EVAL_OK;
}
static inline eval_status pendulum_g(void *context, double t, const double *q, double *g)
{
    (void)t;
    ((counts *)context)->g++;
    g[0] = q[0] * q[0] + q[1] * q[1] - 1.0;
    return EVAL_OK;
}
static inline mechanical_form pendulum(counts *c)
{
    return (mechanical_form){.nq = 2,
                             .nl = 1,
                             .context = c,
                             .evaluate = pendulum_evaluate,
                             .g = pendulum_g,
                             .M_matrix = {.rows = 2, .columns = 2, .count = 4},
                             .G_matrix = {.rows = 1, .columns = 2, .count = 2}};
}

/* ---- (1.9) with u = sin(2.5 z) as a variable of its own [BH93 (1.4)] ---- */

static inline eval_status with_u_f(void *context, double t, const double *y, const double *z,
                                   const double *u, double *f)
{
    ((counts *)context)->f++;
    (void)t;
    f[0] = 0.7 * y[1] + u[0];
    f[1] = 1.4 * y[0] + cos(2.5 * z[0]);
    return EVAL_OK;
}
static inline eval_status with_u_k(void *context, double t, const double *y, const double *z,
                                   const double *u, double *k)
{
    (void)context, (void)t, (void)y;
    double s = sin(2.5 * z[0]);
    k[0] = u[0] + 0.1 * u[0] * u[0] * u[0] - s - 0.1 * s * s * s;
    return EVAL_OK;
}
static inline eval_status with_u_k_u(void *context, double t, const double *y, const double *z,
                                     const double *u, double *v)
{
    (void)context, (void)t, (void)y, (void)z;
    v[0] = 1.0 + 0.3 * u[0] * u[0];
    return EVAL_OK;
}
static inline hessenberg_form steering_with_u(counts *c)
{
    hessenberg_form form = steering(c);
    form.nu = 1;
    form.f = with_u_f;
    form.k = with_u_k;
    form.k_u = with_u_k_u;
    form.k_u_matrix = (form_matrix){.rows = 1, .columns = 1, .count = 1};
    return form;
}

/* ---- (1.9) on the circle of radius 1 + t/5 ---- */

static counts no_counts;

static inline eval_status growing_g(void *context, double t, const double *y, double *g)
{
    (void)context;
    double r = 1.0 + 0.2 * t;
    g[0] = y[0] * y[0] + y[1] * y[1] - r * r;
    return EVAL_OK;
}
static inline eval_status growing_g_t(void *context, double t, const double *y, double *v)
{
    (void)context, (void)y;
    v[0] = -0.4 * (1.0 + 0.2 * t);
    return EVAL_OK;
}
static inline hessenberg_form growing_circle(void)
{
    hessenberg_form form = steering(&no_counts);
    form.g = growing_g;
    form.g_t = growing_g_t;
    return form;
}
/* Its underlying ODE: y1 sin s + y2 cos s = r r' - 2.1 y1 y2 for s = 2.5 z. */
static inline void growing_slope(double t, const double *y, double *f)
{
    double r = 1.0 + 0.2 * t, size = hypot(y[0], y[1]);
    double s = asin((0.2 * r - 2.1 * y[0] * y[1]) / size) - atan2(y[1], y[0]);
    f[0] = 0.7 * y[1] + sin(s);
    f[1] = 1.4 * y[0] + cos(s);
}
/* y(t1) by the classical Runge-Kutta method */
static inline void rk4(void (*slope)(double, const double *, double *), int n, double t1, int steps,
                       double *y)
{
    double h = t1 / steps, k[4][8], x[8];
    static const double c[4] = {0.0, 0.5, 0.5, 1.0}, b[4] = {1.0, 2.0, 2.0, 1.0};
    for (int m = 0; m < steps; m++) {
        for (int s = 0; s < 4; s++) {
            for (int i = 0; i < n; i++) x[i] = y[i] + (s > 0 ? h * c[s] * k[s - 1][i] : 0.0);
            slope((m + c[s]) * h, x, k[s]);
        }
        for (int s = 0; s < 4; s++)
            for (int i = 0; i < n; i++) y[i] += h * b[s] / 6.0 * k[s][i];
    }
}
static inline void growing_circle_reference(double t, double *y)
{
    rk4(growing_slope, 2, t, 2000, y);
}

/* ---- pendulum at velocity level ---- */

static inline eval_status velocity_f(void *context, double t, const double *y, const double *z,
                                     const double *u, double *f)
{
    (void)context, (void)t, (void)u;
    f[0] = y[2];
    f[1] = y[3];
    f[2] = -2.0 * y[0] * z[0];
    f[3] = -1.0 - 2.0 * y[1] * z[0];
    return EVAL_OK;
}
static inline eval_status velocity_g(void *context, double t, const double *y, double *g)
{
    (void)context, (void)t;
    g[0] = y[0] * y[2] + y[1] * y[3];
    return EVAL_OK;
}
static inline eval_status velocity_g_y(void *context, double t, const double *y, double *v)
{
    (void)context, (void)t;
    v[0] = y[2];
    v[1] = y[3];
    v[2] = y[0];
    v[3] = y[1];
    return EVAL_OK;
}
static inline eval_status velocity_f_z(void *context, double t, const double *y, const double *z,
                                       const double *u, double *v)
{
    (void)context, (void)t, (void)z, (void)u;
    v[0] = v[1] = 0.0;
    v[2] = -2.0 * y[0];
    v[3] = -2.0 * y[1];
    return EVAL_OK;
}
static inline hessenberg_form velocity_pendulum(void)
{
    return (hessenberg_form){.ny = 4,
                             .nz = 1,
                             .f = velocity_f,
                             .g = velocity_g,
                             .g_y = velocity_g_y,
                             .g_t = steer_g_t,
                             .f_z = velocity_f_z,
                             .g_y_matrix = {.rows = 1, .columns = 4, .count = 4},
                             .f_z_matrix = {.rows = 4, .columns = 1, .count = 4}};
}

/* ---- pendulum whose pivot moves by s(t) = 0.3 sin 2t: rheonomic ---- */

static inline eval_status moved_evaluate(void *context, double t, const double *q, const double *v,
                                         double *M, double *f, double *G, double *rate,
                                         double *curvature)
{
    (void)context;
    double x = q[0] - 0.3 * sin(2.0 * t), s1 = 0.6 * cos(2.0 * t), s2 = -1.2 * sin(2.0 * t);
    if (M) M[0] = M[3] = 1.0, M[1] = M[2] = 0.0;
    if (f) f[0] = 0.0, f[1] = -1.0;
    if (G) G[0] = 2.0 * x, G[1] = 2.0 * q[1];
    if (rate) rate[0] = -2.0 * x * s1;
    if (curvature) curvature[0] = 2.0 * ((v[0] - s1) * (v[0] - s1) + v[1] * v[1]) - 2.0 * x * s2;
    return EVAL_OK;
}
static inline eval_status moved_g(void *context, double t, const double *q, double *g)
{
    (void)context;
    double x = q[0] - 0.3 * sin(2.0 * t);
    g[0] = x * x + q[1] * q[1] - 1.0;
    return EVAL_OK;
}
static inline mechanical_form moved_pendulum(void)
{
    mechanical_form form = pendulum(&no_counts);
    form.evaluate = moved_evaluate;
    form.g = moved_g;
    return form;
}
/* The angle from the vertical: x = s + sin a, y = -cos a */
static inline void moved_slope(double t, const double *y, double *f)
{
    f[0] = y[1];
    f[1] = -sin(y[0]) + 1.2 * sin(2.0 * t) * cos(y[0]);
}

/* ---- broken ones ---- */

/* A point on the unit sphere, said twice. */
static inline eval_status doubled_evaluate(void *context, double t, const double *q,
                                           const double *v, double *M, double *f, double *G,
                                           double *rate, double *curvature)
{
    (void)context, (void)t;
    if (M)
        for (int i = 0; i < 9; i++) M[i] = i % 4 == 0;
    if (f) f[0] = f[1] = 0.0, f[2] = -1.0;
    for (int k = 0; k < 2; k++) {
        if (G)
            for (int j = 0; j < 3; j++) G[2 * j + k] = 2.0 * (k + 1) * q[j];
        if (rate) rate[k] = 0.0;
        if (curvature) curvature[k] = 2.0 * (k + 1) * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    }
    return EVAL_OK;
}
static inline eval_status doubled_g(void *context, double t, const double *q, double *g)
{
    (void)context, (void)t;
    g[0] = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] - 1.0;
    g[1] = 2.0 * g[0];
    return EVAL_OK;
}
static inline mechanical_form doubled_constraint(void)
{
    return (mechanical_form){.nq = 3,
                             .nl = 2,
                             .evaluate = doubled_evaluate,
                             .g = doubled_g,
                             .M_matrix = {.rows = 3, .columns = 3, .count = 9},
                             .G_matrix = {.rows = 2, .columns = 3, .count = 6}};
}

/* The pendulum with a third coordinate without mass; tied: q3 = q1. */
static inline eval_status massless_evaluate(void *context, double t, const double *q,
                                            const double *v, double *M, double *f, double *G,
                                            double *rate, double *curvature)
{
    int tied = context != NULL, m = 1 + tied;
    (void)t;
    if (M)
        for (int i = 0; i < 9; i++) M[i] = i == 0 || i == 4;
    if (f) f[0] = f[2] = 0.0, f[1] = -1.0;
    if (G) {
        memset(G, 0, (size_t)(3 * m) * sizeof *G);
        G[0] = 2.0 * q[0];
        G[m] = 2.0 * q[1];
        if (tied) G[1] = -1.0, G[2 * m + 1] = 1.0;
    }
    for (int k = 0; k < m; k++) {
        if (rate) rate[k] = 0.0;
        if (curvature) curvature[k] = k == 0 ? 2.0 * (v[0] * v[0] + v[1] * v[1]) : 0.0;
    }
    return EVAL_OK;
}
static inline eval_status massless_g(void *context, double t, const double *q, double *g)
{
    (void)t;
    g[0] = q[0] * q[0] + q[1] * q[1] - 1.0;
    if (context) g[1] = q[2] - q[0];
    return EVAL_OK;
}
static inline mechanical_form massless(bool tied)
{
    return (mechanical_form){
        .nq = 3,
        .nl = tied ? 2 : 1,
        .context = tied ? &no_counts : NULL,
        .evaluate = massless_evaluate,
        .g = massless_g,
        .M_matrix = {.rows = 3, .columns = 3, .count = 9},
        .G_matrix = {.rows = tied ? 2 : 1, .columns = 3, .count = tied ? 6 : 3}};
}

/* ---- a run of one method ---- */

typedef struct run {
    const method *method;
    form_set forms;
    method_context ctx;
    error_norm norm;
    dae_options options;
    void *state, *scratch;
    int n;
    long steps, rejected, failures;
    attempt last;
} run;

/* Ready to step from (t, y); the first step will be h. */
static inline bool run_new(run *r, const method *m, const form_set *forms, int n, double rtol)
{
    memset(r, 0, sizeof *r);
    r->method = m;
    r->forms = *forms;
    r->n = n;
    r->options = dae_options_default();
    r->options.rtol = r->options.atol = rtol;
    size_t state, scratch;
    method_size(m, n, &state, &scratch);
    r->state = calloc(1, state);
    r->scratch = calloc(1, scratch);
    if (!norm_new(&r->norm, n, &r->options)) return false;
    r->ctx = (method_context){.method = m, .n = n, .norm = &r->norm, .forms = &r->forms};
    r->ctx.cache = m->cache_new(&r->ctx);
    return r->ctx.cache && r->state && r->scratch;
}
static inline void run_free(run *r)
{
    r->method->cache_free(r->ctx.cache);
    norm_free(&r->norm);
    free(r->state);
    free(r->scratch);
}
static inline void run_start(run *r, double t, double h, const double *y)
{
    double *yp = calloc((size_t)r->n, sizeof *yp);
    norm_update(&r->norm, t, y);
    r->method->start(r->state, r->scratch, &r->ctx,
                     &(start_point){.t = t, .h = h, .y = y, .yp = yp});
    free(yp);
}
/* Constant steps; false if one fails. y is where it ends. */
static inline bool run_fixed(run *r, double t0, double t1, int steps, double *y)
{
    double h = (t1 - t0) / steps;
    run_start(r, t0, h, y);
    for (int k = 0; k < steps; k++) {
        r->method->attempt(r->state, r->scratch, &r->ctx, h, r->method->max_order, &r->last);
        if (r->last.status != ATTEMPT_OK) return false;
        memcpy(y, r->last.y, (size_t)r->n * sizeof *y);
        r->method->accept(r->state, r->scratch, &r->ctx);
        norm_update(&r->norm, t0 + (k + 1) * h, y);
    }
    return true;
}
/* Elementary step control: safety 0.9, factors in [0.2, 5]. */
static inline bool run_adaptive(run *r, double t, double t1, double h, double *y)
{
    run_start(r, t, h, y);
    while (t < t1) {
        if (t + h > t1 || t1 - t - h < 1e-12) h = t1 - t;
        r->method->attempt(r->state, r->scratch, &r->ctx, h, r->method->max_order, &r->last);
        const attempt *a = &r->last;
        if (a->status != ATTEMPT_OK) {
            if (a->status == ATTEMPT_SINGULAR || ++r->failures > 100) return false;
            h *= 0.25;
            continue;
        }
        double factor = 0.9 * pow(fmax(a->error, 1e-12), -1.0 / a->order);
        factor = fmin(5.0, fmax(0.2, factor));
        if (a->error <= 1.0) {
            memcpy(y, a->y, (size_t)r->n * sizeof *y);
            r->method->accept(r->state, r->scratch, &r->ctx);
            t = t + h >= t1 - 1e-14 ? t1 : t + h;
            norm_update(&r->norm, t, y);
            r->steps++;
        } else {
            r->rejected++;
        }
        h *= factor;
    }
    return true;
}

/* ---- measurements ---- */

/* Observed orders of the differential and the algebraic variables, and the end of the finer run. */
typedef struct order_pair {
    double x, w, end[8];
} order_pair;

/* From errors with a number of steps and twice as many, against hem5 with 16 times as many. */
static inline order_pair observed_order(const method *m, const form_set *forms, int n, int nx,
                                        const double *y0, double t1, int steps)
{
    order_pair o = {0};
    double reference[8], error[2][2] = {{0.0}};
    run r;
    memcpy(reference, y0, (size_t)n * sizeof *reference);
    if (!run_new(&r, &method_hem5, forms, n, 1e-14) ||
        !run_fixed(&r, 0.0, t1, 16 * steps, reference))
        return o;
    run_free(&r);
    for (int k = 0; k < 2; k++) {
        memcpy(o.end, y0, (size_t)n * sizeof *reference);
        if (!run_new(&r, m, forms, n, 1e-13) || !run_fixed(&r, 0.0, t1, steps << k, o.end))
            return o;
        run_free(&r);
        for (int i = 0; i < n; i++)
            error[k][i >= nx] = fmax(error[k][i >= nx], fabs(o.end[i] - reference[i]));
    }
    o.x = log2(error[0][0] / error[1][0]);
    o.w = log2(error[0][1] / error[1][1]);
    memcpy(o.end, reference, sizeof o.end);
    return o;
}

/* RMS of the error of (q, v) at t = 10, pendulum from (1, 0) at rest. */
static inline double pendulum_error(const double *y)
{
    static const double exact[4] = {-0.811586446191304, -0.584232351345396, -0.631529149065018,
                                    0.877288798841069};
    double sum = 0.0;
    for (int i = 0; i < 4; i++) sum += (y[i] - exact[i]) * (y[i] - exact[i]);
    return sqrt(sum / 4.0);
}

typedef struct dense_pair {
    double x, w;       /* observed orders inside steps */
    double continuous; /* largest jump at ends of steps */
} dense_pair;

/* Errors of the dense output of the pendulum in (0, 1) with 10 and 40 steps against the angle. */
static inline void plain_slope(double t, const double *y, double *f)
{
    (void)t;
    f[0] = y[1];
    f[1] = -sin(y[0]);
}
static inline dense_pair dense_order(const method *m)
{
    dense_pair d = {0};
    double error[2][2] = {{0.0}};
    for (int k = 0; k < 2; k++) {
        counts c = {0};
        mechanical_form form = pendulum(&c);
        form_set forms = {.mechanical = &form};
        run r;
        double y[5] = {1.0, 0.0, 0.0, 0.0, 0.0}, at[5], h = 0.1 / (1 << 2 * k);
        if (!run_new(&r, m, &forms, 5, 1e-13)) return d;
        run_start(&r, 0.0, h, y);
        for (int i = 0; i < 10 << 2 * k; i++) {
            r.method->attempt(r.state, r.scratch, &r.ctx, h, 4, &r.last);
            memcpy(y, r.last.y, sizeof y);
            r.method->accept(r.state, r.scratch, &r.ctx);
            for (int s = 1; s < 8; s++) {
                double t = (i + s / 8.0) * h, angle[2] = {acos(0.0), 0.0};
                r.method->interpolate(r.state, &r.ctx, t, 0, at);
                if (s % 4 == 3) { /* two points a step will do */
                    rk4(plain_slope, 2, t, 200, angle);
                    double lambda = (angle[1] * angle[1] + cos(angle[0])) / 2.0;
                    error[k][0] =
                        fmax(error[k][0], hypot(at[0] - sin(angle[0]), at[1] + cos(angle[0])));
                    error[k][0] = fmax(error[k][0], fabs(at[2] - angle[1] * cos(angle[0])));
                    error[k][1] = fmax(error[k][1], fabs(at[4] - lambda));
                }
            }
            r.method->interpolate(r.state, &r.ctx, (i + 1) * h, 0, at);
            for (int j = 0; j < 5; j++) d.continuous = fmax(d.continuous, fabs(at[j] - y[j]));
        }
        run_free(&r);
    }
    d.x = 0.5 * log2(error[0][0] / error[1][0]);
    d.w = 0.5 * log2(error[0][1] / error[1][1]);
    return d;
}

#endif
