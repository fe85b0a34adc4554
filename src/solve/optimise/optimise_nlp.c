/* One mesh as a problem with many unknowns and equations, with exact sparse derivatives. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/interrupt.h"
#include "base/memory.h"
#include "base/vector.h"
#include "solve/optimise/optimise_parts.h"

/* What ripples of controls may cost, in tolerances of the objective. */
static const double SMOOTHING = 1.0;

dae_status opt_no_memory(dae_diag *diag)
{
    return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for an optimisation.");
}

/* ---- rows ---- */

/* Rows of the start: conditions; F, and controls on the polynomial behind it. */
static int start_rows(const dae_optimum *q)
{
    return q->start.count + (q->whole_start ? q->rows + q->c : 0);
}
static int point_rows(const dae_optimum *q)
{
    return q->rows + q->path.count;
}
static int first_of_point(const dae_optimum *q, int point)
{
    return start_rows(q) + (point - 1) * point_rows(q);
}
static int first_link(const dae_optimum *q, int intervals)
{
    return first_of_point(q, opt_points(q, intervals));
}
static int first_end(const dae_optimum *q, int intervals)
{
    return first_link(q, intervals) + intervals * q->method->stages * q->d;
}

/* "equation 4 (m.mo:7) at t = 0.3" */
static void name_row(const dae_optimum *q, const opt_solution *s, int row, char *text, size_t size,
                     double *t)
{
    const dae_problem *b = q->companion->bound.problem;
    const int links = first_link(q, s->intervals), ends = first_end(q, s->intervals);
    *t = s->t[0];
    if (row < q->start.count) {
        snprintf(text, size, "%.150s, at the start", q->start.list[row].text);
    } else if (row < start_rows(q)) {
        row -= q->start.count;
        snprintf(text, size, "%.150s at the start",
                 row < q->rows ? problem_equation(b, row) : "a control");
    } else if (row < links) {
        row -= start_rows(q);
        *t = opt_time(q, s, 1 + row / point_rows(q));
        row %= point_rows(q);
        snprintf(text, size, "%.150s at t = %.9g",
                 row < q->rows ? problem_equation(b, row) : q->path.list[row - q->rows].text, *t);
    } else if (row < ends) {
        row -= links;
        *t = opt_time(q, s, 1 + row / q->d);
        snprintf(text, size, "the way of %.150s up to t = %.9g",
                 problem_variable(b, q->state[row % q->d]), *t);
    } else {
        *t = s->t[s->intervals];
        snprintf(text, size, "%.150s, at the end", q->end.list[row - ends].text);
    }
}

/* ---- numbers of a point ---- */

/* The point's numbers into q->local, in their own units. */
static void take_point(const opt_nlp *p, const double *x, int point)
{
    const dae_optimum *q = p->q;
    const int block = opt_block(q);
    const double *from = x + opt_at(q, point), *back = x + opt_at_p(q, p->mesh->intervals);
    for (int j = 0; j < block; j++) q->local[j] = from[j] * q->scale[j];
    for (int j = 0; j < q->m; j++) q->local[block + j] = back[j] * q->scale[block + j];
}

static int global_column(const opt_nlp *p, int point, int column)
{
    const int block = opt_block(p->q);
    return column < block ? (int)opt_at(p->q, point) + column
                          : (int)opt_at_p(p->q, p->mesh->intervals) + column - block;
}

/* h b of a point: its weight in integrals. */
static double weight_of(const opt_nlp *p, int point)
{
    const collocation *m = p->q->method;
    const int i = (point - 1) / m->stages;
    return (p->mesh->t[i + 1] - p->mesh->t[i]) * m->b[(point - 1) % m->stages];
}

static int last_point(const opt_nlp *p)
{
    return opt_points(p->q, p->mesh->intervals) - 1;
}
static double sign_of(const dae_optimum *q)
{
    return q->request.maximise ? -1.0 : 1.0;
}
static bool has_integral(const dae_optimum *q)
{
    return q->integral != EXPR_NONE;
}
static bool has_objective(const dae_optimum *q)
{
    return q->objective != EXPR_NONE;
}

/* Entries of a matrix: their number, their places, or their values, in one order. */
typedef struct entry_writer {
    int *row, *column; /* NULL: count only, or values */
    double *value;     /* NULL: places */
    size_t count;
} entry_writer;

/* ---- controls without ripples ---- */

static void put(entry_writer *w, int row, int column, double value)
{
    if (w->row) {
        w->row[w->count] = row;
        w->column[w->count] = column;
    }
    if (w->value) w->value[w->count] = value;
    w->count++;
}

