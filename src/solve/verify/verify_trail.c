/* A run for the judge: rows at given times, and its events. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"
#include "method/registry.h"
#include "solve/verify/verify_parts.h"

/* Events beyond these have no rows of their own. */
enum { MOST_EVENT_ROWS = 2000 };

void trail_free(trail *x)
{
    dae_free_all(x->t, x->values, x->unit, x->passed, x->event, x->drift, x->origin);
    *x = (trail){0};
}

static bool reserve_row(trail *x, bool units)
{
    size_t rows = (size_t)x->count + 1, row = (size_t)x->n * sizeof(double);
    size_t room[3] = {x->room, x->room, x->room}; /* all arrays are as long */
    return dae_grow(&x->t, &room[0], rows, sizeof(double)) &&
           dae_grow(&x->passed, &room[1], rows, sizeof(int)) &&
           (!units || dae_grow(&x->unit, &room[2], rows, row)) &&
           dae_grow(&x->values, &x->room, rows, row);
}

static bool add_event(trail *x, trail_event e)
{
    if (!dae_grow(&x->event, &x->event_room, (size_t)x->event_count + 1, sizeof e)) return false;
    x->event[x->event_count++] = e;
    return true;
}

bool trail_given(trail *x, const dae_problem *problem, const dae_verify_request *request)
{
    size_t rows = (size_t)request->rows;
    *x = (trail){.n = dae_problem_variable_count(problem),
                 .count = request->rows,
                 .room = rows,
                 .run = {.method = "", .end = request->times[rows - 1]}};
    x->t = dae_copy(request->times, rows, sizeof(double));
    x->passed = DAE_ARRAY(int, rows);
    x->values = dae_copy(request->values, rows * (size_t)x->n, sizeof(double));
    return x->t && x->passed && x->values;
}

/* ---- groups of methods ---- */

unsigned method_kin(const char *name)
{
    const method *m = name ? method_find(name) : NULL;
    return m ? 1u << method_family_of(m->name)->group : 0;
}

/* ---- a run ---- */

/* Where a run stands in its plan. */
typedef struct walker {
    trail *x;
    const trail_plan *plan;
    dae_solver *s;
    double sign;
    double from;    /* where the last step began, or an event was */
    int next;       /* of plan->times */
    int passed;     /* events */
    bool announced; /* an event was reported, and its update is due */
    int event_rows;
} walker;

static dae_status add_row(walker *w, double t)
{
    trail *x = w->x;
    inspector *looks = w->plan->inspector;
    double looser = w->plan->looser;
    if (!reserve_row(x, looks || looser > 0.0)) return DAE_ERR_MEMORY;
    dae_status status = dae_solver_variables(w->s, t, x->values + (size_t)x->count * (size_t)x->n);
    if (status < 0) return status;
    x->t[x->count] = t;
    x->passed[x->count] = w->passed;
    if (looks && !inspector_look(looks, w->s, t)) return DAE_ERR_MEMORY;
    double now = dae_solver_time(w->s), near = 1e-12 * fmax(fabs(t), fabs(now - w->from));
    bool beside = fabs(t - now) <= near || fabs(t - w->from) <= near;
    const double *row = x->values + (size_t)x->count * (size_t)x->n;
    if (w->plan->reader && !reader_row(w->plan->reader, t, row, beside)) return DAE_ERR_MEMORY;
    double *unit = x->unit ? x->unit + (size_t)x->count * (size_t)x->n : NULL;
    if (looks) inspector_units(looks, unit);
    if (looser > 0.0 && !certainty_find(w->s, t, looser, unit)) return DAE_ERR_MEMORY;
    x->count++;
    return DAE_OK;
}

