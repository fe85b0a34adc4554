/* Expressions: operators on scalars, arrays and records; if; ranges. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "modelica/flatten_internal.h"

/* ---- messages ---- */

void type_error(flattener *f, source_place place, const char *what, const value *v,
                const char *expected)
{
    char text[128];
    value_describe(v, text, sizeof text);
    report_error(f, place, "%s: expected %s, found %s", what, expected, text);
}

static bool comes_before(source_place a, source_place b)
{
    return a.line != b.line ? a.line < b.line : a.column < b.column;
}

/* Whether a warning was given for this place; from now on it was. The places are kept in order:
 * a text is mostly read in it, so that most new ones go to the end. */
static bool unit_reported(flattener *f, source_place place)
{
    size_t low = 0, high = f->unit_report_count;
    if (high > 0 && comes_before(f->unit_reports[high - 1], place)) low = high;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (comes_before(f->unit_reports[middle], place))
            low = middle + 1;
        else
            high = middle;
    }
    if (low < f->unit_report_count && !comes_before(place, f->unit_reports[low])) return true;
    if (!flatten_grow(f, &f->unit_reports, &f->unit_report_capacity, f->unit_report_count + 1,
                      sizeof *f->unit_reports))
        return false;
    memmove(f->unit_reports + low + 1, f->unit_reports + low,
            (f->unit_report_count - low) * sizeof *f->unit_reports);
    f->unit_reports[low] = place;
    f->unit_report_count++;
    return false;
}

/* sin(time) and x + exp(-time) are common in examples, and other tools do not object: seconds may
 * stand for a pure number. */
static bool is_bare_time(flattener *f, int a, int b)
{
    int second = unit_number(&f->units, "s");
    return (a == second && b > 0 && unit_is_number(&f->units, b)) ||
           (b == second && a > 0 && unit_is_number(&f->units, a));
}

/* Warn, once per place, if values of these units are added, compared or equated. */
void check_units(flattener *f, source_place place, int a, int b, const char *what)
{
    if (f->in_function || unit_agree(&f->units, a, b) || is_bare_time(f, a, b)) return;
    if (unit_reported(f, place)) return;
    report_warning(f, place, "units differ in this %s: \"%s\" and \"%s\"", what,
                   unit_text(&f->units, a), unit_text(&f->units, b));
}

/* ---- conversion ---- */

/* Whether a value may stand where `to` is wanted: Integer also for Real. */
bool fits_type(const value *from, value_type to, const ast_class *class_)
{
    if (from->type == VALUE_INTEGER && to == VALUE_REAL) return true;
    if (from->type != to) return false;
    return (to != VALUE_ENUMERATION && to != VALUE_RECORD) || from->class_ == class_ || !class_;
}

value convert_value(flattener *f, const value *v, const value *like)
{
    value out = *v;
    (void)f;
    if (v->type == VALUE_INTEGER && like->type == VALUE_REAL) out.type = VALUE_REAL;
    return out;
}

static value broadcast_record(flattener *f, const value *v, int rank, const size_t *dims)
{
    value out = *v;
    size_t *copy = flatten_take(f, VALUE_MAX_RANK * sizeof *copy);
    out.fields = flatten_take(f, v->field_count * sizeof *out.fields);
    if (!copy || !out.fields) return value_error();
    memcpy(copy, dims, (size_t)rank * sizeof *copy);
    out.dims = copy;
    out.rank = rank;
    out.count = 1;
    for (int k = 0; k < rank; k++) out.count *= dims[k];
    for (size_t k = 0; k < v->field_count; k++) {
        size_t own[VALUE_MAX_RANK];
        int extra = v->fields[k].rank - v->rank;
        if (value_is_error(&v->fields[k]) || rank + extra > VALUE_MAX_RANK) return value_error();
        memcpy(own, dims, (size_t)rank * sizeof *own);
        for (int d = 0; d < extra; d++) own[rank + d] = v->fields[k].dims[v->rank + d];
        out.fields[k] = broadcast_value(f, &v->fields[k], rank + extra, own);
        if (value_is_error(&out.fields[k])) return value_error();
    }
    return out;
}

/* v repeated along leading dimensions until it has these sizes; an error value (silent) if its own
 * sizes are not the last ones of them. */
value broadcast_value(flattener *f, const value *v, int rank, const size_t *dims)
{
    if (value_is_error(v) || v->rank > rank) return value_error();
    for (int k = 0; k < v->rank; k++)
        if (v->dims[k] != dims[rank - v->rank + k]) return value_error();
    if (v->rank == rank) return *v;
    if (v->type == VALUE_RECORD) return broadcast_record(f, v, rank, dims);
    value out = value_new(f, v->type, rank, dims);
    if (value_is_error(&out)) return out;
    out.class_ = v->class_;
    out.unit = v->unit;
    for (size_t k = 0; k < out.count; k++) out.e[k] = value_element(v, k % v->count);
    return out;
}

