/* Tolerances below what rounding in the equations permits.
 *
 * F is computed with an error eps, and the values that solve F = eps are off by G^-1 eps, with G =
 * dF/dy + cj dF/dy'. DASSL and its successors compare the tolerances with the rounding of y alone;
 * in an amplifier of two stages, or next to steep exponentials, G^-1 eps is thousands of times as
 * much. Error estimates then show noise, which no shorter step makes smaller, and a run goes on in
 * steps of no use for ever, or until Newton's iteration or the error test fails at h = 0. So the
 * tolerances are raised to what can be had, with a note, or the run ends by name.
 *
 * eps is measured: from y - d to y + d, and y' by cj d, F changes by 2 G d and by the difference of
 * two errors. There are millions of units in the last place in d, lest both errors be the same: in
 * i1 + i2 with i1 = 100 and i2 = 1e-4 the sum rounds likewise until those digits of i2 change that
 * enter it. Squares of d drop out, and cubes are far below rounding; jumps and kinks are at one
 * side alone, and what goes with d is no rounding. Beside it the values that a step begins with are
 * rounded, by r, which moves those at its end by cj G^-1 dF/dy' r: in algebraic variables that is r
 * times what they gain from the states. And the times of a step are rounded, and with them what
 * depends on time alone: sin(314 t) near its zeros is far less sure than its size tells. */
#include <float.h>
#include <math.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"
#include "solve/watch/watch.h"

enum { TRIALS = 8, MOST_UNITS = 1 << 25 };
/* Rounding does not depend on how far aside is looked. What falls by more than MEANT where the way
 * is shorter by NEARER is none: a kink, a curve, or a Jacobian that is off. */
static const double NEARER = 1.0 / 8.0, MEANT = 1.0 / 4.0;
/* The length of a step that the rest of the run takes so many of: shorter ones make constraints of
 * an index above 1 sensitive, by 1/h and 1/h^2, which is the consequence and not the cause. But
 * where a run goes on in steps that are shorter still, for the sake of something that decays as
 * fast, they count, too; unless so many of them would not do: these are no steps. */
static const double STEPS = 1e3, HOPELESS = 1e9;
/* Differences of noise, as error estimates are, have to be well below the tolerance. */
static const double PART = 0.05;
/* Tolerances that are raised are raised by as much more, lest they be so for ever, but not beyond
 * this part of a variable's size. */
static const double MARGIN = 2.0, MOST_OF_SIZE = 1e-3;
/* Where not even the first digit is left, as on the way to a pole, there is another cause. */
static const double MOST_LOST = 0.1;

typedef struct rounding_scene {
    double t, cj;
    double *y, *yp;   /* the point */
    double *d;        /* the way aside, */
    double *y2, *yp2; /* and the point there */
    double *f, *f2, *x;
    double *afar, *close; /* the largest |G^-1 eps| at both distances, */
    double *start;        /* and what rounding of the values before adds */
    double *noise;        /* per variable: the largest of all that */
} rounding_scene;

/* The tolerance of variable i for the size that it had along the run. Where values pass through
 * zero the one at hand is smaller for a moment, and at a fold that says nothing. */
static double ample_tolerance(const dae_solver *s, int i)
{
    double rtol =
        s->bound.norm.rtol_by_unknown ? s->bound.norm.rtol_by_unknown[i] : s->bound.norm.rtol;
    return fmax(s->bound.norm.weights[i], rtol * s->bound.extent[i]);
}

/* How far y_i may move up and down within its bounds. */
static double room_of(const dae_solver *s, int i, double y)
{
    const dae_residual *form = &s->bound.problem->form;
    double room = INFINITY;
    if (form->lower_bounds) room = fmin(room, y - form->lower_bounds[i]);
    if (form->upper_bounds) room = fmin(room, form->upper_bounds[i] - y);
    return fmax(room, 0.0);
}

/* d: up to so many units in the last place of y, such that y + d and y - d are numbers */
static void choose_way(const dae_solver *s, const rounding_scene *r, double units, unsigned *seed)
{
    for (int i = 0; i < s->bound.n; i++) {
        *seed = *seed * 1664525u + 1013904223u;
        double unit = (double)(*seed >> 8) / 8388608.0 - 1.0; /* in [-1, 1) */
        double way = fmin(units * DBL_EPSILON * fabs(r->y[i]), room_of(s, i, r->y[i]));
        double there = r->y[i] + unit * way;
        r->d[i] = there - r->y[i];
    }
}

