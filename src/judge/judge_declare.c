/* Components: their sizes, the values of parameters, start values and other attributes. Each is
 * elaborated when it is first asked for, so that the order of the text does not matter. */
#include <string.h>

#include "judge/judge_parts.h"

/* ---- entering ---- */

static void enter(judge *j, const ast_component *declared, bool global)
{
    component *c = JUDGE_TAKE(j, component, 1);
    *c = (component){.name = declared->name,
                     .declared = declared,
                     .scope = global ? &j->global : &j->model,
                     .constant_ = global};
    judge_table_put(j, global ? &j->constants : &j->names, c->name, NULL, 0, 0, c);
    *j->last_component = c;
    j->last_component = &c->next;
}

void judge_declare(judge *j)
{
    const ast_class *model = j->file->model;
    for (size_t k = 0; k < j->file->constant_count; k++) enter(j, &j->file->constants[k], true);
    for (size_t k = 0; k < model->component_count; k++) enter(j, &model->components[k], false);
}

/* ---- evaluation aside ---- */

/* What the machine does while it evaluates a declaration in the middle of something else. */
typedef struct aside {
    frame frame;
    int group, in_function, noevent;
    bool reading, touched, trial;
} aside;

static aside begin_aside(machine *m)
{
    aside a = {m->frame, m->group, m->in_function, m->noevent, m->reading, m->touched, m->trial};
    m->frame = (frame){judge_stack_take(m, &m->scratch, MODEL_SLOTS * sizeof(value)), MODEL_SLOTS};
    m->group = -1;
    m->in_function = m->noevent = 0;
    m->reading = m->touched = m->trial = false;
    return a;
}

static void end_aside(machine *m, const aside *a)
{
    m->frame = a->frame;
    m->group = a->group, m->in_function = a->in_function, m->noevent = a->noevent;
    m->reading = a->reading, m->touched = a->touched, m->trial = a->trial;
}

/* ---- bindings ---- */

static void bind(judge *j, component *c, node *target, node *value_, bool each, int line)
{
    binding *b = JUDGE_TAKE(j, binding, 1), **last = &c->bindings;
    *b = (binding){NULL, target, value_, each, line};
    while (*last) last = &(*last)->next;
    *last = b;
}

static void add_attribute(judge *j, component *c, const char *name, node *target, node *value_,
                          bool each, int line)
{
    static const char *const known[] = {"start", "fixed", "min", "max", "nominal"};
    bool is = false;
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) is |= strcmp(name, known[k]) == 0;
    if (!is) return;
    attribute *a = JUDGE_TAKE(j, attribute, 1), **last = &c->attributes;
    *a = (attribute){NULL, name, target, value_, each, line};
    while (*last) last = &(*last)->next;
    *last = a;
}

static void apply(judge *j, component *c, const node *target, const jtype *type, const scope *s,
                  const ast_modification *mods, size_t count, bool each, bool values);

/* One modification of a target: an attribute of a scalar type, or of a field of a record. */
static void apply_one(judge *j, component *c, const node *target, const jtype *type, const scope *s,
                      const ast_modification *m, bool each, bool values)
{
    int line = m->place.line;
    each |= m->each;
    if (type->base != BASE_RECORD) {
        if (m->value && !values)
            add_attribute(j, c, m->name, (node *)(size_t)target, judge_compile(j, s, m->value),
                          each, line);
        return;
    }
    for (int k = 0; k < type->field_count; k++) {
        const type_field *f = &type->fields[k];
        if (strcmp(f->name, m->name) != 0) continue;
        node *field = judge_with_step(j, target, f->name, NULL, 0);
        if (m->value && values) bind(j, c, field, judge_compile(j, s, m->value), each, line);
        apply(j, c, field, f->type, s, m->nested, m->nested_count, each, values);
    }
}

static void apply(judge *j, component *c, const node *target, const jtype *type, const scope *s,
                  const ast_modification *mods, size_t count, bool each, bool values)
{
    for (size_t k = 0; k < count; k++) apply_one(j, c, target, type, s, &mods[k], each, values);
}

