/* Inputs: a mass on a spring is driven by a function of this program, which jumps every second, and
 * damped by an expression. The work of the force is compared with what it must be. */
#include <daedal.h>
#include <math.h>
#include <stdio.h>

static const char text[] = "model Driven\n"
                           "  input Real force;\n"
                           "  input Real friction;\n"
                           "  Real x(start = 0, fixed = true), v(start = 0, fixed = true);\n"
                           "  Real work(start = 0, fixed = true), lost(start = 0, fixed = true);\n"
                           "equation\n"
                           "  der(x) = v;\n"
                           "  der(v) = force + friction - 4*x;\n"
                           "  der(work) = force*v;\n"
                           "  der(lost) = friction*v;\n"
                           "end Driven;\n";

/* 1 in the first second, -1 in the next one, and so on: by the jump that is ahead. */
static int square_wave(double t, int order, double jump, double *value, void *user)
{
    (void)t, (void)user;
    *value = order > 0 ? 0.0 : fmod(jump, 2.0) == 1.0 ? 1.0 : -1.0;
    return 0;
}

static double next_second(double t, void *user)
{
    (void)user;
    return floor(t) + 1.0;
}

/* Every second: where the mass is, and how far the energies are from balance. */
static dae_status drive(const dae_problem *problem, dae_solver *solver)
{
    enum { MOST = 16 };
    double y[MOST];
    int x = dae_problem_find_variable(problem, "x"), v = dae_problem_find_variable(problem, "v");
    int work = dae_problem_find_variable(problem, "work");
    int lost = dae_problem_find_variable(problem, "lost");
    printf("%4s  %12s  %12s  %10s\n", "t", "x", "work", "balance");
    for (int k = 1; k <= 5; k++) {
        dae_status status;
        double t = k - 0.5;
        while ((status = dae_solver_step(solver, t)) > 0) continue; /* over events */
        if (status == DAE_OK) status = dae_solver_variables(solver, t, y);
        if (status != DAE_OK) return status;
        double energy = 0.5 * y[v] * y[v] + 2.0 * y[x] * y[x];
        printf("%4.1f  %12.8f  %12.8f  %10.1e\n", t, y[x], y[work], y[work] + y[lost] - energy);
    }
    return DAE_OK;
}

int main(void)
{
    const dae_input inputs[] = {{.name = "force", .value = square_wave, .jump = next_second},
                                {.name = "friction", .expression = "-0.2*v"}};
    const dae_model model = {.text = text, .file = "driven.mo", .inputs = inputs, .input_count = 2};
    dae_diag diag = {0};
    dae_problem *problem = NULL;
    dae_solver *solver = NULL;
    dae_status status = dae_problem_from_model(&model, &problem, &diag);
    if (status == DAE_OK) status = dae_solver_new(problem, NULL, &solver, &diag);
    if (status == DAE_OK) status = dae_solver_start(solver, 0.0, NULL, NULL);
    if (status == DAE_OK) status = drive(problem, solver);
    if (status < 0) fprintf(stderr, "%s\n", solver ? dae_solver_diag(solver)->text : diag.text);
    dae_solver_free(solver);
    dae_problem_free(problem);
    return status < 0;
}
