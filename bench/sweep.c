/* Work of Daedal on ten models against the error it achieves, for tuning constants.
 *
 *   bench_sweep > new.txt           one line a model and tolerance
 *   bench_sweep old.txt > new.txt   and on stderr: work of old / work of new at equal error
 *
 * Work counts operations, so that it repeats to the digit on a busy machine: 2 for an attempted
 * step, 1 for an evaluation of F with its solve, 2 for a factorisation, 2 for a Jacobian: about
 * what they take on the small models. */
#include "work_precision.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models.h"

typedef struct subject {
    const char *name;
    int size;
} subject;

static const subject subjects[] = {
    {"robertson", 0},     {"akzo", 0},      {"transamp", 0},    {"hires", 0},   {"pendulum1", 0},
    {"pendulum_rest", 0}, {"pendulum2", 0}, {"trajectory2", 0}, {"heat2d", 20}, {"ladder", 300},
};

enum { SUBJECTS = sizeof subjects / sizeof subjects[0] };

static double work_of(const dae_stats *s)
{
    return 2.0 * (double)s->attempts + (double)s->residuals + 2.0 * (double)s->factorisations +
           2.0 * (double)s->jacobians;
}

/* max |e_i| / (|y_i| + s_i) over the variables of index 0 and 1 */
static double error_of(const model *m, const double *y)
{
    double most = 0.0;
    for (int i = 0; i < m->form.n; i++) {
        if (m->form.kinds && m->form.kinds[i] >= DAE_KIND_INDEX2) continue;
        double scale = fabs(m->reference[i]) + (m->atol_factor ? m->atol_factor[i] : 1.0);
        most = fmax(most, fabs(y[i] - m->reference[i]) / scale);
    }
    return most;
}

/* Solve m at one tolerance; false if it fails. */
static bool solve(const model *m, double rtol, double *y, dae_stats *stats)
{
    dae_options options = dae_options_default();
    double *atol = malloc((size_t)m->form.n * sizeof *atol);
    dae_problem *problem = NULL;
    dae_solver *solver = NULL;
    for (int i = 0; atol && i < m->form.n; i++)
        atol[i] = rtol * (m->atol_factor ? m->atol_factor[i] : 1.0);
    options.rtol = rtol;
    options.atol_by_unknown = atol;
    bool ok = atol && dae_problem_from_residual(&m->form, &problem, NULL) == DAE_OK &&
              dae_solver_new(problem, &options, &solver, NULL) == DAE_OK &&
              dae_solver_start(solver, m->t0, m->y0, m->yp0) == DAE_OK &&
              dae_solver_run(solver, m->tend, y, NULL) == DAE_OK;
    if (ok) *stats = *dae_solver_stats(solver);
    dae_solver_free(solver);
    dae_problem_free(problem);
    free(atol);
    return ok;
}

/* Solve one model at rtol = 1e-3 .. 1e-9, print a line each, and collect the curve. */
static void sweep(const subject *s, curve *c)
{
    model *m = model_new(s->name, s->size);
    double *y = m ? malloc((size_t)m->form.n * sizeof *y) : NULL;
    for (int half = 6; y && half <= 18; half++) {
        double rtol = pow(10.0, -0.5 * half);
        dae_stats stats;
        if (!solve(m, rtol, y, &stats)) {
            printf("# %s %.1e failed\n", s->name, rtol);
            continue;
        }
        double error = error_of(m, y), work = work_of(&stats);
        curve_add(c, error, work);
        printf("%s %.1e error %.3e work %.0f steps %ld F %ld J %ld LU %ld rejected %ld\n", s->name,
               rtol, error, work, stats.steps, stats.residuals, stats.jacobians,
               stats.factorisations, stats.attempts - stats.steps);
    }
    free(y);
    model_free(m);
}

/* Read the curves of an earlier run. */
static bool read_curves(const char *path, curve *curves)
{
    FILE *file = fopen(path, "r");
    char line[256], name[64];
    double rtol, error, work;
    if (!file) return false;
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "%63s %lf error %lf work %lf", name, &rtol, &error, &work) == 4)
            for (int i = 0; i < SUBJECTS; i++)
                if (strcmp(name, subjects[i].name) == 0) curve_add(&curves[i], error, work);
    fclose(file);
    return true;
}

int main(int argc, char **argv)
{
    static curve old[SUBJECTS], new[SUBJECTS];
    if (argc > 1 && !read_curves(argv[1], old)) {
        fprintf(stderr, "%s: cannot be read\n", argv[1]);
        return 1;
    }
    double sum = 0.0;
    int compared = 0;
    for (int i = 0; i < SUBJECTS; i++) {
        sweep(&subjects[i], &new[i]);
        ratio r = argc > 1 ? curve_ratio(&new[i], &old[i]) : (ratio){0};
        if (!r.valid) continue;
        fprintf(stderr, "%-14s old / new %.2f\n", subjects[i].name, r.mean);
        sum += log(r.mean);
        compared++;
    }
    if (compared > 0) fprintf(stderr, "%-14s old / new %.2f\n", "mean", exp(sum / compared));
    return 0;
}
