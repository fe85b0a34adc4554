/* The data of a fit, and the model beside them. */
#include <math.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "model/model.h"
#include "problem/residual.h"
#include "solve/fit/fit_parts.h"

/* ---- checks ---- */

static bool is_parameter(const dae_problem *p, const char *name)
{
    for (int i = 0; i < dae_problem_parameter_count(p); i++)
        if (strcmp(dae_problem_parameter(p, i), name) == 0) return true;
    return false;
}

double fit_value(const dae_problem *p, const char *name)
{
    const model_form *f = p->model;
    for (int i = 0; i < dae_problem_parameter_count(p); i++)
        if (strcmp(dae_problem_parameter(p, i), name) == 0)
            return dae_problem_parameter_value(p, i);
    for (size_t v = 0; v < f->flat->variable_count; v++)
        if (strcmp(f->flat->variables[v].name, name) == 0)
            return isnan(f->start[v]) ? f->attribute[v] : f->start[v];
    return NAN;
}

static dae_status check_parameter(const dae_problem *p, const dae_fit_parameter *q, dae_diag *diag)
{
    if (!q->name) return diag_set(diag, DAE_ERR_ARGUMENT, "Fit: the name of a parameter is NULL.");
    diag_variable(diag, -1, q->name);
    bool bounded = q->lower != 0.0 || q->upper != 0.0;
    if (bounded && !(q->lower < q->upper))
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "Fit: the bounds of %s are %g and %g; the first must be the smaller one.",
                        q->name, q->lower, q->upper);
    double start = isnan(q->start) ? fit_value(p, q->name) : q->start;
    if (!isfinite(start))
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "Fit: %s is no parameter and no variable with a start value, or its value "
                        "is not finite.",
                        q->name);
    if (bounded && (start < q->lower || start > q->upper))
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "Fit: %s begins at %g, outside of its bounds %g and %g.", q->name, start,
                        q->lower, q->upper);
    return DAE_OK;
}

static dae_status check_times(const dae_fit_data *d, int number, dae_diag *diag)
{
    for (int i = 0; i < d->rows; i++) {
        double before = i > 0 ? d->times[i - 1] : d->start;
        if (isfinite(d->times[i]) && d->times[i] >= before) continue;
        if (diag) diag->t = d->times[i];
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "Fit: experiment %d, row %d: time %g is not finite, or before %g, %s.",
                        number + 1, i + 1, d->times[i], before,
                        i > 0 ? "that of the row above" : "where the run begins");
    }
    return DAE_OK;
}

/* Standard deviation of a value. */
static double sigma_of(const dae_fit_data *d, int i, int j)
{
    if (d->sigma) return d->sigma[(size_t)i * (size_t)d->columns + (size_t)j];
    return d->column_sigma ? d->column_sigma[j] : 1.0;
}

double fit_data_size(const dae_fit_data *d)
{
    double sum = 0.0;
    for (int i = 0; i < d->rows; i++)
        for (int j = 0; j < d->columns; j++) {
            double v = d->values[(size_t)i * (size_t)d->columns + (size_t)j] / sigma_of(d, i, j);
            if (!isnan(v)) sum += v * v;
        }
    return sum;
}

/* Largest size of column j in the data, or in the model beside them, whose residuals begin at r. */
static double column_range(const dae_fit_data *d, int column, const double *r, double atol)
{
    double most = 0.0;
    for (int i = 0, at = 0; i < d->rows; i++)
        for (int j = 0; j < d->columns; j++) {
            const double v = d->values[(size_t)i * (size_t)d->columns + (size_t)j];
            if (isnan(v)) continue;
            const double model = v + r[at++] * sigma_of(d, i, j);
            if (j == column) most = fmax(most, fmax(fabs(v), fabs(model)));
        }
    return most > 0.0 ? most : atol; /* a value that is 0 is known to the absolute tolerance */
}

/* Row by row as compare_row() has them. */
static int put_ranges(fit *q, const dae_fit_data *d, int first)
{
    const double atol = q->request.options ? q->request.options->atol : 1e-9;
    int at = first;
    for (int j = 0; j < d->columns; j++) {
        const double range = column_range(d, j, q->r + first, atol);
        at = first;
        for (int i = 0; i < d->rows * d->columns; i++) {
            if (isnan(d->values[i])) continue;
            if (i % d->columns == j) q->range[at] = range / sigma_of(d, i / d->columns, j);
            at++;
        }
    }
    return at;
}

void fit_ranges(fit *q)
{
    int at = 0;
    for (int d = 0; d < q->request.data_count; d++) at = put_ranges(q, &q->request.data[d], at);
}

static dae_status check_values(const dae_fit_data *d, int number, int *rows, dae_diag *diag)
{
    for (int i = 0; i < d->rows; i++)
        for (int j = 0; j < d->columns; j++) {
            double v = d->values[(size_t)i * (size_t)d->columns + (size_t)j], s = sigma_of(d, i, j);
            if (isnan(v)) continue;
            *rows += 1;
            if (isfinite(v) && s > 0.0 && isfinite(s)) continue;
            diag_variable(diag, -1, d->variables[j]);
            return diag_set(diag, DAE_ERR_ARGUMENT,
                            "Fit: experiment %d, row %d: %s is %g with standard deviation %g; both "
                            "must be finite, and the latter positive.",
                            number + 1, i + 1, d->variables[j], v, s);
        }
    return DAE_OK;
}