/* ---- elementwise operations ---- */

/* What changing an element does to a scalar operator: the node for a op b. */
static expr scalar_operation(flattener *f, ast_op op, expr a, expr b)
{
    static const uint8_t nodes[] = {
        [OP_ADD] = EXPR_ADD,  [OP_SUB] = EXPR_SUB,  [OP_MUL] = EXPR_MUL,  [OP_DIV] = EXPR_DIV,
        [OP_POW] = EXPR_POW,  [OP_EADD] = EXPR_ADD, [OP_ESUB] = EXPR_SUB, [OP_EMUL] = EXPR_MUL,
        [OP_EDIV] = EXPR_DIV, [OP_EPOW] = EXPR_POW, [OP_EQ] = EXPR_EQ,    [OP_NE] = EXPR_NE,
        [OP_AND] = EXPR_AND,  [OP_OR] = EXPR_OR,    [OP_LT] = EXPR_LT,    [OP_LE] = EXPR_LE};
    if (op == OP_GT) return graph_binary(f->g, EXPR_LT, b, a);
    if (op == OP_GE) return graph_binary(f->g, EXPR_LE, b, a);
    return graph_binary(f->g, (expr_op)nodes[op], a, b);
}

/* Whether an unfolded node is a function of constants alone: folding leaves only those that are no
 * finite number. */
static bool is_undefined(flattener *f, expr e)
{
    if (e == EXPR_NONE || e & STRING_BIT) return false;
    const expr_node *n = graph_node(f->g, e);
    int arity = graph_arity((expr_op)n->op);
    if (arity == 0 || arity > 2 || n->op >= EXPR_OP_COUNT) return false;
    return graph_is_constant(f->g, n->a, NULL) &&
           (arity == 1 || graph_is_constant(f->g, n->b, NULL));
}

/* Report a result that is no number whatever the run does; what is in a branch fails there. */
static bool has_finite_value(flattener *f, expr e, source_place place)
{
    if (f->guard != EXPR_NONE || f->branch || !is_undefined(f, e)) return true;
    double x = graph_value(f->g, e, NULL, NULL);
    report_error(f, place,
                 isnan(x) ? "this is not a number: its operands are outside the domain"
                          : "this is infinite or too large for a number");
    return false;
}

/* Integers are held in doubles: beyond 2^53 neighbours cannot be told apart. */
static const double largest_integer = 9007199254740992.0;

static bool fits_integer(flattener *f, expr e, bool may_grow, source_place place)
{
    double x = 0.0;
    bool fixed = !(node_depends(f, e) & (DEPENDS_CONTINUOUS | DEPENDS_MEMORY));
    if (fixed && may_grow) x = fixed_value(f, e);
    if (graph_is_constant(f->g, e, &x) || fixed) {
        if (!(fabs(x) > largest_integer)) return true;
        report_error(f, place, "Integer overflow: %g is beyond 2^53", x);
        return false;
    }
    if (!may_grow || e == EXPR_NONE) return true;
    expr size = graph_unary(f->g, EXPR_ABS, e), most = constant(f, largest_integer);
    push_check(f, graph_binary(f->g, EXPR_LE, size, most),
               "Integer overflow: {value} is beyond 2^53", &e, FLAT_REAL, place);
    return true;
}

bool check_numbers(flattener *f, const value *v, bool may_grow, source_place place)
{
    if (value_is_error(v) || !value_is_numeric(v)) return false;
    for (size_t k = 0; k < v->count; k++) {
        expr e = value_element(v, k);
        if (!has_finite_value(f, e, place)) return false;
        if (v->type == VALUE_INTEGER && !fits_integer(f, e, may_grow, place)) return false;
    }
    return true;
}

/* a op b per element; a scalar meets every element of the other. */
value elementwise(flattener *f, ast_op op, const value *a, const value *b, value_type type)
{
    const value *shape = a->rank ? a : b;
    if (shape->rank == 0) {
        return value_scalar(type,
                            scalar_operation(f, op, value_element(a, 0), value_element(b, 0)));
    }
    value out = value_new(f, type, shape->rank, shape->dims);
    if (value_is_error(&out)) return out;
    for (size_t k = 0; k < out.count; k++)
        out.e[k] = scalar_operation(f, op, value_element(a, a->rank ? k : 0),
                                    value_element(b, b->rank ? k : 0));
    return out;
}

