/* Attributes of declared variables, and the variables they describe. */
#include "modelica/flatten/flatten_declare.h"

#include <string.h>

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

flat_type flat_type_of(value_type type)
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
