/* Definitions: variables that an equation gives explicitly, v = expression, and that others use (a
 * reaction rate, the force of a spring, the current of a diode). They leave the system that is
 * integrated, with their equations: the expression stands where v stood, and since nodes of the
 * graph are shared it is still computed once. In a loop of definitions one stays, which tears it.
 *
 * What a method sees are states and algebraic variables that something must be solved for; those
 * alone are in its error test. So a variable stays
 *  - that is asked for: fixed, a state by choice, an input, with a nominal value that makes its
 *    tolerance smaller, or mentioned in an initial equation;
 *  - whose start value guides Newton's iteration: it has one, and is not settled by states alone;
 *  - that is a difference of others, for the reason given in model_differences.c, or is divided by
 *    one, or by x - 1: errors grow next to the pole, and a step may pass it unseen;
 *  - through which a when-clause reads what it assigns (model_read_back.c);
 *  - whose elimination would fill the Jacobian or hide its structure (model_incidence.h).
 * A model that is found wrong without its definitions is looked at once more with them, so that
 * messages are of the equations as they were written (model.c). */
#include <math.h>

#include "base/memory.h"
#include "expr/walk.h"
#include "model/model_build.h"
#include "model/model_incidence.h"

/* As in matrix/jacobian.c: entries are not counted below so many unknowns. */
enum { DENSE_BELOW = 20 };

typedef struct definition_search {
    build *b;
    incidence in;
    elimination may; /* once it is */
    bool analysed;
    difference_search *differences;
    bool *kept;    /* per variable: stays an unknown, whatever its equations are */
    bool *guessed; /* per variable: it has a start value */
    bool *steep;   /* per variable: it may magnify errors, as exp(u - v) */
    int *by;       /* per variable: the equation that gives it, -1 */
    expr *value;   /* per variable: what that says */
    int *order;    /* variables with such an equation, those they are made of first */
    int count;
    int unknowns; /* that are left */
    walk events;  /* what events contain, once */
    /* Equations as lists of variables after elimination, in one growing pool. */
    int *row_at, *row_count; /* per equation */
    int *pool;
    size_t pool_count, pool_room;
    bool failed;
} definition_search;

/* ---- what stays ---- */

static void keep_leaf(void *context, const expr_node *leaf)
{
    definition_search *s = context;
    int order, root = build_root_of_leaf(s->b->f, leaf, &order);
    if (root >= 0) s->kept[root] = true;
}

static void keep_slope(void *context, const expr_node *leaf)
{
    if (leaf->order > 0) keep_leaf(context, leaf);
}

static void keep_slopes(definition_search *s, expr e)
{
    const graph *g = s->b->f->flat->graph;
    if (!walk_new_leaves(&s->events, g, e, keep_slope, s)) s->failed = true;
}

static void keep_actions(definition_search *s, const flat_action *a, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int sign;
        keep_slopes(s, a[i].value);
        keep_slopes(s, a[i].guard);
        if (a[i].kind == ACTION_REINIT)
            s->kept[model_alias_root(s->b->f, a[i].variable, &sign)] = true;
    }
}

/* What an initial equation mentions, and derivatives in events. */
static void keep_events(definition_search *s)
{
    const flat_model *m = s->b->f->flat;
    for (size_t i = 0; i < m->initial_count; i++)
        if (!graph_leaves(m->graph, &m->initial_equations[i].residual, 1, keep_leaf, s))
            s->failed = true;
    for (size_t i = 0; i < m->terminal_count; i++)
        if (!graph_leaves(m->graph, &m->terminal_equations[i].residual, 1, keep_leaf, s))
            s->failed = true;
    for (size_t i = 0; i < m->relation_count; i++) keep_slopes(s, m->relations[i].crossing);
    for (size_t i = 0; i < m->discrete_count; i++) keep_slopes(s, m->discretes[i].value);
    keep_actions(s, m->asserts, m->assert_count);
    for (size_t w = 0; w < m->when_count; w++)
        for (size_t k = 0; k < m->whens[w].branch_count; k++) {
            const flat_branch *q = &m->whens[w].branches[k];
            keep_slopes(s, q->condition);
            keep_actions(s, q->actions, q->action_count);
        }
    walk_free(&s->events);
}

