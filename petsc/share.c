/* Equations shared out between ranks by their graph, and what each rank reads. */
#include <stdlib.h>

#include "parts.h"

/* a[i], i = 0 .. count, becomes the sum of those before it. */
static void add_up(int count, int *a)
{
    int sum = 0;
    for (int i = 0; i <= count; i++) {
        int here = a[i];
        a[i] = sum;
        sum += here;
    }
}

/* Neighbours of unknowns in the graph of A + A', A with the rows matched; by one rank, those of
 * `from` .. `to`-1. Places are not known so far. */
typedef struct graph_part {
    int from, to;
    PetscInt *start, *neighbour; /* for PETSc, which frees them */
} graph_part;

typedef struct visit {
    const int *colptr, *rowind, *owner; /* owner[i]: the unknown that row i is matched with */
    int n;
} visit;

/* Every edge of the graph in both directions, to those of the part. */
static void each_edge(const visit *v, const graph_part *g, int *count, PetscInt *to)
{
    for (int j = 0; j < v->n; j++)
        for (int k = v->colptr[j]; k < v->colptr[j + 1]; k++) {
            const int i = v->owner[v->rowind[k]];
            if (i == j) continue;
            const int ends[2][2] = {{i, j}, {j, i}};
            for (int e = 0; e < 2; e++) {
                const int a = ends[e][0];
                if (a < g->from || a >= g->to) continue;
                if (to) to[g->start[a - g->from] + count[a - g->from]] = ends[e][1];
                count[a - g->from]++;
            }
        }
}

static int by_number(const void *a, const void *b)
{
    const PetscInt x = *(const PetscInt *)a, y = *(const PetscInt *)b;
    return (x > y) - (x < y);
}

/* Sorted, each neighbour once. */
static void tidy(graph_part *g)
{
    PetscInt at = 0;
    for (int a = 0; a < g->to - g->from; a++) {
        const PetscInt first = g->start[a], last = g->start[a + 1];
        qsort(g->neighbour + first, (size_t)(last - first), sizeof *g->neighbour, by_number);
        g->start[a] = at;
        for (PetscInt k = first; k < last; k++)
            if (k == first || g->neighbour[k] != g->neighbour[k - 1])
                g->neighbour[at++] = g->neighbour[k];
    }
    g->start[g->to - g->from] = at;
}

static PetscErrorCode graph_of(const visit *v, graph_part *g)
{
    const int rows = g->to - g->from;
    int *count;
    PetscCall(PetscCalloc1((size_t)rows + 1, &count));
    PetscCall(PetscMalloc1((size_t)rows + 1, &g->start));
    each_edge(v, g, count, NULL);
    g->start[0] = 0;
    for (int a = 0; a < rows; a++) g->start[a + 1] = g->start[a] + count[a];
    PetscCall(PetscMalloc1((size_t)g->start[rows] + 1, &g->neighbour));
    for (int a = 0; a < rows; a++) count[a] = 0;
    each_edge(v, g, count, g->neighbour);
    PetscCall(PetscFree(count));
    tidy(g);
    return 0;
}

/* place = new numbers of all unknowns, so that those of a rank follow each other and few edges go
 * from rank to rank. */
static PetscErrorCode partition(share *s, const visit *v, MPI_Comm comm, PetscInt *own)
{
    int rank, ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    graph_part g = {(int)((long)s->n * rank / ranks), (int)((long)s->n * (rank + 1) / ranks), NULL,
                    NULL};
    Mat graph;
    MatPartitioning part;
    IS to, numbers, all;
    const PetscInt *number;
    PetscInt *counts;
    PetscCall(graph_of(v, &g));
    PetscCall(MatCreateMPIAdj(comm, g.to - g.from, s->n, g.start, g.neighbour, NULL, &graph));
    PetscCall(MatPartitioningCreate(comm, &part));
    PetscCall(MatPartitioningSetAdjacency(part, graph));
    PetscCall(MatPartitioningSetFromOptions(part));
    PetscCall(MatPartitioningApply(part, &to));
    PetscCall(ISPartitioningToNumbering(to, &numbers));
    PetscCall(PetscMalloc1((size_t)ranks, &counts));
    PetscCall(ISPartitioningCount(to, ranks, counts));
    *own = counts[rank];
    PetscCall(ISAllGather(numbers, &all));
    PetscCall(ISGetIndices(all, &number));
    for (int j = 0; j < s->n; j++) s->place[j] = number[j];
    PetscCall(ISRestoreIndices(all, &number));
    PetscCall(ISDestroy(&all));
    PetscCall(ISDestroy(&numbers));
    PetscCall(ISDestroy(&to));
    PetscCall(PetscFree(counts));
    PetscCall(MatPartitioningDestroy(&part));
    PetscCall(MatDestroy(&graph));
    return 0;
}

