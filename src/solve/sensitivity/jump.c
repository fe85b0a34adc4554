/* Sensitivities across an event of a model.
 *
 * An event at te(p) moves with p by tau = dte/dp = -(r_p + r_Y S)/(r_t + r_Y Y'), where r is the
 * crossing function of its relation. What the event computes from the values at te moves by the
 * total derivative D = S + Y' tau: reinit and discrete Reals hand it on, states that are not set
 * keep it. Behind the event S = D - Y' tau, with Y' of there [Galan, Feehery, Barton 1999].
 *
 * Y' is that of the smooth solution, on which S stands: by the equations it would be off by the
 * error of Y times their stiffness. What it differs by (the drift) is the same before and behind,
 * so that jumps of Y' are those of the equations at one and the same values. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"
#include "linalg/least_squares.h"
#include "solve/hybrid/hybrid.h"
#include "solve/run/run.h"
#include "solve/sensitivity/rough.h"
#include "solve/sensitivity/run_error.h"
#include "solve/sensitivity/sensitivity_parts.h"
#include "solve/sensitivity/tangent_ledger.h"
#include "solve/sensitivity/tangent_past.h"

struct jump {
    bool at_work, passed; /* an event is at work; there was one */
    double time;
    double *tau;             /* per direction: dte/dp; owned, as the others */
    double *total;           /* per direction: D of the user's unknowns, y, then y' */
    double *before;          /* user's unknowns before the event */
    bool *reset;             /* per unknown of the user: reinit has set it */
    bool *apart;             /* per direction: what comes back then moves otherwise, or who knows */
    double *time_s, *time_p; /* lead.n: dY/dt and its slope, in one block at time_s */
    double *drift; /* per unknown of the user: dY/dt above that by the equations, before it */
    double *drift_s, *drift_p; /* the same of the lead, and its slope; in one block at drift_s */
    double *behind;            /* dY/dt of the lead's states behind it; owned */
    int drifting;              /* a relation whose rate is that of the drift to a part; -1: none */
};

void jump_free(struct jump *j)
{
    if (!j) return;
    dae_free_all(j->tau, j->total, j->before, j->reset, j->apart, j->time_s, j->drift, j->drift_s,
                 j->behind, j);
}

bool jump_last(const struct jump *j, int k, double *time, double *derivative)
{
    if (!j || !j->passed) return false;
    if (time) *time = j->time;
    if (derivative) *derivative = j->tau[k];
    return true;
}

static struct jump *jump_new(const dae_sensitivity *x)
{
    const size_t n = (size_t)x->run->base->form.n, count = (size_t)x->directions.count;
    struct jump *j = DAE_NEW(struct jump);
    if (!j) return NULL;
    j->tau = DAE_ARRAY(double, count);
    j->total = DAE_ARRAY(double, 2 * n * count);
    j->before = DAE_ARRAY(double, n);
    j->reset = DAE_ARRAY(bool, n);
    j->apart = DAE_ARRAY(bool, count);
    j->drift = DAE_ARRAY(double, n);
    if (j->tau && j->total && j->before && j->reset && j->apart && j->drift) return j;
    jump_free(j);
    return NULL;
}

/* ---- how fast things move ---- */

/* dY/dt at the point that was linearised, whose states factor. */
static dae_status move_with_time(dae_sensitivity *x, double t)
{
    struct jump *j = x->jump;
    const lead *l = &x->lead;
    dae_free(j->time_s);
    j->time_s = DAE_ARRAY(double, 2 * (size_t)l->n);
    if (!j->time_s) return sensitivity_no_memory(x);
    j->time_p = j->time_s + l->n;
    for (int i = 0; i < l->n; i++) j->time_s[i] = lead_is_state(l, i) ? l->yp[i] : 0.0;
    return lead_complete(x, t, -1, 1.0, j->time_s, j->time_p);
}

/* Values, derivatives and factors where the run stands. */
static dae_status look(dae_sensitivity *x, double t)
{
    dae_status status = lead_values(x, t);
    if (status == DAE_OK) status = lead_linearise(x, t);
    if (status == DAE_OK) status = lead_factor_states(x);
    if (status == DAE_OK) status = lead_settle(x, t);
    if (status == DAE_OK) ledger_point(x->ledger, &x->lead);
    return status == DAE_OK ? move_with_time(x, t) : status;
}

/* Where unknown u of the user is in the lead. */
static model_place place_in_lead(const dae_sensitivity *x, int u)
{
    const lead *l = &x->lead;
    return is_formulated(l->solver) ? l->form->place[u] : (model_place){u, false, 1};
}

/* dY/dt of the smooth solution before the event, and what it is above that of the equations. */
static dae_status drift_before(dae_sensitivity *x, double t)
{
    struct jump *j = x->jump;
    const int n = x->lead.n;
    dae_free(j->drift_s);
    j->drift_s = DAE_ARRAY(double, 2 * (size_t)n);
    if (!j->drift_s) return sensitivity_no_memory(x);
    j->drift_p = j->drift_s + n;
    j->drifting = -1;
    dae_status status = lead_smooth(x, t, j->drift_s, j->drift_p);
    if (status != DAE_OK) return status;
    for (int u = 0; u < x->run->base->form.n; u++) {
        model_place at = place_in_lead(x, u);
        j->drift[u] = at.unknown >= 0 && !at.slope ? at.sign * j->drift_s[at.unknown] : 0.0;
    }
    vector_axpy(2 * n, 1.0, j->drift_s, j->time_s);
    return DAE_OK;
}

/* ---- when ---- */

/* Whether relation r, whose crossing function is `value`, is what makes the event. */
static bool relation_crosses(const dae_solver *s, size_t r, double value)
{
    const hybrid *h = s->hybrid;
    const int slot = s->base->model->flat->relations[r].memory;
    if (h->pending == EVENT_CROSSING) return dae_solver_events(s)[r] != 0;
    return h->pending == EVENT_OVERDUE && (value < 0.0) != (h->instance->memory[slot] != 0.0);
}

