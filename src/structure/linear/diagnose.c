#include "structure/linear/diagnose.h"

#include <float.h>
#include <math.h>
#include <stdint.h>

#include "base/memory.h"
#include "base/vector.h"
#include "structure/linear/array_rank.h"
#include "structure/linear/pencil.h"

/* ---- Taylor coefficients along the curve ----------------------------------------------------- */

enum { SIDE = 3, POINTS = 2 * SIDE + 1, RUNGS = 12 };

/* Weights at s = -3h .. 3h for f^(l)(0) h^l / l!, exact for degree 6 [For88]. */
static const double central[DIAGNOSE_LEVELS][POINTS] = {
    {0, 0, 0, 1, 0, 0, 0},
    {-1.0 / 60, 3.0 / 20, -3.0 / 4, 0, 3.0 / 4, -3.0 / 20, 1.0 / 60},
    {1.0 / 180, -3.0 / 40, 3.0 / 4, -49.0 / 36, 3.0 / 4, -3.0 / 40, 1.0 / 180},
    {1.0 / 48, -1.0 / 6, 13.0 / 48, 0, -13.0 / 48, 1.0 / 6, -1.0 / 48}};

/* The work of one diagnosis. */
typedef struct probe {
    const diagnose_input *in;
    int n, count;   /* coefficients sought */
    double *y, *yp; /* a point of the curve */
    double *sample; /* POINTS pairs A, B */
    double *rung;   /* coefficients of this step size and of the last: 2 x count pairs */
    double *best;   /* count pairs: the coefficients chosen */
    double h;       /* the first step size */
    series_scaling scaling;
    double error[DIAGNOSE_LEVELS]; /* of the scaled coefficients */
} probe;

/* Values in one pair of matrices. */
static int pair(const probe *p)
{
    return 2 * p->n * p->n;
}

static bool probe_new(probe *p, const diagnose_input *in, int count)
{
    const int n = in->n, size = 2 * n * n;
    *p = (probe){.in = in,
                 .n = n,
                 .count = count,
                 .y = DAE_ARRAY(double, n),
                 .yp = DAE_ARRAY(double, n),
                 .sample = DAE_ARRAY(double, size *POINTS),
                 .rung = DAE_ARRAY(double, size * 2 * count),
                 .best = DAE_ARRAY(double, size *count)};
    return p->y && p->yp && p->sample && p->rung && p->best;
}

static void probe_free(probe *p)
{
    dae_free_all(p->y, p->yp, p->sample, p->rung, p->best);
    series_scaling_free(&p->scaling);
}

/* A and B at the point s of the curve y + s y' + s^2/2 y'' */
static bool sample_at(probe *p, double s, double *to)
{
    const diagnose_input *in = p->in;
    for (int j = 0; j < p->n; j++) {
        const double second = in->ypp ? in->ypp[j] : 0.0;
        p->y[j] = in->y[j] + s * (in->yp[j] + 0.5 * s * second);
        p->yp[j] = in->yp[j] + s * second;
    }
    const int code = in->jacobian(in->context, in->t + s, p->y, p->yp, to, to + p->n * p->n);
    return code == 0 && vector_finite(pair(p), to);
}

/* The largest |x_j| in the scaled variables. */
static double extent(const probe *p, const double *x)
{
    double most = 0.0;
    for (int j = 0; j < p->n; j++) most = fmax(most, fabs(x[j]) / p->scaling.column[j]);
    return most;
}

/* Scaling from the matrices at the point. The unit of time is the first step size: of the time in
 * which A and B are alike, longer if the solution as a whole moves more slowly. */
static bool choose_scaling(probe *p)
{
    const double *centre = p->sample + SIDE * pair(p);
    if (!series_scaling_new(&p->scaling, p->n, centre, centre + p->n * p->n)) return false;
    const double alike = p->scaling.unit, speed = extent(p, p->in->yp);
    const double motion = speed > 0.0 ? extent(p, p->in->y) / speed : INFINITY;
    p->h = fmin(0.25 * (alike + motion), 30.0 * alike);
    for (int i = 0; i < p->n; i++) p->scaling.row[i] /= fmax(1.0, alike / p->h);
    p->scaling.unit = p->h;
    return true;
}

