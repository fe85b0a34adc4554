/* The adjoint equations of F_Y S + F_Y' S' + F_p = 0, integrated from the end of a run to its
 * start:
 *
 *     psi' = F_Y' mu - g_Y,    psi + g_Y' = F_Y'' mu     (of the transposed matrices),
 *
 * the augmented adjoint system [CLPS03] with mu for -lambda: psi is what S of the states
 * counts for, and algebraic rows 0 = F_z' mu - g_z hold mu. Then
 *
 *     dJ/dp = psi S at the start + the integral of g_p - mu F_p.
 *
 * F is the index-1 form that shows all constraints, whatever the index of the model is; so it is
 * enough to complete: what an algebraic variable, a slope or a multiplier counts for at a point
 * goes to the states through the transposed equations of that point. Steps, which are Radau IIA,
 * and their error test are this file's own. */
#include <math.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"
#include "solve/run/run.h"
#include "solve/sensitivity/adjoint_parts.h"
#include "solve/sensitivity/adjoint_plain.h"

/* All that belongs to one point of the way back. */
typedef struct back_point {
    double t;
    double *y;             /* Y, then Y' */
    double *fy, *fyp;      /* on the layout */
    double *explicit_part; /* what F_p follows from */
    double *g, *gp;        /* what S and S' count for in the integrand; n each */
    double *mu, *psi;      /* n each */
    double *seed;          /* g_p; per input */
    double *slope;         /* g_p - mu F_p; likewise */
} back_point;

typedef struct back {
    dae_adjoint *j;
    sweep q; /* q.w.s is psi, where the way back stands */
    replay at;
    const collocation *c;
    collocation stages_method, filter_method; /* inverse transposed; of one stage, with gamma */
    double inverse[COLLOCATION_STAGES * COLLOCATION_STAGES];
    stage_system *system, *filter, *completion; /* transposed; of layout `version` */
    long version;
    back_point point[COLLOCATION_STAGES + 1]; /* the beginning of a step, then its stages */
    double *room;                             /* of all points; owned */
    size_t inputs, named; /* what J is differentiated by: inputs of a model, then by themselves
                             parameters, where callbacks have them */
    double *work;         /* n s; owned */
    double *total;        /* inputs: integrals of |slope| and completions so far, */
    double *error;        /* and what the last step may be wrong by; owned: total */
    double *size;         /* inputs: what they are of the size of */
    plain_parts plain;
    double *numbers;
    size_t number_room;
    long record; /* whose numbers these are; -1: none */
    long found;  /* the record that a time was in last */
    double t, h; /* where it stands; the step that the error test permits, 0: not known */
    double last; /* the length of the last step; 0: there is none */
    double factored, filtered; /* the h of factors that stand; 0: there are none */
    double floor;
} back;

static dae_status no_memory(const back *b)
{
    return sensitivity_no_memory(b->j->x);
}

/* ---- tolerances ---- */

double continuous_floor(const dae_adjoint *j, int m)
{
    const dae_sensitivity *x = j->x;
    const double atol = x->request.atol > 0.0 ? x->request.atol : x->run->base_options.atol;
    double sum = 0.0, weight = 0.0;
    for (long i = 0; i < j->point_count; i++)
        for (int k = 0; j->points[i].functional == m && k < j->points[i].n; k++)
            sum += fabs(j->points[i].weight[k]);
    for (int i = 0; i < j->variables; i++)
        weight += fabs(j->integral[(size_t)m * (size_t)j->variables + (size_t)i]);
    return atol * (sum + weight * fabs(x->t - j->began));
}

static double relative(const back *b)
{
    const dae_sensitivity *x = b->j->x;
    return x->request.rtol > 0.0 ? x->request.rtol : x->run->base_options.rtol;
}

/* What an error of 1 is in psi_i at a point: psi_i Y_i is of the size of J. */
static double psi_weight(const back *b, int i, double psi, double y)
{
    const double rtol = b->at.rtol[i];
    return rtol * fabs(psi) + b->floor / (fabs(y) + b->at.atol[i] / rtol);
}

