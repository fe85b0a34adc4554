/* Multiple shooting [AMR95 4.3]: runs of the model between nodes t_0 < .. < t_N, from values that
 * all constraints hold for, so that they join and the conditions at both ends hold.
 *
 * Unknowns are the d states at t_0 .. t_N-1, chosen at each node by numbers, and the parameters. A
 * node is moved along the tangents of its solutions, S dx + S_p dp in all variables and slopes, and
 * its run makes it consistent: a step on the manifold, whichever states the node has. */
#include <math.h>
#include <stdio.h>

#include "base/diag.h"
#include "base/interrupt.h"
#include "base/memory.h"
#include "base/vector.h"
#include "solve/bvp/bvp_parts.h"

static const double FINER = 0.01;     /* tolerance of first runs over that of the result: what they
                                         leave of the joints must be below `enough` */
static const double TIGHTER = 0.1;    /* .. of the next ones over that of those before */
static const double ENOUGH = 0.05;    /* correction, in tolerances */
static const double SMALLEST = 1e-13; /* relative tolerance of runs */
static const double OPEN = 0.5;       /* gap between runs, in tolerances, that takes more nodes */
static const double LINEAR =
    1e-6; /* the same of their derivatives: Newton's method needs no more */

enum { TRIES = 3 };

struct shooting {
    dae_bvp *q;
    int nodes, n, d, m;  /* intervals; the user's unknowns; states; parameters */
    double *t;           /* nodes + 1; owned, as all below */
    double *y, *trial;   /* nodes + 1 rows of y and y': at nodes, and where the last run ends */
    double *p, *trial_p; /* m */
    double *basis;       /* per node d + m rows: how y and y' move with states and parameters */
    double *end;         /* y and y' where a run ends, */
    double *end_moves;   /* and d + m rows of how they move */
    double *largest;     /* 2 n */
    double *before;      /* as y, then as p: with larger tolerances */
    model_place *state;  /* nodes times d: the user's unknown, or its slope */
    dae_solver *run;
    dae_sensitivity *moves;
    double rtol, atol; /* of runs */
    int at;            /* the interval that the run is in, for values; -1: none */
    bool measures;     /* runs take the gap of conditions, too */
    double gap;        /* the largest one of joints and conditions, in tolerances, */
    char widest[200];  /* and where it is */
};

/* ---- life ---- */

void shooting_free(struct shooting *h)
{
    if (!h) return;
    dae_sensitivity_free(h->moves);
    dae_solver_free(h->run);
    dae_free_all(h->t, h->y, h->trial, h->p, h->basis, h->end, h->end_moves, h->largest, h->before,
                 h->state, h);
}

static size_t row_size(const struct shooting *h)
{
    return 2 * (size_t)h->n;
}

static size_t all_rows(const struct shooting *h)
{
    return (size_t)(h->nodes + 1) * row_size(h);
}

static double *moves_of(const struct shooting *h, int i, int k)
{
    return h->basis + ((size_t)i * (size_t)(h->d + h->m) + (size_t)k) * row_size(h);
}

static size_t system_size(const struct shooting *h)
{
    return (size_t)h->nodes * (size_t)h->d + (size_t)h->m;
}

static bool make_room(struct shooting *h)
{
    const size_t moves = (size_t)(h->d + h->m) * row_size(h);
    h->t = DAE_ARRAY(double, h->nodes + 1);
    h->y = DAE_ARRAY(double, all_rows(h));
    h->trial = DAE_ARRAY(double, all_rows(h));
    h->p = DAE_ARRAY(double, 2 * (size_t)h->m);
    h->basis = DAE_ARRAY(double, (size_t)h->nodes *moves);
    h->end = DAE_ARRAY(double, row_size(h));
    h->end_moves = DAE_ARRAY(double, moves);
    h->largest = DAE_ARRAY(double, row_size(h));
    h->before = DAE_ARRAY(double, all_rows(h) + (size_t)h->m);
    h->state = DAE_ARRAY(model_place, (size_t)h->nodes * (size_t)h->d);
    if (h->p) h->trial_p = h->p + h->m;
    return h->t && h->y && h->trial && h->p && h->basis && h->end && h->end_moves && h->largest &&
           h->before && h->state;
}

