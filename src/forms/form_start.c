/* Consistent initial values of mechanical, Hessenberg and quasilinear forms: positions on g = 0,
 * velocities on its derivative, multipliers from the next one. */
#include <float.h>
#include <math.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"
#include "forms/form_start.h"
#include "linalg/inertia.h"

/* ---- messages ---- */

dae_status start_exhausted(const start *s)
{
    return diag_set(s->diag, DAE_ERR_MEMORY, "Out of memory for initial values.");
}

static const char *name_constraint(const start *s, int i)
{
    int row = form_constraint_row(s->x->source) + i;
    const char *name = s->x->source->constraint_names[i];
    diag_equation(s->diag, row, name);
    if (s->diag) s->diag->t = s->t;
    return name;
}

const char *start_variable(const start *s, int i)
{
    const char *name = s->x->source->variable_names[i];
    diag_variable(s->diag, i, name);
    if (s->diag) s->diag->t = s->t;
    return name;
}

dae_status start_evaluation(const start *s, eval_status status)
{
    return evaluator_report(s->x->eval, status, s->diag);
}

/* "constraint a", or "constraints a, b and 3 more" */
static void list_constraints(const start *s, int m, const double *y)
{
    int count = 0, shown = 0;
    for (int i = 0; i < m; i++) count += fabs(y[i]) > 0.05;
    for (int i = 0; i < m && shown < 4; i++) {
        if (!(fabs(y[i]) > 0.05)) continue;
        diag_append(s->diag, "%s%s", shown == 0 ? "" : (shown == count - 1 ? " and " : ", "),
                    s->x->source->constraint_names[i]);
        shown++;
    }
    if (count > shown) diag_append(s->diag, " and %d more", count - shown);
}

/* The rows of G, or g_y, depend on each other: y tells how. */
static dae_status report_dependent(const start *s, const manifold *p, const double *y)
{
    int last = vector_argmax(p->m, y, NULL);
    for (int i = p->m - 1; i >= 0; i--)
        if (fabs(y[i]) > 0.05) {
            last = i; /* the last one is the one too many */
            break;
        }
    const char *name = name_constraint(s, last);
    if (p->row[last] == 0.0)
        return diag_set(s->diag, DAE_ERR_SINGULAR,
                        "Constraint %s does not depend on the positions at t = %.9g: its row of "
                        "the constraint matrix is zero, and no multiplier can enforce it.",
                        name, s->t);
    diag_set(s->diag, DAE_ERR_SINGULAR,
             "Constraint %s depends on others at t = %.9g: the gradients of ", name, s->t);
    list_constraints(s, p->m, y);
    diag_append(s->diag, " are linearly dependent, so that the multipliers are not unique. Leave "
                         "one of them out, or start away from a singular configuration.");
    return DAE_ERR_SINGULAR;
}

dae_status start_far(const start *s, const manifold *p, const char *what)
{
    const char *name = name_constraint(s, p->worst % s->x->source->constraints);
    if (s->diag) s->diag->value = p->misfit;
    diag_set(s->diag, DAE_ERR_INITIAL,
             "No initial values on the constraints were found near those given: %s %s cannot be "
             "met at t = %.9g (misfit %.3g in units of the tolerances).",
             what, name, s->t, p->misfit);
    if (s->tags)
        diag_append(s->diag, " Values tagged DAE_TAG_FIXED may contradict it.");
    else
        diag_append(s->diag, " Give values closer to it, and check that the constraints do not "
                             "contradict each other.");
    return DAE_ERR_INITIAL;
}

dae_status start_manifold(const start *s, const manifold *p, manifold_status status,
                          const char *what)
{
    switch (status) {
    case MANIFOLD_OK: return DAE_OK;
    case MANIFOLD_FAR: return start_far(s, p, what);
    case MANIFOLD_RETRY: return start_evaluation(s, EVAL_RETRY);
    case MANIFOLD_STOP: return start_evaluation(s, EVAL_STOP);
    case MANIFOLD_MEMORY: break;
    }
    return start_exhausted(s);
}

/* ---- sizes ---- */

/* Unknowns first .. first + count - 1 may move by their weights, within a thousand of each other
 * lest zeros count as sacred; fixed ones not at all. */
void start_sizes(const start *s, int first, int count)
{
    double most = 0.0;
    for (int i = first; i < first + count; i++) most = fmax(most, s->weights[i]);
    for (int i = first; i < first + count; i++) {
        s->size[i] = fmax(s->weights[i], 1e-3 * most);
        if (s->tags && s->tags[i] == DAE_TAG_FIXED) s->size[i] = 0.0;
    }
}

