/* Second order DAEs, chapter 1: equations of motion from energies.
 *
 * Chapter 1 prints no numbers but formulas; the figures beside ours are closed forms of the motions
 * that the formulas describe (models/seeds/README.md), with 8 digits. */
#include "parts.h"

#include <math.h>
#include <string.h>

static const char *const tight = "--rtol 1e-10 --atol 1e-10";

/* The pendulum of models/pendulum.mo at t = 10, by Jacobi's functions; lambda of (1.10) is half. */
enum { PENDULUM_VALUES = 3 };
static const char *const pendulum_names[PENDULUM_VALUES] = {"x", "y", "lambda"};
static const double pendulum_values[PENDULUM_VALUES] = {-0.81158645, -0.58423235, 0.8763485};

static void compare(seeds_run *run, const seeds_command_result *r, const char *name, double closed,
                    double bound)
{
    seeds_number(run, name, seeds_last(run, r, name), closed, bound);
}

static void pendulum_of(seeds_run *run, const char *model)
{
    seeds_command_result r;
    if (!seeds_command(run, &r, "run models/seeds/%s.mo %s", model, tight)) return;
    for (int k = 0; k < PENDULUM_VALUES; k++)
        compare(run, &r, pendulum_names[k], pendulum_values[k], 1e-7);
}

/* L = T - U: without a damper the centre of gravity falls freely, g t^2/2. */
static void free_fall(seeds_run *run)
{
    seeds_command_result r;
    if (!seeds_command(run, &r, "run models/seeds/springdamper_energies.mo --set d=0 %s", tight))
        return;
    double x = seeds_last(run, &r, "x"), s = seeds_last(run, &r, "r");
    seeds_number(run, "centre of gravity at t = 2", (x + 0.1 * s) / 1.1, 9.81 * 2.0, 1e-7);
}

static void lagrangian(seeds_run *run)
{
    pendulum_of(run, "pendulum_lagrangian");
}

static void pendulum(seeds_run *run)
{
    pendulum_of(run, "pendulum_energies");
}

static bool lists(const seeds_command_result *r, const char *text)
{
    return strstr(r->out, text) != NULL;
}

/* The equations that are made, as a text. */
static void equations(seeds_run *run)
{
    seeds_command_result r;
    if (!seeds_command(run, &r, "emit models/seeds/pendulum_energies.mo --format modelica")) return;
    bool x = lists(&r, "m*der(vx) = -2*x*lambda");
    seeds_holds(run, "equation of x", x, "m*der(vx) = -2*x*lambda", "m x'' + 2 x lambda = 0");
    bool y = lists(&r, "m*der(vy) = -(m*g + 2*y*lambda)");
    seeds_holds(run, "equation of y", y, "m*der(vy) = -(m*g + 2*y*lambda)",
                "m y'' + 2 y lambda + m g = 0");
    bool rod = lists(&r, "x*x + y*y - l*l = 0");
    seeds_holds(run, "constraint", rod, "x*x + y*y - l*l = 0", "x^2 + y^2 - l^2 = 0");
}

/* The same from C, over texts of expressions. */
static void in_c(seeds_run *run)
{
    static const char *const q[] = {"x", "y"}, *const g[] = {"x^2 + y^2 - l^2"};
    static const dae_setting data[] = {{"m", 1.0}, {"l", 1.0}, {"g", 1.0}}, start[] = {{"x", 1.0}};
    dae_lagrangian d = {.n = 2,
                        .coordinates = q,
                        .kinetic = "m/2*(v_x^2 + v_y^2)",
                        .potential = "m*g*y",
                        .constraint_count = 1,
                        .constraints = g,
                        .parameters = data,
                        .parameter_count = 3,
                        .starts = start,
                        .start_count = 1};
    dae_problem *p = NULL;
    dae_solver *s = NULL;
    dae_diag diag;
    dae_options options = dae_options_default();
    options.rtol = options.atol = 1e-10;
    double values[5] = {0};
    if (!seeds_ok(run, dae_problem_from_lagrangian(&d, &p, &diag), &diag)) return;
    bool ok = seeds_ok(run, dae_solver_new(p, &options, &s, &diag), &diag);
    ok = ok && seeds_ok(run, dae_solver_start(s, 0.0, NULL, NULL), dae_solver_diag(s));
    ok = ok && seeds_ok(run, dae_solver_run(s, 10.0, NULL, NULL), dae_solver_diag(s));
    ok = ok && seeds_ok(run, dae_solver_variables(s, 10.0, values), dae_solver_diag(s));
    static const int place[PENDULUM_VALUES] = {0, 1, 4};
    for (int k = 0; ok && k < PENDULUM_VALUES; k++)
        seeds_number(run, pendulum_names[k], values[place[k]], pendulum_values[k], 1e-7);
    dae_solver_free(s);
    dae_problem_free(p);
}

