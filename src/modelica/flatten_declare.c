/* Declarations: components of the model become variables, parameters and constants. */
#include <math.h>
#include <string.h>

#include "modelica/flatten_internal.h"

typedef enum role { ROLE_VARIABLE, ROLE_PARAMETER, ROLE_CONSTANT } role;

enum { PATH_MAX_PARTS = TYPE_MAX_CHAIN + 4 };

/* One component, or one field of a record, on its way into the model. */
typedef struct instance {
    symbol *symbol;
    const ast_component *component;
    role role;
    bool discrete, final_, protected_;
    const char *part[PATH_MAX_PARTS]; /* r, a of r[2].a[3] */
    int part_rank[PATH_MAX_PARTS];
    int part_count;
    int rank; /* sizes of all parts */
    size_t dims[VALUE_MAX_RANK];
    const modifier *modifiers;
    const ast_expr *binding; /* expression, or */
    value given;             /* value that a record's binding gives; VALUE_ERROR: none */
    bool has_given, binding_in_class;
    const value *siblings;
    const record_level *levels;
} instance;

static value declare_instance(flattener *f, instance *in);

/* ---- evaluating in the right scope ---- */

/* Element k of a value whose first `rank` dimensions are those of an array of records. */
static value record_element(flattener *f, const value *v, int rank, size_t k)
{
    value out = *v;
    out.rank = v->rank - rank;
    out.dims = v->dims ? v->dims + rank : NULL;
    out.count = 1;
    for (int d = 0; d < out.rank; d++) out.count *= out.dims[d];
    if (v->e) out.e = v->e + k * out.count;
    if (!v->fields) return out;
    out.fields = flatten_take(f, v->field_count * sizeof *out.fields);
    if (!out.fields) return value_error();
    for (size_t i = 0; i < v->field_count; i++)
        out.fields[i] = record_element(f, &v->fields[i], rank, k);
    return out;
}

/* Value of an expression of a record's definition for element k of an array of such records: it
 * sees the fields before it and global constants. */
static value evaluate_among(flattener *f, const ast_expr *e, const value *siblings, size_t k)
{
    size_t count = f->local_count;
    for (size_t i = 0; i < siblings->field_count; i++) {
        if (value_is_error(&siblings->fields[i])) continue;
        local *l = push_local(f, siblings->class_->components[i].name);
        value v = record_element(f, &siblings->fields[i], siblings->rank, k);
        if (l) l->value = v;
    }
    value v = evaluate(f, e);
    f->local_count = count;
    return v;
}

static value evaluate_among_all(flattener *f, const ast_expr *e, const value *siblings)
{
    if (siblings->rank == 0) return evaluate_among(f, e, siblings, 0);
    value *parts = flatten_take(f, (siblings->count + 1) * sizeof *parts);
    size_t *dims = flatten_take(f, VALUE_MAX_RANK * sizeof *dims);
    if (!parts || !dims) return value_error();
    for (size_t k = 0; k < siblings->count; k++) {
        parts[k] = evaluate_among(f, e, siblings, k);
        if (value_is_error(&parts[k])) return parts[k];
    }
    value all = stack_values(f, parts, siblings->count, e->place);
    if (value_is_error(&all) || siblings->count == 0) return all;
    int own = all.rank - 1;
    if (siblings->rank + own > VALUE_MAX_RANK) return value_error();
    memcpy(dims, siblings->dims, (size_t)siblings->rank * sizeof *dims);
    for (int d = 0; d < own; d++) dims[siblings->rank + d] = all.dims[d + 1];
    all.rank = siblings->rank + own;
    all.dims = dims;
    return all;
}

/* Value of an expression in a declaration. Expressions of a type's definition see its own fields
 * and global constants; others see the model. */
static value evaluate_in(flattener *f, const ast_expr *e, bool in_class, const value *siblings)
{
    size_t base = f->local_base, count = f->local_count;
    bool function = f->in_function;
    if (!f->function || in_class) f->local_base = f->local_count;
    if (in_class) f->in_function = true;
    value v = in_class && siblings ? evaluate_among_all(f, e, siblings) : evaluate(f, e);
    f->local_base = base;
    f->local_count = count;
    f->in_function = function;
    return v;
}

/* The outermost modification of that name, or NULL. */
static const ast_modification *find_modification(const modifier *m, const char *name,
                                                 bool *in_class)
{
    for (; m; m = m->inner)
        for (size_t k = 0; k < m->count; k++)
            if (m->items[k].name && strcmp(m->items[k].name, name) == 0) {
                *in_class = m->in_class;
                return &m->items[k];
            }
    return NULL;
}

