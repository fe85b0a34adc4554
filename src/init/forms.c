/* Consistent initial values of callbacks in other forms than the residual one: positions on g = 0,
 * velocities on its derivative, multipliers from the next one. */
#include <float.h>
#include <math.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/vector.h"
#include "init/forms_parts.h"

/* A step this small, in units of the tolerances, leaves an error of about its square. */
static const double CLOSE = 1e-5, CLOSE_ENOUGH = 1e-2;

/* ---- messages ---- */

dae_status start_exhausted(const start *s)
{
    return diag_set(s->diag, DAE_ERR_MEMORY, "Out of memory for initial values.");
}

const char *start_constraint(const start *s, int i)
{
    int row = form_constraint_row(s->x->source) + i;
    const char *name = s->x->source->constraint_names[i];
    diag_equation(s->diag, row, name);
    if (s->diag) s->diag->t = s->t;
    return name;
}

const char *start_variable(const start *s, int i)
{
    const char *name = s->x->source->variable_names[i];
    diag_variable(s->diag, i, name);
    if (s->diag) s->diag->t = s->t;
    return name;
}

dae_status start_evaluation(const start *s, eval_status status)
{
    return evaluator_report(s->x->eval, status, s->diag);
}

/* "constraint a", or "constraints a, b and 3 more" */
static void list_constraints(const start *s, int m, const double *y)
{
    text_list list = text_list_in(s->diag, 4);
    for (int i = 0; i < m; i++) list.total += fabs(y[i]) > 0.05;
    for (int i = 0; i < m; i++)
        if (fabs(y[i]) > 0.05) text_list_add(&list, "%s", s->x->source->constraint_names[i]);
    text_list_end(&list);
}

/* The rows of G, or g_y, depend on each other: y tells how. */
static dae_status report_dependent(const start *s, const manifold *p, const double *y)
{
    int last = vector_argmax(p->m, y, NULL);
    for (int i = p->m - 1; i >= 0; i--)
        if (fabs(y[i]) > 0.05) {
            last = i; /* the last one is the one too many */
            break;
        }
    const char *name = start_constraint(s, last);
    if (p->row[last] == 0.0)
        return diag_set(s->diag, DAE_ERR_SINGULAR,
                        "Constraint %s does not depend on the positions at t = %.9g: its row of "
                        "the constraint matrix is zero, and no multiplier can enforce it.",
                        name, s->t);
    diag_set(s->diag, DAE_ERR_SINGULAR,
             "Constraint %s depends on others at t = %.9g: the gradients of ", name, s->t);
    list_constraints(s, p->m, y);
    diag_append(s->diag, " are linearly dependent, so that the multipliers are not unique. Leave "
                         "one of them out, or start away from a singular configuration.");
    return DAE_ERR_SINGULAR;
}

dae_status start_far(const start *s, const manifold *p, const char *what)
{
    const char *name = start_constraint(s, p->worst % s->x->source->constraints);
    if (s->diag) s->diag->value = p->misfit;
    diag_set(s->diag, DAE_ERR_INITIAL,
             "No initial values on the constraints were found near those given: %s %s cannot be "
             "met at t = %.9g (misfit %.3g in units of the tolerances).",
             what, name, s->t, p->misfit);
    if (s->tags)
        diag_append(s->diag, " Values tagged DAE_TAG_FIXED may contradict it.");
    else
        diag_append(s->diag, " Give values closer to it, and check that the constraints do not "
                             "contradict each other.");
    return DAE_ERR_INITIAL;
}

dae_status start_moved(const start *s, const manifold *p, engine_outcome outcome, const char *what)
{
    if (outcome == ENGINE_MET) return DAE_OK;
    if (outcome == ENGINE_MEMORY) return start_exhausted(s);
    if (outcome == ENGINE_UNDEFINED) return start_evaluation(s, EVAL_RETRY);
    return outcome == ENGINE_STOP ? start_evaluation(s, EVAL_STOP) : start_far(s, p, what);
}

/* ---- projection ---- */

/* The constraints of a part as a source of the engine. */
typedef struct projection {
    const start_part *part;
    double t;
    manifold *p;
} projection;

