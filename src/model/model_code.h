/* Native code of a problem: the programs of all its forms, found by what they compute and compiled
 * once, however many modes and solvers run them.
 *
 * One compiler is at work at a time, beside the runs. Solvers ask now and then whether it is done,
 * and go on natively between two evaluations: no bit changes. The lock of the graph may be held by
 * who calls; none of these takes it while it holds its own. */
#ifndef DAE_MODEL_MODEL_CODE_H
#define DAE_MODEL_MODEL_CODE_H

#include "model/model.h"
#include "model/model_kernels.h"

typedef struct model_code model_code;

model_code *model_code_new(void);       /* NULL: memory */
void model_code_free(model_code *code); /* ends a compiler that runs; NULL is fine */

/* Give the instance the functions that are there for its programs. */
void model_code_adopt(model_instance *m);
/* Programs of some instances that have no native code: those that matter for the work so far, or
 * all of them. */
typedef struct code_need {
    double work;    /* instructions that the tape has run for them */
    double length;  /* their instructions, those in loops once, */
    double unknown; /* of those that were not looked for */
} code_need;
code_need model_code_need(model_instance *const *m, int count, bool all);

/* Look for them in this process and in the cache, once for each. False: memory. */
bool model_code_look(model_instance *const *m, int count, bool all);

/* Start compiling them; `modest`: the run goes first. NATIVE_OK also where there is nothing to do,
 * or a compiler is at work. */
native_status model_code_begin(model_instance *const *m, int count, bool all, bool modest,
                               char *reason);

typedef enum code_state {
    CODE_IDLE,  /* no compiler is at work */
    CODE_BUSY,  /* one is */
    CODE_CAME,  /* one has ended well since the last question: adopt what it made */
    CODE_FAILED /* or not: reason tells */
} code_state;

/* What the compiler does; a call of the system. */
code_state model_code_poll(model_code *code, char *reason);
/* The same for who does not care: a solver goes, and no process that has ended is left behind. */
void model_code_reap(model_code *code);
/* Wait until none is at work, or the caller is interrupted. */
code_state model_code_wait(model_code *code, char *reason);

/* Where solvers say which matrices they eliminate, and find code for that. */
kernel_store *model_code_kernels(model_code *code); /* NULL for NULL */
/* Those that lack it; nothing while a compiler is at work */
kernel_need model_code_kernel_need(model_code *code);
/* Look for it in this process and in the cache, once for each. False: memory. */
bool model_code_look_kernels(model_code *code);
/* Start compiling it; polled and settled as above, but nobody hears of a failure. */
native_status model_code_begin_kernels(model_code *code, bool modest);

/* Seconds that compilers have worked for the problem, */
double model_code_seconds(model_code *code);
/* that one would need for so many instructions, by what others took in this process, */
double model_code_forecast(double length);
/* and instructions that the tape ran for instances that are gone. */
double model_code_earlier(model_code *code);
/* An instance goes: note its work. */
void model_code_note(const model_instance *m);

/* Instructions that the tape ran for an instance. */
double model_instance_work(const model_instance *m);

#endif
