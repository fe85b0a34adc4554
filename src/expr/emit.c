#include "expr/emit.h"

#include "base/memory.h"
#include "expr/loop_parts.h"
#include "expr/roll.h"
#include "expr/tape_plan.h"

#include <stdio.h>
#include <string.h>

/* Expressions up to this many operations are written in place; larger ones are cut by temporaries,
 * which bounds the recursion of this file and of every compiler that reads its text. */
enum { IN_PLACE = 24 };
/* Operations of a part of a split function. For 2000 equations of a ladder gcc -O2 takes 2.1 s with
 * 500 as with 200, 2.5 to 3.2 s with 1000 and 5.7 s with 4000; the code is equally fast. */
enum { PART = 500 };
/* Temporaries between parts that may live on the stack. */
enum { ON_STACK = 4096 };
enum { MARGIN = 92 }; /* column after which the next operator begins a line */

/* Binding strength of C's operators, from the loosest. */
enum { STATEMENT, CONDITIONAL, OR, AND, EQUALITY, RELATION, SUM, PRODUCT, UNARY, PRIMARY };

/* One assignment: of node `node` to its temporary (output PLAN_NONE) or to an output. */
typedef struct statement {
    uint32_t node, output, part;
} statement;

/* What emit_unit works with for one function; arrays are indexed by the nodes of the plan. */
typedef struct emitter {
    emit_text *text;
    const emit_function *function;
    plan plan;
    bool *named;      /* has a temporary */
    uint32_t *weight; /* operations written in place under it, itself included */
    uint32_t *number; /* of the temporary: local t<number>, or t[number] between parts */
    uint32_t *part;   /* where it is written */
    uint32_t *last;   /* the last part that reads it */
    uint32_t *result; /* of a loop: its first result; of a result: the next one */
    statement *statements;
    size_t count;
    uint32_t parts, slots;
    bool local;                /* the function is seen in this unit only */
    const roll_family *family; /* its body is emitted, whose variables are x0, x1, ..; else NULL */
} emitter;

/* ---- what is written where ------------------------------------------------------------------- */

/* Temporaries: what is used twice, one of a pair, or too large to be written in place. */
static void choose_temporaries(emitter *e, const bool *is_output)
{
    for (size_t i = 0; i < e->plan.count; i++) {
        const plan_node *node = &e->plan.nodes[i];
        if (plan_is_leaf(node)) continue;
        e->weight[i] = node->op != EXPR_LIST;
        for (int k = 0; k < node->operands; k++) {
            uint32_t operand = node->operand[k];
            e->weight[i] += e->named[operand] ? 0 : e->weight[operand];
        }
        bool large = e->weight[i] > IN_PLACE && !is_output[i];
        bool loop = node->op == EXPR_LOOP || node->op == EXPR_RESULT;
        e->named[i] =
            node->op != EXPR_LIST && (node->uses > 1 || node->pair != PLAN_NONE || large || loop);
    }
}

/* Whether another node's statement sets node i: the first of its pair, or its loop. */
static bool follows_other(const plan_node *node, size_t i)
{
    return node->op == EXPR_RESULT || (node->pair != PLAN_NONE && node->pair < i);
}

/* Results of a loop are a list: by node, the next one of the same loop; the loop has the first. */
static void link_results(emitter *e)
{
    for (size_t i = 0; i < e->plan.count; i++) e->result[i] = PLAN_NONE;
    for (size_t i = e->plan.count; i-- > 0;) {
        const plan_node *node = &e->plan.nodes[i];
        if (node->op != EXPR_RESULT) continue;
        e->result[i] = e->result[node->operand[0]];
        e->result[node->operand[0]] = (uint32_t)i;
    }
}

/* Temporaries in the order of the plan, each output as soon as it can be written. */
static void list_statements(emitter *e)
{
    const plan *p = &e->plan;
    size_t next = 0, n = 0;
    for (uint32_t k = 0; k < p->outputs; k++) {
        for (; next <= p->output[k]; next++)
            if (e->named[next] && !follows_other(&p->nodes[next], next))
                e->statements[n++] = (statement){.node = (uint32_t)next, .output = PLAN_NONE};
        e->statements[n++] = (statement){.node = p->output[k], .output = k};
    }
    e->count = n;
}

/* Cut the statements into parts of bounded weight. */
static void divide_into_parts(emitter *e)
{
    size_t total = 0, filled = 0;
    for (size_t s = 0; s < e->count; s++) total += e->weight[e->statements[s].node] + 1;
    bool split = total > PART + PART / 2;
    for (size_t s = 0; s < e->count; s++) {
        statement *at = &e->statements[s];
        if (split && filled >= PART) {
            filled = 0;
            e->parts++;
        }
        filled += e->weight[at->node] + 1;
        at->part = e->parts;
        uint32_t pair = e->plan.nodes[at->node].pair;
        if (at->output == PLAN_NONE || !e->named[at->node]) e->part[at->node] = at->part;
        if (at->output != PLAN_NONE) continue;
        if (pair != PLAN_NONE) e->part[pair] = at->part;
        for (uint32_t r = e->result[at->node]; r != PLAN_NONE; r = e->result[r])
            e->part[r] = at->part;
    }
    e->parts++;
}

