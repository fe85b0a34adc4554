/* Variables that plain equations make equal, opposite or zero: union and find with signs. */
#include "modelica/flatten/flatten_links.h"

#include "base/memory.h"

enum { MOST_TERMS = 4 };

/* sum_k sign_k v_k = 0 */
typedef struct link_sum {
    int variable[MOST_TERMS];
    int sign[MOST_TERMS];
    int count;
} link_sum;

int links_root(const link_table *t, int v, int *sign)
{
    *sign = 1;
    while (t->parent[v] != v) {
        *sign *= t->sign[v];
        v = t->parent[v];
    }
    return v;
}

int links_variable(const flattener *f, expr e, int *sign)
{
    const expr_node *n = e == EXPR_NONE ? NULL : graph_node(f->g, e);
    *sign = 1;
    for (; n && n->op == EXPR_NEG; n = graph_node(f->g, n->a)) *sign = -*sign;
    return n && n->op == EXPR_VARIABLE && n->order == 0 ? n->index : -1;
}

/* Add sign times e to the sum; false: it has other terms than variables. */
static bool add_terms(const flattener *f, expr e, int sign, link_sum *s, int depth)
{
    const expr_node *n = e == EXPR_NONE ? NULL : graph_node(f->g, e);
    if (!n || depth > MOST_TERMS) return false;
    if (n->op == EXPR_CONSTANT) return n->value == 0.0;
    if (n->op == EXPR_NEG) return add_terms(f, n->a, -sign, s, depth + 1);
    if (n->op == EXPR_ADD || n->op == EXPR_SUB)
        return add_terms(f, n->a, sign, s, depth + 1) &&
               add_terms(f, n->b, n->op == EXPR_SUB ? -sign : sign, s, depth + 1);
    if (n->op != EXPR_VARIABLE || n->order > 0 || s->count == MOST_TERMS) return false;
    s->variable[s->count] = n->index;
    s->sign[s->count++] = sign;
    return true;
}

/* Over the variables that stand for others, without zeros and with equal ones joined; a sum that
 * has 2 v in it is left alone, count = MOST_TERMS. */
static link_sum reduced(const link_table *t, const link_sum *s)
{
    link_sum out = {.count = 0};
    for (int k = 0; k < s->count; k++) {
        int sign, root = links_root(t, s->variable[k], &sign), at = 0;
        if (t->zero[root]) continue;
        while (at < out.count && out.variable[at] != root) at++;
        out.variable[at] = root;
        if (at == out.count) {
            out.sign[out.count++] = sign * s->sign[k];
        } else if (out.sign[at] == sign * s->sign[k]) {
            return (link_sum){.count = MOST_TERMS};
        } else {
            out.variable[at] = out.variable[--out.count];
            out.sign[at] = out.sign[out.count];
        }
    }
    return out;
}

/* What the sum says, if it says it of one or two variables. */
static bool use_sum(link_table *t, const link_sum *s, bool zeros)
{
    link_sum r = reduced(t, s);
    if (r.count == 1 && !zeros) return false;
    if (r.count == 1) t->zero[r.variable[0]] = true;
    if (r.count == 2) {
        int small = t->size[r.variable[0]] < t->size[r.variable[1]] ? 0 : 1;
        int low = r.variable[small], high = r.variable[1 - small];
        t->parent[low] = high;
        t->size[high] += t->size[low];
        t->sign[low] = (signed char)(-r.sign[0] * r.sign[1]);
    }
    return r.count == 1 || r.count == 2;
}

static bool is_sum(const flattener *f, const equation_pair *p, link_sum *s)
{
    s->count = 0;
    return p->type == VALUE_REAL && p->residual == EXPR_NONE && add_terms(f, p->left, 1, s, 0) &&
           add_terms(f, p->right, -1, s, 0);
}

enum { MOST_ROUNDS = 20 }; /* a zero or a link may shorten sums that came before */

/* Links come before zeros, so that variables that are opposite and zero are linked, too. */
static void use_sums(link_table *t, const link_sum *sums, size_t count)
{
    bool more = true;
    for (int round = 0; (round < 2 || more) && round < MOST_ROUNDS; round++) {
        more = false;
        for (size_t k = 0; k < count; k++) more = use_sum(t, &sums[k], round > 0) || more;
    }
}

void links_free(link_table *t)
{
    dae_free_all(t->parent, t->sign, t->zero, t->size);
    *t = (link_table){0};
}

bool links_find(flattener *f, link_table *t)
{
    size_t n = f->m->variable_count, count = 0;
    link_sum *sums = dae_calloc(f->equations.count + 1, sizeof *sums);
    *t = (link_table){dae_calloc(n + 1, sizeof *t->parent), dae_calloc(n + 1, sizeof *t->sign),
                      dae_calloc(n + 1, sizeof *t->zero), dae_calloc(n + 1, sizeof *t->size)};
    bool ok = sums && t->parent && t->sign && t->zero && t->size;
    for (size_t v = 0; ok && v < n; v++) t->parent[v] = (int)v, t->size[v] = 1;
    for (size_t k = 0; ok && k < f->equations.count; k++)
        if (is_sum(f, &f->equations.items[k], &sums[count])) count++;
    if (ok) use_sums(t, sums, count);
    dae_free(sums);
    if (ok) return true;
    links_free(t);
    f->failed = true;
    return false;
}