/* A solver with the tolerances of now, and derivatives beside it. */
static dae_status open_runs(struct shooting *h, dae_diag *diag)
{
    dae_options o = dae_options_default();
    o.rtol = h->rtol;
    o.atol = h->atol;
    dae_sensitivity_free(h->moves);
    dae_solver_free(h->run);
    h->moves = NULL;
    h->run = NULL;
    h->at = -1;
    dae_status status = dae_solver_new(h->q->problem, &o, &h->run, diag);
    if (status != DAE_OK || h->d + h->m == 0) return status;
    dae_sensitivity_request r = {.rtol = fmax(h->rtol, LINEAR)};
    r.atol = h->atol * (r.rtol / h->rtol);
    return sensitivity_by_states(h->run, h->d, h->q->directions.list, h->m, &r, &h->moves, diag);
}

static dae_status shooting_new(dae_bvp *q, int nodes, struct shooting **result, dae_diag *diag)
{
    struct shooting *h = DAE_NEW(struct shooting);
    *result = h;
    if (!h) return bvp_no_memory(diag);
    *h = (struct shooting){
        .q = q, .nodes = nodes, .n = q->problem->form.n, .d = q->d, .m = q->m, .at = -1};
    if (!make_room(h)) return bvp_no_memory(diag);
    const double span = q->request.end - q->request.start;
    for (int i = 0; i <= nodes; i++) h->t[i] = q->request.start + span * i / nodes;
    h->t[nodes] = q->request.end;
    for (int k = 0; k < h->m; k++)
        h->p[k] = q->problem->model->parameters[q->directions.list[k].parameter];
    h->rtol = FINER * q->request.rtol;
    h->atol = FINER * q->request.atol;
    return open_runs(h, diag);
}

/* ---- runs ---- */

static dae_status explain_run(const struct shooting *h, dae_status status, dae_diag *diag)
{
    char said[sizeof h->q->diag.text];
    const dae_diag *of = dae_solver_diag(h->run);
    if (status == DAE_ERR_MEMORY || status == DAE_ERR_INTERRUPTED) {
        *diag = *of;
        return status;
    }
    snprintf(said, sizeof said, "%s", of->text);
    *diag = *of;
    return diag_set(diag, status < 0 ? status : DAE_ERR_UNSUPPORTED,
                    "Boundary values: a run between nodes fails at t = %.9g: %s",
                    dae_solver_time(h->run), status < 0 ? said : "the model ends it.");
}

/* The run stands at the first node of the rows, with the parameters of the problem. */
static dae_status start_runs(struct shooting *h, dae_diag *diag)
{
    if (h->moves) h->moves->stands = false;
    dae_status status = dae_solver_start(h->run, h->t[0], NULL, NULL);
    return status == DAE_OK ? DAE_OK : explain_run(h, status, diag);
}

/* Go on from a node with its values, which are made consistent. */
static dae_status leave_node(struct shooting *h, double *row, dae_diag *diag)
{
    if (h->moves) h->moves->stands = false;
    dae_status status = dae_solver_restart(h->run, row, row + h->n);
    if (status != DAE_OK) return explain_run(h, status, diag);
    double *found = user_values(h->run);
    if (!found) return bvp_no_memory(diag);
    vector_copy(2 * h->n, found, row);
    dae_free(found);
    return DAE_OK;
}

static dae_status run_to(struct shooting *h, double t, double *row, dae_diag *diag)
{
    if (interrupted()) return interrupt_explain(diag, "boundary values");
    dae_status status = dae_solver_run(h->run, t, row, row ? row + h->n : NULL);
    return status == DAE_OK ? DAE_OK : explain_run(h, status, diag);
}

/* Steps of interval i end at its right node, whichever times between are asked for: values are
 * those of the runs that were joined. */
static dae_status head_for(struct shooting *h, int i, dae_diag *diag)
{
    dae_status status = dae_solver_set_stop_time(h->run, h->t[i + 1]);
    return status == DAE_OK ? DAE_OK : explain_run(h, status, diag);
}

/* ---- gaps ---- */

static double tolerance_of(const struct shooting *h, double value)
{
    return h->q->request.rtol * fabs(value) + h->q->request.atol;
}

/* What is no number is an infinite gap. */
static bool is_widest(struct shooting *h, double gap)
{
    if (gap <= h->gap) return false;
    h->gap = isnan(gap) ? (double)INFINITY : gap;
    return true;
}

