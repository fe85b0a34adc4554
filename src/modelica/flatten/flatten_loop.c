/* Loops of the run: a while whose condition, or a for whose range, is not known before it.
 *
 * The body is executed symbolically once more for what one pass does: every cell it changes holds a
 * CELL of the loop before it, and what it holds afterwards is the cell's next value. Which cells
 * these are is found by trying: a body executed with too few of them changes others, too. Asserts
 * in the body become cells that say whether all passes were fine; passes are counted in a cell, so
 * that every loop ends, and one that was stopped makes the run stop with a message. A cell that has
 * no value before the loop, or on some paths only, has one afterwards if there was a pass, where
 * each assigns it; else a cell of its own, a flag, tells whether it was assigned. */
#include <string.h>

#include "base/memory.h"
#include "expr/loop.h"
#include "modelica/flatten/flatten_execute.h"

/* One loop while it is made. */
typedef struct run_loop {
    flattener *f;
    const ast_item *item;
    size_t depth;           /* of the iterator; of a for */
    const run_range *range; /* NULL: a while */
    change_list live;       /* all cells that may change: those of the frame, returned, broken */
    cell_index live_index;
    change_list cells; /* those that do */
    cell_index cell_index;
    size_t *flags; /* per cell: number of its flag from 1, 0: it needs none */
    size_t flag_count;
    int first;        /* number of the first one; then come passes, the iterator and flags, */
    expr condition;   /* by these numbers: one more pass */
    change_list next; /* what a pass leaves in the cells */
    expr passes_before, next_passes;
    action_list checks; /* asserts of a pass */
} run_loop;

/* ---- cells ---- */

static size_t count_cells(const value *v)
{
    size_t n = 0;
    if (!v->fields) return v->e ? v->count : 0;
    for (size_t k = 0; k < v->field_count; k++) n += count_cells(&v->fields[k]);
    return n;
}

static void list_cells(run_loop *l, const value *v)
{
    for (size_t k = 0; v->fields && k < v->field_count; k++) list_cells(l, &v->fields[k]);
    for (size_t k = 0; !v->fields && v->e && k < v->count; k++)
        cell_position(&l->live_index, &l->live, &v->e[k]);
}

/* Every cell that outlives a pass: those of calls inside the body do not. */
static bool find_live(run_loop *l)
{
    flattener *f = l->f;
    size_t most = 2;
    for (size_t k = f->scope.local_base; k < f->local_count; k++)
        if (f->locals[k].assignable) most += count_cells(&f->locals[k].value);
    l->live.cells = flatten_take(f, (most + 1) * sizeof *l->live.cells);
    l->cells.cells = flatten_take(f, (most + 1) * sizeof *l->cells.cells);
    l->flags = flatten_take(f, (most + 1) * sizeof *l->flags);
    if (!l->live.cells || !l->cells.cells || !l->flags || !flatten_work(f, (double)most) ||
        !cell_index_new(f, &l->live_index, most) || !cell_index_new(f, &l->cell_index, most))
        return false;
    for (size_t k = f->scope.local_base; k < f->local_count; k++)
        if (f->locals[k].assignable) list_cells(l, &f->locals[k].value);
    cell_position(&l->live_index, &l->live, f->returned);
    cell_position(&l->live_index, &l->live, f->broken);
    return true;
}

/* ---- one pass ---- */

static expr passes_cell(const run_loop *l)
{
    return graph_cell(l->f->g, l->first + (int)l->cells.count);
}

static expr iterator_cell(const run_loop *l)
{
    return graph_cell(l->f->g, l->first + (int)l->cells.count + 1);
}

static int flag_number(const run_loop *l, size_t flag)
{
    return (int)(l->cells.count + 1 + flag);
}

/* Cell k, given its value and the passes: whether it was assigned is told by `flag`, if it has one.
 */
static expr loop_cell(const run_loop *l, size_t k, expr v, expr passes, expr flag)
{
    flattener *f = l->f;
    expr before = cell_assigned(f, *l->cells.cells[k]);
    if (graph_is_number(f->g, before, 1.0)) return v;
    if (l->flags[k]) return partial_new(f, v, flag);
    expr start = l->passes_before == EXPR_NONE ? constant(f, 0.0) : l->passes_before;
    expr passed = graph_binary(f->g, EXPR_LT, start, passes);
    return partial_new(f, v, graph_binary(f->g, EXPR_OR, before, passed));
}

