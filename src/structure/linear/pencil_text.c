/* What a pencil means, in words; dependent equations and variables of singular ones. */
#include <math.h>

#include "base/memory.h"
#include "base/text.h"
#include "base/vector.h"
#include "structure/linear/pencil_parts.h"

/* Above this many coefficients dependent combinations are not looked for. */
enum { MOST_COEFFICIENTS = 600 };

/* T x = 0 for the coefficients x_0 .. x_degree of a null polynomial: A x_0 = 0,
 * A x_i + B x_{i-1} = 0, B x_degree = 0. T has (degree+2) n rows. */
static void toeplitz(int n, int degree, const double *A, const double *B, double *T)
{
    const int rows = (degree + 2) * n;
    vector_zero(rows * (degree + 1) * n, T);
    for (int k = 0; k <= degree; k++)
        for (int j = 0; j < n; j++) {
            double *column = T + (k * n + j) * rows + k * n;
            vector_copy(n, A + j * n, column);
            vector_copy(n, B + j * n, column + n);
        }
}

/* Gauss-Jordan on the columns of N (rows x columns) with complete pivoting: each column keeps one
 * pivot row for itself, which makes the columns sparse where the space allows it. */
static void sparsify(int rows, int columns, double *N)
{
    for (int c = 0; c < columns; c++) {
        int row = vector_argmax(rows, N + c * rows, NULL);
        const double pivot = N[row + c * rows];
        for (int k = 0; k < columns; k++)
            if (k != c && fabs(pivot) > 0.0)
                vector_axpy(rows, -N[row + k * rows] / pivot, N + c * rows, N + k * rows);
    }
}

/* Divide by the size of the largest entry, clear what rounding left, and make the first entry
 * positive; the number of entries. */
static int tidy(int rows, double *x)
{
    int count = 0;
    double sign = 1.0;
    const double most = fabs(x[vector_argmax(rows, x, NULL)]);
    for (int i = 0; i < rows; i++) {
        if (fabs(x[i]) <= 1e-9 * most) {
            x[i] = 0.0;
            continue;
        }
        if (count++ == 0) sign = x[i] < 0.0 ? -1.0 : 1.0;
        x[i] *= sign / most;
    }
    return count;
}

/* Undo the scaling of lines and time: x_k := diag(line) x_k / unit^k, unit = alpha/beta */
static void unscale(int n, int degree, const double *line, double unit, double *x)
{
    double power = 1.0;
    for (int k = 0; k <= degree; k++, power /= unit)
        for (int i = 0; i < n; i++) x[k * n + i] *= line[i] * power;
}

/* The sparsest of the tidied columns of N goes to `best`. */
static void pick(int rows, int columns, double *N, double *best)
{
    int fewest = rows + 1;
    for (int c = 0; c < columns; c++) {
        int count = tidy(rows, N + c * rows);
        if (count >= fewest) continue;
        fewest = count;
        vector_copy(rows, N + c * rows, best);
    }
}

/* A null polynomial of that degree of mu B + A, unscaled; *result stays NULL if there are too many
 * coefficients. False: memory. */
static bool null_polynomial(int n, int degree, const double *A, const double *B, const double *line,
                            double unit, double tolerance, double **result)
{
    const int rows = (degree + 2) * n, columns = (degree + 1) * n;
    if (rows > MOST_COEFFICIENTS) return true;
    rank_split split = {0};
    double *T = DAE_ARRAY(double, rows *columns), *best = DAE_ARRAY(double, columns);
    bool done = T && best;
    if (done) toeplitz(n, degree, A, B, T);
    done = done && rank_split_new(&split, rows, columns, T, tolerance, 0.0, NULL);
    if (done && split.rank < columns) {
        double *N = split.V + split.rank * columns;
        const int dimension = columns - split.rank;
        for (int c = 0; c < dimension; c++) unscale(n, degree, line, unit, N + c * columns);
        sparsify(columns, dimension, N);
        pick(columns, dimension, N, best);
        *result = best;
        best = NULL;
    }
    rank_split_free(&split);
    dae_free_all(T, best);
    return done;
}

bool pencil_polynomials(pencil *p, const scaled_pencil *s, double tolerance)
{
    const int n = p->n;
    const double unit = s->alpha / s->beta;
    bool done = true;
    if (p->column_count > 0)
        done = null_polynomial(n, p->column_index[0], s->A, s->B, s->column, unit, tolerance,
                               &p->column_polynomial);
    if (!done || p->row_count == 0) return done;
    double *A = DAE_ARRAY(double, n *n), *B = DAE_ARRAY(double, n *n);
    done = A && B;
    if (done) {
        dense_transpose(n, n, s->A, A);
        dense_transpose(n, n, s->B, B);
        done =
            null_polynomial(n, p->row_index[0], A, B, s->row, unit, tolerance, &p->row_polynomial);
    }
    dae_free_all(A, B);
    return done;
}

