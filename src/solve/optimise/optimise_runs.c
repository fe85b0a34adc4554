/* Parameters by simulation: what is minimised and all conditions are those of a run, their
 * derivatives those of its sensitivities, through events and for any index. Conditions along the
 * path hold at samples. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/interrupt.h"
#include "base/memory.h"
#include "base/vector.h"
#include "solve/hybrid/hybrid.h"
#include "solve/optimise/optimise_runs.h"

static void close_solver(run_search *w)
{
    dae_sensitivity_free(w->slopes);
    dae_solver_free(w->solver);
    if (w->compiled) code_free(&w->code);
    model_tangent_free(w->tangent);
    w->slopes = NULL;
    w->solver = NULL;
    w->compiled = false;
    w->tangent = NULL;
}

static void search_free(run_search *w)
{
    close_solver(w);
    dae_free_all(w->e, w->y, w->s, w->visible, w->value, w->last, w->g, w->slope, w->gradient,
                 w->scale, w->row_scale, w->sizes, w->best, w->origin, w->found, w->pair,
                 w->lambda);
}

/* ---- making ---- */

static void see_slope(void *context, const expr_node *leaf)
{
    bool *found = context;
    if (leaf->op == EXPR_VARIABLE && leaf->order > 0) *found = true;
}

static dae_status collect(run_search *w, dae_diag *diag)
{
    dae_optimum *q = w->q;
    const graph *g = q->problem->model->flat->graph;
    bool slope = false;
    if (q->integral != EXPR_NONE)
        return diag_set(diag, DAE_ERR_UNSUPPORTED,
                        "Optimisation: by simulation an integral is a state of the model. Write "
                        "der(J) = .. with J(start = 0, fixed = true), and let J be what counts.");
    w->count = q->path.count + q->end.count + 1;
    w->e = DAE_ARRAY(expr, w->count);
    if (!w->e) return opt_no_memory(diag);
    for (int k = 0; k < q->path.count; k++) w->e[k] = q->path.list[k].e;
    for (int k = 0; k < q->end.count; k++) w->e[q->path.count + k] = q->end.list[k].e;
    w->e[w->count - 1] = q->objective;
    if (!graph_leaves(g, w->e, (size_t)w->count, see_slope, &slope)) return opt_no_memory(diag);
    if (!slope) return DAE_OK;
    return diag_set(diag, DAE_ERR_UNSUPPORTED,
                    "Optimisation: what is minimised, or a condition, contains a derivative. Give "
                    "it a variable of its own: v = der(x).");
}

static bool make_room(run_search *w)
{
    const dae_optimum *q = w->q;
    const size_t m = (size_t)q->m;
    w->flat = (int)q->problem->model->flat->variable_count;
    w->rows = q->path.count * q->request.intervals + q->end.count;
    w->y = DAE_ARRAY(double, w->flat);
    w->s = DAE_ARRAY(double, w->flat);
    w->visible = DAE_ARRAY(double, q->problem->model->visible_count);
    w->value = DAE_ARRAY(double, w->count);
    w->last = DAE_ARRAY(double, m);
    w->gradient = DAE_ARRAY(double, m);
    w->scale = DAE_ARRAY(double, m);
    w->row_scale = DAE_ARRAY(double, w->rows);
    w->sizes = DAE_ARRAY(double, q->problem->model->visible_count);
    w->best = DAE_ARRAY(double, m);
    w->origin = DAE_ARRAY(double, m);
    w->found = DAE_ARRAY(double, m);
    w->pair = DAE_ARRAY(double, 2 * m);
    w->lambda = DAE_ARRAY(double, w->rows);
    w->g = DAE_ARRAY(double, w->rows);
    w->slope = DAE_ARRAY(double, (size_t)w->rows *m);
    return w->y && w->s && w->visible && w->value && w->last && w->gradient && w->scale && w->g &&
           w->slope && w->row_scale && w->sizes && w->best && w->origin && w->found && w->pair &&
           w->lambda;
}

static dae_status open_solver(run_search *w, dae_diag *diag)
{
    dae_optimum *q = w->q;
    graph *g = q->problem->model->flat->graph;
    const char **names = DAE_ARRAY(const char *, q->m);
    dae_options o = dae_options_default();
    o.rtol = q->request.rtol;
    o.atol = w->atol;
    o.stop_time = q->request.end;
    dae_status status =
        names ? dae_solver_new(q->problem, &o, &w->solver, diag) : opt_no_memory(diag);
    for (int k = 0; k < q->m && names; k++) names[k] = q->request.parameters[k].name;
    const dae_sensitivity_request r = {.count = q->m, .names = names, .without_run_error = true};
    if (status == DAE_OK) status = dae_sensitivity_new(w->solver, &r, &w->slopes, diag);
    dae_free((void *)names);
    if (status != DAE_OK) return status;
    graph_enter(g);
    w->compiled = code_new(&w->code, g, w->e, (size_t)w->count);
    graph_leave(g);
    if (w->compiled)
        w->tangent = model_tangent_new(g, w->e, (size_t)w->count, w->flat,
                                       &w->slopes->directions.inputs, true);
    return w->tangent ? DAE_OK : opt_no_memory(diag);
}

