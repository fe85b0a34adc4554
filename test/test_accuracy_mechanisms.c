/* Accuracy at and between the ends of steps of methods on forms other than the residual one, on
 * mechanisms. Arguments: [CASE [METHOD [RTOL]]]. */
#include "accuracy_mechanisms.h"

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
    stiff_prepare();
    return run_accuracy_cases(MECHANISM_CASES, mechanism_cases);
}
