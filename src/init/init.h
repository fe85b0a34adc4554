/* Consistent initial values: start, events and restarts go through this one engine. */
#ifndef DAE_INIT_INIT_H
#define DAE_INIT_INIT_H

#include "forms/forms.h"
#include "matrix/iteration.h"

typedef struct initializer initializer;

/* Allocates all work space, but for the dense arrays of the general engine when nothing says yet
 * that it is needed. eval, matrix and options are borrowed and must outlive the initializer;
 * kinds[j] (n, resolved: never AUTO) and weights are borrowed per call. */
dae_status initializer_new(initializer **init, evaluator *eval, iteration *matrix,
                           const dae_options *options, dae_diag *diag);
void initializer_free(initializer *init);
/* Beside its matrix: what it knows of it, in a checkpoint. */
void initializer_persist(initializer *init, persist *p);

/* Values of y that never move, to be told by the caller (n, all false at first). */
bool *initializer_fixed(initializer *init);
/* Which values of y are guesses that somebody gave (n, borrowed until told otherwise); NULL: all.
 */
void initializer_guessed(initializer *init, bool *guessed);
/* Whether of several solutions the one near the guess is sought, as at a start; it takes time. */
void initializer_nearest(initializer *init, bool nearest);
/* The caller has a better engine for what Newton's iteration cannot do: it is to fail then. */
void initializer_rescued(initializer *init, bool rescued);
/* Unknowns from `first` on are derivatives, unknown j that of slope_of[j] (borrowed), although F
 * sees values in all of them: tolerances of values say nothing of them. NULL: there are none. */
void initializer_slopes(initializer *init, int first, const int *slope_of);

/* Whether the search for values had to leave its start, and there is another solution: its
 * variable (-1: none was seen), the value there, and whether that is of its derivative. */
int initializer_other(const initializer *init, double *value, bool *slope);

/* Make (y, yp) consistent at t in the way `mode` says (never AUTO or NONE). On success y and yp are
 * overwritten, unless they were consistent already; on failure they hold the last iterate, or what
 * was given, and diag names the equations that could not be met, by name and size. h: the scale of
 * the coming step (sign = direction). The partial derivatives and factors in `matrix` are lost. */
dae_status initialize(initializer *init, dae_init mode, double t, double h, const dae_kind *kinds,
                      const double *weights, double *y, double *yp, dae_diag *diag);

/* Whether Newton's matrix has full rank at values that meet F = 0; true where that is not known. */
bool initializer_regular(initializer *init, double t, double h, const dae_kind *kinds,
                         const double *weights, const double *y, const double *yp);

/* For values that meet F = 0 where it has not: hidden constraints by one differentiation, as where
 * a coefficient of y' vanishes. */
dae_status initialize_hidden(initializer *init, double t, double h, const dae_kind *kinds,
                             const double *weights, double *y, double *yp, dae_diag *diag);

/* Correct the algebraic variables (and y' of differential ones) at fixed differential y: the
 * projection of dense output, repeated with one matrix until corrections are small. Returns
 * EVAL_RETRY if it did not help (y, yp unchanged). */
eval_status initializer_project(initializer *init, double t, double h, const dae_kind *kinds,
                                const double *weights, double *y, double *yp);
/* One such correction with fresh derivatives, wherever it leads: the direction in which a solution
 * is sought. y, yp unchanged: there is none. */
void initializer_correct(initializer *init, double t, double h, const dae_kind *kinds,
                         const double *weights, double *y, double *yp);

/* Callbacks in mechanical, Hessenberg and quasilinear form (forms.c). */

/* Move the unknowns of the form as little as possible (in units of weights; tags FIXED: not at all)
 * onto the constraints of all levels, and find y'. tags may be NULL. y and yp have the form's size.
 */
dae_status form_consistent(form_instance *instance, double t, const double *weights,
                           const dae_tag *tags, double *y, double *yp, dae_diag *diag);

#endif
