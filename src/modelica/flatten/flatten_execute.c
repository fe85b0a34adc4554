/* Symbolic execution: statements change cells that hold nodes of the graph. Where a condition is
 * not known before the run, both ways are executed and every cell they changed becomes a select;
 * a journal of changes makes this cost what was changed, not what there is. */
#include "modelica/flatten/flatten_execute.h"

#include <string.h>

#include "base/memory.h"

/* ---- cells ---- */

void set_cell(flattener *f, expr *cell, expr e)
{
    if (f->journal_depth > 0) {
        if (!flatten_grow(f, &f->journal, &f->journal_capacity, f->journal_count + 1,
                          sizeof *f->journal))
            return;
        f->journal[f->journal_count++] = (journal_entry){cell, *cell};
    }
    *cell = e;
}

/* if c then a else b, where a value may be missing */
static expr merge_cells(flattener *f, expr c, expr a, expr b, source_place place)
{
    double x = 0.0, y = 1.0;
    if (a == b) return a;
    if ((a | b) & STRING_BIT) {
        expr e = choose_cell(f, c, a, b);
        if (e == EXPR_NONE)
            report_error(f, place,
                         "a String that depends on a condition of the run cannot contain values "
                         "of it");
        return e != EXPR_NONE ? e : a;
    }
    if (graph_is_constant(f->g, a, &x) && graph_is_constant(f->g, b, &y)) {
        if (x == 1.0 && y == 0.0) return c;
        if (x == 0.0 && y == 1.0) return graph_unary(f->g, EXPR_NOT, c);
    }
    return choose_cell(f, c, a, b);
}

/* ---- assignment ---- */

typedef struct assignment {
    flattener *f;
    const subscript *s;
    size_t count;
    source_place place;
} assignment;

static void write_cell(const assignment *a, expr *cell, expr e, expr only_if)
{
    if (only_if != EXPR_NONE) e = merge_cells(a->f, only_if, e, *cell, a->place);
    set_cell(a->f, cell, e);
}

/* Walk the subscripts; `at` counts elements of the source. */
static void write_elements(const assignment *a, const value *target, const value *from, size_t d,
                           size_t offset, size_t *at, expr only_if)
{
    flattener *f = a->f;
    size_t block = 1;
    for (int k = (int)d + 1; k < target->rank; k++) block *= target->dims[k];
    if (d == a->count) {
        block = 1;
        for (int k = (int)d; k < target->rank; k++) block *= target->dims[k];
        for (size_t k = 0; k < block; k++)
            write_cell(a, &target->e[offset + k], value_element(from, (*at)++), only_if);
        return;
    }
    const subscript *s = &a->s[d];
    if (s->dynamic != EXPR_NONE) {
        size_t start = *at;
        for (size_t k = 0; k < target->dims[d]; k++) {
            expr here = graph_binary(f->g, EXPR_EQ, s->dynamic, constant(f, (double)k + 1.0));
            if (only_if != EXPR_NONE) here = graph_binary(f->g, EXPR_AND, only_if, here);
            *at = start;
            write_elements(a, target, from, d + 1, offset + k * block, at, here);
        }
        return;
    }
    for (size_t k = 0; k < s->count; k++)
        write_elements(a, target, from, d + 1,
                       offset + (s->single ? s->first : subscript_at(s, k)) * block, at, only_if);
}

static void write_value(const assignment *a, const value *target, const value *from)
{
    if (target->type == VALUE_RECORD) {
        for (size_t k = 0; k < target->field_count; k++)
            write_value(a, &target->fields[k], &from->fields[k]);
        return;
    }
    size_t at = 0;
    write_elements(a, target, from, 0, 0, &at, EXPR_NONE);
}

/* Sizes of the elements that the subscripts leave. */
static void target_shape(const value *v, const subscript *s, size_t count, int *rank, size_t *dims)
{
    *rank = 0;
    for (int k = 0; k < v->rank; k++) {
        if ((size_t)k < count && s[k].single) continue;
        dims[(*rank)++] = (size_t)k < count ? s[k].count : v->dims[k];
    }
}

