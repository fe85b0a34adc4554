/* Derivatives, previous values, samples, and the functions that say how an expression is meant
 * (Modelica specification 3.6, 3.7.4, 3.7.5). */
#include <string.h>

#include "judge/judge_parts.h"

/* ---- derivatives ---- */

static const char *derivative_name(judge *j, int variable, int order)
{
    const char *name = j->variables[variable].name;
    for (int k = 0; k < order; k++) name = judge_format(j, "der(%s)", name);
    return name;
}

/* Index of a derivative; `add`: enter it if it is new. */
int judge_derivative_of(judge *j, int variable, int order, bool add)
{
    table_entry *e = judge_table_find(&j->ids, NULL, &j->derivatives, variable, order);
    if (e) return e->number;
    if (!add) return -1;
    judge_grow(j, &j->derivatives, &j->derivative_capacity, j->derivative_count + 1,
               sizeof *j->derivatives);
    e = judge_table_put(j, &j->ids, NULL, &j->derivatives, variable, order, NULL);
    e->number = (int)j->derivative_count++;
    j->derivatives[e->number] =
        (judge_derivative){derivative_name(j, variable, order), variable, order};
    if (order == 1) j->variables[variable].derivative = e->number;
    return e->number;
}

static cell derivative_cell(machine *m, const cell *of, int order, int line)
{
    judge *j = m->j;
    if (of->index == 0) return (cell){0};
    if (j->variables[of->index - 1].variability <= JUDGE_PARAMETER) return (cell){0};
    m->touched = m->varied = true;
    int k = judge_derivative_of(j, of->index - 1, order, !j->elaborated);
    if (m->trial || !m->point) return (cell){0};
    if (k >= 0 && m->reading) j->read_derivatives[k] = true;
    const double *d = k < 0 || m->past ? NULL : m->point->derivatives;
    if (!d || isnan(d[k]))
        judge_fail(m, line, "the derivative of '%s' is not known",
                   j->variables[of->index - 1].name);
    double spread = m->point->derivative_tolerances ? m->point->derivative_tolerances[k] : 0.0;
    return (cell){.v = d[k], .size = fabs(d[k]), .spread = spread};
}

static value call_der(machine *m, const node *n)
{
    int order = 1;
    const node *of = n->kids[0];
    for (; of->kind == NODE_BUILTIN && of->builtin == call_der; of = of->kids[0]) order++;
    if (of->kind != NODE_COMPONENT) judge_fail(m, n->line, "a derivative of an expression");
    judge_need_values(m, of->component, n->line);
    selection s = judge_select(m, of);
    value v = judge_make(m, s.type, &s.shape);
    int count = judge_cells(&v);
    for (int k = 0; k < count; k++)
        v.cells[k] = derivative_cell(m, judge_cell(&s, k), order, n->line);
    return v;
}

/* ---- previous values ---- */

static cell previous_cell(machine *m, const cell *of, int line)
{
    if (of->index == 0) judge_fail(m, line, "pre of what is not a variable");
    if (m->past) judge_fail(m, line, "what was before an event in the past");
    const judge_point *p = m->point;
    const judge_variable *x = &m->j->variables[of->index - 1];
    if (x->variability <= JUDGE_PARAMETER) return *of;
    double v = x->start, spread = 0.0;
    if (p) {
        v = p->before ? p->before[of->index - 1] : p->values[of->index - 1];
        if (p->tolerances) spread = p->tolerances[of->index - 1];
    }
    return (cell){.v = v, .size = fabs(v), .spread = spread};
}

static value call_pre(machine *m, const node *n)
{
    if (n->kids[0]->kind != NODE_COMPONENT) judge_fail(m, n->line, "pre of an expression");
    judge_need_values(m, n->kids[0]->component, n->line);
    selection s = judge_select(m, n->kids[0]);
    value v = judge_make(m, s.type, &s.shape);
    int count = judge_cells(&v);
    for (int k = 0; k < count; k++) v.cells[k] = previous_cell(m, judge_cell(&s, k), n->line);
    m->touched = m->varied = true;
    return v;
}

