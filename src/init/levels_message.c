/* Failures of the level engine in words. */
#include "base/diag.h"
#include "base/text.h"
#include "init/levels_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double TINY = 1e-6; /* values below this part of their scale read as 0 */
enum { LISTED = 6, NAME = 160 };

static const char *variable_name(const level_system *s, int j, char *buffer)
{
    const char *name = s->variable_names ? s->variable_names[j] : NULL;
    if (name)
        snprintf(buffer, NAME, "%s", name);
    else
        snprintf(buffer, NAME, "u[%d]", j);
    return buffer;
}

/* The name, with the line unless the name tells it already. */
static const char *equation_name(const level_system *s, int i, char *buffer)
{
    const char *name = s->equation_names ? s->equation_names[i] : NULL;
    int line = s->equation_lines ? s->equation_lines[i] : 0;
    char mark[32];
    snprintf(mark, sizeof mark, ":%d", line);
    if (!name)
        snprintf(buffer, NAME, "R[%d]", i);
    else if (line > 0 && !strstr(name, mark))
        snprintf(buffer, NAME, "%.*s (line %d)", NAME - 24, name, line);
    else
        snprintf(buffer, NAME, "%s", name);
    return buffer;
}

static void name_culprits(const level_system *s, int equation, int variable, dae_diag *diag)
{
    char name[NAME];
    if (!diag) return;
    if (equation >= 0) {
        diag_equation(diag, equation, equation_name(s, equation, name));
        diag->line = s->equation_lines ? s->equation_lines[equation] : 0;
    }
    if (variable >= 0) diag_variable(diag, variable, variable_name(s, variable, name));
}

/* "x = 0.5, y = 3" of up to three unknowns of an equation */
static void append_unknowns(const level_work *work, int equation, dae_diag *diag)
{
    const level_system *s = work->system;
    char name[NAME];
    text_list list = text_list_in(diag, 3);
    for (int j = 0; j < s->n && list.count < list.most; j++)
        for (int e = s->colptr[j]; e < s->colptr[j + 1]; e++) {
            if (s->rowind[e] != equation) continue;
            if (list.count == 0) diag_append(diag, " at ");
            text_list_add(&list, "%s = %.6g", variable_name(s, j, name),
                          fabs(work->u[j]) < TINY * work->request->scale[j] ? 0.0 : work->u[j]);
            break;
        }
}

static dae_status undefined_message(const level_work *work, dae_diag *diag)
{
    const level_system *s = work->system;
    const int row = work->failed_row, column = work->failed_column;
    char equation[NAME], variable[NAME];
    name_culprits(s, row, column, diag);
    if (row < 0)
        return diag_set(diag, DAE_ERR_EVALUATION,
                        "The equations cannot be evaluated at the start values. Give start values "
                        "where they are defined.");
    equation_name(s, row, equation);
    if (column >= 0)
        diag_set(diag, DAE_ERR_EVALUATION, "The derivative of %s with respect to %s is not finite",
                 equation, variable_name(s, column, variable));
    else
        diag_set(diag, DAE_ERR_EVALUATION, "%s cannot be evaluated: it gives %g", equation,
                 work->r[row]);
    append_unknowns(work, row, diag);
    diag_append(diag, ". Give start values where it is defined.");
    return DAE_ERR_EVALUATION;
}

/* The equations that are farthest from being met: work->r and work->size are known. */
static dae_status worst_message(const level_work *work, dae_diag *diag)
{
    const level_system *s = work->system;
    char name[NAME];
    double above = INFINITY;
    diag_set(diag, DAE_ERR_INITIAL, "No consistent initial values were found. Worst are");
    for (int k = 0; k < LISTED; k++) {
        int worst = -1;
        double most = 0.0;
        for (int i = 0; i < s->m; i++) {
            double misfit = fabs(work->r[i]) / (work->size[i] > 0.0 ? work->size[i] : 1.0);
            if (!(misfit > most && misfit < above)) continue;
            worst = i;
            most = misfit;
        }
        if (worst < 0) break;
        if (k == 0) name_culprits(s, worst, -1, diag);
        diag_append(diag, "%s %s (off by %.3g)", k > 0 ? "," : "", equation_name(s, worst, name),
                    fabs(work->r[worst]));
        above = most;
    }
    diag_append(diag, ". Give better start values, or fix fewer.");
    return DAE_ERR_INITIAL;
}

