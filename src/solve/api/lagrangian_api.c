/* Problems from energies: a model text is written around the expressions, one field to a line, so
 * that the line of an error tells its field. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/sized.h"
#include "expr/emit.h"

/* Where the text of a field begins. */
typedef struct field_line {
    int line, index; /* index: -1 of a field that is no list */
    const char *field;
} field_line;

typedef struct writer {
    emit_text text;
    int line; /* number of the last line, from 1 */
    field_line *fields;
    size_t count, capacity;
    bool failed;
} writer;

/* ---- the text ---- */

static void put_line(writer *w, const char *text)
{
    emit_put(&w->text, text);
    emit_put(&w->text, "\n");
    w->line++;
}

/* A text of the caller, on lines of its own: a comment // in it ends where the caller ends it. */
static void put_field(writer *w, const char *field, int index, const char *text)
{
    if (!dae_grow(&w->fields, &w->capacity, w->count + 1, sizeof *w->fields)) {
        w->failed = true;
        return;
    }
    w->fields[w->count++] = (field_line){w->line, index, field};
    for (char before = '\0'; *text; before = *text++) {
        bool line_end = *text == '\n' || *text == '\r';
        if (!line_end) emit_append(&w->text, "%c", *text);
        if (line_end && !(before == '\r' && *text == '\n')) put_line(w, "");
    }
    put_line(w, "");
}

/* The same in brackets: one expression, and nothing else behind a comma. */
static void put_expression(writer *w, const char *field, int index, const char *text)
{
    emit_put(&w->text, "(");
    put_field(w, field, index, text);
    emit_put(&w->text, ")");
}

static void put_number(writer *w, const char *before, double x, const char *after)
{
    char text[32];
    emit_number(x, text);
    emit_append(&w->text, "%s%s", before, text);
    put_line(w, after);
}

static double start_of(const dae_lagrangian *d, const char *name)
{
    for (int k = 0; k < d->start_count; k++)
        if (strcmp(d->starts[k].name, name) == 0) return d->starts[k].value;
    return 0.0;
}

static bool listed(const char *name, int count, const char *const *names)
{
    for (int k = 0; k < count; k++)
        if (strcmp(name, names[k]) == 0) return true;
    return false;
}

/* Real name(start = ..); */
static void put_variable(writer *w, const dae_lagrangian *d, const char *field, int index,
                         const char *name)
{
    emit_put(&w->text, "Real ");
    put_field(w, field, index, name);
    bool fixed = listed(name, d->fixed_count, d->fixed);
    put_number(w, "(start = ", start_of(d, name), fixed ? ", fixed = true);" : ");");
}

/* , field = text */
static void put_scalar(writer *w, const char *field, const char *text)
{
    if (!text) return;
    emit_append(&w->text, ", %s = ", field);
    put_expression(w, field, -1, text);
}

/* , field = {text, ..} */
static void put_list(writer *w, const char *field, int count, const char *const *texts)
{
    if (!texts || count == 0) return;
    emit_append(&w->text, ", %s = {", field);
    for (int k = 0; k < count; k++) {
        if (k > 0) emit_put(&w->text, ", ");
        put_expression(w, field, k, texts[k]);
    }
    put_line(w, "}");
}

static void put_declarations(writer *w, const dae_lagrangian *d)
{
    put_line(w, "model Lagrangian");
    for (int k = 0; k < d->parameter_count; k++) {
        emit_put(&w->text, "parameter Real ");
        put_field(w, "parameters", k, d->parameters[k].name);
        put_number(w, " = ", d->parameters[k].value, ";");
    }
    for (int k = 0; k < d->n; k++) put_variable(w, d, "coordinates", k, d->coordinates[k]);
    for (int k = 0; k < d->n; k++) put_variable(w, d, "velocities", k, d->velocities[k]);
    for (int k = 0; k < d->constraint_count; k++)
        put_variable(w, d, "multipliers", k, d->multipliers[k]);
    for (int k = 0; k < d->massless_count; k++) put_variable(w, d, "massless", k, d->massless[k]);
    for (int k = 0; k < d->variable_count; k++) put_variable(w, d, "variables", k, d->variables[k]);
}

