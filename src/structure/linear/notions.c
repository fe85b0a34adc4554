#include "structure/linear/notions.h"

#include <math.h>

#include "base/memory.h"
#include "base/vector.h"
#include "expr/derive.h"
#include "structure/linear/pencil_parts.h"

/* ---- the leading term ---- */

/* How one entry of dF/du' depends on where one is. */
static leading_term leading_of(const graph *g, expr entry)
{
    bool unknowns = false, time = false;
    if (!graph_reads(g, &entry, 1, READS_VARIABLES, &unknowns) ||
        !graph_reads(g, &entry, 1, READS_MOTION, &time))
        return LEADING_MEMORY;
    return unknowns ? LEADING_OF_UNKNOWNS : time ? LEADING_OF_TIME : LEADING_CONSTANT;
}

leading_term leading_term_of(const equation_set *set)
{
    gradient by = {0};
    leading_term worst = LEADING_CONSTANT;
    for (int i = 0; i < set->m && worst != LEADING_MEMORY; i++) {
        if (!derive_gradient(set->graph, set->row[i].residual, &by)) worst = LEADING_MEMORY;
        for (size_t k = 0; worst != LEADING_MEMORY && k < by.count; k++) {
            if (graph_node(set->graph, by.leaf[k])->order == 0) continue;
            leading_term here = leading_of(set->graph, by.derivative[k]);
            if (here > worst) worst = here;
        }
    }
    gradient_free(&by);
    return worst;
}

leading_shape leading_shape_at(derivative_array *d, double t, const double *x, double tolerance)
{
    const int n = d->n;
    int columns = 0, rows = 0, rank = -1;
    bool *moves = DAE_ARRAY(bool, 2 * n);
    for (int e = 0; moves && e < d->entries; e++)
        if (d->entry_rate[e]) moves[d->entry_column[e]] = moves[n + d->entry_row[e]] = true;
    for (int j = 0; moves && j < n; j++) columns += moves[j], rows += moves[n + j];
    if (moves) rank = 0;
    if (moves && derivative_array_evaluate(d, 0, t, x) == ARRAY_OK)
        rank = rank_of(n, n, d->jac.b, tolerance, 0.0, NULL);
    dae_free(moves);
    return (leading_shape){.unit_kernel = rank == columns,
                           .semi_explicit = rank == columns && rank == rows,
                           .memory = rank < 0};
}

/* ---- perturbation index ---- */

/* Steps of differences, in nominal values, and what is rounding and truncation of them. */
static const double MOVE = 1e-4, NOISE = 1e-5;

/* out (n) = (dE/du along q) p by central differences, E = dF/du' at x */
static array_status bend(derivative_array *d, double t, const double *x, const double *q,
                         const double *p, double *out)
{
    const int n = d->n;
    array_status status = ARRAY_OK;
    vector_zero(n, out);
    for (int side = -1; side <= 1 && status == ARRAY_OK; side += 2) {
        vector_copy(2 * n, x, d->trial);
        for (int j = 0; j < n; j++) d->trial[j] += side * MOVE * d->nominal[j] * q[j];
        status = derivative_array_evaluate(d, 0, t, d->trial);
        for (int j = 0; j < n; j++)
            vector_axpy(n, side / (2.0 * MOVE) * p[j] * d->nominal[j], d->jac.b + j * n, out);
    }
    return status;
}

/* Whether the two-form d(E du) vanishes on the directions `normal` (n x count, in nominal values):
 * E_q p = E_p q for all of them, in the equations that keep their derivatives. *closed. */
static array_status is_closed(derivative_array *d, double t, const double *x, const double *normal,
                              int count, const double *Z1, int rank, bool *closed)
{
    const int n = d->n;
    double *one = DAE_ARRAY(double, n), *two = DAE_ARRAY(double, n);
    array_status status = one && two ? ARRAY_OK : ARRAY_MEMORY;
    *closed = true;
    for (int i = 0; i < count; i++)
        for (int j = 0; j < i && status == ARRAY_OK && *closed; j++) {
            status = bend(d, t, x, normal + i * n, normal + j * n, one);
            if (status == ARRAY_OK) status = bend(d, t, x, normal + j * n, normal + i * n, two);
            for (int r = 0; r < rank && status == ARRAY_OK; r++) {
                double sum = 0.0;
                for (int k = 0; k < n; k++) sum += Z1[k + r * n] * (one[k] - two[k]);
                if (fabs(sum) > NOISE * (1.0 + dense_norm(n, one))) *closed = false;
            }
        }
    dae_free_all(one, two);
    return status;
}