static bool modified(const ast_modification *mods, size_t count, const char *name)
{
    for (size_t k = 0; k < count; k++)
        if (strcmp(mods[k].name, name) == 0 && mods[k].value) return true;
    return false;
}

static const ast_modification *nested_of(const ast_modification *mods, size_t count,
                                         const char *name)
{
    for (size_t k = 0; k < count; k++)
        if (strcmp(mods[k].name, name) == 0) return &mods[k];
    return NULL;
}

static node *element_target(judge *j, const node *target, const shape *s, int e)
{
    if (s->ndims == 0) return (node *)(size_t)target;
    node **subscripts = JUDGE_TAKE(j, node *, s->ndims);
    for (int d = s->ndims - 1; d >= 0; d--) {
        subscripts[d] = judge_number_node(j, e % s->dims[d] + 1, target->line);
        e /= s->dims[d];
    }
    return judge_with_step(j, target, NULL, subscripts, s->ndims);
}

/* What the class of a record says about its fields, element by element: names in it are those of
 * fields of the same element. `mods`: what the declaration says instead. */
static void class_defaults(judge *j, component *c, const node *target, const jtype *type,
                           const shape *s, const ast_modification *mods, size_t count, bool values)
{
    int elements = judge_count(s);
    for (int e = 0; e < elements; e++) {
        node *prefix = element_target(j, target, s, e);
        scope *inner = JUDGE_TAKE(j, scope, 1);
        *inner = (scope){SCOPE_INSTANCE, &j->global, NULL, 0, 0, NULL, prefix, type};
        for (int k = 0; k < type->field_count; k++) {
            const type_field *f = &type->fields[k];
            const ast_component *d = f->declared;
            if (!d) continue;
            const ast_modification *nested = nested_of(mods, count, f->name);
            bool given = modified(mods, count, f->name);
            node *field = judge_with_step(j, prefix, f->name, NULL, 0);
            if (f->type->base == BASE_RECORD && !given && !d->value)
                class_defaults(j, c, field, f->type, &f->shape, nested ? nested->nested : NULL,
                               nested ? nested->nested_count : 0, values);
            if (d->value && values && !given)
                bind(j, c, field, judge_compile(j, inner, d->value), false, d->place.line);
            if (!values) {
                type_use use = judge_type_of(j, d->type, d->place.line);
                for (int a = use.alias_count - 1; a >= 0; a--)
                    apply(j, c, field, f->type, &j->global, use.aliases[a]->modifications,
                          use.aliases[a]->modification_count, true, values);
            }
            if (!given || !values)
                apply(j, c, field, f->type, inner, d->modifications, d->modification_count, true,
                      values);
        }
    }
}

static void compile_bindings(judge *j, component *c)
{
    const ast_component *d = c->declared;
    node *target = judge_target(j, c, NULL, 0, d->place.line);
    if (d->value) {
        bind(j, c, target, judge_compile(j, c->scope, d->value), false, d->place.line);
        return;
    }
    if (c->type->base != BASE_RECORD) return;
    apply(j, c, target, c->type, c->scope, d->modifications, d->modification_count, false, true);
    class_defaults(j, c, target, c->type, &c->shape, d->modifications, d->modification_count, true);
}

static void compile_attributes(judge *j, component *c)
{
    const ast_component *d = c->declared;
    node *target = judge_target(j, c, NULL, 0, d->place.line);
    if (c->type->base == BASE_RECORD)
        class_defaults(j, c, target, c->type, &c->shape, d->modifications, d->modification_count,
                       false);
    type_use use = judge_type_of(j, d->type, d->place.line);
    for (int a = use.alias_count - 1; a >= 0; a--)
        apply(j, c, target, c->type, &j->global, use.aliases[a]->modifications,
              use.aliases[a]->modification_count, true, false);
    apply(j, c, target, c->type, c->scope, d->modifications, d->modification_count, false, false);
}

/* ---- sizes ---- */

