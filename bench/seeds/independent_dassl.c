/* Notation of [BCP96 (5.2.4)], arrays counted from 1 as there. */
#include "independent_dassl.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { N = INDEPENDENT_MOST, TOP = 5, ROWS = TOP + 3, MOST_STEPS = 5000 };

typedef struct work {
    const independent_problem *p;
    independent_run *run;
    double tolerance;
    bool anew;
    int order, last_order, steady, rising; /* rising: the initial phase */
    double t, h, last_h;
    double psi[ROWS + 1], alpha[ROWS + 1], beta[ROWS + 1], sigma[ROWS + 1], gamma[ROWS + 1];
    double phi[ROWS + 1][N], weight[N], y[N], yp[N], e[N], r[N];
    double matrix[N][N];
    int pivot[N];
    double cj, cj_of_matrix, last_cj, s;
} work;

static double norm(const work *w, const double *v, bool tested)
{
    double sum = 0.0;
    int count = 0;
    for (int i = 0; i < w->p->n; i++) {
        if (tested && w->p->tested && !w->p->tested[i]) continue;
        sum += (v[i] / w->weight[i]) * (v[i] / w->weight[i]);
        count++;
    }
    return sqrt(sum / count);
}

static void set_weights(work *w, const double *y)
{
    for (int i = 0; i < w->p->n; i++) w->weight[i] = w->tolerance * (fabs(y[i]) + 1.0);
}

static bool factor(work *w)
{
    int n = w->p->n;
    for (int k = 0; k < n; k++) {
        int top = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(w->matrix[i][k]) > fabs(w->matrix[top][k])) top = i;
        w->pivot[k] = top;
        if (w->matrix[top][k] == 0.0) return false;
        for (int j = 0; j < n; j++) {
            double x = w->matrix[k][j];
            w->matrix[k][j] = w->matrix[top][j];
            w->matrix[top][j] = x;
        }
        for (int i = k + 1; i < n; i++) {
            double m = w->matrix[i][k] /= w->matrix[k][k];
            for (int j = k + 1; j < n; j++) w->matrix[i][j] -= m * w->matrix[k][j];
        }
    }
    return true;
}

static void solve(const work *w, double *b)
{
    int n = w->p->n;
    for (int k = 0; k < n; k++) {
        double x = b[k];
        b[k] = b[w->pivot[k]];
        b[w->pivot[k]] = x;
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) b[i] -= w->matrix[i][j] * b[j];
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n; j++) b[i] -= w->matrix[i][j] * b[j];
        b[i] /= w->matrix[i][i];
    }
}

/* dF/dy + cj dF/dy' by (5.2.16), (5.2.17), and its factors */
static bool renew(work *w)
{
    int n = w->p->n;
    double moved[N];
    w->run->matrices++;
    for (int j = 0; j < n; j++) {
        double y = w->y[j], yp = w->yp[j];
        double d = sqrt(DBL_EPSILON) * fmax(fmax(fabs(y), fabs(w->h * yp)), w->weight[j]);
        volatile double there = y + copysign(d, w->h * yp);
        d = there - y;
        w->y[j] = y + d;
        w->yp[j] = yp + w->cj * d;
        w->run->differences++;
        w->p->f(w->t, w->y, w->yp, moved, w->p->user);
        w->y[j] = y;
        w->yp[j] = yp;
        for (int i = 0; i < n; i++) w->matrix[i][j] = (moved[i] - w->r[i]) / d;
    }
    w->cj_of_matrix = w->cj;
    w->s = 100.0;
    return factor(w);
}

static void evaluate(work *w)
{
    w->run->functions++;
    w->p->f(w->t, w->y, w->yp, w->r, w->p->user);
}

static void predict(work *w)
{
    for (int i = 0; i < w->p->n; i++) {
        w->y[i] = w->yp[i] = w->e[i] = 0.0;
        for (int j = 1; j <= w->order + 1; j++) {
            w->y[i] += w->phi[j][i];
            w->yp[i] += w->gamma[j] * w->phi[j][i];
        }
    }
}

