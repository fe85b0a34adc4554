/* Optimal controls and parameters: the request, the loop over meshes, the public calls. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/interrupt.h"
#include "base/memory.h"
#include "base/sized.h"
#include "base/vector.h"
#include "solve/hybrid/hybrid.h"
#include "solve/optimise/optimise_parts.h"

enum { ROUNDS = 14 };

static const double SMALLEST = 1e-10; /* relative tolerance: what the search can deliver */

/* ---- checks ---- */

static dae_status check_lists(const dae_optimise_request *r, dae_diag *diag)
{
    const struct {
        const char *what;
        int count;
        const void *list;
    } lists[] = {{"controls", r->control_count, r->controls},
                 {"parameters", r->parameter_count, r->parameters},
                 {"path", r->path_count, (const void *)r->path},
                 {"at_end", r->end_count, (const void *)r->at_end},
                 {"settings", r->setting_count, (const void *)r->settings}};
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
        if (lists[k].count < 0 || (lists[k].count > 0 && !lists[k].list))
            return diag_set(diag, DAE_ERR_ARGUMENT, "Optimisation: %s: %d without a list.",
                            lists[k].what, lists[k].count);
    if (r->control_count + r->parameter_count == 0)
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "Optimisation: there is nothing to vary: name controls or parameters.");
    if (!r->objective && !r->integral)
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "Optimisation: there is nothing to minimise: give an objective at the end, "
                        "or an integral.");
    return DAE_OK;
}

static dae_status check_request(const dae_optimise_request *r, dae_diag *diag)
{
    if (!isfinite(r->start) || !isfinite(r->end) || !(r->start < r->end))
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "Optimisation: the interval from %g to %g is empty, or not finite.",
                        r->start, r->end);
    if (!(r->rtol >= 0.0) || !(r->atol >= 0.0) || r->rtol >= 1.0)
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "Optimisation: rtol = %g or atol = %g is no tolerance.", r->rtol, r->atol);
    if (r->rtol > 0.0 && r->rtol < SMALLEST)
        return diag_set(diag, DAE_ERR_TOLERANCE,
                        "Optimisation: rtol = %g is below what the search can deliver, %g.",
                        r->rtol, SMALLEST);
    if (r->intervals < 0 || r->max_intervals < 0 || r->max_iterations < 0)
        return diag_set(diag, DAE_ERR_ARGUMENT, "Optimisation: a limit is negative.");
    if ((int)r->guess < 0 || r->guess > DAE_BVP_GUESS_TABLE)
        return diag_set(diag, DAE_ERR_ARGUMENT, "Optimisation: guess = %d is none.", (int)r->guess);
    if ((int)r->way < 0 || r->way > DAE_OPTIMISE_SIMULATION)
        return diag_set(diag, DAE_ERR_ARGUMENT, "Optimisation: way = %d is none.", (int)r->way);
    return check_lists(r, diag);
}

static void complete_request(dae_optimise_request *r)
{
    if (r->rtol == 0.0) r->rtol = dae_options_default().rtol;
    if (r->atol == 0.0) r->atol = r->rtol;
    if (r->max_intervals == 0) r->max_intervals = r->intervals > 1000 ? r->intervals : 1000;
    if (r->intervals == 0) r->intervals = r->max_intervals < 20 ? r->max_intervals : 20;
    if (r->max_intervals < r->intervals) r->max_intervals = r->intervals;
    if (r->max_iterations == 0) r->max_iterations = 500;
    if (r->guess == DAE_BVP_GUESS_AUTO && r->rows > 0) r->guess = DAE_BVP_GUESS_TABLE;
}

/* What makes solutions of a model kink; NULL: nothing. */
static const char *find_events(const flat_model *m, int *line)
{
    *line = m->when_count       ? m->whens[0].branches[0].place.line
            : m->relation_count ? m->relations[0].place.line
            : m->sample_count   ? m->samples[0].place.line
            : m->delay_count    ? m->delays[0].place.line
            : m->discrete_count ? m->discretes[0].place.line
                                : 0;
    return m->when_count       ? "a when-clause"
           : m->relation_count ? "a condition that is an event"
           : m->sample_count   ? "an event at given times"
           : m->delay_count    ? "a delay"
           : m->discrete_count ? "a discrete variable"
                               : NULL;
}

/* ---- what is sought ---- */