/* An array with open sizes takes the sizes of its first value. */
static bool resize_local(flattener *f, local *l, const value *v)
{
    if (!l->open_size || l->value.rank != v->rank || !value_is_simple(v)) return false;
    value fresh = value_new(f, l->value.type, v->rank, v->dims);
    if (value_is_error(&fresh)) return false;
    fresh.class_ = l->value.class_;
    fresh.unit = l->value.unit;
    l->value = fresh;
    return true;
}

static bool assign_target(flattener *f, const char *name, const value *target, const subscript *s,
                          size_t count, const value *v, source_place place)
{
    size_t dims[VALUE_MAX_RANK];
    value shape = {.type = target->type, .class_ = target->class_, .dims = dims};
    target_shape(target, s, count, &shape.rank, dims);
    if (!fits_type(v, target->type, target->class_)) {
        return type_error(f, place, name, v, value_describe(&shape).text);
    }
    if (!value_same_shape(&shape, v)) {
        return report_error(f, place, "'%s' has sizes %s, but its value has sizes %s", name,
                            value_shape(shape.rank, dims).text, value_shape(v->rank, v->dims).text);
    }
    assignment a = {f, s, count, place};
    write_value(&a, target, v);
    return !f->failed;
}

bool assign_local(flattener *f, size_t index, const subscript *s, size_t count, const value *v,
                  source_place place)
{
    local *l = &f->locals[index];
    if (count == 0 && !value_same_shape(&l->value, v) && f->journal_depth == l->journal_depth)
        resize_local(f, l, v);
    return assign_target(f, l->name, &l->value, s, count, v, place);
}

bool assign_reference(flattener *f, const ast_expr *left, const value *v)
{
    located l;
    if (value_is_error(v)) return false;
    if (left->kind != AST_REFERENCE)
        return report_error(f, left->place, "only a variable can be assigned to");
    if (!locate_reference(f, left, &l)) return false;
    if (l.local_index < 0 || !f->locals[l.local_index].assignable) {
        const char *name = left->parts[0].name;
        const symbol *s = l.local_index >= 0 ? NULL : name_find(&f->symbols, name);
        return report_error(
            f, left->place,
            l.local_index >= 0  ? "'%s' is an input or a loop variable and cannot be assigned to"
            : s && s->parameter ? "'%s' cannot be assigned to here: parameters are computed by "
                                  "initial algorithms that contain nothing but parameters"
                                : "'%s' cannot be assigned to",
            name);
    }
    if (left->part_count == 1 && l.subscript_count == 0)
        return assign_local(f, (size_t)l.local_index, NULL, 0, v, left->place);
    return assign_target(f, left->parts[left->part_count - 1].name, &l.base, l.subscripts,
                         l.subscript_count, v, left->place);
}

static bool execute_assign(flattener *f, const ast_item *item)
{
    if (!item->left || !item->right) return false;
    const bool list = item->left->kind == AST_TUPLE;
    value v = list ? evaluate_results(f, item->right) : evaluate(f, item->right);
    if (value_is_error(&v)) return false;
    if (!list) return assign_reference(f, item->left, &v);
    size_t have = v.type == VALUE_TUPLE ? v.field_count : 1;
    if (have < item->left->arg_count)
        return report_error(f, item->place, "%zu results are wanted, but there are %zu",
                            item->left->arg_count, have);
    bool ok = true;
    for (size_t k = 0; k < item->left->arg_count; k++)
        if (item->left->args[k] &&
            !assign_reference(f, item->left->args[k], v.type == VALUE_TUPLE ? &v.fields[k] : &v))
            ok = false;
    return ok;
}

/* ---- ways that are both executed ---- */

static size_t cell_hash(const expr *cell, size_t mask)
{
    return (size_t)(((uintptr_t)cell >> 2) * (uintptr_t)0x9E3779B97F4A7C15u >> 7) & mask;
}

bool cell_index_new(flattener *f, cell_index *x, size_t most)
{
    size_t capacity = 16;
    while (capacity < 2 * most + 2) capacity *= 2;
    x->slots = flatten_take(f, capacity * sizeof *x->slots);
    x->mask = capacity - 1;
    return x->slots != NULL;
}

