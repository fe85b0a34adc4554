/* The Taylor series method: accuracy in every precision against formulas and published references,
 * observed orders, energy, events, index 0 to 5, rejected steps, and what it says when it cannot.
 */
#include "model_run.h"

#include "expr/scalar_math.h"
#include "expr/series.h"
#include "solve/bind/solver.h"

#ifdef TAPE_QUAD
typedef tape_quad precise;
#else
typedef tape_long precise;
#endif

/* A decimal number in the highest precision there is. */
static precise number(const char *text)
{
#if defined TAPE_QUAD && TAPE_QUAD == 2
    return quad_strto(text, NULL);
#else
    return strtold(text, NULL);
#endif
}

static const char *model_path(const char *name, const char *ending)
{
    static char path[1000];
    const char *slash = strrchr(__FILE__, '/');
    snprintf(path, sizeof path, "%.*s../models/%s%s", slash ? (int)(slash - __FILE__) + 1 : 0,
             __FILE__, name, ending);
    return path;
}

static void open_model_file(run *r, const char *name)
{
    memset(r, 0, sizeof *r);
    assert_int_equal(dae_problem_from_file(model_path(name, ".mo"), &r->problem, &r->diag), DAE_OK);
    r->options = dae_options_default();
    r->options.method = "taylor";
}

static void go(run *r, double tend)
{
    r->options.stop_time = tend;
    dae_status status = start_at(r, 0.0);
    if (status == DAE_OK) status = dae_solver_run(r->solver, tend, NULL, NULL);
    if (status != DAE_OK) fail_msg("%s", diag_of(r)->text);
}

static void run_file(run *r, const char *name, double tend, double rtol, dae_precision precision)
{
    open_model_file(r, name);
    r->options.rtol = r->options.atol = rtol;
    r->options.precision = precision;
    go(r, tend);
}

/* Variable `name` in all digits. */
static precise digits_of(run *r, const char *name)
{
    static char text[MOST_VALUES][DAE_DIGITS_SIZE];
    int i = dae_problem_find_variable(r->problem, name);
    assert_true(i >= 0 && dae_problem_variable_count(r->problem) <= MOST_VALUES);
    double t = dae_solver_time(r->solver);
    assert_int_equal(dae_solver_digits(r->solver, t, text[0]), DAE_OK);
    return number(text[i]);
}

static double distance(precise a, precise b)
{
    return fabs((double)(a - b));
}

/* ---- accuracy -------------------------------------------------------------------------------- */

/* The pendulum by Jacobi's elliptic functions: sin(theta/2) = k sn(K - t), k^2 = 1/2, t = 10. */
static const char *const pendulum_at_10[5][2] = {
    {"x", "-0.81158644619130383427423425749355951"},
    {"y", "-0.584232351345395701062869686805456801"},
    {"vx", "-0.631529149065017580950743384712220009"},
    {"vy", "0.877288798841069328961380007458675684"},
    {"lambda", "1.7526970540361871031886090604163704"},
};

static void pendulum_in_quad(void **state)
{
    (void)state;
#ifdef TAPE_QUAD
    run r;
    run_file(&r, "pendulum", 10.0, 1e-28, DAE_PRECISION_QUAD);
    for (int k = 0; k < 5; k++) {
        double error = distance(digits_of(&r, pendulum_at_10[k][0]), number(pendulum_at_10[k][1]));
        if (error > 1e-25) fail_msg("%s: error %g", pendulum_at_10[k][0], error);
    }
    end(&r);
#else
    skip();
#endif
}

static void pendulum_in_long_double(void **state)
{
    (void)state;
    run r;
    run_file(&r, "pendulum", 10.0, 1e-16, DAE_PRECISION_LONG);
    for (int k = 0; k < 5; k++) {
        double error = distance(digits_of(&r, pendulum_at_10[k][0]), number(pendulum_at_10[k][1]));
        if (error > 1e-15) fail_msg("%s: error %g", pendulum_at_10[k][0], error);
    }
    end(&r);
}

