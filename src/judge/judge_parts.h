/* What the files of the judge share. */
#ifndef DAE_JUDGE_JUDGE_PARTS_H
#define DAE_JUDGE_JUDGE_PARTS_H

#include <math.h>
#include <setjmp.h>

#include "base/arena.h"
#include "base/memory.h"
#include "judge/judge.h"
#include "modelica/syntax/ast.h"

enum { MOST_DIMS = 8, MOST_CALLS = 200, MOST_PASSES = 1000000, MODEL_SLOTS = 64 };

/* ---- values ---- */

/* A scalar. Cells of variables of the model know their index; cells of functions that nothing was
 * assigned to have a negative spread. */
typedef struct cell {
    double v;
    union {
        double size;      /* sum of the magnitudes of the terms */
        const char *text; /* of a String */
        const void *object;
    };
    double spread;
    int index; /* 1 + index of the variable; 0: none */
} cell;

typedef enum base_type {
    BASE_REAL = JUDGE_REAL,
    BASE_INTEGER = JUDGE_INTEGER,
    BASE_BOOLEAN = JUDGE_BOOLEAN,
    BASE_ENUMERATION = JUDGE_ENUMERATION,
    BASE_STRING = JUDGE_STRING,
    BASE_RECORD,
    BASE_FUNCTION
} base_type;

typedef struct jtype jtype;

typedef struct shape {
    int ndims;
    int dims[MOST_DIMS]; /* -1: open, deduced from a value */
} shape;

typedef struct type_field {
    const char *name;
    const jtype *type;
    shape shape;
    int offset; /* in cells */
    const ast_component *declared;
} type_field;

struct jtype {
    base_type base;
    const char *name;
    const ast_class *of; /* records, enumerations */
    int cells;           /* of one element */
    bool texts;          /* Strings are in it */
    bool open;           /* a record with fields whose size comes from a value */
    type_field *fields;
    int field_count;
    const char *const *literals;
    int literal_count;
};

/* An array of elements, row-major; records contain their fields one after the other. */
typedef struct value {
    const jtype *type;
    shape shape;
    cell *cells;
} value;

/* Some of the cells of a variable: all from `base` on, or those that `cells` points to. */
typedef struct selection {
    const jtype *type;
    shape shape;
    cell *base;
    cell **cells; /* NULL: one after the other */
} selection;

/* ---- nodes: the tree with its names resolved ---- */

typedef enum node_kind {
    NODE_CONSTANT,
    NODE_TIME,
    NODE_COMPONENT, /* a component of the model, with steps */
    NODE_LOCAL,     /* a slot of the frame, with steps */
    NODE_CHAIN,     /* kids[0] ops[0] kids[1] ops[1] ..: a left spine of binary operators */
    NODE_UNARY,
    NODE_IF,
    NODE_RANGE,
    NODE_ARRAY,
    NODE_MATRIX, /* kids are rows, NODE_ROW */
    NODE_ROW,
    NODE_COMPREHENSION, /* kids[0]: the expression, then the ranges; slots of the iterators */
    NODE_TUPLE,
    NODE_COLON,
    NODE_END,
    NODE_STEPS, /* kids[0] with steps: (a)[i], f(x).b */
    NODE_CALL,  /* of a function of the text */
    NODE_BUILTIN,
    NODE_CLOSURE, /* a function as a value */
    NODE_GAP      /* what the judge does not know */
} node_kind;

typedef struct node node;
typedef struct component component;
typedef struct jfunction jfunction;
typedef struct machine machine;
typedef value (*builtin_function)(machine *m, const node *n);

typedef struct step {
    const char *field; /* NULL: subscripts of the base itself */
    node **subscripts;
    int count;
} step;

