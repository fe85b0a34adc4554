/* Passes of a loop of equations by their formula (flatten_formula.c), or else by the graph of the
 * first pass. An equation whose counters stand in subscripts alone, in a linear way, is in every
 * pass the same expression of other elements. The first pass is evaluated from the text; of the
 * others the elements are found, and the operations of the first are done on them. Where a pass may
 * differ in more than that, it is evaluated from the text as well; so are the next passes after the
 * first, to be compared. docs/loops.md */
#include <string.h>

#include "base/memory.h"
#include "expr/walk.h"
#include "modelica/flatten/flatten_internal.h"

enum {
    MOST_LEAVES = 40,  /* elements with counters in an equation, */
    MOST_FIXED = 64,   /* leaves without, */
    MOST_NODES = 500,  /* and operations */
    MOST_COUNTERS = 4, /* loops around, */
    MOST_RANK = 4,     /* and dimensions */
    COMPARED = 2,      /* passes evaluated both ways */
    MOST_DIFFER = 20   /* passes that may fail before it is given up */
};

/* constant + sum of factor[k] * counter k */
typedef struct linear {
    double constant, factor[MOST_COUNTERS];
} linear;

/* A reference x[i + 1, j]: the element in a pass. */
typedef struct occurrence {
    const symbol *symbol;
    linear subscript[MOST_RANK];
    size_t leaf; /* which of the leaves it is */
} occurrence;

/* A node of the first pass: a leaf that moves, one that stays, or an operation. */
typedef struct replay_node {
    uint8_t op, order;
    uint8_t moves; /* 1: this is an operation over leaves that move; 2: it is such a leaf */
    uint16_t leaf;
    uint16_t operand[3];
    expr stays; /* itself, if nothing below moves */
} replay_node;

typedef enum replay_state {
    REPLAY_NEW,
    REPLAY_FORMULA,
    REPLAY_COMPARED,
    REPLAY_READY,
    REPLAY_NEVER
} replay_state;

struct replay {
    const ast_item *item;
    replay_state state;
    formula *formula; /* owned; NULL: the text is no formula, and the graph of its first pass counts
                       */
    int compared, differ;
    size_t counters[MOST_COUNTERS]; /* places among the locals */
    size_t counter_count;
    occurrence occurrences[MOST_LEAVES];
    size_t occurrence_count;
    expr leaf[MOST_LEAVES]; /* in the first pass */
    size_t leaf_count;
    expr fixed[MOST_FIXED]; /* leaves of references without counters */
    size_t fixed_count;
    bool overflow;     /* too many of them */
    replay_node *node; /* owned */
    size_t node_count;
    uint16_t left, right;
    equation_pair like;
};

/* ---- reading the text ------------------------------------------------------------------------ */

/* Which counter a local is; SIZE_MAX: none. */
static size_t counter_of(flattener *f, replay *r, const ast_expr *e)
{
    if (e->kind != AST_REFERENCE || e->part_count != 1 || e->parts[0].subscript_count)
        return SIZE_MAX;
    const local *l = find_local(f, e->parts[0].name);
    if (!l) return SIZE_MAX;
    const size_t place = (size_t)(l - f->locals);
    for (size_t k = 0; k < r->counter_count; k++)
        if (r->counters[k] == place) return k;
    if (r->counter_count == MOST_COUNTERS || l->assignable || l->value.type != VALUE_INTEGER)
        return SIZE_MAX;
    r->counters[r->counter_count] = place;
    return r->counter_count++;
}

static linear linear_sum(const linear *a, double x, const linear *b, double y)
{
    linear s = {.constant = x * a->constant + y * b->constant};
    for (int k = 0; k < MOST_COUNTERS; k++) s.factor[k] = x * a->factor[k] + y * b->factor[k];
    return s;
}

static bool is_number(const linear *a)
{
    for (int k = 0; k < MOST_COUNTERS; k++)
        if (a->factor[k] != 0.0) return false;
    return true;
}

static bool read_linear(flattener *f, replay *r, const ast_expr *e, size_t size, linear *out);

static bool linear_binary(flattener *f, replay *r, const ast_expr *e, size_t size, linear *out)
{
    linear a, b;
    if (!read_linear(f, r, e->args[0], size, &a) || !read_linear(f, r, e->args[1], size, &b))
        return false;
    if (e->op == OP_MUL && is_number(&a))
        *out = linear_sum(&b, a.constant, &b, 0.0);
    else if (e->op == OP_MUL && is_number(&b))
        *out = linear_sum(&a, b.constant, &a, 0.0);
    else if (e->op == OP_ADD || e->op == OP_SUB)
        *out = linear_sum(&a, 1.0, &b, e->op == OP_ADD ? 1.0 : -1.0);
    else
        return false;
    return true;
}

