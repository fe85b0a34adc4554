/* What M and C must be like at a point: M no indefinite matrix; and where multipliers act in other
 * ways than along the gradients of their constraints, as friction does, such that the equations
 * determine them. */
#include <math.h>

#include "base/memory.h"
#include "linalg/inertia.h"
#include "linalg/rank.h"
#include "structure/mechanical/mechanical_parts.h"

/* Rows, then columns, to a largest entry of 1. */
static void equilibrate(int n, double *A)
{
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < n; i++) {
            double most = 0.0;
            int step = pass == 0 ? n : 1;
            double *line = A + (pass == 0 ? i : i * n);
            for (int j = 0; j < n; j++) most = fmax(most, fabs(line[j * step]));
            for (int j = 0; j < n && most > 0.0; j++) line[j * step] /= most;
        }
}

int mechanical_regular(const mechanical *m, const double *M, const double *C, const double *G)
{
    enum { LARGEST = 500 }; /* dense work */
    int n = m->nq, size = m->nq + m->nlambda;
    if (size > LARGEST) return 0;
    rank_work w = {0};
    double *A = DAE_ARRAY(double, (size_t)size *(size_t)size), condition = 0.0;
    bool ready = A && rank_work_new(&w, size);
    if (ready) {
        for (int e = 0; e < m->M.count; e++)
            A[m->M.entry[e].row + m->M.entry[e].column * size] = M[e];
        for (int e = 0; e < m->C.count; e++) /* C by columns: transposed */
            A[m->C.entry[e].column + (n + m->C.entry[e].row) * size] = C[e];
        for (int e = 0; e < m->G.count; e++)
            A[n + m->G.entry[e].row + m->G.entry[e].column * size] = G[e];
        equilibrate(size, A);
    }
    int rank = ready ? rank_dense(&w, size, A, 1e-10, &condition) : -1;
    rank_work_free(&w);
    dae_free(A);
    return rank < 0 ? -1 : rank == size;
}

int mechanical_bad_mass(const mechanical *m, const double *M, bool zero)
{
    enum { LARGEST = 200 }; /* dense work */
    int n = m->nq;
    if (n > LARGEST) return -1;
    double *A = DAE_ARRAY(double, (size_t)n *(size_t)n);
    if (!A) return -2;
    for (int e = 0; e < m->M.count; e++) {
        const mechanical_entry *at = &m->M.entry[e];
        A[at->row + at->column * n] = m->scale[at->row] * M[e];
    }
    int bad = inertia_bad_pivot(n, A, zero);
    dae_free(A);
    return bad;
}
