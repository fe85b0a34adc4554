#include "problem/residual.h"

#include "base/arena.h"
#include "base/diag.h"
#include "base/memory.h"
#include "base/sized.h"
#include "base/vector.h"
#include "problem/velocities.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>

/* ---------------------------------------------------------------------------------------------
 * Checking a description: every check names the field, and the variable where there is one.
 * ------------------------------------------------------------------------------------------- */

#define REJECT(...) return diag_set(diag, DAE_ERR_ARGUMENT, __VA_ARGS__)

/* The name of variable i in a description that is not yet a problem. */
static void blame_variable(dae_diag *diag, const dae_residual *r, int i)
{
    diag_variable(diag, i, r->variable_names ? r->variable_names[i] : NULL);
}

/* "y[3]", or "name (y[3])" */
static const char *describe_variable(const dae_residual *r, int i, char text[DAE_NAME_SIZE + 24])
{
    const char *name = r->variable_names ? r->variable_names[i] : NULL;
    if (name && *name)
        snprintf(text, DAE_NAME_SIZE + 24, "%.*s (y[%d])", DAE_NAME_SIZE, name, i);
    else
        snprintf(text, DAE_NAME_SIZE + 24, "y[%d]", i);
    return text;
}

static dae_status check_pattern(const dae_residual *r, dae_diag *diag)
{
    if (!r->colptr && !r->rowind) return DAE_OK;
    if (!r->colptr) REJECT("rowind is given without colptr: a CSC pattern needs both.");
    if (!r->rowind) REJECT("colptr is given without rowind: a CSC pattern needs both.");
    int column = -1;
    const char *defect = pattern_check(r->n, r->colptr, r->rowind, &column);
    if (!defect) return DAE_OK;
    char text[DAE_NAME_SIZE + 24];
    if (column >= 0 && column < r->n) {
        blame_variable(diag, r, column);
        REJECT("The sparsity pattern is unsound in column %d, variable %s: %s.", column,
               describe_variable(r, column, text), defect);
    }
    REJECT("The sparsity pattern is unsound: %s.", defect);
}

static dae_status check_band(const dae_residual *r, dae_diag *diag)
{
    const char *names[] = {"lower", "upper"};
    const int widths[] = {r->lower, r->upper};
    for (int k = 0; k < 2; k++) {
        if (r->structure != DAE_STRUCTURE_BANDED && widths[k] != 0)
            REJECT("%s = %d is a bandwidth, but structure is not DAE_STRUCTURE_BANDED: set it, or "
                   "leave the bandwidth 0.",
                   names[k], widths[k]);
        if (widths[k] < 0) REJECT("%s = %d: a bandwidth cannot be negative.", names[k], widths[k]);
        if (widths[k] >= r->n)
            REJECT("%s = %d: a bandwidth must be less than n = %d.", names[k], widths[k], r->n);
    }
    return DAE_OK;
}

static dae_status check_structure(const dae_residual *r, dae_diag *diag)
{
    if (r->structure < DAE_STRUCTURE_AUTO || r->structure > DAE_STRUCTURE_SPARSE)
        REJECT("structure = %d is not a dae_structure.", (int)r->structure);
    bool pattern = r->colptr || r->rowind;
    if (r->structure == DAE_STRUCTURE_SPARSE && !pattern)
        REJECT("structure = DAE_STRUCTURE_SPARSE needs the pattern: set colptr and rowind, or use "
               "DAE_STRUCTURE_AUTO to have it detected.");
    if (pattern && (r->structure == DAE_STRUCTURE_DENSE || r->structure == DAE_STRUCTURE_BANDED))
        REJECT("colptr and rowind describe a sparse pattern, but structure is %s: use "
               "DAE_STRUCTURE_SPARSE, or drop the pattern.",
               r->structure == DAE_STRUCTURE_DENSE ? "DAE_STRUCTURE_DENSE"
                                                   : "DAE_STRUCTURE_BANDED");
    dae_status status = check_band(r, diag);
    return status ? status : check_pattern(r, diag);
}

static dae_status check_kinds(const dae_residual *r, dae_diag *diag)
{
    char text[DAE_NAME_SIZE + 24];
    for (int i = 0; r->kinds && i < r->n; i++) {
        if (r->kinds[i] >= DAE_KIND_AUTO && r->kinds[i] <= DAE_KIND_INDEX3) continue;
        blame_variable(diag, r, i);
        REJECT("kinds[%d] = %d of variable %s is not a dae_kind.", i, (int)r->kinds[i],
               describe_variable(r, i, text));
    }
    return DAE_OK;
}

