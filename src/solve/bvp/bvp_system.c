/* The equations of collocation and their sparse matrix. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"
#include "solve/bvp/bvp_parts.h"

dae_status bvp_no_memory(dae_diag *diag)
{
    return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for boundary values.");
}

void bvp_fill(const dae_bvp *q, const double *x, const double *v, double *y, double *yp)
{
    for (int i = 0; i < q->n; i++) {
        bool state = q->number[i] >= 0;
        y[i] = state ? x[q->number[i]] : v[i];
        yp[i] = state ? v[i] : 0.0;
    }
}

static void take_parameters(const model_form *f, model_instance *m)
{
    memcpy(m->parameters, f->parameters, f->flat->parameter_count * sizeof *f->parameters);
    model_instance_prepare(m);
}

dae_status bvp_set_parameters(dae_bvp *q, const double *p, dae_diag *diag)
{
    const model_form *f = q->problem->model;
    for (int k = 0; k < q->m; k++) {
        dae_status status =
            dae_problem_set_parameter(q->problem, q->request.unknown[k], p[k], diag);
        if (status != DAE_OK) return status;
    }
    for (dae_bvp *x = q->m > 0 ? q : NULL; x; x = x->inner) {
        take_parameters(f, x->instance);
        directions_start(&x->directions, x->instance);
    }
    if (q->m > 0 && q->finisher) take_parameters(f, q->finisher->hybrid->instance);
    return DAE_OK;
}

/* ---- the matrix: entries, then a layout ---- */

static void matrix_release(bvp_matrix *m)
{
    linear_free(m->solver);
    layout_free(&m->layout);
    dae_free_all(m->place, m->values);
    m->solver = NULL;
    m->place = NULL;
    m->values = NULL;
}

void bvp_matrix_free(bvp_matrix *m)
{
    matrix_release(m);
    dae_free_all(m->row, m->column, m->entry);
    *m = (bvp_matrix){0};
}

bool bvp_put(bvp_matrix *m, size_t row, size_t column, double value)
{
    if (!dae_grow(&m->row, &m->row_room, m->count + 1, sizeof *m->row) ||
        !dae_grow(&m->column, &m->column_room, m->count + 1, sizeof *m->column) ||
        !dae_grow(&m->entry, &m->entry_room, m->count + 1, sizeof *m->entry))
        return false;
    m->row[m->count] = (int)row;
    m->column[m->count] = (int)column;
    m->entry[m->count++] = value;
    return true;
}

/* order = entries sorted by key, those of one key as they were in `from` (NULL: as they came). */
static void sort_by(size_t count, int keys, const int *key, const size_t *from, size_t *first,
                    size_t *order)
{
    memset(first, 0, ((size_t)keys + 1) * sizeof *first);
    for (size_t k = 0; k < count; k++) first[key[k] + 1]++;
    for (int j = 0; j < keys; j++) first[j + 1] += first[j];
    for (size_t k = 0; k < count; k++) {
        size_t e = from ? from[k] : k;
        order[first[key[e]]++] = e;
    }
}

/* Columns by ascending rows, entries at one place as one; where each entry goes. */
static void compress(bvp_matrix *m, int size, const size_t *order, int *colptr, int *rowind)
{
    int used = 0, column = -1;
    for (size_t k = 0; k < m->count; k++) {
        const size_t e = order[k];
        bool same = m->column[e] == column && rowind[used - 1] == m->row[e];
        while (column < m->column[e]) colptr[++column] = used;
        if (!same) rowind[used++] = m->row[e];
        m->place[e] = (size_t)used - 1;
    }
    while (column < size) colptr[++column] = used;
}

static bool lay_out(bvp_matrix *m, int size)
{
    size_t *first = DAE_ARRAY(size_t, size + 1), *by_row = DAE_ARRAY(size_t, m->count);
    size_t *order = DAE_ARRAY(size_t, m->count);
    int *colptr = DAE_ARRAY(int, size + 2), *rowind = DAE_ARRAY(int, m->count + 1);
    m->place = DAE_ARRAY(size_t, m->count);
    bool ok = first && by_row && order && colptr && rowind && m->place;
    if (ok) {
        sort_by(m->count, size, m->row, NULL, first, by_row);
        sort_by(m->count, size, m->column, by_row, first, order);
        compress(m, size, order, colptr, rowind);
        ok = layout_sparse(&m->layout, size, colptr, rowind);
    }
    dae_free_all(first, by_row, order, colptr, rowind);
    if (ok) m->values = DAE_ARRAY(double, m->layout.count);
    return ok && m->values;
}

