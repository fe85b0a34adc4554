#include "matrix/shifted.h"

#include "base/memory.h"
#include "base/team.h"

/* Stored values of complex factors from which on other threads pay: 10 to 30 us to wake them and to
 * wait for them, and 2 to 5 ns a value for a solution. Estimates, not measurements
 * (docs/notes/large.md). */
enum { WORTH_A_THREAD = 20000 };
/* No system this small has so many. */
enum { TOO_SMALL = 200 };

void shifted_free(struct shifted *s)
{
    if (!s) return;
    for (int k = 0; k < SHIFTED_MOST; k++) {
        linear_free(s->solver[k]);
        dae_free_all(s->re[k], s->im[k]);
    }
    dae_free(s);
}

/* Room for the values of matrix k */
static bool values_new(struct shifted *s, int k, size_t count)
{
    if (!s->re[k]) s->re[k] = DAE_ARRAY(double, count);
    if (!s->im[k]) s->im[k] = DAE_ARRAY(double, count);
    return s->re[k] && s->im[k];
}

/* Whether other threads may take systems of this problem: the option and the size */
static bool wants_threads(const iteration *it)
{
    return it->eval->threads && it->jac.layout.n >= TOO_SMALL;
}

static bool allocate(struct shifted *s, const iteration *it, int count)
{
    const matrix_layout *layout = &it->jac.layout;
    for (int k = 0; k < count; k++) {
        if (k == 0 && !values_new(s, k, layout->count)) return false; /* of all, in turn */
        if (!s->solver[k]) s->solver[k] = complex_new(layout, it->solver);
        if (!s->solver[k]) return false;
    }
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

/* Threads for these systems, if they are large; NULL: none. Factors of banded and dense systems are
 * not counted: LAPACK is one for all. */
static team *threads_for(const iteration *it, int count)
{
    struct shifted *s = it->shifted;
    if (!wants_threads(it)) return NULL;
    for (int k = 0; k < count; k++)
        if (s->solver[k]->ops->values(s->solver[k]) < WORTH_A_THREAD) return NULL;
    for (int k = 0; k < count; k++) /* threads need the values of several matrices at once */
        if (!values_new(s, k, it->jac.layout.count)) return NULL;
    return it->eval->threads;
}

/* Factor system k as far as that needs no allocation. */
static void factor_one(void *data, int k)
{
    const iteration *it = data;
    struct shifted *s = it->shifted;
    const int at = s->re[k] ? k : 0;
    combine(it, s->shift[2 * k], s->shift[2 * k + 1], s->re[at], s->im[at]);
    s->done[k] = s->solver[k]->ops->refactor(s->solver[k], s->re[at], s->im[at]);
}

/* Systems that are shared out, and by whom. */
typedef struct shared_systems {
    iteration *it;
    team *threads;
    int count;
} shared_systems;

static void begin_sharing(void *data)
{
    const shared_systems *q = data;
    if (q->threads) team_begin(q->threads, q->count, factor_one, q->it);
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
    struct shifted *s = it->shifted;
    linear_solver *solver = s->solver[k];
    long repivots = solver->repivots;
    combine(it, re, im, s->re[0], s->im[0]);
    linear_status status = solver->ops->factor(solver, s->re[0], s->im[0]);
    it->eval->stats->repivots += solver->repivots - repivots;
    return judge(it, solver, status);
}

iteration_status shifted_factor_all(iteration *it, double cj, int count, const double *shift)
{
    struct shifted *s = it->shifted;
    shared_systems q = {it, threads_for(it, count), count};
    s->shift = shift;
    bool begun = it->jac.valid && q.threads; /* as iteration_factor_beside calls begin_sharing */
    iteration_status status = iteration_factor_beside(it, cj, begin_sharing, &q);
    if (begun) team_end(q.threads);
    for (int k = 0; k < count && status == ITERATION_OK; k++) {
        if (!begun) factor_one(it, k);
        status = s->done[k] ? judge(it, s->solver[k], LINEAR_OK)
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

/* The right-hand side number k behind the real one, rows scaled */
static void scaled_side(iteration *it, int k, double **re, double **im)
{
    const size_t n = (size_t)it->jac.layout.n;
    *re = it->shifted->b + (size_t)(2 * k + 1) * n;
    *im = *re + n;
    scale_rows(it, *re, *im);
}

/* Solve system k, uncounted: for any thread. */
static void solve_one(void *data, int k)
{
    iteration *it = data;
    linear_solver *solver = it->shifted->solver[k];
    double *re, *im;
    scaled_side(it, k, &re, &im);
    solver->ops->solve(solver, re, im);
}

/* All of them, in this thread. */
static void solve_several(iteration *it, int count)
{
    double *re[SHIFTED_MOST], *im[SHIFTED_MOST];
    for (int k = 0; k < count; k++) scaled_side(it, k, &re[k], &im[k]);
    linear_solve_several(it->shifted->solver, count, re, im);
}

iteration_status shifted_solve_all(iteration *it, int count, double *b)
{
    team *threads = threads_for(it, count);
    it->shifted->b = b;
    if (threads) team_begin(threads, count, solve_one, it);
    iteration_status status = iteration_solve(it, NULL, b);
    if (threads)
        team_end(threads);
    else
        solve_several(it, count);
    it->eval->stats->solves += count;
    return status;
}

void shifted_persist(iteration *it, persist *p)
{
    int count = 0;
    if (!persist_flag(p, it->shifted != NULL)) return;
    while (it->shifted && count < SHIFTED_MOST && it->shifted->solver[count]) count++;
    PERSIST(p, count);
    if (count < 0 || count > SHIFTED_MOST) persist_refuse(p, "it has too many matrices");
    if (!persist_ok(p)) return;
    if (p->reading && !shifted_prepare(it, count)) p->no_memory = true;
    if (!persist_ok(p)) return;
    for (int k = 0; k < count; k++) linear_persist(it->shifted->solver[k], p);
    PERSIST(p, it->shifted->h);
    PERSIST(p, it->shifted->stages);
    PERSIST(p, it->shifted->evaluations);
}
