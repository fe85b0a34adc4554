/* Sensitivities that follow a run. */
#include <math.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/sized.h"
#include "base/vector.h"
#include "solve/run/run.h"
#include "solve/sensitivity/rough.h"
#include "solve/sensitivity/run_error.h"
#include "solve/sensitivity/sensitivity_parts.h"
#include "solve/sensitivity/stage_system.h"
#include "solve/sensitivity/tangent_past.h"

/* ---- along a step ---- */

/* Steps that together cover `length`, none longer than x->h, all alike. */
static double next_length(const dae_sensitivity *x, double length)
{
    if (!(x->h > 0.0)) return length;
    double parts = ceil(fabs(length) / x->h * (1.0 - 1e-9));
    return parts > 1.0 ? length / parts : length;
}

/* The step that the error test permits behind one with this error. */
static void note_error(dae_sensitivity *x, double h, double error)
{
    const double order = x->method->stages + 1.0;
    double factor = error > 0.0 ? 0.9 * pow(error, -1.0 / order) : 5.0;
    x->h = fabs(h) * fmin(5.0, fmax(0.1, factor));
}

static dae_status explain_stuck(dae_sensitivity *x, double h)
{
    dae_solver *s = x->run;
    s->diag.t = x->t;
    s->diag.h = h;
    return diag_set(
        &s->diag, DAE_ERR_ERROR_TEST,
        "Sensitivities: the error test fails at t = %.9g with steps down to %.3g. Their "
        "equations have a kink or a jump there that the run has not met as an event: write it "
        "without noEvent(..) and smooth(..), or take other tolerances.",
        x->t, h);
}

static dae_status explain_broken(dae_sensitivity *x)
{
    dae_solver *s = x->run;
    x->stands = false;
    s->diag.t = x->broken_t;
    return diag_set(&s->diag, DAE_ERR_UNSUPPORTED,
                    "Sensitivities: at t = %.9g the solution meets %s. When it does depends on the "
                    "parameters, and no event says how: there are no sensitivities behind it. Let "
                    "it be an event, an if or when outside of noEvent.",
                    x->broken_t, x->broken);
}

/* States that are good from x->t to x->t + h: chosen where the step begins, and the step is halved
 * where they become bad within it. */
static dae_status choose_states_for(dae_sensitivity *x, double *h)
{
    enum { MOST_HALVES = 30 };
    if (!lead_states_may_change(x)) return DAE_OK;
    for (int tries = 0; tries < MOST_HALVES; tries++) {
        dae_status status = lead_values(x, x->t + *h);
        if (status != DAE_OK || lead_states_hold(x, x->t + *h)) return status;
        if (tries > 0) *h *= 0.5;
        status = lead_change(x, false);
        if (status != DAE_OK) return status;
    }
    return DAE_OK;
}

static tape_inputs point_at(void *user, double t)
{
    dae_sensitivity *x = user;
    (void)lead_values(x, t); /* else the watch sees the point before: no change */
    tangent_past_load(x, t);
    return lead_point(x, t);
}

/* A watch of the equations of the lead's form, and of variables that are integrated. */
static rough_watch *new_watch(const dae_sensitivity *x)
{
    const model_form *f = x->lead.form;
    const step_recorder *r = x->recorder;
    size_t count = (size_t)f->rows;
    expr *watched = DAE_ARRAY(expr, count + f->output.outputs);
    if (!watched) return NULL;
    memcpy(watched, f->residual.e, count * sizeof *watched);
    for (size_t i = 0; r && i < f->output.outputs; i++)
        if (f->output.e[i] != EXPR_NONE && r->integrates(r->user, (int)i))
            watched[count++] = f->output.e[i];
    rough_watch *w = rough_watch_new(f, watched, count, &x->directions.inputs);
    dae_free(watched);
    return w;
}

