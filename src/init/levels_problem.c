/* Problems over parts of a level system: pattern, evaluation and scaling. */
#include "base/memory.h"
#include "base/vector.h"
#include "init/levels_parts.h"

#include <float.h>
#include <string.h>

/* A row's size is at least this part of the largest seen, so that x^2 = 0 can be met, but only
 * where Newton's correction is this small: exp(u) far from its root has been larger still, and is
 * not met. */
static const double SIZE_FLOOR = 1e-8, NEAR_ROOT = 1e-4;
/* How much larger a row may become than it was at first, unless its terms do: else a b = 1 would
 * count as met for a = 0 and b large enough, since a might be 1. */
static const double INFLATION = 1e3;
/* Rounding errors above this part of a row's size are not believed. */
static const double MOST_NOISE = 1e-7;
static const double SHAKE = 1e-13, SAFETY = 4.0;
enum { SAMPLES = 4 };
/* Entries below this part of their row are rounding errors. */
static const double ENTRY_FLOOR = 1e-14;
/* Rounding errors of R_i: this many ulp of the sum of its terms. */
static const double NOISE_ULPS = 4.0;

bool level_work_new(level_work *work, const level_system *system, const level_request *request,
                    const double *u)
{
    const size_t n = (size_t)system->n, m = (size_t)system->m;
    *work = (level_work){.system = system, .request = request, .failed_row = -1};
    work->failed_column = -1;
    work->tolerance = request->tolerance > 0.0 ? request->tolerance : 1e-12;
    work->iterations = request->iterations > 0 ? request->iterations : 50;
    work->displaced = DAE_ARRAY(bool, system->n);
    if (!SHARED_BLOCK(SHARE(work->u, n), SHARE(work->origin, n), SHARE(work->r, m),
                      SHARE(work->values, (size_t)system->colptr[n]), SHARE(work->size, m),
                      SHARE(work->noise, m), SHARE(work->seen, m), SHARE(work->rough, m),
                      SHARE(work->first, m)) ||
        !work->displaced)
        return false;
    for (int j = 0; j < system->n; j++) {
        work->u[j] = request->tag[j] == DAE_TAG_FIXED ? request->given[j] : u[j];
        work->origin[j] = request->tag[j] == DAE_TAG_FREE ? u[j] : request->given[j];
    }
    return true;
}

void level_work_free(level_work *work)
{
    dae_free_all(work->u, work->displaced);
    *work = (level_work){0};
}

void level_problem_free(level_problem *p)
{
    dae_free_all(p->row, p->u);
    kkt_free(p->solver);
    *p = (level_problem){0};
}

/* The columns with an entry in these rows that are not held; pattern in terms of the part. number:
 * room for all rows. */
static void collect_pattern(level_problem *p, const bool *held, int *number)
{
    const level_system *s = p->work->system;
    int entries = 0;
    for (int i = 0; i < s->m; i++) number[i] = -1;
    for (int k = 0; k < p->m; k++) number[p->row[k]] = k;
    p->n = 0;
    p->colptr[0] = 0;
    for (int j = 0; j < s->n; j++) {
        if (held[j]) continue;
        for (int e = s->colptr[j]; e < s->colptr[j + 1]; e++) {
            if (number[s->rowind[e]] < 0) continue;
            p->rowind[entries] = number[s->rowind[e]];
            p->position[entries++] = e;
        }
        if (entries == p->colptr[p->n]) continue;
        p->column[p->n++] = j;
        p->colptr[p->n] = entries;
    }
}

static bool problem_vectors(level_problem *p)
{
    const size_t n = (size_t)p->n, m = (size_t)p->m, entries = (size_t)p->colptr[n];
    return SHARED_BLOCK(
        SHARE(p->u, n), SHARE(p->trial, n), SHARE(p->good, n), SHARE(p->columns, n),
        SHARE(p->normal, n), SHARE(p->tangent, n), SHARE(p->before, n), SHARE(p->step, n),
        SHARE(p->w, n), SHARE(p->start, n), SHARE(p->least, n), SHARE(p->sizes, n), SHARE(p->r, m),
        SHARE(p->misfit, m), SHARE(p->offset, m), SHARE(p->rows, m), SHARE(p->rhs, m),
        SHARE(p->values, entries), SHARE(p->B, entries), SHARE(p->preferred, n), SHARE(p->free, n));
}

