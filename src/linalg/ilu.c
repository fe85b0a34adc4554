/* ILU(0) [Saa03 10.3.2]: the IKJ elimination kept to the pattern of A and its diagonal, by rows. */
#include "linalg/ilu.h"

#include "base/memory.h"
#include "base/vector.h"
#include "linalg/sparse_order.h"

#include <float.h>
#include <math.h>

/* A pivot below this part of its row's largest entry is replaced by that bound: the factors stay
 * finite and the preconditioner only gets weaker. The square root of the unit round-off loses half
 * the digits on either side. */
static const double PIVOT_FLOOR = 1.5e-8;

struct ilu {
    int n;
    size_t count;       /* values handed in */
    int room;           /* for entries */
    int *rowptr;        /* n+1: the pattern by rows with all diagonals */
    int *colind;        /* columns strictly increasing within a row */
    int *diagonal;      /* n: position of (i,i) */
    ptrdiff_t *target;  /* count: where value k of the layout goes; -1: outside the matrix */
    double *lu;         /* L with unit diagonal, and U */
    double *reciprocal; /* n: 1/U(i,i) */
    int *position;      /* n: where column j is in the current row, or -1 */
    int *place;         /* n: row i of the matrix is row place[i] here; NULL: i */
    double *work;       /* n, with place */
};

void ilu_free(ilu *f)
{
    if (!f) return;
    dae_free_all(f->rowptr, f->colind, f->diagonal, f->target, f->lu, f->reciprocal, f->position,
                 f->place, f->work, f);
}

/* Row i of the matrix, here */
static int row_here(const ilu *f, int i)
{
    return f->place ? f->place[i] : i;
}

/* rowptr from the row lengths; a missing diagonal counts as an entry. False if int overflows. */
static bool count_rows(ilu *f, const matrix_layout *layout)
{
    size_t total = 0;
    for (int j = 0; j < f->n; j++) {
        matrix_column c = layout_column(layout, j);
        bool present = false;
        for (int k = 0; k < c.count; k++) {
            int i = row_here(f, column_row(&c, k));
            f->rowptr[i + 1]++;
            present = present || i == j;
        }
        if (!present) f->rowptr[j + 1]++;
        total += (size_t)c.count + !present;
    }
    if (total > 0x7fffffff) return false;
    for (int i = 0; i < f->n; i++) f->rowptr[i + 1] += f->rowptr[i];
    return true;
}

/* Fill the rows column by column, which leaves every row sorted. */
static void fill_rows(ilu *f, const matrix_layout *layout)
{
    int *next = f->position;
    for (int i = 0; i < f->n; i++) next[i] = f->rowptr[i];
    for (size_t k = 0; k < f->count; k++) f->target[k] = -1;
    for (int j = 0; j < f->n; j++) {
        matrix_column c = layout_column(layout, j);
        f->diagonal[j] = -1;
        for (int k = 0; k < c.count; k++) {
            int i = row_here(f, column_row(&c, k)), at = next[i]++;
            f->colind[at] = j;
            f->target[c.first + (size_t)k] = at;
            if (i == j) f->diagonal[j] = at;
        }
        if (f->diagonal[j] < 0) {
            f->diagonal[j] = next[j]++;
            f->colind[f->diagonal[j]] = j;
        }
    }
    for (int i = 0; i < f->n; i++) f->position[i] = -1;
}

ilu *ilu_analyse(const matrix_layout *layout)
{
    const size_t n = (size_t)layout->n;
    ilu *f = DAE_NEW(ilu);
    if (!f) return NULL;
    f->n = layout->n;
    f->count = layout->count;
    f->rowptr = DAE_ARRAY(int, n + 1);
    f->diagonal = DAE_ARRAY(int, n);
    f->target = DAE_ARRAY(ptrdiff_t, f->count);
    f->reciprocal = DAE_ARRAY(double, n);
    f->position = DAE_ARRAY(int, n);
    if (f->rowptr && f->diagonal && f->target && f->reciprocal && f->position &&
        count_rows(f, layout)) {
        f->room = f->rowptr[n];
        f->colind = DAE_ARRAY(int, f->room);
        f->lu = DAE_ARRAY(double, f->room);
    }
    if (!f->colind || !f->lu) {
        ilu_free(f);
        return NULL;
    }
    fill_rows(f, layout);
    return f;
}

/* Whether all diagonal entries are there, and not small beside others of their row and column */
static bool has_diagonal(const matrix_layout *layout, const double *values, double *most,
                         double *diagonal)
{
    static const double SMALL = 0.01;
    const int n = layout->n;
    matrix_extents(layout, values, most, most + n);
    vector_zero(n, diagonal);
    for (int j = 0; j < n; j++)
        for (int k = layout->colptr[j]; k < layout->colptr[j + 1]; k++)
            if (layout->rowind[k] == j) diagonal[j] = fabs(values[k]);
    for (int i = 0; i < n; i++)
        if (!(diagonal[i] >= SMALL * most[i])) return false;
    return true;
}

