/* Whether masses and constraints determine all accelerations, whatever the parameters are.
 *
 * [M G'; G 0] is regular only if no direction of the velocities is without mass and free of
 * constraints: [M; G] has full column rank [HW96 VII.2, Exercise 2]. The rank is taken at points
 * that are drawn, so that a mass which is a parameter counts even where it is set to 0. */
#include <math.h>

#include "base/memory.h"
#include "base/random.h"
#include "expr/walk.h"
#include "modelica/flatten/flatten_motion.h"

enum { LARGEST = 100, POINTS = 3 }; /* coordinates that are looked at; points that must agree */
static const double SMALLEST_PIVOT = 1e-9;

typedef struct inertia {
    motion *m;
    size_t rows, columns;
    expr *entry;   /* rows x columns; EXPR_NONE is 0 */
    double *value; /* of them at a point */
    walk nodes;    /* of all entries, */
    double *node;  /* and their values */
} inertia;

/* A number in [0.5, 1.5] for each leaf, the same as long as the seed is. */
static double draw(uint64_t seed, const expr_node *leaf)
{
    uint64_t state = seed + 1000003u * (uint64_t)leaf->op + 7919u * (uint64_t)leaf->order +
                     104729u * (uint64_t)(uint32_t)leaf->index;
    return leaf->op == EXPR_CONSTANT ? leaf->value : 1.0 + 0.5 * random_number(&state);
}

/* All nodes of the entries at a point that is drawn; NAN for what loops leave behind. */
static void evaluate_nodes(inertia *w, uint64_t seed)
{
    const graph *g = w->m->f->g;
    for (size_t k = 0; k < w->nodes.count; k++) {
        const expr_node *n = graph_node(g, w->nodes.order[k]);
        const expr of[3] = {n->a, n->b, n->c};
        double x[3] = {0.0, 0.0, 0.0};
        for (int i = 0; i < n->arity; i++) x[i] = w->node[walk_place(&w->nodes, of[i])];
        w->node[k] = n->arity == 0            ? draw(seed, n)
                     : n->op >= EXPR_OP_COUNT ? NAN
                                              : graph_apply((expr_op)n->op, x[0], x[1], x[2]);
    }
}

/* ---- elimination ---- */

/* The largest entry of a column from `row` on. */
static size_t pivot_row(const inertia *w, size_t row, size_t column)
{
    size_t best = row;
    for (size_t i = row; i < w->rows; i++)
        if (fabs(w->value[i * w->columns + column]) > fabs(w->value[best * w->columns + column]))
            best = i;
    return best;
}

static void eliminate(inertia *w, size_t row, size_t column)
{
    const double *top = w->value + row * w->columns;
    for (size_t i = row + 1; i < w->rows; i++) {
        double *line = w->value + i * w->columns, factor = line[column] / top[column];
        for (size_t j = column; factor != 0.0 && j < w->columns; j++) line[j] -= factor * top[j];
    }
}

/* The first column that depends on those before it; `columns` if none does. */
static size_t dependent_column(inertia *w)
{
    double largest = 0.0;
    for (size_t k = 0; k < w->rows * w->columns; k++) largest = fmax(largest, fabs(w->value[k]));
    for (size_t j = 0; j < w->columns; j++) {
        size_t p = pivot_row(w, j, j);
        if (!(fabs(w->value[p * w->columns + j]) > SMALLEST_PIVOT * largest)) return j;
        for (size_t k = 0; k < w->columns && p != j; k++) {
            double *a = &w->value[p * w->columns + k], *b = &w->value[j * w->columns + k], t = *a;
            *a = *b;
            *b = t;
        }
        eliminate(w, j, j);
    }
    return w->columns;
}

/* The same at a point that is drawn; also `columns` where an entry is not defined. */
static size_t dependent_at(inertia *w, uint64_t seed)
{
    evaluate_nodes(w, seed);
    for (size_t k = 0; k < w->rows * w->columns; k++) {
        expr e = w->entry[k];
        w->value[k] = e == EXPR_NONE ? 0.0 : w->node[walk_place(&w->nodes, e)];
        if (!isfinite(w->value[k])) return w->columns;
    }
    return dependent_column(w);
}

/* ---- entries ---- */

typedef struct line {
    inertia *w;
    size_t row;
    int order; /* of the variables that the entries are derivatives by */
} line;

static void take_entry(motion *m, void *context, const expr_node *x, expr slope)
{
    const line *l = context;
    const motion_variable *v = &m->variables[x->index];
    if (v->role == ROLE_COORDINATE && x->order == l->order)
        l->w->entry[l->row * l->w->columns + (size_t)v->place] = slope;
}

static void fill(inertia *w)
{
    motion *m = w->m;
    for (size_t k = 0; k < m->count; k++)
        motion_slopes(m, m->q[k].momentum, take_entry, &(line){w, k, 1});
    for (size_t j = 0; j < m->multiplier_count; j++)
        motion_slopes(m, m->lambda[j].constraint, take_entry,
                      &(line){w, m->count + j, m->lambda[j].on_velocities ? 1 : 0});
}

/* Memory for all points, once the entries are known; false: there is none. */
static bool prepare(inertia *w)
{
    size_t count = w->rows * w->columns;
    w->value = DAE_ARRAY(double, count);
    if (!w->value || !walk_from(&w->nodes, w->m->f->g, w->entry, count)) return false;
    w->node = DAE_ARRAY(double, w->nodes.count);
    return w->node != NULL;
}

/* The first coordinate whose acceleration stays open at all points; their number if none does. */
static size_t open_coordinate(inertia *w)
{
    size_t found = 0;
    for (uint64_t k = 1; k <= POINTS && found < w->columns; k++) {
        size_t at = dependent_at(w, k);
        found = at > found ? at : found;
    }
    return found;
}

void motion_check_inertia(motion *m)
{
    inertia w = {.m = m, .rows = m->count + m->multiplier_count, .columns = m->count};
    bool massless = false;
    for (size_t k = 0; k < m->count; k++) massless = massless || m->q[k].massless;
    if (m->count > LARGEST || massless) return;
    w.entry = DAE_ARRAY(expr, w.rows * w.columns);
    if (w.entry) fill(&w);
    if (!w.entry || !prepare(&w)) m->f->failed = true;
    size_t found = m->f->failed ? w.columns : open_coordinate(&w);
    if (found < w.columns)
        motion_error(m, m->q[found].place,
                     "the kinetic energy does not determine the acceleration of '%s': the mass "
                     "matrix is singular there, and no constraint helps",
                     motion_name(m, m->q[found].variable));
    walk_free(&w.nodes);
    dae_free_all(w.entry, w.value, w.node);
}
