/* Accuracy at and between the ends of steps: every method on the residual form, every model with a
 * known solution, every tolerance. Arguments: [CASE [METHOD [RTOL]]] for a table. */
#include "accuracy_models.h"

static bool on_residual_form(int i)
{
    return strcmp(dae_method_at(i).forms, "residual") == 0;
}

static void case_holds(void **state)
{
    judge_case(*state, on_residual_form);
}

int main(int argc, char **argv)
{
    choose(argc, argv);
    return run_accuracy_cases(ACCURACY_CASES, accuracy_cases);
}
