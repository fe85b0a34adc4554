/* Functions of the text and constructors of records; statements. */
#include <string.h>

#include "judge/judge_parts.h"

/* ---- declarations ---- */

static void add_local(judge *j, jfunction *f, const ast_component *d)
{
    type_use use = judge_type_of(j, d->type, d->place.line);
    local *l = &f->locals[f->local_count++];
    *l = (local){
        .name = d->name, .declared = d, .type = use.type, .input = d->input, .output = d->output};
    if (use.type && use.type->base == BASE_FUNCTION) l->type = NULL;
    if (!use.type) {
        f->external = true;
        judge_add_gap(j, judge_format(j, "the type '%s'", d->type), d->place.line, -1, false);
    }
    l->shape.ndims = (int)d->size_count;
    for (int k = 0; k < use.shape.ndims && l->shape.ndims < MOST_DIMS; k++)
        l->shape.dims[l->shape.ndims++] = use.shape.dims[k];
    if (f->constructs) l->input = true;
}

/* The function of a class, or the constructor of a record. Its body is compiled when it is first
 * called, since it may call itself. */
jfunction *judge_function_of(judge *j, const ast_class *c)
{
    table_entry *e = judge_table_find(&j->functions, NULL, c, 0, 0);
    if (e) return e->item;
    jfunction *f = JUDGE_TAKE(j, jfunction, 1);
    *f = (jfunction){.of = c, .name = c->name, .external = c->external || c->object};
    judge_table_put(j, &j->functions, NULL, c, 0, 0, f);
    if (c->kind == CLASS_RECORD) {
        type_use use = judge_type_of(j, c->name, 0);
        f->constructs = use.type;
        if (!use.type) f->external = true;
    }
    f->locals = JUDGE_TAKE(j, local, c->component_count);
    for (size_t k = 0; k < c->component_count; k++) add_local(j, f, &c->components[k]);
    f->slots = f->local_count;
    return f;
}

static void compile_function(judge *j, jfunction *f)
{
    f->compiled = true;
    scope s = {SCOPE_FUNCTION, &j->global, NULL, 0, f->local_count, f, NULL, NULL};
    for (int k = 0; k < f->local_count; k++) {
        local *l = &f->locals[k];
        const ast_component *d = l->declared;
        l->sizes = JUDGE_TAKE(j, node *, d->size_count);
        for (size_t i = 0; i < d->size_count; i++)
            if (d->sizes[i]->kind != AST_COLON) l->sizes[i] = judge_compile(j, &s, d->sizes[i]);
        if (d->value) l->initial = judge_compile(j, &s, d->value);
    }
    size_t count = 0;
    for (size_t k = 0; k < f->of->section_count; k++) count += f->of->sections[k].item_count;
    f->items = JUDGE_TAKE(j, jitem *, count);
    for (size_t k = 0; k < f->of->section_count; k++) {
        const ast_section *section = &f->of->sections[k];
        for (size_t i = 0; i < section->item_count; i++)
            f->items[f->item_count++] = judge_compile_item(j, &s, section->items[i]);
    }
}

/* ---- local variables ---- */

static value stored(machine *m, const jtype *type, const shape *s)
{
    double bytes = sizeof(cell) * (double)type->cells;
    for (int d = 0; d < s->ndims; d++) bytes *= s->dims[d];
    if (bytes > 1e9) judge_no_memory(m);
    return (value){type, *s, judge_stack_take(m, &m->frames, (size_t)bytes)};
}

/* Texts of a value live as long as what is on the stack. */
static void keep_texts(machine *m, stack *s, value *v)
{
    int count = v->type->texts ? judge_cells(v) : 0;
    for (int k = 0; k < count; k++) {
        const char *text = v->cells[k].text;
        if (judge_cell_type(v->type, k % v->type->cells) != BASE_STRING || !text) continue;
        size_t length = strlen(text) + 1;
        v->cells[k].text = memcpy(judge_stack_take(m, s, length), text, length);
    }
}

