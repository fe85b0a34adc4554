/* The matrices of a quasilinear form: E and x', g_x and the selection. */
#include <math.h>

#include "base/memory.h"
#include "base/vector.h"
#include "method/common/layout.h"
#include "method/common/stages.h"
#include "method/half_explicit/herk_parts.h"

/* Pivots this small against their row count as 0, and so does such a condition of E. */
static const double SINGULAR = 1e-12;
/* ptol of the thesis, relative */
static const double SINGULAR_THESIS = 1e-15;
/* Entries of E that differ by this part of the largest one have only been rounded otherwise. */
static const double ROUNDING = 1e-14;
/* A selection is bad when an algebraic component moves so much faster with a differential one than
 * it would have to, or than when it was chosen. A change costs a one-step method nothing but the
 * choice, while large derivatives in the chosen coordinates cost steps: on the pendulum 3 takes a
 * fifth more right-hand sides than 1.2, and 1.05 no fewer. */
static const double WORST = 1.2;
/* Multiplications up to which R^-1 S is looked at in full. */
static const double MOST_WORK = 1e5;

/* ---- making and freeing -------------------------------------------------------------------- */

void herk_work_free(void *work)
{
    herk_work *w = work;
    if (!w) return;
    part_free(&w->leading_part);
    part_free(&w->R);
    stacked_free(w->stacked);
    dae_free_all(w->E, w->select_work, w);
}

static bool allocate(herk_work *w)
{
    const size_t count = w->form->g_x_matrix.count;
    const int n = w->n, ng = w->ng, rows = w->ne > ng ? w->ne : ng, longest = w->ne > n ? w->ne : n;
    return SHARED_BLOCK(
        SHARE(w->E, w->form->E_matrix.count), SHARE(w->f, longest), SHARES(w->J, 2, count),
        SHARE(w->E_end, w->form->E_matrix.count), SHARE(w->shifted, n), SHARE(w->g_shifted, ng),
        SHARE(w->g_here, ng), SHARE(w->J_stage, count), SHARE(w->g, ng), SHARE(w->g_t, ng),
        SHARE(w->delta, ng), SHARE(w->correction, n), SHARE(w->dense, 7 * n),
        SHARE(w->dense_stages, HERK_FURTHER * n), SHARE(w->dense_point, 2 * n),
        SHARE(w->row_place, rows), SHARE(w->column_place, n), SHARE(w->algebraic_place, n),
        SHARE(w->algebraic, ng), SHARE(w->chosen, ng + 1), SHARE(w->select_order, n + ng),
        SHARE(w->generation, n), SHARE(w->required, n), SHARE(w->seen, count));
}

void *herk_work_new(const method_context *ctx)
{
    if (!ctx->forms || !ctx->forms->quasilinear) return NULL;
    herk_work *w = DAE_NEW(herk_work);
    if (!w) return NULL;
    w->form = ctx->forms->quasilinear;
    w->places = ctx->forms->quasilinear_places.q;
    w->n = w->form->n;
    w->ng = w->form->ng;
    w->ne = w->form->ne;
    w->eval = ctx->eval;
    if (allocate(w)) return w;
    herk_work_free(w);
    return NULL;
}

void herk_work_persist(void *work, const method_context *ctx, persist *p)
{
    herk_work *w = work;
    (void)ctx;
    PERSIST_STRUCT(p, w, GAPS(herk_work, form, places), GAPS(herk_work, eval, failure),
                   GAP(herk_work, leading_part), GAPS(herk_work, required, stacked),
                   GAPS(herk_work, algebraic_place, J), GAP(herk_work, J_stage),
                   GAPS(herk_work, generation, select_order), GAPS(herk_work, g, correction),
                   GAPS(herk_work, dense, dense_point));
    persist_block(p, w->E); /* and what is behind it */
    part_persist(&w->leading_part, &w->form->E_matrix, p);
    part_persist(&w->R, &w->form->g_x_matrix, p);
    if (w->stacked && stacked_is_sparse(w->stacked))
        persist_refuse(p, "its derivatives come from a large sparse matrix, whose pivots are not "
                          "saved");
}

