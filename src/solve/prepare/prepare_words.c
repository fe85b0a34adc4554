/* What is said of the equations of a mode: errors, and notes that go with a plan. */
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/text.h"
#include "model/definition_names.h"
#include "model/model_structure.h"
#include "solve/prepare/plan.h"

/* Definitions that the equations of a part are made of: uses[v], per flat variable; their number.
 */
static int definitions_of_part(const model_form *f, const equation_set *set,
                               const singular_part *part, bool *uses)
{
    int count = 0;
    bool ok = true;
    for (int k = 0; k < part->rows && ok; k++) {
        int row = set->row[part->row[k]].source, at = row >= 0 ? f->equation_source[row] : -1;
        if (at >= 0) ok = model_definitions_of(f, at, uses);
    }
    for (int k = 0; k < f->definition_count; k++) count += uses[f->evaluated[k]];
    return count;
}

static void add_definition(text_list *list, const model_form *f, int v, bool equation)
{
    const flat_equation *q = &f->flat->equations[f->alias[v].equation];
    char *name = equation ? flat_equation_name(f->flat, q) : NULL;
    text_list_add(list, "%s", name ? name : f->flat->variables[v].name);
    dae_free(name);
}

/* An equation or a variable of a part, up to a few; with definitions, which the equations are made
 * of. */
static void list_part(dae_diag *diag, const model_form *f, const equation_set *set,
                      const singular_part *part)
{
    enum { MOST = 8 };
    text_list rows = text_list_in(diag, MOST), columns = rows;
    bool *uses = DAE_ARRAY(bool, f->flat->variable_count);
    int more = uses ? definitions_of_part(f, set, part, uses) : 0;
    int all = part->rows + more, unknowns = part->columns + more;
    diag_append(diag, " %d equation%s", all, all == 1 ? "" : "s");
    if (all > 0) diag_append(diag, ": ");
    for (int k = 0; k < part->rows; k++) text_list_add(&rows, "%s", set->row[part->row[k]].name);
    for (int k = 0; k < f->definition_count && more > 0; k++)
        if (uses[f->evaluated[k]]) add_definition(&rows, f, f->evaluated[k], true);
    text_list_end(&rows);
    diag_append(diag, " for %d unknown%s", unknowns, unknowns == 1 ? "" : "s");
    if (unknowns > 0) diag_append(diag, ": ");
    for (int k = 0; k < part->columns; k++)
        text_list_add(&columns, "%s", set->name[part->column[k]]);
    for (int k = 0; k < f->definition_count && more > 0; k++)
        if (uses[f->evaluated[k]]) add_definition(&columns, f, f->evaluated[k], false);
    text_list_end(&columns);
    diag_append(diag, ".");
    dae_free(uses);
}

dae_status explain_singular_mode(preparation *p)
{
    const singular_report *parts = &p->analysis.written.parts;
    double t = p->mode->at.t;
    p->diag->t = t;
    diag_set(p->diag, DAE_ERR_MODEL,
             "At t = %.9g the equations are structurally singular in the mode they are in.", t);
    for (int k = 0; k < parts->count && k < 2; k++) {
        diag_append(p->diag, parts->part[k].over ? " Too many equations:" : " Too few:");
        list_part(p->diag, p->problem->model, &p->analysis.reduced.set, &parts->part[k]);
    }
    return DAE_ERR_MODEL;
}

/* Equations `row`, and those that make one variable of several in them. */
static void list_equations(text_list *list, const model_form *f, const equation_set *set,
                           const int *row, int count)
{
    size_t equations = f->flat->equation_count;
    bool *rows = DAE_ARRAY(bool, equations), *aliases = DAE_ARRAY(bool, equations);
    for (int k = 0; k < count; k++) {
        int source = set->row[row[k]].source, at = source >= 0 ? f->equation_source[source] : -1;
        text_list_add(list, "%s", set->row[row[k]].name);
        if (rows && at >= 0) rows[at] = true;
    }
    bool ok = rows && aliases && model_aliases_between(f, rows, aliases);
    for (size_t i = 0; ok && i < equations; i++) {
        char *name = aliases[i] ? flat_equation_name(f->flat, &f->flat->equations[i]) : NULL;
        if (name) text_list_add(list, "%s", name);
        dae_free(name);
    }
    text_list_end(list);
    dae_free_all(rows, aliases);
}

