/* Shared by the tests of the flattener: a model text, flattened, and numbers out of it. */
#ifndef TEST_MODELICA_FLATTEN_H
#define TEST_MODELICA_FLATTEN_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "expr/print.h"
#include "modelica/flatten/flatten.h"
#include "modelica/syntax/parser.h"

typedef struct flattened {
    arena *tree;
    message_list *messages;
    flat_model *m;
    double *value; /* given values of variables, NAN: follow its equation */
    double *memory;
    double time;
    int depth;
} flattened;

static inline flattened flatten_with(const char *name, const char *text,
                                     const flatten_setting *settings, size_t count)
{
    flattened f = {.tree = arena_new(0)};
    assert_non_null(f.tree);
    f.messages = message_list_new(name, text, strlen(text), 0);
    assert_non_null(f.messages);
    ast_file *file = parse_file(f.tree, text, strlen(text), f.messages);
    assert_non_null(file);
    f.m = flatten(file, name, settings, count, f.messages);
    return f;
}

static inline void prepare(flattened *f)
{
    size_t n = f->m->variable_count;
    f->value = malloc((n + 1) * sizeof *f->value);
    f->memory = calloc((size_t)f->m->memory_count + 1, sizeof *f->memory);
    assert_non_null(f->value);
    assert_non_null(f->memory);
    for (size_t k = 0; k < n; k++) f->value[k] = NAN;
    for (int k = 0; k < f->m->memory_count; k++) f->memory[k] = NAN;
}

/* A text that must be fine. */
static inline flattened flatten_good(const char *text)
{
    flattened f = flatten_with("test.mo", text, NULL, 0);
    if (!f.m) print_message("%s", message_text(f.messages));
    assert_non_null(f.m);
    assert_int_equal(message_errors(f.messages), 0);
    prepare(&f);
    return f;
}

static inline void release(flattened *f)
{
    free(f->value);
    free(f->memory);
    flat_model_free(f->m);
    message_list_free(f->messages);
    arena_free(f->tree);
}

static inline int variable_index(const flattened *f, const char *name)
{
    for (size_t k = 0; k < f->m->variable_count; k++)
        if (strcmp(f->m->variables[k].name, name) == 0) return (int)k;
    print_message("no variable %s\n", name);
    fail();
    return -1;
}

static inline int parameter_index(const flattened *f, const char *name)
{
    for (size_t k = 0; k < f->m->parameter_count; k++)
        if (strcmp(f->m->parameters[k].name, name) == 0) return (int)k;
    print_message("no parameter %s\n", name);
    fail();
    return -1;
}

static inline double number_of(flattened *f, expr e);

/* The equation v = right that gives a variable its value. */
static inline double follow(flattened *f, int variable)
{
    const flat_model *m = f->m;
    for (size_t k = 0; k < m->equation_count; k++) {
        expr left = m->equations[k].left;
        if (left == EXPR_NONE) continue;
        const expr_node *n = graph_node(m->graph, left);
        if (n->op == EXPR_VARIABLE && n->order == 0 && n->index == variable)
            return number_of(f, m->equations[k].right);
    }
    for (size_t k = 0; k < m->discrete_count; k++)
        if (m->discretes[k].variable == variable) return number_of(f, m->discretes[k].value);
    return NAN;
}

static inline double leaf_number(void *context, const expr_node *n)
{
    flattened *f = context;
    const flat_model *m = f->m;
    if (n->op == EXPR_CONSTANT) return n->value;
    if (n->op == EXPR_TIME) return f->time;
    if (n->op == EXPR_PARAMETER) return number_of(f, m->parameters[n->index].value);
    if (n->op == EXPR_VARIABLE && n->order == 0)
        return isnan(f->value[n->index]) ? follow(f, n->index) : f->value[n->index];
    if (n->op != EXPR_MEMORY) return NAN;
    if (!isnan(f->memory[n->index])) return f->memory[n->index];
    for (size_t k = 0; k < m->relation_count; k++)
        if (m->relations[k].memory == n->index) {
            double x = number_of(f, m->relations[k].crossing);
            return m->relations[k].strict ? x < 0.0 : x <= 0.0;
        }
    for (size_t k = 0; k < m->variable_count; k++)
        if (m->variables[k].memory == n->index) return follow(f, (int)k);
    return NAN;
}

static inline double number_of(flattened *f, expr e)
{
    double x = NAN;
    if (f->depth > 50) return NAN;
    f->depth++;
    x = graph_value(f->m->graph, e, leaf_number, f);
    f->depth--;
    return x;
}

/* Value of a variable by its equation. */
static inline double number(flattened *f, const char *name)
{
    return follow(f, variable_index(f, name));
}

static inline double parameter(flattened *f, const char *name)
{
    return number_of(f, f->m->parameters[parameter_index(f, name)].value);
}

static inline void give(flattened *f, const char *name, double x)
{
    f->value[variable_index(f, name)] = x;
}

static inline void check_near(double a, double b, const char *file, int line)
{
    if (fabs(a - b) <= 1e-12 * (1.0 + fabs(b))) return;
    print_message("%.17g is not %.17g\n", a, b);
    _fail(file, line);
}

#define assert_near(a, b) check_near(a, b, __FILE__, __LINE__)

/* Text of an expression, with names. */
static inline const char *leaf_name(void *context, const expr_node *n)
{
    const flat_model *m = context;
    static char text[64];
    if (n->op == EXPR_TIME) return "time";
    if (n->op == EXPR_VARIABLE) return m->variables[n->index].name;
    if (n->op == EXPR_PARAMETER) return m->parameters[n->index].name;
    for (size_t k = 0; k < m->variable_count; k++) {
        if (m->variables[k].memory == n->index) return m->variables[k].name;
        if (m->variables[k].memory_pre != n->index) continue;
        snprintf(text, sizeof text, "pre(%s)", m->variables[k].name);
        return text;
    }
    for (size_t k = 0; k < m->relation_count; k++)
        if (m->relations[k].memory == n->index) {
            snprintf(text, sizeof text, "relation %zu", k);
            return text;
        }
    for (size_t k = 0; k < m->sample_count; k++)
        if (m->samples[k].memory == n->index) return "sample";
    return n->index == m->memory_initial    ? "initial"
           : n->index == m->memory_terminal ? "terminal"
                                            : "memory";
}

static inline const char *text_of(const flattened *f, expr e, char *buffer, size_t size)
{
    if (e == EXPR_NONE) return "none";
    expr_print(f->m->graph, e, leaf_name, f->m, buffer, size);
    return buffer;
}

#define assert_text(f, e, expected)                                                                \
    do {                                                                                           \
        char buffer_[1024];                                                                        \
        assert_string_equal(text_of(f, e, buffer_, sizeof buffer_), expected);                     \
    } while (0)

#endif
