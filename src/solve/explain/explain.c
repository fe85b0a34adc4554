/* Failures in words: what happened, to which variable and equation, and what to try. */
#include <float.h>
#include <math.h>
#include <stdio.h>

#include "base/diag.h"
#include "base/vector.h"
#include "solve/explain/diagnose_api.h"
#include "solve/explain/explain.h"
#include "solve/explain/explain_model.h"
#include "solve/prepare/choose.h"

/* The function of a model's equation that has no value at the point tried last. */
static void explain_no_value(dae_solver *s)
{
    const eval_failure *failure = &s->bound.eval.failure;
    const double *y = s->run.last.y ? s->run.last.y : s->bound.y,
                 *yp = s->run.last.y ? s->run.last.yp : s->bound.yp;
    if (!s->hybrid || !failure->callback || failure->part == EVAL_EVENT) return;
    if (!explain_domain(s->hybrid->instance, failure->t, y, yp, failure->component, &s->diag))
        diag_append(&s->diag, " Look there for a division by zero, a logarithm or root of a "
                              "negative number, an overflow.");
}

dae_status explain_evaluation(dae_solver *s, eval_status status)
{
    s->diag.t = s->bound.eval.failure.t;
    dae_status result = evaluator_report(&s->bound.eval, status, &s->diag);
    if (result == DAE_ERR_EVALUATION) explain_no_value(s);
    return result;
}

bool explain_small_steps(dae_solver *s)
{
    if (!s->hybrid) return false;
    if (explain_index(s->hybrid->instance->form, &s->diag)) return true;
    solver_interpolate(s, s->run.t_new, 0, s->bound.at_y);
    solver_interpolate(s, s->run.t_new, 1, s->bound.at_yp);
    return explain_domain(s->hybrid->instance, s->run.t_new, s->bound.at_y, s->bound.at_yp, -1,
                          &s->diag);
}

dae_status explain_interrupt(dae_solver *s)
{
    s->diag.t = s->run.t_new;
    return diag_set(&s->diag, DAE_ERR_INTERRUPTED,
                    "The interrupt callback stopped the integration at t = %.10g. Step again to go "
                    "on.",
                    s->run.t_new);
}

dae_status explain_no_row(dae_solver *s, double t, const char *name)
{
    s->diag.t = t;
    return diag_set(&s->diag, DAE_ERR_EVALUATION,
                    "%s has no finite value at t = %.9g, in the step [%.9g, %.9g]: its equation "
                    "cannot be evaluated for the values that other variables have there. Tighten "
                    "their tolerances, or bound them (min, max).",
                    name, t, s->run.t_old, s->run.t_new);
}

/* The variable whose estimated error is largest in the weights that the method tested it with */
static int dominating(const dae_solver *s, const attempt *a)
{
    return vector_argmax(s->bound.n, a->estimate, a->scale ? a->scale : s->bound.norm.tested);
}

/* A further call goes on, for as many steps. */
dae_status explain_stiff(dae_solver *s)
{
    s->diag.t = s->run.t;
    s->diag.h = s->stats.last_h;
    diag_set(&s->diag, DAE_ERR_STIFF,
             "The problem is stiff: up to t = %.10g stability, not accuracy, has kept %d steps of "
             "the explicit method %s small (h = %.3g).",
             s->run.t, s->run.stiffness.stiff, s->bound.method->name, s->stats.last_h);
    s->run.stiffness = (stiffness){0};
    if (s->run.last.estimate) {
        int variable = dominating(s, &s->run.last);
        diag_variable(&s->diag, variable, problem_variable(s->bound.problem, variable));
        diag_append(&s->diag, " Variable %s dominates the error.", s->diag.variable_name);
    }
    diag_append(&s->diag, " Use an implicit method, such as bdf or radau; a further call goes on "
                          "with this one.");
    return DAE_ERR_STIFF;
}

/* Half-explicit stages are stable for steps up to the fastest time scale only. */
static void advise_on_stiffness(dae_solver *s)
{
    if (!binding_uses_forms(&s->bound)) return;
    diag_append(
        &s->diag,
        " The stages of method %s are explicit: steps that stay short where the solution is "
        "smooth mean that the problem is stiff. Then use an implicit method, such as radau "
        "or bdf.",
        s->bound.method->name);
}