/* Strings have no nodes in the graph: both must be the same. */
static value select_strings(flattener *f, const value *a, const value *b)
{
    for (size_t k = 0; k < a->count; k++) {
        if (value_element(a, k) == value_element(b, k)) continue;
        report_error(f, f->at, "a String cannot depend on a condition of the run");
        return value_error();
    }
    return *a;
}

value select_values(flattener *f, expr condition, const value *a, const value *b)
{
    if (value_is_error(a) || value_is_error(b)) return value_error();
    if (a->type == VALUE_STRING) return select_strings(f, a, b);
    value out = *a;
    if (a->type == VALUE_INTEGER && b->type == VALUE_REAL) out.type = VALUE_REAL;
    out.unit = unit_join(a->unit, b->unit);
    if (a->type == VALUE_RECORD) {
        out.fields = flatten_take(f, a->field_count * sizeof *out.fields);
        if (!out.fields) return value_error();
        for (size_t k = 0; k < a->field_count; k++)
            out.fields[k] = select_values(f, condition, &a->fields[k], &b->fields[k]);
        for (size_t k = 0; k < a->field_count; k++)
            if (value_is_error(&out.fields[k])) return value_error();
        return out;
    }
    if (a->rank == 0) {
        out.e = NULL;
        out.scalar = graph_select(f->g, condition, value_element(a, 0), value_element(b, 0));
        return out;
    }
    out.e = flatten_take(f, a->count * sizeof *out.e);
    if (!out.e) return value_error();
    for (size_t k = 0; k < a->count; k++)
        out.e[k] = graph_select(f->g, condition, value_element(a, k), value_element(b, k));
    return out;
}

/* ---- products ---- */

static expr dot(flattener *f, const expr *a, size_t sa, const expr *b, size_t sb, size_t n)
{
    expr sum = EXPR_NONE;
    for (size_t k = 0; k < n; k++) {
        expr term = graph_binary(f->g, EXPR_MUL, a[k * sa], b[k * sb]);
        sum = k ? graph_binary(f->g, EXPR_ADD, sum, term) : term;
    }
    return n ? sum : constant(f, 0.0);
}

/* Vector and matrix products: inner sizes must agree. [MLS "Matrix and Vector Multiplication"] */
value product_of(flattener *f, const value *a, const value *b, source_place place)
{
    value_type type = a->type == VALUE_REAL || b->type == VALUE_REAL ? VALUE_REAL : VALUE_INTEGER;
    if (a->rank == 0 || b->rank == 0) return elementwise(f, OP_MUL, a, b, type);
    size_t inner = a->dims[a->rank - 1];
    if (a->rank > 2 || b->rank > 2 || inner != b->dims[0]) {
        char left[128], right[128];
        value_shape_text(a->rank, a->dims, left, sizeof left);
        value_shape_text(b->rank, b->dims, right, sizeof right);
        report_error(f, place, "sizes %s and %s cannot be multiplied", left, right);
        return value_error();
    }
    size_t rows = a->rank == 2 ? a->dims[0] : 1, columns = b->rank == 2 ? b->dims[1] : 1;
    const expr *ae = value_elements(a), *be = value_elements(b);
    size_t dims[2];
    int rank = 0;
    if (a->rank == 2) dims[rank++] = rows;
    if (b->rank == 2) dims[rank++] = columns;
    if (!flatten_work(f, (double)rows * (double)columns * (double)inner)) return value_error();
    if (rank == 0) return value_scalar(type, dot(f, ae, 1, be, 1, inner));
    value out = value_new(f, type, rank, dims);
    for (size_t i = 0; !value_is_error(&out) && i < rows; i++)
        for (size_t j = 0; j < columns; j++)
            out.e[i * columns + j] = dot(f, ae + i * inner, 1, be + j, columns, inner);
    return out;
}

static value identity_like(flattener *f, const value *a)
{
    value out = value_new(f, a->type, a->rank, a->dims);
    for (size_t k = 0; !value_is_error(&out) && k < out.count; k++)
        out.e[k] = constant(f, k % (a->dims[0] + 1) == 0 ? 1.0 : 0.0);
    return out;
}

/* Matrix^n for an integer n >= 0, by repeated squaring. */
static value matrix_power(flattener *f, const value *a, const value *b, source_place place)
{
    double n = -1.0;
    bool square = a->rank == 2 && a->dims[0] == a->dims[1];
    bool known =
        b->rank == 0 && b->type == VALUE_INTEGER && compile_time_value(f, value_element(b, 0), &n);
    if (!square || !known || n < 0.0 || n > 1000.0) {
        report_error(f, place,
                     "'^' wants scalars, or a square matrix and a known Integer exponent from 0 "
                     "to 1000; '.^' works on elements");
        return value_error();
    }
    value out = identity_like(f, a), power = *a;
    for (unsigned long k = (unsigned long)n; k && !value_is_error(&out); k >>= 1) {
        if (k & 1) out = product_of(f, &out, &power, place);
        if (k > 1) power = product_of(f, &power, &power, place);
        if (value_is_error(&power)) return power;
    }
    return out;
}

