/* Operators: arithmetic of scalars with the sizes of their terms and the errors of their operands,
 * arrays elementwise and by the rules of linear algebra (Modelica specification 3.6, 10.6), and
 * relations. */
#include <string.h>

#include "judge/judge_parts.h"

enum { MOST_LENGTH = 65536 };

/* ---- scalars ---- */

cell judge_add(cell a, cell b, double sign)
{
    return (cell){.v = a.v + sign * b.v, .size = a.size + b.size, .spread = a.spread + b.spread};
}

/* Magnitudes of the terms of a and b multiply, so that a product of sums is as large as the sum of
 * its products. */
cell judge_multiply(cell a, cell b)
{
    double x = fabs(a.v), y = fabs(b.v);
    return (cell){.v = a.v * b.v,
                  .size = x * b.size + y * a.size - x * y,
                  .spread = x * b.spread + y * a.spread + a.spread * b.spread};
}

cell judge_divide(machine *m, cell a, cell b, int line)
{
    if (b.v == 0.0) return (cell){.v = judge_undefined(m, line, "division by zero")};
    double y = fabs(b.v), q = a.v / b.v;
    return (cell){.v = q,
                  .size = (a.size + fabs(q) * b.size) / y - fabs(q),
                  .spread = (a.spread + fabs(q) * b.spread) / y};
}

cell judge_power(machine *m, cell a, cell b, int line)
{
    if (a.v < 0.0 && b.v != floor(b.v))
        return (cell){.v = judge_undefined(m, line, "a power of a negative number")};
    if (a.v == 0.0 && b.v < 0.0)
        return (cell){.v = judge_undefined(m, line, "a negative power of zero")};
    double v = pow(a.v, b.v), size = fabs(v), spread = 0.0;
    double slope = b.v == 0.0 ? 0.0 : fabs(b.v * pow(a.v, b.v - 1.0));
    if (!isfinite(slope)) slope = a.spread > 0.0 ? pow(a.spread, b.v) / a.spread : 0.0;
    double rate = a.v != 0.0 ? fabs(v * log(fabs(a.v))) : 0.0;
    spread = slope * a.spread + rate * b.spread;
    if (a.v == 0.0 && b.v >= 1.0) spread += pow(a.spread, b.v);
    size = fmax(size, slope * a.size) + rate * fabs(b.v);
    return (cell){.v = v, .size = size, .spread = spread};
}

static cell arithmetic(machine *m, ast_op op, cell a, cell b, int line)
{
    switch (op) {
    case OP_ADD:
    case OP_EADD: return judge_add(a, b, 1.0);
    case OP_SUB:
    case OP_ESUB: return judge_add(a, b, -1.0);
    case OP_MUL:
    case OP_EMUL: return judge_multiply(a, b);
    case OP_DIV:
    case OP_EDIV: return judge_divide(m, a, b, line);
    default: return judge_power(m, a, b, line);
    }
}

/* Type of a result: Integers stay Integers under + - and *. */
static const jtype *arithmetic_type(ast_op op, const value *a, const value *b)
{
    bool whole = a->type->base == BASE_INTEGER && b->type->base == BASE_INTEGER;
    if (op == OP_DIV || op == OP_EDIV || op == OP_POW || op == OP_EPOW) whole = false;
    return whole ? &judge_integer : &judge_real;
}

static cell checked(machine *m, const jtype *type, cell c, int line)
{
    if (type->base == BASE_INTEGER && fabs(c.v) > 9007199254740992.0)
        judge_fail(m, line, "an Integer beyond 2^53");
    return c;
}

/* ---- arrays ---- */

static value elementwise(machine *m, ast_op op, const value *a, const value *b, int line)
{
    bool sa = a->shape.ndims == 0, sb = b->shape.ndims == 0;
    if (!sa && !sb && !judge_same_shape(&a->shape, &b->shape))
        judge_fail(m, line, "operands of different sizes");
    const jtype *type = arithmetic_type(op, a, b);
    value v = judge_make(m, type, sa ? &b->shape : &a->shape);
    int count = judge_cells(&v);
    for (int k = 0; k < count; k++)
        v.cells[k] = checked(
            m, type, arithmetic(m, op, a->cells[sa ? 0 : k], b->cells[sb ? 0 : k], line), line);
    return v;
}

