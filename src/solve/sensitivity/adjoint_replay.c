/* The linear equations of the past: what the lead was in a stretch of steps, evaluated at values of
 * the trajectory. Models have an instance of their own for it, so that neither the run nor the lead
 * is touched; callbacks are asked again. */
#include <math.h>
#include <stdint.h>
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

static void space_free(replay_space *q)
{
    model_instance_free(q->instance);
    dae_free_all(q->place, q->values, q->rtol);
}

void trajectory_reset(trajectory *q)
{
    for (int i = 0; i < q->stretch_count; i++) {
        dae_free(q->stretches[i].memory);
        persist_free(&q->stretches[i].choice);
    }
    for (int i = 0; i < q->space_count; i++) space_free(&q->spaces[i]);
    q->stretch_count = q->space_count = 0;
    q->last_t = q->gap_t = NAN;
    if (q->gap) memset(q->gap, 0, q->gap_room * sizeof *q->gap);
}

void trajectory_free(trajectory *q)
{
    trajectory_reset(q);
    dae_free_all(q->stretches, q->spaces, q->last, q->gap, q->zero);
    *q = (trajectory){0};
}

/* ---- what the lead is ---- */

static model_instance *instance_of(const lead *l)
{
    return l->form ? l->solver->hybrid->instance : NULL;
}

/* Tolerances of the unknowns. */
static void take_tolerances(const dae_sensitivity *x, replay_space *q)
{
    for (int i = 0; i < x->lead.n; i++) {
        q->atol[i] = sensitivity_weight(x, 0, i, 0.0, 0.0);
        q->rtol[i] = sensitivity_weight(x, 0, i, 1.0, 1.0) - q->atol[i];
    }
}

/* One more space, as the lead is. */
static bool add_space(dae_adjoint *j)
{
    trajectory *r = &j->trajectory;
    const lead *l = &j->x->lead;
    if (!dae_grow(&r->spaces, &r->space_room, (size_t)r->space_count + 1, sizeof *r->spaces))
        return false;
    replay_space *q = &r->spaces[r->space_count];
    *q = (replay_space){.stretch = -1, .rtol = DAE_ARRAY(double, 2 * (size_t)l->n)};
    if (l->form && q->rtol) q->instance = model_instance_new(l->form);
    if (!q->rtol || (l->form && !q->instance)) {
        space_free(q);
        return false;
    }
    r->space_count++;
    q->atol = q->rtol + l->n;
    take_tolerances(j->x, q);
    if (l->form) model_instance_follow(q->instance, instance_of(l));
    return true;
}

/* Whether a stretch has the memory and the choice of states of an instance. */
static bool same_stretch(const stretch *s, int space, bool plain, const model_instance *m,
                         const persist *choice)
{
    if (s->space != space || s->plain != plain || s->choice.count != choice->count) return false;
    if (choice->count > 0 && memcmp(s->choice.bytes, choice->bytes, choice->count) != 0)
        return false;
    return !m ||
           memcmp(s->memory, m->memory, (size_t)m->form->flat->memory_count * sizeof(double)) == 0;
}

static bool add_stretch(trajectory *r, int space, bool plain, const model_instance *m,
                        persist *choice)
{
    double *memory = NULL;
    if (m && !(memory = dae_copy(m->memory, (size_t)m->form->flat->memory_count, sizeof(double))))
        return false;
    if (!dae_grow(&r->stretches, &r->stretch_room, (size_t)r->stretch_count + 1,
                  sizeof *r->stretches)) {
        dae_free(memory);
        return false;
    }
    r->stretches[r->stretch_count++] = (stretch){space, plain, memory, *choice};
    *choice = (persist){0};
    return true;
}

int replay_take(dae_adjoint *j)
{
    trajectory *r = &j->trajectory;
    const lead *l = &j->x->lead;
    const model_instance *m = instance_of(l);
    persist choice = {0};
    bool ok = ledger_take_space(&j->ledger, l);
    while (ok && r->space_count < j->ledger.space_count) ok = add_space(j);
    if (ok && m && m->selection) selection_persist(m->selection, &choice);
    if (!ok || !persist_ok(&choice)) {
        persist_free(&choice);
        return -1;
    }
    const int last = r->stretch_count - 1;
    if (last >= 0 && same_stretch(&r->stretches[last], j->ledger.space, l->plain, m, &choice)) {
        persist_free(&choice);
        return last;
    }
    ok = add_stretch(r, j->ledger.space, l->plain, m, &choice);
    persist_free(&choice);
    return ok ? last + 1 : -1;
}