/* Velocities are unknowns, each of one other unknown, and have none themselves. */
static dae_status check_velocities(const dae_residual *r, dae_diag *diag)
{
    char text[2][DAE_NAME_SIZE + 24];
    for (int i = 0; r->velocity && i < r->n; i++) {
        int j = r->velocity[i];
        if (j == -1) continue;
        blame_variable(diag, r, i);
        if (j < 0 || j >= r->n || j == i)
            REJECT("velocity[%d] = %d of variable %s must be another variable, or -1.", i, j,
                   describe_variable(r, i, text[0]));
        if (r->velocity[j] != -1)
            REJECT("%s is given as the velocity of %s, and cannot have a velocity of its own.",
                   describe_variable(r, j, text[1]), describe_variable(r, i, text[0]));
    }
    return DAE_OK;
}

static dae_status check_bounds(const dae_residual *r, dae_diag *diag)
{
    char text[DAE_NAME_SIZE + 24];
    for (int i = 0; (r->lower_bounds || r->upper_bounds) && i < r->n; i++) {
        double low = r->lower_bounds ? r->lower_bounds[i] : -INFINITY;
        double high = r->upper_bounds ? r->upper_bounds[i] : INFINITY;
        if (low <= high && low < INFINITY && high > -INFINITY) continue; /* false for NaN too */
        blame_variable(diag, r, i);
        if (isnan(low) || isnan(high))
            REJECT("The %s bound of variable %s is NaN: use -INFINITY or INFINITY for none.",
                   isnan(low) ? "lower" : "upper", describe_variable(r, i, text));
        REJECT("No value of variable %s can satisfy its bounds [%g, %g].",
               describe_variable(r, i, text), low, high);
    }
    return DAE_OK;
}

static dae_status check_events(const dae_residual *r, dae_diag *diag)
{
    if (r->event_count < 0) REJECT("event_count = %d: it cannot be negative.", r->event_count);
    if (r->event_count > 0 && !r->event_function)
        REJECT("event_count = %d, but event_function is NULL.", r->event_count);
    if (r->event_count == 0 && r->event_function)
        REJECT("event_function is given, but event_count is 0.");
    if (r->event_count == 0 && r->events) REJECT("events is given, but event_count is 0.");
    for (int i = 0; r->events && i < r->event_count; i++) {
        const char *name = r->events[i].name;
        if (r->events[i].direction < -1 || r->events[i].direction > 1)
            REJECT("events[%d]%s%.*s has direction %d: it must be -1, 0 or +1.", i,
                   name ? " named " : "", DAE_NAME_SIZE, name ? name : "", r->events[i].direction);
    }
    return DAE_OK;
}

static dae_status check_callbacks(const dae_residual *r, dae_diag *diag)
{
    if (r->condition_count < 0)
        REJECT("condition_count = %d: it cannot be negative.", r->condition_count);
    if (r->condition_count > 0 && !r->conditions)
        REJECT("condition_count = %d, but conditions is NULL.", r->condition_count);
    if (r->condition_count == 0 && r->conditions)
        REJECT("conditions is given, but condition_count is 0.");
    if (r->precond_setup && !r->precond_solve)
        REJECT("precond_setup is given without precond_solve: nothing could use what it sets up.");
    return DAE_OK;
}

/* FNV-1a */
static uint64_t hash_text(const char *text)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (; *text; text++) hash = (hash ^ (unsigned char)*text) * UINT64_C(1099511628211);
    return hash ^ (hash >> 29);
}

/* Two variables of one name would make every message ambiguous. */
static dae_status check_duplicate_names(const dae_residual *r, dae_diag *diag)
{
    if (!r->variable_names) return DAE_OK;
    size_t size = 16;
    while (size < 2 * (size_t)r->n) size *= 2;
    int *table = DAE_ARRAY(int, size); /* index + 1 by hash, open addressing */
    if (!table) return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for the problem's names.");
    for (int i = 0; i < r->n; i++) {
        const char *name = r->variable_names[i];
        if (!name || !*name) continue;
        size_t slot = hash_text(name) & (size - 1);
        while (table[slot] && strcmp(name, r->variable_names[table[slot] - 1]) != 0)
            slot = (slot + 1) & (size - 1);
        if (!table[slot]) {
            table[slot] = i + 1;
            continue;
        }
        blame_variable(diag, r, i);
        diag_set(diag, DAE_ERR_ARGUMENT, "Variables %d and %d have the same name \"%.*s\".",
                 table[slot] - 1, i, DAE_NAME_SIZE, name);
        dae_free(table);
        return DAE_ERR_ARGUMENT;
    }
    dae_free(table);
    return DAE_OK;
}

