/* Modes to begin in.
 *
 * The first guess of a relation comes from start values, also where nobody gave any: q > 0 is false
 * at q = 0. If the equations of that mode have no solution, as 1 = (if q > 0 then q^2 else -q^2),
 * the guess is to blame: relations are turned round, one after the other and all of them, and
 * unknowns that nobody gave are looked for on their other side. What is found must agree with the
 * relations, as ever. */
#include <math.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"
#include "solve/hybrid/hybrid_parts.h"

enum { MOST_RELATIONS = 12 }; /* more are turned all at once only */

/* What the start was before the first attempt. */
typedef struct first_start {
    double *y, *yp; /* of the base form; y owns both */
    int n;
} first_start;

/* Relation r is turned in attempt k: 0 none, then one after the other, then all. */
static bool is_turned(size_t relations, size_t k, size_t r)
{
    bool single = relations <= MOST_RELATIONS;
    if (k == 0) return false;
    return single && k <= relations ? r + 1 == k : true;
}

static size_t attempts(size_t relations)
{
    if (relations == 0) return 1;
    return relations <= MOST_RELATIONS && relations > 1 ? relations + 2 : 2;
}

/* Everything as it was at the first attempt, but for the relations that are turned round. */
static dae_status begin_again(dae_solver *s, double t, dae_init mode, const first_start *from,
                              size_t k)
{
    const flat_model *m = flat_of(s);
    hybrid *h = s->hybrid;
    dae_status status = release_mode(s);
    if (status != DAE_OK) return status;
    vector_copy(from->n, from->y, s->bound.y);
    vector_copy(from->n, from->yp, s->bound.yp);
    memory_start(s);
    h->other[0] = 0;
    status = relations_guess(s, t, mode);
    for (size_t r = 0; r < m->relation_count; r++) {
        double *side = &h->instance->memory[m->relations[r].memory];
        if (is_turned(m->relation_count, k, r)) *side = *side == 0.0;
    }
    return status;
}

static bool worth_another(dae_status status)
{
    return status == DAE_ERR_INITIAL || status == DAE_ERR_SINGULAR ||
           status == DAE_ERR_EVALUATION || status == DAE_ERR_EVENT;
}

/* The other modes and sides, until one agrees; else the first failure stands. */
static dae_status try_others(dae_solver *s, double t, dae_init mode, const first_start *from,
                             dae_status failed)
{
    const size_t most = attempts(flat_of(s)->relation_count);
    const dae_diag before = s->diag;
    dae_status status = failed;
    for (size_t k = 0; k < 2 * most && worth_another(status); k++) {
        int passes = 0;
        s->hybrid->turned = k % 2 == 0;
        if (k == 1) continue; /* that was the first attempt */
        diag_clear(&s->diag);
        status = begin_again(s, t, mode, from, k / 2);
        if (status == DAE_OK) status = events_agree(s, t, true, mode, &passes);
    }
    s->hybrid->turned = false;
    if (status == DAE_OK || !worth_another(status)) return status;
    s->diag = before;
    return failed;
}

dae_status events_agree_at_start(dae_solver *s, double t, dae_init mode)
{
    int passes = 0;
    const bool any = flat_of(s)->relation_count > 0 && !s->hybrid->given;
    const double *start = s->hybrid->opening.stands ? s->modes->start : s->hybrid->start;
    first_start from = {.n = s->base->form.n};
    from.y = any ? DAE_ARRAY(double, 2 * (size_t)from.n) : NULL;
    if (any && !from.y)
        return diag_set(&s->diag, DAE_ERR_MEMORY, "Out of memory for start values.");
    from.yp = any ? from.y + from.n : NULL;
    if (any) vector_copy(from.n, start, from.y);
    dae_status status = events_agree(s, t, true, mode, &passes);
    if (any && worth_another(status)) status = try_others(s, t, mode, &from, status);
    dae_free(from.y);
    return status;
}
