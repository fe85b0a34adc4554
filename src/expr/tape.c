/* Compiling a plan into a tape: fuse, select instructions, give registers. */
#include "expr/tape.h"

#include "base/memory.h"
#include "expr/loop_parts.h"
#include "expr/tape_code.h"
#include "expr/tape_plan.h"
#include "expr/tape_schedule.h"

#include <string.h>

/* What tape_new works with; arrays are indexed by the nodes of the plan. */
typedef struct compiler {
    plan plan;
    tape *tape;
    uint8_t *absorbs;   /* 1 + the operand computed in the same instruction, or 0; owned, with */
    bool *absorbed;     /* computed in its user's instruction */
    bool *kept;         /* made by the prologue for the body */
    uint32_t *place;    /* register; owned, with the lists behind it */
    uint32_t *last;     /* the instruction that uses it last */
    uint32_t *output;   /* first output it is, PLAN_NONE if it is none, */
    uint32_t *sibling;  /* by output: the next output that is the same node */
    uint32_t *released; /* stack of temporaries to be used again */
    size_t releases;
    const graph *graph;
    uint32_t *first; /* of a LOOP: where its cells begin */
} compiler;

/* ---- fusing ---------------------------------------------------------------------------------- */

/* The instruction for outer(.., inner(..), ..) with inner as operand `slot`; TAPE_END: none. */
static tape_op fused_op(int outer, int inner, int slot)
{
    if (outer == EXPR_ADD) {
        if (inner == EXPR_MUL) return TAPE_MUL_ADD;
        if (inner == EXPR_ADD) return TAPE_ADD_ADD;
        if (inner == EXPR_SUB) return TAPE_SUB_ADD;
    } else if (outer == EXPR_SUB && slot == 0) {
        if (inner == EXPR_MUL) return TAPE_MUL_SUB;
        if (inner == EXPR_ADD) return TAPE_ADD_SUB;
        if (inner == EXPR_SUB) return TAPE_SUB_SUB;
    } else if (outer == EXPR_SUB) {
        if (inner == EXPR_MUL) return TAPE_SUB_MUL;
    } else if (outer == EXPR_MUL) {
        if (inner == EXPR_MUL) return TAPE_MUL_MUL;
        if (inner == EXPR_ADD) return TAPE_ADD_MUL;
        if (inner == EXPR_SUB) return TAPE_DIF_MUL;
    }
    return TAPE_END;
}

/* Let sums, differences and products compute one operand that nobody else uses. */
static void fuse(compiler *c)
{
    for (size_t i = 0; i < c->plan.count; i++) {
        const plan_node *node = &c->plan.nodes[i];
        if (node->op != EXPR_ADD && node->op != EXPR_SUB && node->op != EXPR_MUL) continue;
        for (int slot = 0; slot < 2; slot++) {
            uint32_t at = node->operand[slot];
            const plan_node *inner = &c->plan.nodes[at];
            if (inner->uses != 1 || inner->fixed != node->fixed || c->absorbs[at]) continue;
            if (fused_op(node->op, inner->op, slot) == TAPE_END) continue;
            c->absorbs[i] = (uint8_t)(slot + 1);
            c->absorbed[at] = true;
            break;
        }
    }
}

/* ---- leaves ---------------------------------------------------------------------------------- */

/* Which group of variables an order belongs to. */
static size_t group_of(const plan_node *node)
{
    return node->order < TAPE_ORDERS ? node->order : TAPE_ORDERS;
}

/* Which fixed results the body needs: operands of what is not fixed, and outputs. */
static void mark_kept(compiler *c)
{
    const plan *p = &c->plan;
    for (size_t i = 0; i < p->count; i++)
        for (int k = 0; k < p->nodes[i].operands && !p->nodes[i].fixed; k++)
            c->kept[p->nodes[i].operand[k]] = true;
    for (size_t i = 0; i < p->outputs; i++) c->kept[p->output[i]] = true;
    for (size_t i = 0; i < p->count; i++)
        if (plan_is_leaf(&p->nodes[i]) || !p->nodes[i].fixed) c->kept[i] = false;
}

