/* The text of a model, read a second time, beside a run: the interpreter says what its equations
 * are, and this what of them does not hold. */
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "forms/form_parts.h"
#include "solve/verify/verify_reader.h"

/* Panels, and points that are evaluated for all of them; fewer for many equations. */
enum { PANELS = 150, MOST_LOOKS = 12000, LEAST_LOOKS = 300, MOST_BREAKS = 1000 };
static const double MOST_WORK = 1e7;
/* Judges are not to take more steps than this for what bends. */
#define MOST_BENDS 5000.0
/* Besides, so many panels where values have moved by this part of their size since the last one;
 * after some of them by four times as much. */
enum { MOVED_PANELS = 200, MOVED_PART = 50 };
static const double MOVED = 0.1;
/* Expressions of time alone are straight up to this part of their size between two breaks. */
static const double BEND = 0.1;

/* ---- faults and gaps ---- */

static const char *keep_words(reader *x, const char *format, va_list words)
{
    char text[DAE_TEXT_SIZE];
    vsnprintf(text, sizeof text, format, words);
    return arena_text(x->texts, text, strlen(text));
}

void reader_note(reader *x, int of, const dae_verify_fault *fault, const char *format, ...)
{
    if (x->faulty[of] || x->faults == MOST_FAULTS) return;
    va_list words;
    x->faulty[of] = true;
    va_start(words, format);
    x->fault[x->faults] = *fault;
    x->fault[x->faults].what = keep_words(x, format, words);
    va_end(words);
    if (x->fault[x->faults].what) x->faults++;
}

__attribute__((format(printf, 3, 4))) static void note_gap(reader *x, int line, const char *format,
                                                           ...)
{
    if (x->gaps == MOST_GAPS) return;
    va_list words;
    va_start(words, format);
    x->gap[x->gaps] = (dae_verify_gap){keep_words(x, format, words), line};
    va_end(words);
    if (x->gap[x->gaps].what) x->gaps++;
}

const char *reader_value(const reader *x, int variable, double value, char *text, size_t size)
{
    bool boolean = variable >= 0 && x->variable && x->variable[variable].type == JUDGE_BOOLEAN;
    if (boolean)
        snprintf(text, size, "%s", value != 0.0 ? "true" : "false");
    else
        snprintf(text, size, "%.9g", value);
    return text;
}

/* ---- what was set from outside ---- */

/* Whether two names are equal but for quotes; prefix: or the second begins with the first, as an
 * element or a field does. */
static bool same_name(const char *a, const char *b, bool prefix)
{
    for (;; a++, b++) {
        while (*a == '\'') a++;
        while (*b == '\'') b++;
        if (*a == '\0' || *a != *b) break;
    }
    return *a == '\0' && (*b == '\0' || (prefix && (*b == '[' || *b == '.')));
}

/* Whether a model was given a value for a parameter: before its translation or later. */
static bool is_set(const dae_problem *p, int i)
{
    const dae_model *m = p->source;
    const char *name = dae_problem_parameter(p, i);
    if (p->model->parameter_set[i]) return true;
    for (int k = 0; k < m->setting_count; k++)
        if (same_name(m->settings[k].name, name, false)) return true;
    for (int k = 0; k < m->assignment_count; k++) {
        char left[256];
        size_t length = strcspn(m->assignments[k], "=");
        while (length > 0 && isspace((unsigned char)m->assignments[k][length - 1])) length--;
        if (length >= sizeof left) continue;
        memcpy(left, m->assignments[k], length);
        left[length] = '\0';
        if (same_name(left, name, true)) return true;
    }
    return false;
}

/* All of these; owned by the caller. */
static judge_override *find_overrides(const dae_problem *p, size_t *count)
{
    int parameters = dae_problem_parameter_count(p), variables = dae_problem_variable_count(p);
    judge_override *list = DAE_ARRAY(judge_override, parameters + variables + 1);
    *count = 0;
    for (int i = 0; list && i < parameters; i++)
        if (is_set(p, i) && dae_problem_parameter_info(p, i).type != DAE_TYPE_STRING)
            list[(*count)++] =
                (judge_override){dae_problem_parameter(p, i), dae_problem_parameter_value(p, i)};
    for (int i = 0; list && i < variables; i++) {
        double start = p->model->start[p->model->visible[i]];
        if (!isnan(start)) list[(*count)++] = (judge_override){dae_problem_variable(p, i), start};
    }
    return list;
}

