/* Consistent initial values of the full mechanical form: q and s on their constraints, v on the
 * velocity level, then accelerations, multipliers and auxiliary variables together. */
#include <float.h>
#include <math.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"
#include "system/form_start.h"

/* ---- positions and velocities ---- */

static eval_status position_level(void *context, double t, const double *q, double *g)
{
    form_instance *x = context;
    return x->mechanical.g(x, t, q, g);
}

/* dg/dq, without the constraints on velocities */
static eval_status position_jacobian(void *context, double t, const double *q, double *values)
{
    form_instance *x = context;
    const mechanical_form *m = &x->mechanical;
    const multibody_work *b = &x->bw;
    if (x->source->as.m.nvelocity == 0)
        return m->evaluate(x, t, q, x->mw.v, NULL, NULL, values, NULL, NULL);
    eval_status status = m->evaluate(x, t, q, x->mw.v, NULL, NULL, x->mw.G, NULL, NULL);
    memcpy(values, b->H, b->H_matrix.count * sizeof *values);
    return status;
}

static dae_status project_positions(const start *s)
{
    form_instance *x = s->x;
    manifold p;
    if (x->source->positions == 0) return DAE_OK;
    if (!manifold_new(&p, &x->bw.H_matrix, s->size)) {
        manifold_free(&p);
        return start_exhausted(s);
    }
    manifold_status moved = manifold_project(&p, position_level, position_jacobian, x, s->t, s->y);
    dae_status status = start_manifold(s, &p, moved, "constraint");
    manifold_free(&p);
    return status;
}

/* G v + g_t, and its derivative G, at the positions mw.a points to */
static eval_status velocity_level(void *context, double t, const double *v, double *c)
{
    form_instance *x = context;
    const mechanical_form *m = &x->mechanical;
    eval_status status = m->evaluate(x, t, x->mw.a, v, NULL, NULL, x->mw.G, c, NULL);
    if (status == EVAL_OK) form_matrix_multiply(&m->G_matrix, x->mw.G, 1.0, v, c);
    return status;
}

static eval_status velocity_jacobian(void *context, double t, const double *v, double *values)
{
    form_instance *x = context;
    return x->mechanical.evaluate(x, t, x->mw.a, v, NULL, NULL, values, NULL, NULL);
}

static dae_status project_velocities(const start *s)
{
    form_instance *x = s->x;
    const mechanical_form *m = &x->mechanical;
    double *v = s->y + m->nq;
    manifold p;
    if (m->nl == 0) return DAE_OK;
    if (!manifold_new(&p, &m->G_matrix, s->size + m->nq)) {
        manifold_free(&p);
        return start_exhausted(s);
    }
    vector_copy(m->nq, s->y, x->mw.a);
    manifold_status moved = manifold_project(&p, velocity_level, velocity_jacobian, x, s->t, v);
    dae_status status = start_manifold(s, &p, moved, "the velocity level of constraint");
    if (status == DAE_OK) status = start_independent(s, &p, p.A, p.b);
    manifold_free(&p);
    if (status == DAE_ERR_SINGULAR) status = start_redundant(s, status);
    return status;
}

/* ---- accelerations, multipliers, auxiliary variables ---- */

/* z = (a, lambda, w) with R(z) = (M a - f + G' lambda, G a + curvature, d) = 0 at a point y. */
typedef struct balance {
    form_instance *x;
    double t;
    double *y; /* lambda and w are moved in it */
    int n, m, k;
    double *a, *R, *moved, *f; /* owned: one block, at a */
    double *J;                 /* in it */
    matrix_layout layout;
    linear_solver *solver;
} balance;

static bool balance_new(balance *b, form_instance *x, double t, double *y)
{
    const mechanical_form *m = &x->mechanical;
    *b = (balance){.x = x, .t = t, .y = y, .n = m->nq, .m = m->nl, .k = x->source->as.m.nw};
    size_t size = (size_t)(b->n + b->m + b->k), n = (size_t)b->n;
    b->a = DAE_ARRAY(double, n + 2 * size + n + size * size);
    if (!b->a || !layout_dense(&b->layout, (int)size)) return false;
    b->R = b->a + n;
    b->moved = b->R + size;
    b->f = b->moved + size;
    b->J = b->f + n;
    b->solver = linear_solver_for(&b->layout)->analyse(&b->layout);
    return b->solver;
}

