#include "method/common/thesis.h"

#include "method/common/stages.h"

/* (4.19) and (4.20) weigh every variable by itself; the thesis' own runs have 100 times the
 * tolerance for velocities and multipliers [Wun05 8.1]. */
bool thesis_refuses(const method_context *ctx, attempt *result)
{
    if (ctx->fixed_steps || ctx->norm->rtol_by_unknown) return false;
    result->constraint = -1;
    return stages_refused(
        result, -1,
        "repeats the tables of a thesis, whose error test has all variables in it, and "
        "estimates of velocities and multipliers do not go to 0 with h at a change of "
        "the step: give rtol_by_unknown and atol_by_unknown, larger for these, or "
        "fixed_step, or choose bdf2nd or colloc2nd");
}
