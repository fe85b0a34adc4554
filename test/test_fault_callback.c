/* Callbacks that fail: the k-th call, or all from the k-th on, returns > 0, < 0, NaN or an
 * infinity, for every k of a whole run. What is recoverable is survived with an accurate result;
 * what is not has its documented status and names the callback and the component; and once the
 * callback is well again the same solver goes on to the right end. */
#include "daedal.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* ---- callbacks to order ---- */

typedef enum role {
    RESIDUAL,
    JACOBIAN,
    EVENT,
    CONDITIONS,
    SETUP,
    SOLVE,
    TIMES,
    WEIGHTS,
    NORM,
    ROLES
} role;

/* What the message calls them. */
static const char *const role_names[ROLES] = {"residual",
                                              "jacobian",
                                              "event",
                                              "conditions",
                                              "preconditioner setup",
                                              "preconditioner solve",
                                              "jacobian times vector",
                                              "weights",
                                              "norm"};

typedef struct fault {
    role role;
    int code;     /* what is returned; 0: a value is spoiled instead */
    double value; /* by this one */
    long at;      /* at this call of the role, counted from 0; negative: never */
    bool lasting; /* and at all later ones */
    long of;      /* calls in a healthy run */
    long stride;  /* between the calls tried */
} fault;

typedef struct cast {
    fault fault;
    long calls[ROLES];
    double cj; /* of the preconditioner */
    double p[2][2];
} cast;

/* Play the fault if it is its time: spoil out[where], or return the code. */
static int play(cast *c, role which, double *out, int where)
{
    long call = c->calls[which]++;
    const fault *f = &c->fault;
    if (f->at < 0 || f->role != which || (f->lasting ? call < f->at : call != f->at)) return 0;
    if (f->code == 0 && out) out[where] = f->value;
    return f->code;
}

/* x' = -x z, 0 = z - x: x = z = 1/(1 + t) */
static int residual(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t;
    f[0] = yp[0] + y[0] * y[1];
    f[1] = y[1] - y[0];
    return play(user, RESIDUAL, f, 1);
}

static int jacobian(double t, const double *y, const double *yp, double *dfdy, double *dfdyp,
                    void *user)
{
    (void)t, (void)yp;
    dfdy[0] = y[1];
    dfdy[2] = y[0];
    dfdy[1] = -1.0;
    dfdy[3] = 1.0;
    dfdyp[0] = 1.0;
    return play(user, JACOBIAN, dfdy, 2);
}

/* x falls through 0.4 at t = 1.5 */
static int event(double t, const double *y, const double *yp, double *g, void *user)
{
    (void)t, (void)yp;
    g[0] = y[0] - 0.4;
    return play(user, EVENT, g, 0);
}

static int conditions(double t, const double *y, const double *yp, double *b, void *user)
{
    (void)t, (void)yp;
    b[0] = y[0] - 1.0;
    return play(user, CONDITIONS, b, 0);
}

static int setup(double t, const double *y, const double *yp, double cj, void *user)
{
    (void)t, (void)yp;
    cast *c = user;
    double a = cj + y[1], b = y[0], determinant = a + b;
    c->p[0][0] = 1.0 / determinant;
    c->p[0][1] = -b / determinant;
    c->p[1][0] = 1.0 / determinant;
    c->p[1][1] = a / determinant;
    return play(c, SETUP, NULL, 0);
}

static int solve(double t, const double *y, const double *yp, double cj, double *b, void *user)
{
    (void)t, (void)y, (void)yp, (void)cj;
    cast *c = user;
    double first = b[0], second = b[1];
    b[0] = c->p[0][0] * first + c->p[0][1] * second;
    b[1] = c->p[1][0] * first + c->p[1][1] * second;
    return play(c, SOLVE, b, 1);
}

static int times(double t, const double *y, const double *yp, double cj, const double *v,
                 double *av, void *user)
{
    (void)t, (void)yp;
    av[0] = (cj + y[1]) * v[0] + y[0] * v[1];
    av[1] = v[1] - v[0];
    return play(user, TIMES, av, 1);
}

static int weights(int n, double t, const double *y, double *w, void *user)
{
    (void)t;
    for (int i = 0; i < n; i++) w[i] = 1e-5 * fabs(y[i]) + 1e-9;
    return play(user, WEIGHTS, w, 1);
}

