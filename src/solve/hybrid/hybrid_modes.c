/* Modes by trial.
 *
 * Ideal switches that change together, as the diodes of a bridge do, pass through modes in between
 * that determine nothing: all open, a part of the circuit floats; all closed, a current circles. An
 * event iteration that goes from one mode to the next ends in one of them. Then the relations that
 * are at zero, of algebraic variables alone, are tried on both sides, until the equations determine
 * a solution that stays there a moment later. There are few of them, and such events are rare. */
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"
#include "solve/begin/begin_parts.h"
#include "solve/hybrid/hybrid_parts.h"

enum { MOST_FREE = 8 }; /* relations tried at once: 255 modes */

/* A relation at zero is one whose crossing function is below this many times atol. */
static const double AT_ZERO = 10.0;

/* Relations to be tried; at a start all of algebraic variables, later those at zero, and those that
 * the event at hand has turned. */
static int free_relations(dae_solver *s, double t, bool initial, size_t *list)
{
    hybrid *h = s->hybrid;
    const flat_model *m = flat_of(s);
    int count = 0;
    model_instance_crossings(h->instance, t, s->bound.y, s->bound.yp, h->crossing);
    for (size_t r = 0; r < m->relation_count; r++) {
        bool at_zero = fabs(h->crossing[r]) <= AT_ZERO * s->bound.options.atol;
        bool open = initial || at_zero || h->decided[r];
        if (!h->instance->form->rounded[r] || !open) continue;
        if (count == MOST_FREE) return 0;
        list[count++] = r;
    }
    return count;
}

static bool rank_is_lost(dae_solver *s, double t)
{
    double *y = user_values(s);
    bool lost = !y || explain_rank(s, t, y, y + s->base->form.n);
    dae_free(y);
    return lost;
}

/* Whether the mode of the memory as it is has a solution that stays in it; at a start one with the
 * initial equations and the fixed values. */
static bool mode_holds(dae_solver *s, double t, bool initial)
{
    s->hybrid->solved = false;
    s->run.t = t; /* a start that has failed may not have come there */
    events_follow(s, t);
    if (hybrid_begin_mode(s, initial) != DAE_OK) return false;
    s->hybrid->solved = true;
    return !relations_leave(s, t) && s->hybrid->foreseen && !rank_is_lost(s, t);
}

/* What is put back before a mode is tried. */
typedef struct mode_entry {
    double *memory, *y; /* y and then y' of the base form */
} mode_entry;

static dae_status restore(dae_solver *s, const mode_entry *e)
{
    const double *yp = e->y + s->base->form.n;
    memcpy(s->hybrid->instance->memory, e->memory,
           (size_t)flat_of(s)->memory_count * sizeof(double));
    /* a mode whose form could not be bound leaves no room for values (binding_replace) */
    if (is_formulated(s) || !s->bound.y) return bind_written(s, e->y, yp);
    values_from_user(s, e->y, yp);
    return DAE_OK;
}

/* Try modes with some of the free relations turned over; whether one holds. */
static bool try_modes(dae_solver *s, double t, bool initial, const mode_entry *e,
                      const size_t *list, int count)
{
    const flat_model *m = flat_of(s);
    for (unsigned mask = (1u << count) - 1; mask > 0; mask--) {
        if (restore(s, e) != DAE_OK) return false;
        for (int k = 0; k < count; k++) {
            double *slot = &s->hybrid->instance->memory[m->relations[list[k]].memory];
            if (mask >> k & 1u) *slot = *slot == 0.0;
        }
        if (mode_holds(s, t, initial)) return true;
    }
    return false;
}

/* Failures that another mode may mend. */
static bool ended_badly(dae_status status)
{
    return status == DAE_ERR_EVENT || status == DAE_ERR_SINGULAR || status == DAE_ERR_INITIAL ||
           status == DAE_ERR_CONVERGENCE || status == DAE_ERR_ERROR_TEST;
}

dae_status modes_mend(dae_solver *s, double t, bool initial, dae_status status)
{
    size_t list[MOST_FREE];
    hybrid *h = s->hybrid;
    if (!ended_badly(status) || h->given) return status;
    int count = free_relations(s, t, initial, list);
    if (count == 0) return status;
    size_t slots = (size_t)flat_of(s)->memory_count;
    mode_entry e = {dae_copy(h->instance->memory, slots, sizeof(double)), user_values(s)};
    dae_diag said = s->diag;
    dae_message_fn message = s->bound.options.message;
    s->bound.options.message = s->base_options.message =
        NULL; /* what is said of modes that are only tried is of no use */
    bool found = e.memory && e.y && try_modes(s, t, initial, &e, list, count);
    s->bound.options.message = s->base_options.message = message;
    s->diag = said;
    if (found)
        diag_clear(&s->diag);
    else if (e.memory && e.y)
        restore(s, &e);
    dae_free_all(e.memory, e.y);
    return found ? DAE_OK : status;
}

bool hybrid_rescue(dae_solver *s, dae_status status)
{
    hybrid *h = s->hybrid;
    if (s->run.t_new != h->event_time || h->rescued == h->event_time || !ended_badly(status))
        return false;
    h->rescued = h->event_time;
    vector_copy(s->bound.n, h->after, s->bound.y);
    vector_copy(s->bound.n, h->after_yp, s->bound.yp);
    double direction = s->run.direction, t = s->run.t = s->run.t_old = h->event_time;
    if (modes_mend(s, t, false, status) != DAE_OK) return false;
    s->run.direction = direction;
    crowd_keep_point(s, t);
    return true;
}
