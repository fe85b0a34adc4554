#include "forms/form_explicit.h"

#include <float.h>
#include <math.h>

#include "base/memory.h"
#include "base/vector.h"
#include "linalg/linear_solver.h"
#include "matrix/jacobian.h"

/* Newton ends when what is left of y' is below this part of it. */
static const double TOLERANCE = 1e-13;
/* Matrices with which it contracts by less are made anew. */
static const double WORST_RATE = 0.1;
enum { ITERATIONS = 12 };

struct ode_form {
    evaluator *eval;
    form_set set;
    manifold_form form;
    int n, undetermined;
    jacobian jacobian;
    bool made; /* the jacobian is */
    bool factored;
    linear_solver *solver;
    long layout_version;
    double *yp, *F, *weights; /* n each; one block, at yp: y' of the last call, residuals */
    double *inside;           /* n, in that block: y within the bounds */
};

void ode_form_free(ode_form *x)
{
    if (!x) return;
    if (x->solver) linear_free(x->solver);
    if (x->made) jacobian_free(&x->jacobian);
    dae_free_all(x->yp, x);
}

void ode_form_persist(ode_form *x, persist *p)
{
    jacobian_persist(&x->jacobian, p);
    PERSIST(p, x->undetermined);
    PERSIST(p, x->factored);
    PERSIST(p, x->layout_version);
    persist_block(p, x->yp);
    const bool there = persist_flag(p, x->solver != NULL);
    if (p->reading) {
        linear_free(x->solver);
        x->solver = there && persist_ok(p) ? linear_new(&x->jacobian.layout) : NULL;
        if (there && !x->solver) p->no_memory = true;
    }
    if (x->solver) linear_persist(x->solver, p);
}

/* dF/dy' at a point, with its factors */
static eval_status renew(ode_form *x, double t, const double *y, const double *yp)
{
    for (int i = 0; i < x->n; i++) x->weights[i] = 1e-6 * (1.0 + fabs(y[i]));
    eval_status status = jacobian_evaluate(&x->jacobian, t, y, yp, 1.0, x->weights, NULL);
    x->factored = false;
    if (status != EVAL_OK) return status;
    if (!x->solver || x->layout_version != x->jacobian.layout_version) {
        if (x->solver) linear_free(x->solver);
        x->solver = linear_new(&x->jacobian.layout);
        x->layout_version = x->jacobian.layout_version;
    }
    if (!x->solver) return EVAL_MEMORY;
    linear_status linear = linear_factor(x->solver, x->jacobian.dfdyp);
    x->eval->stats->factorisations++;
    if (linear == LINEAR_MEMORY) return EVAL_MEMORY;
    if (linear == LINEAR_SINGULAR || x->solver->ops->condition(x->solver) < 1e3 * DBL_EPSILON) {
        x->undetermined = linear == LINEAR_SINGULAR ? x->solver->singular_column : 0;
        return EVAL_RETRY;
    }
    x->factored = true;
    return EVAL_OK;
}

/* One correction of y'; *size: largest change against the largest y' */
static eval_status correct(ode_form *x, double t, const double *y, double *yp, double *size)
{
    eval_status status = evaluate_residual(x->eval, t, y, yp, x->F, &x->eval->stats->residuals);
    if (status != EVAL_OK) return status;
    linear_solve(x->solver, x->F);
    double change = 0.0, most = 0.0;
    for (int i = 0; i < x->n; i++) {
        yp[i] -= x->F[i];
        change = fmax(change, fabs(x->F[i]));
        most = fmax(most, fabs(yp[i]));
    }
    if (!isfinite(change)) return EVAL_RETRY;
    *size = most > 0.0 ? change / most : 0.0;
    return EVAL_OK;
}

/* *y within the bounds, outside of which F need not exist, where rounding alone, or what a method
 * forgives, has moved it out; false: it is farther out. */
static bool keep_inside(const ode_form *x, const double **y)
{
    static const double FORGIVEN = 1e-2; /* of 1 and of the value; methods forgive no more */
    const dae_residual *form = &x->eval->problem->form;
    if (!form->lower_bounds && !form->upper_bounds) return true;
    for (int i = 0; i < x->n; i++) {
        double value = (*y)[i];
        if (form->lower_bounds) value = fmax(value, form->lower_bounds[i]);
        if (form->upper_bounds) value = fmin(value, form->upper_bounds[i]);
        if (!(fabs(value - (*y)[i]) <= FORGIVEN * (1.0 + fabs(value)))) return false;
        x->inside[i] = value;
    }
    *y = x->inside;
    return true;
}

static eval_status phi(void *context, double t, const double *y, double alpha, double *yp)
{
    ode_form *x = context;
    (void)alpha;
    x->undetermined = -1;
    if (!keep_inside(x, &y)) return EVAL_RETRY;
    vector_copy(x->n, x->yp, yp);
    eval_status status = x->factored ? EVAL_OK : renew(x, t, y, yp);
    double last = INFINITY;
    for (int k = 0; k < ITERATIONS && status == EVAL_OK; k++) {
        double size = 0.0;
        status = correct(x, t, y, yp, &size);
        double rate = k > 0 && last > 0.0 ? size / last : 1.0;
        bool done = size * fmin(rate, 1.0) <= TOLERANCE || (size >= last && size < 1e-8);
        if (status == EVAL_OK && done) {
            vector_copy(x->n, yp, x->yp);
            return EVAL_OK;
        }
        if (status == EVAL_OK && k > 0 && rate > WORST_RATE) status = renew(x, t, y, yp);
        last = size;
    }
    x->factored = false;
    return status == EVAL_OK ? EVAL_RETRY : status;
}

static eval_status no_constraints(void *context, double t, const double *y, double *c)
{
    (void)context, (void)t, (void)y, (void)c;
    return EVAL_OK;
}

static int undetermined(void *context)
{
    return ((const ode_form *)context)->undetermined;
}

ode_form *ode_form_new(evaluator *eval)
{
    ode_form *x = DAE_NEW(ode_form);
    if (!x) return NULL;
    x->eval = eval;
    x->n = eval->problem->form.n;
    const size_t n = (size_t)x->n;
    x->made =
        SHARED_BLOCK(SHARE(x->yp, n), SHARE(x->F, n), SHARE(x->weights, n), SHARE(x->inside, n)) &&
        jacobian_new(&x->jacobian, eval, DAE_LINEAR_AUTO, NULL) == DAE_OK;
    if (!x->made) {
        ode_form_free(x);
        return NULL;
    }
    x->form =
        (manifold_form){.n = x->n,
                        .context = x,
                        .phi = phi,
                        .c = no_constraints,
                        .c_x = no_constraints,
                        .undetermined = undetermined,
                        .deficient = "dF/dy' is singular: this is no ODE. Give the problem in "
                                     "a form that shows its constraints, or use a method "
                                     "for residual forms, such as bdf"};
    x->set.manifold = &x->form;
    return x;
}

const form_set *ode_form_set(const ode_form *x)
{
    return &x->set;
}
