/* Memory, growing arrays, and questions about nodes of the graph. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "expr/loop.h"
#include "modelica/flatten/flatten_internal.h"

static bool is_out_of_memory(flattener *f)
{
    if (graph_failed(f->g)) f->failed = true;
    return f->failed;
}

enum { MESSAGE_MOST = 2000 };

void report_error(flattener *f, source_place place, const char *format, ...)
{
    char text[MESSAGE_MOST];
    va_list list;
    if (is_out_of_memory(f)) return;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    message_error(f->messages, place, "%s", text);
}

void report_warning(flattener *f, source_place place, const char *format, ...)
{
    char text[MESSAGE_MOST];
    va_list list;
    if (is_out_of_memory(f)) return;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    message_warning(f->messages, place, "%s", text);
}

void report_note(flattener *f, source_place place, const char *format, ...)
{
    char text[MESSAGE_MOST];
    va_list list;
    if (is_out_of_memory(f)) return;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    message_note(f->messages, place, "%s", text);
}

/* Count bytes of one kind; beyond the limit there is no more memory. */
static bool within_limit(flattener *f, size_t *used, size_t bytes)
{
    if (f->failed) return false;
    f->full = bytes > f->limits.bytes - *used;
    if (f->full)
        f->failed = true;
    else
        *used += bytes;
    return !f->full;
}

/* Values of one call of a function are kept until it is done, and its texts longer. */
static bool values_within_limit(flattener *f, size_t bytes)
{
    if (f->call_depth == 0 || f->failed) return true;
    size_t used = f->scratch_bytes + f->permanent_bytes - f->call_bytes;
    if (used + bytes <= f->limits.call_bytes) return true;
    report_error(f, f->at,
                 "a call of %s takes more than %zu MiB for its values, and all of them are found "
                 "before the run: does its recursion or loop end, and in few steps?",
                 f->function ? f->function->name : "a function", f->limits.call_bytes >> 20);
    f->stop = f->failed = true;
    return false;
}

void *flatten_take(flattener *f, size_t bytes)
{
    size_t *used = f->active == f->scratch ? &f->scratch_bytes : &f->permanent_bytes;
    if (!values_within_limit(f, bytes)) return NULL;
    void *block = within_limit(f, used, bytes) ? arena_alloc(f->active, bytes ? bytes : 1) : NULL;
    if (!block) f->failed = true;
    return block;
}

char *flatten_text(flattener *f, const char *format, ...)
{
    va_list list, again;
    va_start(list, format);
    va_copy(again, list);
    int length = vsnprintf(NULL, 0, format, list);
    va_end(list);
    char *text = length < 0 ? NULL : flatten_take(f, (size_t)length + 1);
    if (text) vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}

char *model_text(flattener *f, const char *text)
{
    if (!text) return NULL;
    size_t length = strlen(text);
    bool fits = within_limit(f, &f->text_bytes, length + 1);
    char *copy = fits ? arena_text(f->m->texts, text, length) : NULL;
    if (!copy) f->failed = true;
    return copy;
}

/* *items is enlarged to hold at least `needed`; false and failed if memory runs out. */
bool flatten_grow(flattener *f, void *items, size_t *capacity, size_t needed, size_t item_size)
{
    if (needed <= *capacity) return true;
    size_t wanted = *capacity ? 2 * *capacity : 16;
    if (wanted < needed) wanted = needed;
    void *old;
    memcpy(&old, items, sizeof old);
    void *fresh = f->failed ? NULL : dae_calloc(wanted, item_size);
    if (!fresh) {
        f->failed = true;
        return false;
    }
    if (old) memcpy(fresh, old, *capacity * item_size);
    dae_free(old);
    memcpy(items, &fresh, sizeof fresh);
    *capacity = wanted;
    return true;
}

/* A call that is evaluated for ever, or nearly: two recursive calls in a function suffice. */
static bool call_within_limit(flattener *f)
{
    if (f->call_depth == 0 || f->passes - f->call_start <= f->limits.call_passes) return true;
    report_error(f, f->at,
                 "a call of %s takes more than %d operations to evaluate, and all of them are done "
                 "before the run: does its recursion or loop end, and in few steps?",
                 f->function ? f->function->name : "a function", f->limits.call_passes);
    f->stop = true;
    return false;
}

bool flatten_pass(flattener *f, source_place place)
{
    if (f->failed || f->stop) return false;
    if (graph_failed(f->g)) {
        f->failed = true;
        return false;
    }
    f->at = place;
    f->passes += 1.0;
    if (!call_within_limit(f)) return false;
    if (f->passes <= f->limits.passes) return true;
    f->stop = true;
    report_error(f, place, "more than %d passes through loops and functions: does this loop end?",
                 f->limits.passes);
    return false;
}

