/* An independent look at what was found: the model is run with the controls as inputs. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"
#include "solve/optimise/optimise_parts.h"

/* One control as a function of time. */
typedef struct control_curve {
    const dae_optimum *q;
    int k;
} control_curve;

/* Derivative of the polynomial through the stages of interval i, at part r; order 0, 1, 2. */
static double stage_polynomial(const dae_optimum *q, int i, int k, double r, int order)
{
    const collocation *m = q->method;
    const opt_solution *s = &q->solution;
    double sum = 0.0;
    for (int a = 0; a < m->stages; a++) {
        /* coefficients of the Lagrange polynomial of node a, by ascending powers */
        double c[COLLOCATION_STAGES + 1] = {1.0}, value = 0.0;
        int degree = 0;
        for (int b = 0; b < m->stages; b++) {
            if (b == a) continue;
            const double by = 1.0 / (m->nodes[a] - m->nodes[b]);
            degree++;
            for (int j = degree; j >= 0; j--)
                c[j] = by * ((j > 0 ? c[j - 1] : 0.0) - m->nodes[b] * (j < degree ? c[j] : 0.0));
        }
        for (int j = degree; j >= order; j--) {
            double factor = 1.0;
            for (int o = 0; o < order; o++) factor *= j - o;
            value = value * r + factor * c[j];
        }
        sum += value * s->x[opt_at(q, 1 + i * m->stages + a) + (size_t)(q->n + q->d + k)];
    }
    return sum;
}

static int curve_value(double t, int order, double jump, double *value, void *user)
{
    const control_curve *c = user;
    const dae_optimum *q = c->q;
    const opt_solution *s = &q->solution;
    int i = mesh_interval(s, t);
    while (i > 0 && s->t[i] >= jump) i--; /* up to the jump, and as if it were not there */
    const double h = s->t[i + 1] - s->t[i];
    const double r = (t - s->t[i]) / h, shift = stage_polynomial(q, i, c->k, r, 0);
    const double kept = fmin(q->upper[c->k], fmax(q->lower[c->k], shift));
    if (order == 0)
        *value = q->base[c->k] + kept;
    else
        *value = kept == shift ? stage_polynomial(q, i, c->k, r, order) / pow(h, order) : 0.0;
    return 0;
}

/* The next point of the mesh behind t. */
static double curve_jump(double t, void *user)
{
    const control_curve *c = user;
    const opt_solution *s = &c->q->solution;
    for (int i = mesh_interval(s, t); i <= s->intervals; i++)
        if (s->t[i] > t && i < s->intervals) return s->t[i];
    return INFINITY;
}

/* The model with these inputs, and with parameters and start values as they were found. */
static dae_status translate(dae_optimum *q, control_curve *curves, dae_problem **problem,
                            dae_diag *diag)
{
    dae_model m = *q->model;
    dae_input *inputs = DAE_ARRAY(dae_input, m.input_count + q->c);
    if (!inputs) return opt_no_memory(diag);
    for (int k = 0; k < m.input_count; k++) inputs[k] = m.inputs[k];
    for (int k = 0; k < q->c; k++) {
        curves[k] = (control_curve){q, k};
        inputs[m.input_count + k] = (dae_input){.name = q->request.controls[k].name,
                                                .value = curve_value,
                                                .derivatives = 100,
                                                .jump = curve_jump,
                                                .user = &curves[k]};
    }
    m.inputs = inputs;
    m.input_count += q->c;
    m.message = NULL;
    m.terminal = NULL;
    m.terminal_count = 0;
    dae_status status = dae_problem_from_model(&m, problem, diag);
    dae_free(inputs);
    const double *p = q->solution.x + opt_at_p(q, q->solution.intervals);
    for (int k = 0; k < q->m && status == DAE_OK; k++)
        status = dae_problem_set_parameter(*problem, q->request.parameters[k].name, p[k], diag);
    return status;
}

/* Start values that the model leaves open are those that were found. */
static void set_starts(dae_optimum *q, dae_problem *problem, const double *values)
{
    const model_form *f = q->problem->model;
    for (int k = 0; k < f->visible_count; k++) {
        const flat_variable *v = &f->flat->variables[f->visible[k]];
        if (v->discrete || v->fixed || v->input || v->type != FLAT_REAL) continue;
        (void)dae_problem_set_start(problem, v->name, values[k], NULL);
    }
    for (int k = 0; k < q->request.setting_count; k++) {
        /* those of the request hold where they are fixed, and were guesses elsewhere */
        const char *equals = strchr(q->request.settings[k], '=');
        char name[DAE_NAME_SIZE];
        int length = equals ? (int)(equals - q->request.settings[k]) : 0;
        while (length > 0 && q->request.settings[k][length - 1] == ' ') length--;
        snprintf(name, sizeof name, "%.*s", length, q->request.settings[k]);
        int i = dae_problem_find_variable(q->problem, name);
        if (i >= 0 && f->flat->variables[f->visible[i]].fixed)
            (void)dae_problem_assign_start(problem, q->request.settings[k], NULL);
    }
}

