/* The index around a point: the public calls, and a sentence for failures. */
#include "solve/explain/diagnose_api.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/vector.h"
#include "structure/linear/diagnose.h"

/* ---- Jacobians as full matrices -------------------------------------------------------------- */

/* Increments of differences, relative to typical sizes: the error of the formula is about their
 * fourth power, that of rounding u over them. The smaller ones are for points near the edge of F's
 * domain and for steep functions. */
static const double INCREMENTS[] = {1e-3, 3e-5, 1e-6};
/* Formulas of order 2 and 4 that agree to this leave an error of about its square. */
static const double AGREEMENT = 1e-5;

typedef struct full_jacobian {
    evaluator *eval;       /* borrowed */
    const double *typical; /* borrowed */
    int n;
    double *packed;            /* user's Jacobian: two sets of values on the problem's layout */
    double *x;                 /* differences: 2n values y, y' */
    double *up, *down, *trial; /* n each */
} full_jacobian;

static bool has_callback(const dae_problem *p)
{
    return p->form.jacobian && p->has_layout;
}

static bool full_jacobian_new(full_jacobian *j, evaluator *eval, const double *typical)
{
    const dae_problem *p = eval->problem;
    const int n = p->form.n;
    *j = (full_jacobian){.eval = eval,
                         .typical = typical,
                         .n = n,
                         .packed = DAE_ARRAY(double, has_callback(p) ? 2 * p->layout.count : 0),
                         .x = DAE_ARRAY(double, 2 * n),
                         .up = DAE_ARRAY(double, n),
                         .down = DAE_ARRAY(double, n),
                         .trial = DAE_ARRAY(double, n)};
    return j->packed && j->x && j->up && j->down && j->trial;
}

static void full_jacobian_free(full_jacobian *j)
{
    dae_free_all(j->packed, j->x, j->up, j->down, j->trial);
}

static void unpack(const matrix_layout *layout, const double *values, double *full)
{
    vector_zero(layout->n * layout->n, full);
    for (int j = 0; j < layout->n; j++) {
        const matrix_column column = layout_column(layout, j);
        for (int k = 0; k < column.count; k++)
            full[column_row(&column, k) + j * layout->n] = values[column.first + (size_t)k];
    }
}

/* F at j->x with component c moved by step. */
static bool moved(full_jacobian *j, double t, int c, double step, double *f)
{
    const double keep = j->x[c];
    j->x[c] = keep + step;
    eval_status status =
        evaluate_residual(j->eval, t, j->x, j->x + j->n, f, &j->eval->stats->jacobian_residuals);
    j->x[c] = keep;
    return status == EVAL_OK;
}

/* What differs by no more than rounding counts as equal. */
static double change(double up, double down)
{
    const double noise = 8.0 * DBL_EPSILON * fmax(fabs(up), fabs(down));
    return fabs(up - down) > noise ? up - down : 0.0;
}

/* column = dF/dx_c by the central formula of order 4; its relative distance to that of order 2, or
 * -1 if F cannot be evaluated */
static double difference(full_jacobian *j, double t, int c, double step, double *column)
{
    double most = 0.0, apart = 0.0;
    if (!moved(j, t, c, step, j->up) || !moved(j, t, c, -step, j->down)) return -1.0;
    for (int i = 0; i < j->n; i++) column[i] = change(j->up[i], j->down[i]) / (2.0 * step);
    if (!moved(j, t, c, 2.0 * step, j->up) || !moved(j, t, c, -2.0 * step, j->down)) return -1.0;
    for (int i = 0; i < j->n; i++) {
        const double coarse = change(j->up[i], j->down[i]) / (4.0 * step);
        const double correction = (column[i] - coarse) / 3.0;
        column[i] += correction;
        most = fmax(most, fabs(column[i]));
        apart = fmax(apart, fabs(correction));
    }
    return most > 0.0 ? apart / most : 0.0;
}

