/* What errors of the run do to S.
 *
 * S is linearised at the run's own solution u, not at that of the equations, y. One Newton step of
 * the collocation on the equations themselves, from u, gives v, which has the errors of S' steps
 * alone. Their difference e = u - v is one more column of the linear system that S is solved by:
 *
 *     F_Y e + F_Y' e' = F(t, u, u')
 *
 * with u' the slope of the polynomial through the stages. To first order S is then off by E:
 *
 *     F_Y E + F_Y' E' + (F_Y(u) - F_Y(v)) S + (F_Y'(u) - F_Y'(v)) S' + F_p(u) - F_p(v) = 0
 *
 * This is the defect correction of [Ste78], of which S takes no profit: it stays on the
 * linearised constraints of the run's solution. Errors go through events as S does. Up to a few
 * directions have an E of their own; of more, mixtures have one: their number bounds the cost. */
#include "solve/sensitivity/run_error.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"
#include "method/common/interpolation.h"
#include "solve/run/run.h"
#include "solve/sensitivity/stage_system.h"
#include "solve/sensitivity/tangent_past.h"

/* In tolerances of S: what is told. */
static const double FAR_OFF = 100.0;

enum { MOST_GROUPS = 4 };

struct run_error {
    int groups, named;
    double *part; /* named: of its size in the mixture of its group; owned */
    bool off;     /* the equations could not be evaluated at v: nothing is known */
    bool told;
    int n, base;    /* unknowns of the lead that the work is for, and of the user; 0: none */
    double *from;   /* n: u where the step begins; owned, with all work */
    double *end;    /* n: v' there */
    double *term;   /* n: of the highest degree in u over the step */
    double from_t;  /* at this time; NAN: not known */
    double *slopes; /* stages rows of n: u', then e' */
    double *errors;
    double *s, *sp;        /* per group and stage: S and S' of the mixture */
    double *sum;           /* 2 n */
    double *moved;         /* inputs */
    size_t entries;        /* of the matrices, */
    double *change;        /* and what these are at u above v: F_Y, then F_Y' */
    double *last;          /* F_Y and F_Y' at v where the last step has ended, */
    double *last_explicit; /* groups rows of n: and -F_p of the mixtures */
    bool last_known;
    double last_h;   /* of that step */
    double *gap;     /* groups rows of n: what two slopes of v make of E where the step begins */
    double *largest; /* named rows of base: size_k max|dy/dp_k|; owned, with the next two */
    double *worst, *when; /* groups rows of base: largest |E|, and its time */
    double *user;         /* base */
};

/* ---- life ---- */

void run_error_free(run_error *e)
{
    if (e) dae_free_all(e->part, e->from, e->largest, e);
}

/* Parts that nothing favours; of one alone it is all. */
static void choose_parts(run_error *e)
{
    for (int k = 0; k < e->named; k++) {
        const double more = fmod((k / e->groups) * GOLDEN, 1.0);
        e->part[k] = e->named <= e->groups ? 1.0
                     : (k / e->groups) % 2 ? -1.0 + 0.5 * more
                                           : 1.0 - 0.5 * more;
    }
}

run_error *run_error_new(directions *d, bool alone)
{
    run_error *e = DAE_NEW(run_error);
    if (!e) return NULL;
    e->named = d->named;
    e->groups = alone ? 0 : d->named < MOST_GROUPS ? d->named : MOST_GROUPS;
    e->part = DAE_ARRAY(double, d->named);
    e->from_t = NAN;
    if (e->part && directions_add_errors(d, 1 + e->groups)) {
        if (!alone) choose_parts(e);
        return e;
    }
    run_error_free(e);
    return NULL;
}

void run_error_restart(run_error *e)
{
    if (!e) return;
    e->from_t = NAN;
    e->last_known = false;
}

void run_error_begin(run_error *e)
{
    if (!e) return;
    e->off = e->told = false;
    run_error_restart(e);
    if (e->largest) vector_zero((e->named + 2 * e->groups) * e->base, e->largest);
}