/* The largest difference of a state at one time. */
static void compare(dae_optimum *q, double t, const double *mine, const double *theirs)
{
    const int count = dae_problem_variable_count(q->problem);
    for (int k = 0; k < count; k++) {
        if (!dae_problem_variable_info(q->problem, k).state) continue;
        double off =
            fabs(mine[k] - theirs[k]) / (q->request.rtol * fabs(mine[k]) + q->request.atol);
        if (isnan(off)) off = INFINITY;
        if (off <= q->stats.deviation) continue;
        q->stats.deviation = off;
        q->stats.deviation_time = t;
        snprintf(q->stats.deviation_text, sizeof q->stats.deviation_text, "%s",
                 dae_problem_variable(q->problem, k));
    }
}

/* Run it, and look at points of the mesh. */
static dae_status run(dae_optimum *q, dae_problem *problem, double *values, dae_diag *diag)
{
    const opt_solution *s = &q->solution;
    const int count = dae_problem_variable_count(q->problem);
    dae_solver *solver = NULL;
    dae_options o = dae_options_default();
    o.rtol = fmax(1e-4 * q->request.rtol, 1e-12);
    o.atol = fmax(1e-4 * q->request.atol, 1e-14);
    dae_status status = dae_optimum_at(q, s->t[0], values);
    if (status == DAE_OK) set_starts(q, problem, values);
    if (status == DAE_OK) status = dae_solver_new(problem, &o, &solver, diag);
    if (status == DAE_OK) status = dae_solver_start(solver, s->t[0], NULL, NULL);
    for (int i = 0; i <= s->intervals && status >= 0; i++) {
        if (i > 0) status = dae_solver_run(solver, s->t[i], NULL, NULL);
        if (status >= 0) status = dae_solver_variables(solver, s->t[i], values + count);
        if (status >= 0) status = dae_optimum_at(q, s->t[i], values);
        if (status >= 0) compare(q, s->t[i], values, values + count);
    }
    if (status < 0 && solver && diag) *diag = *dae_solver_diag(solver);
    dae_solver_free(solver);
    return status;
}

void opt_verify(dae_optimum *q)
{
    dae_diag diag;
    dae_problem *problem = NULL;
    control_curve *curves = DAE_ARRAY(control_curve, q->c);
    const int count = dae_problem_variable_count(q->problem);
    double *values = DAE_ARRAY(double, 2 * (size_t)count);
    diag_clear(&diag);
    q->stats.deviation = 0.0;
    q->stats.runs++;
    dae_status status =
        curves && values ? translate(q, curves, &problem, &diag) : opt_no_memory(&diag);
    if (status == DAE_OK && dae_problem_variable_count(problem) != count)
        status = diag_set(&diag, DAE_ERR_UNSUPPORTED, "the run has other variables");
    if (status == DAE_OK) status = run(q, problem, values, &diag);
    if (status < 0) {
        q->stats.deviation = NAN;
        snprintf(q->stats.deviation_text, sizeof q->stats.deviation_text, "%.*s",
                 (int)sizeof q->stats.deviation_text - 1, diag.text);
    }
    dae_problem_free(problem);
    dae_free_all(curves, values);
}

/* ---- between points ---- */

/* How far controls leave their bounds at part r of interval i, in parts of their range. */
static void look_at_controls(dae_optimum *q, const opt_solution *s, int i, double r)
{
    opt_polynomial(q, s, i, r, q->local);
    for (int k = 0; k < q->c; k++) {
        const double u = q->local[q->n + q->d + k];
        const double off = fmax(q->lower[k] - u, u - q->upper[k]);
        const double range = q->upper[k] - q->lower[k];
        if (!(off > 0.0)) continue;
        const double part =
            off / (isfinite(range) && range > 0.0 ? range : q->scale[q->n + q->d + k]);
        q->stats.bound_violation = fmax(q->stats.bound_violation, part);
    }
}

/* The tolerance of condition k at q->local: what those of its variables make of it, or less, where
 * the objective gains more than its own tolerance by that. */
static double row_tolerance(const dae_optimum *q, int k)
{
    const opt_program *p = &q->at_point;
    double sum = 0.0;
    for (size_t e = 0; e < p->first_count; e++)
        if (p->first_row[e] == q->rows + k)
            sum += fabs(p->first[e]) *
                   (q->request.rtol * fabs(q->local[p->first_column[e]]) + q->request.atol);
    const double most = opt_objective_tolerance(q, q->stats.objective) / q->path_price[k];
    return fmin(most, fmax(sum, q->request.rtol * 1e-3));
}

