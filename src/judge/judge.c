/* Opening and closing a judge, its lists, and evaluation at points. */
#include "judge/judge.h"

#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "judge/judge_parts.h"
#include "modelica/syntax/parser.h"

static const machine_ways ways = {
    .eval = judge_eval_node,
    .call = judge_call_function,
    .closure = judge_make_closure,
    .reduce = judge_reduce_values,
    .need_sizes = judge_elaborate_sizes,
    .need_values = judge_elaborate_values,
    .fires = judge_meet_when,
};

/* ---- opening ---- */

static dae_status parse(judge *j, const char *text, size_t length, const char *file, dae_diag *diag)
{
    message_list *messages = message_list_new(file ? file : "model", text, length, 0);
    j->memory = arena_new(0);
    j->source = messages && j->memory ? dae_copy(text, length + !length, 1) : NULL;
    j->file = j->source ? parse_file(j->memory, text, length, messages) : NULL;
    j->source_length = length;
    dae_status status = !j->file ? DAE_ERR_MEMORY : DAE_OK;
    int line = 0;
    if (j->file && message_errors(messages)) {
        const char *first = message_first(messages, &line);
        status = diag_set(diag, DAE_ERR_MODEL, "%s", first ? first : "errors");
    } else if (j->file && !j->file->model) {
        status = diag_set(diag, DAE_ERR_MODEL, "there is no model in the text");
    }
    message_list_free(messages);
    return status;
}

static void find_lines(judge *j)
{
    size_t count = 1;
    for (size_t k = 0; k < j->source_length; k++) count += j->source[k] == '\n';
    j->lines = JUDGE_TAKE(j, size_t, count + 1);
    j->line_count = 1;
    for (size_t k = 0; k < j->source_length; k++)
        if (j->source[k] == '\n') j->lines[j->line_count++] = k + 1;
}

static void need(judge *j, component *c, void (*what)(machine *, component *, int))
{
    machine *m = &j->machine;
    jmp_buf escape, *outer = m->escape;
    stack_mark mark = m->scratch.at;
    bool good = setjmp(escape) == 0;
    if (good) {
        m->escape = &escape;
        m->passes = m->called = 0;
        what(m, c, 0);
    }
    m->escape = outer;
    m->scratch.at = mark;
    if (m->no_memory) judge_no_memory(m);
    if (good || !c->error) return;
    judge_add_gap(j, judge_format(j, "'%s': %s", c->name, c->error), c->declared->place.line, -1,
                  false);
}

static bool has_energies(const ast_class *model)
{
    for (size_t k = 0; k < model->annotation_count; k++) {
        const ast_modification *a = &model->annotation[k];
        if (strcmp(a->name, "__Daedal") != 0) continue;
        for (size_t n = 0; n < a->nested_count; n++)
            if (strcmp(a->nested[n].name, "terminal") != 0) return true;
    }
    return false;
}

static void elaborate(judge *j)
{
    find_lines(j);
    j->global = (scope){.kind = SCOPE_GLOBAL};
    j->model = (scope){.kind = SCOPE_MODEL, .parent = &j->global};
    j->last_component = &j->components;
    j->compiling = -1;
    j->machine.group = -1;
    judge_enter_classes(j);
    judge_declare(j);
    if (has_energies(j->file->model))
        judge_add_gap(j, "equations of motion from energies", j->file->model->place.line, -1,
                      false);
    for (component *c = j->components; c; c = c->next) need(j, c, judge_elaborate_sizes);
    for (component *c = j->components; c; c = c->next)
        if (c->sizes == DONE) need(j, c, judge_elaborate_values);
    judge_expand(j);
    j->rows = DAE_ARRAY(judge_row, j->equation_count + 1);
    j->read_variables = DAE_ARRAY(bool, j->variable_count + 1);
    j->read_derivatives = DAE_ARRAY(bool, j->derivative_count + 1);
    j->read_list = DAE_ARRAY(int, j->variable_count + 1);
    j->read_derivative_list = DAE_ARRAY(int, j->derivative_count + 1);
    if (!j->rows || !j->read_variables || !j->read_derivatives || !j->read_list ||
        !j->read_derivative_list)
        judge_no_memory(&j->machine);
}

/* Do something that may jump out when memory is exhausted; false: it was. */
bool judge_guarded(judge *j, void (*work)(judge *, void *), void *context)
{
    machine *m = &j->machine;
    jmp_buf escape;
    m->no_memory = false;
    m->error = NULL;
    arena_recover(j->memory);
    m->scratch.at = m->frames.at = (stack_mark){0, 0};
    m->escape = &escape;
    bool good = setjmp(escape) == 0;
    if (good) work(j, context);
    m->escape = NULL;
    return good;
}

static void elaborate_work(judge *j, void *context)
{
    (void)context;
    elaborate(j);
}

