#include "model/model_kernels.h"

#include "matrix/elimination_code.h"

/* Shapes with less than this part of the work are left to lists. */
static const double MATTERS = 0.05;

/* Compiled at once: about a second's worth, in bytes of usual text */
static const double BATCH = 150e3;

static double work_of(kernel_entry *e)
{
    return 1e-9 * (double)atomic_load_explicit(&e->work, memory_order_relaxed);
}

/* The next shape from *k on that lacks code and matters; NULL: none */
static kernel_entry *next_need(kernel_store *s, int *k)
{
    const double total = kernel_store_work(s);
    while (*k < atomic_load(&s->count)) {
        kernel_entry *e = s->list[(*k)++];
        const bool lacks = !atomic_load(&e->kernel) && !e->pending && !e->failed;
        if (lacks && work_of(e) >= MATTERS * total) return e;
    }
    return NULL;
}

kernel_need kernels_need(kernel_store *s)
{
    kernel_need need = {0};
    int k = 0;
    for (kernel_entry *e; need.bytes < BATCH && (e = next_need(s, &k)) != NULL;) {
        need.work += work_of(e);
        need.bytes += elimination_emit_cost(e->shape);
        need.unknown += !e->looked;
    }
    return need;
}

bool kernels_look(kernel_store *s, native_module **module)
{
    int k = 0;
    native_key key;
    native_function function = NULL;
    for (kernel_entry *e; (e = next_need(s, &k)) != NULL;) {
        if (e->looked) continue;
        e->looked = true;
        elimination_key(e->shape, &key);
        if (native_lookup(&key, 1, true, &function, module) == 0) continue;
        atomic_store(&e->kernel, elimination_kernel_of(function));
        return true;
    }
    return false;
}

size_t kernels_write(kernel_store *s, emit_text *text, native_key keys[KERNELS_MOST])
{
    int k = 0;
    size_t count = 0;
    double bytes = 0.0;
    elimination_emit_head(text);
    for (kernel_entry *e; bytes < BATCH && (e = next_need(s, &k)) != NULL;) {
        bytes += elimination_emit_cost(e->shape);
        e->pending = true;
        elimination_key(e->shape, &keys[count]);
        elimination_emit(text, e->shape, &keys[count++]);
    }
    return count;
}

void kernels_settle(kernel_store *s, const native_module *module)
{
    char name[NATIVE_NAME];
    native_key key;
    for (int k = 0; k < atomic_load(&s->count); k++) {
        kernel_entry *e = s->list[k];
        if (!e->pending) continue;
        e->pending = false;
        elimination_key(e->shape, &key);
        native_key_name(&key, name);
        native_function function = module ? native_find(module, name) : NULL;
        e->failed = !function;
        if (function) atomic_store(&e->kernel, elimination_kernel_of(function));
    }
}