void herk_work_reset(herk_work *w)
{
    w->leading = LEADING_UNKNOWN;
    w->leading_constant_known = w->selected = w->ended = false;
    w->look = w->factored_end = w->R_current = false;
    w->rate = 1.0;
    w->prepared = w->J_step = 0;
    w->failure = (herk_failure){.component = -1, .constraint = -1};
}

attempt_status herk_fail(herk_work *w, attempt_status status, const char *reason, int component,
                         int constraint)
{
    w->failure = (herk_failure){.reason = reason, .component = component, .constraint = constraint};
    return status;
}

/* ---- evaluations, guarded ------------------------------------------------------------------ */

/* A callback of the form, and what it means that one of its values is not finite */
typedef struct herk_callback {
    const char *name, *reason;
    bool constraint; /* its rows are constraints */
} herk_callback;

static const herk_callback callbacks[] = {
    [HERK_LEADING] = {"E", "an entry of E is not finite", false},
    [HERK_RIGHT_HAND_SIDE] = {"f", "a right-hand side is not finite", false},
    [HERK_CONSTRAINTS] = {"g", "a constraint is not finite", true},
    [HERK_JACOBIAN] = {"g_x", "a derivative of a constraint is not finite", true},
    [HERK_TIME_SLOPE] = {"g_t", "a time derivative of a constraint is not finite", true},
};

/* A value that is not finite is a failure of its callback; m: of which they are, NULL: a vector */
static attempt_status guard(herk_work *w, const herk_callback *c, size_t count,
                            const double *values, const form_matrix *m, double t)
{
    if (vector_all_finite(count, values)) return ATTEMPT_OK;
    const int bad = vector_first_nonfinite((int)count, values);
    int row = bad, column = -1;
    if (m) form_matrix_locate(m, (size_t)bad, &row, &column);
    if (w->eval)
        w->eval->failure = (eval_failure){.callback = c->name,
                                          .component = row,
                                          .variable = herk_place(w, column),
                                          .t = t,
                                          .value = values[bad]};
    return herk_fail(w, ATTEMPT_EVALUATION, c->reason, column, c->constraint ? row : -1);
}

attempt_status herk_evaluate(herk_work *w, herk_function what, double t, const double *x,
                             double *values)
{
    const quasilinear_form *form = w->form;
    eval_status (*const calls[])(void *, double, const double *,
                                 double *) = {form->E, form->f, form->g, form->g_x, form->g_t};
    const form_matrix *m = what == HERK_LEADING    ? &form->E_matrix
                           : what == HERK_JACOBIAN ? &form->g_x_matrix
                                                   : NULL;
    const int rows = callbacks[what].constraint ? w->ng : w->ne;
    if (callbacks[what].constraint && rows == 0) return ATTEMPT_OK;
    if (what == HERK_JACOBIAN && w->config.differences) return herk_difference(w, t, x, values);
    eval_status status = calls[what](form->context, t, x, values);
    if (status != EVAL_OK) return stages_from_evaluation(status);
    return guard(w, &callbacks[what], m ? m->count : (size_t)rows, values, m, t);
}

/* ---- E x' = f ------------------------------------------------------------------------------ */

/* Visit the nonzeros of E: next one at or after position *q, false at the end. */
static bool next_nonzero(const herk_work *w, size_t *q, int *i, int *j)
{
    const form_matrix *m = &w->form->E_matrix;
    for (; *q < m->count; ++*q) {
        if (w->E[*q] == 0.0) continue;
        if (!m->colptr) {
            *i = (int)(*q % (size_t)m->rows);
            *j = (int)(*q / (size_t)m->rows);
            return true;
        }
        while ((size_t)m->colptr[*j + 1] <= *q) ++*j;
        *i = m->rowind[*q];
        return true;
    }
    return false;
}

