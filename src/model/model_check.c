/* Whether the equations of a model can determine it: every equation has an unknown of its own. */
#include "model/model_build.h"

#include <stdlib.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/text.h"
#include "model/model_structure.h"
#include "structure/index/matching.h"

/* start of each row in the entries of a build, which come row by row */
size_t *build_row_starts(const build *b, size_t rows)
{
    size_t *start = DAE_ARRAY(size_t, rows + 1);
    if (!start) return NULL;
    for (size_t r = 0; r < rows; r++)
        start[r + 1] = r < b->differentiated ? b->row_start[r + 1] : start[r];
    return start;
}

/* The equations on the way from v to the variable that stands for it: used[e] is flipped, since
 * what two ways have in common says nothing of their difference. */
static void flip_aliases(const model_form *f, int v, bool *used)
{
    while (f->alias[v].equation >= 0) {
        used[f->alias[v].equation] = !used[f->alias[v].equation];
        if (f->alias[v].root == v) break;
        v = f->alias[v].root;
    }
}

static void note_alias_leaf(void *context, const expr_node *node)
{
    struct {
        const model_form *f;
        bool *used;
    } *scan = context;
    if (node->op == EXPR_VARIABLE) flip_aliases(scan->f, node->index, scan->used);
}

/* An equation that is left without unknowns, or a part of those with too few of them, because of
 * equations that eliminated aliases: all of them are named. */
static dae_status reject_aliases(const build *b, const singular_part *part, dae_diag *diag)
{
    const model_form *f = b->f;
    const flat_model *m = f->flat;
    bool *used = DAE_ARRAY(bool, m->equation_count), ok = used;
    struct {
        const model_form *f;
        bool *used;
    } scan = {f, used};
    int last = part->row[part->rows - 1];
    for (int k = 0; ok && k < part->rows; k++) {
        int at = f->equation_source[part->row[k]];
        if (at >= 0)
            ok = graph_leaves(m->graph, &m->equations[at].residual, 1, note_alias_leaf, &scan);
    }
    for (int k = 0; ok && k < part->rows; k++) {
        int at = f->equation_source[part->row[k]];
        if (at >= 0) used[at] = true;
    }
    if (ok) {
        diag_equation(diag, last, model_equation_name(f, last));
        if (diag) diag->line = f->equation_lines[last];
        diag_set(diag, DAE_ERR_MODEL,
                 "Model %s is structurally singular: equations repeat or contradict each other, "
                 "so that other unknowns are left open: ",
                 m->name);
    }
    text_list list = text_list_in(ok ? diag : NULL, 8);
    for (size_t i = 0; ok && i < m->equation_count; i++) {
        if (!used[i]) continue;
        char *name = list.count < list.most ? flat_equation_name(m, &m->equations[i]) : NULL;
        text_list_add(&list, "%s", name ? name : "?");
        dae_free(name);
    }
    text_list_end(&list);
    if (ok) diag_append(diag, ".");
    dae_free(used);
    return ok ? DAE_ERR_MODEL : build_no_memory(diag);
}

/* The pattern of the equations that stay, as a signature without orders. */
static bool pattern_signature(const build *b, const size_t *start, signature *s)
{
    *s = (signature){.m = (int)b->equations, .n = b->f->n};
    s->start = DAE_ARRAY(int, b->equations + 1);
    s->column = DAE_ARRAY(int, b->entry_count);
    s->order = DAE_ARRAY(int, b->entry_count);
    if (!s->start || !s->column || !s->order) return false;
    for (size_t r = 0; r <= b->equations; r++) s->start[r] = (int)start[r];
    for (size_t k = 0; k < b->entry_count; k++) s->column[k] = b->column[k];
    return true;
}

/* Why there is no matching: by the equations as they were written if these tell, else with those
 * that eliminated aliases. */
static dae_status explain_structure(const build *b, const size_t *start, dae_diag *diag)
{
    const model_form *f = b->f;
    dae_status status = flat_structure_check(f->flat, NULL, NULL, diag);
    if (status != DAE_OK) return status;
    signature s;
    singular_report report = {0};
    if (!pattern_signature(b, start, &s) || !signature_explain(&s, &report))
        status = build_no_memory(diag);
    for (int k = 0; k < report.count && status == DAE_OK; k++)
        if (report.part[k].over) status = reject_aliases(b, &report.part[k], diag);
    if (status == DAE_OK)
        status = diag_set(diag, DAE_ERR_MODEL,
                          "Model %s has %zu equations for %d unknowns after %d alias equations "
                          "were eliminated.",
                          f->flat->name, b->equations, f->n, f->eliminated);
    singular_report_free(&report);
    signature_free(&s);
    return status;
}

