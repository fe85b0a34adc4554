/* Calls: elementary functions, event functions, conversions; then array and user functions. */
#include <math.h>
#include <string.h>

#include "expr/derive.h"
#include "modelica/flatten/flatten_internal.h"

/* ---- arguments ---- */

static bool check_count(flattener *f, const char *name, const ast_expr *e, size_t least,
                        size_t most)
{
    size_t given = e->arg_count + e->named_count;
    if (given >= least && given <= most) return true;
    if (least == most)
        return report_error(f, e->place, "%s wants %zu argument%s, found %zu", name, least,
                            least == 1 ? "" : "s", given);
    return report_error(f, e->place, "%s wants %zu to %zu arguments, found %zu", name, least, most,
                        given);
}

static bool numeric_argument(flattener *f, const char *name, const ast_expr *e, size_t k,
                             value *out)
{
    *out = evaluate(f, call_argument(e, k, NULL));
    if (value_is_error(out)) return false;
    if (value_is_numeric(out)) return true;
    return type_error(f, e->args[k]->place, name, out, "Real or Integer");
}

/* The arguments of a function of `count` numbers, which must be scalars. */
static bool scalar_arguments(flattener *f, const char *name, const ast_expr *e, size_t count,
                             value *out)
{
    if (!check_count(f, name, e, count, count)) return false;
    for (size_t k = 0; k < count; k++)
        if (!numeric_argument(f, name, e, k, &out[k])) return false;
    for (size_t k = 0; k < count; k++)
        if (out[k].rank) return type_error(f, e->place, name, &out[k], "scalars");
    return true;
}

/* ---- elementary functions ---- */

typedef enum unit_rule { UNIT_RULE_NUMBER, UNIT_RULE_SAME, UNIT_RULE_SQRT } unit_rule;

typedef struct elementary {
    const char *name;
    expr_op op;
    unit_rule rule;
} elementary;

static const elementary elementary_functions[] = {
    {"abs", EXPR_ABS, UNIT_RULE_SAME},       {"sqrt", EXPR_SQRT, UNIT_RULE_SQRT},
    {"exp", EXPR_EXP, UNIT_RULE_NUMBER},     {"log", EXPR_LOG, UNIT_RULE_NUMBER},
    {"log10", EXPR_LOG10, UNIT_RULE_NUMBER}, {"sin", EXPR_SIN, UNIT_RULE_NUMBER},
    {"cos", EXPR_COS, UNIT_RULE_NUMBER},     {"tan", EXPR_TAN, UNIT_RULE_NUMBER},
    {"asin", EXPR_ASIN, UNIT_RULE_NUMBER},   {"acos", EXPR_ACOS, UNIT_RULE_NUMBER},
    {"atan", EXPR_ATAN, UNIT_RULE_NUMBER},   {"sinh", EXPR_SINH, UNIT_RULE_NUMBER},
    {"cosh", EXPR_COSH, UNIT_RULE_NUMBER},   {"tanh", EXPR_TANH, UNIT_RULE_NUMBER},
};

static int elementary_unit(flattener *f, const elementary *x, const value *a, source_place place)
{
    if (x->rule == UNIT_RULE_SAME) return a->unit;
    if (a->unit <= 0) return a->unit;
    if (x->rule == UNIT_RULE_SQRT) return unit_power(&f->units, a->unit, 0.5);
    if (!f->scope.in_function && !unit_is_number(&f->units, a->unit)) {
        check_units(f, place, a->unit, UNIT_ONE, "argument");
        return UNIT_UNKNOWN;
    }
    return UNIT_ONE;
}

static value call_elementary(flattener *f, const char *name, const ast_expr *e)
{
    const elementary *x = elementary_functions;
    value a;
    while (strcmp(x->name, name) != 0) x++;
    if (!check_count(f, name, e, 1, 1) || !numeric_argument(f, name, e, 0, &a))
        return value_error();
    value out = map_unary(f, x->op, &a);
    out.type = value_is_error(&out) ? VALUE_ERROR : x->op == EXPR_ABS ? a.type : VALUE_REAL;
    out.unit = elementary_unit(f, x, &a, e->args[0]->place);
    return check_numbers(f, &out, false, e->place) ? out : value_error();
}

/* ---- functions that jump: floor, div, mod, .. ---- */

static expr floor_of(flattener *f, expr a, source_place place)
{
    bool smooth = f->scope.no_event || !(node_depends(f, a) & DEPENDS_CONTINUOUS);
    return smooth ? graph_unary(f->g, EXPR_FLOOR, a) : event_floor(f, a, place);
}

