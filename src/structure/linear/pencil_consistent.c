/* Consistent initial values of B u' + A u = d(t): differentiate constraints until B is regular. */
#include <math.h>

#include "base/memory.h"
#include "base/vector.h"
#include "linalg/least_squares.h"
#include "structure/linear/pencil_parts.h"

/* E u' + A u = f with f given by its derivatives at t0, and the constraints K u = k found so far,
 * all in scaled units. */
typedef struct shuffle {
    int n, orders;
    double *E, *A;   /* n x n */
    double *f;       /* n x orders: f, f', .. */
    double *K, *k;   /* n x n by rows (row c of K at K[c*n]), and n */
    double *work;    /* n x max(n, orders) */
    int constraints; /* rows of K */
} shuffle;

static void shuffle_free(shuffle *s)
{
    dae_free_all(s->E, s->A, s->f, s->K, s->k, s->work);
}

/* Scaled units: f^(i) = R d^(i) (beta/alpha)^i / alpha, zero where d is not given. */
static bool shuffle_new(shuffle *s, const scaled_pencil *p, int orders, int given, const double *d)
{
    const int n = p->n, wide = orders > n ? orders : n;
    *s = (shuffle){.n = n,
                   .orders = orders,
                   .E = dae_copy(p->B, (size_t)(n * n), sizeof(double)),
                   .A = dae_copy(p->A, (size_t)(n * n), sizeof(double)),
                   .f = DAE_ARRAY(double, n *orders),
                   .K = DAE_ARRAY(double, n *n),
                   .k = DAE_ARRAY(double, n),
                   .work = DAE_ARRAY(double, n *wide)};
    if (!s->E || !s->A || !s->f || !s->K || !s->k || !s->work) return false;
    double power = 1.0 / p->alpha;
    for (int i = 0; i < orders && i < given; i++, power *= p->beta / p->alpha)
        for (int r = 0; r < n; r++) s->f[r + i * n] = p->row[r] * d[r + i * n] * power;
    return true;
}

/* X := U' X for X with `columns` columns */
static void rotate(shuffle *s, const double *U, int columns, double *X)
{
    dense_multiply_left(s->n, columns, s->n, U, X, s->work);
    vector_copy(s->n * columns, s->work, X);
}

/* Row r, without derivatives, is a constraint: note it, then replace it by its derivative. */
static void differentiate_row(shuffle *s, int r)
{
    const int n = s->n, c = s->constraints++;
    s->k[c] = s->f[r];
    for (int j = 0; j < n; j++) {
        s->K[j + c * n] = s->A[r + j * n];
        s->E[r + j * n] = s->A[r + j * n];
        s->A[r + j * n] = 0.0;
    }
    for (int i = 0; i + 1 < s->orders; i++) s->f[r + i * n] = s->f[r + (i + 1) * n];
    s->f[r + (s->orders - 1) * n] = 0.0;
}

/* Compress the rows of E and differentiate those that are zero. *rank: of E before. */
static pencil_status shuffle_step(shuffle *s, double tolerance, int *rank)
{
    rank_split split;
    const int n = s->n;
    if (!rank_split_new(&split, n, n, s->E, tolerance, dense_norm(n * n, s->E), NULL))
        return PENCIL_MEMORY;
    *rank = split.rank;
    bool fits = s->constraints + n - split.rank <= n;
    if (fits && split.rank < n) {
        rotate(s, split.U, n, s->E);
        rotate(s, split.U, n, s->A);
        rotate(s, split.U, s->orders, s->f);
        for (int r = split.rank; r < n; r++) differentiate_row(s, r);
    }
    rank_split_free(&split);
    return fits ? PENCIL_OK : PENCIL_UNCLEAR;
}

/* x = argmin ||x|| with M x = b (rows x columns); b has room for both, and gets x. */
static bool solve(int rows, int columns, double *M, double *b)
{
    least_squares ls;
    if (!least_squares_new(&ls, rows, columns)) return false;
    bool done = least_squares_solve(&ls, rows, columns, M, b, 1e-14);
    least_squares_free(&ls);
    return done;
}

/* u := u + argmin ||x||, K C^-1 (u + x) = k, C = diag(column) */
static bool project(const shuffle *s, const scaled_pencil *p, double *u)
{
    const int n = s->n, rows = s->constraints;
    double *M = DAE_ARRAY(double, rows *n), *b = DAE_ARRAY(double, n);
    bool done = M && b;
    for (int c = 0; done && c < rows; c++) {
        double value = 0.0;
        for (int j = 0; j < n; j++) {
            M[c + j * rows] = s->K[j + c * n] / p->column[j];
            value += M[c + j * rows] * u[j];
        }
        b[c] = s->k[c] - value;
    }
    done = done && solve(rows, n, M, b);
    if (done) vector_axpy(n, 1.0, b, u);
    dae_free_all(M, b);
    return done;
}

/* u' from E u' = f - A u, E regular. Destroys E. */
static bool derivative(shuffle *s, const scaled_pencil *p, const double *u, double *up)
{
    const int n = s->n;
    for (int i = 0; i < n; i++) {
        up[i] = s->f[i];
        for (int j = 0; j < n; j++) up[i] -= s->A[i + j * n] * (u[j] / p->column[j]);
    }
    if (!solve(n, n, s->E, up)) return false;
    for (int j = 0; j < n; j++) up[j] *= p->column[j] * (p->alpha / p->beta);
    return true;
}

/* The constraints of all levels, then the nearest point on them. */
static pencil_status run(shuffle *s, const scaled_pencil *p, double tolerance, double *u,
                         double *up)
{
    pencil_status status = PENCIL_OK;
    int rank = -1;
    for (int step = 0; status == PENCIL_OK && step <= s->n && rank < s->n; step++)
        status = shuffle_step(s, tolerance, &rank);
    if (status != PENCIL_OK) return status;
    if (rank < s->n) return PENCIL_UNCLEAR;
    bool done = project(s, p, u) && (!up || derivative(s, p, u, up));
    return done ? PENCIL_OK : PENCIL_MEMORY;
}

/* Whether the pencil is regular, and its index. */
static pencil_status index_of(int n, const double *A, const double *B, double tolerance, int *index)
{
    pencil p;
    if (!pencil_analyse(&p, n, A, B, tolerance)) return PENCIL_MEMORY;
    *index = p.index;
    pencil_free(&p);
    return *index < 0 ? PENCIL_SINGULAR : PENCIL_OK;
}

pencil_status pencil_consistent(int n, const double *A, const double *B, double tolerance,
                                int orders, const double *d, double *u, double *up)
{
    int index = 0;
    shuffle s = {0};
    scaled_pencil scaled = {0};
    if (tolerance <= 0.0) tolerance = PENCIL_TOLERANCE;
    pencil_status status = index_of(n, A, B, tolerance, &index);
    if (status != PENCIL_OK) return status;
    if (!scaled_pencil_new(&scaled, n, A, B)) return PENCIL_MEMORY;
    if (!shuffle_new(&s, &scaled, index + 1, orders, d))
        status = PENCIL_MEMORY;
    else
        status = run(&s, &scaled, tolerance, u, up);
    shuffle_free(&s);
    scaled_pencil_free(&scaled);
    return status;
}
