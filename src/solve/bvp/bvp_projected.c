/* Projected collocation [AP91; AP92]: equations of index 2 as they are,
 *
 *     F(t, x, x', a) = 0,   0 = g(t, x),
 *
 * are collocated, constraints too. At a mesh point the polynomial is off g by its order; there
 *
 *     x_i+1 = x_i + h sum_a b_a x'_ia + delta,   g(t_i+1, x_i+1) = 0,   F_x' delta + F_a alpha = 0
 *
 * moves it back along the range of the algebraic coefficient (-F_x'^-1 F_a for F = x' - f(t, x,
 * a)), which gives Gauss points their order 2 s at mesh points again. F_x' and F_a are those at the
 * mesh point, where a is extrapolated; Newton's method leaves out how they change, times delta,
 * which is of the order of the error of a stage.
 *
 * Variables that equations define by states alone, such as s = sin(x), are known with x: g may have
 * them, and they are unknowns of their own at mesh points.
 *
 * Both ends have the form of index 1, where conditions may name any variable. */
#include <math.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"
#include "solve/bvp/bvp_parts.h"
#include "solve/hybrid/hybrid.h"

/* ---- the form ---- */

static const model_mode *mode_of(const dae_bvp *q)
{
    return is_formulated(q->companion) ? q->companion->modes->current : NULL;
}

void bvp_from_user(const dae_bvp *q, const double *user_y, const double *user_yp, double *y,
                   double *yp)
{
    const model_mode *v = mode_of(q);
    if (v) {
        mode_from_user(v, user_y, user_yp, y, yp);
        return;
    }
    vector_copy(q->n, user_y, y);
    vector_copy(q->n, user_yp, yp);
}

/* A solver on equations of index 2: the model as it is written, or a formulation of it. */
static dae_status companion_new(dae_bvp *in, const dae_options *o, dae_diag *diag)
{
    dae_status status = solver_new(in->problem, o, &in->companion, diag);
    if (status != DAE_OK) return status;
    in->companion->wishes.unfolded = true;
    status = dae_solver_start(in->companion, in->request.start, NULL, NULL);
    if (status != DAE_OK) *diag = in->companion->diag;
    return status;
}

static bool is_residual(const dae_solver *s)
{
    const binding *b = &s->bound;
    return s->hybrid && !b->rewritten && !b->array && !b->forms && !b->ode &&
           !s->hybrid->instance->array && !binding_uses_forms(b) && !binding_second_order(b);
}

/* Of which index the equations are, as they are written. */
static int index_of(const dae_bvp *q)
{
    dae_solver *s = q->companion;
    const model_mode *v = s->modes->current;
    if (!v && s->modes->slots_known) v = mode_find(s->modes, s->hybrid->instance->memory);
    return v ? v->plan.index : -1;
}

static dae_status bind_index_2(dae_bvp *in, int index, dae_diag *diag)
{
    const char *const names[] = {index == 2 ? "residual" : "ggl", index == 2 ? NULL : "index2"};
    dae_status status = DAE_ERR_UNSUPPORTED;
    for (int k = 0; k < 2 && names[k] && status == DAE_ERR_UNSUPPORTED; k++) {
        dae_options o = dae_options_default();
        o.method = "radau";
        o.formulation = names[k];
        o.rtol = in->request.rtol;
        o.atol = in->request.atol;
        dae_solver_free(in->companion);
        in->companion = NULL;
        status = companion_new(in, &o, diag);
        if (status == DAE_OK && !is_residual(in->companion))
            status = diag_set(diag, DAE_ERR_UNSUPPORTED,
                              "Boundary values: the equations of index 2 are solved in another "
                              "form, and cannot be collocated as they are.");
        if (status == DAE_OK) return bvp_bind_form(in, &o, diag);
    }
    return status;
}

/* ---- states, constraints ---- */

typedef struct row_scan {
    bool *sloped;      /* by unknown: slopes that were seen; NULL: */
    const dae_bvp *in; /* what is known */
    bool slope;        /* the row has a slope; */
    int others, last; /* and so many unknowns that are neither states nor known, the last of them */
} row_scan;

