/* A model as C text of its own: sizes, values and the pattern of the Jacobian before the functions.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/memory.h"
#include "solve/bind/solver.h"

/* How to use what follows. */
static void put_head(emit_text *t, const dae_problem *p)
{
    emit_put(t, "/* Model ");
    emit_comment(t, dae_problem_name(p));
    emit_append(t, ", written by daedal %s. C11, needs the mathematical library only.\n",
                dae_version());
    emit_put(
        t,
        " *\n"
        " *   cc -std=c11 -O2 -ffp-contract=off -c FILE.c\n"
        " *   model_residual(time, y, yp, NULL, model_parameters, m, f);\n"
        " *\n"
        " * gives f = F(time, y, y'), MODEL_EQUATIONS numbers that are zero on a solution. All\n"
        " * functions have these arguments: model_jacobian writes MODEL_PARTIALS numbers,\n"
        " * model_output MODEL_VARIABLES, model_crossing MODEL_CROSSINGS, model_condition\n"
        " * MODEL_CONDITIONS, model_assertion MODEL_ASSERTIONS.\n"
        " *\n"
        " *   y, yp   the unknowns and their derivatives, MODEL_EQUATIONS each; model_y0 and\n"
        " *           model_yp0 are consistent values at MODEL_START (left out if none were "
        "found)\n"
        " *   ypp     not used, may be NULL\n"
        " *   p       MODEL_PARAMETERS numbers, model_parameters or a changed copy of it\n"
        " *   m       MODEL_MEMORY numbers that change at events only; model_memory0 at the "
        "start.\n"
        " *           Between events the functions are smooth. When number r of model_crossing\n"
        " *           changes its sign, a relation does: set its number of m, and those of the\n"
        " *           discrete variables, whose equations and when-clauses are not part of this\n"
        " *           file. May be NULL for a model without events.\n"
        " *\n"
        " * model_jacobian writes MODEL_PARTIALS partial derivatives: number k is that of "
        "equation\n"
        " * model_row[k] by y[model_column[k]], or, where model_slope[k] is 1, by yp of that\n"
        " * number. They come row by row; the matrix dF/dy + c dF/dy' of an implicit method is\n"
        " *\n"
        " *   for (k = 0; k < MODEL_PARTIALS; k++)\n"
        " *       A[model_row[k]][model_column[k]] += (model_slope[k] ? c : 1.0) * out[k];\n"
        " */\n\n");
}

static void put_sizes(emit_text *t, const model_form *f)
{
    const flat_model *m = f->flat;
    emit_append(t,
                "enum {\n"
                "    MODEL_EQUATIONS = %d,\n    MODEL_PARTIALS = %zu,\n    MODEL_VARIABLES = %d,\n"
                "    MODEL_PARAMETERS = %zu,\n    MODEL_MEMORY = %d,\n    MODEL_CROSSINGS = %zu,\n"
                "    MODEL_CONDITIONS = %zu,\n    MODEL_ASSERTIONS = %zu\n};\n\n",
                f->n, f->jacobian_outputs, f->visible_count, m->parameter_count, m->memory_count,
                m->relation_count, f->condition_count, m->assert_count);
}

/* One number with its name and unit beside it. */
static void put_value(emit_text *t, double x, const char *name, const char *unit)
{
    char text[32];
    if (isfinite(x))
        emit_number(x, text);
    else
        snprintf(text, sizeof text, "%s", isnan(x) ? "NAN" : x > 0.0 ? "INFINITY" : "-INFINITY");
    emit_append(t, "    %s, /* ", text);
    emit_comment(t, name);
    if (unit && *unit) {
        emit_put(t, " [");
        emit_comment(t, unit);
        emit_put(t, "]");
    }
    emit_put(t, " */\n");
}

/* Arrays have one element at least, as C wants. */
static void open_array(emit_text *t, const char *type, const char *name, size_t count)
{
    emit_append(t, "const %s %s[%zu] = {\n%s", type, name, count > 0 ? count : 1,
                count > 0 ? "" : "    0\n");
}

static void put_parameters(emit_text *t, const model_form *f)
{
    open_array(t, "double", "model_parameters", f->flat->parameter_count);
    for (size_t i = 0; i < f->flat->parameter_count; i++)
        put_value(t, f->parameters[i], f->flat->parameters[i].name, f->flat->parameters[i].unit);
    emit_put(t, "};\n\n");
}

static void put_unknowns(emit_text *t, const model_form *f, const char *name, const double *x,
                         const char *format)
{
    open_array(t, "double", name, (size_t)f->n);
    for (int i = 0; i < f->n; i++) {
        char label[300];
        snprintf(label, sizeof label, format, f->unknown_names[i]);
        put_value(t, x[i], label, NULL);
    }
    emit_put(t, "};\n\n");
}

/* The same of the inputs that follow a file: pieces of polynomials in time. */
static void name_piece(const flat_sample *q, int k, char *text, size_t size)
{
    const flat_schedule *s = q->schedule;
    if (k == s->origin)
        snprintf(text, size, "inputs, line %d: where a piece begins", q->place.line);
    for (size_t i = 0; i < s->track_count; i++)
        for (int j = 0; j < CURVE_MOST; j++)
            if (s->tracks[i].memory[j] == k)
                snprintf(text, size, "inputs, line %d: coefficient %d of number %zu", q->place.line,
                         j, i + 1);
}