static void put_equations(writer *w, const dae_lagrangian *d)
{
    put_line(w, "equation");
    for (int k = 0; k < d->n; k++) {
        emit_append(&w->text, "der(%s) = %s;", d->coordinates[k], d->velocities[k]);
        put_line(w, "");
    }
    for (int k = 0; k < d->equation_count; k++) {
        put_field(w, "equations", k, d->equations[k]);
        put_line(w, ";");
    }
}

/* , forces = {..}: those of coordinates without mass are 0. */
static void put_forces(writer *w, const dae_lagrangian *d)
{
    if (!d->forces) return;
    emit_put(&w->text, ", forces = {");
    for (int k = 0; k < d->n; k++) {
        if (k > 0) emit_put(&w->text, ", ");
        put_expression(w, "forces", k, d->forces[k] ? d->forces[k] : "0");
    }
    for (int k = 0; k < d->massless_count; k++) emit_put(&w->text, ", 0");
    put_line(w, "}");
}

static void put_model(writer *w, const dae_lagrangian *d)
{
    put_declarations(w, d);
    put_equations(w, d);
    emit_put(&w->text, "annotation(__Daedal(coordinates = {");
    for (int k = 0; k < d->n; k++) {
        if (k > 0) emit_put(&w->text, ", ");
        put_field(w, "coordinates", k, d->coordinates[k]);
    }
    put_line(w, "}");
    put_scalar(w, "lagrangian", d->lagrangian);
    put_scalar(w, "kinetic", d->kinetic);
    put_scalar(w, "potential", d->potential);
    put_scalar(w, "dissipation", d->dissipation);
    put_list(w, "massless", d->massless_count, d->massless);
    put_forces(w, d);
    put_list(w, "constraints", d->constraint_count, d->constraints);
    put_list(w, "multipliers", d->constraint_count, d->multipliers);
    put_line(w, "));");
    put_line(w, "end Lagrangian;");
}

/* ---- checks ---- */

static dae_status reject(dae_diag *diag, const char *field, int index, const char *why)
{
    if (index >= 0) return diag_set(diag, DAE_ERR_ARGUMENT, "%s[%d]: %s.", field, index, why);
    return diag_set(diag, DAE_ERR_ARGUMENT, "%s: %s.", field, why);
}

/* A name of the language: letters, digits and underscores. */
static bool is_name(const char *text)
{
    if (!text || !(isalpha((unsigned char)*text) || *text == '_')) return false;
    while (isalnum((unsigned char)*text) || *text == '_') text++;
    return *text == '\0';
}

static dae_status check_names(const char *field, int count, const char *const *names,
                              dae_diag *diag)
{
    for (int k = 0; k < count; k++)
        if (!is_name(names[k]))
            return diag_set(diag, DAE_ERR_ARGUMENT,
                            "%s[%d]: %s is no name: letters, digits and _ make one.", field, k,
                            names[k] ? names[k] : "NULL");
    return DAE_OK;
}

static dae_status check_settings(const char *field, int count, const dae_setting *all,
                                 dae_diag *diag)
{
    if (count < 0 || (count > 0 && !all))
        return diag_set(diag, DAE_ERR_ARGUMENT, "%s: %d of them are announced, but not given.",
                        field, count);
    for (int k = 0; k < count; k++) {
        dae_status status = check_names(field, 1, &all[k].name, diag);
        if (status != DAE_OK) return reject(diag, field, k, "its name is none");
        if (!isfinite(all[k].value)) return reject(diag, field, k, "its value is not finite");
    }
    return DAE_OK;
}

/* Whether a name is that of a variable; "field[k]: .." if not. */
static dae_status check_variable(const dae_lagrangian *d, const char *field, int k,
                                 const char *name, dae_diag *diag)
{
    if (listed(name, d->n, d->coordinates) || listed(name, d->n, d->velocities) ||
        listed(name, d->constraint_count, d->multipliers) ||
        listed(name, d->massless_count, d->massless) ||
        listed(name, d->variable_count, d->variables))
        return DAE_OK;
    return diag_set(diag, DAE_ERR_ARGUMENT, "%s[%d]: %s is none of the variables.", field, k, name);
}

static dae_status check_once(const dae_lagrangian *d, int k, dae_diag *diag)
{
    const char *name = d->starts[k].name;
    for (int j = 0; j < k; j++)
        if (strcmp(d->starts[j].name, name) == 0)
            return diag_set(diag, DAE_ERR_ARGUMENT, "starts[%d]: %s has a start value already.", k,
                            name);
    return DAE_OK;
}

