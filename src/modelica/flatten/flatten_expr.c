/* Expressions of the syntax tree to values over the graph. */
#include <math.h>
#include <string.h>

#include "modelica/flatten/flatten_internal.h"

/* ---- messages ---- */

void type_error(flattener *f, source_place place, const char *what, const value *v,
                const char *expected)
{
    char text[128];
    value_describe(v, text, sizeof text);
    report_error(f, place, "%s: expected %s, found %s", what, expected, text);
}

static bool comes_before(source_place a, source_place b)
{
    return a.line != b.line ? a.line < b.line : a.column < b.column;
}

/* Whether a warning was given for this place; from now on it was. The places are kept in order:
 * a text is mostly read in it, so that most new ones go to the end. */
static bool unit_reported(flattener *f, source_place place)
{
    size_t low = 0, high = f->unit_report_count;
    if (high > 0 && comes_before(f->unit_reports[high - 1], place)) low = high;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (comes_before(f->unit_reports[middle], place))
            low = middle + 1;
        else
            high = middle;
    }
    if (low < f->unit_report_count && !comes_before(place, f->unit_reports[low])) return true;
    if (!flatten_grow(f, &f->unit_reports, &f->unit_report_capacity, f->unit_report_count + 1,
                      sizeof *f->unit_reports))
        return false;
    memmove(f->unit_reports + low + 1, f->unit_reports + low,
            (f->unit_report_count - low) * sizeof *f->unit_reports);
    f->unit_reports[low] = place;
    f->unit_report_count++;
    return false;
}

/* sin(time) and x + exp(-time) are common in examples, and other tools do not object: seconds may
 * stand for a pure number. */
static bool is_bare_time(flattener *f, int a, int b)
{
    int second = unit_number(&f->units, "s");
    return (a == second && b > 0 && unit_is_number(&f->units, b)) ||
           (b == second && a > 0 && unit_is_number(&f->units, a));
}

/* Warn, once per place, if values of these units are added, compared or equated. */
void check_units(flattener *f, source_place place, int a, int b, const char *what)
{
    if (f->in_function || unit_agree(&f->units, a, b) || is_bare_time(f, a, b)) return;
    if (unit_reported(f, place)) return;
    report_warning(f, place, "units differ in this %s: \"%s\" and \"%s\"", what,
                   unit_text(&f->units, a), unit_text(&f->units, b));
}

/* ---- conversion ---- */

/* Whether a value may stand where `to` is wanted: Integer also for Real. */
bool fits_type(const value *from, value_type to, const ast_class *class_)
{
    if (from->type == VALUE_INTEGER && to == VALUE_REAL) return true;
    if (from->type != to) return false;
    return (to != VALUE_ENUMERATION && to != VALUE_RECORD) || from->class_ == class_ || !class_;
}

value convert_value(flattener *f, const value *v, const value *like)
{
    value out = *v;
    (void)f;
    if (v->type == VALUE_INTEGER && like->type == VALUE_REAL) out.type = VALUE_REAL;
    return out;
}

static value broadcast_record(flattener *f, const value *v, int rank, const size_t *dims)
{
    value out = *v;
    size_t *copy = flatten_take(f, VALUE_MAX_RANK * sizeof *copy);
    out.fields = flatten_take(f, v->field_count * sizeof *out.fields);
    if (!copy || !out.fields) return value_error();
    memcpy(copy, dims, (size_t)rank * sizeof *copy);
    out.dims = copy;
    out.rank = rank;
    out.count = 1;
    for (int k = 0; k < rank; k++) out.count *= dims[k];
    for (size_t k = 0; k < v->field_count; k++) {
        size_t own[VALUE_MAX_RANK];
        int extra = v->fields[k].rank - v->rank;
        if (value_is_error(&v->fields[k]) || rank + extra > VALUE_MAX_RANK) return value_error();
        memcpy(own, dims, (size_t)rank * sizeof *own);
        for (int d = 0; d < extra; d++) own[rank + d] = v->fields[k].dims[v->rank + d];
        out.fields[k] = broadcast_value(f, &v->fields[k], rank + extra, own);
        if (value_is_error(&out.fields[k])) return value_error();
    }
    return out;
}

