/* Between the files of the flattener only. */
#ifndef DAE_MODELICA_FLATTEN_FLATTEN_INTERNAL_H
#define DAE_MODELICA_FLATTEN_FLATTEN_INTERNAL_H

#include "base/arena.h"
#include "modelica/flatten/flatten.h"
#include "modelica/flatten/units.h"
#include "modelica/flatten/value.h"

enum {
    FLATTEN_MAX_DEPTH = 2000, /* of evaluation, through functions and parameters */
    FLATTEN_MAX_CALLS = 200   /* of functions within each other */
};

struct flattener;

/* ---- names ---- */

/* Open addressing, keys borrowed. */
typedef struct name_map {
    const char **keys;
    void **values;
    size_t count, capacity;
} name_map;

typedef enum symbol_state { SYMBOL_NEW, SYMBOL_BUSY, SYMBOL_DONE, SYMBOL_BROKEN } symbol_state;

/* A prefix of scalarised names, 'a.b' of 'a.b[1]' and 'a.b[2]' (flatten_wholes.c). */
typedef struct whole_name whole_name;

/* A declared component of the model, a global constant, or a whole of declared elements. */
typedef struct symbol {
    const ast_component *declaration;
    symbol_state state;
    bool constant, parameter;  /* as declared */
    bool assigned_in_when;     /* somewhere: discrete */
    bool absent;               /* its condition is false */
    bool driven;               /* from outside, in the place of its binding */
    value value;               /* leaves (variables, parameters) or constants */
    int first_variable;        /* of the variables it made, or -1 */
    struct symbol *busy_outer; /* while busy: the symbol that asked for this one */
    const whole_name *whole;   /* NULL: it is declared itself */
    /* of a parameter that an initial equation or algorithm defines (flatten_initial.c) */
    const ast_expr *initial_right; /* p = right */
    const ast_item *initial_item;
    const ast_section *initial_section; /* assigns it */
    value initial_value;
    bool initial_done;
    bool initial_asked;                /* for its value: it has fixed = false */
    bool initial_named;                /* an initial equation or algorithm is about it */
    const struct symbol *initial_seen; /* by the search for cycles of that one */
    bool read;                         /* by the search for folded constants */
    const ast_item *text_item;         /* of a String variable: the equation that defines it */
} symbol;

/* A loop variable, or a variable of a function or algorithm while it is executed. */
typedef struct local {
    const char *name;
    value value;
    bool assignable;
    bool overlay;      /* stands for a variable of the model while an algorithm runs */
    bool open_size;    /* some size is ":": assignment may change the shape */
    symbol *symbol;    /* of an overlay */
    int journal_depth; /* where it was made: its shape may change only there */
} local;

/* Modifications from outside to inside: of a component, then of its type, .. */
typedef struct modifier {
    const ast_modification *items;
    size_t count;
    bool in_class; /* names mean what they mean in the type's definition, not in the model */
    const struct modifier *inner;
} modifier;

/* A declaration equation of a variable, to be written down when all names are known. */
typedef struct late_binding {
    value target;
    const ast_expr *right; /* NULL: `known` is the value */
    value known;
    const value *siblings; /* record whose fields the expression may name, or NULL */
    bool repeated;         /* a value of lower rank stands for every element */
    source_place place;
    const char *comment;
} late_binding;

/* What a type name stands for. */
enum { TYPE_MAX_CHAIN = 32 };
typedef struct type_info {
    value_type type;
    const ast_class *class_;                /* record or enumeration */
    const ast_class *chain[TYPE_MAX_CHAIN]; /* aliases passed, outermost first */
    size_t chain_count;
} type_info;

/* ---- growing results ---- */

typedef struct equation_pair {
    expr left, right, residual; /* residual: EXPR_NONE if left - right */
    value_type type;
    source_place place;
    const char *comment;
    const char *pass; /* of the loops around; NULL: none */
    bool assigned;    /* by an algorithm: it defines its left side */
} equation_pair;

typedef struct pair_list {
    equation_pair *items;
    size_t count, capacity;
} pair_list;

typedef struct action_list {
    flat_action *items;
    size_t count, capacity;
} action_list;

/* One undoable change of a local's element. */
typedef struct journal_entry {
    expr *cell;
    expr old;
} journal_entry;

