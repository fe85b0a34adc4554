#include "solve/api/model_values.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/text.h"
#include "modelica/syntax/parser.h"

/* ---------------------------------------------------------------------------------------------
 * Names
 * ------------------------------------------------------------------------------------------- */

bool same_but_quotes(const char *a, const char *b)
{
    for (;; a++, b++) {
        while (*a == '\'') a++;
        while (*b == '\'') b++;
        if (*a != *b || !*a) return *a == *b;
    }
}

/* Length of the first identifier of a name, quoted or not. */
static size_t identifier_length(const char *name)
{
    size_t k = 0;
    if (name[0] != '\'') return strcspn(name, ".[");
    for (k = 1; name[k] && name[k] != '\''; k++)
        if (name[k] == '\\' && name[k + 1]) k++;
    return name[k] ? k + 1 : k;
}

/* Whether an identifier of a declaration is the one in name[0 .. length). */
static bool is_identifier(const char *declared, const char *name, size_t length)
{
    size_t n = strlen(declared);
    if (n == length && strncmp(declared, name, n) == 0) return true;
    return n == length + 2 && declared[0] == '\'' && strncmp(declared + 1, name, length) == 0;
}

static dae_status no_memory(dae_diag *diag)
{
    return diag_set(diag, DAE_ERR_MEMORY, "Out of memory while translating the model.");
}

/* ---------------------------------------------------------------------------------------------
 * Declarations: the type of a dotted name, from the syntax tree
 * ------------------------------------------------------------------------------------------- */

static const ast_class *class_in(ast_class *const *classes, size_t count, const char *name)
{
    const char *dot = strrchr(name, '.');
    for (size_t k = 0; k < count; k++) {
        const ast_class *c = classes[k];
        if (strcmp(c->name, name) == 0 || (dot && strcmp(c->name, dot + 1) == 0)) return c;
        const ast_class *inner = class_in(c->classes, c->class_count, name);
        if (inner) return inner;
    }
    return NULL;
}

/* What a name stands for: a component of the model, or a part of one. */
typedef struct declared {
    ast_component *component; /* of the model; NULL: there is none */
    bool whole;               /* the name is that component, not a part of it */
    bool known;               /* the type below is known */
    flat_type type;
    const ast_class *class_; /* of an enumeration or a record, else NULL */
    char *name;              /* as the model spells it */
} declared;

/* The type behind a name, through `type T = Integer` and the like. */
static bool resolve_type(const ast_file *tree, const char *type, declared *d)
{
    static const char *const plain[] = {"Real", "Integer", "Boolean", "String"};
    for (int depth = 0; type && depth < 16; depth++) {
        for (int k = 0; k < 4; k++)
            if (strcmp(type, plain[k]) == 0) {
                d->type = (flat_type)k;
                return true;
            }
        const ast_class *c = class_in(tree->classes, tree->class_count, type);
        if (!c && tree->model) c = class_in(tree->model->classes, tree->model->class_count, type);
        d->class_ = c;
        if (c && c->literal_count > 0) d->type = FLAT_ENUMERATION;
        if (!c || c->literal_count > 0) return c != NULL;
        type = c->base;
    }
    return false;
}

static ast_component *component_in(const ast_class *c, const char *name, size_t length)
{
    for (size_t k = 0; c && k < c->component_count; k++)
        if (is_identifier(c->components[k].name, name, length)) return &c->components[k];
    return NULL;
}

/* Append the subscripts at `at`, without blanks; returns where they end. */
static const char *copy_subscripts(const char *at, char *name)
{
    size_t n = strlen(name);
    if (*at != '[') return at;
    for (; *at && *at != ']'; at++)
        if (*at != ' ') name[n++] = *at;
    name[n] = ']';
    return *at ? at + 1 : at;
}

