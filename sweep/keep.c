/* What is kept of a run, from values inside its steps.
 *
 * Largest and smallest values, first times and integrals are looked for between the ends of steps,
 * too, on what the method interpolates: at the nodes of a Kronrod rule and, where these show that
 * there is something, by iteration. */
#define _POSIX_C_SOURCE 200809L
#include "sweep.h"

#include "internal.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum kind {
    END,
    START,
    AT,
    MAX,
    MIN,
    WHEN_MAX,
    MEAN,
    RMS,
    INTEGRAL,
    TIME,
    CURVE,
    KINDS
} kind;

static const char *const names[KINDS] = {"end",  "start", "at",       "max",  "min",  "timemax",
                                         "mean", "rms",   "integral", "time", "curve"};

enum { INSIDE = 7, NODES = SWEEP_NODES, MOST_HALVINGS = 12, MOST_CUTS = 64 };

typedef struct item {
    kind kind;
    sweep_expression *expression; /* owned; NULL: variable */
    int variable;
    double t;            /* of AT */
    int column;          /* the first of its columns */
    double best, where;  /* of MAX, MIN, WHEN_MAX; sums of integrals in best */
    double value[NODES]; /* at the nodes of the step */
    int switches;        /* of its expression: where it jumps or bends */
    double *margin;      /* of each of them, and for one time more; owned */
    bool done;           /* AT, TIME: found */
} item;

struct sweep_keep {
    item *list; /* owned */
    int count, capacity;
    char **name, **unit; /* of columns; owned */
    double *value;       /* of columns; owned */
    int columns;
    double *times; /* of curves; owned */
    int time_count, next_time;
    bool sampled, derivatives;
    double start, stop, rtol, atol;
    double t;                           /* where the run stood last */
    double *y, *derivative, *parameter; /* owned, one block at y */
    int parameters;
    dae_solver *solver; /* of the run */
    dae_status status;  /* of the last reading */
};

/* ---- values ---- */

/* All variables at a time of the last step. */
static void read_at(sweep_keep *k, double t)
{
    if (k->status < 0) return;
    k->status = dae_solver_variables(k->solver, t, k->y);
    if (k->status >= 0 && k->derivatives)
        k->status = dae_solver_derivatives(k->solver, t, k->derivative);
    k->t = t;
}

static sweep_values values_of(const sweep_keep *k)
{
    return (sweep_values){k->t, k->y, k->derivative, k->parameter};
}

/* The item's expression where values were read last. */
static double value_of(const sweep_keep *k, const item *i)
{
    sweep_values at = values_of(k);
    return i->expression ? sweep_expression_value(i->expression, &at) : k->y[i->variable];
}

static double value_at(sweep_keep *k, const item *i, double t)
{
    read_at(k, t);
    double x = value_of(k, i);
    return i->kind == RMS ? x * x : x;
}

/* ---- extrema ---- */

/* MIN looks for the largest of the negative. */
static double height(const item *i, double x)
{
    return i->kind == MIN ? -x : x;
}

/* What is not a number is not a number in the end. */
static void offer(item *i, double t, double x)
{
    double h = height(i, x);
    if (isnan(i->best) && i->done) return;
    if (i->done && !isnan(h) && h <= i->best) return;
    i->best = h;
    i->where = t;
    i->done = true;
}

/* A function of time that is to be largest: the height of an item, or what is left to a switch. */
typedef struct curve {
    sweep_keep *keep;
    const item *item;
    int which;   /* switch */
    double sign; /* of its margin */
} curve;

static double item_height(double t, void *user)
{
    const curve *c = user;
    return height(c->item, value_at(c->keep, c->item, t));
}

/* The largest value within the nodes: at them, and near those that stand out. */
static void look_for_largest(sweep_keep *k, item *i, const double *t)
{
    double h[NODES], where, top;
    curve c = {.keep = k, .item = i};
    for (int j = 0; j < NODES; j++) {
        h[j] = height(i, i->value[j]);
        offer(i, t[j], i->value[j]);
    }
    for (int j = 0; j < NODES && k->status >= 0; j++)
        if (sweep_peak(item_height, &c, t, h, j, i->best, &where, &top))
            offer(i, where, height(i, top));
}

