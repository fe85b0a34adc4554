#include "base/persist.h"

#include <string.h>

#include "base/memory.h"

void persist_free(persist *p)
{
    if (!p->reading) dae_free(p->bytes);
    *p = (persist){0};
}

void persist_refuse(persist *p, const char *what)
{
    if (!p->wrong) p->wrong = what;
}

void persist_postpone(persist *p, const char *what)
{
    p->later = p->later || !p->wrong;
    persist_refuse(p, what);
}

static void put(persist *p, const void *data, size_t size)
{
    if (!persist_ok(p) || size == 0) return;
    if (!dae_grow(&p->bytes, &p->room, p->count + size, 1)) {
        p->no_memory = true;
        return;
    }
    memcpy(p->bytes + p->count, data, size);
    p->count += size;
}

static void take(persist *p, void *data, size_t size)
{
    if (size == 0) return;
    if (persist_ok(p) && size > p->count - p->at) persist_refuse(p, "it ends too early");
    if (!persist_ok(p)) {
        memset(data, 0, size);
        return;
    }
    memcpy(data, p->bytes + p->at, size);
    p->at += size;
}

void persist_bytes(persist *p, void *data, size_t size)
{
    if (p->reading)
        take(p, data, size);
    else
        put(p, data, size);
}

bool persist_flag(persist *p, bool present)
{
    unsigned char flag = present;
    persist_bytes(p, &flag, 1);
    if (flag > 1) persist_refuse(p, "a part is neither there nor missing");
    return flag == 1;
}

void persist_owned(persist *p, void *pointer, size_t count, size_t size)
{
    void **array = pointer;
    const bool there = persist_flag(p, *array != NULL);
    if (p->reading) {
        dae_free(*array);
        *array = NULL;
        if (there && count > (p->count - p->at) / size) persist_refuse(p, "it ends too early");
        if (!there || !persist_ok(p)) return;
        *array = dae_alloc(count, size);
        p->no_memory = !*array;
    }
    if (there && *array) persist_bytes(p, *array, count * size);
}

void persist_block(persist *p, void *block)
{
    const uint64_t room = dae_size(block);
    uint64_t size = room;
    persist_same(p, block != NULL, "a part is missing");
    PERSIST(p, size);
    if (!persist_ok(p)) return;
    persist_bytes(p, block, size < room ? size : room);
    if (size <= room) return; /* what is behind was never asked for */
    if (size - room > p->count - p->at)
        persist_refuse(p, "it ends too early");
    else
        p->at += size - room;
}

void persist_within(persist *p, void *pointer, const persist_home *home)
{
    enum { HOMES = sizeof home->block / sizeof *home->block };
    char **at = pointer;
    int which = -1;
    uint64_t place = 0;
    for (int k = 0; !p->reading && *at && k < HOMES && which < 0; k++) {
        const uintptr_t first = (uintptr_t)home->block[k], here = (uintptr_t)*at;
        if (here < first || here - first >= dae_size(home->block[k])) continue;
        which = k;
        place = here - first;
    }
    if (!p->reading && *at && which < 0) persist_refuse(p, "a part of it is nowhere at home");
    PERSIST(p, which);
    PERSIST(p, place);
    if (!p->reading || !persist_ok(p)) return;
    if (which >= HOMES || (which >= 0 && place >= dae_size(home->block[which])))
        persist_refuse(p, "a part of it is nowhere at home");
    else
        *at = which < 0 ? NULL : (char *)home->block[which] + place;
}

void persist_same(persist *p, uint64_t number, const char *what)
{
    uint64_t found = number;
    persist_bytes(p, &found, sizeof found);
    if (found != number) persist_refuse(p, what);
}

void persist_same_text(persist *p, const char *text, const char *what)
{
    const size_t length = strlen(text);
    persist_same(p, length, what);
    persist_same(p, checksum(0, text, length), what);
}

/* The first gap that begins at or behind `at`; NULL: none */
static const persist_gap *next_gap(const persist_gap *gaps, size_t count, size_t at)
{
    const persist_gap *next = NULL;
    for (size_t k = 0; k < count; k++)
        if (gaps[k].size > 0 && gaps[k].offset >= at && (!next || gaps[k].offset < next->offset))
            next = &gaps[k];
    return next;
}

void persist_around(persist *p, void *object, size_t size, const persist_gap *gaps, size_t count)
{
    for (size_t at = 0; at < size;) {
        const persist_gap *next = next_gap(gaps, count, at);
        const size_t end = next ? next->offset : size;
        persist_bytes(p, (char *)object + at, end - at);
        at = next ? end + next->size : size;
    }
}

/* x^64 + .. of ECMA-182, bits from the lowest on; four bits at a time need a table of 16. */
static const uint64_t POLYNOMIAL = UINT64_C(0xC96C5795D7870F42);

uint64_t checksum(uint64_t before, const void *bytes, size_t count)
{
    const unsigned char *b = bytes;
    uint64_t table[16], crc = ~before;
    for (unsigned k = 0; k < 16; k++) {
        table[k] = k;
        for (int bit = 0; bit < 4; bit++)
            table[k] = table[k] & 1 ? table[k] >> 1 ^ POLYNOMIAL : table[k] >> 1;
    }
    for (size_t i = 0; i < count; i++) {
        crc ^= b[i];
        crc = crc >> 4 ^ table[crc & 15];
        crc = crc >> 4 ^ table[crc & 15];
    }
    return ~crc;
}
