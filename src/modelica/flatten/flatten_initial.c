/* Parameters with fixed = false that initial equations or algorithms define by other parameters and
 * by the time at the start: p = time, p := f(q). They are parameters like all others then, and may
 * stand in sample(p, ..), in sizes of steps, in bindings. What is defined by variables is left to
 * the initial system. */
#include <math.h>
#include <string.h>

#include "modelica/flatten/flatten_execute.h"
#include "modelica/flatten/flatten_internal.h"

/* ---- cycles ---- */

static bool read_definition(reading *r, const symbol *s)
{
    if (s->initial_right) return read_expression(r, s->initial_right);
    const ast_section *a = s->initial_section;
    return !a || read_items(r, a->items, a->item_count);
}

static bool accept_fixed(reading *r, symbol *s)
{
    (void)r;
    return s->constant || s->parameter;
}

static bool accept_others(reading *r, symbol *s)
{
    if (s == r->target) return false;
    if (s->initial_seen == r->target) return true;
    s->initial_seen = r->target;
    return read_definition(r, s);
}

/* Whether the definition of s leads back to it: then it is a system to be solved. */
static bool defines_itself(flattener *f, const symbol *s)
{
    reading r = {.f = f, .found = accept_others, .at_rest = true, .target = s};
    return s->initial_right && !read_definition(&r, s);
}

/* ---- who is defined ---- */

/* The parameter without a value that e names, or an element of which, if elements count. */
static symbol *parameter_named(flattener *f, const ast_expr *e, bool elements)
{
    if (!e || e->kind != AST_REFERENCE || e->part_count != 1) return NULL;
    if (e->parts[0].subscript_count && !elements) return NULL;
    symbol *s = name_find(&f->symbols, e->parts[0].name);
    return s && s->parameter && !s->declaration->value ? s : NULL;
}

static void note_equation(flattener *f, const ast_item *item)
{
    reading r = {.f = f, .found = accept_fixed, .at_rest = true};
    if (item->kind != ITEM_EQUATION) return;
    for (int side = 0; side < 2; side++) {
        symbol *s = parameter_named(f, side ? item->right : item->left, false);
        const ast_expr *other = side ? item->left : item->right;
        if (!s || s->initial_right || s->initial_section || !read_expression(&r, other)) continue;
        s->initial_right = other;
        s->initial_item = item;
        return;
    }
}

/* What is done with a parameter that a statement assigns, whole or in part; false ends the walk. */
typedef bool (*target_visit)(flattener *f, symbol *s, const ast_expr *left, void *context);

static bool visit_left(flattener *f, const ast_expr *left, target_visit visit, void *context)
{
    for (size_t k = 0; left && left->kind == AST_TUPLE && k < left->arg_count; k++)
        if (!visit_left(f, left->args[k], visit, context)) return false;
    symbol *s = parameter_named(f, left, true);
    return !s || visit(f, s, left, context);
}

/* Visit the parameters that statements assign. */
static bool each_target(flattener *f, ast_item *const *items, size_t count, target_visit visit,
                        void *context)
{
    for (size_t k = 0; k < count; k++) {
        const ast_item *i = items[k];
        if (!i) continue;
        if (i->kind == ITEM_ASSIGN && !visit_left(f, i->left, visit, context)) return false;
        for (size_t b = 0; b < i->branch_count; b++)
            if (!each_target(f, i->branches[b].items, i->branches[b].item_count, visit, context))
                return false;
    }
    return true;
}

static bool note_target(flattener *f, symbol *s, const ast_expr *left, void *section)
{
    (void)f;
    (void)left;
    s->initial_section = section;
    return true;
}

static void mark_named(flattener *f, const ast_expr *e)
{
    symbol *s = e && e->kind == AST_REFERENCE && e->part_count == 1
                    ? name_find(&f->symbols, e->parts[0].name)
                    : NULL;
    if (s) s->initial_named = true;
}

/* Note what stands alone on a side of initial equations and assignments. */
static void mark_items_named(flattener *f, ast_item *const *items, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        if (!items[k]) continue;
        mark_named(f, items[k]->left);
        mark_named(f, items[k]->right);
        for (size_t b = 0; b < items[k]->branch_count; b++)
            mark_items_named(f, items[k]->branches[b].items, items[k]->branches[b].item_count);
    }
}

void find_initial_definitions(flattener *f)
{
    const ast_class *model = f->file->model;
    for (size_t k = 0; k < model->section_count && !f->failed; k++) {
        const ast_section *s = &model->sections[k];
        reading r = {.f = f, .found = accept_fixed, .at_rest = true};
        if (!s->initial || s->parameter) continue;
        mark_items_named(f, s->items, s->item_count);
        if (s->algorithm && read_items(&r, s->items, s->item_count))
            each_target(f, s->items, s->item_count, note_target, (void *)s);
        for (size_t i = 0; !s->algorithm && i < s->item_count; i++)
            if (s->items[i]) note_equation(f, s->items[i]);
    }
    for (size_t k = 0; k < f->model_symbol_count; k++)
        if (defines_itself(f, &f->model_symbols[k])) f->model_symbols[k].initial_right = NULL;
}

