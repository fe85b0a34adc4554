/* Absolute tolerances that fit: which ones a model suggests, and variables that no accuracy was
 * asked for, since they stay below theirs. */
#include <math.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"
#include "solve/watch/watch.h"

/* A start value says how large a state is; below this part of atol it says nothing any more. */
static const double LEAST_PART = 1e-15;

/* ---- what a model suggests ---- */

static double nominal_of(const model_form *f, int v)
{
    double nominal = fabs(model_form_constant(f, f->flat->variables[v].nominal));
    return isfinite(nominal) && nominal > 0.0 ? nominal : 1.0;
}

/* The smallest start value, not 0, that the text or the user gave to a state, unknown i; INFINITY:
 * none. *nominal: one of its names has a nominal value. */
static double given_size(const model_form *f, int i, bool *nominal)
{
    double size = INFINITY;
    *nominal = false;
    if (f->unknown_order[i] > 0 || !f->differential[i]) return size;
    for (size_t v = 0; v < f->flat->variable_count; v++) {
        if (f->first_unknown[f->alias[v].top] != i) continue;
        double start = fabs(hybrid_start_value(f, v));
        if (f->flat->variables[v].nominal != EXPR_NONE) *nominal = true;
        if (start > 0.0 && start < size) size = start;
    }
    return size;
}

dae_status dae_problem_atol(const dae_problem *problem, double rtol, double atol, bool follow,
                            double *values)
{
    if (!problem || !values || !(rtol >= 0.0) || !(atol >= 0.0)) return DAE_ERR_ARGUMENT;
    const model_form *f = problem->model;
    for (int i = 0; i < problem->form.n; i++) {
        int v = f ? f->unknown_variable[i] : -1;
        values[i] = atol * (v >= 0 ? nominal_of(f, v) : 1.0);
        bool nominal;
        if (!follow || v < 0) continue;
        double fit = rtol * given_size(f, i, &nominal);
        if (nominal) continue;
        values[i] = fmin(values[i], fmax(fit, LEAST_PART * atol));
    }
    return DAE_OK;
}

/* ---- sizes along a run ---- */

void sizes_start(dae_solver *s, const double *y0)
{
    int n = s->base->form.n;
    vector_zero(2 * n, s->run.sizes);
    for (int i = 0; y0 && i < n; i++) s->run.sizes[n + i] = fabs(y0[i]);
}

void sizes_note(dae_solver *s, const double *y, const double *yp)
{
    int n = s->base->form.n;
    const model_place *place = is_formulated(s) ? s->modes->current->plan.form->place : NULL;
    for (int i = 0; s->run.sizes && i < n; i++) {
        double value = !place                 ? y[i]
                       : place[i].unknown < 0 ? 0.0
                       : place[i].slope       ? yp[place[i].unknown]
                                              : y[place[i].unknown];
        if (fabs(value) > s->run.sizes[i]) s->run.sizes[i] = fabs(value);
    }
}

/* ---- variables below their tolerances ---- */

/* Errors of an absolute tolerance are allowed, and some of them add up: below so many no digit is
 * sure, and errors of a variable below one may show it above. */
static const double NO_DIGIT = 10.0;

/* So many evaluations at most; terms are moved by this part; and what counts as rounding. */
enum { MOST_TRIES = 4000 };
static const double PART = 1e-4, ROUNDING = 1e-12;

typedef struct search {
    dae_solver *s;
    evaluator eval;
    dae_stats stats;
    model_instance *instance; /* of the base form; owned, NULL for callbacks */
    int n, tries;
    double *y, *yp; /* where the solver stands */
    double *z, *zp; /* the same with zeros */
    double *f, *f0, *f1, *terms;
    bool *tiny, *flags;
} search;

static bool evaluate(search *q, const double *y, const double *yp, double *f)
{
    q->tries++;
    double t = q->s->run.t;
    int status = q->instance ? model_residual(t, y, yp, f, q->instance)
                             : (int)evaluate_residual(&q->eval, t, y, yp, f, &q->stats.residuals);
    return status == 0;
}

/* f0 = F with 0 for what is tiny and not yet flagged; false: it has no values there */
static bool evaluate_zeros(search *q)
{
    for (int i = 0; i < q->n; i++) {
        bool zero = q->tiny[i] && !q->flags[i];
        q->z[i] = zero ? 0.0 : q->y[i];
        q->zp[i] = zero ? 0.0 : q->yp[i];
    }
    return evaluate(q, q->z, q->zp, q->f0);
}

/* terms = how large the terms of the equations are */
static bool find_terms(search *q)
{
    unsigned random = 12345;
    vector_zero(q->n, q->terms);
    for (int move = 0; move < 4; move++) {
        for (int i = 0; i < 2 * q->n; i++) {
            random = random * 1664525u + 1013904223u;
            double by = PART * (0.5 + 0.5 * (double)(random >> 8 & 0x3fffffu) / 4194304.0);
            q->z[i] = q->y[i] * (1.0 + (random >> 31 ? by : -by)); /* y' behind y */
        }
        if (!evaluate(q, q->z, q->zp, q->f1)) return false;
        for (int i = 0; i < q->n; i++)
            q->terms[i] = fmax(q->terms[i], fabs(q->f1[i] - q->f[i]) / PART);
    }
    return true;
}

