/* Inputs of the whole model: what drives them from outside, and what becomes of the others. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "modelica/flatten/flatten_declare.h"

static const source_place NOWHERE = {0, 0};

static bool is_input(const symbol *s)
{
    return s->declaration->input && !s->parameter && !s->constant && !s->absent;
}

/* ---- before the declarations ---- */

/* Whether a name is that of a component, or of a part of it. */
static bool lies_in(const char *name, const char *component)
{
    return flat_name_means(component, name);
}

void release_driven(flattener *f)
{
    for (size_t k = 0; k < f->model_symbol_count; k++) {
        symbol *s = &f->model_symbols[k];
        for (size_t i = 0; s->declaration->input && i < f->input_count && !s->driven; i++)
            s->driven = lies_in(f->inputs[i].name, s->declaration->name);
    }
}

/* ---- which variables an input is ---- */

/* The variables that are inputs, as numbers; *count of them. */
static int *list_inputs(flattener *f, size_t *count)
{
    int *list = flatten_take(f, (f->m->variable_count + 1) * sizeof *list);
    *count = 0;
    for (size_t v = 0; list && v < f->m->variable_count; v++)
        if (f->m->variables[v].input) list[(*count)++] = (int)v;
    return list;
}

static bool unknown_input(flattener *f, const flatten_input *in, const int *list, size_t count)
{
    enum { SHOWN = 10 };
    const char *names = count > 0 ? f->m->variables[list[0]].name : "";
    for (size_t k = 1; k < count && k < SHOWN && names; k++)
        names = flatten_text(f, "%s, %s", names, f->m->variables[list[k]].name);
    if (count == 0)
        return report_error(f, NOWHERE, "the model has no input '%s' (%s): it has no inputs",
                            in->name, in->source);
    return report_error(f, NOWHERE, "the model has no input '%s' (%s); its inputs are %s%s",
                        in->name, in->source, names ? names : "", count > SHOWN ? ", .." : "");
}

/* Let `in` drive a variable; false, with a message, if another one does. */
static bool claim(flattener *f, const flatten_input *in, int variable)
{
    const flatten_input *other = f->driven[variable];
    if (other)
        return report_error(f, f->m->variables[variable].place,
                            "input '%s' is given twice: by %s and by %s",
                            f->m->variables[variable].name, other->source, in->source);
    f->driven[variable] = in;
    return true;
}

/* ---- expressions ---- */

/* The component that holds an input; NULL: it is declared element by element. */
static symbol *component_of(flattener *f, const char *name)
{
    for (size_t k = 0; k < f->model_symbol_count; k++)
        if (lies_in(name, f->model_symbols[k].declaration->name)) return &f->model_symbols[k];
    return find_symbol(f, name[0] == '\'' ? name : flatten_text(f, "'%s'", name));
}

/* One input reads another, by their expressions. */
typedef struct input_edge {
    int from, to;
    bool done; /* it is part of no cycle */
} input_edge;

static void note_leaf(flattener *f, void *context, const expr_node *n)
{
    int from = *(const int *)context, to = -1;
    if (n->op == EXPR_VARIABLE) to = n->index;
    if (n->op == EXPR_MEMORY) to = f->slot_variable[n->index];
    if (to < 0 || !f->m->variables[to].input) return;
    input_edge *e = flatten_push(f, &f->edges, &f->edge_count, &f->edge_capacity, sizeof *f->edges);
    if (e) *e = (input_edge){from, to, false};
}

/* Note which inputs the expression of an input reads, element by element. */
static void note_reads(flattener *f, const value *target, const value *right)
{
    for (size_t k = 0; k < target->field_count && target->type == VALUE_RECORD; k++)
        if (right->type == VALUE_RECORD && k < right->field_count)
            note_reads(f, &target->fields[k], &right->fields[k]);
    if (target->type == VALUE_RECORD || right->type == VALUE_RECORD) return;
    for (size_t k = 0; k < target->count && k < right->count && !f->failed; k++) {
        const expr_node *n = graph_node(f->g, value_element(target, k));
        int from = n->op == EXPR_MEMORY ? f->slot_variable[n->index] : n->index;
        visit_begin(f);
        visit_leaves(f, value_element(right, k), note_leaf, &from);
    }
}

/* Drop what leads to inputs that read none, or comes from such as none reads; whether there was
 * any. */