/* Look a name up. d->component is NULL if there is none; false: memory. */
static bool find_declared(arena *a, const ast_file *tree, const char *name, declared *d)
{
    size_t room = 2 * strlen(name) + 4; /* quotes may be added */
    const ast_class *c = tree->model;
    const char *at = name;
    *d = (declared){.name = arena_alloc(a, room), .whole = true};
    if (!d->name) return false;
    while (c) {
        size_t length = identifier_length(at);
        ast_component *part = component_in(c, at, length);
        if (!part) break;
        if (!d->component) d->component = part;
        d->class_ = NULL;
        d->known = resolve_type(tree, part->type, d);
        strcat(d->name, part->name);
        d->whole = d->whole && at[length] == '\0';
        at = copy_subscripts(at + length, d->name);
        if (!*at) return true;
        d->whole = d->known = false;
        if (*at != '.') break;
        strcat(d->name, ".");
        at++;
        c = d->class_;
    }
    d->component = NULL;
    strcpy(d->name, name);
    return true;
}

/* ---------------------------------------------------------------------------------------------
 * Values in texts
 * ------------------------------------------------------------------------------------------- */

/* "name = value" in two, without blanks around them; false if there is no "=". */
static bool split(arena *a, const char *assignment, char **name, char **text)
{
    const char *at = assignment + strspn(assignment, " \t"), *equals = at;
    for (bool quoted = false; *equals && (quoted || *equals != '='); equals++)
        if (quoted && *equals == '\\' && equals[1])
            equals++;
        else if (*equals == '\'')
            quoted = !quoted;
    size_t length = (size_t)(equals - at);
    while (length > 0 && strchr(" \t", at[length - 1])) length--;
    if (!*equals || length == 0) return false;
    equals += 1 + strspn(equals + 1, " \t\n");
    size_t rest = strlen(equals);
    while (rest > 0 && strchr(" \t\n", equals[rest - 1])) rest--;
    *name = arena_text(a, at, length);
    *text = arena_text(a, equals, rest);
    return true;
}

/* The expression that a text is; NULL if it is none. *failed: memory. */
static ast_expr *parse_value(arena *a, const char *text, bool *failed)
{
    static const char before[] = "model M parameter Real x = ", after[] = "; end M;";
    size_t n = strlen(text), total = sizeof before + n + sizeof after;
    char *whole = arena_alloc(a, total);
    *failed = !whole;
    if (!whole || (n > 0 && text[n - 1] == ';')) return NULL;
    size_t length = (size_t)snprintf(whole, total, "%s%s%s", before, text, after);
    message_list *messages = message_list_new("value", whole, length, 1);
    ast_file *tree = messages ? parse_file(a, whole, length, messages) : NULL;
    const ast_class *m = tree && message_errors(messages) == 0 ? tree->model : NULL;
    *failed = !messages || message_memory_failed(messages) || arena_failed(a);
    message_list_free(messages);
    bool alone = m && m->component_count == 1 && m->section_count == 0 && tree->class_count <= 1;
    return alone && !m->components[0].comment ? m->components[0].value : NULL;
}

static const value_literals *literals_of(arena *a, const ast_class *c)
{
    value_literals *all = c && c->literal_count > 0 ? arena_alloc(a, sizeof *all) : NULL;
    if (all) *all = (value_literals){c->name, c->literals, (int)c->literal_count};
    return all;
}

static int literal_number(const value_literals *literals, const char *name)
{
    for (int k = 0; literals && k < literals->count; k++)
        if (same_but_quotes(literals->names[k], name)) return k + 1;
    return 0;
}

/* A number, true, false or the literal of an enumeration; false if e is anything else. */
static bool scalar_value(const ast_expr *e, const value_literals *literals, double *x)
{
    double sign = 1.0;
    for (; e->kind == AST_UNARY && (e->op == OP_MINUS || e->op == OP_PLUS); e = e->args[0])
        if (e->op == OP_MINUS) sign = -sign;
    *x = sign * e->value;
    if (e->kind == AST_NUMBER || e->kind == AST_BOOLEAN) return true;
    if (e->kind != AST_REFERENCE || e->part_count == 0) return false;
    *x = literal_number(literals, e->parts[e->part_count - 1].name);
    return *x > 0.0;
}

/* Let every part of e stand at `place`, where messages about it point to, and let the literals of
 * an enumeration have its name in front. Left spines may be long (ast.h). */