/* Product of vectors and matrices: rows by columns. */
static value matrix_product(machine *m, const value *a, const value *b, int line)
{
    int na = a->shape.ndims, nb = b->shape.ndims;
    if (na > 2 || nb > 2 || a->shape.dims[na - 1] != b->shape.dims[0])
        judge_fail(m, line, "a product of different sizes");
    int inner = b->shape.dims[0], rows = na == 2 ? a->shape.dims[0] : 1,
        columns = nb == 2 ? b->shape.dims[1] : 1;
    shape s = {0};
    if (na == 2) s.dims[s.ndims++] = rows;
    if (nb == 2) s.dims[s.ndims++] = columns;
    value v = judge_make(m, arithmetic_type(OP_MUL, a, b), &s);
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < columns; c++) {
            cell sum = {0};
            for (int k = 0; k < inner; k++)
                sum = judge_add(
                    sum, judge_multiply(a->cells[r * inner + k], b->cells[k * columns + c]), 1.0);
            v.cells[r * columns + c] = sum;
        }
    return v;
}

static value unit_matrix(machine *m, int n)
{
    value v = judge_make(m, &judge_real, &(shape){2, {n, n}});
    for (int k = 0; k < n * n; k++) {
        double x = k % (n + 1) == 0 ? 1.0 : 0.0;
        v.cells[k] = (cell){.v = x, .size = x};
    }
    return v;
}

static value matrix_power(machine *m, const value *a, const value *b, int line)
{
    double n = judge_number(m, b, line);
    if (a->shape.ndims != 2 || a->shape.dims[0] != a->shape.dims[1] || n < 0.0 || n > 1000.0)
        judge_fail(m, line, "a power of an array is that of a square matrix");
    value v = unit_matrix(m, a->shape.dims[0]);
    for (int k = 0; k < (int)n; k++) v = matrix_product(m, &v, a, line);
    return v;
}

/* ---- texts, records ---- */

static value join(machine *m, const value *a, const value *b, int line)
{
    const char *first = judge_string_of(m, a, line), *second = judge_string_of(m, b, line);
    size_t la = strlen(first), lb = strlen(second);
    if (la + lb > MOST_LENGTH) judge_fail(m, 0, "a String longer than %d", MOST_LENGTH);
    char *text = judge_stack_take(m, &m->scratch, la + lb + 1);
    memcpy(text, first, la);
    memcpy(text + la, second, lb + 1);
    value v = judge_make(m, &judge_string, &(shape){0});
    *v.cells = (cell){.text = text};
    return v;
}

static value add_records(machine *m, ast_op op, const value *a, const value *b, int line)
{
    if (a->type->cells != b->type->cells || a->shape.ndims || b->shape.ndims)
        judge_fail(m, line, "a sum of different records");
    value v = judge_make(m, a->type, &a->shape);
    for (int k = 0; k < a->type->cells; k++)
        v.cells[k] = judge_add(a->cells[k], b->cells[k], op == OP_ADD ? 1.0 : -1.0);
    return v;
}

static value arithmetic_values(machine *m, ast_op op, const value *a, const value *b, int line)
{
    int na = a->shape.ndims, nb = b->shape.ndims;
    if ((op == OP_ADD || op == OP_SUB) && (na == 0) != (nb == 0))
        judge_fail(m, line, "a sum of a scalar and an array");
    if (op == OP_MUL && na && nb) return matrix_product(m, a, b, line);
    if (op == OP_DIV && nb) judge_fail(m, line, "a division by an array");
    if (op == OP_POW && na) return matrix_power(m, a, b, line);
    if (op == OP_POW && nb) judge_fail(m, line, "an array as an exponent");
    return elementwise(m, op, a, b, line);
}

/* ---- relations ---- */

static bool relation_holds(ast_op op, double difference)
{
    switch (op) {
    case OP_LT: return difference < 0.0;
    case OP_LE: return difference <= 0.0;
    case OP_GT: return difference > 0.0;
    case OP_GE: return difference >= 0.0;
    case OP_EQ: return difference == 0.0;
    default: return difference != 0.0;
    }
}

static double relation_value(machine *m, ast_op op, const value *a, const value *b, const node *n)
{
    if (a->shape.ndims || b->shape.ndims) judge_fail(m, n->line, "a relation of arrays");
    if (a->type->base == BASE_STRING && b->type->base == BASE_STRING)
        return relation_holds(
            op, strcmp(judge_string_of(m, a, n->line), judge_string_of(m, b, n->line)));
    double left = judge_number(m, a, n->line), right = judge_number(m, b, n->line);
    double difference = left > right ? 1.0 : left < right ? -1.0 : left == right ? 0.0 : NAN;
    bool holds = relation_holds(op, difference);
    if (isnan(difference)) holds = false;
    bool discrete = a->type->base != BASE_REAL && b->type->base != BASE_REAL;
    return judge_switch_value(m, n, JUDGE_RELATION, holds, !holds, left - right,
                              a->cells->spread + b->cells->spread, discrete);
}

