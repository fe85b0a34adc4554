/* Whether the result of a search by runs holds, whatever units the search had. IPOPT ends where
 * gradients are small in units that guesses and bounds give. Here each parameter is asked in its
 * own: a step by which the objective falls by ten times its tolerance, to first order, is tried.
 * If the objective does not follow, there is nothing to be gained: for a parabola at most
 * 10/3.6 tolerances are left. No unit of a parameter or of the objective enters. If it follows, the
 * longest step that it follows, in powers of ten, is the unit of the next search. */
#include <math.h>

#include "base/memory.h"
#include "base/vector.h"
#include "solve/hybrid/hybrid.h"
#include "solve/optimise/optimise_runs.h"

static const double FOLLOWS = 0.1; /* part of what slopes promise */
static const double WORTH = 10.0;  /* tolerances that a step has to promise */
static const double FAR = 1e10;    /* as for IPOPT: what is so far away is not looked for */

typedef struct settle_state {
    run_search *w;
    double *x, *trial;
    double value, *slope; /* at x: of the Lagrangian, which is the objective where rows are none */
    double tolerance;     /* of the objective */
    double *unit;         /* found; 0: as it was */
} settle_state;

static double lagrangian(const run_search *w)
{
    return opt_run_sign(w) * w->f + vector_dot(w->rows, w->lambda, w->g);
}

/* What the objective changes by if variables at the end change by their tolerances, signs mixed. */
static double noise_of(run_search *w)
{
    const model_instance *m = w->solver->hybrid->instance;
    const tape_inputs at = {.time = w->q->request.end,
                            .values = {w->s, NULL, NULL, NULL},
                            .parameters = m->parameters,
                            .memory = m->memory};
    double most = 0.0;
    for (int sign = -1; sign <= 1; sign += 2) {
        for (int k = 0; k < w->flat; k++)
            w->s[k] = w->y[k] * (1.0 + (fmod(GOLDEN * (k + 1), 1.0) < 0.5 ? sign : -sign) *
                                           w->q->request.rtol);
        code_prepare(&w->code, &at);
        code_run(&w->code, &at, w->value);
        const double off = fabs(w->value[w->count - 1] - w->f);
        if (isfinite(off)) most = fmax(most, off);
    }
    return most;
}

static bool take_point(settle_state *s)
{
    run_search *w = s->w;
    const int m = w->q->m;
    if (!opt_run_evaluate(w, s->x)) return false;
    s->value = lagrangian(w);
    s->tolerance = w->q->request.rtol * fabs(w->f) + w->q->request.atol + noise_of(w);
    for (int k = 0; k < m; k++) {
        s->slope[k] = opt_run_sign(w) * w->gradient[k];
        for (int i = 0; i < w->rows; i++) s->slope[k] += w->lambda[i] * w->slope[i * m + k];
    }
    return true;
}

/* ---- conditions ---- */

/* The size that a condition is to be met in: that of its bound, and of what parameters contribute.
 * Conditions around zero are met to the tolerance of runs. */
static bool is_met(const run_search *w, const double *x, int row, double *off)
{
    const opt_condition *c = opt_run_condition(w->q, row);
    const int m = w->q->m;
    *off = fmax(c->lower - w->g[row], w->g[row] - c->upper);
    const double bound = fabs(c->lower - w->g[row] >= *off ? c->lower : c->upper);
    double size = bound;
    for (int k = 0; k < m; k++) size = fmax(size, fabs(w->slope[row * m + k] * x[k] * w->scale[k]));
    return *off <= WORTH * opt_run_tolerance(w->q) * size + (bound > 0.0 ? 0.0 : w->atol);
}

/* How far a condition is from being met says how far parameters have to go. */
static void ask_rows(settle_state *s, run_doubt *doubt)
{
    const run_search *w = s->w;
    const int m = w->q->m;
    double off;
    for (int i = 0; i < w->rows; i++) {
        if (is_met(w, s->x, i, &off)) continue;
        double most = 0.0;
        for (int k = 0; k < m; k++) {
            const double by = fabs(w->slope[i * m + k]), unit = off / by;
            if (by * w->scale[k] > most) most = by * w->scale[k], doubt->parameter = k;
            if (isfinite(unit) && unit < (s->unit[k] > 0.0 ? s->unit[k] : w->scale[k]))
                s->unit[k] = unit;
        }
    }
}

/* ---- parameters ---- */

/* Whether the objective follows its slope for a step of parameter k. */
static bool follows(settle_state *s, int k, double step)
{
    run_search *w = s->w;
    vector_copy(w->q->m, s->x, s->trial);
    s->trial[k] -= copysign(step, s->slope[k]) / w->scale[k];
    return opt_run_with(w, s->trial) &&
           lagrangian(w) <= s->value - FOLLOWS * fabs(s->slope[k]) * step;
}

/* How far the bound is that the objective falls towards. */
static double room_of(const settle_state *s, int k)
{
    const dae_optimum *q = s->w->q;
    const double at = s->x[k] * s->w->scale[k];
    return s->slope[k] > 0.0 ? at - q->lower[k] : q->upper[k] - at;
}

