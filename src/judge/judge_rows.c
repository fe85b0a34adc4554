/* Evaluation of groups: what the equations, sections, clauses and asserts of the text say at the
 * point that is set. */
#include <string.h>

#include "judge/judge_parts.h"

/* ---- rows ---- */

/* In a trial a row is a new equation of the group. */
static void new_row(machine *m, base_type type, int variable)
{
    judge *j = m->j;
    group *g = &j->groups[m->group];
    if (m->row++ < g->count) return;
    judge_grow(j, &j->equations, &j->equation_capacity, j->equation_count + 1,
               sizeof *j->equations);
    j->equations[j->equation_count++] =
        (judge_equation){.kind = g->kind,
                         .type = (judge_type)type,
                         .group = m->group,
                         .element = g->count++,
                         .line = g->line,
                         .variable = g->bound || g->items ? variable : -1};
}

static void emit(machine *m, const cell *left, const cell *right, base_type type, int variable)
{
    if (!m->rows) {
        new_row(m, type, variable);
        return;
    }
    if (m->row >= m->row_limit) judge_fail(m, 0, "branches with different numbers of equations");
    judge_row *r = &m->rows[m->row++];
    *r = (judge_row){.left = left->v,
                     .right = right->v,
                     .residual = left->v - right->v,
                     .size = left->size + right->size,
                     .spread = left->spread + right->spread,
                     .holds = left->v == right->v};
    if (isnan(r->residual) && left->v == right->v) r->residual = 0.0; /* infinite on both sides */
    if (isnan(r->spread)) r->spread = INFINITY;
}

/* Types of sides are the same, or both numbers; no Integer variable equals a Real (Modelica 3.6,
 * 6.7 and 8.3.1). */
static void check_types(machine *m, const value *left, const value *right, bool alone, int line)
{
    const base_type a = left->type->base, b = right->type->base;
    const bool numbers = a <= BASE_INTEGER && b <= BASE_INTEGER;
    if (numbers ? a == BASE_INTEGER && b == BASE_REAL && alone : a != b)
        judge_fail(m, line, "the sides of an equation have different types");
}

static void emit_values(machine *m, const node *target, const value *left, const value *right,
                        int line)
{
    check_types(m, left, right, target->kind == NODE_COMPONENT, line);
    if (left->type->cells != right->type->cells || !judge_same_shape(&left->shape, &right->shape))
        judge_fail(m, line, "the sides of an equation have different sizes");
    bool lists = left->type->base == BASE_RECORD;
    int count = judge_cells(left);
    for (int k = 0; k < count; k++) {
        base_type type =
            lists ? judge_cell_type(left->type, k % left->type->cells) : left->type->base;
        if (type == BASE_INTEGER &&
            judge_cell_type(right->type, k % right->type->cells) == BASE_REAL)
            type = BASE_REAL;
        int variable = left->cells[k].index - 1;
        if (type < BASE_STRING) emit(m, &left->cells[k], &right->cells[k], type, variable);
    }
}

static void emit_truth(machine *m, bool is, bool should)
{
    cell left = {.v = is}, right = {.v = should};
    emit(m, &left, &right, BASE_BOOLEAN, -1);
}

/* ---- equations ---- */

/* (a, , b) = f(x) */
static void run_tuple(machine *m, const jitem *i)
{
    enum { MOST = 64 };
    value results[MOST];
    bool wanted[MOST] = {false};
    int count = i->left->kid_count;
    if (i->right->kind != NODE_CALL || count > MOST)
        judge_fail(m, i->line, "several variables take the results of a function");
    for (int k = 0; k < count; k++) wanted[k] = i->left->kids[k] != NULL;
    judge_call_all(m, i->right, results, wanted, count);
    for (int k = 0; k < count; k++) {
        if (!wanted[k]) continue;
        value left = judge_eval(m, i->left->kids[k]);
        emit_values(m, i->left->kids[k], &left, &results[k], i->line);
    }
}

