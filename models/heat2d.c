/* The heat equation on the unit square as a DAE: method of lines with boundary equations.
 *
 * m x m points including the boundary, spacing h = 1/(m-1). Inside u' = (five-point Laplacian of
 * u); on the boundary 0 = u. The start is a sum of sine modes, which are eigenvectors of the
 * *discrete* Laplacian: the solution of the DAE itself, not of the PDE, is known in closed form. */
#include "support.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct heat_data {
    int m;           /* points a side */
    double scale;    /* 1/h^2 */
    const int *slot; /* places of the entries in the order of for_each_entry */
} heat_data;

/* u = sum c sin(p pi x) sin(q pi y) exp(-lambda t): slow, medium and fast decay */
static const struct {
    int p, q;
    double c;
} modes[] = {{1, 1, 1.0}, {2, 3, 0.5}, {7, 5, 0.25}};
enum { N_MODES = sizeof modes / sizeof modes[0], DEFAULT_SIDE = 10, MAX_SIDE = 10000 };

static bool on_boundary(int m, int i)
{
    int row = i / m, column = i % m;
    return row == 0 || column == 0 || row == m - 1 || column == m - 1;
}

static int heat_f(double t, const double *u, const double *up, double *f, void *user)
{
    (void)t;
    const heat_data *d = user;
    int m = d->m;
    for (int i = 0; i < m * m; i++) f[i] = u[i];
    for (int row = 1; row < m - 1; row++)
        for (int i = row * m + 1; i < row * m + m - 1; i++)
            f[i] = up[i] - d->scale * (u[i - m] + u[i - 1] + u[i + 1] + u[i + m] - 4.0 * u[i]);
    return 0;
}

static int heat_jacobian(double t, const double *u, const double *up, double *dfdy, double *dfdyp,
                         void *user)
{
    (void)t, (void)u, (void)up;
    const heat_data *d = user;
    const int *slot = d->slot;
    for (int i = 0; i < d->m * d->m; i++) {
        bool boundary = on_boundary(d->m, i);
        dfdy[*slot] = boundary ? 1.0 : 4.0 * d->scale;
        dfdyp[*slot++] = boundary ? 0.0 : 1.0;
        for (int k = 0; k < 4 && !boundary; k++) dfdy[*slot++] = -d->scale;
    }
    return 0;
}

/* Entries by rows: the diagonal, then the four neighbours of an inner point. */
static const int *heat_pattern(model *self, int m)
{
    size_t room = 5 * (size_t)m * (size_t)m;
    const int neighbour[4] = {-m, -1, 1, m};
    int *row = malloc(room * sizeof(int)), *column = malloc(room * sizeof(int));
    const int *slot = NULL;
    int count = 0;
    for (int i = 0; row && column && i < m * m; i++) {
        row[count] = column[count] = i;
        count++;
        for (int k = 0; k < 4 && !on_boundary(m, i); k++, count++) {
            row[count] = i;
            column[count] = i + neighbour[k];
        }
    }
    if (row && column) slot = model_pattern(self, count, row, column);
    free(row);
    free(column);
    return slot;
}

/* y(t) = sum c sin(p pi x) sin(q pi y) exp(-lambda t), lambda = 4/h^2 (sin^2(p pi h/2) + ..) */
static int heat_solution(const model *self, double t, double *y, double *yp)
{
    const heat_data *d = self->data;
    int m = d->m;
    double h = 1.0 / (m - 1);
    for (int i = 0; i < m * m; i++) {
        double value = 0.0, slope = 0.0, row = i / m, column = i % m;
        for (int k = 0; k < N_MODES && !on_boundary(m, i); k++) {
            double sp = sin(modes[k].p * MODEL_PI * h / 2), sq = sin(modes[k].q * MODEL_PI * h / 2);
            double lambda = 4.0 * d->scale * (sp * sp + sq * sq);
            double part = modes[k].c * sin(modes[k].p * MODEL_PI * h * column) *
                          sin(modes[k].q * MODEL_PI * h * row) * exp(-lambda * t);
            value += part;
            slope -= lambda * part;
        }
        y[i] = value;
        if (yp) yp[i] = slope;
    }
    return 0;
}

static void heat_variable(const model *self, int i, char text[MODEL_NAME_SIZE])
{
    const heat_data *d = self->data;
    snprintf(text, MODEL_NAME_SIZE, "u[%d,%d]", i % d->m, i / d->m);
}

static void heat_equation(const model *self, int i, char text[MODEL_NAME_SIZE])
{
    const heat_data *d = self->data;
    const char *kind = on_boundary(d->m, i) ? "edge" : "heat";
    snprintf(text, MODEL_NAME_SIZE, "%s[%d,%d]", kind, i % d->m, i / d->m);
}

/* Everything that needs memory; false without it. */
static bool heat_fill(model *self, int m)
{
    heat_data *d = model_memory(self, 1, sizeof *d);
    dae_kind *kinds = model_memory(self, (size_t)(m * m), sizeof *kinds);
    self->reference = model_memory(self, (size_t)(m * m), sizeof(double));
    if (!d || !kinds || !self->reference) return false;
    *d = (heat_data){.m = m, .scale = (double)(m - 1) * (m - 1)};
    self->data = d;
    for (int i = 0; i < m * m; i++)
        kinds[i] = on_boundary(m, i) ? DAE_KIND_INDEX1 : DAE_KIND_DIFFERENTIAL;
    self->form.kinds = kinds;
    self->form.variable_names = model_names(self, heat_variable);
    self->form.equation_names = model_names(self, heat_equation);
    d->slot = heat_pattern(self, m);
    return d->slot && self->form.variable_names && self->form.equation_names;
}

model *new_heat2d(int size)
{
    int m = size ? size : DEFAULT_SIDE;
    if (m < 3 || m > MAX_SIDE) return NULL;
    model *self = model_allocate("heat2d", "Heat equation on a square, m x m points, index 1",
                                 "five-point method of lines; exact modes of the discrete "
                                 "Laplacian; layout after the IDA example idaHeat2D",
                                 m * m);
    if (!self) return NULL;
    if (!heat_fill(self, m)) {
        model_free(self);
        return NULL;
    }
    self->form.f = heat_f;
    self->form.jacobian = heat_jacobian;
    self->form.user = self->data;
    self->tend = 0.1;
    self->solution = heat_solution;
    self->closed_form = self->sized = true;
    self->reference_accuracy = 1e-14;
    heat_solution(self, 0.0, self->y0, self->yp0);
    heat_solution(self, self->tend, self->reference, NULL);
    return self;
}
