/* Failures in words: which equations are not met, by how much, and what to try. */
#include <stdio.h>

#include "base/diag.h"
#include "base/text.h"
#include "base/vector.h"
#include "init/workspace.h"
#include "model/model.h"

typedef char name_text[DAE_NAME_SIZE + 24];

/* The name, or "y[3]" */
static void write_name(const char *name, const char *letter, int i, name_text text)
{
    if (name)
        snprintf(text, sizeof(name_text), "%s", name);
    else
        snprintf(text, sizeof(name_text), "%s[%d]", letter, i);
}

static void variable_text(const initializer *init, int j, name_text text)
{
    write_name(problem_variable(init->eval->problem, j), "y", j, text);
}

static void equation_text(const initializer *init, int i, name_text text)
{
    write_name(problem_equation(init->eval->problem, i), "F", i, text);
}

/* Whether the equations come from a text, whose writer knows of no callbacks and options. */
static bool from_text(const initializer *init)
{
    return init->eval->instance != NULL;
}

/* Condition k: an initial equation of a model, or one of the user's B. */
static void condition_text(const initializer *init, int k, name_text text)
{
    const model_form *f = init->eval->problem->model;
    if (!f || (size_t)k >= f->condition_count) {
        snprintf(text, sizeof(name_text), "condition B[%d]", k);
        return;
    }
    const flat_equation *q = &f->flat->initial_equations[k];
    snprintf(text, sizeof(name_text), "the initial equation at %.*s:%d", DAE_NAME_SIZE / 2,
             f->flat->file ? f->flat->file : f->flat->name, q->place.line);
}

/* Row of a general system: an equation, its derivative, or a condition. */
static void row_text(const initializer *init, const general_task *task, int i, name_text text)
{
    int n = init->n, first = task && task->differentiate ? 2 * n : n;
    if (i >= first) {
        condition_text(init, i - first, text);
    } else if (i >= n) {
        name_text name;
        equation_text(init, i - n, name);
        snprintf(text, sizeof(name_text), "d/dt %.*s", DAE_NAME_SIZE, name);
    } else {
        equation_text(init, i, text);
    }
}

/* Index of the largest misfit below `limit` in the order (misfit, index), or -1. */
static int next_largest(int rows, const double *misfit, int previous)
{
    int best = -1;
    for (int i = 0; i < rows; i++) {
        bool later = previous < 0 || misfit[i] < misfit[previous] ||
                     (misfit[i] == misfit[previous] && i > previous);
        if (later && (best < 0 || misfit[i] > misfit[best])) best = i;
    }
    return best;
}

/* "eq (residual 3e-1, 3e5 tolerance units of x), .." for up to REPORTED rows above `least` */
static void list_rows(const initializer *init, const general_task *task, int rows,
                      const double *misfit, const double *residual, const int *variable,
                      double least, dae_diag *diag)
{
    int i = -1;
    text_list list = text_list_in(diag, REPORTED);
    diag_append(diag, " ");
    for (int k = 0; k < REPORTED; k++) {
        i = next_largest(rows, misfit, i);
        if (i < 0 || (k > 0 && !(misfit[i] > least))) break;
        name_text row, name;
        row_text(init, task, i, row);
        text_list_add(&list, "%s (residual %.2e", row, residual[i]);
        if (variable && variable[i] >= 0) {
            variable_text(init, variable[i], name);
            diag_append(diag, ", %.1e tolerance units of %s)", misfit[i], name);
        } else {
            diag_append(diag, ")");
        }
    }
    diag_append(diag, ".");
}

/* The worst row fills the fields of the diagnostic. */
static void name_worst(const initializer *init, const general_task *task, int rows,
                       const double *misfit, const double *residual, const int *variable,
                       dae_diag *diag)
{
    int worst = next_largest(rows, misfit, -1), n = init->n;
    if (!diag || worst < 0) return;
    diag->value = residual[worst];
    bool is_condition = worst >= (task && task->differentiate ? 2 * n : n);
    const model_form *f = init->eval->problem->model;
    if (is_condition && f)
        diag->line =
            f->flat->initial_equations[worst - (rows - (int)f->condition_count)].place.line;
    if (!is_condition)
        diag_equation(diag, worst % n, problem_equation(init->eval->problem, worst % n));
    if (variable && variable[worst] >= 0)
        diag_variable(diag, variable[worst],
                      problem_variable(init->eval->problem, variable[worst]));
}

static void mention_bound(const initializer *init, dae_diag *diag)
{
    if (init->blocking < 0) return;
    name_text name;
    variable_text(init, init->blocking, name);
    diag_append(diag, " A bound of %s stood in the way.", name);
}

dae_status report_memory(dae_diag *diag)
{
    return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for consistent initial values.");
}

dae_status report_outside(const initializer *init, int variable, dae_diag *diag)
{
    const double t = init->call->t, *y = init->call->y;
    if (!diag) return DAE_ERR_INITIAL;
    name_text name;
    variable_text(init, variable, name);
    diag->t = t;
    diag->value = y[variable];
    diag_variable(diag, variable, problem_variable(init->eval->problem, variable));
    return diag_set(diag, DAE_ERR_INITIAL,
                    "The initial value %s = %.6g at t = %.6g violates its bound. Start inside the "
                    "bounds, or check them.",
                    name, y[variable], t);
}

/* |F_i| in tolerance units, or as it is where no matrix is stored; into init->fnew. */
static void newton_misfits(const initializer *init)
{
    for (int i = 0; i < init->n; i++) {
        double unit = init->rows.known ? init->rows.unit[i] : 1.0;
        init->fnew[i] = unit > 0.0 ? fabs(init->f[i]) / unit : (init->f[i] != 0.0 ? INFINITY : 0.0);
    }
}

