/* When-clauses and their actions: assignments, reinit. */
#include <string.h>

#include "base/memory.h"
#include "modelica/flatten/flatten_internal.h"

/* ---- reinit ---- */

/* reinit(x, value), also for arrays */
bool reinit_actions(flattener *f, const ast_expr *call)
{
    if (!f->scope.actions || call->arg_count != 2)
        return report_error(f, call->place,
                            f->scope.actions ? "reinit wants a variable and a value"
                                             : "reinit stands only in when-clauses");
    value x = evaluate(f, call->args[0]), v = evaluate(f, call->args[1]);
    if (value_is_error(&x) || value_is_error(&v)) return false;
    if (x.type != VALUE_REAL || !value_is_numeric(&v) || !value_same_shape(&x, &v))
        return type_error(f, call->args[1]->place, "reinit", &v, "a value like its variable");
    check_units(f, call->place, x.unit, v.unit, "reinit");
    for (size_t k = 0; k < x.count && !graph_failed(f->g); k++) {
        const expr_node *n = graph_node(f->g, value_element(&x, k));
        if (n->op != EXPR_VARIABLE || n->order != 0)
            return report_error(f, call->args[0]->place,
                                "reinit wants a continuous variable whose derivative appears");
        push_action(f, f->scope.actions,
                    (flat_action){.kind = ACTION_REINIT,
                                  .variable = n->index,
                                  .value = value_element(&v, k),
                                  .place = call->place});
    }
    return true;
}

/* ---- assignments ---- */

/* One left side of a when-equation gets its value. */
static void assign_discrete(flattener *f, const ast_expr *left, const value *v, source_place place)
{
    value target = evaluate(f, left);
    if (value_is_error(&target) || value_is_error(v)) return;
    if (left->kind != AST_REFERENCE) {
        report_error(f, left->place,
                     "an equation in a when-clause must have a variable on its left");
        return;
    }
    if (target.type == VALUE_RECORD && v->type == VALUE_RECORD && v->class_ == target.class_) {
        report_error(f, left->place, "records in when-clauses: assign their fields");
        return;
    }
    if (!fits_type(v, target.type, target.class_) || !value_same_shape(&target, v)) {
        type_error(f, place, "when-equation", v, value_describe(&target).text);
        return;
    }
    check_units(f, place, target.unit, v->unit, "equation");
    const value used = used_value(f, *v, NULL, place);
    if (value_is_error(&used)) return;
    for (size_t k = 0; k < target.count && !graph_failed(f->g); k++) {
        bool string = target.type == VALUE_STRING;
        const expr_node *n = string ? NULL : graph_node(f->g, value_element(&target, k));
        int variable = n && n->op == EXPR_MEMORY ? f->slot_variable[n->index] : -1;
        if (variable < 0) {
            report_error(f, left->place, "a when-clause can only define discrete variables");
            return;
        }
        push_action(f, f->scope.actions,
                    (flat_action){.kind = ACTION_ASSIGN,
                                  .variable = variable,
                                  .value = value_element(&used, k),
                                  .place = place});
    }
}

void when_assign(flattener *f, const ast_item *item)
{
    if (!item->left || !item->right) return;
    const bool list = item->left->kind == AST_TUPLE;
    value v = list ? evaluate_results(f, item->right) : evaluate(f, item->right);
    if (!list) {
        assign_discrete(f, item->left, &v, item->place);
        return;
    }
    if (value_is_error(&v)) return;
    if (v.type != VALUE_TUPLE || v.field_count < item->left->arg_count) {
        report_error(f, item->place, "%zu results are wanted, but there are %zu",
                     item->left->arg_count, v.type == VALUE_TUPLE ? v.field_count : 1);
        return;
    }
    for (size_t k = 0; k < item->left->arg_count; k++)
        if (item->left->args[k]) assign_discrete(f, item->left->args[k], &v.fields[k], item->place);
}

/* ---- if inside when ---- */

static flat_action *find_action(action_list *list, flat_action_kind kind, int variable)
{
    for (size_t k = 0; k < list->count; k++)
        if (list->items[k].kind == kind && list->items[k].variable == variable)
            return &list->items[k];
    return NULL;
}

