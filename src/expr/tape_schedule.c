/* The order of a tape's instructions: alike ones together.
 *
 * The interpreter jumps once an instruction, to where the operation says. Processors predict that
 * jump well if the sequence is short or regular; otherwise each wrong guess costs more than the
 * operation. Irregular tapes are therefore reordered, dependences respected, into runs of one
 * operation, within windows small enough for their values to stay in the first cache. Values and
 * their roundings stay the same. (bench_tape_speed: 4000 instructions of random polynomials take
 * 10 us instead of 33; a ladder, whose pattern is regular, would take 1.3 times as long reordered.)
 */
#include "expr/tape_schedule.h"

#include "base/memory.h"

#include <string.h>

enum { WINDOW = TAPE_WINDOW, NONE = -1 };

/* One window; its instructions are numbered from 0. */
typedef struct window {
    tape_instruction *code;     /* as they came; owned */
    int *waits;                 /* operands not yet computed; owned, with the lists behind it */
    int *first_user;            /* heads of lists of edges, */
    int *next_user;             /* their links, up to three an instruction, */
    int *user;                  /* and the instruction that uses */
    int *next_ready;            /* lists of instructions ready to run, */
    int ready[TAPE_OP_COUNT];   /* by operation, */
    int readies[TAPE_OP_COUNT]; /* and their lengths */
    int count, edges;
} window;

/* Room for `most` instructions at once; false: memory. */
static bool window_new(window *w, size_t most)
{
    w->code = dae_alloc(most, sizeof *w->code);
    w->waits = dae_alloc(9 * most, sizeof *w->waits);
    if (!w->code || !w->waits) return false;
    w->first_user = w->waits + most;
    w->next_ready = w->first_user + most;
    w->next_user = w->next_ready + most;
    w->user = w->next_user + 3 * most;
    return true;
}

static void make_ready(window *w, int i)
{
    uint32_t op = w->code[i].op;
    w->next_ready[i] = w->ready[op];
    w->ready[op] = i;
    w->readies[op]++;
}

/* Edges from makers to users. maker: by node, 1 + the instruction of the whole tape that makes it;
 * `start` is where the window begins. */
static void link_window(window *w, uint32_t *maker, size_t start)
{
    w->edges = 0;
    for (int op = 0; op < TAPE_OP_COUNT; op++) w->ready[op] = NONE, w->readies[op] = 0;
    for (int i = 0; i < w->count; i++) {
        const tape_instruction *at = &w->code[i];
        const uint32_t operand[3] = {at->a, at->b, at->c};
        w->waits[i] = 0;
        w->first_user[i] = NONE;
        for (int k = 0; k < tape_operands(at->op); k++) {
            size_t made = maker[operand[k]];
            if (made <= start) continue; /* a leaf, or from an earlier window */
            int from = (int)(made - 1 - start), edge = w->edges++;
            w->user[edge] = i;
            w->next_user[edge] = w->first_user[from];
            w->first_user[from] = edge;
            w->waits[i]++;
        }
        if (tape_makes_register(at->op)) maker[at->dst] = (uint32_t)(start + (size_t)i + 1);
        if (at->op == TAPE_SINCOS) maker[at->b] = (uint32_t)(start + (size_t)i + 1);
    }
    for (int i = w->count; i-- > 0;)
        if (w->waits[i] == 0) make_ready(w, i);
}

/* The operation most of the ready instructions have. */
static int commonest(const window *w)
{
    int best = 0;
    for (int op = 1; op < TAPE_OP_COUNT; op++)
        if (w->readies[op] > w->readies[best]) best = op;
    return best;
}

/* Write the window's instructions back, run after run. */
static void order_window(window *w, tape_instruction *code)
{
    for (int done = 0; done < w->count;) {
        int op = commonest(w);
        while (w->ready[op] != NONE) {
            int i = w->ready[op];
            w->ready[op] = w->next_ready[i];
            w->readies[op]--;
            code[done++] = w->code[i];
            for (int edge = w->first_user[i]; edge != NONE; edge = w->next_user[edge])
                if (--w->waits[w->user[edge]] == 0) make_ready(w, w->user[edge]);
        }
    }
}

/* How many jumps of a run a processor would not foresee: one that remembers, for `MEMORY` sequences
 * of eight operations, what came next when it last saw them. Sizes as observed: irregular tapes
 * slow down from some 500 instructions on. */
static size_t surprises(const tape_instruction *code, size_t length)
{
    enum { MEMORY = 512 };
    uint8_t next[MEMORY] = {0};
    uint64_t past = 0; /* the last eight operations */
    size_t count = 0;
    for (int run = 0; run < 2; run++) { /* the first one only fills the memory */
        count = 0;
        for (size_t i = 0; i < length; i++) {
            uint8_t *guess = &next[(past * UINT64_C(0x9e3779b97f4a7c15)) >> 55];
            count += *guess != code[i].op;
            *guess = (uint8_t)code[i].op;
            past = past << 8 | code[i].op;
        }
    }
    return count;
}

/* Reorder all windows. */
static void reorder(tape_instruction *code, size_t length, window *w, uint32_t *maker)
{
    for (size_t start = 0; start < length; start += WINDOW) {
        w->count = length - start < WINDOW ? (int)(length - start) : WINDOW;
        memcpy(w->code, code + start, (size_t)w->count * sizeof *code);
        link_window(w, maker, start);
        order_window(w, code + start);
    }
}

bool tape_schedule(tape_instruction *code, size_t length, size_t nodes)
{
    enum { FORESEEN = 100 }; /* so few instructions fit into the memory of any processor */
    if (length <= FORESEEN || surprises(code, length) < length / 4) return true;
    window w = {0};
    uint32_t *maker = DAE_ARRAY(uint32_t, nodes);
    bool ok = window_new(&w, length < WINDOW ? length : WINDOW) && maker;
    if (ok) reorder(code, length, &w, maker);
    dae_free_all(w.code, w.waits, maker);
    return ok;
}
