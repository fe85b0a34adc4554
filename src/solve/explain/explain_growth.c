/* Solutions that grow without bound, most often by a sign: which variable, how fast, and by which
 * equations. What the last step failed with is a consequence and comes last. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"
#include "model/definition_names.h"
#include "model/model_structure.h"
#include "solve/explain/explain.h"
#include "structure/linear/growth.h"

/* A variable that is so many times its size at the start has grown. It is the cause of a failure if
 * it is on the way to overflow, or if its rate is so many times the mean one, which no exponential
 * does; else a run may end for another reason while something grows. Larger systems are not
 * analysed. */
static const double GROWN = 1e6, OVERFLOWS = 1e100, FASTER = 20.0;
enum { LARGEST_MATRIX = 250 };

typedef struct growing {
    int n;
    double *y, *yp, *A, *B, *packed; /* owned */
} growing;

static void growing_free(growing *g)
{
    dae_free_all(g->y, g->yp, g->A, g->B, g->packed);
}

static void unpack(const matrix_layout *layout, const double *values, double *full)
{
    vector_zero(layout->n * layout->n, full);
    for (int j = 0; j < layout->n; j++) {
        matrix_column column = layout_column(layout, j);
        for (int k = 0; k < column.count; k++)
            full[column_row(&column, k) + j * layout->n] = values[column.first + (size_t)k];
    }
}

static void divide_row(int n, int i, double by, double *A, double *B)
{
    for (int j = 0; by > 0.0 && j < n; j++) A[i + j * n] /= by, B[i + j * n] /= by;
}

static double largest_of_row(int n, int i, const double *A, const double *B)
{
    double most = 0.0;
    for (int j = 0; j < n; j++) most = fmax(most, fmax(fabs(A[i + j * n]), fabs(B[i + j * n])));
    return most;
}

/* Equations of size 1, in variables of size 1: where one variable is 1e300 and another 1e77, that
 * is all that eigenvalues are found by. */
static void equilibrate(const dae_solver *s, growing *g)
{
    int n = g->n;
    for (int i = 0; i < n; i++) divide_row(n, i, largest_of_row(n, i, g->A, g->B), g->A, g->B);
    for (int j = 0; j < n; j++) {
        double size = fmax(fabs(g->y[j]), s->bound.norm.weights[j]);
        if (!isfinite(size)) size = 1.0;
        for (int i = 0; i < n; i++) g->A[i + j * n] *= size, g->B[i + j * n] *= size;
    }
    for (int i = 0; i < n; i++) divide_row(n, i, largest_of_row(n, i, g->A, g->B), g->A, g->B);
}

/* Values and matrices where the run has come to; false: memory, or they are not finite. */
static bool growing_new(growing *g, dae_solver *s)
{
    const dae_problem *p = s->bound.problem;
    size_t count = p->layout.count;
    int n = s->bound.n;
    *g = (growing){n,
                   DAE_ARRAY(double, n),
                   DAE_ARRAY(double, n),
                   DAE_ARRAY(double, n *n),
                   DAE_ARRAY(double, n *n),
                   DAE_ARRAY(double, 2 * count)};
    if (!g->y || !g->yp || !g->A || !g->B || !g->packed) return false;
    for (int k = 0; k < 3; k++) { /* near overflow the end of the last step may be too far */
        solver_interpolate(s, s->run.t_new - 0.5 * k * (s->run.t_new - s->run.t_old), 0, g->y);
        if (vector_finite(n, g->y)) break;
    }
    solver_interpolate(s, s->run.t_new, 1, g->yp);
    if (!vector_finite(n, g->yp)) vector_zero(n, g->yp);
    if (!vector_finite(n, g->y)) return false;
    if (evaluate_jacobian(&s->bound.eval, &p->layout, s->run.t_new, g->y, g->yp, g->packed,
                          g->packed + count) != EVAL_OK)
        return false;
    unpack(&p->layout, g->packed, g->A);
    unpack(&p->layout, g->packed + count, g->B);
    equilibrate(s, g);
    return vector_finite(n * n, g->A) && vector_finite(n * n, g->B);
}

/* How many times its size at the start variable i is; sizes are at least what the absolute
 * tolerance is for. (That is not read from a weight: beside a large |y_i| rounding has taken it.)
 */
static double grown(const dae_solver *s, const double *y, int i)
{
    double size = norm_size(&s->bound.norm, i, s->hybrid->start[i], INFINITY);
    return fabs(y[i]) / (size > 0.0 ? size : 1.0);
}

static int fastest_grown(const dae_solver *s, const growing *g)
{
    int best = -1;
    for (int i = 0; i < g->n; i++)
        if (s->bound.kinds[i] == DAE_KIND_DIFFERENTIAL &&
            (best < 0 || grown(s, g->y, i) > grown(s, g->y, best)))
            best = i;
    return best;
}

/* The member of the loop that has grown most, a differential one. */
static int named(const dae_solver *s, const growing *g, const growth *mode, int otherwise)
{
    int best = -1;
    for (int k = 0; k < mode->loop; k++) {
        int i = mode->variable[k];
        bool differential = s->bound.kinds[i] == DAE_KIND_DIFFERENTIAL;
        if (differential && (best < 0 || grown(s, g->y, i) > grown(s, g->y, best))) best = i;
    }
    return best >= 0 ? best : otherwise;
}

/* The mean rate of what has grown by a factor since the start. */
static double mean_rate(const dae_solver *s, double factor)
{
    return log(factor) / fabs(s->run.t_new - s->hybrid->started);
}