/* An Integer parameter or constant, whose value decided the first pass already. */
static bool linear_symbol(flattener *f, const ast_expr *e, linear *out)
{
    if (e->part_count != 1 || e->parts[0].subscript_count || find_local(f, e->parts[0].name))
        return false;
    const symbol *s = find_symbol(f, e->parts[0].name);
    if (!s || s->state != SYMBOL_DONE || s->value.type != VALUE_INTEGER || s->value.rank)
        return false;
    *out = (linear){.constant = fixed_value(f, value_element(&s->value, 0))};
    return out->constant == out->constant;
}

/* A subscript as a linear function of counters; `size` is the meaning of "end". */
static bool read_linear(flattener *f, replay *r, const ast_expr *e, size_t size, linear *out)
{
    *out = (linear){0};
    switch (e ? e->kind : AST_COLON) {
    case AST_NUMBER: out->constant = e->value; return e->integer;
    case AST_END: out->constant = (double)size; return true;
    case AST_BINARY: return linear_binary(f, r, e, size, out);
    case AST_UNARY:
        if (!read_linear(f, r, e->args[0], size, out)) return false;
        if (e->op == OP_MINUS) *out = linear_sum(out, -1.0, out, 0.0);
        return e->op == OP_MINUS || e->op == OP_PLUS;
    case AST_REFERENCE: {
        const size_t k = counter_of(f, r, e);
        if (k == SIZE_MAX) return linear_symbol(f, e, out);
        out->factor[k] = 1.0;
        return true;
    }
    default: return false;
    }
}

/* Whether some local is named in an expression. */
static bool names_local(flattener *f, const ast_expr *e)
{
    if (!e) return false;
    for (size_t k = 0; k < e->part_count; k++)
        for (size_t s = 0; s < e->parts[k].subscript_count; s++)
            if (names_local(f, e->parts[k].subscripts[s])) return true;
    for (size_t k = 0; k < e->arg_count; k++)
        if (names_local(f, e->args[k])) return true;
    return e->kind == AST_REFERENCE && e->part_count && find_local(f, e->parts[0].name);
}

/* A leaf without its order. */
static expr leaf_number(const expr_node *leaf)
{
    return (expr)leaf->op << 28 | (expr)leaf->index;
}

static bool is_fixed(const replay *r, const expr_node *n)
{
    for (size_t x = 0; x < r->fixed_count; x++)
        if (r->fixed[x] == leaf_number(n)) return true;
    return false;
}

static void note_fixed(void *context, const expr_node *leaf)
{
    replay *r = context;
    if (leaf->op == EXPR_CONSTANT || leaf->op == EXPR_TIME) return;
    r->overflow = r->overflow || r->fixed_count == MOST_FIXED;
    if (!r->overflow) r->fixed[r->fixed_count++] = leaf_number(leaf);
}

/* A reference without counters: its leaves are the same in every pass. */
static bool read_fixed(flattener *f, replay *r, const ast_expr *e)
{
    if (names_local(f, e)) return false;
    if (e->part_count == 1 && strcmp(e->parts[0].name, "time") == 0) return true;
    for (size_t k = 0; k < e->part_count; k++)
        if (e->parts[k].subscript_count > 0) { /* of one element, and known before the run */
            linear unread;
            for (size_t s = 0; s < e->parts[k].subscript_count; s++)
                if (!read_linear(f, r, e->parts[k].subscripts[s], 0, &unread)) return false;
        }
    value v = evaluate(f, e);
    if (!value_is_simple(&v) || v.type == VALUE_STRING || v.count > MOST_FIXED) return false;
    return graph_leaves(f->g, value_elements(&v), v.count, note_fixed, r) && !r->overflow;
}

/* A reference with counters in its subscripts. */
static bool read_element(flattener *f, replay *r, const ast_expr *e)
{
    if (e->part_count != 1 || r->occurrence_count == MOST_LEAVES || find_local(f, e->parts[0].name))
        return false;
    const ast_part *part = &e->parts[0];
    const symbol *s = find_symbol(f, part->name);
    if (!s || s->whole || s->state != SYMBOL_DONE || s->absent) return false;
    const value *v = &s->value;
    if (!value_is_numeric(v) || !v->e || v->rank > MOST_RANK) return false;
    if (part->subscript_count != (size_t)v->rank) return false;
    occurrence *o = &r->occurrences[r->occurrence_count++];
    *o = (occurrence){.symbol = s};
    for (int k = 0; k < v->rank; k++)
        if (!read_linear(f, r, part->subscripts[k], v->dims[k], &o->subscript[k])) return false;
    return true;
}

