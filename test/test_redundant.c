/* Constraints that follow from others: multipliers of least norm and a warning that names them,
 * from callbacks and from models; those that contradict others, and singular configurations, are
 * errors that name them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "contact.h"
#include "daedal.h"
#include "forms/redundant.h"
#include "pendulum.h"

enum { MOST = 24 };

static char heard[512];

static void hear(const char *text, void *user)
{
    (void)user;
    size_t used = strlen(heard);
    snprintf(heard + used, sizeof heard - used, "%s\n", text);
}

typedef struct way {
    const char *formulation, *method;
} way;

/* y(tend) or what went wrong, in diag. */
static dae_status solve(const dae_problem *p, const way *w, double tend, const double *y0,
                        double *y, dae_diag *diag)
{
    dae_solver *s = NULL;
    dae_options o = dae_options_default();
    o.formulation = w->formulation;
    o.method = w->method;
    o.rtol = 1e-8;
    o.atol = 1e-8;
    o.max_steps = 20000;
    o.message = hear;
    heard[0] = '\0';
    dae_status status = dae_solver_new(p, &o, &s, diag);
    if (status != DAE_OK) return status;
    status = dae_solver_start(s, 0.0, y0, NULL);
    if (status == DAE_OK) status = dae_solver_run(s, tend, y, NULL);
    *diag = *dae_solver_diag(s);
    dae_solver_free(s);
    return status;
}

static void expect(const way *w, const char *what, double got, double exact, double tolerance)
{
    if (!(fabs(got - exact) <= tolerance))
        fail_msg("%s, %s: %s = %.10g, not %.10g (%.1e > %.1e)", w->formulation, w->method, what,
                 got, exact, fabs(got - exact), tolerance);
}

/* ---- callbacks: a pendulum whose rod is there twice, the second time in other units ---- */

static double factor = 2.0, gap = 0.0;

static int rods(const dae_mechanical_point *at, double *g, void *user)
{
    double r = 0.5 * (at->q[0] * at->q[0] + at->q[1] * at->q[1] - 1.0);
    (void)user;
    g[0] = r;
    g[1] = factor * r + gap;
    return 0;
}

static const dae_mechanical twice = {
    .nq = 2, .nlambda = 2, .force = pendulum_weight, .constraint = rods, .scleronomic = true};

static void repeated_rod(void **unused)
{
    (void)unused;
    const way ways[] = {{"auto", "auto"},       {"auto", "bdf"},        {"index3", "radau:5"},
                        {"index2", "bdf"},      {"index1", "bdf"},      {"baumgarte:5", "bdf"},
                        {"gglm", "bdf"},        {"fuehrer", "bdf"},     {"odassl", "bdf"},
                        {"auto", "bdf2nd"},     {"index2", "radau:5"},  {"ggl2", "bdf"},
                        {"minimal", "bdf"},     {"reduced", "bdf"},     {"minimal", "bdf2nd"},
                        {"reduced", "bdf2nd"},  {"minimal", "radau:5"}, {"auto", "colloc2nd"},
                        {"index1", "colloc2nd"}};
    double y0[6] = {1.0}, y[6];
    dae_problem *p;
    dae_diag diag = {0};
    factor = 2.0;
    gap = 0.0;
    assert_int_equal(dae_problem_from_mechanical(&twice, &p, NULL), DAE_OK);
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        const way *w = &ways[i];
        if (solve(p, w, 1.0, y0, y, &diag) != DAE_OK) fail_msg("%s", diag.text);
        assert_non_null(strstr(heard, "g[1]"));
        assert_null(strstr(heard, "g[0]"));
        /* a = -cos(phi)'': lambda_1 + 2 lambda_2 = v^2 - y, of least norm (1, 2)/5 of it */
        double sum = y[2] * y[2] + y[3] * y[3] - y[1], v2 = y[2] * y[2] + y[3] * y[3];
        expect(w, "energy", 0.5 * v2 + y[1], 0.0, 1e-5);
        expect(w, "lambda[0]", y[4], 0.2 * sum, 2e-3);
        expect(w, "lambda[1]", y[5], 2.0 * y[4], 1e-6);
    }
    dae_problem_free(p);
}