static void count_registers(compiler *c)
{
    tape *t = c->tape;
    for (size_t i = 0; i < c->plan.count; i++) {
        const plan_node *node = &c->plan.nodes[i];
        switch (node->op) {
        case EXPR_CONSTANT: t->constants++; break;
        case EXPR_PARAMETER: t->parameters++; break;
        case EXPR_MEMORY: t->memories++; break;
        case EXPR_TIME: t->timed = true; break;
        case EXPR_VARIABLE:
            t->variables++;
            t->group[group_of(node) + 1]++;
            break;
        default: t->kept += c->kept[i]; break;
        }
    }
    for (int m = 0; m <= TAPE_ORDERS; m++) t->group[m + 1] += t->group[m];
}

static bool allocate_leaves(tape *t)
{
    return SHARED_BLOCK(SHARE(t->constant, t->constants), SHARE(t->parameter, t->parameters),
                        SHARE(t->memory, t->memories), SHARE(t->variable, t->variables));
}

/* Give registers to leaves and to what the prologue keeps, in the order of struct tape. */
static void place_lasting(compiler *c)
{
    tape *t = c->tape;
    size_t constant = 0, parameter = 0, memory = 0, kept = 0, next[TAPE_ORDERS + 1];
    memcpy(next, t->group, sizeof next);
    size_t first_memory = t->constants + t->parameters, first_kept = first_memory + t->memories;
    size_t time = tape_first_copied(t), first_variable = time + t->timed;
    for (size_t i = 0; i < c->plan.count; i++) {
        const plan_node *node = &c->plan.nodes[i];
        size_t place = PLAN_NONE;
        if (node->op == EXPR_CONSTANT) {
            t->constant[constant] = node->value;
            place = constant++;
        } else if (node->op == EXPR_PARAMETER) {
            t->parameter[parameter] = node->index;
            place = t->constants + parameter++;
        } else if (node->op == EXPR_MEMORY) {
            t->memory[memory] = node->index;
            place = first_memory + memory++;
        } else if (node->op == EXPR_TIME) {
            place = time;
        } else if (node->op == EXPR_VARIABLE) {
            size_t k = next[group_of(node)]++;
            t->variable[k] = node->index;
            place = first_variable + k;
        } else if (node->op == EXPR_RESULT) {
            place = tape_first_cell(t) + c->first[node->operand[0]] + (size_t)node->index;
        } else if (c->kept[i]) {
            place = first_kept + kept++;
        }
        c->place[i] = (uint32_t)place;
    }
    for (size_t k = 0; k < t->loop_cells; k++)
        c->place[c->plan.count + k] = (uint32_t)(tape_first_cell(t) + k);
}

/* ---- loops ----------------------------------------------------------------------------------- */

/* The loop of the tape with that body, new or old; NULL: out of memory. */
static tape_loop *find_loop(compiler *c, int32_t index)
{
    tape *t = c->tape;
    for (size_t k = 0; k < t->loop_count; k++)
        if (t->loops[k].index == index) return &t->loops[k];
    const graph_loop *from = graph_loop_at(c->graph, index);
    tape_loop *l = &t->loops[t->loop_count++];
    expr *e = DAE_ARRAY(expr, from->cells + 1);
    *l = (tape_loop){.cells = from->cells, .index = index};
    l->cell = DAE_ARRAY(uint32_t, from->cells);
    if (e && l->cell) {
        l->changing = loop_outputs(c->graph, index, e, l->cell);
        l->body = tape_new(c->graph, e, l->changing + 1);
    }
    dae_free(e);
    return l->body ? l : NULL;
}

/* Cells for all loops of the plan: virtual nodes after its own, those of node i from first[i] on.
 */
static bool place_loops(compiler *c)
{
    tape *t = c->tape;
    size_t loops = 0;
    for (size_t i = 0; i < c->plan.count; i++) loops += c->plan.nodes[i].op == EXPR_LOOP;
    if (loops == 0) return true;
    t->loops = DAE_ARRAY(tape_loop, loops);
    if (!t->loops) return false;
    for (size_t i = 0; i < c->plan.count; i++) {
        plan_node *node = &c->plan.nodes[i];
        if (node->op != EXPR_LOOP) continue;
        const tape_loop *l = find_loop(c, node->index);
        if (!l) return false;
        node->index = (int32_t)(l - t->loops);
        c->first[i] = (uint32_t)t->loop_cells;
        t->loop_cells += l->cells;
    }
    return true;
}

