/* Consistent initial values: which problem is solved, and what is tried when it has no solution. */
#include "init/init.h"

#include <float.h>
#include <math.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"
#include "init/workspace.h"

/* ---- life ---- */

static bool allocate(initializer *init)
{
    const size_t n = (size_t)init->n;
    init->derivative = DAE_ARRAY(bool, n);
    init->y_tags = DAE_ARRAY(dae_tag, n);
    init->yp_tags = DAE_ARRAY(dae_tag, n);
    init->rows.variable = DAE_ARRAY(int, n);
    init->fixed = DAE_ARRAY(bool, n);
    if (!init->fixed || !init->derivative || !init->y_tags || !init->yp_tags ||
        !init->rows.variable)
        return false;
    if (!SHARED_BLOCK(SHARE(init->weights, n), SHARE(init->y, n), SHARE(init->yp, n),
                      SHARE(init->f, n), SHARE(init->ynew, n), SHARE(init->ypnew, n),
                      SHARE(init->fnew, n), SHARE(init->unit, n), SHARE(init->cy, n),
                      SHARE(init->cyp, n), SHARE(init->dx, n), SHARE(init->dxbar, n),
                      SHARE(init->scale, n), SHARE(init->spread, n), SHARE(init->rows.unit, n),
                      SHARE(init->rows.roundoff, n)))
        return false;
    if (n > RANK_TEST_LIMIT || init->matrix->matrix_free) return true;
    init->rank_matrix = DAE_ARRAY(double, n *n);
    return init->rank_matrix && least_squares_new(&init->rank, init->n, init->n);
}

/* Whether general solves are to be expected, so that their memory is taken at once. */
static bool wants_general(const initializer *init)
{
    const dae_residual *form = &init->eval->problem->form;
    const dae_options *options = init->options;
    if (options->init == DAE_INIT_GENERAL) return true;
    if (options->init != DAE_INIT_AUTO) return false;
    return options->y_tags || options->yp_tags || form->condition_count > 0;
}

dae_status initializer_new(initializer **init, evaluator *eval, iteration *matrix,
                           const dae_options *options, dae_diag *diag)
{
    *init = NULL;
    initializer *new = DAE_NEW(initializer);
    if (!new) return report_memory(diag);
    new->eval = eval;
    new->matrix = matrix;
    new->options = options;
    new->n = eval->problem->form.n;
    dae_status status = allocate(new) ? DAE_OK : report_memory(diag);
    if (status == DAE_OK && wants_general(new)) status = general_new(new, diag);
    if (status != DAE_OK) {
        initializer_free(new);
        return status;
    }
    *init = new;
    return DAE_OK;
}

void initializer_persist(initializer *init, persist *p)
{
    PERSIST_STRUCT(p, init, GAPS(initializer, eval, options), GAP(initializer, call),
                   GAPS(initializer, guessed, deflation), GAP(initializer, slope_of),
                   GAPS(initializer, weights, yp_tags), GAPS(initializer, rows.unit, rows.variable),
                   GAP(initializer, fixed), GAPS(initializer, rank_matrix, general));
    persist_block(p, init->weights); /* and what is behind it */
    if (init->rows.variable) PERSIST_ARRAY(p, init->rows.variable, init->n);
    if (init->derivative) PERSIST_ARRAY(p, init->derivative, init->n);
    if (init->fixed) PERSIST_ARRAY(p, init->fixed, init->n);
}

void initializer_free(initializer *init)
{
    if (!init) return;
    general_free(init->general);
    least_squares_free(&init->rank);
    dae_free_all(init->rank_matrix, init->weights, init->derivative, init->fixed, init->y_tags,
                 init->yp_tags, init->rows.variable, init);
}

bool *initializer_fixed(initializer *init)
{
    return init->fixed;
}

void initializer_guessed(initializer *init, bool *guessed)
{
    init->guessed = guessed;
}

void initializer_nearest(initializer *init, bool nearest)
{
    init->nearest = nearest;
}

void initializer_rescued(initializer *init, bool rescued)
{
    init->rescued = rescued;
}

void initializer_slopes(initializer *init, int first, const int *slope_of)
{
    init->slope_of = slope_of;
    init->first_slope = first;
}

int initializer_other(const initializer *init, double *value, bool *slope)
{
    *value = init->other_value;
    *slope = init->other >= 0 && init->derivative[init->other];
    return init->other;
}

/* ---- one call ---- */

