#include "matrix/iteration.h"

#include "base/diag.h"
#include "base/interrupt.h"
#include "base/memory.h"
#include "base/vector.h"
#include "linalg/elimination_kernel.h"
#include "matrix/jacobian_parts.h"
#include "matrix/shifted.h"

#include <float.h>

/* Of matrix-free mode. */
enum { VECTORS = 9 };

/* A stalled GMRES is still good for an inexact Newton step if it took off this much. */
static const double STALLED_REDUCTION = 0.5;

static iteration_status from_eval(eval_status status)
{
    switch (status) {
    case EVAL_OK: return ITERATION_OK;
    case EVAL_RETRY: return ITERATION_RETRY;
    case EVAL_STOP: return ITERATION_STOP;
    case EVAL_MEMORY: break;
    }
    return ITERATION_MEMORY;
}

/* Whether there are stored partial derivatives: always, but for GMRES with the user's P or none. */
static bool has_matrix(const iteration *it)
{
    return !it->matrix_free || it->preconditioner == DAE_PRECOND_ILU ||
           it->preconditioner == DAE_PRECOND_BANDED;
}

/* ---------------------------------------------------------------------------------------------
 * Life
 * ------------------------------------------------------------------------------------------- */

/* Give up what belongs to the layout. */
static void drop_analysis(iteration *it)
{
    shifted_free(it->shifted);
    linear_free(it->solver);
    ilu_free(it->incomplete);
    dae_free(it->values);
    it->shifted = NULL;
    it->solver = NULL;
    it->incomplete = NULL;
    it->arranged = false;
    it->values = NULL;
    it->counted_repivots = 0;
    it->factored = false;
    it->cj = 0.0;
}

/* Storage and symbolic analysis for the layout, once it is known, and again when it has changed. */
static bool analyse(iteration *it)
{
    const matrix_layout *layout = &it->jac.layout;
    if (it->analysed != it->jac.layout_version) drop_analysis(it);
    it->analysed = it->jac.layout_version;
    if (it->jac.undetected || it->solver || it->incomplete) return true;
    if (!it->values) it->values = DAE_ARRAY(double, layout->count);
    if (!it->values) return false;
    if (it->matrix_free && it->preconditioner == DAE_PRECOND_ILU)
        it->incomplete = ilu_analyse(layout);
    else
        it->solver = linear_new(layout);
    linear_use_kernels(it->solver, it->eval->problem->kernels);
    return it->solver || it->incomplete;
}

/* The user's; else ILU if a pattern is known; else banded. */
static dae_preconditioner choose_preconditioner(const dae_problem *p, dae_preconditioner wanted)
{
    if (wanted != DAE_PRECOND_AUTO) return wanted;
    if (p->form.precond_solve) return DAE_PRECOND_USER;
    bool pattern = p->has_layout && p->layout.kind != DAE_STRUCTURE_DENSE;
    return pattern ? DAE_PRECOND_ILU : DAE_PRECOND_BANDED;
}

static dae_status new_krylov(iteration *it, const dae_options *options, dae_diag *diag)
{
    int n = it->eval->problem->form.n;
    int dimension = options->krylov_dimension > 0 ? options->krylov_dimension : 20;
    if (dimension > n) dimension = n;
    int last = options->krylov_orthogonal > 0 ? options->krylov_orthogonal : dimension;
    it->work = DAE_ARRAY(double, (size_t)VECTORS *(size_t)n);
    if (!it->work || !gmres_new(&it->krylov, n, dimension, last, options->krylov_restarts))
        return diag_set(diag, DAE_ERR_MEMORY,
                        "Out of memory for GMRES with %d vectors of %d unknowns.", dimension, n);
    double **vectors[VECTORS] = {&it->y,  &it->yp,  &it->rhs,   &it->at_y,  &it->at_yp,
                                 &it->cy, &it->cyp, &it->set_y, &it->set_yp};
    for (int k = 0; k < VECTORS; k++) *vectors[k] = it->work + (size_t)k * (size_t)n;
    return DAE_OK;
}