static bool drop_edges(flattener *f)
{
    bool dropped = false;
    for (size_t k = 0; k < f->edge_count; k++) {
        input_edge *e = &f->edges[k];
        bool behind = false, before = false;
        for (size_t i = 0; i < f->edge_count && !e->done; i++) {
            behind = behind || (!f->edges[i].done && f->edges[i].from == e->to);
            before = before || (!f->edges[i].done && f->edges[i].to == e->from);
        }
        if (e->done || (behind && before)) continue;
        e->done = dropped = true;
    }
    return dropped;
}

/* Expressions of inputs must not lead back to their own. */
static void report_cycles(flattener *f)
{
    while (drop_edges(f)) continue;
    size_t first = 0;
    while (first < f->edge_count && f->edges[first].done) first++;
    if (first == f->edge_count) return;
    const char *path = f->m->variables[f->edges[first].from].name;
    int at = f->edges[first].from, start = at;
    for (size_t k = 0; k < f->edge_count; k++) { /* every edge that is left goes on */
        const input_edge *e = &f->edges[k];
        if (e->done || e->from != at) continue;
        at = e->to;
        path = flatten_text(f, "%s -> %s", path ? path : "", f->m->variables[at].name);
        if (at == start) break;
        k = SIZE_MAX; /* from the beginning */
        if (path && strlen(path) > 200) break;
    }
    report_error(f, f->m->variables[start].place,
                 "the expressions of inputs depend on themselves: %s", path ? path : "");
}

/* The place of a scalar input, or of the whole that `in` names. */
static value target_of(flattener *f, const flatten_input *in, const int *match, size_t count)
{
    const flat_variable *v = &f->m->variables[match[0]];
    if (count == 1 && !flat_name_means(v->name, in->name)) count = 2; /* an array of one */
    if (count > 1) {
        symbol *s = component_of(f, in->name);
        if (s && resolve_symbol(f, s, v->place) && flat_name_means(in->name, s->declaration->name))
            return s->value;
        return error_value(f, v->place,
                           "'%s' is a part of an input: give its elements or fields one by one",
                           in->name);
    }
    static const value_type types[] = {[FLAT_REAL] = VALUE_REAL,
                                       [FLAT_INTEGER] = VALUE_INTEGER,
                                       [FLAT_BOOLEAN] = VALUE_BOOLEAN,
                                       [FLAT_ENUMERATION] = VALUE_ENUMERATION};
    const symbol *s = component_of(f, in->name);
    value target = value_scalar(types[v->type], v->discrete ? graph_memory(f->g, v->memory)
                                                            : graph_variable(f->g, match[0], 0));
    target.class_ = s ? s->value.class_ : NULL;
    return target;
}

/* input = expression */
static void drive_by_expression(flattener *f, const flatten_input *in, const int *match,
                                size_t count)
{
    source_place place = f->m->variables[match[0]].place;
    int errors = message_errors(f->messages);
    value target = target_of(f, in, match, count);
    value right = value_is_error(&target) ? value_error() : evaluate(f, in->expression);
    if (!value_is_error(&right) && target.type == VALUE_INTEGER && right.type == VALUE_REAL)
        type_error(f, place, "value of an Integer", &right, "Integer");
    else if (!value_is_error(&right))
        equate(f, &target, &right, place, NULL);
    if (!value_is_error(&right)) note_reads(f, &target, &right);
    if (message_errors(f->messages) > errors)
        report_note(f, place, "in what is given for this input: %s", in->source);
}

/* ---- tables ---- */

/* The first row whose value a variable of this type cannot have; rows: none. */
static size_t unfit_row(const flatten_input *in, const flat_variable *v, const double *values)
{
    size_t i = 0;
    for (; i < in->table->rows; i++) {
        double x = values[i];
        bool whole = x == floor(x) && fabs(x) <= 2147483647.0;
        if (v->type == FLAT_INTEGER && !whole) break;
        if (v->type == FLAT_BOOLEAN && x != 0.0 && x != 1.0) break;
        if (v->type == FLAT_ENUMERATION && (!whole || x < 1.0)) break;
    }
    return i;
}

static bool check_values(flattener *f, const flatten_input *in, const flat_variable *v,
                         const double *values)
{
    static const char *const kinds[] = {[FLAT_INTEGER] = "an Integer, a whole number",
                                        [FLAT_BOOLEAN] = "a Boolean, 0 or 1",
                                        [FLAT_ENUMERATION] = "of an enumeration, 1 or more"};
    size_t row = unfit_row(in, v, values);
    if (row == in->table->rows) return true;
    int line = in->table->lines ? in->table->lines[row] : (int)row + 1;
    return report_error(f, v->place, "%s:%d: column '%s': input '%s' is %s, not %.15g",
                        in->table->name, line, in->name, v->name, kinds[v->type], values[row]);
}