/* Number the places that are not negative. */
static int number(int count, int *place)
{
    int next = 0;
    for (int i = 0; i < count; i++)
        if (place[i] >= 0) place[i] = next++;
    return next;
}

/* Definition 3.8: rows and columns with entries, and whether they make a square. */
static attempt_status classify_leading(herk_work *w)
{
    int i = 0, j = 0;
    for (i = 0; i < w->ne; i++) w->row_place[i] = -1;
    for (j = 0; j < w->n; j++) w->column_place[j] = -1;
    j = 0;
    for (size_t q = 0; next_nonzero(w, &q, &i, &j); q++) w->row_place[i] = w->column_place[j] = 0;
    int rows = number(w->ne, w->row_place), columns = number(w->n, w->column_place);
    for (j = 0; j < w->n; j++) w->required[j] = w->column_place[j] < 0;
    w->leading = rows == columns ? LEADING_REDUCIBLE : LEADING_GENERAL;
    if (w->leading == LEADING_GENERAL) return ATTEMPT_OK;
    return part_choose(&w->leading_part, &w->form->E_matrix, rows, w->row_place, w->column_place)
               ? ATTEMPT_OK
               : ATTEMPT_MEMORY;
}

/* Whether an entry has appeared outside of the block. */
static bool leading_has_changed(const herk_work *w)
{
    int i = 0, j = 0;
    for (size_t q = 0; next_nonzero(w, &q, &i, &j); q++)
        if (w->row_place[i] < 0 || w->column_place[j] < 0) return true;
    return false;
}

/* Rows of E times or divided by scale_i */
static void scale_leading(herk_work *w, const double *scale, bool divide)
{
    int i = 0, j = 0;
    for (size_t q = 0; next_nonzero(w, &q, &i, &j); q++)
        w->E[q] = divide ? w->E[q] / scale[i] : w->E[q] * scale[i];
}

/* Whether E's block, which is factored, is regular; the units of its rows do not count. */
static bool leading_is_regular(herk_work *w)
{
    linear_solver *solver = w->leading_part.solver;
    if (solver->ops->condition(solver) > SINGULAR) return true;
    double *scale = w->f;
    int i = 0, j = 0;
    vector_zero(w->ne, scale);
    for (size_t q = 0; next_nonzero(w, &q, &i, &j); q++) scale[i] = fmax(scale[i], fabs(w->E[q]));
    for (i = 0; i < w->ne; i++) /* powers of two: no bit of E is lost */
        if (scale[i] > 0.0) scale[i] = ldexp(1.0, ilogb(scale[i]));
    scale_leading(w, scale, true);
    bool regular = part_factor(&w->leading_part, w->E) == LINEAR_OK &&
                   solver->ops->condition(solver) > SINGULAR;
    scale_leading(w, scale, false);
    return regular && part_factor(&w->leading_part, w->E) == LINEAR_OK;
}

/* Whether E is the same everywhere: the user's word, or the form's. */
static bool leading_is_constant(const herk_work *w)
{
    return w->config.constant_E || (w->form->E_matrix.constant && !w->config.variable_E);
}

/* Factors of E's block at (t, x); where there are none E becomes a general one. */
static attempt_status factor_leading(herk_work *w, double t, const double *x)
{
    if (w->leading_constant_known) return ATTEMPT_OK;
    attempt_status status = herk_evaluate(w, HERK_LEADING, t, x, w->E);
    if (status != ATTEMPT_OK) return status;
    if (w->leading == LEADING_UNKNOWN) status = classify_leading(w);
    if (status != ATTEMPT_OK || w->leading == LEADING_GENERAL) return status;
    if (leading_has_changed(w)) {
        w->leading = LEADING_GENERAL;
        return ATTEMPT_OK;
    }
    linear_status factored = part_factor(&w->leading_part, w->E);
    HERK_COUNT(w, factorisations);
    if (factored == LINEAR_MEMORY) return ATTEMPT_MEMORY;
    bool regular = factored == LINEAR_OK;
    if (regular && w->leading_part.size > 0) {
        bool look = leading_is_constant(w) || !w->selected; /* it costs some solves */
        regular = !look || leading_is_regular(w);
    }
    if (!regular) w->leading = LEADING_GENERAL;
    w->leading_constant_known = regular && leading_is_constant(w);
    return ATTEMPT_OK;
}