/* Inputs are of the size of what moves them. */
static void take_sizes(back *b)
{
    const directions *d = &b->j->x->directions;
    for (size_t k = 0; k < (size_t)d->named; k++) {
        for (size_t i = 0; i < b->inputs; i++)
            b->size[i] = fmax(b->size[i], fabs(directions_named(d, (int)k)[i]) * d->list[k].size);
        if (b->named > 0) b->size[b->inputs + k] = d->list[k].size;
    }
}

/* ---- room ---- */

static void back_free(back *b)
{
    adjoint_sweep_free(&b->q);
    stage_system_free(b->system);
    stage_system_free(b->filter);
    stage_system_free(b->completion);
    plain_free(&b->plain);
    dae_free_all(b->room, b->work, b->total, b->numbers);
}

static size_t point_size(const back *b, size_t n, size_t entries, size_t rows)
{
    return 6 * n + 2 * entries + rows + 2 * (b->inputs + b->named);
}

static void lay_point(const back *b, back_point *p, double *at, size_t n, size_t entries,
                      size_t rows)
{
    p->y = at;
    p->g = at + 2 * n;
    p->gp = at + 3 * n;
    p->mu = at + 4 * n;
    p->psi = at + 5 * n;
    p->fy = at + 6 * n;
    p->fyp = p->fy + entries;
    p->explicit_part = p->fyp + entries;
    p->seed = p->explicit_part + rows;
    p->slope = p->seed + b->inputs + b->named;
}

/* Points and matrices of the layout at hand. */
static dae_status take_layout(back *b)
{
    const replay *r = &b->at;
    const size_t n = (size_t)r->n, s = (size_t)b->c->stages, entries = r->layout->count;
    const size_t one = point_size(b, n, entries, r->explicit_size);
    if (b->version == r->version) return DAE_OK;
    b->version = r->version;
    b->factored = b->filtered = 0.0;
    stage_system_free(b->system);
    stage_system_free(b->filter);
    stage_system_free(b->completion);
    dae_free_all(b->room, b->work);
    b->room = DAE_ARRAY(double, one *(s + 1));
    b->work = DAE_ARRAY(double, n *s);
    b->system = stage_system_new(r->n, b->c->stages, entries, 0, true);
    b->filter = stage_system_new(r->n, 1, entries, 0, true);
    b->completion = stage_system_new(r->n, 1, entries, 0, true);
    if (!b->room || !b->work || !b->system || !b->filter || !b->completion) return no_memory(b);
    for (size_t a = 0; a <= s; a++)
        lay_point(b, &b->point[a], b->room + a * one, n, entries, r->explicit_size);
    return DAE_OK;
}

static dae_status back_new(back *b, dae_adjoint *j, int m)
{
    const directions *d = &j->x->directions;
    const int s = j->x->method->stages;
    *b = (back){.j = j, .c = j->x->method, .at = {.j = j}, .record = -1, .found = -1};
    const bool model = j->x->run->base->model;
    b->inputs = model ? (size_t)d->inputs.count : 0;
    b->named = !model || j->integrand ? (size_t)d->named : 0;
    const size_t all = b->inputs + b->named;
    const bool ok = adjoint_sweep_new(&b->q, j, m);
    b->total = DAE_ARRAY(double, 3 * all);
    if (!ok || !b->total) return no_memory(b);
    b->error = b->total + all;
    b->size = b->error + all;
    take_sizes(b);
    b->floor = continuous_floor(j, m);
    for (int i = 0; i < s; i++)
        for (int k = 0; k < s; k++) b->inverse[i * s + k] = b->c->inverse[k * s + i];
    b->stages_method = (collocation){.stages = s, .inverse = b->inverse};
    b->filter_method = (collocation){.stages = 1, .inverse = &b->c->gamma};
    return DAE_OK;
}

/* ---- values of the trajectory ---- */

/* The numbers of record i. */
static dae_status load_record(back *b, long i, const double **numbers)
{
    const adjoint_record *r = &b->j->records[i];
    dae_status status = r->numbers || !b->j->recall ? DAE_OK : recall_find(b->j, i, b->found);
    *numbers = r->numbers;
    if (r->numbers || status != DAE_OK) return status;
    *numbers = b->numbers;
    if (b->record == i) return DAE_OK;
    b->record = -1;
    if (!dae_grow(&b->numbers, &b->number_room, r->count, sizeof *b->numbers)) return no_memory(b);
    const double *read;
    status = adjoint_numbers(b->j, &b->q, r, &read);
    if (status != DAE_OK) return status;
    memcpy(b->numbers, read, r->count * sizeof *read);
    *numbers = b->numbers;
    b->record = i;
    return DAE_OK;
}

