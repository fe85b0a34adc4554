/* What the adjoint keeps of a run: the linear equations of every step, what events do, and what
 * functionals count of both. */
#include <math.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"
#include "solve/run/run.h"
#include "solve/sensitivity/adjoint_parts.h"

static dae_status no_memory(const dae_adjoint *j)
{
    return sensitivity_no_memory(j->x);
}

void adjoint_forget(dae_adjoint *j)
{
    for (long i = 0; i < j->record_count; i++) dae_free(j->records[i].numbers);
    for (long i = 0; i < j->point_count; i++) dae_free(j->points[i].weight);
    ledger_reset(&j->ledger);
    j->record_count = j->point_count = 0;
    j->alike_record = -1;
    if (j->file) fclose(j->file);
    j->file = NULL;
    j->filed = 0;
    j->used = 0.0;
    for (int k = 0; j->start && k < j->x->directions.named; k++) dae_free(j->start[k]);
    dae_free(j->start);
    j->start = NULL;
    trajectory_reset(&j->trajectory);
    recall_reset(j->recall);
}

/* ---- records ---- */

/* Numbers beyond the memory that is allowed go to a temporary file. */
static dae_status file_record(dae_adjoint *j, adjoint_record *r)
{
    const double bytes = (double)r->count * sizeof(double);
    if (j->used + bytes <= j->limit) {
        j->used += bytes;
        return DAE_OK;
    }
    if (!j->file) j->file = tmpfile();
    /* a gradient on the way has left the file where it read last */
    bool ok = j->file && fseek(j->file, j->filed * (long)sizeof(double), SEEK_SET) == 0 &&
              fwrite(r->numbers, sizeof(double), r->count, j->file) == r->count;
    dae_free(r->numbers);
    r->numbers = NULL;
    r->at = j->filed;
    j->filed += (long)r->count;
    if (ok) return DAE_OK;
    return diag_set(
        &j->x->run->diag, DAE_ERR_FILE,
        "Adjoint: a temporary file for %.3g bytes cannot be written; allow more memory.",
        (double)j->filed * sizeof(double));
}

dae_status adjoint_add_record(dae_adjoint *j, adjoint_record r)
{
    if (!dae_grow(&j->records, &j->record_room, (size_t)j->record_count + 1, sizeof *j->records)) {
        dae_free(r.numbers);
        return no_memory(j);
    }
    j->records[j->record_count] = r;
    if (j->recall && !r.ledger) return recall_note(j, &j->records[j->record_count++]);
    if (r.ledger) j->trajectory.last_t = NAN;
    return file_record(j, &j->records[j->record_count++]);
}

/* ---- the start: S of every parameter ---- */

static bool is_zero(size_t n, const double *v)
{
    for (size_t i = 0; i < n; i++)
        if (v[i] != 0.0) return false;
    return true;
}

/* S and S' in the k-th direction with a name where the run begins; b: n values of work. */
static dae_status start_direction(dae_adjoint *j, int k, double *b)
{
    dae_sensitivity *x = j->x;
    const size_t n = (size_t)x->lead.n;
    dae_status status = DAE_OK;
    const double *rates = x->rates + (size_t)k * n;
    vector_zero((int)n, b);
    if (x->lead.form)
        model_tangent_add_inputs(x->lead.tangents->rows, directions_named(&x->directions, k), b);
    else
        status = lead_explicit_named(x, x->t, x->lead.y, x->lead.yp, k, b);
    if (status != DAE_OK || (is_zero(n, rates) && is_zero(n, b))) return status; /* 0 it is */
    double *s = j->start[k] = DAE_ARRAY(double, 2 * n);
    if (!s) return no_memory(j);
    vector_copy((int)n, rates, s);
    return lead_complete_with(x, x->t, b, s, s + n);
}

static dae_status record_start(void *user)
{
    dae_adjoint *j = user;
    dae_sensitivity *x = j->x;
    const size_t n = (size_t)x->lead.n, named = (size_t)x->directions.named;
    const size_t m = (size_t)j->functionals;
    adjoint_forget(j);
    vector_zero((int)m, j->value);
    vector_zero((int)m, j->mixed);
    vector_zero((int)m, j->rounding);
    vector_zero((int)(2 * m), j->size);
    vector_zero((int)m, j->end_tau);
    j->began = x->t;
    j->end = -1;
    memset(j->inputs, 0, m * (size_t)x->directions.inputs.count * sizeof *j->inputs);
    memset(j->direct, 0, m * named * sizeof *j->direct);
    j->start_n = x->lead.n;
    j->start = DAE_ARRAY(double *, named);
    double *b = DAE_ARRAY(double, n);
    dae_status status = j->start && b ? DAE_OK : no_memory(j);
    for (size_t k = 0; k < named && status == DAE_OK; k++) status = start_direction(j, (int)k, b);
    if (status == DAE_OK && !ledger_take_space(&j->ledger, &x->lead)) status = no_memory(j);
    dae_free(b);
    return status;
}

