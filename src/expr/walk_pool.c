#include "expr/walk_pool.h"

#include "base/memory.h"

#include <stdatomic.h>

/* Walks within walks seldom go deeper than this. */
enum { SPARES = 4 };

struct walk_pool {
    atomic_flag busy; /* some thread takes or gives: others do without */
    int count;
    walk_memory spare[SPARES]; /* the last one given is the first one taken */
};

walk_pool *walk_pool_new(void)
{
    walk_pool *p = DAE_NEW(walk_pool);
    if (p) atomic_flag_clear(&p->busy);
    return p;
}

void walk_pool_empty(walk_pool *p)
{
    if (atomic_flag_test_and_set(&p->busy)) return;
    for (; p->count > 0; p->count--)
        dae_free_all(p->spare[p->count - 1].place, p->spare[p->count - 1].order);
    atomic_flag_clear(&p->busy);
}

void walk_pool_free(walk_pool *p)
{
    if (p) walk_pool_empty(p);
    dae_free(p);
}

walk_memory walk_pool_take(walk_pool *p)
{
    walk_memory memory = {0};
    if (atomic_flag_test_and_set(&p->busy)) return memory;
    if (p->count > 0) memory = p->spare[--p->count];
    atomic_flag_clear(&p->busy);
    return memory;
}

void walk_pool_give(walk_pool *p, walk_memory memory)
{
    if (!atomic_flag_test_and_set(&p->busy)) {
        if (p->count < SPARES) {
            p->spare[p->count++] = memory;
            memory.place = memory.order = NULL;
        }
        atomic_flag_clear(&p->busy);
    }
    dae_free_all(memory.place, memory.order);
}
