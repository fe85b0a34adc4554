/* Array functions and constructors. [MLS chapter "Arrays"] */
#include <math.h>
#include <string.h>

#include "modelica/flatten/flatten_internal.h"

/* ---- building ---- */

/* Dimensions of size 1 added behind until the rank is reached. */
static value raise_rank(flattener *f, const value *v, int rank)
{
    value out = *v;
    size_t *dims = flatten_take(f, VALUE_MAX_RANK * sizeof *dims);
    if (!dims) return value_error();
    for (int k = 0; k < VALUE_MAX_RANK; k++) dims[k] = k < v->rank ? v->dims[k] : 1;
    if (rank > out.rank) out.rank = rank;
    out.dims = dims;
    if (!out.e) {
        out.e = flatten_take(f, sizeof *out.e);
        if (!out.e) return value_error();
        out.e[0] = v->scalar;
    }
    return out;
}

/* [a, b; c, d] = cat(1, cat(2, a, b), cat(2, c, d)), all of rank 2 at least */
static value matrix_row(flattener *f, const ast_expr *row, int rank)
{
    value *parts = flatten_take(f, row->arg_count * sizeof *parts);
    if (!parts || row->arg_count == 0) return value_error();
    for (size_t k = 0; k < row->arg_count; k++) {
        parts[k] = evaluate(f, row->args[k]);
        if (value_is_error(&parts[k])) return value_error();
        if (!value_is_simple(&parts[k]))
            return wrong_type(f, row->args[k]->place, "matrix", &parts[k], "numbers");
        parts[k] = raise_rank(f, &parts[k], rank);
        if (value_is_error(&parts[k])) return value_error();
    }
    return concatenate(f, 2, parts, row->arg_count, row->place);
}

value evaluate_matrix(flattener *f, const ast_expr *e)
{
    value *rows = flatten_take(f, e->arg_count * sizeof *rows);
    if (!rows || e->arg_count == 0) return value_error();
    for (size_t k = 0; k < e->arg_count; k++) {
        if (!e->args[k]) return value_error();
        rows[k] = matrix_row(f, e->args[k], 2);
        if (value_is_error(&rows[k])) return value_error();
    }
    return concatenate(f, 1, rows, e->arg_count, e->place);
}

static value transpose_value(flattener *f, const value *v)
{
    size_t dims[VALUE_MAX_RANK];
    memcpy(dims, v->dims, (size_t)v->rank * sizeof *dims);
    dims[0] = v->dims[1];
    dims[1] = v->dims[0];
    size_t block = 1;
    for (int k = 2; k < v->rank; k++) block *= dims[k];
    value out = value_new(f, v->type, v->rank, dims);
    if (value_is_error(&out)) return out;
    for (size_t i = 0; i < dims[0]; i++)
        for (size_t j = 0; j < dims[1]; j++)
            memcpy(out.e + (i * dims[1] + j) * block, value_elements(v) + (j * dims[0] + i) * block,
                   block * sizeof *out.e);
    out.class_ = v->class_;
    out.unit = v->unit;
    return out;
}

/* ---- reductions ---- */

typedef struct reduction {
    const char *name;
    expr_op op;
    double empty; /* value of no elements */
} reduction;

static const reduction reductions[] = {{"sum", EXPR_ADD, 0.0},
                                       {"product", EXPR_MUL, 1.0},
                                       {"min", EXPR_MIN, 1.7976931348623157e308},
                                       {"max", EXPR_MAX, -1.7976931348623157e308}};

static const reduction *find_reduction(const char *name)
{
    for (size_t k = 0; k < 4; k++)
        if (strcmp(reductions[k].name, name) == 0) return &reductions[k];
    return NULL;
}

bool is_reduction(const char *name)
{
    return find_reduction(name) != NULL;
}

