/* Values made of values: constants, arrays, conversion, choice; whether types and units fit. */
#include <string.h>

#include "modelica/flatten/flatten_internal.h"

/* ---- making ---- */

expr constant(flattener *f, double x)
{
    return graph_constant(f->g, x);
}

value value_constant(flattener *f, value_type type, double x)
{
    return value_scalar(type, graph_constant(f->g, x));
}

value value_boolean(flattener *f, bool x)
{
    return value_constant(f, VALUE_BOOLEAN, x ? 1.0 : 0.0);
}

static value too_many(flattener *f)
{
    return error_value(f, f->at, "an array of more than %d elements arises here",
                       f->limits.elements);
}

/* An array with room for its elements (EXPR_NONE); an error value if it is too large. */
value value_new(flattener *f, value_type type, int rank, const size_t *dims)
{
    value v = {.type = type, .rank = rank, .count = 1};
    for (int k = 0; k < rank; k++) {
        if (dims[k] && v.count > (size_t)f->limits.elements / dims[k]) return too_many(f);
        v.count *= dims[k];
    }
    if (!flatten_work(f, (double)v.count)) return value_error();
    size_t *copy = flatten_take(f, (size_t)rank * sizeof *copy);
    v.e = flatten_take(f, v.count * sizeof *v.e);
    if (!copy || !v.e) return value_error();
    if (rank) memcpy(copy, dims, (size_t)rank * sizeof *copy);
    v.dims = copy;
    return v;
}

value value_array_of(flattener *f, value_type type, size_t n)
{
    return value_new(f, type, 1, &n);
}

value map_unary(flattener *f, expr_op op, const value *a)
{
    if (a->rank == 0) return value_scalar(a->type, graph_unary(f->g, op, value_element(a, 0)));
    value out = value_new(f, a->type, a->rank, a->dims);
    for (size_t k = 0; !value_is_error(&out) && k < a->count; k++)
        out.e[k] = graph_unary(f->g, op, value_element(a, k));
    return out;
}

/* ---- types and units ---- */

bool type_error(flattener *f, source_place place, const char *what, const value *v,
                const char *expected)
{
    return report_error(f, place, "%s: expected %s, found %s", what, expected,
                        value_describe(v).text);
}

static bool comes_before(source_place a, source_place b)
{
    return a.line != b.line ? a.line < b.line : a.column < b.column;
}

/* Whether a warning was given for this place; from now on it was. The places are kept in order:
 * a text is mostly read in it, so that most new ones go to the end. */
static bool unit_reported(flattener *f, source_place place)
{
    size_t low = 0, high = f->unit_report_count;
    if (high > 0 && comes_before(f->unit_reports[high - 1], place)) low = high;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (comes_before(f->unit_reports[middle], place))
            low = middle + 1;
        else
            high = middle;
    }
    if (low < f->unit_report_count && !comes_before(place, f->unit_reports[low])) return true;
    if (!flatten_grow(f, &f->unit_reports, &f->unit_report_capacity, f->unit_report_count + 1,
                      sizeof *f->unit_reports))
        return false;
    memmove(f->unit_reports + low + 1, f->unit_reports + low,
            (f->unit_report_count - low) * sizeof *f->unit_reports);
    f->unit_reports[low] = place;
    f->unit_report_count++;
    return false;
}

/* sin(time) and x + exp(-time) are common in examples, and other tools do not object: seconds may
 * stand for a pure number. */
static bool is_bare_time(flattener *f, int a, int b)
{
    int second = unit_number(&f->units, "s");
    return (a == second && b > 0 && unit_is_number(&f->units, b)) ||
           (b == second && a > 0 && unit_is_number(&f->units, a));
}

/* Warn, once per place, if values of these units are added, compared or equated. */
void check_units(flattener *f, source_place place, int a, int b, const char *what)
{
    if (f->scope.in_function || unit_agree(&f->units, a, b) || is_bare_time(f, a, b)) return;
    if (constants_are_folded(f) || unit_reported(f, place)) return;
    report_warning(f, place, "units differ in this %s: \"%s\" and \"%s\"", what,
                   unit_text(&f->units, a), unit_text(&f->units, b));
}

/* Whether a value may stand where `to` is wanted: Integer also for Real. */
bool fits_type(const value *from, value_type to, const ast_class *class_)
{
    if (from->type == VALUE_INTEGER && to == VALUE_REAL) return true;
    if (from->type != to) return false;
    if (to == VALUE_RECORD && class_) return records_alike(from->class_, class_);
    return to != VALUE_ENUMERATION || from->class_ == class_ || !class_;
}

/* ---- sizes ---- */

value value_slice(flattener *f, const value *v, int rank, size_t k)
{
    value out = *v;
    out.rank = v->rank - rank;
    out.dims = v->dims ? v->dims + rank : NULL;
    out.count = 1;
    for (int d = 0; d < out.rank; d++) out.count *= out.dims[d];
    if (v->e) out.e = v->e + k * out.count;
    if (!v->fields) return out;
    out.fields = flatten_take(f, v->field_count * sizeof *out.fields);
    if (!out.fields) return value_error();
    for (size_t i = 0; i < v->field_count; i++)
        out.fields[i] = value_slice(f, &v->fields[i], rank, k);
    return out;
}