/* ---- names of elements ---- */

/* "r[2].a[3]" of the element with that row-major number. */
static char *element_name(flattener *f, const instance *in, size_t element)
{
    size_t index[VALUE_MAX_RANK] = {0};
    char text[2048];
    size_t at = 0;
    for (int k = in->rank - 1; k >= 0; k--) {
        index[k] = element % in->dims[k] + 1;
        element /= in->dims[k];
    }
    for (int p = 0, d = 0; p < in->part_count; p++) {
        const char *parts[] = {p ? "." : "", in->part[p]};
        for (int k = 0; k < 2; k++)
            for (const char *c = parts[k]; *c && at + 1 < sizeof text; c++) text[at++] = *c;
        for (int k = 0; k < in->part_rank[p]; k++, d++) {
            char digits[24];
            int n = 0;
            for (size_t x = index[d]; x; x /= 10) digits[n++] = (char)('0' + x % 10);
            if (at + (size_t)n + 3 >= sizeof text) break;
            text[at++] = k ? ',' : '[';
            while (n) text[at++] = digits[--n];
            if (k + 1 == in->part_rank[p]) text[at++] = ']';
        }
    }
    text[at] = '\0';
    return model_text(f, text);
}

/* ---- attributes ---- */

static const char *const attribute_names[] = {
    "start", "fixed", "nominal", "min", "max", "unit", "quantity", "displayUnit", "stateSelect"};
enum { ATTRIBUTE_COUNT = sizeof attribute_names / sizeof *attribute_names };

static void check_attributes(flattener *f, const instance *in, value_type type)
{
    for (const modifier *m = in->modifiers; m; m = m->inner)
        for (size_t k = 0; k < m->count; k++) {
            const char *name = m->items[k].name;
            bool known = !name;
            for (size_t a = 0; a < ATTRIBUTE_COUNT && !known; a++)
                known = strcmp(attribute_names[a], name) == 0;
            if (known) continue;
            const char *near = nearest_name(name, attribute_names, ATTRIBUTE_COUNT);
            report_error(f, m->items[k].place, "%s has no attribute '%s'%s%s%s",
                         value_type_name(type), name, near ? "; did you mean '" : "",
                         near ? near : "", near ? "'?" : "");
        }
}

/* Value of an attribute for all elements, broadcast; an error value if it is absent or wrong. */
static value attribute_value(flattener *f, const instance *in, const char *name, value_type type,
                             const ast_class *class_)
{
    bool in_class = false, only = f->parameters_only;
    const ast_modification *m = find_modification(in->modifiers, name, &in_class);
    if (!m || !m->value) return value_error();
    f->parameters_only = true;
    value v = evaluate_in(f, m->value, in_class, in->siblings);
    f->parameters_only = only;
    if (value_is_error(&v)) return v;
    if (!fits_type(&v, type, class_)) {
        type_error(f, m->value->place, name, &v,
                   type == VALUE_ENUMERATION && class_ ? class_->name : value_type_name(type));
        return value_error();
    }
    value all = broadcast_value(f, &v, in->rank, in->dims);
    if (!value_is_error(&all) || f->failed) return all;
    char have[128], want[128];
    value_shape_text(v.rank, v.dims, have, sizeof have);
    value_shape_text(in->rank, in->dims, want, sizeof want);
    report_error(f, m->value->place, "%s of '%s' has sizes %s, but '%s' has sizes %s", name,
                 in->part[in->part_count - 1], have, in->part[in->part_count - 1], want);
    return value_error();
}

/* Attribute that must not depend on variables, checked. */
static value constant_attribute(flattener *f, const instance *in, const char *name, value_type type,
                                const ast_class *class_)
{
    value v = attribute_value(f, in, name, type, class_);
    for (size_t k = 0; !value_is_error(&v) && k < v.count; k++) {
        if (!(node_depends(f, value_element(&v, k)) & (DEPENDS_CONTINUOUS | DEPENDS_MEMORY)))
            continue;
        bool in_class;
        const ast_modification *m = find_modification(in->modifiers, name, &in_class);
        report_error(f, m->value->place,
                     "%s of '%s' must not depend on variables: only parameters and constants", name,
                     in->part[in->part_count - 1]);
        return value_error();
    }
    return v;
}

