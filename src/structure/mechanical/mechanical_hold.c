/* Whether a mechanism that was recognised at one point is the same at another, and with other
 * parameters: the numbers that the recognition was decided on, looked at once more.
 *
 * Roles of variables and equations follow from the expressions, but for what is decided here: no
 * definition was divided by zero, no entry of M, C and G vanishes everywhere, M is symmetric and C
 * = G' up to the very factors that are written into the form, and M is no indefinite matrix. That
 * two constraints share a gradient, so that multipliers would be paired in another way, is seen by
 * the certificate of the equations, which goes before. */
#include <math.h>

#include "base/memory.h"
#include "structure/mechanical/mechanical_parts.h"

/* Entries of M, C and G, then the divisors of definitions. */
static bool compile_test(const equation_set *set, mechanical *m)
{
    const mechanical_matrix *const part[3] = {&m->M, &m->C, &m->G};
    bool ok = true;
    for (int k = 0; k < 3; k++)
        for (int e = 0; ok && e < part[k]->count; e++) {
            const mechanical_entry *at = &part[k]->entry[e];
            ok = mechanical_add(&m->tested, at->row, at->column, at->value);
        }
    for (int k = 0; ok && k < m->explicit_count; k++)
        ok = mechanical_add(&m->tested, k, 0, m->divisor[k]);
    return ok && mechanical_compile(set, &m->tested, &m->test);
}

/* ---- values ---- */

/* All tested entries at all points, and where those of a matrix begin. */
typedef struct held_values {
    const mechanical *m;
    int count;     /* entries at a point */
    double *value; /* owned */
} held_values;

enum { OF_M, OF_C, OF_G, OF_DIVISORS };

static const double *values_at(const held_values *v, int p, int part)
{
    const mechanical *m = v->m;
    const int first[4] = {0, m->M.count, m->M.count + m->C.count,
                          m->M.count + m->C.count + m->G.count};
    return v->value + (size_t)p * (size_t)v->count + first[part];
}

static bool all_finite(const double *value, int count)
{
    for (int e = 0; e < count; e++)
        if (!isfinite(value[e])) return false;
    return true;
}

/* 1, 0: they cannot be evaluated */
static int evaluate(const equation_set *set, mechanical *m, const equation_point *at, double *work,
                    held_values *v)
{
    for (int p = 0; p < MECHANICAL_POINTS; p++) {
        double spread = MECHANICAL_SPREAD, *to = v->value + (size_t)p * (size_t)v->count;
        for (;; spread *= 0.1) {
            const double *x[3];
            if (spread < MECHANICAL_NARROW) return 0;
            equation_point point = mechanical_sample(set, at, p, spread, work, x);
            mechanical_run(&m->test, &point, to);
            if (all_finite(to, v->count)) break;
        }
    }
    return 1;
}

/* ---- what must hold ---- */

/* An entry that is zero at all points, or a divisor that is at one, decides about roles. */
static bool nothing_vanishes(const held_values *v)
{
    int entries = v->count - v->m->explicit_count;
    for (int e = 0; e < v->count; e++) {
        int zeros = 0;
        for (int p = 0; p < MECHANICAL_POINTS; p++)
            zeros += v->value[(size_t)p * (size_t)v->count + (size_t)e] == 0.0;
        if (zeros == MECHANICAL_POINTS || (e >= entries && zeros > 0)) return false;
    }
    return true;
}

/* Of entries by rows; -1: there is none */
static int find_entry(const mechanical_matrix *a, int row, int column)
{
    int low = 0, high = a->count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (a->entry[middle].row < row)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < a->count && a->entry[low].row == row; low++)
        if (a->entry[low].column == column) return low;
    return -1;
}

/* Whether a = b: to the bit at the first point, where factors are taken, else to rounding. */
static bool agrees(double a, double b, int p)
{
    return p == 0 ? a == b : fabs(a - b) <= MECHANICAL_SAME * fabs(a);
}

/* s_i M_ij = s_j M_ji */
static bool masses_agree(const held_values *v)
{
    const mechanical *m = v->m;
    for (int e = 0; e < m->M.count; e++) {
        int i = m->M.entry[e].row, j = m->M.entry[e].column;
        int other = i < j ? find_entry(&m->M, j, i) : e;
        if (other < 0) return false;
        for (int p = 0; p < MECHANICAL_POINTS; p++) {
            const double *M = values_at(v, p, OF_M);
            if (!agrees(m->scale[i] * M[e], m->scale[j] * M[other], p)) return false;
        }
    }
    return true;
}

/* s_i C_il = factor_l G_li, with one factor at each point; it is the one of the form at the first,
 * and at the others where it is steady. */
static bool forces_agree(const held_values *v)
{
    const mechanical *m = v->m;
    for (int e = 0; e < m->C.count; e++) {
        int i = m->C.entry[e].row, l = m->C.entry[e].column;
        int g = find_entry(&m->G, l, i), first = e;
        while (first > 0 && m->C.entry[first - 1].column == l) first--;
        int g_first = find_entry(&m->G, l, m->C.entry[first].row);
        if (g < 0 || g_first < 0) return false;
        for (int p = 0; p < MECHANICAL_POINTS; p++) {
            const double *C = values_at(v, p, OF_C), *G = values_at(v, p, OF_G);
            double factor = m->scale[m->C.entry[first].row] * (C[first] / G[g_first]);
            if ((p == 0 || m->steady[l]) && !agrees(m->factor[l], factor, p)) return false;
            if (!agrees(factor, m->scale[i] * (C[e] / G[g]), p)) return false;
        }
    }
    return true;
}

/* Factors between equations that are not 1 or -1 are quotients of numbers, as of masses. */
static bool is_plain(const mechanical *m)
{
    if (m->ns > 0 || m->friction) return false;
    for (int i = 0; i < m->nq; i++)
        if (fabs(m->scale[i]) != 1.0) return false;
    return true;
}

/* 1: not indefinite at some point, 0, -1: memory */
static int masses_fit(const held_values *v)
{
    for (int p = 0; p < MECHANICAL_POINTS; p++) {
        int bad = mechanical_bad_mass(v->m, values_at(v, p, OF_M), false);
        if (bad < 0) return bad == -1 ? 1 : -1;
    }
    return 0;
}

/* Whether the parameters are zero that the form was found without. */
static bool zeros_hold(const mechanical *m, const equation_point *at)
{
    for (int k = 0; k < m->zero_count; k++)
        if (at->parameters[m->zero[k]] != 0.0) return false;
    return true;
}

int mechanical_holds(const equation_set *set, mechanical *m, const equation_point *at)
{
    if (!is_plain(m) || !zeros_hold(m, at)) return 0;
    if (!m->test.tape && !compile_test(set, m)) return -1;
    held_values v = {.m = m, .count = m->tested.count};
    double *work = DAE_ARRAY(double, 3 * (size_t)set->n);
    v.value = DAE_ARRAY(double, MECHANICAL_POINTS *(size_t)v.count);
    int holds = work && v.value ? evaluate(set, m, at, work, &v) : -1;
    if (holds == 1) holds = nothing_vanishes(&v) && masses_agree(&v) && forces_agree(&v);
    if (holds == 1) holds = masses_fit(&v);
    dae_free_all(work, v.value);
    return holds;
}
