/* Index, index reduction and manifolds: sections VII.1 and VII.2.
 *
 * The sections print formulas and pictures; the figures beside ours are closed forms, the
 * references of docs/models.md, or what a picture shows: growth, sizes, a torus that is kept. */
#include "parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const tight = "--rtol 1e-8 --atol 1e-8";

/* The pendulum (2.1) from (1, 0) at rest, at t = 10: models/pendulum.ref. */
static const double PENDULUM_X = -0.81158645, PENDULUM_Y = -0.58423235;

static void compare(seeds_run *run, const seeds_command_result *r, const char *name, double closed,
                    double bound)
{
    seeds_number(run, name, seeds_last(run, r, name), closed, bound);
}

/* Whether `check MODEL OPTIONS` reports an index. */
static void index_is(seeds_run *run, const char *label, int index, const char *arguments)
{
    seeds_command_result r;
    char line[64], text[32];
    if (!seeds_command(run, &r, "check %s", arguments)) return;
    snprintf(line, sizeof line, "  index               %d", index);
    snprintf(text, sizeof text, "index %d", index);
    seeds_holds(run, label, strstr(r.out, line) != NULL, text, text);
}

/* The same for a notion of the index, by its line of `check MODEL --index all`. */
static void notion_is(seeds_run *run, const char *notion, int index, const char *model)
{
    seeds_command_result r;
    double found = NAN;
    char line[64];
    if (!seeds_command(run, &r, "check models/seeds/%s.mo --index all", model)) return;
    snprintf(line, sizeof line, "\n  %s ", notion);
    const char *at = strstr(r.out, line);
    if (!at || sscanf(at + strlen(line), "%lf", &found) != 1)
        seeds_fail(run, "no index \"%s\"", notion);
    seeds_number(run, notion, found, index, 0.0);
}

/* The number behind a line of the statistics; NAN and a failed row if there is none. */
static double statistic(seeds_run *run, const seeds_command_result *r, const char *label)
{
    const char *at = strstr(r->out, label);
    double x = NAN;
    if (!at || sscanf(at + strlen(label), "%lf", &x) != 1)
        seeds_fail(run, "no line \"%s\" in the statistics", label);
    return x;
}

static double position_error(seeds_run *run, const seeds_command_result *r)
{
    return statistic(run, r, "largest |g| ");
}

static double velocity_error(seeds_run *run, const seeds_command_result *r)
{
    return statistic(run, r, "largest |g'|, hidden ");
}

/* ---- VII.1: the index ---- */

enum { SIZE = 4 };
typedef double matrix[SIZE * SIZE]; /* by columns */

static void product(const double *a, const double *b, matrix out)
{
    for (int i = 0; i < SIZE; i++)
        for (int j = 0; j < SIZE; j++) {
            double sum = 0.0;
            for (int k = 0; k < SIZE; k++) sum += a[i + SIZE * k] * b[k + SIZE * j];
            out[i + SIZE * j] = sum;
        }
}

static double distance(const double *a, const double *b)
{
    double worst = 0.0;
    for (int k = 0; k < SIZE * SIZE; k++) worst = fmax(worst, fabs(a[k] - b[k]));
    return worst;
}

