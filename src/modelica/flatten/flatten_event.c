/* Events: relations, sampling, rounding, discrete operators, strings of messages. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "modelica/flatten/flatten_internal.h"

/* ---- a hash table of numbers ---- */

static size_t mix(uint64_t a, uint64_t b)
{
    uint64_t h = (a * 0x9E3779B97F4A7C15u) ^ (b + 0x7F4A7C15u) * 0xBF58476D1CE4E5B9u;
    return (size_t)(h ^ (h >> 29));
}

static number_slot *find_slot(const number_table *t, expr e, bool flag)
{
    size_t mask = t->capacity - 1, k = mix(e, flag) & mask;
    while (t->slots[k].number && (t->slots[k].e != e || t->slots[k].flag != flag))
        k = (k + 1) & mask;
    return &t->slots[k];
}

/* The place in the table of the number that belongs to (e, flag); 0 there: none yet. NULL: no
 * memory. */
static uint32_t *table_at(flattener *f, number_table *t, expr e, bool flag)
{
    if (2 * (t->count + 1) > t->capacity) {
        number_table fresh = {.capacity = t->capacity ? 2 * t->capacity : 64, .count = t->count};
        fresh.slots = dae_calloc(fresh.capacity, sizeof *fresh.slots);
        if (!fresh.slots) {
            f->failed = true;
            return NULL;
        }
        for (size_t k = 0; k < t->capacity; k++)
            if (t->slots[k].number)
                *find_slot(&fresh, t->slots[k].e, t->slots[k].flag) = t->slots[k];
        dae_free(t->slots);
        *t = fresh;
    }
    number_slot *slot = find_slot(t, e, flag);
    slot->e = e;
    slot->flag = flag;
    return &slot->number;
}

/* ---- relations ---- */

/* The memory slot of relation r, whose places it has: equal relations share one. */
static expr share_relation(flattener *f, flat_relation r)
{
    flat_model *m = f->m;
    const expr crossing = r.crossing;
    const bool strict = r.strict;
    if (!(node_depends(f, crossing) & DEPENDS_CONTINUOUS))
        return graph_binary(f->g, strict ? EXPR_LT : EXPR_LE, crossing, constant(f, 0.0));
    uint32_t *number = table_at(f, &f->relation_table, crossing, strict);
    if (!number) return EXPR_NONE;
    if (*number) return graph_memory(f->g, m->relations[*number - 1].memory);
    r.memory = new_memory(f);
    flat_relation *to = flatten_push(f, &m->relations, &m->relation_count, &f->relation_capacity,
                                     sizeof *m->relations);
    if (!to) return EXPR_NONE;
    *to = r;
    *number = (uint32_t)m->relation_count;
    f->relation_table.count++;
    return graph_memory(f->g, r.memory);
}

/* a < b or a <= b */
static expr relation_memory(flattener *f, expr a, expr b, bool strict, source_place place)
{
    const expr crossing = graph_binary(f->g, EXPR_SUB, a, b);
    return share_relation(
        f, (flat_relation){.crossing = crossing, .strict = strict, .steps_of = -1, .place = place});
}

/* a op b: held in memory between events if it changes continuously, else a plain node. */
expr relation_value(flattener *f, ast_op op, expr a, expr b, source_place place)
{
    if (op == OP_GT) return relation_value(f, OP_LT, b, a, place);
    if (op == OP_GE) return relation_value(f, OP_LE, b, a, place);
    bool continuous = (node_depends(f, a) | node_depends(f, b)) & DEPENDS_CONTINUOUS;
    if (op == OP_EQ) return graph_binary(f->g, EXPR_EQ, a, b);
    if (op == OP_NE) return graph_binary(f->g, EXPR_NE, a, b);
    if (continuous && !f->scope.no_event) return relation_memory(f, a, b, op == OP_LT, place);
    return graph_binary(f->g, op == OP_LT ? EXPR_LT : EXPR_LE, a, b);
}

/* ---- hidden discrete variables ---- */

/* The discrete variable that holds floor(argument), or the condition `argument`; made at first use.
 */
