/* Consistent initial values of the mechanical form: q on 0 = g, v on its derivative, then v' and
 * lambda from [M G'; G 0]. */
#include <float.h>
#include <math.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"
#include "init/forms_parts.h"
#include "linalg/inertia.h"

static eval_status position_jacobian(void *context, double t, const double *q, double *values)
{
    form_instance *x = context;
    const mechanical_form *m = &x->mechanical;
    return m->evaluate(x, t, q, x->mw.v, NULL, NULL, values, NULL, NULL);
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
    dae_free_all(p->pattern.colptr, p->pattern.rowind, p->place, p->values, p->b, p->scale);
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

dae_status mechanical_start(const start *s)
{
    form_instance *x = s->x;
    const mechanical_form *f = &x->mechanical;
    start_sizes(s, 0, f->nq);
    start_sizes(s, f->nq, f->nq);
    vector_copy(f->nq, s->y + f->nq, x->mw.v);
    form_redundant_free(x);
    if (f->nl == 0) return find_accelerations(s);
    manifold p;
    const start_part positions = {&f->G_matrix, start_positions, position_jacobian, 0,
                                  "constraint"};
    dae_status status = start_project(s, &positions, &p);
    if (status == DAE_OK) status = start_independent(s, &p, p.A, p.b);
    if (status == DAE_ERR_SINGULAR) status = start_redundant(s, status);
    if (status == DAE_OK) status = project_velocities(s, &p);
    status = start_conflict(s, status);
    manifold_free(&p);
    return status == DAE_OK ? find_accelerations(s) : status;
}