/* Rows that are dependent while all variables may move, too. */
dae_status start_independent(const start *s, manifold *p, const double *values, double *y)
{
    int constraint_count = p->m;
    const double *size = p->size;
    double *ones = DAE_ARRAY(double, p->n);
    if (!ones) return start_exhausted(s);
    for (int j = 0; j < p->n; j++) ones[j] = fmax(size[j], s->weights[j]);
    p->size = ones;
    manifold_status status = manifold_factor(p, values);
    bool dependent = status == MANIFOLD_OK && manifold_dependent(p, y);
    p->size = size;
    dae_free(ones);
    if (status != MANIFOLD_OK) return start_exhausted(s);
    return dependent && constraint_count > 0 ? report_dependent(s, p, y) : DAE_OK;
}

/* "g[1] cannot hold together with g[0]: .." */
static dae_status report_conflict(const start *s, const redundant_conflict *conflict)
{
    const char *name = name_constraint(s, conflict->row);
    int listed = 0;
    if (s->diag) s->diag->value = conflict->off;
    diag_set(s->diag, DAE_ERR_INITIAL, "These constraints cannot hold together: %s and", name);
    for (int i = 0; i < s->x->mechanical.nl; i++)
        if (conflict->with[i] && listed++ < 4)
            diag_append(s->diag, "%s %s", listed > 1 ? "," : "", s->x->source->constraint_names[i]);
    diag_append(s->diag,
                "%s. Their gradients depend on each other, and at t = %.9g%s %s is %.6g where the "
                "other%s zero. Correct one of them, or leave it out.",
                listed > 4 ? ", .." : "", conflict->t,
                conflict->on_rates ? " the time derivative of" : "", name, conflict->off,
                listed == 1 ? " is" : "s are");
    return DAE_ERR_INITIAL;
}

/* What the constraints say: how many are redundant (their number then is not zero), or an error. */
static dae_status search_redundant(const start *s, int *count)
{
    redundant_conflict conflict = {.with = DAE_ARRAY(bool, s->x->mechanical.nl)};
    *count = conflict.with ? form_redundant_find(s->x, s->t, s->y, &conflict) : -1;
    dae_status status = DAE_OK;
    if (*count < 0) status = start_exhausted(s);
    if (*count == 0 && conflict.row >= 0) status = report_conflict(s, &conflict);
    dae_free(conflict.with);
    return status;
}

dae_status start_redundant(const start *s, dae_status status)
{
    int count;
    dae_status found = search_redundant(s, &count);
    if (found != DAE_OK) return found;
    if (!s->x->releases) {
        form_redundant_free(s->x);
        diag_append(s->diag, " Where they follow from each other everywhere, methods for residual "
                             "forms without projection, such as bdf, find multipliers of least "
                             "norm.");
        return status;
    }
    if (count == 0) return status;
    if (s->diag) diag_clear(s->diag);
    return DAE_OK;
}

dae_status start_conflict(const start *s, dae_status status)
{
    int count;
    if (status != DAE_ERR_INITIAL) return status;
    dae_status found = search_redundant(s, &count);
    form_redundant_free(s->x);
    return found != DAE_OK ? found : status;
}

/* ---- mechanical ---- */

static eval_status position_jacobian(void *context, double t, const double *q, double *values)
{
    form_instance *x = context;
    const mechanical_form *m = &x->mechanical;
    return m->evaluate(x, t, q, x->mw.v, NULL, NULL, values, NULL, NULL);
}

static eval_status position_level(void *context, double t, const double *q, double *g)
{
    form_instance *x = context;
    return x->mechanical.g(x, t, q, g);
}

/* v on G v + g_t = 0: linear, repeated once for rounding */
static dae_status project_velocities(const start *s, manifold *p)
{
    form_instance *x = s->x;
    const mechanical_form *m = &x->mechanical;
    double *q = s->y, *v = q + m->nq, *c = x->mw.level;
    eval_status status = m->evaluate(x, s->t, q, v, NULL, NULL, p->A, x->mw.rate, NULL);
    if (status != EVAL_OK) return start_evaluation(s, status);
    p->size = s->size + m->nq;
    if (manifold_factor(p, p->A) != MANIFOLD_OK) return start_exhausted(s);
    for (int pass = 0; pass < 3; pass++) {
        vector_copy(m->nl, x->mw.rate, c);
        form_matrix_multiply(&m->G_matrix, p->A, 1.0, v, c);
        if (pass == 2) break;
        manifold_step(p, c, p->dx);
        vector_axpy(m->nq, 1.0, p->dx, v);
    }
    p->misfit = 0.0;
    for (int i = 0; i < m->nl; i++) {
        double scale = p->row[i] > 0.0 ? p->row[i] : 1e-8, size = fabs(c[i]) / scale;
        if (size > p->misfit) {
            p->misfit = size;
            p->worst = i;
        }
    }
    return p->misfit > 0.01 ? start_far(s, p, "the velocity level of constraint") : DAE_OK;
}

