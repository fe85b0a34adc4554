/* Conditions, numbers and ranges that decide what is made: loops, sizes, branches. */
#include <math.h>
#include <string.h>

#include "modelica/flatten/flatten_internal.h"

expr scalar_condition(flattener *f, const ast_expr *e)
{
    value v = evaluate(f, e);
    if (value_is_error(&v)) return EXPR_NONE;
    if (v.type == VALUE_BOOLEAN && v.rank == 0) return value_element(&v, 0);
    type_error(f, e->place, "condition", &v, "Boolean");
    return EXPR_NONE;
}

bool integer_value(flattener *f, const ast_expr *e, const char *what, double *out)
{
    value v = evaluate(f, e);
    if (value_is_error(&v)) return false;
    if (v.rank || (v.type != VALUE_INTEGER && v.type != VALUE_ENUMERATION))
        return type_error(f, e->place, what, &v, "Integer");
    if (compile_time_value(f, value_element(&v, 0), out)) return true;
    return report_error(f, e->place,
                        "%s must be known before the run: it may only depend on "
                        "parameters and constants",
                        what);
}

static bool range_bound(flattener *f, const ast_expr *e, double *out, value *v)
{
    *v = evaluate(f, e);
    if (value_is_error(v)) return false;
    if (v->rank || !value_is_simple(v) || v->type == VALUE_STRING)
        return type_error(f, e->place, "range", v, "Integer or Real");
    if (compile_time_value(f, value_element(v, 0), out)) return true;
    return report_error(
        f, e->place,
        "a range must be known before the run: it may only depend on parameters and "
        "constants");
}

/* Ends of a range are numbers, or both of one enumeration, or Booleans; these have no step. */
static bool range_type(flattener *f, const ast_expr *e, const value *a, const value *s,
                       const value *b, loop_range *out)
{
    const bool stepped = e->arg_count == 3;
    out->type = a->type;
    out->class_ = a->class_;
    if (!value_is_numeric(a) || !value_is_numeric(b) || (stepped && !value_is_numeric(s)))
        return (a->type == b->type && a->class_ == b->class_ && !stepped) ||
               report_error(f, e->place,
                            "the ends of this range have different types, or a step "
                            "that only numbers have");
    if (b->type == VALUE_REAL || (stepped && s->type == VALUE_REAL)) out->type = VALUE_REAL;
    return true;
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
    if (!range_type(f, e, &a, &s, &b, out)) return false;
    if (out->step == 0.0)
        return report_error(f, e->args[1]->place, "the step of a range must not be 0");
    double n = floor((stop - out->start) / out->step * (1.0 + 1e-15)) + 1.0;
    if (n > f->limits.elements)
        return report_error(f, e->place, "a range of %.0f elements is too long", n);
    out->count = n > 0.0 ? (size_t)n : 0;
    return true;
}

/* All values of a type: for c in Color, for b in Boolean. [MLS 3.6, 11.2.2.2] */
static bool type_range(flattener *f, const ast_expr *e, loop_range *out)
{
    if (e->kind != AST_REFERENCE || find_local(f, e->parts[0].name)) return false;
    if (e->part_count == 1 && !e->parts[0].subscript_count &&
        strcmp(e->parts[0].name, "Boolean") == 0) {
        *out = (loop_range){.count = 2, .step = 1.0, .type = VALUE_BOOLEAN};
        return true;
    }
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
    if (!it->range) return report_error(f, it->place, "the range of '%s' must be given", it->name);
    if (it->range->kind == AST_RANGE) return plain_range(f, it->range, out);
    if (type_range(f, it->range, out)) return true;
    arena *active = f->scope.active;
    f->scope.active = f->permanent; /* it outlives what the loop's body throws away */
    value v = evaluate(f, it->range);
    f->scope.active = active;
    if (value_is_error(&v)) return false;
    if (v.rank != 1 || !value_is_simple(&v))
        return type_error(f, it->range->place, "range of a loop", &v, "a vector");
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

value range_vector(flattener *f, const ast_expr *e)
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
