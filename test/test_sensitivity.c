/* Sensitivities against closed forms: at steps and between them, through events, for any index and
 * by every method, within 100 tolerances. */
#include "sensitivity_trial.h"

/* ---- without events ---- */

/* x = x0 exp(-k t) */
static void look_decay(trial *q, double t)
{
    const double x = 3.0 * exp(-2.0 * t);
    SLOPE(0, "x", -t * x, 0.55);
    SLOPE(1, "x", x / 3.0, 1.0);
    SLOPE(2, "x", x / 3.0, 1.0);
    SLOPE(0, "y", -2.0 * t * x * x, 3.3);
    SLOPE(2, "y", 2.0 * x * x / 3.0, 6.0);
}

static void test_decay_by_rate_and_start(void **state)
{
    (void)state;
    walk_all(MODEL("parameter Real k = 2, x0 = 3;\nReal x(start=x0, fixed=true), y;\nequation\n"
                   "der(x) = -k*x;\ny = x^2;"),
             2.0, look_decay, 3, (const char *[]){"k", "x0", "x"});
}

/* y = c x with c = 2 k: x = exp(-2 k t). A value that was set stays, whatever k does. */
static void look_algebraic(trial *q, double t)
{
    const double k = 1.5, x = exp(-2.0 * k * t), dx = -2.0 * t * x;
    SLOPE(0, "x", dx, 0.25);
    SLOPE(0, "y", 2.0 * x + 2.0 * k * dx, 2.0);
    SLOPE(1, "x", dx / 2.0, 0.125);
    SLOPE(1, "y", x + k * dx, 1.0);
    SLOPE(2, "y", 0.0, 1e-3);
}

static void test_algebraic_variable_and_dependent_parameter(void **state)
{
    (void)state;
    walk_all(MODEL("parameter Real k = 1.5, c = 2*k, idle = 1;\nReal x(start=1, fixed=true), "
                   "y(start=3);\nequation\nder(x) = -y;\nexp(y) = exp(c*x);"),
             1.0, look_algebraic, 3, (const char *[]){"k", "c", "idle"});
}

/* x(0) = sqrt(a) by an initial equation, z at rest: z^3 = a/8 */
static void look_initial(trial *q, double t)
{
    SLOPE(0, "x", exp(-t) / (2.0 * 1.5), 0.34);
    SLOPE(0, "z", cbrt(2.25 / 8.0) / (3.0 * 2.25), 0.1);
}

static void test_initial_equations(void **state)
{
    (void)state;
    walk_all(MODEL("parameter Real a = 2.25;\nReal x(start=1), z(start=1);\ninitial equation\n"
                   "x^2 = a;\nder(z) = 0;\nequation\nder(x) = -x;\nder(z) = a - 8*z^3;"),
             1.0, look_initial, 1, (const char *[]){"a"});
}

/* ---- many equations: stages by matrices of the size of one ---- */

static double many_start(int i)
{
    return i / 30.0;
}

/* x' = -k x^2: x = x0 / (1 + k x0 t) */
static void look_at_reactions(trial *q, double t)
{
    double sum = 0.0, by = 0.0;
    for (int i = 1; i <= 30; i++) {
        char name[16];
        const double x0 = many_start(i), under = 1.0 + 2.0 * x0 * t;
        snprintf(name, sizeof name, "x[%d]", i);
        SLOPE(0, name, -x0 * x0 * t / (under * under), 0.25);
        SLOPE(1, name, 0.0, 1.0);
        sum += x0 / under, by -= x0 * x0 * t / (under * under);
    }
    SLOPE(0, "s", 3.0 * by, 10.0);
    SLOPE(1, "s", sum, 15.0);
}

/* x' = -k x */
static void look_at_decays(trial *q, double t)
{
    for (int i = 1; i <= 30; i++) {
        char name[16];
        snprintf(name, sizeof name, "x[%d]", i);
        SLOPE(0, name, -t * many_start(i) * exp(-2.0 * t), 0.2);
    }
}

static void test_many_equations(void **state)
{
    (void)state;
    const char *const by[] = {"k", "c"};
    walk_all("model M parameter Real k = 2; parameter Real c = 3; Real x[30]; Real s; "
             "initial equation for i in 1:30 loop x[i] = i/30; end for; "
             "equation for i in 1:30 loop der(x[i]) = -k*x[i]^2; end for; s = c*sum(x); end M;",
             3.0, look_at_reactions, 2, by);
    walk_all("model M parameter Real k = 2; Real x[30]; "
             "initial equation for i in 1:30 loop x[i] = i/30; end for; "
             "equation for i in 1:30 loop der(x[i]) = -k*x[i]; end for; end M;",
             3.0, look_at_decays, 1, by);
}