/* Dense [M G'; G 0] a, lambda = f, -curvature; sparse where both are. */
typedef struct saddle {
    int n, m;
    form_pattern pattern;
    form_matrix matrix;
    form_solver solver;
    double *values, *b;
    double *scale; /* of rows and columns: units of mass and of the constraints do not count */
    int *place;    /* of entry k of G' among the values */
} saddle;

enum { DENSE_SADDLE = 200 };

/* Columns of M above those of G; then those of G'. */
static bool saddle_pattern(saddle *p, const form_matrix *M, const form_matrix *G)
{
    int n = p->n, m = p->m;
    p->pattern.colptr = DAE_ARRAY(int, n + m + 1);
    p->pattern.rowind = DAE_ARRAY(int, M->count + 2 * G->count);
    p->place = DAE_ARRAY(int, G->count);
    int *next = DAE_ARRAY(int, m + 1);
    bool ok = p->pattern.colptr && p->pattern.rowind && p->place && next;
    for (int j = 0; ok && j < n; j++) {
        int at = p->pattern.colptr[j];
        for (int k = M->colptr[j]; k < M->colptr[j + 1]; k++)
            p->pattern.rowind[at++] = M->rowind[k];
        for (int k = G->colptr[j]; k < G->colptr[j + 1]; k++) {
            p->pattern.rowind[at++] = n + G->rowind[k];
            next[G->rowind[k]]++;
        }
        p->pattern.colptr[j + 1] = at;
    }
    for (int i = 0; ok && i < m; i++) {
        p->pattern.colptr[n + i + 1] = p->pattern.colptr[n + i] + next[i];
        next[i] = p->pattern.colptr[n + i];
    }
    for (int j = 0; ok && j < n; j++)
        for (int k = G->colptr[j]; k < G->colptr[j + 1]; k++) {
            p->place[k] = next[G->rowind[k]]++;
            p->pattern.rowind[p->place[k]] = j;
        }
    dae_free(next);
    p->matrix = form_matrix_on(n + m, n + m, p->pattern.colptr, p->pattern.rowind);
    return ok;
}

static bool saddle_new(saddle *p, const mechanical_form *f, bool dense)
{
    *p = (saddle){.n = f->nq, .m = f->nl};
    int size = p->n + p->m;
    bool sparse = f->M_matrix.colptr && f->G_matrix.colptr && size > DENSE_SADDLE && !dense;
    p->matrix = form_matrix_dense(size, size);
    if (sparse && !saddle_pattern(p, &f->M_matrix, &f->G_matrix)) return false;
    p->values = DAE_ARRAY(double, p->matrix.count);
    p->b = DAE_ARRAY(double, size);
    p->scale = DAE_ARRAY(double, size);
    return p->values && p->b && p->scale && form_solver_new(&p->solver, &p->matrix);
}

static void saddle_free(saddle *p)
{
    form_solver_free(&p->solver);
    dae_free(p->pattern.colptr);
    dae_free(p->pattern.rowind);
    dae_free(p->place);
    dae_free(p->values);
    dae_free(p->b);
    dae_free(p->scale);
}

static void saddle_fill_dense(saddle *p, const form_matrix *A, const double *values, int row,
                              bool transposed)
{
    size_t height = (size_t)(p->n + p->m);
    for (int j = 0; j < A->columns; j++) {
        size_t first;
        int count;
        form_matrix_column(A, j, &first, &count);
        for (int k = 0; k < count; k++) {
            size_t i = (size_t)(row + form_matrix_row(A, first, k));
            double value = values[first + (size_t)k];
            p->values[i + (size_t)j * height] = value;
            if (transposed) p->values[(size_t)j + i * height] = value;
        }
    }
}

static void saddle_fill_sparse(saddle *p, const mechanical_form *f, const double *M,
                               const double *G)
{
    for (int j = 0; j < p->n; j++) {
        int at = p->pattern.colptr[j];
        for (int k = f->M_matrix.colptr[j]; k < f->M_matrix.colptr[j + 1]; k++)
            p->values[at++] = M[k];
        for (int k = f->G_matrix.colptr[j]; k < f->G_matrix.colptr[j + 1]; k++) {
            p->values[at++] = G[k];
            p->values[p->place[k]] = G[k];
        }
    }
}

/* size_i = max_j |A_ij| */
static void row_sizes(const form_matrix *A, const double *values, double *size)
{
    vector_zero(A->rows, size);
    for (int j = 0; j < A->columns; j++) {
        size_t first;
        int count;
        form_matrix_column(A, j, &first, &count);
        for (int k = 0; k < count; k++) {
            int i = form_matrix_row(A, first, k);
            size[i] = fmax(size[i], fabs(values[first + (size_t)k]));
        }
    }
}