/* y = Y and Y' at t, within records first .. b->found. */
static dae_status trajectory_at(back *b, long first, double t, double *y)
{
    const adjoint_record *list = b->j->records;
    const size_t n = (size_t)b->at.n;
    double weight[COLLOCATION_STAGES + 1];
    const double *numbers;
    long i = b->found;
    while (i > first && (t - list[i].t) * list[i].h < 0.0) i--;
    dae_status status = load_record(b, i, &numbers);
    if (status != DAE_OK) return status;
    trajectory_weights(b->c, (t - list[i].t) / list[i].h, weight);
    vector_zero((int)(2 * n), y);
    for (size_t a = 0; a <= (size_t)b->c->stages; a++)
        vector_axpy((int)(2 * n), weight[a], numbers + 2 * n * a, y);
    return DAE_OK;
}

/* ---- a point ---- */

/* What S and S' count for in the integrand. */
static dae_status take_seeds(back *b, back_point *p)
{
    dae_adjoint *j = b->j;
    const int m = b->q.w.functional, n = b->at.n;
    double value, weight = 0.0;
    vector_zero(n, p->g);
    vector_zero(n, p->gp);
    vector_zero((int)(b->inputs + b->named), p->seed);
    if (!j->integrated[m]) return DAE_OK;
    dae_status status = replay_outputs(&b->at, p->t, p->y);
    if (status == DAE_OK) status = adjoint_take_integrand(j, m, p->t, &value);
    if (status != DAE_OK) return status;
    adjoint_spread(j, b->at.outputs, j->by_v, p->g, p->gp, p->seed);
    vector_copy((int)b->named, j->by_p, p->seed + b->inputs);
    for (int i = 0; i < n; i++)
        if (!b->at.state[i]) p->gp[i] = 0.0;
    for (int i = 0; j->integrand && i < j->variables; i++) weight += fabs(j->by_v[i]);
    const double atol =
        j->x->request.atol > 0.0 ? j->x->request.atol : j->x->run->base_options.atol;
    b->floor = fmax(b->floor, atol * weight * fabs(j->x->t - j->began));
    return DAE_OK;
}

/* Slopes of what the form calls algebraic would have no place in psi. */
static dae_status check_columns(const back *b, const back_point *p)
{
    for (int i = 0; i < b->at.n; i++) {
        if (b->at.state[i]) continue;
        const matrix_column column = layout_column(b->at.layout, i);
        for (int k = 0; k < column.count; k++)
            if (p->fyp[column.first + (size_t)k] != 0.0)
                return diag_set(&b->j->x->run->diag, DAE_ERR_UNSUPPORTED,
                                "Adjoint: at t = %.9g the equations have slopes of unknown %d, "
                                "which does not count as a state; the continuous adjoint cannot go "
                                "back through them. Take the discrete one.",
                                p->t, i);
    }
    return DAE_OK;
}

/* All of the equations at t. */
static dae_status take_point(back *b, long first, double t, back_point *p)
{
    p->t = t;
    dae_status status = trajectory_at(b, first, t, p->y);
    if (status == DAE_OK)
        status = replay_linearise(&b->at, t, p->y, p->fy, p->fyp, p->explicit_part);
    if (status == DAE_OK) status = check_columns(b, p);
    return status == DAE_OK ? take_seeds(b, p) : status;
}

/* psi = F_Y'' mu - g_Y' of the states, where mu is known */
static void take_psi(const back *b, back_point *p)
{
    for (int i = 0; i < b->at.n; i++)
        p->psi[i] =
            b->at.state[i] ? matrix_column_dot(b->at.layout, i, p->fyp, p->mu) - p->gp[i] : 0.0;
}

/* dpsi/d(-t) = g - F_Y' mu */
static double falls(const back *b, const back_point *p, int i)
{
    return p->g[i] - matrix_column_dot(b->at.layout, i, p->fy, p->mu);
}

/* slope = - mu F_p, which is added */
static dae_status add_explicit(back *b, back_point *p)
{
    for (int i = 0; i < b->at.n; i++) b->work[i] = -p->mu[i];
    return replay_explicit_back(&b->at, p->t, p->y, p->explicit_part, b->work,
                                p->slope + (b->at.rows ? 0 : b->inputs));
}

