/* One step of the sensitivities by Radau IIA collocation on the linear equations
 *
 *     F_Y(t_a) (S + Z_a) + F_Y'(t_a) (1/h) sum_b inverse_ab Z_b + F_p(t_a) = 0,  a = 1 .. s,
 *
 * solved for all stages at once, with one factorisation for all directions [HW96 IV.8]. Few
 * equations need no iteration (many: stage_iteration.c), and S ends on the linearised constraints,
 * as they are equations of the last stage. */
#include <math.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"
#include "solve/sensitivity/run_error.h"
#include "solve/sensitivity/sensitivity_parts.h"
#include "solve/sensitivity/stage_split.h"
#include "solve/sensitivity/stage_system.h"

/* ---- a step ---- */

static stage_system *stage_system_of(const dae_sensitivity *x)
{
    return stage_system_new(x->lead.n, x->method->stages, x->lead.matrix.jac.layout.count,
                            x->directions.count, false);
}

void collocation_use(dae_sensitivity *x, const collocation *c)
{
    if (c == x->method) return;
    x->aside[x->method->stages] = x->system;
    x->method = c;
    x->system = x->aside[c->stages];
    x->aside[c->stages] = NULL;
    if (x->system) x->system->first_t = NAN;
}

void collocation_drop_systems(dae_sensitivity *x)
{
    for (int s = 0; s <= COLLOCATION_STAGES; s++) {
        stage_system_free(x->aside[s]);
        x->aside[s] = NULL;
    }
    stage_system_free(x->system);
    x->system = NULL;
}

/* Derivatives at all stages, and F_p of all directions. */
static dae_status take_stages(dae_sensitivity *x, double h)
{
    stage_system *q = x->system;
    const collocation *m = x->method;
    const jacobian *j = &x->lead.matrix.jac;
    const size_t n = (size_t)q->n;
    dae_status status = DAE_OK;
    for (int a = 0; a < m->stages && status == DAE_OK; a++) {
        double t = a == m->stages - 1 ? x->t + h : x->t + m->nodes[a] * h;
        status = lead_values(x, t);
        if (status == DAE_OK) status = lead_linearise(x, t);
        if (status != DAE_OK) return status;
        lead_keep(&x->lead, q->point + 2 * n * (size_t)a);
        if (!q->filled) {
            memcpy(q->fy + (size_t)a * q->count, j->dfdy, q->count * sizeof *q->fy);
            memcpy(q->fyp + (size_t)a * q->count, j->dfdyp, q->count * sizeof *q->fyp);
        }
        for (int k = 0; k < x->directions.count && status == DAE_OK; k++)
            status = lead_explicit(
                x, t, k, 0.0, q->explicit_part + ((size_t)k * (size_t)q->stages + (size_t)a) * n);
    }
    q->filled = status == DAE_OK && x->lead.constant;
    return status;
}

static dae_status factor(dae_sensitivity *x, double h)
{
    stage_system *q = x->system;
    linear_status status = stage_system_factor(q, &x->lead.matrix.jac.layout, x->method, h);
    x->stats.factorisations++;
    if (status == LINEAR_OK) return DAE_OK;
    if (status == LINEAR_MEMORY) return sensitivity_no_memory(x);
    int i = q->solver->singular_column >= 0 ? q->solver->singular_column % q->n : -1;
    const char *name = i >= 0 ? problem_variable(x->lead.solver->bound.problem, i) : NULL;
    x->run->diag.t = x->t;
    return diag_set(&x->run->diag, DAE_ERR_SINGULAR,
                    "Sensitivities: the linearised equations behind t = %.9g do not determine %s.",
                    x->t, name ? name : "all variables");
}

/* The right-hand sides of direction k: n s values. */
static void take_right_side(const dae_sensitivity *x, double h, int k, double *z)
{
    const stage_system *q = x->system;
    const matrix_layout *of = &x->lead.matrix.jac.layout;
    const double *s = x->s + (size_t)k * (size_t)q->n;
    for (int a = 0; a < q->stages; a++) {
        const double *p =
            q->explicit_part + ((size_t)k * (size_t)q->stages + (size_t)a) * (size_t)q->n;
        double *r = z + (size_t)a * (size_t)q->n;
        matrix_multiply(of, q->fy + (size_t)a * q->count, s, r);
        for (int i = 0; i < q->n; i++) r[i] = -(r[i] + p[i]) * (q->sloped[i] ? h : 1.0);
    }
}

/* Z of some directions with the factors of all stages. */
static void solve_columns(dae_sensitivity *x, double h, int first, int count, double *stages)
{
    const size_t rows = (size_t)x->lead.n * (size_t)x->method->stages;
    double *z = stages + (size_t)first * rows;
    for (int k = 0; k < count; k++) take_right_side(x, h, first + k, z + (size_t)k * rows);
    linear_solve_rows(x->system->solver, count, z);
    x->stats.solves += count;
}