/* ---- first times ---- */

static bool holds(const sweep_keep *k, const item *i)
{
    return value_of(k, i) != 0.0;
}

/* The end of a bisection, as close as numbers are. */
static void found_between(sweep_keep *k, item *i, double before, double after)
{
    for (int n = 0; n < 100 && k->status >= 0; n++) {
        double middle = before + 0.5 * (after - before);
        if (middle <= fmin(before, after) || middle >= fmax(before, after)) break;
        if (fabs(after - before) <= 1e-14 * fmax(fabs(before), fabs(after))) break;
        read_at(k, middle);
        if (holds(k, i))
            after = middle;
        else
            before = middle;
    }
    i->best = after;
    i->done = true;
}

static void look_for_first(sweep_keep *k, item *i, const double *t)
{
    if (i->done) return;
    if (i->value[0] != 0.0) {
        i->best = t[0];
        i->done = true;
        return;
    }
    for (int j = 1; j < NODES; j++)
        if (i->value[j] != 0.0) {
            found_between(k, i, t[j - 1], t[j]);
            return;
        }
}

/* ---- where expressions jump and bend ---- */

/* The side of a switch on which a margin lies. */
static int side(double margin)
{
    return isnan(margin) ? 2 : (margin > 0.0) - (margin < 0.0);
}

static double margin_at(sweep_keep *k, const item *i, int which, double t)
{
    double *now = i->margin + (size_t)NODES * (size_t)i->switches;
    read_at(k, t);
    sweep_values at = values_of(k);
    sweep_expression_margins(i->expression, &at, now);
    return now[which];
}

/* How close a margin comes to 0, or how far beyond. */
static double approach(double t, void *user)
{
    const curve *c = user;
    return -c->sign * margin_at(c->keep, c->item, c->which, t);
}

/* Times within a step between which an expression is smooth. */
typedef struct cuts {
    double t[MOST_CUTS];
    int count;
} cuts;

/* The side changes between two times: where, to a part of 1e-13 of the step. */
static void cut_between(sweep_keep *k, const item *i, int which, double a, double b, double step,
                        cuts *to)
{
    const int before = side(margin_at(k, i, which, a));
    while (b - a > 1e-13 * step && k->status >= 0) {
        double middle = a + 0.5 * (b - a);
        if (middle <= a || middle >= b) break;
        if (side(margin_at(k, i, which, middle)) == before)
            a = middle;
        else
            b = middle;
    }
    int n = to->count < MOST_CUTS ? to->count++ : MOST_CUTS - 1;
    for (; n > 0 && to->t[n - 1] > b; n--) to->t[n] = to->t[n - 1];
    to->t[n] = b;
}

/* One switch: changes from node to node, and margins that come to 0 and go back between them. */
static void cut_by(sweep_keep *k, const item *i, int which, const double *t, cuts *to)
{
    const double *m = i->margin + (size_t)NODES * (size_t)which, step = t[NODES - 1] - t[0];
    double near[NODES], where, top;
    for (int j = 0; j + 1 < NODES; j++)
        if (side(m[j]) != side(m[j + 1])) cut_between(k, i, which, t[j], t[j + 1], step, to);
    for (int j = 0; j < NODES && k->status >= 0; j++) {
        int left = j > 0 ? j - 1 : 0, right = j + 1 < NODES ? j + 1 : j, own = side(m[j]);
        if (own == 0 || own == 2 || side(m[left]) != own || side(m[right]) != own) continue;
        curve c = {.keep = k, .item = i, .which = which, .sign = own};
        for (int n = 0; n < NODES; n++) near[n] = -own * m[n];
        if (!sweep_peak(approach, &c, t, near, j, 0.0, &where, &top)) continue;
        cut_between(k, i, which, t[left], where, step, to);
        cut_between(k, i, which, where, t[right], step, to);
    }
}

/* The times of a step at which the expression of an item jumps or bends. */
static void find_cuts(sweep_keep *k, const item *i, const double *t, cuts *to)
{
    to->count = 0;
    for (int s = 0; s < i->switches && k->status >= 0; s++) cut_by(k, i, s, t, to);
}

