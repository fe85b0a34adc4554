#include "method/common/formula.h"

#include <complex.h>
#include <math.h>

#include "base/diag.h"

/* Conditions hold to this; roots are so near to the unit circle that they are on it, and so near to
 * each other that they are one. */
static const double EXACT = 1e-9, ON_CIRCLE = 1e-6, MULTIPLE = 1e-3;

const formula formula_adams2 = {.steps = 1, .a = {1.0, -1.0}, .b = {0.5, 0.5}};
const formula formula_adams3 = {
    .steps = 2, .a = {1.0, -1.0}, .b = {5.0 / 12.0, 8.0 / 12.0, -1.0 / 12.0}};
const formula formula_adams4 = {
    .steps = 3, .a = {1.0, -1.0}, .b = {9.0 / 24.0, 19.0 / 24.0, -5.0 / 24.0, 1.0 / 24.0}};
/* All one-leg formulas of two steps and order 2 by (3.4.28), (3.4.29): a = (c + 1/2, -2 c, c -
 * 1/2), b = (c + d, 1 - c - 2 d, d). c = 1, d = 0 is BDF, c = 1/2, d = 0 the midpoint rule. With c
 * = 3/4, d = 1/8 the roots of sigma have magnitude 0.38, and the formula is A-stable. */
const formula formula_leg2 = {
    .one_leg = true, .steps = 2, .a = {1.25, -1.5, 0.25}, .b = {0.875, 0.0, 0.125}};
const formula formula_midpoint = {.one_leg = true, .steps = 1, .a = {1.0, -1.0}, .b = {0.5, 0.5}};

formula formula_of_options(const dae_options *o, formula_use use)
{
    formula f = {.one_leg = use == FORMULA_ONE_LEG, .steps = o->formula_steps};
    for (int j = 0; j <= FORMULA_STEPS && j <= f.steps; j++) {
        f.a[j] = o->formula_a[j];
        f.b[j] = o->formula_b[j];
    }
    return f;
}

/* sum_j x_j (s - j)^r */
static double moment(const formula *f, const double *x, double s, int r)
{
    double sum = 0.0;
    for (int j = 0; j <= f->steps; j++) sum += x[j] * pow(s - j, r);
    return sum;
}

static bool holds(double value, double expected)
{
    return fabs(value - expected) <= EXACT * (1.0 + fabs(expected));
}

/* Where x' is taken, in steps from t_n: 0, or -sum j b_j. */
static double leg(const formula *f)
{
    return f->one_leg ? -moment(f, f->b, 0.0, 1) : 0.0;
}

static bool consistent(const formula *f, double s)
{
    double b = moment(f, f->b, s, 0);
    return holds(moment(f, f->a, s, 0), 0.0) && holds(moment(f, f->a, s, 1), b) &&
           (!f->one_leg || holds(b, 1.0));
}

int formula_order(const formula *f)
{
    const double s = leg(f);
    if (!consistent(f, s)) return 0;
    for (int r = 2;; r++) {
        double a = moment(f, f->a, s, r), b = moment(f, f->b, s, r - 1);
        bool more = f->one_leg ? holds(a, 0.0) && holds(b, 0.0) : holds(a, r * b);
        if (!more || r > 2 * FORMULA_STEPS) return r - 1;
    }
}

/* All roots of sum_j x_j z^(k-j), by the iteration of Weierstrass; leading zeros are left out. */
static int roots_of(const formula *f, const double *x, double complex *z)
{
    int k = f->steps;
    while (k > 0 && *x == 0.0) x++, k--;
    for (int i = 0; i < k; i++) z[i] = cpow(0.4 + 0.9 * I, i);
    for (int sweep = 0; sweep < 500; sweep++)
        for (int i = 0; i < k; i++) {
            double complex value = x[0], others = x[0];
            for (int j = 1; j <= k; j++) value = value * z[i] + x[j];
            for (int j = 0; j < k; j++)
                if (j != i) others *= z[i] - z[j];
            if (cabs(others) > 0.0) z[i] -= value / others;
        }
    return k;
}

/* The root that breaks the condition, or -1; *marginal if there is one of magnitude 1. */
static int offender(int count, const double complex *z, bool *marginal)
{
    for (int i = 0; i < count; i++) {
        double size = cabs(z[i]);
        if (size > 1.0 + ON_CIRCLE) return i;
        if (size < 1.0 - ON_CIRCLE) continue;
        *marginal = true;
        for (int j = 0; j < count; j++)
            if (j != i && cabs(z[j] - z[i]) < MULTIPLE) return i;
    }
    return -1;
}

static dae_status refuse_roots(const char *polynomial, const char *why, double complex z,
                               dae_diag *diag)
{
    return diag_set(diag, DAE_ERR_ARGUMENT,
                    "The multistep formula is not stable: %s has the root %.6g%+.6gi of magnitude "
                    "%.6g%s. %s.",
                    polynomial, creal(z), cimag(z), cabs(z),
                    cabs(z) > 1.0 + ON_CIRCLE ? "" : ", more than once", why);
}

dae_status formula_check(const formula *f, bool *marginal, dae_diag *diag)
{
    double complex z[FORMULA_STEPS + 1];
    bool on_circle = false;
    *marginal = false;
    if (f->steps < 1 || f->steps > FORMULA_STEPS)
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "A multistep formula has 1 to %d steps, and so many numbers a_0 .. a_k and "
                        "b_0 .. b_k; formula_steps is %d.",
                        FORMULA_STEPS, f->steps);
    if (!(fabs(f->a[0]) > 0.0 && fabs(f->b[0]) > 0.0))
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "The multistep formula is explicit: a_0 = %g, b_0 = %g. Both must not be "
                        "0, as x_n could not be found from F(t, x, x') = 0.",
                        f->a[0], f->b[0]);
    if (formula_order(f) < 1)
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "The multistep formula is not consistent: sum a_j = %g must be 0, "
                        "-sum j a_j = %g must be sum b_j = %g%s.",
                        moment(f, f->a, 0.0, 0), moment(f, f->a, 0.0, 1), moment(f, f->b, 0.0, 0),
                        f->one_leg ? ", which must be 1" : "");
    int bad = offender(roots_of(f, f->a, z), z, &on_circle);
    if (bad >= 0)
        return refuse_roots("rho(z) = sum a_j z^(k-j)", "It fails on x' = 0", z[bad], diag);
    if (!f->one_leg) return DAE_OK;
    bad = offender(roots_of(f, f->b, z), z, marginal);
    if (bad < 0) return DAE_OK;
    return refuse_roots("sigma(z) = sum b_j z^(k-j)",
                        "Errors of algebraic variables would grow by it from step to step", z[bad],
                        diag);
}
