/* Zeros: matrices given as parameter arrays have zeros where other texts have nothing, M_ij q_j''
 * with M_ij = 0, say, and the roles of rows and variables would be read from what is not there. The
 * equations without such terms are recognised as if they had not been written; the form then holds
 * for as long as these parameters are zero (mechanical.zero).
 *
 * The graph keeps 0 e where e may be infinite. Here it is dropped where e is made of sums, products
 * and functions that are finite wherever their arguments are. */
#include "base/memory.h"
#include "expr/intern.h"
#include "expr/walk.h"
#include "structure/mechanical/mechanical_parts.h"

/* ---- which parameters ---- */

typedef struct zero_scan {
    const double *parameters;
    int *index; /* of parameters that are zero */
    size_t room;
    int count;
    bool failed;
} zero_scan;

static bool is_zero(const zero_scan *z, const expr_node *leaf)
{
    return leaf->op == EXPR_PARAMETER && z->parameters && z->parameters[leaf->index] == 0.0;
}

static void note_zero(void *context, const expr_node *leaf)
{
    zero_scan *z = context;
    if (!is_zero(z, leaf) || z->failed) return;
    z->failed = !dae_grow(&z->index, &z->room, (size_t)z->count + 1, sizeof *z->index);
    if (!z->failed) z->index[z->count++] = leaf->index;
}

/* ---- terms without them ---- */

/* Images of the nodes of a walk. */
typedef struct folding {
    graph *g;
    const zero_scan *zeros;
    walk w;
    expr *image; /* owned */
    bool *tame;  /* finite where the leaves are; owned */
} folding;

static bool is_tame(const folding *f, const expr_node *n)
{
    const expr operand[3] = {n->a, n->b, n->c};
    switch (n->op) {
    case EXPR_ADD:
    case EXPR_SUB:
    case EXPR_MUL:
    case EXPR_NEG:
    case EXPR_ABS:
    case EXPR_SIN:
    case EXPR_COS:
    case EXPR_ATAN:
    case EXPR_TANH:
    case EXPR_SELECT: break;
    default: return n->arity == 0;
    }
    for (int k = 0; k < n->arity; k++)
        if (!f->tame[walk_place(&f->w, operand[k])]) return false;
    return true;
}

static expr image_of(const folding *f, expr operand)
{
    return operand == EXPR_NONE ? EXPR_NONE : f->image[walk_place(&f->w, operand)];
}

/* Whether n is 0 times something tame */
static bool is_nothing(const folding *f, const expr_node *n)
{
    if (n->op != EXPR_MUL) return false;
    bool a = graph_is_number(f->g, image_of(f, n->a), 0.0);
    bool b = graph_is_number(f->g, image_of(f, n->b), 0.0);
    return (a && f->tame[walk_place(&f->w, n->b)]) || (b && f->tame[walk_place(&f->w, n->a)]);
}

static expr fold_node(const folding *f, expr e)
{
    const expr_node n = *graph_node(f->g, e);
    if (n.arity == 0) return is_zero(f->zeros, &n) ? graph_constant(f->g, 0.0) : e;
    if (is_nothing(f, &n)) return graph_constant(f->g, 0.0);
    expr third = expr_operand(&n, 2);
    expr a = image_of(f, n.a), b = image_of(f, n.b), c = image_of(f, third);
    return a == n.a && b == n.b && c == third ? e : graph_rebuild(f->g, &n, a, b, c);
}

/* row[i] without terms that are zero; false: memory */
static bool fold_rows(equation_set *set, const zero_scan *zeros)
{
    folding f = {.g = set->graph, .zeros = zeros};
    expr *row = DAE_ARRAY(expr, set->m);
    for (int i = 0; row && i < set->m; i++) row[i] = set->row[i].residual;
    bool ok = row && walk_from(&f.w, f.g, row, (size_t)set->m);
    f.image = ok ? DAE_ARRAY(expr, f.w.count) : NULL;
    f.tame = ok ? DAE_ARRAY(bool, f.w.count) : NULL;
    ok = f.image && f.tame;
    for (size_t k = 0; ok && k < f.w.count; k++) {
        f.tame[k] = is_tame(&f, graph_node(f.g, f.w.order[k]));
        ok = (f.image[k] = fold_node(&f, f.w.order[k])) != EXPR_NONE;
    }
    for (int i = 0; ok && i < set->m; i++) set->row[i].residual = image_of(&f, row[i]);
    dae_free_all(row, f.image, f.tame);
    walk_free(&f.w);
    return ok;
}

/* ---- both ---- */

/* Parameters of the equations that are zero, each once; false: memory */
static bool list_zeros(const equation_set *set, zero_scan *z)
{
    expr *row = DAE_ARRAY(expr, set->m);
    for (int i = 0; row && i < set->m; i++) row[i] = set->row[i].residual;
    bool ok = row && graph_leaves(set->graph, row, (size_t)set->m, note_zero, z) && !z->failed;
    dae_free(row);
    return ok;
}

static bool rows_differ(const equation_set *a, const equation_set *b)
{
    for (int i = 0; i < a->m; i++)
        if (a->row[i].residual != b->row[i].residual) return true;
    return false;
}

int mechanical_without_zeros(const equation_set *set, const equation_point *at,
                             equation_set *reduced, int **zero, int *count)
{
    zero_scan z = {.parameters = at->parameters};
    *reduced = (equation_set){0};
    bool ok = list_zeros(set, &z) && equation_set_copy(reduced, set) && fold_rows(reduced, &z);
    bool differ = ok && rows_differ(set, reduced);
    *zero = differ ? z.index : NULL;
    *count = differ ? z.count : 0;
    if (differ) return 1;
    equation_set_free(reduced);
    dae_free(z.index);
    return ok ? 0 : -1;
}
