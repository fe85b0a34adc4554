#include "expr/print.h"

#include "base/memory.h"
#include "base/text.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How tightly an expression binds [Modelica 3.6, 3.2]. */
enum level {
    LEVEL_IF,
    LEVEL_OR,
    LEVEL_AND,
    LEVEL_NOT,
    LEVEL_RELATION,
    LEVEL_SUM,
    LEVEL_TERM,
    LEVEL_POWER,
    LEVEL_PRIMARY
};

/* What is still to be printed: a text, or an expression where one binding at least as tightly as
 * `level` is allowed, with a leading minus or not. */
typedef struct item {
    const char *text; /* NULL: an expression */
    expr e;
    enum level level;
    bool sign;
    print_type type; /* that is wanted; PRINT_ANY: no types are printed */
    bool quiet;      /* inside noEvent(..) */
} item;

typedef struct printer {
    const graph *g;
    print_name name;
    void *context;
    char *buffer;
    size_t size, length;
    bool cut;
    item *stack; /* owned; the top is printed next */
    size_t depth, capacity;
    const print_style *style; /* NULL: types do not matter */
    print_type type;          /* of the operands of the operation at hand, */
    bool quiet;               /* and whether they are inside noEvent(..) */
} printer;

/* ---- output --------------------------------------------------------------------------------- */

static void append(printer *p, const char *text)
{
    size_t length = strlen(text), room = p->size - 1 - p->length;
    if (length > room) {
        length = room;
        p->cut = true;
    }
    memcpy(p->buffer + p->length, text, length);
    p->length += length;
    p->buffer[p->length] = '\0';
}

/* ---- the stack ------------------------------------------------------------------------------ */

static void push(printer *p, item it)
{
    if (dae_grow(&p->stack, &p->capacity, p->depth + 1, sizeof it))
        p->stack[p->depth++] = it;
    else
        p->cut = true;
}

static void push_text(printer *p, const char *text)
{
    push(p, (item){.text = text});
}

static void push_expr(printer *p, expr e, enum level level, bool sign)
{
    push(p, (item){.e = e, .level = level, .sign = sign, .type = p->type, .quiet = p->quiet});
}

static void push_typed(printer *p, expr e, enum level level, print_type type)
{
    print_type outer = p->type;
    if (p->style) p->type = type;
    push_expr(p, e, level, true);
    p->type = outer;
}

/* ---- leaves --------------------------------------------------------------------------------- */

/* One decimal point and the shortest exponent, whatever the locale: 1e+05 becomes 1e5. */
static void tidy_number(char *text)
{
    char *to = text;
    for (const char *from = text; *from; from++) {
        if (*from == '+') continue;
        if (*from == '0' && to > text && (to[-1] == 'e' || (to[-1] == '-' && to - 1 > text)))
            continue;
        if (strchr("0123456789-e.", *from)) {
            *to++ = *from;
        } else if (to > text && to[-1] != '.') {
            *to++ = '.';
        }
    }
    *to = '\0';
}

/* 15 digits survive a conversion to double and back, so that %.15g without trailing zeros is the
 * shortest form if it is one at all; numbers below the normal range have fewer digits. An exponent
 * would make a Real of an Integer. */
