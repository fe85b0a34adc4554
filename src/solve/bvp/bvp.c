/* Boundary value problems: the form, the loop over meshes, the public calls. */
#include <math.h>
#include <string.h>

#include "base/diag.h"
#include "base/interrupt.h"
#include "base/memory.h"
#include "base/sized.h"
#include "base/vector.h"
#include "solve/bvp/bvp_parts.h"
#include "solve/hybrid/hybrid.h"

enum { ROUNDS = 40, TRIES = 3 };

static const double SMALLEST = 1e-13; /* relative tolerance: some hundred roundings */

/* ---- checks ---- */

/* The points of a method with so many in each interval; NULL: there are none. */
static const collocation *points_of(dae_bvp_method kind, int stages)
{
    static const collocation *const gauss[] = {&gauss_1, &gauss_2, &gauss_3, &gauss_4, &gauss_5};
    static const collocation *const radau[] = {
        &radau_iia_1, &radau_iia_2, &radau_iia_3, &radau_iia_4, &radau_iia_5, NULL, &radau_iia_7};
    const bool right = kind == DAE_BVP_RADAU || kind == DAE_BVP_PROJECTED_RADAU;
    if (stages < 1 || stages > (right ? 7 : 5)) return NULL;
    return right ? radau[stages - 1] : gauss[stages - 1];
}

static dae_status check_request(const dae_bvp_request *r, dae_diag *diag)
{
    if (!isfinite(r->start) || !isfinite(r->end) || !(r->start < r->end))
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "Boundary values: the interval from %g to %g is empty, or not finite.",
                        r->start, r->end);
    if (!(r->rtol >= 0.0) || !(r->atol >= 0.0) || r->rtol >= 1.0)
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "Boundary values: rtol = %g or atol = %g is no tolerance.", r->rtol,
                        r->atol);
    if (r->rtol > 0.0 && r->rtol < SMALLEST)
        return diag_set(diag, DAE_ERR_TOLERANCE,
                        "Boundary values: rtol = %g is below what the arithmetic can deliver, %g.",
                        r->rtol, SMALLEST);
    if (r->unknown_count < 0 || (r->unknown_count > 0 && !r->unknown))
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "Boundary values: unknown_count = %d without names.", r->unknown_count);
    if (r->intervals < 0 || r->max_intervals < 0 || r->max_iterations < 0)
        return diag_set(diag, DAE_ERR_ARGUMENT, "Boundary values: a limit is negative.");
    if ((int)r->guess < 0 || r->guess > DAE_BVP_GUESS_TABLE)
        return diag_set(diag, DAE_ERR_ARGUMENT, "Boundary values: guess = %d is none.",
                        (int)r->guess);
    if ((int)r->method < 0 || r->method > DAE_BVP_PROJECTED_RADAU)
        return diag_set(diag, DAE_ERR_ARGUMENT, "Boundary values: method = %d is none.",
                        (int)r->method);
    if (r->stages != 0 && r->method == DAE_BVP_SHOOTING)
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "Boundary values: shooting has no collocation points; stages = %d is for "
                        "collocation.",
                        r->stages);
    if (r->stages != 0 && !points_of(r->method, r->stages))
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "Boundary values: stages = %d; there are 1 to 5, and 7 at Radau points.",
                        r->stages);
    return DAE_OK;
}

static void complete_request(dae_bvp_request *r)
{
    if (r->stages == 0) r->stages = 4;
    if (r->rtol == 0.0) r->rtol = dae_options_default().rtol;
    if (r->atol == 0.0) r->atol = r->rtol;
    if (r->max_intervals == 0) r->max_intervals = r->intervals > 5000 ? r->intervals : 5000;
    if (r->intervals == 0) r->intervals = r->max_intervals < 10 ? r->max_intervals : 10;
    if (r->max_intervals < r->intervals) r->max_intervals = r->intervals;
    if (r->max_iterations == 0) r->max_iterations = 50;
    if (r->guess == DAE_BVP_GUESS_AUTO && r->rows > 0) r->guess = DAE_BVP_GUESS_TABLE;
}

