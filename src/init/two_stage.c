/* Corrections that leave guesses alone wherever free values can do the work.
 *
 * Among the least squares solutions of [Af Ag] (xf, xg) = r the shortest xg is taken, and with it
 * the shortest xf: with the QR factorisation Af = Q R, of rank k, the last rows of Q'(r - Ag xg) do
 * not involve xf and determine xg; xf follows. One weighted norm for both would need weights so far
 * apart that the rank could not be decided any more. */

#include "base/memory.h"
#include "base/vector.h"
#include "init/workspace.h"
#include "linalg/lapack.h"

struct two_stage {
    double *factor, *tau, *work; /* QR of Af */
    double *rest, *rhs;          /* rows below the rank of Af; right-hand side */
    int *pivots;
    int work_size;
    least_squares solver;
};

static int larger(int a, int b)
{
    return a > b ? a : b;
}

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

/* Optimal work space of the two factorisation calls. */
static int query_work(int rows, int columns)
{
    double best = 0.0, second = 0.0, none = 0.0;
    int pivot = 0;
    LAPACKE_dgeqp3_work(LAPACK_COL_MAJOR, rows, columns, &none, rows, &pivot, &none, &best, -1);
    LAPACKE_dormqr_work(LAPACK_COL_MAJOR, 'L', 'T', rows, columns, smaller(rows, columns), &none,
                        rows, &none, &none, rows, &second, -1);
    return larger(larger((int)best, (int)second), larger(3 * columns + 1, rows + columns));
}

two_stage *two_stage_new(int rows, int columns)
{
    two_stage *s = DAE_NEW(two_stage);
    if (!s) return NULL;
    size_t m = (size_t)rows, n = (size_t)columns;
    s->work_size = query_work(rows, columns);
    s->factor = DAE_ARRAY(double, m *n);
    s->rest = DAE_ARRAY(double, m *n);
    s->rhs = DAE_ARRAY(double, m + n);
    s->tau = DAE_ARRAY(double, n);
    s->work = DAE_ARRAY(double, s->work_size);
    s->pivots = DAE_ARRAY(int, n);
    bool ok = least_squares_new(&s->solver, rows, columns);
    if (ok && s->factor && s->rest && s->rhs && s->tau && s->work && s->pivots) return s;
    two_stage_free(s);
    return NULL;
}

void two_stage_free(two_stage *s)
{
    if (!s) return;
    least_squares_free(&s->solver);
    dae_free(s->factor);
    dae_free(s->rest);
    dae_free(s->rhs);
    dae_free(s->tau);
    dae_free(s->work);
    dae_free(s->pivots);
    dae_free(s);
}

static double column_norm(int count, const double *x)
{
    double sum = 0.0;
    for (int i = 0; i < count; i++) sum += x[i] * x[i];
    return sqrt(sum);
}

/* QR of the `count` leading columns, normalised so that units do not decide the rank; the rank. */
static int factor_free(two_stage *s, int rows, int count, const double *A, double rcond)
{
    for (int j = 0; j < count; j++) {
        const double *from = A + (size_t)j * (size_t)rows;
        double *to = s->factor + (size_t)j * (size_t)rows;
        double norm = column_norm(rows, from);
        for (int i = 0; i < rows; i++) to[i] = norm > 0.0 ? from[i] / norm : 0.0;
        s->pivots[j] = 0;
    }
    lapack_enter();
    LAPACKE_dgeqp3_work(LAPACK_COL_MAJOR, rows, count, s->factor, rows, s->pivots, s->tau, s->work,
                        s->work_size);
    lapack_leave();
    int rank = 0, most = smaller(rows, count);
    double first = fabs(s->factor[0]);
    while (rank < most &&
           fabs(s->factor[(size_t)rank * (size_t)rows + (size_t)rank]) > rcond * first)
        rank++;
    return rank;
}

/* b := Q' b for `count` columns, Q from the first `rank` reflections */
static void apply_q(two_stage *s, int rows, int rank, int count, double *b)
{
    lapack_enter();
    LAPACKE_dormqr_work(LAPACK_COL_MAJOR, 'L', 'T', rows, count, rank, s->factor, rows, s->tau, b,
                        rows, s->work, s->work_size);
    lapack_leave();
}

/* Keep the rows below the rank. Columns that are but rounding errors there become 0. Returns the
 * largest norm of a column, *before that of the whole columns. */
static double keep_rest(two_stage *s, int rows, int rank, int count, double rcond, double *before)
{
    int kept = rows - rank;
    double most = 0.0;
    *before = 0.0;
    for (int j = 0; j < count; j++) {
        const double *from = s->rest + (size_t)j * (size_t)rows;
        double whole = column_norm(rows, from), norm = column_norm(kept, from + rank);
        double *to = s->rest + (size_t)j * (size_t)kept;
        memmove(to, from + rank, (size_t)kept * sizeof *to);
        if (norm <= rcond * whole) vector_zero(kept, to);
        most = fmax(most, norm <= rcond * whole ? 0.0 : norm);
        *before = fmax(*before, whole);
    }
    return most;
}

/* The shortest xg; into x */
static bool solve_guesses(two_stage *s, int rows, int free, int guesses, const double *A,
                          const double *r, double rcond, double *x)
{
    int rank = factor_free(s, rows, free, A, rcond), kept = rows - rank;
    const double *Ag = A + (size_t)free * (size_t)rows;
    vector_zero(guesses, x);
    if (kept == 0) return true;
    memcpy(s->rest, Ag, (size_t)guesses * (size_t)rows * sizeof *Ag);
    vector_copy(rows, r, s->rhs);
    apply_q(s, rows, rank, guesses, s->rest);
    apply_q(s, rows, rank, 1, s->rhs);
    double before, most = keep_rest(s, rows, rank, guesses, rcond, &before);
    if (most == 0.0) return true;
    memmove(s->rhs, s->rhs + rank, (size_t)kept * sizeof *s->rhs);
    for (int i = kept; i < guesses; i++) s->rhs[i] = 0.0;
    bool ok = least_squares_solve(&s->solver, kept, guesses, s->rest, s->rhs,
                                  fmin(0.1, rcond * before / most));
    if (ok) vector_copy(guesses, s->rhs, x);
    return ok;
}

bool two_stage_solve(two_stage *s, int rows, int free, int guesses, double *A, const double *r,
                     double rcond, double *x)
{
    vector_zero(free + guesses, x);
    if (rows == 0) return true;
    if (free == 0 || guesses == 0) {
        int count = free + guesses;
        vector_copy(rows, r, s->rhs);
        for (int i = rows; i < count; i++) s->rhs[i] = 0.0;
        bool ok = least_squares_solve(&s->solver, rows, count, A, s->rhs, rcond);
        if (ok && count > 0) vector_copy(count, s->rhs, x);
        return ok;
    }
    if (!solve_guesses(s, rows, free, guesses, A, r, rcond, x + free)) return false;
    vector_copy(rows, r, s->rhs);
    for (int j = free; j < free + guesses; j++)
        vector_axpy(rows, -x[j], A + (size_t)j * (size_t)rows, s->rhs);
    for (int i = rows; i < free; i++) s->rhs[i] = 0.0;
    bool ok = least_squares_solve(&s->solver, rows, free, A, s->rhs, rcond);
    if (ok) vector_copy(free, s->rhs, x);
    return ok;
}