/* The Jacobian that the preconditioner is made of, if any. */
static dae_status new_preconditioner(iteration *it, const dae_options *options, dae_diag *diag)
{
    it->preconditioner = choose_preconditioner(it->eval->problem, options->preconditioner);
    switch (it->preconditioner) {
    case DAE_PRECOND_ILU: return jacobian_new(&it->jac, it->eval, DAE_LINEAR_SPARSE, diag);
    case DAE_PRECOND_BANDED:
        if (options->precond_lower < 0 || options->precond_upper < 0)
            return diag_set(diag, DAE_ERR_ARGUMENT,
                            "precond_lower = %d, precond_upper = %d: bandwidths of the "
                            "preconditioner cannot be negative.",
                            options->precond_lower, options->precond_upper);
        return jacobian_new_band(&it->jac, it->eval, options->precond_lower, options->precond_upper,
                                 diag);
    case DAE_PRECOND_USER:
        if (!it->eval->problem->form.precond_solve)
            return diag_set(diag, DAE_ERR_UNSUPPORTED,
                            "preconditioner = DAE_PRECOND_USER, but the problem has no "
                            "precond_solve callback.");
        return DAE_OK;
    case DAE_PRECOND_NONE: return DAE_OK;
    case DAE_PRECOND_AUTO: break;
    }
    return diag_set(diag, DAE_ERR_ARGUMENT, "preconditioner = %d is not a dae_preconditioner.",
                    (int)it->preconditioner);
}

static dae_status new_parts(iteration *it, const dae_options *options, dae_diag *diag)
{
    int n = it->eval->problem->form.n;
    it->row_scale = DAE_ARRAY(double, n);
    it->column_scale = DAE_ARRAY(double, n);
    it->scaled_rows = DAE_ARRAY(int, n);
    dae_status status = DAE_OK;
    if (!it->row_scale || !it->column_scale || !it->scaled_rows)
        status = diag_set(diag, DAE_ERR_MEMORY, "Out of memory for %d equations.", n);
    if (!status && it->matrix_free) status = new_krylov(it, options, diag);
    if (!status)
        status = it->matrix_free ? new_preconditioner(it, options, diag)
                                 : jacobian_new(&it->jac, it->eval, options->linear_solver, diag);
    if (status) return status;
    if (!has_matrix(it)) { /* freed with jac, which owns nothing else then */
        it->jac.constraint_row = DAE_ARRAY(bool, n);
        it->jac.algebraic_column = DAE_ARRAY(bool, n);
    }
    it->constraint_row = it->jac.constraint_row;
    it->algebraic_column = it->jac.algebraic_column;
    bool ok = it->constraint_row && it->algebraic_column;
    if (ok && has_matrix(it) && !it->later) ok = analyse(it);
    return ok ? DAE_OK
              : diag_set(diag, DAE_ERR_MEMORY,
                         "Out of memory for the iteration matrix of %d equations.", n);
}

static dae_status create(iteration *it, evaluator *eval, const dae_options *options, bool later,
                         dae_diag *diag)
{
    *it = (iteration){.eval = eval, .singular_column = -1, .later = later};
    if (options->linear_solver < DAE_LINEAR_AUTO || options->linear_solver > DAE_LINEAR_GMRES)
        return diag_set(diag, DAE_ERR_ARGUMENT, "linear_solver = %d is not a dae_linear_solver.",
                        (int)options->linear_solver);
    it->matrix_free = options->linear_solver == DAE_LINEAR_GMRES;
    it->interrupt = options->interrupt;
    it->interrupt_user = options->user;
    dae_status status = new_parts(it, options, diag);
    if (status) iteration_free(it);
    return status;
}

dae_status iteration_new(iteration *it, evaluator *eval, const dae_options *options, dae_diag *diag)
{
    return create(it, eval, options, false, diag);
}

dae_status iteration_new_idle(iteration *it, evaluator *eval, const dae_options *options,
                              dae_diag *diag)
{
    return create(it, eval, options, true, diag);
}

void iteration_free(iteration *it)
{
    drop_analysis(it);
    gmres_free(&it->krylov);
    jacobian_free(&it->jac);
    dae_free_all(it->row_scale, it->column_scale, it->scaled_rows, it->work, it->sole,
                 it->sole_row);
    *it = (iteration){.singular_column = -1};
}

iteration_status iteration_reset(iteration *it)
{
    it->factored = it->by_columns = false;
    it->cj = it->at_cj = it->at_h = it->precond_cj = 0.0;
    it->evaluations = it->factored_version = it->soles = 0;
    it->singular_column = -1;
    if (!has_matrix(it)) return ITERATION_OK;
    jacobian_reset(&it->jac);
    drop_analysis(it); /* pivots are chosen once and kept for as long as they are stable */
    return it->later || analyse(it) ? ITERATION_OK : ITERATION_MEMORY;
}