/* The sizes that only the binding tells. */
static void close_shape(machine *m, component *c)
{
    bool open = false;
    for (int d = 0; d < c->shape.ndims; d++) open |= c->shape.dims[d] < 0;
    const ast_component *d = c->declared;
    if (!open && !c->type->open) return;
    if (!d->value && c->type->base == BASE_RECORD) {
        shape shapes[256] = {0};
        if (c->type->field_count > 256) judge_fail(m, d->place.line, "a record of such a size");
        for (int k = 0; k < c->type->field_count; k++) {
            const type_field *f = &c->type->fields[k];
            const ast_modification *mod =
                nested_of(d->modifications, d->modification_count, f->name);
            const ast_expr *e = mod && mod->value ? mod->value : f->declared->value;
            shapes[k] = f->shape;
            bool unknown = false;
            for (int i = 0; i < f->shape.ndims; i++) unknown |= f->shape.dims[i] < 0;
            if (unknown && !e) judge_fail(m, d->place.line, "the size of '%s'", f->name);
            if (unknown) shapes[k] = judge_eval(m, judge_compile(m->j, c->scope, e)).shape;
        }
        c->type = judge_closed_type(m->j, c->type, shapes);
        return;
    }
    if (!d->value) judge_fail(m, d->place.line, "the size of '%s' is not given", c->name);
    value v = judge_eval(m, judge_compile(m->j, c->scope, d->value));
    if (v.shape.ndims != c->shape.ndims)
        judge_fail(m, d->place.line, "the binding of '%s' has another size", c->name);
    c->shape = v.shape;
    if (c->type->open) c->type = v.type;
}

static void find_shape(machine *m, component *c)
{
    judge *j = m->j;
    const ast_component *d = c->declared;
    type_use use = judge_type_of(j, d->type, d->type_place.line);
    if (!use.type || use.type->base == BASE_FUNCTION) {
        const char *what = judge_format(j, "the type '%s'", d->type);
        judge_add_gap(j, what, d->place.line, -1, false);
        judge_fail(m, d->place.line, "%s cannot be judged", what);
    }
    c->type = use.type;
    for (size_t k = 0; k < d->size_count; k++) {
        int size = -1;
        if (c->shape.ndims == MOST_DIMS) judge_fail(m, d->place.line, "too many dimensions");
        if (d->sizes[k]->kind != AST_COLON) {
            value v = judge_eval(m, judge_compile(j, c->scope, d->sizes[k]));
            bool type = v.shape.ndims == 1 && v.type->base != BASE_INTEGER;
            double number = type ? v.shape.dims[0] : judge_number(m, &v, d->place.line);
            if (!(number >= 0.0 && number <= 1e8)) judge_fail(m, d->place.line, "a wrong size");
            size = (int)number;
        }
        c->shape.dims[c->shape.ndims++] = size;
    }
    for (int k = 0; k < use.shape.ndims; k++)
        if (c->shape.ndims < MOST_DIMS) c->shape.dims[c->shape.ndims++] = use.shape.dims[k];
    close_shape(m, c);
}

/* ---- scalar variables ---- */

static judge_variability variability_of(const ast_component *d, const jtype *type)
{
    switch (d->variability) {
    case VAR_CONSTANT: return JUDGE_CONSTANT;
    case VAR_PARAMETER: return JUDGE_PARAMETER;
    case VAR_DISCRETE: return JUDGE_DISCRETE;
    case VAR_NONE: break;
    }
    return type->base == BASE_REAL ? JUDGE_CONTINUOUS : JUDGE_DISCRETE;
}

static const char *element_name(judge *j, const char *name, const shape *s, int e)
{
    if (s->ndims == 0) return name;
    int index[MOST_DIMS];
    for (int d = s->ndims - 1; d >= 0; d--) {
        index[d] = e % s->dims[d] + 1;
        e /= s->dims[d];
    }
    const char *text = judge_format(j, "%s[%d", name, index[0]);
    for (int d = 1; d < s->ndims; d++) text = judge_format(j, "%s,%d", text, index[d]);
    return judge_format(j, "%s]", text);
}