/* max|dq| / max|q| at t = 0.03, reference of 20 digits */
static void andrews_in_double(void **state)
{
    (void)state;
    static const double q[7] = {15.8107711951537070971,    -15.7563710584118394697,
                                4.08222401196458048583e-2, -5.34730116342079593770e-1,
                                5.24409965879954069372e-1, 5.34730116342079593770e-1,
                                1.04808074104193787307};
    run r;
    run_file(&r, "andrews", 0.03, 1e-13, DAE_PRECISION_DOUBLE);
    for (int k = 0; k < 7; k++) {
        char name[16];
        snprintf(name, sizeof name, "q[%d]", k + 1);
        expect_near(&r, name, q[k], 1e-13 * 15.81, __LINE__);
    }
    end(&r);
}

/* All numbers of a .ref file, each to so many units of its last digit. */
static void reproduce(const char *name, double tend, double units)
{
    char line[400], variable[200], value[200];
    int compared = 0;
    run r;
    run_file(&r, name, tend, 1e-27, DAE_PRECISION_QUAD);
    FILE *file = fopen(model_path(name, ".ref"), "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        if (line[0] == '#' || sscanf(line, "%199s %199s", variable, value) != 2) continue;
        if (!strcmp(variable, "t") || !strcmp(variable, "index") || !strcmp(variable, "accuracy"))
            continue;
        precise expected = number(value);
        char *exponent = strchr(value, 'e'), *point = strchr(value, '.');
        size_t after = (exponent ? (size_t)(exponent - point) : strlen(point)) - 1;
        double unit = pow(10.0, (exponent ? atof(exponent + 1) : 0.0) - (double)after);
        double error = distance(digits_of(&r, variable), expected);
        if (error > 1.01 * units * unit) fail_msg("%s: error %g, unit %g", variable, error, unit);
        compared++;
    }
    fclose(file);
    assert_true(compared >= 5);
    end(&r);
}

static void references_in_quad(void **state)
{
    (void)state;
#ifdef TAPE_QUAD
    reproduce("pendulum", 10.0, 9.0); /* as printed, but for the last digit */
    reproduce("andrews", 0.03, 1.0);
    reproduce("caraxis", 3.0, 1.0);
#else
    skip();
#endif
}

/* p1 = p3 = -2 sin t, p2 = sin t, F = 3/2 sin t; 1/6 is rounded to double in the text */
static void index_five(void **state)
{
    (void)state;
    run r;
    run_file(&r, "springchain", 20.0, 1e-13, DAE_PRECISION_DOUBLE);
    expect_near(&r, "p[1]", -2.0 * sin(20.0), 1e-12, __LINE__);
    expect_near(&r, "p[3]", -2.0 * sin(20.0), 1e-12, __LINE__);
    expect_near(&r, "v[1]", -2.0 * cos(20.0), 1e-12, __LINE__);
    expect_near(&r, "F", 1.5 * sin(20.0), 1e-12, __LINE__);
    end(&r);
}

static void text_run(run *r, const char *text, double tend, double rtol, dae_precision precision)
{
    prepare(r, text);
    r->options.method = "taylor";
    r->options.rtol = r->options.atol = rtol;
    r->options.precision = precision;
    go(r, tend);
}

static void ordinary_equations(void **state)
{
    (void)state;
    run r;
    text_run(&r,
             MODEL("Real x(start=1, fixed=true); Real y(start=0, fixed=true); equation der(x) "
                   "= -x*cos(time); der(y) = 1/(1 + time^2);"),
             3.0, 1e-13, DAE_PRECISION_DOUBLE);
    expect_near(&r, "x", exp(-sin(3.0)), 1e-13, __LINE__);
    expect_near(&r, "y", atan(3.0), 1e-13, __LINE__);
    end(&r);
}

/* x = sin t, y = cos t from x^2 + y^2 = 1; z from z + z^3 = x, implicitly; w' + w'^3 = 2 */
/* Jumps and kinks without an event, which no term of a series knows of: a step ends where what it
 * adds is about order times the tolerance. */
static void jumps_and_kinks_are_seen(void **state)
{
    (void)state;
    run r;
    const double rtol = 1e-8, jumped = 100.0 + (exp(-0.5) - 100.0) * exp(-1.5), most = 31.0 * rtol;
    text_run(&r,
             "model M Real x(start = 1, fixed = true); Real y(start = 0, fixed = true);"
             " equation der(x) = -x + noEvent(if time > 0.5 then 100 else 0);"
             " der(y) = max(time - 1, 0); end M;",
             2.0, rtol, DAE_PRECISION_DOUBLE);
    expect_near(&r, "x", jumped, most * jumped, __LINE__);
    expect_near(&r, "y", 0.5, most, __LINE__);
    end(&r);
}

