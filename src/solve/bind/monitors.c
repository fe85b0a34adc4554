#include "solve/bind/monitors.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"
#include "forms/form_parts.h"
#include "solve/bind/solver.h"

void monitors_free(monitors *m)
{
    if (!m) return;
    for (int i = 0; m->names && i < m->set.count; i++) dae_free(m->names[i]);
    dae_free_all(m->names, m->variable, m->all, m->now, m->x);
    dae_free(m);
}

/* ---- invariants ---- */

/* Values of the invariants, by the user's function or as variables of the model */
static eval_status invariant_values(void *context, double t, const double *y, const double *yp,
                                    double *values)
{
    dae_solver *s = context;
    monitors *m = s->monitors;
    int code = 0;
    if (!s->hybrid) {
        if (solver_rewritten(s)) values_to_user(s, t, y, yp, m->all, NULL);
        const double *base = solver_rewritten(s) ? m->all : y;
        code = s->bound.options.invariant_function(t, base, values, s->bound.options.user);
    } else {
        model_instance_outputs(s->hybrid->instance, t, y, yp, m->all);
        for (int i = 0; i < m->set.count; i++) values[i] = m->all[m->variable[i]];
    }
    int bad = code == 0 ? vector_first_nonfinite(m->set.count, values) : -1;
    if (code == 0 && bad < 0) return EVAL_OK;
    return evaluator_failed(&s->bound.eval, (eval_failure){.callback = "invariant_function",
                                                           .code = code,
                                                           .component = -1,
                                                           .variable = -1,
                                                           .t = t,
                                                           .value = bad < 0 ? 0.0 : values[bad]});
}

/* The name of invariant i: the user's, or "invariant 1" */
static bool name_invariant(monitors *m, const dae_options *o, int i)
{
    const char *given = o->invariants ? o->invariants[i] : NULL;
    char text[32];
    snprintf(text, sizeof text, "invariant %d", i + 1);
    const char *name = given ? given : text;
    m->names[i] = dae_copy(name, strlen(name) + 1, 1);
    return m->names[i] != NULL;
}

static dae_status check_invariants(const dae_solver *s, const dae_options *o, dae_diag *diag)
{
    const char *const *names = o->invariants;
    if (o->invariant_count < 0)
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "Option invariant_count is %d; it must not be negative.",
                        o->invariant_count);
    if (!s->base->model && o->invariant_count > 0 && !o->invariant_function)
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "Option invariant_count is %d, but invariant_function is NULL.",
                        o->invariant_count);
    for (int i = 0; s->base->model && i < o->invariant_count; i++) {
        const char *name = names && names[i] ? names[i] : "";
        if (dae_problem_find_variable(s->base, name) >= 0) continue;
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "Invariant %s is no variable of the model: declare one, such as "
                        "\"Real energy\" with an equation that defines it.",
                        *name ? name : "without a name");
    }
    return DAE_OK;
}

static bool make_invariants(dae_solver *s, monitors *m, const dae_options *o)
{
    size_t count = (size_t)o->invariant_count;
    m->set = (invariant_set){.count = o->invariant_count,
                             .project = !o->watch_invariants,
                             .output_only = o->invariants_in_output,
                             .context = s,
                             .values = invariant_values};
    m->names = DAE_ARRAY(char *, count);
    m->variable = DAE_ARRAY(int, count);
    m->all = DAE_ARRAY(double, dae_problem_variable_count(s->base));
    m->now = DAE_ARRAY(double, 3 * count);
    if (!m->names || !m->variable || !m->all || !m->now) return false;
    m->drift = m->now + count;
    m->set.start = m->drift + count;
    bool fits = true;
    for (int i = 0; fits && i < m->set.count; i++) {
        fits = name_invariant(m, o, i);
        if (s->base->model) m->variable[i] = dae_problem_find_variable(s->base, o->invariants[i]);
    }
    return fits;
}

dae_status monitors_new(dae_solver *s, const dae_options *o, dae_diag *diag)
{
    s->stats.position_residual = s->stats.velocity_residual = s->stats.invariant_drift = -1.0;
    dae_status status = check_invariants(s, o, diag);
    if (status != DAE_OK || (o->invariant_count == 0 && !o->watch_constraints)) return status;
    s->monitors = DAE_NEW(monitors);
    bool fits = s->monitors != NULL;
    if (fits) s->monitors->constraints = o->watch_constraints;
    if (fits && o->invariant_count > 0) fits = make_invariants(s, s->monitors, o);
    return fits ? DAE_OK : diag_set(diag, DAE_ERR_MEMORY, "Out of memory for the monitors.");
}

/* ---- constraints ---- */

bool monitors_bind(monitors *m, const form_set *f)
{
    if (!m || !m->constraints) return true;
    size_t nx = 0, g = 0, J = 0;
    if (f && f->mechanical) {
        nx = 2 * (size_t)f->mechanical->nq;
        g = (size_t)f->mechanical->nl;
        J = f->mechanical->G_matrix.count;
    } else if (f && f->hessenberg) {
        nx = 2 * (size_t)(f->hessenberg->ny + f->hessenberg->nz + f->hessenberg->nu);
        g = (size_t)f->hessenberg->nz;
        J = f->hessenberg->g_y_matrix.count;
    } else if (f && f->quasilinear) {
        nx = (size_t)f->quasilinear->n;
        g = (size_t)f->quasilinear->ng;
    }
    dae_free(m->x);
    m->x = DAE_ARRAY(double, nx + g + J + 1);
    if (!m->x) return false;
    m->g = m->x + nx;
    m->J = m->g + g;
    return true;
}

void monitors_persist(monitors *m, persist *p)
{
    persist_same(p, (uint64_t)m->set.count, "other invariants are watched");
    if (m->now) PERSIST_ARRAY(p, m->now, 3 * (size_t)m->set.count);
}