/* On singular arcs the objective hardly sees ripples of a control between points, and a mesh
 * rewards them by its own errors. So the search pays, beside the objective, as in [PR21],
 *
 *     smoothing sum_i h_i/(t_N - t_0) sum_k c_ik^2,    c_ik = sum_a w_a u_ika,
 *
 * where c is the leading coefficient of the control's polynomial in an interval, by divided
 * differences, at most 1 for |u| <= 1. It vanishes as h^4 where a control is smooth. Its value;
 * its derivatives are added to a gradient, and those of second order put, where these are given. */
static double roughness(const opt_nlp *p, const double *x, double *gradient, entry_writer *second)
{
    const dae_optimum *q = p->q;
    const collocation *m = q->method;
    const double *t = p->mesh->t, span = t[p->mesh->intervals] - t[0];
    double w[COLLOCATION_STAGES], all = 0.0, sum = 0.0;
    for (int a = 0; a < m->stages; a++) {
        w[a] = 1.0;
        for (int b = 0; b < m->stages; b++)
            if (b != a) w[a] /= m->nodes[a] - m->nodes[b];
        all += fabs(w[a]);
    }
    for (int i = 0; i < p->mesh->intervals; i++)
        for (int k = 0; k < q->c; k++) {
            const double by = p->smoothing * (t[i + 1] - t[i]) / span / (all * all);
            const size_t first = opt_at(q, 1 + i * m->stages) + (size_t)(q->n + q->d + k);
            const size_t step = (size_t)opt_block(q);
            double c = 0.0;
            for (int a = 0; a < m->stages && x; a++) c += w[a] * x[first + (size_t)a * step];
            sum += by * c * c;
            for (int a = 0; a < m->stages && gradient; a++)
                gradient[first + (size_t)a * step] += 2.0 * by * c * w[a];
            for (int a = 0; a < m->stages && second; a++)
                for (int b = 0; b <= a; b++)
                    put(second, (int)(first + (size_t)a * step), (int)(first + (size_t)b * step),
                        2.0 * by * w[a] * w[b] * p->hessian_factor);
        }
    return sum;
}

/* ---- the objective ---- */

bool opt_nlp_objective(opt_nlp *p, const double *x, double *value)
{
    dae_optimum *q = p->q;
    const int last = last_point(p);
    double sum = 0.0;
    if (has_objective(q)) {
        take_point(p, x, last);
        opt_program_run(q, &q->at_end, p->mesh->t[p->mesh->intervals], 0);
        sum = q->at_end.value[q->end.count];
    }
    for (int k = 1; k <= last && has_integral(q); k++) {
        take_point(p, x, k);
        opt_program_run(q, &q->at_point, opt_time(q, p->mesh, k), 0);
        sum += weight_of(p, k) * q->at_point.value[point_rows(q)];
    }
    *value = sign_of(q) * sum + roughness(p, x, NULL, NULL);
    return isfinite(*value);
}

/* Derivatives of one row of a program, times a factor, added to a vector. */
static void add_row(const opt_nlp *p, const opt_program *of, int row, int point, double factor,
                    double *gradient)
{
    for (size_t e = 0; e < of->first_count; e++)
        if (of->first_row[e] == row)
            gradient[global_column(p, point, of->first_column[e])] +=
                factor * of->first[e] * p->q->scale[of->first_column[e]];
}

bool opt_nlp_gradient(opt_nlp *p, const double *x, double *gradient)
{
    dae_optimum *q = p->q;
    const int last = last_point(p);
    vector_zero(p->size, gradient);
    if (has_objective(q)) {
        take_point(p, x, last);
        opt_program_run(q, &q->at_end, p->mesh->t[p->mesh->intervals], 1);
        add_row(p, &q->at_end, q->end.count, last, sign_of(q), gradient);
    }
    for (int k = 1; k <= last && has_integral(q); k++) {
        take_point(p, x, k);
        opt_program_run(q, &q->at_point, opt_time(q, p->mesh, k), 1);
        add_row(p, &q->at_point, point_rows(q), k, sign_of(q) * weight_of(p, k), gradient);
    }
    roughness(p, x, gradient, NULL);
    return vector_finite(p->size, gradient);
}

/* ---- conditions ---- */

/* X_ia - X_i - h sum_b A_ab X'_ib, in units of the state. */
static double link_value(const opt_nlp *p, const double *x, int i, int a, int k)
{
    const dae_optimum *q = p->q;
    const collocation *m = q->method;
    const int j = q->state[k], first = 1 + i * m->stages;
    const double h = p->mesh->t[i + 1] - p->mesh->t[i];
    const double by = q->scale[q->n + k] / q->scale[j];
    double sum = x[opt_at(q, first + a) + (size_t)j] - x[opt_at(q, first - 1) + (size_t)j];
    for (int b = 0; b < m->stages; b++)
        sum -= h * m->A[a * m->stages + b] * by * x[opt_at(q, first + b) + (size_t)(q->n + k)];
    return sum;
}

