/* The second order form for methods that work on it: which unknowns have velocities, and where. */
#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"
#include "matrix/kinematic.h"
#include "solve/bind/solver.h"

bool solver_second_order(const dae_solver *s)
{
    return (s->bound.method->forms & FORM_SECOND_ORDER) != 0 && !solver_uses_forms(s);
}

void second_release(dae_solver *s)
{
    refine_free(s); /* made for the same velocities */
    second_order_free(&s->bound.second);
    s->bound.context.second = NULL;
}

static dae_status out_of_memory(const dae_solver *s, dae_diag *diag)
{
    return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for %d variables.", s->bound.n);
}

static dae_status build(dae_solver *s, const kinematic_row *rows, dae_diag *diag)
{
    second_release(s);
    if (!second_order_new(&s->bound.second, s->bound.n, s->bound.problem->kinematic_count, rows))
        return out_of_memory(s, diag);
    s->bound.context.second = &s->bound.second;
    return DAE_OK;
}

/* Rows that the user promised are known once there is a point to look at F. */
static bool rows_known(const dae_problem *p)
{
    for (int k = 0; k < p->kinematic_count; k++)
        if (p->kinematic[k].row < 0) return false;
    return p->kinematic_count > 0;
}

dae_status second_bind(dae_solver *s, dae_diag *diag)
{
    second_release(s);
    bool now = solver_second_order(s) && rows_known(s->bound.problem);
    return now ? build(s, s->bound.problem->kinematic, diag) : DAE_OK;
}

static dae_status explain_none(dae_solver *s)
{
    if (solver_rewritten(s) && s->base->kinematic_count > 0)
        return diag_set(&s->diag, DAE_ERR_UNSUPPORTED,
                        "Method %s is for equations of second order, but formulation %s leaves "
                        "none that says that one unknown is the derivative of another. Choose "
                        "another formulation, such as index3 or ggl2, or a method for first "
                        "order, such as bdf.",
                        s->bound.method->name, s->formulation->name);
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

dae_status second_find(dae_solver *s, double t)
{
    const dae_problem *p = s->bound.problem;
    if (!solver_second_order(s) || s->bound.context.second) return DAE_OK;
    if (p->kinematic_count == 0) return explain_none(s);
    kinematic_row *rows = dae_copy(p->kinematic, (size_t)p->kinematic_count, sizeof *rows);
    if (!rows) return out_of_memory(s, &s->diag);
    int missing = -1;
    eval_status eval = kinematic_find(&s->bound.eval, t, s->bound.y, s->bound.yp,
                                      p->kinematic_count, rows, &missing);
    dae_status status = DAE_OK;
    if (eval == EVAL_MEMORY)
        status = out_of_memory(s, &s->diag);
    else if (eval != EVAL_OK)
        status = explain_evaluation(s, eval);
    else if (missing >= 0)
        status = explain_missing(s, t, &rows[missing]);
    else
        status = build(s, rows, &s->diag);
    dae_free(rows);
    return status;
}
