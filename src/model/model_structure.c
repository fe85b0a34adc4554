#include "model/model_structure.h"

#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/text.h"
#include "model/model_suspects.h"

/* So many equations, variables and parts are named; the others are counted. */
enum { MOST_NAMES = 8, MOST_PARTS = 6, MOST_REPORTED = 3 };

const char *flat_leaf_name(void *context, const expr_node *leaf)
{
    const flat_model *m = context;
    if (leaf->op == EXPR_VARIABLE) return m->variables[leaf->index].name;
    if (leaf->op == EXPR_PARAMETER) return m->parameters[leaf->index].name;
    for (size_t v = 0; leaf->op == EXPR_MEMORY && v < m->variable_count; v++)
        if (m->variables[v].discrete && m->variables[v].memory == leaf->index)
            return m->variables[v].name;
    return leaf->op == EXPR_MEMORY ? "(held)" : NULL;
}

/* "equation 4 (pendulum.mo:17)", or the comment in the place of the number. They are made where
 * they are wanted: a large model has as many of them as variables. */
char *flat_equation_name(const flat_model *m, const flat_equation *q)
{
    char text[512];
    /* those of motions say where they are from */
    if (q->name && strncmp(q->name, "equation ", 9) == 0 && strchr(q->name, ':'))
        return dae_strdup(q->name);
    size_t at = text_append(text, sizeof text, 0, q->name ? q->name : "equation ", 200);
    if (!q->name) at = text_append_number(text, sizeof text, at, (size_t)q->number);
    at = text_append(text, sizeof text, at, " (", 2);
    at = text_append(text, sizeof text, at, m->file ? m->file : m->name, q->name ? 150 : 300);
    text_append_place(text, sizeof text, at, q->place.line, q->pass);
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

bool flat_contents(signature *s, const flat_model *m)
{
    equation_set set = {0};
    bool ok = equation_set_new(&set, m->graph, (int)m->variable_count, (int)m->equation_count);
    for (size_t i = 0; ok && i < m->equation_count; i++)
        set.row[i].residual = m->equations[i].residual;
    ok = ok && signature_from_equations(s, &set);
    equation_set_free(&set);
    return ok;
}

bool flat_parts_find(flat_parts *parts, const flat_model *m)
{
    *parts = (flat_parts){0};
    signature *s = &parts->incidence;
    bool ok =
        flat_contents(s, m) && number_columns(parts, m, s) && signature_explain(s, &parts->report);
    if (!ok) flat_parts_free(parts);
    return ok;
}

/* What flat_contents() finds, from the parts. */
static void give_contents(flat_parts *parts, const flat_model *m, signature *contents)
{
    *contents = parts->incidence;
    contents->n = (int)m->variable_count;
    for (int k = 0; k < contents->start[contents->m]; k++)
        contents->column[k] = parts->variable[contents->column[k]];
    parts->incidence = (signature){0};
}

void flat_parts_free(flat_parts *parts)
{
    singular_report_free(&parts->report);
    dae_free(parts->variable);
    signature_free(&parts->incidence);
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
    text_list list = {.text = text, .size = size, .most = MOST_NAMES};
    text[0] = '\0';
    for (int k = 0; k < part->columns; k++)
        text_list_add(&list, "%s%.60s%s", quote, variable_of(m, parts, part->column[k])->name,
                      quote);
    text_list_end(&list);
}

/* ": equation 1 (a.mo:4), equation 2 (a.mo:5) and 3 more" */
static void append_equations(const flat_model *m, const singular_part *part, dae_diag *diag)
{
    text_list list = text_list_in(diag, MOST_NAMES);
    diag_append(diag, " ");
    for (int k = 0; k < part->rows; k++) {
        char *name = k < MOST_NAMES ? flat_equation_name(m, &m->equations[part->row[k]]) : NULL;
        text_list_add(&list, "%s", name ? name : "?");
        dae_free(name);
    }
    text_list_end(&list);
}

static const char *ending(int count)
{
    return count == 1 ? "" : "s";
}

/* "line 7 with i = 5" */
static void append_line(const flat_equation *q, const char *between, char *text, size_t size)
{
    text_add(text, size, "%s%d%s%.60s", between, q->place.line, q->pass ? " with " : "",
             q->pass ? q->pass : "");
}

/* "; it collides with line 5": what the part's equation to point at collides with. */
static void collision_text(const flat_model *m, const collision *c, char *text, size_t size)
{
    const expr_node *x = c->start ? graph_node(m->graph, m->equations[c->row].left) : NULL;
    text[0] = '\0';
    if (x)
        snprintf(text, size,
                 "; this is an equation for all times, a start value is "
                 "%.60s(start = .., fixed = true)",
                 m->variables[x->index].name);
    if (c->partner_count == 0) return;
    snprintf(text, size, "; %s%s",
             c->repeats     ? "this one repeats "
             : c->dependent ? "this one depends on "
                            : "this one collides with ",
             c->partner_count > 1 ? "lines " : "line ");
    text_list list = {.text = text, .size = size, .most = MOST_SUSPECTS, .total = c->partner_count};
    for (int k = 0; k < c->partner_count && k < MOST_SUSPECTS; k++) {
        const flat_equation *q = &m->equations[c->partner[k]];
        text_list_add(&list, "%d%s%.60s", q->place.line, q->pass ? " with " : "",
                      q->pass ? q->pass : "");
    }
    list.count = c->partner_count; /* the others are counted, not kept */
    text_list_end(&list);
    if (c->partner_count <= MOST_SUSPECTS && c->same)
        text_add(text, size, ", which contains the same unknowns");
}

/* "perhaps for 'i3', which only line 13 contains": unknowns that most likely lack an equation. */
static void lacking_text(const flat_model *m, const flat_parts *parts, const int *suspect,
                         int count, char *text, size_t size)
{
    int only = 0;
    text[0] = '\0';
    for (int k = 0; k < count; k++)
        text_add(text, size, "%s'%.60s'", k ? " or " : "perhaps for ",
                 variable_of(m, parts, suspect[k])->name);
    if (count == 1 && flat_occurrences(parts, suspect[0], &only) == 1)
        append_line(&m->equations[only], ", which only line ", text, size);
    if (count == 1 && strstr(text, "only line")) text_add(text, size, " contains");
}

/* "; parameter 'R3' (line 2) is used nowhere": perhaps by the equation that is missing. */
static bool unused_text(const flat_model *m, char *text, size_t size)
{
    int list[MOST_SUSPECTS], count = flat_unused_parameters(m, list, MOST_SUSPECTS);
    text[0] = '\0';
    if (count < 1 || count > MOST_SUSPECTS) return count >= 0;
    text_list names = {.text = text, .size = size, .most = MOST_SUSPECTS};
    text_add(text, size, "; parameter%s ", ending(count));
    for (int k = 0; k < count; k++)
        text_list_add(&names, "'%.60s' (line %d)", m->parameters[list[k]].name,
                      m->parameters[list[k]].place.line);
    text_add(text, size, " %s used nowhere", count > 1 ? "are" : "is");
    return true;
}

/* What is suspected in a part, in words. */
typedef struct suspicion {
    collision collides; /* too many equations */
    int lacking[MOST_SUSPECTS], lacking_count;
    char text[400], unused[300];
} suspicion;

static bool suspect(const flat_model *m, const flat_parts *parts, const singular_part *part,
                    suspicion *s)
{
    *s = (suspicion){0};
    if (part->over && !flat_collision(m, parts, part, &s->collides)) return false;
    if (part->over) collision_text(m, &s->collides, s->text, sizeof s->text);
    if (part->over) return true;
    bool ok = flat_lacking(m, parts, part, s->lacking, &s->lacking_count) &&
              unused_text(m, s->unused, sizeof s->unused);
    lacking_text(m, parts, s->lacking, s->lacking_count, s->text, sizeof s->text);
    return ok;
}

static void append_part(const flat_model *m, const flat_parts *parts, const singular_part *part,
                        dae_diag *diag)
{
    char names[600];
    suspicion s;
    list_unknowns(m, parts, part, "", names, sizeof names);
    if (!suspect(m, parts, part, &s)) s = (suspicion){0};
    if (part->columns == 0) {
        diag_append(diag, " No unknown is in");
    } else if (part->rows == 0) {
        diag_append(diag, " No equation contains: %s%s", names, s.unused);
    } else {
        diag_append(diag, " Too %s equations%s%s%s for: %s (%d equation%s for %d unknown%s):",
                    part->over ? "many" : "few", part->over || !s.text[0] ? "" : ", ",
                    part->over ? "" : s.text, s.unused, names, part->rows, ending(part->rows),
                    part->columns, ending(part->columns));
    }
    append_equations(m, part, diag);
    diag_append(diag, "%s.", part->over ? s.text : "");
}

/* The culprit that the numbers in the diagnostic stand for: the equation of the first part that
 * collides with others of it, or the unknown that lacks one. */
static void name_culprit(const flat_model *m, const flat_parts *parts, dae_diag *diag)
{
    const singular_part *part = &parts->report.part[0];
    suspicion s;
    if (!suspect(m, parts, part, &s)) return;
    if (part->rows > 0) {
        int i = part->over ? s.collides.row : part->row[part->rows - 1];
        char *name = flat_equation_name(m, &m->equations[i]);
        diag_equation(diag, i, name ? name : "?");
        if (diag) diag->line = m->equations[i].place.line;
        dae_free(name);
    }
    if (part->columns > 0) {
        int column = s.lacking_count > 0 ? s.lacking[0] : part->column[0];
        const flat_variable *v = variable_of(m, parts, column);
        diag_variable(diag, column, v->name);
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
    for (int k = 0; k < r->count && k < MOST_REPORTED; k++)
        append_part(m, parts, &r->part[k], diag);
    if (r->count > MOST_REPORTED)
        diag_append(diag, " (And %d more such parts.)", r->count - MOST_REPORTED);
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

/* Equations of one line after `from` that follow one another in the list: passes of a loop. */
static int run_length(const flat_model *m, const singular_part *part, int from, int without)
{
    int to = from;
    const flat_equation *first = &m->equations[part->row[from]];
    while (to < part->rows && part->row[to] != without &&
           m->equations[part->row[to]].place.line == first->place.line &&
           m->equations[part->row[to]].place.column == first->place.column)
        to++;
    return to - from;
}

/* A note at every equation of the part but one; passes of a loop have one note. */
static void note_equations(const flat_model *m, const singular_part *part, int without,
                           const char *what, message_list *messages)
{
    int notes = 0, named = without >= 0;
    for (int k = 0; k < part->rows && notes < MOST_NAMES; notes++) {
        int count = run_length(m, part, k, without);
        if (count == 0) { /* the one left out */
            k++;
            notes--;
            continue;
        }
        const flat_equation *q = &m->equations[part->row[k]];
        const flat_equation *last = &m->equations[part->row[k + count - 1]];
        if (q->pass && count > 1)
            message_note(messages, q->place, "%s, %d times: %s .. %s", what, count, q->pass,
                         last->pass ? last->pass : "");
        else if (q->pass)
            message_note(messages, q->place, "%s, with %s", what, q->pass);
        else
            message_note(messages, q->place, "%s", what);
        named += q->pass ? count : 1;
        k += q->pass ? count : 1;
    }
    if (named < part->rows)
        message_note(messages, m->equations[part->row[part->rows - 1]].place, "and %d more",
                     part->rows - named);
}

static void message_over(const flat_model *m, const flat_parts *parts, const singular_part *part,
                         const suspicion *s, const char *count, message_list *messages)
{
    char names[600], where[120] = "";
    const flat_equation *culprit = &m->equations[s->collides.row];
    list_unknowns(m, parts, part, "'", names, sizeof names);
    if (part->columns == 0) {
        message_error(messages, culprit->place, "this equation contains no unknown%s", count);
        return;
    }
    if (culprit->pass) snprintf(where, sizeof where, ", this one with %.90s", culprit->pass);
    message_error(messages, culprit->place, "too many equations%s: %d for %s %s%s%s", where,
                  part->rows, part->columns == 1 ? "the unknown" : "the unknowns", names, s->text,
                  count);
    note_equations(m, part, s->collides.row, "together with this one", messages);
}

static void message_under(const flat_model *m, const flat_parts *parts, const singular_part *part,
                          const suspicion *s, const char *count, message_list *messages)
{
    char names[600];
    int column = s->lacking_count > 0 ? s->lacking[0] : part->column[0];
    list_unknowns(m, parts, part, "'", names, sizeof names);
    if (part->rows == 0) {
        message_error(messages, variable_of(m, parts, column)->place, "no equation contains %s%s%s",
                      names, s->unused, count);
        return;
    }
    message_error(messages, variable_of(m, parts, column)->place,
                  "too few equations%s%s%s: %d for the unknowns %s%s", s->text[0] ? ", " : "",
                  s->text, s->unused, part->rows, names, count);
    note_equations(m, part, -1,
                   part->rows == 1 ? "the only equation that is left for them"
                                   : "an equation that is left for them",
                   messages);
}

/* False: memory. */
static bool message_parts(const flat_model *m, const flat_parts *parts, message_list *messages)
{
    const singular_report *r = &parts->report;
    for (int k = 0; k < r->count && k < MOST_PARTS; k++) {
        const singular_part *part = &r->part[k];
        char count[120];
        suspicion s;
        if (!suspect(m, parts, part, &s)) return false;
        count_text(m, parts, k == 0, count, sizeof count);
        message_rank(messages);
        (part->over ? message_over : message_under)(m, parts, part, &s, count, messages);
    }
    return true;
}

dae_status flat_structure_check(const flat_model *m, message_list *messages, signature *contents,
                                dae_diag *diag)
{
    flat_parts parts;
    if (!flat_parts_find(&parts, m))
        return diag_set(diag, DAE_ERR_MEMORY, "Out of memory while checking the equations.");
    dae_status status = DAE_OK;
    if (parts.report.count > 0) {
        status = tell_parts(m, &parts, diag);
        if (messages && !message_parts(m, &parts, messages))
            status = diag_set(diag, DAE_ERR_MEMORY, "Out of memory while checking the equations.");
    }
    if (status == DAE_OK && contents) give_contents(&parts, m, contents);
    flat_parts_free(&parts);
    return status;
}
