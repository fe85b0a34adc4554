#include "method/common/method.h"

void method_size(const method *m, int n, size_t *state, size_t *scratch)
{
    size_t more[2] = {0, 0};
    if (m->memory->more) m->memory->more(n, &more[0], &more[1]);
    *state = vectors_size(&m->memory->state, n) + more[0];
    *scratch = vectors_size(&m->memory->scratch, n) + more[1];
}

void method_clear(const method_context *ctx, void *state, void *scratch)
{
    vectors_place(&ctx->method->memory->state, ctx->n, state);
    vectors_place(&ctx->method->memory->scratch, ctx->n, scratch);
}

void method_persist(const method_context *ctx, void *state, void *scratch, persist *p)
{
    const method_memory *memory = ctx->method->memory;
    const size_t vectors = vectors_size(&memory->state, ctx->n);
    size_t all, more;
    method_size(ctx->method, ctx->n, &all, &more);
    vectors_persist(&memory->state, memory->gaps, ctx->n, state, p);
    vectors_persist(&memory->scratch, memory->scratch_gaps, ctx->n, scratch, p);
    if (ctx->method->persist)
        ctx->method->persist(state, ctx, p);
    else
        persist_bytes(p, (char *)state + vectors, all - vectors);
}
