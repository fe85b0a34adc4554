/* No text crashes the front end behind the parser (names, sizes, loops, functions, events), the
 * derivatives and the tape, makes them hang or use memory without bound; a text that is not taken
 * gets a message; a model that is taken is sound. Built with -fsanitize=fuzzer this is a libFuzzer
 * target; built with -DFUZZ_STANDALONE it runs over the files and directories it is given. See
 * test/fuzz/README.md. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expr/print.h"
#include "model/model.h"
#include "modelica/flatten/flatten.h"
#include "modelica/syntax/parser.h"

/* Limits small enough that every text is done within a second and 256 MiB. */
enum { LONGEST_TEXT = 20000, MOST_EQUATIONS = 300, MOST_WORK = 200000 };
static const flatten_limits LIMITS = {.elements = 2000,
                                      .nodes = 50000,
                                      .passes = 20000,
                                      .run_passes = 200,
                                      .bytes = (size_t)16 << 20};

static void require(int holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "not sound: %s\n", what);
    abort();
}

/* ---- the flat model ---- */

static void check_leaf(void *context, const expr_node *n)
{
    const flat_model *m = context;
    size_t index = (size_t)n->index;
    bool there = n->index >= 0;
    if (n->op == EXPR_VARIABLE)
        require(there && index < m->variable_count && !m->variables[index].discrete,
                "a variable in an expression is a continuous one of the model");
    if (n->op == EXPR_PARAMETER)
        require(there && index < m->parameter_count, "a parameter in an expression is there");
    if (n->op == EXPR_MEMORY)
        require(there && n->index < m->memory_count, "a memory slot in an expression is there");
}

static const char *leaf_name(void *context, const expr_node *leaf)
{
    const flat_model *m = context;
    if (leaf->op == EXPR_VARIABLE) return m->variables[leaf->index].name;
    if (leaf->op == EXPR_PARAMETER) return m->parameters[leaf->index].name;
    return NULL;
}

static void check_expression(const flat_model *m, expr e, bool optional)
{
    char text[1000];
    if (optional && e == EXPR_NONE) return;
    require(e != EXPR_NONE && e < graph_size(m->graph), "an expression is there");
    graph_leaves(m->graph, &e, 1, check_leaf, (void *)m);
    expr_print(m->graph, e, leaf_name, (void *)m, text, sizeof text);
    require(strlen(text) < sizeof text, "a printed expression ends");
}

static void check_slot(const flat_model *m, int slot)
{
    require(slot >= 0 && slot < m->memory_count, "a memory slot is there");
}

static void check_variables(const flat_model *m)
{
    for (size_t k = 0; k < m->variable_count; k++) {
        const flat_variable *v = &m->variables[k];
        require(v->name && v->place.line > 0, "a variable has a name and a place");
        if (v->discrete) check_slot(m, v->memory), check_slot(m, v->memory_pre);
        check_expression(m, v->start, true);
        check_expression(m, v->nominal, true);
        check_expression(m, v->min, true);
        check_expression(m, v->max, true);
    }
    for (size_t k = 0; k < m->parameter_count; k++) {
        const flat_parameter *p = &m->parameters[k];
        require(p->name != NULL, "a parameter has a name");
        require(p->type != FLAT_STRING || p->text || p->value == EXPR_NONE, "a String has a text");
        if (p->type != FLAT_STRING) check_expression(m, p->value, true);
    }
}

static void check_equations(const flat_model *m, const flat_equation *q, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        require((q[k].name || q[k].number > 0) && q[k].place.line > 0,
                "an equation has a name or a number, and a place");
        check_expression(m, q[k].residual, false);
        check_expression(m, q[k].left, true);
        check_expression(m, q[k].right, true);
    }
}