/* ", by a factor e every 0.01 s", or faster */
static void append_pace(dae_solver *s, const growth *mode, double factor)
{
    double mean = mean_rate(s, factor);
    bool steady = mode->rate > 0.5 * mean && mode->rate < 2.0 * mean;
    if (mode->rate > FASTER * mean)
        diag_append(&s->diag, ", faster than any exponential: there is a singularity near t = %.6g",
                    s->run.t_new);
    else
        diag_append(&s->diag, ", by a factor e every %.3g s%s", 1.0 / (steady ? mode->rate : mean),
                    mode->frequency > mode->rate ? ", in oscillations" : "");
}

typedef struct loop_scan {
    const dae_solver *s;
    const growth *mode;
    bool *through; /* per flat variable: a definition that depends on the loop */
    bool found;
} loop_scan;

/* Whether a leaf of a definition is a variable of the loop, or a definition that is made of one. */
static void note_loop(void *context, const expr_node *leaf)
{
    loop_scan *scan = context;
    const model_form *f = scan->s->base->model;
    if (leaf->op != EXPR_VARIABLE) return;
    int top = f->alias[leaf->index].top;
    const char *name = f->flat->variables[top].name;
    if (scan->through[top]) scan->found = true;
    for (int k = 0; k < scan->mode->loop; k++)
        if (!strcmp(name, problem_variable(scan->s->bound.problem, scan->mode->variable[k])))
            scan->found = true;
}

/* ", F in equation 2 (m.mo:5)": definitions by which variables of the loop enter an equation */
static void append_definitions(dae_solver *s, const growth *mode, int row)
{
    const model_form *f = s->base->model;
    const flat_model *m = f->flat;
    int at = model_flat_equation(s->hybrid->instance->form, row);
    bool *uses = DAE_ARRAY(bool, 2 * m->variable_count);
    loop_scan scan = {s, mode, uses ? uses + m->variable_count : NULL, false};
    bool ok = uses && at >= 0 && model_definitions_of(f, at, uses);
    for (int k = 0; ok && k < f->definition_count; k++) {
        int v = f->evaluated[k];
        scan.found = false;
        ok = !uses[v] || graph_leaves(m->graph, &f->alias[v].value, 1, note_loop, &scan);
        if (!ok || !scan.found) continue;
        char *name = flat_equation_name(m, &m->equations[f->alias[v].equation]);
        scan.through[v] = true;
        diag_append(&s->diag, ", %s in %s", m->variables[v].name, name ? name : "?");
        dae_free(name);
    }
    dae_free(uses);
}

/* "The loop equation 3 (m.mo:9), .. drives it" */
static void append_loop(dae_solver *s, const growth *mode, const char *name)
{
    if (mode->loop == 0) return;
    const char *first = problem_equation(s->bound.problem, mode->equation[0]);
    if (mode->loop == 1 && strcmp(first, name) == 0) {
        diag_append(&s->diag, " It raises its own derivative: is a sign wrong there?");
        return;
    }
    if (mode->loop == 1) {
        diag_append(&s->diag, " By %s it raises its own derivative: is a sign wrong there?", first);
        return;
    }
    diag_append(&s->diag, " A loop feeds it:");
    for (int k = 0; k < mode->loop; k++) {
        diag_append(&s->diag, "%s %s in %s", k ? "," : "",
                    problem_variable(s->bound.problem, mode->variable[k]),
                    problem_equation(s->bound.problem, mode->equation[k]));
        append_definitions(s, mode, mode->equation[k]);
    }
    diag_append(&s->diag, ". Is a sign wrong there?");
}

static void tell_growth(dae_solver *s, const growing *g, const growth *mode, int grows,
                        dae_status status)
{
    const char *name = problem_variable(s->bound.problem, grows);
    double factor = grown(s, g->y, grows);
    diag_set(&s->diag, status, "Variable %s grows without bound: %.3g at t = %.6g", name,
             g->y[grows], s->run.t_new);
    append_pace(s, mode, factor);
    diag_append(&s->diag, ".");
    diag_variable(&s->diag, grows, name);
    append_loop(s, mode, name);
    int equation = mode->loop > 0 ? mode->equation[0] : -1;
    for (int k = 0; k < mode->loop; k++)
        if (mode->variable[k] == grows) equation = mode->equation[k];
    if (equation >= 0) {
        diag_equation(&s->diag, equation, problem_equation(s->bound.problem, equation));
        s->diag.line = 0; /* that of the equation */
    }
    if (s->diag.h != 0.0)
        diag_append(&s->diag, " The run ends there, with steps of h = %.3g.", s->diag.h);
}

static bool is_cause(const dae_solver *s, const growing *g, const growth *mode, int from)
{
    return fabs(g->y[from]) > OVERFLOWS || mode->rate > FASTER * mean_rate(s, grown(s, g->y, from));
}

dae_status explain_growth(dae_solver *s, dae_status status)
{
    bool fits = s->hybrid && s->bound.n <= LARGEST_MATRIX && s->bound.problem->form.jacobian &&
                s->bound.problem->has_layout && s->run.t_new != s->hybrid->started &&
                s->hybrid->start;
    growing g = {0};
    growth mode;
    if (!fits) return status;
    if (growing_new(&g, s)) {
        int from = fastest_grown(s, &g);
        bool far = from >= 0 && grown(s, g.y, from) > GROWN;
        if (far && growth_find(g.n, g.A, g.B, from, &mode) && mode.found &&
            is_cause(s, &g, &mode, from))
            tell_growth(s, &g, &mode, named(s, &g, &mode, from), status);
    }
    growing_free(&g);
    return status;
}