/* Whether there is one more pass, by cells as they are before it. */
static expr head_condition(run_loop *l, expr guard)
{
    flattener *f = l->f;
    expr out = guard, limit = constant(f, f->limits.run_passes);
    if (l->range) {
        expr i = iterator_cell(l), stop = l->range->stop;
        bool up = l->range->step > 0.0;
        out = both(f, out, graph_binary(f->g, EXPR_LE, up ? i : stop, up ? stop : i));
    } else {
        expr own = scalar_condition(f, l->item->branches[0].condition);
        if (own == EXPR_NONE) return EXPR_NONE;
        out = both(f, out, own);
    }
    out = both(f, out, graph_unary(f->g, EXPR_NOT, *f->returned));
    out = both(f, out, graph_unary(f->g, EXPR_NOT, *f->broken));
    return both(f, out, graph_binary(f->g, EXPR_LT, passes_cell(l), limit));
}

static bool execute_body(run_loop *l)
{
    flattener *f = l->f;
    const ast_branch *b = &l->item->branches[0];
    if (!l->range) return execute_items(f, b->items, b->item_count);
    size_t slot = f->local_count;
    if (!push_local(f, l->item->iterators[l->depth].name)) return false;
    f->locals[slot].value = value_scalar(VALUE_INTEGER, iterator_cell(l));
    bool ok = loop_nest(f, l->item, l->depth + 1);
    f->local_count = slot;
    return ok;
}

/* Condition and body with the cells found so far; the guard belongs to the condition. */
static bool symbolic_pass(run_loop *l, expr guard)
{
    flattener *f = l->f;
    expr passes = passes_cell(l);
    for (size_t k = 0; k < l->cells.count; k++) {
        expr flag = graph_cell(f->g, l->first + flag_number(l, l->flags[k]));
        expr v = graph_cell(f->g, l->first + (int)k);
        set_cell(f, l->cells.cells[k], loop_cell(l, k, v, passes, flag));
    }
    f->pass_count = passes;
    l->condition = head_condition(l, guard);
    if (l->condition == EXPR_NONE) return false;
    set_cell(f, f->returned, constant(f, 0.0)); /* else there would be no pass */
    set_cell(f, f->broken, constant(f, 0.0));
    if (!execute_body(l)) return false;
    l->next_passes = graph_binary(f->g, EXPR_ADD, f->pass_count, constant(f, 1.0));
    return true;
}

/* Flags for cells that a pass leaves without a value on some paths; whether there are new ones. */
static bool find_flags(run_loop *l, size_t known)
{
    size_t before = l->flag_count;
    for (size_t k = 0; k < l->next.count; k++) {
        size_t at = cell_find(&l->cell_index, &l->cells, l->next.cells[k]);
        if (at >= known || l->flags[at] || !partial_find(l->f, l->next.values[k])) continue;
        l->flags[at] = ++l->flag_count;
    }
    return l->flag_count > before;
}

/* What a pass changes; *more: cells that were not known to change. */
static bool try_pass(run_loop *l, bool *more)
{
    flattener *f = l->f;
    flatten_scope saved = f->scope;
    expr guard = current_guard(f), passes = f->pass_count;
    int cells = f->cell_count;
    size_t mark = f->journal_count;
    l->first = cells;
    l->passes_before = passes;
    l->checks.count = 0;
    f->cell_count += (int)(l->cells.count + 2 + l->flag_count);
    f->scope.guard = EXPR_NONE;
    f->scope.branch = NULL;
    f->scope.checks = &l->checks;
    f->scope.no_event = true;
    f->journal_depth++;
    bool ok = symbolic_pass(l, guard);
    f->journal_depth--;
    f->scope = saved;
    f->pass_count = passes;
    f->cell_count = cells;
    if (!take_back(f, mark, &l->next) || !ok) return false;
    size_t known = l->cells.count;
    for (size_t k = 0; k < l->next.count; k++) {
        expr *cell = l->next.cells[k], now = l->next.values[k];
        if (cell_find(&l->live_index, &l->live, cell) == SIZE_MAX || now == *cell) continue;
        if ((now | *cell) & STRING_BIT)
            return report_error(f, l->item->place, "a String cannot change in a loop of the run");
        cell_position(&l->cell_index, &l->cells, cell);
    }
    *more = find_flags(l, known) || l->cells.count > known;
    return true;
}