static dae_status check_starts(const dae_lagrangian *d, dae_diag *diag)
{
    dae_status status = DAE_OK;
    for (int k = 0; k < d->start_count && status == DAE_OK; k++) {
        status = check_variable(d, "starts", k, d->starts[k].name, diag);
        if (status == DAE_OK) status = check_once(d, k, diag);
    }
    for (int k = 0; k < d->fixed_count && status == DAE_OK; k++)
        status = check_variable(d, "fixed", k, d->fixed[k], diag);
    return status;
}

/* Brackets of one expression must not reach into the next. */
static dae_status check_brackets(const char *field, int index, const char *text, dae_diag *diag)
{
    static const char pairs[2][4] = {"([{", ")]}"};
    char open[64];
    size_t depth = 0;
    for (; text && *text; text++) {
        const char *opens = strchr(pairs[0], *text), *close = strchr(pairs[1], *text);
        if (opens && depth == sizeof open) return reject(diag, field, index, "too many brackets");
        if (opens) open[depth++] = pairs[1][opens - pairs[0]];
        if (close && (depth == 0 || open[--depth] != *text))
            return reject(diag, field, index, "a bracket closes that is not open");
    }
    return depth ? reject(diag, field, index, "a bracket is not closed") : DAE_OK;
}

static dae_status check_list_brackets(const char *field, int count, const char *const *texts,
                                      dae_diag *diag)
{
    dae_status status = DAE_OK;
    for (int k = 0; texts && k < count && status == DAE_OK; k++)
        status = check_brackets(field, k, texts[k], diag);
    return status;
}

static dae_status check_expressions(const dae_lagrangian *d, dae_diag *diag)
{
    dae_status status = check_brackets("lagrangian", -1, d->lagrangian, diag);
    if (status == DAE_OK) status = check_brackets("kinetic", -1, d->kinetic, diag);
    if (status == DAE_OK) status = check_brackets("potential", -1, d->potential, diag);
    if (status == DAE_OK) status = check_brackets("dissipation", -1, d->dissipation, diag);
    if (status == DAE_OK) status = check_list_brackets("forces", d->n, d->forces, diag);
    if (status != DAE_OK) return status;
    status = check_list_brackets("constraints", d->constraint_count, d->constraints, diag);
    if (status != DAE_OK) return status;
    return check_list_brackets("equations", d->equation_count, d->equations, diag);
}

static dae_status check_energies(const dae_lagrangian *d, dae_diag *diag)
{
    if (d->lagrangian && (d->kinetic || d->potential))
        return reject(diag, "lagrangian", -1, "it is given beside kinetic or potential");
    if (!d->lagrangian && !d->kinetic)
        return reject(diag, "lagrangian", -1, "neither it nor kinetic is given");
    for (int k = 0; k < d->constraint_count; k++)
        if (!d->constraints[k]) return reject(diag, "constraints", k, "it is NULL");
    for (int k = 0; k < d->equation_count; k++)
        if (!d->equations[k]) return reject(diag, "equations", k, "it is NULL");
    return DAE_OK;
}

/* Counts and lists that must be there before anything is read. */
static dae_status check_lists(const dae_lagrangian *d, dae_diag *diag)
{
    if (d->n <= 0 || !d->coordinates)
        return reject(diag, "coordinates", -1, "there must be one at least, and n of them");
    const struct {
        const char *field;
        int count;
        const char *const *texts;
    } lists[] = {{"constraints", d->constraint_count, d->constraints},
                 {"massless", d->massless_count, d->massless},
                 {"variables", d->variable_count, d->variables},
                 {"equations", d->equation_count, d->equations},
                 {"fixed", d->fixed_count, d->fixed}};
    for (size_t k = 0; k < sizeof lists / sizeof lists[0]; k++)
        if (lists[k].count < 0 || (lists[k].count > 0 && !lists[k].texts))
            return reject(diag, lists[k].field, -1, "their number does not fit them");
    if ((int)d->engine < 0 || d->engine > DAE_ENGINE_SOON)
        return reject(diag, "engine", -1, "it is not a dae_engine");
    dae_status status = check_settings("parameters", d->parameter_count, d->parameters, diag);
    if (status == DAE_OK) status = check_settings("starts", d->start_count, d->starts, diag);
    if (status == DAE_OK) status = check_names("coordinates", d->n, d->coordinates, diag);
    if (status == DAE_OK) status = check_names("massless", d->massless_count, d->massless, diag);
    if (status == DAE_OK) status = check_names("variables", d->variable_count, d->variables, diag);
    if (status == DAE_OK) status = check_names("fixed", d->fixed_count, d->fixed, diag);
    if (status == DAE_OK) status = check_energies(d, diag);
    return status == DAE_OK ? check_expressions(d, diag) : status;
}