bool flatten_work(flattener *f, double elements)
{
    if (f->failed || f->stop) return false;
    f->passes += elements / 16.0;
    if (!call_within_limit(f)) return false;
    if (f->passes <= f->limits.passes) return true;
    f->stop = true;
    report_error(f, f->at, "the arrays of the model take more than %.0f operations to unroll here",
                 16.0 * f->limits.passes);
    return false;
}

/* ---- dependence of nodes on leaves ---- */

static uint8_t leaf_depends(const expr_node *n)
{
    switch (n->op) {
    case EXPR_TIME:
    case EXPR_CELL: /* of a loop of the run */
    case EXPR_VARIABLE: return DEPENDS_CONTINUOUS;
    case EXPR_MEMORY: return DEPENDS_MEMORY;
    case EXPR_PARAMETER: return DEPENDS_PARAMETER;
    default: return 0;
    }
}

/* The same for what a loop leaves behind. */
static double result_number(flattener *f, const expr_node *n)
{
    size_t cells = loop_cells(f->g, n->a);
    expr *start = DAE_ARRAY(expr, cells);
    double *cell = DAE_ARRAY(double, cells), result = NAN;
    bool known = start && cell;
    if (known) loop_starts(f->g, n->a, start);
    for (size_t k = 0; known && k < cells; k++) {
        cell[k] = f->number[start[k]];
        known = !isnan(cell[k]);
    }
    bool ran = known && loop_run(f->g, graph_node(f->g, n->a)->index, cell);
    if (ran) result = cell[n->index];
    if (!start || !cell || (known && !ran)) f->failed = true;
    dae_free(start);
    dae_free(cell);
    return result;
}

/* Value of a node made of constants and parameters alone, given those of its operands. */
static double node_number(flattener *f, const expr_node *n)
{
    int arity = graph_arity((expr_op)n->op);
    if (n->op == EXPR_CONSTANT) return n->value;
    if (n->op == EXPR_PARAMETER) return f->parameter_value[n->index];
    if (n->op == EXPR_RESULT) return result_number(f, n);
    return graph_apply((expr_op)n->op, f->number[n->a], arity > 1 ? f->number[n->b] : 0.0,
                       arity > 2 ? f->number[n->c] : 0.0);
}

/* Fill the tables of dependence and values up to the last node. Operands come before their parents
 * and a parameter's value is known before its leaf is made, so one scan does it. */
static bool scan_nodes(flattener *f)
{
    size_t size = graph_size(f->g);
    if (!flatten_grow(f, &f->depends, &f->depends_capacity, size, sizeof *f->depends) ||
        !flatten_grow(f, &f->number, &f->number_capacity, size, sizeof *f->number))
        return false;
    for (size_t k = f->depends_count ? f->depends_count : 1; k < size; k++) {
        const expr_node *n = graph_node(f->g, (expr)k);
        int arity = graph_arity((expr_op)n->op);
        uint8_t flags = leaf_depends(n);
        if (arity > 0) flags |= f->depends[n->a];
        if (arity > 1) flags |= f->depends[n->b];
        if (arity > 2) flags |= f->depends[n->c];
        f->depends[k] = flags;
        bool fixed = !(flags & (DEPENDS_CONTINUOUS | DEPENDS_MEMORY));
        f->number[k] = fixed ? node_number(f, n) : NAN;
    }
    f->depends_count = size;
    return true;
}

/* Which kinds of leaves e contains. */
uint8_t node_depends(flattener *f, expr e)
{
    if (e == EXPR_NONE || e >= graph_size(f->g) || !scan_nodes(f)) return 0;
    return f->depends[e];
}

double fixed_value(flattener *f, expr e)
{
    if (e == EXPR_NONE || e >= graph_size(f->g) || !scan_nodes(f)) return NAN;
    return f->number[e];
}

void visit_begin(flattener *f)
{
    f->stamp_now++;
}

static bool visit_push(flattener *f, size_t *count, expr e)
{
    if (e == EXPR_NONE || f->stamp[e] == f->stamp_now) return true;
    f->stamp[e] = f->stamp_now;
    if (!flatten_grow(f, &f->stack, &f->stack_capacity, *count + 1, sizeof *f->stack)) return false;
    f->stack[(*count)++] = e;
    return true;
}

