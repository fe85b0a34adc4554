/* Values with all digits of the precision that a run has. */
#include "base/diag.h"
#include "base/memory.h"
#include "solve/solver.h"

/* Values in double, where there is nothing better. */
static dae_status plain_digits(dae_solver *s, double t, char *text)
{
    int count = dae_problem_variable_count(s->base);
    double *values = DAE_ARRAY(double, count);
    dae_status status = values ? dae_solver_variables(s, t, values)
                               : diag_set(&s->diag, DAE_ERR_MEMORY, "Out of memory for digits.");
    for (int k = 0; status == DAE_OK && k < count; k++)
        decimal_text_double(values[k], text + (size_t)k * DAE_DIGITS_SIZE, DAE_DIGITS_SIZE);
    dae_free(values);
    return status;
}

dae_status dae_solver_digits(dae_solver *s, double t, char *text)
{
    if (!s || !text) return DAE_ERR_ARGUMENT;
    dae_status status = solver_check_point(s, t, "dae_solver_digits");
    if (status != DAE_OK) return status;
    model_series *series = reform_active(s) ? s->reform->current->series : NULL;
    if (!series || s->phase == PHASE_POISED) return plain_digits(s, t, text);
    size_t bytes = (size_t)s->n * precision_size(s->options.precision);
    char *y = dae_calloc(2, bytes);
    if (!y) return diag_set(&s->diag, DAE_ERR_MEMORY, "Out of memory for digits.");
    s->method->precise(s->state, &s->context, t, 0, y);
    s->method->precise(s->state, &s->context, t, 1, y + bytes);
    model_series_digits(series, t, y, y + bytes, text);
    dae_free(y);
    return DAE_OK;
}
