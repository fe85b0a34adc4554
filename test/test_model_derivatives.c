/* The Jacobian of every model text against differences in quadruple precision: no entry is wrong,
 * none is missing, and none is there that is zero wherever one looks. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "expr/series.h"
#include "model/model.h"
#include "numbers.h"
#include "problem/residual.h"

#ifdef TAPE_QUAD

enum { POINTS = 8 };

/* One model in quadruple precision. */
typedef struct quad_model {
    const model_form *form;
    tape_quad *y, *parameters, *memory, *low, *high; /* y: y_i and y'_i by turns */
    tape_quad *entries;                              /* of the exact Jacobian */
    series_program *residual, *jacobian;             /* their coefficient of order 0 is the value */
    series_run_quad residual_run, jacobian_run;
} quad_model;

static tape_quad *quads(size_t count)
{
    tape_quad *block = calloc(count + 1, sizeof *block);
    assert_non_null(block);
    return block;
}

/* The program of f's expressions, and a run of it at q's point. */
static series_program *quad_program(quad_model *q, const model_program *f, series_run_quad *run)
{
    const int n = q->form->n;
    int *lag = calloc(f->outputs + 1, sizeof *lag), *top = calloc((size_t)n + 1, sizeof *top);
    assert_true(lag && top);
    for (int j = 0; j < n; j++) top[j] = 1;
    series_program *p = series_program_new(q->form->flat->graph, f->e, lag, f->outputs, top, n, 0);
    assert_true(p && series_run_new_quad(run, p));
    for (int j = 0; j < n; j++) run->rows[j] = q->y + 2 * j;
    run->parameters = q->parameters;
    run->memory = q->memory;
    free(lag);
    free(top);
    return p;
}

static void quad_open(quad_model *q, const model_form *form)
{
    size_t n = (size_t)form->n;
    q->form = form;
    q->y = quads(2 * n);
    q->low = quads(n);
    q->high = quads(n);
    q->parameters = quads(form->flat->parameter_count);
    q->memory = quads((size_t)form->flat->memory_count);
    q->entries = quads(form->jacobian_outputs);
    for (size_t i = 0; i < form->flat->parameter_count; i++) q->parameters[i] = form->parameters[i];
    q->residual = quad_program(q, &form->residual, &q->residual_run);
    q->jacobian = quad_program(q, &form->jacobian, &q->jacobian_run);
}

static void quad_close(quad_model *q)
{
    tape_quad *const blocks[] = {q->y, q->low, q->high, q->parameters, q->memory, q->entries};
    for (size_t k = 0; k < sizeof blocks / sizeof blocks[0]; k++) free(blocks[k]);
    series_run_free_quad(&q->residual_run);
    series_run_free_quad(&q->jacobian_run);
    series_program_free(q->residual);
    series_program_free(q->jacobian);
}

static void quad_values(series_run_quad *run, double t, tape_quad *out)
{
    run->time = t;
    series_prepare_quad(run);
    series_sweep_quad(run, 0);
    series_outputs_quad(run, 0, out);
}

/* Both exact matrices in quadruple precision: in double, sums of large terms may cancel. */
static void quad_jacobian(quad_model *q, double t, double *dfdy, double *dfdyp)
{
    const model_form *f = q->form;
    quad_values(&q->jacobian_run, t, q->entries);
    for (size_t k = 0; k < f->jacobian_outputs; k++) {
        int place = f->scatter[k];
        double *entry = place >= 0 ? &dfdy[place] : &dfdyp[-1 - place];
        *entry = (double)q->entries[k];
    }
}

/* dF/dx by central differences into q->high, for x = y_j or y'_j; their rounding into q->low. */
static void quad_column(quad_model *q, double t, tape_quad *x)
{
    tape_quad middle = *x, size = middle < 0 ? -middle : middle, step = 1e-11 * (1 + size);
    *x = middle - step;
    quad_values(&q->residual_run, t, q->low);
    *x = middle + step;
    quad_values(&q->residual_run, t, q->high);
    *x = middle;
    for (int i = 0; i < q->form->n; i++) {
        tape_quad f = q->low[i], slope = (q->high[i] - f) / (2 * step);
        q->low[i] = 1e-32 * (f < 0 ? -f : f) / step; /* what rounding does to the quotient */
        q->high[i] = slope;
    }
}