static dae_status take_slope(back *b, back_point *p)
{
    vector_copy((int)(b->inputs + b->named), p->seed, p->slope);
    return add_explicit(b, p);
}

/* The integral grows: inputs of a model, and parameters by themselves, count for more. */
static void add_integral(back *b, double by, const double *slope)
{
    vector_axpy((int)b->inputs, by, slope, b->q.w.inputs);
    vector_axpy((int)b->named, by, slope + b->inputs, b->q.direct);
}

/* What mu of a completion does to it. That is a part of the gradient as the integral is, and may be
 * all of it: an integral that is nothing but rounding is compared with it, too. */
static dae_status add_completion(back *b, back_point *p)
{
    vector_zero((int)(b->inputs + b->named), p->slope);
    dae_status status = add_explicit(b, p);
    if (status != DAE_OK) return status;
    add_integral(b, 1.0, p->slope);
    for (size_t i = 0; i < b->inputs + b->named; i++) b->total[i] += fabs(p->slope[i]);
    return DAE_OK;
}

/* ---- completion ---- */

/* The transposed matrix of columns of dF/dY for algebraic variables, dF/dY' for states. */
static dae_status factor_completion(back *b, const back_point *p)
{
    for (int i = 0; i < b->at.n; i++) {
        const matrix_column column = layout_column(b->at.layout, i);
        const double *from = (b->at.state[i] ? p->fyp : p->fy) + column.first;
        memcpy(b->completion->fy + column.first, from, (size_t)column.count * sizeof *from);
    }
    linear_status status = stage_system_factor(b->completion, b->at.layout, &b->filter_method, 1.0);
    return status == LINEAR_OK ? DAE_OK : adjoint_explain_linear(b->j, status);
}

/* What S of algebraic variables and S' of states count for at the point goes to S of states and to
 * what is explicit: the terminal condition of whatever index [CLPS03]. */
static dae_status complete(back *b, back_point *p)
{
    ledger_weights *w = &b->q.w;
    for (int i = 0; i < b->at.n; i++) {
        p->mu[i] = b->at.state[i] ? w->sp[i] : w->s[i];
        if (!b->at.state[i]) w->s[i] = 0.0;
        w->sp[i] = 0.0;
    }
    linear_solve(b->completion->solver, p->mu);
    for (int i = 0; i < b->at.n; i++)
        if (b->at.state[i]) w->s[i] -= matrix_column_dot(b->at.layout, i, p->fy, p->mu);
    return add_completion(b, p);
}

static dae_status refuse_slope(const back *b, int i)
{
    return diag_set(&b->j->x->run->diag, DAE_ERR_UNSUPPORTED,
                    "Adjoint: a functional counts the slope of unknown %d at t = %.9g, which only "
                    "derivatives of constraints determine. Take the discrete adjoint.",
                    i, b->t);
}

/* The same where constraints do not show. */
static dae_status begin_plain(back *b)
{
    enum { MOST = 1000 }; /* null spaces are those of a dense matrix */
    back_point *p = &b->point[0];
    ledger_weights *w = &b->q.w;
    if (b->at.n > MOST)
        return diag_set(&b->j->x->run->diag, DAE_ERR_UNSUPPORTED,
                        "Adjoint: constraints of the %d equations do not show, and beyond %d the "
                        "continuous adjoint does not look for them. Take the discrete one.",
                        b->at.n, MOST);
    for (int i = 0; i < b->at.n; i++)
        if (w->sp[i] != 0.0 || p->gp[i] != 0.0) return refuse_slope(b, i);
    linear_status solved = plain_split(&b->plain, b->at.layout, p->fy, p->fyp);
    if (solved != LINEAR_OK) return adjoint_explain_linear(b->j, solved);
    plain_complete(&b->plain, b->at.layout, p->fy, w->s, p->mu);
    dae_status status = add_completion(b, p);
    if (status != DAE_OK) return status;
    plain_solve(&b->plain, b->at.layout, p->fy, w->s, p->g, p->mu);
    vector_copy(b->at.n, w->s, p->psi);
    return take_slope(b, p);
}

/* Begin at the point b->point[0], which was taken: what was added to w is completed, and mu there
 * found. */
