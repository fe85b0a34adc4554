#include "matrix/shifted.h"

#include "base/memory.h"

/* Stored values of complex factors from which on a second thread should pay: an estimate, from 10
 * to 20 us to wake it and to wait for it, and 2 to 5 ns a value for a solution. */
enum { WORTH_A_THREAD = 20000 };
/* No system this small has so many. */
enum { TOO_SMALL = 200 };

void shifted_free(struct shifted *s)
{
    if (!s) return;
    worker_free(s->helper);
    for (int k = 0; k < SHIFTED_MOST; k++) linear_free(s->solver[k]);
    dae_free_all(s->own.re, s->own.im, s->helped.re, s->helped.im, s);
}

static bool share_new(shifted_share *share, size_t count)
{
    if (!share->re) share->re = DAE_ARRAY(double, count);
    if (!share->im) share->im = DAE_ARRAY(double, count);
    return share->re && share->im;
}

/* Whether this problem may get a second thread: the option and the size */
static bool wants_helper(const iteration *it)
{
    return it->threads > 1 && it->jac.layout.n >= TOO_SMALL;
}

static bool allocate(struct shifted *s, const iteration *it, int count)
{
    const matrix_layout *layout = &it->jac.layout;
    if (!share_new(&s->own, layout->count)) return false;
    for (int k = 0; k < count; k++) {
        if (s->solver[k]) continue;
        s->solver[k] = complex_new(layout, it->solver);
        if (!s->solver[k]) return false;
    }
    if (s->helper || !wants_helper(it)) return true;
    if (!share_new(&s->helped, layout->count)) return false;
    s->helper = worker_new(); /* without one all goes on as well */
    return true;
}

bool shifted_prepare(iteration *it, int count)
{
    if (it->matrix_free || it->jac.undetected || !it->solver) return false;
    if (!it->shifted) it->shifted = DAE_NEW(struct shifted);
    if (it->shifted && allocate(it->shifted, it, count)) return true;
    shifted_free(it->shifted);
    it->shifted = NULL;
    return false;
}

/* re + i im = D (dF/dy + (a + i b) dF/dy'), D the row scales */
static void combine(const iteration *it, double a, double b, double *restrict re,
                    double *restrict im)
{
    const matrix_layout *layout = &it->jac.layout;
    const double *restrict f = it->jac.dfdy, *restrict g = it->jac.dfdyp;
    const bool sparse = layout->kind == DAE_STRUCTURE_SPARSE;
    for (size_t k = 0; sparse && k < layout->count; k++) {
        re[k] = (f[k] + a * g[k]) * it->row_scale[layout->rowind[k]];
        im[k] = b * g[k];
    }
    for (size_t k = 0; !sparse && k < layout->count; k++) {
        re[k] = f[k] + a * g[k];
        im[k] = b * g[k];
    }
    if (sparse || it->scaled_count == 0) return;
    for (int c = 0; c < layout->n; c++) { /* scaled rows have no dF/dy': only re matters */
        matrix_column column = layout_column(layout, c);
        for (int k = 0; k < column.count; k++)
            re[column.first + (size_t)k] *= it->row_scale[column_row(&column, k)];
    }
}

/* Hand systems over to the second thread, if there is one and they are large: half of them, the
 * larger half if it is odd, since the real system stays here. */
static void divide(iteration *it, int count)
{
    struct shifted *s = it->shifted;
    size_t work = 0;
    for (int k = 0; s->helper && k < count; k++) {
        size_t values = s->solver[k]->ops->values(s->solver[k]);
        work = k == 0 || values < work ? values : work;
    }
    s->own.it = s->helped.it = it;
    s->helped.first = 0;
    s->helped.last = work >= WORTH_A_THREAD ? (count + 1) / 2 : 0;
    s->own.first = s->helped.last;
    s->own.last = count;
}

/* Factor a share as far as that needs no allocation. */
static void factor_share(void *data)
{
    shifted_share *share = data;
    for (int k = share->first; k < share->last; k++) {
        linear_solver *solver = share->it->shifted->solver[k];
        combine(share->it, share->shift[2 * k], share->shift[2 * k + 1], share->re, share->im);
        share->done[k] = solver->ops->refactor(solver, share->re, share->im);
    }
}

static void start_helper(void *data)
{
    struct shifted *s = ((iteration *)data)->shifted;
    if (s->helped.last > 0) worker_start(s->helper, factor_share, &s->helped);
}

/* Count a factorisation, and say how it went. */
static iteration_status judge(iteration *it, const linear_solver *solver, linear_status status)
{
    iteration_count_beside(it);
    it->singular_column = solver->singular_column;
    if (status == LINEAR_MEMORY) return ITERATION_MEMORY;
    return status == LINEAR_OK ? ITERATION_OK : ITERATION_SINGULAR;
}

iteration_status shifted_factor(iteration *it, int k, double re, double im)
{
    shifted_share *own = &it->shifted->own;
    linear_solver *solver = it->shifted->solver[k];
    long repivots = solver->repivots;
    combine(it, re, im, own->re, own->im);
    linear_status status = solver->ops->factor(solver, own->re, own->im);
    it->eval->stats->repivots += solver->repivots - repivots;
    return judge(it, solver, status);
}

iteration_status shifted_factor_all(iteration *it, double cj, int count, const double *shift)
{
    struct shifted *s = it->shifted;
    divide(it, count);
    s->own.shift = s->helped.shift = shift;
    iteration_status status = iteration_factor_beside(it, cj, start_helper, it);
    if (status == ITERATION_OK) factor_share(&s->own);
    if (s->helped.last > 0) worker_wait(s->helper);
    for (int k = 0; k < count && status == ITERATION_OK; k++) {
        bool done = k < s->helped.last ? s->helped.done[k] : s->own.done[k];
        status = done ? judge(it, s->solver[k], LINEAR_OK)
                      : shifted_factor(it, k, shift[2 * k], shift[2 * k + 1]);
    }
    return status;
}

/* Scale the rows of a right-hand side as those of the matrix. */
static void scale_rows(const iteration *it, double *re, double *im)
{
    for (int i = 0; i < it->scaled_count; i++) {
        int row = it->scaled_rows[i];
        re[row] *= it->row_scale[row];
        im[row] *= it->row_scale[row];
    }
}

void shifted_solve(iteration *it, int k, double *re, double *im)
{
    linear_solver *solver = it->shifted->solver[k];
    it->eval->stats->solves++;
    scale_rows(it, re, im);
    solver->ops->solve(solver, re, im);
}

/* Solve a share, uncounted: for any thread. */
static void solve_share(void *data)
{
    const shifted_share *share = data;
    const size_t n = (size_t)share->it->jac.layout.n;
    double *re[SHIFTED_MOST], *im[SHIFTED_MOST];
    const int count = share->last - share->first;
    for (int k = 0; k < count; k++) {
        re[k] = share->b + (size_t)(2 * (share->first + k)) * n;
        im[k] = re[k] + n;
        scale_rows(share->it, re[k], im[k]);
    }
    linear_solve_several(share->it->shifted->solver + share->first, count, re, im);
}

iteration_status shifted_solve_all(iteration *it, int count, double *b)
{
    struct shifted *s = it->shifted;
    divide(it, count);
    s->own.b = s->helped.b = b + it->jac.layout.n;
    if (s->helped.last > 0) worker_start(s->helper, solve_share, &s->helped);
    iteration_status status = iteration_solve(it, NULL, b);
    solve_share(&s->own);
    if (s->helped.last > 0) worker_wait(s->helper);
    it->eval->stats->solves += count;
    return status;
}
