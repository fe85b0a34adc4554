#include "control/norm.h"

#include "base/memory.h"
#include "base/vector.h"

bool norm_new(error_norm *norm, int n, const dae_options *options)
{
    *norm = (error_norm){.n = n,
                         .rtol = options->rtol,
                         .atol = options->atol,
                         .rtol_by_unknown = options->rtol_by_unknown,
                         .atol_by_unknown = options->atol_by_unknown,
                         .user_norm = options->norm,
                         .user_weights = options->weights,
                         .user = options->user};
    norm->weights = DAE_ARRAY(double, n);
    norm->scale = DAE_ARRAY(double, n);
    norm->tested_own = DAE_ARRAY(double, n);
    norm->newton_own = DAE_ARRAY(double, n);
    norm->work = DAE_ARRAY(double, n);
    norm->exempt = DAE_ARRAY(int, n);
    norm->tested = norm->newton = norm->scale;
    return norm->weights && norm->scale && norm->tested_own && norm->newton_own && norm->work &&
           norm->exempt;
}

void norm_free(error_norm *norm)
{
    dae_free_all(norm->weights, norm->scale, norm->tested_own, norm->newton_own, norm->work,
                 norm->exempt, norm->floor_own);
    *norm = (error_norm){0};
}

/* Whether the error test ignores variable i: index-2 and index-3 variables always, since their
 * errors do not go to zero with h [BCP96 5.4.2]. */
static bool left_out(const error_norm *norm, int i)
{
    return norm->kinds[i] >= DAE_KIND_INDEX2 || norm->exempt[i] > 0 ||
           (norm->hidden && norm->hidden[i]) ||
           (norm->leave_out_algebraic && norm->kinds[i] == DAE_KIND_INDEX1);
}

/* The scale of the error test, for the variables that are in it now. */
static void choose_tested(error_norm *norm)
{
    int tested = 0;
    for (int i = 0; i < norm->n; i++) tested += !left_out(norm, i);
    norm->stretch = tested > 0 ? sqrt((double)norm->n / tested) : 0.0;
    norm->tested = tested < norm->n ? norm->tested_own : norm->scale;
}

void norm_classify(error_norm *norm, const dae_kind *kinds, dae_error_test test)
{
    norm->kinds = kinds;
    norm->leave_out_algebraic = test == DAE_ERROR_DIFFERENTIAL;
    norm->exempt_count = 0;
    int higher = 0;
    for (int i = 0; i < norm->n; i++) {
        norm->exempt[i] = 0;
        higher += kinds[i] >= DAE_KIND_INDEX2;
    }
    choose_tested(norm);
    norm->newton = higher > 0 ? norm->newton_own : norm->scale;
}

/* w_i = rtol_i |y_i| + atol_i */
static void tolerance_weights(error_norm *norm, const double *y)
{
    const double *rtol = norm->rtol_by_unknown, *atol = norm->atol_by_unknown;
    double *restrict w = norm->weights;
    if (!rtol && !atol)
        for (int i = 0; i < norm->n; i++) w[i] = norm->rtol * fabs(y[i]) + norm->atol;
    else
        for (int i = 0; i < norm->n; i++)
            w[i] = (rtol ? rtol[i] : norm->rtol) * fabs(y[i]) + (atol ? atol[i] : norm->atol);
}

/* Zero the tested scale of variables left out; the mean is taken over the others. */
static void set_tested_scale(error_norm *norm)
{
    for (int i = 0; i < norm->n; i++)
        norm->tested_own[i] = left_out(norm, i) ? 0.0 : norm->scale[i] * norm->stretch;
}

void norm_follow(error_norm *norm, norm_tighten_fn *tighten, void *followers)
{
    norm->tighten = tighten;
    norm->followers = followers;
}

void norm_exempt(error_norm *norm, int i, int steps)
{
    norm->exempt_count += norm->exempt[i] == 0;
    norm->exempt[i] = steps;
    choose_tested(norm);
    set_tested_scale(norm);
}

void norm_step_done(error_norm *norm)
{
    int before = norm->exempt_count;
    if (before == 0) return;
    for (int i = 0; i < norm->n; i++)
        if (norm->exempt[i] > 0 && --norm->exempt[i] == 0) norm->exempt_count--;
    if (norm->exempt_count == before) return;
    choose_tested(norm);
    set_tested_scale(norm);
}

