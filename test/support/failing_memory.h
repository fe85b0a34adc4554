/* Memory that runs out when a test wants it to: in place of base/memory.c, whose object the linker
 * then leaves in the archive. For one test program; the others fail malloc itself (fault_alloc.h).
 */
#ifndef TEST_FAILING_MEMORY_H
#define TEST_FAILING_MEMORY_H

#include "base/memory.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static long countdown = -1; /* allocations that still succeed; negative: all do */
static bool stays_out;      /* all allocations after that fail; else just one */
static long live;           /* blocks */

void *dae_calloc(size_t count, size_t size)
{
    if (countdown == 0) {
        if (!stays_out) countdown = -1;
        return NULL;
    }
    if (countdown > 0) countdown--;
    live++;
    return calloc(count > 0 ? count : 1, size > 0 ? size : 1);
}

/* Nobody may count on zeros in it. */
void *dae_alloc(size_t count, size_t size)
{
    void *block = dae_calloc(count, size);
    return block ? memset(block, 0xA5, count * size) : NULL;
}

void dae_free(void *pointer)
{
    if (pointer) live--;
    free(pointer);
}

#endif