static void run_items(machine *m, jitem *const *items, int count)
{
    for (int k = 0; k < count; k++) judge_run_equation(m, items[k]);
}

/* A trial runs all branches: the largest says how many rows there are. */
static void try_all_branches(machine *m, const jitem *i)
{
    int first = m->row, most = first;
    for (int b = 0; b < i->branch_count; b++) {
        value v;
        if (i->branches[b].condition) (void)judge_try(m, i->branches[b].condition, &v);
        m->row = first;
        run_items(m, i->branches[b].items, i->branches[b].item_count);
        if (m->row > most) most = m->row;
    }
    m->row = most;
}

static void run_branches(machine *m, const jitem *i)
{
    if (!m->rows) {
        try_all_branches(m, i);
        return;
    }
    for (int b = 0; b < i->branch_count; b++) {
        if (i->branches[b].condition && !judge_eval_condition(m, i->branches[b].condition))
            continue;
        run_items(m, i->branches[b].items, i->branches[b].item_count);
        return;
    }
}

static void for_each(machine *m, const jitem *i, int iterator,
                     void (*work)(machine *, jitem *const *, int))
{
    if (iterator == i->slot_count) {
        work(m, i->branches[0].items, i->branches[0].item_count);
        return;
    }
    value range = judge_iterate(m, i->ranges[iterator]);
    for (int k = 0; k < range.shape.dims[0]; k++) {
        value element = range;
        element.shape.ndims = 0;
        element.cells += k * range.type->cells;
        m->frame.slots[i->slots[iterator]] = element;
        for_each(m, i, iterator + 1, work);
    }
}

void judge_run_equation(machine *m, jitem *i)
{
    switch (i->kind) {
    case ITEM_EQUATION:
    case ITEM_ASSIGN:
        if (i->left->kind == NODE_TUPLE) {
            run_tuple(m, i);
        } else {
            value left = judge_eval(m, i->left), right = judge_eval(m, i->right);
            emit_values(m, i->left, &left, &right, i->line);
        }
        return;
    case ITEM_IF: run_branches(m, i); return;
    case ITEM_FOR: for_each(m, i, 0, run_items); return;
    case ITEM_CALL: return; /* asserts are a group of their own */
    default: judge_fail(m, i->line, "a when clause within an if of the run");
    }
}

/* target = value of a declaration; a value with fewer dimensions is repeated. */
void judge_run_binding(machine *m, const binding *b)
{
    value right = judge_eval(m, b->value), left = judge_eval(m, b->target);
    check_types(m, &left, &right, true, b->line);
    value all = judge_make(m, left.type, &left.shape);
    int count = judge_cells(&all);
    for (int k = 0; k < count; k++) all.cells[k] = (cell){0};
    selection s = judge_select_value(&all);
    judge_spread(m, &s, &right, b->line);
    emit_values(m, b->target, &left, &all, b->line);
}

/* ---- asserts ---- */

static bool asserts_of(machine *m, jitem *const *items, int count)
{
    bool good = true;
    for (int k = 0; k < count; k++) good &= judge_run_asserts(m, items[k]);
    return good;
}

/* Whether the asserts that are reached hold. */
bool judge_run_asserts(machine *m, jitem *i)
{
    switch (i->kind) {
    case ITEM_CALL:
        if (i->argument_count == 1)
            return judge_eval_condition(m, i->arguments[0]) ||
                   (!m->warnings && judge_only_warns(m, i));
        if (i->argument_count == 0 && i->left->kind == NODE_CALL)
            judge_call_all(m, i->left, NULL, NULL, 0);
        return true;
    case ITEM_IF:
        for (int b = 0; b < i->branch_count; b++) {
            const jbranch *at = &i->branches[b];
            if (at->condition && !judge_eval_condition(m, at->condition)) continue;
            return asserts_of(m, at->items, at->item_count);
        }
        return true;
    case ITEM_FOR: {
        value range = judge_iterate(m, i->ranges[0]);
        bool good = true;
        if (i->slot_count != 1) judge_fail(m, i->line, "asserts in such a loop");
        for (int k = 0; k < range.shape.dims[0]; k++) {
            value element = range;
            element.shape.ndims = 0;
            element.cells += k * range.type->cells;
            m->frame.slots[i->slots[0]] = element;
            good &= asserts_of(m, i->branches[0].items, i->branches[0].item_count);
        }
        return good;
    }
    default: return true;
    }
}

