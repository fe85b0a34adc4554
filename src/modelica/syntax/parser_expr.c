#include <string.h>

#include "modelica/syntax/parser_core.h"

/* ---- nodes ---- */

static ast_expr *new_expr(parser *p, ast_kind kind, source_place place)
{
    ast_expr *e = MAKE(p, ast_expr);
    if (!e) return NULL;
    e->kind = kind;
    e->place = place;
    e->end = p->current.end;
    return e;
}

/* Gives the node its arguments and its end, which is behind the last token read. */
static ast_expr *finish(parser *p, ast_expr *e, const list *args)
{
    if (!e || p->panic) return NULL;
    if (args) {
        e->args = args->data;
        e->arg_count = args->count;
    }
    e->end = p->previous.end;
    return e;
}

static ast_expr *new_binary(parser *p, ast_op op, source_place place, ast_expr *left,
                            ast_expr *right)
{
    ast_expr *e = new_expr(p, AST_BINARY, place);
    ast_expr **args = make(p, 2 * sizeof *args);
    if (!e || !args) return NULL;
    args[0] = left;
    args[1] = right;
    e->op = op;
    return finish(p, e, &(list){.data = args, .count = 2});
}

static ast_expr *new_unary(parser *p, ast_op op, source_place place, ast_expr *operand)
{
    list args = {0};
    ast_expr *e = operand ? new_expr(p, AST_UNARY, place) : NULL;
    if (!e || !list_add_pointer(p, &args, operand)) return NULL;
    e->op = op;
    return finish(p, e, &args);
}

/* ---- lists of expressions ---- */

/* expression-list = expression { "," expression } */
static bool parse_list(parser *p, list *into)
{
    do {
        ast_expr *e = parse_expression(p);
        if (!e || !list_add_pointer(p, into, e)) return false;
    } while (accept(p, TOK_COMMA));
    return true;
}

/* subscript = ":" | expression */
static ast_expr *parse_subscript(parser *p)
{
    if (!at(p, TOK_COLON)) return parse_expression(p);
    ast_expr *e = new_expr(p, AST_COLON, p->current.place);
    step(p);
    return e;
}

/* array-subscripts = "[" subscript { "," subscript } "]" */
bool parse_subscripts(parser *p, list *into)
{
    source_place opened = p->current.place;
    if (!expect(p, TOK_LEFT_BRACKET, "before the subscripts")) return false;
    p->brackets++;
    p->subscripts++;
    do {
        ast_expr *e = parse_subscript(p);
        if (!e || !list_add_pointer(p, into, e)) return false;
    } while (accept(p, TOK_COMMA));
    if (!expect_close(p, TOK_RIGHT_BRACKET, opened, "the subscripts")) return false;
    p->brackets--;
    p->subscripts--;
    return true;
}

/* for-indices = NAME [ "in" expression ] { "," NAME [ "in" expression ] } */
bool parse_iterators(parser *p, ast_iterator **iterators, size_t *count)
{
    list all = {0};
    do {
        ast_iterator *i = list_add(p, &all, sizeof *i);
        if (!i) return false;
        i->place = p->current.place;
        i->name = expect_name(p, "the name of an index");
        if (!i->name) return false;
        if (at(p, TOK_EQUALS)) COMPLAIN(p, p->current.place, "a range is given with 'in', not '='");
        if (accept(p, TOK_IN) || accept(p, TOK_EQUALS)) {
            ast_expr *range = parse_expression(p);
            if (!range) return false;
            i->range = range;
        }
    } while (accept(p, TOK_COMMA));
    *iterators = all.data;
    *count = all.count;
    return true;
}

/* ---- names and calls ---- */

/* Appends bytes to a text that grows in the arena. */
static void append(parser *p, list *text, const char *bytes)
{
    for (size_t i = 0; bytes && bytes[i]; i++) {
        char *c = list_add(p, text, 1);
        if (!c) return;
        *c = bytes[i];
    }
}

static const char *finish_text(parser *p, list *text)
{
    return list_add(p, text, 1) ? text->data : NULL; /* new elements are zero */
}

