/* What the files of the adjoint share: all that was done to the mixture of sensitivities, as
 * records, and what functionals count of it. */
#ifndef DAE_SOLVE_SENSITIVITY_ADJOINT_PARTS_H
#define DAE_SOLVE_SENSITIVITY_ADJOINT_PARTS_H

#include <stdio.h>

#include "solve/sensitivity/adjoint_recall.h"
#include "solve/sensitivity/adjoint_trajectory.h"
#include "solve/sensitivity/tangent_ledger.h"

/* A step, or what was done between steps (a ledger). Numbers of a step: F_Y and F_Y' of all stages,
 * or once where all are alike, or not at all where they are those of a step before; what F_p
 * follows from, which are derivatives of the rows by inputs, or y and y' of callbacks, or itself
 * where their rows may change; then for each functional with an integral what X_a and X'_a count
 * for. The continuous adjoint keeps Y and Y' where the step begins, and at all stages. */
typedef struct adjoint_record {
    bool ledger;
    bool alike; /* F_Y and F_Y' are the same at all stages, */
    long same;  /* and at those of this record, which may be itself; -1: they differ */
    const collocation *method; /* of a step */
    int space;
    int stretch;     /* of a trajectory */
    double t, h;     /* where the step begins; its length */
    double *numbers; /* owned; NULL: in the file */
    size_t count;
    long at; /* there, in numbers */
    /* Of numbers that are found again: in which call of the run, behind how many of its questions;
     * whether the beginning is the end of the record before; their checksum. */
    long call, questions;
    bool joined;
    uint64_t sum;
} adjoint_record;

/* What S and S' behind a record count for in a functional. */
typedef struct point_record {
    long record; /* its number; -1: where the run begins */
    int functional, n;
    double *weight; /* n of S, then n of S'; owned */
} point_record;

/* Of an integrand g and of its derivative along the mixture, over a step: */
typedef struct quadrature_error {
    double gap[2];  /* g - p where the step begins; p: the polynomial through the stages */
    double size[2]; /* the integral of |g| over the step */
    double weight;  /* sum of |dg/dv| */
} quadrature_error;

struct dae_adjoint {
    dae_sensitivity *x; /* owned: the mixture */
    step_recorder recorder;
    tangent_ledger ledger;
    dae_integrand_fn integrand;
    void *integrand_user;
    int functionals, variables;
    double limit, used; /* bytes for numbers; in memory */
    FILE *file;
    long filed; /* numbers in it */
    adjoint_record *records;
    size_t record_room;
    long record_count;
    point_record *points; /* in the order of records */
    size_t point_room;
    long point_count;
    double *integral;    /* functionals rows of variables; owned, as the following */
    bool *integrated;    /* functionals */
    double *value;       /* J, */
    double *mixed;       /* and its derivative along the mixture; functionals each */
    double *rounding;    /* how far a gradient may be from that; likewise */
    double *inputs;      /* functionals rows of inputs: what they count for since the last event */
    double *direct;      /* functionals rows of named: what p_k counts for in integrands */
    double *before;      /* functionals: integrands before an event, */
    double *behind;      /* and behind it */
    double *outputs;     /* all variables at a point, */
    double *weighted;    /* what they count for, */
    double *by_v, *by_p; /* and derivatives of an integrand by them, and by p */
    double *state;       /* 2 n: S and S' of a stage */
    size_t state_room;
    double *size;      /* functionals pairs: integrals of |g|, and of its derivative, so far */
    double began;      /* from this time on */
    long end;          /* the record of the event that has ended the run; -1: none */
    double *end_slope; /* variables: their slopes there, */
    double *end_tau;   /* and what its time counts for in points; functionals */
    double **start;    /* named: start_n of S and S' each where the run began; NULL: they are 0 */
    int start_n;
    double *alike; /* F_Y and F_Y' of the last record that has its own for all stages, */
    size_t alike_room;
    long alike_record;        /* which is this one; -1: none */
    quadrature_error *judged; /* functionals: room for what adjoint_judge finds */
    bool continuous, unchecked;
    trajectory trajectory; /* continuous: what the equations were in all records */
    recall *recall;        /* owned: finds its values again; NULL: they are kept */
};

/* ---- adjoint_record.c ---- */

/* What a gradient and the run may differ by, relative to the terms that are summed: rounding. */
#define ADJOINT_CLOSE 1e-7

extern const step_recorder adjoint_recorder;
/* Forget the run so far. */
void adjoint_forget(dae_adjoint *j);
/* How many numbers a step has, and where its parts begin. */
typedef struct step_parts {
    size_t matrix;                             /* numbers of F_Y, and of F_Y', which come first */
    size_t explicit_part, one, integrals, all; /* one: numbers of F_p of a stage */
} step_parts;
/* Of record number `at`. */
step_parts adjoint_parts(const dae_adjoint *j, const adjoint_record *r, long at);
/* All variables at t in j->outputs, and their derivatives there: NULL for callbacks, where they are
 * the unknowns. */
