/* Linear multistep and one-leg formulas with constant steps for F(t, x, x') = 0 of index 1
 * [BCP96 3.4]. With psi what earlier steps contribute, and cj = a_0 / (h b_0),
 *   linear multistep: F(t_n, x_n, x'_n) = 0,  x'_n = cj x_n + psi             (3.4.17)
 *   one-leg:          F(t*, X, X') = 0,  X = sum b_j x_(n-j),  X' = cj X + psi (3.4.26)
 * Variables whose x' F does not know are algebraic: the projection Q of (3.4.17). The first k - 1
 * steps, and those of another length than the k - 1 before, are done by Lobatto IIIC of order 6. */
#include "base/vector.h"
#include "method/common/formula.h"
#include "method/common/interpolation.h"
#include "method/common/stages.h"

#include <math.h>
#include <string.h>

static const method *const starter = &method_lobattoc6;

/* Iteration errors add up over the steps, and nothing estimates them. */
static const double TIGHTNESS = 20.0;
/* Steps that differ by less are of one length. */
static const double SAME_STEP = 1e-9;

enum { COLUMNS = FORMULA_STEPS + 2 }; /* a step more for the interpolant of short formulas */

/* What survives between steps. */
typedef struct multistep_state {
    formula f;
    double t, h;         /* of the last step */
    int count;           /* columns at hand */
    int equal;           /* of these, the newest so many are a step h apart */
    double T[COLUMNS];   /* t_n, t_(n-1), .. */
    double *X[COLUMNS];  /* x_n, x_(n-1), .. */
    double *Xp[COLUMNS]; /* and x' */
} multistep_state;

/* One attempt. */
typedef struct multistep_scratch {
    double t, h;
    bool started;              /* by the starting method */
    bool judged;               /* the null space of dF/dy' was looked at */
    double *y0, *yp0;          /* prediction */
    double *y, *yp, *e;        /* iterate, which ends as the candidate */
    double *psi, *past;        /* x' = cj x + psi; sum b_j x_(n-j), j > 0 */
    void *start_state, *start; /* of the starting method */
} multistep_scratch;

static void room_for_start(int n, size_t *state, size_t *scratch)
{
    size_t first, second;
    method_size(starter, n, &first, &second);
    *state = 0;
    *scratch = first + second;
}

static const method_memory multistep_memory = {
    .state = {sizeof(multistep_state), {VECTORS(multistep_state, X[0], Xp[COLUMNS - 1])}},
    .scratch = {sizeof(multistep_scratch), {VECTORS(multistep_scratch, y0, past)}},
    .scratch_gaps = {GAPS(multistep_scratch, start_state, start)},
    .more = room_for_start,
};

static void multistep_start(void *state, void *scratch, const method_context *ctx,
                            const start_point *at)
{
    multistep_state *s = state;
    multistep_scratch *w = scratch;
    const formula *fixed = ctx->method->table;
    size_t first, second;
    method_clear(ctx, state, scratch);
    method_size(starter, ctx->n, &first, &second);
    w->start_state = vectors_place(&multistep_memory.scratch, ctx->n, w);
    w->start = (char *)w->start_state + first;
    s->f = fixed->steps > 0 ? *fixed : formula_of_options(ctx->options, ctx->method->takes_formula);
    s->t = at->t;
    s->T[0] = at->t;
    s->count = s->equal = 1;
    vector_copy(ctx->n, at->y, s->X[0]);
    vector_copy(ctx->n, at->yp, s->Xp[0]);
}

/* ---- the first steps ---- */

static method_context context_of_starter(const method_context *ctx)
{
    method_context own = *ctx;
    own.method = starter;
    own.cache = NULL;
    return own;
}

static void start_attempt(const multistep_state *s, multistep_scratch *w, const method_context *ctx,
                          attempt *result)
{
    method_context own = context_of_starter(ctx);
    start_point at = {.t = s->t, .h = w->h, .y = s->X[0], .yp = s->Xp[0]};
    starter->start(w->start_state, w->start, &own, &at);
    starter->attempt(w->start_state, w->start, &own, w->h, starter->max_order, result);
    w->started = true;
}

/* y, yp := where the starting method has come to */
static void start_accept(multistep_scratch *w, const method_context *ctx)
{
    method_context own = context_of_starter(ctx);
    starter->accept(w->start_state, w->start, &own);
    starter->interpolate(w->start_state, &own, w->t, 0, w->y);
    starter->interpolate(w->start_state, &own, w->t, 1, w->yp);
}

/* ---- a step of the formula ---- */

