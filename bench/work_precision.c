#include "work_precision.h"

#include <math.h>

/* Merge the last point into the one before it: the mean of both errors and times.
 *
 * A tighter tolerance now and then gives a larger error, since errors of different sign cancel at
 * one of them. Taking the lucky point alone would flatter a code; pooling adjacent violators, as in
 * isotonic regression, replaces both by their geometric mean. */
static void pool_last(curve *c)
{
    double *weight = c->weight;
    int i = --c->count - 1;
    double w = weight[i] + weight[i + 1];
    c->log_error[i] += (c->log_error[i + 1] - c->log_error[i]) * weight[i + 1] / w;
    c->log_time[i] += (c->log_time[i + 1] - c->log_time[i]) * weight[i + 1] / w;
    weight[i] = w;
}

void curve_add(curve *c, double error, double seconds)
{
    if (c->count == CURVE_MAX) return;
    c->log_error[c->count] = log10(error);
    c->log_time[c->count] = log10(seconds);
    c->weight[c->count++] = 1;
    while (c->count > 1 && c->log_error[c->count - 1] >= c->log_error[c->count - 2]) pool_last(c);
}

double curve_time(const curve *c, double log_error)
{
    int i = 0;
    while (i < c->count - 2 && c->log_error[i + 1] > log_error) i++;
    if (c->count < 2) return c->log_time[0];
    double part = (log_error - c->log_error[i]) / (c->log_error[i + 1] - c->log_error[i]);
    return c->log_time[i] + part * (c->log_time[i + 1] - c->log_time[i]);
}

ratio curve_ratio(const curve *a, const curve *b)
{
    enum { SAMPLES = 200 };
    ratio r = {0};
    if (a->count < 2 || b->count < 2) return r;
    double high = fmin(a->log_error[0], b->log_error[0]);
    double low = fmax(a->log_error[a->count - 1], b->log_error[b->count - 1]);
    if (low >= high) return r;
    double sum = 0, worst = INFINITY;
    for (int i = 0; i <= SAMPLES; i++) {
        double at = low + (high - low) * i / SAMPLES;
        double difference = curve_time(b, at) - curve_time(a, at);
        sum += difference;
        if (difference < worst) worst = difference, r.at_worst = pow(10, at);
    }
    r.valid = 1;
    r.low = pow(10, low), r.high = pow(10, high);
    r.mean = pow(10, sum / (SAMPLES + 1)), r.worst = pow(10, worst);
    return r;
}