/* v repeated along leading dimensions until it has these sizes; an error value (silent) if its own
 * sizes are not the last ones of them. */
value broadcast_value(flattener *f, const value *v, int rank, const size_t *dims)
{
    if (value_is_error(v) || v->rank > rank) return value_error();
    for (int k = 0; k < v->rank; k++)
        if (v->dims[k] != dims[rank - v->rank + k]) return value_error();
    if (v->rank == rank) return *v;
    if (v->type == VALUE_RECORD) return broadcast_record(f, v, rank, dims);
    value out = value_new(f, v->type, rank, dims);
    if (value_is_error(&out)) return out;
    out.class_ = v->class_;
    out.unit = v->unit;
    for (size_t k = 0; k < out.count; k++) out.e[k] = value_element(v, k % v->count);
    return out;
}

/* ---- conditions and choices ---- */

expr scalar_condition(flattener *f, const ast_expr *e)
{
    value v = evaluate(f, e);
    if (value_is_error(&v)) return EXPR_NONE;
    if (v.type == VALUE_BOOLEAN && v.rank == 0) return value_element(&v, 0);
    type_error(f, e->place, "condition", &v, "Boolean");
    return EXPR_NONE;
}

/* Values of both branches must agree in type and sizes. */
static bool branches_agree(flattener *f, const value *a, const value *b, source_place place)
{
    bool numeric = value_is_numeric(a) && value_is_numeric(b);
    char left[128], right[128];
    if ((numeric || (a->type == b->type && a->class_ == b->class_)) && value_same_shape(a, b))
        return true;
    value_describe(a, left, sizeof left);
    value_describe(b, right, sizeof right);
    report_error(f, place, "branches of this if have different types: %s and %s", left, right);
    return false;
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
    if (v->type == VALUE_STRING && rest->type == VALUE_STRING) {
        report_error(f, condition->place, "a String cannot depend on a condition of the run");
        return value_error();
    }
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
    const branch_guard *outer = f->branch;
    branch_guard *guards = flatten_take(f, (2 * most + 1) * sizeof *guards);
    bool decided = false, broken = !guards;
    for (size_t k = 0; guards && k < most && !decided; k++) {
        double x = 0.0;
        expr c = scalar_condition(f, e->args[2 * k]);
        if (c == EXPR_NONE) broken = true;
        bool known = c != EXPR_NONE && is_structural(f, c) && compile_time_value(f, c, &x);
        if (known && x == 0.0) continue;
        const branch_guard *before = f->branch;
        guards[2 * k] = (branch_guard){c, true, before};
        guards[2 * k + 1] = (branch_guard){c, false, before};
        if (!known && c != EXPR_NONE) f->branch = &guards[2 * k];
        value v = evaluate(f, e->args[2 * k + 1]);
        f->branch = known || c == EXPR_NONE ? before : &guards[2 * k + 1];
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
    f->branch = outer;
    if (broken) return value_error();
    for (size_t k = used; k > 0; k--)
        rest = join_branches(f, conditions[k - 1], &values[k - 1], &rest, at[k - 1]);
    return rest;
}

/* ---- ranges ---- */

bool integer_value(flattener *f, const ast_expr *e, const char *what, double *out)
{
    value v = evaluate(f, e);
    if (value_is_error(&v)) return false;
    if (v.rank || (v.type != VALUE_INTEGER && v.type != VALUE_ENUMERATION)) {
        type_error(f, e->place, what, &v, "Integer");
        return false;
    }
    if (compile_time_value(f, value_element(&v, 0), out)) return true;
    report_error(f, e->place,
                 "%s must be known before the run: it may only depend on "
                 "parameters and constants",
                 what);
    return false;
}

static bool range_bound(flattener *f, const ast_expr *e, double *out, value *v)
{
    *v = evaluate(f, e);
    if (value_is_error(v)) return false;
    if (v->rank || (!value_is_numeric(v) && v->type != VALUE_ENUMERATION)) {
        type_error(f, e->place, "range", v, "Integer or Real");
        return false;
    }
    if (compile_time_value(f, value_element(v, 0), out)) return true;
    report_error(f, e->place,
                 "a range must be known before the run: it may only depend on parameters and "
                 "constants");
    return false;
}

/* start : step : stop, without storing its elements. [MLS "Vector Construction"] */
static bool plain_range(flattener *f, const ast_expr *e, loop_range *out)
{
    double stop = 0.0;
    value a, b, s;
    out->step = 1.0;
    if (e->arg_count < 2 || !range_bound(f, e->args[0], &out->start, &a)) return false;
    if (e->arg_count == 3 && !range_bound(f, e->args[1], &out->step, &s)) return false;
    if (!range_bound(f, e->args[e->arg_count - 1], &stop, &b)) return false;
    bool real =
        a.type == VALUE_REAL || b.type == VALUE_REAL || (e->arg_count == 3 && s.type == VALUE_REAL);
    out->type = a.type == VALUE_ENUMERATION ? a.type : real ? VALUE_REAL : VALUE_INTEGER;
    out->class_ = a.class_;
    if (out->step == 0.0) {
        report_error(f, e->args[1]->place, "the step of a range must not be 0");
        return false;
    }
    double n = floor((stop - out->start) / out->step * (1.0 + 1e-15)) + 1.0;
    if (n > f->limits.elements) {
        report_error(f, e->place, "a range of %.0f elements is too long", n);
        return false;
    }
    out->count = n > 0.0 ? (size_t)n : 0;
    return true;
}

static bool type_range(flattener *f, const ast_expr *e, loop_range *out)
{
    if (e->kind != AST_REFERENCE || find_local(f, e->parts[0].name)) return false;
    const ast_class *c = find_class(f, joined_name(f, e->parts, e->part_count));
    if (!class_is_enumeration(c)) return false;
    *out = (loop_range){.count = c->literal_count, .start = 1.0, .step = 1.0};
    out->type = VALUE_ENUMERATION;
    out->class_ = c;
    return true;
}

bool evaluate_range(flattener *f, const ast_iterator *it, loop_range *out)
{
    *out = (loop_range){0};
    if (!it->range) {
        report_error(f, it->place, "the range of '%s' must be given", it->name);
        return false;
    }
    if (it->range->kind == AST_RANGE) return plain_range(f, it->range, out);
    if (type_range(f, it->range, out)) return true;
    arena *active = f->active;
    f->active = f->permanent; /* it outlives what the loop's body throws away */
    value v = evaluate(f, it->range);
    f->active = active;
    if (value_is_error(&v)) return false;
    if (v.rank != 1 || !value_is_simple(&v)) {
        type_error(f, it->range->place, "range of a loop", &v, "a vector");
        return false;
    }
    *out = (loop_range){.count = v.count, .list = v, .use_list = true, .type = v.type};
    out->class_ = v.class_;
    return true;
}

value range_element(flattener *f, const loop_range *r, size_t k)
{
    if (r->use_list) {
        value v = value_scalar(r->type, value_element(&r->list, k));
        v.class_ = r->class_;
        v.unit = r->list.unit;
        return v;
    }
    value v = value_constant(f, r->type, r->start + (double)k * r->step);
    v.class_ = r->class_;
    v.unit = UNIT_LITERAL;
    return v;
}

static value range_vector(flattener *f, const ast_expr *e)
{
    loop_range r = {0};
    if (!plain_range(f, e, &r)) return value_error();
    value v = value_array_of(f, r.type, r.count);
    if (value_is_error(&v)) return v;
    for (size_t k = 0; k < r.count; k++) v.e[k] = constant(f, r.start + (double)k * r.step);
    v.class_ = r.class_;
    v.unit = UNIT_LITERAL;
    return v;
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
    if (f->end_size == SIZE_MAX) {
        report_error(f, e->place, "'end' stands only in subscripts");
        return value_error();
    }
    value v = value_constant(f, VALUE_INTEGER, (double)f->end_size);
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
    default: return evaluate_simple(f, e);
    }
}

value evaluate(flattener *f, const ast_expr *e)
{
    if (!e || f->failed || f->stop) return value_error();
    if (f->depth >= FLATTEN_MAX_DEPTH) {
        report_error(f, e->place, "expressions are nested too deeply");
        f->stop = true;
        return value_error();
    }
    f->depth++;
    f->at = e->place;
    value v = evaluate_kind(f, e);
    f->depth--;
    return v;
}