/* ---- events ---- */

enum { BY_G, BY_E, BY_H };

/* A ball after n impacts: te_n, speed u_n, and their derivatives by g, e, h0. */
typedef struct flight {
    double begin, speed, d_begin[3], d_speed[3];
} flight;

static flight flight_after(int n)
{
    const double g = 9.81, e = 0.8, h = 1.0, fall = sqrt(2.0 * h / g), v = sqrt(2.0 * g * h);
    double sum = 0.0, d_sum = 0.0;
    for (int j = 1; j < n; j++) {
        sum += 2.0 * pow(e, j) * v / g;
        d_sum += 2.0 * j * pow(e, j - 1) * v / g;
    }
    flight f = {fall + sum, pow(e, n) * v, {0.0, d_sum, 0.0}, {0.0, n * pow(e, n - 1) * v, 0.0}};
    f.d_begin[BY_G] = -f.begin / (2.0 * g); /* times go as sqrt(h0/g) */
    f.d_begin[BY_H] = f.begin / (2.0 * h);
    f.d_speed[BY_G] = f.speed / (2.0 * g);
    f.d_speed[BY_H] = f.speed / (2.0 * h);
    return f;
}

static const char ball[] =
    MODEL("parameter Real g = 9.81, e = 0.8, h0 = 1;\nReal h(start=h0, fixed=true), "
          "v(start=0, fixed=true);\nequation\nder(h) = v;\nder(v) = -g;\nwhen h <= 0 then\n"
          "reinit(v, -e*pre(v));\nend when;");

static void look_ball(trial *q, double t)
{
    int n = q->r.events / 2;
    double te, tau = t - (n > 0 ? flight_after(n).begin : 0.0);
    flight f = n > 0 ? flight_after(n) : (flight){0};
    for (int k = 0; k < 3; k++) {
        double dg = k == BY_G ? 1.0 : 0.0, dt = -f.d_begin[k];
        double dh = f.d_speed[k] * tau + f.speed * dt - dg * tau * tau / 2.0 - 9.81 * tau * dt;
        double dv = f.d_speed[k] - dg * tau - 9.81 * dt, slope_of_time;
        if (n == 0) dh += k == BY_H ? 1.0 : 0.0;
        SLOPE(k, "h", dh, k == BY_E ? 20.0 : 2.0);
        SLOPE(k, "v", dv, k == BY_E ? 60.0 : 10.0);
        if (n == 0) continue;
        assert_int_equal(dae_sensitivity_event(q->x, k, &te, &slope_of_time), DAE_OK);
        assert_true(fabs(te - f.begin) <= 100.0 * q->r.options.rtol);
        assert_true(fabs(slope_of_time - f.d_begin[k]) <= 1000.0 * q->r.options.rtol);
    }
}

static void test_bouncing_ball(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        trial q;
        double te, d;
        open_as(&q, ball, "auto", TOLERANCES[i], 3, (const char *[]){"g", "e", "h0"});
        assert_int_equal(dae_sensitivity_event(q.x, 0, &te, &d), DAE_ERR_STATE);
        walk(&q, 2.2, look_ball);
        assert_int_equal(q.r.events, 6);
        assert_int_equal(dae_sensitivity_statistics(q.x)->events, 3);
        shut(&q);
    }
}

/* x = t up to the threshold th, then th exp(-2 (t - th)) */
static void look_relay(trial *q, double t)
{
    const double th = 0.6;
    SLOPE(0, "x", q->r.events > 1 ? (1.0 + 2.0 * th) * exp(-2.0 * (t - th)) : 0.0, 2.2);
}

static void test_threshold(void **state)
{
    (void)state;
    walk_all(MODEL("parameter Real th = 0.6;\nReal x(start=0, fixed=true);\nBoolean falls(start="
                   "false, fixed=true);\nequation\nder(x) = if falls then -2*x else 1;\n"
                   "when x >= th then\nfalls = true;\nend when;"),
             1.5, look_relay, 1, (const char *[]){"th"});
}