/* ---- the equations of a stretch ---- */

static const stretch *stretch_of(const replay *r)
{
    return &r->j->trajectory.stretches[r->stretch];
}

static replay_space *space_of(const replay *r)
{
    return &r->j->trajectory.spaces[stretch_of(r)->space];
}

/* Callbacks whose companion chooses positions. */
static bool has_positions(const replay *r)
{
    return r->j->x->run->base->forms;
}

/* Where entries of a pattern are in the layout of the space. */
static dae_status place_entries(const replay *r, replay_space *q, const dae_residual *d)
{
    const matrix_layout *layout = &r->j->ledger.spaces[stretch_of(r)->space].layout;
    dae_free_all(q->place, q->values);
    q->entries = (size_t)d->colptr[d->n];
    q->place = DAE_ARRAY(size_t, q->entries);
    q->values = DAE_ARRAY(double, 2 * q->entries);
    if (!q->place || !q->values) return no_memory(r->j);
    for (int i = 0; i < d->n; i++)
        for (int k = d->colptr[i]; k < d->colptr[i + 1]; k++)
            q->place[k] = layout_place(layout, d->rowind[k], i);
    return DAE_OK;
}

/* The instance of the space takes memory and choice of the stretch. */
static dae_status load_stretch(const replay *r)
{
    const stretch *s = stretch_of(r);
    replay_space *q = space_of(r);
    model_instance *m = q->instance;
    dae_residual d;
    if (q->stretch == r->stretch) return DAE_OK;
    q->stretch = -1;
    memcpy(m->memory, s->memory, (size_t)m->form->flat->memory_count * sizeof *s->memory);
    if (m->selection) {
        persist in = {.reading = true, .bytes = s->choice.bytes, .count = s->choice.count};
        selection_persist(m->selection, &in);
        if (!persist_ok(&in)) return no_memory(r->j);
    }
    model_instance_prepare(m);
    if (!model_instance_describe(m, &d)) return no_memory(r->j);
    dae_status status = !q->place || m->selection ? place_entries(r, q, &d) : DAE_OK;
    if (status == DAE_OK) q->stretch = r->stretch;
    return status;
}

/* The companion at (t, y), with the positions that are good there. */
static dae_status take_positions(replay *r, double t, const double *y)
{
    dae_sensitivity *x = r->j->x;
    lead *l = &x->lead;
    dae_status status = lead_take_at(x, t, y);
    if (status == DAE_OK) lead_recall(l, t, y);
    if (status == DAE_OK) status = lead_linearise(x, t);
    if (status != DAE_OK) return status;
    r->layout = &l->matrix.jac.layout;
    for (int i = 0; i < l->n; i++) r->state[i] = lead_is_state(l, i);
    r->version++;
    return DAE_OK;
}

dae_status replay_enter(replay *r, int number, double t, const double *y)
{
    const int before = r->layout ? stretch_of(r)->space : -1;
    r->stretch = number;
    const tangent_space *space = &r->j->ledger.spaces[stretch_of(r)->space];
    r->n = space->n;
    r->rtol = space_of(r)->rtol;
    r->atol = space_of(r)->atol;
    r->plain = stretch_of(r)->plain;
    if (!dae_grow(&r->state, &r->state_room, (size_t)r->n, sizeof *r->state))
        return no_memory(r->j);
    if (has_positions(r)) return take_positions(r, t, y);
    r->layout = &space->layout;
    for (int i = 0; i < r->n; i++) r->state[i] = r->plain || space->state[i];
    if (stretch_of(r)->space != before) r->version++;
    if (!space->tangents) return DAE_OK;
    r->rows = space->tangents->rows;
    r->outputs = space->tangents->outputs;
    r->explicit_size = model_tangent_size(r->rows);
    return load_stretch(r);
}