/* All references of an expression; false: passes may differ in other ways. */
static bool read_text(flattener *f, replay *r, const ast_expr *e)
{
    for (; e && e->kind == AST_BINARY; e = e->args[0]) /* chains are long on the left */
        if (!read_text(f, r, e->args[1])) return false;
    if (!e) return false;
    switch (e->kind) {
    case AST_NUMBER:
    case AST_BOOLEAN: return true;
    case AST_REFERENCE:
        if (!e->part_count || !e->parts[0].name) return false;
        return e->parts[0].subscript_count && names_local(f, e) ? read_element(f, r, e)
                                                                : read_fixed(f, r, e);
    case AST_CALL:
    case AST_UNARY:
    case AST_IF:
        if (e->named_count || e->iterator_count) return false;
        for (size_t k = 0; k < e->arg_count; k++)
            if (!read_text(f, r, e->args[k])) return false;
        return true;
    default: return false;
    }
}

/* ---- elements of a pass ---------------------------------------------------------------------- */

/* The element that a reference means in the pass at hand; EXPR_NONE: there is none. */
static expr element_of(const flattener *f, const replay *r, const occurrence *o)
{
    const value *v = &o->symbol->value;
    double counter[MOST_COUNTERS] = {0};
    size_t at = 0;
    for (size_t k = 0; k < r->counter_count; k++)
        counter[k] = graph_node(f->g, f->locals[r->counters[k]].value.scalar)->value;
    for (int d = 0; d < v->rank; d++) {
        double x = o->subscript[d].constant;
        for (size_t k = 0; k < r->counter_count; k++) x += o->subscript[d].factor[k] * counter[k];
        if (!(x >= 1.0 && x <= (double)v->dims[d])) return EXPR_NONE;
        at = at * v->dims[d] + (size_t)x - 1;
    }
    return v->e[at];
}

/* Whether the counters are numbers, as they were in the first pass. */
static bool counters_known(const flattener *f, const replay *r)
{
    for (size_t k = 0; k < r->counter_count; k++) {
        if (r->counters[k] >= f->local_count) return false;
        const value *v = &f->locals[r->counters[k]].value;
        if (v->type != VALUE_INTEGER || v->rank || v->e) return false;
        if (graph_node(f->g, v->scalar)->op != EXPR_CONSTANT) return false;
    }
    return true;
}

static bool is_element(const expr_node *n)
{
    return n->op == EXPR_VARIABLE || n->op == EXPR_PARAMETER || n->op == EXPR_MEMORY;
}

/* Whether the value of an element may have decided what the first pass looks like: which branch,
 * how many passes of a loop in a function (`mark_structural` has seen it by now), or that an
 * Integer is not too large. Elements of other passes have other values. */
static bool may_decide(const flattener *f, const occurrence *o, const expr_node *n)
{
    return n->op == EXPR_PARAMETER &&
           (f->m->parameters[n->index].structural || o->symbol->value.type == VALUE_INTEGER);
}

/* The leaves of the first pass; false: some element is a number, or its value matters. */
static bool find_leaves(const flattener *f, replay *r)
{
    if (!counters_known(f, r)) return false;
    for (size_t k = 0; k < r->occurrence_count; k++) {
        const expr e = element_of(f, r, &r->occurrences[k]);
        if (e == EXPR_NONE || !is_element(graph_node(f->g, e))) return false;
        if (may_decide(f, &r->occurrences[k], graph_node(f->g, e))) return false;
        size_t at = 0;
        while (at < r->leaf_count && r->leaf[at] != e) at++;
        if (at == r->leaf_count) r->leaf[r->leaf_count++] = e;
        r->occurrences[k].leaf = at;
        if (is_fixed(r, graph_node(f->g, e))) return false;
    }
    return r->leaf_count > 0;
}

/* Leaves of the pass at hand: as different from each other, and from those that stay, as in the
 * first one. */