/* Where it cannot be done the message names the constraints. */
static void refusals(void **unused)
{
    (void)unused;
    const way ways[] = {{"auto", "hem:5"}, {"auto", "prk"}};
    const way bdf = {"auto", "bdf"};
    double y0[6] = {1.0}, y[6];
    dae_problem *p;
    dae_diag diag = {0};
    factor = 2.0;
    gap = 0.0;
    assert_int_equal(dae_problem_from_mechanical(&twice, &p, NULL), DAE_OK);
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        assert_int_equal(solve(p, &ways[i], 1.0, y0, y, &diag), DAE_ERR_SINGULAR);
        assert_non_null(strstr(diag.text, "g[0] and g[1]"));
    }
    gap = 0.1; /* a contradiction */
    assert_int_equal(solve(p, &bdf, 1.0, y0, y, &diag), DAE_ERR_INITIAL);
    assert_non_null(strstr(diag.text, "g[1] and g[0]"));
    gap = 0.0;
    dae_problem_free(p);
}

/* A second rod whose length agrees at t = 0, and what it is later. */
static double (*later)(double t);

static double cubic(double t)
{
    return t * t * t;
}

static double flat(double t)
{
    return t > 0.05 ? exp(-1.0 / (t * t)) : 0.0;
}

static int rods_that_part(const dae_mechanical_point *at, double *g, void *user)
{
    double r = 0.5 * (at->q[0] * at->q[0] + at->q[1] * at->q[1] - 1.0);
    (void)user;
    g[0] = r;
    g[1] = 2.0 * r + later(at->t);
    return 0;
}

/* What is seen beside the start is refused there; the rest, where it happens. Both are named. */
static void rods_part(void **unused)
{
    (void)unused;
    const way ways[] = {
        {"auto", "bdf"}, {"index3", "radau:5"}, {"index1", "bdf"}, {"auto", "auto"}};
    const dae_mechanical form = {
        .nq = 2, .nlambda = 2, .force = pendulum_weight, .constraint = rods_that_part};
    double y0[6] = {1.0}, y[6];
    dae_problem *p;
    dae_diag diag = {0};
    assert_int_equal(dae_problem_from_mechanical(&form, &p, NULL), DAE_OK);
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        later = cubic;
        assert_int_equal(solve(p, &ways[i], 1.0, y0, y, &diag), DAE_ERR_INITIAL);
        assert_non_null(strstr(diag.text, "cannot hold together: g[1] and g[0]"));
        later = flat;
        assert_int_equal(solve(p, &ways[i], 1.0, y0, y, &diag), DAE_ERR_SINGULAR);
        assert_non_null(strstr(diag.text, "g[1] cannot hold any more"));
        assert_true(diag.t > 0.2 && diag.t < 1.0);
    }
    dae_problem_free(p);
}

/* Two circles that touch at (1, 0): dependent there alone. */
static int circles(const dae_mechanical_point *at, double *g, void *user)
{
    double x = at->q[0], y = at->q[1];
    (void)user;
    g[0] = x * x + y * y - 1.0;
    g[1] = (x - 2.0) * (x - 2.0) + y * y - 1.0;
    return 0;
}

static void singular_configuration(void **unused)
{
    (void)unused;
    const way bdf = {"auto", "bdf"};
    dae_mechanical form = twice;
    double y0[6] = {1.0}, y[6];
    dae_problem *p;
    dae_diag diag = {0};
    form.constraint = circles;
    assert_int_equal(dae_problem_from_mechanical(&form, &p, NULL), DAE_OK);
    assert_int_equal(solve(p, &bdf, 1.0, y0, y, &diag), DAE_ERR_SINGULAR);
    assert_non_null(strstr(diag.text, "g[1]"));
    assert_string_equal(heard, "");
    dae_problem_free(p);
}

/* ---- callbacks of the full form ---- */

/* A bead on y = x^2 with contact coordinate, held twice: see test_multibody.c. lambda of the single
 * constraint is l, so that l = lambda_1 + 2 lambda_2 of least norm is (1, 2) l/5. */

static int held_twice(const dae_mechanical_point *at, double *g, void *user)
{
    double s = at->s[0], r = at->q[1] - s * s - 2.0 * s * (at->q[0] - s);
    (void)user;
    g[0] = r;
    g[1] = factor * r + gap;
    return 0;
}