static dae_status check_form(const dae_residual *r, dae_diag *diag)
{
    if (r->n <= 0) REJECT("n = %d: a problem needs at least one equation.", r->n);
    if (r->n > INT_MAX / 4) REJECT("n = %d: so many unknowns cannot be numbered.", r->n);
    if (!r->f) REJECT("f is NULL: the residual F(t, y, y') must be given.");
    dae_status status = check_structure(r, diag);
    if (!status) status = check_kinds(r, diag);
    if (!status) status = check_velocities(r, diag);
    if (!status) status = check_bounds(r, diag);
    if (!status) status = check_events(r, diag);
    if (!status) status = check_callbacks(r, diag);
    if (!status) status = check_duplicate_names(r, diag);
    return status;
}

/* ---------------------------------------------------------------------------------------------
 * Copying
 * ------------------------------------------------------------------------------------------- */

static size_t decimal_digits(int i)
{
    size_t digits = 1;
    for (; i >= 10; i /= 10) digits++;
    return digits;
}

/* Write prefix[i] and return its length with the final zero; snprintf is too slow for n = 10^6. */
static size_t write_indexed(char *text, char prefix, int i)
{
    size_t digits = decimal_digits(i);
    text[0] = prefix;
    text[1] = '[';
    for (size_t k = digits; k > 0; k--, i /= 10) text[1 + k] = (char)('0' + i % 10);
    text[digits + 2] = ']';
    text[digits + 3] = '\0';
    return digits + 4;
}

/* A table of n names in one block, pointers first and text behind; generated where there is none.
 * `stride` is the distance of the names in memory, so that names inside structs can be read. */
static const char **copy_names(int n, const void *names, size_t stride, char prefix)
{
#define NAME(i) (*(const char *const *)(const void *)((const char *)names + (size_t)(i)*stride))
    size_t text_size = 0;
    for (int i = 0; i < n; i++)
        text_size += names && NAME(i) && *NAME(i) ? strlen(NAME(i)) + 1 : decimal_digits(i) + 4;
    size_t head = (size_t)n * sizeof(char *);
    char *block = dae_calloc(head + text_size, 1);
    if (!block) return NULL;
    const char **table = (const char **)(void *)block;
    char *text = block + head;
    for (int i = 0; i < n; i++) {
        table[i] = text;
        if (names && NAME(i) && *NAME(i)) {
            size_t length = strlen(NAME(i)) + 1;
            memcpy(text, NAME(i), length);
            text += length;
        } else {
            text += write_indexed(text, prefix, i);
        }
    }
    return table;
#undef NAME
}

/* Replace *field by a copy of count elements; a NULL field stays NULL. */
static bool own(const void **field, const void *source, size_t count, size_t size)
{
    *field = source ? dae_copy(source, count, size) : NULL;
    return !source || *field;
}

static bool copy_layout(dae_problem *p, const dae_residual *r)
{
    dae_structure kind = r->structure;
    if (kind == DAE_STRUCTURE_AUTO && r->colptr) kind = DAE_STRUCTURE_SPARSE;
    if (kind == DAE_STRUCTURE_AUTO && r->jacobian) kind = DAE_STRUCTURE_DENSE;
    p->form.structure = kind;
    p->has_layout = kind != DAE_STRUCTURE_AUTO;
    switch (kind) {
    case DAE_STRUCTURE_DENSE: return layout_dense(&p->layout, r->n);
    case DAE_STRUCTURE_BANDED: return layout_banded(&p->layout, r->n, r->lower, r->upper);
    case DAE_STRUCTURE_SPARSE: return layout_sparse(&p->layout, r->n, r->colptr, r->rowind);
    case DAE_STRUCTURE_AUTO: break;
    }
    return true;
}

