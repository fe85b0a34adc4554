/* What the continuous adjoint keeps of a run: values, not matrices. The equations of the past are
 * linearised again on the way back, at any time: their form, its choice of states, and what memory
 * (discrete variables, relations) had then are kept in stretches. */
#ifndef DAE_SOLVE_SENSITIVITY_ADJOINT_TRAJECTORY_H
#define DAE_SOLVE_SENSITIVITY_ADJOINT_TRAJECTORY_H

#include "base/persist.h"
#include "solve/sensitivity/tangent_ledger.h"

/* Consecutive steps with the same equations. */
typedef struct stretch {
    int space;      /* of the ledger */
    bool plain;     /* its constraints do not show */
    double *memory; /* of the model, owned; NULL: callbacks */
    persist choice; /* of states; bytes owned */
} stretch;

/* The equations of a space, apart from all solvers. */
typedef struct replay_space {
    model_instance *instance; /* owned; NULL: callbacks */
    int stretch;              /* whose memory and choice it has; -1: none */
    size_t entries;           /* of its own pattern, */
    size_t *place;            /* where they are in the layout of the space, */
    double *values;           /* and both matrices on it; owned */
    double *rtol, *atol;      /* n each; owned: rtol */
} replay_space;

typedef struct trajectory {
    stretch *stretches; /* owned, as all */
    size_t stretch_room;
    int stretch_count;
    replay_space *spaces; /* as those of the ledger */
    size_t space_room;
    int space_count;
    double *last; /* Y, Y' where the last record ends, */
    size_t last_room;
    double last_t; /* at this time; NAN: there is none */
    /* How far values are from a polynomial; what of this no step makes smaller; and where a step
     * was refused for it first, its length, and the worst of it. */
    double *gap, *noise; /* n each; owned: gap */
    size_t gap_room;
    double gap_t, gap_h, gap_worst;
    double *zero; /* stages of S where there is none, and room for what integrals write */
    size_t zero_room;
} trajectory;

void trajectory_reset(trajectory *q); /* leaves it empty, but for its room */
void trajectory_free(trajectory *q);

/* Weights of the beginning and of all stages at x in [0, 1] of a step. */
void trajectory_weights(const collocation *c, double x, double *weight);

/* ---- adjoint_replay.c ---- */

struct dae_adjoint;

/* The stretch of what the lead is now. Negative: memory. */
int replay_take(struct dae_adjoint *j);

/* Where the way back stands: which equations it linearises. */
typedef struct replay {
    struct dae_adjoint *j;
    int stretch;
    int n;
    const matrix_layout *layout;
    bool plain;
    bool *state; /* n: has a place in psi; owned */
    size_t state_room;
    const double *rtol, *atol;           /* n each */
    const model_tangent *rows, *outputs; /* NULL: callbacks */
    size_t explicit_size;                /* numbers that F_p follows from */
    long version;                        /* counts layouts */
} replay;

/* The lead is as it was. */
dae_status replay_leave(replay *r);
/* The equations of a stretch; y: Y, then Y' at t of its end. */
dae_status replay_enter(replay *r, int number, double t, const double *y);
/* Whether its choice of states is good at (t, y); else the one at that point is taken. */
dae_status replay_hold(replay *r, double t, const double *y, bool *changed);
/* F_Y, F_Y' at (t, y), and what F_p follows from there. */
dae_status replay_linearise(replay *r, double t, const double *y, double *fy, double *fyp,
                            double *explicit_part);
/* All variables at (t, y) in j->outputs, and r->outputs taken there. */
dae_status replay_outputs(replay *r, double t, const double *y);
/* to += F_p' weight: per input of a model, or per parameter of callbacks. */
dae_status replay_explicit_back(replay *r, double t, const double *y, const double *explicit_part,
                                const double *weight, double *to);

#endif