static dae_status check_columns(const dae_problem *p, const dae_fit_data *d, int number,
                                dae_diag *diag)
{
    for (int j = 0; j < d->columns; j++)
        if (!d->variables[j] || dae_problem_find_variable(p, d->variables[j]) < 0) {
            const char *name = d->variables[j] ? d->variables[j] : "(no name)";
            diag_variable(diag, -1, name);
            return diag_set(
                diag, DAE_ERR_ARGUMENT,
                "Fit: experiment %d has a column %s, which is no variable of the model.",
                number + 1, name);
        }
    return DAE_OK;
}

static dae_status check_data(const dae_problem *p, const dae_fit_data *d, int number, int *rows,
                             dae_diag *diag)
{
    if (d->rows < 1 || d->columns < 1 || !d->times || !d->variables || !d->values)
        return diag_set(diag, DAE_ERR_ARGUMENT, "Fit: experiment %d has no data.", number + 1);
    dae_status status = check_columns(p, d, number, diag);
    if (status == DAE_OK) status = check_times(d, number, diag);
    return status == DAE_OK ? check_values(d, number, rows, diag) : status;
}

dae_status fit_check(const dae_problem *p, const dae_fit_request *r, int *rows, dae_diag *diag)
{
    *rows = 0;
    if (!p->model)
        return diag_set(diag, DAE_ERR_UNSUPPORTED, "Fit: parameters are those of a model text.");
    if (r->parameter_count < 1 || !r->parameters || r->data_count < 1 || !r->data)
        return diag_set(diag, DAE_ERR_ARGUMENT, "Fit: parameters or data are missing.");
    for (int k = 0; k < r->parameter_count; k++) {
        dae_status status = check_parameter(p, &r->parameters[k], diag);
        if (status != DAE_OK) return status;
    }
    for (int d = 0; d < r->data_count; d++) {
        dae_status status = check_data(p, &r->data[d], d, rows, diag);
        if (status != DAE_OK) return status;
    }
    if (*rows < 1) return diag_set(diag, DAE_ERR_ARGUMENT, "Fit: all data are missing.");
    return DAE_OK;
}

/* ---- runs ---- */

static dae_status set_value(dae_problem *p, const char *name, double value, dae_diag *diag)
{
    return is_parameter(p, name) ? dae_problem_set_parameter(p, name, value, diag)
                                 : dae_problem_set_start(p, name, value, diag);
}

/* The settings of an experiment, then the parameters of the fit. */
static dae_status set_values(fit *q, const dae_fit_data *d, const double *x, dae_diag *diag)
{
    dae_status status = DAE_OK;
    for (int i = 0; i < d->setting_count && status == DAE_OK; i++)
        status = set_value(q->problem, d->settings[i].name, d->settings[i].value, diag);
    for (int k = 0; k < q->count && status == DAE_OK; k++)
        status = set_value(q->problem, q->request.parameters[k].name, x[k], diag);
    return status;
}

/* One experiment: its solver, and where its residuals are. */
typedef struct experiment {
    fit *q;
    const dae_fit_data *data;
    dae_solver *solver;
    dae_sensitivity *sensitivity; /* NULL: no derivatives are wanted */
    double *values, *slopes;      /* all variables of the model */
    int row;                      /* of the next residual */
    double *r, *J;
    double *curves; /* in place of residuals: values of the columns, row by row; NULL: none */
} experiment;

/* A value that is not finite cannot be compared. */
static dae_status complain_value(const experiment *e, int i, int j, const char *what, double value,
                                 dae_diag *diag)
{
    diag_variable(diag, -1, e->data->variables[j]);
    if (diag) diag->t = e->data->times[i];
    return diag_set(diag, DAE_ERR_EVALUATION,
                    "Fit: %s%s is %g at t = %g, where the data have a value. Begin with parameters "
                    "for which it is finite, or bound them.",
                    what, e->data->variables[j], value, e->data->times[i]);
}

/* Residuals of one row of data, where the solver stands. */
static dae_status compare_row(experiment *e, int i, dae_diag *diag)
{
    const dae_fit_data *d = e->data;
    const fit *q = e->q;
    int first = e->row;
    dae_status status = dae_solver_variables(e->solver, d->times[i], e->values);
    for (int k = 0; k <= (e->sensitivity ? q->count : 0) && status == DAE_OK; k++) {
        if (k > 0)
            status = dae_sensitivity_variables(e->sensitivity, d->times[i], k - 1, e->slopes);
        int at = first;
        for (int j = 0; j < d->columns && status == DAE_OK; j++) {
            double v = d->values[(size_t)i * (size_t)d->columns + (size_t)j];
            int variable = dae_problem_find_variable(q->problem, d->variables[j]);
            if (isnan(v)) continue;
            const double found = k == 0 ? e->values[variable] : e->slopes[variable];
            if (!isfinite(found))
                return complain_value(e, i, j, k == 0 ? "" : "a derivative of ", found, diag);
            if (k == 0)
                e->r[at] = (found - v) / sigma_of(d, i, j);
            else
                e->J[(size_t)(k - 1) * (size_t)q->rows + (size_t)at] = found / sigma_of(d, i, j);
            at++;
        }
        e->row = at;
    }
    return status;
}