/* ---- names ---- */

typedef struct named {
    const char *name;
    int index;
} named;

static int by_name(const void *a, const void *b)
{
    return strcmp(((const named *)a)->name, ((const named *)b)->name);
}

/* x->column: which variable of the problem each one of the text is. */
static bool find_columns(reader *x)
{
    int all = dae_problem_variable_count(x->problem);
    named *list = DAE_ARRAY(named, all + 1);
    for (int i = 0; list && i < all; i++) list[i] = (named){dae_problem_variable(x->problem, i), i};
    if (list) qsort(list, (size_t)all, sizeof *list, by_name);
    for (int i = 0; list && i < x->n; i++) {
        named key = {x->variable[i].name, 0};
        const named *found = bsearch(&key, list, (size_t)all, sizeof *list, by_name);
        x->column[i] = found ? found->index : -1;
        judge_variability kind = x->variable[i].variability;
        if (!found && kind > JUDGE_PARAMETER && x->variable[i].type != JUDGE_STRING)
            note_gap(x, x->variable[i].line, "the results do not contain %s", key.name);
    }
    dae_free(list);
    return list;
}

/* Bindings of inputs that follow something else. */
static void skip_inputs(reader *x)
{
    for (int e = 0; e < x->equations && x->problem->source->input_count > 0; e++) {
        int v = x->equation[e].variable, column = v >= 0 ? x->column[v] : -1;
        x->skipped[e] = x->equation[e].kind == JUDGE_BINDING && column >= 0 &&
                        dae_problem_variable_info(x->problem, column).input;
    }
}

/* ---- life ---- */

void reader_free(reader *x)
{
    if (!x) return;
    judge_free(x->judge);
    form_instance_free(x->forms);
    panels_free(&x->panels);
    reader_past_free(x);
    arena_free(x->texts);
    for (int k = 0; k < MOST_CHAIN; k++) dae_free(x->chain[k].v);
    dae_free_all(x->matrix, x->column, x->skipped, x->seen, (void *)(uintptr_t)x->mute, x->fires,
                 x->moved, x->base, x->row, x->size, x->off, x->slope, x->slope_off, x->mixed,
                 x->here, x->beside, x->passed, x->pieces, x->breaks, x->last.v, x->next.v,
                 x->could, x->can, x->now, x->reached, x->moves, x->defined, x->at.item,
                 x->after.item, x->faulty);
    dae_free(x);
}

/* Slopes of the polynomial through values, at its ends, are so many times less certain than those
 * of a line. */
static const double SECOND = 40.0;

/* Residuals of the text at a node of a panel. */
static bool text_residual(void *of, const panel_point *p, double *residual, double *spread)
{
    reader *x = of;
    for (int d = 0; d < x->derivatives; d++) {
        int v = x->derivative[d].variable;
        bool first = x->derivative[d].order == 1;
        double off = p->per_length * x->off[v];
        x->slope[d] = first ? p->slope[v] : p->second[v];
        x->slope_off[d] = first ? off : SECOND * p->per_length * off;
    }
    sighting at = {
        .t = p->t, .v = p->v, .event = p->anywhere, .slopes = x->slope, .slopes_off = x->slope_off};
    return reader_equations(x, &at, residual, spread);
}

static bool value_of(void *of, dae_solver *s, double t, double *v)
{
    return reader_values(of, s, t, v);
}

/* Rows of E x' = f, and then the constraints; else equations of the residual form. */
static const char *row_name(const reader *x, int e)
{
    int row, ne = x->rows ? x->rows->ne : x->n;
    return e < ne ? problem_equation(x->problem, e) : form_constraint(x->forms, e - ne, &row);
}

