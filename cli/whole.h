/* Solutions that are known at all times at once: boundary values, optimal controls. */
#ifndef DAEDAL_CLI_WHOLE_H
#define DAEDAL_CLI_WHOLE_H

#include "run.h"

typedef struct whole_solution {
    session *s;
    int intervals;
    double (*mesh)(void *user, int i);           /* point i, 0 .. intervals */
    int (*values)(void *user, double t);         /* of all variables into s->y; exit code */
    void (*print)(void *user, const request *r); /* what people are told */
    void *user;
} whole_solution;

/* Rows at the times of the grid, or at the mesh; what people are told; files. Exit code. */
int whole_report(const whole_solution *w, const request *r);
/* A table of values at both ends. */
void whole_print_ends(const whole_solution *w, const request *r);
/* Derivatives cannot be recorded. Exit code. */
int whole_check_recorded(const session *s, const command *of);

#endif
