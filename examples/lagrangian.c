/* A double pendulum from its energies: no equation of motion is written, all are derived. Prints
 * the angles, and the flat model text with the equations that were made. */
#include <daedal.h>
#include <stdio.h>

/* The angles a and b at eleven times. */
static dae_status print_angles(dae_solver *solver)
{
    dae_status status = DAE_OK;
    double values[4]; /* a, b, u, v */
    for (int row = 0; row <= 10 && status == DAE_OK; row++) {
        double t = 0.2 * row;
        status = dae_solver_run(solver, t, NULL, NULL);
        if (status == DAE_OK) status = dae_solver_variables(solver, t, values);
        if (status == DAE_OK) printf("%5.1f %12.8f %12.8f\n", t, values[0], values[1]);
    }
    return status;
}

int main(void)
{
    const char *angles[] = {"a", "b"}, *speeds[] = {"u", "v"};
    dae_setting data[] = {{"m", 1.0}, {"l", 1.0}, {"g", 9.81}}, starts[] = {{"a", 2.0}, {"b", 1.0}};
    dae_lagrangian form = {.n = 2,
                           .coordinates = angles,
                           .velocities = speeds,
                           .kinetic = "m*l^2*(u^2 + v^2/2 + u*v*cos(a - b))",
                           .potential = "-m*g*l*(2*cos(a) + cos(b))",
                           .parameters = data,
                           .parameter_count = 3,
                           .starts = starts,
                           .start_count = 2};
    dae_diag diag = {0};
    dae_problem *problem = NULL;
    dae_solver *solver = NULL;

    dae_status status = dae_problem_from_lagrangian(&form, &problem, &diag);
    if (status == DAE_OK) status = dae_solver_new(problem, NULL, &solver, &diag);
    if (status == DAE_OK) status = dae_solver_start(solver, 0.0, NULL, NULL);
    if (status == DAE_OK) status = print_angles(solver);

    char *text = status == DAE_OK ? dae_problem_emit_modelica(problem, &diag) : NULL;
    if (text) printf("\n%s", text);
    if (status < 0) fprintf(stderr, "%s\n", solver ? dae_solver_diag(solver)->text : diag.text);
    dae_text_free(text);
    dae_solver_free(solver);
    dae_problem_free(problem);
    return status < 0;
}
