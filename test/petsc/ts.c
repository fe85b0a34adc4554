/* A TS of PETSc for a program of one's own: the heat equation against its closed form, a pendulum
 * of index 3 against its constraint, models with events refused. Run by itself or by mpirun. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "daedal_petsc.h"

static int failures;

static void expect(bool good, const char *what)
{
    if (good) return;
    printf("FAILED: %s\n", what);
    failures++;
}

static const char *const HEAT =
    "model H constant Integer n = 9; Real u[n](start = {sin(3.14159265358979312*i/(n + 1)) for i "
    "in "
    "1:n}, each fixed = true); Real total; equation der(u[1]) = u[2] - 2*u[1]; for i in 2:n-1 loop "
    "der(u[i]) = u[i-1] - 2*u[i] + u[i+1]; end for; der(u[n]) = u[n-1] - 2*u[n]; total = sum(u); "
    "end H;";
static const char *const PENDULUM =
    "model P Real x(start = 0.6, fixed = true); Real y(start = -0.8); Real vx(start = 0, fixed = "
    "true); Real vy; Real l; equation der(x) = vx; der(y) = vy; der(vx) = -l*x; der(vy) = -l*y - "
    "1; x^2 + y^2 = 1; end P;";
static const char *const BALL =
    "model B Real h(start = 1, fixed = true); Real v(start = 0, fixed = true); equation der(h) = "
    "v; der(v) = -2; when h < 0 then reinit(v, -pre(v)); end when; end B;";

/* Values at the end of a run by PETSc alone; the number of unknowns, or -1. */
static int solve(dae_petsc *p, const char *text, double end, double *y, dae_problem **problem,
                 dae_diag *diag)
{
    TS ts = NULL;
    if (dae_problem_from_model(&(dae_model){.text = text}, problem, diag) != DAE_OK) return -1;
    if (dae_petsc_ts(p, *problem, NULL, 0.0, &ts, diag) != DAE_OK) return -1;
    if (TSSetMaxTime(ts, end) || TSSetExactFinalTime(ts, TS_EXACTFINALTIME_MATCHSTEP)) return -1;
    if (TSSolve(ts, NULL) || dae_petsc_values(p, y) != DAE_OK) return -1;
    return dae_petsc_size(p);
}

static double named(const dae_petsc *p, const double *y, const char *name)
{
    for (int i = 0; i < dae_petsc_size(p); i++)
        if (strcmp(dae_petsc_unknown(p, i), name) == 0) return y[i];
    return NAN;
}

int main(int argc, char **argv)
{
    char message[200] = "";
    double y[64];
    dae_petsc *p = NULL;
    dae_problem *problem[3] = {NULL, NULL, NULL};
    dae_diag diag = {0};
    (void)argc, (void)argv;
    MPI_Init(&argc, &argv);
    expect(dae_petsc_new(MPI_COMM_WORLD, NULL, &p, message, sizeof message) == DAE_OK, message);
    /* the first mode: u_i = sin(pi i/(n + 1)) exp(-4 sin^2(pi/(2(n + 1))) t) */
    const double rate = 4.0 * pow(sin(acos(-1.0) / 20.0), 2.0);
    expect(solve(p, HEAT, 1.0, y, &problem[0], &diag) > 0, "heat runs");
    expect(fabs(named(p, y, "u[5]") - exp(-rate)) < 1e-4, "the first mode decays as it should");
    expect(solve(p, PENDULUM, 0.5, y, &problem[1], &diag) > 0, "a pendulum runs");
    const double x = named(p, y, "x"), v = named(p, y, "y");
    expect(fabs(x * x + v * v - 1.0) < 1e-6, "its rod keeps its length");
    expect(solve(p, BALL, 1.0, y, &problem[2], &diag) < 0, "events are refused");
    expect(strstr(diag.text, "events") != NULL, "and named");
    dae_petsc_free(p);
    for (int k = 0; k < 3; k++) dae_problem_free(problem[k]);
    MPI_Finalize();
    if (failures == 0) printf("all passed\n");
    return failures > 0;
}
