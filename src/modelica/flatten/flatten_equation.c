/* Equation sections: scalar equations, if, for, calls. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "modelica/flatten/flatten_internal.h"

/* ---- left = right ---- */

static void shapes_differ(flattener *f, const value *a, const value *b, source_place place)
{
    report_error(f, place, "sides of this equation have different sizes: %s and %s",
                 a->rank ? value_shape(a->rank, a->dims).text : "a scalar",
                 b->rank ? value_shape(b->rank, b->dims).text : "a scalar");
}

static void types_differ(flattener *f, const value *a, const value *b, source_place place)
{
    if (a->type == VALUE_STRING && b->type == VALUE_STRING) {
        report_error(f, place, "Strings have no equations: they are set where they are declared");
        return;
    }
    report_error(f, place, "sides of this equation have different types: %s and %s",
                 value_describe(a).text, value_describe(b).text);
}

static void equate_tuples(flattener *f, const value *a, const value *b, source_place place,
                          const char *comment)
{
    size_t n = a->type == VALUE_TUPLE ? a->field_count : 1;
    size_t have = b->type == VALUE_TUPLE ? b->field_count : 1;
    if (a->type == VALUE_TUPLE && have < n) {
        report_error(f, place, "%zu results are wanted, but there are %zu", n, have);
        return;
    }
    for (size_t k = 0; k < n; k++) {
        const value *left = a->type == VALUE_TUPLE ? &a->fields[k] : a;
        const value *right = b->type == VALUE_TUPLE ? &b->fields[k] : b;
        equate(f, left, right, place, comment);
    }
}

static bool equation_types_fit(const value *a, const value *b)
{
    if (a->type == VALUE_STRING) return false;
    return (value_is_numeric(a) && value_is_numeric(b)) ||
           (a->type == b->type && a->class_ == b->class_);
}

/* Fields of records that are constants on both sides must be the same; there is nothing to solve.
 */
static bool same_constants(flattener *f, const value *a, const value *b, source_place place)
{
    if (!value_is_simple(a) || !value_same_shape(a, b) || a->type == VALUE_STRING) return false;
    for (size_t k = 0; k < a->count; k++) {
        double x, y;
        if (!graph_is_constant(f->g, value_element(a, k), &x) ||
            !graph_is_constant(f->g, value_element(b, k), &y))
            return false;
        if (x != y) report_error(f, place, "a constant of the record is %g and %g here", x, y);
    }
    return true;
}

/* Scalar equations left = right, element by element and field by field. */
void equate(flattener *f, const value *left, const value *right, source_place place,
            const char *comment)
{
    if (value_is_error(left) || value_is_error(right)) return;
    if (left->type == VALUE_TUPLE || right->type == VALUE_TUPLE) {
        equate_tuples(f, left, right, place, comment);
        return;
    }
    if (!equation_types_fit(left, right)) {
        types_differ(f, left, right, place);
        return;
    }
    if (!value_same_shape(left, right)) {
        shapes_differ(f, left, right, place);
        return;
    }
    if (left->type == VALUE_RECORD) {
        for (size_t k = 0; k < left->field_count; k++)
            if (!same_constants(f, &left->fields[k], &right->fields[k], place))
                equate(f, &left->fields[k], &right->fields[k], place, comment);
        return;
    }
    check_units(f, place, left->unit, right->unit, "equation");
    const value a = used_value(f, *left, NULL, place), b = used_value(f, *right, NULL, place);
    if (value_is_error(&a) || value_is_error(&b)) return;
    bool real = left->type == VALUE_REAL || right->type == VALUE_REAL;
    for (size_t k = 0; k < left->count; k++)
        push_pair(f, f->target,
                  (equation_pair){.left = value_element(&a, k),
                                  .right = value_element(&b, k),
                                  .type = real ? VALUE_REAL : left->type,
                                  .place = place,
                                  .comment = comment});
}

/* (a, , b) on the left of an equation: empty places are error values, which equate skips. */
static value tuple_value(flattener *f, const ast_expr *e)
{
    value v = {.type = VALUE_TUPLE, .count = 1, .field_count = e->arg_count};
    v.fields = flatten_take(f, e->arg_count * sizeof *v.fields);
    if (!v.fields) return value_error();
    for (size_t k = 0; k < e->arg_count; k++)
        v.fields[k] = e->args[k] ? evaluate(f, e->args[k]) : value_error();
    return v;
}

