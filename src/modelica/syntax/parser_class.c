#include <stdio.h>
#include <string.h>

#include "modelica/syntax/parser_core.h"

/* ---- components ---- */

typedef struct prefixes {
    ast_variability variability;
    bool input, output, final_, flow, stream;
} prefixes;

static void set_variability(parser *p, prefixes *x, ast_variability v)
{
    if (x->variability != VAR_NONE)
        COMPLAIN(p, p->current.place,
                 "a variable is one of 'parameter', 'constant' and 'discrete', not two of them");
    x->variability = v;
}

/* Prefixes of full Modelica that have no meaning in a flat model. */
static void reject_prefix(parser *p)
{
    char what[32];
    snprintf(what, sizeof what, "'%s' is", token_spelling(p->current.kind));
    reject(p, p->current.place, what);
}

/* type-prefix = { "final" | "parameter" | "constant" | "discrete" | "input" | "output" } */
static prefixes parse_prefixes(parser *p)
{
    prefixes x = {0};
    for (;; step(p)) {
        switch (p->current.kind) {
        case TOK_FINAL: x.final_ = true; break;
        case TOK_PARAMETER: set_variability(p, &x, VAR_PARAMETER); break;
        case TOK_CONSTANT: set_variability(p, &x, VAR_CONSTANT); break;
        case TOK_DISCRETE: set_variability(p, &x, VAR_DISCRETE); break;
        case TOK_INPUT: x.input = true; break;
        case TOK_OUTPUT: x.output = true; break;
        case TOK_FLOW: x.flow = true, reject_prefix(p); break;
        case TOK_STREAM: x.stream = true, reject_prefix(p); break;
        case TOK_INNER:
        case TOK_OUTER:
        case TOK_REDECLARE:
        case TOK_REPLACEABLE: reject_prefix(p); break;
        default: return x;
        }
    }
}

/* What stands where a declaration should be. */
static void report_no_declaration(parser *p)
{
    const char *what = found(p);
    switch (p->current.kind) {
    case TOK_IF:
    case TOK_FOR:
    case TOK_WHEN:
    case TOK_WHILE:
    case TOK_DER:
    case TOK_LEFT_PAREN:
        PARSE_ERROR(p, p->current.place,
                    "expected a declaration, found %s; equations follow the word 'equation'", what);
        break;
    default: PARSE_ERROR(p, p->current.place, "expected a declaration, found %s", what);
    }
}

/* An equation among the declarations: "x = 1" or "x + y = 1". */
static bool looks_like_equation(const parser *p)
{
    token_kind k = p->current.kind;
    return k == TOK_EQUALS || k == TOK_LEFT_PAREN ||
           (k >= TOK_ASSIGN && k <= TOK_NE && k != TOK_AT);
}

/* declaration = NAME [ array-subscripts ] [ modification ] */
static void parse_declaration(parser *p, ast_component *c, const list *type_sizes)
{
    list sizes = {0};
    if (at(p, TOK_LEFT_BRACKET) && !parse_subscripts(p, &sizes)) return;
    for (size_t i = 0; i < type_sizes->count; i++)
        list_add_pointer(p, &sizes, ((ast_expr **)type_sizes->data)[i]);
    c->sizes = sizes.data;
    c->size_count = sizes.count;
    if (at(p, TOK_LEFT_PAREN))
        c->modifications = parse_modifications(p, &c->modification_count, false);
    if (p->panic) return;
    if (accept(p, TOK_EQUALS) || accept(p, TOK_ASSIGN)) c->value = parse_expression(p);
    if (!p->panic && accept(p, TOK_IF)) c->condition = parse_condition(p, "if");
    c->comment = parse_comment(p);
}

/* component-list = declaration comment { "," declaration comment }. A component whose declaration
 * is wrong behind its name is kept, so that its name is known. */