static bool copy_events(dae_problem *p, const dae_residual *r)
{
    if (r->event_count == 0) return true;
    dae_event *events = DAE_ARRAY(dae_event, r->event_count);
    p->form.events = events;
    if (!events) return false;
    if (r->events) memcpy(events, r->events, (size_t)r->event_count * sizeof *events);
    p->event_names =
        copy_names(r->event_count, r->events ? &r->events[0].name : NULL, sizeof *events, 'g');
    for (int i = 0; p->event_names && i < r->event_count; i++) events[i].name = p->event_names[i];
    return p->event_names;
}

/* What `velocity` says; the rows are found when a solver starts. One that is given twice counts
 * once: kinematic_keep sees to it. */
static bool copy_velocities(dae_problem *p, const dae_residual *r)
{
    int count = 0;
    p->form.velocity = NULL;
    if (!r->velocity) return true;
    kinematic_row *rows = DAE_ARRAY(kinematic_row, r->n);
    for (int i = 0; rows && i < r->n; i++)
        if (r->velocity[i] >= 0) rows[count++] = (kinematic_row){-1, i, r->velocity[i]};
    bool ok = rows && kinematic_keep(p, count, rows);
    dae_free(rows);
    return ok;
}

bool problem_fits(int n)
{
    enum { LARGE = 1000000, LEAST_BYTES = 200 }; /* of names, and of vectors of any method */
    void *block = n > LARGE ? dae_alloc((size_t)n, LEAST_BYTES) : NULL;
    dae_free(block);
    return n <= LARGE || block;
}

/* Copies of names, or those of the model. */
static bool take_names(dae_problem *p, const dae_residual *r)
{
    if (p->equation_name) {
        p->form.variable_names = r->variable_names;
        return true;
    }
    p->form.variable_names = copy_names(r->n, r->variable_names, sizeof(char *), 'y');
    p->form.equation_names = copy_names(r->n, r->equation_names, sizeof(char *), 'F');
    return p->form.variable_names && p->form.equation_names;
}

/* Deep copy; on false the caller frees what is there. */
static bool copy_form(dae_problem *p, const dae_residual *r)
{
    size_t n = (size_t)r->n;
    p->form = *r;
    p->form.colptr = p->form.rowind = NULL;
    p->form.variable_names = p->form.equation_names = NULL;
    p->form.kinds = NULL;
    p->form.lower_bounds = p->form.upper_bounds = NULL;
    p->form.events = NULL;
    const void *kinds = NULL, *low = NULL, *high = NULL;
    bool ok = own(&kinds, r->kinds, n, sizeof *r->kinds);
    ok = own(&low, r->lower_bounds, n, sizeof(double)) && ok;
    ok = own(&high, r->upper_bounds, n, sizeof(double)) && ok;
    p->form.kinds = kinds;
    p->form.lower_bounds = low;
    p->form.upper_bounds = high;
    ok = take_names(p, r) && ok;
    ok = ok && copy_layout(p, r) && copy_events(p, r);
    ok = copy_velocities(p, r) && ok;
    p->form.colptr = p->layout.colptr;
    p->form.rowind = p->layout.rowind;
    return ok;
}

dae_status problem_of_model(const dae_residual *form, struct model_form *model,
                            const char *(*equation_name)(const struct model_form *, int),
                            dae_problem **problem, dae_diag *diag)
{
    dae_status status = check_form(form, diag);
    *problem = NULL;
    if (status) return status;
    dae_problem *p = DAE_NEW(dae_problem);
    if (p) p->equation_name = equation_name;
    if (!p || !problem_fits(form->n) || !copy_form(p, form)) {
        if (p) problem_release(p);
        return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for a problem of %d equations.",
                        form->n);
    }
    p->model = model;
    *problem = p;
    return DAE_OK;
}

dae_status dae_problem_from_residual_sized(const dae_residual *residual, size_t size,
                                           dae_problem **problem, dae_diag *diag)
{
    diag_clear(diag);
    if (!problem) REJECT("The place for the new problem is NULL.");
    *problem = NULL;
    dae_residual form = {0};
    dae_status status = sized_read(residual, size, &form, sizeof form, "problem description", diag);
    return status ? status : problem_of_model(&form, NULL, NULL, problem, diag);
}

void problem_release(dae_problem *problem)
{
    dae_residual *form = &problem->form;
    if (!problem->equation_name)
        dae_free_all((void *)(uintptr_t)form->variable_names,
                     (void *)(uintptr_t)form->equation_names);
    dae_free_all((void *)(uintptr_t)form->events, (void *)(uintptr_t)problem->event_names,
                 (void *)(uintptr_t)form->kinds, (void *)(uintptr_t)form->lower_bounds,
                 (void *)(uintptr_t)form->upper_bounds, problem->kinematic, problem->chain);
    layout_free(&problem->layout);
    arena_free(problem->source_texts);
    dae_free(problem);
}

