#include "method/common/thesis.h"

#include <math.h>

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
        "the step: give rtol_by_unknown and atol_by_unknown (--atol-of), larger for these, or "
        "fixed_step, or choose bdf2nd or colloc2nd");
}

double thesis_weight(const error_norm *norm, int i, double v)
{
    double rtol = norm->rtol_by_unknown ? norm->rtol_by_unknown[i] : norm->rtol;
    double atol = norm->atol_by_unknown ? norm->atol_by_unknown[i] : norm->atol;
    return rtol * fabs(v) + atol;
}

double thesis_growth(double r)
{
    if (r >= 2.0) return 2.0;
    return r > 1.0 ? 1.0 : fmax(0.5, fmin(0.9, r));
}

double thesis_first_step(const method_context *ctx, double reach, const double *yp)
{
    double sum = 0.0, h = 1e-3 * reach;
    for (int i = 0; i < ctx->n; i++) sum += yp[i] * yp[i];
    return sqrt(sum) * h > 0.5 ? 0.5 / sqrt(sum) : h;
}