/* Where the matrix of the last iterate is singular, and what to do about it. */
static void tell_singular(const initializer *init, dae_diag *diag)
{
    name_text name = "";
    const int variable = init->singular_variable;
    if (variable >= 0) variable_text(init, variable, name);
    if (variable >= 0)
        diag_variable(diag, variable, problem_variable(init->eval->problem, variable));
    diag_append(diag,
                " The matrix is singular%s%s: the equations do not determine it as they "
                "stand. %s",
                name[0] ? " at " : "", name,
                from_text(init)
                    ? "Try another start value for it, or an initial equation."
                    : "Try another guess, check the variables' kinds, tag values for init = "
                      "general, or reduce an index above 1.");
}

dae_status report_newton(const initializer *init, engine_outcome status, dae_diag *diag)
{
    const double t = init->call->t;
    if (status == ENGINE_MEMORY) return report_memory(diag);
    if (status == ENGINE_STOP) return evaluator_report(init->eval, EVAL_STOP, diag);
    if (status == ENGINE_UNDEFINED) return evaluator_report(init->eval, EVAL_RETRY, diag);
    if (!diag) return DAE_ERR_INITIAL;
    diag->t = t;
    diag->h = init->call->h;
    newton_misfits(init);
    const int *variable = init->rows.known ? init->rows.variable : NULL;
    name_worst(init, NULL, init->n, init->fnew, init->f, variable, diag);
    diag_set(diag, DAE_ERR_INITIAL,
             "No consistent initial values at t = %.6g: after %d Newton iterations these equations "
             "are not met:",
             t, init->tried);
    list_rows(init, NULL, init->n, init->fnew, init->f, variable,
              init->rows.known ? init->options->init_tolerance : 0.0, diag);
    mention_bound(init, diag);
    if (status == ENGINE_SINGULAR) {
        tell_singular(init, diag);
    } else if (status == ENGINE_LINEAR) {
        diag_append(diag, " GMRES made no progress on the linear system. Tell the variables' kinds "
                          "(algebraic ones cannot be recognised without a matrix), or give a "
                          "better preconditioner.");
    } else if (from_text(init)) {
        diag_append(diag, " Try better start values for the variables in them.");
    } else {
        diag_append(diag, " Try better guesses for these variables, bounds that keep the iteration "
                          "where the equations make sense, or init = general with tags.");
    }
    return DAE_ERR_INITIAL;
}

dae_status report_moved(const initializer *init, int j, double found, dae_diag *diag)
{
    const double t = init->call->t;
    if (!diag) return DAE_ERR_INITIAL;
    name_text name;
    variable_text(init, j, name);
    diag->t = t;
    diag->value = found;
    return diag_set(diag, DAE_ERR_INITIAL,
                    "The fixed value %.9g of %s at t = %.9g contradicts the equations, which give "
                    "it the value %.9g. Free it, or another one.",
                    init->call->y[j], name, t, found);
}

/* "Fixed are x, y." for up to REPORTED variables */
static void list_fixed(const initializer *init, dae_diag *diag)
{
    const dae_tag *tags = init->options->y_tags;
    text_list list = text_list_in(diag, REPORTED);
    for (int j = 0; tags && j < init->n; j++) {
        if (tags[j] != DAE_TAG_FIXED) continue;
        name_text name;
        variable_text(init, j, name);
        if (list.count == 0) diag_append(diag, " Fixed: ");
        text_list_add(&list, "%s", name);
    }
    text_list_end(&list);
    if (list.count) diag_append(diag, ".");
}

static const char *conflict_text(const initializer *init)
{
    bool asked = init->options->y_tags || init->eval->problem->form.condition_count > 0;
    if (!from_text(init)) return "the values given contradict the equations; not met:";
    return asked ? "fixed values and initial equations contradict the equations; not met:"
                 : "with the start values of the states these equations cannot be met:";
}

dae_status report_general(const initializer *init, const general_task *task, const double *misfit,
                          const double *residual, const int *variable, dae_diag *diag)
{
    const double t = init->call->t;
    if (!diag) return DAE_ERR_INITIAL;
    int rows = (task->differentiate ? 2 : 1) * init->n +
               (task->conditions ? init->eval->problem->form.condition_count : 0);
    bool conflict = init->conflict;
    diag->t = t;
    diag->h = init->call->h;
    name_worst(init, task, rows, misfit, residual, variable, diag);
    diag_set(diag, DAE_ERR_INITIAL,
             "No consistent initial values at t = %.6g, after %d iterations: %s", t, init->tried,
             conflict ? conflict_text(init) : "the iteration came to a halt; not met:");
    list_rows(init, task, rows, misfit, residual, variable, init->options->init_tolerance, diag);
    mention_bound(init, diag);
    if (from_text(init)) {
        if (conflict) list_fixed(init, diag);
        diag_append(diag, conflict ? " Leave out an initial equation or a fixed = true that has to "
                                     "do with them, or give other start values."
                                   : " Try better start values for the variables in them.");
        return DAE_ERR_INITIAL;
    }
    diag_append(diag, conflict ? " Fix fewer values or conditions, or correct those that these "
                                 "equations involve (d/dt marks a hidden constraint, found by "
                                 "differentiating an equation once; index above 2 is not covered)."
                               : " Try better guesses, or bounds that keep the iteration where the "
                                 "equations make sense.");
    return DAE_ERR_INITIAL;
}