/* What kept the steps small: rejections by cause, and the variable that the error test sees most.
 */
static void explain_slow_progress(dae_solver *s)
{
    const dae_stats *q = &s->stats;
    if (10 * q->rejected_convergence > q->attempts)
        diag_append(&s->diag, " Newton's iteration failed in %ld of %ld attempts%s.",
                    q->rejected_convergence, q->attempts,
                    s->hybrid ? "" : ": check the Jacobian callback, or the sparsity pattern");
    advise_on_stiffness(s);
    if (10 * q->rejected_error > q->attempts)
        diag_append(&s->diag, " The error test rejected %ld of %ld attempts.", q->rejected_error,
                    q->attempts);
    if (s->run.last.status != ATTEMPT_OK || !s->run.last.estimate) return;
    int variable = dominating(s, &s->run.last);
    diag_variable(&s->diag, variable, problem_variable(s->bound.problem, variable));
    diag_append(&s->diag, " Variable %s dominates the error of the last step.",
                s->diag.variable_name);
    explain_small_steps(s);
}

dae_status explain_max_steps(dae_solver *s, double tend)
{
    s->diag.t = s->run.t;
    s->diag.h = s->stats.last_h;
    s->diag.value = (double)s->bound.options.max_steps;
    diag_set(&s->diag, DAE_ERR_MAX_STEPS,
             "%ld steps took the integration to t = %.10g, not to %.10g; the last step was "
             "h = %.3g. Call again to go on, raise max_steps, or look for what makes the "
             "steps small%s.",
             s->bound.options.max_steps, s->run.t, tend, s->stats.last_h,
             s->hybrid ? "" : " (opt.monitor)");
    explain_slow_progress(s);
    return DAE_ERR_MAX_STEPS;
}

dae_status explain_weights(dae_solver *s, int variable)
{
    s->diag.t = s->run.t_new;
    if (variable >= s->bound.n)
        return diag_set(&s->diag, DAE_ERR_CALLBACK,
                        "The weights callback returned a nonzero value at t = %.10g, which stops "
                        "the integration.",
                        s->run.t_new);
    diag_variable(&s->diag, variable, problem_variable(s->bound.problem, variable));
    s->diag.value = s->bound.norm.weights[variable];
    if (s->bound.norm.user_weights)
        return diag_set(&s->diag, DAE_ERR_EVALUATION,
                        "The weights callback gave %g for variable %s at t = %.10g; weights must "
                        "be positive and finite.",
                        s->diag.value, s->diag.variable_name, s->run.t_new);
    if (!isfinite(s->diag.value)) {
        diag_set(&s->diag, DAE_ERR_EVALUATION,
                 "At t = %g variable %s is beyond the largest number.", s->run.t_new,
                 s->diag.variable_name);
        return explain_growth(s, DAE_ERR_EVALUATION);
    }
    return diag_set(&s->diag, DAE_ERR_TOLERANCE,
                    "At t = %g the error weight of variable %s is %g: pure relative error control "
                    "cannot measure a value that is zero. Give it a positive atol.",
                    s->run.t_new, s->diag.variable_name, s->bound.norm.weights[variable]);
}

dae_status explain_accuracy(dae_solver *s, double factor)
{
    static const char *const names[] = {"double", "long double", "quadruple"};
    s->diag.t = s->run.t_new;
    s->diag.value = factor;
    return diag_set(&s->diag, DAE_ERR_TOLERANCE,
                    "At t = %g the tolerances ask for more accuracy than %s precision has. "
                    "Multiply rtol and atol by at least %.2g%s.",
                    s->run.t_new, names[s->bound.options.precision], factor,
                    s->bound.method->precise && s->bound.options.precision != DAE_PRECISION_QUAD
                        ? ", or use a higher precision"
                        : "");
}

/* The equation whose residual at the last iterate is largest in terms of the tolerances:
 * |F_i| / max_j |G_ij| w_j. Sets the diagnostic; returns that size, or -1 if it cannot be told. */