static void start_values(opt_nlp *p, const double *x, double *g)
{
    dae_optimum *q = p->q;
    const collocation *m = q->method;
    const double t = p->mesh->t[0];
    take_point(p, x, 0);
    opt_program_run(q, &q->at_start, t, 0);
    vector_copy(q->start.count, q->at_start.value, g);
    if (!q->whole_start) return;
    opt_program_run(q, &q->at_point, t, 0);
    vector_copy(q->rows, q->at_point.value, g + q->start.count);
    double weight[COLLOCATION_STAGES];
    stage_weights(m, 0.0, weight);
    for (int k = 0; k < q->c; k++) {
        const size_t j = (size_t)(q->n + q->d + k);
        double sum = x[j];
        for (int b = 0; b < m->stages; b++) sum -= weight[b] * x[opt_at(q, 1 + b) + j];
        g[q->start.count + q->rows + k] = sum;
    }
}

bool opt_nlp_rows(opt_nlp *p, const double *x, double *g)
{
    dae_optimum *q = p->q;
    const int last = last_point(p), links = first_link(q, p->mesh->intervals);
    start_values(p, x, g);
    for (int k = 1; k <= last; k++) {
        take_point(p, x, k);
        opt_program_run(q, &q->at_point, opt_time(q, p->mesh, k), 0);
        vector_copy(point_rows(q), q->at_point.value, g + first_of_point(q, k));
    }
    for (int k = 1; k <= last; k++)
        for (int j = 0; j < q->d; j++)
            g[links + (k - 1) * q->d + j] =
                link_value(p, x, (k - 1) / q->method->stages, (k - 1) % q->method->stages, j);
    take_point(p, x, last);
    opt_program_run(q, &q->at_end, p->mesh->t[p->mesh->intervals], 0);
    vector_copy(q->end.count, q->at_end.value, g + first_end(q, p->mesh->intervals));
    return vector_finite(p->rows, g);
}

/* ---- entries: their places, or their values, in one order ---- */

/* Rows below `rows` of a program at a point. */
static void put_program(const opt_nlp *p, entry_writer *w, const opt_program *of, int rows,
                        int point, int first)
{
    for (size_t e = 0; e < of->first_count; e++) {
        if (of->first_row[e] >= rows) continue;
        const int column = of->first_column[e];
        put(w, first + of->first_row[e], global_column(p, point, column),
            w->value ? of->first[e] * p->q->scale[column] : 0.0);
    }
}

static void put_start(opt_nlp *p, const double *x, entry_writer *w)
{
    dae_optimum *q = p->q;
    if (w->value) {
        take_point(p, x, 0);
        opt_program_run(q, &q->at_start, p->mesh->t[0], 1);
        if (q->whole_start) opt_program_run(q, &q->at_point, p->mesh->t[0], 1);
    }
    put_program(p, w, &q->at_start, q->start.count, 0, 0);
    if (!q->whole_start) return;
    put_program(p, w, &q->at_point, q->rows, 0, q->start.count);
    double weight[COLLOCATION_STAGES];
    stage_weights(q->method, 0.0, weight);
    for (int k = 0; k < q->c; k++) {
        const int row = q->start.count + q->rows + k, j = q->n + q->d + k;
        put(w, row, j, 1.0);
        for (int b = 0; b < q->method->stages; b++)
            put(w, row, (int)opt_at(q, 1 + b) + j, -weight[b]);
    }
}

static void put_links(const opt_nlp *p, entry_writer *w)
{
    const dae_optimum *q = p->q;
    const collocation *m = q->method;
    int row = first_link(q, p->mesh->intervals);
    for (int i = 0; i < p->mesh->intervals; i++)
        for (int a = 0; a < m->stages; a++)
            for (int k = 0; k < q->d; k++, row++) {
                const int j = q->state[k], first = 1 + i * m->stages;
                const double h = p->mesh->t[i + 1] - p->mesh->t[i];
                put(w, row, (int)opt_at(q, first + a) + j, 1.0);
                put(w, row, (int)opt_at(q, first - 1) + j, -1.0);
                for (int b = 0; b < m->stages; b++)
                    put(w, row, (int)opt_at(q, first + b) + q->n + k,
                        -h * m->A[a * m->stages + b] * q->scale[q->n + k] / q->scale[j]);
            }
}