/* to = coefficients 0 .. count-1 from the samples at step h */
static void combine(const probe *p, double h, double *to)
{
    double power = 1.0;
    vector_zero(pair(p) * p->count, to);
    for (int l = 0; l < p->count; l++, power /= h)
        for (int i = 0; i < POINTS; i++)
            vector_axpy(pair(p), central[l][i] * power, p->sample + i * pair(p), to + l * pair(p));
}

/* The largest scaled entry of the difference of two coefficients number l. */
static double distance(const probe *p, int l, const double *x, const double *z)
{
    const int n = p->n;
    const double power = pow(p->scaling.unit, l);
    double most = 0.0;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            const int a = i + j * n, b = a + n * n;
            const double scale = p->scaling.row[i] * p->scaling.column[j] * power;
            most = fmax(most, scale * fabs(x[a] - z[a]));
            most = fmax(most, scale / p->scaling.unit * fabs(x[b] - z[b]));
        }
    return most;
}

/* Take over coefficients that agree better with those of twice the step than others did. */
static void compare(probe *p, const double *now, const double *last)
{
    for (int l = 1; l < p->count; l++) {
        const double error = distance(p, l, now + l * pair(p), last + l * pair(p));
        if (error >= p->error[l]) continue;
        p->error[l] = error;
        vector_copy(pair(p), now + l * pair(p), p->best + l * pair(p));
    }
}

/* Differences with steps h, h/2, h/4, ..: each coefficient where two steps in a row agree best. */
static diagnose_status differentiate(probe *p)
{
    const int size = pair(p) * p->count;
    double *now = p->rung, *last = p->rung + size, *centre = p->sample + SIDE * pair(p), h;
    bool before = false;
    if (!sample_at(p, 0.0, centre)) return DIAGNOSE_EVALUATION;
    if (!choose_scaling(p)) return DIAGNOSE_MEMORY;
    vector_copy(pair(p), centre, p->best);
    p->error[0] = p->in->accuracy;
    for (int l = 1; l < p->count; l++) p->error[l] = INFINITY;
    h = p->h;
    for (int rung = 0; p->count > 1 && rung < RUNGS; rung++, h *= 0.5) {
        bool whole = true;
        for (int i = 0; whole && i < POINTS; i++)
            whole = i == SIDE || sample_at(p, (i - SIDE) * h, p->sample + i * pair(p));
        if (whole) combine(p, h, now);
        if (whole && before) compare(p, now, last);
        before = whole;
        double *swap = now;
        now = last;
        last = swap;
    }
    return DIAGNOSE_OK;
}

/* ---- verdict --------------------------------------------------------------------------------- */

/* Errors of the matrices times this are the threshold of ranks. */
static const double SAFETY = 30.0, LEAST = 1e-11, COARSEST = 1e-3;

static double threshold(const probe *p, int k)
{
    double error = p->error[0];
    for (int l = 1; l <= k; l++) error = fmax(error, p->error[l]);
    return fmax(LEAST, SAFETY * error);
}

/* flag[i] |= row i of X (n x columns, orthonormal columns) has a norm above 0.1 */
static void flag_rows(int n, int columns, const double *X, bool *flag)
{
    for (int i = 0; i < n; i++) {
        double sum = 0.0;
        for (int c = 0; c < columns; c++) sum += X[i + c * n] * X[i + c * n];
        flag[i] = flag[i] || sum > 0.01;
    }
}

/* With Z = ker B', T = ker B: the null spaces of Z'AT, taken back to equations and variables. These
 * keep the index from being 1. */
