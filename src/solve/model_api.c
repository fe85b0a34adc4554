/* Problems from model texts: translate, list and set parameters, read variables by name. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"
#include "modelica/flatten.h"
#include "modelica/parser.h"
#include "solve/solver.h"

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
    char *block = dae_calloc(capacity + 1, 1);
    while (block) {
        used += fread(block + used, 1, capacity - used, file);
        if (used < capacity || capacity >= LARGEST_FILE) break;
        char *larger = dae_calloc(2 * capacity + 1, 1);
        if (larger) memcpy(larger, block, used);
        dae_free(block);
        block = larger;
        capacity *= 2;
    }
    bool failed = ferror(file) != 0, large = block && used >= LARGEST_FILE;
    fclose(file);
    if (block && !failed && !large) {
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

static flat_model *translate(const dae_model *model, const char *text, size_t length,
                             message_list *messages)
{
    arena *a = arena_new(0);
    ast_file *tree = a ? parse_file(a, text, length, messages) : NULL;
    flatten_setting *settings = DAE_ARRAY(flatten_setting, model->n_settings);
    flat_model *flat = NULL;
    if (tree && settings) {
        for (int i = 0; i < model->n_settings; i++)
            settings[i] = (flatten_setting){model->settings[i].name, model->settings[i].value};
        flat = flatten(tree, model->file, settings, (size_t)model->n_settings, messages);
    }
    dae_free(settings);
    arena_free(a);
    return flat;
}

/* A problem around a form; the form is owned by it, or freed. */
static dae_status wrap_form(model_form *form, dae_engine engine, dae_problem **problem,
                            dae_diag *diag)
{
    dae_residual r;
    model_form_describe(form, &r);
    dae_status status = dae_problem_from_residual(&r, problem, diag);
    if (status != DAE_OK) {
        model_form_free(form);
        return status;
    }
    (*problem)->model = form;
    (*problem)->engine = engine;
    return DAE_OK;
}

static dae_status check_settings(const dae_model *m, dae_diag *diag)
{
    if (m->n_settings < 0 || (m->n_settings > 0 && !m->settings))
        return diag_set(diag, DAE_ERR_ARGUMENT, "n_settings = %d without settings.", m->n_settings);
    if ((int)m->engine < 0 || m->engine > DAE_ENGINE_NATIVE)
        return diag_set(diag, DAE_ERR_ARGUMENT, "engine = %d is not a dae_engine.", (int)m->engine);
    for (int i = 0; i < m->n_settings; i++)
        if (!m->settings[i].name || !isfinite(m->settings[i].value))
            return diag_set(diag, DAE_ERR_ARGUMENT,
                            "Setting %s = %g: a name and a finite value "
                            "are needed.",
                            m->settings[i].name ? m->settings[i].name : "(no name)",
                            m->settings[i].value);
    if (!m->text && !m->file)
        return diag_set(diag, DAE_ERR_ARGUMENT, "A model needs a text or a file.");
    return DAE_OK;
}

dae_status dae_problem_from_model_sized(const dae_model *model, size_t size, dae_problem **problem,
                                        dae_diag *diag)
{
    diag_clear(diag);
    if (!problem) return diag_set(diag, DAE_ERR_ARGUMENT, "problem is NULL.");
    *problem = NULL;
    if (!model || size == 0 || size > sizeof *model)
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "The model description is missing, or of a newer "
                        "header.");
    dae_model m = {0};
    memcpy(&m, model, size);
    dae_status status = check_settings(&m, diag);
    if (status != DAE_OK) return status;
    char *owned = NULL;
    const char *text = m.text;
    size_t length = m.text ? (m.length > 0 ? m.length : strlen(m.text)) : 0;
    if (!text) {
        status = read_file(m.file, &owned, &length, diag);
        text = owned;
    }
    message_list *messages = status == DAE_OK ? message_list_new(m.file, text, length, 0) : NULL;
    if (status == DAE_OK && !messages)
        status = diag_set(diag, DAE_ERR_MEMORY, "Out of memory while translating the model.");
    model_form *form = NULL;
    if (status == DAE_OK) {
        flat_model *flat = translate(&m, text, length, messages);
        pass_messages(&m, messages);
        status = flat ? model_form_new(flat, &form, diag) : explain_messages(messages, diag);
    }
    if (status == DAE_OK) status = wrap_form(form, m.engine, problem, diag);
    message_list_free(messages);
    dae_free(owned);
    return status;
}