/* Rows at all times of the plan up to where the solver stands. */
static dae_status serve(walker *w)
{
    const trail_plan *p = w->plan;
    double now = dae_solver_time(w->s);
    dae_status status = DAE_OK;
    for (; w->next < p->count && (p->times[w->next] - now) * w->sign <= 0.0; w->next++) {
        bool again = w->next > 0 && p->times[w->next] == p->times[w->next - 1];
        if (!again && status == DAE_OK) status = add_row(w, p->times[w->next]);
    }
    return status;
}

/* Which relation or event function is flagged first; -1: none */
static int first_flagged(const dae_solver *s)
{
    const int *flags = s->bound.events ? event_finder_flags(s->bound.events) : NULL;
    for (int k = 0; flags && k < s->bound.problem->form.event_count; k++)
        if (flags[k] != 0) return k;
    return -1;
}

/* A row at the event itself, unless there is one of the same side. */
static dae_status event_row(walker *w)
{
    const trail *x = w->x;
    double now = dae_solver_time(w->s);
    bool there = x->count > 0 && x->t[x->count - 1] == now && x->passed[x->count - 1] == w->passed;
    bool planned = w->next > 0 && w->plan->times[w->next - 1] == now;
    if (there || (!w->plan->event_rows && !planned)) return DAE_OK;
    if (!planned && w->event_rows++ >= 2 * MOST_EVENT_ROWS) return DAE_OK;
    return add_row(w, now);
}

/* The text is told of the values at an event. */
static dae_status watch_event(const walker *w)
{
    double now = dae_solver_time(w->s), *row = DAE_ARRAY(double, w->x->n);
    bool ok = row;
    if (row && dae_solver_variables(w->s, now, row) >= 0)
        ok = reader_watch_event(w->plan->reader, now, row);
    dae_free(row);
    return ok ? DAE_OK : DAE_ERR_MEMORY;
}

/* A model reports an event before and after its update, callbacks once. */
static dae_status meet_event(walker *w)
{
    dae_solver *s = w->s;
    bool due = s->hybrid && s->hybrid->pending;
    bool update = w->announced && !due;
    trail_event e = {dae_solver_time(s), due ? (int)s->hybrid->pending : 0, -1, -1};
    if (!s->hybrid || e.cause == EVENT_CROSSING) e.index = first_flagged(s);
    dae_status status = DAE_OK;
    if (due || !s->hybrid) status = event_row(w);
    if (s->hybrid && w->plan->reader && watch_event(w) < 0) return DAE_ERR_MEMORY;
    if (!update && !add_event(w->x, e)) return DAE_ERR_MEMORY;
    w->announced = due;
    if (!due) w->passed++;
    return status == DAE_OK && !due ? event_row(w) : status;
}

static dae_status give_up(walker *w)
{
    return diag_set(&w->s->diag, DAE_ERR_MAX_STEPS,
                    "%ld steps were tried up to t = %g, and it was given up.", w->s->stats.attempts,
                    dae_solver_time(w->s));
}

/* Whether the end is out of reach: more steps were tried, or evaluations made, than there may be,
 * or, beyond those that a beginning may take, more than the part of the interval that is done is
 * worth. */
static bool is_hopeless(const walker *w)
{
    const trail_plan *p = w->plan;
    double span = fabs(p->request->tend - p->request->t0), tried = (double)w->s->stats.attempts;
    double part = fabs(dae_solver_time(w->s) - p->request->t0) / span;
    const dae_stats *done = &w->s->stats;
    if (p->most_evaluations > 0 &&
        done->residuals + done->jacobian_residuals >= p->most_evaluations)
        return true;
    if (p->most_steps <= 0) return false;
    if (p->first_steps <= 0) return tried >= (double)p->most_steps;
    return tried >= (double)p->first_steps + part * (double)p->most_steps;
}

/* The start, to the text: what was fixed is there, unless the user gave values of his own. */
static dae_status watch_start(const walker *w)
{
    const dae_verify_request *r = w->plan->request;
    double *row = DAE_ARRAY(double, w->x->n);
    bool ok = row;
    if (row && dae_solver_variables(w->s, r->t0, row) >= 0)
        ok = reader_start(w->plan->reader, r->t0, row, !r->y0);
    dae_free(row);
    return ok ? DAE_OK : DAE_ERR_MEMORY;
}

