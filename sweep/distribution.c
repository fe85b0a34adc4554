/* Distributions by their quantiles, so that one number in (0, 1) gives one value. */
#include "sweep.h"

#include "internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum kind {
    NORMAL,
    UNIFORM,
    LOGNORMAL,
    LOGUNIFORM,
    TRIANGULAR,
    EXPONENTIAL,
    WEIBULL,
    INTEGERS,
    CHOICE,
    KINDS
} kind;

static const struct {
    const char *name;
    int least, most; /* arguments */
    const char *usage;
} about[KINDS] = {
    [NORMAL] = {"normal", 2, 4, "normal(mean, sigma) or normal(mean, sigma, low, high)"},
    [UNIFORM] = {"uniform", 2, 2, "uniform(low, high)"},
    [LOGNORMAL] = {"lognormal", 2, 2, "lognormal(mean, sigma) of the logarithm"},
    [LOGUNIFORM] = {"loguniform", 2, 2, "loguniform(low, high)"},
    [TRIANGULAR] = {"triangular", 3, 3, "triangular(low, mode, high)"},
    [EXPONENTIAL] = {"exponential", 1, 1, "exponential(mean)"},
    [WEIBULL] = {"weibull", 2, 2, "weibull(shape, scale)"},
    [INTEGERS] = {"integers", 2, 2, "integers(first, last)"},
    [CHOICE] = {"choice", 1, SWEEP_MOST_ARGUMENTS, "choice(x, y, ..)"},
};

/* ---- the normal distribution ---- */

static double normal_cdf(double x)
{
    return 0.5 * erfc(-x * 0.70710678118654752440);
}

/* The rational approximation 26.2.23 of [AS64], good to 4.5e-4, and Halley's iteration, which
 * triples the digits each time: three make them all. */
double sweep_normal_quantile(double u)
{
    bool upper = u > 0.5;
    double p = upper ? 1.0 - u : u, t = sqrt(-2.0 * log(p));
    double x = -(t - (2.515517 + t * (0.802853 + t * 0.010328)) /
                         (1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308))));
    for (int k = 0; k < 3; k++) {
        double density = 0.39894228040143267794 * exp(-0.5 * x * x);
        double newton = (normal_cdf(x) - p) / density;
        x -= newton / (1.0 + 0.5 * x * newton);
    }
    return upper ? -x : x;
}

/* Probabilities below two bounds, or, where both lie above the mean, above them: those have all of
 * their digits. Whether they are those above. */
static bool bound_tails(const double *a, double tail[2])
{
    bool above = a[2] > a[0];
    double sign = above ? -1.0 : 1.0;
    for (int k = 0; k < 2; k++) tail[k] = normal_cdf(sign * (a[2 + k] - a[0]) / a[1]);
    return above;
}

/* Of the part between two bounds. */
static double bounded_normal(const double *a, double u)
{
    double tail[2], sign = bound_tails(a, tail) ? -1.0 : 1.0;
    double p = fmin(tail[0] + u * (tail[1] - tail[0]), 1.0 - 0x1p-53);
    double x = a[0] + sign * a[1] * sweep_normal_quantile(p);
    return fmin(fmax(x, a[2]), a[3]);
}

/* Whether the part between the bounds has a probability that numbers can tell. */
static bool has_mass(const double *a)
{
    double tail[2];
    (void)bound_tails(a, tail);
    return fabs(tail[1] - tail[0]) > 1e-290;
}

static double triangular(const double *a, double u)
{
    double width = a[2] - a[0], left = (a[1] - a[0]) / width;
    return u < left ? a[0] + sqrt(u * width * (a[1] - a[0]))
                    : a[2] - sqrt((1.0 - u) * width * (a[2] - a[1]));
}

