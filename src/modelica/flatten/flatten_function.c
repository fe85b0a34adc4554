/* Functions: arguments, local variables and results; the body is executed symbolically, so that a
 * call leaves only nodes of the graph behind and is differentiated like everything else. */
#include <string.h>

#include "modelica/flatten/flatten_execute.h"
#include "modelica/flatten/flatten_files.h"
#include "modelica/flatten/flatten_internal.h"

/* ---- variables of a function ---- */

/* A value whose elements can be assigned; all EXPR_NONE. */
static value new_cells(flattener *f, const type_info *t, int rank, const size_t *dims,
                       const record_level *outer, source_place place);

/* Sizes of a component: its own, then those of its type. */
static bool component_sizes(flattener *f, const ast_component *c, const type_info *t, int *rank,
                            size_t *dims, bool *open)
{
    for (size_t part = 0; part <= t->chain_count; part++) {
        ast_expr *const *sizes = part ? t->chain[part - 1]->sizes : c->sizes;
        size_t count = part ? t->chain[part - 1]->size_count : c->size_count;
        for (size_t k = 0; k < count; k++) {
            double n = 0.0;
            if (*rank == VALUE_MAX_RANK || !sizes[k]) return false;
            if (sizes[k]->kind == AST_COLON) {
                *open = true;
            } else if (!integer_value(f, sizes[k], "array size", &n)) {
                return false;
            }
            if (n < 0.0 || n > f->limits.elements)
                return report_error(f, sizes[k]->place, "size %.0f of '%s' is not possible", n,
                                    c->name);
            dims[(*rank)++] = (size_t)n;
        }
    }
    return true;
}

static value new_record_cells(flattener *f, const ast_class *record, int rank, const size_t *dims,
                              const record_level *outer, source_place place)
{
    record_level level = {record, outer};
    value v = {.type = VALUE_RECORD, .class_ = record, .rank = rank, .count = 1};
    size_t *copy = flatten_take(f, VALUE_MAX_RANK * sizeof *copy);
    v.fields = flatten_take(f, record->component_count * sizeof *v.fields);
    v.field_count = record->component_count;
    if (!copy || !v.fields || !record_allowed(f, record, outer, place)) return value_error();
    for (int k = 0; k < rank; k++) v.count *= copy[k] = dims[k];
    v.dims = copy;
    for (size_t k = 0; k < record->component_count; k++) {
        const ast_component *c = &record->components[k];
        size_t all[VALUE_MAX_RANK];
        int n = rank;
        bool open = false;
        type_info t;
        memcpy(all, dims, (size_t)rank * sizeof *all);
        if (!resolve_type(f, c->type, c->type_place, &t) ||
            !component_sizes(f, c, &t, &n, all, &open))
            return value_error();
        v.fields[k] = new_cells(f, &t, n, all, &level, c->place);
        if (value_is_error(&v.fields[k])) return value_error();
    }
    return v;
}

static value new_cells(flattener *f, const type_info *t, int rank, const size_t *dims,
                       const record_level *outer, source_place place)
{
    if (!flatten_pass(f, place)) return value_error();
    if (t->type == VALUE_RECORD) return new_record_cells(f, t->class_, rank, dims, outer, place);
    value v = value_new(f, t->type, rank, dims);
    v.class_ = t->class_;
    return v;
}

/* The unit a component is declared with. */
static int declared_unit(flattener *f, const ast_component *c, const type_info *t)
{
    for (size_t part = 0; part <= t->chain_count; part++) {
        const ast_modification *m = part ? t->chain[part - 1]->modifications : c->modifications;
        size_t count = part ? t->chain[part - 1]->modification_count : c->modification_count;
        for (size_t k = 0; k < count; k++)
            if (m[k].name && strcmp(m[k].name, "unit") == 0 && m[k].value &&
                m[k].value->kind == AST_STRING && m[k].value->text)
                return unit_number(&f->units, m[k].value->text);
    }
    return UNIT_UNKNOWN;
}