/* Crossing functions of the run at t; NULL: memory, or no values there. */
static double *crossing_values(dae_solver *s, double t)
{
    double *value = DAE_ARRAY(double, s->hybrid->instance->form->crossing.outputs);
    if (value && solver_ask(s, t) == DAE_OK) {
        model_instance_crossings(s->hybrid->instance, t, s->bound.at_y, s->bound.at_yp, value);
        return value;
    }
    dae_free(value);
    return NULL;
}

/* Times this close to t are the same. */
static double close_by(const dae_solver *s, double t)
{
    return 1e-9 * fabs(t) + time_slack(s);
}

/* Whether something else at this time, which moves by tau in direction k, moves with the event. */
static bool moves_along(const dae_sensitivity *x, int k, double tau)
{
    const double own = x->jump->tau[k], apart = fabs(tau - own);
    return apart <= 1e-6 * fmax(fabs(tau), fabs(own)) ||
           apart * directions_size(&x->directions, k) <= 1e-3 * close_by(x->run, x->run->run.t);
}

static dae_status refuse_grazing(const dae_sensitivity *x, size_t r, double t)
{
    const flat_model *m = x->lead.form->flat;
    x->run->diag.t = t;
    x->run->diag.line = m->relations[r].place.line;
    return diag_set(
        &x->run->diag, DAE_ERR_UNSUPPORTED,
        "Sensitivities: at t = %.9g the two sides of the relation at %.100s:%d meet without "
        "crossing at a finite rate, or by a jump: the time of the event has no derivative.",
        t, model_file(x->run), m->relations[r].place.line);
}

/* A stiff relation that comes back within the tolerances crosses by the errors of the run. */
static dae_status refuse_drifting(const dae_sensitivity *x)
{
    const flat_model *m = x->lead.form->flat;
    const int line = m->relations[x->jump->drifting].place.line;
    x->run->diag.t = x->jump->time;
    x->run->diag.line = line;
    return diag_set(&x->run->diag, DAE_ERR_UNSUPPORTED,
                    "Sensitivities: at t = %.9g the relation at %.100s:%d crosses again, its sides "
                    "differed by less than the tolerances since its last event, and they move fast "
                    "(stiff equations): errors of the run decide when, and the time of the event "
                    "has no derivative. Take smaller tolerances, or another method (bdf, radau).",
                    x->jump->time, model_file(x->run), line);
}

static dae_status refuse_several(const dae_sensitivity *x, double t)
{
    x->run->diag.t = t;
    return diag_set(&x->run->diag, DAE_ERR_UNSUPPORTED,
                    "Sensitivities: several relations cross at t = %.9g, and move apart with the "
                    "parameters: there are no derivatives behind it. Move one of them a little.",
                    t);
}

/* How fast relation r moves with the parameter of direction k, time apart. */
static double relation_moves(const dae_sensitivity *x, const model_tangent *c, size_t r, int k)
{
    const size_t row = (size_t)k * (size_t)x->lead.n;
    return model_tangent_row(c, (int)r, x->s + row, x->sp + row,
                             directions_moved(&x->directions, k), 0.0);
}

/* A relation that is zero where the run begins, and leaves: if it moves with the parameters the
 * event comes later, or came before. */
static dae_status check_leaving(const dae_sensitivity *x, const model_tangent *c,
                                const double *value, double t)
{
    static const double ZERO = 1e-12;
    for (size_t r = 0; r < x->lead.form->flat->relation_count; r++)
        for (int k = 0; k < directions_asked(&x->directions) && fabs(value[r]) <= ZERO; k++)
            if (relation_moves(x, c, r, k) != 0.0) return refuse_grazing(x, r, t);
    return DAE_OK;
}

/* The second derivative by time of crossing function r over the last step; NAN: not known. */
static double relation_bends(const dae_sensitivity *x, size_t r)
{
    const run_state *run = &x->run->run;
    const double h = 0.5 * (run->t_new - run->t_old);
    double bend = 0.0;
    for (int i = 0; i < 3; i++) {
        double *value = crossing_values(x->run, i == 2 ? run->t_new : run->t_old + i * h);
        bend += value ? (i == 1 ? -2.0 : 1.0) * value[r] : (double)NAN;
        dae_free(value);
    }
    return bend / (h * h);
}

/* By how much errors that a run leaves in its values move crossing function r, where the estimate
 * of them sees less: that of radau does, on whose steps v is no better than u. */
static double relation_open(const dae_sensitivity *x, const model_tangent *c, size_t r)
{
    static const double PART = 0.25; /* of the tolerances */
    const size_t n = (size_t)x->lead.n;
    double *s = DAE_ARRAY(double, 2 * n), sum = 0.0;
    for (size_t i = 0; s && i < n; i++) {
        s[i] = PART * x->lead.weights[i];
        sum += fabs(model_tangent_row(c, (int)r, s, s + n, NULL, 0.0));
        s[i] = 0.0;
    }
    dae_free(s);
    return sum;
}

