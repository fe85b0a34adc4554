#include "structure/rewrite/symbolic_solve.h"

#include "base/memory.h"

typedef struct linear_system {
    graph *g;
    int n, columns;
    expr *A, *B;
    bool *done; /* rows that have been pivots */
} linear_system;

/* The row of least entries among those that are left; -1: there is none with an entry in the
 * diagonal */
static int next_pivot(const linear_system *s)
{
    int best = -1, least = s->n + 1;
    for (int i = 0; i < s->n; i++) {
        int count = 0;
        if (s->done[i] || s->A[i * s->n + i] == EXPR_NONE) continue;
        for (int j = 0; j < s->n; j++) count += s->A[i * s->n + j] != EXPR_NONE;
        if (count < least) {
            least = count;
            best = i;
        }
    }
    return best;
}

/* x - factor y, where any may be zero */
static expr subtract(graph *g, expr x, expr factor, expr y)
{
    if (y == EXPR_NONE) return x;
    expr part = graph_binary(g, EXPR_MUL, factor, y);
    return x == EXPR_NONE ? graph_unary(g, EXPR_NEG, part) : graph_binary(g, EXPR_SUB, x, part);
}

/* Row i less its multiple of row p, where column p of row i is gone. */
static void subtract_row(linear_system *s, int i, int p)
{
    expr *row = s->A + i * s->n, *pivot = s->A + p * s->n;
    expr factor = graph_binary(s->g, EXPR_DIV, row[p], pivot[p]);
    for (int j = 0; j < s->n; j++)
        if (j != p) row[j] = subtract(s->g, row[j], factor, pivot[j]);
    row[p] = EXPR_NONE;
    for (int j = 0; j < s->columns; j++) {
        expr *to = &s->B[i * s->columns + j];
        *to = subtract(s->g, *to, factor, s->B[p * s->columns + j]);
    }
}

bool symbolic_solve(graph *g, int n, expr *A, int columns, expr *B)
{
    linear_system s = {g, n, columns, A, B, DAE_ARRAY(bool, n)};
    bool ok = s.done;
    for (int step = 0; ok && step < n; step++) {
        int p = next_pivot(&s);
        ok = p >= 0;
        if (!ok) break;
        s.done[p] = true;
        for (int i = 0; i < n; i++)
            if (i != p && A[i * n + p] != EXPR_NONE) subtract_row(&s, i, p);
    }
    for (int k = 0; ok && k < n * columns; k++)
        if (B[k] != EXPR_NONE) {
            int i = k / columns;
            B[k] = graph_binary(g, EXPR_DIV, B[k], A[i * n + i]);
        }
    dae_free(s.done);
    return ok && !graph_failed(g);
}