/* At most four iterations from the prediction (5.2.13), (5.2.15) */
static bool iterate(work *w)
{
    double level = 100.0 * DBL_EPSILON * norm(w, w->y, false), first = 0.0;
    for (int m = 0; m < 4; m++) {
        if (m > 0) evaluate(w);
        for (int i = 0; i < w->p->n; i++) w->r[i] *= 2.0 / (1.0 + w->cj / w->cj_of_matrix);
        solve(w, w->r);
        for (int i = 0; i < w->p->n; i++) {
            w->y[i] -= w->r[i];
            w->e[i] -= w->r[i];
            w->yp[i] -= w->cj * w->r[i];
        }
        double size = norm(w, w->r, false);
        if (size <= level) return true;
        if (m == 0) first = size;
        double rate = m > 0 ? pow(size / first, 1.0 / m) : 0.0;
        if (rate > 0.9) return false;
        if (m > 0) w->s = rate / (1.0 - rate);
        if (w->s * size <= 0.33) return true;
    }
    return false;
}

static bool correct(work *w)
{
    double drift = fabs((w->cj_of_matrix - w->cj) / (w->cj_of_matrix + w->cj));
    bool fresh = w->run->matrices == 0 || drift > 0.25;
    if (w->anew || w->cj != w->last_cj) w->s = 100.0;
    for (;; fresh = true) {
        predict(w);
        evaluate(w);
        if (fresh && !renew(w)) return false;
        if (iterate(w)) return true;
        if (fresh) return false;
    }
}

/* (5.2.4) for a step h at the order at hand, phi becomes phi*; the constant of the error test */
static double coefficients(work *w)
{
    int k = w->order;
    if (w->h != w->last_h || k != w->last_order) w->steady = 0;
    if (w->steady < w->last_order + 2) w->steady++;
    if (k + 1 >= w->steady) {
        double next = w->h;
        w->beta[1] = w->alpha[1] = w->sigma[1] = 1.0;
        w->gamma[1] = 0.0;
        for (int i = 2; i <= k + 1; i++) {
            double old = w->psi[i - 1];
            w->psi[i - 1] = next;
            w->beta[i] = w->beta[i - 1] * next / old;
            next = old + w->h;
            w->alpha[i] = w->h / next;
            w->sigma[i] = (i - 1) * w->sigma[i - 1] * w->alpha[i];
            w->gamma[i] = w->gamma[i - 1] + w->alpha[i - 1] / w->h;
        }
        w->psi[k + 1] = next;
    }
    double alpha_s = 0.0, alpha_0 = 0.0;
    for (int i = 1; i <= k; i++) {
        alpha_s -= 1.0 / i;
        alpha_0 -= w->alpha[i];
    }
    w->last_cj = w->cj;
    w->cj = -alpha_s / w->h;
    for (int j = w->steady + 1; j <= k + 1; j++)
        for (int i = 0; i < w->p->n; i++) w->phi[j][i] *= w->beta[j];
    return fmax(w->alpha[k + 1], fabs(w->alpha[k + 1] + alpha_s - alpha_0));
}

/* What (5.2.22) says of the orders k - 1, k and k + 1. */
typedef struct terms {
    double error, here, below; /* ERR, TERK, TERKM1 */
    bool lower;
} terms;

static terms judge(const work *w, double constant)
{
    int k = w->order;
    double v[N], size = norm(w, w->e, true);
    terms s = {constant * size, (k + 1) * w->sigma[k + 1] * size, 0.0, false};
    if (k == 1) return s;
    for (int i = 0; i < w->p->n; i++) v[i] = w->phi[k + 1][i] + w->e[i];
    s.below = k * w->sigma[k] * norm(w, v, true);
    if (k == 2) {
        s.lower = s.below <= 0.5 * s.here;
        return s;
    }
    for (int i = 0; i < w->p->n; i++) v[i] += w->phi[k][i];
    s.lower = fmax(s.below, (k - 1) * w->sigma[k - 1] * norm(w, v, true)) <= s.here;
    return s;
}

/* (2 EST + 1e-4)^(-1/(k+1)) (5.2.23) */
static double ratio(double term, int order)
{
    return pow(2.0 * term / (order + 1) + 1e-4, -1.0 / (order + 1));
}