/* Structure and numbers disagree, and no rewriting helped: what to say if that turns out to matter.
 */
void note_doubt(preparation *p)
{
    enum { MOST = 6 };
    const model_analysis *a = &p->analysis;
    plan *v = p->plan;
    const equation_set *set = &a->reduced.set;
    const certificate *c = &a->certificate;
    dae_diag text = {0};
    diag_set(&text, DAE_ERR_SINGULAR, "These equations depend on each other: ");
    text_list rows = text_list_in(&text, MOST), columns = rows;
    list_equations(&rows, p->problem->model, set, c->row, c->row_count);
    diag_append(&text, ". They leave open: ");
    for (int k = 0; k < c->column_count; k++)
        text_list_add(&columns, "%s", set->name[c->column[k]]);
    text_list_end(&columns);
    diag_append(&text, ". Remove one that repeats others, and say what is missing.");
    snprintf(v->doubt, sizeof v->doubt, "%s", text.text);
    v->doubt_line = c->row_count > 0 ? set->row[c->row[0]].line : 0;
}

dae_status explain_doubt(const plan *p, double t, dae_diag *diag)
{
    diag->t = t;
    diag->line = p->doubt_line;
    return diag_set(diag, DAE_ERR_SINGULAR, "%s", p->doubt);
}

bool projection_asked(const wishes *w, const method *m)
{
    dae_projection p = w->options->projection;
    return m->forms == 0 && m->projects && p != DAE_PROJECTION_AUTO && p != DAE_PROJECTION_NONE;
}

/* A line that goes with the plan, behind those that it has. */
static void add_note(plan *p, const char *text)
{
    size_t k = 0, most = sizeof p->notes / sizeof p->notes[0];
    while (k + 1 < most && p->notes[k][0]) k++;
    snprintf(p->notes[k], sizeof p->notes[k], "%s", text);
}

/* A formulation or a projection was asked for that has nothing to do. */
void note_idle_formulation(preparation *p)
{
    char text[200];
    const formulation *asked = p->wishes->formulation;
    if (projection_asked(p->wishes, p->plan->method)) {
        snprintf(
            text, sizeof text,
            "note: option projection is for mechanisms of index 3; this model has index %d and "
            "nothing to be projected on",
            p->analysis.index);
        add_note(p->plan, text);
    }
    if (asked->automatic || (asked->all_levels && !asked->by_array)) return;
    snprintf(text, sizeof text,
             "note: formulation %s is for models of index above 1; this one has index %d and is "
             "integrated as it is written",
             asked->name, p->analysis.index);
    add_note(p->plan, text);
}

/* A warning that names the constraints which follow from others. */
void note_redundant(plan *p, const equation_set *set, const bool *rows)
{
    enum { MOST = 4 };
    dae_diag text = {0};
    text_list list = text_list_in(&text, MOST);
    diag_set(&text, DAE_OK, "warning: these constraints follow from the others: ");
    for (int i = 0; i < set->m; i++)
        if (rows[i]) text_list_add(&list, "%s", set->row[i].name);
    text_list_end(&list);
    diag_append(&text, ". The multipliers are not unique: they are those of least norm.");
    add_note(p, text.text);
}

/* Constraints of which one cannot hold where the others do. */
dae_status refuse_conflict(const equation_set *set, const model_conflict *conflict, dae_diag *diag)
{
    enum { MOST = 4 };
    const char *name = set->row[conflict->row].name;
    text_list list = text_list_in(diag, MOST);
    diag_equation(diag, -1, name);
    diag->line = set->row[conflict->row].line;
    diag->t = conflict->t;
    diag->value = conflict->off;
    diag_set(diag, DAE_ERR_INITIAL, "These constraints cannot hold together: %s and ", name);
    for (int i = 0; i < set->m; i++)
        if (conflict->with[i]) text_list_add(&list, "%s", set->row[i].name);
    text_list_end(&list);
    diag_append(diag,
                ". They restrict the same motion, and at t = %.9g %s%s is off by %.6g where the "
                "other%s. Correct one of them, or leave it out.",
                conflict->t, conflict->on_rates ? "on velocities " : "", name, conflict->off,
                list.count == 1 ? " holds" : "s hold");
    return DAE_ERR_INITIAL;
}
