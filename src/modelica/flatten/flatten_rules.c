/* Rules for equations that are correct as they are written, but leave something open: streams at
 * rest (semiLinear), and derivatives that no equation has, but something else reads. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "modelica/flatten/flatten_links.h"

/* ---- semiLinear [MLS "semiLinear"] ---- */

/* y = sign semiLinear(x, from, to) over variables x, y that stand for all linked to them. Equations
 * that agree in x, y and sign are a chain where the `to` of one is the `from` of the next. */
typedef struct stream {
    size_t pair;
    int x, y, sign;
    expr from, to;
    int from_root, to_root; /* variable that stands for it, or -1 */
    int next;               /* stream that begins where this one ends; -1: none */
    bool follows;           /* another one ends where this one begins */
} stream;

static int plain_root(const flattener *f, const link_table *t, expr e)
{
    int own, sign, v = links_variable(f, e, &own);
    int root = v < 0 ? -1 : links_root(t, v, &sign);
    return root >= 0 && own * sign == 1 ? root : -1;
}

static const semilinear_call *find_call(const flattener *f, expr e)
{
    for (size_t i = 0; graph_node(f->g, e)->op == EXPR_SELECT && i < f->semilinear_count; i++)
        if (f->semilinears[i].value == e) return &f->semilinears[i];
    return NULL;
}

/* Equation k as a stream; false: it is none. */
static bool read_stream(const flattener *f, const link_table *t, size_t k, stream *out)
{
    const equation_pair *p = &f->equations.items[k];
    int side, y_sign = 1, x_sign, sign, y = -1;
    const semilinear_call *c = NULL;
    for (side = 0; side < 2 && !c && p->residual == EXPR_NONE; side++) {
        y = links_variable(f, side ? p->right : p->left, &y_sign);
        if (y >= 0) c = find_call(f, side ? p->left : p->right);
    }
    int x = c ? links_variable(f, c->x, &x_sign) : -1;
    if (x < 0) return false;
    *out = (stream){.pair = k, .next = -1};
    out->x = links_root(t, x, &sign);
    bool back = sign * x_sign < 0; /* semiLinear(-x, a, b) = -semiLinear(x, b, a) */
    out->y = links_root(t, y, &sign);
    out->sign = sign * y_sign * (back ? -1 : 1);
    out->from = back ? c->falling : c->rising;
    out->to = back ? c->rising : c->falling;
    out->from_root = plain_root(f, t, out->from);
    out->to_root = plain_root(f, t, out->to);
    return true;
}

static int compare_streams(const void *a, const void *b)
{
    const stream *s = a, *t = b;
    if (s->x != t->x) return s->x < t->x ? -1 : 1;
    if (s->y != t->y) return s->y < t->y ? -1 : 1;
    if (s->sign != t->sign) return s->sign < t->sign ? -1 : 1;
    return (s->pair > t->pair) - (s->pair < t->pair);
}

/* Who follows whom among streams first .. end, which belong together. A variable where two begin or
 * two end is no inner one of a chain. */
static void link_streams(stream *s, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++) {
        size_t begin = 0, stop = 0, found = 0;
        for (size_t j = first; j < end && s[i].to_root >= 0; j++) {
            if (s[j].from_root == s[i].to_root) begin++, found = j;
            if (s[j].to_root == s[i].to_root) stop++;
        }
        if (begin != 1 || stop != 1 || found == i) continue;
        s[i].next = (int)found;
        s[found].follows = true;
    }
}

/* The chain that begins with s[k]: y = semiLinear(x, first, last), and what is between them is the
 * first where x >= 0, else the last. */
static void join_chain(flattener *f, stream *s, size_t k)
{
    size_t last = k;
    while (s[last].next >= 0) last = (size_t)s[last].next;
    equation_pair *p = f->equations.items;
    graph *g = f->g;
    expr x = graph_variable(g, s[k].x, 0), y = graph_variable(g, s[k].y, 0);
    expr forward = relation_value(f, OP_GE, x, constant(f, 0.0), p[s[k].pair].place);
    expr of = graph_select(g, forward, s[k].from, s[last].to);
    expr product = graph_binary(g, EXPR_MUL, x, of);
    p[s[k].pair].left = y;
    p[s[k].pair].right = s[k].sign < 0 ? graph_unary(g, EXPR_NEG, product) : product;
    for (size_t i = k; s[i].next >= 0; i = (size_t)s[i].next) {
        equation_pair *q = &p[s[s[i].next].pair];
        q->left = s[i].to;
        q->right = of;
    }
}

/* All streams of the model; *count of them. */
static stream *find_streams(flattener *f, const link_table *t, size_t *count)
{
    stream *s = dae_calloc(f->equations.count + 1, sizeof *s);
    *count = 0;
    if (!s) f->failed = true;
    for (size_t k = 0; s && k < f->equations.count; k++)
        if (read_stream(f, t, k, &s[*count])) ++*count;
    if (s) qsort(s, *count, sizeof *s, compare_streams);
    return s;
}

static void join_streams(flattener *f, const link_table *t)
{
    size_t count, end;
    stream *s = find_streams(f, t, &count);
    for (size_t first = 0; s && first < count; first = end) {
        for (end = first + 1; end < count && s[end].x == s[first].x && s[end].y == s[first].y &&
                              s[end].sign == s[first].sign;)
            end++;
        if (t->zero[s[first].x] && t->zero[s[first].y] && end == first + 1) {
            f->equations.items[s[first].pair].left = s[first].from; /* nothing flows: no step */
            f->equations.items[s[first].pair].right = s[first].to;
            continue;
        }
        link_streams(s, first, end);
        for (size_t k = first; k < end; k++)
            if (!s[k].follows && s[k].next >= 0) join_chain(f, s, k);
    }
    dae_free(s);
}

