/* Newton's method for a steady state, over the states of a lead.
 *
 * F(t, Y, 0) = 0 is linearised with the algebraic variables and the slopes of states as functions
 * of the states: A dx = -x', where x' is what the equations at hand say. Left null vectors w of A
 * are conserved quantities, w'x' = 0 whatever x: corrections keep w'x, so that a reactor that
 * conserves mass comes to rest with the mass it began with. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"
#include "init/engine.h"
#include "linalg/singular_values.h"
#include "solve/linearise/linearise_parts.h"

/* Singular values below this part of the largest are zero, of A with rows of size 1: three digits
 * above what rounding leaves of a zero. */
static const double RANK_TOLERANCE = 1e-11;
/* Where A is singular Newton's method comes to a double root by halves, and ends within so many
 * tolerances of it. */
static const double NEARBY = 1e3;

typedef struct newton_work {
    steady_search *q;
    linear_work *w;
    int n, m;             /* unknowns of the lead, states */
    double *A, *scaled;   /* m x m: A, and R A C */
    double *row, *column; /* R and C: m factors each */
    rank_split split;     /* of R A C; while it stands */
    double *yp;           /* n zeros */
    double *b, *s, *sp;   /* n: work */
    double *trial, *r, *trial_r, *dx, *next;
    double *z, *part, *rates; /* m */
    dae_status failed;        /* an error that ends all; DAE_OK: none */
    double *block;
} newton_work;

static bool work_open(newton_work *k, steady_search *q)
{
    linear_work *w = q->work;
    const size_t n = (size_t)w->x->lead.n, m = (size_t)w->state_count;
    *k = (newton_work){.q = q, .w = w, .n = (int)n, .m = (int)m};
    k->block = SHARED_BLOCK(SHARE(k->A, m * m + 1), SHARE(k->scaled, m * m + 1), SHARE(k->row, m),
                            SHARE(k->column, m), SHARE(k->yp, n), SHARE(k->b, n), SHARE(k->s, n),
                            SHARE(k->sp, n), SHARE(k->trial, n), SHARE(k->r, n),
                            SHARE(k->trial_r, n), SHARE(k->dx, n), SHARE(k->next, n),
                            SHARE(k->z, m), SHARE(k->part, m), SHARE(k->rates, m));
    return k->block;
}

static void work_close(newton_work *k)
{
    rank_split_free(&k->split);
    dae_free(k->block);
}

/* ---- the matrix ---- */

/* R A C: columns in units of the error weights, rows with a largest entry of 1. */
static bool decompose(newton_work *k)
{
    const size_t m = (size_t)k->m;
    for (size_t i = 0; i < m; i++) {
        double most = 0.0;
        k->column[i] = k->w->x->lead.weights[k->w->states[i]];
        for (size_t j = 0; j < m; j++) {
            const double c = k->w->x->lead.weights[k->w->states[j]];
            most = fmax(most, fabs(k->A[i + j * m]) * c);
        }
        k->row[i] = most > 0.0 ? 1.0 / most : 1.0;
    }
    for (size_t j = 0; j < m; j++)
        for (size_t i = 0; i < m; i++)
            k->scaled[i + j * m] = k->row[i] * k->A[i + j * m] * k->column[j];
    rank_split_free(&k->split);
    return rank_split_new(&k->split, k->m, k->m, k->scaled, RANK_TOLERANCE, 0.0, NULL);
}

static engine_outcome source_linearise(engine *e)
{
    newton_work *k = e->user;
    dae_sensitivity *x = k->w->x;
    const double t = k->q->t;
    dae_status status = lead_linearise(x, t);
    if (status == DAE_OK) status = lead_factor_states(x);
    if (status == DAE_OK) status = linear_matrix(k->w, t, k->A);
    if (status == DAE_ERR_MEMORY) return ENGINE_MEMORY;
    if (status != DAE_OK) return status == DAE_ERR_SINGULAR ? ENGINE_SINGULAR : ENGINE_UNDEFINED;
    if (!vector_finite(k->m * k->m, k->A)) return ENGINE_UNDEFINED;
    if (k->m > 0 && !decompose(k)) return ENGINE_MEMORY;
    return ENGINE_MET;
}