static void parse_component_list(parser *p, const ast_component *common, const list *type_sizes,
                                 list *into, char *what, size_t what_size)
{
    do {
        ast_component c = *common;
        c.place = p->current.place;
        c.name = expect_name(p, "the name of a variable");
        if (!c.name) return;
        parse_declaration(p, &c, type_sizes);
        if (!at(p, TOK_SEMICOLON)) /* else nobody asks */
            snprintf(what, what_size,
                     *c.name == '\'' ? "the declaration of %.60s" : "the declaration of '%.60s'",
                     c.name);
        ast_component *slot = list_add(p, into, sizeof *slot);
        if (!slot) return;
        *slot = c;
    } while (!p->panic && accept(p, TOK_COMMA));
}

/* component-clause = type-prefix type-specifier [ array-subscripts ] component-list */
static void parse_component_clause(parser *p, const prefixes *x, bool is_protected, list *into)
{
    char what[96] = "the declaration";
    list sizes = {0};
    ast_component common = {.variability = x->variability,
                            .input = x->input,
                            .output = x->output,
                            .final_ = x->final_,
                            .flow = x->flow,
                            .stream = x->stream,
                            .protected_ = is_protected,
                            .type_place = p->current.place};
    if (!at(p, TOK_NAME) && !at(p, TOK_DOT)) {
        report_no_declaration(p);
        return;
    }
    common.type = parse_dotted_name(p, "the type of a variable");
    if (!common.type || (at(p, TOK_LEFT_BRACKET) && !parse_subscripts(p, &sizes))) return;
    if (looks_like_equation(p))
        PARSE_ERROR(p, common.type_place,
                    "expected a declaration, found an equation; equations follow the word "
                    "'equation'");
    if (p->panic) return;
    parse_component_list(p, &common, &sizes, into, what, sizeof what);
    expect_semicolon(p, what);
}

void parse_components(parser *p, bool is_protected, list *into)
{
    prefixes x = parse_prefixes(p);
    parse_component_clause(p, &x, is_protected, into);
}

/* ---- sections ---- */

/* [ "initial" ] ( "equation" | "algorithm" ) items */
static void parse_section(parser *p, list *sections)
{
    ast_section *s = list_add(p, sections, sizeof *s);
    if (!s) return;
    s->place = p->current.place;
    s->initial = accept(p, TOK_INITIAL);
    s->algorithm = at(p, TOK_ALGORITHM);
    step(p);
    if (at(p, TOK_COLON)) COMPLAIN(p, p->current.place, "no ':' follows here");
    accept(p, TOK_COLON);
    parse_items(p, s->algorithm, &s->items, &s->item_count);
}

/* "parameter" "equation" "guess" "(" reference ")" "=" expression comment */
static void parse_parameter_equation(parser *p, list *sections)
{
    source_place place = p->current.place;
    list items = {0};
    step(p);
    step(p);
    ast_item *item = parse_item(p, false);
    expect_semicolon(p, "the parameter equation");
    if (!item || !list_add_pointer(p, &items, item)) return;
    ast_section *s = list_add(p, sections, sizeof *s);
    if (!s) return;
    *s = (ast_section){.parameter = true, .items = items.data, .item_count = 1, .place = place};
}

/* annotation "(" .. ")": what has one of these names is kept, the rest is for other programs. */
static void parse_notes(parser *p, const char *const *names, list *into)
{
    step(p);
    source_place opened = p->current.place;
    if (!expect(p, TOK_LEFT_PAREN, "after 'annotation'")) return;
    do {
        bool kept = false;
        for (size_t k = 0; names[k]; k++) kept = kept || at_word(p, names[k]);
        if (kept)
            parse_modification(p, into, true);
        else
            skip_balanced(p, TOK_RIGHT_PAREN, true);
    } while (!p->panic && accept(p, TOK_COMMA));
    if (!p->panic) expect_close(p, TOK_RIGHT_PAREN, opened, "the annotation");
}

/* class-annotation = "annotation" "(" .. ")" ";" */
static void parse_class_annotation(parser *p, list *into)
{
    static const char *const names[] = {"experiment", "__Daedal", NULL};
    parse_notes(p, names, into);
    expect_semicolon(p, "the annotation");
}

/* ---- what is not in a flat model ---- */

/* external = "external" [ STRING ] [ [ reference "=" ] NAME "(" [ expressions ] ")" ] [ annotation
 * ] ";" */
