#include "expr/roll.h"

#include "base/memory.h"
#include "expr/hash.h"
#include "expr/intern.h"
#include "expr/walk.h"

#include <math.h>
#include <string.h>

enum {
    MOST_NODES = 400, /* of an output: larger ones stay alone */
    LEAST_PASSES = 16,
    LEAST_WORK = 1000, /* operations in loops, below which text and tape are short anyway */
    RECOMPUTED = 3,    /* outputs share operations; loops may do so many times as many */
    FIRST_PLACES = 256,
    KNOWN = 64,     /* outputs that are remembered: many are the same node, */
    KNOWN_SLOTS = 8 /* if they have no more leaves */
};

/* ---- shapes ---------------------------------------------------------------------------------- */

/* A node of an output, with operands by their place in its walk. */
typedef struct shape_node {
    uint8_t op, order, arity;
    bool slot; /* a leaf in whose number passes may differ */
    uint16_t operand[3];
    double value; /* of a CONSTANT that is no slot */
} shape_node;

/* Outputs with the same nodes but for the numbers of leaves. */
typedef struct shape {
    uint64_t hash;
    size_t first; /* of its nodes in the pool */
    size_t nodes, slots;
} shape;

/* ---- runs ------------------------------------------------------------------------------------ */

/* Members whose numbers grow by constant steps: of outputs, or of runs of the level below. Numbers
 * are those of all slots, then the output's. */
typedef struct run {
    uint32_t type;  /* of its members */
    uint32_t count; /* of them */
    size_t base;    /* where its numbers begin in the pool, */
    size_t step;    /* and their steps */
} run;

/* A kind of run: equal types, counts and steps. Types of level 0 are shapes. */
typedef struct run_type {
    uint64_t hash;
    uint32_t member; /* type of the members */
    uint32_t count;
    uint32_t shape;  /* of all in it */
    size_t step;     /* in the pool */
    size_t last;     /* 1 + the run of the next level that is still open; 0: none */
    size_t split[2]; /* 1 + where the steps of the last pairs are that were no runs; 0: none */
} run_type;

/* A hash table of numbers from 1 of what has these hashes. */
typedef struct places {
    uint32_t *slot; /* owned */
    size_t size, used;
} places;

/* An output that was read, with its type and the numbers of its slots. */
typedef struct known_output {
    expr e;
    uint32_t type;
    int32_t number[KNOWN_SLOTS];
} known_output;

typedef struct roller {
    const graph *g;
    const expr *e;
    size_t count;
    walk walk;
    shape *shapes; /* owned, as all below */
    size_t shape_count, shape_room;
    places shape_places;
    uint32_t last_shape; /* of the output before, from 1; 0: it stays alone */
    shape_node *pool;
    size_t pool_count, pool_room;
    int32_t *numbers;
    size_t number_count, number_room;
    run *runs, *next; /* of this level, of the next one */
    size_t run_count, run_room, next_count, next_room;
    run_type *types;
    size_t type_count, type_room;
    places type_places;
    int32_t *own; /* numbers of the output at hand */
    known_output known[KNOWN];
    bool *rolled; /* by output */
} roller;

/* Room for one more: at most half full. hash_of: by number. false: memory. */
static bool places_grow(places *p, uint64_t (*hash_of)(const roller *, uint32_t), const roller *r)
{
    if (2 * (p->used + 1) <= p->size) return true;
    const size_t size = p->size ? 2 * p->size : FIRST_PLACES;
    uint32_t *slot = DAE_ARRAY(uint32_t, size);
    if (!slot) return false;
    for (uint32_t k = 1; k <= p->used; k++) {
        size_t i = hash_of(r, k) & (size - 1);
        while (slot[i]) i = (i + 1) & (size - 1);
        slot[i] = k;
    }
    dae_free(p->slot);
    p->slot = slot;
    p->size = size;
    return true;
}

static uint64_t shape_hash(const roller *r, uint32_t k)
{
    return r->shapes[k - 1].hash;
}