/* ---- their values ---- */

/* Cells for a parameter that the section assigns, in its own frame. */
static bool open_cells(flattener *f, symbol *s, const ast_expr *left, void *context)
{
    (void)left;
    (void)context;
    if (find_local(f, s->declaration->name)) return true;
    if (!declare_local(f, s->declaration)) return false;
    f->locals[f->local_count - 1].symbol = s;
    return true;
}

/* Execute an initial algorithm of parameters once; what it leaves in its cells are their values. */
static void execute_section(flattener *f, const ast_section *section)
{
    size_t base = f->local_count;
    expr *returned = f->returned, *broken = f->broken, running = constant(f, 0.0);
    const int depth = f->journal_depth;
    f->returned = &running;
    f->broken = NULL;
    f->journal_depth = 0;
    bool ok = each_target(f, section->items, section->item_count, open_cells, NULL) &&
              execute_items(f, section->items, section->item_count);
    for (size_t k = base; k < f->local_count; k++) {
        symbol *s = f->locals[k].symbol;
        if (s) s->initial_value = ok ? f->locals[k].value : value_error();
        if (s) s->initial_done = true;
    }
    f->journal_depth = depth;
    f->returned = returned;
    f->broken = broken;
    f->local_count = base;
}

/* Whether it is defined by others that are left to the initial system: it is one of these, too. */
static bool left_to_system(flattener *f, const value *v)
{
    for (size_t k = 0; value_is_simple(v) && v->type != VALUE_STRING && k < v->count; k++) {
        expr e = value_element(v, k);
        if (e != EXPR_NONE && (node_depends(f, e) & (DEPENDS_CONTINUOUS | DEPENDS_MEMORY)))
            return true;
    }
    return false;
}

value initial_definition(flattener *f, symbol *s)
{
    if (!s->initial_right && !s->initial_section) return value_error();
    s->initial_asked = true;
    bool start = f->scope.at_start, initial = f->scope.in_initial;
    f->scope.at_start = f->scope.in_initial = true;
    if (s->initial_right)
        s->initial_value = evaluate(f, s->initial_right);
    else if (!s->initial_done)
        execute_section(f, s->initial_section);
    s->initial_done = true;
    f->scope.at_start = start;
    f->scope.in_initial = initial;
    if (s->initial_right && left_to_system(f, &s->initial_value)) {
        s->initial_right = NULL;
        s->initial_done = false;
        return value_error();
    }
    if (!f->failed && !value_is_error(&s->initial_value) && value_has_gap(&s->initial_value))
        return error_value(f, s->declaration->place, "'%s' gets no value in the initial algorithm",
                           s->declaration->name);
    return s->initial_value;
}

bool initial_item_is_done(flattener *f, const ast_item *item)
{
    for (int side = 0; side < 2; side++) {
        const symbol *s = parameter_named(f, side ? item->right : item->left, false);
        if (s && s->initial_done && s->initial_item == item) return true;
    }
    return false;
}

static bool is_not_done(flattener *f, symbol *s, const ast_expr *left, void *context)
{
    (void)f;
    (void)left;
    (void)context;
    return !s->initial_done;
}

/* A parameter that keeps its own value cannot be assigned to. */
static bool refuse_fixed(flattener *f, symbol *s, const ast_expr *left, void *context)
{
    (void)context;
    if (!s->initial_asked)
        report_error(f, left->place,
                     "'%s' cannot be assigned to: it is a parameter without fixed = false",
                     s->declaration->name);
    return true;
}

bool initial_section_is_done(flattener *f, const ast_section *section)
{
    if (each_target(f, section->items, section->item_count, is_not_done, NULL)) return false;
    each_target(f, section->items, section->item_count, refuse_fixed, NULL);
    return true;
}

/* ---- parameters that no text declares ---- */

/* Such a one; *number: 1 + its number, 0 as long as it has none. */
static expr own_parameter(flattener *f, int *number, const char *name, const char *measure,
                          double start)
{
    flat_model *m = f->m;
    size_t k = m->parameter_count;
    if (*number > 0) return graph_parameter(f->g, *number - 1);
    if (!flatten_grow(f, &m->parameters, &f->parameter_capacity, k + 1, sizeof *m->parameters) ||
        !flatten_grow(f, &f->parameter_value, &f->parameter_value_capacity, k + 1,
                      sizeof *f->parameter_value))
        return EXPR_NONE;
    m->parameters[k] = (flat_parameter){.name = model_text(f, name),
                                        .type = FLAT_REAL,
                                        .unit = model_text(f, measure),
                                        .value = constant(f, start),
                                        .final_ = true};
    f->parameter_value[k] = NAN; /* decides nothing before the run */
    m->parameter_count = k + 1;
    *number = (int)k + 1;
    return graph_parameter(f->g, (int)k);
}

expr time_at_start(flattener *f)
{
    return own_parameter(f, &f->m->start_parameter, "time at the start", "s", 0.0);
}

expr way_to_actual(flattener *f)
{
    return own_parameter(f, &f->m->way_parameter, "way to actual", "1", 1.0);
}
