/* What kind each variable is that was left to us: by the columns of dF/dy'. */
#include "base/diag.h"
#include "base/memory.h"
#include "solve/begin/begin_parts.h"
#include "solve/explain/explain.h"

static bool any_auto_kind(const dae_solver *s)
{
    const dae_kind *kinds = s->bound.problem->form.kinds;
    if (!kinds) return true;
    for (int i = 0; i < s->bound.n; i++)
        if (kinds[i] == DAE_KIND_AUTO) return true;
    return false;
}

/* Whether there is a matrix whose columns can be looked at: not so for GMRES with the user's P or
 * none. */
static bool has_columns(const iteration *it)
{
    return !it->matrix_free || it->preconditioner == DAE_PRECOND_ILU ||
           it->preconditioner == DAE_PRECOND_BANDED;
}

/* The velocities of second order methods that test them count as differential at index 3 too. */
static void keep_velocities(dae_solver *s)
{
    const second_order *form = s->bound.context.second;
    if (!form || !s->bound.method->tests_velocities) return;
    for (int k = 0; k < form->n; k++)
        for (int j = 1; j < form->levels[k]; j++) {
            int v = second_order_place(form, k, j);
            if (s->bound.kinds[v] >= DAE_KIND_INDEX2) s->bound.kinds[v] = DAE_KIND_DIFFERENTIAL;
        }
}

/* Velocities of a model that is taken as it is, of index 3, in order to be projected: within steps
 * they are of index 2, as those of callbacks are. */
static void note_projected_velocities(dae_solver *s)
{
    const mechanical_form *m = s->bound.form_set ? s->bound.form_set->mechanical : NULL;
    bool projected = s->bound.method->projects && s->bound.options.projection > DAE_PROJECTION_NONE;
    if (!s->hybrid || !m || m->nl == 0 || s->bound.method->forms != 0 || !projected) return;
    const int *place = s->bound.form_set->mechanical_places.v;
    for (int i = 0; i < m->nq; i++) s->bound.kinds[place ? place[i] : m->nq + i] = DAE_KIND_INDEX2;
}

/* Whether y' of variable i, which looks algebraic, may be in F after all. */
static bool may_have_slope(const dae_solver *s, int i)
{
    const bool *differential = s->hybrid ? s->hybrid->instance->form->differential : NULL;
    if (differential && !differential[i]) return false;
    return s->bound.kinds[i] == DAE_KIND_INDEX1 && s->bound.yp[i] == 0.0;
}

/* *matter: whether F changes with y' of the variables that look algebraic: dF/dy' may be zero only
 * because y' is guessed 0, as of der(x)^2 = x. moved: y' with them at 1. EVAL_STOP: the user's
 * wish. */
static eval_status slopes_matter(dae_solver *s, double t, double *moved, double *f, bool *matter)
{
    bool any = false;
    for (int i = 0; i < s->bound.n; i++) {
        bool may = may_have_slope(s, i);
        moved[i] = may ? 1.0 : s->bound.yp[i];
        any = any || may;
    }
    *matter = false;
    if (!any) return EVAL_OK;
    const eval_failure before = s->bound.eval.failure;
    long *count = &s->stats.jacobian_residuals;
    eval_status status =
        evaluate_residual(&s->bound.eval, t, s->bound.y, s->bound.yp, s->bound.work, count);
    if (status == EVAL_OK)
        status = evaluate_residual(&s->bound.eval, t, s->bound.y, moved, f, count);
    if (status == EVAL_STOP) return status;
    s->bound.eval.failure = before;
    for (int i = 0; status == EVAL_OK && i < s->bound.n && !*matter; i++)
        *matter = s->bound.work[i] != f[i];
    return EVAL_OK;
}

