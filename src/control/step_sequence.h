/* Steps that the user prescribes: opt.fixed_step, or the times of opt.step_sequence. */
#ifndef DAE_CONTROL_STEP_SEQUENCE_H
#define DAE_CONTROL_STEP_SEQUENCE_H

#include <daedal.h>
#include <stdbool.h>

/* Whether the user says how long steps are: every attempt that can be computed is accepted. */
bool steps_are_given(const dae_options *options);

/* The sequence is finite and goes one way, and no other option says how long steps are. */
dae_status sequence_check(const dae_options *options, dae_diag *diag);

/* It begins at t0 or behind it, and the stop time is not behind its end. */
dae_status sequence_check_span(const dae_options *options, double t0, dae_diag *diag);

/* +1 or -1: the way that the sequence goes from t0; 0: it is there already. */
double sequence_direction(const dae_options *options, double t0);

/* From t, which a step from t_old came to, to the next time of the sequence in that direction,
 * signed; 0: there is none. A time that is t but for rounding is passed. */
double sequence_step(const dae_options *options, double t_old, double t, double direction);

/* The first time behind t0 whose step differs from the one before by more than rounding; -1: none.
 */
int sequence_uneven(const dae_options *options, double t0);

#endif