/* ---- binary operators ---- */

static const char *op_text(ast_op op)
{
    static const char *const names[] = {
        "+",  "-", "*",  "/",  "^",  ".+",  ".-", ".*",  "./", ".^", "<",
        "<=", ">", ">=", "==", "<>", "and", "or", "not", "+",  "-"};
    return names[op];
}

static value operand_error(flattener *f, ast_op op, const value *a, const value *b,
                           source_place place)
{
    char left[128], right[128];
    value_describe(a, left, sizeof left);
    value_describe(b, right, sizeof right);
    report_error(f, place, "'%s' does not work on %s and %s", op_text(op), left, right);
    return value_error();
}

static value shape_error(flattener *f, ast_op op, const value *a, const value *b,
                         source_place place)
{
    char left[128], right[128];
    value_shape_text(a->rank, a->dims, left, sizeof left);
    value_shape_text(b->rank, b->dims, right, sizeof right);
    bool dotted = (op == OP_ADD || op == OP_SUB) && (!a->rank || !b->rank);
    report_error(f, place, "'%s' wants equal sizes, found %s and %s%s%s%s", op_text(op),
                 a->rank ? left : "a scalar", b->rank ? right : "a scalar", dotted ? "; '." : "",
                 dotted ? op_text(op) : "", dotted ? "' works on every element" : "");
    return value_error();
}

/* Literals that count as pure numbers in a product; others may stand for a quantity. */
static bool is_pure_number(flattener *f, const value *v)
{
    double x = 0.0;
    return v->unit == UNIT_LITERAL && graph_is_constant(f->g, value_element(v, 0), &x) &&
           (fabs(x) == 1.0 || fabs(x) == 2.0 || fabs(x) == 0.5);
}

static int product_unit(flattener *f, const value *a, const value *b, bool divide)
{
    if (a->unit == UNIT_LITERAL && b->unit == UNIT_LITERAL) return UNIT_LITERAL;
    int left = is_pure_number(f, a) ? UNIT_ONE : a->unit;
    int right = is_pure_number(f, b) ? UNIT_ONE : b->unit;
    if (left <= 0 || right <= 0) return UNIT_UNKNOWN;
    return divide ? unit_divide(&f->units, left, right) : unit_multiply(&f->units, left, right);
}

static int power_unit(flattener *f, const value *a, const value *b)
{
    double n = 0.0;
    if (a->unit == UNIT_LITERAL) return b->unit == UNIT_LITERAL ? UNIT_LITERAL : UNIT_UNKNOWN;
    if (a->unit <= 0 || b->rank || !graph_is_constant(f->g, value_element(b, 0), &n))
        return UNIT_UNKNOWN;
    return unit_power(&f->units, a->unit, n);
}

static bool is_elementwise(ast_op op)
{
    return op >= OP_EADD && op <= OP_EPOW;
}

static value add_values(flattener *f, ast_op op, const value *a, const value *b, source_place place)
{
    value_type type = a->type == VALUE_REAL || b->type == VALUE_REAL ? VALUE_REAL : VALUE_INTEGER;
    if (!value_same_shape(a, b) && !(is_elementwise(op) && (!a->rank || !b->rank)))
        return shape_error(f, op, a, b, place);
    check_units(f, place, a->unit, b->unit, op == OP_SUB || op == OP_ESUB ? "difference" : "sum");
    value out = elementwise(f, op, a, b, type);
    out.unit = unit_agree(&f->units, a->unit, b->unit) ? unit_join(a->unit, b->unit) : UNIT_UNKNOWN;
    return out;
}

static value multiply_values(flattener *f, ast_op op, const value *a, const value *b,
                             source_place place)
{
    value_type type = a->type == VALUE_REAL || b->type == VALUE_REAL ? VALUE_REAL : VALUE_INTEGER;
    value out;
    if (op == OP_MUL) {
        out = product_of(f, a, b, place);
    } else {
        if (a->rank && b->rank && !value_same_shape(a, b)) return shape_error(f, op, a, b, place);
        out = elementwise(f, op, a, b, type);
    }
    out.unit = product_unit(f, a, b, false);
    return out;
}