static value stored_copy(machine *m, const value *v, const jtype *type)
{
    bool convert = type && type->base == BASE_REAL && v->type->base == BASE_INTEGER;
    value copy = stored(m, convert ? type : v->type, &v->shape);
    int count = judge_cells(v);
    for (int k = 0; k < count; k++) {
        copy.cells[k] = v->cells[k];
        copy.cells[k].index = 0;
    }
    keep_texts(m, &m->frames, &copy);
    return copy;
}

static shape local_shape(machine *m, const local *l)
{
    shape s = l->shape;
    for (size_t k = 0; k < l->declared->size_count && k < MOST_DIMS; k++) {
        double size = l->sizes[k] ? judge_eval_number(m, l->sizes[k]) : 0.0;
        if (m->trial && !(size >= 0.0 && size <= 1e8)) size = 1.0;
        if (!(size >= 0.0 && size <= 1e8))
            judge_fail(m, l->declared->place.line, "a wrong size of '%s'", l->name);
        s.dims[k] = (int)size;
    }
    for (int k = 0; k < s.ndims; k++)
        if (s.dims[k] < 0) s.dims[k] = 0;
    return s;
}

static void begin_local(machine *m, const jfunction *f, int k)
{
    const local *l = &f->locals[k];
    value *slot = &m->frame.slots[k];
    if (slot->type) return; /* an argument */
    if (l->initial) {
        value v = judge_eval(m, l->initial);
        *slot = stored_copy(m, &v, l->type);
        return;
    }
    if (l->input || !l->type)
        judge_fail(m, l->declared->place.line, "the input '%s' has no value", l->name);
    shape s = local_shape(m, l);
    *slot = stored(m, l->type, &s);
    int count = judge_cells(slot);
    for (int i = 0; i < count; i++) slot->cells[i] = (cell){.v = NAN, .spread = -1.0};
}

/* ---- calls ---- */

static value scratch_copy(machine *m, const value *v)
{
    value copy = judge_make(m, v->type, &v->shape);
    int count = judge_cells(v);
    for (int k = 0; k < count; k++) {
        copy.cells[k] = v->cells[k];
        copy.cells[k].index = 0;
    }
    return copy;
}

/* Whether a type with sizes has those of the fields in the frame. */
static bool fits_frame(const machine *m, const jtype *t)
{
    for (int k = 0; t && k < t->field_count; k++)
        if (!judge_same_shape(&t->fields[k].shape, &m->frame.slots[k].shape)) return false;
    return t != NULL;
}

static value constructed(machine *m, jfunction *f)
{
    const jtype *t = f->constructs;
    if (t->open && fits_frame(m, f->closed)) t = f->closed;
    if (t->open) {
        shape *shapes =
            judge_stack_take(m, &m->scratch, (size_t)t->field_count * sizeof *shapes + 1);
        for (int k = 0; k < t->field_count; k++) shapes[k] = m->frame.slots[k].shape;
        t = f->closed = judge_closed_type(m->j, t, shapes);
    }
    value v = judge_make(m, t, &(shape){0});
    for (int k = 0; k < t->field_count; k++) {
        value whole = {t->fields[k].type, t->fields[k].shape, v.cells + t->fields[k].offset};
        memset(whole.cells, 0, (size_t)judge_cells(&whole) * sizeof(cell));
        selection s = judge_select_value(&whole);
        judge_spread(m, &s, &m->frame.slots[k], 0);
    }
    return v;
}

static void take_results(machine *m, const jfunction *f, value *results, const bool *wanted,
                         int count)
{
    int output = 0;
    for (int k = 0; k < f->local_count && output < count; k++) {
        if (!f->locals[k].output) continue;
        if (!wanted || wanted[output]) {
            selection s = judge_select_value(&m->frame.slots[k]);
            value v = judge_read(m, &s);
            results[output] = scratch_copy(m, &v);
            keep_texts(m, &m->scratch, &results[output]);
        }
        output++;
    }
    if (output < count) judge_fail(m, 0, "'%s' has no such output", f->name);
}

static void run_function(machine *m, jfunction *f, value *results, const bool *wanted, int count)
{
    for (int k = 0; k < f->local_count; k++) begin_local(m, f, k);
    if (f->constructs) {
        results[0] = constructed(m, f);
        return;
    }
    bool broken = m->broken, returned = m->returned;
    m->broken = m->returned = false;
    judge_execute(m, f->items, f->item_count);
    m->broken = broken, m->returned = returned;
    take_results(m, f, results, wanted, count);
}