static bool settle(arena *a, ast_expr *e, const ast_component *c, const value_literals *literals)
{
    for (; e; e = e->kind == AST_BINARY ? e->args[0] : NULL) {
        e->place = e->end = c->place;
        e->end.column += (int)strlen(c->name);
        for (size_t k = e->kind == AST_BINARY; k < e->arg_count; k++)
            if (e->args[k] && !settle(a, e->args[k], c, literals)) return false;
        for (size_t k = 0; k < e->named_count; k++)
            if (!settle(a, e->named[k].value, c, literals)) return false;
        for (size_t k = 0; k < e->part_count; k++) e->parts[k].place = c->place;
        bool bare = e->kind == AST_REFERENCE && e->part_count == 1;
        if (!bare || !literal_number(literals, e->parts[0].name)) continue;
        ast_part *parts = arena_alloc(a, 2 * sizeof *parts);
        if (!parts) return false;
        const char *literal = literals->names[literal_number(literals, e->parts[0].name) - 1];
        parts[0] = (ast_part){.name = literals->type, .place = c->place};
        parts[1] = (ast_part){.name = literal, .place = c->place};
        e->parts = parts;
        e->part_count = 2;
    }
    return true;
}

/* ---------------------------------------------------------------------------------------------
 * What a value may be
 * ------------------------------------------------------------------------------------------- */

static dae_status reject_literal(const char *name, const value_literals *literals,
                                 const char *given, dae_diag *diag)
{
    diag_set(diag, DAE_ERR_ARGUMENT, "%s is of type %s, one of ", name, literals->type);
    text_list list = text_list_in(diag, 20);
    for (int k = 0; k < literals->count; k++) text_list_add(&list, "%s", literals->names[k]);
    text_list_end(&list);
    diag_append(diag, " (or 1 to %d), not %s.", literals->count, given);
    return DAE_ERR_ARGUMENT;
}

dae_status model_value_check(const char *name, flat_type type, const value_literals *literals,
                             double value, dae_diag *diag)
{
    char text[40];
    snprintf(text, sizeof text, "%.15g", value);
    if (!isfinite(value))
        return diag_set(diag, DAE_ERR_ARGUMENT, "%s = %g is not a finite number.", name, value);
    if (type == FLAT_INTEGER && value != floor(value))
        return diag_set(diag, DAE_ERR_ARGUMENT, "%s is an Integer, a whole number, not %s.", name,
                        text);
    if (type == FLAT_INTEGER && fabs(value) > 2147483647.0)
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "%s is an Integer, at most 2147483647 in size, not %s.", name, text);
    if (type == FLAT_BOOLEAN && value != 0.0 && value != 1.0)
        return diag_set(diag, DAE_ERR_ARGUMENT, "%s is a Boolean, true or false (1 or 0), not %s.",
                        name, text);
    bool ordinal = value == floor(value) && value >= 1.0 && literals && value <= literals->count;
    if (type == FLAT_ENUMERATION && literals && !ordinal)
        return reject_literal(name, literals, text, diag);
    return DAE_OK;
}

/* ---------------------------------------------------------------------------------------------
 * Settings before the translation
 * ------------------------------------------------------------------------------------------- */

typedef struct assigner {
    arena *a;
    ast_file *tree;
    flatten_setting *settings;
    size_t *count;
    dae_diag *diag;
} assigner;

/* Variables and constants have no value to be given. */
static dae_status check_component(const declared *d, dae_diag *diag)
{
    const ast_component *c = d->component;
    bool locked = c->final_ || c->variability == VAR_CONSTANT;
    if (c->variability == VAR_PARAMETER && !locked) return DAE_OK;
    if (diag) diag->line = c->place.line;
    if (locked)
        return diag_set(diag, DAE_ERR_ARGUMENT, "%s (line %d) is %s and cannot be set.", d->name,
                        c->place.line, c->final_ ? "final" : "a constant");
    return diag_set(diag, DAE_ERR_ARGUMENT,
                    "%s (line %d) is a variable, not a parameter: give it a start value instead.",
                    d->name, c->place.line);
}

static void add_setting(assigner *g, const char *name, double value)
{
    g->settings[(*g->count)++] = (flatten_setting){name, value};
}

