/* Problems with events as callbacks, for codes that locate roots: one description, which Daedal,
 * IDA and DASRT run alike. */
#ifndef BENCH_EVENT_PROBLEM_H
#define BENCH_EVENT_PROBLEM_H

#include "peer.h"

typedef struct event_problem event_problem;

struct event_problem {
    const char *name, *file; /* the model text under BENCH_ROOT */
    char set[32];            /* an assignment for it, or "" */
    dae_residual form;       /* F, Jacobian, event functions, all rising; user is this problem */
    double tend;
    double *y0, *yp0, *reference; /* reference: the first `compared` values at tend */
    int compared;
    const char *(*variable)(int i, char *space); /* name of y_i in the text */
    int *mode;                                   /* what the events change */
    int modes;
    void (*begin)(event_problem *p); /* the mode at the start */
    /* After events: the new mode, and values that are consistent with it */
    void (*handle)(event_problem *p, double t, const int *fired, double *y, double *yp);
    /* Daedal's problem in a better form, over the same unknowns; NULL: form */
    dae_status (*make)(event_problem *p, dae_problem **problem);
    long events; /* that the closed form has up to tend */
};

event_problem *event_problem_new(const char *name); /* NULL: unknown; exits without memory */
void event_problem_free(event_problem *p);          /* NULL is fine */

/* From creation to y(tend); atol = rtol */
void event_run_daedal(event_problem *p, double rtol, run *out);
void event_run_ida(event_problem *p, double rtol, run *out);
void event_run_dasrt(event_problem *p, double rtol, run *out);
const char *event_codes_open(void); /* what is missing, or NULL */

#endif