/* ---- corrections ---- */

/* With states moved by k->s and a residual r: the others in k->s, and slopes in k->sp. */
static engine_outcome follow(newton_work *k, const double *r)
{
    vector_copy(k->n, r, k->b);
    dae_status status = lead_complete_with(k->w->x, k->q->t, k->b, k->s, k->sp);
    if (status == DAE_ERR_MEMORY) return ENGINE_MEMORY;
    return status == DAE_OK && vector_finite(k->n, k->s) ? ENGINE_MET : ENGINE_SINGULAR;
}

/* G c = -U_0' R C z: what V_0 must add so that no conserved quantity changes. */
typedef struct kept_system {
    int count;
    double *G, *right, *c; /* count^2, count, count; G is owned */
    double size;           /* of what right is a sum of */
} kept_system;

static bool kept_open(kept_system *e, const newton_work *k)
{
    const size_t m = (size_t)k->m, f = m - (size_t)k->split.rank;
    const double *U = rank_left_null(&k->split), *V = rank_null(&k->split);
    *e = (kept_system){.count = (int)f, .G = DAE_ARRAY(double, f *f + 2 * f)};
    if (!e->G) return false;
    e->right = e->G + f * f;
    e->c = e->right + f;
    for (size_t a = 0; a < f; a++)
        for (size_t i = 0; i < m; i++) {
            const double u = U[i + a * m] * k->row[i] * k->column[i];
            e->right[a] -= u * k->z[i];
            e->size += fabs(u * k->z[i]);
            for (size_t b = 0; b < f; b++) e->G[a + b * f] += u * V[i + b * m];
        }
    return true;
}

/* c, as far as G has rank; right becomes what is left. */
static bool kept_solve(kept_system *e)
{
    const size_t f = (size_t)e->count;
    rank_split g = {0};
    if (!rank_split_new(&g, e->count, e->count, e->G, 1e-8, 0.0, NULL)) return false;
    for (int l = 0; l < g.rank; l++) {
        const double *u = g.U + (size_t)l * f, *v = g.V + (size_t)l * f;
        double sum = 0.0;
        for (size_t a = 0; a < f; a++) sum += u[a] * e->right[a];
        for (size_t a = 0; a < f; a++) e->c[a] += v[a] * sum / g.sigma[l];
    }
    for (size_t a = 0; a < f; a++)
        for (size_t b = 0; b < f; b++) e->right[a] -= e->G[a + b * f] * e->c[b];
    rank_split_free(&g);
    return true;
}

/* z += V_0 c. Where z must change what is conserved, there is no correction: v of x' = v, v' = 0.
 */
static engine_outcome keep_conserved(newton_work *k)
{
    const size_t m = (size_t)k->m;
    const double *V = rank_null(&k->split);
    kept_system e;
    engine_outcome outcome = kept_open(&e, k) && kept_solve(&e) ? ENGINE_MET : ENGINE_MEMORY;
    for (int a = 0; outcome == ENGINE_MET && a < e.count; a++) {
        if (fabs(e.right[a]) > 1e-6 * e.size) outcome = ENGINE_SINGULAR;
        for (size_t i = 0; i < m; i++) k->z[i] += V[i + (size_t)a * m] * e.c[a];
    }
    dae_free(e.G);
    return outcome;
}

/* A dx = -x' for the states: dx = C z in k->part. */
static engine_outcome solve_states(newton_work *k)
{
    const size_t m = (size_t)k->m;
    const rank_split *p = &k->split;
    engine_outcome outcome = ENGINE_MET;
    vector_zero(k->m, k->z);
    for (int l = 0; l < p->rank; l++) {
        double sum = 0.0;
        for (size_t i = 0; i < m; i++) sum -= p->U[i + (size_t)l * m] * k->row[i] * k->rates[i];
        for (size_t i = 0; i < m; i++) k->z[i] += p->V[i + (size_t)l * m] * sum / p->sigma[l];
    }
    if (p->rank < k->m) outcome = keep_conserved(k);
    for (size_t i = 0; i < m; i++) k->part[i] = k->column[i] * k->z[i];
    return outcome;
}

