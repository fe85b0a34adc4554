/* Pendulum with impacts, rectifier, thermostat and relays in C, with the constants of the model
 * texts. All references are closed forms, evaluated in long double precision. */
#include "event_problem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- pendulum and wall: y = (x, y, vx, vy, lambda), solved for accelerations, index 1 ---- */

static const double wall_g = 9.81, wall_e = 0.95;

static int wall_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = yp[0] - y[2];
    f[1] = yp[1] - y[3];
    f[2] = yp[2] + y[4] * y[0];
    f[3] = yp[3] + y[4] * y[1] + wall_g;
    f[4] = y[2] * y[2] + y[3] * y[3] - wall_g * y[1] - y[4] * (y[0] * y[0] + y[1] * y[1]);
    return 0;
}

static int wall_jacobian(double t, const double *y, const double *yp, double *dfdy, double *dfdyp,
                         void *user)
{
    (void)t, (void)yp, (void)user;
    for (int i = 0; i < 4; i++) dfdyp[i + 5 * i] = 1.0;
    dfdy[0 + 5 * 2] = dfdy[1 + 5 * 3] = -1.0;
    dfdy[2] = dfdy[3 + 5] = y[4];
    dfdy[2 + 5 * 4] = y[0], dfdy[3 + 5 * 4] = y[1];
    dfdy[4] = -2.0 * y[4] * y[0], dfdy[4 + 5] = -wall_g - 2.0 * y[4] * y[1];
    dfdy[4 + 5 * 2] = 2.0 * y[2], dfdy[4 + 5 * 3] = 2.0 * y[3];
    dfdy[4 + 5 * 4] = -y[0] * y[0] - y[1] * y[1];
    return 0;
}

static int wall_event(double t, const double *y, const double *yp, double *g, void *user)
{
    (void)t, (void)yp, (void)user;
    g[0] = -y[0];
    return 0;
}

/* lambda, and y' with that of lambda, which multistep codes predict with */
static void wall_accelerate(double *y, double *yp)
{
    y[4] = (y[2] * y[2] + y[3] * y[3] - wall_g * y[1]) / (y[0] * y[0] + y[1] * y[1]);
    yp[0] = y[2], yp[1] = y[3], yp[2] = -y[4] * y[0], yp[3] = -y[4] * y[1] - wall_g;
    yp[4] = -3.0 * wall_g * y[3];
}

static void wall_handle(event_problem *p, double t, const int *fired, double *y, double *yp)
{
    (void)p, (void)t, (void)fired;
    y[2] *= -wall_e, y[3] *= -wall_e;
    wall_accelerate(y, yp);
}

static int wall_mechanism(const dae_mechanical_point *at, const dae_mechanical_values *out,
                          void *user)
{
    (void)user;
    if (out->mass) out->mass[0] = out->mass[1] = 1.0;
    if (out->force) out->force[0] = 0.0, out->force[1] = -wall_g;
    if (out->gradient) out->gradient[0] = at->q[0], out->gradient[1] = at->q[1];
    if (out->rate) out->rate[0] = 0.0;
    if (out->curvature) out->curvature[0] = at->v[0] * at->v[0] + at->v[1] * at->v[1];
    return 0;
}

static int wall_constraint(const dae_mechanical_point *at, double *g, void *user)
{
    (void)user;
    g[0] = 0.5 * (at->q[0] * at->q[0] + at->q[1] * at->q[1] - 1.0);
    return 0;
}

static dae_status wall_problem(event_problem *p, dae_problem **problem)
{
    dae_mechanical form = {.nq = 2,
                           .nlambda = 1,
                           .all = wall_mechanism,
                           .constraint = wall_constraint,
                           .scleronomic = true,
                           .mass_structure = DAE_MASS_DIAGONAL,
                           .mass_constant = true,
                           .user = p,
                           .event_count = 1,
                           .event_function = wall_event,
                           .events = p->form.events};
    return dae_problem_from_mechanical(&form, problem, NULL);
}

static const char *wall_variable(int i, char *space)
{
    (void)space;
    return i ? "y" : "x";
}