static void add_variable(judge *j, const component *c, const char *name, const jtype *type,
                         judge_variability known, cell *at)
{
    const ast_component *d = c->declared;
    judge_grow(j, &j->variables, &j->variable_capacity, j->variable_count + 1,
               sizeof *j->variables);
    judge_grow(j, &j->cells, &j->cell_capacity, j->variable_count + 1, sizeof *j->cells);
    if (known > JUDGE_DISCRETE && type->base != BASE_REAL) known = JUDGE_DISCRETE;
    j->variables[j->variable_count] =
        (judge_variable){.name = name,
                         .type = (judge_type)type->base,
                         .variability = known,
                         .input = d->input && !d->value && known >= JUDGE_DISCRETE,
                         .fixed = known <= JUDGE_PARAMETER,
                         .start = type->base == BASE_ENUMERATION ? 1.0 : 0.0,
                         .value = NAN,
                         .min = -INFINITY,
                         .max = INFINITY,
                         .nominal = NAN,
                         .derivative = -1,
                         .line = d->place.line};
    j->cells[j->variable_count++] = at;
    at->index = (int)j->variable_count;
    table_entry *e = judge_table_put(j, &j->ids, name, &j->variables, 0, 0, NULL);
    e->number = at->index;
}

static void add_scalars(judge *j, const component *c, const char *name, const jtype *type,
                        const shape *s, judge_variability known, cell *at)
{
    int elements = judge_count(s);
    for (int e = 0; e < elements; e++, at += type->cells) {
        const char *full = element_name(j, name, s, e);
        if (type->base != BASE_RECORD) {
            add_variable(j, c, full, type, known, at);
            continue;
        }
        for (int k = 0; k < type->field_count; k++) {
            const type_field *f = &type->fields[k];
            judge_variability own =
                f->declared ? variability_of(f->declared, f->type) : JUDGE_CONTINUOUS;
            add_scalars(j, c, judge_format(j, "%s.%s", full, f->name), f->type, &f->shape,
                        own < known ? own : known, at + f->offset);
        }
    }
}

static void elaborate_sizes(machine *m, component *c)
{
    const ast_component *d = c->declared;
    judge *j = m->j;
    if (d->condition && !judge_eval_condition(m, judge_compile(j, c->scope, d->condition))) {
        c->removed = true;
        c->type = &judge_real;
        return;
    }
    find_shape(m, c);
    if ((double)judge_count(&c->shape) * c->type->cells > 1e7)
        judge_fail(m, d->place.line, "a very large array");
    int cells = judge_count(&c->shape) * c->type->cells;
    c->cells = JUDGE_TAKE(j, cell, cells);
    c->variability = variability_of(d, c->type);
    c->first = (int)j->variable_count;
    if (!c->constant_) add_scalars(j, c, c->name, c->type, &c->shape, c->variability, c->cells);
}

/* Do something with a component once, aside; an error is remembered. */
static void elaborate(machine *m, component *c, elaboration *state, int line,
                      void (*work)(machine *, component *))
{
    if (*state == DONE) return;
    if (*state == BUSY) judge_fail(m, line, "'%s' is defined by itself", c->name);
    if (*state == FAILED) judge_fail(m, line, "'%s' has no value: %s", c->name, c->error);
    jmp_buf escape, *outer = m->escape;
    aside a = begin_aside(m);
    *state = BUSY;
    if (setjmp(escape) == 0) {
        m->escape = &escape;
        work(m, c);
        *state = DONE;
    } else {
        *state = FAILED;
    }
    m->escape = outer;
    end_aside(m, &a);
    if (m->no_memory) judge_no_memory(m);
    if (*state != FAILED) return;
    c->error = judge_format(m->j, "%.150s", m->error ? m->error : "?");
    judge_fail(m, c->declared ? c->declared->place.line : line, "%s", c->error);
}

