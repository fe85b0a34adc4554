/* Syntax tree to flat model: names, types, sizes, loops, arrays, functions and records resolved. */
#ifndef DAE_MODELICA_FLATTEN_FLATTEN_H
#define DAE_MODELICA_FLATTEN_FLATTEN_H

#include "modelica/flatten/flat.h"
#include "modelica/syntax/message.h"

/* Values for parameters given from outside before flattening ("n" = 100), so that structural
 * parameters may be changed, too. */
typedef struct flatten_setting {
    const char *name;
    double value;
} flatten_setting;

/* What a model may cost to flatten; beyond it there is an error that says so. */
typedef struct flatten_limits {
    int elements; /* of one array, and variables and parameters in all */
    int nodes;    /* of the expression graph */
    int passes; /* items, statements and calls done in all; sixteen elements of arrays count as one
                 */
    int run_passes; /* of a loop whose number of passes is known only during the run, with the loops
                       in it */
    size_t bytes;   /* of declarations, of values at a time and of texts, each */
    int call_passes;   /* the part of `passes` that one call of a function may take, with all inside
                        */
    size_t call_bytes; /* .. and of the values */
    double reach; /* operations in the equations, those that several share counted for each: what
                     every analysis of them walks through */
} flatten_limits;

/* NULL if there are errors (in messages) or memory is exhausted. */
flat_model *flatten(const ast_file *file, const char *file_name, const flatten_setting *settings,
                    size_t setting_count, message_list *messages);
/* The same within other limits than the default ones. */
flat_model *flatten_within(const ast_file *file, const char *file_name,
                           const flatten_setting *settings, size_t setting_count,
                           flatten_limits limits, message_list *messages);

#endif