/* A nominal value below 1 asks for a smaller absolute tolerance than others have. */
static bool asks_for_tolerance(const graph *g, const flat_variable *q)
{
    double nominal;
    if (q->nominal == EXPR_NONE) return false;
    return !graph_is_constant(g, q->nominal, &nominal) || fabs(nominal) < 1.0;
}

static void keep_declared(definition_search *s)
{
    const model_form *f = s->b->f;
    for (size_t v = 0; v < f->flat->variable_count; v++) {
        const flat_variable *q = &f->flat->variables[v];
        int sign, root = model_alias_root(f, (int)v, &sign);
        bool asked = q->asked || q->discrete || q->input || q->fixed ||
                     q->state_select > SELECT_DEFAULT || asks_for_tolerance(f->flat->graph, q);
        if (asked || f->alias[root].value != EXPR_NONE || s->in.highest[root] > 0)
            s->kept[root] = true;
        s->guessed[root] |= q->has_start;
    }
}

/* ---- equations that give a variable ---- */

static bool reads(definition_search *s, expr value, unsigned kinds)
{
    bool found = false;
    if (!graph_reads(s->b->f->flat->graph, &value, 1, kinds, &found)) s->failed = true;
    return found;
}

/* A function of time in the error test is what keeps steps from leaping over a pulse. Of time and
 * parameters alone, it is noted: what events read of it are its values to the last digit, and not
 * those of Newton's iteration, so that v <= time holds where v = time. */
static bool stays_as_function(definition_search *s, int v, expr value)
{
    if (!reads(s, value, 1u << EXPR_TIME)) return false;
    if (!reads(s, value, 1u << EXPR_VARIABLE | 1u << EXPR_MEMORY))
        s->b->f->alias[v].of_time = value;
    return true;
}

/* Whether equation i gives v explicitly; it is noted then. */
static bool try_variable(definition_search *s, int i, int v)
{
    expr value;
    difference_kind kind = DIFFERENCE_PLAIN;
    if (v < 0 || s->kept[v] || s->by[v] >= 0) return false;
    if (!build_isolate(s->b->f, v, s->b->f->flat->equations[i].residual, &value)) s->failed = true;
    if (value == EXPR_NONE || stays_as_function(s, v, value)) return false;
    if (!s->differences) s->differences = difference_search_new(s->b->f);
    if (!s->differences || !difference_search_look(s->differences, v, value, &kind))
        s->failed = true;
    if (s->failed || kind == DIFFERENCE_PLAIN) return false;
    s->steep[v] = kind == DIFFERENCE_INSIDE;
    s->by[v] = i;
    s->value[v] = value;
    return true;
}

static int root_of(const model_form *f, expr e)
{
    int order;
    return e == EXPR_NONE ? -1 : build_root_of_leaf(f, graph_node(f->flat->graph, e), &order);
}

/* The variable that equation i is written for. Others may come out of it as well; but what is
 * written 0 = .. or a + b = .. is meant to be solved, and tells a method what to control. */
static void find_variable(definition_search *s, int i)
{
    const model_form *f = s->b->f;
    const flat_equation *q = &f->flat->equations[i];
    if (s->b->gone[i] || s->in.slopes[i]) return;
    if (!try_variable(s, i, root_of(f, q->left))) try_variable(s, i, root_of(f, q->right));
}

/* ---- their order ---- */

enum { UNSEEN, ENTERED, LEFT };

typedef struct visit {
    int variable, at; /* the next of its equation's variables */
} visit;

/* Depth first through what v is made of. One that is met on the way to itself tears the loop and
 * stays. */
static void order_from(definition_search *s, int v, char *mark, visit *stack)
{
    const signature *g = &s->in.sigma;
    int depth = 0;
    stack[depth++] = (visit){v, g->start[s->by[v]]};
    mark[v] = ENTERED;
    while (depth > 0) {
        visit *top = &stack[depth - 1];
        int own = top->variable, end = g->start[s->by[own] + 1];
        if (top->at == end) {
            mark[own] = LEFT;
            if (!s->kept[own]) s->order[s->count++] = own;
            depth--;
            continue;
        }
        int next = g->column[top->at++];
        if (next == own || s->by[next] < 0 || s->kept[next]) continue;
        if (mark[next] == ENTERED) s->kept[next] = true;
        if (mark[next] != UNSEEN) continue;
        mark[next] = ENTERED;
        stack[depth++] = (visit){next, g->start[s->by[next]]};
    }
}

