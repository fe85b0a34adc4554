#include "solve/choice.h"

#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/vector.h"
#include "method/hem.h"
#include "solve/solver.h"

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
    return automatic && !orders && !matrices && !iterations && !norms && !steps &&
           o->projection == DAE_PROJECTION_AUTO;
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
    return s->base_options.formulation && strcmp(s->base_options.formulation, "auto") != 0;
}

const method *choice_residual(dae_solver *s)
{
    char why[120];
    snprintf(why, sizeof why, "%simplicit, for equations of any form", s->choice.reason);
    bool radau = s->base->model && !formulation_given(s) && !s->choice.careful;
    bool few_digits = s->base->form.n > LARGE && s->base_options.rtol > FEW_DIGITS;
    const method *m = radau && !few_digits ? &method_radau : &method_bdf;
    say(s, m, why);
    return m;
}

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
    return choice_residual(s);
}

bool choice_fall_back(dae_solver *s)
{
    if (!s->choice.open || !method_needs_form(s->method)) return false;
    s->method = choice_residual(s);
    diag_clear(&s->diag);
    return true;
}

bool choice_may_help(const dae_solver *s, dae_status failed)
{
    if (!s->choice.open || s->method == &method_bdf) return false;
    return failed == DAE_ERR_STIFF || failed == DAE_ERR_CREEP || failed == DAE_ERR_SINGULAR ||
           failed == DAE_ERR_CONVERGENCE || failed == DAE_ERR_ERROR_TEST ||
           failed == DAE_ERR_UNSUPPORTED;
}

dae_status choice_change(dae_solver *s, const char *reason)
{
    double direction = s->direction;
    if (s->method == &method_radau) s->choice.careful = true;
    s->choice.implicit = true;
    s->choice.reason = reason;
    if (s->phase == PHASE_RUNNING) {
        solver_interpolate(s, s->t, 0, s->y);
        solver_interpolate(s, s->t, 1, s->yp);
    }
    diag_clear(&s->diag);
    dae_status status = s->hybrid ? reform_rechoose(s) : solver_reassemble(s);
    s->direction = direction;
    return status;
}

const char *dae_solver_method(const dae_solver *s)
{
    return s ? s->method->name : NULL;
}

const char *dae_solver_choice(const dae_solver *s)
{
    return s && s->choice.open ? s->choice.why : "";
}