/* What runs between nodes cannot take across these. */
static dae_status check_runs(const flat_model *m, dae_diag *diag)
{
    if (m->delay_count > 0)
        return diag_set(diag, DAE_ERR_UNSUPPORTED,
                        "Boundary values: the model has a delay (line %d), whose past would reach "
                        "over nodes.",
                        m->delays[0].place.line);
    for (size_t v = 0; v < m->variable_count; v++)
        if (m->variables[v].discrete && m->variables[v].type == FLAT_REAL)
            return diag_set(diag, DAE_ERR_UNSUPPORTED,
                            "Boundary values: %s (line %d) is a discrete Real: how it moves with "
                            "the unknowns is not taken across nodes. Let it be a state, with "
                            "der(%s) = 0 and reinit.",
                            m->variables[v].name, m->variables[v].place.line, m->variables[v].name);
    return DAE_OK;
}

/* What has no place in a boundary value problem. */
static dae_status check_model(const flat_model *m, bool runs, dae_diag *diag)
{
    if (runs) return check_runs(m, diag);
    const struct {
        const char *what;
        bool has;
        int line;
    } parts[] = {{"a when-clause", m->when_count > 0,
                  m->when_count ? m->whens[0].branches[0].place.line : 0},
                 {"a condition that is an event", m->relation_count > 0,
                  m->relation_count ? m->relations[0].place.line : 0},
                 {"an event at given times", m->sample_count > 0,
                  m->sample_count ? m->samples[0].place.line : 0},
                 {"a delay", m->delay_count > 0, m->delay_count ? m->delays[0].place.line : 0},
                 {"a discrete variable", m->discrete_count > 0,
                  m->discrete_count ? m->discretes[0].place.line : 0}};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
        if (!parts[k].has) continue;
        if (diag) diag->line = parts[k].line;
        return diag_set(diag, DAE_ERR_UNSUPPORTED,
                        "Boundary values: the model has %s (line %d): its solution must be smooth. "
                        "What is smooth may stand in noEvent(), and shooting passes events.",
                        parts[k].what, parts[k].line);
    }
    return DAE_OK;
}

static dae_status check_names(const dae_bvp *q, dae_diag *diag)
{
    const flat_model *m = q->problem->model->flat;
    for (int k = 0; k < q->m; k++) {
        const char *name = q->request.unknown[k] ? q->request.unknown[k] : "(no name)";
        bool known = false, twice = false;
        for (size_t p = 0; p < m->parameter_count; p++)
            known = known || strcmp(m->parameters[p].name, name) == 0;
        for (int j = 0; j < k; j++) twice = twice || strcmp(q->request.unknown[j], name) == 0;
        diag_variable(diag, -1, name);
        if (!known)
            return diag_set(diag, DAE_ERR_ARGUMENT,
                            "Boundary values: the model has no parameter %s.", name);
        if (twice)
            return diag_set(diag, DAE_ERR_ARGUMENT, "Boundary values: parameter %s is named twice.",
                            name);
    }
    return DAE_OK;
}

/* ---- the form ---- */

/* Bind the form of index 1 at consistent values. */
static dae_status take_form(dae_bvp *q, dae_diag *diag)
{
    dae_options o = dae_options_default();
    o.rtol = q->request.rtol;
    o.atol = q->request.atol;
    dae_status status = lead_companion_start(q->problem, &o, q->request.start, "Boundary values",
                                             &q->companion, diag);
    if (status != DAE_OK) return status;
    return bvp_bind_form(q, &o, diag);
}

static double node_product(const collocation *m, double x)
{
    double product = 1.0;
    for (int a = 0; a < m->stages; a++) product *= x - m->nodes[a];
    return product;
}

/* The point between `low` and `high` where prod (x - c_a) is largest. */
static double largest_between(const collocation *m, double low, double high)
{
    enum { PARTS = 1000 };
    double best = low, most = -1.0;
    for (int k = 0; k < PARTS; k++) {
        const double x = low + (high - low) * (k + 0.5) / PARTS;
        if (fabs(node_product(m, x)) <= most) continue;
        most = fabs(node_product(m, x));
        best = x;
    }
    return best;
}

