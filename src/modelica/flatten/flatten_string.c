/* Strings: texts known before the run, with holes for values of it. */
#include <stdio.h>
#include <string.h>

#include "modelica/flatten/flatten_internal.h"

expr string_new(flattener *f, const char *text, const flat_hole *holes, size_t hole_count)
{
    if (!text ||
        !flatten_grow(f, &f->texts, &f->text_capacity, f->text_count + 1, sizeof *f->texts)) {
        f->failed = true;
        return STRING_BIT;
    }
    arena *active = f->scope.active;
    f->scope.active = f->permanent;
    flat_hole *copy = flatten_take(f, hole_count * sizeof *copy);
    size_t size = strlen(text) + 1;
    char *own = flatten_take(f, size);
    f->scope.active = active;
    if (!copy || !own) return STRING_BIT;
    if (hole_count) memcpy(copy, holes, hole_count * sizeof *copy);
    text = memcpy(own, text, size);
    f->texts[f->text_count++] = (text_piece){text, copy, hole_count, 0};
    return STRING_BIT | (expr)f->text_count;
}

const text_piece *string_of(const flattener *f, expr number)
{
    size_t k = number & ~STRING_BIT;
    return (number & STRING_BIT) && k >= 1 && k <= f->text_count ? &f->texts[k - 1] : NULL;
}

/* Doubling it a few dozen times makes a text of any size: beyond this nobody reads it. */
enum { MOST_TEXT = 1 << 16 };

static bool text_within_limit(flattener *f, size_t length)
{
    if (length <= MOST_TEXT) return true;
    report_error(f, f->at, "a String of more than %d characters", MOST_TEXT);
    f->stop = true;
    return false;
}

value string_concatenate(flattener *f, const value *a, const value *b)
{
    const text_piece *x = string_of(f, value_element(a, 0)), *y = string_of(f, value_element(b, 0));
    if (!x || !y || a->rank || b->rank) return value_error();
    size_t shift = strlen(x->text), count = x->hole_count + y->hole_count;
    if (!text_within_limit(f, shift + strlen(y->text))) return value_error();
    flat_hole *holes = flatten_take(f, count * sizeof *holes);
    char *text = flatten_text(f, "%s%s", x->text, y->text);
    if (!holes || !text) return value_error();
    for (size_t k = 0; k < count; k++) {
        holes[k] = k < x->hole_count ? x->holes[k] : y->holes[k - x->hole_count];
        if (k >= x->hole_count) holes[k].offset += shift;
    }
    return value_scalar(VALUE_STRING, string_new(f, text, holes, count));
}

static value constant_string(flattener *f, const value *v, double x, const flat_format *format)
{
    char text[500];
    flat_print(x, flat_type_of(v->type), format, text, sizeof text);
    if (v->type == VALUE_ENUMERATION && v->class_ && x >= 1.0 &&
        x <= (double)v->class_->literal_count)
        snprintf(text, sizeof text, "%*s", format->right ? format->least : -format->least,
                 v->class_->literals[(size_t)x - 1]);
    return value_scalar(VALUE_STRING, string_new(f, text, NULL, 0));
}

/* ---- texts that conditions of the run choose ---- */

/* A text that is one of some: the whole of it is a hole with choices, or has no hole. */
typedef struct choice_list {
    const char *const *texts;
    size_t count;
    expr value; /* 1 .. count */
} choice_list;

static bool choices_of(flattener *f, expr number, choice_list *out)
{
    const text_piece *t = string_of(f, number);
    const flat_hole *h = t && t->hole_count == 1 ? t->holes : NULL;
    if (t && t->hole_count == 0) {
        const char **one = model_take(f, sizeof *one);
        char *text = one ? model_text(f, t->text) : NULL;
        if (!text) return false;
        *one = text;
        *out = (choice_list){one, 1, constant(f, 1.0)};
        return true;
    }
    if (!h || h->choice_count == 0 || h->format.least > 0 || h->length != strlen(t->text))
        return false;
    *out = (choice_list){h->choices, h->choice_count, h->value};
    return true;
}

