/* Formulas: arithmetic over counters of loops, elements of arrays, parameters and numbers. Names,
 * types and units of such a text are the same in every pass of a loop, so that they are looked up
 * once. What is left for a pass are subscripts and conditions, which are whole numbers and truths
 * of counters, and operations of the graph: the same ones, in the same order, as by the text.
 * Where a pass may differ in more than that, `formula_run` says so, and the text is evaluated:
 * folded constants that count as pure numbers in the check of units, results that are no numbers,
 * subscripts outside of their arrays, Integers beyond 2^53. docs/loops.md */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "modelica/flatten/flatten_internal.h"

enum {
    MOST_NODES = 400,  /* of a formula */
    MOST_COUNTERS = 4, /* loops around, */
    MOST_RANK = 4,     /* and dimensions */
    MOST_CHOICES = 60, /* conditions that a pass meets: bits of its way */
    MOST_WAYS = 64     /* that are told apart */
};

static const double largest_whole = 9007199254740992.0; /* 2^53 */

typedef enum formula_kind {
    /* whole numbers and truths, found without the graph */
    WHOLE_NUMBER,
    WHOLE_COUNTER,
    WHOLE_UNARY,  /* op: an ast_op */
    WHOLE_BINARY, /* op: an ast_op */
    WHOLE_MOD,
    WHOLE_DIV,
    WHOLE_REM,
    WHOLE_IF,
    /* nodes of the graph */
    FORMULA_WHOLE,   /* the constant of a whole number, */
    FORMULA_TRUTH,   /* or of a truth */
    FORMULA_NUMBER,  /* made with its first use */
    FORMULA_TIME,    /* the independent variable */
    FORMULA_STAYS,   /* a scalar with a name */
    FORMULA_ELEMENT, /* of an array, by whole numbers */
    FORMULA_UNARY,   /* op: an expr_op */
    FORMULA_BINARY,  /* op: an expr_op */
    FORMULA_DER,
    FORMULA_IF /* by a truth */
} formula_kind;

typedef struct formula_node {
    uint8_t kind, op;
    bool moves;       /* something below is another node, or another number, in another pass */
    bool whole;       /* it may be an Integer, */
    bool named;       /* and has a name in it that stands for one */
    bool chooses;     /* between branches, somewhere below */
    uint8_t counters; /* a bit for each one below */
    uint16_t arg[MOST_RANK];
    expr known;    /* of what stays; else that of an earlier pass, */
    uint64_t made; /* which had this number */
    union {
        double number;
        size_t counter;
        const symbol *symbol;
    };
} formula_node;

struct formula {
    uint16_t root[FORMULA_MOST_ROOTS];
    size_t root_count;
    struct {
        size_t place; /* among the locals */
        const char *name;
    } counter[MOST_COUNTERS];
    size_t counter_count;
    double at[MOST_COUNTERS];            /* counters of the last pass, */
    uint64_t pass, since[MOST_COUNTERS]; /* its number, and those where counters changed last */
    size_t local_base;
    formula_way way[MOST_WAYS];
    size_t way_count;
    size_t count;
    formula_node node[];
};

/* ---- reading the text ------------------------------------------------------------------------ */

typedef struct reader {
    flattener *f;
    formula *to;
    bool plain; /* all of the text so far is a formula */
    int depth;  /* of the text at hand */
} reader;

enum { MOST_DEPTH = 200 };

/* How many arguments a node has. */
static int arity_of(const formula_node *n)
{
    static const uint8_t arity[] = {
        [WHOLE_UNARY] = 1,   [WHOLE_BINARY] = 2,   [WHOLE_MOD] = 2,     [WHOLE_DIV] = 2,
        [WHOLE_REM] = 2,     [WHOLE_IF] = 3,       [FORMULA_WHOLE] = 1, [FORMULA_TRUTH] = 1,
        [FORMULA_UNARY] = 1, [FORMULA_BINARY] = 2, [FORMULA_DER] = 1,   [FORMULA_IF] = 3};
    return n->kind == FORMULA_ELEMENT ? n->symbol->value.rank : arity[n->kind];
}