/* edge(b) = b and not pre(b); change(v) = v <> pre(v) */
static value call_edge(machine *m, const node *n)
{
    value before = call_pre(m, n), now = judge_eval(m, n->kids[0]);
    bool edge = n->name[0] == 'e';
    if (now.type->base >= BASE_STRING) judge_fail(m, n->line, "'%s' of a text or record", n->name);
    value v = judge_make(m, &judge_boolean, &now.shape);
    int count = judge_cells(&now);
    for (int k = 0; k < count; k++) {
        double x = now.cells[k].v, y = before.cells[k].v;
        bool holds = edge ? x != 0.0 && y == 0.0 : x != y;
        v.cells[k] = (cell){.v = holds, .size = holds};
    }
    return v;
}

/* ---- the start, the end, samples ---- */

static value call_initial(machine *m, const node *n)
{
    m->touched = m->varied = true;
    bool start = n->name[0] == 'i';
    bool is = m->point && (start ? m->point->initial : m->point->terminal);
    return judge_scalar(m, &judge_boolean, is);
}

static void note_sample(machine *m, double start, double interval, int line)
{
    judge *j = m->j;
    if (j->elaborated || isnan(start) || isnan(interval)) return;
    for (size_t k = 0; k < j->sample_count; k++)
        if (j->samples[k].line == line && j->samples[k].start == start &&
            j->samples[k].interval == interval)
            return;
    judge_grow(j, &j->samples, &j->sample_capacity, j->sample_count + 1, sizeof *j->samples);
    j->samples[j->sample_count++] = (judge_sample){line, start, interval};
}

/* sample(start, interval) is true at the events at start + k interval. */
static value call_sample(machine *m, const node *n)
{
    double start = judge_eval_number(m, n->kids[0]), interval = judge_eval_number(m, n->kids[1]);
    if (m->past) judge_fail(m, n->line, "a clock in the past");
    m->touched = m->varied = true;
    note_sample(m, start, interval, n->line);
    if (!(interval > 0.0) && !m->trial) judge_fail(m, n->line, "a sample without an interval");
    double k = fmax(round((m->time - start) / interval), 0.0), tick = start + k * interval;
    double rounding = 1e-13 * (fabs(m->time) + fabs(start) + fabs(interval));
    double spread = fmax(rounding, m->time_spread);
    bool on = m->point && m->point->event && fabs(m->time - tick) <= spread;
    double v = judge_switch_value(m, n, JUDGE_SAMPLE, on, !on, m->time - tick, spread,
                                  fabs(m->time - tick) > spread);
    return judge_scalar(m, &judge_boolean, v);
}

/* ---- how an expression is meant ---- */

static value call_no_event(machine *m, const node *n)
{
    m->noevent++;
    value v = judge_eval(m, n->kids[n->kid_count - 1]);
    m->noevent--;
    return v;
}

static value call_first(machine *m, const node *n)
{
    return judge_eval(m, n->kids[0]);
}

const builtin judge_event_builtins[] = {{"der", call_der, 1, 1, NULL},
                                        {"pre", call_pre, 1, 1, NULL},
                                        {"edge", call_edge, 1, 1, NULL},
                                        {"change", call_edge, 1, 1, NULL},
                                        {"initial", call_initial, 0, 0, NULL},
                                        {"terminal", call_initial, 0, 0, NULL},
                                        {"sample", call_sample, 2, 2, "start interval"},
                                        {"noEvent", call_no_event, 1, 1, NULL},
                                        {"smooth", call_no_event, 2, 2, "p expr"},
                                        {"homotopy", call_first, 2, 2, "actual simplified"},
                                        {"pure", call_first, 1, 1, NULL},
                                        {NULL, NULL, 0, 0, NULL}};

/* ---- all tables ---- */

const builtin *judge_builtin_find(const char *name)
{
    const builtin *tables[] = {judge_elementary_builtins, judge_array_builtins,
                               judge_event_builtins, judge_delay_builtins, judge_text_builtins};
    for (size_t t = 0; t < sizeof tables / sizeof tables[0]; t++)
        for (const builtin *b = tables[t]; b->name; b++)
            if (strcmp(b->name, name) == 0) return b;
    return NULL;
}
