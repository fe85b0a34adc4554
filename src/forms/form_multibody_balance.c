/* Accelerations, multipliers and auxiliary variables of the full mechanical form at a point: at the
 * start, and where methods end their steps on the constraints. */
#include <float.h>
#include <math.h>

#include "base/memory.h"
#include "base/vector.h"
#include "forms/form_parts.h"
#include "linalg/saddle.h"

/* Dense matrices of more rows cost more than what they are good for. */
enum { MOST_ROWS = 200 };

/* z = (a, lambda, w) with R(z) = (M a - f + G' lambda, G a + curvature, d) = 0 at a point y. */
struct balance {
    form_instance *x;
    double t;
    double *y; /* lambda and w are moved in it */
    int n, m, k;
    double *a, *R, *moved, *f; /* owned: one block, at a */
    double *J;                 /* in it */
    double *scale;             /* of J's rows and columns; in it, too */
    saddle *plain; /* large [M G'; G 0], sparse where it is: R is linear, and nothing else in it */
    matrix_layout layout;
    linear_solver *solver; /* else */
    bool factored;         /* J is that of this point, or of one very near */
};

balance *balance_new(form_instance *x)
{
    const mechanical_form *m = &x->mechanical;
    balance *b = DAE_NEW(balance);
    if (!b) return NULL;
    *b = (balance){.x = x, .n = m->nq, .m = m->nl, .k = x->source->as.m.nw};
    size_t size = (size_t)(b->n + b->m + b->k), n = (size_t)b->n;
    const bool large = !x->source->full && !x->redundant && size > MOST_ROWS;
    bool ready = SHARED_BLOCK(
        SHARE(b->a, n), SHARE(b->R, size), SHARE(b->f, n), SHARE(b->scale, size),
        SHARE(b->moved, size + (size_t)x->source->as.m.nr), SHARE(b->J, large ? 0 : size * size));
    const saddle_shape shape = {.n = m->nq,
                                .m = m->nl,
                                .M = {m->M_matrix.colptr, m->M_matrix.rowind},
                                .C = {m->G_matrix.colptr, m->G_matrix.rowind},
                                .transposed = true,
                                .block = m->M_matrix.diagonal ? 1 : m->M_matrix.block};
    if (ready && large)
        b->plain = saddle_new(&shape);
    else if (ready && layout_dense(&b->layout, (int)size))
        b->solver = linear_new(&b->layout);
    if (b->solver || b->plain) return b;
    balance_free(b);
    return NULL;
}

void balance_free(balance *b)
{
    if (!b) return;
    saddle_free(b->plain);
    linear_free(b->solver);
    layout_free(&b->layout);
    dae_free_all(b->a, b);
}

const double *balance_accelerations(const balance *b)
{
    return b->a;
}

/* z_i, and a size for it: the largest of its part of z, since units are those of the user */
static double *unknown(const balance *b, int i)
{
    const mechanical_places p = mechanical_parts(&b->x->source->as.m);
    if (i < b->n) return b->a + i;
    return i < b->n + b->m ? b->y + p.lambda + i - b->n : b->y + p.w + i - b->n - b->m;
}

