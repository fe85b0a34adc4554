/* The Brusselator with diffusion in one dimension as a DAE [HW96 IV.10]: a nonlinear sparse problem
 * of any size. u' = 1 + u^2 v - 4 u + a u_xx, v' = 3 u - u^2 v + a v_xx on m points of [0, 1] that
 * include the ends, where the algebraic equations u = 1, v = 3 hold. Unknowns in the order
 * u0, v0, u1, v1, .. which keeps the band at two. */
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct brusselator_data {
    int m;            /* points */
    double diffusion; /* a / h^2 */
    const int *slot;  /* places of the entries in the order of brusselator_pattern */
} brusselator_data;

enum { DEFAULT_POINTS = 102, MAX_POINTS = 5000000 };

static int brusselator_f(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t;
    const brusselator_data *d = user;
    int last = 2 * (d->m - 1);
    f[0] = y[0] - 1.0;
    f[1] = y[1] - 3.0;
    for (int i = 2; i < last; i += 2) {
        double u = y[i], v = y[i + 1], reaction = u * u * v;
        double u_xx = d->diffusion * (y[i - 2] - 2.0 * u + y[i + 2]);
        double v_xx = d->diffusion * (y[i - 1] - 2.0 * v + y[i + 3]);
        f[i] = yp[i] - (1.0 + reaction - 4.0 * u + u_xx);
        f[i + 1] = yp[i + 1] - (3.0 * u - reaction + v_xx);
    }
    f[last] = y[last] - 1.0;
    f[last + 1] = y[last + 1] - 3.0;
    return 0;
}

static int brusselator_jacobian(double t, const double *y, const double *yp, double *dfdy,
                                double *dfdyp, void *user)
{
    (void)t, (void)yp;
    const brusselator_data *d = user;
    const int *slot = d->slot;
    for (int point = 0; point < d->m; point++) {
        if (point == 0 || point == d->m - 1) {
            dfdy[*slot++] = 1.0;
            dfdy[*slot++] = 1.0;
            continue;
        }
        double u = y[2 * point], v = y[2 * point + 1];
        const double own[2][2] = {{4.0 - 2.0 * u * v + 2.0 * d->diffusion, -u * u},
                                  {2.0 * u * v - 3.0, u * u + 2.0 * d->diffusion}};
        for (int i = 0; i < 2; i++) {
            dfdyp[*slot] = 1.0;
            dfdy[*slot++] = own[i][i];
            dfdy[*slot++] = own[i][1 - i];
            dfdy[*slot++] = -d->diffusion;
            dfdy[*slot++] = -d->diffusion;
        }
    }
    return 0;
}

/* Entries by rows: the diagonal; inside also the partner and the left and right neighbour. */
static const int *brusselator_pattern(model *self, int m)
{
    size_t room = 8 * (size_t)m;
    int *row = malloc(room * sizeof(int)), *column = malloc(room * sizeof(int));
    const int *slot = NULL;
    int count = 0;
    for (int i = 0; row && column && i < 2 * m; i++) {
        bool end = i < 2 || i >= 2 * m - 2;
        const int entries[4] = {i, i % 2 == 0 ? i + 1 : i - 1, i - 2, i + 2};
        for (int k = 0; k < (end ? 1 : 4); k++, count++) row[count] = i, column[count] = entries[k];
    }
    if (row && column) slot = model_pattern(self, count, row, column);
    free(row);
    free(column);
    return slot;
}

static void brusselator_variable(const model *self, int i, char text[MODEL_NAME_SIZE])
{
    (void)self;
    snprintf(text, MODEL_NAME_SIZE, "%c[%d]", i % 2 == 0 ? 'u' : 'v', i / 2);
}

static void brusselator_equation(const model *self, int i, char text[MODEL_NAME_SIZE])
{
    int point = i / 2, m = self->form.n / 2;
    const char *kind = point == 0 || point == m - 1 ? "end" : "rate";
    snprintf(text, MODEL_NAME_SIZE, "%s_%c[%d]", kind, i % 2 == 0 ? 'u' : 'v', point);
}

/* u = 1 + sin(2 pi x), v = 3, and y' from the equations */
static void brusselator_start(model *self, int m)
{
    for (int i = 0; i < m; i++) {
        self->y0[2 * i] = i == 0 || i == m - 1 ? 1.0 : 1.0 + sin(2.0 * MODEL_PI * i / (m - 1));
        self->y0[2 * i + 1] = 3.0;
    }
    /* F(y, 0) = -y' inside and 0 at the ends; F reads yp[i] before it writes f[i], so that they may
     * be the same array */
    brusselator_f(0.0, self->y0, self->yp0, self->yp0, self->data);
    for (int i = 0; i < 2 * m; i++) self->yp0[i] = -self->yp0[i];
}

/* Everything that needs memory; false without it. */
static bool brusselator_fill(model *self, int m)
{
    brusselator_data *d = model_memory(self, 1, sizeof *d);
    dae_kind *kinds = model_memory(self, 2 * (size_t)m, sizeof *kinds);
    if (!d || !kinds) return false;
    *d = (brusselator_data){.m = m, .diffusion = 0.02 * (m - 1) * (m - 1)};
    self->data = d;
    for (int i = 0; i < 2 * m; i++)
        kinds[i] = i < 2 || i >= 2 * m - 2 ? DAE_KIND_INDEX1 : DAE_KIND_DIFFERENTIAL;
    self->form.kinds = kinds;
    self->form.variable_names = model_names(self, brusselator_variable);
    self->form.equation_names = model_names(self, brusselator_equation);
    d->slot = brusselator_pattern(self, m);
    return d->slot && self->form.variable_names && self->form.equation_names;
}

model *new_brusselator(int size)
{
    int m = size ? size : DEFAULT_POINTS;
    if (m < 3 || m > MAX_POINTS) return NULL;
    model *self = model_allocate("brusselator", "Brusselator in one dimension, m points, index 1",
                                 "Hairer & Wanner 1996, section IV.10 (BRUSS)", 2 * m);
    if (!self) return NULL;
    if (!brusselator_fill(self, m)) {
        model_free(self);
        return NULL;
    }
    self->form.f = brusselator_f;
    self->form.jacobian = brusselator_jacobian;
    self->form.user = self->data;
    self->tend = 10.0;
    self->sized = true;
    brusselator_start(self, m);
    return self;
}