static value divide_values(flattener *f, ast_op op, const value *a, const value *b,
                           source_place place)
{
    double zero = 1.0;
    if (op == OP_DIV && b->rank) {
        report_error(f, place, "'/' wants a scalar on its right; './' divides elements");
        return value_error();
    }
    if (a->rank && b->rank && !value_same_shape(a, b)) return shape_error(f, op, a, b, place);
    if (b->rank == 0 && b->unit == UNIT_LITERAL &&
        graph_is_constant(f->g, value_element(b, 0), &zero) && zero == 0.0) {
        report_error(f, place, "division by zero");
        return value_error();
    }
    value out = elementwise(f, op, a, b, VALUE_REAL);
    out.unit = product_unit(f, a, b, true);
    return out;
}

static value power_values(flattener *f, ast_op op, const value *a, const value *b,
                          source_place place)
{
    if (op == OP_POW && (a->rank || b->rank)) return matrix_power(f, a, b, place);
    if (a->rank && b->rank && !value_same_shape(a, b)) return shape_error(f, op, a, b, place);
    value out = elementwise(f, op, a, b, VALUE_REAL);
    out.unit = power_unit(f, a, b);
    return out;
}

static value arithmetic(flattener *f, ast_op op, const value *a, const value *b, source_place place)
{
    if ((op == OP_ADD || op == OP_EADD) && a->type == VALUE_STRING && b->type == VALUE_STRING)
        return string_concatenate(f, a, b);
    if (!value_is_numeric(a) || !value_is_numeric(b)) return operand_error(f, op, a, b, place);
    value out;
    switch (op) {
    case OP_ADD:
    case OP_EADD:
    case OP_SUB:
    case OP_ESUB: out = add_values(f, op, a, b, place); break;
    case OP_MUL:
    case OP_EMUL: out = multiply_values(f, op, a, b, place); break;
    case OP_DIV:
    case OP_EDIV: out = divide_values(f, op, a, b, place); break;
    default: out = power_values(f, op, a, b, place);
    }
    bool grows = op == OP_MUL || op == OP_EMUL;
    return check_numbers(f, &out, grows, place) ? out : value_error();
}

static value compare_strings(flattener *f, ast_op op, const value *a, const value *b,
                             source_place place)
{
    const text_piece *x = string_of(f, value_element(a, 0)), *y = string_of(f, value_element(b, 0));
    if (!x || !y || a->rank || b->rank) return operand_error(f, op, a, b, place);
    int order = strcmp(x->text, y->text);
    bool result = op == OP_EQ   ? order == 0
                  : op == OP_NE ? order != 0
                  : op == OP_LT ? order < 0
                  : op == OP_LE ? order <= 0
                  : op == OP_GT ? order > 0
                                : order >= 0;
    return value_boolean(f, result);
}

static value compare(flattener *f, ast_op op, const value *a, const value *b, source_place place)
{
    bool numeric = value_is_numeric(a) && value_is_numeric(b);
    bool same = a->type == b->type && a->class_ == b->class_ && value_is_simple(a);
    if ((!numeric && !same) || a->rank || b->rank) return operand_error(f, op, a, b, place);
    if (a->type == VALUE_STRING) return compare_strings(f, op, a, b, place);
    check_units(f, place, a->unit, b->unit, "comparison");
    expr x = value_element(a, 0), y = value_element(b, 0);
    bool real = a->type == VALUE_REAL || b->type == VALUE_REAL;
    if ((op == OP_EQ || op == OP_NE) && real && !f->in_function && !f->no_event &&
        (node_depends(f, x) | node_depends(f, y)) & DEPENDS_CONTINUOUS) {
        report_error(f, place,
                     "'%s' on Real values that change during the run cannot be decided exactly: "
                     "compare with '<' or '>'",
                     op_text(op));
        return value_error();
    }
    return value_scalar(VALUE_BOOLEAN, relation_value(f, op, x, y, place));
}

static value logical(flattener *f, ast_op op, const value *a, const value *b, source_place place)
{
    if (a->type != VALUE_BOOLEAN || b->type != VALUE_BOOLEAN)
        return operand_error(f, op, a, b, place);
    if (!value_same_shape(a, b)) return shape_error(f, op, a, b, place);
    return elementwise(f, op, a, b, VALUE_BOOLEAN);
}

value evaluate_binary(flattener *f, ast_op op, const value *a, const value *b, const ast_expr *at)
{
    if (value_is_error(a) || value_is_error(b)) return value_error();
    if (op >= OP_LT && op <= OP_NE) return compare(f, op, a, b, at->place);
    if (op == OP_AND || op == OP_OR) return logical(f, op, a, b, at->place);
    return arithmetic(f, op, a, b, at->place);
}