int dae_problem_size(const dae_problem *problem)
{
    return problem ? problem->form.n : 0;
}

const char *problem_variable(const dae_problem *p, int i)
{
    return p && i >= 0 && i < p->form.n ? p->form.variable_names[i] : NULL;
}

const char *problem_equation(const dae_problem *p, int i)
{
    if (!p || i < 0 || i >= p->form.n) return NULL;
    return p->equation_name ? p->equation_name(p->model, i) : p->form.equation_names[i];
}

const char *problem_event(const dae_problem *p, int i)
{
    return p && i >= 0 && i < p->form.event_count ? p->form.events[i].name : NULL;
}

const char *dae_problem_unknown_name(const dae_problem *problem, int i)
{
    return problem_variable(problem, i);
}

const char *dae_problem_equation_name(const dae_problem *problem, int i)
{
    return problem_equation(problem, i);
}

/* ---------------------------------------------------------------------------------------------
 * Guarded evaluation
 * ------------------------------------------------------------------------------------------- */

eval_status evaluator_failed(evaluator *e, eval_failure failure)
{
    e->failure = failure;
    if (failure.code >= 0) return EVAL_RETRY;
    if (e->stop && e->stop->code == 0) *e->stop = failure;
    return EVAL_STOP;
}

/* A callback: its name for messages, and what its results belong to */
typedef struct callback {
    const char *name;
    eval_part part;
} callback;

static eval_status record_code(evaluator *e, callback c, double t, int code)
{
    return evaluator_failed(e, (eval_failure){.callback = c.name,
                                              .part = c.part,
                                              .code = code,
                                              .component = -1,
                                              .variable = -1,
                                              .t = t});
}

static eval_status record_nonfinite(evaluator *e, callback c, double t, int component, double value)
{
    e->failure = (eval_failure){.callback = c.name,
                                .part = c.part,
                                .component = component,
                                .variable = -1,
                                .t = t,
                                .value = value};
    if (isnan(value)) e->failure.value = NAN; /* without the sign, which would be printed */
    return EVAL_RETRY;
}

/* Judge what a callback returned and wrote. */
static inline eval_status guard(evaluator *e, callback c, double t, int code, int n,
                                const double *result)
{
    if (code != 0) return record_code(e, c, t, code);
    if (vector_all_finite((size_t)n, result)) return EVAL_OK;
    int component = vector_first_nonfinite(n, result);
    return record_nonfinite(e, c, t, component, result[component]);
}

/* What the callbacks receive: the instance of a model or a form belongs to one solver. */
static void *user_of(const evaluator *e)
{
    if (e->instance) return e->instance;
    return e->forms ? e->forms : e->problem->form.user;
}

eval_status evaluate_residual(evaluator *e, double t, const double *y, const double *yp, double *f,
                              long *counter)
{
    const dae_residual *form = &e->problem->form;
    ++*counter;
    int code = form->f(t, y, yp, f, user_of(e));
    if (code != 0 && e->forms) return code < 0 ? EVAL_STOP : EVAL_RETRY; /* recorded there */
    if (e->terms && code == 0) regular_terms_add(e->terms, y, f);
    return guard(e, (callback){"residual", EVAL_EQUATION}, t, code, form->n, f);
}

eval_status evaluate_residuals(evaluator *e, int count, const double *t, const double *y,
                               const double *yp, double *f, int *failed)
{
    const callback name = {"residual", EVAL_EQUATION};
    const dae_residual *form = &e->problem->form;
    const size_t n = (size_t)form->n;
    void *user = user_of(e);
    for (int i = 0; i < count; i++) {
        const size_t at = (size_t)i * n;
        e->stats->residuals++;
        int code = form->f(t[i], y + at, yp + at, f + at, user);
        if (e->terms && code == 0) regular_terms_add(e->terms, y + at, f + at);
        if (code == 0) continue;
        *failed = i;
        if (e->forms) return code < 0 ? EVAL_STOP : EVAL_RETRY; /* recorded there */
        return record_code(e, name, t[i], code);
    }
    if (vector_all_finite((size_t)count * n, f)) return EVAL_OK;
    int first = vector_first_nonfinite(count * (int)n, f), component = first % (int)n;
    *failed = first / (int)n;
    return record_nonfinite(e, name, t[*failed], component, f[first]);
}

