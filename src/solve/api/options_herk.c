/* opt.herk: the options of [Baese17 4.1.1], checked. */
#include <math.h>

#include "base/diag.h"
#include "base/sized.h"
#include "control/step_sequence.h"
#include "method/registry.h"
#include "solve/bind/solver.h"

dae_status herk_options_read(const dae_herk_options *given, dae_herk_options *full, dae_diag *diag)
{
    *full = (dae_herk_options){0};
    if (!given) return DAE_OK;
    dae_status status = sized_read(given, given->size, full, sizeof *full,
                                   "struct of options of herk (set its size)", diag);
    full->size = sizeof *full;
    return status;
}

/* A number of the options: 0, or between 0 and a limit. */
static dae_status check_number(const char *field, const char *name, double value, double limit,
                               dae_diag *diag)
{
    if (value == 0.0 || (value > 0.0 && value < limit && isfinite(value))) return DAE_OK;
    if (diag) diag->value = value;
    if (isfinite(limit))
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "Option %s of herk (%s) is %g; it must lie between 0 and %g.", name, field,
                        value, limit);
    return diag_set(diag, DAE_ERR_ARGUMENT,
                    "Option %s of herk (%s) is %g; it must be finite and positive.", name, field,
                    value);
}

static dae_status check_numbers(const dae_herk_options *h, dae_diag *diag)
{
    dae_status status = check_number("safety", "beta", h->safety, 1.0, diag);
    if (status == DAE_OK)
        status = check_number("newton_tolerance", "tol", h->newton_tolerance, INFINITY, diag);
    if (status == DAE_OK)
        status = check_number("pivot_tolerance", "ptol", h->pivot_tolerance, 1.0, diag);
    if (status == DAE_OK) status = check_number("increment", "delta", h->increment, INFINITY, diag);
    return status;
}

static dae_status check_switches(const dae_herk_options *h, dae_diag *diag)
{
    const struct {
        const char *field, *name;
        dae_switch value;
    } rules[] = {{"adaptive_steps", "ssc", h->adaptive_steps},
                 {"given_jacobian", "Jopt", h->given_jacobian},
                 {"constant_E", "Estat", h->constant_E},
                 {"simplified_newton", "Nopt", h->simplified_newton}};
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if ((int)rules[i].value < 0 || rules[i].value > DAE_SWITCH_OFF)
            return diag_set(diag, DAE_ERR_ARGUMENT,
                            "Option %s of herk (%s) is %d; choices are 0 to %d.", rules[i].name,
                            rules[i].field, (int)rules[i].value, DAE_SWITCH_OFF);
    if (h->increment > 0.0 && h->given_jacobian == DAE_SWITCH_ON)
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "Option delta of herk (increment) is for differences, which option Jopt "
                        "(given_jacobian) excludes; leave one of them out.");
    return DAE_OK;
}

/* What only the thesis variants have. */
static dae_status check_thesis(const dae_options *o, const dae_herk_options *h, const method *m,
                               dae_diag *diag)
{
    const char *name = h->safety > 0.0             ? "beta (safety)"
                       : h->newton_tolerance > 0.0 ? "tol (newton_tolerance)"
                       : h->adaptive_steps         ? "ssc (adaptive_steps)"
                                                   : NULL;
    if (name && !m->own_steps)
        return diag_set(diag, DAE_ERR_UNSUPPORTED,
                        "Option %s of herk is for its thesis variants, such as herk:thesis; "
                        "method %s is none.",
                        name, m->name);
    bool adaptive = h->adaptive_steps == DAE_SWITCH_ON;
    if (adaptive && steps_are_given(o))
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "Option ssc of herk (adaptive_steps) is on, but option %s says how long "
                        "steps are; leave one of them out.",
                        o->fixed_step > 0.0 ? "fixed_step" : "step_sequence");
    if (adaptive && (o->atol_by_unknown || !(o->atol > 0.0)))
        return diag_set(diag, DAE_ERR_UNSUPPORTED,
                        "The thesis' control of steps (option ssc of herk) tests all unknowns "
                        "against one absolute tolerance: set atol above 0%s.",
                        o->atol_by_unknown ? ", and none by unknown" : "");
    return DAE_OK;
}

dae_status herk_options_check(const dae_options *o, dae_diag *diag)
{
    const method *m = method_find(o->method ? o->method : "auto");
    dae_herk_options h;
    if (!o->herk) return DAE_OK;
    dae_status status = herk_options_read(o->herk, &h, diag);
    if (status == DAE_OK && !m->herk_options)
        status = diag_set(diag, DAE_ERR_UNSUPPORTED,
                          "Options of herk (opt.herk, --herk) are for method herk and its "
                          "variants; name one of them in option method, not %s.",
                          o->method ? o->method : "auto");
    if (status == DAE_OK) status = check_numbers(&h, diag);
    if (status == DAE_OK) status = check_switches(&h, diag);
    return status == DAE_OK ? check_thesis(o, &h, m, diag) : status;
}

bool herk_options_adaptive(const dae_options *o)
{
    dae_herk_options h;
    return o->herk && herk_options_read(o->herk, &h, NULL) == DAE_OK &&
           h.adaptive_steps == DAE_SWITCH_ON;
}