static void see_leaf(void *context, const expr_node *leaf)
{
    row_scan *scan = context;
    if (leaf->op != EXPR_VARIABLE) return;
    if (scan->sloped) {
        if (leaf->order > 0) scan->sloped[leaf->index] = true;
        return;
    }
    scan->slope = scan->slope || leaf->order > 0;
    if (leaf->order > 0 || scan->in->number[leaf->index] >= 0 || scan->in->known[leaf->index])
        return;
    scan->others++;
    scan->last = leaf->index;
}

/* States are what the equations have slopes of. */
static bool find_states(dae_bvp *in)
{
    bool *sloped = DAE_ARRAY(bool, in->n);
    row_scan scan = {.sloped = sloped};
    bool ok = sloped && graph_leaves(in->form->flat->graph, in->form->residual.e, (size_t)in->n,
                                     see_leaf, &scan);
    in->d = 0;
    for (int i = 0; i < in->n && ok; i++) {
        in->number[i] = sloped[i] ? in->d : -1;
        if (sloped[i]) in->state[in->d++] = i;
    }
    dae_free(sloped);
    return ok;
}

/* Rows without slopes, of states and of what such rows say of states, one after the other: they
 * hold at a point alone. As many as have a new variable define it, the rest are constraints. */
static bool find_constraints(dae_bvp *in, int *count)
{
    bool again = true, ok = true;
    *count = 0;
    while (again && ok) {
        again = false;
        for (int i = 0; i < in->n && ok; i++) {
            row_scan scan = {.in = in};
            if (in->constraint[i]) continue;
            ok = graph_leaves(in->form->flat->graph, &in->form->residual.e[i], 1, see_leaf, &scan);
            if (!ok || scan.slope || scan.others > 1) continue;
            in->constraint[i] = again = true;
            if (scan.others == 1) in->known[scan.last] = true;
            *count += scan.others == 0;
        }
    }
    return ok;
}

static dae_status classify(dae_bvp *in, int *count, dae_diag *diag)
{
    in->constraint = DAE_ARRAY(bool, in->n);
    in->known = DAE_ARRAY(bool, in->n);
    bool ok = in->constraint && in->known && find_states(in) && find_constraints(in, count);
    return ok ? DAE_OK : bvp_no_memory(diag);
}

/* Where unknown i of a form is among the user's; unknown = -1: nowhere. */
static model_place find_user(const dae_bvp *q, int i)
{
    const model_form *f = mode_of(q) ? q->form : NULL;
    if (!f) return (model_place){i, false, 1};
    for (int u = 0; u < q->problem->form.n; u++)
        if (f->place[u].unknown == i && !f->place[u].slope)
            return (model_place){u, false, f->place[u].sign};
    return (model_place){-1, false, 1};
}

static dae_status explain_place(const dae_bvp *q, int i, dae_diag *diag)
{
    return diag_set(
        diag, DAE_ERR_UNSUPPORTED,
        "Boundary values: state %.120s of the equations that are projected, or of those "
        "at the ends, is not a variable of both. Take another method, such as gauss.",
        problem_variable(q->companion->bound.problem, i));
}

/* user: of inner states, the user's unknowns; of the ends' states, inner states. */
static dae_status link(dae_bvp *q, dae_bvp *in, dae_diag *diag)
{
    in->user = DAE_ARRAY(model_place, in->d);
    q->user = DAE_ARRAY(model_place, q->d);
    q->outside = DAE_ARRAY(double, 2 * (size_t)q->problem->form.n);
    if (!in->user || !q->user || !q->outside) return bvp_no_memory(diag);
    for (int k = 0; k < in->d; k++) {
        in->user[k] = find_user(in, in->state[k]);
        const int u = in->user[k].unknown;
        const bool there = u >= 0 && (!mode_of(q) || q->form->place[u].unknown >= 0);
        if (!there) return explain_place(in, in->state[k], diag);
    }
    for (int k = 0; k < q->d; k++) {
        const model_place at = find_user(q, q->state[k]);
        q->user[k] = (model_place){-1, false, 1};
        for (int j = 0; j < in->d && at.unknown >= 0; j++)
            if (in->user[j].unknown == at.unknown)
                q->user[k] = (model_place){j, false, (signed char)(at.sign * in->user[j].sign)};
        if (q->user[k].unknown < 0) return explain_place(q, q->state[k], diag);
    }
    return DAE_OK;
}