dae_status replay_hold(replay *r, double t, const double *y, bool *changed)
{
    dae_sensitivity *x = r->j->x;
    *changed = false;
    if (!has_positions(r)) return DAE_OK;
    lead_recall(&x->lead, t, y);
    if (lead_states_hold(x, t)) return DAE_OK;
    *changed = true;
    return take_positions(r, t, y);
}

dae_status replay_leave(replay *r)
{
    dae_sensitivity *x = r->j->x;
    dae_status status = DAE_OK;
    if (r->layout && has_positions(r)) status = lead_take(x, x->t, true);
    x->lead.at = NAN;
    dae_free(r->state);
    return status;
}

/* ---- at a point ---- */

static tape_inputs inputs_at(const model_instance *m, int n, double t, const double *y)
{
    return (tape_inputs){.time = t,
                         .values = {y, y + n, NULL, NULL},
                         .parameters = m->parameters,
                         .memory = m->memory};
}

static dae_status explain_point(const replay *r, double t)
{
    dae_diag *diag = &r->j->x->run->diag;
    diag->t = t;
    return diag_set(diag, DAE_ERR_EVALUATION,
                    "Adjoint: the derivatives of the equations cannot be evaluated at t = %.9g on "
                    "the way back.",
                    t);
}

static dae_status linearise_model(replay *r, double t, const double *y, double *fy, double *fyp,
                                  double *explicit_part)
{
    replay_space *q = space_of(r);
    double *by_y = q->values, *by_yp = q->values + q->entries;
    memset(q->values, 0, 2 * q->entries * sizeof *q->values);
    if (model_jacobian(t, y, y + r->n, by_y, by_yp, q->instance) != 0 ||
        !vector_finite((int)(2 * q->entries), q->values))
        return explain_point(r, t);
    memset(fy, 0, r->layout->count * sizeof *fy);
    memset(fyp, 0, r->layout->count * sizeof *fyp);
    for (size_t k = 0; k < q->entries; k++) {
        if (q->place[k] == SIZE_MAX) continue;
        fy[q->place[k]] = by_y[k];
        fyp[q->place[k]] = by_yp[k];
    }
    tape_inputs at = inputs_at(q->instance, r->n, t, y);
    model_tangent_at((model_tangent *)r->rows, &at);
    memcpy(explicit_part, model_tangent_entries(r->rows), r->explicit_size * sizeof *explicit_part);
    return DAE_OK;
}

dae_status replay_linearise(replay *r, double t, const double *y, double *fy, double *fyp,
                            double *explicit_part)
{
    dae_sensitivity *x = r->j->x;
    if (r->rows) return linearise_model(r, t, y, fy, fyp, explicit_part);
    lead_recall(&x->lead, t, y);
    dae_status status = lead_linearise(x, t);
    if (status != DAE_OK) return status;
    memcpy(fy, x->lead.matrix.jac.dfdy, r->layout->count * sizeof *fy);
    memcpy(fyp, x->lead.matrix.jac.dfdyp, r->layout->count * sizeof *fyp);
    return DAE_OK;
}

dae_status replay_outputs(replay *r, double t, const double *y)
{
    model_instance *m = space_of(r)->instance;
    if (!m) {
        vector_copy(r->n, y, r->j->outputs);
        return DAE_OK;
    }
    tape_inputs at = inputs_at(m, r->n, t, y);
    model_tangent_at((model_tangent *)r->outputs, &at);
    model_instance_outputs(m, t, y, y + r->n, r->j->outputs);
    return DAE_OK;
}

dae_status replay_explicit_back(replay *r, double t, const double *y, const double *explicit_part,
                                const double *weight, double *to)
{
    dae_adjoint *j = r->j;
    dae_status status = DAE_OK;
    if (r->rows) {
        model_tangent_transposed(r->rows, explicit_part, weight, NULL, NULL, to, NULL);
        return DAE_OK;
    }
    double *fp = DAE_ARRAY(double, r->n);
    if (!fp) return no_memory(j);
    for (int k = 0; k < j->x->directions.named && status == DAE_OK; k++) {
        status = lead_explicit_named(j->x, t, y, y + r->n, k, fp);
        if (status == DAE_OK) to[k] += vector_dot(r->n, weight, fp);
    }
    dae_free(fp);
    return status;
}
