/* Problems from model texts: translate, list and set parameters, read variables by name. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/interrupt.h"
#include "base/memory.h"
#include "base/sized.h"
#include "base/vector.h"
#include "model/model_code.h"
#include "model/model_structure.h"
#include "model/model_way.h"
#include "modelica/flatten/flatten.h"
#include "modelica/flatten/units.h"
#include "modelica/syntax/parser.h"
#include "solve/api/model_inputs.h"
#include "solve/api/model_values.h"
#include "solve/bind/solver.h"
#include "solve/hybrid/hybrid_parts.h"
#include "solve/run/run.h"

/* ---- reading ---- */

enum { LARGEST_FILE = 1 << 30 };

static dae_status reject_file(dae_diag *diag, const char *path, const char *why)
{
    return diag_set(diag, DAE_ERR_FILE, "%s: %s.", path, why);
}

/* The whole file, terminated; *text is owned by the caller. */
static dae_status read_file(const char *path, char **text, size_t *length, dae_diag *diag)
{
    *text = NULL;
    FILE *file = fopen(path, "rb");
    if (!file) return reject_file(diag, path, strerror(errno));
    size_t capacity = 1 << 16, used = 0;
    char *block = dae_alloc(capacity + 1, 1);
    while (block) {
        used += fread(block + used, 1, capacity - used, file);
        if (used < capacity || capacity >= LARGEST_FILE) break;
        char *larger = dae_alloc(2 * capacity + 1, 1);
        if (larger) memcpy(larger, block, used);
        dae_free(block);
        block = larger;
        capacity *= 2;
    }
    bool failed = ferror(file) != 0, large = block && used >= LARGEST_FILE;
    fclose(file);
    if (block && !failed && !large) {
        block[used] = '\0';
        *text = block;
        *length = used;
        return DAE_OK;
    }
    dae_free(block);
    if (!block) return diag_set(diag, DAE_ERR_MEMORY, "Out of memory while reading %s.", path);
    return reject_file(diag, path, large ? "the file is larger than 1 GiB" : "it cannot be read");
}

/* ---- translation ---- */

static void pass_messages(const dae_model *model, message_list *messages)
{
    bool any = message_errors(messages) + message_warnings(messages) > 0;
    if (any && model->message) model->message(message_text(messages), model->user);
}

/* The first error into the diagnostic. */
static dae_status explain_messages(const message_list *messages, dae_diag *diag)
{
    if (message_errors(messages) == 0)
        return diag_set(diag, DAE_ERR_MEMORY, "Out of memory while translating the model.");
    int line = 0;
    const char *first = message_first(messages, &line);
    if (diag) diag->line = line;
    int more = message_errors(messages) - 1;
    diag_set(diag, DAE_ERR_MODEL, "%s", first);
    if (more > 0) diag_append(diag, " (and %d more error%s)", more, more > 1 ? "s" : "");
    return DAE_ERR_MODEL;
}

/* The flat model of a tree with its settings; NULL after messages or a diagnostic. */
static flat_model *translate(const dae_model *model, arena *a, ast_file *tree, bool simplified,
                             message_list *messages, dae_status *status, dae_diag *diag)
{
    size_t count = 0;
    flatten_setting *settings =
        DAE_ARRAY(flatten_setting, model->setting_count + model->assignment_count);
    flat_model *flat = NULL;
    model_inputs inputs = {0};
    flatten_condition *terminals = NULL;
    *status = settings ? model_values_assign(a, tree, model, settings, &count, diag)
                       : diag_set(diag, DAE_ERR_MEMORY, "Out of memory.");
    if (*status == DAE_OK) *status = model_inputs_read(&inputs, a, tree, model, diag);
    if (*status == DAE_OK) *status = model_conditions_read(a, model, &terminals, diag);
    flatten_given given = {.settings = settings,
                           .setting_count = count,
                           .inputs = inputs.list,
                           .input_count = inputs.count,
                           .terminals = terminals,
                           .terminal_count = (size_t)model->terminal_count,
                           .simplified = simplified,
                           .allow_external = model->allow_external};
    if (*status == DAE_OK) flat = flatten_driven(tree, model->file, &given, messages);
    if (*status == DAE_OK && !flat) *status = explain_messages(messages, diag);
    model_inputs_free(&inputs);
    dae_free(settings);
    return flat;
}

