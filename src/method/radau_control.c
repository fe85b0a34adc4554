/* Step size and number of stages, after RADAU5 and RADAU [HW96 IV.8; HW99]. */
#include "method/radau_parts.h"

#include <float.h>
#include <math.h>

static const double SAFETY = 0.9;
static const double LEAST_FACTOR = 0.2, MOST_FACTOR = 8.0;
/* Growth by less than this is not worth a factorisation. */
static const double DEAD_ZONE = 1.2;
/* Beyond it new partial derivatives are worth their price. */
static const double WORN = 0.001;
/* A very good contraction asks for more stages, a bad one for fewer [HW99]. */
static const double RAISE = 0.002, LOWER = 0.8;
enum { STEADY_STEPS = 10 };

int radau_max_iterations(int stages)
{
    return stages < 3 ? 7 : 7 + (stages - 3) * 5 / 2;
}

/* The largest relative tolerance; without one what the weights make of y. */
static double relative_tolerance(const error_norm *norm, const double *y)
{
    double rtol = norm->rtol;
    if (norm->rtol_by_variable) {
        rtol = 0.0;
        for (int i = 0; i < norm->n; i++) rtol = fmax(rtol, norm->rtol_by_variable[i]);
    }
    if (!(rtol > 0.0) || norm->user_weights) {
        double size = norm_of(norm, y, norm->scale);
        rtol = size > 1.0 ? 1.0 / size : 1.0;
    }
    return fmin(fmax(rtol, 1e-14), 0.1);
}

/* The estimate has order s, the solution 2s - 1: an estimate of rtol^((s+1)/2s) goes with errors
 * about rtol. RADAU tests against a tenth of that. */
double radau_error_factor(const method_context *ctx, const double *y, int stages)
{
    double s = stages;
    return 10.0 * pow(relative_tolerance(ctx->norm, y), (s - 1.0) / (2.0 * s));
}

static double clamp(double x, double least, double most)
{
    return fmax(least, fmin(most, x));
}

/* Gustafsson's predictive controller and the plain one, the smaller of both [HW96 IV.8]; many
 * Newton iterations ask for more safety. */
double radau_next_factor(const radau_state *s, const radau_scratch *w, double error)
{
    double power = 1.0 / (w->m->stages + 1), k = radau_max_iterations(w->m->stages);
    double safety = fmin(SAFETY, SAFETY * (1.0 + 2.0 * k) / (w->iterations + 2.0 * k));
    if (!(error < DBL_MAX)) return LEAST_FACTOR;
    double e = fmax(error, 1e-12), factor = safety * pow(e, -power);
    if (e >= 1.0) return s->m ? clamp(factor, LEAST_FACTOR, SAFETY) : fmin(0.1, factor);
    if (s->accepted_error > 0.0) {
        double trend = SAFETY * (w->h / s->accepted_h) * pow(s->accepted_error / (e * e), power);
        factor = fmin(factor, trend);
    }
    factor = clamp(factor, LEAST_FACTOR, w->tries > 1 ? 1.0 : MOST_FACTOR);
    return factor >= 1.0 && factor <= DEAD_ZONE && !radau_jacobian_worn(w) ? 1.0 : factor;
}

bool radau_jacobian_worn(const radau_scratch *w)
{
    return w->theta > WORN;
}

/* Within [least, most] */
static int within(const radau_state *s, int stages)
{
    return stages < s->least ? s->least : stages > s->most ? s->most : stages;
}

/* What was planned; after repeated failures 3 stages, then 1. */
int radau_stages_now(const radau_state *s, const radau_scratch *w, int order)
{
    int stages = s->stages, cap = (order + 1) / 2;
    if (w->newton_failures >= 2 || w->error_failures >= 3) stages = 3;
    if (w->newton_failures >= 5 || w->error_failures >= 6) stages = 1;
    stages = within(s, stages < s->stages ? stages : s->stages);
    return radau_iia(stages < cap ? stages : cap)->stages;
}

/* More stages where Newton's method contracts very well at a steady step size, fewer where it does
 * not, or failed. */
int radau_stages_next(const radau_state *s, const radau_scratch *w, double factor)
{
    int now = w->m->stages;
    double theta = fmin(10.0, fmax(w->theta, 0.5 * s->theta));
    if (now < 3) return within(s, 3);
    if (theta >= LOWER || w->newton_failures > 0) return within(s, now > 3 ? now - 2 : now);
    bool steady = factor < 1.2 && factor > 0.8 && s->since_change >= STEADY_STEPS;
    return within(s, steady && w->iterations > 1 && theta <= RAISE ? now + 2 : now);
}
