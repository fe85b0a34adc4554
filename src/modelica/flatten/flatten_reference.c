/* References: a.b[i].c, slices, "end", enumeration literals and global constants. */
#include <math.h>
#include <string.h>

#include "modelica/flatten/flatten_internal.h"

size_t field_index(const ast_class *record, const char *name)
{
    for (size_t k = 0; name && k < record->component_count; k++)
        if (record->components[k].name && strcmp(record->components[k].name, name) == 0) return k;
    size_t length = name ? strlen(name) : 0;
    bool quoted = length > 2 && name[0] == '\'';
    for (size_t k = 0; name && k < record->component_count; k++) /* tools mix 're' and re */
        if (same_field(record->components[k].name, quoted ? name + 1 : name, length - 2 * quoted))
            return k;
    return SIZE_MAX;
}

static value value_field(flattener *f, const value *v, const char *name, source_place place)
{
    if (value_is_error(v)) return *v;
    if (v->type != VALUE_RECORD) {
        return error_value(f, place, "%s has no field '%s'", value_describe(v).text, name);
    }
    size_t k = field_index(v->class_, name);
    if (k != SIZE_MAX) return v->fields[k];
    const char *names[64];
    size_t count = 0;
    for (size_t i = 0; i < v->class_->component_count && count < 64; i++)
        if (v->class_->components[i].name) names[count++] = v->class_->components[i].name;
    const char *near = nearest_name(name, names, count);
    return error_value(f, place, "record %s has no field '%s'%s", v->class_->name, name,
                       did_you_mean(f, near));
}

/* ---- subscripts ---- */

static bool check_index(flattener *f, double x, size_t size, const char *name, source_place place)
{
    if (x >= 1.0 && x <= (double)size && x == floor(x)) return true;
    if (x != floor(x) || isnan(x))
        return report_error(f, place, "subscript %g of '%s' is not an integer", x, name);
    return report_pass(f, place, "subscript %.0f of '%s' is outside 1..%zu", x, name, size);
}

static bool subscript_list(flattener *f, const value *v, size_t size, const char *name,
                           source_place place, subscript *out)
{
    size_t *list = flatten_take(f, v->count * sizeof *list);
    if (!list) return false;
    for (size_t k = 0; k < v->count; k++) {
        double x = 0.0;
        if (!compile_time_value(f, value_element(v, k), &x))
            return report_error(f, place, "a vector of subscripts must be known before the run");
        if (!check_index(f, x, size, name, place)) return false;
        list[k] = (size_t)x - 1;
    }
    *out = (subscript){.count = v->count, .list = list};
    return true;
}

/* A subscript of the run must pick an element: the model asserts it. */
static void check_run_index(flattener *f, expr e, size_t size, const char *name, const ast_expr *at)
{
    expr least = graph_binary(f->g, EXPR_LE, constant(f, 1.0), e);
    expr most = graph_binary(f->g, EXPR_LE, e, constant(f, (double)size));
    const char *shown =
        at->kind == AST_REFERENCE ? joined_name(f, at->parts, at->part_count) : "..";
    const char *text =
        flatten_text(f, "subscript {%s} of '%s' is outside 1..%zu", shown, name, size);
    push_check(f, graph_binary(f->g, EXPR_AND, least, most), text, &e, FLAT_INTEGER, at->place);
}

static bool subscript_of_value(flattener *f, value *v, size_t size, const char *name,
                               const ast_expr *at, subscript *out)
{
    source_place place = at->place;
    double x = 0.0;
    if (value_is_error(v)) return false;
    bool integral = v->type == VALUE_INTEGER || v->type == VALUE_ENUMERATION;
    bool boolean = v->type == VALUE_BOOLEAN && size == 2; /* dimension [Boolean] */
    if ((!integral && !boolean) || v->rank > 1) {
        return report_error(f, place,
                            "a subscript must be an Integer, a vector of Integers or ':', not %s",
                            value_describe(v).text);
    }
    if (v->rank == 1) return subscript_list(f, v, size, name, place, out);
    expr e = value_element(v, 0);
    if (boolean) e = graph_binary(f->g, EXPR_ADD, e, constant(f, 1.0));
    *out = (subscript){.single = true, .count = 1};
    if (compile_time_value(f, e, &x)) {
        if (!check_index(f, x, size, name, place)) return false;
        out->first = (size_t)x - 1;
        return true;
    }
    out->dynamic = e;
    bool all = boolean || (v->type == VALUE_ENUMERATION && v->class_ &&
                           v->class_->literal_count <= size); /* of the type's values */
    if (!all) check_run_index(f, e, size, name, at);
    return true;
}

