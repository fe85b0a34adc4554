/* How many rows follow from the others at a point. */
#include "base/memory.h"
#include "base/vector.h"
#include "init/levels_parts.h"
#include "linalg/row_basis.h"

static const double RANK = 1e-9;    /* relative, of the scaled Jacobian */
static const double SUPPORT = 1e-7; /* components of a null vector that count */
static const double PROVED = 1e-7;  /* condition of a square part that proves full rank */
enum { FEW = 2500 };                /* entries: orthogonal factors take no longer than a proof */
enum { VECTORS = 8 };               /* null vectors looked for in a part too large to be dense */

static int find(int *parent, int i)
{
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
}

/* parent: rows of the support of y that are connected by columns get one root */
static void connect(const level_problem *p, const double *y, int *parent)
{
    for (int i = 0; i < p->m; i++) parent[i] = i;
    for (int j = 0; j < p->n; j++) {
        int first = -1;
        for (int e = p->colptr[j]; e < p->colptr[j + 1]; e++) {
            int i = p->rowind[e];
            if (fabs(y[i]) < SUPPORT || p->B[e] == 0.0) continue;
            if (first < 0)
                first = find(parent, i);
            else
                parent[find(parent, i)] = first;
        }
    }
}

/* Factors of the scaled Jacobian */
static engine_outcome factor(level_problem *p)
{
    return kkt_factor(p->solver, p->B, RANK, 0.0) == LINEAR_OK ? ENGINE_MET : ENGINE_MEMORY;
}

/* Scaled Jacobian at the problem's point; *full: its rows are independent for sure. */
static engine_outcome look(level_problem *p, bool *full)
{
    engine_outcome outcome = level_jacobian(p, p->u);
    if (outcome != ENGINE_MET) return outcome;
    level_scale(p);
    if ((long)p->m * p->n <= FEW) return ENGINE_MET;
    basis_status status = row_basis(p->m, p->n, p->colptr, p->rowind, p->B, PROVED);
    *full = status == BASIS_FOUND;
    return status == BASIS_MEMORY ? ENGINE_MEMORY : ENGINE_MET;
}

/* Number of independent null vectors among VECTORS random ones: Gram and Schmidt. */
static int count_null_vectors(level_problem *p, double *basis)
{
    int found = 0;
    const int m = p->m;
    for (unsigned seed = 1; seed <= VECTORS; seed++) {
        double *y = basis + (size_t)found * (size_t)m, rest = 0.0;
        if (!kkt_dependent(p->solver, seed, y)) break;
        for (int k = 0; k < found; k++) {
            const double *b = basis + (size_t)k * (size_t)m;
            double dot = 0.0;
            for (int i = 0; i < m; i++) dot += b[i] * y[i];
            vector_axpy(m, -dot, b, y);
        }
        for (int i = 0; i < m; i++) rest += y[i] * y[i];
        if (rest < SUPPORT) break;
        for (int i = 0; i < m; i++) y[i] /= sqrt(rest);
        found++;
    }
    return found;
}

/* Rows of one connected part that follow from its others, added to *redundant. */
static engine_outcome rank_of_part(level_problem *whole, int count, const int *rows,
                                   const bool *held, int *redundant)
{
    level_problem part;
    if (!level_problem_new(&part, whole->work, count, rows, held)) return ENGINE_MEMORY;
    bool full = false;
    engine_outcome outcome = look(&part, &full);
    if (outcome == ENGINE_MET && !full) outcome = factor(&part);
    if (outcome == ENGINE_MET && full) {
        level_problem_free(&part);
        return ENGINE_MET;
    }
    if (outcome == ENGINE_MET && kkt_is_dense(part.solver)) {
        *redundant += part.m - kkt_rank(part.solver);
    } else if (outcome == ENGINE_MET) {
        double *basis = DAE_ARRAY(double, (size_t)(VECTORS + 1) * (size_t)part.m);
        if (basis) *redundant += count_null_vectors(&part, basis);
        if (!basis) outcome = ENGINE_MEMORY;
        dae_free(basis);
    }
    level_problem_free(&part);
    return outcome;
}

/* Part by part of the support of a random null vector. */
static engine_outcome rank_of_parts(level_problem *p, const double *y, int *parent, int *rows,
                                    bool *held, int *redundant)
{
    const level_work *work = p->work;
    engine_outcome outcome = ENGINE_MET;
    connect(p, y, parent);
    for (int j = 0; j < work->system->n; j++) held[j] = true;
    for (int j = 0; j < p->n; j++) held[p->column[j]] = false;
    for (int root = 0; root < p->m && outcome == ENGINE_MET; root++) {
        int count = 0;
        if (fabs(y[root]) < SUPPORT || find(parent, root) != root) continue;
        for (int i = 0; i < p->m; i++)
            if (fabs(y[i]) >= SUPPORT && find(parent, i) == root) rows[count++] = p->row[i];
        outcome = rank_of_part(p, count, rows, held, redundant);
    }
    return outcome;
}

engine_outcome level_rank(level_problem *p, int *rank)
{
    bool full = false;
    level_store(p);
    engine_outcome outcome = look(p, &full);
    *rank = p->m;
    if (outcome != ENGINE_MET || full) return outcome;
    outcome = factor(p);
    if (outcome != ENGINE_MET) return outcome;
    *rank = kkt_rank(p->solver);
    if (kkt_is_dense(p->solver)) return ENGINE_MET;
    int redundant = 0, *parent = DAE_ARRAY(int, p->m), *rows = DAE_ARRAY(int, p->m);
    double *y = DAE_ARRAY(double, p->m);
    bool *held = DAE_ARRAY(bool, p->work->system->n);
    if (!y || !parent || !rows || !held)
        outcome = ENGINE_MEMORY;
    else if (kkt_dependent(p->solver, 1, y))
        outcome = rank_of_parts(p, y, parent, rows, held, &redundant);
    *rank = p->m - redundant;
    dae_free_all(parent, rows, y, held);
    return outcome;
}