double sweep_quantile(const sweep_distribution *d, double u)
{
    const double *a = d->argument;
    switch ((kind)d->kind) {
    case NORMAL:
        return d->count == 4 ? bounded_normal(a, u) : a[0] + a[1] * sweep_normal_quantile(u);
    case UNIFORM: return a[0] + u * (a[1] - a[0]);
    case LOGNORMAL: return exp(a[0] + a[1] * sweep_normal_quantile(u));
    case LOGUNIFORM: return exp(log(a[0]) + u * (log(a[1]) - log(a[0])));
    case TRIANGULAR: return triangular(a, u);
    case EXPONENTIAL: return -a[0] * log1p(-u);
    case WEIBULL: return a[1] * pow(-log1p(-u), 1.0 / a[0]);
    case INTEGERS: return fmin(a[0] + floor(u * (a[1] - a[0] + 1.0)), a[1]);
    case CHOICE: return a[(int)fmin(floor(u * d->count), d->count - 1.0)];
    case KINDS: break;
    }
    return NAN;
}

/* ---- words ---- */

/* What is wrong with the arguments; NULL: nothing. */
static const char *fault(const sweep_distribution *d)
{
    const double *a = d->argument;
    switch ((kind)d->kind) {
    case NORMAL:
        if (d->count == 3) return "it has two arguments, or four";
        if (!(a[1] > 0.0)) return "sigma must be above 0";
        if (d->count < 4) return NULL;
        if (!(a[2] < a[3])) return "the lower bound must lie below the upper one";
        return has_mass(a) ? NULL : "hardly any value lies between the bounds";
    case UNIFORM: return a[0] < a[1] ? NULL : "low must lie below high";
    case LOGNORMAL: return a[1] > 0.0 ? NULL : "sigma must be above 0";
    case LOGUNIFORM: return a[0] > 0.0 && a[0] < a[1] ? NULL : "0 < low < high must hold";
    case TRIANGULAR:
        return a[0] <= a[1] && a[1] <= a[2] && a[0] < a[2] ? NULL : "low <= mode <= high must hold";
    case EXPONENTIAL: return a[0] > 0.0 ? NULL : "the mean must be above 0";
    case WEIBULL: return a[0] > 0.0 && a[1] > 0.0 ? NULL : "shape and scale must be above 0";
    case INTEGERS:
        return a[0] <= a[1] && floor(a[0]) == a[0] && floor(a[1]) == a[1]
                   ? NULL
                   : "first and last are whole numbers, in this order";
    case CHOICE:
    case KINDS: break;
    }
    return NULL;
}

/* "1, 0.1)" up to the end of the text. False: that is something else. */
static bool read_arguments(const char *at, sweep_distribution *d)
{
    for (d->count = 0; d->count < SWEEP_MOST_ARGUMENTS;) {
        char *end;
        double x = strtod(at, &end);
        if (end == at || !isfinite(x)) return false;
        d->argument[d->count++] = x;
        at = end + strspn(end, " \t");
        if (*at == ')') return at[1 + strspn(at + 1, " \t")] == '\0';
        if (*at++ != ',') return false;
    }
    return false;
}

static report_status complain_kind(const char *text, report_error *error)
{
    char list[400] = "";
    size_t at = 0;
    for (int k = 0; k < KINDS && at < sizeof list; k++)
        at += (size_t)snprintf(list + at, sizeof list - at, "%s%s", k ? ", " : "", about[k].usage);
    return report_fail(error, REPORT_ERR_ARGUMENT,
                       "'%.100s' is no distribution. There are %s, with numbers as arguments.",
                       text, list);
}

report_status sweep_distribution_read(const char *text, sweep_distribution *d, report_error *error)
{
    size_t length = strcspn(text, "( \t");
    const char *open = text + length + strspn(text + length, " \t");
    *d = (sweep_distribution){.kind = KINDS};
    for (int k = 0; k < KINDS; k++)
        if (strlen(about[k].name) == length && strncmp(about[k].name, text, length) == 0)
            d->kind = k;
    if (d->kind == KINDS || *open != '(') return complain_kind(text, error);
    bool read = read_arguments(open + 1, d);
    if (!read || d->count < about[d->kind].least || d->count > about[d->kind].most)
        return report_fail(error, REPORT_ERR_ARGUMENT, "'%.100s': it is %s, with finite numbers.",
                           text, about[d->kind].usage);
    const char *why = fault(d);
    if (!why) return REPORT_OK;
    return report_fail(error, REPORT_ERR_ARGUMENT, "'%.100s': %s (%s).", text, why,
                       about[d->kind].usage);
}
