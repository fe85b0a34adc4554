/* Declared parameters and constants: bindings, sizes, values. */
#include "modelica/flatten/flatten_declare.h"

#include <math.h>
#include <string.h>

static bool same_name(const char *given, const char *name)
{
    if (strcmp(given, name) == 0) return true;
    size_t n = strlen(name); /* a quoted identifier may be given without its quotes */
    return n > 2 && name[0] == '\'' && name[n - 1] == '\'' && strlen(given) == n - 2 &&
           strncmp(given, name + 1, n - 2) == 0;
}

/* Value given from outside, or EXPR_NONE. */
static expr setting_for(flattener *f, const char *name, bool locked, source_place place)
{
    expr found = EXPR_NONE;
    for (size_t k = 0; k < f->setting_count; k++) {
        if (!same_name(f->settings[k].name, name)) continue;
        f->setting_used[k] = true;
        if (locked)
            report_error(f, place, "'%s' is final or a constant and cannot be set", name);
        else
            found = constant(f, f->settings[k].value);
    }
    return found;
}

/* The leaf of one scalar parameter whose value is `given`. */
static expr declare_parameter(flattener *f, const instance *in, const attributes *a,
                              value_type type, size_t k, expr given)
{
    flat_model *m = f->m;
    size_t index = m->parameter_count;
    char *name = element_name(f, in, k);
    bool is_constant = in->role == ROLE_CONSTANT;
    if (!name ||
        !flatten_grow(f, &m->parameters, &f->parameter_capacity, index + 1,
                      sizeof *m->parameters) ||
        !flatten_grow(f, &f->parameter_value, &f->parameter_value_capacity, index + 1,
                      sizeof *f->parameter_value))
        return EXPR_NONE;
    if (type == VALUE_STRING) given = string_resolve(f, given);
    const text_piece *text = type == VALUE_STRING ? string_of(f, given) : NULL;
    expr set = type == VALUE_STRING
                   ? EXPR_NONE
                   : setting_for(f, name, is_constant || in->final_, in->component->place);
    if (set != EXPR_NONE) given = set;
    m->parameters[index] = (flat_parameter){
        .name = name,
        .type = flat_type_of(type),
        .unit = a->unit,
        .display_unit = a->display_unit,
        .quantity = a->quantity,
        .comment = a->comment,
        .value = type == VALUE_STRING ? EXPR_NONE : given,
        .text = text ? model_text(f, text->text) : NULL,
        .constant = is_constant,
        .final_ = in->final_,
        .min = attribute_element(&a->min, k),
        .max = attribute_element(&a->max, k),
        .place = in->component->place,
    };
    f->parameter_value[index] = NAN;
    if (type != VALUE_STRING && given != EXPR_NONE)
        f->parameter_value[index] = fixed_value(f, given);
    m->parameter_count = index + 1;
    if (type == VALUE_STRING || is_constant) return given;
    return graph_parameter(f->g, (int)index);
}

/* Parameters and constants must not depend on variables, constants not on parameters. */
static bool check_variability(flattener *f, const instance *in, const value *v, source_place place)
{
    uint8_t flags = 0;
    if (v->type == VALUE_STRING) return true;
    for (size_t k = 0; k < v->count; k++) flags |= node_depends(f, value_element(v, k));
    const char *name = in->part[in->part_count - 1];
    if (flags & (DEPENDS_CONTINUOUS | DEPENDS_MEMORY))
        return report_error(f, place, "%s '%s' must not depend on variables",
                            in->role == ROLE_CONSTANT ? "constant" : "parameter", name);
    if (in->role != ROLE_CONSTANT || !(flags & DEPENDS_PARAMETER)) return true;
    return report_error(f, place, "constant '%s' must not depend on parameters", name);
}

static void complain_shape(flattener *f, const instance *in, const value *v, source_place place)
{
    if (f->failed) return;
    report_error(f, place, "'%s' has sizes %s, but its value has sizes %s",
                 in->part[in->part_count - 1], value_shape(in->rank, in->dims).text,
                 value_shape(v->rank, v->dims).text);
}

/* The value of a declaration's right side, or an error value. */
static value binding_value(flattener *f, const instance *in)
{
    if (in->has_given) return in->given;
    if (!in->binding) return value_error();
    return evaluate_in(f, in->binding, in->binding_in_class, in->siblings);
}

/* Whether v may be the value of `in`: type, sizes and variability. Makes it so. */
value checked_binding(flattener *f, const instance *in, value_type type, const ast_class *class_)
{
    source_place place = in->binding ? in->binding->place : in->component->place;
    value v = binding_value(f, in);
    if (value_is_error(&v)) return v;
    if (!fits_type(&v, type, class_))
        return wrong_type(f, place, in->part[in->part_count - 1], &v,
                          class_ ? class_->name : value_type_name(type));
    if (in->role != ROLE_VARIABLE && !check_variability(f, in, &v, place)) return value_error();
    /* one value for an array: only from a modification around it */
    bool spread = in->part_count > 1 || v.rank == in->rank;
    value all = spread ? broadcast_value(f, &v, in->rank, in->dims) : value_error();
    if (value_is_error(&all)) complain_shape(f, in, &v, place);
    return all;
}