static double blame_equation(dae_solver *s, const double *y, const double *yp, double t)
{
    double *f = s->bound.work;
    if (!iteration_has_entries(&s->bound.matrix) || !y) return -1.0;
    if (evaluate_residual(&s->bound.eval, t, y, yp, f, &s->stats.residuals) != EVAL_OK) return -1.0;
    double *extent = s->bound.y; /* free once the method runs */
    const jacobian *jac = &s->bound.matrix.jac;
    matrix_combine(&jac->layout, 1.0, jac->dfdy, s->bound.matrix.cj, jac->dfdyp,
                   s->bound.matrix.values);
    for (int j = 0; j < s->bound.n; j++) extent[j] = s->bound.norm.weights[j];
    double *zero = s->bound.yp;
    vector_zero(s->bound.n, zero);
    matrix_combine_columns(&jac->layout, extent, s->bound.matrix.values, zero, jac->dfdyp,
                           s->bound.matrix.values);
    matrix_extents(&jac->layout, s->bound.matrix.values, extent, NULL);
    s->bound.matrix.factored = false;
    for (int i = 0; i < s->bound.n; i++) f[i] = extent[i] > 0.0 ? f[i] / extent[i] : f[i];
    int worst = vector_argmax(s->bound.n, f, NULL);
    diag_equation(&s->diag, worst, problem_equation(s->bound.problem, worst));
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
    diag_variable(&s->diag, variable, problem_variable(s->bound.problem, variable));
    s->diag.value = size;
}

/* Whether the error refused to shrink with h as an index-1 problem's would. */
static bool error_ignores_step(const dae_solver *s, const attempt *a)
{
    const step_control *c = &s->run.control;
    return fabs(a->h) <= 1e-2 * fabs(c->first_h) && isfinite(a->error) &&
           a->error >= 0.05 * c->first_error;
}

/* No step since the start or restart. */
static bool at_start(const dae_solver *s)
{
    return s->run.t_old == s->run.t_new;
}

/* How often in words; a fixed step fails once and is not counted. */
static const char *times(int count, char text[32])
{
    if (count <= 1) return "once";
    snprintf(text, 32, "%d times", count);
    return text;
}

/* A user's norm that is not a number, though the vector was one: nothing can pass a test. */
static bool norm_failed(const dae_solver *s, const attempt *a)
{
    if (!s->bound.norm.user_norm) return false;
    if (a->status == ATTEMPT_OK) return !isfinite(a->error);
    return a->status == ATTEMPT_CONVERGENCE && !isfinite(s->bound.newton.last_size) &&
           vector_finite(s->bound.n, s->bound.newton.delta);
}

static dae_status explain_norm(dae_solver *s, const attempt *a, const char *limit)
{
    s->diag.value = a->status == ATTEMPT_OK ? a->error : s->bound.newton.last_size;
    return diag_set(&s->diag, DAE_ERR_EVALUATION,
                    "The norm callback gave a value that is negative or not finite at t = %.9g, "
                    "for every step down to h = %.3g (%s). It must be a norm.",
                    a->t, a->h, limit);
}

/* What an error that does not go away with h means. */
static void advise_on_stubborn_error(dae_solver *s, const attempt *a)
{
    diag_append(&s->diag,
                " The error does not go to 0 with h (%.3g at h = %.3g, %.3g at h = %.3g): ",
                s->run.control.first_error, s->run.control.first_h, a->error, a->h);
    if (s->hybrid)
        diag_append(&s->diag, at_start(s) ? "the start values do not fit the equations."
                                          : "there is a discontinuity here. Let it be an event: "
                                            "an if or when outside of noEvent.");
    else if (at_start(s))
        diag_append(&s->diag, "the initial values are inconsistent, or the index is above 1. Try "
                              "opt.init = DAE_INIT_DIFFERENTIAL, or kinds DAE_KIND_INDEX2");
    else
        diag_append(&s->diag, "there is a discontinuity here, or the index is above 1. Try an "
                              "event at the discontinuity, or kinds DAE_KIND_INDEX2");
    if (!s->hybrid) diag_append(&s->diag, " for variables that no equation determines directly.");
}

