/* Coefficients of implicit Runge-Kutta methods, computed from their definitions [HW96 IV.5].
 *
 * Gauss, Radau IIA and Lobatto: c are the zeros of (x^p (x-1)^q)^(m), p + q - m = s. A has the
 * property C(s): sum_j a_ij c_j^(k-1) = c_i^k / k, k = 1 .. s; Lobatto IIIC has C(s-1) and a_i1 =
 * b_1. The eigenvalues of A^-1 are the poles of the stability function, a Pade approximation of
 * exp. SIRK: collocation at lambda times the zeros 2 -+ sqrt 2 of Laguerre's L_2, so that lambda is
 * the only eigenvalue of A. SIRK_T: not collocation; B(3), C(2), and lambda three times, which
 * leaves the nodes free. Stage errors are (c - c_1)(c - 1)(c - c_3)/6, with the nodes
 * of collocation: c_1 is kept, so that one stage has such an error, and the estimate sees it.
 *
 * Eigenvectors have unit length; those of a pair are u_1 + i u_2 with u_1 orthogonal to u_2 and no
 * shorter, and |u_1|^2 + |u_2|^2 = 2, which keeps the condition number of T at 9, 95 and 1171 for
 * Radau IIA with 3, 5 and 7 stages. All is computed with 33 digits, where the compiler has them, so
 * that each coefficient is the double next to the exact number. Print the tables of the library by
 * `test_collocation print`. */
#ifndef DAE_TEST_COLLOCATION_EXACT_H
#define DAE_TEST_COLLOCATION_EXACT_H

#include <complex.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>

#include "method/common/collocation.h"

#if LDBL_MANT_DIG < 113 && defined __SIZEOF_FLOAT128__
__extension__ typedef __float128 exact;
#else
typedef long double exact;
#endif

enum { S = COLLOCATION_STAGES };

typedef struct exact_complex {
    exact re, im;
} exact_complex;

typedef enum family { GAUSS, RADAU_IIA, LOBATTO_IIIA, LOBATTO_IIIC, SIRK_L, SIRK_A, SIRK_T } family;

/* What the numbers are rounded from. */
typedef struct exact_method {
    int s;
    exact c[S], b[S], A[S][S], inverse[S][S], T[S][S], T_inverse[S][S];
    int poles;             /* of pairs one, with im < 0; by decreasing real part */
    exact_complex pole[S]; /* eigenvalues of A^-1, */
    exact p[S + 1];        /* the zeros of sum p_k z^k */
} exact_method;

/* The coefficients in doubles, as the table has them. */
typedef struct rounded {
    int stages, order, reals, pairs;
    double nodes[S], A[S * S], b[S], inverse[S * S], d[S], left[S], lagrange[S], T[S * S],
        T_inverse[S * S], gamma, pair[S];
} rounded;

/* Below this a number is the rounding of 0. */
static const double NOTHING = 1e-18;

/* ---- numbers ---- */

static exact exact_root(exact x)
{
    exact r = sqrt((double)x);
    for (int k = 0; k < 2 && x > 0; k++) r = (r + x / r) / 2;
    return r;
}