linear_status bvp_finish_matrix(dae_bvp *q, int size)
{
    bvp_matrix *m = &q->system;
    if (m->place && m->layout.n != size) matrix_release(m);
    bool fresh = !m->place;
    if (fresh && !lay_out(m, size)) {
        matrix_release(m);
        return LINEAR_MEMORY;
    }
    memset(m->values, 0, m->layout.count * sizeof *m->values);
    for (size_t k = 0; k < m->count; k++) m->values[m->place[k]] += m->entry[k];
    if (!m->solver) m->solver = sparse_analyse_values(&m->layout, m->values);
    q->stats.factorisations++;
    return m->solver ? linear_factor(m->solver, m->values) : LINEAR_MEMORY;
}

/* ---- points ---- */

/* Where a point's values stand in u: x = u[x] + sum_b h A_ab u[v_b], V = u[v]. */
typedef struct bvp_place {
    double t, h;
    size_t row;      /* of its first equation */
    size_t x, v;     /* in u */
    int interval, a; /* a < 0: an end, where x stands as it is */
} bvp_place;

/* Entries of the matrix at q->y, q->yp: F by the unknown parameters. */
static bool put_parameters(dae_bvp *q, const bvp_place *p, const bvp_solution *s)
{
    const model_instance *m = q->instance;
    tape_inputs at = {.time = p->t,
                      .values = {q->y, q->yp, NULL, NULL},
                      .parameters = m->parameters,
                      .memory = m->memory};
    if (q->m == 0) return true;
    model_tangent_at(q->rows, &at);
    bool ok = true;
    for (int k = 0; k < q->m && ok; k++) {
        vector_zero(q->n, q->work);
        model_tangent_apply(q->rows, NULL, NULL, directions_moved(&q->directions, k), 0.0, q->work);
        for (int i = 0; i < q->n && ok; i++)
            ok = bvp_put(q->sink, p->row + (size_t)i, bvp_at_p(q, s->intervals) + (size_t)k,
                         q->work[i]);
    }
    return ok;
}

/* One entry dF_i/dy_j and dF_i/dy'_j of the point. */
static bool put_entry(dae_bvp *q, const bvp_place *p, int i, int j, double fy, double fyp)
{
    bvp_matrix *m = q->sink;
    const size_t row = p->row + (size_t)i;
    const int k = q->number[j], stages = q->method->stages;
    if (k < 0) return bvp_put(m, row, p->v + (size_t)j, fy);
    bool ok = bvp_put(m, row, p->v + (size_t)j, fyp) && bvp_put(m, row, p->x + (size_t)k, fy);
    for (int b = 0; b < stages && p->a >= 0 && ok; b++)
        ok = bvp_put(m, row, bvp_at_v(q, p->interval, b) + (size_t)j,
                     p->h * q->method->A[p->a * stages + b] * fy);
    return ok;
}

static dae_status put_point(dae_bvp *q, const bvp_place *p, const bvp_solution *s, dae_diag *diag)
{
    const double h = s->t[s->intervals] - s->t[0];
    iteration_status status =
        iteration_evaluate(&q->matrix, p->t, q->y, q->yp, 1.0 / h, h, q->weights, NULL);
    if (status == ITERATION_MEMORY) return bvp_no_memory(diag);
    if (status != ITERATION_OK)
        return diag_set(diag, DAE_ERR_EVALUATION,
                        "Boundary values: the derivatives of the equations cannot be evaluated at "
                        "t = %.9g. Give another guess.",
                        p->t);
    const jacobian *j = &q->matrix.jac;
    bool ok = true;
    for (int c = 0; c < q->n; c++) {
        matrix_column column = layout_column(&j->layout, c);
        for (int k = 0; k < column.count && ok; k++) {
            const size_t e = column.first + (size_t)k;
            ok = put_entry(q, p, column_row(&column, k), c, j->dfdy[e], j->dfdyp[e]);
        }
    }
    return ok && put_parameters(q, p, s) ? DAE_OK : bvp_no_memory(diag);
}