static void parse_external(parser *p, ast_class *c)
{
    static const char *const names[] = {"Include", "IncludeDirectory", "Library",
                                        "LibraryDirectory", NULL};
    list notes = {0};
    c->external = true;
    c->external_place = p->current.place;
    step(p);
    if (at(p, TOK_STRING)) c->external_language = p->current.text;
    accept(p, TOK_STRING);
    if (at(p, TOK_NAME)) {
        ast_expr *e = parse_simple_expression(p);
        if (e && accept(p, TOK_EQUALS)) {
            c->external_result = e;
            e = parse_simple_expression(p);
        }
        c->external_call = e;
        if (e && e->kind != AST_CALL)
            PARSE_ERROR(p, e->place, "expected a call of the external function: f(x)");
    }
    if (at(p, TOK_ANNOTATION)) parse_notes(p, names, &notes);
    c->external_notes = notes.data;
    c->external_note_count = notes.count;
    if (!p->panic) expect_semicolon(p, "the external function");
}

bool begins_partition(const parser *p)
{
    if (!at_word(p, "partition") && !at_word(p, "subpartition")) return false;
    token_kind k = p->next.kind;
    bool clock = k == TOK_NAME && p->next.text &&
                 (strcmp(p->next.text, "Clock") == 0 || strcmp(p->next.text, "subpartition") == 0);
    return clock || k == TOK_STRING || k == TOK_ANNOTATION || k == TOK_LEFT_PAREN || k == TOK_END;
}

/* Clocked partitions come last in a model: one message, then on to its end. */
static void reject_partition(parser *p)
{
    COMPLAIN(p, p->current.place, "clocked partitions are not supported");
    while (!at(p, TOK_END_OF_FILE) && !(at(p, TOK_END) && p->next.kind == TOK_NAME)) step(p);
}

/* import, extends: one message, and the statement is left out. */
static bool reject_element(parser *p)
{
    switch (p->current.kind) {
    case TOK_EXTENDS:
        if (p->next.kind == TOK_NAME && strcmp(p->next.text, "ExternalObject") == 0) {
            step(p);
            step(p);
            expect_semicolon(p, "'extends ExternalObject'");
            return true;
        }
        reject_prefix(p);
        break;
    case TOK_IMPORT:
    case TOK_CONNECT:
    case TOK_CONSTRAINEDBY: reject_prefix(p); break;
    default: return false;
    }
    p->panic = true;
    return true;
}

/* ---- classes ---- */

bool begins_class(const parser *p)
{
    switch (p->current.kind) {
    case TOK_PURE: return p->next.kind != TOK_LEFT_PAREN;
    case TOK_MODEL:
    case TOK_FUNCTION:
    case TOK_RECORD:
    case TOK_TYPE:
    case TOK_PACKAGE:
    case TOK_BLOCK:
    case TOK_CLASS:
    case TOK_CONNECTOR:
    case TOK_EXPANDABLE:
    case TOK_OPERATOR:
    case TOK_PARTIAL:
    case TOK_ENCAPSULATED:
    case TOK_IMPURE: return true;
    default: return false;
    }
}

/* class-prefixes = [ "pure" [ "constant" ] | "impure" ] */
static void parse_class_prefixes(parser *p, ast_class *c)
{
    for (;; step(p)) {
        switch (p->current.kind) {
        case TOK_PURE: c->pure = true; break;
        case TOK_IMPURE: c->impure = true; break;
        case TOK_CONSTANT: break;
        case TOK_PARTIAL: /* the type of functions that are arguments */
            if (p->next.kind != TOK_FUNCTION) reject_prefix(p);
            c->partial = true;
            break;
        case TOK_ENCAPSULATED:
        case TOK_EXPANDABLE:
        case TOK_OPERATOR: reject_prefix(p); break;
        default: return;
        }
    }
}