dae_status dae_problem_from_file(const char *path, dae_problem **problem, dae_diag *diag)
{
    return dae_problem_from_model(&(dae_model){.file = path}, problem, diag);
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
    return v ? v->name : dae_problem_variable_name(p, i);
}

const char *dae_problem_unit(const dae_problem *p, int i)
{
    const flat_variable *v = variable_at(p, i);
    return v && v->unit ? v->unit : "";
}

const char *dae_problem_description(const dae_problem *p, int i)
{
    const flat_variable *v = variable_at(p, i);
    return v && v->comment ? v->comment : "";
}

int dae_problem_find_variable(const dae_problem *p, const char *name)
{
    int count = name ? dae_problem_variable_count(p) : 0;
    for (int i = 0; i < count; i++)
        if (strcmp(dae_problem_variable(p, i), name) == 0) return i;
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

/* Parameter i := value, and all that depend on it; nothing changes if one of them cannot be. */
static dae_status change_parameter(model_form *f, size_t i, double value, dae_diag *diag)
{
    double before = f->parameters[i];
    bool was_set = f->parameter_set[i];
    f->parameters[i] = value;
    f->parameter_set[i] = true;
    dae_status status = model_form_evaluate_parameters(f, diag);
    if (status == DAE_OK) return DAE_OK;
    f->parameters[i] = before;
    f->parameter_set[i] = was_set;
    model_form_evaluate_parameters(f, NULL);
    return status;
}

dae_status dae_problem_set_parameter(dae_problem *p, const char *name, double value, dae_diag *diag)
{
    dae_status status = need_model(p, name, value, diag);
    if (status != DAE_OK) return status;
    model_form *f = p->model;
    for (size_t i = 0; i < f->flat->parameter_count; i++) {
        const flat_parameter *q = &f->flat->parameters[i];
        if (strcmp(q->name, name) != 0) continue;
        if (q->constant || q->final_ || q->type == FLAT_STRING)
            return diag_set(diag, DAE_ERR_ARGUMENT, "%s is %s and cannot be set.", name,
                            q->type == FLAT_STRING ? "a String"
                            : q->constant          ? "a constant"
                                                   : "final");
        if (q->structural)
            return diag_set(diag, DAE_ERR_ARGUMENT,
                            "%s decides the structure of the model: set it "
                            "before the translation (dae_model.settings).",
                            name);
        return change_parameter(f, i, value, diag);
    }
    return reject_parameter_name(f, name, diag);
}

dae_status dae_problem_set_start(dae_problem *p, const char *name, double value, dae_diag *diag)
{
    dae_status status = need_model(p, name, value, diag);
    if (status != DAE_OK) return status;
    int i = dae_problem_find_variable(p, name);
    if (i < 0) return reject_variable_name(p->model, name, diag);
    p->model->start[p->model->visible[i]] = value;
    return DAE_OK;
}

dae_experiment dae_problem_experiment(const dae_problem *p)
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

const char *dae_problem_name(const dae_problem *p)
{
    return p && p->model ? p->model->flat->name : "";
}

char *dae_problem_emit(const dae_problem *p)
{
    if (!p || !p->model) return NULL;
    emit_text text = {0};
    model_form_emit(p->model, &text);
    char *copy = text.failed ? NULL : dae_strdup(text.text ? text.text : "");
    emit_free(&text);
    return copy;
}

void dae_text_free(char *text)
{
    dae_free(text);
}

/* ---- variables and end of a run ---- */

dae_status dae_solver_variables(dae_solver *s, double t, double *values)
{
    if (!s || !values) return DAE_ERR_ARGUMENT;
    if (!s->hybrid) return dae_solver_at(s, t, 0, values);
    dae_status status = dae_solver_at(s, t, 0, s->at_y);
    if (status == DAE_OK) status = dae_solver_at(s, t, 1, s->at_yp);
    if (status == DAE_OK) model_instance_outputs(s->hybrid->instance, t, s->at_y, s->at_yp, values);
    return status;
}

dae_status dae_solver_finish(dae_solver *s)
{
    if (!s) return DAE_ERR_ARGUMENT;
    if (s->diag.status != DAE_OK) diag_clear(&s->diag);
    if (s->phase == PHASE_NEW)
        return diag_set(&s->diag, DAE_ERR_STATE, "dae_solver_finish was called before a start.");
    if (!s->hybrid || s->phase == PHASE_ENDED) return DAE_OK;
    dae_status status = s->hybrid->pending ? hybrid_update(s) : DAE_OK;
    return status == DAE_OK && s->phase != PHASE_ENDED ? hybrid_finish(s) : status;
}