/* ---- functions from outside ------------------------------------------------------------------ */

/* Number the signals of the plan: false: memory. */
static bool place_signals(compiler *c)
{
    tape *t = c->tape;
    size_t count = 0;
    for (size_t i = 0; i < c->plan.count; i++) count += c->plan.nodes[i].op == EXPR_SIGNAL;
    if (count == 0) return true;
    t->signals = DAE_ARRAY(tape_signal, count);
    if (!t->signals) return false;
    for (size_t i = 0; i < c->plan.count; i++) {
        plan_node *node = &c->plan.nodes[i];
        if (node->op != EXPR_SIGNAL) continue;
        t->signals[t->signal_count] =
            (tape_signal){*graph_signal_at(c->graph, node->index), node->order};
        node->index = (int32_t)t->signal_count++;
    }
    return true;
}

/* A loop: copy what it starts with into its cells, run it. */
static size_t select_loop(const compiler *c, tape_instruction *code, uint32_t i)
{
    const plan_node *node = &c->plan.nodes[i];
    size_t cells = c->tape->loops[node->index].cells, n = 0;
    uint32_t first = (uint32_t)c->plan.count + c->first[i], at = node->operand[0];
    for (uint32_t k = 0; k < cells; k++) {
        code[n++] = (tape_instruction){TAPE_COPY, first + k, c->plan.nodes[at].operand[0], 0, 0};
        at = c->plan.nodes[at].operand[1];
    }
    code[n++] = (tape_instruction){TAPE_LOOP, first, first, (uint32_t)node->index, 0};
    return n;
}

/* ---- instructions, with nodes for registers -------------------------------------------------- */

static void link_outputs(compiler *c)
{
    for (size_t i = 0; i < c->plan.count; i++) c->output[i] = PLAN_NONE;
    for (size_t k = c->plan.outputs; k-- > 0;) {
        uint32_t *head = &c->output[c->plan.output[k]];
        c->sibling[k] = *head;
        *head = (uint32_t)k;
    }
}

/* The instruction for node i and the operand it absorbs, if any. */
static tape_instruction select_instruction(const compiler *c, uint32_t i)
{
    const plan_node *node = &c->plan.nodes[i];
    if (node->op == EXPR_SIGNAL)
        return (tape_instruction){TAPE_SIGNAL, i, node->operand[0], node->operand[1],
                                  (uint32_t)node->index};
    if (!c->absorbs[i])
        return (tape_instruction){tape_op_of(node->op), i, node->operand[0], node->operand[1],
                                  node->operand[2]};
    int slot = c->absorbs[i] - 1;
    const plan_node *inner = &c->plan.nodes[node->operand[slot]];
    return (tape_instruction){fused_op(node->op, inner->op, slot), i, inner->operand[0],
                              inner->operand[1], node->operand[1 - slot]};
}

/* Copies of node i to the outputs it is. */
static size_t store_outputs(const compiler *c, tape_instruction *code, uint32_t i)
{
    size_t n = 0;
    for (uint32_t k = c->output[i]; k != PLAN_NONE; k = c->sibling[k])
        code[n++] = (tape_instruction){TAPE_COPY_OUT, k, i, 0, 0};
    return n;
}

/* Instructions for node i into `code`; returns how many. */
static size_t select_node(const compiler *c, tape_instruction *code, uint32_t i)
{
    const plan_node *node = &c->plan.nodes[i];
    bool stores = !node->fixed;
    if (node->op == EXPR_LIST) return 0;
    if (node->op == EXPR_LOOP) return select_loop(c, code, i);
    if (node->op == EXPR_RESULT) return store_outputs(c, code, i);
    if (node->pair != PLAN_NONE) {
        size_t n = 0;
        uint32_t sine = node->op == EXPR_SIN ? i : node->pair;
        uint32_t cosine = node->op == EXPR_SIN ? node->pair : i;
        if (i < node->pair)
            code[n++] = (tape_instruction){TAPE_SINCOS, sine, node->operand[0], cosine, 0};
        return n + (stores ? store_outputs(c, code + n, i) : 0);
    }
    code[0] = select_instruction(c, i);
    if (stores && node->uses == 1 && c->output[i] != PLAN_NONE) {
        code[0].op++; /* the _OUT */
        code[0].dst = c->output[i];
        return 1;
    }
    return 1 + (stores ? store_outputs(c, code + 1, i) : 0);
}

