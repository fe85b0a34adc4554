#include "model/model_redundant.h"

#include <string.h>

#include "base/memory.h"
#include "expr/derive.h"
#include "forms/redundant.h"
#include "structure/mechanical/mechanical.h"
#include "structure/rewrite/symbolic_solve.h"

/* ---- the constraints of a mechanism ---- */

/* Contact equations and constraints as one program. Rows: ns of contact, which are kept, nlambda of
 * constraints; columns: q, then s. */
struct constraint_program {
    const mechanical *m;   /* borrowed */
    mechanical_matrix all; /* derivatives, then values and rates in columns VALUE, RATE; owned */
    expr_code code;        /* of its entries */
};

enum { VALUE = -1, RATE = -2 };

static int variable_of(const mechanical *m, int column)
{
    return column < m->nq ? m->q[column] : m->contact[column - m->nq];
}

/* Values and rates of the constraints, as far as they have them. False: memory */
static bool gather_levels(const equation_set *set, const mechanical *m, mechanical_entry **to)
{
    int positions = mechanical_positions(m);
    for (int l = 0; l < m->nlambda; l++) {
        expr rate = l < positions ? mechanical_level(set, m, l, 1) : m->g[l];
        if (rate == EXPR_NONE) return false;
        if (l < positions) *(*to)++ = (mechanical_entry){m->ns + l, VALUE, m->g[l]};
        *(*to)++ = (mechanical_entry){m->ns + l, RATE, rate};
    }
    return true;
}

/* h and its derivatives, G, g and its rate. False: memory */
static bool gather(const equation_set *set, const mechanical *m, mechanical_matrix *all)
{
    graph *g = set->graph;
    int columns = m->nq + m->ns, most = m->ns * (columns + 1) + m->G.count + 2 * m->nlambda;
    mechanical_entry *to = all->entry = DAE_ARRAY(mechanical_entry, most);
    if (!to) return false;
    for (int k = 0; k < m->ns; k++) {
        for (int j = 0; j < columns; j++) {
            expr by = derive_partial(g, m->h[k], graph_variable(g, variable_of(m, j), 0));
            if (by == EXPR_NONE) return false;
            *to++ = (mechanical_entry){k, j, by};
        }
        *to++ = (mechanical_entry){k, VALUE, m->h[k]};
    }
    for (int e = 0; e < m->G.count; e++) {
        *to = m->G.entry[e];
        to++->row += m->ns;
    }
    if (!gather_levels(set, m, &to)) return false;
    all->count = (int)(to - all->entry);
    return true;
}

void constraint_program_free(constraint_program *p)
{
    if (!p) return;
    code_free(&p->code);
    dae_free_all(p->all.entry, p);
}

static constraint_program *program_new(const equation_set *set, const mechanical *m)
{
    constraint_program *p = DAE_NEW(constraint_program);
    if (!p) return NULL;
    p->m = m;
    if (gather(set, m, &p->all) && mechanical_compile(set, &p->all, &p->code)) return p;
    constraint_program_free(p);
    return NULL;
}

bool model_redundant_prepare(const analysed *a, const equation_point *at,
                             constraint_program **program)
{
    const mechanical *m;
    char reason[400];
    *program = NULL;
    mechanical_status status = analysed_mechanism(a, at, &m, reason, sizeof reason);
    if (status == MECHANICAL_MEMORY) return false;
    if (status == MECHANICAL_NOT || m->nlambda == 0) return true;
    *program = program_new(&a->set, m);
    return *program && !graph_failed(a->set.graph);
}

/* ---- search ---- */

/* The program at other positions, contact coordinates, velocities and times than those of a point.
 */
typedef struct moved_point {
    constraint_program *program;
    equation_point at;
    const double **x; /* owned; x[0] and x[1] are ours */
    double *x0, *x1;  /* owned: one block */
    double *value;    /* of the program; owned */
} moved_point;

static bool moved_point_new(moved_point *p, const equation_set *set, constraint_program *program,
                            const equation_point *at)
{
    size_t n = (size_t)set->n, bytes = n * sizeof *p->x0;
    *p = (moved_point){.program = program, .at = *at};
    p->x = DAE_ARRAY(const double *, at->orders + 1);
    p->x0 = DAE_ARRAY(double, 2 * n);
    p->value = DAE_ARRAY(double, program->all.count);
    if (!p->x || !p->x0 || !p->value) return false;
    p->x1 = p->x0 + n;
    for (int k = 0; k <= at->orders; k++) p->x[k] = at->x[k];
    memcpy(p->x0, at->x[0], bytes);
    memcpy(p->x1, at->x[1], bytes);
    p->x[0] = p->x0;
    p->x[1] = p->x1;
    p->at.x = p->x;
    return true;
}

static void moved_point_free(moved_point *p)
{
    dae_free((void *)p->x);
    dae_free_all(p->x0, p->value);
}

/* Contact rows move with their coordinates: rate = h_q v + h_s s', which only serves to find s'. */
static void rate_of_contact(const mechanical *m, const double *v, const double *G, double *rate)
{
    int columns = m->nq + m->ns;
    for (int k = 0; k < m->ns; k++)
        for (int j = 0; j < columns; j++) rate[k] += G[k * columns + j] * v[j];
}

