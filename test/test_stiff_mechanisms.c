/* Mechanisms that are stiff: "auto" sees that within few steps, and radau goes on as if alone. */
#include "daedal.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 16 };

/* Three masses in a row, the first two joined, the others by a spring and a damper, moved by a
 * pulse. */
typedef struct masses {
    double spring, damper;
} masses;

static int force(const dae_mechanical_point *at, double *f, void *user)
{
    const masses *m = user;
    const double *q = at->q, *v = at->v;
    double pulse = exp(-pow((at->t - 1.0) / 0.15, 2.0));
    double inner = m->spring * (q[2] - q[1]) + m->damper * (v[2] - v[1]);
    f[0] = -q[0];
    f[1] = inner;
    f[2] = -inner - 100.0 * (q[2] - pulse) - 20.0 * v[2];
    return 0;
}

static int joint(const dae_mechanical_point *at, double *g, void *user)
{
    (void)user;
    g[0] = at->q[0] - at->q[1];
    return 0;
}

static dae_problem *masses_problem(masses *m)
{
    dae_mechanical form = {
        .nq = 3, .nlambda = 1, .force = force, .constraint = joint, .scleronomic = true, .user = m};
    dae_problem *p;
    assert_int_equal(dae_problem_from_mechanical(&form, &p, NULL), DAE_OK);
    return p;
}

static dae_problem *text_problem(const char *text)
{
    dae_problem *p;
    dae_diag diag = {0};
    dae_model m = {.text = text, .file = "stiff.mo", .engine = DAE_ENGINE_TAPE};
    if (dae_problem_from_model(&m, &p, &diag) != DAE_OK) fail_msg("%s", diag.text);
    return p;
}

/* A weight on a spring below the bob of a pendulum; `more` makes it one of index 4. */
#define HANGING(spring, damper, more, rest)                                                        \
    "model M Real x(start=1), y(start=0), vx, vy, l" more                                          \
    "; Real z(start=0, fixed=true), w(start=0, fixed=true), s; equation der(x) = vx; "             \
    "der(y) = vy; der(vx) = -l*x; der(vy) = -l*y - 1 + s; der(z) = w; der(w) = -s - 1; "           \
    "s = " spring "*(z - y) + " damper "*(w - vy); x^2 + y^2 = 1; " rest "end M;"
#define HONEY(more, rest)                                                                          \
    "model M Real x(start=1), y(start=0), vx, vy, l" more "; equation der(x) = vx; der(y) = vy; "  \
    "der(vx) = -l*x - 1000*vx; der(vy) = -l*y - 1 - 1000*vy; x^2 + y^2 = 1; " rest "end M;"

/* What one run took. */
typedef struct run {
    dae_solver *solver;
    char first[40];
    long before, after; /* steps of the first method, and of others */
    double values[MOST];
} run;

static void count_steps(const dae_step_info *info, void *user)
{
    run *r = user;
    if (info->result != DAE_STEP_ACCEPTED) return;
    if (strcmp(dae_solver_method(r->solver), r->first) == 0)
        r->before++;
    else
        r->after++;
}

/* Time goes on for the user, whatever happens to the method. */
static void live(const dae_problem *p, const char *method, double rtol, double tend, run *r)
{
    dae_options o = dae_options_default();
    dae_diag diag = {0};
    const double rest[MOST] = {0.0};
    o.method = method;
    o.rtol = o.atol = rtol;
    o.monitor = count_steps;
    o.user = r;
    o.stop_time = tend;
    *r = (run){0};
    if (dae_solver_new(p, &o, &r->solver, &diag) != DAE_OK) fail_msg("%s", diag.text);
    bool callbacks = dae_problem_variable_count(p) == 7 && dae_problem_size(p) == 7;
    dae_status status = dae_solver_start(r->solver, 0.0, callbacks ? rest : NULL, NULL);
    assert_int_equal(status, DAE_OK);
    strcpy(r->first, dae_solver_method(r->solver));
    double t = 0.0;
    while ((status = dae_solver_step(r->solver, tend)) > 0) {
        assert_true(dae_solver_time(r->solver) > t);
        t = dae_solver_time(r->solver);
    }
    if (status < 0) fail_msg("%s: %s", method, dae_solver_diag(r->solver)->text);
    assert_int_equal(dae_solver_variables(r->solver, tend, r->values), DAE_OK);
}

