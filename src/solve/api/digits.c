/* Values with all digits of the precision that a run has. */
#include <ctype.h>

#include "base/diag.h"
#include "base/memory.h"
#include "solve/run/run.h"

/* Whether a value has digits: it is neither infinite nor nan. */
static bool is_finite_text(const char *text)
{
    return isdigit((unsigned char)text[*text == '-']);
}

/* Values in double, where there is nothing better; `gaps`: of those alone that are not finite. They
 * are told, and of an output at an event the relations are taken as they stand. */
static dae_status plain_digits(dae_solver *s, double t, char *text, bool gaps)
{
    int count = dae_problem_variable_count(s->base);
    double *values = DAE_ARRAY(double, count);
    dae_status status = values ? dae_solver_variables(s, t, values)
                               : diag_set(&s->diag, DAE_ERR_MEMORY, "Out of memory for digits.");
    for (int k = 0; status == DAE_OK && k < count; k++) {
        char *to = text + (size_t)k * DAE_DIGITS_SIZE;
        if (gaps && is_finite_text(to)) continue;
        decimal_text_double(values[k], to, DAE_DIGITS_SIZE);
    }
    dae_free(values);
    return status;
}

static bool has_gaps(const dae_solver *s, const char *text)
{
    for (int k = 0; k < dae_problem_variable_count(s->base); k++)
        if (!is_finite_text(text + (size_t)k * DAE_DIGITS_SIZE)) return true;
    return false;
}

dae_status dae_solver_digits(dae_solver *s, double t, char *text)
{
    if (!s || !text) return DAE_ERR_ARGUMENT;
    dae_status status = solver_check_point(s, t, "dae_solver_digits");
    if (status != DAE_OK) return status;
    model_series *series = is_formulated(s) ? s->modes->current->series : NULL;
    if (!series || s->run.phase == PHASE_READY) return plain_digits(s, t, text, false);
    size_t bytes = (size_t)s->bound.n * precision_size(s->bound.options.precision);
    char *y = dae_calloc(2, bytes);
    if (!y) return diag_set(&s->diag, DAE_ERR_MEMORY, "Out of memory for digits.");
    s->bound.method->precise(s->bound.state, &s->bound.context, t, 0, y);
    s->bound.method->precise(s->bound.state, &s->bound.context, t, 1, y + bytes);
    model_series_digits(series, t, y, y + bytes, text);
    dae_free(y);
    return has_gaps(s, text) ? plain_digits(s, t, text, true) : DAE_OK;
}