/* x_n = (1 - k h)^n at t_n = n h; x = x_n (1 - k (t - t_n)) behind it */
static void look_sampled(trial *q, double t)
{
    const double k = 0.7, h = 0.25;
    int n = q->r.events / 2;
    double xn = pow(1.0 - k * h, n), dk = -n * h * pow(1.0 - k * h, n - 1);
    double dh = -n * k * pow(1.0 - k * h, n - 1), tau = t - n * h;
    SLOPE(0, "x", dk * (1.0 - k * tau) - xn * tau, 1.0);
    SLOPE(1, "x", dh * (1.0 - k * tau) + xn * k * n, 2.0);
    SLOPE(0, "u", dk, 1.0);
    SLOPE(1, "u", dh, 2.0);
}

static void test_sampled_decay(void **state)
{
    (void)state;
    walk_all(MODEL("parameter Real k = 0.7, h = 0.25;\nReal x(start=1, fixed=true);\n"
                   "discrete Real u(start=1, fixed=true);\nequation\nder(x) = -k*u;\n"
                   "when sample(h, h) then\nu = x;\nend when;"),
             1.1, look_sampled, 2, (const char *[]){"k", "h"});
}

/* ---- index 3, by every method ---- */

static const char pendulum[] =
    MODEL("parameter Real m = 1, L = 1, g = 1;\nReal x(start=L), y(start=0, fixed=true), "
          "vx(start=0), vy(start=0, fixed=true), lambda;\nequation\nder(x) = vx;\nder(y) = vy;\n"
          "m*der(vx) = -lambda*x;\nm*der(vy) = -lambda*y - m*g;\nx^2 + y^2 = L^2;");

enum { BY_L, BY_GRAVITY, BY_MASS };

/* Motions of all pendulums are one: x = L X(t sqrt(g/L)), vx = sqrt(g L) X', lambda = (m g/L) f.
 * So derivatives follow from values. At rest at the height 0: lambda = -3 m g y/L^2. */
static void look_pendulum(trial *q, double t)
{
    const double x = at(q, "x"), y = at(q, "y"), vx = at(q, "vx"), vy = at(q, "vy");
    const double lambda = at(q, "lambda"), dx = slope(q, BY_L, "x"), dy = slope(q, BY_L, "y");
    const double dvx = slope(q, BY_L, "vx"), dvy = slope(q, BY_L, "vy");
    SLOPE(BY_L, "x", x - t / 2.0 * vx, 6.0);
    SLOPE(BY_L, "y", y - t / 2.0 * vy, 6.0);
    SLOPE(BY_L, "vx", vx / 2.0 + t / 2.0 * lambda * x, 15.0);
    SLOPE(BY_L, "lambda", -lambda + 1.5 * t * vy, 20.0);
    SLOPE(BY_GRAVITY, "x", t / 2.0 * vx, 6.0);
    SLOPE(BY_GRAVITY, "vy", vy / 2.0 + t / 2.0 * (-lambda * y - 1.0), 15.0);
    SLOPE(BY_MASS, "x", 0.0, 1.0);
    SLOPE(BY_MASS, "lambda", lambda, 3.0);
    /* they stay on the linearised constraints, hidden ones too, as far as the values do: those of
     * hem between steps are off by 1e-10 */
    const double off = 100.0 * (fabs(x * x + y * y - 1.0) + fabs(x * vx + y * vy));
    assert_true(fabs(2.0 * x * dx + 2.0 * y * dy - 2.0) <= 1e-12 + off);
    assert_true(fabs(x * dvx + vx * dx + y * dvy + vy * dy) <= 1e-11 + off);
}

static void test_pendulum_by_every_method(void **state)
{
    static const char *const methods[] = {"auto", "bdf", "radau", "rodas",
                                          "prk",  "hem", "dopri", "taylor"};
    (void)state;
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++)
        for (int i = 0; i < 2; i++) {
            trial q;
            open_as(&q, pendulum, methods[m], TOLERANCES[i], 3, (const char *[]){"L", "g", "m"});
            walk(&q, 10.0, look_pendulum);
            assert_true(q.looks > 20);
            shut(&q);
        }
}

