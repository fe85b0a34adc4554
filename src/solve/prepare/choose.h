/* Which method "auto" stands for: by form, tolerance, size and what the run has shown.
 * docs/notes/choice.md has the measurements behind the rules. Plans are kept by the problem, the
 * wishes and what the first two of these choose: what else decides belongs into their key
 * (plan_store.c). */
#ifndef DAE_SOLVE_PREPARE_CHOOSE_H
#define DAE_SOLVE_PREPARE_CHOOSE_H

#include "model/analyse.h"
#include "solve/prepare/plan.h"

/* Options that belong to BDF, or that only it is known to heed, leave nothing to choose. */
bool choice_is_open(const dae_options *options);

/* Families of the methods that are chosen from. One that fails gives way to a member of the next
 * family that has not failed yet: of those for any form there are two, which fail for different
 * reasons. A method with stages asks for values far ahead, all at once; one of several steps goes
 * on from what it has, in small ones. */
typedef enum family {
    FAMILY_FORMS,  /* explicit, series, or of a form of its own: not for any equations */
    FAMILY_STAGES, /* radau */
    FAMILY_STEPS,  /* bdf */
    FAMILY_COUNT
} family;
family family_of(const method *m);
static inline unsigned family_bit(family f)
{
    return 1u << f;
}
/* Why another method is chosen where one of that family failed: "radau failed, so " */
const char *family_failed(family f);
/* The family of the first method for any form that is not among those that failed; FAMILY_COUNT:
 * there is none. */
family family_left(unsigned failed);

/* The method to begin with: callbacks offer their forms; for models the first to try. Each writes
 * its reason into `why`, of CHOICE_TEXT characters. */
const method *choose_first(const dae_problem *problem, const wishes *w, char *why);
/* m, or where that is NULL the method that a formulation needs; NULL: none in particular. */
const method *choose_needed(const formulation *f, const method *m);
/* The same where the choice is open, with its reason; NULL: there is another choice. */
const method *choose_by_formulation(const wishes *w, char *why);
/* The method for the residual form: radau, unless the problem is large and few digits are wanted, a
 * formulation is asked for, or callbacks have bounds; else bdf; the other one where this failed.
 * Models of second order of which few digits are wanted begin with collocation of second order. */
const method *choose_residual(const dae_problem *problem, const wishes *w, char *why);
/* What the analysis of a model's equations says that a choice depends on. */
typedef struct equation_traits {
    int index;
    int freedom; /* initial values that the constraints leave free */
    bool linear; /* in all unknowns and derivatives, with constant coefficients */
} equation_traits;

/* Those of analysed equations; false: memory. Adds to their graph. */
bool find_traits(const model_analysis *a, equation_traits *traits);

/* The equations of a model do not have the form that m works on: the method to try next; NULL:
 * there is none, or m was asked for. */
const method *choose_next(const dae_problem *problem, const wishes *w, const method *m,
                          const equation_traits *e, char *why);
/* Tolerances of few digits, by which these choose. */
bool choice_is_loose(const dae_options *options);

/* Whether residual callbacks declare variables of index 3, which bdf with variable steps is not
 * for. */
bool declares_index3(const dae_problem *problem);
/* Whether the problem says of some variable that its index is above 1. */
bool declares_high_kinds(const dae_problem *problem);

#endif
