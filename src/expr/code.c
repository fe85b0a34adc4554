#include "expr/code.h"

#include "base/memory.h"

bool code_new(expr_code *c, const graph *g, const expr *e, size_t count)
{
    *c = (expr_code){.outputs = count};
    c->tape = tape_new(g, e, count);
    if (c->tape) {
        c->length = tape_length(c->tape);
        c->size = tape_size(c->tape);
        c->work_size = tape_work_size(c->tape);
        c->work = DAE_ARRAY(double, c->work_size);
    }
    if (!c->work) code_free(c);
    return c->work != NULL;
}

bool code_share(expr_code *c, const expr_code *of)
{
    *c = *of;
    c->borrowed = true;
    c->work = DAE_ARRAY(double, c->work_size);
    if (!c->work) code_free(c);
    return c->work != NULL;
}

void code_free(expr_code *c)
{
    if (!c->borrowed) tape_free(c->tape);
    dae_free(c->work);
    *c = (expr_code){0};
}

/* The tape is prepared in any case, so that engines can change between two runs. */
void code_prepare(expr_code *c, const tape_inputs *in)
{
    tape_prepare(c->tape, in, c->work);
}

void code_run(expr_code *c, const tape_inputs *in, double *out)
{
    if (!c->native) {
        tape_run(c->tape, in, c->work, out);
        return;
    }
    c->native(in->time, in->values[0], in->values[1], in->values[2], in->parameters, in->memory,
              out);
}