/* Room for the lead at hand. */
static bool make_room(dae_sensitivity *x)
{
    run_error *e = x->error;
    const size_t n = (size_t)x->lead.n, rows = n * (size_t)x->method->stages;
    const size_t groups = (size_t)e->groups, base = (size_t)x->run->base->form.n;
    if (!e->largest) {
        e->largest = DAE_ARRAY(double, ((size_t)e->named + 2 * groups + 1) * base);
        if (!e->largest) return false;
        e->base = (int)base;
        e->worst = e->largest + (size_t)e->named * base;
        e->when = e->worst + groups * base;
        e->user = e->when + groups * base;
    }
    const size_t entries = x->system->count;
    if (e->from && e->n == x->lead.n && e->entries == entries) return true;
    dae_free(e->from);
    e->from =
        DAE_ARRAY(double, 5 * n + (2 + 2 * groups) * rows + (size_t)x->directions.inputs.count +
                              4 * entries + 2 * groups * n);
    if (!e->from) return false;
    e->n = x->lead.n;
    e->entries = entries;
    e->from_t = NAN;
    e->end = e->from + n;
    e->term = e->end + n;
    e->slopes = e->term + n;
    e->errors = e->slopes + rows;
    e->s = e->errors + rows;
    e->sp = e->s + groups * rows;
    e->sum = e->sp + groups * rows;
    e->moved = e->sum + 2 * n;
    e->change = e->moved + x->directions.inputs.count;
    e->last = e->change + 2 * entries;
    e->last_explicit = e->last + 2 * entries;
    e->gap = e->last_explicit + groups * n;
    e->last_known = false;
    return true;
}

/* What direction k has in the mixture of its group. */
static double share(const dae_sensitivity *x, int k)
{
    return x->error->part[k] * x->directions.list[k].size;
}

/* ---- events ---- */

bool run_error_counts(const run_error *e)
{
    return e && e->groups > 0 && !e->off;
}

void run_error_bend(const dae_sensitivity *x, double least, double bend, double *tau)
{
    double *errors = tau + directions_asked(&x->directions);
    const double off = -bend * copysign(fmax(fabs(errors[0]), fabs(least)), errors[0]);
    for (int k = 0; k < x->error->named && isfinite(off); k++)
        errors[1 + k % x->error->groups] += off * share(x, k) * tau[k];
}

/* ---- the error of the run ---- */

static double stage_time(const dae_sensitivity *x, double h, int a)
{
    return a == x->method->stages - 1 ? x->t + h : x->t + x->method->nodes[a] * h;
}

static double *explicit_part(const dae_sensitivity *x, int k, int a)
{
    const stage_system *q = x->system;
    return q->explicit_part + ((size_t)k * (size_t)q->stages + (size_t)a) * (size_t)q->n;
}

/* u where the step begins: the end of the last one, while nothing has jumped. */
static dae_status take_beginning(dae_sensitivity *x, double h)
{
    static const double SAME = 1e-9; /* ends of steps are put where the run stands */
    run_error *e = x->error;
    if (fabs(e->from_t - x->t) <= SAME * fabs(h)) return DAE_OK;
    dae_status status = lead_values(x, x->t);
    if (status == DAE_OK) vector_copy(e->n, x->lead.y, e->from);
    return status;
}

/* What a term x prod(x - c_a) adds to the slope at place x, one of the nodes or 0. */
static double bump_slope(const collocation *m, double x)
{
    double slope = x == 0.0 ? 1.0 : x;
    for (int a = 0; a < m->stages; a++) slope *= m->nodes[a] == x ? 1.0 : x - m->nodes[a];
    return slope;
}

/* Slopes with the term of the next degree, which u at one more place tells: where equations are
 * stiff v' is no better than these, and steps of S that are long inside of a step of the run make
 * them worse than those of the run. It is for runs by collocation, whose steps are as long; of
 * others the term would be what their values inside of steps are off by. */