/* Call `visit` for every leaf of e not seen since visit_begin; cost is the number of new nodes. */
void visit_leaves(flattener *f, expr e, leaf_visit visit, void *context)
{
    size_t size = graph_size(f->g), count = 0;
    if (e == EXPR_NONE || !flatten_grow(f, &f->stamp, &f->stamp_capacity, size, sizeof *f->stamp) ||
        !visit_push(f, &count, e))
        return;
    while (count > 0) {
        expr top = f->stack[--count];
        const expr_node *n = graph_node(f->g, top);
        int arity = graph_arity((expr_op)n->op);
        if (arity == 0) visit(f, context, top);
        if (arity > 0 && !visit_push(f, &count, n->a)) return;
        if (arity > 1 && !visit_push(f, &count, n->b)) return;
        if (arity > 2 && !visit_push(f, &count, n->c)) return;
    }
}

/* ---- values at compile time ---- */

static void mark_structural(flattener *f, void *context, expr leaf)
{
    const expr_node *n = graph_node(f->g, leaf);
    (void)context;
    if (n->op != EXPR_PARAMETER) return;
    flat_parameter *p = &f->m->parameters[n->index];
    p->structural = true;
}

/* All parameters that the structural ones are computed from are structural, too. Values only use
 * earlier parameters, so one sweep from the last to the first is enough; it is done at the end. */
static void note_structural(flattener *f, expr e)
{
    visit_begin(f);
    visit_leaves(f, e, mark_structural, NULL);
}

bool compile_time_value(flattener *f, expr e, double *out)
{
    if (graph_is_constant(f->g, e, out)) return true;
    if (e == EXPR_NONE || node_depends(f, e) & (DEPENDS_CONTINUOUS | DEPENDS_MEMORY)) return false;
    *out = fixed_value(f, e);
    if (isnan(*out)) return false;
    note_structural(f, e);
    return true;
}

static void find_free_parameter(flattener *f, void *context, expr leaf)
{
    const expr_node *n = graph_node(f->g, leaf);
    if (n->op == EXPR_PARAMETER && !f->m->parameters[n->index].structural) *(bool *)context = true;
}

bool is_structural(flattener *f, expr e)
{
    if (graph_is_constant(f->g, e, NULL)) return true;
    if (e == EXPR_NONE || node_depends(f, e) & (DEPENDS_CONTINUOUS | DEPENDS_MEMORY)) return false;
    bool free_parameter = false;
    visit_begin(f);
    visit_leaves(f, e, find_free_parameter, &free_parameter);
    return !free_parameter;
}

/* ---- values ---- */

expr constant(flattener *f, double x)
{
    return graph_constant(f->g, x);
}

value value_constant(flattener *f, value_type type, double x)
{
    return value_scalar(type, graph_constant(f->g, x));
}

value value_boolean(flattener *f, bool x)
{
    return value_constant(f, VALUE_BOOLEAN, x ? 1.0 : 0.0);
}

static value too_many(flattener *f)
{
    report_error(f, f->at, "an array of more than %d elements arises here", f->limits.elements);
    return value_error();
}

/* An array with room for its elements (EXPR_NONE); an error value if it is too large. */
value value_new(flattener *f, value_type type, int rank, const size_t *dims)
{
    value v = {.type = type, .rank = rank, .count = 1};
    for (int k = 0; k < rank; k++) {
        if (dims[k] && v.count > (size_t)f->limits.elements / dims[k]) return too_many(f);
        v.count *= dims[k];
    }
    if (!flatten_work(f, (double)v.count)) return value_error();
    size_t *copy = flatten_take(f, (size_t)rank * sizeof *copy);
    v.e = flatten_take(f, v.count * sizeof *v.e);
    if (!copy || !v.e) return value_error();
    if (rank) memcpy(copy, dims, (size_t)rank * sizeof *copy);
    v.dims = copy;
    return v;
}

value value_array_of(flattener *f, value_type type, size_t n)
{
    return value_new(f, type, 1, &n);
}

int new_memory(flattener *f)
{
    size_t slot = (size_t)f->m->memory_count;
    if (!flatten_grow(f, &f->slot_variable, &f->slot_capacity, slot + 1, sizeof(int))) return 0;
    if (!flatten_grow(f, &f->slot_pre, &f->slot_pre_capacity, slot + 1, sizeof(int))) return 0;
    f->slot_variable[slot] = -1;
    f->slot_pre[slot] = -1;
    return f->m->memory_count++;
}

void push_pair(flattener *f, pair_list *list, equation_pair p)
{
    if (!p.pass) p.pass = f->pass;
    if (flatten_grow(f, &list->items, &list->capacity, list->count + 1, sizeof p))
        list->items[list->count++] = p;
}

void push_action(flattener *f, action_list *list, flat_action a)
{
    if (flatten_grow(f, &list->items, &list->capacity, list->count + 1, sizeof a))
        list->items[list->count++] = a;
}