/* name = [ "." ] NAME { "." NAME } */
const char *parse_dotted_name(parser *p, const char *what)
{
    list text = {0};
    accept(p, TOK_DOT);
    const char *first = expect_name(p, what);
    if (!first || !at(p, TOK_DOT)) return first;
    append(p, &text, first);
    while (accept(p, TOK_DOT)) {
        const char *part = expect_name(p, "a name behind the '.'");
        if (!part) return NULL;
        append(p, &text, ".");
        append(p, &text, part);
    }
    return finish_text(p, &text);
}

/* Functions of Modelica that have no meaning here. They are looked at when the file is read: a
 * function of the file's own may have such a name. */
typedef struct unsupported {
    const char *name, *advice;
} unsupported;

#define FLATTEN "export the model as Base Modelica with your Modelica tool first"
#define CLOCKS "use 'when' and 'sample(start, interval)'"
#define LAG "a chain of first-order lags may take its place"
static const unsupported unsupported_functions[] = {{"spatialDistribution", LAG},
                                                    {"cardinality", FLATTEN},
                                                    {"inStream", FLATTEN},
                                                    {"actualStream", FLATTEN},
                                                    {"Clock", CLOCKS},
                                                    {"previous", CLOCKS},
                                                    {"hold", CLOCKS},
                                                    {"subSample", CLOCKS},
                                                    {"superSample", CLOCKS},
                                                    {"shiftSample", CLOCKS},
                                                    {"backSample", CLOCKS},
                                                    {"noClock", CLOCKS},
                                                    {"firstTick", CLOCKS},
                                                    {"transition", CLOCKS},
                                                    {"initialState", CLOCKS},
                                                    {"activeState", CLOCKS},
                                                    {"ticksInState", CLOCKS}};

int unsupported_function(const char *name)
{
    for (int i = 0; i < (int)(sizeof unsupported_functions / sizeof *unsupported_functions); i++)
        if (*unsupported_functions[i].name == *name &&
            strcmp(unsupported_functions[i].name, name) == 0)
            return i;
    return -1;
}

const char *unsupported_advice(int which)
{
    return unsupported_functions[which].advice;
}

static void remember_call(parser *p, const ast_expr *call)
{
    const ast_part *name = &call->parts[0];
    if (call->part_count != 1 || unsupported_function(name->name) < 0) return;
    ast_named *c = list_add(p, &p->calls, sizeof *c);
    if (c) *c = (ast_named){.name = name->name, .place = name->place};
}

static ast_expr *parse_reference_or_call(parser *p);

/* expression | function-partial-application
 * function-partial-application = "function" name "(" [ NAME "=" expression {, ..} ] ")" */
static ast_expr *parse_argument_value(parser *p)
{
    if (!accept(p, TOK_FUNCTION)) return parse_expression(p);
    if (!at(p, TOK_NAME)) {
        PARSE_ERROR(p, p->current.place, "expected the name of a function, found %s", found(p));
        return NULL;
    }
    ast_expr *e = parse_reference_or_call(p);
    if (!e) return NULL;
    if (e->kind != AST_CALL || e->arg_count) {
        PARSE_ERROR(p, e->place,
                    "after 'function' stands a function whose inputs are bound by name, "
                    "function g(a = 1)");
        return NULL;
    }
    e->kind = AST_FUNCTION;
    return e;
}

/* named-argument = NAME "=" expression */
static bool parse_named_argument(parser *p, list *named)
{
    ast_named *n = list_add(p, named, sizeof *n);
    if (!n) return false;
    n->name = p->current.text;
    n->place = p->current.place;
    step(p);
    step(p);
    ast_expr *value = parse_argument_value(p);
    if (value) n->value = value;
    return value != NULL;
}

/* function-argument = expression | function-partial-application | NAME "=" expression */
static bool parse_argument(parser *p, list *args, list *named)
{
    if (at(p, TOK_NAME) && p->next.kind == TOK_EQUALS) return parse_named_argument(p, named);
    if (named->count)
        PARSE_ERROR(p, p->current.place,
                    "an argument without a name cannot follow one with a name");
    ast_expr *e = p->panic ? NULL : parse_argument_value(p);
    return e && list_add_pointer(p, args, e);
}