static bool blame(diagnosis *d, const jacobian_series *s, double tolerance)
{
    const int n = d->n;
    rank_split B = {0}, Q = {0};
    double *AT = DAE_ARRAY(double, n *n), *core = DAE_ARRAY(double, n *n);
    bool done = AT && core && rank_split_new(&B, n, n, s->b, tolerance, 1.0, NULL);
    if (done) {
        const int m = n - B.rank;
        dense_multiply(n, m, n, s->a, rank_null(&B), AT);
        dense_multiply_left(m, m, n, rank_left_null(&B), AT, core);
        done = rank_split_new(&Q, m, m, core, tolerance, 1.0, NULL);
    }
    if (done) {
        const int m = Q.rows, open = m - Q.rank;
        dense_multiply(n, open, m, rank_left_null(&B), rank_left_null(&Q), AT);
        flag_rows(n, open, AT, d->rows);
        dense_multiply(n, open, m, rank_null(&B), rank_null(&Q), AT);
        flag_rows(n, open, AT, d->variables);
    }
    rank_split_free(&B);
    rank_split_free(&Q);
    dae_free_all(AT, core);
    return done;
}

/* Equations whose combination, with derivatives, vanishes: the left null space of (M N). */
static bool blame_dependent(diagnosis *d, const array_level *level, const jacobian_series *s,
                            double tolerance)
{
    const int n = d->n, rows = n * (level->k + 1);
    rank_split J = {0};
    double *full = DAE_ARRAY(double, rows *(rows + n));
    bool done = full != NULL;
    if (done) array_jacobian(s, level->k, full);
    done = done && rank_split_new(&J, rows, rows + n, full, tolerance, 1.0, NULL);
    for (int c = J.rank; done && c < rows; c++)
        for (int i = 0; i < rows; i++)
            if (fabs(J.U[i + c * rows]) > 0.1) d->rows[i % n] = true;
    rank_split_free(&J);
    dae_free(full);
    return done;
}

/* Variables whose derivative occurs at all are of level 0, the others of the first array that
 * determines their derivative. */
static void note_rates(diagnosis *d, const jacobian_series *s, const array_level *level,
                       double tolerance)
{
    for (int j = 0; j < d->n; j++) {
        double most = 0.0;
        for (int i = 0; i < d->n; i++) most = fmax(most, fabs(s->b[i + j * d->n]));
        if (level->k == 0 && most > tolerance)
            d->level[j] = 0;
        else if (level->rate[j] && d->level[j] < 0)
            d->level[j] = level->k;
    }
}

/* One array. *more: go on with the next. */
static bool judge_level(diagnosis *d, const probe *p, const jacobian_series *s, int k, bool *more)
{
    const double tolerance = threshold(p, k);
    array_level level;
    *more = false;
    if (!array_level_new(&level, s, k, tolerance)) return false;
    bool done = true;
    rank_gap_join(&d->gap, &level.gap);
    d->certain = d->certain && level.gap.kept > 10.0 * tolerance;
    note_rates(d, s, &level, tolerance);
    if (level.a_rank < level.a && d->index < 0) {
        d->dependent = true;
        done = blame_dependent(d, &level, s, tolerance);
    } else if (level.reduces && d->index < 0) {
        d->index = level.a == 0 ? 0 : k + 1;
        d->freedom = d->n - level.a;
    }
    /* one array more tells the kinds of variables */
    *more = !d->dependent && (d->index < 0 || k < d->index);
    array_level_free(&level);
    return done;
}

/* The scaled series out of the chosen coefficients. */
static bool load_series(const probe *p, jacobian_series *s)
{
    const int square = p->n * p->n;
    if (!jacobian_series_new(s, p->n, p->count)) return false;
    for (int l = 0; l < p->count; l++) {
        vector_copy(square, p->best + l * pair(p), s->a + l * square);
        vector_copy(square, p->best + l * pair(p) + square, s->b + l * square);
    }
    jacobian_series_scale(s, &p->scaling);
    return true;
}

static bool judge_pencil(diagnosis *d, const probe *p)
{
    pencil frozen;
    const double *A = p->best, *B = A + p->n * p->n;
    if (!pencil_analyse(&frozen, p->n, A, B, threshold(p, 0))) return false;
    d->pencil_index = frozen.index;
    pencil_free(&frozen);
    return true;
}