/* The call begins: its point, and the scales there. */
static void begin(initializer *init, const start *s, const double *y, const double *yp)
{
    init->call = s;
    vector_copy(init->n, y, init->y);
    vector_copy(init->n, yp, init->yp);
    scales_weights(init, y);
    init->T = scales_time(init, 0.0, y, yp);
}

static void load(initializer *init, const start *s)
{
    begin(init, s, s->y, s->yp);
}

/* Newton's unknowns: y' of differential variables, y of the others. */
static void seek_by_kind(initializer *init, const dae_kind *kinds)
{
    for (int j = 0; j < init->n; j++) {
        bool derivative = kinds[j] == DAE_KIND_DIFFERENTIAL;
        if (init->derivative[j] != derivative) init->kept = 0;
        init->derivative[j] = derivative;
    }
}

/* F, and Newton's matrix with its factors, at the point. */
static engine_outcome look(initializer *init, bool reuse_derivatives)
{
    init->rows.known = false;
    eval_status status = evaluate_residual(init->eval, init->call->t, init->y, init->yp, init->f,
                                           &init->eval->stats->residuals);
    return status == EVAL_OK ? newton_matrix(init, reuse_derivatives) : engine_from(status);
}

static bool has_kind(const initializer *init, const start *s, dae_kind kind)
{
    for (int j = 0; j < init->n; j++)
        if (s->kinds[j] == kind) return true;
    return false;
}

static engine_outcome run_newton(initializer *init, const start *s, bool test_rank)
{
    load(init, s);
    init->test_rank = test_rank;
    return damped_newton(init);
}

static dae_status finish_newton(initializer *init, const start *s, engine_outcome status,
                                dae_diag *diag)
{
    vector_copy(init->n, init->y, s->y);
    vector_copy(init->n, init->yp, s->yp);
    return status == ENGINE_MET ? DAE_OK : report_newton(init, status, diag);
}

/* Solve by the general engine, leaving the user's values alone on failure. */
static dae_status try_general(initializer *init, const start *s, bool differentiate, dae_diag *diag)
{
    load(init, s);
    general_task task = {init->y_tags, init->yp_tags, differentiate, false};
    dae_status status = general_solve(init, &task, init->y, init->yp, diag);
    if (status != DAE_OK) return status;
    vector_copy(init->n, init->y, s->y);
    vector_copy(init->n, init->yp, s->yp);
    return DAE_OK;
}

static void tag_by_kind(initializer *init, const start *s, dae_tag differential, dae_tag algebraic)
{
    for (int j = 0; j < init->n; j++) {
        bool is_differential = s->kinds[j] == DAE_KIND_DIFFERENTIAL;
        init->y_tags[j] = is_differential ? differential : algebraic;
        if (init->fixed[j]) init->y_tags[j] = DAE_TAG_FIXED;
        /* y' of algebraic variables is vague as y'' is: it moves only if it must */
        init->yp_tags[j] = is_differential ? DAE_TAG_FREE : DAE_TAG_GUESS;
    }
}

/* Put back and fix the components that hardly moved from `before`: what the equations do not force
 * stays as it was given. Returns whether there are any. */
static bool restore_still(initializer *init, const start *s, const double *before)
{
    double most = 0.0;
    bool any = false;
    for (int j = 0; j < init->n; j++)
        if (init->y_tags[j] == DAE_TAG_GUESS)
            most = fmax(most, fabs(s->y[j] - before[j]) / init->weights[j]);
    for (int j = 0; j < init->n; j++) {
        if (init->y_tags[j] != DAE_TAG_GUESS) continue;
        if (fabs(s->y[j] - before[j]) > 1e-3 * most * init->weights[j]) continue;
        init->y_tags[j] = DAE_TAG_FIXED;
        s->y[j] = before[j];
        any = true;
    }
    return any;
}

/* Mark the rows of F that contain a variable without a derivative. */
static void rows_of_algebraic(const initializer *init, const start *s, bool *rows)
{
    const jacobian *jac = &init->matrix->jac;
    for (int j = 0; j < init->n; j++) {
        const matrix_column c = layout_column(&jac->layout, j);
        for (int k = 0; s->kinds[j] != DAE_KIND_DIFFERENTIAL && k < c.count; k++)
            if (jac->dfdy[c.first + (size_t)k] != 0.0) rows[column_row(&c, k)] = true;
    }
}