/* x'' (1 + 4 x^2) = -4 x v^2 - 2 x and y'' = -1 - l with l = -1 - 2 v^2 - 2 x x'' */
static double bead_force(const double *y)
{
    double x = y[0], v = y[2], a = (-4.0 * x * v * v - 2.0 * x) / (1.0 + 4.0 * x * x);
    return -1.0 - 2.0 * v * v - 2.0 * x * a;
}

static const way FULL[] = {{"auto", "bdf"},       {"index3", "radau:5"},  {"index2", "bdf"},
                           {"index1", "bdf"},     {"baumgarte:5", "bdf"}, {"gglm", "bdf"},
                           {"ggl2", "bdf"},       {"fuehrer", "bdf"},     {"odassl", "bdf"},
                           {"minimal", "bdf"},    {"reduced", "bdf"},     {"auto", "bdf2nd"},
                           {"minimal", "bdf2nd"}, {"auto", "colloc2nd"}};
enum { FULL_COUNT = sizeof FULL / sizeof FULL[0] };

static void bead_held_twice(void **unused)
{
    (void)unused;
    const dae_mechanical form = {.nq = 2,
                                 .nlambda = 2,
                                 .ns = 1,
                                 .force = pendulum_weight,
                                 .constraint = held_twice,
                                 .contact = nearest,
                                 .scleronomic = true};
    const way hem = {"auto", "hem:5"}, bdf = {"auto", "bdf"};
    double y0[7] = {1.0, 1.0, 0.0, 0.0, 0.9}, y[7];
    dae_problem *p;
    dae_diag diag = {0};
    factor = 2.0;
    gap = 0.0;
    assert_int_equal(dae_problem_from_mechanical(&form, &p, NULL), DAE_OK);
    for (int i = 0; i < FULL_COUNT; i++) {
        const way *w = &FULL[i];
        if (solve(p, w, 1.0, y0, y, &diag) != DAE_OK) fail_msg("%s: %s", w->formulation, diag.text);
        assert_non_null(strstr(heard, "g[1]"));
        double v2 = y[2] * y[2] + y[3] * y[3], l = bead_force(y);
        expect(w, "energy", 0.5 * v2 + y[1], 1.0, 1e-5);
        expect(w, "lambda[0]", y[5], 0.2 * l, 2e-3);
        expect(w, "lambda[1]", y[6], 2.0 * y[5], 1e-6);
    }
    assert_int_equal(solve(p, &hem, 1.0, y0, y, &diag), DAE_ERR_SINGULAR);
    assert_non_null(strstr(diag.text, "g[0] and g[1]"));
    gap = 0.1;
    assert_int_equal(solve(p, &bdf, 1.0, y0, y, &diag), DAE_ERR_INITIAL);
    assert_non_null(strstr(diag.text, "g[1]"));
    gap = 0.0;
    dae_problem_free(p);
}

/* A skate with two blades behind each other [test_multibody.c]: constraints on velocities. */

static int slope(const dae_mechanical_point *at, double *f, void *user)
{
    (void)at, (void)user;
    f[0] = 3.0;
    f[1] = f[2] = 0.0;
    return 0;
}

static int blades(const dae_mechanical_point *at, double *c, void *user)
{
    double blade = at->v[0] * sin(at->q[2]) - at->v[1] * cos(at->q[2]);
    (void)user;
    c[0] = blade;
    c[1] = factor * blade + gap;
    return 0;
}

static void two_blades(void **unused)
{
    (void)unused;
    const dae_mechanical form = {
        .nq = 3, .nvelocity = 2, .force = slope, .velocity_constraint = blades};
    const way ways[] = {
        {"auto", "bdf"}, {"index1", "bdf"}, {"auto", "bdf2nd"}, {"auto", "radau:5"}};
    double y0[8] = {0.0, 0.0, 0.0, 0.0, 0.0, 1.5}, y[8], size = 3.0 / 4.5, a = 1.5;
    dae_problem *p;
    dae_diag diag = {0};
    factor = 2.0;
    gap = 0.0;
    assert_int_equal(dae_problem_from_mechanical(&form, &p, NULL), DAE_OK);
    for (int i = 0; i < 4; i++) {
        const way *w = &ways[i];
        if (solve(p, w, 1.0, y0, y, &diag) != DAE_OK) fail_msg("%s: %s", w->formulation, diag.text);
        assert_non_null(strstr(heard, "g[1]"));
        expect(w, "x", y[0], size * sin(a) * sin(a), 1e-5);
        expect(w, "y", y[1], size * (a - 0.5 * sin(2.0 * a)), 1e-5);
        expect(w, "lambda[1]", y[7], 2.0 * y[6], 1e-6);
        expect(w, "lambda", y[6] + 2.0 * y[7], 6.0 * sin(a), 1e-3); /* as one blade has it */
    }
    gap = 0.1;
    assert_int_equal(solve(p, &ways[0], 1.0, y0, y, &diag), DAE_ERR_INITIAL);
    assert_non_null(strstr(diag.text, "g["));
    gap = 0.0;
    dae_problem_free(p);
}