/* All arrays in turn. None of those that could be tested reduces F: the index is above theirs. */
static bool judge(diagnosis *d, const probe *p)
{
    jacobian_series s;
    bool more = true, done = load_series(p, &s);
    int tested = 0;
    if (!done) return false;
    while (done && more && tested < p->count && threshold(p, tested) <= COARSEST)
        done = judge_level(d, p, &s, tested++, &more);
    if (d->index < 0 && !d->dependent && tested > 0) {
        d->index = tested + 1;
        d->at_least = true;
    }
    if (d->index >= 4) {
        d->index = 4;
        d->at_least = false; /* 4 stands for more, too */
    }
    if (done && (d->index > 1 || d->index < 0)) done = blame(d, &s, threshold(p, 0));
    jacobian_series_free(&s);
    return done && judge_pencil(d, p);
}

static bool diagnosis_new(diagnosis *d, int n)
{
    *d = (diagnosis){.n = n,
                     .index = -1,
                     .pencil_index = -1,
                     .freedom = -1,
                     .certain = true,
                     .rows = DAE_ARRAY(bool, n),
                     .variables = DAE_ARRAY(bool, n),
                     .level = DAE_ARRAY(int, n),
                     .gap = RANK_GAP_NEW};
    for (int j = 0; d->level && j < n; j++) d->level[j] = -1;
    return d->rows && d->variables && d->level;
}

void diagnosis_free(diagnosis *d)
{
    dae_free_all(d->rows, d->variables, d->level);
    *d = (diagnosis){0};
}

/* At one point. */
static diagnose_status diagnose_once(const diagnose_input *in, int count, diagnosis *d)
{
    probe p = {0};
    diagnose_status status = DIAGNOSE_MEMORY;
    bool fits = diagnosis_new(d, in->n) && probe_new(&p, in, count);
    if (fits) status = differentiate(&p);
    if (status == DIAGNOSE_OK && !judge(d, &p)) status = DIAGNOSE_MEMORY;
    probe_free(&p);
    if (status != DIAGNOSE_OK) diagnosis_free(d);
    return status;
}

/* Numbers in (-1, 1), the same every time. */
static double noise(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) / 4503599627370496.0 - 1.0;
}

/* The verdict at a neighbouring point, 1/1000 away, must be the same to be called certain: an index
 * that holds at a point or on a thin set only is not what a computed solution meets. */
static diagnose_status confirm(const diagnose_input *in, int count, diagnosis *d)
{
    uint64_t seed = 1;
    double *near = DAE_ARRAY(double, 2 * in->n);
    diagnosis there;
    if (!near) return DIAGNOSE_MEMORY;
    for (int j = 0; j < in->n; j++) {
        const double size = 1e-3 * in->typical[j];
        near[j] = in->y[j] + size * noise(&seed);
        near[in->n + j] = in->yp[j] + (1e-3 * fabs(in->yp[j]) + size) * noise(&seed);
    }
    diagnose_input other = *in;
    other.y = near;
    other.yp = near + in->n;
    diagnose_status status = diagnose_once(&other, count, &there);
    d->certain = d->certain && status == DIAGNOSE_OK && there.index == d->index;
    if (status == DIAGNOSE_OK) diagnosis_free(&there);
    dae_free(near);
    return status == DIAGNOSE_MEMORY ? status : DIAGNOSE_OK;
}

diagnose_status diagnose(const diagnose_input *in, diagnosis *result)
{
    int count = DIAGNOSE_SIZE / (in->n > 0 ? in->n : 1);
    *result = (diagnosis){0};
    if (count < 1) return DIAGNOSE_TOO_LARGE;
    if (count > DIAGNOSE_LEVELS) count = DIAGNOSE_LEVELS;
    diagnose_status status = diagnose_once(in, count, result);
    if (status != DIAGNOSE_OK) return status;
    if (result->index < 0 || result->at_least) result->certain = false;
    if (result->certain) status = confirm(in, count, result);
    if (status != DIAGNOSE_OK) diagnosis_free(result);
    return status;
}