static dae_status begin_here(back *b)
{
    back_point *p = &b->point[0];
    const ledger_weights *w = &b->q.w;
    if (b->at.plain) return begin_plain(b);
    dae_status status = factor_completion(b, p);
    if (status == DAE_OK) status = complete(b, p);
    if (status != DAE_OK) return status;
    for (int i = 0; i < b->at.n; i++) p->mu[i] = b->at.state[i] ? w->s[i] + p->gp[i] : p->g[i];
    linear_solve(b->completion->solver, p->mu);
    vector_copy(b->at.n, w->s, p->psi);
    return take_slope(b, p);
}

/* ---- a step ---- */

static void unscale(const stage_system *q, int n, double h, double *mu)
{
    for (int i = 0; i < n; i++)
        if (q->sloped[i]) mu[i] *= h;
}

/* mu of all stages: (1/h) sum_k inverse_ak (F_Y'' mu - g_Y')_k + F_Y' mu_a = g_a + (1/h) sum_k
 * inverse_ak psi, over t - c_a h. */
static dae_status solve_stages(back *b, double h)
{
    const collocation *c = b->c;
    const int n = b->at.n;
    for (int a = 0; a < c->stages; a++) {
        double *u = b->work + (size_t)a * (size_t)n;
        vector_copy(n, b->point[1 + a].g, u);
        for (int k = 0; k < c->stages; k++) {
            const double by = c->inverse[a * c->stages + k] / h;
            vector_axpy(n, by, b->point[1 + k].gp, u);
            vector_axpy(n, by, b->point[0].psi, u);
        }
    }
    if (b->factored != h) {
        b->factored = 0.0;
        linear_status status = stage_system_factor(b->system, b->at.layout, &b->stages_method, h);
        if (status != LINEAR_OK) return adjoint_explain_linear(b->j, status);
        b->factored = h;
    }
    linear_solve(b->system->solver, b->work);
    for (int a = 0; a < c->stages; a++) {
        double *mu = b->work + (size_t)a * (size_t)n;
        unscale(b->system, n, h, mu);
        vector_copy(n, mu, b->point[1 + a].mu);
        take_psi(b, &b->point[1 + a]);
    }
    return DAE_OK;
}

/* The matrices of stage a of a system become those of a point; whether they were others before. */
static bool keep_matrices(stage_system *q, int a, const back_point *p)
{
    const size_t bytes = q->count * sizeof(double), at = (size_t)a * q->count;
    if (memcmp(q->fy + at, p->fy, bytes) == 0 && memcmp(q->fyp + at, p->fyp, bytes) == 0)
        return false;
    memcpy(q->fy + at, p->fy, bytes);
    memcpy(q->fyp + at, p->fyp, bytes);
    return true;
}

/* The error of psi by the difference of two formulas, filtered [HW96 (IV.8.19)]: (gamma/h F_Y'' +
 * F_Y') e = psi' - (1/h) sum left_a (psi_a - psi), and F_Y'' e is that of psi. */
static dae_status estimate(back *b, double h, double *error)
{
    const collocation *c = b->c;
    const back_point *from = &b->point[0];
    const int n = b->at.n;
    double *e = b->work, sum = 0.0;
    int tested = 0;
    for (int i = 0; i < n; i++) {
        e[i] = b->at.state[i] ? falls(b, from, i) : 0.0;
        for (int a = 0; a < c->stages && b->at.state[i]; a++)
            e[i] -= c->left[a] / h * (b->point[1 + a].psi[i] - from->psi[i]);
    }
    *error = 0.0;
    if (keep_matrices(b->filter, 0, from) || b->filtered != h) {
        b->filtered = 0.0;
        linear_status status = stage_system_factor(b->filter, b->at.layout, &b->filter_method, h);
        if (status == LINEAR_MEMORY) return no_memory(b);
        if (status != LINEAR_OK) return DAE_OK; /* no estimate: singular for this shift alone */
        b->filtered = h;
    }
    linear_solve(b->filter->solver, e);
    unscale(b->filter, n, h, e);
    for (int i = 0; i < n; i++) {
        if (!b->at.state[i]) continue;
        const double most = fmax(fabs(from->psi[i]), fabs(b->point[c->stages].psi[i]));
        const double allowed = psi_weight(b, i, most, from->y[i]);
        const double part = matrix_column_dot(b->at.layout, i, from->fyp, e);
        if (part == 0.0) continue;
        sum += allowed > 0.0 ? part * part / (allowed * allowed) : INFINITY;
        tested++;
    }
    if (tested > 0) *error = sqrt(sum / tested);
    return DAE_OK;
}