static void note_leak(void *of, int e, double from, double to, double t, double sum, double allowed)
{
    reader *x = of;
    int line = x->judge ? x->equation[e].line : 0;
    const char *text = x->judge ? x->equation[e].text : row_name(x, e);
    dae_verify_fault f = {.line = line, .t = t, .left = sum, .right = 0.0, .allowed = allowed};
    reader_note(x, e, &f,
                "%s%.0d%s%s: from t = %.9g to %.9g the integral of the left side less the right "
                "one is %.3g by the values of the run, where its tolerances explain %.3g",
                line > 0 ? "line " : "", line, line > 0 ? ", " : "", text ? text : "", from, to,
                sum, allowed);
}

static void size_of(void *of, const double *v)
{
    reader *x = of;
    reader_sized(x, x->size_time, v);
}

/* Work space and panels for n values and a number of residuals. */
static bool make_room(reader *x, int n, int residuals)
{
    size_t m = (size_t)n + 1, branches = (size_t)x->whens;
    x->n = n;
    x->base = DAE_ARRAY(double, m);
    x->row = DAE_ARRAY(double, dae_problem_variable_count(x->problem) + 1);
    x->size = DAE_ARRAY(double, m);
    x->off = DAE_ARRAY(double, m);
    x->mixed = DAE_ARRAY(double, m);
    x->here = DAE_ARRAY(double, m);
    x->beside = DAE_ARRAY(double, m);
    x->pieces = DAE_ARRAY(double, MOST_BREAKS + 2);
    x->last.v = DAE_ARRAY(double, m);
    x->next.v = DAE_ARRAY(double, m);
    x->faulty = DAE_ARRAY(bool, (size_t)residuals + branches + m);
    bool ok = x->base && x->row && x->size && x->off && x->mixed && x->here && x->beside &&
              x->pieces && x->last.v && x->next.v && x->faulty;
    for (int k = 0; ok && k < MOST_CHAIN; k++) ok = (x->chain[k].v = DAE_ARRAY(double, m)) != NULL;
    double most = MOST_WORK / (residuals + 1.0);
    x->passed = DAE_ARRAY(double, m);
    if (!x->passed) return false;
    x->move = MOVED;
    x->panels = (panels){.values = n,
                         .off = x->off,
                         .stretch = 1.0,
                         .residuals = residuals,
                         .value = value_of,
                         .sized = size_of,
                         .leak = note_leak,
                         .of = x,
                         .most = most > MOST_LOOKS    ? MOST_LOOKS
                                 : most < LEAST_LOOKS ? LEAST_LOOKS
                                                      : (long)most};
    double count = fmin(PANELS, (double)x->panels.most / (2.0 * PANEL_NODES));
    x->cell = fabs(x->span) / count;
    x->probed = NAN;
    return ok && panels_new(&x->panels);
}

static reader *new_reader(const dae_problem *problem, const tolerances *tolerance, double span,
                          double limit)
{
    reader *x = DAE_NEW(reader);
    if (!x) return NULL;
    x->problem = problem;
    x->tolerance = tolerance;
    x->span = span;
    x->limit = limit;
    x->size_time = NAN;
    x->random = 12345;
    x->texts = arena_new(0);
    if (x->texts) return x;
    reader_free(x);
    return NULL;
}

/* ---- texts ---- */

