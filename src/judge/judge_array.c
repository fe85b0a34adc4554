/* Functions of arrays (Modelica specification 3.6, 10.3). */
#include <stdlib.h>
#include <string.h>

#include "judge/judge_parts.h"

value judge_reduce_extreme(machine *m, const cell *cells, int count, const jtype *type,
                           const node *n);
value judge_cat(machine *m, const node *n);

static value numbers(machine *m, const node *n, int k)
{
    value v = judge_eval(m, n->kids[k]);
    if (!judge_numeric(&v)) judge_fail(m, n->line, "'%s' of what are no numbers", n->name);
    return v;
}

static int whole_number(machine *m, const node *n, int k)
{
    double v = judge_eval_number(m, n->kids[k]);
    if (m->trial && isnan(v)) v = 1.0;
    if (v != floor(v) || fabs(v) > 1e8) judge_fail(m, n->line, "'%s' needs an Integer", n->name);
    return (int)v;
}

/* ---- reductions ---- */

static value reduce_cells(machine *m, const char *name, const cell *cells, int count,
                          const jtype *type, const node *n)
{
    if (strcmp(name, "min") == 0 || strcmp(name, "max") == 0)
        return judge_reduce_extreme(m, cells, count, type, n);
    bool sum = strcmp(name, "sum") == 0;
    value v = judge_scalar(m, type, sum ? 0.0 : 1.0);
    for (int k = 0; k < count; k++)
        *v.cells = sum ? judge_add(*v.cells, cells[k], 1.0) : judge_multiply(*v.cells, cells[k]);
    return v;
}

static value sum_of_arrays(machine *m, const value *items, int count, const node *n)
{
    value v = judge_make(m, items[0].type, &items[0].shape);
    int width = judge_cells(&v);
    for (int k = 0; k < width; k++) v.cells[k] = (cell){0};
    for (int i = 0; i < count; i++) {
        if (!judge_same_shape(&v.shape, &items[i].shape))
            judge_fail(m, n->line, "a sum of arrays of different sizes");
        for (int k = 0; k < width; k++) v.cells[k] = judge_add(v.cells[k], items[i].cells[k], 1.0);
    }
    return v;
}

/* sum(e for ..), product, min, max of the values of e */
value judge_reduce_values(machine *m, const char *name, const value *items, int count,
                          const node *n)
{
    static const char *const known[] = {"sum", "product", "min", "max"};
    bool is = false;
    for (int k = 0; k < 4; k++) is |= strcmp(known[k], name) == 0;
    if (!is) judge_fail(m, n->line, "'%s' with iterators cannot be judged", name);
    if (count && items[0].shape.ndims && strcmp(name, "sum") == 0)
        return sum_of_arrays(m, items, count, n);
    cell *cells = judge_stack_take(m, &m->scratch, (size_t)count * sizeof *cells + 1);
    const jtype *type = count ? items[0].type : &judge_integer;
    for (int k = 0; k < count; k++) {
        if (items[k].shape.ndims || items[k].type->base >= BASE_STRING)
            judge_fail(m, n->line, "'%s' of what are no numbers", name);
        if (items[k].type->base == BASE_REAL) type = &judge_real;
        cells[k] = *items[k].cells;
    }
    return reduce_cells(m, name, cells, count, type, n);
}

static value call_reduction(machine *m, const node *n)
{
    value v = numbers(m, n, 0);
    return reduce_cells(m, n->name, v.cells, judge_cells(&v), v.type, n);
}

/* ---- sizes ---- */

/* The shape of an argument. Sizes of variables need no values. */
static shape shape_of(machine *m, const node *n)
{
    if (n->kind == NODE_COMPONENT || n->kind == NODE_LOCAL) return judge_select(m, n).shape;
    return judge_eval(m, n).shape;
}

static value call_size(machine *m, const node *n)
{
    shape s = shape_of(m, n->kids[0]);
    if (n->kid_count == 2) {
        int d = whole_number(m, n, 1);
        if (d < 1 || d > s.ndims) judge_fail(m, n->line, "size of dimension %d", d);
        return judge_scalar(m, &judge_integer, s.dims[d - 1]);
    }
    value v = judge_make(m, &judge_integer, &(shape){1, {s.ndims}});
    for (int d = 0; d < s.ndims; d++) v.cells[d] = (cell){.v = s.dims[d], .size = s.dims[d]};
    return v;
}

static value call_ndims(machine *m, const node *n)
{
    return judge_scalar(m, &judge_integer, shape_of(m, n->kids[0]).ndims);
}