/* All Z with one matrix of all stages. */
static dae_status solve_directly(dae_sensitivity *x, double h, double *stages)
{
    dae_status status = factor(x, h);
    if (status != DAE_OK) return status;
    solve_columns(x, h, 0, directions_asked(&x->directions), stages);
    return DAE_OK;
}

dae_status stages_solve_more(dae_sensitivity *x, double h, int first, int count, double *stages)
{
    bool solved = false;
    dae_status status = DAE_OK;
    if (x->system->iterated) status = stages_iterate_more(x, h, first, count, stages, &solved);
    if (status != DAE_OK || solved) return status;
    if (x->system->iterated) status = factor(x, h);
    x->system->iterated = false;
    if (status == DAE_OK) solve_columns(x, h, first, count, stages);
    return status;
}

/* out = factor sum_b weight_b Z_b */
static void combine(const stage_system *q, const double *weight, double factor, const double *z,
                    double *out)
{
    vector_zero(q->n, out);
    for (int b = 0; b < q->stages; b++)
        vector_axpy(q->n, weight[b] * factor, z + (size_t)b * (size_t)q->n, out);
}

/* Factors of gamma/h F_Y' + F_Y for the estimate: of the beginning, unless there are some. */
static iteration_status factor_filter(dae_sensitivity *x, double h)
{
    const stage_system *q = x->system;
    iteration *it = &x->lead.matrix;
    if (q->alike) return ITERATION_OK;
    if (it->factored && it->cj == x->method->gamma / h) return ITERATION_OK;
    memcpy(it->jac.dfdy, q->first, q->count * sizeof(double));
    memcpy(it->jac.dfdyp, q->first + q->count, q->count * sizeof(double));
    return iteration_factor(it, x->method->gamma / h, NULL);
}

/* b := (gamma/h F_Y' + F_Y)^-1 b */
static iteration_status filter(dae_sensitivity *x, double *b)
{
    x->stats.solves++;
    if (!x->system->alike) return iteration_solve(&x->lead.matrix, NULL, b);
    stage_split_filter(x->system->split, b);
    return ITERATION_OK;
}

/* The difference of two formulas, which one more solution with the matrix of the beginning, or of
 * the stages, filters: (gamma/h F_Y' + F_Y) e = F_Y' (S' - (1/h) sum left_j Z_j)  [HW96 (IV.8.19)]
 */
static dae_status estimate(dae_sensitivity *x, double h, const double *stages, double *error)
{
    stage_system *q = x->system;
    lead *l = &x->lead;
    const size_t n = (size_t)q->n;
    const matrix_layout *of = &l->matrix.jac.layout;
    double *e = DAE_ARRAY(double, 2 * n), *defect = e + n;
    *error = 0.0;
    if (!e) return sensitivity_no_memory(x);
    iteration_status status = factor_filter(x, h);
    for (int k = 0; k < directions_asked(&x->directions) && status == ITERATION_OK; k++) {
        const double *z = stages + (size_t)k * n * (size_t)q->stages;
        combine(q, x->method->left, -1.0 / h, z, defect);
        vector_axpy(q->n, 1.0, x->sp + (size_t)k * n, defect);
        matrix_multiply(of, q->first + q->count, defect, e);
        status = filter(x, e);
        double sum = 0.0;
        int tested = 0;
        for (int i = 0; i < q->n; i++) {
            if (!lead_is_state(l, i)) continue;
            double a = x->s[(size_t)k * n + (size_t)i],
                   b = a + z[(size_t)(q->stages - 1) * n + (size_t)i];
            double part = e[i] / sensitivity_weight(x, k, i, a, b);
            sum += part * part;
            tested++;
        }
        if (tested > 0) *error = fmax(*error, x->part * sqrt(sum / tested));
    }
    dae_free(e);
    if (status == ITERATION_MEMORY) return sensitivity_no_memory(x);
    if (status != ITERATION_OK) *error = 0.0; /* no estimate: singular for this shift alone */
    return DAE_OK;
}

/* Keep the step as a piece, and move to its end. */
static void move(dae_sensitivity *x, double h, piece *p)
{
    const stage_system *q = x->system;
    const size_t n = (size_t)q->n, s = (size_t)q->stages;
    *p = (piece){x->method, x->t, h, p->start, p->stages};
    memcpy(p->start, x->s, (size_t)x->directions.count * n * sizeof *p->start);
    for (int k = 0; k < x->directions.count; k++) {
        const double *z = p->stages + (size_t)k * n * s;
        vector_axpy(q->n, 1.0, z + (s - 1) * n, x->s + (size_t)k * n);
        combine(q, x->method->inverse + (s - 1) * s, 1.0 / h, z, x->sp + (size_t)k * n);
    }
    x->t += h;
    x->stats.steps++;
    const size_t last = (s - 1) * q->count, bytes = q->filled ? 0 : q->count * sizeof(double);
    memcpy(q->first, q->fy + last, bytes); /* the next step begins here */
    memcpy(q->first + q->count, q->fyp + last, bytes);
    memcpy(q->first_point, q->point + 2 * n * (s - 1), 2 * n * sizeof(double));
    x->system->first_t = x->t;
}