static dae_status take_watch(dae_sensitivity *x)
{
    if (x->rough && rough_watch_form(x->rough) == x->lead.form) return DAE_OK;
    rough_watch_free(x->rough);
    dae_free(x->rough_work);
    x->rough_work = NULL;
    x->rough = new_watch(x);
    if (x->rough) x->rough_work = DAE_ARRAY(double, rough_watch_work(x->rough));
    return x->rough_work ? DAE_OK : sensitivity_no_memory(x);
}

/* Whether the equations have jumped from `from` to x->t without an event: S has, too. */
static dae_status look_for_jumps(dae_sensitivity *x, double from)
{
    if (!x->lead.form) return DAE_OK;
    dae_status status = take_watch(x);
    if (status != DAE_OK) return status;
    if (rough_watch_loops(x->rough)) {
        x->stands = false;
        return diag_set(
            &x->run->diag, DAE_ERR_UNSUPPORTED,
            "Sensitivities: a function of the model has a loop over values of the run, "
            "whose number of passes may change with the parameters: its derivatives are "
            "not known.");
    }
    rough_point p = {point_at, x, x->rough_work, x->run->base_options.rtol};
    if (!rough_watch_step(x->rough, &p, from, x->t, &x->broken_t)) return DAE_OK;
    x->broken = "a jump inside of noEvent, or of a function";
    return explain_broken(x);
}

static dae_status step(dae_sensitivity *x, double h, double *error)
{
    const step_recorder *r = x->recorder;
    return r && r->walk ? r->walk(r->user, h, error) : collocation_step(x, h, error);
}

/* Integrate S up to where the run stands, within its last step. */
static dae_status follow(dae_sensitivity *x)
{
    const double end = x->run->run.t;
    bool taken = false;
    const double before = x->t;
    dae_status status = own_stages_step(x, &taken);
    if (status == DAE_OK && taken) return look_for_jumps(x, before);
    while (status == DAE_OK && x->t != end) {
        double h = next_length(x, end - x->t), error;
        if (fabs(h) <= 1e-14 * fabs(end) || fabs(end - x->t) <= 4e-16 * fabs(end)) {
            if (fabs(end - x->t) > 1e-12 * fabs(end)) return explain_stuck(x, h);
            x->t = end;
            break;
        }
        const double from = x->t;
        status = choose_states_for(x, &h);
        if (status == DAE_OK) status = step(x, h, &error);
        if (status != DAE_OK) break;
        if (!x->request.without_error_test) note_error(x, h, error);
        if (x->t != from) status = look_for_jumps(x, from);
        const bool moved = x->t != from;
        if (moved && fabs(end - x->t) < 1e-10 * fabs(h)) x->t = end;
        if (status == DAE_OK && moved) status = tangent_past_record(x, from);
    }
    return status;
}

static dae_status observer_started(void *user)
{
    dae_sensitivity *x = user;
    if (x->states >= 0) { /* they begin when they are asked to */
        x->stands = false;
        return DAE_OK;
    }
    dae_status status = sensitivity_start(x);
    return status == DAE_OK && x->recorder ? x->recorder->started(x->recorder->user) : status;
}

/* The simultaneous corrector: the next step of the run is none longer than S is permitted. S is
 * linear and was solved at points of the run, in parts where it had to be: a step of the run that
 * was too long for it need not be taken again. */
static void limit_run(dae_sensitivity *x)
{
    const run_state *r = &x->run->run;
    step_control *c = &x->run->run.control;
    if (x->request.corrector != DAE_CORRECTOR_SIMULTANEOUS || r->t != r->t_new || c->fixed) return;
    if (x->h > 0.0 && fabs(c->h) > x->h) c->h = copysign(x->h, c->h);
}

static dae_status observer_advanced(void *user)
{
    dae_sensitivity *x = user;
    x->lead.row = x->lead.row_outputs = NAN; /* that time may be one of another step */
    if (!x->stands || x->run->run.t == x->t) return DAE_OK;
    if (x->broken) return explain_broken(x);
    bool begins = x->run->run.t_old == x->t;
    if (begins) pieces_drop(x);
    x->lead.at = NAN; /* values of that time may be those of another step */
    dae_status status = lead_stands(x) ? DAE_OK : lead_change(x, false);
    if (status == DAE_OK && begins) status = tangent_past_pass(x);
    if (status == DAE_OK) status = follow(x);
    if (status == DAE_OK) limit_run(x);
    if (status != DAE_OK) x->stands = false;
    return status;
}