/* Values where a run ends against those of the node it ends at. */
static void measure_joint(struct shooting *h, int node, const double *row)
{
    for (int k = 0; k < h->n; k++)
        if (is_widest(h, fabs(h->end[k] - row[k]) / tolerance_of(h, row[k])))
            snprintf(h->widest, sizeof h->widest, "%.120s at t = %.6g",
                     problem_variable(h->q->problem, k), h->t[node]);
}

/* What condition i moves by when each value that it contains moves by its tolerance; the tangent
 * stands at the row. */
static double condition_tolerance(struct shooting *h, const bvp_conditions *c, int i,
                                  const double *row)
{
    double sum = 0.0, *unit = h->largest; /* found anew where it is wanted */
    vector_zero(2 * h->n, unit);
    for (int k = 0; k < 2 * h->n; k++) {
        unit[k] = 1.0;
        sum += fabs(model_tangent_row(c->tangent, i, unit, unit + h->n, NULL, 0.0)) *
               tolerance_of(h, row[k]);
        unit[k] = 0.0;
    }
    for (int k = 0; k < h->m; k++)
        sum += fabs(model_tangent_row(c->tangent, i, unit, unit + h->n,
                                      directions_moved(&h->q->directions, k), 0.0)) *
               tolerance_of(h, h->p[k]);
    return sum;
}

static void measure_conditions(struct shooting *h, const bvp_conditions *c, const double *row,
                               const double *residual, double t)
{
    for (int i = 0; i < c->count; i++)
        if (residual[i] != 0.0 &&
            is_widest(h, fabs(residual[i]) / condition_tolerance(h, c, i, row)))
            snprintf(h->widest, sizeof h->widest, "the condition %.120s at t = %.6g", c->names[i],
                     t);
}

/* ---- states and how values move with them ---- */

/* Where state i of the lead is among the user's unknowns and their slopes. */
static model_place place_of_state(const struct shooting *h, int i)
{
    const lead *l = &h->moves->lead;
    if (!is_formulated(l->solver)) return (model_place){i, false, 1};
    for (int slope = 0; slope < 2; slope++)
        for (int u = 0; u < h->n; u++) {
            model_place at = slope ? l->form->place_slope[u] : l->form->place[u];
            if (at.unknown == i && !at.slope) return (model_place){u, slope, at.sign};
        }
    return (model_place){-1, false, 1};
}

static double value_of(const struct shooting *h, model_place at, const double *row)
{
    return at.sign * row[at.unknown + (at.slope ? h->n : 0)];
}

static dae_status list_states(struct shooting *h, int node, dae_diag *diag)
{
    const lead *l = &h->moves->lead;
    int k = 0;
    for (int i = 0; i < l->n; i++) {
        if (!lead_is_state(l, i)) continue;
        model_place at = place_of_state(h, i);
        if (at.unknown < 0)
            return diag_set(diag, DAE_ERR_UNSUPPORTED,
                            "Boundary values: state %.120s is no variable of the model; shooting "
                            "has no place for it.",
                            problem_variable(l->solver->bound.problem, i));
        h->state[(size_t)node * (size_t)h->d + (size_t)k++] = at;
    }
    return DAE_OK;
}

/* d + m rows of derivatives where the run stands. */
static dae_status read_moves(struct shooting *h, double *rows, dae_diag *diag)
{
    dae_status status = DAE_OK;
    for (int k = 0; k < h->d + h->m && status == DAE_OK; k++) {
        double *row = rows + (size_t)k * row_size(h);
        status = sensitivity_user(h->moves, h->moves->t, k, row, row + h->n);
    }
    return status == DAE_OK ? DAE_OK : explain_run(h, status, diag);
}

/* States of a node, and how its values move with them: those of its run, at its start. */
static dae_status open_node(struct shooting *h, int node, dae_diag *diag)
{
    if (!h->moves) return DAE_OK;
    dae_status status = sensitivity_begin_states(h->moves);
    if (status != DAE_OK) return explain_run(h, status, diag);
    status = list_states(h, node, diag);
    return status == DAE_OK ? read_moves(h, moves_of(h, node, 0), diag) : status;
}

/* ---- equations ---- */

