/* Sizes of blocks, apart from memory.c: tests that bring allocators of their own need not have it.
 */
#include "base/memory.h"

#include <malloc.h>

size_t dae_size(void *block)
{
    return block ? malloc_usable_size(block) : 0;
}