static dae_status open_status(judge *j, dae_diag *diag)
{
    if (!judge_guarded(j, elaborate_work, NULL))
        return j->machine.no_memory ? diag_set(diag, DAE_ERR_MEMORY, "out of memory")
                                    : diag_set(diag, DAE_ERR_MODEL, "%s", j->machine.error_text);
    for (size_t k = 0; k < j->override_count; k++)
        if (!j->override_used[k])
            return diag_set(diag, DAE_ERR_ARGUMENT, "there is no parameter or variable '%s'",
                            j->overrides[k].name);
    return DAE_OK;
}

dae_status judge_open(const char *text, size_t length, const char *file,
                      const judge_override *overrides, size_t override_count, judge **out,
                      dae_diag *diag)
{
    *out = NULL;
    diag_clear(diag);
    judge *j = DAE_NEW(judge);
    bool *used = DAE_ARRAY(bool, override_count);
    if (!j || !used) {
        dae_free_all(j, used);
        return diag_set(diag, DAE_ERR_MEMORY, "out of memory");
    }
    j->machine.j = j;
    j->machine.ways = &ways;
    j->overrides = overrides;
    j->override_count = override_count;
    j->override_used = used;
    dae_status status = parse(j, text, length, file, diag);
    if (status == DAE_OK) status = open_status(j, diag);
    j->overrides = NULL;
    j->override_count = 0;
    if (status == DAE_OK)
        *out = j;
    else
        judge_free(j);
    return status;
}

void judge_free(judge *j)
{
    if (!j) return;
    arena_free(j->memory);
    judge_stack_free(&j->machine.scratch);
    judge_stack_free(&j->machine.frames);
    dae_free_all(j->names.entries, j->constants.entries, j->classes.entries, j->functions.entries,
                 j->types.entries, j->ids.entries, j->whens_at.entries);
    dae_free_all(j->source, j->variables, j->cells, j->derivatives, j->equations, j->groups,
                 j->whens, j->samples, j->gaps, j->rows, j->conditions, j->switches, j->effects,
                 j->forced, j->read_variables, j->read_derivatives, j->read_list,
                 j->read_derivative_list, j->override_used, j);
}

/* ---- lists ---- */

#define LIST(function, type, items, count)                                                         \
    size_t function(const judge *j, const type **list)                                             \
    {                                                                                              \
        *list = j->items;                                                                          \
        return j->count;                                                                           \
    }
LIST(judge_variables, judge_variable, variables, variable_count)
LIST(judge_derivatives, judge_derivative, derivatives, derivative_count)
LIST(judge_equations, judge_equation, equations, equation_count)
LIST(judge_whens, judge_when, whens, when_count)
LIST(judge_samples, judge_sample, samples, sample_count)
LIST(judge_gaps, judge_gap, gaps, gap_count)

double judge_longest_delay(const judge *j)
{
    return j->longest_delay;
}

size_t judge_groups(const judge *j)
{
    return j->group_count;
}

int judge_find(const judge *j, const char *name)
{
    const table_entry *e = judge_table_find(&j->ids, name, &j->variables, 0, 0);
    return e ? e->number - 1 : -1;
}

void judge_start_values(const judge *j, double *values)
{
    for (size_t k = 0; k < j->variable_count; k++) {
        const judge_variable *x = &j->variables[k];
        values[k] = x->variability <= JUDGE_PARAMETER ? x->value : x->start;
    }
}

/* ---- evaluation ---- */

static void set_forces(judge *j, const judge_point *p, bool on)
{
    for (size_t k = 0; k < p->force_count; k++) {
        int id = p->forces[k].id;
        if (id < 0) continue;
        size_t old = j->forced_capacity;
        judge_grow(j, &j->forced, &j->forced_capacity, (size_t)id + 1, sizeof *j->forced);
        for (size_t i = old; i < j->forced_capacity; i++) j->forced[i] = NAN;
        j->forced[id] = on ? p->forces[k].value : NAN;
    }
}

static const char *kept_error(judge *j)
{
    const char *text = j->machine.error;
    table_entry *e = judge_table_find(&j->types, text, &j->rows, 0, 0);
    if (!e) e = judge_table_put(j, &j->types, judge_format(j, "%s", text), &j->rows, 0, 0, NULL);
    return e->text;
}

static void evaluate_group(judge *j, int number)
{
    machine *m = &j->machine;
    group *g = &j->groups[number];
    m->rows = j->rows + g->first;
    m->row_limit = g->count;
    for (int k = 0; k < g->count; k++) m->rows[k] = (judge_row){0};
    judge_run_group(m, number);
    if (m->no_memory) judge_no_memory(m);
    if (!m->error) return;
    const char *error = kept_error(j);
    for (int k = 0; k < g->count; k++)
        m->rows[k] = (judge_row){.left = NAN,
                                 .right = NAN,
                                 .residual = NAN,
                                 .error = error,
                                 .error_line = m->error_line ? m->error_line : g->line};
}

typedef struct evaluation {
    const judge_point *point;
    int group; /* -1: all */
} evaluation;

/* Whether what a group says holds at all times. */
static bool is_lasting(const group *g)
{
    return g->kind == JUDGE_EQUATION || g->kind == JUDGE_BINDING || g->kind == JUDGE_ALGORITHM;
}

