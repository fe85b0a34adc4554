/* What must change nothing: units of variables, equations and time, the direction of time, and what
 * a solver did before its start. Powers of two commute with rounding, so that every method takes
 * the same steps, and asks as often for values. Pivots may be others: values agree but for rounding
 * errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "solve/bind/solver.h"

enum { MOST = 5, POINTS = 17 };
static const double SPACING = 0.125, RTOL = 1e-5;

/* What one unit of the text is in the units of a run: time; variables, or lengths; equations, or
 * energy and constraint */
typedef struct units {
    double time, variable[3], equation[3];
} units;

#define ONES                                                                                       \
    {                                                                                              \
        1.0, 1.0, 1.0                                                                              \
    }
static const units plain = {1.0, ONES, ONES};
static const units changed[] = {{0x1p20, ONES, ONES},
                                {0x1p-20, ONES, ONES},
                                {-1.0, ONES, ONES},
                                {1.0, {0x1p20, 0x1p20, 0x1p20}, ONES},
                                {1.0, {-1.0, -1.0, -1.0}, ONES},
                                {1.0, {0x1p20, -0x1p-20, 0x1p5}, ONES},
                                {1.0, ONES, {0x1p-20, 0x1p20, -0x1p5}}};
enum { CHANGES = sizeof changed / sizeof *changed, COMMON = 5 }; /* one length for all positions */

/* ---- index 1: x' = -x + z + sin 3t, y' = x - y z, 0 = z + z^3 - x - y ---- */

static int residual(double t, const double *given, const double *slopes, double *f, void *user)
{
    const units *u = user;
    double v[3], vp[3];
    for (int k = 0; k < 3; k++) {
        v[k] = given[k] / u->variable[k];
        vp[k] = slopes[k] / u->variable[k] * u->time;
    }
    f[0] = u->equation[0] * (vp[0] + v[0] - v[2] - sin(3.0 * (t / u->time)));
    f[1] = u->equation[1] * (vp[1] - v[0] + v[1] * v[2]);
    f[2] = u->equation[2] * (v[2] + v[2] * v[2] * v[2] - v[0] - v[1]);
    return 0;
}

static void start_index1(const units *u, double *unit, double *y, double *yp)
{
    const double value[3] = {1.5, 0.5, 1.0};
    for (int k = 0; k < 3; k++) {
        unit[k] = u->variable[k];
        y[k] = value[k] * unit[k];
        yp[k] = 0.0;
    }
}

static dae_problem *index1_new(const units *u)
{
    dae_residual form = {.n = 3, .f = residual, .user = (void *)u};
    dae_problem *problem;
    assert_int_equal(dae_problem_from_residual(&form, &problem, NULL), DAE_OK);
    return problem;
}

/* ---- a mass on a rod whose length is r = 1 + sin(t)/4; its inertia grows with x ---- */

static int mass(const dae_mechanical_point *at, double *M, void *user)
{
    const units *u = user;
    const double L0 = u->variable[0], L1 = u->variable[1], E = u->equation[0] * u->time * u->time;
    double x = at->q[0] / L0;
    M[0] = E / (L0 * L0);
    M[1] = M[2] = 0.0;
    M[3] = (1.0 + 0.5 * x * x) * E / (L1 * L1);
    return 0;
}

static int force(const dae_mechanical_point *at, double *f, void *user)
{
    const units *u = user;
    for (int k = 0; k < 2; k++) {
        double L = u->variable[k], v = at->v[k] * u->time / L;
        f[k] = ((k == 1 ? -1.0 : 0.0) - 0.1 * v) * u->equation[0] / L;
    }
    return 0;
}

static double r(double t)
{
    return 1.0 + 0.25 * sin(t);
}

static bool astray; /* g was asked for values far from the curve */

static int constraint(const dae_mechanical_point *at, double *g, void *user)
{
    const units *u = user;
    double x = at->q[0] / u->variable[0], y = at->q[1] / u->variable[1], l = r(at->t / u->time);
    *g = 0.5 * (x * x + y * y - l * l) * u->equation[1];
    astray = astray || x * x + y * y < 0.25;
    return 0;
}

