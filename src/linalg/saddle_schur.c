#include "linalg/saddle_schur.h"

#include "base/grouping.h"
#include "base/memory.h"
#include "base/vector.h"

struct sparse_schur {
    int n, m;
    const int *colptr, *rowind; /* borrowed */
    const double *B, *C;        /* borrowed, of the last factorisation */
    double *inverse;            /* n: 1/D */
    matrix_layout layout;       /* of S */
    linear_solver *solver;
    double *values;
    int *target; /* where the products C(i,c) B(k,c) / D(c) go: columns c in turn, then k, then i */
};

/* sum over columns of count^2: products, and a bound of the entries of S */
static size_t product_count(int n, const int *colptr)
{
    size_t count = 0;
    for (int c = 0; c < n; c++) {
        size_t entries = (size_t)(colptr[c + 1] - colptr[c]);
        count += entries * entries;
    }
    return count;
}

bool schur_fits(int n, const int *colptr)
{
    return product_count(n, colptr) <= 8 * (size_t)(colptr[n] + n);
}

/* Rows of column k of S in increasing order: rows that share a column of C with row k. */
static int schur_column(const sparse_schur *s, int k, const int *start, const int *column,
                        int *marker, int *rows)
{
    int count = 0;
    for (int a = start[k]; a < start[k + 1]; a++)
        for (int b = s->colptr[column[a]]; b < s->colptr[column[a] + 1]; b++) {
            int i = s->rowind[b], at = count;
            if (marker[i] == k + 1) continue;
            marker[i] = k + 1;
            for (; at > 0 && rows[at - 1] > i; at--) rows[at] = rows[at - 1];
            rows[at] = i;
            count++;
        }
    return count;
}

/* The pattern of S. */
static bool schur_layout(sparse_schur *s, size_t bound)
{
    int *start = DAE_ARRAY(int, s->m + 1), *column = DAE_ARRAY(int, s->colptr[s->n]);
    int *marker = DAE_ARRAY(int, s->m), *colptr = DAE_ARRAY(int, s->m + 1);
    int *rows = DAE_ARRAY(int, bound);
    bool fits = start && column && marker && colptr && rows;
    if (fits) pattern_transpose(s->m, s->n, s->colptr, s->rowind, start, column);
    for (int k = 0; fits && k < s->m; k++)
        colptr[k + 1] = colptr[k] + schur_column(s, k, start, column, marker, rows + colptr[k]);
    fits = fits && layout_sparse(&s->layout, s->m, colptr, rows);
    dae_free_all(start, column, marker, colptr, rows);
    return fits;
}

/* Chains give a narrow band in the order of their bodies. Banded LU beats KLU up to this width:
 * a step of phem5 on 500 pendulums takes 0.26 ms with it, 1.2 ms with KLU on S, 3.0 ms with KLU on
 * the whole matrix. */
enum { WIDEST_BAND = 12 };

/* Turn to a banded layout if that is narrow. */
static bool prefer_band(sparse_schur *s)
{
    int lower, upper;
    matrix_layout band;
    pattern_bandwidth(&s->layout, &lower, &upper);
    if (lower + upper > WIDEST_BAND) return true;
    if (!layout_banded(&band, s->m, lower, upper)) return false;
    layout_free(&s->layout);
    s->layout = band;
    return true;
}

static void find_targets(sparse_schur *s)
{
    int *target = s->target;
    for (int c = 0; c < s->n; c++)
        for (int k = s->colptr[c]; k < s->colptr[c + 1]; k++)
            for (int i = s->colptr[c]; i < s->colptr[c + 1]; i++)
                *target++ = (int)layout_place(&s->layout, s->rowind[i], s->rowind[k]);
}

sparse_schur *schur_new(int n, int m, const int *colptr, const int *rowind)
{
    sparse_schur *s = DAE_NEW(sparse_schur);
    if (!s) return NULL;
    *s = (sparse_schur){.n = n, .m = m, .colptr = colptr, .rowind = rowind};
    size_t products = product_count(n, colptr);
    s->inverse = DAE_ARRAY(double, n);
    s->target = DAE_ARRAY(int, products);
    if (s->inverse && s->target && schur_layout(s, products) && prefer_band(s)) {
        find_targets(s);
        s->values = DAE_ARRAY(double, s->layout.count);
        if (s->values) s->solver = linear_new(&s->layout);
    }
    if (s->solver) return s;
    schur_free(s);
    return NULL;
}

void schur_free(sparse_schur *s)
{
    if (!s) return;
    if (s->solver) linear_free(s->solver);
    dae_free_all(s->inverse, s->target, s->values);
    layout_free(&s->layout);
    dae_free(s);
}

linear_status schur_factor(sparse_schur *s, const double *inverse, const double *B, const double *C)
{
    if (inverse) vector_copy(s->n, inverse, s->inverse);
    s->B = B;
    s->C = C;
    memset(s->values, 0, s->layout.count * sizeof *s->values);
    const int *target = s->target;
    for (int c = 0; c < s->n; c++) {
        int first = s->colptr[c], last = s->colptr[c + 1];
        for (int k = first; k < last; k++) {
            double b = B[k] * s->inverse[c];
            for (int i = first; i < last; i++) s->values[*target++] += C[i] * b;
        }
    }
    return linear_factor(s->solver, s->values);
}

void schur_solve(sparse_schur *s, double *x, double *lambda)
{
    for (int i = 0; i < s->m; i++) lambda[i] = -lambda[i];
    for (int c = 0; c < s->n; c++) {
        double t = s->inverse[c] * x[c];
        for (int k = s->colptr[c]; k < s->colptr[c + 1]; k++) lambda[s->rowind[k]] += s->C[k] * t;
    }
    linear_solve(s->solver, lambda);
    for (int c = 0; c < s->n; c++) {
        double t = x[c];
        for (int k = s->colptr[c]; k < s->colptr[c + 1]; k++) t -= s->B[k] * lambda[s->rowind[k]];
        x[c] = s->inverse[c] * t;
    }
}

void schur_persist(sparse_schur *s, const persist_home *home, persist *p)
{
    persist_block(p, s->inverse);
    persist_block(p, s->values);
    linear_persist(s->solver, p);
    persist_within(p, &s->B, home);
    persist_within(p, &s->C, home);
}