static expr ceil_of(flattener *f, expr a, source_place place)
{
    if (f->scope.no_event || !(node_depends(f, a) & DEPENDS_CONTINUOUS))
        return graph_unary(f->g, EXPR_CEIL, a);
    return graph_unary(f->g, EXPR_NEG, event_floor(f, graph_unary(f->g, EXPR_NEG, a), place));
}

/* The whole part of q if it is not below zero, else 0: between 0 and 1, where nothing jumps, the
 * argument of floor stays in the middle, so that no rounding about q = 0 moves it. */
static expr positive_floor(flattener *f, expr q, source_place place)
{
    return event_floor(f, graph_binary(f->g, EXPR_MAX, constant(f, 0.5), q), place);
}

/* a/b without its fraction */
static expr truncated_quotient(flattener *f, expr a, expr b, source_place place)
{
    const expr q = graph_binary(f->g, EXPR_DIV, a, b), minus = graph_unary(f->g, EXPR_NEG, q);
    if (f->scope.no_event || !(node_depends(f, q) & DEPENDS_CONTINUOUS)) {
        expr negative = relation_value(f, OP_LT, q, constant(f, 0.0), place);
        return graph_select(f->g, negative, ceil_of(f, q, place), floor_of(f, q, place));
    }
    return graph_binary(f->g, EXPR_SUB, positive_floor(f, q, place),
                        positive_floor(f, minus, place));
}

static expr jump_function(flattener *f, const char *name, expr a, expr b, source_place place)
{
    if (strcmp(name, "div") == 0) return truncated_quotient(f, a, b, place);
    expr q = strcmp(name, "rem") == 0 ? truncated_quotient(f, a, b, place)
                                      : floor_of(f, graph_binary(f->g, EXPR_DIV, a, b), place);
    return graph_binary(f->g, EXPR_SUB, a, graph_binary(f->g, EXPR_MUL, q, b));
}

static value call_quotient(flattener *f, const char *name, const ast_expr *e)
{
    value v[2];
    if (!scalar_arguments(f, name, e, 2, v)) return value_error();
    expr a = value_element(&v[0], 0), b = value_element(&v[1], 0);
    if (graph_is_number(f->g, b, 0.0)) return error_value(f, e->args[1]->place, "division by zero");
    push_check(f, graph_binary(f->g, EXPR_NE, b, constant(f, 0.0)),
               flatten_text(f, "the second argument of %s is zero", name), NULL, FLAT_REAL,
               e->args[1]->place);
    bool real = v[0].type == VALUE_REAL || v[1].type == VALUE_REAL;
    return value_scalar(real ? VALUE_REAL : VALUE_INTEGER, jump_function(f, name, a, b, e->place));
}

static value call_rounding(flattener *f, const char *name, const ast_expr *e)
{
    value a;
    if (!check_count(f, name, e, 1, 1) || !numeric_argument(f, name, e, 0, &a))
        return value_error();
    bool up = strcmp(name, "ceil") == 0, integer = strcmp(name, "integer") == 0;
    value out = value_new(f, integer ? VALUE_INTEGER : VALUE_REAL, a.rank, a.dims);
    for (size_t k = 0; !value_is_error(&out) && k < a.count; k++)
        out.e[k] = up ? ceil_of(f, value_element(&a, k), e->place)
                      : floor_of(f, value_element(&a, k), e->place);
    return check_numbers(f, &out, integer, e->place) ? out : value_error();
}

/* sign(a) = if a > 0 then 1 elseif a < 0 then -1 else 0, with events outside of noEvent: what reads
 * it would otherwise jump where no event is, and at the event of another be that of a zero which
 * lasts for no time. */
static expr sign_of(flattener *f, expr a, source_place place)
{
    if (f->scope.no_event || !(node_depends(f, a) & DEPENDS_CONTINUOUS))
        return graph_unary(f->g, EXPR_SIGN, a);
    expr zero = constant(f, 0.0);
    expr rest =
        graph_select(f->g, relation_value(f, OP_LT, a, zero, place), constant(f, -1.0), zero);
    return graph_select(f->g, relation_value(f, OP_GT, a, zero, place), constant(f, 1.0), rest);
}

static value call_sign(flattener *f, const char *name, const ast_expr *e)
{
    value a;
    if (!check_count(f, name, e, 1, 1) || !numeric_argument(f, name, e, 0, &a))
        return value_error();
    value out = value_new(f, VALUE_INTEGER, a.rank, a.dims);
    for (size_t k = 0; !value_is_error(&out) && k < a.count; k++)
        out.e[k] = sign_of(f, value_element(&a, k), e->place);
    return out;
}