/* Where the defect is looked at: at the start, where it is largest between nodes, and at the end,
 * or before it if that is a node: what lies beside a mesh point must not be overlooked from either
 * side. reach = largest integral of prod (x - c_a) from 0, over its value there: for a smooth
 * solution the error of the polynomial over h times its defect. */
static void find_reach(dae_bvp *q)
{
    enum { PARTS = 1000 };
    const collocation *m = q->method;
    const int s = m->stages;
    const double last = m->nodes[s - 1];
    double sum = 0.0, most = 0.0;
    for (int k = 0; k < PARTS; k++) {
        sum += node_product(m, (k + 0.5) / PARTS) / PARTS;
        most = fmax(most, fabs(sum));
    }
    q->probe[0] = 0.0;
    q->probe[1] = s > 1 ? largest_between(m, m->nodes[0], last) : 0.0;
    q->probe[2] = last < 1.0 ? 1.0 - 1e-6 : largest_between(m, s > 1 ? m->nodes[s - 2] : 0.0, last);
    for (int k = 0; k < BVP_PROBES; k++) q->reach[k] = most / fabs(node_product(m, q->probe[k]));
}

/* Conditions are over the unknowns of the form, those of runs over the user's. */
static bool see(dae_bvp *q)
{
    const bool runs = q->request.method == DAE_BVP_SHOOTING, mapped = is_formulated(q->companion);
    q->seen = runs ? q->problem->model : q->form;
    q->seen_n = runs ? q->problem->form.n : q->n;
    q->sloped = DAE_ARRAY(bool, q->seen_n);
    for (int i = 0; q->sloped && i < q->seen_n; i++)
        q->sloped[i] = runs && mapped ? q->form->place_slope[i].unknown >= 0 : q->number[i] >= 0;
    return q->sloped;
}

static dae_status open_form(dae_bvp *q, dae_diag *diag)
{
    q->method = points_of(q->request.method, q->request.stages);
    find_reach(q);
    dae_status status = take_form(q, diag);
    if (status == DAE_OK && !see(q)) status = bvp_no_memory(diag);
    if (status == DAE_OK) status = bvp_conditions_make(q, diag);
    const bool projected = q->request.method >= DAE_BVP_PROJECTED;
    return status == DAE_OK && projected ? bvp_open_inner(q, diag) : status;
}

/* ---- meshes ---- */

/* Solve on `next`, and let it take the place of s. */
static dae_status solve_on(dae_bvp *q, bvp_solution *s, bvp_solution *next, dae_diag *diag)
{
    dae_status status = bvp_solve_mesh(q, next, diag);
    q->stats.meshes++;
    if (status == DAE_OK)
        mesh_solution_replace(s, next);
    else
        mesh_solution_free(next);
    return status;
}

/* A first solution from a guess, with more intervals where it takes them. */
static dae_status first_solution(dae_bvp *q, dae_bvp_guess guess, bvp_solution *s, dae_diag *diag)
{
    dae_status status = DAE_OK;
    int intervals = q->request.intervals;
    for (int k = 0; k < TRIES && intervals <= q->request.max_intervals; k++, intervals *= 3) {
        bvp_solution next;
        if (!bvp_solution_new(q, intervals, &next)) return bvp_no_memory(diag);
        status = bvp_guess_make(q, guess, &next, diag);
        if (status != DAE_OK) {
            mesh_solution_free(&next);
            return status;
        }
        status = solve_on(q, s, &next, diag);
        if (status != DAE_ERR_CONVERGENCE && status != DAE_ERR_EVALUATION) return status;
    }
    return status;
}