/* terminate(..) reached without a when: 1 */
static bool reaches_end(machine *m, const jitem *i)
{
    (void)m;
    return i->kind == ITEM_CALL && i->argument_count == 2;
}

/* ---- when ---- */

static int new_when(machine *m, const jitem *i, int b, int previous, const value *condition)
{
    judge *j = m->j;
    judge_grow(j, &j->whens, &j->when_capacity, j->when_count + 1, sizeof *j->whens);
    int first = (int)j->condition_count;
    j->condition_count += (size_t)judge_cells(condition);
    judge_grow(j, &j->conditions, &j->condition_capacity, j->condition_count,
               sizeof *j->conditions);
    j->whens[j->when_count] =
        (judge_when){.line = i->branches[b].line,
                     .group = m->group,
                     .previous = previous,
                     .first = first,
                     .count = judge_cells(condition),
                     .text = judge_source_text(j, judge_first_place(i->branches[b].source), NULL)};
    return (int)j->when_count++;
}

/* Number of a when branch: entered when it is first met. */
static int when_number(machine *m, jitem *i, int b, const value *condition)
{
    judge *j = m->j;
    jbranch *at = &i->branches[b];
    int next = (int)j->when_count, count = next;
    int id = judge_intern(j, &j->whens_at, at, &at->stamp, &at->count, &next);
    if (next > count && j->elaborated) judge_fail(m, i->line, "a when that comes and goes");
    if (next > count) {
        const jbranch *before = b ? &i->branches[b - 1] : NULL;
        table_entry *e =
            before ? judge_table_find(&j->whens_at, NULL, before, m->group, before->count - 1)
                   : NULL;
        new_when(m, i, b, e ? e->number : -1, condition);
    }
    return id;
}

/* Evaluate the condition of a branch of a when clause, and say whether the caller has it fire. */
bool judge_meet_when(machine *m, jitem *i, int b)
{
    judge *j = m->j;
    value condition = judge_eval(m, i->branches[b].condition);
    if (condition.type->base != BASE_BOOLEAN || condition.shape.ndims > 1)
        judge_fail(m, i->line, "the condition of a when");
    int id = when_number(m, i, b, &condition);
    const judge_when *w = &j->whens[id];
    if (judge_cells(&condition) != w->count) judge_fail(m, i->line, "conditions of a when");
    for (int k = 0; k < w->count; k++) j->conditions[w->first + k] = condition.cells[k].v;
    m->when = id;
    return m->point && m->point->fires && m->point->fires[id];
}

static void add_effect(machine *m, judge_effect_kind kind, int line, int variable, const cell *c)
{
    judge *j = m->j;
    if (m->trial) {
        if (kind == JUDGE_ASSIGN && variable >= 0) {
            j->variables[variable].in_when = true;
            if (j->variables[variable].variability == JUDGE_CONTINUOUS)
                j->variables[variable].variability = JUDGE_DISCRETE;
        }
        if (kind == JUDGE_REINIT && variable >= 0) j->variables[variable].reinit = true;
        return;
    }
    judge_grow(j, &j->effects, &j->effect_capacity, j->effect_count + 1, sizeof *j->effects);
    j->effects[j->effect_count++] = (judge_effect){.kind = kind,
                                                   .when = m->when,
                                                   .line = line,
                                                   .variable = variable,
                                                   .value = c->v,
                                                   .size = c->size,
                                                   .spread = c->spread};
}

