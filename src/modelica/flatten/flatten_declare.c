/* Declarations: components of the model become variables, parameters and constants. */
#include "modelica/flatten/flatten_declare.h"

#include <string.h>

static value declare_instance(flattener *f, instance *in);

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
    child.modified = m && m->value;
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
        .repeated = in->modified && !in->has_given,
        .place = in->binding ? in->binding->place : in->component->place,
        .comment = in->component->comment,
    };
}

/* The number of the variable that a leaf stands for. */
static int variable_of(flattener *f, expr leaf)
{
    const expr_node *n = graph_node(f->g, leaf);
    return n->op == EXPR_MEMORY ? f->slot_variable[n->index] : n->index;
}

/* A parameter with fixed = false is computed by the initial equations: a variable that rests,
 * der(p) = 0 or p = pre(p). */
static void add_resting_equation(flattener *f, const instance *in, const value *v)
{
    for (size_t k = 0; k < v->count; k++) {
        const flat_variable *q = &f->m->variables[variable_of(f, v->e[k])];
        const bool held = q->discrete;
        expr rate = held ? v->e[k] : graph_variable(f->g, variable_of(f, v->e[k]), 1);
        push_pair(
            f, &f->equations,
            (equation_pair){.left = rate,
                            .right = held ? graph_memory(f->g, q->memory_pre) : constant(f, 0.0),
                            .type = v->type,
                            .place = in->component->place});
    }
}

static void find_moving(flattener *f, void *context, const expr_node *n)
{
    bool *moves = context;
    bool rests = n->op == EXPR_VARIABLE && n->order == 0 && f->m->variables[n->index].rests;
    if (n->op == EXPR_TIME || n->op == EXPR_MEMORY || (n->op == EXPR_VARIABLE && !rests))
        *moves = true;
}

/* Whether a parameter's value follows from parameters that the initial system computes: then it is
 * a variable with an equation. Evaluates the binding, once and for all. */
static bool follows_from_resting(flattener *f, instance *in, const type_info *t)
{
    if (in->role != ROLE_PARAMETER || t->type != VALUE_REAL || in->part_count > 1 ||
        in->has_given || !in->binding)
        return false;
    in->given = evaluate_in(f, in->binding, in->binding_in_class, in->siblings);
    in->has_given = true;
    const value *v = &in->given;
    bool moves = false, depends = false;
    if (!value_is_numeric(v) || v->rank != in->rank || graph_failed(f->g)) return false;
    for (size_t k = 0; k < v->count && !moves; k++) {
        if (!(node_depends(f, value_element(v, k)) & (DEPENDS_CONTINUOUS | DEPENDS_MEMORY)))
            continue;
        depends = true;
        visit_begin(f);
        visit_leaves(f, value_element(v, k), find_moving, &moves);
    }
    return depends && !moves;
}

static value declare_variables(flattener *f, instance *in, const attributes *a, const type_info *t)
{
    value v = value_new(f, t->type, in->rank, in->dims);
    if (value_is_error(&v) || !variable_room(f, v.count)) return v;
    for (size_t k = 0; k < v.count && !f->failed; k++)
        v.e[k] = declare_variable(f, in, a, t->type, k);
    if (graph_failed(f->g)) f->failed = true; /* leaves that are none have no variable */
    return v;
}

static int own_unit(flattener *f, const attributes *a, const type_info *t)
{
    return t->type == VALUE_REAL && a->unit ? unit_number(&f->units, a->unit) : UNIT_UNKNOWN;
}

/* A variable, or a parameter that rests or follows from those that do. */
static value declare_unknown(flattener *f, instance *in, const attributes *a, const type_info *t,
                             bool resting)
{
    const bool parameter = in->role == ROLE_PARAMETER;
    in->discrete = (in->discrete && !parameter) || t->type != VALUE_REAL;
    value v = declare_variables(f, in, a, t);
    v.class_ = t->class_;
    v.unit = own_unit(f, a, t);
    for (size_t k = 0; parameter && k < v.count && !f->failed; k++)
        f->m->variables[variable_of(f, v.e[k])].rests = true;
    if (value_is_error(&v) || f->failed) return v;
    if (resting)
        add_resting_equation(f, in, &v);
    else
        remember_binding(f, in, &v);
    return v;
}

/* Whether the initial system has to compute a parameter: it has fixed = false, and its initial
 * equation or algorithm is not one of parameters. Others without a value are warned of. */
static bool is_resting(flattener *f, instance *in, const attributes *a, const type_info *t)
{
    double fixed = 1.0;
    if (in->role != ROLE_PARAMETER || !a->fixed_given || a->fixed.count == 0 ||
        !compile_time_value(f, value_element(&a->fixed, 0), &fixed) || fixed != 0.0)
        return false;
    if (in->part_count == 1) {
        in->given = initial_definition(f, in->symbol);
        in->has_given = !value_is_error(&in->given);
        in->final_ = in->final_ || in->has_given; /* its equation is gone: nobody else sets it */
    }
    if (in->has_given || in->binding || t->type == VALUE_STRING) return false;
    return t->type == VALUE_REAL || (in->part_count == 1 && in->symbol->initial_named);
}