/* ---- the projection ---- */

/* Derivatives of the inner equations at q->y, q->yp. */
static dae_status evaluate_at(dae_bvp *in, double t, double h, dae_diag *diag)
{
    iteration_status status =
        iteration_evaluate(&in->matrix, t, in->y, in->yp, 1.0 / h, h, in->weights, NULL);
    if (status == ITERATION_MEMORY) return bvp_no_memory(diag);
    return status == ITERATION_OK
               ? DAE_OK
               : diag_set(diag, DAE_ERR_EVALUATION,
                          "Boundary values: the derivatives of the equations cannot be evaluated "
                          "at t = %.9g. Give another guess.",
                          t);
}

/* Rows F_x' delta + F_a alpha, and g, from `row` on: entries, those of delta, alpha and of what is
 * known in columns from w on, of x from x on; what `of` has of the first is added to the residual
 * (NULL: none). */
static bool put_rows(dae_bvp *in, size_t row, size_t w, size_t x, const double *of,
                     double *residual, bool with_matrix)
{
    const jacobian *j = &in->matrix.jac;
    bool ok = true;
    for (int c = 0; c < in->n && ok; c++) {
        matrix_column column = layout_column(&j->layout, c);
        const int k = in->number[c];
        for (int e = 0; e < column.count && ok; e++) {
            const size_t at = column.first + (size_t)e;
            const size_t r = (size_t)column_row(&column, e);
            const bool holds = in->constraint[r];
            const double value = holds || k < 0 ? j->dfdy[at] : j->dfdyp[at];
            if (holds ? k < 0 && !in->known[c] : in->known[c]) continue;
            if (residual && !holds) residual[row + r] += value * of[c];
            if (with_matrix)
                ok = bvp_put(in->sink, row + r, holds && k >= 0 ? x + (size_t)k : w + (size_t)c,
                             value);
        }
    }
    return ok;
}

/* How constraints move with the unknown parameters. */
static bool put_parameters(dae_bvp *in, double t, size_t row, const bvp_solution *s)
{
    tape_inputs at = {.time = t,
                      .values = {in->y, in->yp, NULL, NULL},
                      .parameters = in->instance->parameters,
                      .memory = in->instance->memory};
    bool ok = true;
    if (in->m > 0) model_tangent_at(in->rows, &at);
    for (int k = 0; k < in->m && ok; k++) {
        model_tangent_apply(in->rows, NULL, NULL, directions_moved(&in->directions, k), 0.0,
                            in->work);
        for (int r = 0; r < in->n && ok; r++)
            if (in->constraint[r])
                ok = bvp_put(in->sink, row + (size_t)r, bvp_at_p(in, s->intervals) + (size_t)k,
                             in->work[r]);
    }
    return ok;
}

dae_status bvp_add_projection(dae_bvp *in, int i, size_t row, const bvp_solution *s,
                              double *residual, bool with_matrix, dae_diag *diag)
{
    const double t = s->t[i + 1];
    const size_t x = bvp_at_x(in, i + 1), w = bvp_at_v(in, i, in->method->stages);
    evaluator *e = &in->companion->bound.eval;
    bvp_on_polynomial(in, s, i, 1.0, in->work, in->f);
    bvp_fill(in, s->x + x, in->f, in->y, in->yp);
    for (int c = 0; c < in->n; c++)
        if (in->known[c]) in->y[c] = s->x[w + (size_t)c];
    eval_status found =
        evaluate_residual(e, t, in->y, in->yp, residual + row, &e->stats->residuals);
    if (found != EVAL_OK) return evaluator_report(e, found, diag);
    dae_status status = evaluate_at(in, t, s->t[i + 1] - s->t[i], diag);
    if (status != DAE_OK) return status;
    for (int r = 0; r < in->n; r++)
        if (!in->constraint[r]) residual[row + (size_t)r] = 0.0;
    bool ok = put_rows(in, row, w, x, s->x + w, residual, with_matrix);
    if (ok && with_matrix) ok = put_parameters(in, t, row, s);
    return ok ? DAE_OK : bvp_no_memory(diag);
}

