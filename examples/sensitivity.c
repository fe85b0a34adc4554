/* Two reactions in a row, A -> B -> C, and how their concentrations move with the rates k1 and k2:
 * once as a model text, once as C code. */
#include <daedal.h>
#include <stdio.h>

/* ---- a model text: parameters by their names ---- */

static const char reactions[] =
    "model Reactions\n"
    "  parameter Real k1 = 2, k2 = 0.5;\n"
    "  Real A(start = 1, fixed = true), B(start = 0, fixed = true), C;\n"
    "equation\n"
    "  der(A) = -k1*A;\n"
    "  der(B) = k1*A - k2*B;\n"
    "  A + B + C = 1;\n"
    "end Reactions;\n";

/* Rows of t, then d/dk1 and d/dk2 of all variables. */
static dae_status print_model(dae_solver *solver, dae_sensitivity *sens)
{
    double d[3];
    for (int row = 1; row <= 4; row++) {
        double t = 0.5 * row;
        dae_status status = dae_solver_run(solver, t, NULL, NULL);
        printf("model     %4.1f", t);
        for (int k = 0; k < 2 && status == DAE_OK; k++) {
            status = dae_sensitivity_variables(sens, t, k, d);
            printf("  %11.8f %11.8f %11.8f", d[0], d[1], d[2]);
        }
        putchar('\n');
        if (status < 0) return status;
    }
    return DAE_OK;
}

static dae_status by_names(dae_diag *diag)
{
    const char *const names[] = {"k1", "k2"};
    const dae_model model = {.text = reactions};
    dae_options options = dae_options_default();
    dae_problem *problem = NULL;
    dae_solver *solver = NULL;
    dae_sensitivity *sens = NULL;
    options.rtol = 1e-8;

    dae_status status = dae_problem_from_model(&model, &problem, diag);
    if (status == DAE_OK) status = dae_solver_new(problem, &options, &solver, diag);
    if (status == DAE_OK)
        status = dae_sensitivity_new(solver, &(dae_sensitivity_request){.count = 2, .names = names},
                                     &sens, diag);
    if (status == DAE_OK) { /* from here on the solver keeps the diagnostic */
        status = dae_solver_start(solver, 0.0, NULL, NULL);
        if (status == DAE_OK) status = print_model(solver, sens);
        if (status < 0) *diag = *dae_solver_diag(solver);
    }
    dae_sensitivity_free(sens);
    dae_solver_free(solver);
    dae_problem_free(problem);
    return status;
}

/* ---- residual callbacks: the numbers that they read ---- */

static int residual(double t, const double *y, const double *yp, double *f, void *user)
{
    const double *k = user;
    (void)t;
    f[0] = yp[0] + k[0] * y[0];
    f[1] = yp[1] - k[0] * y[0] + k[1] * y[1];
    f[2] = y[0] + y[1] + y[2] - 1.0;
    return 0;
}

static dae_status print_callbacks(dae_solver *solver, dae_sensitivity *sens)
{
    double y[3], d[3];
    for (int row = 1; row <= 4; row++) {
        double t = 0.5 * row;
        dae_status status = dae_solver_run(solver, t, y, NULL);
        printf("callbacks %4.1f", t);
        for (int k = 0; k < 2 && status == DAE_OK; k++) {
            status = dae_sensitivity_at(sens, t, k, d);
            printf("  %11.8f %11.8f %11.8f", d[0], d[1], d[2]);
        }
        putchar('\n');
        if (status < 0) return status;
    }
    return DAE_OK;
}

static dae_status by_values(dae_diag *diag)
{
    double k[] = {2.0, 0.5}; /* moved a little, and put back */
    const double y0[] = {1.0, 0.0, 0.0};
    const dae_residual description = {.n = 3, .f = residual, .user = k};
    dae_options options = dae_options_default();
    dae_problem *problem = NULL;
    dae_solver *solver = NULL;
    dae_sensitivity *sens = NULL;
    options.rtol = 1e-8;

    dae_status status = dae_problem_from_residual(&description, &problem, diag);
    if (status == DAE_OK) status = dae_solver_new(problem, &options, &solver, diag);
    if (status == DAE_OK)
        status = dae_sensitivity_new(solver, &(dae_sensitivity_request){.count = 2, .values = k},
                                     &sens, diag);
    if (status == DAE_OK) {
        status = dae_solver_start(solver, 0.0, y0, NULL);
        if (status == DAE_OK) status = print_callbacks(solver, sens);
        if (status < 0) *diag = *dae_solver_diag(solver);
    }
    dae_sensitivity_free(sens);
    dae_solver_free(solver);
    dae_problem_free(problem);
    return status;
}

int main(void)
{
    dae_diag diag = {0};
    printf("%-10s%4s  %11s %11s %11s  %11s %11s %11s\n", "", "t", "dA/dk1", "dB/dk1", "dC/dk1",
           "dA/dk2", "dB/dk2", "dC/dk2");
    dae_status status = by_names(&diag);
    if (status == DAE_OK) status = by_values(&diag);
    if (status < 0) fprintf(stderr, "%s\n", diag.text);
    return status < 0;
}
