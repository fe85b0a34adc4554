/* The past of delayed expressions: polynomials piece by piece, plain data of one solver. */
#ifndef DAE_MODEL_MODEL_DELAY_H
#define DAE_MODEL_MODEL_DELAY_H

#include "base/persist.h"
#include "modelica/flatten/flat.h"

/* Where a piece begins something may break: the value jumps (0), its slope does (1), a derivative
 * of order `rank` may. Methods start anew behind the first two, and steps end at the others; what
 * is smoother they do not notice. */
enum { DELAY_JUMP, DELAY_KINK, DELAY_SOFT, DELAY_SMOOTH = 5 };

/* Divided differences over the nodes of flat_delay_node(), scaled to from .. to. */
typedef struct delay_piece {
    double from, to;
    double c[DELAY_NODES];
    int rank; /* of the break where it begins; DELAY_SMOOTH: there is none */
} delay_piece;

/* The past of one expression, without gaps. */
typedef struct delay_past {
    delay_piece *piece; /* owned */
    size_t count, capacity;
    size_t hint;      /* the piece that was asked for last */
    double lag, most; /* lag: NAN, if it varies */
    double recent;    /* the lag at the last point that was looked at */
    double passed;    /* the delayed time is behind breaks up to this one */
    bool identity;    /* lag is 0: the value is that of now */
} delay_past;

/* The pasts of all delays of a model. */
typedef struct delay_table {
    const flat_model *flat;
    delay_past *past; /* flat->delay_count; owned */
    double *work;     /* (DELAY_NODES + 3) flat->delay_count; owned */
    double reached;   /* all is recorded up to here */
    int broken;       /* rank of the break there, as far as its cause tells; DELAY_SMOOTH: none */
    bool begun;       /* there is a past: at the start a delayed value is that of now */
    bool held;        /* pieces in memory stay as they are: an event is solved */
} delay_table;

delay_table *delay_table_new(const flat_model *flat); /* NULL: memory, or there are no delays */
void delay_table_free(delay_table *t);                /* NULL is fine */

/* All pasts, of or for a table of the same model. */
void delay_table_persist(delay_table *t, persist *p);

/* Times this close to a break, and this lag, are at the break. */
double delay_slack(double t, double lag);

/* The piece of a past that holds at time t delayed to `then`: on the side of a break that
 * past->passed tells. Behind all pieces the last one goes on. */
const delay_piece *delay_find(delay_past *past, double t, double then);

/* Where the piece behind `then` begins; INFINITY: there is none. */
double delay_next(delay_past *past, double then);

/* The first break behind `passed`, of a rank in low .. high; NULL: none, or the lag varies. */
const delay_piece *delay_break_behind(const delay_past *past, double passed, int low, int high);
/* Whether such a break comes back up to t. */
bool delay_returns(const delay_past *past, const delay_piece *broken, double t);
/* The break that comes back at t; NULL: none does. */
const delay_piece *delay_break_at(delay_past *past, double t);

/* Room for one more piece; NULL: memory. */
delay_piece *delay_append(delay_past *past);
/* Forget what lies before `then`. */
void delay_forget(delay_past *past, double then);
/* Forget what lies behind t, where a run goes back to. */
void delay_rewind(delay_past *past, double t);

/* Put the pieces that hold at time t into a memory, as far as lags are constant. */
void delay_table_load(const delay_table *d, double t, double *memory);

/* The lag of delay i of an instance at a point. */
struct model_instance;
double model_instance_lag(const struct model_instance *m, size_t i, double t, const double *y,
                          const double *yp);

/* c: divided differences of the values v at the nodes. */
void delay_fit(const double *v, double *c);
/* The value, or the slope for x, at x = 0 .. 1 of a piece. */
double delay_at(const double *c, double x);
double delay_slope(const double *c, double x);

#endif