/* Behind it derivatives of the solution need the derivative of that time, which nothing gives. */
static void observer_broken(void *user, const char *what)
{
    dae_sensitivity *x = user;
    if (!x->broken) x->broken_t = x->run->run.t;
    x->broken = what;
}

/* How new values, or other equations of callbacks, and the time of both move with the parameters is
 * not known. */
static dae_status observer_restarting(void *user)
{
    dae_sensitivity *x = user;
    dae_solver *s = x->run;
    if (!x->stands) return DAE_OK;
    s->diag.t = s->run.t;
    return diag_set(&s->diag, DAE_ERR_UNSUPPORTED,
                    "dae_solver_restart: sensitivities or gradients follow this run, and nothing "
                    "says how its new values move with the parameters. Let a model do it with "
                    "reinit, or free them first.");
}

/* The run is over: what is doubtful is told. */
static void observer_finished(void *user)
{
    run_error_tell(user);
    tangent_past_tell(user);
}

static void observer_gone(void *user)
{
    dae_sensitivity *x = user;
    rough_watch_free(x->rough);
    x->rough = NULL;
    lead_free(&x->lead); /* what it borrows goes */
    x->run = NULL;
    x->stands = false;
}

/* ---- life ---- */

static dae_status check_request(const dae_solver *s, const dae_sensitivity_request *r,
                                dae_diag *diag)
{
    const model_form *f = s->base->model;
    if (r->count < 1)
        return diag_set(diag, DAE_ERR_ARGUMENT, "Sensitivities: count is %d; it must be positive.",
                        r->count);
    if (f && !r->names)
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "Sensitivities of a model: names of parameters are missing.");
    if (!f && !r->derivative && !r->values && !r->y0)
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "Sensitivities of callbacks: give `derivative`, the numbers `values` that "
                        "callbacks read, or `y0`, derivatives of the start values.");
    if (!(r->rtol >= 0.0 && isfinite(r->rtol) && r->atol >= 0.0 && isfinite(r->atol)))
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "Sensitivities: tolerances rtol = %g, atol = %g must be finite and not "
                        "negative.",
                        r->rtol, r->atol);
    if (r->corrector != DAE_CORRECTOR_STAGGERED && r->corrector != DAE_CORRECTOR_SIMULTANEOUS)
        return diag_set(diag, DAE_ERR_ARGUMENT, "Sensitivities: there is no corrector %d.",
                        (int)r->corrector);
    if (s->observer)
        return diag_set(diag, DAE_ERR_STATE,
                        "Sensitivities: the solver has some already; free them first.");
    return DAE_OK;
}

/* More digits take a method of higher order. */
static const collocation *method_for(double rtol)
{
    return radau_iia(rtol >= 5e-5 ? 3 : rtol >= 5e-10 ? 5 : 7);
}

/* Arrays of the request that are needed later. */
static bool keep_request(dae_sensitivity *x, const dae_sensitivity_request *r)
{
    const size_t rows = (size_t)r->count * (size_t)x->run->base->form.n;
    x->request = *r;
    x->request.names = NULL;
    x->request.sizes = x->request.yp0 = NULL;
    x->request.y0 = r->y0 ? dae_copy(r->y0, rows, sizeof(double)) : NULL;
    return !r->y0 || x->request.y0;
}

/* Follow the run. */
static void observe(dae_sensitivity *x, double rtol)
{
    x->part = 1.0;
    x->method = x->usual = method_for(rtol > 0.0 ? rtol : x->run->base_options.rtol);
    x->observer = (run_observer){.user = x,
                                 .started = observer_started,
                                 .advanced = observer_advanced,
                                 .before_event = jump_before,
                                 .acting = jump_acting,
                                 .after_event = jump_after,
                                 .broken = observer_broken,
                                 .restarting = observer_restarting,
                                 .finished = observer_finished,
                                 .gone = observer_gone};
    x->run->observer = &x->observer;
}