static void add_effects(machine *m, judge_effect_kind kind, const node *target, const value *v)
{
    if (target->kind != NODE_COMPONENT) judge_fail(m, target->line, "a variable is expected here");
    judge_need_values(m, target->component, target->line);
    selection s = judge_select(m, target);
    int count = judge_count(&s.shape) * s.type->cells;
    if (!judge_same_shape(&s.shape, &v->shape) || s.type->cells != v->type->cells)
        judge_fail(m, target->line, "the sides of an equation have different sizes");
    for (int k = 0; k < count; k++) {
        int variable = judge_cell(&s, k)->index - 1;
        if (variable >= 0 && m->j->variables[variable].type == JUDGE_STRING) continue;
        add_effect(m, kind, target->line, variable, &v->cells[k]);
    }
}

static void run_effect_call(machine *m, const jitem *i)
{
    if (i->argument_count == 3) {
        value v = judge_eval(m, i->arguments[1]);
        add_effects(m, JUDGE_REINIT, i->arguments[0], &v);
        return;
    }
    cell c = {.v = 1.0};
    if (i->argument_count == 2) add_effect(m, JUDGE_STOP, i->line, -1, &c);
    if (i->argument_count == 1) {
        c.v = judge_eval_condition(m, i->arguments[0]) || judge_only_warns(m, i);
        add_effect(m, JUDGE_ASSERTION, i->line, -1, &c);
    }
    if (i->argument_count == 0 && i->left->kind == NODE_CALL)
        judge_call_all(m, i->left, NULL, NULL, 0);
}

static void run_effect_tuple(machine *m, const jitem *i)
{
    enum { MOST = 64 };
    value results[MOST];
    bool wanted[MOST] = {false};
    int count = i->left->kid_count;
    if (i->right->kind != NODE_CALL || count > MOST)
        judge_fail(m, i->line, "several variables take the results of a function");
    for (int k = 0; k < count; k++) wanted[k] = i->left->kids[k] != NULL;
    judge_call_all(m, i->right, results, wanted, count);
    for (int k = 0; k < count; k++)
        if (wanted[k]) add_effects(m, JUDGE_ASSIGN, i->left->kids[k], &results[k]);
}

static void run_effect_branches(machine *m, const jitem *i)
{
    for (int b = 0; b < i->branch_count; b++) {
        const jbranch *at = &i->branches[b];
        bool taken = !at->condition || judge_eval_condition(m, at->condition);
        if (!taken && !m->trial) continue;
        judge_run_effects(m, at->items, at->item_count);
        if (!m->trial) return;
    }
}

/* The body of a branch that fires: what it assigns, from the values at the point. */
void judge_run_effects(machine *m, jitem *const *items, int count)
{
    for (int k = 0; k < count; k++) {
        jitem *i = items[k];
        switch (i->kind) {
        case ITEM_EQUATION:
        case ITEM_ASSIGN:
            if (i->left->kind == NODE_TUPLE) {
                run_effect_tuple(m, i);
            } else {
                value v = judge_eval(m, i->right);
                add_effects(m, JUDGE_ASSIGN, i->left, &v);
            }
            break;
        case ITEM_CALL: run_effect_call(m, i); break;
        case ITEM_IF: run_effect_branches(m, i); break;
        case ITEM_FOR: for_each(m, i, 0, judge_run_effects); break;
        default: judge_fail(m, i->line, "a clause within a when clause");
        }
    }
}

/* All conditions, then the bodies of the branches that the caller has fire. */
void judge_run_when(machine *m, jitem *i)
{
    for (int b = 0; b < i->branch_count; b++) {
        bool fires = judge_fires(m, i, b);
        if (fires || m->trial)
            judge_run_effects(m, i->branches[b].items, i->branches[b].item_count);
    }
    m->when = -1;
    emit_truth(m, true, true);
}

/* ---- algorithms ---- */

/* Variables that a section assigns begin with their start values, discrete ones with their previous
 * values (Modelica specification 3.6, 11.1.2). */
