/* Every method, one line each. */
#include "method/common/method.h"
#include "method/half_explicit/hem.h"
#include "method/half_explicit/herk.h"
#include "method/implicit/colloc2nd.h"
#include "method/implicit/irk.h"
#include "method/implicit/rosenbrock.h"
#include "method/implicit/sdirk.h"
#include "method/multistep/bdf2nd.h"
#include "method/multistep/glm.h"

#include <string.h>

static const method *const methods[] = {
    &method_bdf,
    &method_bdf2nd,
    &method_bdf2nd_modified,
    &method_bdf2nd_faithful,
    &method_radau,
    &method_radau5,
    &method_radau9,
    &method_radau13,
    &method_rodas,
    &method_rodasp,
    &method_rodas4p2,
    &method_rodas3,
    &method_liex,
    &method_midex,
    &method_lobattoc2,
    &method_lobattoc4,
    &method_lobattoc6,
    &method_gauss2,
    &method_gauss4,
    &method_gauss6,
    &method_gauss8,
    &method_gauss10,
    &method_sirk22,
    &method_sirk23,
    &method_sdirk2,
    &method_sdirk3,
    &method_sdirk4,
    &method_hem3,
    &method_hem4,
    &method_hem5,
    &method_phem5,
    &method_prk,
    &method_dopri5,
    &method_dop853,
    &method_euler,
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
    &method_taylor,
    &method_colloc2nd,
    &method_colloc2nd_radau1,
    &method_colloc2nd_radau2,
    &method_colloc2nd_radau3,
    &method_colloc2nd_radau4,
    &method_colloc2nd_radau5,
    &method_colloc2nd_gauss1,
    &method_colloc2nd_gauss2,
    &method_colloc2nd_gauss3,
    &method_colloc2nd_gauss4,
    &method_colloc2nd_gauss5,
    &method_colloc2nd_faithful,
    &method_colloc2nd_faithful_gauss,
    &method_symplectic_euler,
    &method_shake,
    &method_rattle,
    &method_rattle4,
    &method_rattle6,
    &method_rattle8,
    &method_lobatto4,
    &method_lobatto6,
    &method_glm3,
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

/* The second order form is the residual form, seen without its velocities. */
bool method_needs_form(const method *m)
{
    return !(forms_of(m) & (FORM_RESIDUAL | FORM_SECOND_ORDER));
}

/* All sets, strongest forms first: each line doubles the texts so far, without and with one form.
 */
#define TEXT_6(text, comma) text, text comma "residual"
#define TEXT_5(text, comma) TEXT_6(text, comma), TEXT_6(text comma "manifold", ", ")
#define TEXT_4(text, comma) TEXT_5(text, comma), TEXT_5(text comma "quasilinear", ", ")
#define TEXT_3(text, comma) TEXT_4(text, comma), TEXT_4(text comma "hessenberg", ", ")
#define TEXT_2(text, comma) TEXT_3(text, comma), TEXT_3(text comma "second order", ", ")
#define TEXT_1(text, comma) TEXT_2(text, comma), TEXT_2(text comma "mechanical", ", ")

const char *forms_text(unsigned forms)
{
    static const unsigned order[] = {FORM_MECHANICAL,  FORM_SECOND_ORDER, FORM_HESSENBERG,
                                     FORM_QUASILINEAR, FORM_MANIFOLD,     FORM_RESIDUAL};
    static const char *const texts[] = {TEXT_1("", "")};
    size_t at = 0;
    if (forms == FORM_SERIES) return "series";
    for (size_t k = 0; k < sizeof order / sizeof order[0]; k++)
        at = 2 * at + ((forms & order[k]) != 0);
    return texts[at];
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

int method_highest_index(const method *m)
{
    const char *range = m->index_range ? m->index_range : "1";
    int highest = 0;
    for (const char *c = range; *c; c++)
        if (*c >= '0' && *c <= '9') highest = *c - '0';
    return highest > 0 ? highest : 9; /* "any" */
}
