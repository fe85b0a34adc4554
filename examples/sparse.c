/* A sparse Jacobian: a substrate s diffuses into a catalyst layer, 0 <= x <= 1, where it is used up
 * at the rate r of Michaelis and Menten, which is kept as an algebraic unknown:
 *
 *     ds/dt = d2s/dx2 - r,    0 = r (1 + s) - 4 s,    s(t, 0) = 1,   ds/dx(t, 1) = 0,   s(0, x) = 0
 *
 * Central differences on NODES points. In the steady state everything that enters at x = 0 is used
 * up, which the program checks. */
#include <daedal.h>
#include <math.h>
#include <stdio.h>

enum { NODES = 201, N = 2 * NODES, MAX_ENTRIES = 6 * NODES };

static const double dx = 1.0 / (NODES - 1);

/* Unknowns of node i, and the equations that determine them, are at these places. */
static int s_at(int i)
{
    return 2 * i;
}

static int r_at(int i)
{
    return 2 * i + 1;
}

/* F(t, y, y') = 0 */
static int layer(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    f[s_at(0)] = y[s_at(0)] - 1.0;
    for (int i = 1; i < NODES; i++) {
        const double left = y[s_at(i - 1)], here = y[s_at(i)];
        const double right = i + 1 < NODES ? y[s_at(i + 1)] : left; /* mirror at the wall */
        f[s_at(i)] = yp[s_at(i)] - (left - 2.0 * here + right) / (dx * dx) + y[r_at(i)];
    }
    for (int i = 0; i < NODES; i++) f[r_at(i)] = y[r_at(i)] * (1.0 + y[s_at(i)]) - 4.0 * y[s_at(i)];
    return 0;
}

/* Places of the entries, column after column, rows ascending. */
static void pattern(int *colptr, int *rowind)
{
    int k = 0;
    for (int i = 0; i < NODES; i++) {
        colptr[s_at(i)] = k;
        if (i > 1) rowind[k++] = s_at(i - 1);
        rowind[k++] = s_at(i);
        rowind[k++] = r_at(i);
        if (i + 1 < NODES) rowind[k++] = s_at(i + 1);
        colptr[r_at(i)] = k;
        if (i > 0) rowind[k++] = s_at(i);
        rowind[k++] = r_at(i);
    }
    colptr[N] = k;
}

/* dF/dy and dF/dy' at the places of pattern(), in the same order. */
static int jacobian(double t, const double *y, const double *yp, double *dfdy, double *dfdyp,
                    void *user)
{
    (void)t, (void)yp, (void)user;
    const double c = 1.0 / (dx * dx);
    int k = 0;
    for (int i = 0; i < NODES; i++) {
        if (i > 1) dfdy[k++] = -c;
        dfdyp[k] = i > 0 ? 1.0 : 0.0;
        dfdy[k++] = i > 0 ? 2.0 * c : 1.0;
        dfdy[k++] = y[r_at(i)] - 4.0;
        if (i + 1 < NODES) dfdy[k++] = i + 2 < NODES ? -c : -2.0 * c;
        if (i > 0) dfdy[k++] = 1.0;
        dfdy[k++] = 1.0 + y[s_at(i)];
    }
    return 0;
}

/* Print the profile at some times, then the balance of the steady state. */
static dae_status print_profiles(dae_solver *solver)
{
    static double y[N];
    printf("%8s  %10s  %10s  %10s\n", "t", "s(0.25)", "s(0.5)", "s(1)");
    for (double t = 1e-3; t < 20.0; t *= 10.0) {
        const dae_status status = dae_solver_run(solver, t, y, NULL);
        if (status < 0) return status;
        printf("%8g  %10.6f  %10.6f  %10.6f\n", t, y[s_at(NODES / 4)], y[s_at(NODES / 2)],
               y[s_at(NODES - 1)]);
    }
    double used = 0.5 * dx * y[r_at(NODES - 1)];
    for (int i = 1; i < NODES - 1; i++) used += dx * y[r_at(i)];
    const double enters = (y[s_at(0)] - y[s_at(1)]) / dx;
    printf("enters %.6f, used up %.6f\n", enters, used);
    return DAE_OK;
}

int main(void)
{
    static int colptr[N + 1], rowind[MAX_ENTRIES];
    static double y0[N];
    y0[s_at(0)] = 1.0; /* the rates need no values: they are made consistent */
    pattern(colptr, rowind);

    const dae_residual description = {.n = N,
                                      .f = layer,
                                      .jacobian = jacobian,
                                      .structure = DAE_STRUCTURE_SPARSE,
                                      .colptr = colptr,
                                      .rowind = rowind};
    dae_options options = dae_options_default();
    options.rtol = 1e-6;
    options.atol = 1e-8;

    dae_diag diag = {0};
    dae_problem *problem = NULL;
    dae_solver *solver = NULL;
    dae_status status = dae_problem_from_residual(&description, &problem, &diag);
    if (status == DAE_OK) status = dae_solver_new(problem, &options, &solver, &diag);
    if (status == DAE_OK) status = dae_solver_start(solver, 0.0, y0, NULL);
    if (status == DAE_OK) status = print_profiles(solver);

    if (status < 0) fprintf(stderr, "%s\n", solver ? dae_solver_diag(solver)->text : diag.text);
    dae_solver_free(solver);
    dae_problem_free(problem);
    return status < 0;
}