/* ---- the loop as a node ---- */

/* Room for the draft: cells, passes, iterator, a flag for every assert and its message's values. */
typedef struct draft_lists {
    expr *start, *next;
    size_t count;
} draft_lists;

static bool add_cell(run_loop *l, draft_lists *d, expr start, expr next)
{
    d->start[d->count] = start;
    d->next[d->count++] = next;
    return start != EXPR_NONE && next != EXPR_NONE && !l->f->failed;
}

static expr next_cell(const run_loop *l, const draft_lists *d)
{
    return graph_cell(l->f->g, l->first + (int)d->count);
}

/* In the order of their numbers, which is not that of the cells. */
static bool add_flags(run_loop *l, draft_lists *d, const expr *last)
{
    size_t first = d->count;
    d->count += l->flag_count;
    for (size_t k = 0; k < l->cells.count; k++) {
        if (!l->flags[k]) continue;
        d->start[first + l->flags[k] - 1] = cell_assigned(l->f, *l->cells.cells[k]);
        d->next[first + l->flags[k] - 1] = cell_assigned(l->f, last[k]);
    }
    return !l->f->failed && !graph_failed(l->f->g);
}

static bool add_changing(run_loop *l, draft_lists *d)
{
    flattener *f = l->f;
    expr zero = constant(f, 0.0), *last = flatten_take(f, (l->cells.count + 1) * sizeof *last);
    if (!last) return false;
    for (size_t k = 0; k < l->next.count; k++) {
        size_t at = cell_find(&l->cell_index, &l->cells, l->next.cells[k]);
        if (at != SIZE_MAX) last[at] = l->next.values[k];
    }
    for (size_t k = 0; k < l->cells.count; k++) {
        expr before = cell_value(f, *l->cells.cells[k]);
        if (!add_cell(l, d, before == EXPR_NONE ? zero : before, cell_value(f, last[k])))
            return false;
    }
    expr passes = f->pass_count == EXPR_NONE ? zero : f->pass_count;
    if (!add_cell(l, d, passes, l->next_passes)) return false;
    expr i = iterator_cell(l), up = i;
    if (l->range) up = graph_binary(f->g, EXPR_ADD, i, constant(f, l->range->step));
    return add_cell(l, d, l->range ? l->range->start : zero, up) && add_flags(l, d, last);
}

/* fine := fine and holds; a value of the message is that of the pass which was not. A pass that is
 * not fine is the last one. */
static bool add_check(run_loop *l, draft_lists *d, const flat_action *a)
{
    graph *g = l->f->g;
    expr fine = next_cell(l, d), still = graph_binary(g, EXPR_AND, fine, a->value);
    expr now = graph_binary(g, EXPR_AND, fine, graph_unary(g, EXPR_NOT, a->value));
    if (!add_cell(l, d, graph_constant(g, 1.0), still)) return false;
    if (!a->warning) l->condition = graph_binary(g, EXPR_AND, l->condition, fine);
    for (size_t k = 0; k < a->hole_count; k++) {
        expr held = next_cell(l, d);
        expr next = graph_select(g, now, a->holes[k].value, held);
        if (!add_cell(l, d, graph_constant(g, 0.0), next)) return false;
    }
    return true;
}

/* The loop's asserts, said of all its passes. */
static bool push_checks(run_loop *l, expr loop)
{
    flattener *f = l->f;
    size_t at = l->cells.count + 2 + l->flag_count;
    for (size_t c = 0; c < l->checks.count; c++) {
        flat_action a = l->checks.items[c];
        a.value = loop_result(f->g, loop, (int)at++);
        flat_hole *holes = model_take(f, (a.hole_count + 1) * sizeof *holes);
        if (!holes) return false;
        for (size_t k = 0; k < a.hole_count; k++) {
            holes[k] = a.holes[k];
            holes[k].value = loop_result(f->g, loop, (int)at++);
        }
        a.holes = holes;
        push_assert(f, &a);
    }
    return true;
}