/* A problem around a form; the form is owned by it, or freed. */
static dae_status wrap_form(model_form *form, dae_engine engine, dae_problem **problem,
                            dae_diag *diag)
{
    dae_residual r;
    model_form_describe(form, &r);
    dae_status status = problem_of_model(&r, form, model_equation_name, problem, diag);
    if (status != DAE_OK) {
        model_form_free(form);
        return status;
    }
    (*problem)->engine = engine;
    if (engine != DAE_ENGINE_TAPE) (*problem)->kernels = model_code_kernels(form->code);
    if (model_kinematics(form, NULL, *problem)) return DAE_OK;
    dae_problem_free(*problem);
    *problem = NULL;
    return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for a model.");
}

static dae_status check_settings(const dae_model *m, dae_diag *diag)
{
    if (m->setting_count < 0 || (m->setting_count > 0 && !m->settings))
        return diag_set(diag, DAE_ERR_ARGUMENT, "setting_count = %d without settings.",
                        m->setting_count);
    if (m->assignment_count < 0 || (m->assignment_count > 0 && !m->assignments))
        return diag_set(diag, DAE_ERR_ARGUMENT, "assignment_count = %d without assignments.",
                        m->assignment_count);
    if ((int)m->engine < 0 || m->engine > DAE_ENGINE_SOON)
        return diag_set(diag, DAE_ERR_ARGUMENT, "engine = %d is not a dae_engine.", (int)m->engine);
    if (m->terminal_count < 0 || (m->terminal_count > 0 && !m->terminal))
        return diag_set(diag, DAE_ERR_ARGUMENT, "terminal_count = %d without conditions.",
                        m->terminal_count);
    for (int i = 0; i < m->setting_count; i++)
        if (!m->settings[i].name || !isfinite(m->settings[i].value))
            return diag_set(diag, DAE_ERR_ARGUMENT,
                            "Setting %s = %g: a name and a finite value "
                            "are needed.",
                            m->settings[i].name ? m->settings[i].name : "(no name)",
                            m->settings[i].value);
    for (int i = 0; i < m->assignment_count; i++)
        if (!m->assignments[i])
            return diag_set(diag, DAE_ERR_ARGUMENT, "Assignment %d is NULL.", i);
    if (!m->text && !m->file)
        return diag_set(diag, DAE_ERR_ARGUMENT, "A model needs a text or a file.");
    return model_inputs_check(m, diag);
}

/* Whether parameter p lies outside its min and max; *bound is the one it passed. */
static bool out_of_bounds(const model_form *f, size_t p, double *bound)
{
    const flat_parameter *q = &f->flat->parameters[p];
    double least = model_form_constant(f, q->min), most = model_form_constant(f, q->max);
    bool below = f->parameters[p]<least, above = f->parameters[p]> most;
    *bound = below ? least : most;
    return below || above;
}

static dae_status reject_bound(const model_form *f, size_t p, double bound, dae_diag *diag)
{
    const flat_parameter *q = &f->flat->parameters[p];
    double value = f->parameters[p];
    diag_variable(diag, (int)p, q->name);
    if (diag) diag->value = value, diag->line = q->place.line;
    return diag_set(diag, DAE_ERR_ARGUMENT, "Parameter %s = %.15g lies %s its %s = %.15g (%s:%d).",
                    q->name, value, value < bound ? "below" : "above",
                    value < bound ? "min" : "max", bound, f->flat->file ? f->flat->file : "line",
                    q->place.line);
}

/* Parameters outside of their min and max: an error where values were given from outside, else a
 * warning about the text. */