/* Values of one row, where the solver stands. */
static dae_status copy_row(experiment *e, int i)
{
    const dae_fit_data *d = e->data;
    dae_status status = dae_solver_variables(e->solver, d->times[i], e->values);
    for (int j = 0; j < d->columns && status == DAE_OK; j++)
        e->curves[(size_t)i * (size_t)d->columns + (size_t)j] =
            e->values[dae_problem_find_variable(e->q->problem, d->variables[j])];
    return status;
}

static dae_status follow_rows(experiment *e, dae_diag *diag)
{
    const dae_fit_data *d = e->data;
    dae_status status = dae_solver_start(e->solver, d->start, NULL, NULL);
    for (int i = 0; i < d->rows && status == DAE_OK; i++) {
        if (d->times[i] > dae_solver_time(e->solver))
            status = dae_solver_run(e->solver, d->times[i], NULL, NULL);
        if (status == DAE_OK) status = e->curves ? copy_row(e, i) : compare_row(e, i, diag);
    }
    return status;
}

static dae_status run_experiment(experiment *e, dae_diag *diag)
{
    fit *q = e->q;
    const char **names = DAE_ARRAY(const char *, q->count);
    for (int k = 0; names && k < q->count; k++) names[k] = q->request.parameters[k].name;
    dae_status status = names ? dae_solver_new(q->problem, q->request.options, &e->solver, diag)
                              : diag_set(diag, DAE_ERR_MEMORY, "Out of memory for a fit.");
    if (status == DAE_OK && e->J)
        status =
            dae_sensitivity_new(e->solver,
                                &(dae_sensitivity_request){
                                    .count = q->count, .names = names, .without_run_error = true},
                                &e->sensitivity, diag);
    if (status == DAE_OK) {
        status = follow_rows(e, diag);
        if (status != DAE_OK && diag && diag->status == DAE_OK) *diag = *dae_solver_diag(e->solver);
    }
    dae_sensitivity_free(e->sensitivity);
    dae_solver_free(e->solver);
    e->sensitivity = NULL;
    e->solver = NULL;
    dae_free(names);
    q->runs++;
    return status;
}

/* One experiment with the parameters x; the problem is as it was afterwards. */
static dae_status try_experiment(experiment *e, const double *x, dae_diag *diag)
{
    fit *q = e->q;
    kept_values kept = {0};
    if (!model_form_keep(q->problem->model, &kept))
        return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for a fit.");
    dae_status status = set_values(q, e->data, x, diag);
    if (status == DAE_OK) status = run_experiment(e, diag);
    dae_status back = model_form_put_back(q->problem->model, &kept, NULL);
    return status == DAE_OK ? back : status;
}

/* Room for all variables, and their derivatives. */
static bool experiment_new(experiment *e, fit *q)
{
    const size_t variables = (size_t)dae_problem_variable_count(q->problem);
    *e = (experiment){.q = q, .values = DAE_ARRAY(double, 2 * variables)};
    e->slopes = e->values ? e->values + variables : NULL;
    return e->values != NULL;
}

dae_status fit_evaluate(fit *q, const double *x, double *r, double *J, dae_diag *diag)
{
    experiment e;
    if (!experiment_new(&e, q)) return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for a fit.");
    e.r = r;
    e.J = J;
    dae_status status = DAE_OK;
    for (int d = 0; d < q->request.data_count && status == DAE_OK; d++) {
        e.data = &q->request.data[d];
        status = try_experiment(&e, x, diag);
    }
    dae_free(e.values);
    return status;
}

/* ---- curves ---- */

dae_status dae_fit_curves(dae_problem *problem, const dae_fit_request *request,
                          const double *values, const dae_fit_data *where, double *out,
                          dae_diag *diag)
{
    experiment e;
    diag_clear(diag);
    if (!problem || !request || !values || !where || !out || !where->times || !where->variables)
        return diag_set(diag, DAE_ERR_ARGUMENT, "dae_fit_curves: an argument is NULL.");
    if (!problem->model)
        return diag_set(diag, DAE_ERR_UNSUPPORTED, "Fit: parameters are those of a model text.");
    fit q = {.problem = problem, .request = *request, .count = request->parameter_count};
    dae_status status = check_columns(problem, where, 0, diag);
    if (status == DAE_OK) status = check_times(where, 0, diag);
    if (status != DAE_OK) return status;
    if (!experiment_new(&e, &q)) return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for a fit.");
    e.data = where;
    e.curves = out;
    status = try_experiment(&e, values, diag);
    dae_free(e.values);
    return status;
}
