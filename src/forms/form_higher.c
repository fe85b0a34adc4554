/* F(t, x, x', .., x^(d)) = 0 as the user gives it, in y = (x, x', .., x^(d-1)), where derivatives
 * that do not appear are left out. Second order is the case d = 2 with a callback of its own. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "forms/form_parts.h"

/* Notation: x_i^(j) is y[place(i, j)], j = 0 .. length_i - 1; x_i is y[i], and behind all x come
 * first derivatives, then second ones, .. Row place(i, j), j > 0, says y_place(i, j-1)' -
 * y_place(i, j) = 0. */

static const higher_form *form_of(const form_instance *x)
{
    return &x->source->as.s;
}

int *higher_places(const higher_form *f, int *count)
{
    int n = f->h.n, *place = DAE_ARRAY(int, (size_t)f->h.order *(size_t)n);
    *count = 0;
    for (int j = 0; place && j < f->h.order; j++)
        for (int i = 0; i < n; i++)
            place[j * n + i] = j == 0 || f->h.orders[i] > j ? (*count)++ : -1;
    return place;
}

static size_t entries(const dae_higher_order *h)
{
    size_t n = (size_t)h->n;
    return h->pattern.colptr ? (size_t)h->pattern.colptr[n] : n * n;
}

bool higher_build(form_instance *x)
{
    const higher_form *f = form_of(x);
    higher_work *w = &x->sw;
    size_t n = (size_t)f->h.n, levels = (size_t)f->h.order + 1;
    size_t count = f->h.jacobian || f->second_jacobian ? entries(&f->h) : 0;
    if (!SHARED_BLOCK(SHARE(w->x[0], levels * n), SHARE(w->f_x[0], levels * count),
                      SHARE(w->probe, 2 * n)))
        return false;
    for (size_t j = 1; j < levels; j++) {
        w->x[j] = w->x[0] + j * n;
        w->f_x[j] = w->f_x[0] + j * count;
    }
    return true;
}

void higher_release_work(form_instance *x)
{
    dae_free(x->sw.x[0]);
}

/* x, x', .. of y and y'; 0 where they do not appear */
static void gather(const higher_form *f, const double *y, const double *yp, higher_work *w)
{
    int n = f->h.n;
    for (int i = 0; i < n; i++) {
        int last = i;
        w->x[0][i] = y[i];
        for (int j = 1; j <= f->h.order; j++) {
            int at = j < f->h.order ? f->place[j * n + i] : -1;
            if (at >= 0)
                w->x[j][i] = y[at];
            else
                w->x[j][i] = j <= f->h.orders[i] ? yp[last] : 0.0;
            if (at >= 0) last = at;
        }
    }
}

/* F at what was gathered, by the callback that there is */
static int call(const higher_form *f, double t, const higher_work *w, double *F)
{
    if (f->second) return f->second(t, w->x[0], w->x[1], w->x[2], F, f->h.user);
    return f->h.f(t, (const double *const *)w->x, F, f->h.user);
}

eval_status higher_rows(form_instance *x, double t, const double *y, const double *yp, double *F)
{
    const higher_form *f = form_of(x);
    int n = f->h.n;
    gather(f, y, yp, &x->sw);
    int code = call(f, t, &x->sw, F);
    for (int k = n; k < f->h.order * n; k++)
        if (f->place[k] >= 0) F[f->place[k]] = yp[f->place[k - n]] - y[f->place[k]];
    return form_judge(x, "f", t, code, (size_t)n, F, 0, NULL);
}

/* Whether F changes when derivatives that do not appear do, of x_i, or of all (i < 0). */
static bool changes(form_instance *x, double t, int i, const double *before, double *after)
{
    const higher_form *f = form_of(x);
    int n = f->h.n;
    for (int k = 0; k < n; k++)
        for (int j = f->h.orders[k] + 1; j <= f->h.order; j++)
            x->sw.x[j][k] = i < 0 || k == i ? 1.0 : 0.0;
    x->eval->stats->jacobian_residuals++;
    if (call(f, t, &x->sw, after) != 0) return false;
    for (int k = 0; k < n; k++)
        if (isfinite(before[k]) && after[k] != before[k]) return true;
    return false;
}

int form_instance_wrong(form_instance *x, double t, const double *y, const double *yp)
{
    if (x->source->kind != KIND_SECOND_ORDER) return -1;
    const higher_form *f = form_of(x);
    int wrong = -1, n = f->h.n;
    double *F = x->sw.probe;
    gather(f, y, yp, &x->sw);
    if (call(f, t, &x->sw, F) == 0 && changes(x, t, -1, F, F + n))
        for (int i = 0; i < n && wrong < 0; i++)
            if (f->h.orders[i] < f->h.order && changes(x, t, i, F, F + n)) wrong = i;
    return wrong;
}