/* class NAME [ STRING ] extends ExternalObject ..: what C functions keep between calls */
static bool is_external_object(const parser *p)
{
    lexer ahead = p->lexer; /* reads on behind NAME */
    if (!at(p, TOK_CLASS) || p->next.kind != TOK_NAME) return false;
    token t = lexer_next(&ahead);
    if (t.kind == TOK_STRING) t = lexer_next(&ahead);
    if (t.kind != TOK_EXTENDS) return false;
    t = lexer_next(&ahead);
    return t.kind == TOK_NAME && strcmp(t.text, "ExternalObject") == 0;
}

/* The kind's keyword; kinds of full Modelica are reported and read as their nearest relative. */
static bool parse_class_kind(parser *p, ast_class *c)
{
    switch (p->current.kind) {
    case TOK_MODEL: c->kind = CLASS_MODEL; break;
    case TOK_FUNCTION: c->kind = CLASS_FUNCTION; break;
    case TOK_RECORD: c->kind = CLASS_RECORD; break;
    case TOK_TYPE: c->kind = CLASS_TYPE; break;
    case TOK_PACKAGE: c->kind = CLASS_PACKAGE; break;
    case TOK_BLOCK:
    case TOK_CLASS:
        if (is_external_object(p)) {
            c->kind = CLASS_RECORD;
            break;
        }
        COMPLAIN(p, p->current.place, "'%s' is not part of Base Modelica; write 'model' instead",
                 token_spelling(p->current.kind));
        c->kind = CLASS_MODEL;
        break;
    case TOK_CONNECTOR:
        reject_prefix(p);
        c->kind = CLASS_RECORD;
        break;
    case TOK_NAME: c->kind = CLASS_PACKAGE; return p->previous.kind == TOK_OPERATOR;
    default:
        PARSE_ERROR(p, p->current.place, "expected 'function', found %s", found(p));
        return false;
    }
    step(p);
    return true;
}

static const char *kind_word(ast_class_kind kind)
{
    static const char *const words[] = {"model", "function", "record", "type", "package"};
    return words[kind];
}

/* enum-list = NAME comment { "," NAME comment } */
static bool parse_enumeration(parser *p, ast_class *c)
{
    list literals = {0};
    source_place opened = p->next.place;
    step(p);
    if (!expect(p, TOK_LEFT_PAREN, "after 'enumeration'")) return false;
    if (at(p, TOK_COLON) || at(p, TOK_RIGHT_PAREN)) {
        PARSE_ERROR(p, p->current.place, "an enumeration names its values: enumeration(low, high)");
        return false;
    }
    do {
        const char *name = expect_name(p, "the name of a value");
        if (!name || !list_add_pointer(p, &literals, (void *)(size_t)name)) return false;
        parse_comment(p);
    } while (accept(p, TOK_COMMA));
    c->literals = literals.data;
    c->literal_count = literals.count;
    return expect_close(p, TOK_RIGHT_PAREN, opened, "the enumeration");
}

/* short-class = NAME "=" ( [ "input" | "output" ] name [ array-subscripts ] [ class-modification ]
 *                        | "enumeration" "(" enum-list ")" ) comment */
static bool parse_short_class(parser *p, ast_class *c)
{
    list sizes = {0};
    step(p);
    if (at(p, TOK_DER)) {
        COMPLAIN(p, p->current.place,
                 "derivative functions, 'function f = der(g, x)', are not supported; write the "
                 "function out");
        p->panic = true;
        return false;
    }
    if (at(p, TOK_ENUMERATION)) {
        if (!parse_enumeration(p, c)) return false;
    } else {
        if (!accept(p, TOK_INPUT)) accept(p, TOK_OUTPUT);
        c->base = parse_dotted_name(p, "a type");
        if (!c->base || (at(p, TOK_LEFT_BRACKET) && !parse_subscripts(p, &sizes))) return false;
        c->sizes = sizes.data;
        c->size_count = sizes.count;
        if (at(p, TOK_LEFT_PAREN))
            c->modifications = parse_modifications(p, &c->modification_count, false);
    }
    c->comment = parse_comment(p);
    return !p->panic;
}

/* A class of the right kind for its place: types, records and functions anywhere, models in
 * packages only. */