/* ---- a run ---- */

static void to_flat(const run_search *w, double *flat)
{
    const model_form *f = w->q->problem->model;
    for (int k = 0; k < f->visible_count; k++) flat[f->visible[k]] = w->visible[k];
}

/* All expressions at t, and their derivatives by parameter k in out + k, step m, from `first` on,
 * `count` of them. */
static dae_status look(run_search *w, double t, int first, int count, double *g, double *slope)
{
    const dae_optimum *q = w->q;
    const model_instance *m = w->solver->hybrid->instance;
    dae_status status = dae_solver_variables(w->solver, t, w->visible);
    if (status < 0) return status;
    for (int k = 0; k < q->problem->model->visible_count; k++)
        w->sizes[k] = fmax(w->sizes[k], fabs(w->visible[k]));
    to_flat(w, w->y);
    tape_inputs at = {.time = t,
                      .values = {w->y, NULL, NULL, NULL},
                      .parameters = m->parameters,
                      .memory = m->memory};
    code_prepare(&w->code, &at);
    code_run(&w->code, &at, w->value);
    model_tangent_at(w->tangent, &at);
    vector_copy(count, w->value + first, g);
    for (int k = 0; k < q->m && status >= 0; k++) {
        status = dae_sensitivity_variables(w->slopes, t, k, w->visible);
        to_flat(w, w->s);
        for (int i = 0; i < count && status >= 0; i++)
            slope[(size_t)i * (size_t)q->m + (size_t)k] =
                model_tangent_row(w->tangent, first + i, w->s, NULL,
                                  directions_named(&w->slopes->directions, k), 0.0);
    }
    return status;
}

static double sample_time(const dae_optimum *q, int i)
{
    const double span = q->request.end - q->request.start;
    return i >= q->request.intervals ? q->request.end
                                     : q->request.start + span * i / q->request.intervals;
}

/* From the start to the end, with looks on the way. */
static dae_status run_through(run_search *w)
{
    dae_optimum *q = w->q;
    const size_t m = (size_t)q->m;
    int row = 0;
    dae_status status = dae_solver_start(w->solver, q->request.start, NULL, NULL);
    for (int i = 1; i <= q->request.intervals && status >= 0; i++) {
        if (q->path.count == 0 && i < q->request.intervals) continue;
        const double t = sample_time(q, i);
        status = dae_solver_run(w->solver, t, NULL, NULL);
        if (status >= 0 && dae_solver_time(w->solver) < t)
            return diag_set(&w->solver->diag, DAE_ERR_STATE,
                            "Optimisation: the run ended at t = %.9g.", dae_solver_time(w->solver));
        if (status >= 0) status = look(w, t, 0, q->path.count, w->g + row, w->slope + row * (int)m);
        row += q->path.count;
    }
    const double end = q->request.end;
    if (status >= 0)
        status = look(w, end, q->path.count, q->end.count, w->g + row, w->slope + (size_t)row * m);
    if (status >= 0) status = look(w, end, w->count - 1, 1, &w->f, w->gradient);
    return status;
}

double opt_run_sign(const run_search *w)
{
    return w->q->request.maximise ? -1.0 : 1.0;
}

const opt_condition *opt_run_condition(const dae_optimum *q, int row)
{
    const int sampled = q->path.count * q->request.intervals;
    return row < sampled ? &q->path.list[row % q->path.count] : &q->end.list[row - sampled];
}

double opt_run_violation(const run_search *w, double *relative, int *worst)
{
    double most = 0.0;
    *worst = 0;
    *relative = 0.0;
    for (int i = 0; i < w->rows; i++) {
        const opt_condition *c = opt_run_condition(w->q, i);
        const double off = fmax(c->lower - w->g[i], w->g[i] - c->upper);
        most = fmax(most, off);
        if (off * w->row_scale[i] > *relative) *relative = off * w->row_scale[i], *worst = i;
    }
    return most;
}

double opt_run_tolerance(const dae_optimum *q)
{
    return fmin(1e-3, fmax(1e-9, q->request.rtol));
}

/* What the objective does from the run before, at `from` with value and gradient, to that at x, and
 * its gradients do not say. */
static double unexplained(const run_search *w, const double *from, double value,
                          const double *gradient, const double *x)
{
    double by_slopes = 0.0;
    for (int k = 0; k < w->q->m; k++)
        by_slopes += 0.5 * (gradient[k] + w->gradient[k]) * (x[k] - from[k]) * w->scale[k];
    return fabs(w->f - value - by_slopes);
}