/* The expression of a number, for a component of the given type. */
static ast_expr *number_expr(arena *a, const declared *d, double x)
{
    ast_expr *e = arena_alloc(a, sizeof *e), *whole = e;
    if (!e) return NULL;
    e->kind = d->known && d->type == FLAT_BOOLEAN ? AST_BOOLEAN : AST_NUMBER;
    e->value = fabs(x);
    e->integer = d->known && d->type == FLAT_INTEGER;
    if (d->known && d->type == FLAT_ENUMERATION) {
        e->kind = AST_REFERENCE;
        e->parts = arena_alloc(a, sizeof *e->parts);
        e->part_count = 1;
        if (!e->parts) return NULL;
        e->parts[0].name = d->class_->literals[(int)x - 1];
    } else if (x < 0.0) {
        whole = arena_alloc(a, sizeof *whole);
        ast_expr **args = arena_alloc(a, sizeof *args);
        if (!whole || !args) return NULL;
        args[0] = e;
        *whole = (ast_expr){.kind = AST_UNARY, .op = OP_MINUS, .args = args, .arg_count = 1};
    }
    return whole;
}

/* Component := e */
static dae_status bind(assigner *g, const declared *d, ast_expr *e)
{
    const value_literals *literals = d->known ? literals_of(g->a, d->class_) : NULL;
    if (!e || !settle(g->a, e, d->component, literals)) return no_memory(g->diag);
    d->component->value = e;
    return DAE_OK;
}

/* A scalar to be set by its number. */
static dae_status assign_number(assigner *g, const declared *d, double x)
{
    const value_literals *literals = d->known ? literals_of(g->a, d->class_) : NULL;
    if (d->known && d->type == FLAT_STRING)
        return diag_set(g->diag, DAE_ERR_ARGUMENT, "%s is a String, not a number.", d->name);
    dae_status status =
        model_value_check(d->name, d->known ? d->type : FLAT_REAL, literals, x, g->diag);
    if (status != DAE_OK) return status;
    if (d->whole) return bind(g, d, number_expr(g->a, d, x));
    add_setting(g, d->name, x);
    return DAE_OK;
}

/* A String: the text itself, unless it is written in quotes. */
static dae_status assign_string(assigner *g, const declared *d, const char *text, ast_expr *e)
{
    if (!d->whole)
        return diag_set(g->diag, DAE_ERR_UNSUPPORTED,
                        "%s is a String inside of an array or record: set the whole of %s.",
                        d->name, d->component->name);
    bool written = e && (text[0] == '"' || text[0] == '{' || e->kind == AST_CALL);
    if (!written) {
        e = arena_alloc(g->a, sizeof *e);
        if (e) *e = (ast_expr){.kind = AST_STRING, .text = text};
    }
    return bind(g, d, e);
}

static dae_status reject_text(const declared *d, const char *text, const value_literals *literals,
                              dae_diag *diag)
{
    static const char *const kinds[] = {"a finite number", "a whole number", "true or false",
                                        "a text"};
    if (literals) return reject_literal(d->name, literals, text, diag);
    bool array = d->whole && d->component->size_count > 0;
    return diag_set(diag, DAE_ERR_ARGUMENT, "%s needs %s%s, not '%s'.", d->name,
                    d->known ? kinds[d->type] : "a value",
                    array ? " for each element, {a, b, ..}" : "", text);
}

/* Whether an expression may use a name: of a component, or of a global constant. */
static bool is_declared(const ast_file *tree, const char *name)
{
    for (size_t k = 0; k < tree->constant_count; k++)
        if (strcmp(tree->constants[k].name, name) == 0) return true;
    return component_in(tree->model, name, strlen(name)) != NULL;
}

/* One "name = text". */
static dae_status assign_text(assigner *g, const char *name, const char *text)
{
    declared d;
    double x;
    if (!name || !text || !find_declared(g->a, g->tree, name, &d)) return no_memory(g->diag);
    if (!d.component) { /* the translation tells that there is no such name */
        add_setting(g, d.name, 0.0);
        return DAE_OK;
    }
    dae_status status = check_component(&d, g->diag);
    if (status != DAE_OK) return status;
    bool failed;
    ast_expr *e = parse_value(g->a, text, &failed);
    if (failed) return no_memory(g->diag);
    if (d.known && d.type == FLAT_STRING) return assign_string(g, &d, text, e);
    const value_literals *literals = d.known ? literals_of(g->a, d.class_) : NULL;
    char *end;
    double number = strtod(text, &end);
    bool infinite = *text && !*end && !isfinite(number);
    if (!e || infinite) return reject_text(&d, text, literals, g->diag);
    if (scalar_value(e, literals, &x)) return assign_number(g, &d, x);
    bool bare = e->kind == AST_REFERENCE && e->part_count == 1;
    if ((bare && !is_declared(g->tree, e->parts[0].name)) || !d.whole)
        return reject_text(&d, text, literals, g->diag);
    return bind(g, &d, e);
}