static void index_one(void **state)
{
    (void)state;
    run r;
    text_run(&r,
             MODEL("Real x(start=0, fixed=true); Real y(start=1); Real z(start=0); Real "
                   "w(start=0, fixed=true); equation der(x) = y; x^2 + y^2 = 1; z + z^3 = x; "
                   "der(w) + der(w)^3 = 2;"),
             1.2, 1e-13, DAE_PRECISION_DOUBLE);
    double z = value(&r, "z");
    expect_near(&r, "x", sin(1.2), 1e-13, __LINE__);
    expect_near(&r, "y", cos(1.2), 1e-13, __LINE__);
    assert_true(fabs(z + z * z * z - sin(1.2)) < 1e-13);
    expect_near(&r, "w", 1.2, 1e-13, __LINE__);
    end(&r);
}

/* Functions with loops, powers that start at zero, branches by time. */
static void all_kinds_of_operations(void **state)
{
    (void)state;
    run r;
    prepare(&r, "function power input Real x; input Integer n; output Real y; protected Integer k; "
                "algorithm y := 1; k := n; while k > 0 loop y := y*x; k := k - 1; end while; end "
                "power;\n" MODEL(
                    "Real x(start=0, fixed=true); Real y(start=0, fixed=true); Real z(start=0, "
                    "fixed=true); equation der(x) = 1; der(y) = power(1 + x, 4); der(z) = x^5 + "
                    "(if time < 0.5 then 0 else 1) + max(x, -1) + abs(x - 2);"));
    r.options.method = "taylor";
    r.options.rtol = r.options.atol = 1e-12;
    go(&r, 1.0);
    expect_near(&r, "x", 1.0, 1e-12, __LINE__);
    expect_near(&r, "y", 31.0 / 5.0, 1e-11, __LINE__);
    expect_near(&r, "z", 1.0 / 6.0 + 0.5 + 0.5 + 1.5, 1e-11, __LINE__);
    end(&r);
}

/* An event leaves x alone, and costs it no digits; y is reset, at a time that is found in double.
 */
static void events_cost_no_digits(void **state)
{
    (void)state;
#ifdef TAPE_QUAD
    run r;
    text_run(&r,
             MODEL("Real x(start=1, fixed=true); Real y(start=1, fixed=true); equation der(x) "
                   "= -x; der(y) = y; when time >= 1 then reinit(y, 0.5); end when;"),
             2.0, 1e-27, DAE_PRECISION_QUAD);
    assert_true(distance(digits_of(&r, "x"), number("0.135335283236612691893999494972484403408")) <
                1e-25);
    assert_true(distance(digits_of(&r, "y"), number("1.35914091422952261768014373567633124887")) <
                1e-13);
    end(&r);
#else
    skip();
#endif
}

/* x falls from 1 and bounces with 4/5 of its speed, at times that geometry tells. */
static void bounces(void **state)
{
    (void)state;
    run r;
    text_run(&r,
             MODEL("Real x(start=1, fixed=true); Real v(start=0, fixed=true); equation der(x) "
                   "= v; der(v) = -2; when x < 0 then reinit(v, -0.8*pre(v)); end when;"),
             2.0, 1e-12, DAE_PRECISION_DOUBLE);
    expect_near(&r, "v", 2 * 0.8 - 2, 1e-11, __LINE__); /* at t = 1 it goes up with 1.6 */
    expect_near(&r, "x", 1.6 - 1, 1e-11, __LINE__);
    end(&r);
}

/* ---- orders, energy, dense output ------------------------------------------------------------ */

static double error_at_fixed_step(int order, double h)
{
    run r;
    open_model_file(&r, "pendulum");
    r.options.fixed_step = h;
    r.options.min_order = r.options.max_order = order;
    r.options.rtol = r.options.atol = 1e-14;
    go(&r, 1.0);
    double x = value(&r, "x"), y = value(&r, "y"), error;
    end(&r);
    run_file(&r, "pendulum", 1.0, 1e-14, DAE_PRECISION_DOUBLE);
    error = fmax(fabs(x - value(&r, "x")), fabs(y - value(&r, "y")));
    end(&r);
    return error;
}