void opt_run_keep(run_search *w, const double *x)
{
    int worst;
    double relative;
    opt_run_violation(w, &relative, &worst);
    if (relative <= 0.1 * opt_run_tolerance(w->q) &&
        !(opt_run_sign(w) * (w->f - w->best_f) >= 0.0)) {
        vector_copy(w->q->m, x, w->best);
        w->best_f = w->f;
    }
}

/* Keep the best point, and where the objective may jump. */
static void watch(run_search *w, const double *before, double value, const double *gradient,
                  const double *x)
{
    const int m = w->q->m;
    opt_run_keep(w, x);
    const double off = before ? unexplained(w, before, value, gradient, x) : -1.0;
    if (!(off > w->pair_off)) return;
    w->pair_off = off;
    vector_copy(m, before, w->pair);
    vector_copy(m, x, w->pair + m);
}

bool opt_run_with(run_search *w, const double *x)
{
    dae_optimum *q = w->q;
    w->known = false;
    dae_status status = DAE_OK;
    for (int k = 0; k < q->m && status == DAE_OK; k++)
        status = dae_problem_set_parameter(q->problem, q->request.parameters[k].name,
                                           fmin(q->upper[k], fmax(q->lower[k], x[k] * w->scale[k])),
                                           &w->diag);
    if (status != DAE_OK) return false;
    q->stats.runs++;
    status = run_through(w);
    if (status < 0) {
        w->diag = *dae_solver_diag(w->solver);
        return false;
    }
    vector_copy(q->m, x, w->last);
    w->known = isfinite(w->f) && vector_finite(q->m, w->gradient) && vector_finite(w->rows, w->g) &&
               vector_all_finite((size_t)w->rows * (size_t)q->m, w->slope);
    if (!w->known)
        diag_set(&w->diag, DAE_ERR_EVALUATION,
                 "Optimisation: what is to be %s, a condition, or a derivative of them, is not "
                 "finite (the first is %s).",
                 q->request.maximise ? "maximised" : "minimised",
                 isnan(w->f)   ? "not a number"
                 : isinf(w->f) ? "infinite"
                               : "finite");
    return w->known;
}

/* Whether a repeated search, whose units are what parameters may still move by, is where it has no
 * business, as runs far from where a model makes sense may take long; or follows noise of runs from
 * one line search to the next. */
static bool is_astray(run_search *w, const double *x)
{
    const double most = 1e3; /* units */
    int far = -1;
    if (!w->repeated) return false;
    for (int k = 0; k < w->q->m; k++)
        if (!(fabs(x[k] - w->origin[k]) <= most)) far = k;
    if (far < 0 && w->q->stats.runs < w->most_runs) return false;
    w->known = false;
    if (far < 0)
        diag_set(&w->diag, DAE_ERR_EVALUATION, "Optimisation: more than %ld runs settle nothing.",
                 w->most_runs);
    else
        diag_set(&w->diag, DAE_ERR_EVALUATION,
                 "Optimisation: %s = %.3g is too far from what was found before.",
                 w->q->request.parameters[far].name, x[far] * w->scale[far]);
    return true;
}

bool opt_run_evaluate(run_search *w, const double *x)
{
    const int m = w->q->m;
    if (w->known && memcmp(x, w->last, (size_t)m * sizeof *x) == 0) return true;
    if (is_astray(w, x)) return false;
    double *before = w->watching && w->known ? DAE_ARRAY(double, 2 * (size_t)m) : NULL;
    const double value = w->f;
    if (before) {
        vector_copy(m, w->last, before);
        vector_copy(m, w->gradient, before + m);
    }
    const bool ok = opt_run_with(w, x);
    if (ok && w->watching) watch(w, before, value, before ? before + m : NULL, x);
    dae_free(before);
    return ok;
}

/* ---- as a problem of IPOPT ---- */

static bool run_objective(void *user, const double *x, double *value)
{
    run_search *w = user;
    bool ok = opt_run_evaluate(w, x);
    *value = opt_run_sign(w) * w->f;
    return ok;
}

static bool run_gradient(void *user, const double *x, double *gradient)
{
    run_search *w = user;
    bool ok = opt_run_evaluate(w, x);
    for (int k = 0; k < w->q->m; k++) gradient[k] = opt_run_sign(w) * w->gradient[k] * w->scale[k];
    return ok;
}

static bool run_rows(void *user, const double *x, double *g)
{
    run_search *w = user;
    bool ok = opt_run_evaluate(w, x);
    vector_copy(w->rows, w->g, g);
    return ok;
}

static bool run_slopes(void *user, const double *x, double *values)
{
    run_search *w = user;
    const int m = w->q->m;
    bool ok = opt_run_evaluate(w, x);
    for (int i = 0; i < w->rows * m; i++) values[i] = w->slope[i] * w->scale[i % m];
    return ok;
}

static bool go_on(void *user, int count, double objective, double violation)
{
    run_search *w = user;
    const dae_optimise_request *r = &w->q->request;
    w->iterations = w->earlier + count;
    if (interrupted_now()) return false;
    w->stopped = r->progress && r->progress(count, r->intervals, opt_run_sign(w) * objective,
                                            violation, r->user) != 0;
    return !w->stopped;
}