/* The part that writes each node, users first, and the last one that reads it. */
static void find_readers(emitter *e)
{
    for (size_t s = 0; s < e->count; s++) {
        const statement *at = &e->statements[s];
        if (at->output != PLAN_NONE && e->last[at->node] < at->part) e->last[at->node] = at->part;
    }
    for (size_t i = e->plan.count; i-- > 0;) {
        const plan_node *node = &e->plan.nodes[i];
        for (int k = 0; k < node->operands; k++) {
            uint32_t operand = node->operand[k];
            bool list = e->plan.nodes[operand].op == EXPR_LIST; /* may be read in several parts */
            if (list && e->part[operand] < e->part[i]) e->part[operand] = e->part[i];
            if (!list && !e->named[operand]) e->part[operand] = e->part[i];
            if (e->last[operand] < e->part[i]) e->last[operand] = e->part[i];
        }
    }
}

static bool is_shared(const emitter *e, uint32_t i)
{
    return e->named[i] && e->last[i] > e->part[i];
}

/* Slots of t[], numbered from 1, in lists: those to be used again, and by the last part that reads
 * them. */
typedef struct slot_lists {
    uint32_t *next;   /* by slot */
    uint32_t *reader; /* by part: its first slot */
    uint32_t released, local;
} slot_lists;

/* Slots read in `part` for the last time can be used again. */
static void release_slots(slot_lists *l, uint32_t part)
{
    while (l->reader[part]) {
        uint32_t slot = l->reader[part];
        l->reader[part] = l->next[slot];
        l->next[slot] = l->released;
        l->released = slot;
    }
}

/* The number of temporary i: the next local, or a slot if other parts read it. */
static void number_temporary(emitter *e, slot_lists *l, uint32_t i)
{
    if (!is_shared(e, i)) {
        e->number[i] = ++l->local;
        return;
    }
    uint32_t slot = l->released ? l->released : ++e->slots;
    if (l->released) l->released = l->next[slot];
    e->number[i] = slot - 1;
    l->next[slot] = l->reader[e->last[i]];
    l->reader[e->last[i]] = slot;
}

/* false: out of memory */
static bool number_temporaries(emitter *e)
{
    slot_lists l = {.next = DAE_ARRAY(uint32_t, e->plan.count + 1),
                    .reader = DAE_ARRAY(uint32_t, e->parts)};
    bool ok = l.next && l.reader;
    uint32_t part = 0;
    for (size_t s = 0; ok && s < e->count; s++) {
        const statement *at = &e->statements[s];
        while (part < at->part) release_slots(&l, part++);
        if (at->output != PLAN_NONE) continue;
        if (e->plan.nodes[at->node].op == EXPR_LOOP) {
            for (uint32_t r = e->result[at->node]; r != PLAN_NONE; r = e->result[r])
                number_temporary(e, &l, r);
            continue;
        }
        number_temporary(e, &l, at->node);
        if (e->plan.nodes[at->node].pair != PLAN_NONE)
            number_temporary(e, &l, e->plan.nodes[at->node].pair);
    }
    dae_free_all(l.next, l.reader);
    return ok;
}

/* ---- expressions ----------------------------------------------------------------------------- */

static void number_text(emitter *e, uint32_t i, int strength);

static void leaf_text(emitter *e, const plan_node *leaf, int strength)
{
    static const char *const array[] = {"y", "yp", "ypp"};
    char text[32];
    switch (leaf->op) {
    case EXPR_CONSTANT:
        emit_number(leaf->value, text);
        emit_append(e->text, text[0] == '-' && strength > UNARY ? "(%s)" : "%s", text);
        break;
    case EXPR_TIME: emit_put(e->text, "time"); break;
    case EXPR_PARAMETER: emit_append(e->text, "p[%d]", leaf->index); break;
    case EXPR_MEMORY: emit_append(e->text, "m[%d]", leaf->index); break;
    default:
        if (e->family) {
            emit_append(e->text, "x%d", leaf->index);
            break;
        }
        if (leaf->order > 2) e->text->unsupported = true;
        emit_append(e->text, "%s[%d]", array[leaf->order > 2 ? 2 : leaf->order], leaf->index);
        break;
    }
}

/* The name of a temporary. */
static void temporary_text(emitter *e, uint32_t i)
{
    emit_append(e->text, is_shared(e, i) ? "t[%u]" : "t%u", (unsigned)e->number[i]);
}

/* An operator between two operands, on a new line if this one is full. */
static void operator_text(emitter *e, const char *sign)
{
    emit_put(e->text, e->text->length - e->text->line > MARGIN ? "\n        " : " ");
    emit_put(e->text, sign);
    emit_put(e->text, " ");
}