/* Compare one column of one matrix; entries that are nonzero here are marked in seen. */
static void compare_column(const quad_model *q, const char *file, int j, const double *values,
                           bool *seen)
{
    const model_form *f = q->form;
    int at = f->colptr[j];
    for (int i = 0; i < f->n; i++) {
        bool there = at < f->colptr[j + 1] && f->rowind[at] == i;
        double exact = there ? values[at] : 0.0, difference = (double)q->high[i];
        bool defined = isfinite(difference); /* not so where a random point is outside a domain */
        if (defined && !(fabs(exact - difference) <=
                         1e-9 * (1e-6 + fabs(exact) + fabs(difference)) + (double)q->low[i]))
            fail_msg("%s: derivative of %s by %s is %.17g, differences give %.17g%s", file,
                     f->equation_names[i] ? f->equation_names[i] : "an equation",
                     f->unknown_names[j], exact, difference,
                     there ? "" : " (it is not in the pattern)");
        if (there && defined && exact != 0.0) seen[at] = true;
        at += there;
    }
}

/* Both matrices at one random point. */
static void compare_point(quad_model *q, const char *file, unsigned long *seed, bool *seen)
{
    const model_form *f = q->form;
    size_t nnz = (size_t)f->colptr[f->n];
    double *dfdy = calloc(2 * nnz + 1, sizeof *dfdy), t = uniform(seed);
    assert_non_null(dfdy);
    for (int i = 0; i < f->n; i++) {
        q->y[2 * i] = 0.2 + uniform(seed);
        q->y[2 * i + 1] = uniform(seed) - 0.5;
    }
    for (int k = 0; k < f->flat->memory_count; k++) q->memory[k] = uniform(seed) < 0.5 ? 0.0 : 1.0;
    quad_jacobian(q, t, dfdy, dfdy + nnz);
    for (int j = 0; j < f->n; j++) {
        quad_column(q, t, &q->y[2 * j]);
        compare_column(q, file, j, dfdy, seen);
        quad_column(q, t, &q->y[2 * j + 1]);
        compare_column(q, file, j, dfdy + nnz, seen);
    }
    free(dfdy);
}

static void check_model(const char *file)
{
    char path[1024];
    snprintf(path, sizeof path, "%.*s/../models/%s", (int)(strrchr(__FILE__, '/') - __FILE__),
             __FILE__, file);
    dae_diag diag = {0};
    dae_problem *problem;
    if (dae_problem_from_file(path, &problem, &diag) != DAE_OK) fail_msg("%s", diag.text);
    const model_form *f = problem->model;
    quad_model q;
    quad_open(&q, f);
    bool *seen = calloc((size_t)f->colptr[f->n] + 1, sizeof *seen);
    assert_non_null(seen);
    unsigned long seed = 17;
    for (int k = 0; k < POINTS; k++) compare_point(&q, file, &seed, seen);
    for (int j = 0; j < f->n; j++)
        for (int at = f->colptr[j]; at < f->colptr[j + 1]; at++)
            if (!seen[at])
                fail_msg("%s: the derivative of %s by %s is in the pattern, but always zero", file,
                         f->equation_names[f->rowind[at]], f->unknown_names[j]);
    free(seen);
    quad_close(&q);
    dae_problem_free(problem);
}

static void every_model(void **state)
{
    (void)state;
    static const char *const files[] = {
        "akzo.mo",      "andrews.mo",         "andrews1.mo",      "ball.mo",      "caraxis.mo",
        "caraxis1.mo",  "heat2d.mo",          "hires.mo",         "ladder.mo",    "pendulum.mo",
        "pendulum1.mo", "rectifier.mo",       "ringmod.mo",       "robertson.mo", "thermostat.mo",
        "transamp.mo",  "base/robertson.bmo", "base/transamp.bmo"};
    for (size_t k = 0; k < sizeof files / sizeof files[0]; k++) check_model(files[k]);
}

#else

static void every_model(void **state)
{
    (void)state;
    skip(); /* no quadruple precision on this machine */
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_model)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