/* ---- the search ---- */

static dae_status explain(const run_search *w, ipopt_end ended, dae_diag *diag)
{
    const dae_optimum *q = w->q;
    const int sampled = q->path.count * q->request.intervals;
    int worst;
    double relative;
    const double off = opt_run_violation(w, &relative, &worst);
    if (ended == IPOPT_NO_MEMORY) return opt_no_memory(diag);
    diag_set(diag, DAE_ERR_CONVERGENCE, "Optimisation: %s. ",
             ended == IPOPT_INFEASIBLE   ? "the conditions contradict each other, or the search "
                                           "ended where they are met least badly"
             : ended == IPOPT_ITERATIONS ? "the search took too many iterations, or there is no "
                                           "least value within the bounds"
             : ended == IPOPT_UNBOUNDED  ? "parameters grow beyond all bounds"
             : ended == IPOPT_TIGHT      ? "there are more equations than parameters"
                                         : "the search found no way on");
    if (w->rows > 0 && relative > opt_run_tolerance(q))
        diag_append(
            diag, "Violated most is %s at t = %.9g, by %.3g. ", opt_run_condition(q, worst)->text,
            worst < sampled ? sample_time(q, 1 + worst / q->path.count) : q->request.end, off);
    if (w->diag.status != DAE_OK) diag_append(diag, "The last run that failed: %s ", w->diag.text);
    diag_append(diag, "%s",
                ended == IPOPT_UNBOUNDED ? "What is sought may have no least value: give bounds."
                                         : "Begin elsewhere, or give wider bounds.");
    return DAE_ERR_CONVERGENCE;
}

/* Lower, then upper bounds of parameters and of rows. */
static void fill_bounds(const run_search *w, double *bounds, double *rows)
{
    const dae_optimum *q = w->q;
    for (int k = 0; k < q->m; k++) {
        bounds[k] = q->lower[k] / w->scale[k];
        bounds[q->m + k] = q->upper[k] / w->scale[k];
    }
    for (int i = 0; i < w->rows; i++) {
        rows[i] = opt_run_condition(q, i)->lower;
        rows[w->rows + i] = opt_run_condition(q, i)->upper;
    }
}

static dae_status search(run_search *w, double *x, bool again, ipopt_end *ended, dae_diag *diag)
{
    const dae_optimum *q = w->q;
    const size_t m = (size_t)q->m, entries = (size_t)w->rows * m;
    double *bounds = DAE_ARRAY(double, 2 * (m + (size_t)w->rows));
    int *place = DAE_ARRAY(int, 2 * entries);
    if (!bounds || !place) {
        dae_free_all(bounds, place);
        return opt_no_memory(diag);
    }
    double *upper = bounds + m, *row_lower = bounds + 2 * m, *row_upper = row_lower + w->rows;
    fill_bounds(w, bounds, row_lower);
    for (size_t e = 0; e < entries; e++) {
        place[e] = (int)(e / m);
        place[entries + e] = (int)(e % m);
    }
    const ipopt_problem problem = {.size = q->m,
                                   .rows = w->rows,
                                   .jacobian = entries,
                                   .lower = bounds,
                                   .upper = upper,
                                   .row_lower = row_lower,
                                   .row_upper = row_upper,
                                   .jacobian_row = place,
                                   .jacobian_column = place + entries,
                                   .objective = run_objective,
                                   .gradient = run_gradient,
                                   .constraints = run_rows,
                                   .derivatives = run_slopes,
                                   .go_on = go_on,
                                   .user = w,
                                   .max_iterations = q->request.max_iterations,
                                   .objective_scale = w->f_scale,
                                   .row_scale = w->row_scale,
                                   .tolerance = opt_run_tolerance(q),
                                   .warm = again};
    *ended = again ? ipopt_solve(&problem, x, NULL, w->lambda)
                   : ipopt_solve_aside(&problem, x, NULL, w->lambda);
    dae_free_all(bounds, place);
    return DAE_OK;
}

/* Whether the objective jumps between the two points of the pair: half the way, again and again, to
 * where it changes other than by its gradients. x and *jump: where, and by how much. */
static bool find_jump(run_search *w, double *x, double *jump)
{
    enum { HALVES = 30 };
    const int m = w->q->m;
    double *room = DAE_ARRAY(double, 2 * (size_t)m), *low = w->pair, *high = w->pair + m;
    bool ok = room && w->pair_off > 0.0 && opt_run_with(w, low);
    double at_low = w->f;
    if (ok) vector_copy(m, w->gradient, room);
    for (int k = 0; k < HALVES && ok; k++) {
        for (int i = 0; i < m; i++) x[i] = 0.5 * (low[i] + high[i]);
        ok = opt_run_with(w, x);
        const double here = w->f, off = ok ? unexplained(w, low, at_low, room, x) : 0.0;
        if (ok) vector_copy(m, w->gradient, room + m);
        ok = ok && opt_run_with(w, high);
        const double rest = ok ? unexplained(w, x, here, room + m, high) : 0.0;
        *jump = fmax(off, rest);
        vector_copy(m, x, rest > off ? low : high);
        if (rest > off) at_low = here, vector_copy(m, room + m, room);
    }
    dae_free(room);
    /* over 1e-9 of the way anything smooth changes by rounding alone */
    return ok && *jump > 100.0 * (w->q->request.rtol * fabs(w->f) + w->atol);
}