value reduce_values(flattener *f, const char *name, const value *v, source_place place)
{
    const reduction *r = find_reduction(name);
    if (value_is_error(v)) return *v;
    bool ordered = r->op == EXPR_MIN || r->op == EXPR_MAX;
    bool good = value_is_numeric(v) ||
                (ordered && (v->type == VALUE_ENUMERATION || v->type == VALUE_BOOLEAN));
    if (!good) return wrong_type(f, place, name, v, "numbers");
    expr sum = v->count ? value_element(v, 0) : constant(f, r->empty);
    for (size_t k = 1; k < v->count; k++) sum = graph_binary(f->g, r->op, sum, value_element(v, k));
    value out = value_scalar(v->type, sum);
    out.class_ = v->class_;
    out.unit = r->op == EXPR_MUL ? UNIT_UNKNOWN : v->unit;
    return out;
}

/* min(a, b), max(a, b) */
static value two_extremes(flattener *f, const char *name, const ast_expr *e)
{
    value v[2] = {evaluate(f, e->args[0]), evaluate(f, e->args[1])};
    if (value_is_error(&v[0]) || value_is_error(&v[1])) return value_error();
    if (v[0].rank || v[1].rank)
        return wrong_type(f, e->place, name, v[0].rank ? &v[0] : &v[1], "two scalars or one array");
    check_units(f, e->place, v[0].unit, v[1].unit, name);
    value both = stack_values(f, v, 2, e->place);
    return reduce_values(f, name, &both, e->place);
}

static value call_reduction(flattener *f, const char *name, const ast_expr *e)
{
    bool ordered = strcmp(name, "min") == 0 || strcmp(name, "max") == 0;
    if (e->arg_count == 2 && ordered && !e->named_count) return two_extremes(f, name, e);
    if (e->arg_count != 1 || e->named_count)
        return error_value(f, e->place, "%s wants %s", name,
                           ordered ? "an array or two scalars" : "an array");
    value v = evaluate(f, e->args[0]);
    return reduce_values(f, name, &v, e->args[0] ? e->args[0]->place : e->place);
}

/* ---- functions of sizes ---- */

typedef value (*array_rule)(flattener *f, const ast_expr *e, const value *v);

static value call_size(flattener *f, const ast_expr *e, const value *v)
{
    double d = 0.0;
    if (e->arg_count == 1) {
        value out = value_array_of(f, VALUE_INTEGER, (size_t)v->rank);
        for (int k = 0; !value_is_error(&out) && k < v->rank; k++)
            out.e[k] = constant(f, (double)v->dims[k]);
        return out;
    }
    if (!integer_value(f, e->args[1], "dimension", &d)) return value_error();
    if (d < 1.0 || d > (double)v->rank)
        return error_value(f, e->args[1]->place, "dimension %g of an array with %d", d, v->rank);
    value out = value_constant(f, VALUE_INTEGER, (double)v->dims[(int)d - 1]);
    out.unit = UNIT_LITERAL;
    return out;
}

static value call_ndims(flattener *f, const ast_expr *e, const value *v)
{
    (void)e;
    return value_constant(f, VALUE_INTEGER, (double)v->rank);
}

static value wants(flattener *f, const ast_expr *e, const value *v, const char *what)
{
    return wrong_type(f, e->args[0]->place, e->parts[0].name, v, what);
}

static value call_transpose(flattener *f, const ast_expr *e, const value *v)
{
    if (v->rank < 2 || !value_is_simple(v)) return wants(f, e, v, "a matrix");
    return transpose_value(f, v);
}

static value call_symmetric(flattener *f, const ast_expr *e, const value *v)
{
    if (v->rank != 2 || v->dims[0] != v->dims[1] || !value_is_numeric(v))
        return wants(f, e, v, "a square matrix");
    size_t n = v->dims[0];
    value out = value_new(f, v->type, 2, v->dims);
    if (value_is_error(&out)) return out;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            out.e[i * n + j] = value_element(v, i <= j ? i * n + j : j * n + i);
    out.unit = v->unit;
    return out;
}

static value call_diagonal(flattener *f, const ast_expr *e, const value *v)
{
    if (v->rank != 1 || !value_is_numeric(v)) return wants(f, e, v, "a vector");
    size_t n = v->count, dims[2] = {n, n};
    value out = value_new(f, v->type, 2, dims);
    for (size_t k = 0; !value_is_error(&out) && k < out.count; k++)
        out.e[k] = k % (n + 1) == 0 ? value_element(v, k / (n + 1)) : constant(f, 0.0);
    out.unit = v->unit;
    return out;
}