/* Row and column of entry k of a layout. */
static void locate_entry(const matrix_layout *layout, size_t k, int *row, int *column)
{
    size_t n = (size_t)layout->n, width = (size_t)(layout->lower + layout->upper + 1);
    if (layout->kind == DAE_STRUCTURE_SPARSE) {
        int j = 0;
        while ((size_t)layout->colptr[j + 1] <= k) j++;
        *column = j;
        *row = layout->rowind[k];
    } else if (layout->kind == DAE_STRUCTURE_BANDED) {
        *column = (int)(k / width);
        *row = (int)(k % width) + *column - layout->upper;
    } else {
        *column = (int)(k / n);
        *row = (int)(k % n);
    }
}

/* Whether all entries are finite; if not, record where the first bad one is. */
static eval_status guard_matrix(evaluator *e, const char *name, const matrix_layout *layout,
                                double t, const double *values)
{
    if (vector_all_finite(layout->count, values)) return EVAL_OK;
    size_t k = 0;
    while (isfinite(values[k])) k++;
    int row, column;
    locate_entry(layout, k, &row, &column);
    record_nonfinite(e, (callback){name, EVAL_SLOPE}, t, row, values[k]);
    e->failure.variable = column;
    return EVAL_RETRY;
}

/* ---- derivatives of a model that have no value though its equations are smooth ---- */

/* Central differences of F in one component of y, or of y', over the distances h and h/8. */
typedef struct slopes {
    double *f[2], *moved; /* n each, one block at f[0] */
} slopes;

/* f = (F(.. + h) - F(.. - h)) / 2h; moved is y or y', in which component j moves. */
static bool difference(evaluator *e, double t, const double *y, const double *yp, slopes *q, int j,
                       double h, double *f)
{
    const int n = e->problem->form.n;
    const double kept = q->moved[j];
    double *other = q->moved + n;
    q->moved[j] = kept + h;
    bool ok = evaluate_residual(e, t, y, yp, f, &e->stats->jacobian_residuals) == EVAL_OK;
    q->moved[j] = kept - h;
    ok = ok && evaluate_residual(e, t, y, yp, other, &e->stats->jacobian_residuals) == EVAL_OK;
    q->moved[j] = kept;
    for (int i = 0; ok && i < n; i++) f[i] = (f[i] - other[i]) / (2.0 * h);
    return ok;
}

/* The entries of column j that are not a number, where both distances agree about them. */
static void mend_column(evaluator *e, const matrix_layout *layout, double t, const double *y,
                        const double *yp, slopes *q, int j, double *values)
{
    static const double REACH = 6e-6, LEAST = 1e-8, AGREE = 1e-3;
    const matrix_column column = layout_column(layout, j);
    const double h = REACH * fmax(fabs(q->moved[j]), LEAST);
    bool some = false;
    for (int k = 0; k < column.count; k++) some |= isnan(values[column.first + (size_t)k]);
    if (!some || !difference(e, t, y, yp, q, j, h, q->f[0]) ||
        !difference(e, t, y, yp, q, j, h / 8.0, q->f[1]))
        return;
    for (int k = 0; k < column.count; k++) {
        const int i = column_row(&column, k);
        const double a = q->f[0][i], b = q->f[1][i];
        if (isnan(values[column.first + (size_t)k]) &&
            fabs(a - b) <= AGREE * fmax(fabs(a), fabs(b)))
            values[column.first + (size_t)k] = b;
    }
}

/* exp(u) overflows where 1/(1 + exp(u)) is 0 and does not move, but its derivative is 0 times
 * infinity. Entries that are not a number are looked at by differences: where these agree, the
 * equations are smooth, and have that slope. What stays is told. */
static void mend_overflow(evaluator *e, const matrix_layout *layout, double t, const double *y,
                          const double *yp, bool by_slope, double *values)
{
    const int n = e->problem->form.n;
    if (!e->instance || vector_all_finite(layout->count, values)) return;
    const eval_failure before = e->failure;
    slopes q = {{DAE_ARRAY(double, 4 * (size_t)n), NULL}, NULL};
    if (!q.f[0]) return;
    q.f[1] = q.f[0] + n;
    q.moved = q.f[1] + n;
    memcpy(q.moved, by_slope ? yp : y, (size_t)n * sizeof *q.moved);
    for (int j = 0; j < n; j++)
        mend_column(e, layout, t, by_slope ? y : q.moved, by_slope ? q.moved : yp, &q, j, values);
    dae_free(q.f[0]);
    e->failure = before;
}