/* Values of the point into q->y and q->yp. */
static void fill_point(dae_bvp *q, const bvp_place *p, const bvp_solution *s)
{
    const int stages = q->method->stages;
    bvp_fill(q, s->x + p->x, s->x + p->v, q->y, q->yp);
    for (int k = 0; k < q->d && p->a >= 0; k++)
        for (int b = 0; b < stages; b++)
            q->y[q->state[k]] += p->h * q->method->A[p->a * stages + b] *
                                 s->x[bvp_at_v(q, p->interval, b) + (size_t)q->state[k]];
}

static dae_status add_point(dae_bvp *q, const bvp_place *p, const bvp_solution *s, double *residual,
                            bool with_matrix, dae_diag *diag)
{
    evaluator *e = &q->companion->bound.eval;
    fill_point(q, p, s);
    eval_status status =
        evaluate_residual(e, p->t, q->y, q->yp, residual + p->row, &e->stats->residuals);
    if (status != EVAL_OK) return evaluator_report(e, status, diag);
    return with_matrix ? put_point(q, p, s, diag) : DAE_OK;
}

/* ---- conditions ---- */

/* Derivatives of condition i by x, V and parameters. */
static bool put_condition(dae_bvp *q, const bvp_conditions *c, int i, const bvp_place *p,
                          const bvp_solution *s)
{
    bvp_matrix *m = q->sink;
    const size_t row = p->row + (size_t)i;
    bool ok = true;
    vector_zero(q->n, q->work);
    for (int j = 0; j < q->n && ok; j++) {
        const int k = q->number[j];
        q->work[j] = 1.0;
        double value = model_tangent_row(c->tangent, i, q->work, NULL, NULL, 0.0);
        double slope = k < 0 ? 0.0 : model_tangent_row(c->tangent, i, NULL, q->work, NULL, 0.0);
        q->work[j] = 0.0;
        ok = bvp_put(m, row, p->v + (size_t)j, k < 0 ? value : slope);
        if (ok && k >= 0) ok = bvp_put(m, row, p->x + (size_t)k, value);
    }
    for (int k = 0; k < q->m && ok; k++)
        ok = bvp_put(
            m, row, bvp_at_p(q, s->intervals) + (size_t)k,
            model_tangent_row(c->tangent, i, NULL, NULL, directions_moved(&q->directions, k), 0.0));
    return ok;
}

static dae_status add_conditions(dae_bvp *q, bvp_conditions *c, const bvp_place *p,
                                 const bvp_solution *s, double *residual, bool with_matrix,
                                 dae_diag *diag)
{
    const model_instance *m = q->instance;
    fill_point(q, p, s);
    tape_inputs at = {.time = p->t,
                      .values = {q->y, q->yp, NULL, NULL},
                      .parameters = m->parameters,
                      .memory = m->memory};
    code_prepare(&c->code, &at);
    code_run(&c->code, &at, residual + p->row);
    for (int i = 0; i < c->count; i++)
        if (!isfinite(residual[p->row + (size_t)i]))
            return diag_set(diag, DAE_ERR_EVALUATION,
                            "Boundary values: the condition %s has no finite value. Give another "
                            "guess.",
                            c->names[i]);
    if (!with_matrix) return DAE_OK;
    model_tangent_at(c->tangent, &at);
    bool ok = true;
    for (int i = 0; i < c->count && ok; i++) ok = put_condition(q, c, i, p, s);
    return ok ? DAE_OK : bvp_no_memory(diag);
}

/* ---- all of it ---- */

