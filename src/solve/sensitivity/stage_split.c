#include "solve/sensitivity/stage_split.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/memory.h"

struct stage_split {
    const collocation *method;
    bool transposed, valid;
    matrix_layout layout; /* of the systems */
    size_t *from;         /* per entry: the one of F_Y and F_Y' that it is; SIZE_MAX: none */
    int *row;             /* per entry: the row that this one is in there */
    bool *sloped;         /* per row: F_Y' has values in it; such rows are multiplied by h, */
    double h;             /* that of the factors, */
    double *fy, *fyp;     /* which are of these derivatives */
    double *re, *im;      /* entries of one system */
    double before[COLLOCATION_STAGES * COLLOCATION_STAGES]; /* T^-1, or T^T, */
    double behind[COLLOCATION_STAGES * COLLOCATION_STAGES]; /* and T, or T^-T */
    linear_solver *real, *pair[COLLOCATION_PAIRS];
};

/* ---- life ---- */

void stage_split_free(stage_split *q)
{
    if (!q) return;
    for (int k = 0; k < COLLOCATION_PAIRS; k++) linear_free(q->pair[k]);
    linear_free(q->real);
    layout_free(&q->layout);
    dae_free_all(q->from, q->row, q->sloped, q->fy, q->re, q);
}

/* The layout of the transpose. */
static bool lay_transposed(matrix_layout *to, const matrix_layout *of)
{
    if (of->kind == DAE_STRUCTURE_DENSE) return layout_dense(to, of->n);
    if (of->kind == DAE_STRUCTURE_BANDED) return layout_banded(to, of->n, of->upper, of->lower);
    int *colptr = DAE_ARRAY(int, of->n + 2), *rowind = DAE_ARRAY(int, of->count);
    bool ok = colptr && rowind;
    for (size_t e = 0; ok && e < of->count; e++) colptr[of->rowind[e] + 2]++;
    for (int i = 0; ok && i < of->n; i++) colptr[i + 2] += colptr[i + 1];
    for (int j = 0; ok && j < of->n; j++)
        for (int e = of->colptr[j]; e < of->colptr[j + 1]; e++)
            rowind[colptr[of->rowind[e] + 1]++] = j;
    ok = ok && layout_sparse(to, of->n, colptr, rowind);
    dae_free_all(colptr, rowind);
    return ok;
}

/* Where entries come from. `next` has n + 1 values 0. */
static void note_entries(stage_split *q, const matrix_layout *of, int *next)
{
    for (size_t e = 0; e < q->layout.count; e++) q->from[e] = SIZE_MAX;
    for (int j = 0; j < of->n; j++) {
        const matrix_column column = layout_column(of, j);
        for (int k = 0; k < column.count; k++) {
            const int i = column_row(&column, k);
            size_t to = column.first + (size_t)k;
            if (q->transposed) { /* rows of a column come in ascending order */
                const matrix_column other = layout_column(&q->layout, i);
                to = other.first + (size_t)next[i]++;
            }
            q->from[to] = column.first + (size_t)k;
            q->row[to] = i;
        }
    }
}

static void take_tables(stage_split *q)
{
    const collocation *m = q->method;
    const int s = m->stages;
    for (int a = 0; a < s; a++)
        for (int b = 0; b < s; b++) {
            q->before[a * s + b] = q->transposed ? m->T[b * s + a] : m->T_inverse[a * s + b];
            q->behind[a * s + b] = q->transposed ? m->T_inverse[b * s + a] : m->T[a * s + b];
        }
}

static bool make_room(stage_split *q, const matrix_layout *of)
{
    int *next = DAE_ARRAY(int, of->n);
    q->from = DAE_ARRAY(size_t, of->count);
    q->row = DAE_ARRAY(int, of->count);
    q->sloped = DAE_ARRAY(bool, of->n);
    q->fy = DAE_ARRAY(double, 2 * of->count);
    q->re = DAE_ARRAY(double, 2 * of->count);
    bool ok = next && q->from && q->row && q->sloped && q->fy && q->re;
    if (ok) note_entries(q, of, next);
    dae_free(next);
    if (!ok) return false;
    q->fyp = q->fy + of->count;
    q->im = q->re + of->count;
    return (q->real = linear_new(&q->layout));
}

