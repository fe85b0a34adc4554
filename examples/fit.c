/* Two rates of a reaction from measurements, with their standard errors.
 *
 *     cc fit.c $(pkg-config --cflags --libs daedal) -lm && ./a.out
 *
 * A -> B -> C with rates a and b. B was measured at ten times, and once the instrument failed. */
#include <math.h>
#include <stdio.h>

#include <daedal.h>

static const char text[] = "model Chain\n"
                           "  parameter Real a = 1, b = 1;\n"
                           "  Real A(start = 1, fixed = true), B(start = 0, fixed = true), C;\n"
                           "equation\n"
                           "  der(A) = -a*A;\n"
                           "  der(B) = a*A - b*B;\n"
                           "  A + B + C = 1;\n"
                           "end Chain;\n";

/* a = 2, b = 0.5, rounded to three digits */
static const double times[] = {0.2, 0.4, 0.6, 0.8, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0};
static const double measured[] = {0.313, 0.493, 0.586, 0.625, 0.628,
                                  0.563, 0.466, 0.294, NAN,   0.066};

static int show(int iteration, double cost, const double *values, void *user)
{
    (void)user;
    printf("iteration %d: cost %.3g at a = %.6g, b = %.6g\n", iteration, cost, values[0],
           values[1]);
    return 0; /* go on */
}

int main(void)
{
    enum { ROWS = sizeof times / sizeof *times };
    dae_problem *problem = NULL;
    dae_fit_result *result = NULL;
    dae_diag diag;
    const char *columns[] = {"B"};
    double curve[ROWS];
    dae_fit_parameter parameters[] = {{.name = "a", .start = 5.0, .lower = 0.0, .upper = 100.0},
                                      {.name = "b", .start = NAN}}; /* its value in the text */
    dae_fit_data data = {
        .rows = ROWS, .columns = 1, .times = times, .variables = columns, .values = measured};
    dae_fit_request request = {.parameters = parameters,
                               .parameter_count = 2,
                               .data = &data,
                               .data_count = 1,
                               .progress = show};
    if (dae_problem_from_model(&(dae_model){.text = text, .file = "chain.mo"}, &problem, &diag) !=
            DAE_OK ||
        dae_fit(problem, &request, &result, &diag) != DAE_OK ||
        dae_fit_curves(problem, &request, result->values, &data, curve, &diag) != DAE_OK) {
        fprintf(stderr, "%s\n", diag.text);
        dae_fit_result_free(result);
        dae_problem_free(problem);
        return 1;
    }
    for (int k = 0; k < result->count; k++)
        printf("%s = %.4f +- %.4f\n", parameters[k].name, result->values[k], result->errors[k]);
    printf("%s, sigma %.2g\n", result->end == DAE_FIT_CONVERGED ? "converged" : result->text,
           result->sigma);
    for (int i = 0; i < ROWS; i++)
        printf("t = %.1f  B = %.4f  measured %.3f\n", times[i], curve[i], measured[i]);
    dae_fit_result_free(result);
    dae_problem_free(problem);
    return 0;
}
