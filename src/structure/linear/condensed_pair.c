/* P and Q that bring a pair of matrices into its condensed form. */
#include "base/memory.h"
#include "base/vector.h"
#include "structure/linear/condensed.h"
#include "structure/linear/pencil.h"

/* A pair under construction: E = P0 E0 Q0, A = P0 A0 Q0 with the P and Q of the result. */
typedef struct pair {
    int m, n;
    double *E, *A, *P, *Q; /* P, Q: borrowed from the result */
    double *work;          /* as many as the largest of them */
    double zero;
    rank_gap *gap;
} pair;

/* X of rows x columns: rows first .. := L' of them, L of k x k */
static void turn_rows(pair *w, int rows, int columns, int first, int k, const double *L, double *X)
{
    for (int j = 0; j < columns; j++) {
        dense_multiply_left(k, 1, k, L, X + first + j * rows, w->work);
        vector_copy(k, w->work, X + first + j * rows);
    }
}

static void rotate_rows(pair *w, int first, int k, const double *L)
{
    turn_rows(w, w->m, w->n, first, k, L, w->E);
    turn_rows(w, w->m, w->n, first, k, L, w->A);
    turn_rows(w, w->m, w->m, first, k, L, w->P);
}

/* columns first .. := those times R, k x k */
static void turn_columns(pair *w, int rows, int first, int k, const double *R, double *X)
{
    dense_multiply(rows, k, k, X + first * rows, R, w->work);
    vector_copy(rows * k, w->work, X + first * rows);
}

static void rotate_columns(pair *w, int first, int k, const double *R)
{
    turn_columns(w, w->m, first, k, R, w->E);
    turn_columns(w, w->m, first, k, R, w->A);
    turn_columns(w, w->n, first, k, R, w->Q);
}

/* row to += factor * row from, in all */
static void add_row(pair *w, int to, int from, double factor)
{
    for (int j = 0; j < w->n; j++) {
        w->E[to + j * w->m] += factor * w->E[from + j * w->m];
        w->A[to + j * w->m] += factor * w->A[from + j * w->m];
    }
    for (int j = 0; j < w->m; j++) w->P[to + j * w->m] += factor * w->P[from + j * w->m];
}

static void scale_row(pair *w, int row, double factor)
{
    add_row(w, row, row, factor - 1.0);
}

static void add_column(pair *w, int to, int from, double factor)
{
    vector_axpy(w->m, factor, w->E + from * w->m, w->E + to * w->m);
    vector_axpy(w->m, factor, w->A + from * w->m, w->A + to * w->m);
    vector_axpy(w->n, factor, w->Q + from * w->n, w->Q + to * w->n);
}

/* SVD of the block of X at (row, column), rows x columns. False: memory. */
static bool split_block(pair *w, const double *X, int row, int column, int rows, int columns,
                        rank_split *s)
{
    double *block = DAE_ARRAY(double, rows *columns + 1);
    for (int j = 0; block && j < columns; j++)
        vector_copy(rows, X + row + (column + j) * w->m, block + j * rows);
    bool ok = block && rank_split_new(s, rows, columns, block, w->zero, 1.0, w->gap);
    dae_free(block);
    return ok;
}

/* E = diag(I_r, 0) */
static bool reduce_leading(pair *w, condensed_pair *c)
{
    rank_split s = {0};
    if (!split_block(w, w->E, 0, 0, w->m, w->n, &s)) return false;
    c->r = s.rank;
    rotate_rows(w, 0, w->m, s.U);
    rotate_columns(w, 0, w->n, s.V);
    for (int i = 0; i < c->r; i++) scale_row(w, i, 1.0 / s.sigma[i]);
    rank_split_free(&s);
    return true;
}

/* A on the kernel and the corange of E = diag(I_a, 0), alone in its rows and columns */
static bool reduce_algebraic(pair *w, condensed_pair *c)
{
    const int r = c->r, m = w->m;
    rank_split s = {0};
    if (!split_block(w, w->A, r, r, m - r, w->n - r, &s)) return false;
    c->a = s.rank;
    rotate_rows(w, r, m - r, s.U);
    rotate_columns(w, r, w->n - r, s.V);
    for (int i = r; i < r + c->a; i++) {
        scale_row(w, i, 1.0 / s.sigma[i - r]);
        for (int j = 0; j < r; j++) add_column(w, j, i, -w->A[i + j * m]);
        for (int k = 0; k < r; k++) add_row(w, k, i, -w->A[k + i * m]);
    }
    rank_split_free(&s);
    return true;
}

/* A of the other rows without derivatives = [I_s 0; 0 0] on the range of E', and nothing of x_1
 * beside its derivative elsewhere */
static bool reduce_strange(pair *w, condensed_pair *c)
{
    const int r = c->r, m = w->m, first = r + c->a;
    rank_split s = {0};
    if (!split_block(w, w->A, first, 0, m - first, r, &s)) return false;
    c->s = s.rank;
    rotate_rows(w, first, m - first, s.U);
    rotate_columns(w, 0, r, s.V);
    rotate_rows(w, 0, r, s.V); /* E stays I_r */
    for (int i = 0; i < c->s; i++) {
        scale_row(w, first + i, 1.0 / s.sigma[i]);
        for (int k = 0; k < r; k++) add_row(w, k, first + i, -w->A[k + i * m]);
    }
    rank_split_free(&s);
    return true;
}

bool condensed_pair_new(condensed_pair *c, int m, int n, const double *E, const double *A,
                        double tolerance)
{
    const int most = m > n ? m : n;
    *c = (condensed_pair){
        .gap = RANK_GAP_NEW, .P = DAE_ARRAY(double, m *m + 1), .Q = DAE_ARRAY(double, n *n + 1)};
    pair w = {.m = m,
              .n = n,
              .E = dae_copy(E, (size_t)(m * n), sizeof *E),
              .A = dae_copy(A, (size_t)(m * n), sizeof *A),
              .P = c->P,
              .Q = c->Q,
              .work = DAE_ARRAY(double, most *most + 1),
              .gap = &c->gap};
    bool ok = c->P && c->Q && w.E && w.A && w.work;
    if (ok) {
        double size = dense_norm(m * n, E) + dense_norm(m * n, A);
        w.zero = (tolerance > 0.0 ? tolerance : PENCIL_TOLERANCE) * (size > 0.0 ? size : 1.0);
        for (int i = 0; i < m; i++) c->P[i + i * m] = 1.0;
        for (int j = 0; j < n; j++) c->Q[j + j * n] = 1.0;
        ok = reduce_leading(&w, c) && reduce_algebraic(&w, c) && reduce_strange(&w, c);
    }
    c->d = c->r - c->s;
    c->u = m - c->r - c->a - c->s;
    c->v = n - c->r - c->a;
    dae_free_all(w.E, w.A, w.work);
    if (!ok) condensed_pair_free(c);
    return ok;
}

void condensed_pair_free(condensed_pair *c)
{
    dae_free_all(c->P, c->Q);
    *c = (condensed_pair){0};
}
