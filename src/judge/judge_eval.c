/* The value of a node. */
#include <string.h>

#include "judge/judge_parts.h"

/* ---- references ---- */

static selection whole_component(machine *m, component *c, int line)
{
    judge_need_sizes(m, c, line);
    if (c->removed) judge_fail(m, line, "'%s' does not exist: its condition is false", c->name);
    return (selection){c->type, c->shape, c->cells, c->whole};
}

selection judge_select(machine *m, const node *n)
{
    selection s;
    if (n->kind == NODE_COMPONENT)
        s = whole_component(m, n->component, n->line);
    else if (n->kind == NODE_LOCAL && m->frame.slots[n->slot].type)
        s = judge_select_value(&m->frame.slots[n->slot]);
    else
        judge_fail(m, n->line, "a variable is expected here");
    judge_select_steps(m, &s, n->steps, n->step_count, n->line);
    return s;
}

/* A String variable is what its definition says at this point. */
static value string_variable(machine *m, component *c, int line)
{
    if (c->defining) judge_fail(m, line, "the text '%s' is defined by itself", c->name);
    c->defining = true;
    value v = judge_eval(m, c->definition);
    c->defining = false;
    return v;
}

static value component_value(machine *m, const node *n)
{
    component *c = n->component;
    if (!(c->values == BUSY && n->step_count && c->type->base == BASE_RECORD))
        judge_need_values(m, c, n->line); /* but for a field that is given by another one */
    if (c->definition && c->type->base == BASE_STRING) return string_variable(m, c, n->line);
    selection s = judge_select(m, n);
    return judge_read(m, &s);
}

static value local_value(machine *m, const node *n)
{
    selection s = judge_select(m, n);
    return judge_read(m, &s);
}

/* ---- operators ---- */

/* a op b op c ..: from the left; `and` and `or` stop where their value is known. */
static value chain_value(machine *m, const node *n)
{
    value v = judge_eval(m, n->kids[0]);
    for (int k = 1; k < n->kid_count; k++) {
        ast_op op = n->ops[k - 1];
        if ((op == OP_AND || op == OP_OR) && v.type->base == BASE_BOOLEAN && v.shape.ndims == 0 &&
            (v.cells->v != 0.0) == (op == OP_OR))
            continue;
        value w = judge_eval(m, n->kids[k]);
        v = judge_binary(m, op, &v, &w, n);
    }
    return v;
}

double judge_eval_number(machine *m, const node *n)
{
    value v = judge_eval(m, n);
    return judge_number(m, &v, n->line);
}

bool judge_eval_condition(machine *m, const node *n)
{
    value v = judge_eval(m, n);
    if (v.type->base != BASE_BOOLEAN) judge_fail(m, n->line, "a condition is a Boolean");
    double x = judge_number(m, &v, n->line);
    return x != 0.0 && !isnan(x);
}

/* The value, or false where there is an error, which is forgotten. */
bool judge_try(machine *m, const node *n, value *v)
{
    jmp_buf escape, *outer = m->escape;
    frame kept = m->frame;
    int calls = m->calls, in_function = m->in_function, noevent = m->noevent;
    const char *error = m->error;
    bool good = setjmp(escape) == 0;
    if (good) {
        m->escape = &escape;
        *v = judge_eval(m, n);
    }
    m->escape = outer;
    if (m->no_memory) judge_no_memory(m);
    if (good) return true;
    m->frame = kept;
    m->calls = calls, m->in_function = in_function, m->noevent = noevent;
    m->error = error;
    return false;
}

/* A trial looks at all branches: what is in them is met once. */
static void try_branches(machine *m, const node *n)
{
    value v;
    for (int k = 0; k < n->kid_count; k++) (void)judge_try(m, n->kids[k], &v);
}

static value if_value(machine *m, const node *n)
{
    if (m->trial && !m->in_function) try_branches(m, n);
    for (int k = 0; k + 1 < n->kid_count; k += 2)
        if (judge_eval_condition(m, n->kids[k])) return judge_eval(m, n->kids[k + 1]);
    return judge_eval(m, n->kids[n->kid_count - 1]);
}

static value range_value(machine *m, const node *n)
{
    value a = judge_eval(m, n->kids[0]), b = judge_eval(m, n->kids[1]);
    if (n->kid_count == 2) return judge_range(m, &a, NULL, &b, n->line);
    value c = judge_eval(m, n->kids[2]);
    return judge_range(m, &a, &b, &c, n->line);
}

/* ---- constructors of arrays ---- */