struct node {
    node_kind kind;
    int line;
    ast_op op;   /* UNARY */
    ast_op *ops; /* CHAIN */
    node **kids;
    int kid_count;
    value constant;
    component *component;
    int slot;
    int *slots; /* COMPREHENSION */
    int slot_count;
    step *steps;
    int step_count;
    jfunction *function;
    int *inputs;   /* CALL: kids[k] is for this input; CLOSURE: likewise */
    int call_slot; /* CALL of a function that is itself an input: its slot, else -1 */
    builtin_function builtin;
    const char *name; /* BUILTIN, GAP, reduction of a COMPREHENSION */
    bool harmless;
    int stamp, count; /* how often it was met in this evaluation */
};

/* ---- items: equations and statements ---- */

typedef struct jitem jitem;
typedef struct jbranch {
    node *condition; /* NULL: else */
    jitem **items;
    int item_count;
    int line;
    const ast_expr *source;
    int stamp, count; /* how often its condition was met in this evaluation */
} jbranch;

struct jitem {
    ast_item_kind kind;
    int line;
    const ast_item *source;
    node *left, *right;
    node **arguments; /* CALL: of assert, reinit, terminate */
    int argument_count;
    jbranch *branches;
    int branch_count;
    int *slots; /* FOR */
    node **ranges;
    int slot_count;
    int stamp, count;
};

/* ---- declarations ---- */

/* A value of some cells by a declaration. */
typedef struct binding {
    struct binding *next;
    node *target; /* the component, with steps */
    node *value;
    bool each;
    int line;
} binding;

typedef struct attribute {
    struct attribute *next;
    const char *name;
    node *target, *value;
    bool each;
    int line;
} attribute;

typedef enum elaboration { NOT_YET, BUSY, DONE, FAILED } elaboration;

struct component {
    const char *name;
    const ast_component *declared;
    const struct scope *scope;
    elaboration sizes, values;
    bool removed;   /* its condition is false */
    bool constant_; /* global */
    judge_variability variability;
    const jtype *type;
    shape shape;
    cell *cells;
    cell **whole; /* of elements that are declared one by one */
    int first;    /* index of its first variable */
    binding *bindings;
    attribute *attributes;
    node *definition;  /* of a String variable */
    component **parts; /* of a whole */
    int part_count;
    bool defining, ready;
    bool follows;      /* a parameter whose value comes with the row */
    const char *error; /* why it could not be elaborated */
    component *next;
};

typedef struct local {
    const char *name;
    const ast_component *declared;
    const jtype *type; /* NULL: a function */
    shape shape;
    node **sizes; /* NULL entries: open */
    node *initial;
    bool input, output;
} local;

struct jfunction {
    const ast_class *of;
    const char *name;
    const jtype *constructs; /* a record's constructor */
    const jtype *closed;     /* with the sizes of its last call */
    bool compiled, external;
    int external_line;
    local *locals;
    int local_count; /* declared; slots above are iterators */
    int slots;
    int input_count;
    jitem **items;
    int item_count;
    jfunction *next;
};

typedef struct closure {
    jfunction *function;
    int count;
    int *inputs;
    value *values;
} closure;

/* ---- scopes ---- */

typedef enum scope_kind {
    SCOPE_GLOBAL,
    SCOPE_MODEL,
    SCOPE_FUNCTION,
    SCOPE_ITERATOR,
    SCOPE_INSTANCE
} scope_kind;

typedef struct scope {
    scope_kind kind;
    const struct scope *parent;
    const char *name; /* ITERATOR */
    int slot;
    int next;            /* first free slot of the frame */
    jfunction *function; /* FUNCTION */
    node *prefix;        /* INSTANCE: the record that names are fields of */
    const jtype *type;
} scope;

/* ---- groups ---- */

typedef struct group {
    judge_kind kind;
    int line;
    int first, count; /* rows */
    jitem *item;      /* equation, if, when, assert */
    jitem **items;    /* algorithm */
    int item_count;
    binding *bound;
    bool asserts_only;
    value *passes; /* values of the iterators */
    int pass_count;
    int *targets; /* ALGORITHM: assigned variables */
    cell *saved;
    int target_count, target_capacity;
    bool warning; /* ASSERT: of the level warning */
    bool running; /* the cells of its targets are its own */
} group;