static uint64_t type_hash(const roller *r, uint32_t k)
{
    return r->types[k - 1].hash;
}

/* ---- outputs to shapes ----------------------------------------------------------------------- */

/* Whether passes may differ in this leaf: variables, parameters, memory, and whole numbers that may
 * come from counters. Smaller ones are mostly coefficients, and part of the shape. */
static bool is_slot(const expr_node *n)
{
    const double least = 3.0, most = 1e9;
    if (n->op == EXPR_CONSTANT)
        return fabs(n->value) >= least && fabs(n->value) <= most && n->value == floor(n->value);
    return n->op == EXPR_VARIABLE || n->op == EXPR_PARAMETER || n->op == EXPR_MEMORY;
}

static int32_t number_of(const expr_node *n)
{
    return n->op == EXPR_CONSTANT ? (int32_t)n->value : n->index;
}

static uint64_t word_of(const shape_node *n)
{
    return (uint64_t)n->slot << 48 | (uint64_t)n->op << 40 | (uint64_t)n->order << 32 |
           (uint64_t)n->operand[0] << 16 | n->operand[1];
}

/* The nodes of the walk behind those of the pool, numbers of slots into `own`; false: this output
 * stays alone. *s: what it is but for its hash table. */
static bool read_shape(roller *r, shape *s)
{
    const walk *w = &r->walk;
    *s = (shape){.first = r->pool_count, .nodes = w->count};
    if (w->count > MOST_NODES) return false;
    for (size_t i = 0; i < w->count; i++) {
        const expr_node *n = graph_node(r->g, w->order[i]);
        if (n->op >= EXPR_OP_COUNT) return false; /* loops of the run, signals */
        shape_node *to = &r->pool[r->pool_count + i];
        *to = (shape_node){.op = n->op, .order = n->order, .arity = n->arity, .slot = is_slot(n)};
        if (n->op == EXPR_CONSTANT && !to->slot) to->value = n->value;
        for (int k = 0; k < n->arity; k++)
            to->operand[k] = (uint16_t)walk_place(w, expr_operand(n, k));
        if (to->slot) r->own[s->slots++] = number_of(n);
        s->hash = hash_mix(hash_mix(s->hash, word_of(to)), bits_of(to->value) + to->operand[2]);
    }
    return true;
}

static bool same_shape(const roller *r, const shape *a, const shape *b)
{
    if (a->hash != b->hash || a->nodes != b->nodes) return false;
    for (size_t i = 0; i < a->nodes; i++) {
        const shape_node *m = &r->pool[a->first + i], *n = &r->pool[b->first + i];
        if (m->op != n->op || m->order != n->order || m->slot != n->slot ||
            memcmp(m->operand, n->operand, sizeof m->operand) != 0 ||
            bits_of(m->value) != bits_of(n->value))
            return false;
    }
    return true;
}

/* Whether the walk at hand has that shape; numbers of slots into `own` then. */
static bool has_shape(roller *r, const shape *s)
{
    const walk *w = &r->walk;
    size_t slots = 0;
    if (s->nodes != w->count) return false;
    for (size_t i = 0; i < w->count; i++) {
        const expr_node *n = graph_node(r->g, w->order[i]);
        const shape_node *m = &r->pool[s->first + i];
        if (n->op != m->op || n->order != m->order) return false;
        if (n->arity == 0 && is_slot(n) != m->slot) return false;
        if (n->op == EXPR_CONSTANT && !m->slot && bits_of(n->value) != bits_of(m->value))
            return false;
        for (int k = 0; k < n->arity; k++)
            if (walk_place(w, expr_operand(n, k)) != m->operand[k]) return false;
        if (m->slot) r->own[slots++] = number_of(n);
    }
    return true;
}

/* The number from 1 of the shape of the walk at hand; 0: it stays alone, or memory (*ok). That of
 * the output before is tried first: neighbours are alike. */
