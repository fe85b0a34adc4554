/* Symbolic execution of statements. */
#ifndef DAE_MODELICA_FLATTEN_EXECUTE_H
#define DAE_MODELICA_FLATTEN_EXECUTE_H

#include "modelica/flatten_internal.h"

/* Run the algorithm of a function whose locals are open; false: an error was reported. */
bool execute_function(flattener *f, const ast_class *fn);

/* Assign v to a local, or to the elements that the subscripts pick. */
bool assign_local(flattener *f, size_t index, const subscript *s, size_t count, const value *v,
                  source_place place);

#endif