/* Slopes of states that the equations say where their residual with Y' = 0 is r. */
static engine_outcome find_rates(newton_work *k, const double *r)
{
    vector_zero(k->n, k->s);
    engine_outcome outcome = follow(k, r);
    for (int i = 0; i < k->m; i++) k->rates[i] = k->sp[k->w->states[i]];
    return outcome;
}

static engine_outcome source_correction(engine *e, const double *r, double *dx)
{
    newton_work *k = e->user;
    engine_outcome outcome = find_rates(k, r);
    if (outcome != ENGINE_MET) return outcome;
    if (k->m > 0) outcome = solve_states(k);
    if (outcome != ENGINE_MET) return outcome;
    vector_zero(k->n, k->s);
    for (int i = 0; i < k->m; i++) k->s[k->w->states[i]] = k->part[i];
    outcome = follow(k, r);
    vector_copy(k->n, k->s, dx);
    return outcome;
}

static engine_outcome source_evaluate(engine *e)
{
    newton_work *k = e->user;
    evaluator *eval = &k->w->x->lead.solver->bound.eval;
    return engine_from(
        evaluate_residual(eval, k->q->t, e->trial, k->yp, e->trial_r, &eval->stats->residuals));
}

static engine_outcome source_last(engine *e, double *dx)
{
    (void)e, (void)dx;
    return ENGINE_MET;
}

static const engine_source steady_source = {.linearise = source_linearise,
                                            .correction = source_correction,
                                            .evaluate = source_evaluate,
                                            .last = source_last};

/* ---- the end ---- */

/* How large the terms are that make up the rate of state i. */
static double size_of_rate(const newton_work *k, int i)
{
    const lead *l = &k->w->x->lead;
    double size = 0.0;
    for (int j = 0; j < k->m; j++)
        size += fabs(k->A[(size_t)i + (size_t)j * (size_t)k->m] * l->y[k->w->states[j]]);
    return size;
}

/* Whether the rate of state i is one of rounding. */
static bool is_rounding(const newton_work *k, int i)
{
    return fabs(k->rates[i]) <= 1e3 * DBL_EPSILON * size_of_rate(k, i);
}

/* Name the state that moves most of all that do not rest. */
static bool all_rest(newton_work *k)
{
    const lead *l = &k->w->x->lead;
    double most = 0.0;
    bool rest = true;
    for (int i = 0; i < k->m; i++) {
        const int v = k->w->states[i];
        const double moved = fabs(k->rates[i]) * k->q->span / l->weights[v];
        if (!(moved > 1.0) || is_rounding(k, i)) continue;
        rest = false;
        if (!(moved > most)) continue;
        most = moved;
        k->q->mover = problem_variable(l->solver->bound.problem, v);
        k->q->rate = k->rates[i];
    }
    return rest;
}

/* Where the steady state goes as time goes on, A dx/dt = -dx'/dt: it must stay. */
static engine_outcome look_at_time(newton_work *k, bool *stays)
{
    dae_sensitivity *x = k->w->x;
    vector_zero(k->n, k->s);
    *stays = true;
    if (!x->lead.form) return ENGINE_MET; /* callbacks tell nothing of it */
    if (lead_complete(x, k->q->t, -1, 1.0, k->s, k->sp) != DAE_OK) return ENGINE_MEMORY;
    bool any = false;
    for (int i = 0; i < k->m; i++) {
        k->rates[i] = k->sp[k->w->states[i]];
        any = any || k->rates[i] != 0.0;
    }
    if (!any) return ENGINE_MET;
    engine_outcome outcome = solve_states(k);
    if (outcome != ENGINE_MET) return outcome;
    for (int i = 0; i < k->m; i++) k->rates[i] = k->part[i];
    *stays = all_rest(k);
    if (!*stays) k->q->why = "moves with time, which the equations contain";
    return ENGINE_MET;
}

