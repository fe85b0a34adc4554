#include "expr/memo.h"

#include "base/arena.h"
#include "base/memory.h"

enum { FIRST_SLOTS = 1 << 7 };

typedef struct memo_slot {
    expr *items; /* NULL: the slot is free */
    expr e;
    uint32_t kind;
    size_t count;
} memo_slot;

struct memo {
    memo_slot *slot; /* open addressing, at most half full; owned, NULL: nothing is kept */
    size_t slots;    /* a power of two */
    size_t lists, items;
    arena *memory; /* of the items; owned, with slot */
};

memo *memo_new(void)
{
    return DAE_NEW(memo);
}

void memo_empty(memo *m)
{
    dae_free(m->slot);
    arena_free(m->memory);
    *m = (memo){0};
}

void memo_free(memo *m)
{
    if (m) memo_empty(m);
    dae_free(m);
}

/* The slot of a list, or the free one for it. */
static memo_slot *slot_of(const memo *m, memo_kind kind, expr e)
{
    uint64_t hash = ((uint64_t)e << 1 | kind) * UINT64_C(0x9E3779B97F4A7C15);
    size_t mask = m->slots - 1, i = (size_t)(hash >> 32) & mask;
    while (m->slot[i].items && (m->slot[i].e != e || m->slot[i].kind != kind)) i = (i + 1) & mask;
    return &m->slot[i];
}

const expr *memo_find(const memo *m, memo_kind kind, expr e, size_t *count)
{
    if (!m->slot) return NULL;
    const memo_slot *s = slot_of(m, kind, e);
    *count = s->count;
    return s->items;
}

static bool enlarge(memo *m)
{
    memo larger = *m;
    larger.slots = m->slot ? 2 * m->slots : FIRST_SLOTS;
    larger.slot = DAE_ARRAY(memo_slot, larger.slots);
    if (!larger.slot) return false;
    for (size_t k = 0; m->slot && k < m->slots; k++)
        if (m->slot[k].items)
            *slot_of(&larger, (memo_kind)m->slot[k].kind, m->slot[k].e) = m->slot[k];
    dae_free(m->slot);
    *m = larger;
    return true;
}

bool memo_add(memo *m, memo_kind kind, expr e, size_t count, size_t most, expr **items)
{
    *items = NULL;
    if (m->items + count > most) return true;
    if (!m->memory) m->memory = arena_new(0);
    if (!m->memory || (2 * m->lists >= m->slots && !enlarge(m))) return false;
    memo_slot *s = slot_of(m, kind, e);
    if (s->items) return true; /* it is kept already */
    *items = arena_alloc(m->memory, count * sizeof **items);
    if (!*items) {
        arena_recover(m->memory); /* there may be memory for the next one */
        return false;
    }
    *s = (memo_slot){*items, e, kind, count};
    m->lists++;
    m->items += count;
    return true;
}
