/* After all sections: discrete equations found and sorted, equations counted, the model filled. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "expr/walk.h"
#include "modelica/flatten/flatten_internal.h"

/* ---- variables defined in when-clauses, before anything is evaluated ---- */

static void mark_target(flattener *f, const ast_expr *left)
{
    if (!left) return;
    for (size_t k = 0; left->kind == AST_TUPLE && k < left->arg_count; k++)
        mark_target(f, left->args[k]);
    if (left->kind != AST_REFERENCE || !left->part_count) return;
    symbol *s = find_symbol(f, left->parts[0].name);
    if (s) s->assigned_in_when = true;
    if (s && s->whole) mark_whole_in_when(s);
}

static void mark_items(flattener *f, ast_item *const *items, size_t count, bool in_when)
{
    for (size_t k = 0; k < count; k++) {
        const ast_item *item = items[k];
        if (!item) continue;
        bool assigns = item->kind == ITEM_EQUATION || item->kind == ITEM_ASSIGN;
        if (in_when && assigns) mark_target(f, item->left);
        for (size_t b = 0; b < item->branch_count; b++)
            mark_items(f, item->branches[b].items, item->branches[b].item_count,
                       in_when || item->kind == ITEM_WHEN);
    }
}

void mark_assigned_in_when(flattener *f)
{
    const ast_class *model = f->file->model;
    for (size_t k = 0; k < model->section_count; k++)
        mark_items(f, model->sections[k].items, model->sections[k].item_count, false);
}

/* ---- which discrete variable an equation defines ---- */

/* Per discrete equation: the variables it could be solved for. */
typedef struct candidate {
    int variable[2];
    expr value[2];
    size_t pair;
    int chosen; /* 0, 1, or -1 */
    int whole;  /* an Integer variable alone on one side of a Real equation, or -1 */
} candidate;

/* v, -v or not v of a discrete variable: solved = right side solved for v */
static int bare_variable(flattener *f, expr side, expr other, expr *solved)
{
    const expr_node *n = side != EXPR_NONE ? graph_node(f->g, side) : NULL;
    *solved = other;
    if (n && (n->op == EXPR_NEG || n->op == EXPR_NOT)) {
        *solved = graph_unary(f->g, (expr_op)n->op, other);
        n = graph_node(f->g, graph_node(f->g, side)->a);
    }
    return n && n->op == EXPR_MEMORY ? f->slot_variable[n->index] : -1;
}

typedef struct definitions {
    int *definer;   /* per variable: -1 none, else what defines it */
    bool *assigned; /* per variable: an algorithm defines it */
    size_t *moves;  /* per variable: an equation with it alone on the left and what moves on the
                       right, plus one; 0: none */
    source_place *place;
    candidate *candidates;
    size_t count;
    uint32_t *use_start, *use; /* equations in which a variable is a candidate */
} definitions;

/* A Real equation is discrete if nothing continuous is in it, or if it gives a value to a discrete
 * Real that no when-clause defines. */
static bool is_discrete_pair(flattener *f, const definitions *d, const equation_pair *p)
{
    expr solved;
    if (p->type != VALUE_REAL) return true;
    if (p->assigned && bare_variable(f, p->left, p->right, &solved) >= 0) return true;
    int side[2] = {bare_variable(f, p->left, p->right, &solved),
                   bare_variable(f, p->right, p->left, &solved)};
    if (side[0] < 0 && side[1] < 0) return false;
    if (!((node_depends(f, p->left) | node_depends(f, p->right)) & DEPENDS_CONTINUOUS)) return true;
    for (int k = 0; k < 2; k++)
        if (side[k] >= 0 && f->m->variables[side[k]].type == FLAT_REAL && d->definer[side[k]] < 0 &&
            !d->assigned[side[k]])
            return true;
    return false;
}

static void defined_twice(flattener *f, const definitions *d, int variable, source_place place)
{
    report_error(f, place, "discrete variable '%s' is defined twice",
                 f->m->variables[variable].name);
    report_note(f, d->place[variable], "also defined here");
}