/* The pendulum's rods with a force along the path that is a part of their tension: which part they
 * carry is decided by the least norm, and the motion with it. */
static int rubbing(const dae_mechanical_point *at, double *f, void *user)
{
    double tension = at->lambda[0];
    (void)user;
    f[0] = -0.5 * tension * at->v[0];
    f[1] = -0.5 * tension * at->v[1] - 1.0;
    return 0;
}

static void friction_on_two_rods(void **unused)
{
    (void)unused;
    dae_mechanical form = twice;
    form.force = rubbing;
    form.friction = true;
    double y0[6] = {1.0}, y[6], energy = NAN;
    dae_problem *p;
    dae_diag diag = {0};
    factor = 2.0;
    assert_int_equal(dae_problem_from_mechanical(&form, &p, NULL), DAE_OK);
    for (int i = 0; i < FULL_COUNT; i++) {
        const way *w = &FULL[i];
        if (solve(p, w, 1.0, y0, y, &diag) != DAE_OK) fail_msg("%s: %s", w->formulation, diag.text);
        assert_non_null(strstr(heard, "g[1]"));
        /* lambda_1 + 2 lambda_2 = 5 lambda_1 balances v^2 - y: friction is along v alone */
        double v2 = y[2] * y[2] + y[3] * y[3], e = 0.5 * v2 + y[1];
        expect(w, "lambda[0]", y[4], 0.2 * (v2 - y[1]), 2e-3);
        expect(w, "lambda[1]", y[5], 2.0 * y[4], 1e-6);
        if (i == 0) energy = e;
        expect(w, "energy", e, energy, 1e-5);
    }
    assert_true(energy < -0.01); /* e' = -lambda_1 v^2 / 2 */
    dae_problem_free(p);
}

/* ---- models ---- */

static dae_problem *open_model(const char *name)
{
    char path[512];
    const char *slash = strrchr(__FILE__, '/');
    int length = slash ? (int)(slash - __FILE__) + 1 : 0;
    dae_problem *p = NULL;
    dae_diag diag = {0};
    snprintf(path, sizeof path, "%.*s../models/%s.mo", length, __FILE__, name);
    dae_model model = {.file = path, .engine = DAE_ENGINE_TAPE};
    if (dae_problem_from_model(&model, &p, &diag) != DAE_OK) fail_msg("%s", diag.text);
    return p;
}

static int place(const dae_problem *p, const char *name)
{
    for (int i = 0; i < dae_problem_size(p); i++)
        if (strcmp(dae_problem_unknown_name(p, i), name) == 0) return i;
    fail_msg("no variable %s", name);
    return -1;
}

/* The parallelogram with a third rod is a pendulum, a'' = -g cos(a) at angle a, until it is flat.
 * Forces of least norm: left, right and third rod share the load, f4 = (f1 + f2)/2 as its gradient
 * is the mean of theirs over 2. */
