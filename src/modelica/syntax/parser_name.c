/* Names of exported models: 'a.b[\'k\'].c' is a name in quotes that holds a subscript of the run.
 * Tools that write every element of an array as a variable of its own, 'a.b[1].c', write other
 * subscripts in the same way: as text inside the quotes. Here they become subscripts again. */
#include <string.h>

#include "modelica/syntax/parser_core.h"

/* Past the bracket that opens at `c`, over quotes and brackets in it; NULL if it stays open. */
static const char *behind_bracket(const char *c, bool *literal)
{
    int depth = 0;
    bool quoted = false;
    *literal = true;
    for (; *c; c++) {
        if (c[0] == '\\' && c[1] == '\'') quoted = !quoted;
        if (c[0] == '\\' && c[1]) c++;
        if (quoted) continue;
        depth += (*c == '[') - (*c == ']');
        if (depth == 0) return c + 1;
        if (!strchr("[], 0123456789", *c)) *literal = false;
    }
    return NULL;
}

/* The first bracket of a quoted name whose subscripts are no numbers; NULL: none. */
static const char *first_expression(const char *name, const char **behind)
{
    for (const char *c = strchr(name, '['); c; c = strchr(*behind, '[')) {
        bool literal;
        *behind = behind_bracket(c, &literal);
        if (!*behind) return NULL;
        if (!literal) return c;
    }
    return NULL;
}

/* The text between two places of a quoted name, without one level of escapes. */
static char *plain_text(parser *p, const char *from, const char *to)
{
    char *text = make(p, (size_t)(to - from) + 1), *end = text;
    for (const char *c = from; text && c < to; c++) {
        if (*c == '\\' && c + 1 < to) c++;
        *end++ = *c;
    }
    return text;
}

/* 'text' as a name */
static const char *quoted_text(parser *p, const char *from, const char *to)
{
    size_t length = (size_t)(to - from);
    char *name = make(p, length + 3);
    if (!name) return NULL;
    name[0] = name[length + 1] = '\'';
    memcpy(name + 1, from, length);
    return name;
}

/* Subscripts of a part by a parser of their own, which is as deep as this one; false: no sense. */
static bool parse_inner_subscripts(parser *p, const char *text, const token *name, ast_part *part)
{
    parser inner;
    list subscripts = {0};
    message_list *own = message_list_new(NULL, text, strlen(text), 1);
    if (!own) {
        p->no_memory = true;
        return false;
    }
    parser_start_at(&inner, p->memory, text, name->place, own);
    inner.depth = p->depth;
    bool ok = at(&inner, TOK_LEFT_BRACKET) && parse_subscripts(&inner, &subscripts) &&
              at(&inner, TOK_END_OF_FILE) && message_errors(own) == 0;
    p->no_memory = p->no_memory || inner.no_memory || message_memory_failed(own);
    message_list_free(own);
    if (!ok) return false;
    part->subscripts = subscripts.data;
    part->subscript_count = subscripts.count;
    return true;
}

/* Where the next member or the end of the name is. */
static const char *end_of_member(const char *c, const char *last)
{
    while (c < last && *c != '.' && *c != '[') c++;
    return c;
}

/* [subscripts] and members from `c` on, to the end of the name. */
static bool split_rest(parser *p, const char *c, const char *last, const token *name, list *parts)
{
    while (c < last) {
        ast_part *part = &((ast_part *)parts->data)[parts->count - 1];
        if (*c == '[') {
            bool literal;
            const char *behind = behind_bracket(c, &literal);
            const char *text = behind && !part->subscript_count ? plain_text(p, c, behind) : NULL;
            if (!text || !parse_inner_subscripts(p, text, name, part)) return false;
            c = behind;
            continue;
        }
        const char *end = end_of_member(c + 1, last);
        if (*c != '.' || end == c + 1) return false;
        part = list_add(p, parts, sizeof *part);
        if (!part) return false;
        part->place = name->place;
        part->name = quoted_text(p, c + 1, end);
        c = end;
    }
    return true;
}

bool split_quoted_name(parser *p, const token *name, list *parts)
{
    const char *behind = NULL, *text = name->text;
    const char *open = text && text[0] == '\'' ? first_expression(text, &behind) : NULL;
    const size_t before = parts->count;
    if (!open || open == text + 1) return false;
    ast_part *part = &((ast_part *)parts->data)[before - 1];
    const ast_part whole = *part;
    part->name = quoted_text(p, text + 1, open);
    if (split_rest(p, open, text + strlen(text) - 1, name, parts)) return true;
    parts->count = before; /* just a strange name */
    ((ast_part *)parts->data)[before - 1] = whole;
    return false;
}