static bool list_contents(reader *x)
{
    x->n = (int)judge_variables(x->judge, &x->variable);
    x->equations = (int)judge_equations(x->judge, &x->equation);
    x->whens = (int)judge_whens(x->judge, &x->when);
    x->derivatives = (int)judge_derivatives(x->judge, &x->derivative);
    x->samples = (int)judge_samples(x->judge, &x->sample);
    for (int k = 0; k < x->whens; k++)
        if (x->when[k].first + x->when[k].count > x->conditions)
            x->conditions = x->when[k].first + x->when[k].count;
    x->column = DAE_ARRAY(int, x->n + 1);
    x->skipped = DAE_ARRAY(bool, x->equations + 1);
    x->seen = DAE_ARRAY(bool, x->equations + 1);
    x->mute = DAE_ARRAY(const char *, x->equations + 1);
    x->fires = DAE_ARRAY(bool, x->whens + 1);
    x->slope = DAE_ARRAY(double, x->derivatives + 1);
    x->slope_off = DAE_ARRAY(double, x->derivatives + 1);
    x->could = DAE_ARRAY(char, x->conditions + 1);
    x->can = DAE_ARRAY(char, x->conditions + 1);
    x->now = DAE_ARRAY(char, x->conditions + 1);
    x->breaks = DAE_ARRAY(double, MOST_BREAKS);
    x->reached = DAE_ARRAY(bool, x->n + 1);
    return x->column && x->skipped && x->seen && x->mute && x->fires && x->slope && x->slope_off &&
           x->could && x->can && x->now && x->breaks && x->reached && find_columns(x) &&
           reader_find_definitions(x) && reader_past_new(x) && make_room(x, x->n, x->equations);
}

static void list_gaps(reader *x)
{
    const judge_gap *g;
    size_t count = judge_gaps(x->judge, &g);
    for (size_t k = 0; k < count; k++)
        if (!g[k].harmless) note_gap(x, g[k].line, "%s", g[k].construct);
}

static bool find_breaks(reader *x, double t0)
{
    double from = fmin(t0, t0 + x->span), to = fmax(t0, t0 + x->span);
    dae_status status =
        from < to ? judge_breaks(x->judge, from, to, BEND, MOST_BREAKS, x->breaks, &x->break_count)
                  : DAE_OK;
    return status != DAE_ERR_MEMORY;
}

reader *reader_of_text(const dae_problem *problem, const tolerances *tolerance, double t0,
                       double span, double limit)
{
    reader *x = new_reader(problem, tolerance, span, limit);
    const dae_model *m = problem->source;
    size_t count = 0;
    dae_diag diag = {0};
    judge_override *overrides = x ? find_overrides(problem, &count) : NULL;
    dae_status status =
        overrides ? judge_open(m->text, m->length, m->file, overrides, count, &x->judge, &diag)
                  : DAE_ERR_MEMORY;
    dae_free(overrides);
    bool ok = status != DAE_ERR_MEMORY;
    if (ok && status != DAE_OK) note_gap(x, diag.line, "the text: %s", diag.text);
    if (ok && status == DAE_OK) ok = list_contents(x) && find_breaks(x, t0);
    if (ok && status == DAE_OK) {
        x->panels.residual = text_residual;
        for (int d = 0; d < x->derivatives; d++)
            x->panels.second = x->panels.second || x->derivative[d].order > 1;
        judge_start_values(x->judge, x->base);
        list_gaps(x);
        skip_inputs(x);
        return x;
    }
    if (ok) return x;
    reader_free(x);
    return NULL;
}

/* ---- callbacks ---- */

static double random_part(reader *x)
{
    x->random = x->random * 1664525u + 1013904223u;
    return (double)(x->random >> 8) / 16777216.0;
}

/* In [-1, -0.5] or [0.5, 1] */
static double random_move(reader *x)
{
    double size = 0.5 + 0.5 * random_part(x);
    return random_part(x) < 0.5 ? -size : size;
}

/* E x' - f and g, each row on its own: a residual form of more rows than unknowns would mix them.
 */
static bool row_residuals(const reader *x, double t, const double *y, const double *yp, double *f)
{
    const quasilinear_form *q = x->rows;
    for (size_t k = 0; k < q->E_matrix.count; k++) x->matrix[k] = 0.0;
    if (q->E(q->context, t, y, x->matrix) != EVAL_OK || q->f(q->context, t, y, f) != EVAL_OK)
        return false;
    for (int i = 0; i < q->ne; i++) f[i] = -f[i];
    form_matrix_multiply(&q->E_matrix, x->matrix, 1.0, yp, f);
    return q->ng == 0 || q->g(q->context, t, y, f + q->ne) == EVAL_OK;
}