static void put_jacobian(opt_nlp *p, const double *x, entry_writer *w)
{
    dae_optimum *q = p->q;
    const int last = last_point(p);
    put_start(p, x, w);
    for (int k = 1; k <= last; k++) {
        if (w->value) {
            take_point(p, x, k);
            opt_program_run(q, &q->at_point, opt_time(q, p->mesh, k), 1);
        }
        put_program(p, w, &q->at_point, point_rows(q), k, first_of_point(q, k));
    }
    put_links(p, w);
    if (w->value) {
        take_point(p, x, last);
        opt_program_run(q, &q->at_end, p->mesh->t[p->mesh->intervals], 1);
    }
    put_program(p, w, &q->at_end, q->end.count, last, first_end(q, p->mesh->intervals));
}

bool opt_nlp_jacobian(opt_nlp *p, const double *x, double *values)
{
    entry_writer w = {.value = values};
    put_jacobian(p, x, &w);
    return vector_all_finite(p->jacobian, values);
}

/* Second derivatives of a program with the weights that are in q->local. */
static void put_second(opt_nlp *p, entry_writer *w, opt_program *of, int point, double t)
{
    const dae_optimum *q = p->q;
    if (w->value) opt_program_run(q, of, t, 2);
    for (size_t e = 0; e < of->second_count; e++) {
        const int a = of->second_row[e], b = of->second_column[e];
        int row = global_column(p, point, a), column = global_column(p, point, b);
        put(w, row > column ? row : column, row > column ? column : row,
            w->value ? of->second[e] * q->scale[a] * q->scale[b] : 0.0);
    }
}

/* Weights of the rows of a program: multipliers, then that of what is minimised. */
static void take_weights(const dae_optimum *q, int rows, const double *lambda, bool more,
                         double factor)
{
    double *weight = q->local + opt_block(q) + q->m;
    if (lambda)
        vector_copy(rows, lambda, weight);
    else
        vector_zero(rows, weight);
    if (more) weight[rows] = factor;
}

static void put_hessian(opt_nlp *p, const double *x, double factor, const double *lambda,
                        entry_writer *w)
{
    dae_optimum *q = p->q;
    const int last = last_point(p);
    const double sign = sign_of(q) * factor;
    for (int k = 0; k <= last; k++) {
        const double t = opt_time(q, p->mesh, k);
        if (w->value) take_point(p, x, k);
        if (k == 0) {
            if (w->value) take_weights(q, q->start.count, lambda, false, 0.0);
            put_second(p, w, &q->at_start, 0, t);
            if (!q->whole_start) continue;
            if (w->value) {
                take_weights(q, point_rows(q), NULL, has_integral(q), 0.0);
                vector_copy(q->rows, lambda + q->start.count, q->local + opt_block(q) + q->m);
            }
        } else if (w->value) {
            take_weights(q, point_rows(q), lambda + first_of_point(q, k), has_integral(q),
                         sign * weight_of(p, k));
        }
        put_second(p, w, &q->at_point, k, t);
    }
    if (w->value)
        take_weights(q, q->end.count, lambda + first_end(q, p->mesh->intervals), has_objective(q),
                     sign);
    put_second(p, w, &q->at_end, last, p->mesh->t[p->mesh->intervals]);
    p->hessian_factor = factor;
    roughness(p, x, NULL, w);
}

bool opt_nlp_hessian(opt_nlp *p, const double *x, double factor, const double *lambda,
                     double *values)
{
    entry_writer w = {.value = values};
    put_hessian(p, x, factor, lambda, &w);
    return vector_all_finite(p->hessian, values);
}

/* ---- making ---- */

void opt_nlp_free(opt_nlp *p)
{
    dae_free_all(p->jacobian_row, p->jacobian_column, p->hessian_row, p->hessian_column, p->lower,
                 p->upper, p->row_lower, p->row_upper, p->x, p->row_scale, p->lambda);
    *p = (opt_nlp){0};
}

static bool find_places(opt_nlp *p)
{
    entry_writer w = {0};
    put_jacobian(p, NULL, &w);
    p->jacobian = w.count;
    p->jacobian_row = DAE_ARRAY(int, w.count);
    p->jacobian_column = DAE_ARRAY(int, w.count);
    w = (entry_writer){p->jacobian_row, p->jacobian_column, NULL, 0};
    if (!w.row || !w.column) return false;
    put_jacobian(p, NULL, &w);
    w = (entry_writer){0};
    put_hessian(p, NULL, 1.0, NULL, &w);
    p->hessian = w.count;
    p->hessian_row = DAE_ARRAY(int, w.count);
    p->hessian_column = DAE_ARRAY(int, w.count);
    w = (entry_writer){p->hessian_row, p->hessian_column, NULL, 0};
    if (!w.row || !w.column) return false;
    put_hessian(p, NULL, 1.0, NULL, &w);
    return true;
}