static size_t column_of(const struct shooting *h, int node, int k)
{
    return k < h->d ? (size_t)node * (size_t)h->d + (size_t)k
                    : (size_t)h->nodes * (size_t)h->d + (size_t)(k - h->d);
}

/* Conditions at one end, by how its values move with the unknowns of a node. */
static dae_status add_conditions(struct shooting *h, bvp_conditions *c, int node, const double *row,
                                 const double *moves, size_t first, double *residual,
                                 bool with_matrix, dae_diag *diag)
{
    dae_bvp *q = h->q;
    const model_instance *m = h->run->hybrid->instance;
    tape_inputs at = {.time = dae_solver_time(h->run),
                      .values = {row, row + h->n, NULL, NULL},
                      .parameters = m->parameters,
                      .memory = m->memory};
    code_prepare(&c->code, &at);
    code_run(&c->code, &at, residual + first);
    for (int i = 0; i < c->count; i++)
        if (!isfinite(residual[first + (size_t)i]))
            return diag_set(diag, DAE_ERR_EVALUATION,
                            "Boundary values: the condition %s has no finite value at t = %.9g.",
                            c->names[i], at.time);
    if (with_matrix || h->measures) model_tangent_at(c->tangent, &at);
    if (h->measures) measure_conditions(h, c, row, residual + first, at.time);
    bool ok = true;
    for (int k = 0; k < h->d + h->m && with_matrix && ok; k++) {
        const double *s = moves + (size_t)k * row_size(h);
        const double *moved = k < h->d ? NULL : directions_moved(&q->directions, k - h->d);
        for (int i = 0; i < c->count && ok; i++)
            ok = bvp_put(&q->system, first + (size_t)i, column_of(h, node, k),
                         model_tangent_row(c->tangent, i, s, s + h->n, moved, 0.0));
    }
    return ok ? DAE_OK : bvp_no_memory(diag);
}

/* States of a node are those where the run before it ends. */
static dae_status add_joint(struct shooting *h, int node, const double *row, size_t first,
                            double *residual, bool with_matrix, dae_diag *diag)
{
    bool ok = true;
    for (int i = 0; i < h->d && ok; i++) {
        const model_place at = h->state[(size_t)node * (size_t)h->d + (size_t)i];
        const size_t r = first + (size_t)i;
        residual[r] = value_of(h, at, h->end) - value_of(h, at, row);
        if (!with_matrix) continue;
        ok = bvp_put(&h->q->system, r, column_of(h, node, i), -1.0);
        for (int k = 0; k < h->d + h->m && ok; k++)
            ok = bvp_put(&h->q->system, r, column_of(h, node - 1, k),
                         value_of(h, at, h->end_moves + (size_t)k * row_size(h)));
    }
    return ok ? DAE_OK : bvp_no_memory(diag);
}

/* One run: what joins it to the one before, or the conditions at the start; then its end. */
static dae_status add_run(struct shooting *h, int i, double *row, double *residual,
                          bool with_matrix, dae_diag *diag)
{
    const size_t first = i == 0 ? 0 : (size_t)h->q->left.count + (size_t)(i - 1) * (size_t)h->d;
    dae_status status = leave_node(h, row, diag);
    if (status == DAE_OK && i > 0) measure_joint(h, i, row);
    if (status == DAE_OK && with_matrix) status = open_node(h, i, diag);
    if (status == DAE_OK)
        status = i == 0 ? add_conditions(h, &h->q->left, 0, row, moves_of(h, 0, 0), first, residual,
                                         with_matrix, diag)
                        : add_joint(h, i, row, first, residual, with_matrix, diag);
    if (status == DAE_OK) status = head_for(h, i, diag);
    if (status == DAE_OK) status = run_to(h, h->t[i + 1], h->end, diag);
    if (status == DAE_OK && with_matrix && h->moves) status = read_moves(h, h->end_moves, diag);
    return status;
}

