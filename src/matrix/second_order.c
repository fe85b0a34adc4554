#include "matrix/second_order.h"

#include <math.h>

#include "base/memory.h"

void second_order_free(second_order *s)
{
    dae_free_all(s->place, s->velocity, s->row, s->levels, s->higher);
    *s = (second_order){0};
}

/* velocity_of[i]: velocity of unknown i, or -1; taken[i]: i is a velocity; gone[r]: row r leaves */
static void mark(int count, const kinematic_row *rows, int *velocity_of, bool *taken, bool *gone)
{
    for (int k = 0; k < count; k++) {
        velocity_of[rows[k].unknown] = rows[k].velocity;
        taken[rows[k].velocity] = true;
        gone[rows[k].row] = true;
    }
}

/* The unknowns that are no velocities, and the rows that are not kinematic, in their old order. */
static void collect(second_order *s, int n_y, const int *velocity_of, const bool *taken,
                    const bool *gone)
{
    for (int i = 0, k = 0; i < n_y; i++) {
        if (taken[i]) continue;
        s->place[k] = i;
        s->velocity[k++] = velocity_of[i];
    }
    for (int i = 0, k = 0; i < n_y; i++)
        if (!gone[i]) s->row[k++] = i;
}

/* Velocities of velocities, as far as they go. False: memory. */
static bool follow_chains(second_order *s, const int *velocity_of)
{
    s->order = 1;
    for (int k = 0; k < s->n; k++) {
        s->levels[k] = 1;
        for (int i = velocity_of[s->place[k]]; i >= 0; i = velocity_of[i]) s->levels[k]++;
        if (s->levels[k] > s->order) s->order = s->levels[k];
    }
    if (s->order <= 2) return true;
    s->higher = DAE_ARRAY(int, (size_t)(s->order - 2) * (size_t)s->n);
    for (int k = 0; s->higher && k < s->n; k++)
        for (int j = 2, at = s->velocity[k]; j < s->order; j++) {
            at = at >= 0 ? velocity_of[at] : -1;
            s->higher[(j - 2) * s->n + k] = at;
        }
    return s->higher != NULL;
}

bool second_order_new(second_order *s, int n_y, int count, const kinematic_row *rows)
{
    int n = n_y - count;
    *s = (second_order){.n = n,
                        .place = DAE_ARRAY(int, n),
                        .velocity = DAE_ARRAY(int, n),
                        .row = DAE_ARRAY(int, n),
                        .levels = DAE_ARRAY(int, n)};
    int *velocity_of = DAE_ARRAY(int, n_y);
    bool *taken = DAE_ARRAY(bool, n_y), *gone = DAE_ARRAY(bool, n_y);
    bool ok = s->place && s->velocity && s->row && s->levels && velocity_of && taken && gone;
    if (ok) {
        for (int i = 0; i < n_y; i++) velocity_of[i] = -1;
        mark(count, rows, velocity_of, taken, gone);
        collect(s, n_y, velocity_of, taken, gone);
        ok = follow_chains(s, velocity_of);
    }
    if (!ok) second_order_free(s);
    dae_free_all(velocity_of, taken, gone);
    return ok;
}

void second_order_spread(const second_order *s, const double *x, const double *xp,
                         const double *xpp, double *y, double *yp)
{
    for (int k = 0; k < s->n; k++) {
        int i = s->place[k], v = s->velocity[k];
        y[i] = x[k];
        yp[i] = xp[k];
        if (v < 0) continue;
        y[v] = xp[k];
        yp[v] = xpp[k];
    }
}

double second_order_largest(const second_order *s, const double *y)
{
    double most = 0.0;
    for (int k = 0; k < s->n; k++)
        if (s->velocity[k] >= 0) most = fmax(most, fabs(y[s->place[k]]));
    return most;
}

void second_order_gather(const second_order *s, const double *y, const double *yp, double *x,
                         double *xp)
{
    for (int k = 0; k < s->n; k++) {
        int i = s->place[k], v = s->velocity[k];
        if (x) x[k] = y[i];
        if (xp) xp[k] = v >= 0 ? y[v] : yp[i];
    }
}

void higher_order_spread(const second_order *s, double *const *d, double *y, double *yp)
{
    for (int k = 0; k < s->n; k++)
        for (int j = 0; j < s->levels[k]; j++) {
            int at = second_order_place(s, k, j);
            y[at] = d[j][k];
            yp[at] = d[j + 1][k];
        }
}

void higher_order_gather(const second_order *s, const double *y, const double *yp, double *const *d)
{
    for (int k = 0; k < s->n; k++) {
        int top = s->levels[k];
        for (int j = 0; j < top; j++) d[j][k] = y[second_order_place(s, k, j)];
        d[top][k] = yp[second_order_place(s, k, top - 1)];
        for (int j = top + 1; j <= s->order; j++) d[j][k] = 0.0;
    }
}