/* ---- new arrays ---- */

static shape sizes_from(machine *m, const node *n, int first)
{
    shape s = {0};
    for (int k = first; k < n->kid_count; k++) {
        if (s.ndims == MOST_DIMS) judge_fail(m, n->line, "too many dimensions");
        s.dims[s.ndims++] = whole_number(m, n, k);
    }
    return s;
}

static value filled(machine *m, const value *with, const shape *s)
{
    value v = judge_make(m, with->type, s);
    int count = judge_count(s), width = with->type->cells;
    for (int k = 0; k < count * width; k++) {
        v.cells[k] = with->cells[k % width];
        v.cells[k].index = 0;
    }
    return v;
}

static value call_constant(machine *m, const node *n)
{
    shape s = sizes_from(m, n, 0);
    value with = judge_scalar(m, &judge_integer, n->name[0] == 'o' ? 1.0 : 0.0);
    return filled(m, &with, &s);
}

static value call_fill(machine *m, const node *n)
{
    value with = judge_eval(m, n->kids[0]);
    shape s = sizes_from(m, n, 1);
    if (with.shape.ndims) judge_fail(m, n->line, "fill with an array");
    return filled(m, &with, &s);
}

static value square(machine *m, const jtype *type, int n)
{
    value v = judge_make(m, type, &(shape){2, {n, n}});
    for (int k = 0; k < n * n; k++) v.cells[k] = (cell){0};
    return v;
}

static value call_identity(machine *m, const node *n)
{
    int size = whole_number(m, n, 0);
    value v = square(m, &judge_integer, size);
    for (int k = 0; k < size; k++) v.cells[k * size + k] = (cell){.v = 1.0, .size = 1.0};
    return v;
}

static value vector_argument(machine *m, const node *n, int k, int size)
{
    value v = numbers(m, n, k);
    if (v.shape.ndims != 1 || (size && v.shape.dims[0] != size))
        judge_fail(m, n->line, "'%s' needs another vector", n->name);
    return v;
}

static value call_diagonal(machine *m, const node *n)
{
    value d = vector_argument(m, n, 0, 0);
    int size = d.shape.dims[0];
    value v = square(m, d.type, size);
    for (int k = 0; k < size; k++) {
        v.cells[k * size + k] = d.cells[k];
        v.cells[k * size + k].index = 0;
    }
    return v;
}

static value call_linspace(machine *m, const node *n)
{
    value a = numbers(m, n, 0), b = numbers(m, n, 1);
    int count = whole_number(m, n, 2);
    if (count < 2 || a.shape.ndims || b.shape.ndims) judge_fail(m, n->line, "linspace of so few");
    value v = judge_make(m, &judge_real, &(shape){1, {count}});
    cell width = judge_add(*b.cells, *a.cells, -1.0),
         parts = {.v = count - 1.0, .size = count - 1.0};
    for (int k = 0; k < count; k++) {
        cell number = {.v = k, .size = k};
        cell part = judge_divide(m, judge_multiply(width, number), parts, n->line);
        v.cells[k] = judge_add(*a.cells, part, 1.0);
    }
    return v;
}

/* ---- matrices and vectors ---- */

static value call_transpose(machine *m, const node *n)
{
    value a = judge_eval(m, n->kids[0]);
    if (a.shape.ndims != 2) judge_fail(m, n->line, "transpose of no matrix");
    int rows = a.shape.dims[0], columns = a.shape.dims[1], width = a.type->cells;
    value v = judge_make(m, a.type, &(shape){2, {columns, rows}});
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < columns; c++)
            for (int k = 0; k < width; k++) {
                v.cells[(c * rows + r) * width + k] = a.cells[(r * columns + c) * width + k];
                v.cells[(c * rows + r) * width + k].index = 0;
            }
    return v;
}

/* The upper triangle, also below the diagonal. */
static value call_symmetric(machine *m, const node *n)
{
    value a = numbers(m, n, 0);
    if (a.shape.ndims != 2 || a.shape.dims[0] != a.shape.dims[1])
        judge_fail(m, n->line, "symmetric of no square matrix");
    int size = a.shape.dims[0];
    value v = square(m, a.type, size);
    for (int r = 0; r < size; r++)
        for (int c = 0; c < size; c++) {
            v.cells[r * size + c] = a.cells[r <= c ? r * size + c : c * size + r];
            v.cells[r * size + c].index = 0;
        }
    return v;
}