/* Bounds and guess of one of them; low and high are those of the model. */
static dae_status take_range(dae_optimum *q, int k, const dae_optimise_range *r, double low,
                             double high, double value, dae_diag *diag)
{
    const bool given = r->bounds_given || r->lower != 0.0 || r->upper != 0.0;
    const double least = isnan(low) ? -INFINITY : low, most = isnan(high) ? INFINITY : high;
    const double lower = given ? fmax(least, r->lower) : least;
    const double upper = given ? fmin(most, r->upper) : most;
    diag_variable(diag, -1, r->name);
    if (isnan(r->lower) || isnan(r->upper) || (r->guess_given && isnan(r->guess)))
        return diag_set(diag, DAE_ERR_ARGUMENT, "Optimisation: a bound or the guess of %s is nan.",
                        r->name);
    if (!(lower < upper) && !(lower == upper && isfinite(lower)))
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "Optimisation: the bounds of %s, from %g to %g, are empty (the model has "
                        "%g to %g).",
                        r->name, lower, upper, least, most);
    double guess = r->guess_given ? r->guess : value;
    if (isnan(guess))
        guess = isfinite(lower) && isfinite(upper) ? 0.5 * (lower + upper)
                                                   : fmin(upper, fmax(lower, 0.0));
    if (!isfinite(guess))
        return diag_set(diag, DAE_ERR_ARGUMENT, "Optimisation: the guess of %s is %g.", r->name,
                        guess);
    guess = fmin(upper, fmax(lower, guess));
    const bool control = k < q->c;
    if (control) q->base[k] = guess;
    q->lower[k] = lower - (control ? guess : 0.0);
    q->upper[k] = upper - (control ? guess : 0.0);
    q->guess[k] = control ? 0.0 : guess;
    return DAE_OK;
}

static dae_status take_control(dae_optimum *q, const dae_problem *scout, int k, dae_diag *diag)
{
    const dae_optimise_range *r = &q->request.controls[k];
    const model_form *f = scout->model;
    const int v = r->name ? dae_problem_find_variable(scout, r->name) : -1;
    diag_variable(diag, -1, r->name ? r->name : "(no name)");
    if (v < 0)
        return diag_set(diag, DAE_ERR_ARGUMENT, "Optimisation: the model has no input %s.",
                        r->name ? r->name : "(no name)");
    const dae_variable_info info = dae_problem_variable_info(scout, v);
    if (!info.input)
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "Optimisation: %s is no input. A control is declared as 'input Real %s' in "
                        "the model, and has no equation there.",
                        r->name, r->name);
    if (info.type != DAE_TYPE_REAL || info.discrete)
        return diag_set(diag, DAE_ERR_ARGUMENT, "Optimisation: input %s is no continuous Real.",
                        r->name);
    for (int j = 0; j < k; j++)
        if (dae_problem_find_variable(scout, q->request.controls[j].name) == v)
            return diag_set(diag, DAE_ERR_ARGUMENT, "Optimisation: control %s is named twice.",
                            r->name);
    return take_range(q, k, r, info.min, info.max, hybrid_start_value(f, (size_t)f->visible[v]),
                      diag);
}

static dae_status take_parameter(dae_optimum *q, const dae_problem *scout, int k, dae_diag *diag)
{
    const dae_optimise_range *r = &q->request.parameters[k];
    const flat_model *m = scout->model->flat;
    int p = -1;
    for (size_t i = 0; i < m->parameter_count && r->name; i++)
        if (strcmp(m->parameters[i].name, r->name) == 0) p = (int)i;
    diag_variable(diag, -1, r->name ? r->name : "(no name)");
    if (p < 0)
        return diag_set(diag, DAE_ERR_ARGUMENT, "Optimisation: the model has no parameter %s.",
                        r->name ? r->name : "(no name)");
    for (int j = 0; j < k; j++)
        if (q->parameter[j] == p)
            return diag_set(diag, DAE_ERR_ARGUMENT, "Optimisation: parameter %s is named twice.",
                            r->name);
    q->parameter[k] = p;
    dae_status status = directions_check(&m->parameters[p], "Optimisation", diag);
    if (status != DAE_OK) return status;
    const dae_parameter_info info = dae_problem_parameter_info(scout, p);
    return take_range(q, q->c + k, r, info.min, info.max, dae_problem_parameter_value(scout, p),
                      diag);
}