static dae_status sharpen_slopes(dae_sensitivity *x, double h)
{
    run_error *e = x->error;
    const collocation *m = x->method;
    const int s = m->stages;
    const double place = 0.5 * (m->nodes[s - 1] + m->nodes[s - 2]);
    double node[COLLOCATION_STAGES + 1] = {0.0}, weight[COLLOCATION_STAGES + 1];
    for (int a = 0; a < s; a++) node[a + 1] = m->nodes[a];
    interpolation_row(s + 1, node, place, 0, weight);
    dae_status status = lead_values(x, x->t + place * h);
    if (status != DAE_OK) return status;
    const double bump = bump_slope(m, place);
    for (int i = 0; i < e->n; i++) e->term[i] = (x->lead.y[i] - weight[0] * e->from[i]) / bump;
    for (int a = 0; a < s; a++)
        vector_axpy(e->n, -weight[a + 1] / bump, x->system->point + 2 * (size_t)e->n * (size_t)a,
                    e->term);
    for (int a = 0; a < s; a++)
        vector_axpy(e->n, bump_slope(m, m->nodes[a]) / h, e->term,
                    e->slopes + (size_t)a * (size_t)e->n);
    return DAE_OK;
}

/* F(t, u, u') of all stages, taken from what determines column `column`. False: not there. */
static bool take_defects(dae_sensitivity *x, double h, int column)
{
    run_error *e = x->error;
    const stage_system *q = x->system;
    evaluator *eval = &x->lead.solver->bound.eval;
    const size_t n = (size_t)e->n;
    for (int a = 0; a < q->stages; a++) {
        const double *u = q->point + 2 * n * (size_t)a;
        for (size_t i = 0; i < n; i++) e->errors[(size_t)a * n + i] = u[i] - e->from[i];
    }
    collocation_combine(q->stages, q->stages, q->n, 1.0 / h, x->method->inverse, e->errors,
                        e->slopes);
    vector_zero(e->n, e->term);
    const bool long_steps = x->run->bound.method->collocates && q->stages > 1;
    if (long_steps && sharpen_slopes(x, h) != DAE_OK) return false;
    for (int a = 0; a < q->stages; a++) {
        if (evaluate_residual(eval, stage_time(x, h, a), q->point + 2 * n * (size_t)a,
                              e->slopes + (size_t)a * n, e->sum,
                              &eval->stats->residuals) != EVAL_OK)
            return false;
        vector_axpy(e->n, -1.0, e->sum, explicit_part(x, column, a));
    }
    return true;
}

/* v and v' of stage a as the lead's values. */
static void place_lead(dae_sensitivity *x, int column, int a, const double *z)
{
    const run_error *e = x->error;
    const size_t n = (size_t)e->n, at = (size_t)a * n;
    const double *u = x->system->point + 2 * at, *start = x->s + (size_t)column * n;
    for (size_t i = 0; i < n; i++) {
        x->lead.y[i] = u[i] - start[i] - z[at + i];
        x->lead.yp[i] = e->slopes[at + i] - e->errors[at + i];
    }
}

/* ---- what it does to S ---- */

/* S and S' of the mixtures at all stages. */
static void mix_stages(dae_sensitivity *x, double h, const double *stages)
{
    run_error *e = x->error;
    const stage_system *q = x->system;
    const size_t n = (size_t)q->n, rows = n * (size_t)q->stages;
    vector_zero((int)(2 * (size_t)e->groups * rows), e->s);
    for (int k = 0; k < e->named; k++)
        vector_axpy((int)rows, share(x, k), stages + (size_t)k * rows,
                    e->s + (size_t)(k % e->groups) * rows);
    for (int g = 0; g < e->groups; g++)
        collocation_combine(q->stages, q->stages, q->n, 1.0 / h, x->method->inverse,
                            e->s + (size_t)g * rows, e->sp + (size_t)g * rows);
    for (int k = 0; k < e->named; k++)
        for (int a = 0; a < q->stages; a++)
            vector_axpy(q->n, share(x, k), x->s + (size_t)k * n,
                        e->s + (size_t)(k % e->groups) * rows + (size_t)a * n);
}

