/* A crane, index 3, at rest: its steady state, the frequency with which the load swings, and what
 * the motor does to it. */
#include <daedal.h>
#include <stdio.h>

static const char text[] = "model Crane\n"
                           "  parameter Real M = 10, m = 2, L = 5, g = 9.81;\n"
                           "  input Real u(start = 0) \"force of the motor\";\n"
                           "  Real s(start = 0, fixed = true), v(start = 0, fixed = true);\n"
                           "  Real x(start = 1, fixed = true), y(start = -4.9);\n"
                           "  Real vx(start = 0, fixed = true), vy, F;\n"
                           "equation\n"
                           "  der(s) = v; der(x) = vx; der(y) = vy;\n"
                           "  M*der(v) = u + F*(x - s) - 20*s - 30*v;\n"
                           "  m*der(vx) = -F*(x - s) - 0.1*vx;\n"
                           "  m*der(vy) = -F*y - m*g;\n"
                           "  (x - s)^2 + y^2 = L^2;\n"
                           "end Crane;\n";

static void print(const dae_steady_state *rest)
{
    const dae_linearisation *lin = rest->linear;
    printf("at rest: %s, %d states\n",
           lin->stability == DAE_STABILITY_ASYMPTOTIC ? "stable" : "not stable", lin->state_count);
    for (int j = 0; j < lin->state_count; j++)
        printf("  eigenvalue %9.5f %+9.5f i\n", lin->re[j], lin->im[j]);
    for (int i = 0; i < lin->state_count; i++)
        printf("  d der(%s) / d %s = %g\n", lin->states[i], lin->inputs[0], lin->B[i]);
}

int main(void)
{
    dae_diag diag = {0};
    dae_problem *problem = NULL;
    dae_solver *solver = NULL;
    dae_steady_state *rest = NULL;
    dae_model model = {.text = text, .file = "crane", .shift_inputs = true};
    dae_status status = dae_problem_from_model(&model, &problem, &diag);
    if (status == DAE_OK) status = dae_solver_new(problem, NULL, &solver, &diag);
    if (status == DAE_OK) {
        status = dae_solver_start(solver, 0.0, NULL, NULL);
        diag = *dae_solver_diag(solver);
    }
    if (status == DAE_OK) status = dae_steady(solver, NULL, &rest, &diag);
    if (status == DAE_OK)
        print(rest);
    else
        fprintf(stderr, "%s\n", diag.text);
    dae_steady_free(rest);
    dae_solver_free(solver);
    dae_problem_free(problem);
    return status < 0;
}
