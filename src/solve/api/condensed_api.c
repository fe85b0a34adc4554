/* Linear systems of first and second order, square or not: the public calls. */
#include <stdio.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/sized.h"
#include "base/text.h"
#include "base/vector.h"
#include "structure/linear/condensed.h"

/* What the caller sees, and behind it what it points to. */
typedef struct condensed_record {
    dae_condensed report; /* first: the caller's pointer is this one's */
    condensed of;
    condensed_pair pair;
} condensed_record;

enum { LARGEST = 300 };

static dae_status check_matrix(const dae_linear_system *s, int k, dae_diag *diag)
{
    if (!s->a[k] && k < s->order) return DAE_OK;
    if (!s->a[k])
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "A linear system of order %d needs the matrix a[%d], its leading one.",
                        s->order, k);
    if (!vector_finite(s->m * s->n, s->a[k]))
        return diag_set(diag, DAE_ERR_ARGUMENT, "The matrix a[%d] must have finite entries.", k);
    return DAE_OK;
}

/* The caller's description with every field that the library knows, checked. */
static dae_status check_system(const dae_linear_system *given, size_t size, dae_linear_system *s,
                               dae_diag *diag)
{
    *s = (dae_linear_system){0};
    dae_status status = sized_read(given, size, s, sizeof *s, "system", diag);
    if (status != DAE_OK) return status;
    if (s->m < 1 || s->n < 1 || s->m > LARGEST || s->n > LARGEST)
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "A linear system needs 1 to %d equations and unknowns; m is %d, n is %d.",
                        (int)LARGEST, s->m, s->n);
    if (s->order < 1 || s->order > 2)
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "A linear system has order 1 or 2; %d was asked for.", s->order);
    if (!(s->tolerance >= 0.0 && s->tolerance < 1.0))
        return diag_set(diag, DAE_ERR_ARGUMENT, "The tolerance of a system must be in [0, 1).");
    for (int k = 0; status == DAE_OK && k <= s->order; k++) status = check_matrix(s, k, diag);
    return status;
}

/* "strangeness index 2: after 2 reductions .." */
static void write_text(dae_condensed *r)
{
    text_writer w = {.text = r->text, .size = sizeof r->text};
    const dae_characteristic *c = &r->steps[r->index];
    text_put(&w, "The strangeness index is %d.", r->index);
    for (int i = 0; i <= r->index && i < 4; i++) {
        const dae_characteristic *at = &r->steps[i];
        if (r->order == 1)
            text_put(&w, " Step %d: r %d, a %d, s %d, d %d, u %d, v %d.", i, at->r, at->a, at->s01,
                     at->d1, at->left, at->right);
        else
            text_put(&w,
                     " Step %d: r %d, a %d, s012 %d, s12 %d, s02 %d, s01 %d, d2 %d, d1 %d, u %d, "
                     "v %d.",
                     i, at->r, at->a, at->s012, at->s12, at->s02, at->s01, at->d2, at->d1,
                     at->right, at->left);
    }
    text_put(&w,
             " %d initial values can be chosen; derivatives of the right hand side up to order "
             "%d enter.",
             2 * c->d2 + c->d1, r->derivatives);
    if (c->right > 0) text_put(&w, " %d unknowns are not determined.", c->right);
    if (c->left > 0) text_put(&w, " %d conditions on the right hand side must hold.", c->left);
}

static void fill_report(condensed_record *record, const dae_linear_system *s)
{
    const condensed *c = &record->of;
    const dae_characteristic *last = &c->values[c->steps - 1];
    record->report = (dae_condensed){
        .size = sizeof record->report,
        .m = c->m,
        .n = c->n,
        .order = c->order,
        .index = c->steps - 1,
        .steps = c->values,
        .regular = c->m == c->n && last->left == 0 && last->right == 0,
        .derivatives = c->derivatives,
        .a = {c->a[0], c->a[1], s->order > 1 ? c->a[2] : NULL},
        .left = c->left,
        .p = record->pair.P,
        .q = record->pair.Q,
        .kept = c->gap.kept,
        .dropped = c->gap.dropped,
    };
    write_text(&record->report);
}

dae_status dae_linear_condense_sized(const dae_linear_system *given, size_t size,
                                     dae_condensed **result, dae_diag *diag)
{
    dae_linear_system s;
    diag_clear(diag);
    if (!result) return diag_set(diag, DAE_ERR_ARGUMENT, "dae_linear_condense: result is NULL.");
    *result = NULL;
    dae_status status = check_system(given, size, &s, diag);
    if (status != DAE_OK) return status;
    double *zero = DAE_ARRAY(double, (size_t)s.m *(size_t)s.n);
    condensed_record *record = DAE_NEW(condensed_record);
    const double *a[CONDENSED_MATRICES];
    for (int k = 0; k < CONDENSED_MATRICES; k++) a[k] = k <= s.order && s.a[k] ? s.a[k] : zero;
    bool ok = zero && record && condense(&record->of, s.m, s.n, s.order, a, s.tolerance);
    if (ok && s.order == 1)
        ok = condensed_pair_new(&record->pair, s.m, s.n, a[1], a[0], s.tolerance);
    dae_free(zero);
    if (ok) {
        fill_report(record, &s);
        *result = &record->report;
        return DAE_OK;
    }
    bool unclear = record && record->of.unclear;
    dae_condensed_free(record ? &record->report : NULL);
    if (unclear)
        return diag_set(diag, DAE_ERR_SINGULAR,
                        "The ranks of the system cannot be told at this tolerance: singular values "
                        "lie close to it. Try another tolerance.");
    return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for a system of %d equations.", s.m);
}

void dae_condensed_free(dae_condensed *report)
{
    condensed_record *record = (condensed_record *)report;
    if (!record) return;
    condensed_free(&record->of);
    condensed_pair_free(&record->pair);
    dae_free(record);
}