/* The run takes the steps that it takes without them. */
static void test_run_is_the_same(void **state)
{
    (void)state;
    trial q;
    run r;
    open_as(&q, ball, "bdf", 1e-6, 1, (const char *[]){"e"});
    prepare(&r, ball);
    r.options = q.r.options;
    r.options.user = &r;
    assert_int_equal(start_at(&r, 0.0), DAE_OK);
    dae_status status = DAE_STEPPED;
    while (status > 0) {
        status = dae_solver_step(r.solver, 2.0);
        assert_int_equal(dae_solver_step(q.r.solver, 2.0), status);
        assert_true(dae_solver_time(r.solver) == dae_solver_time(q.r.solver));
        assert_true(value(&r, "h") == value(&q.r, "h"));
    }
    shut(&q);
    end(&r);
}

/* All directions of a row share its linearised equations. */
static void test_rows_are_linearised_once(void **state)
{
    (void)state;
    trial q;
    open_as(&q, pendulum, "bdf", 1e-6, 3, (const char *[]){"L", "g", "m"});
    assert_true(dae_solver_step(q.r.solver, 10.0) > 0);
    double t = 0.5 * dae_solver_time(q.r.solver);
    long before = dae_sensitivity_statistics(q.x)->jacobians;
    look_at(&q, t);
    assert_int_equal(dae_sensitivity_statistics(q.x)->jacobians, before + 1);
    double found = slope(&q, BY_L, "vx");
    look_at(&q, 1.5 * t);
    assert_true(slope(&q, BY_L, "vx") != found);
    assert_int_equal(dae_sensitivity_statistics(q.x)->jacobians, before + 2);
    look_at(&q, t);
    assert_true(slope(&q, BY_L, "vx") == found);
    shut(&q);
}

/* ---- callbacks ---- */

/* x' = -p0 x, y^3 = p1 x */
static int residual(double t, const double *y, const double *yp, double *f, void *user)
{
    const double *p = user;
    (void)t;
    f[0] = yp[0] + p[0] * y[0];
    f[1] = y[1] * y[1] * y[1] - p[1] * y[0];
    return 0;
}

static int by_parameter(double t, const double *y, const double *yp, int k, double *f, void *user)
{
    (void)t, (void)yp, (void)user;
    f[0] = k == 0 ? y[0] : 0.0;
    f[1] = k == 1 ? -y[0] : 0.0;
    return 0;
}

static void run_callbacks(const dae_sensitivity_request *by, double *p, double rtol)
{
    const double y0[] = {1.0, 2.0}, yp0[] = {-0.5, -1.0 / 3.0};
    dae_residual form = {.n = 2, .f = residual, .user = p};
    dae_problem *problem = NULL;
    dae_solver *solver = NULL;
    dae_sensitivity *x = NULL;
    dae_diag diag;
    double y[2], d[2];
    dae_options options = dae_options_default();
    options.rtol = rtol;
    options.atol = 1e-3 * rtol;
    assert_int_equal(dae_problem_from_residual(&form, &problem, &diag), DAE_OK);
    assert_int_equal(dae_solver_new(problem, &options, &solver, &diag), DAE_OK);
    dae_status status = dae_sensitivity_new(solver, by, &x, &diag);
    if (status != DAE_OK) print_error("%s\n", diag.text);
    assert_int_equal(status, DAE_OK);
    assert_int_equal(dae_solver_start(solver, 0.0, y0, yp0), DAE_OK);
    for (int row = 1; row <= 8; row++) {
        double t = 0.25 * row, at_t = exp(-0.5 * t), root = cbrt(8.0 * at_t);
        assert_int_equal(dae_solver_run(solver, t, y, NULL), DAE_OK);
        assert_int_equal(dae_sensitivity_at(x, t, 0, d), DAE_OK);
        assert_true(fabs(d[0] + t * at_t) <= 100.0 * rtol);
        assert_true(fabs(d[1] + t / 3.0 * root) <= 100.0 * rtol);
        assert_int_equal(dae_sensitivity_at(x, t, 1, d), DAE_OK);
        assert_true(fabs(d[0]) <= 100.0 * rtol);
        assert_true(fabs(d[1] - root / 24.0) <= 100.0 * rtol);
        assert_int_equal(dae_sensitivity_at(x, t, 2, d), DAE_OK); /* the start value of x */
        assert_true(fabs(d[0] - at_t) <= 100.0 * rtol);
        assert_true(fabs(d[1] - root / 3.0) <= 100.0 * rtol);
    }
    assert_int_equal(dae_sensitivity_variables(x, 2.0, 0, d), DAE_ERR_UNSUPPORTED);
    dae_sensitivity_free(x);
    dae_solver_free(solver);
    dae_problem_free(problem);
}