/* Room for one more piece; NULL: memory. */
static piece *next_piece(dae_sensitivity *x)
{
    const size_t rows = (size_t)x->directions.count * (size_t)x->lead.n;
    if (!dae_grow(&x->pieces, &x->piece_room, (size_t)x->piece_count + 1, sizeof *x->pieces))
        return NULL;
    piece *p = &x->pieces[x->piece_count];
    *p = (piece){.start = DAE_ARRAY(double, rows),
                 .stages = DAE_ARRAY(double, rows *(size_t)x->method->stages)};
    if (p->start && p->stages) return p;
    dae_free_all(p->start, p->stages);
    return NULL;
}

/* Derivatives where the step begins, for the estimate. */
static dae_status take_first(dae_sensitivity *x)
{
    stage_system *q = x->system;
    const jacobian *j = &x->lead.matrix.jac;
    if (q->first_t == x->t || x->request.without_error_test) return DAE_OK;
    dae_status status = lead_values(x, x->t);
    if (status == DAE_OK) status = lead_linearise(x, x->t);
    if (status != DAE_OK) return status;
    q->first_t = x->t;
    lead_keep(&x->lead, q->first_point);
    memcpy(q->first, j->dfdy, q->count * sizeof(double));
    memcpy(q->first + q->count, j->dfdyp, q->count * sizeof(double));
    return DAE_OK;
}

dae_status collocation_step(dae_sensitivity *x, double h, double *error)
{
    dae_status status = DAE_OK;
    if (!x->system) { /* the layout is known behind the first evaluation */
        status = lead_values(x, x->t);
        if (status == DAE_OK) status = lead_linearise(x, x->t);
        if (status == DAE_OK && !(x->system = stage_system_of(x))) return sensitivity_no_memory(x);
    }
    piece *p = status == DAE_OK ? next_piece(x) : NULL;
    if (status == DAE_OK && !p) return sensitivity_no_memory(x);
    if (status == DAE_OK) status = take_first(x);
    if (status == DAE_OK) status = take_stages(x, h);
    bool solved = false;
    if (status == DAE_OK) status = stages_iterate(x, h, p->stages, &solved);
    if (status == DAE_OK && !solved) status = solve_directly(x, h, p->stages);
    if (x->system) x->system->iterated = solved;
    *error = 0.0;
    if (status == DAE_OK && !x->request.without_error_test)
        status = estimate(x, h, p->stages, error);
    if (status == DAE_OK && *error <= 1.0 && x->recorder && !x->request.without_error_test)
        status = x->recorder->judge(x->recorder->user, h, p->stages, error);
    if (status == DAE_OK && *error <= 1.0 && x->recorder)
        status = x->recorder->step(x->recorder->user, h, p->stages);
    if (status == DAE_OK && *error <= 1.0 && x->error) status = run_error_step(x, h, p->stages);
    if (status == DAE_OK && *error <= 1.0) {
        move(x, h, p);
        x->piece_count++;
        run_error_note(x);
        return DAE_OK;
    }
    if (p) dae_free_all(p->start, p->stages);
    x->stats.rejected += status == DAE_OK;
    return status;
}

/* ---- values of pieces ---- */

void pieces_drop(dae_sensitivity *x)
{
    for (int i = 0; i < x->piece_count; i++) dae_free_all(x->pieces[i].start, x->pieces[i].stages);
    x->piece_count = 0;
}

void pieces_at(const dae_sensitivity *x, double t, int k, double *s, double *sp)
{
    const size_t n = (size_t)x->lead.n;
    double weight[COLLOCATION_STAGES];
    int i = x->piece_count - 1;
    vector_copy(x->lead.n, x->s + (size_t)k * n, s);
    vector_copy(x->lead.n, x->sp + (size_t)k * n, sp);
    if (t == x->t || i < 0) return;
    while (i > 0 && (t - x->pieces[i].t) * x->pieces[i].h < 0.0) i--;
    const piece *p = &x->pieces[i];
    const size_t stages = (size_t)p->method->stages;
    const double *z = p->stages + (size_t)k * n * stages, at = (t - p->t) / p->h;
    vector_copy(x->lead.n, p->start + (size_t)k * n, s);
    vector_zero(x->lead.n, sp);
    collocation_weights(p->method, at, 0, weight);
    for (size_t b = 0; b < stages; b++) vector_axpy(x->lead.n, weight[b], z + b * n, s);
    collocation_weights(p->method, at, 1, weight);
    for (size_t b = 0; b < stages; b++) vector_axpy(x->lead.n, weight[b] / p->h, z + b * n, sp);
}