/* out -= F_p of the mixture g where the lead's values are. False: a callback has failed. */
static bool subtract_explicit(dae_sensitivity *x, double t, int g, double *out)
{
    run_error *e = x->error;
    const int inputs = x->directions.inputs.count;
    lead *l = &x->lead;
    vector_zero(inputs, e->moved);
    for (int k = g; k < e->named; k += e->groups) {
        if (l->form) {
            vector_axpy(inputs, share(x, k), directions_moved(&x->directions, k), e->moved);
            continue;
        }
        if (lead_explicit_named(x, t, l->y, l->yp, k, e->sum) != DAE_OK) return false;
        vector_axpy(e->n, -share(x, k), e->sum, out);
    }
    if (!l->form) return true;
    vector_zero(e->n, e->sum); /* rows without inputs stay */
    model_tangent_apply(l->tangents->rows, NULL, NULL, e->moved, 0.0, e->sum);
    vector_axpy(e->n, -1.0, e->sum, out);
    return true;
}

/* Derivatives at v, which drop no factors. */
static bool linearise_beside(dae_sensitivity *x, double t)
{
    lead *l = &x->lead;
    const run_state *r = &x->run->run;
    jacobian *j = &l->matrix.jac;
    const long version = j->layout_version;
    const double h = r->t_new != r->t_old ? r->t_new - r->t_old : 1e-3;
    const bool steered = tangent_past_steer(x, t);
    eval_status status = jacobian_evaluate(j, t, l->y, l->yp, h, l->weights, NULL);
    if (steered) tangent_past_let_go(x);
    x->stats.jacobians++;
    if (status == EVAL_OK && lead_has_forms(l)) status = lead_sharpen(x, t);
    if (status != EVAL_OK || j->layout_version != version) return false;
    if (l->form) {
        tangent_past_load(x, t);
        tape_inputs at = lead_point(x, t);
        model_tangent_at(l->tangents->rows, &at);
    }
    return true;
}

/* out = a - b; whether it is 0, as where equations are linear. */
static bool take_difference(size_t count, const double *a, const double *b, double *out)
{
    bool zero = true;
    for (size_t e = 0; e < count; e++) {
        out[e] = a[e] - b[e];
        zero = zero && out[e] == 0.0;
    }
    return zero;
}

/* out += A x, on the lead's layout. */
static void add_product(dae_sensitivity *x, const double *A, const double *of, double *out)
{
    matrix_multiply(&x->lead.matrix.jac.layout, A, of, x->error->sum);
    vector_axpy(x->error->n, 1.0, x->error->sum, out);
}

/* What determines E of mixture g at stage a, where the lead's derivatives are those of v. */
static bool take_change(dae_sensitivity *x, double h, int column, int g, int a, const bool *zero)
{
    run_error *e = x->error;
    const stage_system *q = x->system;
    const size_t at = ((size_t)g * (size_t)q->stages + (size_t)a) * (size_t)q->n;
    double *out = explicit_part(x, column + 1 + g, a);
    for (int k = g; k < e->named; k += e->groups)
        vector_axpy(e->n, share(x, k), explicit_part(x, k, a), out);
    if (!zero[0]) add_product(x, e->change, e->s + at, out);
    if (!zero[1]) add_product(x, e->change + q->count, e->sp + at, out);
    return subtract_explicit(x, stage_time(x, h, a), g, out);
}

/* Keep derivatives at v where the step ends. */
static bool keep_last(dae_sensitivity *x, double t, double h)
{
    run_error *e = x->error;
    e->last_h = h;
    const jacobian *j = &x->lead.matrix.jac;
    memcpy(e->last, j->dfdy, e->entries * sizeof *e->last);
    memcpy(e->last + e->entries, j->dfdyp, e->entries * sizeof *e->last);
    vector_zero(e->groups * e->n, e->last_explicit);
    for (int g = 0; g < e->groups; g++)
        if (!subtract_explicit(x, t, g, e->last_explicit + (size_t)g * (size_t)e->n)) return false;
    e->last_known = true;
    return true;
}

/* v and the slope of its polynomial where the step begins as the lead's values. */
static void place_lead_at_beginning(dae_sensitivity *x, double h, int column, const double *z)
{
    const run_error *e = x->error;
    const stage_system *q = x->system;
    const size_t n = (size_t)e->n;
    const double bump = bump_slope(x->method, 0.0);
    for (size_t i = 0; i < n; i++) {
        double slope = bump * e->term[i];
        for (size_t a = 0; a < (size_t)q->stages; a++)
            slope += x->method->left[a] * (q->point[2 * n * a + i] - e->from[i] - z[a * n + i]);
        x->lead.y[i] = e->from[i] - x->s[(size_t)column * n + i];
        x->lead.yp[i] = slope / h;
    }
}