static char *text_attribute(flattener *f, const instance *in, const char *name)
{
    value v = attribute_value(f, in, name, VALUE_STRING, NULL);
    if (value_is_error(&v) || v.count == 0) return NULL;
    const text_piece *t = string_of(f, value_element(&v, 0));
    return t ? model_text(f, t->text) : NULL;
}

static flat_state_select state_select_of(flattener *f, const instance *in)
{
    static const char *const names[] = {"never", "avoid", "default", "prefer", "always"};
    bool in_class;
    const ast_modification *m = find_modification(in->modifiers, "stateSelect", &in_class);
    if (!m || !m->value) return SELECT_DEFAULT;
    const ast_expr *e = m->value;
    if (e->kind == AST_REFERENCE && e->part_count >= 2)
        for (int k = 0; k < 5; k++)
            if (e->parts[e->part_count - 1].name &&
                strcmp(e->parts[e->part_count - 1].name, names[k]) == 0)
                return (flat_state_select)k;
    report_error(f, e->place,
                 "stateSelect must be StateSelect.never, avoid, default, "
                 "prefer or always");
    return SELECT_DEFAULT;
}

typedef struct attributes {
    value start, nominal, min, max;
    bool fixed_given;
    value fixed;
    char *unit, *display_unit, *quantity, *comment;
    flat_state_select state_select;
} attributes;

static attributes read_attributes(flattener *f, const instance *in, value_type type,
                                  const ast_class *class_)
{
    attributes a = {0};
    check_attributes(f, in, type);
    a.start = constant_attribute(f, in, "start", type, class_);
    a.fixed = constant_attribute(f, in, "fixed", VALUE_BOOLEAN, NULL);
    a.fixed_given = !value_is_error(&a.fixed);
    a.nominal = constant_attribute(f, in, "nominal", VALUE_REAL, NULL);
    a.min = constant_attribute(f, in, "min", type, class_);
    a.max = constant_attribute(f, in, "max", type, class_);
    a.unit = text_attribute(f, in, "unit");
    a.display_unit = text_attribute(f, in, "displayUnit");
    a.quantity = text_attribute(f, in, "quantity");
    a.state_select = state_select_of(f, in);
    a.comment = model_text(f, in->component->comment);
    return a;
}

static expr attribute_element(const value *v, size_t k)
{
    return value_is_error(v) ? EXPR_NONE : value_element(v, k);
}

static flat_type flat_type_of(value_type type)
{
    static const flat_type map[] = {FLAT_REAL,    FLAT_REAL,   FLAT_INTEGER,
                                    FLAT_BOOLEAN, FLAT_STRING, FLAT_ENUMERATION};
    return map[type];
}

/* ---- variables ---- */

static flat_variable *new_variable(flattener *f)
{
    flat_model *m = f->m;
    if (!flatten_grow(f, &m->variables, &f->variable_capacity, m->variable_count + 1,
                      sizeof *m->variables))
        return NULL;
    flat_variable *v = &m->variables[m->variable_count++];
    *v = (flat_variable){.memory = -1, .memory_pre = -1, .state_select = SELECT_DEFAULT};
    return v;
}

/* Memory slots of a discrete variable: now and before the event. */
static void give_slots(flattener *f, flat_variable *v)
{
    int index = (int)(v - f->m->variables);
    v->discrete = true;
    v->memory = new_memory(f);
    v->memory_pre = new_memory(f);
    if (f->failed) return;
    f->slot_variable[v->memory] = index;
    f->slot_pre[v->memory_pre] = index;
}

/* The leaf of one scalar variable with its attributes. */
static expr declare_variable(flattener *f, const instance *in, const attributes *a, value_type type,
                             size_t k)
{
    char *name = element_name(f, in, k);
    flat_variable *v = new_variable(f);
    if (!v || !name) return EXPR_NONE;
    const ast_component *c = in->component;
    v->name = name;
    v->type = flat_type_of(type);
    v->input = in->symbol->declaration->input;
    v->output = in->symbol->declaration->output;
    v->protected_ = in->protected_;
    v->unit = a->unit;
    v->display_unit = a->display_unit;
    v->quantity = a->quantity;
    v->comment = a->comment;
    v->start = attribute_element(&a->start, k);
    v->has_start = v->start != EXPR_NONE;
    double fixed = 0.0;
    v->fixed = a->fixed_given && compile_time_value(f, value_element(&a->fixed, k), &fixed) &&
               fixed != 0.0;
    v->nominal = attribute_element(&a->nominal, k);
    v->min = attribute_element(&a->min, k);
    v->max = attribute_element(&a->max, k);
    v->state_select = a->state_select;
    v->place = c->place;
    if (!in->discrete) return graph_variable(f->g, (int)(f->m->variable_count - 1), 0);
    give_slots(f, v);
    return graph_memory(f->g, f->m->variables[f->m->variable_count - 1].memory);
}

