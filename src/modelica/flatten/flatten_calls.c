/* Results of calls, kept: a call of a function with the same arguments, in a place where it means
 * the same, has the same nodes as result, and is not executed again. Properties of a medium are
 * asked for one by one, from the same state. */
#include <string.h>

#include "base/memory.h"
#include "modelica/flatten/flatten_execute.h"

enum {
    CHEAP = 8,             /* passes below which a call is as fast as a look-up */
    MOST_BYTES = 16 << 20, /* kept at a time; then all is forgotten */
    FIRST_CALLS = 1 << 8   /* places of the first table */
};

/* A call and what it gave; all of it in the arena of the table. */
struct kept_call {
    uint64_t hash;
    const ast_class *fn;
    argument_list arguments;
    unsigned scope; /* scope_flags() */
    bool asserts;   /* it has asserted something, */
    expr guard;     /* under this condition */
    value result;
    kept_call *next; /* with the same hash, as far as the table tells */
};

/* Where the same call may mean something else, beside conditions around it. */
static unsigned scope_flags(const flattener *f)
{
    return (unsigned)f->scope.in_initial | (unsigned)f->scope.at_start << 1 |
           (unsigned)f->scope.parameters_only << 2;
}

/* In a when and in a loop of the run asserts belong to what is around, and loops count their passes
 * together. */
static bool stands_alone(const flattener *f)
{
    return !f->scope.checks && !f->scope.actions && !f->scope.in_when && f->pass_count == EXPR_NONE;
}

/* ---- values as keys ---- */

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 32;
}

static uint64_t hash_value(uint64_t hash, const value *v)
{
    hash = mix(hash, (uint64_t)v->type << 32 | v->count);
    for (size_t k = 0; value_is_simple(v) && k < v->count; k++)
        hash = mix(hash, value_element(v, k));
    for (size_t k = 0; k < v->field_count; k++) hash = hash_value(hash, &v->fields[k]);
    return hash;
}

static uint64_t hash_call(const ast_class *fn, const argument_list *a)
{
    uint64_t hash = mix(0, (uint64_t)(uintptr_t)fn);
    for (size_t k = 0; k < a->count; k++)
        hash = a->given[k] ? hash_value(hash, &a->values[k]) : mix(hash, k);
    return hash;
}

static bool same_value(const value *a, const value *b)
{
    if (a->type != b->type || a->class_ != b->class_ || a->rank != b->rank ||
        a->count != b->count || a->field_count != b->field_count || a->unit != b->unit)
        return false;
    if (a->rank && memcmp(a->dims, b->dims, (size_t)a->rank * sizeof *a->dims) != 0) return false;
    if (value_is_simple(a) &&
        memcmp(value_elements(a), value_elements(b), a->count * sizeof(expr)) != 0)
        return false;
    for (size_t k = 0; k < a->field_count; k++)
        if (!same_value(&a->fields[k], &b->fields[k])) return false;
    return true;
}

static bool same_arguments(const argument_list *a, const argument_list *b)
{
    for (size_t k = 0; k < a->count; k++)
        if (a->given[k] != b->given[k] ||
            (a->given[k] && !same_value(&a->values[k], &b->values[k])))
            return false;
    return true;
}

/* ---- values that stay ---- */

/* Where a copy goes: the table's arena, or that of the values at hand. */
typedef struct copier {
    flattener *f;
    bool keep;
} copier;

static void *copy_bytes(const copier *c, const void *from, size_t bytes)
{
    void *to =
        c->keep ? arena_alloc(c->f->calls.memory, bytes ? bytes : 1) : flatten_take(c->f, bytes);
    if (c->keep) c->f->calls.bytes += bytes;
    if (to && bytes) memcpy(to, from, bytes);
    if (!to) c->f->failed = true;
    return to;
}

static value copy_value(const copier *c, const value *v)
{
    value out = *v;
    if (v->rank) out.dims = copy_bytes(c, v->dims, (size_t)v->rank * sizeof *v->dims);
    if (v->e) out.e = copy_bytes(c, v->e, v->count * sizeof *v->e);
    if (v->field_count) out.fields = copy_bytes(c, v->fields, v->field_count * sizeof *v->fields);
    for (size_t k = 0; out.fields && k < v->field_count; k++)
        out.fields[k] = copy_value(c, &v->fields[k]);
    return c->f->failed ? value_error() : out;
}