value evaluate_unary(flattener *f, ast_op op, const value *a, source_place place)
{
    if (value_is_error(a)) return *a;
    bool good = op == OP_NOT ? a->type == VALUE_BOOLEAN : value_is_numeric(a);
    if (!good) {
        char text[128];
        value_describe(a, text, sizeof text);
        report_error(f, place, "'%s' does not work on %s", op_text(op), text);
        return value_error();
    }
    if (op == OP_NOT) return map_unary(f, EXPR_NOT, a);
    bool minus = op == OP_MINUS || op == OP_SUB || op == OP_ESUB;
    if (!minus) return *a;
    value out = map_unary(f, EXPR_NEG, a);
    out.unit = a->unit;
    return out;
}

/* The right operand; where a decides `a and b` or `a or b`, nothing is asserted of b. */
static value right_operand(flattener *f, const ast_expr *e, const value *left)
{
    bool logic = e->op == OP_AND || e->op == OP_OR;
    if (!logic || left->type != VALUE_BOOLEAN || left->rank) return evaluate(f, e->args[1]);
    branch_guard guard = {value_element(left, 0), e->op == OP_AND, f->branch};
    if (guard.condition != EXPR_NONE) f->branch = &guard;
    value v = evaluate(f, e->args[1]);
    f->branch = guard.outer;
    return v;
}

/* A chain a + b - c + .. may have a million links: its left spine is walked, not recursed. */
static value evaluate_chain(flattener *f, const ast_expr *e)
{
    size_t links = 0;
    for (const ast_expr *p = e; p && p->kind == AST_BINARY && p->arg_count == 2; p = p->args[0])
        links++;
    const ast_expr *few[32];
    const ast_expr **spine = links <= 32 ? few : dae_calloc(links, sizeof *spine);
    if (!spine) {
        f->failed = true;
        return value_error();
    }
    const ast_expr *p = e;
    for (size_t k = links; k > 0; k--, p = p->args[0]) spine[k - 1] = p;
    value v = evaluate(f, p);
    for (size_t k = 0; k < links; k++) {
        value right = right_operand(f, spine[k], &v);
        v = evaluate_binary(f, spine[k]->op, &v, &right, spine[k]);
    }
    if (spine != few) dae_free(spine);
    return v;
}

/* ---- conditions and choices ---- */

expr scalar_condition(flattener *f, const ast_expr *e)
{
    value v = evaluate(f, e);
    if (value_is_error(&v)) return EXPR_NONE;
    if (v.type == VALUE_BOOLEAN && v.rank == 0) return value_element(&v, 0);
    type_error(f, e->place, "condition", &v, "Boolean");
    return EXPR_NONE;
}

/* Values of both branches must agree in type and sizes. */
static bool branches_agree(flattener *f, const value *a, const value *b, source_place place)
{
    bool numeric = value_is_numeric(a) && value_is_numeric(b);
    char left[128], right[128];
    if ((numeric || (a->type == b->type && a->class_ == b->class_)) && value_same_shape(a, b))
        return true;
    value_describe(a, left, sizeof left);
    value_describe(b, right, sizeof right);
    report_error(f, place, "branches of this if have different types: %s and %s", left, right);
    return false;
}

static bool same_kind(const value *a, const value *b)
{
    bool numeric = value_is_numeric(a) && value_is_numeric(b);
    return (numeric || a->type == b->type) && value_same_shape(a, b) && a->type != VALUE_STRING;
}

/* Join "if c then v else rest"; sizes or strings that differ make c a decision of compile time. */
static value join_branches(flattener *f, expr c, const value *v, const value *rest,
                           const ast_expr *condition)
{
    double x = 0.0;
    if (value_is_error(v) || value_is_error(rest)) return value_error();
    if (!same_kind(v, rest) && compile_time_value(f, c, &x)) return x != 0.0 ? *v : *rest;
    if (v->type == VALUE_STRING && rest->type == VALUE_STRING) {
        report_error(f, condition->place, "a String cannot depend on a condition of the run");
        return value_error();
    }
    if (!branches_agree(f, v, rest, condition->place)) return value_error();
    check_units(f, condition->place, v->unit, rest->unit, "if");
    return select_values(f, c, v, rest);
}