/* ---- integrals ---- */

/* Nodes and weights of the rule of Kronrod over that of Gauss with three nodes [PDUK83]. */
static const double node[INSIDE] = {
    -0.960491268708020283423507092629, -0.774596669241483377035853079956,
    -0.434243749346802558002071502844, 0.0,
    0.434243749346802558002071502844,  0.774596669241483377035853079956,
    0.960491268708020283423507092629};
static const double kronrod[INSIDE] = {
    0.104656226026467265193823857192, 0.268488089868333440728569280666,
    0.401397414775962222905051818618, 0.450916538658474142345110087045,
    0.401397414775962222905051818618, 0.268488089868333440728569280666,
    0.104656226026467265193823857192};
static const double gauss[INSIDE] = {0.0, 5.0 / 9.0, 0.0, 8.0 / 9.0, 0.0, 5.0 / 9.0, 0.0};

/* The times of a step, its ends too. */
static void make_nodes(double a, double b, double t[NODES])
{
    t[0] = a;
    for (int j = 0; j < INSIDE; j++) t[j + 1] = 0.5 * (a + b) + 0.5 * (b - a) * node[j];
    t[NODES - 1] = b;
}

/* The integral from values at the inner nodes; false: its halves are to be looked at. Of squares
 * the tolerance is that of what is squared. */
static bool apply_rule(const sweep_keep *k, const item *i, double a, double b, const double *x,
                       double *sum)
{
    double fine = 0.0, coarse = 0.0, size = 0.0, half = 0.5 * (b - a);
    for (int j = 0; j < INSIDE; j++) {
        fine += kronrod[j] * x[j];
        coarse += gauss[j] * x[j];
        size += kronrod[j] * fabs(x[j]);
    }
    *sum = half * fine;
    double small = i->kind == RMS ? k->atol * sqrt(size) : k->atol;
    return !(fabs(fine - coarse) > k->rtol * size + small);
}

static double integrate(sweep_keep *k, const item *i, double a, double b, const double *known,
                        int halvings)
{
    double t[NODES], x[INSIDE], sum;
    make_nodes(a, b, t);
    for (int j = 0; j < INSIDE; j++) x[j] = known ? known[j] : value_at(k, i, t[j + 1]);
    if (apply_rule(k, i, a, b, x, &sum) || halvings == MOST_HALVINGS || k->status < 0) return sum;
    double middle = t[NODES / 2];
    return integrate(k, i, a, middle, NULL, halvings + 1) +
           integrate(k, i, middle, b, NULL, halvings + 1);
}

/* ---- a run ---- */

static bool is_sampled(kind what)
{
    return what >= MAX && what <= TIME;
}

/* Values at a single time: the start, or behind an event. */
static void look_at_point(sweep_keep *k, double t)
{
    read_at(k, t);
    for (int n = 0; n < k->count && k->status >= 0; n++) {
        item *i = &k->list[n];
        double x = value_of(k, i);
        if (i->kind == MAX || i->kind == MIN || i->kind == WHEN_MAX) offer(i, t, x);
        if (i->kind == TIME && !i->done && x != 0.0) i->best = t, i->done = true;
    }
}

/* What an item is at a node, for look_in. */
static void note_node(const sweep_keep *k, item *i, int j)
{
    double x = value_of(k, i);
    i->value[j] = i->kind == RMS ? x * x : x;
}

/* .. and how far it is from places where it jumps or bends. */
static void note_margins(const sweep_keep *k, item *i, int j)
{
    double *now = i->margin + (size_t)NODES * (size_t)i->switches;
    sweep_values at = values_of(k);
    sweep_expression_margins(i->expression, &at, now);
    for (int s = 0; s < i->switches; s++) i->margin[NODES * s + j] = now[s];
}

/* One item between two times, from its values at the nodes. */
static void look_in(sweep_keep *k, item *i, const double *t)
{
    if (i->kind == MAX || i->kind == MIN || i->kind == WHEN_MAX) look_for_largest(k, i, t);
    if (i->kind == TIME) look_for_first(k, i, t);
    if (i->kind == MEAN || i->kind == RMS || i->kind == INTEGRAL)
        i->best += integrate(k, i, t[0], t[NODES - 1], i->value + 1, 0);
}