/* "What is minimised jumps at p = 0.2, q = 3, by 0.5." */
static void tell_jump(run_search *w, double *x)
{
    enum { SHOWN = 3 };
    dae_optimum *q = w->q;
    double jump;
    char *text = q->stats.note;
    const size_t size = sizeof q->stats.note;
    if (!find_jump(w, x, &jump)) return;
    size_t n = strlen(text);
    snprintf(text + n, size - n, " What is %s jumps at",
             q->request.maximise ? "maximised" : "minimised");
    for (int k = 0; k < q->m && k < SHOWN; k++) {
        n = strlen(text);
        snprintf(text + n, size - n, "%s %.60s = %.9g", k ? "," : "", q->request.parameters[k].name,
                 x[k] * w->scale[k]);
    }
    n = strlen(text);
    snprintf(text + n, size - n, "%s by %.3g: no gradient leads over it. Begin on either side.",
             q->m > SHOWN ? ", .." : "", jump);
}

/* Whether the last run, at the end of the search, is worse than one on its way. */
static bool ended_worse(const run_search *w)
{
    const dae_optimum *q = w->q;
    return opt_run_sign(w) * (w->f - w->best_f) >
           q->request.rtol * fmax(fabs(w->f), fabs(w->best_f)) + opt_run_tolerance(q) / w->f_scale;
}

/* The search ended without the least value, or at one that is worse than a point on its way: the
 * best point of all counts, and the user is told why. */
static bool keep_best(run_search *w, ipopt_end ended, double *x)
{
    dae_optimum *q = w->q;
    if (ended == IPOPT_SOLVED && !ended_worse(w)) return true;
    w->watching = false;
    q->stats.end = DAE_OPTIMISE_INACCURATE;
    if (ended == IPOPT_SOLVED)
        snprintf(q->stats.note, sizeof q->stats.note,
                 "the search ended at %.9g, which is worse than %.9g on its way; the best point is "
                 "kept.",
                 w->f, w->best_f);
    else
        snprintf(q->stats.note, sizeof q->stats.note,
                 "the search %s; the best point of its way is kept.",
                 ended == IPOPT_ITERATIONS ? "took too many iterations" : "found no way on");
    tell_jump(w, x);
    vector_copy(q->m, w->best, x);
    return opt_run_evaluate(w, x);
}

/* Conditions along the path between their samples, and the worst of them. */
static dae_status look_between(run_search *w)
{
    enum { LOOKS = 8 };
    dae_optimum *q = w->q;
    const int all = q->path.count > 0 ? LOOKS * q->request.intervals : 0;
    const double span = q->request.end - q->request.start;
    double most = 0.0;
    if (all == 0) return DAE_OK;
    w->known = false; /* rows of samples are overwritten */
    q->stats.runs++;
    dae_status status = dae_solver_start(w->solver, q->request.start, NULL, NULL);
    for (int i = 1; i < all && status >= 0; i++) {
        const double t = q->request.start + span * i / all;
        status = dae_solver_run(w->solver, t, NULL, NULL);
        if (status >= 0) status = look(w, t, 0, q->path.count, w->g, w->slope);
        for (int k = 0; k < q->path.count && status >= 0; k++) {
            const opt_condition *c = &q->path.list[k];
            const double off = fmax(c->lower - w->g[k], w->g[k] - c->upper);
            if (!(off * w->row_scale[k] > most)) continue;
            most = off * w->row_scale[k];
            q->stats.path_violation = off;
            snprintf(q->stats.path_text, sizeof q->stats.path_text, "%.150s at t = %.9g", c->text,
                     t);
        }
    }
    if (most > 10.0 * opt_run_tolerance(q) && q->stats.end == DAE_OPTIMISE_CONVERGED)
        q->stats.end = DAE_OPTIMISE_INACCURATE;
    if (status < 0) w->diag = *dae_solver_diag(w->solver);
    return status < 0 ? status : DAE_OK;
}

/* Runs do not seek start values: who left some open is told. */
static void tell_of_starts(dae_optimum *q)
{
    const model_form *f = q->problem->model;
    const char *open = NULL;
    int states = 0, given = (int)f->condition_count;
    for (int k = 0; k < f->visible_count; k++) {
        if (!dae_problem_variable_info(q->problem, k).state) continue;
        const bool fixed = f->flat->variables[f->visible[k]].fixed;
        states++;
        given += fixed;
        if (!fixed && !open) open = dae_problem_variable(q->problem, k);
    }
    q->stats.states = states;
    q->stats.at_start = given;
    if (open && given < states && !q->stats.note[0])
        snprintf(q->stats.note, sizeof q->stats.note,
                 "runs keep start values that are not fixed, such as that of %.100s; collocation "
                 "seeks them, too.",
                 open);
}

