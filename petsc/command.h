/* What the command finds in this library by name. */
#ifndef DAEDAL_PETSC_COMMAND_H
#define DAEDAL_PETSC_COMMAND_H

#include <daedal.h>

typedef struct petsc_opened {
    const dae_integrator *integrator;
    int rank, ranks;
} petsc_opened;

/* Begin, with words for PETSc; 0, or -1 with a message. Then end. */
DAE_API int daedal_petsc_open(const char *words, petsc_opened *result, char *message, size_t size);
/* Words of these that PETSc has not asked for so far, "-a, -b"; how many. Those that it looks at
 * when it ends do not count. */
DAE_API int daedal_petsc_unused(const char *words, char *text, size_t size);
DAE_API void daedal_petsc_close(void);

#endif
