/* Expressions of the syntax tree to values over the graph. */
#include <math.h>
#include <string.h>

#include "modelica/flatten/flatten_internal.h"

/* ---- conditions and choices ---- */

/* Values of both branches must agree in type and sizes. */
static bool branches_agree(flattener *f, const value *a, const value *b, source_place place)
{
    bool numeric = value_is_numeric(a) && value_is_numeric(b);
    if ((numeric || (a->type == b->type && a->class_ == b->class_)) && value_same_shape(a, b))
        return true;
    return report_error(f, place, "branches of this if have different types: %s and %s",
                        value_describe(a).text, value_describe(b).text);
}

static bool same_kind(const value *a, const value *b)
{
    bool numeric = value_is_numeric(a) && value_is_numeric(b);
    return (numeric || a->type == b->type) && value_same_shape(a, b) && a->type != VALUE_STRING;
}

/* Join "if c then v else rest"; sizes or strings that differ make c a decision of compile time. */
static value join_branches(flattener *f, expr c, const value *v, const value *rest,
                           const ast_expr *condition)
{
    double x = 0.0;
    if (value_is_error(v) || value_is_error(rest)) return value_error();
    if (!same_kind(v, rest) && compile_time_value(f, c, &x)) return x != 0.0 ? *v : *rest;
    if (!branches_agree(f, v, rest, condition->place)) return value_error();
    check_units(f, condition->place, v->unit, rest->unit, "if");
    return select_values(f, c, v, rest);
}

/* if c1 then v1 elseif c2 then v2 .. else v: known conditions choose, others make selects. */
static value evaluate_if(flattener *f, const ast_expr *e)
{
    size_t most = e->arg_count / 2, used = 0;
    if (e->arg_count % 2 == 0) return value_error();
    expr *conditions = flatten_take(f, (most + 1) * sizeof *conditions);
    value *values = flatten_take(f, (most + 1) * sizeof *values);
    const ast_expr **at = flatten_take(f, (most + 1) * sizeof *at);
    if (!conditions || !values || !at) return value_error();
    value rest = value_error();
    const branch_guard *outer = f->scope.branch;
    branch_guard *guards = flatten_take(f, (2 * most + 1) * sizeof *guards);
    bool decided = false, broken = !guards;
    for (size_t k = 0; guards && k < most && !decided; k++) {
        double x = 0.0;
        expr c = scalar_condition(f, e->args[2 * k]);
        if (c == EXPR_NONE) broken = true;
        bool known = c != EXPR_NONE && is_structural(f, c) && compile_time_value(f, c, &x);
        if (known && x == 0.0) continue;
        const branch_guard *before = f->scope.branch;
        guards[2 * k] = (branch_guard){c, true, before};
        guards[2 * k + 1] = (branch_guard){c, false, before};
        if (!known && c != EXPR_NONE) f->scope.branch = &guards[2 * k];
        value v = evaluate(f, e->args[2 * k + 1]);
        f->scope.branch = known || c == EXPR_NONE ? before : &guards[2 * k + 1];
        if (known) {
            rest = v;
            decided = true;
            break;
        }
        conditions[used] = c;
        at[used] = e->args[2 * k];
        values[used++] = v;
    }
    if (!decided) rest = evaluate(f, e->args[e->arg_count - 1]);
    f->scope.branch = outer;
    if (broken) return value_error();
    for (size_t k = used; k > 0; k--)
        rest = join_branches(f, conditions[k - 1], &values[k - 1], &rest, at[k - 1]);
    return rest;
}

/* ---- all kinds ---- */

static value evaluate_array(flattener *f, const ast_expr *e)
{
    value *parts = flatten_take(f, e->arg_count * sizeof *parts);
    bool broken = !parts;
    for (size_t k = 0; parts && k < e->arg_count; k++) {
        parts[k] = evaluate(f, e->args[k]);
        if (value_is_error(&parts[k])) broken = true;
    }
    return broken ? value_error() : stack_values(f, parts, e->arg_count, e->place);
}

static value evaluate_end(flattener *f, const ast_expr *e)
{
    if (f->scope.end_size == SIZE_MAX)
        return error_value(f, e->place, "'end' stands only in subscripts");
    value v = value_constant(f, VALUE_INTEGER, (double)f->scope.end_size);
    v.unit = UNIT_LITERAL;
    return v;
}

static value evaluate_simple(flattener *f, const ast_expr *e)
{
    value v = value_error();
    switch (e->kind) {
    case AST_NUMBER:
        v = value_constant(f, e->integer ? VALUE_INTEGER : VALUE_REAL, e->value);
        v.unit = UNIT_LITERAL;
        if (!check_numbers(f, &v, false, e->place)) return value_error();
        break;
    case AST_BOOLEAN: v = value_boolean(f, e->value != 0.0); break;
    case AST_STRING:
        v = value_scalar(VALUE_STRING, string_new(f, e->text ? e->text : "", NULL, 0));
        break;
    case AST_END: v = evaluate_end(f, e); break;
    case AST_FUNCTION:
        report_error(f, e->place, "a function stands only where a function wants one as argument");
        break;
    case AST_COLON: report_error(f, e->place, "':' stands only in subscripts"); break;
    default: report_error(f, e->place, "this is not a value"); break;
    }
    return v;
}

static value evaluate_kind(flattener *f, const ast_expr *e)
{
    value v;
    switch (e->kind) {
    case AST_REFERENCE: return evaluate_reference(f, e);
    case AST_CALL: return evaluate_call(f, e);
    case AST_UNARY:
        if (e->arg_count != 1) return value_error();
        v = evaluate(f, e->args[0]);
        return evaluate_unary(f, e->op, &v, e->place);
    case AST_BINARY: return e->arg_count == 2 ? evaluate_chain(f, e) : value_error();
    case AST_IF: return evaluate_if(f, e);
    case AST_RANGE: return range_vector(f, e);
    case AST_ARRAY: return evaluate_array(f, e);
    case AST_MATRIX: return evaluate_matrix(f, e);
    case AST_COMPREHENSION: return evaluate_comprehension(f, e);
    case AST_SUBSCRIPT:
        if (e->arg_count < 1) return value_error();
        v = evaluate(f, e->args[0]);
        return subscript_value(f, &v, e->args + 1, e->arg_count - 1, e->place);
    case AST_MEMBER:
        if (e->arg_count != 1) return value_error();
        v = evaluate(f, e->args[0]);
        return member_value(f, &v, e);
    default: return evaluate_simple(f, e);
    }
}

value expression_results(flattener *f, const ast_expr *e)
{
    if (!e || f->failed || f->stop) return value_error();
    if (f->depth >= FLATTEN_MAX_DEPTH) {
        report_error(f, e->place, "expressions are nested too deeply");
        f->stop = true;
        return value_error();
    }
    f->depth++;
    f->at = e->place;
    value v = used_value(f, evaluate_kind(f, e), NULL, e->place);
    f->depth--;
    return v;
}

/* A call with several results stands for the first one wherever no list of them is on the left
 * (Modelica 3.6, 12.4.3). */
value expression_value(flattener *f, const ast_expr *e)
{
    value v = expression_results(f, e);
    return v.type == VALUE_TUPLE && v.field_count ? used_value(f, v.fields[0], NULL, e->place) : v;
}