static uint16_t put(reader *r, formula_node n)
{
    formula *to = r->to;
    if (to->count == MOST_NODES) r->plain = false;
    if (!r->plain) return 0;
    n.counters = (uint8_t)(n.kind == WHOLE_COUNTER ? 1u << n.counter : 0u);
    n.chooses = n.kind == WHOLE_IF || n.kind == FORMULA_IF;
    for (int k = 0; k < arity_of(&n); k++) {
        n.counters = (uint8_t)(n.counters | to->node[n.arg[k]].counters);
        n.chooses = n.chooses || to->node[n.arg[k]].chooses;
    }
    to->node[to->count] = n;
    return (uint16_t)to->count++;
}

static uint16_t not_plain(reader *r)
{
    r->plain = false;
    return 0;
}

/* Which counter a name is; SIZE_MAX: none. */
static size_t counter_of(reader *r, const ast_expr *e)
{
    formula *to = r->to;
    if (e->kind != AST_REFERENCE || e->part_count != 1 || e->parts[0].subscript_count)
        return SIZE_MAX;
    const local *l = find_local(r->f, e->parts[0].name);
    if (!l || l->assignable || l->value.type != VALUE_INTEGER || l->value.rank || l->value.e)
        return SIZE_MAX;
    const size_t place = (size_t)(l - r->f->locals);
    for (size_t k = 0; k < to->counter_count; k++)
        if (to->counter[k].place == place) return k;
    if (to->counter_count == MOST_COUNTERS) return SIZE_MAX;
    to->counter[to->counter_count].place = place;
    to->counter[to->counter_count].name = l->name;
    return to->counter_count++;
}

/* The component that a reference without dots names, which has its value; NULL: none. */
static const symbol *symbol_of(reader *r, const ast_expr *e)
{
    if (e->part_count != 1 || !e->parts[0].name || find_local(r->f, e->parts[0].name)) return NULL;
    const symbol *s = find_symbol(r->f, e->parts[0].name);
    if (!s || s->whole || s->state != SYMBOL_DONE || s->absent) return NULL;
    return value_is_numeric(&s->value) && (size_t)s->value.rank == e->parts[0].subscript_count &&
                   s->value.rank <= MOST_RANK
               ? s
               : NULL;
}

static uint16_t read_whole(reader *r, const ast_expr *e, size_t size);
static uint16_t read_value(reader *r, const ast_expr *e);

static uint16_t whole_number(reader *r, double x)
{
    return put(r, (formula_node){.kind = WHOLE_NUMBER, .number = x});
}

/* A counter, or an Integer whose value decides on structure anyway. */
static uint16_t whole_reference(reader *r, const ast_expr *e)
{
    const size_t k = counter_of(r, e);
    if (k != SIZE_MAX) return put(r, (formula_node){.kind = WHOLE_COUNTER, .counter = k});
    const symbol *s = symbol_of(r, e);
    if (!s || s->value.type != VALUE_INTEGER || s->value.rank) return not_plain(r);
    const expr known = value_element(&s->value, 0);
    if (!is_structural(r->f, known)) return not_plain(r);
    return whole_number(r, fixed_value(r->f, known));
}

/* Whether a call is that of a built-in function with so many arguments. */
static bool is_call(reader *r, const ast_expr *e, const char *name, size_t count)
{
    return e->part_count == 1 && e->parts[0].name && strcmp(e->parts[0].name, name) == 0 &&
           e->arg_count == count && !e->named_count && !e->iterator_count &&
           !find_local(r->f, name) && !find_class(r->f, name);
}

static uint16_t whole_call(reader *r, const ast_expr *e, size_t size)
{
    static const char *const names[] = {"mod", "div", "rem"};
    for (size_t k = 0; k < 3; k++)
        if (is_call(r, e, names[k], 2)) {
            formula_node n = {.kind = (uint8_t)(WHOLE_MOD + k)};
            n.arg[0] = read_whole(r, e->args[0], size);
            n.arg[1] = read_whole(r, e->args[1], size);
            return put(r, n);
        }
    return not_plain(r);
}

/* if c1 then v1 elseif c2 then v2 .. else v, from argument k on: a choice between nodes, or between
 * whole numbers. */
static uint16_t read_choice(reader *r, const ast_expr *e, size_t k, size_t size, bool whole)
{
    if (k + 1 >= e->arg_count || !r->plain) {
        if (k >= e->arg_count) return not_plain(r);
        return whole ? read_whole(r, e->args[k], size) : read_value(r, e->args[k]);
    }
    formula_node n = {.kind = whole ? WHOLE_IF : FORMULA_IF};
    n.arg[0] = read_whole(r, e->args[k], size);
    n.arg[1] = whole ? read_whole(r, e->args[k + 1], size) : read_value(r, e->args[k + 1]);
    n.arg[2] = read_choice(r, e, k + 2, size, whole);
    for (int i = 1; i < 3 && r->plain; i++) { /* which branch it is belongs to the way of a pass */
        const formula_node *branch = &r->to->node[n.arg[i]];
        n.moves = n.moves || branch->moves;
        n.whole = n.whole || branch->whole;
        n.named = n.named || branch->named;
    }
    return put(r, n);
}