/* Node i as something C tests: a relation as it is, any other number by "!= 0". */
static void condition_text(emitter *e, uint32_t i, int strength)
{
    static const struct {
        const char *sign;
        int strength;
    } table[EXPR_OP_COUNT] = {
        [EXPR_NOT] = {"!", UNARY},    [EXPR_LT] = {"<", RELATION},  [EXPR_LE] = {"<=", RELATION},
        [EXPR_EQ] = {"==", EQUALITY}, [EXPR_NE] = {"!=", EQUALITY}, [EXPR_AND] = {"&&", AND},
        [EXPR_OR] = {"||", OR}};
    const plan_node *node = &e->plan.nodes[i];
    bool test = e->named[i] || !expr_is_truth(node->op);
    int own = test ? EQUALITY : table[node->op].strength;
    if (own < strength) emit_put(e->text, "(");
    if (test) {
        number_text(e, i, EQUALITY + 1);
        emit_put(e->text, " != 0.0");
    } else if (node->op == EXPR_NOT) {
        emit_put(e->text, "!");
        condition_text(e, node->operand[0], PRIMARY);
    } else if (node->op == EXPR_AND || node->op == EXPR_OR) {
        condition_text(e, node->operand[0], EQUALITY);
        operator_text(e, table[node->op].sign);
        condition_text(e, node->operand[1], EQUALITY);
    } else {
        number_text(e, node->operand[0], SUM);
        operator_text(e, table[node->op].sign);
        number_text(e, node->operand[1], SUM);
    }
    if (own < strength) emit_put(e->text, ")");
}

/* The C function for a node that is neither an operator nor a leaf. */
static const char *function_name(int op)
{
    switch (op) {
    case EXPR_ABS: return "fabs";
    case EXPR_SIGN: return "sign";
    case EXPR_POW: return "pow";
    case EXPR_MIN: return "minimum";
    case EXPR_MAX: return "maximum";
    default: return graph_op_name((expr_op)op); /* sin, sqrt, floor, atan2, .. are C's names */
    }
}

static void call_text(emitter *e, const plan_node *node)
{
    emit_put(e->text, function_name(node->op));
    for (int k = 0; k < node->operands; k++) {
        emit_put(e->text, k == 0 ? "(" : ", ");
        number_text(e, node->operand[k], CONDITIONAL);
    }
    emit_put(e->text, ")");
}

/* a op b: sums and products are grouped as the graph has them, for rounding is not associative. */
static void binary_text(emitter *e, const plan_node *node, int own)
{
    const char *sign = node->op == EXPR_ADD   ? "+"
                       : node->op == EXPR_SUB ? "-"
                       : node->op == EXPR_MUL ? "*"
                                              : "/";
    number_text(e, node->operand[0], own);
    operator_text(e, sign);
    number_text(e, node->operand[1], own + 1);
}

static int strength_of(uint8_t op)
{
    switch (op) {
    case EXPR_ADD:
    case EXPR_SUB: return SUM;
    case EXPR_MUL:
    case EXPR_DIV: return PRODUCT;
    case EXPR_NEG: return UNARY;
    case EXPR_SELECT: return CONDITIONAL;
    default: return expr_is_truth(op) ? UNARY : PRIMARY;
    }
}

/* The operation of node i itself, whether or not it has a temporary. */
static void operation_text(emitter *e, uint32_t i, int strength)
{
    const plan_node *node = &e->plan.nodes[i];
    int own = strength_of(node->op);
    if (own < strength) emit_put(e->text, "(");
    if (expr_is_truth(node->op)) { /* an int in C, which divides and negates differently */
        bool named = e->named[i];
        e->named[i] = false;
        emit_put(e->text, "(double)");
        condition_text(e, i, PRIMARY);
        e->named[i] = named;
    } else if (own == SUM || own == PRODUCT) {
        binary_text(e, node, own);
    } else if (node->op == EXPR_NEG) {
        emit_put(e->text, "-");
        number_text(e, node->operand[0], PRIMARY);
    } else if (node->op == EXPR_SELECT) {
        condition_text(e, node->operand[0], CONDITIONAL + 1);
        operator_text(e, "?");
        number_text(e, node->operand[1], CONDITIONAL + 1);
        operator_text(e, ":");
        number_text(e, node->operand[2], CONDITIONAL);
    } else if (node->op == EXPR_SIGNAL) {
        emit_append(e->text, "model_input(%d, %d, ", node->index, node->order);
        number_text(e, node->operand[0], STATEMENT);
        emit_put(e->text, ", ");
        number_text(e, node->operand[1], STATEMENT);
        emit_put(e->text, ")");
    } else {
        call_text(e, node);
    }
    if (own < strength) emit_put(e->text, ")");
}