static dae_status explain_mesh(const dae_bvp *q, const bvp_solution *s, const double *error,
                               dae_diag *diag)
{
    int worst = 0;
    for (int i = 1; i < s->intervals; i++)
        if (error[i] > error[worst]) worst = i;
    diag->t = s->t[worst];
    if (error[worst] <= 1.0)
        return diag_set(
            diag, DAE_ERR_TOLERANCE,
            "Boundary values: with %d intervals the error is estimated as %.3g "
            "tolerances, and the limit of %d leaves none to confirm it by halving them. "
            "Allow more intervals.",
            s->intervals, error[worst], q->request.max_intervals);
    diag_set(diag, DAE_ERR_TOLERANCE,
             "Boundary values: with %d intervals the error is still %.3g tolerances between "
             "t = %.9g and %.9g. Allow more intervals (the limit is %d), or take a larger "
             "tolerance; a solution with a jump or a kink there has no place here.",
             s->intervals, error[worst], s->t[worst], s->t[worst + 1], q->request.max_intervals);
    bvp_advise_points(q, diag);
    return DAE_ERR_TOLERANCE;
}

/* A mesh on which the error would be a part of `target`; *moved: the last one had as many
 * intervals. */
static dae_status refine(dae_bvp *q, bvp_solution *s, const double *error, double target,
                         bool *moved, dae_diag *diag)
{
    bvp_solution next;
    const int n = s->intervals, least = *moved ? n + n / 2 + 1 : n;
    if (!bvp_redistribute(q, s, error, 0.5 * target, least, &next)) return bvp_no_memory(diag);
    *moved = next.intervals <= n;
    dae_status status = solve_on(q, s, &next, diag);
    if (status != DAE_ERR_CONVERGENCE && status != DAE_ERR_EVALUATION) return status;
    if (2 * n > q->request.max_intervals) return status;
    if (!bvp_halve(q, s, &next)) return bvp_no_memory(diag);
    *moved = false;
    return solve_on(q, s, &next, diag);
}

/* Solve with intervals halved: *error = what the difference says of the finer solution, which
 * stays: errors are 2^order times smaller there, and the order is `stages` at least. */
static dae_status judge(dae_bvp *q, bvp_solution *s, double *error, dae_diag *diag)
{
    bvp_solution next, coarse = *s;
    if (!bvp_halve(q, s, &next)) return bvp_no_memory(diag);
    *s = (bvp_solution){0};
    dae_status status = solve_on(q, s, &next, diag);
    if (status == DAE_OK)
        *error = bvp_difference(q, &coarse, s) / (pow(2.0, q->method->stages) - 1.0);
    else
        mesh_solution_replace(s, &coarse);
    mesh_solution_free(&coarse);
    return status;
}

/* A mesh that can be halved, with intervals enough for `target`: layers that were not seen made the
 * last one too fine elsewhere. */
static dae_status coarsen(dae_bvp *q, bvp_solution *s, const double *error, double target,
                          dae_diag *diag)
{
    bvp_solution next;
    if (!bvp_redistribute(q, s, error, 0.5 * target, 1, &next)) return bvp_no_memory(diag);
    if (2 * next.intervals <= q->request.max_intervals) return solve_on(q, s, &next, diag);
    mesh_solution_free(&next);
    return explain_mesh(q, s, error, diag);
}

/* A last look at a solution that halving has confirmed, for what is narrower than the distance of
 * the points so far: a mesh that is finer there, and *confirmed = false. Where states are chosen,
 * values next to points where they hold badly say nothing. */
static dae_status look_closer(dae_bvp *q, bvp_solution *s, bool *confirmed, dae_diag *diag)
{
    if (q->inner || q->instance->selection) return DAE_OK;
    double *error = DAE_ARRAY(double, s->intervals);
    const double most = error ? bvp_look_closer(q, s, error) : NAN;
    bool moved = false;
    dae_status status = isnan(most) ? bvp_no_memory(diag) : DAE_OK;
    if (status == DAE_OK && most > 1.0) {
        *confirmed = false;
        status = s->intervals >= q->request.max_intervals ? explain_mesh(q, s, error, diag)
                                                          : refine(q, s, error, 1.0, &moved, diag);
    }
    dae_free(error);
    return status;
}