/* [Wun05 (1.5), (1.17)]: a contact coordinate; lambda = -N, and the other multiplier is 0. */
static void contact(seeds_run *run)
{
    seeds_command_result r;
    if (!seeds_command(run, &r, "run models/seeds/cycloid_energies.mo %s", tight)) return;
    compare(run, &r, "x", 0.0747382715, 1e-8);
    compare(run, &r, "s", 0.0747730999, 1e-8);
    compare(run, &r, "lambda", -24.0916472, 1e-6);
    compare(run, &r, "nu", 0.0, 1e-8);
}

/* A linear system: the exponential of its matrix, 30 digits. */
static void damper(seeds_run *run)
{
    seeds_command_result r;
    if (!seeds_command(run, &r, "run models/seeds/springdamper_energies.mo %s", tight)) return;
    compare(run, &r, "x", 15.43810463, 1e-7);
    compare(run, &r, "r", 13.97211804, 1e-7);
    compare(run, &r, "vr", 12.84891147, 1e-7);
}

static void element_values(seeds_run *run, const seeds_command_result *r)
{
    compare(run, r, "x", 15.05293716, 1e-7);
    compare(run, r, "vx", 12.86744611, 1e-7);
    compare(run, r, "r", 13.50510778, 1e-7);
}

static void element(seeds_run *run)
{
    seeds_command_result r;
    if (!seeds_command(run, &r, "run models/seeds/springdamper_element.mo %s", tight)) return;
    element_values(run, &r);
}

/* The same by letting the second mass vanish: one equation of motion is of first order. */
static void vanishing_mass(seeds_run *run)
{
    seeds_command_result r;
    if (!seeds_command(run, &r, "run models/seeds/springdamper_energies.mo --set m2=0 %s", tight))
        return;
    element_values(run, &r);
}

static void recognised(seeds_run *run)
{
    seeds_command_result r;
    static const char *const form = "M q'' = f - G' lambda with 2 positions, 1 multiplier";
    if (!seeds_command(run, &r, "check models/seeds/pendulum_energies.mo")) return;
    seeds_holds(run, "mechanical form", lists(&r, form), form, "(1.13)");
}

/* The disc runs along a circle: x = (R w/a) sin(a t), y = (R w/a) (1 - cos(a t)). */
static void disc(seeds_run *run)
{
    seeds_command_result r;
    if (!seeds_command(run, &r, "run models/seeds/disc_energies.mo %s", tight)) return;
    compare(run, &r, "x", 1.5 / 0.8 * sin(4.0), 1e-8);
    compare(run, &r, "y", 1.5 / 0.8 * (1.0 - cos(4.0)), 1e-8);
    compare(run, &r, "lambda[1]", 2.4 * sin(4.0), 1e-7);
    compare(run, &r, "lambda[2]", -2.4 * cos(4.0), 1e-7);
}

