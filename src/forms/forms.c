/* One solver's view of a problem from callbacks in another form. */
#include "forms/forms.h"

#include "base/memory.h"
#include "forms/form_parts.h"

unsigned form_source_offers(const form_source *source)
{
    if (source->kind == KIND_SECOND_ORDER) return FORM_RESIDUAL | FORM_SECOND_ORDER;
    if (source->full) return FORM_RESIDUAL | FORM_HESSENBERG | FORM_SECOND_ORDER;
    unsigned offers = FORM_RESIDUAL | FORM_QUASILINEAR | FORM_MANIFOLD;
    if (source->kind != KIND_QUASILINEAR) offers |= FORM_HESSENBERG;
    if (source->kind == KIND_MECHANICAL) offers |= FORM_MECHANICAL;
    return offers;
}

/* Whether the manifold form is to be made: a method that takes a stronger one as well gets that. */
static bool wants_manifold(const form_source *source, unsigned wanted)
{
    unsigned offered = form_source_offers(source) & wanted;
    return (offered & FORM_MANIFOLD) && !(offered & (FORM_MECHANICAL | FORM_HESSENBERG));
}

form_instance *form_instance_new(const form_source *source, unsigned wanted, evaluator *eval)
{
    form_instance *x = DAE_NEW(form_instance);
    if (!x) return NULL;
    x->source = source;
    x->eval = eval;
    x->rewriting = form_base_rewriting(source);
    x->places = DAE_ARRAY(int, source->n);
    bool ok = x->places != NULL;
    for (int i = 0; ok && i < source->n; i++) x->places[i] = i;
    if (ok && source->kind == KIND_SECOND_ORDER) ok = higher_build(x);
    if (ok && source->kind == KIND_MECHANICAL) ok = mechanical_build(x);
    bool hessenberg = source->kind == KIND_HESSENBERG ||
                      (source->kind == KIND_MECHANICAL && (wanted & FORM_HESSENBERG));
    bool manifold = wants_manifold(source, wanted);
    bool quasilinear = source->kind == KIND_QUASILINEAR || manifold ||
                       (form_source_offers(source) & wanted & FORM_QUASILINEAR);
    if (ok && hessenberg) ok = hessenberg_build(x);
    if (ok && quasilinear) ok = quasilinear_build(x);
    if (ok && manifold) ok = manifold_build(x);
    if (ok) return x;
    form_instance_free(x);
    return NULL;
}

void form_instance_free(form_instance *x)
{
    if (!x) return;
    form_redundant_free(x);
    higher_release_work(x);
    manifold_release(x);
    quasilinear_release(x);
    hessenberg_release(x);
    mechanical_release(x);
    dae_free_all(x->places, x);
}

const form_set *form_instance_set(const form_instance *x)
{
    return &x->set;
}

bool form_instance_rewrite(form_instance *x, const form_rewriting *rewriting, double alpha)
{
    x->rewriting = rewriting;
    x->alpha = alpha;
    return !rewriting->chooses || stabilised_prepare_choice(x);
}

const char *form_constraint(const form_instance *x, int constraint, int *row)
{
    if (!x || constraint < 0 || x->source->constraints == 0) return NULL;
    int i = constraint % x->source->constraints; /* the levels of a constraint share its name */
    *row = form_constraint_row(x->source) + i;
    return x->source->constraint_names[i];
}