static void find_order(definition_search *s)
{
    int nv = s->in.sigma.n;
    char *mark = DAE_ARRAY(char, nv);
    visit *stack = DAE_ARRAY(visit, nv);
    s->failed |= !mark || !stack;
    /* What is met first tears the loops it is in: guesses, then what has errors of its own. */
    for (int pass = 0; pass < 3; pass++)
        for (int v = 0; v < nv && !s->failed; v++) {
            bool due = pass == 0 ? s->guessed[v] : pass == 1 ? s->steep[v] : true;
            if (due && s->by[v] >= 0 && mark[v] == UNSEEN) order_from(s, v, mark, stack);
        }
    dae_free_all(mark, stack);
}

/* ---- rows ---- */

static bool open_rows(definition_search *s)
{
    const signature *g = &s->in.sigma;
    s->pool_count = s->pool_room = (size_t)g->start[g->m];
    s->pool = dae_copy(g->column, s->pool_count, sizeof *s->pool);
    s->row_at = DAE_ARRAY(int, g->m);
    s->row_count = DAE_ARRAY(int, g->m);
    if (!s->pool || !s->row_at || !s->row_count) return false;
    for (int i = 0; i < g->m; i++) {
        s->row_at[i] = g->start[i];
        s->row_count[i] = g->start[i + 1] - g->start[i];
    }
    return true;
}

/* to = (row of an equation and row of another) without v, both increasing; returns how many. to
 * NULL: counted only */
static int joined_rows(const definition_search *s, int equation, int other, int v, int *to)
{
    const int *a = s->pool + s->row_at[equation], *b = s->pool + s->row_at[other];
    int na = s->row_count[equation], nb = s->row_count[other], count = 0;
    for (int i = 0, k = 0; i < na || k < nb;) {
        int next = k == nb || (i < na && a[i] <= b[k]) ? a[i] : b[k];
        if (i < na && a[i] == next) i++;
        if (k < nb && b[k] == next) k++;
        if (next == v) continue;
        if (to) to[count] = next;
        count++;
    }
    return count;
}

/* How many entries the Jacobian gains without v and its equation. */
static long growth(const definition_search *s, int v)
{
    int own = s->by[v];
    long gain = -(long)s->row_count[own];
    for (int k = s->in.equations_start[v]; k < s->in.equations_start[v + 1]; k++) {
        int user = s->in.equations[k];
        if (user != own) gain += joined_rows(s, user, own, v, NULL) - s->row_count[user];
    }
    return gain;
}

/* The row of v's equation in place of v. */
static void replace_in_rows(definition_search *s, int v)
{
    int own = s->by[v];
    for (int k = s->in.equations_start[v]; k < s->in.equations_start[v + 1]; k++) {
        int user = s->in.equations[k];
        if (user == own) continue;
        size_t most = s->pool_count + (size_t)(s->row_count[user] + s->row_count[own]);
        if (most > INT32_MAX || !dae_grow(&s->pool, &s->pool_room, most, sizeof *s->pool)) {
            s->failed = true;
            return;
        }
        int *to = s->pool + s->pool_count;
        s->row_count[user] = joined_rows(s, user, own, v, to);
        s->row_at[user] = (int)s->pool_count;
        s->pool_count += (size_t)s->row_count[user];
    }
}

/* ---- the decision ---- */

/* Whether v is made of states alone. */
static bool is_of_states(const definition_search *s, int v)
{
    const int *row = s->pool + s->row_at[s->by[v]];
    for (int k = 0; k < s->row_count[s->by[v]]; k++)
        if (row[k] != v && s->in.highest[row[k]] == 0) return false;
    return true;
}

