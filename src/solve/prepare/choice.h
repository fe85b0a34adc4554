/* Which method "auto" stands for: by form, tolerance, size and what the run has shown.
 * docs/notes/choice.md has the measurements behind the rules. */
#ifndef DAE_SOLVE_PREPARE_CHOICE_H
#define DAE_SOLVE_PREPARE_CHOICE_H

#include "method/common/method.h"

struct dae_solver;

enum { CHOICE_TEXT = 160 };

/* What a solver with method "auto" knows. */
typedef struct method_choice {
    bool open;     /* the user left the method to us */
    bool implicit; /* explicit methods, and those on forms, are ruled out: stiff, or they failed */
    bool careful;  /* radau failed in this run: bdf, which takes what other methods do not */
    const char *reason;    /* why, static; "" at first */
    char why[CHOICE_TEXT]; /* the method at work, in one line */
} method_choice;

/* Options that belong to BDF, or that only it is known to heed, leave nothing to choose. */
bool choice_is_open(const dae_options *options);

/* The method to begin with: callbacks offer their forms; for models the first to try. */
const method *choice_first(struct dae_solver *s);
/* The method for the residual form: radau for models, whose Jacobians are exact, until it fails,
 * and unless they are large and few digits are wanted; else bdf. */
const method *choice_residual(struct dae_solver *s);
/* The equations of a model, of this index, do not have the form: true if another method is to be
 * tried. */
bool choice_fall_back(struct dae_solver *s, int index);
/* Whether taylor, which does not know stiffness, takes so many steps that it may be that. */
bool choice_is_slow(const struct dae_solver *s, double tend);

/* The method at work is no use any more, for `reason`: go on with another one from where the solver
 * stands. DAE_OK, or what went wrong. */
dae_status choice_change(struct dae_solver *s, const char *reason);
/* Whether a failed step may be due to the method, so that another one is worth a try. */
bool choice_may_help(const struct dae_solver *s, dae_status failed);

#endif
