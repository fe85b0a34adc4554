/* What states drive, over whole steps (driven.c). */
#ifndef DAE_SOLVE_HYBRID_DRIVEN_H
#define DAE_SOLVE_HYBRID_DRIVEN_H

#include "control/attempt.h"
#include "model/model_forcing.h"

struct dae_solver;
struct persist;

typedef struct driven driven;

/* For the nodes of `terms`, which must stay; the graph is entered. NULL: memory. */
driven *driven_new(const model_form *form, const model_forcing *terms);
void driven_free(driven *q); /* NULL is fine */

/* A run begins, or goes on after an event, where the solver stands. */
void driven_bind(struct dae_solver *s, driven *q);
/* The part of the step of an attempt after which a node does what the attempt has not seen, and
 * that matters; 1: nowhere. cut: the attempt is shorter for that reason. */
double driven_part(struct dae_solver *s, driven *q, const attempt *a, bool cut);
/* The last attempt is a step, whether it was looked at or not. */
void driven_accept(const struct dae_solver *s, driven *q);
/* Sets what follows states and time in y, for watch/defect.h; the context is the `driven`. */
void driven_follow(void *context, struct dae_solver *s, double t, double *y);
void driven_persist(driven *q, struct persist *p);

#endif