/* Fill prologue and body; outputs that are leaves or fixed are copied last. */
static void select_all(compiler *c)
{
    tape *t = c->tape;
    for (uint32_t i = 0; i < c->plan.count; i++) {
        const plan_node *node = &c->plan.nodes[i];
        if (plan_is_leaf(node) || c->absorbed[i]) continue;
        if (node->fixed)
            t->prologue_length += select_node(c, t->prologue + t->prologue_length, i);
        else
            t->length += select_node(c, t->body + t->length, i);
    }
    for (uint32_t i = 0; i < c->plan.count; i++)
        if (plan_is_leaf(&c->plan.nodes[i]) || c->plan.nodes[i].fixed)
            t->length += store_outputs(c, t->body + t->length, i);
    t->prologue[t->prologue_length] = (tape_instruction){.op = TAPE_END};
    t->body[t->length] = (tape_instruction){.op = TAPE_END};
}

/* ---- registers ------------------------------------------------------------------------------- */

/* Whether node i lives in a temporary. */
static bool is_temporary(const compiler *c, uint32_t i)
{
    if (i >= c->plan.count || c->plan.nodes[i].op == EXPR_RESULT) return false; /* cells */
    return !plan_is_leaf(&c->plan.nodes[i]) && !c->kept[i];
}

static void find_last_uses(compiler *c, const tape_instruction *code, size_t length)
{
    for (uint32_t at = 0; at < length; at++) {
        const uint32_t operand[3] = {code[at].a, code[at].b, code[at].c};
        for (int k = 0; k < tape_operands(code[at].op); k++) c->last[operand[k]] = at;
    }
}

/* Register of operand i of instruction `at`, given back if this is its last use. */
static uint32_t use_register(compiler *c, uint32_t i, uint32_t at)
{
    if (is_temporary(c, i) && c->last[i] == at) {
        c->released[c->releases++] = c->place[i];
        c->last[i] = PLAN_NONE; /* an instruction may name it twice */
    }
    return c->place[i];
}

/* Register for the result i: its own, or the temporary given back most recently. */
static uint32_t make_register(compiler *c, uint32_t i, size_t *next)
{
    if (is_temporary(c, i))
        c->place[i] = c->releases > 0 ? c->released[--c->releases] : (uint32_t)(*next)++;
    return c->place[i];
}

/* Replace nodes by registers in one linear scan; temporaries die at their last use. */
static void give_registers(compiler *c, tape_instruction *code, size_t length)
{
    size_t next = tape_first_cell(c->tape) + c->tape->loop_cells;
    c->releases = 0;
    find_last_uses(c, code, length);
    for (uint32_t at = 0; at < length; at++) {
        tape_instruction *i = &code[at];
        uint32_t *operand[3] = {&i->a, &i->b, &i->c};
        int operands = tape_operands(i->op);
        for (int k = 0; k < operands; k++) *operand[k] = use_register(c, *operand[k], at);
        if (i->op == TAPE_SINCOS) i->b = make_register(c, i->b, &next);
        if (tape_makes_register(i->op)) i->dst = make_register(c, i->dst, &next);
    }
    if (next > c->tape->registers) c->tape->registers = next;
}

/* ---- all together ---------------------------------------------------------------------------- */

static bool allocate_compiler(compiler *c)
{
    size_t n = c->plan.count, places = n + c->tape->loop_cells;
    c->place = dae_alloc(2 * places + 2 * n + c->plan.outputs, sizeof *c->place);
    c->absorbs = dae_calloc(3 * n, sizeof *c->absorbs);
    if (!c->place || !c->absorbs) return false;
    c->last = c->place + places;
    c->output = c->last + places;
    c->released = c->output + n;
    c->sibling = c->released + n;
    c->absorbed = (bool *)(c->absorbs + n);
    c->kept = c->absorbed + n;
    memset(c->last, 0, places * sizeof *c->last);
    return true;
}

static void release_compiler(compiler *c)
{
    dae_free_all(c->absorbs, c->place, c->first);
    plan_free(&c->plan);
}