int form_instance_order(const form_instance *x, int i)
{
    return form_of(x)->second ? -1 : form_of(x)->h.orders[i];
}

/* ---- derivatives ---- */

/* Column i of a matrix of the user, to `to`, element (r) at [r] if dense; values NULL: only its
 * length. */
static int put_column(const dae_higher_order *h, const double *values, int i, double *to)
{
    const int *colptr = h->pattern.colptr;
    int first = colptr ? colptr[i] : i * h->n, count = colptr ? colptr[i + 1] - first : h->n;
    if (values) memcpy(to, values + first, (size_t)count * sizeof *to);
    return count;
}

/* What the column of x_i^(j) is made of. */
typedef struct column_parts {
    const double *by_value, *by_slope; /* of the user; NULL: none */
    int own, next;                     /* kinematic rows: with -y, and with y'; -1: none */
} column_parts;

static column_parts parts_of(const higher_form *f, const higher_work *w, int i, int j)
{
    int n = f->h.n, next = j + 1 < f->h.order ? f->place[(j + 1) * n + i] : -1;
    bool slope = next < 0 && f->h.orders[i] > j;
    return (column_parts){w->f_x[j], slope ? w->f_x[j + 1] : NULL, j > 0 ? f->place[j * n + i] : -1,
                          next};
}

/* Columns as in higher_pattern: the user's rows, the row that has -x_i^(j), that with its slope. */
static void put_sparse(const higher_form *f, const higher_work *w, double *dfdy, double *dfdyp)
{
    size_t at = 0;
    for (int k = 0; k < f->h.order * f->h.n; k++) {
        if (f->place[k] < 0) continue;
        int i = k % f->h.n;
        column_parts c = parts_of(f, w, i, k / f->h.n);
        put_column(&f->h, c.by_slope, i, dfdyp + at);
        at += (size_t)put_column(&f->h, c.by_value, i, dfdy + at);
        if (c.own >= 0) dfdy[at++] = -1.0;
        if (c.next >= 0) dfdyp[at++] = 1.0;
    }
}

static void put_dense(const higher_form *f, const higher_work *w, size_t height, double *dfdy,
                      double *dfdyp)
{
    for (int k = 0; k < f->h.order * f->h.n; k++) {
        if (f->place[k] < 0) continue;
        int i = k % f->h.n;
        size_t at = (size_t)f->place[k] * height;
        column_parts c = parts_of(f, w, i, k / f->h.n);
        put_column(&f->h, c.by_slope, i, dfdyp + at);
        put_column(&f->h, c.by_value, i, dfdy + at);
        if (c.own >= 0) dfdy[at + (size_t)c.own] = -1.0;
        if (c.next >= 0) dfdyp[at + (size_t)c.next] = 1.0;
    }
}

int higher_jacobian(double t, const double *y, const double *yp, double *dfdy, double *dfdyp,
                    void *user)
{
    form_instance *x = user;
    const higher_form *f = form_of(x);
    higher_work *w = &x->sw;
    gather(f, y, yp, w);
    memset(w->f_x[0], 0, ((size_t)f->h.order + 1) * entries(&f->h) * sizeof *w->f_x[0]);
    int code = f->second_jacobian
                   ? f->second_jacobian(t, w->x[0], w->x[1], w->x[2], w->f_x[0], w->f_x[1],
                                        w->f_x[2], f->h.user)
                   : f->h.jacobian(t, (const double *const *)w->x, w->f_x, f->h.user);
    if (code != 0) return code;
    if (f->h.pattern.colptr)
        put_sparse(f, w, dfdy, dfdyp);
    else
        put_dense(f, w, (size_t)x->source->n, dfdy, dfdyp);
    return 0;
}

bool higher_pattern(const higher_form *f, int size, form_pattern *pattern)
{
    const int *colptr = f->h.pattern.colptr, *rowind = f->h.pattern.rowind;
    int n = f->h.n, at = 0, column = 0;
    *pattern = (form_pattern){0};
    if (!colptr) return true;
    pattern->colptr = DAE_ARRAY(int, size + 1);
    pattern->rowind = DAE_ARRAY(int, (size_t)f->h.order *(size_t)colptr[n] + 2 * (size_t)size);
    if (!pattern->colptr || !pattern->rowind) return false;
    for (int k = 0; k < f->h.order * n; k++) {
        if (f->place[k] < 0) continue;
        int i = k % n, next = k + n < f->h.order * n ? f->place[k + n] : -1;
        for (int e = colptr[i]; e < colptr[i + 1]; e++) pattern->rowind[at++] = rowind[e];
        if (k >= n) pattern->rowind[at++] = f->place[k];
        if (next >= 0) pattern->rowind[at++] = next;
        pattern->colptr[++column] = at;
    }
    return true;
}
