/* Plans of forms: matrices of expressions, definitions that are seen through. */
#include <string.h>

#include "base/memory.h"
#include "formulation/form_plan_parts.h"

/* ---- matrices ---- */

bool entry_add(entry_list *list, int row, int column, expr value)
{
    if (list->count == list->room) {
        int room = 2 * list->room + 16;
        struct list_entry *more = dae_calloc((size_t)room, sizeof *more);
        if (!more) return false;
        if (list->count > 0) memcpy(more, list->entry, (size_t)list->count * sizeof *more);
        dae_free(list->entry);
        list->entry = more;
        list->room = room;
    }
    list->entry[list->count++] = (struct list_entry){row, column, value};
    return value != EXPR_NONE;
}

void entry_list_free(entry_list *list)
{
    dae_free(list->entry);
    *list = (entry_list){0};
}

/* Stable counting sort of the entries by row (or column): order[k] of the sorted sequence. */
static bool sort_entries(const entry_list *list, const int *from, bool by_row, int classes, int *to)
{
    int *next = DAE_ARRAY(int, classes + 1);
    if (!next) return false;
    for (int k = 0; k < list->count; k++)
        next[(by_row ? list->entry[k].row : list->entry[k].column) + 1]++;
    for (int c = 0; c < classes; c++) next[c + 1] += next[c];
    for (int k = 0; k < list->count; k++) {
        int at = from ? from[k] : k;
        const struct list_entry *e = &list->entry[at];
        to[next[by_row ? e->row : e->column]++] = at;
    }
    dae_free(next);
    return true;
}

/* Small or nearly full matrices are better dense. */
static bool better_dense(int rows, int columns, int count)
{
    enum { SMALL = 64 };
    double all = (double)rows * (double)columns;
    return all <= SMALL || (double)count > 0.4 * all;
}

bool form_block_new(form_block *b, const graph *g, int rows, int columns, entry_list *list)
{
    int count = list->count;
    *b = (form_block){.rows = rows, .columns = columns, .count = count, .constant = true};
    int *by_row = DAE_ARRAY(int, count), *order = DAE_ARRAY(int, count);
    b->colptr = DAE_ARRAY(int, columns + 1);
    b->rowind = DAE_ARRAY(int, count);
    b->e = DAE_ARRAY(expr, count);
    bool ok = by_row && order && b->colptr && b->rowind && b->e &&
              sort_entries(list, NULL, true, rows, by_row) &&
              sort_entries(list, by_row, false, columns, order);
    for (int k = 0; ok && k < count; k++) {
        const struct list_entry *e = &list->entry[order[k]];
        b->rowind[k] = e->row;
        b->e[k] = e->value;
        b->colptr[e->column + 1] = k + 1;
        b->constant = b->constant && depends_on_parameters_alone(g, e->value);
    }
    for (int j = 0; ok && j < columns; j++)
        if (b->colptr[j + 1] < b->colptr[j]) b->colptr[j + 1] = b->colptr[j];
    b->dense = better_dense(rows, columns, count);
    dae_free_all(by_row, order);
    entry_list_free(list);
    return ok;
}

static bool add_gradient(graph *g, const gradient *d, int r, int order, entry_list *list)
{
    for (size_t k = 0; k < d->count; k++) {
        const expr_node *node = graph_node(g, d->leaf[k]);
        if (node->order != order) continue;
        if (!entry_add(list, r, node->index, d->derivative[k])) return false;
    }
    return true;
}

bool entry_gradients(graph *g, const expr *e, int count, int order, entry_list *list)
{
    gradient d = {0};
    bool ok = true;
    for (int r = 0; ok && r < count; r++)
        ok = derive_gradient(g, e[r], &d) && add_gradient(g, &d, r, order, list);
    gradient_free(&d);
    return ok;
}

/* ---- programs ---- */

bool form_program_new(form_program *p, size_t count)
{
    p->e = DAE_ARRAY(expr, count);
    p->count = p->e ? count : 0;
    return p->e;
}

bool form_program_block(form_program *p, const form_block *b)
{
    if (!form_program_new(p, (size_t)b->count)) return false;
    if (b->count > 0) memcpy(p->e, b->e, p->count * sizeof *p->e);
    return true;
}

