/* Mechanisms whose matrices are parameter arrays with zeros in them, rows in any order, sums over
 * elastic modes, forces and gradients through functions: they are found, as with constants in their
 * place, with the same results; and where a zero is changed, another plan is made. */
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

enum { TEXT = 4000, UNKNOWNS = 40 };

/* `#` stands for parameter or constant. */
static const char rows_in_any_order[] = "model Rows\n"
                                        "  # Real A[3,3] = {{0,0,2},{1,0,0},{0,3,0}};\n"
                                        "  Real q[3](start={1,0,0.3}), v[3](each start=0);\n"
                                        "  Real lambda;\n"
                                        "equation\n"
                                        "  q[1]^2 + q[2]^2 = 1;\n"
                                        "  A[1,:]*der(v) = -q[3];\n"
                                        "  A[3,:]*der(v) = -3*9.81 - 2*q[2]*lambda*3;\n"
                                        "  der(q) = v;\n"
                                        "  A[2,:]*der(v) = -2*q[1]*lambda;\n"
                                        "end Rows;\n";

static const char terms_switched_off[] =
    "model Off\n"
    "  # Real M[3,3] = {{2,0,0.5},{0,2,0},{0.5,0,1}};\n"
    "  # Real c[3] = {0,0,0.1};\n"
    "  # Real d = 0;\n"
    "  # Real mu = 0;\n"
    "  Real q[3](start={1,0,0.3}), v[3](each start=0);\n"
    "  Real lambda;\n"
    "equation\n"
    "  der(q) = v;\n"
    "  M*der(v) = {0,-9.81,-q[3]} - c.*v - {2*q[1],2*q[2],0}*lambda*(1 + mu*abs(lambda));\n"
    "  q[1]^2 + q[2]^2 + d*v[1] = 1;\n"
    "end Off;\n";

static const char without_friction[] =
    "model Smooth\n"
    "  # Real M[3,3] = {{2,0,0.5},{0,2,0},{0.5,0,1}};\n"
    "  # Real c[3] = {0,0,0.1};\n"
    "  # Real mu = 0;\n"
    "  Real q[3](start={1,0,0.3}), v[3](each start=0);\n"
    "  Real lambda;\n"
    "equation\n"
    "  der(q) = v;\n"
    "  M*der(v) = {0,-9.81,-q[3]} - c.*v - {2*q[1],2*q[2],0}*lambda\n"
    "    - mu*sqrt(0.01 + lambda^2)*v;\n"
    "  q[1]^2 + q[2]^2 = 1;\n"
    "end Smooth;\n";

static const char elastic_modes[] =
    "model Beam\n"
    "  function spring\n    input Real x;\n    input Real k;\n    output Real f;\n  algorithm\n"
    "    f := -k*x;\n    if x > 10 then\n      f := f - 1;\n    end if;\n  end spring;\n"
    "  # Real Mm[3,3] = {{1,0,0},{0,1,0},{0,0,1}};\n"
    "  # Real Km[3,3] = {{100,0,0},{0,400,0},{0,0,900}};\n"
    "  # Real phi[3] = {1,0,0.5};\n"
    "  # Real psi[3] = {0,0,0};\n"
    "  Real eta[3](start={0.1,0,0}), w[3](each start=0);\n"
    "  Real x(start=0.1), y(start=-1), vx(start=0), vy(start=0);\n"
    "  Real lambda, tip, mu;\n"
    "equation\n"
    "  der(eta) = w;\n  der(x) = vx;\n  der(y) = vy;\n"
    "  tip = sum(phi[i]*eta[i] for i in 1:3);\n"
    "  for i in 1:3 loop\n"
    "    sum(Mm[i,j]*der(w[j]) for j in 1:3) = -sum(Km[i,j]*eta[j] for j in 1:3)\n"
    "      + phi[i]*2*(x - tip)*lambda - psi[i]*mu;\n"
    "  end for;\n"
    "  2*der(vx) = spring(x, 0.5) - 2*(x - tip)*lambda;\n"
    "  2*der(vy) = spring(y, 0) - 2*9.81 - 2*y*lambda;\n"
    "  (x - tip)^2 + y^2 = 1;\n"
    "  mu = sum(psi[i]*eta[i] for i in 1:3);\n"
    "end Beam;\n";