static exact_complex times(exact_complex x, exact_complex y)
{
    return (exact_complex){x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}

static exact_complex over(exact_complex x, exact_complex y)
{
    const exact square = y.re * y.re + y.im * y.im;
    exact_complex z = times(x, (exact_complex){y.re, -y.im});
    return (exact_complex){z.re / square, z.im / square};
}

static exact factorial(int n)
{
    return n < 2 ? 1 : n * factorial(n - 1);
}

/* p(x) and p'(x), p = sum p_k x^k */
static exact_complex polynomial(int degree, const exact *p, exact_complex x, exact_complex *slope)
{
    exact_complex value = {0, 0};
    *slope = value;
    for (int k = degree; k >= 0; k--) {
        *slope = times(*slope, x);
        slope->re += value.re;
        slope->im += value.im;
        value = times(value, x);
        value.re += p[k];
    }
    return value;
}

/* One sweep of Ehrlich and Aberth over approximations of all zeros; the largest change */
static double improve_together(int degree, const exact *p, double complex *z)
{
    double most = 0.0;
    for (int i = 0; i < degree; i++) {
        double complex value = 0.0, slope = 0.0, others = 0.0;
        for (int k = degree; k >= 0; k--) {
            slope = slope * z[i] + value;
            value = value * z[i] + (double)p[k];
        }
        for (int j = 0; j < degree; j++)
            if (j != i) others += 1.0 / (z[i] - z[j]);
        double complex step = value / (slope - value * others);
        z[i] -= step;
        most = fmax(most, cabs(step));
    }
    return most;
}

/* x - p(x)/p'(x) */
static exact_complex newton_step(int degree, const exact *p, exact_complex x)
{
    exact_complex slope, value = polynomial(degree, p, x, &slope);
    exact_complex step = over(value, slope);
    return (exact_complex){x.re - step.re, x.im - step.im};
}

/* The zeros of a polynomial, of pairs the one with im < 0, by decreasing real part; their number.
 * All together in doubles, then each by Newton's method. */
static int zeros(int degree, const exact *p, exact_complex *zero)
{
    enum { MOST_SWEEPS = 60, STEPS = 2 };
    double complex z[S];
    int count = 0;
    for (int i = 0; i < degree; i++) z[i] = cexp((0.4 + 6.28 * i / degree) * I);
    for (int k = 0; k < MOST_SWEEPS && improve_together(degree, p, z) > 1e-10; k++) continue;
    for (int i = 0; i < degree; i++) {
        const bool real = fabs(cimag(z[i])) < 1e-6;
        exact_complex x = {creal(z[i]), real ? 0.0 : cimag(z[i])};
        if (x.im > 0) continue;
        for (int k = 0; k < STEPS; k++) x = newton_step(degree, p, x);
        if (fabs((double)x.re) < NOTHING) x.re = 0;
        int at = count++;
        for (; at > 0 && zero[at - 1].re < x.re; at--) zero[at] = zero[at - 1];
        zero[at] = x;
    }
    return count;
}

/* X := M^-1 by Gauss and Jordan with pivots of the columns */
static void invert(int s, exact M[S][S], exact X[S][S])
{
    exact W[S][2 * S];
    for (int i = 0; i < s; i++)
        for (int j = 0; j < 2 * s; j++) W[i][j] = j < s ? M[i][j] : j == s + i;
    for (int k = 0; k < s; k++) {
        int pivot = k;
        for (int i = k + 1; i < s; i++)
            if (fabs((double)W[i][k]) > fabs((double)W[pivot][k])) pivot = i;
        const exact scale = W[pivot][k];
        for (int j = k; j < 2 * s; j++) {
            exact entry = W[pivot][j] / scale;
            W[pivot][j] = W[k][j];
            W[k][j] = entry;
        }
        for (int i = 0; i < s; i++)
            for (int j = 2 * s - 1; i != k && j >= k; j--) W[i][j] -= W[i][k] * W[k][j];
    }
    for (int i = 0; i < s; i++)
        for (int j = 0; j < s; j++) X[i][j] = W[i][s + j];
}

/* ---- nodes and weights ---- */

/* c: the zeros of (x^p (x-1)^q)^(m), whose coefficients are (q over k) (-1)^(q-k) (p+k)!/(p+k-m)!
 */
static void find_nodes(exact_method *e, int p, int q, int m)
{
    exact coefficient[S + 1] = {0};
    exact_complex zero[S];
    for (int k = 0; k <= q; k++)
        coefficient[p + k - m] = (((q - k) % 2) ? -1 : 1) * factorial(q) * factorial(p + k) /
                                 (factorial(k) * factorial(q - k) * factorial(p + k - m));
    zeros(e->s, coefficient, zero);
    for (int i = 0; i < e->s; i++) e->c[i] = zero[e->s - 1 - i].re;
}

/* The zero of Laguerre's polynomial L_3 near x: 6 - 18 x + 9 x^2 - x^3 = 0 */
static exact laguerre_zero(exact x)
{
    for (int k = 0; k < 8; k++)
        x -= (6 - 18 * x + 9 * x * x - x * x * x) / (-18 + 18 * x - 3 * x * x);
    return x;
}

static void family_nodes(exact_method *e, family of)
{
    const int s = e->s;
    const exact two = exact_root(2), three = exact_root(3);
    switch (of) {
    case GAUSS: find_nodes(e, s, s, s); break;
    case RADAU_IIA: find_nodes(e, s - 1, s, s - 1); break;
    case LOBATTO_IIIA:
    case LOBATTO_IIIC: find_nodes(e, s - 1, s - 1, s - 2); break;
    case SIRK_L: /* lambda = (2 - sqrt 2)/2 */
        e->c[0] = (2 - two) * (2 - two) / 2;
        e->c[1] = 1;
        break;
    case SIRK_A: /* lambda = (3 + sqrt 3)/6 */
        e->c[0] = (2 - two) * (3 + three) / 6;
        e->c[1] = (2 + two) * (3 + three) / 6;
        break;
    case SIRK_T:
        e->c[0] = laguerre_zero(0.4) / laguerre_zero(2.3);
        e->c[1] = (exact)1 / 2;
        e->c[2] = 1;
        break;
    }
}

/* A c^2 = 2 lambda^3 - 6 lambda^2 c + 3 lambda c^2 in place of c^3/3: with A 1 = c and A c = c^2/2
 * the characteristic polynomial is (x - lambda)^3. 1/lambda is a zero of L_3, so that
 * R(infinity) = 0. */
static exact transformed_row(exact c)
{
    const exact l = 1 / laguerre_zero(2.3);
    return 2 * l * l * l - 6 * l * l * c + 3 * l * c * c;
}

/* b and A: (A; b) V = K with V_jk = c_j^(k-1) and K_ik = c_i^k / k, 1/k for b; and, for Lobatto
 * IIIC, e_1 and b_1 in the last column for A */
static void find_weights(exact_method *e, family of)
{
    const bool first_column = of == LOBATTO_IIIC;
    const int s = e->s;
    exact V[S][S], inverse[S][S];
    for (int j = 0; j < s; j++)
        for (int k = 0; k < s; k++) V[j][k] = k ? V[j][k - 1] * e->c[j] : 1;
    invert(s, V, inverse);
    for (int j = 0; j < s; j++)
        for (int k = 0; k < s; k++) e->b[j] += inverse[k][j] / (k + 1);
    for (int j = 0; first_column && j < s; j++) V[j][s - 1] = j == 0;
    if (first_column) invert(s, V, inverse);
    for (int i = 0; i < s; i++) {
        exact power = 1;
        for (int k = 0; k < s; k++) {
            power *= e->c[i];
            exact K = first_column && k == s - 1 ? e->b[0] : power / (k + 1);
            if (of == SIRK_T && k == s - 1) K = transformed_row(e->c[i]);
            for (int j = 0; j < s; j++) e->A[i][j] += K * inverse[k][j];
        }
    }
}

/* ---- transformation ---- */

/* The poles of the Pade approximation of degrees k and s: zeros of sum (k+s-i)!/(i! (s-i)!) (-z)^i
 */
static void find_poles(exact_method *e, int k)
{
    for (int i = 0; i <= e->s; i++)
        e->p[i] = (i % 2 ? -1 : 1) * factorial(k + e->s - i) / (factorial(i) * factorial(e->s - i));
    e->poles = zeros(e->s, e->p, e->pole);
}

/* K_k = A^-k e_1, k < s */
static void krylov(const exact_method *e, exact K[S][S])
{
    for (int k = 0; k < e->s; k++)
        for (int i = 0; i < e->s; i++) {
            K[k][i] = k == 0 && i == 0;
            for (int j = 0; k > 0 && j < e->s; j++) K[k][i] += e->inverse[i][j] * K[k - 1][j];
        }
}

/* v = p(A^-1)/(A^-1 - pole) e_1, an eigenvector of that pole, over its first component */
static void eigenvector(const exact_method *e, exact K[S][S], exact_complex pole, exact_complex *v)
{
    exact_complex factor = {0, 0};
    for (int i = 0; i < e->s; i++) v[i] = factor;
    for (int k = e->s - 1; k >= 0; k--) {
        factor = times(factor, pole);
        factor.re += e->p[k + 1];
        for (int i = 0; i < e->s; i++) {
            v[i].re += factor.re * K[k][i];
            v[i].im += factor.im * K[k][i];
        }
    }
    const exact_complex first = v[0];
    for (int i = 0; i < e->s; i++) v[i] = over(v[i], first);
}

/* The number of modulus 1 whose product with v makes sum v_i^2 real and positive; 1 if that is 0 */
static exact_complex phase(exact_complex square, exact size)
{
    exact r = exact_root(square.re * square.re + square.im * square.im);
    if (!(r > NOTHING * size)) return (exact_complex){1, 0};
    exact c = square.re / r, sine = -square.im / r;
    exact large = exact_root((1 + (c < 0 ? -c : c)) / 2), small = sine / (2 * large);
    return c < 0 ? (exact_complex){small, large} : (exact_complex){large, small};
}

/* Columns of T for a pole: one if it is real, or two */
static void transform_columns(exact_method *e, exact K[S][S], exact_complex pole, int column)
{
    exact_complex v[S], square = {0, 0};
    exact size = 0;
    eigenvector(e, K, pole, v);
    for (int i = 0; i < e->s; i++) {
        exact_complex own = times(v[i], v[i]);
        square = (exact_complex){square.re + own.re, square.im + own.im};
        size += v[i].re * v[i].re + v[i].im * v[i].im;
    }
    const bool pair = pole.im != 0;
    const exact_complex turn = phase(square, size);
    const exact length = exact_root(pair ? size / 2 : size);
    for (int i = 0; i < e->s; i++) {
        exact_complex u = times(v[i], turn);
        e->T[i][column] = u.re / length;
        if (pair) e->T[i][column + 1] = u.im / length;
    }
}

/* T of simple eigenvalues, the real one first, and what of them the method needs */
static void transform_simple(exact_method *e, rounded *m)
{
    exact K[S][S], mean = e->p[0] / e->p[e->s] * (e->s % 2 ? -1 : 1); /* 1 / det(A) */
    krylov(e, K);
    m->reals = e->s % 2;
    for (int k = 0; k < e->poles; k++) {
        const exact_complex pole = e->pole[k];
        const bool real = pole.im == 0;
        transform_columns(e, K, pole, real ? 0 : m->reals + 2 * m->pairs);
        if (real) m->gamma = (double)pole.re;
        if (real) continue;
        m->pair[2 * m->pairs] = (double)pole.re;
        m->pair[2 * m->pairs++ + 1] = (double)-pole.im;
    }
    for (int k = e->s; k > 1 && k % 2 == 0; k /= 2) mean = exact_root(mean);
    if (e->s % 2 == 0) m->gamma = e->s == 6 ? cbrt((double)mean) : (double)mean;
}

/* One eigenvalue s times: with gamma = 1/lambda (A^-1 - gamma) t_k = gamma t_k+1, t_1 = e_1 */
static void transform_multiple(exact_method *e, rounded *m)
{
    exact gamma = 0;
    for (int i = 0; i < e->s; i++) gamma += e->inverse[i][i] / e->s;
    m->reals = e->s;
    m->gamma = (double)gamma;
    e->T[0][0] = 1;
    for (int k = 1; k < e->s; k++)
        for (int i = 0; i < e->s; i++) {
            e->T[i][k] = -e->T[i][k - 1];
            for (int j = 0; j < e->s; j++) e->T[i][k] += e->inverse[i][j] * e->T[j][k - 1] / gamma;
        }
}

/* ---- the method ---- */

static double rounded_number(exact x)
{
    return fabs((double)x) < NOTHING ? 0.0 : (double)x;
}

static void round_matrix(int s, exact M[S][S], double *numbers)
{
    for (int i = 0; i < s; i++)
        for (int j = 0; j < s; j++) numbers[i * s + j] = rounded_number(M[i][j]);
}

/* d = b' A^-1, and what belongs to the polynomials on 0 and the nodes but 0 */
static void find_ends(const exact_method *e, rounded *m)
{
    for (int j = 0; j < e->s; j++) {
        exact sum = 0, lagrange = 1 / (e->c[j] > 0 ? e->c[j] : 1), left = 1;
        for (int i = 0; i < e->s; i++) {
            sum += e->b[i] * e->inverse[i][j];
            if (i == j || !(e->c[i] > 0)) continue;
            lagrange /= e->c[j] - e->c[i];
            left *= -e->c[i];
        }
        m->d[j] = rounded_number(sum);
        m->lagrange[j] = e->c[j] > 0 ? (double)lagrange : 0.0;
        m->left[j] = e->c[j] > 0 ? (double)(lagrange * left) : 0.0;
    }
}

static int family_order(family of, int stages)
{
    switch (of) {
    case GAUSS: return 2 * stages;
    case RADAU_IIA: return 2 * stages - 1;
    case LOBATTO_IIIA:
    case LOBATTO_IIIC: return 2 * stages - 2;
    case SIRK_L: return 2;
    case SIRK_A:
    case SIRK_T: break;
    }
    return 3;
}

static void make_method(rounded *m, family of, int stages)
{
    const bool singly = of == SIRK_L || of == SIRK_A || of == SIRK_T;
    exact_method e = {.s = stages};
    *m = (rounded){.stages = stages, .order = family_order(of, stages)};
    family_nodes(&e, of);
    find_weights(&e, of);
    if (of != LOBATTO_IIIA) {
        invert(stages, e.A, e.inverse);
        /* |R(z)| falls as |z|^(order - 2s) */
        if (!singly) find_poles(&e, m->order - stages);
        if (singly) transform_multiple(&e, m);
        if (!singly) transform_simple(&e, m);
        invert(stages, e.T, e.T_inverse);
    }
    find_ends(&e, m);
    for (int i = 0; i < stages; i++) {
        m->nodes[i] = (double)e.c[i];
        m->b[i] = (double)e.b[i];
    }
    round_matrix(stages, e.A, m->A);
    round_matrix(stages, e.inverse, m->inverse);
    round_matrix(stages, e.T, m->T);
    round_matrix(stages, e.T_inverse, m->T_inverse);
}

#endif
