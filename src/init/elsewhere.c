/* Other guesses of unknowns that nobody gave.
 *
 * Where Newton's matrix is singular at the guess, as for v^2 = 2 g h at v = 0, the guess is to
 * blame, not what is known: unknowns that are guessed 0 begin at other sizes, of both signs. Known
 * values stay. A matrix that is singular at all of these is so by its structure. */
#include "base/vector.h"
#include "init/workspace.h"

enum { STRUCTURAL = 6 };

static const double apart = 1e-3; /* two solutions differ by more than this, relative */

bool elsewhere_place(const initializer *init, int attempt, int j, double given, bool slope,
                     double *value)
{
    if (given != 0.0) return false;
    *value = guess_elsewhere(attempt, j, false) * guess_spread(j);
    if (!slope && !scales_inside(init, j, *value)) *value = -*value;
    if (!slope && !scales_inside(init, j, *value)) *value = given;
    return *value != given;
}

/* Newton's unknowns that are 0 as given, at other guesses. Returns whether there are any. */
static bool place(initializer *init, int attempt)
{
    const double *y = init->call->y, *yp = init->call->yp;
    bool any = false;
    vector_copy(init->n, y, init->y);
    vector_copy(init->n, yp, init->yp);
    for (int j = 0; j < init->n; j++) {
        bool slope = init->derivative[j];
        double value = slope ? yp[j] : y[j];
        bool moves = elsewhere_place(init, attempt, j, value, slope, &value);
        (slope ? init->yp : init->y)[j] = value;
        any = any || moves;
    }
    return any;
}

/* Newton's iteration from init->y, init->yp; values that are known as in y and yp. */
static engine_outcome try_from_here(initializer *init)
{
    scales_weights(init, init->y);
    init->T = scales_time(init, 0.0, init->y, init->yp);
    init->test_rank = true;
    return damped_newton(init);
}

/* The solution of which the signs of the unknowns that began at 0 are turned round, if it is
 * another one: its unknown in init->other. The solution found stays in init->y, init->yp. */
static engine_outcome look_behind(initializer *init, double *found)
{
    const int n = init->n;
    const double *y = init->call->y, *yp = init->call->yp;
    double *found_slopes = found + n;
    vector_copy(n, init->y, found);
    vector_copy(n, init->yp, found_slopes);
    for (int j = 0; j < n; j++) {
        double *x = init->derivative[j] ? init->yp + j : init->y + j;
        if ((init->derivative[j] ? yp[j] : y[j]) == 0.0) *x = -*x;
    }
    engine_outcome status = try_from_here(init);
    for (int j = 0; status == ENGINE_MET && j < n && init->other < 0; j++) {
        bool slope = init->derivative[j];
        double now = slope ? found_slopes[j] : found[j], then = slope ? init->yp[j] : init->y[j];
        if (fabs(then - now) <= apart * fmax(fabs(now), fabs(then))) continue;
        init->other = j;
        init->other_value = then;
    }
    vector_copy(n, found, init->y);
    vector_copy(n, found_slopes, init->yp);
    return engine_ends(status) ? status : ENGINE_MET;
}

engine_outcome newton_elsewhere(initializer *init, double *found)
{
    int singular = 0;
    engine_outcome status = ENGINE_STALLED;
    for (int k = 0; k < GUESSES_ELSEWHERE && singular < STRUCTURAL; k++) {
        if (!place(init, k)) return ENGINE_STALLED;
        status = try_from_here(init);
        if (engine_ends(status)) return status;
        if (status == ENGINE_MET) return look_behind(init, found);
        singular += status == ENGINE_SINGULAR && init->iterations == 0;
    }
    return status;
}
