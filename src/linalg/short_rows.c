#include "linalg/short_rows.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/wide.h"

/* One row in so many at least must be short: fewer are not worth it. */
enum { FEWEST = 4 };

bool short_rows_new(short_rows *s, int n)
{
    const size_t N = (size_t)n;
    *s = (short_rows){.n = n};
    s->rows = DAE_ARRAY(short_row, N);
    s->kept_row = DAE_ARRAY(int, N);
    s->kept_column = DAE_ARRAY(int, N);
    s->entries = DAE_ARRAY(int, 2 * N);
    s->re = DAE_ARRAY(double, N *N);
    s->im = DAE_ARRAY(double, N *N);
    s->pivot_re = DAE_ARRAY(double, N *N);
    s->pivot_im = DAE_ARRAY(double, N *N);
    return s->rows && s->kept_row && s->kept_column && s->entries && s->re && s->im &&
           s->pivot_re && s->pivot_im;
}

void short_rows_persist(short_rows *s, persist *p)
{
    PERSIST_STRUCT(p, s, GAPS(short_rows, rows, pivot_im));
    const int left = s->n - s->count;
    if (s->count < 0 || left < 0) persist_refuse(p, "a matrix has another size");
    if (s->none || !persist_ok(p)) return;
    PERSIST_ARRAY(p, s->rows, s->count);
    PERSIST_ARRAY(p, s->kept_row, left);
    PERSIST_ARRAY(p, s->kept_column, left);
    PERSIST_ARRAY(p, s->pivot_re, (size_t)s->count * (size_t)left);
    PERSIST_ARRAY(p, s->pivot_im, (size_t)s->count * (size_t)left);
}

void short_rows_free(short_rows *s)
{
    dae_free_all(s->rows, s->kept_row, s->kept_column, s->entries, s->re, s->im, s->pivot_re,
                 s->pivot_im);
    *s = (short_rows){0};
}

static bool is_entry(double re, double im)
{
    return re != 0.0 || im != 0.0;
}

static double size_of(const short_rows *s, const double *re, const double *im, int row, int column)
{
    const size_t at = (size_t)row + (size_t)column * (size_t)s->n;
    return fabs(re[at]) + fabs(im[at]);
}

/* Take row `row` with entries in columns a and b (-1: one entry), if neither column is gone. */
static void take_row(short_rows *s, const double *re, const double *im, bool *gone, int row, int a,
                     int b)
{
    if (a < 0 || gone[a] || (b >= 0 && gone[b])) return;
    bool swap = b >= 0 && size_of(s, re, im, row, b) > size_of(s, re, im, row, a);
    s->rows[s->count++] = (short_row){.row = row, .pivot = swap ? b : a, .other = swap ? a : b};
    gone[swap ? b : a] = true;
}

/* List what is not eliminated. */
static void list_kept(short_rows *s)
{
    int *row_gone = s->entries, *column_gone = s->entries + s->n, rows = 0, columns = 0;
    memset(s->entries, 0, 2 * (size_t)s->n * sizeof(int));
    for (int k = 0; k < s->count; k++) row_gone[s->rows[k].row] = column_gone[s->rows[k].pivot] = 1;
    for (int i = 0; i < s->n; i++) {
        if (!row_gone[i]) s->kept_row[rows++] = i;
        if (!column_gone[i]) s->kept_column[columns++] = i;
    }
}

/* All rows with at most two entries whose columns are still there when they are met */
static void search(short_rows *s, const double *re, const double *im)
{
    const int n = s->n;
    int *first = s->entries, *second = s->entries + n; /* columns; second = -2: more than two */
    bool gone[64] = {false};
    s->count = 0;
    for (int i = 0; i < n; i++) first[i] = second[i] = -1;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            if (!is_entry(re[i + j * n], im[i + j * n])) continue;
            second[i] = first[i] < 0 ? -1 : second[i] == -1 ? j : -2;
            first[i] = first[i] < 0 ? j : first[i];
        }
    for (int i = 0; i < n; i++)
        if (second[i] >= -1) take_row(s, re, im, gone, i, first[i], second[i]);
    list_kept(s);
}

/* Whether the rows found before have their entries where they had, the larger one still larger */
static bool still_short(const short_rows *s, const double *re, const double *im)
{
    const int n = s->n;
    for (int k = 0; k < s->count; k++) {
        const short_row *r = &s->rows[k];
        const double *a = re + r->row, *b = im + r->row;
        for (int j = 0; j < n; j++)
            if (is_entry(a[j * n], b[j * n]) && j != r->pivot && j != r->other) return false;
        double pivot = size_of(s, re, im, r->row, r->pivot);
        if (!(pivot > 0.0)) return false;
        if (r->other >= 0 && size_of(s, re, im, r->row, r->other) > pivot) return false;
    }
    return true;
}