/* Node i as a double, in parentheses if it binds less than `strength`. */
static void number_text(emitter *e, uint32_t i, int strength)
{
    if (plan_is_leaf(&e->plan.nodes[i]))
        leaf_text(e, &e->plan.nodes[i], strength);
    else if (e->named[i])
        temporary_text(e, i);
    else
        operation_text(e, i, strength);
}

/* ---- statements and functions ---------------------------------------------------------------- */

/* Both temporaries of a pair. */
static void pair_statement(emitter *e, uint32_t i)
{
    const plan_node *node = &e->plan.nodes[i];
    uint32_t sine = node->op == EXPR_SIN ? i : node->pair;
    uint32_t cosine = node->op == EXPR_SIN ? node->pair : i;
    const uint32_t both[2] = {sine, cosine};
    for (int k = 0; k < 2; k++) {
        if (is_shared(e, both[k])) continue;
        emit_put(e->text, "    double ");
        temporary_text(e, both[k]);
        emit_put(e->text, ";\n");
    }
    emit_put(e->text, "    sincos(");
    number_text(e, node->operand[0], CONDITIONAL);
    emit_put(e->text, ", &");
    temporary_text(e, sine);
    emit_put(e->text, ", &");
    temporary_text(e, cosine);
    emit_put(e->text, ");\n");
}

/* s<i> = {what it starts with}; loop_<body>(s<i>); then a temporary for each result */
static void loop_statement(emitter *e, uint32_t i)
{
    const plan_node *list = &e->plan.nodes[e->plan.nodes[i].operand[0]];
    emit_append(e->text, "    double s%u[] = {", (unsigned)i);
    for (;; list = &e->plan.nodes[list->operand[1]]) {
        number_text(e, list->operand[0], CONDITIONAL);
        if (e->plan.nodes[list->operand[1]].op != EXPR_LIST) break;
        emit_put(e->text, e->text->length - e->text->line > MARGIN ? ",\n        " : ", ");
    }
    emit_append(e->text, "};\n    loop_%d(s%u);\n", (int)e->plan.nodes[i].index + 1, (unsigned)i);
    for (uint32_t r = e->result[i]; r != PLAN_NONE; r = e->result[r]) {
        emit_put(e->text, is_shared(e, r) ? "    " : "    const double ");
        temporary_text(e, r);
        emit_append(e->text, " = s%u[%d];\n", (unsigned)i, (int)e->plan.nodes[r].index);
    }
}

static void temporary_statement(emitter *e, uint32_t i)
{
    if (e->plan.nodes[i].op == EXPR_LOOP) {
        loop_statement(e, i);
        return;
    }
    if (e->plan.nodes[i].pair != PLAN_NONE) {
        pair_statement(e, i);
        return;
    }
    emit_put(e->text, is_shared(e, i) ? "    " : "    const double ");
    temporary_text(e, i);
    emit_put(e->text, " = ");
    operation_text(e, i, STATEMENT);
    emit_put(e->text, ";\n");
}

/* 12 + 3*i0 - i1, over the counters of the family */
static void place_text(emitter *e, const roll_place *p)
{
    emit_append(e->text, "%d", (int)p->base);
    for (int l = 0; l < e->family->levels; l++) {
        const int step = (int)p->step[l];
        if (step == 0) continue;
        emit_put(e->text, step < 0 ? " - " : " + ");
        if (step != 1 && step != -1) emit_append(e->text, "%d*", step < 0 ? -step : step);
        emit_append(e->text, "i%d", l);
    }
}

static void output_statement(emitter *e, uint32_t i, uint32_t output)
{
    const char *const *labels = e->function->labels;
    if (labels && labels[output]) {
        emit_put(e->text, "    /* ");
        emit_comment(e->text, labels[output]);
        emit_put(e->text, " */\n");
    }
    if (e->family) {
        emit_put(e->text, "    out[");
        place_text(e, &e->family->out);
        emit_put(e->text, "] = ");
    } else {
        emit_append(e->text, "    out[%u] = ", (unsigned)output);
    }
    number_text(e, i, STATEMENT);
    emit_put(e->text, ";\n");
}

static void arguments_text(emitter *e, bool part)
{
    emit_put(e->text, "(double time, const double *y, const double *yp, const double *ypp,\n"
                      "        const double *p, const double *m");
    if (part) emit_put(e->text, ", double *restrict t");
    emit_put(e->text, ", double *restrict out)");
}

static void begin_body(emitter *e, bool part)
{
    arguments_text(e, part);
    emit_put(e->text, "\n{\n    (void)time, (void)y, (void)yp, (void)ypp, (void)p, (void)m;\n");
    if (part) emit_put(e->text, "    (void)t;\n");
}

/* Whether parts of the function may stand in other files than it. */
static bool is_scattered(const emitter *e)
{
    return e->text->in_files && !e->local;
}

/* Another file may begin here: what follows needs nothing but the head of the unit. */
static void file_break(emitter *e)
{
    if (is_scattered(e)) emit_put(e->text, "\f");
}