/* The rows of this rank: their entries by places, and the unknowns that they read. */
static PetscErrorCode own_rows(share *s, const visit *v)
{
    const int count = (int)(s->last - s->first);
    int *fill, *reads;
    PetscCall(PetscMalloc1((size_t)count + 1, &s->rows));
    PetscCall(PetscCalloc1((size_t)count + 1, &s->start));
    PetscCall(PetscCalloc1((size_t)s->n + 1, &reads));
    for (int k = 0; k < count; k++) s->rows[k] = s->row_of[s->unknown[s->first + k]];
    for (int j = 0; j < v->n; j++)
        for (int k = v->colptr[j]; k < v->colptr[j + 1]; k++) {
            const PetscInt at = s->place[v->owner[v->rowind[k]]] - s->first;
            if (at < 0 || at >= count) continue;
            s->start[at]++;
            reads[j] = 1;
        }
    add_up(count, s->start);
    PetscCall(PetscMalloc1((size_t)s->start[count] + 1, &s->column));
    PetscCall(PetscMalloc1((size_t)s->start[count] + 1, &s->entry));
    PetscCall(PetscMalloc1((size_t)count + 1, &fill));
    for (int k = 0; k < count; k++) fill[k] = s->start[k];
    for (int j = 0; j < v->n; j++)
        for (int k = v->colptr[j]; k < v->colptr[j + 1]; k++) {
            const PetscInt at = s->place[v->owner[v->rowind[k]]] - s->first;
            if (at < 0 || at >= count) continue;
            s->column[fill[at]] = s->place[j];
            s->entry[fill[at]++] = k;
        }
    PetscCall(PetscFree(fill));
    PetscCall(PetscMalloc1((size_t)s->n + 1, &s->read));
    for (int j = 0; j < s->n; j++)
        if (reads[j]) s->read[s->reads++] = j;
    PetscCall(PetscFree(reads));
    return 0;
}

void share_free(share *s)
{
    PetscFree(s->place);
    PetscFree(s->unknown);
    PetscFree(s->row_of);
    PetscFree(s->rows);
    PetscFree(s->start);
    PetscFree(s->column);
    PetscFree(s->entry);
    PetscFree(s->read);
    *s = (share){0};
}

PetscErrorCode share_make(share *s, const dae_equations *q, MPI_Comm comm, int *failed)
{
    visit v = {.n = dae_equations_size(q)};
    int ranks, *owner;
    PetscInt own;
    *s = (share){.n = v.n};
    dae_equations_pattern(q, &v.colptr, &v.rowind);
    PetscCall(PetscMalloc1((size_t)v.n, &s->place));
    PetscCall(PetscMalloc1((size_t)v.n, &s->unknown));
    PetscCall(PetscMalloc1((size_t)v.n, &s->row_of));
    PetscCall(PetscMalloc1((size_t)v.n, &owner));
    *failed = !v.colptr || dae_equations_match(q, s->row_of) != DAE_OK;
    if (*failed) return PetscFree(owner);
    for (int j = 0; j < v.n; j++) owner[s->row_of[j]] = j;
    v.owner = owner;
    MPI_Comm_size(comm, &ranks);
    for (int j = 0; j < v.n; j++) s->place[j] = j;
    own = v.n;
    if (ranks > 1) PetscCall(partition(s, &v, comm, &own));
    MPI_Scan(&own, &s->last, 1, MPIU_INT, MPI_SUM, comm);
    s->first = s->last - own;
    for (int j = 0; j < v.n; j++) s->unknown[s->place[j]] = j;
    PetscCall(own_rows(s, &v));
    return PetscFree(owner);
}
