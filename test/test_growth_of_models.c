/* What large chains take from the text to the end of the start grows with their size: bytes asked
 * for in all, those of work space and fill included, at two sizes. And how many they hold at once
 * for an unknown. */
#include "base/memory.h"
#include "daedal.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "counted_memory.h"
#include "sanitized.h"

/* Points of mass 1 on rods of length 1, the first one fixed at the origin */
#define RODS(x, y)                                                                                 \
    "model Rods\n  parameter Integer n = 50;\n"                                                    \
    "  Real x[n](start = {" x " for i in 1:n}), y[n](start = {" y " for i in 1:n});\n"             \
    "  Real vx[n](each start = 0), vy[n](each start = 0), lambda[n];\n"                            \
    "equation\n"                                                                                   \
    "  for i in 1:n loop\n    der(x[i]) = vx[i];\n    der(y[i]) = vy[i];\n  end for;\n"            \
    "  for i in 2:n-1 loop\n"                                                                      \
    "    der(vx[i]) = -lambda[i]*(x[i] - x[i-1]) + lambda[i+1]*(x[i+1] - x[i]);\n"                 \
    "    der(vy[i]) = -lambda[i]*(y[i] - y[i-1]) + lambda[i+1]*(y[i+1] - y[i]) - 9.81;\n"          \
    "  end for;\n"                                                                                 \
    "  der(vx[1]) = -lambda[1]*x[1] + lambda[2]*(x[2] - x[1]);\n"                                  \
    "  der(vy[1]) = -lambda[1]*y[1] + lambda[2]*(y[2] - y[1]) - 9.81;\n"                           \
    "  der(vx[n]) = -lambda[n]*(x[n] - x[n-1]);\n"                                                 \
    "  der(vy[n]) = -lambda[n]*(y[n] - y[n-1]) - 9.81;\n"                                          \
    "  x[1]^2 + y[1]^2 = 1;\n"                                                                     \
    "  for i in 2:n loop\n    (x[i] - x[i-1])^2 + (y[i] - y[i-1])^2 = 1;\n  end for;\n"            \
    "end Rods;\n"

static const char straight[] = RODS("0.6*i", "-0.8*i"), hanging[] = RODS("0", "-i");
static const char by_sums[] =
    RODS("sum(sin(0.8 + 0.5*sin(j)) for j in 1:i)", "-sum(cos(0.8 + 0.5*sin(j)) for j in 1:i)");

/* Bodies with joints, straight: rows of constraints that a chain's order would fill */
static const char bodies[] =
    "model Bodies\n  parameter Integer n = 50;\n"
    "  Real x[n](start = {i - 0.5 for i in 1:n}), y[n](each start = 0), p[n](each start = 0);\n"
    "  Real vx[n](each start = 0), vy[n](each start = 0), w[n](each start = 0), fx[n], fy[n];\n"
    "equation\n"
    "  for i in 1:n loop\n"
    "    der(x[i]) = vx[i];\n    der(y[i]) = vy[i];\n    der(p[i]) = w[i];\n  end for;\n"
    "  for i in 1:n-1 loop\n"
    "    der(vx[i]) = fx[i] - fx[i+1];\n    der(vy[i]) = fy[i] - fy[i+1] - 9.81;\n"
    "    der(w[i])/12 = -0.5*(fy[i] + fy[i+1])*cos(p[i]) + 0.5*(fx[i] + fx[i+1])*sin(p[i]);\n"
    "  end for;\n"
    "  der(vx[n]) = fx[n];\n  der(vy[n]) = fy[n] - 9.81;\n"
    "  der(w[n])/12 = -0.5*fy[n]*cos(p[n]) + 0.5*fx[n]*sin(p[n]);\n"
    "  x[1] - 0.5*cos(p[1]) = 0;\n  y[1] - 0.5*sin(p[1]) = 0;\n"
    "  for i in 2:n loop\n"
    "    x[i] - 0.5*cos(p[i]) = x[i-1] + 0.5*cos(p[i-1]);\n"
    "    y[i] - 0.5*sin(p[i]) = y[i-1] + 0.5*sin(p[i-1]);\n  end for;\n"
    "end Bodies;\n";

/* Heat that spreads on a square with n inner points a side, from initial equations */
static const char heat[] =
    "model Heat\n  parameter Integer n = 10;\n  Real u[n+2, n+2](each start = 0);\nequation\n"
    "  for i in 1:n+2 loop\n    u[i, 1] = 0;\n    u[i, n+2] = 0;\n  end for;\n"
    "  for j in 2:n+1 loop\n    u[1, j] = 0;\n    u[n+2, j] = 1;\n  end for;\n"
    "  for i in 2:n+1 loop\n    for j in 2:n+1 loop\n"
    "      der(u[i, j]) = (u[i-1, j] + u[i+1, j] + u[i, j-1] + u[i, j+1] - 4*u[i, j])*(n+1)^2;\n"
    "    end for;\n  end for;\ninitial equation\n"
    "  for i in 2:n+1 loop\n    for j in 2:n+1 loop\n      u[i, j] = i*j/n^2;\n"
    "    end for;\n  end for;\nend Heat;\n";