static bool evaluate(void *context, double t, const double *q, const double *v, double *g,
                     double *rate, double *G)
{
    moved_point *p = context;
    const constraint_program *program = p->program;
    const mechanical *m = program->m;
    int rows = m->ns + m->nlambda, columns = m->nq + m->ns;
    p->at.time = t;
    for (int j = 0; j < columns; j++) p->x0[variable_of(m, j)] = q[j];
    for (int j = 0; j < m->nq; j++) p->x1[variable_of(m, j)] = v[j];
    memset(G, 0, (size_t)rows * (size_t)columns * sizeof *G);
    memset(g, 0, (size_t)rows * sizeof *g); /* constraints on velocities do not move positions */
    memset(rate, 0, (size_t)rows * sizeof *rate);
    mechanical_run(&p->program->code, &p->at, p->value);
    for (int e = 0; e < program->all.count; e++) {
        const mechanical_entry *at = &program->all.entry[e];
        if (at->column == VALUE)
            g[at->row] = p->value[e];
        else if (at->column == RATE)
            rate[at->row] = p->value[e];
        else
            G[at->row * columns + at->column] = p->value[e];
    }
    rate_of_contact(m, v, G, rate);
    return true;
}

/* What was found, in terms of the equations. */
static void tell_rows(const mechanical *m, const bool *redundant, int found, bool *rows)
{
    for (int l = 0; found > 0 && l < m->nlambda; l++) rows[m->constraint[l]] = redundant[m->ns + l];
}

static void tell_conflict(const mechanical *m, const redundant_conflict *from, model_conflict *to)
{
    if (from->row < m->ns) return;
    *to = (model_conflict){m->constraint[from->row - m->ns], to->with, from->t, from->off,
                           from->on_rates};
    for (int k = 0; k < m->ns; k++) to->with[m->contact_row[k]] = from->with[k];
    for (int l = 0; l < m->nlambda; l++) to->with[m->constraint[l]] = from->with[m->ns + l];
}

int model_redundant_find(const analysed *a, constraint_program *program, const equation_point *at,
                         bool *rows, model_conflict *conflict)
{
    memset(rows, 0, (size_t)a->set.m * sizeof *rows);
    memset(conflict->with, 0, (size_t)a->set.m * sizeof *conflict->with);
    conflict->row = -1;
    if (!program) return 0;
    moved_point p;
    const mechanical *m = program->m;
    int count = m->ns + m->nlambda, columns = m->nq + m->ns;
    double *q = DAE_ARRAY(double, 3 * (size_t)columns), *v = q + columns, *size = v + columns;
    bool *redundant = DAE_ARRAY(bool, 2 * (size_t)count);
    bool ready = moved_point_new(&p, &a->set, program, at) && q && redundant;
    for (int j = 0; ready && j < columns; j++) {
        q[j] = at->x[0][variable_of(m, j)];
        v[j] = j < m->nq ? at->x[1][variable_of(m, j)] : 0.0;
        size[j] = a->set.nominal[variable_of(m, j)];
    }
    redundant_rows what = {count, columns, at->time, q, v, size, evaluate, &p};
    redundant_conflict off = {.row = -1, .with = ready ? redundant + count : NULL};
    int found = ready ? redundant_find(&what, redundant, &off) : -1;
    for (int k = 0; found > 0 && k < m->ns; k++)
        if (redundant[k]) found = 0; /* contact that determines nothing is another matter */
    tell_rows(m, redundant, found, rows);
    if (found == 0) tell_conflict(m, &off, conflict);
    moved_point_free(&p);
    dae_free_all(q, redundant);
    return found;
}

/* ---- release ---- */

/* sum_i C_ik C_il over equations of motion, or of G' where multipliers act otherwise, too;
 * EXPR_NONE: zero */
static expr product(graph *g, const mechanical *m, int k, int l)
{
    const mechanical_matrix *C = m->friction ? &m->G : &m->C;
    expr sum = EXPR_NONE;
    for (int a = 0; a < C->count; a++)
        for (int b = 0; b < C->count; b++) {
            const mechanical_entry *x = &C->entry[a], *y = &C->entry[b];
            int xk = m->friction ? x->row : x->column, xi = m->friction ? x->column : x->row;
            int yl = m->friction ? y->row : y->column, yi = m->friction ? y->column : y->row;
            if (xk != k || yl != l || xi != yi) continue;
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
        for (int j = 0; j < k; j++) A[i * k + j] = product(g, m, kept[i], kept[j]);
        for (int j = 0; j < d; j++) B[i * d + j] = product(g, m, kept[i], gone[j]);
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
    dae_free_all(A, B);
    return ok && !graph_failed(g);
}

bool model_redundant_release(analysed *a, const equation_point *at, const bool *rows)
{
    const mechanical *m;
    char reason[400];
    bool ok = analysed_mechanism(a, at, &m, reason, sizeof reason) == MECHANICAL_OK;
    int *kept = ok ? DAE_ARRAY(int, 2 * (size_t)m->nlambda) : NULL;
    if (kept) {
        int k = split(m, rows, kept, kept + m->nlambda);
        ok = replace_rows(a, m, kept, k, kept + m->nlambda);
    }
    ok = ok && kept;
    dae_free(kept);
    if (!ok) return false;
    analysed_drop_derived(a);
    structure_free(&a->structure);
    return structure_analyse(&a->structure, &a->set);
}
