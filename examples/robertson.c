/* Robertson's chemical kinetics as a differential-algebraic equation: two reaction rates and the
 * conservation of mass. Time runs over eleven decades. */
#include <daedal.h>
#include <stdio.h>

/* F(t, y, y') = 0 */
static int kinetics(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    const double slow = 0.04 * y[0], medium = 1e4 * y[1] * y[2], fast = 3e7 * y[1] * y[1];
    f[0] = yp[0] + slow - medium;
    f[1] = yp[1] - slow + medium + fast;
    f[2] = y[0] + y[1] + y[2] - 1.0;
    return 0;
}

/* Print y(t) for t = 0.4, 4, 40, .., 4e10. */
static dae_status print_table(dae_solver *solver)
{
    double y[3], t = 0.4;
    printf("%9s  %14s  %14s  %14s\n", "t", "A", "B", "C");
    for (int k = 0; k < 12; k++, t *= 10.0) {
        const dae_status status = dae_solver_run(solver, t, y, NULL);
        if (status < 0) return status;
        printf("%9.1e  %14.7e  %14.7e  %14.7e\n", t, y[0], y[1], y[2]);
    }
    return DAE_OK;
}

int main(void)
{
    static const char *const names[] = {"A", "B", "C"};
    const double y0[] = {1.0, 0.0, 0.0}, atol[] = {1e-12, 1e-16, 1e-6};
    dae_diag diag = {0};
    dae_problem *problem = NULL;
    dae_solver *solver = NULL;

    dae_options options = dae_options_default();
    options.rtol = 1e-7;
    options.atol_by_unknown = atol;

    const dae_residual description = {.n = 3, .f = kinetics, .variable_names = names};
    dae_status status = dae_problem_from_residual(&description, &problem, &diag);
    if (status == DAE_OK) status = dae_solver_new(problem, &options, &solver, &diag);
    if (status == DAE_OK) status = dae_solver_start(solver, 0.0, y0, NULL); /* finds y' */
    if (status == DAE_OK) status = print_table(solver);

    if (status < 0) fprintf(stderr, "%s\n", solver ? dae_solver_diag(solver)->text : diag.text);
    dae_solver_free(solver);
    dae_problem_free(problem);
    return status < 0;
}