static void check_action(const flat_model *m, const flat_action *a)
{
    bool sets = a->kind == ACTION_ASSIGN || a->kind == ACTION_REINIT;
    require(!sets || (a->variable >= 0 && (size_t)a->variable < m->variable_count),
            "an action sets a variable of the model");
    require(!sets || m->variables[a->variable].discrete == (a->kind == ACTION_ASSIGN),
            "a discrete variable is assigned, a continuous one reinitialised");
    check_expression(m, a->value, a->kind == ACTION_TERMINATE);
    check_expression(m, a->guard, true);
    require(sets || a->message, "an assertion has a message");
    size_t end = 0, length = a->message ? strlen(a->message) : 0;
    for (size_t k = 0; k < a->hole_count; k++) {
        const flat_hole *h = &a->holes[k];
        require(h->offset >= end && h->offset + h->length <= length, "holes lie in the message");
        end = h->offset + h->length;
        check_expression(m, h->value, false);
    }
}

static void check_events(const flat_model *m)
{
    for (size_t k = 0; k < m->relation_count; k++) {
        check_expression(m, m->relations[k].crossing, false);
        check_slot(m, m->relations[k].memory);
    }
    for (size_t k = 0; k < m->sample_count; k++) {
        check_expression(m, m->samples[k].start, false);
        check_expression(m, m->samples[k].interval, false);
        check_slot(m, m->samples[k].memory);
    }
    for (size_t k = 0; k < m->when_count; k++)
        for (size_t b = 0; b < m->whens[k].branch_count; b++) {
            const flat_branch *branch = &m->whens[k].branches[b];
            check_expression(m, branch->condition, false);
            check_slot(m, branch->memory), check_slot(m, branch->memory_pre);
            for (size_t i = 0; i < branch->action_count; i++) check_action(m, &branch->actions[i]);
        }
    for (size_t k = 0; k < m->discrete_count; k++) {
        size_t v = (size_t)m->discretes[k].variable;
        require(v < m->variable_count && m->variables[v].discrete,
                "a discrete equation's variable");
        check_expression(m, m->discretes[k].value, false);
    }
    require(m->event_count == m->discrete_count + m->when_count, "events are in one order");
    for (size_t k = 0; k < m->event_count; k++)
        require(m->event_order[k].index <
                    (m->event_order[k].is_when ? m->when_count : m->discrete_count),
                "a step of an event is there");
}

static void check_flat(const flat_model *m)
{
    require(m->name != NULL, "a model has a name");
    check_variables(m);
    check_equations(m, m->equations, m->equation_count);
    check_equations(m, m->initial_equations, m->initial_count);
    check_events(m);
    for (size_t k = 0; k < m->assert_count; k++) check_action(m, &m->asserts[k]);
}

/* ---- what is integrated ---- */

static void check_pattern(const model_form *f)
{
    require(f->colptr[0] == 0, "a pattern begins at 0");
    for (int j = 0; j < f->n; j++) {
        require(f->colptr[j] <= f->colptr[j + 1], "a pattern's columns follow each other");
        for (int k = f->colptr[j]; k < f->colptr[j + 1]; k++) {
            require(f->rowind[k] >= 0 && f->rowind[k] < f->n, "a row is there");
            require(k == f->colptr[j] || f->rowind[k - 1] < f->rowind[k], "rows ascend");
        }
    }
}

