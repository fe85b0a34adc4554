/* Shared by the tests of sensitivities against closed forms: a run with them, looked at in every
 * step. */
#ifndef DAE_TEST_SENSITIVITY_TRIAL_H
#define DAE_TEST_SENSITIVITY_TRIAL_H

#include "model_run.h"

enum { MOST_BY = 4 };

typedef struct trial {
    run r;
    dae_sensitivity *x;
    double slopes[MOST_BY][MOST_VALUES]; /* at the time that is looked at, */
    double at[MOST_VALUES];              /* and values there */
    int count, looks;
} trial;

static const double TOLERANCES[] = {1e-6, 1e-9};

/* first: the length of the first step; 0: chosen. */
static inline void open_with(trial *q, const char *text, const char *method, double rtol,
                             double first, int count, const char *const *by)
{
    memset(q, 0, sizeof *q);
    prepare(&q->r, text);
    q->r.options.rtol = rtol;
    q->r.options.atol = 1e-3 * rtol;
    q->r.options.method = method;
    q->r.options.initial_step = first;
    q->count = count;
    assert_int_equal(dae_solver_new(q->r.problem, &q->r.options, &q->r.solver, &q->r.diag), DAE_OK);
    dae_sensitivity_request request = {.count = count, .names = by};
    dae_status status = dae_sensitivity_new(q->r.solver, &request, &q->x, &q->r.diag);
    if (status != DAE_OK) print_error("%s\n", q->r.diag.text);
    assert_int_equal(status, DAE_OK);
    status = dae_solver_start(q->r.solver, 0.0, NULL, NULL);
    if (status != DAE_OK) print_error("%s\n", diag_of(&q->r)->text);
    assert_int_equal(status, DAE_OK);
}

static inline void open_as(trial *q, const char *text, const char *method, double rtol, int count,
                           const char *const *by)
{
    open_with(q, text, method, rtol, 0.0, count, by);
}

static inline void shut(trial *q)
{
    dae_sensitivity_free(q->x);
    end(&q->r);
}

/* Values and derivatives at a time of the last step. */
static inline void look_at(trial *q, double t)
{
    assert_int_equal(dae_solver_variables(q->r.solver, t, q->at), DAE_OK);
    for (int k = 0; k < q->count; k++) {
        dae_status status = dae_sensitivity_variables(q->x, t, k, q->slopes[k]);
        if (status != DAE_OK) print_error("t = %g: %s\n", t, diag_of(&q->r)->text);
        assert_int_equal(status, DAE_OK);
    }
    q->looks++;
}

static inline int place(const trial *q, const char *name)
{
    int i = dae_problem_find_variable(q->r.problem, name);
    assert_true(i >= 0 && i < MOST_VALUES);
    return i;
}

static inline double at(const trial *q, const char *name)
{
    return q->at[place(q, name)];
}

static inline double slope(const trial *q, int k, const char *name)
{
    return q->slopes[k][place(q, name)];
}

/* `scale`: the largest that the derivative becomes. */
static inline void expect_slope(const trial *q, double t, int k, const char *name, double exact,
                                double scale, int line)
{
    double found = slope(q, k, name), off = fabs(found - exact) / (q->r.options.rtol * scale);
    if (off <= 100.0) return;
    print_error("line %d, %s, rtol %g: d(%s) by %d at t = %.9g is %.12g, not %.12g: %.3g "
                "tolerances\n",
                line, q->r.options.method, q->r.options.rtol, name, k, t, found, exact, off);
    fail();
}
#define SLOPE(k, name, exact, scale) expect_slope(q, t, k, name, exact, scale, __LINE__)

typedef void (*check)(trial *q, double t);

/* Run to tend; `look` sees every step at its end and at two times within it. */
static inline void walk(trial *q, double tend, check look)
{
    dae_status status = DAE_STEPPED;
    double last = dae_solver_time(q->r.solver);
    look_at(q, last);
    look(q, last);
    while (status > 0) {
        status = dae_solver_step(q->r.solver, tend);
        if (status < 0) print_error("%s\n", diag_of(&q->r)->text);
        assert_true(status >= 0);
        double now = dae_solver_time(q->r.solver);
        q->r.events += status == DAE_EVENT; /* twice each: before what it does, and behind */
        for (int part = now > last ? 1 : 3; part <= 3; part++) {
            double t = part == 3 ? now : last + (now - last) * part / 3.0;
            look_at(q, t);
            look(q, t);
        }
        last = now;
    }
}

static inline void walk_all(const char *text, double tend, check look, int count,
                            const char *const *by)
{
    for (int i = 0; i < 2; i++) {
        trial q;
        open_as(&q, text, "auto", TOLERANCES[i], count, by);
        walk(&q, tend, look);
        assert_true(q.looks > 5);
        shut(&q);
    }
}

#endif
