/* The expression graph: hash-consed, folded, shared.
 *
 * An expression is an index into the graph's node table; equal expressions have equal indices, and
 * an operand's index is smaller than its parent's, so that a table scan is a topological order.
 * Building never fails loudly: when memory runs out the graph remembers it (graph_failed) and every
 * later builder returns EXPR_NONE. Booleans are the numbers 0 and 1; operands of NOT, AND and OR
 * are booleans.
 *
 * Folding never changes a value's domain: 0*x stays unless x is known finite, x/x stays, sqrt(x)^2
 * stays, x - x stays unless x is known finite (a leaf's value is finite by contract), and no
 * constant NaN or Inf is made of finite ones. The sign of zero is not kept. All rules:
 * docs/expressions.md. */
#ifndef DAE_EXPR_GRAPH_H
#define DAE_EXPR_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint32_t expr;
enum { EXPR_NONE = 0 };

/* The operations on numbers: name, number of operands, notation, and the value from A, B and C,
 * where MATH(f) is the C library's f for the type at hand. Folding and every engine compute just
 * this, bit by bit: one operation or one call each; relations are C's, false for NaN but NE; NaN
 * passes through min and max. a > b is b < a, and a >= b is b <= a; SELECT is B if the condition A
 * is not 0, else C: the other branch's value never matters. */
#define EXPR_OPERATIONS(X)                                                                         \
    X(NEG, 1, "-", -A)                                                                             \
    X(NOT, 1, "not", A == 0)                                                                       \
    X(ABS, 1, "abs", MATH(fabs)(A))                                                                \
    X(SIGN, 1, "sign", (A > 0) - (A < 0))                                                          \
    X(SQRT, 1, "sqrt", MATH(sqrt)(A))                                                              \
    X(EXP, 1, "exp", MATH(exp)(A))                                                                 \
    X(LOG, 1, "log", MATH(log)(A))                                                                 \
    X(LOG10, 1, "log10", MATH(log10)(A))                                                           \
    X(SIN, 1, "sin", MATH(sin)(A))                                                                 \
    X(COS, 1, "cos", MATH(cos)(A))                                                                 \
    X(TAN, 1, "tan", MATH(tan)(A))                                                                 \
    X(ASIN, 1, "asin", MATH(asin)(A))                                                              \
    X(ACOS, 1, "acos", MATH(acos)(A))                                                              \
    X(ATAN, 1, "atan", MATH(atan)(A))                                                              \
    X(SINH, 1, "sinh", MATH(sinh)(A))                                                              \
    X(COSH, 1, "cosh", MATH(cosh)(A))                                                              \
    X(TANH, 1, "tanh", MATH(tanh)(A))                                                              \
    X(FLOOR, 1, "floor", MATH(floor)(A))                                                           \
    X(CEIL, 1, "ceil", MATH(ceil)(A))                                                              \
    X(ADD, 2, "+", A + B)                                                                          \
    X(SUB, 2, "-", A - B)                                                                          \
    X(MUL, 2, "*", A *B)                                                                           \
    X(DIV, 2, "/", A / B)                                                                          \
    X(POW, 2, "^", MATH(pow)(A, B))                                                                \
    X(ATAN2, 2, "atan2", MATH(atan2)(A, B))                                                        \
    X(MIN, 2, "min", A < B || A != A ? A : B)                                                      \
    X(MAX, 2, "max", B < A || A != A ? A : B)                                                      \
    X(LT, 2, "<", A < B)                                                                           \
    X(LE, 2, "<=", A <= B)                                                                         \
    X(EQ, 2, "==", A == B)                                                                         \
    X(NE, 2, "<>", A != B)                                                                         \
    X(AND, 2, "and", A != 0 && B != 0)                                                             \
    X(OR, 2, "or", A != 0 || B != 0)                                                               \
    X(SELECT, 3, "if", A != 0 ? B : C)