/* function-arguments = argument { "," argument } | expression "for" for-indices */
static bool parse_arguments(parser *p, ast_expr *call)
{
    list args = {0}, named = {0};
    source_place opened = p->current.place;
    step(p);
    bool more = !at(p, TOK_RIGHT_PAREN);
    while (more) {
        if (!parse_argument(p, &args, &named)) return false;
        if (at(p, TOK_FOR) && args.count == 1 && named.count == 0) {
            step(p);
            call->kind = AST_COMPREHENSION;
            if (!parse_iterators(p, &call->iterators, &call->iterator_count)) return false;
            break;
        }
        more = accept(p, TOK_COMMA);
    }
    call->named = named.data;
    call->named_count = named.count;
    return expect_close(p, TOK_RIGHT_PAREN, opened, "the arguments") && finish(p, call, &args);
}

/* One part of a reference: NAME [ array-subscripts ] */
static bool parse_part(parser *p, list *parts)
{
    list subscripts = {0};
    ast_part *part = list_add(p, parts, sizeof *part);
    if (!part) return false;
    part->place = p->current.place;
    part->name = expect_name(p, parts->count > 1 ? "a name behind the '.'" : "a name");
    if (!part->name) return false;
    const token name = p->previous;
    if (split_quoted_name(p, &name, parts)) part = &((ast_part *)parts->data)[parts->count - 1];
    if (!at(p, TOK_LEFT_BRACKET)) return true;
    if (!parse_subscripts(p, &subscripts)) return false;
    part->subscripts = subscripts.data;
    part->subscript_count = subscripts.count;
    return true;
}

/* component-reference [ function-call-args ]
 * component-reference = [ "." ] NAME [ array-subscripts ] { "." NAME [ array-subscripts ] } */
static ast_expr *parse_reference_or_call(parser *p)
{
    list parts = {0};
    ast_expr *e = new_expr(p, AST_REFERENCE, p->current.place);
    accept(p, TOK_DOT);
    do {
        if (!e || !parse_part(p, &parts)) return NULL;
    } while (accept(p, TOK_DOT));
    e->parts = parts.data;
    e->part_count = parts.count;
    if (!at(p, TOK_LEFT_PAREN)) return finish(p, e, NULL);
    e->kind = AST_CALL;
    if (!parse_arguments(p, e)) return NULL;
    remember_call(p, e);
    return e;
}

/* ( "der" | "initial" | "pure" ) function-call-args */
static ast_expr *parse_keyword_call(parser *p)
{
    list parts = {0};
    ast_expr *e = new_expr(p, AST_CALL, p->current.place);
    ast_part *part = e ? list_add(p, &parts, sizeof *part) : NULL;
    if (!part) return NULL;
    part->name = token_spelling(p->current.kind);
    part->place = p->current.place;
    e->parts = parts.data;
    e->part_count = 1;
    step(p);
    if (!at(p, TOK_LEFT_PAREN)) {
        PARSE_ERROR(p, p->current.place, "expected '(' after '%s', found %s", part->name, found(p));
        return NULL;
    }
    return parse_arguments(p, e) ? e : NULL;
}

/* ---- brackets ---- */

/* "(" [ expression ] { "," [ expression ] } ")" */
static ast_expr *parse_tuple(parser *p)
{
    list args = {0};
    ast_expr *e = new_expr(p, AST_TUPLE, p->current.place);
    source_place opened = p->current.place;
    step(p);
    do {
        bool empty = at(p, TOK_COMMA) || (at(p, TOK_RIGHT_PAREN) && args.count > 0);
        ast_expr *one = empty ? NULL : parse_expression(p);
        if ((!one && !empty) || !list_add_pointer(p, &args, one)) return NULL;
    } while (accept(p, TOK_COMMA));
    if (!expect_close(p, TOK_RIGHT_PAREN, opened, "the parentheses")) return NULL;
    if (args.count == 1) return ((ast_expr **)args.data)[0];
    return finish(p, e, &args);
}

/* "[" expression-list { ";" expression-list } "]" */
static ast_expr *parse_matrix(parser *p)
{
    list rows = {0};
    ast_expr *e = new_expr(p, AST_MATRIX, p->current.place);
    source_place opened = p->current.place;
    p->brackets++;
    step(p);
    do {
        list args = {0};
        ast_expr *row = new_expr(p, AST_ROW, p->current.place);
        if (!parse_list(p, &args) || !finish(p, row, &args) || !list_add_pointer(p, &rows, row))
            return NULL;
    } while (accept(p, TOK_SEMICOLON));
    if (!expect_close(p, TOK_RIGHT_BRACKET, opened, "the matrix")) return NULL;
    p->brackets--;
    return finish(p, e, &rows);
}

