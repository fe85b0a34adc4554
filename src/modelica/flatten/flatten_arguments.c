/* Arguments of calls; functions as arguments: a function value is a function and the inputs that
 * are bound already, `function g(a = 1)` [MLS 12.4.2]. */
#include <string.h>

#include "modelica/flatten/flatten_execute.h"

bool is_output(const ast_class *fn, const ast_expr *e)
{
    if (!e || e->kind != AST_REFERENCE || e->part_count != 1) return false;
    for (size_t k = 0; k < fn->component_count; k++)
        if (fn->components[k].output && fn->components[k].name && e->parts[0].name &&
            strcmp(fn->components[k].name, e->parts[0].name) == 0)
            return true;
    return false;
}

size_t count_inputs(const ast_class *fn)
{
    size_t n = 0;
    for (size_t k = 0; k < fn->component_count; k++) n += fn->components[k].input;
    return n;
}

const ast_component *input_component(const ast_class *fn, size_t number)
{
    for (size_t k = 0; k < fn->component_count; k++)
        if (fn->components[k].input && number-- == 0) return &fn->components[k];
    return NULL;
}

/* Number of the input with this name, quoted or not; the number of inputs if there is none. */
static size_t input_number(const ast_class *fn, const char *name, size_t inputs)
{
    size_t length = name ? strlen(name) : 0, at = 0;
    bool quoted = length > 2 && name[0] == '\'';
    while (at < inputs &&
           !same_field(input_component(fn, at)->name, name + quoted, length - 2 * quoted))
        at++;
    return at;
}

bool new_arguments(flattener *f, const ast_class *fn, const value *bound, argument_list *out)
{
    size_t inputs = count_inputs(fn);
    *out = (argument_list){flatten_take(f, (inputs + 1) * sizeof *out->values),
                           flatten_take(f, (inputs + 1) * sizeof *out->given), inputs};
    if (!out->values || !out->given) return false;
    for (size_t k = 0; bound && k < inputs && k < bound->field_count; k++) {
        out->values[k] = bound->fields[k];
        out->given[k] = !value_is_error(&bound->fields[k]);
    }
    return true;
}

/* ---- functions as arguments ---- */

const ast_class *function_interface(flattener *f, const ast_component *c)
{
    const ast_class *own = c->type ? find_class(f, c->type) : NULL;
    if (!own && c->type) own = library_class(f, c->type);
    return own && own->kind == CLASS_FUNCTION ? own : NULL;
}

/* The function of a name: of the file, or of the library. */
static const ast_class *function_of_name(flattener *f, const ast_expr *e)
{
    const char *name = joined_name(f, e->parts, e->part_count);
    const ast_class *c = find_class(f, name);
    if (!c) c = library_class(f, name);
    if (c && c->kind == CLASS_FUNCTION) return c;
    report_error(f, e->place, "unknown function '%s'%s", name,
                 did_you_mean(f, nearest_class(f, name, CLASS_FUNCTION)));
    return NULL;
}

/* A function with inputs bound by name: `function g(a = 1)`, or just g. */
static value function_value(flattener *f, const ast_expr *e)
{
    const local *l = e->part_count == 1 ? find_local(f, e->parts[0].name) : NULL;
    const value *inner = l && l->value.type == VALUE_FUNCTION ? &l->value : NULL;
    const ast_class *fn = inner ? inner->class_ : function_of_name(f, e);
    argument_list a;
    if (!fn || !new_arguments(f, fn, inner, &a)) return value_error();
    for (size_t k = 0; k < a.count; k++)
        if (!a.given[k]) a.values[k] = value_error();
    if (!collect_arguments(f, fn, e, &a)) return value_error();
    return (value){.type = VALUE_FUNCTION,
                   .class_ = fn,
                   .count = 1,
                   .fields = a.values,
                   .field_count = a.count};
}

bool check_function_value(flattener *f, const ast_class *fn, const ast_component *c,
                          const ast_class *interface, const value *v, source_place place)
{
    size_t wanted = count_inputs(interface), open = 0, needed = 0;
    if (v->type != VALUE_FUNCTION)
        return report_error(f, place, "argument '%s' of %s: expected a function, found %s", c->name,
                            fn->name, value_describe(v).text);
    for (size_t k = 0; k < v->field_count; k++) {
        if (!value_is_error(&v->fields[k])) continue;
        open++;
        if (!input_component(v->class_, k)->value) needed = open;
    }
    if (wanted <= open && needed <= wanted) return true;
    return report_error(f, place,
                        "argument '%s' of %s: expected a function of %zu input%s, but %s leaves "
                        "%zu open; bind others by function %s(name = value)",
                        c->name, fn->name, wanted, wanted == 1 ? "" : "s", v->class_->name, open,
                        v->class_->name);
}

/* ---- arguments of a call ---- */

/* The value for input k: a name is that of a function where the input is one. */
static bool take_argument(flattener *f, const ast_class *fn, const ast_expr *e, size_t k,
                          argument_list *a)
{
    const bool function = e && (e->kind == AST_FUNCTION || e->kind == AST_REFERENCE) &&
                          function_interface(f, input_component(fn, k));
    a->values[k] = function ? function_value(f, e) : evaluate(f, e);
    a->given[k] = true;
    return !value_is_error(&a->values[k]);
}

bool collect_arguments(flattener *f, const ast_class *fn, const ast_expr *call, argument_list *a)
{
    bool ok = true;
    size_t open = 0, at = 0;
    for (size_t k = 0; k < a->count; k++) open += !a->given[k];
    if (call->arg_count > open)
        return report_error(f, call->place, "%s wants %zu argument%s, found %zu", fn->name, open,
                            open == 1 ? "" : "s", call->arg_count);
    for (size_t k = 0; k < call->arg_count; k++, at++) {
        while (a->given[at]) at++;
        if (!take_argument(f, fn, call->args[k], at, a)) ok = false;
    }
    for (size_t k = 0; k < call->named_count; k++) {
        const ast_named *n = &call->named[k];
        at = input_number(fn, n->name ? n->name : "", a->count);
        if (at == a->count || a->given[at])
            return report_error(
                f, n->place, at == a->count ? "%s has no input '%s'" : "%s gets input '%s' twice",
                fn->name, n->name ? n->name : "");
        if (!take_argument(f, fn, n->value, at, a)) ok = false;
    }
    return ok;
}
