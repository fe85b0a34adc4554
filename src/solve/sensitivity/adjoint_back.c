/* The way back through all records.
 *
 * A step solves M X = C S - P for its stages X_a, with P_a = F_inputs(t_a) moved, C_a = (1/h)
 * (sum_b inverse_ab) F_Y'(t_a), and ends with S+ = X_s, S'+ = (1/h) sum_b inverse_sb (X_b - S). For
 * dJ = sum_a u_a X_a + .. the transposed equations M' mu = u give dJ = (C' mu) S - mu P: what S of
 * the step before counts for, and what the inputs do [discrete adjoint; Sandu 2006]. */
#include <math.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"
#include "solve/run/run.h"
#include "solve/sensitivity/adjoint_parts.h"
#include "solve/sensitivity/stage_split.h"

static dae_status no_memory(const dae_adjoint *j)
{
    return sensitivity_no_memory(j->x);
}

static void free_solvers(sweep *q)
{
    for (int s = 0; s <= COLLOCATION_STAGES; s++) {
        stage_system_free(q->system[s]);
        stage_split_free(q->split[s]);
        q->system[s] = NULL;
        q->split[s] = NULL;
    }
}

void adjoint_sweep_free(sweep *q)
{
    dae_free_all(q->w.s, q->w.inputs, q->w.user, q->direct, q->numbers, q->shared);
    free_solvers(q);
    stage_system_free(q->w.at);
}

bool adjoint_sweep_new(sweep *q, const dae_adjoint *j, int m)
{
    const directions *d = &j->x->directions;
    const size_t inputs = (size_t)d->inputs.count;
    size_t n = 0, s = (size_t)j->x->usual->stages;
    for (long i = 0; i < j->record_count; i++)
        if (!j->records[i].ledger && (size_t)j->records[i].method->stages > s)
            s = (size_t)j->records[i].method->stages;
    for (int i = 0; i < j->ledger.space_count; i++)
        if ((size_t)j->ledger.spaces[i].n > n) n = (size_t)j->ledger.spaces[i].n;
    *q = (sweep){.space = -1,
                 .shared_of = -1,
                 .point = j->point_count,
                 .w = {.functional = m, .at_space = -1}};
    q->w.s = DAE_ARRAY(double, 5 * n + 2 * n * s);
    q->w.user = DAE_ARRAY(double, 2 * (size_t)j->x->run->base->form.n);
    q->w.inputs = dae_copy(j->inputs + (size_t)m * inputs, inputs, sizeof(double));
    q->direct = dae_copy(j->direct + m * d->named, (size_t)d->named, sizeof(double));
    if (!q->w.s || !q->w.user || !q->w.inputs || !q->direct) return false;
    q->w.sp = q->w.s + n;
    q->w.work = q->w.s + 2 * n;
    q->before = q->w.s + 3 * n;
    q->fp = q->w.s + 4 * n;
    q->u = q->w.s + 5 * n;
    q->work = q->u + n * s;
    return true;
}

/* The first `count` numbers of a record that is in the file. */
static dae_status read_numbers(dae_adjoint *j, const adjoint_record *r, size_t count, double **to,
                               size_t *room)
{
    if (!dae_grow(to, room, count, sizeof **to)) return no_memory(j);
    if (fseek(j->file, r->at * (long)sizeof(double), SEEK_SET) == 0 &&
        fread(*to, sizeof(double), count, j->file) == count)
        return DAE_OK;
    return diag_set(&j->x->run->diag, DAE_ERR_FILE,
                    "Adjoint: the temporary file with the steps of the run cannot be read; allow "
                    "more memory.");
}

dae_status adjoint_numbers(dae_adjoint *j, sweep *q, const adjoint_record *r,
                           const double **numbers)
{
    *numbers = r->numbers;
    if (r->numbers) return DAE_OK;
    dae_status status = read_numbers(j, r, r->count, &q->numbers, &q->room);
    *numbers = q->numbers;
    return status;
}

/* F_Y, then F_Y', of a step whose stages are alike: those of record r->same. */
static dae_status alike_of(dae_adjoint *j, sweep *q, const adjoint_record *r, const double **fy)
{
    const adjoint_record *of = &j->records[r->same];
    *fy = of->numbers;
    if (*fy) return DAE_OK;
    dae_status status = DAE_OK;
    if (q->shared_of != r->same)
        status = read_numbers(j, of, 2 * j->ledger.spaces[r->space].layout.count, &q->shared,
                              &q->shared_room);
    q->shared_of = status == DAE_OK ? r->same : -1;
    *fy = q->shared;
    return status;
}

void adjoint_points_back(const dae_adjoint *j, sweep *q, long record)
{
    for (; q->point > 0 && j->points[q->point - 1].record == record; q->point--) {
        const point_record *p = &j->points[q->point - 1];
        if (p->functional != q->w.functional) continue;
        vector_axpy(p->n, 1.0, p->weight, q->w.s);
        vector_axpy(p->n, 1.0, p->weight + p->n, q->w.sp);
    }
}

