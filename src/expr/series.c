/* Compiling expressions for series: which coefficients of which nodes, in which order. */
#include "expr/series.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "expr/loop_parts.h"
#include "expr/series_code.h"
#include "expr/tape_plan.h"

typedef struct compiler {
    series_program *program;
    const graph *graph;
    plan plan;
    const int *top;
    int *ahead;       /* per node; -1: not wanted by itself */
    uint32_t *series; /* per node: its number, 0: none yet; of a LOOP, its number among loops */
    bool *active;     /* per node */
    size_t room;      /* of instructions */
    bool failed;
} compiler;

/* ---- which coefficients ---------------------------------------------------------------------- */

static void want(compiler *c, uint32_t node, int ahead)
{
    if (c->ahead[node] < ahead) c->ahead[node] = ahead;
}

/* A node must be as far as the furthest of its users. */
static void spread_wants(compiler *c, const int *lag)
{
    const plan *p = &c->plan;
    for (size_t i = 0; i < p->count; i++) c->ahead[i] = -1;
    for (size_t i = 0; i < p->outputs; i++) want(c, p->output[i], lag[i]);
    for (size_t i = p->count; i-- > 0;) {
        const plan_node *node = &p->nodes[i];
        if (c->ahead[i] < 0) continue;
        for (int k = 0; k < node->operands; k++) want(c, node->operand[k], c->ahead[i]);
    }
    for (size_t i = 0; i < p->count; i++) { /* sine and cosine go together */
        uint32_t pair = p->nodes[i].pair;
        if (pair != PLAN_NONE && c->ahead[i] >= 0 && c->ahead[pair] >= 0)
            want(c, (uint32_t)i, c->ahead[pair]);
    }
}

/* ---- fixed parts ----------------------------------------------------------------------------- */

static uint32_t new_series(compiler *c)
{
    return c->program->series++;
}

static void add_fixed(compiler *c, uint32_t i)
{
    const plan_node *node = &c->plan.nodes[i];
    uint32_t operand[3] = {0, 0, 0};
    for (int k = 0; k < node->operands; k++) operand[k] = c->series[node->operand[k]];
    c->series[i] = new_series(c);
    c->program->fixed[c->program->fixed_count++] = (series_fixed){
        node->op, node->index, c->series[i], operand[0], operand[1], operand[2], node->value};
}

/* ---- instructions ---------------------------------------------------------------------------- */

static series_instruction *add(compiler *c, series_op op, uint32_t i)
{
    series_program *p = c->program;
    series_instruction *s = &p->instruction[p->count++];
    *s = (series_instruction){.op = (uint8_t)op, .ahead = (int16_t)c->ahead[i]};
    s->r = new_series(c);
    return s;
}

/* The change of operand k as node i sees it: none if the operand is ahead of it. */
static uint32_t change_of(const compiler *c, uint32_t i, int k)
{
    uint32_t o = c->plan.nodes[i].operand[k];
    return c->active[o] && c->ahead[o] == c->ahead[i] ? c->series[o] : 0;
}

static void set_operands(compiler *c, series_instruction *s, uint32_t i)
{
    const plan_node *node = &c->plan.nodes[i];
    uint32_t *to[3] = {&s->a, &s->b, &s->c}, *change[3] = {&s->da, &s->db, &s->dc};
    for (int k = 0; k < node->operands; k++) {
        *to[k] = c->series[node->operand[k]];
        *change[k] = change_of(c, i, k);
    }
}

static void mark_active(compiler *c, uint32_t i, bool active)
{
    c->active[i] = active;
    if (active) c->program->active[c->program->active_count++] = (uint32_t)(c->program->count - 1);
}

static void add_leaf(compiler *c, uint32_t i)
{
    const plan_node *node = &c->plan.nodes[i];
    series_instruction *s = add(c, SERIES_LEAF, i);
    s->b = (uint32_t)node->index;
    s->c = node->order;
    c->series[i] = s->r;
    mark_active(c, i, c->ahead[i] + node->order == c->top[node->index]);
}

/* A function of time from outside. */
static void add_signal(compiler *c, uint32_t i)
{
    const plan_node *node = &c->plan.nodes[i];
    series_instruction *s = add(c, SERIES_SIGNAL, i);
    s->b = c->series[node->operand[1]];
    s->c = (uint32_t)node->index;
    s->step = node->order;
    c->series[i] = s->r;
}

static bool is_fixed(const compiler *c, const plan_node *node, int k)
{
    return c->plan.nodes[node->operand[k]].fixed;
}

