#include "linalg/frozen_lu.h"

#include "base/memory.h"
#include "base/vector.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* Widest panel; mean length below which pieces of U count as short; and the part of explicit zeros
 * that a panel may hold to be wider (between 0 and 0.35 the times differ by less than 5 per cent).
 * Measured on tridiagonal and five-point matrices, see bench/linalg_kernels.c. */
enum { WIDEST = 64, SHORT_PIECE = 4 };
static const double MOST_ZEROS = 0.2;

/* Entries of A on their way into the factors: row[k] receives values[source[k]] * scale[row[k]]. */
typedef struct gather {
    int *start;  /* n+1, by columns of the factors */
    int *source; /* position among the values of A */
    int *row;    /* row of the factors */
} gather;

/* Supernode s holds columns first[s] .. first[s+1]-1. Its panel is dense and column-major: on top
 * the square block of L and U, below it the rows of L in row[below[s] ..]. */
struct frozen_lu {
    int n, supernodes, blocks;
    int *first;         /* supernodes+1 */
    int *owner;         /* n: supernode of a column */
    int *below, *row;   /* supernodes+1, and the rows */
    size_t *panel;      /* supernodes+1: where a panel starts in `lower` */
    double *lower;      /* the panels */
    int *segment;       /* n+1: pieces of U above the panel, by columns */
    int *segment_first; /* first row of a piece; it ends with its supernode */
    size_t *piece;      /* where its values start in `upper` */
    double *upper;
    int *upper_row;     /* row of each value of `upper` */
    bool short_pieces;  /* solves had better go by upper_row than by pieces */
    double *reciprocal; /* n: 1/U(k,k) */
    int *P, *Q, *block; /* copies, see lu_pattern */
    double *scale;      /* n: reciprocal row maxima, in the order of the factors */
    gather diagonal;    /* entries of A inside the blocks */
    gather outside;     /* and above them: F */
    double *F;
    double *x;    /* n: zero between calls of frozen_factor */
    double *work; /* n */
};

static void gather_free(gather *g)
{
    dae_free(g->start);
    dae_free(g->source);
    dae_free(g->row);
}

void frozen_free(frozen_lu *f)
{
    if (!f) return;
    void *const blocks[] = {
        f->first, f->owner, f->below,      f->row,  f->panel,         f->lower, f->segment,
        f->piece, f->upper, f->reciprocal, f->P,    f->segment_first, f->Q,     f->block,
        f->scale, f->F,     f->x,          f->work, f->upper_row};
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++) dae_free(blocks[k]);
    gather_free(&f->diagonal);
    gather_free(&f->outside);
    dae_free(f);
}

/* ---- analysis ---- */

