/* Contact: which of the surfaces R(q, s, t) = 0 determine the contact coordinates s, h = 0, and
 * which are constraints, g = 0; then G = g_q - g_s h_s^-1 h_q and s' = -h_s^-1 (h_q q' + h_t)
 * [Wun05 (1.18)]. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "expr/derive.h"
#include "linalg/least_squares.h"
#include "structure/mechanical/mechanical_parts.h"
#include "structure/rewrite/symbolic_solve.h"

/* ---- the surfaces ---- */

/* J: derivatives of the surfaces by q and s. */
static bool collect_surfaces(mechanical_search *s)
{
    gradient d = {0};
    bool ok = true;
    for (int r = 0; ok && r < s->nsurface; r++) {
        ok = derive_gradient(s->set->graph, s->row[s->surface[r]], &d);
        for (size_t k = 0; ok && k < d.count; k++) {
            int j = graph_node(s->set->graph, d.leaf[k])->index;
            int column = s->role[j] == ROLE_CONTACT ? s->m->nq + s->place[j] : s->place[j];
            ok = mechanical_add(&s->J, r, column, d.derivative[k]);
        }
    }
    gradient_free(&d);
    return ok;
}

static int variable_of(const mechanical_search *s, int column)
{
    return column < s->m->nq ? s->m->q[column] : s->m->contact[column - s->m->nq];
}

/* Work at a point: J dense by columns in sizes of the variables, and R. */
typedef struct surface_work {
    mechanical_matrix all; /* entries of J, then R; owned */
    expr_code code;        /* of these; owned */
    double *value;         /* their values; owned */
    double *J, *R;         /* owned */
    least_squares solver;
} surface_work;

static void surface_work_free(surface_work *w)
{
    dae_free_all(w->all.entry, w->value, w->J, w->R);
    if (w->code.tape) code_free(&w->code);
    least_squares_free(&w->solver);
}

static bool surface_work_new(surface_work *w, const mechanical_search *s)
{
    int rows = s->nsurface, columns = s->m->nq + s->m->ns, count = s->J.count + rows;
    *w = (surface_work){.value = DAE_ARRAY(double, count),
                        .J = DAE_ARRAY(double, (size_t)rows *(size_t)columns),
                        .R = DAE_ARRAY(double, rows + columns)};
    w->all.entry = DAE_ARRAY(mechanical_entry, count);
    w->all.count = count;
    if (!w->value || !w->J || !w->R || !w->all.entry) return false;
    for (int k = 0; k < s->J.count; k++) w->all.entry[k] = s->J.entry[k];
    for (int r = 0; r < rows; r++)
        w->all.entry[s->J.count + r] = (mechanical_entry){r, 0, s->row[s->surface[r]]};
    return mechanical_compile(s->set, &w->all, &w->code) &&
           least_squares_new(&w->solver, rows, columns);
}

/* J and R at x, rows of J of length 1 in sizes of the variables; 1, 0: not finite, -1: memory */
static int look(const mechanical_search *s, double time, const double *x, surface_work *w)
{
    const double *values[1] = {x};
    equation_point at = *s->at;
    s->m->looked = true;
    int rows = s->nsurface, columns = s->m->nq + s->m->ns;
    at.time = time;
    at.x = values;
    at.orders = 0;
    mechanical_run(&w->code, &at, w->value);
    memset(w->J, 0, (size_t)rows * (size_t)columns * sizeof *w->J);
    for (int k = 0; k < s->J.count; k++) {
        const mechanical_entry *e = &s->J.entry[k];
        w->J[e->row + e->column * rows] = w->value[k] * s->set->nominal[variable_of(s, e->column)];
    }
    for (int r = 0; r < rows; r++) {
        double length = 0.0;
        for (int j = 0; j < columns; j++) length = hypot(length, w->J[r + j * rows]);
        w->R[r] = w->value[s->J.count + r];
        if (!isfinite(length) || !isfinite(w->R[r])) return 0;
        if (length == 0.0) continue;
        w->R[r] /= length;
        for (int j = 0; j < columns; j++) w->J[r + j * rows] /= length;
    }
    return 1;
}