/* values := D values D, b := D b with D such that the largest entry of M and of each row of G is 1
 */
static void saddle_scale(saddle *p, const mechanical_form *f, const double *M, const double *G)
{
    double mass = 0.0, *row = p->scale + p->n;
    for (size_t k = 0; k < f->M_matrix.count; k++) mass = fmax(mass, fabs(M[k]));
    mass = mass > 0.0 ? sqrt(mass) : 1.0;
    for (int i = 0; i < p->n; i++) p->scale[i] = 1.0 / mass;
    row_sizes(&f->G_matrix, G, row);
    for (int i = 0; i < p->m; i++) row[i] = mass / (row[i] > 0.0 ? row[i] : 1.0);
    for (int j = 0; j < p->n + p->m; j++) {
        size_t first;
        int count;
        form_matrix_column(&p->matrix, j, &first, &count);
        for (int k = 0; k < count; k++)
            p->values[first + (size_t)k] *=
                p->scale[j] * p->scale[form_matrix_row(&p->matrix, first, k)];
        p->b[j] *= p->scale[j];
    }
}

/* lambda_l = sum c_i lambda_i in the place of the row of a redundant constraint; dense */
static void saddle_release(saddle *p, form_instance *x)
{
    const double *c = form_redundant_relations(x, x->mw.G);
    size_t height = (size_t)(p->n + p->m);
    for (int l = 0; l < p->m; l++) {
        if (!x->redundant[l]) continue;
        size_t row = (size_t)(p->n + l);
        for (size_t j = 0; j < height; j++) p->values[row + j * height] = 0.0;
        for (int i = 0; i < p->m; i++)
            p->values[row + (size_t)(p->n + i) * height] =
                (i == l ? -1.0 : c[l * p->m + i]) * p->scale[p->n + i] / p->scale[p->n + l];
        p->b[row] = 0.0;
    }
}

/* b = (a, lambda) at a point */
static eval_status saddle_solve(saddle *p, form_instance *x, double t, const double *q,
                                const double *v, bool *singular)
{
    const mechanical_form *f = &x->mechanical;
    mechanical_work *w = &x->mw;
    eval_status status = f->evaluate(x, t, q, v, w->M, w->f, p->m > 0 ? w->G : NULL, NULL,
                                     p->m > 0 ? w->curvature : NULL);
    if (status != EVAL_OK) return status;
    memset(p->values, 0, p->matrix.count * sizeof *p->values);
    if (p->matrix.colptr) {
        saddle_fill_sparse(p, f, w->M, w->G);
    } else {
        saddle_fill_dense(p, &f->M_matrix, w->M, 0, false);
        saddle_fill_dense(p, &f->G_matrix, w->G, p->n, true);
    }
    vector_copy(p->n, w->f, p->b);
    for (int i = 0; i < p->m; i++) p->b[p->n + i] = -w->curvature[i];
    saddle_scale(p, f, w->M, w->G);
    if (x->redundant) saddle_release(p, x);
    linear_solver *solver = p->solver.solver;
    *singular = linear_factor(solver, p->values) != LINEAR_OK;
    if (!*singular) linear_solve(solver, p->b);
    for (int i = 0; i < p->n + p->m; i++) p->b[i] *= p->scale[i];
    if (!*singular && !vector_finite(p->n + p->m, p->b)) *singular = true;
    if (!*singular && solver->ops->condition(solver) < 4.0 * DBL_EPSILON) *singular = true;
    return EVAL_OK;
}

/* [M G'; G 0] has no inverse although the rows of G are independent: a motion that the constraints
 * allow has no inertia. */
static dae_status report_saddle(const start *s, const saddle *p)
{
    int column = p->solver.solver->singular_column;
    if (column < 0 || column >= p->n) column = vector_argmax(p->n, p->b, NULL);
    const char *name = start_variable(s, column);
    return diag_set(s->diag, DAE_ERR_SINGULAR,
                    "The matrix [M G'; G 0] is singular at t = %.9g: the acceleration of %s is not "
                    "determined. The mass matrix must be regular on the motions that the "
                    "constraints allow; look for a massless body or a missing constraint.",
                    s->t, name);
}