static int compare_ints(const void *a, const void *b)
{
    const int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

static void sort_ints(int count, int *x)
{
    if (count > 1) qsort(x, (size_t)count, sizeof *x, compare_ints);
}

/* The supernode being built: columns `from` .. `to`, with the union of their rows below. */
typedef struct growing {
    int from, to;
    int count; /* rows below `to` are row[0..count-1], marked with `from` */
    int *row, *mark;
    double entries; /* true entries of L in its columns, diagonals included */
} growing;

/* Add the rows of column k of L to the union. */
static void add_column(growing *g, const lu_pattern *p, int k)
{
    int kept = 0;
    for (int q = 0; q < g->count; q++)
        if (g->row[q] != k) g->row[kept++] = g->row[q];
    g->count = kept;
    for (int q = p->Lp[k]; q < p->Lp[k + 1]; q++)
        if (p->Li[q] > k && g->mark[p->Li[q]] != g->from) {
            g->mark[p->Li[q]] = g->from;
            g->row[g->count++] = p->Li[q];
        }
    g->to = k;
    g->entries += p->Lp[k + 1] - p->Lp[k];
}

/* Whether column k may join: its row must be among those below, and zeros must stay few. */
static bool may_join(const growing *g, const lu_pattern *p, int k)
{
    if (g->mark[k] != g->from || k - g->from >= WIDEST) return false;
    int fresh = 0;
    for (int q = p->Lp[k]; q < p->Lp[k + 1]; q++)
        fresh += p->Li[q] > k && g->mark[p->Li[q]] != g->from;
    const double width = k - g->from + 1, rows = g->count - 1 + fresh;
    const double stored = 0.5 * width * (width + 1.0) + width * rows;
    return stored - g->entries - (p->Lp[k + 1] - p->Lp[k]) <= MOST_ZEROS * stored;
}

/* Cut the columns into supernodes; f->row must hold all rows. */
static void find_supernodes(frozen_lu *f, const lu_pattern *p, int *mark)
{
    growing g = {.mark = mark, .row = f->row};
    for (int i = 0; i < f->n; i++) mark[i] = -1;
    for (int k = 0; k < f->n; k++) {
        if (k == 0 || !may_join(&g, p, k)) {
            if (k > 0) g.row += g.count;
            f->first[f->supernodes] = g.from = k;
            f->below[f->supernodes++] = (int)(g.row - f->row);
            g.count = 0;
            g.entries = 0.0;
        }
        f->owner[k] = f->supernodes - 1;
        add_column(&g, p, k);
        f->first[f->supernodes] = k + 1;
        f->below[f->supernodes] = (int)(g.row - f->row) + g.count;
    }
}

static int width_of(const frozen_lu *f, int s)
{
    return f->first[s + 1] - f->first[s];
}

static int stride_of(const frozen_lu *f, int s)
{
    return width_of(f, s) + f->below[s + 1] - f->below[s];
}

static void place_panels(frozen_lu *f)
{
    for (int s = 0; s < f->supernodes; s++) {
        sort_ints(f->below[s + 1] - f->below[s], f->row + f->below[s]);
        f->panel[s + 1] = f->panel[s] + (size_t)width_of(f, s) * (size_t)stride_of(f, s);
    }
}

/* The pieces of U above the panels: per column and supernode one run down to the supernode's end.
 * `lowest` has n entries. segment_first must have room for all entries of U. */
static void find_segments(frozen_lu *f, const lu_pattern *p, int *lowest)
{
    int used = 0;
    size_t values = 0;
    for (int i = 0; i < f->n; i++) lowest[i] = -1; /* per supernode: first row in this column */
    for (int k = 0; k < f->n; k++) {
        const int begin = used;
        for (int q = p->Up[k]; q < p->Up[k + 1]; q++) {
            const int i = p->Ui[q], s = f->owner[i];
            if (s == f->owner[k]) continue;
            if (lowest[s] < 0) f->segment_first[used++] = s;
            if (lowest[s] < 0 || i < lowest[s]) lowest[s] = i;
        }
        sort_ints(used - begin, f->segment_first + begin);
        for (int q = begin; q < used; q++) {
            const int s = f->segment_first[q];
            f->segment_first[q] = lowest[s];
            f->piece[q] = values;
            values += (size_t)(f->first[s + 1] - lowest[s]);
            lowest[s] = -1;
        }
        f->segment[k + 1] = used;
    }
    f->piece[used] = values;
}

/* Rows of all values of U, for solves by single entries; short pieces cost more than their indices.
 */
static void list_rows(frozen_lu *f)
{
    const int pieces = f->segment[f->n];
    const size_t values = f->piece[pieces];
    for (int q = 0; q < pieces; q++)
        for (size_t i = f->piece[q]; i < f->piece[q + 1]; i++)
            f->upper_row[i] = f->segment_first[q] + (int)(i - f->piece[q]);
    f->short_pieces = values < SHORT_PIECE * (size_t)pieces;
}

static bool gather_new(gather *g, int n, size_t count)
{
    g->start = DAE_ARRAY(int, n + 1);
    g->source = DAE_ARRAY(int, count);
    g->row = DAE_ARRAY(int, count);
    return g->start && g->source && g->row;
}

/* Sort the entries of A by columns of the factors into `diagonal` and `outside`. */
static void route_entries(frozen_lu *f, const matrix_layout *layout, int *inverse)
{
    int inside = 0, above = 0;
    for (int i = 0; i < f->n; i++) inverse[f->P[i]] = i;
    for (int k = 0, b = 0; k < f->n; k++) {
        if (k == f->block[b + 1]) b++;
        for (int q = layout->colptr[f->Q[k]]; q < layout->colptr[f->Q[k] + 1]; q++) {
            const int i = inverse[layout->rowind[q]];
            gather *g = i < f->block[b] ? &f->outside : &f->diagonal;
            int *at = i < f->block[b] ? &above : &inside;
            g->source[*at] = q;
            g->row[(*at)++] = i;
        }
        f->diagonal.start[k + 1] = inside;
        f->outside.start[k + 1] = above;
    }
}

static bool frozen_allocate(frozen_lu *f, const matrix_layout *layout, const lu_pattern *p)
{
    const size_t n = (size_t)layout->n;
    f->first = DAE_ARRAY(int, n + 1);
    f->owner = DAE_ARRAY(int, n);
    f->below = DAE_ARRAY(int, n + 1);
    f->row = DAE_ARRAY(int, p->Lp[n]);
    f->panel = DAE_ARRAY(size_t, n + 1);
    f->segment = DAE_ARRAY(int, n + 1);
    f->segment_first = DAE_ARRAY(int, p->Up[n]);
    f->piece = DAE_ARRAY(size_t, (size_t)p->Up[n] + 1);
    f->reciprocal = DAE_ARRAY(double, n);
    f->P = dae_copy(p->P, n, sizeof *p->P);
    f->Q = dae_copy(p->Q, n, sizeof *p->Q);
    f->block = dae_copy(p->block, (size_t)p->blocks + 1, sizeof *p->block);
    f->scale = DAE_ARRAY(double, n);
    f->x = DAE_ARRAY(double, n);
    f->work = DAE_ARRAY(double, n);
    return f->first && f->owner && f->below && f->row && f->panel && f->segment &&
           f->segment_first && f->piece && f->reciprocal && f->P && f->Q && f->block && f->scale &&
           f->x && f->work && gather_new(&f->diagonal, layout->n, layout->count) &&
           gather_new(&f->outside, layout->n, layout->count);
}

frozen_lu *frozen_new(const matrix_layout *layout, const lu_pattern *pattern)
{
    frozen_lu *f = DAE_NEW(frozen_lu);
    if (!f) return NULL;
    f->n = layout->n;
    f->blocks = pattern->blocks;
    int *scratch = DAE_ARRAY(int, layout->n);
    if (scratch && frozen_allocate(f, layout, pattern)) {
        find_supernodes(f, pattern, scratch);
        place_panels(f);
        find_segments(f, pattern, scratch);
        route_entries(f, layout, scratch);
        f->lower = DAE_ARRAY(double, f->panel[f->supernodes]);
        f->upper = DAE_ARRAY(double, f->piece[f->segment[f->n]]);
        f->upper_row = DAE_ARRAY(int, f->piece[f->segment[f->n]]);
        f->F = DAE_ARRAY(double, f->outside.start[f->n]);
    }
    dae_free(scratch);
    if (f->lower && f->upper && f->upper_row && f->F) {
        list_rows(f);
        return f;
    }
    frozen_free(f);
    return NULL;
}

/* ---- dense kernels; all columns have stride ld ---- */

/* u := L^-1 u for a unit lower triangle of order m */
static inline void lower_solve(int m, int ld, const double *restrict l, double *restrict u)
{
    for (int j = 0; j + 1 < m; j++, l += ld)
        for (int i = j + 1; i < m; i++) u[i] -= l[i] * u[j];
}

/* y -= L u for rows x m, four columns at a time */
static inline void subtract_product(int rows, int m, int ld, const double *restrict l,
                                    const double *restrict u, double *restrict y)
{
    int j = 0;
    for (; j + 3 < m; j += 4, l += 4 * (ptrdiff_t)ld) {
        const double *restrict b = l + ld, *restrict c = b + ld, *restrict d = c + ld;
        const double u0 = u[j], u1 = u[j + 1], u2 = u[j + 2], u3 = u[j + 3];
        for (int i = 0; i < rows; i++) y[i] -= (l[i] * u0 + b[i] * u1) + (c[i] * u2 + d[i] * u3);
    }
    for (; j < m; j++, l += ld)
        for (int i = 0; i < rows; i++) y[i] -= l[i] * u[j];
}

/* x[row] -= L u: directly for a few columns, else through a contiguous buffer */
static inline void scatter_product(int rows, int m, int ld, const double *restrict l,
                                   const double *restrict u, const int *restrict row,
                                   double *restrict work, double *restrict x)
{
    const double *restrict b = l + ld, *restrict c = b + ld;
    if (m == 1) {
        for (int i = 0; i < rows; i++) x[row[i]] -= l[i] * u[0];
    } else if (m == 2) {
        for (int i = 0; i < rows; i++) x[row[i]] -= l[i] * u[0] + b[i] * u[1];
    } else if (m == 3) {
        for (int i = 0; i < rows; i++) x[row[i]] -= l[i] * u[0] + b[i] * u[1] + c[i] * u[2];
    } else {
        for (int i = 0; i < rows; i++) work[i] = x[row[i]];
        subtract_product(rows, m, ld, l, u, work);
        for (int i = 0; i < rows; i++) x[row[i]] = work[i];
    }
}

/* ---- factorisation ---- */

/* Move m values from x to u and clear x; most often there is one, which needs no library calls. */
static inline void take(int m, double *restrict x, double *restrict u)
{
    if (m == 1) {
        u[0] = x[0];
        x[0] = 0.0;
        return;
    }
    vector_copy(m, x, u);
    vector_zero(m, x);
}

/* Subtract what supernode s contributes to the column in x, from row `start` on; the finished piece
 * of U goes to `u` and its place in x is cleared. */
static void apply_supernode(frozen_lu *f, int s, int start, double *restrict u)
{
    const int m = f->first[s + 1] - start, ld = stride_of(f, s), skip = start - f->first[s];
    const double *l = f->lower + f->panel[s] + (ptrdiff_t)skip * (ld + 1);
    take(m, f->x + start, u);
    lower_solve(m, ld, l, u);
    scatter_product(f->below[s + 1] - f->below[s], m, ld, l + m, u, f->row + f->below[s], f->work,
                    f->x);
}

/* Largest |x_i| */
static double largest(int count, const double *x, double most)
{
    for (int i = 0; i < count; i++)
        if (fabs(x[i]) > most) most = fabs(x[i]);
    return most;
}

/* x := column k of A, scaled; returns its largest entry */
static double load_column(frozen_lu *f, int k, const double *values)
{
    double most = 0.0;
    for (int q = f->diagonal.start[k]; q < f->diagonal.start[k + 1]; q++) {
        const int i = f->diagonal.row[q];
        const double v = values[f->diagonal.source[q]] * f->scale[i];
        f->x[i] = v;
        if (fabs(v) > most) most = fabs(v);
    }
    return most;
}

/* Move the column from x into its panel and clear x. */
static void store_column(frozen_lu *f, int s, double *restrict column)
{
    const int width = width_of(f, s), rows = f->below[s + 1] - f->below[s];
    const int *row = f->row + f->below[s];
    take(width, f->x + f->first[s], column);
    for (int i = 0; i < rows; i++) {
        column[width + i] = f->x[row[i]];
        f->x[row[i]] = 0.0;
    }
}

/* Column k of L and U, left-looking as in [DPN10]; false if its pivot is unusable. */
static bool factor_column(frozen_lu *f, int k, const double *values, double *growth)
{
    const int s = f->owner[k], j = k - f->first[s], ld = stride_of(f, s);
    double *panel = f->lower + f->panel[s], *column = panel + (ptrdiff_t)j * ld;
    const double size = load_column(f, k, values);
    double most = 0.0;
    for (int q = f->segment[k]; q < f->segment[k + 1]; q++) {
        double *u = f->upper + f->piece[q];
        apply_supernode(f, f->owner[f->segment_first[q]], f->segment_first[q], u);
        most = largest((int)(f->piece[q + 1] - f->piece[q]), u, most);
    }
    store_column(f, s, column);
    lower_solve(j, ld, panel, column);
    subtract_product(ld - j, j, ld, panel + j, column, column + j);
    most = largest(j + 1, column, most);
    const double pivot = column[j];
    if (!(fabs(pivot) >= DBL_MIN && fabs(pivot) <= DBL_MAX)) return false;
    f->reciprocal[k] = 1.0 / pivot;
    for (int i = j + 1; i < ld; i++) column[i] *= f->reciprocal[k];
    if (size < *growth * most) *growth = size / most;
    return true;
}

/* Raise the row maxima by the entries of g. */
static void widen_rows(const gather *g, int count, const double *restrict values,
                       double *restrict most)
{
    for (int q = 0; q < count; q++) {
        const double size = fabs(values[g->source[q]]);
        if (size > most[g->row[q]]) most[g->row[q]] = size;
    }
}

/* scale_i = 1 / max_j |A(i,j)| */
static void scale_rows(frozen_lu *f, const double *values)
{
    vector_zero(f->n, f->scale);
    widen_rows(&f->diagonal, f->diagonal.start[f->n], values, f->scale);
    widen_rows(&f->outside, f->outside.start[f->n], values, f->scale);
    for (int i = 0; i < f->n; i++) f->scale[i] = f->scale[i] >= DBL_MIN ? 1.0 / f->scale[i] : 1.0;
}

int frozen_factor(frozen_lu *f, const double *values, double *growth)
{
    *growth = 1.0;
    scale_rows(f, values);
    for (int q = 0; q < f->outside.start[f->n]; q++)
        f->F[q] = values[f->outside.source[q]] * f->scale[f->outside.row[q]];
    for (int k = 0; k < f->n; k++)
        if (!factor_column(f, k, values, growth)) {
            vector_zero(f->n, f->x);
            return f->Q[k];
        }
    return -1;
}

/* ---- solves ---- */

/* x := L^-1 x on supernode s and what depends on it */
static void forward(frozen_lu *f, int s, double *x)
{
    const int m = width_of(f, s), ld = stride_of(f, s);
    const double *l = f->lower + f->panel[s];
    lower_solve(m, ld, l, x + f->first[s]);
    scatter_product(ld - m, m, ld, l + m, x + f->first[s], f->row + f->below[s], f->work, x);
}

/* x -= U(:,k) t above the panel */
static inline void subtract_column(const frozen_lu *f, int k, double t, double *restrict x)
{
    const double *restrict upper = f->upper;
    if (f->short_pieces) {
        const int *restrict row = f->upper_row;
        const size_t end = f->piece[f->segment[k + 1]];
        for (size_t i = f->piece[f->segment[k]]; i < end; i++) x[row[i]] -= upper[i] * t;
        return;
    }
    for (int q = f->segment[k]; q < f->segment[k + 1]; q++) {
        const double *restrict u = upper + f->piece[q];
        const int m = (int)(f->piece[q + 1] - f->piece[q]);
        double *restrict at = x + f->segment_first[q];
        for (int i = 0; i < m; i++) at[i] -= u[i] * t;
    }
}

/* x := U^-1 x on column k, and what depends on it */
static inline void backward(const frozen_lu *f, int k, double *restrict x)
{
    const int s = f->owner[k], j = k - f->first[s];
    const double *restrict column = f->lower + f->panel[s] + (ptrdiff_t)j * stride_of(f, s);
    const double t = x[k] *= f->reciprocal[k];
    for (int i = 0; i < j; i++) x[f->first[s] + i] -= column[i] * t;
    subtract_column(f, k, t, x);
}

void frozen_solve(frozen_lu *f, double *b)
{
    double *x = f->x;
    for (int i = 0; i < f->n; i++) x[i] = b[f->P[i]] * f->scale[i];
    for (int c = f->blocks - 1; c >= 0; c--) {
        const int begin = f->block[c], end = f->block[c + 1];
        for (int s = f->owner[begin]; s < f->supernodes && f->first[s] < end; s++) forward(f, s, x);
        for (int k = end - 1; k >= begin; k--) backward(f, k, x);
        for (int q = f->outside.start[begin], k = begin; k < end; k++)
            for (; q < f->outside.start[k + 1]; q++) x[f->outside.row[q]] -= f->F[q] * x[k];
    }
    for (int k = 0; k < f->n; k++) b[f->Q[k]] = x[k];
    vector_zero(f->n, x);
}

/* x_k := (U^-T (x - F^T x))_k, from the components before it */
static void forward_transpose(const frozen_lu *f, int k, double *x)
{
    const int s = f->owner[k], j = k - f->first[s];
    const double *column = f->lower + f->panel[s] + (ptrdiff_t)j * stride_of(f, s);
    double sum = x[k];
    for (int q = f->outside.start[k]; q < f->outside.start[k + 1]; q++)
        sum -= f->F[q] * x[f->outside.row[q]];
    for (size_t i = f->piece[f->segment[k]]; i < f->piece[f->segment[k + 1]]; i++)
        sum -= f->upper[i] * x[f->upper_row[i]];
    for (int i = 0; i < j; i++) sum -= column[i] * x[f->first[s] + i];
    x[k] = sum * f->reciprocal[k];
}

/* x_k := (L^-T x)_k, from the components after it */
static void backward_transpose(const frozen_lu *f, int k, double *x)
{
    const int s = f->owner[k], m = width_of(f, s), ld = stride_of(f, s), j = k - f->first[s];
    const double *column = f->lower + f->panel[s] + (ptrdiff_t)j * ld;
    double sum = x[k];
    for (int i = j + 1; i < m; i++) sum -= column[i] * x[f->first[s] + i];
    for (int i = m; i < ld; i++) sum -= column[i] * x[f->row[f->below[s] + i - m]];
    x[k] = sum;
}

void frozen_solve_transpose(frozen_lu *f, double *b)
{
    double *x = f->x;
    for (int k = 0; k < f->n; k++) x[k] = b[f->Q[k]];
    for (int c = 0; c < f->blocks; c++) {
        for (int k = f->block[c]; k < f->block[c + 1]; k++) forward_transpose(f, k, x);
        for (int k = f->block[c + 1] - 1; k >= f->block[c]; k--) backward_transpose(f, k, x);
    }
    for (int i = 0; i < f->n; i++) b[f->P[i]] = x[i] * f->scale[i];
    vector_zero(f->n, x);
}