static bool is_whole_operation(ast_op op)
{
    return op <= OP_MUL || (op >= OP_LT && op <= OP_OR);
}

/* Whole numbers and truths: subscripts, where `size` is the meaning of "end", and conditions. */
static uint16_t read_whole_kind(reader *r, const ast_expr *e, size_t size)
{
    formula_node n = {.kind = WHOLE_BINARY, .op = (uint8_t)e->op};
    switch (e->kind) {
    case AST_NUMBER: return e->integer ? whole_number(r, e->value) : not_plain(r);
    case AST_END: return size > 0 ? whole_number(r, (double)size) : not_plain(r);
    case AST_REFERENCE: return whole_reference(r, e);
    case AST_CALL: return whole_call(r, e, size);
    case AST_IF: return read_choice(r, e, 0, size, true);
    case AST_BINARY:
        if (!is_whole_operation(e->op)) return not_plain(r);
        n.arg[0] = read_whole(r, e->args[0], size);
        n.arg[1] = read_whole(r, e->args[1], size);
        return put(r, n);
    case AST_UNARY:
        n.kind = WHOLE_UNARY;
        if (e->op != OP_MINUS && e->op != OP_PLUS && e->op != OP_NOT) return not_plain(r);
        n.arg[0] = read_whole(r, e->args[0], size);
        return put(r, n);
    default: return not_plain(r);
    }
}

static uint16_t read_whole(reader *r, const ast_expr *e, size_t size)
{
    if (!e || !r->plain || r->depth == MOST_DEPTH) return not_plain(r);
    r->depth++;
    const uint16_t at = read_whole_kind(r, e, size);
    r->depth--;
    return at;
}

/* Whether a text has no other names than counters, and is a whole number or a truth: the graph has
 * a constant for it. Names of parameters would be nodes. */
static bool counts(reader *r, const ast_expr *e, int depth)
{
    if (!e || depth == MOST_DEPTH / 4) return false;
    if (e->kind == AST_NUMBER) return e->integer;
    if (e->kind == AST_REFERENCE) return counter_of(r, e) != SIZE_MAX;
    if (e->kind == AST_CALL && !is_call(r, e, "mod", 2) && !is_call(r, e, "div", 2) &&
        !is_call(r, e, "rem", 2))
        return false;
    if (e->kind == AST_BINARY && !is_whole_operation(e->op)) return false;
    if (e->kind != AST_CALL && e->kind != AST_BINARY && e->kind != AST_UNARY) return false;
    for (size_t k = e->arg_count; k > 0; k--) /* chains are long on the left */
        if (!counts(r, e->args[k - 1], depth + 1)) return false;
    return e->arg_count > 0;
}

static uint16_t whole_value(reader *r, const ast_expr *e)
{
    const bool truth =
        (e->kind == AST_BINARY || e->kind == AST_UNARY) && e->op >= OP_LT && e->op <= OP_NOT;
    formula_node n = {.kind = truth ? FORMULA_TRUTH : FORMULA_WHOLE, .moves = true, .whole = true};
    n.arg[0] = read_whole(r, e, 0);
    return put(r, n);
}

static uint16_t element_value(reader *r, const ast_expr *e, const symbol *s)
{
    const bool integer = s->value.type == VALUE_INTEGER;
    formula_node n = {.kind = FORMULA_ELEMENT, .moves = true, .whole = integer, .named = integer};
    if (!s->value.e) return not_plain(r);
    n.symbol = s;
    for (int k = 0; k < s->value.rank; k++)
        n.arg[k] = read_whole(r, e->parts[0].subscripts[k], s->value.dims[k]);
    return put(r, n);
}