static void part_head(emitter *e, uint32_t part)
{
    emit_append(e->text, "%s void %s_%u", is_scattered(e) ? "SCATTERED" : "PART", e->function->name,
                (unsigned)part + 1);
}

/* Statements from *s as long as they belong to `part`. */
static void part_text(emitter *e, uint32_t part, size_t *s)
{
    for (; *s < e->count && e->statements[*s].part == part; (*s)++) {
        const statement *at = &e->statements[*s];
        if (at->output == PLAN_NONE)
            temporary_statement(e, at->node);
        else
            output_statement(e, at->node, at->output);
    }
}

/* The parts as functions of their own, then the function that calls them in turn. */
static void split_text(emitter *e)
{
    const char *name = e->function->name;
    size_t s = 0;
    for (uint32_t part = 0; part < e->parts; part++) {
        file_break(e);
        part_head(e, part);
        begin_body(e, true);
        part_text(e, part, &s);
        emit_put(e->text, "}\n\n");
    }
    file_break(e);
    for (uint32_t part = 0; is_scattered(e) && part < e->parts; part++) {
        part_head(e, part);
        arguments_text(e, true);
        emit_put(e->text, ";\n");
    }
    emit_append(e->text, "%svoid %s", e->local ? "static " : "", name);
    begin_body(e, false);
    emit_append(e->text, "    %sdouble t[%u]; /* what one part computes for others */\n",
                e->slots > ON_STACK ? "static _Thread_local " : "", (unsigned)e->slots + 1);
    for (uint32_t part = 1; part <= e->parts; part++)
        emit_append(e->text, "    %s_%u(time, y, yp, ypp, p, m, t, out);\n", name, (unsigned)part);
    emit_put(e->text, "}\n");
}

static void function_text(emitter *e)
{
    file_break(e);
    emit_put(e->text, "\n");
    if (e->function->comment) {
        emit_put(e->text, "/* ");
        emit_comment(e->text, e->function->comment);
        emit_put(e->text, " */\n");
    }
    if (e->parts > 1) {
        split_text(e);
        return;
    }
    size_t s = 0;
    emit_append(e->text, "%svoid %s", e->local ? "static " : "", e->function->name);
    begin_body(e, false);
    if (e->count == 0) emit_put(e->text, "    (void)out;\n");
    part_text(e, 0, &s);
    emit_put(e->text, "}\n");
}

static bool allocate(emitter *e, bool **is_output)
{
    size_t n = e->plan.count;
    *is_output = DAE_ARRAY(bool, n);
    e->named = DAE_ARRAY(bool, n);
    e->weight = DAE_ARRAY(uint32_t, n);
    e->number = DAE_ARRAY(uint32_t, n);
    e->part = DAE_ARRAY(uint32_t, n);
    e->last = DAE_ARRAY(uint32_t, n);
    e->result = DAE_ARRAY(uint32_t, n);
    e->statements = DAE_ARRAY(statement, n + e->plan.outputs);
    return *is_output && e->named && e->weight && e->number && e->part && e->last && e->result &&
           e->statements;
}

static void release(emitter *e)
{
    dae_free_all(e->named, e->weight, e->number, e->part, e->last, e->result, e->statements);
    plan_free(&e->plan);
}

static void family_text(emitter *e);

static bool emit_one(emitter *e, const graph *g)
{
    bool *is_output = NULL;
    bool ok = plan_new(&e->plan, g, e->function->e, e->function->count) && allocate(e, &is_output);
    if (ok) {
        for (size_t k = 0; k < e->plan.outputs; k++) is_output[e->plan.output[k]] = true;
        link_results(e);
        choose_temporaries(e, is_output);
        list_statements(e);
        divide_into_parts(e);
        find_readers(e);
        ok = number_temporaries(e);
    }
    if (ok && e->family) family_text(e);
    if (ok && !e->family) function_text(e);
    dae_free(is_output);
    release(e);
    return ok;
}

/* ---- loops over families --------------------------------------------------------------------- */

static const char indices[ROLL_LEVELS][3] = {"i0", "i1", "i2", "i3", "i4"};

/* const double x<k> = what the slot reads in the pass at hand */
static void slot_text(emitter *e, size_t k)
{
    static const char *const array[] = {"y", "yp", "ypp"};
    const roll_slot *s = &e->family->slot[k];
    if (s->op == EXPR_VARIABLE && s->order > 2) e->text->unsupported = true;
    if (s->op == EXPR_CONSTANT) {
        emit_append(e->text, "    const double x%zu = (double)(", k);
        place_text(e, &s->place);
        emit_put(e->text, ");\n");
        return;
    }
    const char *from = s->op == EXPR_VARIABLE    ? array[s->order > 2 ? 2 : s->order]
                       : s->op == EXPR_PARAMETER ? "p"
                       : s->op == EXPR_MEMORY    ? "m"
                                                 : "s";
    emit_append(e->text, "    const double x%zu = %s[", k, from);
    place_text(e, &s->place);
    emit_put(e->text, "];\n");
}

