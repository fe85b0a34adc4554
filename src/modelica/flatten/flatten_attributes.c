/* Attributes of declared variables, and the variables they describe. */
#include "modelica/flatten/flatten_declare.h"

#include <string.h>

/* ---- expressions of declarations, names of elements ---- */

/* Value of an expression of a record's definition for element k of an array of such records: it
 * sees the fields before it and global constants. */
static value evaluate_among(flattener *f, const ast_expr *e, const value *siblings, size_t k)
{
    size_t count = f->local_count;
    for (size_t i = 0; i < siblings->field_count; i++) {
        if (value_is_error(&siblings->fields[i])) continue;
        local *l = push_local(f, siblings->class_->components[i].name);
        value v = value_slice(f, &siblings->fields[i], siblings->rank, k);
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
value evaluate_in(flattener *f, const ast_expr *e, bool in_class, const value *siblings)
{
    size_t base = f->scope.local_base, count = f->local_count;
    bool function = f->scope.in_function;
    if (!f->scope.function || in_class) f->scope.local_base = f->local_count;
    if (in_class) f->scope.in_function = true;
    value v = in_class && siblings ? evaluate_among_all(f, e, siblings) : evaluate(f, e);
    f->scope.local_base = base;
    f->local_count = count;
    f->scope.in_function = function;
    return v;
}

/* The outermost modification of that name, or NULL. */
const ast_modification *find_modification(const modifier *m, const char *name, bool *in_class)
{
    for (; m; m = m->inner)
        for (size_t k = 0; k < m->count; k++)
            if (m->items[k].name && strcmp(m->items[k].name, name) == 0) {
                *in_class = m->in_class;
                return &m->items[k];
            }
    return NULL;
}

/* "r[2].a[3]" of the element with that row-major number. */
char *element_name(flattener *f, const instance *in, size_t element)
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
            report_error(f, m->items[k].place, "%s has no attribute '%s'%s", value_type_name(type),
                         name, did_you_mean(f, near));
        }
}

/* Value of an attribute for all elements, broadcast; an error value if it is absent or wrong. */
static value attribute_value(flattener *f, const instance *in, const char *name, value_type type,
                             const ast_class *class_)
{
    bool in_class = false, only = f->scope.parameters_only;
    const ast_modification *m = find_modification(in->modifiers, name, &in_class);
    if (!m || !m->value) return value_error();
    f->scope.parameters_only = true;
    value v = evaluate_in(f, m->value, in_class, in->siblings);
    f->scope.parameters_only = only;
    if (value_is_error(&v)) return v;
    if (!fits_type(&v, type, class_))
        return wrong_type(f, m->value->place, name, &v,
                          type == VALUE_ENUMERATION && class_ ? class_->name
                                                              : value_type_name(type));
    value all = broadcast_value(f, &v, in->rank, in->dims);
    if (!value_is_error(&all) || f->failed) return all;
    return error_value(f, m->value->place, "%s of '%s' has sizes %s, but '%s' has sizes %s", name,
                       in->part[in->part_count - 1], value_shape(v.rank, v.dims).text,
                       in->part[in->part_count - 1], value_shape(in->rank, in->dims).text);
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
        return error_value(f, m->value->place,
                           "%s of '%s' must not depend on variables: only parameters and constants",
                           name, in->part[in->part_count - 1]);
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
    double x = 0.0;
    value v =
        constant_attribute(f, in, "stateSelect", VALUE_ENUMERATION, find_class(f, "StateSelect"));
    if (value_is_error(&v) || v.count == 0) return SELECT_DEFAULT;
    if (!compile_time_value(f, value_element(&v, 0), &x)) return SELECT_DEFAULT;
    return (flat_state_select)((int)x - 1);
}

attributes read_attributes(flattener *f, const instance *in, value_type type,
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

expr attribute_element(const value *v, size_t k)
{
    return value_is_error(v) ? EXPR_NONE : value_element(v, k);
}

/* ---- variables ---- */

static bool same_words(const flat_words *a, const flat_words *b)
{
    return a->unit == b->unit && a->display_unit == b->display_unit && a->quantity == b->quantity &&
           a->comment == b->comment;
}

/* What a declaration says in words, for the newest variable: mostly the same as for the one before,
 * an element of the same array. */
static const flat_words *words_of(flattener *f, const attributes *a)
{
    const size_t count = f->m->variable_count;
    const flat_words words = {a->unit, a->display_unit, a->quantity, a->comment};
    const flat_words *before = count > 1 ? f->m->variables[count - 2].words : &flat_no_words;
    if (same_words(before, &words)) return before;
    if (same_words(&flat_no_words, &words)) return &flat_no_words;
    flat_words *own = model_take(f, sizeof *own);
    if (own) *own = words;
    return own ? own : &flat_no_words;
}

/* The leaf of one scalar variable with its attributes. */
expr declare_variable(flattener *f, const instance *in, const attributes *a, value_type type,
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
    v->words = words_of(f, a);
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