/* ---- a step ---- */

/* X'_a = (1/h) sum_b inverse_ab (X_b - S) counts for `weight`: so do X_b, and S. */
static void spread_slope(const collocation *c, double h, int a, int n, const double *weight,
                         double *u, double *before)
{
    for (int b = 0; b < c->stages; b++) {
        double by = c->inverse[a * c->stages + b] / h;
        vector_axpy(n, by, weight, u + (size_t)b * (size_t)n);
        vector_axpy(n, -by, weight, before);
    }
}

/* What the stages of a step count for before its equations are looked at. */
static void seed_stages(const dae_adjoint *j, sweep *q, const adjoint_record *r, int n,
                        const double *integrals)
{
    const collocation *c = r->method;
    const double h = r->h;
    const size_t s = (size_t)c->stages;
    vector_zero(n * c->stages, q->u);
    vector_zero(n, q->before);
    vector_axpy(n, 1.0, q->w.s, q->u + (s - 1) * (size_t)n);
    spread_slope(c, h, c->stages - 1, n, q->w.sp, q->u, q->before);
    if (!j->integrated[q->w.functional]) return;
    for (int m = 0; m < q->w.functional; m++)
        if (j->integrated[m]) integrals += 2 * s * (size_t)n;
    for (size_t a = 0; a < s; a++) {
        vector_axpy(n, 1.0, integrals + a * (size_t)n, q->u + a * (size_t)n);
        spread_slope(c, h, (int)a, n, integrals + (s + a) * (size_t)n, q->u, q->before);
    }
}

/* What the explicit part of stage a, with -mu, does to inputs, or to parameters of callbacks. */
static dae_status explicit_back(dae_adjoint *j, sweep *q, const tangent_space *space,
                                const adjoint_record *r, int a, const double *part,
                                const double *minus_mu)
{
    const collocation *c = r->method;
    const int named = j->x->directions.named;
    if (space->tangents) {
        model_tangent_transposed(space->tangents->rows, part, minus_mu, NULL, NULL, q->w.inputs,
                                 NULL);
        return DAE_OK;
    }
    const double t = a == c->stages - 1 ? r->t + r->h : r->t + c->nodes[a] * r->h;
    dae_status status = DAE_OK;
    if (j->x->run->base->forms) {
        for (int k = 0; k < named; k++)
            q->direct[k] += vector_dot(space->n, minus_mu, part + (size_t)k * (size_t)space->n);
        return DAE_OK;
    }
    for (int k = 0; k < named && status == DAE_OK; k++) {
        status = lead_explicit_named(j->x, t, part, part + space->n, k, q->fp);
        if (status == DAE_OK) q->direct[k] += vector_dot(space->n, minus_mu, q->fp);
    }
    return status;
}

/* before += C' mu, with fyp of stage a from a * apart on. */
static void hand_to_start(const dae_adjoint *j, sweep *q, const adjoint_record *r,
                          const double *fyp, size_t apart)
{
    const collocation *c = r->method;
    const tangent_space *space = &j->ledger.spaces[r->space];
    const size_t n = (size_t)space->n;
    vector_zero(space->n, q->work);
    for (int a = 0; a < c->stages; a++) {
        double sum = 0.0;
        for (int b = 0; b < c->stages; b++) sum += c->inverse[a * c->stages + b] / r->h;
        vector_axpy(space->n, sum, q->u + (size_t)a * n, q->work);
        if (apart == 0 && a < c->stages - 1) continue;
        for (int i = 0; i < space->n; i++)
            q->before[i] += matrix_column_dot(&space->layout, i, fyp + (size_t)a * apart, q->work);
        vector_zero(space->n, q->work);
    }
}

/* What mu = M'^-1 u hands on to what is explicit. */
static dae_status hand_to_explicit(dae_adjoint *j, sweep *q, const adjoint_record *r,
                                   const step_parts *p, const double *numbers)
{
    const collocation *c = r->method;
    const tangent_space *space = &j->ledger.spaces[r->space];
    const size_t n = (size_t)space->n;
    dae_status status = DAE_OK;
    for (int a = 0; a < c->stages && status == DAE_OK; a++) {
        double *mu = q->u + (size_t)a * n;
        for (int i = 0; i < space->n; i++) mu[i] = -mu[i];
        status =
            explicit_back(j, q, space, r, a, numbers + p->explicit_part + (size_t)a * p->one, mu);
    }
    return status;
}

dae_status adjoint_explain_linear(const dae_adjoint *j, linear_status status)
{
    if (status == LINEAR_MEMORY) return no_memory(j);
    return diag_set(&j->x->run->diag, DAE_ERR_SINGULAR,
                    "Adjoint: the transposed equations of a step cannot be factored.");
}