typedef enum expr_op {
    /* leaves */
    EXPR_CONSTANT,  /* value */
    EXPR_TIME,      /* the independent variable */
    EXPR_VARIABLE,  /* index, order: the order-th time derivative of variable `index` */
    EXPR_PARAMETER, /* index: fixed during a run */
    EXPR_MEMORY,    /* index: fixed between events: discrete variables, pre values, relations */
#define EXPR_ENUMERATE(name, operands, notation, value) EXPR_##name,
    EXPR_OPERATIONS(EXPR_ENUMERATE)
#undef EXPR_ENUMERATE
        EXPR_OP_COUNT, /* of operations on numbers */
    /* loops (expr/loop.h); LIST and LOOP are not numbers */
    EXPR_CELL = EXPR_OP_COUNT, /* a leaf; index: a variable of a loop, only inside its body */
    EXPR_LIST,                 /* a, then the list b; ended by the constant 0 */
    EXPR_LOOP,   /* index: the loop's body; a: list of the values its cells start with */
    EXPR_RESULT, /* index: a cell; its value when loop a has ended */
    EXPR_SIGNAL, /* index, order: the order-th derivative of a function from outside of a, time; b:
                    the first jump of it that is still ahead */
    EXPR_ALL_COUNT
} expr_op;

/* Whether an operation gives a boolean. */
static inline bool expr_is_truth(unsigned op)
{
    return op == EXPR_NOT || (op >= EXPR_LT && op <= EXPR_OR);
}

/* Whether its values jump, and do not move between jumps. */
static inline bool expr_is_step(unsigned op)
{
    return expr_is_truth(op) || op == EXPR_SIGN || op == EXPR_FLOOR || op == EXPR_CEIL;
}

/* 16 bytes, as a large model has a million of them: what never occurs together shares its place.
 * Who reads b, c, index or value looks at the operation or the arity first. */
typedef struct expr_node {
    uint8_t op;     /* expr_op */
    uint8_t order;  /* of a VARIABLE */
    uint8_t finite; /* 1: the value is finite whatever the leaves are */
    uint8_t arity;  /* number of operands */
    expr a;         /* operands; EXPR_NONE where absent; SELECT: condition, then, else */
    union {
        struct {
            expr b;
            union {
                expr c;
                int32_t index; /* of a VARIABLE, PARAMETER, MEMORY, CELL, LOOP or RESULT */
            };
        };
        double value; /* of a CONSTANT */
    };
} expr_node; /* a SIGNAL has index and order, too */

/* Operand k of a node of the graph; EXPR_NONE: it has fewer. */
static inline expr expr_operand(const expr_node *n, int k)
{
    return k >= n->arity ? EXPR_NONE : k == 0 ? n->a : k == 1 ? n->b : n->c;
}

typedef struct graph graph;

graph *graph_new(void); /* NULL: out of memory */
void graph_free(graph *g);
bool graph_failed(const graph *g); /* memory or the limit ran out since graph_new */
/* Forget the failure: every node there is is sound. For builders that share a graph. */
void graph_recover(graph *g);
/* Release memory that is kept for walks and for nodes to come; a large table of nodes is made anew
 * with the next node. Where threads share the graph, between graph_enter() and graph_leave(). */
void graph_tidy(graph *g);
/* The same if the table is large, else nothing: before something else that needs much memory. */
void graph_make_room(graph *g);
/* One graph may be shared by threads: whoever adds nodes, or reads while others may add some, does
 * so between these. They nest. */
void graph_enter(graph *g);
void graph_leave(graph *g);
/* At most this many nodes from now on (0: as many as indices allow); beyond it building fails. */
void graph_set_limit(graph *g, size_t nodes);
size_t graph_limit(const graph *g);
size_t graph_size(const graph *g); /* number of nodes; valid expressions are 1 .. size-1 */

/* Nodes live in blocks that never move. */
enum { GRAPH_BLOCK_BITS = 10, GRAPH_BLOCK = 1 << GRAPH_BLOCK_BITS };

/* What a graph begins with. */
typedef struct graph_nodes {
    expr_node **blocks; /* owned, each of GRAPH_BLOCK nodes */
} graph_nodes;

/* The pointer stays valid until graph_free, also while nodes are added. */
static inline const expr_node *graph_node(const graph *g, expr e)
{
    const graph_nodes *nodes = (const void *)g;
    return &nodes->blocks[e >> GRAPH_BLOCK_BITS][e & (GRAPH_BLOCK - 1)];
}