size_t cell_position(cell_index *x, change_list *list, expr *cell)
{
    size_t k = cell_hash(cell, x->mask);
    while (x->slots[k] && list->cells[x->slots[k] - 1] != cell) k = (k + 1) & x->mask;
    if (x->slots[k]) return x->slots[k] - 1;
    list->cells[list->count] = cell;
    x->slots[k] = (uint32_t)++list->count;
    return list->count - 1;
}

size_t cell_find(const cell_index *x, const change_list *list, const expr *cell)
{
    size_t k = cell_hash(cell, x->mask);
    while (x->slots[k] && list->cells[x->slots[k] - 1] != cell) k = (k + 1) & x->mask;
    return x->slots[k] ? x->slots[k] - 1 : SIZE_MAX;
}

bool take_back(flattener *f, size_t mark, change_list *out)
{
    size_t most = f->journal_count - mark;
    cell_index x;
    *out = (change_list){flatten_take(f, (most + 1) * sizeof *out->cells),
                         flatten_take(f, (most + 1) * sizeof *out->values), 0};
    if (!out->cells || !out->values || !cell_index_new(f, &x, most)) return false;
    for (size_t k = mark; k < f->journal_count; k++) {
        expr *cell = f->journal[k].cell;
        out->values[cell_position(&x, out, cell)] = *cell;
    }
    for (size_t k = f->journal_count; k > mark; k--)
        *f->journal[k - 1].cell = f->journal[k - 1].old;
    f->journal_count = mark;
    return true;
}

/* if c then a else b for all cells of both; cells of neither list keep their value. */
static bool merge_changes(flattener *f, expr c, const change_list *a, const change_list *b,
                          change_list *out, source_place place)
{
    size_t most = a->count + b->count;
    cell_index x;
    *out = (change_list){flatten_take(f, (most + 1) * sizeof *out->cells),
                         flatten_take(f, (most + 1) * sizeof *out->values), 0};
    expr *second = flatten_take(f, (most + 1) * sizeof *second);
    if (!out->cells || !out->values || !second || !cell_index_new(f, &x, most)) return false;
    for (size_t k = 0; k < a->count; k++) {
        size_t at = cell_position(&x, out, a->cells[k]);
        out->values[at] = a->values[k];
        second[at] = *a->cells[k];
    }
    for (size_t k = 0; k < b->count; k++) {
        size_t known = out->count, at = cell_position(&x, out, b->cells[k]);
        if (at == known) out->values[at] = *b->cells[k];
        second[at] = b->values[k];
    }
    for (size_t k = 0; k < out->count; k++)
        out->values[k] = merge_cells(f, c, out->values[k], second[k], place);
    return true;
}

static void apply_changes(flattener *f, const change_list *list)
{
    for (size_t k = 0; k < list->count; k++) set_cell(f, list->cells[k], list->values[k]);
}

/* Execute items so that they can be taken back. */
static bool execute_apart(flattener *f, ast_item *const *items, size_t count, expr guard,
                          change_list *out)
{
    size_t mark = f->journal_count;
    expr outer = f->scope.guard;
    f->journal_depth++;
    f->scope.guard = both(f, outer, guard);
    bool ok = execute_items(f, items, count);
    f->scope.guard = outer;
    f->journal_depth--;
    return take_back(f, mark, out) && ok;
}

/* Several guarded ways, the first true guard counts. */
static bool execute_ways(flattener *f, const ast_branch *const *ways, const expr *guards,
                         size_t count, source_place place)
{
    change_list *changes = flatten_take(f, (count + 1) * sizeof *changes);
    change_list merged = {0};
    expr before = EXPR_NONE;
    if (!changes) return false;
    for (size_t k = 0; k < count; k++) {
        expr here = both(f, before, guards[k]);
        if (!execute_apart(f, ways[k]->items, ways[k]->item_count, here, &changes[k])) return false;
        if (guards[k] == EXPR_NONE) continue;
        before = both(f, before, graph_unary(f->g, EXPR_NOT, guards[k]));
    }
    for (size_t k = count; k > 0; k--) {
        change_list next;
        if (guards[k - 1] == EXPR_NONE) {
            merged = changes[k - 1];
            continue;
        }
        if (!merge_changes(f, guards[k - 1], &changes[k - 1], &merged, &next, place)) return false;
        merged = next;
    }
    apply_changes(f, &merged);
    return !f->failed;
}