/* Start values, tags and the linear solver. */
static bool problem_solver(level_problem *p)
{
    const level_work *work = p->work;
    for (int j = 0; j < p->n; j++) {
        p->u[j] = p->start[j] = work->u[p->column[j]];
        p->preferred[j] = work->request->tag[p->column[j]] != DAE_TAG_FREE;
        p->free[j] = !p->preferred[j];
    }
    p->solver = kkt_new(p->m, p->n, p->colptr, p->rowind, p->free);
    return p->solver != NULL;
}

bool level_problem_new(level_problem *p, level_work *work, int m, const int *rows, const bool *held)
{
    const level_system *s = work->system;
    const size_t n = (size_t)s->n, entries = (size_t)s->colptr[n];
    int *number;
    *p = (level_problem){.work = work, .m = m, .least_change = true};
    p->iterations = work->iterations;
    if (SHARED_BLOCK(SHARE(p->row, m), SHARE(p->column, n), SHARE(p->colptr, n + 1),
                     SHARE(p->rowind, entries), SHARE(p->position, entries), SHARE(number, s->m))) {
        memcpy(p->row, rows, (size_t)m * sizeof *rows);
        collect_pattern(p, held, number);
        if (problem_vectors(p) && problem_solver(p)) return true;
    }
    level_problem_free(p);
    return false;
}

int level_surety(const level_request *q, int j)
{
    if (q->tag[j] == DAE_TAG_FIXED) return 2;
    if (q->tag[j] == DAE_TAG_FREE) return -1;
    return q->open && q->open[j] ? 0 : 1;
}

engine_outcome level_residual(level_problem *p, const double *u, double *r)
{
    level_work *work = p->work;
    for (int j = 0; j < p->n; j++) work->u[p->column[j]] = u[j];
    if (!vector_finite(p->n, u)) return ENGINE_UNDEFINED;
    eval_status status = work->system->residual(work->system->user, work->u, work->r);
    work->failed_row = work->failed_column = -1;
    for (int i = 0; i < p->m; i++) {
        r[i] = work->r[p->row[i]] - p->offset[i];
        if (isfinite(r[i])) continue;
        work->failed_row = p->row[i];
        if (status == EVAL_OK) status = EVAL_RETRY;
        break;
    }
    return engine_from(status);
}

/* fmax, in the place of a call of the C library: a NaN gives way to a number */
static inline double larger(double a, double b)
{
    return a >= b || isnan(b) ? a : b;
}

/* Sizes and noise of all rows of the system at work->u. */
static void row_sizes(level_work *work)
{
    const level_system *s = work->system;
    const double *scale = work->request->scale;
    vector_zero(s->m, work->size);
    vector_zero(s->m, work->noise);
    for (int j = 0; j < s->n; j++)
        for (int e = s->colptr[j]; e < s->colptr[j + 1]; e++) {
            int i = s->rowind[e];
            double entry = fabs(work->values[e]);
            work->size[i] = larger(work->size[i], entry * scale[j]);
            work->noise[i] += NOISE_ULPS * DBL_EPSILON * entry * fabs(work->u[j]);
        }
    for (int i = 0; i < s->m; i++) {
        if (work->first[i] == 0.0 && isfinite(work->size[i])) work->first[i] = work->size[i];
        if (work->first[i] > 0.0) {
            double terms = work->noise[i] / (NOISE_ULPS * DBL_EPSILON);
            work->size[i] = fmin(work->size[i], larger(INFLATION * work->first[i], terms));
        }
        if (isfinite(work->size[i])) work->seen[i] = larger(work->seen[i], work->size[i]);
        const double own = work->size[i], most = NEAR_ROOT / work->tolerance * own;
        work->size[i] = larger(own, fmin(SIZE_FLOOR * work->seen[i], most));
        work->noise[i] = larger(work->noise[i], fmin(work->rough[i], MOST_NOISE * own));
        /* below the smallest normal number a result has no relative accuracy */
        work->noise[i] = larger(work->noise[i], DBL_MIN);
    }
}

/* Whether the entries of the problem's rows are finite, in columns that are held, too; the last one
 * that is not is noted. work->size is lost. */