/* What memory slot k holds. */
static void name_slot(const flat_model *m, int k, char *text, size_t size)
{
    snprintf(text, size, "of the translator");
    if (k == m->memory_initial) snprintf(text, size, "initial()");
    if (k == m->memory_terminal) snprintf(text, size, "terminal()");
    for (size_t r = 0; r < m->relation_count; r++)
        if (m->relations[r].memory == k)
            snprintf(text, size, "crossing %zu %s 0, line %d", r,
                     m->relations[r].strict ? "<" : "<=", m->relations[r].place.line);
    for (size_t r = 0; r < m->sample_count; r++)
        if (m->samples[r].memory == k)
            snprintf(text, size, "sample, line %d", m->samples[r].place.line);
    for (size_t r = 0; r < m->sample_count; r++)
        if (m->samples[r].schedule) name_piece(&m->samples[r], k, text, size);
    for (size_t r = 0; r < m->delay_count; r++)
        if (k >= m->delays[r].memory && k < m->delays[r].memory + DELAY_SLOTS)
            snprintf(text, size, "past of delay, line %d", m->delays[r].place.line);
    for (size_t v = 0; v < m->variable_count; v++) {
        const flat_variable *q = &m->variables[v];
        if (q->discrete && q->memory == k) snprintf(text, size, "%s", q->name);
        if (q->discrete && q->memory_pre == k) snprintf(text, size, "pre(%s)", q->name);
    }
}

static void put_memory(emit_text *t, const flat_model *m, const double *memory)
{
    open_array(t, "double", "model_memory0", (size_t)m->memory_count);
    for (int k = 0; k < m->memory_count; k++) {
        char label[300];
        name_slot(m, k, label, sizeof label);
        put_value(t, memory[k], label, NULL);
    }
    emit_put(t, "};\n\n");
}

/* Consistent values at the start, if they can be found; false: memory. */
static bool put_start(emit_text *t, const dae_problem *p)
{
    const model_form *f = p->model;
    dae_solver *s = NULL;
    double t0 = dae_problem_experiment(p).start, *y = DAE_ARRAY(double, 2 * f->n);
    if (isnan(t0)) t0 = 0.0;
    dae_status status = y ? dae_solver_new(p, NULL, &s, NULL) : DAE_ERR_MEMORY;
    if (status == DAE_OK) status = dae_solver_start(s, t0, NULL, NULL);
    if (status == DAE_OK) status = dae_solver_at(s, t0, 0, y);
    if (status == DAE_OK) status = dae_solver_at(s, t0, 1, y + f->n);
    if (status == DAE_OK) {
        char text[32];
        emit_number(t0, text);
        emit_append(t, "#define MODEL_START %s\n\n", text);
        put_unknowns(t, f, "model_y0", y, "%.290s");
        put_unknowns(t, f, "model_yp0", y + f->n, "der(%.290s)");
        put_memory(t, f->flat, s->hybrid->instance->memory);
    }
    dae_solver_free(s);
    dae_free(y);
    return status != DAE_ERR_MEMORY;
}

/* Row, column and matrix of partial derivative k. */
static void partial_place(const model_form *f, const int *column_of, size_t k, int place[3])
{
    int at = f->scatter[k], slope = at < 0;
    if (slope) at = -1 - at;
    place[0] = f->rowind[at];
    place[1] = column_of[at];
    place[2] = slope;
}

enum { NUMBERS_A_LINE = 16 };

static bool put_pattern(emit_text *t, const model_form *f)
{
    static const char *const names[3] = {"model_row", "model_column", "model_slope"};
    int *column_of = DAE_ARRAY(int, f->colptr[f->n]), place[3];
    if (!column_of) return false;
    for (int j = 0; j < f->n; j++)
        for (int at = f->colptr[j]; at < f->colptr[j + 1]; at++) column_of[at] = j;
    for (int which = 0; which < 3; which++) {
        open_array(t, which < 2 ? "int" : "unsigned char", names[which], f->jacobian_outputs);
        for (size_t k = 0; k < f->jacobian_outputs; k++) {
            partial_place(f, column_of, k, place);
            bool last = k + 1 == f->jacobian_outputs || (k + 1) % NUMBERS_A_LINE == 0;
            emit_append(t, "%s%d,%s", k % NUMBERS_A_LINE ? " " : "    ", place[which],
                        last ? "\n" : "");
        }
        emit_put(t, "};\n\n");
    }
    dae_free(column_of);
    return true;
}

static char *emit_problem(const dae_problem *p)
{
    emit_text text = {0};
    put_head(&text, p);
    emit_put(&text, "#include <math.h>\n\n");
    put_sizes(&text, p->model);
    put_parameters(&text, p->model);
    bool ok = put_start(&text, p) && put_pattern(&text, p->model);
    model_form_emit(p->model, &text);
    char *copy = ok && !text.failed ? dae_strdup(text.text ? text.text : "") : NULL;
    emit_free(&text);
    return copy;
}

char *dae_problem_emit(const dae_problem *p)
{
    if (!p || !p->model) return NULL;
    interrupt_scope scope;
    interrupt_open(&scope, p->interrupt, p->interrupt_user);
    char *text = emit_problem(p);
    if (!interrupt_close(&scope)) return text;
    dae_free(text);
    return NULL;
}

void dae_text_free(char *text)
{
    dae_free(text);
}