dae_status level_failure(const level_work *work, engine_outcome outcome, dae_diag *diag)
{
    switch (outcome) {
    case ENGINE_MET: return DAE_OK;
    case ENGINE_MEMORY: return diag_set(diag, DAE_ERR_MEMORY, "Memory is exhausted.");
    case ENGINE_STOP:
        return diag_set(diag, DAE_ERR_CALLBACK,
                        "A callback asked to stop while initial values were computed.");
    case ENGINE_UNDEFINED: return undefined_message(work, diag);
    case ENGINE_SINGULAR:
    case ENGINE_LINEAR:
    case ENGINE_STALLED: break;
    }
    return worst_message(work, diag);
}

/* "equation 3 (line 7) misses by 0.25, ..": work->r holds the residuals */
static void append_equations(const level_work *work, const level_report *report, dae_diag *diag)
{
    char name[NAME];
    text_list list = text_list_in(diag, LISTED);
    diag_append(diag, " ");
    for (int k = 0; k < report->equation_count; k++) {
        int i = report->equation[k];
        text_list_add(&list, "%s", equation_name(work->system, i, name));
        if (work->r[i] != 0.0) text_list_more(&list, " (off by %.3g)", fabs(work->r[i]));
    }
    text_list_end(&list);
}

/* "; x = 0.5 (fixed), y = 0.5 (fixed)" */
static void append_fixed(const level_work *work, const level_report *report, dae_diag *diag)
{
    char name[NAME];
    text_list list = text_list_in(diag, LISTED);
    if (report->fixed_count > 0) diag_append(diag, "; ");
    for (int k = 0; k < report->fixed_count; k++) {
        int j = report->fixed[k];
        text_list_add(&list, "%s = %.9g (fixed)", variable_name(work->system, j, name),
                      work->request->given[j]);
    }
    text_list_end(&list);
    if (list.count > list.most) diag_append(diag, " fixed values");
}

/* What each fixed value would become if it alone were free. */
static void append_choices(const level_work *work, const level_report *report,
                           const double *instead, dae_diag *diag)
{
    char name[NAME];
    diag_append(diag, ". Free one of them (remove fixed = true):");
    for (int k = 0; k < report->fixed_count && k < LISTED; k++) {
        variable_name(work->system, report->fixed[k], name);
        if (isfinite(instead[k]))
            diag_append(diag, "%s %s would become %.9g", k > 0 ? "," : "", name, instead[k]);
        else
            diag_append(diag, "%s %s", k > 0 ? "," : "", name);
    }
    diag_append(diag, ".");
}

/* One equation that nothing else stands against. */
static dae_status lonely_message(const level_work *work, int equation, dae_diag *diag)
{
    char name[NAME];
    diag_set(diag, DAE_ERR_INITIAL,
             "%s has no solution near the start values: it stays off by %.3g at best",
             equation_name(work->system, equation, name), fabs(work->r[equation]));
    append_unknowns(work, equation, diag);
    diag_append(diag, ". Correct the equation or its parameters, or start elsewhere.");
    return DAE_ERR_INITIAL;
}

dae_status level_conflict_message(const level_work *work, const level_report *report,
                                  const double *instead, dae_diag *diag)
{
    const int equations = report->equation_count, fixed = report->fixed_count;
    name_culprits(work->system, equations > 0 ? report->equation[0] : -1,
                  fixed > 0 ? report->fixed[0] : -1, diag);
    if (diag) diag->value = report->residual;
    if (equations == 1 && fixed == 0) return lonely_message(work, report->equation[0], diag);
    diag_set(diag, DAE_ERR_INITIAL, "%s cannot hold together:",
             fixed > 0 ? "The fixed values contradict the equations. These"
                       : "The equations contradict each other near the start values. These");
    append_equations(work, report, diag);
    append_fixed(work, report, diag);
    if (fixed > 0)
        append_choices(work, report, instead, diag);
    else
        diag_append(diag, ". Remove or correct one of them, or start elsewhere.");
    return DAE_ERR_INITIAL;
}