static double norm(int n, const double *v, const double *w, void *user)
{
    double most = 0.0;
    for (int i = 0; i < n; i++) most = fmax(most, fabs(v[i] / w[i]));
    play(user, NORM, &most, 0);
    return most;
}

/* ---- a run ---- */

typedef struct scene {
    const char *name;
    role role; /* the callback that fails */
    bool jacobian, direct, general, weights, norm, project;
    dae_preconditioner preconditioner; /* if not direct */
    bool times;
    dae_error_test error_test;
} scene;

/* What came of it. */
typedef struct result {
    dae_status status; /* the first error, or DAE_OK */
    bool at_start;
    dae_diag diag;
    long calls;  /* of the failing callback when the error was returned */
    long errors; /* how many times a call had to be repeated */
    double event_time, x, z;
    bool finished;
} result;

enum { N = 2 };
static const double TEND = 3.0, EVENT_TIME = 1.5;

static dae_problem *make_problem(const scene *s, cast *c)
{
    static const char *const variables[N] = {"mass", "rate"}, *const equations[N] = {"balance",
                                                                                     "law"};
    static const dae_kind kinds[N] = {DAE_KIND_DIFFERENTIAL, DAE_KIND_INDEX1};
    static const dae_event events[1] = {{"forty", 0, false}};
    dae_residual form = {.n = N, .f = residual, .user = c};
    form.variable_names = variables;
    form.equation_names = equations;
    form.kinds = s->direct ? NULL : kinds;
    form.event_count = 1;
    form.event_function = event;
    form.events = events;
    if (s->jacobian) form.jacobian = jacobian;
    if (s->general) form.condition_count = 1;
    if (s->general) form.conditions = conditions;
    if (!s->direct && s->preconditioner == DAE_PRECOND_USER) {
        form.precond_setup = setup;
        form.precond_solve = solve;
    }
    if (s->times) form.jac_times = times;
    dae_problem *problem;
    dae_diag diag;
    assert_int_equal(dae_problem_from_residual(&form, &problem, &diag), DAE_OK);
    return problem;
}

static dae_solver *make_solver(const scene *s, cast *c, const dae_problem *problem)
{
    dae_options options = dae_options_default();
    options.method = "bdf";
    options.user = c;
    options.linear_solver = s->direct ? DAE_LINEAR_AUTO : DAE_LINEAR_GMRES;
    options.preconditioner = s->preconditioner;
    options.error_test = s->error_test;
    options.project_output = s->project;
    options.max_steps = 1000;
    options.rtol = 1e-5;
    if (s->weights) options.weights = weights;
    if (s->norm) options.norm = norm;
    dae_solver *solver;
    dae_diag diag;
    dae_status status = dae_solver_new(problem, &options, &solver, &diag);
    if (status != DAE_OK) fail_msg("%s: %s", s->name, diag.text);
    return solver;
}

/* Take down an error; a lasting fault heals now. */
static void note(result *r, cast *c, const dae_solver *solver, dae_status status, bool at_start)
{
    if (r->errors++ == 0) {
        r->status = status;
        r->at_start = at_start;
        r->diag = *dae_solver_diag(solver);
        r->calls = c->calls[c->fault.role];
    }
    if (c->fault.lasting) c->fault.at = -1;
}

static void perform_steps(dae_solver *solver, cast *c, result *r)
{
    double y[N];
    while (r->errors < 4) {
        dae_status status = dae_solver_run(solver, TEND, y, NULL);
        /* an error in the projection at the event takes the place of DAE_EVENT */
        bool found = dae_solver_events(solver)[0] != 0;
        if (found && isnan(r->event_time)) r->event_time = dae_solver_time(solver);
        if (status < 0) note(r, c, solver, status, false);
        if (status != DAE_OK) continue;
        r->x = y[0];
        r->z = y[1];
        r->finished = dae_solver_time(solver) == TEND;
        return;
    }
}

