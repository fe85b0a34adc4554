/* Outputs that stay unknowns: differences.
 *
 * What is evaluated after the solve is as good as what it is made of. For a difference that is not
 * good enough: the current (u - v)/R behind a stiff filter is a thousandth of u and v, and their
 * errors, which meet their tolerances, are as large as it is. Such a variable stays an unknown,
 * with an error of its own that the method controls. */
#include <math.h>

#include "base/memory.h"
#include "expr/walk.h"
#include "model/model_build.h"

/* What an expression is, as a function of the unknowns */
typedef enum shape {
    SHAPE_GIVEN, /* of parameters and what is held between events */
    SHAPE_CLOCK, /* of time, too, as fast as some equation of the system at most */
    SHAPE_LINEAR,
    SHAPE_POLYNOMIAL,
    SHAPE_OTHER /* may have no value, or infinite slopes */
} shape;

enum { SOURCE_NONE = -1, SOURCE_TIME = -2, SOURCE_MANY = -3 };

typedef struct term {
    shape shape;
    int source;      /* the one unknown it depends on, or SOURCE_ */
    bool difference; /* contains one: linear, of more than one source */
    bool cancels;    /* contains one with numbers, too: it may come close to zero */
    bool pole;       /* is divided by such a one */
} term;

struct difference_search {
    const model_form *f;
    term *output;    /* per root: of those that leave */
    int *sharing;    /* per node: equations that contain it */
    size_t counted;  /* nodes with such a number */
    bool *stays;     /* per root: a difference, or what one is made of */
    walk nodes;      /* of the value at hand, and */
    term *term;      /* their terms; */
    size_t capacity; /* so many fit */
};

/* Count the equations that contain each node. */
static bool count_sharing(difference_search *s)
{
    const flat_model *m = s->f->flat;
    s->counted = graph_size(m->graph);
    s->sharing = DAE_ARRAY(int, s->counted);
    for (size_t i = 0; i < m->equation_count && s->sharing; i++) {
        if (!walk_from(&s->nodes, m->graph, &m->equations[i].residual, 1)) return false;
        for (size_t k = 0; k < s->nodes.count; k++) s->sharing[s->nodes.order[k]]++;
    }
    return s->sharing;
}

static int joined(int a, int b)
{
    return a == SOURCE_NONE ? b : b == SOURCE_NONE || a == b ? a : SOURCE_MANY;
}

static term sum_of(term a, term b)
{
    shape most = a.shape > b.shape ? a.shape : b.shape;
    int source = joined(a.source, b.source);
    bool linear = most == SHAPE_LINEAR && source == SOURCE_MANY;
    return (term){most, source, linear || a.difference || b.difference, a.cancels || b.cancels,
                  a.pole || b.pole};
}

static term product_of(term a, term b)
{
    term sum = sum_of(a, b);
    shape least = a.shape < b.shape ? a.shape : b.shape;
    if (sum.shape == SHAPE_LINEAR && least != SHAPE_GIVEN) sum.shape = SHAPE_POLYNOMIAL;
    sum.difference = a.difference || b.difference;
    return sum;
}

static term power_of(const graph *g, term base, expr exponent)
{
    double p;
    bool whole = graph_is_constant(g, exponent, &p) && p >= 1.0 && p == floor(p);
    if (!whole) return (term){SHAPE_OTHER, base.source, false, base.cancels, base.pole};
    if (base.shape == SHAPE_LINEAR) base.shape = SHAPE_POLYNOMIAL;
    return base;
}

/* Outputs are looked through. A definition is part of the system: it counts like an unknown, but
 * may come close to zero where what it stands for does. */
static term variable_term(const difference_search *s, const expr_node *leaf)
{
    int order, root = build_root_of_leaf(s->f, leaf, &order);
    const model_alias *a = &s->f->alias[root];
    if (a->evaluated && !a->used && !s->stays[root]) return s->output[root];
    bool given = a->value != EXPR_NONE && !a->evaluated;
    if (given) return (term){.shape = SHAPE_GIVEN, .source = SOURCE_NONE};
    return (term){
        .shape = SHAPE_LINEAR, .source = root, .cancels = a->used && s->output[root].cancels};
}