/* Subscript e of a dimension with `size` elements. */
static bool evaluate_subscript(flattener *f, const ast_expr *e, size_t size, const char *name,
                               subscript *out)
{
    if (!e) return false;
    if (e->kind == AST_COLON) {
        *out = (subscript){.count = size, .step = 1};
        return true;
    }
    size_t end = f->scope.end_size;
    f->scope.end_size = size;
    value v = evaluate(f, e);
    f->scope.end_size = end;
    return subscript_of_value(f, &v, size, name, e, out);
}

size_t subscript_at(const subscript *s, size_t k)
{
    return s->list ? s->list[k] : s->first + k * s->step;
}

/* Elements of a value picked by known subscripts in its first dimensions. */
static value pick_known(flattener *f, const value *v, const subscript *s, size_t count)
{
    size_t dims[VALUE_MAX_RANK], stride[VALUE_MAX_RANK + 1], index[VALUE_MAX_RANK] = {0};
    int rank = 0;
    size_t block = 1, offset = 0;
    for (int k = (int)count; k < v->rank; k++) block *= v->dims[k];
    size_t step = block;
    for (size_t k = count; k > 0; k--) {
        stride[k - 1] = step;
        step *= v->dims[k - 1];
    }
    bool single = true;
    for (size_t k = 0; k < count; k++) {
        if (s[k].single)
            offset += s[k].first * stride[k];
        else
            dims[rank++] = s[k].count, single = false;
    }
    for (int k = (int)count; k < v->rank; k++) dims[rank++] = v->dims[k];
    if (single && rank == 0) {
        value out = value_scalar(v->type, value_element(v, offset));
        out.class_ = v->class_;
        out.unit = v->unit;
        return out;
    }
    value out = value_new(f, v->type, rank, dims);
    if (value_is_error(&out)) return out;
    out.class_ = v->class_;
    out.unit = v->unit;
    for (size_t n = 0; n < out.count; n += block) {
        size_t from = offset;
        for (size_t k = 0; k < count; k++)
            if (!s[k].single) from += subscript_at(&s[k], index[k]) * stride[k];
        memcpy(out.e + n, value_elements(v) + from, block * sizeof *out.e);
        for (size_t k = count; k > 0; k--) {
            if (s[k - 1].single) continue;
            if (++index[k - 1] < s[k - 1].count) break;
            index[k - 1] = 0;
        }
    }
    return out;
}

static value pick_record(flattener *f, const value *v, const subscript *s, size_t count,
                         source_place place);

enum { DYNAMIC_MAX = 10000 }; /* elements a subscript of the run may choose from */

/* v[.., k, ..] for k of the run: a chain of selects over all k. */
static value pick_dynamic(flattener *f, const value *v, const subscript *s, size_t count,
                          size_t which, source_place place)
{
    size_t n = v->dims[which];
    if (n == 0 || n > DYNAMIC_MAX)
        return error_value(
            f, place,
            "a subscript that changes during the run may choose from 1 to %d elements, "
            "not %zu",
            DYNAMIC_MAX, n);
    subscript *known = flatten_take(f, count * sizeof *known);
    if (!known) return value_error();
    memcpy(known, s, count * sizeof *known);
    value out = value_error();
    for (size_t k = n; k > 0; k--) {
        known[which].dynamic = EXPR_NONE;
        known[which].first = k - 1;
        value one = pick_record(f, v, known, count, place);
        if (value_is_error(&one)) return one;
        expr here = graph_binary(f->g, EXPR_EQ, s[which].dynamic, constant(f, (double)k));
        out = k == n ? one : select_values(f, here, &one, &out);
    }
    return out;
}

/* Subscripts applied to a value of any type. */
static value pick_record(flattener *f, const value *v, const subscript *s, size_t count,
                         source_place place)
{
    if (value_is_error(v) || count == 0) return *v;
    for (size_t k = 0; k < count; k++)
        if (s[k].dynamic != EXPR_NONE) return pick_dynamic(f, v, s, count, k, place);
    if (v->type != VALUE_RECORD) return pick_known(f, v, s, count);
    value out = *v;
    size_t *dims = flatten_take(f, VALUE_MAX_RANK * sizeof *dims);
    out.fields = flatten_take(f, v->field_count * sizeof *out.fields);
    if (!dims || !out.fields) return value_error();
    out.rank = 0;
    out.count = 1;
    for (int k = 0; k < v->rank; k++) {
        if ((size_t)k < count && s[k].single) continue;
        dims[out.rank] = (size_t)k < count ? s[k].count : v->dims[k];
        out.count *= dims[out.rank++];
    }
    out.dims = dims;
    for (size_t k = 0; k < v->field_count; k++)
        out.fields[k] = pick_record(f, &v->fields[k], s, count, place);
    return out;
}