/* The rounds are over, and the last halving does not confirm the solution. */
static dae_status explain_rounds(const dae_bvp *q, const bvp_solution *s, dae_diag *diag)
{
    return diag_set(diag, DAE_ERR_CONVERGENCE,
                    "Boundary values: after %d rounds of meshes halving the %d intervals of the "
                    "last one still changes the solution by %.3g tolerances. Take a larger "
                    "tolerance, a better guess, or another method.",
                    ROUNDS, s->intervals / 2, q->stats.error);
}

/* Meshes until the error of every interval is below its target, and halving them all confirms the
 * whole; else the target is made smaller. */
static dae_status adapt(dae_bvp *q, bvp_solution *s, dae_diag *diag)
{
    double target = 1.0;
    bool moved = false, coarse = false;
    dae_status status = DAE_OK;
    bool confirmed = false;
    for (int round = 0; round < ROUNDS && !confirmed && status == DAE_OK; round++) {
        double *error = DAE_ARRAY(double, s->intervals);
        double most = error ? bvp_estimate(q, s, error) : NAN;
        const bool room = 2 * s->intervals <= q->request.max_intervals;
        const bool full = s->intervals >= q->request.max_intervals;
        if (isnan(most)) { /* a value that is no number is infinite */
            status = bvp_no_memory(diag);
        } else if (most <= target && room) {
            status = judge(q, s, &q->stats.error, diag);
            confirmed = status == DAE_OK && q->stats.error <= 1.0;
            if (confirmed) status = look_closer(q, s, &confirmed, diag);
            target /= fmax(2.0, 2.0 * fmin(q->stats.error, 1e6)); /* which may be infinite */
        } else if (most <= target && !coarse) {
            status = coarsen(q, s, error, target, diag);
            coarse = true;
        } else if (full || most <= target || round == ROUNDS - 1) {
            status = explain_mesh(q, s, error, diag);
        } else {
            status = refine(q, s, error, target, &moved, diag);
        }
        dae_free(error);
    }
    return status == DAE_OK && !confirmed ? explain_rounds(q, s, diag) : status;
}

dae_status bvp_explain_point(const dae_bvp *q, double t, dae_diag *diag)
{
    diag->t = t;
    return diag_set(diag, DAE_ERR_CONVERGENCE,
                    "Boundary values: at t = %.9g the equations give no values of the variables "
                    "beside the states. %s",
                    t,
                    q->inner || q->d == q->n
                        ? "Take a smaller tolerance, or another method."
                        : "The states that were chosen at the start may not hold there: take "
                          "projected collocation (method projected) or shooting.");
}

/* Where the states that were chosen at the start determine the other variables least: *t. How many
 * times worse the matrix of slopes of states and other variables is there than where it is best. */
static double weakest_point(dae_bvp *q, const bvp_solution *s, double *t)
{
    double least = INFINITY, most = 0.0;
    for (int i = 0; i < s->intervals; i++)
        for (int a = 0; a < q->method->stages; a++) {
            const double h = s->t[i + 1] - s->t[i], at = s->t[i] + q->method->nodes[a] * h;
            bvp_on_polynomial(q, s, i, q->method->nodes[a], q->work, q->f);
            bvp_fill(q, q->work, q->f, q->y, q->yp);
            for (int j = 0; j < q->n; j++) q->work[j] = 1.0 - (q->f[j] = q->number[j] >= 0);
            if (iteration_evaluate(&q->matrix, at, q->y, q->yp, 1.0 / h, h, q->weights, NULL) !=
                    ITERATION_OK ||
                iteration_factor_columns(&q->matrix, q->work, q->f) != ITERATION_OK)
                continue;
            const double good = iteration_condition(&q->matrix);
            most = fmax(most, good);
            if (!(good >= 0.0 && good < least)) continue;
            least = good;
            *t = at;
        }
    return least < INFINITY && most > 0.0 ? most / fmax(least, 1e-300) : 1.0;
}