/* The largest increment whose formulas agree, else the one where they agree best. */
static bool best_difference(full_jacobian *j, double t, int c, double *column)
{
    const double size = fmax(fabs(j->x[c]), j->typical[c % j->n]);
    double best = INFINITY;
    for (size_t k = 0; k < sizeof INCREMENTS / sizeof *INCREMENTS && best > AGREEMENT; k++) {
        const double apart = difference(j, t, c, INCREMENTS[k] * size, j->trial);
        if (apart < 0.0 || apart >= best) continue;
        best = apart;
        vector_copy(j->n, j->trial, column);
    }
    return isfinite(best);
}

static bool by_differences(full_jacobian *j, double t, const double *y, const double *yp,
                           double *dfdy, double *dfdyp)
{
    const int n = j->n;
    vector_copy(n, y, j->x);
    vector_copy(n, yp, j->x + n);
    for (int c = 0; c < 2 * n; c++)
        if (!best_difference(j, t, c, c < n ? dfdy + c * n : dfdyp + (c - n) * n)) return false;
    return true;
}

static int evaluate_full(void *context, double t, const double *y, const double *yp, double *dfdy,
                         double *dfdyp)
{
    full_jacobian *j = context;
    const dae_problem *p = j->eval->problem;
    if (!has_callback(p)) return by_differences(j, t, y, yp, dfdy, dfdyp) ? 0 : 1;
    double *second = j->packed + p->layout.count;
    if (evaluate_jacobian(j->eval, &p->layout, t, y, yp, j->packed, second) != EVAL_OK) return 1;
    unpack(&p->layout, j->packed, dfdy);
    unpack(&p->layout, second, dfdyp);
    return 0;
}

/* ---- the diagnosis --------------------------------------------------------------------------- */

/* Sizes of variables: values, but not much below the largest one; with error weights, where those
 * begin to be absolute. */
static void guess_sizes(int n, const double *y, const error_norm *norm, double rtol, double *size)
{
    double most = 0.0;
    for (int j = 0; j < n; j++) most = fmax(most, fabs(y[j]));
    for (int j = 0; j < n; j++) {
        size[j] = fmax(fabs(y[j]), 1e-3 * most);
        if (norm && rtol > 0.0) size[j] = fmax(fabs(y[j]), fmin(norm->weights[j] / rtol, 1.0));
        if (!(size[j] > 0.0) || !isfinite(size[j])) size[j] = 1.0;
    }
}

static diagnose_status run(evaluator *eval, const error_norm *norm, double rtol, double t,
                           const double *y, const double *yp, const double *ypp, diagnosis *result)
{
    const int n = eval->problem->form.n;
    full_jacobian jac = {0};
    double *typical = DAE_ARRAY(double, n);
    diagnose_status status = DIAGNOSE_MEMORY;
    if (typical && full_jacobian_new(&jac, eval, typical)) {
        guess_sizes(n, y, norm, rtol, typical);
        const diagnose_input in = {.n = n,
                                   .t = t,
                                   .y = y,
                                   .yp = yp,
                                   .ypp = ypp,
                                   .typical = typical,
                                   .accuracy = has_callback(eval->problem) ? 1e-14 : 1e-11,
                                   .jacobian = evaluate_full,
                                   .context = &jac};
        status = diagnose(&in, result);
    }
    full_jacobian_free(&jac);
    dae_free(typical);
    return status;
}

/* ---- words ----------------------------------------------------------------------------------- */

enum { MOST_NAMES = 6 };

/* "equations a, b and 3 more" for the flags that are set; nothing if none is. */
static void put_names(text_writer *w, const dae_problem *p, const bool *flag, bool equations)
{
    int count = 0;
    for (int i = 0; i < p->form.n; i++) count += flag[i];
    if (count == 0) return;
    text_list list = {.text = w->text, .size = w->size, .most = MOST_NAMES};
    text_put(w, "%s%s ", equations ? "equation" : "variable", count == 1 ? "" : "s");
    for (int i = 0; i < p->form.n; i++)
        if (flag[i])
            text_list_add(&list, "%s", equations ? problem_equation(p, i) : problem_variable(p, i));
    text_list_end(&list);
}