/* A cell that has its value on some paths of a function only (flatten_missing.c). */
typedef struct partial_cell {
    expr value, assigned;             /* the condition of these paths */
    const char *variable, *function_; /* the output it was, and whose; NULL: none yet */
} partial_cell;

/* A piece of text made at compile time, with holes for values of the run. */
typedef struct text_piece {
    const char *text;
    const flat_hole *holes;
    size_t hole_count;
    uint32_t
        partial; /* number from 1 of the cell whose value it is on some paths; 0: a plain text */
} text_piece;

/* Numbers from 1 of pairs of a node and a flag: a hash table with open addressing. */
typedef struct number_slot {
    expr e;
    bool flag;
    uint32_t number; /* 0: free */
} number_slot;

typedef struct number_table {
    number_slot *slots;
    size_t count, capacity;
} number_table;

/* value = semiLinear(x, rising, falling) */
typedef struct semilinear_call {
    expr value, x, rising, falling;
} semilinear_call;

/* Where an if-expression is being evaluated: its condition holds or does not. Only asserts ask. */
typedef struct branch_guard {
    expr condition;
    bool holds;
    const struct branch_guard *outer;
} branch_guard;

/* Results of calls (flatten_calls.c): a hash table, with its calls in an arena. */
typedef struct kept_call kept_call;
typedef struct kept_calls {
    kept_call **first; /* owned */
    size_t count, places;
    arena *memory;  /* owned */
    size_t bytes;   /* in it */
    size_t asserts; /* calls found that have asserted under a condition: those around have, too */
} kept_calls;

/* ---- the flattener ---- */

/* What an expression means here and now: put aside as a whole where another place is looked at. */
typedef struct flatten_scope {
    arena *active;     /* where values go */
    size_t local_base; /* first local of this function */
    size_t end_size;   /* meaning of "end"; SIZE_MAX: none */
    const ast_class *function;
    bool no_event, in_when, in_function, in_initial;
    bool at_start;              /* time is that of the start */
    bool parameters_only;       /* inside a parameter's value */
    bool shape_only;            /* only the sizes of a value matter */
    bool skip_overlay;          /* names mean the model's variables, not an algorithm's */
    expr guard;                 /* condition around asserts in if-equations; EXPR_NONE: none */
    const branch_guard *branch; /* conditions of if-expressions around */
    action_list *actions;       /* where actions of a when go; NULL: not in a when */
    action_list *checks;        /* in a loop of the run: where asserts go; NULL: not in one */
} flatten_scope;

/* Where the parts below turn back to those above them: a subscript holds an expression, and a name
 * may need its declaration first. flatten.c fills the table; the parts know it alone, and so have
 * an order. */
typedef struct flatten_recursion {
    value (*expression)(struct flattener *f, const ast_expr *e);
    value (*results)(struct flattener *f, const ast_expr *e);
    bool (*declaration)(struct flattener *f, symbol *s, source_place place);
} flatten_recursion;

/* sum(e for j in start:step:..) over `count` elements, of an expression that is the same for all
 * elements of the comprehension around it */
typedef struct prefix_sum {
    const ast_expr *of; /* NULL: none */
    double start, step;
    size_t count;
    value sum;
} prefix_sum;