/* Call with values of inputs: arguments[k] is for the variable k, type NULL: not given. */
static void call_with(machine *m, jfunction *f, const value *arguments, value *results,
                      const bool *wanted, int count)
{
    if (f->external)
        judge_fail(m, f->of->place.line, "the function '%s' cannot be judged", f->name);
    if (m->calls >= MOST_CALLS) judge_fail(m, f->of->place.line, "more than %d calls", MOST_CALLS);
    if (++m->called > MOST_PASSES)
        judge_fail(m, f->of->place.line, "more than %d calls in one equation", MOST_PASSES);
    if (!f->compiled) compile_function(m->j, f);
    stack_mark mark = m->frames.at;
    frame outer = m->frame;
    m->frame = (frame){judge_stack_take(m, &m->frames, (size_t)f->slots * sizeof(value)), f->slots};
    memset(m->frame.slots, 0, (size_t)f->slots * sizeof(value));
    memcpy(m->frame.slots, arguments, (size_t)f->local_count * sizeof(value));
    m->calls++, m->in_function++;
    run_function(m, f, results, wanted, count);
    m->calls--, m->in_function--;
    m->frame = outer;
    m->frames.at = mark;
}

/* The part of an argument that one call of a vectorized function gets. */
static value element_argument(const value *v, int ndims, int e)
{
    value part = *v;
    int extra = v->shape.ndims - ndims, width = v->type->cells;
    for (int d = extra; d < v->shape.ndims; d++) width *= v->shape.dims[d];
    part.shape.ndims = ndims;
    memmove(part.shape.dims, v->shape.dims + extra, (size_t)ndims * sizeof(int));
    part.cells += e * width;
    return part;
}

/* A function of scalars, called with arrays, is called for each element [Modelica 12.4.6]. */
static value call_elements(machine *m, jfunction *f, const value *arguments, const shape *extra)
{
    value *some = judge_stack_take(m, &m->scratch, (size_t)(f->local_count + 1) * sizeof *some);
    value all = {0};
    int elements = judge_count(extra);
    for (int e = 0; e < elements; e++) {
        for (int k = 0; k < f->local_count; k++) {
            some[k] = arguments[k];
            int ndims = f->locals[k].shape.ndims;
            if (some[k].type && some[k].shape.ndims > ndims)
                some[k] = element_argument(&arguments[k], ndims, e);
        }
        value one;
        call_with(m, f, some, &one, NULL, 1);
        shape s = *extra;
        for (int d = 0; d < one.shape.ndims && s.ndims < MOST_DIMS; d++)
            s.dims[s.ndims++] = one.shape.dims[d];
        if (e == 0) all = judge_make(m, one.type, &s);
        if (!judge_same_shape(&all.shape, &s)) judge_fail(m, 0, "results of different sizes");
        int width = judge_cells(&one);
        memcpy(all.cells + e * width, one.cells, (size_t)width * sizeof(cell));
    }
    if (!elements) all = judge_make(m, &judge_real, extra);
    return all;
}

/* Leading dimensions that an argument has too many; those of all such arguments are the same. */
static shape extra_of(machine *m, const jfunction *f, const value *arguments, int line)
{
    shape extra = {0};
    for (int k = 0; k < f->local_count; k++) {
        int more = arguments[k].type ? arguments[k].shape.ndims - f->locals[k].shape.ndims : 0;
        if (more == 0 || !f->locals[k].type) continue;
        shape s = arguments[k].shape;
        s.ndims = more;
        if (more < 0 || (extra.ndims && !judge_same_shape(&extra, &s)))
            judge_fail(m, line, "an argument of another size");
        extra = s;
    }
    return extra;
}

