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

/* Rows of numbers that inputs follow, borrowed. */
typedef struct flatten_table {
    const char *name; /* of the file, for messages */
    size_t rows;
    const double *time;    /* per row, never going down */
    const int *lines;      /* of the file, per row; NULL: there are none */
    bool hold;             /* see flat_schedule */
    const char *time_unit; /* of the file, if its times had to be converted to s; else NULL */
} flatten_table;

/* What drives an input of the model, in the place of its binding or start value. */
typedef struct flatten_input {
    const char *name;                        /* of the input, quotes left out or not */
    const char *source;                      /* for messages: the expression or the file */
    const ast_expr *expression;              /* over the names of the model; or */
    const flatten_table *table;              /* one for all inputs that follow its rows, */
    const double *values;                    /* with a value per row, */
    const char *unit;                        /* in this unit; NULL: that of the input, */
    flat_curve curve;                        /* that of a Real: others step */
    const graph_signal *signal;              /* or a function; name: not used */
    double (*jump)(double time, void *user); /* its next jump; NULL: it has none */
    bool optional; /* a column of a file, which may be none of the model's inputs */
} flatten_input;

/* left = right at the end of a boundary value problem, over the names of the model. */
typedef struct flatten_condition {
    const ast_expr *left, *right;
    const char *text; /* as it was given, for messages */
} flatten_condition;

/* All that is given from outside. */
typedef struct flatten_given {
    const flatten_setting *settings;
    size_t setting_count;
    const flatten_input *inputs; /* those that share a table stand together */
    size_t input_count;
    const flatten_condition *terminals; /* beside those of the annotation */
    size_t terminal_count;
    bool simplified;     /* homotopy(a, s) is s + way*(a - s) over a parameter, `way`, that is 1 */
    bool allow_external; /* C code of the text is compiled and called */
} flatten_given;

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
/* The same with inputs that are driven, or for a start from simplified equations. */
flat_model *flatten_driven(const ast_file *file, const char *file_name, const flatten_given *given,
                           message_list *messages);
/* The first one within other limits than the default ones. */
flat_model *flatten_within(const ast_file *file, const char *file_name,
                           const flatten_setting *settings, size_t setting_count,
                           flatten_limits limits, message_list *messages);

#endif
