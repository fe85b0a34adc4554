/* Of several solutions the one near the guess.
 *
 * Newton's iteration may leave for a solution that is far from where it began although there is one
 * nearby. Where it has gone far, the curve from the guess is followed as well (engine_follow.c),
 * and others are looked for that are no farther (engine_deflate.c); the nearest is taken. */
#include <math.h>

#include "base/memory.h"
#include "base/vector.h"
#include "init/workspace.h"

static const double FAR = 0.1;     /* of a guess: what may have left it */
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

double guess_way(double guess, double value, double least)
{
    return fmax(fabs(value - guess), fmax(FAR * fabs(guess), least));
}

/* Solutions that were found from one guess. */
enum { MOST_FOUND = 4 };
typedef struct found_list {
    int n, count, best;
    double *y, *yp; /* MOST_FOUND times n; y owns both, and way */
    double *way;    /* n: from the guess to the first */
    bool *counts;   /* n */
    bool guessed;   /* some values were given by somebody */
} found_list;

/* Whether the guess of y_j counts: those that nobody gave do where there are no others. */
static bool counts(const initializer *init, const found_list *l, int j)
{
    return !init->derivative[j] && (!l->guessed || !init->guessed || init->guessed[j]);
}

/* Whether some algebraic variable has gone far from its guess. */
static bool has_left(const initializer *init, const found_list *l)
{
    for (int j = 0; j < init->n; j++)
        if (counts(init, l, j) && guess_left(init->call->y[j], init->y[j], init->weights[j]))
            return true;
    return false;
}

static bool any_guessed(const initializer *init)
{
    for (int j = 0; init->guessed && j < init->n; j++)
        if (init->guessed[j] && !init->derivative[j]) return true;
    return !init->guessed;
}

static nearness compare(const initializer *init, const found_list *l, int here, int there)
{
    nearness d = {.variable = -1};
    for (int j = 0; j < init->n; j++)
        if (counts(init, l, j))
            nearness_add(&d, j, init->call->y[j], l->y[here * l->n + j], l->y[there * l->n + j],
                         init->weights[j]);
    return d;
}

/* The solution at the iterate; whether it is nearer than the best so far. */
static bool add(initializer *init, found_list *l)
{
    const int k = l->count++;
    vector_copy(l->n, init->y, l->y + k * l->n);
    vector_copy(l->n, init->yp, l->yp + k * l->n);
    if (k == 0) return false;
    const nearness d = compare(init, l, k, l->best);
    const bool gained = nearness_gained(&d);
    if (!gained) return false;
    init->other = d.variable;
    init->other_value = l->y[l->best * l->n + d.variable];
    l->best = k;
    return true;
}

/* Back to the guess. */
static void go_back(initializer *init)
{
    vector_copy(init->n, init->call->y, init->y);
    vector_copy(init->n, init->call->yp, init->yp);
}

/* By deflation, as long as that finds others. */
static engine_outcome deflate(initializer *init, found_list *l)
{
    deflation d = {.known = l->y, .way = l->way, .bounded = l->counts};
    for (int j = 0; j < l->n; j++) {
        l->counts[j] = counts(init, l, j);
        l->way[j] =
            init->derivative[j] ? 0.0 : guess_way(init->call->y[j], l->y[j], init->weights[j]);
    }
    while (l->count < MOST_FOUND) {
        d.count = l->count;
        go_back(init);
        const engine_outcome outcome = deflated_newton(init, &d);
        if (outcome != ENGINE_MET) return outcome;
        add(init, l);
    }
    return ENGINE_MET;
}

/* Along the curve from the guess, then by deflation. */
static engine_outcome search(initializer *init, found_list *l)
{
    go_back(init);
    const engine_outcome outcome = followed_newton(init);
    if (outcome == ENGINE_MET) add(init, l);
    return l->guessed && !engine_ends(outcome) ? deflate(init, l) : outcome;
}

engine_outcome nearest_solution(initializer *init)
{
    const int n = init->n;
    if (!init->nearest || n > FALLBACK_LIMIT || init->iterations == 0) return ENGINE_MET;
    found_list l = {.n = n, .guessed = any_guessed(init)};
    if (init->matrix->matrix_free || !has_left(init, &l)) return ENGINE_MET;
    l.y = DAE_ARRAY(double, (2 * MOST_FOUND + 1) * (size_t)n);
    l.counts = DAE_ARRAY(bool, n);
    engine_outcome outcome = ENGINE_MEMORY;
    if (l.y && l.counts) {
        l.yp = l.y + MOST_FOUND * n;
        l.way = l.yp + MOST_FOUND * n;
        add(init, &l);
        outcome = search(init, &l);
        vector_copy(n, l.y + l.best * n, init->y);
        vector_copy(n, l.yp + l.best * n, init->yp);
    }
    dae_free_all(l.y, l.counts);
    return engine_ends(outcome) ? outcome : ENGINE_MET;
}
