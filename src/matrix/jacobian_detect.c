/* Unknown patterns: dF/dy and dF/dy' by moving one variable at a time and looking which rows react.
 */
#include "matrix/jacobian.h"

#include "base/memory.h"
#include "base/vector.h"
#include "matrix/jacobian_parts.h"

#include <float.h>

/* A random point near the start and F there, with what is needed to perturb around it. */
typedef struct detection_point {
    double t;
    double *y, *yp, *f;
    double spread; /* perturbations are spread * [0.1, 1) * scale */
    double floor;  /* least scale of a variable, beside its weight times .. */
    double widen;
} detection_point;

typedef struct detection {
    jacobian *j;
    double t;
    const double *y, *yp, *weights;
    const matrix_layout *known; /* entries to be kept, or NULL */
    bool grown;                 /* others than these were found */
    detection_point points[2];
    double *f; /* F at a perturbed point */
    double *work;
    bool *hit; /* rows that react to the current column */
    int *colptr, *rowind;
    size_t capacity;
} detection;

/* x moved away from zero by a random part of spread times its scale, so that roots and logarithms
 * stay defined. */
static double random_shift(detection *d, const detection_point *p, double x, int c, double spread)
{
    double scale = fmax(fabs(x), fmax(p->widen * d->weights[c], p->floor));
    double shift = spread * random_size(&d->j->random) * scale;
    return x < 0.0 ? x - shift : x + shift;
}

/* The same for y'_c, whose natural scale is that of y_c over the time it takes. */
static double random_slope(detection *d, const detection_point *p, double x, int c, double spread)
{
    double time = fabs(d->j->ahead), natural = time > 0.0 ? d->weights[c] / time : 0.0;
    double scale = fmax(fabs(x), fmax(fmax(d->weights[c], natural), p->floor));
    double shift = spread * random_size(&d->j->random) * scale;
    return x < 0.0 ? x - shift : x + shift;
}

static double into_bounds(const dae_residual *form, int c, double value)
{
    if (form->lower_bounds) value = fmax(value, form->lower_bounds[c]);
    if (form->upper_bounds) value = fmin(value, form->upper_bounds[c]);
    return value;
}

static eval_status detection_residual(const detection *d, const detection_point *p, double *f)
{
    evaluator *eval = d->j->eval;
    return evaluate_residual(eval, p->t, p->y, p->yp, f, &eval->stats->jacobian_residuals);
}

/* Choose the point as far away as F allows: relative distance 1/2 down to 0. */
static eval_status choose_near(detection *d, detection_point *p)
{
    const dae_residual *form = &d->j->eval->problem->form;
    eval_status status = EVAL_RETRY;
    for (p->spread = 0.5; status != EVAL_OK; p->spread *= 0.1) {
        bool last = p->spread < sqrt(DBL_EPSILON);
        double spread = last ? 0.0 : p->spread;
        for (int c = 0; c < form->n; c++) {
            p->y[c] = into_bounds(form, c, random_shift(d, p, d->y[c], c, spread));
            p->yp[c] = random_slope(d, p, d->yp[c], c, spread);
        }
        status = detection_residual(d, p, p->f);
        if (status != EVAL_RETRY || last) break;
    }
    return status;
}

/* The same, at its time or, if F does not exist there, at that of the detection. */
static eval_status choose_point(detection *d, detection_point *p)
{
    eval_status status = choose_near(d, p);
    if (status != EVAL_RETRY || p->t == d->t) return status;
    p->t = d->t;
    return choose_near(d, p);
}

/* The very point where a pattern failed, with moves as small as differences may be. */
static eval_status keep_point(detection *d, detection_point *p)
{
    int n = d->j->eval->problem->form.n;
    p->spread = 1e-4;
    vector_copy(n, d->y, p->y);
    vector_copy(n, d->yp, p->yp);
    return detection_residual(d, p, p->f);
}

/* Mark the rows that react when y_c and y'_c move together; they cannot cancel, being random. */
static eval_status react(detection *d, detection_point *p, int c)
{
    const dae_residual *form = &d->j->eval->problem->form;
    double y = p->y[c], yp = p->yp[c];
    eval_status status = EVAL_RETRY;
    for (double spread = p->spread; status != EVAL_OK && spread > 0.1 * sqrt(DBL_EPSILON);
         spread *= 0.1) {
        p->y[c] = random_shift(d, p, y, c, spread);
        p->yp[c] = random_slope(d, p, yp, c, spread);
        if (!within_bounds(form, c, p->y[c])) p->y[c] = into_bounds(form, c, 2.0 * y - p->y[c]);
        status = detection_residual(d, p, d->f);
        if (status == EVAL_STOP) break;
    }
    p->y[c] = y;
    p->yp[c] = yp;
    for (int i = 0; i < form->n && status == EVAL_OK; i++)
        if (d->f[i] != p->f[i]) d->hit[i] = true;
    return status;
}

