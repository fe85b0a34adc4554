/* Failures in words: what happened, to which variable and equation, and what to try. */
#include <float.h>
#include <math.h>

#include "base/diag.h"
#include "base/vector.h"
#include "solve/solver.h"

dae_status explain_evaluation(dae_solver *s, eval_status status)
{
    s->diag.t = s->eval.failure.t;
    return evaluator_report(&s->eval, status, &s->diag);
}

dae_status explain_weights(dae_solver *s, int variable)
{
    s->diag.t = s->t_new;
    if (variable >= s->n)
        return diag_set(&s->diag, DAE_ERR_CALLBACK, "The weights callback failed at t = %g.",
                        s->t_new);
    diag_variable(&s->diag, variable, problem_variable(s->problem, variable));
    s->diag.value = s->norm.weights[variable];
    return diag_set(&s->diag, DAE_ERR_TOLERANCE,
                    "At t = %g the error weight of variable %s is %g: pure relative error control "
                    "cannot measure a value that is zero. Give it a positive atol.",
                    s->t_new, s->diag.variable_name, s->norm.weights[variable]);
}

dae_status explain_accuracy(dae_solver *s, double factor)
{
    s->diag.t = s->t_new;
    s->diag.value = factor;
    return diag_set(&s->diag, DAE_ERR_TOLERANCE,
                    "At t = %g the tolerances ask for more accuracy than double precision has. "
                    "Multiply rtol and atol by at least %.2g.",
                    s->t_new, factor);
}

/* The equation whose residual at the last iterate is largest in terms of the tolerances:
 * |F_i| / max_j |G_ij| w_j. Sets the diagnostic; returns that size, or -1 if it cannot be told. */
static double blame_equation(dae_solver *s, const double *y, const double *yp, double t)
{
    double *f = s->work;
    if (s->matrix.matrix_free || !s->matrix.values || !y) return -1.0;
    if (evaluate_residual(&s->eval, t, y, yp, f, &s->stats.residuals) != EVAL_OK) return -1.0;
    double *extent = s->y; /* free once the method runs */
    const jacobian *jac = &s->matrix.jac;
    matrix_combine(&jac->layout, 1.0, jac->dfdy, s->matrix.cj, jac->dfdyp, s->matrix.values);
    for (int j = 0; j < s->n; j++) extent[j] = s->norm.weights[j];
    double *zero = s->yp;
    vector_zero(s->n, zero);
    matrix_combine_columns(&jac->layout, extent, s->matrix.values, zero, jac->dfdyp,
                           s->matrix.values);
    matrix_extents(&jac->layout, s->matrix.values, extent, NULL);
    s->matrix.factored = false;
    for (int i = 0; i < s->n; i++) f[i] = extent[i] > 0.0 ? f[i] / extent[i] : f[i];
    int worst = vector_argmax(s->n, f, NULL);
    diag_equation(&s->diag, worst, problem_equation(s->problem, worst));
    return fabs(f[worst]);
}

static const char *kind_text(dae_kind kind)
{
    switch (kind) {
    case DAE_KIND_DIFFERENTIAL: return "differential";
    case DAE_KIND_INDEX2: return "index-2 algebraic";
    case DAE_KIND_INDEX3: return "index-3 algebraic";
    default: return "algebraic";
    }
}

static void blame_variable(dae_solver *s, int variable, double size)
{
    diag_variable(&s->diag, variable, problem_variable(s->problem, variable));
    s->diag.value = size;
}

/* Whether the error refused to shrink with h as an index-1 problem's would. */
static bool error_ignores_step(const dae_solver *s, const attempt *a)
{
    const step_control *c = &s->control;
    return fabs(a->h) <= 1e-2 * fabs(c->first_h) && a->error >= 0.05 * c->first_error;
}

static dae_status explain_error_test(dae_solver *s, const attempt *a, const char *limit)
{
    int variable = vector_argmax(s->n, a->estimate, s->norm.tested);
    double size = fabs(a->estimate[variable] * s->norm.scale[variable]) * a->error_constant;
    blame_variable(s, variable, size);
    diag_set(&s->diag, DAE_ERR_ERROR_TEST,
             "The error test failed %d times at t = %.9g, with h down to %.3g (%s). Variable %s "
             "(%s) dominates: its estimated error is %.3g times its tolerance.",
             s->control.error_failures, a->t, a->h, limit, s->diag.variable_name,
             kind_text(s->kinds[variable]), size);
    if (error_ignores_step(s, a)) {
        diag_append(&s->diag,
                    " The error does not go to 0 with h (%.3g at h = %.3g, %.3g at h = %.3g): ",
                    s->control.first_error, s->control.first_h, a->error, a->h);
        diag_append(&s->diag, s->stats.steps == 0
                                  ? "the initial values are inconsistent, or the index is above 1."
                                  : "there is a discontinuity here, or the index is above 1.");
        diag_append(&s->diag,
                    " Try opt.init, an event at the discontinuity, or kinds "
                    "DAE_KIND_INDEX2 for variables that no equation determines directly.");
    } else {
        diag_append(&s->diag, " The solution may have a singularity here; or try a larger atol for "
                              "this variable.");
    }
    return DAE_ERR_ERROR_TEST;
}