static uint16_t named_value(reader *r, const ast_expr *e)
{
    const symbol *s = symbol_of(r, e);
    if (s && s->value.rank) return element_value(r, e, s);
    if (s) {
        const bool integer = s->value.type == VALUE_INTEGER;
        return put(r, (formula_node){.kind = FORMULA_STAYS,
                                     .whole = integer,
                                     .named = integer,
                                     .known = value_element(&s->value, 0)});
    }
    const bool time = e->part_count == 1 && e->parts[0].name && !r->f->scope.at_start &&
                      strcmp(e->parts[0].name, "time") == 0 && !find_local(r->f, "time") &&
                      !find_symbol(r->f, "time");
    return time ? put(r, (formula_node){.kind = FORMULA_TIME}) : not_plain(r);
}

/* The operation of an elementary function; EXPR_OP_COUNT: none. */
static expr_op elementary_of(reader *r, const ast_expr *e)
{
    for (expr_op op = EXPR_SQRT; op <= EXPR_TANH; op++)
        if (is_call(r, e, graph_op_name(op), 1)) return op;
    return EXPR_OP_COUNT;
}

static uint16_t call_value(reader *r, const ast_expr *e)
{
    const expr_op op = elementary_of(r, e);
    formula_node n = {.kind = FORMULA_UNARY, .op = (uint8_t)op};
    const bool der = is_call(r, e, "der", 1);
    if (!der && op == EXPR_OP_COUNT) return not_plain(r);
    if (der) n.kind = FORMULA_DER;
    n.arg[0] = read_value(r, e->args[0]);
    n.moves = r->plain && r->to->node[n.arg[0]].moves;
    return put(r, n);
}

/* Sums, products, quotients and powers. Units of a power depend on its exponent; Integers with
 * names in them are checked for their size. */
static uint16_t binary_value(reader *r, const ast_expr *e)
{
    static const uint8_t nodes[] = {EXPR_ADD, EXPR_SUB, EXPR_MUL, EXPR_DIV, EXPR_POW,
                                    EXPR_ADD, EXPR_SUB, EXPR_MUL, EXPR_DIV, EXPR_POW};
    if (e->op > OP_EPOW || e->arg_count != 2) return not_plain(r);
    formula_node n = {.kind = FORMULA_BINARY, .op = nodes[e->op]};
    n.arg[0] = read_value(r, e->args[0]);
    n.arg[1] = read_value(r, e->args[1]);
    if (!r->plain) return 0;
    const formula_node *a = &r->to->node[n.arg[0]], *b = &r->to->node[n.arg[1]];
    n.moves = a->moves || b->moves;
    n.whole = a->whole && b->whole && n.op != EXPR_DIV && n.op != EXPR_POW;
    n.named = n.whole && (a->named || b->named);
    if ((n.named && n.moves) || (n.op == EXPR_POW && b->moves)) return not_plain(r);
    return put(r, n);
}

static uint16_t unary_value(reader *r, const ast_expr *e)
{
    if (e->arg_count != 1 || (e->op != OP_MINUS && e->op != OP_PLUS)) return not_plain(r);
    const uint16_t a = read_value(r, e->args[0]);
    if (!r->plain || e->op == OP_PLUS) return a;
    formula_node n = r->to->node[a];
    return put(r, (formula_node){.kind = FORMULA_UNARY,
                                 .op = EXPR_NEG,
                                 .arg = {a},
                                 .moves = n.moves,
                                 .whole = n.whole,
                                 .named = n.named});
}

static uint16_t read_value_kind(reader *r, const ast_expr *e)
{
    if (e->kind == AST_NUMBER)
        return put(r,
                   (formula_node){.kind = FORMULA_NUMBER, .whole = e->integer, .number = e->value});
    if (counts(r, e, 0)) return whole_value(r, e);
    switch (e->kind) {
    case AST_REFERENCE: return named_value(r, e);
    case AST_CALL: return call_value(r, e);
    case AST_BINARY: return binary_value(r, e);
    case AST_UNARY: return unary_value(r, e);
    case AST_IF: return read_choice(r, e, 0, 0, false);
    default: return not_plain(r);
    }
}

static uint16_t read_value(reader *r, const ast_expr *e)
{
    if (!e || !r->plain || r->depth == MOST_DEPTH) return not_plain(r);
    r->depth++;
    const uint16_t at = read_value_kind(r, e);
    r->depth--;
    return at;
}

static size_t size_of(size_t nodes)
{
    return offsetof(formula, node) + nodes * sizeof(formula_node);
}