/* ---- hash tables from texts or keys to pointers and numbers ---- */

typedef struct table {
    struct table_entry *entries;
    size_t capacity, count;
} table;
typedef struct table_entry {
    const char *text; /* NULL: empty */
    const void *key;
    int a, b, number;
    void *item;
} table_entry;

/* ---- memory of an evaluation ---- */

typedef struct stack_mark {
    int chunk;
    size_t used;
} stack_mark;
typedef struct stack {
    struct stack_chunk {
        char *memory;
        size_t size;
    } chunks[40];
    stack_mark at;
} stack;

typedef struct frame {
    value *slots;
    int count;
} frame;

/* ---- the judge ---- */

/* What the parts of a machine need of those above them: each is told, so that files do not call
 * each other in circles. */
typedef struct machine_ways {
    value (*eval)(machine *, const node *);
    value (*call)(machine *, const node *);
    value (*closure)(machine *, const node *);
    value (*reduce)(machine *, const char *, const value *, int, const node *);
    void (*need_sizes)(machine *, component *, int line);
    void (*need_values)(machine *, component *, int line);
    bool (*fires)(machine *, jitem *, int branch);
} machine_ways;

struct machine {
    judge *j;
    const machine_ways *ways;
    stack scratch, frames;
    frame frame;
    jmp_buf *escape; /* where an error goes */
    const char *error;
    int error_line;
    char error_text[256];
    bool no_memory;
    bool trial;         /* errors of values give NAN: shapes are looked for */
    bool touched;       /* a variable was read, or time */
    bool varied, timed; /* the one, the other */
    void *held;         /* what an error must free */
    bool reading;       /* marks in `read` */
    int calls;
    long passes, called;
    int noevent, in_function;
    int end;   /* of the dimension whose subscript is evaluated */
    int group; /* that is evaluated, or -1: no switches are listed */
    int stamp;
    /* statements */
    bool broken, returned;
    /* output of equations */
    judge_row *rows; /* of the group; NULL in a trial */
    int row, row_limit;
    bool warnings; /* asserts of the level warning count */
    int when;      /* whose body is executed, or -1 */
    const judge_point *point;
    double time, time_spread;
    int past; /* delays whose expression is evaluated */
};

struct judge {
    arena *memory;
    ast_file *file;
    char *source;
    size_t source_length;
    machine machine;
    table names, constants, classes, functions, types, ids, whens_at, samples_at;
    component *components, **last_component;
    int compiling; /* the group that gaps of the text belong to, or -1 */
    scope global, model;
    bool elaborated;
    value *passes; /* of the loops that are expanded, in slots of the frame of equations */
    const char **pass_names;
    int pass_count;
    size_t *lines; /* where each line begins */
    size_t line_count;

    judge_variable *variables;
    size_t variable_count, variable_capacity;
    cell **cells; /* of each variable */
    size_t cell_capacity;
    judge_derivative *derivatives;
    size_t derivative_count, derivative_capacity;
    judge_equation *equations;
    size_t equation_count, equation_capacity;
    group *groups;
    size_t group_count, group_capacity;
    judge_when *whens;
    size_t when_count, when_capacity;
    judge_sample *samples;
    size_t sample_count, sample_capacity;
    double longest_delay;
    judge_gap *gaps;
    size_t gap_count, gap_capacity;

    judge_row *rows;
    double *conditions;
    size_t condition_count, condition_capacity;
    judge_switch *switches;
    size_t switch_count, switch_capacity;
    judge_effect *effects;
    size_t effect_count, effect_capacity;
    int id_count;
    double *forced; /* of each id, NAN: not */
    size_t forced_capacity;
    bool *read_variables, *read_derivatives;
    int *read_list, *read_derivative_list;
    judge_result result;
    const judge_override *overrides;
    size_t override_count;
    bool *override_used;
};

