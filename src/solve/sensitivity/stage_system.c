#include "solve/sensitivity/stage_system.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/memory.h"
#include "solve/sensitivity/stage_split.h"

void stage_system_free(stage_system *q)
{
    if (!q) return;
    linear_free(q->solver);
    stage_split_free(q->split);
    layout_free(&q->layout);
    dae_free_all(q->slope, q->sloped, q->place, q->values, q->fy, q->fyp, q->point,
                 q->explicit_part, q->first, q->first_point, q);
}

stage_system *stage_system_new(int n, int stages, size_t count, int directions, bool transposed)
{
    const size_t s = (size_t)stages;
    stage_system *q = DAE_NEW(stage_system);
    if (!q) return NULL;
    q->n = n;
    q->stages = stages;
    q->count = count;
    q->transposed = transposed;
    q->first_t = NAN;
    q->slope = DAE_ARRAY(bool, count);
    q->sloped = DAE_ARRAY(bool, n);
    q->fy = DAE_ARRAY(double, count *s);
    q->fyp = DAE_ARRAY(double, count *s);
    q->point = DAE_ARRAY(double, 2 * (size_t)n * s);
    q->explicit_part = DAE_ARRAY(double, (size_t)n *s *(size_t)directions);
    q->first = DAE_ARRAY(double, 2 * count);
    q->first_point = DAE_ARRAY(double, 2 * (size_t)n);
    if (q->slope && q->sloped && q->fy && q->fyp && q->point && q->explicit_part && q->first &&
        q->first_point)
        return q;
    stage_system_free(q);
    return NULL;
}

/* ---- the layout ---- */

/* Note where F_Y' has values; whether there are new ones. */
static bool note_slopes(stage_system *q)
{
    bool more = !q->solver;
    for (size_t e = 0; e < q->count; e++) {
        if (q->slope[e]) continue;
        for (int a = 0; a < q->stages; a++)
            if (q->fyp[(size_t)a * q->count + e] != 0.0) q->slope[e] = more = true;
    }
    return more;
}

static size_t *place_at(const stage_system *q, int a, int b, size_t e)
{
    return &q->place[((size_t)a * (size_t)q->stages + (size_t)b) * q->count + e];
}

/* Entry e in row i, column j of block (a, b): its row and column among all stages. */
typedef struct stage_entry {
    int row, column;
} stage_entry;

static stage_entry entry_at(const stage_system *q, int a, int b, int i, int j)
{
    const int row = a * q->n + i, column = b * q->n + j;
    return q->transposed ? (stage_entry){column, row} : (stage_entry){row, column};
}

/* Visit all entries in an order in which those of one column come by ascending rows, whether the
 * matrix is transposed or not: count them in colptr[column + 1], or, with rowind, put them to
 * colptr[column]++. */
static void visit_entries(stage_system *q, const matrix_layout *of, int *colptr, int *rowind)
{
    for (int b = 0; b < q->stages; b++)
        for (int j = 0; j < q->n; j++) {
            matrix_column column = layout_column(of, j);
            for (int a = 0; a < q->stages; a++)
                for (int k = 0; k < column.count; k++) {
                    const size_t e = column.first + (size_t)k;
                    if (a != b && !q->slope[e]) continue;
                    stage_entry at = entry_at(q, a, b, column_row(&column, k), j);
                    if (!rowind) {
                        colptr[at.column + 1]++;
                        continue;
                    }
                    *place_at(q, a, b, e) = (size_t)colptr[at.column];
                    rowind[colptr[at.column]++] = at.row;
                }
        }
}

static bool lay_sparse(stage_system *q, const matrix_layout *of)
{
    const int all = q->n * q->stages;
    int *colptr = DAE_ARRAY(int, all + 1), *fill = DAE_ARRAY(int, all + 1), *rowind = NULL;
    bool ok = colptr && fill;
    if (ok) {
        visit_entries(q, of, colptr, NULL);
        for (int j = 0; j < all; j++) colptr[j + 1] += colptr[j];
        memcpy(fill, colptr, (size_t)(all + 1) * sizeof *fill);
        rowind = DAE_ARRAY(int, colptr[all]);
    }
    if (rowind) visit_entries(q, of, fill, rowind);
    ok = rowind && layout_sparse(&q->layout, all, colptr, rowind);
    dae_free_all(colptr, fill, rowind);
    return ok;
}

static bool lay_dense(stage_system *q, const matrix_layout *of)
{
    const size_t all = (size_t)q->n * (size_t)q->stages;
    for (int b = 0; b < q->stages; b++)
        for (int j = 0; j < q->n; j++) {
            matrix_column column = layout_column(of, j);
            for (int a = 0; a < q->stages; a++)
                for (int k = 0; k < column.count; k++) {
                    stage_entry at = entry_at(q, a, b, column_row(&column, k), j);
                    *place_at(q, a, b, column.first + (size_t)k) =
                        (size_t)at.row + (size_t)at.column * all;
                }
        }
    return layout_dense(&q->layout, (int)all);
}

static void note_rows(stage_system *q, const matrix_layout *of)
{
    for (int j = 0; j < q->n; j++) {
        matrix_column column = layout_column(of, j);
        for (int k = 0; k < column.count; k++)
            if (q->slope[column.first + (size_t)k]) q->sloped[column_row(&column, k)] = true;
    }
}

/* The layout for the slopes that were seen, and a solver on it. */
static bool lay_out(stage_system *q, const matrix_layout *of)
{
    linear_free(q->solver);
    q->solver = NULL;
    layout_free(&q->layout);
    dae_free_all(q->place, q->values);
    q->values = NULL;
    q->place = DAE_ARRAY(size_t, q->count * (size_t)(q->stages * q->stages));
    if (!q->place) return false;
    for (size_t k = 0; k < q->count * (size_t)(q->stages * q->stages); k++) q->place[k] = SIZE_MAX;
    bool ok = q->n * q->stages <= STAGE_SYSTEM_SMALL ? lay_dense(q, of) : lay_sparse(q, of);
    if (!ok) return false;
    note_rows(q, of);
    q->values = DAE_ARRAY(double, q->layout.count);
    if (q->values) q->solver = linear_new(&q->layout);
    return q->solver;
}

/* ---- the matrix ---- */

/* Rows with slopes are multiplied by h, so that all are of one size. */
static void assemble(stage_system *q, const matrix_layout *of, const collocation *m, double h)
{
    memset(q->values, 0, q->layout.count * sizeof *q->values);
    for (int j = 0; j < q->n; j++) {
        matrix_column column = layout_column(of, j);
        for (int k = 0; k < column.count; k++) {
            const size_t e = column.first + (size_t)k;
            const double scale = q->sloped[column_row(&column, k)] ? h : 1.0;
            for (int a = 0; a < q->stages; a++) {
                const double fy = q->fy[(size_t)a * q->count + e];
                const double fyp = q->fyp[(size_t)a * q->count + e];
                for (int b = 0; b < q->stages; b++) {
                    size_t at = *place_at(q, a, b, e);
                    if (at == SIZE_MAX) continue;
                    double value = m->inverse[a * q->stages + b] * fyp / h;
                    q->values[at] = scale * (a == b ? value + fy : value);
                }
            }
        }
    }
}

linear_status stage_system_factor(stage_system *q, const matrix_layout *of, const collocation *m,
                                  double h)
{
    if (note_slopes(q) && !lay_out(q, of)) return LINEAR_MEMORY;
    assemble(q, of, m, h);
    return linear_factor(q->solver, q->values);
}