static void push_limit(run_loop *l, expr passes)
{
    flattener *f = l->f;
    const char *message = flatten_text(f, "this %s has not ended after %d passes",
                                       l->range ? "for" : "while", f->limits.run_passes);
    expr limit = constant(f, f->limits.run_passes);
    push_check(f, graph_binary(f->g, EXPR_LT, passes, limit), message, NULL, FLAT_INTEGER,
               l->item->place);
}

static bool close_loop(run_loop *l)
{
    flattener *f = l->f;
    size_t most = l->cells.count + 2 + l->flag_count;
    for (size_t k = 0; k < l->checks.count; k++) most += 1 + l->checks.items[k].hole_count;
    draft_lists d = {flatten_take(f, most * sizeof *d.start),
                     flatten_take(f, most * sizeof *d.next), 0};
    if (!d.start || !d.next || !add_changing(l, &d)) return false;
    for (size_t k = 0; k < l->checks.count; k++)
        if (!add_check(l, &d, &l->checks.items[k])) return false;
    loop_draft draft = {d.count, l->first, d.start, d.next, l->condition};
    expr loop = loop_close(f->g, &draft);
    if (loop == EXPR_NONE) {
        f->failed = true;
        return false;
    }
    expr passes = loop_result(f->g, loop, (int)l->cells.count);
    for (size_t k = 0; k < l->cells.count; k++) {
        expr flag = loop_result(f->g, loop, l->flags[k] ? flag_number(l, l->flags[k]) : 0);
        expr v = loop_result(f->g, loop, (int)k);
        set_cell(f, l->cells.cells[k], loop_cell(l, k, v, passes, flag));
    }
    push_limit(l, passes);
    if (f->pass_count != EXPR_NONE) f->pass_count = passes;
    return push_checks(l, loop) && !f->failed;
}

static bool execute_run_loop(run_loop *l)
{
    bool more = true, ok = find_live(l);
    while (ok && more) ok = flatten_pass(l->f, l->item->place) && try_pass(l, &more);
    ok = ok && close_loop(l);
    dae_free(l->checks.items);
    return ok;
}

bool execute_run_while(flattener *f, const ast_item *item)
{
    run_loop l = {.f = f, .item = item};
    return execute_run_loop(&l);
}

bool execute_run_for(flattener *f, const ast_item *item, size_t depth, const run_range *r)
{
    run_loop l = {.f = f, .item = item, .depth = depth, .range = r};
    return execute_run_loop(&l);
}

/* ---- ranges ---- */

/* A bound of a range of Integers. */
static bool integer_bound(flattener *f, const ast_expr *e, expr *out)
{
    value v = evaluate(f, e);
    if (value_is_error(&v) || v.rank || v.type != VALUE_INTEGER) return false;
    *out = value_element(&v, 0);
    return true;
}

static bool moves(flattener *f, expr e)
{
    return node_depends(f, e) & (DEPENDS_CONTINUOUS | DEPENDS_MEMORY);
}

bool is_run_range(flattener *f, const ast_iterator *it, run_range *out)
{
    const ast_expr *e = it->range;
    value step;
    if (!e || e->kind != AST_RANGE || e->arg_count < 2 || f->failed || f->stop) return false;
    *out = (run_range){.step = 1.0};
    int errors = message_errors(f->messages);
    bool bounds = integer_bound(f, e->args[0], &out->start) &&
                  integer_bound(f, e->args[e->arg_count - 1], &out->stop);
    if (!bounds || message_errors(f->messages) > errors) return false;
    if (!moves(f, out->start) && !moves(f, out->stop)) return false;
    if (e->arg_count == 2) return true;
    step = evaluate(f, e->args[1]);
    return !value_is_error(&step) && step.rank == 0 && step.type == VALUE_INTEGER &&
           compile_time_value(f, value_element(&step, 0), &out->step) && out->step != 0.0;
}
