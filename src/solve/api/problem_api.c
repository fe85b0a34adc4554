/* The end of a problem, with the model or the callbacks behind it. */
#include "forms/forms.h"
#include "model/model.h"

void dae_problem_free(dae_problem *problem)
{
    if (!problem) return;
    dae_problem_free(problem->simplified);
    model_form_free(problem->model);
    form_source_free(problem->forms);
    problem_release(problem);
}