static bool residuals_at(reader *x, double t, const double *y, const double *yp, double *f)
{
    if (x->rows) return row_residuals(x, t, y, yp, f);
    return evaluate_residual(&x->eval, t, y, yp, f, &x->stats.residuals) == EVAL_OK;
}

/* Residuals of callbacks; what errors make of them is found by moving all values at random, the
 * most of a few moves, twice. */
static bool callback_residual(void *of, const panel_point *p, double *residual, double *spread)
{
    enum { MOVES = 4 };
    reader *x = of;
    size_t n = (size_t)x->n, m = (size_t)x->panels.residuals;
    double *y = x->moved, *yp = y + n, *f = yp + n;
    bool valued = residuals_at(x, p->t, p->v, p->slope, residual);
    for (size_t i = 0; i < m; i++) spread[i] = 0.0;
    for (size_t i = 0; i < m && !valued; i++) residual[i] = NAN;
    for (int move = 0; move < MOVES && valued; move++) {
        for (size_t i = 0; i < n; i++) {
            y[i] = p->v[i] + random_move(x) * x->off[i];
            yp[i] = p->slope[i] + random_move(x) * p->per_length * x->off[i];
        }
        bool moved = residuals_at(x, p->t, y, yp, f);
        for (size_t i = 0; i < m; i++)
            spread[i] = fmax(spread[i], moved ? 2.0 * fabs(f[i] - residual[i]) : (double)INFINITY);
    }
    return true;
}

/* The form of the callbacks, and whether it has rows E x' = f, 0 = g. False: memory. */
static bool find_rows(reader *x)
{
    const form_source *source = x->problem->forms;
    bool rows = form_source_kind(source) == KIND_QUASILINEAR;
    x->forms = form_instance_new(source, rows ? FORM_QUASILINEAR : 0, &x->eval);
    x->eval.forms = x->forms;
    if (!x->forms || !rows) return x->forms;
    x->rows = form_instance_set(x->forms)->quasilinear;
    x->matrix = DAE_ARRAY(double, x->rows ? x->rows->E_matrix.count + 1 : 1);
    return x->matrix;
}

reader *reader_of_callbacks(const dae_problem *problem, const tolerances *tolerance, double span,
                            double limit)
{
    reader *x = new_reader(problem, tolerance, span, limit);
    int n = problem->form.n, residuals = n;
    if (!x) return NULL;
    x->eval = (evaluator){.problem = problem, .stats = &x->stats};
    bool found = !problem->forms || find_rows(x);
    if (found && x->rows) residuals = x->rows->ne + x->rows->ng;
    x->moved = DAE_ARRAY(double, 2 * (size_t)n + (size_t)residuals);
    if (found && x->moved && make_room(x, n, residuals)) {
        x->panels.residual = callback_residual;
        return x;
    }
    reader_free(x);
    return NULL;
}

/* ---- what is seen of a run ---- */

/* Values that the user fixed are there at the start. */
static void check_fixed(reader *x, double t, const double *v)
{
    for (int i = 0; i < x->n; i++) {
        const judge_variable *q = &x->variable[i];
        bool held = q->fixed && q->type == JUDGE_REAL && q->variability == JUDGE_CONTINUOUS &&
                    !q->reinit && x->column[i] >= 0 && isfinite(q->start);
        double allowed = x->off[i] / x->limit, off = fabs(v[i] - q->start);
        if (!held || !(off > allowed)) continue;
        dae_verify_fault f = {q->name, q->line, t, v[i], q->start, allowed};
        reader_note(x, x->equations + x->whens + i, &f,
                    "line %d: %s begins with %.9g, where it is fixed at %.9g", q->line, q->name,
                    v[i], q->start);
    }
}

