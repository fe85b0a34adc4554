/* Accuracy at and between the ends of steps: every method on a form other than the residual one,
 * every model with a known solution, every tolerance. Arguments: [CASE [METHOD [RTOL]]]. */
#include "accuracy_models.h"

static bool on_other_forms(int i)
{
    return strcmp(dae_method_at(i).forms, "residual") != 0;
}

static void case_holds(void **state)
{
    judge_case(*state, on_other_forms);
}

int main(int argc, char **argv)
{
    choose(argc, argv);
    may_give_up = true;
    return run_accuracy_cases(ACCURACY_CASES, accuracy_cases);
}