/* lambda' by a difference along the solution; zero where that cannot be */
static void find_multiplier_slopes(const start *s, saddle *p)
{
    form_instance *x = s->x;
    const dae_mechanical *form = &x->source->as.m;
    int n = p->n;
    const double *q = s->y, *v = q + n, *lambda = v + n;
    double *slope = s->yp + 2 * n, *moved_q = x->mw.a, *moved_v = x->mw.v;
    double most = form->time_scale > 0.0 ? form->time_scale : 1.0;
    double step = 1e-6 * difference_scale(n, q, v, form->nominal, most);
    bool singular = false;
    vector_zero(p->m, slope);
    for (int i = 0; i < n; i++) {
        moved_q[i] = q[i] + step * v[i];
        moved_v[i] = v[i] + step * s->yp[n + i];
    }
    const eval_failure before = x->eval->failure;
    eval_status status = saddle_solve(p, x, s->t + step, moved_q, moved_v, &singular);
    for (int i = 0; status == EVAL_OK && !singular && i < p->m; i++)
        slope[i] = (p->b[n + i] - lambda[i]) / step;
    x->eval->failure = before;
}

/* A mass matrix in mw.M that is indefinite is no mass matrix; looked at where that is little work.
 */
dae_status start_masses(const start *s)
{
    enum { LARGEST = 200 };
    const form_instance *x = s->x;
    const form_matrix *m = &x->mechanical.M_matrix;
    int n = m->columns;
    if (n > LARGEST) return DAE_OK;
    double *A = DAE_ARRAY(double, (size_t)n *(size_t)n);
    if (!A) return start_exhausted(s);
    for (int j = 0; j < n; j++) {
        size_t first;
        int count;
        form_matrix_column(m, j, &first, &count);
        for (int e = 0; e < count; e++)
            A[form_matrix_row(m, first, e) + j * n] = x->mw.M[first + (size_t)e];
    }
    int bad = inertia_bad_pivot(n, A, false);
    dae_free(A);
    if (bad < 0) return DAE_OK;
    const char *name = start_variable(s, bad);
    return diag_set(s->diag, DAE_ERR_ARGUMENT,
                    "The mass matrix is indefinite at t = %.9g: elimination finds a negative mass "
                    "at %s. Masses must be positive, or zero where constraints make up for it; "
                    "look at the signs in `mass`, and whether the matrix is symmetric.",
                    s->t, name);
}

/* v', lambda, and lambda' */
static dae_status find_accelerations(const start *s)
{
    form_instance *x = s->x;
    int n = x->mechanical.nq, m = x->mechanical.nl;
    double *q = s->y, *v = q + n;
    saddle p;
    bool singular = false, ready = saddle_new(&p, &x->mechanical, x->redundant);
    eval_status status = ready ? saddle_solve(&p, x, s->t, q, v, &singular) : EVAL_MEMORY;
    dae_status result = DAE_OK;
    if (!ready)
        result = start_exhausted(s);
    else if (status != EVAL_OK)
        result = start_evaluation(s, status);
    else if (singular)
        result = report_saddle(s, &p);
    if (result == DAE_OK) result = start_masses(s);
    if (result == DAE_OK) {
        vector_copy(n, v, s->yp);
        vector_copy(n, p.b, s->yp + n);
        vector_copy(m, p.b + n, v + n);
        if (m > 0) find_multiplier_slopes(s, &p);
    }
    saddle_free(&p);
    return result;
}

static dae_status mechanical_start(const start *s)
{
    form_instance *x = s->x;
    const mechanical_form *f = &x->mechanical;
    start_sizes(s, 0, f->nq);
    start_sizes(s, f->nq, f->nq);
    vector_copy(f->nq, s->y + f->nq, x->mw.v);
    form_redundant_free(x);
    if (f->nl == 0) return find_accelerations(s);
    manifold p;
    if (!manifold_new(&p, &f->G_matrix, s->size)) {
        manifold_free(&p);
        return start_exhausted(s);
    }
    manifold_status moved = manifold_project(&p, position_level, position_jacobian, x, s->t, s->y);
    dae_status status = start_manifold(s, &p, moved, "constraint");
    if (status == DAE_OK) status = start_independent(s, &p, p.A, p.b);
    if (status == DAE_ERR_SINGULAR) status = start_redundant(s, status);
    if (status == DAE_OK) status = project_velocities(s, &p);
    status = start_conflict(s, status);
    manifold_free(&p);
    return status == DAE_OK ? find_accelerations(s) : status;
}

/* ---- Hessenberg ---- */

static eval_status hessenberg_level(void *context, double t, const double *y, double *g)
{
    form_instance *x = context;
    return x->hessenberg.g(x, t, y, g);
}

static eval_status hessenberg_jacobian(void *context, double t, const double *y, double *values)
{
    form_instance *x = context;
    return x->hessenberg.g_y(x, t, y, values);
}

/* H(z, u) = (g_y f + g_t, k) at fixed y: [BH93 (3.6)] gives z */
typedef struct closing {
    form_instance *x;
    const double *y;
    double *f, *g_t; /* ny; nz: g_t, with g_y in hw.values, found once; borrowed */
    form_matrix matrix;
    differencer difference;
} closing;