static dae_status explain_convergence(dae_solver *s, const attempt *a, const char *limit)
{
    int variable = vector_argmax(s->n, s->newton.delta, s->norm.newton);
    blame_variable(s, variable, s->newton.last_size);
    double condition = iteration_condition(&s->matrix);
    double residual = blame_equation(s, a->y, a->yp, a->t + a->h);
    diag_set(&s->diag, DAE_ERR_CONVERGENCE,
             "Newton's iteration failed %d times at t = %.9g, with h down to %.3g (%s). The "
             "correction of variable %s dominates (norm %.3g, rate %.2g).",
             s->control.other_failures, a->t, a->h, limit, s->diag.variable_name,
             s->newton.last_size, s->newton.rate);
    if (residual >= 0.0)
        diag_append(&s->diag,
                    " Equation %s has the largest residual, %.3g in units of the "
                    "tolerances.",
                    s->diag.equation_name, residual);
    if (condition >= 0.0)
        diag_append(&s->diag, " The iteration matrix has reciprocal condition %.2g.", condition);
    if (s->control.error_failures > 0 || s->stats.steps == 0)
        diag_append(&s->diag, " Inconsistent initial values or an index above 1 look like this: "
                              "try opt.init, and kinds for index-2 variables.");
    diag_append(&s->diag, " Check the Jacobian callback if there is one, and whether F is smooth.");
    return DAE_ERR_CONVERGENCE;
}

static dae_status explain_singular(dae_solver *s, const attempt *a, const char *limit)
{
    int column = s->matrix.singular_column;
    if (column >= 0) blame_variable(s, column, 0.0);
    diag_set(&s->diag, DAE_ERR_SINGULAR,
             "The matrix dF/dy + cj dF/dy' is singular at t = %.9g for every step size down to "
             "h = %.3g (%s).",
             a->t, a->h, limit);
    if (column >= 0)
        diag_append(&s->diag,
                    " Elimination stopped at variable %s: no equation is left to "
                    "determine it.",
                    s->diag.variable_name);
    diag_append(&s->diag, " Look for redundant or missing equations, or a wrong Jacobian "
                          "callback.");
    return DAE_ERR_SINGULAR;
}

static dae_status explain_bound(dae_solver *s, const attempt *a, const char *limit)
{
    int variable = s->newton.bound_variable;
    blame_variable(s, variable, a->y[variable]);
    const dae_residual *form = &s->problem->form;
    return diag_set(&s->diag, DAE_ERR_BOUND,
                    "At t = %.9g every step down to h = %.3g (%s) takes variable %s to %.6g, "
                    "outside its bounds [%g, %g]. The equations may not have a solution within "
                    "the bounds; try tighter tolerances, or remove the bound.",
                    a->t, a->h, limit, s->diag.variable_name, a->y[variable],
                    form->lower_bounds ? form->lower_bounds[variable] : -INFINITY,
                    form->upper_bounds ? form->upper_bounds[variable] : INFINITY);
}

dae_status explain_rejections(dae_solver *s, const attempt *a, const char *limit)
{
    s->diag.t = a->t;
    s->diag.h = a->h;
    switch (a->status) {
    case ATTEMPT_OK: return explain_error_test(s, a, limit);
    case ATTEMPT_SINGULAR: return explain_singular(s, a, limit);
    case ATTEMPT_BOUND: return explain_bound(s, a, limit);
    case ATTEMPT_EVALUATION:
        explain_evaluation(s, EVAL_RETRY);
        diag_append(&s->diag, " Steps down to h = %.3g did not help (%s).", a->h, limit);
        return s->diag.status;
    default: return explain_convergence(s, a, limit);
    }
}

dae_status explain_fatal(dae_solver *s, const attempt *a)
{
    s->diag.t = a->t;
    s->diag.h = a->h;
    if (a->status == ATTEMPT_MEMORY)
        return diag_set(&s->diag, DAE_ERR_MEMORY,
                        "Out of memory for the factors of the iteration matrix at t = %g.", a->t);
    return explain_evaluation(s, EVAL_STOP);
}