static void check_nested(parser *p, const ast_class *inner)
{
    if (!p->enclosing || (inner->kind != CLASS_MODEL && inner->kind != CLASS_PACKAGE)) return;
    if (inner->kind == CLASS_MODEL && p->enclosing->kind == CLASS_PACKAGE) return;
    COMPLAIN(p, inner->place,
             "a %s inside of a %s is not part of Base Modelica; export the model as Base Modelica "
             "with your Modelica tool first",
             kind_word(inner->kind), kind_word(p->enclosing->kind));
}

typedef struct composition { /* what a class is made of, while it is read */
    list components, sections, classes, annotation;
    bool is_protected;
} composition;

/* Takes the stray word of a block outside of all sections. */
static void report_stray(parser *p)
{
    PARSE_ERROR(p, p->current.place, "%s does not belong here", found(p));
    step(p);
}

/* element = component-clause | class ";" | "parameter" "equation" .. */
static void parse_element(parser *p, ast_class *c, composition *x)
{
    skip_decoration(p);
    if (at(p, TOK_PARAMETER) && p->next.kind == TOK_EQUATION) {
        parse_parameter_equation(p, &x->sections);
        return;
    }
    if (reject_element(p)) return;
    prefixes found_prefixes = begins_class(p) ? (prefixes){0} : parse_prefixes(p);
    if (begins_class(p)) {
        ast_class *inner = parse_class(p);
        if (inner) list_add_pointer(p, &x->classes, inner);
    } else {
        parse_component_clause(p, &found_prefixes, x->is_protected,
                               c->kind == CLASS_PACKAGE ? &p->constants : &x->components);
    }
}

/* composition = { element | "public" | "protected" | section | external | annotation ";" } */
static void parse_part(parser *p, ast_class *c, composition *x)
{
    switch (p->current.kind) {
    case TOK_PUBLIC:
    case TOK_PROTECTED:
        x->is_protected = at(p, TOK_PROTECTED);
        step(p);
        break;
    case TOK_INITIAL:
        if (p->next.kind != TOK_EQUATION && p->next.kind != TOK_ALGORITHM) {
            parse_element(p, c, x);
            break;
        }
        parse_section(p, &x->sections);
        break;
    case TOK_EQUATION:
    case TOK_ALGORITHM: parse_section(p, &x->sections); break;
    case TOK_EXTERNAL: parse_external(p, c); break;
    case TOK_ANNOTATION: parse_class_annotation(p, &x->annotation); break;
    case TOK_SEMICOLON:
        message_warning(p->messages, p->current.place, "nothing ends here");
        step(p);
        break;
    case TOK_END: report_stray(p); break;
    default:
        if (begins_partition(p))
            reject_partition(p);
        else
            parse_element(p, c, x);
    }
}

static bool at_class_end(const parser *p)
{
    if (at(p, TOK_END_OF_FILE)) return true;
    if (!at(p, TOK_END)) return false;
    token_kind k = p->next.kind;
    return k == TOK_NAME || k == TOK_SEMICOLON || k == TOK_END_OF_FILE;
}

static void parse_composition(parser *p, ast_class *c)
{
    composition x = {0};
    while (!at_class_end(p)) {
        size_t before = p->current.offset;
        begin_statement(p);
        parse_part(p, c, &x);
        if (p->panic) skip_statement(p);
        if (p->current.offset == before && !at_class_end(p)) step(p);
    }
    begin_statement(p);
    c->components = x.components.data;
    c->component_count = x.components.count;
    c->sections = x.sections.data;
    c->section_count = x.sections.count;
    c->classes = x.classes.data;
    c->class_count = x.classes.count;
    c->annotation = x.annotation.data;
    c->annotation_count = x.annotation.count;
}

static bool is_enclosing(const parser *p, const char *name)
{
    for (const open_class *o = p->enclosing; o; o = o->outer)
        if (strcmp(o->name, name) == 0) return true;
    return false;
}

/* Names in messages carry one pair of quotes. */
static const char *quote_of(const char *name)
{
    return *name == '\'' ? "" : "'";
}