/* The same at later times: a derivative by time may happen to be 0, as that of cos(time) at 0.
 * Times at which there are no values do not count. */
static bool rests_later(newton_work *k)
{
    static const double LATER[] = {0.30901699437494745, 0.8660254037844386}; /* of no period */
    lead *l = &k->w->x->lead;
    evaluator *eval = &l->solver->bound.eval;
    for (int i = 0; i < 2; i++) {
        const double t = k->q->t + LATER[i] * k->q->unit;
        if (evaluate_residual(eval, t, l->y, k->yp, k->r, &eval->stats->residuals) != EVAL_OK)
            continue;
        if (find_rates(k, k->r) != ENGINE_MET || all_rest(k)) continue;
        k->q->why = "moves with time, which the equations contain";
        return false;
    }
    return true;
}

/* Whether w'x is what it was where the search began: null vectors of A are conserved quantities
 * only if it is. */
static bool is_kept(const newton_work *k, const double *w)
{
    const lead *l = &k->w->x->lead;
    double change = 0.0, size = 0.0;
    for (int i = 0; i < k->m; i++) {
        const int v = k->w->states[i];
        const double before = k->q->began[v];
        change += w[i] * (l->y[v] - before);
        size += fabs(w[i]) * (fabs(l->y[v]) + fabs(before) + l->weights[v]);
    }
    return fabs(change) <= 1e-5 * size;
}

/* Slopes of the states beside the rest, at point p: each state is moved by up to a twentieth of
 * what it was. False: there are none. */
static bool rates_beside(newton_work *k, int p)
{
    const lead *l = &k->w->x->lead;
    const binding *b = &l->solver->bound;
    vector_copy(k->n, l->y, k->trial);
    vector_zero(k->n, k->sp);
    for (int i = 0; i < k->m; i++) {
        const int v = k->w->states[i];
        const double size = fmax(fmax(fabs(l->y[v]), fabs(k->q->began[v])), 1e4 * l->weights[v]);
        k->trial[v] += 0.1 * size * (fmod(GOLDEN * (p * k->m + i + 1), 1.0) - 0.5);
    }
    if (initializer_project(b->init, k->q->t, k->q->unit, b->kinds, l->weights, k->trial, k->sp) !=
        EVAL_OK)
        return false;
    for (int i = 0; i < k->m; i++) k->rates[i] = k->sp[k->w->states[i]];
    return vector_finite(k->m, k->rates);
}

/* Null vectors of A are conserved to first order at the rest. Which combinations are so beside it,
 * too: those in the null space of M, M_pa = w_a' x' at point p, whose columns are in units of the
 * terms. */
typedef struct conserved_search {
    int count, points;
    double *w, *size; /* m x count: w = R U_0; count; owned, in one block at w */
    double *M;        /* points x count */
    rank_split split;
} conserved_search;

static bool conserved_open(conserved_search *c, const newton_work *k)
{
    const size_t m = (size_t)k->m, f = m - (size_t)k->split.rank;
    *c = (conserved_search){.count = (int)f, .points = (int)f + 2};
    c->w = DAE_ARRAY(double, m *f + f + (f + 2) * f);
    if (!c->w) return false;
    c->size = c->w + m * f;
    c->M = c->size + f;
    for (size_t a = 0; a < f; a++)
        for (size_t i = 0; i < m; i++)
            c->w[i + a * m] = k->row[i] * rank_left_null(&k->split)[i + a * m];
    return true;
}

static void conserved_close(conserved_search *c)
{
    rank_split_free(&c->split);
    dae_free(c->w);
}