static uint32_t find_shape(roller *r, bool *ok)
{
    shape s;
    *ok = true;
    if (r->last_shape && has_shape(r, &r->shapes[r->last_shape - 1])) return r->last_shape;
    *ok = dae_grow(&r->pool, &r->pool_room, r->pool_count + MOST_NODES, sizeof *r->pool) &&
          dae_grow(&r->shapes, &r->shape_room, r->shape_count + 1, sizeof *r->shapes) &&
          places_grow(&r->shape_places, shape_hash, r);
    if (!*ok || !read_shape(r, &s)) return 0;
    places *p = &r->shape_places;
    size_t i = s.hash & (p->size - 1);
    for (; p->slot[i]; i = (i + 1) & (p->size - 1))
        if (same_shape(r, &r->shapes[p->slot[i] - 1], &s)) return p->slot[i];
    r->shapes[r->shape_count++] = s;
    r->pool_count += s.nodes;
    p->used++;
    p->slot[i] = (uint32_t)r->shape_count;
    return p->slot[i];
}

/* ---- runs of a level ------------------------------------------------------------------------- */

static size_t width_of(const roller *r, uint32_t type)
{
    return r->shapes[r->types[type - 1].shape].slots + 1;
}

static bool same_type(const roller *r, const run_type *a, const run_type *b)
{
    if (a->hash != b->hash || a->member != b->member || a->count != b->count) return false;
    if (a->count <= 1) return a->shape == b->shape;
    const size_t width = r->shapes[a->shape].slots + 1;
    return memcmp(r->numbers + a->step, r->numbers + b->step, width * sizeof *r->numbers) == 0;
}

/* The number of that type, new or old; 0: memory. */
static uint32_t find_type(roller *r, run_type t)
{
    if (!dae_grow(&r->types, &r->type_room, r->type_count + 1, sizeof *r->types) ||
        !places_grow(&r->type_places, type_hash, r))
        return 0;
    t.hash = hash_mix(hash_mix(hash_mix(0, t.shape), t.member),
                      t.count); /* shapes and members grow together */
    for (size_t k = 0; t.count > 1 && k <= r->shapes[t.shape].slots; k++)
        t.hash = hash_mix(t.hash, (uint64_t)(uint32_t)r->numbers[t.step + k]);
    places *p = &r->type_places;
    size_t i = t.hash & (p->size - 1);
    for (; p->slot[i]; i = (i + 1) & (p->size - 1))
        if (same_type(r, &r->types[p->slot[i] - 1], &t)) return p->slot[i];
    r->types[r->type_count++] = t;
    p->used++;
    p->slot[i] = (uint32_t)r->type_count;
    return p->slot[i];
}

/* Whether the numbers follow those of an open run by its steps. */
static bool follows(const roller *r, const run *open, const int32_t *numbers, size_t width)
{
    const int32_t *base = r->numbers + open->base, *step = r->numbers + open->step;
    for (size_t k = 0; k < width; k++)
        if (numbers[k] != (int64_t)base[k] + (int64_t)open->count * step[k]) return false;
    return true;
}

/* Room for so many numbers more; where they begin. false: memory. */
static bool take_numbers(roller *r, size_t count, size_t *at)
{
    *at = r->number_count;
    if (!dae_grow(&r->numbers, &r->number_room, r->number_count + count, sizeof *r->numbers))
        return false;
    r->number_count += count;
    return true;
}

/* A new run of the next level with one member, whose numbers are in the pool at *base, or are
 * given.
 */
static bool open_run(roller *r, uint32_t type, const int32_t *given, size_t base)
{
    const size_t width = width_of(r, type);
    if (!dae_grow(&r->next, &r->next_room, r->next_count + 1, sizeof *r->next)) return false;
    if (given) {
        if (!take_numbers(r, width, &base)) return false;
        memcpy(r->numbers + base, given, width * sizeof *given);
    }
    r->next[r->next_count++] = (run){.type = type, .count = 1, .base = base};
    r->types[type - 1].last = r->next_count;
    return true;
}

