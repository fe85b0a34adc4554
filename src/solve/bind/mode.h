/* The modes of a model that a solver has met: for each its plan, and what is made from that once.
 *
 * A mode without a form runs the model as it is written, over the user's unknowns. Else the form of
 * its plan has unknowns of its own, and values go back and forth by their places. */
#ifndef DAE_SOLVE_BIND_MODE_H
#define DAE_SOLVE_BIND_MODE_H

#include "model/model_forms.h"
#include "model/model_series.h"
#include "solve/bind/array_run.h"
#include "solve/prepare/plan.h"

/* What a plan of a model was made from, beside the problem and the wishes. */
typedef struct plan_origin {
    double *numbers; /* t, y, y', parameters and memory; owned */
    bool *release;   /* equations left out; owned, NULL: none */
    int release_count;
    bool levels; /* it was asked for consistent values by all means */
} plan_origin;

typedef struct model_mode {
    plan plan;
    double *key;                /* values of the memory that decides the structure; owned */
    model_instance *instance;   /* of the form; owned */
    model_instance *levels;     /* of the system of initial values, all levels; owned */
    double *eliminated;         /* work: values that the form computes from its unknowns; owned */
    model_forms *forms;         /* what it offers to methods on other forms, or NULL; owned */
    model_series *series;       /* its equations in Taylor series, or NULL; owned */
    dae_problem *problem;       /* of the present choice of states; owned */
    array_run *array;           /* its equations by their derivative array, or NULL; owned */
    dae_problem *array_problem; /* the reduced system of that; owned */
    bool searched;              /* for redundant constraints */
    bool certified;             /* its structure was looked at where the equations hold */
    bool retired;               /* another choice of p2 has taken its place */
    plan_origin origin;         /* so that the plan can be made again */
} model_mode;

/* How much the start value of an unknown counts: the more the higher. */
typedef enum start_word {
    START_NONE,
    START_BEHIND, /* stateSelect never or avoid */
    START_GIVEN,
    START_FIXED,
    START_OUTSIDE, /* set by the caller */
    START_WORDS
} start_word;

typedef struct mode_list {
    mode_slots slots; /* that decide the structure; borrowed from the model */
    bool slots_known;
    model_mode **list; /* owned */
    int count;
    size_t room;
    model_mode *current;           /* whose form is integrated; NULL: the model as it is written */
    model_instance *base_instance; /* borrowed from the discrete side */
    double *start;                 /* start values of the user's unknowns, */
    int *fixed_by;                 /* the variables that fix them, */
    start_word *start_word;        /* and how much they count; owned */
    bool *held;        /* of them, those that reinit has set in the event at hand; owned */
    double start_time; /* of the last start with initial equations */
    int steps_since_watch;
    long choices; /* how often states were chosen anew */
} mode_list;

mode_list *modes_new(void); /* NULL: memory */
void modes_free(mode_list *r);
/* All modes go; none may be bound. */
void modes_forget(mode_list *r);
/* What is found out once: the slots, and room for start values. False: memory. */
bool modes_begin(mode_list *r, model_form *base, model_instance *instance);

/* Take over a plan for the mode that the memory says, and keep it; NULL: memory, and the plan is
 * freed. */
model_mode *mode_add(mode_list *r, plan *made, const double *memory, dae_precision precision);
/* The same for a mode that has a plan already, but no form. False: memory. */
bool mode_replan(model_mode *v, plan *made, dae_precision precision);
/* Whether v was made for the mode that the memory says. */
bool mode_matches(const mode_list *r, const model_mode *v, const double *memory);
/* The one in use for that mode; NULL: none was made yet. */
model_mode *mode_find(const mode_list *r, const double *memory);

/* How many numbers a plan is made from: t, y, y', parameters and memory. */
static inline size_t mode_numbers(const model_form *base)
{
    return 1 + 2 * (size_t)base->n + base->flat->parameter_count + (size_t)base->flat->memory_count;
}

/* ---- values ---- */

/* Start values as they come from the attributes and the caller; modes_begin was there. */
void modes_note_starts(mode_list *r, const model_form *base, const double *start,
                       const int *fixed_by);
/* Start values of f's unknowns, and the variables that fix them, -1: none. Several unknowns of the
 * model may be one of f, as v and w are with der(x) = v and der(x) = w: then the one counts that
 * has most to say, and the unknown is fixed if one of them is. Returns an unknown of the model
 * whose fixed value contradicts another's, or -1. */
int modes_starts_of_form(const mode_list *r, const model_form *f, double *start, int *fixed_by);

/* The form that has all levels of f's equations. */
const model_form *form_of_levels(const model_form *f);
/* The value at a place of y or y'; 0 if it has none. */
double value_at_place(model_place at, const double *y, const double *yp);
/* Values that the form has eliminated, in v->eliminated; either of user_y, user_yp may be NULL. */
void mode_eliminated(const model_mode *v, double t, const double *y, const double *yp,
                     double *user_y, double *user_yp);
/* The user's unknowns from those of the form at t, and the other way round. Either output of the
 * first may be NULL, and so may yp: then variables that the form has eliminated are left 0. */
void mode_to_user(const model_mode *v, double t, const double *y, const double *yp, double *user_y,
                  double *user_yp);
void mode_from_user(const model_mode *v, const double *user_y, const double *user_yp, double *y,
                    double *yp);

#endif