/* "{" ( expression-list | expression "for" for-indices ) "}" */
static ast_expr *parse_array(parser *p)
{
    list args = {0};
    ast_expr *e = new_expr(p, AST_ARRAY, p->current.place);
    source_place opened = p->current.place;
    step(p);
    if (at(p, TOK_RIGHT_BRACE))
        PARSE_ERROR(p, opened,
                    "an array has at least one element here; write fill(0.0, 0) for an "
                    "empty one");
    if (!e || p->panic || !parse_list(p, &args)) return NULL;
    if (at(p, TOK_FOR) && args.count == 1) {
        step(p);
        e->kind = AST_COMPREHENSION;
        if (!parse_iterators(p, &e->iterators, &e->iterator_count)) return NULL;
    }
    if (!expect_close(p, TOK_RIGHT_BRACE, opened, "the array")) return NULL;
    return finish(p, e, &args);
}

/* e { "." NAME [ array-subscripts ] } */
static ast_expr *parse_members(parser *p, ast_expr *e)
{
    list args = {0}, parts = {0};
    ast_expr *outer = new_expr(p, AST_MEMBER, e->place);
    if (!outer || !list_add_pointer(p, &args, e)) return NULL;
    while (accept(p, TOK_DOT))
        if (!parse_part(p, &parts)) return NULL;
    outer->parts = parts.data;
    outer->part_count = parts.count;
    return finish(p, outer, &args);
}

/* What may follow brackets and calls: { array-subscripts | "." NAME [ array-subscripts ] } */
static ast_expr *parse_suffix(parser *p, ast_expr *e)
{
    while (e && (at(p, TOK_LEFT_BRACKET) || (at(p, TOK_DOT) && p->next.kind == TOK_NAME))) {
        if (at(p, TOK_DOT)) {
            e = parse_members(p, e);
            continue;
        }
        list args = {0};
        ast_expr *outer = new_expr(p, AST_SUBSCRIPT, e->place);
        if (!list_add_pointer(p, &args, e) || !parse_subscripts(p, &args)) return NULL;
        e = finish(p, outer, &args);
    }
    return e;
}

/* ---- primaries ---- */

static ast_expr *parse_literal(parser *p)
{
    const token *t = &p->current;
    ast_kind kind = t->kind == TOK_NUMBER   ? AST_NUMBER
                    : t->kind == TOK_STRING ? AST_STRING
                    : t->kind == TOK_END    ? AST_END
                                            : AST_BOOLEAN;
    ast_expr *e = new_expr(p, kind, t->place);
    if (!e) return NULL;
    e->value = kind == AST_BOOLEAN ? t->kind == TOK_TRUE : t->value;
    e->integer = t->integer;
    e->text = t->text;
    step(p);
    return finish(p, e, NULL);
}

static ast_expr *report_missing_expression(parser *p)
{
    const char *before = token_spelling(p->previous.kind);
    const char *what = found(p);
    if (at(p, TOK_END) && !ends_block(p))
        PARSE_ERROR(p, p->current.place,
                    "'end' as a value is the last index of an array; it stands in subscripts only");
    else if (at(p, TOK_EQ) || at(p, TOK_ASSIGN))
        PARSE_ERROR(p, p->current.place, "expected an expression before %s", what);
    else if (before && p->previous.kind != TOK_SEMICOLON)
        PARSE_ERROR(p, p->current.place, "expected an expression after '%s', found %s", before,
                    what);
    else
        PARSE_ERROR(p, p->current.place, "expected an expression, found %s", what);
    return NULL;
}

/* primary = NUMBER | STRING | "true" | "false" | "end" | reference-or-call
 *         | ( "der" | "initial" | "pure" ) call-arguments
 *         | "(" .. ")" | "[" .. "]" | "{" .. "}" */
