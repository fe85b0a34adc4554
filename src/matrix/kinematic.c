#include "matrix/kinematic.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/vector.h"

/* ---- rows of models ---- */

/* The sum of two terms that a row may be: factor * y' of one unknown and factor * y of another. */
typedef struct two_terms {
    int slope, value; /* unknowns, -1: not seen */
    double slope_factor, value_factor;
} two_terms;

static bool add_leaf(const expr_node *leaf, double factor, two_terms *sum)
{
    int *to = leaf->order == 1 ? &sum->slope : &sum->value;
    if (leaf->order > 1 || *to >= 0) return false;
    *to = leaf->index;
    *(leaf->order == 1 ? &sum->slope_factor : &sum->value_factor) = factor;
    return true;
}

/* Adds factor * e; false: it is something else, or deeper than two terms need be. */
static bool add_terms(const graph *g, expr e, double factor, int depth, two_terms *sum)
{
    enum { DEEPEST = 8 };
    const expr_node *node = graph_node(g, e);
    double c;
    if (++depth > DEEPEST) return false;
    switch ((expr_op)node->op) {
    case EXPR_VARIABLE: return add_leaf(node, factor, sum);
    case EXPR_NEG: return add_terms(g, node->a, -factor, depth, sum);
    case EXPR_ADD:
        return add_terms(g, node->a, factor, depth, sum) &&
               add_terms(g, node->b, factor, depth, sum);
    case EXPR_SUB:
        return add_terms(g, node->a, factor, depth, sum) &&
               add_terms(g, node->b, -factor, depth, sum);
    case EXPR_MUL:
        if (graph_is_constant(g, node->a, &c)) return add_terms(g, node->b, c * factor, depth, sum);
        return graph_is_constant(g, node->b, &c) && add_terms(g, node->a, c * factor, depth, sum);
    case EXPR_DIV:
        return graph_is_constant(g, node->b, &c) && c != 0.0 &&
               add_terms(g, node->a, factor / c, depth, sum);
    default: return false;
    }
}

bool kinematic_of_expression(const graph *g, expr row, kinematic_row *found)
{
    two_terms sum = {.slope = -1, .value = -1};
    if (!add_terms(g, row, 1.0, 0, &sum) || sum.slope < 0 || sum.value < 0) return false;
    if (sum.slope_factor == 0.0 || sum.slope_factor != -sum.value_factor) return false;
    found->unknown = sum.slope;
    found->velocity = sum.value;
    return sum.slope != sum.value;
}

/* ---- rows that callbacks promise ---- */

/* y_i' - y_j, or F_r, at the probes; ratio: at the second one over the first. */
typedef struct trace {
    double ratio;
    int which;
} trace;

enum { PROBES = 4 };

static int compare_traces(const void *a, const void *b)
{
    const trace *p = a, *q = b;
    if (p->ratio != q->ratio) return p->ratio < q->ratio ? -1 : 1;
    return (p->which > q->which) - (p->which < q->which);
}

/* Deterministic numbers in [-1, 1], nothing special about them. */
static double next_number(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (double)(*state >> 8) / 8388608.0 - 1.0;
}

/* F at a point around (t, y, y'): other slopes altogether, other values by `part` of their size. */
static eval_status probe(evaluator *eval, double t, const double *y, const double *yp, unsigned k,
                         double part, double *work, double *f)
{
    const dae_residual *form = &eval->problem->form;
    int n = form->n;
    double *py = work, *pyp = work + n;
    unsigned state = 2463u + 977u * k;
    for (int i = 0; i < n; i++) {
        py[i] = y[i] + part * fmax(1.0, fabs(y[i])) * next_number(&state);
        if (form->lower_bounds) py[i] = fmax(py[i], form->lower_bounds[i]);
        if (form->upper_bounds) py[i] = fmin(py[i], form->upper_bounds[i]);
        pyp[i] = yp[i] + fmax(1.0, fabs(yp[i])) * next_number(&state);
    }
    eval->stats->jacobian_residuals++;
    int code = form->f(t, py, pyp, f, form->user);
    return code == 0 ? EVAL_OK : (code < 0 ? EVAL_STOP : EVAL_RETRY);
}

/* The differences d_k = y'_i - y_j of the promised rows and F, at all probes. */
static eval_status probe_all(evaluator *eval, double t, const double *y, const double *yp,
                             int count, const kinematic_row *rows, double *work, double *d,
                             double *f)
{
    int n = eval->problem->form.n;
    for (unsigned k = 0; k < PROBES; k++) {
        double *fk = f + (size_t)k * (size_t)n, part = 0.125;
        eval_status status = EVAL_RETRY;
        for (int cut = 0; status == EVAL_RETRY && cut < 8; cut++, part *= 0.125)
            status = probe(eval, t, y, yp, k, part, work, fk);
        if (status != EVAL_OK) return status;
        for (int c = 0; c < count; c++)
            d[k * (unsigned)count + (unsigned)c] =
                work[n + rows[c].unknown] - work[rows[c].velocity];
    }
    return EVAL_OK;
}

/* F_r is a constant times d_c at all probes. */
static bool agrees(int n, const double *f, int r, int count, const double *d, int c)
{
    const double rounding = 1e-9; /* of y' and y behind differences of them */
    for (size_t k = 1; k < PROBES; k++) {
        double expected = f[r] / d[c] * d[k * (size_t)count + (size_t)c];
        if (!(fabs(f[k * (size_t)n + (size_t)r] - expected) <= rounding * fabs(expected)))
            return false;
    }
    return true;
}

/* Every promised row among the traces of F, sorted by their ratios. */
static int match_rows(int n, const double *f, const trace *sorted, int traces, int count,
                      const double *d, kinematic_row *rows)
{
    for (int c = 0; c < count; c++) {
        double ratio = d[count + c] / d[c], slack = 1e-8 * fabs(ratio);
        int low = 0, high = traces;
        while (low < high) {
            int middle = (low + high) / 2;
            if (sorted[middle].ratio < ratio - slack)
                low = middle + 1;
            else
                high = middle;
        }
        for (; rows[c].row < 0 && low < traces && sorted[low].ratio <= ratio + slack; low++)
            if (agrees(n, f, sorted[low].which, count, d, c)) rows[c].row = sorted[low].which;
        if (rows[c].row < 0) return c;
    }
    return -1;
}

eval_status kinematic_find(evaluator *eval, double t, const double *y, const double *yp, int count,
                           kinematic_row *rows, int *missing)
{
    int n = eval->problem->form.n, traces = 0;
    size_t size = (size_t)n, probes = PROBES;
    double *work = DAE_ARRAY(double, (2 + probes) * size + probes * (size_t)count);
    trace *sorted = DAE_ARRAY(trace, n);
    eval_status status = work && sorted ? EVAL_OK : EVAL_MEMORY;
    *missing = -1;
    if (status == EVAL_OK) {
        double *f = work + 2 * size, *d = f + probes * size;
        status = probe_all(eval, t, y, yp, count, rows, work, d, f);
        for (int r = 0; status == EVAL_OK && r < n; r++) {
            double ratio = f[n + r] / f[r];
            if (isfinite(ratio) && f[r] != 0.0) sorted[traces++] = (trace){ratio, r};
        }
        if (traces > 0) qsort(sorted, (size_t)traces, sizeof *sorted, compare_traces);
        if (status == EVAL_OK) *missing = match_rows(n, f, sorted, traces, count, d, rows);
    }
    dae_free_all(work, sorted);
    return status;
}
