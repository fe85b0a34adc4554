/* Tapes with loops: the bodies of families, run for many passes at once. Each instruction is a loop
 * over lanes, which costs one jump for all of them, and which compilers turn into vector
 * instructions. */
#define _GNU_SOURCE /* sincos, as tape_run.c */
#include "expr/tape_code.h"

#include "base/memory.h"

#include <math.h>

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

/* ---- making one ------------------------------------------------------------------------------ */

void tape_rolled_free(tape_rolled *r)
{
    if (!r) return;
    for (size_t k = 0; k < r->family_count; k++) {
        tape_free(r->families[k].body);
        dae_free(r->families[k].of.slot);
    }
    tape_free(r->rest);
    dae_free_all(r->families, r->output, r);
}

/* The body of a family as a tape; its slots are taken over. */
static bool add_family(tape_rolled *to, const graph *bodies, roll_family *f)
{
    tape_family *family = &to->families[to->family_count++];
    *family = (tape_family){.of = *f};
    f->slot = NULL;
    family->body = straight_tape(bodies, &f->body, 1);
    if (family->body && family->body->registers > to->registers)
        to->registers = family->body->registers;
    return family->body != NULL;
}

static bool fill(tape_rolled *to, const graph *g, roll *r)
{
    to->rest = straight_tape(g, r->rest, r->rest_count);
    to->families = DAE_ARRAY(tape_family, r->family_count);
    to->output = dae_copy(r->output, r->outputs, sizeof *to->output);
    to->outputs = r->outputs;
    bool ok = to->rest && to->families && to->output;
    for (size_t k = 0; ok && k < r->family_count; k++)
        ok = add_family(to, r->graph, &r->families[k]);
    return ok;
}

tape *tape_of_roll(const graph *g, roll *r, size_t outputs)
{
    tape *t = DAE_NEW(tape);
    if (!t) return NULL;
    t->outputs = outputs;
    t->rolled = DAE_NEW(tape_rolled);
    if (t->rolled && fill(t->rolled, g, r)) return t;
    tape_free(t);
    return NULL;
}

size_t tape_rolled_length(const tape_rolled *r)
{
    size_t length = tape_length(r->rest);
    for (size_t k = 0; k < r->family_count; k++)
        length += r->families[k].of.passes * tape_length(r->families[k].body);
    return length;
}

size_t tape_rolled_size(const tape_rolled *r)
{
    size_t size = tape_size(r->rest);
    for (size_t k = 0; k < r->family_count; k++) size += tape_size(r->families[k].body);
    return size;
}

/* Work space: that of the rest, its outputs, and lanes of registers with one more for results. */
size_t tape_rolled_work(const tape_rolled *r)
{
    return tape_work_size(r->rest) + r->rest->outputs + (r->registers + 1) * TAPE_LANES;
}

/* ---- running it ------------------------------------------------------------------------------ */

/* A loop over lanes whose results may stand where operands do, lane by lane. */
#define LANES(target, statement)                                                                   \
    {                                                                                              \
        double *const d = (target);                                                                \
        for (size_t l = 0; l < TAPE_LANES; l++) statement;                                         \
        break;                                                                                     \
    }
#define OPERATION(name, operands, notation, value)                                                 \
    case TAPE_##name: LANES(work + (size_t)i->dst * TAPE_LANES, d[l] = (value))                    \
    case TAPE_##name##_OUT:                                                                        \
        LANES(out, d[l] = (value))
#define TWO_STEPS(inner, value)                                                                    \
    {                                                                                              \
        const double first = (inner);                                                              \
        d[l] = (value);                                                                            \
    }
#define TWO_OPERATIONS(name, inner, value)                                                         \
    case TAPE_##name: LANES(work + (size_t)i->dst * TAPE_LANES, TWO_STEPS(inner, value))           \
    case TAPE_##name##_OUT:                                                                        \
        LANES(out, TWO_STEPS(inner, value))
#define A a[l]
#define B b[l]
#define C c[l]
#define MATH(f) f

/* Execute instructions for all lanes up to TAPE_END; the only output goes to `out`. */
static void execute_lanes(const tape_instruction *i, double *work, double *out)
{
    for (;; i++) {
        const double *a = work + (size_t)i->a * TAPE_LANES, *b = work + (size_t)i->b * TAPE_LANES;
        const double *c = work + (size_t)i->c * TAPE_LANES;
        switch ((tape_op)i->op) {
            OPERATION(COPY, 1, "", A)
            EXPR_OPERATIONS(OPERATION)
            TAPE_FUSED(TWO_OPERATIONS)
        case TAPE_SINCOS: {
            double *s = work + (size_t)i->dst * TAPE_LANES, *t = work + (size_t)i->b * TAPE_LANES;
            for (size_t l = 0; l < TAPE_LANES; l++) {
                const double angle = a[l];
                sincos(angle, &s[l], &t[l]);
            }
            break;
        }
        case TAPE_SIGNAL: /* bodies have neither signals nor loops of the run */
        case TAPE_SIGNAL_OUT:
        case TAPE_LOOP:
        case TAPE_OP_COUNT:
        case TAPE_END: return;
        }
    }
}

