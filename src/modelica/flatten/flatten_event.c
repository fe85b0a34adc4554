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

/* ---- relations ---- */

static size_t relation_slot(const flattener *f, expr crossing, bool strict)
{
    size_t mask = f->relation_table_capacity - 1, k = mix(crossing, strict) & mask;
    for (; f->relation_table[k]; k = (k + 1) & mask) {
        const flat_relation *r = &f->m->relations[f->relation_table[k] - 1];
        if (r->crossing == crossing && r->strict == strict) break;
    }
    return k;
}

static bool enlarge_relation_table(flattener *f)
{
    if (2 * (f->m->relation_count + 1) <= f->relation_table_capacity) return true;
    size_t capacity = f->relation_table_capacity ? 2 * f->relation_table_capacity : 64;
    uint32_t *table = dae_calloc(capacity, sizeof *table);
    if (!table) {
        f->failed = true;
        return false;
    }
    dae_free(f->relation_table);
    f->relation_table = table;
    f->relation_table_capacity = capacity;
    for (size_t k = 0; k < f->m->relation_count; k++)
        table[relation_slot(f, f->m->relations[k].crossing, f->m->relations[k].strict)] =
            (uint32_t)k + 1;
    return true;
}

/* The memory slot of a < b or a <= b; equal relations share one. */
static expr relation_memory(flattener *f, expr a, expr b, bool strict, source_place place)
{
    flat_model *m = f->m;
    expr crossing = graph_binary(f->g, EXPR_SUB, a, b);
    if (!(node_depends(f, crossing) & DEPENDS_CONTINUOUS))
        return graph_binary(f->g, strict ? EXPR_LT : EXPR_LE, crossing, constant(f, 0.0));
    if (!enlarge_relation_table(f)) return EXPR_NONE;
    size_t k = relation_slot(f, crossing, strict);
    if (f->relation_table[k])
        return graph_memory(f->g, m->relations[f->relation_table[k] - 1].memory);
    int memory = new_memory(f);
    if (f->failed || !flatten_grow(f, &m->relations, &f->relation_capacity, m->relation_count + 1,
                                   sizeof *m->relations))
        return EXPR_NONE;
    m->relations[m->relation_count++] =
        (flat_relation){.crossing = crossing, .strict = strict, .memory = memory, .place = place};
    f->relation_table[k] = (uint32_t)m->relation_count;
    return graph_memory(f->g, memory);
}

/* a op b: held in memory between events if it changes continuously, else a plain node. */
expr relation_value(flattener *f, ast_op op, expr a, expr b, source_place place)
{
    if (op == OP_GT) return relation_value(f, OP_LT, b, a, place);
    if (op == OP_GE) return relation_value(f, OP_LE, b, a, place);
    bool continuous = (node_depends(f, a) | node_depends(f, b)) & DEPENDS_CONTINUOUS;
    if (op == OP_EQ) return graph_binary(f->g, EXPR_EQ, a, b);
    if (op == OP_NE) return graph_binary(f->g, EXPR_NE, a, b);
    if (continuous && !f->no_event) return relation_memory(f, a, b, op == OP_LT, place);
    return graph_binary(f->g, op == OP_LT ? EXPR_LT : EXPR_LE, a, b);
}

/* ---- hidden discrete variables ---- */

typedef struct hidden_variable {
    expr argument;
    bool rounding; /* floor(argument), else argument itself as a condition */
    int variable;
} hidden_variable;

static size_t hidden_slot(const flattener *f, expr argument, bool rounding)
{
    size_t mask = f->hidden_table_capacity - 1, k = mix(argument, rounding) & mask;
    for (; f->hidden_table[k]; k = (k + 1) & mask) {
        const hidden_variable *h = &f->hidden[f->hidden_table[k] - 1];
        if (h->argument == argument && h->rounding == rounding) break;
    }
    return k;
}

static bool enlarge_hidden_table(flattener *f)
{
    if (2 * (f->hidden_count + 1) <= f->hidden_table_capacity) return true;
    size_t capacity = f->hidden_table_capacity ? 2 * f->hidden_table_capacity : 64;
    uint32_t *table = dae_calloc(capacity, sizeof *table);
    if (!table) {
        f->failed = true;
        return false;
    }
    dae_free(f->hidden_table);
    f->hidden_table = table;
    f->hidden_table_capacity = capacity;
    for (size_t k = 0; k < f->hidden_count; k++)
        table[hidden_slot(f, f->hidden[k].argument, f->hidden[k].rounding)] = (uint32_t)k + 1;
    return true;
}