/* Order and step after a success, with phi_{k+2} of the step before. */
static void choose(work *w, const terms *s, int rise)
{
    int k = w->order;
    double term = s->here, v[N];
    if (s->lower || k == TOP) w->rising = 0;
    if (w->rising) {
        w->order++;
        w->h *= 2.0;
        return;
    }
    if (s->lower) {
        w->order--;
        term = s->below;
    } else if (k < TOP && k + 1 < w->steady && rise != 1) {
        for (int i = 0; i < w->p->n; i++) v[i] = w->e[i] - w->phi[k + 2][i];
        double above = norm(w, v, true);
        bool down = k > 1 && s->below <= fmin(s->here, above);
        bool up = !down && above < (k == 1 ? 0.5 : 1.0) * s->here;
        w->order += up - down;
        term = up ? above : down ? s->below : s->here;
    }
    double r = ratio(term, w->order);
    w->h *= r >= 2.0 ? 2.0 : r <= 1.0 ? fmax(0.5, fmin(0.9, r)) : 1.0;
}

static void accept(work *w, const terms *s)
{
    int k = w->order, rise = k - w->last_order;
    w->run->steps++;
    w->last_order = k;
    w->last_h = w->h;
    choose(w, s, rise);
    if (k < TOP) memcpy(w->phi[k + 2], w->e, sizeof w->e);
    for (int j = k + 1; j >= 1; j--)
        for (int i = 0; i < w->p->n; i++) w->phi[j][i] += j == k + 1 ? w->e[i] : w->phi[j + 1][i];
}

/* After a failure, the `failures`-th of the error test in this step if Newton converged */
static void retreat(work *w, const terms *s, bool converged, int failures)
{
    double factor = 0.25;
    w->rising = 0;
    if (converged) {
        w->order = failures > 2 ? 1 : w->order - s->lower;
        double r = 0.9 * ratio(s->lower ? s->below : s->here, w->order);
        if (failures == 1) factor = fmax(0.25, fmin(0.9, r));
    }
    w->h *= factor;
}

/* One step from t; false: too many failures, or h too small */
static bool step(work *w, double *t)
{
    int errors = 0, failures = 0;
    set_weights(w, w->phi[1]);
    for (;;) {
        work before = *w;
        double constant = coefficients(w);
        w->t = *t + w->h;
        bool converged = correct(w);
        terms s = converged ? judge(w, constant) : (terms){0};
        if (converged && s.error <= 1.0) {
            *t = w->t;
            accept(w, &s);
            return true;
        }
        memcpy(w->psi, before.psi, sizeof w->psi);
        memcpy(w->phi, before.phi, sizeof w->phi);
        errors += converged;
        failures += !converged;
        w->run->error_failures += converged;
        w->run->newton_failures += !converged;
        retreat(w, &s, converged, errors);
        if (failures >= 10 || *t + w->h == *t) return false;
    }
}

/* (5.2.9) at tend */
static void interpolate(const work *w, double t, double tend, double *y)
{
    double c = 1.0, gamma = (tend - t) / w->psi[1];
    memcpy(y, w->phi[1], sizeof w->phi[1]);
    for (int j = 2; j <= w->last_order + 1; j++) {
        c *= gamma;
        gamma = (tend - t + w->psi[j - 1]) / w->psi[j];
        for (int i = 0; i < w->p->n; i++) y[i] += c * w->phi[j][i];
    }
}

bool independent_dassl(const independent_problem *p, double tolerance, bool rate_anew, double t0,
                       double tend, const double *y0, const double *yp0, independent_run *run)
{
    work w = {
        .p = p, .run = run, .tolerance = tolerance, .anew = rate_anew, .order = 1, .rising = 1};
    double t = t0;
    memset(run, 0, sizeof *run);
    set_weights(&w, y0);
    w.h = fmin(1e-3 * (tend - t0), 0.5 / norm(&w, yp0, false));
    for (int i = 0; i < p->n; i++) {
        w.phi[1][i] = y0[i];
        w.phi[2][i] = w.h * yp0[i];
    }
    w.psi[1] = w.h;
    w.cj = w.cj_of_matrix = 1.0 / w.h;
    w.s = 100.0;
    while (t < tend)
        if (run->steps >= MOST_STEPS || !step(&w, &t)) return false;
    interpolate(&w, t, tend, run->y);
    return true;
}