/* Bounds of unknowns. What the start does not need stays as it is. */
static void bound_unknowns(opt_nlp *p)
{
    const dae_optimum *q = p->q;
    const int block = opt_block(q), last = last_point(p);
    for (int k = 0; k < p->size; k++) p->lower[k] = -INFINITY, p->upper[k] = INFINITY;
    for (int point = 1; point <= last; point++)
        for (int k = 0; k < q->c; k++) {
            const size_t at = opt_at(q, point) + (size_t)(q->n + q->d + k);
            p->lower[at] = q->lower[k] / q->scale[q->n + q->d + k];
            p->upper[at] = q->upper[k] / q->scale[q->n + q->d + k];
        }
    for (int j = 0; j < block && !q->whole_start; j++)
        if (j >= q->n || q->number[j] < 0) p->lower[j] = p->upper[j] = p->x[j];
    for (int k = 0; k < q->m; k++) {
        const size_t at = opt_at_p(q, p->mesh->intervals) + (size_t)k;
        p->lower[at] = q->lower[q->c + k] / q->scale[block + k];
        p->upper[at] = q->upper[q->c + k] / q->scale[block + k];
    }
}

static void bound_rows(opt_nlp *p)
{
    const dae_optimum *q = p->q;
    const int last = last_point(p), end = first_end(q, p->mesh->intervals);
    vector_zero(p->rows, p->row_lower);
    vector_zero(p->rows, p->row_upper);
    for (int point = 1; point <= last; point++)
        for (int k = 0; k < q->path.count; k++) {
            const int row = first_of_point(q, point) + q->rows + k;
            p->row_lower[row] = q->path.list[k].lower;
            p->row_upper[row] = q->path.list[k].upper;
        }
    for (int k = 0; k < q->end.count; k++) {
        p->row_lower[end + k] = q->end.list[k].lower;
        p->row_upper[end + k] = q->end.list[k].upper;
    }
}

dae_status opt_nlp_new(opt_nlp *p, dae_optimum *q, const opt_solution *s, dae_diag *diag)
{
    *p = (opt_nlp){.q = q, .mesh = s};
    const size_t size = opt_size(q, s->intervals);
    const double rows = (double)first_end(q, s->intervals) + q->end.count;
    if ((double)size > INT_MAX / 4.0 || rows > INT_MAX / 4.0) return opt_no_memory(diag);
    opt_programs_prepare(q);
    if (!opt_choose_units(q, s)) return opt_no_memory(diag);
    p->size = (int)size;
    p->rows = first_end(q, s->intervals) + q->end.count;
    p->lower = DAE_ARRAY(double, size);
    p->upper = DAE_ARRAY(double, size);
    p->x = DAE_ARRAY(double, size);
    p->row_lower = DAE_ARRAY(double, p->rows);
    p->row_upper = DAE_ARRAY(double, p->rows);
    p->row_scale = DAE_ARRAY(double, p->rows);
    p->lambda = DAE_ARRAY(double, p->rows);
    bool ok = p->lower && p->upper && p->x && p->row_lower && p->row_upper && p->row_scale &&
              p->lambda && find_places(p);
    if (!ok) {
        opt_nlp_free(p);
        return opt_no_memory(diag);
    }
    const int block = opt_block(q);
    for (size_t k = 0; k < size; k++) {
        const size_t back = opt_at_p(q, s->intervals);
        p->x[k] = s->x[k] / q->scale[k < back ? k % (size_t)block : (size_t)block + k - back];
    }
    bound_unknowns(p);
    bound_rows(p);
    return DAE_OK;
}

/* ---- the search ---- */

static bool go_on(void *user, int count, double objective, double violation)
{
    opt_nlp *p = user;
    const dae_optimise_request *r = &p->q->request;
    p->iterations = count;
    if (interrupted_now()) return false;
    p->stopped = r->progress && r->progress((int)p->q->stats.iterations + count, p->mesh->intervals,
                                            sign_of(p->q) * objective, violation, r->user) != 0;
    return !p->stopped;
}

/* Controls, each at all its points, and parameters; the rest follows from them. */
static int chosen(const void *user, int k)
{
    const opt_nlp *p = user;
    const dae_optimum *q = p->q;
    const int block = opt_block(q), back = (int)opt_at_p(q, p->mesh->intervals);
    if (k >= back) return q->c + k - back;
    const int at = k % block - q->n - q->d;
    return at >= 0 ? at : -1;
}