int graph_arity(expr_op op);           /* number of operands */
const char *graph_op_name(expr_op op); /* "sin", "+", .. */

expr graph_constant(graph *g, double value);
expr graph_time(graph *g);
expr graph_variable(graph *g, int index, int order); /* order <= 255, else EXPR_NONE */
expr graph_parameter(graph *g, int index);
expr graph_memory(graph *g, int index);
/* Simplifying constructors for any operator of that arity. */
expr graph_unary(graph *g, expr_op op, expr a);
expr graph_binary(graph *g, expr_op op, expr a, expr b);
expr graph_select(graph *g, expr condition, expr a, expr b);
/* Any operator but those of loops; operands beyond its arity are not looked at. */
expr graph_build(graph *g, expr_op op, expr a, expr b, expr c);

/* A function of time from outside. It may be asked at any time, by several threads at once. */
typedef struct graph_signal {
    /* *value = its order-th derivative; at times from `jump` on what it would be without that jump.
     * Not 0: there is none. */
    int (*value)(double time, int order, double jump, double *value, void *user);
    void *user;
    int orders;       /* derivatives that it has */
    const char *name; /* borrowed */
} graph_signal;

int graph_add_signal(graph *g, const graph_signal *s); /* its number; -1: memory */
const graph_signal *graph_signal_at(const graph *g, int index);
expr graph_signal_node(graph *g, int index, int order, expr time, expr jump);
/* NAN where it has no value. */
double graph_signal_value(const graph_signal *s, int order, double time, double jump);
/* A signal of which the expressions need a higher derivative than it has, and the highest one;
 * NULL: there is none. *failed: memory. */
const graph_signal *graph_signal_lacking(const graph *g, const expr *e, size_t count, int *order,
                                         bool *failed);

/* The value of one operation in double. */
double graph_apply(expr_op op, double a, double b, double c);

bool graph_is_constant(const graph *g, expr e, double *value); /* value may be NULL */
static inline bool graph_is_number(const graph *g, expr e, double value)
{
    return e != EXPR_NONE && graph_node(g, e)->op == EXPR_CONSTANT &&
           graph_node(g, e)->value == value;
}

/* e with leaves replaced: `leaf` maps a leaf node to its replacement (itself to keep it). Shared
 * nodes are mapped once; cost is the number of distinct nodes reached. */
typedef expr (*graph_leaf_map)(void *context, graph *g, expr leaf);
expr graph_substitute(graph *g, expr e, graph_leaf_map leaf, void *context);

/* Visit the distinct leaves of `count` expressions in increasing node order. Returns false if out
 * of memory. */
typedef void (*graph_leaf_visit)(void *context, const expr_node *leaf);
bool graph_leaves(const graph *g, const expr *e, size_t count, graph_leaf_visit visit,
                  void *context);

/* *found: some leaf of the expressions is of a kind 1u << op among `kinds`. False: out of memory.
 */
bool graph_reads(const graph *g, const expr *e, size_t count, unsigned kinds, bool *found);
enum {
    READS_VARIABLES = 1 << EXPR_VARIABLE,
    READS_MOTION = READS_VARIABLES | 1 << EXPR_TIME,
    READS_RUN = READS_MOTION | 1 << EXPR_MEMORY /* anything but constants and parameters */
};

/* Value of e given leaf values; NAN if it depends on a leaf that is unknown (reader returned NAN);
 * the branch not taken, and operands after a deciding one of AND and OR, do not matter. For
 * compile-time evaluation and diagnostics, not for the step loop; nothing in g changes, so that
 * threads may share it. */
typedef double (*graph_leaf_value)(void *context, const expr_node *leaf);
double graph_value(const graph *g, expr e, graph_leaf_value leaf, void *context);
/* out[k] = the value of e[k], all of them in one walk: what they share is computed once. False:
 * memory. */
bool graph_values(const graph *g, const expr *e, size_t count, graph_leaf_value leaf, void *context,
                  double *out);
/* Whether there is the memory that the value of any expression may take: NAN of graph_value may
 * be for lack of it. */
bool graph_has_memory(const graph *g);

#endif