/* All runs from the nodes in `rows`, which become consistent. */
static dae_status evaluate(struct shooting *h, double *rows, const double *p, double *residual,
                           bool with_matrix, dae_diag *diag)
{
    const size_t first = (size_t)h->q->left.count + (size_t)(h->nodes - 1) * (size_t)h->d;
    h->at = -1;
    h->gap = 0.0;
    if (with_matrix) h->q->system.count = 0;
    dae_status status = bvp_set_parameters(h->q, p, diag);
    if (status == DAE_OK) status = start_runs(h, diag);
    for (int i = 0; i < h->nodes && status == DAE_OK; i++)
        status = add_run(h, i, rows + (size_t)i * row_size(h), residual, with_matrix, diag);
    if (status != DAE_OK) return status;
    vector_copy(2 * h->n, h->end, rows + (size_t)h->nodes * row_size(h));
    return add_conditions(h, &h->q->right, h->nodes - 1, h->end, h->end_moves, first, residual,
                          with_matrix, diag);
}

/* ---- as equations of Newton's method ---- */

static void name_unknown(void *user, size_t k, char *text, size_t size)
{
    const struct shooting *h = user;
    if (k >= column_of(h, 0, h->d)) {
        snprintf(text, size, "parameter %.150s", h->q->request.unknown[k - column_of(h, 0, h->d)]);
        return;
    }
    const model_place at = h->state[k];
    snprintf(text, size, at.slope ? "der(%.120s) at t = %.6g" : "%.120s at t = %.6g",
             problem_variable(h->q->problem, at.unknown), h->t[k / (size_t)h->d]);
}

static void name_equation(void *user, size_t k, char *text, size_t size)
{
    const struct shooting *h = user;
    const size_t left = (size_t)h->q->left.count;
    const size_t right = left + (size_t)(h->nodes - 1) * (size_t)h->d;
    if (k < left || k >= right) {
        snprintf(text, size, "the condition %.120s at the %s",
                 k < left ? h->q->left.names[k] : h->q->right.names[k - right],
                 k < left ? "start" : "end");
        return;
    }
    snprintf(text, size, "that which joins ");
    name_unknown(user, k - left + (size_t)h->d, text + 17, size - 17);
}

static dae_status linearise(void *user, double *residual, dae_diag *diag)
{
    struct shooting *h = user;
    char name[200];
    dae_status status = evaluate(h, h->y, h->p, residual, true, diag);
    if (status != DAE_OK) return status;
    linear_status solved = bvp_finish_matrix(h->q, (int)system_size(h));
    if (solved == LINEAR_OK) return DAE_OK;
    if (solved != LINEAR_SINGULAR) return bvp_no_memory(diag);
    const int column = h->q->system.solver->singular_column;
    name_unknown(h, column < 0 ? 0 : (size_t)column, name, sizeof name);
    return diag_set(
        diag, DAE_ERR_SINGULAR,
        "Boundary values: runs and conditions, linearised at the guess, do not "
        "determine %s. A condition may be missing at one end and be there twice at the "
        "other, or not depend on what is unknown; or the guess is where solutions meet.",
        name);
}

/* rows += factor times the moves of all nodes by `step`. */
static void add_moves(const struct shooting *h, double factor, const double *step, double *rows,
                      double *p)
{
    for (int i = 0; i < h->nodes; i++)
        for (int k = 0; k < h->d + h->m; k++)
            vector_axpy(2 * h->n, factor * step[column_of(h, i, k)], moves_of(h, i, k),
                        rows + (size_t)i * row_size(h));
    for (int k = 0; k < h->m; k++) p[k] += factor * step[column_of(h, 0, h->d + k)];
}

static void move(void *user, double damping, const double *step)
{
    struct shooting *h = user;
    for (size_t k = 0; k < all_rows(h); k++) h->trial[k] = h->y[k];
    vector_copy(h->m, h->p, h->trial_p);
    add_moves(h, damping, step, h->trial, h->trial_p);
}

static dae_status residual_there(void *user, double *residual, dae_diag *diag)
{
    struct shooting *h = user;
    return evaluate(h, h->trial, h->trial_p, residual, false, diag);
}

static void take(void *user, const double *more)
{
    struct shooting *h = user;
    double *y = h->y;
    if (more) add_moves(h, 1.0, more, h->trial, h->trial_p);
    h->y = h->trial;
    h->trial = y;
    vector_copy(h->m, h->trial_p, h->p);
}

/* Tolerance of each of the user's values and slopes, by its largest one over all nodes. */
static void find_largest(struct shooting *h)
{
    const size_t size = row_size(h);
    vector_zero(2 * h->n, h->largest);
    for (size_t k = 0; k < all_rows(h); k++)
        h->largest[k % size] = fmax(h->largest[k % size], fabs(h->y[k]));
}

