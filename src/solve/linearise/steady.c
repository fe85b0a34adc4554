/* Steady states: Newton's method, and the run where that fails. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/interrupt.h"
#include "base/memory.h"
#include "base/sized.h"
#include "base/vector.h"
#include "solve/linearise/linearise_parts.h"
#include "solve/run/run.h"

typedef struct owned_steady {
    dae_steady_state steady; /* first */
    dae_linearisation linear;
    arena *memory;
} owned_steady;

/* ---- whether a model allows a point ---- */

/* Relations hold as they do in the run. */
static bool relations_hold(const linear_work *w, double t, steady_search *q)
{
    const lead *l = &w->x->lead;
    model_instance *m = l->solver->hybrid->instance;
    const flat_model *flat = m->form->flat;
    double *g = DAE_ARRAY(double, m->form->crossing.outputs + 1);
    bool hold = g;
    if (g) model_instance_crossings(m, t, l->y, l->yp, g);
    for (size_t r = 0; hold && r < flat->relation_count; r++) {
        bool now = flat->relations[r].strict ? g[r] < 0.0 : g[r] <= 0.0;
        hold = g[r] == 0.0 || now == (m->memory[flat->relations[r].memory] != 0.0);
    }
    if (!hold) q->why = "would rest where a relation of the model has changed: an event is between";
    dae_free(g);
    return hold;
}

static bool assertions_hold(const linear_work *w, double t, steady_search *q)
{
    const lead *l = &w->x->lead;
    model_instance *m = l->solver->hybrid->instance;
    const size_t count = m->form->flat->assert_count;
    double *holds = DAE_ARRAY(double, count + 1);
    bool all = holds;
    if (holds) model_instance_assertions(m, t, l->y, l->yp, holds);
    for (size_t i = 0; all && i < count; i++) all = holds[i] != 0.0;
    if (!all) q->why = "would rest where an assertion of the model fails";
    dae_free(holds);
    return all;
}

/* Values lie between min and max of their variables. */
static bool bounds_hold(const linear_work *w, double t, steady_search *q)
{
    const model_form *f = w->run->base->model;
    double *values = DAE_ARRAY(double, f->visible_count);
    bool within = values;
    if (values) linear_variables(w, t, values);
    for (int k = 0; within && k < f->visible_count; k++) {
        const flat_variable *v = &f->flat->variables[f->visible[k]];
        if (v->discrete || v->type != FLAT_REAL) continue;
        double least = model_form_constant(f, v->min), most = model_form_constant(f, v->max);
        double slack = 1e-9 * fmax(1.0, fabs(values[k]));
        within = !(values[k] < least - slack) && !(values[k] > most + slack);
    }
    if (!within) q->why = "would rest beyond the min or max of a variable";
    dae_free(values);
    return within;
}

static bool is_allowed(const linear_work *w, double t, steady_search *q)
{
    if (!w->x->lead.form) return true;
    return relations_hold(w, t, q) && assertions_hold(w, t, q) && bounds_hold(w, t, q);
}

/* ---- the result ---- */

static dae_status fill_values(const linear_work *w, double t, owned_steady *made)
{
    dae_steady_state *out = &made->steady;
    const lead *l = &w->x->lead;
    const model_form *f = w->run->base->model;
    const size_t n = (size_t)w->run->base->form.n;
    const size_t count = f ? (size_t)f->visible_count : 0;
    double *y = arena_alloc(made->memory, 2 * (n + 1) * sizeof *y);
    double *variables = arena_alloc(made->memory, (count + 1) * sizeof *variables);
    if (!y || !variables) return sensitivity_no_memory(w->x);
    lead_to_user(w->x, l->y, l->yp, y, y + n);
    out->n = (int)n;
    out->y = y;
    out->yp = y + n;
    if (!f) return DAE_OK;
    linear_variables(w, t, variables);
    out->variables = variables;
    out->variable_count = (int)count;
    out->held = (int)f->flat->sample_count;
    for (size_t v = 0; v < f->flat->variable_count; v++)
        out->held += f->flat->variables[v].discrete;
    return DAE_OK;
}

static dae_status fill_conserved(const steady_search *q, owned_steady *made)
{
    const size_t count = (size_t)q->conserved_count * (size_t)q->work->state_count;
    double *copy = arena_alloc(made->memory, (count + 1) * sizeof *copy);
    if (!copy) return sensitivity_no_memory(q->work->x);
    if (count > 0) memcpy(copy, q->conserved, count * sizeof *copy);
    made->steady.conserved_count = q->conserved_count;
    made->steady.conserved = copy;
    return DAE_OK;
}