/* An item that jumps or bends: piece by piece between these places. */
static void look_in_pieces(sweep_keep *k, item *i, const double *t)
{
    cuts at;
    double from = t[0], piece[NODES];
    if (i->kind == TIME && i->done) return;
    find_cuts(k, i, t, &at);
    if (at.count == 0) {
        look_in(k, i, t);
        return;
    }
    for (int c = 0; c <= at.count && k->status >= 0; c++) {
        double to = c < at.count ? at.t[c] : t[NODES - 1];
        if (!(to > from)) continue;
        make_nodes(from, to, piece);
        for (int j = 0; j < NODES; j++) {
            read_at(k, piece[j]);
            note_node(k, i, j);
        }
        look_in(k, i, piece);
        from = to;
    }
}

static void look_at_step(sweep_keep *k, double a, double b)
{
    double t[NODES];
    make_nodes(a, b, t);
    for (int j = 0; j < NODES && k->status >= 0; j++) {
        read_at(k, t[j]);
        for (int n = 0; n < k->count; n++) {
            item *i = &k->list[n];
            if (!is_sampled(i->kind)) continue;
            note_node(k, i, j);
            if (i->switches > 0) note_margins(k, i, j);
        }
    }
    for (int n = 0; n < k->count && k->status >= 0; n++) {
        item *i = &k->list[n];
        if (!is_sampled(i->kind)) continue;
        if (i->switches > 0)
            look_in_pieces(k, i, t);
        else
            look_in(k, i, t);
    }
}

/* Values at times that were asked for, up to b; before an event there. */
static void look_at_times(sweep_keep *k, double a, double b, bool first)
{
    for (int n = 0; n < k->count && k->status >= 0; n++) {
        item *i = &k->list[n];
        bool due = i->kind == AT && !i->done && (first ? i->t == a : i->t > a && i->t <= b);
        if (!due) continue;
        k->value[i->column] = value_at(k, i, i->t);
        i->done = true;
    }
    for (; k->next_time < k->time_count && k->times[k->next_time] <= b; k->next_time++) {
        read_at(k, k->times[k->next_time]);
        for (int n = 0; n < k->count && k->status >= 0; n++)
            if (k->list[n].kind == CURVE)
                k->value[k->list[n].column + k->next_time] = value_of(k, &k->list[n]);
    }
}

dae_status sweep_keep_start(sweep_keep *k, const dae_problem *problem, dae_solver *solver)
{
    k->solver = solver;
    k->status = DAE_OK;
    k->next_time = 0;
    for (int c = 0; c < k->columns; c++) k->value[c] = NAN;
    for (int p = 0; p < k->parameters; p++)
        k->parameter[p] = dae_problem_parameter_value(problem, p);
    for (int n = 0; n < k->count; n++) {
        item *i = &k->list[n];
        bool sum = i->kind == MEAN || i->kind == RMS || i->kind == INTEGRAL;
        i->best = sum ? 0.0 : NAN;
        i->where = NAN;
        i->done = false;
    }
    double t = dae_solver_time(solver);
    look_at_point(k, t);
    for (int n = 0; n < k->count && k->status >= 0; n++)
        if (k->list[n].kind == START) k->value[k->list[n].column] = value_of(k, &k->list[n]);
    look_at_times(k, t, t, true);
    k->t = t;
    return k->status;
}

dae_status sweep_keep_step(sweep_keep *k, dae_solver *solver)
{
    double a = k->t, b = dae_solver_time(solver);
    if (b > a) look_at_times(k, a, b, false);
    if (k->sampled && b > a) look_at_step(k, a, b);
    if (k->sampled && b == a) look_at_point(k, b);
    k->t = b;
    return k->status;
}