/* Index 1 around the point: a perturbation moves u across the constraints by delta, and the
 * differential equations see its derivative times E. If E du is a total differential there, it
 * integrates to delta; if not, delta_1 delta_2' - delta_2 delta_1' is an area that no bound on
 * delta limits [HW96 VII.1 (1.31)]. */
static array_status judge_area(derivative_array *d, double t, const double *x, bool *closed)
{
    const int n = d->n;
    rank_split E = {0}, C = {0};
    double *scaled = DAE_ARRAY(double, n *n), *rows = DAE_ARRAY(double, n *n);
    array_status status = scaled && rows ? derivative_array_evaluate(d, 0, t, x) : ARRAY_MEMORY;
    bool ok = status == ARRAY_OK && rank_split_new(&E, n, n, d->jac.b, 1e-9, 0.0, NULL);
    if (ok) {
        const int a = n - E.rank;
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++) scaled[i + j * n] = d->jac.a[i + j * n] * d->nominal[j];
        dense_multiply_left(a, n, n, rank_left_null(&E), scaled, rows);
        ok = rank_split_new(&C, a, n, rows, 1e-9, 0.0, NULL);
        if (ok) status = is_closed(d, t, x, C.V, C.rank, E.U, E.rank, closed);
    }
    rank_split_free(&E);
    rank_split_free(&C);
    dae_free_all(scaled, rows);
    return ok || status != ARRAY_OK ? status : ARRAY_MEMORY;
}

array_status perturbation_index_of(derivative_array *d, double t, const double *x,
                                   const array_report *report, leading_term leading,
                                   perturbation_index *p)
{
    const int index = report->uniform_index;
    bool closed = true;
    *p = (perturbation_index){-1, -1, PERTURBATION_UNKNOWN};
    if (index < 0) return ARRAY_OK;
    *p = (perturbation_index){index, index, PERTURBATION_ODE};
    if (index == 0) return ARRAY_OK;
    leading_shape shape = leading_shape_at(d, t, x, 1e-9);
    if (shape.memory) return ARRAY_MEMORY;
    p->reason = leading != LEADING_OF_UNKNOWNS ? PERTURBATION_LEADING
                : shape.semi_explicit          ? PERTURBATION_EXPLICIT
                : report->uniform_a == d->n    ? PERTURBATION_POINTWISE
                                               : PERTURBATION_BOUNDS;
    if (p->reason != PERTURBATION_BOUNDS) return ARRAY_OK;
    p->high = index + 1;
    if (index > 1) return ARRAY_OK;
    array_status status = judge_area(d, t, x, &closed);
    if (status != ARRAY_OK) return status;
    p->low = p->high = closed ? 1 : 2;
    p->reason = closed ? PERTURBATION_CLOSED : PERTURBATION_AREA;
    return ARRAY_OK;
}

/* ---- tractability index ---- */

/* G := G + A Q for Q = basis basis', the orthogonal projector on ker G; its rank; -1: memory */
static int add_projected(int n, const double *A, const double *basis, int count, double *G)
{
    double *image = DAE_ARRAY(double, n *count + 1);
    if (!image) return -1;
    dense_multiply(n, count, n, A, basis, image);
    for (int j = 0; j < n; j++)
        for (int k = 0; k < count; k++) vector_axpy(n, basis[j + k * n], image + k * n, G + j * n);
    dae_free(image);
    return 0;
}

/* W' A P0 on N, W and N left and right null spaces of G_1: regular means index 2. 1, 0; -1: memory
 */
static int is_tractable2(int n, const double *A, const rank_split *E, const rank_split *G,
                         double tolerance)
{
    const int k = n - G->rank, r = E->rank;
    double *along = DAE_ARRAY(double, r *k + 1), *moved = DAE_ARRAY(double, n *k + 1);
    double *image = DAE_ARRAY(double, n *k + 1), *small = DAE_ARRAY(double, k *k + 1);
    int rank = -1;
    if (along && moved && image && small) {
        dense_multiply_left(r, k, n, E->V, rank_null(G), along); /* P0 N = V1 V1' N */
        dense_multiply(n, k, r, E->V, along, moved);
        dense_multiply(n, k, n, A, moved, image);
        dense_multiply_left(k, k, n, rank_left_null(G), image, small);
        rank = rank_of(k, k, small, tolerance, 1.0, NULL);
    }
    dae_free_all(along, moved, image, small);
    return rank < 0 ? -1 : rank == k;
}