static void call_checked(machine *m, jfunction *f, value *arguments, value *results,
                         const bool *wanted, int count, int line)
{
    for (int k = 0; k < f->local_count; k++) {
        const jtype *type = f->locals[k].type;
        value *v = &arguments[k];
        if (v->type && type && type->base == BASE_REAL && v->type->base == BASE_INTEGER)
            v->type = type;
        if (v->type && type && (v->type->base != type->base && v->type->base != BASE_FUNCTION))
            judge_fail(m, line, "an argument of another type");
    }
    shape extra = extra_of(m, f, arguments, line);
    if (extra.ndims == 0) {
        call_with(m, f, arguments, results, wanted, count);
        return;
    }
    if (count != 1) judge_fail(m, line, "several results of a function of elements");
    results[0] = call_elements(m, f, arguments, &extra);
}

static value *no_arguments(machine *m, const jfunction *f)
{
    size_t bytes = (size_t)(f->local_count + 1) * sizeof(value);
    return memset(judge_stack_take(m, &m->scratch, bytes), 0, bytes);
}

static int input_number(machine *m, const jfunction *f, const value *arguments, int line)
{
    for (int k = 0; k < f->local_count; k++)
        if (f->locals[k].input && !arguments[k].type) return k;
    judge_fail(m, line, "too many arguments of '%s'", f->name);
}

/* A call of an input that is a function: its bound inputs, then the others in their order. */
static void call_closure(machine *m, const node *n, value *results, const bool *wanted, int count)
{
    const value *v = &m->frame.slots[n->call_slot];
    if (v->type != &judge_function_type) judge_fail(m, n->line, "'%s' is not a function", n->name);
    const closure *c = v->cells->object;
    value *arguments = no_arguments(m, c->function);
    for (int k = 0; k < c->count; k++) arguments[c->inputs[k]] = c->values[k];
    for (int k = 0; k < n->kid_count; k++) {
        int input = input_number(m, c->function, arguments, n->line);
        arguments[input] = judge_eval(m, n->kids[k]);
    }
    call_checked(m, c->function, arguments, results, wanted, count, n->line);
}

static void call_wanted(machine *m, const node *n, value *results, const bool *wanted, int count)
{
    if (n->call_slot >= 0) {
        call_closure(m, n, results, wanted, count);
        return;
    }
    value *arguments = no_arguments(m, n->function);
    for (int k = 0; k < n->kid_count; k++) arguments[n->inputs[k]] = judge_eval(m, n->kids[k]);
    call_checked(m, n->function, arguments, results, wanted, count, n->line);
}

value judge_call_function(machine *m, const node *n)
{
    value v;
    call_wanted(m, n, &v, NULL, 1);
    return v;
}

/* results[k] where wanted[k]; nothing is wanted of outputs that the text leaves out. */
void judge_call_all(machine *m, const node *n, value *results, const bool *wanted, int count)
{
    call_wanted(m, n, results, wanted, count);
}

value judge_make_closure(machine *m, const node *n)
{
    closure *c = judge_stack_take(m, &m->scratch, sizeof *c);
    *c = (closure){n->function, n->kid_count, n->inputs, NULL};
    c->values = judge_stack_take(m, &m->scratch, (size_t)n->kid_count * sizeof(value) + 1);
    for (int k = 0; k < n->kid_count; k++) c->values[k] = judge_eval(m, n->kids[k]);
    value v = judge_make(m, &judge_function_type, &(shape){0});
    *v.cells = (cell){.object = c};
    return v;
}

/* ---- statements ---- */

void judge_assign(machine *m, const node *target, const value *v)
{
    if (target->kind == NODE_LOCAL && target->step_count == 0) {
        value *slot = &m->frame.slots[target->slot];
        bool widens = slot->type->base == BASE_REAL && v->type->base == BASE_INTEGER;
        bool same = judge_same_shape(&slot->shape, &v->shape) &&
                    slot->type->cells == v->type->cells &&
                    (slot->type->base == v->type->base || widens);
        if (!same) {
            const jtype *type = slot->type;
            if (type->base != v->type->base && !(type->base == BASE_REAL && judge_numeric(v)))
                judge_fail(m, target->line, "an assignment of another type");
            if (slot->shape.ndims != v->shape.ndims)
                judge_fail(m, target->line, "an assignment of another size");
            *slot = stored_copy(m, v, type);
            return;
        }
    }
    if (target->kind == NODE_COMPONENT) judge_need_values(m, target->component, target->line);
    selection s = judge_select(m, target);
    value kept = v->type->texts ? stored_copy(m, v, NULL) : *v;
    judge_write(m, &s, &kept, target->line);
}

