/* Times between which expressions of time alone are nearly straight lines. */
#include "judge/judge_parts.h"

dae_status judge_breaks(judge *j, double t0, double t1, double tolerance, size_t most,
                        double *times, size_t *count)
{
    (void)j, (void)t0, (void)t1, (void)tolerance, (void)most, (void)times;
    *count = 0;
    return DAE_ERR_UNSUPPORTED;
}