void bvp_start_projections(dae_bvp *in, const bvp_solution *s)
{
    for (int i = 0; i < s->intervals && in->layout.extra > 0; i++) {
        double *w = s->x + bvp_at_v(in, i, in->method->stages);
        bvp_on_polynomial(in, s, i, 1.0, in->work, in->f);
        for (int c = 0; c < in->n; c++) w[c] = in->known[c] ? in->f[c] : 0.0;
    }
}

/* Whether F_x' delta + F_a alpha = r, g_x delta = s has one solution where the run begins: just
 * then the constraints, differentiated once, give an index of 1. */
static dae_status check_index(dae_bvp *in, int constraints, dae_diag *diag)
{
    const binding *b = &in->companion->bound;
    vector_copy(in->n, b->y, in->y);
    vector_copy(in->n, b->yp, in->yp);
    dae_status status =
        evaluate_at(in, in->request.start, in->request.end - in->request.start, diag);
    if (status != DAE_OK) return status;
    const size_t x = (size_t)in->n; /* of its own, that states are tied to */
    bool ok = put_rows(in, 0, 0, x, NULL, NULL, true);
    for (int k = 0; k < in->d && ok; k++)
        ok = bvp_put(&in->system, x + (size_t)k, x + (size_t)k, 1.0) &&
             bvp_put(&in->system, x + (size_t)k, (size_t)in->state[k], -1.0);
    linear_status solved = ok ? bvp_finish_matrix(in, in->n + in->d) : LINEAR_MEMORY;
    const int column = solved == LINEAR_SINGULAR ? in->system.solver->singular_column : -1;
    bvp_matrix_free(&in->system);
    if (solved == LINEAR_OK && constraints > 0) return DAE_OK;
    if (solved == LINEAR_MEMORY) return bvp_no_memory(diag);
    return diag_set(diag, DAE_ERR_UNSUPPORTED,
                    "Boundary values: the model has no form F(t, x, x', a) = 0, 0 = g(t, x) of "
                    "index 2 that could be projected: with %d constraint%s on states alone, %s is "
                    "not determined. Take another method, such as gauss.",
                    constraints, constraints == 1 ? "" : "s",
                    column >= 0 && column < in->n ? problem_variable(b->problem, column)
                                                  : "a variable");
}

/* ---- both forms ---- */

/* Other states where those at hand do not hold any more. */
static void choose_states(dae_bvp *q, double t)
{
    dae_solver *c = q->finisher;
    const double *slopes = q->outside + q->problem->form.n;
    model_instance *m = c->hybrid->instance;
    if (!m->selection ||
        model_instance_select(m, t, c->bound.y, c->bound.yp, false) == SELECTION_KEPT)
        return;
    c->hybrid->opening.stands = c->hybrid->at_start = false;
    c->run.t = c->run.t_old = c->run.t_new = t;
    if (bind_mode_at_hand(c, t) != DAE_OK) return;
    values_from_user(c, q->outside, slopes);
    (void)hybrid_begin_again(c); /* where that fails the values stay as they are */
}

bool bvp_outward(dae_bvp *q, double t, double h, const double *y, const double *yp, double *out,
                 double *out_p)
{
    dae_solver *c = q->finisher;
    double *slopes = q->outside + q->problem->form.n;
    values_to_user(q->inner->companion, t, y, yp, q->outside, slopes);
    values_from_user(c, q->outside, slopes);
    choose_states(q, t);
    vector_copy(q->n, c->bound.y, out);
    vector_copy(q->n, c->bound.yp, out_p);
    for (int i = 0; i < q->n; i++) q->weights[i] = q->request.rtol * fabs(out[i]) + q->request.atol;
    return initializer_project(c->bound.init, t, h, c->bound.kinds, q->weights, out, out_p) ==
           EVAL_OK;
}

