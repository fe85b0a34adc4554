/* Null vectors by elimination on expressions: fraction-free but for numbers, zeros told by samples.
 */
#include "structure/rewrite/regularise_parts.h"

#include "base/memory.h"

#include <math.h>

enum {
    MOST_SYMBOLIC = 24,   /* rows */
    MOST_GROWTH = 1000000 /* nodes that it may make */
};

/* Rows (left) or columns (right) of the block as a small matrix, and what was done to them. */
typedef struct elimination {
    rewriting *r;
    int rows, columns;
    expr *a;       /* rows x columns; EXPR_NONE: zero */
    expr *track;   /* rows x rows */
    bool *pivoted; /* rows */
    bool *taken;   /* columns */
} elimination;

static void elimination_free(elimination *e)
{
    dae_free_all(e->a, e->track, e->pivoted, e->taken);
}

/* Entry J_ij, or EXPR_NONE */
static expr jacobian_entry(const system_jacobian *J, int i, int j)
{
    for (int k = J->start[i]; k < J->start[i + 1]; k++)
        if (J->column[k] == j) return J->entry[k];
    return EXPR_NONE;
}

static bool elimination_new(elimination *e, rewriting *r, int b, bool left, const null_vector *v)
{
    int n;
    const int *other = block_list(r, b, !left, &n);
    *e = (elimination){.r = r, .rows = v->count, .columns = n};
    e->a = DAE_ARRAY(expr, (size_t)v->count * (size_t)n);
    e->track = DAE_ARRAY(expr, (size_t)v->count * (size_t)v->count);
    e->pivoted = DAE_ARRAY(bool, v->count);
    e->taken = DAE_ARRAY(bool, n);
    if (!e->a || !e->track || !e->pivoted || !e->taken) return false;
    for (int i = 0; i < v->count; i++) {
        for (int j = 0; j < n; j++)
            e->a[(size_t)i * (size_t)n + (size_t)j] =
                jacobian_entry(r->J, left ? v->index[i] : other[j], left ? other[j] : v->index[i]);
        e->track[i * v->count + i] = graph_constant(r->set->graph, 1.0);
    }
    return true;
}

/* Entries that are identically zero become absent. */
static bool drop_zeros(elimination *e, int row)
{
    for (int j = 0; j < e->columns; j++) {
        expr *a = &e->a[row * e->columns + j];
        int zero = *a ? sampling_is_zero(&e->r->sample, *a) : 0;
        if (zero < 0) return false;
        if (zero) *a = EXPR_NONE;
    }
    return true;
}

/* How much a pivot makes of the others: nothing if it is a number. */
static size_t pivot_cost(elimination *e, expr a)
{
    sampling *s = &e->r->sample;
    if (graph_is_constant(e->r->set->graph, a, NULL)) return 0;
    return walk_from(&s->nodes, e->r->set->graph, &a, 1) ? s->nodes.count : 0;
}

static bool choose_pivot(elimination *e, int *row, int *column)
{
    size_t least = SIZE_MAX;
    for (int i = 0; i < e->rows; i++)
        for (int j = 0; j < e->columns && !e->pivoted[i]; j++) {
            expr a = e->a[i * e->columns + j];
            if (!a || e->taken[j]) continue;
            size_t cost = pivot_cost(e, a);
            if (cost >= least) continue;
            least = cost;
            *row = i;
            *column = j;
        }
    return least != SIZE_MAX;
}

/* Whether a - b is nothing but rounding of two constants. */
static bool constants_cancel(const graph *g, expr a, expr b)
{
    double x, y;
    if (!graph_is_constant(g, a, &x) || !graph_is_constant(g, b, &y)) return false;
    return fabs(x - y) <= 4.0 * 0x1p-53 * (fabs(x) + fabs(y));
}

/* p x - q y, EXPR_NONE standing for 0 */
static expr cross(graph *g, expr p, expr x, expr q, expr y)
{
    expr left = x ? graph_binary(g, EXPR_MUL, p, x) : EXPR_NONE;
    expr right = y ? graph_binary(g, EXPR_MUL, q, y) : EXPR_NONE;
    if (!left && !right) return EXPR_NONE;
    if (left && right && constants_cancel(g, left, right)) return EXPR_NONE;
    if (!right) return collect_fully(g, left);
    if (!left) return collect_fully(g, graph_unary(g, EXPR_NEG, right));
    return collect_fully(g, graph_binary(g, EXPR_SUB, left, right));
}

/* row := p row - q pivot row, so that its entry in the pivot's column vanishes; fraction-free but
 * for numbers */
static void eliminate_row(elimination *e, int row, int pivot, int column)
{
    graph *g = e->r->set->graph;
    expr p = e->a[pivot * e->columns + column], q = e->a[row * e->columns + column];
    if (graph_is_constant(g, p, NULL)) {
        q = graph_binary(g, EXPR_DIV, q, p);
        p = graph_constant(g, 1.0);
    } else if (p == q) {
        p = q = graph_constant(g, 1.0);
    }
    for (int j = 0; j < e->columns; j++) {
        expr *x = &e->a[row * e->columns + j];
        *x = j == column ? EXPR_NONE : cross(g, p, *x, q, e->a[pivot * e->columns + j]);
    }
    for (int j = 0; j < e->rows; j++) {
        expr *x = &e->track[row * e->rows + j];
        *x = cross(g, p, *x, q, e->track[pivot * e->rows + j]);
    }
}

/* All rows but those that depend on the others get a pivot; 1: done, 0: too long, -1: memory */
static int eliminate(elimination *e)
{
    graph *g = e->r->set->graph;
    const size_t limit = graph_size(g) + MOST_GROWTH;
    int row = 0, column = 0;
    for (int i = 0; i < e->rows; i++)
        if (!drop_zeros(e, i)) return -1;
    while (choose_pivot(e, &row, &column)) {
        e->pivoted[row] = e->taken[column] = true;
        for (int i = 0; i < e->rows; i++) {
            if (e->pivoted[i] || !e->a[i * e->columns + column]) continue;
            eliminate_row(e, i, row, column);
            if (graph_failed(g) || !drop_zeros(e, i)) return -1;
            if (graph_size(g) > limit) return 0;
        }
    }
    return 1;
}

/* The vector of the first row that became zero. */
static bool take_track(elimination *e, null_vector *v)
{
    int row = 0, count = 0;
    while (row < e->rows && e->pivoted[row]) row++;
    if (row == e->rows) return false;
    for (int i = 0; i < e->rows; i++) {
        expr u = e->track[row * e->rows + i];
        if (!u) continue;
        v->index[count] = v->index[i];
        v->entry[count++] = u;
    }
    v->count = count;
    return count > 0;
}

int eliminate_null_vector(rewriting *r, int b, bool left, null_vector *v)
{
    elimination e = {0};
    if (v->count > MOST_SYMBOLIC) return 0;
    int state = elimination_new(&e, r, b, left, v) ? eliminate(&e) : -1;
    if (state == 1 && !take_track(&e, v)) state = 0;
    if (state == 1 && !collect_divide_common(r->set->graph, v->entry, (size_t)v->count)) state = -1;
    elimination_free(&e);
    return state;
}
