#include "structure/rewrite/matched_scale.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "structure/index/assignment.h"

/* Exponents of doubles are above -SHIFT; scales are within the RANGE, so that products are doubles.
 */
enum { SHIFT = 1100, RANGE = 500 };

bool matched_scale_new(matched_scale *m, int n, int entries)
{
    signature *s = &m->weight;
    *s = (signature){.m = n,
                     .n = n,
                     .start = DAE_ARRAY(int, n + 1),
                     .column = DAE_ARRAY(int, entries),
                     .order = DAE_ARRAY(int, entries)};
    m->rows = DAE_ARRAY(int, n);
    m->found = DAE_NEW(assignment);
    bool ok = s->start && s->column && s->order && m->rows && m->found;
    ok = ok && assignment_new(m->found, s);
    for (int i = 0; ok && i < n; i++) m->rows[i] = i;
    if (!ok) matched_scale_free(m);
    return ok;
}

void matched_scale_free(matched_scale *m)
{
    signature_free(&m->weight);
    if (m->found) assignment_free(m->found);
    dae_free_all(m->rows, m->found);
    *m = (matched_scale){0};
}

void matched_scale_begin(matched_scale *m, int n)
{
    m->weight.m = m->weight.n = n;
    m->row = m->count = m->weight.start[0] = 0;
    for (int i = 0; i < n; i++) m->found->column_of[i] = m->found->row_of[i] = -1;
}

/* The rows before i are complete. */
static void close_rows(matched_scale *m, int i)
{
    while (m->row < i) m->weight.start[++m->row] = m->count;
}

void matched_scale_add(matched_scale *m, int i, int j, double value)
{
    int exponent;
    close_rows(m, i);
    if (value == 0.0) return;
    frexp(value, &exponent);
    m->weight.column[m->count] = j;
    m->weight.order[m->count++] = exponent + SHIFT;
}

bool matched_scale_end(matched_scale *m, double *row, double *column)
{
    const int n = m->weight.n;
    assignment *a = m->found;
    close_rows(m, n);
    assignment_start(a);
    if (!assignment_complete(a, m->rows, n)) return false;
    for (int i = 0; i < n; i++) {
        if (abs(a->c[i]) > RANGE || abs(SHIFT - a->d[i]) > RANGE) return false;
        row[i] = ldexp(1.0, a->c[i]);
        column[i] = ldexp(1.0, SHIFT - a->d[i]);
    }
    return true;
}