static void third_rod(void **unused)
{
    (void)unused;
    const way ways[] = {
        {"auto", "bdf"},      {"auto", "radau:5"},   {"auto", "bdf2nd"},    {"index2", "bdf"},
        {"baumgarte", "bdf"}, {"index1", "bdf2nd"},  {"ggl", "bdf"},        {"gglm", "bdf"},
        {"ggl2", "bdf2nd"},   {"fuehrer", "bdf"},    {"odassl", "bdf"},     {"minimal", "bdf"},
        {"reduced", "bdf"},   {"minimal", "bdf2nd"}, {"reduced", "bdf2nd"}, {"auto", "colloc2nd"}};
    dae_problem *p = open_model("broken/redundantrod");
    double reference = NAN, y[MOST];
    dae_diag diag = {0};
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        const way *w = &ways[i];
        if (solve(p, w, 0.3, NULL, y, &diag) != DAE_OK) fail_msg("%s", diag.text);
        assert_non_null(strstr(heard, "third rod"));
        double x1 = y[place(p, "x1")], y1 = y[place(p, "y1")], u1 = y[place(p, "u1")],
               w1 = y[place(p, "w1")], f1 = y[place(p, "f1")], f2 = y[place(p, "f2")],
               f4 = y[place(p, "f4")];
        if (i == 0) reference = x1;
        expect(w, "x1", x1, reference, 1e-5);
        expect(w, "rod", x1 * x1 + y1 * y1, 1.0, 1e-6);
        expect(w, "energy", 0.5 * (u1 * u1 + w1 * w1) + 9.81 * (y1 - 0.8), 0.0, 1e-4);
        expect(w, "f1 - f2", f1, f2, 1e-4);
        expect(w, "f4", f4, f1 + f2, 1e-4);
        /* radial balance of one mass: v^2 = f1 + f4 - g y1 */
        expect(w, "balance", f1 + f4 + 9.81 * y1, u1 * u1 + w1 * w1, 1e-3);
    }
    dae_problem_free(p);
}

/* Texts: y(tend), or what went wrong. */
static dae_problem *open_text(const char *text)
{
    dae_problem *p = NULL;
    dae_diag diag = {0};
    dae_model model = {.text = text, .file = "m.mo", .engine = DAE_ENGINE_TAPE};
    if (dae_problem_from_model(&model, &p, &diag) != DAE_OK) fail_msg("%s", diag.text);
    return p;
}

/* models/cycloid.mo with its constraint twice: N = N1 + 2 N2. */
#define CYCLOID(gap)                                                                               \
    "model M\n"                                                                                    \
    "  parameter Real m = 2, g = 9.81, R = 0.5;\n"                                                 \
    "  Real x(start = 0.9), y(start = 0.3), vx(start = 0, fixed = true), vy;\n"                    \
    "  Real s(start = 1, fixed = true), N1(start = 10), N2(start = 10);\n"                         \
    "equation\n"                                                                                   \
    "  der(x) = vx; der(y) = vy;\n"                                                                \
    "  m*der(vx) = -(N1 + 2*N2)*sin(s/2); m*der(vy) = (N1 + 2*N2)*cos(s/2) - m*g;\n"               \
    "  (x - R*(s + sin(s)))*cos(s/2) + (y - R*(1 - cos(s)))*sin(s/2) = 0 \"nearest\";\n"           \
    "  (y - R*(1 - cos(s)))*cos(s/2) - (x - R*(s + sin(s)))*sin(s/2) = 0 \"curve\";\n"             \
    "  2*((y - R*(1 - cos(s)))*cos(s/2) - (x - R*(s + sin(s)))*sin(s/2)) = " gap                   \
    " \"curve again\";\nend M;\n"

static void bead_of_a_model_held_twice(void **unused)
{
    (void)unused;
    const way ways[] = {{"auto", "bdf"},       {"auto", "bdf2nd"},   {"auto", "colloc2nd"},
                        {"index2", "bdf"},     {"index1", "bdf2nd"}, {"ggl", "bdf"},
                        {"gglm", "bdf"},       {"ggl2", "bdf2nd"},   {"fuehrer", "bdf"},
                        {"odassl", "bdf"},     {"minimal", "bdf"},   {"reduced", "bdf"},
                        {"minimal", "bdf2nd"}, {"reduced", "bdf2nd"}};
    dae_problem *p = open_text(CYCLOID("0"));
    double y[MOST], t = 1.0, w = sqrt(9.81 / 2.0), length = 2.0 * sin(0.5);
    double L = length * cos(w * t), v = -w * length * sin(w * t), s = 2.0 * asin(0.5 * L);
    double N = 2.0 * 9.81 * cos(0.5 * s) + 2.0 * v * v / (2.0 * cos(0.5 * s));
    dae_diag diag = {0};
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        if (solve(p, &ways[i], t, NULL, y, &diag) != DAE_OK) fail_msg("%s", diag.text);
        assert_non_null(strstr(heard, "curve again"));
        assert_null(strstr(heard, "nearest"));
        expect(&ways[i], "s", y[place(p, "s")], s, 1e-5);
        expect(&ways[i], "N1", y[place(p, "N1")], 0.2 * N, 1e-3);
        expect(&ways[i], "N2", y[place(p, "N2")], 0.4 * N, 1e-3);
    }
    dae_problem_free(p);
    p = open_text(CYCLOID("0.1"));
    dae_status status = solve(p, &ways[0], t, NULL, y, &diag);
    assert_true(status == DAE_ERR_INITIAL || status == DAE_ERR_SINGULAR);
    assert_non_null(strstr(diag.text, "curve"));
    dae_problem_free(p);
}