eval_status evaluate_jacobian(evaluator *e, const matrix_layout *layout, double t, const double *y,
                              const double *yp, double *dfdy, double *dfdyp)
{
    const dae_residual *form = &e->problem->form;
    memset(dfdy, 0, layout->count * sizeof *dfdy);
    memset(dfdyp, 0, layout->count * sizeof *dfdyp);
    int code = form->jacobian(t, y, yp, dfdy, dfdyp, user_of(e));
    if (code != 0) return record_code(e, (callback){"jacobian", EVAL_SLOPE}, t, code);
    mend_overflow(e, layout, t, y, yp, false, dfdy);
    mend_overflow(e, layout, t, y, yp, true, dfdyp);
    if (e->terms) regular_terms_slopes(e->terms, layout, dfdy);
    eval_status status = guard_matrix(e, "jacobian (dF/dy)", layout, t, dfdy);
    return status ? status : guard_matrix(e, "jacobian (dF/dy')", layout, t, dfdyp);
}

/* Whether rows of F are computed apart, and judged so. */
static eval_status guard_rows(evaluator *e, double t, int code, const int *rows, int count,
                              const double *f)
{
    const callback c = {"residual", EVAL_EQUATION};
    if (code != 0) return record_code(e, c, t, code);
    for (int k = 0; k < count; k++)
        if (!isfinite(f[rows[k]])) return record_nonfinite(e, c, t, rows[k], f[rows[k]]);
    return EVAL_OK;
}

eval_status evaluate_rows(evaluator *e, double t, const double *y, const double *yp,
                          const int *rows, int count, double *f)
{
    const dae_residual *form = &e->problem->form;
    const bool apart = form->rows && !e->forms && !(e->terms && e->terms->count > 0);
    if (!apart) return evaluate_residual(e, t, y, yp, f, &e->stats->residuals);
    e->stats->residuals++;
    return guard_rows(e, t, form->rows(t, y, yp, rows, count, f, user_of(e)), rows, count, f);
}

eval_status evaluate_jacobian_rows(evaluator *e, double t, const double *y, const double *yp,
                                   const int *rows, int count, double *dfdy, double *dfdyp)
{
    const dae_residual *form = &e->problem->form;
    const matrix_layout *layout = &e->problem->layout;
    if (!form->jacobian_rows || e->forms || (e->terms && e->terms->count > 0))
        return evaluate_jacobian(e, layout, t, y, yp, dfdy, dfdyp);
    int code = form->jacobian_rows(t, y, yp, rows, count, dfdy, dfdyp, user_of(e));
    if (code != 0) return record_code(e, (callback){"jacobian", EVAL_SLOPE}, t, code);
    eval_status status = guard_matrix(e, "jacobian (dF/dy)", layout, t, dfdy);
    return status ? status : guard_matrix(e, "jacobian (dF/dy')", layout, t, dfdyp);
}

eval_status evaluate_events(evaluator *e, double t, const double *y, const double *yp, double *g)
{
    const dae_residual *form = &e->problem->form;
    e->stats->event_evaluations++;
    int code = form->event_function(t, y, yp, g, user_of(e));
    return guard(e, (callback){"event", EVAL_EVENT}, t, code, form->event_count, g);
}

eval_status evaluate_conditions(evaluator *e, double t, const double *y, const double *yp,
                                double *b)
{
    const dae_residual *form = &e->problem->form;
    int code = form->conditions(t, y, yp, b, user_of(e));
    return guard(e, (callback){"conditions", EVAL_CONDITION}, t, code, form->condition_count, b);
}

eval_status evaluate_precond_setup(evaluator *e, double t, const double *y, const double *yp,
                                   double cj)
{
    const dae_residual *form = &e->problem->form;
    if (!form->precond_setup) return EVAL_OK;
    int code = form->precond_setup(t, y, yp, cj, user_of(e));
    return code ? record_code(e, (callback){"preconditioner setup", EVAL_VARIABLE}, t, code)
                : EVAL_OK;
}

eval_status evaluate_precond_solve(evaluator *e, double t, const double *y, const double *yp,
                                   double cj, double *b)
{
    const dae_residual *form = &e->problem->form;
    int code = form->precond_solve(t, y, yp, cj, b, user_of(e));
    return guard(e, (callback){"preconditioner solve", EVAL_VARIABLE}, t, code, form->n, b);
}

