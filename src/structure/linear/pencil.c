/* Kronecker's structure by the staircase algorithm. */
#include "structure/linear/pencil.h"

#include <math.h>

#include "base/memory.h"
#include "base/vector.h"
#include "structure/linear/pencil_parts.h"

static double largest_entry(int count, const double *A)
{
    double most = 0.0;
    for (int i = 0; i < count; i++) most = fmax(most, fabs(A[i]));
    return most > 0.0 ? most : 1.0;
}

/* The largest entry of row i of an n x n matrix. */
static double row_extent(int n, int i, const double *A)
{
    double most = 0.0;
    for (int j = 0; j < n; j++) most = fmax(most, fabs(A[i + j * n]));
    return most;
}

double pencil_time_unit(int n, const double *A, const double *B)
{
    double sum = 0.0;
    int count = 0;
    for (int i = 0; i < n; i++) {
        const double a = row_extent(n, i, A), b = row_extent(n, i, B);
        if (a <= 0.0 || b <= 0.0) continue;
        sum += log(b) - log(a);
        count++;
    }
    if (count == 0) return largest_entry(n * n, B) / largest_entry(n * n, A);
    return exp(sum / count);
}

/* Power of 2 that takes x to [1/2, 1); 1 for 0. */
static double reciprocal_power(double x)
{
    int exponent;
    if (x <= 0.0) return 1.0;
    frexp(x, &exponent);
    return ldexp(1.0, -exponent);
}

/* Multiply line k of both matrices (entries first + l*stride) to a largest entry of about 1. */
static double scale_line(const scaled_pencil *s, int first, int stride)
{
    double most = 0.0;
    for (int l = 0; l < s->n; l++) {
        const int at = first + l * stride;
        most = fmax(most, fmax(fabs(s->A[at]), fabs(s->B[at])));
    }
    double factor = reciprocal_power(most);
    for (int l = 0; l < s->n; l++) {
        s->A[first + l * stride] *= factor;
        s->B[first + l * stride] *= factor;
    }
    return factor;
}

static void equilibrate(scaled_pencil *s)
{
    const int n = s->n;
    for (int i = 0; i < n * n; i++) {
        s->A[i] /= s->alpha;
        s->B[i] /= s->beta;
    }
    for (int i = 0; i < n; i++) s->row[i] = s->column[i] = 1.0;
    for (int sweep = 0; sweep < 2; sweep++) {
        for (int i = 0; i < n; i++) s->row[i] *= scale_line(s, i, n);
        for (int j = 0; j < n; j++) s->column[j] *= scale_line(s, j * n, 1);
    }
}

bool scaled_pencil_new(scaled_pencil *s, int n, const double *A, const double *B)
{
    const size_t count = (size_t)n * (size_t)n;
    *s = (scaled_pencil){.n = n,
                         .A = dae_copy(A, count, sizeof *A),
                         .B = dae_copy(B, count, sizeof *B),
                         .row = DAE_ARRAY(double, n),
                         .column = DAE_ARRAY(double, n),
                         .alpha = largest_entry(n * n, A)};
    s->beta = s->alpha * pencil_time_unit(n, A, B);
    if (!s->A || !s->B || !s->row || !s->column) {
        scaled_pencil_free(s);
        return false;
    }
    equilibrate(s);
    s->norm = fmax(dense_norm(n * n, s->A), dense_norm(n * n, s->B));
    return true;
}

void scaled_pencil_free(scaled_pencil *s)
{
    dae_free_all(s->A, s->B, s->row, s->column);
    *s = (scaled_pencil){0};
}

/* One staircase: what is left of the pencil, and the dimensions split off by each step. */
typedef struct staircase {
    int m, n;      /* of what is left */
    double *A, *B; /* owned */
    int steps;
    int *nullity, *rank; /* of each step: dim ker B, and rank of A on it; owned */
    double zero, scale;
} staircase;

static void staircase_free(staircase *s)
{
    dae_free_all(s->A, s->B, s->nullity, s->rank);
    *s = (staircase){0};
}

/* X := L' X R for X of size m x n, L of m x k and R of n x l; work has k*n values */
static void sandwich(int m, int n, int k, int l, const double *L, const double *R, double *work,
                     double *X)
{
    dense_multiply_left(k, n, m, L, X, work);
    dense_multiply(k, l, n, work, R, X);
}

/* One step: with V = [V1 V2], B V2 = 0, and U = [U1 U2], U2' A V2 = 0, go on with U2'(.)V1
 * [VD79]. *more: a null space was there. False: memory. */
static bool descend(staircase *s, rank_gap *gap, bool *more)
{
    rank_split b = {0}, a = {0};
    bool done = rank_split_new(&b, s->m, s->n, s->B, s->zero, s->scale, gap);
    const int nullity = done ? s->n - b.rank : 0;
    *more = nullity > 0;
    double *image = DAE_ARRAY(double, s->m *(nullity + s->n));
    if (done && *more && image) {
        dense_multiply(s->m, nullity, s->n, s->A, rank_null(&b), image);
        done = rank_split_new(&a, s->m, nullity, image, s->zero, s->scale, gap);
    }
    if (done && *more && image) {
        const int rows = s->m - a.rank;
        sandwich(s->m, s->n, rows, b.rank, rank_left_null(&a), b.V, image, s->A);
        sandwich(s->m, s->n, rows, b.rank, rank_left_null(&a), b.V, image, s->B);
        s->nullity[s->steps] = nullity;
        s->rank[s->steps++] = a.rank;
        s->m = rows;
        s->n = b.rank;
    }
    rank_split_free(&b);
    rank_split_free(&a);
    dae_free(image);
    return done && image;
}