/* The error of the run, which times of events need, and what it does to S, unless that is not asked
 * for. False: memory. */
static bool watch_run(dae_sensitivity *x, bool without)
{
    const model_form *f = x->run->base->model;
    const bool relations = f && f->flat->relation_count > 0;
    if (without && !relations) return true;
    x->error = run_error_new(&x->directions, without);
    return x->error;
}

dae_status dae_sensitivity_new_sized(dae_solver *s, const dae_sensitivity_request *request,
                                     size_t size, dae_sensitivity **sensitivity, dae_diag *diag)
{
    dae_sensitivity_request r = {0};
    diag_clear(diag);
    if (!sensitivity || !s || !request) {
        if (sensitivity) *sensitivity = NULL;
        return diag_set(diag, DAE_ERR_ARGUMENT, "dae_sensitivity_new: an argument is NULL.");
    }
    *sensitivity = NULL;
    dae_status status = sized_read(request, size, &r, sizeof r, "request for sensitivities", diag);
    if (status == DAE_OK) status = check_request(s, &r, diag);
    if (status != DAE_OK) return status;
    dae_sensitivity *x = DAE_NEW(dae_sensitivity);
    if (!x) return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for sensitivities.");
    x->run = s;
    x->what = "Sensitivities";
    x->states = -1;
    status = directions_new(&x->directions, s, &r, diag);
    if (status == DAE_OK && !keep_request(x, &r))
        status = diag_set(diag, DAE_ERR_MEMORY, "Out of memory for sensitivities.");
    if (status == DAE_OK && !watch_run(x, r.without_run_error))
        status = diag_set(diag, DAE_ERR_MEMORY, "Out of memory for sensitivities.");
    if (status != DAE_OK) {
        dae_sensitivity_free(x);
        return status;
    }
    for (int k = 0; !s->hybrid && k < r.count; k++)
        if (!(x->directions.list[k].size > 0.0)) {
            double value = r.values ? fabs(r.values[k]) : 0.0;
            x->directions.list[k].size = value > 0.0 ? value : 1.0;
        }
    observe(x, r.rtol);
    *sensitivity = x;
    return DAE_OK;
}

dae_status sensitivity_by_states(dae_solver *s, int states, const direction *parameters, int count,
                                 const dae_sensitivity_request *tolerances,
                                 dae_sensitivity **result, dae_diag *diag)
{
    *result = NULL;
    dae_sensitivity *x = DAE_NEW(dae_sensitivity);
    direction *list = DAE_ARRAY(direction, states + count);
    dae_status status = x && list ? DAE_OK : DAE_ERR_MEMORY;
    for (int k = 0; status == DAE_OK && k < states + count; k++)
        list[k] = k < states ? (direction){-1, -1, -1, 0.0} : parameters[k - states];
    if (status == DAE_OK) status = directions_listed(&x->directions, s, list, states + count, diag);
    dae_free(list);
    if (status != DAE_OK) {
        dae_free(x);
        return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for sensitivities.");
    }
    x->run = s;
    x->what = "Sensitivities";
    x->apart = true;
    x->states = states;
    x->request.rtol = tolerances->rtol;
    x->request.atol = tolerances->atol;
    observe(x, tolerances->rtol);
    *result = x;
    return DAE_OK;
}

void dae_sensitivity_free(dae_sensitivity *x)
{
    if (!x) return;
    if (x->run && x->run->observer == &x->observer) x->run->observer = NULL;
    pieces_drop(x);
    collocation_drop_systems(x);
    rough_watch_free(x->rough);
    lead_free(&x->lead);
    directions_free(&x->directions);
    jump_free(x->jump);
    run_error_free(x->error);
    tangent_past_free(x->past);
    dae_free_all(x->s, x->rates, x->rough_work, x->pieces, (void *)x->request.y0, x);
}

/* ---- values ---- */