/* tau by relation r; *several: another one that crosses moves otherwise. */
static dae_status time_of_relation(dae_sensitivity *x, const model_tangent *c, size_t r, double t,
                                   bool found, bool *several)
{
    static const double GRAZING = 1e-10, DRIFTS = 1e-3;
    struct jump *j = x->jump;
    const double rate = model_tangent_row(c, (int)r, j->time_s, j->time_p, NULL, 1.0);
    const double drift = model_tangent_row(c, (int)r, j->drift_s, j->drift_p, NULL, 0.0);
    if (!(fabs(rate) > 0.0)) return refuse_grazing(x, r, t);
    if (fabs(drift) > DRIFTS * fabs(rate)) j->drifting = (int)r;
    for (int k = 0; k < x->directions.count; k++) {
        const double tau = -relation_moves(x, c, r, k) / rate;
        if (k >=
            directions_asked(&x->directions)) { /* errors have their time, and refuse nothing */
            if (!found) j->tau[k] = tau;
            continue;
        }
        if (found && !moves_along(x, k, tau)) *several = true;
        if (!found && fabs(tau) * directions_size(&x->directions, k) > 1.0 / GRAZING)
            return refuse_grazing(x, r, t);
        if (!found) j->tau[k] = tau;
    }
    if (!found) ledger_tau_of_relation(x->ledger, &x->lead, (int)r, rate);
    if (!found && run_error_counts(x->error))
        run_error_bend(x, relation_open(x, c, r) / rate, relation_bends(x, r) / rate, j->tau);
    return DAE_OK;
}

/* ---- several things at once ---- */

static dae_status refuse_together(const dae_sensitivity *x, const char *what, int line, double t)
{
    x->run->diag.t = t;
    x->run->diag.line = line;
    return diag_set(&x->run->diag, DAE_ERR_UNSUPPORTED,
                    "Sensitivities: several events meet at t = %.9g, and the %s at %.100s:%d moves "
                    "otherwise with the parameters than another of them: there are no derivatives "
                    "behind it. Move one of them a little.",
                    t, what, model_file(x->run), line);
}

/* Whether relation r, with this crossing function, is about to cross at t, if not on its way. */
static bool relation_due(const dae_solver *s, size_t r, double value, double rate, double t)
{
    const hybrid *h = s->hybrid;
    const bool below = h->instance->memory[s->base->model->flat->relations[r].memory] != 0.0;
    if (h->trace[r].mute || h->trace[r].resting != 0 || rate == 0.0) return false;
    return (rate * s->run.direction > 0.0) == below && fabs(value) <= fabs(rate) * close_by(s, t);
}

/* Relations that cross where a clock strikes move with it. */
static dae_status check_relations(dae_sensitivity *x, double t)
{
    const struct jump *j = x->jump;
    const flat_model *m = x->lead.form->flat;
    if (m->relation_count == 0) return DAE_OK;
    model_tangent *c = lead_crossings(x, t);
    double *value = crossing_values(x->run, t);
    dae_status status = c && value ? DAE_OK : sensitivity_no_memory(x);
    for (size_t r = 0; status == DAE_OK && r < m->relation_count; r++) {
        const double rate = model_tangent_row(c, (int)r, j->time_s, j->time_p, NULL, 1.0);
        if (!relation_due(x->run, r, value[r], rate, t)) continue;
        for (int k = 0; k < directions_asked(&x->directions) && status == DAE_OK; k++)
            if (!moves_along(x, k, -relation_moves(x, c, r, k) / rate))
                status = refuse_together(x, "relation", m->relations[r].place.line, t);
    }
    dae_free(value);
    return status;
}

/* What inputs do to the count-th tick of a clock; false: memory. */
static bool record_clock(dae_sensitivity *x, const model_tangent *slope, double count)
{
    const double weight[2] = {1.0, count};
    double *moves = x->ledger ? DAE_ARRAY(double, x->directions.inputs.count) : NULL;
    if (!x->ledger) return true;
    if (!moves) return false;
    model_tangent_transposed(slope, model_tangent_entries(slope), weight, NULL, NULL, moves, NULL);
    ledger_tau_of_clock(x->ledger, x->directions.inputs.count, moves);
    dae_free(moves);
    return true;
}

/* Derivatives of start and interval of clock i; NULL: memory. */
static model_tangent *clock_slope(const dae_sensitivity *x, size_t i, double t)
{
    const flat_model *m = x->lead.form->flat;
    expr e[2] = {m->samples[i].start, m->samples[i].interval};
    model_tangent *slope = model_tangent_new(m->graph, e, 2, 0, &x->directions.inputs, false);
    tape_inputs at = lead_point(x, t);
    if (slope) model_tangent_at(slope, &at);
    return slope;
}

/* How its tick number `count` moves in direction k. */
static double clock_moves(const dae_sensitivity *x, const model_tangent *slope, double count, int k)
{
    double by[2] = {0.0, 0.0};
    model_tangent_apply(slope, NULL, NULL, directions_moved(&x->directions, k), 0.0, by);
    return by[0] + count * by[1];
}

dae_status jump_check_start(dae_sensitivity *x)
{
    const flat_model *m = x->lead.form->flat;
    const double t = x->run->run.t;
    for (size_t i = 0; i < m->sample_count; i++) {
        const sample_clock *c = &x->run->hybrid->sample[i];
        const double last = c->start + (c->count - 1.0) * c->interval;
        if (m->samples[i].schedule || fabs(last - t) > close_by(x->run, t)) continue;
        model_tangent *slope = clock_slope(x, i, t);
        bool moves = false;
        if (!slope) return sensitivity_no_memory(x);
        for (int k = 0; k < directions_asked(&x->directions) && !moves; k++)
            moves = clock_moves(x, slope, c->count - 1.0, k) != 0.0;
        model_tangent_free(slope);
        if (!moves) continue;
        const int line = x->run->diag.line = m->samples[i].place.line;
        return diag_set(&x->run->diag, DAE_ERR_UNSUPPORTED,
                        "Sensitivities: the clock at %.100s:%d strikes where the run begins, and "
                        "moves with the parameters: it would strike later, or not at all. Let it "
                        "begin elsewhere.",
                        model_file(x->run), line);
    }
    return DAE_OK;
}

/* tau of clock i, sample(start, interval), both may move; jumps of inputs from outside rest. found:
 * the event has a tau, which must be the same. */