/* sn(u, k) by descending Landen transformations [AS64 16.12], and K(k) by the mean of Gauss */
static long double elliptic_sn(long double u, long double k)
{
    if (k < 1e-12L) return sinl(u);
    long double prime = sqrtl(1.0L - k * k), k1 = (1.0L - prime) / (1.0L + prime);
    long double s = elliptic_sn(u / (1.0L + k1), k1);
    return (1.0L + k1) * s / (1.0L + k1 * s * s);
}

static long double elliptic_k(long double k)
{
    long double a = 1.0L, b = sqrtl(1.0L - k * k);
    for (int i = 0; i < 12; i++) {
        long double mean = 0.5L * (a + b);
        b = sqrtl(a * b), a = mean;
    }
    return acosl(-1.0L) / (2.0L * a);
}

/* sin(phi/2) = k sn(w t, k) after an impact, k = v / (2 w); half a period to the next one */
static void wall_fill(event_problem *p)
{
    long double w = sqrtl((long double)wall_g), k = sqrtl(0.5L), t = elliptic_k(k) / w;
    for (;;) {
        k *= wall_e, p->events++;
        long double half = 2.0L * elliptic_k(k) / w;
        if (t + half > p->tend) break;
        t += half;
    }
    long double s = k * elliptic_sn(w * (p->tend - t), k);
    p->reference[0] = (double)(2.0L * s * sqrtl(1.0L - s * s));
    p->reference[1] = (double)(2.0L * s * s - 1.0L);
    p->y0[0] = 1.0;
    wall_accelerate(p->y0, p->yp0);
}

/* ---- rectifier: y = (u, i, Q, W), mode 1 while it conducts ---- */

static const double rectifier_r = 5.0, rectifier_load = 4.0;

static double rectifier_source(double t)
{
    const double pi = acos(-1.0);
    return 10.0 * sin(100.0 * pi * t + pi / 6.0);
}

static double rectifier_slope(double t)
{
    const double pi = acos(-1.0);
    return 1000.0 * pi * cos(100.0 * pi * t + pi / 6.0);
}

static int rectifier_f(double t, const double *y, const double *yp, double *f, void *user)
{
    const event_problem *p = user;
    f[0] = y[0] + rectifier_r * y[1] - rectifier_source(t);
    f[1] = p->mode[0] ? y[0] : y[1];
    f[2] = yp[2] - y[1];
    f[3] = yp[3] - rectifier_load * y[1] * y[1];
    return 0;
}

static int rectifier_jacobian(double t, const double *y, const double *yp, double *dfdy,
                              double *dfdyp, void *user)
{
    (void)t, (void)yp;
    const event_problem *p = user;
    dfdy[0] = 1.0, dfdy[0 + 4] = rectifier_r;
    dfdy[p->mode[0] ? 1 : 1 + 4] = 1.0;
    dfdy[2 + 4] = -1.0, dfdy[3 + 4] = -2.0 * rectifier_load * y[1];
    dfdyp[2 + 4 * 2] = dfdyp[3 + 4 * 3] = 1.0;
    return 0;
}

static int rectifier_event(double t, const double *y, const double *yp, double *g, void *user)
{
    (void)t, (void)yp;
    const event_problem *p = user;
    g[0] = p->mode[0] ? -y[1] : y[0];
    return 0;
}

static void rectifier_values(const event_problem *p, double t, double *y, double *yp)
{
    y[0] = p->mode[0] ? 0.0 : rectifier_source(t);
    y[1] = p->mode[0] ? rectifier_source(t) / rectifier_r : 0.0;
    yp[0] = p->mode[0] ? 0.0 : rectifier_slope(t);
    yp[1] = p->mode[0] ? rectifier_slope(t) / rectifier_r : 0.0;
    yp[2] = y[1], yp[3] = rectifier_load * y[1] * y[1];
}

static void rectifier_begin(event_problem *p)
{
    p->mode[0] = 1;
}

static void rectifier_handle(event_problem *p, double t, const int *fired, double *y, double *yp)
{
    (void)fired;
    p->mode[0] = !p->mode[0];
    rectifier_values(p, t, y, yp);
}

static const char *rectifier_variable(int i, char *space)
{
    static const char *const names[] = {"u", "i", "Q", "W"};
    (void)space;
    return names[i];
}