static const char selections[] =
    "model Sel\n"
    "  # Real E[3,3] = {{1,0,0},{0,1,0},{0,0,0}};\n"
    "  # Real J[3,3] = {{3,0,0.2},{0,2,0},{0.2,0,1}};\n"
    "  # Real W[3,3] = {{0,1,0},{-1,0,0},{0,0,0}};\n"
    "  # Real omega = 0;\n"
    "  # Real alpha = 0;\n"
    "  Real q[3](start={1,0,0.3}), v[3](each start=0), lambda, z[3];\n"
    "equation\n"
    "  z = E*q;\n"
    "  der(q) = v;\n"
    "  J*der(v) = {0,-9.81,-q[3]} + omega*W*v - 2*transpose(E)*z*lambda;\n"
    "  z*z - 1 + alpha*(z*(E*v)) = 0;\n"
    "end Sel;\n";

static const char functions_of_positions[] =
    "model Gen\n"
    "  function jacobian\n    input Real q[4];\n    output Real G[2,4];\n  algorithm\n"
    "    G := zeros(2,4);\n    G[1,1] := 2*q[1];\n    G[1,2] := 2*q[2];\n"
    "    G[2,1] := -2*(q[3] - q[1]);\n    G[2,2] := -2*(q[4] - q[2]);\n"
    "    G[2,3] := 2*(q[3] - q[1]);\n    G[2,4] := 2*(q[4] - q[2]);\n  end jacobian;\n"
    "  function forces\n    input Real v[4];\n    input Real d;\n    input Real m[4];\n"
    "    output Real f[4];\n  algorithm\n"
    "    for i in 1:4 loop\n      f[i] := -d*v[i];\n    end for;\n"
    "    f[2] := f[2] - m[2]*9.81;\n    f[4] := f[4] - m[4]*9.81;\n  end forces;\n"
    "  # Real m[4] = {1,1,2,2};\n"
    "  # Real M[4,4] = diagonal(m);\n"
    "  # Real d = 0.1;\n"
    "  Real q[4](start={1,0,2,0}), v[4](each start=0), a[4], F[4], G[2,4], lambda[2];\n"
    "equation\n"
    "  der(q) = v;\n  a = der(v);\n  F = forces(v, d, m);\n  G = jacobian(q);\n"
    "  M*a = F - transpose(G)*lambda;\n"
    "  q[1]^2 + q[2]^2 = 1;\n"
    "  (q[3] - q[1])^2 + (q[4] - q[2])^2 = 1;\n"
    "end Gen;\n";

static const char *const texts[] = {rows_in_any_order, terms_switched_off,     elastic_modes,
                                    selections,        functions_of_positions, without_friction};
static const int positions[] = {3, 3, 5, 3, 4, 3}, multipliers[] = {1, 1, 1, 1, 2, 1};

/* ---- running them ---- */

static dae_problem *translate(const char *text, const char *kind, const char *assignment)
{
    char full[TEXT];
    size_t at = 0;
    for (; *text && at + 20 < sizeof full; text++) {
        if (*text == '#')
            at += (size_t)sprintf(full + at, "%s", kind);
        else
            full[at++] = *text;
    }
    full[at] = '\0';
    dae_diag diag = {0};
    dae_problem *problem = NULL;
    dae_model model = {.text = full,
                       .file = "zeros.mo",
                       .engine = DAE_ENGINE_TAPE,
                       .assignments = &assignment,
                       .assignment_count = assignment != NULL};
    if (dae_problem_from_model(&model, &problem, &diag) != DAE_OK) fail_msg("%s", diag.text);
    return problem;
}

