#include "linalg/elimination_kernel.h"

#include "base/memory.h"

#include <string.h>

/* Values of factors up to which code beats lists (docs/notes/inner-loop.md): beyond, the compiler
 * takes more than a second, and code as long as that is read from memory as slowly as lists are. */
enum { VALUES_MOST = 150 };

kernel_store *kernel_store_new(void)
{
    kernel_store *s = DAE_NEW(kernel_store);
    if (s) pthread_mutex_init(&s->lock, NULL);
    return s;
}

void kernel_store_free(kernel_store *s)
{
    if (!s) return;
    for (int k = 0; k < atomic_load(&s->count); k++) {
        elimination_shape_free(s->list[k]->shape);
        dae_free(s->list[k]);
    }
    pthread_mutex_destroy(&s->lock);
    dae_free(s);
}

static kernel_entry *entry_new(elimination_shape *shape)
{
    kernel_entry *e = DAE_NEW(kernel_entry);
    if (!e) return NULL;
    e->shape = elimination_shape_share(shape);
    elimination_times(shape, e->factor, e->solve);
    return e;
}

kernel_entry *kernel_store_enter(kernel_store *s, elimination_shape *shape)
{
    kernel_entry *found = NULL;
    if (!s || shape->values > VALUES_MOST) return NULL;
    pthread_mutex_lock(&s->lock);
    const int count = atomic_load(&s->count);
    for (int k = 0; k < count && !found; k++)
        if (elimination_shape_equal(s->list[k]->shape, shape)) found = s->list[k];
    if (!found && count < KERNELS_MOST) {
        found = entry_new(shape);
        s->list[count] = found;
        atomic_store(&s->count, found ? count + 1 : count);
    }
    pthread_mutex_unlock(&s->lock);
    return found;
}

double kernel_store_work(kernel_store *s)
{
    double work = 0.0;
    for (int k = 0; k < atomic_load(&s->count); k++)
        work += 1e-9 * (double)atomic_load_explicit(&s->list[k]->work, memory_order_relaxed);
    return work;
}
