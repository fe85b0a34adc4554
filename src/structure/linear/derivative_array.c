/* Making a derivative array, and its values. */
#include "structure/linear/derivative_array.h"

#include <math.h>

#include "base/memory.h"
#include "base/vector.h"
#include "expr/derive.h"

/* ---- first order ----------------------------------------------------------------------------- */

/* Where the derivatives of a variable of the set are found among the unknowns. */
typedef struct order_map {
    int *highest; /* n of the set: highest derivative that occurs */
    int *first;   /* its unknown; derivative p < highest is unknown first + p */
    int variables;
} order_map;

static void note_order(void *context, const expr_node *leaf)
{
    order_map *map = context;
    if (leaf->op != EXPR_VARIABLE || leaf->index >= map->variables) return;
    if (leaf->order > map->highest[leaf->index]) map->highest[leaf->index] = leaf->order;
}

/* Unknowns of the first order system; -1: memory. */
static int map_orders(order_map *map, const equation_set *set)
{
    int n = 0;
    map->variables = set->n;
    map->highest = DAE_ARRAY(int, set->n);
    map->first = DAE_ARRAY(int, set->n);
    if (!map->highest || !map->first) return -1;
    for (int i = 0; i < set->m; i++)
        if (!graph_leaves(set->graph, &set->row[i].residual, 1, note_order, map)) return -1;
    for (int j = 0; j < set->n; j++) {
        map->first[j] = n;
        n += map->highest[j] > 1 ? map->highest[j] : 1;
    }
    return n;
}

static void order_map_free(order_map *map)
{
    dae_free_all(map->highest, map->first);
}

/* x_j^(p) as an unknown or, for the highest p, as the derivative of one. */
static expr lower_leaf(void *context, graph *g, expr leaf)
{
    const order_map *map = context;
    const expr_node *node = graph_node(g, leaf);
    if (node->op != EXPR_VARIABLE) return leaf;
    const int first = map->first[node->index], highest = map->highest[node->index];
    const bool top = node->order > 0 && node->order == highest;
    return graph_variable(g, first + node->order - (top ? 1 : 0), top ? 1 : 0);
}

/* The residuals of the first order system: those of the set, then u_i' - u_{i+1} = 0. */
static bool lower_order(derivative_array *d, const equation_set *set, order_map *map,
                        expr *residual)
{
    int row = set->m;
    for (int i = 0; i < set->m; i++) {
        residual[i] = graph_substitute(set->graph, set->row[i].residual, lower_leaf, map);
        d->source[i] = i;
    }
    for (int j = 0; j < set->n; j++)
        for (int p = 0; p == 0 || p < map->highest[j]; p++) {
            const int i = map->first[j] + p;
            d->variable[i] = j;
            d->order[i] = p;
            d->nominal[i] = set->nominal[j];
            d->ease[i] = 1.0;
            if (p + 1 >= map->highest[j]) continue;
            d->source[row] = -1;
            residual[row++] = graph_binary(set->graph, EXPR_SUB, graph_variable(set->graph, i, 1),
                                           graph_variable(set->graph, i + 1, 0));
        }
    return !graph_failed(set->graph);
}

/* ---- Jacobians ------------------------------------------------------------------------------- */

/* Outputs of the program under construction. */
typedef struct output_list {
    expr *e; /* owned */
    size_t count, capacity;
} output_list;

/* Room for that many more outputs and entries. */
static bool reserve(derivative_array *d, output_list *list, size_t more)
{
    size_t needed = list->count + more;
    size_t capacity[3] = {list->capacity, list->capacity, list->capacity}; /* all are as long */
    return dae_grow(&d->entry_row, &capacity[0], needed, sizeof *d->entry_row) &&
           dae_grow(&d->entry_column, &capacity[1], needed, sizeof *d->entry_column) &&
           dae_grow(&d->entry_rate, &capacity[2], needed, sizeof *d->entry_rate) &&
           dae_grow(&list->e, &list->capacity, needed, sizeof *list->e);
}

/* Append the partial derivatives of one residual. */
static bool append_gradient(derivative_array *d, graph *g, gradient *by, int row, expr residual,
                            output_list *list)
{
    bool done = derive_gradient(g, residual, by) && reserve(d, list, by->count);
    for (size_t i = 0; done && i < by->count; i++) {
        const expr_node *leaf = graph_node(g, by->leaf[i]);
        d->entry_row[d->entries] = row;
        d->entry_column[d->entries] = leaf->index;
        d->entry_rate[d->entries++] = leaf->order > 0;
        list->e[list->count++] = by->derivative[i];
    }
    return done;
}

/* The program of the residuals and of their Jacobians: coefficient s of all at stage s, for which u
 * is known up to its coefficient s + 1. */
static bool compile(derivative_array *d, graph *g, const expr *residual)
{
    output_list list = {0};
    gradient by = {0};
    bool done = reserve(d, &list, (size_t)d->n);
    for (int i = 0; done && i < d->n; i++) list.e[list.count++] = residual[i];
    for (int i = 0; done && i < d->n; i++) done = append_gradient(d, g, &by, i, residual[i], &list);
    int *lag = done ? DAE_ARRAY(int, list.count) : NULL, *top = DAE_ARRAY(int, d->n);
    for (int j = 0; top && j < d->n; j++) top[j] = 1;
    if (lag && top)
        d->program = series_program_new(g, list.e, lag, list.count, top, d->n, d->limit);
    gradient_free(&by);
    dae_free_all(list.e, lag, top);
    return d->program && series_run_new_double(&d->run, d->program);
}

