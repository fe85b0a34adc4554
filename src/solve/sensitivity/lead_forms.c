/* Callbacks in mechanical and Hessenberg form: a companion on the equations of index 1 that show
 * the constraints of all levels (formulation `reduced`), and derivatives of its equations by
 * differences.
 *
 * Acceleration terms of constraints may be differences themselves, with errors of 1e-10: one-sided
 * differences of those are no good for S. Four points with large increments leave errors of the
 * fourth power of these, and magnify that noise a thousand times, not ten millions [BCP96 (5.2.17)
 * has the increments for Newton's method]. */
#include <math.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"
#include "solve/begin/begin.h"
#include "solve/run/run.h"
#include "solve/sensitivity/sensitivity_parts.h"

/* Increments over sizes. */
static const double REACH = 1e-3;

bool lead_has_forms(const lead *l)
{
    return l->solver && !l->form && l->solver->base->forms;
}

/* ---- the companion ---- */

dae_options lead_companion_options(const dae_options *tolerances, const char *how)
{
    dae_options o = dae_options_default();
    o.method = "bdf";
    if (how) o.formulation = how;
    o.rtol = tolerances->rtol;
    o.atol = tolerances->atol;
    o.rtol_by_unknown = tolerances->rtol_by_unknown;
    o.atol_by_unknown = tolerances->atol_by_unknown;
    return o;
}

static dae_status refuse_form(const dae_sensitivity *x)
{
    return diag_set(&x->run->diag, DAE_ERR_UNSUPPORTED,
                    "%s: callbacks must have the residual form, of index 1, the mechanical or the "
                    "Hessenberg one. A model text may have any index.",
                    x->what);
}

/* Whether the form is one of those whose constraints a companion shows. */
static bool shows_constraints(form_kind kind)
{
    return kind == KIND_MECHANICAL || kind == KIND_HESSENBERG;
}

static dae_status companion_new(dae_sensitivity *x, form_kind kind)
{
    const dae_options o =
        lead_companion_options(&x->run->base_options, shows_constraints(kind) ? "reduced" : NULL);
    return solver_new(x->run->base, &o, &x->lead.companion, &x->run->diag);
}

dae_status lead_take_form(dae_sensitivity *x, double t, const double *y, dae_solver **chosen)
{
    dae_solver *s = x->run;
    lead *l = &x->lead;
    dae_status status = DAE_OK;
    const form_kind kind = s->base->forms ? form_source_kind(s->base->forms) : FORM_KINDS;
    if (kind == FORM_KINDS) return refuse_form(x);
    if (x->request.derivative)
        return diag_set(&s->diag, DAE_ERR_UNSUPPORTED,
                        "%s: callbacks in a form with more structure give `values`, the numbers "
                        "that they read; `derivative` is that of residual callbacks.",
                        x->what);
    if (l->renew) {
        dae_solver_free(l->companion);
        l->companion = NULL;
    }
    l->renew = false;
    if (!l->companion) status = companion_new(x, kind);
    if (status != DAE_OK) return status;
    status = begin_callbacks(l->companion, t, y, y + s->base->form.n);
    if (status != DAE_OK) s->diag = l->companion->diag;
    const form_set *set = l->companion->bound.form_set;
    if (status == DAE_OK && shows_constraints(kind) && !set->mechanical && !set->hessenberg)
        return diag_set(&s->diag, DAE_ERR_UNSUPPORTED,
                        "%s: some constraints follow from others; such systems are not linearised. "
                        "Leave them out.",
                        x->what);
    *chosen = l->companion;
    return status;
}

bool lead_form_holds(dae_sensitivity *x, double t)
{
    lead *l = &x->lead;
    form_instance *forms = l->companion->bound.forms;
    if (!shows_constraints(form_source_kind(x->run->base->forms))) return true;
    if (form_instance_choose(forms, t, l->y, false) == CHOICE_KEPT) return true;
    l->renew = true; /* its description is that of the old choice */
    return false;
}

/* ---- derivatives ---- */

/* F at (t, y + by move, y' + by move'), while numbers that callbacks read are where they are. */
static eval_status residual_beside(lead *l, double t, const double *y, const double *yp, double *f)
{
    evaluator *e = &l->solver->bound.eval;
    return evaluate_residual(e, t, y, yp, f, &e->stats->residuals);
}

/* out = what F changes by per unit, from F at -2, -1, 1, 2 increments; rows of n. */
static void combine(int n, const double *f, double increment, double *out)
{
    const double *far_back = f, *back = f + n, *ahead = f + 2 * n, *far = f + 3 * n;
    for (int i = 0; i < n; i++)
        out[i] = (8.0 * (ahead[i] - back[i]) - (far[i] - far_back[i])) / (12.0 * increment);
}

/* What unknown i is of the size of: its value, the largest of the run, or part of the largest of
 * those like it. */
