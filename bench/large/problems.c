#include "problems.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

/* ---- a matrix entry by entry ---- */

typedef struct entries {
    long count, room, *row, *column;
    double *value;
} entries;

static void put(entries *e, long row, long column, double value)
{
    if (e->count == e->room) {
        e->room = 2 * e->room + 1000;
        e->row = realloc(e->row, (size_t)e->room * sizeof *e->row);
        e->column = realloc(e->column, (size_t)e->room * sizeof *e->column);
        e->value = realloc(e->value, (size_t)e->room * sizeof *e->value);
        if (!e->row || !e->column || !e->value) abort();
    }
    e->row[e->count] = row;
    e->column[e->count] = column;
    e->value[e->count++] = value;
}

/* Entries sorted by row, equal ones added, into arrays by columns: two passes of a counting sort.
 */
static void compress(large_problem *p, const entries *e)
{
    const size_t n = (size_t)p->n, count = (size_t)e->count;
    long *by_row = calloc(n + 1, sizeof *by_row), *order = calloc(count, sizeof *order);
    p->start = calloc(n + 1, sizeof *p->start);
    p->row = calloc(count, sizeof *p->row);
    p->A = calloc(count, sizeof *p->A);
    long *last = calloc(n, sizeof *last), *next = calloc(n + 1, sizeof *next);
    for (size_t k = 0; k < count; k++) by_row[e->row[k] + 1]++;
    for (size_t i = 0; i < n; i++) by_row[i + 1] += by_row[i];
    for (size_t k = 0; k < count; k++) order[by_row[e->row[k]]++] = (long)k;
    memset(last, -1, n * sizeof *last);
    for (size_t q = 0; q < count; q++) { /* distinct entries of each column */
        const long k = order[q];
        if (last[e->column[k]] != e->row[k]) p->start[e->column[k] + 1]++;
        last[e->column[k]] = e->row[k];
    }
    for (size_t i = 0; i < n; i++) p->start[i + 1] += p->start[i];
    memcpy(next, p->start, (n + 1) * sizeof *next);
    for (size_t q = 0; q < count; q++) {
        const long k = order[q], c = e->column[k];
        const bool again = next[c] > p->start[c] && p->row[next[c] - 1] == e->row[k];
        if (!again) p->row[next[c]++] = e->row[k];
        p->A[next[c] - 1] += e->value[k];
    }
    free(by_row), free(order), free(last), free(next);
}

/* Couple unknown `a` of every cell with that of its neighbours by g (u_neighbour - u), over the
 * border by `border` (0: no flux; 1: the value there is 0; -1: a mirror). */
static void couple(large_problem *p, entries *e, int a, double g, int border)
{
    const int m = p->size, rows = p->plane ? m : 1;
    static const int by[4][2] = {{0, -1}, {0, 1}, {-1, 0}, {1, 0}};
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < m; j++) {
            const long own = ((long)i * m + j) * p->cell + a;
            put(e, own, own, 0.0);
            for (int k = 0; k < (p->plane ? 4 : 2); k++) {
                int r = i + by[k][0], c = j + by[k][1];
                const bool inside = r >= 0 && r < rows && c >= 0 && c < m;
                if (!inside && border == -1) r = i - by[k][0], c = j - by[k][1];
                if (inside || border) put(e, own, own, -g);
                if (inside || border == -1) put(e, own, ((long)r * m + c) * p->cell + a, g);
            }
        }
}

/* ---- the problems ---- */

static bool room(large_problem *p)
{
    p->n = (long)p->cell * p->size * (p->plane ? p->size : 1);
    p->M = calloc((size_t)p->n, sizeof *p->M);
    p->y = calloc((size_t)p->n, sizeof *p->y);
    p->yp = calloc((size_t)p->n, sizeof *p->yp);
    return p->M && p->y && p->yp;
}

static void make_heat(large_problem *p, entries *e)
{
    const int m = p->size;
    const double h = 1.0 / (m + 1);
    couple(p, e, 0, 1.0 / (h * h), 1);
    for (long k = 0; k < p->n; k++) {
        const double x = PI * h * (double)(k % m + 1), z = PI * h * (double)(k / m + 1);
        p->M[k] = 1.0;
        p->y[k] =
            p->plane ? sin(z) * sin(x) + sin(2 * z) * sin(3 * x) / 2 : sin(x) + sin(3 * x) / 2;
    }
}

/* u' = 1 + u^2 v - 4.4 u, v' = 3.4 u - u^2 v */
static void local_brusselator(const large_problem *p, long k, double t, const double *y, double *g,
                              double *dg)
{
    (void)p, (void)k, (void)t;
    const double u = y[0], v = y[1];
    g[0] = 1.0 + u * u * v - 4.4 * u;
    g[1] = 3.4 * u - u * u * v;
    if (!dg) return;
    dg[0] = 2.0 * u * v - 4.4, dg[1] = 3.4 - 2.0 * u * v;
    dg[2] = u * u, dg[3] = -u * u;
}