static void assign_tuple(machine *m, const jitem *i)
{
    enum { MOST = 64 };
    value results[MOST];
    bool wanted[MOST] = {false};
    int count = i->left->kid_count;
    if (i->right->kind != NODE_CALL || count > MOST)
        judge_fail(m, i->line, "several variables take the results of a function");
    for (int k = 0; k < count; k++) wanted[k] = i->left->kids[k] != NULL;
    judge_call_all(m, i->right, results, wanted, count);
    for (int k = 0; k < count; k++)
        if (wanted[k]) judge_assign(m, i->left->kids[k], &results[k]);
}

static void run_for(machine *m, const jitem *i, int iterator)
{
    if (iterator == i->slot_count) {
        judge_execute(m, i->branches[0].items, i->branches[0].item_count);
        return;
    }
    value range = judge_iterate(m, i->ranges[iterator]);
    for (int k = 0; k < range.shape.dims[0] && !m->broken && !m->returned; k++) {
        judge_count_pass(m, i->line);
        value element = range;
        element.shape.ndims = 0;
        element.cells += k * range.type->cells;
        m->frame.slots[i->slots[iterator]] = element;
        run_for(m, i, iterator + 1);
    }
}

static void run_while(machine *m, const jitem *i)
{
    while (!m->broken && !m->returned && judge_eval_condition(m, i->branches[0].condition)) {
        judge_count_pass(m, i->line);
        judge_execute(m, i->branches[0].items, i->branches[0].item_count);
    }
}

static void run_if(machine *m, const jitem *i)
{
    for (int b = 0; b < i->branch_count; b++) {
        if (i->branches[b].condition && !judge_eval_condition(m, i->branches[b].condition))
            continue;
        judge_execute(m, i->branches[b].items, i->branches[b].item_count);
        return;
    }
}

static void run_when(machine *m, jitem *i)
{
    bool done = false;
    for (int b = 0; b < i->branch_count; b++) {
        bool fires = judge_fires(m, i, b);
        if (fires && !done) judge_execute(m, i->branches[b].items, i->branches[b].item_count);
        done |= fires;
    }
}

static void run_call(machine *m, const jitem *i)
{
    if (!i->arguments) {
        if (i->left->kind == NODE_CALL)
            judge_call_all(m, i->left, NULL, NULL, 0);
        else
            (void)judge_eval(m, i->left);
        return;
    }
    if (i->argument_count != 1) return; /* terminate: the caller of the judge sees the end */
    if (!judge_eval_condition(m, i->arguments[0]) && !m->trial && !judge_only_warns(m, i))
        judge_fail(m, i->line, "an assertion is violated");
}

/* assert(.., .., AssertionLevel.warning) */
bool judge_only_warns(machine *m, const jitem *i)
{
    return i->arguments[2] && judge_eval_number(m, i->arguments[2]) == 1.0;
}

static void execute_one(machine *m, jitem *i)
{
    switch (i->kind) {
    case ITEM_EQUATION:
    case ITEM_ASSIGN:
        if (i->left->kind == NODE_TUPLE) {
            assign_tuple(m, i);
        } else {
            value v = judge_eval(m, i->right);
            judge_assign(m, i->left, &v);
        }
        return;
    case ITEM_CALL: run_call(m, i); return;
    case ITEM_IF: run_if(m, i); return;
    case ITEM_FOR:
        run_for(m, i, 0);
        m->broken = false;
        return;
    case ITEM_WHILE:
        run_while(m, i);
        m->broken = false;
        return;
    case ITEM_WHEN: run_when(m, i); return;
    case ITEM_BREAK: m->broken = true; return;
    case ITEM_RETURN: m->returned = true; return;
    }
}

void judge_execute(machine *m, jitem *const *items, int count)
{
    for (int k = 0; k < count && !m->broken && !m->returned; k++) {
        stack_mark mark = m->scratch.at;
        execute_one(m, items[k]);
        m->scratch.at = mark;
    }
}