/* The function that runs all passes of a family, its plan being that of the body. */
static void family_text(emitter *e)
{
    const roll_family *f = e->family;
    size_t at = 0;
    emit_put(e->text, "\n");
    if (e->function->comment) {
        emit_put(e->text, "/* ");
        emit_comment(e->text, e->function->comment);
        emit_append(e->text, ", and %zu like it */\n", f->passes - 1);
    }
    emit_append(e->text,
                "PART void %s(double time, const double *y, const double *yp, const double *ypp,\n"
                "        const double *p, const double *m, const double *s, "
                "double *restrict out)\n"
                "{\n    (void)time, (void)y, (void)yp, (void)ypp, (void)p, (void)m, (void)s;\n",
                e->function->name);
    for (int l = 0; l < f->levels; l++)
        emit_append(e->text, "    for (int %s = 0; %s < %zu; %s++)%s\n", indices[l], indices[l],
                    f->count[l], indices[l], l + 1 < f->levels ? "" : " {");
    for (size_t k = 0; k < f->slots; k++) slot_text(e, k);
    part_text(e, 0, &at);
    emit_put(e->text, "    }\n}\n");
}

/* Outputs of the rest to where they belong, stretch by stretch. */
static void copies_text(emit_text *t, const roll *r)
{
    for (size_t k = 0, n; k < r->outputs; k += n) {
        for (n = 1; k + n < r->outputs && r->output[k + n] == r->output[k] + n;) n++;
        if (n == 1)
            emit_append(t, "    out[%u] = s[%zu];\n", (unsigned)r->output[k], k);
        else
            emit_append(t, "    for (int k = 0; k < %zu; k++) out[%u + k] = s[%zu + k];\n", n,
                        (unsigned)r->output[k], k);
    }
}

/* Functions for the bodies of families; names as calls_text() has them. */
static bool families_text(emitter *e, const roll *r)
{
    char name[128];
    bool ok = true;
    const char *const *labels = e->function->labels;
    for (size_t k = 0; ok && k < r->family_count; k++) {
        const roll_family *f = &r->families[k];
        snprintf(name, sizeof name, "%.100s_loop_%zu", e->function->name, k + 1);
        emit_function body = {.name = name,
                              .comment = labels ? labels[f->out.base] : NULL,
                              .e = &f->body,
                              .count = 1};
        emitter one = {.text = e->text, .function = &body, .local = true, .family = f};
        ok = emit_one(&one, r->graph);
    }
    return ok;
}

/* The function itself: the rest, then the loops. */
static void calls_text(emitter *e, const roll *r)
{
    const char *name = e->function->name;
    emit_put(e->text, "\n");
    if (e->function->comment) {
        emit_put(e->text, "/* ");
        emit_comment(e->text, e->function->comment);
        emit_put(e->text, " */\n");
    }
    emit_append(e->text, "%svoid %s", e->local ? "static " : "", name);
    begin_body(e, false);
    emit_append(e->text, "    %sdouble s[%zu]; /* outputs in no loop, and what loops share */\n",
                r->rest_count >= ON_STACK ? "static _Thread_local " : "", r->rest_count + 1);
    if (r->rest_count > 0) emit_append(e->text, "    %s_rest(time, y, yp, ypp, p, m, s);\n", name);
    copies_text(e->text, r);
    for (size_t k = 0; k < r->family_count; k++)
        emit_append(e->text, "    %s_loop_%zu(time, y, yp, ypp, p, m, s, out);\n", name, k + 1);
    emit_put(e->text, "}\n");
}

/* Outputs in no family, and what families share, as a function of their own. */
static bool rest_text(emitter *e, const graph *g, const roll *r)
{
    char name[128];
    const char *const *labels = e->function->labels;
    const char **own = labels ? DAE_ARRAY(const char *, r->rest_count) : NULL;
    if (labels && !own) return false;
    for (size_t k = 0; labels && k < r->outputs; k++) own[k] = labels[r->output[k]];
    snprintf(name, sizeof name, "%.100s_rest", e->function->name);
    emit_function rest = {.name = name, .e = r->rest, .count = r->rest_count, .labels = own};
    emitter one = {.text = e->text, .function = &rest, .local = e->local || !e->text->in_files};
    bool ok = emit_one(&one, g);
    dae_free((void *)own);
    file_break(e);
    if (ok && !one.local) {
        emit_append(e->text, "void %s", name);
        arguments_text(e, false);
        emit_put(e->text, ";\n");
    }
    return ok;
}

/* A function whose outputs have families. */
static bool emit_rolled(emitter *e, const graph *g, const roll *r)
{
    bool ok = r->rest_count == 0 || rest_text(e, g, r);
    if (r->rest_count == 0) file_break(e);
    ok = ok && families_text(e, r);
    if (ok) calls_text(e, r);
    return ok;
}

/* ---- the unit -------------------------------------------------------------------------------- */