static void put_culprits(text_writer *w, const dae_problem *p, const diagnosis *d)
{
    bool any = false;
    for (int i = 0; i < d->n; i++) any = any || d->rows[i] || d->variables[i];
    if (!any) return;
    text_put(w, " (");
    put_names(w, p, d->rows, true);
    text_put(w, "; ");
    put_names(w, p, d->variables, false);
    text_put(w, ")");
}

/* Whether all variables that are named have a kind of an index above 1 already. */
static bool declares_kinds(const dae_problem *p, const diagnosis *d)
{
    const dae_kind *kinds = p->form.kinds;
    bool all = kinds != NULL;
    for (int i = 0; i < d->n && all; i++) all = !d->variables[i] || kinds[i] > DAE_KIND_INDEX1;
    return all;
}

/* Index above 1, or dependent equations. */
static void put_trouble(text_writer *w, const dae_problem *p, const diagnosis *d, double t)
{
    if (d->dependent) {
        text_put(w, "At t = %.6g the equations are dependent", t);
        put_culprits(w, p, d);
        text_put(w, ": a combination of them and of their derivatives contains no unknown, so that "
                    "there is no solution, or more than one.");
        return;
    }
    text_put(w, "The index at t = %.6g is %s%d", t, d->at_least || d->index > 3 ? "at least " : "",
             d->index);
    put_culprits(w, p, d);
    text_put(w,
             ": the equations as they stand do not determine these variables; the equations named "
             "have to be differentiated%s.",
             d->index > 3 || declares_kinds(p, d)
                 ? ""
                 : ", or the kinds of the variables declared, for radau");
}

static void put_verdict(text_writer *w, const dae_problem *p, const diagnosis *d, double t)
{
    if (d->index < 0 && !d->dependent)
        text_put(w,
                 "The index at t = %.6g cannot be told: the ranks of the Jacobians are not clear.",
                 t);
    else if (d->index == 0)
        text_put(w, "The index at t = %.6g is 0: dF/dy' is invertible.", t);
    else if (d->index == 1)
        text_put(w,
                 "The index at t = %.6g is 1: the equations as they stand determine y' of the "
                 "differential variables and all algebraic variables.",
                 t);
    else
        put_trouble(w, p, d, t);
    if (d->index >= 0 && d->index < 4 && d->pencil_index < 0)
        text_put(w, " (The Jacobians frozen at the point form a singular pencil.)");
    else if (d->index >= 0 && d->index < 4 && d->pencil_index != d->index)
        text_put(w, " (The Jacobians frozen at the point have index %d.)", d->pencil_index);
    if (!d->certain)
        text_put(w, " This is an indication: ranks are not clear, or differ around the point.");
}

bool solver_index_sentence(dae_solver *s, double t, const double *y, const double *yp, char *text,
                           size_t size)
{
    diagnosis d;
    if (size > 0) text[0] = '\0';
    if (run(&s->bound.eval, &s->bound.norm, s->bound.finest_rtol, t, y, yp, NULL, &d) !=
        DIAGNOSE_OK)
        return false;
    text_writer w = {.text = text, .size = size};
    const bool trouble = d.dependent || d.index > 1;
    if (trouble) text_put(&w, " ");
    if (trouble) put_trouble(&w, s->bound.problem, &d, t);
    diagnosis_free(&d);
    return trouble;
}

int solver_certain_index(dae_solver *s, double t, char *text, size_t size)
{
    diagnosis d;
    if (size > 0) text[0] = '\0';
    if (run(&s->bound.eval, &s->bound.norm, s->bound.finest_rtol, t, s->bound.y, s->bound.yp, NULL,
            &d) != DIAGNOSE_OK)
        return -1;
    text_writer w = {.text = text, .size = size};
    int index = d.certain && !d.dependent ? d.index : -1;
    if (index > 1) text_put(&w, "%s%d", d.at_least || index > 3 ? "at least " : "", index);
    if (index > 1) put_culprits(&w, s->bound.problem, &d);
    for (int j = d.n - 1; j >= 0 && index > 1; j--)
        if (d.variables[j]) diag_variable(&s->diag, j, problem_variable(s->bound.problem, j));
    diagnosis_free(&d);
    return index;
}

