/* The door for the command, which knows neither MPI nor PETSc and loads this library by name. */
#include <petscsys.h>
#include <stdio.h>
#include <string.h>

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

/* Whether a word stands among these: others may be in the environment. */
static int is_among(const char *words, const char *name)
{
    const size_t n = strlen(name);
    for (const char *at = strstr(words, name); at; at = strstr(at + 1, name)) {
        const int begins = at > words && at[-1] == '-' && (at - words == 1 || at[-2] == ' ');
        if (begins && (at[n] == '\0' || strchr(" \t\n=", at[n]))) return 1;
    }
    return 0;
}

/* What PETSc asks for in PetscFinalize. */
static int is_for_the_end(const char *name)
{
    static const char *const ends[] = {"log_", "options_", "malloc_", "objects_", "memory_"};
    for (size_t k = 0; k < sizeof ends / sizeof *ends; k++)
        if (strncmp(name, ends[k], strlen(ends[k])) == 0) return 1;
    return 0;
}

/* One more name for a list; how many it has then. */
static int add_name(const char *name, int count, char *text, size_t size)
{
    const size_t at = strlen(text);
    if (at + 1 < size) snprintf(text + at, size - at, "%s-%s", count > 0 ? ", " : "", name);
    return count + 1;
}

/* What PETSc asks for, and Daedal decides: tolerances, steps and times. */
static int add_overruled(const char *words, int count, char *text, size_t size)
{
    static const char *const ours[] = {"ts_rtol",     "ts_atol",       "ts_dt",
                                       "ts_max_time", "ts_final_time", "ts_max_steps",
                                       "ts_init_time"};
    for (size_t k = 0; k < sizeof ours / sizeof *ours; k++)
        if (is_among(words, ours[k])) count = add_name(ours[k], count, text, size);
    return count;
}

int daedal_petsc_unused(const char *words, char *text, size_t size)
{
    PetscInt left = 0;
    char **names = NULL, **values = NULL;
    int count = 0;
    text[0] = '\0';
    if (!words || PetscOptionsLeftGet(NULL, &left, &names, &values)) return 0;
    for (PetscInt k = 0; k < left; k++) {
        if (is_among(words, names[k]) && !is_for_the_end(names[k]))
            count = add_name(names[k], count, text, size);
    }
    PetscOptionsLeftRestore(NULL, &left, &names, &values);
    return add_overruled(words, count, text, size);
}

void daedal_petsc_close(void)
{
    dae_petsc_free(opened);
    opened = NULL;
    PetscFinalize();
}