/* Hold the differential y that are not driven: whose derivatives are in no row beside a variable
 * without one. Multipliers act on velocities, not on positions, and as they act values go back to
 * the constraints of index 2 [AP91]. Whether anything is held, and something may move. */
static bool hold_undriven(initializer *init, const start *s)
{
    const jacobian *jac = &init->matrix->jac;
    bool *rows = init->matrix->matrix_free || !jac->valid ? NULL : DAE_ARRAY(bool, init->n);
    int held = 0, moving = 0;
    if (!rows) return false;
    rows_of_algebraic(init, s, rows);
    for (int j = 0; j < init->n; j++) {
        const matrix_column c = layout_column(&jac->layout, j);
        bool driven = false;
        for (int k = 0; k < c.count && !driven; k++)
            driven = jac->dfdyp[c.first + (size_t)k] != 0.0 && rows[column_row(&c, k)];
        if (init->y_tags[j] != DAE_TAG_GUESS) continue;
        if (!driven) init->y_tags[j] = DAE_TAG_FIXED;
        held += !driven;
        moving += driven;
    }
    dae_free(rows);
    return held > 0 && moving > 0;
}

/* By the differential y that algebraic ones drive alone; if that cannot be, by all. */
static dae_status move_guesses(initializer *init, const start *s, dae_diag *diag)
{
    tag_by_kind(init, s, DAE_TAG_GUESS, DAE_TAG_FREE);
    if (hold_undriven(init, s)) {
        dae_status status = try_general(init, s, true, diag);
        if (status != DAE_ERR_INITIAL || !init->conflict) return status;
        if (diag) diag_clear(diag);
    }
    tag_by_kind(init, s, DAE_TAG_GUESS, DAE_TAG_FREE);
    return try_general(init, s, true, diag);
}

/* Differential y cannot all stay: move as few of them as little as possible. */
static dae_status move_differential(initializer *init, const start *s, dae_diag *diag)
{
    int n = init->n;
    double *before = init->dx; /* unused by general solves */
    vector_copy(n, s->y, before);
    dae_status status = move_guesses(init, s, diag);
    if (status != DAE_OK) return status;
    vector_copy(n, s->y, init->ynew); /* nor are these */
    vector_copy(n, s->yp, init->ypnew);
    if (!restore_still(init, s, before)) return DAE_OK;
    if (try_general(init, s, true, diag) != DAE_OK) {
        vector_copy(n, init->ynew, s->y);
        vector_copy(n, init->ypnew, s->yp);
    }
    return DAE_OK;
}

/* Hidden constraints take part: fixed differential y first, moved ones if they conflict. */
static dae_status start_hidden(initializer *init, const start *s, dae_diag *diag)
{
    tag_by_kind(init, s, DAE_TAG_FIXED, DAE_TAG_FREE);
    dae_status status = try_general(init, s, true, diag);
    if (status != DAE_ERR_INITIAL || !init->conflict) return status;
    return move_differential(init, s, diag);
}

/* Whether all |F_i| at the given values are below the tolerance in units of their rows. */
static bool residual_met(const initializer *init)
{
    if (!init->rows.known || init->iterations > 0) return false;
    for (int i = 0; i < init->n; i++) {
        double noise = 100.0 * DBL_EPSILON * init->rows.roundoff[i];
        if (!(fabs(init->f[i]) <= init->options->init_tolerance * init->rows.unit[i] + noise))
            return false;
    }
    return true;
}

/* The same, computing what it needs. */
static engine_outcome residual_small(initializer *init, const start *s, bool *small)
{
    load(init, s);
    init->iterations = 0;
    init->blocking = -1;
    seek_by_kind(init, s->kinds);
    engine_outcome newton = look(init, false);
    if (newton == ENGINE_SINGULAR) newton = ENGINE_MET;
    *small = newton == ENGINE_MET && residual_met(init);
    return newton;
}

/* Newton's unknowns that are guessed 0 from other guesses. DAE_OK: found. */
static bool found_elsewhere(initializer *init)
{
    if (init->n > FALLBACK_LIMIT) return false;
    double *found = DAE_ARRAY(double, 2 * (size_t)init->n);
    bool ok = found && newton_elsewhere(init, found) == ENGINE_MET;
    dae_free(found);
    return ok;
}