/* ---- variables of a point ---- */

dae_status adjoint_outputs(dae_adjoint *j, double t, model_tangent **v)
{
    const lead *l = &j->x->lead;
    *v = NULL;
    if (!l->form) {
        vector_copy(l->n, l->y, j->outputs);
        return DAE_OK;
    }
    *v = lead_outputs(j->x, t);
    if (!*v) return no_memory(j);
    model_instance_outputs(l->solver->hybrid->instance, t, l->y, l->yp, j->outputs);
    return DAE_OK;
}

double adjoint_along(const dae_adjoint *j, const model_tangent *v, const double *weight,
                     const double *s, const double *sp)
{
    const double *moved = directions_moved(&j->x->directions, 0);
    double sum = 0.0;
    if (!v) return vector_dot(j->variables, weight, s);
    for (int i = 0; i < j->variables; i++)
        if (weight[i] != 0.0) sum += weight[i] * model_tangent_row(v, i, s, sp, moved, 0.0);
    return sum;
}

void adjoint_spread(const dae_adjoint *j, const model_tangent *v, const double *weight, double *s,
                    double *sp, double *inputs)
{
    if (v)
        model_tangent_transposed(v, model_tangent_entries(v), weight, s, sp, inputs, NULL);
    else
        vector_axpy(j->variables, 1.0, weight, s);
}

/* Terms may cancel, and what S is below its absolute tolerance nobody knows. */
void adjoint_add_along(dae_adjoint *j, int m, double along, const double *weight_s,
                       const double *weight_p, const double *s, const double *sp)
{
    static const double UNKNOWN = 0.01; /* of the tolerance */
    double sum = 0.0, rest = along;
    for (int i = 0; i < j->x->lead.n; i++) {
        const double part = weight_s[i] * s[i], slope = weight_p[i] * sp[i];
        sum += ADJOINT_CLOSE * (fabs(part) + fabs(slope));
        if (weight_s[i] != 0.0)
            sum += UNKNOWN * fabs(weight_s[i]) * sensitivity_weight(j->x, 0, i, 0.0, 0.0);
        rest -= part + slope; /* what inputs do */
    }
    j->mixed[m] += along;
    j->rounding[m] += sum + ADJOINT_CLOSE * fabs(rest);
}

/* ---- steps ---- */

step_parts adjoint_parts(const dae_adjoint *j, const adjoint_record *r, long at)
{
    const tangent_space *q = &j->ledger.spaces[r->space];
    const size_t s = (size_t)r->method->stages;
    step_parts p;
    p.matrix = r->alike && r->same != at ? 0 : (r->alike ? 1 : s) * q->layout.count;
    p.explicit_part = 2 * p.matrix;
    p.one = 2 * (size_t)q->n;
    if (q->tangents) p.one = model_tangent_size(q->tangents->rows);
    if (j->x->run->base->forms) p.one = (size_t)j->x->directions.named * (size_t)q->n;
    p.integrals = p.explicit_part + s * p.one;
    p.all = p.integrals + (size_t)adjoint_integrals(j) * 2 * s * (size_t)q->n;
    return p;
}

/* What F_p follows from at the point at hand. */
static dae_status record_explicit(dae_adjoint *j, double t, const step_parts *p, double *to)
{
    const lead *l = &j->x->lead;
    dae_status status = DAE_OK;
    if (lead_has_forms(l)) { /* later other positions may be chosen, and the rows be others */
        for (int k = 0; k < j->x->directions.named && status == DAE_OK; k++)
            status = lead_explicit_named(j->x, t, l->y, l->yp, k, to + (size_t)k * (size_t)l->n);
        return status;
    }
    if (!l->form) {
        vector_copy(l->n, l->y, to);
        vector_copy(l->n, l->yp, to + l->n);
        return status;
    }
    tape_inputs at = lead_point(j->x, t);
    model_tangent_at(l->tangents->rows, &at);
    memcpy(to, model_tangent_entries(l->tangents->rows), p->one * sizeof *to);
    return status;
}

