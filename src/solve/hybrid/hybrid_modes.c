/* Modes by trial.
 *
 * Ideal switches that change together, as the diodes of a bridge do, pass through modes in between
 * that determine nothing: all open, a part of the circuit floats; all closed, a current circles. An
 * event iteration that goes from one mode to the next ends in one of them. Then the relations that
 * are at zero, of algebraic variables alone, are tried on both sides, until the equations determine
 * a solution that stays there a moment later. There are few of them, and such events are rare. */
#include <stdint.h>
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

bool mode_entry_take(dae_solver *s, mode_entry *e)
{
    const size_t slots = (size_t)flat_of(s)->memory_count;
    *e = (mode_entry){dae_copy(s->hybrid->instance->memory, slots, sizeof(double)), user_values(s),
                      DAE_ARRAY(double, 2 * (size_t)s->base->form.n), NULL};
    return e->memory && e->y && e->after;
}

void mode_entry_free(mode_entry *e)
{
    dae_free_all(e->memory, e->y, e->after, e->state);
    *e = (mode_entry){0};
}

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

/* Relations of the set take their other sides. */
static void turn(dae_solver *s, const size_t *list, int count, uint64_t set)
{
    const flat_model *m = flat_of(s);
    for (int k = 0; k < count; k++) {
        double *slot = &s->hybrid->instance->memory[m->relations[list[k]].memory];
        if (set >> k & 1u) *slot = *slot == 0.0;
    }
}

/* Try modes with some of the free relations turned over; whether one holds. */
static bool try_modes(dae_solver *s, double t, bool initial, const mode_entry *e,
                      const size_t *list, int count)
{
    bool found = false;
    const dae_message_fn message = s->bound.options.message;
    s->bound.options.message = s->base_options.message =
        NULL; /* what is said of modes that are only tried is of no use */
    for (uint64_t set = ((uint64_t)1 << count) - 1; set > 0 && !found; set--) {
        if (restore(s, e) != DAE_OK) break;
        turn(s, list, count, set);
        found = mode_holds(s, t, initial);
    }
    s->bound.options.message = s->base_options.message = message;
    return found;
}

bool ended_badly(dae_status status)
{
    return status == DAE_ERR_EVENT || status == DAE_ERR_SINGULAR || status == DAE_ERR_INITIAL ||
           status == DAE_ERR_MODEL || status == DAE_ERR_CONVERGENCE || status == DAE_ERR_ERROR_TEST;
}

dae_status modes_mend(dae_solver *s, double t, bool initial, dae_status status)
{
    size_t list[MOST_FREE];
    hybrid *h = s->hybrid;
    if (!ended_badly(status) || h->given) return status;
    int count = free_relations(s, t, initial, list);
    if (count == 0) return status;
    mode_entry e;
    dae_diag said = s->diag;
    const bool taken = mode_entry_take(s, &e),
               found = taken && try_modes(s, t, initial, &e, list, count);
    s->diag = said;
    if (found)
        diag_clear(&s->diag);
    else if (taken)
        restore(s, &e);
    mode_entry_free(&e);
    return found ? DAE_OK : status;
}

/* ---- modes that keep the states ---- */

/* Sets of relations that are tried, those of the fewest first: a switch that opens makes one diode
 * conduct, seldom two. As many as eight relations have. */
enum { MOST_TRIED = 255, MOST_SWITCHES = 32 };

/* The next larger number with as many ones, or the least with one more. [Warren, Hacker's Delight,
 * 2-1] */
static uint64_t next_set(uint64_t set, int count)
{
    if (set == 0) return 1;
    const uint64_t low = set & (~set + 1), ripple = set + low;
    const uint64_t next = ripple | (((set ^ ripple) >> 2) / low);
    int ones = 0;
    if (next >> count == 0) return next;
    for (uint64_t k = set; k; k &= k - 1) ones++;
    return ((uint64_t)1 << (ones + 1)) - 1;
}

/* The relations that the solution decides, not time and the states alone. */
static int switches_of(const dae_solver *s, size_t *list)
{
    int count = 0;
    for (size_t r = 0; r < flat_of(s)->relation_count && count < MOST_SWITCHES; r++)
        if (s->hybrid->instance->form->rounded[r]) list[count++] = r;
    return count;
}

/* Whether the mode of the memory has a solution that keeps the states and the mode; clauses read
 * it, but do not act yet, and pre(..) is as it was. */
static dae_status mode_keeps(dae_solver *s, double t, const mode_entry *e, bool *keeps)
{
    s->hybrid->solved = *keeps = false;
    events_take(s, t);
    const dae_status status = hybrid_begin_mode(s, false);
    if (status != DAE_OK || states_jump(s, e)) return status;
    s->hybrid->solved = true;
    *keeps = !relations_leave(s, t) && s->hybrid->foreseen && !rank_is_lost(s, t);
    return status;
}

/* DAE_OK or DAE_ERR_MEMORY: what another mode does for lack of it is no choice */
static dae_status try_switches(dae_solver *s, double t, const mode_entry *e, const size_t *list,
                               int count, bool *found)
{
    uint64_t set = 0;
    for (int k = 0; k <= MOST_TRIED && set >> count == 0; k++, set = next_set(set, count)) {
        dae_status status = restore(s, e);
        if (status != DAE_OK) return status == DAE_ERR_MEMORY ? status : DAE_OK;
        turn(s, list, count, set);
        status = mode_keeps(s, t, e, found);
        if (*found || status == DAE_ERR_MEMORY) return status;
    }
    return DAE_OK;
}

/* memory: what the passes have come to, but for the switches, which are as the event has found
 * them */
static void leave_switches(const dae_solver *s, const mode_entry *e, const size_t *list, int count,
                           double *memory)
{
    const flat_model *m = flat_of(s);
    for (int k = 0; k < count; k++) {
        const int slot = m->relations[list[k]].memory;
        memory[slot] = e->memory[slot];
    }
}

dae_status modes_keep_states(dae_solver *s, double t, const mode_entry *e, bool *found)
{
    hybrid *h = s->hybrid;
    size_t list[MOST_SWITCHES];
    const int count = switches_of(s, list);
    const size_t relations = flat_of(s)->relation_count, slots = (size_t)flat_of(s)->memory_count;
    mode_entry passed = *e, tried = *e;
    passed.memory = dae_copy(h->instance->memory, slots, sizeof(double));
    tried.memory = dae_copy(h->instance->memory, slots, sizeof(double));
    bool *decided = dae_copy(h->decided, relations, sizeof *decided);
    dae_status status = passed.memory && tried.memory && decided ? DAE_OK : DAE_ERR_MEMORY;
    const dae_diag said = s->diag;
    const dae_message_fn message = s->bound.options.message;
    s->bound.options.message = s->base_options.message = NULL;
    *found = false;
    if (status == DAE_OK && count > 0) {
        leave_switches(s, e, list, count, tried.memory);
        status = try_switches(s, t, &tried, list, count, found);
        if (!*found && status == DAE_OK) status = restore(s, &passed);
        for (size_t r = 0; r < relations; r++) h->decided[r] = decided[r];
    }
    s->bound.options.message = s->base_options.message = message;
    dae_free_all(passed.memory, tried.memory, decided);
    s->diag = said;
    if (*found) diag_clear(&s->diag);
    return status == DAE_ERR_MEMORY ? plan_exhausted(&s->diag) : DAE_OK;
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
