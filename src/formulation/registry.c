/* Every formulation, one line each; and how they are found by name. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formulation/formulation_parts.h"

const formulation formulation_auto = {.name = "auto", .automatic = true};

const formulation formulation_residual = {
    .name = "residual",
    .as_given = true,
    .callbacks = {[KIND_MECHANICAL] = {true, FORM_AS_GIVEN},
                  [KIND_HESSENBERG] = {true, FORM_AS_GIVEN},
                  [KIND_QUASILINEAR] = {true, FORM_AS_GIVEN},
                  [KIND_SECOND_ORDER] = {true, FORM_AS_GIVEN}},
};

/* The two words of the options, then what rewrites. */
enum { FIRST_REWRITING = 2 };
static const formulation *const formulations[] = {
    &formulation_auto,        &formulation_residual, &formulation_dummy,
    &formulation_index3,      &formulation_index2,   &formulation_index1,
    &formulation_baumgarte,   &formulation_ggl,      &formulation_gglm,
    &formulation_ggl2,        &formulation_fuehrer,  &formulation_odassl,
    &formulation_reduced,     &formulation_minimal,  &formulation_penalty,
    &formulation_regularised, &formulation_integral, &formulation_overdetermined,
    &formulation_manifold,
};

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
    if (!(full.parameter > 0.0)) full.parameter = f->parameter;
    return f->apply(a, &full, result, diag);
}

bool formulation_rewriting(const formulation *f, const form_source *source, form_rewriting *how)
{
    const form_kind kind = form_source_kind(source);
    *how = f->automatic ? form_default_rewriting(source) : f->callbacks[kind].how;
    return f->automatic || (f->callbacks[kind].offered && form_rewriting_fits(source, *how));
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