/* Where a slot reads in the first pass of a block. */
static const double *source_of(const roll_slot *s, const tape_inputs *in, const double *shared)
{
    switch (s->op) {
    case EXPR_VARIABLE: return s->order < TAPE_ORDERS ? in->values[s->order] : NULL;
    case EXPR_PARAMETER: return in->parameters;
    case EXPR_MEMORY: return in->memory;
    default: return shared;
    }
}

/* Lanes of a slot that is a whole number. */
static void count_slot(const roll_family *f, const roll_slot *s, const size_t *counter, double *to)
{
    const int64_t first = roll_at(&s->place, counter, f->levels);
    for (int64_t l = 0; l < TAPE_LANES; l++)
        to[l] = (double)(first + l * s->place.step[f->levels - 1]);
}

/* Lanes of one slot: `count` passes from the counters on; the last pass fills the lanes behind. */
static void load_slot(const roll_family *f, const roll_slot *s, const double *from,
                      const size_t *counter, size_t count, double *to)
{
    const ptrdiff_t step = s->place.step[f->levels - 1];
    if (!from) {
        for (size_t l = 0; l < TAPE_LANES; l++) to[l] = NAN; /* orders that nobody gives */
        return;
    }
    const double *at = from + roll_at(&s->place, counter, f->levels);
    for (size_t l = 0; l < count; l++) to[l] = at[(ptrdiff_t)l * step];
    for (size_t l = count; l < TAPE_LANES; l++) to[l] = to[count - 1];
}

/* Registers of a body that no pass changes. */
static void prepare_body(const tape *body, double *work)
{
    for (size_t k = 0; k < body->constants; k++)
        for (size_t l = 0; l < TAPE_LANES; l++) work[k * TAPE_LANES + l] = body->constant[k];
    execute_lanes(body->prologue, work, NULL);
}

/* A block of up to TAPE_LANES passes along the last counter. */
static void run_block(const tape_family *family, const tape_inputs *in, const double *shared,
                      const size_t *counter, size_t count, double *work, double *out)
{
    const roll_family *f = &family->of;
    const tape *body = family->body;
    double *slots = work + tape_first_copied(body) * TAPE_LANES;
    double *result = work + body->registers * TAPE_LANES;
    for (size_t k = 0; k < body->variables; k++) {
        const roll_slot *s = &f->slot[body->variable[k]];
        double *to = slots + k * TAPE_LANES;
        if (s->op == EXPR_CONSTANT)
            count_slot(f, s, counter, to);
        else
            load_slot(f, s, source_of(s, in, shared), counter, count, to);
    }
    execute_lanes(body->body, work, result);
    double *to = out + roll_at(&f->out, counter, f->levels);
    const ptrdiff_t step = f->out.step[f->levels - 1];
    for (size_t l = 0; l < count; l++) to[(ptrdiff_t)l * step] = result[l];
}

/* All passes of a family: blocks along the last counter, the others count around them. */
static void run_family(const tape_family *family, const tape_inputs *in, const double *shared,
                       double *work, double *out)
{
    const roll_family *f = &family->of;
    const size_t longest = f->count[f->levels - 1];
    size_t counter[ROLL_LEVELS] = {0};
    prepare_body(family->body, work);
    for (;;) {
        for (size_t at = 0; at < longest; at += TAPE_LANES) {
            counter[f->levels - 1] = at;
            run_block(family, in, shared, counter,
                      longest - at < TAPE_LANES ? longest - at : TAPE_LANES, work, out);
        }
        int l = f->levels - 2;
        for (; l >= 0 && ++counter[l] == f->count[l]; l--) counter[l] = 0;
        if (l < 0) return;
    }
}

void tape_rolled_run(const tape_rolled *r, const tape_inputs *in, double *work, double *out)
{
    double *shared = work + tape_work_size(r->rest);
    double *lanes = shared + r->rest->outputs;
    tape_run(r->rest, in, work, shared);
    for (size_t k = 0; k < r->outputs; k++) out[r->output[k]] = shared[k];
    for (size_t k = 0; k < r->family_count; k++)
        run_family(&r->families[k], in, shared, lanes, out);
}