/* What belongs to the layout. */
static void persist_analysis(iteration *it, persist *p)
{
    const bool there = persist_flag(p, it->solver || it->incomplete);
    if (p->reading) {
        drop_analysis(it);
        it->analysed = it->jac.layout_version;
        if (there && persist_ok(p) && !analyse(it)) p->no_memory = true;
    }
    if (!there || !persist_ok(p)) return;
    PERSIST_ARRAY(p, it->values, it->jac.layout.count);
    if (it->incomplete) ilu_persist(it->incomplete, &it->jac.layout, p);
    if (it->solver) linear_persist(it->solver, p);
    shifted_persist(it, p);
}

void iteration_persist(iteration *it, persist *p)
{
    const size_t n = (size_t)it->eval->problem->form.n;
    if (has_matrix(it)) jacobian_persist(&it->jac, p);
    if (has_matrix(it) && persist_ok(p)) persist_analysis(it, p);
    PERSIST_STRUCT(p, it, GAPS(iteration, eval, jac), GAPS(iteration, constraint_row, incomplete),
                   GAPS(iteration, shifted, column_scale), GAP(iteration, scaled_rows),
                   GAPS(iteration, sole, sole_row), GAPS(iteration, work, set_yp),
                   GAP(iteration, point), GAPS(iteration, interrupt, guard));
    if (!persist_ok(p)) return;
    PERSIST_ARRAY(p, it->row_scale, n);
    PERSIST_ARRAY(p, it->column_scale, n);
    PERSIST_ARRAY(p, it->scaled_rows, n);
    PERSIST_OWNED(p, it->sole, n);
    PERSIST_OWNED(p, it->sole_row, n);
    if (it->matrix_free) PERSIST_ARRAY(p, it->work, VECTORS * n);
    /* what the user's P consists of is not ours to save: it is set up where it was */
    if (p->reading && persist_ok(p) && it->factored && it->preconditioner == DAE_PRECOND_USER &&
        evaluate_precond_setup(it->eval, it->set_t, it->set_y, it->set_yp, it->precond_cj) !=
            EVAL_OK)
        persist_refuse(p, "the preconditioner cannot be set up where it was");
}

/* ---------------------------------------------------------------------------------------------
 * Interruption
 * ------------------------------------------------------------------------------------------- */

void iteration_guard_open(iteration *it, iteration_guard *guard)
{
    *guard = (iteration_guard){0};
    if (it->matrix_free && it->interrupt) it->guard = guard;
}

static int never(void *user)
{
    (void)user;
    return 0;
}

/* Written or read where no allocation asks whether to go on: that would end more than an attempt */
static void persist_undisturbed(iteration *it, persist *p)
{
    interrupt_scope scope;
    interrupt_open(&scope, never, NULL);
    iteration_persist(it, p);
    interrupt_close(&scope);
}

/* Before anything changes that later solves depend on */
static void keep_before(iteration *it)
{
    iteration_guard *g = it->guard;
    if (!g || g->written) return;
    g->written = true;
    persist_undisturbed(it, &g->before);
}

bool iteration_guard_close(iteration *it, iteration_guard *guard, bool *lost)
{
    persist *written = &guard->before;
    it->guard = NULL;
    *lost = guard->interrupted && !persist_ok(written);
    if (guard->interrupted && guard->written && !*lost) {
        persist back = {.reading = true, .bytes = written->bytes, .count = written->count};
        persist_undisturbed(it, &back);
        *lost = !persist_ok(&back);
    }
    persist_free(written);
    return guard->interrupted;
}

/* Whether the user wants an end, in a call that is given up as a whole, or in an attempt of which
 * nothing will be left. */
static bool asked_to_stop(iteration *it)
{
    if (interrupted_whole()) return true;
    iteration_guard *g = it->guard;
    if (g && !g->interrupted) g->interrupted = it->interrupt(it->interrupt_user) != 0;
    return g && g->interrupted;
}

/* ---------------------------------------------------------------------------------------------
 * Evaluation
 * ------------------------------------------------------------------------------------------- */