static dae_status check_bounds(const model_form *f, const dae_model *model, message_list *messages,
                               dae_diag *diag)
{
    bool given = model->setting_count + model->assignment_count > 0;
    double bound;
    for (size_t p = 0; p < f->flat->parameter_count; p++) {
        const flat_parameter *q = &f->flat->parameters[p];
        if ((q->min == EXPR_NONE && q->max == EXPR_NONE) || !out_of_bounds(f, p, &bound)) continue;
        if (given) return reject_bound(f, p, bound, diag);
        bool below = f->parameters[p] < bound;
        message_warning(messages, q->place, "parameter '%s' = %.15g lies %s its %s = %.15g",
                        q->name, f->parameters[p], below ? "below" : "above", below ? "min" : "max",
                        bound);
    }
    return DAE_OK;
}

/* Nodes of the graph that a model may have with its derivatives. Of all in models/ none has
 * more than 2.7 times its own nodes; two millions take 150 MB and a second or two. */
enum { NODES_FOR_DERIVATIVES = 2000000, DERIVATIVES_OF_NODE = 4 };

/* Take over a flat model in which every equation and every unknown has its place; one that is
 * structurally singular goes to *singular, if that is wanted. */
static dae_status form_of_flat(flat_model *flat, message_list *messages, model_form **form,
                               flat_model **singular, dae_diag *diag)
{
    signature contents = {0};
    dae_status status = flat_structure_check(flat, messages, &contents, diag);
    if (status == DAE_OK) {
        /* shared parts can have derivatives without end: n outputs of m steps take n*m nodes */
        size_t nodes = graph_size(flat->graph), most = graph_limit(flat->graph);
        size_t allowed = NODES_FOR_DERIVATIVES + DERIVATIVES_OF_NODE * nodes;
        graph_set_limit(flat->graph, allowed < most ? allowed : most);
        status = model_form_new(flat, &contents, form, diag);
        if (status == DAE_OK) graph_set_limit((*form)->flat->graph, most);
        return status;
    }
    if (singular && status == DAE_ERR_MODEL)
        *singular = flat;
    else
        flat_model_free(flat);
    return status;
}

static void mark_asked(flat_model *flat, const dae_model *m)
{
    for (int k = 0; m->unknowns && k < m->unknown_count; k++)
        for (size_t v = 0; m->unknowns[k] && v < flat->variable_count; v++)
            flat->variables[v].asked |= flat_name_means(m->unknowns[k], flat->variables[v].name);
}

/* The form of a tree with ways from simplified equations to actual ones, without what it asserts;
 * NULL: it has none of its own, or they lead nowhere else. */
static dae_status simplified_form(const dae_model *m, arena *a, ast_file *tree,
                                  message_list *messages, model_form **form)
{
    dae_diag own;
    dae_status status = DAE_OK;
    bool matters = false;
    diag_clear(&own);
    flat_model *flat = translate(m, a, tree, true, messages, &status, &own);
    if (flat) flat->assert_count = 0;
    if (flat) status = form_of_flat(flat, messages, form, NULL, &own);
    bool done = !*form || model_way_matters(*form, &matters);
    if (matters) done = model_listing_make(*form, tree);
    if (matters && done) return DAE_OK;
    model_form_free(*form);
    *form = NULL;
    return done ? status : DAE_ERR_MEMORY;
}

/* The problem of that; NULL: there is none. */
static dae_status simplified_of(const dae_model *m, arena *a, ast_file *tree, const char *text,
                                size_t length, dae_problem **simplified, dae_diag *diag)
{
    model_form *form = NULL;
    message_list *messages = message_list_new(m->file, text, length, 0);
    dae_status status = messages ? simplified_form(m, a, tree, messages, &form) : DAE_ERR_MEMORY;
    if (form) status = wrap_form(form, DAE_ENGINE_TAPE, simplified, NULL);
    message_list_free(messages);
    return status == DAE_ERR_MEMORY
               ? diag_set(diag, status, "Out of memory while translating the model.")
               : DAE_OK;
}

