/* Values between the ends of the last step.
 *
 * Components whose derivatives the stages know follow the pair's own continuous extension. Those
 * that only the constraints know (multipliers) follow
 *     H(theta) + theta^2 (1-theta)^2 q(theta),
 * H the cubic Hermite polynomial of both ends, q through one or three nodes where the constraints
 * were solved. All of it is made when it is asked for first. Tables without a pair have made two
 * steps of half the size: there q passes the middle, with its slope where that is known. */
#include <math.h>

#include "base/vector.h"
#include "method/common/interpolation.h"
#include "method/half_explicit/herk_parts.h"

enum { MOST_NODES = 3, FIRST_NODE = TABLEAU_MOST_ROWS };

static bool hermite_only(const herk_work *w, int j)
{
    return w->leading != LEADING_GENERAL && w->required[j];
}

static int node_count(const herk_work *w)
{
    return w->table.rows > 1 ? 3 : 1;
}

static double node_at(const herk_work *w, int k)
{
    return (k + 1.0) / (node_count(w) + 1.0);
}

void herk_combine(int n, const double *x0, double h, int count, const double *a, const double *K,
                  double *x)
{
    vector_zero(n, x); /* the increment first: x0, which is larger, is rounded once */
    for (int j = 0; j < count; j++)
        if (a[j] != 0.0) vector_axpy(n, h * a[j], K + (size_t)j * (size_t)n, x);
    for (int i = 0; i < n; i++) x[i] += x0[i];
}

/* H and H' of component j at theta */
static double hermite(const herk_state *s, int j, double theta, double *slope)
{
    double h = s->t - s->t_old, rest = 1.0 - theta;
    double rise = s->x[j] - s->x_old[j];
    double left = h * s->xp_old[j] - rise, right = rise - h * s->xp[j];
    double twist = rest * left + theta * right;
    *slope = (rise + (rest - theta) * twist + theta * rest * (right - left)) / h;
    return s->x_old[j] + theta * (rise + rest * twist);
}

/* r_5 .. of component j at theta, nested, with the derivative by theta */
static double nested(const herk_work *w, int j, double theta, double *slope)
{
    double value = 0.0, rest = 1.0 - theta;
    *slope = 0.0;
    for (int k = w->table.rows - 1; k >= 0; k--) {
        bool by_theta = k % 2 == 0; /* r_{5+k} + (theta or 1 - theta) * (what follows) */
        double factor = by_theta ? theta : rest;
        *slope = *slope * factor + (by_theta ? value : -value);
        value = w->dense[k * w->n + j] + factor * value;
    }
    return value;
}

/* q of component j at theta: Lagrange through the nodes */
static double through_nodes(const herk_work *w, int j, double theta, double *slope)
{
    const int count = node_count(w);
    double value = 0.0, node[MOST_NODES];
    *slope = 0.0;
    for (int k = 0; k < count; k++) node[k] = node_at(w, k);
    for (int k = 0; k < count; k++) {
        const double q = w->dense[(FIRST_NODE + k) * w->n + j];
        double derivative, product = lagrange_term(count, node, k, theta, &derivative);
        value += product * q;
        *slope += derivative * q;
    }
    return value;
}

/* q of component j at theta: through the middle of two half steps */
static double through_middle(const herk_state *s, const herk_work *w, int j, double theta,
                             double *slope)
{
    double h = s->t - s->t_old, cubic_slope, cubic = hermite(s, j, 0.5, &cubic_slope);
    *slope = hermite_only(w, j) ? 0.0 : 16.0 * h * (s->K[j] - cubic_slope);
    return 16.0 * (s->K[w->n + j] - cubic) + *slope * (theta - 0.5);
}

/* Component j at theta: H + theta^2 (1-theta)^2 (what is above the cubic) */
static void component(const herk_state *s, const herk_work *w, int j, double theta, double *value,
                      double *slope)
{
    double h = s->t - s->t_old, rest = 1.0 - theta, extra_slope = 0.0;
    *value = hermite(s, j, theta, slope);
    double extra = !s->embedded         ? through_middle(s, w, j, theta, &extra_slope)
                   : hermite_only(w, j) ? through_nodes(w, j, theta, &extra_slope)
                                        : nested(w, j, theta, &extra_slope);
    double bump = theta * theta * rest * rest;
    *value += bump * extra;
    *slope += (2.0 * theta * rest * (rest - theta) * extra + bump * extra_slope) / h;
}

