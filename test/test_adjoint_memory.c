/* Gradients with few states of the run: the bits of those with all values, for any number of
 * states; what is integrated again, and the memory for it, against what the theory of binomial
 * checkpoints allows; what is refused. */
#include "model_run.h"
#include "solve/sensitivity/adjoint_parts.h"

typedef struct memory_case {
    const char *text;
    const char *of;
    bool integral;
    double tend;
    int count;
    const char *by[4];
    const char *method, *formulation; /* NULL: auto */
    int rows;                         /* values are asked for at so many times, too */
} memory_case;

static const memory_case cases[] = {
    {"model decay parameter Real k = 0.5; parameter Real a = 2; Real x(start = 1, fixed = true); "
     "Real y; equation "
     "der(x) = -k*x*y + sin(5*time); y = a + 0.3*cos(x)*y; end decay;",
     "x",
     false,
     20.0,
     2,
     {"k", "a"},
     "bdf",
     NULL,
     0},
    {"model decay parameter Real k = 0.5; parameter Real a = 2; Real x(start = 1, fixed = true); "
     "Real y; equation "
     "der(x) = -k*x*y + sin(5*time); y = a + 0.3*cos(x)*y; end decay;",
     "y",
     true,
     20.0,
     2,
     {"k", "a"},
     "radau",
     NULL,
     17},
    {"model ball parameter Real g = 9.81; parameter Real e = 0.8; Real h(start = 1, fixed = true); "
     "Real v(start = 0, "
     "fixed = true); equation der(h) = v; der(v) = -g - 0.1*v*abs(v); when h < 0 then reinit(v, "
     "-e*pre(v)); "
     "end when; end ball;",
     "h",
     true,
     2.0,
     2,
     {"g", "e"},
     "bdf",
     NULL,
     5},
    {"model pendulum parameter Real g = 9.81; parameter Real L = 1.2; Real x(start = 0.5, fixed = "
     "true); "
     "Real y(start = -1); Real u(start = 0, fixed = true); Real w; Real f; "
     "equation der(x) = u; der(y) = w; der(u) = -f*x; der(w) = -f*y - g; x^2 + y^2 = L^2; end "
     "pendulum;",
     "f",
     true,
     1.5,
     2,
     {"g", "L"},
     "bdf",
     "dummy",
     0},
    {"model robertson parameter Real a = 0.04; parameter Real b = 1e4; Real x(start = 1, fixed = "
     "true); "
     "Real y(start = 0, fixed = true); Real z(start = 0); equation der(x) = -a*x + b*y*z; "
     "der(y) = a*x - b*y*z - 3e7*y^2; x + y + z = 1; end robertson;",
     "y",
     false,
     100.0,
     2,
     {"a", "b"},
     NULL,
     NULL,
     3},
};

static void expect_done(run *r, dae_status status, const char *what)
{
    if (status != DAE_OK) print_error("%s: %s\n", what, diag_of(r)->text);
    assert_int_equal(status, DAE_OK);
}

static void open_case(run *r, const memory_case *c)
{
    prepare(r, c->text);
    r->options.rtol = 1e-6;
    r->options.atol = 1e-9;
    if (c->method) r->options.method = c->method;
    if (c->formulation) r->options.formulation = c->formulation;
    assert_int_equal(dae_solver_new(r->problem, &r->options, &r->solver, &r->diag), DAE_OK);
}

/* The run of a case to its end, with rows on the way; its status. */
static dae_status go(run *r, const memory_case *c, dae_adjoint_request *request,
                     dae_adjoint **adjoint)
{
    double weights[MOST_VALUES] = {0}, values[MOST_VALUES];
    open_case(r, c);
    request->count = c->count;
    request->names = c->by;
    request->functionals = 2;
    request->kind = DAE_ADJOINT_CONTINUOUS;
    assert_int_equal(dae_adjoint_new(r->solver, request, adjoint, &r->diag), DAE_OK);
    weights[dae_problem_find_variable(r->problem, c->of)] = 1.0;
    if (c->integral) expect_done(r, dae_adjoint_integral(*adjoint, 0, weights), "integral");
    expect_done(r, dae_solver_start(r->solver, 0.0, NULL, NULL), "start");
    dae_status status = DAE_OK;
    for (int k = 1; k <= c->rows && status == DAE_OK; k++) {
        status = dae_solver_run(r->solver, c->tend * k / (c->rows + 1.0), NULL, NULL);
        if (status == DAE_OK)
            status = dae_solver_variables(r->solver, c->tend * k / (c->rows + 1.0), values);
        if (status == DAE_OK) status = dae_adjoint_point(*adjoint, 1, weights);
    }
    if (status == DAE_OK) status = dae_solver_run(r->solver, c->tend, NULL, NULL);
    if (status == DAE_OK && !c->integral) status = dae_adjoint_point(*adjoint, 0, weights);
    return status == DAE_OK ? dae_adjoint_point(*adjoint, 1, weights) : status;
}

