/* A model as equations: load it, set a parameter and a start value by name, solve, and read its
 * variables by name.   model pendulum.mo */
#include <daedal.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 10 };

/* Print the variables at ROWS + 1 times from t0 to tend. */
static dae_status print_run(const dae_problem *problem, dae_solver *solver, double t0, double tend)
{
    int count = dae_problem_variable_count(problem);
    double *values = malloc((size_t)(count + 1) * sizeof *values);
    dae_status status = values ? DAE_OK : DAE_ERR_MEMORY;
    printf("%10s", "t");
    for (int i = 0; i < count; i++) printf(" %12s", dae_problem_variable(problem, i));
    for (int row = 0; row <= ROWS && status == DAE_OK; row++) {
        double t = t0 + row * (tend - t0) / ROWS;
        status = dae_solver_run(solver, t, NULL, NULL); /* events are handled on the way */
        if (status == DAE_OK) status = dae_solver_variables(solver, t, values);
        printf("\n%10.4f", t);
        for (int i = 0; i < count && status == DAE_OK; i++) printf(" %12.8f", values[i]);
    }
    printf("\n");
    free(values);
    return status;
}

int main(int argc, char **argv)
{
    dae_diag diag = {0};
    dae_problem *problem = NULL;
    dae_solver *solver = NULL;
    dae_options options = dae_options_default();
    options.rtol = 1e-8;

    dae_status status = dae_problem_from_file(argc > 1 ? argv[1] : "pendulum.mo", &problem, &diag);
    if (status == DAE_OK) status = dae_problem_set_parameter(problem, "g", 9.81, &diag);
    if (status == DAE_OK) status = dae_problem_set_start(problem, "vy", -0.5, &diag);
    if (status == DAE_OK) status = dae_solver_new(problem, &options, &solver, &diag);
    if (status == DAE_OK) status = dae_solver_start(solver, 0.0, NULL, NULL);
    if (status == DAE_OK) status = print_run(problem, solver, 0.0, 1.0);
    if (status == DAE_OK) status = dae_solver_finish(solver);

    if (status < 0) fprintf(stderr, "%s\n", solver ? dae_solver_diag(solver)->text : diag.text);
    dae_solver_free(solver);
    dae_problem_free(problem);
    return status < 0;
}