static expr chosen_text(flattener *f, const choice_list *c, const flat_format *format)
{
    static const char shown[] = "{..}";
    flat_hole hole = {.length = sizeof shown - 1,
                      .value = c->value,
                      .type = FLAT_INTEGER,
                      .format = *format,
                      .choices = c->texts,
                      .choice_count = c->count};
    return string_new(f, shown, &hole, 1);
}

/* if c then a else b of Strings; EXPR_NONE: they contain values of the run. */
expr string_choose(flattener *f, expr c, expr a, expr b)
{
    choice_list x, y;
    if (!choices_of(f, a, &x) || !choices_of(f, b, &y)) return EXPR_NONE;
    const char **all = model_take(f, (x.count + y.count) * sizeof *all);
    if (!all) return EXPR_NONE;
    memcpy(all, x.texts, x.count * sizeof *all);
    memcpy(all + x.count, y.texts, y.count * sizeof *all);
    expr other = graph_binary(f->g, EXPR_ADD, y.value, constant(f, (double)x.count));
    choice_list both_lists = {all, x.count + y.count, graph_select(f->g, c, x.value, other)};
    return chosen_text(f, &both_lists, &(flat_format){0});
}

static bool order_fits(ast_op op, int order)
{
    return op == OP_EQ   ? order == 0
           : op == OP_NE ? order != 0
           : op == OP_LT ? order < 0
           : op == OP_LE ? order <= 0
           : op == OP_GT ? order > 0
                         : order >= 0;
}

/* Whether the order of two Strings fits the relation; EXPR_NONE: they contain values of the run. */
expr string_compare(flattener *f, ast_op op, expr a, expr b)
{
    choice_list x, y;
    expr out = constant(f, 0.0), first = string_resolve(f, a), second = string_resolve(f, b);
    if (!choices_of(f, first != EXPR_NONE ? first : a, &x) ||
        !choices_of(f, second != EXPR_NONE ? second : b, &y))
        return EXPR_NONE;
    for (size_t k = 0; k < x.count * y.count; k++) {
        size_t i = k % x.count, j = k / x.count;
        if (!order_fits(op, strcmp(x.texts[i], y.texts[j]))) continue;
        expr this = graph_binary(
            f->g, EXPR_AND, graph_binary(f->g, EXPR_EQ, x.value, constant(f, (double)i + 1.0)),
            graph_binary(f->g, EXPR_EQ, y.value, constant(f, (double)j + 1.0)));
        out = graph_binary(f->g, EXPR_OR, out, this);
    }
    return out;
}

/* The text of a string whose values are known before the run; the string itself if it has none;
 * 0: a value is not known. Parameters in it may not change any more. */
expr string_resolve(flattener *f, expr number)
{
    const text_piece *t = string_of(f, number);
    if (!t || t->hole_count == 0) return number;
    size_t from = 0, used = 0;
    char text[4000] = "";
    for (size_t k = 0; k <= t->hole_count; k++) {
        const flat_hole *h = k < t->hole_count ? &t->holes[k] : NULL;
        size_t to = h ? h->offset : strlen(t->text);
        char shown[500] = "";
        double x;
        if (h && !compile_time_value(f, h->value, &x)) return EXPR_NONE;
        if (h) flat_fill(h, x, shown, sizeof shown);
        int wrote = snprintf(text + used, sizeof text - used, "%.*s%s", (int)(to - from),
                             t->text + from, shown);
        if (wrote < 0 || used + (size_t)wrote >= sizeof text) return EXPR_NONE;
        used += (size_t)wrote;
        from = h ? to + h->length : to;
    }
    return string_new(f, text, NULL, 0);
}

