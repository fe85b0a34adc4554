/* Large programs of an instance in pieces: outputs first, .. of a program computed by a program of
 * their own, so that the threads of a team share them. No bit of a result depends on it. */
#ifndef DAE_MODEL_MODEL_PIECES_H
#define DAE_MODEL_MODEL_PIECES_H

#include "model/model.h"

typedef struct model_piece {
    model_program program;    /* its e is borrowed from the form, its code is owned */
    size_t first;             /* output of the whole */
    native_function function; /* NULL: the tape runs */
} model_piece;

typedef struct model_pieces {
    int count;
    bool native; /* all of them are */
    model_piece *piece;
} model_pieces;

/* Instructions from which on a program is cut. To wake a thread and to wait for it takes 10 to 30
 * us, an instruction of the tape 1 to 2 ns: estimates, not measurements (docs/notes/large.md). */
enum { PIECES_LEAST = 1 << 15 };

/* Let these threads share the programs of an instance that have `least` instructions or more; NULL:
 * none. False: memory, and all is as it was without. Reads the graph of the model: lock it. */
bool model_instance_share(model_instance *m, struct team *threads, size_t least);
void model_pieces_free(model_pieces *p); /* NULL is fine, here and below */
/* Parameters or memory have changed. */
void model_pieces_prepare(model_pieces *p, const tape_inputs *in);
/* out = the outputs of the whole; returns whether a tape has run */
bool model_pieces_run(model_pieces *p, struct team *threads, const tape_inputs *in, double *out);

/* dfdy and dfdyp from the outputs of the Jacobian's program, by their places */
void model_scatter(struct team *threads, size_t count, const int *place, const double *value,
                   double *dfdy, double *dfdyp);

#endif