static void test_callbacks(void **state)
{
    double p[] = {0.5, 8.0, 0.0}, start[] = {0.0, 0.0, 0.0, 0.0, 1.0, 0.0};
    (void)state;
    for (int i = 0; i < 2; i++) {
        dae_sensitivity_request by = {.count = 3, .derivative = by_parameter, .y0 = start};
        run_callbacks(&by, p, TOLERANCES[i]);
        run_callbacks(&(dae_sensitivity_request){.count = 3, .values = p, .y0 = start}, p,
                      TOLERANCES[i]);
        assert_true(p[0] == 0.5 && p[1] == 8.0); /* put back */
    }
}

/* ---- what is refused ---- */

static void expect_refusal(run *r, dae_sensitivity_request by, dae_status status, const char *words,
                           int line)
{
    dae_sensitivity *x = NULL;
    dae_status found = dae_sensitivity_new(r->solver, &by, &x, &r->diag);
    bool ok = found == status && !x && strstr(r->diag.text, words);
    if (!ok) print_error("line %d: %s: %s\n", line, dae_status_name(found), r->diag.text);
    assert_true(ok);
}
#define REFUSED(name, words)                                                                       \
    expect_refusal(&r, (dae_sensitivity_request){.count = 1, .names = (const char *[]){name}},     \
                   DAE_ERR_ARGUMENT, words, __LINE__)

static void test_wrong_requests(void **state)
{
    (void)state;
    run r;
    assert_int_equal(
        begin(&r, MODEL("parameter Real p = 1;\nparameter Integer n = 2;\nparameter Real q = 1;\n"
                        "final parameter Real f = 3;\nconstant Real c = 1;\n"
                        "Real x[n](each start=1, each fixed=true);\nBoolean b;\n"
                        "equation\nfor i in 1:n loop\nder(x[i]) = -p*x[i]*c*f;\nend for;\n"
                        "if q > 0 then\nb = x[1] > 0.5;\nelse\nb = false;\nend if;")),
        DAE_OK);
    const char *const one[] = {"p"};
    const double zero = 0.0;
    REFUSED("nothing", "neither a parameter nor a variable nothing");
    REFUSED("n", "parameter n is no Real");
    REFUSED("f", "parameter f is final");
    REFUSED("c", "parameter c is a constant");
    REFUSED("b", "variable b is discrete");
    REFUSED(NULL, "a name is NULL");
    expect_refusal(&r, (dae_sensitivity_request){.count = 0, .names = one}, DAE_ERR_ARGUMENT,
                   "count is 0", __LINE__);
    expect_refusal(&r, (dae_sensitivity_request){.count = 1}, DAE_ERR_ARGUMENT, "names", __LINE__);
    expect_refusal(&r, (dae_sensitivity_request){.count = 1, .names = one, .rtol = -1.0},
                   DAE_ERR_ARGUMENT, "rtol = -1", __LINE__);
    expect_refusal(&r, (dae_sensitivity_request){.count = 1, .names = one, .sizes = &zero},
                   DAE_ERR_ARGUMENT, "sizes[0] is 0", __LINE__);
    end(&r);
}

/* Asked before a start, twice, outside of the last step, and behind the end of their solver. */
static void test_wrong_calls(void **state)
{
    (void)state;
    run r;
    const char *const one[] = {"p"};
    assert_int_equal(begin(&r, MODEL("parameter Real p = 1;\nReal x(start=1, fixed=true);\n"
                                     "equation\nder(x) = -p*x;")),
                     DAE_OK);
    dae_sensitivity *x = NULL;
    dae_sensitivity_request by = {.count = 1, .names = one};
    assert_int_equal(dae_sensitivity_new(r.solver, &by, &x, &r.diag), DAE_OK);
    expect_refusal(&r, by, DAE_ERR_STATE, "has some already", __LINE__);
    double d[MOST_VALUES];
    assert_int_equal(dae_sensitivity_at(x, 0.0, 0, d), DAE_ERR_STATE); /* from the next start on */
    assert_int_equal(dae_solver_start(r.solver, 0.0, NULL, NULL), DAE_OK);
    assert_int_equal(dae_sensitivity_at(x, 0.0, 0, d), DAE_OK);
    assert_int_equal(dae_sensitivity_at(x, 0.0, 1, d), DAE_ERR_ARGUMENT);
    assert_int_equal(dae_sensitivity_at(x, 3.0, 0, d), DAE_ERR_ARGUMENT);
    assert_non_null(strstr(diag_of(&r)->text, "outside of the last step"));
    dae_solver_free(r.solver); /* before them */
    r.solver = NULL;
    assert_int_equal(dae_sensitivity_at(x, 0.0, 0, d), DAE_ERR_ARGUMENT);
    dae_sensitivity_free(x);
    end(&r);
}

