/* Opening and closing a judge. */
#include "judge/judge.h"

#include "base/diag.h"
#include "base/memory.h"

struct judge {
    int nothing;
};

dae_status judge_open(const char *text, size_t length, const char *file,
                      const judge_override *overrides, size_t override_count, judge **out,
                      dae_diag *diag)
{
    (void)text, (void)length, (void)file, (void)overrides, (void)override_count;
    *out = NULL;
    return diag_set(diag, DAE_ERR_UNSUPPORTED, "the interpreter is not complete yet");
}

void judge_free(judge *j)
{
    dae_free(j);
}

#define EMPTY_LIST(function, type)                                                                 \
    size_t function(const judge *j, const type **list)                                             \
    {                                                                                              \
        (void)j;                                                                                   \
        *list = NULL;                                                                              \
        return 0;                                                                                  \
    }
EMPTY_LIST(judge_variables, judge_variable)
EMPTY_LIST(judge_derivatives, judge_derivative)
EMPTY_LIST(judge_equations, judge_equation)
EMPTY_LIST(judge_whens, judge_when)
EMPTY_LIST(judge_samples, judge_sample)
EMPTY_LIST(judge_gaps, judge_gap)

size_t judge_groups(const judge *j)
{
    (void)j;
    return 0;
}

int judge_find(const judge *j, const char *name)
{
    (void)j, (void)name;
    return -1;
}

dae_status judge_evaluate(judge *j, const judge_point *point, const judge_result **result)
{
    (void)j, (void)point;
    *result = NULL;
    return DAE_ERR_UNSUPPORTED;
}

dae_status judge_evaluate_group(judge *j, const judge_point *point, int group,
                                const judge_result **result)
{
    (void)group;
    return judge_evaluate(j, point, result);
}

dae_status judge_reads(judge *j, const judge_point *point, int group, const int **variables,
                       size_t *variable_count, const int **derivatives, size_t *derivative_count)
{
    (void)j, (void)point, (void)group;
    *variables = *derivatives = NULL;
    *variable_count = *derivative_count = 0;
    return DAE_ERR_UNSUPPORTED;
}

void judge_start_values(const judge *j, double *values)
{
    (void)j, (void)values;
}

dae_status judge_function(judge *j, const char *expression, const judge_point *point,
                          double *values, size_t capacity, size_t *count, dae_diag *diag)
{
    (void)j, (void)expression, (void)point, (void)values, (void)capacity;
    *count = 0;
    return diag_set(diag, DAE_ERR_UNSUPPORTED, "the interpreter is not complete yet");
}

dae_status judge_breaks(judge *j, double t0, double t1, double tolerance, size_t most,
                        double *times, size_t *count)
{
    (void)j, (void)t0, (void)t1, (void)tolerance, (void)most, (void)times;
    *count = 0;
    return DAE_ERR_UNSUPPORTED;
}
