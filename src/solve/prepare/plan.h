/* A plan: how a problem is to be solved, in one mode if it is a model, with the reasons in words.
 *
 * Plans are made by prepare_plan() from the problem, a point and wishes, and from nothing else: no
 * solver is read or written, so that they can be made, compared and kept without one. The problem
 * keeps those of models (plan_store.h); what is the caller's here is a copy, or borrowed. */
#ifndef DAE_SOLVE_PREPARE_PLAN_H
#define DAE_SOLVE_PREPARE_PLAN_H

#include "formulation/formulation.h"
#include "method/common/method.h"
#include "model/analyse.h"
#include "model/model_redundant.h"
#include "problem/residual.h"
#include "solve/prepare/rank_blocks.h"
#include "solve/prepare/released_rows.h"

enum { CHOICE_TEXT = 160 };

/* What decides about a plan beside the problem: the user's options, and what a run has shown. */
typedef struct wishes {
    const dae_options *options;     /* the user's; borrowed */
    const formulation *formulation; /* that they ask for, */
    const method *method;           /* and the method; unless: */
    bool open;                      /* they left it to us */
    bool implicit; /* explicit methods, and those on forms, are ruled out: stiff, or they failed */
    bool unfolded; /* where constraints do not show, the form with all levels is integrated, at
                      index 1, too: for sensitivities */
    unsigned failed; /* a bit for each family whose method failed where the run stands (choose.h) */
    bool iterative;  /* factors are predicted to be dear: bdf with GMRES (linear_choice.h) */
    const char *reason; /* why, static; "" at first */
} wishes;

/* The point and the mode that a plan of a model is for. */
typedef struct mode_point {
    const mode_slots *slots; /* that decide the structure; borrowed */
    model_point at;
    const bool *release; /* equations that follow from others and are left out; NULL: none */
    int release_count;   /* of the analysed equations, that it speaks of */
    bool levels;         /* a form for consistent values is wanted by all means */
    bool exact;          /* a plan made at these very numbers, and none that holds there as well */
} mode_point;

typedef struct kept_plan kept_plan;

typedef struct plan {
    const method *method;
    char why[CHOICE_TEXT];        /* the method in one line, where it was our choice */
    char notes[3][DAE_TEXT_SIZE]; /* what the user should hear; "": nothing */

    /* Callbacks: the residual problem made from another form, with more unknowns behind those of
     * the user; owned, NULL: theirs serves. */
    const form_rewriting *rewriting; /* NULL: as they are */
    double parameter;                /* of that formulation */
    dae_problem *rewritten;

    /* Models: the form that is integrated. */
    model_form *form;      /* owned unless kept; NULL: the model as it is written */
    kept_plan *kept;       /* whose form and rewrites these are (plan_store.h); NULL: ours */
    rewrite_list rewrites; /* of its equations; names in the form refer to it */
    bool offers_forms;     /* the form has what methods on other forms than the residual one want */
    bool runs_base;        /* the form, if there is one, is for consistent values only: the model as
                              it is written has index 1, but its constraints do not show */
    bool
        begins_as_written; /* values where a run begins are those of the model as it is written, for
                              all methods and forms alike: nothing is hidden in its equations */
    bool seeks_redundant;  /* constraints that follow from others are sought where a run begins */
    int index;             /* as the analysis found it */
    bool portable;         /* all it was decided on can be checked at other points */
    analysed *basis;       /* what was analysed, where there is no form that has it; owned unless
                              kept; NULL: not there */
    rank_watch *watch;     /* for singular points of its equations, or NULL; owned */
    released_watch *released;  /* for constraints it is made without, or NULL; owned */
    char doubt[DAE_TEXT_SIZE]; /* why the equations may not determine the solution; "": no reason */
    int doubt_line;
} plan;

/* How to solve `problem`: *result, zeroed before, is complete, or has what failed can tell (its
 * notes); for models at a point of a mode, else `mode` is NULL. Adds to the graph of a model. */
dae_status prepare_plan(const dae_problem *problem, const mode_point *mode, const wishes *w,
                        plan *result, dae_diag *diag);
void solve_plan_free(plan *p); /* leaves it zeroed */
/* Whether it says nothing to the user, and leaves no equation out: others at this point may share
 * it. */
bool plan_is_plain(const plan *p);

/* ---- within the room ---- */

/* prepare_model.c: the plan of a model in a mode. */
dae_status prepare_model(const dae_problem *problem, const mode_point *mode, const wishes *w,
                         plan *p, dae_diag *diag);

/* One model on its way to a plan. */
typedef struct preparation {
    const dae_problem *problem;
    const mode_point *mode;
    const wishes *wishes;
    model_analysis analysis;
    plan *plan;
    dae_diag *diag;
} preparation;

/* formulate.c: the form that the method of the plan takes, in plan->form. */
dae_status formulate(preparation *p);
/* The numbers of the equations disagree with their structure although they can be computed. */
bool is_doubtful(const model_analysis *a);

/* prepare_words.c: what is said of the equations of a mode. */
dae_status explain_singular_mode(preparation *p);
void note_doubt(preparation *p);
void note_redundant(plan *p, const equation_set *set, const bool *rows);
void note_idle_formulation(preparation *p);
dae_status refuse_conflict(const equation_set *set, const model_conflict *conflict, dae_diag *diag);
/* The doubt of a plan as an error at t. */
dae_status explain_doubt(const plan *p, double t, dae_diag *diag);
/* Whether a method on the residual form was told to end its steps on the constraints. */
bool projection_asked(const wishes *w, const method *m);
/* DAE_ERR_MEMORY, with its text. */
dae_status plan_exhausted(dae_diag *diag);

#endif
