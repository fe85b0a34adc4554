/* Whom to suspect in a structurally singular part: the equations that collide, the unknown that
 * lacks its equation, parameters that nothing uses. By structure each member of a part is as good
 * as any other; how people write equations tells more: der(x) = .. and v = .. determine x and v. */
#ifndef DAE_MODEL_MODEL_SUSPECTS_H
#define DAE_MODEL_MODEL_SUSPECTS_H

#include "model/model_structure.h"

enum { MOST_SUSPECTS = 3 };

/* In a part with too many equations. */
typedef struct collision {
    int row;                    /* flat equation to point at; */
    int partner[MOST_SUSPECTS]; /* those that say the same already: flat equations */
    int partner_count;          /* 0: nothing is known beyond the part */
    bool dependent;             /* by their numbers: row and partners depend on each other, */
    bool start;   /* row is x = constant, x one that has a derivative: a start value? */
    bool repeats; /* row says what the partner says, */
    bool same;    /* or they contain the same unknowns */
} collision;

bool flat_collision(const flat_model *m, const flat_parts *parts, const singular_part *part,
                    collision *c); /* false: memory */

/* In a part with too few equations: columns of the report, *count of them, that most likely lack
 * one; 0: nothing is known beyond the part. False: memory */
bool flat_lacking(const flat_model *m, const flat_parts *parts, const singular_part *part,
                  int suspects[MOST_SUSPECTS], int *count);

/* Number of equations that contain a column; *only: one of them. */
int flat_occurrences(const flat_parts *parts, int column, int *only);

/* Parameters that nothing uses: at most `most` into list, their number returned; -1: memory. */
int flat_unused_parameters(const flat_model *m, int *list, int most);

#endif