static void stop(run *r, dae_adjoint *adjoint)
{
    dae_adjoint_free(adjoint);
    end(r);
}

/* Both gradients, of 2 functionals. */
static void take_gradients(run *r, dae_adjoint *adjoint, double *gradient)
{
    expect_done(r, dae_adjoint_gradient(adjoint, 0, gradient), "gradient 0");
    expect_done(r, dae_adjoint_gradient(adjoint, 1, gradient + 4), "gradient 1");
}

/* The least memory for a number of states and so many calls in a piece. */
static double memory_for(const memory_case *c, int states, double pieces)
{
    run r;
    dae_adjoint *adjoint = NULL;
    dae_adjoint_request request = {.checkpoints = states, .unchecked = 1};
    expect_done(&r, go(&r, c, &request, &adjoint), "run");
    const recall *q = adjoint->recall;
    const double values = (adjoint->x->method->stages + 1 + 4.0 * pieces) * q->record_bytes;
    const double memory = states * q->largest + values;
    stop(&r, adjoint);
    return memory;
}

/* ---- memory: all that is held of values and states, at every point of the way back ---- */

static const dae_adjoint *watched;
static double most_held;

static int look(double t, const double *v, int m, double *g, double *dv, double *dp, void *user)
{
    double held = 0.0;
    (void)t;
    (void)v;
    (void)m;
    (void)dv;
    (void)dp;
    (void)user;
    *g = 0.0;
    if (!watched) return 0;
    for (long i = 0; i < watched->record_count; i++)
        if (!watched->records[i].ledger && watched->records[i].numbers)
            held += (double)watched->records[i].count * sizeof(double);
    for (int k = 0; k < watched->recall->save_count; k++)
        held += (double)watched->recall->saves[k].count;
    most_held = fmax(most_held, held);
    return 0;
}

/* Gradients of a case with `states` and room for `pieces` calls are those with all values. */
static void expect_same(const memory_case *c, bool unchecked, int states, double pieces,
                        const double *all)
{
    run r;
    dae_adjoint *adjoint = NULL;
    double few[8] = {0};
    dae_adjoint_request request = {.unchecked = unchecked,
                                   .checkpoints = states,
                                   .memory = memory_for(c, states, pieces),
                                   .integrand = look};
    expect_done(&r, go(&r, c, &request, &adjoint), "run");
    watched = adjoint;
    most_held = 0.0;
    take_gradients(&r, adjoint, few);
    watched = NULL;
    assert_memory_equal(all, few, sizeof few);
    assert_null(adjoint->file);
    assert_true(adjoint->recall->integrated >= adjoint->recall->call_count);
    assert_true(most_held > 0.0 && most_held <= request.memory);
    take_gradients(&r, adjoint, few); /* once more, from what is left */
    assert_memory_equal(all, few, sizeof few);
    stop(&r, adjoint);
}

static void test_bits(void **state)
{
    static const int states[] = {2, 3, 5, 40};
    (void)state;
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        run r;
        dae_adjoint *adjoint = NULL;
        double all[8] = {0};
        dae_adjoint_request request = {.unchecked = i % 2 == 1, .integrand = look};
        expect_done(&r, go(&r, &cases[i / 2], &request, &adjoint), "run");
        take_gradients(&r, adjoint, all);
        stop(&r, adjoint);
        for (size_t k = 0; k < sizeof states / sizeof *states; k++)
            expect_same(&cases[i / 2], i % 2 == 1, states[k], k == 2 ? 1e5 : 4.0, all);
    }
}

/* ---- steps that are taken again ---- */

static double binomial(long n, long k)
{
    double b = 1.0;
    for (long i = 1; i <= k; i++) b = b * (double)(n - k + i) / (double)i;
    return k < 0 || k > n ? 0.0 : round(b);
}