bool reader_start(reader *x, double t, const double *row, bool fixed)
{
    if (x->judge) {
        reader_place(x, row, x->mixed);
        x->size_time = t;
        reader_sized(x, t, x->mixed);
        if (!reader_past_start(x, t, x->mixed)) return false;
        sighting at = {.t = t, .v = x->mixed, .event = true, .first = true};
        if (fixed) check_fixed(x, t, x->mixed);
        if (fixed && !reader_initial_equations(x, &at)) return false;
        x->starting = true;
        x->fixed = fixed;
        return reader_watch_event(x, t, row);
    }
    x->size_time = t;
    return true;
}

bool reader_row(reader *x, double t, const double *row, bool event)
{
    if (!x->judge) return true;
    double near = 1e-12 * fmax(fabs(t), fabs(x->span));
    if (x->chained > 0 && fabs(t - x->chain[x->chained - 1].t) <= near)
        return true; /* an event is judged when it is over */
    double *v = x->mixed;
    reader_place(x, row, v);
    reader_sized(x, t, v);
    sighting at = {.t = t, .v = v, .event = event};
    return reader_equations(x, &at, NULL, NULL);
}

/* The step from .. to, in panels between the breaks within it. */
static bool look_between(reader *x, dae_solver *s, double from, double to)
{
    double low = fmin(from, to), high = fmax(from, to);
    size_t count = 0;
    x->pieces[count++] = low;
    for (size_t k = 0; k < x->break_count && x->breaks[k] < high; k++)
        if (x->breaks[k] > x->pieces[count - 1]) x->pieces[count++] = x->breaks[k];
    x->pieces[count++] = high;
    return panels_look(&x->panels, s, x->pieces, count);
}

/* How many breaks lie between two times, up to two. */
static int breaks_within(const reader *x, double from, double to)
{
    double low = fmin(from, to), high = fmax(from, to);
    size_t a = 0, b = x->break_count;
    while (a < b) {
        size_t middle = (a + b) / 2;
        if (x->breaks[middle] <= low)
            a = middle + 1;
        else
            b = middle;
    }
    int count = 0;
    while (count < 2 && a + (size_t)count < x->break_count && x->breaks[a + (size_t)count] < high)
        count++;
    return count;
}

/* The first break between two times, or the second of these. */
static double next_break(const reader *x, double from, double to)
{
    double sign = to < from ? -1.0 : 1.0, next = to;
    for (size_t k = 0; k < x->break_count; k++)
        if ((x->breaks[k] - from) * sign > 0.0 && (next - x->breaks[k]) * sign > 0.0)
            next = x->breaks[k];
    return next;
}

/* Whether what is differentiated comes to the end of a step at `end` continuously, where `inside`
 * is within it and so near that it hardly moves: values within a step may have been mended, and the
 * end not. */
static void check_end(reader *x, dae_solver *s, double inside, double end)
{
    double *a = x->mixed, *b = x->here, *c = x->beside;
    if (!reader_values(x, s, end, a) || !reader_values(x, s, inside, b) ||
        !reader_values(x, s, inside + (inside - end), c))
        return;
    for (int i = 0; i < x->n; i++) {
        const judge_variable *q = &x->variable[i];
        double moves = 2.0 * fabs(b[i] - c[i]);
        if (q->derivative < 0 || q->type != JUDGE_REAL || x->column[i] < 0) continue;
        if (!(fabs(a[i] - b[i]) > x->off[i] + moves)) continue;
        dae_verify_fault f = {
            .line = q->line, .t = end, .left = b[i], .right = a[i], .allowed = x->off[i] + moves};
        reader_note(
            x, x->equations + x->whens + i, &f,
            "%s (line %d) is %.9g at t = %.9g, and %.9g at t = %.9g, where a step ends: it is "
            "not continuous there",
            q->name, q->line, b[i], inside, a[i], end);
    }
}

/* Whether values have moved far since the last panel: fast parts of a run are short. */
static bool has_moved(reader *x, dae_solver *s, double to)
{
    double most = 0.0;
    if (x->moved_panels == MOVED_PANELS || !reader_values(x, s, to, x->here)) return false;
    for (int i = 0; i < x->n; i++) {
        double size = fmax(x->size[i], x->off[i]), move = fabs(x->here[i] - x->passed[i]);
        bool real = !x->variable || x->variable[i].type == JUDGE_REAL;
        if (real && size > 0.0 && move / size > most) most = move / size;
        x->passed[i] = x->here[i];
    }
    x->way += most;
    if (!(x->way >= x->move)) return false;
    if (++x->moved_panels % MOVED_PART == 0) x->move *= 4.0;
    return true;
}