/* Keep what was found. */
static dae_status finish(run_search *w, double *x, ipopt_end ended, dae_diag *diag)
{
    dae_optimum *q = w->q;
    int worst;
    double relative;
    q->stats.end = ended == IPOPT_STOPPED ? DAE_OPTIMISE_STOPPED : DAE_OPTIMISE_CONVERGED;
    if (!opt_run_evaluate(w, x) || (ended != IPOPT_STOPPED && !keep_best(w, ended, x))) {
        *diag = w->diag;
        return diag->status;
    }
    if (w->doubtful && q->stats.end == DAE_OPTIMISE_CONVERGED)
        q->stats.end = DAE_OPTIMISE_INACCURATE;
    q->stats.objective = w->f;
    q->stats.violation = opt_run_violation(w, &relative, &worst);
    if (relative > 10.0 * opt_run_tolerance(q) && q->stats.end == DAE_OPTIMISE_CONVERGED) {
        q->stats.end = DAE_OPTIMISE_INACCURATE;
        snprintf(q->stats.note, sizeof q->stats.note, "%.150s is violated by %.3g.",
                 opt_run_condition(q, worst)->text, q->stats.violation);
    }
    dae_status status = look_between(w);
    if (status != DAE_OK) {
        *diag = w->diag;
        return status;
    }
    tell_of_starts(q);
    q->stats.iterations = w->iterations;
    q->stats.objective_change = q->stats.error = q->stats.deviation = NAN;
    q->stats.intervals = q->request.intervals;
    q->stats.unknowns = q->m;
    q->stats.conditions = w->rows;
    q->method = &radau_iia_3;
    if (!opt_solution_new(q, q->request.intervals, &q->solution)) return opt_no_memory(diag);
    for (int i = 0; i <= q->request.intervals; i++) q->solution.t[i] = sample_time(q, i);
    for (int k = 0; k < q->m; k++) q->solution.x[k] = x[k] * w->scale[k];
    q->companion = w->solver; /* it runs once more, for values */
    dae_sensitivity_free(w->slopes);
    w->solver = NULL;
    w->slopes = NULL;
    return DAE_OK;
}

static void choose_units(run_search *w, double *x)
{
    const dae_optimum *q = w->q;
    for (int k = 0; k < q->m; k++) {
        double size = fabs(q->guess[k]);
        if (isfinite(q->lower[k]) && isfinite(q->upper[k]))
            size = fmax(size, 0.5 * (q->upper[k] - q->lower[k]));
        w->scale[k] = size > 0.0 ? size : 1.0;
        x[k] = q->guess[k] / w->scale[k];
    }
}

/* Gradients of the last run count for the sizes of the objective and of each condition, which has
 * one size for all samples. */
static void measure(run_search *w, double *size)
{
    const dae_optimum *q = w->q;
    const int m = q->m, sampled = q->path.count * q->request.intervals;
    for (int k = 0; k < m; k++) {
        size[0] = fmax(size[0], fabs(w->gradient[k]) * w->scale[k]);
        for (int i = 0; i < w->rows; i++) {
            const int c = i < sampled ? i % q->path.count : q->path.count + i - sampled;
            size[1 + c] = fmax(size[1 + c], fabs(w->slope[i * m + k]) * w->scale[k]);
        }
    }
}

/* Units of the objective and of rows, so that the answer does not depend on those of the model:
 * gradients at the guess, and a tenth of a unit beside it, as they may vanish at the guess. */
static dae_status choose_row_units(run_search *w, const double *x, dae_diag *diag)
{
    enum { PROBES = 2 };
    const dae_optimum *q = w->q;
    const int sampled = q->path.count * q->request.intervals;
    double *size = DAE_ARRAY(double, 1 + q->path.count + q->end.count);
    double *beside = DAE_ARRAY(double, q->m);
    if (!size || !beside) {
        dae_free_all(size, beside);
        return opt_no_memory(diag);
    }
    for (int probe = 0; probe <= PROBES; probe++) {
        for (int k = 0; k < q->m; k++) {
            const double to = x[k] + 0.1 * (probe == 2 ? -1 : probe);
            beside[k] = fmin(q->upper[k] / w->scale[k], fmax(q->lower[k] / w->scale[k], to));
        }
        if (opt_run_evaluate(w, beside)) measure(w, size);
    }
    w->f_scale = size[0] > 0.0 ? 1.0 / size[0] : 1.0;
    if (!(size[0] > 0.0))
        snprintf(w->q->stats.note, sizeof w->q->stats.note,
                 "what is %s does not change with the parameters near the guess.",
                 q->request.maximise ? "maximised" : "minimised");
    for (int i = 0; i < w->rows; i++) {
        const double of = size[1 + (i < sampled ? i % q->path.count : q->path.count + i - sampled)];
        w->row_scale[i] = of > 0.0 ? 1.0 / of : 1.0;
    }
    diag_clear(&w->diag);
    dae_free_all(size, beside);
    return DAE_OK;
}

