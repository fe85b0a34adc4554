/* Asserts and what surrounds them: conditions around a place, and where its actions go. */
#include <string.h>

#include "base/memory.h"
#include "modelica/flatten/flatten_internal.h"

/* All conditions around this place; those of branches become nodes only here. */
expr current_guard(flattener *f)
{
    expr all = f->scope.guard;
    for (const branch_guard *b = f->scope.branch; b; b = b->outer) {
        expr c = b->holds ? b->condition : graph_unary(f->g, EXPR_NOT, b->condition);
        all = both(f, all, c);
    }
    return all;
}

/* ---- assert and terminate as written ---- */

static bool read_message(flattener *f, const ast_expr *e, flat_action *out)
{
    value v = evaluate(f, e);
    if (value_is_error(&v)) return false;
    const text_piece *t =
        v.rank == 0 && v.type == VALUE_STRING ? string_of(f, value_element(&v, 0)) : NULL;
    if (!t) return type_error(f, e->place, "message", &v, "String");
    out->message = model_text(f, t->text);
    if (t->hole_count == 0) return true;
    out->holes = model_take(f, t->hole_count * sizeof *out->holes);
    if (!out->holes) return false;
    memcpy(out->holes, t->holes, t->hole_count * sizeof *out->holes);
    out->hole_count = t->hole_count;
    return true;
}

static bool read_level(flattener *f, const ast_expr *level, bool *warning)
{
    const char *name = level && level->kind == AST_REFERENCE && level->part_count
                           ? level->parts[level->part_count - 1].name
                           : NULL;
    *warning = name && strcmp(name, "warning") == 0;
    if (!level || (name && (*warning || strcmp(name, "error") == 0))) return true;
    return report_error(f, level->place,
                        "the level of an assert is AssertionLevel.error or AssertionLevel.warning");
}

/* assert(condition, message, level); under `guard` only what holds there is asserted. */
bool assert_action(flattener *f, const ast_expr *call, flat_action *out)
{
    const ast_expr *condition = call_argument(call, 0, "condition");
    const ast_expr *message = call_argument(call, 1, "message");
    *out = (flat_action){.kind = ACTION_ASSERT, .variable = -1, .place = call->place};
    if (!condition || !message)
        return report_error(f, call->place, "assert wants a condition and a message");
    bool before = f->scope.no_event;
    f->scope.no_event = true; /* looked at after each step: no event is needed */
    out->value = scalar_condition(f, condition);
    f->scope.no_event = before;
    if (out->value == EXPR_NONE || !read_message(f, message, out)) return false;
    expr guard = current_guard(f);
    if (guard != EXPR_NONE)
        out->value = graph_binary(f->g, EXPR_OR, graph_unary(f->g, EXPR_NOT, guard), out->value);
    return read_level(f, call_argument(call, 2, "level"), &out->warning);
}

bool terminate_action(flattener *f, const ast_expr *call, flat_action *out)
{
    *out = (flat_action){.kind = ACTION_TERMINATE, .variable = -1, .place = call->place};
    out->guard = current_guard(f);
    if (call->arg_count == 1) return read_message(f, call->args[0], out);
    return report_error(f, call->place, "terminate wants a message");
}

/* ---- where asserts go ---- */

void push_branch(flattener *f, flat_when *w, size_t *capacity, flat_branch b,
                 const action_list *actions)
{
    size_t n = actions->count;
    b.actions = dae_calloc(n, sizeof *b.actions);
    if (!b.actions ||
        !flatten_grow(f, &w->branches, capacity, w->branch_count + 1, sizeof *w->branches)) {
        dae_free(b.actions);
        f->failed = true;
        return;
    }
    if (n) memcpy(b.actions, actions->items, n * sizeof *b.actions);
    b.action_count = n;
    b.memory = new_memory(f);
    b.memory_pre = new_memory(f);
    w->branches[w->branch_count++] = b;
}

void push_when(flattener *f, flat_when *w)
{
    flat_model *m = f->m;
    flat_when *kept = flatten_push(f, &m->whens, &m->when_count, &f->when_capacity, sizeof *w);
    if (kept)
        *kept = *w;
    else
        flat_when_free(w);
}

/* An action inside a when of an algorithm: it happens when its guard, which says that the clause
 * has just become active, becomes true. */
static void push_single_when(flattener *f, const flat_action *action)
{
    flat_when w = {0};
    size_t capacity = 0;
    flat_action a = *action;
    action_list one = {&a, 1, 1};
    a.guard = EXPR_NONE;
    push_branch(f, &w, &capacity, (flat_branch){.condition = f->scope.guard, .place = a.place},
                &one);
    push_when(f, &w);
}

