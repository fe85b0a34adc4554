/* Which kinematic equations complete a system of dummy derivatives: the choice of states, and its
 * watch during the run.
 *
 * At stage s = -1, -2, .. the equations f_i^(c_i + s) are solved for as many of the unknowns
 * x_j^(d_j + s); the others are states. With the matrix split [A_D A_S] into dummies and states, X
 * = A_D^-1 A_S tells how much a dummy moves with a state. The choice is good while no entry of X is
 * large: the pivots of a QR factorisation with column pivoting, the stages nested as in [MS93].
 *
 * Row r of the choice says that a state moves with its derivative. In coordinates of the tangent
 * space (formulated.tangent) it is combined with the same rows of the dummies: with N = [-X; I],
 * A N = 0, the rows N' (x' - x^(+1)) leave the directions of A' free, where the constraints hold
 * the solution: eta = N' x are linear coordinates [PR91; HW96 VII.2 (2.23)]. They are chosen anew
 * where X has changed much. Components that are too large keep their partition. */
#ifndef DAE_FORMULATION_SELECTION_H
#define DAE_FORMULATION_SELECTION_H

#include "base/persist.h"
#include "expr/code.h"
#include "formulation/formulation.h"

typedef struct selection selection;

/* For a formulated system with candidates, all of the graph compiled; NULL: memory. */
selection *selection_new(const analysed *a, formulated *f);
void selection_free(selection *s);

/* The choice, of or for a selection of the same system. */
void selection_persist(selection *s, persist *p);

/* Parameters or memory have changed. */
void selection_prepare(selection *s, const tape_inputs *in);

/* Rows of the choice: candidate chosen[r] gives row r, r < count, in increasing order. */
int selection_count(const selection *s);
const int *selection_chosen(const selection *s);

/* The terms of row r: weight[k] times the row of candidate[k], the chosen one first. */
int selection_terms(const selection *s, int r, const int **candidate, const double **weight);
int selection_most_terms(const selection *s); /* of all rows */

typedef enum selection_status {
    SELECTION_KEPT = 0,
    SELECTION_CHANGED,
    SELECTION_SINGULAR, /* no choice is possible: selection_culprit tells where */
    SELECTION_NOT_FINITE
} selection_status;

/* Choose at a point, from nothing. */
selection_status selection_choose(selection *s, const tape_inputs *in);
/* Choose anew only if the present choice has become bad there. */
selection_status selection_watch(selection *s, const tape_inputs *in);
/* Multiplications that a watch takes. */
double selection_work(const selection *s);

/* After SELECTION_SINGULAR: equations of the analysed set whose rows depend on each other; the list
 * belongs to the selection. */
int selection_culprits(const selection *s, const int **equation);

#endif