static dae_status fill(steady_search *q, owned_steady *made)
{
    made->steady.t = q->t;
    made->steady.iterations = q->iterations;
    made->steady.linear = &made->linear;
    dae_status status = fill_values(q->work, q->t, made);
    if (status == DAE_OK) status = fill_conserved(q, made);
    return status == DAE_OK ? linear_fill(q->work, q->t, made->memory, &made->linear) : status;
}

/* ---- the search ---- */

typedef struct pursuit {
    dae_solver *s;
    const dae_steady_request *request;
    owned_steady *made;
    double start, unit; /* where it begins, and a time that is long for the model */
    double *began;      /* the user's unknowns there, y and then y'; owned */
    long steps;
    bool over; /* the run has come to its end */
    char mover[DAE_NAME_SIZE], why[160];
    double rate;
} pursuit;

static void remember(pursuit *p, const steady_search *q)
{
    snprintf(p->mover, sizeof p->mover, "%s", q->mover ? q->mover : "");
    snprintf(p->why, sizeof p->why, "%s", q->why ? q->why : "");
    p->rate = q->rate;
}

/* Newton's method, with other states where those at hand become bad on the way. */
static dae_status iterate(pursuit *p, steady_search *q, bool *found)
{
    enum { MOST_CHOICES = 10 };
    dae_solver *s = p->s;
    dae_status status = DAE_OK;
    bool same = false;
    for (int k = 0; k < MOST_CHOICES && status == DAE_OK && !same; k++) {
        const int n = q->work->x->lead.n;
        double *began = DAE_ARRAY(double, 2 * (size_t)n);
        if (!began) return sensitivity_no_memory(q->work->x);
        lead_from_user(q->work->x, p->began, p->began + s->base->form.n, began, began + n);
        q->began = began;
        status = steady_newton(q, found);
        dae_free(began);
        if (status == DAE_OK) status = linear_choose_states(q->work, q->t, &same);
        if (!same) *found = false;
    }
    return status;
}

/* Newton's method from where the run stands. */
static dae_status try_here(pursuit *p, bool *found, dae_diag *diag)
{
    linear_work w;
    dae_solver *s = p->s;
    *found = false;
    dae_status status =
        linear_open(&w, s, &p->request->linear, sizeof p->request->linear, true, diag);
    if (status == DAE_OK) {
        const dae_diag before = s->diag;
        steady_search q = {.work = &w, .t = s->run.t};
        q.span = fmax(p->unit, fabs(s->run.t - p->start)); /* what grows like time does not rest */
        q.unit = p->unit;
        status = iterate(p, &q, found);
        if (status == DAE_OK && *found) *found = is_allowed(&w, q.t, &q);
        if (status == DAE_OK && *found) status = fill(&q, p->made);
        remember(p, &q);
        dae_free(q.conserved);
        if (status != DAE_OK && diag) *diag = s->diag;
        s->diag = before;
    }
    linear_close(&w);
    return status;
}

/* The run up to a time; p->over: it goes no further. */
static dae_status follow_run(pursuit *p, double goal, dae_diag *diag)
{
    const long most = p->request->max_steps > 0 ? p->request->max_steps : 20000;
    dae_status status = DAE_STEPPED;
    while (status > 0 && p->steps < most) {
        status = dae_solver_step(p->s, goal);
        p->steps += status == DAE_STEPPED;
    }
    p->over = p->s->run.phase == PHASE_ENDED || p->s->run.terminated || status > 0;
    if (status < 0 && diag) {
        *diag = p->s->diag;
        diag_append(diag, " The search for a steady state had followed the run up to there.");
    }
    return status < 0 ? status : DAE_OK;
}

/* The state that moves most over p->unit, in tolerances. */
static void find_mover(pursuit *p)
{
    const dae_solver *s = p->s;
    double most = 0.0;
    for (int i = 0; i < s->bound.n; i++) {
        if (s->bound.kinds[i] != DAE_KIND_DIFFERENTIAL) continue;
        double moved = fabs(s->bound.at_yp[i]) / s->bound.norm.weights[i];
        if (!(moved > most)) continue;
        most = moved;
        p->rate = s->bound.at_yp[i];
        snprintf(p->mover, sizeof p->mover, "%s", problem_variable(s->bound.problem, i));
    }
}