static bool objective_of(void *user, const double *x, double *value)
{
    return opt_nlp_objective(user, x, value);
}
static bool gradient_of(void *user, const double *x, double *gradient)
{
    return opt_nlp_gradient(user, x, gradient);
}
static bool rows_of(void *user, const double *x, double *g)
{
    return opt_nlp_rows(user, x, g);
}
static bool jacobian_of(void *user, const double *x, double *values)
{
    return opt_nlp_jacobian(user, x, values);
}
static bool hessian_of(void *user, const double *x, double factor, const double *lambda,
                       double *values)
{
    return opt_nlp_hessian(user, x, factor, lambda, values);
}

/* The largest violation of a condition; *worst: its row. */
static double worst_row(const opt_nlp *p, const double *g, int *worst)
{
    double most = 0.0;
    *worst = 0;
    for (int k = 0; k < p->rows; k++) {
        double off = fmax(p->row_lower[k] - g[k], g[k] - p->row_upper[k]);
        if (isnan(g[k]) || off > most) {
            most = isnan(g[k]) ? INFINITY : off;
            *worst = k;
        }
    }
    return most;
}

/* Whether everything has a value at the guess. */
static dae_status check_guess(opt_nlp *p, double *g, dae_diag *diag)
{
    double value;
    char name[200];
    if (!opt_nlp_rows(p, p->x, g)) {
        const int row = vector_first_nonfinite(p->rows, g);
        name_row(p->q, p->mesh, row, name, sizeof name, &diag->t);
        return diag_set(diag, DAE_ERR_EVALUATION,
                        "Optimisation: there is no finite value of %s, at the guess. Give another "
                        "guess, or a start value.",
                        name);
    }
    if (opt_nlp_objective(p, p->x, &value)) return DAE_OK;
    return diag_set(diag, DAE_ERR_EVALUATION,
                    "Optimisation: what is to be %s is %s at the guess. Give another guess, or "
                    "another expression.",
                    p->q->request.maximise ? "maximised" : "minimised",
                    isnan(value) ? "not a number" : "infinite");
}

/* Where the way of a state gives in, the conditions that pull at it are those to look at. */
static void list_conditions(const opt_conditions *c, const char *where, dae_diag *diag)
{
    enum { SHOWN = 4 };
    for (int k = 0; k < c->count && k < SHOWN; k++)
        diag_append(diag, "%s%.60s", k ? ", " : where, c->list[k].text);
    if (c->count) diag_append(diag, c->count > SHOWN ? ", .. " : ". ");
}

static dae_status explain(opt_nlp *p, ipopt_end ended, double *g, dae_diag *diag)
{
    char name[200];
    int worst;
    const int degrees = p->size - p->rows;
    opt_nlp_rows(p, p->x, g);
    const double off = worst_row(p, g, &worst);
    name_row(p->q, p->mesh, worst, name, sizeof name, &diag->t);
    if (ended == IPOPT_MISSING)
        return diag_set(diag, DAE_ERR_UNSUPPORTED, "Optimisation: %s.", ipopt_advice);
    if (ended == IPOPT_NO_MEMORY) return opt_no_memory(diag);
    if (ended == IPOPT_TIGHT)
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "Optimisation: there are more conditions than unknowns (%d too many). Take "
                        "conditions at the ends away, or vary more.",
                        degrees < 0 ? -degrees : 1);
    const char *what = ended == IPOPT_INFEASIBLE   ? "the conditions contradict each other, or the "
                                                     "search ended where they are met least badly"
                       : ended == IPOPT_ITERATIONS ? "the search took too many iterations"
                       : ended == IPOPT_UNBOUNDED  ? "unknowns grow beyond all bounds"
                                                   : "the search found no way on";
    diag_set(diag, DAE_ERR_CONVERGENCE, "Optimisation: %s (%d intervals). ", what,
             p->mesh->intervals);
    if (off > 1e-6) diag_append(diag, "Violated most is %s, by %.3g. ", name, off);
    if (off > 1e-6 && worst < first_end(p->q, p->mesh->intervals)) {
        list_conditions(&p->q->end, "Asked for at the end: ", diag);
        list_conditions(&p->q->path, "Asked for on the way: ", diag);
    }
    diag_append(diag, "%s",
                ended == IPOPT_UNBOUNDED ? "What is sought may have no least value: give bounds."
                                         : "Give another guess, wider bounds or fewer conditions.");
    if (p->q->instance->selection)
        diag_append(diag,
                    " States (%.60s, ..) were chosen at the start and hold for all times: a "
                    "mechanism that needs others on its way, such as a pendulum that turns over, "
                    "needs another coordinate (an angle).",
                    problem_variable(p->q->companion->bound.problem, p->q->state[0]));
    return DAE_ERR_CONVERGENCE;
}

/* Which row has the size for all of a kind: equations and conditions on the way have one for all
 * points. -1: it is in units of a state. */
