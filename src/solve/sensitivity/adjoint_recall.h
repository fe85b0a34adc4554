/* Values of a trajectory that are not kept: pieces of the run are integrated again from states that
 * are, in binomial order [GW00]. How long the run will be nobody knows: on the way forth every
 * second state goes where there is room for no more.
 *
 * A run that is saved goes on with the same bits (docs/checkpoint.md), if it is asked the same
 * questions for values within its steps. So these are kept, as times. A second solver takes the
 * steps; checksums of all values tell whether it has found what the first one had. */
#ifndef DAE_SOLVE_SENSITIVITY_ADJOINT_RECALL_H
#define DAE_SOLVE_SENSITIVITY_ADJOINT_RECALL_H

#include "solve/bind/solver.h"

struct dae_adjoint;
struct adjoint_record;

/* Values that were asked for, behind so many calls of the observer within a call of the run. */
typedef struct question {
    double t;
    int behind;
    bool taken;
} question;

/* A call that went towards tend. */
typedef struct run_call {
    double tend;
    long question, record; /* the first ones */
} run_call;

/* The state of the run before a call. */
typedef struct saved_state {
    long call;
    unsigned char *bytes; /* owned */
    size_t count;
} saved_state;

typedef struct recall {
    struct dae_adjoint *j;
    run_observer follows; /* what the mixture does, */
    run_observer again;   /* and who follows the second run */
    question *questions;
    size_t question_room;
    long question_count;
    run_call *calls;
    size_t call_room;
    long call_count;
    saved_state *saves; /* in the order of calls; `most` places */
    int most, save_count;
    long stride;         /* calls from one to the next, on the way forth */
    double largest;      /* bytes of a state, */
    double call_bytes;   /* of values of the last call, */
    double record_bytes; /* and of a record, at most */
    int behind;          /* calls of the observer so far, in this call of the run */
    dae_solver *solver;  /* the second one; owned, NULL: none */
    long at;             /* before this call; -1: nowhere */
    long asked;          /* its next question */
    bool keeps;          /* values of its records */
    double *end;         /* values where this record ends; owned */
    size_t end_room;
    long end_of;
    long kept, kept_end; /* records with numbers are from here on, up to there */
    long integrated;     /* calls that it has made so far */
} recall;

recall *recall_new(struct dae_adjoint *j, int most); /* NULL: memory */
void recall_reset(recall *c);
void recall_free(recall *c);
/* The numbers of a new record become a checksum; its place in the run is noted. */
dae_status recall_note(struct dae_adjoint *j, struct adjoint_record *r);
/* Find the numbers of record i, and those of some before it; those behind `last` go. */
dae_status recall_find(struct dae_adjoint *j, long i, long last);

/* Where the next of s states is to be, in a run of `length` pieces that begins with the first of
 * them: behind so many pieces; 0: nowhere [GW00]. */
long recall_distance(long length, int s);

#endif