static void two_blades_of_a_model(void **unused)
{
    (void)unused;
    const way ways[] = {{"auto", "bdf"}, {"index2", "bdf2nd"}, {"auto", "colloc2nd"}};
    dae_problem *p =
        open_text("model M\n"
                  "  Real x(start = 0, fixed = true), y(start = 0, fixed = true);\n"
                  "  Real phi(start = 0, fixed = true), vx(start = 0, fixed = true), vy;\n"
                  "  Real w(start = 1.5, fixed = true), l1, l2;\n"
                  "equation\n"
                  "  der(x) = vx; der(y) = vy; der(phi) = w; der(w) = 0;\n"
                  "  der(vx) = 3 + (l1 + 2*l2)*sin(phi); der(vy) = -(l1 + 2*l2)*cos(phi);\n"
                  "  vx*sin(phi) - vy*cos(phi) = 0 \"blade\";\n"
                  "  2*vx*sin(phi) - 2*vy*cos(phi) = 0 \"second blade\";\nend M;\n");
    double y[MOST], a = 1.5;
    dae_diag diag = {0};
    for (int i = 0; i < 3; i++) {
        if (solve(p, &ways[i], 1.0, NULL, y, &diag) != DAE_OK) fail_msg("%s", diag.text);
        assert_non_null(strstr(heard, "second blade"));
        expect(&ways[i], "x", y[place(p, "x")], 3.0 / 4.5 * sin(a) * sin(a), 1e-5);
        expect(&ways[i], "l1", y[place(p, "l1")], -6.0 / 5.0 * sin(a), 1e-3);
        expect(&ways[i], "l2", y[place(p, "l2")], -12.0 / 5.0 * sin(a), 1e-3);
    }
    dae_problem_free(p);
}

/* Lines of a model that restrict the same motion: refused with both named where their values
 * disagree, at once, later and after an event; else they run with a warning. */
#define BELT(first, second)                                                                        \
    "model M\n"                                                                                    \
    "  Real x1(start = 0, fixed = true), x2, v1, v2, l1, l2;\n"                                    \
    "equation\n"                                                                                   \
    "  der(x1) = v1; der(x2) = v2;\n"                                                              \
    "  der(v1) = 2 + l1 + l2;\n"                                                                   \
    "  der(v2) = l1 + l2;\n"                                                                       \
    "  " first ";\n"                                                                               \
    "  " second ";\n"                                                                              \
    "end M;\n"

