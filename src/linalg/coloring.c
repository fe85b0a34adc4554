#include "linalg/coloring.h"

#include "base/grouping.h"
#include "base/memory.h"

#include <string.h>

/* Scratch of the sparse colouring. Columns j and k must differ if a row holds both. */
typedef struct painter {
    const matrix_layout *layout; /* borrowed */
    int *rowptr, *colind;        /* the pattern by rows */
    int *order;                  /* columns in the order of painting */
    int *color;                  /* per column */
    int *seen;                   /* per colour: the last column that may not have it */
    int *bucket;                 /* n+2: counting sort */
} painter;

static void painter_free(painter *p)
{
    dae_free_all(p->rowptr, p->colind, p->order, p->color, p->seen, p->bucket);
}

static bool painter_new(painter *p, const matrix_layout *layout)
{
    const size_t n = (size_t)layout->n;
    *p = (painter){.layout = layout};
    p->rowptr = DAE_ARRAY(int, n + 1);
    p->colind = DAE_ARRAY(int, layout->count);
    p->order = DAE_ARRAY(int, n);
    p->color = DAE_ARRAY(int, n);
    p->seen = DAE_ARRAY(int, n + 1);
    p->bucket = DAE_ARRAY(int, n + 2);
    if (p->rowptr && p->colind && p->order && p->color && p->seen && p->bucket) return true;
    painter_free(p);
    return false;
}

/* The pattern by rows; returns the length of the longest row. */
static int transpose_pattern(painter *p)
{
    const matrix_layout *l = p->layout;
    int longest = 0;
    pattern_transpose(l->n, l->n, l->colptr, l->rowind, p->rowptr, p->colind);
    for (int i = 0; i < l->n; i++) {
        const int length = p->rowptr[i + 1] - p->rowptr[i];
        if (length > longest) longest = length;
    }
    return longest;
}

/* Number of neighbours of column j, counted once per shared row and cut at n. */
static int column_degree(const painter *p, int j)
{
    const int n = p->layout->n, *colptr = p->layout->colptr, *rowind = p->layout->rowind;
    int degree = 0;
    for (int k = colptr[j]; k < colptr[j + 1]; k++) {
        degree += p->rowptr[rowind[k] + 1] - p->rowptr[rowind[k]] - 1;
        if (degree > n || degree < 0) return n;
    }
    return degree;
}

/* Columns by falling degree, ties in natural order [WP67]: a counting sort. */
static void order_largest_first(painter *p)
{
    const int n = p->layout->n;
    memset(p->bucket, 0, ((size_t)n + 2) * sizeof *p->bucket);
    for (int j = 0; j < n; j++) p->bucket[n - column_degree(p, j) + 1]++;
    for (int d = 0; d <= n; d++) p->bucket[d + 1] += p->bucket[d];
    for (int j = 0; j < n; j++) p->order[p->bucket[n - column_degree(p, j)]++] = j;
}

/* Give each column, in order, the first colour that none of its neighbours has. Costs the sum of
 * squared row lengths, which no difference Jacobian undercuts: it needs as many residuals as the
 * longest row has entries. Returns the number of colours. */
static int paint_greedily(painter *p)
{
    const int n = p->layout->n, *colptr = p->layout->colptr, *rowind = p->layout->rowind;
    int colors = 0;
    for (int j = 0; j < n; j++) p->color[j] = -1;
    for (int c = 0; c <= n; c++) p->seen[c] = -1;
    for (int s = 0; s < n; s++) {
        const int j = p->order[s];
        for (int k = colptr[j]; k < colptr[j + 1]; k++)
            for (int q = p->rowptr[rowind[k]]; q < p->rowptr[rowind[k] + 1]; q++) {
                int taken = p->color[p->colind[q]];
                if (taken >= 0) p->seen[taken] = j;
            }
        int c = 0;
        while (p->seen[c] == j) c++;
        p->color[j] = c;
        if (c >= colors) colors = c + 1;
    }
    return colors;
}

/* Whether columns that are equal modulo `period` share no row; one look at each entry at most. */
static bool period_fits(const painter *p, int period, int *owner)
{
    for (int c = 0; c < period; c++) owner[c] = -1;
    for (int i = 0; i < p->layout->n; i++)
        for (int q = p->rowptr[i]; q < p->rowptr[i + 1]; q++) {
            int c = p->colind[q] % period;
            if (owner[c] == i) return false;
            owner[c] = i;
        }
    return true;
}

/* Greedy, then any smaller period that fits: bands and regular grids have one that greedy misses
 * (five-point operator: 5 or 6 against 7). No colouring gets below the longest row. */
static int paint_best(painter *p, int longest)
{
    order_largest_first(p);
    const int greedy = paint_greedily(p);
    for (int period = longest > 0 ? longest : 1; period < greedy; period++)
        if (period_fits(p, period, p->seen)) {
            for (int j = 0; j < p->layout->n; j++) p->color[j] = j % period;
            return period;
        }
    return greedy;
}

/* Groups from colours: columns of one colour side by side */
static bool collect_groups(coloring *c, int n, int groups, const int *color)
{
    c->groups = groups;
    c->start = DAE_ARRAY(int, groups + 1);
    c->column = DAE_ARRAY(int, n);
    if (!c->start || !c->column) {
        coloring_free(c);
        return false;
    }
    for (int j = 0; j < n; j++) c->start[color[j]]++;
    for (int g = 0, sum = 0; g <= groups; g++) { /* start[g] = end of group g for now */
        sum += g < groups ? c->start[g] : 0;
        c->start[g] = sum;
    }
    for (int j = n - 1; j >= 0; j--) c->column[--c->start[color[j]]] = j;
    return true;
}

static bool color_sparse(coloring *c, const matrix_layout *layout)
{
    painter p;
    if (!painter_new(&p, layout)) return false;
    int longest = transpose_pattern(&p), groups = layout->n;
    if (longest == layout->n) /* a full row keeps all columns apart */
        for (int j = 0; j < layout->n; j++) p.color[j] = j;
    else
        groups = paint_best(&p, longest);
    bool done = collect_groups(c, layout->n, groups, p.color);
    painter_free(&p);
    return done;
}

/* Every period-th column together */
static bool color_periodically(coloring *c, int n, int period)
{
    int *color = DAE_ARRAY(int, n);
    if (!color) return false;
    for (int j = 0; j < n; j++) color[j] = j % period;
    bool done = collect_groups(c, n, period, color);
    dae_free(color);
    return done;
}

bool coloring_build(coloring *c, const matrix_layout *layout)
{
    const int n = layout->n;
    *c = (coloring){0};
    if (layout->kind == DAE_STRUCTURE_SPARSE) return color_sparse(c, layout);
    if (layout->kind == DAE_STRUCTURE_DENSE || layout->lower >= n || layout->upper >= n ||
        layout->lower + layout->upper >= n)
        return color_periodically(c, n, n);
    return color_periodically(c, n, layout->lower + layout->upper + 1);
}

void coloring_free(coloring *c)
{
    dae_free_all(c->start, c->column);
    *c = (coloring){0};
}