/* A step has been made: is what lies inside of it right? */
static dae_status watch_step(const walker *w)
{
    double now = dae_solver_time(w->s);
    bool forward = (now - w->from) * w->sign > 0.0;
    bool ok = !forward || !w->plan->reader || reader_step(w->plan->reader, w->s, w->from, now);
    return ok ? DAE_OK : DAE_ERR_MEMORY;
}

static dae_status walk(walker *w)
{
    const dae_verify_request *r = w->plan->request;
    dae_status status = dae_solver_start(w->s, r->t0, r->y0, r->yp0);
    if (status < 0) return status;
    w->x->families |= method_kin(dae_solver_method(w->s));
    if (w->plan->reader && watch_start(w) < 0) return DAE_ERR_MEMORY;
    w->from = r->t0;
    status = serve(w);
    bool more = status == DAE_OK && r->tend != r->t0;
    while (more) {
        status = dae_solver_step(w->s, r->tend);
        if (status < 0) return status;
        w->x->families |= method_kin(dae_solver_method(w->s));
        more = status > 0;
        dae_status row = serve(w); /* first, as a run does: looking may change what is between */
        if (row == DAE_OK) row = watch_step(w);
        if (row == DAE_OK && status == DAE_EVENT) row = meet_event(w);
        if (row < 0) return row;
        w->from = dae_solver_time(w->s);
        if (more && is_hopeless(w)) return give_up(w);
    }
    return status < 0 ? status : DAE_OK;
}

/* What the run says of itself, and of its invariants. */
static dae_status describe(trail *x, dae_solver *s, const dae_options *options, dae_status status,
                           clock_t begin)
{
    x->run = (dae_verify_run){.method = dae_solver_method(s),
                              .rtol = options->rtol,
                              .atol = options->atol,
                              .status = status,
                              .end = x->count > 0 ? dae_solver_time(s) : NAN,
                              .steps = s->stats.steps,
                              .evaluations = s->stats.residuals + s->stats.jacobian_residuals,
                              .seconds = (double)(clock() - begin) / CLOCKS_PER_SEC};
    if (status < 0) snprintf(x->run.text, sizeof x->run.text, "%s", s->diag.text);
    size_t count = (size_t)options->invariant_count;
    x->drift = DAE_ARRAY(double, count);
    x->origin = DAE_ARRAY(double, count);
    if (!x->drift || !x->origin) return DAE_ERR_MEMORY;
    for (int i = 0; i < options->invariant_count; i++)
        if (dae_solver_invariant(s, i, &x->origin[i], &x->drift[i]) != DAE_OK)
            x->origin[i] = x->drift[i] = NAN;
    return DAE_OK;
}

dae_status trail_run(trail *x, const trail_plan *aim, const dae_options *options, dae_diag *diag)
{
    clock_t begin = clock();
    dae_solver *s = NULL;
    const dae_verify_request *r = aim->request;
    *x = (trail){.n = dae_problem_variable_count(aim->problem)};
    dae_status status = dae_solver_new(aim->problem, options, &s, diag);
    if (status < 0) return status;
    walker w = {.x = x, .plan = aim, .s = s, .sign = r->tend < r->t0 ? -1.0 : 1.0, .from = r->t0};
    status = walk(&w);
    if (status < 0 && diag) *diag = s->diag;
    if (status != DAE_ERR_MEMORY && aim->reader && !reader_end(aim->reader))
        status = DAE_ERR_MEMORY;
    bool memory = status == DAE_ERR_MEMORY || describe(x, s, options, status, begin) < 0;
    dae_solver_free(s);
    if (memory) return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for the rows of a run.");
    return x->count == 0 ? status : DAE_OK;
}