static bool map_leaves(const flattener *f, const replay *r, expr *to)
{
    for (size_t k = 0; k < r->leaf_count; k++) to[k] = EXPR_NONE;
    for (size_t k = 0; k < r->occurrence_count; k++) {
        const expr e = element_of(f, r, &r->occurrences[k]);
        expr *slot = &to[r->occurrences[k].leaf];
        if (e == EXPR_NONE || (*slot != EXPR_NONE && *slot != e)) return false;
        *slot = e;
    }
    for (size_t k = 0; k < r->leaf_count; k++) {
        const expr_node *n = graph_node(f->g, to[k]);
        if (n->op != graph_node(f->g, r->leaf[k])->op || n->order != 0) return false;
        for (size_t j = 0; j < k; j++)
            if (to[j] == to[k]) return false;
        if (is_fixed(r, n)) return false;
    }
    return true;
}

/* ---- the expressions of the first pass ------------------------------------------------------- */

/* Node k of a walk over both sides; false: a leaf that the text does not name, as pre(d[j]) or the
 * memory of a relation. Another pass may have another one, even if the next passes have not, since
 * their outer counter is the same. */
static bool keep_node(const flattener *f, replay *r, const walk *w, size_t k)
{
    const expr_node *n = graph_node(f->g, w->order[k]);
    replay_node *to = &r->node[k];
    *to = (replay_node){.op = n->op, .order = n->order, .stays = w->order[k]};
    if (n->op >= EXPR_OP_COUNT) return false;
    for (size_t j = 0; j < r->leaf_count && is_element(n); j++)
        if (leaf_number(graph_node(f->g, r->leaf[j])) == leaf_number(n)) {
            to->moves = 2;
            to->leaf = (uint16_t)j;
        }
    if (is_element(n) && !to->moves && !is_fixed(r, n)) return false;
    for (int i = 0; i < n->arity; i++) {
        to->operand[i] = (uint16_t)walk_place(w, expr_operand(n, i));
        if (r->node[to->operand[i]].moves) to->moves = 1;
    }
    return true;
}

static bool keep_pair(const flattener *f, replay *r, const equation_pair *p)
{
    walk w = {0};
    const expr sides[2] = {p->left, p->right};
    if (p->left == EXPR_NONE || p->right == EXPR_NONE || p->residual != EXPR_NONE) return false;
    bool ok = walk_from(&w, f->g, sides, 2) && w.count <= MOST_NODES;
    if (ok) r->node = DAE_ARRAY(replay_node, w.count);
    ok = ok && r->node;
    for (size_t k = 0; ok && k < w.count; k++) ok = keep_node(f, r, &w, k);
    if (ok) {
        r->node_count = w.count;
        r->left = (uint16_t)walk_place(&w, p->left);
        r->right = (uint16_t)walk_place(&w, p->right);
        r->like = *p;
    }
    walk_free(&w);
    return ok;
}

/* Both sides in the pass whose leaves are `leaf`. */
static void rebuild(flattener *f, const replay *r, const expr *leaf, equation_pair *p)
{
    expr made[MOST_NODES];
    for (size_t k = 0; k < r->node_count; k++) {
        const replay_node *n = &r->node[k];
        if (n->moves == 0)
            made[k] = n->stays;
        else if (n->moves == 1)
            made[k] = graph_build(f->g, n->op, made[n->operand[0]], made[n->operand[1]],
                                  made[n->operand[2]]);
        else if (n->order == 0)
            made[k] = leaf[n->leaf];
        else
            made[k] = graph_variable(f->g, graph_node(f->g, leaf[n->leaf])->index, n->order);
    }
    *p = r->like;
    p->pass = NULL;
    p->left = made[r->left];
    p->right = made[r->right];
}

/* ---- equations ------------------------------------------------------------------------------- */

/* Evaluate the text; true: one equation is all that came of it. */
static bool evaluate_alone(flattener *f, const ast_item *item, replay_evaluation evaluation)
{
    const traces before = traces_of(f);
    const size_t count = f->target->count;
    evaluation(f, item);
    return !traces_differ(&before, f) && f->target->count == count + 1;
}

/* The replay of an equation, new or old; NULL: memory, or none any more. */
static replay *find_replay(flattener *f, const ast_item *item)
{
    for (size_t k = f->replay_count; k > 0; k--)
        if (f->replays[k - 1]->item == item) return f->replays[k - 1];
    replay **to = flatten_push(f, &f->replays, &f->replay_count, &f->replay_capacity, sizeof *to);
    if (to) *to = DAE_NEW(replay);
    if (to && !*to) f->replay_count--;
    if (!to || !*to) {
        f->failed = true;
        return NULL;
    }
    (*to)->item = item;
    return *to;
}