static bool execute_if(flattener *f, const ast_item *item)
{
    const ast_branch **ways = flatten_take(f, (item->branch_count + 1) * sizeof *ways);
    expr *guards = flatten_take(f, (item->branch_count + 1) * sizeof *guards);
    expr outer = f->scope.guard, none_before = EXPR_NONE;
    size_t count = 0;
    if (!ways || !guards) return false;
    for (size_t k = 0; k < item->branch_count; k++) {
        const ast_branch *b = &item->branches[k];
        bool known, yes;
        expr c;
        f->scope.guard = both(f, outer, none_before); /* else it is not asked */
        bool ok = decide_condition(f, b, &c, &known, &yes);
        f->scope.guard = outer;
        if (!ok) return false;
        if (known && !yes) continue;
        if (!known) none_before = both(f, none_before, graph_unary(f->g, EXPR_NOT, c));
        if (known && count == 0) return execute_items(f, b->items, b->item_count);
        ways[count] = b;
        guards[count++] = known ? EXPR_NONE : c;
        if (known) break;
    }
    return count == 0 || execute_ways(f, ways, guards, count, item->place);
}

/* ---- loops ---- */

static bool is_true(flattener *f, expr e)
{
    double x = 0.0;
    return graph_is_constant(f->g, e, &x) && x != 0.0;
}

bool loop_nest(flattener *f, const ast_item *item, size_t depth)
{
    const ast_branch *body = item->branch_count ? item->branches : NULL;
    if (depth == item->iterator_count)
        return !body || execute_items(f, body->items, body->item_count);
    loop_range r;
    run_range moving;
    if (is_run_range(f, &item->iterators[depth], &moving))
        return execute_run_for(f, item, depth, &moving);
    if (!evaluate_range(f, &item->iterators[depth], &r)) return false;
    size_t slot = f->local_count;
    if (!push_local(f, item->iterators[depth].name)) return false;
    bool ok = true;
    for (size_t k = 0; k < r.count && ok; k++) {
        if (is_true(f, *f->broken) || is_true(f, *f->returned)) break;
        ok = flatten_pass(f, item->place);
        f->locals[slot].value = range_element(f, &r, k);
        ok = ok && loop_nest(f, item, depth + 1);
    }
    f->local_count = slot;
    return ok;
}

enum { MOST_WHILE_PASSES = 100000 };

static bool execute_while_body(flattener *f, const ast_item *item)
{
    const ast_branch *b = &item->branches[0];
    double x = 0.0;
    for (int pass = 0; !is_true(f, *f->broken) && !is_true(f, *f->returned); pass++) {
        if (pass == MOST_WHILE_PASSES)
            return report_error(f, item->place, "this while has not ended after %d passes",
                                MOST_WHILE_PASSES);
        expr c = scalar_condition(f, b->condition);
        if (c == EXPR_NONE || !flatten_pass(f, item->place)) return false;
        bool leaves = !graph_is_constant(f->g, *f->broken, NULL) ||
                      !graph_is_constant(f->g, *f->returned, NULL); /* by a condition of the run */
        if (leaves || !compile_time_value(f, c, &x)) return execute_run_while(f, item);
        if (x == 0.0) return true;
        if (!execute_items(f, b->items, b->item_count)) return false;
    }
    return true;
}

/* A loop has its own "broken" cell, so that break leaves only the innermost one. */
static bool execute_loop(flattener *f, const ast_item *item)
{
    expr *outer = f->broken, *cell = flatten_take(f, sizeof *cell);
    if (!cell || item->branch_count == 0) return false;
    *cell = constant(f, 0.0);
    f->broken = cell;
    bool ok = item->kind == ITEM_FOR ? loop_nest(f, item, 0) : execute_while_body(f, item);
    f->broken = outer;
    return ok;
}

/* ---- when ---- */

/* Whether the condition just became true in the run: what is true from the beginning is no edge
 * (Modelica 3.6, 8.6). */
static expr later_edge(flattener *f, const ast_expr *e)
{
    expr edge = edge_of(f, scalar_condition(f, e), e->place);
    expr initial = graph_memory(f->g, f->m->memory_initial);
    if (edge == EXPR_NONE) return EXPR_NONE;
    return graph_binary(f->g, EXPR_AND, edge, graph_unary(f->g, EXPR_NOT, initial));
}