static dae_status assign_setting(assigner *g, const dae_setting *setting)
{
    declared d;
    if (!find_declared(g->a, g->tree, setting->name, &d)) return no_memory(g->diag);
    if (!d.component) {
        add_setting(g, d.name, setting->value);
        return DAE_OK;
    }
    dae_status status = check_component(&d, g->diag);
    return status == DAE_OK ? assign_number(g, &d, setting->value) : status;
}

dae_status model_value_expression(arena *a, ast_file *tree, const char *name, const char *text,
                                  const ast_expr **expression, dae_diag *diag)
{
    declared d;
    if (!find_declared(a, tree, name, &d)) return no_memory(diag);
    bool failed;
    ast_expr *e = parse_value(a, text, &failed);
    if (failed) return no_memory(diag);
    if (!e)
        return diag_set(diag, DAE_ERR_ARGUMENT, "Input %s: '%s' is not an expression.", name, text);
    const ast_component nowhere = {.name = ""};
    const value_literals *literals = d.known ? literals_of(a, d.class_) : NULL;
    if (!settle(a, e, d.component ? d.component : &nowhere, literals)) return no_memory(diag);
    *expression = e;
    return DAE_OK;
}

/* The = of an equation, outside of quotes and texts; NULL: there is none. */
static const char *find_equals(const char *text)
{
    char quote = 0;
    for (const char *at = text; *at; at++) {
        if (quote && *at == '\\' && at[1]) {
            at++;
            continue;
        }
        if (quote || *at == '\'' || *at == '"') {
            quote = !quote ? *at : *at == quote ? 0 : quote;
            continue;
        }
        if (*at != '=' || (at > text && strchr("<>:", at[-1]))) continue;
        return at;
    }
    return NULL;
}

static dae_status read_condition(arena *a, const char *text, flatten_condition *c, dae_diag *diag)
{
    const char *equals = text ? find_equals(text) : NULL;
    ast_expr *side[2] = {NULL, NULL};
    const ast_component nowhere = {.name = ""};
    for (int k = 0; k < 2 && equals; k++) {
        const char *from = k ? equals + 1 + (equals[1] == '=') : text;
        char *part = arena_text(a, from, k ? strlen(from) : (size_t)(equals - text));
        bool failed = !part;
        side[k] = part ? parse_value(a, part, &failed) : NULL;
        if (failed || (side[k] && !settle(a, side[k], &nowhere, NULL))) return no_memory(diag);
    }
    if (!side[0] || !side[1])
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "The condition at the end '%s' is not of the form left = right.",
                        text ? text : "(none)");
    *c = (flatten_condition){side[0], side[1], text};
    return DAE_OK;
}

dae_status model_conditions_read(arena *a, const dae_model *model, flatten_condition **list,
                                 dae_diag *diag)
{
    dae_status status = DAE_OK;
    *list = arena_alloc(a, ((size_t)model->terminal_count + 1) * sizeof **list);
    if (!*list) return no_memory(diag);
    for (int k = 0; k < model->terminal_count && status == DAE_OK; k++)
        status = read_condition(a, model->terminal[k], &(*list)[k], diag);
    return status;
}

dae_status model_values_assign(arena *a, ast_file *tree, const dae_model *model,
                               flatten_setting *settings, size_t *count, dae_diag *diag)
{
    assigner g = {a, tree, settings, count, diag};
    dae_status status = DAE_OK;
    *count = 0;
    for (int i = 0; i < model->setting_count && status == DAE_OK; i++)
        status = assign_setting(&g, &model->settings[i]);
    for (int i = 0; i < model->assignment_count && status == DAE_OK; i++) {
        char *name = NULL, *text = NULL;
        if (!split(a, model->assignments[i], &name, &text))
            return diag_set(diag, DAE_ERR_ARGUMENT, "'%s' is not of the form name = value.",
                            model->assignments[i]);
        status = assign_text(&g, name, text);
    }
    return arena_failed(a) ? no_memory(diag) : status;
}

