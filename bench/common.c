#define _POSIX_C_SOURCE 200809L
#include "peer.h"

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