/* psi and past, of what earlier steps left */
static void gather(const multistep_state *s, multistep_scratch *w, int n, double cj)
{
    const formula *f = &s->f;
    vector_zero(n, w->psi);
    vector_zero(n, w->past);
    for (int j = 1; j <= f->steps; j++) {
        const double *x = s->X[j - 1], *slope = s->Xp[j - 1];
        double part = f->one_leg ? 1.0 : 1.0 / f->b[0];
        vector_axpy(n, part * f->a[j] / w->h, x, w->psi);
        if (f->one_leg) {
            vector_axpy(n, f->b[j], x, w->past);
            vector_axpy(n, -cj * f->b[j], x, w->psi);
        } else {
            vector_axpy(n, -f->b[j] / f->b[0], slope, w->psi);
        }
    }
}

/* Where F is evaluated: t_n, or sum b_j t_(n-j) */
static double leg_time(const multistep_state *s, const multistep_scratch *w)
{
    double back = 0.0;
    for (int j = 1; s->f.one_leg && j <= s->f.steps; j++) back += j * s->f.b[j];
    return w->t - back * w->h;
}

static attempt_status solve(const multistep_state *s, multistep_scratch *w,
                            const method_context *ctx, double cj)
{
    const int n = ctx->n;
    const double b0 = s->f.one_leg ? s->f.b[0] : 1.0;
    for (int i = 0; i < n; i++) w->y0[i] = w->past[i] + b0 * (s->X[0][i] + w->h * s->Xp[0][i]);
    stages_clamp(&ctx->eval->problem->form, w->y0);
    for (int i = 0; i < n; i++) w->yp0[i] = cj * w->y0[i] + w->psi[i];
    vector_copy(n, w->y0, w->y);
    vector_copy(n, w->yp0, w->yp);
    vector_zero(n, w->e);
    corrector c = {.t = leg_time(s, w),
                   .h = w->h,
                   .cj = cj,
                   .tightness = TIGHTNESS,
                   .y0 = w->y0,
                   .yp0 = w->yp0,
                   .y_old = s->X[0],
                   .y = w->y,
                   .yp = w->yp,
                   .e = w->e};
    return newton_solve(ctx->newton, &c);
}

/* The slope at t_n of the parabola through the last three values, or of the line through two. */
static double slope_here(const multistep_state *s, double h, double x, int i)
{
    double last = (x - s->X[0][i]) / h, before = s->T[0] - s->T[1];
    if (s->count < 2) return last;
    return last + h / (h + before) * (last - (s->X[0][i] - s->X[1][i]) / before);
}

/* x_n from the leg, and x'_n of what F says nothing of: all of a one-leg formula, algebraic
 * variables of the others. */
static void finish(const multistep_state *s, multistep_scratch *w, const method_context *ctx)
{
    const bool *algebraic = ctx->newton->matrix->algebraic_column;
    for (int i = 0; i < ctx->n; i++) {
        if (s->f.one_leg) w->y[i] = (w->y[i] - w->past[i]) / s->f.b[0];
        if (s->f.one_leg || algebraic[i]) w->yp[i] = slope_here(s, w->h, w->y[i], i);
    }
}

/* Linear multistep formulas need algebraic variables that are unknowns of their own: as many rows
 * of dF/dy' as columns are not 0. */
static bool refuse_mixed(multistep_scratch *w, const method_context *ctx, attempt *a)
{
    const iteration *it = ctx->newton->matrix;
    int rows = 0, columns = 0;
    w->judged = true;
    for (int i = 0; i < ctx->n; i++) {
        rows += !it->constraint_row[i];
        columns += !it->algebraic_column[i];
    }
    return rows < columns &&
           stages_refused(a, -1,
                          "is for x' = f(x, y), 0 = g(x, y): here more variables have derivatives "
                          "than equations determine them. Choose oneleg, or bdf");
}

/* Multipliers follow differences of x' of earlier steps, which roots of sigma outside of the unit
 * disk make grow. */
static bool refuse_index2(const method_context *ctx, attempt *a)
{
    const dae_kind *kinds = ctx->norm->kinds;
    for (int j = 0; kinds && j < ctx->n; j++)
        if (kinds[j] == DAE_KIND_INDEX2 || kinds[j] == DAE_KIND_INDEX3)
            return stages_refused(a, j,
                                  "is for equations of index 1: choose bdf or radau, or a "
                                  "formulation of index 1 (index1, dummy)");
    return false;
}

/* How many columns are a step h apart from each other after this one. */
static int equal_columns(const multistep_state *s, double h)
{
    const bool same = s->equal == 1 || fabs(h - s->h) <= SAME_STEP * fabs(h);
    return !same ? 2 : s->equal < COLUMNS ? s->equal + 1 : COLUMNS;
}