/* Matrix-free solves come back to this point: the user's P may be set up there later. */
static void remember_point(iteration *it, double t, const double *y, const double *yp, double cj,
                           double h)
{
    it->evaluations++;
    if (!it->matrix_free) return;
    int n = it->eval->problem->form.n;
    vector_copy(n, y, it->at_y);
    vector_copy(n, yp, it->at_yp);
    it->at_t = t;
    it->at_cj = cj;
    it->at_h = h;
}

iteration_status iteration_evaluate(iteration *it, double t, const double *y, const double *yp,
                                    double cj, double h, const double *weights, const double *f0)
{
    if (it->given_up) return ITERATION_RETRY;
    keep_before(it);
    it->factored = false;
    it->cj = 0.0;
    remember_point(it, t, y, yp, cj, h);
    if (!has_matrix(it)) return ITERATION_OK;
    it->jac.ahead = h;
    eval_status status = jacobian_evaluate(&it->jac, t, y, yp, h, weights, f0);
    if (!analyse(it)) return ITERATION_MEMORY;
    return from_eval(status);
}

iteration_status iteration_evaluate_leading(iteration *it, double t, const double *y,
                                            const double *yp, double h, const double *weights)
{
    it->factored = false;
    it->cj = 0.0;
    it->soles = 0;
    return from_eval(jacobian_evaluate_leading(&it->jac, t, y, yp, h, weights));
}

bool iteration_distrust(iteration *it)
{
    return has_matrix(it) && jacobian_distrust(&it->jac);
}

/* ---------------------------------------------------------------------------------------------
 * Factorisation
 * ------------------------------------------------------------------------------------------- */

/* List the constraint rows, to be multiplied by cj. */
static void scale_constraints(iteration *it, double cj)
{
    int n = it->jac.layout.n;
    it->scaled_count = 0;
    for (int i = 0; i < n; i++) {
        bool scaled = it->constraint_row[i] && cj != 0.0;
        it->row_scale[i] = scaled ? cj : 1.0;
        if (scaled) it->scaled_rows[it->scaled_count++] = i;
    }
}

/* values = D (dF/dy + cj dF/dy'), D = cj on constraint rows and 1 elsewhere; for compressed columns
 * in one pass */
static void combine_sparse(iteration *it, double cj)
{
    const matrix_layout *layout = &it->jac.layout;
    const double *restrict a = it->jac.dfdy, *restrict b = it->jac.dfdyp;
    const double *restrict scale = it->row_scale;
    double *restrict values = it->values;
    for (size_t k = 0; k < layout->count; k++)
        values[k] = (a[k] + cj * b[k]) * scale[layout->rowind[k]];
}

/* The same for dense and banded: the rows with a factor are few, so they follow column by column
 * while the column is in cache. */
static void combine_columns(iteration *it, double cj)
{
    const matrix_layout *layout = &it->jac.layout;
    const double *restrict a = it->jac.dfdy, *restrict b = it->jac.dfdyp;
    double *restrict values = it->values;
    for (int c = 0; c < layout->n; c++) {
        matrix_column column = layout_column(layout, c);
        size_t end = column.first + (size_t)column.count;
        for (size_t k = column.first; k < end; k++) values[k] = a[k] + cj * b[k];
        for (int s = 0; s < it->scaled_count; s++) {
            int row = it->scaled_rows[s] - column.top;
            if (row >= 0 && row < column.count) values[column.first + (size_t)row] *= cj;
        }
    }
}

static void combine(iteration *it, double cj)
{
    const jacobian *jac = &it->jac;
    scale_constraints(it, cj);
    if (it->scaled_count == 0)
        matrix_combine(&jac->layout, 1.0, jac->dfdy, cj, jac->dfdyp, it->values);
    else if (jac->layout.kind == DAE_STRUCTURE_SPARSE)
        combine_sparse(it, cj);
    else
        combine_columns(it, cj);
}

void iteration_count_beside(iteration *it)
{
    dae_stats *stats = it->eval->stats;
    stats->factorisations++;
    if (it->renewed)
        stats->factor_new_jacobian++;
    else
        stats->factor_step_changed++;
}

/* Count a factorisation and its cause. */
static void count_factorization(iteration *it)
{
    it->renewed = it->factored_version != it->evaluations;
    it->factored_version = it->evaluations;
    iteration_count_beside(it);
}