/* Whether the last pair but one had these steps: then members come two by two. */
static bool is_period(const roller *r, uint32_t type, size_t step)
{
    const size_t before = r->types[type - 1].split[1];
    return before && memcmp(r->numbers + before - 1, r->numbers + step,
                            width_of(r, type) * sizeof *r->numbers) == 0;
}

/* The open run is a pair that does not go on: its first member stays alone, and the second begins a
 * run with the new one. So the row before a loop does not take away the loop's first. */
static bool split_pair(roller *r, uint32_t type, const int32_t *given, size_t base)
{
    const size_t width = width_of(r, type);
    run_type *t = &r->types[type - 1];
    run pair = r->next[t->last - 1];
    size_t second, step;
    if (!take_numbers(r, width, &second) || !take_numbers(r, width, &step)) return false;
    const int32_t *from = given ? given : r->numbers + base;
    for (size_t k = 0; k < width; k++) {
        r->numbers[second + k] = r->numbers[pair.base + k] + r->numbers[pair.step + k];
        r->numbers[step + k] = from[k] - r->numbers[second + k];
    }
    t->split[1] = t->split[0];
    t->split[0] = pair.step + 1;
    r->next[t->last - 1].count = 1;
    if (!open_run(r, type, NULL, second)) return false;
    r->next[r->next_count - 1].count = 2;
    r->next[r->next_count - 1].step = step;
    return true;
}

/* One more member of that type: into the open run, or a new one. `given`: its numbers, not in the
 * pool; else they are there at `base`. */
static bool add_member(roller *r, uint32_t type, const int32_t *given, size_t base)
{
    const size_t width = width_of(r, type), last = r->types[type - 1].last;
    if (last == 0) return open_run(r, type, given, base);
    run *open = &r->next[last - 1];
    if (open->count == 1) {
        if (!take_numbers(r, width, &open->step)) return false;
        const int32_t *from = given ? given : r->numbers + base;
        for (size_t k = 0; k < width; k++)
            r->numbers[open->step + k] = from[k] - r->numbers[open->base + k];
        open->count = 2;
        return true;
    }
    if (follows(r, open, given ? given : r->numbers + base, width)) {
        open->count++;
        return true;
    }
    if (open->count > 2 || is_period(r, type, open->step)) return open_run(r, type, given, base);
    return split_pair(r, type, given, base);
}

/* The type of an output, its numbers into `own`; 0: it stays alone, or memory (*ok). */
static uint32_t read_output(roller *r, expr e, bool *ok)
{
    known_output *known = &r->known[e % KNOWN];
    if (known->e == e) {
        memcpy(r->own, known->number, sizeof known->number);
        return known->type;
    }
    bool small = false;
    *ok = walk_within(&r->walk, r->g, e, MOST_NODES, &small);
    const uint32_t found = *ok && small ? find_shape(r, ok) : 0;
    r->last_shape = found;
    if (!found) return 0;
    const uint32_t type = find_type(r, (run_type){.count = 0, .shape = found - 1});
    *ok = type != 0;
    if (type && r->shapes[found - 1].slots <= KNOWN_SLOTS) {
        *known = (known_output){.e = e, .type = type};
        memcpy(known->number, r->own, sizeof known->number);
    }
    return type;
}

/* Runs of outputs: the first level. */
static bool first_runs(roller *r)
{
    bool ok = true;
    for (size_t k = 0; ok && k < r->count; k++) {
        const uint32_t type = read_output(r, r->e[k], &ok);
        if (!type) continue;
        r->own[width_of(r, type) - 1] = (int32_t)k;
        ok = add_member(r, type, r->own, 0);
    }
    return ok;
}