/* Whether the start value of v guides nothing: states settle it. */
static bool is_settled(const definition_search *s, int v)
{
    return s->b->f->condition_count == 0 && s->may.rule == ELIMINATE_ALL && is_of_states(s, v);
}

/* The structure of the equations, found when the first definition is about to leave. */
static bool has_structure(definition_search *s)
{
    if (!s->analysed) s->failed = !elimination_new(&s->may, s->b, &s->in);
    s->analysed = true;
    return !s->failed && s->may.rule != ELIMINATE_NONE;
}

/* Whether v is divided by a difference, now that the definitions in it are known. */
static bool has_pole(definition_search *s, int v)
{
    difference_kind kind;
    if (!difference_search_look(s->differences, v, s->value[v], &kind)) s->failed = true;
    return difference_search_pole(s->differences, v);
}

static bool leaves(definition_search *s, int v)
{
    int others = s->row_count[s->by[v]] - 1;
    int users = s->in.equations_start[v + 1] - s->in.equations_start[v] - 1;
    if (s->kept[v] || (s->steep[v] && !is_of_states(s, v)) || has_pole(s, v)) return false;
    if (s->unknowns >= DENSE_BELOW && growth(s, v) > 0) return false;
    return has_structure(s) && elimination_pairs(&s->may, v, s->by[v]) &&
           elimination_allows(&s->may, v, s->by[v], others, users) &&
           (!s->guessed[v] || is_settled(s, v));
}

static void take_out(definition_search *s, int v)
{
    model_form *f = s->b->f;
    model_alias *a = &f->alias[v];
    a->value = s->value[v];
    a->equation = s->by[v];
    a->evaluated = a->used = true;
    s->b->gone[s->by[v]] = true;
    s->order[f->definition_count++] = v; /* never ahead of what is still to be looked at */
    s->unknowns--;
    replace_in_rows(s, v);
}

static void count_unknowns(definition_search *s)
{
    for (int v = 0; v < s->in.sigma.n; v++)
        s->unknowns += s->in.equations_start[v + 1] > s->in.equations_start[v];
}

/* Definitions in front of the outputs, which may use them. */
static void list_definitions(definition_search *s)
{
    model_form *f = s->b->f;
    int shift = f->definition_count;
    for (int k = f->evaluated_count; k-- > 0;) f->evaluated[k + shift] = f->evaluated[k];
    for (int k = 0; k < shift; k++) f->evaluated[k] = s->order[k];
    f->evaluated_count += shift;
}

static void find_definitions(definition_search *s)
{
    keep_declared(s);
    keep_events(s);
    for (int i = 0; i < s->in.sigma.m && !s->failed; i++) find_variable(s, i);
    if (!s->failed) s->failed = !keep_read_back(s->b, &s->in, s->by, s->value, s->kept);
    if (!s->failed) find_order(s);
    if (s->failed || s->count == 0) return;
    s->failed = !open_rows(s);
    if (!s->failed) count_unknowns(s);
    for (int k = 0; k < s->count && !s->failed; k++)
        if (leaves(s, s->order[k]) && !s->failed) take_out(s, s->order[k]);
    if (!s->failed) list_definitions(s);
}

bool build_definitions(build *b)
{
    if (b->as_written) return true;
    size_t nv = b->f->flat->variable_count;
    definition_search s = {.b = b,
                           .kept = DAE_ARRAY(bool, nv),
                           .guessed = DAE_ARRAY(bool, nv),
                           .steep = DAE_ARRAY(bool, nv),
                           .by = DAE_ARRAY(int, nv),
                           .value = DAE_ARRAY(expr, nv),
                           .order = DAE_ARRAY(int, nv)};
    s.failed = !incidence_new(&s.in, b) || !s.kept || !s.guessed || !s.steep || !s.by || !s.value ||
               !s.order;
    for (size_t v = 0; v < nv && !s.failed; v++) s.by[v] = -1;
    if (!s.failed) find_definitions(&s);
    incidence_free(&s.in);
    elimination_free(&s.may);
    difference_search_free(s.differences);
    dae_free_all(s.kept, s.guessed, s.steep, s.by, s.value, s.order, s.row_at, s.row_count, s.pool);
    return !s.failed && !graph_failed(b->f->flat->graph);
}