/* Conditions along the path and the integrand at t, of what a user sees there. False: there are no
 * values. */
static bool evaluate_at(dae_optimum *q, const opt_solution *s, double t)
{
    if (!opt_point(q, s, t, q->y, q->yp)) return false;
    vector_copy(q->n, q->y, q->local);
    for (int k = 0; k < q->d; k++) q->local[q->n + k] = q->yp[q->state[k]];
    vector_copy(q->m, s->x + opt_at_p(q, s->intervals), q->local + opt_block(q));
    opt_program_run(q, &q->at_point, t, 0);
    return true;
}

/* Conditions along the path at t; the worst one in tolerances. */
static double look_at_path(dae_optimum *q, const opt_solution *s, double t)
{
    double most = 0.0;
    if (!evaluate_at(q, s, t)) return INFINITY;
    opt_program_run(q, &q->at_point, t, 1);
    for (int k = 0; k < q->path.count; k++) {
        const opt_condition *c = &q->path.list[k];
        const double value = q->at_point.value[q->rows + k];
        const double off = isnan(value) ? INFINITY : fmax(c->lower - value, value - c->upper);
        if (!(off > 0.0)) continue;
        const double part = off / row_tolerance(q, k);
        most = fmax(most, part);
        if (part <= q->path_error) continue;
        q->path_error = part;
        q->stats.path_violation = off;
        snprintf(q->stats.path_text, sizeof q->stats.path_text, "%.150s at t = %.9g", c->text, t);
    }
    return most;
}

void opt_look_between(dae_optimum *q, const opt_solution *s, double *error)
{
    enum { LOOKS = 8 };
    q->path_error = q->stats.bound_violation = q->stats.path_violation = 0.0;
    q->stats.path_text[0] = '\0';
    opt_programs_prepare(q);
    for (int i = 0; i < s->intervals; i++)
        for (int k = 0; k < LOOKS; k++) {
            const double r = (k + 0.5) / LOOKS;
            look_at_controls(q, s, i, r);
            if (q->path.count == 0) continue;
            const double off = look_at_path(q, s, s->t[i] + r * (s->t[i + 1] - s->t[i]));
            q->path_error = fmax(q->path_error, off);
            if (error) error[i] = fmax(error[i], off);
        }
}

/* Condition k is one of states alone, which do not jump. */
static bool is_of_states(const dae_optimum *q, int k)
{
    const opt_program *p = &q->at_point;
    for (size_t e = 0; e < p->first_count; e++) {
        const int j = p->first_column[e];
        if (p->first_row[e] == q->rows + k && (j >= q->n || q->number[j] < 0)) return false;
    }
    return true;
}

void opt_note_start(dae_optimum *q)
{
    const opt_solution *s = &q->solution;
    if (!(q->path_error > 1.0) || !evaluate_at(q, s, s->t[0])) return;
    opt_program_run(q, &q->at_point, s->t[0], 1);
    for (int k = 0; k < q->path.count; k++) {
        const opt_condition *c = &q->path.list[k];
        const double value = q->at_point.value[q->rows + k];
        const double off = fmax(c->lower - value, value - c->upper);
        if (off > row_tolerance(q, k) && is_of_states(q, k))
            snprintf(
                q->stats.note, sizeof q->stats.note,
                "%.150s is violated by %.3g at the start already, where no control changes it.",
                c->text, off);
    }
}

/* The integrand at the points of a rule in interval i. The stages hold as they were found; a rule
 * between them sees the states' polynomials and controls within their bounds. */
static double integrate(dae_optimum *q, const opt_solution *s, int i, const collocation *rule)
{
    const double h = s->t[i + 1] - s->t[i];
    const int row = q->rows + q->path.count, stages = q->method->stages;
    double sum = 0.0;
    for (int a = 0; a < rule->stages; a++) {
        const double t = s->t[i] + rule->nodes[a] * h;
        if (rule == q->method) {
            vector_copy(opt_block(q), s->x + opt_at(q, 1 + i * stages + a), q->local);
            vector_copy(q->m, s->x + opt_at_p(q, s->intervals), q->local + opt_block(q));
            opt_program_run(q, &q->at_point, t, 0);
        } else if (!evaluate_at(q, s, t)) {
            return NAN;
        }
        sum += h * rule->b[a] * q->at_point.value[row];
    }
    return sum;
}

double opt_integral_error(dae_optimum *q, const opt_solution *s, double *share)
{
    double sum = 0.0;
    for (int i = 0; i < s->intervals; i++) {
        share[i] = q->integral == EXPR_NONE
                       ? 0.0
                       : integrate(q, s, i, &gauss_5) - integrate(q, s, i, q->method);
        sum += share[i];
        share[i] = isnan(share[i]) ? INFINITY : fabs(share[i]);
    }
    return isnan(sum) ? INFINITY : fabs(sum);
}