/* The general engine, for a matrix that is singular by its structure; else the failure in words. */
static dae_status start_generally(initializer *init, const start *s, bool singular, dae_diag *diag)
{
    tag_by_kind(init, s, DAE_TAG_FIXED, DAE_TAG_GUESS);
    dae_status status = singular ? start_hidden(init, s, diag) : try_general(init, s, true, diag);
    if (status == DAE_OK) diag_clear(diag);
    if (status == DAE_OK || status == DAE_ERR_CALLBACK || status == DAE_ERR_MEMORY) return status;
    bool conflict = singular && init->conflict;
    /* singular but for round-off, perhaps; else repeat the failure to describe it */
    engine_outcome newton = run_newton(init, s, false);
    if (newton == ENGINE_SINGULAR && conflict) return status;
    return finish_newton(init, s, newton, diag);
}

/* The fixed variable that Newton's iteration has moved, -1: none. Such a one is algebraic in
 * numbers, as the factor of its derivative is zero, and not where it was thought to be a state. */
static int moved_fixed(const initializer *init, const start *s)
{
    for (int j = 0; j < init->n; j++) {
        double given = fabs(s->y[j]);
        double unit = given > 0.0 ? fmin(given, init->weights[j]) : init->weights[j];
        bool moved = !(fabs(init->y[j] - s->y[j]) <= init->options->init_tolerance * unit);
        if (init->fixed[j] && moved) return j;
    }
    return -1;
}

/* What Newton's iteration has found, but for values that move a fixed one: others that keep it, or
 * the conflict. */
static dae_status finish_found(initializer *init, const start *s, dae_diag *diag)
{
    int j = moved_fixed(init, s);
    if (j < 0) return finish_newton(init, s, ENGINE_MET, diag);
    double found = init->y[j];
    tag_by_kind(init, s, DAE_TAG_FIXED, DAE_TAG_GUESS);
    if (!init->rescued && init->n <= FALLBACK_LIMIT) return try_general(init, s, true, diag);
    return report_moved(init, j, found, diag);
}

static dae_status start_index1(initializer *init, const start *s, dae_diag *diag)
{
    seek_by_kind(init, s->kinds);
    engine_outcome newton = run_newton(init, s, true);
    bool singular = newton == ENGINE_SINGULAR, met = singular && residual_met(init);
    if (met) return DAE_OK; /* nothing to find: the given values are trusted */
    if (newton == ENGINE_MET) newton = nearest_solution(init);
    if (newton == ENGINE_MET) return finish_found(init, s, diag);
    if (engine_ends(newton) || init->rescued) return finish_newton(init, s, newton, diag);
    if (found_elsewhere(init)) return finish_found(init, s, diag);
    if (newton == ENGINE_UNDEFINED || init->n > FALLBACK_LIMIT)
        return finish_newton(init, s, run_newton(init, s, true), diag);
    return start_generally(init, s, singular, diag);
}

/* Index 2 and 3: values that meet F are trusted. Else one differentiation finds the hidden
 * constraints of index 2; of index 3 y is taken as given, and only y' can be found. */
static dae_status start_higher(initializer *init, const start *s, dae_diag *diag)
{
    bool small = false;
    engine_outcome newton = residual_small(init, s, &small);
    if (engine_ends(newton) || newton == ENGINE_UNDEFINED) return report_newton(init, newton, diag);
    if (small) return DAE_OK;
    if (!has_kind(init, s, DAE_KIND_INDEX3)) return start_hidden(init, s, diag);
    tag_by_kind(init, s, DAE_TAG_FIXED, DAE_TAG_FIXED);
    dae_status status = try_general(init, s, false, diag);
    if (status == DAE_ERR_INITIAL)
        diag_append(diag, " With index-3 variables all of y must be given consistently, hidden "
                          "constraints and multipliers included; only y' is computed.");
    return status;
}

static dae_status start_differential(initializer *init, const start *s, dae_diag *diag)
{
    bool higher = has_kind(init, s, DAE_KIND_INDEX3) || has_kind(init, s, DAE_KIND_INDEX2);
    return higher ? start_higher(init, s, diag) : start_index1(init, s, diag);
}