/* Gauss-Newton steps that are shortest in sizes of the variables. */
static int settle(const mechanical_search *s, double time, double *x, surface_work *w)
{
    enum { ITERATIONS = 30 };
    int rows = s->nsurface, columns = s->m->nq + s->m->ns;
    for (int k = 0; k < ITERATIONS; k++) {
        int seen = look(s, time, x, w);
        double most = 0.0;
        if (seen <= 0) return seen;
        for (int r = 0; r < rows; r++) most = fmax(most, fabs(w->R[r]));
        if (most <= 1e-12) return 1;
        if (!least_squares_solve(&w->solver, rows, columns, w->J, w->R, 1e-10)) return -1;
        for (int j = 0; j < columns; j++) {
            int variable = variable_of(s, j);
            x[variable] -= w->R[j] * s->set->nominal[variable];
        }
    }
    return 0;
}

int mechanical_settle(const mechanical_search *s, double time, double *x)
{
    surface_work w = {0};
    if (s->m->ns == 0) return 1;
    int reached = surface_work_new(&w, s) ? settle(s, time, x, &w) : -1;
    surface_work_free(&w);
    return reached;
}

/* ---- which determine s ---- */

/* A pivot below this, in rows of J of length 1, determines nothing. */
static const double LEAST = 1e-6;

/* The largest entry of A in rows and columns that are left; false: none is large enough. */
static bool next_pivot(const mechanical_search *s, const double *A, const bool *taken, int *row,
                       int *column)
{
    const mechanical *m = s->m;
    double most = LEAST;
    *row = -1;
    for (int j = 0; j < m->ns; j++)
        for (int r = 0; r < s->nsurface && m->contact_row[j] < 0; r++)
            if (!taken[r] && fabs(A[r + j * s->nsurface]) > most) {
                most = fabs(A[r + j * s->nsurface]);
                *row = r;
                *column = j;
            }
    return *row >= 0;
}

/* Complete pivots of A = R_s, by columns: contact_row[j] := the row of the pivot in column j.
 * Returns a column without one; -1: all have one. */
static int choose_rows(mechanical_search *s, double *A, bool *taken)
{
    mechanical *m = s->m;
    int rows = s->nsurface, row, column, open = 0;
    memset(taken, 0, (size_t)rows * sizeof *taken);
    for (int j = 0; j < m->ns; j++) m->contact_row[j] = -1;
    while (next_pivot(s, A, taken, &row, &column)) {
        taken[row] = true;
        m->contact_row[column] = s->surface[row];
        for (int r = 0; r < rows; r++) {
            double factor = taken[r] ? 0.0 : A[r + column * rows] / A[row + column * rows];
            for (int j = 0; factor != 0.0 && j < m->ns; j++)
                A[r + j * rows] -= factor * A[row + j * rows];
        }
    }
    while (open < m->ns && m->contact_row[open] >= 0) open++;
    return open < m->ns ? open : -1;
}

/* At the start, settled; if pivots vanish there, a little away. */
static mechanical_status choose(mechanical_search *s, double *x, bool *taken, surface_work *w)
{
    enum { TRIES = 3 };
    const mechanical *m = s->m;
    int open = 0;
    for (int k = 0; k < TRIES; k++) {
        for (int j = 0; j < s->set->n; j++) x[j] = s->at->x[0][j];
        for (int j = 0; j < m->nq + m->ns && k > 0; j++) {
            int variable = variable_of(s, j);
            x[variable] += 0.1 * k * s->set->nominal[variable] * (j % 2 ? -0.7 : 1.0);
        }
        int reached = settle(s, s->at->time, x, w);
        if (reached < 0) return MECHANICAL_MEMORY;
        if (reached == 0) continue;
        open = choose_rows(s, w->J + (size_t)s->nsurface * (size_t)m->nq, taken);
        if (open < 0) return MECHANICAL_OK;
    }
    return mechanical_refuse(s,
                             "%s and the other equations over positions and %s do not determine "
                             "it: their derivatives by it vanish, or depend on each other",
                             s->set->row[s->surface[0]].name, s->set->name[m->contact[open]]);
}