formula *formula_new(flattener *f, const ast_expr *const *text, size_t count)
{
    formula *to = dae_calloc(1, size_of(MOST_NODES)), *fits = NULL;
    reader r = {f, to, to != NULL, 0};
    if (to) {
        to->local_base = f->scope.local_base;
        to->root_count = count;
        for (size_t k = 0; k < count; k++) to->root[k] = read_value(&r, text[k]);
        r.plain = r.plain && to->counter_count > 0;
    }
    if (r.plain) fits = dae_copy(to, 1, size_of(to->count));
    if (!to || (r.plain && !fits)) f->failed = true;
    dae_free(to);
    return fits;
}

void formula_free(formula *p)
{
    dae_free(p);
}

/* ---- passes ---------------------------------------------------------------------------------- */

typedef struct pass {
    flattener *f;
    formula *p;
    double counter[MOST_COUNTERS];
    uint8_t all;  /* a bit for each of them */
    uint64_t way; /* a bit for each condition, behind a first one */
    int choices;
    bool fits; /* false: the text is to be evaluated */
} pass;

static double whole_at(pass *s, uint16_t k);

/* Whether a condition holds, noted. */
static bool chosen(pass *s, uint16_t condition)
{
    const bool yes = whole_at(s, condition) != 0.0;
    if (++s->choices > MOST_CHOICES) s->fits = false;
    s->way = s->way << 1 | yes;
    return yes;
}

static double whole_operation(ast_op op, double a, double b)
{
    switch (op) {
    case OP_ADD: return a + b;
    case OP_SUB: return a - b;
    case OP_MUL: return a * b;
    case OP_LT: return a < b;
    case OP_LE: return a <= b;
    case OP_GT: return a > b;
    case OP_GE: return a >= b;
    case OP_EQ: return a == b;
    case OP_NE: return a != b;
    case OP_AND: return a != 0.0 && b != 0.0;
    case OP_OR: return a != 0.0 || b != 0.0;
    case OP_NOT: return a == 0.0;
    case OP_MINUS: return -a;
    default: return a;
    }
}

static double quotient_operation(formula_kind kind, double a, double b)
{
    const double q = kind == WHOLE_MOD ? floor(a / b) : trunc(a / b);
    return kind == WHOLE_DIV ? q : a - q * b; /* NAN for b = 0 */
}

static double whole_at(pass *s, uint16_t k)
{
    const formula_node *n = &s->p->node[k];
    double a, b, x;
    switch ((formula_kind)n->kind) {
    case WHOLE_NUMBER: return n->number;
    case WHOLE_COUNTER: return s->counter[n->counter];
    case WHOLE_IF: return whole_at(s, chosen(s, n->arg[0]) ? n->arg[1] : n->arg[2]);
    case WHOLE_UNARY: return whole_operation((ast_op)n->op, whole_at(s, n->arg[0]), 0.0);
    default: break;
    }
    a = whole_at(s, n->arg[0]);
    b = whole_at(s, n->arg[1]);
    x = n->kind == WHOLE_BINARY ? whole_operation((ast_op)n->op, a, b)
                                : quotient_operation((formula_kind)n->kind, a, b);
    if (!(fabs(x) <= largest_whole)) s->fits = false;
    return x;
}

static expr misfit(pass *s)
{
    s->fits = false;
    return EXPR_NONE;
}

static expr element_at(pass *s, const formula_node *n)
{
    const value *v = &n->symbol->value;
    size_t at = 0;
    for (int d = 0; d < v->rank; d++) {
        const double x = whole_at(s, n->arg[d]);
        if (!s->fits || !(x >= 1.0 && x <= (double)v->dims[d])) return misfit(s);
        at = at * v->dims[d] + (size_t)x - 1;
    }
    return v->e[at] != EXPR_NONE ? v->e[at] : misfit(s);
}

/* Constants that count as pure numbers where units are checked, and those that are large. */
static bool is_special(double x)
{
    const double size = fabs(x);
    return size == 0.5 || size == 1.0 || size == 2.0 || !(size <= largest_whole);
}

/* A node that was made for n, of operands that are all constants if `known`. */
static expr made_for(pass *s, const formula_node *n, expr e, bool known)
{
    double x;
    if (e == EXPR_NONE) return misfit(s);
    if (!n->moves) return e;
    if (!graph_is_constant(s->f->g, e, &x)) return known ? misfit(s) : e;
    return is_special(x) ? misfit(s) : e;
}

static expr node_at(pass *s, uint16_t k);