/* Arithmetic with one fixed operand is cheaper. */
static series_op arithmetic(const compiler *c, const plan_node *node, bool *swapped)
{
    bool first = is_fixed(c, node, 0), second = is_fixed(c, node, 1);
    *swapped = first && !second && node->op != EXPR_DIV;
    switch (node->op) {
    case EXPR_ADD: return first || second ? SERIES_SHIFT : SERIES_ADD;
    case EXPR_SUB: return first ? SERIES_FROM : SERIES_SUB;
    case EXPR_DIV: return second ? SERIES_DIV_FIXED : SERIES_DIV;
    default:
        if (node->operand[0] == node->operand[1]) return SERIES_SQUARE;
        return first || second ? SERIES_SCALE : SERIES_MUL;
    }
}

static void swap_operands(series_instruction *s)
{
    uint32_t a = s->a, da = s->da;
    s->a = s->b;
    s->da = s->db;
    s->b = a;
    s->db = da;
}

static bool add_arithmetic(compiler *c, uint32_t i)
{
    bool swapped;
    series_op op = arithmetic(c, &c->plan.nodes[i], &swapped);
    series_instruction *s = add(c, op, i);
    set_operands(c, s, i);
    if (swapped) swap_operands(s);
    c->program->products += op == SERIES_MUL || op == SERIES_SQUARE || op == SERIES_DIV;
    return s->da || s->db;
}

/* a^2, a^3 and a^4 by products, which do not mind a = 0; false: another power. */
static bool add_small_power(compiler *c, uint32_t i)
{
    const plan_node *node = &c->plan.nodes[i], *by = &c->plan.nodes[node->operand[1]];
    if (by->op != EXPR_CONSTANT || (by->value != 2 && by->value != 3 && by->value != 4))
        return false;
    uint32_t a = c->series[node->operand[0]], da = change_of(c, i, 0);
    series_instruction *s = add(c, SERIES_SQUARE, i);
    s->a = a;
    s->da = da;
    c->program->products++;
    if (by->value != 2) {
        uint32_t square = s->r;
        mark_active(c, i, da != 0);
        s = add(c, by->value == 3 ? SERIES_MUL : SERIES_SQUARE, i);
        s->a = square;
        s->da = da ? square : 0;
        s->b = a;
        s->db = da;
        c->program->products++;
    }
    c->series[i] = s->r;
    mark_active(c, i, da != 0);
    return true;
}

/* The operation of a node with a recurrence of its own, and how many series that keeps. */
static series_op function(uint8_t op, int *kept)
{
    *kept = 0;
    switch (op) {
    case EXPR_NEG: return SERIES_NEG;
    case EXPR_SQRT: return SERIES_SQRT;
    case EXPR_EXP: return SERIES_EXP;
    case EXPR_LOG: return SERIES_LOG;
    case EXPR_LOG10: return SERIES_LOG10;
    case EXPR_ABS: return SERIES_ABS;
    case EXPR_MIN: return SERIES_MIN;
    case EXPR_MAX: return SERIES_MAX;
    case EXPR_SELECT: return SERIES_SELECT;
    default: break;
    }
    *kept = 1;
    switch (op) {
    case EXPR_TAN: return SERIES_TAN;
    case EXPR_TANH: return SERIES_TANH;
    case EXPR_ATAN: return SERIES_ATAN;
    case EXPR_ATAN2: return SERIES_ATAN2;
    default: break;
    }
    *kept = 2;
    switch (op) {
    case EXPR_ASIN: return SERIES_ASIN;
    case EXPR_ACOS: return SERIES_ACOS;
    case EXPR_POW: return SERIES_POWER_BOTH;
    default: *kept = 0; return SERIES_STEP;
    }
}

static bool add_function(compiler *c, uint32_t i)
{
    const plan_node *node = &c->plan.nodes[i];
    int kept;
    series_op op = function(node->op, &kept);
    if (op == SERIES_POWER_BOTH && is_fixed(c, node, 1)) op = SERIES_POWER;
    series_instruction *s = add(c, op, i);
    set_operands(c, s, i);
    s->step = node->op;
    if (kept > 0) s->w = new_series(c);
    if (kept > 1) s->v = new_series(c);
    c->program->products += op > SERIES_DIV && op < SERIES_ABS;
    return op != SERIES_STEP && (s->da || s->db || s->dc);
}