static eval_status closing_value(void *context, double t, const double *w, double *H)
{
    closing *c = context;
    const hessenberg_form *h = &c->x->hessenberg;
    eval_status status = h->f(c->x, t, c->y, w, w + h->nz, c->f);
    if (!status && h->nu > 0) status = h->k(c->x, t, c->y, w, w + h->nz, H + h->nz);
    if (status != EVAL_OK) return status;
    vector_copy(h->nz, c->g_t, H);
    form_matrix_multiply(&h->g_y_matrix, c->x->hw.values, 1.0, c->f, H);
    return EVAL_OK;
}

static eval_status closing_jacobian(void *context, double t, const double *w, double *values)
{
    closing *c = context;
    const double *nominal = c->x->source->as.h.nominal;
    return difference_matrix(&c->difference, &c->matrix, closing_value, c, t, w,
                             nominal ? nominal + c->x->hessenberg.ny : NULL, values);
}

static dae_status report_closing(const start *s, manifold *p, manifold_status moved)
{
    const hessenberg_form *h = &s->x->hessenberg;
    bool judged = moved == MANIFOLD_OK || moved == MANIFOLD_FAR;
    if (judged && manifold_dependent(p, p->dx)) {
        int worst = vector_argmax(p->m, p->dx, NULL);
        if (worst < h->nz) name_constraint(s, worst);
        return diag_set(s->diag, DAE_ERR_SINGULAR,
                        "%s is singular at t = %.9g, at %s %s: z and u are not determined there, "
                        "the index is above 2.",
                        h->nu > 0 ? "The derivative of (g_y f, k) by (z, u)" : "g_y f_z", s->t,
                        worst < h->nz ? "constraint" : "equation",
                        s->x->source->equation_names[h->ny + worst]);
    }
    if (moved != MANIFOLD_FAR) return start_manifold(s, p, moved, "constraint");
    return diag_set(s->diag, DAE_ERR_INITIAL,
                    "No z and u were found near those given for which g_y f + g_t = 0 and k = 0 "
                    "hold at t = %.9g: %s is farthest from it.",
                    s->t, s->x->source->equation_names[h->ny + p->worst]);
}

/* z and u at fixed y: square, so that the shortest step is Newton's. */
static dae_status find_multipliers(const start *s)
{
    form_instance *x = s->x;
    const hessenberg_form *h = &x->hessenberg;
    int n = h->nz + h->nu;
    /* y' of z has no other use yet */
    closing c = {
        .x = x, .y = s->y, .f = s->yp, .g_t = s->yp + h->ny, .matrix = form_matrix_dense(n, n)};
    eval_status eval = h->g_t(x, s->t, s->y, c.g_t);
    if (eval == EVAL_OK) eval = h->g_y(x, s->t, s->y, x->hw.values);
    if (eval != EVAL_OK) return start_evaluation(s, eval);
    manifold p = {0};
    bool ready = differencer_new(&c.difference, &c.matrix);
    ready = ready && manifold_new(&p, &c.matrix, s->size + h->ny);
    manifold_status moved = MANIFOLD_MEMORY;
    if (ready)
        moved = manifold_project(&p, closing_value, closing_jacobian, &c, s->t, s->y + h->ny);
    dae_status status = report_closing(s, &p, moved);
    manifold_free(&p);
    differencer_free(&c.difference);
    return status;
}

static dae_status hessenberg_start(const start *s)
{
    form_instance *x = s->x;
    const hessenberg_form *h = &x->hessenberg;
    start_sizes(s, 0, h->ny);
    start_sizes(s, h->ny, h->nz + h->nu);
    dae_status status = DAE_OK;
    if (h->nz > 0) {
        manifold p;
        if (!manifold_new(&p, &h->g_y_matrix, s->size)) {
            manifold_free(&p);
            return start_exhausted(s);
        }
        manifold_status moved =
            manifold_project(&p, hessenberg_level, hessenberg_jacobian, x, s->t, s->y);
        status = start_manifold(s, &p, moved, "constraint");
        if (status == DAE_OK) status = start_independent(s, &p, p.A, p.b);
        manifold_free(&p);
    }
    if (status == DAE_OK && h->nz + h->nu > 0) status = find_multipliers(s);
    if (status != DAE_OK) return status;
    vector_zero(x->source->n, s->yp);
    const double *z = s->y + h->ny;
    eval_status eval = h->f(x, s->t, s->y, z, z + h->nz, s->yp);
    return eval == EVAL_OK ? DAE_OK : start_evaluation(s, eval);
}

/* ---- quasilinear ---- */

static eval_status quasilinear_level(void *context, double t, const double *at, double *g)
{
    form_instance *x = context;
    return x->quasilinear.g(x, t, at, g);
}

static eval_status quasilinear_jacobian(void *context, double t, const double *at, double *values)
{
    form_instance *x = context;
    return x->quasilinear.g_x(x, t, at, values);
}

