/* Square parts of rectangular matrices, and their factors. */
#include "base/memory.h"
#include "base/vector.h"
#include "method/half_explicit/herk_parts.h"

/* Below this size dense kernels are faster than sparse ones, whatever the pattern (linalg/dense.c).
 */
enum { DENSE_UP_TO = 64 };

void part_free(square_part *p)
{
    linear_free(p->solver);
    layout_free(&p->layout);
    dae_free_all(p->target, p->values);
    *p = (square_part){0};
}

/* Source columns in the order of the part: order[column_place[j]] = j. */
static bool sparse_layout(square_part *p, const int *row_place, const int *column_place)
{
    const form_matrix *m = p->source;
    int *order = DAE_ARRAY(int, p->size), *colptr = DAE_ARRAY(int, p->size + 1);
    int *rowind = DAE_ARRAY(int, m->count);
    bool ok = order && colptr && rowind;
    for (int j = 0; ok && j < m->columns; j++)
        if (column_place[j] >= 0) order[column_place[j]] = j;
    int count = 0;
    for (int k = 0; ok && k < p->size; k++) {
        colptr[k] = count;
        for (int q = m->colptr[order[k]]; q < m->colptr[order[k] + 1]; q++) {
            if (row_place[m->rowind[q]] < 0) continue;
            p->target[q] = count;
            rowind[count++] = row_place[m->rowind[q]];
        }
        colptr[k + 1] = count;
    }
    ok = ok && layout_sparse(&p->layout, p->size, colptr, rowind);
    dae_free_all(order, colptr, rowind);
    return ok;
}

static bool dense_layout(square_part *p, const int *row_place, const int *column_place)
{
    const form_matrix *m = p->source;
    for (int j = 0; j < m->columns; j++) {
        size_t from = m->colptr ? (size_t)m->colptr[j] : (size_t)j * (size_t)m->rows;
        size_t to = m->colptr ? (size_t)m->colptr[j + 1] : from + (size_t)m->rows;
        for (size_t q = from; q < to; q++) {
            int i = m->colptr ? m->rowind[q] : (int)(q - from);
            if (row_place[i] >= 0 && column_place[j] >= 0)
                p->target[q] = row_place[i] + column_place[j] * p->size;
        }
    }
    return p->layout.n == p->size ? true : layout_dense(&p->layout, p->size);
}

static bool part_analyse(square_part *p, const int *row_place, const int *column_place)
{
    const form_matrix *m = p->source;
    bool dense = !m->colptr || p->size <= DENSE_UP_TO;
    for (size_t q = 0; q < m->count; q++) p->target[q] = -1;
    if (!dense || p->layout.kind == DAE_STRUCTURE_SPARSE) { /* the pattern is another one */
        linear_free(p->solver);
        p->solver = NULL;
        dae_free(p->values);
        p->values = NULL;
        layout_free(&p->layout);
    }
    bool ok = dense ? dense_layout(p, row_place, column_place)
                    : sparse_layout(p, row_place, column_place);
    if (ok && !p->values) p->values = DAE_ARRAY(double, p->layout.count);
    if (ok && !p->solver) p->solver = linear_new(&p->layout);
    return ok && p->values && p->solver;
}

bool part_choose(square_part *p, const form_matrix *source, int size, const int *row_place,
                 const int *column_place)
{
    if (p->source != source || p->size != size) part_free(p);
    p->factored = false;
    p->source = source;
    p->size = size;
    if (size == 0) return true;
    if (!p->target) p->target = DAE_ARRAY(int, source->count);
    if (p->target && part_analyse(p, row_place, column_place)) return true;
    part_free(p);
    return false;
}

linear_status part_factor(square_part *p, const double *source_values)
{
    p->factored = p->size == 0;
    if (p->size == 0) return LINEAR_OK;
    vector_zero((int)p->layout.count, p->values);
    for (size_t q = 0; q < p->source->count; q++)
        if (p->target[q] >= 0) p->values[p->target[q]] = source_values[q];
    linear_status status = linear_factor(p->solver, p->values);
    p->factored = status == LINEAR_OK;
    return status;
}

void part_solve(const square_part *p, double *b)
{
    if (p->size > 0) linear_solve(p->solver, b);
}

void matrix_times_part(const form_matrix *m, const double *values, const int *column_place,
                       bool differential, double a, const double *x, double *y)
{
    for (int j = 0; j < m->columns; j++) {
        if ((column_place[j] < 0) != differential || x[j] == 0.0) continue;
        double factor = a * x[j];
        if (!m->colptr) {
            vector_axpy(m->rows, factor, values + (size_t)j * (size_t)m->rows, y);
            continue;
        }
        for (int q = m->colptr[j]; q < m->colptr[j + 1]; q++) y[m->rowind[q]] += factor * values[q];
    }
}

void part_persist(square_part *a, const form_matrix *source, persist *p)
{
    const bool there = persist_flag(p, a->solver != NULL);
    if (p->reading) part_free(a);
    PERSIST(p, a->size);
    PERSIST(p, a->factored);
    if (!there) return;
    layout_persist(&a->layout, p);
    PERSIST_OWNED(p, a->target, source->count);
    PERSIST_OWNED(p, a->values, a->layout.count);
    if (p->reading) {
        a->source = source;
        a->solver = persist_ok(p) ? linear_new(&a->layout) : NULL;
        if (!a->solver && persist_ok(p)) p->no_memory = true;
    }
    if (a->solver) linear_persist(a->solver, p);
}