/* The form of a text, checked and listed, and the model beside it for its start. */
static dae_status form_of(const dae_model *m, const char *text, size_t length,
                          message_list *messages, model_form **form, dae_problem **simplified,
                          flat_model **singular, dae_diag *diag)
{
    arena *a = arena_new(0);
    ast_file *tree = a ? parse_file(a, text, length, messages) : NULL;
    dae_status status = tree ? DAE_OK : explain_messages(messages, diag);
    flat_model *flat = tree ? translate(m, a, tree, false, messages, &status, diag) : NULL;
    if (flat) mark_asked(flat, m);
    if (flat && m->shift_inputs && !flat_shift_inputs(flat)) {
        flat_model_free(flat);
        flat = NULL;
        status = diag_set(diag, DAE_ERR_MEMORY, "Out of memory while translating the model.");
    }
    if (flat) status = form_of_flat(flat, messages, form, singular, diag);
    if (status == DAE_OK) graph_make_room((*form)->flat->graph);
    if (status == DAE_OK && !model_listing_make(*form, tree))
        status = diag_set(diag, DAE_ERR_MEMORY, "Out of memory while translating the model.");
    if (status == DAE_OK) status = check_bounds(*form, m, messages, diag);
    if (status == DAE_OK && (*form)->flat->homotopies > 0)
        status = simplified_of(m, a, tree, text, length, simplified, diag);
    if (status != DAE_OK) {
        model_form_free(*form);
        *form = NULL;
    }
    arena_free(a);
    return status;
}

dae_status dae_problem_from_model_sized(const dae_model *model, size_t size, dae_problem **problem,
                                        dae_diag *diag)
{
    return model_problem(model, size, problem, NULL, diag);
}

/* The problem of a model whose description is complete. */
static dae_status translate_model(const dae_model *m, dae_problem **problem, flat_model **singular,
                                  dae_diag *diag)
{
    dae_status status = DAE_OK;
    char *owned = NULL;
    const char *text = m->text;
    size_t length = m->text ? (m->length > 0 ? m->length : strlen(m->text)) : 0;
    if (!text) {
        status = read_file(m->file, &owned, &length, diag);
        text = owned;
    }
    message_list *messages = status == DAE_OK ? message_list_new(m->file, text, length, 0) : NULL;
    if (status == DAE_OK && !messages)
        status = diag_set(diag, DAE_ERR_MEMORY, "Out of memory while translating the model.");
    model_form *form = NULL;
    dae_problem *simplified = NULL;
    if (status == DAE_OK) {
        status = form_of(m, text, length, messages, &form, &simplified, singular, diag);
        if (!interrupted()) pass_messages(m, messages);
    }
    if (status == DAE_OK) status = wrap_form(form, m->engine, problem, diag);
    if (status == DAE_OK && !problem_keep_source(*problem, m, text, length)) {
        dae_problem_free(*problem);
        *problem = NULL;
        status = diag_set(diag, DAE_ERR_MEMORY, "Out of memory for a copy of the model.");
    }
    if (status == DAE_OK)
        (*problem)->simplified = simplified;
    else
        dae_problem_free(simplified);
    message_list_free(messages);
    dae_free(owned);
    return status;
}

dae_status model_problem(const dae_model *model, size_t size, dae_problem **problem,
                         flat_model **singular, dae_diag *diag)
{
    diag_clear(diag);
    if (!problem) return diag_set(diag, DAE_ERR_ARGUMENT, "problem is NULL.");
    *problem = NULL;
    dae_model m = {0};
    dae_status status = sized_read(model, size, &m, sizeof m, "model description", diag);
    if (status == DAE_OK) status = check_settings(&m, diag);
    if (status != DAE_OK) return status;
    interrupt_scope scope;
    interrupt_open(&scope, m.interrupt, m.user);
    status = translate_model(&m, problem, singular, diag);
    if (interrupt_close(&scope)) {
        dae_problem_free(*problem);
        *problem = NULL;
        if (singular && *singular) flat_model_free(*singular), *singular = NULL;
        return interrupt_explain(diag, "the translation of the model");
    }
    if (status == DAE_OK) {
        (*problem)->interrupt = m.interrupt;
        (*problem)->interrupt_user = m.user;
    }
    return status;
}