static int hidden_for(flattener *f, expr argument, bool rounding, source_place place, bool *fresh)
{
    *fresh = false;
    uint32_t *number = table_at(f, &f->hidden, argument, rounding);
    if (!number) return -1;
    if (*number) return (int)*number - 1;
    char name[64];
    snprintf(name, sizeof name, rounding ? "$floor%zu" : "$when%zu", f->hidden.count + 1);
    int variable = hidden_discrete(f, name, rounding ? VALUE_INTEGER : VALUE_BOOLEAN, place);
    if (f->failed || variable < 0) return -1;
    *number = (uint32_t)variable + 1;
    f->hidden.count++;
    *fresh = true;
    return variable;
}

/* floor(a) as a value that jumps at events: k = floor(a), new when a < k or k + 1 <= a. */
expr event_floor(flattener *f, expr a, source_place place)
{
    bool fresh = false;
    int variable = hidden_for(f, a, true, place, &fresh);
    if (variable < 0) return EXPR_NONE;
    expr k = graph_memory(f->g, f->m->variables[variable].memory);
    if (!fresh) return k;
    push_pair(f, &f->equations,
              (equation_pair){.left = k,
                              .right = graph_unary(f->g, EXPR_FLOOR, a),
                              .type = VALUE_INTEGER,
                              .place = place});
    flat_relation r = {.crossing = graph_binary(f->g, EXPR_SUB, a, k),
                       .strict = true,
                       .steps = a,
                       .steps_of = f->m->variables[variable].memory,
                       .place = place};
    share_relation(f, r);
    r.crossing = graph_binary(f->g, EXPR_SUB, graph_binary(f->g, EXPR_ADD, k, constant(f, 1.0)), a);
    r.strict = false;
    r.steps_up = true;
    share_relation(f, r);
    return k;
}

/* Whether the condition just became true: c and not pre(c). */
expr edge_of(flattener *f, expr condition, source_place place)
{
    const expr_node *n = condition != EXPR_NONE ? graph_node(f->g, condition) : NULL;
    int variable = n && n->op == EXPR_MEMORY ? f->slot_variable[n->index] : -1;
    bool fresh = false;
    if (!n) return EXPR_NONE;
    if (variable < 0) variable = hidden_for(f, condition, false, place, &fresh);
    if (variable < 0) return EXPR_NONE;
    expr now = graph_memory(f->g, f->m->variables[variable].memory);
    if (fresh)
        push_pair(f, &f->equations,
                  (equation_pair){
                      .left = now, .right = condition, .type = VALUE_BOOLEAN, .place = place});
    expr before = graph_memory(f->g, f->m->variables[variable].memory_pre);
    return graph_binary(f->g, EXPR_AND, now, graph_unary(f->g, EXPR_NOT, before));
}

/* ---- pre, edge, change, initial, terminal, sample ---- */

/* The value before the event of one element. */
static expr pre_element(flattener *f, expr e, const char *what, source_place place)
{
    const expr_node *n = graph_node(f->g, e);
    if (n->op == EXPR_MEMORY && f->slot_variable[n->index] >= 0)
        return graph_memory(f->g, f->m->variables[f->slot_variable[n->index]].memory_pre);
    if (!(node_depends(f, e) & (DEPENDS_CONTINUOUS | DEPENDS_MEMORY))) return e;
    if (n->op == EXPR_VARIABLE && n->order == 0 && f->scope.in_when) return e;
    if (n->op == EXPR_VARIABLE)
        report_error(f, place, "%s of '%s', which is continuous: only inside a when-clause", what,
                     f->m->variables[n->index].name);
    else
        report_error(f, place, "%s wants a variable", what);
    return EXPR_NONE;
}

static value pre_value(flattener *f, const ast_expr *e, const char *what, value *now)
{
    if (e->arg_count != 1 || !e->args[0])
        return error_value(f, e->place, "%s wants 1 argument, found %zu", what, e->arg_count);
    bool skip = f->scope.skip_overlay;
    f->scope.skip_overlay = true;
    value v = evaluate(f, e->args[0]);
    f->scope.skip_overlay = skip;
    *now = v;
    if (value_is_error(&v)) return v;
    if (!value_is_simple(&v) || v.type == VALUE_STRING)
        return wrong_type(f, e->args[0]->place, what, &v, "a discrete variable");
    value out = value_new(f, v.type, v.rank, v.dims);
    for (size_t k = 0; !value_is_error(&out) && k < v.count; k++) {
        if (graph_failed(f->g)) return value_error();
        out.e[k] = pre_element(f, value_element(&v, k), what, e->args[0]->place);
        if (out.e[k] == EXPR_NONE) return value_error();
    }
    out.class_ = v.class_;
    out.unit = v.unit;
    return out;
}

