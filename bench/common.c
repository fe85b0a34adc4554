#define _POSIX_C_SOURCE 200809L
#include "peer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

double bench_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

bool model_is_sparse(const model *m)
{
    return m->form.colptr != NULL;
}

/* Robertson's variables at tend. With the model's larger suggestion the error test, and so the
 * comparison, would see nothing of y1 and y2 there. */
static const double robertson_scale[] = {1e-8, 1e-14, 1};

double model_scale(const model *m, int i)
{
    if (!strcmp(m->name, "robertson")) return robertson_scale[i];
    return m->atol_factor ? m->atol_factor[i] : 1;
}

void *bench_space(size_t count, size_t size)
{
    void *p = calloc(count ? count : 1, size);
    if (!p) abort();
    return p;
}

double bench_digits(int count, const double *y, const double *reference, bool each)
{
    double most = 0.0, size = 0.0;
    for (int i = 0; i < count; i++) {
        double d = fabs(y[i] - reference[i]), own = fabs(reference[i]);
        if (each) d /= own;
        most = isnan(d) ? INFINITY : fmax(most, d);
        size = each ? 1.0 : fmax(size, own);
    }
    return -log10(most / size);
}