static void observed_orders(void **state)
{
    (void)state;
    static const struct {
        int order;
        double h;
    } cases[] = {{2, 0.01}, {3, 0.02}, {4, 0.05}, {6, 0.1}, {8, 0.125}};
    for (int k = 0; k < 5; k++) {
        double h = cases[k].h, coarse = error_at_fixed_step(cases[k].order, h);
        double fine = error_at_fixed_step(cases[k].order, h / 2.0);
        double order = log2(coarse / fine);
        if (order < cases[k].order - 0.2)
            fail_msg("order %.2f, not %d (errors %g, %g)", order, cases[k].order, coarse, fine);
    }
}

/* A pendulum that loops for a while: energy, both constraints, at every step and between. */
/* Low orders get through, too, with variable steps: of multipliers they know the value alone. */
static void low_orders(void **state)
{
    (void)state;
    for (int order = 1; order <= 3; order++) {
        run r;
        open_model_file(&r, "pendulum");
        r.options.rtol = r.options.atol = 1e-3;
        r.options.max_order = order;
        go(&r, 1.0);
        double x = value(&r, "x"), y = value(&r, "y"), vx = value(&r, "vx"), vy = value(&r, "vy");
        assert_true(fabs(x * x + y * y - 1.0) < 1e-3);
        assert_true(fabs(0.5 * (vx * vx + vy * vy) + y) < 0.1); /* some hundred steps of 1e-3 */
        end(&r);
    }
}

static void energy_and_constraints(void **state)
{
    (void)state;
    run r;
    open_model_file(&r, "pendulumloop");
    r.options.rtol = r.options.atol = 1e-13;
    OK(start_at(&r, 0.0));
    while (dae_solver_time(r.solver) < 100.0) {
        assert_true(dae_solver_step(r.solver, 100.0) >= 0);
        double start, last;
        dae_solver_last_step(r.solver, &start, &last);
        for (int k = 0; k <= 2; k++) {
            double t = k == 2 ? dae_solver_time(r.solver) : start + 0.4 * k * (last - start);
            assert_int_equal(dae_solver_variables(r.solver, fmin(t, 100.0), r.values), DAE_OK);
            double x = r.values[dae_problem_find_variable(r.problem, "x")];
            double y = r.values[dae_problem_find_variable(r.problem, "y")];
            double vx = r.values[dae_problem_find_variable(r.problem, "vx")];
            double vy = r.values[dae_problem_find_variable(r.problem, "vy")];
            assert_true(fabs(x * x + y * y - 1.0) < (k == 1 ? 1e-12 : 1e-14) * 10);
            assert_true(fabs(x * vx + y * vy) < 1e-12);
            assert_true(fabs(0.5 * (vx * vx + vy * vy) + y - 4.5) < 2e-11);
        }
    }
    end(&r);
}

/* Work is polynomial in the digits: four times as many digits for less than eight times the steps
 * times orders squared. */
static void polynomial_work(void **state)
{
    (void)state;
#ifdef TAPE_QUAD
    double work[2];
    for (int k = 0; k < 2; k++) {
        run r;
        run_file(&r, "pendulum", 10.0, k == 0 ? 1e-7 : 1e-28, DAE_PRECISION_QUAD);
        const dae_stats *s = dae_solver_stats(r.solver);
        work[k] = (double)s->steps * s->last_order * s->last_order;
        end(&r);
    }
    assert_true(work[1] < 16.0 * work[0]);
#else
    skip();
#endif
}

