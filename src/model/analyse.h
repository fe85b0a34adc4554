/* Structural analysis of a model: its equations in the mode at hand, their structure, whether the
 * numbers agree, and the rewriting where they do not. */
#ifndef DAE_MODEL_ANALYSE_H
#define DAE_MODEL_ANALYSE_H

#include "model/model.h"
#include "structure/rewrite/regularise.h"

/* Memory slots that decide the structure: conditions of branches that differ in the variables they
 * contain, or in the orders of these. */
typedef struct mode_slots {
    int *slot; /* owned */
    int count;
    bool *read;    /* per slot of the memory: an equation reads it; owned, NULL: not sought */
    bool *crossed; /* the same of crossing functions */
    bool *felt;    /* per slot: what it says may come to be read by an equation, or be acted upon */
} mode_slots;

bool mode_slots_find(mode_slots *slots, const model_form *f); /* false: memory */
void mode_slots_free(mode_slots *slots);
/* Of what equations read: what they come to feel (model_felt.c); the caller frees it, NULL: memory.
 */
bool *slots_felt(const model_form *f, const bool *read);
/* Those of a base form, sought once and kept with it; NULL: memory. Takes the lock of its graph. */
const mode_slots *mode_slots_of(model_form *f);

/* The equations of a base form over its unknowns, in the mode that `memory` says. False: memory. */
bool model_equations(const model_form *f, const mode_slots *slots, const double *memory,
                     equation_set *set);

typedef struct model_analysis {
    structure written;       /* of the equations as they are; only this if it is singular */
    analysed reduced;        /* second order variables joined, rewritten where needed */
    rewrite_list rewrites;   /* what was rewritten; must outlive `reduced` */
    certificate certificate; /* of the reduced system at the point */
    bool numbers_agree;      /* the certificate holds */
    int index;               /* differentiation index where it does; else the structural one */
} model_analysis;

/* Where the analysis looks: values of the unknowns of the base form and of their derivatives. */
typedef struct model_point {
    double t;
    const double *y, *yp;
    const double *parameters, *memory;
} model_point;

/* Analyse the equations at a point. DAE_OK also where structure and numbers disagree, or the system
 * is singular: the result says so. Adds to the graph of f. */
dae_status model_analyse(const model_form *f, const mode_slots *slots, const model_point *at,
                         model_analysis *result, dae_diag *diag);
/* Check the numbers of the reduced system, and rewrite it where they disagree; anew after other
 * changes to it. False: memory. */
bool model_analysis_settle(model_analysis *a, const model_point *at);
void model_analysis_free(model_analysis *a);
/* Whether the numbers of equations that were analysed without rewriting agree with their structure
 * at another point, too, with nominal values as they were: 1, 0, -1: memory. */
int model_analysis_holds(const model_form *f, const analysed *a, const model_point *at);

/* Values x_j^(p) of an analysed set from those of the base form, zero where none is known; p up to
 * `orders`. x: orders + 1 pointers to n values each, in one block; free with dae_free. NULL:
 * memory.
 */
double **analysed_values(const equation_set *set, const model_point *at, int orders);

#endif