static void evaluate(judge *j, void *context)
{
    const evaluation *e = context;
    j->switch_count = j->effect_count = 0;
    for (size_t k = 0; k < j->condition_count; k++) j->conditions[k] = NAN;
    judge_fill_point(j, e->point);
    set_forces(j, e->point, true);
    if (e->group >= 0) evaluate_group(j, e->group);
    for (int g = 0; e->group < 0 && g < (int)j->group_count; g++)
        if (!e->point->lasting || is_lasting(&j->groups[g])) evaluate_group(j, g);
}

static dae_status run(judge *j, const evaluation *e, const judge_result **result)
{
    bool good = judge_guarded(j, evaluate, (void *)(size_t)e);
    if (e->point->force_count && j->forced)
        for (size_t k = 0; k < j->forced_capacity; k++) j->forced[k] = NAN;
    j->machine.point = NULL;
    *result = NULL;
    if (!good) return DAE_ERR_MEMORY;
    j->result = (judge_result){j->rows,         j->conditions, j->switches,
                               j->switch_count, j->effects,    j->effect_count};
    *result = &j->result;
    return DAE_OK;
}

dae_status judge_evaluate(judge *j, const judge_point *point, const judge_result **result)
{
    return run(j, &(evaluation){point, -1}, result);
}

dae_status judge_evaluate_group(judge *j, const judge_point *point, int number,
                                const judge_result **result)
{
    *result = NULL;
    if (number < 0 || (size_t)number >= j->group_count) return DAE_ERR_ARGUMENT;
    return run(j, &(evaluation){point, number}, result);
}

static size_t list_marks(const bool *marks, size_t count, int *list)
{
    size_t found = 0;
    for (size_t k = 0; k < count; k++)
        if (marks[k]) list[found++] = (int)k;
    return found;
}

dae_status judge_reads(judge *j, const judge_point *point, int number, const int **variables,
                       size_t *variable_count, const int **derivatives, size_t *derivative_count)
{
    const judge_result *result;
    memset(j->read_variables, 0, j->variable_count * sizeof(bool));
    memset(j->read_derivatives, 0, j->derivative_count * sizeof(bool));
    j->machine.reading = true;
    dae_status status = judge_evaluate_group(j, point, number, &result);
    j->machine.reading = false;
    *variables = j->read_list;
    *derivatives = j->read_derivative_list;
    *variable_count = list_marks(j->read_variables, j->variable_count, j->read_list);
    *derivative_count =
        list_marks(j->read_derivatives, j->derivative_count, j->read_derivative_list);
    return status;
}

/* ---- one expression ---- */

typedef struct one_expression {
    const ast_expr *expression;
    const judge_point *point;
    double *values;
    size_t capacity, *count;
} one_expression;

static void evaluate_expression(judge *j, void *context)
{
    const one_expression *e = context;
    machine *m = &j->machine;
    value slots[MODEL_SLOTS] = {0};
    judge_fill_point(j, e->point);
    m->frame = (frame){slots, MODEL_SLOTS};
    m->group = -1;
    m->calls = m->in_function = m->noevent = m->past = 0;
    m->passes = m->called = 0;
    value v = judge_eval(m, judge_compile(j, &j->model, e->expression));
    *e->count = (size_t)judge_cells(&v);
    for (size_t k = 0; k < *e->count && k < e->capacity; k++)
        e->values[k] = v.type->base == BASE_STRING ? NAN : v.cells[k].v;
}

dae_status judge_function(judge *j, const char *expression, const judge_point *point,
                          double *values, size_t capacity, size_t *count, dae_diag *diag)
{
    *count = 0;
    diag_clear(diag);
    size_t length = strlen(expression) + 64;
    char *text = dae_calloc(length, 1);
    if (!text) return diag_set(diag, DAE_ERR_MEMORY, "out of memory");
    snprintf(text, length, "model E\nequation\n0 = (%s);\nend E;\n", expression);
    message_list *messages = message_list_new("expression", text, strlen(text), 0);
    ast_class *c = messages ? parse_class_text(j->memory, text, messages) : NULL;
    dae_status status = DAE_OK;
    if (!c || c->section_count != 1 || c->sections[0].item_count != 1) {
        bool memory = !messages || message_memory_failed(messages) || arena_failed(j->memory);
        status = diag_set(diag, memory ? DAE_ERR_MEMORY : DAE_ERR_MODEL,
                          "the expression cannot be read");
    } else {
        one_expression e = {c->sections[0].items[0]->right, point, values, capacity, count};
        if (!judge_guarded(j, evaluate_expression, &e))
            status = diag_set(diag, j->machine.no_memory ? DAE_ERR_MEMORY : DAE_ERR_MODEL, "%s",
                              j->machine.no_memory ? "out of memory" : j->machine.error_text);
    }
    j->machine.point = NULL;
    message_list_free(messages);
    dae_free(text);
    return status;
}