/* A chain of 60 pendulum bobs' worth of heat: a sparse system with hundreds of unknowns. */
static void large_models_stay_sparse(void **state)
{
    (void)state;
    run a, b;
    const char *text =
        "model M\nconstant Integer n = 120; Real x[n](each start=0, each fixed=true); Real "
        "f[n+1];\nequation f[1] = x[1] - sin(time); f[n+1] = x[n]; for i in 2:n loop f[i] + "
        "0.1*f[i]^3 = x[i] - x[i-1]; end for; for i in 1:n loop der(x[i]) = f[i+1] - f[i]; end "
        "for;\nend M;\n";
    prepare(&a, text);
    a.options.method = "taylor";
    a.options.rtol = a.options.atol = 1e-11;
    go(&a, 2.0);
    prepare(&b, text);
    b.options.method = "radau";
    b.options.rtol = b.options.atol = 1e-11;
    go(&b, 2.0);
    double ya[400], yb[400];
    assert_true(dae_problem_variable_count(a.problem) <= 400);
    assert_int_equal(dae_solver_variables(a.solver, 2.0, ya), DAE_OK);
    assert_int_equal(dae_solver_variables(b.solver, 2.0, yb), DAE_OK);
    for (int i = 0; i < dae_problem_variable_count(a.problem); i++)
        assert_true(fabs(ya[i] - yb[i]) < 1e-8);
    end(&a);
    end(&b);
}

/* ---- state ----------------------------------------------------------------------------------- */

static struct {
    unsigned char *shadow;
    size_t size;
    long changes, rejected;
} watch;

static void watched_start(void *state, void *scratch, const method_context *ctx,
                          const start_point *at)
{
    method_taylor.start(state, scratch, ctx, at);
    memcpy(watch.shadow, state, watch.size);
}

static void watched_attempt(const void *state, void *scratch, const method_context *ctx, double h,
                            int order, attempt *result)
{
    method_taylor.attempt(state, scratch, ctx, h, order, result);
    watch.changes += memcmp(watch.shadow, state, watch.size) != 0;
    watch.rejected += result->status != ATTEMPT_OK || result->error > 1.0;
}

static void watched_accept(void *state, void *scratch, const method_context *ctx)
{
    method_taylor.accept(state, scratch, ctx);
    memcpy(watch.shadow, state, watch.size);
}

static void watched_interpolate(const void *state, const method_context *ctx, double t,
                                int derivative, double *y)
{
    method_taylor.interpolate(state, ctx, t, derivative, y);
    watch.changes += memcmp(watch.shadow, state, watch.size) != 0;
}

/* A first step that is far too long is rejected, and leaves the state as it was, byte for byte;
 * what follows is right. */
static void rejected_steps_change_nothing(void **state)
{
    (void)state;
    run r;
    size_t scratch;
    method watched = method_taylor;
    watched.start = watched_start;
    watched.attempt = watched_attempt;
    watched.accept = watched_accept;
    watched.interpolate = watched_interpolate;
    open_model_file(&r, "andrews");
    r.options.initial_step = 0.01;
    r.options.rtol = r.options.atol = 1e-9;
    OK(start_at(&r, 0.0));
    memset(&watch, 0, sizeof watch);
    method_size(&method_taylor, r.solver->bound.n, &watch.size, &scratch);
    watch.shadow = malloc(watch.size);
    r.solver->bound.method = &watched;
    OK(dae_solver_run(r.solver, 0.03, NULL, NULL));
    assert_true(watch.rejected > 0);
    assert_int_equal(watch.changes, 0);
    expect_near(&r, "q[1]", 15.8107711951537070971, 1e-7, __LINE__);
    free(watch.shadow);
    end(&r);
}

/* ---- what cannot be -------------------------------------------------------------------------- */

static int no_model(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = yp[0] + y[0];
    return 0;
}

static void expect_refusal(const dae_problem *p, const dae_options *o, dae_status status,
                           const char *word)
{
    dae_solver *s = NULL;
    dae_diag diag = {0};
    assert_int_equal(dae_solver_new(p, o, &s, &diag), status);
    assert_null(s);
    if (!strstr(diag.text, word)) fail_msg("no \"%s\" in: %s", word, diag.text);
}

static void refusals(void **state)
{
    (void)state;
    dae_problem *p = NULL;
    dae_options o = dae_options_default();
    run r;
    assert_int_equal(dae_problem_from_residual(&(dae_residual){.n = 1, .f = no_model}, &p, NULL),
                     DAE_OK);
    o.method = "taylor";
    expect_refusal(p, &o, DAE_ERR_UNSUPPORTED, "model text");
    dae_problem_free(p);
    open_model_file(&r, "pendulum");
    r.options.max_order = 31;
    expect_refusal(r.problem, &r.options, DAE_ERR_ARGUMENT, "30");
    r.options.max_order = 0;
    r.options.method = "bdf";
    r.options.precision = DAE_PRECISION_QUAD;
    expect_refusal(r.problem, &r.options, DAE_ERR_UNSUPPORTED, "taylor");
    r.options.precision = (dae_precision)7;
    expect_refusal(r.problem, &r.options, DAE_ERR_ARGUMENT, "precision");
    dae_problem_free(r.problem);
}