static inline value judge_eval(machine *m, const node *n)
{
    return m->ways->eval(m, n);
}
static inline value judge_call(machine *m, const node *n)
{
    return m->ways->call(m, n);
}
static inline value judge_closure(machine *m, const node *n)
{
    return m->ways->closure(m, n);
}
static inline value judge_reduce(machine *m, const char *name, const value *items, int count,
                                 const node *n)
{
    return m->ways->reduce(m, name, items, count, n);
}
static inline void judge_need_sizes(machine *m, component *c, int line)
{
    m->ways->need_sizes(m, c, line);
}
static inline void judge_need_values(machine *m, component *c, int line)
{
    m->ways->need_values(m, c, line);
}
static inline bool judge_fires(machine *m, jitem *i, int branch)
{
    return m->ways->fires(m, i, branch);
}

extern const jtype judge_real, judge_integer, judge_boolean, judge_string, judge_function_type;

/* judge_memory.c: memory, tables, errors */
void *judge_take(judge *j, size_t count, size_t size); /* for the life of the judge */
#define JUDGE_TAKE(j, type, count) ((type *)judge_take(j, (size_t)(count), sizeof(type)))
const char *judge_format(judge *j, const char *format, ...) __attribute__((format(printf, 2, 3)));
void *judge_stack_take(machine *m, stack *s, size_t bytes);
void judge_stack_free(stack *s);
void judge_grow(judge *j, void *items, size_t *capacity, size_t least, size_t size);
table_entry *judge_table_find(const table *t, const char *text, const void *key, int a, int b);
table_entry *judge_table_put(judge *j, table *t, const char *text, const void *key, int a, int b,
                             void *item);
