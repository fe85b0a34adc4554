#include "system/model_structure.h"

#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"

/* So many equations, variables and parts are named; the others are counted. */
enum { MOST_NAMES = 8, MOST_PARTS = 6, MOST_TOLD = 3 };

/* Names without a comment tell their place already. */
char *flat_equation_name(const flat_model *m, const flat_equation *q)
{
    const char *name = q->name ? q->name : "equation";
    if (strncmp(name, "equation ", 9) == 0 && strchr(name, ':')) return dae_strdup(name);
    char text[512];
    snprintf(text, sizeof text, "%.250s (%.200s:%d)", name, m->file ? m->file : m->name,
             q->place.line);
    return dae_strdup(text);
}

/* ---- parts ---- */

/* Columns of the signature := continuous variables, in their order. */
static bool number_columns(flat_parts *parts, const flat_model *m, signature *s)
{
    int *column = DAE_ARRAY(int, m->variable_count);
    parts->variable = DAE_ARRAY(int, m->variable_count);
    bool ok = column && parts->variable;
    for (size_t v = 0; ok && v < m->variable_count; v++) {
        if (m->variables[v].discrete) continue;
        column[v] = parts->unknowns;
        parts->variable[parts->unknowns++] = (int)v;
    }
    for (int k = 0; ok && k < s->start[s->m]; k++) s->column[k] = column[s->column[k]];
    s->n = parts->unknowns;
    dae_free(column);
    return ok;
}

bool flat_parts_find(flat_parts *parts, const flat_model *m)
{
    equation_set set = {0};
    signature s = {0};
    *parts = (flat_parts){0};
    bool ok = equation_set_new(&set, m->graph, (int)m->variable_count, (int)m->equation_count);
    for (size_t i = 0; ok && i < m->equation_count; i++)
        set.row[i].residual = m->equations[i].residual;
    ok = ok && signature_from_equations(&s, &set) && number_columns(parts, m, &s) &&
         signature_explain(&s, &parts->report);
    signature_free(&s);
    equation_set_free(&set);
    if (!ok) flat_parts_free(parts);
    return ok;
}

void flat_parts_free(flat_parts *parts)
{
    singular_report_free(&parts->report);
    dae_free(parts->variable);
    *parts = (flat_parts){0};
}

/* ---- in words ---- */

static const flat_variable *variable_of(const flat_model *m, const flat_parts *parts, int column)
{
    return &m->variables[parts->variable[column]];
}

/* "x, y and 3 more" */
static void list_unknowns(const flat_model *m, const flat_parts *parts, const singular_part *part,
                          const char *quote, char *text, size_t size)
{
    size_t at = 0;
    text[0] = '\0';
    for (int k = 0; k < part->columns && k < MOST_NAMES && at < size; k++)
        at += (size_t)snprintf(text + at, size - at, "%s%s%.60s%s", k ? ", " : "", quote,
                               variable_of(m, parts, part->column[k])->name, quote);
    if (part->columns > MOST_NAMES && at < size)
        snprintf(text + at, size - at, " and %d more", part->columns - MOST_NAMES);
}

/* ": equation 1 (a.mo:4), equation 2 (a.mo:5) and 3 more" */
static void append_equations(const flat_model *m, const singular_part *part, dae_diag *diag)
{
    for (int k = 0; k < part->rows && k < MOST_NAMES; k++) {
        char *name = flat_equation_name(m, &m->equations[part->row[k]]);
        diag_append(diag, "%s %s", k ? "," : "", name ? name : "?");
        dae_free(name);
    }
    if (part->rows > MOST_NAMES) diag_append(diag, " and %d more", part->rows - MOST_NAMES);
}

static const char *ending(int count)
{
    return count == 1 ? "" : "s";
}

static void append_part(const flat_model *m, const flat_parts *parts, const singular_part *part,
                        dae_diag *diag)
{
    char names[600];
    list_unknowns(m, parts, part, "", names, sizeof names);
    if (part->columns == 0) {
        diag_append(diag, " No unknown is in");
    } else if (part->rows == 0) {
        diag_append(diag, " No equation contains: %s", names);
    } else {
        diag_append(diag, " Too %s equations for: %s (%d equation%s for %d unknown%s):",
                    part->over ? "many" : "few", names, part->rows, ending(part->rows),
                    part->columns, ending(part->columns));
    }
    append_equations(m, part, diag);
    diag_append(diag, ".");
}

/* The culprit that the numbers in the diagnostic stand for: the last equation of the first part
 * that has too many, or else its first unknown. */