static void weigh(void *user, double *weight)
{
    struct shooting *h = user;
    const dae_bvp_request *r = &h->q->request;
    find_largest(h);
    for (size_t k = 0; k < (size_t)h->nodes * (size_t)h->d; k++)
        weight[k] = r->rtol * fabs(value_of(h, h->state[k], h->largest)) + r->atol;
    for (int k = 0; k < h->m; k++)
        weight[column_of(h, 0, h->d + k)] = r->rtol * fabs(h->p[k]) + r->atol;
}

/* ---- solutions ---- */

/* Runs from nodes that are consistent, as those for values are, and the gaps they leave: Newton's
 * corrections are small where runs magnify, whatever the gaps are. */
static dae_status measure(struct shooting *h, double *residual, dae_diag *diag)
{
    dae_status status = evaluate(h, h->y, h->p, residual, false, diag);
    h->measures = true;
    if (status == DAE_OK) status = evaluate(h, h->y, h->p, residual, false, diag);
    h->measures = false;
    return status;
}

static dae_status explain_gap(const struct shooting *h, dae_diag *diag)
{
    return diag_set(diag, DAE_ERR_TOLERANCE,
                    "Boundary values: with %d intervals runs magnify errors so much that they do "
                    "not join: a gap of %.3g tolerances is left for %s. Take more nodes "
                    "(intervals, max_intervals), or collocation (method gauss).",
                    h->nodes, h->gap, h->widest);
}

static dae_status solve_nodes(struct shooting *h, dae_diag *diag)
{
    const bvp_equations e = {h,         system_size(h), h->nodes,       ENOUGH,
                             linearise, move,           residual_there, take,
                             weigh,     name_unknown,   name_equation};
    if (e.size == 0) return evaluate(h, h->y, h->p, NULL, false, diag);
    h->q->stats.meshes++;
    dae_status status = bvp_newton(h->q, &e, diag);
    double *residual = status == DAE_OK ? DAE_ARRAY(double, e.size) : NULL;
    if (status == DAE_OK && !residual) status = bvp_no_memory(diag);
    if (status == DAE_OK) status = measure(h, residual, diag);
    if (status == DAE_OK && h->gap > OPEN) status = explain_gap(h, diag);
    dae_free(residual);
    return status;
}

/* The largest difference to what was before, in tolerances. */
static double difference(const struct shooting *h)
{
    const size_t size = row_size(h);
    double most = 0.0;
    for (size_t k = 0; k < all_rows(h); k++)
        if (k % size < (size_t)h->n)
            most = bvp_larger(most, fabs(h->y[k] - h->before[k]) / tolerance_of(h, h->y[k]));
    for (int k = 0; k < h->m; k++)
        most = bvp_larger(most, fabs(h->p[k] - h->before[all_rows(h) + (size_t)k]) /
                                    tolerance_of(h, h->p[k]));
    return most;
}

static void keep_before(struct shooting *h)
{
    for (size_t k = 0; k < all_rows(h); k++) h->before[k] = h->y[k];
    vector_copy(h->m, h->p, h->before + all_rows(h));
}

/* The same nodes with runs of smaller tolerances, until that changes nothing: the last change and
 * the gap, which is what a run is off where it ends, are the error that is told. */
static dae_status tighten(struct shooting *h, dae_diag *diag)
{
    double *error = &h->q->stats.error;
    for (*error = INFINITY; *error > 1.0;) {
        if (TIGHTER * h->rtol < 0.999 * SMALLEST)
            return diag_set(diag, DAE_ERR_TOLERANCE,
                            "Boundary values: runs with rtol = %.3g still change the solution by "
                            "%.3g tolerances. Take more nodes, a larger tolerance, or collocation.",
                            h->rtol, *error);
        keep_before(h);
        h->rtol *= TIGHTER;
        h->atol *= TIGHTER;
        dae_status status = open_runs(h, diag);
        if (status == DAE_OK) status = solve_nodes(h, diag);
        if (status != DAE_OK) return status;
        *error = difference(h) + h->gap;
    }
    return DAE_OK;
}