attempt_status herk_derivative(herk_work *w, double t, const double *x, double *xp)
{
    attempt_status status = ATTEMPT_OK;
    if (w->leading != LEADING_GENERAL) status = factor_leading(w, t, x);
    if (status != ATTEMPT_OK) return status;
    if (w->leading == LEADING_GENERAL) return herk_general_derivative(w, t, x, xp);
    status = herk_evaluate(w, HERK_RIGHT_HAND_SIDE, t, x, w->f);
    if (status != ATTEMPT_OK) return status;
    for (int i = 0; i < w->ne; i++) /* the places grow with i */
        if (w->row_place[i] >= 0) w->f[w->row_place[i]] = w->f[i];
    part_solve(&w->leading_part, w->f);
    HERK_COUNT(w, solves);
    for (int j = 0; j < w->n; j++) xp[j] = w->column_place[j] >= 0 ? w->f[w->column_place[j]] : 0.0;
    return ATTEMPT_OK;
}

attempt_status herk_watch_leading(herk_work *w, double t, const double *x)
{
    const form_matrix *m = &w->form->E_matrix;
    if (!w->config.constant_E || !w->leading_constant_known || m->constant) return ATTEMPT_OK;
    attempt_status status = herk_evaluate(w, HERK_LEADING, t, x, w->E_end);
    if (status != ATTEMPT_OK) return status;
    double most = 0.0;
    for (size_t q = 0; q < m->count; q++) most = fmax(most, fabs(w->E[q]));
    for (size_t q = 0; q < m->count; q++) {
        if (fabs(w->E_end[q] - w->E[q]) <= ROUNDING * most) continue;
        int row = -1, column = -1;
        form_matrix_locate(m, q, &row, &column);
        return herk_fail(w, ATTEMPT_UNSUPPORTED,
                         "E changes, though option Estat of herk (constant_E) says that it does "
                         "not; leave the option out",
                         column, -1);
    }
    return ATTEMPT_OK;
}

/* ---- the algebraic part of a tangent ------------------------------------------------------- */

/* xp^a += R^-1 (-g_t - g_x xp) once; returns max |change| */
static double refine(herk_work *w, const double *J, double *xp)
{
    const form_matrix *m = &w->form->g_x_matrix;
    for (int i = 0; i < w->ng; i++) w->delta[i] = -w->g_t[i];
    matrix_times_part(m, J, w->algebraic_place, true, -1.0, xp, w->delta);
    matrix_times_part(m, J, w->algebraic_place, false, -1.0, xp, w->delta);
    part_solve(&w->R, w->delta);
    HERK_COUNT(w, solves);
    double most = 0.0;
    for (int k = 0; k < w->ng; k++) {
        xp[w->algebraic[k]] += w->delta[k];
        most = fmax(most, fabs(w->delta[k]));
    }
    return most;
}