int hidden_discrete(flattener *f, const char *name, value_type type, source_place place)
{
    char *text = model_text(f, name);
    flat_variable *v = new_variable(f);
    if (!v || !text) return -1;
    v->name = text;
    v->type = flat_type_of(type);
    v->protected_ = true;
    v->place = place;
    give_slots(f, v);
    return (int)(v - f->m->variables);
}

/* ---- parameters ---- */

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
    if (flags & (DEPENDS_CONTINUOUS | DEPENDS_MEMORY)) {
        report_error(f, place, "%s '%s' must not depend on variables",
                     in->role == ROLE_CONSTANT ? "constant" : "parameter", name);
        return false;
    }
    if (in->role != ROLE_CONSTANT || !(flags & DEPENDS_PARAMETER)) return true;
    report_error(f, place, "constant '%s' must not depend on parameters", name);
    return false;
}

static void complain_shape(flattener *f, const instance *in, const value *v, source_place place)
{
    char have[128], want[128];
    if (f->failed) return;
    value_shape_text(v->rank, v->dims, have, sizeof have);
    value_shape_text(in->rank, in->dims, want, sizeof want);
    report_error(f, place, "'%s' has sizes %s, but its value has sizes %s",
                 in->part[in->part_count - 1], want, have);
}

/* The value of a declaration's right side, or an error value. */
static value binding_value(flattener *f, const instance *in)
{
    if (in->has_given) return in->given;
    if (!in->binding) return value_error();
    return evaluate_in(f, in->binding, in->binding_in_class, in->siblings);
}

/* Whether v may be the value of `in`: type, sizes and variability. Makes it so. */
static value checked_binding(flattener *f, const instance *in, value_type type,
                             const ast_class *class_)
{
    source_place place = in->binding ? in->binding->place : in->component->place;
    value v = binding_value(f, in);
    if (value_is_error(&v)) return v;
    if (!fits_type(&v, type, class_)) {
        type_error(f, place, in->part[in->part_count - 1], &v,
                   class_ ? class_->name : value_type_name(type));
        return value_error();
    }
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
static value declare_parameters(flattener *f, instance *in, const attributes *a, const type_info *t)
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
    if (n < 0.0)
        report_error(f, e->place, "size %.0f of '%s' is negative", n, name);
    else
        report_error(f, e->place, "size %.0f of '%s' is too large: at most %d elements", n, name,
                     f->limits.elements);
    return false;
}

/* A ":" takes its size from the value. */
static bool deduce_size(flattener *f, const instance *in, int own, const ast_expr *e, size_t *out)
{
    const char *name = in->part[in->part_count - 1];
    if (!in->binding && !in->has_given) {
        report_error(f, e->place, "size ':' of '%s' needs a value to be taken from", name);
        return false;
    }
    value v = binding_value(f, in);
    if (value_is_error(&v)) return false;
    int at = in->has_given ? in->rank : own;
    if (at >= v.rank) {
        report_error(f, e->place,
                     "size ':' of '%s' cannot be taken from its value, which has %d dimensions",
                     name, v.rank);
        return false;
    }
    *out = v.dims[at];
    return true;
}