static value broadcast_record(flattener *f, const value *v, int rank, const size_t *dims)
{
    value out = *v;
    size_t *copy = flatten_take(f, VALUE_MAX_RANK * sizeof *copy);
    out.fields = flatten_take(f, v->field_count * sizeof *out.fields);
    if (!copy || !out.fields) return value_error();
    memcpy(copy, dims, (size_t)rank * sizeof *copy);
    out.dims = copy;
    out.rank = rank;
    out.count = 1;
    for (int k = 0; k < rank; k++) out.count *= dims[k];
    for (size_t k = 0; k < v->field_count; k++) {
        size_t own[VALUE_MAX_RANK];
        int extra = v->fields[k].rank - v->rank;
        if (value_is_error(&v->fields[k]) || rank + extra > VALUE_MAX_RANK) return value_error();
        memcpy(own, dims, (size_t)rank * sizeof *own);
        for (int d = 0; d < extra; d++) own[rank + d] = v->fields[k].dims[v->rank + d];
        out.fields[k] = broadcast_value(f, &v->fields[k], rank + extra, own);
        if (value_is_error(&out.fields[k])) return value_error();
    }
    return out;
}

/* v repeated along leading dimensions until it has these sizes; an error value (silent) if its own
 * sizes are not the last ones of them. */
value broadcast_value(flattener *f, const value *v, int rank, const size_t *dims)
{
    if (value_is_error(v) || v->rank > rank) return value_error();
    for (int k = 0; k < v->rank; k++)
        if (v->dims[k] != dims[rank - v->rank + k]) return value_error();
    if (v->rank == rank) return *v;
    if (v->type == VALUE_RECORD) return broadcast_record(f, v, rank, dims);
    value out = value_new(f, v->type, rank, dims);
    if (value_is_error(&out)) return out;
    out.class_ = v->class_;
    out.unit = v->unit;
    for (size_t k = 0; k < out.count; k++) out.e[k] = value_element(v, k % v->count);
    return out;
}

/* ---- choices ---- */

static value select_strings(flattener *f, expr condition, const value *a, const value *b)
{
    value out = value_new(f, VALUE_STRING, a->rank, a->dims);
    for (size_t k = 0; !value_is_error(&out) && k < a->count; k++) {
        expr x = value_element(a, k), y = value_element(b, k);
        out.e[k] = x == y ? x : string_choose(f, condition, x, y);
        if (out.e[k] != EXPR_NONE) continue;
        return error_value(f, f->at,
                           "a String that depends on a condition of the run cannot contain values "
                           "of it: choose texts, and append the values behind them");
    }
    return out;
}

value select_values(flattener *f, expr condition, const value *a, const value *b)
{
    if (value_is_error(a) || value_is_error(b)) return value_error();
    if (a->type == VALUE_STRING) return select_strings(f, condition, a, b);
    value out = *a;
    if (a->type == VALUE_INTEGER && b->type == VALUE_REAL) out.type = VALUE_REAL;
    out.unit = unit_join(a->unit, b->unit);
    if (a->type == VALUE_RECORD) {
        out.fields = flatten_take(f, a->field_count * sizeof *out.fields);
        if (!out.fields) return value_error();
        for (size_t k = 0; k < a->field_count; k++)
            out.fields[k] = select_values(f, condition, &a->fields[k], &b->fields[k]);
        for (size_t k = 0; k < a->field_count; k++)
            if (value_is_error(&out.fields[k])) return value_error();
        return out;
    }
    if (a->rank == 0) {
        out.e = NULL;
        out.scalar = choose_cell(f, condition, value_element(a, 0), value_element(b, 0));
        return out;
    }
    out.e = flatten_take(f, a->count * sizeof *out.e);
    if (!out.e) return value_error();
    for (size_t k = 0; k < a->count; k++)
        out.e[k] = choose_cell(f, condition, value_element(a, k), value_element(b, k));
    return out;
}

/* ---- joining ---- */

static value_type joint_type(const value *parts, size_t count)
{
    value_type type = parts[0].type;
    for (size_t k = 1; k < count; k++) {
        bool numeric = (type == VALUE_REAL || type == VALUE_INTEGER) && value_is_numeric(&parts[k]);
        if (numeric && parts[k].type == VALUE_REAL) type = VALUE_REAL;
        if (!numeric && (parts[k].type != type || parts[k].class_ != parts[0].class_))
            return VALUE_ERROR;
    }
    return type;
}

static int joint_unit(flattener *f, const value *parts, size_t count)
{
    int joint = parts[0].unit;
    for (size_t k = 1; k < count; k++) {
        if (!unit_agree(&f->units, joint, parts[k].unit)) return UNIT_UNKNOWN;
        joint = unit_join(joint, parts[k].unit);
    }
    return joint;
}