/* Whether an equation is the definition of a String variable, which was taken at its declaration.
 */
static bool defines_text(flattener *f, const ast_item *item)
{
    const ast_expr *left = item->left;
    if (left->kind != AST_REFERENCE || left->part_count != 1 || !left->parts[0].name) return false;
    const symbol *s = find_symbol(f, left->parts[0].name);
    return s && s->text_item == item;
}

static void equation_by_text(flattener *f, const ast_item *item)
{
    value left =
        item->left->kind == AST_TUPLE ? tuple_value(f, item->left) : evaluate(f, item->left);
    value right =
        item->left->kind == AST_TUPLE ? evaluate_results(f, item->right) : evaluate(f, item->right);
    f->dropped += value_is_error(&left) || value_is_error(&right);
    equate(f, &left, &right, item->place, item->comment);
}

static void simple_equation(flattener *f, const ast_item *item)
{
    if (!item->left || !item->right || defines_text(f, item)) return;
    if (f->scope.actions)
        when_assign(f, item);
    else if (!replay_equation(f, item, equation_by_text))
        equation_by_text(f, item);
}

/* ---- calls ---- */

/* prioritize(x, p): the start value of x is to hold, if there is room for it. Those of states do
 * anyway, until there are enough. */
static void read_priority(flattener *f, const ast_expr *call)
{
    double priority;
    if (call->arg_count != 2) {
        report_error(f, call->place, "prioritize wants a variable and its priority");
        return;
    }
    value v = evaluate(f, call->args[0]);
    if (!integer_value(f, call->args[1], "priority", &priority) || value_is_error(&v)) return;
    for (size_t k = 0; k < v.count && value_is_simple(&v); k++) {
        expr e = value_element(&v, k);
        if (graph_failed(f->g) || graph_node(f->g, e)->op == EXPR_VARIABLE) continue;
        report_error(f, call->args[0]->place, "prioritize wants a variable");
        return;
    }
}

static void call_item(flattener *f, const ast_item *item)
{
    const ast_expr *call = item->left;
    flat_action a;
    if (!call || call->kind != AST_CALL || !call->part_count || !call->parts[0].name) return;
    const char *name = call->parts[0].name;
    action_list *list = f->scope.actions ? f->scope.actions : &f->asserts;
    if (strcmp(name, "assert") == 0) {
        if (assert_action(f, call, &a)) push_action(f, list, a);
    } else if (strcmp(name, "terminate") == 0) {
        if (terminate_action(f, call, &a)) push_action(f, list, a);
    } else if (strcmp(name, "reinit") == 0) {
        reinit_actions(f, call);
    } else if (strcmp(name, "prioritize") == 0 && f->target == &f->initial_equations) {
        read_priority(f, call);
    } else if (strcmp(name, "connect") == 0) {
        report_error(f, call->place,
                     "'connect' is not supported: flatten the model to Base Modelica first");
    } else {
        evaluate(f, call); /* for the asserts of the function */
    }
}

/* ---- for ---- */

/* "i = 4", behind the passes of the loops around. */
static const char *name_pass(flattener *f, const char *around, const char *name, const value *v)
{
    const double whole = 1e15;
    char text[200];
    double x =
        v->count == 1 && value_is_simple(v) ? fixed_value(f, value_element(v, 0)) : (double)NAN;
    if (isnan(x)) return around;
    if (x >= 0.0 && x == floor(x) && x < whole) { /* the usual one, without a format */
        const size_t size = sizeof text;
        size_t at = text_append(text, size, 0, around ? around : "", 100);
        at = text_append(text, size, at, ", ", around ? 2 : 0);
        at = text_append(text, size, at, name, 60);
        at = text_append(text, size, at, " = ", 3);
        text_append_number(text, size, at, (size_t)x);
    } else {
        snprintf(text, sizeof text, "%.100s%s%.60s = %.6g", around ? around : "",
                 around ? ", " : "", name, x);
    }
    return model_text(f, text);
}