static value call_skew(flattener *f, const ast_expr *e, const value *v)
{
    static const int source[9] = {0, -3, 2, 3, 0, -1, -2, 1, 0};
    size_t dims[2] = {3, 3};
    if (v->rank != 1 || v->count != 3 || !value_is_numeric(v))
        return wants(f, e, v, "a vector of 3");
    value out = value_new(f, v->type, 2, dims);
    for (int k = 0; !value_is_error(&out) && k < 9; k++) {
        int s = source[k];
        expr x = s ? value_element(v, (size_t)(s < 0 ? -s : s) - 1) : constant(f, 0.0);
        out.e[k] = s < 0 ? graph_unary(f->g, EXPR_NEG, x) : x;
    }
    out.unit = v->unit;
    return out;
}

static value call_vector(flattener *f, const ast_expr *e, const value *v)
{
    int large = 0;
    for (int k = 0; k < v->rank; k++) large += v->dims[k] > 1;
    if (large > 1 || !value_is_simple(v)) return wants(f, e, v, "at most one dimension above 1");
    value out = raise_rank(f, v, 1);
    if (value_is_error(&out)) return out;
    size_t *dims = flatten_take(f, sizeof *dims);
    if (!dims) return value_error();
    dims[0] = v->count;
    out.rank = 1;
    out.dims = dims;
    return out;
}

static value call_matrix(flattener *f, const ast_expr *e, const value *v)
{
    for (int k = 2; k < v->rank; k++)
        if (v->dims[k] != 1) return wants(f, e, v, "sizes of 1 beyond the second");
    if (!value_is_simple(v)) return wants(f, e, v, "numbers");
    value out = raise_rank(f, v, 2);
    if (!value_is_error(&out)) out.rank = 2;
    return out;
}

/* promote(A, n): A with dimensions of size 1 behind its own, n in all [MLS 10.4.2.1] */
static value call_promote(flattener *f, const ast_expr *e, const value *v)
{
    double n = 0.0;
    if (!integer_value(f, e->args[1], "number of dimensions", &n)) return value_error();
    if (n < (double)v->rank || n > VALUE_MAX_RANK)
        return error_value(f, e->args[1]->place,
                           "promote wants %d to %d dimensions for this array, not %g", v->rank,
                           VALUE_MAX_RANK, n);
    if (!value_is_simple(v)) return wants(f, e, v, "numbers");
    return n == 0.0 ? *v : raise_rank(f, v, (int)n);
}

static value call_scalar(flattener *f, const ast_expr *e, const value *v)
{
    if (v->count != 1 || !value_is_simple(v)) return wants(f, e, v, "an array with one element");
    value out = value_scalar(v->type, value_element(v, 0));
    out.class_ = v->class_;
    out.unit = v->unit;
    return out;
}

static value call_identity(flattener *f, const ast_expr *e, const value *v)
{
    double n = 0.0;
    bool known =
        v->type == VALUE_INTEGER && v->rank == 0 && compile_time_value(f, value_element(v, 0), &n);
    if (!known || n < 0.0 || n > 3000.0) return wants(f, e, v, "a known Integer from 0 to 3000");
    size_t dims[2] = {(size_t)n, (size_t)n};
    value out = value_new(f, VALUE_INTEGER, 2, dims);
    for (size_t k = 0; !value_is_error(&out) && k < out.count; k++)
        out.e[k] = constant(f, k % (dims[0] + 1) == 0 ? 1.0 : 0.0);
    out.unit = UNIT_LITERAL;
    return out;
}

/* ---- two vectors ---- */

static bool two_vectors(flattener *f, const char *name, const ast_expr *e, value *a, value *b)
{
    if (e->arg_count != 2)
        return report_error(f, e->place, "%s wants 2 arguments, found %zu", name, e->arg_count);
    *a = evaluate(f, e->args[0]);
    *b = evaluate(f, e->args[1]);
    if (value_is_error(a) || value_is_error(b)) return false;
    bool cross = strcmp(name, "cross") == 0;
    const value *bad = !value_is_numeric(a) || a->rank != 1 || (cross && a->count != 3)   ? a
                       : !value_is_numeric(b) || b->rank != 1 || (cross && b->count != 3) ? b
                                                                                          : NULL;
    if (!bad) return true;
    return type_error(f, e->args[bad == b]->place, name, bad, cross ? "a vector of 3" : "a vector");
}