/* Whether one of the conditions just became true. */
static expr when_guard(flattener *f, const ast_expr *condition)
{
    expr any = EXPR_NONE;
    bool list = condition->kind == AST_ARRAY;
    for (size_t k = 0; k < (list ? condition->arg_count : 1); k++) {
        const ast_expr *e = list ? condition->args[k] : condition;
        expr one = is_initial_call(e) ? graph_memory(f->g, f->m->memory_initial) : later_edge(f, e);
        if (one == EXPR_NONE) return EXPR_NONE;
        any = any == EXPR_NONE ? one : graph_binary(f->g, EXPR_OR, any, one);
    }
    return any == EXPR_NONE ? constant(f, 0.0) : any;
}

static bool execute_when(flattener *f, const ast_item *item)
{
    if (f->scope.in_function || f->scope.in_when || f->scope.checks)
        return report_error(f, item->place,
                            f->scope.in_function ? "a function cannot contain when"
                            : f->scope.in_when
                                ? "when-clauses cannot be nested"
                                : "when cannot stand in a loop whose passes depend on the "
                                  "run");
    const ast_branch **ways = flatten_take(f, (item->branch_count + 1) * sizeof *ways);
    expr *guards = flatten_take(f, (item->branch_count + 1) * sizeof *guards);
    if (!ways || !guards) return false;
    for (size_t k = 0; k < item->branch_count; k++) {
        ways[k] = &item->branches[k];
        if (!ways[k]->condition) return false;
        guards[k] = when_guard(f, ways[k]->condition);
        if (guards[k] == EXPR_NONE) return false;
    }
    bool no_event = f->scope.no_event;
    f->scope.in_when = f->scope.no_event = true;
    bool ok = execute_ways(f, ways, guards, item->branch_count, item->place);
    f->scope.in_when = false;
    f->scope.no_event = no_event;
    return ok;
}

/* ---- statements ---- */

static bool execute_call(flattener *f, const ast_item *item)
{
    flat_action a;
    const ast_expr *call = item->left;
    if (!call || call->kind != AST_CALL || !call->part_count || !call->parts[0].name) return false;
    const char *name = call->parts[0].name;
    bool assertion = strcmp(name, "assert") == 0;
    if (assertion || strcmp(name, "terminate") == 0) {
        if (!(assertion ? assert_action(f, call, &a) : terminate_action(f, call, &a))) return false;
        if (!assertion && f->scope.checks)
            return report_error(f, call->place,
                                "terminate cannot stand in a loop whose passes depend on the run");
        if (!assertion || !is_true(f, a.value)) push_assert(f, &a);
        return true;
    }
    if (strcmp(name, "reinit") == 0)
        return report_error(f, call->place,
                            "reinit cannot stand in an algorithm: use a when-equation");
    value v = evaluate_results(f, call);
    return !value_is_error(&v);
}

static bool execute_item(flattener *f, const ast_item *item)
{
    switch (item->kind) {
    case ITEM_ASSIGN: return execute_assign(f, item);
    case ITEM_CALL: return execute_call(f, item);
    case ITEM_IF: return execute_if(f, item);
    case ITEM_FOR:
    case ITEM_WHILE: return execute_loop(f, item);
    case ITEM_WHEN: return execute_when(f, item);
    case ITEM_BREAK:
        if (f->broken) set_cell(f, f->broken, constant(f, 1.0));
        if (!f->broken)
            report_error(f, item->place,
                         "break stands only in loops; where a tool unrolled the loop around it, "
                         "nothing says what it leaves");
        return f->broken != NULL;
    case ITEM_RETURN:
        if (f->scope.in_function) set_cell(f, f->returned, constant(f, 1.0));
        if (!f->scope.in_function) report_error(f, item->place, "return stands only in functions");
        return f->scope.in_function;
    default:
        return report_error(f, item->place,
                            "an equation cannot stand in an algorithm: assign with ':='");
    }
}

/* Whether the next statement is reached: neither returned nor broken. */
static expr still_running(flattener *f)
{
    expr out = *f->returned;
    if (f->broken) out = graph_binary(f->g, EXPR_OR, out, *f->broken);
    return graph_unary(f->g, EXPR_NOT, out);
}

