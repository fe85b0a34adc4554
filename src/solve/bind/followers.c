/* Error weights of what is integrated, by what the user sees of it.
 *
 * Forms for explicit methods have fewer unknowns than the model: other variables follow from these,
 * v = V(t, y), and are in no error test, no projection and no check of an interpolant. An error of
 * one tolerance in y_j is |dV/dy_j| w_j in v. So w_j is no more than makes that one tolerance of v,
 * as if v were in all of these. Rounding errors of y_j set an end to that. */
#include <float.h>
#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "base/vector.h"
#include "solve/bind/solver.h"

/* Weights are so many units in the last place of a variable at least, as those of DASSL, which
 * refuses less [BCP96 5.2]. */
static const double LEAST = 100.0 * DBL_EPSILON;

double model_rtol(const dae_solver *s, int i)
{
    const dae_options *o = &s->base_options;
    return o->rtol_by_unknown ? o->rtol_by_unknown[i] : o->rtol;
}

double model_atol(const dae_solver *s, int i)
{
    const dae_options *o = &s->base_options;
    return o->atol_by_unknown ? o->atol_by_unknown[i]
                              : o->atol * model_form_nominal(s->base->model, i);
}

/* Where rounding alone moves v, variable i of the model, by more than a tolerance of its largest
 * value: what it is where it passes through zero matters to few. */
static void tell(dae_solver *s, double t, int i, int j, double off, double largest)
{
    char text[500];
    if (s->run.follower_reported || s->run.phase != PHASE_RUNNING) return;
    if (off <= model_rtol(s, i) * largest + model_atol(s, i)) return;
    s->run.follower_reported = true;
    snprintf(text, sizeof text,
             "note: %.100s follows from %.100s and others, and magnifies their rounding errors: at "
             "t = %.9g it may be off by %.2g, more than its tolerance. Use a method for residual "
             "forms, such as radau.",
             problem_variable(s->base, i), problem_variable(s->bound.problem, j), t, off);
    solver_note(s, text);
}

/* Follower k, of that value, and its derivatives */
static void tighten_by(dae_solver *s, const model_form *f, int k, double t, const double *y,
                       const double *entry, double *weights)
{
    const int i = f->follower[k];
    double *largest = s->bound.followers + k;
    const double value = fabs(largest[f->follower_count]);
    const double tolerance = model_rtol(s, i) * value + model_atol(s, i);
    if (!isfinite(value)) return;
    *largest = fmax(*largest, value);
    for (size_t e = f->follower_start[k]; e < f->follower_start[k + 1]; e++) {
        const int j = f->follower_unknown[e];
        const double slope = fabs(entry[e]);
        if (!(slope * weights[j] > tolerance) || !isfinite(slope)) continue;
        const double size = fmax(fabs(y[j]), s->bound.extent[j]);
        const double off = DBL_EPSILON * size * slope;
        if (off > tolerance) tell(s, t, i, j, off, *largest);
        weights[j] = fmin(weights[j], fmax(tolerance / slope, LEAST * size));
    }
}

static void tighten(void *context, double t, const double *y, double *weights)
{
    dae_solver *s = context;
    const model_form *f = s->modes->current->plan.form;
    double *value = s->bound.followers + f->follower_count;
    model_instance_followers(s->modes->current->instance, t, y, s->bound.yp, value);
    for (int k = 0; k < f->follower_count; k++)
        tighten_by(s, f, k, t, y, value + f->follower_count, weights);
}

static int follower_count(const dae_solver *s)
{
    return s->bound.followers ? s->modes->current->plan.form->follower_count : 0;
}

void followers_start(dae_solver *s)
{
    s->run.follower_reported = false;
    vector_zero(follower_count(s), s->bound.followers);
}

void followers_persist(dae_solver *s, persist *p)
{
    PERSIST_ARRAY(p, s->bound.followers, follower_count(s));
}

bool followers_bind(dae_solver *s)
{
    binding *b = &s->bound;
    const model_form *f = s->modes->current->plan.form;
    if (f->follower_count == 0 || b->norm.user_weights) return true;
    b->followers = DAE_ARRAY(double, 2 * (size_t)f->follower_count + f->follower_entries);
    if (!b->followers) return false;
    norm_follow(&b->norm, tighten, s);
    return true;
}