/* Of scaled matrices */
static int tractability_at(int n, const double *A, double *B, bool fixed_kernel, double tolerance)
{
    rank_split E = {0}, G = {0};
    int index = TRACTABILITY_MEMORY;
    bool ok = rank_split_new(&E, n, n, B, tolerance, 1.0, NULL);
    if (ok && E.rank == n) index = 0;
    if (ok && index < 0)
        ok = add_projected(n, A, rank_null(&E), n - E.rank, B) == 0 &&
             rank_split_new(&G, n, n, B, tolerance, 1.0, NULL);
    if (ok && index < 0) {
        int two = G.rank < n && fixed_kernel ? is_tractable2(n, A, &E, &G, tolerance) : 0;
        index = G.rank == n ? 1 : two < 0 ? TRACTABILITY_MEMORY : two ? 2 : 3;
    }
    rank_split_free(&E);
    rank_split_free(&G);
    return index;
}

int tractability_index_of(derivative_array *d, double t, const double *x, bool fixed_kernel,
                          double tolerance)
{
    scaled_pencil s;
    if (derivative_array_evaluate(d, 0, t, x) != ARRAY_OK) return TRACTABILITY_NONE;
    if (!scaled_pencil_new(&s, d->n, d->jac.a, d->jac.b)) return TRACTABILITY_MEMORY;
    int index = tractability_at(d->n, s.A, s.B, fixed_kernel, tolerance);
    scaled_pencil_free(&s);
    return index;
}

/* ---- the matrix chain of constant matrices ---- */

typedef struct chain {
    int n, known;  /* columns of K */
    double *G, *A; /* G_i, B_i */
    double *K;     /* n x n: N_0 + .. + N_i, a basis */
    double *M, *Q, *work;
    bool meets; /* a null space meets those before: the pencil is singular */
} chain;

/* Q := the projector on N (n x k) along K and what is beside both. False: memory, or N meets K. */
static bool admissible(chain *c, const double *N, int k, double tolerance)
{
    const int n = c->n, used = k + c->known;
    rank_split both = {0};
    c->meets = used > n;
    if (c->meets) return false;
    vector_copy(n * k, N, c->M);
    vector_copy(n * c->known, c->K, c->M + n * k);
    bool ok = rank_split_new(&both, n, used, c->M, tolerance, 1.0, NULL);
    c->meets = ok && both.rank < used;
    ok = ok && !c->meets;
    if (ok) {
        vector_copy(n * (n - used), both.U + used * n, c->M + n * used);
        vector_zero(n * n, c->work);
        for (int i = 0; i < n; i++) c->work[i + i * n] = 1.0;
        ok = pencil_solve(n, n, c->M, c->work, &c->meets);
    }
    for (int j = 0; ok && j < n; j++) {
        vector_zero(n, c->Q + j * n);
        for (int i = 0; i < k; i++) vector_axpy(n, c->work[i + j * n], N + i * n, c->Q + j * n);
    }
    rank_split_free(&both);
    return ok;
}

/* G := G + A Q, A := A - A Q, K := K + N */
static void advance(chain *c, const double *N, int k)
{
    const int n = c->n;
    dense_multiply(n, n, n, c->A, c->Q, c->work);
    vector_axpy(n * n, 1.0, c->work, c->G);
    vector_axpy(n * n, -1.0, c->work, c->A);
    vector_copy(n * k, N, c->K + n * c->known);
    c->known += k;
}

static int run_chain(chain *c, double tolerance)
{
    const int n = c->n;
    for (int i = 0; i <= n; i++) {
        rank_split s = {0};
        if (!rank_split_new(&s, n, n, c->G, tolerance, 1.0, NULL)) return TRACTABILITY_MEMORY;
        const int k = n - s.rank;
        bool ok = k == 0 || admissible(c, rank_null(&s), k, tolerance);
        if (ok && k > 0) advance(c, rank_null(&s), k);
        rank_split_free(&s);
        if (k == 0) return i;
        if (!ok) return c->meets ? TRACTABILITY_NONE : TRACTABILITY_MEMORY;
    }
    return TRACTABILITY_NONE;
}

int tractability_of_pencil(int n, const double *A, const double *B, double tolerance)
{
    scaled_pencil s;
    const int all = n * n;
    if (!scaled_pencil_new(&s, n, A, B)) return TRACTABILITY_MEMORY;
    chain c = {.n = n,
               .G = s.B,
               .A = s.A,
               .K = DAE_ARRAY(double, all),
               .M = DAE_ARRAY(double, all),
               .Q = DAE_ARRAY(double, all),
               .work = DAE_ARRAY(double, all)};
    int index = c.K && c.M && c.Q && c.work ? run_chain(&c, tolerance) : TRACTABILITY_MEMORY;
    dae_free_all(c.K, c.M, c.Q, c.work);
    scaled_pencil_free(&s);
    return index;
}