static void name_culprit(const flat_model *m, const flat_parts *parts, dae_diag *diag)
{
    const singular_part *part = &parts->report.part[0];
    for (int k = parts->report.count - 1; k >= 0; k--)
        if (parts->report.part[k].over) part = &parts->report.part[k];
    if (part->rows > 0) {
        int i = part->row[part->rows - 1];
        char *name = flat_equation_name(m, &m->equations[i]);
        diag_equation(diag, i, name ? name : "?");
        if (diag) diag->line = m->equations[i].place.line;
        dae_free(name);
    }
    if (part->columns > 0) {
        const flat_variable *v = variable_of(m, parts, part->column[0]);
        diag_variable(diag, part->column[0], v->name);
        if (diag && part->rows == 0) diag->line = v->place.line;
    }
}

static dae_status tell_parts(const flat_model *m, const flat_parts *parts, dae_diag *diag)
{
    const singular_report *r = &parts->report;
    diag_set(diag, DAE_ERR_MODEL, "Model %s is structurally singular", m->name);
    if ((int)m->equation_count != parts->unknowns)
        diag_append(diag, ", with %zu equation%s for %d unknown%s", m->equation_count,
                    ending((int)m->equation_count), parts->unknowns, ending(parts->unknowns));
    diag_append(diag, ".");
    for (int k = 0; k < r->count && k < MOST_TOLD; k++) append_part(m, parts, &r->part[k], diag);
    if (r->count > MOST_TOLD) diag_append(diag, " (And %d more such parts.)", r->count - MOST_TOLD);
    name_culprit(m, parts, diag);
    return DAE_ERR_MODEL;
}

/* ---- as messages ---- */

/* " (the model has 3 equations for 2 unknowns)", once */
static void count_text(const flat_model *m, const flat_parts *parts, bool first, char *text,
                       size_t size)
{
    text[0] = '\0';
    if (first && (int)m->equation_count != parts->unknowns)
        snprintf(text, size, "; the model has %zu equation%s for %d unknown%s", m->equation_count,
                 ending((int)m->equation_count), parts->unknowns, ending(parts->unknowns));
}

static void message_over(const flat_model *m, const flat_parts *parts, const singular_part *part,
                         const char *count, message_list *messages)
{
    char names[600];
    const flat_equation *last = &m->equations[part->row[part->rows - 1]];
    list_unknowns(m, parts, part, "'", names, sizeof names);
    if (part->columns == 0) {
        message_error(messages, last->place, "this equation contains no unknown%s", count);
        return;
    }
    message_error(messages, last->place, "too many equations: %d for %s %s%s", part->rows,
                  part->columns == 1 ? "the unknown" : "the unknowns", names, count);
    for (int k = 0; k + 1 < part->rows && k < MOST_NAMES; k++)
        message_note(messages, m->equations[part->row[k]].place, "together with this one");
    if (part->rows - 1 > MOST_NAMES)
        message_note(messages, last->place, "and with %d more", part->rows - 1 - MOST_NAMES);
}

static void message_under(const flat_model *m, const flat_parts *parts, const singular_part *part,
                          const char *count, message_list *messages)
{
    char names[600];
    const flat_variable *first = variable_of(m, parts, part->column[0]);
    list_unknowns(m, parts, part, "'", names, sizeof names);
    if (part->rows == 0) {
        message_error(messages, first->place, "no equation contains %s%s", names, count);
        return;
    }
    message_error(messages, first->place, "too few equations: %d for the unknowns %s%s", part->rows,
                  names, count);
    for (int k = 0; k < part->rows && k < MOST_NAMES; k++)
        message_note(messages, m->equations[part->row[k]].place,
                     part->rows == 1 ? "the only equation that is left for them"
                                     : "an equation that is left for them");
}

static void message_parts(const flat_model *m, const flat_parts *parts, message_list *messages)
{
    const singular_report *r = &parts->report;
    for (int k = 0; k < r->count && k < MOST_PARTS; k++) {
        char count[120];
        count_text(m, parts, k == 0, count, sizeof count);
        (r->part[k].over ? message_over : message_under)(m, parts, &r->part[k], count, messages);
    }
}

dae_status flat_structure_check(const flat_model *m, message_list *messages, dae_diag *diag)
{
    flat_parts parts;
    if (!flat_parts_find(&parts, m))
        return diag_set(diag, DAE_ERR_MEMORY, "Out of memory while checking the equations.");
    dae_status status = DAE_OK;
    if (parts.report.count > 0) {
        status = tell_parts(m, &parts, diag);
        if (messages) message_parts(m, &parts, messages);
    }
    flat_parts_free(&parts);
    return status;
}
