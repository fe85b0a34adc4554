/* Events: a ball is dropped from one metre and keeps 90 % of its speed at every impact. Its energy
 * is an algebraic unknown, which every restart makes consistent with the new speed. */
#include <daedal.h>
#include <math.h>
#include <stdio.h>

enum { HEIGHT, SPEED, ENERGY, N };
enum { IMPACTS = 10 };

static const double gravity = 9.81, restitution = 0.9;

/* F(t, y, y') = 0 */
static int ball(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    f[HEIGHT] = yp[HEIGHT] - y[SPEED];
    f[SPEED] = yp[SPEED] + gravity;
    f[ENERGY] = y[ENERGY] - gravity * y[HEIGHT] - 0.5 * y[SPEED] * y[SPEED];
    return 0;
}

/* An impact: the height falls through zero. */
static int impact(double t, const double *y, const double *yp, double *g, void *user)
{
    (void)t, (void)yp, (void)user;
    g[0] = y[HEIGHT];
    return 0;
}

/* Fly from impact to impact; print when each one came and when it should have come. */
static dae_status bounce(dae_solver *solver)
{
    double y[N], flight = 2.0 * sqrt(2.0 / gravity), exact = 0.5 * flight;
    printf("%6s  %14s  %14s  %10s\n", "impact", "t", "exact", "energy");
    for (int k = 1; k <= IMPACTS; k++) {
        dae_status status = dae_solver_run(solver, 100.0, y, NULL);
        if (status < 0) return status;
        if (status != DAE_EVENT) {
            fprintf(stderr, "impact %d did not come\n", k);
            return DAE_ERR_EVENT;
        }
        y[HEIGHT] = 0.0;
        y[SPEED] *= -restitution;
        status = dae_solver_restart(solver, y, NULL);
        if (status < 0) return status;
        const double t = dae_solver_time(solver);
        status = dae_solver_at(solver, t, 0, y);
        if (status < 0) return status;
        printf("%6d  %14.10f  %14.10f  %10.6f\n", k, t, exact, y[ENERGY]);
        exact += flight *= restitution;
    }
    return DAE_OK;
}

int main(void)
{
    static const char *const names[] = {"height", "speed", "energy"};
    const dae_event event = {.name = "impact", .direction = -1};
    const dae_residual description = {.n = N,
                                      .f = ball,
                                      .variable_names = names,
                                      .event_count = 1,
                                      .event_function = impact,
                                      .events = &event};
    const double y0[N] = {[HEIGHT] = 1.0};
    dae_options options = dae_options_default();
    options.rtol = 1e-8;
    options.atol = 1e-10;

    dae_diag diag = {0};
    dae_problem *problem = NULL;
    dae_solver *solver = NULL;
    dae_status status = dae_problem_from_residual(&description, &problem, &diag);
    if (status == DAE_OK) status = dae_solver_new(problem, &options, &solver, &diag);
    if (status == DAE_OK) status = dae_solver_start(solver, 0.0, y0, NULL); /* finds the energy */
    if (status == DAE_OK) status = bounce(solver);

    if (status < 0) fprintf(stderr, "%s\n", solver ? dae_solver_diag(solver)->text : diag.text);
    dae_solver_free(solver);
    dae_problem_free(problem);
    return status < 0;
}
