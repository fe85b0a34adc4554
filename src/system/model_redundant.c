#include "system/model_redundant.h"

#include <string.h>

#include "base/memory.h"
#include "structure/mechanical.h"
#include "structure/symbolic_solve.h"
#include "system/redundant.h"

/* ---- search ---- */

/* Constraints at positions other than those of a point. */
typedef struct moved_point {
    const equation_set *set;
    const mechanical *m;
    equation_point at;
    const double **x;      /* owned; x[0] is ours */
    double *x0;            /* owned */
    mechanical_matrix all; /* entries of G, then g; owned */
    double *value;         /* of these; owned */
    bool exhausted;        /* memory */
} moved_point;

static bool moved_point_new(moved_point *p, const equation_set *set, const mechanical *m,
                            const equation_point *at)
{
    *p = (moved_point){.set = set, .m = m, .at = *at};
    p->x = DAE_ARRAY(const double *, at->orders + 1);
    p->x0 = DAE_ARRAY(double, set->n);
    p->all.count = m->G.count + m->nlambda;
    p->all.entry = DAE_ARRAY(mechanical_entry, p->all.count);
    p->value = DAE_ARRAY(double, p->all.count);
    if (!p->x || !p->x0 || !p->value || !p->all.entry) return false;
    memcpy(p->all.entry, m->G.entry, (size_t)m->G.count * sizeof *m->G.entry);
    for (int l = 0; l < m->nlambda; l++)
        p->all.entry[m->G.count + l] = (mechanical_entry){l, 0, m->g[l]};
    for (int k = 0; k <= at->orders; k++) p->x[k] = at->x[k];
    memcpy(p->x0, at->x[0], (size_t)set->n * sizeof *p->x0);
    p->x[0] = p->x0;
    p->at.x = p->x;
    return true;
}

static void moved_point_free(moved_point *p)
{
    dae_free((void *)p->x);
    dae_free(p->x0);
    dae_free(p->all.entry);
    dae_free(p->value);
}

static bool evaluate(void *context, const double *q, double *g, double *G)
{
    moved_point *p = context;
    const mechanical *m = p->m;
    for (int j = 0; j < m->nq; j++) p->x0[m->q[j]] = q[j];
    memset(G, 0, (size_t)m->nlambda * (size_t)m->nq * sizeof *G);
    p->exhausted = p->exhausted || !mechanical_evaluate(p->set, &p->all, &p->at, p->value);
    if (p->exhausted) return false;
    for (int e = 0; e < m->G.count; e++)
        G[m->G.entry[e].row * m->nq + m->G.entry[e].column] = p->value[e];
    memcpy(g, p->value + m->G.count, (size_t)m->nlambda * sizeof *g);
    return true;
}

static int search(const analysed *a, const mechanical *m, const equation_point *at, bool *rows)
{
    moved_point p;
    double *q = DAE_ARRAY(double, 2 * (size_t)m->nq), *size = q + m->nq;
    bool *redundant = DAE_ARRAY(bool, m->nlambda);
    bool ready = moved_point_new(&p, &a->set, m, at) && q && redundant;
    for (int j = 0; ready && j < m->nq; j++) {
        q[j] = at->x[0][m->q[j]];
        size[j] = a->set.nominal[m->q[j]];
    }
    int count = ready ? redundant_find(m->nlambda, m->nq, q, size, evaluate, &p, redundant) : -1;
    if (p.exhausted) count = -1;
    for (int l = 0; count > 0 && l < m->nlambda; l++) rows[m->constraint[l]] = redundant[l];
    moved_point_free(&p);
    dae_free(q);
    dae_free(redundant);
    return count;
}

int model_redundant_find(const analysed *a, const equation_point *at, bool *rows)
{
    mechanical m = {0};
    char reason[400];
    memset(rows, 0, (size_t)a->set.m * sizeof *rows);
    mechanical_status status = mechanical_recognise(&a->set, at, &m, reason, sizeof reason);
    int count = status == MECHANICAL_MEMORY ? -1 : 0;
    if (status == MECHANICAL_OK && m.nlambda > 0) count = search(a, &m, at, rows);
    mechanical_free(&m);
    return graph_failed(a->set.graph) ? -1 : count;
}

/* ---- release ---- */

/* sum_i C_ik C_il over equations of motion; EXPR_NONE: zero */
static expr product(graph *g, const mechanical_matrix *C, int k, int l)
{
    expr sum = EXPR_NONE;
    for (int a = 0; a < C->count; a++)
        for (int b = 0; b < C->count && C->entry[a].column == k; b++) {
            if (C->entry[b].column != l || C->entry[b].row != C->entry[a].row) continue;
            expr part = graph_binary(g, EXPR_MUL, C->entry[a].value, C->entry[b].value);
            sum = sum == EXPR_NONE ? part : graph_binary(g, EXPR_ADD, sum, part);
        }
    return sum;
}

/* The kept constraints, and the redundant ones. */
static int split(const mechanical *m, const bool *rows, int *kept, int *gone)
{
    int k = 0, d = 0;
    for (int l = 0; l < m->nlambda; l++)
        if (rows[m->constraint[l]])
            gone[d++] = l;
        else
            kept[k++] = l;
    return k;
}

/* c = (C_K' C_K)^-1 C_K' C_l for the columns C of the multipliers, kept by redundant ones; then
 * lambda_l = sum c_i lambda_i in the place of constraint l. False: memory */
static bool replace_rows(analysed *a, const mechanical *m, const int *kept, int k, const int *gone)
{
    graph *g = a->set.graph;
    int d = m->nlambda - k;
    expr *A = DAE_ARRAY(expr, (size_t)k * (size_t)k), *B = DAE_ARRAY(expr, (size_t)k * (size_t)d);
    bool ok = A && B;
    for (int i = 0; ok && i < k; i++) {
        for (int j = 0; j < k; j++) A[i * k + j] = product(g, &m->C, kept[i], kept[j]);
        for (int j = 0; j < d; j++) B[i * d + j] = product(g, &m->C, kept[i], gone[j]);
    }
    ok = ok && symbolic_solve(g, k, A, d, B);
    for (int j = 0; ok && j < d; j++) {
        expr e = graph_variable(g, m->lambda[gone[j]], 0);
        for (int i = 0; i < k; i++) {
            if (B[i * d + j] == EXPR_NONE) continue;
            expr lambda = graph_variable(g, m->lambda[kept[i]], 0);
            e = graph_binary(g, EXPR_SUB, e, graph_binary(g, EXPR_MUL, B[i * d + j], lambda));
        }
        a->set.row[m->constraint[gone[j]]].residual = e;
    }
    dae_free(A);
    dae_free(B);
    return ok && !graph_failed(g);
}

bool model_redundant_release(analysed *a, const equation_point *at, const bool *rows)
{
    mechanical m = {0};
    char reason[400];
    bool ok = mechanical_recognise(&a->set, at, &m, reason, sizeof reason) == MECHANICAL_OK;
    int *kept = ok ? DAE_ARRAY(int, 2 * (size_t)m.nlambda) : NULL;
    if (kept) {
        int k = split(&m, rows, kept, kept + m.nlambda);
        ok = replace_rows(a, &m, kept, k, kept + m.nlambda);
    }
    ok = ok && kept;
    dae_free(kept);
    mechanical_free(&m);
    if (!ok) return false;
    structure_free(&a->structure);
    return structure_analyse(&a->structure, &a->set);
}