static void take_sizes(const dae_sensitivity *x, double *size)
{
    const lead *l = &x->lead;
    const form_set *set = l->solver->bound.form_set;
    const int first = set && set->mechanical   ? set->mechanical->nq
                      : set && set->hessenberg ? set->hessenberg->ny
                                               : l->n;
    const int second = set && set->mechanical   ? 2 * first
                       : set && set->hessenberg ? first + set->hessenberg->nz
                                                : l->n;
    const int begins[4] = {0, first, second, l->n};
    for (int part = 0; part < 3; part++) {
        double most = 0.0;
        for (int i = begins[part]; i < begins[part + 1]; i++) {
            size[i] = fmax(fabs(l->y[i]), x->run->run.sizes[i]);
            most = fmax(most, size[i]);
        }
        for (int i = begins[part]; i < begins[part + 1]; i++)
            size[i] = most > 0.0 ? fmax(size[i], 0.1 * most) : 1.0;
    }
}

/* The columns of one group of dF/dY, or of dF/dY'. work: 6 n. */
static eval_status difference_group(lead *l, double t, const int *columns, int count, bool slopes,
                                    const double *size, double *work)
{
    static const int places[4] = {-2, -1, 1, 2};
    const size_t n = (size_t)l->n;
    double *moved = work, *f = work + n, *quotient = work + 5 * n;
    const double *from = slopes ? l->yp : l->y;
    jacobian *j = &l->matrix.jac;
    vector_copy(l->n, from, moved);
    for (int k = 0; k < 4; k++) {
        for (int c = 0; c < count; c++)
            moved[columns[c]] = from[columns[c]] + places[k] * REACH * size[columns[c]];
        eval_status status =
            residual_beside(l, t, slopes ? l->y : moved, slopes ? moved : l->yp, f + (size_t)k * n);
        if (status != EVAL_OK) return status;
    }
    combine(l->n, f, REACH, quotient);
    for (int c = 0; c < count; c++) {
        matrix_column column = layout_column(&j->layout, columns[c]);
        double *to = (slopes ? j->dfdyp : j->dfdy) + column.first;
        for (int e = 0; e < column.count; e++)
            to[e] = quotient[column_row(&column, e)] / size[columns[c]];
    }
    return EVAL_OK;
}

eval_status lead_sharpen(dae_sensitivity *x, double t)
{
    lead *l = &x->lead;
    const coloring *g = &l->matrix.jac.groups;
    double *size = l->forms, *work = l->forms + l->n;
    eval_status status = EVAL_OK;
    take_sizes(x, size);
    for (int k = 0; k < 2 * g->groups && status == EVAL_OK; k++) {
        const int group = k / 2;
        status = difference_group(l, t, g->column + g->start[group],
                                  g->start[group + 1] - g->start[group], k % 2 == 1, size, work);
    }
    return status;
}

eval_status lead_differ_form(dae_sensitivity *x, double t, const double *y, const double *yp, int k,
                             double *out)
{
    static const int places[4] = {-2, -1, 1, 2};
    lead *l = &x->lead;
    const size_t n = (size_t)l->n;
    double *p = &x->request.values[k], *f = l->forms + n;
    const double kept = *p, by = REACH * x->directions.list[k].size;
    eval_status status = EVAL_OK;
    for (int i = 0; i < 4 && status == EVAL_OK; i++) {
        *p = kept + places[i] * by;
        form_instance_forget(l->solver->bound.forms);
        status = residual_beside(l, t, y, yp, f + (size_t)i * n);
    }
    *p = kept;
    form_instance_forget(l->solver->bound.forms);
    combine(l->n, f, by, out);
    return status;
}

/* ---- the start ---- */

/* y0_i of direction k, which is integrated. */
static double asked_start(const dae_sensitivity *x, int k, int i)
{
    const directions *d = &x->directions;
    const size_t n = (size_t)x->lead.n;
    double sum = 0.0;
    if (!d->mix) return x->request.y0[(size_t)k * n + (size_t)i];
    for (size_t j = 0; j < (size_t)d->named; j++)
        sum += d->mix[j] * d->list[j].size * x->request.y0[j * n + (size_t)i];
    return sum;
}

dae_status lead_check_start(dae_sensitivity *x, int k)
{
    const dae_solver *s = x->run;
    const double *found = x->s + (size_t)k * (size_t)x->lead.n;
    const double p = directions_size(&x->directions, k);
    const form_set *set = x->lead.solver->bound.form_set;
    const int positions = set && set->mechanical   ? 2 * set->mechanical->nq
                          : set && set->hessenberg ? set->hessenberg->ny
                                                   : 0; /* algebraic ones are made consistent */
    for (int i = 0; i < positions; i++) {
        const double asked = asked_start(x, k, i);
        const double off = fabs(asked - found[i]), most = fmax(fabs(asked), fabs(found[i]));
        if (off <= 1e-4 * most || off * p <= 1e-6 * fabs(x->lead.y[i]) + 1e3 * s->base_options.atol)
            continue;
        diag_variable(&x->run->diag, i, problem_variable(s->base, i));
        if (x->directions.mix) /* whose numbers say nothing */
            return diag_set(&x->run->diag, DAE_ERR_INITIAL,
                            "%s: y0 does not meet the constraints in all directions: %s would move "
                            "otherwise than they let it.",
                            x->what, x->run->diag.variable_name);
        return diag_set(&x->run->diag, DAE_ERR_INITIAL,
                        "%s: y0 of direction %d does not meet the constraints: %s would move by "
                        "%.6g, and they let it move by %.6g.",
                        x->what, k, x->run->diag.variable_name, asked, found[i]);
    }
    return DAE_OK;
}