/* How a start with a sensitivity by one name ends. */
static dae_status start_by(run *r, const char *text, const char *name)
{
    dae_sensitivity *x = NULL;
    prepare(r, text);
    assert_int_equal(dae_solver_new(r->problem, &r->options, &r->solver, &r->diag), DAE_OK);
    dae_sensitivity_request by = {.count = 1, .names = &name};
    assert_int_equal(dae_sensitivity_new(r->solver, &by, &x, &r->diag), DAE_OK);
    dae_status status = dae_solver_start(r->solver, 0.0, NULL, NULL);
    r->diag = *diag_of(r);
    dae_sensitivity_free(x);
    end(r);
    return status;
}

/* Fixed values that the constraint ties together: none of them can move alone, nor what they follow
 * from, but for what moves the constraint, too. */
#define TIED(start)                                                                                \
    MODEL("parameter Real p = 1, L = 1;\nReal x(start=" start ", fixed=true), "                    \
          "y(start=0, fixed=true), vx, vy(start=0, fixed=true), lambda;\nequation\nder(x) = vx;\n" \
          "der(y) = vy;\nder(vx) = -lambda*x;\nder(vy) = -lambda*y - 1;\nx^2 + y^2 = L^2;")

/* Where z begins, and with it x and y, as the text's start values of all three say: they do not fit
 * together, and all of them move. */
static void begin_guessed(const double *start, double *values)
{
    char text[400];
    run r;
    snprintf(text, sizeof text,
             MODEL("parameter Real a = 3;\nReal x(start=%.17g), y(start=%.17g), z(start=%.17g);\n"
                   "equation\nder(x) = -a*x + z;\nder(y) = z - x;\nx^2 + y^2 = 5;"),
             start[0], start[1], start[2]);
    assert_int_equal(begin(&r, text), DAE_OK);
    assert_int_equal(dae_solver_start(r.solver, 0.0, NULL, NULL), DAE_OK);
    assert_int_equal(dae_solver_variables(r.solver, 0.0, values), DAE_OK);
    end(&r);
}

/* Derivatives by start values that are not kept are those of guesses, by differences of texts. */
static void test_start_values_that_move(void **state)
{
    (void)state;
    static const char *const names[] = {"x", "y", "z"};
    const double at[3] = {1.2, 2.0, 1.4}, h = 1e-3;
    double d[3][MOST_VALUES], up[MOST_VALUES], down[MOST_VALUES];
    run r;
    dae_sensitivity *x = NULL;
    assert_int_equal(begin(&r, MODEL("parameter Real a = 3;\nReal x(start=1.2), y(start=2), "
                                     "z(start=1.4);\nequation\nder(x) = -a*x + z;\n"
                                     "der(y) = z - x;\nx^2 + y^2 = 5;")),
                     DAE_OK);
    dae_sensitivity_request request = {.count = 3, .names = names};
    assert_int_equal(dae_sensitivity_new(r.solver, &request, &x, &r.diag), DAE_OK);
    assert_int_equal(dae_solver_start(r.solver, 0.0, NULL, NULL), DAE_OK);
    for (int k = 0; k < 3; k++)
        assert_int_equal(dae_sensitivity_variables(x, 0.0, k, d[k]), DAE_OK);
    dae_sensitivity_free(x);
    end(&r);
    for (int k = 0; k < 3; k++) {
        double start[3] = {at[0], at[1], at[2]};
        start[k] = at[k] + h;
        begin_guessed(start, up);
        start[k] = at[k] - h;
        begin_guessed(start, down);
        for (int i = 0; i < 3; i++) {
            const double slope = (up[i] - down[i]) / (2.0 * h);
            if (fabs(d[k][i] - slope) > 1e-5)
                print_error("%s by %s: %.9g, not %.9g\n", names[i], names[k], d[k][i], slope);
            assert_true(fabs(d[k][i] - slope) <= 1e-5); /* h^2 and more */
        }
    }
}