/* Runs of the runs there are, *merged: there are fewer. */
static bool merge_runs(roller *r, bool *merged)
{
    run *list = r->runs;
    const size_t room = r->run_room;
    r->runs = r->next;
    r->run_count = r->next_count;
    r->run_room = r->next_room;
    r->next = list;
    r->next_count = 0;
    r->next_room = room;
    for (size_t k = 0; k < r->run_count; k++) {
        const run *m = &r->runs[k];
        const uint32_t type = find_type(r, (run_type){.member = m->type,
                                                      .count = m->count,
                                                      .shape = r->types[m->type - 1].shape,
                                                      .step = m->step});
        if (!type || !add_member(r, type, NULL, m->base)) return false;
    }
    *merged = r->next_count < r->run_count;
    return true;
}

/* All levels: next[] holds the last. */
static bool find_runs(roller *r)
{
    bool merged = true;
    if (!first_runs(r)) return false;
    for (int level = 1; level < ROLL_LEVELS && merged; level++)
        if (!merge_runs(r, &merged)) return false;
    return true;
}

/* ---- families -------------------------------------------------------------------------------- */

/* The counters of a run, the outermost first; those that count to 1 are left out. */
static void read_counters(const roller *r, const run *m, roll_family *f, const int32_t *step[])
{
    uint32_t count = m->count, type = m->type;
    size_t at = m->step;
    f->levels = 0;
    f->passes = 1;
    for (;;) {
        if (count > 1) {
            step[f->levels] = r->numbers + at;
            f->count[f->levels++] = count;
            f->passes *= count;
        }
        const run_type *t = &r->types[type - 1];
        if (t->count == 0) return;
        count = t->count;
        at = t->step;
        type = t->member;
    }
}

/* The counter with most passes becomes the last. */
static void longest_last(roll_family *f, const int32_t *step[])
{
    int longest = 0, last = f->levels - 1;
    for (int l = 1; l < f->levels; l++)
        if (f->count[l] >= f->count[longest]) longest = l;
    const size_t count = f->count[longest];
    const int32_t *way = step[longest];
    f->count[longest] = f->count[last];
    step[longest] = step[last];
    f->count[last] = count;
    step[last] = way;
}

static roll_place place_of(const roll_family *f, const int32_t *base, const int32_t *step[],
                           size_t k)
{
    roll_place p = {.base = base[k]};
    for (int l = 0; l < f->levels; l++) p.step[l] = step[l][k];
    return p;
}

/* Whether number k of a family is another in other passes. */
static bool moves(const roll_family *f, const int32_t *step[], size_t k)
{
    for (int l = 0; l < f->levels; l++)
        if (step[l][k] != 0) return true;
    return false;
}

/* What builds the body of a family from its first pass. */
typedef struct body_builder {
    roll *roll;
    roll_family *f;
    expr *made;     /* by node of the walk: in the body; EXPR_NONE: no pass differs in it */
    size_t *shared; /* by node of the walk: 1 + its slot */
} body_builder;

/* A variable of the body for a value that all passes share, which joins the rest; EXPR_NONE:
 * memory. */
static expr shared_value(body_builder *b, const walk *w, size_t i)
{
    roll *r = b->roll;
    if (!b->shared[i]) {
        r->rest[r->rest_count] = w->order[i];
        b->f->slot[b->f->slots] =
            (roll_slot){.op = EXPR_CELL, .place = {.base = (int32_t)r->rest_count++}};
        b->shared[i] = ++b->f->slots;
    }
    return graph_variable(r->graph, (int)b->shared[i] - 1, 0);
}

/* Node i of the walk as an operand in the body. */
static expr in_body(body_builder *b, const graph *g, const walk *w, size_t i)
{
    const expr_node *n = graph_node(g, w->order[i]);
    if (b->made[i] != EXPR_NONE) return b->made[i];
    if (n->op == EXPR_CONSTANT) return graph_constant(b->roll->graph, n->value);
    return shared_value(b, w, i);
}