/* Integrals have the error test of a state whose slope is the integrand. */
static void judge_integrals(back *b, double h, double *error)
{
    const collocation *c = b->c;
    double by[COLLOCATION_STAGES] = {0.0};
    for (int a = 0; a < c->stages; a++)
        for (int k = 0; k < c->stages; k++) by[a] -= c->left[k] * c->A[k * c->stages + a];
    for (size_t i = 0; i < b->inputs + b->named; i++) {
        double gap = b->point[0].slope[i], size = 0.0;
        for (int a = 0; a < c->stages; a++) {
            gap += by[a] * b->point[1 + a].slope[i];
            size += fabs(h * c->b[a] * b->point[1 + a].slope[i]);
        }
        b->error[i] = size;
        const double allowed =
            relative(b) * (b->total[i] + size) + (b->size[i] > 0.0 ? b->floor / b->size[i] : 0.0);
        if (gap != 0.0 && allowed > 0.0) *error = fmax(*error, fabs(h / c->gamma * gap) / allowed);
    }
}

/* One step of length h, back from b->t; nothing has moved where *error is above 1. */
static dae_status try_step(back *b, long first, double h, double *error)
{
    const collocation *c = b->c;
    dae_status status = DAE_OK;
    for (int a = 0; a < c->stages && status == DAE_OK; a++) {
        back_point *p = &b->point[1 + a];
        status = take_point(b, first, a == c->stages - 1 ? b->t - h : b->t - c->nodes[a] * h, p);
        if (keep_matrices(b->system, a, p)) b->factored = 0.0;
    }
    if (status == DAE_OK) status = solve_stages(b, h);
    if (status == DAE_OK) status = estimate(b, h, error);
    if (status != DAE_OK || *error > 1.0) return status;
    for (int a = 0; a < c->stages && status == DAE_OK; a++)
        status = take_slope(b, &b->point[1 + a]);
    if (status == DAE_OK) judge_integrals(b, h, error);
    return status;
}

/* The end of the step is the beginning of the next one. */
static void move(back *b, double h)
{
    const collocation *c = b->c;
    for (int a = 0; a < c->stages; a++) add_integral(b, h * c->b[a], b->point[1 + a].slope);
    vector_axpy((int)(b->inputs + b->named), 1.0, b->error, b->total);
    const back_point last = b->point[c->stages];
    b->point[c->stages] = b->point[0];
    b->point[0] = last;
    vector_copy(b->at.n, last.psi, b->q.w.s);
    b->t = last.t;
    while (b->found > 0 && (b->t - b->j->records[b->found].t) * b->j->records[b->found].h <= 0.0 &&
           !b->j->records[b->found - 1].ledger)
        b->found--;
}

/* ---- a stretch ---- */

/* No step is longer than so many records as it has stages: what the run has seen is seen again. */
static double longest(const back *b, long first)
{
    long i = b->found - b->c->stages + 1;
    if (i < first) i = first;
    return b->t - b->j->records[i].t;
}

/* The next step of what is left; all steps up to there are alike, and of the length of the last one
 * where that will do: equations that do not change then need no new factors. */
static double next_length(const back *b, long first, double left, bool *ends)
{
    static const double LONGER = 1.5;
    double h = longest(b, first);
    if (b->h > 0.0) h = copysign(fmin(fabs(h), b->h), left);
    if (h / b->last >= 1.0 && h / b->last < LONGER) h = b->last;
    const double parts = ceil(left / h * (1.0 - 1e-9));
    *ends = parts <= 1.0;
    h = *ends ? left : left / parts;
    return fabs(h - b->last) <= 1e-9 * fabs(b->last) ? b->last : h;
}

static dae_status explain_stuck(const back *b, double h)
{
    dae_diag *diag = &b->j->x->run->diag;
    diag->t = b->t;
    diag->h = h;
    return diag_set(diag, DAE_ERR_ERROR_TEST,
                    "Adjoint: the error test of the adjoint equations fails at t = %.9g with steps "
                    "down to %.3g. Take other tolerances, or the discrete adjoint.",
                    b->t, fabs(h));
}