static bool argument_shape(flattener *f, const ast_class *fn, const ast_component *c,
                           const value *v, int rank, const size_t *dims, const type_info *t,
                           source_place place)
{
    bool fits = v->rank == rank;
    int own = 0;
    for (size_t part = 0; part <= t->chain_count && fits; part++) {
        ast_expr *const *sizes = part ? t->chain[part - 1]->sizes : c->sizes;
        size_t count = part ? t->chain[part - 1]->size_count : c->size_count;
        for (size_t k = 0; k < count; k++, own++)
            if (sizes[k]->kind != AST_COLON && v->dims[own] != dims[own]) fits = false;
    }
    if (fits) return true;
    if (v->rank != rank)
        return report_error(f, place, "argument '%s' of %s must have %d dimension%s, not %d",
                            c->name, fn->name, rank, rank == 1 ? "" : "s", v->rank);
    return report_error(f, place, "argument '%s' of %s must have sizes %s, not %s", c->name,
                        fn->name, value_shape(rank, dims).text, value_shape(v->rank, v->dims).text);
}

/* An input: checked and given a name. */
static bool bind_input(flattener *f, const ast_class *fn, const ast_component *c, const value *v,
                       source_place place)
{
    size_t dims[VALUE_MAX_RANK];
    int rank = 0;
    bool open = false;
    type_info t;
    local *l = push_local(f, c->name); /* before its sizes, which may use it: A[:, size(A, 1)] */
    if (!l) return false;
    size_t slot = (size_t)(l - f->locals);
    l->value = *v;
    const ast_class *interface = function_interface(f, c);
    if (interface) return check_function_value(f, fn, c, interface, v, place);
    if (!resolve_type(f, c->type, c->type_place, &t) ||
        !component_sizes(f, c, &t, &rank, dims, &open))
        return false;
    if (!fits_type(v, t.type, t.class_)) {
        value wanted = {.type = t.type, .class_ = t.class_};
        return report_error(f, place, "argument '%s' of %s: expected %s, found %s", c->name,
                            fn->name, value_describe(&wanted).text, value_describe(v).text);
    }
    if (!argument_shape(f, fn, c, v, rank, dims, &t, place)) return false;
    l = &f->locals[slot];
    l->value.type = t.type;
    if (t.type == VALUE_REAL && l->value.unit <= 0) l->value.unit = declared_unit(f, c, &t);
    return true;
}

/* An output or protected variable, with its value if it has one. */
bool declare_local(flattener *f, const ast_component *c)
{
    size_t dims[VALUE_MAX_RANK] = {0};
    int rank = 0;
    bool open = false;
    type_info t;
    if (!resolve_type(f, c->type, c->type_place, &t) ||
        !component_sizes(f, c, &t, &rank, dims, &open))
        return false;
    value given = c->value ? evaluate(f, c->value) : value_error();
    if (c->value && value_is_error(&given)) return false;
    if (open && c->value && given.rank == rank)
        memcpy(dims, given.dims, (size_t)rank * sizeof *dims);
    value cells = new_cells(f, &t, rank, dims, NULL, c->place);
    if (value_is_error(&cells))
        return !f->stop && report_error(f, c->place, "'%s' is too large", c->name);
    cells.unit = t.type == VALUE_REAL ? declared_unit(f, c, &t) : UNIT_UNKNOWN;
    local *l = push_local(f, c->name);
    if (!l) return false;
    l->value = cells;
    l->open_size = open;
    l->assignable = true;
    if (!c->value) return true;
    return assign_local(f, (size_t)(l - f->locals), NULL, 0, &given, c->place);
}

/* ---- calling ---- */

/* Locals of the call, in the order of declaration, so that sizes may use what is before them. */
static bool open_frame(flattener *f, const ast_class *fn, const value *values, const bool *given,
                       source_place place)
{
    size_t input = 0;
    for (size_t k = 0; k < fn->component_count; k++) {
        const ast_component *c = &fn->components[k];
        if (!c->name) return false;
        if (!c->input) continue;
        value v = given[input] ? values[input] : value_error();
        if (!given[input] && !c->value)
            return report_error(f, place, "%s lacks its argument '%s'", fn->name, c->name);
        if (!given[input]) v = evaluate(f, c->value);
        if (value_is_error(&v) || !bind_input(f, fn, c, &v, place)) return false;
        input++;
    }
    for (size_t k = 0; k < fn->component_count; k++)
        if (!fn->components[k].input && !declare_local(f, &fn->components[k])) return false;
    return true;
}