static bool add_sizes(flattener *f, instance *in, ast_expr *const *sizes, size_t count, int *own)
{
    for (size_t k = 0; k < count; k++) {
        size_t n = 0;
        if (in->rank == VALUE_MAX_RANK) {
            report_error(f, in->component->place, "'%s' has more than %d dimensions",
                         in->part[in->part_count - 1], VALUE_MAX_RANK);
            return false;
        }
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

static bool check_total(flattener *f, const instance *in)
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
    report_error(f, in->component->place, "'%s' has %.0f elements: at most %d",
                 in->part[in->part_count - 1], total, f->limits.elements);
    return false;
}

/* ---- records ---- */

/* Modifications of one field: what each level of modifications says about it. */
static const modifier *field_modifiers(flattener *f, const modifier *m, const char *field,
                                       const modifier *last)
{
    if (!m) return last;
    const modifier *inner = field_modifiers(f, m->inner, field, last);
    for (size_t k = m->count; k > 0; k--) {
        if (!m->items[k - 1].name || strcmp(m->items[k - 1].name, field) != 0) continue;
        modifier *own = flatten_take(f, sizeof *own);
        if (!own) return inner;
        *own = (modifier){.items = m->items[k - 1].nested,
                          .count = m->items[k - 1].nested_count,
                          .in_class = m->in_class,
                          .inner = inner};
        inner = own;
    }
    return inner;
}

/* The instance of field `c` of the record instance `in`. */
static instance field_instance(flattener *f, const instance *in, const ast_component *c,
                               const value *record, size_t number)
{
    instance child = *in;
    bool in_class = false;
    const ast_modification *m = find_modification(in->modifiers, c->name, &in_class);
    modifier *last = flatten_take(f, sizeof *last);
    if (last)
        *last =
            (modifier){c->modifications, c->modification_count, .in_class = true, .inner = NULL};
    child.component = c;
    child.part[child.part_count] = c->name;
    child.part_rank[child.part_count++] = 0;
    child.modifiers = field_modifiers(f, in->modifiers, c->name, last);
    child.siblings = record;
    child.binding = m && m->value ? m->value : c->value;
    child.binding_in_class = m && m->value ? in_class : true;
    child.final_ = in->final_ || c->final_ || (m && m->final_);
    child.protected_ = in->protected_ || c->protected_;
    if (c->variability == VAR_CONSTANT) child.role = ROLE_CONSTANT;
    if (c->variability == VAR_PARAMETER && in->role == ROLE_VARIABLE) child.role = ROLE_PARAMETER;
    if (c->variability == VAR_DISCRETE) child.discrete = true;
    if (in->has_given) child.given = in->given.fields[number];
    return child;
}

static void check_field_names(flattener *f, const instance *in, const ast_class *record)
{
    for (const modifier *m = in->modifiers; m; m = m->inner)
        for (size_t k = 0; k < m->count; k++) {
            const char *name = m->items[k].name;
            if (!name || field_index(record, name) != SIZE_MAX) continue;
            report_error(f, m->items[k].place, "record %s has no field '%s'", record->name, name);
        }
}

static value declare_record(flattener *f, instance *in, const ast_class *record)
{
    record_level level = {record, in->levels};
    bool broken = false; /* a field is: then there is no whole to work with */
    if (!record_allowed(f, record, in->levels, in->component->place)) return value_error();
    value *v = flatten_take(f, sizeof *v);
    size_t *dims = flatten_take(f, VALUE_MAX_RANK * sizeof *dims);
    value *fields = flatten_take(f, record->component_count * sizeof *fields);
    if (!v || !dims || !fields || in->part_count == PATH_MAX_PARTS) return value_error();
    memcpy(dims, in->dims, sizeof in->dims);
    *v = (value){.type = VALUE_RECORD,
                 .class_ = record,
                 .rank = in->rank,
                 .dims = dims,
                 .count = 1,
                 .fields = fields,
                 .field_count = record->component_count};
    for (int k = 0; k < in->rank; k++) v->count *= dims[k];
    check_field_names(f, in, record);
    if (!in->has_given && in->binding) {
        in->given = checked_binding(f, in, VALUE_RECORD, record);
        if (value_is_error(&in->given)) return value_error();
        in->has_given = true;
    }
    for (size_t k = 0; k < record->component_count; k++) {
        instance child = field_instance(f, in, &record->components[k], v, k);
        child.levels = &level;
        fields[k] = declare_instance(f, &child);
        if (value_is_error(&fields[k])) broken = true;
    }
    return broken ? value_error() : *v;
}

/* ---- components ---- */

static void remember_binding(flattener *f, const instance *in, const value *target)
{
    if (!in->binding && !in->has_given) return;
    if (!flatten_grow(f, &f->bindings, &f->binding_capacity, f->binding_count + 1,
                      sizeof *f->bindings))
        return;
    f->bindings[f->binding_count++] = (late_binding){
        .target = *target,
        .right = in->has_given ? NULL : in->binding,
        .known = in->given,
        .siblings = in->binding_in_class ? in->siblings : NULL,
        .place = in->binding ? in->binding->place : in->component->place,
        .comment = in->component->comment,
    };
}

/* A parameter with fixed = false is computed by the initial equations: a variable that rests. */
static void add_resting_equation(flattener *f, const instance *in, const value *v)
{
    for (size_t k = 0; k < v->count; k++) {
        const expr_node *n = graph_node(f->g, v->e[k]);
        push_pair(f, &f->equations,
                  (equation_pair){.left = graph_variable(f->g, n->index, 1),
                                  .right = constant(f, 0.0),
                                  .type = VALUE_REAL,
                                  .place = in->component->place});
    }
}

static value declare_variables(flattener *f, instance *in, const attributes *a, const type_info *t)
{
    value v = value_new(f, t->type, in->rank, in->dims);
    if (value_is_error(&v)) return v;
    for (size_t k = 0; k < v.count && !f->failed; k++)
        v.e[k] = declare_variable(f, in, a, t->type, k);
    return v;
}

static value declare_simple(flattener *f, instance *in, const type_info *t)
{
    attributes a = read_attributes(f, in, t->type, t->class_);
    double fixed = 1.0;
    int own_unit = t->type == VALUE_REAL && a.unit ? unit_number(&f->units, a.unit) : UNIT_UNKNOWN;
    value v;
    bool resting = in->role == ROLE_PARAMETER && t->type == VALUE_REAL && a.fixed_given &&
                   a.fixed.count > 0 && compile_time_value(f, value_element(&a.fixed, 0), &fixed) &&
                   fixed == 0.0;
    if (in->role == ROLE_VARIABLE && t->type == VALUE_STRING) {
        report_error(f, in->component->place,
                     "'%s' is a String variable: only String parameters and constants are "
                     "supported",
                     in->part[in->part_count - 1]);
        return value_error();
    }
    if (in->role == ROLE_VARIABLE || resting) {
        in->discrete = !resting && (in->discrete || t->type != VALUE_REAL);
        v = declare_variables(f, in, &a, t);
        v.class_ = t->class_;
        v.unit = own_unit;
        if (resting && !value_is_error(&v)) add_resting_equation(f, in, &v);
        if (!resting && !value_is_error(&v)) remember_binding(f, in, &v);
    } else {
        v = declare_parameters(f, in, &a, t);
    }
    v.class_ = t->class_;
    v.unit = own_unit;
    return v;
}

/* Append the modifications of the type's definition behind those of the component. */
static const modifier *type_modifiers(flattener *f, const modifier *m, const type_info *t)
{
    modifier *first = NULL, *last = NULL;
    for (; m; m = m->inner) {
        modifier *copy = flatten_take(f, sizeof *copy);
        if (!copy) return NULL;
        *copy = *m;
        copy->inner = NULL;
        if (last)
            last->inner = copy;
        else
            first = copy;
        last = copy;
    }
    for (size_t k = 0; k < t->chain_count; k++) {
        modifier *own = flatten_take(f, sizeof *own);
        if (!own) return NULL;
        *own = (modifier){t->chain[k]->modifications, t->chain[k]->modification_count,
                          .in_class = true, .inner = NULL};
        if (last)
            last->inner = own;
        else
            first = own;
        last = own;
    }
    return first;
}

/* Leaves for a component or field whose path, role and modifications are set in `in`. */
static value declare_instance(flattener *f, instance *in)
{
    const ast_component *c = in->component;
    type_info t;
    int own = 0;
    if (!c->name || !flatten_pass(f, c->place) || !resolve_type(f, c->type, c->type_place, &t))
        return value_error();
    if (!add_sizes(f, in, c->sizes, c->size_count, &own)) return value_error();
    for (size_t k = 0; k < t.chain_count; k++)
        if (!add_sizes(f, in, t.chain[k]->sizes, t.chain[k]->size_count, &own))
            return value_error();
    if (!check_total(f, in)) return value_error();
    in->modifiers = type_modifiers(f, in->modifiers, &t);
    if (t.type != VALUE_RECORD) return declare_simple(f, in, &t);
    return declare_record(f, in, t.class_);
}

static bool component_present(flattener *f, symbol *s)
{
    const ast_expr *condition = s->declaration->condition;
    if (!condition) return true;
    expr e = scalar_condition(f, condition);
    double x = 1.0;
    if (e == EXPR_NONE) return true;
    if (!compile_time_value(f, e, &x))
        report_error(f, condition->place,
                     "the condition of '%s' must be known before the run: it may only depend on "
                     "parameters",
                     s->declaration->name);
    s->absent = x == 0.0;
    return !s->absent;
}

static void declare_symbol(flattener *f, symbol *s)
{
    const ast_component *c = s->declaration;
    modifier *m = flatten_take(f, sizeof *m);
    instance *in = flatten_take(f, sizeof *in);
    if (!m || !in || !component_present(f, s)) return;
    *m = (modifier){.items = c->modifications, .count = c->modification_count};
    in->symbol = s;
    in->component = c;
    in->role = s->constant ? ROLE_CONSTANT : s->parameter ? ROLE_PARAMETER : ROLE_VARIABLE;
    in->discrete = c->variability == VAR_DISCRETE || s->assigned_in_when;
    in->final_ = c->final_;
    in->protected_ = c->protected_;
    in->part[0] = c->name;
    in->part_count = 1;
    in->modifiers = m;
    in->binding = c->value;
    if (c->flow || c->stream)
        report_error(f, c->place, "'%s': flow and stream variables are not supported", c->name);
    s->first_variable = (int)f->m->variable_count;
    s->value = declare_instance(f, in);
}

/* Names in the order in which they wait for each other. */
static void report_cycle(flattener *f, const symbol *s, source_place place)
{
    const char *names = s->declaration->name;
    for (const symbol *t = f->busy; t && t != s; t = t->busy_outer)
        names = flatten_text(f, "%s -> %s", t->declaration->name, names ? names : "");
    report_error(f, place, "'%s' depends on itself: %s -> %s", s->declaration->name,
                 s->declaration->name, names ? names : "");
}

/* What is put aside while a symbol is resolved in the middle of something else. */
typedef struct saved_scope {
    size_t local_base, end_size;
    bool no_event, in_when, in_function, in_algorithm, in_initial, parameters_only;
    const ast_class *function;
    arena *active;
    expr guard;
    const branch_guard *branch;
    action_list *checks, *actions;
} saved_scope;

static saved_scope enter_model_scope(flattener *f)
{
    saved_scope s = {f->local_base,  f->end_size,     f->no_event,   f->in_when,
                     f->in_function, f->in_algorithm, f->in_initial, f->parameters_only,
                     f->function,    f->active,       f->guard,      f->branch,
                     f->checks,      f->actions};
    f->local_base = f->local_count;
    f->end_size = SIZE_MAX;
    f->no_event = f->in_when = f->in_function = f->in_algorithm = f->in_initial = false;
    f->function = NULL;
    f->active = f->permanent;
    f->guard = EXPR_NONE;
    f->branch = NULL;
    f->checks = f->actions = NULL;
    return s;
}

static void leave_model_scope(flattener *f, const saved_scope *s)
{
    f->local_base = s->local_base;
    f->end_size = s->end_size;
    f->no_event = s->no_event;
    f->in_when = s->in_when;
    f->in_function = s->in_function;
    f->in_algorithm = s->in_algorithm;
    f->in_initial = s->in_initial;
    f->parameters_only = s->parameters_only;
    f->function = s->function;
    f->active = s->active;
    f->guard = s->guard;
    f->branch = s->branch;
    f->checks = s->checks;
    f->actions = s->actions;
}

/* Make the symbol's value known; false if it is broken (reported). */
bool resolve_symbol(flattener *f, symbol *s, source_place place)
{
    if (s->state == SYMBOL_DONE) return true;
    if (s->state == SYMBOL_BROKEN) return false;
    if (s->state == SYMBOL_BUSY) {
        report_cycle(f, s, place);
        s->state = SYMBOL_BROKEN;
        return false;
    }
    if (f->depth >= FLATTEN_MAX_DEPTH) {
        report_error(f, place, "declarations depend on each other too deeply");
        s->state = SYMBOL_BROKEN;
        return false;
    }
    saved_scope saved = enter_model_scope(f);
    f->parameters_only = s->constant || s->parameter;
    s->state = SYMBOL_BUSY;
    s->busy_outer = f->busy;
    f->busy = s;
    f->depth += 20; /* a declaration uses more of the stack than an operator */
    declare_symbol(f, s);
    f->depth -= 20;
    f->busy = s->busy_outer;
    bool ok = s->state == SYMBOL_BUSY && !value_is_error(&s->value);
    s->state = ok ? SYMBOL_DONE : SYMBOL_BROKEN;
    leave_model_scope(f, &saved);
    return ok;
}

void declare_all(flattener *f)
{
    for (size_t k = 0; k < f->model_symbol_count && !f->failed && !f->stop; k++)
        resolve_symbol(f, &f->model_symbols[k], f->model_symbols[k].declaration->place);
}

/* ---- declaration equations ---- */

static void bind_variable(flattener *f, const late_binding *b)
{
    value right = b->known;
    if (b->right) right = evaluate_in(f, b->right, b->siblings != NULL, b->siblings);
    if (value_is_error(&right)) return;
    if (b->target.type == VALUE_INTEGER && right.type == VALUE_REAL) {
        type_error(f, b->place, "value of an Integer", &right, "Integer");
        return;
    }
    equate(f, &b->target, &right, b->place, b->comment);
}

static bool is_bound_input(const symbol *s)
{
    return s->declaration->value != NULL;
}

/* An input of the whole model that nothing drives keeps its start value. */
static void rest_inputs(flattener *f, const symbol *s, size_t end)
{
    const char *name = s->declaration->name;
    report_warning(f, s->declaration->place,
                   "input '%s' is not connected: it keeps its start value", name);
    for (size_t k = (size_t)s->first_variable; k < end; k++) {
        const flat_variable *v = &f->m->variables[k];
        expr left = v->discrete ? graph_memory(f->g, v->memory) : graph_variable(f->g, (int)k, 0);
        expr start = v->has_start ? v->start : constant(f, v->type == FLAT_ENUMERATION ? 1.0 : 0.0);
        push_pair(f, &f->equations,
                  (equation_pair){.left = left,
                                  .right = start,
                                  .type = v->type == FLAT_REAL ? VALUE_REAL : VALUE_INTEGER,
                                  .place = v->place});
    }
}

static size_t count_leaves(const value *v)
{
    if (v->type != VALUE_RECORD) return value_is_error(v) ? 0 : v->count;
    size_t sum = 0;
    for (size_t k = 0; k < v->field_count; k++) sum += count_leaves(&v->fields[k]);
    return sum;
}

void declaration_equations(flattener *f)
{
    f->target = &f->equations;
    for (size_t k = 0; k < f->binding_count && !f->failed; k++) bind_variable(f, &f->bindings[k]);
    for (size_t k = 0; k < f->model_symbol_count; k++) {
        const symbol *s = &f->model_symbols[k];
        if (s->state != SYMBOL_DONE || !s->declaration->input || is_bound_input(s)) continue;
        if (s->parameter || s->constant || s->absent) continue;
        rest_inputs(f, s, (size_t)s->first_variable + count_leaves(&s->value));
    }
}

/* parameter equation guess(x) = e: a start value that is not written at the declaration. */
void read_guess(flattener *f, const ast_item *item)
{
    const ast_expr *call = item->left;
    if (!call || !item->right || call->arg_count != 1) return;
    bool only = f->parameters_only;
    f->parameters_only = true;
    value start = evaluate(f, item->right);
    f->parameters_only = only;
    value target = evaluate(f, call->args[0]);
    if (value_is_error(&start) || value_is_error(&target)) return;
    value all = broadcast_value(f, &start, target.rank, target.dims);
    for (size_t k = 0; !value_is_error(&all) && k < target.count; k++) {
        const expr_node *n = graph_node(f->g, value_element(&target, k));
        int index = n->op == EXPR_VARIABLE ? n->index
                    : n->op == EXPR_MEMORY ? f->slot_variable[n->index]
                                           : -1;
        if (index < 0) {
            report_error(f, call->args[0]->place, "guess wants a variable");
            return;
        }
        f->m->variables[index].start = value_element(&all, k);
        f->m->variables[index].has_start = true;
    }
}

static const char *parameter_near(flattener *f, const char *name)
{
    const char **names = flatten_take(f, (f->m->parameter_count + 1) * sizeof *names);
    size_t count = 0;
    if (!names) return NULL;
    for (size_t k = 0; k < f->m->parameter_count; k++)
        if (!f->m->parameters[k].constant) names[count++] = f->m->parameters[k].name;
    return nearest_name(name, names, count);
}

void check_settings(flattener *f)
{
    for (size_t k = 0; k < f->setting_count; k++) {
        if (f->setting_used[k]) continue;
        const char *near = parameter_near(f, f->settings[k].name);
        report_error(f, (source_place){0, 0}, "the model has no parameter '%s' to set%s%s%s",
                     f->settings[k].name, near ? "; did you mean '" : "", near ? near : "",
                     near ? "'?" : "");
    }
}
