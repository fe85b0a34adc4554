/* Which form of a model a solver integrates: the model as written where its index is at most 1,
 * else a variant by the formulation asked for; in every mode its own. */
#ifndef DAE_SOLVE_BIND_REFORM_H
#define DAE_SOLVE_BIND_REFORM_H

#include "init/levels.h"
#include "model/analyse.h"
#include "model/kept_forms.h"
#include "model/model_forms.h"
#include "model/model_series.h"
#include "solve/bind/array_run.h"
#include "solve/run/rank_watch.h"
#include "solve/run/released_watch.h"

struct dae_solver;

/* The model in one mode. */
typedef struct variant {
    const struct method *method; /* that runs it */
    double *key;                 /* values of the memory that decides the structure; owned */
    kept_form *kept;             /* whose the form is, where it is shared; NULL: ours */
    rewrite_list rewrites;       /* of its equations; names in the form refer to it */
    model_form *form;            /* owned unless kept; NULL: the base form serves */
    model_instance *instance;    /* owned */
    double *seen;                /* work: values of what the form sees through; owned */
    model_forms *forms;          /* what it offers to methods on other forms, or NULL; owned */
    model_series *series;        /* its equations in Taylor series, or NULL; owned */
    dae_problem *problem;        /* of the present choice of states; owned */
    array_run *array;            /* its equations by their derivative array, or NULL; owned */
    dae_problem *array_problem;  /* the reduced system of that; owned */
    model_instance *levels;      /* the system of initial values, all levels; owned */
    rank_watch *watch;           /* for singular points of its equations, or NULL; owned */
    released_watch *released;    /* for constraints it is made without, or NULL; owned */
    int index;                   /* as the analysis found it */
    char doubt[DAE_TEXT_SIZE]; /* why its equations may not determine the solution; "": no reason */
    int doubt_line;
    bool searched;  /* for redundant constraints */
    bool certified; /* its structure was looked at where the equations hold */
    bool retired;   /* another choice of p2 has taken its place in this mode */
    bool runs_base; /* the form is for initial values only: the base form has index 1, but its
                       constraints do not show in its structure */
} variant;

typedef struct reform {
    const dae_problem *base; /* borrowed */
    mode_slots slots;
    bool slots_known;
    variant **list; /* owned */
    int count, room;
    variant *current;              /* NULL: the base form is integrated */
    model_instance *base_instance; /* borrowed from the hybrid */
    double *start;                 /* start values of the base form's unknowns, */
    int *fixed_by;                 /* and the variables that fix them, as hybrid has them; owned */
    double start_time;             /* of the last start with initial equations */
    int steps_since_watch;
    const bool *release; /* equations to be released in a variant that is being made; borrowed */
    long choices;        /* how often states were chosen anew */
} reform;

reform *reform_new(const dae_problem *base); /* NULL: memory */
void reform_free(reform *r);

/* Let the solver integrate the form that belongs to its memory; s->y and s->yp are carried over. */
dae_status reform_adopt(struct dae_solver *s, double t);
/* Back to the base form, values carried over; for starts. */
dae_status reform_return(struct dae_solver *s);
/* Back to the base form, and all variants are dropped: the method is chosen anew. */
dae_status reform_reset(struct dae_solver *s);
/* Whether a variant is integrated. */
bool reform_active(const struct dae_solver *s);
/* Consistent values on all levels, a choice of states, and the solver is ready at t. initial:
 * start values count as what their attributes say, and initial equations hold. */
dae_status reform_begin(struct dae_solver *s, double t, bool initial);
/* Whether reform_rescue can do something here. */
bool reform_may_rescue(const struct dae_solver *s);
/* Values on all levels for a base form whose own initialisation has failed: at the start from what
 * the attributes say, later from the values before. */
dae_status reform_rescue(struct dae_solver *s, double t, bool initial, dae_status failed);
/* A failure of a run, in terms of the analysis where that explains it; returns the status to give.
 */
dae_status reform_explain(struct dae_solver *s, dae_status status);
/* After an accepted step: choose states anew where the old ones have become bad. */
dae_status reform_watch(struct dae_solver *s);

/* Whether the variant has chosen positions that are looked at before every step: where they are
 * chosen anew the solver is ready in other unknowns. */
bool reform_chose_positions(const struct dae_solver *s);

/* Where unknown i of the base form, or its derivative, is in the form that is integrated. */
model_place reform_place(const struct dae_solver *s, int i, bool slope);
/* The unknown of the base form that is unknown i of the present one; -1: none. */
int reform_base_unknown(const struct dae_solver *s, int i);
/* What has no place there: look at a point, then ask for its value, or slope. */
void reform_look(const struct dae_solver *s, double t, const double *y, const double *yp);
double reform_seen(const struct dae_solver *s, int i, bool slope);
/* Values of the base form's unknowns from those of the variant at t; either output may be NULL, and
 * so may yp: then variables that the variant sees through are left 0. */
void reform_to_base(const struct dae_solver *s, double t, const double *y, const double *yp,
                    double *base_y, double *base_yp);

#endif