/* Every program once at each of two points. */
static void run(model_form *f, model_instance *instance)
{
    size_t n = (size_t)f->n, nz = (size_t)f->colptr[f->n], outputs = f->flat->variable_count;
    size_t events = f->flat->relation_count, asserts = f->flat->assert_count;
    dae_residual r;
    model_form_describe(f, &r);
    double *work = calloc(3 * n + 2 * nz + outputs + events + asserts + f->flat->initial_count + 1,
                          sizeof *work);
    if (!work) return;
    double *y = work, *yp = y + n, *residual = yp + n, *dfdy = residual + n, *dfdyp = dfdy + nz;
    double *out = dfdyp + nz, *crossing = out + outputs, *held = crossing + events;
    double *condition = held + asserts;
    for (int point = 0; point < 2; point++) {
        for (size_t i = 0; i < n; i++) y[i] = point ? 0.3 + 0.01 * (double)i : 0.0;
        for (size_t i = 0; i < n; i++) yp[i] = point ? 0.7 - 0.02 * (double)i : 0.0;
        model_instance_prepare(instance);
        r.f(0.5 * point, y, yp, residual, instance);
        r.jacobian(0.5 * point, y, yp, dfdy, dfdyp, instance);
        if (r.event_function) r.event_function(0.5 * point, y, yp, crossing, instance);
        if (r.conditions) r.conditions(0.5 * point, y, yp, condition, instance);
        if (f->borrowed) continue;
        model_instance_outputs(instance, 0.5 * point, y, yp, out);
        model_instance_assertions(instance, 0.5 * point, y, yp, held);
    }
    free(work);
}

static void check_form(model_form *f)
{
    dae_problem *problem = NULL;
    dae_residual r;
    check_pattern(f);
    for (int i = 0; i < f->n; i++) require(f->unknown_names[i] != NULL, "an unknown has a name");
    model_form_describe(f, &r);
    require(dae_problem_from_residual(&r, &problem, NULL) == DAE_OK, "a form is a problem");
    dae_problem_free(problem);
    model_instance *instance = model_instance_new(f);
    if (instance) run(f, instance);
    model_instance_free(instance);
    if (f->initial) check_form(f->initial);
}

/* Each equation is differentiated on its own: n equations that share N nodes cost n N, however the
 * text is written. */
static bool is_small(const flat_model *m)
{
    size_t largest = m->variable_count > m->equation_count ? m->variable_count : m->equation_count;
    return largest <= MOST_EQUATIONS && largest * graph_size(m->graph) <= MOST_WORK;
}

static void check_translation(flat_model *flat)
{
    model_form *form = NULL;
    dae_diag diag = {0};
    dae_status status = model_form_new(flat, NULL, &form, &diag);
    require((status == DAE_OK) == (form != NULL), "a form or an error");
    require(status == DAE_OK || diag.text[0] != '\0', "an error has a text");
    if (!form) return;
    emit_text text = {0};
    check_form(form);
    model_form_emit(form, &text);
    require(text.failed || text.length > 0, "a form can be written as C");
    emit_free(&text);
    model_form_free(form);
}

/* ---- the target ---- */

/* With -DFUZZ_VALID texts with errors leave no trace in the coverage, so that libFuzzer builds on
 * models that are taken and what is behind the flattener gets its share. */
#ifdef FUZZ_VALID
extern uint8_t coverage_begin[] __asm__("__start___sancov_cntrs");
extern uint8_t coverage_end[] __asm__("__stop___sancov_cntrs");

static void forget_coverage(void)
{
    memset(coverage_begin, 0, (size_t)(coverage_end - coverage_begin));
}
#else
static void forget_coverage(void)
{
}
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > LONGEST_TEXT) return 0;
    arena *a = arena_new((size_t)64 << 20);
    message_list *m = message_list_new("fuzz.mo", (const char *)data, size, 20);
    if (a && m) {
        ast_file *file = parse_file(a, (const char *)data, size, m);
        flat_model *flat = flatten_within(file, "fuzz.mo", NULL, 0, LIMITS, m);
        require(flat != NULL || message_errors(m) > 0, "what is not taken gets a message");
        require(strlen(message_text(m)) < 200 * 1000, "messages are bounded");
        if (flat) check_flat(flat);
        if (flat && is_small(flat))
            check_translation(flat);
        else
            flat_model_free(flat);
        if (!flat) forget_coverage();
    }
    message_list_free(m);
    arena_free(a);
    return 0;
}

#ifdef FUZZ_STANDALONE
#include "fuzz_files.h"

int main(int argc, char **argv)
{
    int failed = argc < 2;
    for (int i = 1; i < argc; i++) failed |= run_path(argv[i]) < 1;
    return failed;
}
#endif