/* f = F(y + sign d, y' + sign cj d) */
static bool evaluate_aside(dae_solver *s, const rounding_scene *r, double sign, double *f)
{
    long count = 0;
    for (int i = 0; i < s->bound.n; i++) {
        r->y2[i] = r->y[i] + sign * r->d[i];
        r->yp2[i] = r->yp[i] + sign * r->cj * r->d[i];
    }
    return evaluate_residual(&s->bound.eval, r->t, r->y2, r->yp2, f, &count) == EVAL_OK;
}

/* x = G^-1 (F(y + sign d) - F(y)) - sign d */
static bool change_aside(dae_solver *s, const rounding_scene *r, double sign, double *x)
{
    if (!evaluate_aside(s, r, sign, x)) return false;
    vector_axpy(s->bound.n, -1.0, r->f, x);
    if (iteration_solve(&s->bound.view, NULL, x) != ITERATION_OK) return false;
    vector_axpy(s->bound.n, -sign, r->d, x);
    return true;
}

/* x = what changes on both sides, and does not between them: squares of d drop out, and a jump or a
 * kink is at one side only */
static bool noise_of_values(dae_solver *s, const rounding_scene *r)
{
    if (!change_aside(s, r, 1.0, r->x) || !change_aside(s, r, -1.0, r->f2)) return false;
    for (int i = 0; i < s->bound.n; i++) {
        double up = r->x[i], down = r->f2[i], across = 0.5 * fabs(up - down);
        r->x[i] = fmin(across, fmin(fabs(up), fabs(down)));
    }
    return true;
}

/* yp2 = cj G^-1 dF/dy' d in half a unit, as the values before are rounded; d has so many */
static bool rounding_of_start(dae_solver *s, const rounding_scene *r, double units)
{
    for (int i = 0; i < s->bound.n; i++) r->y2[i] = 0.5 * r->cj / units * r->d[i];
    return iteration_apply_yp(&s->bound.view, NULL, r->y2, r->yp2) == ITERATION_OK &&
           iteration_solve(&s->bound.view, NULL, r->yp2) == ITERATION_OK;
}

/* x = G^-1 (F(t2) - F(t)) for the time t2 that is `units` roundings from t */
static bool change_in_time(dae_solver *s, const rounding_scene *r, double units, double *x)
{
    long count = 0;
    double t = r->t + units * DBL_EPSILON * fabs(r->t);
    if (evaluate_residual(&s->bound.eval, t, r->y, r->yp, x, &count) != EVAL_OK) return false;
    vector_axpy(s->bound.n, -1.0, r->f, x);
    return iteration_solve(&s->bound.view, NULL, x) == ITERATION_OK;
}

/* noise += what one rounding of t changes, on that side of t where it changes less: a jump is at
 * one side only, and is no rounding */
static bool add_noise_of_time(dae_solver *s, rounding_scene *r)
{
    if (!change_in_time(s, r, 1.0, r->x) || !change_in_time(s, r, -1.0, r->y2)) return false;
    for (int i = 0; i < s->bound.n; i++) r->noise[i] += fmin(fabs(r->x[i]), fabs(r->y2[i]));
    return true;
}

/* largest = max |x| over trials at so many units aside, and r->start likewise */
static bool noise_aside(dae_solver *s, const rounding_scene *r, double units, double *largest)
{
    unsigned seed = 7;
    for (int trial = 0; trial < TRIALS; trial++) {
        choose_way(s, r, units, &seed);
        if (!noise_of_values(s, r) || !rounding_of_start(s, r, units)) return false;
        for (int i = 0; i < s->bound.n; i++) {
            largest[i] = fmax(largest[i], fabs(r->x[i]));
            r->start[i] = fmax(r->start[i], fabs(r->yp2[i]));
        }
    }
    return true;
}

/* noise = what both distances tell, rounding of the start included, and what a rounding of t adds,
 * if that counts; false: it cannot be told */
static bool measure_noise(dae_solver *s, rounding_scene *r, bool of_time)
{
    long count = 0;
    double h = 1.0 / r->cj;
    if (evaluate_residual(&s->bound.eval, r->t, r->y, r->yp, r->f, &count) != EVAL_OK ||
        iteration_evaluate(&s->bound.view, r->t, r->y, r->yp, r->cj, fabs(h), s->bound.norm.weights,
                           r->f) != ITERATION_OK ||
        iteration_factor(&s->bound.view, r->cj, NULL) != ITERATION_OK ||
        !noise_aside(s, r, MOST_UNITS, r->afar) ||
        !noise_aside(s, r, NEARER * MOST_UNITS, r->close))
        return false;
    for (int i = 0; i < s->bound.n; i++) {
        bool meant = r->close[i] >= MEANT * r->afar[i];
        double values = meant ? fmax(r->close[i], r->afar[i]) : 0.0;
        r->noise[i] = fmax(r->noise[i], values + r->start[i]);
    }
    return (!of_time || add_noise_of_time(s, r)) && vector_finite(s->bound.n, r->noise);
}