/* A function of time that no other equation has may be faster than all of them. */
static term function_term(const difference_search *s, expr e, term whole)
{
    bool fast = whole.shape == SHAPE_CLOCK && (e >= s->counted || s->sharing[e] < 2);
    if (fast || whole.shape > SHAPE_CLOCK) whole.shape = SHAPE_OTHER;
    return whole;
}

/* Whether a node is a sum with a negative term, u - v, x - 1, which cancels somewhere. A sum of
 * positive ones, as the denominator of s/(K + s), does not. */
static bool is_cancelling(const graph *g, const expr_node *node)
{
    const expr part[2] = {node->a, node->b};
    if (node->op == EXPR_SUB) return true;
    for (int i = 0; i < 2 && node->op == EXPR_ADD; i++) {
        double number;
        bool constant = graph_is_constant(g, part[i], &number);
        if (constant ? number < 0.0 : graph_node(g, part[i])->op == EXPR_NEG) return true;
    }
    return false;
}

/* What a node divides by, or takes the logarithm of; NULL: nothing that may be zero */
static const term *divisor_of(const graph *g, const expr_node *node, const term *of)
{
    double p;
    switch ((expr_op)node->op) {
    case EXPR_DIV: return &of[1];
    case EXPR_LOG:
    case EXPR_LOG10: return &of[0];
    case EXPR_POW: return graph_is_constant(g, node->b, &p) && p >= 0.0 ? NULL : &of[0];
    default: return NULL;
    }
}

/* The term of a node, by those of its operands, but for what cancels. */
static term shape_of(const difference_search *s, expr e, const term *of)
{
    const graph *g = s->f->flat->graph;
    const expr_node *node = graph_node(g, e);
    term whole = {.shape = SHAPE_GIVEN, .source = SOURCE_NONE};
    for (int i = 0; i < graph_arity((expr_op)node->op); i++) whole = product_of(whole, of[i]);
    switch ((expr_op)node->op) {
    case EXPR_CONSTANT:
    case EXPR_PARAMETER:
    case EXPR_MEMORY: return whole;
    case EXPR_TIME: return (term){.shape = SHAPE_CLOCK, .source = SOURCE_TIME};
    case EXPR_VARIABLE: return variable_term(s, node);
    case EXPR_NEG: return of[0];
    case EXPR_ADD:
    case EXPR_SUB: return sum_of(of[0], of[1]);
    case EXPR_MUL: return product_of(of[0], of[1]);
    case EXPR_DIV: return of[1].shape == SHAPE_GIVEN ? of[0] : function_term(s, e, whole);
    case EXPR_POW: return whole.shape == SHAPE_GIVEN ? whole : power_of(g, of[0], node->b);
    case EXPR_SELECT:
        if (of[0].shape != SHAPE_GIVEN) break;
        whole = sum_of(of[1], of[2]);
        whole.difference = of[1].difference || of[2].difference;
        return whole;
    default: break;
    }
    if (node->op >= EXPR_OP_COUNT) whole.shape = SHAPE_OTHER; /* loops */
    return function_term(s, e, whole);
}

static term term_of(const difference_search *s, expr e, const term *of)
{
    const graph *g = s->f->flat->graph;
    const expr_node *node = graph_node(g, e);
    const int arity = graph_arity((expr_op)node->op);
    term t = shape_of(s, e, of);
    const term *divisor = divisor_of(g, node, of);
    for (int i = 0; i < arity; i++) {
        t.cancels |= of[i].cancels && node->op != EXPR_EXP;
        t.pole |= of[i].pole;
    }
    if (t.shape > SHAPE_CLOCK && is_cancelling(g, node)) t.cancels = true;
    if (divisor && divisor->cancels) t.pole = true;
    return t;
}

