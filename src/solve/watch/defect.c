/* The defect of an attempt inside of its step [Enr89], [Sha05].
 *
 * Error estimates compare two results of a method at the end of a step. Where both miss the same,
 * they agree. The dense output u of the attempt can be put into the equations at any place:
 *
 *     d = G^-1 F(t, u, u'),    G = dF/dy + cj dF/dy',    cj about 4/h.
 *
 * Of stiff and algebraic variables d is the error of u itself, of the others h/4 times the defect.
 * Methods interpolate steps that they have accepted: the state is kept, and put back. */
#include "solve/watch/defect.h"

#include <math.h>
#include <string.h>

#include "base/vector.h"
#include "method/common/stages.h"
#include "solve/watch/watch.h"

/* The shift cj h of the matrix, as in refine.c. */
static const double SHIFT = 4.0;

/* For values of the step itself, not of what a second run makes of it. */
static method_context plain_context(const binding *b)
{
    method_context plain = b->context;
    plain.plain = true;
    return plain;
}

/* u(t) and u'(t) in s->bound.y and s->bound.yp, which are free during a run */
static void look_inside(dae_solver *s, double t)
{
    binding *b = &s->bound;
    const method_context plain = plain_context(b);
    b->method->interpolate(b->state, &plain, t, 0, b->y);
    b->method->interpolate(b->state, &plain, t, 1, b->yp);
    stages_clamp(&b->problem->form, b->y);
}

/* Factors of the method, or new ones of the middle of the step where these do not serve; NULL:
 * there are none. */
static iteration *matrix_of(dae_solver *s, const attempt *a)
{
    binding *b = &s->bound;
    iteration *own = &b->matrix;
    if (own->factored && !own->by_columns && !own->matrix_free) return own;
    if (!b->ends.eval || b->ends.matrix_free) return NULL;
    const double middle = a->t + 0.5 * a->h, cj = SHIFT / a->h;
    look_inside(s, middle);
    const bool made = iteration_evaluate(&b->ends, middle, b->y, b->yp, cj, fabs(a->h),
                                         b->norm.weights, NULL) == ITERATION_OK &&
                      iteration_factor(&b->ends, cj, NULL) == ITERATION_OK;
    return made ? &b->ends : NULL;
}

/* The largest part of d in tolerances, over the states in the error test: algebraic variables
 * inside of a step follow from their equations, and what they are off by does harm where a state
 * feels it. */
static double size_of(const error_norm *norm, const double *d)
{
    double most = 0.0;
    for (int j = 0; j < norm->n; j++) {
        if (norm->kinds[j] != DAE_KIND_DIFFERENTIAL) continue;
        const double size = fabs(d[j]) * norm->tested[j];
        if (!(size <= most)) most = isnan(size) ? INFINITY : size;
    }
    return most;
}

/* Algebraic variables by Newton's method at the states of the dense output: one correction by the
 * matrix of a diode that is closed does not open it. */
static void solve_algebraic(dae_solver *s, const attempt *a, double t)
{
    binding *b = &s->bound;
    initializer *projector = binding_output_projector(b);
    if (!projector) return;
    vector_copy(b->n, b->yp, b->end_off);
    (void)initializer_project(projector, t, a->h, b->kinds, b->norm.weights, b->y, b->yp);
    vector_copy(b->n, b->end_off, b->yp);
}

/* d at t of the step that the method has accepted; its size. */
static double measure(dae_solver *s, const attempt *a, double t, follow_states *follow,
                      void *context)
{
    binding *b = &s->bound;
    iteration *it = matrix_of(s, a);
    if (!it) return 0.0;
    look_inside(s, t);
    if (follow) follow(context, s, t, b->y);
    solve_algebraic(s, a, t);
    const eval_status status =
        evaluate_residual(&b->eval, t, b->y, b->yp, b->end_off, &s->stats.residuals);
    if (status != EVAL_OK || iteration_solve(it, NULL, b->end_off) != ITERATION_OK) return INFINITY;
    return fmax(1.0, fabs(it->cj * a->h) / SHIFT) * size_of(&b->norm, b->end_off);
}

/* To accept uses up what an attempt keeps in its scratch, too. */
static void accept_for_now(binding *b)
{
    memcpy(b->kept, b->state, b->state_size);
    memcpy((char *)b->kept + b->state_size, b->scratch, binding_scratch_size(b));
    const method_context plain = plain_context(b);
    b->method->accept(b->state, b->scratch, &plain);
}

static void take_back(binding *b)
{
    memcpy(b->state, b->kept, b->state_size);
    memcpy(b->scratch, (char *)b->kept + b->state_size, binding_scratch_size(b));
}

bool dense_inside(dae_solver *s, int count, const double *t, double *y, double *yp)
{
    binding *b = &s->bound;
    if (!b->kept) return false;
    accept_for_now(b);
    for (int k = 0; k < count; k++) {
        look_inside(s, t[k]);
        vector_copy(b->n, b->y, y + (size_t)k * (size_t)b->n);
        vector_copy(b->n, b->yp, yp + (size_t)k * (size_t)b->n);
    }
    take_back(b);
    return true;
}

double defect_inside(dae_solver *s, const attempt *a, double t, follow_states *follow,
                     void *context)
{
    binding *b = &s->bound;
    if (!b->kept || !binding_has_all_rows(b) || binding_second_order(b)) return 0.0;
    const eval_failure failure = b->eval.failure;
    accept_for_now(b);
    const double size = measure(s, a, t, follow, context);
    take_back(b);
    if (s->stop.code >= 0) b->eval.failure = failure;
    return size;
}