static int kind_of(const opt_nlp *p, int row)
{
    const dae_optimum *q = p->q;
    if (row < start_rows(q) || row >= first_end(q, p->mesh->intervals)) return row;
    if (row >= first_link(q, p->mesh->intervals)) return -1;
    return start_rows(q) + (row - start_rows(q)) % point_rows(q);
}

/* Largest derivatives of rows at x, where there is none so far; the objective's all together. */
static void measure(opt_nlp *p, const double *x, double *gradient, double *entries, double *size,
                    double *objective)
{
    double sum = 0.0;
    if (opt_nlp_gradient(p, x, gradient))
        for (int k = 0; k < p->size; k++) sum += fabs(gradient[k]);
    *objective = fmax(*objective, sum);
    vector_zero(p->rows, p->row_scale);
    if (!opt_nlp_jacobian(p, x, entries)) return;
    for (size_t e = 0; e < p->jacobian; e++) {
        const int kind = kind_of(p, p->jacobian_row[e]);
        if (kind >= 0) p->row_scale[kind] = fmax(p->row_scale[kind], fabs(entries[e]));
    }
    for (int i = 0; i < p->rows; i++)
        if (size[i] == 0.0) size[i] = p->row_scale[i];
}

/* Units of the objective and of rows, by gradients at the guess and, as they may vanish there, at
 * points beside it: the answer does not depend on units of the model. */
static bool choose_row_units(opt_nlp *p)
{
    double *work = DAE_ARRAY(double, 2 * (size_t)p->size + p->jacobian + (size_t)p->rows);
    double objective = 0.0;
    if (!work) return false;
    double *beside = work + p->size, *size = beside + p->size, *entries = size + p->rows;
    for (int probe = 0; probe < 3; probe++) {
        for (int k = 0; k < p->size; k++)
            beside[k] =
                fmin(p->upper[k], fmax(p->lower[k], p->x[k] + (probe == 2 ? -0.1 : 0.1 * probe)));
        measure(p, probe == 0 ? p->x : beside, work, entries, size, &objective);
    }
    p->objective_scale = objective > 0.0 ? 1.0 / objective : 1.0;
    for (int i = 0; i < p->rows; i++) {
        const int kind = kind_of(p, i);
        p->row_scale[i] = kind >= 0 && size[kind] > 0.0 ? 1.0 / size[kind] : 1.0;
    }
    dae_free(work);
    return true;
}

/* Of the search, in its units. */
static double search_tolerance(const dae_optimum *q)
{
    return fmax(1e-11, fmin(1e-8, 1e-3 * q->request.rtol));
}

/* One search; products: of multipliers and distances from bounds, at most. */
static ipopt_end search_to(opt_nlp *p, bool warm, double products, double *gap)
{
    const dae_optimise_request *r = &p->q->request;
    const ipopt_problem problem = {.size = p->size,
                                   .rows = p->rows,
                                   .jacobian = p->jacobian,
                                   .hessian = p->hessian,
                                   .lower = p->lower,
                                   .upper = p->upper,
                                   .row_lower = p->row_lower,
                                   .row_upper = p->row_upper,
                                   .jacobian_row = p->jacobian_row,
                                   .jacobian_column = p->jacobian_column,
                                   .hessian_row = p->hessian_row,
                                   .hessian_column = p->hessian_column,
                                   .objective = objective_of,
                                   .gradient = gradient_of,
                                   .constraints = rows_of,
                                   .derivatives = jacobian_of,
                                   .second = hessian_of,
                                   .go_on = go_on,
                                   .user = p,
                                   .max_iterations = r->max_iterations,
                                   .objective_scale = p->objective_scale,
                                   .row_scale = p->row_scale,
                                   .tolerance = search_tolerance(p->q),
                                   .complementarity = products,
                                   .accepted = fmin(1e-6, 0.1 * r->rtol),
                                   .warm = warm,
                                   .groups = p->q->c + p->q->m,
                                   .group = chosen};
    return warm ? ipopt_solve(&problem, p->x, gap, p->lambda)
                : ipopt_solve_aside(&problem, p->x, gap, p->lambda);
}

/* The search ends where gradients are below its tolerance, in units of the objective. These come
 * from a guess, whose objective may be much larger than what is found: make them so small that the
 * tolerance of the objective at x is ten of the search. False: they are. */
static bool sharpen_objective(opt_nlp *p, double value)
{
    const double enough = 10.0 * search_tolerance(p->q) / opt_objective_tolerance(p->q, value);
    if (p->objective_scale >= enough) return false;
    p->objective_scale = enough;
    return true;
}

/* The next search from the end of the last, where it leaves the objective less accurate than asked
 * for: in smaller units of it, or nearer to bounds, which are to cost less than a tenth of its
 * tolerance. False: there is none to make. */