/* Factor it->values: the matrix, or the preconditioner made of it. */
static iteration_status factor_values(iteration *it)
{
    it->singular_column = -1;
    if (it->incomplete) {
        if (!it->arranged) ilu_arrange(it->incomplete, &it->jac.layout, it->values);
        it->arranged = true;
        ilu_factor(it->incomplete, it->values); /* replaced pivots still precondition */
        return ITERATION_OK;
    }
    linear_status status = linear_factor(it->solver, it->values);
    it->eval->stats->repivots += it->solver->repivots - it->counted_repivots;
    it->counted_repivots = it->solver->repivots;
    if (status == LINEAR_MEMORY) return ITERATION_MEMORY;
    if (status == LINEAR_OK) return ITERATION_OK;
    it->singular_column = it->solver->singular_column;
    return ITERATION_SINGULAR;
}

/* The user's setup of P at shift cj. */
static iteration_status set_up_preconditioner(iteration *it, double cj, const linear_point *at)
{
    if (it->preconditioner != DAE_PRECOND_USER) return ITERATION_OK;
    it->eval->stats->jacobians++;
    const int n = it->eval->problem->form.n;
    it->precond_cj = cj;
    it->set_t = at ? at->t : it->at_t;
    vector_copy(n, at ? at->y : it->at_y, it->set_y);
    vector_copy(n, at ? at->yp : it->at_yp, it->set_yp);
    return from_eval(evaluate_precond_setup(it->eval, it->set_t, it->set_y, it->set_yp, cj));
}

/* What follows a factorisation for shift cj */
static iteration_status factored(iteration *it, double cj, iteration_status status)
{
    if (it->preconditioner != DAE_PRECOND_NONE) count_factorization(it);
    it->factorings++;
    it->factored = status == ITERATION_OK;
    it->cj = it->factored ? cj : 0.0;
    return status;
}

iteration_status iteration_factor_beside(iteration *it, double cj, void (*combined)(void *),
                                         void *data)
{
    keep_before(it);
    it->factored = false;
    it->by_columns = false;
    if (!it->jac.valid) return ITERATION_RETRY;
    combine(it, cj);
    if (combined) combined(data);
    return factored(it, cj, factor_values(it));
}

iteration_status iteration_factor(iteration *it, double cj, const linear_point *at)
{
    if (has_matrix(it)) return iteration_factor_beside(it, cj, NULL, NULL);
    keep_before(it);
    it->factored = false;
    it->by_columns = false;
    return factored(it, cj, set_up_preconditioner(it, cj, at));
}

/* sign(h y'_c) max(|y_c|, |h y'_c|, weight_c) sqrt(u) (5.2.17), as far as y_c can move by it */
static double increment_together(const double *y, const double *yp, double h, const double *weights,
                                 int c)
{
    double size = fmax(fmax(fabs(y[c]), fabs(h * yp[c])), weights[c]) * sqrt(DBL_EPSILON);
    volatile double moved = y[c] + copysign(size, h * yp[c]);
    return moved - y[c];
}

/* Column c of it->values = (f1 - f0) / increment; (y_c, y'_c) goes back to where it was. */
static void store_together(iteration *it, int c, const double *y, const double *yp,
                           const double *f0)
{
    jacobian *jac = &it->jac;
    double inverse = 1.0 / (jac->y[c] - y[c]);
    matrix_column column = layout_column(jacobian_source(jac), c);
    for (int k = 0; k < column.count; k++) {
        int row = column_row(&column, k);
        size_t at = layout_place(&jac->layout, row, c);
        if (at != SIZE_MAX)
            it->values[at] = (jac->f1[row] - f0[row]) * inverse * it->row_scale[row];
    }
    jac->y[c] = y[c];
    jac->yp[c] = yp[c];
}

/* it->values = D (dF/dy + cj dF/dy') by differences, group by group */
static eval_status difference_together(iteration *it, double t, const double *y, const double *yp,
                                       double cj, double h, const double *weights, const double *f0)
{
    jacobian *jac = &it->jac;
    const coloring *groups = &jac->groups;
    vector_copy(jac->layout.n, y, jac->y);
    vector_copy(jac->layout.n, yp, jac->yp);
    for (int g = 0; g < groups->groups; g++) {
        for (int k = groups->start[g]; k < groups->start[g + 1]; k++) {
            int c = groups->column[k];
            double step = increment_together(y, yp, h, weights, c);
            jac->y[c] = y[c] + step;
            jac->yp[c] = yp[c] + cj * step;
        }
        eval_status status = evaluate_residual(it->eval, t, jac->y, jac->yp, jac->f1,
                                               &it->eval->stats->jacobian_residuals);
        if (status) return status;
        for (int k = groups->start[g]; k < groups->start[g + 1]; k++)
            store_together(it, groups->column[k], y, yp, f0);
    }
    it->eval->stats->jacobians++;
    return EVAL_OK;
}