static bool make_room(dae_optimum *q)
{
    q->variable = DAE_ARRAY(int, q->c);
    q->slot = DAE_ARRAY(int, q->c);
    q->base = DAE_ARRAY(double, q->c);
    q->parameter = DAE_ARRAY(int, q->m);
    q->lower = DAE_ARRAY(double, q->c + q->m);
    q->upper = DAE_ARRAY(double, q->c + q->m);
    q->guess = DAE_ARRAY(double, q->c + q->m);
    return q->variable && q->slot && q->base && q->parameter && q->lower && q->upper && q->guess;
}

/* Look at the model as it is: names, bounds, values, and whether it has events. */
static dae_status look_at_model(dae_optimum *q, const char **event, int *line, dae_diag *diag)
{
    dae_problem *scout = NULL;
    dae_model silent = *q->model;
    silent.message = NULL;
    dae_status status = dae_problem_from_model(&silent, &scout, diag);
    if (status != DAE_OK && q->model->message) { /* once more, for its messages */
        dae_problem_free(scout);
        return dae_problem_from_model(q->model, &q->problem, diag);
    }
    if (status == DAE_OK) *event = find_events(scout->model->flat, line);
    for (int k = 0; k < q->c && status == DAE_OK; k++) status = take_control(q, scout, k, diag);
    for (int k = 0; k < q->m && status == DAE_OK; k++) status = take_parameter(q, scout, k, diag);
    dae_problem_free(scout);
    if (status == DAE_OK) diag_clear(diag);
    return status;
}

static dae_status choose_way(dae_optimum *q, const char *event, int line, dae_diag *diag)
{
    dae_optimise_way *way = &q->request.way;
    const bool open = *way == DAE_OPTIMISE_AUTO;
    if (open) *way = event && q->c == 0 ? DAE_OPTIMISE_SIMULATION : DAE_OPTIMISE_COLLOCATION;
    q->stats.way = *way;
    if (*way == DAE_OPTIMISE_SIMULATION && q->c > 0)
        return diag_set(diag, DAE_ERR_UNSUPPORTED,
                        "Optimisation: runs vary parameters, not controls such as %s. Make it an "
                        "expression over parameters, or take collocation.",
                        q->request.controls[0].name);
    if (*way != DAE_OPTIMISE_COLLOCATION || !event) return DAE_OK;
    diag->line = line;
    return diag_set(diag, DAE_ERR_UNSUPPORTED,
                    "Optimisation: the model has %s (line %d): collocation needs smooth solutions. "
                    "What is smooth may stand in noEvent(); parameters alone can be varied by "
                    "simulation.",
                    event, line);
}

/* ---- meshes ---- */

/* Once more, where the solution has other units than the guess. Fails that, the first one counts.
 */
static dae_status in_own_units(dae_optimum *q, opt_solution *s, ipopt_end *ended, dae_diag *diag)
{
    enum { TIMES = 3 };
    dae_status status = DAE_OK;
    for (int k = 0; k < TIMES && status == DAE_OK && *ended == IPOPT_SOLVED; k++) {
        const dae_optimise_stats before = q->stats;
        opt_solution next;
        if (!opt_units_of(q, s)) break;
        if (!opt_solution_new(q, s->intervals, &next)) return opt_no_memory(diag);
        memcpy(next.t, s->t, ((size_t)s->intervals + 1) * sizeof *s->t);
        memcpy(next.x, s->x, opt_size(q, s->intervals) * sizeof *s->x);
        status = opt_solve_mesh(q, &next, true, ended, diag);
        if (status == DAE_OK && *ended == IPOPT_SOLVED) {
            mesh_solution_replace(s, &next);
            continue;
        }
        mesh_solution_free(&next);
        if (status == DAE_ERR_MEMORY || *ended == IPOPT_STOPPED) return status;
        q->stats = before;
        q->stats.end = DAE_OPTIMISE_INACCURATE;
        snprintf(q->stats.note, sizeof q->stats.note,
                 "a search in units of the solution failed: %.*s", (int)sizeof q->stats.note / 2,
                 diag->text);
        diag_clear(diag);
        status = DAE_OK;
        *ended = IPOPT_SOLVED;
        break;
    }
    return status;
}

static dae_status first_mesh(dae_optimum *q, dae_bvp_guess guess, ipopt_end *ended, dae_diag *diag)
{
    opt_solution next;
    if (!opt_solution_new(q, q->request.intervals, &next)) return opt_no_memory(diag);
    dae_status status = opt_guess(q, guess, &next, diag);
    if (status == DAE_OK) status = opt_solve_mesh(q, &next, false, ended, diag);
    if (status == DAE_OK) status = in_own_units(q, &next, ended, diag);
    q->stats.simulated = guess == DAE_BVP_GUESS_SIMULATE;
    if (status == DAE_OK)
        mesh_solution_replace(&q->solution, &next);
    else
        mesh_solution_free(&next);
    return status;
}

