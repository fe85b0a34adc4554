/* Modules that are loaded when they are asked for. */
#ifndef DAEDAL_CLI_MODULE_H
#define DAEDAL_CLI_MODULE_H

#include "modules.h"

/* The function `symbol` of module "daedal-NAME.so": beside the program, or where it is installed.
 * NULL: there is none, and *why tells. It stays loaded. */
void *module_symbol(const char *name, const char *symbol, const char **why);

/* NULL after a message: this build has none. */
const mpi_module *module_mpi(void);
const hdf5_module *module_hdf5(void);

#endif