/* Sine and cosine, or their hyperbolic sisters: both at once, where the first of them is met. */
static void add_pair(compiler *c, uint32_t i)
{
    const plan_node *node = &c->plan.nodes[i];
    bool plain = node->op == EXPR_SIN || node->op == EXPR_COS;
    bool sine = node->op == EXPR_SIN || node->op == EXPR_SINH;
    series_instruction *s = add(c, plain ? SERIES_SINCOS : SERIES_SINHCOSH, i);
    set_operands(c, s, i);
    s->w = new_series(c);
    c->program->products += 2;
    c->series[i] = sine ? s->r : s->w;
    mark_active(c, i, s->da != 0);
    if (node->pair == PLAN_NONE || c->ahead[node->pair] < 0) return;
    c->series[node->pair] = sine ? s->w : s->r;
    c->active[node->pair] = s->da != 0;
}

/* ---- loops ----------------------------------------------------------------------------------- */

/* A program for one pass of the loop at node i. */
static bool compile_pass(const compiler *c, uint32_t i, series_loop *l)
{
    const int body = c->plan.nodes[i].index;
    l->cells = graph_loop_at(c->graph, body)->cells;
    expr *e = DAE_ARRAY(expr, l->cells + 1);
    int *zero = DAE_ARRAY(int, l->cells + 1); /* lags and tops */
    l->cell = DAE_ARRAY(uint32_t, l->cells);
    l->start = DAE_ARRAY(uint32_t, l->cells);
    if (e && zero && l->cell && l->start) {
        l->changing = loop_outputs(c->graph, body, e, l->cell);
        l->pass = series_program_new(c->graph, e, zero, l->changing + 1, zero, (int)l->cells,
                                     c->program->length - 1);
    }
    dae_free_all(e, zero);
    return l->pass;
}

/* A loop, which starts with the series of its list. */
static void add_loop(compiler *c, uint32_t i)
{
    const plan_node *nodes = c->plan.nodes;
    uint32_t number = (uint32_t)c->program->loop_count++, at = nodes[i].operand[0];
    series_loop *l = &c->program->loops[number];
    bool active = false;
    if (!compile_pass(c, i, l)) {
        c->failed = true;
        return;
    }
    for (size_t k = 0; k < l->cells; k++) {
        uint32_t value = nodes[at].operand[0];
        l->start[k] = c->series[value];
        active = active || (c->active[value] && c->ahead[value] == c->ahead[i]);
        at = nodes[at].operand[1];
    }
    add(c, SERIES_LOOP, i)->b = number;
    c->series[i] = number;
    mark_active(c, i, active);
}

static void add_result(compiler *c, uint32_t i)
{
    uint32_t loop = c->plan.nodes[i].operand[0];
    series_instruction *s = add(c, SERIES_RESULT, i);
    s->b = c->series[loop];
    s->c = (uint32_t)c->plan.nodes[i].index;
    c->series[i] = s->r;
    mark_active(c, i, c->active[loop] && c->ahead[loop] == c->ahead[i]);
}

/* ---- all together ---------------------------------------------------------------------------- */

static void add_node(compiler *c, uint32_t i)
{
    const plan_node *node = &c->plan.nodes[i];
    bool active;
    switch (node->op) {
    case EXPR_TIME: c->series[i] = add(c, SERIES_TIME, i)->r; return;
    case EXPR_SIGNAL: add_signal(c, i); return;
    case EXPR_VARIABLE: add_leaf(c, i); return;
    case EXPR_LIST: return;
    case EXPR_LOOP: add_loop(c, i); return;
    case EXPR_RESULT: add_result(c, i); return;
    case EXPR_SIN:
    case EXPR_COS:
    case EXPR_SINH:
    case EXPR_COSH:
        if (!c->series[i]) add_pair(c, i);
        return;
    case EXPR_ADD:
    case EXPR_SUB:
    case EXPR_MUL:
    case EXPR_DIV: active = add_arithmetic(c, i); break;
    case EXPR_POW:
        if (add_small_power(c, i)) return;
        active = add_function(c, i);
        break;
    default: active = add_function(c, i); break;
    }
    c->series[i] = c->program->instruction[c->program->count - 1].r;
    mark_active(c, i, active);
}