static value call_cross(machine *m, const node *n)
{
    value a = vector_argument(m, n, 0, 3), b = vector_argument(m, n, 1, 3);
    value v = judge_make(m, &judge_real, &(shape){1, {3}});
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        v.cells[k] = judge_add(judge_multiply(a.cells[i], b.cells[j]),
                               judge_multiply(a.cells[j], b.cells[i]), -1.0);
    }
    return v;
}

/* cross(x, y) = skew(x)*y */
static value call_skew(machine *m, const node *n)
{
    static const int from[9] = {0, -3, 2, 3, 0, -1, -2, 1, 0};
    value a = vector_argument(m, n, 0, 3), v = square(m, a.type, 3);
    for (int k = 0; k < 9; k++) {
        if (from[k] == 0) continue;
        cell c = a.cells[abs(from[k]) - 1];
        v.cells[k] = (cell){.v = from[k] < 0 ? -c.v : c.v, .size = c.size, .spread = c.spread};
    }
    return v;
}

static value call_outer_product(machine *m, const node *n)
{
    value a = vector_argument(m, n, 0, 0), b = vector_argument(m, n, 1, 0);
    int rows = a.shape.dims[0], columns = b.shape.dims[0];
    value v = judge_make(m, &judge_real, &(shape){2, {rows, columns}});
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < columns; c++)
            v.cells[r * columns + c] = judge_multiply(a.cells[r], b.cells[c]);
    return v;
}

/* ---- the same elements in another shape ---- */

static value call_vector(machine *m, const node *n)
{
    value v = judge_eval(m, n->kids[0]);
    int count = judge_count(&v.shape), large = 0;
    for (int d = 0; d < v.shape.ndims; d++) large += v.shape.dims[d] > 1;
    if (large > 1) judge_fail(m, n->line, "vector of a matrix");
    v.shape = (shape){1, {count}};
    return v;
}

static value call_scalar(machine *m, const node *n)
{
    value v = judge_eval(m, n->kids[0]);
    if (judge_count(&v.shape) != 1) judge_fail(m, n->line, "scalar of several elements");
    v.shape = (shape){0};
    return v;
}

static value call_matrix(machine *m, const node *n)
{
    value v = judge_eval(m, n->kids[0]);
    for (int d = 2; d < v.shape.ndims; d++)
        if (v.shape.dims[d] != 1) judge_fail(m, n->line, "matrix of more than two dimensions");
    while (v.shape.ndims < 2) v.shape.dims[v.shape.ndims++] = 1;
    v.shape.ndims = 2;
    return v;
}

static value call_promote(machine *m, const node *n)
{
    value v = judge_eval(m, n->kids[0]);
    int ndims = whole_number(m, n, 1);
    if (ndims < v.shape.ndims || ndims > MOST_DIMS) judge_fail(m, n->line, "promote to fewer");
    while (v.shape.ndims < ndims) v.shape.dims[v.shape.ndims++] = 1;
    return v;
}

static value call_array(machine *m, const node *n)
{
    node copy = *n;
    copy.kind = NODE_ARRAY;
    return judge_eval(m, &copy);
}

const builtin judge_array_builtins[] = {{"sum", call_reduction, 1, 1, NULL},
                                        {"product", call_reduction, 1, 1, NULL},
                                        {"size", call_size, 1, 2, NULL},
                                        {"ndims", call_ndims, 1, 1, NULL},
                                        {"zeros", call_constant, 1, 7, NULL},
                                        {"ones", call_constant, 1, 7, NULL},
                                        {"fill", call_fill, 2, 8, NULL},
                                        {"identity", call_identity, 1, 1, "n"},
                                        {"diagonal", call_diagonal, 1, 1, NULL},
                                        {"linspace", call_linspace, 3, 3, "x1 x2 n"},
                                        {"transpose", call_transpose, 1, 1, NULL},
                                        {"symmetric", call_symmetric, 1, 1, NULL},
                                        {"cross", call_cross, 2, 2, NULL},
                                        {"skew", call_skew, 1, 1, NULL},
                                        {"outerProduct", call_outer_product, 2, 2, NULL},
                                        {"vector", call_vector, 1, 1, NULL},
                                        {"scalar", call_scalar, 1, 1, NULL},
                                        {"matrix", call_matrix, 1, 1, NULL},
                                        {"promote", call_promote, 2, 2, NULL},
                                        {"cat", judge_cat, 2, 100000000, NULL},
                                        {"array", call_array, 1, 100000000, NULL},
                                        {NULL, NULL, 0, 0, NULL}};
