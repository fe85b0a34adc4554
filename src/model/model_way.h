/* Whether the way from simplified equations to actual ones matters for a start. */
#ifndef DAE_MODEL_MODEL_WAY_H
#define DAE_MODEL_MODEL_WAY_H

#include "model/model.h"

/* Of a form with flat->way_parameter. *matters: its equations see that parameter, and are not
 * linear in what a start solves them for, so that there may be several solutions, and the way
 * chooses. Elsewhere, as in a limiter that states and time drive, its end is all that counts.
 * False: memory.
 */
bool model_way_matters(const model_form *f, bool *matters);

#endif