static ast_expr *parse_primary(parser *p)
{
    switch (p->current.kind) {
    case TOK_NUMBER:
    case TOK_STRING:
    case TOK_TRUE:
    case TOK_FALSE: return parse_literal(p);
    case TOK_NAME: {
        ast_expr *e = parse_reference_or_call(p);
        return e && e->kind != AST_REFERENCE ? parse_suffix(p, e) : e;
    }
    case TOK_DOT: return parse_reference_or_call(p);
    case TOK_DER:
    case TOK_INITIAL:
    case TOK_PURE: return parse_suffix(p, parse_keyword_call(p));
    case TOK_LEFT_PAREN: return parse_suffix(p, parse_tuple(p));
    case TOK_LEFT_BRACKET: return parse_suffix(p, parse_matrix(p));
    case TOK_LEFT_BRACE: return parse_suffix(p, parse_array(p));
    case TOK_IF:
        COMPLAIN(p, p->current.place,
                 "put parentheses around an if-expression inside another "
                 "expression");
        return parse_expression(p);
    case TOK_END:
        if (p->subscripts > 0) return parse_literal(p);
        return report_missing_expression(p);
    default: return report_missing_expression(p);
    }
}

/* ---- operators ---- */

/* Precedences, from loose to tight. Relations and powers do not chain. */
enum {
    LEVEL_OR = 1,
    LEVEL_AND,
    LEVEL_NOT,
    LEVEL_RELATION,
    LEVEL_ADD,
    LEVEL_MUL,
    LEVEL_POWER,
    LEVEL_PRIMARY
};

typedef struct operator_info {
    int level; /* 0: no operator */
    ast_op op;
} operator_info;

static const operator_info operators[TOK_COUNT] = {
    [TOK_OR] = {LEVEL_OR, OP_OR},       [TOK_AND] = {LEVEL_AND, OP_AND},
    [TOK_LT] = {LEVEL_RELATION, OP_LT}, [TOK_LE] = {LEVEL_RELATION, OP_LE},
    [TOK_GT] = {LEVEL_RELATION, OP_GT}, [TOK_GE] = {LEVEL_RELATION, OP_GE},
    [TOK_EQ] = {LEVEL_RELATION, OP_EQ}, [TOK_NE] = {LEVEL_RELATION, OP_NE},
    [TOK_ADD] = {LEVEL_ADD, OP_ADD},    [TOK_SUB] = {LEVEL_ADD, OP_SUB},
    [TOK_EADD] = {LEVEL_ADD, OP_EADD},  [TOK_ESUB] = {LEVEL_ADD, OP_ESUB},
    [TOK_MUL] = {LEVEL_MUL, OP_MUL},    [TOK_DIV] = {LEVEL_MUL, OP_DIV},
    [TOK_EMUL] = {LEVEL_MUL, OP_EMUL},  [TOK_EDIV] = {LEVEL_MUL, OP_EDIV},
    [TOK_POW] = {LEVEL_POWER, OP_POW},  [TOK_EPOW] = {LEVEL_POWER, OP_EPOW}};

static ast_expr *parse_operators(parser *p, int level);

/* x++ and ++x are no Modelica, and neither is x--. */
static void check_doubled_sign(parser *p)
{
    const token *a = &p->previous, *b = &p->current;
    bool doubled = a->kind == b->kind && a->offset + 1 == b->offset && b->length == 1;
    bool ends = p->next.kind == TOK_SEMICOLON || p->next.kind == TOK_RIGHT_PAREN;
    if (doubled && (b->kind == TOK_ADD || ends))
        PARSE_ERROR(p, a->place, "Modelica has no '%s%s'; write 'x := x %s 1'",
                    token_spelling(b->kind), token_spelling(b->kind), token_spelling(b->kind));
}

/* The sign or "not" before an operand. Modelica allows it only at the head of a sum or relation; it
 * is clear elsewhere, too: a * -b. */
static ast_expr *parse_prefixed(parser *p, int level)
{
    token t = p->current;
    bool is_not = t.kind == TOK_NOT;
    int usual = is_not ? LEVEL_NOT : LEVEL_ADD;
    check_doubled_sign(p);
    if (level > usual && !p->panic)
        message_warning(p->messages, t.place,
                        "Modelica wants parentheses around '%s ..' behind another operator",
                        token_spelling(t.kind));
    if (p->panic || !enter(p)) return NULL;
    step(p);
    ast_expr *operand = parse_operators(p, level > usual ? level : usual + 1);
    leave(p);
    ast_op op = is_not ? OP_NOT : t.kind == TOK_ADD || t.kind == TOK_EADD ? OP_PLUS : OP_MINUS;
    return new_unary(p, op, t.place, operand);
}