static const char head[] =
    "/* C11. Compile with -ffp-contract=off for the same roundings everywhere. Arguments: the "
    "time,\n"
    " * variables y with their first and second derivatives yp and ypp, parameters p, memory m. "
    "*/\n"
    "#include <math.h>\n\n"
    "#ifdef __clang__\n"
    "#pragma STDC FP_CONTRACT OFF\n"
    "#endif\n"
    "#if defined __GNUC__ && !defined __clang__ && __GNUC__ >= 8\n"
    "#define APART noinline, noipa /* what GCC 12 concludes from a loop may be that it writes "
    "nothing */\n"
    "#elif defined __GNUC__\n"
    "#define APART noinline /* inlined, parts would not be parts */\n"
    "#endif\n"
    "#ifdef __GNUC__\n"
    "#define PART static __attribute__((APART))\n"
    "#define SCATTERED __attribute__((APART, visibility(\"hidden\"))) /* in any file */\n"
    "#else\n"
    "#define PART static\n"
    "#define SCATTERED\n"
    "#endif\n";

static const struct {
    expr_op op;
    const char *text;
} helpers[] = {
    {EXPR_SIGN, "\nstatic inline double sign(double a)\n{\n"
                "    return (a > 0.0) - (a < 0.0);\n}\n"},
    {EXPR_MIN, "\nstatic inline double minimum(double a, double b)\n{\n"
               "    return a < b || a != a ? a : b;\n}\n"},
    {EXPR_MAX, "\nstatic inline double maximum(double a, double b)\n{\n"
               "    return b < a || a != a ? a : b;\n}\n"},
    {EXPR_SIGNAL,
     "\n/* Inputs of the model, given by the program around it: the order-th derivative; from\n"
     " * `jump` on what it would be without the jump there. */\n"
     "double model_input(int number, int order, double time, double jump);\n"},
    {EXPR_SIN, "\n/* sin a and cos a in one call */\n"
               "#ifdef __GLIBC__\n"
               "void sincos(double a, double *s, double *c);\n"
               "#else\n"
               "static inline void sincos(double a, double *s, double *c)\n{\n"
               "    *s = sin(a);\n    *c = cos(a);\n}\n"
               "#endif\n"},
};

typedef struct legend {
    emit_text *text;
    print_name name;
    void *context;
} legend;

/* "yp[3]  der(x)" for one leaf, if it has a name */
static void legend_line(void *context, const expr_node *node)
{
    const legend *l = context;
    static const char *const array[] = {"y", "yp", "ypp"};
    if (node->op == EXPR_CONSTANT || node->op == EXPR_TIME) return;
    const char *name = l->name(l->context, node);
    if (!name) return;
    const char *from = node->op == EXPR_PARAMETER ? "p"
                       : node->op == EXPR_MEMORY  ? "m"
                                                  : array[node->order > 2 ? 2 : node->order];
    int order = node->op == EXPR_VARIABLE ? node->order : 0;
    emit_append(l->text, " *   %s[%d]  ", from, node->index);
    for (int k = 0; k < order; k++) emit_put(l->text, "der(");
    emit_comment(l->text, name);
    for (int k = 0; k < order; k++) emit_put(l->text, ")");
    emit_put(l->text, "\n");
}

/* All expressions of all functions in one list. */
static expr *gather(const emit_function *functions, size_t count, size_t *total)
{
    *total = 0;
    for (size_t i = 0; i < count; i++) *total += functions[i].count;
    expr *all = DAE_ARRAY(expr, *total), *to = all;
    for (size_t i = 0; all && i < count; i++)
        for (size_t k = 0; k < functions[i].count; k++) *to++ = functions[i].e[k];
    return all;
}

/* What a unit needs beside its functions: by operation, and by body of a loop. */
typedef struct needs {
    bool operation[EXPR_ALL_COUNT];
    bool *loop; /* owned */
} needs;

static void note_needs(needs *n, const plan *p)
{
    for (size_t i = 0; i < p->count; i++) {
        int op = p->nodes[i].op;
        if (op == EXPR_LOOP) n->loop[p->nodes[i].index] = true;
        if ((op != EXPR_SIN && op != EXPR_COS) || p->nodes[i].pair != PLAN_NONE)
            n->operation[op] = true;
    }
}

/* The function that does one pass and the one that repeats it. */
static bool loop_function(emit_text *t, const graph *g, int index, const expr *e,
                          const uint32_t *cell, size_t count)
{
    char name[48], comment[96];
    snprintf(name, sizeof name, "pass_%d", index + 1);
    snprintf(comment, sizeof comment, "One pass of loop %d: its condition, then its new values.",
             index + 1);
    emit_function pass = {.name = name, .comment = comment, .e = e, .count = count};
    emitter one = {.text = t, .function = &pass, .local = true};
    if (!emit_one(&one, g)) return false;
    emit_append(t,
                "\nstatic void loop_%d(double *s)\n{\n    double next[%zu];\n    for (;;) {\n"
                "        pass_%d(0.0, s, s, s, s, s, next);\n"
                "        if (next[0] == 0.0) return;\n",
                index + 1, count, index + 1);
    for (size_t k = 1; k < count; k++)
        emit_append(t, "        s[%u] = next[%zu];\n", (unsigned)cell[k - 1], k);
    emit_put(t, "    }\n}\n");
    return true;
}