/* ---- derivatives that no equation has ---- */

/* The highest derivative of each variable that the equations have, and that something else reads:
 * initial equations, relations, when-clauses, asserts, delays. */
typedef struct slope_marks {
    const link_table *links;
    uint8_t *has;        /* per variable that stands for others: order */
    uint8_t *asked;      /* per variable: order; 0: not asked for */
    source_place *where; /* per variable: who asks for it */
    source_place place;  /* of what is at hand */
} slope_marks;

static void mark_slope(flattener *f, void *context, const expr_node *n)
{
    slope_marks *m = context;
    int sign;
    (void)f;
    if (n->op != EXPR_VARIABLE) return;
    uint8_t *has = &m->has[links_root(m->links, n->index, &sign)];
    if (n->order > *has) *has = (uint8_t)n->order;
}

static void ask_slope(flattener *f, void *context, const expr_node *n)
{
    slope_marks *m = context;
    (void)f;
    if (n->op != EXPR_VARIABLE || n->order <= m->asked[n->index]) return;
    m->asked[n->index] = (uint8_t)n->order;
    m->where[n->index] = m->place;
}

/* A variable of its own for a derivative of v, so that an equation of the model determines it. */
static void add_slope(flattener *f, int of, int order, source_place place)
{
    const char *name = f->m->variables[of].name;
    for (int k = 0; name && k < order; k++) name = flatten_text(f, "der(%s)", name);
    char *text = name ? flatten_text(f, "$%s", name) : NULL;
    text = model_text(f, text);
    flat_variable *v = text ? new_variable(f) : NULL;
    if (!v) return;
    v->name = text;
    v->protected_ = true;
    v->place = place;
    push_pair(f, &f->equations,
              (equation_pair){.left = graph_variable(f->g, (int)f->m->variable_count - 1, 0),
                              .right = graph_variable(f->g, of, order),
                              .type = VALUE_REAL,
                              .place = place});
}

static void visit_pairs(flattener *f, const pair_list *list, leaf_visit visit, slope_marks *m)
{
    visit_begin(f);
    for (size_t k = 0; k < list->count; k++) {
        const equation_pair *p = &list->items[k];
        m->place = p->place;
        if (p->residual != EXPR_NONE) visit_leaves(f, p->residual, visit, m);
        if (p->left != EXPR_NONE) visit_leaves(f, p->left, visit, m);
        if (p->right != EXPR_NONE) visit_leaves(f, p->right, visit, m);
    }
}

static void ask_value(flattener *f, expr e, source_place place, slope_marks *m)
{
    m->place = place;
    if (e != EXPR_NONE) visit_leaves(f, e, ask_slope, m);
}

static void ask_actions(flattener *f, const flat_action *a, size_t count, slope_marks *m)
{
    for (size_t k = 0; k < count; k++) {
        ask_value(f, a[k].value, a[k].place, m);
        ask_value(f, a[k].guard, a[k].place, m);
        for (size_t h = 0; h < a[k].hole_count; h++)
            ask_value(f, a[k].holes[h].value, a[k].place, m);
    }
}

/* What reads values and defines none between events: an unknown whose derivative stands only there
 * would have whatever slope the method's polynomial has, and none at the start. */
static void ask_at_events(flattener *f, slope_marks *m)
{
    const flat_model *model = f->m;
    visit_begin(f);
    for (size_t k = 0; k < model->relation_count; k++)
        ask_value(f, model->relations[k].crossing, model->relations[k].place, m);
    for (size_t w = 0; w < model->when_count; w++)
        for (size_t b = 0; b < model->whens[w].branch_count; b++) {
            const flat_branch *branch = &model->whens[w].branches[b];
            ask_value(f, branch->condition, branch->place, m);
            ask_actions(f, branch->actions, branch->action_count, m);
        }
    for (size_t k = 0; k < model->delay_count; k++)
        ask_value(f, model->delays[k].value, model->delays[k].place, m);
    ask_actions(f, f->asserts.items, f->asserts.count, m);
}

static void determine_slopes(flattener *f, const link_table *t)
{
    const size_t n = f->m->variable_count;
    slope_marks m = {.links = t,
                     .has = dae_calloc(n + 1, sizeof *m.has),
                     .asked = dae_calloc(n + 1, sizeof *m.asked),
                     .where = dae_calloc(n + 1, sizeof *m.where)};
    bool ok = m.has && m.asked && m.where;
    if (!ok) f->failed = true;
    if (ok) visit_pairs(f, &f->equations, mark_slope, &m);
    if (ok) visit_pairs(f, &f->initial_equations, ask_slope, &m);
    if (ok) visit_pairs(f, &f->terminal_equations, ask_slope, &m);
    if (ok) ask_at_events(f, &m);
    for (size_t v = 0; ok && v < n && !f->failed; v++) {
        int sign, root = links_root(t, (int)v, &sign);
        if (m.asked[v] <= m.has[root]) continue;
        m.has[root] = m.asked[v];
        add_slope(f, (int)v, m.asked[v], m.where[v]);
    }
    dae_free_all(m.has, m.asked, m.where);
}

void apply_rules(flattener *f)
{
    link_table t;
    const flat_model *m = f->m;
    const bool readers = f->initial_equations.count || f->terminal_equations.count ||
                         m->relation_count || m->when_count || m->delay_count || f->asserts.count;
    if ((!f->semilinear_count && !readers) || !links_find(f, &t)) return;
    if (f->semilinear_count > 1) join_streams(f, &t);
    if (readers) determine_slopes(f, &t);
    links_free(&t);
}