bool solver_index_is_frozen(dae_solver *s, double t)
{
    diagnosis d;
    if (run(&s->bound.eval, &s->bound.norm, s->bound.finest_rtol, t, s->bound.y, s->bound.yp, NULL,
            &d) != DIAGNOSE_OK)
        return false;
    bool same = d.certain && d.index >= 0 && d.index < 4 && d.index == d.pencil_index;
    diagnosis_free(&d);
    return same;
}

/* ---- the public calls ------------------------------------------------------------------------ */

/* The report that the caller sees, and behind it what it points to. */
typedef struct index_record {
    dae_index_report report; /* first: the caller's pointer is this one's */
    diagnosis diagnosis;
    dae_kind *kinds;
} index_record;

static dae_kind kind_of(int level)
{
    switch (level) {
    case 0: return DAE_KIND_DIFFERENTIAL;
    case 1: return DAE_KIND_INDEX1;
    case 2: return DAE_KIND_INDEX2;
    case 3: return DAE_KIND_INDEX3;
    default: return DAE_KIND_AUTO;
    }
}

static void fill_report(index_record *record, const dae_problem *p, double t)
{
    const diagnosis *d = &record->diagnosis;
    for (int j = 0; j < d->n; j++) record->kinds[j] = kind_of(d->level[j]);
    record->report = (dae_index_report){.size = sizeof record->report,
                                        .n = d->n,
                                        .t = t,
                                        .index = d->index,
                                        .pencil_index = d->pencil_index,
                                        .certain = d->certain,
                                        .freedom = d->freedom,
                                        .kept = d->gap.kept,
                                        .dropped = d->gap.dropped,
                                        .rows = d->rows,
                                        .variables = d->variables,
                                        .kinds = record->kinds};
    text_writer w = {.text = record->report.text, .size = sizeof record->report.text};
    put_verdict(&w, p, d, t);
}

static dae_status tell(diagnose_status status, double t, int n, dae_diag *diag)
{
    if (diag && status != DIAGNOSE_OK) diag->t = t;
    switch (status) {
    case DIAGNOSE_OK: return DAE_OK;
    case DIAGNOSE_MEMORY: return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for a diagnosis.");
    case DIAGNOSE_TOO_LARGE:
        return diag_set(
            diag, DAE_ERR_UNSUPPORTED,
            "The index is found by dense matrices, for up to %d variables; here are %d.",
            DIAGNOSE_SIZE, n);
    default:
        return diag_set(diag, DAE_ERR_EVALUATION,
                        "F or its Jacobian cannot be evaluated around t = %.10g.", t);
    }
}

static dae_status report_at(evaluator *eval, const dae_solver *s, double t, const double *y,
                            const double *yp, const double *ypp, dae_index_report **report,
                            dae_diag *diag)
{
    const dae_problem *p = eval->problem;
    index_record *record = DAE_NEW(index_record);
    diagnose_status status = DIAGNOSE_MEMORY;
    if (record) record->kinds = DAE_ARRAY(dae_kind, p->form.n);
    if (record && record->kinds)
        status = run(eval, s ? &s->bound.norm : NULL, s ? s->bound.finest_rtol : 0.0, t, y, yp, ypp,
                     &record->diagnosis);
    if (status == DIAGNOSE_OK) {
        fill_report(record, p, t);
        *report = &record->report;
    } else if (record) {
        dae_free_all(record->kinds, record);
    }
    return tell(status, t, p->form.n, diag);
}