/* Start at x = 1 and go to t = 3 over the event, repeating what failed. */
static result perform(const scene *s, cast *c)
{
    result r = {.event_time = NAN};
    dae_problem *problem = make_problem(s, c);
    dae_solver *solver = make_solver(s, c, problem);
    const double y0[N] = {1.0, 1.0}, yp0[N] = {-1.0, -1.0};
    dae_status status = dae_solver_start(solver, 0.0, y0, yp0);
    if (status < 0) {
        note(&r, c, solver, status, true);
        status = dae_solver_start(solver, 0.0, y0, yp0);
    }
    if (status == DAE_OK) perform_steps(solver, c, &r);
    dae_solver_free(solver);
    dae_problem_free(problem);
    return r;
}

/* ---- what must hold ---- */

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fail_msg("%s: %s at call %ld%s, code %d, value %g: %s fails; %s%s: %s", s->name,       \
                     role_names[f->role], f->at, f->lasting ? " and on" : "", f->code, f->value,   \
                     #condition, dae_status_name(r->status), r->at_start ? " at start" : "",       \
                     r->diag.text);                                                                \
    } while (0)

static void check_accuracy(const scene *s, const fault *f, const result *r)
{
    CHECK(r->finished);
    CHECK(fabs(r->event_time - EVENT_TIME) < 1e-3);
    CHECK(fabs(r->x - 0.25) < 1e-4);
    CHECK(fabs(r->z - 0.25) < 1e-4);
}

/* The status of a failure that does not go away. */
static dae_status lasting_status(const fault *f)
{
    if (f->code < 0 || (f->role == WEIGHTS && f->code != 0)) return DAE_ERR_CALLBACK;
    return f->role == EVENT ? DAE_ERR_EVENT : DAE_ERR_EVALUATION;
}

static void check_message(const scene *s, const fault *f, const result *r)
{
    static const char *const components[ROLES] = {"law",  "balance", "forty", "B[0]", "",
                                                  "rate", "law",     "rate",  ""};
    CHECK(r->diag.status == r->status);
    CHECK(strstr(r->diag.text, role_names[f->role]));
    if (f->code == 0) CHECK(strstr(r->diag.text, components[f->role]));
    if (f->code == 0 && f->role == RESIDUAL) CHECK(r->diag.equation == 1);
    if (f->code == 0 && f->role == JACOBIAN) CHECK(r->diag.variable == 1 && r->diag.equation == 0);
    if (f->code == 0 && f->role == WEIGHTS) CHECK(r->diag.variable == 1);
    if (f->code != 0 && f->role != WEIGHTS) CHECK(r->diag.value == f->code);
    if (f->code == 0 && f->role != NORM)
        CHECK(isnan(f->value) ? isnan(r->diag.value) : r->diag.value == f->value);
}

/* Steps so small that GMRES needs no products succeed, without end. */
static bool crawling(const fault *f, const result *r)
{
    return f->lasting && f->role == TIMES && r->status == DAE_ERR_MAX_STEPS && r->diag.h < 1e-6;
}

/* Filters and projections do without the callback at need; the last norms only choose an order. */
static bool spared(const scene *s, const fault *f)
{
    return s->error_test == DAE_ERROR_FILTERED || s->project ||
           (f->role == NORM && f->at >= f->of - 3);
}

static void check_result(const scene *s, const fault *f, const result *r)
{
    check_accuracy(s, f, r);
    if (f->code < 0 || (f->role == WEIGHTS && f->code != 0)) {
        CHECK(r->status == DAE_ERR_CALLBACK);
        CHECK(r->calls == f->at + 1); /* at once */
        CHECK(r->diag.t >= 0.0);
    }
    if (r->status != DAE_OK && !crawling(f, r)) {
        CHECK(r->status == lasting_status(f));
        check_message(s, f, r);
    }
    if (f->lasting && !spared(s, f)) CHECK(r->status != DAE_OK);
    if (!f->lasting && f->code >= 0 && !r->at_start && f->role != WEIGHTS)
        CHECK(r->status == DAE_OK);
}

/* Run with a fault at call `at`, and with one from there on. */
static void fail_call(const scene *s, const fault *kind, long at)
{
    if (kind->code == 0 && s->role == SETUP) return; /* it writes nothing */
    if (kind->code != 0 && s->role == NORM) return;  /* it returns no code */
    for (int lasting = 0; lasting < 2; lasting++) {
        cast c = {.fault = *kind};
        c.fault.at = at;
        c.fault.lasting = lasting;
        fault f = c.fault;
        result r = perform(s, &c);
        check_result(s, &f, &r);
    }
}

