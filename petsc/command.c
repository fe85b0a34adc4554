/* The door for the command, which knows neither MPI nor PETSc and loads this library by name. */
#include <petscsys.h>

#include "command.h"
#include "daedal_petsc.h"

static dae_petsc *opened;

int daedal_petsc_open(const char *words, petsc_opened *result, char *message, size_t size)
{
    PetscBool there;
    if (PetscInitialized(&there) || (!there && PetscInitializeNoArguments())) return -1;
    if (dae_petsc_new(PETSC_COMM_WORLD, words, &opened, message, size) != DAE_OK) return -1;
    result->integrator = dae_petsc_integrator(opened);
    result->rank = dae_petsc_rank(opened);
    result->ranks = dae_petsc_ranks(opened);
    return 0;
}

void daedal_petsc_close(void)
{
    dae_petsc_free(opened);
    opened = NULL;
    PetscFinalize();
}
