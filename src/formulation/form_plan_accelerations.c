/* Accelerations of a small mechanism as one program: [M G'; G 0] (v', lambda) = (f, -curvature) by
 * L D L' on expressions, entries that are zero left out.
 *
 * Coordinates are eliminated before constraints. Where M is positive definite this is Cholesky's
 * factorisation of M and then of G M^-1 G', neither of which needs exchanges [GVL13 4.2]; in which
 * order is free [Van95], so the sparsest row comes first. The program gives v', and behind it each
 * pivot and the diagonal entry that it is left of: who runs it sees whether M and G are what they
 * have to be, and takes numerical pivots where they are not. */
#include "formulation/form_plan_parts.h"

#include "base/memory.h"

/* Above this many multiplications the tape takes longer than loops over arrays, by more than native
 * code gains: Andrews' mechanism ran at 0.67 of its speed on the tape, at 1.25 natively. */
enum { MOST_MULTIPLICATIONS = 150, MOST_ROWS = 32 };

typedef struct elimination {
    graph *g;
    int n, size;                  /* coordinates; these and constraints */
    int order[MOST_ROWS];         /* of the pivots */
    bool gone[MOST_ROWS];         /* rows that were pivots */
    int multiplications;          /* so far */
    expr A[MOST_ROWS][MOST_ROWS]; /* what is left of the matrix, symmetric; EXPR_NONE: zero */
    expr L[MOST_ROWS][MOST_ROWS]; /* L(i,p) at [i][p] */
    expr diagonal[MOST_ROWS];     /* what pivots come from */
    expr pivot[MOST_ROWS];        /* by row, of constraints with the sign changed */
    expr reciprocal[MOST_ROWS];   /* 1 / A(p,p) at its turn */
    expr b[MOST_ROWS];            /* right-hand side, then solution; EXPR_NONE: zero */
    bool failed;                  /* memory */
} elimination;

/* ---- expressions that may be zero ---- */

static expr known(elimination *s, expr e)
{
    if (e == EXPR_NONE) s->failed = true;
    return graph_is_number(s->g, e, 0.0) ? EXPR_NONE : e;
}

static expr product(elimination *s, expr a, expr b)
{
    if (a == EXPR_NONE || b == EXPR_NONE) return EXPR_NONE;
    s->multiplications++;
    return known(s, graph_binary(s->g, EXPR_MUL, a, b));
}

static expr difference(elimination *s, expr a, expr b)
{
    if (b == EXPR_NONE) return a;
    if (a == EXPR_NONE) return known(s, graph_unary(s->g, EXPR_NEG, b));
    return known(s, graph_binary(s->g, EXPR_SUB, a, b));
}

/* ---- the factors ---- */

/* Rows that row p is coupled with */
static int degree(const elimination *s, int p)
{
    int count = 0;
    for (int i = 0; i < s->size; i++) count += !s->gone[i] && i != p && s->A[i][p] != EXPR_NONE;
    return count;
}

/* The sparsest row that is left; coordinates before constraints */
static int sparsest(const elimination *s)
{
    int best = -1, least = 0;
    for (int p = 0; p < s->size && !(p >= s->n && best >= 0 && best < s->n); p++) {
        if (s->gone[p]) continue;
        const int count = degree(s, p);
        if (best < 0 || count < least) best = p, least = count;
    }
    return best;
}

/* Row p is eliminated from those that are left */
static void eliminate(elimination *s, int p)
{
    const bool constraint = p >= s->n;
    s->pivot[p] = constraint ? difference(s, EXPR_NONE, s->A[p][p]) : s->A[p][p];
    if (s->pivot[p] == EXPR_NONE) return;
    s->reciprocal[p] =
        known(s, graph_binary(s->g, EXPR_DIV, graph_constant(s->g, 1.0), s->A[p][p]));
    s->gone[p] = true;
    for (int i = 0; i < s->size; i++) {
        if (s->gone[i] || s->A[i][p] == EXPR_NONE) continue;
        s->L[i][p] = product(s, s->A[i][p], s->reciprocal[p]);
        s->b[i] = difference(s, s->b[i], product(s, s->L[i][p], s->b[p]));
        for (int j = 0; j <= i; j++) {
            if (s->gone[j] || s->A[j][p] == EXPR_NONE) continue;
            s->A[i][j] = difference(s, s->A[i][j], product(s, s->L[i][p], s->A[j][p]));
            s->A[j][i] = s->A[i][j];
        }
    }
}