/* The columns of an item once the run is over. */
static void conclude(sweep_keep *k, item *i, double t)
{
    double span = t - k->start, *to = &k->value[i->column];
    switch (i->kind) {
    case END: *to = value_of(k, i); break;
    case MAX: *to = i->best; break;
    case MIN: *to = -i->best; break;
    case WHEN_MAX: *to = i->where; break;
    case INTEGRAL: *to = i->best; break;
    case MEAN: *to = span > 0.0 ? i->best / span : value_of(k, i); break;
    case RMS: *to = span > 0.0 ? sqrt(i->best / span) : fabs(value_of(k, i)); break;
    case TIME: *to = i->best; break;
    case START:
    case AT:
    case CURVE:
    case KINDS: break;
    }
}

dae_status sweep_keep_end(sweep_keep *k, dae_solver *solver)
{
    double t = dae_solver_time(solver);
    look_at_point(k, t); /* the last event may have changed something */
    for (int n = 0; n < k->count && k->status >= 0; n++) conclude(k, &k->list[n], t);
    return k->status;
}

const double *sweep_keep_values(const sweep_keep *k)
{
    return k->value;
}

/* Columns of item q that the run has come to; of a first time none: nan says that it never was. */
static int columns_met(const sweep_keep *k, const item *q)
{
    if (q->kind == TIME || (q->kind == AT && !q->done)) return 0;
    return q->kind == CURVE ? k->next_time : 1;
}

const char *sweep_keep_undefined(const sweep_keep *k)
{
    for (int i = 0; i < k->count; i++) {
        const item *q = &k->list[i];
        for (int c = q->column; c < q->column + columns_met(k, q); c++)
            if (!isfinite(k->value[c])) return k->name[c];
    }
    return NULL;
}

/* ---- words ---- */

static report_status no_memory(report_error *error)
{
    return report_fail(error, REPORT_ERR_MEMORY, "Out of memory for what is kept.");
}

/* Up to a comma outside of brackets and quotes. */
static size_t item_length(const char *text)
{
    int depth = 0;
    bool quoted = false;
    size_t n = 0;
    for (; text[n] && (text[n] != ',' || depth > 0 || quoted); n++) {
        if (quoted && text[n] == '\\' && text[n + 1])
            n++;
        else if (text[n] == '\'')
            quoted = !quoted;
        if (!quoted) depth += strchr("([", text[n]) ? 1 : strchr(")]", text[n]) ? -1 : 0;
    }
    return n;
}

/* A further column. */
static report_status add_column(sweep_keep *k, const char *name, size_t length, const char *unit,
                                report_error *error)
{
    size_t count = (size_t)k->columns + 1;
    char **name_list = realloc(k->name, count * sizeof *name_list);
    if (name_list) k->name = name_list;
    char **unit_list = realloc(k->unit, count * sizeof *unit_list);
    if (unit_list) k->unit = unit_list;
    if (!name_list || !unit_list) return no_memory(error);
    k->name[k->columns] = strndup(name, length);
    k->unit[k->columns] = strdup(unit);
    k->columns++;
    return k->name[k->columns - 1] && k->unit[k->columns - 1] ? REPORT_OK : no_memory(error);
}

static report_status add_item(sweep_keep *k, const item *what, report_error *error)
{
    if (k->count == k->capacity) {
        int capacity = 2 * k->capacity + 16;
        item *list = realloc(k->list, (size_t)capacity * sizeof *list);
        if (!list) return no_memory(error);
        k->list = list;
        k->capacity = capacity;
    }
    k->list[k->count] = *what;
    k->list[k->count++].column = k->columns;
    k->sampled = k->sampled || is_sampled(what->kind);
    return REPORT_OK;
}

/* `end` alone: all variables that are recorded */
static report_status add_all(sweep_keep *k, const dae_problem *problem,
                             const sweep_keep_request *request, report_error *error)
{
    report_status status = REPORT_OK;
    for (int n = 0; n < request->variable_count && status == REPORT_OK; n++) {
        char name[300];
        int i = request->variables[n];
        if (dae_problem_variable_info(problem, i).type == DAE_TYPE_STRING) continue;
        snprintf(name, sizeof name, "end(%.280s)", dae_problem_variable(problem, i));
        status = add_item(k, &(item){.kind = END, .variable = i}, error);
        if (status == REPORT_OK)
            status = add_column(k, name, strlen(name), dae_problem_unit(problem, i), error);
    }
    return status;
}

