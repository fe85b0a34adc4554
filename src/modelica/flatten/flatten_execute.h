/* Symbolic execution of statements. */
#ifndef DAE_MODELICA_FLATTEN_FLATTEN_EXECUTE_H
#define DAE_MODELICA_FLATTEN_FLATTEN_EXECUTE_H

#include "modelica/flatten/flatten_internal.h"

/* Run the algorithm of a function whose locals are open; false: an error was reported. */
bool execute_function(flattener *f, const ast_class *fn);

/* Assign v to a local, or to the elements that the subscripts pick. */
bool assign_reference(flattener *f, const ast_expr *left, const value *v); /* left := v */
bool assign_local(flattener *f, size_t index, const subscript *s, size_t count, const value *v,
                  source_place place);

/* The result of a function with complete arguments. */
value invoke(flattener *f, const ast_class *fn, const value *values, const bool *given,
             source_place place);

/* Who answers calls of C functions that are no functions of our library. A table, since they
 * execute functions themselves: files that call each other in a circle would grow. */
typedef struct external_calls {
    bool (*is_file)(const char *name);
    bool (*file)(flattener *f, const ast_class *fn);
    bool (*is_random)(const ast_class *fn);
    bool (*random)(flattener *f, const ast_class *fn, source_place place);
    bool (*own_code)(flattener *f, const ast_class *fn);
} external_calls;

/* ---- flatten_random.c ---- */

/* Whether an external function with a call draws random numbers from a hidden state, or sets it. */
bool is_random_function(const ast_class *fn);
bool call_random_function(flattener *f, const ast_class *fn, source_place place);

/* ---- flatten_external.c ---- */

/* Call the C code of the text whose locals are open, and assign its results; false: an error was
 * reported. */
bool call_own_code(flattener *f, const ast_class *fn);

/* ---- flatten_arguments.c ---- */

/* Whether an expression is the name of an output of the function. */
bool is_output(const ast_class *fn, const ast_expr *e);

size_t count_inputs(const ast_class *fn);
const ast_component *input_component(const ast_class *fn, size_t number);

/* Arguments per input; values of those not given mean nothing. */
typedef struct argument_list {
    value *values;
    bool *given;
    size_t count;
} argument_list;

/* Room for them; `bound`: a function value that has some already, or NULL. */
bool new_arguments(flattener *f, const ast_class *fn, const value *bound, argument_list *out);
/* Those of a call, beside what is given already. */
bool collect_arguments(flattener *f, const ast_class *fn, const ast_expr *call, argument_list *a);
/* The function that an input which is a function looks like; NULL: it is none. */
const ast_class *function_interface(flattener *f, const ast_component *c);
bool check_function_value(flattener *f, const ast_class *fn, const ast_component *c,
                          const ast_class *interface, const value *v, source_place place);

/* ---- flatten_calls.c: results of calls, kept ---- */

/* What there was before a call. */
typedef struct call_mark {
    double passes;
    int messages, memory;
    size_t asserts;
} call_mark;

/* The result of the same call before; false: there was none that is known. */
bool call_recall(flattener *f, const ast_class *fn, const argument_list *a, value *result);
call_mark call_begins(const flattener *f);
/* Keep the result of a call, if executing it again would do nothing else. */
void call_keep(flattener *f, const ast_class *fn, const argument_list *a, const value *result,
               const call_mark *m);
void calls_free(kept_calls *calls);

/* ---- parts of the machine, for loops of the run ---- */

void set_cell(flattener *f, expr *cell, expr e); /* can be undone by take_back */
bool execute_items(flattener *f, ast_item *const *items, size_t count);
/* The body of a for, under its iterators from `depth` on. */
bool loop_nest(flattener *f, const ast_item *item, size_t depth);

/* Cells a way has changed and what they hold after it. */
typedef struct change_list {
    expr **cells;
    expr *values;
    size_t count;
} change_list;

/* Index table over cells: slot -> position + 1. */
typedef struct cell_index {
    uint32_t *slots;
    size_t mask;
} cell_index;

bool cell_index_new(flattener *f, cell_index *x, size_t most);
/* Position of the cell in the list, added if it is new. */
size_t cell_position(cell_index *x, change_list *list, expr *cell);
/* The same, SIZE_MAX if it is not there. */
size_t cell_find(const cell_index *x, const change_list *list, const expr *cell);
/* Undo everything since `mark`, keeping what the cells held; order is that of first change. */
bool take_back(flattener *f, size_t mark, change_list *out);

/* flatten_loop.c: loops whose number of passes is known only during the run become loops of the
 * expression graph. The condition of the while is not known; the range of the for is not. */
typedef struct run_range {
    expr start, stop;
    double step;
} run_range;
bool is_run_range(flattener *f, const ast_iterator *it, run_range *out);
bool execute_run_while(flattener *f, const ast_item *item);
bool execute_run_for(flattener *f, const ast_item *item, size_t depth, const run_range *r);

#endif