/* Solvers for another space are made when they are asked for. */
static void enter_space(sweep *q, int space)
{
    if (q->space == space) return;
    free_solvers(q);
    q->space = space;
}

/* u := M'^-1 u with one matrix of all stages, and what it hands on to S before. */
static dae_status back_directly(dae_adjoint *j, sweep *q, const adjoint_record *r,
                                const step_parts *p, const double *numbers)
{
    const tangent_space *space = &j->ledger.spaces[r->space];
    const int s = r->method->stages;
    stage_system **system = &q->system[s];
    if (!*system) *system = stage_system_new(space->n, s, space->layout.count, 0, true);
    if (!*system) return no_memory(j);
    memcpy((*system)->fy, numbers, p->matrix * sizeof *numbers);
    memcpy((*system)->fyp, numbers + p->matrix, p->matrix * sizeof *numbers);
    linear_status factored = stage_system_factor(*system, &space->layout, r->method, r->h);
    if (factored != LINEAR_OK) return adjoint_explain_linear(j, factored);
    linear_solve((*system)->solver, q->u);
    for (int i = 0; i < s * space->n; i++)
        if ((*system)->sloped[i % space->n]) q->u[i] *= r->h;
    hand_to_start(j, q, r, numbers + p->matrix, space->layout.count);
    return DAE_OK;
}

/* The same where all stages are alike. */
static dae_status back_alike(dae_adjoint *j, sweep *q, const adjoint_record *r)
{
    const tangent_space *space = &j->ledger.spaces[r->space];
    const double *fy;
    bool anew;
    stage_split **split = &q->split[r->method->stages];
    if (!*split) *split = stage_split_new(&space->layout, r->method, true);
    if (!*split) return no_memory(j);
    dae_status status = alike_of(j, q, r, &fy);
    if (status != DAE_OK) return status;
    const double *fyp = fy + space->layout.count;
    linear_status factored = stage_split_factor(*split, fy, fyp, r->h, &anew);
    if (factored != LINEAR_OK) return adjoint_explain_linear(j, factored);
    stage_split_solve(*split, q->u, q->work);
    hand_to_start(j, q, r, fyp, 0);
    return DAE_OK;
}

/* One step back: what S and S' at its beginning count for. */
static dae_status step_back(dae_adjoint *j, sweep *q, long at, const double *numbers)
{
    const adjoint_record *r = &j->records[at];
    const tangent_space *space = &j->ledger.spaces[r->space];
    const step_parts p = adjoint_parts(j, r, at);
    enter_space(q, r->space);
    seed_stages(j, q, r, space->n, numbers + p.integrals);
    dae_status status = r->alike ? back_alike(j, q, r) : back_directly(j, q, r, &p, numbers);
    if (status == DAE_OK) status = hand_to_explicit(j, q, r, &p, numbers);
    vector_copy(space->n, q->before, q->w.s);
    vector_zero(space->n, q->w.sp);
    return status;
}

/* ---- all records ---- */

dae_status adjoint_record_back(dae_adjoint *j, sweep *q, long i)
{
    const adjoint_record *r = &j->records[i];
    const double *numbers;
    dae_status read = adjoint_numbers(j, q, r, &numbers);
    if (read != DAE_OK) return read;
    adjoint_points_back(j, q, i);
    if (!r->ledger) return step_back(j, q, i, numbers);
    q->w.tau = i == j->end ? j->end_tau[q->w.functional] : 0.0;
    linear_status status =
        ledger_back(&j->ledger, numbers, r->count, j->x->run->base->form.n, &q->w);
    return status == LINEAR_OK ? DAE_OK : adjoint_explain_linear(j, status);
}

void adjoint_gather(const dae_adjoint *j, const sweep *q, double *gradient)
{
    const directions *d = &j->x->directions;
    const int n = j->start_n;
    for (int k = 0; k < d->named; k++) {
        const double *s = j->start[k];
        gradient[k] = q->direct[k];
        if (s) gradient[k] += vector_dot(n, q->w.s, s) + vector_dot(n, q->w.sp, s + n);
        if (d->inputs.count > 0)
            gradient[k] += vector_dot(d->inputs.count, q->w.inputs, directions_named(d, k));
    }
}

dae_status adjoint_sweep(dae_adjoint *j, int m, double *gradient)
{
    sweep q;
    dae_status status = adjoint_sweep_new(&q, j, m) ? DAE_OK : no_memory(j);
    for (long i = j->record_count - 1; i >= 0 && status == DAE_OK; i--)
        status = adjoint_record_back(j, &q, i);
    if (status == DAE_OK) {
        adjoint_points_back(j, &q, -1);
        adjoint_gather(j, &q, gradient);
    }
    adjoint_sweep_free(&q);
    return status;
}