/* ---- the object ------------------------------------------------------------------------------ */

static bool allocate_unknowns(derivative_array *d)
{
    d->variable = DAE_ARRAY(int, d->n);
    d->order = DAE_ARRAY(int, d->n);
    d->source = DAE_ARRAY(int, d->n);
    d->nominal = DAE_ARRAY(double, d->n);
    d->ease = DAE_ARRAY(double, d->n);
    return d->variable && d->order && d->source && d->nominal && d->ease;
}

static bool allocate_work(derivative_array *d)
{
    const int n = d->n, rows = n * (d->limit + 1), columns = rows + n;
    d->series = DAE_ARRAY(double, columns);
    for (int j = 0; d->program && d->series && j < n; j++)
        d->run.rows[j] = d->series + j * (d->limit + 2);
    d->out = DAE_ARRAY(double, n + d->entries);
    d->F = DAE_ARRAY(double, rows);
    d->J = DAE_ARRAY(double, 2 * rows * columns);
    d->step = DAE_ARRAY(double, columns);
    d->trial = DAE_ARRAY(double, columns);
    d->weight = DAE_ARRAY(double, columns);
    d->size = DAE_ARRAY(double, rows);
    return d->series && d->out && d->F && d->J && d->step && d->trial && d->weight && d->size &&
           jacobian_series_new(&d->jac, n, d->limit + 1) &&
           least_squares_new(&d->solver, rows, columns);
}

array_status derivative_array_new(derivative_array *d, const equation_set *set, int limit)
{
    order_map map = {0};
    *d = (derivative_array){.limit = limit};
    if (set->n != set->m || set->n < 1 || limit < 0 || limit > 100) return ARRAY_SHAPE;
    d->n = map_orders(&map, set);
    expr *residual = d->n > 0 ? DAE_ARRAY(expr, d->n) : NULL;
    bool done = residual && allocate_unknowns(d) && lower_order(d, set, &map, residual) &&
                compile(d, set->graph, residual) && allocate_work(d);
    order_map_free(&map);
    dae_free(residual);
    if (!done) derivative_array_free(d);
    return done ? ARRAY_OK : ARRAY_MEMORY;
}

array_status derivative_array_new_black(derivative_array *d, int n, int limit, array_black_box f,
                                        void *context)
{
    *d = (derivative_array){.n = n, .limit = limit, .black_box = f, .context = context};
    bool done = allocate_unknowns(d) && allocate_work(d);
    for (int i = 0; done && i < n; i++) {
        d->variable[i] = d->source[i] = i;
        d->nominal[i] = d->ease[i] = 1.0;
    }
    if (!done) derivative_array_free(d);
    return done ? ARRAY_OK : ARRAY_MEMORY;
}

void derivative_array_free(derivative_array *d)
{
    series_run_free_double(&d->run);
    series_program_free(d->program);
    dae_free_all(d->variable, d->order, d->source, d->nominal, d->ease, d->entry_row,
                 d->entry_column, d->entry_rate, d->series, d->out, d->F, d->J, d->step, d->trial,
                 d->weight, d->size);
    jacobian_series_free(&d->jac);
    least_squares_free(&d->solver);
    *d = (derivative_array){0};
}

/* ---- values ---------------------------------------------------------------------------------- */

/* Sort the outputs of stage l into F and the Jacobians. */
static void scatter(derivative_array *d, int l)
{
    const int n = d->n;
    double *a = d->jac.a + l * n * n, *b = d->jac.b + l * n * n;
    vector_zero(n * n, a);
    vector_zero(n * n, b);
    vector_copy(n, d->out, d->F + l * n);
    for (int e = 0; e < d->entries; e++)
        (d->entry_rate[e] ? b : a)[d->entry_row[e] + d->entry_column[e] * n] = d->out[n + e];
}

array_status derivative_array_values(derivative_array *d, int k, double t, const double *x)
{
    if (!d->black_box) return derivative_array_evaluate(d, k, t, x);
    d->old_jacobians = true;
    array_status status = d->black_box(d->context, k, t, x, d->F, NULL, NULL);
    return status != ARRAY_OK || vector_finite(d->n * (k + 1), d->F) ? status : ARRAY_EVALUATION;
}

/* By the program: series arithmetic. */
static void run_program(derivative_array *d, int k, double t, const double *x)
{
    const int n = d->n, stride = d->limit + 2;
    for (int j = 0; j < n; j++)
        for (int p = 0; p <= k + 1; p++) d->series[j * stride + p] = x[p * n + j];
    d->run.time = t;
    d->run.parameters = d->parameters;
    d->run.memory = d->memory;
    series_prepare_double(&d->run);
    for (int l = 0; l <= k; l++) {
        series_sweep_double(&d->run, l);
        series_outputs_double(&d->run, l, d->out);
        scatter(d, l);
    }
}

array_status derivative_array_evaluate(derivative_array *d, int k, double t, const double *x)
{
    const int n = d->n;
    array_status status = ARRAY_OK;
    if (d->black_box)
        status = d->black_box(d->context, k, t, x, d->F, d->jac.a, d->jac.b);
    else
        run_program(d, k, t, x);
    d->old_jacobians = false;
    if (status != ARRAY_OK) return status;
    const bool finite = vector_finite(n * (k + 1), d->F) &&
                        vector_finite(n * n * (k + 1), d->jac.a) &&
                        vector_finite(n * n * (k + 1), d->jac.b);
    return finite ? ARRAY_OK : ARRAY_EVALUATION;
}
