/* Models with known solutions for accuracy.h: one entry each, with its closed form or without
 * (then `taylor` in quadruple precision is the reference). To add one: write it, and a line of the
 * table at the end. */
#ifndef DAE_TEST_ACCURACY_MODELS_H
#define DAE_TEST_ACCURACY_MODELS_H

#include "accuracy.h"

#define STOP(t) "  annotation(experiment(StopTime = " #t "));\n"

/* ---- stiff lags -------------------------------------------------------------------------------
 * T x' = sin t - x [Prothero, Robinson 74]: x = (sin t - T cos t + T exp(-t/T)) / (1 + T^2) */

static double lagged_sine(double t, double T)
{
    return (sin(t) - T * cos(t) + T * exp(-t / T)) / (1.0 + T * T);
}

#define LAG_TEXT(T)                                                                                \
    "model Lag\n  Real x(start = 0, fixed = true), u;\nequation\n  u = sin(time);\n"               \
    "  " #T " * der(x) = u - x;\n" STOP(20) "end Lag;\n"

#define LAG(id, T)                                                                                 \
    static void id##_exact(double t, double *x)                                                    \
    {                                                                                              \
        x[0] = lagged_sine(t, T);                                                                  \
        x[1] = sin(t);                                                                             \
    }

LAG(lag0, 1.0)
LAG(lag3, 1e-3)
LAG(lag6, 1e-6)
LAG(lag9, 1e-9)

/* x' = -L (x - cos t) - sin t, x = cos t from the start: nothing stiff is excited */
static void robinson_exact(double t, double *x)
{
    x[0] = cos(t);
}

static const char robinson_text[] =
    "model Robinson\n  Real x(start = 1, fixed = true);\nequation\n"
    "  der(x) = -1e8 * (x - cos(time)) - sin(time);\n" STOP(10) "end Robinson;\n";

/* A driven RC filter: C v' = (u - v) / R, i = (u - v) / R, u = A sin w t. i is a small difference
 * of large numbers. */
static const double RC_A = 325.0, RC_W = 314.159265358979, RC_R = 10.0, RC_C = 1e-8;

static void rc_exact(double t, double *x)
{
    double T = RC_R * RC_C, w = RC_W, a = RC_A / (1.0 + w * w * T * T);
    double v = a * (sin(w * t) - w * T * cos(w * t) + w * T * exp(-t / T));
    double slope = a * w * (cos(w * t) + w * T * sin(w * t) - exp(-t / T));
    x[0] = v;
    x[1] = RC_C * slope;
}

static const char rc_text[] =
    "model RC\n  parameter Real R = 10, C = 1e-8;\n"
    "  Real u, v(start = 0, fixed = true), i;\nequation\n"
    "  u = 325 * sin(314.159265358979 * time);\n  u - v = R * i;\n  C * der(v) = i;\n" STOP(
        0.1) "end RC;\n";

/* ---- algebraic variables ----------------------------------------------------------------------
 */

/* A slow state beside an algebraic variable that follows fast forcing: z^3 + z = x + sin 40 t */
static void fast_exact(double t, double *x)
{
    double c = exp(-0.2 * t) + sin(40.0 * t), z = c > 0.0 ? fmin(c, cbrt(c)) : fmax(c, cbrt(c));
    for (int k = 0; k < 60; k++) z -= (z * z * z + z - c) / (3.0 * z * z + 1.0);
    x[0] = exp(-0.2 * t);
    x[1] = z;
}

static const char fast_text[] =
    "model Fast\n  Real x(start = 1, fixed = true), z;\nequation\n  der(x) = -0.2 * x;\n"
    "  z^3 + z = x + sin(40 * time);\n" STOP(2) "end Fast;\n";

/* No states at all. */
static void stateless_exact(double t, double *x)
{
    double c = 2.0 * sin(3.0 * t), z = 0.5 * c;
    for (int k = 0; k < 60; k++) z -= (z + 0.25 * sin(z) - c) / (1.0 + 0.25 * cos(z));
    x[0] = z;
    x[1] = exp(-t) * z;
}

static const char stateless_text[] =
    "model Stateless\n  Real z, w;\nequation\n  z + 0.25 * sin(z) = 2 * sin(3 * time);\n"
    "  w = exp(-time) * z;\n" STOP(4) "end Stateless;\n";

