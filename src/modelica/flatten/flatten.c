/* From the syntax tree to the flat model: the order of things. */
#include "modelica/flatten/flatten.h"

#include <string.h>

#include "base/memory.h"
#include "modelica/flatten/flatten_execute.h"
#include "modelica/flatten/flatten_files.h"
#include "modelica/flatten/flatten_internal.h"

/* ---- life ---- */

static flatten_limits flatten_limits_default(void)
{
    return (flatten_limits){.elements = 10000000,
                            .nodes = 40000000,
                            .passes = 100000000,
                            .run_passes = 1000000,
                            .bytes = (size_t)2 << 30,
                            /* about a second, and what a small machine has left */
                            .call_passes = 2000000,
                            .call_bytes = (size_t)128 << 20,
                            /* a dozen walks: a few seconds */
                            .reach = 2e7};
}

static bool flattener_open(flattener *f)
{
    f->permanent = arena_new(0); /* flatten_take watches the limit */
    f->scratch = arena_new(0);
    f->m = DAE_NEW(flat_model);
    f->setting_used = DAE_ARRAY(bool, f->setting_count);
    if (!f->permanent || !f->scratch || !f->m || !f->setting_used) return false;
    f->m->texts = arena_new(0);
    f->m->graph = f->g = graph_new();
    if (!f->m->texts || !f->g) return false;
    graph_set_limit(f->g, (size_t)f->limits.nodes);
    f->scope.active = f->permanent;
    f->scope.end_size = SIZE_MAX;
    f->m->memory_initial = new_memory(f);
    f->m->memory_terminal = new_memory(f);
    return !f->failed;
}

static void flattener_close(flattener *f)
{
    name_free(&f->classes);
    name_free(&f->globals);
    name_free(&f->symbols);
    name_free(&f->wholes);
    dae_free_all(f->setting_used, f->driven, f->edges, f->locals, f->journal, f->partials,
                 f->own_codes, f->partial_of, f->bindings, f->equations.items,
                 f->initial_equations.items, f->terminal_equations.items, f->asserts.items,
                 f->slot_variable, f->slot_pre, f->parameter_value, f->semilinears, f->hidden.slots,
                 f->relation_table.slots, f->depends, f->stamp, f->stack, f->texts,
                 f->unit_reports);
    numbers_free(f);
    unit_table_free(&f->units);
    calls_free(&f->calls);
    replays_free(f);
    element_texts_free(f);
    arena_free(f->permanent);
    arena_free(f->scratch);
}

/* ---- experiment ---- */

static void experiment_value(flattener *f, const ast_modification *m, bool *has, double *out)
{
    value v = evaluate(f, m->value);
    if (value_is_error(&v)) return;
    *has = value_is_numeric(&v) && v.rank == 0 && compile_time_value(f, value_element(&v, 0), out);
    if (!*has) report_error(f, m->place, "%s of the experiment must be a number", m->name);
}

static void read_experiment(flattener *f, const ast_modification *m)
{
    flat_experiment *x = &f->m->experiment;
    const struct {
        const char *name;
        bool *has;
        double *value;
    } fields[] = {{"StartTime", &x->has_start, &x->start},
                  {"StopTime", &x->has_stop, &x->stop},
                  {"Tolerance", &x->has_tolerance, &x->tolerance},
                  {"Interval", &x->has_interval, &x->interval}};
    for (size_t k = 0; k < m->nested_count; k++)
        for (size_t i = 0; i < 4; i++)
            if (m->nested[k].name && m->nested[k].value &&
                strcmp(m->nested[k].name, fields[i].name) == 0)
                experiment_value(f, &m->nested[k], fields[i].has, fields[i].value);
}

static void read_annotation(flattener *f)
{
    const ast_class *model = f->file->model;
    for (size_t k = 0; k < model->annotation_count && !f->failed; k++) {
        const ast_modification *m = &model->annotation[k];
        if (m->name && strcmp(m->name, "experiment") == 0) read_experiment(f, m);
        bool ours = m->name && strcmp(m->name, "__Daedal") == 0;
        if (ours) terminal_annotation(f, m);
        if (ours && !only_terminals(m) && message_errors(f->messages) == 0) motion_equations(f, m);
    }
}

/* ---- sections ---- */