static void take_choice(mechanical_search *s, const bool *taken)
{
    mechanical *m = s->m;
    for (int r = 0; r < s->nsurface; r++) {
        int i = s->surface[r];
        s->use[i] = taken[r] ? USE_CONTACT : USE_CONSTRAINT;
        if (taken[r]) continue;
        m->g[m->nlambda] = s->row[i];
        m->constraint[m->nlambda++] = i;
    }
    for (int k = 0; k < m->ns; k++) m->h[k] = s->row[m->contact_row[k]];
}

static mechanical_status split(mechanical_search *s)
{
    surface_work w = {0};
    double *x = DAE_ARRAY(double, s->set->n);
    bool *taken = DAE_ARRAY(bool, s->nsurface);
    mechanical_status status = MECHANICAL_OK;
    bool ready = x && taken && (s->m->ns == 0 || surface_work_new(&w, s));
    if (!ready)
        status = MECHANICAL_MEMORY;
    else if (s->m->ns > 0)
        status = choose(s, x, taken, &w);
    if (status == MECHANICAL_OK) take_choice(s, taken);
    surface_work_free(&w);
    dae_free_all(x, taken);
    return status;
}

/* ---- gradients ---- */

static expr plus(graph *g, expr a, expr b)
{
    if (a == EXPR_NONE || b == EXPR_NONE) return a == EXPR_NONE ? b : a;
    return graph_binary(g, EXPR_ADD, a, b);
}

static expr times(graph *g, expr a, expr b)
{
    if (a == EXPR_NONE || b == EXPR_NONE) return EXPR_NONE;
    return graph_binary(g, EXPR_MUL, a, b);
}

/* X = h_s^-1 (h_q, h_t), ns x (nq + 1), by rows; EXPR_NONE for zeros. */
typedef struct contact_work {
    int columns;
    expr *dense; /* nsurface x (nq + ns + 1): derivatives of the surfaces by q, s and t; owned */
    expr *A, *X; /* owned */
} contact_work;

static bool contact_work_new(contact_work *w, const mechanical_search *s)
{
    const mechanical *m = s->m;
    size_t ns = (size_t)m->ns, width = (size_t)(m->nq + m->ns + 1);
    *w = (contact_work){.columns = m->nq + 1,
                        .dense = DAE_ARRAY(expr, (size_t)s->nsurface * width),
                        .A = DAE_ARRAY(expr, ns * ns),
                        .X = DAE_ARRAY(expr, ns * (size_t)(m->nq + 1))};
    if (!w->dense || !w->A || !w->X) return false;
    for (size_t k = 0; k < (size_t)s->nsurface * width; k++) w->dense[k] = EXPR_NONE;
    for (int k = 0; k < s->J.count; k++) {
        const mechanical_entry *e = &s->J.entry[k];
        w->dense[(size_t)e->row * width + (size_t)e->column] = e->value;
    }
    graph *g = s->set->graph;
    for (int r = 0; r < s->nsurface; r++) {
        expr by_t = derive_partial(g, s->row[s->surface[r]], graph_time(g));
        if (by_t == EXPR_NONE) return false;
        if (!graph_is_number(g, by_t, 0.0)) w->dense[((size_t)r + 1) * width - 1] = by_t;
    }
    return true;
}

static void contact_work_free(contact_work *w)
{
    dae_free_all(w->dense, w->A, w->X);
}

static int surface_of(const mechanical_search *s, int equation)
{
    int r = 0;
    while (s->surface[r] != equation) r++;
    return r;
}

/* X from h_s' h_s X = h_s' (h_q, h_t), whose pivots do not vanish where h_s is regular; a single
 * s needs none of this. */