static value mixed_parts(flattener *f, const value *a, const value *b, source_place place)
{
    return error_value(f, place, "elements of an array differ: %s and %s", value_describe(a).text,
                       value_describe(b).text);
}

static value stack_records(flattener *f, const value *parts, size_t count, source_place place)
{
    value out = parts[0];
    size_t *dims = flatten_take(f, VALUE_MAX_RANK * sizeof *dims);
    value *column = flatten_take(f, count * sizeof *column);
    out.fields = flatten_take(f, out.field_count * sizeof *out.fields);
    if (!dims || !column || !out.fields || out.rank + 1 > VALUE_MAX_RANK) return value_error();
    dims[0] = count;
    for (int k = 0; k < out.rank; k++) dims[k + 1] = out.dims[k];
    for (size_t k = 0; k < out.field_count; k++) {
        for (size_t i = 0; i < count; i++) column[i] = parts[i].fields[k];
        out.fields[k] = stack_values(f, column, count, place);
        if (value_is_error(&out.fields[k])) return value_error();
    }
    out.rank++;
    out.dims = dims;
    out.count *= count;
    return out;
}

/* {a, b, ..}: one more dimension in front. */
value stack_values(flattener *f, const value *parts, size_t count, source_place place)
{
    size_t dims[VALUE_MAX_RANK + 1] = {count};
    if (count == 0) {
        value none = value_array_of(f, VALUE_REAL, 0);
        none.unit = UNIT_LITERAL;
        return none;
    }
    for (size_t k = 0; k < count; k++)
        if (value_is_error(&parts[k])) return value_error();
    value_type type = joint_type(parts, count);
    for (size_t k = 1; k < count; k++)
        if (type == VALUE_ERROR || !value_same_shape(&parts[0], &parts[k]))
            if (type != VALUE_ERROR || joint_type(parts, k + 1) == VALUE_ERROR)
                return mixed_parts(f, &parts[0], &parts[k], place);
    if (type == VALUE_RECORD) return stack_records(f, parts, count, place);
    if (parts[0].rank >= VALUE_MAX_RANK || type == VALUE_TUPLE)
        return error_value(f, place, "this array has too many dimensions");
    for (int k = 0; k < parts[0].rank; k++) dims[k + 1] = parts[0].dims[k];
    value out = value_new(f, type, parts[0].rank + 1, dims);
    if (value_is_error(&out)) return out;
    for (size_t k = 0; k < count; k++)
        memcpy(out.e + k * parts[0].count, value_elements(&parts[k]),
               parts[0].count * sizeof *out.e);
    out.class_ = parts[0].class_;
    out.unit = joint_unit(f, parts, count);
    return out;
}

value value_reshape(flattener *f, value v, int rank, const size_t *dims)
{
    size_t *all = flatten_take(f, VALUE_MAX_RANK * sizeof *all);
    if (!all || value_is_error(&v) || v.rank - 1 + rank > VALUE_MAX_RANK) return value_error();
    memcpy(all, dims, (size_t)rank * sizeof *all);
    for (int k = 1; k < v.rank; k++) all[rank + k - 1] = v.dims[k];
    v.rank += rank - 1;
    v.dims = all;
    for (size_t k = 0; v.type == VALUE_RECORD && k < v.field_count; k++)
        v.fields[k] = value_reshape(f, v.fields[k], rank, dims);
    return v;
}

/* cat(d, a, b, ..): joined along dimension d (from 1), the other sizes equal. */
value concatenate(flattener *f, size_t dimension, const value *parts, size_t count,
                  source_place place)
{
    size_t dims[VALUE_MAX_RANK], d = dimension - 1, inner = 1, outer = 1, at = 0;
    for (size_t k = 0; k < count; k++)
        if (value_is_error(&parts[k])) return value_error();
    value_type type = joint_type(parts, count);
    const value *first = &parts[0];
    if (type == VALUE_ERROR || !value_is_simple(first) || d >= (size_t)first->rank)
        return mixed_parts(f, first, &parts[count - 1], place);
    memcpy(dims, first->dims, (size_t)first->rank * sizeof *dims);
    for (size_t k = 1; k < count; k++) {
        bool fits = parts[k].rank == first->rank;
        for (int i = 0; fits && i < first->rank; i++)
            if ((size_t)i != d && parts[k].dims[i] != first->dims[i]) fits = false;
        if (!fits) return mixed_parts(f, first, &parts[k], place);
        dims[d] += parts[k].dims[d];
    }
    value out = value_new(f, type, first->rank, dims);
    if (value_is_error(&out)) return out;
    for (int i = 0; i < first->rank; i++) {
        if ((size_t)i < d) outer *= dims[i];
        if ((size_t)i > d) inner *= dims[i];
    }
    for (size_t o = 0; o < outer; o++)
        for (size_t k = 0; k < count; k++) {
            size_t n = parts[k].dims[d] * inner;
            memcpy(out.e + at, value_elements(&parts[k]) + o * n, n * sizeof *out.e);
            at += n;
        }
    out.class_ = first->class_;
    out.unit = joint_unit(f, parts, count);
    return out;
}