eval_status evaluate_jac_times(evaluator *e, double t, const double *y, const double *yp, double cj,
                               const double *v, double *av)
{
    const dae_residual *form = &e->problem->form;
    int code = form->jac_times(t, y, yp, cj, v, av, user_of(e));
    return guard(e, (callback){"jacobian times vector", EVAL_SLOPE}, t, code, form->n, av);
}

/* ---------------------------------------------------------------------------------------------
 * Reporting
 * ------------------------------------------------------------------------------------------- */

/* Name the component that was not finite. */
static void report_component(const evaluator *e, dae_diag *diag)
{
    const eval_failure *failure = &e->failure;
    diag->value = failure->value;
    if (failure->part == EVAL_EVENT) {
        diag_append(diag, " for event %s", problem_event(e->problem, failure->component));
    } else if (failure->part == EVAL_CONDITION) {
        diag_append(diag, e->instance ? " for initial equation %d" : " for condition B[%d]",
                    failure->component + (e->instance ? 1 : 0));
    } else if (failure->part == EVAL_VARIABLE) {
        const char *name = problem_variable(e->problem, failure->component);
        diag_variable(diag, failure->component, name);
        diag_append(diag, " for variable %s", name);
    } else {
        const char *name = failure->equation;
        if (!name) name = problem_equation(e->problem, failure->component);
        diag_equation(diag, failure->component, name);
        diag_append(diag, e->instance ? " in %s" : " in equation %s",
                    name ? name : "(outside the matrix)");
    }
    if (failure->variable < 0) return;
    const char *name = problem_variable(e->problem, failure->variable);
    diag_variable(diag, failure->variable, name);
    diag_append(diag, e->instance ? ", by variable %s" : ", column of variable %s", name);
}

/* What happened, in one sentence without its end. */
static void report_event(const evaluator *e, dae_status status, dae_diag *diag)
{
    const eval_failure *failure = &e->failure;
    if (failure->code != 0) {
        diag_set(diag, status, "The %s callback returned %d at t = %.10g", failure->callback,
                 failure->code, failure->t);
        diag->value = failure->code;
        return;
    }
    if (e->instance) {
        diag_set(diag, status,
                 failure->part == EVAL_SLOPE ? "A derivative of the equations is %g"
                                             : "A value is %g",
                 failure->value);
    } else {
        diag_set(diag, status, "The %s callback gave %g", failure->callback, failure->value);
    }
    report_component(e, diag);
    diag_append(diag, " at t = %.10g", failure->t);
}

/* A form that contains M^-1 cannot be evaluated. */
static dae_status report_mass(const evaluator *e, dae_diag *diag)
{
    const eval_failure *failure = &e->failure;
    if (failure->variable >= 0)
        diag_variable(diag, failure->variable, problem_variable(e->problem, failure->variable));
    diag_set(diag, DAE_ERR_SINGULAR, "The mass matrix is singular at t = %.10g", failure->t);
    if (failure->variable >= 0) diag_append(diag, ", at variable %s", diag->variable_name);
    diag_append(diag,
                ": look for a body that loses its mass. If constraints hold what has no mass, "
                "use a method on the mechanical form itself, such as prk or hem5.");
    return DAE_ERR_SINGULAR;
}

dae_status evaluator_report(const evaluator *e, eval_status status, dae_diag *diag)
{
    if (status == EVAL_OK) return DAE_OK;
    if (status == EVAL_MEMORY)
        return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for the Jacobian.");
    dae_status result = status == EVAL_STOP ? DAE_ERR_CALLBACK : DAE_ERR_EVALUATION;
    if (!diag) return result;
    if (!e->failure.callback) return diag_set(diag, result, "A callback could not be evaluated.");
    diag->t = e->failure.t;
    if (e->failure.singular) return report_mass(e, diag);
    report_event(e, result, diag);
    if (status == EVAL_STOP)
        diag_append(diag, ": a negative value stops the integration. If a smaller step could help, "
                          "return a positive value instead.");
    else if (e->instance)
        diag_append(diag, ".");
    else
        diag_append(diag, ". Check the model there (division by zero, logarithm or root of a "
                          "negative number, overflow) and the initial values; bounds on variables "
                          "keep them where the callback is defined.");
    return result;
}