/* Where states are small beside the tolerance, the search would see noise: runs have a finer one,
 * as small as rtol asks for. */
static dae_status sharpen(run_search *w, dae_diag *diag)
{
    const dae_optimum *q = w->q;
    double least = INFINITY;
    for (int k = 0; k < q->problem->model->visible_count; k++)
        if (w->sizes[k] > 0.0 && dae_problem_variable_info(q->problem, k).state)
            least = fmin(least, w->sizes[k]);
    const double atol = fmax(q->request.rtol * least, 1e-9 * q->request.atol);
    if (!(atol < 0.5 * w->atol)) return DAE_OK;
    w->atol = atol;
    w->known = false;
    close_solver(w);
    return open_solver(w, diag);
}

static dae_status begin(run_search *w, double *x, dae_diag *diag)
{
    choose_units(w, x);
    dae_status status = opt_run_evaluate(w, x) ? sharpen(w, diag) : w->diag.status;
    if (status == DAE_OK && !opt_run_first_units(w, x))
        status = w->diag.status == DAE_OK ? opt_no_memory(diag) : w->diag.status;
    if (status == DAE_OK) status = choose_row_units(w, x, diag);
    if (status == DAE_OK && !opt_run_evaluate(w, x)) status = w->diag.status;
    if (status != DAE_OK) {
        if (w->diag.status != DAE_OK) *diag = w->diag;
        return status;
    }
    w->watching = true;
    opt_run_keep(w, x);
    return DAE_OK;
}

/* Room, states' sizes and units for a search from x on, by what is in doubt. */
static dae_status begin_again(run_search *w, const double *x, const run_doubt *doubt,
                              dae_diag *diag)
{
    vector_zero(w->q->problem->model->visible_count, w->sizes);
    dae_status status = opt_run_with(w, x) ? sharpen(w, diag) : w->diag.status;
    if (status == DAE_OK) status = choose_row_units(w, x, diag);
    if (status == DAE_OK && doubt->gain > 0.0) w->f_scale = 1.0 / doubt->gain;
    if (status == DAE_OK && !opt_run_evaluate(w, x)) status = w->diag.status;
    if (status != DAE_OK && w->diag.status != DAE_OK) *diag = w->diag;
    if (w->rows > 0) w->best_f = NAN; /* conditions held in other units */
    if (status == DAE_OK) opt_run_keep(w, x);
    w->earlier = w->iterations;
    return status;
}

static void tell_doubt(run_search *w, const run_doubt *doubt)
{
    dae_optimum *q = w->q;
    const char *name = q->request.parameters[doubt->parameter].name;
    if (doubt->gain > 0.0)
        snprintf(q->stats.note, sizeof q->stats.note,
                 "the search does not settle: other values of %.60s still change the %s by about "
                 "%.3g. Begin with a guess of the size of the answer, or give bounds: there may be "
                 "no best value.",
                 name, q->request.maximise ? "maximum" : "minimum", doubt->gain);
    else
        snprintf(q->stats.note, sizeof q->stats.note,
                 "the search does not settle: a condition that %.60s moves is not met. Begin with "
                 "a guess of the size of the answer.",
                 name);
}

/* Once more from x on. */
static dae_status search_again(run_search *w, double *x, const run_doubt *doubt, ipopt_end *ended,
                               dae_diag *diag)
{
    dae_status status = begin_again(w, x, doubt, diag);
    vector_copy(w->q->m, x, w->origin);
    w->repeated = true;
    if (status == DAE_OK) status = search(w, x, true, ended, diag);
    w->repeated = false;
    const bool gave_up = *ended == IPOPT_FAILED || *ended == IPOPT_ITERATIONS;
    if (status != DAE_OK || !gave_up || isnan(w->best_f)) return status;
    vector_copy(w->q->m, w->best, x);
    *ended = IPOPT_SOLVED; /* if that is settled */
    return status;
}

/* With conditions, multipliers of the search are as accurate as its units: what a search in the
 * right ones leaves as it was is settled, too. */
static bool has_moved(const run_search *w, double before, const run_doubt *doubt)
{
    return w->rows == 0 || doubt->gain == 0.0 || !(fabs(w->f - before) <= doubt->tolerance);
}

/* Whether more is at stake than the request asks for. */
static bool is_at_stake(const run_search *w, const run_doubt *doubt)
{
    const dae_optimise_request *r = &w->q->request;
    if (doubt->parameter < 0) return false;
    return doubt->gain == 0.0 || doubt->gain > r->rtol * fabs(w->f) + r->atol;
}