/* That, and integrals, at all stages. */
static dae_status record_stages(dae_adjoint *j, double h, const double *stages, step_parts p,
                                double *numbers)
{
    dae_sensitivity *x = j->x;
    dae_status status = DAE_OK;
    for (int a = 0; a < x->method->stages && status == DAE_OK; a++) {
        double t = a == x->method->stages - 1 ? x->t + h : x->t + x->method->nodes[a] * h;
        lead_recall(&x->lead, t, x->system->point + 2 * (size_t)x->lead.n * (size_t)a);
        status = record_explicit(j, t, &p, numbers + p.explicit_part + (size_t)a * p.one);
        if (status == DAE_OK && p.all > p.integrals)
            status = adjoint_integrate(j, h, a, stages, t, numbers + p.integrals);
    }
    return status;
}

bool adjoint_state_room(dae_adjoint *j)
{
    return dae_grow(&j->state, &j->state_room, 2 * (size_t)j->x->lead.n, sizeof *j->state);
}

/* Whether F_Y and F_Y' of the step are those of the last record that has its own. */
static bool same_as_before(const dae_adjoint *j)
{
    const stage_system *q = j->x->system;
    const size_t bytes = q->count * sizeof(double);
    return j->alike_record >= 0 && j->records[j->alike_record].space == j->ledger.space &&
           memcmp(q->fy, j->alike, bytes) == 0 && memcmp(q->fyp, j->alike + q->count, bytes) == 0;
}

/* The step becomes the one that later ones are compared with. */
static dae_status note_alike(dae_adjoint *j)
{
    const stage_system *q = j->x->system;
    j->alike_record = -1;
    if (!dae_grow(&j->alike, &j->alike_room, 2 * q->count, sizeof *j->alike)) return no_memory(j);
    memcpy(j->alike, q->fy, q->count * sizeof *j->alike);
    memcpy(j->alike + q->count, q->fyp, q->count * sizeof *j->alike);
    j->alike_record = j->record_count;
    return DAE_OK;
}

/* A step, as it will be recorded but for its numbers. */
static dae_status describe_step(dae_adjoint *j, double h, adjoint_record *r)
{
    const bool alike = j->x->system->alike;
    *r = (adjoint_record){
        .method = j->x->method, .space = j->ledger.space, .t = j->x->t, .h = h, .alike = alike};
    dae_status status = alike && !same_as_before(j) ? note_alike(j) : DAE_OK;
    r->same = alike ? j->alike_record : -1;
    return status;
}

static dae_status record_step(void *user, double h, const double *stages)
{
    dae_adjoint *j = user;
    dae_sensitivity *x = j->x;
    adjoint_record r;
    if (!ledger_take_space(&j->ledger, &x->lead) || !adjoint_state_room(j)) return no_memory(j);
    dae_status status = describe_step(j, h, &r);
    if (status != DAE_OK) return status;
    const step_parts p = adjoint_parts(j, &r, j->record_count);
    r.count = p.all;
    r.numbers = dae_alloc(p.all, sizeof *r.numbers);
    if (!r.numbers) return no_memory(j);
    memset(r.numbers + p.integrals, 0, (p.all - p.integrals) * sizeof *r.numbers);
    memcpy(r.numbers, x->system->fy, p.matrix * sizeof *r.numbers);
    memcpy(r.numbers + p.matrix, x->system->fyp, p.matrix * sizeof *r.numbers);
    status = record_stages(j, h, stages, p, r.numbers);
    if (status == DAE_OK) return adjoint_add_record(j, r);
    if (r.same == j->record_count) j->alike_record = -1;
    dae_free(r.numbers);
    return status;
}

/* ---- between steps ---- */

/* The ledger is complete: it becomes a record. */
static dae_status record_ledger(void *user)
{
    dae_adjoint *j = user;
    double *numbers =
        j->ledger.failed ? NULL : dae_copy(j->ledger.numbers, j->ledger.count, sizeof(double));
    if (!numbers) return no_memory(j);
    return adjoint_add_record(
        j, (adjoint_record){.ledger = true, .numbers = numbers, .count = j->ledger.count});
}

/* What inputs that events set have counted for so far belongs before the event. */
static dae_status record_event(void *user)
{
    dae_adjoint *j = user;
    const directions *d = &j->x->directions;
    const int all = d->inputs.count, first = d->first_discrete;
    if (all > first) ledger_inputs_count(&j->ledger, j->functionals, first, all, j->inputs);
    for (int m = 0; m < j->functionals; m++)
        vector_zero(all - first, j->inputs + (size_t)m * (size_t)all + first);
    return adjoint_integrands(j, j->before);
}