/* Split off what belongs to the null spaces of B until B has full column rank. A and B are copied.
 */
static bool staircase_run(staircase *s, int m, int n, const double *A, const double *B, double zero,
                          double scale, rank_gap *gap)
{
    *s = (staircase){.m = m,
                     .n = n,
                     .A = dae_copy(A, (size_t)m * (size_t)n, sizeof *A),
                     .B = dae_copy(B, (size_t)m * (size_t)n, sizeof *B),
                     .nullity = DAE_ARRAY(int, n + 1),
                     .rank = DAE_ARRAY(int, n + 1),
                     .zero = zero,
                     .scale = scale};
    bool done = s->A && s->B && s->nullity && s->rank, more = true;
    while (done && more && s->n > 0) done = descend(s, gap, &more);
    if (!done) staircase_free(s);
    return done;
}

/* Minimal indices: step i (from 0) shows nullity - rank of them that are i. NULL: memory. */
static int *minimal_indices(const staircase *s, int *count)
{
    int total = 0;
    for (int i = 0; i < s->steps; i++) total += s->nullity[i] - s->rank[i];
    int *index = DAE_ARRAY(int, total);
    *count = total;
    if (!index) return NULL;
    for (int i = 0, at = 0; i < s->steps; i++)
        for (int k = s->nullity[i] - s->rank[i]; k > 0; k--) index[at++] = i;
    return index;
}

/* Blocks at infinity: rank_i - nullity_{i+1} of size i + 1. */
static bool infinite_blocks(pencil *p, const staircase *s)
{
    p->blocks = DAE_ARRAY(int, s->steps);
    if (!p->blocks) return false;
    for (int i = 0; i < s->steps; i++) {
        p->blocks[i] = s->rank[i] - (i + 1 < s->steps ? s->nullity[i + 1] : 0);
        p->infinite += (i + 1) * p->blocks[i];
        if (p->blocks[i] > 0) p->levels = i + 1;
    }
    return true;
}

/* The part that is left has B of full column rank: split off its row minimal indices. */
static bool split_rows(pencil *p, const staircase *first, staircase *second)
{
    const size_t count = (size_t)first->m * (size_t)first->n;
    double *A = DAE_ARRAY(double, count), *B = DAE_ARRAY(double, count);
    bool done = A && B;
    if (done) {
        dense_transpose(first->m, first->n, first->A, A);
        dense_transpose(first->m, first->n, first->B, B);
        done = staircase_run(second, first->n, first->m, A, B, first->zero, first->scale, &p->gap);
    }
    dae_free_all(A, B);
    return done;
}

static void conclude(pencil *p, const staircase *rest)
{
    p->regular = p->column_count == 0 && p->row_count == 0;
    p->index = p->regular ? p->levels : -1;
    p->normal_rank = p->n - p->column_count;
    p->finite = rest->m < rest->n ? rest->m : rest->n;
}

static bool analyse_scaled(pencil *p, const scaled_pencil *s, double tolerance)
{
    const int n = p->n;
    staircase columns = {0}, rows = {0};
    p->rank_b = rank_of(n, n, s->B, tolerance, s->norm, &p->gap);
    bool done = p->rank_b >= 0 &&
                staircase_run(&columns, n, n, s->A, s->B, tolerance, s->norm, &p->gap) &&
                split_rows(p, &columns, &rows) && infinite_blocks(p, &columns);
    if (done) {
        p->column_index = minimal_indices(&columns, &p->column_count);
        p->row_index = minimal_indices(&rows, &p->row_count);
        done = p->column_index && p->row_index;
    }
    if (done) {
        conclude(p, &rows);
        /* transposition changes no eigenvalue */
        done = pencil_eigenvalues(p, rows.A, rows.B, s->alpha / s->beta) &&
               (p->regular || pencil_polynomials(p, s, tolerance));
    }
    staircase_free(&columns);
    staircase_free(&rows);
    return done;
}

/* P and Q, unless that is much work or ranks contradict each other. False: memory. */
static bool find_canonical(pencil *p, const scaled_pencil *s, double tolerance)
{
    enum { LARGEST = 300 };
    const int n = p->n;
    if (!p->regular || n > LARGEST) return true;
    p->P = DAE_ARRAY(double, n *n);
    p->Q = DAE_ARRAY(double, n *n);
    if (!p->P || !p->Q) return false;
    pencil_status status = pencil_weierstrass(p, s, tolerance, p->P, p->Q);
    if (status != PENCIL_UNCLEAR) return status == PENCIL_OK;
    dae_free_all(p->P, p->Q);
    p->P = p->Q = NULL;
    return true;
}

bool pencil_analyse(pencil *p, int n, const double *A, const double *B, double tolerance)
{
    scaled_pencil s;
    *p = (pencil){.n = n, .gap = RANK_GAP_NEW};
    if (!scaled_pencil_new(&s, n, A, B)) return false;
    if (!(tolerance > 0.0)) tolerance = PENCIL_TOLERANCE;
    bool done = analyse_scaled(p, &s, tolerance) && find_canonical(p, &s, tolerance);
    scaled_pencil_free(&s);
    if (!done) pencil_free(p);
    return done;
}

void pencil_free(pencil *p)
{
    dae_free_all(p->re, p->im, p->blocks, p->column_index, p->row_index, p->column_polynomial,
                 p->row_polynomial, p->P, p->Q);
    *p = (pencil){0};
}
