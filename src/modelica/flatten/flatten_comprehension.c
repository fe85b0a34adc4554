/* {e for i in r}, and sum, product, min, max of such elements.
 *
 * {sum(e for j in 1:i) for i in 1:n}, positions along a chain, say, is evaluated in n passes, not
 * n^2/2: a sum goes on from the one before it where its elements do not depend on i. The
 * additions, their order and so the nodes are the same. */
#include "modelica/flatten/flatten_internal.h"

#include <string.h>

/* ---- sums that go on ---- */

static bool is_arithmetic(ast_op op)
{
    return op <= OP_EPOW || op == OP_PLUS || op == OP_MINUS;
}

static bool is_elementary(const ast_expr *e)
{
    static const char *const names[] = {"sin",  "cos",  "tan",  "asin", "acos",  "atan", "atan2",
                                        "sinh", "cosh", "tanh", "exp",  "log10", "log",  "sqrt"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (e->part_count == 1 && strcmp(e->parts[0].name, names[k]) == 0) return !e->named_count;
    return false;
}

static bool is_local(const flattener *f, const char *name)
{
    for (size_t k = 0; k < f->local_count; k++)
        if (strcmp(f->locals[k].name, name) == 0) return true;
    return false;
}

static bool stands_alone(const flattener *f, const ast_expr *e, const char *iterator);

static bool all_stand_alone(const flattener *f, ast_expr *const *e, size_t count,
                            const char *iterator)
{
    for (size_t k = 0; k < count; k++)
        if (!e[k] || !stands_alone(f, e[k], iterator)) return false;
    return true;
}

static bool reference_stands_alone(const flattener *f, const ast_expr *e, const char *iterator)
{
    const char *name = e->parts[0].name;
    if (strcmp(name, iterator) != 0 && is_local(f, name)) return false;
    for (size_t k = 0; k < e->part_count; k++)
        if (!all_stand_alone(f, e->parts[k].subscripts, e->parts[k].subscript_count, iterator))
            return false;
    return true;
}

/* Whether e depends on its iterator, and on no other name that has one value here and another one
 * elsewhere; arithmetic alone, so that it makes no events. */
static bool stands_alone(const flattener *f, const ast_expr *e, const char *iterator)
{
    while (e->kind == AST_BINARY) { /* long sums are deep to the left */
        if (!is_arithmetic(e->op) || !stands_alone(f, e->args[1], iterator)) return false;
        e = e->args[0];
    }
    if (e->kind == AST_NUMBER) return true;
    if (e->kind == AST_REFERENCE) return reference_stands_alone(f, e, iterator);
    bool plain =
        (e->kind == AST_UNARY && is_arithmetic(e->op)) || (e->kind == AST_CALL && is_elementary(e));
    return plain && all_stand_alone(f, e->args, e->arg_count, iterator);
}

/* How many elements of this sum the last one had, from the first one on; their sum is kept. */
static size_t elements_known(const flattener *f, const ast_expr *e, const loop_range *r)
{
    const prefix_sum *p = &f->prefix;
    bool same = p->of == e && !r->use_list && p->start == r->start && p->step == r->step;
    return same && p->count <= r->count ? p->count : 0;
}

static void keep_sum(flattener *f, const ast_expr *e, const loop_range *r, const value *sum)
{
    if (f->prefix.of != e && !stands_alone(f, e->args[0], e->iterators[0].name)) return;
    f->prefix = (prefix_sum){e, r->start, r->step, r->count, *sum};
}

/* ---- elements ---- */

static value comprehend(flattener *f, const ast_expr *e, size_t iterators);

/* Element k of the range, whose iterator is local number `slot`; false: an error */
static bool take_element(flattener *f, const ast_expr *e, size_t iterators, const loop_range *r,
                         size_t slot, size_t k, value *out)
{
    f->locals[slot].value = range_element(f, r, k);
    *out = comprehend(f, e, iterators - 1);
    return !value_is_error(out) && flatten_pass(f, e->place);
}

/* parts[k - from] = element k of the range, k >= from; false: an error */
static bool take_elements(flattener *f, const ast_expr *e, size_t iterators, const loop_range *r,
                          size_t from, value *parts)
{
    size_t slot = f->local_count;
    bool good = push_local(f, e->iterators[iterators - 1].name);
    for (size_t k = from; k < r->count && good; k++)
        good = take_element(f, e, iterators, r, slot, k, &parts[k - from]);
    f->local_count = slot;
    return good;
}

/* The first elements as long as they are scalars of one kind, and *next, the one behind them. They
 * need no values of their own, which are twenty times as large as their nodes. */
static bool take_scalars(flattener *f, const ast_expr *e, const loop_range *r, value *all,
                         size_t *count, value *next)
{
    size_t slot = f->local_count;
    bool good = push_local(f, e->iterators[0].name), alike = true;
    for (*count = 0; *count < r->count && good && alike; *count += alike) {
        good = take_element(f, e, 1, r, slot, *count, next);
        alike = good && value_is_simple(next) && next->rank == 0;
        if (alike && *count == 0) {
            *all = value_array_of(f, next->type, r->count);
            all->class_ = next->class_;
            all->unit = next->unit;
        }
        alike = alike && next->type == all->type && next->class_ == all->class_ &&
                next->unit == all->unit;
        if (alike) all->e[*count] = value_element(next, 0);
    }
    f->local_count = slot;
    return good;
}

/* An array of scalars, mostly of one kind. */
static value comprehend_scalars(flattener *f, const ast_expr *e, const loop_range *r)
{
    value all = value_error(), next = all;
    size_t count;
    if (!take_scalars(f, e, r, &all, &count, &next)) return value_error();
    if (count == r->count) return all;
    value *parts = flatten_take(f, (r->count + 1) * sizeof *parts);
    if (!parts) return value_error();
    for (size_t k = 0; k < count; k++) {
        parts[k] = value_scalar(all.type, all.e[k]);
        parts[k].class_ = all.class_;
        parts[k].unit = all.unit;
    }
    parts[count] = next;
    if (!take_elements(f, e, 1, r, count + 1, parts + count + 1)) return value_error();
    return stack_values(f, parts, r->count, e->place);
}

/* Nested loops of a comprehension: the last iterator is the outermost dimension. */
static value comprehend(flattener *f, const ast_expr *e, size_t iterators)
{
    if (iterators == 0) return formula_element(f, e->args[0]);
    loop_range r;
    if (!evaluate_range(f, &e->iterators[iterators - 1], &r)) return value_error();
    if (iterators == 1 && r.count > 0) return comprehend_scalars(f, e, &r);
    value *parts = flatten_take(f, (r.count + 1) * sizeof *parts);
    if (!parts || !take_elements(f, e, iterators, &r, 0, parts)) return value_error();
    return stack_values(f, parts, r.count, e->place);
}

/* sum(e for j in r): the one before it, and the elements that it has not */
static value continue_sum(flattener *f, const ast_expr *e)
{
    loop_range r;
    if (!evaluate_range(f, &e->iterators[0], &r)) return value_error();
    const size_t known = elements_known(f, e, &r), before = known > 0;
    value *parts = flatten_take(f, (r.count - known + before + 1) * sizeof *parts);
    if (!parts) return value_error();
    if (before) parts[0] = f->prefix.sum;
    if (!take_elements(f, e, 1, &r, known, parts + before)) return value_error();
    value v = stack_values(f, parts, r.count - known + before, e->place);
    if (value_is_error(&v)) return v;
    if (v.rank > 1) return wrong_type(f, e->args[0]->place, "sum", &v, "a scalar for each element");
    value sum = reduce_values(f, "sum", &v, e->place);
    if (r.count > 0 && !value_is_error(&sum) && !r.use_list) keep_sum(f, e, &r, &sum);
    return sum;
}

static value reduce_elements(flattener *f, const ast_expr *e, const char *name)
{
    if (strcmp(name, "sum") == 0 && e->iterator_count == 1 && f->comprehensions > 1 &&
        !f->scope.shape_only)
        return continue_sum(f, e);
    value v = comprehend(f, e, e->iterator_count);
    if (value_is_error(&v) || strcmp(name, "array") == 0) return v;
    if (v.rank > (int)e->iterator_count)
        return wrong_type(f, e->args[0]->place, name, &v, "a scalar for each element");
    return reduce_values(f, name, &v, e->place);
}

value evaluate_comprehension(flattener *f, const ast_expr *e)
{
    if (e->arg_count < 1) return value_error();
    const char *name = e->part_count ? joined_name(f, e->parts, e->part_count) : "array";
    if (strcmp(name, "array") != 0 && !is_reduction(name))
        return error_value(
            f, e->place,
            "'%s' cannot reduce an iterator: only sum, product, min, max and array can", name);
    f->comprehensions++;
    value v = reduce_elements(f, e, name);
    if (--f->comprehensions == 0) {
        f->prefix.of = NULL;
        if (!f->pass) element_texts_free(f);
    }
    return v;
}
