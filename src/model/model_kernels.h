/* Native code for the elimination of a problem's matrices: which shapes lack it, their text, and
 * what came of it. Under the lock of model_code.c. */
#ifndef DAE_MODEL_MODEL_KERNELS_H
#define DAE_MODEL_MODEL_KERNELS_H

#include "expr/emit.h"
#include "expr/native.h"
#include "linalg/elimination_kernel.h"

/* Shapes with a part of the lists' work that matters, without code so far: as many as a compiler
 * takes a second for */
typedef struct kernel_need {
    double work;  /* seconds that lists took for them */
    double bytes; /* of C, about */
    int unknown;  /* of them, not looked for */
} kernel_need;
kernel_need kernels_need(kernel_store *store);

/* Look for one in this process and in the cache: true, with a module for it to be kept. False:
 * there is none that was not looked for, or it is nowhere. */
bool kernels_look(kernel_store *store, native_module **module);

/* Text for these, which are pending from now on, and their keys; returns how many */
size_t kernels_write(kernel_store *store, emit_text *text, native_key keys[KERNELS_MOST]);
/* Those that are pending have what the module gives them, or failed (NULL). */
void kernels_settle(kernel_store *store, const native_module *module);

#endif