static engine_outcome source_linearise(engine *e)
{
    const projection *c = e->user;
    manifold *p = c->p;
    double rounding = 0.0;
    engine_outcome outcome = engine_from(c->part->jacobian(c->part->context, c->t, e->x, p->A));
    if (outcome != ENGINE_MET) return outcome;
    for (int j = 0; j < p->n; j++) {
        e->size[j] = p->size[j] > 0.0 ? p->size[j] : 1.0;
        if (p->size[j] > 0.0) rounding = fmax(rounding, fabs(e->x[j]) / p->size[j]);
    }
    e->tolerance = fmax(CLOSE, 10.0 * DBL_EPSILON * rounding);
    return manifold_factor(p, p->A) ? ENGINE_MET : ENGINE_MEMORY;
}

static engine_outcome source_correction(engine *e, const double *r, double *dx)
{
    manifold_step(((const projection *)e->user)->p, r, dx);
    return ENGINE_MET;
}

static engine_outcome source_evaluate(engine *e)
{
    const projection *c = e->user;
    return engine_from(c->part->level(c->part->context, c->t, e->trial, e->trial_r));
}

static engine_outcome source_last(engine *e, double *dx)
{
    (void)e, (void)dx;
    return ENGINE_MET;
}

static const engine_source constraint_source = {.linearise = source_linearise,
                                                .correction = source_correction,
                                                .evaluate = source_evaluate,
                                                .last = source_last};

/* p->worst among the constraints that the values given do not meet, if there are any: the others
 * are not to blame. */
static void blame(manifold *p, const double *given)
{
    const int worst = p->worst;
    const double misfit = p->misfit;
    for (int i = 0; i < p->m; i++)
        if (fabs(given[i]) <= CLOSE_ENOUGH * p->row[i]) p->c[i] = 0.0;
    if (manifold_misfit(p, p->c) > 0.0) return;
    p->worst = worst;
    p->misfit = misfit;
}

engine_outcome start_move(const start *s, const start_part *part, manifold *p)
{
    enum { MOST_STEPS = 50 };
    projection c = {part, s->t, p};
    double *work = DAE_ARRAY(double, 2 * ((size_t)p->n + (size_t)p->m));
    if (!work) return ENGINE_MEMORY;
    double *given = work + 2 * p->n + p->m;
    engine e = {.source = &constraint_source,
                .user = &c,
                .n = p->n,
                .m = p->m,
                .counted = p->n,
                .x = s->y + part->first,
                .trial = p->moved,
                .r = p->c,
                .trial_r = work + 2 * p->n,
                .dx = p->dx,
                .next = work,
                .size = work + p->n,
                .longest_stride = 1.0,
                .most = MOST_STEPS};
    engine_outcome outcome = engine_from(part->level(part->context, s->t, e.x, e.r));
    vector_copy(p->m, e.r, given);
    if (outcome == ENGINE_MET) outcome = engine_solve(&e);
    if (outcome == ENGINE_MET || outcome == ENGINE_STALLED) {
        /* a vanishing step is a solution only if nothing is left for it to remove */
        double left = manifold_misfit(p, p->c);
        bool close = outcome == ENGINE_MET || e.length <= CLOSE_ENOUGH;
        bool met = close && left <= 10.0 * sqrt((double)p->n) * e.length + e.tolerance + CLOSE;
        outcome = met ? ENGINE_MET : ENGINE_STALLED;
        if (!met) blame(p, given);
    }
    dae_free(work);
    return outcome;
}

dae_status start_project(const start *s, const start_part *part, manifold *p)
{
    if (!manifold_new(p, part->matrix, s->size + part->first, NULL)) return start_exhausted(s);
    return start_moved(s, p, start_move(s, part, p), part->what);
}

/* ---- sizes ---- */

/* Unknowns first .. first + count - 1 may move in proportion to their sizes, of which 1 is the
 * least: in units of the tolerances what is near 0 by chance would hardly move; fixed ones not at
 * all. */
