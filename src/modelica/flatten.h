/* Syntax tree to flat model: names, types, sizes, loops, arrays, functions and records resolved. */
#ifndef DAE_MODELICA_FLATTEN_H
#define DAE_MODELICA_FLATTEN_H

#include "modelica/flat.h"
#include "modelica/message.h"

/* Values for parameters given from outside before flattening ("n" = 100), so that structural
 * parameters may be changed, too. */
typedef struct flatten_setting {
    const char *name;
    double value;
} flatten_setting;

/* NULL if there are errors (in messages) or memory is exhausted. */
flat_model *flatten(const ast_file *file, const char *file_name, const flatten_setting *settings,
                    size_t setting_count, message_list *messages);

#endif