dae_status dae_problem_from_file(const char *path, dae_problem **problem, dae_diag *diag)
{
    return dae_problem_from_model(&(dae_model){.file = path}, problem, diag);
}

dae_status dae_table_from_file_sized(const char *path, dae_table *table, size_t size,
                                     dae_diag *diag)
{
    char *text = NULL;
    size_t length = 0;
    diag_clear(diag);
    if (!path || !table)
        return diag_set(diag, DAE_ERR_ARGUMENT, "dae_table_from_file: path or table is NULL.");
    dae_status status = read_file(path, &text, &length, diag);
    if (status == DAE_OK) status = dae_table_from_text_sized(text, table, size, diag);
    dae_free(text);
    return status;
}

/* ---- variables and parameters ---- */

int dae_problem_variable_count(const dae_problem *p)
{
    if (!p) return 0;
    return p->model ? p->model->visible_count : p->form.n;
}

static const flat_variable *variable_at(const dae_problem *p, int i)
{
    bool there = p && p->model && i >= 0 && i < p->model->visible_count;
    return there ? &p->model->flat->variables[p->model->visible[i]] : NULL;
}

const char *dae_problem_variable(const dae_problem *p, int i)
{
    const flat_variable *v = variable_at(p, i);
    return v ? v->name : dae_problem_unknown_name(p, i);
}

const char *dae_problem_unit(const dae_problem *p, int i)
{
    const flat_variable *v = variable_at(p, i);
    return v && v->words->unit ? v->words->unit : "";
}

double dae_unit_converted(double value, const char *from, const char *to)
{
    return from && to ? unit_converted(value, from, to) : NAN;
}

const char *dae_problem_description(const dae_problem *p, int i)
{
    const flat_variable *v = variable_at(p, i);
    return v && v->words->comment ? v->words->comment : "";
}

int dae_problem_find_variable(const dae_problem *p, const char *name)
{
    int count = name ? dae_problem_variable_count(p) : 0;
    for (int i = 0; i < count; i++)
        if (strcmp(dae_problem_variable(p, i), name) == 0) return i;
    for (int i = 0; i < count; i++)
        if (same_but_quotes(dae_problem_variable(p, i), name)) return i;
    return -1;
}

int dae_problem_parameter_count(const dae_problem *p)
{
    return p && p->model ? (int)p->model->flat->parameter_count : 0;
}

static const flat_parameter *parameter_at(const dae_problem *p, int i)
{
    return i >= 0 && i < dae_problem_parameter_count(p) ? &p->model->flat->parameters[i] : NULL;
}

const char *dae_problem_parameter(const dae_problem *p, int i)
{
    const flat_parameter *q = parameter_at(p, i);
    return q ? q->name : NULL;
}

const char *dae_problem_parameter_unit(const dae_problem *p, int i)
{
    const flat_parameter *q = parameter_at(p, i);
    return q && q->unit ? q->unit : "";
}

double dae_problem_parameter_value(const dae_problem *p, int i)
{
    return parameter_at(p, i) ? p->model->parameters[i] : NAN;
}

/* "There is no .. name; did you mean ..?" */
static dae_status reject_name(const char *what, const char *name, const char *const *names,
                              size_t count, dae_diag *diag)
{
    const char *near = nearest_name(name, names, count);
    diag_set(diag, DAE_ERR_ARGUMENT, "The model has no %s %s.", what, name);
    if (near) diag_append(diag, " Did you mean %s?", near);
    return DAE_ERR_ARGUMENT;
}

static dae_status reject_parameter_name(const model_form *f, const char *name, dae_diag *diag)
{
    size_t count = f->flat->parameter_count;
    const char **names = DAE_ARRAY(const char *, count);
    for (size_t i = 0; names && i < count; i++) names[i] = f->flat->parameters[i].name;
    dae_status status = reject_name("parameter", name, names, names ? count : 0, diag);
    dae_free(names);
    return status;
}