/* A solution with so many nodes; runs that are too coarse for Newton's method are made finer. */
static dae_status shoot_with(dae_bvp *q, int nodes, dae_bvp_guess guess, dae_diag *diag)
{
    shooting_free(q->shooting);
    q->shooting = NULL;
    bvp_matrix_free(&q->system);
    dae_status status = shooting_new(q, nodes, &q->shooting, diag);
    struct shooting *h = q->shooting;
    if (status == DAE_OK) status = bvp_guess_rows(q, guess, nodes + 1, h->t, h->y, diag);
    if (status == DAE_OK) status = solve_nodes(h, diag);
    if (status == DAE_ERR_CONVERGENCE && TIGHTER * h->rtol >= SMALLEST) {
        h->rtol *= TIGHTER;
        h->atol *= TIGHTER;
        status = open_runs(h, diag);
        if (status == DAE_OK) status = solve_nodes(h, diag);
    }
    return status == DAE_OK ? tighten(h, diag) : status;
}

static bool may_be_nodes(dae_status status)
{
    return status < 0 && status != DAE_ERR_MEMORY && status != DAE_ERR_INTERRUPTED &&
           status != DAE_ERR_UNSUPPORTED && status != DAE_ERR_ARGUMENT &&
           status != DAE_ERR_TOLERANCE;
}

dae_status bvp_shoot(dae_bvp *q, dae_bvp_guess guess, dae_diag *diag)
{
    const double least = SMALLEST / (FINER * TIGHTER);
    int nodes = q->request.intervals;
    if (q->request.rtol < 0.999 * least)
        return diag_set(
            diag, DAE_ERR_TOLERANCE,
            "Boundary values: rtol = %g is below what runs can deliver, %g. Collocation "
            "goes further.",
            q->request.rtol, least);
    dae_status status = DAE_ERR_CONVERGENCE;
    for (int k = 0; k < TRIES && nodes <= q->request.max_intervals;) {
        status = shoot_with(q, nodes, guess, diag);
        const bool open = status == DAE_ERR_TOLERANCE && q->shooting && q->shooting->gap > OPEN;
        if (!open && !may_be_nodes(status)) break;
        k += !open;
        const int most = q->request.max_intervals; /* the last chance of an open joint */
        nodes = !open ? 3 * nodes : nodes < most && 2 * nodes > most ? most : 2 * nodes;
    }
    if (status == DAE_OK) {
        q->stats.intervals = q->shooting->nodes;
        q->stats.unknowns = (int)system_size(q->shooting);
    }
    return status;
}

/* ---- values ---- */

double shooting_parameter(const struct shooting *h, int k)
{
    return h->p[k];
}

double shooting_node(const struct shooting *h, int i)
{
    return i >= 0 && i <= h->nodes ? h->t[i] : (double)NAN;
}

/* The run at the first node, with the parameters of the solution; the problem has its own. */
static dae_status begin_values(struct shooting *h, dae_diag *diag)
{
    kept_values kept = {0};
    if (!model_form_keep(h->q->problem->model, &kept)) return bvp_no_memory(diag);
    dae_status status = bvp_set_parameters(h->q, h->p, diag);
    if (status == DAE_OK) status = start_runs(h, diag);
    dae_status back = model_form_put_back(h->q->problem->model, &kept, NULL);
    if (status == DAE_OK) status = leave_node(h, h->y, diag);
    if (status == DAE_OK) status = head_for(h, 0, diag);
    h->at = status == DAE_OK ? 0 : -1;
    return status == DAE_OK ? back : status;
}

dae_status shooting_at(struct shooting *h, double t, double *values, dae_diag *diag)
{
    dae_status status = DAE_OK;
    dae_sensitivity_free(h->moves); /* nobody asks for them any more */
    h->moves = NULL;
    if (h->at < 0 || t < dae_solver_time(h->run)) status = begin_values(h, diag);
    while (status == DAE_OK && h->at < h->nodes - 1 && t >= h->t[h->at + 1]) {
        status = run_to(h, h->t[h->at + 1], NULL, diag);
        h->at++;
        if (status == DAE_OK) status = leave_node(h, h->y + (size_t)h->at * row_size(h), diag);
        if (status == DAE_OK) status = head_for(h, h->at, diag);
    }
    if (status == DAE_OK && t > dae_solver_time(h->run)) status = run_to(h, t, NULL, diag);
    if (status == DAE_OK) status = dae_solver_variables(h->run, t, values);
    if (status != DAE_OK) h->at = -1;
    return status;
}
