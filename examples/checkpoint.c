/* A run that can be killed: a pendulum, saved every 500 steps. Started again, the
 * program goes on where it was saved, and ends with the bits of a run that never was.
 *
 *     ./checkpoint; ./checkpoint stop; ./checkpoint        # the second one gives up on its way
 */
#include <daedal.h>
#include <stdio.h>
#include <string.h>

static const char text[] = "model Pendulum\n"
                           "  Real x(start = 1, fixed = true), y(start = 0), vx, vy, lambda;\n"
                           "equation\n"
                           "  der(x) = vx;\n"
                           "  der(y) = vy;\n"
                           "  der(vx) = -lambda*x;\n"
                           "  der(vy) = -lambda*y - 9.81;\n"
                           "  x^2 + y^2 = 1;\n"
                           "end Pendulum;\n";
static const char path[] = "pendulum.checkpoint";

/* Where the run was saved, if it was; else from the start. */
static dae_status begin(dae_solver *solver, dae_diag *diag)
{
    FILE *there = fopen(path, "rb");
    if (!there) return dae_solver_start(solver, 0.0, NULL, NULL);
    fclose(there);
    dae_status status = dae_solver_load(solver, path, diag);
    if (status == DAE_OK) printf("going on from t = %.6g\n", dae_solver_time(solver));
    return status;
}

/* To tend, with a save every 500 steps; `most` steps at most. */
static dae_status run(dae_solver *solver, double tend, long most, dae_diag *diag)
{
    const dae_stats *count = dae_solver_stats(solver);
    long saved = count->steps;
    dae_status status = DAE_STEPPED;
    while (status > 0 && count->steps < most) {
        status = dae_solver_step(solver, tend);
        if (status <= 0 || count->steps < saved + 500) continue;
        dae_status kept = dae_solver_save(solver, path, diag);
        if (kept == DAE_ERR_STATE) continue; /* inside a step: behind the next one */
        if (kept != DAE_OK) return kept;
        saved = count->steps;
    }
    return status;
}

int main(int argc, char **argv)
{
    const double tend = 300.0;
    const long most = argc > 1 && strcmp(argv[1], "stop") == 0 ? 1300 : 1000000;
    dae_diag diag = {0};
    dae_problem *problem = NULL;
    dae_solver *solver = NULL;
    double y[8];
    dae_options options = dae_options_default();
    options.stop_time = tend;

    dae_status status = dae_problem_from_model(&(dae_model){.text = text}, &problem, &diag);
    if (status == DAE_OK) status = dae_solver_new(problem, &options, &solver, &diag);
    if (status == DAE_OK) status = begin(solver, &diag);
    if (status == DAE_OK) status = run(solver, tend, most, &diag);
    if (status == DAE_OK && dae_solver_variables(solver, tend, y) == DAE_OK) {
        printf("x = %.17g, y = %.17g at t = %g\n", y[0], y[1], tend);
        remove(path);
    }
    if (status < 0)
        fprintf(stderr, "%s\n", diag.text[0] ? diag.text : dae_solver_diag(solver)->text);
    dae_solver_free(solver);
    dae_problem_free(problem);
    return status < 0;
}
