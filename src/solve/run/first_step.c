/* The size of the first step. */
#include <float.h>
#include <math.h>

#include "base/vector.h"
#include "solve/run/run.h"

/* A one-step method of order p: over T = ||y|| / ||y'|| the solution changes by all of itself, and
 * errors of size ||y|| (h/T)^p are within the tolerance for h = T ||y||^(-1/p); a fifth of that. */
static double guess_one_step(const dae_solver *s, double tend, double speed)
{
    double most = 0.1 * fabs(tend - s->run.t),
           size = norm_of(&s->bound.norm, s->bound.y, s->bound.norm.tested);
    if (!(speed > 0.0)) return fmin(most, 1e-3 * fabs(tend - s->run.t));
    if (!(size > 1.0)) return fmin(most, 0.5 / speed);
    int order = method_top_order(s->bound.method, &s->bound.options);
    return fmin(most, 0.2 * size / speed * pow(size, -1.0 / order));
}

/* Where x' is known as well as x, the first prediction x + h x' is wrong by h^2 x'' / 2: h0 =
 * min(1e-3 |tend - t|, ||x''||^(-1/2)), and 1/2 / ||x'|| for unknowns of first order, likewise
 * ||x^(d)||^(-1/d) for chains. A smaller one would drown multipliers in rounding errors, which are
 * u / h^2, or u / h^d. work: n */
static double guess_second_order(const dae_solver *s, double tend)
{
    const second_order *form = s->bound.context.second;
    double h = 1e-3 * fabs(tend - s->run.t);
    for (int order = 1; order <= form->order; order++) {
        vector_zero(s->bound.n, s->bound.work);
        for (int k = 0; k < form->n; k++)
            if (form->levels[k] == order)
                s->bound.work[form->place[k]] = s->bound.yp[second_order_place(form, k, order - 1)];
        double size = norm_of(&s->bound.norm, s->bound.work, s->bound.norm.tested);
        if (!(size > 0.0) || !isfinite(size)) continue;
        double length = order == 1   ? 0.5 / size
                        : order == 2 ? 1.0 / sqrt(size)
                                     : pow(size, -1.0 / order);
        h = fmin(h, length);
    }
    return fmax(h, 1e-150);
}

/* h0 = min(1e-3 |tend - t|, 1/2 / ||y'||) [BCP96 5.2.3]; with a history its last step */
static double guess_first_step(const dae_solver *s, double tend)
{
    if (s->run.history > 1)
        return fmin(fabs(s->run.past_t[0] - s->run.past_t[1]), fabs(tend - s->run.t));
    if (s->bound.context.second && !s->bound.method->fixed_order)
        return guess_second_order(s, tend);
    double h = 1e-3 * fabs(tend - s->run.t);
    const error_norm *norm = &s->bound.norm;
    double speed = norm_of(norm, s->bound.yp, s->bound.method->dassl ? norm->scale : norm->tested);
    speed = fmin(speed, 1e150); /* h0 = 0 is none */
    if (s->bound.method->fixed_order) return guess_one_step(s, tend, speed);
    return speed > 0.5 / h ? 0.5 / speed : h;
}

/* No step before it tells how errors grow. */
static const double FIRST_SAFETY = 0.8;

/* Behind an event the solution goes on with the time constants that it had: one-step methods try
 * the step size that they had, and the error test judges. Where that is short because events
 * followed each other at once, as when diodes change in turn, y' tells more. Where first steps have
 * failed of late they are shorter at once. */
static double resumed_step(const dae_solver *s, double tend)
{
    const method *m = s->bound.method;
    const resumption *q = &s->run.resumption;
    if (m->own_steps || m->equal_steps || m->first_step || m->dassl) return 0.0;
    if (q->h == 0.0) return 0.0;
    double h = fmax(q->h, guess_first_step(s, tend));
    return FIRST_SAFETY * h * (q->share > 0.0 ? q->share : 1.0);
}

void solver_note_resumed(dae_solver *s)
{
    resumption *q = &s->run.resumption;
    const double h = fabs(s->run.last.h), before = q->share > 0.0 ? q->share : 1.0;
    if (q->tried == 0.0) return;
    bool failed = s->stats.attempts > q->before + 1;
    double share = before * (failed ? h / q->tried : fmax(1.0, fabs(s->run.control.h) / h));
    q->share = fmin(share, 1.0);
    q->tried = 0.0;
}

/* The user's first step or ours, within the user's limits; it may pass the end, but not by far. */
double solver_first_step(dae_solver *s, double tend)
{
    double direction = tend >= s->run.t ? 1.0 : -1.0, h = fabs(s->bound.options.initial_step);
    if (s->bound.options.fixed_step > 0.0) return direction * s->bound.options.fixed_step;
    if (s->bound.options.step_count > 0)
        return sequence_step(&s->bound.options, s->run.t_old, s->run.t, direction);
    if (h == 0.0 && s->bound.method->first_step)
        h = s->bound.method->first_step(&s->bound.context, fabs(tend - s->run.t), s->bound.yp);
    bool resumes = h == 0.0 && (h = resumed_step(s, tend)) > 0.0;
    bool apart = s->hybrid && s->run.history == 0 && !s->bound.method->dassl;
    if (h == 0.0) h = guess_first_step(s, tend) * (apart ? GOLDEN : 1.0);
    h = fmin(h, 10.0 * fabs(tend - s->run.t));
    if (s->hybrid && s->hybrid->first_step > 0.0) h = fmin(h, s->hybrid->first_step);
    if (s->bound.options.max_step > 0.0) h = fmin(h, s->bound.options.max_step);
    h = fmax(h, DBL_MIN / DBL_EPSILON); /* 1/h must not overflow */
    h = fmax(h, fmax(s->bound.options.min_step, 8.0 * DBL_EPSILON * fabs(s->run.t)));
    s->run.resumption.tried = resumes ? h : 0.0;
    s->run.resumption.before = s->stats.attempts;
    return direction * h;
}