static void loop_nest(flattener *f, const ast_item *item, size_t depth)
{
    if (depth == item->iterator_count) {
        if (item->branch_count)
            equation_items(f, item->branches[0].items, item->branches[0].item_count);
        return;
    }
    loop_range r;
    if (!evaluate_range(f, &item->iterators[depth], &r)) return;
    size_t slot = f->local_count;
    int errors = message_errors(f->messages);
    const char *around = f->pass;
    if (!push_local(f, item->iterators[depth].name)) return;
    for (size_t k = 0; k < r.count && flatten_pass(f, item->place); k++) {
        f->locals[slot].value = range_element(f, &r, k);
        f->pass = name_pass(f, around, item->iterators[depth].name, &f->locals[slot].value);
        loop_nest(f, item, depth + 1);
        if (message_errors(f->messages) > errors) break; /* the next passes would say the same */
    }
    f->pass = around;
    f->local_count = slot;
}

static void for_equation(flattener *f, const ast_item *item)
{
    loop_nest(f, item, 0);
    if (f->pass) return;
    replays_free(f);
    element_texts_free(f);
}

/* ---- if ---- */

/* What a branch says, kept apart until all are known. */
typedef struct if_branch {
    expr condition; /* EXPR_NONE: else */
    pair_list pairs;
    source_place place;
} if_branch;

/* Condition of a branch: EXPR_NONE and known for "else". False: an error was reported. */
bool decide_condition(flattener *f, const ast_branch *b, expr *condition, bool *known, bool *yes)
{
    double x = 1.0;
    *condition = EXPR_NONE;
    *known = *yes = true;
    if (!b->condition) return true;
    *condition = scalar_condition(f, b->condition);
    if (*condition == EXPR_NONE) return false;
    *known = is_structural(f, *condition) && compile_time_value(f, *condition, &x);
    *yes = *known && x != 0.0;
    return true;
}

/* Position in `list` of an equation with that left side, from `from` on; list->count if none. */
static size_t find_left(const pair_list *list, expr left, size_t from)
{
    for (size_t k = from; k < list->count; k++)
        if (list->items[k].left == left) return k;
    return list->count;
}

enum { ALIGN_MOST = 500 };

/* Bring equations of a branch into the order of the first one's left sides. */
static void align_pairs(const pair_list *first, pair_list *other)
{
    if (first->count > ALIGN_MOST) return;
    for (size_t k = 0; k < first->count && k < other->count; k++) {
        size_t at = find_left(other, first->items[k].left, k);
        if (at == other->count) continue;
        equation_pair swap = other->items[k];
        other->items[k] = other->items[at];
        other->items[at] = swap;
    }
}

static expr pair_residual(flattener *f, const equation_pair *p)
{
    return p->residual != EXPR_NONE ? p->residual : graph_binary(f->g, EXPR_SUB, p->left, p->right);
}

/* Equation k of all branches as one: if c1 then r1 else .. = 0, solved for a common left side if
 * there is one. */
static equation_pair merge_pair(flattener *f, const if_branch *b, size_t count, size_t k)
{
    equation_pair out = b[count - 1].pairs.items[k];
    bool same = true;
    for (size_t i = 0; i < count; i++) {
        const equation_pair *p = &b[i].pairs.items[k];
        if (p->left != out.left || p->residual != EXPR_NONE || p->left == EXPR_NONE) same = false;
        if (p->type == VALUE_REAL) out.type = VALUE_REAL;
    }
    expr sum = same ? out.right : pair_residual(f, &out);
    for (size_t i = count - 1; i > 0; i--) {
        const equation_pair *p = &b[i - 1].pairs.items[k];
        sum = graph_select(f->g, b[i - 1].condition, same ? p->right : pair_residual(f, p), sum);
    }
    out.place = b[0].pairs.items[k].place;
    out.comment = b[0].pairs.items[k].comment;
    out.pass = b[0].pairs.items[k].pass;
    if (same) {
        out.right = sum;
    } else {
        out.left = out.right = EXPR_NONE;
        out.residual = sum;
    }
    return out;
}

static bool counts_agree(const if_branch *b, size_t count)
{
    for (size_t k = 1; k < count; k++)
        if (b[k].pairs.count != b[0].pairs.count) return false;
    return true;
}

/* With different numbers of equations the choice must fall before the run. */
static bool choose_branch(flattener *f, const if_branch *b, size_t count, size_t *chosen)
{
    double x = 0.0;
    for (*chosen = 0; *chosen < count; ++*chosen) {
        if (b[*chosen].condition == EXPR_NONE) return true;
        if (!compile_time_value(f, b[*chosen].condition, &x)) return false;
        if (x != 0.0) return true;
    }
    return true;
}