/* States without a start value begin at 0, and move with it: x = 1 + (x0 - 1) cos(t) + v0 sin(t).
 */
static void test_start_values_of_none(void **state)
{
    (void)state;
    static const char *const names[] = {"x", "v"};
    const double t = 0.8, exact[2] = {cos(t), sin(t)};
    double d[MOST_VALUES];
    run r;
    dae_sensitivity *x = NULL;
    assert_int_equal(begin(&r, MODEL("Real x, v;\nequation\nder(x) = v;\nder(v) = 1 - x;")),
                     DAE_OK);
    dae_sensitivity_request request = {.count = 2, .names = names};
    assert_int_equal(dae_sensitivity_new(r.solver, &request, &x, &r.diag), DAE_OK);
    assert_int_equal(dae_solver_start(r.solver, 0.0, NULL, NULL), DAE_OK);
    assert_int_equal(dae_solver_run(r.solver, t, NULL, NULL), DAE_OK);
    for (int k = 0; k < 2; k++) {
        assert_int_equal(dae_sensitivity_variables(x, t, k, d), DAE_OK);
        assert_true(fabs(d[0] - exact[k]) <= 100.0 * r.options.rtol);
    }
    dae_sensitivity_free(x);
    end(&r);
}

/* A start with a kink has no derivative there, and beside it one of each side. */
static void test_start_with_a_kink(void **state)
{
    (void)state;
    static const char *const text =
        MODEL("parameter Real q = 1, p = 2;\nReal y;\ninitial equation\n"
              "y = noEvent(if q >= 1 then 3*q else q + 2)*p;\nequation\nder(y) = -y;");
    run r;
    assert_int_equal(start_by(&r, text, "p"), DAE_OK);
    assert_int_equal(start_by(&r, text, "q"), DAE_ERR_UNSUPPORTED);
    assert_non_null(strstr(r.diag.text, "no derivative by parameter q: it has a kink"));
    /* an odd jump: first differences do not fall */
    assert_int_equal(start_by(&r,
                              MODEL("parameter Real q = 1;\nReal y;\ninitial equation\n"
                                    "y = noEvent(if q > 1 then 1 elseif q < 1 then -1 else 0);\n"
                                    "equation\nder(y) = -y;"),
                              "q"),
                     DAE_ERR_UNSUPPORTED);
}

static void test_start_that_cannot_move(void **state)
{
    (void)state;
    run r;
    assert_int_equal(start_by(&r, TIED("L"), "L"), DAE_OK);
    assert_int_equal(start_by(&r, TIED("p"), "y"), DAE_OK); /* x follows in second order */
    assert_int_equal(start_by(&r, TIED("p"), "x"), DAE_ERR_INITIAL);
    assert_non_null(strstr(r.diag.text, "no derivative by the start value of x"));
    assert_int_equal(start_by(&r, TIED("p"), "p"), DAE_ERR_INITIAL);
    assert_non_null(strstr(r.diag.text, "no derivative by parameter p: the fixed start value of x "
                                        "would move by 1,"));
    assert_true(start_by(&r,
                         MODEL("parameter Real p = 1;\nReal x(start=1), y(start=1);\n"
                               "initial equation\nx = p;\ny = 1;\nequation\nder(x) = -x;\nx = y;"),
                         "p") < 0);
    assert_non_null(strstr(r.diag.text, "no derivative by parameter p, as it fails where that "
                                        "moves by 0.01"));
}

/* New values in the middle of a run: how they move nothing says. Without sensitivities they are
 * welcome. */
static void test_restart_is_refused(void **state)
{
    (void)state;
    static const char *const by[] = {"k"};
    static const double y = 5.0;
    run r;
    dae_sensitivity *x = NULL;
    prepare(&r, MODEL("  parameter Real k = 1;\n  Real x(start = 1, fixed = true);\nequation\n"
                      "  der(x) = -k*x;"));
    assert_int_equal(dae_solver_new(r.problem, &r.options, &r.solver, &r.diag), DAE_OK);
    dae_sensitivity_request request = {.count = 1, .names = by};
    assert_int_equal(dae_sensitivity_new(r.solver, &request, &x, &r.diag), DAE_OK);
    assert_int_equal(dae_solver_start(r.solver, 0.0, NULL, NULL), DAE_OK);
    assert_int_equal(dae_solver_run(r.solver, 1.0, NULL, NULL), DAE_OK);
    assert_int_equal(dae_solver_restart(r.solver, &y, NULL), DAE_ERR_UNSUPPORTED);
    assert_non_null(strstr(dae_solver_diag(r.solver)->text, "dae_solver_restart"));
    assert_int_equal(dae_solver_restart(r.solver, NULL, NULL), DAE_ERR_UNSUPPORTED);
    assert_int_equal(dae_solver_run(r.solver, 2.0, NULL, NULL), DAE_OK); /* nothing has changed */
    double slope;
    assert_int_equal(dae_sensitivity_variables(x, 2.0, 0, &slope), DAE_OK);
    assert_true(fabs(slope + 2.0 * exp(-2.0)) < 1e-4);
    dae_sensitivity_free(x);
    assert_int_equal(dae_solver_restart(r.solver, &y, NULL), DAE_OK);
    end(&r);
}