static dae_status explain_error_test(dae_solver *s, const attempt *a, const char *limit)
{
    char text[32];
    int variable = dominating(s, a);
    const double *scale = a->scale ? a->scale : s->bound.norm.scale;
    double size = fabs(a->estimate[variable] * scale[variable]) * a->error_constant;
    blame_variable(s, variable, size);
    diag_set(&s->diag, DAE_ERR_ERROR_TEST,
             "The error test failed %s at t = %.9g, with h down to %.3g (%s). Variable %s (%s) "
             "dominates: its estimated error is %.3g times its tolerance.",
             times(s->run.control.error_failures, text), a->t, a->h, limit, s->diag.variable_name,
             kind_text(s->bound.kinds[variable]), size);
    if (explain_small_steps(s)) return DAE_ERR_ERROR_TEST;
    if (binding_uses_forms(&s->bound))
        diag_append(&s->diag, " The solution may have a singularity here, or a callback may jump: "
                              "put an event there.");
    else if (error_ignores_step(s, a))
        advise_on_stubborn_error(s, a);
    else if (s->bound.kinds[variable] != DAE_KIND_DIFFERENTIAL && s->hybrid)
        diag_append(&s->diag, " It jumps here, or has a singularity; or try a larger nominal value "
                              "or atol for it.");
    else if (s->bound.kinds[variable] != DAE_KIND_DIFFERENTIAL)
        diag_append(&s->diag, " An algebraic variable that asks for such small steps jumps here "
                              "(put an event there), or points to an index above 1: give it kind "
                              "DAE_KIND_INDEX2, or differentiate the "
                              "constraint that fixes it. Otherwise try a larger atol for it.");
    else
        diag_append(&s->diag, " The solution may have a singularity here, or grow without bound; "
                              "or try a larger atol for this variable.");
    return DAE_ERR_ERROR_TEST;
}

/* An index above 1 shows in algebraic variables, in rising errors, or in what the user said. */
static bool index_suspected(const dae_solver *s, int variable)
{
    if (s->run.control.error_failures > 0 || at_start(s)) return true;
    if (s->bound.kinds[variable] != DAE_KIND_DIFFERENTIAL) return true;
    for (int i = 0; i < s->bound.n; i++)
        if (s->bound.kinds[i] >= DAE_KIND_INDEX2) return true;
    return false;
}

/* Where within the step it failed, if the method has stages. */
static void name_stage(dae_solver *s, const attempt *a)
{
    if (a->stage > 0)
        diag_append(&s->diag, " It was stage %d of method %s that failed.", a->stage,
                    s->bound.method->name);
}

/* Where kinds of index 2 or 3 were declared: what they may lack. */
static void advise_on_kinds(dae_solver *s)
{
    diag_append(&s->diag, " The kinds that were declared are heeded.");
    if (at_start(s))
        diag_append(&s->diag,
                    " Values that do not meet the hidden constraints, which are derivatives of "
                    "others, look like this: give values that do%s.",
                    s->bound.options.init == DAE_INIT_NONE
                        ? ", or let opt.init look for them"
                        : "; those of index 3 are not looked for among callbacks");
    diag_append(&s->diag, " Or differentiate constraints, or write a model text, whose index "
                          "is reduced.");
}

static dae_status explain_convergence(dae_solver *s, const attempt *a, const char *limit)
{
    char text[32];
    int variable = vector_argmax(s->bound.n, s->bound.newton.delta, s->bound.norm.newton);
    blame_variable(s, variable, s->bound.newton.last_size);
    double condition = iteration_condition(&s->bound.matrix), left = s->bound.matrix.leftover;
    double residual = blame_equation(s, a->y, a->yp, a->t + a->h);
    diag_set(&s->diag, DAE_ERR_CONVERGENCE,
             "Newton's iteration failed %s at t = %.9g, with h down to %.3g (%s). The correction "
             "of variable %s (%s) dominates (norm %.3g, rate %.2g).",
             times(s->run.control.other_failures, text), a->t, a->h, limit, s->diag.variable_name,
             kind_text(s->bound.kinds[variable]), s->bound.newton.last_size, s->bound.newton.rate);
    name_stage(s, a);
    if (residual >= 0.0)
        diag_append(&s->diag,
                    " The largest residual, %.3g in units of the tolerances, is that of %s%s.",
                    residual, s->hybrid ? "" : "equation ", s->diag.equation_name);
    if (condition >= 0.0)
        diag_append(&s->diag, " The iteration matrix has reciprocal condition %.2g.", condition);
    if (left > 0.0)
        diag_append(&s->diag,
                    " GMRES does not solve the linear systems: it leaves %.2g tolerances over. Use "
                    "factors (--linear-solver sparse), or more vectors (--krylov-dimension).",
                    left);
    if (s->hybrid) {
        if (!explain_small_steps(s))
            diag_append(&s->diag, " Look for an equation that jumps, or that has no solution "
                                  "beyond this point.");
        return DAE_ERR_CONVERGENCE;
    }
    if (declares_high_kinds(s->bound.problem))
        advise_on_kinds(s);
    else if (index_suspected(s, variable))
        diag_append(&s->diag, " Inconsistent initial values or an index above 1 look like this: "
                              "try opt.init, and kinds for variables of index 2 and 3; or "
                              "differentiate constraints.");
    diag_append(&s->diag, " Check the Jacobian callback if there is one, and whether F is smooth.");
    return DAE_ERR_CONVERGENCE;
}

