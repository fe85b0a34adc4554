/* Modes to begin in.
 *
 * The first guess of a relation comes from start values, also where nobody gave any: q > 0 is false
 * at q = 0. If the equations of that mode have no solution, as 1 = (if q > 0 then q^2 else -q^2),
 * the guess is to blame: relations are turned round, one after the other and all of them, and
 * unknowns that nobody gave are looked for on their other side. Of many relations those of
 * algebraic variables are turned; what time and states say of others is no guess. What is found
 * must agree with the relations, as ever. */
#include <math.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"
#include "solve/hybrid/hybrid_parts.h"

/* So many relations are turned one after the other; of more, so many of algebraic variables. */
enum { MOST_RELATIONS = 12, MOST_ALGEBRAIC = 32 };

/* What the start was before the first attempt. */
typedef struct first_start {
    double *y, *yp; /* of the base form; y owns both */
    int n;
} first_start;

/* Whether relation r is among those that are turned one after the other. */
static bool is_open(const dae_solver *s, size_t r)
{
    return flat_of(s)->relation_count <= MOST_RELATIONS || s->hybrid->instance->form->rounded[r];
}

/* How many these are; 0: too many. */
static size_t open_relations(const dae_solver *s)
{
    size_t count = 0;
    for (size_t r = 0; r < flat_of(s)->relation_count; r++) count += is_open(s, r);
    return count <= MOST_ALGEBRAIC ? count : 0;
}

/* Turn the relations of attempt k: 0 none, then one after the other, then all. */
static void turn_relations(dae_solver *s, size_t k)
{
    const flat_model *m = flat_of(s);
    const size_t single = open_relations(s);
    size_t at = 0;
    for (size_t r = 0; k > 0 && r < m->relation_count; r++) {
        double *side = &s->hybrid->instance->memory[m->relations[r].memory];
        bool open = is_open(s, r);
        if (k > single ? true : open && at + 1 == k) *side = *side == 0.0;
        at += open;
    }
}

/* None, each, all; where there is one relation each is all. */
static size_t attempts(const dae_solver *s)
{
    const size_t single = open_relations(s);
    if (flat_of(s)->relation_count == 0) return 1;
    return single + 2 - (single == 1 && flat_of(s)->relation_count == 1);
}

/* Everything as it was at the first attempt, but for the relations that are turned round. */
static dae_status begin_again(dae_solver *s, double t, dae_init mode, const first_start *from,
                              size_t k)
{
    dae_status status = release_mode(s);
    if (status != DAE_OK) return status;
    vector_copy(from->n, from->y, s->bound.y);
    vector_copy(from->n, from->yp, s->bound.yp);
    memory_start(s);
    s->hybrid->other[0] = 0;
    status = relations_guess(s, t, mode);
    turn_relations(s, k);
    return status;
}

/* Failures of a mode that another one may not have; DAE_ERR_MODEL: its structure is singular. */
static bool worth_another(dae_status status)
{
    return status == DAE_ERR_INITIAL || status == DAE_ERR_SINGULAR || status == DAE_ERR_MODEL ||
           status == DAE_ERR_EVALUATION || status == DAE_ERR_EVENT;
}

/* Attempt k, which is the first for k = 1. */
static dae_status attempt_at(dae_solver *s, double t, dae_init mode, const first_start *from,
                             size_t k)
{
    int passes = 0;
    diag_clear(&s->diag);
    s->hybrid->turned = k % 2 == 0;
    dae_status status = begin_again(s, t, mode, from, k / 2);
    if (status == DAE_OK) status = events_agree(s, t, true, mode, NULL, &passes);
    s->hybrid->turned = false;
    return status;
}

/* The other modes and sides, until one agrees; else the first failure stands, with the relations as
 * they were guessed first: from there modes are tried. */
static dae_status try_others(dae_solver *s, double t, dae_init mode, const first_start *from,
                             dae_status failed)
{
    const size_t most = attempts(s);
    const dae_diag before = s->diag;
    dae_status status = failed;
    for (size_t k = 0; k < 2 * most && worth_another(status); k++)
        if (k != 1) status = attempt_at(s, t, mode, from, k);
    if (status == DAE_OK || !worth_another(status)) return status;
    status = begin_again(s, t, mode, from, 0);
    s->diag = before;
    return status == DAE_ERR_MEMORY ? status : failed;
}

/* What contradicts itself in the first attempt is looked for once no other one has agreed: that
 * takes as long as many attempts. */
static dae_status explain_first(dae_solver *s, double t, dae_init mode, const first_start *from,
                                dae_status failed)
{
    const dae_diag before = s->diag;
    dae_status status = attempt_at(s, t, mode, from, 1);
    if (status == failed || status == DAE_ERR_MEMORY) return status;
    s->diag = before;
    return failed;
}

dae_status events_agree_at_start(dae_solver *s, double t, dae_init mode)
{
    int passes = 0;
    const bool any = flat_of(s)->relation_count > 0 && !s->hybrid->given;
    const bool unexplained = s->hybrid->unexplained;
    const double *start = s->hybrid->opening.stands ? s->modes->start : s->hybrid->start;
    first_start from = {.n = s->base->form.n};
    from.y = any ? DAE_ARRAY(double, 2 * (size_t)from.n) : NULL;
    if (any && !from.y)
        return diag_set(&s->diag, DAE_ERR_MEMORY, "Out of memory for start values.");
    from.yp = any ? from.y + from.n : NULL;
    if (any) vector_copy(from.n, start, from.y);
    s->hybrid->unexplained = unexplained || any;
    dae_status status = events_agree(s, t, true, mode, NULL, &passes);
    if (any && worth_another(status)) status = try_others(s, t, mode, &from, status);
    s->hybrid->unexplained = unexplained;
    if (any && !unexplained && status == DAE_ERR_INITIAL)
        status = explain_first(s, t, mode, &from, status);
    dae_free(from.y);
    return status;
}