void push_assert(flattener *f, const flat_action *action)
{
    flat_action a = *action;
    a.place = place_in_file(f, a.place);
    if (f->scope.checks)
        push_action(f, f->scope.checks, a);
    else if (f->scope.actions)
        push_action(f, f->scope.actions, a);
    else if (f->scope.in_when)
        push_single_when(f, &a);
    else
        push_action(f, &f->asserts, a);
}

/* Holes of a message at its "{..}", in order. */
static bool find_holes(flattener *f, flat_action *a, const expr *values, flat_type type)
{
    size_t count = 0;
    for (const char *p = a->message; p && *p; p++) count += *p == '{';
    if (count == 0) return true;
    a->holes = model_take(f, count * sizeof *a->holes);
    if (!a->holes) return false;
    for (const char *p = a->message; a->hole_count < count; p++) {
        if (*p != '{') continue;
        size_t length = strcspn(p, "}") + 1;
        a->holes[a->hole_count] = (flat_hole){.offset = (size_t)(p - a->message),
                                              .length = length,
                                              .value = values[a->hole_count],
                                              .type = type};
        a->hole_count++;
    }
    return true;
}

/* Whether the same was just said: arguments may be evaluated more than once. */
static bool said_before(const flattener *f, expr holds, source_place place)
{
    const action_list *list = f->scope.checks    ? f->scope.checks
                              : f->scope.actions ? f->scope.actions
                                                 : &f->asserts;
    for (size_t k = list->count; k > 0 && k + 8 > list->count; k--)
        if (list->items[k - 1].value == holds && list->items[k - 1].place.line == place.line)
            return true;
    return false;
}

void push_check(flattener *f, expr holds, const char *message, const expr *values, flat_type type,
                source_place place)
{
    double known = 0.0;
    expr guard = current_guard(f);
    if (f->scope.parameters_only || f->scope.shape_only || f->failed || !message) return;
    if (guard != EXPR_NONE)
        holds = graph_binary(f->g, EXPR_OR, graph_unary(f->g, EXPR_NOT, guard), holds);
    if (f->scope.in_initial) /* elsewhere in the run nobody asks */
        holds = graph_binary(f->g, EXPR_OR,
                             graph_unary(f->g, EXPR_NOT, graph_memory(f->g, f->m->memory_initial)),
                             holds);
    if (holds == EXPR_NONE || (graph_is_constant(f->g, holds, &known) && known != 0.0)) return;
    if (said_before(f, holds, place)) return;
    flat_action a = {.kind = ACTION_ASSERT, .variable = -1, .value = holds, .place = place};
    a.message = model_text(f, message);
    if (a.message && find_holes(f, &a, values, type)) push_assert(f, &a);
}

/* ---- values that are not assigned on all paths ---- */

static const char *missing_message(flattener *f, const partial_cell *p, const char *name)
{
    if (name && f->scope.function)
        return flatten_text(f, "'%s' of %s is used, but it is not assigned on this path", name,
                            f->scope.function->name);
    if (!p->variable) return "a variable is used that is not assigned on this path of a function";
    return flatten_text(f, "output '%s' of %s is used, but it is not assigned on this path",
                        p->variable, p->function_);
}

/* The node of one element; *ok: false if it is known to be missing, which was reported. */
static expr used_element(flattener *f, expr e, const char *name, source_place place, bool *ok)
{
    const partial_cell *p = partial_find(f, e);
    if (!p || f->scope.shape_only) return e;
    expr guard = current_guard(f), v = p->value, holds = p->assigned;
    const char *message = missing_message(f, p, name);
    expr reached = guard == EXPR_NONE ? constant(f, 0.0) : graph_unary(f->g, EXPR_NOT, guard);
    if (always_holds(f, graph_binary(f->g, EXPR_OR, reached, holds))) return v;
    if (f->scope.parameters_only && guard == EXPR_NONE && fixed_value(f, holds) == 0.0) {
        *ok = report_error(f, place, "%s", message);
        return v;
    }
    push_check(f, holds, message, NULL, FLAT_REAL, place);
    return f->scope.parameters_only ? e : v; /* no number, where nothing is asserted */
}

value used_value(flattener *f, value v, const char *name, source_place place)
{
    bool found = false, ok = true;
    if (f->partial_count == 0 || !value_is_simple(&v)) return v;
    for (size_t k = 0; k < v.count && !found; k++)
        found = partial_find(f, value_element(&v, k)) != NULL;
    if (!found) return v;
    const expr *from = value_elements(&v);
    expr *to = v.e ? flatten_take(f, v.count * sizeof *to) : &v.scalar;
    for (size_t k = 0; to && k < v.count; k++) to[k] = used_element(f, from[k], name, place, &ok);
    if (v.e) v.e = to;
    return to && ok ? v : value_error();
}
