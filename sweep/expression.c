/* Expressions over the variables of a model, evaluated where a run stands.
 *
 *   condition  = conjunction { "or" conjunction }
 *   conjunction= relation { "and" relation }
 *   relation   = "not" relation | sum [ ("<" | "<=" | ">" | ">=" | "==" | "<>") sum ]
 *   sum        = [ "+" | "-" ] term { ("+" | "-") term }
 *   term       = factor { ("*" | "/") factor }
 *   factor     = primary [ "^" primary ]
 *   primary    = number | name | function "(" condition { "," condition } ")" | "(" condition ")"
 *
 * They become operations on a stack. */
#define _POSIX_C_SOURCE 200809L
#include "sweep.h"

#include "internal.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_OPERATIONS = 400, DEPTH = 64, NAME = 256 };

typedef enum code {
    NUMBER,
    TIME,
    VARIABLE,
    DERIVATIVE,
    PARAMETER,
    NEGATE,
    NOT,
    CALL1,
    CALL2,
    ADD,
    SUBTRACT,
    MULTIPLY,
    DIVIDE,
    POWER,
    LESS,
    LESS_EQUAL,
    GREATER,
    GREATER_EQUAL,
    EQUAL,
    DIFFERENT,
    AND,
    OR
} code;

typedef struct operation {
    code code;
    int index;
    double number;
} operation;

struct sweep_expression {
    int count, switches;
    bool truth, derivatives;
    operation list[MOST_OPERATIONS];
};

/* ---- functions ---- */

static double sign_of(double x)
{
    return x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : x;
}

static double larger(double x, double y)
{
    return x > y || isnan(x) ? x : y;
}

static double smaller(double x, double y)
{
    return x < y || isnan(x) ? x : y;
}

/* Changes its sign at whole numbers, where floor and ceil jump. */
static double wave(double x)
{
    return sin(3.14159265358979323846 * x);
}

static double itself(double x)
{
    return x;
}

static double difference(double x, double y)
{
    return x - y;
}

/* atan2 jumps where the first one is 0 */
static double first(double x, double y)
{
    (void)y;
    return x;
}

