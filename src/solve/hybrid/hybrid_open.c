/* The opening of a start: discrete values, guesses, and the mode they say.
 *
 * Nothing of it needs a solution, so that dae_solver_new() can do it for the start values of the
 * model: its first mode is planned and bound then, and the start finds it and only computes. A
 * start at other values, or after parameters were set, opens again. */
#include "base/diag.h"
#include "base/vector.h"
#include "solve/hybrid/hybrid_parts.h"

/* What counts as zero where unknowns are solved for: the rounding of values of size 1 is below it,
 * as far as tolerances leave room for that. */
static double noise_of(double atol)
{
    static const double ROUNDING = 16.0 * DBL_EPSILON;
    return fmin(fmax(NOISE_OF_ATOL * atol, ROUNDING), MOST_NOISE_OF_ATOL * atol);
}

/* Nothing has happened yet at t. */
static void clear_events(dae_solver *s, double t)
{
    const flat_model *m = flat_of(s);
    hybrid *h = s->hybrid;
    h->opening.stands = false;
    h->pending = EVENT_NONE;
    h->at_start = true;
    h->freedom = -1;
    h->direction = s->bound.options.stop_time < t ? -1.0 : 1.0;
    s->stats.last_h = 0.0;
    for (size_t r = 0; r < m->relation_count; r++) h->zero[r] = 0.0;
    crowd_start(h);
    h->calls = 0;
    h->slow_reported = h->no_memory = false;
    h->other[0] = 0;
    h->started = t;
    s->run.terminated = s->run.jump_reported = false;
    part_free(h->doubt);
    h->doubt = NULL;
    vector_copy(s->bound.n, s->bound.y, h->start);
    model_instance_load(h->instance);
    memory_start(s);
    for (size_t i = 0; i < m->assert_count; i++) h->warned[i] = false;
    for (int k = 0; k < h->instance->form->visible_count; k++) h->undefined[k] = false;
    h->instance->noise = noise_of(s->bound.options.atol);
}

/* With initial() true: the relations at the start values, and again at what follows from these. */
dae_status relations_guess(dae_solver *s, double t, dae_init mode)
{
    s->hybrid->solved = false;
    s->hybrid->instance->memory[flat_of(s)->memory_initial] = 1.0;
    relations_start(s, t);
    relations_decide(s, true);
    dae_status status = hybrid_guess(s, t, mode);
    if (status == DAE_OK) relations_start(s, t);
    return status;
}

dae_status hybrid_open(dae_solver *s, double t, dae_init mode, bool given)
{
    clear_events(s, t);
    s->hybrid->given = given;
    dae_status status = given ? DAE_OK : hybrid_check_fixed(s);
    if (status != DAE_OK) return status;
    status = samples_start(s, t);
    if (status == DAE_OK) status = relations_guess(s, t, mode);
    return hybrid_explain(s, status);
}

/* ---- ahead of the start ---- */

bool hybrid_is_open(const dae_solver *s, double t)
{
    const opening *o = &s->hybrid->opening;
    return o->stands && o->t == t && o->revision == s->base->model->revision;
}

/* A plan with something to say waits for the start, whose values may be others. */
static bool is_plain(const dae_solver *s)
{
    const model_mode *v = mode_find(s->modes, s->hybrid->instance->memory);
    return !v || plan_is_plain(&v->plan); /* without v the formulation is that of the text */
}

static dae_status open_and_bind(dae_solver *s, double t)
{
    dae_init mode = s->base_options.init;
    s->hybrid->begins = true;
    hybrid_start_values(s);
    dae_status status = hybrid_open(s, t, mode, false);
    if (status == DAE_OK) status = events_find_mode(s, t, mode);
    return status == DAE_OK ? bind_mode_at_hand(s, t) : status;
}

void hybrid_give_back(dae_solver *s)
{
    if (!hybrid_is_large(s->hybrid)) return;
    hybrid_drop_initial(s->hybrid);
    hybrid_tidy(s->hybrid);
}

dae_status hybrid_open_ahead(dae_solver *s)
{
    const flat_experiment *e = &s->base->model->flat->experiment;
    double t = e->has_start ? e->start : 0.0;
    const dae_message_fn message = s->base_options.message;
    s->base_options.message = s->bound.options.message = NULL;
    dae_status status = open_and_bind(s, t);
    bool stands = status == DAE_OK && is_plain(s);
    s->hybrid->opening = (opening){stands, t, s->base->model->revision};
    dae_status kept = stands ? DAE_OK : forget_modes(s);
    s->base_options.message = s->bound.options.message = message;
    hybrid_give_back(s);
    if (status == DAE_ERR_MEMORY || kept != DAE_OK) return kept != DAE_OK ? kept : status;
    diag_clear(&s->diag); /* the start says what failed */
    return DAE_OK;
}