static bool conserved_solve(conserved_search *c, newton_work *k)
{
    static const double ALIKE = 1e-7; /* a sum of rates that is zero, over its terms */
    const lead *l = &k->w->x->lead;
    const size_t points = (size_t)c->points;
    for (int p = 0; p < c->points; p++) {
        if (!rates_beside(k, p)) continue;
        for (int a = 0; a < c->count; a++) {
            const double *w = c->w + (size_t)a * (size_t)k->m;
            double sum = 0.0, size = 0.0;
            for (int i = 0; i < k->m;
                 i++) { /* rates below 1e-4 tolerances per unit count as zero */
                const double least = 1e-4 / ALIKE * l->weights[k->w->states[i]] / k->q->unit;
                sum += w[i] * k->rates[i];
                size += fabs(w[i]) * fmax(fabs(k->rates[i]), least);
            }
            c->M[(size_t)p + (size_t)a * points] = sum;
            c->size[a] = fmax(c->size[a], size);
        }
    }
    for (int a = 0; a < c->count; a++) {
        if (!(c->size[a] > 0.0)) c->size[a] = 1.0;
        for (size_t p = 0; p < points; p++) c->M[p + (size_t)a * points] /= c->size[a];
    }
    return rank_split_new(&c->split, c->points, c->count, c->M, ALIKE, 1.0, NULL);
}

/* Number b of the conserved combinations; where all null vectors are, number b of these. */
static void conserved_vector(const conserved_search *c, int m, int b, double *w)
{
    const double *V = rank_null(&c->split) + (size_t)b * (size_t)c->count;
    double largest = 0.0;
    for (int i = 0; i < m; i++) {
        w[i] = 0.0;
        for (int a = 0; a < c->count; a++) {
            const double part = c->split.rank > 0 ? V[a] / c->size[a] : a == b;
            w[i] += part * c->w[i + a * m];
        }
        if (fabs(w[i]) > fabs(largest)) largest = w[i];
    }
    for (int i = 0; i < m && largest != 0.0; i++) w[i] /= largest;
}

static bool name_conserved(newton_work *k)
{
    const size_t m = (size_t)k->m;
    const int most = k->m > 0 ? k->m - k->split.rank : 0;
    dae_free(k->q->conserved);
    k->q->conserved_count = 0;
    k->q->conserved = DAE_ARRAY(double, (size_t)most *m);
    if (!k->q->conserved) return false;
    if (most == 0) return true;
    conserved_search c;
    const bool ok = conserved_open(&c, k) && conserved_solve(&c, k);
    for (int b = 0; ok && b < c.count - c.split.rank; b++) {
        double *w = k->q->conserved + (size_t)k->q->conserved_count * m;
        conserved_vector(&c, k->m, b, w);
        k->q->conserved_count += is_kept(k, w);
    }
    conserved_close(&c);
    return ok;
}

/* w'x' for number a of w = R U_0, and *rounding of its terms. */
static double null_rate(const newton_work *k, int a, double *rounding)
{
    const double *U = rank_left_null(&k->split) + (size_t)a * (size_t)k->m;
    double rate = 0.0, size = 0.0;
    for (int i = 0; i < k->m; i++) {
        rate += k->row[i] * U[i] * k->rates[i];
        size += fabs(k->row[i] * U[i]) * size_of_rate(k, i);
    }
    *rounding = 1e3 * DBL_EPSILON * size;
    return rate;
}

/* How far w'x' comes from what it is as the states go along number b of C V_0, by a tolerance to
 * either side. rates is lost. */
static double null_reach(newton_work *k, int a, int b, double rate)
{
    const lead *l = &k->w->x->lead;
    const double *V = rank_null(&k->split) + (size_t)b * (size_t)k->m;
    evaluator *eval = &l->solver->bound.eval;
    double most = 0.0, rounding;
    vector_zero(k->n, k->s);
    for (int i = 0; i < k->m; i++) k->s[k->w->states[i]] = k->column[i] * V[i];
    if (follow(k, k->yp) != ENGINE_MET) return 0.0;
    vector_copy(k->n, k->s, k->dx);
    for (int side = -1; side <= 1; side += 2) {
        for (int i = 0; i < k->n; i++) k->trial[i] = l->y[i] + side * k->dx[i];
        if (evaluate_residual(eval, k->q->t, k->trial, k->yp, k->trial_r,
                              &eval->stats->residuals) == EVAL_OK &&
            find_rates(k, k->trial_r) == ENGINE_MET)
            most = fmax(most, fabs(null_rate(k, a, &rounding) - rate));
    }
    return most;
}