static void balance_free(balance *b)
{
    linear_free(b->solver);
    layout_free(&b->layout);
    dae_free(b->a);
}

/* lambda_l - sum c_i lambda_i in the rows of constraints that were released */
static void least_norm(const balance *b, const double *c, double *R)
{
    const double *lambda = b->y + mechanical_parts(&b->x->source->as.m).lambda;
    for (int l = 0; l < b->m; l++) {
        if (!b->x->redundant[l]) continue;
        double rest = lambda[l];
        for (int i = 0; i < b->m; i++) rest -= c[l * b->m + i] * lambda[i];
        R[b->n + l] = rest;
    }
}

/* R, but for M a and G a, which are in J exactly; mw has M, G and curvature */
static eval_status balance_rest(balance *b, double *R)
{
    form_instance *x = b->x;
    const mechanical_form *m = &x->mechanical;
    const mechanical_places p = mechanical_parts(&x->source->as.m);
    const double *q = b->y, *v = q + b->n;
    eval_status status = m->evaluate(x, b->t, q, v, NULL, b->f, NULL, NULL, NULL);
    if (status == EVAL_OK) status = multibody_auxiliary(x, b->t, q, v, R + b->n + b->m);
    for (int i = 0; i < b->n; i++) R[i] = -b->f[i];
    form_matrix_transposed(&m->G_matrix, x->mw.G, 1.0, b->y + p.lambda, R);
    vector_copy(b->m, x->mw.curvature, R + b->n);
    if (x->redundant) least_norm(b, form_redundant_relations(x, x->mw.G), R);
    return status;
}

/* Row l of G a + curvature, or nothing where the constraint was released. */
static void add_accelerations(const balance *b, double *R)
{
    const form_instance *x = b->x;
    double *level = b->moved; /* work */
    vector_zero(b->m, level);
    form_matrix_multiply(&x->mechanical.G_matrix, x->mw.G, 1.0, b->a, level);
    for (int l = 0; l < b->m; l++)
        if (!form_instance_released(x, l)) R[b->n + l] += level[l];
}

/* A block of J from a matrix of the form, or its transpose. */
static void put_matrix(balance *b, const form_matrix *A, const double *values, int row)
{
    size_t height = (size_t)(b->n + b->m + b->k);
    for (int j = 0; j < A->columns; j++) {
        size_t first;
        int count;
        form_matrix_column(A, j, &first, &count);
        for (int e = 0; e < count; e++)
            b->J[(size_t)(row + form_matrix_row(A, first, e)) + (size_t)j * height] =
                values[first + (size_t)e];
    }
}

/* Columns of lambda and w by differences of the rest, those of a as they are. */
static eval_status balance_jacobian(balance *b)
{
    form_instance *x = b->x;
    const mechanical_places p = mechanical_parts(&x->source->as.m);
    int size = b->n + b->m + b->k;
    memset(b->J, 0, (size_t)size * (size_t)size * sizeof *b->J);
    put_matrix(b, &x->mechanical.M_matrix, x->mw.M, 0);
    put_matrix(b, &x->mechanical.G_matrix, x->mw.G, b->n);
    for (int l = 0; l < b->m; l++)
        for (int j = 0; j < b->n && form_instance_released(x, l); j++)
            b->J[b->n + l + j * size] = 0.0;
    for (int j = 0; j < b->m + b->k; j++) {
        double *z = j < b->m ? b->y + p.lambda + j : b->y + p.w + j - b->m;
        double *column = b->J + (size_t)(b->n + j) * (size_t)size;
        double before = *z, step = cbrt(DBL_EPSILON) * fmax(1.0, fabs(before));
        *z = before + step;
        eval_status status = balance_rest(b, column);
        *z = before - step;
        if (status == EVAL_OK) status = balance_rest(b, b->moved);
        *z = before;
        if (status != EVAL_OK) return status;
        for (int i = 0; i < size; i++) column[i] = (column[i] - b->moved[i]) / (2.0 * step);
    }
    return EVAL_OK;
}