static void define_by_whens(flattener *f, definitions *d)
{
    for (size_t w = 0; w < f->m->when_count; w++)
        for (size_t b = 0; b < f->m->whens[w].branch_count; b++) {
            const flat_branch *branch = &f->m->whens[w].branches[b];
            for (size_t k = 0; k < branch->action_count; k++) {
                const flat_action *a = &branch->actions[k];
                if (a->kind != ACTION_ASSIGN) continue;
                if (d->definer[a->variable] >= 0 && d->definer[a->variable] != (int)w)
                    defined_twice(f, d, a->variable, a->place);
                d->definer[a->variable] = (int)w;
                d->place[a->variable] = a->place;
            }
        }
}

static bool is_free(const definitions *d, int variable)
{
    return variable >= 0 && d->definer[variable] < 0;
}

enum { DEFINED_BY_EQUATION = 1 << 30 };

static void choose(flattener *f, definitions *d, size_t k, int side)
{
    candidate *c = &d->candidates[k];
    c->chosen = side;
    d->definer[c->variable[side]] = DEFINED_BY_EQUATION;
    d->place[c->variable[side]] = f->equations.items[c->pair].place;
}

/* Equations left with one possibility take it, and so on for their neighbours. */
static void propagate(flattener *f, definitions *d, size_t first, size_t *queue)
{
    size_t head = 0, tail = 0;
    queue[tail++] = first;
    while (head < tail) {
        candidate *c = &d->candidates[queue[head++]];
        for (int side = 0; side < 2; side++) {
            int v = c->variable[side];
            if (v < 0 || c->chosen != side) continue;
            for (uint32_t u = d->use_start[v]; u < d->use_start[v + 1]; u++) {
                candidate *o = &d->candidates[d->use[u]];
                if (o->chosen >= 0 || o->variable[0] == o->variable[1]) continue;
                bool left = is_free(d, o->variable[0]), right = is_free(d, o->variable[1]);
                if (left == right) continue;
                choose(f, d, d->use[u], left ? 0 : 1);
                queue[tail++] = d->use[u];
            }
        }
    }
}

static bool index_uses(flattener *f, definitions *d)
{
    size_t n = f->m->variable_count;
    d->use_start = dae_calloc(n + 2, sizeof *d->use_start);
    d->use = dae_calloc(2 * d->count + 1, sizeof *d->use);
    if (!d->use_start || !d->use) return false;
    for (size_t k = 0; k < d->count; k++)
        for (int s = 0; s < 2; s++)
            if (d->candidates[k].variable[s] >= 0) d->use_start[d->candidates[k].variable[s] + 2]++;
    for (size_t v = 2; v <= n + 1; v++) d->use_start[v] += d->use_start[v - 1];
    for (size_t k = 0; k < d->count; k++)
        for (int s = 0; s < 2; s++)
            if (d->candidates[k].variable[s] >= 0)
                d->use[d->use_start[d->candidates[k].variable[s] + 1]++] = (uint32_t)k;
    return true;
}

static void integer_equals_real(flattener *f, int variable, source_place place)
{
    report_error(f, place,
                 "sides of this equation have different types: Integer and Real. %s is an Integer, "
                 "the other side a Real",
                 f->m->variables[variable].name);
}

static void unsolvable(flattener *f, const definitions *d, const candidate *c)
{
    const equation_pair *p = &f->equations.items[c->pair];
    int v = c->variable[0] >= 0 ? c->variable[0] : c->variable[1];
    if (v >= 0)
        defined_twice(f, d, v, p->place);
    else if (c->whole >= 0)
        integer_equals_real(f, c->whole, p->place);
    else
        report_error(f, p->place,
                     "this discrete equation cannot be solved: it needs a variable alone on one "
                     "side");
}

/* A matching of discrete equations with variables. Each equation has at most two candidates, so
 * choosing where there is no choice and then anywhere is enough. */