/* The evaluation ends here. */
_Noreturn void judge_fail(machine *m, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
_Noreturn void judge_no_memory(machine *m);
/* The same for a value that is undefined; a trial goes on with NAN. */
double judge_undefined(machine *m, int line, const char *what);
void judge_add_gap(judge *j, const char *construct, int line, int group, bool harmless);

/* judge_value.c: values */
int judge_count(const shape *s); /* elements */
static inline int judge_cells(const value *v)
{
    return judge_count(&v->shape) * v->type->cells;
}
bool judge_same_shape(const shape *a, const shape *b);
value judge_make(machine *m, const jtype *type, const shape *s);
value judge_scalar(machine *m, const jtype *type, double v);
value judge_text_value(machine *m, const char *text);
value judge_read(machine *m, const selection *s); /* a view if it can be */
void judge_write(machine *m, const selection *s, const value *v, int line);
selection judge_select_value(const value *v);
void judge_select_steps(machine *m, selection *s, const step *steps, int count, int line);
static inline cell *judge_cell(const selection *s, int k)
{
    return s->cells ? s->cells[k] : s->base + k;
}
double judge_number(machine *m, const value *v, int line);
const char *judge_string_of(machine *m, const value *v, int line); /* never NULL */
bool judge_numeric(const value *v);

/* judge_operators.c */
value judge_binary(machine *m, ast_op op, const value *a, const value *b, const node *n);
value judge_unary(machine *m, ast_op op, const value *a, int line);
cell judge_add(cell a, cell b, double sign);
cell judge_multiply(cell a, cell b);
cell judge_divide(machine *m, cell a, cell b, int line);
cell judge_power(machine *m, cell a, cell b, int line);
value judge_range(machine *m, const value *start, const value *step_, const value *stop, int line);

/* judge_switch.c: relations and other switches */
void judge_new_stamp(machine *m);
double judge_switch_value(machine *m, const node *n, judge_switch_kind kind, double v, double other,
                          double crossing, double spread, bool discrete);
int judge_intern(judge *j, table *t, const void *key, int *stamp, int *count, int *next);

/* judge_elementary.c, judge_array.c, judge_text.c: built-in functions */
typedef struct builtin {
    const char *name;
    builtin_function call;
    int least, most;        /* number of arguments */
    const char *parameters; /* their names, separated by blanks, or NULL */
} builtin;
const builtin *judge_builtin_find(const char *name);
extern const builtin judge_elementary_builtins[], judge_array_builtins[], judge_event_builtins[],
    judge_delay_builtins[], judge_text_builtins[];
bool judge_elementary(const char *name, double x, double *v, double *derivative);
value judge_reduce_values(machine *m, const char *name, const value *items, int count,
                          const node *n);

/* judge_compile.c: from the syntax tree to nodes */
node *judge_compile(judge *j, const scope *s, const ast_expr *e);
jitem *judge_compile_item(judge *j, const scope *s, const ast_item *i);
jitem **judge_compile_items(judge *j, const scope *s, ast_item *const *items, size_t count);
node *judge_node(judge *j, node_kind kind, int line);
node *judge_target(judge *j, component *c, const step *steps, int count, int line);
node *judge_with_step(judge *j, const node *n, const char *field, node **subscripts, int count);
node *judge_number_node(judge *j, double v, int line);

node *judge_derive(judge *j, node *n); /* judge_derive.c */

/* judge_names.c */
const ast_class *judge_class(judge *j, const char *name);
component *judge_component(judge *j, const char *name, bool model);
component *judge_whole(judge *j, const char *name);
void judge_enter_classes(judge *j);

/* judge_types.c */
typedef struct type_use { /* a type as used: its base, sizes of aliases, attributes of aliases */
    const jtype *type;
    shape shape;
    const ast_class *aliases[16];
    int alias_count;
} type_use;
type_use judge_type_of(judge *j, const char *name, int line);
const jtype *judge_closed_type(judge *j, const jtype *t, const shape *shapes);

/* judge_declare.c: components */
void judge_declare(judge *j);
void judge_elaborate_sizes(machine *m, component *c, int line);
void judge_elaborate_values(machine *m, component *c, int line);
void judge_spread(machine *m, const selection *s, const value *v, int line);

/* judge_function.c */
jfunction *judge_function_of(judge *j, const ast_class *c);
value judge_call_function(machine *m, const node *n);
void judge_call_all(machine *m, const node *n, value *results, const bool *wanted, int count);
bool judge_only_warns(machine *m, const jitem *i);
value judge_make_closure(machine *m, const node *n);
void judge_execute(machine *m, jitem *const *items, int count);
void judge_count_pass(machine *m, int line);
void judge_assign(machine *m, const node *target, const value *v);

/* judge_eval.c */
value judge_eval_node(machine *m, const node *n);
selection judge_select(machine *m, const node *n);
bool judge_try(machine *m, const node *n, value *v); /* false: it has none */
double judge_eval_number(machine *m, const node *n);
bool judge_eval_condition(machine *m, const node *n);
value judge_iterate(machine *m, const node *range); /* values of a range, a copy */

/* judge.c: do something that may jump out when memory is exhausted; false: it was */
bool judge_guarded(judge *j, void (*work)(judge *, void *), void *context);

/* judge_groups.c: from sections to groups of equations; judge_rows.c: their evaluation */
void judge_expand(judge *j);
source_place judge_first_place(const ast_expr *e);
const char *judge_source_text(judge *j, source_place from, const char *stop);
void judge_run_group(machine *m, int group);
bool judge_meet_when(machine *m, jitem *item, int branch);
void judge_fill_point(judge *j, const judge_point *point);
base_type judge_cell_type(const jtype *t, int k); /* of the cell k of an element */
void judge_run_equation(machine *m, jitem *i);
void judge_run_effects(machine *m, jitem *const *items, int count);
void judge_run_binding(machine *m, const binding *b);
bool judge_run_asserts(machine *m, jitem *i);
void judge_run_when(machine *m, jitem *i);
int judge_derivative_of(judge *j, int variable, int order, bool add); /* index or -1 */

#endif