/* An integral over [.., te] and [te, ..] moves with te by what its integrand jumps; where the model
 * ends the run there is nothing behind te. */
static dae_status record_jumps(dae_adjoint *j)
{
    double tau = 0.0;
    dae_status status = adjoint_integrands(j, j->behind);
    if (status != DAE_OK) return status;
    if (j->x->run->run.terminated) vector_zero(j->functionals, j->behind);
    jump_last(j->x->jump, 0, NULL, &tau);
    for (int m = 0; m < j->functionals; m++) {
        j->before[m] -= j->behind[m];
        j->mixed[m] += j->before[m] * tau;
        j->rounding[m] += ADJOINT_CLOSE * fabs(j->before[m] * tau);
    }
    ledger_functionals(&j->ledger, j->functionals, j->before);
    return DAE_OK;
}

/* The model ends the run: slopes of all variables where it does. */
static dae_status record_end(dae_adjoint *j)
{
    dae_sensitivity *x = j->x;
    const lead *l = &x->lead;
    model_tangent *v = NULL;
    double *slope = DAE_ARRAY(double, 2 * (size_t)l->n);
    if (!slope) return no_memory(j);
    for (int i = 0; i < l->n; i++) slope[i] = lead_is_state(l, i) ? jump_slopes(x->jump)[i] : 0.0;
    dae_status status = lead_complete(x, x->t, -1, 1.0, slope, slope + l->n);
    if (status == DAE_OK) status = adjoint_outputs(j, x->t, &v);
    for (int i = 0; v && i < j->variables; i++)
        j->end_slope[i] = model_tangent_row(v, i, slope, slope + l->n, NULL, 1.0);
    j->end = j->record_count;
    dae_free(slope);
    return status;
}

static dae_status record_event_end(void *user)
{
    dae_adjoint *j = user;
    dae_status status = j->x->run->run.terminated ? record_end(j) : DAE_OK;
    if (status == DAE_OK && adjoint_integrals(j) > 0) status = record_jumps(j);
    return status == DAE_OK ? record_ledger(j) : status;
}

/* A value where the model ends the run moves with the time of the end. */
static void add_end(dae_adjoint *j, int m, const double *weights)
{
    double rate = 0.0, tau = 0.0;
    if (j->end < 0 || j->end != j->record_count - 1) return;
    for (int i = 0; i < j->variables; i++)
        if (weights[i] != 0.0) rate += weights[i] * j->end_slope[i];
    jump_last(j->x->jump, 0, NULL, &tau);
    j->mixed[m] += rate * tau;
    j->rounding[m] += ADJOINT_CLOSE * fabs(rate * tau);
    j->end_tau[m] += rate;
}

dae_status adjoint_add_point(dae_adjoint *j, int m, const double *weights)
{
    dae_sensitivity *x = j->x;
    const size_t n = (size_t)x->lead.n;
    model_tangent *v;
    if (!dae_grow(&j->points, &j->point_room, (size_t)j->point_count + 1, sizeof *j->points))
        return no_memory(j);
    dae_status status = lead_values(x, x->t);
    if (status == DAE_OK) status = adjoint_outputs(j, x->t, &v);
    if (status != DAE_OK) return status;
    double *weight = DAE_ARRAY(double, 2 * n);
    if (!weight) return no_memory(j);
    for (int i = 0; i < j->variables; i++)
        if (weights[i] != 0.0) j->value[m] += weights[i] * j->outputs[i];
    adjoint_spread(j, v, weights, weight, weight + n,
                   j->inputs + (size_t)m * (size_t)x->directions.inputs.count);
    adjoint_add_along(j, m, adjoint_along(j, v, weights, x->s, x->sp), weight, weight + n, x->s,
                      x->sp);
    add_end(j, m, weights);
    j->points[j->point_count++] = (point_record){j->record_count - 1, m, (int)n, weight};
    return DAE_OK;
}

const step_recorder adjoint_recorder = {.any_stages = true,
                                        .step = record_step,
                                        .judge = adjoint_judge,
                                        .integrates = adjoint_integrates,
                                        .started = record_start,
                                        .event_begins = record_event,
                                        .event_ends = record_event_end,
                                        .changed = record_ledger};