static int two_units(flattener *f, const value *a, const value *b)
{
    return a->unit > 0 && b->unit > 0 ? unit_multiply(&f->units, a->unit, b->unit) : UNIT_UNKNOWN;
}

static value call_cross(flattener *f, const ast_expr *e)
{
    value a, b;
    if (!two_vectors(f, "cross", e, &a, &b)) return value_error();
    value out = value_array_of(f, VALUE_REAL, 3);
    for (size_t k = 0; !value_is_error(&out) && k < 3; k++) {
        size_t i = (k + 1) % 3, j = (k + 2) % 3;
        expr plus = graph_binary(f->g, EXPR_MUL, value_element(&a, i), value_element(&b, j));
        expr minus = graph_binary(f->g, EXPR_MUL, value_element(&a, j), value_element(&b, i));
        out.e[k] = graph_binary(f->g, EXPR_SUB, plus, minus);
    }
    out.unit = two_units(f, &a, &b);
    return out;
}

static value call_outer(flattener *f, const ast_expr *e)
{
    value a, b;
    if (!two_vectors(f, "outerProduct", e, &a, &b)) return value_error();
    size_t dims[2] = {a.count, b.count};
    value out = value_new(f, VALUE_REAL, 2, dims);
    for (size_t k = 0; !value_is_error(&out) && k < out.count; k++)
        out.e[k] = graph_binary(f->g, EXPR_MUL, value_element(&a, k / b.count),
                                value_element(&b, k % b.count));
    out.unit = two_units(f, &a, &b);
    return out;
}

/* ---- filled arrays ---- */

/* Sizes from arguments `from` on. */
static bool read_sizes(flattener *f, const ast_expr *e, size_t from, int *rank, size_t *dims)
{
    *rank = 0;
    for (size_t k = from; k < e->arg_count; k++) {
        double n = 0.0;
        if (!integer_value(f, e->args[k], "array size", &n)) return false;
        if (n < 0.0 || n > f->limits.elements || *rank == VALUE_MAX_RANK)
            return report_error(f, e->args[k]->place, "array size %.0f is not possible here", n);
        dims[(*rank)++] = (size_t)n;
    }
    if (*rank > 0) return true;
    return report_error(f, e->place, "%s wants sizes", e->parts[0].name);
}

static value too_large(flattener *f, source_place place)
{
    return error_value(f, place, "this array is too large: at most %d elements",
                       f->limits.elements);
}

static value call_filled(flattener *f, const char *name, const ast_expr *e)
{
    size_t dims[VALUE_MAX_RANK];
    int rank = 0;
    bool fill = strcmp(name, "fill") == 0;
    value x = fill ? evaluate(f, e->arg_count ? e->args[0] : NULL)
                   : value_constant(f, VALUE_INTEGER, strcmp(name, "ones") == 0 ? 1.0 : 0.0);
    if (!fill) x.unit = UNIT_LITERAL;
    if (!read_sizes(f, e, fill ? 1 : 0, &rank, dims) || value_is_error(&x)) return value_error();
    double total = (double)x.count;
    for (int k = 0; k < rank; k++) total *= (double)dims[k];
    if (total > f->limits.elements || rank + x.rank > VALUE_MAX_RANK) return too_large(f, e->place);
    for (int k = 0; k < x.rank; k++) dims[rank++] = x.dims[k];
    return broadcast_value(f, &x, rank, dims);
}