/* Mechanisms side by side: analysis prints what it has derived of each */
static const char pendulums[] =
    "model Pendulums\n  parameter Integer n = 10;\n"
    "  Real x[n](each start = 1), y[n](each start = 0, each fixed = true);\n"
    "  Real u[n], v[n](each start = 0, each fixed = true), f[n];\nequation\n"
    "  for i in 1:n loop\n    der(x[i]) = u[i];\n    der(y[i]) = v[i];\n"
    "    der(u[i]) = -f[i]*x[i];\n    der(v[i]) = -f[i]*y[i] - 1;\n"
    "    x[i]^2 + y[i]^2 = 1;\n  end for;\nend Pendulums;\n";

static int unknowns; /* of the last model */

static dae_problem *translated(const char *text, const char *assignment)
{
    dae_model model = {.text = text,
                       .file = "chain.mo",
                       .engine = DAE_ENGINE_TAPE,
                       .assignments = &assignment,
                       .assignment_count = 1};
    dae_problem *problem = NULL;
    dae_diag diag = {0};
    if (dae_problem_from_model(&model, &problem, &diag) != DAE_OK) fail_msg("%s", diag.text);
    return problem;
}

/* Bytes of translation, making a solver and starting it */
static double bytes_of(const char *text, const char *method, int n)
{
    char size[32];
    snprintf(size, sizeof size, "n = %d", n);
    dae_options options = dae_options_default();
    dae_solver *solver = NULL;
    dae_diag diag = {0};
    bytes = held = most_held = 0.0;
    options.method = method;
    dae_problem *problem = translated(text, size);
    if (dae_solver_new(problem, &options, &solver, &diag) != DAE_OK) fail_msg("%s", diag.text);
    if (dae_solver_start(solver, 0.0, NULL, NULL) != DAE_OK)
        fail_msg("n = %d: %s", n, dae_solver_diag(solver)->text);
    unknowns = dae_problem_size(problem);
    dae_solver_free(solver);
    dae_problem_free(problem);
    return bytes;
}

static void grows_with_the_model(const char *text, const char *method)
{
    const double small = bytes_of(text, method, 300), large = bytes_of(text, method, 2400);
    const double exponent = log(large / small) / log(8.0);
    if (!(exponent < 1.15)) fail_msg("%s: n^%.2f, %.3g bytes", method, exponent, large);
}

static void rods(void **state)
{
    (void)state;
    grows_with_the_model(straight, "auto");
    if (SANITIZED) return; /* bytes are the same there */
    grows_with_the_model(straight, "radau");
    grows_with_the_model(hanging, "radau");
    grows_with_the_model(by_sums, "auto");
}

static void bodies_with_joints(void **state)
{
    (void)state;
    if (SANITIZED) skip(); /* bytes are the same there */
    grows_with_the_model(bodies, "auto");
    bytes_of(bodies, "radau", 4000); /* was refused as singular */
}

/* Bytes of an analysis, as `daedal check` asks for it */
static double bytes_of_analysis(const char *text, int n)
{
    char size[32];
    snprintf(size, sizeof size, "n = %d", n);
    dae_problem *problem = translated(text, size);
    dae_analysis *analysis = NULL;
    dae_diag diag = {0};
    bytes = 0.0;
    if (dae_problem_analyse(problem, 0.0, &analysis, &diag) != DAE_OK) fail_msg("%s", diag.text);
    const double taken = bytes;
    dae_analysis_free(analysis);
    dae_problem_free(problem);
    return taken;
}

static void derived_equations(void **state)
{
    (void)state;
    const double small = bytes_of_analysis(pendulums, 200),
                 large = bytes_of_analysis(pendulums, 1600);
    const double exponent = log(large / small) / log(8.0);
    if (!(exponent < 1.15)) fail_msg("analysis: n^%.2f, %.3g bytes", exponent, large);
}

/* At most so many bytes an unknown at once */
static void holds(const char *text, const char *method, int n, double limit)
{
    bytes_of(text, method, n);
    const double each = most_held / unknowns;
    print_message("%s: %.0f bytes an unknown\n", method, each);
    if (!(each < limit)) fail_msg("%s: %.0f bytes an unknown, not %.0f", method, each, limit);
}

static void bytes_an_unknown(void **state)
{
    (void)state;
    holds(straight, "auto", 2400, 5800.0);
    holds(straight, "radau", 2400, 5650.0);
    holds(heat, "radau", 60, 5900.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rods), cmocka_unit_test(bytes_an_unknown),
                                       cmocka_unit_test(bodies_with_joints),
                                       cmocka_unit_test(derived_equations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