/* if c1 then v1 elseif c2 then v2 .. else v: known conditions choose, others make selects. */
static value evaluate_if(flattener *f, const ast_expr *e)
{
    size_t most = e->arg_count / 2, used = 0;
    if (e->arg_count % 2 == 0) return value_error();
    expr *conditions = flatten_take(f, (most + 1) * sizeof *conditions);
    value *values = flatten_take(f, (most + 1) * sizeof *values);
    const ast_expr **at = flatten_take(f, (most + 1) * sizeof *at);
    if (!conditions || !values || !at) return value_error();
    value rest = value_error();
    const branch_guard *outer = f->branch;
    branch_guard *guards = flatten_take(f, (2 * most + 1) * sizeof *guards);
    bool decided = false, broken = !guards;
    for (size_t k = 0; guards && k < most && !decided; k++) {
        double x = 0.0;
        expr c = scalar_condition(f, e->args[2 * k]);
        if (c == EXPR_NONE) broken = true;
        bool known = c != EXPR_NONE && is_structural(f, c) && compile_time_value(f, c, &x);
        if (known && x == 0.0) continue;
        const branch_guard *before = f->branch;
        guards[2 * k] = (branch_guard){c, true, before};
        guards[2 * k + 1] = (branch_guard){c, false, before};
        if (!known && c != EXPR_NONE) f->branch = &guards[2 * k];
        value v = evaluate(f, e->args[2 * k + 1]);
        f->branch = known || c == EXPR_NONE ? before : &guards[2 * k + 1];
        if (known) {
            rest = v;
            decided = true;
            break;
        }
        conditions[used] = c;
        at[used] = e->args[2 * k];
        values[used++] = v;
    }
    if (!decided) rest = evaluate(f, e->args[e->arg_count - 1]);
    f->branch = outer;
    if (broken) return value_error();
    for (size_t k = used; k > 0; k--)
        rest = join_branches(f, conditions[k - 1], &values[k - 1], &rest, at[k - 1]);
    return rest;
}

/* ---- ranges ---- */

bool integer_value(flattener *f, const ast_expr *e, const char *what, double *out)
{
    value v = evaluate(f, e);
    if (value_is_error(&v)) return false;
    if (v.rank || (v.type != VALUE_INTEGER && v.type != VALUE_ENUMERATION)) {
        type_error(f, e->place, what, &v, "Integer");
        return false;
    }
    if (compile_time_value(f, value_element(&v, 0), out)) return true;
    report_error(f, e->place,
                 "%s must be known before the run: it may only depend on "
                 "parameters and constants",
                 what);
    return false;
}

static bool range_bound(flattener *f, const ast_expr *e, double *out, value *v)
{
    *v = evaluate(f, e);
    if (value_is_error(v)) return false;
    if (v->rank || (!value_is_numeric(v) && v->type != VALUE_ENUMERATION)) {
        type_error(f, e->place, "range", v, "Integer or Real");
        return false;
    }
    if (compile_time_value(f, value_element(v, 0), out)) return true;
    report_error(f, e->place,
                 "a range must be known before the run: it may only depend on parameters and "
                 "constants");
    return false;
}

/* start : step : stop, without storing its elements. [MLS "Vector Construction"] */
static bool plain_range(flattener *f, const ast_expr *e, loop_range *out)
{
    double stop = 0.0;
    value a, b, s;
    out->step = 1.0;
    if (e->arg_count < 2 || !range_bound(f, e->args[0], &out->start, &a)) return false;
    if (e->arg_count == 3 && !range_bound(f, e->args[1], &out->step, &s)) return false;
    if (!range_bound(f, e->args[e->arg_count - 1], &stop, &b)) return false;
    bool real =
        a.type == VALUE_REAL || b.type == VALUE_REAL || (e->arg_count == 3 && s.type == VALUE_REAL);
    out->type = a.type == VALUE_ENUMERATION ? a.type : real ? VALUE_REAL : VALUE_INTEGER;
    out->class_ = a.class_;
    if (out->step == 0.0) {
        report_error(f, e->args[1]->place, "the step of a range must not be 0");
        return false;
    }
    double n = floor((stop - out->start) / out->step * (1.0 + 1e-15)) + 1.0;
    if (n > f->limits.elements) {
        report_error(f, e->place, "a range of %.0f elements is too long", n);
        return false;
    }
    out->count = n > 0.0 ? (size_t)n : 0;
    return true;
}

static bool type_range(flattener *f, const ast_expr *e, loop_range *out)
{
    if (e->kind != AST_REFERENCE || find_local(f, e->parts[0].name)) return false;
    const ast_class *c = find_class(f, joined_name(f, e->parts, e->part_count));
    if (!class_is_enumeration(c)) return false;
    *out = (loop_range){.count = c->literal_count, .start = 1.0, .step = 1.0};
    out->type = VALUE_ENUMERATION;
    out->class_ = c;
    return true;
}