static void multistep_attempt(const void *state, void *scratch, const method_context *ctx, double h,
                              int order, attempt *result)
{
    const multistep_state *s = state;
    multistep_scratch *w = scratch;
    const double cj = s->f.a[0] / (h * s->f.b[0]);
    w->t = s->t + h;
    w->h = h;
    stages_begin(result, s->t, h, order, w->y, w->yp);
    if (stages_need_matrix(ctx, result) || refuse_index2(ctx, result)) return;
    w->started = s->f.steps > 1 && equal_columns(s, h) <= s->f.steps;
    if (w->started) {
        start_attempt(s, w, ctx, result);
        return;
    }
    gather(s, w, ctx->n, cj);
    result->status = solve(s, w, ctx, cj);
    if (result->status != ATTEMPT_OK) return;
    if (!s->f.one_leg && !w->judged && refuse_mixed(w, ctx, result)) return;
    finish(s, w, ctx);
    vector_zero(ctx->n, w->e); /* no error is estimated */
    result->error = 0.0;
    result->estimate = w->e;
    result->next_factor = 1.0;
}

/* Column 0 becomes (y, yp) of the attempt; the oldest one is dropped. */
static void push(double **columns, int n, const double *newest)
{
    double *oldest = columns[COLUMNS - 1];
    memmove(columns + 1, columns, (COLUMNS - 1) * sizeof *columns);
    columns[0] = oldest;
    vector_copy(n, newest, oldest);
}

static void multistep_accept(void *state, void *scratch, const method_context *ctx)
{
    multistep_state *s = state;
    multistep_scratch *w = scratch;
    if (w->started) start_accept(w, ctx);
    s->equal = equal_columns(s, w->h);
    push(s->X, ctx->n, w->y);
    push(s->Xp, ctx->n, w->yp);
    memmove(s->T + 1, s->T, (COLUMNS - 1) * sizeof *s->T);
    s->T[0] = s->t = w->t;
    s->count = s->count < COLUMNS ? s->count + 1 : COLUMNS;
    s->h = w->h;
}

/* The polynomial through x_n .. x_(n-m), m = max(k, 2) as far as there are so many. */
static void multistep_interpolate(const void *state, const method_context *ctx, double t,
                                  int derivative, double *y)
{
    const multistep_state *s = state;
    double node[COLUMNS] = {0.0}, weight[COLUMNS];
    int count = (s->f.steps < 2 ? 2 : s->f.steps) + 1;
    if (count > s->count) count = s->count;
    if (s->count == 1 || t == s->t) {
        vector_copy(ctx->n, derivative ? s->Xp[0] : s->X[0], y);
        return;
    }
    for (int j = 0; j < count; j++) node[j] = (s->T[j] - s->t) / s->h;
    interpolation_row(count, node, (t - s->t) / s->h, derivative, weight);
    vector_zero(ctx->n, y);
    for (int j = 0; j < count; j++)
        vector_axpy(ctx->n, derivative ? weight[j] / s->h : weight[j], s->X[j], y);
}

#define MULTISTEP_METHOD(id, label, about, highest, coefficients, use, needs_equal)                \
    const method method_##id = {                                                                   \
        .name = label,                                                                             \
        .summary = about,                                                                          \
        .citation = "Griepentrog, Maerz: Differential-algebraic equations and their numerical "    \
                    "treatment, Teubner (1986); Brenan, Campbell, Petzold, section 3.4",           \
        .max_order = highest,                                                                      \
        .fixed_order = true,                                                                       \
        .constant_steps = true,                                                                    \
        .equal_steps = needs_equal,                                                                \
        .confirms = true,                                                                          \
        .rough_between = true,                                                                     \
        .takes_formula = use,                                                                      \
        .index_range = "1",                                                                        \
        .table = coefficients,                                                                     \
        METHOD_STEPS(multistep),                                                                   \
    }

static const formula of_options = {.steps = 0};

MULTISTEP_METHOD(adams2, "multistep:2", "trapezoidal rule; x' = f(x,y), 0 = g(x,y)", 2,
                 &formula_adams2, FORMULA_NONE, false);
MULTISTEP_METHOD(adams3, "multistep:3", "Adams-Moulton of order 3; x' = f(x,y), 0 = g(x,y)", 3,
                 &formula_adams3, FORMULA_NONE, true);
MULTISTEP_METHOD(adams4, "multistep:4", "Adams-Moulton of order 4; x' = f(x,y), 0 = g(x,y)", 4,
                 &formula_adams4, FORMULA_NONE, true);
MULTISTEP_METHOD(multistep_own, "multistep:own", "linear multistep formula by your coefficients",
                 FORMULA_STEPS, &of_options, FORMULA_MULTISTEP, true);
MULTISTEP_METHOD(oneleg2, "oneleg:2", "one-leg formula of order 2, A-stable; F(t,y,y') = 0", 2,
                 &formula_leg2, FORMULA_NONE, true);
MULTISTEP_METHOD(oneleg_midpoint, "oneleg:2:midpoint",
                 "implicit midpoint rule, without damping; F(t,y,y') = 0", 2, &formula_midpoint,
                 FORMULA_NONE, false);
MULTISTEP_METHOD(oneleg_own, "oneleg:own", "one-leg formula by your coefficients", FORMULA_STEPS,
                 &of_options, FORMULA_ONE_LEG, true);
