/* Symplectic Euler, SHAKE and RATTLE [HLW06 VII.1.3-1.4]. */
#include "method/geometric/geometric.h"

#include "base/vector.h"

#include <float.h>
#include <math.h>

/* The iterations end where corrections are this small relative to the values. */
static const double FINEST = 2.0 * DBL_EPSILON;
enum { MOST_ITERATIONS = 60 };
/* dM/dt along v is a difference of order 4 over this part of the size of q: errors about 1e-13. */
static const double MASS_PART = 1e-3;

static double largest(int n, const double *v)
{
    double most = 0.0;
    for (int i = 0; i < n; i++) most = fmax(most, fabs(v[i]));
    return most;
}

static mechanism_failure mass_at(geometric_cache *c, double t, const double *q)
{
    const mechanical_form *m = c->system.form;
    return mechanism_evaluation(
        m->evaluate(m->context, t, q, q, c->system.M, NULL, NULL, NULL, NULL));
}

/* phi += (d/ds M(t + s, q + s v)) v at s = 0, by four points; leaves M at one of them */
static mechanism_failure add_mass_rate(geometric_cache *c, double t, const double *q,
                                       const double *v, double *phi)
{
    const int n = c->system.form->nq;
    const double at[4] = {-2.0, -1.0, 1.0, 2.0}, weight[4] = {1.0, -8.0, 8.0, -1.0};
    double speed = largest(n, v);
    if (speed == 0.0) return mechanism_ok();
    double d = MASS_PART * fmax(1.0, largest(n, q)) / speed;
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < n; i++) c->last[i] = q[i] + at[k] * d * v[i];
        mechanism_failure failure = mass_at(c, t + at[k] * d, c->last);
        if (failure.status) return failure;
        mechanism_momentum(&c->system, v, c->last + n);
        vector_axpy(n, weight[k] / (12.0 * d), c->last + n, phi);
    }
    return mechanism_ok();
}

mechanism_failure geometric_force(geometric_cache *c, double t, const double *x, double *phi)
{
    const mechanical_form *m = c->system.form;
    const int nq = m->nq;
    mechanism_failure failure = mechanism_ok();
    vector_zero(nq, phi);
    if (!m->M_matrix.constant) failure = add_mass_rate(c, t, x, x + nq, phi);
    if (failure.status) return failure;
    failure =
        mechanism_evaluation(m->evaluate(m->context, t, x, x + nq, c->system.M, c->system.force,
                                         c->system.G[0], c->system.rate, NULL));
    vector_axpy(nq, 1.0, c->system.force, phi);
    return failure;
}

mechanism_failure geometric_velocity(geometric_cache *c, double t, const double *q, const double *p,
                                     double *v)
{
    const mechanical_form *m = c->system.form;
    bool keep = m->M_matrix.constant && c->mass_factored;
    if (!keep) {
        mechanism_failure failure = mass_at(c, t, q);
        if (failure.status) return failure;
        saddle_status status = saddle_factor(c->mass, c->system.M, NULL, NULL);
        if (status != SADDLE_OK)
            return (mechanism_failure){status == SADDLE_MEMORY ? ATTEMPT_MEMORY : ATTEMPT_SINGULAR,
                                       "The mass matrix is singular: geometric methods need its "
                                       "inverse",
                                       -1, 0};
        c->mass_factored = true;
    }
    vector_copy(m->nq, p, v);
    saddle_solve_x(c->mass, v, c->system.r); /* no constraints: r is not read */
    return vector_finite(m->nq, v) ? mechanism_ok() : mechanism_evaluation(EVAL_RETRY);
}

bool geometric_settled(double size, double last, double scale, double finest)
{
    const double fine = 1e-12;
    return size <= finest * scale || (size <= fine * scale && size >= 0.5 * last);
}

mechanism_failure geometric_not_settled(void)
{
    return (mechanism_failure){ATTEMPT_CONVERGENCE,
                               "The nonlinear equations of a step could not be solved: the step is "
                               "too long",
                               -1, 0};
}

/* q := q + dq, dq = M^-1 B'mu, until g(t, q) = 0, and u += dq/h each time; by the factors at hand
 */