attempt_status herk_complete_derivative(herk_work *w, double t, const double *x, const double *J,
                                        double *xp)
{
    enum { MOST_REFINEMENTS = 4 };
    if (w->ng == 0 || w->leading == LEADING_GENERAL) return ATTEMPT_OK;
    attempt_status status = herk_evaluate(w, HERK_TIME_SLOPE, t, x, w->g_t);
    if (status != ATTEMPT_OK) return status;
    double size = 0.0, last = INFINITY;
    for (int k = 0; k < MOST_REFINEMENTS; k++) {
        double change = refine(w, J, xp);
        for (int j = 0; j < w->n; j++) size = fmax(size, fabs(xp[j]));
        if (change <= 1e-11 * size) return ATTEMPT_OK;
        if (!(change <= 0.1 * last)) break;
        last = change;
    }
    status = herk_factor(w, J);
    if (status != ATTEMPT_OK) return status;
    w->factored_end = true;
    w->R_current = false;
    for (int k = 0; k < w->ng; k++) xp[w->algebraic[k]] = 0.0;
    refine(w, J, xp);
    refine(w, J, xp);
    return ATTEMPT_OK;
}

void herk_extend(herk_work *w, const double *J, double *e)
{
    if (w->ng == 0) return;
    vector_zero(w->ng, w->delta);
    matrix_times_part(&w->form->g_x_matrix, J, w->algebraic_place, true, -1.0, e, w->delta);
    part_solve(&w->R, w->delta);
    HERK_COUNT(w, solves);
    for (int k = 0; k < w->ng; k++) e[w->algebraic[k]] = w->delta[k];
}

/* ---- the selection --------------------------------------------------------------------------- */

attempt_status herk_factor(herk_work *w, const double *J)
{
    linear_status status = part_factor(&w->R, J);
    HERK_COUNT(w, factorisations);
    HERK_COUNT(w, factor_new_jacobian);
    w->rate = 1.0;
    w->look = true;
    if (status == LINEAR_OK) return ATTEMPT_OK;
    if (status == LINEAR_MEMORY) return ATTEMPT_MEMORY;
    int column = w->R.solver->singular_column;
    return herk_fail(w, ATTEMPT_SINGULAR,
                     "the constraints do not determine a component that was chosen as algebraic",
                     column >= 0 && column < w->ng ? w->algebraic[column] : -1, -1);
}

/* max |R^-1 S| over pairs of components that compete: what a level takes from earlier ones is
 * given, however large. */
static double competition(herk_work *w, const double *J)
{
    double most = 0.0;
    vector_zero(w->n, w->correction);
    for (int j = 0; j < w->n; j++) {
        if (w->algebraic_place[j] >= 0) continue;
        vector_zero(w->ng, w->delta);
        w->correction[j] = 1.0;
        matrix_times_part(&w->form->g_x_matrix, J, w->algebraic_place, true, 1.0, w->correction,
                          w->delta);
        w->correction[j] = 0.0;
        part_solve(&w->R, w->delta);
        for (int k = 0; k < w->ng; k++)
            if (!w->required[w->algebraic[k]] && w->generation[j] >= w->generation[w->algebraic[k]])
                most = fmax(most, fabs(w->delta[k]));
    }
    return most;
}

/* The same for large systems, where every constraint is looked at alone: entries of competing
 * columns against that of the column it is solved for. */
static double competition_by_rows(herk_work *w, const double *J)
{
    const form_matrix *m = &w->form->g_x_matrix;
    double most = 0.0;
    for (int pass = 0; pass < 2; pass++)
        for (int j = 0; j < w->n; j++) {
            size_t q = m->colptr ? (size_t)m->colptr[j] : (size_t)j * (size_t)m->rows;
            size_t end = m->colptr ? (size_t)m->colptr[j + 1] : q + (size_t)m->rows;
            for (size_t first = q; q < end; q++) {
                int i = m->colptr ? m->rowind[q] : (int)(q - first), pivot = w->chosen[i];
                if (pass == 0 && pivot == j) w->delta[i] = fabs(J[q]);
                bool competes = pass == 1 && w->algebraic_place[j] < 0 && !w->required[pivot] &&
                                w->generation[j] >= w->generation[pivot];
                if (competes) most = fmax(most, fabs(J[q]) / w->delta[i]);
            }
        }
    return most;
}