/* The discrete variable that holds floor(argument) or the condition; made at first use. */
static int hidden_for(flattener *f, expr argument, bool rounding, source_place place, bool *fresh)
{
    *fresh = false;
    if (!enlarge_hidden_table(f)) return -1;
    size_t k = hidden_slot(f, argument, rounding);
    if (f->hidden_table[k]) return f->hidden[f->hidden_table[k] - 1].variable;
    char name[64];
    snprintf(name, sizeof name, rounding ? "$floor%zu" : "$when%zu", f->hidden_count + 1);
    int variable = hidden_discrete(f, name, rounding ? VALUE_INTEGER : VALUE_BOOLEAN, place);
    if (f->failed || variable < 0 ||
        !flatten_grow(f, &f->hidden, &f->hidden_capacity, f->hidden_count + 1, sizeof *f->hidden))
        return -1;
    f->hidden[f->hidden_count++] = (hidden_variable){argument, rounding, variable};
    f->hidden_table[k] = (uint32_t)f->hidden_count;
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
    relation_memory(f, a, k, true, place);
    relation_memory(f, graph_binary(f->g, EXPR_ADD, k, constant(f, 1.0)), a, false, place);
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
    if (n->op == EXPR_VARIABLE && n->order == 0 && f->in_when) return e;
    if (n->op == EXPR_VARIABLE)
        report_error(f, place, "%s of '%s', which is continuous: only inside a when-clause", what,
                     f->m->variables[n->index].name);
    else
        report_error(f, place, "%s wants a variable", what);
    return EXPR_NONE;
}

static value pre_value(flattener *f, const ast_expr *e, const char *what, value *now)
{
    if (e->arg_count != 1 || !e->args[0]) {
        report_error(f, e->place, "%s wants 1 argument, found %zu", what, e->arg_count);
        return value_error();
    }
    bool skip = f->skip_overlay;
    f->skip_overlay = true;
    value v = evaluate(f, e->args[0]);
    f->skip_overlay = skip;
    *now = v;
    if (value_is_error(&v)) return v;
    if (!value_is_simple(&v) || v.type == VALUE_STRING) {
        type_error(f, e->args[0]->place, what, &v, "a discrete variable");
        return value_error();
    }
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
    if (edge && now.type != VALUE_BOOLEAN) {
        type_error(f, e->args[0]->place, what, &now, "Boolean");
        return value_error();
    }
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
    if (!value_is_numeric(&v) || v.rank) {
        type_error(f, e->args[k]->place, "sample", &v, "a number");
        return false;
    }
    *out = value_element(&v, 0);
    if (!(node_depends(f, *out) & (DEPENDS_CONTINUOUS | DEPENDS_MEMORY))) return true;
    report_error(f, e->args[k]->place, "arguments of sample must be parameters or constants");
    return false;
}

static value sample_value(flattener *f, const ast_expr *e)
{
    flat_model *m = f->m;
    expr start, interval;
    double width = 1.0;
    if (e->arg_count != 2) {
        report_error(f, e->place, "sample wants 2 arguments, found %zu", e->arg_count);
        return value_error();
    }
    if (!sample_argument(f, e, 0, &start) || !sample_argument(f, e, 1, &interval))
        return value_error();
    if (graph_is_constant(f->g, interval, &width) && width <= 0.0) {
        report_error(f, e->args[1]->place, "the interval of sample must be positive");
        return value_error();
    }
    for (size_t k = 0; k < m->sample_count; k++)
        if (m->samples[k].start == start && m->samples[k].interval == interval)
            return value_scalar(VALUE_BOOLEAN, graph_memory(f->g, m->samples[k].memory));
    int memory = new_memory(f);
    if (f->failed ||
        !flatten_grow(f, &m->samples, &f->sample_capacity, m->sample_count + 1, sizeof *m->samples))
        return value_error();
    m->samples[m->sample_count++] = (flat_sample){start, interval, memory, e->place};
    return value_scalar(VALUE_BOOLEAN, graph_memory(f->g, memory));
}

value evaluate_discrete_call(flattener *f, const char *name, const ast_expr *e, bool *known)
{
    value now;
    static const char *const names[] = {"pre",    "edge",   "change", "initial",  "terminal",
                                        "sample", "reinit", "assert", "terminate"};
    int which = -1;
    for (int k = 0; k < 9; k++)
        if (strcmp(names[k], name) == 0) which = k;
    *known = which >= 0;
    if (which < 0) return value_error();
    if (which >= 6) {
        report_error(f, e->place, "%s has no value: it is a statement", name);
        return value_error();
    }
    if (f->in_function) {
        report_error(f, e->place, "%s cannot be used in a function", name);
        return value_error();
    }
    switch (which) {
    case 0: return pre_value(f, e, name, &now);
    case 1:
    case 2: return change_value(f, e, name);
    case 3: return value_scalar(VALUE_BOOLEAN, graph_memory(f->g, f->m->memory_initial));
    case 4:
        f->m->has_terminal = true;
        return value_scalar(VALUE_BOOLEAN, graph_memory(f->g, f->m->memory_terminal));
    default: return sample_value(f, e);
    }
}