/* Constant acceleration along the slope, g (sin a - mu cos a). */
static void friction(seeds_run *run)
{
    seeds_command_result r;
    double a = 0.6, s = 0.2 / cos(a) + 2.0 * 9.81 * (sin(a) - 0.2 * cos(a));
    if (!seeds_command(run, &r, "run models/seeds/friction_energies.mo %s", tight)) return;
    compare(run, &r, "x", s * cos(a), 1e-8);
    compare(run, &r, "y", -s * sin(a), 1e-8);
    compare(run, &r, "lambda", -3.0 * 9.81 * cos(a), 1e-7);
}

static void complex_form(seeds_run *run)
{
    seeds_command_result r;
    if (!seeds_command(run, &r, "run models/seeds/complex_energies.mo %s", tight)) return;
    compare(run, &r, "x", 0.1685630417, 1e-8);
    compare(run, &r, "s", 0.1689644485, 1e-8);
    compare(run, &r, "w", 0.3231331739, 1e-8);
    compare(run, &r, "r", 0.4550445919, 1e-8);
    compare(run, &r, "lambda", -19.65481403, 1e-6);
}

/* (1.19): the same text of first order, written out and read back. */
static void first_order(seeds_run *run)
{
    seeds_command_result r;
    if (!seeds_command(run, &r, "emit models/seeds/complex_energies.mo --format modelica")) return;
    bool kinematic = lists(&r, "der(x) = vx;") && lists(&r, "der(y) = vy;");
    seeds_holds(run, "q' = v", kinematic, "der(x) = vx, der(y) = vy", "q' = v");
    bool dynamic = lists(&r, "m*der(vx) =") && lists(&r, "m*der(vy) =");
    seeds_holds(run, "M v' = ..", dynamic, "m*der(vx) = ..", "M(q) v' = f_a - G'lambda");
}

static void no_mass(seeds_run *run)
{
    seeds_command_result r;
    if (!seeds_refused(run, &r, "check test/errors/semantic/energies-massless.mo")) return;
    bool named = strstr(r.err, "no kinetic energy in 'b'") != NULL;
    seeds_holds(run, "refused", named, "the Lagrangian has no kinetic energy in 'b'",
                "M positive definite");
}

static const seeds_row rows[] = {
    {"000-1.1", "(1.1), (1.2)", "L = T - U: Euler-Lagrange equations without constraints", NULL,
     free_fall, false},
    {"000-1.3", "(1.3), (1.4)", "multiplier and constraint inside the Lagrange function", NULL,
     lagrangian, false},
    {"000-1.5", "(1.5)", "constraints with additional coordinates s", NULL, contact, false},
    {"000-1.6", "(1.6) to (1.9)", "forces without a potential", NULL, damper, false},
    {"000-X1.2.1", "Example 1.2.1", "the pendulum from T, U and its constraint", NULL, pendulum,
     false},
    {"000-1.10", "(1.10)", "the equations of motion of the pendulum, as they are made", NULL,
     equations, false},
    {"000-1.10c", "(1.10)", "the same from C", "dae_problem_from_lagrangian(&description, ..)",
     in_c, false},
    {"000-1.11", "(1.11)", "M = T_q'q' must determine the accelerations", NULL, no_mass, false},
    {"000-1.12", "(1.12), (1.13)", "holonomic constraints: the mechanical form is recognised", NULL,
     recognised, false},
    {"000-1.14", "(1.14)", "nonholonomic constraints: the rolling disc", NULL, disc, false},
    {"000-1.15", "(1.15)", "friction: applied forces that depend on lambda", NULL, friction, false},
    {"000-1.16", "Example 1.2.2, (1.16)", "spring and damper in series, dynamical force element",
     NULL, element, false},
    {"000-X1.2.2", "Example 1.2.2", "the same, m2 set to zero", NULL, vanishing_mass, false},
    {"000-1.17", "(1.17)", "contact problems", NULL, contact, false},
    {"000-1.18", "(1.18)", "the complex form with q, r, w, s, lambda", NULL, complex_form, false},
    {"000-1.19", "(1.19)", "its first order system", NULL, first_order, false},
};

const seeds_part seeds_000_energies = {
    .seed = "000", .title = "Second order DAEs: equations from energies", SEEDS_ROWS(rows)};