typedef struct flattener {
    const flatten_recursion *recursion;
    const ast_file *file;
    const char *file_name;
    message_list *messages;
    flat_model *m;
    graph *g;
    arena *permanent, *scratch;
    size_t scratch_bytes;
    size_t permanent_bytes, text_bytes;
    flatten_limits limits;
    source_place at; /* the last expression or item looked at */
    bool full;       /* limits.bytes was passed: failed is set, too */
    bool failed;     /* memory, or a limit of it */
    bool stop;       /* a limit was passed: the message is written, be silent */

    const flatten_setting *settings;
    size_t setting_count;
    bool simplified; /* homotopy(a, s) leads from s to a */
    bool allow_external;
    struct impure_random *random; /* hidden state (flatten_random.c); NULL: none */
    const struct external_calls
        *externals;             /* who answers calls of C functions (flatten_execute.h) */
    struct own_code *own_codes; /* what was compiled (flatten_external.c) */
    size_t own_code_count, own_code_capacity;
    bool *setting_used;
    const flatten_input *inputs;
    size_t input_count;
    const flatten_condition *terminals;
    size_t terminal_count;
    struct input_edge *edges; /* which inputs read which (flatten_inputs.c) */
    size_t edge_count, edge_capacity;
    const flatten_input *
        *driven; /* per variable: what drives it, NULL: nothing; NULL until known */

    name_map classes, globals, symbols; /* ast_class, symbol, symbol */
    name_map wholes;                    /* whole; filled when one is first asked for */
    bool wholes_known;
    const ast_class *last_record; /* of a whole that is a record */
    source_place
        library_call; /* the call around a function of the library, whose places are {0, 0} */
    int overlays;     /* > 0: in an algorithm of the model */
    symbol *model_symbols;
    size_t model_symbol_count;
    symbol *busy; /* innermost symbol being resolved */

    local *locals;
    size_t local_count, local_capacity;
    journal_entry *journal;
    size_t journal_count, journal_capacity;
    expr *returned, *broken; /* cells of the running function and loop */
    int call_depth, depth;
    double call_start; /* passes and bytes of values before the outermost call of a function */
    size_t call_bytes;
    kept_calls calls;
    partial_cell *partials;
    size_t partial_count, partial_capacity;
    uint32_t *partial_of; /* per node: number of its partial cell from 1, 0: it is none */
    size_t partial_of_capacity;
    double passes;
    flatten_scope scope;
    int journal_depth; /* > 0: changes of locals must be undoable */

    late_binding *bindings;
    size_t binding_count, binding_capacity;
    pair_list equations, initial_equations, terminal_equations;
    pair_list *target;       /* where equations go now */
    const char *pass;        /* "i = 4, j = 2": where loops of equations are; NULL: in none */
    struct replay **replays; /* of equations in loops (flatten_replay.c); owned */
    size_t replay_count, replay_capacity;
    action_list asserts;
    int cell_count;  /* cells of the loops of the run around */
    expr pass_count; /* passes of the outermost loop so far; EXPR_NONE: not in one */

    int *slot_variable; /* per memory slot: variable whose current value it is, or -1 */
    int *slot_pre;      /* per memory slot: variable whose pre value it is, or -1 */
    size_t slot_capacity, slot_pre_capacity;
    size_t variable_capacity, parameter_capacity, relation_capacity, sample_capacity,
        delay_capacity, when_capacity, discrete_capacity;
    double *parameter_value; /* per parameter, NAN if not known */
    size_t parameter_value_capacity;
    number_table hidden;         /* variables made for floor(..) and for conditions, by argument */
    number_table relation_table; /* relations by crossing and strictness */

    uint8_t *depends; /* per node: DEPENDS_ flags, computed up to depends_count */
    size_t depends_count, depends_capacity;
    double **number; /* values of nodes that have no other leaves than parameters, and are no
                        constants, in pages; NULL where a page has none of these; owned */
    size_t number_capacity;
    uint32_t *stamp; /* per node: last visit */
    size_t stamp_capacity;
    uint32_t stamp_now;
    expr *stack;
    size_t stack_capacity;

    int comprehensions;                 /* around the expression at hand */
    struct element_text *element_texts; /* of elements in them (flatten_formula.c); owned */
    size_t element_text_count, element_text_capacity;
    prefix_sum prefix; /* the last sum in them */

    semilinear_call *semilinears; /* with events, for flatten_rules.c */
    size_t semilinear_count, semilinear_capacity;

    text_piece *texts; /* strings, numbers from 1 */
    size_t text_count, text_capacity;
    unit_table units;
    enum { FOLDED_UNKNOWN, FOLDED_NO, FOLDED_YES } folded; /* constants_are_folded() */
    size_t dropped; /* equations that an erroneous value, reported before, leaves out */
    source_place *unit_reports;
    size_t unit_report_count, unit_report_capacity;
} flattener;

/* Numbers of strings are told from nodes by this bit. */
#define STRING_BIT 0x80000000u

enum { DEPENDS_CONTINUOUS = 1, DEPENDS_MEMORY = 2, DEPENDS_PARAMETER = 4 };

/* The parts from here on stand in their order: each calls those before it, and no others except
 * through `recursion`. */

/* The value of an expression, over the graph. */
static inline value evaluate(flattener *f, const ast_expr *e)
{
    return f->recursion->expression(f, e);
}

/* The same, but a call of a function with several outputs gives all of them, a tuple. */
static inline value evaluate_results(flattener *f, const ast_expr *e)
{
    return f->recursion->results(f, e);
}