/* From a simulation, or what is asked for; where that fails from values at the start. */
static dae_status begin(dae_optimum *q, ipopt_end *ended, dae_diag *diag)
{
    const bool open = q->request.guess == DAE_BVP_GUESS_AUTO;
    dae_status status =
        first_mesh(q, open ? DAE_BVP_GUESS_SIMULATE : q->request.guess, ended, diag);
    bool again = open && (status == DAE_ERR_CONVERGENCE || status == DAE_ERR_EVALUATION);
    if (!again) return status;
    dae_diag first = *diag;
    if (q->scale) vector_zero(opt_block(q) + q->m, q->scale);
    status = first_mesh(q, DAE_BVP_GUESS_START, ended, diag);
    if (status == DAE_ERR_CONVERGENCE || status == DAE_ERR_EVALUATION) *diag = first;
    return status == DAE_OK ? DAE_OK : diag->status;
}

/* A finer mesh, solved from the last solution. What stops or fails there leaves that. */
static dae_status go_finer(dae_optimum *q, const double *error, bool by_states, bool *stays,
                           dae_diag *diag)
{
    opt_solution next;
    ipopt_end ended = IPOPT_SOLVED;
    const dae_optimise_stats before = q->stats;
    bool ok = by_states ? opt_refine(q, &q->solution, error, &next)
                        : opt_refine_controls(q, &q->solution, &next);
    if (!ok) return opt_no_memory(diag);
    *stays = next.intervals > q->request.max_intervals;
    dae_status status = *stays ? DAE_OK : opt_solve_mesh(q, &next, true, &ended, diag);
    if (status == DAE_OK && !*stays && ended == IPOPT_SOLVED) {
        q->stats.objective_change = fabs(q->stats.objective - before.objective);
        mesh_solution_replace(&q->solution, &next);
        return DAE_OK;
    }
    mesh_solution_free(&next);
    *stays = true;
    q->stats.objective = before.objective;
    q->stats.violation = before.violation;
    q->stats.gap = before.gap;
    if (ended == IPOPT_STOPPED) q->stats.end = DAE_OPTIMISE_STOPPED;
    return status == DAE_ERR_MEMORY ? status : DAE_OK;
}

/* Errors of the solution by intervals, in tolerances: of states, conditions on the way, and the
 * integral. */
static dae_status estimate(dae_optimum *q, double *error, double *share, dae_diag *diag)
{
    const int count = q->solution.intervals;
    dae_status status = opt_set_parameters(q, &q->solution, diag);
    q->stats.error = status == DAE_OK ? opt_estimate(q, &q->solution, error) : NAN;
    opt_look_between(q, &q->solution, error);
    q->stats.integral_error = opt_integral_error(q, &q->solution, share);
    const double small = opt_objective_tolerance(q, q->stats.objective);
    /* an integral that is off has its errors in few intervals, or all alike */
    for (int i = 0; i < count && q->stats.integral_error > small; i++)
        error[i] = fmax(error[i], share[i] / small * sqrt(count));
    return status;
}

/* Finer meshes until errors of states are below `target` tolerances each, and the objective rests.
 * *stays: no finer one is to be had. */
static dae_status adapt(dae_optimum *q, double target, bool *stays, dae_diag *diag)
{
    dae_status status = DAE_OK;
    for (int round = 0; status == DAE_OK; round++) {
        double *error = DAE_ARRAY(double, 2 * (size_t)q->solution.intervals);
        if (!error) return opt_no_memory(diag);
        status = estimate(q, error, error + q->solution.intervals, diag);
        const double small = opt_objective_tolerance(q, q->stats.objective);
        const bool fits = q->path_error <= 1.0 && q->stats.integral_error <= small,
                   met = q->stats.error <= target && fits,
                   rests = !opt_units_of(q, &q->solution) && q->stats.objective_change <= small;
        const bool done = (met && rests) || *stays || round >= ROUNDS;
        if (done && !(q->stats.error <= 1.0 && rests && fits && q->stats.gap <= small) &&
            q->stats.end == DAE_OPTIMISE_CONVERGED)
            q->stats.end = DAE_OPTIMISE_INACCURATE;
        for (int i = 0; i < q->solution.intervals; i++) error[i] /= target;
        if (status == DAE_OK && !done) status = go_finer(q, error, !met, stays, diag);
        dae_free(error);
        if (done) break;
    }
    return status;
}