/* models/rectifier.ref */
static void rectifier_fill(event_problem *p)
{
    static const double end[] = {-5.0, 0.0, 3.7344277572596988e-2, 2.3769324457510251e-1};
    memcpy(p->reference, end, sizeof end);
    p->events = 5;
    rectifier_values(p, 0.0, p->y0, p->yp0);
}

/* ---- thermostat: T, mode 1 while it heats ---- */

static int thermostat_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t;
    const event_problem *p = user;
    f[0] = 5e4 * yp[0] - (p->mode[0] ? 1500.0 : 0.0) + 50.0 * (y[0] - 283.15);
    return 0;
}

static int thermostat_jacobian(double t, const double *y, const double *yp, double *dfdy,
                               double *dfdyp, void *user)
{
    (void)t, (void)y, (void)yp, (void)user;
    dfdy[0] = 50.0, dfdyp[0] = 5e4;
    return 0;
}

static int thermostat_event(double t, const double *y, const double *yp, double *g, void *user)
{
    (void)t, (void)yp;
    const event_problem *p = user;
    g[0] = p->mode[0] ? y[0] - 294.15 : 292.15 - y[0];
    return 0;
}

static void thermostat_handle(event_problem *p, double t, const int *fired, double *y, double *yp)
{
    (void)t, (void)fired;
    p->mode[0] = !p->mode[0];
    yp[0] = ((p->mode[0] ? 1500.0 : 0.0) - 50.0 * (y[0] - 283.15)) / 5e4;
}

static const char *thermostat_variable(int i, char *space)
{
    (void)i, (void)space;
    return "T";
}

static void thermostat_fill(event_problem *p)
{
    p->reference[0] = 2.9258890395016338e+2; /* models/thermostat.ref */
    p->events = 12;
    p->y0[0] = 288.15, p->yp0[0] = (1500.0 - 50.0 * 5.0) / 5e4;
}

/* ---- relays ---- */

enum { RELAYS = 50 };
static const double relay_low = 0.3, relay_high = 0.7;

static double relay_tau(int i)
{
    return i == 0 ? 1.0 : 0.5 - 0.2 * (i + 1) / RELAYS;
}

/* What charges coil i */
static double relay_input(const int *on, int i)
{
    return i == 0 ? !on[0] : on[i - 1];
}

static int relay_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t;
    const event_problem *p = user;
    for (int i = 0; i < RELAYS; i++) f[i] = relay_tau(i) * yp[i] - relay_input(p->mode, i) + y[i];
    return 0;
}

static int relay_jacobian(double t, const double *y, const double *yp, double *dfdy, double *dfdyp,
                          void *user)
{
    (void)t, (void)y, (void)yp, (void)user;
    for (int i = 0; i < RELAYS; i++) dfdy[i] = 1.0, dfdyp[i] = relay_tau(i);
    return 0;
}

static int relay_event(double t, const double *y, const double *yp, double *g, void *user)
{
    (void)t, (void)yp;
    const event_problem *p = user;
    for (int i = 0; i < RELAYS; i++) g[i] = p->mode[i] ? relay_low - y[i] : y[i] - relay_high;
    return 0;
}

static void relay_handle(event_problem *p, double t, const int *fired, double *y, double *yp)
{
    (void)t;
    for (int i = 0; i < RELAYS; i++)
        if (fired[i]) p->mode[i] = !p->mode[i];
    for (int i = 0; i < RELAYS; i++) yp[i] = (relay_input(p->mode, i) - y[i]) / relay_tau(i);
}

static const char *relay_variable(int i, char *space)
{
    snprintf(space, 16, "x[%d]", i + 1);
    return space;
}

/* When coil i reaches its threshold with the input as it is */
static long double relay_time(const long double *x, const int *on, int i)
{
    long double u = relay_input(on, i), to = on[i] ? relay_low : relay_high;
    if ((u - to) * (to - x[i]) <= 0.0L) return INFINITY;
    return relay_tau(i) * logl((u - x[i]) / (u - to));
}