static mechanism_failure meet_constraint(geometric_cache *c, double t, double h, double *q,
                                         double *u)
{
    mechanism *m = &c->system;
    const int nq = m->form->nq, nl = m->form->nl;
    double last = INFINITY;
    for (int k = 0; k < MOST_ITERATIONS && nl > 0; k++) {
        eval_status status = m->form->g(m->form->context, t, q, m->r);
        if (status != EVAL_OK) return mechanism_evaluation(status);
        for (int i = 0; i < nl; i++) m->r[i] = -m->r[i];
        vector_zero(nq, m->dx);
        saddle_solve_x(m->saddle, m->dx, m->r);
        double size = largest(nq, m->dx);
        if (!isfinite(size)) return mechanism_evaluation(EVAL_RETRY);
        for (int i = 0; i < nq; i++) {
            q[i] += m->dx[i];
            u[i] += m->dx[i] / h;
        }
        if (geometric_settled(size, last, largest(nq, q), FINEST)) return mechanism_ok();
        last = size;
    }
    return nl > 0 ? geometric_not_settled() : mechanism_ok();
}

/* dx := kick M^-1 phi along the constraints; any part along M^-1 G' is the multiplier's. */
static void kick_by(geometric_cache *c, double kick, const double *phi)
{
    mechanism *m = &c->system;
    for (int i = 0; i < m->form->nq; i++) m->dx[i] = kick * phi[i];
    vector_zero(m->form->nl, m->r);
    saddle_solve_x(m->saddle, m->dx, m->r);
}

/* u = v + kick M^-1 (f - G'lambda), q + h u on the constraint, for f(q) and a constant M */
static mechanism_failure drift_explicit(geometric_cache *c, double t, double h, double kick,
                                        const double *q, const double *v, double *end)
{
    mechanism *m = &c->system;
    const int nq = m->form->nq;
    double *u = end + nq;
    vector_copy(nq, q, c->x);
    vector_copy(nq, v, c->x + nq);
    mechanism_failure failure = mechanism_evaluate(m, t, c->x, m->rate, NULL);
    if (!failure.status) failure = mechanism_factor(m, m->G[0], m->G[0]);
    if (failure.status) return failure;
    kick_by(c, kick, m->force);
    for (int i = 0; i < nq; i++) {
        u[i] = v[i] + m->dx[i];
        end[i] = q[i] + h * u[i];
    }
    if (m->form->nl == 0) return mechanism_ok();
    failure = mechanism_gradient(m, t + h, end, 1);
    if (!failure.status) failure = mechanism_factor(m, m->G[0], m->G[1]);
    return failure.status ? failure : meet_constraint(c, t + h, h, end, u);
}

/* v := v + kick M^-1 (phi - G'mu) with G v + g_t = 0, all at the end (t, q), evaluated already */
static mechanism_failure finish_velocity(geometric_cache *c, double kick, const double *phi,
                                         double *v)
{
    mechanism *m = &c->system;
    mechanism_failure failure = mechanism_factor(m, m->G[0], m->G[0]);
    if (failure.status) return failure;
    mechanism_kick(m, m->G[0], kick, phi, v);
    return vector_finite(m->form->nq, v) ? mechanism_ok() : mechanism_evaluation(EVAL_RETRY);
}

mechanism_failure symplectic_euler_step(geometric_cache *c, double t, double h, const double *x,
                                        double *end)
{
    const int nq = c->system.form->nq;
    mechanism_failure failure = drift_explicit(c, t, h, h, x, x + nq, end);
    if (failure.status || c->system.form->nl == 0) return failure;
    failure = mechanism_evaluate(&c->system, t + h, end, c->system.rate, NULL);
    return failure.status ? failure : finish_velocity(c, 0.0, c->system.force, end + nq);
}

mechanism_failure shake_step(geometric_cache *c, double t, double h, double kick, const double *q,
                             const double *u, double *end)
{
    return drift_explicit(c, t, h, kick, q, u, end);
}

/* One step of simplified Newton for lambda: M dq + G'mu = 0, G dq = -g(q_1); q_1 moves by dq if p_h
 * does by M dq/h = -G'mu/h, which is added to `pull`. */