/* The part of a gap between two slopes that the first of them is off by. Where equations are stiff
 * stages are right, and the polynomial through them is off by C h^(s+1) x prod(x - c_a), so that
 * its slope is off by C h^s prod_{a<s} (1 - c_a) at the end, and by (-1)^s C h^s prod c_a where a
 * step begins. */
static double part_before(const dae_sensitivity *x, double h)
{
    const int s = x->method->stages;
    double ratio = pow(fabs(h / x->error->last_h), s) * x->method->nodes[s - 1];
    for (int a = 0; a < s - 1; a++) ratio *= x->method->nodes[a] / (1.0 - x->method->nodes[a]);
    return s % 2 ? 1.0 / (1.0 + ratio) : fmin(1.0, 1.0 / fabs(1.0 - ratio));
}

/* Where two steps meet v has two slopes, of the polynomial before and of that behind. What these
 * make of E tells whether v is any better than u: where equations are stiff no error test of S does
 * [HW96 (IV.8.19) filters it]. False: not known. */
static bool take_gap(dae_sensitivity *x, double h, int column, const double *z)
{
    run_error *e = x->error;
    const size_t n = (size_t)e->n;
    const jacobian *j = &x->lead.matrix.jac;
    vector_zero(e->groups * e->n, e->gap);
    if (!e->last_known || !x->lead.matrix.factored) return true;
    place_lead_at_beginning(x, h, column, z);
    if (!linearise_beside(x, x->t)) return false;
    const double part = part_before(x, h);
    take_difference(e->entries, e->last, j->dfdy, e->change);
    take_difference(e->entries, e->last + e->entries, j->dfdyp, e->change + e->entries);
    for (int g = 0; g < e->groups; g++) {
        double *out = e->gap + (size_t)g * n, *s = e->s, *sp = e->sp;
        vector_zero(e->n, s);
        vector_zero(e->n, sp);
        for (int k = g; k < e->named; k += e->groups) {
            vector_axpy(e->n, share(x, k), x->s + (size_t)k * n, s);
            vector_axpy(e->n, share(x, k), x->sp + (size_t)k * n, sp);
        }
        vector_axpy(e->n, -1.0, e->last_explicit + (size_t)g * n, out);
        if (!subtract_explicit(x, x->t, g, out)) return false;
        add_product(x, e->change, s, out);
        add_product(x, e->change + e->entries, sp, out);
        x->stats.solves++;
        if (iteration_solve(&x->lead.matrix, NULL, out) != ITERATION_OK) return false;
        for (size_t i = 0; i < n; i++) out[i] *= part;
    }
    return true;
}

/* The same of all of them. */
static bool take_changes(dae_sensitivity *x, double h, int column, const double *z)
{
    const run_error *e = x->error;
    const stage_system *q = x->system;
    const jacobian *j = &x->lead.matrix.jac;
    for (int a = 0; a < q->stages; a++) {
        const size_t at = (size_t)a * q->count;
        place_lead(x, column, a, z);
        if (!linearise_beside(x, stage_time(x, h, a))) return false;
        const bool zero[2] = {
            take_difference(q->count, q->fy + at, j->dfdy, e->change),
            take_difference(q->count, q->fyp + at, j->dfdyp, e->change + q->count)};
        for (int g = 0; g < x->error->groups; g++)
            if (!take_change(x, h, column, g, a, zero)) return false;
    }
    return keep_last(x, x->t + h, h);
}

/* ---- along a step ---- */