void judge_elaborate_sizes(machine *m, component *c, int line)
{
    elaborate(m, c, &c->sizes, line, elaborate_sizes);
}

/* ---- values ---- */

/* value -> cells of a target; a value with fewer dimensions is repeated. */
void judge_spread(machine *m, const selection *s, const value *v, int line)
{
    value all = *v;
    if (v->type->cells != s->type->cells) judge_fail(m, line, "a value of another type");
    int lack = s->shape.ndims - v->shape.ndims;
    if (lack > 0) {
        for (int d = 0; d < v->shape.ndims; d++)
            if (v->shape.dims[d] != s->shape.dims[d + lack])
                judge_fail(m, line, "a value of another size");
        all = judge_make(m, v->type, &s->shape);
        int count = judge_cells(&all), width = judge_cells(v);
        for (int k = 0; k < count; k++) all.cells[k] = v->cells[k % width];
    }
    judge_write(m, s, &all, line);
}

static const judge_override *override_of(judge *j, const char *name)
{
    for (size_t k = 0; k < j->override_count; k++)
        if (strcmp(j->overrides[k].name, name) == 0) {
            j->override_used[k] = true;
            return &j->overrides[k];
        }
    return NULL;
}

/* Texts of constants and parameters outlive the evaluation. */
static void keep_texts(judge *j, component *c)
{
    int cells = judge_count(&c->shape) * c->type->cells;
    for (int k = 0; k < cells; k++) {
        int index = c->cells[k].index;
        bool text =
            index ? j->variables[index - 1].type == JUDGE_STRING : c->type->base == BASE_STRING;
        if (text && c->cells[k].text) c->cells[k].text = judge_format(j, "%s", c->cells[k].text);
    }
}

/* A binding whose value is known by now. */
static bool set_binding(machine *m, const binding *b)
{
    value v;
    if (!judge_try(m, b->value, &v)) return false;
    selection s = judge_select(m, b->target);
    judge_spread(m, &s, &v, b->line);
    return true;
}

/* Fields of a record may be given by other fields: those that are known first. */
static void set_bindings(machine *m, component *c)
{
    judge *j = m->j;
    int cells = judge_count(&c->shape) * c->type->cells, count = 0, left, before;
    compile_bindings(j, c);
    for (int k = 0; c->bindings && k < cells; k++) {
        c->cells[k].spread = -1.0;
        if (!c->cells[k].index) continue;
        judge_variable *x = &j->variables[c->cells[k].index - 1];
        if (x->fixed) x->value = 0.0; /* not one that the row gives, so far */
    }
    for (const binding *b = c->bindings; b; b = b->next) count++;
    bool *done = JUDGE_TAKE(j, bool, count);
    left = count;
    do {
        int k = 0;
        before = left;
        for (const binding *b = c->bindings; b; b = b->next, k++)
            if (!done[k] && set_binding(m, b)) done[k] = true, left--;
    } while (left && left < before);
    int k = 0;
    for (const binding *b = c->bindings; b; b = b->next, k++)
        if (!done[k]) (void)judge_eval(m, b->value); /* says what is wrong */
    for (k = 0; k < cells; k++) c->cells[k].spread = 0.0;
    keep_texts(j, c);
}

/* Read one attribute of a parameter early: fixed and start decide on its value. */
static void set_attribute(machine *m, const attribute *a)
{
    judge *j = m->j;
    value v = judge_eval(m, a->value);
    selection s = judge_select(m, a->target);
    int count = judge_count(&s.shape) * s.type->cells, width = judge_cells(&v);
    if (s.type->base == BASE_STRING || s.type->base == BASE_RECORD || width == 0) return;
    if (v.type->base >= BASE_STRING || count % width) judge_fail(m, a->line, "an attribute");
    for (int k = 0; k < count; k++) {
        int index = judge_cell(&s, k)->index;
        if (!index) continue;
        judge_variable *x = &j->variables[index - 1];
        double number = v.cells[k % width].v;
        if (strcmp(a->name, "start") == 0) x->start = number, x->has_start = true;
        if (strcmp(a->name, "fixed") == 0) x->fixed = number != 0.0;
        if (strcmp(a->name, "min") == 0) x->min = number;
        if (strcmp(a->name, "max") == 0) x->max = number;
        if (strcmp(a->name, "nominal") == 0) x->nominal = number;
    }
}