static void belts(void **unused)
{
    (void)unused;
    const struct {
        const char *text;
        dae_status status;
    } cases[] = {
        {BELT("x1 + x2 = 3", "v1 + v2 = 0"), DAE_OK}, /* and no alias */
        {BELT("x1 + x2 = 3", "v1 + v2 = 0.5"), DAE_ERR_INITIAL},
        {BELT("x1 + x2 = 3", "2*x1 + 2*x2 = 6.5"), DAE_ERR_INITIAL},
        {BELT("x1 + x2 = 3 + time^2", "2*v1 + 2*v2 = 4*time"), DAE_OK},
        {BELT("x1 + x2 = 3 + time^2", "2*v1 + 2*v2 = 4.1*time"), DAE_ERR_INITIAL},
        {BELT("x1 + x2 = 3", "2*x1 + 2*x2 = 6 + time^3"), DAE_ERR_INITIAL},
        {BELT("x1 + x2 = 3", "2*v1 + 2*v2 = if time < 0.5 then 0 else 0.1"), DAE_ERR_SINGULAR},
        {BELT("x1 + x2 = 3", "2*x1 + 2*x2 = if time < 0.5 then 6 else 6.1"), DAE_ERR_SINGULAR},
        {BELT("x1 + x2 = 3", "2*v1 + 2*v2 = if time < 0.5 then 0 else 0.0"), DAE_OK}};
    const way ways[] = {{"auto", "auto"},  {"auto", "bdf"},   {"auto", "radau:5"},
                        {"auto", "hem:5"}, {"index1", "bdf"}, {"auto", "bdf2nd"}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        dae_problem *p = open_text(cases[k].text);
        for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
            double y[MOST];
            dae_diag diag = {0};
            dae_status status = solve(p, &ways[i], 1.0, NULL, y, &diag);
            if (status != cases[k].status)
                fail_msg("case %d, %s: %d %s", (int)k, ways[i].method, (int)status, diag.text);
            if (status == DAE_OK) {
                assert_non_null(strstr(heard, "m.mo:8"));
                expect(&ways[i], "l1 - l2", y[place(p, "l1")], y[place(p, "l2")], 1e-6);
                continue;
            }
            if (!strstr(diag.text, "m.mo:7") || !strstr(diag.text, "m.mo:8"))
                fail_msg("case %d, %s: %s", (int)k, ways[i].method, diag.text);
        }
        dae_problem_free(p);
    }
}

/* ---- the search ---- */

/* (x, y) on a line, twice, and z = 0 */
static bool lines(void *context, double t, const double *q, const double *v, double *g,
                  double *rate, double *G)
{
    const double rows[9] = {1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 2.0, 2.0, 3.0};
    const double *power = context; /* the third line moves away as t^power */
    g[0] = q[0] + q[1];
    g[1] = q[2];
    g[2] = 2.0 * g[0] + 3.0 * g[1] - pow(t, *power);
    for (int i = 0; i < 3; i++)
        rate[i] = rows[3 * i] * v[0] + rows[3 * i + 1] * v[1] + rows[3 * i + 2] * v[2];
    rate[2] -= *power * pow(t, *power - 1.0);
    memcpy(G, rows, sizeof rows);
    return true;
}

static void search(void **unused)
{
    (void)unused;
    const double q[3] = {0.0}, size[3] = {1.0, 1.0, 1.0};
    bool redundant[3], with[3];
    double g[3], G[9], c[9], work[18], power = 300.0; /* no more than rounding */
    redundant_rows rows = {.m = 3, .n = 3, .q = q, .size = size, .evaluate = lines, &power};
    redundant_conflict conflict = {.with = with};
    assert_int_equal(redundant_find(&rows, redundant, &conflict), 1);
    assert_int_equal(conflict.row, -1);
    assert_true(redundant[2] && !redundant[0] && !redundant[1]);
    lines(&power, 0.0, q, q, g, g, G);
    redundant_relations(3, 3, G, redundant, c, work);
    assert_true(fabs(c[6] - 2.0) < 1e-14 && fabs(c[7] - 3.0) < 1e-14);
}

/* Lines that agree at the point, but not at once later: with t they are apart on velocities at
 * once, with t^3 only where one looks later. */
static void search_later(void **unused)
{
    (void)unused;
    const double q[3] = {0.0}, size[3] = {1.0, 1.0, 1.0};
    bool redundant[3], with[3];
    for (double power = 1.0; power < 4.0; power += 1.0) {
        redundant_rows rows = {.m = 3, .n = 3, .q = q, .size = size, .evaluate = lines, &power};
        redundant_conflict conflict = {.with = with};
        assert_int_equal(redundant_find(&rows, redundant, &conflict), 0);
        assert_int_equal(conflict.row, 2);
        assert_true(with[0] && with[1] && !with[2]);
        assert_true(power > 1.0 ? conflict.t > 0.0 : conflict.t == 0.0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(search),
        cmocka_unit_test(search_later),
        cmocka_unit_test(repeated_rod),
        cmocka_unit_test(refusals),
        cmocka_unit_test(rods_part),
        cmocka_unit_test(singular_configuration),
        cmocka_unit_test(bead_held_twice),
        cmocka_unit_test(two_blades),
        cmocka_unit_test(friction_on_two_rods),
        cmocka_unit_test(third_rod),
        cmocka_unit_test(bead_of_a_model_held_twice),
        cmocka_unit_test(two_blades_of_a_model),
        cmocka_unit_test(belts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