/* ---------------------------------------------------------------------------------------------
 * Settings after the translation
 * ------------------------------------------------------------------------------------------- */

typedef struct spreader {
    literal_finder literals;
    value_setter set;
    void *context;
    dae_diag *diag;
    char name[512]; /* of the scalar at hand */
} spreader;

/* Set the scalars of e, whose name so far is p->name[0 .. length). */
static dae_status spread(spreader *p, const ast_expr *e, size_t length, int rank)
{
    double x;
    dae_status status = DAE_OK;
    if (e->kind == AST_ARRAY && rank < 16) {
        for (size_t k = 0; k < e->arg_count && status == DAE_OK; k++) {
            size_t at = length - (rank > 0); /* over the "]" */
            int more =
                snprintf(p->name + at, sizeof p->name - at, "%c%zu]", rank ? ',' : '[', k + 1);
            if (at + (size_t)more >= sizeof p->name) return DAE_ERR_ARGUMENT;
            status = spread(p, e->args[k], at + (size_t)more, rank + 1);
        }
        return status;
    }
    const value_literals *literals = p->literals(p->context, p->name);
    if (scalar_value(e, literals, &x)) return p->set(p->context, p->name, x, p->diag);
    bool name = e->kind == AST_REFERENCE && e->part_count > 0;
    const char *given = name ? e->parts[e->part_count - 1].name : "an expression";
    if (literals) return reject_literal(p->name, literals, given, p->diag);
    return diag_set(p->diag, DAE_ERR_ARGUMENT, "%s needs a finite number, true or false, not %s.",
                    p->name, given);
}

dae_status model_values_spread(const char *assignment, literal_finder literals, value_setter set,
                               void *context, dae_diag *diag)
{
    spreader p = {.literals = literals, .set = set, .context = context, .diag = diag};
    char *name = NULL, *text = NULL;
    arena *a = arena_new(0);
    if (!a) return no_memory(diag);
    dae_status status = DAE_OK;
    if (!split(a, assignment, &name, &text))
        status =
            diag_set(diag, DAE_ERR_ARGUMENT, "'%s' is not of the form name = value.", assignment);
    else if (!name || !text)
        status = no_memory(diag);
    bool failed = false;
    const ast_expr *e = status == DAE_OK ? parse_value(a, text, &failed) : NULL;
    if (status == DAE_OK && !e)
        status = failed
                     ? no_memory(diag)
                     : diag_set(diag, DAE_ERR_ARGUMENT,
                                "%s needs a finite number, true or false, not '%s'.", name, text);
    if (status == DAE_OK) {
        int length = snprintf(p.name, sizeof p.name, "%s", name);
        status = length < (int)sizeof p.name ? spread(&p, e, (size_t)length, 0)
                                             : diag_set(diag, DAE_ERR_ARGUMENT, "A name too long.");
    }
    arena_free(a);
    return status;
}

/* ---------------------------------------------------------------------------------------------
 * The listing
 * ------------------------------------------------------------------------------------------- */

/* Copies of the literals of an enumeration, one for all that share a class. */
static const value_literals *keep_literals(arena *a, const ast_class *c, const value_literals *last)
{
    if (last && strcmp(last->type, c->name) == 0 && last->count == (int)c->literal_count)
        return last;
    value_literals *all = arena_alloc(a, sizeof *all);
    const char **names = arena_alloc(a, c->literal_count * sizeof *names);
    if (!all || !names) return NULL;
    *all = (value_literals){arena_text(a, c->name, strlen(c->name)), names, (int)c->literal_count};
    for (size_t k = 0; k < c->literal_count; k++)
        names[k] = arena_text(a, c->literals[k], strlen(c->literals[k]));
    return all;
}

/* The literals of something named in the flat model. */
static bool note_literals(arena *a, const ast_file *tree, const char *name,
                          const value_literals **place, const value_literals **last)
{
    declared d;
    arena *scratch = arena_new(0);
    bool ok = scratch && find_declared(scratch, tree, name, &d);
    if (ok && d.component && d.known && d.type == FLAT_ENUMERATION)
        *place = *last = keep_literals(a, d.class_, *last);
    arena_free(scratch);
    return ok;
}

