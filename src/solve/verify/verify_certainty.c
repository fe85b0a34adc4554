/* How certain algebraic variables and outputs can be: a force that stiff springs make of positions
 * is not more certain than these. */
#include <math.h>

#include "base/memory.h"
#include "base/vector.h"
#include "solve/verify/verify_parts.h"

/* Moves of the differential variables at random; above this size only outputs are looked at
 * (inspector_units), since each row costs some factorisations. */
enum { MOVES = 3, LARGEST = 400 };

/* Whether the equations at hand determine the algebraic variables as they stand. */
static bool is_suited(const dae_solver *s)
{
    bool some = s->hybrid && s->base->model->evaluated_count > 0;
    if (binding_uses_forms(&s->bound) || s->run.phase == PHASE_READY || s->bound.n > LARGEST ||
        s->bound.rewritten)
        return false;
    for (int i = 0; i < s->bound.n; i++) {
        if (s->bound.kinds[i] > DAE_KIND_INDEX1) return false;
        some = some || s->bound.kinds[i] == DAE_KIND_INDEX1;
    }
    return some;
}

static void read_variables(dae_solver *s, double t, const double *y, const double *yp, double *out)
{
    if (s->hybrid)
        model_instance_outputs(s->hybrid->instance, t, y, yp, out);
    else
        vector_copy(s->bound.n, y, out);
}

/* Solve for the algebraic variables at the differential ones in y; false: that did not succeed */
static bool solve_others(dae_solver *s, initializer *output_projector, double t, double *y,
                         double *yp)
{
    for (int k = 0; k < 2; k++)
        if (initializer_project(output_projector, t, s->run.t_new - s->run.t_old, s->bound.kinds,
                                s->bound.norm.weights, y, yp) != EVAL_OK)
            return false;
    return true;
}

/* The values at t with the differential ones moved by a tolerance, if `moved`. */
static bool sample(dae_solver *s, initializer *output_projector, double t, unsigned *random,
                   bool moved, double *work, double *out)
{
    double *y = work, *yp = work + s->bound.n;
    vector_copy(s->bound.n, s->bound.at_y, y);
    vector_copy(s->bound.n, s->bound.at_yp, yp);
    for (int i = 0; moved && i < s->bound.n; i++) {
        *random = *random * 1664525u + 1013904223u;
        double by = 0.5 + 0.5 * (double)(*random >> 8 & 0x3fffffu) / 4194304.0;
        if (s->bound.kinds[i] == DAE_KIND_DIFFERENTIAL)
            y[i] += (*random >> 31 ? by : -by) * s->bound.norm.weights[i];
    }
    bool solved = solve_others(s, output_projector, t, y, yp);
    if (solved) read_variables(s, t, y, yp, out);
    return solved;
}

bool certainty_find(dae_solver *s, double t, double looser, double *unit)
{
    int all = dae_problem_variable_count(s->base);
    unsigned random = 12345;
    vector_zero(all, unit);
    if (!is_suited(s)) return true;
    initializer *output_projector = binding_output_projector(&s->bound);
    double *work = DAE_ARRAY(double, 2 * ((size_t)s->bound.n + (size_t)all));
    if (!output_projector || !work) {
        dae_free(work);
        return false;
    }
    const eval_failure failure = s->bound.eval.failure;
    const dae_stats stats = s->stats;
    double *here = work + 2 * s->bound.n, *there = here + all;
    bool ok =
        solver_point(s, t) == DAE_OK && sample(s, output_projector, t, &random, false, work, here);
    for (int move = 0; ok && move < MOVES; move++) {
        if (!sample(s, output_projector, t, &random, true, work, there)) break;
        for (int i = 0; i < all; i++) {
            double change = looser * fabs(there[i] - here[i]);
            if (isfinite(change) && change > unit[i]) unit[i] = change;
        }
    }
    s->bound.eval.failure = failure; /* looking is not counted */
    s->stats = stats;
    dae_free(work);
    return true;
}