/* column `other` -= factor column `pivot`, over all rows */
static void subtract_column(const short_rows *s, const short_row *r)
{
    const int n = s->n;
    const double *pr = s->re + r->pivot * n, *pi = s->im + r->pivot * n;
    double *re = s->re + r->other * n, *im = s->im + r->other * n;
    for (int i = 0; i < n; i++) {
        re[i] -= pr[i] * r->factor_re - pi[i] * r->factor_im;
        im[i] -= pr[i] * r->factor_im + pi[i] * r->factor_re;
    }
}

/* 1 / A(row, pivot), the factor, and the columns without x_pivot */
static void eliminate_row(short_rows *s, int k)
{
    short_row *r = &s->rows[k];
    const int n = s->n, m = n - s->count, p = r->row + r->pivot * n;
    const double a = s->re[p], b = s->im[p], size = 1.0 / (a * a + b * b);
    r->inverse_re = a * size;
    r->inverse_im = -b * size;
    if (r->other >= 0) {
        const double c = s->re[r->row + r->other * n], d = s->im[r->row + r->other * n];
        r->factor_re = c * r->inverse_re - d * r->inverse_im;
        r->factor_im = c * r->inverse_im + d * r->inverse_re;
        subtract_column(s, r);
    }
    for (int i = 0; i < m; i++) {
        s->pivot_re[k * m + i] = s->re[s->kept_row[i] + r->pivot * n];
        s->pivot_im[k * m + i] = s->im[s->kept_row[i] + r->pivot * n];
    }
}

int short_rows_reduce(short_rows *s, const double *re, const double *im)
{
    if (s->none) return 0;
    if (!s->searched || !still_short(s, re, im)) search(s, re, im);
    s->none = !s->searched && FEWEST * s->count < s->n;
    s->searched = true;
    if (FEWEST * s->count < s->n || s->count == s->n) return s->count = 0;
    const size_t bytes = (size_t)s->n * (size_t)s->n * sizeof(double);
    memcpy(s->re, re, bytes);
    memcpy(s->im, im, bytes);
    for (int k = 0; k < s->count; k++) eliminate_row(s, k);
    return s->count;
}

void short_rows_left(const short_rows *s, int ld, double *re, double *im)
{
    const int n = s->n, m = n - s->count;
    for (int j = 0; j < m; j++, re += ld, im += ld) {
        const double *a = s->re + s->kept_column[j] * n, *b = s->im + s->kept_column[j] * n;
        for (int i = 0; i < m; i++) {
            re[i] = a[s->kept_row[i]];
            im[i] = b[s->kept_row[i]];
        }
        for (int i = m; i < ld; i++) re[i] = im[i] = 0.0;
    }
}

/* x -= (tr + i ti) column, m values */
DAE_WIDE static void subtract(int m, double tr, double ti, const double *restrict cr,
                              const double *restrict ci, double *restrict xr, double *restrict xi)
{
    for (int i = 0; i < m; i++) {
        xr[i] -= cr[i] * tr - ci[i] * ti;
        xi[i] -= cr[i] * ti + ci[i] * tr;
    }
}

void short_rows_forward(const short_rows *s, double *br, double *bi, double *xr, double *xi)
{
    const int m = s->n - s->count;
    for (int i = 0; i < m; i++) {
        xr[i] = br[s->kept_row[i]];
        xi[i] = bi[s->kept_row[i]];
    }
    for (int k = 0; k < s->count; k++) {
        const short_row *r = &s->rows[k];
        const double a = br[r->row], b = bi[r->row];
        const double tr = a * r->inverse_re - b * r->inverse_im;
        const double ti = a * r->inverse_im + b * r->inverse_re;
        br[r->row] = tr;
        bi[r->row] = ti;
        subtract(m, tr, ti, s->pivot_re + k * m, s->pivot_im + k * m, xr, xi);
    }
}

void short_rows_back(const short_rows *s, const double *xr, const double *xi, double *br,
                     double *bi)
{
    const int m = s->n - s->count;
    double tr[64], ti[64];
    for (int k = 0; k < s->count; k++) {
        tr[k] = br[s->rows[k].row];
        ti[k] = bi[s->rows[k].row];
    }
    for (int i = 0; i < m; i++) {
        br[s->kept_column[i]] = xr[i];
        bi[s->kept_column[i]] = xi[i];
    }
    for (int k = s->count - 1; k >= 0; k--) {
        const short_row *r = &s->rows[k];
        if (r->other >= 0) {
            const double a = br[r->other], b = bi[r->other];
            tr[k] -= a * r->factor_re - b * r->factor_im;
            ti[k] -= a * r->factor_im + b * r->factor_re;
        }
        br[r->pivot] = tr[k];
        bi[r->pivot] = ti[k];
    }
}