static dae_status time_of_clock(dae_sensitivity *x, size_t i, double t, bool found)
{
    const flat_sample *q = &x->lead.form->flat->samples[i];
    const double count = x->run->hybrid->sample[i].count;
    const bool rests = q->schedule;
    model_tangent *slope = rests ? NULL : clock_slope(x, i, t);
    if (!rests && !slope) return sensitivity_no_memory(x);
    dae_status status = DAE_OK;
    for (int k = 0; k < x->directions.count && status == DAE_OK; k++) {
        const double tau = slope ? clock_moves(x, slope, count, k) : 0.0;
        if (!found) x->jump->tau[k] = tau;
        if (found && k < directions_asked(&x->directions) && !moves_along(x, k, tau))
            status = refuse_together(x, rests ? "jump of the input" : "clock", q->place.line, t);
    }
    if (slope && !found && status == DAE_OK && !record_clock(x, slope, count))
        status = sensitivity_no_memory(x);
    model_tangent_free(slope);
    return status;
}

/* tau by the clocks that strike; *found: the event has one already. */
static dae_status times_by_clocks(dae_sensitivity *x, double t, bool *found)
{
    const hybrid *h = x->run->hybrid;
    dae_status status = DAE_OK;
    for (size_t i = 0; i < x->lead.form->flat->sample_count && status == DAE_OK; i++) {
        if (h->sample[i].next > t + close_by(x->run, t)) continue;
        status = time_of_clock(x, i, t, *found);
        *found = true;
    }
    return status;
}

/* How much slower states become, and by how much other values jump, where a break comes back and
 * nothing else happens; in l->work. */
static dae_status effect_of_return(dae_sensitivity *x, const tangent_return *r, double t)
{
    lead *l = &x->lead;
    evaluator *e = &l->solver->bound.eval;
    delay_past *p = &x->run->hybrid->delays->past[r->delay];
    const double passed = p->passed;
    p->passed = r->from;
    eval_status status = evaluate_residual(e, t, l->y, l->yp, l->work, &e->stats->residuals);
    p->passed = passed;
    iteration_status solved =
        status == EVAL_OK ? iteration_solve(&l->matrix, NULL, l->work) : ITERATION_RETRY;
    x->stats.solves++;
    if (solved == ITERATION_OK) return DAE_OK;
    return solved == ITERATION_MEMORY ? sensitivity_no_memory(x)
                                      : refuse_together(x, "delay", 0, t);
}

/* Whether it matters for S in direction k that this effect comes at a time that moves otherwise, by
 * `by`. */
static bool return_matters(const dae_sensitivity *x, int k, double by)
{
    const lead *l = &x->lead;
    const double *s = x->s + (size_t)k * (size_t)l->n;
    for (int i = 0; i < l->n; i++) {
        const double off = fabs(l->work[i]);
        if (lead_is_state(l, i) ? off * by > sensitivity_weight(x, k, i, s[i], s[i])
                                : off > l->weights[i])
            return true;
    }
    return false;
}

/* tau of a break that comes back. It must be that of all that happens then, unless it matters
 * nothing: where slopes jumped once values bend, and so on [BZ13 2.1]. */
static dae_status time_of_return(dae_sensitivity *x, const tangent_return *r, double t, bool found)
{
    struct jump *j = x->jump;
    const flat_model *m = x->lead.form->flat;
    dae_status status = effect_of_return(x, r, t);
    for (int k = 0; k < x->directions.count && status == DAE_OK; k++) {
        const double tau = tangent_past_moves(x, r, k);
        const double unknown = x->run->hybrid->delays->past[r->delay].most;
        if (!found && !isnan(tau)) j->tau[k] = tau;
        if (!isnan(tau) && moves_along(x, k, tau)) continue;
        j->apart[k] = true;
        const double by =
            isnan(tau) ? unknown / directions_size(&x->directions, k) : fabs(tau - j->tau[k]);
        if (k < directions_asked(&x->directions) && return_matters(x, k, by))
            status = refuse_together(x, "delay", m->delays[r->delay].place.line, t);
    }
    return status;
}

/* tau by what comes back; *found: the event has one already. */
static dae_status times_by_returns(dae_sensitivity *x, double t, bool *found)
{
    tangent_return r, last;
    dae_status status = DAE_OK;
    bool any = false;
    if (x->run->hybrid->pending == EVENT_NONE) return DAE_OK; /* the end of the run passes none */
    while (status == DAE_OK && tangent_past_due(x, t, any ? &last : NULL, &r)) {
        status = time_of_return(x, &r, t, *found);
        *found = any = true;
        last = r;
    }
    return status;
}

/* tau by the relations that cross. */
static dae_status times_by_relations(dae_sensitivity *x, double t)
{
    const event_cause cause = x->run->hybrid->pending;
    model_tangent *c = lead_crossings(x, t);
    double *value = crossing_values(x->run, t);
    bool found = false, several = false;
    dae_status status = c && value ? DAE_OK : sensitivity_no_memory(x);
    if (status == DAE_OK && cause == EVENT_LEAVING) status = check_leaving(x, c, value, t);
    for (size_t r = 0; status == DAE_OK && r < x->lead.form->flat->relation_count; r++) {
        if (!relation_crosses(x->run, r, value[r])) continue;
        status = time_of_relation(x, c, r, t, found, &several);
        found = true;
    }
    dae_free(value);
    const bool unknown = cause == EVENT_SEAM || (cause == EVENT_OVERDUE && !found);
    if (status == DAE_OK && unknown) several = true; /* not known which */
    return status == DAE_OK && several ? refuse_several(x, t) : status;
}

/* tau, which all that happens at t must have. */
static dae_status find_times(dae_sensitivity *x, double t)
{
    const bool clock = x->run->hybrid->pending == EVENT_SAMPLE;
    bool found = !clock;
    dae_status status = clock ? DAE_OK : times_by_relations(x, t);
    if (status == DAE_OK) status = times_by_clocks(x, t, &found);
    if (status == DAE_OK) status = times_by_returns(x, t, &found);
    return status == DAE_OK && clock ? check_relations(x, t) : status;
}