static void report_wrong_end(parser *p, const ast_class *c, const char *got)
{
    const char *q = quote_of(c->name);
    if (!got)
        PARSE_ERROR(p, p->current.place, "expected 'end %s;' before the end of the file", c->name);
    else if (is_enclosing(p, got))
        PARSE_ERROR(p, p->current.place, "expected 'end %s;' before 'end %s'", c->name, got);
    else
        PARSE_ERROR(p, p->next.place, "the %s %s%s%s is closed with 'end %s'", kind_word(c->kind),
                    q, c->name, q, got);
    PARSE_NOTE(p, c->place, "%s%s%s begins here", q, c->name, q);
    p->panic = p->stopped;
}

/* "end" NAME ";" */
static void expect_class_end(parser *p, const ast_class *c)
{
    char what[96];
    const char *got = at(p, TOK_END) && p->next.kind == TOK_NAME ? p->next.text : NULL;
    if (at(p, TOK_END) && !got)
        COMPLAIN(p, p->current.place, "the name is missing: write 'end %s;'", c->name);
    else if (!got || strcmp(got, c->name) != 0) {
        report_wrong_end(p, c, got);
        if (!got || is_enclosing(p, got)) return; /* it closes a class around this one */
    }
    step(p);
    if (got) step(p);
    snprintf(what, sizeof what, "'end %.60s'", c->name);
    expect_semicolon(p, what);
}

/* long-class = NAME string-comment composition "end" NAME */
static void parse_long_class(parser *p, ast_class *c)
{
    open_class here = {.name = c->name, .kind = c->kind, .outer = p->enclosing};
    c->comment = parse_string_comment(p);
    p->enclosing = &here;
    parse_composition(p, c);
    p->enclosing = here.outer;
    expect_class_end(p, c);
}

/* An external object holds what it was made of: it is a record of its constructor's inputs. */
static void become_record(parser *p, ast_class *c)
{
    list fields = {0};
    for (size_t k = 0; k < c->class_count; k++) {
        const ast_class *f = c->classes[k];
        if (!f || !f->name || strcmp(f->name, "constructor") != 0) continue;
        for (size_t i = 0; i < f->component_count; i++) {
            if (!f->components[i].input) continue;
            ast_component *field = list_add(p, &fields, sizeof *field);
            if (!field) return;
            *field = f->components[i];
            field->input = false;
        }
    }
    c->components = fields.data;
    c->component_count = fields.count;
    c->class_count = 0;
    c->object = true;
}

/* A file describes one model. */
static void remember_model(parser *p, ast_class *c)
{
    if (c->kind != CLASS_MODEL) return;
    if (p->enclosing && p->enclosing->kind != CLASS_PACKAGE) return;
    if (!p->model) {
        p->model = c;
        return;
    }
    begin_statement(p);
    COMPLAIN(p, c->place, "a file holds one model; this is the second one");
    PARSE_NOTE(p, p->model->place, "the first one is here");
}

static bool parse_class_body(parser *p, ast_class *c)
{
    char what[48];
    parse_class_prefixes(p, c);
    if (!parse_class_kind(p, c)) return false;
    if (at(p, TOK_EXTENDS)) {
        reject_prefix(p);
        step(p);
    }
    c->place = p->current.place;
    const bool object = p->previous.kind == TOK_CLASS && c->kind == CLASS_RECORD;
    snprintf(what, sizeof what, "the name of the %s", kind_word(c->kind));
    c->name = expect_name(p, what);
    if (!c->name) return false;
    int known = unsupported_function(c->name);
    if (known >= 0) p->defined |= 1ul << known;
    check_nested(p, c);
    if (at(p, TOK_EQUALS)) {
        bool sound = parse_short_class(p, c);
        expect_semicolon(p, "the definition");
        return sound;
    }
    remember_model(p, c);
    parse_long_class(p, c);
    if (object) become_record(p, c);
    return true;
}

/* class-definition = class-prefixes kind ( long-class | short-class ) ";" */
ast_class *parse_class(parser *p)
{
    ast_class *c = MAKE(p, ast_class);
    if (!c || !enter(p)) return NULL;
    bool sound = parse_class_body(p, c);
    leave(p);
    return sound && !p->no_memory ? c : NULL;
}