value subscript_value(flattener *f, const value *v, ast_expr *const *subscripts, size_t count,
                      source_place place)
{
    subscript s[VALUE_MAX_RANK];
    if (value_is_error(v)) return *v;
    if (count > (size_t)v->rank)
        return error_value(f, place, "%zu subscripts for %d dimensions", count, v->rank);
    for (size_t k = 0; k < count; k++)
        if (!evaluate_subscript(f, subscripts[k], v->dims[k], "this array", &s[k]))
            return value_error();
    return pick_record(f, v, s, count, place);
}

/* ---- names ---- */

/* What other languages know under a name that is nothing here; NULL */
static const char *foreign_name(const char *name)
{
    static const char *const known[][2] = {
        {"t", "the independent variable is 'time'"},
        {"pi", "declare it, constant Real pi = 3.141592653589793;"},
        {"Pi", "declare it, constant Real Pi = 3.141592653589793;"},
        {"PI", "declare it, constant Real PI = 3.141592653589793;"},
        {"Time", "the independent variable is 'time'"},
        {"dt", "a derivative is written der(x), not dx/dt"},
        {"e", "Euler's number is exp(1)"},
    };
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (strcmp(name, known[k][0]) == 0) return known[k][1];
    return NULL;
}

static bool undeclared(flattener *f, const ast_expr *e)
{
    const char *name = joined_name(f, e->parts, e->part_count);
    const char *near = nearest_symbol(f, e->parts[0].name);
    const char *hint = e->part_count == 1 ? foreign_name(e->parts[0].name) : NULL;
    if (hint) return report_error(f, e->place, "'%s' is not declared; %s", name, hint);
    return report_error(f, e->place, "'%s' is not declared%s", name,
                        did_you_mean(f, e->part_count == 1 ? near : NULL));
}

/* The value behind a symbol, made known if it was not yet. */
static bool use_symbol(flattener *f, symbol *s, source_place place, located *out)
{
    out->symbol = s;
    if (s->whole && f->overlays > 0 && !f->scope.skip_overlay) { /* not what it is elsewhere */
        out->base = value_of_whole(f, s, place);
        return !value_is_error(&out->base);
    }
    if (!resolve_symbol(f, s, place))
        return s->absent && report_error(f, place, "'%s' is absent: its condition is false",
                                         s->declaration->name);
    out->base = s->value;
    return true;
}

/* The longest prefix of the reference that names a global constant; parts used, or 0. */
static size_t find_global(flattener *f, const ast_expr *e, symbol **out)
{
    for (size_t k = e->part_count; k > 0; k--) {
        *out = name_find(&f->globals, joined_name(f, e->parts, k));
        if (*out) return k;
    }
    return 0;
}

/* The first value of a reference and how many parts name it: a local, a component, a constant. */
static size_t find_first(flattener *f, const ast_expr *e, located *out)
{
    local *l = find_local(f, e->parts[0].name);
    symbol *s = NULL;
    if (l) {
        out->base = l->value;
        out->local_index = (int)(l - f->locals);
        return 1;
    }
    size_t used = 1;
    if (!f->scope.in_function) s = find_symbol(f, e->parts[0].name);
    if (!s) used = find_global(f, e, &s);
    if (!s) {
        if (f->scope.in_function && name_find(&f->symbols, e->parts[0].name))
            report_error(f, e->place,
                         "'%s' is a variable of the model: a function sees only its inputs, its "
                         "own variables and global constants",
                         e->parts[0].name);
        else
            undeclared(f, e);
        return 0;
    }
    return use_symbol(f, s, e->place, out) ? used : 0;
}

/* Subscripts of one part of a reference; missing ones mean ":" if a field follows. */
static bool add_subscripts(flattener *f, const ast_part *part, const value *v, bool last,
                           located *out)
{
    size_t open = (size_t)v->rank - out->subscript_count;
    if (part->subscript_count > open)
        return report_error(f, part->place, "'%s' has %zu dimension%s, not %zu", part->name, open,
                            open == 1 ? "" : "s", part->subscript_count);
    for (size_t k = 0; k < part->subscript_count; k++) {
        subscript s;
        size_t size = v->dims[out->subscript_count];
        if (!evaluate_subscript(f, part->subscripts[k], size, part->name, &s)) return false;
        out->subscripts[out->subscript_count++] = s;
    }
    while (!last && out->subscript_count < (size_t)v->rank) {
        size_t size = v->dims[out->subscript_count];
        out->subscripts[out->subscript_count++] = (subscript){.count = size, .step = 1};
    }
    return true;
}

