/* Problems and codes of the comparison of radau with other codes. */
#ifndef BENCH_RADAU_H
#define BENCH_RADAU_H

#include "half_explicit.h"
#include "peer.h"

typedef struct entry entry;

/* A problem: F(t,y,y') = 0 with its Jacobian. Mechanisms are y = (q, v, lambda), their constraints
 * on positions (index 3), velocities (2) or accelerations (1); digits are those of q then. */
struct entry {
    char name[32];
    model *model;         /* owned */
    model *banded;        /* owned; the same with a band, if model is sparse and the band narrow */
    mechanism *mechanism; /* owned; NULL: M y' = f(t,y) with constant M, f = -F(t,y,0) */
    int index, compared;  /* of a mechanism; variables that digits are counted of */
    bool each;            /* digits of each variable by itself: they are of different sizes */
    const char *file;     /* the model text under BENCH_ROOT, or NULL */
    char set[32];         /* an assignment for it, or "" */
};

entry *entry_new(const char *name, int size); /* NULL: unknown; exits without memory */
void entry_free(entry *e);                    /* NULL is fine */

typedef struct code {
    const char *name;
    bool ours;
    const char *method;
    bool (*suits)(const entry *e);
    void (*solve)(const struct code *c, const entry *e, const task *k, run *out);
} code;

/* The variable of the model text that is number i of the callbacks; -1: none */
int entry_find_in_text(const dae_problem *problem, const entry *e, int i);
/* Daedal from callbacks with the method of c */
void radau_solve_ours(const code *c, const entry *e, const task *k, run *out);

extern const code radau_codes[];
extern const int radau_code_count;
const char *radau_open(void); /* loads what is opened at run time; what is missing, or NULL */

#endif