static int first_zero(int n, const double *x)
{
    for (int i = 0; i < n; i++)
        if (x[i] == 0.0) return i;
    return -1;
}

/* An equation without variables, or a variable without equations, explains more than where the
 * elimination happened to stop. Whether there is one. */
static bool explain_empty_line(dae_solver *s)
{
    double *rows = s->bound.y, *columns = s->bound.yp; /* free once the method runs */
    if (!iteration_has_entries(&s->bound.matrix)) return false;
    matrix_extents(&s->bound.matrix.jac.layout, s->bound.matrix.values, rows, columns);
    int row = first_zero(s->bound.n, rows), column = first_zero(s->bound.n, columns);
    if (column >= 0) {
        blame_variable(s, column, 0.0);
        diag_append(&s->diag, " Variable %s appears in no equation.", s->diag.variable_name);
    }
    if (row >= 0) {
        diag_equation(&s->diag, row, problem_equation(s->bound.problem, row));
        diag_append(&s->diag, " %s%s contains no variable.", s->hybrid ? "" : "Equation ",
                    s->diag.equation_name);
    }
    return row >= 0 || column >= 0;
}

static dae_status explain_singular(dae_solver *s, const attempt *a, const char *limit)
{
    int column = s->bound.matrix.singular_column;
    if (column >= 0) blame_variable(s, column, 0.0);
    diag_set(&s->diag, DAE_ERR_SINGULAR,
             "%s singular at t = %.9g for every step size down to h = %.3g (%s).",
             s->hybrid ? "The equations are" : "The matrix dF/dy + cj dF/dy' is", a->t, a->h,
             limit);
    if (!explain_empty_line(s) && column >= 0)
        diag_append(&s->diag,
                    " Elimination stopped at variable %s: no equation is left to "
                    "determine it.",
                    s->diag.variable_name);
    if (s->hybrid) {
        if (!explain_small_steps(s))
            diag_append(&s->diag, " Look for equations that repeat others here.");
    } else {
        diag_append(&s->diag, " Look for redundant or missing equations, or a wrong Jacobian "
                              "callback.");
    }
    return DAE_ERR_SINGULAR;
}

static dae_status explain_bound(dae_solver *s, const attempt *a, const char *limit)
{
    int variable = s->bound.newton.bound_variable;
    blame_variable(s, variable, a->y[variable]);
    const dae_residual *form = &s->bound.problem->form;
    return diag_set(&s->diag, DAE_ERR_BOUND,
                    "At t = %.9g every step down to h = %.3g (%s) takes variable %s to %.6g, "
                    "outside its bounds [%g, %g]. The equations may not have a solution within "
                    "the bounds; try tighter tolerances, or remove the bound.",
                    a->t, a->h, limit, s->diag.variable_name, a->y[variable],
                    form->lower_bounds ? form->lower_bounds[variable] : -INFINITY,
                    form->upper_bounds ? form->upper_bounds[variable] : INFINITY);
}

/* What the index is where a run of callbacks ends; a model's failure is explained by its analysis.
 */
static dae_status add_index(dae_solver *s, dae_status status)
{
    char text[400];
    if (s->hybrid || binding_uses_forms(&s->bound)) return status;
    solver_interpolate(s, s->run.t_new, 0, s->bound.at_y);
    solver_interpolate(s, s->run.t_new, 1, s->bound.at_yp);
    if (solver_index_sentence(s, s->run.t_new, s->bound.at_y, s->bound.at_yp, text, sizeof text))
        diag_append(&s->diag, "%s", text);
    return status;
}