/* What an output is called in a message, if it was not assigned on all paths. */
static void name_partials(flattener *f, const value *v, const ast_class *fn, const char *name)
{
    if (f->partial_count == 0) return;
    for (size_t k = 0; v->fields && k < v->field_count; k++)
        name_partials(f, &v->fields[k], fn, name);
    for (size_t k = 0; !v->fields && k < v->count; k++) {
        partial_cell *p = partial_find(f, value_element(v, k));
        if (p) p->variable = name;
        if (p) p->function_ = fn->name;
    }
}

static value output_value(flattener *f, const ast_class *fn, const ast_component *c)
{
    const local *l = find_local(f, c->name);
    if (!l) return value_error();
    if (!graph_failed(f->g) && !f->failed && value_has_gap(&l->value))
        return error_value(f, c->place, "output '%s' of %s gets no value", c->name, fn->name);
    name_partials(f, &l->value, fn, c->name);
    value v = l->value;
    if (v.rank == 0 && v.e) {
        v.scalar = v.e[0];
        v.e = NULL;
    }
    return v;
}

static value collect_outputs(flattener *f, const ast_class *fn, source_place place)
{
    size_t count = 0;
    value *all = flatten_take(f, (fn->component_count + 1) * sizeof *all);
    if (!all) return value_error();
    for (size_t k = 0; k < fn->component_count; k++)
        if (fn->components[k].output) {
            all[count] = output_value(f, fn, &fn->components[k]);
            if (value_is_error(&all[count++])) return value_error();
        }
    if (count == 1) return all[0];
    (void)place;
    return (value){.type = VALUE_TUPLE, .count = 1, .fields = all, .field_count = count};
}

static bool function_allowed(flattener *f, const ast_class *fn, source_place place)
{
    if (f->call_depth < FLATTEN_MAX_CALLS && f->depth < FLATTEN_MAX_DEPTH - 40) return true;
    report_error(f, place,
                 "calls of %s are nested more than %d deep: a recursion must end by conditions "
                 "that are known before the run",
                 fn->name, f->call_depth);
    f->stop = true;
    return false;
}

/* ---- external functions ---- */

/* Results in their order: what stands before '=', then arguments that are outputs. */
static bool assign_results(flattener *f, const ast_class *fn, const value *results)
{
    const ast_expr *call = fn->external_call;
    const bool several = results->type == VALUE_TUPLE;
    size_t next = 0, count = several ? results->field_count : 1;
    bool ok = !value_is_error(results);
    for (size_t k = 0; ok && k <= call->arg_count; k++) {
        const ast_expr *target = k ? call->args[k - 1] : fn->external_result;
        if (!target || (k && !is_output(fn, target))) continue;
        if (next == count)
            return report_error(f, fn->external_place,
                                "%s gives fewer results than are wanted here", call->parts[0].name);
        ok = assign_reference(f, target, several ? &results->fields[next] : results);
        next++;
    }
    return ok;
}

/* The functions of C that the Standard Library calls are functions of our library, 'external.NAME',
 * whose inputs are the arguments that are no outputs. */
static bool execute_external(flattener *f, const ast_class *fn, source_place place)
{
    const ast_expr *call = fn->external_call;
    const char *name = call && call->part_count == 1 ? call->parts[0].name : fn->name;
    if (call && f->externals->is_file(name)) return f->externals->file(f, fn);
    if (call && f->externals->is_random(fn)) return f->externals->random(f, fn, place);
    const char *key = flatten_text(f, "'external.%s'", name);
    const ast_class *own = call && key ? library_class(f, key) : NULL;
    if (!own && call && f->allow_external) return f->externals->own_code(f, fn);
    if (!own)
        return report_error(f, fn->external_place,
                            f->allow_external
                                ? "the external function '%s' is not one that Daedal has: write "
                                  "its call, y = f(x), with its annotations"
                                : "the external function '%s' is not one that Daedal has; the "
                                  "option --allow-external compiles and calls C code of the model",
                            name);
    value *values = flatten_take(f, (call->arg_count + 1) * sizeof *values);
    bool *given = flatten_take(f, (call->arg_count + 1) * sizeof *given), ok = values && given;
    size_t count = 0, inputs = count_inputs(own);
    for (size_t k = 0; ok && k < call->arg_count; k++) {
        if (is_output(fn, call->args[k])) continue;
        values[count] = evaluate(f, call->args[k]);
        ok = !value_is_error(&values[count]);
        given[count++] = true;
    }
    if (!ok) return false;
    if (count != inputs)
        return report_error(f, fn->external_place, "%s wants %zu arguments, found %zu", name,
                            inputs, count);
    value results = invoke(f, own, values, given, place);
    return assign_results(f, fn, &results);
}