static double selection_quality_of(herk_work *w, const double *J)
{
    if (w->ng == 0) return 1.0;
    double work = (double)(w->n - w->ng) * w->ng * w->ng;
    return work > MOST_WORK ? competition_by_rows(w, J) : competition(w, J);
}

/* A dense copy of g_x */
static void spread(const herk_work *w, const double *J)
{
    const form_matrix *m = &w->form->g_x_matrix;
    if (!m->colptr) {
        vector_copy((int)m->count, J, w->select_work);
        return;
    }
    vector_zero(w->n * w->ng, w->select_work);
    for (int j = 0; j < w->n; j++)
        for (int q = m->colptr[j]; q < m->colptr[j + 1]; q++)
            w->select_work[m->rowind[q] + j * w->ng] = J[q];
}

static select_status choose(herk_work *w, const double *J, int *row, int *column)
{
    const form_matrix *m = &w->form->g_x_matrix;
    double given = w->config.pivot_tolerance;
    if (!w->config.thesis) {
        for (size_t q = 0; q < m->count; q++) w->seen[q] |= m->colptr || J[q] != 0.0;
        return select_by_levels(m, J, w->seen, w->required, given > 0.0 ? given : SINGULAR,
                                w->chosen, w->generation, row, column);
    }
    if (!w->select_work) w->select_work = DAE_ARRAY(double, (size_t)w->n *(size_t)w->ng);
    if (!w->select_work) return SELECT_MEMORY;
    spread(w, J);
    return select_dense(w->ng, w->n, w->select_work, w->required,
                        given > 0.0 ? given : SINGULAR_THESIS, w->select_order, w->chosen, row,
                        column);
}

static attempt_status explain_choice(herk_work *w, select_status status, int row, int column)
{
    if (status == SELECT_MEMORY) return ATTEMPT_MEMORY;
    if (status == SELECT_DEPENDENT)
        return herk_fail(w, ATTEMPT_SINGULAR,
                         "the constraints depend on each other, g_x has not full rank: leave the "
                         "dependent ones out",
                         -1, row);
    return herk_fail(w, ATTEMPT_SINGULAR,
                     "a derivative is not in E x' = f, and no constraint determines its variable "
                     "(Criterion 3.6): hidden constraints are missing",
                     column, -1);
}

attempt_status herk_select(herk_work *w, const double *J)
{
    int row = -1, column = -1;
    if (w->ng > w->n)
        return herk_fail(w, ATTEMPT_SINGULAR, "there are more constraints than components", -1,
                         w->n);
    select_status status = choose(w, J, &row, &column);
    if (status == SELECT_REQUIRED && w->leading == LEADING_GENERAL) {
        for (int j = 0; j < w->n; j++) w->required[j] = false; /* x' is known of all of them */
        status = choose(w, J, &row, &column);
    }
    if (status != SELECT_OK) return explain_choice(w, status, row, column);
    for (int j = 0; j < w->n; j++) w->algebraic_place[j] = -1;
    for (int k = 0; k < w->ng; k++) w->algebraic_place[w->chosen[k]] = 0;
    number(w->n, w->algebraic_place);
    for (int j = 0; j < w->n; j++)
        if (w->algebraic_place[j] >= 0) w->algebraic[w->algebraic_place[j]] = j;
    for (int i = 0; i < w->ng; i++) w->select_order[i] = i; /* all rows, in order */
    if (!part_choose(&w->R, &w->form->g_x_matrix, w->ng, w->select_order, w->algebraic_place))
        return ATTEMPT_MEMORY;
    attempt_status factored = herk_factor(w, J);
    if (factored != ATTEMPT_OK) return factored;
    if (!w->config.thesis) w->quality = selection_quality_of(w, J);
    w->selected = true;
    return ATTEMPT_OK;
}

attempt_status herk_watch(herk_work *w, const double *J)
{
    double quality = selection_quality_of(w, J);
    return quality <= WORST * fmax(1.0, w->quality) ? ATTEMPT_OK : herk_select(w, J);
}
