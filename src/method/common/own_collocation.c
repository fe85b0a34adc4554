#include "method/common/own_collocation.h"

#include <math.h>

#include "linalg/lapack.h"
#include "method/common/order_trees.h"

/* What rounding leaves of equal eigenvalues, and of conditions of the stages. */
static const double SAME = 1e-10;

enum { S = COLLOCATION_STAGES };

/* Eigenvalues of A^-1, with S = Q' A^-1 Q by columns */
typedef struct schur_form {
    double S[OWN_SQUARE], Q[OWN_SQUARE], re[S], im[S];
} schur_form;

static bool find_schur_form(int s, const double *inverse, schur_form *f)
{
    double work[16 * S];
    int sorted;
    for (int i = 0; i < s; i++)
        for (int j = 0; j < s; j++) f->S[i + j * s] = inverse[i * s + j];
    lapack_enter();
    int info = LAPACKE_dgees_work(LAPACK_COL_MAJOR, 'V', 'N', NULL, s, f->S, s, &sorted, f->re,
                                  f->im, f->Q, s, work, 16 * S, NULL);
    lapack_leave();
    return info == 0;
}

/* The number of a shift among the pairs, a new one if it is not there yet. */
static int shift_number(own_collocation *o, double a, double b)
{
    const double near = SAME * hypot(a, b);
    for (int k = 0; k < o->m.pairs; k++)
        if (fabs(o->pair[2 * k] - a) <= near && fabs(o->pair[2 * k + 1] - b) <= near) return k;
    o->pair[2 * o->m.pairs] = a;
    o->pair[2 * o->m.pairs + 1] = b;
    return o->m.pairs++;
}

/* gamma: a positive eigenvalue of A^-1, or det(A)^(-1/s) */
static double choose_gamma(int s, const schur_form *f)
{
    double det = 1.0, gamma = 0.0;
    for (int k = 0; k < s; k++) {
        det *= f->im[k] == 0.0 ? fabs(f->re[k]) : hypot(f->re[k], f->im[k]);
        if (f->im[k] == 0.0) gamma = fmax(gamma, f->re[k]);
    }
    return gamma > 0.0 ? gamma : pow(det, 1.0 / s);
}

/* Blocks [a b; c a] of the Schur form become [a -r; r a], r^2 = -b c, by a second vector of other
 * length: T = Q D, T^-1 = D^-1 Q'. */
static void split(own_collocation *o, const schur_form *f)
{
    const int s = o->m.stages;
    double scale[S];
    collocation_blocks *blocks = &o->blocks;
    for (int k = 0; k < s; k += blocks->rows[blocks->count++]) {
        const bool pair = f->im[k] != 0.0;
        const double a = f->S[k + k * s], b = pair ? f->S[k + (k + 1) * s] : 0.0;
        const double r = pair ? sqrt(-b * f->S[k + 1 + k * s]) : 0.0;
        const bool is_gamma = !pair && fabs(a - o->m.gamma) <= SAME * o->m.gamma;
        blocks->rows[blocks->count] = pair ? 2 : 1;
        blocks->shift[blocks->count] = is_gamma ? -1 : shift_number(o, a, r);
        scale[k] = 1.0;
        if (pair) scale[k + 1] = -r / b;
    }
    for (int i = 0; i < s; i++)
        for (int j = 0; j < s; j++) {
            o->T[i * s + j] = f->Q[i + j * s] * scale[j];
            o->T_inverse[i * s + j] = f->Q[j + i * s] / scale[i];
            blocks->above[i][j] = f->S[i + j * s] * scale[j] / scale[i];
        }
}

/* The largest q with sum_j a_ij c_j^(k-1) = c_i^k / k for all i and k <= q */
static int stage_order(const dae_table *t)
{
    for (int k = 1; k <= t->stages; k++)
        for (int i = 0; i < t->stages; i++) {
            double sum = 0.0;
            for (int j = 0; j < t->stages; j++) sum += t->A[i][j] * pow(t->c[j], k - 1);
            if (fabs(sum - pow(t->c[i], k) / k) > SAME) return k - 1;
        }
    return t->stages;
}

/* Numbers by rows, A^-1, d' = b' A^-1, and the same for b - bhat. */
static bool copy_numbers(const dae_table *t, own_collocation *o)
{
    const int s = t->stages;
    order_matrix a = {{0.0L}}, omega;
    for (int i = 0; i < s; i++)
        for (int j = 0; j < s; j++) a[i][j] = (long double)t->A[i][j];
    if (!order_invert(s, a, omega)) return false;
    for (int i = 0; i < s; i++) {
        o->nodes[i] = t->c[i];
        o->b[i] = t->b[i];
        for (int j = 0; j < s; j++) {
            o->A[i * s + j] = t->A[i][j];
            o->inverse[i * s + j] = (double)omega[i][j];
            o->d[j] += t->b[i] * o->inverse[i * s + j];
            if (t->has_embedded) o->error[j] += (t->b[i] - t->embedded[i]) * o->inverse[i * s + j];
        }
    }
    return true;
}

bool own_collocation_make(const dae_table *t, own_collocation *o)
{
    const int s = t->stages;
    schur_form form;
    *o = (own_collocation){.stage_order = stage_order(t)};
    if (!copy_numbers(t, o) || !find_schur_form(s, o->inverse, &form)) return false;
    o->m = (collocation){.stages = s,
                         .order = t->order,
                         .gamma = choose_gamma(s, &form),
                         .nodes = o->nodes,
                         .A = o->A,
                         .b = o->b,
                         .inverse = o->inverse,
                         .d = o->d,
                         .T = o->T,
                         .T_inverse = o->T_inverse,
                         .pair = o->pair,
                         .blocks = &o->blocks};
    for (int j = 0; j < s; j++) o->m.open |= fabs(t->A[s - 1][j] - t->b[j]) > SAME;
    if (!o->m.open) o->nodes[s - 1] = 1.0;
    split(o, &form);
    return true;
}
