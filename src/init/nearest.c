/* Of several solutions the one near the guess.
 *
 * Newton's iteration may leave for a solution that is far from where it began although there is one
 * nearby. Where it has gone far, the curve from the guess is followed as well (engine_follow.c); if
 * that ends nearer, it is taken. */
#include <math.h>

#include "base/memory.h"
#include "base/vector.h"
#include "init/workspace.h"

static const double FAR = 0.5;     /* of a guess: what may have left it */
static const double NEARER = 0.99; /* of the distance from the guess: else they are as near */
static const double APART = 1e-3;  /* two solutions differ by more than this, relative */

bool guess_left(double guess, double value, double least)
{
    const double way = fabs(value - guess);
    return way > FAR * fabs(guess) && way > least;
}

void nearness_add(nearness *d, int j, double guess, double here, double there, double least)
{
    const double near = fabs(here - guess), other = fabs(there - guess), far = fmax(near, other);
    const double apart = fabs(here - there) / fmax(far, fabs(guess));
    if (!(apart > APART) || !(far > least)) return;
    d->here += near / far * (near / far);
    d->there += other / far * (other / far);
    if (apart > d->most) {
        d->most = apart;
        d->variable = j;
    }
}

bool nearness_gained(const nearness *d)
{
    return d->here < NEARER * NEARER * d->there;
}

/* Whether some algebraic variable has gone far from its guess. */
static bool has_left(const initializer *init)
{
    for (int j = 0; j < init->n; j++)
        if (!init->derivative[j] && guess_left(init->call->y[j], init->y[j], init->weights[j]))
            return true;
    return false;
}

/* The solution at the iterate against `found`. */
static nearness compare(const initializer *init, const double *found)
{
    nearness d = {.variable = -1};
    for (int j = 0; j < init->n; j++)
        if (!init->derivative[j])
            nearness_add(&d, j, init->call->y[j], init->y[j], found[j], init->weights[j]);
    return d;
}

void nearest_solution(initializer *init)
{
    const int n = init->n;
    if (!init->nearest || n > FALLBACK_LIMIT || init->iterations == 0) return;
    if (init->matrix->matrix_free || !has_left(init)) return;
    double *found = DAE_ARRAY(double, 2 * (size_t)n);
    if (!found) return;
    vector_copy(n, init->y, found);
    vector_copy(n, init->yp, found + n);
    vector_copy(n, init->call->y, init->y);
    vector_copy(n, init->call->yp, init->yp);
    const bool met = followed_newton(init) == ENGINE_MET;
    const nearness d = compare(init, found);
    if (met && nearness_gained(&d)) {
        init->other = d.variable;
        init->other_value = d.variable >= 0 ? found[d.variable] : 0.0;
    } else {
        vector_copy(n, found, init->y);
        vector_copy(n, found + n, init->yp);
    }
    dae_free(found);
}