static value call_atan2(flattener *f, const char *name, const ast_expr *e)
{
    value v[2];
    if (!scalar_arguments(f, name, e, 2, v)) return value_error();
    check_units(f, e->place, v[0].unit, v[1].unit, "atan2");
    return value_scalar(VALUE_REAL, graph_binary(f->g, EXPR_ATAN2, value_element(&v[0], 0),
                                                 value_element(&v[1], 0)));
}

/* semiLinear(x, p, n) = if x >= 0 then p x else n x [MLS "semiLinear"] */
static value call_semilinear(flattener *f, const char *name, const ast_expr *e)
{
    value v[3];
    if (!scalar_arguments(f, name, e, 3, v)) return value_error();
    expr x = value_element(&v[0], 0), p = value_element(&v[1], 0), n = value_element(&v[2], 0);
    expr positive = relation_value(f, OP_GE, x, constant(f, 0.0), e->place);
    expr falling = graph_binary(f->g, EXPR_MUL, n, x), rising = graph_binary(f->g, EXPR_MUL, p, x);
    expr out = graph_select(f->g, positive, rising, falling);
    if (!f->scope.no_event) {
        semilinear_call *c = flatten_push(f, &f->semilinears, &f->semilinear_count,
                                          &f->semilinear_capacity, sizeof *c);
        if (c) *c = (semilinear_call){out, x, p, n};
    }
    return value_scalar(VALUE_REAL, out);
}

/* ---- derivatives ---- */

enum { HIGHEST_DERIVATIVE = 3 };

static void find_high_order(flattener *f, void *context, const expr_node *n)
{
    (void)f;
    int *order = context;
    if (n->op == EXPR_VARIABLE && n->order > *order) *order = n->order;
}

static expr scalar_derivative(flattener *f, expr a, source_place place)
{
    int order = 0;
    visit_begin(f);
    visit_leaves(f, a, find_high_order, &order);
    if (order >= HIGHEST_DERIVATIVE) {
        report_error(f, place, "derivatives above order %d are not supported", HIGHEST_DERIVATIVE);
        return EXPR_NONE;
    }
    const expr_node *n = graph_node(f->g, a);
    if (n->op == EXPR_VARIABLE) return graph_variable(f->g, n->index, n->order + 1);
    return derive_time(f->g, a);
}

/* A discrete variable jumps: it has no derivative. Relations held in memory are fine. */
static void find_discrete(flattener *f, void *context, const expr_node *n)
{
    int *found = context;
    if (n->op == EXPR_MEMORY && f->slot_variable[n->index] >= 0) *found = n->index;
}

static bool derivative_exists(flattener *f, expr a, source_place place)
{
    int slot = -1;
    if (graph_node(f->g, a)->op != EXPR_MEMORY) return true;
    visit_begin(f);
    visit_leaves(f, a, find_discrete, &slot);
    if (slot < 0) return true;
    return report_error(f, place, "der of '%s', which is discrete: it has no derivative",
                        f->m->variables[f->slot_variable[slot]].name);
}

static value call_der(flattener *f, const char *name, const ast_expr *e)
{
    if (!check_count(f, name, e, 1, 1)) return value_error();
    if (f->scope.in_function) return error_value(f, e->place, "der cannot be used in a function");
    bool skip = f->scope.skip_overlay;
    f->scope.skip_overlay = true;
    value a = evaluate(f, call_argument(e, 0, NULL));
    f->scope.skip_overlay = skip;
    if (value_is_error(&a)) return a;
    if (!value_is_numeric(&a)) return wrong_type(f, e->args[0]->place, name, &a, "Real");
    value out = value_new(f, VALUE_REAL, a.rank, a.dims);
    for (size_t k = 0; !value_is_error(&out) && k < a.count; k++) {
        if (graph_failed(f->g) || !derivative_exists(f, value_element(&a, k), e->place))
            return value_error();
        out.e[k] = scalar_derivative(f, value_element(&a, k), e->place);
        if (out.e[k] == EXPR_NONE) return value_error();
    }
    if (a.unit > 0) out.unit = unit_divide(&f->units, a.unit, unit_number(&f->units, "s"));
    return out;
}

/* ---- operators that say how to treat an expression ---- */

static value call_no_event(flattener *f, const char *name, const ast_expr *e)
{
    bool before = f->scope.no_event;
    if (!check_count(f, name, e, 1, 1)) return value_error();
    f->scope.no_event = true;
    value v = evaluate(f, call_argument(e, 0, NULL));
    f->scope.no_event = before;
    return v;
}