static void merge_branches(flattener *f, const ast_item *item, if_branch *b, size_t count,
                           bool has_else)
{
    size_t chosen = 0, none = has_else ? count : 0;
    if (!has_else && b[0].pairs.count) count++; /* the missing else has no equations */
    if (counts_agree(b, count)) {
        for (size_t k = 1; k < count; k++) align_pairs(&b[0].pairs, &b[k].pairs);
        for (size_t k = 0; count > 0 && k < b[0].pairs.count; k++)
            push_pair(f, f->target, merge_pair(f, b, count, k));
        return;
    }
    if (choose_branch(f, b, count, &chosen)) {
        for (size_t k = 0; chosen < count && k < b[chosen].pairs.count; k++)
            push_pair(f, f->target, b[chosen].pairs.items[k]);
        return;
    }
    for (chosen = 1; b[chosen].pairs.count == b[0].pairs.count;) chosen++;
    report_error(f, item->place,
                 "branches of this if have %zu and %zu equations: a condition that changes during "
                 "the run needs the same number in each%s",
                 b[0].pairs.count, b[chosen].pairs.count, none ? "" : ", and an else");
}

/* Branches whose condition is known choose at once; the others are collected and merged. */
static void if_equation(flattener *f, const ast_item *item)
{
    if_branch *b = dae_calloc(item->branch_count + 1, sizeof *b);
    pair_list *target = f->target;
    expr guard = f->scope.guard, none_before = EXPR_NONE;
    size_t count = 0;
    bool decided = false, broken = !b;
    if (!b) f->failed = true;
    for (size_t k = 0; k < item->branch_count && !decided && b; k++) {
        const ast_branch *a = &item->branches[k];
        expr c;
        bool known, yes;
        f->scope.guard = both(f, guard, none_before); /* else it is not asked */
        bool ok = decide_condition(f, a, &c, &known, &yes);
        f->scope.guard = guard;
        if (ok && known && !yes) continue;
        if (!ok) broken = true;
        decided = ok && known;
        b[count].condition = decided ? EXPR_NONE : c;
        b[count].place = a->place;
        if (count > 0 || !decided) {
            f->target = &b[count].pairs;
            f->scope.guard = both(f, guard, both(f, none_before, decided ? EXPR_NONE : c));
            if (!decided && ok) none_before = both(f, none_before, graph_unary(f->g, EXPR_NOT, c));
        }
        bool alone = count == 0 && decided;
        if (!alone) count++;
        int errors = message_errors(f->messages);
        size_t dropped = f->dropped;
        equation_items(f, a->items, a->item_count);
        if (message_errors(f->messages) > errors || f->dropped > dropped)
            broken = true; /* what is left is not all */
        f->target = target;
        f->scope.guard = guard;
    }
    if (count > 0 && !broken) merge_branches(f, item, b, count, decided);
    for (size_t k = 0; b && k <= item->branch_count; k++) dae_free(b[k].pairs.items);
    dae_free(b);
}

/* ---- all items ---- */

enum { SCRATCH_MOST = 16 << 20 };

/* Values of finished equations are not needed any more. */
static void clear_scratch(flattener *f)
{
    if (f->scratch_bytes < SCRATCH_MOST || f->depth > 0 || f->scope.active != f->scratch) return;
    arena *fresh = arena_new(0);
    if (!fresh) return;
    arena_free(f->scratch);
    f->scratch = f->scope.active = fresh;
    f->scratch_bytes = 0;
}

static void equation_item(flattener *f, const ast_item *item)
{
    switch (item->kind) {
    case ITEM_EQUATION: simple_equation(f, item); break;
    case ITEM_CALL: call_item(f, item); break;
    case ITEM_IF:
        if (f->scope.actions)
            when_if(f, item);
        else
            if_equation(f, item);
        break;
    case ITEM_FOR: for_equation(f, item); break;
    case ITEM_WHEN: when_equation(f, item); break;
    default:
        report_error(f, item->place,
                     "this statement stands only in algorithms; an equation is written with '='");
        break;
    }
}

void equation_items(flattener *f, ast_item *const *items, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        if (!items[k] || !flatten_pass(f, items[k]->place) || message_full(f->messages)) continue;
        if (f->scope.in_initial && initial_item_is_done(f, items[k])) continue;
        if (!f->scope.in_when) clear_scratch(f);
        equation_item(f, items[k]);
    }
}