int norm_update(error_norm *norm, double t, const double *y)
{
    if (norm->user_weights) {
        if (norm->user_weights(norm->n, t, y, norm->weights, norm->user) != 0) return norm->n;
    } else {
        tolerance_weights(norm, y);
    }
    if (norm->tighten) norm->tighten(norm->followers, t, y, norm->weights);
    for (int i = 0; norm->floor && i < norm->n; i++)
        norm->weights[i] = fmax(norm->weights[i], norm->floor[i]);
    double least = INFINITY, sum = 0.0, *restrict scale = norm->scale;
    const double *restrict weights = norm->weights;
    for (int i = 0, n = norm->n; i < n; i++) {
        const double weight = weights[i];
        least = weight < least ? weight : least;
        sum += weight;
        scale[i] = 1.0 / weight;
    }
    if (!(least > 0.0) || !isfinite(sum))
        for (int i = 0; i < norm->n; i++)
            if (!(norm->weights[i] > 0.0) || !isfinite(norm->weights[i])) return i;
    if (norm->tested == norm->tested_own) set_tested_scale(norm);
    return -1;
}

bool norm_raise_floor(error_norm *norm, int i, double floor)
{
    if (!norm->floor_own) norm->floor_own = DAE_ARRAY(double, norm->n);
    norm->floor = norm->floor_own;
    if (!norm->floor) return false;
    norm->floor_own[i] = fmax(norm->floor_own[i], floor);
    return true;
}

void norm_drop_floors(error_norm *norm)
{
    dae_free(norm->floor_own);
    norm->floor = norm->floor_own = NULL;
}

void norm_set_step(error_norm *norm, double h)
{
    if (norm->newton != norm->newton_own) return;
    double shrink = fmin(1.0, fmax(fabs(h), norm->reach));
    for (int i = 0; i < norm->n; i++) {
        double factor = 1.0;
        if (norm->kinds[i] == DAE_KIND_INDEX2) factor = shrink;
        if (norm->kinds[i] == DAE_KIND_INDEX3) factor = shrink * shrink;
        norm->newton_own[i] = norm->scale[i] * factor;
    }
}

double norm_size(const error_norm *norm, int i, double y, double most)
{
    double rtol = norm->rtol_by_unknown ? norm->rtol_by_unknown[i] : norm->rtol;
    double atol = norm->atol_by_unknown ? norm->atol_by_unknown[i] : norm->atol;
    if (norm->user_weights || !(rtol > 0.0)) return fabs(y);
    return fmax(fabs(y), fmin(atol / rtol, most));
}

double norm_finest(const error_norm *norm)
{
    double least = norm->rtol_by_unknown ? INFINITY : norm->rtol;
    for (int i = 0; norm->rtol_by_unknown && i < norm->n; i++)
        least = fmin(least, norm->rtol_by_unknown[i]);
    return least;
}

double norm_of(const error_norm *norm, const double *v, const double *scale)
{
    if (!norm->user_norm) return vector_wrms(norm->n, v, scale);
    for (int i = 0; i < norm->n; i++) norm->work[i] = v[i] * scale[i] * norm->weights[i];
    double size = norm->user_norm(norm->n, norm->work, norm->weights, norm->user);
    return size >= 0.0 ? size : NAN; /* no norm: no test can pass */
}

void norm_persist(error_norm *norm, persist *p)
{
    const int n = norm->n;
    PERSIST_ARRAY(p, norm->weights, n);
    PERSIST_ARRAY(p, norm->scale, n);
    PERSIST_ARRAY(p, norm->tested_own, n);
    PERSIST_ARRAY(p, norm->newton_own, n);
    PERSIST_ARRAY(p, norm->exempt, n);
    PERSIST(p, norm->exempt_count);
    PERSIST(p, norm->reach);
    PERSIST(p, norm->leave_out_algebraic);
    PERSIST(p, norm->stretch);
    const bool tested = persist_flag(p, norm->tested == norm->tested_own);
    const bool newton = persist_flag(p, norm->newton == norm->newton_own);
    const bool raised = persist_flag(p, norm->floor_own);
    if (p->reading && raised && !norm->floor_own) {
        norm->floor_own = DAE_ARRAY(double, n);
        p->no_memory = p->no_memory || !norm->floor_own;
    }
    if (raised && norm->floor_own) PERSIST_ARRAY(p, norm->floor_own, n);
    if (!p->reading) return;
    norm->floor = raised ? norm->floor_own : NULL;
    norm->tested = tested ? norm->tested_own : norm->scale;
    norm->newton = newton ? norm->newton_own : norm->scale;
}