/* One Newton step; *size: its largest relative component. *singular: there is none. */
static eval_status balance_step(balance *b, double *size, bool *singular)
{
    form_instance *x = b->x;
    const mechanical_places p = mechanical_parts(&x->source->as.m);
    eval_status status = balance_jacobian(b);
    if (status == EVAL_OK) status = balance_rest(b, b->R);
    if (status != EVAL_OK) return status;
    form_matrix_multiply(&x->mechanical.M_matrix, x->mw.M, 1.0, b->a, b->R);
    add_accelerations(b, b->R);
    linear_status factored = linear_factor(b->solver, b->J);
    if (factored == LINEAR_MEMORY) return EVAL_MEMORY;
    double condition = factored == LINEAR_OK ? b->solver->ops->condition(b->solver) : 0.0;
    *singular = condition >= 0.0 && condition < 4.0 * DBL_EPSILON; /* negative: not known */
    if (*singular) return EVAL_OK;
    linear_solve(b->solver, b->R);
    *singular = !vector_finite(b->n + b->m + b->k, b->R);
    *size = 0.0;
    for (int i = 0; !*singular && i < b->n + b->m + b->k; i++) {
        double *z = i < b->n          ? b->a + i
                    : i < b->n + b->m ? b->y + p.lambda + i - b->n
                                      : b->y + p.w + i - b->n - b->m;
        *z -= b->R[i];
        *size = fmax(*size, fabs(b->R[i]) / fmax(1.0, fabs(*z)));
    }
    return EVAL_OK;
}

typedef enum balance_result { BALANCED, BALANCE_SINGULAR, BALANCE_FAR } balance_result;

static eval_status balance_solve(balance *b, balance_result *result)
{
    enum { ITERATIONS = 50 };
    form_instance *x = b->x;
    mechanical_work *w = &x->mw;
    double size = INFINITY, before = INFINITY;
    bool singular = false;
    multibody_at(x, b->y);
    eval_status status =
        x->mechanical.evaluate(x, b->t, b->y, b->y + b->n, w->M, NULL, b->m > 0 ? w->G : NULL, NULL,
                               b->m > 0 ? w->curvature : NULL);
    for (int k = 0; status == EVAL_OK && k < ITERATIONS; k++, before = size) {
        status = balance_step(b, &size, &singular);
        *result = singular ? BALANCE_SINGULAR : BALANCED;
        bool rounding = size >= 0.5 * before && size <= 1e-8;
        if (singular || size <= 1e-13 || rounding) return status;
    }
    *result = BALANCE_FAR;
    return status;
}

static dae_status report_balance(const start *s, const balance *b, balance_result result)
{
    const mechanical_places p = mechanical_parts(&s->x->source->as.m);
    int column = b->solver->singular_column;
    if (column < 0 || result == BALANCE_FAR) column = vector_argmax(b->n + b->m + b->k, b->R, NULL);
    int i = column < b->n          ? column
            : column < b->n + b->m ? p.lambda + column - b->n
                                   : p.w + column - b->n - b->m;
    const char *name = start_variable(s, i);
    if (result == BALANCE_FAR)
        return diag_set(s->diag, DAE_ERR_INITIAL,
                        "No accelerations, multipliers and auxiliary variables were found at t = "
                        "%.9g that satisfy the equations of motion: the iteration for %s does not "
                        "converge. Give values of lambda and w that are closer.",
                        s->t, name);
    return diag_set(s->diag, DAE_ERR_SINGULAR,
                    "The equations of motion do not determine %s%s at t = %.9g: the mass matrix "
                    "must be regular on the motions that the constraints allow, friction must not "
                    "balance the constraint forces, and 0 = auxiliary must determine w.",
                    column < b->n ? "the acceleration of " : "", name, s->t);
}

/* ---- slopes ---- */

