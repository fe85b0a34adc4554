#include "solve/prepare/choice.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/vector.h"
#include "method/half_explicit/hem.h"
#include "solve/bind/solver.h"

bool choice_is_open(const dae_options *o)
{
    const dae_options plain = dae_options_default();
    bool automatic = !o->method || strcmp(o->method, "auto") == 0;
    bool orders = o->max_order > 0 || o->min_order > 0;
    bool matrices = o->linear_solver == DAE_LINEAR_GMRES || o->preconditioner != DAE_PRECOND_AUTO;
    bool iterations = o->newton_iterations != plain.newton_iterations ||
                      o->newton_tolerance != plain.newton_tolerance;
    bool norms = o->norm || o->weights || o->error_test != DAE_ERROR_AUTO;
    bool steps = o->fixed_step > 0.0 || o->min_step > 0.0;
    bool projections = o->projection != DAE_PROJECTION_AUTO && o->projection != DAE_PROJECTION_NONE;
    return automatic && !orders && !matrices && !iterations && !norms && !steps && !projections;
}

static void say(dae_solver *s, const method *m, const char *why)
{
    snprintf(s->choice.why, sizeof s->choice.why, "%.20s: %.120s", m->name, why);
}

/* Above this size the complex factors of radau cost more than its longer steps save while few
 * digits are wanted: heat2d with n = 3364 takes 1.16 s with bdf and 1.78 s with radau at rtol =
 * 1e-3, 2.72 and 2.87 s at 1e-7. */
enum { LARGE = 1000 };
static const double FEW_DIGITS = 1e-5;

/* Whether the user wants a certain rewriting, which methods on forms do not have, and which may be
 * one, or none at all, that only bdf is known to solve. */
static bool formulation_given(const dae_solver *s)
{
    return !s->formulation->automatic;
}

/* Of residual callbacks: what bdf with variable steps is not for. */
static bool declares_index3(const dae_solver *s)
{
    const dae_kind *kinds = s->base->forms || s->base->model ? NULL : s->base->form.kinds;
    for (int i = 0; kinds && i < s->base->form.n; i++)
        if (kinds[i] == DAE_KIND_INDEX3) return true;
    return false;
}

const method *choice_residual(dae_solver *s)
{
    char why[120];
    snprintf(why, sizeof why, "%simplicit, for equations of any form", s->choice.reason);
    bool few_digits = s->base->form.n > LARGE && s->base_options.rtol > FEW_DIGITS;
    bool fits = s->base->model ? !formulation_given(s) && !few_digits : declares_index3(s);
    const method *m = fits && !s->choice.careful ? &method_radau : &method_bdf;
    say(s, m, why);
    return m;
}

/* As prk does: order 8 below this tolerance. */
static const double TIGHT = 3e-3;

const method *choice_first(dae_solver *s)
{
    bool forms = !s->choice.implicit && !formulation_given(s);
    unsigned offers = s->base->forms ? form_source_offers(s->base->forms) : 0;
    if (s->base->model) offers = FORM_MECHANICAL;
    if (forms && offers & FORM_MECHANICAL) {
        say(s, &method_prk, "a mechanism, not stiff so far");
        return &method_prk;
    }
    if (forms && offers & FORM_HESSENBERG) {
        say(s, &method_hem5, "Hessenberg form, not stiff so far");
        return &method_hem5;
    }
    if (forms && s->base->forms && form_source_is_manifold(s->base->forms)) {
        const method *m = s->base_options.rtol < TIGHT ? &method_dop853 : &method_dopri5;
        say(s, m, "an ODE on a manifold, not stiff so far");
        return m;
    }
    return choice_residual(s);
}

/* Of constraints that are differentiated twice and more, Taylor series see all levels at once: on
 * models of index 3 and above that are no plain mechanisms (cycloid, wheel, springchain,
 * trajectory3) they take half the time of radau from 7 digits on, and less than it at 4. */
enum { TAYLOR_INDEX = 3, TAYLOR_SIZE = 100 };

bool choice_fall_back(dae_solver *s, int index)
{
    if (!s->choice.open || !method_needs_form(s->bound.method)) return false;
    bool series = s->bound.method->forms == FORM_MECHANICAL && !s->choice.implicit &&
                  s->base->model && index >= TAYLOR_INDEX && s->base->form.n <= TAYLOR_SIZE;
    if (series) {
        s->bound.method = &method_taylor;
        say(s, s->bound.method, "index 3 or above, not stiff so far");
    } else {
        s->bound.method = choice_residual(s);
    }
    diag_clear(&s->diag);
    return true;
}

/* After so many steps at least so many more: one of stability |lambda| h < order takes thousands on
 * any interval that a stiff problem is solved on, the corpus at most 100. */
enum { MOST_TAYLOR_STEPS = 300 };

bool choice_is_slow(const dae_solver *s, double tend)
{
    if (!s->choice.open || !s->bound.method->long_steps || s->stats.steps < MOST_TAYLOR_STEPS)
        return false;
    return fabs(tend - s->run.t) > MOST_TAYLOR_STEPS * fabs(s->stats.last_h);
}

/* Steps of radau that are down to rounding are at a singularity, which no method goes beyond. */
static const double ROUNDING = 1e-12;

bool choice_may_help(const dae_solver *s, dae_status failed)
{
    if (!s->choice.open || s->bound.method->tests_algebraic) return false;
    bool refused = declares_index3(s) && !s->base_options.multiplier_correction; /* by bdf */
    if (s->bound.method->gives_way && refused) return false;
    if (failed == DAE_ERR_UNSUPPORTED && s->run.last.invariant > 0) return false; /* it is none */
    if (failed == DAE_ERR_STIFF || failed == DAE_ERR_STALL) return true;
    if (s->bound.method->gives_way && fabs(s->run.last.h) <= ROUNDING * fabs(s->run.t_new))
        return false;
    return failed == DAE_ERR_SINGULAR || failed == DAE_ERR_CONVERGENCE ||
           failed == DAE_ERR_ERROR_TEST || failed == DAE_ERR_UNSUPPORTED;
}

dae_status choice_change(dae_solver *s, const char *reason)
{
    double direction = s->run.direction;
    if (s->bound.method->gives_way) s->choice.careful = true;
    s->choice.implicit = true;
    s->choice.reason = reason;
    if (s->run.phase == PHASE_RUNNING) {
        solver_interpolate(s, s->run.t, 0, s->bound.y);
        solver_interpolate(s, s->run.t, 1, s->bound.yp);
    }
    diag_clear(&s->diag);
    dae_status status = s->hybrid ? reform_rechoose(s) : solver_reassemble(s);
    s->run.direction = direction;
    return status;
}

const char *dae_solver_method(const dae_solver *s)
{
    return s ? s->bound.method->name : NULL;
}

const char *dae_solver_choice(const dae_solver *s)
{
    return s && s->choice.open ? s->choice.why : "";
}