static int gradient(const dae_mechanical_point *at, double *G, void *user)
{
    const units *u = user;
    for (int k = 0; k < 2; k++) G[k] = at->q[k] / u->variable[k] * u->equation[1] / u->variable[k];
    return 0;
}

static int rate(const dae_mechanical_point *at, double *out, void *user)
{
    const units *u = user;
    double t = at->t / u->time;
    *out = -r(t) * 0.25 * cos(t) * u->equation[1] / u->time;
    return 0;
}

static int curvature(const dae_mechanical_point *at, double *out, void *user)
{
    const units *u = user;
    double t = at->t / u->time, sum = 0.0625 * cos(t) * cos(t) - r(t) * 0.25 * sin(t);
    sum = -sum;
    for (int k = 0; k < 2; k++) {
        double v = at->v[k] * u->time / u->variable[k];
        sum += v * v;
    }
    *out = sum * u->equation[1] / (u->time * u->time);
    return 0;
}

static void start_rod(const units *u, double *unit, double *y, double *yp)
{
    const double value[5] = {0.6, -0.8, 0.15, -0.2, 0.0};
    for (int k = 0; k < 5; k++) {
        unit[k] = k < 2   ? u->variable[k]
                  : k < 4 ? u->variable[k - 2] / u->time
                          : u->equation[0] / u->equation[1];
        y[k] = value[k] * unit[k];
        yp[k] = 0.0;
    }
}

static dae_problem *rod_new(const units *u)
{
    const double nominal[2] = {fabs(u->variable[0]), fabs(u->variable[1])};
    dae_mechanical form = {.nq = 2,
                           .nlambda = 1,
                           .mass = mass,
                           .force = force,
                           .constraint = constraint,
                           .gradient = gradient,
                           .rate = rate,
                           .curvature = curvature,
                           .nominal = nominal,
                           .time_scale = fabs(u->time),
                           .user = (void *)u};
    dae_problem *problem;
    assert_int_equal(dae_problem_from_mechanical(&form, &problem, NULL), DAE_OK);
    return problem;
}

/* ---- runs ---- */

typedef struct text {
    int n, changes;
    dae_problem *(*new_problem)(const units *u);
    void (*start)(const units *u, double *unit, double *y, double *yp);
} text;

static const text index1 = {3, CHANGES, index1_new, start_index1};
static const text rod = {5, COMMON, rod_new, start_rod};

typedef struct outcome {
    double values[POINTS * MOST];
    dae_stats stats;
} outcome;

static dae_solver *open_solver(const text *p, const dae_problem *problem, const char *name,
                               const units *u, double *unit)
{
    dae_options options = dae_options_default();
    dae_solver *s = NULL;
    double y[MOST], yp[MOST], atol[MOST];
    p->start(u, unit, y, yp);
    for (int i = 0; i < p->n; i++) atol[i] = RTOL * fabs(unit[i]);
    options.method = name;
    options.rtol = RTOL;
    options.atol_by_unknown = atol;
    if (method_find(name)->constant_steps) options.fixed_step = 0.5 * SPACING * fabs(u->time);
    if (dae_solver_new(problem, &options, &s, NULL) != DAE_OK) return NULL;
    if (dae_solver_start(s, 0.0, y, yp) == DAE_OK) return s;
    dae_solver_free(s);
    return NULL;
}

/* Values up to the end; false: it fails */
static bool follow(const text *p, dae_solver *s, const units *u, const double *unit, outcome *out)
{
    double y[MOST];
    int point = 0;
    for (dae_status status = 1; status > 0 && point < POINTS;) {
        status = dae_solver_step(s, SPACING * (POINTS - 1) * u->time);
        for (; status >= 0 && point < POINTS; point++) {
            double t = SPACING * point;
            if (t > dae_solver_time(s) / u->time || dae_solver_at(s, t * u->time, 0, y)) break;
            for (int i = 0; i < p->n; i++) out->values[point * p->n + i] = y[i] / unit[i];
        }
    }
    out->stats = *dae_solver_stats(s);
    return point == POINTS;
}

/* false: the method does not take it */
static bool run(const text *p, const char *name, const units *u, outcome *out)
{
    dae_problem *problem = p->new_problem(u);
    double unit[MOST];
    dae_solver *s = open_solver(p, problem, name, u, unit);
    bool taken = s && follow(p, s, u, unit, out);
    dae_solver_free(s);
    dae_problem_free(problem);
    return taken;
}