/* ---- the table ---- */

void calls_free(kept_calls *calls)
{
    arena_free(calls->memory);
    dae_free(calls->first);
    *calls = (kept_calls){.asserts = calls->asserts};
}

/* Room for one call more: more places, or all is forgotten. */
static bool make_room(flattener *f)
{
    kept_calls *c = &f->calls;
    if (c->bytes > MOST_BYTES) calls_free(c);
    if (!c->memory && !(c->memory = arena_new(0))) return false;
    if (c->count < c->places) return true;
    size_t places = c->places ? 2 * c->places : FIRST_CALLS;
    kept_call **first = DAE_ARRAY(kept_call *, places);
    if (!first) return false;
    for (size_t k = 0; k < c->places; k++)
        for (kept_call *e = c->first[k], *next; e; e = next) {
            next = e->next;
            e->next = first[e->hash & (places - 1)];
            first[e->hash & (places - 1)] = e;
        }
    dae_free(c->first);
    c->first = first;
    c->places = places;
    return true;
}

/* What it asserted has been asserted for this place, too. */
static bool asserts_hold(flattener *f, const kept_call *e)
{
    return !e->asserts || e->guard == EXPR_NONE || e->guard == current_guard(f);
}

bool call_recall(flattener *f, const ast_class *fn, const argument_list *a, value *result)
{
    const kept_calls *c = &f->calls;
    if (c->count == 0 || !stands_alone(f)) return false;
    uint64_t hash = hash_call(fn, a);
    for (const kept_call *e = c->first[hash & (c->places - 1)]; e; e = e->next) {
        if (e->hash != hash || e->fn != fn || e->scope != scope_flags(f) ||
            !same_arguments(&e->arguments, a) || !asserts_hold(f, e))
            continue;
        if (e->asserts && e->guard != EXPR_NONE) f->calls.asserts++;
        *result = copy_value(&(copier){.f = f}, &e->result);
        return true;
    }
    return false;
}

call_mark call_begins(const flattener *f)
{
    return (call_mark){.passes = f->passes,
                       .messages = message_errors(f->messages) + message_warnings(f->messages),
                       .asserts = f->asserts.count + f->calls.asserts,
                       .memory = f->m->memory_count};
}

/* Whether a call has left nothing behind but its result and asserts. */
static bool is_pure(const flattener *f, const call_mark *m)
{
    return stands_alone(f) && !f->failed && !f->stop && !graph_failed(f->g) &&
           m->memory == f->m->memory_count &&
           m->messages == message_errors(f->messages) + message_warnings(f->messages);
}

void call_keep(flattener *f, const ast_class *fn, const argument_list *a, const value *result,
               const call_mark *m)
{
    if (value_is_error(result) || f->passes - m->passes < CHEAP || !is_pure(f, m)) return;
    const copier keep = {f, true};
    kept_call *e =
        make_room(f)
            ? copy_bytes(&keep, &(kept_call){.hash = hash_call(fn, a), .fn = fn}, sizeof *e)
            : NULL;
    if (!e) {
        f->failed = true;
        return;
    }
    e->scope = scope_flags(f);
    e->asserts = m->asserts != f->asserts.count + f->calls.asserts;
    e->guard = e->asserts ? current_guard(f) : EXPR_NONE;
    e->arguments =
        (argument_list){copy_bytes(&keep, a->values, a->count * sizeof *a->values),
                        copy_bytes(&keep, a->given, a->count * sizeof *a->given), a->count};
    for (size_t k = 0; !f->failed && k < a->count; k++)
        if (a->given[k]) e->arguments.values[k] = copy_value(&keep, &a->values[k]);
    e->result = copy_value(&keep, result);
    if (f->failed) return;
    kept_call **place = &f->calls.first[e->hash & (f->calls.places - 1)];
    e->next = *place;
    *place = e;
    f->calls.count++;
}