/* Node i of the walk in the body, if passes differ in it. */
static void build_node(body_builder *b, const graph *g, const walk *w, size_t i)
{
    const expr_node *n = graph_node(g, w->order[i]);
    bool differs = false;
    for (int k = 0; k < n->arity; k++)
        differs = differs || b->made[walk_place(w, expr_operand(n, k))] != EXPR_NONE;
    if (!differs) return;
    expr operand[3] = {EXPR_NONE, EXPR_NONE, EXPR_NONE};
    for (int k = 0; k < n->arity; k++)
        operand[k] = in_body(b, g, w, walk_place(w, expr_operand(n, k)));
    expr_node like = {.op = n->op, .a = operand[0], .b = operand[1]};
    if (n->arity == 3) like.c = operand[2];
    b->made[i] = graph_intern(b->roll->graph, &like);
}

/* Room for the slots of a family and for what it adds to the rest; false: memory. */
static bool make_room(roller *r, roll *out, roll_family *f, size_t *room)
{
    f->slot = DAE_ARRAY(roll_slot, r->walk.count + 1);
    return f->slot && dae_grow(&out->rest, room, out->rest_count + r->walk.count, sizeof(expr));
}

/* The body and slots of a family, whose counters are known. */
static bool build_body(roller *r, roll *out, roll_family *f, const int32_t *base,
                       const int32_t *step[])
{
    const walk *w = &r->walk;
    body_builder b = {out, f, DAE_ARRAY(expr, w->count), DAE_ARRAY(size_t, w->count)};
    bool ok = b.made && b.shared;
    size_t number = 0;
    for (size_t i = 0; ok && i < w->count; i++) {
        const expr_node *n = graph_node(r->g, w->order[i]);
        if (!is_slot(n)) {
            build_node(&b, r->g, w, i);
            continue;
        }
        const size_t k = number++;
        if (!moves(f, step, k)) continue;
        f->slot[f->slots] = (roll_slot){n->op, n->order, place_of(f, base, step, k)};
        b.made[i] = graph_variable(out->graph, (int)f->slots++, 0);
    }
    if (ok) f->body = in_body(&b, r->g, w, w->count - 1);
    dae_free_all(b.made, b.shared);
    return ok && !graph_failed(out->graph);
}

/* The outputs of a family are done. */
static void mark_passes(roller *r, const roll_family *f)
{
    size_t counter[ROLL_LEVELS] = {0};
    for (size_t k = 0; k < f->passes; k++) {
        r->rolled[roll_at(&f->out, counter, f->levels)] = true;
        for (int l = f->levels - 1; l >= 0 && ++counter[l] == f->count[l]; l--) counter[l] = 0;
    }
}

static bool add_family(roller *r, roll *out, const run *m, size_t *room)
{
    const int32_t *step[ROLL_LEVELS];
    roll_family *f = &out->families[out->family_count];
    const int32_t *base = r->numbers + m->base;
    const size_t slots = width_of(r, m->type) - 1;
    *f = (roll_family){0};
    read_counters(r, m, f, step);
    longest_last(f, step);
    f->out = place_of(f, base, step, slots);
    if (!walk_from(&r->walk, r->g, &r->e[f->out.base], 1) || !make_room(r, out, f, room)) {
        dae_free(f->slot);
        return false;
    }
    out->family_count++;
    mark_passes(r, f);
    return build_body(r, out, f, base, step);
}

/* Operations that each pass does: those over leaves that move. What all share is done once. */
static size_t moving_operations(const roller *r, const shape *s, const roll_family *f,
                                const int32_t *step[])
{
    bool differs[MOST_NODES];
    size_t count = 0, slot = 0;
    for (size_t i = 0; i < s->nodes; i++) {
        const shape_node *n = &r->pool[s->first + i];
        differs[i] = n->slot && moves(f, step, slot++);
        for (int k = 0; k < n->arity; k++) differs[i] = differs[i] || differs[n->operand[k]];
        count += n->arity > 0 && differs[i];
    }
    return count;
}

/* Passes of a run; *work: operations of all of them, and their outputs. */
static size_t passes_of(const roller *r, const run *m, size_t *work)
{
    roll_family f;
    const int32_t *step[ROLL_LEVELS];
    read_counters(r, m, &f, step);
    if (f.passes < LEAST_PASSES) return f.passes;
    const shape *s = &r->shapes[r->types[m->type - 1].shape];
    *work += f.passes * (moving_operations(r, s, &f, step) + 1);
    return f.passes;
}