/* ---- before the event ---- */

/* D = S + Y' tau in the user's unknowns. */
static dae_status take_totals(dae_sensitivity *x)
{
    struct jump *j = x->jump;
    const size_t n = (size_t)x->lead.n, base = (size_t)x->run->base->form.n;
    double *d = DAE_ARRAY(double, 2 * n), *dp = d + n;
    if (!d) return sensitivity_no_memory(x);
    for (int k = 0; k < x->directions.count; k++) {
        for (size_t i = 0; i < n; i++) {
            d[i] = x->s[(size_t)k * n + i] + j->time_s[i] * j->tau[k];
            dp[i] = x->sp[(size_t)k * n + i] + j->time_p[i] * j->tau[k];
        }
        double *total = j->total + 2 * (size_t)k * base;
        lead_to_user(x, d, dp, total, total + base);
    }
    ledger_time(x->ledger, j->time_s, j->time_p);
    ledger_to_user(x->ledger);
    dae_free(d);
    return DAE_OK;
}

dae_status jump_before(void *user)
{
    dae_sensitivity *x = user;
    dae_solver *s = x->run;
    const double t = s->run.t;
    if (!x->stands) return DAE_OK;
    if (!x->jump && !(x->jump = jump_new(x))) return sensitivity_no_memory(x);
    struct jump *j = x->jump;
    for (int k = 0; k < x->directions.count; k++) {
        j->tau[k] = 0.0;
        j->apart[k] = false;
    }
    for (int i = 0; i < s->base->form.n; i++) j->reset[i] = false;
    x->lead.at = NAN;
    x->lead.as_taken = s->hybrid->pending != EVENT_SAMPLE; /* until it is behind us */
    dae_status status = x->lead.plain ? lead_change(x, true) : DAE_OK;
    ledger_begin(x->ledger); /* what a change has recorded is kept already */
    if (status == DAE_OK) status = look(x, t);
    if (status == DAE_OK) status = drift_before(x, t);
    if (status == DAE_OK && x->ledger) status = x->recorder->event_begins(x->recorder->user);
    if (status == DAE_OK) status = find_times(x, t);
    if (status == DAE_OK) status = take_totals(x);
    double *y = status == DAE_OK ? DAE_ARRAY(double, 2 * (size_t)s->base->form.n) : NULL;
    if (status == DAE_OK && !y) status = sensitivity_no_memory(x);
    if (y) {
        status = solver_ask(s, t);
        values_to_user(s, t, s->bound.at_y, s->bound.at_yp, y, y + s->base->form.n);
        vector_copy(s->base->form.n, y, j->before);
        dae_free(y);
    }
    j->at_work = status == DAE_OK;
    if (!j->at_work) x->lead.as_taken = false;
    j->time = t;
    x->stands = status == DAE_OK;
    return status;
}

/* ---- reinit of what is no state ---- */

/* reinit of a variable that is no state here, as of one velocity of a pendulum whose other is: a
 * state that it moves through the constraints takes its place, D of the one from D of the other. */
typedef struct exchange {
    int count, *pinned, *state; /* variables of the lead that reinit has set; states they move */
    double *sign;               /* of pinned ones against the user's, */
    int *user;                  /* whose number this is */
    double *moves;              /* count x count by columns: D of pinned by D of states */
    double *work;               /* 3 n of the lead */
    least_squares ls;
} exchange;

static void exchange_free(exchange *e)
{
    if (e->count > 0) least_squares_free(&e->ls);
    dae_free_all(e->pinned, e->state, e->sign, e->user, e->moves, e->work);
}

/* Whether a state has jumped by more than the tolerances leave open. */
static bool jumped(const dae_sensitivity *x, int u, const double *y)
{
    static const double CLOSE = 1e-6;
    const double before = x->jump->before[u], by = fabs(y[u] - before);
    const double size = fmax(fmax(fabs(y[u]), fabs(before)), x->run->run.sizes[u]);
    return by > CLOSE * size + 10.0 * x->lead.weights[place_in_lead(x, u).unknown];
}

static dae_status refuse_jump(dae_sensitivity *x, int u, double by)
{
    dae_solver *s = x->run;
    diag_variable(&s->diag, u, problem_variable(s->base, u));
    return diag_set(&s->diag, DAE_ERR_UNSUPPORTED,
                    "Sensitivities: at the event at t = %.9g %s jumps by %.6g, and no reinit says "
                    "so: the equations of the new mode do. There are no sensitivities across such "
                    "a jump.",
                    x->jump->time, s->diag.variable_name, by);
}

/* Which variables are pinned, and which states have jumped without reinit: as many. */
static dae_status find_exchange(dae_sensitivity *x, exchange *e, const double *y)
{
    const int n = x->run->base->form.n;
    int states = 0, last = -1;
    for (int u = 0; u < n; u++) {
        model_place at = place_in_lead(x, u);
        if (at.unknown < 0 || at.slope) continue;
        bool state = lead_is_state(&x->lead, at.unknown);
        if (x->jump->reset[u] && !state) {
            e->pinned[e->count] = at.unknown;
            e->sign[e->count] = at.sign;
            e->user[e->count++] = u;
        }
        if (!x->jump->reset[u] && state && jumped(x, u, y)) {
            if (states < n) e->state[states++] = at.unknown;
            last = u;
        }
    }
    if (states == e->count || (states < e->count && states == 0)) {
        if (states == 0) e->count = 0; /* what is set moves no state */
        return DAE_OK;
    }
    e->count = 0;
    return refuse_jump(x, last >= 0 ? last : 0,
                       last >= 0 ? fabs(y[last] - x->jump->before[last]) : 0.0);
}

