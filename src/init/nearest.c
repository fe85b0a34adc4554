/* Of several solutions the one near the guess.
 *
 * Newton's iteration may leave for a solution that is far from where it began although there is one
 * nearby: full steps pass a pole and converge beyond it. From the guess x_0 the curve
 * F(x) = (1 - s) F(x_0) leads from s = 0 to a solution at s = 1; it does not depend on how
 * equations are scaled or mixed [Deu11 5.1]. It is followed in steps that are so short that the
 * matrix of their beginning fits everything between their ends. If its end is nearer to the guess
 * than what Newton's iteration has found, it is taken. */
#include <math.h>

#include "base/memory.h"
#include "base/vector.h"
#include "init/workspace.h"

static const double LONGEST = 0.125, SHORTEST = 1e-6; /* steps in s */
static const double BEND = 0.25;  /* of a step: what the curve may be off its tangent */
static const double NEARER = 0.5; /* of the distance from the guess */
static const double APART = 1e-3; /* two solutions differ by more than this, relative */
enum { MOST_STEPS = 200, HALVINGS = 24, CORRECTIONS = 5, MOST_CROSSINGS = 8 };

typedef struct curve {
    initializer *init;
    double s, ds;
    double *f0;           /* F at the guess */
    double *p;            /* the tangent dx/ds, in the units of Newton's unknowns */
    double *found, *back; /* (y, y') of Newton's solution; of the beginning of a step */
} curve;

static double *unknown(const initializer *init, double *y, double *yp, int j)
{
    return init->derivative[j] ? yp + j : y + j;
}

/* The correction from x + part ds p back to the curve, into init->dxbar; its length, NAN: F or the
 * correction has no value there. */
static double distance_from_curve(const curve *c, double part)
{
    initializer *init = c->init;
    newton_move(init, part * c->ds, c->p);
    eval_status status = evaluate_residual(init->eval, init->call->t, init->ynew, init->ypnew,
                                           init->fnew, &init->eval->stats->residuals);
    if (status != EVAL_OK) return NAN;
    vector_axpy(init->n, c->s + part * c->ds - 1.0, c->f0, init->fnew);
    if (newton_correction(init, init->fnew, init->dxbar) != ENGINE_MET) return NAN;
    return newton_norm(init->n, init->dxbar);
}

/* Whether the tangent fits on both sides of where unknown j passes zero: what saturates, as
 * c/(k + c), bends there alone, however small k is. */
static bool fits_at_zero(const curve *c, int j, double limit)
{
    const initializer *init = c->init;
    const double x = *unknown(init, init->y, init->yp, j), step = c->ds * c->p[j] * init->unit[j];
    const double zero = -x / step;
    double aside = zero;
    for (int k = 0; k < HALVINGS; k++) {
        aside *= 0.5;
        if (!(distance_from_curve(c, zero - aside) <= limit)) return false;
        if (zero + aside < 1.0 && !(distance_from_curve(c, zero + aside) <= limit)) return false;
    }
    return true;
}

/* Whether the tangent fits all the way of the step. */
static bool tangent_fits(const curve *c)
{
    enum { PARTS = 4 };
    initializer *init = c->init;
    const double limit = BEND * c->ds * newton_norm(init->n, c->p);
    int crossings = 0;
    if (!isfinite(limit) || newton_room(init, c->ds, c->p) < 1.0) return false;
    for (int k = PARTS; k > 0; k--)
        if (!(distance_from_curve(c, (double)k / PARTS) <= limit)) return false;
    for (int j = 0; j < init->n && crossings < MOST_CROSSINGS; j++) {
        const double x = *unknown(init, init->y, init->yp, j);
        const double end = x + c->ds * c->p[j] * init->unit[j];
        if (!(x * end < 0.0)) continue;
        crossings++;
        if (!fits_at_zero(c, j, limit)) return false;
    }
    return true;
}

/* From x + ds p onto the curve at s + ds, with the factors at x; false: x is as it was. */
static bool step_along(curve *c)
{
    initializer *init = c->init;
    const int n = init->n;
    double last = tangent_fits(c) ? distance_from_curve(c, 1.0) : NAN;
    vector_copy(n, init->y, c->back);
    vector_copy(n, init->yp, c->back + n);
    bool ok = isfinite(last);
    for (int k = 0; ok && k < CORRECTIONS && last > 0.0; k++) {
        vector_copy(n, init->ynew, init->y);
        vector_copy(n, init->ypnew, init->yp);
        newton_move(init, 1.0, init->dxbar);
        eval_status status = evaluate_residual(init->eval, init->call->t, init->ynew, init->ypnew,
                                               init->fnew, &init->eval->stats->residuals);
        vector_axpy(n, c->s + c->ds - 1.0, c->f0, init->fnew);
        ok = status == EVAL_OK && newton_correction(init, init->fnew, init->dxbar) == ENGINE_MET;
        const double now = newton_norm(n, init->dxbar);
        ok = ok && (now <= 0.5 * last || now <= 1.0); /* tolerances are enough on the way */
        last = now;
    }
    vector_copy(n, ok ? init->ynew : c->back, init->y);
    vector_copy(n, ok ? init->ypnew : c->back + n, init->yp);
    return ok;
}