static expr unary_at(pass *s, const formula_node *n)
{
    const expr a = node_at(s, n->arg[0]);
    if (!s->fits) return EXPR_NONE;
    return made_for(s, n, graph_unary(s->f->g, (expr_op)n->op, a),
                    graph_is_constant(s->f->g, a, NULL));
}

static expr binary_at(pass *s, const formula_node *n)
{
    graph *g = s->f->g;
    const expr a = node_at(s, n->arg[0]);
    const expr b = s->fits ? node_at(s, n->arg[1]) : EXPR_NONE;
    if (!s->fits || (n->op == EXPR_DIV && graph_is_number(g, b, 0.0))) return misfit(s);
    const bool known = graph_is_constant(g, a, NULL) && graph_is_constant(g, b, NULL);
    return made_for(s, n, graph_binary(g, (expr_op)n->op, a, b), known);
}

static expr derivative_at(pass *s, const formula_node *n)
{
    const expr a = node_at(s, n->arg[0]);
    if (!s->fits) return EXPR_NONE;
    const expr_node *v = graph_node(s->f->g, a);
    if (v->op != EXPR_VARIABLE || v->order != 0) return misfit(s);
    return graph_variable(s->f->g, v->index, 1);
}

static expr whole_constant(pass *s, const formula_node *n)
{
    const double x = whole_at(s, n->arg[0]);
    if (!s->fits || (n->kind == FORMULA_WHOLE && is_special(x))) return misfit(s);
    return graph_constant(s->f->g, x);
}

static expr node_of(pass *s, formula_node *n)
{
    switch ((formula_kind)n->kind) {
    case FORMULA_WHOLE:
    case FORMULA_TRUTH: return whole_constant(s, n);
    case FORMULA_NUMBER:
        if (n->known == EXPR_NONE) n->known = graph_constant(s->f->g, n->number);
        return n->known != EXPR_NONE ? n->known : misfit(s);
    case FORMULA_TIME: return graph_time(s->f->g);
    case FORMULA_STAYS: return n->known != EXPR_NONE ? n->known : misfit(s);
    case FORMULA_ELEMENT: return element_at(s, n);
    case FORMULA_UNARY: return unary_at(s, n);
    case FORMULA_BINARY: return binary_at(s, n);
    case FORMULA_DER: return derivative_at(s, n);
    case FORMULA_IF: return node_at(s, chosen(s, n->arg[0]) ? n->arg[1] : n->arg[2]);
    default: return misfit(s);
    }
}

/* Whether a node is that of an earlier pass, since which none of its counters has changed. */
static bool is_kept(const pass *s, const formula_node *n)
{
    if (n->made == 0) return false;
    for (int k = 0; n->counters >> k; k++)
        if (n->counters >> k & 1 && s->p->since[k] > n->made) return false;
    return true;
}

/* Operations of outer counters alone are done once for all passes of inner ones, unless the way of
 * a pass is noted in them. */
static expr node_at(pass *s, uint16_t k)
{
    formula_node *n = &s->p->node[k];
    if (n->chooses || !n->counters || n->counters == s->all || n->kind == FORMULA_ELEMENT)
        return node_of(s, n);
    if (is_kept(s, n)) return n->known;
    n->known = node_of(s, n);
    n->made = s->fits ? s->p->pass : 0;
    return n->known;
}

/* The counters of this pass; false: they are no numbers, or not those of the formula. */
static bool read_counters(pass *s)
{
    const flattener *f = s->f;
    formula *p = s->p;
    if (f->scope.local_base != p->local_base) return false;
    p->pass++;
    s->all = (uint8_t)((1u << p->counter_count) - 1);
    for (size_t k = 0; k < p->counter_count; k++) {
        const size_t place = p->counter[k].place;
        if (place >= f->local_count || f->locals[place].name != p->counter[k].name) return false;
        const value *v = &f->locals[place].value;
        if (v->type != VALUE_INTEGER || v->rank || v->e) return false;
        if (!graph_is_constant(f->g, v->scalar, &s->counter[k])) return false;
        if (p->since[k] == 0 || p->at[k] != s->counter[k]) p->since[k] = p->pass;
        p->at[k] = s->counter[k];
    }
    return true;
}

/* What is known of a way; NULL: there are too many. */
static formula_way *way_of(formula *p, uint64_t bits)
{
    for (size_t k = 0; k < p->way_count; k++)
        if (p->way[k].bits == bits) return &p->way[k];
    if (p->way_count == MOST_WAYS) return NULL;
    p->way[p->way_count] = (formula_way){.bits = bits};
    return &p->way[p->way_count++];
}

