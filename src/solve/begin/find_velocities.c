/* Methods on the second order form: rows that the user promised, found at a point. */
#include "base/diag.h"
#include "base/memory.h"
#include "matrix/kinematic.h"
#include "solve/begin/begin_parts.h"
#include "solve/explain/explain.h"

static dae_status explain_none(dae_solver *s)
{
    if (solver_rewritten(s) && s->base->kinematic_count > 0)
        return diag_set(&s->diag, DAE_ERR_UNSUPPORTED,
                        "Method %s is for equations of second order, but formulation %s leaves "
                        "none that says that one unknown is the derivative of another. Choose "
                        "another formulation, such as index3 or ggl2, or a method for first "
                        "order, such as bdf.",
                        s->bound.method->name, s->wishes.formulation->name);
    return diag_set(&s->diag, DAE_ERR_UNSUPPORTED,
                    "Method %s is for equations of second order, but of the %s no equation is "
                    "known to say that one unknown is the derivative of another. %s method for "
                    "first order, such as bdf.",
                    s->bound.method->name, s->hybrid ? "model" : "problem",
                    s->hybrid ? "Use a"
                              : "Say so by `velocity`, give the callbacks to "
                                "dae_problem_from_mechanical, or use a");
}

static dae_status explain_missing(dae_solver *s, double t, const kinematic_row *row)
{
    const char *velocity = problem_variable(s->bound.problem, row->velocity);
    diag_variable(&s->diag, row->unknown, problem_variable(s->bound.problem, row->unknown));
    s->diag.t = t;
    return diag_set(&s->diag, DAE_ERR_ARGUMENT,
                    "velocity[%d] = %d says that %s is the derivative of %s, but no equation is a "
                    "constant times %s' - %s.",
                    row->unknown, row->velocity, velocity, s->diag.variable_name,
                    s->diag.variable_name, velocity);
}

static dae_status out_of_memory(dae_solver *s)
{
    return diag_set(&s->diag, DAE_ERR_MEMORY, "Out of memory for %d variables.", s->bound.n);
}

dae_status second_find(dae_solver *s, double t)
{
    int count, missing = -1;
    const kinematic_row *said = second_rows_of(&s->bound, &count);
    if (s->bound.context.second) return DAE_OK;
    if (count == 0) return explain_none(s);
    kinematic_row *rows = dae_copy(said, (size_t)count, sizeof *rows);
    if (!rows) return out_of_memory(s);
    eval_status eval =
        kinematic_find(&s->bound.eval, t, s->bound.y, s->bound.yp, count, rows, &missing);
    dae_status status = DAE_OK;
    if (eval == EVAL_MEMORY)
        status = out_of_memory(s);
    else if (eval != EVAL_OK)
        status = explain_evaluation(s, eval);
    else if (missing >= 0)
        status = explain_missing(s, t, &rows[missing]);
    else
        status = second_order_build(&s->bound, count, rows, &s->diag);
    dae_free(rows);
    return status;
}