/* The type that elements of two types have in common. */
static const jtype *common_type(machine *m, const jtype *a, const jtype *b, int line)
{
    if (!a || a == b) return b;
    if (a->base == BASE_INTEGER && b->base == BASE_REAL) return b;
    if (a->base == BASE_REAL && b->base == BASE_INTEGER) return a;
    if (a->cells != b->cells || a->base != b->base)
        judge_fail(m, line, "elements of different types in an array");
    return a;
}

static value stack_values(machine *m, const value *items, int count, int line)
{
    const jtype *type = NULL;
    for (int k = 0; k < count; k++) {
        type = common_type(m, type, items[k].type, line);
        if (!judge_same_shape(&items[0].shape, &items[k].shape))
            judge_fail(m, line, "elements of different sizes in an array");
    }
    shape s = {1, {count}};
    for (int d = 0; count && d < items[0].shape.ndims; d++)
        s.dims[s.ndims++] = items[0].shape.dims[d];
    if (s.ndims > MOST_DIMS - 1) judge_fail(m, line, "too many dimensions");
    value v = judge_make(m, type ? type : &judge_real, &s);
    int width = count ? judge_cells(&items[0]) : 0;
    for (int k = 0; k < count * width; k++) {
        v.cells[k] = items[k / width].cells[k % width];
        v.cells[k].index = 0;
    }
    return v;
}

static value *kid_values(machine *m, const node *n)
{
    value *items = judge_stack_take(m, &m->scratch, (size_t)n->kid_count * sizeof *items + 1);
    for (int k = 0; k < n->kid_count; k++) items[k] = judge_eval(m, n->kids[k]);
    return items;
}

static value array_value(machine *m, const node *n)
{
    return stack_values(m, kid_values(m, n), n->kid_count, n->line);
}

/* A value with two dimensions at least, ones added behind. */
static value promoted(value v, int ndims)
{
    while (v.shape.ndims < ndims) v.shape.dims[v.shape.ndims++] = 1;
    return v;
}

/* Values side by side along dimension d (from 0). */
static value concatenate(machine *m, int d, const value *items, int count, int line)
{
    shape s = items[0].shape;
    const jtype *type = NULL;
    s.dims[d] = 0;
    for (int k = 0; k < count; k++) {
        shape t = items[k].shape;
        if (t.ndims != s.ndims) judge_fail(m, line, "arrays of different dimensions side by side");
        s.dims[d] += t.dims[d];
        t.dims[d] = s.dims[d];
        if (!judge_same_shape(&s, &t))
            judge_fail(m, line, "arrays of different sizes side by side");
        type = common_type(m, type, items[k].type, line);
    }
    value v = judge_make(m, type, &s);
    int outer = 1, inner = type->cells, at = 0;
    for (int e = 0; e < d; e++) outer *= s.dims[e];
    for (int e = d + 1; e < s.ndims; e++) inner *= s.dims[e];
    for (int o = 0; o < outer; o++)
        for (int k = 0; k < count; k++) {
            int width = items[k].shape.dims[d] * inner;
            for (int c = 0; c < width; c++, at++) {
                v.cells[at] = items[k].cells[o * width + c];
                v.cells[at].index = 0;
            }
        }
    return v;
}

static value promoted_and_joined(machine *m, value *items, int count, int d, int line)
{
    int ndims = 2;
    for (int k = 0; k < count; k++)
        if (items[k].shape.ndims > ndims) ndims = items[k].shape.ndims;
    for (int k = 0; k < count; k++) items[k] = promoted(items[k], ndims);
    return concatenate(m, d, items, count, line);
}

value judge_cat(machine *m, const node *n);
value judge_cat(machine *m, const node *n)
{
    int d = (int)judge_eval_number(m, n->kids[0]) - 1;
    value *items = kid_values(m, n) + 1;
    if (d < 0 || d >= items[0].shape.ndims) judge_fail(m, n->line, "cat along no dimension");
    return concatenate(m, d, items, n->kid_count - 1, n->line);
}

static value row_value(machine *m, const node *n)
{
    return promoted_and_joined(m, kid_values(m, n), n->kid_count, 1, n->line);
}

static value matrix_value(machine *m, const node *n)
{
    return promoted_and_joined(m, kid_values(m, n), n->kid_count, 0, n->line);
}

/* ---- iterators ---- */

value judge_iterate(machine *m, const node *range)
{
    value v = judge_eval(m, range);
    if (v.shape.ndims != 1) judge_fail(m, range->line, "a loop runs over a vector");
    value copy = judge_make(m, v.type, &v.shape);
    memcpy(copy.cells, v.cells, (size_t)judge_cells(&v) * sizeof(cell));
    for (int k = 0; k < judge_cells(&copy); k++) copy.cells[k].index = 0;
    return copy;
}