/* Equation r does not hold with zeros, and that is due to them. */
static bool is_violated(const search *q, int r)
{
    double off = fmin(fabs(q->f0[r]), fabs(q->f0[r] - q->f[r]));
    return off > ROUNDING * fmax(q->terms[r], fabs(q->f0[r]));
}

/* Whether the value of variable i matters to an equation that is violated. */
static bool matters(search *q, int i)
{
    q->z[i] = q->y[i];
    q->zp[i] = q->yp[i];
    bool some = evaluate(q, q->z, q->zp, q->f1), found = false;
    q->z[i] = q->zp[i] = 0.0;
    for (int r = 0; some && r < q->n && !found; r++)
        found = is_violated(q, r) && fabs(q->f1[r] - q->f0[r]) > 1e-3 * fabs(q->f0[r]);
    return found;
}

/* Whether a start value other than 0 was given to unknown i: a decay of 1e-11 is one, although 0
 * would do for its equation, too. */
static bool starts_elsewhere(const dae_solver *s, int i)
{
    bool nominal, given = s->run.sizes[s->base->form.n + i] > 0.0;
    const model_form *f = s->base->model;
    if (!f) return given && s->bound.kinds[i] == DAE_KIND_DIFFERENTIAL;
    return (given && f->differential[i]) || isfinite(given_size(f, i, &nominal));
}

/* Flag what the equations need: first where they fail with zeros, then what follows from those. */
static void flag_needed(search *q)
{
    bool more = true;
    for (int i = 0; i < q->n; i++) q->flags[i] = q->tiny[i] && starts_elsewhere(q->s, i);
    if (!evaluate(q, q->y, q->yp, q->f) || !find_terms(q)) return;
    while (more && evaluate_zeros(q) && q->tries < MOST_TRIES) {
        more = false;
        for (int i = 0; i < q->n && q->tries < MOST_TRIES; i++) {
            if (!q->tiny[i] || q->flags[i] || !matters(q, i)) continue;
            q->flags[i] = more = true;
        }
    }
}

/* Callbacks are asked as they were given; models in the mode that they are in. */
static bool search_new(search *q, dae_solver *s)
{
    size_t n = (size_t)s->base->form.n;
    *q = (search){.s = s, .n = s->base->form.n};
    q->eval = (evaluator){.problem = s->base, .stats = &q->stats, .forms = s->bound.forms};
    q->y = DAE_ARRAY(double, 8 * n);
    q->tiny = DAE_ARRAY(bool, 2 * n);
    if (s->hybrid) q->instance = model_instance_new(s->base->model);
    if (!q->y || !q->tiny || (s->hybrid && !q->instance)) return false;
    q->yp = q->y + n;
    q->z = q->yp + n;
    q->zp = q->z + n;
    q->f = q->zp + n;
    q->f0 = q->f + n;
    q->f1 = q->f0 + n;
    q->terms = q->f1 + n;
    q->flags = q->tiny + n;
    if (!q->instance) return true;
    model_instance_follow(q->instance, s->hybrid->instance);
    return true;
}

static void search_free(search *q)
{
    dae_free_all(q->y, q->tiny);
    model_instance_free(q->instance);
}

/* The absolute tolerance of unknown i of the user's problem. */
static double atol_of(const dae_solver *s, int i)
{
    const dae_options *o = &s->base_options;
    const model_form *f = s->base->model;
    int v = f ? f->unknown_variable[i] : -1;
    if (o->atol_by_unknown) return o->atol_by_unknown[i];
    return o->atol * (v >= 0 ? nominal_of(f, v) : 1.0);
}

int dae_solver_unresolved(dae_solver *s, bool *flags, double *largest, double *atol)
{
    search q;
    int count = 0, tiny = 0;
    if (!s || s->run.phase == PHASE_NEW) return DAE_ERR_STATE;
    if (!search_new(&q, s)) {
        search_free(&q);
        return DAE_ERR_MEMORY;
    }
    for (int i = 0; i < q.n; i++) {
        q.tiny[i] = s->run.sizes[i] > 0.0 && s->run.sizes[i] < NO_DIGIT * atol_of(s, i);
        tiny += q.tiny[i];
        if (largest) largest[i] = s->run.sizes[i];
        if (atol) atol[i] = atol_of(s, i);
    }
    /* the equations of a rewritten form are not those of the user */
    bool known = tiny > 0 && !s->bound.rewritten && !s->base_options.weights &&
                 dae_solver_at(s, s->run.t, 0, q.y) == DAE_OK &&
                 dae_solver_at(s, s->run.t, 1, q.yp) == DAE_OK;
    if (known) flag_needed(&q);
    for (int i = 0; i < q.n; i++) {
        count += q.flags[i];
        if (flags) flags[i] = q.flags[i];
    }
    search_free(&q);
    return count;
}