static double *kept_numbers(flattener *f, const double *from, size_t count)
{
    double *kept = model_take(f, (count + 1) * sizeof *kept);
    if (kept) memcpy(kept, from, count * sizeof *kept);
    return kept;
}

/* The values of a column in the unit of its input; NULL, with a message: there are none. */
static const double *converted_values(flattener *f, const flatten_input *in, const flat_variable *v)
{
    const char *own = v->words->unit;
    double *kept = kept_numbers(f, in->values, in->table->rows);
    if (!kept || !in->unit || !own || !*own) return kept;
    if (isnan(unit_converted(0.0, in->unit, own))) {
        report_error(f, v->place,
                     "%s: the column for input '%s' is in '%s', which cannot be converted to '%s'",
                     in->table->name, v->name, in->unit, own);
        return NULL;
    }
    for (size_t i = 0; i < in->table->rows; i++) kept[i] = unit_converted(kept[i], in->unit, own);
    return kept;
}

static const double *spline_of(flattener *f, const flat_schedule *s, const double *values)
{
    double *bend = model_take(f, (s->rows + 1) * sizeof *bend);
    double *work = flatten_take(f, 2 * (s->rows + 1) * sizeof *work);
    if (bend && work) flat_spline(s->time, values, s->rows, bend, work);
    return bend;
}

/* The polynomial that a track puts into memory, over time. */
static expr track_value(flattener *f, const flat_schedule *s, const flat_track *q)
{
    expr v = graph_binary(f->g, EXPR_SUB, graph_time(f->g), graph_memory(f->g, s->origin));
    expr sum = EXPR_NONE;
    for (int j = CURVE_MOST - 1; j >= 0; j--) {
        if (q->memory[j] < 0) continue;
        expr c = graph_memory(f->g, q->memory[j]);
        sum = sum == EXPR_NONE
                  ? c
                  : graph_binary(f->g, EXPR_ADD, c, graph_binary(f->g, EXPR_MUL, v, sum));
    }
    return sum;
}

/* input = a polynomial whose coefficients the rows of a table give */
static void drive_by_table(flattener *f, const flatten_input *in, flat_schedule *s, int variable)
{
    static const int terms[] = {[CURVE_STEP] = 1, [CURVE_LINEAR] = 2, [CURVE_CUBIC] = 4};
    const flat_variable *v = &f->m->variables[variable];
    flat_track *q = &s->tracks[s->track_count];
    const double *values = converted_values(f, in, v);
    if (!values || !check_values(f, in, v, values)) return;
    *q = (flat_track){.curve = v->type == FLAT_REAL && !v->discrete ? in->curve : CURVE_STEP,
                      .value = values};
    if (q->curve == CURVE_CUBIC) q->bend = spline_of(f, s, q->value);
    for (int j = 0; j < CURVE_MOST; j++) q->memory[j] = j < terms[q->curve] ? new_memory(f) : -1;
    s->track_count++;
    bool discrete = v->discrete;
    expr left = discrete ? graph_memory(f->g, v->memory) : graph_variable(f->g, variable, 0);
    push_pair(f, &f->equations,
              (equation_pair){.left = left,
                              .right = track_value(f, s, q),
                              .type = v->type == FLAT_REAL ? VALUE_REAL : VALUE_INTEGER,
                              .place = v->place});
}

/* A text in which nothing looks like a hole for a value. */
static const char *without_holes(flattener *f, const char *text)
{
    char *copy = flatten_text(f, "%s", text);
    for (char *c = copy; c && *c; c++)
        if (*c == '{' || *c == '}') *c = '_';
    return copy;
}

/* The run stays where the table has rows, and goes forwards. */
static void check_range(flattener *f, const flatten_table *t, const flat_schedule *s,
                        source_place place)
{
    double first = t->time[0], last = t->time[t->rows - 1];
    expr now = graph_time(f->g), from = graph_memory(f->g, s->from);
    const char *name = without_holes(f, t->name);
    expr inside = graph_binary(f->g, EXPR_LE, now, constant(f, s->end));
    if (!t->hold)
        push_check(f, inside,
                   flatten_text(f,
                                "inputs from %s have times from %.9g to %.9g: there is no value at "
                                "{time}",
                                name ? name : "", first, last),
                   &now, FLAT_REAL, place);
    push_check(f, graph_binary(f->g, EXPR_LE, from, now),
               flatten_text(f,
                            "inputs from %s have times from %.9g to %.9g and are followed forwards "
                            "in time: there is no value at {time}",
                            name ? name : "", first, last),
               &now, FLAT_REAL, place);
}