/* The columns of a step; *known is false where the equations have no values there. */
static dae_status solve(dae_sensitivity *x, double h, double *stages, bool *known)
{
    run_error *e = x->error;
    const int column = directions_asked(&x->directions);
    const size_t rows = (size_t)x->system->n * (size_t)x->system->stages;
    double *z = stages + (size_t)column * rows;
    dae_status status = take_beginning(x, h);
    *known = status == DAE_OK && take_defects(x, h, column);
    if (!*known) return status;
    status = stages_solve_more(x, h, column, 1, stages);
    if (status != DAE_OK) return status;
    collocation_combine(x->method->stages, x->method->stages, e->n, 1.0 / h, x->method->inverse, z,
                        e->errors);
    if (e->groups == 0) return status;
    *known = take_gap(x, h, column, z);
    if (!*known) return status;
    mix_stages(x, h, stages);
    *known = take_changes(x, h, column, z);
    if (*known) status = stages_solve_more(x, h, column + 1, e->groups, stages);
    return status;
}

dae_status run_error_step(dae_sensitivity *x, double h, double *stages)
{
    run_error *e = x->error;
    const int column = directions_asked(&x->directions);
    const stage_system *q = x->system;
    const size_t n = (size_t)q->n, rows = n * (size_t)q->stages;
    if (!make_room(x)) return sensitivity_no_memory(x);
    bool known = false;
    const dae_diag said = x->run->diag;
    dae_status status = e->off ? DAE_OK : solve(x, h, stages, &known);
    const double *last = q->point + 2 * n * (size_t)(q->stages - 1);
    lead_recall(&x->lead, x->t + h, last);
    vector_copy(e->n, last, e->from);
    const size_t end = rows - n;
    for (size_t i = 0; i < n; i++) e->end[i] = e->slopes[end + i] - e->errors[end + i];
    e->from_t = x->t + h;
    if (status == DAE_ERR_MEMORY) return status;
    known = known && status == DAE_OK &&
            vector_finite((int)((size_t)(1 + e->groups) * rows), stages + (size_t)column * rows);
    if (known) return DAE_OK;
    x->run->diag = said;
    e->off = true;
    vector_zero((int)((size_t)(1 + e->groups) * rows), stages + (size_t)column * rows);
    return DAE_OK;
}

bool run_error_slopes(const run_error *e, double t, int n, double *slopes)
{
    static const double SAME = 1e-12;
    if (!e || e->off || !e->from || e->n != n || !(fabs(e->from_t - t) <= SAME * fabs(t)))
        return false;
    vector_copy(n, e->end, slopes);
    return true;
}

/* Note the largest values of a column of mixture g. */
static void note_column(dae_sensitivity *x, int g, const double *s, const double *sp)
{
    run_error *e = x->error;
    const size_t base = (size_t)e->base;
    if (!sp) { /* slopes that are asked for as values are not known */
        vector_zero(e->n, e->sum);
        sp = e->sum;
    }
    lead_to_user(x, s, sp, e->user, NULL);
    for (size_t i = 0; i < base; i++) {
        const size_t at = (size_t)g * base + i;
        if (!(fabs(e->user[i]) > e->worst[at])) continue;
        e->worst[at] = fabs(e->user[i]);
        e->when[at] = x->t;
    }
}

void run_error_note(dae_sensitivity *x)
{
    run_error *e = x->error;
    if (!e || e->off || e->groups == 0) return;
    const size_t n = (size_t)x->lead.n, base = (size_t)e->base;
    const int column = directions_asked(&x->directions);
    for (int k = 0; k < e->named; k++) {
        lead_to_user(x, x->s + (size_t)k * n, x->sp + (size_t)k * n, e->user, NULL);
        for (size_t i = 0; i < base; i++) {
            double *largest = &e->largest[(size_t)k * base + i];
            *largest = fmax(*largest, fabs(e->user[i] * x->directions.list[k].size));
        }
    }
    for (int g = 0; g < e->groups; g++) {
        const size_t row = (size_t)(column + 1 + g) * n;
        note_column(x, g, x->s + row, x->sp + row);
        note_column(x, g, e->gap + (size_t)g * n, NULL);
    }
}

/* ---- what is told ---- */

/* What an error of 1 is in size_k dy_i/dp_k, by the largest of the run. */
static double tolerance(const dae_sensitivity *x, int k, int i)
{
    const dae_options *o = &x->run->base_options;
    const dae_sensitivity_request *r = &x->request;
    const run_error *e = x->error;
    double rtol = r->rtol > 0.0 ? r->rtol : o->rtol_by_unknown ? o->rtol_by_unknown[i] : o->rtol;
    double atol = r->atol > 0.0 ? r->atol : o->atol_by_unknown ? o->atol_by_unknown[i] : o->atol;
    return rtol * e->largest[(size_t)k * (size_t)e->base + (size_t)i] + atol;
}