/* D of the pinned variables by a unit of D of each state. */
static dae_status fill_moves(dae_sensitivity *x, exchange *e)
{
    const size_t n = (size_t)x->lead.n;
    double *s = e->work, *sp = s + n, *b = s + 2 * n;
    for (int j = 0; j < e->count; j++) {
        vector_zero((int)(3 * n), e->work);
        s[e->state[j]] = 1.0;
        dae_status status = lead_complete_with(x, x->jump->time, b, s, sp);
        if (status != DAE_OK) return status;
        for (int i = 0; i < e->count; i++) e->moves[j * e->count + i] = s[e->pinned[i]];
    }
    return DAE_OK;
}

static dae_status exchange_new(dae_sensitivity *x, exchange *e)
{
    const size_t n = (size_t)x->run->base->form.n;
    *e = (exchange){.pinned = DAE_ARRAY(int, n),
                    .state = DAE_ARRAY(int, n),
                    .sign = DAE_ARRAY(double, n),
                    .user = DAE_ARRAY(int, n)};
    double *y = user_values(x->run);
    dae_status status =
        e->pinned && e->state && e->sign && e->user && y ? DAE_OK : sensitivity_no_memory(x);
    if (status == DAE_OK) status = find_exchange(x, e, y);
    dae_free(y);
    if (status != DAE_OK || e->count == 0) return status;
    const size_t m = (size_t)e->count;
    e->moves = DAE_ARRAY(double, 2 * m * m + m);
    e->work = DAE_ARRAY(double, 3 * (size_t)x->lead.n);
    if (!least_squares_new(&e->ls, e->count, e->count)) {
        e->count = 0;
        return sensitivity_no_memory(x);
    }
    if (!e->moves || !e->work) return sensitivity_no_memory(x);
    return fill_moves(x, e);
}

/* D of the states, in d, such that the pinned variables have theirs in direction k. */
static dae_status exchange_apply(dae_sensitivity *x, exchange *e, int k, double *d)
{
    const size_t n = (size_t)x->lead.n, m = (size_t)e->count;
    const double *total = x->jump->total + 2 * (size_t)k * (size_t)x->run->base->form.n;
    double *A = e->moves + m * m, *b = A + m * m, *sp = e->work + n;
    if (e->count == 0) return DAE_OK;
    ledger_pin(x->ledger,
               &(ledger_exchange){e->count, e->pinned, e->state, e->user, e->sign, e->moves});
    for (int j = 0; j < e->count; j++) d[e->state[j]] = 0.0;
    vector_copy((int)n, d, e->work);
    dae_status status = lead_complete(x, x->jump->time, k, x->jump->tau[k], e->work, sp);
    if (status != DAE_OK) return status;
    memcpy(A, e->moves, m * m * sizeof *A);
    for (size_t i = 0; i < m; i++) b[i] = e->sign[i] * total[e->user[i]] - e->work[e->pinned[i]];
    if (!least_squares_solve(&e->ls, e->count, e->count, A, b, 1e-12))
        return sensitivity_no_memory(x);
    if (e->ls.rank < e->count) return refuse_jump(x, e->user[0], 0.0);
    for (int j = 0; j < e->count; j++) d[e->state[j]] = b[j];
    return DAE_OK;
}

/* ---- passes ---- */

/* Rounds in which rates of discrete Reals and D settle. */
enum { MOST_ROUNDS = 100 };

/* pre(v) moves as v does. */
static void discretes_take_pre(dae_sensitivity *x, int k)
{
    const flat_model *m = x->run->base->model->flat;
    double *moved = directions_moved(&x->directions, k);
    for (size_t v = 0; v < m->variable_count; v++) {
        const flat_variable *q = &m->variables[v];
        if (!q->discrete || q->type != FLAT_REAL) continue;
        const int pre = x->directions.inputs.memory[q->memory_pre];
        const int now = x->directions.inputs.memory[q->memory];
        moved[pre] = moved[now];
        ledger_copy(x->ledger, pre, now);
    }
}

/* Number of the first action of branch b of when w among all rows of lead_actions. */
static int action_row(const flat_model *m, size_t when, size_t branch)
{
    size_t at = m->discrete_count;
    for (size_t w = 0; w < when; w++)
        for (size_t b = 0; b < m->whens[w].branch_count; b++)
            at += m->whens[w].branches[b].action_count;
    for (size_t b = 0; b < branch; b++) at += m->whens[when].branches[b].action_count;
    return (int)at;
}

typedef struct discrete_move {
    dae_sensitivity *x;
    const model_tangent *actions;
    const double *s, *sp;
    double *moved, dt;
} discrete_move;

/* A variable moves as a row of the actions says. */
static void set_by_row(discrete_move *q, int variable, int row)
{
    const flat_variable *v = &q->x->run->base->model->flat->variables[variable];
    const int input = q->x->directions.inputs.memory[v->memory];
    if (v->type != FLAT_REAL) return;
    q->moved[input] = model_tangent_row(q->actions, row, q->s, q->sp, q->moved, q->dt);
    ledger_rate(q->x->ledger, &q->x->lead, input, row);
}

/* A variable moves as pre of it. */
static void set_by_pre(discrete_move *q, int variable)
{
    const flat_variable *v = &q->x->run->base->model->flat->variables[variable];
    const int *input = q->x->directions.inputs.memory;
    if (v->type != FLAT_REAL) return;
    q->moved[input[v->memory]] = q->moved[input[v->memory_pre]];
    ledger_copy(q->x->ledger, input[v->memory], input[v->memory_pre]);
}

