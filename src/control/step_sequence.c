#include "control/step_sequence.h"

#include <float.h>
#include <math.h>

#include "base/diag.h"

/* Steps that differ by less, times their length, are equal: sums of them are rounded. */
static const double SAME_STEP = 1e-9;

bool steps_are_given(const dae_options *o)
{
    return o->fixed_step > 0.0 || o->step_count > 0;
}

/* Shorter steps do not move t for sure. */
static double least_step(double t)
{
    return 4.0 * DBL_EPSILON * fabs(t);
}

double sequence_direction(const dae_options *o, double t0)
{
    if (o->step_count < 1) return 0.0;
    double way = o->step_sequence[o->step_count - 1] - t0;
    return way > 0.0 ? 1.0 : way < 0.0 ? -1.0 : 0.0;
}

/* What stands beside a sequence that says it all. */
static const char *contradiction(const dae_options *o)
{
    if (o->fixed_step != 0.0) return "fixed_step";
    if (o->initial_step != 0.0) return "initial_step";
    if (o->max_step != 0.0) return "max_step";
    return o->min_step != 0.0 ? "min_step" : NULL;
}

/* Time i of the sequence, which goes in `direction`, lies behind the one before. */
static dae_status check_time(const dae_options *o, int i, double direction, dae_diag *diag)
{
    double t = o->step_sequence[i], step = i > 0 ? t - o->step_sequence[i - 1] : 0.0;
    if (diag) diag->value = t;
    if (!isfinite(t))
        return diag_set(diag, DAE_ERR_ARGUMENT, "step_sequence[%d] is %g; times must be finite.", i,
                        t);
    if (i == 0) return DAE_OK;
    if (step == 0.0)
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "step_sequence[%d] = %.17g repeats the time before.", i, t);
    if (step * direction < 0.0)
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "step_sequence[%d] = %.9g goes back: the time before is %.9g.", i, t,
                        o->step_sequence[i - 1]);
    if (fabs(step) > least_step(t)) return DAE_OK;
    return diag_set(diag, DAE_ERR_ARGUMENT,
                    "step_sequence[%d] = %.17g is a step of %g, which does not move t for sure: "
                    "numbers there are %g apart.",
                    i, t, step, nextafter(fabs(t), INFINITY) - fabs(t));
}

dae_status sequence_check(const dae_options *o, dae_diag *diag)
{
    const char *other = contradiction(o);
    if (o->step_count < 0 || (o->step_count > 0) != (o->step_sequence != NULL))
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "Options step_sequence and step_count (%d) go together: times, and how "
                        "many they are.",
                        o->step_count);
    if (o->step_count == 0) return DAE_OK;
    if (other)
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "Option %s contradicts step_sequence, which says how long all steps are.",
                        other);
    double direction = o->step_count > 1 ? o->step_sequence[1] - o->step_sequence[0] : 1.0;
    for (int i = 0; i < o->step_count; i++) {
        dae_status status = check_time(o, i, direction, diag);
        if (status != DAE_OK) return status;
    }
    return DAE_OK;
}

dae_status sequence_check_span(const dae_options *o, double t0, dae_diag *diag)
{
    if (o->step_count == 0) return DAE_OK;
    double first = o->step_sequence[0], last = o->step_sequence[o->step_count - 1];
    double direction = o->step_count > 1 ? last - first : last - t0, stop = o->stop_time;
    if ((first - t0) * direction < 0.0)
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "The steps begin before the start: step_sequence[0] = %.9g, and the run "
                        "starts at %.9g.",
                        first, t0);
    if (isnan(stop) || stop == t0 || (last - stop) * (stop - t0) >= 0.0) return DAE_OK;
    return diag_set(diag, DAE_ERR_ARGUMENT,
                    "The steps end before the stop time: step_sequence[%d] = %.9g is the last, and "
                    "the run is to stop at %.9g.",
                    o->step_count - 1, last, stop);
}

double sequence_step(const dae_options *o, double t_old, double t, double direction)
{
    double slack = fmax(least_step(t_old), least_step(t));
    int low = 0, high = o->step_count; /* the first time beyond t is in low .. high */
    while (low < high) {
        int middle = low + (high - low) / 2;
        if ((o->step_sequence[middle] - t) * direction > slack)
            high = middle;
        else
            low = middle + 1;
    }
    return low < o->step_count ? o->step_sequence[low] - t : 0.0;
}

int sequence_uneven(const dae_options *o, double t0)
{
    double last = 0.0, from = t0;
    for (int i = 0; i < o->step_count; i++) {
        double step = o->step_sequence[i] - from;
        if (step == 0.0) continue; /* the start */
        if (last != 0.0 && fabs(step - last) > SAME_STEP * fabs(step)) return i;
        last = step;
        from = o->step_sequence[i];
    }
    return -1;
}
