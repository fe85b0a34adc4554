/* What is done to one sensitivity where it takes no step, as a list of linear operations that can
 * be gone through backwards: across an event, or over to the unknowns of another form. They work on
 *
 *     S, S'    of the lead's unknowns,          D        total derivatives in the user's, y and y',
 *     m        rates of the inputs,             tau      the derivative of the time of the event.
 */
#ifndef DAE_SOLVE_SENSITIVITY_TANGENT_LEDGER_H
#define DAE_SOLVE_SENSITIVITY_TANGENT_LEDGER_H

#include "solve/sensitivity/sensitivity_parts.h"
#include "solve/sensitivity/stage_system.h"

/* Unknowns and pattern of a stretch of steps. */
typedef struct tangent_space {
    const form_tangents *tangents; /* NULL: callbacks */
    const model_form *form;        /* likewise */
    bool formulated;               /* its unknowns are not those of the user */
    matrix_layout layout;          /* owned, */
    bool *state;                   /* as this: per unknown */
    int n;
} tangent_space;

typedef struct tangent_ledger {
    tangent_space *spaces; /* all so far; owned */
    size_t space_room;
    int space_count, space; /* and the one at hand */
    double *numbers;        /* operations since ledger_begin; owned */
    size_t count, room;
    size_t point; /* where the derivatives at hand begin */
    bool failed;  /* out of memory since ledger_begin */
} tangent_ledger;

void ledger_free(tangent_ledger *t); /* leaves it zeroed */
/* Forget all spaces. */
void ledger_reset(tangent_ledger *t);
/* The space of the lead, whose equations were linearised. False: memory. */
bool ledger_take_space(tangent_ledger *t, const lead *l);

/* ---- recording; nothing happens where t is NULL ---- */

void ledger_begin(tangent_ledger *t);
/* The derivatives of the lead's equations, just taken, are those of what follows. */
void ledger_point(tangent_ledger *t, const lead *l);
/* D = (S, S') in the user's unknowns, and back. */
void ledger_to_user(tangent_ledger *t);
void ledger_from_user(tangent_ledger *t);
/* Algebraic S and S' of states follow from S of states; and from tau, if time moves. */
void ledger_complete(tangent_ledger *t, bool with_tau);
/* S += time_s tau, S' += time_p tau */
void ledger_time(tangent_ledger *t, const double *time_s, const double *time_p);
/* tau = - row r of the crossing functions, on (S, S', m), over rate */
void ledger_tau_of_relation(tangent_ledger *t, const lead *l, int row, double rate);
/* tau = what moves a clock, per input */
void ledger_tau_of_clock(tangent_ledger *t, int inputs, const double *moves);
/* m_to = row of the actions on (S, S', m, tau) */
void ledger_rate(tangent_ledger *t, const lead *l, int to, int row);
/* D_unknown = sign times such a row */
void ledger_reinit(tangent_ledger *t, const lead *l, int unknown, int sign, int row);
/* m_to = m_from */
void ledger_copy(tangent_ledger *t, int to, int from);
/* S_state_j = what makes S of the pinned ones sign_i D_user_i; moves: count x count, by columns. */
typedef struct ledger_exchange {
    int count;
    const int *pinned, *state, *user;
    const double *sign, *moves;
} ledger_exchange;
void ledger_pin(tangent_ledger *t, const ledger_exchange *e);
/* Functional i has parts_i tau more. */
void ledger_functionals(tangent_ledger *t, int count, const double *parts);
/* Functional i has counts_i m more, from input `first` on; counts: rows of `inputs`. */
void ledger_inputs_count(tangent_ledger *t, int functionals, int first, int inputs,
                         const double *counts);

/* ---- backwards ---- */

/* What everything counts for in functional `functional`: behind the operations, then before them.
 */
typedef struct ledger_weights {
    int functional;
    double *s, *sp;   /* room for the largest space */
    double *user;     /* 2 n of the base */
    double *inputs;   /* of their number */
    double tau;       /* 0 before, and behind unless the event ends the run */
    double *work;     /* n of the largest space */
    stage_system *at; /* transposed completion; owned, NULL at first */
    int at_space;     /* that it is for */
} ledger_weights;

linear_status ledger_back(const tangent_ledger *t, const double *numbers, size_t count, int base,
                          ledger_weights *w);

#endif
