/* A run by PETSc. */
#ifndef DAEDAL_CLI_PETSC_H
#define DAEDAL_CLI_PETSC_H

#include "run.h"

typedef struct petsc_library {
    bool opened;
    int ranks;
    const char *words; /* borrowed */
    void (*close)(void);
    int (*unused)(const char *, char *, size_t);
} petsc_library;

/* Load it where it is asked for; the request takes its integrator, and on ranks but the first
 * nothing is written. Exit code. Close in any case, after solvers are gone. */
int petsc_open(request *r, petsc_library *p);
/* `ended`: the run came to its end, and words that PETSc did not ask for are told. */
void petsc_close(petsc_library *p, bool ended);

#endif