static mechanism_failure pull_back(geometric_cache *c, double t, double h, const double *x,
                                   double *end, double *pull, double *v0)
{
    mechanism *m = &c->system;
    const int nq = m->form->nq, nl = m->form->nl;
    if (nl == 0) return mechanism_ok();
    eval_status status = m->form->g(m->form->context, t + h, end, m->r);
    if (status != EVAL_OK) return mechanism_evaluation(status);
    for (int i = 0; i < nl; i++) m->r[i] = -m->r[i];
    vector_zero(nq, m->dx);
    saddle_solve_x(m->saddle, m->dx, m->r);
    mechanism_failure failure = mass_at(c, t, x);
    if (failure.status) return failure;
    mechanism_momentum(&c->system, m->dx, c->last);
    vector_axpy(nq, 1.0 / h, c->last, pull);
    vector_axpy(nq, 1.0 / h, m->dx, v0);
    vector_axpy(nq, 1.0, m->dx, end);
    return mechanism_ok();
}

/* Half a kick and the drift where M(q) or f(q, v) couple them:
 *   p_h = p + h/2 (dL/dq (q, v_0) - G'lambda),  v_0 = M(q)^-1 p_h,  v_1 = M(q_1)^-1 p_h,
 *   q_1 = q + h/2 (v_0 + v_1),  0 = g(q_1)
 * by iterating v_0 and q_1 in turn, lambda by a simplified Newton step each time. On return c->p =
 * p_h, the end in `end` with v_1. */
static mechanism_failure drift_implicit(geometric_cache *c, double t, double h, const double *x,
                                        double *end)
{
    mechanism *m = &c->system;
    const int nq = m->form->nq;
    double *v0 = c->half, *p0 = c->half + nq, last = INFINITY;
    double *pull = c->p + nq; /* M v_0 - p: kicks of the multipliers so far */
    mechanism_failure failure = mechanism_ok();
    vector_copy(2 * nq, x, end);
    vector_axpy(nq, h, x + nq, end);
    vector_copy(nq, x + nq, v0);
    vector_zero(nq, pull);
    for (int k = 0; k < MOST_ITERATIONS; k++) {
        vector_copy(nq, x, c->x);
        vector_copy(nq, v0, c->x + nq);
        failure = geometric_force(c, t, c->x, c->phi);
        if (failure.status) return failure;
        if (k == 0) mechanism_momentum(&c->system, x + nq, p0);
        for (int i = 0; i < nq; i++) c->p[i] = p0[i] + 0.5 * h * c->phi[i] + pull[i];
        failure = mechanism_factor(m, m->G[0], m->G[0]);
        if (!failure.status) failure = geometric_velocity(c, t, x, c->p, v0);
        if (!failure.status) failure = geometric_velocity(c, t + h, end, c->p, end + nq);
        if (failure.status) return failure;
        double change = 0.0;
        for (int i = 0; i < nq; i++) {
            double next = x[i] + 0.5 * h * (v0[i] + end[nq + i]);
            change = fmax(change, fabs(next - end[i]));
            end[i] = next;
        }
        failure = pull_back(c, t, h, x, end, pull, v0);
        if (failure.status) return failure;
        change = fmax(change, m->form->nl > 0 ? largest(nq, m->dx) : 0.0);
        if (!isfinite(change)) return mechanism_evaluation(EVAL_RETRY);
        if (geometric_settled(change, last, largest(nq, end), FINEST)) return mechanism_ok();
        last = change;
    }
    return geometric_not_settled();
}

mechanism_failure rattle_step(geometric_cache *c, double t, double h, const double *x, double *end)
{
    mechanism *m = &c->system;
    const int nq = m->form->nq;
    bool explicit = m->form->M_matrix.constant && !c->by_velocity;
    mechanism_failure failure = explicit ? drift_explicit(c, t, h, 0.5 * h, x, x + nq, end)
                                         : drift_implicit(c, t, h, x, end);
    if (failure.status) return failure;
    if (explicit)
        failure = mechanism_evaluate(m, t + h, end, m->rate, NULL);
    else
        failure = geometric_force(c, t + h, end, c->phi);
    if (failure.status) return failure;
    return finish_velocity(c, 0.5 * h, explicit ? m->force : c->phi, end + nq);
}