typedef struct collected {
    value *items;
    int count, capacity;
} collected;

static void collect_item(machine *m, collected *c, value v)
{
    if (c->count == c->capacity) {
        c->capacity = c->capacity ? 2 * c->capacity : 8;
        value *larger = judge_stack_take(m, &m->scratch, (size_t)c->capacity * sizeof *larger);
        if (c->count) memcpy(larger, c->items, (size_t)c->count * sizeof *larger);
        c->items = larger;
    }
    c->items[c->count++] = v;
}

static value element_of(const value *v, int k)
{
    value e = *v;
    int width = v->type->cells;
    for (int d = 1; d < v->shape.ndims; d++) width *= v->shape.dims[d];
    e.shape.ndims--;
    memmove(e.shape.dims, e.shape.dims + 1, (size_t)e.shape.ndims * sizeof(int));
    e.cells += k * width;
    return e;
}

/* {e for i in r, k in s} is {{e for i in r} for k in s}: the last iterator is the first dimension.
 */
static value iterated(machine *m, const node *n, int iterator)
{
    if (iterator < 0) return judge_eval(m, n->kids[0]);
    value range = judge_iterate(m, n->kids[1 + iterator]);
    collected c = {0};
    for (int k = 0; k < range.shape.dims[0]; k++) {
        judge_count_pass(m, n->line);
        m->frame.slots[n->slots[iterator]] = element_of(&range, k);
        collect_item(m, &c, iterated(m, n, iterator - 1));
    }
    return stack_values(m, c.items, c.count, n->line);
}

/* sum(e for i in r, k in s): all values, the first iterator outermost. */
static void iterate_all(machine *m, const node *n, int iterator, collected *c)
{
    if (iterator == n->slot_count) {
        collect_item(m, c, judge_eval(m, n->kids[0]));
        return;
    }
    value range = judge_iterate(m, n->kids[1 + iterator]);
    for (int k = 0; k < range.shape.dims[0]; k++) {
        judge_count_pass(m, n->line);
        m->frame.slots[n->slots[iterator]] = element_of(&range, k);
        iterate_all(m, n, iterator + 1, c);
    }
}

static value comprehension_value(machine *m, const node *n)
{
    if (!n->name || strcmp(n->name, "array") == 0) return iterated(m, n, n->slot_count - 1);
    collected c = {0};
    iterate_all(m, n, 0, &c);
    return judge_reduce(m, n->name, c.items, c.count, n);
}

/* ---- the rest ---- */

static value steps_value(machine *m, const node *n)
{
    value v = judge_eval(m, n->kids[0]);
    selection s = judge_select_value(&v);
    judge_select_steps(m, &s, n->steps, n->step_count, n->line);
    return judge_read(m, &s);
}

static value time_value(machine *m)
{
    value v = judge_scalar(m, &judge_real, m->time);
    v.cells->spread = m->time_spread;
    m->touched = m->timed = true;
    return v;
}

value judge_eval_node(machine *m, const node *n)
{
    switch (n->kind) {
    case NODE_CONSTANT: return n->constant;
    case NODE_TIME: return time_value(m);
    case NODE_COMPONENT: return component_value(m, n);
    case NODE_LOCAL: return local_value(m, n);
    case NODE_CHAIN: return chain_value(m, n);
    case NODE_UNARY: {
        value v = judge_eval(m, n->kids[0]);
        return judge_unary(m, n->op, &v, n->line);
    }
    case NODE_IF: return if_value(m, n);
    case NODE_RANGE: return range_value(m, n);
    case NODE_ARRAY: return array_value(m, n);
    case NODE_MATRIX: return matrix_value(m, n);
    case NODE_ROW: return row_value(m, n);
    case NODE_COMPREHENSION: return comprehension_value(m, n);
    case NODE_END: return judge_scalar(m, &judge_integer, m->end);
    case NODE_STEPS: return steps_value(m, n);
    case NODE_CALL: return judge_call(m, n);
    case NODE_BUILTIN: return n->builtin(m, n);
    case NODE_CLOSURE: return judge_closure(m, n);
    case NODE_TUPLE:
        if (n->kid_count >= 1 && n->kids[0]) return judge_eval(m, n->kids[0]);
        break;
    case NODE_COLON:
    case NODE_GAP: break;
    }
    judge_fail(m, n->line, "%s cannot be judged", n->name ? n->name : "this expression");
}