/* The term of a value; false: memory. */
static bool find_term(difference_search *s, expr value, term *found)
{
    const graph *g = s->f->flat->graph;
    if (!walk_from(&s->nodes, g, &value, 1)) return false;
    if (s->nodes.count > s->capacity) {
        dae_free(s->term);
        s->capacity = 2 * s->nodes.count;
        s->term = DAE_ARRAY(term, s->capacity);
        if (!s->term) return false;
    }
    for (size_t k = 0; k < s->nodes.count; k++) {
        const expr_node *node = graph_node(g, s->nodes.order[k]);
        const expr operand[3] = {node->a, node->b, node->c};
        term of[3] = {{0}};
        for (int i = 0; i < graph_arity((expr_op)node->op); i++)
            of[i] = s->term[walk_place(&s->nodes, operand[i])];
        *found = s->term[k] = term_of(s, s->nodes.order[k], of);
    }
    return true;
}

static void note_part(void *context, const expr_node *leaf)
{
    difference_search *s = context;
    int order, root = build_root_of_leaf(s->f, leaf, &order);
    if (root >= 0 && s->f->alias[root].evaluated) s->stays[root] = true;
}

/* Polynomials with a difference in them, which may be small beside its terms, and the outputs that
 * those are made of; outputs stand in the order in which they are evaluated. */
static bool mark_differences(difference_search *s)
{
    const model_form *f = s->f;
    for (int k = 0; k < f->evaluated_count; k++) {
        int root = f->evaluated[k];
        difference_kind kind;
        if (!difference_search_look(s, root, f->alias[root].value, &kind)) return false;
        s->stays[root] = kind == DIFFERENCE_PLAIN;
    }
    for (int k = f->evaluated_count - 1; k >= 0; k--) {
        const model_alias *a = &f->alias[f->evaluated[k]];
        if (s->stays[f->evaluated[k]] && !graph_leaves(f->flat->graph, &a->value, 1, note_part, s))
            return false;
    }
    return true;
}

/* What was marked is an unknown again. */
static void put_back(build *b, const bool *stays)
{
    model_form *f = b->f;
    int count = 0;
    for (int k = 0; k < f->evaluated_count; k++) {
        int root = f->evaluated[k];
        model_alias *a = &f->alias[root];
        if (!stays[root]) {
            f->evaluated[count++] = root;
            continue;
        }
        b->gone[a->equation] = false;
        a->value = EXPR_NONE;
        a->equation = -1;
        a->evaluated = false;
    }
    f->evaluated_count = count;
}

difference_search *difference_search_new(const model_form *f)
{
    size_t nv = f->flat->variable_count;
    difference_search *s = DAE_NEW(difference_search);
    if (!s) return NULL;
    s->f = f;
    s->output = DAE_ARRAY(term, nv);
    s->stays = DAE_ARRAY(bool, nv);
    if (s->output && s->stays && count_sharing(s)) return s;
    difference_search_free(s);
    return NULL;
}

void difference_search_free(difference_search *s)
{
    if (!s) return;
    walk_free(&s->nodes);
    dae_free_all(s->output, s->sharing, s->stays, s->term, s);
}

bool difference_search_look(difference_search *s, int root, expr value, difference_kind *kind)
{
    term *t = &s->output[root];
    if (!find_term(s, value, t)) return false;
    *kind = !t->difference            ? DIFFERENCE_NONE
            : t->shape == SHAPE_OTHER ? DIFFERENCE_INSIDE
                                      : DIFFERENCE_PLAIN;
    return true;
}

bool difference_search_pole(const difference_search *s, int root)
{
    return s->output[root].pole;
}

bool build_keep_differences(build *b)
{
    if (b->f->evaluated_count == 0) return true;
    difference_search *s = difference_search_new(b->f);
    bool done = s && mark_differences(s);
    if (done) put_back(b, s->stays);
    difference_search_free(s);
    return done;
}