static ast_expr *parse_operand(parser *p, int level)
{
    switch (p->current.kind) {
    case TOK_NOT:
    case TOK_ADD:
    case TOK_SUB:
    case TOK_EADD:
    case TOK_ESUB: return parse_prefixed(p, level);
    default: return parse_primary(p);
    }
}

static void check_chain(parser *p, int level)
{
    if (operators[p->current.kind].level != level) return;
    if (level == LEVEL_RELATION)
        COMPLAIN(p, p->current.place, "relations do not chain; write 'a < b and b < c'");
    else if (level == LEVEL_POWER)
        COMPLAIN(p, p->current.place, "powers do not chain; put parentheses: (a^b)^c or a^(b^c)");
}

/* Everything that binds at least as tightly as `level`, left-associative:
 *   or < and < not < relation < + - < * / < ^ */
static ast_expr *parse_operators(parser *p, int level)
{
    ast_expr *left = parse_operand(p, level);
    for (;;) {
        operator_info o = operators[p->current.kind];
        if (!left || o.level < level || o.level == 0) return left;
        source_place place = p->current.place;
        step(p);
        ast_expr *right = parse_operators(p, o.level + 1);
        if (!right) return NULL;
        check_chain(p, o.level);
        left = new_binary(p, o.op, place, left, right);
    }
}

/* simple-expression = logical [ ":" logical [ ":" logical ] ] */
ast_expr *parse_simple_expression(parser *p)
{
    list args = {0};
    ast_expr *first = parse_operators(p, LEVEL_OR);
    if (!first || !at(p, TOK_COLON)) return first;
    ast_expr *e = new_expr(p, AST_RANGE, first->place);
    if (!list_add_pointer(p, &args, first)) return NULL;
    while (args.count < 3 && accept(p, TOK_COLON)) {
        ast_expr *one = parse_operators(p, LEVEL_OR);
        if (!one || !list_add_pointer(p, &args, one)) return NULL;
    }
    return finish(p, e, &args);
}

/* if-expression = "if" expression "then" expression { "elseif" expression "then" expression }
 *                 "else" expression
 * "else if" is the same as "elseif" here, and read as such. */
static ast_expr *parse_if_expression(parser *p)
{
    list args = {0};
    ast_expr *e = new_expr(p, AST_IF, p->current.place);
    do {
        step(p); /* if, elseif */
        ast_expr *condition = parse_condition(p, "if");
        if (!condition || !expect(p, TOK_THEN, "after the condition")) return NULL;
        ast_expr *value = parse_expression(p);
        if (!value || !list_add_pointer(p, &args, condition) || !list_add_pointer(p, &args, value))
            return NULL;
        if (at(p, TOK_ELSE) && p->next.kind == TOK_IF) step(p);
    } while (at(p, TOK_ELSEIF) || (at(p, TOK_IF) && p->previous.kind == TOK_ELSE));
    if (!at(p, TOK_ELSE)) {
        PARSE_ERROR(p, p->current.place, "an if-expression needs an 'else', found %s", found(p));
        return NULL;
    }
    step(p);
    ast_expr *otherwise = parse_expression(p);
    if (!otherwise || !list_add_pointer(p, &args, otherwise)) return NULL;
    return finish(p, e, &args);
}

/* expression = ( simple-expression | if-expression ) [ decoration ] */
ast_expr *parse_expression(parser *p)
{
    if (p->panic || !enter(p)) return NULL;
    skip_decoration(p);
    ast_expr *e = at(p, TOK_IF) ? parse_if_expression(p) : parse_simple_expression(p);
    skip_decoration(p);
    leave(p);
    return p->panic ? NULL : e;
}

/* A condition of `what`; '=' in the place of '==' is reported and taken for it. */
ast_expr *parse_condition(parser *p, const char *what)
{
    ast_expr *e = parse_expression(p);
    while (e && (at(p, TOK_EQUALS) || at(p, TOK_ASSIGN))) {
        source_place place = p->current.place;
        COMPLAIN(p, place, "the condition of '%s' compares with '==', not '%s'", what,
                 token_spelling(p->current.kind));
        step(p);
        ast_expr *right = parse_expression(p);
        e = right ? new_binary(p, OP_EQ, place, e, right) : NULL;
    }
    return e;
}