/* Whether x_j has a derivative: its column of E is not zero. */
static bool is_differential(const start *s, int j)
{
    size_t first;
    int count;
    form_matrix_column(&s->x->quasilinear.E_matrix, j, &first, &count);
    for (int k = 0; k < count; k++)
        if (s->x->qw.E[first + (size_t)k] != 0.0) return true;
    return false;
}

/* Who may move onto the constraints, from few to all. */
typedef enum movement {
    MOVE_ALGEBRAIC, /* unknowns without a derivative alone, */
    MOVE_UNMET,     /* and differential ones that are in no constraint which is met as it is, */
    MOVE_EASILY,    /* and all, algebraic ones at little cost, */
    MOVE_ALL,       /* and all alike */
    MOVEMENTS
} movement;

static const double EASY = 1e6; /* algebraic unknowns against differential ones */
static const double MET = 1e-2; /* of a tolerance: a constraint this far off is met */

/* kept[j]: x_j stands in a constraint that is met at s->y, beside no unknown without a derivative.
 */
static eval_status find_kept(const start *s, manifold *p, bool *kept)
{
    form_instance *x = s->x;
    const form_matrix *g = &x->quasilinear.g_x_matrix;
    eval_status status = quasilinear_level(x, s->t, s->y, p->c);
    if (status == EVAL_OK) status = quasilinear_jacobian(x, s->t, s->y, p->A);
    if (status != EVAL_OK) return status;
    if (manifold_factor(p, p->A) != MANIFOLD_OK) return EVAL_MEMORY;
    /* an entry may be zero here by chance, as 2 x at x = 0 */
    for (int j = 0; j < p->n; j++)
        p->moved[j] = s->y[j] + (0.1 + 0.01 * (j % 7)) * (1.0 + fabs(s->y[j]));
    status = quasilinear_jacobian(x, s->t, p->moved, p->scaled);
    if (status == EVAL_STOP) return status;
    for (int i = 0; i < p->m; i++) p->b[i] = fabs(p->c[i]) <= MET * p->row[i];
    for (int pass = 0; pass < 2; pass++)
        for (int j = 0; j < g->columns; j++) {
            size_t first;
            int count;
            bool differential = is_differential(s, j);
            form_matrix_column(g, j, &first, &count);
            for (int k = 0; k < count; k++) {
                double *met = &p->b[form_matrix_row(g, first, k)];
                size_t e = first + (size_t)k;
                if (p->A[e] == 0.0 && p->scaled[e] == 0.0) continue;
                if (pass == 0 && !differential) *met = 0.0;
                if (pass == 1 && *met != 0.0) kept[j] = true;
            }
        }
    return EVAL_OK;
}

/* Sizes for one movement; whether anything may move. */
static bool set_movement(const start *s, movement how, const bool *kept)
{
    int n = s->x->source->n;
    double most = 0.0;
    bool any = false;
    start_sizes(s, 0, n);
    for (int j = 0; j < n; j++) most = fmax(most, s->size[j]);
    for (int j = 0; j < n; j++) {
        bool differential = is_differential(s, j);
        bool stays = how == MOVE_ALGEBRAIC || (how == MOVE_UNMET && kept[j]);
        if (differential && stays) s->size[j] = 0.0;
        if (!differential && s->size[j] > 0.0 && how != MOVE_ALGEBRAIC && how != MOVE_ALL)
            s->size[j] = EASY * most;
        any = any || s->size[j] > 0.0;
    }
    return any;
}

/* x on 0 = g: by the algebraic unknowns alone, if that can be, else by as few others as serve:
 * positions that meet their constraint stay where velocities do not meet theirs. */
static dae_status project_quasilinear(const start *s)
{
    form_instance *x = s->x;
    int n = x->source->n;
    manifold p = {0};
    bool *kept = DAE_ARRAY(bool, n);
    double *given = dae_copy(s->y, (size_t)n, sizeof(double));
    bool ready = kept && given && manifold_new(&p, &x->quasilinear.g_x_matrix, s->size);
    dae_status status = ready ? DAE_OK : start_exhausted(s);
    eval_status eval = ready ? find_kept(s, &p, kept) : EVAL_OK;
    if (ready && (eval == EVAL_STOP || eval == EVAL_MEMORY)) status = start_evaluation(s, eval);
    manifold_status moved = MANIFOLD_FAR;
    for (int how = 0; status == DAE_OK && how < MOVEMENTS; how++) {
        if (moved != MANIFOLD_FAR && moved != MANIFOLD_RETRY) break;
        if (!set_movement(s, (movement)how, kept)) continue;
        vector_copy(n, given, s->y);
        moved = manifold_project(&p, quasilinear_level, quasilinear_jacobian, x, s->t, s->y);
    }
    if (status == DAE_OK) status = start_manifold(s, &p, moved, "constraint");
    start_sizes(s, 0, n);
    manifold_free(&p);
    dae_free(given);
    dae_free(kept);
    return status;
}