/* Positions of callbacks that have become bad are exchanged; psi goes over. */
static dae_status hold_choice(back *b, long first)
{
    bool changed;
    dae_status status = replay_hold(&b->at, b->t, b->point[0].y, &changed);
    if (status != DAE_OK || !changed) return status;
    status = take_layout(b);
    if (status == DAE_OK) status = take_point(b, first, b->t, &b->point[0]);
    return status == DAE_OK ? begin_here(b) : status;
}

/* Back to `end`, within the records from `first` on. */
static dae_status integrate(back *b, long first, double end)
{
    dae_status status = DAE_OK;
    while (b->t != end && status == DAE_OK) {
        double error = 0.0;
        bool ends;
        const double left = b->t - end, h = next_length(b, first, left, &ends);
        if (fabs(h) <= 4e-16 * fabs(b->t) || b->t - h == b->t) return explain_stuck(b, h);
        status = hold_choice(b, first);
        if (status == DAE_OK) status = try_step(b, first, h, &error);
        if (status != DAE_OK) break;
        const double factor = error > 0.0 ? 0.9 * pow(error, -1.0 / (b->c->stages + 1.0)) : 5.0;
        if (!(error <= 1.0)) {
            b->h = fabs(h) * fmin(0.9, fmax(0.1, isnan(error) ? 0.1 : factor));
            continue;
        }
        if (ends) b->point[b->c->stages].t = end;
        move(b, h);
        b->last = h;
        const double next = fabs(h) * fmin(5.0, fmax(0.2, factor));
        b->h = fabs(h) < 0.9 * b->h ? fmax(b->h, next) : next;
    }
    return status;
}

/* The last record before which a point counts for this functional; -1: there is none. */
static long next_point(back *b)
{
    const dae_adjoint *j = b->j;
    sweep *q = &b->q;
    while (q->point > 0 && j->points[q->point - 1].functional != q->w.functional) q->point--;
    return q->point > 0 ? j->points[q->point - 1].record : -1;
}

static double end_of(const dae_adjoint *j, long i)
{
    return j->records[i].t + j->records[i].h;
}

/* From the end of record `last` to where record `first` begins, all of one stretch. Points on the
 * way add to psi. */
static dae_status stretch_back(back *b, long first, long last)
{
    dae_adjoint *j = b->j;
    const double *numbers;
    b->found = last;
    b->t = end_of(j, last);
    dae_status status = load_record(b, last, &numbers);
    if (status == DAE_OK) {
        const size_t n = (size_t)j->ledger.spaces[j->records[last].space].n;
        status = replay_enter(&b->at, j->records[last].stretch, b->t,
                              numbers + 2 * n * (size_t)b->c->stages);
    }
    if (status == DAE_OK) status = take_layout(b);
    for (long i = last; i >= first && status == DAE_OK;) {
        adjoint_points_back(j, &b->q, i);
        status = take_point(b, first, b->t, &b->point[0]);
        if (status == DAE_OK) status = begin_here(b);
        const long point = next_point(b);
        i = point >= first ? point : first - 1;
        if (status == DAE_OK) status = integrate(b, first, j->records[i + 1].t);
    }
    return status;
}

/* The first record of the stretch that record i belongs to. */
static long first_of(const dae_adjoint *j, long i)
{
    while (i > 0 && !j->records[i - 1].ledger && j->records[i - 1].stretch == j->records[i].stretch)
        i--;
    return i;
}

dae_status continuous_sweep(dae_adjoint *j, int m, double *gradient)
{
    back b;
    dae_status status = back_new(&b, j, m);
    for (long i = j->record_count - 1; i >= 0 && status == DAE_OK;) {
        if (j->records[i].ledger) {
            status = adjoint_record_back(j, &b.q, i--);
            continue;
        }
        const long first = first_of(j, i);
        status = stretch_back(&b, first, i);
        i = first - 1;
    }
    if (status == DAE_OK) {
        adjoint_points_back(j, &b.q, -1);
        adjoint_gather(j, &b.q, gradient);
    }
    const dae_status left = replay_leave(&b.at);
    back_free(&b);
    return status == DAE_OK ? left : status;
}