/* Add a branch's actions under its guard: what is not assigned keeps its value. */
static void merge_actions(flattener *f, action_list *into, const action_list *from, expr guard)
{
    for (size_t k = 0; k < from->count; k++) {
        flat_action a = from->items[k];
        if (a.kind == ACTION_ASSERT || a.kind == ACTION_TERMINATE) {
            push_action(f, into, a);
            continue;
        }
        flat_action *known = find_action(into, a.kind, a.variable);
        expr keep = known ? known->value
                    : a.kind == ACTION_REINIT
                        ? graph_variable(f->g, a.variable, 0)
                        : graph_memory(f->g, f->m->variables[a.variable].memory_pre);
        a.value = graph_select(f->g, guard, a.value, keep);
        if (known)
            known->value = a.value;
        else
            push_action(f, into, a);
    }
}

void when_if(flattener *f, const ast_item *item)
{
    action_list *outer = f->scope.actions, own = {0}, merged = {0};
    expr guard = f->scope.guard, none_before = EXPR_NONE;
    for (size_t k = 0; k < item->branch_count; k++) {
        const ast_branch *b = &item->branches[k];
        expr c = constant(f, 1.0);
        if (b->condition) c = scalar_condition(f, b->condition);
        if (c == EXPR_NONE) continue;
        expr here = both(f, none_before, c);
        own.count = 0;
        f->scope.actions = &own;
        f->scope.guard = both(f, guard, here);
        equation_items(f, b->items, b->item_count);
        merge_actions(f, &merged, &own, here);
        none_before = both(f, none_before, graph_unary(f->g, EXPR_NOT, c));
    }
    f->scope.actions = outer;
    f->scope.guard = guard;
    for (size_t k = 0; k < merged.count; k++) push_action(f, outer, merged.items[k]);
    dae_free_all(own.items, merged.items);
}

/* ---- the clause ---- */

/* Conditions of a branch: {c1, c2, initial()} or one expression. */
typedef struct when_conditions {
    expr *items;
    size_t count;
    bool at_initial;
} when_conditions;

static bool read_conditions(flattener *f, const ast_expr *e, when_conditions *out)
{
    bool list = e->kind == AST_ARRAY;
    size_t count = list ? e->arg_count : 1;
    *out = (when_conditions){.items = flatten_take(f, (count + 1) * sizeof(expr))};
    if (!out->items) return false;
    for (size_t k = 0; k < count; k++) {
        const ast_expr *one = list ? e->args[k] : e;
        if (is_initial_call(one)) {
            out->at_initial = true;
            continue;
        }
        value v = evaluate(f, one);
        if (value_is_error(&v)) return false;
        if (v.type != VALUE_BOOLEAN || v.rank > (list ? 0 : 1))
            return type_error(f, one->place, "condition of when", &v, "Boolean");
        if (!list && v.rank == 1) {
            out->items = flatten_take(f, (v.count + 1) * sizeof(expr));
            if (!out->items) return false;
        }
        for (size_t i = 0; i < v.count; i++) out->items[out->count++] = value_element(&v, i);
    }
    if (out->count == 0) out->items[out->count++] = constant(f, 0.0);
    return true;
}

/* when {a, b} then .. is when a then .. elsewhen b then the same. */
static void when_branch(flattener *f, const ast_branch *b, flat_when *w, size_t *capacity)
{
    when_conditions c;
    action_list own = {0};
    bool ok = b->condition && read_conditions(f, b->condition, &c);
    bool no_event = f->scope.no_event;
    f->scope.actions = &own;
    f->scope.in_when = f->scope.no_event = true;
    equation_items(f, b->items, b->item_count);
    f->scope.in_when = false;
    f->scope.no_event = no_event;
    f->scope.actions = NULL;
    for (size_t k = 0; ok && k < c.count; k++)
        push_branch(f, w, capacity,
                    (flat_branch){.condition = c.items[k],
                                  .at_initial = k == 0 && c.at_initial,
                                  .place = b->place},
                    &own);
    dae_free(own.items);
}

void when_equation(flattener *f, const ast_item *item)
{
    flat_when w = {0};
    size_t capacity = 0;
    if (f->scope.in_when || f->scope.in_initial || f->target != &f->equations) {
        report_error(f, item->place,
                     f->scope.in_when      ? "when-clauses cannot be nested"
                     : f->scope.in_initial ? "when-clauses cannot stand in initial equations"
                                           : "a when-clause cannot stand in an if-equation whose "
                                             "condition changes during the run");
        return;
    }
    for (size_t k = 0; k < item->branch_count; k++)
        when_branch(f, &item->branches[k], &w, &capacity);
    push_when(f, &w);
}