/* Whether the method takes it. Values agree within a bound; counts are the same. */
static bool check(const text *p, const char *name, double bound)
{
    static outcome first, other;
    astray = false;
    if (!run(p, name, &plain, &first)) return false;
    for (int k = 0; k < p->changes; k++) {
        if (!run(p, name, &changed[k], &other)) fail_msg("%s, units %d: it fails", name, k);
        double worst = 0.0;
        for (int j = 0; j < POINTS * p->n; j++)
            worst = fmax(worst, fabs(first.values[j] - other.values[j]));
        if (!(worst <= bound) || first.stats.steps != other.stats.steps)
            fail_msg("%s, units %d: off by %g; %ld and %ld steps", name, k, worst,
                     first.stats.steps, other.stats.steps);
        if (astray) fail_msg("%s, units %d: g is asked for values far from the curve", name, k);
        if (p == &index1 && first.stats.residuals != other.stats.residuals)
            fail_msg("%s, units %d: %ld and %ld residuals", name, k, first.stats.residuals,
                     other.stats.residuals);
    }
    return true;
}

static void units_of_index1(void **state)
{
    (void)state;
    int taken = 0;
    for (int i = 0; dae_method_name(i); i++) taken += check(&index1, dae_method_name(i), 1e-9);
    assert_true(taken >= 24);
}

/* Methods on the second order form, which know what is a position. Those on quasilinear forms may
 * choose other components as the algebraic ones. */
static void units_of_mechanics(void **state)
{
    (void)state;
    static const char *const exact[] = {"midex",    "hem:3",    "hem:4",     "hem:5",    "phem",
                                        "prk",      "dopri:5",  "dopri:8",   "rattle",   "rattle:4",
                                        "rattle:6", "rattle:8", "lobatto:4", "lobatto:6"};
    int taken = 0;
    for (size_t i = 0; i < sizeof exact / sizeof *exact; i++)
        assert_true(check(&rod, exact[i], 1e-10));
    for (int i = 0; dae_method_name(i); i++) {
        const char *name = dae_method_name(i);
        if (strncmp(name, "colloc2nd", 9) == 0) taken += check(&rod, name, 1e-9);
        if (strncmp(name, "herk", 4) == 0 && !strstr(name, "thesis"))
            taken += check(&rod, name, RTOL);
    }
    assert_true(taken >= 16);
}

/* Whether the method takes it. From a second start of a solver that has moved on: the same values
 * but for rounding errors, since pivots may be those of another point, by the same steps. */
static bool check_second_start(const text *p, const char *name)
{
    static outcome first, second;
    dae_problem *problem = p->new_problem(&plain);
    double unit[MOST], y[MOST], yp[MOST];
    dae_solver *s = open_solver(p, problem, name, &plain, unit);
    bool taken = s && follow(p, s, &plain, unit, &first);
    if (taken) {
        p->start(&plain, unit, y, yp);
        if (dae_solver_start(s, 0.0, y, yp) || !follow(p, s, &plain, unit, &second))
            fail_msg("%s: %s", name, dae_solver_diag(s)->text);
        for (int j = 0; j < POINTS * p->n; j++)
            if (!(fabs(first.values[j] - second.values[j]) < 1e-9))
                fail_msg("%s: %.17g, then %.17g", name, first.values[j], second.values[j]);
        if (second.stats.steps != 2 * first.stats.steps)
            fail_msg("%s: %ld steps, then %ld in all", name, first.stats.steps, second.stats.steps);
    }
    dae_solver_free(s);
    dae_problem_free(problem);
    return taken;
}

static void a_start_forgets(void **state)
{
    (void)state;
    int taken = 0;
    for (int i = 0; dae_method_name(i); i++) {
        taken += check_second_start(&index1, dae_method_name(i));
        taken += check_second_start(&rod, dae_method_name(i));
    }
    assert_true(taken > 80);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(units_of_index1),
                                       cmocka_unit_test(units_of_mechanics),
                                       cmocka_unit_test(a_start_forgets)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