static bool match_discretes(flattener *f, definitions *d)
{
    size_t *queue = dae_calloc(2 * d->count + 1, sizeof *queue);
    if (!queue || !index_uses(f, d)) {
        dae_free(queue);
        return false;
    }
    for (int pass = 0; pass < 2; pass++)
        for (size_t k = 0; k < d->count; k++) {
            candidate *c = &d->candidates[k];
            if (c->chosen >= 0) continue;
            bool left = is_free(d, c->variable[0]), right = is_free(d, c->variable[1]);
            if (c->variable[0] == c->variable[1] && left) right = false;
            if (pass == 0 && left == right) continue;
            if (!left && !right) {
                unsolvable(f, d, c);
                continue;
            }
            choose(f, d, k, left ? 0 : 1);
            propagate(f, d, k, queue);
        }
    dae_free(queue);
    return true;
}

/* A Real expression gives no value to an Integer, whichever side the Integer is on. */
static void leave_integers(flattener *f, candidate *c)
{
    c->whole = -1;
    if (f->equations.items[c->pair].type != VALUE_REAL) return;
    for (int side = 0; side < 2; side++) {
        const int v = c->variable[side];
        if (v < 0 || f->m->variables[v].type == FLAT_REAL) continue;
        c->whole = v;
        c->variable[side] = -1;
    }
}

/* Equation k is for what moves in it; what stands alone on the left is given elsewhere. */
static void note_moving(flattener *f, definitions *d, size_t k)
{
    expr solved;
    const equation_pair *p = &f->equations.items[k];
    const int v = bare_variable(f, p->left, p->right, &solved);
    if (v >= 0) d->moves[v] = k + 1;
}

/* Discrete equations leave the list of continuous ones. */
static void split_pairs(flattener *f, definitions *d)
{
    size_t all = f->equations.count;
    equation_pair *items = f->equations.items;
    for (size_t k = 0; k < all; k++) {
        expr solved;
        int v = items[k].assigned ? bare_variable(f, items[k].left, items[k].right, &solved) : -1;
        if (v >= 0) d->assigned[v] = true;
    }
    for (size_t k = 0; k < all; k++) {
        if (!is_discrete_pair(f, d, &items[k])) {
            note_moving(f, d, k);
            continue;
        }
        candidate *c = &d->candidates[d->count++];
        c->pair = k;
        c->chosen = -1;
        c->variable[0] = bare_variable(f, items[k].left, items[k].right, &c->value[0]);
        c->variable[1] = bare_variable(f, items[k].right, items[k].left, &c->value[1]);
        leave_integers(f, c);
    }
}

/* Whether a condition holds for a moment alone: c and not pre(c), or at the start. */
static bool is_moment(flattener *f, expr c)
{
    const expr_node *n = graph_node(f->g, c);
    if (n->op == EXPR_AND) return is_moment(f, n->a) || is_moment(f, n->b);
    if (n->op == EXPR_OR) return is_moment(f, n->a) && is_moment(f, n->b);
    if (n->op == EXPR_MEMORY) return n->index == f->m->memory_initial;
    if (n->op != EXPR_NOT) return false;
    const expr_node *before = graph_node(f->g, n->a);
    return before->op == EXPR_MEMORY && f->slot_variable[before->index] < 0;
}

/* Whether a value changes between events; what a clause of an algorithm assigns does not. */
static bool varies(flattener *f, expr e)
{
    for (;;) {
        if (!(node_depends(f, e) & DEPENDS_CONTINUOUS)) return false;
        const expr_node *n = graph_node(f->g, e);
        if (n->op != EXPR_SELECT || node_depends(f, n->a) & DEPENDS_CONTINUOUS) return true;
        if (!is_moment(f, n->a) && varies(f, n->b)) return true;
        e = graph_node(f->g, e)->c;
    }
}

/* Discrete variables and conditions of when change at events alone: what varies between them cannot
 * define one. */
