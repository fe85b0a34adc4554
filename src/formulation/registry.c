/* Every formulation, one line each; and how they are found by name. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "formulation/formulation_mechanical.h"

const formulation formulation_auto = {.name = "auto", .automatic = true};

const formulation formulation_residual = {
    .name = "residual",
    .as_given = true,
    .callbacks = {[KIND_MECHANICAL] = &mechanical_as_given,
                  [KIND_HESSENBERG] = &hessenberg_as_given,
                  [KIND_QUASILINEAR] = &quasilinear_as_given,
                  [KIND_SECOND_ORDER] = &second_as_given},
};

/* The two words of the options, then what rewrites. */
#define FORMULATIONS(X)                                                                            \
    X(auto)                                                                                        \
    X(residual)                                                                                    \
    X(dummy)                                                                                       \
    X(tangent)                                                                                     \
    X(index3)                                                                                      \
    X(index2)                                                                                      \
    X(index1)                                                                                      \
    X(baumgarte)                                                                                   \
    X(ggl)                                                                                         \
    X(gglm)                                                                                        \
    X(ggl2)                                                                                        \
    X(fuehrer)                                                                                     \
    X(odassl)                                                                                      \
    X(reduced)                                                                                     \
    X(minimal)                                                                                     \
    X(penalty)                                                                                     \
    X(regularised)                                                                                 \
    X(integral)                                                                                    \
    X(overdetermined)                                                                              \
    X(manifold)                                                                                    \
    X(array)
enum { FIRST_REWRITING = 2 };

#define DECLARED(NAME) extern const formulation formulation_##NAME;
#define LISTED(NAME) &formulation_##NAME,
FORMULATIONS(DECLARED)
static const formulation *const formulations[] = {FORMULATIONS(LISTED)};

enum { FORMULATION_COUNT = sizeof formulations / sizeof *formulations };

const formulation *formulation_at(int i)
{
    return i >= 0 && i < FORMULATION_COUNT ? formulations[i] : NULL;
}

/* The number behind a colon; false: there is something else. */
static bool read_parameter(const char *text, double *parameter)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !(value > 0.0) || !isfinite(value)) return false;
    if (parameter) *parameter = value;
    return true;
}

const formulation *formulation_find(const char *name, double *parameter)
{
    if (!name) return &formulation_auto;
    const char *colon = strchr(name, ':');
    size_t length = colon ? (size_t)(colon - name) : strlen(name);
    for (int i = 0; i < FORMULATION_COUNT; i++) {
        const formulation *f = formulations[i];
        if (strlen(f->name) != length || strncmp(f->name, name, length) != 0) continue;
        if (!colon) return f;
        return f->parameter > 0.0 && read_parameter(colon + 1, parameter) ? f : NULL;
    }
    return NULL;
}

dae_status formulation_apply(const formulation *f, const analysed *a,
                             const formulation_setting *setting, formulated *result, dae_diag *diag)
{
    formulation_setting full = *setting;
    rewriting p = {.a = a, .setting = &full, .f = result};
    full.of = f;
    if (!(full.parameter > 0.0)) full.parameter = f->parameter;
    *result = (formulated){0};
    dae_status status = f->mechanical ? mechanical_begin(&p, diag) : DAE_OK;
    bool ok = status == DAE_OK;
    if (ok && !(first_order_new(&p.l, a, f->mechanical ? AS_WRITTEN : f->lack) && f->build(&p)))
        status = formulation_exhausted(result, diag);
    first_order_free(&p.l);
    dae_free_all(p.dependent, p.position, p.miss, p.sum);
    return status;
}

const form_rewriting *formulation_rewriting(const formulation *f, const form_source *source)
{
    if (f->automatic) return form_default_rewriting(source);
    const form_rewriting *how = f->callbacks[form_source_kind(source)];
    return how && form_rewriting_fits(source, how) ? how : NULL;
}

static const formulation *listed(int i)
{
    return i >= 0 ? formulation_at(i + FIRST_REWRITING) : NULL;
}

const char *dae_formulation_name(int i)
{
    return listed(i) ? listed(i)->name : NULL;
}

const char *dae_formulation_summary(int i)
{
    return listed(i) ? listed(i)->summary : NULL;
}

const char *dae_formulation_citation(int i)
{
    return listed(i) ? listed(i)->citation : NULL;
}