/* The unit of an item: that of its variable, where it is one alone. */
static void unit_of(const dae_problem *problem, const item *i, char unit[80])
{
    int variable = sweep_expression_variable(i->expression);
    const char *own = variable >= 0 ? dae_problem_unit(problem, variable) : "";
    bool time = i->kind == TIME || i->kind == WHEN_MAX;
    bool product = strpbrk(own, "./") != NULL;
    if (i->kind == INTEGRAL && *own)
        snprintf(unit, 80, product ? "(%.60s).s" : "%.60s.s", own);
    else
        snprintf(unit, 80, "%.79s", time ? "s" : i->kind == INTEGRAL ? "" : own);
}

/* "2, y" of at(2, y): the time, and where the rest begins */
static report_status read_time(const sweep_keep *k, const char *text, size_t length, double *t,
                               size_t *rest, report_error *error)
{
    char *end;
    size_t comma = item_length(text);
    *t = strtod(text, &end);
    while (isspace((unsigned char)*end)) end++;
    if (comma >= length || end != text + comma || !isfinite(*t))
        return report_fail(error, REPORT_ERR_ARGUMENT, "'at(%.*s)': it is at(TIME, EXPRESSION).",
                           (int)length, text);
    if (*t < k->start || *t > k->stop)
        return report_fail(error, REPORT_ERR_ARGUMENT,
                           "'at(%.*s)': the time lies outside of the run from %g to %g.",
                           (int)length, text, k->start, k->stop);
    *rest = comma + 1;
    return REPORT_OK;
}

/* Columns of a curve: "x@0.5" */
static report_status add_curve(sweep_keep *k, const char *text, size_t length, const char *unit,
                               report_error *error)
{
    report_status status = REPORT_OK;
    for (int n = 0; n < k->time_count && status == REPORT_OK; n++) {
        char name[400];
        snprintf(name, sizeof name, "%.*s@%.10g", (int)(length < 300 ? length : 300), text,
                 k->times[n]);
        status = add_column(k, name, strlen(name), unit, error);
    }
    return status;
}

/* "max(x)": the word before the bracket and what is inside */
static report_status read_item(sweep_keep *k, const dae_problem *problem, const char *text,
                               size_t length, report_error *error)
{
    size_t open = strcspn(text, "("), word = open, rest = 0;
    item i = {.kind = KINDS, .variable = -1};
    char unit[80];
    while (word > 0 && isspace((unsigned char)text[word - 1])) word--;
    for (int n = 0; n < KINDS && open < length; n++)
        if (strlen(names[n]) == word && strncmp(names[n], text, word) == 0) i.kind = (kind)n;
    if (i.kind == KINDS || text[length - 1] != ')')
        return report_fail(error, REPORT_ERR_ARGUMENT,
                           "'%.*s' says not what to keep: end, end(x), start(x), max(x), min(x), "
                           "timemax(x), mean(x), rms(x), integral(x), at(t, x), time(x > 1) or "
                           "curve(x), where x is an expression.",
                           (int)(length < 200 ? length : 200), text);
    const char *inside = text + open + 1;
    size_t size = length - open - 2;
    report_status status = REPORT_OK;
    if (i.kind == AT) status = read_time(k, inside, size, &i.t, &rest, error);
    if (status == REPORT_OK)
        status = sweep_expression_new(problem, inside + rest, size - rest, &i.expression, error);
    if (status != REPORT_OK) return status;
    if (i.kind == TIME && !sweep_expression_true(i.expression))
        status =
            report_fail(error, REPORT_ERR_ARGUMENT,
                        "'%.*s': time(..) takes a condition, as time(x > 1).", (int)length, text);
    k->derivatives = k->derivatives || sweep_expression_derivatives(i.expression);
    i.switches = is_sampled(i.kind) ? sweep_expression_switches(i.expression) : 0;
    if (i.switches > 0)
        i.margin = calloc((size_t)(NODES + 1) * (size_t)i.switches, sizeof *i.margin);
    if (status == REPORT_OK && i.switches > 0 && !i.margin) status = no_memory(error);
    if (status == REPORT_OK) status = add_item(k, &i, error);
    if (status != REPORT_OK) {
        free(i.margin);
        sweep_expression_free(i.expression);
        return status;
    }
    unit_of(problem, &i, unit);
    if (i.kind == CURVE) return add_curve(k, inside, size, unit, error);
    return add_column(k, text, length, unit, error);
}