void start_sizes(const start *s, int first, int count)
{
    double part = 0.0;
    for (int i = first; i < first + count; i++)
        part = fmax(part, s->weights[i] / fmax(fabs(s->y[i]), 1.0));
    for (int i = first; i < first + count; i++) {
        s->size[i] = part * fmax(fabs(s->y[i]), 1.0);
        if (s->tags && s->tags[i] == DAE_TAG_FIXED) s->size[i] = 0.0;
    }
}

/* Rows that are dependent while all variables may move, too. */
dae_status start_independent(const start *s, manifold *p, const double *values, double *y)
{
    int constraint_count = p->m;
    const double *size = p->size;
    double *ones = DAE_ARRAY(double, p->n);
    if (!ones) return start_exhausted(s);
    for (int j = 0; j < p->n; j++) ones[j] = fmax(size[j], s->weights[j]);
    p->size = ones;
    bool ready = manifold_factor(p, values), dependent = ready && manifold_dependent(p, y);
    p->size = size;
    dae_free(ones);
    if (!ready) return start_exhausted(s);
    return dependent && constraint_count > 0 ? report_dependent(s, p, y) : DAE_OK;
}

/* "g[1] cannot hold together with g[0]: .." */
static dae_status report_conflict(const start *s, const redundant_conflict *conflict)
{
    const char *name = start_constraint(s, conflict->row);
    text_list list = text_list_in(s->diag, 4);
    if (s->diag) s->diag->value = conflict->off;
    diag_set(s->diag, DAE_ERR_INITIAL, "These constraints cannot hold together: %s and ", name);
    for (int i = 0; i < s->x->mechanical.nl; i++)
        if (conflict->with[i]) text_list_add(&list, "%s", s->x->source->constraint_names[i]);
    text_list_end(&list);
    diag_append(s->diag,
                ". Their gradients depend on each other, and at t = %.9g%s %s is %.6g where the "
                "other%s zero. Correct one of them, or leave it out.",
                conflict->t, conflict->on_rates ? " the time derivative of" : "", name,
                conflict->off, list.count == 1 ? " is" : "s are");
    return DAE_ERR_INITIAL;
}

/* What the constraints say: how many are redundant (their number then is not zero), or an error. */
static dae_status search_redundant(const start *s, int *count)
{
    redundant_conflict conflict = {.with = DAE_ARRAY(bool, s->x->mechanical.nl)};
    *count = conflict.with ? form_redundant_find(s->x, s->t, s->y, &conflict) : -1;
    dae_status status = DAE_OK;
    if (*count < 0) status = start_exhausted(s);
    if (*count == 0 && conflict.row >= 0) status = report_conflict(s, &conflict);
    dae_free(conflict.with);
    return status;
}

dae_status start_redundant(const start *s, dae_status status)
{
    int count;
    dae_status found = search_redundant(s, &count);
    if (found != DAE_OK) return found;
    if (!s->x->releases) {
        form_redundant_free(s->x);
        diag_append(s->diag, " Where they follow from each other everywhere, methods for residual "
                             "forms without projection, such as bdf, find multipliers of least "
                             "norm.");
        return status;
    }
    if (count == 0) return status;
    if (s->diag) diag_clear(s->diag);
    return DAE_OK;
}

dae_status start_conflict(const start *s, dae_status status)
{
    int count;
    if (status != DAE_ERR_INITIAL) return status;
    dae_status found = search_redundant(s, &count);
    form_redundant_free(s->x);
    return found != DAE_OK ? found : status;
}

dae_status form_consistent(form_instance *x, double t, const double *weights, const dae_tag *tags,
                           double *y, double *yp, dae_diag *diag)
{
    start s = {x, t, weights, tags, y, yp, DAE_ARRAY(double, x->source->n), diag};
    if (!s.size) return start_exhausted(&s);
    dae_status status = start_declared(&s);
    switch (status == DAE_OK ? x->source->kind : FORM_KINDS) {
    case KIND_MECHANICAL: status = mechanical_start(&s); break;
    case KIND_HESSENBERG: status = hessenberg_start(&s); break;
    case KIND_QUASILINEAR: status = quasilinear_start(&s); break;
    case KIND_SECOND_ORDER: /* initialised as a residual form */
    case FORM_KINDS: break;
    }
    dae_free(s.size);
    return status;
}