/* Linear, index 2, Hessenberg: y1' = -y1 + z, y2' = -2 y2 + z sin t, 0 = y1 - y2 - p(t) with
 * z = cos 2t known */
static double hessenberg_y1(double t)
{
    return (cos(2.0 * t) + 2.0 * sin(2.0 * t)) / 5.0 + 0.8 * exp(-t);
}

static void hessenberg_exact(double t, double *x)
{
    x[0] = hessenberg_y1(t);
    x[1] = cos(3.0 * t);
    x[2] = cos(2.0 * t);
}

static const char hessenberg_text[] =
    "model Hessenberg\n  Real y1(start = 1, fixed = true), y2(start = 1), z(start = 1);\nequation\n"
    "  der(y1) = -y1 + z;\n"
    "  der(y2) = -2 * y2 - z + cos(2 * time) + 2 * cos(3 * time) - 3 * sin(3 * time);\n"
    "  0 = y1 - y2 + cos(3 * time) - (cos(2 * time) + 2 * sin(2 * time)) / 5 - 0.8 * "
    "exp(-time);\n" STOP(5) "end Hessenberg;\n";

/* ---- mechanisms, oscillators ------------------------------------------------------------------
 */

static const char pendulum_text[] =
    "model Pendulum\n  Real x(start = 1, fixed = true), y(start = 0), vx(start = 0),\n"
    "    vy(start = 0, fixed = true), F(start = 0);\nequation\n"
    "  der(x) = vx;\n  der(y) = vy;\n  der(vx) = -F * x;\n  der(vy) = -F * y - 1;\n"
    "  x^2 + y^2 = 1;\n" STOP(3) "end Pendulum;\n";

static const char *const pendulum_formulations[] = {"auto",      "index2", "index1", "ggl",
                                                    "baumgarte", "ode",    NULL};
static const char *const as_written[] = {"index3", NULL};

static const char vanderpol_text[] =
    "model VanDerPol\n  Real x(start = 2, fixed = true), v(start = 0, fixed = true);\nequation\n"
    "  der(x) = v;\n  der(v) = 5 * (1 - x^2) * v - x;\n" STOP(8) "end VanDerPol;\n";

/* Half an orbit of eccentricity 0.5, in positions and velocities. */
static const char kepler_text[] =
    "model Kepler\n  Real x(start = 0.5, fixed = true), y(start = 0, fixed = true),\n"
    "    u(start = 0, fixed = true), v(start = 1.7320508075688772, fixed = true);\nequation\n"
    "  der(x) = u;\n  der(y) = v;\n  der(u) = -x / (x^2 + y^2)^1.5;\n"
    "  der(v) = -y / (x^2 + y^2)^1.5;\n" STOP(3) "end Kepler;\n";

/* Robertson's reaction with the conservation of mass as an equation: stiff, index 1. b is 1e4 times
 * the concentration: a tolerance that lets that become negative has no solution. */
static const char reaction_text[] =
    "model Reaction\n  Real a(start = 1, fixed = true), b(start = 0, fixed = true), c;\n"
    "equation\n  der(a) = -0.04 * a + b * c;\n"
    "  der(b) = 400 * a - 1e4 * b * c - 3e3 * b^2;\n  a + 1e-4 * b + c = 1;\n" STOP(
        1) "end Reaction;\n";

/* A rectifier: the current of the diode is algebraic, and comes in pulses. */
static const char rectifier_text[] =
    "model Rectifier\n  Real e, u(start = 0, fixed = true), i;\nequation\n"
    "  e = 2 * sin(6 * time) - i;\n  i = 1e-3 * (exp((e - u) / 0.1) - 1);\n"
    "  der(u) = i - 0.2 * u;\n" STOP(3) "end Rectifier;\n";

/* ---- kinks, switches, events ------------------------------------------------------------------
 */

/* x' = max(sin t, 0) without events */
static void kink_exact(double t, double *x)
{
    const double pi = acos(-1.0);
    double turns = floor(t / (2.0 * pi)), rest = t - 2.0 * pi * turns;
    x[0] = 2.0 * turns + (rest < pi ? 1.0 - cos(rest) : 2.0);
}

static const char kink_text[] = "model Kink\n  Real x(start = 0, fixed = true);\nequation\n"
                                "  der(x) = noEvent(max(sin(time), 0));\n" STOP(10) "end Kink;\n";

