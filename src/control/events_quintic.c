/* The quintic through the values of a component at the Chebyshev-Lobatto points, its extrema and
 * its zeros. */
#include "control/events_parts.h"

/* The quintic is no good guide if its last two Chebyshev coefficients exceed this fraction of all
 * but the first; the interval is then halved, at most SPLITS times. Measured on sin(c(t)) exp(2t)
 * with random cubics c, roots at least h/20 apart: 0.84 percent of the roots lost without halving,
 * none of 80000 with it. */
static const double POOR = 0.01;

double polynomial_at(const polynomial *p, double u)
{
    double sum = 0.0;
    for (int k = p->degree; k >= 0; k--) sum = sum * u + p->a[k];
    return sum;
}

polynomial polynomial_derivative(const polynomial *p)
{
    polynomial d = {.degree = p->degree - 1};
    for (int k = 0; k <= d.degree; k++) d.a[k] = (k + 1) * p->a[k + 1];
    return d;
}

/* c_k = (2/5) sum''_j v_j cos(pi j k / 5): Chebyshev coefficients of the quintic through v, u
 * growing with j */
static void chebyshev_coefficients(const double *v, double *c)
{
    /* cos(m pi / 5), m = 0 .. 9 */
    static const double cosine[10] = {1.0,
                                      0.80901699437494742,
                                      0.30901699437494742,
                                      -0.30901699437494742,
                                      -0.80901699437494742,
                                      -1.0,
                                      -0.80901699437494742,
                                      -0.30901699437494742,
                                      0.30901699437494742,
                                      0.80901699437494742};
    for (int k = 0; k < NODES; k++) {
        double sum = 0.5 * (v[DEGREE] + v[0] * cosine[(DEGREE * k) % 10]);
        for (int j = 1; j < DEGREE; j++) sum += v[DEGREE - j] * cosine[(j * k) % 10];
        c[k] = 0.4 * sum;
    }
    c[0] *= 0.5;
    c[DEGREE] *= 0.5;
}

static polynomial chebyshev_to_powers(const double *c)
{
    return (polynomial){.degree = DEGREE,
                        .a = {c[0] - c[2] + c[4], c[1] - 3.0 * c[3] + 5.0 * c[5],
                              2.0 * c[2] - 8.0 * c[4], 4.0 * c[3] - 20.0 * c[5], 8.0 * c[4],
                              16.0 * c[5]}};
}

/* The zero of a polynomial between a and b, where its signs differ. Bisection: it is cheap beside
 * a call of g, and sixty steps exhaust the digits. */
static double polynomial_zero(const polynomial *p, double a, double b)
{
    double pa = polynomial_at(p, a);
    for (int k = 0; k < 60; k++) {
        double m = 0.5 * (a + b), pm = polynomial_at(p, m);
        if ((pm < 0.0) == (pa < 0.0))
            a = m;
        else
            b = m;
    }
    return 0.5 * (a + b);
}

/* Between zeros of p' the polynomial is monotone; so climb up from the linear derivative. */
int polynomial_zeros(const polynomial *p, double *zeros)
{
    polynomial chain[NODES];
    int depth = 0, count = 0;
    for (chain[0] = *p; chain[depth].degree > 1; depth++)
        chain[depth + 1] = polynomial_derivative(&chain[depth]);
    for (; depth >= 0; depth--) {
        double bound[NODES + 1] = {-1.0};
        for (int k = 0; k < count; k++) bound[k + 1] = zeros[k];
        bound[count + 1] = 1.0;
        int pieces = count + 1;
        count = 0;
        for (int k = 0; k < pieces; k++) {
            double left = polynomial_at(&chain[depth], bound[k]);
            double right = polynomial_at(&chain[depth], bound[k + 1]);
            if ((left < 0.0) != (right < 0.0))
                zeros[count++] = polynomial_zero(&chain[depth], bound[k], bound[k + 1]);
        }
    }
    return count;
}

/* Newton's method, or bisection where it leaves the bracket. */
double polynomial_zero_between(const polynomial *p, double a, double va, double b, double vb)
{
    const double off_a = va - polynomial_at(p, a), off_b = vb - polynomial_at(p, b);
    const double tilt = (off_b - off_a) / (b - a), towards = va < vb ? 1.0 : -1.0;
    const polynomial slope = polynomial_derivative(p);
    double u = a + (b - a) * fabs(va) / (fabs(va) + fabs(vb)), lo = a, hi = b;
    for (int k = 0; k < 40; k++) {
        double v = polynomial_at(p, u) + off_a + tilt * (u - a);
        if (v * towards < 0.0)
            lo = u;
        else
            hi = u;
        double next = u - v / (polynomial_at(&slope, u) + tilt);
        bool inside = next >= fmin(lo, hi) && next <= fmax(lo, hi);
        if (!inside) next = 0.5 * (lo + hi);
        if (fabs(next - u) <= DBL_EPSILON) return next;
        u = next;
    }
    return u;
}

component_fit fit_values(const double *v)
{
    double c[NODES], change = 0.0;
    chebyshev_coefficients(v, c);
    for (int k = 1; k < NODES; k++) change += fabs(c[k]);
    double error = fabs(c[4]) + fabs(c[5]);
    return (component_fit){.p = chebyshev_to_powers(c),
                           .change = change,
                           .error = error,
                           .near = change > 0.0 && fabs(c[0]) <= change + error,
                           .poor = error > POOR * change};
}
