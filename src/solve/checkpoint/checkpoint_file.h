/* A file that appears complete or not at all, whatever ends the process meanwhile. */
#ifndef DAE_SOLVE_CHECKPOINT_CHECKPOINT_FILE_H
#define DAE_SOLVE_CHECKPOINT_CHECKPOINT_FILE_H

#include <stdio.h>

#include "daedal.h"

typedef struct checkpoint_file {
    const char *path; /* borrowed */
    char *temporary;  /* beside it; owned */
    FILE *stream;
    int reason; /* errno of the first failure; 0: none */
} checkpoint_file;

dae_status checkpoint_file_open(checkpoint_file *file, const char *path, dae_diag *diag);
int checkpoint_file_write(const void *bytes, size_t count, void *file); /* a dae_write_fn */
/* In its place if `status` is DAE_OK and all of it is on the disk; else it goes. */
dae_status checkpoint_file_close(checkpoint_file *file, dae_status status, dae_diag *diag);

FILE *checkpoint_file_read(const char *path, dae_diag *diag);       /* NULL: diag says why */
size_t checkpoint_file_take(void *bytes, size_t count, void *file); /* a dae_read_fn */

#endif