dae_status adjoint_outputs(dae_adjoint *j, double t, model_tangent **v);
/* The derivative along (s, sp) and the mixture of sum_i weight_i v_i, and what all count for. */
double adjoint_along(const dae_adjoint *j, const model_tangent *v, const double *weight,
                     const double *s, const double *sp);
void adjoint_spread(const dae_adjoint *j, const model_tangent *v, const double *weight, double *s,
                    double *sp, double *inputs);
/* Functional m has `along` more along the mixture, where S and S' count for weight_s, weight_p. */
void adjoint_add_along(dae_adjoint *j, int m, double along, const double *weight_s,
                       const double *weight_p, const double *s, const double *sp);
/* Room for j->state. */
bool adjoint_state_room(dae_adjoint *j);
/* A point with these weights where S stands, for functional m. */
dae_status adjoint_add_point(dae_adjoint *j, int m, const double *weights);

/* One more record, whose numbers become its own. */
dae_status adjoint_add_record(dae_adjoint *j, adjoint_record r);

/* ---- adjoint_integral.c ---- */

/* How many functionals have one. */
int adjoint_integrals(const dae_adjoint *j);
/* Whether variable i of the model is in one. */
bool adjoint_integrates(void *user, int i);
/* Integrals over stage a of a step: what its values count for, and derivatives along the mixture.
 */
dae_status adjoint_integrate(dae_adjoint *j, double h, int a, const double *stages, double t,
                             double *numbers);
/* The integrand of functional m at t and the variables in j->outputs, with its derivatives in
 * j->by_v and j->by_p. */
dae_status adjoint_take_integrand(dae_adjoint *j, int m, double t, double *value);
/* values_m = the integrand of functional m where the run stands. */
dae_status adjoint_integrands(dae_adjoint *j, double *values);
/* *error becomes that of the integrals over a step, in tolerances, where that is larger. */
dae_status adjoint_judge(void *user, double h, const double *stages, double *error);

/* ---- adjoint_back.c ---- */

/* Work space of a sweep for one functional. */
typedef struct sweep {
    ledger_weights w; /* what S, S' and inputs count for behind the record */
    double *direct;   /* named: what p_k does by itself */
    double *u;        /* n s: what the stages do, then mu */
    double *before;   /* n: what S where the step begins does */
    double *fp;       /* n: dF/dp_k of callbacks */
    double *work;     /* n s */
    stage_system *system[COLLOCATION_STAGES + 1]; /* transposed, by the number of stages; NULL */
    struct stage_split *split[COLLOCATION_STAGES + 1]; /* the same of stages that are alike, */
    int space;                                         /* all of this space; -1: none */
    double *numbers;                                   /* of a record in the file */
    size_t room;
    double *shared; /* F_Y and F_Y' of such a record that others share, */
    size_t shared_room;
    long shared_of; /* this one; -1: none */
    long point;     /* points up to this number are to come */
} sweep;

dae_status adjoint_sweep(dae_adjoint *j, int m, double *gradient);

/* Its parts, for the way back of another kind. False: memory. */
bool adjoint_sweep_new(sweep *q, const dae_adjoint *j, int m);
void adjoint_sweep_free(sweep *q);
/* The numbers of a record, from memory or the file. */
dae_status adjoint_numbers(dae_adjoint *j, sweep *q, const adjoint_record *r,
                           const double **numbers);
/* Points behind a record add to what S and S' count for. */
void adjoint_points_back(const dae_adjoint *j, sweep *q, long record);
/* Back through record i, and the points behind it. */
dae_status adjoint_record_back(dae_adjoint *j, sweep *q, long i);
/* gradient_k = what S_k at the start, inputs that move with p_k, and p_k itself count for. */
void adjoint_gather(const dae_adjoint *j, const sweep *q, double *gradient);
dae_status adjoint_explain_linear(const dae_adjoint *j, linear_status status);

/* ---- adjoint_trajectory.c, adjoint_continuous.c ---- */

/* Keep a trajectory: what becomes of a step of the mixture, and its error; and without a mixture.
 */
dae_status trajectory_step(void *user, double h, const double *stages);
dae_status trajectory_judge(void *user, double h, const double *stages, double *error);
dae_status trajectory_walk(void *user, double h, double *error);
/* The gradient by the adjoint equations. */
dae_status continuous_sweep(dae_adjoint *j, int m, double *gradient);
/* What absolute tolerances of all variables do to J_m. */
double continuous_floor(const dae_adjoint *j, int m);

#endif