/* Values of all unknowns at t = 0.5; the number of them. hem takes mechanisms alone. */
static int solve(dae_problem *problem, const char *method, double *y)
{
    dae_options options = dae_options_default();
    dae_solver *solver = NULL;
    dae_diag diag = {0};
    options.method = method;
    options.rtol = options.atol = 1e-9;
    if (dae_solver_new(problem, &options, &solver, &diag) != DAE_OK) fail_msg("%s", diag.text);
    dae_status status = dae_solver_start(solver, 0.0, NULL, NULL);
    while (status >= DAE_OK && (status = dae_solver_step(solver, 0.5)) > 0) {
    }
    if (status < DAE_OK) fail_msg("%s", dae_solver_diag(solver)->text);
    assert_int_equal(dae_solver_variables(solver, 0.5, y), DAE_OK);
    dae_solver_free(solver);
    return dae_problem_variable_count(problem);
}

static void compare(int n, const double *a, const double *b, double tolerance)
{
    for (int i = 0; i < n; i++)
        if (!(fabs(a[i] - b[i]) <= tolerance * (1.0 + fabs(b[i]))))
            fail_msg("value %d: %.12g, not %.12g", i, a[i], b[i]);
}

/* ---- what must hold ---- */

/* A mechanism with so many positions and multipliers, which act along gradients */
static void is_mechanism(const dae_problem *problem, int q, int lambda)
{
    dae_analysis *a = NULL;
    assert_int_equal(dae_problem_analyse(problem, 0.0, &a, NULL), DAE_OK);
    assert_int_equal(a->positions, q);
    assert_int_equal(a->multipliers, lambda);
    assert_false(a->friction);
    dae_analysis_free(a);
}

static void found_as_with_constants(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        double y[2][UNKNOWNS], by_radau[UNKNOWNS];
        dae_problem *constants = translate(texts[k], "constant", NULL);
        dae_problem *parameters = translate(texts[k], "parameter", NULL);
        is_mechanism(constants, positions[k], multipliers[k]);
        is_mechanism(parameters, positions[k], multipliers[k]);
        int n = solve(constants, "hem:5", y[0]);
        assert_int_equal(solve(parameters, "hem:5", y[1]), n);
        compare(n, y[1], y[0], 1e-6);
        solve(parameters, "radau", by_radau);
        compare(n, y[1], by_radau, 1e-5);
        dae_problem_free(constants);
        dae_problem_free(parameters);
    }
}

/* A zero that is changed: the plan with it is not taken, in a second solver neither; and it is the
 * old one again when the zero is back. */
static void zeros_that_change(void **state)
{
    (void)state;
    static const struct {
        int text;
        const char *name, *assignment;
        double value;
    } changes[] = {{0, "A[1,1]", "A = {{0.3,0,2},{1,0,0},{0,3,0}}", 0.3},
                   {1, "c[2]", "c = {0,0.7,0.1}", 0.7},
                   {1, "M[1,2]", "M = {{2,0.25,0.5},{0,2,0},{0.5,0,1}}", 0.25},
                   {3, "omega", "omega = 3", 3.0},
                   {5, "c[2]", "c = {0,0.7,0.1}", 0.7},
                   {5, "mu", "mu = 0.05", 0.05}};
    for (size_t k = 0; k < sizeof changes / sizeof *changes; k++) {
        double before[UNKNOWNS], after[UNKNOWNS], fresh[UNKNOWNS], back[UNKNOWNS];
        dae_problem *p = translate(texts[changes[k].text], "parameter", NULL);
        dae_problem *q = translate(texts[changes[k].text], "parameter", changes[k].assignment);
        int n = solve(p, "auto", before);
        assert_int_equal(dae_problem_set_parameter(p, changes[k].name, changes[k].value, NULL),
                         DAE_OK);
        solve(p, "auto", after);
        solve(q, "auto", fresh);
        compare(n, after, fresh, 1e-6);
        double moved = 0.0;
        for (int i = 0; i < n; i++) moved = fmax(moved, fabs(after[i] - before[i]));
        assert_true(moved > 1e-3);
        assert_int_equal(dae_problem_set_parameter(p, changes[k].name, 0.0, NULL), DAE_OK);
        solve(p, "auto", back);
        compare(n, back, before, 1e-6);
        dae_problem_free(p);
        dae_problem_free(q);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(found_as_with_constants),
        cmocka_unit_test(zeros_that_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