/* The largest of those of a group, as they are in its mixture; *whose it is. */
static double tolerance_of_group(const dae_sensitivity *x, int g, int i, int *whose)
{
    const run_error *e = x->error;
    double most = 0.0;
    for (int k = g; k < e->named; k += e->groups) {
        const double own = fabs(e->part[k]) * tolerance(x, k, i);
        if (!(own > most)) continue;
        most = own;
        *whose = k;
    }
    return most;
}

/* The worst of a group, and the direction that it is named by. */
static dae_sensitivity_error worst_of(const dae_sensitivity *x, int g, int *whose)
{
    const run_error *e = x->error;
    dae_sensitivity_error found = {.variable = -1};
    *whose = g;
    for (int i = 0; i < e->base; i++) {
        int k = g;
        const size_t at = (size_t)g * (size_t)e->base + (size_t)i;
        const double unit = tolerance_of_group(x, g, i, &k);
        if (!(e->worst[at] > found.tolerances * unit)) continue;
        found.tolerances = unit > 0.0 ? e->worst[at] / unit : INFINITY;
        found.error = e->worst[at] / fabs(share(x, k));
        found.t = e->when[at];
        found.variable = i;
        *whose = k;
    }
    found.others = (e->named - g - 1) / e->groups;
    return found;
}

dae_status dae_sensitivity_doubt(const dae_sensitivity *x, int k, dae_sensitivity_error *error)
{
    int whose;
    if (!x || !error || k < 0 || k >= directions_asked(&x->directions)) return DAE_ERR_ARGUMENT;
    if (!x->error || x->error->off || x->error->groups == 0) return DAE_ERR_STATE;
    *error = (dae_sensitivity_error){.variable = -1};
    if (x->run && x->error->largest) *error = worst_of(x, k % x->error->groups, &whose);
    return DAE_OK;
}

/* The name of what is differentiated by. */
static void name_direction(const dae_sensitivity *x, int k, char *text, size_t size)
{
    const direction *q = &x->directions.list[k];
    const flat_model *m = x->run->base->model ? x->run->base->model->flat : NULL;
    if (m && q->parameter >= 0)
        snprintf(text, size, "%.100s", m->parameters[q->parameter].name);
    else if (m && q->variable >= 0)
        snprintf(text, size, "start(%.90s)", m->variables[q->variable].name);
    else
        snprintf(text, size, "p[%d]", k);
}

void run_error_tell(dae_sensitivity *x)
{
    run_error *e = x->error;
    dae_sensitivity_error worst = {.tolerances = FAR_OFF, .variable = -1};
    int by = 0, count = 0;
    if (!e || e->off || e->told || !e->largest) return;
    for (int g = 0; g < e->groups; g++) {
        int whose;
        const dae_sensitivity_error q = worst_of(x, g, &whose);
        if (!(q.tolerances > FAR_OFF)) continue;
        count++;
        if (!(q.tolerances > worst.tolerances)) continue;
        worst = q;
        by = whose;
    }
    if (worst.variable < 0) return;
    char text[700], name[120], others[60] = "";
    name_direction(x, by, name, sizeof name);
    if (worst.others > 0)
        snprintf(others, sizeof others, " or by one of %d others", worst.others);
    else if (count > 1)
        snprintf(others, sizeof others, " (and by %d more)", count - 1);
    snprintf(
        text, sizeof text,
        "note: the derivative of %.100s by %s%s magnifies the errors of the run: it may be off "
        "by %.2g at t = %.9g, %.2g of its tolerances. Ask for a tighter tolerance (--rtol "
        "%.0e), and compare.",
        problem_variable(x->run->base, worst.variable), name, others, worst.error, worst.t,
        worst.tolerances, fmax(1e-13, x->run->base_options.rtol * FAR_OFF / worst.tolerances));
    solver_note(x->run, text);
    e->told = true;
}