/* Make the symbol's value known; false if it is broken (reported). */
static inline bool resolve_symbol(flattener *f, symbol *s, source_place place)
{
    return f->recursion->declaration(f, s, place);
}

/* flatten_support.c: messages, memory, growing results */

/* A message, except while memory fails: what is said then is not the model's fault. Returns false.
 */
bool report(flattener *f, message_kind kind, source_place place, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
#define report_error(f, ...) report(f, MESSAGE_ERROR, __VA_ARGS__)
/* An error of a value: it says in which pass of a loop, as others may be fine. Returns false. */
bool report_pass(flattener *f, source_place place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#define report_warning(f, ...) report(f, MESSAGE_WARNING, __VA_ARGS__)
#define report_note(f, ...) report(f, MESSAGE_NOTE, __VA_ARGS__)
#define error_value(f, ...) (report(f, MESSAGE_ERROR, __VA_ARGS__), value_error())
/* The place itself, or that of the call around a function of the library. */
source_place place_in_file(const flattener *f, source_place place);
void *flatten_take(flattener *f, size_t bytes); /* zeroed, in the active arena; NULL: failed */
char *flatten_text(flattener *f, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *path_beside_model(flattener *f, const char *name); /* relative to the model's file */
char *model_text(flattener *f, const char *text); /* copy in the flat model; NULL stays NULL */
void *model_take(flattener *f, size_t bytes);     /* lives as long as the model */
bool flatten_grow(flattener *f, void *items, size_t *capacity, size_t needed, size_t item_size);
/* One more item, zeroed, at the end of a growing array; NULL: failed. */
void *flatten_push(flattener *f, void *items, size_t *count, size_t *capacity, size_t item_size);
bool flatten_pass(flattener *f, source_place place); /* count work; false: stop */
bool flatten_work(flattener *f, double elements);    /* the same for work on elements of arrays */
int new_memory(flattener *f);
void push_pair(flattener *f, pair_list *list, equation_pair p);
void push_action(flattener *f, action_list *list, flat_action a);
flat_type flat_type_of(value_type type);
/* Room for so many more, which are made one by one: an array takes no more than it has. */
bool variable_room(flattener *f, size_t count);
flat_variable *new_variable(flattener *f);
void give_slots(flattener *f, flat_variable *v); /* of a discrete variable: now and before */
int hidden_discrete(flattener *f, const char *name, value_type type, source_place place);

/* flatten_nodes.c: questions about nodes of the graph */

void numbers_free(flattener *f);
uint8_t node_depends(flattener *f, expr e);
double fixed_value(flattener *f, expr e); /* NAN if it depends on the run */
typedef void (*leaf_visit)(flattener *f, void *context, const expr_node *leaf);
void visit_begin(flattener *f); /* forget visited nodes */
void visit_leaves(flattener *f, expr e, leaf_visit visit, void *context);
bool compile_time_value(flattener *f, expr e, double *out); /* marks parameters structural */
bool is_structural(flattener *f, expr e); /* constants and structural parameters only */
void mark_structural(flattener *f, void *context, const expr_node *leaf); /* a leaf_visit */
expr both(flattener *f, expr a, expr b); /* a and b, where EXPR_NONE is no condition */

/* flatten_names.c, flatten_type.c: what names stand for */

void *name_find(const name_map *map, const char *name);
void name_free(name_map *map);
void register_names(flattener *f);
const char *joined_name(flattener *f, const ast_part *parts, size_t count);
const ast_class *find_class(flattener *f, const char *name);
const char *did_you_mean(flattener *f, const char *near); /* "; did you mean ..?", "" if NULL */
const char *nearest_symbol(flattener *f, const char *name);
const char *nearest_class(flattener *f, const char *name, ast_class_kind kind);
/* Argument k of a call, or the one of that name; NULL if there is none. */
const ast_expr *call_argument(const ast_expr *e, size_t k, const char *name);
bool name_put(flattener *f, name_map *map, const char *name, void *entry); /* false: taken */
local *find_local(flattener *f, const char *name);
local *push_local(flattener *f, const char *name);
/* A class of the library that exported models leave out, known under that name from now on; NULL.
 */
const ast_class *library_class(flattener *f, const char *name);
bool resolve_type(flattener *f, const char *name, source_place place, type_info *out);
bool class_is_enumeration(const ast_class *c);
/* Whether a field of a record has the name of that length; quotes do not count. */
bool same_field(const char *field, const char *name, size_t length);
/* Whether two records have the same fields: then they are one type [MLS 6.4]. */
bool records_alike(const ast_class *a, const ast_class *b);
/* Records around a field, innermost first. */
typedef struct record_level {
    const ast_class *record;
    const struct record_level *outer;
} record_level;
/* Whether a record may stand here: not inside itself. Reports if not. */
bool record_allowed(flattener *f, const ast_class *record, const record_level *outer,
                    source_place place);

expr constant(flattener *f, double x);

/* flatten_missing.c: variables with a value on some paths only */

bool always_holds(const flattener *f, expr e);          /* whatever its relations are */
partial_cell *partial_find(const flattener *f, expr e); /* NULL: e is no such cell */
/* A cell that has this value if `assigned` holds, else none. */
expr partial_new(flattener *f, expr v, expr assigned);
expr cell_value(const flattener *f,
                expr e); /* of a cell that is assigned; EXPR_NONE: it never is */
expr cell_assigned(flattener *f, expr e);
/* if c then a else b, for cells that may have no value, or have it on some paths only; EXPR_NONE
 * also for Strings with values of the run */
expr choose_cell(flattener *f, expr c, expr a, expr b);

/* flatten_values.c: values made of values */

value value_constant(flattener *f, value_type type, double x);
value value_boolean(flattener *f, bool x);
value value_new(flattener *f, value_type type, int rank, const size_t *dims);
value value_array_of(flattener *f, value_type type, size_t n); /* vector */
value map_unary(flattener *f, expr_op op, const value *a);
/* "what: expected .., found .."; returns false. */
bool type_error(flattener *f, source_place place, const char *what, const value *v,
                const char *expected);
#define wrong_type(f, ...) (type_error(f, __VA_ARGS__), value_error())
void check_units(flattener *f, source_place place, int a, int b, const char *what);
bool fits_type(const value *from, value_type to, const ast_class *class_);
value broadcast_value(flattener *f, const value *v, int rank, const size_t *dims);
value select_values(flattener *f, expr condition, const value *a, const value *b);
/* Element k of the first `rank` dimensions: the same cells, not a copy. */
value value_slice(flattener *f, const value *v, int rank, size_t k);
value stack_values(flattener *f, const value *parts, size_t count, source_place place);
/* A stack, sizes [n, ..], with the sizes `dims` in place of n. */
value value_reshape(flattener *f, value v, int rank, const size_t *dims);
value concatenate(flattener *f, size_t dimension, const value *parts, size_t count,
                  source_place place);

/* flatten_wholes.c: wholes of elements that are declared one by one */

symbol *find_symbol(flattener *f, const char *name); /* of the model; NULL: there is none */
value value_of_whole(flattener *f, const symbol *s, source_place place);
void mark_whole_in_when(const symbol *s);
/* In an algorithm: names of elements for the cells of a whole that is assigned to. */
void overlay_elements(flattener *f, const symbol *s, const value *cells);

/* flatten_reading.c: which components of the model a text reads */

/* A walk over references: `found` says what to do with a component of the model; false stops. */
typedef struct reading {
    struct flattener *f;
    bool (*found)(struct reading *r, symbol *s);
    bool at_rest;         /* stop also at der, pre and others that move */
    const symbol *target; /* of the search for cycles */
} reading;

bool read_expression(reading *r, const ast_expr *e);
bool read_items(reading *r, ast_item *const *items, size_t count);
/* Whether values stand where parameters with units stood, so that units say nothing. */
bool constants_are_folded(flattener *f);

/* flatten_range.c: conditions, numbers and ranges */

bool integer_value(flattener *f, const ast_expr *e, const char *what, double *out);
expr scalar_condition(flattener *f, const ast_expr *e); /* EXPR_NONE: error reported */
/* A loop's values; list NULL: start + k step. */
typedef struct loop_range {
    size_t count;
    double start, step;
    value list; /* if use_list */
    bool use_list;
    value_type type;
    const ast_class *class_;
    int unit;
} loop_range;
bool evaluate_range(flattener *f, const ast_iterator *it, loop_range *out);
value range_element(flattener *f, const loop_range *r, size_t k);
value range_vector(flattener *f, const ast_expr *e); /* start : step : stop */

/* flatten_string.c: texts with holes */

expr string_new(flattener *f, const char *text, const flat_hole *holes, size_t hole_count);
const text_piece *string_of(const flattener *f, expr number);
expr string_resolve(flattener *f, expr number);
/* if c then a else b, a relation: texts without values of the run, which are EXPR_NONE */
expr string_choose(flattener *f, expr c, expr a, expr b);
expr string_compare(flattener *f, ast_op op, expr a, expr b);
value string_concatenate(flattener *f, const value *a, const value *b);
value string_call(flattener *f, const char *name, const ast_expr *e);

/* flatten_assert.c: conditions around a place, asserts */

expr current_guard(flattener *f); /* EXPR_NONE: always */
bool assert_action(flattener *f, const ast_expr *call, flat_action *out);
bool terminate_action(flattener *f, const ast_expr *call, flat_action *out);
void push_branch(flattener *f, flat_when *w, size_t *capacity, flat_branch b,
                 const action_list *actions);
void push_when(flattener *f, flat_when *w); /* owned by the model from now on */
/* Put an assert where it belongs: into a loop of the run, a when, or the model. */
void push_assert(flattener *f, const flat_action *a);
/* An assert that the text implies: `holds` is true wherever this place is reached. Each value
 * stands for a "{..}" of the message. */
void push_check(flattener *f, expr holds, const char *message, const expr *values, flat_type type,
                source_place place);
/* The value as it is used here: elements that are assigned on some paths only are asserted to be.
 * `name`: the variable of the function at hand that is read; NULL: its output was. */
value used_value(flattener *f, value v, const char *name, source_place place);

/* flatten_event.c: relations, rounding, pre, sample */

expr relation_value(flattener *f, ast_op op, expr a, expr b, source_place place);
expr event_floor(flattener *f, expr a, source_place place);
bool is_initial_call(const ast_expr *e); /* initial() */
expr edge_of(flattener *f, expr condition, source_place place);
value discrete_call(flattener *f, const char *name, const ast_expr *e);
value delay_call(flattener *f, const char *name, const ast_expr *e);

/* flatten_reference.c: a.b[i].c */

value evaluate_reference(flattener *f, const ast_expr *e);
value subscript_value(flattener *f, const value *v, ast_expr *const *subscripts, size_t count,
                      source_place place);
/* v.b.c[i] for the parts b.c[i] of e; of several results v is the first. */
value member_value(flattener *f, const value *v, const ast_expr *e);
typedef struct subscript {
    bool single;
    size_t count, first, step;
    const size_t *list; /* NULL: first, first+step, .. */
    expr dynamic;       /* single, not known at compile time; EXPR_NONE: known */
} subscript;
enum { REFERENCE_MAX_SUBSCRIPTS = 2 * VALUE_MAX_RANK };
/* The place a reference names: the value that holds it and the subscripts into it. */
typedef struct located {
    value base;
    subscript subscripts[REFERENCE_MAX_SUBSCRIPTS];
    size_t subscript_count;
    symbol *symbol;
    local *local;
    int local_index; /* in f->locals, or -1 */
} located;
bool locate_reference(flattener *f, const ast_expr *e, located *out);
size_t subscript_at(const subscript *s, size_t k);
size_t field_index(const ast_class *record, const char *name); /* SIZE_MAX: none */

/* flatten_operators.c */

value evaluate_chain(flattener *f, const ast_expr *e); /* a + b - c + .. */
value evaluate_unary(flattener *f, ast_op op, const value *a, source_place place);
/* Whether what is known of the values are finite numbers, Integers also not too large (which is
 * asserted of those of the run that may grow so). Reports if not. */
bool check_numbers(flattener *f, const value *v, bool may_grow, source_place place);
value elementwise(flattener *f, ast_op op, const value *a, const value *b, value_type type);

/* flatten_formula.c: arithmetic of counters, elements and parameters, pass by pass */

typedef struct formula formula;
typedef struct element_text element_text;
enum { FORMULA_MOST_ROOTS = 2, FORMULA_COMPARED = 3 };

/* Passes in which the same conditions hold: so many were done by the text as well, and gave this.
 */
typedef struct formula_way {
    uint64_t bits; /* of its conditions */
    int compared;
    value_type type;
    int unit;
} formula_way;

/* A formula of texts in the loops at hand; NULL: they are more than that. */
formula *formula_new(flattener *f, const ast_expr *const *text, size_t count);
void formula_free(formula *p);
/* root[k] = text k in the pass at hand; NULL: it may be another than that of the text. */
formula_way *formula_run(flattener *f, formula *p, expr *root);

/* What an evaluation may leave behind beside its value. */
typedef struct traces {
    size_t count[19];
} traces;
traces traces_of(const flattener *f);
bool traces_differ(const traces *before, const flattener *f);

/* The element of a comprehension in the pass at hand. */
value formula_element(flattener *f, const ast_expr *text);
void element_texts_free(flattener *f);

/* builtin_array.c */

value array_function(flattener *f, const char *name, const ast_expr *e);
value evaluate_comprehension(flattener *f, const ast_expr *e);
bool is_reduction(const char *name); /* sum, product, min, max */
value reduce_values(flattener *f, const char *name, const value *v, source_place place);
value evaluate_matrix(flattener *f, const ast_expr *e);

/* flatten_function.c: functions and algorithms, by flatten_execute.c and flatten_loop.c */

value call_function(flattener *f, const ast_class *function, const ast_expr *call);
value call_function_value(flattener *f, const value *function, const ast_expr *call);
value record_constructor(flattener *f, const ast_class *record, const ast_expr *call);
bool decide_condition(flattener *f, const ast_branch *b, expr *condition, bool *known, bool *yes);
void algorithm_section(flattener *f, const ast_section *section, bool initial);

bool declare_local(flattener *f, const ast_component *c); /* with its value, if it has one */

/* flatten_initial.c: parameters that initial equations and algorithms define by parameters */

void find_initial_definitions(flattener *f);
/* Its value for a parameter with fixed = false; an error value if it is left to the initial system.
 */
value initial_definition(flattener *f, symbol *s);
bool initial_item_is_done(flattener *f, const ast_item *item);
bool initial_section_is_done(flattener *f, const ast_section *section);
expr time_at_start(flattener *f); /* a parameter */
expr way_to_actual(flattener *f); /* a parameter: 0 simplified, 1 actual */

/* builtin.c, flatten_expr.c: calls; all kinds of expressions */

value evaluate_call(flattener *f, const ast_expr *e);
/* What `recursion` holds. */
value expression_value(flattener *f, const ast_expr *e);
value expression_results(flattener *f, const ast_expr *e);

/* flatten_replay.c: passes of a loop of equations by formulas, or by the graph of the first one */

typedef struct replay replay;
typedef void (*replay_evaluation)(flattener *f, const ast_item *item);
/* An equation of a loop in the pass at hand, by the text or by an earlier pass; false: nothing was
 * done, it is to be evaluated. */
bool replay_equation(flattener *f, const ast_item *item, replay_evaluation evaluation);
void replays_free(flattener *f);

/* flatten_equation.c, flatten_when.c */

void equation_items(flattener *f, ast_item *const *items, size_t count);
void equate(flattener *f, const value *left, const value *right, source_place place,
            const char *comment);
void when_equation(flattener *f, const ast_item *item);
bool reinit_actions(flattener *f, const ast_expr *call);
void when_assign(flattener *f, const ast_item *item);
void when_if(flattener *f, const ast_item *item);

/* flatten_motion.c: equations of motion from the energies that annotation(__Daedal(..)) gives */

void motion_equations(flattener *f, const ast_modification *given);

/* flatten_terminal.c: the field terminal of __Daedal(..); whether it has no others; its conditions,
 * and those given from outside. */
bool is_terminal(const ast_modification *field);
bool only_terminals(const ast_modification *given);
void terminal_annotation(flattener *f, const ast_modification *given);
void terminal_conditions(flattener *f);

/* flatten_inputs.c: inputs of the model that are driven from outside */

void release_driven(flattener *f); /* their bindings give way */
void drive_inputs(flattener *f);   /* equations of all inputs that have no binding */

/* flatten_declare.c */

bool resolve_declaration(flattener *f, symbol *s, source_place place); /* what `recursion` holds */
void declare_all(flattener *f);
void declaration_equations(flattener *f);
void check_settings(flattener *f);
void read_guess(flattener *f, const ast_item *item);

/* flatten_rules.c: equations made definite, before they are sorted and stored */

void apply_rules(flattener *f);

/* flatten_order.c: values before what reads them, at events */

void sort_events(flattener *f);

/* flatten_finish.c */

void finish_model(flattener *f);
void mark_assigned_in_when(flattener *f);

#endif
