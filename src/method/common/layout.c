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

/* Pointer i of a group, as the number of its vector. */
static void persist_place(char *base, double **pointer, const vector_layout *layout, int n,
                          persist *p)
{
    double *first = (double *)(void *)(base + layout->size);
    const size_t room = (vectors_size(layout, n) - layout->size) / sizeof(double);
    uint64_t place = p->reading || !*pointer ? 0 : (uint64_t)(*pointer - first);
    PERSIST(p, place);
    if (place > room) persist_refuse(p, "a vector of the method is out of place");
    if (p->reading && persist_ok(p)) *pointer = first + place;
}

void vectors_persist(const vector_layout *layout, const persist_gap *more, int n, void *memory,
                     persist *p)
{
    persist_gap gaps[GROUPS + LAYOUT_GAPS];
    char *base = memory;
    for (int g = 0; g < GROUPS; g++)
        gaps[g] = (persist_gap){layout->groups[g].offset,
                                (size_t)layout->groups[g].pointers * sizeof(double *)};
    memcpy(gaps + GROUPS, more, LAYOUT_GAPS * sizeof *more);
    persist_around(p, memory, layout->size, gaps, GROUPS + LAYOUT_GAPS);
    for (int g = 0; g < GROUPS; g++) {
        double **pointer = (double **)(void *)(base + layout->groups[g].offset);
        for (int i = 0; i < layout->groups[g].pointers; i++)
            persist_place(base, &pointer[i], layout, n, p);
    }
    persist_bytes(p, base + layout->size, vectors_size(layout, n) - layout->size);
}