/* A search by collocation failed: the choice of states may be the reason. */
static void explain_states(dae_bvp *q, dae_diag *diag)
{
    const double weak = 1e3; /* what a mesh does not make up for */
    double t = 0.0;
    if (q->request.method > DAE_BVP_RADAU || q->d == q->n || q->solution.intervals == 0) return;
    const double worse = weakest_point(q, &q->solution, &t);
    if (worse > weak)
        diag_append(diag,
                    " Near t = %.4g the states that were chosen at the start determine the other "
                    "variables %.0e times worse than elsewhere: take projected collocation (method "
                    "projected), or shooting.",
                    t, worse);
}

/* Assertions of the model hold at the mesh. */
static dae_status check_assertions(dae_bvp *q, dae_diag *diag)
{
    const bvp_solution *s = &q->solution;
    dae_status status = DAE_OK;
    for (int i = 0; i <= s->intervals && status == DAE_OK; i++) {
        if (!bvp_point(q, s, s->t[i], q->y, q->yp)) return bvp_explain_point(q, s->t[i], diag);
        status = hybrid_check(bvp_teller(q), s->t[i], q->y, q->yp);
    }
    if (status < 0) *diag = bvp_teller(q)->diag;
    return status < 0 ? status : DAE_OK;
}

static dae_status solve_from(dae_bvp *q, dae_bvp_guess guess, dae_diag *diag)
{
    q->stats.simulated = guess == DAE_BVP_GUESS_SIMULATE;
    if (q->request.method == DAE_BVP_SHOOTING) return bvp_shoot(q, guess, diag);
    dae_status status = first_solution(q, guess, &q->solution, diag);
    if (status != DAE_OK) return status;
    status = adapt(q, &q->solution, diag);
    if (status == DAE_ERR_CONVERGENCE || status == DAE_ERR_TOLERANCE) explain_states(q, diag);
    return status;
}

/* By default values at the start, and a simulation where these do not do. */
static dae_status solve_all(dae_bvp *q, dae_diag *diag)
{
    const bool open = q->request.guess == DAE_BVP_GUESS_AUTO;
    const model_form *f = q->problem->model;
    kept_values kept = {0};
    if (open && !model_form_keep(f, &kept)) return bvp_no_memory(diag);
    dae_status status = solve_from(q, open ? DAE_BVP_GUESS_START : q->request.guess, diag);
    bool again = open && (status == DAE_ERR_CONVERGENCE || status == DAE_ERR_EVALUATION ||
                          status == DAE_ERR_SINGULAR);
    dae_diag first = *diag;
    if (open && again) {
        status = model_form_put_back(q->problem->model, &kept, diag);
        if (status == DAE_OK) status = solve_from(q, DAE_BVP_GUESS_SIMULATE, diag);
        if (status != DAE_OK && status != DAE_ERR_MEMORY) {
            *diag = first;
            status = first.status;
        }
    } else {
        dae_free_all(kept.parameters, kept.start, kept.set);
    }
    if (status != DAE_OK || q->shooting) return status;
    q->stats.intervals = q->solution.intervals;
    q->stats.unknowns = (int)bvp_size(q, q->solution.intervals);
    return check_assertions(q, diag);
}

/* ---- the calls ---- */

void dae_bvp_free(dae_bvp *q)
{
    if (!q) return;
    bvp_conditions_free(&q->left);
    bvp_conditions_free(&q->right);
    bvp_matrix_free(&q->system);
    mesh_solution_free(&q->solution);
    shooting_free(q->shooting);
    dae_bvp_free(q->inner);
    model_tangent_free(q->rows);
    if (q->directed) directions_free(&q->directions);
    if (q->has_matrix) iteration_free(&q->matrix);
    dae_solver_free(q->companion);
    dae_solver_free(q->finisher);
    dae_free_all(q->state, q->number, q->sloped, q->y, q->constraint, q->known, q->user, q->outside,
                 q);
}

