/* Gradients of functionals: back through the linear equations of all steps of the sensitivities,
 * and through what events did to them. */
#include <math.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/sized.h"
#include "base/vector.h"
#include "solve/run/run.h"
#include "solve/sensitivity/adjoint_parts.h"
#include "solve/sensitivity/rough.h"

void dae_adjoint_free(dae_adjoint *j)
{
    if (!j) return;
    adjoint_forget(j);
    dae_sensitivity_free(j->x);
    ledger_free(&j->ledger);
    trajectory_free(&j->trajectory);
    recall_free(j->recall);
    dae_free_all(j->records, j->points, j->integral, j->integrated, j->value, j->inputs, j->direct,
                 j->outputs, j->by_p, j->state, j->alike, j->judged, j);
}

/* ---- making ---- */

static bool adjoint_room(dae_adjoint *j)
{
    const directions *d = &j->x->directions;
    const size_t m = (size_t)j->functionals, v = (size_t)j->variables;
    j->integral = DAE_ARRAY(double, m *v);
    j->integrated = DAE_ARRAY(bool, m);
    j->value = DAE_ARRAY(double, 8 * m);
    j->inputs = DAE_ARRAY(double, m *(size_t)d->inputs.count);
    j->direct = DAE_ARRAY(double, m *(size_t)d->named);
    j->outputs = DAE_ARRAY(double, 4 * v);
    j->by_p = DAE_ARRAY(double, d->named);
    j->judged = DAE_ARRAY(quadrature_error, m);
    if (!j->integral || !j->integrated || !j->value || !j->inputs || !j->direct || !j->outputs ||
        !j->by_p || !j->judged)
        return false;
    j->mixed = j->value + m;
    j->before = j->value + 2 * m;
    j->behind = j->value + 3 * m;
    j->rounding = j->value + 4 * m;
    j->size = j->value + 5 * m;
    j->end_tau = j->value + 7 * m;
    j->weighted = j->outputs + v;
    j->by_v = j->outputs + 2 * v;
    j->end_slope = j->outputs + 3 * v;
    j->end = j->alike_record = -1;
    if (!directions_mix(&j->x->directions)) return false;
    for (int k = 0; j->unchecked && k < d->named; k++) d->mix[k] = 0.0; /* S is none */
    return true;
}

static dae_status check_request(const dae_solver *s, const dae_adjoint_request *r, dae_diag *diag)
{
    if (r->functionals < 1 || !(r->memory >= 0.0))
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "Adjoint: functionals = %d must be positive, memory = %g not negative.",
                        r->functionals, r->memory);
    if (r->kind != DAE_ADJOINT_DISCRETE && r->kind != DAE_ADJOINT_CONTINUOUS)
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "Adjoint: kind = %d is neither discrete (0) nor continuous (1).",
                        (int)r->kind);
    if (r->unchecked && r->kind != DAE_ADJOINT_CONTINUOUS)
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "Adjoint: `unchecked` is for the continuous one; the discrete one needs "
                        "the mixture.");
    if (r->checkpoints < 0 || r->checkpoints == 1 ||
        (r->checkpoints > 0 && r->kind != DAE_ADJOINT_CONTINUOUS))
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "Adjoint: checkpoints = %d: there are to be two or more, or none (0), and "
                        "they are for the continuous one.",
                        r->checkpoints);
    if (s->base->model && s->base->model->flat->delay_count > 0)
        return diag_set(diag, DAE_ERR_UNSUPPORTED,
                        "Adjoint: the model has a delay (line %d), and no gradient goes back "
                        "through the past of delayed values. Ask for forward sensitivities "
                        "(dae_sensitivity_new, daedal sens without --gradient).",
                        s->base->model->flat->delays[0].place.line);
    if (s->base->model && (r->derivative || r->values || r->y0))
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "Adjoint of a model: `derivative`, `values` and `y0` are for callbacks; a "
                        "model has names.");
    return DAE_OK;
}

/* Values are kept, not equations. */
static void follow_values(dae_adjoint *j)
{
    j->recorder.any_stages = false;
    j->recorder.step = trajectory_step;
    j->recorder.judge = trajectory_judge;
    if (j->unchecked) j->recorder.walk = trajectory_walk;
}

/* The mixture, and room beside it. */
static dae_status adjoint_fill(dae_adjoint *j, dae_solver *s, const dae_adjoint_request *r,
                               dae_diag *diag)
{
    dae_sensitivity_request mixture = {.count = r->count,
                                       .names = r->names,
                                       .rtol = r->rtol,
                                       .atol = r->atol,
                                       .derivative = r->derivative,
                                       .values = r->values,
                                       .user = r->user,
                                       .y0 = r->y0,
                                       .without_run_error = true};
    dae_status status = dae_sensitivity_new(s, &mixture, &j->x, diag);
    if (status != DAE_OK) return status;
    j->functionals = r->functionals;
    j->continuous = r->kind == DAE_ADJOINT_CONTINUOUS;
    j->unchecked = r->unchecked != 0;
    j->variables = s->base->model ? (int)s->base->model->visible_count : s->base->form.n;
    j->limit = r->memory > 0.0 ? r->memory : 1e9;
    j->integrand = r->integrand;
    j->integrand_user = r->integrand_user;
    if (!adjoint_room(j)) return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for an adjoint.");
    for (int m = 0; m < j->functionals; m++) j->integrated[m] = j->integrand;
    j->recorder = adjoint_recorder;
    j->recorder.user = j;
    if (j->continuous) follow_values(j);
    j->x->recorder = &j->recorder;
    j->x->ledger = &j->ledger;
    if (r->checkpoints > 0 && !(j->recall = recall_new(j, r->checkpoints)))
        return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for an adjoint.");
    return DAE_OK;
}