/* Tiles over the step from .. to: as long as a cell, and not over what bends. */
static bool follow(reader *x, dae_solver *s, double from, double to)
{
    panels *p = &x->panels;
    double sign = to < from ? -1.0 : 1.0;
    if (p->collected == 0) p->tile_from = from + 1e-3 * (to - from);
    for (double end = NAN; !((end - to) * sign > 0.0);) {
        end = p->tile_from + sign * p->stretch * x->cell;
        end = next_break(x, p->tile_from, end);
        double begin = p->tile_from;
        if (!panels_follow(p, s, to, end)) return false;
        if (p->tile_from == begin) return true; /* it goes on in the next step */
    }
    return true;
}

/* The ends of a step are left out: switches may have either value there. */
bool reader_step(reader *x, dae_solver *s, double from, double to)
{
    double length = to - from, margin = length * (1e-4 + 1e-3 * random_part(x));
    double a = from + margin, b = to - margin;
    if (!(fabs(length) > 1e-12 * fmax(fabs(to), fabs(x->span))) || x->panels.residuals == 0)
        return true;
    if (x->judge && !reader_past_step(x, s, from, to)) return false;
    if (x->judge && !reader_watch_step(x, s, from, to)) return false;
    bool due = isnan(x->probed) || fabs(to - x->probed) >= x->cell;
    bool moved = has_moved(x, s, to);
    if (!due && !moved && breaks_within(x, a, b) < 2) {
        panels_skip(&x->panels);
        return follow(x, s, from, to);
    }
    x->way = 0.0;
    x->probed = to;
    x->size_time = to;
    if (!look_between(x, s, a, b)) return false;
    if (x->judge) check_end(x, s, b, to);
    if (x->judge) check_end(x, s, a, from);
    return follow(x, s, from, to); /* what one step shows is said first */
}

bool reader_end(reader *x)
{
    if (x->judge && !reader_watch_end(x)) return false;
    if (x->past.lost) note_gap(x, 0, "the past of what is delayed is not known");
    for (int e = 0; x->judge && e < x->equations; e++)
        if (x->mute[e] && !x->seen[e] && !x->skipped[e])
            note_gap(x, x->equation[e].line, "%s: %s",
                     x->equation[e].text ? x->equation[e].text : "an equation", x->mute[e]);
    return true;
}

/* Rows from elsewhere: two at one time are the sides of an event. */
bool reader_rows(reader *x, const trail *rows)
{
    size_t n = (size_t)rows->n;
    bool ok = reader_start(x, rows->t[0], rows->values, true);
    x->given = true;
    for (int r = 0; ok && r < rows->count; r++) {
        const double *row = rows->values + (size_t)r * n;
        double t = rows->t[r];
        bool event = (r > 0 && rows->t[r - 1] == t) || (r + 1 < rows->count && rows->t[r + 1] == t);
        ok = reader_row(x, t, row, event);
        if (!ok || !x->judge) continue;
        reader_place(x, row, x->here);
        ok = event ? reader_watch_event(x, t, row) : reader_watch_row(x, t, x->here);
    }
    return ok && reader_end(x);
}

double reader_finest(const reader *x)
{
    double finest = INFINITY, least = fabs(x->span) / MOST_BENDS;
    for (size_t k = 1; k < x->break_count; k++)
        finest = fmin(finest, x->breaks[k] - x->breaks[k - 1]);
    return fmax(finest, least);
}

const dae_verify_fault *reader_faults(const reader *x, int *count)
{
    *count = x->faults;
    return x->fault;
}

const dae_verify_gap *reader_gaps(const reader *x, int *count)
{
    *count = x->gaps;
    return x->gap;
}