/* Variables whose columns of dF/dy' are zero at y' = 0 only are differential. */
static dae_status look_beside_zero(dae_solver *s, double t, double h)
{
    bool any = false, matter = false;
    for (int i = 0; i < s->bound.n; i++) any = any || may_have_slope(s, i);
    if (!any) return DAE_OK;
    double *moved = DAE_ARRAY(double, 2 * (size_t)s->bound.n);
    if (!moved) return diag_set(&s->diag, DAE_ERR_MEMORY, "Out of memory for the Jacobian.");
    iteration_status status = ITERATION_RETRY;
    if (slopes_matter(s, t, moved, moved + s->bound.n, &matter) == EVAL_STOP)
        status = ITERATION_STOP;
    if (matter) {
        s->bound.matrix.jac.unmask = true;
        status = iteration_evaluate(&s->bound.matrix, t, s->bound.y, moved, 1.0 / h, h,
                                    s->bound.norm.weights, NULL);
    }
    for (int i = 0; status == ITERATION_OK && i < s->bound.n; i++)
        if (may_have_slope(s, i) && !s->bound.matrix.jac.algebraic_column[i])
            s->bound.kinds[i] = DAE_KIND_DIFFERENTIAL;
    dae_free(moved);
    if (status == ITERATION_MEMORY)
        return diag_set(&s->diag, DAE_ERR_MEMORY, "Out of memory for the Jacobian.");
    return status == ITERATION_STOP ? explain_evaluation(s, EVAL_STOP) : DAE_OK;
}

/* Whether the text of a model tells that variable i is algebraic, for methods without a matrix. */
static bool is_algebraic(const dae_solver *s, int i)
{
    return s->hybrid && !s->bound.forms && !s->hybrid->instance->form->differential[i];
}

/* Whether a model's form E x' = f, 0 = g tells what is algebraic: it has as many rows as unknowns.
 * Where constraints are hidden its method has the derivatives of all. */
static bool tells_kinds(const dae_solver *s)
{
    const bool quasilinear = (s->bound.method->forms & FORM_QUASILINEAR) != 0;
    return s->hybrid && quasilinear && binding_has_all_rows(&s->bound);
}

/* Differential or index-1 for every variable left to us, told by the columns of dF/dy'. Without
 * columns, but for texts, all variables count as differential, as in DASPK. */
dae_status resolve_kinds(dae_solver *s, double t, double h)
{
    const dae_kind *given = s->bound.problem->form.kinds;
    bool residual =
        !binding_uses_forms(&s->bound) || s->bound.ode; /* else there is no need for a matrix */
    bool look = residual && any_auto_kind(s) && has_columns(&s->bound.matrix);
    if (look ||
        (residual &&
         s->bound.matrix.jac.undetected)) { /* finding a pattern allocates: not while stepping */
        s->bound.matrix.jac.unmask = look;  /* h is a guess: a zero may be but a small number */
        iteration_status status = iteration_evaluate(&s->bound.matrix, t, s->bound.y, s->bound.yp,
                                                     1.0 / h, h, s->bound.norm.weights, NULL);
        if (status == ITERATION_MEMORY)
            return diag_set(&s->diag, DAE_ERR_MEMORY, "Out of memory for the Jacobian.");
        if (status != ITERATION_OK)
            return explain_evaluation(s, status == ITERATION_STOP ? EVAL_STOP : EVAL_RETRY);
    }
    for (int i = 0; i < s->bound.n; i++) {
        s->bound.kinds[i] = given ? given[i] : DAE_KIND_AUTO;
        if (s->bound.kinds[i] != DAE_KIND_AUTO) continue;
        bool algebraic = look ? s->bound.matrix.jac.algebraic_column[i] : is_algebraic(s, i);
        s->bound.kinds[i] = algebraic ? DAE_KIND_INDEX1 : DAE_KIND_DIFFERENTIAL;
    }
    dae_status beside = look && !given ? look_beside_zero(s, t, h) : DAE_OK;
    if (beside != DAE_OK) return beside;
    if (s->bound.forms && !residual && !tells_kinds(s)) form_kinds(s->bound.forms, s->bound.kinds);
    note_projected_velocities(s);
    keep_velocities(s);
    return DAE_OK;
}