iteration_status iteration_renew_together(iteration *it, double t, const double *y,
                                          const double *yp, double cj, double h,
                                          const double *weights, const double *f0)
{
    bool parts = it->matrix_free || it->eval->problem->form.jacobian || it->jac.undetected;
    iteration_status status = ITERATION_OK;
    if (parts) {
        status = iteration_evaluate(it, t, y, yp, cj, h, weights, f0);
        return status == ITERATION_OK ? iteration_factor(it, cj, NULL) : status;
    }
    it->factored = it->by_columns = it->jac.valid = false;
    it->cj = 0.0;
    it->evaluations++;
    scale_constraints(it, cj);
    status = from_eval(difference_together(it, t, y, yp, cj, h, weights, f0));
    return status == ITERATION_OK ? factored(it, cj, factor_values(it)) : status;
}

/* Column factors 2^-k, so that the largest entry of the column is about 1: pivots are the same with
 * and without, but none vanishes because another column made its rows large (a diode far beyond its
 * range does, by 1e20). */
static void scale_to_unit_columns(iteration *it)
{
    const matrix_layout *layout = &it->jac.layout;
    matrix_extents(layout, it->values, NULL, it->column_scale);
    for (int c = 0; c < layout->n; c++) {
        int exponent = 0;
        double most = it->column_scale[c];
        if (most > 0.0 && isfinite(most)) frexp(most, &exponent);
        it->column_scale[c] = ldexp(1.0, exponent < -1000 ? 1000 : -exponent);
        matrix_column column = layout_column(layout, c);
        for (int k = 0; k < column.count; k++)
            it->values[column.first + (size_t)k] *= it->column_scale[c];
    }
}

/* Row factors 1/max|row|; rows that are zero keep 1 and show as singular. */
static void scale_to_unit_rows(iteration *it)
{
    const matrix_layout *layout = &it->jac.layout;
    matrix_extents(layout, it->values, it->row_scale, NULL);
    it->scaled_count = layout->n;
    for (int i = 0; i < layout->n; i++) {
        it->row_scale[i] = it->row_scale[i] > 0.0 ? 1.0 / it->row_scale[i] : 1.0;
        it->scaled_rows[i] = i;
    }
    matrix_scale_rows(layout, it->row_scale, it->values);
}

/* Shift of the user's P that suits the columns: 0 if no y' is sought, else that of the evaluation,
 * or 1/h. */
static double columns_shift(const iteration *it, const double *cyp)
{
    int n = it->eval->problem->form.n;
    for (int j = 0; j < n; j++)
        if (cyp[j] != 0.0) {
            if (it->at_cj != 0.0) return it->at_cj;
            return it->at_h != 0.0 ? 1.0 / it->at_h : 1.0;
        }
    return 0.0;
}

iteration_status iteration_factor_columns(iteration *it, const double *cy, const double *cyp)
{
    const jacobian *jac = &it->jac;
    int n = it->eval->problem->form.n;
    it->factored = false;
    it->cj = 0.0;
    it->by_columns = true;
    if (it->matrix_free) {
        vector_copy(n, cy, it->cy);
        vector_copy(n, cyp, it->cyp);
    }
    iteration_status status;
    if (!has_matrix(it)) {
        status = set_up_preconditioner(it, columns_shift(it, cyp), NULL);
    } else {
        if (!jac->valid) return ITERATION_RETRY;
        matrix_combine_columns(&jac->layout, cy, jac->dfdy, cyp, jac->dfdyp, it->values);
        scale_to_unit_rows(it);
        scale_to_unit_columns(it);
        status = factor_values(it);
    }
    return factored(it, 0.0, status);
}

/* ---------------------------------------------------------------------------------------------
 * Solution
 * ------------------------------------------------------------------------------------------- */