static dae_status reject_variable_name(const model_form *f, const char *name, dae_diag *diag)
{
    size_t count = (size_t)f->visible_count;
    const char **names = DAE_ARRAY(const char *, count);
    for (size_t i = 0; names && i < count; i++) names[i] = f->flat->variables[f->visible[i]].name;
    dae_status status = reject_name("variable", name, names, names ? count : 0, diag);
    dae_free(names);
    return status;
}

static dae_status need_model(const dae_problem *p, const char *name, double value, dae_diag *diag)
{
    diag_clear(diag);
    if (!p || !p->model || !name)
        return diag_set(diag, DAE_ERR_ARGUMENT, "A problem from a model and a name are needed.");
    if (isfinite(value)) return DAE_OK;
    return diag_set(diag, DAE_ERR_ARGUMENT, "%s = %g is not a finite number.", name, value);
}

/* The first parameter that is not as in `before`, or is number i, and is out of its bounds. */
static dae_status check_changes(const model_form *f, size_t i, const double *before, dae_diag *diag)
{
    double bound;
    for (size_t p = 0; p < f->flat->parameter_count; p++) {
        bool changed = p == i || before[p] != f->parameters[p];
        if (changed && out_of_bounds(f, p, &bound)) return reject_bound(f, p, bound, diag);
    }
    return DAE_OK;
}

/* Parameter i := value, and all that depend on it; nothing changes if one of them cannot be. */
static dae_status change_parameter(model_form *f, size_t i, double value, dae_diag *diag)
{
    double *before = dae_copy(f->parameters, f->flat->parameter_count, sizeof *before);
    bool was_set = f->parameter_set[i];
    if (!before) return diag_set(diag, DAE_ERR_MEMORY, "Out of memory while setting a parameter.");
    f->parameters[i] = value;
    f->parameter_set[i] = true;
    f->revision++;
    dae_status status = model_form_evaluate_parameters(f, diag);
    if (status == DAE_OK) status = check_changes(f, i, before, diag);
    if (status != DAE_OK) {
        f->parameter_set[i] = was_set;
        memcpy(f->parameters, before, f->flat->parameter_count * sizeof *before);
    }
    dae_free(before);
    return status;
}

/* Number of the parameter of a name; -1 */
static int find_parameter(const model_form *f, const char *name)
{
    int count = (int)f->flat->parameter_count;
    for (int i = 0; i < count; i++)
        if (strcmp(f->flat->parameters[i].name, name) == 0) return i;
    for (int i = 0; i < count; i++)
        if (same_but_quotes(f->flat->parameters[i].name, name)) return i;
    return -1;
}

static dae_status reject_locked(const flat_parameter *q, dae_diag *diag)
{
    if (q->constant || q->final_ || q->type == FLAT_STRING)
        return diag_set(diag, DAE_ERR_ARGUMENT, "%s is %s and cannot be set.", q->name,
                        q->type == FLAT_STRING ? "a String"
                        : q->constant          ? "a constant"
                                               : "final");
    return diag_set(diag, DAE_ERR_ARGUMENT,
                    "%s decides the structure of the model: set it "
                    "before the translation (dae_model.settings).",
                    q->name);
}

dae_status dae_problem_set_parameter(dae_problem *p, const char *name, double value, dae_diag *diag)
{
    dae_status status = need_model(p, name, value, diag);
    if (status != DAE_OK) return status;
    model_form *f = p->model;
    int i = find_parameter(f, name);
    if (i < 0 && dae_problem_find_variable(p, name) >= 0)
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "%s is a variable, not a parameter: set its start value.", name);
    if (i < 0) return reject_parameter_name(f, name, diag);
    const flat_parameter *q = &f->flat->parameters[i];
    if (q->constant || q->final_ || q->type == FLAT_STRING || q->structural)
        return reject_locked(q, diag);
    status = model_value_check(q->name, q->type, f->listing->parameter[i], value, diag);
    return status == DAE_OK ? change_parameter(f, (size_t)i, value, diag) : status;
}

