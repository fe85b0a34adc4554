/* A resistor-capacitor ladder, driven by a sinusoidal voltage, open at its far end.
 *
 * Unknowns: the source current i, the source node v[0] = E(t) (both algebraic), and the voltages
 * v[1] .. v[M] of the capacitors, M = n - 2. The line has total resistance 1 and capacitance 1, so
 * that R = C = 1/M for each cell: with growing n the smooth part of the solution tends to that of
 * a diffusion equation, while the fastest time constant falls as 1/(4 M^2).
 *
 * The solution is known exactly for every n. Steady part: V_k = cosh(gamma (M + 1/2 - k)) /
 * cosh(gamma (M + 1/2)) with the propagation constant cosh(gamma) = 1 + i omega R C / 2; the half
 * cell accounts for the open end, v[M+1] = v[M]. Decaying parts: sin(k theta_j) with theta_j =
 * (2j - 1) pi / (2M + 1) and rate 4 sin^2(theta_j / 2) / (R C). */
#include "support.h"

#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct ladder_data {
    int cells;       /* M */
    const int *slot; /* places of the entries in the order of ladder_pattern */
} ladder_data;

static const double omega = 4.0 * MODEL_PI;
static const struct {
    int j;
    double c;
} modes[] = {{1, 1.0}, {3, 0.5}, {10, 0.2}};
enum { N_MODES = sizeof modes / sizeof modes[0], DEFAULT_NODES = 1000, MAX_NODES = 10000000 };

static int ladder_f(double t, const double *y, const double *yp, double *f, void *user)
{
    const ladder_data *d = user;
    int m = d->cells;
    double conductance = m, capacitance = 1.0 / m;
    const double *v = y + 1, *vp = yp + 1;
    double *kcl = f + 1;
    f[0] = y[0] - conductance * (v[0] - v[1]);
    kcl[0] = v[0] - sin(omega * t);
    for (int k = 1; k < m; k++)
        kcl[k] = capacitance * vp[k] - conductance * (v[k - 1] - 2.0 * v[k] + v[k + 1]);
    kcl[m] = capacitance * vp[m] - conductance * (v[m - 1] - v[m]);
    return 0;
}

static int ladder_jacobian(double t, const double *y, const double *yp, double *dfdy, double *dfdyp,
                           void *user)
{
    (void)t, (void)y, (void)yp;
    const ladder_data *d = user;
    const int *slot = d->slot;
    double conductance = d->cells, capacitance = 1.0 / d->cells;
    dfdy[*slot++] = 1.0;
    dfdy[*slot++] = -conductance;
    dfdy[*slot++] = conductance;
    dfdy[*slot++] = 1.0;
    for (int k = 1; k <= d->cells; k++) {
        dfdyp[*slot] = capacitance;
        dfdy[*slot++] = k < d->cells ? 2.0 * conductance : conductance;
        dfdy[*slot++] = -conductance;
        if (k < d->cells) dfdy[*slot++] = -conductance;
    }
    return 0;
}

/* Entries: source current (3), source node (1), then per node the diagonal and its neighbours. */
static const int *ladder_pattern(model *self, int m)
{
    int count = 3 * m + 3, next = 4;
    int *row = malloc((size_t)count * sizeof(int)), *column = malloc((size_t)count * sizeof(int));
    const int *slot = NULL;
    if (row && column) {
        const int head_row[4] = {0, 0, 0, 1}, head_column[4] = {0, 1, 2, 1};
        for (int k = 0; k < 4; k++) row[k] = head_row[k], column[k] = head_column[k];
        for (int k = 1; k <= m; k++) {
            const int neighbour[3] = {k + 1, k, k + 2};
            for (int e = 0; e < (k < m ? 3 : 2); e++, next++)
                row[next] = k + 1, column[next] = neighbour[e];
        }
        slot = model_pattern(self, next, row, column);
    }
    free(row);
    free(column);
    return slot;
}