/* b := A^-1 b, or P^-1 b, with the factors of D A, or D A E. */
static void solve_factored(iteration *it, double *b)
{
    for (int s = 0; s < it->scaled_count; s++) {
        int row = it->scaled_rows[s];
        b[row] *= it->row_scale[row];
    }
    if (it->incomplete)
        ilu_solve(it->incomplete, b);
    else
        linear_solve(it->solver, b);
    for (int c = 0; it->by_columns && c < it->jac.layout.n; c++) b[c] *= it->column_scale[c];
}

/* b := P^-1 b by the user's callback: P of the last setup, or of the current shift if there is no
 * setup. For column factors the matrix is close to P S with S_j = cyp_j/cj where y'_j is the
 * unknown and cy_j elsewhere [BCP96 (7.5.35)]. */
static eval_status solve_user(iteration *it, double *b)
{
    const linear_point *p = it->point;
    bool current = !it->eval->problem->form.precond_setup && !it->by_columns;
    double cj = current ? p->cj : it->precond_cj;
    eval_status status = evaluate_precond_solve(it->eval, p->t, p->y, p->yp, cj, b);
    if (status || !it->by_columns) return status;
    int n = it->eval->problem->form.n;
    for (int j = 0; j < n; j++) {
        double scale = it->cyp[j] != 0.0 ? it->cyp[j] / it->precond_cj : it->cy[j];
        if (scale != 0.0) b[j] /= scale;
    }
    return EVAL_OK;
}

static int precondition(void *context, double *b)
{
    iteration *it = context;
    if (it->preconditioner == DAE_PRECOND_USER) return solve_user(it, b);
    if (it->preconditioner != DAE_PRECOND_NONE) solve_factored(it, b);
    return EVAL_OK;
}

/* av = F(t, y + a.v, y' + b.v) - F(t, y, y') with a = 1 and b = cj, or the column factors. v has
 * weighted norm 1, so that the difference stays within the tolerances: sigma = 1 [BCP96 (7.5.8)].
 */
static eval_status difference_product(iteration *it, const double *v, double *av)
{
    const linear_point *p = it->point;
    int n = it->eval->problem->form.n;
    for (int j = 0; j < n; j++) {
        it->y[j] = p->y[j] + (it->by_columns ? it->cy[j] : 1.0) * v[j];
        it->yp[j] = p->yp[j] + (it->by_columns ? it->cyp[j] : p->cj) * v[j];
    }
    eval_status status =
        evaluate_residual(it->eval, p->t, it->y, it->yp, av, &it->eval->stats->jacobian_residuals);
    for (int i = 0; i < n; i++) av[i] -= p->f[i];
    return status;
}

/* av = dF/dy (cy.v) + dF/dy' (cyp.v) from products A(cj) w = dF/dy w + cj dF/dy' w, as
 * A(0) ((cy - cyp).v) + A(1) (cyp.v) */
static eval_status columns_product(iteration *it, const double *v, double *av)
{
    const linear_point *p = it->point;
    int n = it->eval->problem->form.n;
    for (int j = 0; j < n; j++) it->y[j] = (it->cy[j] - it->cyp[j]) * v[j];
    eval_status status = evaluate_jac_times(it->eval, p->t, p->y, p->yp, 0.0, it->y, av);
    if (status) return status;
    for (int j = 0; j < n; j++) it->y[j] = it->cyp[j] * v[j];
    status = evaluate_jac_times(it->eval, p->t, p->y, p->yp, 1.0, it->y, it->yp);
    vector_axpy(n, 1.0, it->yp, av);
    return status;
}

static int multiply(void *context, const double *v, double *av)
{
    iteration *it = context;
    const linear_point *p = it->point;
    if (asked_to_stop(it)) return EVAL_STOP;
    if (!it->eval->problem->form.jac_times) return difference_product(it, v, av);
    if (it->by_columns) return columns_product(it, v, av);
    return evaluate_jac_times(it->eval, p->t, p->y, p->yp, p->cj, v, av);
}

/* Whether a stalled GMRES reduced ||P^-1 r|| enough for its x to be of use; rhs is overwritten. */
static bool reduction_is_real(iteration *it)
{
    if (precondition(it, it->rhs) != EVAL_OK) return false;
    double before = vector_wrms(it->krylov.n, it->rhs, it->point->scale);
    return it->krylov.residual <= STALLED_REDUCTION * before;
}