static void check_events(flattener *f, expr e, const char *name, source_place place)
{
    if (!varies(f, e)) return;
    report_error(f, place,
                 "%s%s can change at events alone, but its expression varies between them: "
                 "functions, loops of the run, noEvent and smooth make no events",
                 name ? "the discrete variable " : "this condition of when", name ? name : "");
}

/* $floor.. is made anew by relations around its own value, and $when.. is a condition. */
static void check_discrete(flattener *f, const candidate *c, source_place place)
{
    const char *name = f->m->variables[c->variable[c->chosen]].name;
    if (strncmp(name, "$floor", 6) == 0) return;
    check_events(f, c->value[c->chosen], name[0] == '$' ? NULL : name, place);
}

static void check_conditions(flattener *f)
{
    for (size_t w = 0; w < f->m->when_count; w++)
        for (size_t b = 0; b < f->m->whens[w].branch_count; b++) {
            const flat_branch *branch = &f->m->whens[w].branches[b];
            check_events(f, branch->condition, NULL, branch->place);
        }
}

static void store_discretes(flattener *f, const definitions *d)
{
    flat_model *m = f->m;
    for (size_t k = 0; k < d->count; k++) {
        const candidate *c = &d->candidates[k];
        equation_pair *p = &f->equations.items[c->pair];
        if (c->chosen >= 0) check_discrete(f, c, p->place);
        if (c->chosen >= 0 && flatten_grow(f, &m->discretes, &f->discrete_capacity,
                                           m->discrete_count + 1, sizeof *m->discretes))
            m->discretes[m->discrete_count++] =
                (flat_discrete){c->variable[c->chosen], c->value[c->chosen], p->place};
        p->type = VALUE_ERROR; /* taken */
    }
}

static void missing_definitions(flattener *f, const definitions *d)
{
    for (size_t v = 0; v < f->m->variable_count; v++) {
        const flat_variable *q = &f->m->variables[v];
        if (!q->discrete || d->definer[v] >= 0) continue;
        if (q->type == FLAT_INTEGER && d->moves[v] > 0)
            integer_equals_real(f, (int)v, f->equations.items[d->moves[v] - 1].place);
        else
            report_error(f, q->place, "discrete variable '%s' is never given a value", q->name);
    }
}

static void find_discretes(flattener *f)
{
    size_t n = f->m->variable_count;
    definitions d = {.definer = dae_calloc(n + 1, sizeof *d.definer),
                     .assigned = dae_calloc(n + 1, sizeof *d.assigned),
                     .moves = dae_calloc(n + 1, sizeof *d.moves),
                     .place = dae_calloc(n + 1, sizeof *d.place),
                     .candidates = dae_calloc(f->equations.count + 1, sizeof *d.candidates)};
    if (d.definer && d.assigned && d.moves && d.place && d.candidates) {
        for (size_t v = 0; v < n; v++) d.definer[v] = -1;
        check_conditions(f);
        define_by_whens(f, &d);
        split_pairs(f, &d);
        if (!match_discretes(f, &d)) f->failed = true;
        store_discretes(f, &d);
        if (message_errors(f->messages) == 0) missing_definitions(f, &d);
    } else {
        f->failed = true;
    }
    dae_free_all(d.definer, d.assigned, d.moves, d.place, d.candidates, d.use_start, d.use);
}

/* ---- continuous equations ---- */

/* A variable that equals a value of parameters is no unknown, so that no method would notice if it
 * is not a finite number: then the model asserts that it is. */
static void check_fixed_side(flattener *f, const equation_pair *p)
{
    const expr sides[2] = {p->left, p->right};
    for (int k = 0; k < 2; k++) {
        expr e = sides[1 - k];
        if (e == EXPR_NONE || sides[k] == EXPR_NONE || f->failed) return;
        const expr_node *n = graph_node(f->g, sides[k]);
        if (n->op != EXPR_VARIABLE || node_depends(f, e) & (DEPENDS_CONTINUOUS | DEPENDS_MEMORY))
            continue;
        if (isfinite(fixed_value(f, e))) continue;
        const char *name = f->m->variables[n->index].name;
        expr size = graph_unary(f->g, EXPR_ABS, e), most = constant(f, DBL_MAX);
        push_check(f, graph_binary(f->g, EXPR_LE, size, most),
                   flatten_text(f, "the value of '%s' is not a finite number", name), NULL,
                   FLAT_REAL, p->place);
    }
}

