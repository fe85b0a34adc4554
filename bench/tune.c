/* Daedal alone, the same solution N times: something for perf or callgrind to look at.
 *
 *   bench_tune PROBLEM[:SIZE] [RTOL [N]] */
#include "peer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static model *model_from_argument(const char *argument)
{
    char name[64];
    const char *colon = strchr(argument, ':');
    int length = colon ? (int)(colon - argument) : (int)strlen(argument);
    snprintf(name, sizeof name, "%.*s", length, argument);
    return model_new(name, colon ? atoi(colon + 1) : 0);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: %s PROBLEM[:SIZE] [RTOL [N]]\n", argv[0]);
        return 2;
    }
    model *m = model_from_argument(argv[1]);
    if (!m) {
        fprintf(stderr, "%s: no such problem\n", argv[1]);
        return 1;
    }
    double rtol = argc > 2 ? atof(argv[2]) : 1e-6, least = INFINITY;
    int count = argc > 3 ? atoi(argv[3]) : 100, n = m->form.n;
    double *atol = malloc((size_t)n * sizeof *atol), *y = malloc((size_t)n * sizeof *y);
    run r = {0};
    if (!atol || !y) return 1;
    for (int i = 0; i < n; i++) atol[i] = rtol * model_scale(m, i);
    for (int i = 0; i < count; i++) {
        r = (run){.y = y};
        peer_daedal.solve(&(task){m, rtol, atol, NULL}, &r);
        least = fmin(least, r.seconds);
    }
    printf("%s n %d rtol %g: %s steps %ld F %ld J %ld LU %ld rejected %ld + %ld, least %.4f ms\n",
           m->name, n, rtol, r.ok ? "ok" : r.note, r.steps, r.residuals, r.jacobians, r.factors,
           r.bad_error, r.bad_newton, 1e3 * least);
    free(atol);
    free(y);
    model_free(m);
    return 0;
}