dae_status dae_adjoint_new_sized(dae_solver *s, const dae_adjoint_request *request, size_t size,
                                 dae_adjoint **adjoint, dae_diag *diag)
{
    dae_adjoint_request r = {0};
    diag_clear(diag);
    if (!adjoint || !s || !request) {
        if (adjoint) *adjoint = NULL;
        return diag_set(diag, DAE_ERR_ARGUMENT, "dae_adjoint_new: an argument is NULL.");
    }
    *adjoint = NULL;
    dae_status status = sized_read(request, size, &r, sizeof r, "request for an adjoint", diag);
    if (status == DAE_OK) status = check_request(s, &r, diag);
    if (status != DAE_OK) return status;
    dae_adjoint *j = DAE_NEW(dae_adjoint);
    if (!j) return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for an adjoint.");
    status = adjoint_fill(j, s, &r, diag);
    if (status == DAE_OK)
        *adjoint = j;
    else
        dae_adjoint_free(j);
    return status;
}

/* ---- functionals ---- */

static dae_status check_functional(const dae_adjoint *j, int m, const void *numbers)
{
    if (!j || !j->x->run) return DAE_ERR_ARGUMENT;
    if (m >= 0 && m < j->functionals && numbers) return DAE_OK;
    return diag_set(&j->x->run->diag, DAE_ERR_ARGUMENT,
                    "Adjoint: there is no functional %d, or an argument is NULL.", m);
}

/* The run must stand: it has none before its start, and behind a failure. */
static dae_status check_stands(const dae_adjoint *j)
{
    if (j->x->stands) return DAE_OK;
    return diag_set(&j->x->run->diag, DAE_ERR_STATE,
                    "Adjoint: there is nothing before a start, and behind a failure of the run.");
}

dae_status dae_adjoint_integral(dae_adjoint *j, int m, const double *weights)
{
    dae_status status = check_functional(j, m, weights);
    if (status != DAE_OK) return status;
    if (j->record_count > 0)
        return diag_set(&j->x->run->diag, DAE_ERR_STATE,
                        "Adjoint: an integral is to be asked for before the start of its run.");
    for (int i = 0; i < j->variables; i++)
        j->integral[(size_t)m * (size_t)j->variables + (size_t)i] += weights[i];
    j->integrated[m] = true;
    rough_watch_free(j->x->rough); /* it is to watch these, too */
    j->x->rough = NULL;
    return DAE_OK;
}

dae_status dae_adjoint_point(dae_adjoint *j, int m, const double *weights)
{
    dae_status status = check_functional(j, m, weights);
    if (status == DAE_OK) status = check_stands(j);
    return status == DAE_OK ? adjoint_add_point(j, m, weights) : status;
}

dae_status dae_adjoint_value(const dae_adjoint *j, int m, double *value)
{
    dae_status status = check_functional(j, m, value);
    if (status == DAE_OK) *value = j->value[m];
    return status;
}

/* How far the derivative along the mixture may be from the one that the run has found: rounding of
 * the terms of both; and errors of two integrations, if there were two. */
static double allowed(const dae_adjoint *j, int m, double size)
{
    static const double TOLERANCES = 100.0;
    const dae_sensitivity *x = j->x;
    if (!j->continuous) return ADJOINT_CLOSE * fmax(size, fabs(j->mixed[m])) + j->rounding[m];
    const double rtol = x->request.rtol > 0.0 ? x->request.rtol : x->run->base_options.rtol;
    const double terms = fmax(size, j->rounding[m] / ADJOINT_CLOSE);
    return TOLERANCES * (rtol * terms + continuous_floor(j, m));
}

/* The derivative along the mixture must be that which the run has found. */
static dae_status check_gradient(const dae_adjoint *j, int m, const double *gradient)
{
    const directions *d = &j->x->directions;
    double sum = 0.0, size = 0.0;
    for (int k = 0; k < d->named; k++) {
        double part = gradient[k] * d->mix[k] * d->list[k].size;
        sum += part;
        size += fabs(part);
    }
    if (j->unchecked || fabs(sum - j->mixed[m]) <= allowed(j, m, size)) return DAE_OK;
    return diag_set(&j->x->run->diag, DAE_ERR_TOLERANCE,
                    "Adjoint: the gradient of functional %d gives %.9g along a mixture of all "
                    "parameters, the run itself %.9g: %s. Take tighter tolerances.",
                    m, sum, j->mixed[m],
                    j->continuous ? "one of both is off by more than 100 tolerances"
                                  : "rounding has spoilt it");
}

dae_status dae_adjoint_gradient(dae_adjoint *j, int m, double *gradient)
{
    dae_status status = check_functional(j, m, gradient);
    if (status == DAE_OK) status = check_stands(j);
    if (status == DAE_OK)
        status = j->continuous ? continuous_sweep(j, m, gradient) : adjoint_sweep(j, m, gradient);
    return status == DAE_OK ? check_gradient(j, m, gradient) : status;
}
