/* Inputs over the rows of a table: polynomials from row to row. */
#include <float.h>
#include <math.h>

#include "modelica/flatten/flat.h"

/* The last row whose time is at most t, counted from 1; 0: there is none. */
static size_t rows_until(const flat_schedule *s, double t)
{
    size_t low = 0, high = s->rows;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->time[middle] <= t)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Coefficients of the polynomial from row i to row i + 1. */
static void piece_of(const flat_schedule *s, const flat_track *q, size_t i, double *c)
{
    c[0] = q->value[i];
    c[1] = c[2] = c[3] = 0.0;
    if (q->curve == CURVE_STEP || i + 1 >= s->rows) return;
    double h = s->time[i + 1] - s->time[i];
    c[1] = (q->value[i + 1] - q->value[i]) / h;
    if (q->curve == CURVE_LINEAR) return;
    c[1] -= h * (2.0 * q->bend[i] + q->bend[i + 1]) / 6.0;
    c[2] = q->bend[i] / 2.0;
    c[3] = (q->bend[i + 1] - q->bend[i]) / (6.0 * h);
}

/* The row that the piece begins with once `reached` rows are behind: where a curve ends that is not
 * held it has no other side. */
static size_t row_of_piece(const flat_schedule *s, size_t reached)
{
    size_t i = reached > 0 ? reached - 1 : 0;
    bool end = i + 1 == s->rows && i > 0 && s->time[i - 1] < s->time[i];
    return end && !s->hold ? i - 1 : i;
}

double flat_schedule_enter(const flat_schedule *s, double t, double slack, double *memory)
{
    if (s->jump) {
        double next = s->jump(t, s->user);
        memory[s->from] = next < DBL_MAX ? next : DBL_MAX;
        return next < DBL_MAX ? next : INFINITY;
    }
    size_t reached = rows_until(s, t + slack), row = row_of_piece(s, reached);
    memory[s->origin] = s->time[row];
    memory[s->from] = reached > 0 ? fmin(t, s->time[row]) : s->hold ? -DBL_MAX : s->time[row];
    for (size_t k = 0; k < s->track_count; k++) {
        const flat_track *q = &s->tracks[k];
        double c[CURVE_MOST];
        piece_of(s, q, q->curve == CURVE_STEP && reached > 0 ? reached - 1 : row, c);
        if (reached == 0) c[1] = c[2] = c[3] = 0.0;
        for (int j = 0; j < CURVE_MOST; j++)
            if (q->memory[j] >= 0) memory[q->memory[j]] = c[j];
    }
    if (reached < s->rows) return s->time[reached];
    return s->hold || t >= s->end ? INFINITY : s->end + (s->end - s->time[s->rows - 1]);
}

/* Row i of the equations h0 M0 + 2 (h0 + h1) M1 + h1 M2 = 6 (d1 - d0). */
typedef struct spline_row {
    double below, diagonal, above, right;
} spline_row;

/* With the ends that make the first two, and the last two, pieces one cubic: M0 = M1 - h0/h1 (M2 -
 * M1). */
static spline_row row_at(const double *x, const double *y, size_t n, size_t i)
{
    double h0 = x[i] - x[i - 1], h1 = x[i + 1] - x[i];
    spline_row r = {.below = h0, .diagonal = 2.0 * (h0 + h1), .above = h1};
    r.right = 6.0 * ((y[i + 1] - y[i]) / h1 - (y[i] - y[i - 1]) / h0);
    if (i == 1) {
        r.diagonal += h0 * (1.0 + h0 / h1);
        r.above -= h0 * h0 / h1;
        r.below = 0.0;
    }
    if (i + 2 == n) {
        r.diagonal += h1 * (1.0 + h1 / h0);
        r.below -= h1 * h1 / h0;
        r.above = 0.0;
    }
    return r;
}

/* The spline through n >= 4 points of growing x, by elimination without pivots: every row is
 * diagonally dominant. */
static void spline_of(const double *x, const double *y, size_t n, double *m, double *work)
{
    double *above = work, *right = work + n;
    for (size_t i = 1; i + 1 < n; i++) {
        spline_row r = row_at(x, y, n, i);
        double pivot = r.diagonal - (i > 1 ? r.below * above[i - 1] : 0.0);
        above[i] = r.above / pivot;
        right[i] = (r.right - (i > 1 ? r.below * right[i - 1] : 0.0)) / pivot;
    }
    for (size_t i = n - 2; i > 0; i--) m[i] = right[i] - (i + 2 < n ? above[i] * m[i + 1] : 0.0);
    m[0] = m[1] - (x[1] - x[0]) / (x[2] - x[1]) * (m[2] - m[1]);
    m[n - 1] = m[n - 2] + (x[n - 1] - x[n - 2]) / (x[n - 2] - x[n - 3]) * (m[n - 2] - m[n - 3]);
}

/* Through few points goes the polynomial of that degree. */
static void parabola_of(const double *x, const double *y, size_t n, double *m)
{
    double bend = 0.0;
    if (n == 3)
        bend =
            2.0 * ((y[2] - y[1]) / (x[2] - x[1]) - (y[1] - y[0]) / (x[1] - x[0])) / (x[2] - x[0]);
    for (size_t i = 0; i < n; i++) m[i] = bend;
}

void flat_spline(const double *time, const double *value, size_t rows, double *bend, double *work)
{
    for (size_t first = 0, last; first < rows; first = last) { /* from jump to jump */
        for (last = first + 1; last < rows && time[last] > time[last - 1];) last++;
        if (last - first > 3)
            spline_of(time + first, value + first, last - first, bend + first, work);
        else
            parabola_of(time + first, value + first, last - first, bend + first);
    }
}
