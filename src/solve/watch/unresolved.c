/* Absolute tolerances that fit: which ones a model suggests, and variables that no accuracy was
 * asked for, since they stay below theirs. */
#include <math.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"
#include "linalg/coloring.h"
#include "solve/watch/watch.h"

/* A start value says how large a state is; below this part of atol it says nothing any more. */
static const double LEAST_PART = 1e-15;

/* ---- what a model suggests ---- */

static double nominal_of(const model_form *f, int v)
{
    double nominal = fabs(model_form_constant(f, f->flat->variables[v].nominal));
    return isfinite(nominal) && nominal > 0.0 ? nominal : 1.0;
}

/* size_i = the smallest start value, not 0, that the text or the user gave to a state, unknown i;
 * INFINITY: none; with nominal_first 0, if one of its names has a nominal value. In one pass over
 * the variables. */
static void given_sizes(const model_form *f, bool nominal_first, double *size)
{
    for (int i = 0; i < f->n; i++) size[i] = INFINITY;
    for (size_t v = 0; v < f->flat->variable_count; v++) {
        const int i = f->first_unknown[f->alias[v].top];
        if (i < 0 || f->unknown_order[i] > 0 || !f->differential[i]) continue;
        const double start = fabs(hybrid_start_value(f, v));
        if (nominal_first && f->flat->variables[v].nominal != EXPR_NONE) size[i] = 0.0;
        if (start > 0.0 && start < size[i]) size[i] = start;
    }
}

dae_status dae_problem_atol(const dae_problem *problem, double rtol, double atol, bool follow,
                            double *values)
{
    if (!problem || !values || !(rtol >= 0.0) || !(atol >= 0.0)) return DAE_ERR_ARGUMENT;
    const model_form *f = problem->model;
    if (f && follow) given_sizes(f, true, values);
    for (int i = 0; i < problem->form.n; i++) {
        const int v = f ? f->unknown_variable[i] : -1;
        const double size = v >= 0 && follow ? values[i] : 0.0;
        values[i] = atol * (v >= 0 ? nominal_of(f, v) : 1.0);
        if (size > 0.0) values[i] = fmin(values[i], fmax(rtol * size, LEAST_PART * atol));
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

/* So many evaluations at most, and of so many equations together, some tenths of a second: along a
 * chain of 10^5 unknowns each takes its own. At least so many. */
enum { MOST_TRIES = 4000, MOST_EQUATIONS = 20000000, LEAST_TRIES = 50 };
/* Terms are moved by this part; and what counts as rounding. */
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
    coloring groups; /* of unknowns that share no equation; none: no pattern is known */
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

/* Whether the value of variable i matters to equation r, which is violated; f1 = F with it. */
static bool matters_to(const search *q, int r)
{
    return is_violated(q, r) && fabs(q->f1[r] - q->f0[r]) > 1e-3 * fabs(q->f0[r]);
}

static bool is_asked(const search *q, int i)
{
    return q->tiny[i] && !q->flags[i];
}

/* f1 = F with the values of some variables among the zeros, those that are asked about */
static bool evaluate_with(search *q, const int *variables, int count)
{
    for (int k = 0; k < count; k++)
        if (is_asked(q, variables[k])) {
            q->z[variables[k]] = q->y[variables[k]];
            q->zp[variables[k]] = q->yp[variables[k]];
        }
    bool ok = evaluate(q, q->z, q->zp, q->f1);
    for (int k = 0; k < count; k++)
        if (is_asked(q, variables[k])) q->z[variables[k]] = q->zp[variables[k]] = 0.0;
    return ok;
}

/* Flag variable i if it matters to an equation among these rows; NULL: to any. */
static bool flag_one(search *q, int i, const int *rows, int count)
{
    bool found = false;
    if (!is_asked(q, i)) return false;
    for (int k = 0; k < count && !found; k++) found = matters_to(q, rows ? rows[k] : k);
    return q->flags[i] = found;
}

static bool may_try(const search *q)
{
    int by_size = MOST_EQUATIONS / q->n;
    return q->tries < (by_size < LEAST_TRIES ? LEAST_TRIES : by_size) && q->tries < MOST_TRIES;
}

/* One variable at a time */
static bool flag_singly(search *q)
{
    bool more = false;
    for (int i = 0; i < q->n && may_try(q); i++)
        if (is_asked(q, i) && evaluate_with(q, &i, 1) && flag_one(q, i, NULL, q->n)) more = true;
    return more;
}

static int asked_among(const search *q, const int *variables, int count)
{
    int asked = 0;
    for (int k = 0; k < count; k++) asked += is_asked(q, variables[k]);
    return asked;
}

/* One group at a time: each equation shows one of its variables, as if that had come alone, so that
 * 10^6 unknowns on a mesh take as few evaluations as 10^3. */
static bool flag_by_groups(search *q)
{
    const matrix_layout *layout = &q->s->base->layout;
    bool more = false;
    for (int g = 0; g < q->groups.groups; g++) {
        const int *column = q->groups.column + q->groups.start[g];
        const int count = q->groups.start[g + 1] - q->groups.start[g];
        if (asked_among(q, column, count) == 0) continue;
        if (!evaluate_with(q, column, count)) return flag_singly(q) || more;
        for (int k = 0; k < count; k++) {
            const int first = layout->colptr[column[k]];
            if (flag_one(q, column[k], layout->rowind + first,
                         layout->colptr[column[k] + 1] - first))
                more = true;
        }
    }
    return more;
}

/* Flag those to which a start value other than 0 was given: a decay of 1e-11 is one, although 0
 * would do for its equation, too. */
static void flag_started(search *q)
{
    const dae_solver *s = q->s;
    const model_form *f = s->base->model;
    if (f) given_sizes(f, false, q->terms);
    for (int i = 0; i < q->n; i++) {
        const bool given = s->run.sizes[q->n + i] > 0.0;
        const bool state = f ? f->differential[i] : s->bound.kinds[i] == DAE_KIND_DIFFERENTIAL;
        q->flags[i] = q->tiny[i] && ((given && state) || (f && isfinite(q->terms[i])));
    }
}

/* Groups for flag_by_groups, where rows are so short that they cost little; without them, or
 * without memory for them, it goes one by one. */
static void find_groups(search *q)
{
    enum { SHORT = 64 }; /* a row's mean length, weighted by itself */
    const matrix_layout *layout = &q->s->base->layout;
    if (!q->s->base->has_layout || layout->kind != DAE_STRUCTURE_SPARSE) return;
    double squares = 0.0;
    vector_zero(q->n, q->f1);
    for (size_t k = 0; k < layout->count; k++) squares += 2.0 * q->f1[layout->rowind[k]]++ + 1.0;
    if (squares <= SHORT * (double)layout->count) coloring_build(&q->groups, layout);
}

/* Flag what the equations need: first where they fail with zeros, then what follows from those. */
static void flag_needed(search *q)
{
    bool more = true;
    flag_started(q);
    if (!evaluate(q, q->y, q->yp, q->f) || !find_terms(q)) return;
    find_groups(q);
    while (more && evaluate_zeros(q) && may_try(q))
        more = q->groups.groups > 0 ? flag_by_groups(q) : flag_singly(q);
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
    coloring_free(&q->groups);
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