void bvp_inner_slopes(dae_bvp *q, double t, const double *y, const double *yp, double *slope)
{
    const dae_bvp *in = q->inner;
    double *slopes = q->outside + q->problem->form.n;
    values_to_user(q->finisher, t, y, yp, q->outside, slopes);
    for (int k = 0; k < in->d; k++)
        slope[in->state[k]] = in->user[k].sign * slopes[in->user[k].unknown];
}

/* What completes values between the ends: as the solver at the ends, with states that it chooses
 * where it is asked. */
static dae_status take_finisher(dae_bvp *q, dae_diag *diag)
{
    dae_options o = dae_options_default();
    o.rtol = q->request.rtol;
    o.atol = q->request.atol;
    dae_status status = lead_companion_new(q->problem, &o, &q->finisher, diag);
    if (status == DAE_OK) status = dae_solver_start(q->finisher, q->request.start, NULL, NULL);
    if (status == DAE_OK && q->finisher->bound.n != q->n) status = DAE_ERR_UNSUPPORTED;
    if (status != DAE_OK && q->finisher && status != DAE_ERR_MEMORY) *diag = q->finisher->diag;
    return status;
}

/* Inner state k at the start is what the ends' form has in its place. */
static bool link_start(dae_bvp *q, int k, size_t row, const bvp_solution *s, double *residual,
                       bool with_matrix)
{
    const dae_bvp *in = q->inner;
    const model_place user = in->user[k];
    const bool written = !mode_of(q);
    const model_place at =
        written ? (model_place){user.unknown, false, 1} : q->form->place[user.unknown];
    const int state = q->number[at.unknown];
    const size_t own = bvp_at_x(q, 0) + (size_t)k;
    const size_t other =
        state >= 0 && !at.slope ? (size_t)state : (size_t)q->d + (size_t)at.unknown;
    const double sign = at.sign * user.sign;
    residual[row] = s->x[own] - sign * s->x[other];
    return !with_matrix || (bvp_put(q->sink, row, own, 1.0) && bvp_put(q->sink, row, other, -sign));
}

/* State k of the ends' form at the end is an inner one. */
static bool link_end(dae_bvp *q, int k, size_t row, const bvp_solution *s, double *residual,
                     bool with_matrix)
{
    const size_t own = bvp_at_right(q, s->intervals) + (size_t)k;
    const size_t other = bvp_at_x(q, s->intervals) + (size_t)q->user[k].unknown;
    const double sign = q->user[k].sign;
    residual[row] = s->x[own] - sign * s->x[other];
    return !with_matrix || (bvp_put(q->sink, row, own, 1.0) && bvp_put(q->sink, row, other, -sign));
}

dae_status bvp_link_ends(dae_bvp *q, bool right, size_t *row, const bvp_solution *s,
                         double *residual, bool with_matrix, dae_diag *diag)
{
    const int count = right ? q->d : q->inner->d;
    bool ok = true;
    for (int k = 0; k < count && ok; k++, (*row)++)
        ok = right ? link_end(q, k, *row, s, residual, with_matrix)
                   : link_start(q, k, *row, s, residual, with_matrix);
    return ok ? DAE_OK : bvp_no_memory(diag);
}

dae_status bvp_open_inner(dae_bvp *q, dae_diag *diag)
{
    const int index = index_of(q);
    int constraints = 0;
    if (index < 2)
        return diag_set(diag, DAE_ERR_UNSUPPORTED,
                        "Boundary values: the model has index %d; projected collocation is for "
                        "constraints, index 2 and above. Take method gauss or radau.",
                        index);
    dae_bvp *in = DAE_NEW(dae_bvp);
    if (!in) return bvp_no_memory(diag);
    q->inner = in;
    in->problem = q->problem;
    in->request = q->request;
    in->m = q->m;
    in->method = q->method;
    dae_status status = bind_index_2(in, index, diag);
    if (status == DAE_OK) status = classify(in, &constraints, diag);
    if (status == DAE_OK) status = check_index(in, constraints, diag);
    if (status == DAE_OK) status = link(q, in, diag);
    if (status == DAE_OK) status = take_finisher(q, diag);
    if (status != DAE_OK) return status;
    q->layout = in->layout = (bvp_layout){q->d + q->n, in->d, in->n, in->n, q->d + q->n};
    in->sink = &q->system;
    return DAE_OK;
}