typedef struct subject {
    const char *name;
    const char *text; /* NULL: callbacks */
    masses masses;
    double tend;
    const char *first;
    int transient; /* steps that accuracy asks for in the beginning */
} subject;

static const subject subjects[] = {
    {"damped masses", NULL, {1e6, 2e3}, 20.0, "prk", 0},
    {"free masses", NULL, {1e6, 0.0}, 20.0, "prk", 0},
    {"weight on a damped spring", HANGING("1e6", "2e3", "", ""), {0.0, 0.0}, 10.0, "prk", 0},
    {"pendulum in honey", HONEY("", ""), {0.0, 0.0}, 2000.0, "prk", 20},
    {"the same of index 4", HONEY(", k", "k = der(l); "), {0.0, 0.0}, 2000.0, "taylor", 0},
};
enum { SUBJECTS = sizeof subjects / sizeof subjects[0], WITHIN = 30 };

/* The explicit method takes some dozen steps, then radau as many as it takes alone. */
static void test_few_steps_before(void **state)
{
    (void)state;
    for (int k = 0; k < SUBJECTS; k++)
        for (double rtol = 1e-4; rtol > 1e-8; rtol *= 1e-3) {
            const subject *u = &subjects[k];
            masses m = u->masses;
            dae_problem *p = u->text ? text_problem(u->text) : masses_problem(&m);
            run r, alone;
            live(p, "auto", rtol, u->tend, &r);
            live(p, "radau", rtol, u->tend, &alone);
            assert_string_equal(r.first, u->first);
            assert_string_equal(dae_solver_method(r.solver), "radau");
            if (r.before > WITHIN + u->transient)
                fail_msg("%s, %g: %ld steps of %s", u->name, rtol, r.before, r.first);
            if ((double)r.after > 1.2 * (double)alone.before + 1.0)
                fail_msg("%s, %g: %ld steps of radau, %ld alone", u->name, rtol, r.after,
                         alone.before);
            for (int i = 0; i < 3; i++)
                assert_true(fabs(r.values[i] - alone.values[i]) < 100.0 * rtol);
            dae_solver_free(r.solver);
            dae_solver_free(alone.solver);
            dae_problem_free(p);
        }
}

/* Rows of a table do not hide that the run goes on: the end of each is not that of the run. */
static void test_rows(void **state)
{
    (void)state;
    masses m = {1e6, 2e3};
    dae_problem *p = masses_problem(&m);
    dae_options o = dae_options_default();
    const double rest[7] = {0.0};
    double y[7], exact[7];
    dae_solver *s, *alone;
    assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
    o.method = "radau";
    assert_int_equal(dae_solver_new(p, &o, &alone, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(s, 0.0, rest, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(alone, 0.0, rest, NULL), DAE_OK);
    for (int k = 1; k <= 100; k++) {
        assert_int_equal(dae_solver_run(s, 0.05 * k, y, NULL), DAE_OK);
        assert_int_equal(dae_solver_run(alone, 0.05 * k, exact, NULL), DAE_OK);
        assert_true(dae_solver_time(s) == 0.05 * k);
        for (int i = 0; i < 3; i++) assert_true(fabs(y[i] - exact[i]) < 1e-5);
    }
    assert_string_equal(dae_solver_method(s), "radau");
    assert_true(dae_solver_stats(s)->steps < 2 * WITHIN + dae_solver_stats(alone)->steps);
    dae_solver_free(s);
    dae_solver_free(alone);
    dae_problem_free(p);
}

/* What is not stiff stays with the explicit method, also at the loosest tolerances. */
static void test_not_stiff(void **state)
{
    (void)state;
    static const char *const texts[] = {
        HANGING("10", "0.1", "", ""),
        "model M Real x(start=1), y(start=0), vx, vy, l; equation der(x) = vx; der(y) = vy; "
        "der(vx) = -l*x; der(vy) = -l*y - 1; x^2 + y^2 = 1; end M;"};
    for (int k = 0; k < 2; k++)
        for (double rtol = 1e-2; rtol > 1e-9; rtol *= 1e-2) {
            dae_problem *p = text_problem(texts[k]);
            run r;
            live(p, "auto", rtol, 50.0, &r);
            assert_int_equal(r.after, 0);
            assert_string_equal(r.first, "prk");
            dae_solver_free(r.solver);
            dae_problem_free(p);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_few_steps_before),
                                       cmocka_unit_test(test_rows),
                                       cmocka_unit_test(test_not_stiff)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