static value call_linspace(flattener *f, const ast_expr *e)
{
    double n = 0.0;
    if (e->arg_count != 3)
        return error_value(f, e->place, "linspace wants 3 arguments, found %zu", e->arg_count);
    value a = evaluate(f, e->args[0]), b = evaluate(f, e->args[1]);
    if (!integer_value(f, e->args[2], "number of points", &n) || value_is_error(&a) ||
        value_is_error(&b))
        return value_error();
    if (n < 2.0 || n > f->limits.elements || a.rank || b.rank || !value_is_numeric(&a) ||
        !value_is_numeric(&b))
        return error_value(f, e->place, "linspace wants two numbers and at least 2 points");
    value out = value_array_of(f, VALUE_REAL, (size_t)n);
    expr x = value_element(&a, 0);
    expr width = graph_binary(f->g, EXPR_SUB, value_element(&b, 0), x);
    for (size_t k = 0; !value_is_error(&out) && k < out.count; k++) {
        expr part = graph_binary(f->g, EXPR_MUL, width, constant(f, (double)k));
        part = graph_binary(f->g, EXPR_DIV, part, constant(f, n - 1.0));
        out.e[k] = graph_binary(f->g, EXPR_ADD, x, part);
    }
    out.unit = unit_join(a.unit, b.unit);
    return out;
}

static value call_cat(flattener *f, const ast_expr *e)
{
    double d = 0.0;
    if (e->arg_count < 2) return error_value(f, e->place, "cat wants a dimension and arrays");
    if (!integer_value(f, e->args[0], "dimension", &d)) return value_error();
    value *parts = flatten_take(f, e->arg_count * sizeof *parts);
    if (!parts) return value_error();
    for (size_t k = 1; k < e->arg_count; k++) parts[k - 1] = evaluate(f, e->args[k]);
    for (size_t k = 1; k < e->arg_count; k++)
        if (value_is_error(&parts[k - 1])) return value_error();
    if (d < 1.0 || d > (double)parts[0].rank)
        return error_value(f, e->args[0]->place, "dimension %g of an array with %d", d,
                           parts[0].rank);
    return concatenate(f, (size_t)d, parts, e->arg_count - 1, e->place);
}

static value call_array(flattener *f, const ast_expr *e)
{
    value *parts = flatten_take(f, (e->arg_count + 1) * sizeof *parts);
    if (!parts) return value_error();
    for (size_t k = 0; k < e->arg_count; k++) parts[k] = evaluate(f, e->args[k]);
    return stack_values(f, parts, e->arg_count, e->place);
}

/* ---- dispatch ---- */

static const struct {
    const char *name;
    array_rule rule;
    size_t least, most;
} one_array[] = {{"size", call_size, 1, 2},           {"ndims", call_ndims, 1, 1},
                 {"transpose", call_transpose, 1, 1}, {"symmetric", call_symmetric, 1, 1},
                 {"diagonal", call_diagonal, 1, 1},   {"skew", call_skew, 1, 1},
                 {"vector", call_vector, 1, 1},       {"matrix", call_matrix, 1, 1},
                 {"scalar", call_scalar, 1, 1},       {"identity", call_identity, 1, 1},
                 {"promote", call_promote, 2, 2}};

static value call_one_array(flattener *f, size_t k, const ast_expr *e)
{
    if (e->arg_count < one_array[k].least || e->arg_count > one_array[k].most)
        return error_value(f, e->place, "%s wants %zu argument%s, found %zu", one_array[k].name,
                           one_array[k].least, one_array[k].least == 1 ? "" : "s", e->arg_count);
    bool shape_only = f->scope.shape_only;
    f->scope.shape_only = one_array[k].rule == call_size || one_array[k].rule == call_ndims;
    value v = evaluate(f, e->args[0]);
    f->scope.shape_only = shape_only;
    return value_is_error(&v) ? v : one_array[k].rule(f, e, &v);
}

value array_function(flattener *f, const char *name, const ast_expr *e)
{
    for (size_t k = 0; k < sizeof one_array / sizeof *one_array; k++)
        if (strcmp(one_array[k].name, name) == 0) return call_one_array(f, k, e);
    if (find_reduction(name)) return call_reduction(f, name, e);
    if (strcmp(name, "cross") == 0) return call_cross(f, e);
    if (strcmp(name, "outerProduct") == 0) return call_outer(f, e);
    if (strcmp(name, "linspace") == 0) return call_linspace(f, e);
    if (strcmp(name, "cat") == 0) return call_cat(f, e);
    if (strcmp(name, "array") == 0) return call_array(f, e);
    return call_filled(f, name, e); /* zeros, ones, fill */
}
