/* Fully implicit Runge-Kutta methods for F(t, y, y') = 0: those of a table of collocation.h that do
 * not choose their order, Gauss, Lobatto IIIC and singly implicit ones. */
#ifndef DAE_METHOD_IMPLICIT_IRK_H
#define DAE_METHOD_IMPLICIT_IRK_H

#include "method/common/collocation.h"
#include "method/common/method.h"

enum { IRK_STAGES = 5, IRK_NODES = IRK_STAGES + 1 };

/* Where the error estimate comes from; both are O(h^(q+1)), q the stage order, or O(h^s) and
 * filtered by (dF/dy + gamma/h dF/dy')^-1 dF/dy'. */
typedef enum irk_estimate {
    IRK_LEFT_SLOPE,  /* y' - q'(0)/h, q the polynomial through 0 and the stages [HW96 IV.8] */
    IRK_FIRST_STAGE, /* Z_1 gamma/h, where c_1 = 0: the jump at the start that Lobatto IIIC makes */
    IRK_EMBEDDED     /* (y_1 - yhat) gamma/h, of a table of the user */
} irk_estimate;

typedef struct irk_table {
    const collocation *m;
    int stage_order;
    bool project; /* on the constraints after every step */
    irk_estimate estimate;
    /* tables of the user */
    int power;           /* of h in the estimate; 0: by the stages */
    unsigned aside;      /* stages that do not lie on the interpolant, by bits */
    const double *error; /* y_1 - yhat = sum error_i Z_i */
    bool index1;         /* variables of index 2 are refused */
} irk_table;

extern const irk_table irk_gauss2, irk_gauss4, irk_gauss6, irk_gauss8, irk_gauss10;
extern const irk_table irk_lobattoc2, irk_lobattoc4, irk_lobattoc6;
extern const irk_table irk_sirk22, irk_sirk23, irk_sirk33;

#endif