/* F, its matrix, and the tangent at x. */
static bool look_ahead(curve *c)
{
    initializer *init = c->init;
    scales_weights(init, init->y);
    return evaluate_residual(init->eval, init->call->t, init->y, init->yp, init->f,
                             &init->eval->stats->residuals) == EVAL_OK &&
           newton_matrix(init, false) == ENGINE_MET &&
           newton_correction(init, c->f0, c->p) == ENGINE_MET;
}

/* From the guess to s = 1, and to a solution from there. */
static bool follow(curve *c)
{
    initializer *init = c->init;
    bool fresh = false;
    c->ds = LONGEST;
    for (int k = 0; k < MOST_STEPS && c->s < 1.0; k++) {
        if (!fresh && !look_ahead(c)) return false;
        fresh = true;
        c->ds = fmin(c->ds, 1.0 - c->s);
        if (step_along(c)) {
            c->s = c->ds >= 1.0 - c->s ? 1.0 : c->s + c->ds;
            c->ds = fmin(2.0 * c->ds, LONGEST);
            fresh = false;
        } else if ((c->ds *= 0.25) < SHORTEST) {
            return false;
        }
    }
    return c->s >= 1.0 && damped_newton(init) == ENGINE_MET;
}

/* Whether solution x is nearer to the guess than Newton's, by the algebraic variables in which they
 * differ, each in units of the farther way; the variable that differs most in *j, -1: none does. */
static bool is_nearer(const curve *c, int *j)
{
    const initializer *init = c->init;
    double sum[2] = {0.0, 0.0}, most = APART;
    *j = -1;
    for (int i = 0; i < init->n; i++) {
        if (init->derivative[i]) continue;
        const double guess = init->call->y[i], here = fabs(init->y[i] - guess),
                     there = fabs(c->found[i] - guess), far = fmax(here, there);
        const double apart = fabs(init->y[i] - c->found[i]) / fmax(far, fabs(guess));
        if (!(apart > APART) || far < init->weights[i]) continue;
        sum[0] += here / far * (here / far);
        sum[1] += there / far * (there / far);
        if (apart > most) *j = i, most = apart;
    }
    return sqrt(sum[0]) < NEARER * sqrt(sum[1]);
}

/* Whether some algebraic variable has gone far from its guess. */
static bool has_left(const initializer *init)
{
    static const double FAR = 0.5; /* of the guess */
    for (int j = 0; j < init->n; j++) {
        const double guess = init->call->y[j], way = fabs(init->y[j] - guess);
        if (!init->derivative[j] && way > FAR * fabs(guess) && way > init->weights[j]) return true;
    }
    return false;
}

static bool curve_new(curve *c, initializer *init)
{
    const size_t n = (size_t)init->n;
    *c = (curve){.init = init, .f0 = DAE_ARRAY(double, 6 * n)};
    if (!c->f0) return false;
    c->p = c->f0 + n;
    c->found = c->f0 + 2 * n;
    c->back = c->f0 + 4 * n;
    return true;
}

void nearest_solution(initializer *init)
{
    enum { NEARLY_LINEAR = 1 }; /* Newton's steps */
    const int n = init->n;
    curve c;
    int other = -1;
    if (!init->nearest || n > FALLBACK_LIMIT || init->iterations <= NEARLY_LINEAR) return;
    if (init->matrix->matrix_free || !has_left(init) || !curve_new(&c, init)) return;
    vector_copy(n, init->y, c.found);
    vector_copy(n, init->yp, c.found + n);
    vector_copy(n, init->call->y, init->y);
    vector_copy(n, init->call->yp, init->yp);
    const bool there = evaluate_residual(init->eval, init->call->t, init->y, init->yp, c.f0,
                                         &init->eval->stats->residuals) == EVAL_OK;
    if (there && follow(&c) && is_nearer(&c, &other)) {
        init->other = other;
        init->other_value = other >= 0 ? c.found[other] : 0.0;
    } else {
        vector_copy(n, c.found, init->y);
        vector_copy(n, c.found + n, init->yp);
    }
    dae_free(c.f0);
}