/* Variables that a clause defines keep pre(v), unless a branch is active. */
static void move_when(discrete_move *q, const flat_model *m, size_t w, int branch)
{
    const flat_when *when = &m->whens[w];
    for (size_t b = 0; b < when->branch_count; b++)
        for (size_t i = 0; i < when->branches[b].action_count; i++) {
            const flat_action *a = &when->branches[b].actions[i];
            if (a->kind == ACTION_ASSIGN) set_by_pre(q, a->variable);
        }
    for (size_t i = 0; branch >= 0 && i < when->branches[branch].action_count; i++) {
        const flat_action *a = &when->branches[branch].actions[i];
        if (a->kind == ACTION_ASSIGN)
            set_by_row(q, a->variable, action_row(m, w, (size_t)branch) + (int)i);
    }
}

/* Discrete Reals move with the continuous values s, sp of direction k, and dt of time; active: per
 * when its active branch. */
static void discretes_move(dae_sensitivity *x, const model_tangent *actions, int k,
                           const int *active, const double *s, const double *sp, double dt)
{
    const flat_model *m = x->run->base->model->flat;
    discrete_move q = {x, actions, s, sp, directions_moved(&x->directions, k), dt};
    for (size_t i = 0; i < m->event_count; i++) {
        size_t index = m->event_order[i].index;
        if (m->event_order[i].is_when)
            move_when(&q, m, index, active[index]);
        else
            set_by_row(&q, m->discretes[index].variable, (int)index);
    }
}

/* The first discrete Real whose rate has changed from what it was before; -1: none. */
static int changed_rate(const dae_sensitivity *x, const double *before, const double *now)
{
    static const double SAME = 1e-13;
    const flat_model *m = x->run->base->model->flat;
    for (size_t v = 0; v < m->variable_count; v++) {
        const flat_variable *q = &m->variables[v];
        if (!q->discrete || q->type != FLAT_REAL) continue;
        const double a = before[x->directions.inputs.memory[q->memory]];
        const double b = now[x->directions.inputs.memory[q->memory]];
        if (!(fabs(a - b) <= SAME * fmax(fabs(a), fabs(b)))) return (int)v;
    }
    return -1;
}

/* What reinit does to D: values first, then all of them at once. */
static void act(dae_sensitivity *x, const model_tangent *actions, int k, const double *d,
                const double *dp)
{
    const flat_model *m = x->run->base->model->flat;
    const model_form *f = x->run->base->model;
    const int n = x->run->base->form.n;
    double *total = x->jump->total + 2 * (size_t)k * (size_t)n;
    for (size_t w = 0; w < m->when_count; w++) {
        int b = x->run->hybrid->active[w];
        for (size_t i = 0; b >= 0 && i < m->whens[w].branches[b].action_count; i++) {
            const flat_action *a = &m->whens[w].branches[b].actions[i];
            int sign, u;
            if (a->kind != ACTION_REINIT) continue;
            u = f->first_unknown[hybrid_root(f, a->variable, &sign)];
            if (u < 0) continue;
            const int row = action_row(m, w, (size_t)b) + (int)i;
            total[u] =
                sign * model_tangent_row(actions, row, d, dp, directions_moved(&x->directions, k),
                                         x->jump->tau[k]);
            ledger_reinit(x->ledger, &x->lead, u, sign, row);
            x->jump->reset[u] = true;
        }
    }
}

/* Discrete Real v and others have rates that depend on each other, and do not settle. */
static dae_status refuse_circle(dae_sensitivity *x, int v)
{
    const flat_variable *q = &x->run->base->model->flat->variables[v];
    dae_diag *diag = &x->run->diag;
    diag_variable(diag, -1, q->name);
    diag->line = q->place.line;
    diag->t = x->run->run.t;
    return diag_set(diag, DAE_ERR_UNSUPPORTED,
                    "Sensitivities: derivatives of discrete variables at the event at t = %.9g do "
                    "not settle in %d rounds, as that of %s (%.100s:%d): what the event sets "
                    "depends on itself through the equations. Break the circle with pre(..).",
                    x->run->run.t, MOST_ROUNDS, q->name, model_file(x->run), q->place.line);
}

/* D of a pass in d, and rates of discrete Reals that agree with it. */
static dae_status settle_rates(dae_sensitivity *x, const model_tangent *actions, exchange *e, int k,
                               double *d)
{
    const struct jump *j = x->jump;
    const double t = x->run->run.t, *moved = directions_moved(&x->directions, k);
    const size_t inputs = (size_t)x->directions.inputs.count;
    double *dp = d + x->lead.n, *before = DAE_ARRAY(double, inputs + 1);
    dae_status status = before ? DAE_OK : sensitivity_no_memory(x);
    int changed = 0;
    for (int round = 0; changed >= 0 && round < MOST_ROUNDS && status == DAE_OK; round++) {
        memcpy(before, moved, inputs * sizeof *before);
        status = exchange_apply(x, e, k, d);
        if (status == DAE_OK) status = lead_complete(x, t, k, j->tau[k], d, dp);
        if (status != DAE_OK) break;
        ledger_complete(x->ledger, true);
        discretes_move(x, actions, k, x->run->hybrid->active, d, dp, j->tau[k]);
        changed = changed_rate(x, before, moved);
    }
    if (status == DAE_OK && changed >= 0 && k < directions_asked(&x->directions))
        status = refuse_circle(x, changed);
    dae_free(before);
    return status;
}

/* One direction of a pass: D of the pass, rates of discrete Reals, and what clauses do. */
static dae_status pass_direction(dae_sensitivity *x, const model_tangent *actions, exchange *e,
                                 int k, double *d)
{
    const int n = x->run->base->form.n;
    double *dp = d + x->lead.n, *total = x->jump->total + 2 * (size_t)k * (size_t)n;
    lead_from_user(x, total, total + n, d, dp);
    ledger_from_user(x->ledger);
    dae_status status = settle_rates(x, actions, e, k, d);
    if (status != DAE_OK) return status;
    lead_to_user(x, d, dp, total, total + n);
    ledger_to_user(x->ledger);
    act(x, actions, k, d, dp);
    discretes_take_pre(x, k);
    return DAE_OK;
}

