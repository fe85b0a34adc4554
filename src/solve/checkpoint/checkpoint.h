/* All of a solver that decides how its run goes on, as bytes. */
#ifndef DAE_SOLVE_CHECKPOINT_CHECKPOINT_H
#define DAE_SOLVE_CHECKPOINT_CHECKPOINT_H

#include "base/persist.h"
#include "solve/bind/solver.h"

/* checkpoint_identity.c: the problem, its parameters and the options, which must be the same where
 * a checkpoint is read; s->diag names what differs. */
dae_status identity_persist(dae_solver *s, persist *p);
/* Sizes of the structs that are saved as they are in memory: another build may have others. */
uint64_t layout_signature(void);

/* checkpoint_state.c: the solver itself. Reading: what it has goes, and all is made anew from the
 * problem and the bytes alone, so that a run that was saved and one that was read go on alike. */
dae_status state_persist(dae_solver *s, persist *p);

/* checkpoint_api.c: both, into memory and back, for who follows a run and knows his own state. */
dae_status checkpoint_take(dae_solver *s, persist *p, dae_diag *diag);
dae_status checkpoint_give(dae_solver *s, persist *p, dae_diag *diag);
/* Whether the run stands where all of its state is known. */
bool checkpoint_has_place(dae_solver *s);

#endif