/* x_i+1 = x_i + h sum b_a x'_a */
static bool add_continuity(dae_bvp *q, int i, size_t row, const bvp_solution *s, double *residual,
                           bool with_matrix)
{
    const double h = s->t[i + 1] - s->t[i];
    const size_t x = bvp_at_x(q, i), next = bvp_at_x(q, i + 1);
    bool ok = true;
    for (int k = 0; k < q->d && ok; k++) {
        const size_t r = row + (size_t)k;
        residual[r] = s->x[next + (size_t)k] - s->x[x + (size_t)k];
        if (q->layout.extra > 0) { /* the projection */
            const size_t w = bvp_at_v(q, i, q->method->stages) + (size_t)q->state[k];
            residual[r] -= s->x[w];
            if (with_matrix) ok = bvp_put(q->sink, r, w, -1.0);
        }
        if (with_matrix && ok)
            ok = bvp_put(q->sink, r, next + (size_t)k, 1.0) &&
                 bvp_put(q->sink, r, x + (size_t)k, -1.0);
        for (int a = 0; a < q->method->stages && ok; a++) {
            const size_t v = bvp_at_v(q, i, a) + (size_t)q->state[k];
            residual[r] -= h * q->method->b[a] * s->x[v];
            if (with_matrix) ok = bvp_put(q->sink, r, v, -h * q->method->b[a]);
        }
    }
    return ok;
}

static dae_status add_interval(dae_bvp *q, int i, size_t row, const bvp_solution *s,
                               double *residual, bool with_matrix, dae_diag *diag)
{
    const double h = s->t[i + 1] - s->t[i];
    dae_status status = DAE_OK;
    for (int a = 0; a < q->method->stages && status == DAE_OK; a++) {
        bvp_place p = {
            s->t[i] + q->method->nodes[a] * h, h, row, bvp_at_x(q, i), bvp_at_v(q, i, a), i, a};
        status = add_point(q, &p, s, residual, with_matrix, diag);
        row += (size_t)q->n;
    }
    if (status == DAE_OK && !add_continuity(q, i, row, s, residual, with_matrix))
        status = bvp_no_memory(diag);
    if (status != DAE_OK || q->layout.extra == 0) return status;
    return bvp_add_projection(q, i, row + (size_t)q->d, s, residual, with_matrix, diag);
}

static dae_status explain_singular(dae_bvp *q, const bvp_solution *s, dae_diag *diag)
{
    char name[200];
    int column = q->system.solver->singular_column;
    bvp_name_unknown(q, s, column < 0 ? 0 : (size_t)column, name, sizeof name);
    return diag_set(
        diag, DAE_ERR_SINGULAR,
        "Boundary values: equations and conditions, linearised at the guess, do not "
        "determine %s. A condition may be missing at one end and be there twice at the "
        "other, or not depend on what is unknown; or the guess is where solutions meet.",
        name);
}

/* Rows of one end: conditions, then F. */
static dae_status add_end(dae_bvp *q, bool right, size_t row, const bvp_solution *s,
                          double *residual, bool with_matrix, dae_diag *diag)
{
    const int last = s->intervals;
    bvp_conditions *c = right ? &q->right : &q->left;
    const size_t first = right ? bvp_at_right(q, last) : 0; /* V; its own states before them */
    bvp_place p = {s->t[right ? last : 0],
                   0.0,
                   row,
                   q->inner ? first : bvp_at_x(q, right ? last : 0),
                   q->inner ? first + (size_t)q->d : first,
                   0,
                   -1};
    dae_status status = add_conditions(q, c, &p, s, residual, with_matrix, diag);
    p.row += (size_t)c->count;
    return status == DAE_OK ? add_point(q, &p, s, residual, with_matrix, diag) : status;
}

dae_status bvp_residual(dae_bvp *q, const bvp_solution *s, double *residual, bool with_matrix,
                        dae_diag *diag)
{
    dae_bvp *in = bvp_inner(q);
    size_t row = (size_t)(q->left.count + q->n);
    if (with_matrix) q->system.count = 0;
    dae_status status = bvp_set_parameters(q, s->x + bvp_at_p(q, s->intervals), diag);
    if (status == DAE_OK) status = add_end(q, false, 0, s, residual, with_matrix, diag);
    if (status == DAE_OK && q->inner)
        status = bvp_link_ends(q, false, &row, s, residual, with_matrix, diag);
    for (int i = 0; i < s->intervals && status == DAE_OK; i++, row += bvp_block(q))
        status = add_interval(in, i, row, s, residual, with_matrix, diag);
    if (status == DAE_OK && q->inner)
        status = bvp_link_ends(q, true, &row, s, residual, with_matrix, diag);
    if (status == DAE_OK) status = add_end(q, true, row, s, residual, with_matrix, diag);
    if (status != DAE_OK || !with_matrix) return status;
    switch (bvp_finish_matrix(q, (int)bvp_size(q, s->intervals))) {
    case LINEAR_OK: return DAE_OK;
    case LINEAR_SINGULAR: return explain_singular(q, s, diag);
    default: return bvp_no_memory(diag);
    }
}

