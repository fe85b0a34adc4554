/* Stopping a call of the library that takes long.
 *
 * A public call that can take long opens a scope with the caller's callback. What works inside it
 * asks by interrupted(): every allocation does, and loops that allocate nothing do by themselves.
 * Once the answer was to stop, all further allocations in the scope fail, so that the call unwinds
 * on the paths that are there, and tested, for exhausted memory; who closes the scope tells the
 * difference. */
#ifndef DAE_BASE_INTERRUPT_H
#define DAE_BASE_INTERRUPT_H

#include "daedal.h"

typedef struct interrupt_scope {
    int (*ask)(void *user); /* NULL: never asked */
    void *user;
    int countdown; /* questions until the callback is asked again */
    bool fired;    /* it asked to stop */
    bool whole;    /* the call is given up as a whole: nothing is lost by stopping anywhere */
    struct interrupt_scope *outer;
} interrupt_scope;

/* Open a scope on this thread. Without a callback that of the scope around it is asked. */
void interrupt_open(interrupt_scope *scope, int (*ask)(void *user), void *user);
/* The same for a step. */
void interrupt_open_step(interrupt_scope *scope, int (*ask)(void *user), void *user);

/* Close it. True: the callback asked to stop, so whatever the call made is not to be used. */
bool interrupt_close(interrupt_scope *scope);

/* Whether to stop. Cheap: the callback is asked every so many calls only. */
bool interrupted(void);
/* The same, asking at once: for who has waited already. */
bool interrupted_now(void);

/* The same where the call is one that is given up as a whole: what a step has begun goes on to its
 * next attempt, where it can be interrupted without a trace. */
bool interrupted_whole(void);

/* "Interrupted during the translation of the model." */
dae_status interrupt_explain(dae_diag *diag, const char *during);

#endif