/* From event to event, each coil by its exponential */
static void relay_fill(event_problem *p)
{
    static int columns[RELAYS + 1], rows[RELAYS];
    long double x[RELAYS] = {0}, t = 0.0L;
    int on[RELAYS] = {0};
    while (t < p->tend) {
        long double next = p->tend - t;
        int which = -1;
        for (int i = 0; i < RELAYS; i++) {
            long double at = relay_time(x, on, i);
            if (at < next) next = at, which = i;
        }
        for (int i = 0; i < RELAYS; i++) {
            long double u = relay_input(on, i);
            x[i] = u + (x[i] - u) * expl(-next / relay_tau(i));
        }
        t = which < 0 ? p->tend : t + next;
        if (which < 0) break;
        x[which] = on[which] ? relay_low : relay_high;
        on[which] = !on[which], p->events++;
    }
    for (int i = 0; i < RELAYS; i++) {
        p->reference[i] = (double)x[i];
        columns[i + 1] = i + 1, rows[i] = i;
        p->yp0[i] = i == 0 ? 1.0 : 0.0;
    }
    p->form.structure = DAE_STRUCTURE_SPARSE, p->form.colptr = columns, p->form.rowind = rows;
    snprintf(p->set, sizeof p->set, "n = %d", RELAYS);
}

/* ---- all ---- */

static void begin_at_zero(event_problem *p)
{
    memset(p->mode, 0, (size_t)p->modes * sizeof *p->mode);
}

static const struct {
    event_problem p;
    void (*fill)(event_problem *p);
} problems[] = {{{.name = "pendulumwall",
                  .file = "models/pendulumwall.mo",
                  .form = {.n = 5,
                           .f = wall_f,
                           .jacobian = wall_jacobian,
                           .event_count = 1,
                           .event_function = wall_event},
                  .tend = 20.0,
                  .compared = 2,
                  .variable = wall_variable,
                  .modes = 1,
                  .begin = begin_at_zero,
                  .handle = wall_handle,
                  .make = wall_problem},
                 wall_fill},
                {{.name = "rectifier",
                  .file = "models/rectifier.mo",
                  .form = {.n = 4,
                           .f = rectifier_f,
                           .jacobian = rectifier_jacobian,
                           .event_count = 1,
                           .event_function = rectifier_event},
                  .tend = 0.05,
                  .compared = 4,
                  .variable = rectifier_variable,
                  .modes = 1,
                  .begin = rectifier_begin,
                  .handle = rectifier_handle},
                 rectifier_fill},
                {{.name = "thermostat",
                  .file = "models/thermostat.mo",
                  .form = {.n = 1,
                           .f = thermostat_f,
                           .jacobian = thermostat_jacobian,
                           .event_count = 1,
                           .event_function = thermostat_event},
                  .tend = 2000.0,
                  .compared = 1,
                  .variable = thermostat_variable,
                  .modes = 1,
                  .begin = rectifier_begin,
                  .handle = thermostat_handle},
                 thermostat_fill},
                {{.name = "relays",
                  .file = "models/relays.mo",
                  .form = {.n = RELAYS,
                           .f = relay_f,
                           .jacobian = relay_jacobian,
                           .event_count = RELAYS,
                           .event_function = relay_event},
                  .tend = 192.0,
                  .compared = RELAYS,
                  .variable = relay_variable,
                  .modes = RELAYS,
                  .begin = begin_at_zero,
                  .handle = relay_handle},
                 relay_fill}};

event_problem *event_problem_new(const char *name)
{
    static dae_event rising[RELAYS];
    for (int i = 0; i < RELAYS; i++) rising[i].direction = 1;
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        if (strcmp(problems[i].p.name, name)) continue;
        event_problem *p = bench_space(1, sizeof *p);
        *p = problems[i].p;
        const size_t n = (size_t)p->form.n;
        p->y0 = bench_space(3 * n, sizeof *p->y0);
        p->yp0 = p->y0 + n, p->reference = p->yp0 + n;
        p->mode = bench_space((size_t)p->modes, sizeof *p->mode);
        p->form.user = p, p->form.events = rising;
        p->begin(p);
        problems[i].fill(p);
        return p;
    }
    return NULL;
}

void event_problem_free(event_problem *p)
{
    if (!p) return;
    free(p->y0), free(p->mode), free(p);
}
