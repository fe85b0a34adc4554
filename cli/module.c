/* Modules: shared libraries beside the program, loaded when they are asked for. */
#define _POSIX_C_SOURCE 200809L
#include "module.h"

#include "cli.h"

#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

#ifndef DAEDAL_MODULE_DIR
#define DAEDAL_MODULE_DIR "/usr/local/lib/daedal"
#endif

/* The directory of this program; false: not known */
static bool own_directory(char *path, size_t size)
{
    ssize_t length = readlink("/proc/self/exe", path, size - 1);
    if (length <= 0) return false;
    path[length] = '\0';
    char *slash = strrchr(path, '/');
    if (slash) *slash = '\0';
    return slash != NULL;
}

/* Global: parts of MPI look for its names. */
static void *open_at(const char *directory, const char *below, const char *name)
{
    char path[4400];
    snprintf(path, sizeof path, "%s%s/daedal-%s.so", directory, below, name);
    if (access(path, R_OK) != 0) return NULL;
    return dlopen(path, RTLD_NOW | RTLD_GLOBAL);
}

void *module_symbol(const char *name, const char *symbol, const char **why)
{
    char own[4096];
    void *module = NULL;
    (void)dlerror();
    if (own_directory(own, sizeof own)) {
        module = open_at(own, "", name);
        if (!module) module = open_at(own, "/../lib/daedal", name);
    }
    if (!module) module = open_at(DAEDAL_MODULE_DIR, "", name);
    void *found = module ? dlsym(module, symbol) : NULL;
    *why = found ? NULL : dlerror();
    if (!found && !*why) *why = "it was not found when this program was built";
    return found;
}

const mpi_module *module_mpi(void)
{
    const char *why;
    mpi_module_fn function;
    void *symbol = module_symbol("mpi", "daedal_mpi_module", &why);
    memcpy(&function, &symbol, sizeof function);
    const mpi_module *module = symbol ? function() : NULL;
    if (module && module->version == MODULE_VERSION) return module;
    complain(CLI_USAGE,
             "this is a job of several ranks, and module daedal-mpi.so cannot be used: %s",
             module ? "it is of another version" : why);
    return NULL;
}

const hdf5_module *module_hdf5(void)
{
    const char *why;
    hdf5_module_fn function;
    void *symbol = module_symbol("hdf5", "daedal_hdf5_module", &why);
    memcpy(&function, &symbol, sizeof function);
    const hdf5_module *module = symbol ? function() : NULL;
    if (module && module->version == MODULE_VERSION) return module;
    complain(CLI_USAGE, "HDF5 files need module daedal-hdf5.so, which cannot be used: %s",
             module ? "it is of another version" : why);
    return NULL;
}