/* [E; g_x] in compressed columns. */
static bool stacked_pattern(form_pattern *p, const form_matrix *E, const form_matrix *g)
{
    p->colptr = DAE_ARRAY(int, E->columns + 1);
    p->rowind = DAE_ARRAY(int, E->count + g->count);
    if (!p->colptr || !p->rowind) return false;
    for (int j = 0; j < E->columns; j++) {
        const form_matrix *part[2] = {E, g};
        int at = p->colptr[j];
        for (int b = 0; b < 2; b++) {
            size_t first;
            int count;
            form_matrix_column(part[b], j, &first, &count);
            for (int k = 0; k < count; k++)
                p->rowind[at++] = (b ? E->rows : 0) + form_matrix_row(part[b], first, k);
        }
        p->colptr[j + 1] = at;
    }
    return true;
}

static void stacked_values(const form_matrix *E, const double *Ev, const form_matrix *g,
                           const double *gv, double *values)
{
    for (int j = 0; j < E->columns; j++) {
        size_t first;
        int count;
        form_matrix_column(E, j, &first, &count);
        for (int k = 0; k < count; k++) *values++ = Ev[first + (size_t)k];
        form_matrix_column(g, j, &first, &count);
        for (int k = 0; k < count; k++) *values++ = gv[first + (size_t)k];
    }
}

/* x' with [E; g_x] x' = [f; -g_t] in the sense of least squares; the shortest one if that does not
 * determine it. */
static dae_status find_slopes(const start *s)
{
    form_instance *x = s->x;
    const quasilinear_form *f = &x->quasilinear;
    quasilinear_work *w = &x->qw;
    eval_status eval = f->E(x, s->t, s->y, w->E);
    if (!eval) eval = f->f(x, s->t, s->y, w->f);
    if (!eval && f->ng > 0) eval = f->g_x(x, s->t, s->y, w->slope);
    if (!eval && f->ng > 0) eval = f->g_t(x, s->t, s->y, w->rate);
    if (eval != EVAL_OK) return start_evaluation(s, eval);
    form_pattern pattern = {0};
    manifold p = {0};
    double *c = DAE_ARRAY(double, f->ne + f->ng);
    bool ok = c && stacked_pattern(&pattern, &f->E_matrix, &f->g_x_matrix);
    form_matrix matrix = {0};
    if (ok) matrix = form_matrix_on(f->ne + f->ng, f->n, pattern.colptr, pattern.rowind);
    for (int j = 0; ok && j < f->n; j++) s->size[j] = w->nominal[j];
    ok = ok && manifold_new(&p, &matrix, s->size);
    if (ok) {
        stacked_values(&f->E_matrix, w->E, &f->g_x_matrix, w->slope, p.A);
        for (int i = 0; i < f->ne; i++) c[i] = -w->f[i];
        vector_copy(f->ng, w->rate, c + f->ne);
        ok = manifold_factor(&p, p.A) == MANIFOLD_OK;
        if (ok) manifold_step(&p, c, s->yp);
    }
    manifold_free(&p);
    dae_free(pattern.colptr);
    dae_free(pattern.rowind);
    dae_free(c);
    return ok ? DAE_OK : start_exhausted(s);
}

static dae_status quasilinear_start(const start *s)
{
    form_instance *x = s->x;
    start_sizes(s, 0, x->source->n);
    eval_status eval = x->quasilinear.E(x, s->t, s->y, x->qw.E);
    if (eval != EVAL_OK) return start_evaluation(s, eval);
    dae_status status = x->quasilinear.ng > 0 ? project_quasilinear(s) : DAE_OK;
    return status == DAE_OK ? find_slopes(s) : status;
}

dae_status form_consistent(form_instance *x, double t, const double *weights, const dae_tag *tags,
                           double *y, double *yp, dae_diag *diag)
{
    start s = {x, t, weights, tags, y, yp, DAE_ARRAY(double, x->source->n), diag};
    if (!s.size) return start_exhausted(&s);
    dae_status status = start_declared(&s);
    switch (status == DAE_OK ? x->source->kind : FORM_KINDS) {
    case KIND_MECHANICAL:
        status = x->source->full ? multibody_start(&s) : mechanical_start(&s);
        break;
    case KIND_HESSENBERG: status = hessenberg_start(&s); break;
    case KIND_QUASILINEAR: status = quasilinear_start(&s); break;
    case KIND_SECOND_ORDER: /* initialised as a residual form */
    case FORM_KINDS: break;
    }
    dae_free(s.size);
    return status;
}