/* ---- names that are not given ---- */

/* before + name, or before + number; NULL: memory */
static char *make_name(const char *before, const char *name, int number)
{
    size_t size = strlen(before) + (name ? strlen(name) : 12) + 1;
    char *text = dae_calloc(size, 1);
    if (text && name) snprintf(text, size, "%s%s", before, name);
    if (text && !name) snprintf(text, size, "%s%d", before, number);
    return text;
}

static bool make_names(int count, const char *before, const char *const *names, char **made)
{
    for (int k = 0; k < count; k++) {
        made[k] = make_name(before, names ? names[k] : NULL, k + 1);
        if (!made[k]) return false;
    }
    return true;
}

/* ---- translation ---- */

/* "field[k]: " before the text of the diagnostic, by its line. */
static void name_field(const writer *w, dae_diag *diag)
{
    const field_line *found = NULL;
    char text[sizeof diag->text];
    if (!diag) return;
    for (size_t k = 0; k < w->count; k++)
        if (w->fields[k].line <= diag->line) found = &w->fields[k];
    if (!found || diag->line == 0) return;
    const char *error = strstr(diag->text, "error: ");
    snprintf(text, sizeof text, "%s", error ? error + strlen("error: ") : diag->text);
    diag->line = 0;
    if (found->index >= 0)
        diag_set(diag, diag->status, "%s[%d]: %s", found->field, found->index, text);
    else
        diag_set(diag, diag->status, "%s: %s", found->field, text);
}

static dae_status translate(const dae_lagrangian *d, dae_problem **problem, dae_diag *diag)
{
    writer w = {.line = 1};
    put_model(&w, d);
    dae_status status = DAE_ERR_MEMORY;
    if (w.failed || w.text.failed)
        diag_set(diag, status, "Out of memory.");
    else
        status = dae_problem_from_model(
            &(dae_model){.text = w.text.text, .file = "lagrangian", .engine = d->engine}, problem,
            diag);
    if (status == DAE_ERR_MODEL) name_field(&w, diag);
    emit_free(&w.text);
    dae_free(w.fields);
    return status;
}

/* With names for velocities and multipliers where none are given. */
static dae_status complete(dae_lagrangian *d, dae_problem **problem, dae_diag *diag)
{
    char **names = DAE_ARRAY(char *, d->n + d->constraint_count);
    dae_status status = DAE_OK;
    if (!names || !make_names(d->n, "v_", d->coordinates, names) ||
        !make_names(d->constraint_count, "lambda", NULL, names + d->n))
        status = diag_set(diag, DAE_ERR_MEMORY, "Out of memory.");
    if (status == DAE_OK && !d->velocities) d->velocities = (const char *const *)names;
    if (status == DAE_OK && !d->multipliers) d->multipliers = (const char *const *)names + d->n;
    if (status == DAE_OK) status = check_names("velocities", d->n, d->velocities, diag);
    if (status == DAE_OK)
        status = check_names("multipliers", d->constraint_count, d->multipliers, diag);
    if (status == DAE_OK) status = check_starts(d, diag);
    if (status == DAE_OK) status = translate(d, problem, diag);
    for (int k = 0; names && k < d->n + d->constraint_count; k++) dae_free(names[k]);
    dae_free(names);
    return status;
}

dae_status dae_problem_from_lagrangian_sized(const dae_lagrangian *form, size_t size,
                                             dae_problem **problem, dae_diag *diag)
{
    diag_clear(diag);
    if (!problem) return diag_set(diag, DAE_ERR_ARGUMENT, "problem is NULL.");
    *problem = NULL;
    dae_lagrangian d = {0};
    dae_status status = sized_read(form, size, &d, sizeof d, "Lagrangian description", diag);
    if (status == DAE_OK) status = check_lists(&d, diag);
    return status == DAE_OK ? complete(&d, problem, diag) : status;
}