/* y' given: Newton on y; if dF/dy is singular (a conserved quantity), the nearest solution. */
static dae_status start_derivative(initializer *init, const start *s, dae_diag *diag)
{
    for (int j = 0; j < init->n; j++) init->derivative[j] = false;
    init->kept = 0;
    engine_outcome newton = run_newton(init, s, true);
    if (newton == ENGINE_MET) newton = nearest_solution(init);
    bool found = newton == ENGINE_MET;
    if (!found && (engine_ends(newton) || init->rescued))
        return finish_newton(init, s, newton, diag);
    if (found || found_elsewhere(init)) {
        /* der(x) = c holds for a stiff x only where x has many more digits than are asked for */
        if (init->slope_of) newton_polish(init);
        return finish_newton(init, s, ENGINE_MET, diag);
    }
    if (newton != ENGINE_SINGULAR || init->n > FALLBACK_LIMIT)
        return finish_newton(init, s, run_newton(init, s, true), diag);
    for (int j = 0; j < init->n; j++) {
        init->y_tags[j] = DAE_TAG_GUESS;
        init->yp_tags[j] = DAE_TAG_FIXED;
    }
    return try_general(init, s, false, diag);
}

/* A solve by the general engine with the user's tags, from where the iterate is. */
static dae_status solve_tagged(initializer *init, dae_diag *diag)
{
    general_task task = {init->y_tags, init->yp_tags, true,
                         init->eval->problem->form.condition_count > 0};
    return general_solve(init, &task, init->y, init->yp, diag);
}

/* Unknowns that are not fixed and 0 as given, at guess number k; whether there are any. */
static bool place_tagged(initializer *init, const start *s, int k)
{
    bool any = false;
    vector_copy(init->n, s->y, init->y);
    vector_copy(init->n, s->yp, init->yp);
    for (int j = 0; j < init->n; j++) {
        bool value = init->y_tags[j] != DAE_TAG_FIXED &&
                     elsewhere_place(init, k, j, s->y[j], false, &init->y[j]);
        bool slope = init->yp_tags[j] != DAE_TAG_FIXED &&
                     elsewhere_place(init, k, j, s->yp[j], true, &init->yp[j]);
        any = any || value || slope;
    }
    return any;
}

/* The user's tags; without tags y is a guess and y' is free. What cannot be met from the values
 * given may be met from others where these are 0: a guess may make the matrix singular. */
static dae_status start_general(initializer *init, const start *s, dae_diag *diag)
{
    const dae_options *options = init->options;
    for (int j = 0; j < init->n; j++) {
        init->y_tags[j] = options->y_tags ? options->y_tags[j] : DAE_TAG_GUESS;
        init->yp_tags[j] = options->yp_tags ? options->yp_tags[j] : DAE_TAG_FREE;
    }
    load(init, s);
    dae_status status = solve_tagged(init, diag);
    int attempts = status == DAE_ERR_INITIAL && init->n <= FALLBACK_LIMIT ? GUESSES_ELSEWHERE : 0;
    for (int k = 0; k < attempts && status == DAE_ERR_INITIAL && place_tagged(init, s, k); k++) {
        status = solve_tagged(init, NULL);
        if (status == DAE_OK) diag_clear(diag);
    }
    if (status == DAE_OK || attempts == 0) {
        vector_copy(init->n, init->y, s->y);
        vector_copy(init->n, init->yp, s->yp);
    }
    return status;
}

dae_status initialize(initializer *init, dae_init mode, double t, double h, const dae_kind *kinds,
                      const double *weights, double *y, double *yp, dae_diag *diag)
{
    start s = {t, h, kinds, weights, y, yp};
    dae_status status;
    init->tried = 0;
    init->other = -1;
    switch (mode) {
    case DAE_INIT_DIFFERENTIAL: status = start_differential(init, &s, diag); break;
    case DAE_INIT_DERIVATIVE: status = start_derivative(init, &s, diag); break;
    case DAE_INIT_GENERAL: status = start_general(init, &s, diag); break;
    default: return diag_set(diag, DAE_ERR_ARGUMENT, "No initialisation of kind %d.", (int)mode);
    }
    if (status != DAE_OK) return status;
    int outside = scales_outside(init, y);
    return outside >= 0 ? report_outside(init, outside, diag) : DAE_OK;
}

/* ---- values that meet F where its matrix is singular ---- */

bool initializer_regular(initializer *init, double t, double h, const dae_kind *kinds,
                         const double *weights, const double *y, const double *yp)
{
    const start s = {t, h, kinds, weights, NULL, NULL};
    begin(init, &s, y, yp);
    seek_by_kind(init, kinds);
    engine_outcome newton = look(init, false);
    return newton == ENGINE_MET ? newton_full_rank(init) : newton != ENGINE_SINGULAR;
}

