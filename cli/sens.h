/* What `daedal sens` differentiates, by what, and what it finds. */
#ifndef DAEDAL_CLI_SENS_H
#define DAEDAL_CLI_SENS_H

#include "run.h"

/* One parameter or start value. */
typedef struct direction {
    const char *name; /* of the problem */
    int parameter;    /* -1: the start value of a variable */
    int variable;
    double value; /* a start value: that of the first row */
} direction;

typedef struct sens {
    session *s;
    direction *by; /* owned */
    int by_count;
    int *of; /* places of Real variables among the recorded ones; owned */
    int of_count;
    char **texts; /* names, units, descriptions of columns: of[i] by k is column i * by_count + k;
                     owned */
    dae_sensitivity *x;
    double *values;  /* of all variables by one direction; owned */
    double *size;    /* of_count: largest |x| so far; owned */
    double *largest; /* of_count * by_count: dx/dk where it is largest; owned */
    double *when;    /* .. and when; owned */
    bool begun;
    report_effect *effects; /* by_count, the largest first; owned */
} sens;

/* The directions that the words ask for; without any, how to. Exit code. */
int sens_read_by(sens *q, const request *r);
/* Columns of all pairs behind those of the session. Exit code. */
int sens_add_columns(sens *q, const request *r);
/* What dx/dk is multiplied with to be relative: |k| of the largest |x|, with the sign of k. */
double sens_factor(const sens *q, int i, int k);
/* q->effects, and all around them. Exit code. */
int sens_rank(sens *q, const request *r, report_effects *effects);
/* Unit of the parameter or start value of direction k. */
const char *sens_unit(const sens *q, int k);
void sens_free(sens *q);

/* ---- sens_gradient.c ---- */

/* Gradients in place of trajectories, as --gradient asks for. Exit code. */
int sens_gradient(sens *q, request *r);

#endif