static void put_name(text_writer *w, const char *const *names, const char *letter, int i)
{
    if (names && names[i])
        text_put(w, "%s", names[i]);
    else
        text_put(w, "%s[%d]", letter, i);
}

/* " - 0.5 " before a term, or the leading sign. */
static void put_factor(text_writer *w, double factor, bool first)
{
    if (factor < 0.0)
        text_put(w, first ? "-" : " - ");
    else if (!first)
        text_put(w, " + ");
    if (fabs(fabs(factor) - 1.0) > 1e-9) text_put(w, "%.6g ", fabs(factor));
}

static void put_derivative(text_writer *w, int order)
{
    if (order == 1)
        text_put(w, "d/dt ");
    else if (order > 1)
        text_put(w, "d^%d/dt^%d ", order, order);
}

/* The combination of equations and their derivatives that vanishes. */
static void put_rows(text_writer *w, const pencil *p, const char *const *equations)
{
    bool first = true;
    text_put(w, " The equations are dependent: ");
    for (int k = 0; k <= p->row_index[0]; k++)
        for (int i = 0; i < p->n; i++) {
            const double factor = p->row_polynomial[k * p->n + i];
            if (fabs(factor) <= 0.0) continue;
            put_factor(w, factor, first);
            put_derivative(w, k);
            put_name(w, equations, "F", i);
            first = false;
        }
    text_put(w,
             " contains no variable, so that the right-hand sides must satisfy the same relation.");
    if (p->row_count > 1) text_put(w, " There are %d such relations in all.", p->row_count);
}

/* One variable of the homogeneous solution with a free function phi. */
static void put_free_variable(text_writer *w, const pencil *p, const char *const *variables, int j)
{
    bool first = true;
    put_name(w, variables, "u", j);
    text_put(w, " = ");
    for (int k = 0; k <= p->column_index[0]; k++) {
        const double factor = p->column_polynomial[k * p->n + j];
        if (fabs(factor) <= 0.0) continue;
        put_factor(w, factor, first);
        put_derivative(w, k);
        text_put(w, "phi");
        first = false;
    }
}

static bool occurs(const pencil *p, int j)
{
    for (int k = 0; k <= p->column_index[0]; k++)
        if (fabs(p->column_polynomial[k * p->n + j]) > 0.0) return true;
    return false;
}

static void put_columns(text_writer *w, const pencil *p, const char *const *variables)
{
    bool first = true;
    text_put(w, " The variables are not determined: with any function phi(t), ");
    for (int j = 0; j < p->n; j++) {
        if (!occurs(p, j)) continue;
        if (!first) text_put(w, ", ");
        put_free_variable(w, p, variables, j);
        first = false;
    }
    text_put(w, " can be added to a solution.");
    if (p->column_count > 1)
        text_put(w, " There are %d such free functions in all.", p->column_count);
}

static void put_eigenvalues(text_writer *w, const pencil *p)
{
    double most = -INFINITY;
    for (int j = 0; j < p->finite; j++) most = fmax(most, p->re[j]);
    text_put(w,
             " %d degree%s of freedom; the largest real part of an eigenvalue is %.6g: ", p->finite,
             p->finite == 1 ? "" : "s", most);
    switch (p->stability) {
    case PENCIL_ASYMPTOTICALLY_STABLE: text_put(w, "asymptotically stable."); break;
    case PENCIL_STABLE: text_put(w, "stable, not asymptotically."); break;
    default: text_put(w, most > 0.0 ? "unstable." : "unstable, or too close to tell."); break;
    }
}

void pencil_text(const pencil *p, const char *const *variables, const char *const *equations,
                 char *text, size_t size)
{
    text_writer w = {.text = text, .size = size};
    if (size > 0) text[0] = '\0';
    if (p->regular) {
        text_put(&w, "The pencil is regular of index %d; the rank of B is %d of %d.", p->index,
                 p->rank_b, p->n);
        if (p->finite > 0)
            put_eigenvalues(&w, p);
        else
            text_put(&w, " No degree of freedom: d(t) determines the solution.");
        return;
    }
    text_put(&w, "The pencil is singular: lambda B + A has rank %d of %d at most, whatever lambda.",
             p->normal_rank, p->n);
    if (p->row_polynomial) put_rows(&w, p, equations);
    if (p->column_polynomial) put_columns(&w, p, variables);
}