/* s' by a central difference along the solution */
static eval_status contact_slopes(const start *s, double step)
{
    form_instance *x = s->x;
    const mechanical_places p = mechanical_parts(&x->source->as.m);
    int n = x->mechanical.nq;
    double *q = x->mw.v, *slope = s->yp + p.s, side[2] = {step, -step};
    eval_status status = EVAL_OK;
    for (int k = 0; status == EVAL_OK && k < 2; k++) {
        dae_mechanical_point at;
        vector_copy(n, s->y, q);
        vector_axpy(n, side[k], s->y + n, q);
        status = multibody_point(x, s->t + side[k], q, NULL, &at);
        for (int i = 0; status == EVAL_OK && i < x->source->as.m.ns; i++)
            slope[i] = k == 0 ? at.s[i] : (slope[i] - at.s[i]) / (2.0 * step);
    }
    return status;
}

/* w' and lambda' by a difference along the solution; zero where that cannot be */
static void multiplier_slopes(const start *s, double step)
{
    form_instance *x = s->x;
    const mechanical_places p = mechanical_parts(&x->source->as.m);
    const eval_failure before = x->eval->failure;
    int n = x->source->n;
    balance_result result = BALANCE_FAR;
    double *y = dae_copy(s->y, (size_t)n, sizeof *y);
    balance b = {0};
    bool ready = y && balance_new(&b, x, s->t + step, y);
    for (int i = 0; ready && i < p.w; i++) y[i] += step * s->yp[i];
    bool found = ready && balance_solve(&b, &result) == EVAL_OK && result == BALANCED;
    for (int i = p.w; i < n; i++)
        if (i < p.s || i >= p.lambda) s->yp[i] = found ? (y[i] - s->y[i]) / step : 0.0;
    balance_free(&b);
    dae_free(y);
    x->eval->failure = before;
    multibody_at(x, s->y);
}

static dae_status find_slopes(const start *s)
{
    form_instance *x = s->x;
    const dae_mechanical *form = &x->source->as.m;
    const mechanical_places p = mechanical_parts(form);
    const double *v = s->y + p.v;
    double most = form->time_scale > 0.0 ? form->time_scale : 1.0;
    double scale = difference_scale(form->nq, s->y, v, form->nominal, most);
    vector_copy(form->nq, v, s->yp);
    multibody_at(x, s->y);
    eval_status status = multibody_dynamics(x, s->t, s->y, v, s->yp + p.r);
    if (status == EVAL_OK && form->ns > 0) status = contact_slopes(s, 1e-5 * scale);
    if (status != EVAL_OK) return start_evaluation(s, status);
    multiplier_slopes(s, 1e-6 * scale);
    return DAE_OK;
}

static dae_status find_balance(const start *s)
{
    form_instance *x = s->x;
    balance b;
    balance_result result = BALANCED;
    bool ready = balance_new(&b, x, s->t, s->y);
    eval_status status = ready ? balance_solve(&b, &result) : EVAL_OK;
    dae_status found = DAE_OK;
    if (!ready || status == EVAL_MEMORY)
        found = start_exhausted(s);
    else if (status != EVAL_OK)
        found = start_evaluation(s, status);
    else if (result != BALANCED)
        found = report_balance(s, &b, result);
    if (found == DAE_OK) found = start_masses(s);
    if (found == DAE_OK) vector_copy(b.n, b.a, s->yp + b.n);
    balance_free(&b);
    return found;
}

/* s at the positions found */
static dae_status take_contact(const start *s)
{
    form_instance *x = s->x;
    const mechanical_places p = mechanical_parts(&x->source->as.m);
    dae_mechanical_point at;
    eval_status status = multibody_point(x, s->t, s->y, NULL, &at);
    if (status != EVAL_OK) return start_evaluation(s, status);
    if (x->source->as.m.ns > 0) vector_copy(x->source->as.m.ns, at.s, s->y + p.s);
    return DAE_OK;
}

dae_status multibody_start(const start *s)
{
    form_instance *x = s->x;
    const mechanical_form *f = &x->mechanical;
    start_sizes(s, 0, f->nq);
    start_sizes(s, f->nq, f->nq);
    vector_copy(f->nq, s->y + f->nq, x->mw.v);
    multibody_at(x, s->y);
    form_redundant_free(x);
    dae_status status = project_positions(s);
    if (status == DAE_OK) status = take_contact(s);
    if (status == DAE_OK) status = project_velocities(s);
    if (status == DAE_OK) status = find_balance(s);
    return status == DAE_OK ? find_slopes(s) : status;
}
