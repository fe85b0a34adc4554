/* Memory that is counted: bytes asked for, held, and held at the most. In place of base/memory.c,
 * whose object the linker then leaves in the archive: include it in the one file of a test. */
#ifndef TEST_SUPPORT_COUNTED_MEMORY_H
#define TEST_SUPPORT_COUNTED_MEMORY_H

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static double bytes, held, most_held;
enum { BEFORE = 64 }; /* bytes before a block, which begin with its size */

void *dae_calloc(size_t count, size_t size)
{
    const double wanted = (double)count * (double)size;
    char *block = wanted < 1e15 ? calloc(1, count * size + BEFORE) : NULL;
    if (!block) return NULL;
    memcpy(block, &wanted, sizeof wanted);
    bytes += wanted;
    held += wanted;
    most_held = fmax(most_held, held);
    return block + BEFORE;
}

void *dae_alloc(size_t count, size_t size)
{
    return dae_calloc(count, size);
}

void dae_free(void *pointer)
{
    double wanted;
    if (!pointer) return;
    memcpy(&wanted, (char *)pointer - BEFORE, sizeof wanted);
    held -= wanted;
    free((char *)pointer - BEFORE);
}

size_t dae_size(void *block)
{
    double wanted = 0.0;
    if (block) memcpy(&wanted, (char *)block - BEFORE, sizeof wanted);
    return (size_t)wanted;
}

#endif
