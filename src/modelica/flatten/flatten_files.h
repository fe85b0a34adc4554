/* Numbers of files, which are read while a model is translated. */
#ifndef DAE_MODELICA_FLATTEN_FLATTEN_FILES_H
#define DAE_MODELICA_FLATTEN_FLATTEN_FILES_H

#include "modelica/flatten/flatten_internal.h"
#include "modelica/library/table_file.h"

/* Report what is wrong with a file, with its line and column; no text means memory. False. */
bool report_trouble(flattener *f, source_place place, const char *path, const table_trouble *t);

/* Whether C functions of the Standard Library of this name read matrices of files. */
bool is_file_function(const char *name);
/* Call it for a function whose locals are open; false: an error was reported. */
bool call_file_function(flattener *f, const ast_class *fn);

#endif