/* Run with the fault at every call that a healthy run makes. */
static void fail_every_call(const scene *s)
{
    fault kinds[] = {{.code = 1, .stride = 1},
                     {.code = -7, .stride = 1},
                     {.value = NAN, .stride = 1},
                     {.value = INFINITY, .stride = 7},
                     {.value = -INFINITY, .stride = 11}};
    cast healthy = {.fault = {.role = s->role, .at = -1}};
    result r = perform(s, &healthy);
    const fault *none = &healthy.fault;
    check_accuracy(s, none, &r);
    assert_int_equal(r.status, DAE_OK);
    long calls = healthy.calls[s->role];
    assert_true(calls > 5);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        kinds[k].role = s->role;
        kinds[k].of = calls;
        for (long at = 0; at < calls; at += kinds[k].stride) fail_call(s, &kinds[k], at);
    }
}

static void test_direct(void **state)
{
    (void)state;
    const scene scenes[] = {
        {.name = "residual, differences", .role = RESIDUAL, .direct = true},
        {.name = "residual, Jacobian given", .role = RESIDUAL, .direct = true, .jacobian = true},
        {.name = "residual, general", .role = RESIDUAL, .direct = true, .general = true},
        {.name = "residual, projected", .role = RESIDUAL, .direct = true, .project = true},
        {.name = "residual, filtered",
         .role = RESIDUAL,
         .direct = true,
         .error_test = DAE_ERROR_FILTERED},
        {.name = "jacobian", .role = JACOBIAN, .direct = true, .jacobian = true},
        {.name = "jacobian, general",
         .role = JACOBIAN,
         .direct = true,
         .jacobian = true,
         .general = true},
        {.name = "event", .role = EVENT, .direct = true},
        {.name = "conditions", .role = CONDITIONS, .direct = true, .general = true},
        {.name = "weights", .role = WEIGHTS, .direct = true, .weights = true},
        {.name = "norm", .role = NORM, .direct = true, .norm = true},
    };
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) fail_every_call(&scenes[i]);
}

static void test_matrix_free(void **state)
{
    (void)state;
    const scene scenes[] = {
        {.name = "residual, GMRES", .role = RESIDUAL, .preconditioner = DAE_PRECOND_NONE},
        {.name = "residual, GMRES with band",
         .role = RESIDUAL,
         .preconditioner = DAE_PRECOND_BANDED},
        {.name = "residual, GMRES, filtered",
         .role = RESIDUAL,
         .preconditioner = DAE_PRECOND_NONE,
         .error_test = DAE_ERROR_FILTERED},
        {.name = "setup", .role = SETUP, .preconditioner = DAE_PRECOND_USER},
        {.name = "solve", .role = SOLVE, .preconditioner = DAE_PRECOND_USER},
        {.name = "times", .role = TIMES, .preconditioner = DAE_PRECOND_NONE, .times = true},
        {.name = "times, filtered",
         .role = TIMES,
         .preconditioner = DAE_PRECOND_NONE,
         .times = true,
         .error_test = DAE_ERROR_FILTERED},
    };
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) fail_every_call(&scenes[i]);
}

/* ---- a callback with a border ---- */

typedef struct border {
    double time; /* F cannot be evaluated beyond this time */
    int code;    /* returned there; 0: NaN */
    int interrupts, interrupt_at;
} border;

/* x' = -1, z = log x: x = 1 - t */
static int logarithm(double t, const double *y, const double *yp, double *f, void *user)
{
    const border *b = user;
    f[0] = yp[0] + 1.0;
    f[1] = y[1] - log(y[0]);
    if (t <= b->time) return 0;
    if (b->code == 0) f[0] = NAN;
    return b->code;
}

static int interrupt(void *user)
{
    border *b = user;
    return b->interrupts++ == b->interrupt_at;
}

