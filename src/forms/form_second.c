/* F(t, x, x', x'') = 0 as the user gives it, in y = (x, v): v = x_i' where x_i'' appears. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "forms/form_parts.h"

/* Notation: n unknowns x; those with second derivatives are numbered k = 0, 1, .. in their order,
 * and have velocity y[n + k] and row n + k: y_i' - y[n + k]. */

static const dae_second_order *form_of(const form_instance *x)
{
    return &x->source->as.s;
}

static size_t entries(const dae_second_order *form)
{
    size_t n = (size_t)form->n;
    return form->pattern.colptr ? (size_t)form->pattern.colptr[n] : n * n;
}

bool second_build(form_instance *x)
{
    const dae_second_order *form = form_of(x);
    second_work *w = &x->sw;
    size_t n = (size_t)form->n, count = form->jacobian ? entries(form) : 0;
    if (!SHARED_BLOCK(SHARE(w->xp, n), SHARE(w->xpp, n), SHARE(w->f_x, 3 * count))) return false;
    w->f_xp = w->f_x + count;
    w->f_xpp = w->f_xp + count;
    return true;
}

void second_release_work(form_instance *x)
{
    dae_free(x->sw.xp);
}

/* x' and x'' of y and y' */
static void gather(const dae_second_order *form, const double *y, const double *yp, second_work *w)
{
    int k = form->n;
    for (int i = 0; i < form->n; i++) {
        bool second = has_second(form, i);
        w->xp[i] = second ? y[k] : yp[i];
        w->xpp[i] = second ? yp[k] : 0.0;
        k += second;
    }
}

eval_status second_rows(form_instance *x, double t, const double *y, const double *yp, double *F)
{
    const dae_second_order *form = form_of(x);
    second_work *w = &x->sw;
    gather(form, y, yp, w);
    int code = form->f(t, y, w->xp, w->xpp, F, form->user), k = form->n;
    for (int i = 0; i < form->n; i++)
        if (has_second(form, i)) {
            F[k] = yp[i] - y[k];
            k++;
        }
    return form_judge(x, "f", t, code, (size_t)form->n, F, 0, NULL);
}

/* Whether F changes when x_i'' does, for one i without second derivatives, or for all (i < 0). */
static bool changes(form_instance *x, double t, const double *y, int i, const double *before,
                    double *after)
{
    const dae_second_order *form = form_of(x);
    double *xpp = x->sw.xpp;
    for (int k = 0; k < form->n; k++)
        if (!has_second(form, k)) xpp[k] = i < 0 || k == i ? 1.0 : 0.0;
    x->eval->stats->jacobian_residuals++;
    if (form->f(t, y, x->sw.xp, xpp, after, form->user) != 0) return false;
    for (int k = 0; k < form->n; k++)
        if (isfinite(before[k]) && after[k] != before[k]) return true;
    return false;
}

int form_instance_wrong(form_instance *x, double t, const double *y, const double *yp)
{
    if (x->source->kind != KIND_SECOND_ORDER || !form_of(x)->second) return -1;
    const dae_second_order *form = form_of(x);
    int wrong = -1, n = form->n;
    double *F = DAE_ARRAY(double, 2 * (size_t)n);
    gather(form, y, yp, &x->sw);
    if (F && form->f(t, y, x->sw.xp, x->sw.xpp, F, form->user) == 0 &&
        changes(x, t, y, -1, F, F + n))
        for (int i = 0; i < n && wrong < 0; i++)
            if (!has_second(form, i) && changes(x, t, y, i, F, F + n)) wrong = i;
    dae_free(F);
    return wrong;
}

/* ---- derivatives ---- */

/* Column j of a matrix of the user, to `to`, element (i) at [i] if dense. */
static int put_column(const dae_second_order *form, const double *values, int j, double *to)
{
    const int *colptr = form->pattern.colptr;
    int first = colptr ? colptr[j] : j * form->n, count = colptr ? colptr[j + 1] - first : form->n;
    if (values) memcpy(to, values + first, (size_t)count * sizeof *to);
    return count;
}

/* Columns as in second_pattern: that of x_i has the user's rows, and the row of its velocity; so
 * has that of its velocity. */
static void put_sparse(const dae_second_order *form, const second_work *w, double *dfdy,
                       double *dfdyp)
{
    size_t at = 0;
    for (int i = 0; i < form->n; i++) {
        bool second = has_second(form, i);
        put_column(form, w->f_x, i, dfdy + at);
        at += (size_t)put_column(form, second ? NULL : w->f_xp, i, dfdyp + at);
        if (second) dfdyp[at++] = 1.0;
    }
    for (int i = 0; i < form->n; i++) {
        if (!has_second(form, i)) continue;
        put_column(form, w->f_xp, i, dfdy + at);
        at += (size_t)put_column(form, w->f_xpp, i, dfdyp + at);
        dfdy[at++] = -1.0;
    }
}

static void put_dense(const dae_second_order *form, const second_work *w, size_t height,
                      double *dfdy, double *dfdyp)
{
    size_t k = (size_t)form->n;
    for (int i = 0; i < form->n; i++) {
        size_t here = (size_t)i * height, there = k * height;
        put_column(form, w->f_x, i, dfdy + here);
        if (!has_second(form, i)) {
            put_column(form, w->f_xp, i, dfdyp + here);
            continue;
        }
        put_column(form, w->f_xp, i, dfdy + there);
        put_column(form, w->f_xpp, i, dfdyp + there);
        dfdyp[here + k] = 1.0;
        dfdy[there + k] = -1.0;
        k++;
    }
}

int second_jacobian(double t, const double *y, const double *yp, double *dfdy, double *dfdyp,
                    void *user)
{
    form_instance *x = user;
    const dae_second_order *form = form_of(x);
    second_work *w = &x->sw;
    gather(form, y, yp, w);
    memset(w->f_x, 0, 3 * entries(form) * sizeof *w->f_x);
    int code = form->jacobian(t, y, w->xp, w->xpp, w->f_x, w->f_xp, w->f_xpp, form->user);
    if (code != 0) return code;
    if (form->pattern.colptr)
        put_sparse(form, w, dfdy, dfdyp);
    else
        put_dense(form, w, (size_t)x->source->n, dfdy, dfdyp);
    return 0;
}

bool second_pattern(const dae_second_order *form, form_pattern *pattern)
{
    const int *colptr = form->pattern.colptr, *rowind = form->pattern.rowind;
    *pattern = (form_pattern){0};
    if (!colptr) return true;
    int n = form->n, size = n, at = 0, column = 0;
    for (int i = 0; i < n; i++) size += has_second(form, i);
    pattern->colptr = DAE_ARRAY(int, size + 1);
    pattern->rowind = DAE_ARRAY(int, 2 * ((size_t)colptr[n] + (size_t)n));
    if (!pattern->colptr || !pattern->rowind) return false;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0, k = n; i < n; i++) {
            bool second = has_second(form, i);
            if (pass == 1 && !second) continue;
            for (int e = colptr[i]; e < colptr[i + 1]; e++) pattern->rowind[at++] = rowind[e];
            if (second) pattern->rowind[at++] = k++;
            pattern->colptr[++column] = at;
        }
    return true;
}