static dae_status check_time(const dae_sensitivity *x, double t, int k, const double *out)
{
    dae_solver *s = x->run;
    if (!x->stands)
        return diag_set(&s->diag, DAE_ERR_STATE,
                        "Sensitivities: there are none before a start, and behind a failure.");
    if (k < 0 || k >= directions_asked(&x->directions) || !out)
        return diag_set(&s->diag, DAE_ERR_ARGUMENT,
                        "Sensitivities: there is no direction %d, or nowhere to write to.", k);
    double first = x->piece_count > 0 ? x->pieces[0].t : x->t;
    double slack = time_slack(s);
    if (t >= fmin(first, x->t) - slack && t <= fmax(first, x->t) + slack) return DAE_OK;
    return diag_set(&s->diag, DAE_ERR_ARGUMENT,
                    "Sensitivities: t = %.17g is outside of the last step, [%.17g, %.17g].", t,
                    first, x->t);
}

/* The linearised equations at t, once for all directions. */
static dae_status linearise_row(dae_sensitivity *x, double t)
{
    if (x->lead.row == t) return DAE_OK;
    dae_status status = lead_values(x, t);
    if (status == DAE_OK) status = lead_linearise(x, t);
    if (status == DAE_OK && t != x->t && !x->lead.plain) status = lead_factor_states(x);
    x->lead.row = status == DAE_OK ? t : NAN;
    return status;
}

/* S and S' of direction k at t, algebraic ones as the linearised equations say there. */
static dae_status values_at(dae_sensitivity *x, double t, int k, double *s, double *sp)
{
    pieces_at(x, t, k, s, sp);
    dae_status status = linearise_row(x, t);
    if (status != DAE_OK || t == x->t || x->lead.plain) return status;
    return lead_complete(x, t, k, 0.0, s, sp);
}

dae_status dae_sensitivity_at(dae_sensitivity *x, double t, int k, double *dy)
{
    if (!x || !x->run) return DAE_ERR_ARGUMENT;
    return sensitivity_user(x, t, k, dy, NULL);
}

dae_status sensitivity_user(dae_sensitivity *x, double t, int k, double *dy, double *dyp)
{
    dae_status status = check_time(x, t, k, dy);
    if (status != DAE_OK) return status;
    double *s = DAE_ARRAY(double, 2 * (size_t)x->lead.n);
    if (!s) return sensitivity_no_memory(x);
    status = values_at(x, t, k, s, s + x->lead.n);
    if (status == DAE_OK) lead_to_user(x, s, s + x->lead.n, dy, dyp);
    dae_free(s);
    return status;
}

dae_status dae_sensitivity_variables(dae_sensitivity *x, double t, int k, double *values)
{
    if (!x || !x->run) return DAE_ERR_ARGUMENT;
    dae_status status = check_time(x, t, k, values);
    if (status != DAE_OK) return status;
    if (!x->lead.form)
        return diag_set(&x->run->diag, DAE_ERR_UNSUPPORTED,
                        "dae_sensitivity_variables: callbacks have unknowns alone; ask "
                        "dae_sensitivity_at.");
    double *s = DAE_ARRAY(double, 2 * (size_t)x->lead.n);
    if (!s) return sensitivity_no_memory(x);
    status = values_at(x, t, k, s, s + x->lead.n);
    model_tangent *outputs = status == DAE_OK ? lead_outputs(x, t) : NULL;
    if (outputs)
        model_tangent_apply(outputs, s, s + x->lead.n, directions_moved(&x->directions, k), 0.0,
                            values);
    else if (status == DAE_OK)
        status = sensitivity_no_memory(x);
    dae_free(s);
    return status;
}

dae_status dae_sensitivity_event(const dae_sensitivity *x, int k, double *time, double *derivative)
{
    if (!x || k < 0 || k >= directions_asked(&x->directions)) return DAE_ERR_ARGUMENT;
    return jump_last(x->jump, k, time, derivative) ? DAE_OK : DAE_ERR_STATE;
}

const dae_sensitivity_stats *dae_sensitivity_statistics(const dae_sensitivity *x)
{
    return x ? &x->stats : NULL;
}