/* r with C(s + r - 1, s) < l <= C(s + r, s) */
static long sweeps(long l, int s)
{
    long r = 0;
    while (binomial(s + r, s) < (double)l) r++;
    return r;
}

/* Pieces that are gone through without being kept. */
static double passed(long l, int s)
{
    const long d = recall_distance(l, s);
    if (d == 0) return 0.5 * (double)l * (double)(l - 1);
    return (double)d + passed(l - d, s - 1) + passed(d, s);
}

/* [GW00 Proposition 1]: r l - C(s + r, r - 1) is the least. */
static void test_distances(void **state)
{
    (void)state;
    for (int s = 1; s <= 6; s++)
        for (long l = 1; l <= 120; l++) {
            const long r = sweeps(l, s);
            assert_true(passed(l, s) == (double)r * (double)l - binomial(s + r, r - 1));
        }
}

/* The fewest calls whose values a piece has room for. */
static long narrowest(const dae_adjoint *j, double memory)
{
    const recall *q = j->recall;
    double most = 0.0, sum = 0.0;
    for (long i = 0; i < j->record_count; i++) {
        const adjoint_record *r = &j->records[i];
        if (r->ledger) continue;
        sum = (i > 0 && j->records[i - 1].call == r->call ? sum : 0.0) + (double)r->count * 8.0;
        most = fmax(most, sum);
    }
    const double held = (j->x->method->stages + 1) * q->record_bytes;
    return (long)floor((memory - q->most * q->largest - held) / most);
}

/* From the first state alone no call is made more than r + 1 times. */
static void test_sweeps(void **state)
{
    (void)state;
    for (int states = 2; states <= 8; states++) {
        run r;
        dae_adjoint *adjoint = NULL;
        double gradient[8];
        dae_adjoint_request request = {.unchecked = 1, .checkpoints = states};
        request.memory = memory_for(&cases[3], states, 5.0);
        expect_done(&r, go(&r, &cases[3], &request, &adjoint), "run");
        take_gradients(&r, adjoint, gradient);
        const long before = adjoint->recall->integrated, calls = adjoint->recall->call_count;
        expect_done(&r, dae_adjoint_gradient(adjoint, 0, gradient), "gradient");
        const long width = narrowest(adjoint, request.memory), pieces = (calls - 1) / width + 1;
        const long made = adjoint->recall->integrated - before;
        assert_true(width >= 1 && pieces > 4);
        if (made > (sweeps(pieces, states) + 1) * calls)
            print_error("%d states: %ld calls for %ld in %ld pieces\n", states, made, calls,
                        pieces);
        assert_true(made >= calls && made <= (sweeps(pieces, states) + 1) * calls);
        stop(&r, adjoint);
    }
}

/* ---- refusals ---- */

static void expect_refused(const memory_case *c, dae_adjoint_request request, dae_status expected,
                           const char *words)
{
    run r;
    dae_adjoint *adjoint = NULL;
    assert_int_equal(go(&r, c, &request, &adjoint), expected);
    assert_non_null(strstr(diag_of(&r)->text, words));
    stop(&r, adjoint);
}

static void test_refusals(void **state)
{
    (void)state;
    run r;
    dae_adjoint *adjoint = NULL;
    memory_case explicit_case = cases[0];
    explicit_case.method = "dopri5";
    expect_refused(&explicit_case, (dae_adjoint_request){.checkpoints = 3}, DAE_ERR_UNSUPPORTED,
                   "`checkpoints` are for runs on equations of index 1");
    expect_refused(&cases[0], (dae_adjoint_request){.checkpoints = 3, .memory = 1000.0},
                   DAE_ERR_MEMORY, "memory = 1000 bytes is too little for checkpoints = 3");
    open_case(&r, &cases[0]);
    dae_adjoint_request request = {
        .count = 2, .names = cases[0].by, .functionals = 1, .checkpoints = 3};
    assert_int_equal(dae_adjoint_new(r.solver, &request, &adjoint, &r.diag), DAE_ERR_ARGUMENT);
    assert_non_null(strstr(r.diag.text, "for the continuous one"));
    request.kind = DAE_ADJOINT_CONTINUOUS;
    request.checkpoints = 1;
    assert_int_equal(dae_adjoint_new(r.solver, &request, &adjoint, &r.diag), DAE_ERR_ARGUMENT);
    end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bits),
        cmocka_unit_test(test_distances),
        cmocka_unit_test(test_sweeps),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