/* The equations of a list, which is forgotten. */
static flat_equation *store_equations(flattener *f, pair_list *list, size_t *count)
{
    flat_equation *out = dae_calloc(list->count + 1, sizeof *out);
    *count = 0;
    if (!out) {
        f->failed = true;
        return NULL;
    }
    for (size_t k = 0; k < list->count && !f->failed; k++) {
        const equation_pair *p = &list->items[k];
        if (p->type == VALUE_ERROR) continue;
        flat_equation *e = &out[(*count)++];
        e->left = p->left;
        e->right = p->right;
        e->residual = p->residual != EXPR_NONE ? p->residual
                                               : graph_binary(f->g, EXPR_SUB, p->left, p->right);
        e->place = p->place;
        e->pass = p->pass;
        e->number = (int)*count;
        if (p->comment && p->comment[0]) e->name = model_text(f, p->comment);
        check_fixed_side(f, p);
    }
    dae_free(list->items);
    *list = (pair_list){0};
    return out;
}

/* Matrices multiplied again and again share nearly all of their operations, so that the graph is
 * small; but each equation is analysed with all that it contains. */
static void check_reach(flattener *f)
{
    const flat_model *m = f->m;
    const double usual = 100.0; /* operations of an equation: so many models are large, not dense */
    const double most = fmax(f->limits.reach, usual * (double)m->equation_count);
    walk w = {0};
    double sum = 0.0;
    for (size_t k = 0; k < m->equation_count && sum <= most && !f->failed; k++) {
        f->failed = !walk_from(&w, f->g, &m->equations[k].residual, 1);
        sum += (double)w.count;
        if (sum > most && !f->failed)
            report_error(f, m->equations[k].place,
                         "the equations up to this one, which contains %zu operations, take more "
                         "than %g in all: too many to analyse. Give intermediate results variables "
                         "of their own, which the equations then use.",
                         w.count, most);
    }
    walk_free(&w);
}

/* ---- structural parameters ---- */

/* What structural parameters are computed from is structural. Values use earlier ones only. */
static void spread_structural(flattener *f)
{
    visit_begin(f);
    for (size_t k = f->m->parameter_count; k > 0; k--)
        if (f->m->parameters[k - 1].structural)
            visit_leaves(f, f->m->parameters[k - 1].value, mark_structural, NULL);
}

/* Variables were added one by one: room for more is given back, if there is memory to move to. */
static void fit_variables(flattener *f)
{
    enum { MANY = 10000 };
    flat_model *m = f->m;
    if (m->variable_count < MANY || f->variable_capacity == m->variable_count) return;
    flat_variable *fits = dae_copy(m->variables, m->variable_count, sizeof *fits);
    if (!fits) return;
    dae_free(m->variables);
    m->variables = fits;
    f->variable_capacity = m->variable_count;
}

void finish_model(flattener *f)
{
    flat_model *m = f->m;
    fit_variables(f);
    if (message_errors(f->messages) == 0) apply_rules(f);
    find_discretes(f);
    if (!f->failed) sort_events(f);
    m->equations = store_equations(f, &f->equations, &m->equation_count);
    m->initial_equations = store_equations(f, &f->initial_equations, &m->initial_count);
    m->terminal_equations = store_equations(f, &f->terminal_equations, &m->terminal_count);
    if (f->failed || graph_failed(f->g)) return;
    check_reach(f);
    m->asserts = f->asserts.items;
    m->assert_count = f->asserts.count;
    f->asserts = (action_list){0};
    spread_structural(f);
    fit_variables(f);
}