/* The constraint of the form that a method blames, by its name. */
static void blame_constraint(dae_solver *s, int constraint)
{
    int row = -1;
    const char *name = form_constraint(s->bound.forms, constraint, &row);
    if (!name && s->bound.form_set) return;
    diag_equation(&s->diag, row, name);
    diag_append(&s->diag, " at constraint %s", s->diag.equation_name);
}

static dae_status status_of(const attempt *a)
{
    if (a->status == ATTEMPT_UNSUPPORTED) return DAE_ERR_UNSUPPORTED;
    return a->status == ATTEMPT_SINGULAR ? DAE_ERR_SINGULAR : DAE_ERR_CONVERGENCE;
}

/* What the method itself knows of its failure; limit: why no smaller step is tried, or NULL. */
static dae_status explain_reason(dae_solver *s, const attempt *a, const char *limit)
{
    dae_status status = status_of(a);
    diag_set(&s->diag, status, "Method %s: %s", s->bound.method->name, a->reason);
    if (a->variable >= 0) {
        blame_variable(s, a->variable, 0.0);
        diag_append(&s->diag, " (variable %s)", s->diag.variable_name);
    }
    if (a->constraint >= 0) blame_constraint(s, a->constraint);
    if (a->invariant > 0)
        diag_append(&s->diag, " (%s, at t = %.9g)", s->monitors->names[a->invariant - 1], a->t);
    if (!limit)
        diag_append(&s->diag, ".");
    else
        diag_append(&s->diag, ", at t = %.9g with steps down to h = %.3g (%s).", a->t, a->h, limit);
    return status;
}

/* Steps that became small in front of a point where a callback failed: it is to blame, although
 * rounding was the last to reject. */
static bool stops_at_border(const dae_solver *s, const attempt *a)
{
    const eval_failure *f = &s->bound.eval.failure;
    double size = fmax(fabs(a->t), fabs(f->t)), ahead = (f->t - a->t) * (a->h < 0.0 ? -1.0 : 1.0);
    bool tiny = fabs(a->h) <= 1e-12 * size && ahead <= 1e3 * fabs(a->h) + 1e-12 * size;
    bool rounding = a->status == ATTEMPT_OK || a->status == ATTEMPT_CONVERGENCE;
    return f->callback && rounding && (tiny || s->run.evaluation_first) && ahead > -1e-14 * size;
}

static dae_status explain_last(dae_solver *s, const attempt *a, const char *limit)
{
    s->diag.t = a->t;
    s->diag.h = a->h;
    if (stops_at_border(s, a)) {
        explain_evaluation(s, EVAL_RETRY);
        diag_append(&s->diag, " Steps down to h = %.3g did not help (%s).", a->h, limit);
        return s->diag.status;
    }
    bool solves = a->status == ATTEMPT_CONVERGENCE || a->status == ATTEMPT_SINGULAR;
    if (a->reason && solves) return explain_reason(s, a, limit);
    if (norm_failed(s, a)) return explain_norm(s, a, limit);
    switch (a->status) {
    case ATTEMPT_OK: return add_index(s, explain_error_test(s, a, limit));
    case ATTEMPT_SINGULAR: return add_index(s, explain_singular(s, a, limit));
    case ATTEMPT_BOUND: return explain_bound(s, a, limit);
    case ATTEMPT_EVALUATION:
        explain_evaluation(s, EVAL_RETRY);
        name_stage(s, a);
        diag_append(&s->diag, " Steps down to h = %.3g did not help (%s).", a->h, limit);
        return s->diag.status;
    default: return add_index(s, explain_convergence(s, a, limit));
    }
}

dae_status explain_rejections(dae_solver *s, const attempt *a, const char *limit)
{
    return explain_growth(s, explain_last(s, a, limit));
}

dae_status explain_fatal(dae_solver *s, const attempt *a)
{
    s->diag.t = a->t;
    s->diag.h = a->h;
    if (a->status == ATTEMPT_MEMORY)
        return diag_set(&s->diag, DAE_ERR_MEMORY,
                        "Out of memory for the factors of the iteration matrix at t = %g.", a->t);
    if (a->status == ATTEMPT_UNSUPPORTED) return explain_reason(s, a, NULL);
    dae_status status = explain_evaluation(s, EVAL_STOP);
    name_stage(s, a);
    return status;
}