/* smooth(p, expr): expr is p times continuously differentiable, says the model, so that relations
 * in it need no events (Modelica 3.6, section 3.7.3.2). Error control sees its kinks. */
static value call_smooth(flattener *f, const char *name, const ast_expr *e)
{
    double p = 0.0;
    if (!check_count(f, name, e, 2, 2) ||
        !integer_value(f, call_argument(e, 0, "p"), "first argument of smooth", &p))
        return value_error();
    bool before = f->scope.no_event;
    f->scope.no_event = before || p >= 0.0;
    value v = evaluate(f, call_argument(e, 1, "expr"));
    f->scope.no_event = before;
    return v;
}

/* homotopy(actual, simplified) is its first argument. Beside that model stands another, for the
 * start: simplified + way*(actual - simplified). */
static value call_homotopy(flattener *f, const char *name, const ast_expr *e)
{
    if (!check_count(f, name, e, 2, 2)) return value_error();
    value actual = evaluate(f, call_argument(e, 0, "actual"));
    f->m->homotopies++;
    if (!f->simplified || value_is_error(&actual) || actual.type != VALUE_REAL) return actual;
    value simplified = evaluate(f, call_argument(e, 1, "simplified"));
    if (value_is_error(&simplified)) return simplified;
    if (!value_is_numeric(&simplified) || simplified.count != actual.count)
        return wrong_type(f, e->args[1]->place, name, &simplified,
                          "the type of the first argument");
    value way = value_scalar(VALUE_REAL, way_to_actual(f));
    value gap = elementwise(f, OP_SUB, &actual, &simplified, VALUE_REAL);
    value part = value_is_error(&gap) ? gap : elementwise(f, OP_MUL, &way, &gap, VALUE_REAL);
    return value_is_error(&part) ? part : elementwise(f, OP_ADD, &simplified, &part, VALUE_REAL);
}

/* pure(f(x)): a call of an impure function that is to count as pure. Here all of them do. */
static value call_pure(flattener *f, const char *name, const ast_expr *e)
{
    return check_count(f, name, e, 1, 1) ? evaluate(f, call_argument(e, 0, NULL)) : value_error();
}

/* ---- conversions ---- */

/* Integer(E.a) and E(1) */
static value call_integer(flattener *f, const char *name, const ast_expr *e)
{
    if (!check_count(f, name, e, 1, 1)) return value_error();
    value v = evaluate(f, call_argument(e, 0, NULL));
    if (value_is_error(&v)) return v;
    if (v.type != VALUE_ENUMERATION && v.type != VALUE_INTEGER)
        return wrong_type(f, e->args[0]->place, name, &v, "an enumeration");
    v.type = VALUE_INTEGER;
    v.class_ = NULL;
    return v;
}

static value call_enumeration(flattener *f, const ast_class *c, const ast_expr *e)
{
    if (!check_count(f, c->name, e, 1, 1)) return value_error();
    value v = evaluate(f, call_argument(e, 0, NULL));
    if (value_is_error(&v)) return v;
    if (v.type != VALUE_INTEGER) return wrong_type(f, e->args[0]->place, c->name, &v, "Integer");
    double x = 1.0;
    for (size_t k = 0; k < v.count; k++)
        if (graph_is_constant(f->g, value_element(&v, k), &x) &&
            !(x >= 1.0 && x <= (double)c->literal_count))
            return error_value(f, e->args[0]->place, "enumeration %s has no literal number %g",
                               c->name, x);
    v.type = VALUE_ENUMERATION;
    v.class_ = c;
    return v;
}

/* reinit, assert and terminate */
static value call_statement(flattener *f, const char *name, const ast_expr *e)
{
    return error_value(f, e->place, "%s has no value: it is a statement", name);
}

/* ---- dispatch ---- */

typedef value (*call_rule)(flattener *f, const char *name, const ast_expr *e);

