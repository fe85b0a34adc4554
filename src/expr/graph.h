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

typedef enum expr_op {
    /* leaves */
    EXPR_CONSTANT,  /* value */
    EXPR_TIME,      /* the independent variable */
    EXPR_VARIABLE,  /* index, order: the order-th time derivative of variable `index` */
    EXPR_PARAMETER, /* index: fixed during a run */
    EXPR_MEMORY,    /* index: fixed between events: discrete variables, pre values, relations */
    /* one operand */
    EXPR_NEG,
    EXPR_NOT,
    EXPR_ABS,
    EXPR_SIGN,
    EXPR_SQRT,
    EXPR_EXP,
    EXPR_LOG,
    EXPR_LOG10,
    EXPR_SIN,
    EXPR_COS,
    EXPR_TAN,
    EXPR_ASIN,
    EXPR_ACOS,
    EXPR_ATAN,
    EXPR_SINH,
    EXPR_COSH,
    EXPR_TANH,
    EXPR_FLOOR,
    EXPR_CEIL,
    /* two operands */
    EXPR_ADD,
    EXPR_SUB,
    EXPR_MUL,
    EXPR_DIV,
    EXPR_POW,
    EXPR_ATAN2,
    EXPR_MIN,
    EXPR_MAX,
    EXPR_LT,
    EXPR_LE,
    EXPR_EQ,
    EXPR_NE,
    EXPR_AND,
    EXPR_OR, /* a > b is b < a, a >= b is b <= a */
    /* three operands */
    EXPR_SELECT,   /* a if condition is not 0, else b: the other branch's value never matters */
    EXPR_OP_COUNT, /* of operations on numbers */
    /* loops (expr/loop.h); LIST and LOOP are not numbers */
    EXPR_CELL = EXPR_OP_COUNT, /* a leaf; index: a variable of a loop, only inside its body */
    EXPR_LIST,                 /* a, then the list b; ended by the constant 0 */
    EXPR_LOOP,   /* index: the loop's body; a: list of the values its cells start with */
    EXPR_RESULT, /* index: a cell; its value when loop a has ended */
    EXPR_ALL_COUNT
} expr_op;

typedef struct expr_node {
    uint8_t op;     /* expr_op */
    uint8_t order;  /* of a VARIABLE */
    uint8_t finite; /* 1: the value is finite whatever the leaves are */
    uint8_t arity;  /* number of operands */
    int32_t index;  /* of a VARIABLE, PARAMETER, MEMORY, CELL, LOOP or RESULT */
    expr a, b, c;   /* operands; EXPR_NONE where absent; SELECT: condition, then, else */
    double value;   /* of a CONSTANT */
} expr_node;

typedef struct graph graph;

graph *graph_new(void); /* NULL: out of memory */
void graph_free(graph *g);
bool graph_failed(const graph *g); /* memory or the limit ran out since graph_new */
/* Forget the failure: every node there is is sound. For builders that share a graph. */
void graph_recover(graph *g);
/* Release memory that is kept for walks to come. */
void graph_tidy(graph *g);
/* One graph may be shared by threads: whoever adds nodes, or reads while others may add some, does
 * so between these. They nest. */
void graph_enter(graph *g);
void graph_leave(graph *g);
/* At most this many nodes from now on (0: as many as indices allow); beyond it building fails. */
void graph_set_limit(graph *g, size_t nodes);
size_t graph_limit(const graph *g);
size_t graph_size(const graph *g); /* number of nodes; valid expressions are 1 .. size-1 */

/* Nodes live in blocks that never move. */
enum { GRAPH_BLOCK_BITS = 12, GRAPH_BLOCK = 1 << GRAPH_BLOCK_BITS };

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

/* The value of one operation in double: what folding uses and what every engine must reproduce bit
 * by bit. One C operation or libm function each, and
 *   SIGN  (a > 0) - (a < 0)           MIN  a < b || a != a ? a : b   (NaN passes through)
 *   NOT   a == 0                      MAX  b < a || a != a ? a : b
 *   AND   a != 0 && b != 0            OR   a != 0 || b != 0
 *   SELECT a != 0 ? b : c             relations as in C: false for NaN, but NE true */
double graph_apply(expr_op op, double a, double b, double c);

bool graph_is_constant(const graph *g, expr e, double *value); /* value may be NULL */

/* e with leaves replaced: `leaf` maps a leaf node to its replacement (itself to keep it). Shared
 * nodes are mapped once; cost is the number of distinct nodes reached. */
typedef expr (*graph_leaf_map)(void *context, graph *g, expr leaf);
expr graph_substitute(graph *g, expr e, graph_leaf_map leaf, void *context);

/* Visit the distinct leaves of `count` expressions in increasing node order. Returns false if out
 * of memory. */
typedef void (*graph_leaf_visit)(void *context, expr leaf);
bool graph_leaves(const graph *g, const expr *e, size_t count, graph_leaf_visit visit,
                  void *context);

/* Value of e given leaf values; NAN if it depends on a leaf that is unknown (reader returned NAN);
 * the branch not taken, and operands after a deciding one of AND and OR, do not matter. For
 * compile-time evaluation and diagnostics, not for the step loop; nothing in g changes, so that
 * threads may share it. */
typedef double (*graph_leaf_value)(void *context, const expr_node *leaf);
double graph_value(const graph *g, expr e, graph_leaf_value leaf, void *context);
/* Whether there is the memory that the value of any expression may take: NAN of graph_value may
 * be for lack of it. */
bool graph_has_memory(const graph *g);

#endif