/* All rows; false: there are too many multiplications, or a pivot is zero or no positive number */
static bool factor(elimination *s)
{
    for (int k = 0; k < s->size; k++) {
        const int p = s->order[k] = sparsest(s);
        double value = 1.0;
        if (p >= s->n && k == s->n) /* S as it is before its own elimination */
            for (int i = s->n; i < s->size; i++)
                s->diagonal[i] = difference(s, EXPR_NONE, s->A[i][i]);
        eliminate(s, p);
        if (s->pivot[p] == EXPR_NONE || s->multiplications > MOST_MULTIPLICATIONS) return false;
        if (graph_is_constant(s->g, s->pivot[p], &value) && !(value > 0.0)) return false;
    }
    return !s->failed;
}

/* b := the solution */
static void solve_back(elimination *s)
{
    for (int k = s->size - 1; k >= 0; k--) {
        const int p = s->order[k];
        s->b[p] = product(s, s->b[p], s->reciprocal[p]);
        for (int i = 0; i < s->size; i++)
            s->b[p] = difference(s, s->b[p], product(s, s->L[i][p], s->b[i]));
    }
}

/* ---- the program ---- */

/* `stage`: the program of (M,) f, G and curvature */
static void load(elimination *s, const form_plan *p)
{
    const form_block *M = &p->block[BLOCK_M], *G = &p->block[BLOCK_G];
    const form_program *stage = &p->program[MECHANICAL_STAGE];
    const expr *force = stage->e + (M->constant ? 0 : form_block_size(M));
    const expr *curvature = force + s->n + form_block_size(G);
    for (int j = 0; j < s->n; j++) {
        s->b[j] = known(s, force[j]);
        for (int k = M->colptr[j]; k < M->colptr[j + 1]; k++)
            s->A[M->rowind[k]][j] = known(s, M->e[k]);
        for (int k = G->colptr[j]; k < G->colptr[j + 1]; k++)
            s->A[s->n + G->rowind[k]][j] = s->A[j][s->n + G->rowind[k]] = known(s, G->e[k]);
    }
    for (int i = s->n; i < s->size; i++)
        s->b[i] = difference(s, EXPR_NONE, known(s, curvature[i - s->n]));
    for (int j = 0; j < s->n; j++) s->diagonal[j] = s->A[j][j];
}

static bool is_symmetric(const elimination *s)
{
    for (int i = 0; i < s->n; i++)
        for (int j = 0; j < i; j++)
            if (s->A[i][j] != s->A[j][i]) return false;
    return true;
}

/* v', then pivots and what they come from, unless these are numbers */
static bool write_program(elimination *s, form_program *p)
{
    const expr zero = graph_constant(s->g, 0.0);
    if (!form_program_new(p, (size_t)(s->n + 2 * s->size)) || zero == EXPR_NONE) return false;
    size_t at = 0;
    for (int i = 0; i < s->n; i++) p->e[at++] = s->b[i] == EXPR_NONE ? zero : s->b[i];
    for (int i = 0; i < s->size; i++) {
        if (graph_is_constant(s->g, s->pivot[i], NULL)) continue;
        p->e[at++] = s->pivot[i];
        p->e[at++] = s->diagonal[i];
    }
    p->count = at;
    return true;
}

bool form_plan_accelerations(graph *g, form_plan *p)
{
    const int n = p->size[0], size = n + p->size[1];
    form_program *program = &p->program[MECHANICAL_ACCELERATIONS];
    elimination *s = size <= MOST_ROWS ? DAE_NEW(elimination) : NULL;
    if (!s) return size > MOST_ROWS && form_program_new(program, 0);
    s->g = g;
    s->n = n;
    s->size = size;
    load(s, p);
    bool small = !s->failed && is_symmetric(s) && factor(s);
    if (small) solve_back(s);
    bool ok = !s->failed && (small ? write_program(s, program) : form_program_new(program, 0));
    dae_free(s);
    return ok;
}