static dae_solver *open_logarithm(border *b, dae_problem **problem, bool bounded)
{
    static const char *const names[2] = {"amount", "potential"};
    static const double low[2] = {0.0, -INFINITY};
    dae_residual form = {.n = 2, .f = logarithm, .user = b};
    form.variable_names = form.equation_names = names;
    if (bounded) form.lower_bounds = low;
    dae_options options = dae_options_default();
    options.method = "bdf";
    options.user = b;
    options.interrupt = interrupt;
    dae_solver *solver;
    assert_int_equal(dae_problem_from_residual(&form, problem, NULL), DAE_OK);
    assert_int_equal(dae_solver_new(*problem, &options, &solver, NULL), DAE_OK);
    const double y0[2] = {1.0, 0.0}, yp0[2] = {-1.0, -1.0};
    assert_int_equal(dae_solver_start(solver, 0.0, y0, yp0), DAE_OK);
    return solver;
}

/* The solver comes close to a border in time, and says who would not let it pass. */
static void test_border_in_time(void **state)
{
    (void)state;
    for (int code = 0; code < 2; code++) {
        border b = {.time = 0.5, .code = code, .interrupt_at = -1};
        dae_problem *problem;
        dae_solver *solver = open_logarithm(&b, &problem, false);
        double y[2];
        assert_int_equal(dae_solver_run(solver, 0.9, y, NULL), DAE_ERR_EVALUATION);
        const dae_diag *diag = dae_solver_diag(solver);
        assert_true(diag->t > 0.5 && diag->t < 0.5 + 1e-6);
        assert_true(diag->h > 0.0 && diag->h < 1e-6);
        assert_true(dae_solver_time(solver) <= 0.5 && dae_solver_time(solver) > 0.5 - 1e-6);
        assert_non_null(strstr(diag->text, code ? "residual callback returned 1" : "amount"));
        b.time = INFINITY; /* and when it may pass it goes on */
        assert_int_equal(dae_solver_run(solver, 0.9, y, NULL), DAE_OK);
        assert_true(fabs(y[1] - log(0.1)) < 1e-4);
        dae_solver_free(solver);
        dae_problem_free(problem);
    }
}

/* The logarithm ends at x = 0: an error near t = 1 that names an equation or a variable. */
static void test_border_in_space(void **state)
{
    (void)state;
    for (int bounded = 0; bounded < 2; bounded++) {
        border b = {.time = INFINITY, .interrupt_at = -1};
        dae_problem *problem;
        dae_solver *solver = open_logarithm(&b, &problem, bounded);
        dae_status status = dae_solver_run(solver, 2.0, NULL, NULL);
        const dae_diag *diag = dae_solver_diag(solver);
        assert_true(status < 0 && status != DAE_ERR_MAX_STEPS);
        assert_true(fabs(dae_solver_time(solver) - 1.0) < 1e-3);
        if (!strstr(diag->text, "amount") && !strstr(diag->text, "potential"))
            fail_msg("nobody is named: %s", diag->text);
        dae_solver_free(solver);
        dae_problem_free(problem);
    }
}

/* An interrupt at any attempt changes nothing but the number of calls: the end is the same, bit by
 * bit. */
static void test_interrupt(void **state)
{
    (void)state;
    double expected[2];
    int attempts = 1;
    for (int at = -1; at < attempts; at++) {
        border b = {.time = INFINITY, .interrupt_at = at};
        dae_problem *problem;
        dae_solver *solver = open_logarithm(&b, &problem, false);
        double y[2] = {0.0, 0.0};
        dae_status status = dae_solver_run(solver, 0.9, y, NULL);
        if (at < 0) {
            memcpy(expected, y, sizeof y);
            attempts = b.interrupts;
            assert_true(attempts > 20);
        } else {
            assert_int_equal(status, DAE_ERR_INTERRUPTED);
            assert_non_null(strstr(dae_solver_diag(solver)->text, "interrupt"));
            assert_true(dae_solver_diag(solver)->t == dae_solver_time(solver));
            assert_int_equal(dae_solver_stats(solver)->attempts, at);
            status = dae_solver_run(solver, 0.9, y, NULL);
        }
        assert_int_equal(status, DAE_OK);
        assert_memory_equal(y, expected, sizeof y);
        dae_solver_free(solver);
        dae_problem_free(problem);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_direct),         cmocka_unit_test(test_matrix_free),
        cmocka_unit_test(test_border_in_time), cmocka_unit_test(test_border_in_space),
        cmocka_unit_test(test_interrupt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