/* Execute the body with these arguments. */
static value execute_body(flattener *f, const ast_class *fn, const value *values, const bool *given,
                          source_place place)
{
    if (!function_allowed(f, fn, place)) return value_error();
    flatten_scope saved = f->scope;
    source_place outer = f->library_call;
    if (place.line != 0) f->library_call = place;
    size_t count = f->local_count;
    if (f->call_depth == 0) {
        f->call_start = f->passes;
        f->call_bytes = f->scratch_bytes + f->permanent_bytes;
    }
    f->scope.local_base = f->local_count;
    f->scope.no_event = f->scope.in_function = true;
    f->scope.skip_overlay = f->scope.shape_only = false;
    f->scope.function = fn;
    f->scope.end_size = SIZE_MAX;
    f->call_depth++;
    value out = value_error();
    bool open = open_frame(f, fn, values, given, place);
    int errors = message_errors(f->messages);
    bool done = open && (fn->external ? execute_external(f, fn, place) : execute_function(f, fn));
    if (done) out = collect_outputs(f, fn, place);
    if (message_errors(f->messages) > errors && f->call_depth == 1)
        report_note(f, place, "in this call of %s", fn->name);
    f->call_depth--;
    f->scope = saved;
    f->library_call = outer;
    f->local_count = count;
    return out;
}

/* The result with these arguments: known from the same call before, or by execution. */
value invoke(flattener *f, const ast_class *fn, const value *values, const bool *given,
             source_place place)
{
    const argument_list a = {(value *)values, (bool *)given, count_inputs(fn)};
    value out;
    if (call_recall(f, fn, &a, &out)) return out;
    call_mark before = call_begins(f);
    out = execute_body(f, fn, values, given, place);
    call_keep(f, fn, &a, &out, &before);
    return out;
}

/* ---- scalar functions on arrays: f({a, b}) = {f(a), f(b)} ---- */

static int declared_rank(flattener *f, const ast_component *c)
{
    type_info t;
    size_t rank = c->size_count;
    if (function_interface(f, c)) return 0;
    if (!resolve_type(f, c->type, c->type_place, &t)) return VALUE_MAX_RANK;
    for (size_t k = 0; k < t.chain_count; k++) rank += t.chain[k]->size_count;
    return (int)rank;
}

/* The array whose elements the function is to be applied to, or NULL. */
static const value *vectorised_over(flattener *f, const ast_class *fn, const value *values,
                                    const bool *given, size_t inputs, int *extra)
{
    const value *shape = NULL;
    *extra = 0;
    for (size_t k = 0; k < inputs; k++) {
        if (!given[k]) continue;
        int more = values[k].rank - declared_rank(f, input_component(fn, k));
        if (more <= 0) continue;
        if (!shape) *extra = more;
        if (shape && more != *extra) return NULL;
        if (!shape) shape = &values[k];
    }
    return shape;
}

static value invoke_elements(flattener *f, const ast_class *fn, const value *values,
                             const bool *given, size_t inputs, const value *shape, int extra,
                             source_place place)
{
    size_t count = 1;
    for (int d = 0; d < extra; d++) count *= shape->dims[d];
    value *parts = flatten_take(f, (count + 1) * sizeof *parts);
    value *one = flatten_take(f, (inputs + 1) * sizeof *one);
    if (!parts || !one) return value_error();
    for (size_t k = 0; k < count; k++) {
        for (size_t i = 0; i < inputs; i++) {
            bool spread = given[i] && values[i].rank > declared_rank(f, input_component(fn, i));
            if (spread && (values[i].rank < extra ||
                           memcmp(values[i].dims, shape->dims, (size_t)extra * sizeof(size_t))))
                return error_value(f, place, "array arguments of %s differ in their sizes",
                                   fn->name);
            one[i] = spread ? value_slice(f, &values[i], extra, k) : values[i];
        }
        parts[k] = invoke(f, fn, one, given, place);
        if (value_is_error(&parts[k])) return value_error();
        if (parts[k].type == VALUE_TUPLE)
            return error_value(f, place,
                               "%s has several outputs: it cannot be applied to each element of an "
                               "array",
                               fn->name);
    }
    value flat = stack_values(f, parts, count, place);
    return extra == 1 || count == 0 ? flat : value_reshape(f, flat, extra, shape->dims);
}