/* More digits than the precision has: which precision, and that there is a higher one. */
static void tolerances_below_the_precision(void **state)
{
    (void)state;
    run r;
    open_model_file(&r, "pendulum");
    r.options.rtol = r.options.atol = 1e-18;
    assert_int_equal(start_at(&r, 0.0), DAE_ERR_TOLERANCE);
    expect_words(diag_of(&r)->text, "double precision|higher precision", __LINE__);
    end(&r);
}

/* x y' + .. : the coefficient of y' vanishes at t = 1, where 1/x has a pole */
static void loss_of_rank(void **state)
{
    (void)state;
    run r;
    prepare(&r, MODEL("Real x(start=1, fixed=true); Real y(start=0, fixed=true); equation der(x) = "
                      "-1; x*der(y) = 1 \"pole\";"));
    r.options.method = "taylor";
    OK(start_at(&r, 0.0));
    dae_status status = dae_solver_run(r.solver, 2.0, NULL, NULL);
    assert_true(status < 0);
    assert_true(fabs(dae_solver_time(r.solver) - 1.0) < 1e-6);
    expect_words(diag_of(&r)->text, "pole|solved|y", __LINE__);
    end(&r);
    prepare(&r, MODEL("Real x(start=1, fixed=true); Real z(start=0, fixed=true); equation der(x) = "
                      "-1; der(z) = sqrt(x) \"root\";"));
    r.options.method = "taylor";
    OK(start_at(&r, 0.0));
    assert_true(dae_solver_run(r.solver, 2.0, NULL, NULL) < 0);
    expect_words(diag_of(&r)->text, "root|not finite|taylor", __LINE__);
    end(&r);
}

/* Further solvers of a problem take over the analysis of the first one: the same numbers, in a
 * higher precision better ones, and the first solver may be gone. */
static void solvers_share_the_analysis(void **state)
{
    (void)state;
    run r;
    double first[MOST_VALUES], again[MOST_VALUES];
    precise exact = number(pendulum_at_10[0][1]);
    run_file(&r, "pendulum", 10.0, 1e-9, DAE_PRECISION_DOUBLE);
    assert_int_equal(dae_solver_variables(r.solver, 10.0, first), DAE_OK);
    dae_solver *kept = r.solver;
    for (int k = 0; k < 2; k++) {
        if (k == 1) dae_solver_free(kept);
        go(&r, 10.0);
        assert_int_equal(dae_solver_variables(r.solver, 10.0, again), DAE_OK);
        for (int i = 0; i < dae_problem_variable_count(r.problem); i++)
            assert_true(again[i] == first[i]);
        dae_solver_free(r.solver);
    }
    r.options.precision = DAE_PRECISION_LONG;
    r.options.rtol = r.options.atol = 1e-16;
    go(&r, 10.0);
    assert_true(distance(digits_of(&r, "x"), exact) < 1e-15);
    end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solvers_share_the_analysis),
        cmocka_unit_test(pendulum_in_quad),
        cmocka_unit_test(pendulum_in_long_double),
        cmocka_unit_test(andrews_in_double),
        cmocka_unit_test(references_in_quad),
        cmocka_unit_test(index_five),
        cmocka_unit_test(ordinary_equations),
        cmocka_unit_test(jumps_and_kinks_are_seen),
        cmocka_unit_test(index_one),
        cmocka_unit_test(all_kinds_of_operations),
        cmocka_unit_test(events_cost_no_digits),
        cmocka_unit_test(bounces),
        cmocka_unit_test(observed_orders),
        cmocka_unit_test(low_orders),
        cmocka_unit_test(energy_and_constraints),
        cmocka_unit_test(polynomial_work),
        cmocka_unit_test(large_models_stay_sparse),
        cmocka_unit_test(rejected_steps_change_nothing),
        cmocka_unit_test(refusals),
        cmocka_unit_test(tolerances_below_the_precision),
        cmocka_unit_test(loss_of_rank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