/* The longest step that it follows, of those that matter; 0: none. It grows from the parameter's
 * own size on: runs of models far from where they make sense may take long. */
static double longest_step(settle_state *s, int k)
{
    const double at = s->x[k] * s->w->scale[k], size = fmax(fabs(at), s->w->scale[k]);
    const double room = room_of(s, k);
    const double matters = fmin(room, WORTH * s->tolerance / fabs(s->slope[k]));
    const double least = fmax(1e-15 * fabs(at), size / (FAR * FAR));
    double longest = 0.0;
    if (!(fabs(s->slope[k]) * room > s->tolerance)) return 0.0;
    for (double step = fmax(fmin(size, matters), least); follows(s, k, step);) {
        longest = step;
        if (step >= room || step > FAR * size) break;
        step = fmin(room, 10.0 * step);
    }
    return longest >= matters ? longest : 0.0;
}

/* Go there, if conditions still hold. Bounds are reached so, which IPOPT stays off. */
static bool go_to(settle_state *s, int k, double step)
{
    run_search *w = s->w;
    int worst;
    double relative;
    const double before = s->x[k];
    if (!follows(s, k, step)) return true;
    opt_run_violation(w, &relative, &worst);
    if (w->rows > 0 && relative > 0.1 * opt_run_tolerance(w->q)) return take_point(s);
    s->x[k] = s->trial[k];
    if (s->x[k] == before) return true;
    opt_run_keep(w, s->x);
    return take_point(s);
}

static bool ask_parameter(settle_state *s, int k, run_doubt *doubt)
{
    const run_search *w = s->w;
    const double size = fabs(s->x[k]) * w->scale[k], step = longest_step(s, k),
                 gain = fabs(s->slope[k]) * step;
    if (!(step > opt_run_tolerance(w->q) * size)) return true;
    if (step < room_of(s, k) || gain > WORTH * s->tolerance) {
        s->unit[k] = step;
        if (gain > doubt->gain) doubt->gain = gain, doubt->parameter = k;
    }
    return go_to(s, k, step);
}

/* Of parameters in doubt what was found, of others their sizes. */
static double unit_of(const settle_state *s, int k)
{
    const double size = fabs(s->x[k]) * s->w->scale[k], unit = s->w->scale[k];
    if (s->unit[k] > 0.0) return s->unit[k];
    return size > 0.0 && (size < 0.1 * unit || size > 10.0 * unit) ? size : unit;
}

/* Units are powers of two: no number changes by rounding. */
static void take_units(settle_state *s)
{
    run_search *w = s->w;
    const int m = w->q->m;
    for (int k = 0; k < m; k++) {
        const double found = unit_of(s, k);
        if (found == w->scale[k]) continue;
        const double unit = ldexp(1.0, ilogb(found)), by = w->scale[k] / unit;
        s->x[k] *= by;
        w->best[k] *= by;
        w->pair[k] *= by;
        w->pair[m + k] *= by;
        w->scale[k] = unit;
        w->known = false;
    }
}

static bool settle_new(settle_state *s, run_search *w, double *x)
{
    const size_t m = (size_t)w->q->m;
    double *room = DAE_ARRAY(double, 3 * m);
    *s = (settle_state){.w = w, .x = x, .trial = room};
    if (!room) return false;
    s->slope = room + m;
    s->unit = room + 2 * m;
    return true;
}

bool opt_run_doubts(run_search *w, double *x, run_doubt *doubt)
{
    settle_state s;
    *doubt = (run_doubt){.parameter = -1};
    if (!settle_new(&s, w, x)) return false;
    bool ok = take_point(&s);
    if (ok) ask_rows(&s, doubt);
    const bool met = doubt->parameter < 0;
    for (int k = 0; k < w->q->m && ok && met; k++) ok = ask_parameter(&s, k, doubt);
    doubt->tolerance = s.tolerance;
    if (ok && doubt->parameter >= 0) take_units(&s);
    ok = ok && opt_run_evaluate(w, x);
    dae_free(s.trial);
    return ok;
}

bool opt_run_first_units(run_search *w, double *x)
{
    const dae_optimum *q = w->q;
    settle_state s;
    run_doubt doubt = {.parameter = -1};
    if (!settle_new(&s, w, x)) return false;
    bool ok = take_point(&s);
    if (ok) ask_rows(&s, &doubt);
    for (int k = 0; k < q->m && ok; k++) {
        const bool told = q->guess[k] != 0.0 || (isfinite(q->lower[k]) && isfinite(q->upper[k]));
        const double step = told ? 0.0 : longest_step(&s, k);
        if (step > 0.0) s.unit[k] = s.unit[k] > 0.0 ? fmin(step, s.unit[k]) : step;
        if (told) s.unit[k] = w->scale[k];
    }
    if (ok) take_units(&s);
    dae_free(s.trial);
    return ok;
}