static dae_status explain_none(pursuit *p, dae_diag *diag)
{
    dae_solver *s = p->s;
    const bool run = p->steps > 0;
    if (solver_point(s, s->run.t) == DAE_OK) find_mover(p);
    diag_variable(diag, -1, p->mover);
    if (diag) diag->t = s->run.t, diag->value = p->rate;
    diag_set(diag, DAE_ERR_CONVERGENCE,
             "No steady state was found: at t = %.9g %s moves by %.3g "
             "per unit of time",
             s->run.t, p->mover[0] ? p->mover : "a variable", p->rate);
    if (run) diag_append(diag, ", behind %ld steps of the run", p->steps);
    diag_append(diag, ".");
    if (p->why[0]) diag_append(diag, " Newton's method from there: the solution %s.", p->why);
    if (!p->why[0]) diag_append(diag, " Newton's method from there does not converge.");
    return DAE_ERR_CONVERGENCE;
}

/* The interval that the model is to be run over, or 1. */
static double unit_of(const dae_solver *s)
{
    const model_form *f = s->base->model;
    double span = f ? f->flat->experiment.stop -
                          (isnan(f->flat->experiment.start) ? 0.0 : f->flat->experiment.start)
                    : NAN;
    return span > 0.0 ? span : 1.0;
}

/* Newton's method, and again after 1, 2, 4, .. units of the run. */
static dae_status pursue(pursuit *p, dae_diag *diag)
{
    const double most = p->request->span > 0.0 ? p->request->span : 1e6 * p->unit;
    bool found = false;
    p->began = p->s->run.phase == PHASE_NEW ? NULL : user_values(p->s);
    if (!p->began && p->s->run.phase != PHASE_NEW)
        return diag_set(diag, DAE_ERR_MEMORY, "dae_steady: out of memory.");
    dae_status status = try_here(p, &found, diag);
    double way = fmin(p->unit, most);
    while (status == DAE_OK && !found && !p->over && !p->request->newton_only) {
        status = follow_run(p, p->start + way, diag);
        if (status == DAE_OK) status = try_here(p, &found, diag);
        p->over = p->over || way >= most;
        way = fmin(2.0 * way, most);
    }
    if (status != DAE_OK) return status;
    if (!found) return explain_none(p, diag);
    p->made->steady.way = p->steps > 0 ? DAE_STEADY_RUN : DAE_STEADY_NEWTON;
    p->made->steady.steps = p->steps;
    return DAE_OK;
}

/* ---- the public calls ---- */

static dae_status check_request(const dae_steady_request *r, dae_diag *diag)
{
    if (r->max_steps >= 0 && r->span >= 0.0 && isfinite(r->span)) return DAE_OK;
    return diag_set(diag, DAE_ERR_ARGUMENT,
                    "dae_steady: max_steps = %ld and span = %g must not be negative.", r->max_steps,
                    r->span);
}

static dae_status find(dae_solver *s, const dae_steady_request *r, dae_steady_state **steady,
                       dae_diag *diag)
{
    owned_steady *made = DAE_NEW(owned_steady);
    if (made) made->memory = arena_new(0);
    pursuit p = {.s = s, .request = r, .made = made, .start = s->run.t, .unit = unit_of(s)};
    dae_status status = made && made->memory
                            ? pursue(&p, diag)
                            : diag_set(diag, DAE_ERR_MEMORY, "dae_steady: out of memory.");
    dae_free(p.began);
    if (status == DAE_OK)
        *steady = &made->steady;
    else if (made)
        dae_steady_free(&made->steady);
    return status;
}

dae_status dae_steady_sized(dae_solver *s, const dae_steady_request *request, size_t size,
                            dae_steady_state **steady, dae_diag *diag)
{
    dae_steady_request r = {0};
    diag_clear(diag);
    if (steady) *steady = NULL;
    if (!s || !steady) return diag_set(diag, DAE_ERR_ARGUMENT, "dae_steady: an argument is NULL.");
    dae_status status = DAE_OK;
    if (request)
        status = sized_read(request, size, &r, sizeof r, "request for a steady state", diag);
    if (status == DAE_OK) status = check_request(&r, diag);
    if (status != DAE_OK) return status;
    interrupt_scope scope;
    interrupt_open(&scope, s->bound.options.interrupt, s->bound.options.user);
    status = find(s, &r, steady, diag);
    if (!interrupt_close(&scope)) return status;
    dae_steady_free(*steady);
    *steady = NULL;
    return interrupt_explain(diag, "the search for a steady state");
}

void dae_steady_free(dae_steady_state *steady)
{
    if (!steady) return;
    owned_steady *made = (owned_steady *)steady;
    arena_free(made->memory);
    dae_free(made);
}