/* A statement that is reached only if the function has not returned at a condition of the run. */
static bool execute_guarded(flattener *f, ast_item *item, expr running)
{
    ast_item *one[1] = {item};
    change_list changes, none = {0}, merged;
    expr *returned = f->returned, *broken = f->broken;
    expr zero[2] = {constant(f, 0.0), constant(f, 0.0)};
    size_t mark = f->journal_count;
    expr outer = f->scope.guard;
    f->journal_depth++;
    f->scope.guard = both(f, outer, running);
    /* inside, the flags start afresh; afterwards they are added to what was known */
    f->returned = &zero[0];
    if (broken) f->broken = &zero[1];
    bool ok = execute_items(f, one, 1);
    expr now_returned = zero[0], now_broken = zero[1];
    f->returned = returned;
    f->broken = broken;
    f->scope.guard = outer;
    f->journal_depth--;
    if (!take_back(f, mark, &changes) || !ok) return false;
    if (!merge_changes(f, running, &changes, &none, &merged, item->place)) return false;
    for (size_t k = 0; k < merged.count; k++)
        if (merged.cells[k] != &zero[0] && merged.cells[k] != &zero[1])
            set_cell(f, merged.cells[k], merged.values[k]);
    expr hit = graph_binary(f->g, EXPR_AND, running, now_returned);
    set_cell(f, f->returned, graph_binary(f->g, EXPR_OR, *f->returned, hit));
    hit = graph_binary(f->g, EXPR_AND, running, now_broken);
    if (broken) set_cell(f, f->broken, graph_binary(f->g, EXPR_OR, *f->broken, hit));
    return !f->failed;
}

/* Statements within statements and, through calls, within other functions' use up the stack. */
static bool execute_deeper(flattener *f, ast_item *item, bool known, expr running)
{
    if (f->depth >= FLATTEN_MAX_DEPTH) {
        report_error(f, item->place, "statements are nested too deeply");
        f->stop = true;
        return false;
    }
    f->depth++;
    bool ok = known ? execute_item(f, item) : execute_guarded(f, item, running);
    f->depth--;
    return ok;
}

bool execute_items(flattener *f, ast_item *const *items, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        double x = 0.0;
        if (!items[k]) continue;
        if (!flatten_pass(f, items[k]->place)) return false;
        expr running = still_running(f);
        bool known = graph_is_constant(f->g, running, &x);
        if (known && x == 0.0) return true;
        if (!execute_deeper(f, items[k], known, running)) return false;
    }
    return true;
}

bool execute_function(flattener *f, const ast_class *fn)
{
    expr *returned = f->returned, *broken = f->broken, *cell = flatten_take(f, sizeof *cell);
    bool ok = cell != NULL;
    if (!cell) return false;
    *cell = constant(f, 0.0);
    f->returned = cell;
    f->broken = NULL;
    for (size_t k = 0; k < fn->section_count && ok; k++)
        ok = execute_items(f, fn->sections[k].items, fn->sections[k].item_count);
    f->returned = returned;
    f->broken = broken;
    return ok;
}

/* ---- algorithms of the model ---- */

/* A cell for every element of a variable: before the algorithm it holds the value before the event
 * (discrete) or the start value. [MLS "Algorithm Sections"] */
static void initial_cells(flattener *f, const value *leaves, value *out)
{
    *out = *leaves;
    if (leaves->type == VALUE_RECORD) {
        out->fields = flatten_take(f, leaves->field_count * sizeof *out->fields);
        for (size_t k = 0; out->fields && k < leaves->field_count; k++)
            initial_cells(f, &leaves->fields[k], &out->fields[k]);
        return;
    }
    if (!value_is_simple(leaves)) return;
    out->e = flatten_take(f, leaves->count * sizeof *out->e);
    for (size_t k = 0; out->e && k < leaves->count; k++) {
        bool string = leaves->type == VALUE_STRING;
        const expr_node *n = string ? NULL : graph_node(f->g, leaves->e[k]);
        int variable = string                   ? -1
                       : n->op == EXPR_VARIABLE ? n->index
                       : n->op == EXPR_MEMORY   ? f->slot_variable[n->index]
                                                : -1;
        if (variable < 0) {
            out->e[k] = leaves->e[k];
            continue;
        }
        const flat_variable *v = &f->m->variables[variable];
        out->e[k] = v->discrete    ? graph_memory(f->g, v->memory_pre)
                    : v->has_start ? v->start
                                   : constant(f, 0.0);
    }
}