/* x' = (1 + tanh(s (t - 5))) / 2, s = 1e6: a jump of x' within 1e-6 */
static void switch_exact(double t, double *x)
{
    const double s = 1e6, u = s * (t - 5.0);
    x[0] = u > 0.0 ? t - 5.0 + log1p(exp(-2.0 * u)) / (2.0 * s) : log1p(exp(2.0 * u)) / (2.0 * s);
}

static const char switch_text[] =
    "model Switch\n  Real x(start = 0, fixed = true);\nequation\n"
    "  der(x) = 0.5 * (1 + tanh((time - 5) * 1e6));\n" STOP(10) "end Switch;\n";

/* x' = 0, then 1: a jump without an event */
static void jump_exact(double t, double *x)
{
    x[0] = fmax(0.0, t - 3.14159);
}

static const char jump_text[] =
    "model Jump\n  Real x(start = 0, fixed = true);\nequation\n"
    "  der(x) = noEvent(if time > 3.14159 then 1 else 0);\n" STOP(10) "end Jump;\n";

/* T x' = u - x behind a two-point switch of a stiffly lagged sine: y' = 1 where x > 0.5, else -1 */
static void event_exact(double t, double *x)
{
    const double T = 1e-6, pi = acos(-1.0), a = asin(0.5 * sqrt(1.0 + T * T)) + atan(T);
    const double b = pi - asin(0.5 * sqrt(1.0 + T * T)) + atan(T);
    x[0] = lagged_sine(t, T);
    x[1] = t < a ? -t : t < b ? t - 2.0 * a : 2.0 * b - 2.0 * a - t;
}

static const char event_text[] =
    "model Event\n  Real x(start = 0, fixed = true), y(start = 0, fixed = true);\nequation\n"
    "  1e-6 * der(x) = sin(time) - x;\n  der(y) = if x > 0.5 then 1 else -1;\n" STOP(
        6) "end Event;\n";

/* ---- the table --------------------------------------------------------------------------------
 */

#define CASE(id, words, solution, until, number, ...)                                              \
    {                                                                                              \
        .name = id, .text = words, .exact = solution, .stop = until, .count = number, .names = {   \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }

static const accuracy_case accuracy_cases[] = {
    CASE("lag0", LAG_TEXT(1.0), lag0_exact, 20.0, 2, "x", "u"),
    CASE("lag3", LAG_TEXT(1e-3), lag3_exact, 20.0, 2, "x", "u"),
    CASE("lag6", LAG_TEXT(1e-6), lag6_exact, 20.0, 2, "x", "u"),
    CASE("lag9", LAG_TEXT(1e-9), lag9_exact, 20.0, 2, "x", "u"),
    CASE("robinson", robinson_text, robinson_exact, 10.0, 1, "x"),
    CASE("rc", rc_text, rc_exact, 0.1, 2, "v", "i"),
    CASE("fast", fast_text, fast_exact, 2.0, 2, "x", "z"),
    CASE("stateless", stateless_text, stateless_exact, 4.0, 2, "z", "w"),
    CASE("hessenberg", hessenberg_text, hessenberg_exact, 5.0, 3, "y1", "y2", "z"),
    {.name = "pendulum",
     .text = pendulum_text,
     .formulations = pendulum_formulations,
     .stop = 3.0,
     .count = 4,
     .names = {"x", "y", "vx", "F"},
     .multipliers = 1},
    {.name = "pendulum3", /* velocities have errors O(1/h) times those of positions there, too */
     .text = pendulum_text,
     .formulations = as_written,
     .stop = 3.0,
     .count = 4,
     .names = {"x", "y", "vx", "F"},
     .multipliers = 2},
    CASE("vanderpol", vanderpol_text, NULL, 8.0, 2, "x", "v"),
    CASE("kepler", kepler_text, NULL, 3.0, 4, "x", "y", "u", "v"),
    CASE("reaction", reaction_text, NULL, 1.0, 3, "a", "b", "c"),
    CASE("rectifier", rectifier_text, NULL, 3.0, 3, "e", "u", "i"),
    CASE("kink", kink_text, kink_exact, 10.0, 1, "x"),
    CASE("switch", switch_text, switch_exact, 10.0, 1, "x"),
    CASE("jump", jump_text, jump_exact, 10.0, 1, "x"),
    CASE("event", event_text, event_exact, 6.0, 2, "x", "y"),
};

enum { ACCURACY_CASES = sizeof accuracy_cases / sizeof *accuracy_cases };

#endif