static void read_section(flattener *f, const ast_section *s)
{
    if (s->parameter) {
        if (s->item_count && s->items[0]) read_guess(f, s->items[0]);
        return;
    }
    if (s->initial && s->algorithm && initial_section_is_done(f, s)) return;
    if (s->algorithm) {
        algorithm_section(f, s, s->initial);
        return;
    }
    f->scope.in_initial = s->initial;
    f->target = s->initial ? &f->initial_equations : &f->equations;
    equation_items(f, s->items, s->item_count);
    f->scope.in_initial = false;
}

/* Everything that uses names waits until the declarations are read. */
static void flatten_all(flattener *f)
{
    const ast_class *model = f->file->model;
    f->m->name = model_text(f, model->name ? model->name : "model");
    f->m->file = model_text(f, f->file_name);
    register_names(f);
    release_driven(f);
    mark_assigned_in_when(f);
    find_initial_definitions(f);
    declare_all(f);
    check_settings(f);
    f->scope.active = f->scratch;
    if (!f->failed) declaration_equations(f);
    for (size_t k = 0; k < model->section_count && !f->failed && !f->stop; k++)
        read_section(f, &model->sections[k]);
    if (!f->failed && !f->stop) read_annotation(f);
    if (!f->failed && !f->stop) terminal_conditions(f);
    if (!f->failed && !f->stop && !graph_failed(f->g)) finish_model(f);
}

static const external_calls c_functions = {is_file_function, call_file_function, is_random_function,
                                           call_random_function, call_own_code};

/* If a limit ran out and not the machine's memory: an error at the last place that was read. */
static void explain_limits(flattener *f)
{
    if (message_errors(f->messages) > 0) return;
    if (f->full)
        message_error(f->messages, f->at,
                      "the model is too large: more than %zu MiB are needed to read it",
                      f->limits.bytes >> 20);
    else if (f->g && graph_failed(f->g) && graph_size(f->g) >= (size_t)f->limits.nodes)
        message_error(f->messages, f->at,
                      "the model grows beyond %d expression nodes here: too large to unroll",
                      f->limits.nodes);
}

static flat_model *flatten_given_within(const ast_file *file, const char *file_name,
                                        const flatten_given *given, flatten_limits limits,
                                        message_list *messages)
{
    static const flatten_recursion recursion = {expression_value, expression_results,
                                                resolve_declaration};
    flattener f = {.recursion = &recursion,
                   .file = file,
                   .file_name = file_name,
                   .messages = messages,
                   .settings = given->settings,
                   .limits = limits,
                   .setting_count = given->setting_count,
                   .inputs = given->inputs,
                   .input_count = given->input_count,
                   .terminals = given->terminals,
                   .terminal_count = given->terminal_count,
                   .simplified = given->simplified,
                   .allow_external = given->allow_external,
                   .externals = &c_functions};
    if (!file) return NULL;
    if (!file->model) {
        if (message_errors(messages) == 0)
            message_error(messages, (source_place){0, 0}, "there is no model in this file");
        return NULL;
    }
    bool open = flattener_open(&f);
    if (open) flatten_all(&f);
    bool failed = !open || f.failed || f.units.failed || message_memory_failed(messages) ||
                  graph_failed(f.g) || arena_failed(f.m->texts);
    if (failed) explain_limits(&f);
    if (f.g) graph_set_limit(f.g, 2 * (size_t)f.limits.nodes); /* derivatives need room, too */
    if (failed || message_errors(messages) > 0) {
        flat_model_free(f.m);
        f.m = NULL;
    }
    flattener_close(&f);
    return f.m;
}

flat_model *flatten(const ast_file *file, const char *file_name, const flatten_setting *settings,
                    size_t setting_count, message_list *messages)
{
    return flatten_within(file, file_name, settings, setting_count, flatten_limits_default(),
                          messages);
}

flat_model *flatten_driven(const ast_file *file, const char *file_name, const flatten_given *given,
                           message_list *messages)
{
    return flatten_given_within(file, file_name, given, flatten_limits_default(), messages);
}

flat_model *flatten_within(const ast_file *file, const char *file_name,
                           const flatten_setting *settings, size_t setting_count,
                           flatten_limits limits, message_list *messages)
{
    flatten_given given = {.settings = settings, .setting_count = setting_count};
    return flatten_given_within(file, file_name, &given, limits, messages);
}
