#include "control/attempt.h"

attempt_status attempt_from_newton(newton_status status)
{
    switch (status) {
    case NEWTON_OK: return ATTEMPT_OK;
    case NEWTON_DIVERGED: return ATTEMPT_CONVERGENCE;
    case NEWTON_EVALUATION: return ATTEMPT_EVALUATION;
    case NEWTON_BOUND: return ATTEMPT_BOUND;
    case NEWTON_SINGULAR: return ATTEMPT_SINGULAR;
    case NEWTON_STOP: return ATTEMPT_STOP;
    case NEWTON_MEMORY: return ATTEMPT_MEMORY;
    }
    return ATTEMPT_MEMORY;
}