/* The problem's parameters are put back in any case; those of the solution stay with it. */
static dae_status solve(dae_bvp *q, dae_diag *diag)
{
    kept_values kept = {0};
    if (!model_form_keep(q->problem->model, &kept)) return bvp_no_memory(diag);
    dae_status status = open_form(q, diag);
    if (status == DAE_OK) status = solve_all(q, diag);
    dae_status back = model_form_put_back(q->problem->model, &kept, NULL);
    return status == DAE_OK ? back : status;
}

/* Inside of the scope that interrupts it. */
static dae_status make(dae_problem *problem, const dae_bvp_request *r, dae_bvp **bvp,
                       dae_diag *diag)
{
    dae_bvp *q = DAE_NEW(dae_bvp);
    if (!q) return bvp_no_memory(diag);
    q->problem = problem;
    q->request = *r;
    q->m = r->unknown_count;
    complete_request(&q->request);
    diag_clear(&q->diag);
    dae_status status = check_names(q, &q->diag);
    if (status == DAE_OK) status = solve(q, &q->diag);
    if (status == DAE_OK) {
        diag_clear(&q->diag);
        *bvp = q;
        return DAE_OK;
    }
    if (diag) *diag = q->diag;
    dae_bvp_free(q);
    return status;
}

dae_status dae_bvp_new_sized(dae_problem *problem, const dae_bvp_request *request, size_t size,
                             dae_bvp **bvp, dae_diag *diag)
{
    dae_bvp_request r = {0};
    interrupt_scope scope;
    diag_clear(diag);
    if (bvp) *bvp = NULL;
    if (!problem || !request || !bvp)
        return diag_set(diag, DAE_ERR_ARGUMENT, "dae_bvp_new: an argument is NULL.");
    dae_status status =
        sized_read(request, size, &r, sizeof r, "request for boundary values", diag);
    if (status == DAE_OK && !problem->model)
        status = diag_set(diag, DAE_ERR_UNSUPPORTED,
                          "Boundary values are those of a model text, not of callbacks.");
    if (status == DAE_OK) status = check_request(&r, diag);
    if (status == DAE_OK)
        status = check_model(problem->model->flat, r.method == DAE_BVP_SHOOTING, diag);
    if (status != DAE_OK) return status;
    interrupt_open(&scope, r.interrupt, r.user);
    status = make(problem, &r, bvp, diag);
    if (!interrupt_close(&scope)) return status;
    dae_bvp_free(*bvp);
    *bvp = NULL;
    return interrupt_explain(diag, "the solution of boundary values");
}

dae_status dae_bvp_at(dae_bvp *q, double t, double *values)
{
    if (!q || !values) return DAE_ERR_ARGUMENT;
    const double start = q->request.start, last = q->request.end, slack = 1e-12 * (last - start);
    diag_clear(&q->diag);
    if (!(t >= start - slack && t <= last + slack))
        return diag_set(&q->diag, DAE_ERR_ARGUMENT,
                        "dae_bvp_at: t = %.9g is outside of %.9g to %.9g.", t, start, last);
    t = fmin(fmax(t, start), last);
    if (q->shooting) return shooting_at(q->shooting, t, values, &q->diag);
    if (!bvp_point(q, &q->solution, t, q->y, q->yp)) return bvp_explain_point(q, t, &q->diag);
    hybrid_variables(bvp_teller(q), t, q->y, q->yp, values);
    return DAE_OK;
}

double dae_bvp_parameter(const dae_bvp *q, int k)
{
    if (!q || k < 0 || k >= q->m) return NAN;
    if (q->shooting) return shooting_parameter(q->shooting, k);
    return q->solution.x[bvp_at_p(q, q->solution.intervals) + (size_t)k];
}

double dae_bvp_mesh(const dae_bvp *q, int i)
{
    if (q && q->shooting) return shooting_node(q->shooting, i);
    return q && i >= 0 && i <= q->solution.intervals ? q->solution.t[i] : (double)NAN;
}

const dae_bvp_stats *dae_bvp_statistics(const dae_bvp *q)
{
    return q ? &q->stats : NULL;
}

const dae_diag *dae_bvp_diag(const dae_bvp *q)
{
    return q ? &q->diag : NULL;
}