static void try_attribute(judge *j, const attribute *a)
{
    machine *m = &j->machine;
    jmp_buf escape, *outer = m->escape;
    bool good = setjmp(escape) == 0;
    if (good) {
        m->escape = &escape;
        set_attribute(m, a);
    }
    m->escape = outer;
    if (m->no_memory) judge_no_memory(m);
    if (!good)
        judge_add_gap(j, judge_format(j, "the attribute '%s': %s", a->name, m->error), a->line, -1,
                      strcmp(a->name, "start") != 0 && strcmp(a->name, "fixed") != 0);
}

static void set_attributes(judge *j, component *c)
{
    compile_attributes(j, c);
    for (const attribute *a = c->attributes; a; a = a->next) try_attribute(j, a);
}

/* Numbers of a constant or parameter for the lists: those that are known. */
static void publish(machine *m, component *c)
{
    judge *j = m->j;
    int cells = judge_count(&c->shape) * c->type->cells;
    for (int k = 0; k < cells; k++) {
        if (!c->cells[k].index) continue;
        judge_variable *x = &j->variables[c->cells[k].index - 1];
        const judge_override *o = override_of(j, x->name);
        if (x->type == JUDGE_STRING) continue;
        if (!c->bindings && x->fixed) c->cells[k].v = x->start;
        if (o) c->cells[k] = (cell){.v = o->value, .index = c->cells[k].index};
        c->cells[k].size = fabs(c->cells[k].v);
        c->cells[k].spread = 0.0;
        x->value = x->fixed && (!m->touched || o) ? c->cells[k].v : NAN;
        if (isnan(x->value)) c->follows = true;
    }
}

/* Constant fields of a record that is not constant. */
static void set_constant_fields(machine *m, component *c)
{
    judge *j = m->j;
    for (const binding *b = c->bindings; b; b = b->next) {
        selection s = judge_select(m, b->target);
        int count = judge_count(&s.shape) * s.type->cells;
        judge_variable *x = count ? &j->variables[judge_cell(&s, 0)->index - 1] : NULL;
        if (!x || x->variability > JUDGE_PARAMETER) continue;
        value v = judge_eval(m, b->value);
        judge_spread(m, &s, &v, b->line);
        for (int k = 0; k < count; k++) {
            const cell *at = judge_cell(&s, k);
            j->variables[at->index - 1].value = at->v;
        }
    }
}

static void elaborate_values(machine *m, component *c)
{
    judge *j = m->j;
    if (c->removed) return;
    if (!c->constant_) set_attributes(j, c);
    m->touched = false;
    if (c->variability <= JUDGE_PARAMETER || c->constant_) {
        set_bindings(m, c);
        publish(m, c);
        return;
    }
    compile_bindings(j, c);
    int cells = judge_count(&c->shape) * c->type->cells;
    for (int k = 0; k < cells; k++) {
        judge_variable *x = &j->variables[c->cells[k].index - 1];
        const judge_override *o = override_of(j, x->name);
        if (o) x->start = o->value, x->has_start = true;
        if (x->type == JUDGE_STRING) continue;
        c->cells[k].v = x->start;
        c->cells[k].size = fabs(x->start);
    }
    if (c->type->base == BASE_RECORD) set_constant_fields(m, c);
    if (c->type->base == BASE_STRING && c->bindings) c->definition = c->bindings->value;
}

void judge_elaborate_values(machine *m, component *c, int line)
{
    if (c->ready) return;
    for (int k = 0; k < c->part_count; k++) judge_need_values(m, c->parts[k], line);
    judge_need_sizes(m, c, line);
    elaborate(m, c, &c->values, line, elaborate_values);
    c->ready = true;
}