/* ---- modifications, comments, annotations ---- */

/* modification = class-modification [ "=" expression ] | "=" expression | ":=" expression */
static bool parse_modification_value(parser *p, ast_modification *m, bool in_annotation)
{
    bool nested = at(p, TOK_LEFT_PAREN);
    if (nested) m->nested = parse_modifications(p, &m->nested_count, in_annotation);
    if (p->panic) return false;
    if (accept(p, TOK_EQUALS) || accept(p, TOK_ASSIGN)) {
        m->value = parse_expression(p);
        return m->value != NULL;
    }
    if (nested || at(p, TOK_COMMA) || at(p, TOK_RIGHT_PAREN) || at(p, TOK_STRING)) return true;
    PARSE_ERROR(p, p->current.place, "expected '=' after '%s', found %s", m->name, found(p));
    return false;
}

/* argument = [ "each" ] [ "final" ] name [ modification ] string-comment */
bool parse_modification(parser *p, list *all, bool in_annotation)
{
    skip_decoration(p);
    if (at(p, TOK_REDECLARE) || at(p, TOK_REPLACEABLE)) {
        const char *what = at(p, TOK_REDECLARE) ? "'redeclare' is" : "'replaceable' is";
        if (!in_annotation) reject(p, p->current.place, what);
        skip_balanced(p, TOK_RIGHT_PAREN, true);
        return true;
    }
    ast_modification m = {.place = p->current.place};
    m.each = accept(p, TOK_EACH);
    m.final_ = accept(p, TOK_FINAL);
    m.place = p->current.place;
    m.name = parse_dotted_name(p, "the name of an attribute");
    if (!m.name || !parse_modification_value(p, &m, in_annotation)) return false;
    parse_string_comment(p);
    ast_modification *slot = list_add(p, all, sizeof *slot);
    if (slot) *slot = m;
    return slot != NULL;
}

/* class-modification = "(" [ argument { "," argument } ] ")" */
ast_modification *parse_modifications(parser *p, size_t *count, bool in_annotation)
{
    list all = {0};
    source_place opened = p->current.place;
    if (!enter(p)) return NULL;
    step(p);
    bool more = !at(p, TOK_RIGHT_PAREN);
    while (more && parse_modification(p, &all, in_annotation)) more = accept(p, TOK_COMMA);
    if (!p->panic) expect_close(p, TOK_RIGHT_PAREN, opened, "the modification");
    leave(p);
    *count = all.count;
    return all.data;
}

/* string-comment = [ STRING { "+" STRING } ] */
const char *parse_string_comment(parser *p)
{
    list text = {0};
    if (!at(p, TOK_STRING)) return NULL;
    const char *first = p->current.text;
    step(p);
    if (!at(p, TOK_ADD) || p->next.kind != TOK_STRING) return first;
    append(p, &text, first);
    while (at(p, TOK_ADD) && p->next.kind == TOK_STRING) {
        step(p);
        append(p, &text, p->current.text);
        step(p);
    }
    return finish_text(p, &text);
}

/* annotation = "annotation" "(" .. ")": only its brackets are looked at, since it may hold anything
 * that drawing programs need. */
void skip_annotation(parser *p)
{
    if (!accept(p, TOK_ANNOTATION)) return;
    source_place opened = p->current.place;
    if (!expect(p, TOK_LEFT_PAREN, "after 'annotation'")) return;
    skip_balanced(p, TOK_RIGHT_PAREN, false);
    expect_close(p, TOK_RIGHT_PAREN, opened, "the annotation");
}

/* comment = string-comment [ annotation ] */
const char *parse_comment(parser *p)
{
    if (p->panic) return NULL;
    const char *text = parse_string_comment(p);
    skip_annotation(p);
    return text;
}

/* decoration = "@" NUMBER */
void skip_decoration(parser *p)
{
    if (!at(p, TOK_AT) || p->next.kind != TOK_NUMBER) return;
    step(p);
    step(p);
}
