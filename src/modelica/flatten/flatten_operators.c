/* Operators on scalars and arrays: elementwise operations, products, comparisons, logic. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "modelica/flatten/flatten_internal.h"

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
    if (f->scope.guard != EXPR_NONE || f->scope.branch || !is_undefined(f, e)) return true;
    double x = graph_value(f->g, e, NULL, NULL);
    return report_pass(f, place,
                       isnan(x) ? "this is not a number: its operands are outside the domain"
                                : "this is infinite or too large for a number");
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
        return report_pass(f, place, "Integer overflow: %g is beyond 2^53", x);
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
static value product_of(flattener *f, const value *a, const value *b, source_place place)
{
    value_type type = a->type == VALUE_REAL || b->type == VALUE_REAL ? VALUE_REAL : VALUE_INTEGER;
    if (a->rank == 0 || b->rank == 0) return elementwise(f, OP_MUL, a, b, type);
    size_t inner = a->dims[a->rank - 1];
    if (a->rank > 2 || b->rank > 2 || inner != b->dims[0]) {
        return error_value(f, place, "sizes %s and %s cannot be multiplied",
                           value_shape(a->rank, a->dims).text, value_shape(b->rank, b->dims).text);
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
    if (!square || !known || n < 0.0 || n > 1000.0)
        return error_value(
            f, place,
            "'^' wants scalars, or a square matrix and a known Integer exponent from 0 "
            "to 1000; '.^' works on elements");
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
    return error_value(f, place, "'%s' does not work on %s and %s", op_text(op),
                       value_describe(a).text, value_describe(b).text);
}

static value shape_error(flattener *f, ast_op op, const value *a, const value *b,
                         source_place place)
{
    bool dotted = (op == OP_ADD || op == OP_SUB) && (!a->rank || !b->rank);
    return error_value(f, place, "'%s' wants equal sizes, found %s and %s%s%s%s", op_text(op),
                       a->rank ? value_shape(a->rank, a->dims).text : "a scalar",
                       b->rank ? value_shape(b->rank, b->dims).text : "a scalar",
                       dotted ? "; '." : "", dotted ? op_text(op) : "",
                       dotted ? "' works on every element" : "");
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
    if (op == OP_DIV && b->rank)
        return error_value(f, place, "'/' wants a scalar on its right; './' divides elements");
    if (a->rank && b->rank && !value_same_shape(a, b)) return shape_error(f, op, a, b, place);
    bool reached = !f->scope.branch && f->scope.guard == EXPR_NONE; /* else perhaps never */
    if (reached && b->rank == 0 && b->unit == UNIT_LITERAL &&
        graph_is_constant(f->g, value_element(b, 0), &zero) && zero == 0.0) {
        report_pass(f, place, "division by zero");
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
    if (a->rank || b->rank) return operand_error(f, op, a, b, place);
    expr holds = string_compare(f, op, value_element(a, 0), value_element(b, 0));
    if (holds == EXPR_NONE)
        return error_value(f, place, "a String with values of the run cannot be compared");
    return value_scalar(VALUE_BOOLEAN, holds);
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
    if ((op == OP_EQ || op == OP_NE) && real && !f->scope.in_function && !f->scope.no_event &&
        (node_depends(f, x) | node_depends(f, y)) & DEPENDS_CONTINUOUS)
        return error_value(
            f, place,
            "'%s' on Real values that change during the run cannot be decided exactly: "
            "compare with '<' or '>'",
            op_text(op));
    return value_scalar(VALUE_BOOLEAN, relation_value(f, op, x, y, place));
}

static value logical(flattener *f, ast_op op, const value *a, const value *b, source_place place)
{
    if (a->type != VALUE_BOOLEAN || b->type != VALUE_BOOLEAN)
        return operand_error(f, op, a, b, place);
    if (!value_same_shape(a, b)) return shape_error(f, op, a, b, place);
    return elementwise(f, op, a, b, VALUE_BOOLEAN);
}

static value evaluate_binary(flattener *f, ast_op op, const value *a, const value *b,
                             const ast_expr *at)
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
        return error_value(f, place, "'%s' does not work on %s", op_text(op),
                           value_describe(a).text);
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
    branch_guard guard = {value_element(left, 0), e->op == OP_AND, f->scope.branch};
    if (guard.condition != EXPR_NONE) f->scope.branch = &guard;
    value v = evaluate(f, e->args[1]);
    f->scope.branch = guard.outer;
    return v;
}

/* A chain a + b - c + .. may have a million links: its left spine is walked, not recursed. */
value evaluate_chain(flattener *f, const ast_expr *e)
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
