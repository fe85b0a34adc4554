/* Forcing: what of the equations moves as time alone says, and what states drive. */
#ifndef DAE_MODEL_MODEL_FORCING_H
#define DAE_MODEL_MODEL_FORCING_H

#include "model/model.h"

/* Nodes that depend on time, and on the past that delays of constant lags lead to. */
typedef struct model_forcing {
    expr *nodes; /* nonlinear, or delayed values, without jumps; owned */
    bool *past;  /* per node: it reads delayed values; owned */
    size_t count;
    int *given;  /* unknowns that are functions of time; owned */
    expr *value; /* these functions; owned */
    int given_count;

    /* What states drive besides: crossing functions of relations, then what is delayed, then other
     * nodes; nonlinear, without jumps. Unknowns that an equation gives are replaced. */
    expr *driven;       /* owned */
    int *driven_source; /* per node: its relation or its delay; owned */
    size_t driven_crossings, driven_delays, driven_count;
    expr *functions; /* what more than polynomials is made of; owned */
    size_t function_count;
    int *moving; /* states that these read; owned */
    int moving_count;
    int *followed;        /* unknowns that are functions of states and time; owned */
    expr *followed_value; /* these functions; owned */
    int followed_count;
} model_forcing;

/* Those of a form, *f zeroed before; the graph is entered. False: memory; free it in any case. */
bool model_forcing_find(model_forcing *f, const model_form *form);
void model_forcing_free(model_forcing *f);

#endif