/* Room for `needed` more entries; positions must fit into an int. */
static bool reserve(detection *d, size_t used, size_t needed)
{
    return used + needed <= INT32_MAX &&
           dae_grow(&d->rowind, &d->capacity, used + needed, sizeof *d->rowind);
}

/* Add the entries of column c known before to those found. */
static void join_known(detection *d, int c)
{
    int n = d->j->eval->problem->form.n, found = 0, count = 0;
    for (int i = 0; i < n; i++) found += d->hit[i];
    matrix_column column = layout_column(d->known, c);
    for (int k = 0; k < column.count; k++) {
        count += d->hit[column_row(&column, k)];
        d->hit[column_row(&column, k)] = true;
    }
    d->grown = d->grown || found > count;
}

/* Append the rows marked, and the diagonal, as column c; clear the marks. */
static bool append_column(detection *d, int c)
{
    int n = d->j->eval->problem->form.n, count = 0;
    if (d->known) join_known(d, c);
    d->hit[c] = true;
    for (int i = 0; i < n; i++) count += d->hit[i];
    size_t next = (size_t)d->colptr[c];
    if (!reserve(d, next, (size_t)count)) return false;
    for (int i = 0; i < n; i++) {
        if (d->hit[i]) d->rowind[next++] = i;
        d->hit[i] = false;
    }
    d->colptr[c + 1] = (int)next;
    return true;
}

static bool detection_begin(detection *d)
{
    size_t n = (size_t)d->j->eval->problem->form.n;
    d->work = DAE_ARRAY(double, 7 * n);
    d->hit = DAE_ARRAY(bool, n);
    d->colptr = DAE_ARRAY(int, n + 1);
    if (!d->work || !d->hit || !d->colptr || !reserve(d, 0, 4 * n)) return false;
    for (size_t k = 0; k < 2; k++) {
        double *block = d->work + 3 * k * n;
        d->points[k] = (detection_point){
            .t = d->t, .y = block, .yp = block + n, .f = block + 2 * n, .widen = 1.0};
    }
    /* One point in the variables' own scales, one that moves even zeros by order one, so that
     * products of vanishing variables show, and a little later, so that products with t do. */
    d->points[1].floor = 1.0;
    if (!d->known) d->points[1].t += d->j->ahead;
    if (d->known) d->points[0].widen = 1e3;
    d->f = d->work + 6 * n;
    return true;
}

static void detection_end(detection *d)
{
    dae_free_all(d->work, d->hit, d->colptr, d->rowind);
}

/* Find the columns one by one; *full tells that dense is better and the rest was not looked at. */
static eval_status detect_columns(detection *d, bool *full)
{
    int n = d->j->eval->problem->form.n;
    bool may_stop = d->j->solver == DAE_LINEAR_AUTO || d->j->solver == DAE_LINEAR_GMRES;
    eval_status status = d->known ? keep_point(d, &d->points[0]) : choose_point(d, &d->points[0]);
    if (status == EVAL_OK) status = choose_point(d, &d->points[1]);
    for (int c = 0; c < n && status == EVAL_OK && !*full; c++) {
        status = react(d, &d->points[0], c);
        if (status == EVAL_OK) status = react(d, &d->points[1], c);
        if (status == EVAL_OK && !append_column(d, c)) return EVAL_MEMORY;
        *full = may_stop && (double)d->colptr[c + 1] > JACOBIAN_DENSE_DENSITY * n * (double)n;
    }
    return status;
}

eval_status jacobian_detect(jacobian *j, double t, const double *y, const double *yp,
                            const double *weights)
{
    if (!j->undetected) return EVAL_OK;
    detection d = {.j = j, .t = t, .y = y, .yp = yp, .weights = weights};
    bool full = false;
    eval_status status = detection_begin(&d) ? detect_columns(&d, &full) : EVAL_MEMORY;
    if (status == EVAL_OK) status = jacobian_adopt(j, full, d.colptr, d.rowind);
    detection_end(&d);
    return status;
}

eval_status jacobian_grow(jacobian *j, double t, const double *y, const double *yp,
                          const double *weights, bool *grown)
{
    detection d = {.j = j, .t = t, .y = y, .yp = yp, .weights = weights};
    bool full = false;
    d.known = jacobian_source(j);
    eval_status status = detection_begin(&d) ? detect_columns(&d, &full) : EVAL_MEMORY;
    *grown = status == EVAL_OK && (d.grown || full);
    if (*grown) status = jacobian_adopt(j, full, d.colptr, d.rowind);
    detection_end(&d);
    if (status == EVAL_MEMORY || status == EVAL_STOP) return status;
    j->fruitless = *grown ? 0 : j->fruitless + 1;
    j->patience = *grown ? 0 : 1L << (j->fruitless < 20 ? j->fruitless - 1 : 20);
    return status == EVAL_RETRY ? EVAL_OK : status;
}