dae_status dae_problem_set_start(dae_problem *p, const char *name, double value, dae_diag *diag)
{
    dae_status status = need_model(p, name, value, diag);
    if (status != DAE_OK) return status;
    model_form *f = p->model;
    int i = dae_problem_find_variable(p, name);
    if (i < 0 && find_parameter(f, name) >= 0)
        return diag_set(diag, DAE_ERR_ARGUMENT, "%s is a parameter, not a variable: set its value.",
                        name);
    if (i < 0) return reject_variable_name(f, name, diag);
    int v = f->visible[i];
    const flat_variable *q = &f->flat->variables[v];
    status = model_value_check(q->name, q->type, f->listing->variable[v], value, diag);
    if (status != DAE_OK) return status;
    f->start[v] = value;
    f->revision++;
    return DAE_OK;
}

static dae_status set_one_start(void *context, const char *name, double value, dae_diag *diag)
{
    return dae_problem_set_start(context, name, value, diag);
}

static const value_literals *start_literals(void *context, const char *name)
{
    const dae_problem *p = context;
    int i = dae_problem_find_variable(p, name);
    return i >= 0 ? p->model->listing->variable[p->model->visible[i]] : NULL;
}

dae_status dae_problem_assign_start(dae_problem *p, const char *assignment, dae_diag *diag)
{
    dae_status status = need_model(p, assignment, 0.0, diag);
    if (status != DAE_OK) return status;
    return model_values_spread(assignment, start_literals, set_one_start, p, diag);
}

static dae_experiment experiment_of(const dae_problem *p)
{
    dae_experiment e = {NAN, NAN, NAN, NAN};
    if (!p || !p->model) return e;
    const flat_experiment *q = &p->model->flat->experiment;
    if (q->has_start) e.start = q->start;
    if (q->has_stop) e.stop = q->stop;
    if (q->has_tolerance) e.tolerance = q->tolerance;
    if (q->has_interval) e.interval = q->interval;
    return e;
}

void dae_problem_experiment_fill(const dae_problem *p, dae_experiment *experiment, size_t size)
{
    const dae_experiment full = experiment_of(p);
    sized_write(experiment, size, &full, sizeof full);
}

const char *dae_problem_name(const dae_problem *p)
{
    return p && p->model ? p->model->flat->name : "";
}

/* ---- what is known beforehand ---- */

/* The first visible variable with the same root as visible variable i, -1 if that is a constant. */
static int alias_of(const model_form *f, int i, int *sign)
{
    int v = f->visible[i], top = f->alias[v].top;
    *sign = 1;
    if (f->alias[top].value != EXPR_NONE && !f->alias[top].evaluated) return -1;
    int first = f->listing->first_visible[top];
    *sign = f->alias[v].top_sign * f->alias[f->visible[first]].top_sign;
    return first;
}

static dae_variable_info variable_info(const dae_problem *p, int i)
{
    dae_variable_info info = {
        .alias = i, .alias_sign = 1, .min = -(double)INFINITY, .max = (double)INFINITY};
    const flat_variable *v = variable_at(p, i);
    if (!v) return info;
    const model_form *f = p->model;
    const value_literals *literals = f->listing->variable[f->visible[i]];
    int unknown = f->first_unknown[f->alias[f->visible[i]].top];
    info.type = (dae_type)v->type;
    info.discrete = v->discrete;
    info.state = !v->discrete && unknown >= 0 && f->differential[unknown];
    info.input = v->input;
    info.output = v->output;
    info.is_protected = v->protected_;
    if (!v->discrete) info.alias = alias_of(f, i, &info.alias_sign);
    if (v->min != EXPR_NONE) info.min = model_form_constant(f, v->min);
    if (v->max != EXPR_NONE) info.max = model_form_constant(f, v->max);
    if (literals) info.literals = literals->names, info.literal_count = literals->count;
    return info;
}