/* A call whose arguments may be complete, or arrays of what the function wants. */
static value call_with(flattener *f, const ast_class *fn, const argument_list *a,
                       source_place place)
{
    int extra = 0;
    const value *shape = vectorised_over(f, fn, a->values, a->given, a->count, &extra);
    if (shape) return invoke_elements(f, fn, a->values, a->given, a->count, shape, extra, place);
    return invoke(f, fn, a->values, a->given, place);
}

value call_function(flattener *f, const ast_class *fn, const ast_expr *call)
{
    argument_list a;
    if (!new_arguments(f, fn, NULL, &a) || !collect_arguments(f, fn, call, &a))
        return value_error();
    return call_with(f, fn, &a, call->place);
}

value call_function_value(flattener *f, const value *function, const ast_expr *call)
{
    argument_list a;
    const ast_class *fn = function->class_;
    if (!new_arguments(f, fn, function, &a) || !collect_arguments(f, fn, call, &a))
        return value_error();
    return call_with(f, fn, &a, call->place);
}

/* ---- records ---- */

static bool field_argument(flattener *f, const ast_class *record, const ast_expr *call, size_t k,
                           value *out)
{
    const ast_component *c = &record->components[k];
    const ast_expr *given = k < call->arg_count ? call->args[k] : NULL;
    for (size_t i = 0; i < call->named_count; i++)
        if (call->named[i].name && c->name && strcmp(call->named[i].name, c->name) == 0)
            given = call->named[i].value;
    if (!given) given = c->value;
    if (!given)
        return report_error(f, call->place, "record %s lacks its field '%s'", record->name,
                            c->name);
    *out = evaluate(f, given);
    if (value_is_error(out)) return false;
    type_info t;
    if (!resolve_type(f, c->type, c->type_place, &t)) return false;
    if (!fits_type(out, t.type, t.class_))
        return type_error(f, given->place, c->name, out,
                          t.class_ ? t.class_->name : value_type_name(t.type));
    size_t dims[VALUE_MAX_RANK] = {0};
    int rank = 0;
    bool open = false;
    if (!component_sizes(f, c, &t, &rank, dims, &open)) return false;
    if (rank != out->rank ||
        (!open && rank && memcmp(dims, out->dims, (size_t)rank * sizeof *dims) != 0)) {
        return report_error(f, given->place, "field '%s' of record %s has sizes %s, not %s",
                            c->name, record->name, value_shape(rank, dims).text,
                            value_shape(out->rank, out->dims).text);
    }
    out->type = t.type;
    return true;
}

value record_constructor(flattener *f, const ast_class *record, const ast_expr *call)
{
    value v = {.type = VALUE_RECORD, .class_ = record, .count = 1};
    bool ok = true;
    v.field_count = record->component_count;
    v.fields = flatten_take(f, v.field_count * sizeof *v.fields);
    if (!v.fields) return value_error();
    if (call->arg_count > v.field_count)
        return error_value(f, call->place, "record %s has %zu fields, found %zu values",
                           record->name, v.field_count, call->arg_count);
    for (size_t k = 0; k < call->named_count; k++)
        if (call->named[k].name && field_index(record, call->named[k].name) == SIZE_MAX) {
            report_error(f, call->named[k].place, "record %s has no field '%s'", record->name,
                         call->named[k].name);
            ok = false;
        }
    for (size_t k = 0; k < v.field_count; k++)
        if (!field_argument(f, record, call, k, &v.fields[k])) ok = false;
    return ok ? v : value_error();
}