static const struct {
    const char *name;
    call_rule rule;
} builtins[] = {
    {"abs", call_elementary},     {"sqrt", call_elementary},        {"exp", call_elementary},
    {"log", call_elementary},     {"log10", call_elementary},       {"sin", call_elementary},
    {"cos", call_elementary},     {"tan", call_elementary},         {"asin", call_elementary},
    {"acos", call_elementary},    {"atan", call_elementary},        {"sinh", call_elementary},
    {"cosh", call_elementary},    {"tanh", call_elementary},        {"der", call_der},
    {"pre", discrete_call},       {"edge", discrete_call},          {"change", discrete_call},
    {"initial", discrete_call},   {"terminal", discrete_call},      {"sample", discrete_call},
    {"delay", delay_call},        {"noEvent", call_no_event},       {"smooth", call_smooth},
    {"homotopy", call_homotopy},  {"semiLinear", call_semilinear},  {"mod", call_quotient},
    {"rem", call_quotient},       {"div", call_quotient},           {"floor", call_rounding},
    {"ceil", call_rounding},      {"integer", call_rounding},       {"sign", call_sign},
    {"atan2", call_atan2},        {"min", array_function},          {"max", array_function},
    {"sum", array_function},      {"product", array_function},      {"size", array_function},
    {"ndims", array_function},    {"transpose", array_function},    {"identity", array_function},
    {"zeros", array_function},    {"ones", array_function},         {"fill", array_function},
    {"linspace", array_function}, {"diagonal", array_function},     {"cross", array_function},
    {"skew", array_function},     {"outerProduct", array_function}, {"symmetric", array_function},
    {"cat", array_function},      {"array", array_function},        {"vector", array_function},
    {"matrix", array_function},   {"scalar", array_function},       {"promote", array_function},
    {"String", string_call},      {"Integer", call_integer},        {"pure", call_pure},
    {"reinit", call_statement},   {"assert", call_statement},       {"terminate", call_statement}};
enum { BUILTIN_COUNT = sizeof builtins / sizeof *builtins };

/* What other languages call what is written otherwise here; NULL */
static const char *foreign_function(const char *name)
{
    static const char *const known[][2] = {
        {"ln", "the natural logarithm is log(x)"},
        {"pow", "a power is x^y"},
        {"power", "a power is x^y"},
        {"sqr", "a square is x^2"},
        {"fabs", "it is abs(x)"},
        {"d", "a derivative is der(x)"},
        {"ddt", "a derivative is der(x)"},
        {"diff", "a derivative is der(x)"},
        {"dot", "a derivative is der(x)"},
        {"heaviside", "write if x > 0 then 1 else 0"},
        {"step", "write if x > 0 then 1 else 0"},
    };
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (strcmp(name, known[k][0]) == 0) return known[k][1];
    return NULL;
}

static value rejected_call(flattener *f, const char *name, const ast_expr *e)
{
    static const char *const rejected[] = {"spatialDistribution",
                                           "cardinality",
                                           "inStream",
                                           "actualStream",
                                           "connect",
                                           "previous",
                                           "hold",
                                           "Clock",
                                           "interval",
                                           "getInstanceName"};
    for (size_t k = 0; k < sizeof rejected / sizeof *rejected; k++)
        if (strcmp(rejected[k], name) == 0) {
            if (message_errors(f->messages) == 0) /* the parser has said so */
                report_error(f, e->place, "'%s' is not supported", name);
            return value_error();
        }
    const char *names[BUILTIN_COUNT];
    for (size_t k = 0; k < BUILTIN_COUNT; k++) names[k] = builtins[k].name;
    const char *near = nearest_class(f, name, CLASS_FUNCTION), *hint = foreign_function(name);
    if (!near && !hint) near = nearest_name(name, names, BUILTIN_COUNT);
    if (!near && hint) return error_value(f, e->place, "unknown function '%s'; %s", name, hint);
    return error_value(f, e->place, "unknown function '%s'%s", name, did_you_mean(f, near));
}

static value call_class(flattener *f, const ast_class *c, const char *name, const ast_expr *e)
{
    if (c->kind == CLASS_FUNCTION) return call_function(f, c, e);
    if (c->kind == CLASS_RECORD) return record_constructor(f, c, e);
    if (class_is_enumeration(c)) return call_enumeration(f, c, e);
    return error_value(f, e->place, "'%s' is not a function", name);
}

value evaluate_call(flattener *f, const ast_expr *e)
{
    const char *name = joined_name(f, e->parts, e->part_count);
    const ast_class *c = find_class(f, name);
    const local *l = e->part_count == 1 ? find_local(f, name) : NULL;
    if (!flatten_pass(f, e->place)) return value_error();
    if (l && l->value.type == VALUE_FUNCTION) return call_function_value(f, &l->value, e);
    if (c) return call_class(f, c, name, e);
    for (size_t k = 0; k < BUILTIN_COUNT; k++)
        if (strcmp(builtins[k].name, name) == 0) return builtins[k].rule(f, name, e);
    c = library_class(f, name);
    if (c) return call_class(f, c, name, e);
    return rejected_call(f, name, e);
}