static void make_brusselator(large_problem *p, entries *e)
{
    const int m = p->size;
    const double h = 1.0 / (m - 1);
    couple(p, e, 0, 0.002 / (h * h), -1);
    couple(p, e, 1, 0.002 / (h * h), -1);
    for (long k = 0; k < p->n / 2; k++) {
        const double x = h * (double)(k % m), z = h * (double)(k / m);
        p->M[2 * k] = p->M[2 * k + 1] = 1.0;
        p->y[2 * k] = 22.0 * x * pow(1.0 - x, 1.5);
        p->y[2 * k + 1] = 27.0 * z * pow(1.0 - z, 1.5);
        put(e, 2 * k, 2 * k + 1, 0.0), put(e, 2 * k + 1, 2 * k, 0.0);
    }
}

static void local_mesh(const large_problem *p, long k, double t, const double *y, double *g,
                       double *dg)
{
    (void)p;
    g[0] = (k == 0 ? sin(2.0 * PI * t) : 0.0) - 0.05 * y[0];
    if (dg) dg[0] = -0.05;
}

static void make_mesh(large_problem *p, entries *e)
{
    couple(p, e, 0, 1.0, 0);
    for (long k = 0; k < p->n; k++) p->M[k] = (k / p->size + k % p->size) % 2 == 0 ? 0.01 : 0.0;
}

/* At index 2, x vx + y vy = 0, which is as far as IDA goes. */
static void local_pendulum(const large_problem *p, long k, double t, const double *y, double *g,
                           double *dg)
{
    (void)p, (void)k, (void)t;
    g[0] = y[2], g[1] = y[3];
    g[2] = -y[4] * y[0], g[3] = -y[4] * y[1] - 9.81;
    g[4] = y[0] * y[2] + y[1] * y[3];
    if (!dg) return;
    memset(dg, 0, 25 * sizeof *dg);
    dg[2] = -y[4], dg[4] = y[2];
    dg[8] = -y[4], dg[9] = y[3];
    dg[10] = 1.0, dg[14] = y[0];
    dg[16] = 1.0, dg[19] = y[1];
    dg[22] = -y[0], dg[23] = -y[1];
}

/* Velocities 0; forces along the rods from the angle and from the springs. */
static void start_pendulum(large_problem *p, long k)
{
    const double k1 = 5.0;
    double *y = p->y + 5 * k, *yp = p->yp + 5 * k;
    const long last = p->size - 1;
    double fx = 0.0, fy = -9.81;
    for (long side = -1; side <= 1; side += 2) {
        if (k + side < 0 || k + side > last) continue;
        const double angle = 0.5 * sin(6.0 * PI * (double)(k + side + 1) / 100.0);
        fx += k1 * (sin(angle) - y[0]);
        fy += k1 * (-cos(angle) - y[1]);
    }
    y[4] = fx * y[0] + fy * y[1];
    yp[2] = fx - y[4] * y[0];
    yp[3] = fy - y[4] * y[1];
}

static void make_pendulums(large_problem *p, entries *e)
{
    static const int local[][2] = {{0, 2}, {1, 3}, {2, 4}, {3, 4}, {4, 0}, {4, 1}, {4, 2}, {4, 3}};
    static const int across[][2] = {{2, 0}, {3, 1}};
    for (long k = 0; k < p->size; k++) {
        const double angle = 0.5 * sin(6.0 * PI * (double)(k + 1) / 100.0);
        p->y[5 * k] = sin(angle), p->y[5 * k + 1] = -cos(angle);
        for (int a = 0; a < 5; a++) p->M[5 * k + a] = a < 4, put(e, 5 * k + a, 5 * k + a, 0.0);
        for (int a = 0; a < 8; a++) put(e, 5 * k + local[a][0], 5 * k + local[a][1], 0.0);
        for (long side = -1; side <= 1; side += 2)
            for (int a = 0; a < 2 && k + side >= 0 && k + side < p->size; a++) {
                put(e, 5 * k + across[a][0], 5 * (k + side) + across[a][1], 5.0);
                put(e, 5 * k + across[a][0], 5 * k + across[a][1], -5.0);
            }
        start_pendulum(p, k);
    }
}

const char *const large_names[] = {"heat1d", "heat2d", "brusselator2d", "mesh", "pendulums", NULL};