static value logic(machine *m, ast_op op, const value *a, const value *b, int line)
{
    if (a->type->base != BASE_BOOLEAN || b->type->base != BASE_BOOLEAN)
        judge_fail(m, line, "'and' and 'or' are for Booleans");
    bool sa = a->shape.ndims == 0, sb = b->shape.ndims == 0;
    if (!sa && !sb && !judge_same_shape(&a->shape, &b->shape))
        judge_fail(m, line, "operands of different sizes");
    value v = judge_make(m, &judge_boolean, sa ? &b->shape : &a->shape);
    int count = judge_cells(&v);
    for (int k = 0; k < count; k++) {
        bool x = a->cells[sa ? 0 : k].v != 0.0, y = b->cells[sb ? 0 : k].v != 0.0;
        bool z = op == OP_AND ? x && y : x || y;
        v.cells[k] = (cell){.v = z, .size = z};
    }
    return v;
}

value judge_binary(machine *m, ast_op op, const value *a, const value *b, const node *n)
{
    if (op == OP_AND || op == OP_OR) return logic(m, op, a, b, n->line);
    if (op >= OP_LT && op <= OP_NE)
        return judge_scalar(m, &judge_boolean, relation_value(m, op, a, b, n));
    if (op == OP_ADD && a->type->base == BASE_STRING && b->type->base == BASE_STRING &&
        !a->shape.ndims && !b->shape.ndims)
        return join(m, a, b, n->line);
    if ((op == OP_ADD || op == OP_SUB) && a->type->base == BASE_RECORD &&
        b->type->base == BASE_RECORD)
        return add_records(m, op, a, b, n->line);
    if (!judge_numeric(a) || !judge_numeric(b))
        judge_fail(m, n->line, "arithmetic of what is not a number");
    if (a->shape.ndims == 0 && b->shape.ndims == 0) {
        value v = judge_make(m, arithmetic_type(op, a, b), &(shape){0});
        *v.cells = checked(m, v.type, arithmetic(m, op, *a->cells, *b->cells, n->line), n->line);
        return v;
    }
    return arithmetic_values(m, op, a, b, n->line);
}

value judge_unary(machine *m, ast_op op, const value *a, int line)
{
    bool no = op == OP_NOT;
    if (no ? a->type->base != BASE_BOOLEAN : !judge_numeric(a) && a->type->base != BASE_RECORD)
        judge_fail(m, line, "an operator of another type");
    value v = judge_make(m, a->type, &a->shape);
    int count = judge_cells(&v);
    for (int k = 0; k < count; k++) {
        v.cells[k] = a->cells[k];
        v.cells[k].index = 0;
        if (no) v.cells[k].v = v.cells[k].size = a->cells[k].v == 0.0;
        if (op == OP_MINUS || op == OP_ESUB) v.cells[k].v = -a->cells[k].v;
    }
    return v;
}

/* start : step : stop. Its length is the largest number of steps that do not pass the end. */
value judge_range(machine *m, const value *start, const value *step_, const value *stop, int line)
{
    double from = judge_number(m, start, line), to = judge_number(m, stop, line);
    double by = step_ ? judge_number(m, step_, line) : 1.0;
    if (by == 0.0) judge_fail(m, line, "a range with a step of zero");
    bool real = start->type->base == BASE_REAL || stop->type->base == BASE_REAL ||
                (step_ && step_->type->base == BASE_REAL);
    double steps = (to - from) / by;
    if (real) steps += 8.0 * 2.3e-16 * fmax(1.0, fabs(steps)); /* 0:0.1:1 reaches its end */
    int count = steps >= 0.0 && steps < 1e8 ? (int)floor(steps) + 1 : 0;
    if (steps >= 1e8) judge_fail(m, line, "a range that is too long");
    value v = judge_make(m, real ? &judge_real : start->type, &(shape){1, {count}});
    for (int k = 0; k < count; k++) {
        double x = from + k * by;
        v.cells[k] = (cell){.v = x, .size = fabs(x)};
    }
    return v;
}
