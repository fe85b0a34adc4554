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
