/* Work-precision curves, and the ratio of two of them at equal error. */
#ifndef BENCH_WORK_PRECISION_H
#define BENCH_WORK_PRECISION_H

enum { CURVE_MAX = 32 };

/* log10 time over log10 error; errors strictly decreasing along the index. */
typedef struct curve {
    int count;
    double log_error[CURVE_MAX], log_time[CURVE_MAX];
    double weight[CURVE_MAX]; /* how many runs the point is the mean of */
} curve;

typedef struct ratio {
    int valid;        /* 0: the curves share no error */
    double low, high; /* the common range of errors */
    double mean;      /* geometric mean of time_b / time_a over it */
    double worst;     /* the smallest ratio in it */
    double at_worst;  /* where that is */
} ratio;

/* Append the next point, tolerances going down. An error that does not go down is pooled. */
void curve_add(curve *c, double error, double seconds);

/* log10 of the time for this log10 error, linear between the points. */
double curve_time(const curve *c, double log_error);

/* time_b / time_a at equal error: above 1 means that a is faster. */
ratio curve_ratio(const curve *a, const curve *b);

#endif