static bool sharpen(opt_nlp *p, double *products)
{
    const double finest = 1e-14;
    double value;
    if (!opt_nlp_objective(p, p->x, &value)) return false;
    const double most = 0.1 * opt_objective_tolerance(p->q, value), gap = p->q->stats.gap;
    if (sharpen_objective(p, value)) return true;
    if (gap <= most || *products <= finest) return false;
    *products = fmax(finest, fmin(0.1, 0.5 * most / gap) * *products);
    return true;
}

/* Searches, until the last one is as sharp as the tolerance of the objective asks for. One that
 * fails leaves the one before, and what that may be off counts as its gap. */
static ipopt_end search(opt_nlp *p, bool warm)
{
    enum { TIMES = 8 };
    dae_optimum *q = p->q;
    double products = search_tolerance(q), value, gap, scale;
    double *kept = DAE_ARRAY(double, p->size);
    if (!kept) return IPOPT_NO_MEMORY;
    if (warm && opt_nlp_objective(p, p->x, &value)) sharpen_objective(p, value);
    ipopt_end ended = search_to(p, warm, products, &q->stats.gap);
    for (int k = 1; k < TIMES && ended == IPOPT_SOLVED; k++) {
        const long before = p->iterations;
        scale = p->objective_scale;
        if (!sharpen(p, &products)) break;
        vector_copy(p->size, p->x, kept);
        const ipopt_end again = search_to(p, true, products, &gap);
        p->iterations += before;
        if (again == IPOPT_STOPPED || again == IPOPT_NO_MEMORY) ended = again;
        if (again != IPOPT_SOLVED) {
            vector_copy(p->size, kept, p->x);
            if (p->objective_scale > scale)
                q->stats.gap = fmax(q->stats.gap, search_tolerance(q) / scale);
            break;
        }
        q->stats.gap = gap;
    }
    dae_free(kept);
    return ended;
}

/* What the objective gains, to first order, where a condition along the path is violated by 1 at
 * all times. */
static void price_path(const opt_nlp *p)
{
    const dae_optimum *q = p->q;
    for (int k = 0; k < q->path.count; k++) {
        q->path_price[k] = 0.0;
        for (int point = 1; point <= last_point(p); point++)
            q->path_price[k] += fabs(p->lambda[first_of_point(q, point) + q->rows + k]);
    }
}

/* What was found, in units of its own. */
static void keep(const opt_nlp *p, opt_solution *s)
{
    const dae_optimum *q = p->q;
    const size_t block = (size_t)opt_block(q), back = opt_at_p(q, s->intervals);
    for (int k = 0; k < p->size; k++) {
        const size_t at = (size_t)k;
        s->x[at] = p->x[at] * q->scale[at < back ? at % block : block + at - back];
    }
    for (int k = 0; k < q->m; k++) /* units leave a rounding */
        s->x[back + (size_t)k] =
            fmin(q->upper[q->c + k], fmax(q->lower[q->c + k], s->x[back + (size_t)k]));
}

dae_status opt_solve_mesh(dae_optimum *q, opt_solution *s, bool warm, ipopt_end *ended,
                          dae_diag *diag)
{
    opt_nlp p;
    dae_status status = opt_nlp_new(&p, q, s, diag);
    if (status != DAE_OK) return status;
    double *g = DAE_ARRAY(double, p.rows);
    status = g ? check_guess(&p, g, diag) : opt_no_memory(diag);
    if (status == DAE_OK && !choose_row_units(&p)) status = opt_no_memory(diag);
    if (status == DAE_OK) {
        int row;
        double value = 0.0;
        if (opt_nlp_objective(&p, p.x, &value))
            p.smoothing = SMOOTHING * opt_objective_tolerance(q, value);
        *ended = search(&p, warm);
        keep(&p, s);
        price_path(&p);
        q->stats.meshes++;
        q->stats.iterations += p.iterations;
        q->stats.unknowns = p.size;
        q->stats.conditions = p.rows;
        p.smoothing = 0.0;
        opt_nlp_objective(&p, p.x, &q->stats.objective);
        q->stats.objective *= sign_of(q);
        opt_nlp_rows(&p, p.x, g);
        q->stats.violation = worst_row(&p, g, &row);
        if (*ended == IPOPT_STOPPED && !p.stopped)
            status = opt_no_memory(diag); /* interrupted: who opened the scope tells */
        else if (*ended != IPOPT_SOLVED && *ended != IPOPT_STOPPED)
            status = explain(&p, *ended, g, diag);
    }
    dae_free(g);
    opt_nlp_free(&p);
    return status;
}