/* format = "8.3f" */
static bool read_format(flattener *f, const ast_expr *e, const value *v, flat_format *format)
{
    value given = evaluate(f, e);
    if (value_is_error(&given)) return false;
    const text_piece *t = given.type == VALUE_STRING && !given.rank
                              ? string_of(f, string_resolve(f, value_element(&given, 0)))
                              : NULL;
    if (!t) return type_error(f, e->place, "format", &given, "String");
    if (!flat_format_valid(t->text, v->type == VALUE_REAL))
        return report_error(f, e->place,
                            "'%s' is no format for %s: flags, width, .precision and one of %s",
                            t->text, v->type == VALUE_REAL ? "a Real" : "an Integer",
                            v->type == VALUE_REAL ? "e, f, g" : "d, i, o, x, u, c, e, f, g");
    format->given = model_text(f, t->text);
    return format->given != NULL;
}

enum { LONGEST_STRING = 200 };

/* An option of String by its name; false: an error was reported. */
static bool read_option(flattener *f, const char *name, const ast_expr *e, const value *v,
                        flat_format *format)
{
    double x = 0.0;
    if (strcmp(name, "format") == 0) return read_format(f, e, v, format);
    if (strcmp(name, "leftJustified") == 0) {
        value left = evaluate(f, e);
        bool known = left.type == VALUE_BOOLEAN && !left.rank &&
                     compile_time_value(f, value_element(&left, 0), &x);
        if (!known && !value_is_error(&left))
            type_error(f, e->place, "leftJustified", &left, "a Boolean known before the run");
        format->right = x == 0.0;
        return known;
    }
    bool digits = strcmp(name, "significantDigits") == 0;
    if (!digits && strcmp(name, "minimumLength") != 0)
        return report_error(f, e->place,
                            "String has no option '%s'; it knows minimumLength, leftJustified, "
                            "significantDigits and format",
                            name);
    if (!integer_value(f, e, name, &x)) return false;
    if (x < 0.0 || x > LONGEST_STRING)
        return report_error(f, e->place, "%s is %g; it is a number from 0 to %d", name, x,
                            LONGEST_STRING);
    *(digits ? &format->digits : &format->least) = (int)x;
    return true;
}

/* The names of an enumeration's values, as long as the model lives. */
static const char *const *model_literals(flattener *f, const ast_class *enumeration)
{
    const char **names = model_take(f, (enumeration->literal_count + 1) * sizeof *names);
    for (size_t k = 0; names && k < enumeration->literal_count; k++) {
        names[k] = model_text(f, enumeration->literals[k]);
        if (!names[k]) return NULL;
    }
    return names;
}

/* String(x): text if x is a constant, else a hole to be filled during the run. */
value string_call(flattener *f, const char *name, const ast_expr *e)
{
    double x = 0.0;
    flat_format format = {0};
    if (e->arg_count != 1)
        return error_value(
            f, e->place,
            e->arg_count < 1 ? "%s wants a value" : "%s wants one value; options have names", name);
    value v = evaluate(f, e->args[0]);
    if (value_is_error(&v) || v.type == VALUE_STRING) return v;
    if (!value_is_simple(&v) || v.rank)
        return wrong_type(f, e->args[0]->place, name, &v, "a scalar");
    for (size_t k = 0; k < e->named_count; k++)
        if (e->named[k].name && e->named[k].value &&
            !read_option(f, e->named[k].name, e->named[k].value, &v, &format))
            return value_error();
    expr element = value_element(&v, 0);
    bool known = graph_is_constant(f->g, element, &x) ||
                 (v.type == VALUE_ENUMERATION && compile_time_value(f, element, &x));
    if (known) return constant_string(f, &v, x, &format);
    if (v.type == VALUE_ENUMERATION && v.class_) {
        choice_list names = {model_literals(f, v.class_), v.class_->literal_count, element};
        return names.texts ? value_scalar(VALUE_STRING, chosen_text(f, &names, &format))
                           : value_error();
    }
    const ast_expr *a = e->args[0];
    const char *shown = a->kind == AST_REFERENCE ? joined_name(f, a->parts, a->part_count) : "..";
    char *text = flatten_text(f, "{%s}", shown);
    if (!text) return value_error();
    flat_hole hole = {
        .length = strlen(text), .value = element, .type = flat_type_of(v.type), .format = format};
    return value_scalar(VALUE_STRING, string_new(f, text, &hole, 1));
}
