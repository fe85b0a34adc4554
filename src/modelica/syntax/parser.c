#include "modelica/syntax/parser.h"

#include "modelica/syntax/parser_core.h"

/* What cannot stand outside of classes; reported once until the next class begins. */
static void report_outside(parser *p, bool *reported)
{
    if (*reported) p->quiet = true;
    *reported = true;
    PARSE_ERROR(p, p->current.place,
                "expected 'model', found %s; everything stands between 'model M' and 'end M;'",
                found(p));
}

/* top-level = class ";" | global-constant ";" | annotation ";" */
static void parse_top_level(parser *p, list *classes, bool *reported)
{
    skip_decoration(p);
    if (at(p, TOK_WITHIN) || at(p, TOK_IMPORT)) {
        reject(p, p->current.place, at(p, TOK_WITHIN) ? "'within' is" : "'import' is");
        p->panic = true;
    } else if (begins_class(p)) {
        *reported = false;
        ast_class *c = parse_class(p);
        if (c) list_add_pointer(p, classes, c);
    } else if (at(p, TOK_CONSTANT) || (at(p, TOK_FINAL) && p->next.kind == TOK_CONSTANT)) {
        parse_components(p, false, &p->constants);
    } else if (at(p, TOK_ANNOTATION)) {
        skip_annotation(p);
        expect_semicolon(p, "the annotation");
    } else {
        report_outside(p, reported);
    }
}

/* Built-in functions that have no meaning here, unless the file defines one of that name. */
static void reject_calls(parser *p)
{
    const ast_named *calls = p->calls.data;
    for (size_t i = 0; i < p->calls.count && !message_full(p->messages); i++) {
        int which = unsupported_function(calls[i].name);
        if (p->defined >> which & 1ul) continue;
        message_error(p->messages, calls[i].place, "the function '%s' is not supported; %s",
                      calls[i].name, unsupported_advice(which));
    }
}

/* base-modelica = { top-level } */
static void parse_all(parser *p, list *classes)
{
    bool reported = false;
    while (!at(p, TOK_END_OF_FILE)) {
        size_t before = p->current.offset;
        begin_statement(p);
        parse_top_level(p, classes, &reported);
        if (p->panic) skip_statement(p);
        if (p->current.offset == before) step(p);
    }
}

ast_file *parse_file(arena *a, const char *text, size_t length, message_list *messages)
{
    parser p;
    list classes = {0};
    int errors = message_errors(messages);
    ast_file *file = arena_alloc(a, sizeof *file);
    if (!file) return NULL;
    parser_start(&p, a, text ? text : "", text ? length : 0, messages);
    parse_all(&p, &classes);
    file->classes = classes.data;
    file->class_count = classes.count;
    file->constants = p.constants.data;
    file->constant_count = p.constants.count;
    file->model = p.model;
    file->version = p.lexer.version;
    reject_calls(&p);
    if (p.no_memory || arena_failed(a)) return NULL;
    if (!file->model && message_errors(messages) == errors)
        message_error(messages, (source_place){0, 0},
                      file->class_count + file->constant_count == 0
                          ? "there is no model in this file, nor anything else"
                          : "there is no model in this file");
    return file;
}

ast_class *parse_class_text(arena *a, const char *text, message_list *messages)
{
    parser p;
    parser_start_at(&p, a, text, (source_place){0, 0}, messages);
    ast_class *c = parse_class(&p);
    return p.no_memory || arena_failed(a) || message_errors(messages) ? NULL : c;
}
