/* Other guesses of unknowns that nobody gave.
 *
 * Where Newton's matrix is singular at the guess, as for v^2 = 2 g h at v = 0, the guess is to
 * blame, not what is known: unknowns that are guessed 0 begin at other sizes, of both signs. Known
 * values stay. A matrix that is singular at all of these is so by its structure. */
#include "base/vector.h"
#include "init/workspace.h"

static const double sizes[] = {1.0, 10.0, 0.1, 1e2, 1e-2, 1e3, 1e-3, 1e4, 1e-4, 1e6, 1e-6};
enum { SIZES = sizeof sizes / sizeof *sizes, PATTERNS = 4, STRUCTURAL = 6 };

static const double apart = 1e-3; /* two solutions differ by more than this, relative */

/* +1, -1, or a sign that is mixed over the unknowns */
static double sign_in_pattern(int pattern, int j)
{
    if (pattern < 2) return pattern == 0 ? 1.0 : -1.0;
    unsigned mix = ((unsigned)j + 1u) * 2654435761u + (unsigned)pattern * 40503u;
    mix = (mix ^ (mix >> 15)) * 2246822519u;
    return (mix >> 16) & 1u ? 1.0 : -1.0;
}

bool elsewhere_place(const initializer *init, int attempt, int j, double given, bool slope,
                     double *value)
{
    int pattern = attempt % PATTERNS;
    double size = sizes[attempt / PATTERNS] * (1.0 + 0.1 * (j % 7));
    if (given != 0.0) return false;
    *value = sign_in_pattern(pattern, j) * size;
    if (!slope && !scales_inside(init, j, *value)) *value = -*value;
    if (!slope && !scales_inside(init, j, *value)) *value = given;
    return *value != given;
}

int elsewhere_attempts(void)
{
    return SIZES * PATTERNS;
}

/* Newton's unknowns that are 0 as given, at other guesses. Returns whether there are any. */
static bool place(initializer *init, const double *y, const double *yp, int attempt)
{
    bool any = false;
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
static newton_status try_from_here(initializer *init, double t, double h, const double *weights)
{
    scales_weights(init, weights, init->y, init->weights);
    init->T = scales_time(init, h, 0.0, init->y, init->yp);
    init->test_rank = true;
    return damped_newton(init, t, h, weights);
}

static bool fatal(newton_status status)
{
    return status == NEWTON_STOP || status == NEWTON_MEMORY;
}

/* The solution of which the signs of the unknowns that began at 0 are turned round, if it is
 * another one: its unknown in init->other. The solution found stays in init->y, init->yp. */
static newton_status look_behind(initializer *init, double t, double h, const double *weights,
                                 const double *y, const double *yp, double *found)
{
    const int n = init->n;
    double *found_slopes = found + n;
    vector_copy(n, init->y, found);
    vector_copy(n, init->yp, found_slopes);
    for (int j = 0; j < n; j++) {
        double *x = init->derivative[j] ? init->yp + j : init->y + j;
        if ((init->derivative[j] ? yp[j] : y[j]) == 0.0) *x = -*x;
    }
    newton_status status = try_from_here(init, t, h, weights);
    for (int j = 0; status == NEWTON_OK && j < n && init->other < 0; j++) {
        bool slope = init->derivative[j];
        double now = slope ? found_slopes[j] : found[j], then = slope ? init->yp[j] : init->y[j];
        if (fabs(then - now) <= apart * fmax(fabs(now), fabs(then))) continue;
        init->other = j;
        init->other_value = then;
    }
    vector_copy(n, found, init->y);
    vector_copy(n, found_slopes, init->yp);
    return fatal(status) ? status : NEWTON_OK;
}

newton_status newton_elsewhere(initializer *init, double t, double h, const double *weights,
                               const double *y, const double *yp, double *found)
{
    int singular = 0;
    newton_status status = NEWTON_STALLED;
    for (int k = 0; k < SIZES * PATTERNS && singular < STRUCTURAL; k++) {
        vector_copy(init->n, y, init->y);
        vector_copy(init->n, yp, init->yp);
        if (!place(init, y, yp, k)) return NEWTON_STALLED;
        status = try_from_here(init, t, h, weights);
        if (fatal(status)) return status;
        if (status == NEWTON_OK) return look_behind(init, t, h, weights, y, yp, found);
        singular += status == NEWTON_SINGULAR && init->iterations == 0;
    }
    return status;
}