/* Steady part: v_k = Im(V_k e^{i omega t}), i = M (v_0 - v_1) without cancellation. */
static void steady_part(int m, double t, double *y, double *yp)
{
    double complex half = csqrt(I * omega / (4.0 * m * (double)m)); /* sinh(gamma / 2) */
    double complex gamma = 2.0 * casinh(half);
    double complex turn = cexp(I * omega * t) / ccosh(gamma * (m + 0.5));
    double complex current = m * 2.0 * csinh(gamma * m) * half * turn;
    y[0] = cimag(current);
    if (yp) yp[0] = cimag(I * omega * current);
    for (int k = 0; k <= m; k++) {
        double complex voltage = ccosh(gamma * (m + 0.5 - k)) * turn;
        y[1 + k] = cimag(voltage);
        if (yp) yp[1 + k] = cimag(I * omega * voltage);
    }
}

/* Decaying part: add c sin(k theta) exp(-rate t) */
static void add_mode(int m, int j, double c, double t, double *y, double *yp)
{
    double theta = (2 * j - 1) * MODEL_PI / (2.0 * m + 1.0), s = sin(theta / 2);
    double rate = 4.0 * s * s * m * (double)m, size = c * exp(-rate * t);
    y[0] -= m * size * sin(theta);
    if (yp) yp[0] += rate * m * size * sin(theta);
    for (int k = 0; k <= m; k++) {
        double voltage = size * sin(k * theta);
        y[1 + k] += voltage;
        if (yp) yp[1 + k] -= rate * voltage;
    }
}

static int ladder_solution(const model *self, double t, double *y, double *yp)
{
    int m = ((const ladder_data *)self->data)->cells;
    steady_part(m, t, y, yp);
    for (int k = 0; k < N_MODES; k++) add_mode(m, modes[k].j, modes[k].c, t, y, yp);
    y[1] = sin(omega * t); /* the source, without the rounding of the quotient */
    return 0;
}

static void ladder_variable(const model *self, int i, char text[MODEL_NAME_SIZE])
{
    (void)self;
    if (i == 0)
        snprintf(text, MODEL_NAME_SIZE, "i");
    else
        snprintf(text, MODEL_NAME_SIZE, "v[%d]", i - 1);
}

static void ladder_equation(const model *self, int i, char text[MODEL_NAME_SIZE])
{
    (void)self;
    if (i < 2)
        snprintf(text, MODEL_NAME_SIZE, i == 0 ? "source_current" : "source_voltage");
    else
        snprintf(text, MODEL_NAME_SIZE, "node[%d]", i - 1);
}

/* Everything that needs memory; false without it. */
static bool ladder_fill(model *self, int n)
{
    ladder_data *d = model_memory(self, 1, sizeof *d);
    dae_kind *kinds = model_memory(self, (size_t)n, sizeof *kinds);
    self->reference = model_memory(self, (size_t)n, sizeof(double));
    if (!d || !kinds || !self->reference) return false;
    d->cells = n - 2;
    self->data = d;
    for (int i = 0; i < n; i++) kinds[i] = i < 2 ? DAE_KIND_INDEX1 : DAE_KIND_DIFFERENTIAL;
    self->form.kinds = kinds;
    self->form.variable_names = model_names(self, ladder_variable);
    self->form.equation_names = model_names(self, ladder_equation);
    d->slot = ladder_pattern(self, n - 2);
    return d->slot && self->form.variable_names && self->form.equation_names;
}

model *new_ladder(int size)
{
    int n = size ? size : DEFAULT_NODES;
    if (n < 4 || n > MAX_NODES) return NULL;
    model *self =
        model_allocate("ladder", "RC ladder with n unknowns, sinusoidal source, index 1",
                       "exact harmonic response of the discrete line and its eigenmodes", n);
    if (!self) return NULL;
    if (!ladder_fill(self, n)) {
        model_free(self);
        return NULL;
    }
    self->form.f = ladder_f;
    self->form.jacobian = ladder_jacobian;
    self->form.user = self->data;
    self->tend = 1.0;
    self->solution = ladder_solution;
    self->closed_form = self->sized = true;
    self->reference_accuracy = 1e-13;
    ladder_solution(self, 0.0, self->y0, self->yp0);
    ladder_solution(self, self->tend, self->reference, NULL);
    return self;
}