/* Further stages of the continuous extension, then r_5 .. */
static attempt_status extend_stages(const herk_state *s, herk_work *w, const error_norm *norm)
{
    const rounded_tableau *b = &w->table;
    int n = w->n, known = b->stages + 1;
    double h = s->t - s->t_old, *x = w->dense_point;
    for (int i = known; i < known + b->further; i++) {
        double t = s->t_old + b->c[i] * h, slope;
        double *K = w->dense_stages + (size_t)(i - known) * (size_t)n;
        herk_combine(n, s->x_old, h, known, b->a[i], s->K, x);
        for (int j = known; j < i; j++)
            vector_axpy(n, h * b->a[i][j], w->dense_stages + (size_t)(j - known) * (size_t)n, x);
        for (int j = 0; j < n; j++)
            if (hermite_only(w, j)) x[j] = hermite(s, j, b->c[i], &slope);
        attempt_status status = herk_newton(w, norm, t, x);
        if (status == ATTEMPT_OK) status = herk_derivative(w, t, x, K);
        if (status != ATTEMPT_OK) return status;
    }
    for (int k = 0; k < b->rows; k++) {
        double *r = w->dense + k * n;
        vector_zero(n, r);
        for (int j = 0; j < known; j++) vector_axpy(n, h * b->dense[k][j], s->K + j * n, r);
        for (int j = 0; j < b->further; j++)
            vector_axpy(n, h * b->dense[k][known + j], w->dense_stages + j * n, r);
    }
    return ATTEMPT_OK;
}

/* Solve the constraints at node k for the components that no stage knows. */
static attempt_status solve_node(const herk_state *s, herk_work *w, const error_norm *norm, int k,
                                 double *q)
{
    int n = w->n;
    double theta = node_at(w, k), *x = w->dense_point, slope;
    double t = s->t_old + theta * (s->t - s->t_old), bump = theta * (1.0 - theta);
    for (int j = 0; j < n; j++) component(s, w, j, theta, &x[j], &slope);
    attempt_status status = herk_newton(w, norm, t, x);
    for (int j = 0; j < n; j++)
        q[j] = hermite_only(w, j) ? (x[j] - hermite(s, j, theta, &slope)) / (bump * bump) : 0.0;
    return status;
}

/* Where the constraints cannot be solved the cubic has to do. */
static void solve_nodes(const herk_state *s, herk_work *w, const error_norm *norm)
{
    int n = w->n, needed = 0;
    double *q = w->dense + FIRST_NODE * n;
    vector_zero(MOST_NODES * n, q);
    for (int j = 0; j < n; j++) needed += hermite_only(w, j);
    for (int k = 0; needed > 0 && k < node_count(w); k++) {
        /* q stays 0 until all nodes are solved; the further stages are done with */
        if (solve_node(s, w, norm, k, w->dense_stages + k * n) != ATTEMPT_OK) return;
    }
    if (needed > 0) vector_copy(node_count(w) * n, w->dense_stages, q);
}

static void prepare(const herk_state *s, herk_work *w, const error_norm *norm)
{
    if (w->prepared == s->step) return;
    herk_failure failure = w->failure;
    w->prepared = s->step;
    vector_zero((FIRST_NODE + MOST_NODES) * w->n, w->dense);
    if (extend_stages(s, w, norm) == ATTEMPT_OK)
        solve_nodes(s, w, norm);
    else
        vector_zero((FIRST_NODE + MOST_NODES) * w->n, w->dense);
    w->failure = failure;
}

void herk_interpolate(const herk_state *s, herk_work *w, const error_norm *norm, double t,
                      int derivative, double *x)
{
    if (s->steps == 0 || t == s->t) {
        vector_copy(w->n, derivative ? s->xp : s->x, x);
        return;
    }
    if (s->embedded) prepare(s, w, norm);
    double theta = (t - s->t_old) / (s->t - s->t_old);
    for (int j = 0; j < w->n; j++) {
        double value, slope;
        component(s, w, j, theta, &value, &slope);
        x[j] = derivative ? slope : value;
    }
}