static bool note_enumerations(model_form *f, const ast_file *tree)
{
    const flat_model *m = f->flat;
    struct model_listing *l = f->listing;
    const value_literals *last = NULL;
    bool ok = true;
    for (size_t p = 0; p < m->parameter_count && ok; p++)
        if (m->parameters[p].type == FLAT_ENUMERATION)
            ok = note_literals(f->notes, tree, m->parameters[p].name, &l->parameter[p], &last);
    for (size_t v = 0; v < m->variable_count && ok; v++)
        if (m->variables[v].type == FLAT_ENUMERATION)
            ok = note_literals(f->notes, tree, m->variables[v].name, &l->variable[v], &last);
    return ok;
}

/* The unit of der(x), where the unit of x makes it easy to tell. */
static void derivative_unit(const char *unit, char *text, size_t size)
{
    size_t n = unit ? strlen(unit) : 0;
    text[0] = '\0';
    if (n == 0 || n + 4 > size) return;
    const char *more = !strchr(unit, '/') ? "/s" : strcmp(unit + n - 2, "/s") == 0 ? "2" : NULL;
    if (more) text_append(text, size, text_append(text, size, 0, unit, n), more, 2);
}

static const char *joined(arena *a, const char *before, const char *name, const char *after)
{
    size_t size = strlen(before) + strlen(name) + strlen(after) + 1;
    char *text = arena_text(a, NULL, size - 1);
    size_t length = text ? text_append(text, size, 0, before, size) : 0;
    if (text) length = text_append(text, size, length, name, size);
    if (text) text_append(text, size, length, after, size);
    return text;
}

/* der(x) for every visible variable whose derivative the equations determine. */
static bool note_derivatives(model_form *f)
{
    struct model_listing *l = f->listing;
    l->derivatives = arena_alloc(f->notes, (size_t)f->visible_count * sizeof *l->derivatives + 1);
    bool ok = l->derivatives != NULL;
    for (int k = 0; k < f->visible_count && ok; k++) {
        int v = f->visible[k], root = f->alias[v].top, i = f->first_unknown[root];
        if (f->flat->variables[v].discrete || i < 0 || !f->differential[i]) continue;
        char unit[64];
        derivative_unit(f->flat->variables[v].words->unit, unit, sizeof unit);
        bool follows = i + 1 < f->n && f->unknown_order[i + 1] == 1;
        l->derivatives[l->derivative_count++] = (model_derivative){
            .variable = k,
            .unknown = follows ? i + 1 : i,
            .is_unknown = follows,
            .sign = f->alias[v].top_sign,
            .name = joined(f->notes, "der(", f->flat->variables[v].name, ")"),
            .unit = unit[0] ? joined(f->notes, "", unit, "") : "",
        };
        ok = !arena_failed(f->notes);
    }
    return ok;
}

/* Of the variables that are the same but for a sign, the first one that users see. */
static bool note_aliases(model_form *f)
{
    size_t count = f->flat->variable_count;
    int *first = arena_alloc(f->notes, (count + 1) * sizeof *first);
    if (!first) return false;
    f->listing->first_visible = first;
    for (size_t v = 0; v < count; v++) first[v] = -1;
    for (int k = f->visible_count - 1; k >= 0; k--) first[f->alias[f->visible[k]].top] = k;
    for (int k = 0; k < f->visible_count; k++) { /* rather one that is an unknown itself */
        int v = f->visible[k];
        if (f->alias[v].top == v) first[v] = k;
    }
    return true;
}

bool model_listing_make(model_form *f, const ast_file *tree)
{
    if (!f->notes) f->notes = arena_new(0);
    struct model_listing *l = f->notes ? arena_alloc(f->notes, sizeof *l) : NULL;
    if (!l) return false;
    f->listing = l;
    l->parameter = arena_alloc(f->notes, (f->flat->parameter_count + 1) * sizeof *l->parameter);
    l->variable = arena_alloc(f->notes, (f->flat->variable_count + 1) * sizeof *l->variable);
    bool ok = l->parameter && l->variable && note_enumerations(f, tree) && note_aliases(f) &&
              note_derivatives(f);
    return ok && !arena_failed(f->notes);
}
