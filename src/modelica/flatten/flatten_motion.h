/* Between the files that make equations of motion from energies. */
#ifndef DAE_MODELICA_FLATTEN_FLATTEN_MOTION_H
#define DAE_MODELICA_FLATTEN_FLATTEN_MOTION_H

#include "modelica/flatten/flatten_internal.h"

typedef enum motion_role {
    ROLE_OTHER,
    ROLE_COORDINATE,
    ROLE_MASSLESS,
    ROLE_MULTIPLIER
} motion_role;

typedef struct coordinate {
    int variable;
    int velocity; /* v of der(q) = v; -1: none */
    bool massless;
    expr force;                           /* EXPR_NONE: none, */
    expr slope, momentum, loss, reaction; /* L_q, L_q', R_q', sum_j lambda_j dg_j/dq likewise */
    source_place place;
} coordinate;

typedef struct multiplier {
    int variable;
    expr constraint; /* g, over coordinates; EXPR_NONE: not yet known */
    bool in_lagrangian, on_velocities, added;
    source_place place; /* of the constraint */
} multiplier;

/* What is known of a variable. */
typedef struct motion_variable {
    motion_role role;
    int place;          /* in the list of its role */
    int position;       /* q of der(q) = v; -1: it is no velocity */
    expr definition;    /* right side of name = .. */
    expr expanded;      /* the same over coordinates */
    bool busy, derived; /* being expanded; der(name) is in an equation */
    bool in_energies;   /* a state of its own that an energy or a constraint contains */
} motion_variable;

enum { LAGRANGIAN, KINETIC, POTENTIAL, DISSIPATION, ENERGIES };

/* A scalar field of the annotation; EXPR_NONE: not given. */
typedef struct energy {
    expr e;
    source_place place;
} energy;

/* A definition, seen through, and its variable. */
typedef struct known_value {
    expr e;
    int variable;
} known_value;

typedef struct motion {
    flattener *f;
    source_place place;
    motion_variable *variables;
    bool *kinematic; /* per equation: der(q) = v, or a definition */
    coordinate *q;
    multiplier *lambda;
    size_t count, multiplier_count;
    energy energies[ENERGIES];
    expr lagrangian; /* over coordinates */
    const ast_modification *constraints, *forces;
    known_value *known; /* by e */
    size_t known_count;
    bool broken; /* an error is reported */
    int depth;
} motion;

#define motion_error(m, ...) ((m)->broken = true, report_error((m)->f, __VA_ARGS__))

/* flatten_motion.c: what the annotation says, and expressions over coordinates */

const char *motion_name(const motion *m, int variable);
/* A node that was asked for; without it memory has run out, unless an error is reported. */
expr motion_made(motion *m, expr e);
/* The value of a field; false: an error is reported. */
bool motion_field(motion *m, const ast_modification *field, value *out);
/* The place of element k of {a, b, ..}, or of the whole. */
source_place motion_place(const ast_modification *field, size_t k, size_t count);
/* Definitions of the model seen through, v -> der(q); and back: names for definitions over
 * positions, der(q) -> v. */
expr motion_expand(motion *m, expr e);
expr motion_contract(motion *m, expr e);
/* What may stand in an energy or a constraint, else an error that begins with `what`. */
typedef struct leaf_check {
    motion *m;
    const char *what; /* "the Lagrangian" */
    source_place place;
    bool multipliers; /* may stand in it */
    bool silent, bad;
} leaf_check;
bool motion_check(motion *m, leaf_check c, expr e);

/* de/dx for each coordinate, velocity and multiplier x that e contains, of order 0 or 1 (in
 * flatten_motion_equations.c). */
typedef void (*slope_taker)(motion *m, void *context, const expr_node *x, expr slope);
void motion_slopes(motion *m, expr e, slope_taker take, void *context);

/* flatten_motion_inertia.c: an error if masses and constraints leave an acceleration open. */
void motion_check_inertia(motion *m);

/* flatten_motion_equations.c: constraints, then one equation for each coordinate */

void motion_constraints(motion *m);
void motion_add(motion *m);

#endif