/* A look, or a repeated search, that fails changes nothing: what was found before it stands, in
 * doubt only if something is at stake. */
static dae_status stand_by(run_search *w, double *x, const run_doubt *doubt, ipopt_end *ended,
                           dae_diag *diag)
{
    if (diag->status == DAE_OK) *diag = w->diag;
    if (diag->status == DAE_ERR_MEMORY || diag->status == DAE_ERR_INTERRUPTED) return diag->status;
    for (int k = 0; k < w->q->m; k++) x[k] = w->found[k] / w->scale[k];
    diag_clear(diag);
    if (!opt_run_evaluate(w, x)) {
        *diag = w->diag;
        return diag->status == DAE_OK ? opt_no_memory(diag) : diag->status;
    }
    *ended = IPOPT_SOLVED;
    w->doubtful = is_at_stake(w, doubt);
    if (w->doubtful) tell_doubt(w, doubt);
    return DAE_OK;
}

/* Search again in units of what was found, until that holds in its own. */
static dae_status settle(run_search *w, double *x, ipopt_end *ended, dae_diag *diag)
{
    enum { ROUNDS = 12, RUNS = 500 };
    double before = NAN;
    run_doubt doubt = {.parameter = -1};
    w->most_runs = RUNS + 10 * w->q->stats.runs; /* of all searches: each begins near its end */
    for (int round = 0;; round++) {
        const run_doubt last = doubt;
        const bool known = opt_run_evaluate(w, x);
        if (known && round == 0 && ended_worse(w)) break; /* which is told */
        if (known && w->rows == 0 && opt_run_sign(w) * (w->f - w->best_f) > 0.0)
            vector_copy(w->q->m, w->best, x);
        for (int k = 0; known && k < w->q->m; k++) w->found[k] = x[k] * w->scale[k];
        if (!known || !opt_run_doubts(w, x, &doubt)) {
            *diag = w->diag;
            if (diag->status == DAE_OK) return opt_no_memory(diag);
            return known || round > 0 ? stand_by(w, x, &last, ended, diag) : diag->status;
        }
        if (interrupted_now()) *ended = IPOPT_STOPPED;
        if (*ended != IPOPT_SOLVED || doubt.parameter < 0 || !has_moved(w, before, &doubt)) break;
        before = w->f;
        w->doubtful = round == ROUNDS && is_at_stake(w, &doubt);
        if (w->doubtful) tell_doubt(w, &doubt);
        if (round == ROUNDS) break;
        const dae_status status = search_again(w, x, &doubt, ended, diag);
        if (*ended == IPOPT_STOPPED) return status;
        if (status != DAE_OK || *ended != IPOPT_SOLVED) return stand_by(w, x, &doubt, ended, diag);
    }
    diag_clear(&w->diag);
    return DAE_OK;
}

dae_status opt_by_runs(dae_optimum *q, dae_diag *diag)
{
    run_search w = {.q = q, .atol = q->request.atol, .best_f = NAN, .pair_off = -1.0};
    ipopt_end ended = IPOPT_SOLVED;
    diag_clear(&w.diag);
    double *x = DAE_ARRAY(double, q->m);
    dae_status status = x ? collect(&w, diag) : opt_no_memory(diag);
    if (status == DAE_OK && !make_room(&w)) status = opt_no_memory(diag);
    if (status == DAE_OK) status = open_solver(&w, diag);
    if (status == DAE_OK) status = begin(&w, x, diag);
    if (status == DAE_OK) status = search(&w, x, false, &ended, diag);
    if (status == DAE_OK && ended == IPOPT_SOLVED) status = settle(&w, x, &ended, diag);
    if (status == DAE_OK && ended == IPOPT_STOPPED && !w.stopped) status = opt_no_memory(diag);
    const bool kept = (ended == IPOPT_ITERATIONS || ended == IPOPT_FAILED) && !isnan(w.best_f);
    if (status == DAE_OK && ended != IPOPT_SOLVED && ended != IPOPT_STOPPED && !kept) {
        (void)opt_run_evaluate(&w, x);
        status = explain(&w, ended, diag);
    }
    if (kept) vector_copy(q->m, w.best, x);
    if (status == DAE_OK) status = finish(&w, x, ended, diag);
    search_free(&w);
    dae_free(x);
    return status;
}

dae_status opt_run_at(dae_optimum *q, double t, double *values)
{
    dae_solver *s = q->companion;
    dae_status status = DAE_OK;
    if (!(q->run_time <= t)) status = dae_solver_start(s, q->solution.t[0], NULL, NULL);
    if (status >= 0 && t > dae_solver_time(s)) status = dae_solver_run(s, t, NULL, NULL);
    if (status >= 0) status = dae_solver_variables(s, t, values);
    q->run_time = status >= 0 ? t : INFINITY;
    if (status < 0) q->diag = *dae_solver_diag(s);
    return status < 0 ? status : DAE_OK;
}