void replays_free(flattener *f)
{
    for (size_t k = 0; k < f->replay_count; k++) {
        dae_free(f->replays[k]->node);
        formula_free(f->replays[k]->formula);
        dae_free(f->replays[k]);
    }
    dae_free(f->replays);
    f->replays = NULL;
    f->replay_count = f->replay_capacity = 0;
}

static void give_up(replay *r)
{
    dae_free(r->node);
    formula_free(r->formula);
    r->node = NULL;
    r->formula = NULL;
    r->state = REPLAY_NEVER;
}

/* A pass by its formula and by the text, which comes first. */
static void compared_formula(flattener *f, replay *r, replay_evaluation evaluation)
{
    expr side[FORMULA_MOST_ROOTS];
    const bool alone = evaluate_alone(f, r->item, evaluation);
    if (f->failed || graph_failed(f->g)) return;
    formula_way *way = alone ? formula_run(f, r->formula, side) : NULL;
    const equation_pair *q = &f->target->items[f->target->count - 1];
    if (!alone || (way && (q->left != side[0] || q->right != side[1] ||
                           (way->compared > 0 && way->type != q->type)))) {
        give_up(r);
        return;
    }
    if (way) way->compared++, way->type = q->type, r->like = *q;
}

/* A pass by its formula, if those of its way were seen to agree with the text. */
static bool formula_pass(flattener *f, replay *r, replay_evaluation evaluation)
{
    expr side[FORMULA_MOST_ROOTS];
    const formula_way *way = formula_run(f, r->formula, side);
    if (!way || way->compared < FORMULA_COMPARED) {
        compared_formula(f, r, evaluation);
        return true;
    }
    equation_pair p = r->like;
    p.type = way->type;
    p.left = side[0];
    p.right = side[1];
    p.pass = NULL;
    push_pair(f, f->target, p);
    return true;
}

/* The first pass: evaluated, and kept. */
static void first_pass(flattener *f, replay *r, replay_evaluation evaluation)
{
    const ast_expr *const sides[] = {r->item->left, r->item->right};
    const bool alone = evaluate_alone(f, r->item, evaluation);
    r->state = REPLAY_FORMULA;
    if (!alone || f->failed || graph_failed(f->g)) {
        give_up(r);
        return;
    }
    r->formula = formula_new(f, sides, 2);
    if (r->formula) return;
    r->state = REPLAY_COMPARED;
    if (f->failed || !read_text(f, r, r->item->left) || !read_text(f, r, r->item->right) ||
        !find_leaves(f, r) || !keep_pair(f, r, &f->target->items[f->target->count - 1]))
        give_up(r);
}

/* A pass done both ways. */
static void compared_pass(flattener *f, replay *r, const expr *leaf, replay_evaluation evaluation)
{
    equation_pair p;
    const bool alone = evaluate_alone(f, r->item, evaluation);
    if (f->failed || graph_failed(f->g)) return;
    rebuild(f, r, leaf, &p);
    const equation_pair *q = alone ? &f->target->items[f->target->count - 1] : NULL;
    if (!q || q->left != p.left || q->right != p.right || q->type != p.type ||
        q->assigned != p.assigned)
        give_up(r);
    else if (++r->compared == COMPARED)
        r->state = REPLAY_READY;
}

bool replay_equation(flattener *f, const ast_item *item, replay_evaluation evaluation)
{
    expr leaf[MOST_LEAVES];
    const flatten_scope *s = &f->scope;
    if (!f->pass || s->actions || s->in_when || s->in_function || s->guard != EXPR_NONE ||
        s->branch || f->overlays || f->failed)
        return false;
    replay *r = find_replay(f, item);
    if (!r || r->state == REPLAY_NEVER) return false;
    if (r->state == REPLAY_NEW) {
        first_pass(f, r, evaluation);
        return true;
    }
    if (r->state == REPLAY_FORMULA) return formula_pass(f, r, evaluation);
    if (!counters_known(f, r) || !map_leaves(f, r, leaf)) {
        if (++r->differ == MOST_DIFFER && r->compared < COMPARED) give_up(r);
        return false;
    }
    if (r->state == REPLAY_COMPARED) {
        compared_pass(f, r, leaf, evaluation);
        return true;
    }
    equation_pair p;
    rebuild(f, r, leaf, &p);
    push_pair(f, f->target, p);
    return true;
}