/* The same until a simulation agrees with the states: errors of intervals add up. */
static dae_status adapt_all(dae_optimum *q, dae_diag *diag)
{
    enum { TIMES = 4 };
    double target = 1.0;
    bool stays = false;
    dae_status status = DAE_OK;
    for (int k = 0; k < TIMES && status == DAE_OK; k++) {
        status = adapt(q, target, &stays, diag);
        if (status == DAE_OK) opt_verify(q);
        if (!(q->stats.deviation > 1.0) || !isfinite(q->stats.deviation) || stays) break;
        target = fmin(0.5, 0.5 / q->stats.deviation) * fmin(target, fmax(q->stats.error, 1e-3));
    }
    if (!(q->stats.deviation <= 1.0) && q->stats.end == DAE_OPTIMISE_CONVERGED)
        q->stats.end = DAE_OPTIMISE_INACCURATE;
    return status;
}

static dae_status by_collocation(dae_optimum *q, dae_diag *diag)
{
    ipopt_end ended = IPOPT_SOLVED;
    q->stats.objective_change = NAN;
    dae_status status = opt_take_form(q, diag);
    q->path_price = DAE_ARRAY(double, q->path.count);
    if (status == DAE_OK && !q->path_price) status = opt_no_memory(diag);
    if (status == DAE_OK) status = begin(q, &ended, diag);
    if (status == DAE_OK && ended == IPOPT_STOPPED) {
        q->stats.end = DAE_OPTIMISE_STOPPED;
        q->stats.error = q->stats.deviation = NAN;
        status = opt_set_parameters(q, &q->solution, diag);
    } else if (status == DAE_OK) {
        status = adapt_all(q, diag);
        if (status == DAE_OK) opt_note_start(q);
    }
    q->stats.intervals = q->solution.intervals;
    return status;
}

/* ---- the calls ---- */

void dae_optimum_free(dae_optimum *q)
{
    if (!q) return;
    opt_program_free(&q->at_point);
    opt_program_free(&q->at_start);
    opt_program_free(&q->at_end);
    opt_conditions_free(&q->start);
    opt_conditions_free(&q->path);
    opt_conditions_free(&q->end);
    mesh_solution_free(&q->solution);
    dae_solver_free(q->companion);
    dae_problem_free(q->problem);
    dae_free_all(q->state, q->number, q->variable, q->slot, q->base, q->parameter, q->lower,
                 q->upper, q->guess, q->bound_value, q->scale, q->local, q->y, q->path_price);
    dae_free(q);
}

/* Names of the request serve no longer than the call. */
static void forget_request(dae_optimum *q)
{
    q->model = NULL;
    q->request.controls = q->request.parameters = NULL;
    q->request.objective = q->request.integral = NULL;
    q->request.path = q->request.at_end = q->request.settings = q->request.variables = NULL;
    q->request.times = q->request.values = NULL;
    q->request.progress = NULL;
    q->request.interrupt = NULL;
}

static dae_status search(dae_optimum *q, dae_diag *diag)
{
    const char *event = NULL;
    int line = 0;
    dae_status status = make_room(q) ? DAE_OK : opt_no_memory(diag);
    if (status == DAE_OK) status = look_at_model(q, &event, &line, diag);
    if (status == DAE_OK) status = choose_way(q, event, line, diag);
    if (status == DAE_OK && !ipopt_available())
        status = diag_set(diag, DAE_ERR_UNSUPPORTED, "Optimisation: %s.", ipopt_advice);
    if (status == DAE_OK) status = opt_translate(q, diag);
    if (status != DAE_OK) return status;
    return q->request.way == DAE_OPTIMISE_SIMULATION ? opt_by_runs(q, diag)
                                                     : by_collocation(q, diag);
}