/* ---- names ---- */

/* Number `at` among states and then V of a form. */
static void name_value(const dae_bvp *q, size_t at, double t, char *text, size_t size)
{
    const size_t n = (size_t)q->n, d = (size_t)q->d;
    const bool slope = at >= d && q->number[(at - d) % n] >= 0;
    const int unknown = at < d ? q->state[at] : (int)((at - d) % n);
    snprintf(text, size, slope ? "der(%.120s) at t = %.6g" : "%.120s at t = %.6g",
             problem_variable(q->companion->bound.problem, unknown), t);
}

void bvp_name_unknown(const dae_bvp *q, const bvp_solution *s, size_t k, char *text, size_t size)
{
    const dae_bvp *in = q->inner ? q->inner : q;
    const size_t first = bvp_at_x(q, 0), right = bvp_at_right(q, s->intervals);
    const size_t before = q->inner ? 0 : (size_t)q->d; /* V alone stand there */
    if (k >= bvp_at_p(q, s->intervals))
        snprintf(text, size, "parameter %.150s", q->request.unknown[k - bvp_at_p(q, s->intervals)]);
    else if (k < first || k >= right)
        name_value(q, before + (k < first ? k : k - right), s->t[k < first ? 0 : s->intervals],
                   text, size);
    else
        name_value(in, (k - first) % bvp_block(q), s->t[(k - first) / bvp_block(q)], text, size);
}

static void name_row(const dae_bvp *q, size_t k, double t, char *text, size_t size)
{
    snprintf(text, size, "%.120s at t = %.6g",
             problem_equation(q->companion->bound.problem, (int)(k % (size_t)q->n)), t);
}

/* Row `at` of an interval, or what links the states of two forms at an end. */
static void name_inner_row(const dae_bvp *in, size_t at, double t, double next, char *text,
                           size_t size)
{
    const size_t stages = (size_t)(in->method->stages * in->n), d = (size_t)in->d;
    if (at >= stages && at < stages + d)
        snprintf(text, size, "that which joins %.120s at t = %.6g",
                 problem_variable(in->companion->bound.problem, in->state[at - stages]), next);
    else
        name_row(in, at < stages ? at : at - stages - d, at < stages ? t : next, text, size);
}

void bvp_name_equation(const dae_bvp *q, const bvp_solution *s, size_t k, char *text, size_t size)
{
    const dae_bvp *in = q->inner ? q->inner : q;
    const size_t left = (size_t)q->left.count, n = (size_t)q->n;
    const size_t first = left + n + (q->inner ? (size_t)in->d : 0);
    const size_t last = first + (size_t)s->intervals * bvp_block(q);
    const size_t right = last + (q->inner ? (size_t)q->d : 0), end = right + (size_t)q->right.count;
    if (k < left || (k >= right && k < end)) {
        snprintf(text, size, "the condition %.120s at the %s",
                 k < left ? q->left.names[k] : q->right.names[k - right],
                 k < left ? "start" : "end");
    } else if (k < left + n || k >= end) {
        name_row(q, k < left + n ? k - left : k - end, s->t[k < left + n ? 0 : s->intervals], text,
                 size);
    } else if (k < first || k >= last) {
        snprintf(text, size, "that which joins both forms at the %s", k < first ? "start" : "end");
    } else {
        const size_t i = (k - first) / bvp_block(q);
        name_inner_row(in, (k - first) % bvp_block(q), s->t[i], s->t[i + 1], text, size);
    }
}