static bool rows_finite(level_problem *p)
{
    level_work *work = p->work;
    const level_system *s = work->system;
    vector_zero(s->m, work->size);
    for (int i = 0; i < p->m; i++) work->size[p->row[i]] = 1.0;
    for (int j = 0; j < s->n; j++)
        for (int e = s->colptr[j]; e < s->colptr[j + 1]; e++) {
            if (isfinite(work->values[e]) || work->size[s->rowind[e]] == 0.0) continue;
            work->failed_row = s->rowind[e];
            work->failed_column = j;
        }
    return work->failed_row < 0;
}

engine_outcome level_jacobian(level_problem *p, const double *u)
{
    level_work *work = p->work;
    const level_system *s = work->system;
    for (int j = 0; j < p->n; j++) work->u[p->column[j]] = u[j];
    eval_status status = s->jacobian(s->user, work->u, work->values);
    work->failed_row = work->failed_column = -1;
    for (int e = 0; e < p->colptr[p->n]; e++) p->values[e] = work->values[p->position[e]];
    if (!rows_finite(p) && status == EVAL_OK) status = EVAL_RETRY;
    if (status == EVAL_OK) row_sizes(work);
    return engine_from(status);
}

bool level_suspicious(const level_problem *p, double misfit)
{
    return misfit > p->work->tolerance && misfit < MOST_NOISE;
}

/* max over some u + du of |R(u + du) - R(u) - J du|, du_j random within 500 ulp of u_j; several
 * times that, since these are only samples */
engine_outcome level_measure_noise(level_problem *p, const double *u, const double *r)
{
    level_work *work = p->work;
    for (unsigned sample = 1; sample <= SAMPLES; sample++) {
        vector_copy(p->m, r, p->rhs);
        for (int j = 0; j < p->n; j++) {
            unsigned mix = ((unsigned)j + 1u) * 2654435761u + sample * 40503u;
            mix = (mix ^ (mix >> 15)) * 2246822519u;
            p->step[j] = u[j] + SHAKE * u[j] * ((double)(mix >> 8) * 0x1p-23 - 1.0);
            for (int e = p->colptr[j]; e < p->colptr[j + 1]; e++)
                p->rhs[p->rowind[e]] += p->values[e] * (p->step[j] - u[j]);
        }
        engine_outcome outcome = level_residual(p, p->step, p->misfit);
        if (outcome == ENGINE_UNDEFINED) continue;
        if (outcome != ENGINE_MET) return outcome;
        for (int i = 0; i < p->m; i++) {
            double *rough = &work->rough[p->row[i]];
            *rough = fmax(*rough, SAFETY * fabs(p->misfit[i] - p->rhs[i]));
        }
    }
    row_sizes(work);
    return ENGINE_MET;
}

double level_misfit(level_problem *p, const double *r)
{
    double most = 0.0;
    for (int i = 0; i < p->m; i++) {
        double size = p->work->size[p->row[i]], excess = fabs(r[i]) - p->work->noise[p->row[i]];
        p->misfit[i] = excess <= 0.0 ? 0.0 : size > 0.0 ? excess / size : 1.0;
        most = fmax(most, p->misfit[i]);
    }
    return most;
}

void level_scale(level_problem *p)
{
    const level_request *q = p->work->request;
    const double *scale = q->scale, *reach = q->reach ? q->reach : scale;
    for (int i = 0; i < p->m; i++) p->rows[i] = 0.0;
    for (int j = 0; j < p->n; j++) {
        double size = larger(scale[p->column[j]], fabs(p->u[j]));
        p->columns[j] = p->preferred[j] ? reach[p->column[j]] : size;
        for (int e = p->colptr[j]; e < p->colptr[j + 1]; e++) {
            double *most = &p->rows[p->rowind[e]];
            *most = larger(*most, fabs(p->values[e]) * p->columns[j]);
        }
    }
    for (int i = 0; i < p->m; i++) {
        bool moves = p->rows[i] > ENTRY_FLOOR * p->work->size[p->row[i]];
        p->rows[i] = moves ? 1.0 / p->rows[i] : 0.0;
    }
    for (int j = 0; j < p->n; j++)
        for (int e = p->colptr[j]; e < p->colptr[j + 1]; e++)
            p->B[e] = p->rows[p->rowind[e]] * p->values[e] * p->columns[j];
}

void level_store(level_problem *p)
{
    for (int j = 0; j < p->n; j++) p->work->u[p->column[j]] = p->u[j];
}
