/* What the formulations share: first-order layouts, levels of equations. */
#ifndef DAE_FORMULATION_FORMULATION_PARTS_H
#define DAE_FORMULATION_FORMULATION_PARTS_H

#include "formulation/formulation.h"

/* A system of first order: unknowns x_j^(p), p = 0 .. top_j, equation i differentiated times_i
 * times, and (x_j^(p))' = x_j^(p+1) for p < top_j; derivatives beyond are y'. */
typedef struct first_order {
    int *times; /* per equation; owned */
    int *top;   /* per variable; owned */
    int *first; /* per variable: the unknown x_j; owned */
    int unknowns, kinematics;
    unknown_index index; /* once the unknowns are named */
} first_order;

enum { AS_WRITTEN = 1 << 20 }; /* for lack: nothing is differentiated */

/* Equations are differentiated until they lack `lack` of their c_i derivatives. False: memory. */
bool first_order_new(first_order *l, const analysed *a, int lack);
/* Number the unknowns anew after top has changed. */
void first_order_number(first_order *l, const analysed *a);
void first_order_free(first_order *l);
/* Space in f for the unknowns, `more` new ones behind them and `rows` rows; names; the index. */
bool first_order_begin(first_order *l, const analysed *a, formulated *f, int more, int rows);
/* (x_j^(p))' - x_j^(p+1) = 0, p < top_j, into rows *r ..; false: memory. */
bool first_order_kinematics(const first_order *l, const analysed *a, formulated *f, int *r);
/* The same for one unknown: y_i' - sign y_next + more = 0; more may be EXPR_NONE. */
bool kinematic_row(formulated *f, int i, int next, expr more, int *r);
/* Kinds by the powers of 1/h that amplify perturbations [HLR89]: x_j^(p) by max c' + p - d_j, with
 * c' of the equations that are left undifferentiated in its block, or in blocks whose derivatives
 * its block contains. AUTO where that is 0. False: memory. */
bool first_order_kinds(const first_order *l, const analysed *a, formulated *f);
/* Leave variables without derivatives out of the error test, where equations of their block, or of
 * those before it, are differentiated: deviations from the constraints come back in them,
 * amplified. False: memory. */
bool first_order_hide_multipliers(const first_order *l, const analysed *a, formulated *f);
/* x_j: without derivatives, in a block some equations of which are differentiated. */
bool is_multiplier(const analysed *a, int j);

/* f_i^(k) over the analysed set; EXPR_NONE: memory. */
expr equation_level(const analysed *a, int i, int k);
/* Row *r = f_i^(k), or e as what became of it, over y and y'; false: memory. */
bool level_row(formulated *f, const analysed *a, const unknown_index *index, int i, int k, expr e,
               int *r);

/* f_i^(k), k = 0 .. c_i, of all equations from row *r on; first[i], if it is asked for: where those
 * of equation i begin. False: memory. */
bool all_levels(formulated *f, const analysed *a, const unknown_index *index, int *first, int *r);
/* The system of dummy derivatives; false: memory. */
bool dummy_build(const analysed *a, formulated *f);

/* A new unknown, no variable of the model: y_i. */
bool formulated_new_unknown(formulated *f, int i, const char *name);
/* What every formulation returns when memory ran out: f is freed. */
dae_status formulation_exhausted(formulated *f, dae_diag *diag);

/* What a formulation builds from, and to. */
typedef struct rewriting {
    const analysed *a;
    const formulation_setting *setting;
    formulated *f;       /* empty; first_order_begin makes room */
    first_order l;       /* unknowns x_j^(p) at l.first[j] + p */
    int r;               /* rows so far */
    const mechanical *m; /* mechanical formulations: the form; borrowed */
    bool *dependent;     /* nq: positions p2, where they are chosen */
    int *position;       /* per variable: its number among the positions, -1: it is none */
    expr *miss, *sum;    /* nq each: work */
} rewriting;

/* Row f_i^(k), or e as what became of it; false: memory. */
bool rewriting_level(rewriting *p, int i, int k, expr e);
/* The equations as they are written. */
bool rewriting_as_written(rewriting *p);
/* f_i^(times_i), with kinds. */
bool build_lacking(rewriting *p);

#endif
