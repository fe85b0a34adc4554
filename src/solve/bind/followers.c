/* Error weights of what is integrated, by what the user sees of it.
 *
 * What is integrated has fewer unknowns than the model: definitions, and variables that forms for
 * explicit methods see through, follow from these, v = V(t, y), and are in no error test, no
 * projection and no check of an interpolant. An error of one tolerance in y_j is |dV/dy_j| w_j in
 * v. So w_j is no more than makes that one tolerance of v,
 * as if v were in all of these. Rounding errors of y_j set an end to that. */
#include <float.h>
#include <math.h>
#include <stdio.h>

#include "base/memory.h"
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

/* A variable that follows from the unknowns */
typedef struct follower {
    double rtol, atol, largest; /* its largest value so far */
} follower;

typedef struct followers {
    follower *each;        /* owned */
    double *value, *slope; /* of all, and their derivatives; owned: one block, at value */
} followers;

/* Where rounding alone moves a follower by more than a tolerance of its largest value: what it is
 * where it passes through zero matters to few. */
static void tell(dae_solver *s, double t, const follower *v, int variable, int j, double off)
{
    char text[500];
    if (s->run.follower_reported || s->run.phase != PHASE_RUNNING) return;
    if (off <= v->rtol * v->largest + v->atol) return;
    s->run.follower_reported = true;
    snprintf(text, sizeof text,
             "note: %.100s follows from %.100s and others, and magnifies their rounding errors: at "
             "t = %.9g it may be off by %.2g, more than its tolerance.%s",
             s->base->model->flat->variables[variable].name, problem_variable(s->bound.problem, j),
             t, off,
             s->bound.forms ? " Use a method for residual forms, such as radau."
                            : " Write its equation without differences of large numbers.");
    solver_note(s, text);
}

/* Weights by follower k, whose value and derivatives are at hand */
static void tighten_by(dae_solver *s, const model_form *f, int k, double t, const double *y,
                       double *weights)
{
    follower *v = &s->bound.followers->each[k];
    const double value = fabs(s->bound.followers->value[k]);
    const double tolerance = v->rtol * value + v->atol;
    if (!isfinite(value)) return;
    v->largest = fmax(v->largest, value);
    for (size_t e = f->follower_start[k]; e < f->follower_start[k + 1]; e++) {
        const int j = f->follower_unknown[e];
        const double slope = fabs(s->bound.followers->slope[e]);
        if (!(slope * weights[j] > tolerance) || !isfinite(slope)) continue;
        const double size = fmax(fabs(y[j]), s->bound.extent[j]);
        const double off = DBL_EPSILON * size * slope;
        if (off > tolerance) tell(s, t, v, f->follower[k], j, off);
        weights[j] = fmin(weights[j], fmax(tolerance / slope, LEAST * size));
    }
}

static void tighten(void *context, double t, const double *y, double *weights)
{
    dae_solver *s = context;
    const model_form *f = s->hybrid->instance->form;
    model_instance_followers(s->hybrid->instance, t, y, s->bound.yp, s->bound.followers->value);
    for (int k = 0; k < f->follower_count; k++) tighten_by(s, f, k, t, y, weights);
}

/* The tolerances of a flat variable; one without an unknown has those of all */
static follower tolerances_of(const dae_solver *s, int variable)
{
    const model_form *base = s->base->model;
    const int i = base->first_unknown[variable];
    const dae_options *o = &s->base_options;
    if (i >= 0) return (follower){model_rtol(s, i), model_atol(s, i), 0.0};
    return (follower){o->rtol, o->atol * model_variable_nominal(base, variable), 0.0};
}

static int count_of(const dae_solver *s)
{
    return s->bound.followers ? s->hybrid->instance->form->follower_count : 0;
}

void followers_start(dae_solver *s)
{
    s->run.follower_reported = false;
    for (int k = 0; k < count_of(s); k++) s->bound.followers->each[k].largest = 0.0;
}

void followers_persist(dae_solver *s, persist *p)
{
    for (int k = 0; k < count_of(s); k++) PERSIST(p, s->bound.followers->each[k].largest);
}

void followers_free(followers *w)
{
    if (w) dae_free_all(w->each, w->value, w);
}

bool followers_bind(dae_solver *s)
{
    binding *b = &s->bound;
    const model_form *f = s->hybrid ? s->hybrid->instance->form : NULL;
    const size_t count = f ? (size_t)f->follower_count : 0;
    if (count == 0 || b->norm.user_weights) return true;
    followers *w = b->followers = DAE_NEW(followers);
    if (!w) return false;
    w->each = DAE_ARRAY(follower, count);
    w->value = DAE_ARRAY(double, count + f->follower_start[count]);
    if (!w->each || !w->value) return false;
    w->slope = w->value + count;
    for (size_t k = 0; k < count; k++) w->each[k] = tolerances_of(s, f->follower[k]);
    norm_follow(&b->norm, tighten, s);
    return true;
}
