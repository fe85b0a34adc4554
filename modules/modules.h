/* Modules that the command loads when they are asked for, so that it does without the libraries
 * behind them: daedal-mpi.so and daedal-hdf5.so, where these were found when Daedal was built. */
#ifndef DAEDAL_MODULES_H
#define DAEDAL_MODULES_H

#include "report.h"

/* Both ends are of one build; a module of another one is refused by this number. */
enum { MODULE_VERSION = 1 };

/* Messages between the ranks of a job. Functions return 0, or the error of MPI. */
typedef struct mpi_module {
    int version;
    int (*begin)(int *rank, int *size);
    int (*send)(int to, int tag, const void *bytes, size_t count);
    /* *found: a message waits, from whom, of what kind and size */
    int (*probe)(int *found, int *from, int *tag, size_t *count);
    int (*receive)(int from, int tag, void *bytes, size_t count);
    void (*finish)(void);
    void (*give_up)(int code); /* ends all ranks */
} mpi_module;

typedef struct hdf5_module {
    int version;
    /* Write the table into a new file. 0: done; else why not, as a text that is static. */
    const char *(*write)(const char *path, const report_sweep *sweep);
} hdf5_module;

/* What a module exports. */
typedef const mpi_module *(*mpi_module_fn)(void);   /* daedal_mpi_module */
typedef const hdf5_module *(*hdf5_module_fn)(void); /* daedal_hdf5_module */

#endif