/* An equation of the model that is `name = ..`; NULL: there is none. */
static const ast_item *defining_equation(const flattener *f, const char *name)
{
    const ast_class *m = f->file->model;
    for (size_t k = 0; k < m->section_count; k++) {
        const ast_section *s = &m->sections[k];
        for (size_t i = 0; !s->algorithm && !s->initial && !s->parameter && i < s->item_count;
             i++) {
            const ast_expr *left = s->items[i]->left;
            if (s->items[i]->kind == ITEM_EQUATION && left && left->kind == AST_REFERENCE &&
                left->part_count == 1 && left->parts[0].subscript_count == 0 &&
                left->parts[0].name && strcmp(left->parts[0].name, name) == 0)
                return s->items[i];
        }
    }
    return NULL;
}

/* A String variable is the text that it is defined to be, with its values of the run. */
static value declare_text(flattener *f, instance *in)
{
    const char *name = in->part[in->part_count - 1];
    if (!in->binding && !in->has_given && in->part_count == 1) {
        in->symbol->text_item = defining_equation(f, name);
        if (in->symbol->text_item) in->binding = in->symbol->text_item->right;
    }
    if (in->binding || in->has_given) {
        value text = checked_binding(f, in, VALUE_STRING, NULL);
        value v = value_is_error(&text) ? text : value_new(f, VALUE_STRING, text.rank, text.dims);
        for (size_t k = 0; !value_is_error(&v) && k < v.count; k++)
            v.e[k] = value_element(&text, k);
        return v;
    }
    return error_value(f, in->component->place,
                       "'%s' is a String variable, which needs a definition: String %s = .., or an "
                       "equation outside of if and when; algorithms cannot assign it",
                       name, name);
}

static value declare_simple(flattener *f, instance *in, const type_info *t)
{
    attributes a = read_attributes(f, in, t->type, t->class_);
    bool resting = is_resting(f, in, &a, t);
    bool follows = !resting && follows_from_resting(f, in, t);
    if (in->role == ROLE_VARIABLE && t->type == VALUE_STRING) return declare_text(f, in);
    value v = in->role == ROLE_VARIABLE || resting || follows
                  ? declare_unknown(f, in, &a, t, resting)
                  : declare_parameters(f, in, &a, t);
    v.class_ = t->class_;
    v.unit = own_unit(f, &a, t);
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
    if (t.class_->object && in->rank == 0) return declare_object(f, in, t.class_);
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
    in->binding = s->driven ? NULL : c->value;
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

bool resolve_declaration(flattener *f, symbol *s, source_place place)
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
    flatten_scope saved = f->scope;
    f->scope = (flatten_scope){.active = f->permanent,
                               .local_base = f->local_count,
                               .end_size = SIZE_MAX,
                               .parameters_only = s->constant || s->parameter,
                               .shape_only = saved.shape_only,
                               .skip_overlay = saved.skip_overlay};
    s->state = SYMBOL_BUSY;
    s->busy_outer = f->busy;
    f->busy = s;
    f->depth += 20; /* a declaration uses more of the stack than an operator */
    if (s->whole)
        s->value = value_of_whole(f, s, place);
    else
        declare_symbol(f, s);
    f->depth -= 20;
    f->busy = s->busy_outer;
    bool ok = s->state == SYMBOL_BUSY && !value_is_error(&s->value);
    s->state = ok ? SYMBOL_DONE : SYMBOL_BROKEN;
    f->scope = saved;
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
    if (b->repeated && right.rank < b->target.rank) { /* r[2](each v = e) */
        value all = broadcast_value(f, &right, b->target.rank, b->target.dims);
        if (!value_is_error(&all)) right = all;
    }
    if (b->target.type == VALUE_INTEGER && right.type == VALUE_REAL) {
        type_error(f, b->place, "value of an Integer", &right, "Integer");
        return;
    }
    equate(f, &b->target, &right, b->place, b->comment);
}

void declaration_equations(flattener *f)
{
    f->target = &f->equations;
    for (size_t k = 0; k < f->binding_count && !f->failed; k++) bind_variable(f, &f->bindings[k]);
    if (!f->failed) drive_inputs(f);
}

/* parameter equation guess(x) = e: a start value that is not written at the declaration. */
void read_guess(flattener *f, const ast_item *item)
{
    const ast_expr *call = item->left;
    if (!call || !item->right || call->arg_count != 1) return;
    bool only = f->scope.parameters_only;
    const ast_expr *right = item->right;
    bool ranked = right->kind == AST_CALL && right->part_count == 1 && right->arg_count == 2 &&
                  strcmp(right->parts[0].name, "prioritize") == 0;
    if (ranked) right = right->args[0]; /* one guess for each variable: nothing to choose from */
    f->scope.parameters_only = true;
    value start = evaluate(f, right);
    f->scope.parameters_only = only;
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
        report_error(f, (source_place){0, 0}, "the model has no parameter '%s' to set%s",
                     f->settings[k].name, did_you_mean(f, near));
    }
}