/* The fields that the parts of e from number `from` on select, one in the other. */
static bool follow_members(flattener *f, const ast_expr *e, size_t from, located *out)
{
    for (size_t k = from; k < e->part_count; k++) {
        out->base = value_field(f, &out->base, e->parts[k].name, e->parts[k].place);
        if (value_is_error(&out->base)) return false;
        if (!add_subscripts(f, &e->parts[k], &out->base, k + 1 == e->part_count, out)) return false;
    }
    return true;
}

value member_value(flattener *f, const value *v, const ast_expr *e)
{
    located l = {.base = *v, .local_index = -1};
    if (value_is_error(&l.base)) return l.base;
    for (; l.subscript_count < (size_t)l.base.rank; l.subscript_count++)
        l.subscripts[l.subscript_count] =
            (subscript){.count = l.base.dims[l.subscript_count], .step = 1};
    if (!follow_members(f, e, 0, &l)) return value_error();
    return pick_record(f, &l.base, l.subscripts, l.subscript_count, e->place);
}

bool locate_reference(flattener *f, const ast_expr *e, located *out)
{
    out->symbol = NULL;
    out->local_index = -1;
    out->subscript_count = 0;
    for (size_t k = 0; k < e->part_count; k++)
        if (!e->parts[k].name) return false;
    if (e->part_count == 0) return false;
    size_t used = find_first(f, e, out);
    if (used == 0 || value_is_error(&out->base)) return false;
    if (!add_subscripts(f, &e->parts[used - 1], &out->base, used == e->part_count, out))
        return false;
    return follow_members(f, e, used, out);
}

/* Locals change: what was read must keep its value. */
static value detach(flattener *f, const value *v)
{
    value out = *v;
    if (v->fields) {
        out.fields = flatten_take(f, v->field_count * sizeof *out.fields);
        if (!out.fields) return value_error();
        for (size_t k = 0; k < v->field_count; k++) out.fields[k] = detach(f, &v->fields[k]);
    } else if (v->e && v->rank == 0) {
        out.scalar = v->e[0];
        out.e = NULL;
    } else if (v->e) {
        out.e = flatten_take(f, v->count * sizeof *out.e);
        if (!out.e) return value_error();
        memcpy(out.e, v->e, v->count * sizeof *out.e);
    }
    return out;
}

static value located_value(flattener *f, const located *l, source_place place)
{
    value v = pick_record(f, &l->base, l->subscripts, l->subscript_count, place);
    if (l->local_index < 0 || value_is_error(&v)) return v;
    const local *from = &f->locals[l->local_index];
    if (!from->assignable) return v;
    v = used_value(f, v, from->name, place);
    if (value_is_error(&v)) return v;
    if (!f->scope.shape_only && !f->failed && !graph_failed(f->g) && value_has_gap(&v))
        return error_value(f, place, "'%s' is used before it has a value", from->name);
    return detach(f, &v);
}

static bool literal_of(flattener *f, const ast_expr *e, value *out)
{
    if (e->part_count < 2 || find_local(f, e->parts[0].name)) return false;
    if (!f->scope.in_function && name_find(&f->symbols, e->parts[0].name)) return false;
    const char *path = joined_name(f, e->parts, e->part_count - 1);
    const ast_class *c = find_class(f, path);
    for (int depth = 0; c && c->kind == CLASS_TYPE && c->base && depth < TYPE_MAX_CHAIN; depth++)
        c = find_class(f, c->base);
    if (!class_is_enumeration(c)) return false;
    const char *name = e->parts[e->part_count - 1].name;
    for (size_t k = 0; k < c->literal_count; k++)
        if (name && c->literals[k] && strcmp(c->literals[k], name) == 0) {
            *out = value_constant(f, VALUE_ENUMERATION, (double)(k + 1));
            out->class_ = c;
            return true;
        }
    const char *near = nearest_name(name ? name : "", c->literals, c->literal_count);
    report_error(f, e->place, "enumeration %s has no literal '%s'%s", c->name, name,
                 did_you_mean(f, near));
    *out = value_error();
    return true;
}

value evaluate_reference(flattener *f, const ast_expr *e)
{
    located l;
    value v;
    for (size_t k = 0; k < e->part_count; k++)
        if (!e->parts[k].name) return value_error();
    if (e->part_count == 1 && strcmp(e->parts[0].name, "time") == 0 && !find_local(f, "time") &&
        !name_find(&f->symbols, "time")) {
        if (f->scope.in_function)
            return error_value(f, e->place, "a function does not see time: give it as an argument");
        v = value_scalar(VALUE_REAL, f->scope.at_start ? time_at_start(f) : graph_time(f->g));
        v.unit = unit_number(&f->units, "s");
        return v;
    }
    if (literal_of(f, e, &v)) return v;
    if (!locate_reference(f, e, &l)) return value_error();
    return located_value(f, &l, e->place);
}