/* Rows take an unknown whose derivative they have, where it is free: among the rows of a grid few
 * are left, and paths through all of it are not searched. taken: per row. */
static void take_slopes(const build *b, matching *m, bool *taken)
{
    for (int row = 0; row < (int)b->differentiated; row++)
        for (size_t k = b->row_start[row]; k < b->row_start[row + 1] && !taken[row]; k++) {
            const int column = b->column[k];
            if (!b->is_slope[k] || m->row_of[column] >= 0) continue;
            m->row_of[column] = row;
            taken[row] = true;
        }
}

/* As many equations as unknowns, and a perfect matching between them. */
dae_status build_check_structure(const build *b, dae_diag *diag)
{
    const model_form *f = b->f;
    int rows = (int)b->equations;
    size_t *start = build_row_starts(b, b->equations);
    bool *taken = DAE_ARRAY(bool, rows);
    matching m = {0};
    bool found = rows == f->n;
    dae_status status = DAE_OK;
    if (!start || !taken || !matching_new(&m, start, b->column, rows, f->n))
        status = build_no_memory(diag);
    else if (found)
        take_slopes(b, &m, taken);
    for (int r = 0; r < rows && found && status == DAE_OK; r++)
        found = taken[r] || matching_add(&m, r);
    if (status == DAE_OK && !found) status = explain_structure(b, start, diag);
    matching_free(&m);
    dae_free_all(start, taken);
    return status;
}

/* Whether every equation has a derivative or an algebraic variable of its own to determine, which
 * is index 1 as far as structure tells; if not, which equation has none, and which variable is left
 * over. Higher indices are no error: they are for messages. */
bool build_find_index(build *b)
{
    model_form *f = b->f;
    size_t *start = DAE_ARRAY(size_t, b->equations + 1), kept = 0;
    int *column = DAE_ARRAY(int, b->entry_count);
    matching m = {0};
    bool ok = start && column;
    f->unmet = f->undetermined = -1;
    for (size_t r = 0; ok && r < b->equations; r++) {
        for (size_t k = b->row_start[r]; k < b->row_start[r + 1]; k++)
            if (b->is_slope[k] || !f->differential[b->column[k]]) column[kept++] = b->column[k];
        start[r + 1] = kept;
    }
    ok = ok && matching_new(&m, start, column, (int)b->equations, f->n);
    for (int r = 0; ok && r < (int)b->equations; r++)
        if (!matching_add(&m, r) && f->unmet < 0) f->unmet = r;
    for (int j = 0; ok && f->unmet >= 0 && j < f->n; j++)
        if (m.row_of[j] < 0 && !f->differential[j]) f->undetermined = j;
    matching_free(&m);
    dae_free_all(start, column);
    return ok;
}

static void note_undetermined(void *context, const expr_node *node)
{
    struct {
        const model_form *f;
        int found;
    } *scan = context;
    if (node->op == EXPR_VARIABLE && node->order > 0 && !scan->f->differential[node->index])
        scan->found = node->index;
}

/* An initial equation may use only derivatives that the equations determine. */
dae_status build_check_conditions(const model_form *f, dae_diag *diag)
{
    for (size_t k = 0; k < f->condition_count; k++) {
        struct {
            const model_form *f;
            int found;
        } scan = {f, -1};
        if (!graph_leaves(f->flat->graph, &f->condition.e[k], 1, note_undetermined, &scan))
            return build_no_memory(diag);
        if (scan.found < 0) continue;
        const flat_equation *q = &f->flat->initial_equations[k];
        if (diag) diag->line = q->place.line;
        return diag_set(diag, DAE_ERR_UNSUPPORTED,
                        "Model %s: the initial equation in line %d uses der(%s), but no equation "
                        "of the model does: it is not determined.",
                        f->flat->name, q->place.line, f->unknown_names[scan.found]);
    }
    return DAE_OK;
}
