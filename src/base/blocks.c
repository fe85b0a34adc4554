/* Blocks of memory by dae_calloc, dae_alloc and dae_free alone: a test may replace these. */
#include <string.h>

#include "base/memory.h"

void dae_free_list(void *const *pointers, size_t count)
{
    for (size_t k = 0; k < count; k++) dae_free(pointers[k]);
}

bool dae_enlarge(void *items, size_t *capacity, size_t needed, size_t size)
{
    size_t larger = 2 * *capacity > needed ? 2 * *capacity : needed + 15;
    void *block = dae_alloc(larger, size), *old;
    if (!block) return false;
    memcpy(&old, items, sizeof old); /* whatever it points to, it is a pointer */
    size_t kept = old ? *capacity * size : 0;
    if (old) memcpy(block, old, kept);
    memset((char *)block + kept, 0, larger * size - kept);
    dae_free(old);
    memcpy(items, &block, sizeof block);
    *capacity = larger;
    return true;
}

void *dae_copy(const void *source, size_t count, size_t size)
{
    void *block = dae_alloc(count, size);
    if (block && count * size > 0) memcpy(block, source, count * size);
    return block;
}

char *dae_strdup(const char *text)
{
    return dae_copy(text, strlen(text) + 1, 1);
}

/* Bytes of one array, so that one of any numbers may follow. */
static size_t room(const array_share *share)
{
    const size_t unit = sizeof(max_align_t);
    return (share->size * share->count + unit - 1) / unit * unit;
}

void *shared_block(const array_share *shares, size_t count)
{
    size_t total = 0;
    for (size_t i = 0; i < count; i++) total += (size_t)shares[i].number * room(&shares[i]);
    char *block = dae_calloc(total, 1), *at = block;
    for (size_t i = 0; block && i < count; i++)
        for (int k = 0; k < shares[i].number; k++, at += room(&shares[i])) {
            void *array = at; /* pointers of all types look alike here */
            memcpy((char *)shares[i].pointers + (size_t)k * sizeof array, &array, sizeof array);
        }
    return block;
}