void form_plan_free(form_plan *plan)
{
    if (!plan) return;
    for (int k = 0; k < FORM_PROGRAMS; k++) dae_free(plan->program[k].e);
    for (int k = 0; k < FORM_BLOCKS; k++) {
        dae_free_all(plan->block[k].colptr, plan->block[k].rowind, plan->block[k].e);
    }
    dae_free_all(plan->leading, plan->constraint, plan->level, plan);
}

/* ---- what expressions depend on ---- */

bool depends_on_parameters_alone(const graph *g, expr e)
{
    bool others;
    return graph_reads(g, &e, 1, READS_RUN, &others) && !others;
}

bool time_derivatives(graph *g, const expr *e, int count, expr *out, bool *none)
{
    *none = true;
    for (int r = 0; r < count; r++) {
        double value;
        out[r] = derive_partial(g, e[r], graph_time(g));
        if (out[r] == EXPR_NONE) return false;
        if (!graph_is_constant(g, out[r], &value) || value != 0.0) *none = false;
    }
    return true;
}

typedef struct argument_map {
    int first, second;
    bool failed;
} argument_map;

static expr map_argument(void *context, graph *g, expr leaf)
{
    argument_map *map = context;
    const expr_node node = *graph_node(g, leaf);
    if (node.op != EXPR_VARIABLE) return leaf;
    map->failed |= node.order > 0;
    int i = node.index, part = i < map->first ? 0 : i < map->first + map->second ? 1 : 2;
    int before = part == 0 ? 0 : part == 1 ? map->first : map->first + map->second;
    return graph_variable(g, i - before, part);
}

expr form_arguments(graph *g, int first, int second, expr e)
{
    argument_map map = {first, second, false};
    if (e == EXPR_NONE) return EXPR_NONE;
    expr mapped = graph_substitute(g, e, map_argument, &map);
    return map.failed ? EXPR_NONE : mapped;
}

/* ---- definitions ---- */

static expr replace_by_zero(void *context, graph *g, expr leaf)
{
    return leaf == *(const expr *)context ? graph_constant(g, 0.0) : leaf;
}

expr definition_from(graph *g, expr residual, int j)
{
    expr leaf = graph_variable(g, j, 0), by = derive_partial(g, residual, leaf);
    expr rest = graph_substitute(g, residual, replace_by_zero, &leaf);
    if (by == EXPR_NONE || rest == EXPR_NONE) return EXPR_NONE;
    return graph_unary(g, EXPR_NEG, graph_binary(g, EXPR_DIV, rest, by));
}

typedef struct definition_map {
    const expr *value;
    bool found;
} definition_map;

static expr replace_defined(void *context, graph *g, expr leaf)
{
    definition_map *map = context;
    const expr_node node = *graph_node(g, leaf);
    if (node.op != EXPR_VARIABLE || map->value[node.index] == EXPR_NONE) return leaf;
    map->found = true;
    return map->value[node.index];
}

expr put_definitions(graph *g, const expr *value, expr e)
{
    definition_map map = {value, true};
    while (map.found && e != EXPR_NONE) {
        map.found = false;
        e = graph_substitute(g, e, replace_defined, &map);
    }
    return e;
}

bool see_through_definitions(graph *g, int n, expr *value)
{
    for (int j = 0; j < n; j++) {
        if (value[j] == EXPR_NONE) continue;
        value[j] = put_definitions(g, value, value[j]);
        if (value[j] == EXPR_NONE) return false;
    }
    return true;
}

bool note_definitions(formulated *f, const analysed *a, const unknown_index *index,
                      const expr *value)
{
    for (int j = 0; j < a->set.n; j++) {
        if (value[j] == EXPR_NONE) continue;
        expr e = formulated_expression(f, index, value[j]);
        if (e == EXPR_NONE || !formulated_define(f, j, 0, e)) return false;
    }
    return true;
}

bool formulated_stands_plainly(formulated *f, const analysed *a, int i, int j, int p)
{
    if (!formulated_stands_for(f, a, i, j, p)) return false;
    f->hidden[i] = false;
    if (f->sign[i] > 0) return true;
    const char *name = a->set.name[j];
    char *text = arena_alloc(f->texts, strlen(name) + 6);
    if (!text) return false;
    strcat(strcat(strcpy(text, "der("), name), ")");
    f->sign[i] = 1;
    f->set.model[i] = -1;
    f->set.name[i] = text;
    return true;
}
