#include "method/common/layout.h"

#include <string.h>

#include "base/memory.h"

enum { GROUPS = sizeof((vector_layout *)0)->groups / sizeof(vector_group) };

size_t vectors_size(const vector_layout *layout, int n)
{
    size_t vectors = 0;
    for (int g = 0; g < GROUPS; g++)
        vectors += (size_t)(layout->groups[g].pointers * layout->groups[g].length);
    return layout->size + vectors * (size_t)n * sizeof(double);
}

void *vectors_place(const vector_layout *layout, int n, void *memory)
{
    char *base = memset(memory, 0, layout->size);
    double *at = (double *)(void *)(base + layout->size);
    for (int g = 0; g < GROUPS; g++) {
        const vector_group *group = &layout->groups[g];
        double **pointer = (double **)(void *)(base + group->offset);
        for (int i = 0; i < group->pointers; i++, at += (size_t)group->length * (size_t)n)
            pointer[i] = at;
    }
    return at;
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
