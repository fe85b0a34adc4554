/* The equations as an integrator from outside sees them (daedal/integrator.h). */
#ifndef DAE_METHOD_FOREIGN_EQUATIONS_H
#define DAE_METHOD_FOREIGN_EQUATIONS_H

#include "control/norm.h"
#include "problem/residual.h"

struct dae_equations {
    evaluator *eval;        /* borrowed, */
    const error_norm *norm; /* as this one */
};

#endif