/* From numbers of series to their places. */
static void place_series(series_program *p)
{
    uint32_t size = 2 * (uint32_t)p->length;
    for (size_t k = 0; k < p->count; k++) {
        series_instruction *s = &p->instruction[k];
        bool leaf = s->op == SERIES_LEAF || s->op == SERIES_LOOP ||
                    s->op == SERIES_RESULT; /* b and c are indices */
        s->dr = s->r;
        s->dw = s->w;
        s->r *= size;
        s->a *= size;
        s->b *= leaf ? 1 : size;
        s->c *= leaf || s->op == SERIES_SIGNAL ? 1 : size;
        s->w *= size;
        s->v *= size;
    }
    for (size_t k = 0; k < p->fixed_count; k++) {
        series_fixed *f = &p->fixed[k];
        f->r *= size;
        f->a *= size;
        f->b *= size;
        f->c *= size;
    }
    for (size_t k = 0; k < p->outputs; k++) p->output[k] *= size;
    for (size_t k = 0; k < p->loop_count; k++)
        for (size_t j = 0; j < p->loops[k].cells; j++) p->loops[k].start[j] *= size;
}

static bool compile(compiler *c, const int *lag)
{
    const plan *p = &c->plan;
    spread_wants(c, lag);
    for (uint32_t i = 0; i < p->count && !c->failed; i++) {
        if (c->ahead[i] < 0) continue;
        if (p->nodes[i].fixed)
            add_fixed(c, i);
        else
            add_node(c, i);
    }
    for (size_t k = 0; k < p->outputs; k++) {
        c->program->output[k] = c->series[p->output[k]];
        c->program->lag[k] = lag[k];
    }
    /* places must fit into 32 bits */
    return !c->failed && c->program->series < UINT32_MAX / 2 / (uint32_t)c->program->length;
}

static bool allocate(compiler *c)
{
    series_program *p = c->program;
    size_t n = c->plan.count, loops = 0;
    for (size_t i = 0; i < n; i++) loops += c->plan.nodes[i].op == EXPR_LOOP;
    p->fixed = DAE_ARRAY(series_fixed, n);
    p->instruction = DAE_ARRAY(series_instruction, 2 * n); /* a small power takes two */
    p->active = DAE_ARRAY(uint32_t, 2 * n);
    p->output = DAE_ARRAY(uint32_t, c->plan.outputs);
    p->lag = DAE_ARRAY(int, c->plan.outputs);
    p->loops = DAE_ARRAY(series_loop, loops);
    c->ahead = DAE_ARRAY(int, n);
    c->series = DAE_ARRAY(uint32_t, n);
    c->active = DAE_ARRAY(bool, n);
    return p->fixed && p->instruction && p->active && p->output && p->lag && p->loops && c->ahead &&
           c->series && c->active;
}

static int largest(const int *value, int count)
{
    int most = 0;
    for (int i = 0; i < count; i++)
        if (value[i] > most) most = value[i];
    return most;
}

series_program *series_program_new(const graph *g, const expr *e, const int *lag, size_t count,
                                   const int *top, int variables, int last)
{
    compiler c = {.program = DAE_NEW(series_program), .graph = g, .top = top};
    bool ok = c.program && plan_new(&c.plan, g, e, count);
    if (ok) {
        c.program->outputs = count;
        c.program->variables = variables;
        c.program->series = 1;
        c.program->graph = g;
        c.program->length = largest(top, variables) + last + 1;
        ok = allocate(&c) && compile(&c, lag);
        if (ok) place_series(c.program);
    }
    plan_free(&c.plan);
    dae_free_all(c.ahead, c.series, c.active);
    if (ok) return c.program;
    series_program_free(c.program);
    return NULL;
}

void series_program_free(series_program *p)
{
    if (!p) return;
    for (size_t k = 0; k < p->loop_count; k++) {
        series_program_free(p->loops[k].pass);
        dae_free_all(p->loops[k].cell, p->loops[k].start);
    }
    dae_free_all(p->loops, p->fixed, p->instruction, p->active, p->output, p->lag, p);
}

size_t series_program_length(const series_program *p)
{
    return p->count;
}

size_t series_program_products(const series_program *p)
{
    return p->products;
}

static bool is_tame(series_op op)
{
    switch (op) {
    case SERIES_LEAF:
    case SERIES_TIME:
    case SERIES_NEG:
    case SERIES_ADD:
    case SERIES_SUB:
    case SERIES_SHIFT:
    case SERIES_FROM:
    case SERIES_SCALE:
    case SERIES_MUL:
    case SERIES_SQUARE:
    case SERIES_DIV_FIXED:
    case SERIES_DIV:
    case SERIES_SQRT:
    case SERIES_SINCOS: return true;
    default: return false;
    }
}

bool series_program_is_tame(const series_program *p)
{
    for (size_t k = 0; k < p->count; k++)
        if (!is_tame((series_op)p->instruction[k].op)) return false;
    return true;
}