/* Whether loops pay: they have enough to do, and outputs share little that each would compute by
 * itself; operations of the outputs are counted until there are enough. *families: how many
 * there would be. */
static bool pays(roller *r, size_t *families, bool *ok)
{
    size_t work = 0, alone = 0;
    walk *w = &r->walk;
    *families = 0;
    for (size_t k = 0; k < r->next_count; k++)
        *families += passes_of(r, &r->next[k], &work) >= LEAST_PASSES;
    if (work < LEAST_WORK) return false;
    *ok = walk_open(w, r->g);
    for (size_t k = 0; *ok && k < r->count && work > RECOMPUTED * (alone + r->count); k++) {
        size_t known = w->count;
        *ok = walk_on(w, r->g, r->e[k]);
        for (; known < w->count; known++) alone += graph_node(r->g, w->order[known])->arity > 0;
    }
    return *ok && work <= RECOMPUTED * (alone + r->count);
}

/* Outputs in no family come first in the rest: what families share is moved behind them. */
static bool collect_rest(roller *r, roll *out, size_t *room)
{
    size_t alone = 0, at = 0;
    const size_t shared = out->rest_count;
    for (size_t k = 0; k < r->count; k++) alone += !r->rolled[k];
    out->output = DAE_ARRAY(uint32_t, alone);
    if (!out->output || !dae_grow(&out->rest, room, shared + alone, sizeof(expr))) return false;
    memmove(out->rest + alone, out->rest, shared * sizeof(expr));
    for (size_t k = 0; k < r->count; k++) {
        if (r->rolled[k]) continue;
        out->output[at] = (uint32_t)k;
        out->rest[at++] = r->e[k];
    }
    out->outputs = alone;
    out->rest_count = shared + alone;
    for (size_t f = 0; f < out->family_count; f++)
        for (size_t s = 0; s < out->families[f].slots; s++)
            if (out->families[f].slot[s].op == EXPR_CELL)
                out->families[f].slot[s].place.base += (int32_t)alone;
    return true;
}

static bool find_families(roller *r, roll *out)
{
    bool ok = true;
    size_t families, room = 0, work = 0;
    if (!pays(r, &families, &ok)) return ok;
    out->families = DAE_ARRAY(roll_family, families);
    out->graph = graph_new();
    r->rolled = DAE_ARRAY(bool, r->count);
    ok = out->families && out->graph && r->rolled;
    for (size_t k = 0; ok && k < r->next_count; k++)
        if (passes_of(r, &r->next[k], &work) >= LEAST_PASSES)
            ok = add_family(r, out, &r->next[k], &room);
    return ok && collect_rest(r, out, &room);
}

static void roller_free(roller *r)
{
    if (r->walk.graph) walk_free(&r->walk);
    dae_free_all(r->shapes, r->shape_places.slot, r->pool, r->numbers, r->runs, r->next, r->types,
                 r->type_places.slot, r->own, r->rolled);
}

bool roll_new(roll *r, const graph *g, const expr *e, size_t count)
{
    *r = (roll){0};
    if (count < LEAST_PASSES || count > INT32_MAX / 2 || graph_failed(g)) return true;
    for (size_t k = 0; k < count; k++)
        if (e[k] == EXPR_NONE) return true; /* who plans them refuses */
    roller all = {.g = g, .e = e, .count = count, .own = DAE_ARRAY(int32_t, MOST_NODES + 1)};
    bool ok = all.own && find_runs(&all) && find_families(&all, r);
    roller_free(&all);
    if (!ok || r->family_count == 0) roll_free(r);
    return ok;
}

void roll_free(roll *r)
{
    for (size_t k = 0; k < r->family_count; k++) dae_free(r->families[k].slot);
    graph_free(r->graph);
    dae_free_all(r->families, r->rest, r->output);
    *r = (roll){0};
}