/* Its last time, and what sums of steps may miss it by. */
static double end_of(const flatten_table *t)
{
    double last = t->time[t->rows - 1], size = fabs(last) + fabs(last - t->time[0]);
    return last + 1e-12 * (size > 0.0 ? size : 1.0);
}

/* The times of a table, as a clock of the model. */
static flat_schedule *schedule_of(flattener *f, const flatten_table *t, size_t most,
                                  source_place place)
{
    flat_model *m = f->m;
    flat_schedule *s = model_take(f, sizeof *s);
    if (!s) return NULL;
    *s = (flat_schedule){.rows = t->rows, .hold = t->hold, .end = end_of(t)};
    s->time = kept_numbers(f, t->time, t->rows);
    s->tracks = model_take(f, (most + 1) * sizeof *s->tracks);
    s->origin = new_memory(f);
    s->from = new_memory(f);
    int memory = new_memory(f);
    flat_sample *clock =
        flatten_push(f, &m->samples, &m->sample_count, &f->sample_capacity, sizeof *m->samples);
    if (!clock || !s->time || !s->tracks) return NULL;
    *clock = (flat_sample){.start = constant(f, t->time[0]),
                           .interval = constant(f, 1.0),
                           .memory = memory,
                           .place = place,
                           .schedule = s};
    return s;
}

/* ---- functions from outside ---- */

/* A slot for the next jump of a function, and a clock that strikes there; DBL_MAX where it has
 * none.
 */
static expr jump_of(flattener *f, const flatten_input *in, source_place place)
{
    if (!in->jump) return constant(f, DBL_MAX);
    const double start = 0.0;
    const flatten_table none = {.name = in->source, .rows = 1, .time = &start, .hold = true};
    flat_schedule *s = schedule_of(f, &none, 0, place);
    if (!s) return EXPR_NONE;
    s->jump = in->jump;
    s->user = in->signal->user;
    return graph_memory(f->g, s->from);
}

/* input = function of time */
static void drive_by_signal(flattener *f, const flatten_input *in, int variable)
{
    const flat_variable *v = &f->m->variables[variable];
    if (v->discrete) {
        report_error(f, v->place,
                     "input '%s' changes at events only: an expression or a file can drive it, a "
                     "callback cannot",
                     v->name);
        return;
    }
    graph_signal s = *in->signal;
    s.name = v->name;
    int number = graph_add_signal(f->g, &s);
    source_place place = v->place;
    push_pair(f, &f->equations,
              (equation_pair){.left = graph_variable(f->g, variable, 0),
                              .right = graph_signal_node(f->g, number, 0, graph_time(f->g),
                                                         jump_of(f, in, place)),
                              .type = VALUE_REAL,
                              .place = place});
}

/* ---- all of them ---- */

/* The inputs of one table, from number `first` on. */
typedef struct table_use {
    flat_schedule *schedule; /* NULL: no column so far is an input */
    const char *others;      /* columns that are none */
    size_t other_count;
} table_use;

static void note_other(flattener *f, table_use *u, const char *name)
{
    enum { SHOWN = 10 };
    if (u->other_count++ < SHOWN)
        u->others =
            flatten_text(f, "%s%s%s", u->others ? u->others : "", u->others ? ", " : "", name);
    else if (u->other_count == SHOWN + 1)
        u->others = flatten_text(f, "%s, ..", u->others ? u->others : "");
}

static void drive_one(flattener *f, const flatten_input *in, size_t left, const int *list,
                      size_t count, table_use *u)
{
    int *match = flatten_take(f, (count + 1) * sizeof *match);
    size_t matches = 0;
    bool claimed = true;
    for (size_t k = 0; match && k < count; k++) {
        const char *name = f->m->variables[list[k]].name;
        bool means = flat_name_means(in->name, name);
        if (!in->expression) means = means && flat_name_means(name, in->name); /* scalars alone */
        if (means) match[matches++] = list[k];
    }
    if (matches == 0 && in->optional)
        note_other(f, u, in->name);
    else if (matches == 0)
        unknown_input(f, in, list, count);
    for (size_t k = 0; k < matches; k++) claimed = claim(f, in, match[k]) && claimed;
    if (matches == 0 || !claimed) return;
    source_place place = f->m->variables[match[0]].place;
    if (in->expression) drive_by_expression(f, in, match, matches);
    if (in->signal) drive_by_signal(f, in, match[0]);
    if (!in->table) return;
    if (!u->schedule) {
        u->schedule = schedule_of(f, in->table, left, place);
        if (u->schedule) check_range(f, in->table, u->schedule, place);
    }
    if (u->schedule) drive_by_table(f, in, u->schedule, match[0]);
}

