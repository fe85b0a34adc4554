/* Forcing: what of the equations moves as time alone says. */
#ifndef DAE_MODEL_MODEL_FORCING_H
#define DAE_MODEL_MODEL_FORCING_H

#include "model/model.h"

/* Nodes that depend on time, on the past that delays of constant lags lead to, and on unknowns
 * whose motion time alone decides ("clocks"): c' = 1, a crank that turns evenly. */
typedef struct model_forcing {
    expr *nodes; /* nonlinear, or delayed values, without jumps; owned */
    bool *past;  /* per node: it reads delayed values; owned */
    size_t count;
    int *clocks; /* unknowns of the form that the nodes may read; owned */
    int clock_count;
    int *given;  /* unknowns that are functions of time and clocks; owned */
    expr *value; /* these functions; owned */
    int given_count;
} model_forcing;

/* Those of a form, *f zeroed before; the graph is entered. False: memory; free it in any case. */
bool model_forcing_find(model_forcing *f, const model_form *form);
void model_forcing_free(model_forcing *f);

#endif