static value missing_value(flattener *f, const instance *in, const attributes *a, value_type type)
{
    const char *name = in->part[in->part_count - 1];
    if (in->role == ROLE_CONSTANT)
        report_error(f, in->component->place, "constant '%s' has no value", name);
    if (!value_is_error(&a->start)) {
        if (in->role == ROLE_PARAMETER)
            report_warning(f, in->component->place,
                           "parameter '%s' has no value: its start value is used", name);
        return a->start;
    }
    if (in->role == ROLE_PARAMETER)
        report_warning(f, in->component->place, "parameter '%s' has no value: %s is used", name,
                       type == VALUE_STRING    ? "\"\""
                       : type == VALUE_BOOLEAN ? "false"
                                               : "0");
    value zero = type == VALUE_STRING
                     ? value_scalar(VALUE_STRING, string_new(f, "", NULL, 0))
                     : value_constant(f, type, type == VALUE_ENUMERATION ? 1.0 : 0.0);
    return broadcast_value(f, &zero, in->rank, in->dims);
}

static bool is_set_from_outside(flattener *f, const instance *in)
{
    if (in->rank || in->part_count > 1) return false;
    for (size_t k = 0; k < f->setting_count; k++)
        if (same_name(f->settings[k].name, in->part[0])) return true;
    return false;
}

static bool all_constants(flattener *f, const value *v)
{
    for (size_t k = 0; k < v->count; k++)
        if (!graph_is_constant(f->g, value_element(v, k), NULL)) return false;
    return true;
}

/* Scalar parameters or constants of one component. */
value declare_parameters(flattener *f, instance *in, const attributes *a, const type_info *t)
{
    bool given = in->has_given || in->binding;
    value bound = given                        ? checked_binding(f, in, t->type, t->class_)
                  : is_set_from_outside(f, in) ? value_constant(f, t->type, 0.0)
                                               : missing_value(f, in, a, t->type);
    value v = value_new(f, t->type, in->rank, in->dims);
    if (value_is_error(&v) || value_is_error(&bound)) return value_error();
    for (size_t k = 0; k < v.count; k++)
        v.e[k] = declare_parameter(f, in, a, t->type, k, value_element(&bound, k));
    if (in->role == ROLE_CONSTANT && t->type != VALUE_STRING && !all_constants(f, &v))
        return value_error();
    return v;
}

/* ---- sizes ---- */

static bool size_of_dimension(flattener *f, const instance *in, const ast_expr *e, size_t *out)
{
    if (e && e->kind == AST_REFERENCE && e->part_count >= 1) {
        const ast_class *c = find_class(f, joined_name(f, e->parts, e->part_count));
        bool boolean = e->part_count == 1 && strcmp(e->parts[0].name, "Boolean") == 0;
        if (boolean || class_is_enumeration(c)) {
            *out = boolean ? 2 : c->literal_count;
            return true;
        }
    }
    double n = 0.0;
    const char *name = in->part[in->part_count - 1];
    if (!integer_value(f, e, "array size", &n)) return false;
    if (n >= 0.0 && n <= f->limits.elements) {
        *out = (size_t)n;
        return true;
    }
    if (n < 0.0) return report_error(f, e->place, "size %.0f of '%s' is negative", n, name);
    return report_error(f, e->place, "size %.0f of '%s' is too large: at most %d elements", n, name,
                        f->limits.elements);
}

/* A ":" takes its size from the value. */
static bool deduce_size(flattener *f, const instance *in, int own, const ast_expr *e, size_t *out)
{
    const char *name = in->part[in->part_count - 1];
    if (!in->binding && !in->has_given)
        return report_error(f, e->place, "size ':' of '%s' needs a value to be taken from", name);
    value v = binding_value(f, in);
    if (value_is_error(&v)) return false;
    int at = in->has_given ? in->rank : own;
    if (at >= v.rank)
        return report_error(
            f, e->place, "size ':' of '%s' cannot be taken from its value, which has %d dimensions",
            name, v.rank);
    *out = v.dims[at];
    return true;
}

bool add_sizes(flattener *f, instance *in, ast_expr *const *sizes, size_t count, int *own)
{
    for (size_t k = 0; k < count; k++) {
        size_t n = 0;
        if (in->rank == VALUE_MAX_RANK)
            return report_error(f, in->component->place, "'%s' has more than %d dimensions",
                                in->part[in->part_count - 1], VALUE_MAX_RANK);
        if (!sizes[k]) return false;
        bool colon = sizes[k]->kind == AST_COLON;
        if (colon ? !deduce_size(f, in, *own, sizes[k], &n)
                  : !size_of_dimension(f, in, sizes[k], &n))
            return false;
        in->dims[in->rank++] = n;
        in->part_rank[in->part_count - 1]++;
        ++*own;
    }
    return true;
}

bool check_total(flattener *f, const instance *in)
{
    double total = 1.0;
    for (int k = 0; k < in->rank; k++) total *= (double)in->dims[k];
    double all = total + (double)(f->m->variable_count + f->m->parameter_count);
    if (total <= f->limits.elements && all > f->limits.elements) {
        report_error(f, in->component->place, "the model has more than %d variables here",
                     f->limits.elements);
        f->stop = true;
        return false;
    }
    if (total <= f->limits.elements) return true;
    return report_error(f, in->component->place, "'%s' has %.0f elements: at most %d",
                        in->part[in->part_count - 1], total, f->limits.elements);
}