/* What is to be said of a table when its last column is done. */
static void end_table(flattener *f, const flatten_input *in, const table_use *u, const int *list,
                      size_t count)
{
    if (u->schedule && in->table->time_unit)
        report_warning(f, NOWHERE, "the times of %s are in '%s': they become seconds", in->source,
                       in->table->time_unit);
    if (u->other_count == 0) return;
    if (!u->schedule) {
        flatten_input all = *in;
        all.name = u->others;
        unknown_input(f, &all, list, count);
        return;
    }
    report_warning(f, NOWHERE, "columns of %s that are no inputs of the model: %s", in->source,
                   u->others ? u->others : "");
}

static void drive_given(flattener *f)
{
    size_t count = 0;
    const int *list = list_inputs(f, &count);
    for (size_t i = 0; i < f->input_count && list && !f->failed;) {
        table_use u = {0};
        size_t end = i + 1;
        const flatten_table *t = f->inputs[i].table;
        while (t && end < f->input_count && f->inputs[end].table == t) end++;
        for (size_t k = i; k < end && !f->failed; k++)
            drive_one(f, &f->inputs[k], end - k, list, count, &u);
        end_table(f, &f->inputs[i], &u, list, count);
        i = end;
    }
}

/* ---- the others ---- */

static size_t count_leaves(const value *v)
{
    if (v->type != VALUE_RECORD) return value_is_error(v) ? 0 : v->count;
    size_t sum = 0;
    for (size_t k = 0; k < v->field_count; k++) sum += count_leaves(&v->fields[k]);
    return sum;
}

/* input = start value */
static void rest_input(flattener *f, size_t number)
{
    const flat_variable *v = &f->m->variables[number];
    expr left = v->discrete ? graph_memory(f->g, v->memory) : graph_variable(f->g, (int)number, 0);
    expr start = v->has_start ? v->start : constant(f, v->type == FLAT_ENUMERATION ? 1.0 : 0.0);
    push_pair(f, &f->equations,
              (equation_pair){.left = left,
                              .right = start,
                              .type = v->type == FLAT_REAL ? VALUE_REAL : VALUE_INTEGER,
                              .place = v->place});
}

/* An input that nothing drives keeps its start value. Without one the model can be looked at, but
 * not run: a condition that never holds says so. */
static void rest_inputs(flattener *f, const symbol *s)
{
    size_t end = (size_t)s->first_variable + count_leaves(&s->value);
    const char *resting = NULL, *lacking = NULL;
    for (size_t k = (size_t)s->first_variable; k < end && !f->failed; k++) {
        const flat_variable *v = &f->m->variables[k];
        if (f->driven[k]) continue;
        const char **first = v->has_start ? &resting : &lacking;
        if (!*first) *first = v->name;
        rest_input(f, k);
    }
    source_place place = s->declaration->place;
    if (resting)
        report_warning(f, place, "input '%s' is not connected: it keeps its start value", resting);
    if (!lacking) return;
    report_warning(f, place,
                   "input '%s' has no value: a run needs an expression, a file or a callback that "
                   "drives it, or a start value to keep",
                   lacking);
    push_check(f, graph_memory(f->g, new_memory(f)),
               flatten_text(f,
                            "input '%s' has no value: neither is it driven from outside, nor has "
                            "it a binding or a start value",
                            without_holes(f, lacking)),
               NULL, FLAT_REAL, place);
}

void drive_inputs(flattener *f)
{
    f->driven = DAE_ARRAY(const flatten_input *, f->m->variable_count + 1);
    if (!f->driven) f->failed = true;
    if (f->driven) drive_given(f);
    if (!f->failed) report_cycles(f);
    for (size_t k = 0; k < f->model_symbol_count && !f->failed; k++) {
        const symbol *s = &f->model_symbols[k];
        bool bound = s->declaration->value && !s->driven;
        if (s->state == SYMBOL_DONE && is_input(s) && !bound) rest_inputs(f, s);
    }
}
