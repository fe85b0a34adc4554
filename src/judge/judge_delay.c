/* delay(expr, delayTime, delayMax): expr a while ago (Modelica specification 3.6, 3.7.4.1). The
 * caller knows what variables were then; the expression is evaluated with these, at that time. */
#include <string.h>

#include "judge/judge_parts.h"

/* Cells of variables that are in the past, with what they are now. */
typedef struct kept_cell {
    struct kept_cell *next;
    cell *at, now;
} kept_cell;

typedef void (*cell_work)(machine *m, cell *c, void *of);

/* Do something to all cells of variables that an expression may read. */
static void for_cells(machine *m, const node *n, cell_work work, void *of)
{
    const component *c = n->kind == NODE_COMPONENT ? n->component : NULL;
    int count = c && (c->cells || c->whole) ? judge_count(&c->shape) * c->type->cells : 0;
    for (int k = 0; k < count; k++) {
        cell *at = c->whole ? c->whole[k] : c->cells + k;
        bool moves = at->index > 0 && m->j->variables[at->index - 1].variability > JUDGE_PARAMETER;
        if (moves && m->j->variables[at->index - 1].type != JUDGE_STRING) work(m, at, of);
    }
    for (int k = 0; k < n->kid_count; k++)
        if (n->kids[k]) for_cells(m, n->kids[k], work, of);
    for (int s = 0; s < n->step_count; s++)
        for (int k = 0; k < n->steps[s].count; k++)
            if (n->steps[s].subscripts[k]) for_cells(m, n->steps[s].subscripts[k], work, of);
}

static void mark_delayed(machine *m, cell *c, void *of)
{
    (void)of;
    m->j->variables[c->index - 1].delayed = true;
}

static void go_back(machine *m, cell *c, void *of)
{
    kept_cell **list = of, *k = judge_stack_take(m, &m->scratch, sizeof *k);
    const judge_point *p = m->point;
    *k = (kept_cell){*list, c, *c};
    *list = k;
    c->spread = 0.0;
    c->v = p->past(p->past_of, c->index - 1, m->time, m->time_spread, &c->spread);
    c->size = fabs(c->v);
}

/* Not a view: the cells of variables have other values again. */
static value copied(machine *m, value v)
{
    value copy = judge_make(m, v.type, &v.shape);
    int count = judge_cells(&v);
    for (int k = 0; k < count; k++) {
        copy.cells[k] = v.cells[k];
        copy.cells[k].index = 0;
    }
    return copy;
}

/* The expression at the time t, which may be off by `spread`. */
static value value_then(machine *m, const node *n, double t, double spread)
{
    double now = m->time, now_spread = m->time_spread;
    int depth = m->past++;
    kept_cell *kept = NULL;
    value v;
    m->time = t, m->time_spread = spread;
    for_cells(m, n->kids[0], go_back, &kept);
    bool good = judge_try(m, n->kids[0], &v);
    if (good) v = copied(m, v);
    for (; kept; kept = kept->next) *kept->at = kept->now;
    m->time = now, m->time_spread = now_spread;
    m->past = depth;
    if (!good) judge_fail(m, n->line, "what is delayed has no value in the past");
    return v;
}

/* How far it goes back at most, as far as that is known before the run. */
static value try_delay(machine *m, const node *n)
{
    judge *j = m->j;
    value v;
    bool good = judge_try(m, n->kids[n->kid_count - 1], &v);
    double longest = good ? judge_number(m, &v, n->line) : (double)NAN;
    j->longest_delay = fmax(j->longest_delay, isnan(longest) ? INFINITY : longest);
    for_cells(m, n->kids[0], mark_delayed, NULL);
    m->touched = m->varied = true;
    return judge_eval(m, n->kids[0]);
}

static value call_delay(machine *m, const node *n)
{
    const judge_point *p = m->point;
    m->touched = m->varied = true;
    if (m->trial) return try_delay(m, n);
    value lag = judge_eval(m, n->kids[1]);
    double by = judge_number(m, &lag, n->line), spread = m->time_spread + lag.cells->spread;
    if (!p || !p->past) judge_fail(m, n->line, "the past is not known");
    if (!(by >= 0.0)) judge_fail(m, n->line, "a delay below zero");
    if (by == 0.0 || m->time <= p->origin) return judge_eval(m, n->kids[0]);
    return value_then(m, n, fmax(m->time - by, p->origin), spread);
}

const builtin judge_delay_builtins[] = {{"delay", call_delay, 2, 3, "expr delayTime delayMax"},
                                        {NULL, NULL, 0, 0, NULL}};