/* Room for the instructions: at most one a node, a cell and an output, and the end. */
static bool allocate_code(compiler *c)
{
    size_t fixed = 0, moving = 0;
    for (size_t i = 0; i < c->plan.count; i++) {
        const plan_node *node = &c->plan.nodes[i];
        if (plan_is_leaf(node) || c->absorbed[i]) continue;
        *(node->fixed ? &fixed : &moving) += 1;
    }
    size_t moving_most = moving + c->tape->loop_cells + c->plan.outputs + 1;
    c->tape->prologue = dae_alloc(fixed + 1, sizeof *c->tape->prologue);
    c->tape->body = dae_alloc(moving_most, sizeof *c->tape->body);
    return c->tape->prologue && c->tape->body;
}

/* Instructions that compute an output write it as well, so that much of the room may be left over:
 * long ones move to a block that fits, if there is memory for it. */
static void fit_code(tape *t)
{
    enum { LONG = 4096 };
    if (t->length < LONG) return;
    tape_instruction *fits = dae_copy(t->body, t->length + 1, sizeof *fits);
    if (!fits) return;
    dae_free(t->body);
    t->body = fits;
}

static bool compile(compiler *c)
{
    fuse(c);
    mark_kept(c);
    count_registers(c);
    if (!allocate_leaves(c->tape) || !allocate_code(c)) return false;
    place_lasting(c);
    link_outputs(c);
    select_all(c);
    /* the order of what happens to cells is not told by operands */
    if (c->tape->loop_count == 0 && !tape_schedule(c->tape->body, c->tape->length, c->plan.count))
        return false;
    give_registers(c, c->tape->prologue, c->tape->prologue_length);
    give_registers(c, c->tape->body, c->tape->length);
    fit_code(c->tape);
    return true;
}

tape *straight_tape(const graph *g, const expr *e, size_t count)
{
    compiler c = {.tape = DAE_NEW(tape), .graph = g};
    bool ok = c.tape && plan_new(&c.plan, g, e, count);
    if (ok) c.first = DAE_ARRAY(uint32_t, c.plan.count);
    ok = ok && c.first && place_loops(&c) && place_signals(&c) && allocate_compiler(&c) &&
         compile(&c);
    if (ok) c.tape->outputs = count;
    release_compiler(&c);
    if (ok) return c.tape;
    tape_free(c.tape);
    return NULL;
}

tape *tape_new(const graph *g, const expr *e, size_t count)
{
    roll r;
    if (!roll_new(&r, g, e, count)) return NULL;
    if (r.family_count == 0) return straight_tape(g, e, count);
    tape *t = tape_of_roll(g, &r, count);
    roll_free(&r);
    return t;
}

void tape_free(tape *t)
{
    if (!t) return;
    dae_free_all(t->constant, t->prologue, t->body);
    for (size_t k = 0; k < t->loop_count; k++) {
        tape_free(t->loops[k].body);
        dae_free(t->loops[k].cell);
    }
    tape_rolled_free(t->rolled);
    dae_free_all(t->loops, t->signals, t);
}

size_t tape_length(const tape *t)
{
    return t->rolled ? tape_rolled_length(t->rolled) : t->length;
}

size_t tape_size(const tape *t)
{
    return t->rolled ? tape_rolled_size(t->rolled) : t->length;
}

bool tape_calls_out(const tape *t)
{
    return t->rolled ? tape_calls_out(t->rolled->rest) : t->signal_count > 0;
}

size_t tape_work_size(const tape *t)
{
    if (t->rolled) return tape_rolled_work(t->rolled);
    size_t size = t->registers;
    for (size_t k = 0; k < t->loop_count; k++)
        size += tape_work_size(t->loops[k].body) + t->loops[k].changing + 1;
    return size;
}

/* Count the same in one list of instructions. */
static void count_sines(const tape_instruction *i, size_t length, size_t *pairs, size_t *singles)
{
    for (size_t k = 0; k < length; k++) {
        const uint32_t op = i[k].op;
        if (op == TAPE_SINCOS) ++*pairs;
        if (op == TAPE_SIN || op == TAPE_SIN_OUT || op == TAPE_COS || op == TAPE_COS_OUT)
            ++*singles;
    }
}

void tape_sines(const tape *t, size_t *pairs, size_t *singles)
{
    *pairs = *singles = 0;
    count_sines(t->prologue, t->prologue_length, pairs, singles);
    count_sines(t->body, t->length, pairs, singles);
}