/* Inside of the scope that interrupts it. */
static dae_status make(const dae_model *model, const dae_optimise_request *r, dae_optimum **optimum,
                       dae_diag *diag)
{
    dae_optimum *q = DAE_NEW(dae_optimum);
    if (!q) return opt_no_memory(diag);
    q->model = model;
    q->request = *r;
    q->c = r->control_count;
    q->m = r->parameter_count;
    q->stats.controls = q->c;
    q->run_time = INFINITY;
    q->stats.parameters = q->m;
    complete_request(&q->request);
    diag_clear(&q->diag);
    dae_status status = search(q, &q->diag);
    forget_request(q);
    if (status == DAE_OK) {
        diag_clear(&q->diag);
        *optimum = q;
        return DAE_OK;
    }
    if (diag) *diag = q->diag;
    dae_optimum_free(q);
    return status;
}

dae_status dae_optimise_sized(const dae_model *model, const dae_optimise_request *request,
                              size_t size, dae_optimum **optimum, dae_diag *diag)
{
    dae_optimise_request r = {0};
    interrupt_scope scope;
    diag_clear(diag);
    if (optimum) *optimum = NULL;
    if (!model || !request || !optimum)
        return diag_set(diag, DAE_ERR_ARGUMENT, "dae_optimise: an argument is NULL.");
    dae_status status =
        sized_read(request, size, &r, sizeof r, "request for an optimisation", diag);
    if (status == DAE_OK) status = check_request(&r, diag);
    if (status != DAE_OK) return status;
    interrupt_open(&scope, r.interrupt, r.user);
    status = make(model, &r, optimum, diag);
    if (!interrupt_close(&scope)) return status;
    dae_optimum_free(*optimum);
    *optimum = NULL;
    return interrupt_explain(diag, "an optimisation");
}

const dae_problem *dae_optimum_problem(const dae_optimum *q)
{
    return q ? q->problem : NULL;
}

dae_status dae_optimum_at(dae_optimum *q, double t, double *values)
{
    if (!q || !values) return DAE_ERR_ARGUMENT;
    const opt_solution *s = &q->solution;
    const double slack = 1e-12 * (s->t[s->intervals] - s->t[0]);
    diag_clear(&q->diag);
    if (!(t >= s->t[0] - slack && t <= s->t[s->intervals] + slack))
        return diag_set(&q->diag, DAE_ERR_ARGUMENT,
                        "dae_optimum_at: t = %.9g is outside of %.9g to %.9g.", t, s->t[0],
                        s->t[s->intervals]);
    t = fmin(fmax(t, s->t[0]), s->t[s->intervals]);
    if (q->stats.way == DAE_OPTIMISE_SIMULATION) return opt_run_at(q, t, values);
    if (!opt_point(q, s, t, q->y, q->yp))
        return diag_set(&q->diag, DAE_ERR_CONVERGENCE,
                        "dae_optimum_at: at t = %.9g the equations give no values of the variables "
                        "beside the states. The states that were chosen at the start may not hold "
                        "there: take other coordinates, such as an angle.",
                        t);
    hybrid_variables(q->companion, t, q->y, q->yp, values);
    return DAE_OK;
}

double dae_optimum_control(const dae_optimum *q, int k, double t)
{
    if (!q || k < 0 || k >= q->c || !(t >= q->solution.t[0])) return NAN;
    const opt_solution *s = &q->solution;
    const int i = mesh_interval(s, t), stages = q->method->stages;
    double weight[COLLOCATION_STAGES], sum = q->base[k];
    if (t > s->t[s->intervals]) return NAN;
    stage_weights(q->method, (t - s->t[i]) / (s->t[i + 1] - s->t[i]), weight);
    for (int a = 0; a < stages; a++)
        sum += weight[a] * s->x[opt_at(q, 1 + i * stages + a) + (size_t)(q->n + q->d + k)];
    /* the polynomial may leave the bounds between points */
    return fmin(q->base[k] + q->upper[k], fmax(q->base[k] + q->lower[k], sum));
}

double dae_optimum_parameter(const dae_optimum *q, int k)
{
    if (!q || k < 0 || k >= q->m) return NAN;
    return q->solution.x[opt_at_p(q, q->solution.intervals) + (size_t)k];
}

double dae_optimum_mesh(const dae_optimum *q, int i)
{
    return q && i >= 0 && i <= q->solution.intervals ? q->solution.t[i] : (double)NAN;
}

const dae_optimise_stats *dae_optimum_statistics(const dae_optimum *q)
{
    return q ? &q->stats : NULL;
}

const dae_diag *dae_optimum_diag(const dae_optimum *q)
{
    return q ? &q->diag : NULL;
}

bool dae_optimise_available(const char **text)
{
    const bool found = ipopt_available();
    if (text) *text = found ? "" : ipopt_advice;
    return found;
}