/* one or two arguments; bends1, bends2: what is 0 where the value jumps or bends */
static const struct {
    const char *name;
    double (*one)(double);
    double (*two)(double, double);
    double (*bends1)(double);
    double (*bends2)(double, double);
} functions[] = {
    {"abs", fabs, NULL, itself, NULL},       {"sign", sign_of, NULL, itself, NULL},
    {"sqrt", sqrt, NULL, NULL, NULL},        {"exp", exp, NULL, NULL, NULL},
    {"log", log, NULL, NULL, NULL},          {"log10", log10, NULL, NULL, NULL},
    {"sin", sin, NULL, NULL, NULL},          {"cos", cos, NULL, NULL, NULL},
    {"tan", tan, NULL, NULL, NULL},          {"asin", asin, NULL, NULL, NULL},
    {"acos", acos, NULL, NULL, NULL},        {"atan", atan, NULL, NULL, NULL},
    {"sinh", sinh, NULL, NULL, NULL},        {"cosh", cosh, NULL, NULL, NULL},
    {"tanh", tanh, NULL, NULL, NULL},        {"floor", floor, NULL, wave, NULL},
    {"ceil", ceil, NULL, wave, NULL},        {"atan2", NULL, atan2, NULL, first},
    {"max", NULL, larger, NULL, difference}, {"min", NULL, smaller, NULL, difference},
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

/* ---- reading ---- */

typedef struct reader {
    const dae_problem *problem;
    const char *text, *at, *end;
    sweep_expression *to;
    int depth, deepest; /* of the stack */
    int nested;
    report_error *error;
    bool failed;
} reader;

static void fail(reader *r, const char *what, const char *word)
{
    if (r->failed) return;
    r->failed = true;
    (void)report_fail(r->error, REPORT_ERR_ARGUMENT, "'%.*s' cannot be evaluated: %s%.200s.",
                      (int)(r->end - r->text < 300 ? r->end - r->text : 300), r->text, what, word);
}

/* Whether the value jumps or bends somewhere by this operation. */
static bool is_switch(const operation *o)
{
    if (o->code == CALL1) return functions[o->index].bends1 != NULL;
    if (o->code == CALL2) return functions[o->index].bends2 != NULL;
    return o->code >= LESS && o->code <= DIFFERENT;
}

/* effect: what it adds to the stack */
static void put(reader *r, operation o, int effect)
{
    if (r->failed) return;
    r->depth += effect;
    if (r->depth > r->deepest) r->deepest = r->depth;
    if (r->to->count == MOST_OPERATIONS || r->deepest > DEPTH)
        fail(r, "it is too long", "");
    else
        r->to->list[r->to->count++] = o;
    r->to->switches += is_switch(&o);
}

static void skip(reader *r)
{
    while (r->at < r->end && isspace((unsigned char)*r->at)) r->at++;
}

/* Whether a sign comes, which is then behind us. */
static bool take(reader *r, const char *sign)
{
    size_t length = strlen(sign);
    skip(r);
    if ((size_t)(r->end - r->at) < length || strncmp(r->at, sign, length) != 0) return false;
    bool word = isalpha((unsigned char)*sign);
    char next = r->at + length < r->end ? r->at[length] : ' ';
    if (word && (isalnum((unsigned char)next) || next == '_')) return false;
    r->at += length;
    return true;
}

static void read_condition(reader *r);

/* a.b[1,2].'c d' */
static void take_name(reader *r, char name[NAME])
{
    size_t count = 0;
    int depth = 0;
    bool quoted = false, escaped = false;
    skip(r);
    for (; r->at < r->end; r->at++) {
        char c = *r->at;
        if (c == '\'' && !escaped) quoted = !quoted;
        escaped = quoted && c == '\\' && !escaped;
        bool inside = quoted || depth > 0 || isalnum((unsigned char)c) || c == '_' || c == '.' ||
                      c == '\'' || c == '[';
        if (!inside) break;
        if (!quoted) depth += (c == '[') - (c == ']');
        if (count + 1 >= NAME) {
            fail(r, "a name is too long", "");
            return;
        }
        if (quoted || !isspace((unsigned char)c)) name[count++] = c;
        if (depth < 0) break;
    }
    name[count] = '\0';
}

/* Whether names are the same but for quotes and blanks. */
static bool same_name(const char *a, const char *b)
{
    for (;; a++, b++) {
        while (*a == '\'' || *a == ' ') a++;
        while (*b == '\'' || *b == ' ') b++;
        if (*a != *b) return false;
        if (!*a) return true;
    }
}

static void read_parameter(reader *r, const char *name)
{
    for (int i = 0; i < dae_problem_parameter_count(r->problem); i++) {
        if (!same_name(name, dae_problem_parameter(r->problem, i))) continue;
        if (dae_problem_parameter_info(r->problem, i).type == DAE_TYPE_STRING)
            fail(r, "it is a text: ", name);
        put(r, (operation){.code = PARAMETER, .index = i}, 1);
        return;
    }
    fail(r, "the model has no variable or parameter ", name);
}

static void read_variable(reader *r, const char *name)
{
    int i = dae_problem_find_variable(r->problem, name);
    for (int k = 0; i < 0 && k < dae_problem_variable_count(r->problem); k++)
        if (same_name(name, dae_problem_variable(r->problem, k))) i = k;
    if (strcmp(name, "time") == 0 && i < 0)
        put(r, (operation){.code = TIME}, 1);
    else if (strcmp(name, "true") == 0 || strcmp(name, "false") == 0)
        put(r, (operation){.code = NUMBER, .number = *name == 't'}, 1);
    else if (i < 0)
        read_parameter(r, name);
    else if (dae_problem_variable_info(r->problem, i).type == DAE_TYPE_STRING)
        fail(r, "it is a text: ", name);
    else
        put(r, (operation){.code = VARIABLE, .index = i}, 1);
}

/* der(x) */
static void read_derivative(reader *r)
{
    char name[NAME], whole[NAME + 8];
    take_name(r, name);
    snprintf(whole, sizeof whole, "der(%s)", name);
    if (!take(r, ")")) fail(r, "der(..) takes the name of a state", "");
    for (int k = 0; k < dae_problem_derivative_count(r->problem); k++)
        if (same_name(whole, dae_problem_derivative(r->problem, k))) {
            r->to->derivatives = true;
            put(r, (operation){.code = DERIVATIVE, .index = k}, 1);
            return;
        }
    fail(r, "there is no derivative ", whole);
}

static void read_call(reader *r, const char *name)
{
    int k = 0;
    if (strcmp(name, "der") == 0) {
        read_derivative(r);
        return;
    }
    while (k < FUNCTIONS && strcmp(functions[k].name, name) != 0) k++;
    if (k == FUNCTIONS) {
        fail(r, "there is no function ", name);
        return;
    }
    read_condition(r);
    bool second = functions[k].two != NULL;
    if (second && !take(r, ",")) fail(r, "two arguments are needed by ", name);
    if (second) read_condition(r);
    if (!take(r, ")")) fail(r, "a ')' is missing behind the argument of ", name);
    put(r, (operation){.code = second ? CALL2 : CALL1, .index = k}, second ? -1 : 0);
}

static void read_number(reader *r)
{
    char text[64], *end;
    size_t length = (size_t)(r->end - r->at);
    if (length >= sizeof text) length = sizeof text - 1;
    memcpy(text, r->at, length);
    text[length] = '\0';
    double x = strtod(text, &end);
    if (end == text) fail(r, "a number or a name is missing", "");
    r->at += end - text;
    put(r, (operation){.code = NUMBER, .number = x}, 1);
}

static void read_primary(reader *r)
{
    char name[NAME];
    skip(r);
    if (r->failed || r->nested > DEPTH) {
        fail(r, "it is too deep", "");
        return;
    }
    if (take(r, "(")) {
        r->nested++;
        read_condition(r);
        r->nested--;
        if (!take(r, ")")) fail(r, "a ')' is missing", "");
    } else if (r->at < r->end && (isalpha((unsigned char)*r->at) || strchr("_'", *r->at))) {
        take_name(r, name);
        r->nested++;
        if (!r->failed && take(r, "("))
            read_call(r, name);
        else if (!r->failed)
            read_variable(r, name);
        r->nested--;
    } else {
        read_number(r);
    }
}

static void read_factor(reader *r)
{
    read_primary(r);
    if (!take(r, "^")) return;
    read_primary(r);
    put(r, (operation){.code = POWER}, -1);
}

static void read_term(reader *r)
{
    read_factor(r);
    for (;;) {
        bool times = take(r, "*");
        if (r->failed || (!times && !take(r, "/"))) return;
        read_factor(r);
        put(r, (operation){.code = times ? MULTIPLY : DIVIDE}, -1);
    }
}

static void read_sum(reader *r)
{
    bool negative = take(r, "-");
    if (!negative) (void)take(r, "+");
    read_term(r);
    if (negative) put(r, (operation){.code = NEGATE}, 0);
    for (;;) {
        bool plus = take(r, "+");
        if (r->failed || (!plus && !take(r, "-"))) return;
        read_term(r);
        put(r, (operation){.code = plus ? ADD : SUBTRACT}, -1);
    }
}

static void read_relation(reader *r)
{
    static const char *const signs[] = {"<>", "<=", ">=", "==", "<", ">"};
    static const code codes[] = {DIFFERENT, LESS_EQUAL, GREATER_EQUAL, EQUAL, LESS, GREATER};
    if (take(r, "not")) {
        read_relation(r);
        put(r, (operation){.code = NOT}, 0);
        return;
    }
    read_sum(r);
    for (int k = 0; k < 6; k++)
        if (take(r, signs[k])) {
            read_sum(r);
            put(r, (operation){.code = codes[k]}, -1);
            return;
        }
}

static void read_conjunction(reader *r)
{
    read_relation(r);
    while (!r->failed && take(r, "and")) {
        read_relation(r);
        put(r, (operation){.code = AND}, -1);
    }
}

static void read_condition(reader *r)
{
    read_conjunction(r);
    while (!r->failed && take(r, "or")) {
        read_conjunction(r);
        put(r, (operation){.code = OR}, -1);
    }
}

/* Whether the value is true or false: a relation, a Boolean, or what is made of them. */
static bool is_truth(const dae_problem *problem, const sweep_expression *e)
{
    const operation *last = &e->list[e->count - 1];
    if (last->code == VARIABLE)
        return dae_problem_variable_info(problem, last->index).type == DAE_TYPE_BOOLEAN;
    if (last->code == PARAMETER)
        return dae_problem_parameter_info(problem, last->index).type == DAE_TYPE_BOOLEAN;
    return last->code == NOT || last->code >= LESS;
}

report_status sweep_expression_new(const dae_problem *problem, const char *text, size_t length,
                                   sweep_expression **expression, report_error *error)
{
    reader r = {.problem = problem, .text = text, .at = text, .end = text + length, .error = error};
    *expression = r.to = calloc(1, sizeof *r.to);
    if (!r.to) return report_fail(error, REPORT_ERR_MEMORY, "Out of memory for an expression.");
    read_condition(&r);
    skip(&r);
    if (!r.failed && r.at < r.end) {
        char rest[40];
        snprintf(rest, sizeof rest, "%.*s", (int)(r.end - r.at < 30 ? r.end - r.at : 30), r.at);
        fail(&r, "nobody knows what to do with ", rest);
    }
    if (!r.failed) r.to->truth = is_truth(problem, r.to);
    if (!r.failed) return REPORT_OK;
    sweep_expression_free(r.to);
    *expression = NULL;
    return REPORT_ERR_ARGUMENT;
}

void sweep_expression_free(sweep_expression *e)
{
    free(e);
}

/* ---- values ---- */

static double pair_value(code c, double a, double b)
{
    switch (c) {
    case ADD: return a + b;
    case SUBTRACT: return a - b;
    case MULTIPLY: return a * b;
    case DIVIDE: return a / b;
    case POWER: return pow(a, b);
    case LESS: return a < b;
    case LESS_EQUAL: return a <= b;
    case GREATER: return a > b;
    case GREATER_EQUAL: return a >= b;
    case EQUAL: return a == b;
    case DIFFERENT: return a != b;
    case AND: return a != 0.0 && b != 0.0;
    case OR: return a != 0.0 || b != 0.0;
    default: return NAN;
    }
}

/* What changes its sign where the operation, with the end of a stack before it, jumps or bends. */
static double margin_of(const operation *o, const double *end)
{
    if (o->code == CALL1) return functions[o->index].bends1(end[-1]);
    if (o->code == CALL2) return functions[o->index].bends2(end[-2], end[-1]);
    return end[-2] - end[-1];
}

/* margin: of its switches; NULL: not wanted */
static double run(const sweep_expression *e, const sweep_values *at, double *margin)
{
    double stack[DEPTH];
    int n = 0;
    for (int k = 0; k < e->count; k++) {
        const operation *o = &e->list[k];
        if (margin && is_switch(o)) *margin++ = margin_of(o, stack + n);
        switch (o->code) {
        case NUMBER: stack[n++] = o->number; break;
        case TIME: stack[n++] = at->t; break;
        case VARIABLE: stack[n++] = at->y[o->index]; break;
        case DERIVATIVE: stack[n++] = at->derivative[o->index]; break;
        case PARAMETER: stack[n++] = at->parameter[o->index]; break;
        case NEGATE: stack[n - 1] = -stack[n - 1]; break;
        case NOT: stack[n - 1] = stack[n - 1] == 0.0; break;
        case CALL1: stack[n - 1] = functions[o->index].one(stack[n - 1]); break;
        case CALL2:
            n--;
            stack[n - 1] = functions[o->index].two(stack[n - 1], stack[n]);
            break;
        default: n--; stack[n - 1] = pair_value(o->code, stack[n - 1], stack[n]);
        }
    }
    return stack[0];
}

double sweep_expression_value(const sweep_expression *e, const sweep_values *at)
{
    return run(e, at, NULL);
}

int sweep_expression_switches(const sweep_expression *e)
{
    return e->switches;
}

void sweep_expression_margins(const sweep_expression *e, const sweep_values *at, double *margin)
{
    (void)run(e, at, margin);
}

bool sweep_expression_derivatives(const sweep_expression *e)
{
    return e->derivatives;
}

bool sweep_expression_true(const sweep_expression *e)
{
    return e->truth;
}

int sweep_expression_variable(const sweep_expression *e)
{
    return e->count == 1 && e->list[0].code == VARIABLE ? e->list[0].index : -1;
}
