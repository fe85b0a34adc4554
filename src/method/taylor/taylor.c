/* Taylor series of the equations as they are, of variable step and an order up to 30 that goes with
 * the tolerance [Pryce98, NP05, NP07, JZ05].
 *
 *   attempt  the expansion at t is known: its last terms tell whether h is good. Values at t + h,
 *            moved onto the constraints of all levels (stages <= 0), and the expansion there, which
 *            tells the next step
 *   accept   the expansion at t + h takes the place of that at t, which is kept: it is the dense
 *            output of the step
 *
 * One factorisation of the system Jacobian serves all stages of a point. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "method/common/stages.h"
#include "method/taylor/taylor_parts.h"

/* ---- state ----------------------------------------------------------------------------------- */

enum { ALIGNMENT = 16, LARGEST = 16 }; /* bytes; of a number of any precision */

static size_t header_size(void)
{
    return (sizeof(taylor_state) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* An expansion has sum (d_j + stages + 1) coefficients; the driver has at least d_j unknowns for
 * x_j, and at least one. Its point stands behind it. */
static size_t expansion_room(int n)
{
    return ((size_t)n * (SERIES_LAST + 2) + 1) * LARGEST;
}

static void taylor_room(int n, size_t *state, size_t *scratch)
{
    *state = header_size() + 2 * expansion_room(n);
    *scratch = 4 * (size_t)n * sizeof(double);
}

/* Expansion 0, where the last step began, or 1, where it ended. */
static const void *expansion_of(const void *state, const method_context *ctx, int which)
{
    return (const char *)state + header_size() + (size_t)which * expansion_room(ctx->n);
}

static void *own_expansion(void *state, const method_context *ctx, int which)
{
    return (char *)state + header_size() + (size_t)which * expansion_room(ctx->n);
}

/* ---- order ----------------------------------------------------------------------------------- */

/* Work of a step with so many stages, in operations: a sweep has a fixed part per operation and,
 * for products, one that grows with the stage. The numbers are times of one operation and of one
 * term of a product, in units of the latter, measured on Andrews' mechanism. */
static double work_of_step(const taylor_cache *c, int stages)
{
    const series_form *f = c->form;
    double each = c->ops->size > sizeof(double) ? 1.5 : 6.0;
    double n = f->n, length = (double)series_program_length(f->equations);
    double products = (double)series_program_products(f->equations),
           sweeps = stages + 2.0 * c->top + 2;
    double solve = c->layout.kind == DAE_STRUCTURE_DENSE ? n * n : 8.0 * c->entries;
    double factor = c->layout.kind == DAE_STRUCTURE_DENSE ? n * n * n / 3.0 : 60.0 * c->entries;
    return each * (sweeps * length + (double)series_program_length(f->jacobian)) +
           0.5 * products * stages * stages + sweeps * solve + factor;
}

/* The number of stages with the longest way per work. A step meets the relative tolerance 1/size
 * where (h / radius)^order = 1/size [JZ05]. */
static int choose_stages(const taylor_cache *c, double size)
{
    const dae_options *o = c->context->options;
    int least = o->min_order > 0 ? o->min_order : 2, best = least;
    int most = o->max_order > 0 ? o->max_order : SERIES_LAST + 1;
    double record = 0.0;
    if (best > most) best = most;
    for (int order = best; order <= most; order++) {
        double speed = pow(size, -1.0 / order) / work_of_step(c, order - 1);
        if (speed <= record) continue;
        record = speed;
        best = order;
    }
    if (c->context->fixed_steps && o->max_order > 0) best = o->max_order;
    return best - 1;
}

/* ||y|| in units of the tolerance, and no less than a relative tolerance says. */
static double size_of_values(const method_context *ctx, const double *y)
{
    double size = norm_of(ctx->norm, y, ctx->norm->tested);
    double relative = ctx->norm->rtol > 0.0 ? 1.0 / ctx->norm->rtol : 1e3;
    return fmax(10.0, fmin(fmax(size, relative), 1e40));
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* The larger one of the last two terms [JZ05], which bound what is left out where terms fall by
 * two at least; estimate = the last one. The value itself, power 0 of h, is no such term. */
static double step_error(const taylor_cache *c, double unit, double h, double *estimate)
{
    const error_norm *norm = c->context->norm;
    double part = fabs(h) / unit, *power = c->power;
    power[0] = 1.0;
    for (int k = 1; k <= SERIES_LAST + c->top; k++) power[k] = power[k - 1] * part;
    for (int i = 0; i < c->form->unknowns; i++)
        estimate[i] = c->degree[i] > 1 ? c->before[i] * power[c->degree[i] - 1] : 0.0;
    double before = norm_of(norm, estimate, norm->tested);
    for (int i = 0; i < c->form->unknowns; i++)
        estimate[i] = c->degree[i] > 0 ? c->last[i] * power[c->degree[i]] : 0.0;
    return fmax(before, norm_of(norm, estimate, norm->tested));
}

/* Whether a component below the tolerance limits the step, 1 if so, else a small number. If
 * a exp(lambda t) leads the last two terms of degree p, their ratio is h lambda / p, and
 * a = (last term) p! / (h lambda)^p: at the boundary of stability a stiff component is kept at some
 * part of a tolerance, while what is resolved is far above it. */
static double stability(const taylor_cache *c, double unit, double h, double *work)
{
    static const double BELOW = 3.0, CALM = 0.1;
    const error_norm *norm = c->context->norm;
    const double part = fabs(h) / unit;
    const int p = c->stages + 1;
    for (int i = 0; i < c->form->unknowns; i++)
        work[i] = c->degree[i] > 1 ? c->before[i] * pow(part, c->degree[i] - 1) : 0.0;
    double before = norm_of(norm, work, norm->tested);
    for (int i = 0; i < c->form->unknowns; i++)
        work[i] = c->degree[i] > 1 ? c->last[i] * pow(part, c->degree[i]) : 0.0;
    double last = norm_of(norm, work, norm->tested);
    if (!(before > 0.0) || !(last > 0.0)) return CALM;
    double size = log(last) + lgamma(p + 1.0) - p * log(p * last / before);
    return size < log(BELOW) ? 1.0 : CALM;
}

/* Where the error is at AIM, by a few steps of the secant method in logarithms; h > 0. */
static double longest_step(const taylor_cache *c, double unit, double h, double *estimate)
{
    static const double AIM = 0.8, MOST_GROWTH = 10.0;
    enum { STEPS = 4 };
    double longest = MOST_GROWTH * h;
    for (int k = 0; k < STEPS; k++) {
        double e = step_error(c, unit, h, estimate);
        if (isnan(e)) return 0.1 * h;
        if (e == 0.0) return longest;
        h *= fmax(1e-3, fmin(1e3, pow(AIM / e, 1.0 / (c->stages + 0.5))));
    }
    return fmin(h, longest);
}

/* The polynomial of the step; at its end the values that were moved onto the constraints. */
static int expansion_for(const taylor_state *s, double t)
{
    return !s->stepped || t == s->t[1];
}

static void prepare_call(const method_context *ctx, int stages, double h)
{
    taylor_cache *c = ctx->cache;
    c->context = ctx;
    c->stages = stages;
    c->h = h;
    c->reason[0] = '\0';
    c->variable = -1;
}

static void taylor_start(void *state, void *scratch, const method_context *ctx,
                         const start_point *at)
{
    taylor_state *s = state;
    taylor_cache *c = ctx->cache;
    (void)scratch;
    prepare_call(ctx, 0, at->h);
    c->stages = choose_stages(c, size_of_values(ctx, at->y));
    taylor_state old = *s;
    bool inside = old.stepped && (at->t - old.t[0]) * (at->t - old.t[1]) <= 0.0;
    int k = expansion_for(&old, at->t);
    *s = (taylor_state){.t = {at->t, at->t}, .stages = c->stages};
    s->failure =
        c->ops->begin(c, at, inside ? expansion_of(state, ctx, k) : NULL, old.unit[k], old.stages);
    s->unit[0] = s->unit[1] = taylor_unit(at->h);
    c->ops->store(c, own_expansion(state, ctx, 1));
}

/* A failure, with what is known of it. */
static void tell_failure(const taylor_cache *c, attempt_status status, attempt *result)
{
    result->status = status;
    result->next_factor = 0.25;
    result->reason = c->reason[0] ? c->reason : NULL;
    result->variable = c->variable;
}

/* The step that would pass, over the one that did not. */
static double smaller(const taylor_cache *c, double unit, double h, double *estimate)
{
    double error = step_error(c, unit, h, estimate);
    if (!isfinite(error)) return 0.1;
    return fmax(1e-4, 0.95 * pow(error, -1.0 / (c->stages + 0.5)));
}

/* What comes and goes within a step is seen at neither end, and not in the terms, which vanish as
 * those of 0 in max(f(t), 0), or are those of other unknowns: the equations are looked at inside.
 * They take their values there, not the many terms of a series, and the factors of the expansion
 * tell what these would change; where that is not far below the tolerance, factors of the place.
 * One place is enough where the series itself tells what comes. */
static attempt_status look_inside(taylor_cache *c, const void *from, double unit, double t,
                                  double h, double *moved)
{
    enum { PLACES = 4 };
    static const double places[PLACES] = {0.618, 0.381966011250105, 0.113, 0.893}, FAR_BELOW = 0.1;
    attempt_status status = ATTEMPT_OK;
    int count = c->tame ? 1 : PLACES;
    *moved = 0.0;
    for (int k = 0; k < count && status == ATTEMPT_OK; k++) {
        double here = 0.0, at = t + places[k] * h, about = taylor_unit(h);
        bool fine = c->factored_at == t &&
                    c->ops->glance(c, from, unit, at, about, &here) == ATTEMPT_OK &&
                    here <= FAR_BELOW;
        if (!fine) status = c->ops->look(c, from, unit, at, about, &here);
        if (!(here <= *moved)) *moved = here;
    }
    return status;
}

/* y and y' of an expansion at a time t, into scratch. */
static void give_values(taylor_cache *c, const void *from, double at, double unit, double t,
                        double *scratch)
{
    c->ops->values(c, from, at, unit, t, 0, scratch);
    c->ops->values(c, from, at, unit, t, 1, scratch + c->context->n);
}

/* Expand anew at the end of a step whose terms pass. How far the values there move, and how far the
 * equations are from the series inside, is the error of what the terms do not see. */
static void finish_attempt(const taylor_state *s, const void *from, const method_context *ctx,
                           double *scratch, attempt *result)
{
    taylor_cache *c = ctx->cache;
    double *estimate = scratch + 2 * ctx->n;
    const double t = result->t, h = result->h, unit = taylor_unit(h);
    double inside = 0.0, moved = 0.0;
    attempt_status status = ATTEMPT_OK;
    if (ctx->look_at_stability) result->stability = stability(c, s->unit[1], h, estimate + ctx->n);
    if (!ctx->fixed_steps) status = look_inside(c, from, s->unit[1], t, h, &inside);
    if (status == ATTEMPT_OK) status = c->ops->advance(c, from, s->unit[1], t + h, unit, &moved);
    if (status != ATTEMPT_OK) {
        tell_failure(c, status, result);
        return;
    }
    moved = fmax(moved, inside);
    give_values(c, NULL, t + h, unit, t + h, scratch);
    result->error = fmax(result->error, moved);
    c->ops->terms(c, NULL, unit);
    result->next_factor = longest_step(c, unit, fabs(h), estimate + ctx->n) / fabs(h);
    if (!(moved > 1.0)) return;
    result->next_factor = fmax(0.1, 0.8 * pow(moved, -1.0 / s->stages));
    memcpy(estimate, c->moved, (size_t)c->form->unknowns * sizeof *estimate);
}

static void taylor_attempt(const void *state, void *scratch, const method_context *ctx, double h,
                           int order, attempt *result)
{
    const taylor_state *s = state;
    taylor_cache *c = ctx->cache;
    double *y = scratch, *yp = y + ctx->n, *estimate = yp + ctx->n, t = s->t[1];
    const void *from = expansion_of(state, ctx, 1);
    (void)order;
    stages_begin(result, t, h, s->stages + 1, y, yp);
    result->estimate = estimate;
    if (s->failure != ATTEMPT_OK) {
        tell_failure(c, s->failure, result);
        return;
    }
    prepare_call(ctx, s->stages, h);
    c->ops->terms(c, from, s->unit[1]);
    result->error = step_error(c, s->unit[1], h, estimate);
    if (result->error <= 1.0 || ctx->fixed_steps) {
        finish_attempt(s, from, ctx, scratch, result);
        return;
    }
    result->next_factor = smaller(c, s->unit[1], h, estimate);
    give_values(c, from, t, s->unit[1], t + h, scratch);
}

static void taylor_accept(void *state, void *scratch, const method_context *ctx)
{
    taylor_state *s = state;
    const taylor_cache *c = ctx->cache;
    (void)scratch;
    memcpy(own_expansion(state, ctx, 0), expansion_of(state, ctx, 1),
           ((size_t)c->total + 1) * c->ops->size);
    c->ops->store(c, own_expansion(state, ctx, 1));
    s->t[0] = s->t[1];
    s->unit[0] = s->unit[1];
    s->t[1] = s->t[0] + c->h;
    s->unit[1] = taylor_unit(c->h);
    s->stepped = true;
}

/* ---- dense output ---------------------------------------------------------------------------- */

static void taylor_interpolate(const void *state, const method_context *ctx, double t,
                               int derivative, double *y)
{
    const taylor_state *s = state;
    taylor_cache *c = ctx->cache;
    int k = expansion_for(s, t);
    c->stages = s->stages;
    c->ops->values(c, expansion_of(state, ctx, k), s->t[k], s->unit[k], t, derivative, y);
}

static void taylor_precise(const void *state, const method_context *ctx, double t, int derivative,
                           void *y)
{
    const taylor_state *s = state;
    taylor_cache *c = ctx->cache;
    int k = expansion_for(s, t);
    c->stages = s->stages;
    c->ops->precise(c, expansion_of(state, ctx, k), s->unit[k], t, derivative, y);
}

/* ---- work space ------------------------------------------------------------------------------ */

static void taylor_cache_free(void *cache)
{
    taylor_cache *c = cache;
    if (!c) return;
    c->ops->run_free(c->run);
    linear_free(c->solver);
    layout_free(&c->layout);
    dae_free_all(c->at, c->J, c->matrix, c->power, c);
}

static void taylor_cache_persist(void *cache, const method_context *ctx, persist *p)
{
    taylor_cache *c = cache;
    (void)ctx;
    PERSIST(p, c->stages);
    PERSIST(p, c->factored_at);
    PERSIST(p, c->h);
    PERSIST(p, c->reason);
    PERSIST(p, c->variable);
    persist_block(p, c->J); /* and what is behind it */
    persist_block(p, c->power);
    persist_block(p, c->matrix);
    linear_persist(c->solver, p);
    c->ops->run_persist(c->run, p);
}

static bool number_rows(taylor_cache *c)
{
    const series_form *f = c->form;
    for (int j = 0; j < f->n; j++) {
        c->first[j + 1] = c->first[j] + f->d[j] + SERIES_LAST + 1;
        c->place[j + 1] = c->place[j] + f->d[j] + 1;
        if (f->d[j] > c->top) c->top = f->d[j];
    }
    c->total = c->first[f->n];
    c->at = DAE_ARRAY(int, c->place[f->n]);
    for (int k = 0; c->at && k < c->place[f->n]; k++) c->at[k] = -1;
    for (int i = 0; c->at && i < f->unknowns; i++)
        c->at[c->place[f->variable[i]] + f->order[i]] = i;
    c->power = DAE_ARRAY(double, SERIES_LAST + c->top + 1);
    return c->at && c->power;
}

/* Dense where that is faster: small systems, and full ones. */
static bool lay_out(taylor_cache *c)
{
    enum { SMALL = 30 };
    const series_form *f = c->form;
    bool dense = f->n <= SMALL || 5.0 * c->entries > (double)f->n * f->n;
    bool ok = dense ? layout_dense(&c->layout, f->n)
                    : layout_sparse(&c->layout, f->n, f->colptr, f->rowind);
    if (!ok) return false;
    c->solver = linear_new(&c->layout);
    c->matrix = DAE_ARRAY(double, dense ? c->layout.count : 1);
    return c->solver && c->matrix;
}

static const taylor_ops *ops_for(dae_precision precision)
{
    switch (precision) {
    case DAE_PRECISION_LONG: return &taylor_long;
#ifdef TAPE_QUAD
    case DAE_PRECISION_QUAD: return &taylor_quad;
#endif
    default: return &taylor_double;
    }
}

static void *taylor_cache_new(const method_context *ctx)
{
    const series_form *f = ctx->forms->series;
    taylor_cache *c = DAE_NEW(taylor_cache);
    if (!c) return NULL;
    c->form = f;
    c->ops = ops_for(f->precision);
    c->entries = f->colptr[f->n];
    c->tame = series_program_is_tame(f->equations);
    bool ok = SHARED_BLOCK(SHARE(c->J, c->entries), SHARE(c->right, f->n), SHARE(c->more, f->n),
                           SHARE(c->last, f->unknowns), SHARE(c->before, f->unknowns),
                           SHARE(c->moved, f->unknowns), SHARE(c->degree, f->unknowns),
                           SHARE(c->first, f->n + 1), SHARE(c->place, f->n + 1)) &&
              number_rows(c) && lay_out(c);
    if (ok) c->run = c->ops->run_new(c);
    if (ok && c->run) return c;
    taylor_cache_free(c);
    return NULL;
}

const method method_taylor = {
    .name = "taylor",
    .summary = "Taylor series of the equations as written, for 10 digits and more; any precision",
    .citation =
        "J. D. Pryce, Solving high-index DAEs by Taylor series, Numer. Algorithms 19 (1998) "
        "195-211",
    .long_steps = true,
    .max_order = SERIES_LAST + 1,
    .forms = FORM_SERIES,
    .fixed_order = true,
    .own_order = true,
    .index_range = "any",
    .memory = &(const method_memory){.more = taylor_room},
    .start = taylor_start,
    .attempt = taylor_attempt,
    .accept = taylor_accept,
    .interpolate = taylor_interpolate,
    .precise = taylor_precise,
    METHOD_CACHE(taylor),
};