/* The pattern with its rows in other places. */
static bool arrange_rows(ilu *f, const matrix_layout *layout)
{
    memset(f->rowptr, 0, ((size_t)f->n + 1) * sizeof *f->rowptr);
    if (!count_rows(f, layout)) return false;
    if (f->rowptr[f->n] > f->room) return false; /* a transversal adds no diagonals */
    fill_rows(f, layout);
    return true;
}

void ilu_arrange(ilu *f, const matrix_layout *layout, const double *values)
{
    const int n = f->n;
    if (layout->kind != DAE_STRUCTURE_SPARSE || f->place || n == 0) return;
    double *most = DAE_ARRAY(double, 3 * (size_t)n), *work = DAE_ARRAY(double, n);
    int *place = DAE_ARRAY(int, n);
    bool wanted = most && work && place && !has_diagonal(layout, values, most, most + 2 * n);
    dae_free(most);
    if (wanted && large_transversal(layout, values, place) == n) {
        f->place = place;
        f->work = work;
        if (arrange_rows(f, layout)) return;
        f->place = NULL;
        f->work = NULL;
        arrange_rows(f, layout);
    }
    dae_free_all(work, place);
}

/* The order of rows was chosen by earlier values: it is kept, and the pattern follows it. */
void ilu_persist(ilu *f, const matrix_layout *layout, persist *p)
{
    PERSIST_OWNED(p, f->place, f->n);
    if (p->reading && persist_ok(p)) {
        if (f->place && !f->work) f->work = DAE_ARRAY(double, f->n);
        p->no_memory = f->place && !f->work;
        if (!p->no_memory && !arrange_rows(f, layout)) persist_refuse(p, "an order of equations");
    }
    PERSIST_ARRAY(p, f->lu, f->rowptr[f->n]);
    PERSIST_ARRAY(p, f->reciprocal, f->n);
}

/* 1/U(i,i), with a replacement in *ok = false if the pivot is too small for its row */
static double protected_reciprocal(ilu *f, int i, double largest, bool *ok)
{
    double pivot = f->lu[f->diagonal[i]], floor = PIVOT_FLOOR * largest;
    if (!(floor >= DBL_MIN)) floor = 1.0; /* an empty row: leave that unknown alone */
    if (fabs(pivot) >= floor && fabs(pivot) <= DBL_MAX) return 1.0 / pivot;
    *ok = false;
    f->lu[f->diagonal[i]] = pivot < 0.0 ? -floor : floor;
    return 1.0 / f->lu[f->diagonal[i]];
}

/* Row i of L and U: a_ij -= l_ik u_kj for k < i in the row and j in the rows of both. */
static void eliminate_row(ilu *f, int i)
{
    const int begin = f->rowptr[i], end = f->rowptr[i + 1];
    for (int q = begin; q < end; q++) f->position[f->colind[q]] = q;
    for (int q = begin; q < f->diagonal[i]; q++) {
        const int k = f->colind[q];
        const double l = f->lu[q] *= f->reciprocal[k];
        for (int r = f->diagonal[k] + 1; r < f->rowptr[k + 1]; r++) {
            int at = f->position[f->colind[r]];
            if (at >= 0) f->lu[at] -= l * f->lu[r];
        }
    }
    for (int q = begin; q < end; q++) f->position[f->colind[q]] = -1;
}

bool ilu_factor(ilu *f, const double *values)
{
    bool ok = true;
    memset(f->lu, 0, (size_t)f->rowptr[f->n] * sizeof *f->lu);
    for (size_t k = 0; k < f->count; k++)
        if (f->target[k] >= 0) f->lu[f->target[k]] = values[k];
    for (int i = 0; i < f->n; i++) {
        double largest = 0.0;
        for (int q = f->rowptr[i]; q < f->rowptr[i + 1]; q++)
            if (fabs(f->lu[q]) > largest) largest = fabs(f->lu[q]);
        eliminate_row(f, i);
        f->reciprocal[i] = protected_reciprocal(f, i, largest, &ok);
    }
    return ok;
}

void ilu_solve(ilu *f, double *b)
{
    if (f->place) {
        for (int i = 0; i < f->n; i++) f->work[f->place[i]] = b[i];
        vector_copy(f->n, f->work, b);
    }
    const int *restrict colind = f->colind;
    const double *restrict lu = f->lu;
    for (int i = 0; i < f->n; i++) {
        double sum = b[i];
        for (int q = f->rowptr[i]; q < f->diagonal[i]; q++) sum -= lu[q] * b[colind[q]];
        b[i] = sum;
    }
    for (int i = f->n - 1; i >= 0; i--) {
        double sum = b[i];
        for (int q = f->diagonal[i] + 1; q < f->rowptr[i + 1]; q++) sum -= lu[q] * b[colind[q]];
        b[i] = sum * f->reciprocal[i];
    }
}