/* x is 0 and dx/da = (1 - cos(w t))/w: the run needs no steps, its derivative does. */
static long correct(dae_corrector corrector, bool with, double *last, long *own)
{
    static const char *const by[] = {"a"};
    run r;
    dae_sensitivity *x = NULL;
    double slope[MOST_VALUES], error = 0.0;
    prepare(&r, MODEL("  parameter Real a = 0;\n  Real x(start = 0, fixed = true);\nequation\n"
                      "  der(x) = a*sin(10*time);"));
    r.options.rtol = 1e-7;
    r.options.atol = 1e-10;
    assert_int_equal(dae_solver_new(r.problem, &r.options, &r.solver, &r.diag), DAE_OK);
    dae_sensitivity_request request = {.count = 1, .names = by, .corrector = corrector};
    if (with) assert_int_equal(dae_sensitivity_new(r.solver, &request, &x, &r.diag), DAE_OK);
    assert_int_equal(dae_solver_start(r.solver, 0.0, NULL, NULL), DAE_OK);
    *last = 0.0; /* sum of the times of all steps: a mark of them */
    for (dae_status status = DAE_STEPPED; status > 0;) {
        status = dae_solver_step(r.solver, 10.0);
        assert_true(status >= 0);
        const double t = dae_solver_time(r.solver);
        *last += t;
        if (with) assert_int_equal(dae_sensitivity_at(x, t, 0, slope), DAE_OK);
        if (with) error = fmax(error, fabs(slope[0] - (1.0 - cos(10.0 * t)) / 10.0));
    }
    assert_true(error <= 100.0 * 1e-7 * 0.2);
    const long steps = dae_solver_stats(r.solver)->steps;
    if (own) *own = dae_sensitivity_statistics(x)->steps;
    dae_sensitivity_free(x);
    end(&r);
    return steps;
}

static void test_correctors(void **state)
{
    (void)state;
    double alone, beside, together;
    long own, both;
    const long plain = correct(DAE_CORRECTOR_STAGGERED, false, &alone, NULL);
    const long staggered = correct(DAE_CORRECTOR_STAGGERED, true, &beside, &own);
    const long simultaneous = correct(DAE_CORRECTOR_SIMULTANEOUS, true, &together, &both);
    assert_int_equal(plain, staggered); /* and bit by bit: */
    assert_true(alone == beside);
    assert_true(own > 2 * staggered);
    /* S had to part the first steps alone: those behind them are as long as it permits */
    assert_true(simultaneous > 2 * staggered);
    assert_true(both <= simultaneous + own / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_correctors),
        cmocka_unit_test(test_decay_by_rate_and_start),
        cmocka_unit_test(test_algebraic_variable_and_dependent_parameter),
        cmocka_unit_test(test_initial_equations),
        cmocka_unit_test(test_many_equations),
        cmocka_unit_test(test_bouncing_ball),
        cmocka_unit_test(test_threshold),
        cmocka_unit_test(test_sampled_decay),
        cmocka_unit_test(test_pendulum_by_every_method),
        cmocka_unit_test(test_run_is_the_same),
        cmocka_unit_test(test_rows_are_linearised_once),
        cmocka_unit_test(test_callbacks),
        cmocka_unit_test(test_wrong_requests),
        cmocka_unit_test(test_wrong_calls),
        cmocka_unit_test(test_start_that_cannot_move),
        cmocka_unit_test(test_start_values_that_move),
        cmocka_unit_test(test_start_with_a_kink),
        cmocka_unit_test(test_start_values_of_none),
        cmocka_unit_test(test_restart_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