static double size_at(const balance *b, int i)
{
    int first = i < b->n ? 0 : i < b->n + b->m ? b->n : b->n + b->m;
    int count = i < b->n ? b->n : i < b->n + b->m ? b->m : b->k;
    double most = 0.0;
    for (int j = first; j < first + count; j++) most = fmax(most, fabs(*unknown(b, j)));
    return most;
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

/* Columns of lambda and w by differences of the rest, those of a as they are, and without friction
 * those of lambda. */
static eval_status balance_jacobian(balance *b)
{
    form_instance *x = b->x;
    bool differenced = x->source->as.m.friction || x->redundant;
    int size = b->n + b->m + b->k;
    const size_t height = (size_t)size;
    const form_matrix *G = &x->mechanical.G_matrix;
    memset(b->J, 0, height * height * sizeof *b->J);
    form_matrix_place(&x->mechanical.M_matrix, x->mw.M, 1, height, b->J);
    form_matrix_place(G, x->mw.G, 1, height, b->J + b->n);
    for (int l = 0; l < b->m; l++)
        for (int j = 0; j < b->n && form_instance_released(x, l); j++)
            b->J[b->n + l + j * size] = 0.0;
    if (!differenced) form_matrix_place(G, x->mw.G, height, 1, b->J + height * (size_t)b->n);
    for (int j = differenced ? b->n : b->n + b->m; j < size; j++) {
        double *z = unknown(b, j), *column = b->J + (size_t)j * (size_t)size;
        double before = *z, scale = size_at(b, j);
        double step = cbrt(DBL_EPSILON) * (scale > 0.0 ? scale : 1.0);
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

/* J := D J D with D such that the largest entry of M and of each row of G is 1: units of mass and
 * of the constraints do not count */
static void balance_scale(balance *b)
{
    const mechanical_form *m = &b->x->mechanical;
    const int size = b->n + b->m + b->k;
    double mass = 0.0, *row = b->scale + b->n;
    for (size_t e = 0; e < m->M_matrix.count; e++) mass = fmax(mass, fabs(b->x->mw.M[e]));
    mass = mass > 0.0 ? sqrt(mass) : 1.0;
    vector_zero(b->m, row);
    for (form_entry e = {0}; form_matrix_next(&m->G_matrix, &e);)
        row[e.row] = fmax(row[e.row], fabs(b->x->mw.G[e.at]));
    for (int i = 0; i < b->n; i++) b->scale[i] = 1.0 / mass;
    for (int i = 0; i < b->m; i++) row[i] = mass / (row[i] > 0.0 ? row[i] : 1.0);
    for (int i = 0; i < b->k; i++) row[b->m + i] = 1.0;
    for (int j = 0; j < size; j++)
        for (int i = 0; i < size; i++) b->J[i + j * size] *= b->scale[i] * b->scale[j];
}

/* R := J^-1 R */
static void balance_linear(balance *b)
{
    if (b->plain) {
        saddle_solve(b->plain, b->R, b->R + b->n);
        return;
    }
    const int size = b->n + b->m + b->k;
    for (int i = 0; i < size; i++) b->R[i] *= b->scale[i];
    linear_solve(b->solver, b->R);
    for (int i = 0; i < size; i++) b->R[i] *= b->scale[i];
}

static eval_status balance_factor(balance *b, bool *singular)
{
    if (b->plain) {
        saddle_status plain = saddle_factor(b->plain, b->x->mw.M, b->x->mw.G, b->x->mw.G);
        *singular = plain != SADDLE_OK;
        return plain == SADDLE_MEMORY ? EVAL_MEMORY : EVAL_OK;
    }
    eval_status status = balance_jacobian(b);
    if (status != EVAL_OK) return status;
    balance_scale(b);
    linear_status factored = linear_factor(b->solver, b->J);
    if (factored == LINEAR_MEMORY) return EVAL_MEMORY;
    double condition = factored == LINEAR_OK ? b->solver->ops->condition(b->solver) : 0.0;
    *singular = condition >= 0.0 && condition < 4.0 * DBL_EPSILON; /* negative: not known */
    return EVAL_OK;
}

/* One Newton step; *size: its largest component, relative to its part of z. */
static eval_status balance_step(balance *b, double *size, bool *singular)
{
    form_instance *x = b->x;
    int count = b->n + b->m + b->k;
    eval_status status = balance_rest(b, b->R);
    if (status != EVAL_OK) return status;
    form_matrix_multiply(&x->mechanical.M_matrix, x->mw.M, 1.0, b->a, b->R);
    add_accelerations(b, b->R);
    balance_linear(b);
    *singular = !vector_finite(count, b->R);
    *size = 0.0;
    if (*singular) return EVAL_OK;
    for (int i = 0; i < count; i++) *unknown(b, i) -= b->R[i];
    for (int i = 0; i < count; i++)
        if (b->R[i] != 0.0) *size = fmax(*size, fabs(b->R[i]) / fmax(size_at(b, i), DBL_MIN));
    return EVAL_OK;
}

/* M, G and curvature at (t, y) into mw */
static eval_status balance_at(balance *b, double t, double *y)
{
    form_instance *x = b->x;
    mechanical_work *w = &x->mw;
    b->t = t;
    b->y = y;
    multibody_at(x, y);
    return x->mechanical.evaluate(x, t, y, y + b->n, w->M, NULL, b->m > 0 ? w->G : NULL, NULL,
                                  b->m > 0 ? w->curvature : NULL);
}

/* Matrices that contract by less than FAST are not worth keeping. */
eval_status balance_solve(balance *b, double t, double *y, balance_result *result)
{
    enum { ITERATIONS = 50 };
    static const double FAST = 0.1;
    double size = INFINITY, before = INFINITY;
    bool singular = false, factored = b->factored;
    bool linear = !factored && !b->x->source->as.m.friction && !b->x->redundant && b->k == 0;
    vector_zero(b->n, b->a);
    b->factored = false;
    eval_status status = balance_at(b, t, y);
    if (linear) vector_zero(b->m, y + mechanical_parts(&b->x->source->as.m).lambda);
    for (int k = 0; status == EVAL_OK && k < ITERATIONS; k++) {
        bool slow = k > 0 && !(size <= FAST * before);
        if (slow || (k == 0 && !factored)) status = balance_factor(b, &singular);
        before = size;
        if (status == EVAL_OK && !singular) status = balance_step(b, &size, &singular);
        *result = singular ? BALANCE_SINGULAR : BALANCED;
        bool rounding = size >= 0.5 * before && size <= 1e-8;
        if (singular || size <= 1e-13 || rounding || linear) return status;
    }
    *result = BALANCE_FAR;
    return status;
}

/* The position of the smallest mass. */
static int lightest(const balance *b)
{
    const form_matrix *M = &b->x->mechanical.M_matrix;
    int least = 0;
    vector_zero(b->n, b->moved);
    for (form_entry e = {0}; form_matrix_next(M, &e);)
        b->moved[e.row] = fmax(b->moved[e.row], fabs(b->x->mw.M[e.at]));
    for (int i = 1; i < b->n; i++)
        if (b->moved[i] < b->moved[least]) least = i;
    return least;
}

int balance_culprit(const balance *b, balance_result result, bool *acceleration)
{
    int column = b->plain ? lightest(b) : b->solver->singular_column;
    if (column < 0 || result == BALANCE_FAR) column = vector_argmax(b->n + b->m + b->k, b->R, NULL);
    const mechanical_places p = mechanical_parts(&b->x->source->as.m);
    *acceleration = column < b->n;
    if (column < b->n) return column;
    return column < b->n + b->m ? p.lambda + column - b->n : p.w + column - b->n - b->m;
}

/* ---- for methods ---- */

static eval_status settle(void *context, double t, double *y, double *yp, bool *settled)
{
    form_instance *x = context;
    const mechanical_places p = mechanical_parts(&x->source->as.m);
    const int n = x->mechanical.nq;
    balance_result result = BALANCE_FAR;
    dae_mechanical_point at;
    multibody_at(x, y);
    eval_status status = multibody_point(x, t, y, NULL, &at);
    if (status == EVAL_OK && at.s) vector_copy(x->source->as.m.ns, at.s, y + p.s);
    if (status == EVAL_OK) status = balance_solve(x->bw.settles, t, y, &result);
    *settled = status == EVAL_OK && result == BALANCED;
    if (!*settled) return status;
    vector_copy(n, y + n, yp);
    vector_copy(n, balance_accelerations(x->bw.settles), yp + n);
    return multibody_dynamics(x, t, y, y + n, yp + p.r);
}

static void near_point(void *context, const double *y)
{
    multibody_at(context, y);
}

static eval_status factor(void *context, double t, double *y, bool *regular)
{
    form_instance *x = context;
    balance *b = x->bw.settles;
    bool singular = true;
    eval_status status = balance_at(b, t, y);
    if (status == EVAL_OK) status = balance_factor(b, &singular);
    *regular = b->factored = status == EVAL_OK && !singular;
    return status;
}

/* J (dx, mu, nu) = (0, r, 0) */
static void solve(void *context, double *dx, const double *r)
{
    form_instance *x = context;
    balance *b = x->bw.settles;
    vector_zero(b->n + b->m + b->k, b->R);
    for (int l = 0; l < b->m; l++) b->R[b->n + l] = form_instance_released(x, l) ? 0.0 : r[l];
    balance_linear(b);
    vector_copy(b->n, b->R, dx);
}

/* r' for lambda and w moved by `part` of (mu, nu) of the last solve */
static eval_status pushed(form_instance *x, double t, double part, double *rates)
{
    balance *b = x->bw.settles;
    const mechanical_places p = mechanical_parts(&x->source->as.m);
    const double *mu = b->R + b->n, *nu = mu + b->m;
    vector_axpy(b->m, part, mu, b->y + p.lambda);
    vector_axpy(b->k, part, nu, b->y + p.w);
    eval_status status = multibody_dynamics(x, t, b->y, b->y + b->n, rates);
    vector_axpy(b->m, -part, mu, b->y + p.lambda);
    vector_axpy(b->k, -part, nu, b->y + p.w);
    return status;
}

/* dr = r'_lambda mu + r'_w nu by a central difference */
static eval_status push(void *context, double t, double *y, double *dr)
{
    form_instance *x = context;
    balance *b = x->bw.settles;
    const int nr = x->source->as.m.nr;
    double most = 0.0, scale = 0.0, *other = b->moved;
    vector_zero(nr, dr);
    if (!x->bw.form.pushes) return EVAL_OK;
    b->y = y;
    multibody_at(x, y);
    for (int i = b->n; i < b->n + b->m + b->k; i++) {
        most = fmax(most, fabs(b->R[i]));
        scale = fmax(scale, fabs(*unknown(b, i)));
    }
    if (most == 0.0) return EVAL_OK;
    double part = cbrt(DBL_EPSILON) * (scale > 0.0 ? scale : 1.0) / most;
    eval_status status = pushed(x, t, part, dr);
    for (int i = 0; i < nr; i++) dr[i] /= 2.0 * part;
    if (status == EVAL_OK) status = pushed(x, t, -part, other);
    vector_axpy(nr, -0.5 / part, other, dr);
    return status;
}

bool multibody_settles(form_instance *x)
{
    const dae_mechanical *form = &x->source->as.m;
    const mechanical_places p = mechanical_parts(form);
    if (form->nq + x->mechanical.nl + form->nw > MOST_ROWS) return true;
    x->bw.settles = balance_new(x);
    x->bw.form = (multibody_form){.mechanical = &x->mechanical,
                                  .context = x,
                                  .nr = form->nr,
                                  .pushes = form->nr > 0 && form->friction,
                                  .followers = x->source->n - p.w,
                                  .near = near_point,
                                  .factor = factor,
                                  .solve = solve,
                                  .push = push,
                                  .settle = settle};
    x->set.multibody = &x->bw.form;
    x->set.multibody_places = (form_places){x->places, x->places + p.v, x->places + p.lambda};
    return x->bw.settles != NULL;
}
