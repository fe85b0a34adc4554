/* Conditions at the end of a boundary value problem: annotation(__Daedal(terminal = {x == 1, ..})),
 * and those given from outside, "x = 1". They are kept beside the equations, which runs do not see.
 */
#include <string.h>

#include "modelica/flatten/flatten_internal.h"

static const source_place NOWHERE = {0, 0};

bool is_terminal(const ast_modification *field)
{
    return field->name && strcmp(field->name, "terminal") == 0;
}

bool only_terminals(const ast_modification *given)
{
    for (size_t k = 0; k < given->nested_count; k++)
        if (!is_terminal(&given->nested[k])) return false;
    return given->nested_count > 0;
}

/* Whether all conditions from number `first` on are equations of Reals. */
static void check_types(flattener *f, size_t first, source_place place)
{
    for (size_t k = first; k < f->terminal_equations.count; k++)
        if (f->terminal_equations.items[k].type != VALUE_REAL) {
            report_error(f, place, "a terminal condition is an equation of Reals");
            return;
        }
}

/* left = right, without events. */
static void add_condition(flattener *f, const ast_expr *left, const ast_expr *right,
                          source_place place, const char *comment)
{
    pair_list *target = f->target;
    const size_t first = f->terminal_equations.count;
    bool no_event = f->scope.no_event;
    f->scope.no_event = true;
    f->target = &f->terminal_equations;
    value a = evaluate(f, left), b = evaluate(f, right);
    equate(f, &a, &b, place, comment);
    f->scope.no_event = no_event;
    f->target = target;
    check_types(f, first, place);
}

static void read_condition(flattener *f, const ast_expr *e)
{
    if (!e) return;
    if (e->kind == AST_BINARY && e->op == OP_EQ)
        add_condition(f, e->args[0], e->args[1], e->place, NULL);
    else
        report_error(f, e->place, "a terminal condition is written left == right, as x == 1");
}

void terminal_annotation(flattener *f, const ast_modification *given)
{
    for (size_t k = 0; k < given->nested_count && !f->failed; k++) {
        const ast_modification *field = &given->nested[k];
        if (!is_terminal(field)) continue;
        const ast_expr *list = field->value;
        if (!list || list->kind != AST_ARRAY) {
            report_error(f, field->place,
                         "terminal conditions are a list: terminal = {x == 1, v == 0}");
            continue;
        }
        for (size_t i = 0; i < list->arg_count && !f->failed; i++) read_condition(f, list->args[i]);
    }
}

void terminal_conditions(flattener *f)
{
    for (size_t k = 0; k < f->terminal_count && !f->failed; k++) {
        const flatten_condition *c = &f->terminals[k];
        int errors = message_errors(f->messages);
        add_condition(f, c->left, c->right, NOWHERE, c->text);
        if (message_errors(f->messages) > errors)
            report_note(f, NOWHERE, "in the condition at the end: %s", c->text);
    }
}