dae_status initialize_hidden(initializer *init, double t, double h, const dae_kind *kinds,
                             const double *weights, double *y, double *yp, dae_diag *diag)
{
    start s = {t, h, kinds, weights, y, yp};
    return init->n > FALLBACK_LIMIT ? DAE_ERR_SINGULAR : start_hidden(init, &s, diag);
}

/* ---- projection of dense output ---- */

static eval_status to_eval(engine_outcome status)
{
    return status == ENGINE_MET ? EVAL_OK : (status == ENGINE_STOP ? EVAL_STOP : EVAL_RETRY);
}

/* dx at the iterate, with the factors, or at least the derivatives, at hand if there are any. */
static eval_status first_correction(initializer *init, bool keep)
{
    const iteration *it = init->matrix;
    engine_outcome newton;
    if (keep && newton_keeps_factors(init))
        newton = engine_from(evaluate_residual(init->eval, init->call->t, init->y, init->yp,
                                               init->f, &init->eval->stats->residuals));
    else
        newton = look(init, keep && !it->matrix_free && it->jac.valid);
    if (newton == ENGINE_MET) newton = newton_correction(init, init->f, init->dx);
    return to_eval(newton);
}

/* Corrections are repeated until they are this small against the tolerances: far below them, since
 * what is asked for is the manifold, not accuracy along it. */
static const double PROJECTED = 1e-6;
enum { MOST_PROJECTIONS = 5 };

/* Corrections with one matrix, the stepper's if it may be kept. *size: of the last one. */
static eval_status project_once(initializer *init, const start *s, bool keep, double *size)
{
    int n = init->n;
    load(init, s);
    eval_status status = first_correction(init, keep);
    if (status != EVAL_OK) return status;
    *size = newton_norm(n, init->dx);
    for (int k = 0; k<MOST_PROJECTIONS && * size> PROJECTED; k++) {
        if (newton_room(init, 1.0, init->dx) < 1.0) return EVAL_RETRY;
        newton_move(init, 1.0, init->dx);
        status = evaluate_residual(init->eval, s->t, init->ynew, init->ypnew, init->fnew,
                                   &init->eval->stats->residuals);
        if (status == EVAL_OK) status = to_eval(newton_correction(init, init->fnew, init->dxbar));
        if (status != EVAL_OK) return status;
        double next = newton_norm(n, init->dxbar);
        if (!(next < *size) && !newton_at_roundoff(init, init->fnew)) return EVAL_RETRY;
        if (!(next < *size)) next = 0.0; /* noise: it is as good as it gets */
        vector_copy(n, init->ynew, s->y);
        vector_copy(n, init->ypnew, s->yp);
        vector_copy(n, init->ynew, init->y);
        vector_copy(n, init->ypnew, init->yp);
        vector_copy(n, init->dxbar, init->dx);
        *size = next;
    }
    /* The last one is known and costs nothing: where events crowd, slopes far below the tolerances
     * tell to which side a solution leaves zero. */
    if (*size > 0.0 && *size <= PROJECTED && newton_room(init, 1.0, init->dx) >= 1.0) {
        newton_move(init, 1.0, init->dx);
        vector_copy(n, init->ynew, s->y);
        vector_copy(n, init->ypnew, s->yp);
    }
    return EVAL_OK;
}

eval_status initializer_project(initializer *init, double t, double h, const dae_kind *kinds,
                                const double *weights, double *y, double *yp)
{
    start s = {t, h, kinds, weights, y, yp};
    if (has_kind(init, &s, DAE_KIND_INDEX2) || has_kind(init, &s, DAE_KIND_INDEX3))
        return EVAL_RETRY;
    seek_by_kind(init, kinds);
    double size = INFINITY;
    eval_status status = project_once(init, &s, true, &size);
    bool slow = status == EVAL_RETRY || (status == EVAL_OK && size > PROJECTED);
    return slow ? project_once(init, &s, false, &size) : status;
}

void initializer_correct(initializer *init, double t, double h, const dae_kind *kinds,
                         const double *weights, double *y, double *yp)
{
    start s = {t, h, kinds, weights, y, yp};
    seek_by_kind(init, kinds);
    load(init, &s);
    if (first_correction(init, false) != EVAL_OK) return;
    newton_move(init, 1.0, init->dx);
    vector_copy(init->n, init->ynew, y);
    vector_copy(init->n, init->ypnew, yp);
}