/* u' + 2 u, then the nilpotent block of (1.12): the form (1.3) itself, C = 2 and N of size 3. */
static const matrix canonical_B = {1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
static const matrix canonical_A = {2, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};

/* The pencil S (A + lambda B) T, of which (1.3) must come out again; its report, or NULL. */
static dae_pencil_report *mixed(seeds_run *run, const double *S, const double *T, matrix A,
                                matrix B)
{
    matrix half;
    dae_pencil_report *report = NULL;
    dae_diag diag;
    product(S, canonical_B, half);
    product(half, T, B);
    product(S, canonical_A, half);
    product(half, T, A);
    dae_pencil p = {.n = SIZE, .a = A, .b = B};
    seeds_ok(run, dae_pencil_analyse(&p, &report, &diag), &diag);
    return report;
}

static const matrix mixers[2] = {{2, 1, 0, 1, -1, 1, 3, 0, 0, 1, 1, -2, 1, 0, 1, 1},
                                 {1, 0, 2, 1, 1, -1, 0, 2, 0, 1, 1, 1, -1, 0, 1, 3}};

static void weierstrass(seeds_run *run)
{
    matrix A, B, half, form;
    dae_pencil_report *report = mixed(run, mixers[0], mixers[1], A, B);
    if (!report) return;
    seeds_number(run, "index of nilpotency", report->index, 3, 0.0);
    seeds_number(run, "degree of det(A + lambda B)", report->finite, 1, 0.0);
    if (report->p && report->q) {
        product(report->p, B, half);
        product(half, report->q, form);
        seeds_at_most(run, "P B Q beside diag(I, N)", distance(form, canonical_B), 1e-11, 1.0);
        product(report->p, A, half);
        product(half, report->q, form);
        seeds_at_most(run, "P A Q beside diag(C, I)", distance(form, canonical_A), 1e-11, 1.0);
    } else {
        seeds_fail(run, "no P and Q");
    }
    dae_pencil_report_free(report);
}

/* Exercise 4: the index does not depend on the transformation. */
static void invariance(seeds_run *run)
{
    matrix A, B;
    for (int k = 0; k < 2; k++) {
        dae_pencil_report *report = mixed(run, mixers[k], mixers[1 - k], A, B);
        if (report) seeds_number(run, "index of nilpotency", report->index, 3, 0.0);
        dae_pencil_report_free(report);
    }
}

static void singular_pencil(seeds_run *run)
{
    const double B[4] = {1, 1, 0, 0}, A[4] = {1, 1, 2, 2};
    dae_pencil p = {.n = 2, .a = A, .b = B};
    dae_pencil_report *report = NULL;
    dae_diag diag;
    if (!seeds_ok(run, dae_pencil_analyse(&p, &report, &diag), &diag)) return;
    seeds_holds(run, "singular pencil", !report->regular, "no unique solution",
                "no unique solution");
    dae_pencil_report_free(report);
}

/* z1 = d1 - d2' + d3'' */
static void nilpotent(seeds_run *run)
{
    seeds_command_result r;
    notion_is(run, "differentiation", 3, "nilpotent");
    notion_is(run, "Kronecker", 3, "nilpotent");
    if (!seeds_command(run, &r, "run models/seeds/nilpotent.mo")) return;
    compare(run, &r, "z1", exp(-1.0) - 2.0 * cos(2.0) - cos(1.0), 1e-8);
    compare(run, &r, "z2", sin(2.0) + sin(1.0), 1e-8);
}

static void steering(seeds_run *run)
{
    seeds_command_result r;
    if (!seeds_command(run, &r, "run models/seeds/steering.mo %s", tight)) return;
    compare(run, &r, "y1", 0.91114967, 1e-7);
    compare(run, &r, "y2", 0.41207557, 1e-7);
    compare(run, &r, "z", -0.533220190, 1e-6);
}

/* Condition (1.10) fails where g_y f_z = 0: an impasse, which the run must name, not pass. */
static void impasse(seeds_run *run)
{
    static const struct {
        const char *label, *start;
        double t;
    } cases[] = {{"impasse from z = 0", "0", 0.37249},
                 {"impasse from z = pi/2.5", "1.2566370614359172", 1.47729}};
    for (int k = 0; k < 2; k++) {
        seeds_command_result r;
        if (!seeds_refused(run, &r, "run models/seeds/steering.mo --stop 3 --start z=%s",
                           cases[k].start))
            return;
        const char *at = strstr(r.out, "at time ");
        double t = NAN;
        if (!at || sscanf(at, "at time %lf", &t) != 1) seeds_fail(run, "no time of the impasse");
        seeds_number(run, cases[k].label, t, cases[k].t, 1e-5);
    }
}

static void indices(seeds_run *run)
{
    index_is(run, "(1.13), models/robertson.mo", 1, "models/robertson.mo");
    index_is(run, "(1.14), the steering wheel", 2, "models/seeds/steering.mo");
    index_is(run, "(1.15), the pendulum", 3, "models/pendulum.mo");
}

/* On the circle y1' = G(y1): what is integrated stays on it. */
static void on_manifold(seeds_run *run)
{
    seeds_command_result r;
    if (!seeds_command(run, &r, "run models/seeds/steering.mo --method dopri:5 --stats %s", tight))
        return;
    seeds_at_most(run, "distance from the circle", position_error(run, &r), 1e-8, 1.0);
    seeds_at_most(run, "g_y f, (1.9c)", velocity_error(run, &r), 1e-8, 1.0);
    compare(run, &r, "z", -0.533220190, 1e-6);
}

/* Hidden constraints of index 3: the tangent space (1.23) needs both levels. */
static void on_manifold3(seeds_run *run)
{
    seeds_command_result r;
    if (!seeds_command(run, &r, "check models/pendulum.mo")) return;
    bool first = strstr(r.out, "x*vx + y*vy = 0") != NULL;
    seeds_holds(run, "g_y f = 0", first, "x*vx + y*vy = 0", "(1.15d)");
    bool second = strstr(r.out, "differentiated twice") != NULL;
    seeds_holds(run, "(1.15e)", second, "line 15, differentiated twice", "(1.15e)");
}

/* Largest |z - z of the circle| while the circle is perturbed by eps sin(omega t). */
static double wobble(seeds_run *run, double omega)
{
    enum { ROWS = 101 };
    double plain[ROWS], worst = 0.0;
    seeds_command_result r;
    if (!seeds_command(run, &r, "run models/seeds/steering.mo --points %d", ROWS)) return NAN;
    for (int k = 0; k < ROWS; k++) plain[k] = seeds_at(run, &r, "z", 0.002 * k);
    if (!seeds_command(run, &r,
                       "run models/seeds/steering.mo --points %d --set eps=1e-4 --set omega=%g",
                       ROWS, omega))
        return NAN;
    for (int k = 0; k < ROWS; k++)
        worst = fmax(worst, fabs(seeds_at(run, &r, "z", 0.002 * k) - plain[k]));
    return worst;
}

/* (1.30): z feels theta', so that a frequency ten times as high makes it oscillate ten times as
 * far. */
static void perturbed(seeds_run *run)
{
    notion_is(run, "differentiation", 2, "steering");
    notion_is(run, "perturbation", 2, "steering");
    double slow = wobble(run, 20.0), fast = wobble(run, 200.0);
    seeds_within(run, "growth of z with omega", fast / slow, 10.0, 1.3);
}

static void lubich(seeds_run *run)
{
    seeds_command_result r;
    notion_is(run, "differentiation", 1, "lubich");
    notion_is(run, "perturbation", 2, "lubich");
    for (int omega = 40; omega <= 400; omega *= 10) {
        if (!seeds_command(run, &r,
                           "run models/seeds/lubich.mo --set eps=0.01 --set omega=%d --rtol 1e-9",
                           omega))
            return;
        compare(run, &r, "y1", 1e-4 * omega, 1e-7);
    }
}

static void campbell_gear(seeds_run *run)
{
    seeds_command_result r;
    const double eps = 0.1, omega = 40.0;
    notion_is(run, "differentiation", 1, "campbell_gear");
    notion_is(run, "perturbation", 3, "campbell_gear");
    if (!seeds_command(run, &r, "run models/seeds/campbell_gear.mo --rtol 1e-9")) return;
    compare(run, &r, "y1", 0.0, 1e-12);
    if (!seeds_command(
            run, &r, "run models/seeds/campbell_gear.mo --set eps=0.1 --set omega=40 --rtol 1e-9"))
        return;
    compare(run, &r, "y1", pow(eps, 3) * omega * omega * sin(omega) * cos(2.0 * omega), 1e-7);
    compare(run, &r, "y2", -0.5 * eps * eps * omega * sin(2.0 * omega), 1e-7);
}

/* (1.39), (1.52) are boundary value problems; their index is that of the equations. */
static void control(seeds_run *run)
{
    index_is(run, "D positive", 1, "models/seeds/optimal_control.mo");
    index_is(run, "D = 0", 3, "models/seeds/optimal_control.mo --set D=0");
}

static void angle(seeds_run *run)
{
    seeds_command_result r;
    if (!seeds_command(run, &r, "emit models/seeds/pendulum_angle.mo --format modelica")) return;
    bool made = strstr(r.out, "l*l*m*der(omega) = -m*l*g*sin(theta)") != NULL;
    seeds_holds(run, "equation", made, "l*l*m*der(omega) = -m*l*g*sin(theta)",
                "l theta'' = -g sin(theta)");
    if (!seeds_command(run, &r, "run models/seeds/pendulum_angle.mo %s", tight)) return;
    compare(run, &r, "x", PENDULUM_X, 1e-6);
    compare(run, &r, "y", PENDULUM_Y, 1e-6);
}

static void cartesian(seeds_run *run)
{
    seeds_command_result r;
    if (!seeds_command(run, &r, "emit models/seeds/pendulum_lagrangian.mo --format modelica"))
        return;
    bool x = strstr(r.out, "m*der(der(x)) = -2*x*lambda") != NULL;
    seeds_holds(run, "equation of x", x, "m*der(der(x)) = -2*x*lambda", "m x'' = -2 x lambda");
    bool y = strstr(r.out, "m*der(der(y)) = -2*y*lambda - m*g") != NULL;
    seeds_holds(run, "equation of y", y, "m*der(der(y)) = -2*y*lambda - m*g",
                "m y'' = -m g - 2 y lambda");
    if (!seeds_command(run, &r, "run models/seeds/pendulum_lagrangian.mo %s", tight)) return;
    compare(run, &r, "x", PENDULUM_X, 1e-6);
    compare(run, &r, "y", PENDULUM_Y, 1e-6);
}

/* A formulation of the pendulum: its values within 100 tolerances, and what it keeps. */
static void formulated(seeds_run *run, const char *name, const char *method)
{
    seeds_command_result r;
    if (!seeds_command(run, &r, "run models/pendulum.mo --method %s --formulation %s %s", method,
                       name, tight))
        return;
    compare(run, &r, "x", PENDULUM_X, 1e-6);
    compare(run, &r, "y", PENDULUM_Y, 1e-6);
}

static void index3(seeds_run *run)
{
    formulated(run, "index3", "bdf");
}

static void index2(seeds_run *run)
{
    formulated(run, "index2", "bdf");
}

static void index1(seeds_run *run)
{
    formulated(run, "index1", "bdf");
}

static void ggl(seeds_run *run)
{
    formulated(run, "gglm", "bdf");
}

/* ---- VII.2: differentiation and drift ---- */

typedef struct drift {
    double g, rate; /* |x^2 + y^2 - 1| and |x u + y v| */
} drift;

static drift drift_at(seeds_run *run, const seeds_command_result *r, double t)
{
    double x = seeds_at(run, r, "x", t), y = seeds_at(run, r, "y", t);
    double u = seeds_at(run, r, "vx", t), v = seeds_at(run, r, "vy", t);
    return (drift){fabs(x * x + y * y - 1.0), fabs(x * u + y * v)};
}

/* Figure 2.1: the exponents of t, by values at t = 25, 50 and 100. */
static void drift_off(seeds_run *run)
{
    seeds_command_result r;
    if (!seeds_command(
            run, &r,
            "run models/pendulum1.mo --method dopri:5 --rtol 1e-6 --atol 1e-6 --stop 100 "
            "--interval 25"))
        return;
    drift a = drift_at(run, &r, 25.0), b = drift_at(run, &r, 50.0), c = drift_at(run, &r, 100.0);
    seeds_number(run, "exponent of (2.1c), t = 25 to 50", log2(b.g / a.g), 2.0, 0.3);
    seeds_number(run, "exponent of (2.1c), t = 50 to 100", log2(c.g / b.g), 2.0, 0.3);
    seeds_number(run, "exponent of (2.2), t = 25 to 50", log2(b.rate / a.rate), 1.0, 0.3);
    seeds_number(run, "exponent of (2.2), t = 50 to 100", log2(c.rate / b.rate), 1.0, 0.3);
}

/* (2.6): the index-1 problem from values that are not consistent, G u = 0.001: g = 0.001 t. */
static void inconsistent(seeds_run *run)
{
    seeds_command_result r;
    if (!seeds_command(
            run, &r,
            "run models/pendulum1.mo --method dopri:5 --start vx=0.001 --rtol 1e-10 --atol "
            "1e-10 --interval 5"))
        return;
    for (int k = 1; k <= 2; k++) {
        drift d = drift_at(run, &r, 5.0 * k);
        seeds_number(run, k == 1 ? "g at t = 5" : "g at t = 10", 0.5 * d.g, 0.005 * k, 1e-7);
        seeds_number(run, k == 1 ? "G u at t = 5" : "G u at t = 10", d.rate, 0.001, 1e-8);
    }
}

static drift largest(seeds_run *run, const char *method, double h)
{
    seeds_command_result r;
    if (!seeds_command(
            run, &r,
            "run models/pendulum.mo --method %s --projection none --fixed-step %g --stop 5 "
            "--stats",
            method, h))
        return (drift){NAN, NAN};
    return (drift){position_error(run, &r), velocity_error(run, &r)};
}

/* Theorem 2.1: both errors are O(h^p); p = 1 for Euler's method, 5 for dopri:5, at least. */
static void order_of_drift(seeds_run *run)
{
    drift a = largest(run, "euler", 0.02), b = largest(run, "euler", 0.01);
    seeds_number(run, "euler, order of g", log2(a.g / b.g), 1.0, 0.1);
    seeds_number(run, "euler, order of G u", log2(a.rate / b.rate), 1.0, 0.1);
    a = largest(run, "dopri:5", 0.1);
    b = largest(run, "dopri:5", 0.025);
    seeds_holds(run, "dopri:5, order of g", 0.5 * log2(a.g / b.g) > 4.7, "5 at least", "5");
    seeds_holds(run, "dopri:5, order of G u", 0.5 * log2(a.rate / b.rate) > 4.7, "5 at least", "5");
}

/* (2.7), alpha = beta: no drift over [0, 100]. */
static void baumgarte(seeds_run *run)
{
    seeds_command_result r;
    static const char *const base =
        "run models/pendulum.mo --method dopri:5 --rtol 1e-6 --atol 1e-6 --stop 100 --stats";
    if (!seeds_command(run, &r, "%s --projection none", base)) return;
    double plain = position_error(run, &r);
    if (!seeds_command(run, &r, "%s --baumgarte 5", base)) return;
    seeds_at_most(run, "|g|, beside the drift without it", position_error(run, &r), plain, 1e-2);
    seeds_at_most(run, "|g| in tolerances", position_error(run, &r) / 1e-6, 1.0, 1.0);
}

/* ---- projections ---- */

/* (2.8), (2.9): y along the image of f_z onto the circle, after every step. */
static void projected2(seeds_run *run)
{
    seeds_command_result r;
    static const char *const base =
        "run models/seeds/steering.mo --method dopri:5 --rtol 1e-5 --atol 1e-5 --stats";
    if (!seeds_command(run, &r, "%s --projection none", base)) return;
    double plain = position_error(run, &r);
    if (!seeds_command(run, &r, "%s --projection both", base)) return;
    seeds_at_most(run, "|g|, beside the drift without it", position_error(run, &r), plain, 0.1);
    compare(run, &r, "y1", 0.91114967, 1e-4);
    compare(run, &r, "z", -0.533220190, 1e-3);
}

enum { FIGURE_ROWS = 201 }; /* every half unit of t up to 100 */
typedef double figure[FIGURE_ROWS][4];

/* x, y and velocities of the pendulum by its angle. */
static bool reference(seeds_run *run, figure out)
{
    seeds_command_result r;
    if (!seeds_command(
            run, &r,
            "run models/seeds/pendulum_angle.mo --method taylor --rtol 1e-12 --atol 1e-12 "
            "--stop 100 --points %d",
            FIGURE_ROWS))
        return false;
    for (int k = 0; k < FIGURE_ROWS; k++) {
        double theta = seeds_at(run, &r, "theta", 0.5 * k), w = seeds_at(run, &r, "omega", 0.5 * k);
        const double x[4] = {sin(theta), -cos(theta), w * cos(theta), w * sin(theta)};
        memcpy(out[k], x, sizeof x);
    }
    return true;
}

/* Largest global error of positions and velocities over [0, 100] with a projection. */
static double global_error(seeds_run *run, figure exact, const char *projection)
{
    static const char *const names[4] = {"x", "y", "vx", "vy"};
    seeds_command_result r;
    double worst = 0.0;
    if (!seeds_command(run, &r,
                       "run models/pendulum.mo --method dopri:5 --rtol 1e-6 --atol 1e-6 --stop 100 "
                       "--points %d --projection %s",
                       FIGURE_ROWS, projection))
        return NAN;
    for (int k = 0; k < FIGURE_ROWS; k++) {
        double off = 0.0;
        for (int i = 0; i < 4; i++)
            off = hypot(off, seeds_at(run, &r, names[i], 0.5 * k) - exact[k][i]);
        worst = fmax(worst, off);
    }
    return worst;
}

/* Figure 2.2: position alone does not help; velocity alone is as good as both. */
static void four_projections(seeds_run *run)
{
    static figure exact;
    char text[64];
    if (!reference(run, exact)) return;
    double none = global_error(run, exact, "none"), position = global_error(run, exact, "position");
    double velocity = global_error(run, exact, "velocity"), both = global_error(run, exact, "both");
    snprintf(text, sizeof text, "%.2g without, %.2g on positions", none, position);
    seeds_holds(run, "position alone", position > 0.7 * none, text, "no better than without");
    snprintf(text, sizeof text, "%.2g on velocities", velocity);
    seeds_holds(run, "velocity alone", velocity < 0.5 * none, text, "better");
    seeds_within(run, "velocity beside both", velocity, both, 1.3);
}

/* (2.10) and (2.11) meet their constraints to the accuracy of their iterations. */
static void two_projections(seeds_run *run)
{
    seeds_command_result r;
    static const char *const base =
        "run models/pendulum.mo --method dopri:5 --rtol 1e-6 --atol 1e-6 "
        "--stop 10 --stats --projection";
    if (!seeds_command(run, &r, "%s position", base)) return;
    seeds_at_most(run, "(2.10): |g|", position_error(run, &r), 1e-8, 1.0);
    if (!seeds_command(run, &r, "%s velocity", base)) return;
    seeds_at_most(run, "(2.11): |G u|", velocity_error(run, &r), 1e-13, 1.0);
}

/* ---- invariants ---- */

/* Symplectic Runge-Kutta methods keep quadratic first integrals, others do not. */
static void quadratic(seeds_run *run)
{
    seeds_command_result r;
    static const char *const base = "run models/seeds/circle_invariant.mo --fixed-step 0.1 "
                                    "--rtol 1e-12 --atol 1e-12 --stop 20 --method";
    if (!seeds_command(run, &r, "%s gauss:4", base)) return;
    seeds_number(run, "gauss:4, x^2 + y^2", seeds_last(run, &r, "S"), 1.0, 1e-9);
    if (!seeds_command(run, &r, "%s dopri:5", base)) return;
    double off = fabs(seeds_last(run, &r, "S") - 1.0);
    seeds_holds(run, "dopri:5, x^2 + y^2", off > 1e-9, "changes", "not preserved");
    seeds_number(run, "dopri:5, a + b", seeds_last(run, &r, "linear"), 1.0, 1e-13);
}

/* ---- Figure 2.3 ---- */

/* What a run of (2.15) with h = 0.01 to t = 100 says of its torus: the ring that it fills in the
 * last two turns, and the largest changes of H and L. */
typedef struct ring {
    double inner, outer, H, L;
} ring;

static bool orbit(seeds_run *run, ring *out, const char *options)
{
    seeds_command_result r;
    const double H = -0.578125, L = 0.8;
    *out = (ring){INFINITY, 0.0, 0.0, 0.0};
    if (!seeds_command(run, &r,
                       "run models/seeds/kepler.mo --fixed-step 0.01 --stop 100 --interval 0.1 %s",
                       options))
        return false;
    for (int k = 0; k <= 1000; k++) {
        double distance = seeds_at(run, &r, "r", 0.1 * k);
        out->H = fmax(out->H, fabs(seeds_at(run, &r, "H", 0.1 * k) - H));
        out->L = fmax(out->L, fabs(seeds_at(run, &r, "L", 0.1 * k) - L));
        if (k < 880) continue;
        out->inner = fmin(out->inner, distance);
        out->outer = fmax(out->outer, distance);
    }
    return true;
}

/* The ring of the exact torus: H = L^2/(2 r^2) - 1/r - 0.005/r^3 at both ends. */
static double aphelion(void)
{
    double a = 1.0, b = 2.0;
    while (b - a > 1e-12) {
        double r = 0.5 * (a + b), f = 0.32 / (r * r) - 1.0 / r - 0.005 / (r * r * r) + 0.578125;
        *(f < 0.0 ? &a : &b) = r;
    }
    return a;
}

/* A torus is kept if both ends of its ring are, up to the size of a step of order 1. */
static void keeps_torus(seeds_run *run, const ring *x, bool kept)
{
    char text[64];
    double off = fmax(fabs(x->inner - 0.4), fabs(x->outer - aphelion()));
    snprintf(text, sizeof text, "ring %.3f to %.3f", x->inner, x->outer);
    seeds_holds(run, "torus", kept ? off < 0.03 : off > 0.1, text,
                kept ? "kept, 0.4 to 1.307" : "lost, 0.4 to 1.307");
}

static void euler(seeds_run *run)
{
    ring x;
    if (!orbit(run, &x, "--method euler")) return;
    keeps_torus(run, &x, false);
    seeds_holds(run, "spirals outwards", x.outer > 2.0, "beyond 2", "outwards");
}

static void euler_projected(seeds_run *run)
{
    ring x;
    if (!orbit(run, &x, "--method euler --invariant H")) return;
    seeds_at_most(run, "change of H", x.H, 1e-8, 1.0);
    keeps_torus(run, &x, false);
}

static void symplectic(seeds_run *run)
{
    ring x;
    if (!orbit(run, &x, "--method symplectic_euler")) return;
    keeps_torus(run, &x, true);
    seeds_at_most(run, "change of the angular momentum", x.L, 1e-10, 1.0);
}

static void symplectic_projected(seeds_run *run)
{
    ring x;
    if (!orbit(run, &x, "--method symplectic_euler --invariant H")) return;
    seeds_at_most(run, "change of H", x.H, 1e-8, 1.0);
    keeps_torus(run, &x, false);
}

static void remedy(seeds_run *run)
{
    ring x;
    if (!orbit(run, &x, "--method symplectic_euler --invariant H --output-only")) return;
    seeds_at_most(run, "change of H", x.H, 1e-8, 1.0);
    keeps_torus(run, &x, true);
    if (!orbit(run, &x, "--method symplectic_euler --invariant H --invariant L --output-only"))
        return;
    seeds_at_most(run, "change of H and L", fmax(x.H, x.L), 1e-8, 1.0);
    keeps_torus(run, &x, true);
}

/* ---- local coordinates, overdetermined, unstructured ---- */

static void local(seeds_run *run, const char *coordinates)
{
    seeds_command_result r;
    if (!seeds_command(run, &r,
                       "run models/pendulum.mo --method dopri:5 --coordinates %s %s --stats",
                       coordinates, tight))
        return;
    compare(run, &r, "x", PENDULUM_X, 1e-6);
    compare(run, &r, "y", PENDULUM_Y, 1e-6);
    seeds_at_most(run, "|g|", position_error(run, &r), 1e-9, 1.0);
    seeds_at_most(run, "|G u|", velocity_error(run, &r), 1e-9, 1.0);
}

/* (2.22) and (2.24) by multistep and implicit methods, which the authors of (2.24) prefer: the
 * constraints hold to round-off, whatever the method. */
static void local_implicit(seeds_run *run)
{
    static const char *const methods[] = {"bdf", "radau"}, *const kinds[] = {"partitioned",
                                                                             "tangent"};
    for (int k = 0; k < 4; k++) {
        seeds_command_result r;
        char label[48];
        if (!seeds_command(run, &r, "run models/pendulum.mo --method %s --coordinates %s %s",
                           methods[k / 2], kinds[k % 2], tight))
            return;
        snprintf(label, sizeof label, "|g|, %s, %s", methods[k / 2], kinds[k % 2]);
        compare(run, &r, "x", PENDULUM_X, 1e-6);
        double x = seeds_last(run, &r, "x"), y = seeds_last(run, &r, "y");
        seeds_at_most(run, label, fabs(x * x + y * y - 1.0), 1e-12, 1.0);
    }
}

static void partitioned(seeds_run *run)
{
    local(run, "partitioned");
}

static void tangent(seeds_run *run)
{
    local(run, "tangent");
}

static void state_space(seeds_run *run)
{
    seeds_command_result r;
    if (!seeds_command(run, &r, "run models/seeds/pendulum_angle.mo %s", tight)) return;
    double x = seeds_last(run, &r, "x"), y = seeds_last(run, &r, "y");
    seeds_number(run, "x", x, PENDULUM_X, 1e-6);
    seeds_number(run, "x^2 + y^2", x * x + y * y, 1.0, 1e-14);
}

static void overdetermined(seeds_run *run)
{
    formulated(run, "odassl", "bdf");
}

static void multipliers(seeds_run *run)
{
    formulated(run, "fuehrer", "bdf");
}

/* Without the acceleration level (2.27) is BDF on (1.48): the same run. */
static void connection(seeds_run *run)
{
    seeds_command_result r;
    if (!seeds_command(run, &r, "run models/pendulum.mo --method bdf --formulation gglm %s --stats",
                       tight))
        return;
    double x = seeds_last(run, &r, "x"), y = seeds_last(run, &r, "y");
    double u = seeds_last(run, &r, "vx"), v = seeds_last(run, &r, "vy");
    seeds_at_most(run, "|g|", fabs(x * x + y * y - 1.0), 1e-8, 1.0);
    seeds_at_most(run, "|G u|", fabs(x * u + y * v), 1e-8, 1.0);
}

static void unstructured(seeds_run *run)
{
    seeds_command_result r;
    if (!seeds_command(run, &r, "run models/seeds/unstructured.mo --formulation array --stop 2 %s",
                       tight))
        return;
    compare(run, &r, "lambda", 2.93679, 1e-5);
    double x = seeds_last(run, &r, "x"), y = seeds_last(run, &r, "y");
    double u = seeds_last(run, &r, "u"), v = seeds_last(run, &r, "v");
    seeds_at_most(run, "|g|, hidden in all equations", fabs(x * x + y * y - 1.0), 1e-8, 1.0);
    seeds_at_most(run, "|G u|", fabs(x * u + y * v), 1e-8, 1.0);
}

/* Exercise 1: other methods; with RATTLE both errors stay at rounding. */
static void other_drifts(seeds_run *run)
{
    seeds_command_result r;
    static const char *const runs[2] = {
        "run models/pendulum.mo --method rattle --fixed-step 0.02 --stop 50 --stats",
        "run models/pendulum.mo --method radau --rtol 1e-6 --atol 1e-6 --stop 50"};
    if (!seeds_command(run, &r, "%s", runs[0])) return;
    seeds_at_most(run, "rattle, |g| at t <= 50", position_error(run, &r), 1e-11, 1.0);
    drift a = largest(run, "euler", 0.02);
    seeds_holds(run, "euler, h = 0.02", a.g > 1e-2, "drifts", "drifts");
    if (!seeds_command(run, &r, "%s", runs[1])) return;
    double x = seeds_last(run, &r, "x"), y = seeds_last(run, &r, "y");
    seeds_at_most(run, "radau, |g| at t = 50", fabs(x * x + y * y - 1.0), 1e-6, 1.0);
}

/* Exercise 2: M may be singular, and G may lose rank, as long as M is injective on its kernel. */
static void one_full(seeds_run *run)
{
    seeds_command_result r;
    if (!seeds_command(run, &r, "run models/seeds/massless_bead.mo %s", tight)) return;
    compare(run, &r, "x", cos(1.0), 1e-6);
    compare(run, &r, "y", cos(1.0), 1e-6);
}

static const seeds_row rows[] = {
    {"001-1.2", "(1.2) to (1.7), Theorem 1.1", "matrix pencils: P, Q and the index of nilpotency",
     "dae_pencil_analyse(&pencil, &report, &diag)", weierstrass, false},
    {"001-1.9", "(1.9)", "steering wheel: reference at x = 0.2", NULL, steering, false},
    {"001-1.10", "(1.9), (1.10)", "its impasses", NULL, impasse, false},
    {"001-1.12", "(1.12)", "linear, differentiation index 3", NULL, nilpotent, false},
    {"001-1.13", "(1.13), (1.14), (1.15)", "systems of index 1, 2, 3", NULL, indices, false},
    {"001-1.20", "(1.17) to (1.21)", "differential equation on the manifold of (1.9)", NULL,
     on_manifold, false},
    {"001-1.22", "(1.22), (1.23)", "manifold of an index 3 problem", NULL, on_manifold3, false},
    {"001-F1.3", "Figure 1.3, (1.30)", "z oscillates with the derivative of a perturbation", NULL,
     perturbed, false},
    {"001-1.31", "(1.31)", "differentiation index 1, perturbation index 2", NULL, lubich, false},
    {"001-1.32", "(1.32)", "differentiation index 1, perturbation index m = 3", NULL, campbell_gear,
     false},
    {"001-1.40", "(1.40), (1.52)", "index of optimal control problems", NULL, control, false},
    {"001-X1", "(1.41) to (1.43), Example 1", "pendulum by its angle, from T and U", NULL, angle,
     false},
    {"001-1.45", "(1.44), (1.45), Example 2", "pendulum with a multiplier, from L", NULL, cartesian,
     false},
    {"001-1.46c", "(1.46a,b,c)", "index 3 formulation", NULL, index3, false},
    {"001-1.46d", "(1.46a,b,d)", "index 2 formulation", NULL, index2, false},
    {"001-1.46e", "(1.46a,e)", "index 1 formulation", NULL, index1, false},
    {"001-1.48", "(1.48)", "GGL formulation, weighted by M", NULL, ggl, false},
    {"001-1.49", "(1.49), Exercise 1", "singular pencils have no unique solution",
     "dae_pencil_analyse(&pencil, &report, &diag)", singular_pencil, false},
    {"001-X1.4", "VII.1, Exercises 2 to 4", "the index does not depend on P and Q",
     "dae_pencil_analyse(&pencil, &report, &diag)", invariance, false},
    {"001-F2.1", "Figure 2.1, (2.1) to (2.3)", "drift-off: linear and quadratic", NULL, drift_off,
     false},
    {"001-2.6", "(2.4) to (2.6)", "the index 1 problem from inconsistent values", NULL,
     inconsistent, false},
    {"001-T2.1", "Theorem 2.1", "order of the drift", NULL, order_of_drift, false},
    {"001-2.7", "(2.7)", "Baumgarte stabilisation", NULL, baumgarte, false},
    {"001-2.8", "(2.8), (2.9)", "projection of index 2 problems", NULL, projected2, false},
    {"001-2.10", "(2.10), (2.11)", "projection on positions, on velocities", NULL, two_projections,
     false},
    {"001-F2.2", "Figure 2.2", "global error with four projections", NULL, four_projections, false},
    {"001-2.13", "(2.12), (2.13)", "linear and quadratic first integrals", NULL, quadratic, false},
    {"001-F2.3a", "Figure 2.3, (2.15)", "explicit Euler", NULL, euler, false},
    {"001-F2.3b", "Figure 2.3", "explicit Euler, projected onto H", NULL, euler_projected, false},
    {"001-F2.3c", "Figure 2.3", "symplectic Euler", NULL, symplectic, false},
    {"001-F2.3d", "Figure 2.3", "symplectic Euler, projected onto H", NULL, symplectic_projected,
     false},
    {"001-F2.3e", "the remedy below Figure 2.3", "symplectic Euler, projected in the output alone",
     NULL, remedy, false},
    {"001-2.17", "(2.16), (2.17)", "state space form by the angle", NULL, state_space, false},
    {"001-2.22", "(2.18) to (2.22)", "generalised coordinate partitioning", NULL, partitioned,
     false},
    {"001-2.24", "(2.23), (2.24)", "tangent space parametrisation", NULL, tangent, false},
    {"001-2.24i", "(2.22), (2.24)", "local coordinates by multistep and implicit methods", NULL,
     local_implicit, false},
    {"001-2.26", "(2.25), (2.26)", "overdetermined BDF by least squares", NULL, overdetermined,
     false},
    {"001-2.27", "(2.27)", "overdetermined BDF with multipliers", NULL, multipliers, false},
    {"001-2.27g", "(2.27) and (1.48)", "without (2.26e): the GGL formulation", NULL, connection,
     false},
    {"001-2.28", "(2.28) to (2.32), Lemma 2.3", "unstructured problems by derivative arrays", NULL,
     unstructured, false},
    {"001-E1", "VII.2, Exercise 1", "drift of other methods", NULL, other_drifts, false},
    {"001-E2", "VII.2, Exercise 2", "M singular, injective on the kernel of G", NULL, one_full,
     false},
};

const seeds_part seeds_001 = {
    .seed = "001", .title = "Index, index reduction and manifolds", SEEDS_ROWS(rows)};