/* Call `visit` with the outputs of a needed body. */
typedef bool (*body_visit)(void *context, int index, const expr *e, const uint32_t *cell,
                           size_t count);
static bool visit_body(const graph *g, int index, body_visit visit, void *context)
{
    const graph_loop *l = graph_loop_at(g, index);
    expr *e = DAE_ARRAY(expr, l->cells + 1);
    uint32_t *cell = DAE_ARRAY(uint32_t, l->cells);
    bool ok = e && cell && visit(context, index, e, cell, loop_outputs(g, index, e, cell) + 1);
    dae_free_all(e, cell);
    return ok;
}

typedef struct unit {
    emit_text *text;
    const graph *graph;
    needs needs;
} unit;

/* What expressions of a graph need. */
static bool note_expressions(needs *n, const graph *g, const expr *e, size_t count)
{
    plan p;
    if (!plan_new(&p, g, e, count)) return false;
    note_needs(n, &p);
    plan_free(&p);
    return true;
}

static bool note_body(void *context, int index, const expr *e, const uint32_t *cell, size_t count)
{
    unit *u = context;
    (void)index, (void)cell;
    return note_expressions(&u->needs, u->graph, e, count);
}

static bool write_body(void *context, int index, const expr *e, const uint32_t *cell, size_t count)
{
    unit *u = context;
    return loop_function(u->text, u->graph, index, e, cell, count);
}

/* Helpers that the operations need. */
static void helper_text(emit_text *t, const bool *needed)
{
    for (size_t k = 0; k < sizeof helpers / sizeof *helpers; k++)
        if (needed[helpers[k].op]) emit_put(t, helpers[k].text);
}

/* What a function needs, its loops included. */
static bool note_function(needs *n, const graph *g, const emit_function *f, const roll *r)
{
    if (r->family_count == 0) return note_expressions(n, g, f->e, f->count);
    bool ok = note_expressions(n, g, r->rest, r->rest_count);
    for (size_t k = 0; ok && k < r->family_count; k++)
        ok = note_expressions(n, r->graph, &r->families[k].body, 1);
    return ok;
}

/* Helpers and loops of the run that the functions need. Bodies use only earlier ones. */
static bool support_text(emit_text *t, const graph *g, const emit_function *functions,
                         const roll *rolls, size_t count)
{
    size_t loops = graph_loop_count(g);
    unit u = {.text = t, .graph = g, .needs = {.loop = DAE_ARRAY(bool, loops)}};
    bool ok = u.needs.loop != NULL;
    for (size_t k = 0; ok && k < count; k++)
        ok = note_function(&u.needs, g, &functions[k], &rolls[k]);
    for (size_t k = loops; ok && k-- > 0;)
        if (u.needs.loop[k]) ok = visit_body(g, (int)k, note_body, &u);
    if (ok) helper_text(t, u.needs.operation);
    for (size_t k = 0; ok && k < loops; k++)
        if (u.needs.loop[k]) ok = visit_body(g, (int)k, write_body, &u);
    dae_free(u.needs.loop);
    return ok;
}

/* "y[3]  x" for the leaves of all functions. */
static bool legend_text(emit_text *t, const graph *g, const emit_function *functions, size_t count,
                        print_name name, void *context)
{
    size_t total;
    expr *all = gather(functions, count, &total);
    legend l = {t, name, context};
    if (!all) return false;
    emit_put(t, "\n/* Names:\n");
    bool ok = graph_leaves(g, all, total, legend_line, &l);
    emit_put(t, " */\n");
    dae_free(all);
    return ok;
}

void emit_unit(emit_text *t, const graph *g, const emit_function *functions, size_t count,
               print_name name, void *context)
{
    roll *rolls = DAE_ARRAY(roll, count);
    bool ok = rolls;
    for (size_t i = 0; ok && i < count; i++)
        ok = roll_new(&rolls[i], g, functions[i].e, functions[i].count);
    emit_put(t, head);
    if (ok && name) ok = legend_text(t, g, functions, count, name, context);
    ok = ok && support_text(t, g, functions, rolls, count);
    for (size_t i = 0; ok && i < count; i++) {
        emitter e = {.text = t, .function = &functions[i]};
        ok = rolls[i].family_count > 0 ? emit_rolled(&e, g, &rolls[i]) : emit_one(&e, g);
    }
    for (size_t i = 0; rolls && i < count; i++) roll_free(&rolls[i]);
    dae_free(rolls);
    if (!ok) t->failed = true;
}
