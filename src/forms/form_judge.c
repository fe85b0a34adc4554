/* What callbacks returned, judged: codes, values that are not finite, a mass matrix without
 * inverse.
 */
#include <math.h>

#include "base/vector.h"
#include "forms/form_parts.h"

void form_matrix_locate(const form_matrix *m, size_t k, int *row, int *column)
{
    if (!m->colptr) {
        *row = (int)(k % (size_t)m->rows);
        *column = (int)(k / (size_t)m->rows);
        return;
    }
    int j = 0;
    while ((size_t)m->colptr[j + 1] <= k) j++;
    *row = m->rowind[k];
    *column = j;
}

eval_status form_judge(form_instance *x, const char *callback, double t, int code, size_t count,
                       const double *values, int first_row, const form_matrix *m)
{
    eval_failure *failure = &x->eval->failure;
    if (code == 0 && vector_finite((int)count, values)) return EVAL_OK;
    eval_status status = evaluator_failed(
        x->eval, (eval_failure){
                     .callback = callback, .code = code, .component = -1, .variable = -1, .t = t});
    if (code != 0) return status;
    int k = vector_first_nonfinite((int)count, values);
    failure->value = isnan(values[k]) ? NAN : values[k];
    failure->component = first_row + k;
    if (m) {
        int row;
        form_matrix_locate(m, (size_t)k, &row, &failure->variable);
        failure->component = first_row + row;
    }
    failure->equation = x->source->equation_names[failure->component];
    return EVAL_RETRY;
}

eval_status form_singular(form_instance *x, double t)
{
    const linear_solver *mass = x->mw.mass.solver;
    int column = mass ? mass->singular_column : -1;
    x->eval->failure = (eval_failure){.callback = "mass",
                                      .component = -1,
                                      .variable = column,
                                      .singular = true,
                                      .t = t,
                                      .value = INFINITY};
    return EVAL_RETRY;
}
