#include "linalg/frozen_shape.h"

#include "base/memory.h"

#include <stdlib.h>

/* Widest panel; mean length below which pieces of U count as short; and the part of explicit zeros
 * that a panel may hold to be wider (between 0 and 0.35 the times differ by less than 5 per cent).
 * Measured on tridiagonal and five-point matrices, see bench/linalg_kernels.c. */
enum { WIDEST = 64, SHORT_PIECE = 4 };
static const double MOST_ZEROS = 0.2;

static void gather_free(gather *g)
{
    dae_free_all(g->start, g->source, g->row);
}

frozen_shape *shape_share(frozen_shape *f)
{
    f->references++;
    return f;
}

void shape_free(frozen_shape *f)
{
    if (!f || --f->references > 0) return;
    dae_free_all(f->first, f->owner, f->below, f->row, f->panel, f->segment, f->segment_first,
                 f->piece, f->upper_row, f->P, f->Q, f->block);
    gather_free(&f->diagonal);
    gather_free(&f->outside);
    dae_free(f);
}

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
static void find_supernodes(frozen_shape *f, const lu_pattern *p, int *mark)
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

static void place_panels(frozen_shape *f)
{
    for (int s = 0; s < f->supernodes; s++) {
        sort_ints(f->below[s + 1] - f->below[s], f->row + f->below[s]);
        f->panel[s + 1] = f->panel[s] + (size_t)width_of(f, s) * (size_t)stride_of(f, s);
    }
}

/* The pieces of U above the panels: per column and supernode one run down to the supernode's end.
 * `lowest` has n entries. segment_first must have room for all entries of U. */
static void find_segments(frozen_shape *f, const lu_pattern *p, int *lowest)
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
static void list_rows(frozen_shape *f)
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
static void route_entries(frozen_shape *f, const matrix_layout *layout, int *inverse)
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

static bool allocate(frozen_shape *f, const matrix_layout *layout, const lu_pattern *p)
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
    f->P = dae_copy(p->P, n, sizeof *p->P);
    f->Q = dae_copy(p->Q, n, sizeof *p->Q);
    f->block = dae_copy(p->block, (size_t)p->blocks + 1, sizeof *p->block);
    return f->first && f->owner && f->below && f->row && f->panel && f->segment &&
           f->segment_first && f->piece && f->P && f->Q && f->block &&
           gather_new(&f->diagonal, layout->n, layout->count) &&
           gather_new(&f->outside, layout->n, layout->count);
}

frozen_shape *shape_new(const matrix_layout *layout, const lu_pattern *pattern)
{
    frozen_shape *f = DAE_NEW(frozen_shape);
    if (!f) return NULL;
    f->references = 1;
    f->n = layout->n;
    f->blocks = pattern->blocks;
    int *scratch = DAE_ARRAY(int, layout->n);
    if (scratch && allocate(f, layout, pattern)) {
        find_supernodes(f, pattern, scratch);
        place_panels(f);
        find_segments(f, pattern, scratch);
        route_entries(f, layout, scratch);
        f->upper_row = DAE_ARRAY(int, shape_upper(f));
    }
    dae_free(scratch);
    if (f->upper_row) {
        list_rows(f);
        return f;
    }
    shape_free(f);
    return NULL;
}

static void gather_persist(gather *g, int n, persist *p)
{
    PERSIST_OWNED(p, g->start, n + 1);
    if (!persist_ok(p)) return;
    PERSIST_OWNED(p, g->source, g->start[n]);
    PERSIST_OWNED(p, g->row, g->start[n]);
}

/* Arrays whose lengths others tell */
static void lists_persist(frozen_shape *f, persist *p)
{
    PERSIST_OWNED(p, f->row, f->below[f->supernodes]);
    PERSIST_OWNED(p, f->segment_first, f->segment[f->n]);
    PERSIST_OWNED(p, f->piece, f->segment[f->n] + 1);
    if (persist_ok(p)) PERSIST_OWNED(p, f->upper_row, shape_upper(f));
}

void shape_persist(frozen_shape *f, int n, persist *p)
{
    f->n = n;
    PERSIST(p, f->supernodes);
    PERSIST(p, f->blocks);
    PERSIST(p, f->short_pieces);
    PERSIST_OWNED(p, f->first, f->supernodes + 1);
    PERSIST_OWNED(p, f->owner, n);
    PERSIST_OWNED(p, f->below, f->supernodes + 1);
    PERSIST_OWNED(p, f->panel, f->supernodes + 1);
    PERSIST_OWNED(p, f->segment, n + 1);
    PERSIST_OWNED(p, f->P, n);
    PERSIST_OWNED(p, f->Q, n);
    PERSIST_OWNED(p, f->block, f->blocks + 1);
    if (persist_ok(p)) lists_persist(f, p);
    gather_persist(&f->diagonal, n, p);
    gather_persist(&f->outside, n, p);
}