void expr_print_number(double value, bool integer, char text[32])
{
    static const double LARGEST_INTEGER = 9007199254740992.0; /* 2^53 */
    static const double SHORT = 1e9;
    if (integer && fabs(value) <= LARGEST_INTEGER && value == floor(value)) {
        snprintf(text, 32, "%.0f", value);
        return;
    }
    if (!isfinite(value)) {
        snprintf(text, 32, "%s", isnan(value) ? "nan" : value > 0.0 ? "inf" : "-inf");
        return;
    }
    if (fabs(value) < SHORT && value == floor(value) && (value != 0.0 || !signbit(value))) {
        snprintf(text, 32, "%d", (int)value); /* most numbers, and as the rest would have it */
        tidy_number(text);
        return;
    }
    for (int digits = fabs(value) < DBL_MIN ? 1 : 15; digits <= 17; digits++) {
        snprintf(text, 32, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    tidy_number(text);
}

static void print_leaf(printer *p, const expr_node *n, print_type type)
{
    char text[32];
    const char *name = NULL;
    static const char letter[] = {
        [EXPR_VARIABLE] = 'x', [EXPR_PARAMETER] = 'p', [EXPR_MEMORY] = 'm', [EXPR_CELL] = 'c'};
    if (n->op == EXPR_CONSTANT) {
        expr_print_number(n->value, type == PRINT_INTEGER, text);
        append(p, text);
        return;
    }
    if (p->name) name = p->name(p->context, n);
    if (!name && n->op == EXPR_TIME) name = "time";
    if (!name) snprintf(text, sizeof text, "%c[%d]", letter[n->op], (int)n->index);
    for (int i = 0; i < n->order; i++) append(p, "der(");
    append(p, name ? name : text);
    for (int i = 0; i < n->order; i++) append(p, ")");
}

/* ---- operators ------------------------------------------------------------------------------ */

static enum level level_of(const expr_node *n)
{
    switch ((expr_op)n->op) {
    case EXPR_SELECT: return LEVEL_IF;
    case EXPR_OR: return LEVEL_OR;
    case EXPR_AND: return LEVEL_AND;
    case EXPR_NOT: return LEVEL_NOT;
    case EXPR_LT:
    case EXPR_LE:
    case EXPR_EQ:
    case EXPR_NE: return LEVEL_RELATION;
    case EXPR_ADD:
    case EXPR_SUB:
    case EXPR_NEG: return LEVEL_SUM;
    case EXPR_MUL:
    case EXPR_DIV: return LEVEL_TERM;
    case EXPR_POW: return LEVEL_POWER;
    case EXPR_CONSTANT: return n->value < 0.0 ? LEVEL_TERM : LEVEL_PRIMARY;
    default: return LEVEL_PRIMARY;
    }
}

/* Whether a commutative operation is printed as b op a, which saves parentheses: the graph's order
 * of operands is that of their numbers. A constant factor stays in front. */
static bool is_turned(const graph *g, const expr_node *n)
{
    if (n->op != EXPR_ADD && n->op != EXPR_MUL) return false;
    enum level own = level_of(n), left = level_of(graph_node(g, n->a));
    return left > own && level_of(graph_node(g, n->b)) == own && !graph_is_constant(g, n->a, NULL);
}

/* Whether the text of e starts with a minus. */
static bool starts_with_minus(const graph *g, expr e)
{
    for (;;) {
        const expr_node *n = graph_node(g, e);
        switch ((expr_op)n->op) {
        case EXPR_NEG: return true;
        case EXPR_CONSTANT: return n->value < 0.0;
        case EXPR_ADD:
        case EXPR_SUB:
        case EXPR_MUL:
        case EXPR_DIV: e = is_turned(g, n) ? n->b : n->a; break;
        default: return false;
        }
    }
}

/* a op b; the right operand's level tells where parentheses are needed: a - (b + c), a/(b*c), but
 * a + b + c and a*b*c, which mean the same in whatever order. The left operand may start with a
 * minus where the whole may; the right one only after a relation or a logical operator. */
static void push_infix(printer *p, expr a, const char *op, expr b, enum level left,
                       enum level right)
{
    bool arithmetic = strpbrk(op, "+-*/^") != NULL;
    push_expr(p, b, right, !arithmetic);
    push_text(p, op);
    push_expr(p, a, left, true);
}

/* c < x reads better as x > c */
static void push_relation(printer *p, const expr_node *n)
{
    bool turn = graph_is_constant(p->g, n->a, NULL);
    const char *op = " == ";
    if (n->op == EXPR_NE) op = " <> ";
    if (n->op == EXPR_LT) op = turn ? " > " : " < ";
    if (n->op == EXPR_LE) op = turn ? " >= " : " <= ";
    push_infix(p, turn ? n->b : n->a, op, turn ? n->a : n->b, LEVEL_SUM, LEVEL_SUM);
}

/* if condition then a else b */
static void push_if(printer *p, const expr_node *n)
{
    push_expr(p, n->c, LEVEL_IF, true);
    push_text(p, " else ");
    push_expr(p, n->b, LEVEL_OR, true);
    push_text(p, " then ");
    push_typed(p, n->a, LEVEL_OR, PRINT_TRUTH);
    push_text(p, "if ");
}

/* name(a) or name(a, b) */
static void push_call(printer *p, const expr_node *n)
{
    push_text(p, ")");
    if (n->b != EXPR_NONE) {
        push_expr(p, n->b, LEVEL_IF, true);
        push_text(p, ", ");
    }
    push_expr(p, n->a, LEVEL_IF, true);
    push_text(p, "(");
    push_text(p, graph_op_name(n->op));
}

/* loop(a, b, ..): what the loop starts with; its body is not shown */
static void push_loop(printer *p, const expr_node *n)
{
    push_text(p, ")");
    push_expr(p, graph_node(p->g, n->a)->a, LEVEL_PRIMARY, true);
    push_text(p, "loop(");
}

static void push_list(printer *p, const expr_node *n)
{
    if (graph_node(p->g, n->b)->op == EXPR_LIST) {
        push_expr(p, n->b, LEVEL_PRIMARY, true);
        push_text(p, ", ");
    }
    push_expr(p, n->a, LEVEL_IF, true);
}

/* Whether an expression is +-2^k, with which products are exact in whatever order. */
static bool is_power_of_two(const graph *g, expr e)
{
    double c;
    int exponent;
    return graph_is_constant(g, e, &c) && fabs(frexp(c, &exponent)) == 0.5;
}

/* A text that is read back has the roundings of the graph: a + (b - c) and a*(b*c) stay. */
static void push_operation(printer *p, const expr_node *n)
{
    bool turned = is_turned(p->g, n), exact = p->style && !is_power_of_two(p->g, n->a);
    expr a = turned ? n->b : n->a, b = turned ? n->a : n->b;
    switch ((expr_op)n->op) {
    case EXPR_SELECT: push_if(p, n); break;
    case EXPR_RESULT: push_loop(p, n); break;
    case EXPR_LIST: push_list(p, n); break;
    case EXPR_SIGNAL:
        for (int k = 0; k < n->order; k++) push_text(p, ")");
        if (graph_node(p->g, n->a)->op != EXPR_TIME) { /* a function of something else */
            push_text(p, ")");
            push_expr(p, n->a, LEVEL_IF, true);
            push_text(p, "(");
        }
        push_text(p, graph_signal_at(p->g, n->index)->name);
        for (int k = 0; k < n->order; k++) push_text(p, "der(");
        break;
    case EXPR_OR: push_infix(p, a, " or ", b, LEVEL_OR, LEVEL_OR); break;
    case EXPR_AND: push_infix(p, a, " and ", b, LEVEL_AND, LEVEL_AND); break;
    case EXPR_LT:
    case EXPR_LE:
    case EXPR_EQ:
    case EXPR_NE: push_relation(p, n); break;
    case EXPR_ADD: push_infix(p, a, " + ", b, LEVEL_SUM, exact ? LEVEL_TERM : LEVEL_SUM); break;
    case EXPR_SUB: push_infix(p, a, " - ", b, LEVEL_SUM, LEVEL_TERM); break;
    case EXPR_MUL: push_infix(p, a, "*", b, LEVEL_TERM, exact ? LEVEL_POWER : LEVEL_TERM); break;
    case EXPR_DIV: push_infix(p, a, "/", b, LEVEL_TERM, LEVEL_POWER); break;
    case EXPR_POW: push_infix(p, a, "^", b, LEVEL_PRIMARY, LEVEL_PRIMARY); break;
    case EXPR_NOT:
    case EXPR_NEG:
        push_expr(p, n->a, n->op == EXPR_NOT ? LEVEL_RELATION : LEVEL_TERM, n->op == EXPR_NOT);
        push_text(p, n->op == EXPR_NOT ? "not " : "-");
        break;
    default: push_call(p, n); break;
    }
}

/* ---- types ---------------------------------------------------------------------------------- */

static bool is_truth(const printer *p, expr e)
{
    for (;;) {
        const expr_node *n = graph_node(p->g, e);
        if (n->op != EXPR_SELECT)
            return n->arity ? expr_is_truth(n->op) : p->style->is_truth(p->style->context, n);
        if (graph_node(p->g, n->b)->op != EXPR_CONSTANT) {
            e = n->b;
        } else if (graph_node(p->g, n->c)->op != EXPR_CONSTANT) {
            e = n->c;
        } else {
            return false;
        }
    }
}

/* What the operands of an operation must be. */
static print_type operand_type(const printer *p, const expr_node *n, print_type own)
{
    switch ((expr_op)n->op) {
    case EXPR_NOT:
    case EXPR_AND:
    case EXPR_OR: return PRINT_TRUTH;
    case EXPR_EQ:
    case EXPR_NE: return is_truth(p, n->a) || is_truth(p, n->b) ? PRINT_TRUTH : PRINT_NUMBER;
    case EXPR_SELECT:
    case EXPR_NEG:
    case EXPR_ABS:
    case EXPR_ADD:
    case EXPR_SUB:
    case EXPR_MUL:
    case EXPR_MIN:
    case EXPR_MAX: return own;
    default: return PRINT_NUMBER;
    }
}

/* Whether an operation would make an event where none is. */
static bool jumps_silently(const printer *p, const expr_node *n, const item *it)
{
    bool found = false;
    expr operands[2] = {n->a, n->b};
    if (it->quiet ||
        !(expr_is_step(n->op) && n->op != EXPR_AND && n->op != EXPR_OR && n->op != EXPR_NOT))
        return false;
    return graph_reads(p->g, operands, n->arity, READS_MOTION, &found) && found;
}

static void push_wrapped(printer *p, const item *it, const char *before, const char *after,
                         print_type type)
{
    push_text(p, after);
    push_typed(p, it->e, LEVEL_IF, type);
    push_text(p, before);
}

/* Where the type of an expression is not the one that is wanted, or an event is not: the text
 * around it, and true. */
static bool print_converted(printer *p, const expr_node *n, const item *it)
{
    if (!p->style) return false;
    bool truth = is_truth(p, it->e), wanted = it->type == PRINT_TRUTH;
    p->quiet = it->quiet;
    if (wanted && n->op == EXPR_CONSTANT) {
        append(p, n->value != 0.0 ? "true" : "false");
    } else if (wanted && !truth && n->op != EXPR_SELECT) {
        push_wrapped(p, it, "((", ") <> 0)", PRINT_NUMBER);
    } else if (!wanted && truth) {
        push_wrapped(p, it, "(if ", " then 1 else 0)", PRINT_TRUTH);
    } else if (it->type != PRINT_INTEGER && jumps_silently(p, n, it)) {
        p->quiet = true;
        push_wrapped(p, it, "noEvent(", ")", it->type);
    } else if (it->type == PRINT_INTEGER && (n->op == EXPR_FLOOR || n->op == EXPR_CEIL)) {
        push_text(p, n->op == EXPR_CEIL ? "))" : ")");
        push_typed(p, n->a, LEVEL_IF, PRINT_NUMBER);
        push_text(p, n->op == EXPR_CEIL ? "integer(ceil(" : "integer(");
    } else {
        p->type = operand_type(p, n, it->type);
        return false;
    }
    return true;
}

static void print_item(printer *p, const item *it)
{
    if (it->text) {
        append(p, it->text);
        return;
    }
    const expr_node *n = graph_node(p->g, it->e);
    if (print_converted(p, n, it)) return;
    bool loose = level_of(n) < it->level;
    bool signed_here = !it->sign && level_of(n) >= LEVEL_SUM && starts_with_minus(p->g, it->e);
    if (loose || signed_here) {
        push_text(p, ")");
        push_typed(p, it->e, LEVEL_IF, it->type);
        push_text(p, "(");
    } else if (graph_arity(n->op) == 0) {
        print_leaf(p, n, it->type);
    } else {
        push_operation(p, n);
    }
}

static size_t print_root(printer *p, expr e)
{
    if (p->size == 0) return 0;
    p->buffer[0] = '\0';
    if (e != EXPR_NONE) push_expr(p, e, LEVEL_IF, true);
    while (p->depth > 0 && !p->cut) {
        item next = p->stack[--p->depth];
        print_item(p, &next);
    }
    if (p->cut) text_cut(p->buffer, p->length, p->size);
    dae_free(p->stack);
    return p->cut ? p->size : p->length;
}

size_t expr_print(const graph *g, expr e, print_name name, void *context, char *buffer, size_t size)
{
    printer p = {.g = g, .name = name, .context = context, .buffer = buffer, .size = size};
    return print_root(&p, e);
}

size_t expr_print_typed(const graph *g, expr e, const print_style *style, char *buffer, size_t size)
{
    printer p = {.g = g,
                 .name = style->name,
                 .context = style->context,
                 .buffer = buffer,
                 .size = size,
                 .style = style,
                 .type = style->type,
                 .quiet = style->quiet};
    return print_root(&p, e);
}