static const large_problem known[] = {
    {.name = "heat1d", .probe = "u[%d]", .end = 0.1, .cell = 1, .iterate = false},
    {.name = "heat2d", .probe = "u[%d,%d]", .end = 0.05, .cell = 1, .plane = true, .iterate = true},
    {.name = "brusselator2d",
     .probe = "u[%d,%d]",
     .end = 1.0,
     .cell = 2,
     .plane = true,
     .iterate = true,
     .local = local_brusselator},
    {.name = "mesh",
     .probe = "v[%d,%d]",
     .end = 1.0,
     .cell = 1,
     .plane = true,
     .iterate = true,
     .local = local_mesh},
    {.name = "pendulums", .probe = "x[%d]", .end = 1.0, .cell = 5, .local = local_pendulum}};

/* y' where M is not 0, at the start */
static void start_slopes(large_problem *p)
{
    double *f = calloc((size_t)p->n, sizeof *f);
    large_residual(p, 0.0, p->y, p->yp, f);
    for (long i = 0; i < p->n; i++)
        if (p->M[i] != 0.0) p->yp[i] -= f[i] / p->M[i];
    free(f);
}

bool large_new(large_problem *p, const char *name, int size)
{
    static void (*const make[])(large_problem *, entries *) = {
        make_heat, make_heat, make_brusselator, make_mesh, make_pendulums};
    entries e = {0};
    size_t k = 0;
    while (k < sizeof known / sizeof *known && strcmp(known[k].name, name) != 0) k++;
    if (k == sizeof known / sizeof *known) return false;
    *p = known[k];
    p->size = size;
    const bool corner = k == 3; /* where the mesh is fed */
    const long middle = corner ? 0 : (size - 1) / 2 - (p->plane ? 0 : 8); /* no node of a wave */
    p->probed = p->cell * (p->plane ? middle * size + middle : middle);
    if (!room(p)) return false;
    make[k](p, &e);
    compress(p, &e);
    free(e.row), free(e.column), free(e.value);
    start_slopes(p);
    return true;
}

void large_free(large_problem *p)
{
    free(p->start), free(p->row), free(p->A), free(p->M), free(p->y), free(p->yp);
}

/* ---- values ---- */

void large_residual(const large_problem *p, double t, const double *y, const double *yp, double *f)
{
    double g[CELL_MOST];
    for (long i = 0; i < p->n; i++) f[i] = p->M[i] * yp[i];
    for (long c = 0; c < p->n; c++)
        for (long k = p->start[c]; k < p->start[c + 1]; k++) f[p->row[k]] -= p->A[k] * y[c];
    for (long k = 0; p->local && k < p->n / p->cell; k++) {
        p->local(p, k, t, y + k * p->cell, g, NULL);
        for (int a = 0; a < p->cell; a++) f[k * p->cell + a] -= g[a];
    }
}

void large_jacobian(const large_problem *p, double cj, double t, const double *y, double *values)
{
    double g[CELL_MOST], dg[CELL_MOST * CELL_MOST] = {0};
    for (long c = 0; c < p->n; c++) {
        const long first = c / p->cell * p->cell;
        if (p->local && c == first) p->local(p, c / p->cell, t, y + first, g, dg);
        for (long k = p->start[c]; k < p->start[c + 1]; k++) {
            const long in = p->row[k] - first;
            values[k] = -p->A[k] + (p->row[k] == c ? cj * p->M[c] : 0.0);
            if (p->local && in >= 0 && in < p->cell) values[k] -= dg[in + (c - first) * p->cell];
        }
    }
}

void large_blocks(const large_problem *p, double cj, double t, const double *y, double *blocks)
{
    double *values = calloc((size_t)p->start[p->n], sizeof *values);
    const int b = p->cell;
    large_jacobian(p, cj, t, y, values);
    memset(blocks, 0, (size_t)(p->n * b) * sizeof *blocks);
    for (long c = 0; c < p->n; c++)
        for (long k = p->start[c]; k < p->start[c + 1]; k++)
            if (p->row[k] / b == c / b) blocks[c * b + p->row[k] % b] = values[k];
    for (long k = 0; k < p->n / b; k++) { /* LU without pivots, in place */
        double *a = blocks + k * b * b;
        for (int j = 0; j < b; j++)
            for (int i = j + 1; i < b; i++) {
                a[j * b + i] /= a[j * b + j];
                for (int c = j + 1; c < b; c++) a[c * b + i] -= a[j * b + i] * a[c * b + j];
            }
    }
    free(values);
}

void large_block_solve(const large_problem *p, const double *blocks, double *x)
{
    const int b = p->cell;
    for (long k = 0; k < p->n / b; k++) {
        const double *a = blocks + k * b * b;
        double *u = x + k * b;
        for (int j = 0; j < b; j++)
            for (int i = j + 1; i < b; i++) u[i] -= a[j * b + i] * u[j];
        for (int j = b; j-- > 0;) {
            u[j] /= a[j * b + j];
            for (int i = 0; i < j; i++) u[i] -= a[j * b + i] * u[j];
        }
    }
}