/* No correction changes w'x' at first order. It must be zero, but for rounding, or become so
 * nearby, as at double roots. If not, nothing stops what moves so slowly that it seems to rest, as
 * p of x' = -x, p' = x p + 1e-9. */
static engine_outcome null_rests(newton_work *k, bool *rests)
{
    const int count = k->m - k->split.rank;
    *rests = true;
    for (int a = 0; a < count && *rests; a++) {
        double rounding, reach = 0.0;
        const double rate = null_rate(k, a, &rounding);
        if (fabs(rate) <= rounding) continue;
        for (int b = 0; b < count; b++) reach += null_reach(k, a, b, rate);
        engine_outcome outcome = find_rates(k, k->r);
        if (outcome != ENGINE_MET) return outcome;
        *rests = fabs(rate) <= NEARBY * reach;
    }
    return ENGINE_MET;
}

/* Whether the correction behind the last one is within the tolerances. */
static bool is_settled(const newton_work *k)
{
    for (int i = 0; i < k->m; i++)
        if (!(fabs(k->part[i]) <= k->column[i]) && !is_rounding(k, i)) return false;
    return true;
}

/* Whether the equations have a solution close to a point at which rates are within the tolerances.
 */
static engine_outcome look_closer(newton_work *k, bool *found)
{
    engine_outcome outcome = null_rests(k, found);
    if (outcome == ENGINE_MET && *found) {
        outcome = solve_states(k);
        *found = outcome == ENGINE_MET && is_settled(k);
    }
    if (!*found) k->q->why = "has rates below the tolerances, which do not come to zero nearby";
    return outcome;
}

/* The point that the iteration came to: does everything rest, and go on resting? */
static engine_outcome inspect(newton_work *k, engine *e, bool *found)
{
    engine_outcome outcome = source_linearise(e);
    lead *l = &k->w->x->lead;
    evaluator *eval = &l->solver->bound.eval;
    if (outcome == ENGINE_MET)
        outcome = engine_from(
            evaluate_residual(eval, k->q->t, l->y, k->yp, k->r, &eval->stats->residuals));
    if (outcome == ENGINE_MET) outcome = find_rates(k, k->r);
    if (outcome != ENGINE_MET) return outcome;
    *found = all_rest(k);
    if (!*found) {
        k->q->why = "moves on";
        return ENGINE_MET;
    }
    if (k->m > 0) outcome = look_closer(k, found);
    if (outcome != ENGINE_MET || !*found) return outcome;
    outcome = look_at_time(k, found);
    *found = *found && rests_later(k);
    return outcome == ENGINE_MET && *found && !name_conserved(k) ? ENGINE_MEMORY : outcome;
}

dae_status steady_newton(steady_search *q, bool *found)
{
    enum { MOST_STEPS = 60 };
    newton_work k;
    lead *l = &q->work->x->lead;
    *found = false;
    if (!work_open(&k, q)) return sensitivity_no_memory(q->work->x);
    vector_zero(l->n, l->yp);
    engine e = {.source = &steady_source, .user = &k, .n = k.n, .m = k.n, .counted = k.n};
    e.x = l->y, e.trial = k.trial, e.r = k.r, e.trial_r = k.trial_r, e.dx = k.dx, e.next = k.next;
    e.size = l->weights;
    e.tolerance = 1e-5; /* of the error weights: the correction behind it goes to rounding */
    e.longest_stride = 1.0;
    e.remembers = true;
    e.most = MOST_STEPS;
    evaluator *eval = &l->solver->bound.eval;
    engine_outcome outcome =
        engine_from(evaluate_residual(eval, q->t, l->y, k.yp, k.r, &eval->stats->residuals));
    if (outcome == ENGINE_MET) outcome = engine_solve(&e);
    q->iterations = e.taken;
    if (outcome == ENGINE_MET) outcome = inspect(&k, &e, found);
    work_close(&k);
    if (outcome == ENGINE_MEMORY) return sensitivity_no_memory(q->work->x);
    if (outcome != ENGINE_STOP) return DAE_OK;
    return evaluator_report(eval, EVAL_STOP, &q->work->run->diag);
}