bool evaluate_range(flattener *f, const ast_iterator *it, loop_range *out)
{
    *out = (loop_range){0};
    if (!it->range) {
        report_error(f, it->place, "the range of '%s' must be given", it->name);
        return false;
    }
    if (it->range->kind == AST_RANGE) return plain_range(f, it->range, out);
    if (type_range(f, it->range, out)) return true;
    arena *active = f->active;
    f->active = f->permanent; /* it outlives what the loop's body throws away */
    value v = evaluate(f, it->range);
    f->active = active;
    if (value_is_error(&v)) return false;
    if (v.rank != 1 || !value_is_simple(&v)) {
        type_error(f, it->range->place, "range of a loop", &v, "a vector");
        return false;
    }
    *out = (loop_range){.count = v.count, .list = v, .use_list = true, .type = v.type};
    out->class_ = v.class_;
    return true;
}

value range_element(flattener *f, const loop_range *r, size_t k)
{
    if (r->use_list) {
        value v = value_scalar(r->type, value_element(&r->list, k));
        v.class_ = r->class_;
        v.unit = r->list.unit;
        return v;
    }
    value v = value_constant(f, r->type, r->start + (double)k * r->step);
    v.class_ = r->class_;
    v.unit = UNIT_LITERAL;
    return v;
}

static value range_vector(flattener *f, const ast_expr *e)
{
    loop_range r = {0};
    if (!plain_range(f, e, &r)) return value_error();
    value v = value_array_of(f, r.type, r.count);
    if (value_is_error(&v)) return v;
    for (size_t k = 0; k < r.count; k++) v.e[k] = constant(f, r.start + (double)k * r.step);
    v.class_ = r.class_;
    v.unit = UNIT_LITERAL;
    return v;
}

/* ---- all kinds ---- */

static value evaluate_array(flattener *f, const ast_expr *e)
{
    value *parts = flatten_take(f, e->arg_count * sizeof *parts);
    bool broken = !parts;
    for (size_t k = 0; parts && k < e->arg_count; k++) {
        parts[k] = evaluate(f, e->args[k]);
        if (value_is_error(&parts[k])) broken = true;
    }
    return broken ? value_error() : stack_values(f, parts, e->arg_count, e->place);
}

static value evaluate_end(flattener *f, const ast_expr *e)
{
    if (f->end_size == SIZE_MAX) {
        report_error(f, e->place, "'end' stands only in subscripts");
        return value_error();
    }
    value v = value_constant(f, VALUE_INTEGER, (double)f->end_size);
    v.unit = UNIT_LITERAL;
    return v;
}

static value evaluate_simple(flattener *f, const ast_expr *e)
{
    value v = value_error();
    switch (e->kind) {
    case AST_NUMBER:
        v = value_constant(f, e->integer ? VALUE_INTEGER : VALUE_REAL, e->value);
        v.unit = UNIT_LITERAL;
        if (!check_numbers(f, &v, false, e->place)) return value_error();
        break;
    case AST_BOOLEAN: v = value_boolean(f, e->value != 0.0); break;
    case AST_STRING:
        v = value_scalar(VALUE_STRING, string_new(f, e->text ? e->text : "", NULL, 0));
        break;
    case AST_END: v = evaluate_end(f, e); break;
    case AST_COLON: report_error(f, e->place, "':' stands only in subscripts"); break;
    default: report_error(f, e->place, "this is not a value"); break;
    }
    return v;
}

static value evaluate_kind(flattener *f, const ast_expr *e)
{
    value v;
    switch (e->kind) {
    case AST_REFERENCE: return evaluate_reference(f, e);
    case AST_CALL: return evaluate_call(f, e);
    case AST_UNARY:
        if (e->arg_count != 1) return value_error();
        v = evaluate(f, e->args[0]);
        return evaluate_unary(f, e->op, &v, e->place);
    case AST_BINARY: return e->arg_count == 2 ? evaluate_chain(f, e) : value_error();
    case AST_IF: return evaluate_if(f, e);
    case AST_RANGE: return range_vector(f, e);
    case AST_ARRAY: return evaluate_array(f, e);
    case AST_MATRIX: return evaluate_matrix(f, e);
    case AST_COMPREHENSION: return evaluate_comprehension(f, e);
    case AST_SUBSCRIPT:
        if (e->arg_count < 1) return value_error();
        v = evaluate(f, e->args[0]);
        return subscript_value(f, &v, e->args + 1, e->arg_count - 1, e->place);
    default: return evaluate_simple(f, e);
    }
}

value evaluate(flattener *f, const ast_expr *e)
{
    if (!e || f->failed || f->stop) return value_error();
    if (f->depth >= FLATTEN_MAX_DEPTH) {
        report_error(f, e->place, "expressions are nested too deeply");
        f->stop = true;
        return value_error();
    }
    f->depth++;
    f->at = e->place;
    value v = evaluate_kind(f, e);
    f->depth--;
    return v;
}