static void begin_algorithm(judge *j, group *g)
{
    const judge_point *p = j->machine.point;
    for (int k = 0; k < g->target_count; k++) {
        int index = g->targets[k];
        const judge_variable *x = &j->variables[index];
        cell *c = j->cells[index];
        g->saved[k] = *c;
        double v = x->start;
        bool discrete = x->variability == JUDGE_DISCRETE;
        if (discrete && p) v = p->before ? p->before[index] : p->values[index];
        *c = (cell){.v = v, .size = fabs(v), .index = c->index};
        if (discrete && p && p->tolerances) c->spread = p->tolerances[index];
    }
    g->running = true;
}

static void swap_cells(judge *j, group *g)
{
    for (int k = 0; k < g->target_count; k++) {
        cell *c = j->cells[g->targets[k]], kept = *c;
        *c = g->saved[k];
        g->saved[k] = kept;
    }
    g->running = false;
}

static void run_algorithm(machine *m, group *g)
{
    judge *j = m->j;
    begin_algorithm(j, g);
    m->broken = m->returned = false;
    judge_execute(m, g->items, g->item_count);
    swap_cells(j, g);
    for (int k = 0; k < g->target_count; k++) {
        const cell *row = j->cells[g->targets[k]];
        emit(m, row, &g->saved[k], (base_type)j->variables[g->targets[k]].type, g->targets[k]);
    }
}

/* ---- a group ---- */

static void run_kind(machine *m, group *g)
{
    if (g->bound) {
        judge_run_binding(m, g->bound);
    } else if (g->items) {
        run_algorithm(m, g);
    } else if (g->kind == JUDGE_WHEN) {
        judge_run_when(m, g->item);
    } else if (g->kind == JUDGE_ASSERT) {
        m->warnings = g->warning;
        emit_truth(m, judge_run_asserts(m, g->item), true);
    } else if (g->kind == JUDGE_TERMINATE) {
        emit_truth(m, reaches_end(m, g->item), false);
    } else {
        judge_run_equation(m, g->item);
    }
}

static void begin_group(machine *m, int number)
{
    group *g = &m->j->groups[number];
    m->frame = (frame){judge_stack_take(m, &m->scratch, MODEL_SLOTS * sizeof(value)), MODEL_SLOTS};
    if (g->pass_count) memcpy(m->frame.slots, g->passes, (size_t)g->pass_count * sizeof(value));
    m->group = number;
    m->row = 0;
    m->error = NULL;
    m->calls = m->in_function = m->noevent = m->past = 0;
    m->passes = m->called = 0;
    m->when = -1;
    judge_new_stamp(m);
}

/* Run a group at the point. After an error m->error says which, and its cells are as before. */
void judge_run_group(machine *m, int number)
{
    judge *j = m->j;
    jmp_buf escape, *outer = m->escape;
    stack_mark scratch = m->scratch.at, frames = m->frames.at;
    frame kept = m->frame;
    if (setjmp(escape) == 0) {
        m->escape = &escape;
        begin_group(m, number);
        run_kind(m, &j->groups[number]);
        if (m->rows && m->row != m->row_limit)
            judge_fail(m, 0, "branches with different numbers of equations");
    }
    m->escape = outer;
    m->scratch.at = scratch, m->frames.at = frames;
    m->frame = kept;
    m->group = -1;
    if (m->no_memory) judge_no_memory(m);
    if (j->groups[number].running) swap_cells(j, &j->groups[number]);
    for (component *c = m->error ? j->components : NULL; c; c = c->next) c->defining = false;
}

void judge_fill_point(judge *j, const judge_point *p)
{
    machine *m = &j->machine;
    m->point = p;
    m->time = p->time;
    m->time_spread = p->time_tolerance;
    for (size_t k = 0; k < j->variable_count; k++) {
        const judge_variable *x = &j->variables[k];
        if (x->type == JUDGE_STRING) continue;
        double v = p->values[k];
        if (isnan(v) && x->variability <= JUDGE_PARAMETER) v = x->value;
        *j->cells[k] = (cell){.v = v,
                              .size = fabs(v),
                              .spread = p->tolerances ? p->tolerances[k] : 0.0,
                              .index = (int)k + 1};
    }
}