/* change(v) = v <> pre(v), edge(b) = b and not pre(b) */
static value change_value(flattener *f, const ast_expr *e, const char *what)
{
    value now, before = pre_value(f, e, what, &now);
    if (value_is_error(&before)) return before;
    bool edge = strcmp(what, "edge") == 0;
    if (edge && now.type != VALUE_BOOLEAN)
        return wrong_type(f, e->args[0]->place, what, &now, "Boolean");
    value out = value_new(f, VALUE_BOOLEAN, now.rank, now.dims);
    for (size_t k = 0; !value_is_error(&out) && k < now.count; k++) {
        expr a = value_element(&now, k), b = before.e[k];
        out.e[k] = edge ? graph_binary(f->g, EXPR_AND, a, graph_unary(f->g, EXPR_NOT, b))
                        : graph_binary(f->g, EXPR_NE, a, b);
    }
    return out;
}

static bool sample_argument(flattener *f, const ast_expr *e, size_t k, expr *out)
{
    value v = evaluate(f, e->args[k]);
    if (value_is_error(&v)) return false;
    if (!value_is_numeric(&v) || v.rank)
        return type_error(f, e->args[k]->place, "sample", &v, "a number");
    *out = value_element(&v, 0);
    if (!(node_depends(f, *out) & (DEPENDS_CONTINUOUS | DEPENDS_MEMORY))) return true;
    return report_error(f, e->args[k]->place,
                        "arguments of sample must be parameters or constants");
}

static value sample_value(flattener *f, const ast_expr *e)
{
    flat_model *m = f->m;
    expr start, interval;
    double width = 1.0;
    if (e->arg_count != 2)
        return error_value(f, e->place, "sample wants 2 arguments, found %zu", e->arg_count);
    if (!sample_argument(f, e, 0, &start) || !sample_argument(f, e, 1, &interval))
        return value_error();
    if (graph_is_constant(f->g, interval, &width) && width <= 0.0)
        return error_value(f, e->args[1]->place, "the interval of sample must be positive");
    for (size_t k = 0; k < m->sample_count; k++)
        if (m->samples[k].start == start && m->samples[k].interval == interval &&
            !m->samples[k].schedule)
            return value_scalar(VALUE_BOOLEAN, graph_memory(f->g, m->samples[k].memory));
    int memory = new_memory(f);
    if (f->failed ||
        !flatten_grow(f, &m->samples, &f->sample_capacity, m->sample_count + 1, sizeof *m->samples))
        return value_error();
    m->samples[m->sample_count++] = (flat_sample){start, interval, memory, e->place, NULL};
    return value_scalar(VALUE_BOOLEAN, graph_memory(f->g, memory));
}

value discrete_call(flattener *f, const char *name, const ast_expr *e)
{
    value now;
    if (f->scope.in_function)
        return error_value(f, e->place, "%s cannot be used in a function", name);
    if (strcmp(name, "pre") == 0) return pre_value(f, e, name, &now);
    if (strcmp(name, "sample") == 0) return sample_value(f, e);
    if (strcmp(name, "initial") == 0)
        return value_scalar(VALUE_BOOLEAN, graph_memory(f->g, f->m->memory_initial));
    if (strcmp(name, "terminal") != 0) return change_value(f, e, name);
    f->m->has_terminal = true;
    return value_scalar(VALUE_BOOLEAN, graph_memory(f->g, f->m->memory_terminal));
}

bool is_initial_call(const ast_expr *e)
{
    return e && e->kind == AST_CALL && e->part_count == 1 && e->parts[0].name &&
           strcmp(e->parts[0].name, "initial") == 0;
}