/* The lead of the values that a pass has found. */
static dae_status take_lead(dae_sensitivity *x)
{
    dae_status status = lead_take(x, x->run->run.t, true);
    if (status == DAE_OK) status = lead_values(x, x->run->run.t);
    if (status == DAE_OK) status = lead_linearise(x, x->run->run.t);
    if (status == DAE_OK) ledger_point(x->ledger, &x->lead);
    return status == DAE_OK ? lead_factor_states(x) : status;
}

dae_status jump_acting(void *user)
{
    dae_sensitivity *x = user;
    exchange e = {0};
    if (!x->jump || !x->jump->at_work) return DAE_OK;
    dae_status status = take_lead(x);
    if (status == DAE_OK) status = exchange_new(x, &e);
    model_tangent *actions = status == DAE_OK ? lead_actions(x, x->run->run.t) : NULL;
    double *d = status == DAE_OK ? DAE_ARRAY(double, 2 * (size_t)x->lead.n) : NULL;
    if (status == DAE_OK && (!d || !actions)) status = sensitivity_no_memory(x);
    struct tangent_ledger *ledger = x->ledger;
    for (int k = x->directions.count - 1; k >= 0 && status == DAE_OK; k--) {
        x->ledger = k < directions_asked(&x->directions) ? ledger : NULL; /* of S alone */
        status = pass_direction(x, actions, &e, k, d);
    }
    x->ledger = ledger;
    exchange_free(&e);
    dae_free(d);
    return status;
}

/* ---- behind the event ---- */

/* dY/dt of the states has the drift that it had before; what the event has set has none. */
static dae_status drift_behind(dae_sensitivity *x, const exchange *e)
{
    struct jump *j = x->jump;
    const lead *l = &x->lead;
    for (int pass = 0; pass < 2; pass++)
        for (int u = 0; u < x->run->base->form.n; u++) {
            model_place at = place_in_lead(x, u);
            if (at.unknown < 0 || at.slope || !lead_is_state(l, at.unknown)) continue;
            if (j->reset[u] != (pass == 1)) continue;
            j->time_s[at.unknown] = l->yp[at.unknown] + (pass == 0 ? at.sign * j->drift[u] : 0.0);
        }
    for (int i = 0; i < e->count; i++) j->time_s[e->state[i]] = l->yp[e->state[i]];
    dae_free(j->behind);
    j->behind = dae_copy(j->time_s, (size_t)l->n, sizeof *j->time_s);
    return j->behind ? DAE_OK : sensitivity_no_memory(x);
}

const double *jump_slopes(const struct jump *j)
{
    return j->behind;
}

/* S -= Y' tau of the states, and the rest by the equations. The slopes of time are lost. */
static void record_leaving(dae_sensitivity *x)
{
    struct jump *j = x->jump;
    if (!x->ledger) return;
    for (int i = 0; i < x->lead.n; i++) {
        j->time_p[i] = 0.0;
        j->time_s[i] = lead_is_state(&x->lead, i) ? -j->time_s[i] : 0.0;
    }
    ledger_time(x->ledger, j->time_s, j->time_p);
    ledger_complete(x->ledger, false);
}

/* S = D - Y' tau of the states, and the rest by the equations. */
static dae_status leave_event(dae_sensitivity *x, exchange *e, int k)
{
    struct jump *j = x->jump;
    const int n = x->run->base->form.n;
    const double *total = j->total + 2 * (size_t)k * (size_t)n;
    double *s = x->s + (size_t)k * (size_t)x->lead.n, *sp = x->sp + (size_t)k * (size_t)x->lead.n;
    lead_from_user(x, total, total + n, s, sp);
    ledger_from_user(x->ledger);
    dae_status status = exchange_apply(x, e, k, s);
    if (status != DAE_OK) return status;
    for (int i = 0; i < x->lead.n; i++)
        if (lead_is_state(&x->lead, i)) s[i] -= j->time_s[i] * j->tau[k];
    record_leaving(x);
    return lead_complete(x, j->time, k, 0.0, s, sp);
}

dae_status jump_after(void *user)
{
    dae_sensitivity *x = user;
    struct jump *j = x->jump;
    exchange e = {0};
    if (!j || !j->at_work) return DAE_OK;
    const double t = x->run->run.t;
    j->at_work = false;
    j->passed = true;
    if (j->drifting >= 0 && x->run->hybrid->trace[j->drifting].small > 0) {
        x->stands = x->lead.as_taken = false;
        return refuse_drifting(x);
    }
    x->stats.events++;
    if (x->rough) rough_watch_begin(x->rough);
    pieces_drop(x);
    run_error_restart(x->error);
    x->t = t;
    dae_status status = tangent_past_break(x, t, j->tau, j->apart);
    if (status == DAE_OK) status = lead_take(x, t, true);
    if (status == DAE_OK && !sensitivity_room(x)) status = sensitivity_no_memory(x);
    if (status == DAE_OK) status = look(x, t);
    x->lead.as_taken = false;
    if (status == DAE_OK) status = exchange_new(x, &e);
    if (status == DAE_OK) status = drift_behind(x, &e);
    struct tangent_ledger *ledger = x->ledger;
    for (int k = x->directions.count - 1; k >= 0 && status == DAE_OK; k--) {
        x->ledger = k < directions_asked(&x->directions) ? ledger : NULL; /* of S alone */
        status = leave_event(x, &e, k);
    }
    x->ledger = ledger;
    exchange_free(&e);
    if (status == DAE_OK && x->ledger) status = x->recorder->event_ends(x->recorder->user);
    x->stands = status == DAE_OK;
    return status;
}