void dae_index_report_free(dae_index_report *report)
{
    index_record *record = (index_record *)report;
    if (!record) return;
    diagnosis_free(&record->diagnosis);
    dae_free_all(record->kinds, record);
}

/* Callbacks in another form than the residual one need an instance. false: memory */
static bool begin_forms(evaluator *eval)
{
    const form_source *source = eval->problem->forms;
    form_instance *forms = form_instance_new(source, 0, eval);
    eval->forms = forms;
    return forms != NULL;
}

dae_status dae_problem_diagnose(const dae_problem *problem, double t, const double *y,
                                const double *yp, dae_index_report **report, dae_diag *diag)
{
    dae_stats stats = {0};
    diag_clear(diag);
    if (!report) return diag_set(diag, DAE_ERR_ARGUMENT, "dae_problem_diagnose: report is NULL.");
    *report = NULL;
    if (!problem || !y)
        return diag_set(diag, DAE_ERR_ARGUMENT, "dae_problem_diagnose: problem or y is NULL.");
    if (problem->model)
        return diag_set(diag, DAE_ERR_UNSUPPORTED,
                        "dae_problem_diagnose is for callbacks; start a solver of the model and "
                        "use dae_solver_diagnose.");
    const int n = problem->form.n;
    double *zero = yp ? NULL : DAE_ARRAY(double, n);
    if (!yp && !zero) return tell(DIAGNOSE_MEMORY, t, n, diag);
    if (!yp) yp = zero;
    evaluator eval = {.problem = problem, .stats = &stats};
    dae_status status = DAE_OK;
    if (!isfinite(t) || !vector_finite(n, y) || !vector_finite(n, yp))
        status =
            diag_set(diag, DAE_ERR_ARGUMENT, "dae_problem_diagnose: t, y and yp must be finite.");
    else if (problem->forms && !begin_forms(&eval))
        status = tell(DIAGNOSE_MEMORY, t, n, diag);
    else
        status = report_at(&eval, NULL, t, y, yp, NULL, report, diag);
    form_instance_free(eval.forms);
    dae_free(zero);
    return status;
}

/* y, y' and, over the last step, y'' at the solver's time; work has 4n values. */
static const double *read_solution(const dae_solver *s, double *work)
{
    const int n = s->bound.n;
    const double span = s->run.t_new - s->run.t_old;
    double *ypp = work + 2 * n, *old = work + 3 * n;
    const double t = s->run.phase == PHASE_READY
                         ? s->run.t
                         : fmin(fmax(s->run.t, fmin(s->run.t_old, s->run.t_new)),
                                fmax(s->run.t_old, s->run.t_new));
    solver_interpolate(s, t, 0, work);
    solver_interpolate(s, t, 1, work + n);
    if (s->run.phase == PHASE_READY || fabs(span) <= 0.0) return NULL;
    solver_interpolate(s, s->run.t_new, 1, ypp);
    solver_interpolate(s, s->run.t_old, 1, old);
    for (int j = 0; j < n; j++) ypp[j] = (ypp[j] - old[j]) / span;
    return vector_finite(n, ypp) ? ypp : NULL;
}

dae_status dae_solver_diagnose(dae_solver *s, dae_index_report **report)
{
    if (report) *report = NULL;
    if (!s) return DAE_ERR_ARGUMENT;
    if (!report)
        return diag_set(&s->diag, DAE_ERR_ARGUMENT, "dae_solver_diagnose: report is NULL.");
    if (s->run.phase == PHASE_NEW)
        return diag_set(&s->diag, DAE_ERR_STATE,
                        "dae_solver_diagnose: the solver has not been started.");
    double *work = DAE_ARRAY(double, 4 * s->bound.n);
    if (!work) return tell(DIAGNOSE_MEMORY, s->run.t, s->bound.n, &s->diag);
    const double *ypp = read_solution(s, work);
    dae_status status =
        report_at(&s->bound.eval, s, s->run.t, work, work + s->bound.n, ypp, report, &s->diag);
    dae_free(work);
    return status;
}