static report_status read_items(sweep_keep *k, const dae_problem *problem,
                                const sweep_keep_request *request, report_error *error)
{
    report_status status = REPORT_OK;
    for (const char *at = request->text; status == REPORT_OK;) {
        size_t whole = item_length(at), length = whole;
        const char *text = at;
        while (length > 0 && isspace((unsigned char)*text)) text++, length--;
        while (length > 0 && isspace((unsigned char)text[length - 1])) length--;
        if (length == 0)
            status = report_fail(error, REPORT_ERR_ARGUMENT,
                                 "'%.200s': something is missing beside a comma.", request->text);
        else if (length == 3 && strncmp(text, "end", 3) == 0)
            status = add_all(k, problem, request, error);
        else
            status = read_item(k, problem, text, length, error);
        if (!at[whole]) break;
        at += whole + 1;
    }
    return status;
}

static report_status make_room(sweep_keep *k, const dae_problem *problem,
                               const sweep_keep_request *request, report_error *error)
{
    size_t n = (size_t)dae_problem_variable_count(problem);
    size_t derivatives = (size_t)dae_problem_derivative_count(problem);
    k->parameters = dae_problem_parameter_count(problem);
    k->y = calloc(n + derivatives + (size_t)k->parameters + 1, sizeof *k->y);
    k->times = calloc((size_t)request->time_count + 1, sizeof *k->times);
    if (!k->y || !k->times) return no_memory(error);
    k->derivative = k->y + n;
    k->parameter = k->derivative + derivatives;
    k->time_count = request->time_count;
    for (int j = 0; j < k->time_count; j++) k->times[j] = request->times[j];
    return REPORT_OK;
}

report_status sweep_keep_new(const dae_problem *problem, const sweep_keep_request *request,
                             sweep_keep **keep, report_error *error)
{
    sweep_keep *k = calloc(1, sizeof *k);
    *keep = NULL;
    if (!k) return no_memory(error);
    k->start = request->start;
    k->stop = request->stop;
    k->rtol = request->rtol;
    k->atol = request->atol;
    report_status status = make_room(k, problem, request, error);
    if (status == REPORT_OK) status = read_items(k, problem, request, error);
    if (status == REPORT_OK && sweep_keep_curves(k) == 0) k->time_count = 0;
    if (status == REPORT_OK && !(k->value = calloc((size_t)k->columns + 1, sizeof *k->value)))
        status = no_memory(error);
    if (status == REPORT_OK)
        *keep = k;
    else
        sweep_keep_free(k);
    return status;
}

void sweep_keep_free(sweep_keep *k)
{
    if (!k) return;
    for (int n = 0; n < k->count; n++) {
        sweep_expression_free(k->list[n].expression);
        free(k->list[n].margin);
    }
    for (int c = 0; c < k->columns; c++) {
        free(k->name[c]);
        free(k->unit[c]);
    }
    free(k->list);
    free(k->name);
    free(k->unit);
    free(k->value);
    free(k->times);
    free(k->y);
    free(k);
}

int sweep_keep_columns(const sweep_keep *k)
{
    return k->columns;
}

const char *sweep_keep_name(const sweep_keep *k, int column)
{
    return k->name[column];
}

const char *sweep_keep_unit(const sweep_keep *k, int column)
{
    return k->unit[column];
}

/* The number-th curve among the items; NULL: there are not so many */
static const item *curve_at(const sweep_keep *k, int number)
{
    for (int n = 0; n < k->count; n++)
        if (k->list[n].kind == CURVE && number-- == 0) return &k->list[n];
    return NULL;
}

int sweep_keep_curves(const sweep_keep *k)
{
    int count = 0;
    while (curve_at(k, count)) count++;
    return count;
}

int sweep_keep_curve_column(const sweep_keep *k, int number)
{
    return curve_at(k, number)->column;
}
