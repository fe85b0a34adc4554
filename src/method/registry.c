/* Every method, one line each. */
#include "method/hem.h"
#include "method/herk.h"
#include "method/method.h"

#include <string.h>

static const method *const methods[] = {
    &method_bdf,
    &method_radau,
    &method_radau5,
    &method_radau9,
    &method_radau13,
    &method_hem3,
    &method_hem4,
    &method_hem5,
    &method_phem5,
    &method_prk,
    &method_herk,
    &method_herk_euler,
    &method_herk_heun,
    &method_herk_kutta3,
    &method_herk_rk4,
    &method_herk_hem4,
    &method_herk_dopri5,
    &method_herk_dop853,
    &method_herk_faithful,
    &method_herk_faithful_euler,
    &method_herk_faithful_heun,
    &method_herk_faithful_kutta3,
    &method_herk_faithful_rk4,
};

enum { METHOD_COUNT = sizeof methods / sizeof methods[0] };

const method *method_find(const char *name)
{
    if (strcmp(name, "auto") == 0) return methods[0];
    for (int i = 0; i < METHOD_COUNT; i++)
        if (strcmp(name, methods[i]->name) == 0) return methods[i];
    return NULL;
}

static unsigned forms_of(const method *m)
{
    return m->forms ? m->forms : FORM_RESIDUAL;
}

bool method_needs_form(const method *m)
{
    return !(forms_of(m) & FORM_RESIDUAL);
}

/* One text for each set, so that nothing has to be put together. */
const char *forms_text(unsigned forms)
{
    static const char *const texts[8] = {"",
                                         "hessenberg",
                                         "mechanical",
                                         "mechanical, hessenberg",
                                         "quasilinear",
                                         "hessenberg, quasilinear",
                                         "mechanical, quasilinear",
                                         "mechanical, hessenberg, quasilinear"};
    static const char *const with_residual[8] = {"residual",
                                                 "hessenberg, residual",
                                                 "mechanical, residual",
                                                 "mechanical, hessenberg, residual",
                                                 "quasilinear, residual",
                                                 "hessenberg, quasilinear, residual",
                                                 "mechanical, quasilinear, residual",
                                                 "mechanical, hessenberg, quasilinear, residual"};
    unsigned others = forms >> 1 & 7u; /* hessenberg, mechanical, quasilinear */
    return forms & FORM_RESIDUAL ? with_residual[others] : texts[others];
}

static const method *method_at(int i)
{
    return i >= 0 && i < METHOD_COUNT ? methods[i] : NULL;
}

const char *dae_method_name(int i)
{
    return method_at(i) ? method_at(i)->name : NULL;
}

const char *dae_method_summary(int i)
{
    return method_at(i) ? method_at(i)->summary : NULL;
}

const char *dae_method_citation(int i)
{
    return method_at(i) ? method_at(i)->citation : NULL;
}

const char *dae_method_forms(int i)
{
    return method_at(i) ? forms_text(forms_of(method_at(i))) : NULL;
}

int dae_method_order(int i)
{
    return method_at(i) ? method_at(i)->max_order : 0;
}

const char *dae_method_index_range(int i)
{
    const method *m = method_at(i);
    if (!m) return NULL;
    return m->index_range ? m->index_range : "1";
}