formula_way *formula_run(flattener *f, formula *p, expr *root)
{
    pass s = {.f = f, .p = p, .way = 1, .fits = true};
    if (!read_counters(&s)) return NULL;
    for (size_t k = 0; k < p->root_count && s.fits; k++) root[k] = node_at(&s, p->root[k]);
    return s.fits && !graph_failed(f->g) ? way_of(p, s.way) : NULL;
}

/* ---- what else an evaluation leaves behind --------------------------------------------------- */

traces traces_of(const flattener *f)
{
    const flat_model *m = f->m;
    return (traces){{f->asserts.count, m->relation_count, m->sample_count, m->delay_count,
                     m->when_count, (size_t)m->memory_count, m->variable_count, m->parameter_count,
                     m->discrete_count, f->semilinear_count, m->homotopies, f->text_count,
                     f->partial_count, f->binding_count, f->unit_report_count, f->dropped,
                     (size_t)message_errors(f->messages), (size_t)message_warnings(f->messages),
                     (size_t)(f->failed || f->stop)}};
}

bool traces_differ(const traces *before, const flattener *f)
{
    const traces after = traces_of(f);
    return memcmp(before, &after, sizeof after) != 0;
}

/* ---- elements of arrays ---------------------------------------------------------------------- */

enum { FIRST_PASSES = 3 }; /* short arrays are evaluated from the text */

struct element_text {
    const ast_expr *text;
    formula *formula; /* owned */
    size_t passes;
    bool never;
};

static element_text *find_element_text(flattener *f, const ast_expr *text)
{
    for (size_t k = f->element_text_count; k > 0; k--)
        if (f->element_texts[k - 1].text == text) return &f->element_texts[k - 1];
    element_text *to = flatten_push(f, &f->element_texts, &f->element_text_count,
                                    &f->element_text_capacity, sizeof *to);
    if (to) to->text = text;
    return to;
}

void element_texts_free(flattener *f)
{
    for (size_t k = 0; k < f->element_text_count; k++) formula_free(f->element_texts[k].formula);
    dae_free(f->element_texts);
    f->element_texts = NULL;
    f->element_text_count = f->element_text_capacity = 0;
}

/* An element by its text, and by its formula if it has one: they agree, or it has none any more. */
static value compared_element(flattener *f, const ast_expr *text, formula *p, bool *agree)
{
    expr root[FORMULA_MOST_ROOTS];
    const traces before = traces_of(f);
    value v = evaluate(f, text);
    *agree = !traces_differ(&before, f);
    if (!*agree || f->failed || graph_failed(f->g)) return v;
    formula_way *way = formula_run(f, p, root);
    if (!way) return v;
    *agree = value_is_simple(&v) && v.rank == 0 && !v.class_ && value_element(&v, 0) == root[0] &&
             (way->compared == 0 || (way->type == v.type && way->unit == v.unit));
    way->compared++;
    way->type = v.type;
    way->unit = v.unit;
    return v;
}

/* The text of an element has been evaluated often enough that a formula pays. */
static bool wants_formula(flattener *f, const ast_expr *text, element_text **of)
{
    const flatten_scope *s = &f->scope;
    if (s->in_function || s->in_when || s->actions || s->guard != EXPR_NONE || s->branch ||
        s->checks || s->shape_only || f->overlays || f->failed)
        return false;
    *of = find_element_text(f, text);
    return *of && !(*of)->never && (*of)->passes++ >= FIRST_PASSES;
}

value formula_element(flattener *f, const ast_expr *text)
{
    expr root[FORMULA_MOST_ROOTS];
    element_text *of = NULL;
    bool agree = true;
    if (!wants_formula(f, text, &of)) return evaluate(f, text);
    formula *p = of->formula;
    if (!p) p = of->formula = formula_new(f, &text, 1);
    of->never = !p;
    if (!p) return evaluate(f, text);
    const formula_way *way = formula_run(f, p, root);
    if (way && way->compared >= FORMULA_COMPARED) {
        value v = value_scalar(way->type, root[0]);
        v.unit = way->unit;
        return v;
    }
    value v = compared_element(f, text, p, &agree); /* may move the list of texts */
    if (!agree) find_element_text(f, text)->never = true;
    return v;
}