static iteration_status solve_krylov(iteration *it, const linear_point *point, double *b)
{
    it->point = point;
    vector_copy(it->krylov.n, b, it->rhs);
    gmres_precond precond = it->preconditioner == DAE_PRECOND_NONE ? NULL : precondition;
    gmres_status status =
        gmres_solve(&it->krylov, multiply, precond, it, point->scale, point->tolerance, b);
    it->eval->stats->linear_iterations += it->krylov.iterations;
    it->leftover = status == GMRES_OK ? 0.0 : it->krylov.residual;
    const bool unmet = status == GMRES_STALLED || status == GMRES_FAILED;
    it->unmet += unmet;
    it->given_up = it->impatient && unmet;
    iteration_status result = ITERATION_RETRY;
    if (status == GMRES_CALLBACK)
        result = from_eval((eval_status)it->krylov.callback_code);
    else if (status == GMRES_OK ||
             (status == GMRES_STALLED && !it->given_up && reduction_is_real(it)))
        result = ITERATION_OK;
    it->point = NULL;
    return result;
}

iteration_status iteration_solve(iteration *it, const linear_point *point, double *b)
{
    if (!it->factored || it->given_up) return ITERATION_RETRY;
    it->eval->stats->solves++;
    if (it->matrix_free) return solve_krylov(it, point, b);
    solve_factored(it, b);
    return ITERATION_OK;
}

bool iteration_expect_apply(iteration *it)
{
    const int n = it->eval->problem->form.n;
    if (it->matrix_free) return true;
    if (!it->sole) it->sole = DAE_ARRAY(double, n);
    if (!it->sole_row) it->sole_row = DAE_ARRAY(int, n);
    return it->sole && it->sole_row;
}

/* Whether no column of dF/dy' has two entries; those that there are, and their rows */
static bool find_soles(iteration *it)
{
    const matrix_layout *layout = &it->jac.layout;
    for (int c = 0; c < layout->n; c++) {
        matrix_column column = layout_column(layout, c);
        it->sole[c] = 0.0;
        it->sole_row[c] = 0;
        for (int k = 0; k < column.count; k++) {
            const double value = it->jac.dfdyp[column.first + (size_t)k];
            if (value == 0.0) continue;
            if (it->sole[c] != 0.0) return false;
            it->sole[c] = value;
            it->sole_row[c] = column_row(&column, k);
        }
    }
    return true;
}

void iteration_prepare_apply(iteration *it)
{
    bool expected = it->sole && it->sole_row && !it->matrix_free && it->jac.valid;
    it->soles = expected && find_soles(it) ? it->evaluations : 0;
}

/* b = dF/dy' x, one entry a column */
static void apply_soles(const iteration *it, const double *x, double *b)
{
    const int n = it->jac.layout.n;
    vector_zero(n, b);
    for (int c = 0; c < n; c++) b[it->sole_row[c]] += it->sole[c] * x[c];
}

iteration_status iteration_apply_yp(iteration *it, const linear_point *point, const double *x,
                                    double *b)
{
    int n = it->eval->problem->form.n;
    double *moved = it->matrix_free ? it->yp : it->jac.yp;
    if (it->soles > 0 && it->soles == it->evaluations) {
        apply_soles(it, x, b);
        return ITERATION_OK;
    }
    if (!it->matrix_free && it->jac.valid) {
        matrix_multiply(&it->jac.layout, it->jac.dfdyp, x, b);
        return ITERATION_OK;
    }
    if (!point || !point->f) return ITERATION_RETRY;
    /* A perturbation of y' as large as |cj| times one of y of weighted norm 1. */
    double norm = vector_wrms(n, x, point->scale);
    vector_zero(n, b);
    if (norm == 0.0) return ITERATION_OK;
    double sigma = (point->cj != 0.0 ? fabs(point->cj) : 1.0) / norm;
    for (int j = 0; j < n; j++) moved[j] = point->yp[j] + sigma * x[j];
    eval_status status = evaluate_residual(it->eval, point->t, point->y, moved, b,
                                           &it->eval->stats->jacobian_residuals);
    for (int i = 0; i < n; i++) b[i] = (b[i] - point->f[i]) / sigma;
    return from_eval(status);
}

bool iteration_has_entries(const iteration *it)
{
    return it->values && (!it->matrix_free || it->preconditioner == DAE_PRECOND_ILU);
}

double iteration_condition(iteration *it)
{
    if (it->matrix_free || !it->factored) return -1.0;
    return it->solver->ops->condition(it->solver);
}