/* What rounding does to every variable where the run stands, with steps h, at least noise; false:
 * it cannot be told */
static bool find_noise(dae_solver *s, double h, bool of_time, double *noise)
{
    int n = s->bound.n;
    double *work = DAE_ARRAY(double, 11 * (size_t)n);
    if (!work) return false;
    rounding_scene r = {.t = s->run.t_new, .cj = 1.0 / h, .y = work, .yp = work + n};
    r.y2 = work + 2 * n, r.yp2 = work + 3 * n, r.f = work + 4 * n, r.x = work + 5 * n;
    r.f2 = work + 6 * n, r.d = work + 7 * n;
    r.afar = work + 8 * n, r.close = work + 9 * n, r.start = work + 10 * n;
    r.noise = noise;
    solver_interpolate(s, r.t, 0, r.y);
    solver_interpolate(s, r.t, 1, r.yp);
    const eval_failure before = s->bound.eval.failure;
    bool told = binding_output_projector(&s->bound) && measure_noise(s, &r, of_time);
    s->bound.eval.failure = before;
    dae_free(work);
    return told;
}

static bool applies(const dae_solver *s)
{
    return s->run.phase == PHASE_RUNNING && !binding_uses_forms(&s->bound) &&
           !s->bound.context.second && !s->bound.matrix.matrix_free &&
           !s->bound.norm.user_weights && !s->bound.norm.user_norm &&
           s->bound.options.precision == DAE_PRECISION_DOUBLE;
}

/* Whether variable i is in the error test, or was, and comes back: Newton's iteration sees it. */
static bool counts(const error_norm *norm, int i)
{
    return norm->tested[i] > 0.0 || norm->exempt[i] > 0;
}

/* The variable of the error test whose noise is largest in tolerances; -1: all are well below */
static int worst_of(const dae_solver *s, const double *noise)
{
    int variable = -1;
    double worst = PART;
    for (int i = 0; i < s->bound.n; i++) {
        double size = noise[i] / s->bound.norm.weights[i];
        if (!counts(&s->bound.norm, i) || !(size > worst)) continue;
        worst = size;
        variable = i;
    }
    return variable;
}

/* How large variable i is: what it was and is, in s->bound.work, what its declaration says, or what
 * its tolerances do. */
static double size_of(const dae_solver *s, int i)
{
    const model_form *f = s->hybrid ? s->hybrid->instance->form : NULL;
    int v = f && f->unknown_variable ? f->unknown_variable[i] : -1;
    double nominal =
        v < 0 ? (double)NAN : fabs(model_form_constant(f, f->flat->variables[v].nominal));
    if (f && !(isfinite(nominal) && nominal > 0.0)) nominal = 1.0;
    if (!f)
        nominal = s->bound.options.rtol > 0.0 ? s->bound.options.atol / s->bound.options.rtol : 0.0;
    return fmax(nominal, fmax(s->bound.extent[i], fabs(s->bound.work[i])));
}

/* Whether the tolerance of variable i is below what such a noise permits. */
static bool is_below(const dae_solver *s, int i, double noise)
{
    return MARGIN * noise / PART > s->bound.norm.weights[i];
}

/* Hold every variable to what rounding permits; false: some would lose nearly all of their digits,
 * or nobody would be told. */
static bool raise_floors(dae_solver *s, const double *noise)
{
    if (!s->bound.options.message) return false;
    for (int i = 0; i < s->bound.n; i++)
        if (counts(&s->bound.norm, i) && MARGIN * noise[i] / PART > MOST_OF_SIZE * size_of(s, i))
            return false;
    for (int i = 0; i < s->bound.n; i++)
        if (is_below(s, i, noise[i]) &&
            !norm_raise_floor(&s->bound.norm, i, MARGIN * noise[i] / PART))
            return false;
    return floors_keep(s) && norm_update(&s->bound.norm, s->run.t_new, s->bound.work) < 0;
}

/* Of the first one in a run, and of those that are worse by far. */
static void tell_floor(dae_solver *s, int variable, double noise, double tolerance)
{
    static const double WORSE = 10.0;
    const double raised = s->bound.norm.floor ? s->bound.norm.floor[variable] / tolerance : 0.0;
    if (!(raised > WORSE * s->run.floor_told)) return;
    s->run.floor_told = raised;
    const char *name = problem_variable(s->bound.problem, variable);
    dae_diag text;
    diag_clear(&text);
    diag_set(
        &text, DAE_OK,
        "note: at t = %.6g rounding in the equations makes %.200s uncertain by %.2g, which its "
        "tolerance of %.2g does not permit: from here on its error is held below %.2g. Loosen "
        "the tolerances, or give it one of its own (--atol-of, atol_by_unknown).",
        s->run.t_new, name, noise, tolerance, s->bound.norm.floor[variable]);
    s->bound.options.message(text.text, s->bound.options.user);
}