/* Cells for what a statement assigns to: a whole of elements, or a variable of its own. */
static void push_overlay(flattener *f, const ast_expr *left, bool wholes)
{
    if (!left) return;
    if (left->kind == AST_TUPLE) {
        for (size_t k = 0; k < left->arg_count; k++) push_overlay(f, left->args[k], wholes);
        return;
    }
    if (left->kind != AST_REFERENCE || !left->part_count || find_local(f, left->parts[0].name))
        return;
    symbol *s = find_symbol(f, left->parts[0].name);
    if (!s || (s->whole != NULL) != wholes || s->constant || s->parameter) return;
    if (!resolve_symbol(f, s, left->place)) return;
    local *l = push_local(f, left->parts[0].name);
    if (!l) return;
    l->assignable = l->overlay = true;
    l->symbol = s;
    initial_cells(f, &s->value, &l->value);
    const value cells = l->value; /* locals move as they become more */
    if (s->whole) overlay_elements(f, s, &cells);
}

/* Wholes come first: their elements are parts of them then. */
static void find_overlays(flattener *f, ast_item *const *items, size_t count, bool wholes)
{
    for (size_t k = 0; k < count; k++) {
        if (!items[k]) continue;
        if (items[k]->kind == ITEM_ASSIGN) push_overlay(f, items[k]->left, wholes);
        for (size_t b = 0; b < items[k]->branch_count; b++)
            find_overlays(f, items[k]->branches[b].items, items[k]->branches[b].item_count, wholes);
    }
}

/* Equations leaf = final value for the cells that were assigned. */
static void overlay_equations(flattener *f, const value *leaves, const value *cells,
                              const change_list *changed, cell_index *x, source_place place)
{
    if (leaves->type == VALUE_RECORD) {
        for (size_t k = 0; k < leaves->field_count; k++)
            overlay_equations(f, &leaves->fields[k], &cells->fields[k], changed, x, place);
        return;
    }
    for (size_t k = 0; cells->e && k < leaves->count; k++) {
        size_t at = cell_find(x, changed, &cells->e[k]);
        if (at == SIZE_MAX) continue;
        if (leaves->type == VALUE_STRING) {
            if (changed->values[at] != leaves->e[k])
                report_error(f, place, "a String of the model cannot be assigned to");
            continue;
        }
        value right = value_scalar(leaves->type, changed->values[at]);
        right = used_value(f, right, NULL, place);
        push_pair(f, f->target,
                  (equation_pair){.left = leaves->e[k],
                                  .right = value_element(&right, 0),
                                  .type = leaves->type,
                                  .place = place,
                                  .assigned = true});
    }
}

void algorithm_section(flattener *f, const ast_section *section, bool initial)
{
    size_t base = f->local_count, mark = f->journal_count;
    expr running = constant(f, 0.0);
    change_list changed;
    cell_index x;
    f->scope.in_initial = initial;
    f->target = initial ? &f->initial_equations : &f->equations;
    f->returned = &running;
    f->broken = NULL;
    find_overlays(f, section->items, section->item_count, true);
    find_overlays(f, section->items, section->item_count, false);
    f->overlays++;
    f->journal_depth = 1;
    bool ok = true;
    for (size_t k = 0; k < section->item_count; k++)
        if (!execute_items(f, section->items + k, 1)) ok = false;
    f->journal_depth = 0;
    if (take_back(f, mark, &changed) && ok && cell_index_new(f, &x, changed.count)) {
        change_list again = {changed.cells, NULL, 0};
        for (size_t k = 0; k < changed.count; k++) cell_position(&x, &again, changed.cells[k]);
        for (size_t k = base; k < f->local_count; k++)
            if (f->locals[k].symbol)
                overlay_equations(f, &f->locals[k].symbol->value, &f->locals[k].value, &changed, &x,
                                  section->place);
    }
    f->overlays--;
    f->local_count = base;
    f->returned = NULL;
    f->scope.in_initial = false;
}
