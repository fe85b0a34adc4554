/* Inputs of a model as its description gives them: expressions read, files read and checked. */
#ifndef DAE_SOLVE_API_MODEL_INPUTS_H
#define DAE_SOLVE_API_MODEL_INPUTS_H

#include "daedal.h"
#include "modelica/flatten/flatten.h"

/* One file in memory: times and columns, each as a list. */
typedef struct input_file {
    flatten_table table;
    double *numbers; /* times, then column by column; owned, as the two below */
    int *lines;
    char **names;       /* of columns, without units */
    const char **units; /* .. which stand in the names after their ends; NULL: none */
    size_t columns;
} input_file;

typedef struct model_inputs {
    flatten_input *list; /* owned, as the files */
    size_t count, capacity;
    input_file *files; /* one for each input that has a file; never moved */
    size_t file_count;
} model_inputs;

/* Whether the fields fit each other; DAE_ERR_ARGUMENT names the one that does not. */
dae_status model_inputs_check(const dae_model *model, dae_diag *diag);
/* DAE_ERR_FILE: a file cannot be read; DAE_ERR_ARGUMENT: something in it, or an expression. Texts
 * are borrowed from the model, or live in `a`. */
dae_status model_inputs_read(model_inputs *inputs, arena *a, ast_file *tree, const dae_model *model,
                             dae_diag *diag);
void model_inputs_free(model_inputs *inputs);

#endif
