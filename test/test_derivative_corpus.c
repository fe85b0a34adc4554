/* Derivative arrays of the models whose index and degrees of freedom are known from the literature
 * (models/structure.txt): what numbers say must be what the sources say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/diag.h"
#include "model/analyse.h"
#include "solve/bind/solver.h"
#include "structure/linear/derivative_array.h"

/* A path of the source tree, next to this file. */
static void path_of(const char *name, char *path, size_t size)
{
    const char *slash = strrchr(__FILE__, '/');
    snprintf(path, size, "%.*s%s", slash ? (int)(slash - __FILE__) + 1 : 0, __FILE__, name);
}

/* A model at its consistent initial values. */
typedef struct rig {
    dae_problem *problem;
    dae_solver *solver;
    double *values; /* of all variables */
    double t;
    hybrid *hybrid; /* parameters and memory of the base form */
    mode_slots slots;
    equation_set set;
} rig;

static void rig_new(rig *r, const char *name)
{
    char relative[256], path[512];
    dae_diag diag = {0};
    snprintf(relative, sizeof relative, "../models/%s.mo", name);
    path_of(relative, path, sizeof path);
    *r = (rig){0};
    assert_int_equal(dae_problem_from_file(path, &r->problem, &diag), DAE_OK);
    r->t = dae_problem_experiment(r->problem).start;
    if (!(r->t == r->t)) r->t = 0.0;
    assert_int_equal(dae_solver_new(r->problem, NULL, &r->solver, &diag), DAE_OK);
    assert_int_equal(dae_solver_start(r->solver, r->t, NULL, NULL), DAE_OK);
    r->values = calloc((size_t)dae_problem_variable_count(r->problem) + 1, sizeof *r->values);
    assert_int_equal(dae_solver_variables(r->solver, r->t, r->values), DAE_OK);
    const model_form *form = r->problem->model;
    r->hybrid = hybrid_new(form);
    assert_non_null(r->hybrid);
    model_instance_load(r->hybrid->instance);
    model_instance_prepare(r->hybrid->instance);
    assert_true(mode_slots_find(&r->slots, form));
    assert_true(model_equations(form, &r->slots, r->hybrid->instance->memory, &r->set));
}

static void rig_free(rig *r)
{
    equation_set_free(&r->set);
    mode_slots_free(&r->slots);
    hybrid_free(r->hybrid);
    free(r->values);
    dae_solver_free(r->solver);
    dae_problem_free(r->problem);
}

/* The report of the array at the initial point, up to one level above the index. */
static array_report analyse(const char *name, int index)
{
    rig r;
    array_report report;
    derivative_array d;
    rig_new(&r, name);
    assert_int_equal(derivative_array_new(&d, &r.set, index + 1), ARRAY_OK);
    d.parameters = r.hybrid->instance->parameters;
    d.memory = r.hybrid->instance->memory;
    double *x = calloc((size_t)(d.n * (d.limit + 2)), sizeof *x);
    for (int j = 0; j < d.n; j++) {
        int v = dae_problem_find_variable(r.problem, r.set.name[d.variable[j]]);
        if (d.order[j] == 0 && v >= 0) x[j] = r.values[v];
    }
    assert_int_equal(derivative_array_analyse(&d, r.t, x, 1e-10, &report), ARRAY_OK);
    if (report.index == 0 && r.problem->model->definition_count > 0)
        report.index = report.uniform_index = 1; /* of definitions: no unknowns of the set */
    free(x);
    derivative_array_free(&d);
    rig_free(&r);
    return report;
}

static void check(const char *name, int index, int freedom)
{
    array_report report = analyse(name, index);
    if (report.index != index || report.d != freedom)
        fail_msg("%s: index %d and %d degrees of freedom, known are %d and %d", name, report.index,
                 report.d, index, freedom);
    assert_int_equal(report.strangeness, index > 0 ? index - 1 : 0);
    assert_true(report.uniform_index == -1 || report.uniform_index >= index);
}

/* "model <name> [mode]", "index <n>", "freedom <n>" in that order; a mode is not the initial one.
 */
static void known_indices(void **state)
{
    (void)state;
    char path[512], line[512], name[128] = "", mode[64];
    int index = -1, freedom, count = 0;
    path_of("../models/structure.txt", path, sizeof path);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "model %127s %63s", name, mode) == 2) name[0] = '\0';
        sscanf(line, "index %d", &index);
        if (sscanf(line, "freedom %d", &freedom) != 1 || !name[0]) continue;
        check(name, index, freedom);
        count++;
    }
    fclose(file);
    assert_true(count >= 45);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(known_indices)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