void dae_problem_variable_info_fill(const dae_problem *p, int i, dae_variable_info *info,
                                    size_t size)
{
    const dae_variable_info full = variable_info(p, i);
    sized_write(info, size, &full, sizeof full);
}

static dae_parameter_info parameter_info(const dae_problem *p, int i)
{
    dae_parameter_info info = {
        .min = -(double)INFINITY, .max = (double)INFINITY, .description = ""};
    const flat_parameter *q = parameter_at(p, i);
    if (!q) return info;
    const value_literals *literals = p->model->listing->parameter[i];
    info.type = (dae_type)q->type;
    info.settable = !q->constant && !q->final_;
    info.structural = q->structural;
    if (q->min != EXPR_NONE) info.min = model_form_constant(p->model, q->min);
    if (q->max != EXPR_NONE) info.max = model_form_constant(p->model, q->max);
    if (q->type == FLAT_STRING) info.text = q->text ? q->text : "";
    if (q->comment) info.description = q->comment;
    if (literals) info.literals = literals->names, info.literal_count = literals->count;
    return info;
}

void dae_problem_parameter_info_fill(const dae_problem *p, int i, dae_parameter_info *info,
                                     size_t size)
{
    const dae_parameter_info full = parameter_info(p, i);
    sized_write(info, size, &full, sizeof full);
}

/* Variables that are no unknowns of their own, and discrete ones. */
static void count_variables(const model_form *f, dae_counts *c)
{
    for (int i = 0; i < f->visible_count; i++) {
        int v = f->visible[i];
        bool discrete = f->flat->variables[v].discrete;
        c->discrete += discrete;
        bool output = f->alias[v].top == v && f->alias[v].evaluated;
        c->eliminated += !discrete && !output && f->first_unknown[v] < 0;
    }
    c->outputs = f->evaluated_count - f->definition_count;
    c->definitions = f->definition_count;
    c->idle = f->resting;
    for (int i = 0; i < f->n && !f->resting; i++) c->states += f->differential[i];
}

/* How many delays there are, and the longest. */
static void count_delays(const model_form *f, dae_counts *c)
{
    c->delays = (int)f->flat->delay_count;
    c->longest_delay = c->delays > 0 ? 0.0 : NAN;
    for (int k = 0; k < c->delays; k++) {
        double most = model_form_constant(f, f->flat->delays[k].most);
        if (!(most <= c->longest_delay)) c->longest_delay = most;
    }
}

static dae_counts counts_of(const dae_problem *p)
{
    dae_counts c = {.equations = dae_problem_size(p),
                    .variables = dae_problem_variable_count(p),
                    .parameters = dae_problem_parameter_count(p),
                    .longest_delay = NAN};
    if (p && p->form.colptr) c.nonzeros = p->form.colptr[p->form.n];
    if (!p || !p->model) return c;
    count_variables(p->model, &c);
    c.relations = (int)p->model->flat->relation_count;
    c.samples = (int)p->model->flat->sample_count;
    c.whens = (int)p->model->flat->when_count;
    count_delays(p->model, &c);
    return c;
}

void dae_problem_counts_fill(const dae_problem *p, dae_counts *counts, size_t size)
{
    const dae_counts full = counts_of(p);
    sized_write(counts, size, &full, sizeof full);
}

int dae_problem_derivative_count(const dae_problem *p)
{
    return p && p->model ? p->model->listing->derivative_count : 0;
}

static const model_derivative *derivative_at(const dae_problem *p, int k)
{
    bool there = k >= 0 && k < dae_problem_derivative_count(p);
    return there ? &p->model->listing->derivatives[k] : NULL;
}

const char *dae_problem_derivative(const dae_problem *p, int k)
{
    const model_derivative *d = derivative_at(p, k);
    return d ? d->name : NULL;
}

const char *dae_problem_derivative_unit(const dae_problem *p, int k)
{
    const model_derivative *d = derivative_at(p, k);
    return d ? d->unit : "";
}

int dae_problem_derivative_of(const dae_problem *p, int k)
{
    const model_derivative *d = derivative_at(p, k);
    return d ? d->variable : -1;
}