static bool solve_contact(const mechanical_search *s, contact_work *w)
{
    const mechanical *m = s->m;
    graph *g = s->set->graph;
    int ns = m->ns, width = m->nq + ns + 1;
    for (int i = 0; i < ns; i++) {
        for (int j = 0; j < ns; j++) w->A[i * ns + j] = EXPR_NONE;
        for (int j = 0; j < w->columns; j++) w->X[i * w->columns + j] = EXPR_NONE;
        for (int k = 0; k < ns; k++) {
            const expr *h = w->dense + surface_of(s, m->contact_row[k]) * width;
            expr one = graph_constant(g, 1.0), by = ns == 1 ? one : h[m->nq + i];
            for (int j = 0; j < ns; j++) {
                expr *to = &w->A[i * ns + j];
                *to = plus(g, *to, times(g, by, h[m->nq + j]));
            }
            for (int j = 0; j < w->columns; j++) {
                expr *to = &w->X[i * w->columns + j];
                *to = plus(g, *to, times(g, by, h[j < m->nq ? j : width - 1]));
            }
        }
    }
    return symbolic_solve(g, ns, w->A, w->columns, w->X);
}

/* G_l = g_q - g_s X */
static bool add_gradient(mechanical_search *s, const contact_work *w, int l)
{
    mechanical *m = s->m;
    graph *g = s->set->graph;
    const expr *row = w->dense + surface_of(s, m->constraint[l]) * (m->nq + m->ns + 1);
    for (int j = 0; j < m->nq; j++) {
        expr e = row[j];
        for (int k = 0; k < m->ns; k++) {
            expr part = times(g, row[m->nq + k], w->X[k * w->columns + j]);
            if (part != EXPR_NONE) e = plus(g, e, graph_unary(g, EXPR_NEG, part));
        }
        if (e == EXPR_NONE || graph_is_number(g, e, 0.0)) continue;
        if (!mechanical_add(&m->G, l, j, e)) return false;
    }
    return true;
}

/* s_k' = -(X_k q' + X_kt) */
static void take_slope(mechanical_search *s, const contact_work *w, int k)
{
    mechanical *m = s->m;
    graph *g = s->set->graph;
    const expr *X = w->X + k * w->columns;
    expr sum = X[m->nq];
    for (int j = 0; j < m->nq; j++)
        sum = plus(g, sum, times(g, X[j], graph_variable(g, m->q[j], 1)));
    m->slope[k] = sum == EXPR_NONE ? graph_constant(g, 0.0) : graph_unary(g, EXPR_NEG, sum);
}

static bool total_gradients(mechanical_search *s)
{
    contact_work w = {0};
    bool ok = contact_work_new(&w, s) && solve_contact(s, &w);
    for (int l = 0; ok && l < s->m->nlambda; l++) ok = add_gradient(s, &w, l);
    for (int k = 0; ok && k < s->m->ns; k++) take_slope(s, &w, k);
    contact_work_free(&w);
    return ok && !graph_failed(s->set->graph);
}

/* Without contact: G is the derivative as it is. */
static bool plain_gradients(mechanical_search *s)
{
    bool ok = true;
    for (int k = 0; ok && k < s->J.count; k++) {
        const mechanical_entry *e = &s->J.entry[k];
        ok = mechanical_add(&s->m->G, e->row, e->column, e->value);
    }
    return ok;
}

/* Constraints on velocities, behind those on positions: G = dc/dv. */
static bool velocity_gradients(mechanical_search *s)
{
    mechanical *m = s->m;
    gradient d = {0};
    bool ok = true;
    for (int i = 0; ok && i < s->set->m; i++) {
        if (s->use[i] != USE_VELOCITY) continue;
        int l = m->nlambda++;
        m->nvelocity++;
        m->g[l] = s->row[i];
        m->constraint[l] = i;
        ok = derive_gradient(s->set->graph, s->row[i], &d);
        for (size_t k = 0; ok && k < d.count; k++) {
            const expr_node node = *graph_node(s->set->graph, d.leaf[k]);
            if (node.order == 1)
                ok = mechanical_add(&m->G, l, s->place[node.index], d.derivative[k]);
        }
    }
    gradient_free(&d);
    return ok;
}

mechanical_status mechanical_contact(mechanical_search *s)
{
    if (!collect_surfaces(s)) return MECHANICAL_MEMORY;
    mechanical_status status = split(s);
    if (status != MECHANICAL_OK) return status;
    bool ok = s->m->ns > 0 ? total_gradients(s) : plain_gradients(s);
    return ok && velocity_gradients(s) ? MECHANICAL_OK : MECHANICAL_MEMORY;
}