stage_split *stage_split_new(const matrix_layout *of, const collocation *m, bool transposed)
{
    stage_split *q = DAE_NEW(stage_split);
    if (!q) return NULL;
    q->method = m;
    q->transposed = transposed;
    bool ok = transposed ? lay_transposed(&q->layout, of) : layout_copy(&q->layout, of);
    ok = ok && make_room(q, of);
    for (int k = 0; k < m->pairs && ok; k++) ok = (q->pair[k] = complex_new(&q->layout, q->real));
    if (ok) take_tables(q);
    if (ok) return q;
    stage_split_free(q);
    return NULL;
}

/* ---- factors ---- */

/* Whether the factors are of these derivatives. Lengths of steps that ought to be the same differ
 * by rounding of the times between which they are. */
static bool is_same(const stage_split *q, const double *fy, const double *fyp, double h)
{
    static const double ROUNDING = 1e-13;
    const size_t bytes = q->layout.count * sizeof(double);
    return q->valid && fabs(h - q->h) <= ROUNDING * fabs(h) && memcmp(fy, q->fy, bytes) == 0 &&
           memcmp(fyp, q->fyp, bytes) == 0;
}

static void keep(stage_split *q, const double *fy, const double *fyp, double h)
{
    const size_t count = q->layout.count;
    memcpy(q->fy, fy, count * sizeof *fy);
    memcpy(q->fyp, fyp, count * sizeof *fyp);
    memset(q->sloped, 0, (size_t)q->layout.n * sizeof *q->sloped);
    for (size_t e = 0; e < count; e++)
        if (q->from[e] != SIZE_MAX && fyp[q->from[e]] != 0.0) q->sloped[q->row[e]] = true;
    q->h = h;
}

/* D (F_Y + (a + i b)/h F_Y'), with D = h where F_Y' has values, else 1, or its transpose. */
static void assemble(stage_split *q, double a, double b)
{
    for (size_t e = 0; e < q->layout.count; e++) {
        const size_t at = q->from[e];
        if (at == SIZE_MAX) continue; /* 0 */
        q->re[e] = (q->sloped[q->row[e]] ? q->h : 1.0) * q->fy[at] + a * q->fyp[at];
        q->im[e] = b * q->fyp[at];
    }
}

linear_status stage_split_factor(stage_split *q, const double *fy, const double *fyp, double h,
                                 bool *anew)
{
    const collocation *m = q->method;
    *anew = !is_same(q, fy, fyp, h);
    if (!*anew) return LINEAR_OK;
    q->valid = false;
    keep(q, fy, fyp, h);
    assemble(q, m->gamma, 0.0);
    linear_status status = linear_factor(q->real, q->re);
    for (int k = 0; k < m->pairs && status == LINEAR_OK; k++) {
        assemble(q, m->pair[2 * k], q->transposed ? -m->pair[2 * k + 1] : m->pair[2 * k + 1]);
        status = q->pair[k]->ops->factor(q->pair[k], q->re, q->im);
    }
    q->valid = status == LINEAR_OK;
    return status;
}

/* ---- solving ---- */

/* b := D b for `count` vectors. */
static void scale(const stage_split *q, int count, double *b)
{
    const int n = q->layout.n;
    for (int a = 0; a < count; a++, b += n)
        for (int i = 0; i < n; i++)
            if (q->sloped[i]) b[i] *= q->h;
}

void stage_split_solve(const stage_split *q, double *b, double *work)
{
    const int s = q->method->stages, pairs = q->method->pairs;
    const size_t n = (size_t)q->layout.n;
    double *re[COLLOCATION_PAIRS], *im[COLLOCATION_PAIRS];
    if (!q->transposed) scale(q, s, b);
    collocation_combine(s, s, (int)n, 1.0, q->before, b, work);
    linear_solve(q->real, work);
    for (int k = 0; k < pairs; k++) {
        re[k] = work + (size_t)(2 * k + 1) * n;
        im[k] = re[k] + n;
    }
    linear_solve_several(q->pair, pairs, re, im);
    collocation_combine(s, s, (int)n, 1.0, q->behind, work, b);
    if (q->transposed) scale(q, s, b);
}

void stage_split_filter(const stage_split *q, double *b)
{
    scale(q, 1, b);
    linear_solve(q->real, b);
}