static void explain(dae_solver *s, int variable, double noise)
{
    double tolerance = s->bound.norm.weights[variable];
    diag_clear(&s->diag);
    s->diag.t = s->run.t_new;
    s->diag.h = s->stats.last_h;
    s->diag.value = noise;
    diag_variable(&s->diag, variable, problem_variable(s->bound.problem, variable));
    diag_set(&s->diag, DAE_ERR_TOLERANCE,
             "At t = %.9g the tolerances ask for more accuracy than rounding in the equations "
             "permits: it makes variable %s uncertain by %.2g, where the tolerance is %.2g. Error "
             "estimates show that noise, and no step, however short (h = %.2g), makes it smaller. "
             "Multiply rtol and atol by %.2g.",
             s->run.t_new, s->diag.variable_name, noise, tolerance, s->stats.last_h,
             fmax(2.0, noise / (PART * tolerance)));
}

/* The noise with steps h, and with shorter ones, unless these are 0; false: it cannot be told */
static bool noise_of_steps(dae_solver *s, double h, double shorter, bool of_time, double *noise)
{
    vector_zero(s->bound.n, noise);
    return find_noise(s, h, of_time, noise) &&
           (shorter == 0.0 || find_noise(s, shorter, of_time, noise));
}

/* The variable that rounding harms most; -1: none. Where a rounding of t makes a state unsure y'
 * has no bound: the equations are singular there, and that is to be told. */
static int find_worst(dae_solver *s, double h, double shorter, double *noise)
{
    int variable = noise_of_steps(s, h, shorter, true, noise) ? worst_of(s, noise) : -1;
    if (variable < 0 || s->bound.kinds[variable] != DAE_KIND_DIFFERENTIAL) return variable;
    return noise_of_steps(s, h, shorter, false, noise) ? worst_of(s, noise) : -1;
}

/* The steps to look at: those of the way to tend, and shorter ones, if `step` is one; false: there
 * is no way to go. */
static bool choose_steps(const dae_solver *s, double tend, double step, double *h, double *shorter)
{
    double way = fmax(fabs(tend - s->run.t_new), fabs(s->run.t_new - s->run.stall.t0));
    *h = copysign(way / STEPS, s->run.direction);
    *shorter = step != 0.0 && fabs(step) < fabs(*h) ? step : 0.0;
    if (*shorter != 0.0 && fabs(step) < way / HOPELESS) *shorter = copysign(way / HOPELESS, step);
    return applies(s) && way > 0.0;
}

rounding_result rounding_look(dae_solver *s, double tend, double step)
{
    double h, shorter;
    if (!choose_steps(s, tend, step, &h, &shorter)) return ROUNDING_FINE;
    rounding_result result = ROUNDING_FINE;
    double *noise = DAE_ARRAY(double, s->bound.n);
    int variable = noise ? find_worst(s, h, shorter, noise) : -1;
    solver_interpolate(s, s->run.t_new, 0, s->bound.work);
    if (variable >= 0) {
        double tolerance = s->bound.norm.weights[variable], worst = noise[variable];
        bool ample = worst <= PART * ample_tolerance(s, variable);
        bool lost = worst > MOST_LOST * size_of(s, variable);
        if (raise_floors(s, noise))
            result = ROUNDING_HELD;
        else if (!ample && !lost)
            result = ROUNDING_TOO_MUCH;
        if (result == ROUNDING_HELD) tell_floor(s, variable, noise[variable], tolerance);
        if (result == ROUNDING_TOO_MUCH) explain(s, variable, noise[variable]);
    }
    dae_free(noise);
    return result;
}

rounding_result rounding_hides(dae_solver *s, double tend, double step, int i, double error)
{
    double h, shorter;
    bool possible = choose_steps(s, tend, step, &h, &shorter);
    double *noise = possible ? DAE_ARRAY(double, s->bound.n) : NULL;
    rounding_result result = ROUNDING_FINE;
    bool told = noise && noise_of_steps(s, h, shorter, true, noise);
    if (told && error <= noise[i] / PART && is_below(s, i, noise[i])) {
        const double tolerance = s->bound.norm.weights[i];
        solver_interpolate(s, s->run.t_new, 0, s->bound.work);
        result = raise_floors(s, noise) ? ROUNDING_HELD : ROUNDING_TOO_MUCH;
        if (result == ROUNDING_TOO_MUCH) explain(s, i, noise[i]);
        if (result == ROUNDING_HELD) tell_floor(s, i, noise[i], tolerance);
    }
    dae_free(noise);
    return result;
}
