/* Parameters by simulation: runs with exact sensitivities. */
#include "base/diag.h"
#include "solve/optimise/optimise_parts.h"

dae_status opt_by_runs(dae_optimum *q, dae_diag *diag)
{
    (void)q;
    return diag_set(diag, DAE_ERR_UNSUPPORTED, "x");
}

dae_status opt_run_at(dae_optimum *q, double t, double *values)
{
    (void)q, (void)t, (void)values;
    return DAE_ERR_STATE;
}
