/* Linear systems and steady states against closed forms: of index 0 to 3, inputs and parameters,
 * derivatives of inputs, eigenvalues and what carries them; a run that is asked stays bit by bit
 * what it is; what is refused. */
#include "model_run.h"

/* ---- helpers ---- */

typedef struct point {
    dae_problem *problem;
    dae_solver *solver;
    dae_linearisation *linear;
    dae_steady_state *steady;
    dae_diag diag;
} point;

/* The model started at t = 0, with inputs that can be moved. */
static void open_by(point *p, const char *text, const char *method)
{
    memset(p, 0, sizeof *p);
    dae_model model = {.text = text, .file = "m.mo", .engine = DAE_ENGINE_TAPE};
    model.shift_inputs = true;
    dae_options options = dae_options_default();
    options.method = method;
    options.rtol = 1e-8;
    options.atol = 1e-10;
    dae_status status = dae_problem_from_model(&model, &p->problem, &p->diag);
    if (status == DAE_OK) status = dae_solver_new(p->problem, &options, &p->solver, &p->diag);
    if (status != DAE_OK) print_error("%s\n", p->diag.text);
    assert_int_equal(status, DAE_OK);
    status = dae_solver_start(p->solver, 0.0, NULL, NULL);
    if (status != DAE_OK) print_error("%s\n", dae_solver_diag(p->solver)->text);
    assert_int_equal(status, DAE_OK);
}

static void open_point(point *p, const char *text)
{
    open_by(p, text, "auto");
}

static void linearise(point *p, const dae_linearise_request *request)
{
    dae_linearise_free(p->linear);
    dae_status status = request ? dae_linearise(p->solver, request, &p->linear, &p->diag)
                                : dae_linearise(p->solver, NULL, &p->linear, &p->diag);
    if (status != DAE_OK) print_error("%s\n", p->diag.text);
    assert_int_equal(status, DAE_OK);
    assert_non_null(p->linear);
}

static void find_steady(point *p, const dae_steady_request *request)
{
    dae_steady_free(p->steady);
    dae_status status = request ? dae_steady(p->solver, request, &p->steady, &p->diag)
                                : dae_steady(p->solver, NULL, &p->steady, &p->diag);
    if (status != DAE_OK) print_error("%s\n", p->diag.text);
    assert_int_equal(status, DAE_OK);
    assert_non_null(p->steady);
}

static void close_point(point *p)
{
    dae_linearise_free(p->linear);
    dae_steady_free(p->steady);
    dae_solver_free(p->solver);
    dae_problem_free(p->problem);
}

static int place_of(int count, const char *const *names, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0) return i;
    print_error("there is no %s\n", name);
    fail();
    return -1;
}

#define X(s, name) (size_t) place_of((s)->state_count, (s)->states, name)
#define U(s, name) (size_t) place_of((s)->input_count, (s)->inputs, name)
#define Y(s, name) (size_t) place_of((s)->output_count, (s)->outputs, name)

static double of_A(const dae_linearisation *s, const char *row, const char *column)
{
    return s->A[X(s, row) + X(s, column) * (size_t)s->state_count];
}

static double of_B(const dae_linearisation *s, const char *row, const char *column)
{
    return s->B[X(s, row) + U(s, column) * (size_t)s->state_count];
}

static double of_C(const dae_linearisation *s, const char *row, const char *column)
{
    return s->C[Y(s, row) + X(s, column) * (size_t)s->output_count];
}

static double of_D(const dae_linearisation *s, const char *row, const char *column)
{
    return s->D[Y(s, row) + U(s, column) * (size_t)s->output_count];
}

static void near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance)) print_error("%.17g, not %.17g\n", value, expected);
    assert_true(fabs(value - expected) <= tolerance);
}

static double value_of(const point *p, const char *name)
{
    int i = dae_problem_find_variable(p->problem, name);
    assert_true(i >= 0);
    return p->steady->variables[i];
}

/* ---- linear systems ---- */

#define OSCILLATOR                                                                                 \
    MODEL("parameter Real m = 2; parameter Real d = 0.4; parameter Real k = 3;"                    \
          "parameter Real c = k/m; input Real u(start = 0.5); output Real a; output Real q = c*x;" \
          "Real x(start = 1, fixed = true); Real v(start = 0, fixed = true);"                      \
          "equation der(x) = v; m*a + d*v + k*x = u; a = der(v);")

/* m x'' + d x' + k x = u: all four matrices, a parameter, one that others follow from. */
static void test_oscillator(void **state)
{
    (void)state;
    point p;
    open_point(&p, OSCILLATOR);
    const char *inputs[] = {"u", "k"};
    linearise(&p, &(dae_linearise_request){.inputs = inputs, .input_count = 2});
    const dae_linearisation *s = p.linear;
    assert_int_equal(s->state_count, 2);
    assert_int_equal(s->input_count, 2);
    assert_int_equal(s->output_count, 2);
    near(of_A(s, "x", "x"), 0.0, 0.0);
    near(of_A(s, "x", "v"), 1.0, 1e-15);
    near(of_A(s, "v", "x"), -1.5, 1e-15);
    near(of_A(s, "v", "v"), -0.2, 1e-15);
    near(of_B(s, "v", "u"), 0.5, 1e-15);
    near(of_B(s, "x", "u"), 0.0, 0.0);
    near(of_B(s, "v", "k"), -0.5, 1e-15); /* -x/m */
    near(of_C(s, "a", "x"), -1.5, 1e-15);
    near(of_D(s, "a", "u"), 0.5, 1e-15);
    near(of_C(s, "q", "x"), 1.5, 1e-15);
    near(of_D(s, "q", "k"), 0.5, 1e-15); /* c follows k */
    const double w = sqrt(1.5 - 0.01);
    near(s->re[0], -0.1, 1e-14);
    near(s->im[0], w, 1e-14);
    near(s->re[1], -0.1, 1e-14);
    near(s->im[1], -w, 1e-14);
    assert_int_equal(s->stability, DAE_STABILITY_ASYMPTOTIC);
    assert_int_equal(s->zero_count, 0);
    near(s->participation[0], 0.5, 1e-12);
    near(s->participation[1], 0.5, 1e-12);
    near(s->state_values[X(s, "x")], 1.0, 0.0);
    near(s->input_values[0], 0.5, 0.0);
    near(s->input_values[1], 3.0, 0.0);
    near(s->state_rates[X(s, "v")], -1.25, 1e-15);
    near(s->output_values[Y(s, "a")], -1.25, 1e-15);
    close_point(&p);
}

/* The default: all inputs; outputs of the model. Options leave parts out. */
static void test_defaults(void **state)
{
    (void)state;
    point p;
    open_point(&p, OSCILLATOR);
    linearise(&p, NULL);
    assert_int_equal(p.linear->input_count, 1);
    assert_string_equal(p.linear->inputs[0], "u");
    assert_int_equal(p.linear->output_count, 2);
    linearise(&p, &(dae_linearise_request){.without_inputs = true, .without_eigenvalues = true});
    assert_int_equal(p.linear->input_count, 0);
    assert_null(p.linear->re);
    assert_int_equal(p.linear->stability, DAE_STABILITY_NONE);
    const char *outputs[] = {"v", "x", "v"};
    linearise(&p, &(dae_linearise_request){.outputs = outputs, .output_count = 3});
    assert_int_equal(p.linear->output_count, 2);
    near(of_C(p.linear, "v", "v"), 1.0, 0.0);
    close_point(&p);
}

#define PENDULUM(y0)                                                                               \
    MODEL("parameter Real L = 2; parameter Real g = 9.81; Real x(start = 0, fixed = true);"        \
          "Real y(start = " y0 "); Real vx(start = 0, fixed = true); Real vy; Real F;"             \
          "equation der(x) = vx; der(y) = vy; der(vx) = -F*x; der(vy) = -F*y - g;"                 \
          "x^2 + y^2 = L^2;")

/* Index 3 in Cartesian coordinates: two states, sqrt(g/L) below, and above. */
static void test_pendulum(void **state)
{
    (void)state;
    point p;
    const double w = sqrt(9.81 / 2.0);
    const char *methods[] = {"auto", "radau", "bdf", "prk", "taylor"};
    for (int k = 0; k < 5; k++) {
        open_by(&p, PENDULUM("-2"), methods[k]);
        linearise(&p, NULL);
        assert_int_equal(p.linear->state_count, 2);
        near(p.linear->re[0], 0.0, 1e-14);
        near(p.linear->im[0], w, 1e-13);
        assert_int_equal(p.linear->stability, DAE_STABILITY_STABLE);
        near(of_C(p.linear, "x", p.linear->states[0]), 1.0, 1e-14);
        near(of_C(p.linear, "y", p.linear->states[0]), 0.0, 1e-14);
        close_point(&p);
    }
    open_point(&p, PENDULUM("2"));
    linearise(&p, NULL);
    near(p.linear->re[0], w, 1e-13);
    near(p.linear->re[1], -w, 1e-13);
    assert_int_equal(p.linear->stability, DAE_STABILITY_UNSTABLE);
    close_point(&p);
}

/* Index 2: a capacitor at a source takes C u', beside an RC element with one state. */
static void test_index_2(void **state)
{
    (void)state;
    point p;
    open_point(&p, MODEL("parameter Real R = 100; parameter Real C = 1e-3; input Real u(start = 5);"
                         "output Real i; Real v1; Real v2(start = 1, fixed = true);"
                         "equation v1 = u; C*der(v2) = (v1 - v2)/R; i = C*der(v1) + (v1 - v2)/R;"));
    linearise(&p, NULL);
    const dae_linearisation *s = p.linear;
    assert_int_equal(s->state_count, 1);
    assert_int_equal(s->input_count, 2);
    near(s->re[0], -10.0, 1e-13);
    near(of_B(s, "v2", "u"), 10.0, 1e-13);
    near(of_B(s, "v2", "der(u)"), 0.0, 0.0);
    near(of_D(s, "i", "u"), 0.01, 1e-16);
    near(of_D(s, "i", "der(u)"), 1e-3, 1e-17);
    near(of_C(s, "i", "v2"), -0.01, 1e-16);
    assert_true(isnan(s->input_values[U(s, "der(u)")]));
    close_point(&p);
}

/* A position that is prescribed: the force is m u'', whatever drives the input, at any time. */
static void test_prescribed_motion(void **state)
{
    (void)state;
    dae_input drive = {.name = "u", .expression = "sin(time)"};
    dae_model model = {.text = MODEL("input Real u; Real x; Real v; Real F; Real z(start = 1, "
                                     "fixed = true); equation der(x) = v; 3*der(v) = F; x = u;"
                                     "der(z) = v - z;"),
                       .file = "m.mo",
                       .engine = DAE_ENGINE_TAPE,
                       .inputs = &drive,
                       .input_count = 1,
                       .shift_inputs = true};
    point p = {0};
    assert_int_equal(dae_problem_from_model(&model, &p.problem, &p.diag), DAE_OK);
    assert_int_equal(dae_solver_new(p.problem, NULL, &p.solver, &p.diag), DAE_OK);
    assert_int_equal(dae_solver_start(p.solver, 0.0, NULL, NULL), DAE_OK);
    assert_int_equal(dae_solver_run(p.solver, 1.5, NULL, NULL), DAE_OK);
    linearise(&p, NULL);
    const dae_linearisation *s = p.linear;
    assert_int_equal(s->state_count, 1);
    near(of_A(s, "z", "z"), -1.0, 1e-15);
    near(of_D(s, "x", "u"), 1.0, 1e-15);
    near(of_D(s, "v", "der(u)"), 1.0, 1e-15);
    near(of_D(s, "F", "der(u, 2)"), 3.0, 1e-15);
    near(of_D(s, "F", "u"), 0.0, 0.0);
    near(of_D(s, "x", "der(u)"), 0.0, 0.0); /* derivatives are those at the point */
    near(of_D(s, "v", "der(u, 2)"), 0.0, 0.0);
    near(of_B(s, "z", "der(u)"), 1.0, 1e-15);
    near(s->input_values[0], sin(1.5), 1e-9);
    close_point(&p);
}

/* A nonlinear model in the middle of its run: A is the derivative there. Van der Pol. */
static void test_along_a_run(void **state)
{
    (void)state;
    point p;
    open_point(&p, MODEL("Real x(start = 2, fixed = true); Real y(start = 0, fixed = true);"
                         "equation der(x) = y; der(y) = (1 - x^2)*y - x;"));
    assert_int_equal(dae_solver_run(p.solver, 3.0, NULL, NULL), DAE_OK);
    linearise(&p, NULL);
    const dae_linearisation *s = p.linear;
    double x = s->state_values[X(s, "x")], y = s->state_values[X(s, "y")];
    near(s->t, 3.0, 0.0);
    near(of_A(s, "y", "x"), -2.0 * x * y - 1.0, 1e-12);
    near(of_A(s, "y", "y"), 1.0 - x * x, 1e-12);
    near(s->state_rates[X(s, "x")], y, 1e-6);
    close_point(&p);
}

/* Arrays: the name stands for all elements. A mode of a chain of tanks. */
static void test_arrays(void **state)
{
    (void)state;
    point p;
    open_point(
        &p,
        MODEL("parameter Integer n = 3; input Real u[2] = {1, 2}; parameter Real k[n] = {1, 2, 4};"
              "Real h[n](each start = 1, each fixed = true);"
              "equation der(h[1]) = u[1] - k[1]*h[1];"
              "for i in 2:n loop der(h[i]) = k[i - 1]*h[i - 1] - k[i]*h[i] + u[2]; end for;"));
    const char *inputs[] = {"u", "k"}, *outputs[] = {"h"};
    linearise(&p, &(dae_linearise_request){
                      .inputs = inputs, .input_count = 2, .outputs = outputs, .output_count = 1});
    assert_int_equal(p.linear->input_count, 5);
    assert_int_equal(p.linear->output_count, 3);
    near(of_B(p.linear, "h[1]", "u[1]"), 1.0, 0.0);
    near(of_B(p.linear, "h[3]", "u[2]"), 1.0, 0.0);
    near(of_B(p.linear, "h[2]", "k[1]"), 1.0, 0.0);
    for (int j = 0; j < 3; j++) {
        const double rates[] = {-1.0, -2.0, -4.0};
        near(p.linear->re[j], rates[j], 1e-13);
    }
    double sum = 0.0; /* shares are those of one eigenvalue */
    for (int i = 0; i < 3; i++) sum += p.linear->participation[i];
    near(sum, 1.0, 1e-14);
    near(p.linear->participation[X(p.linear, "h[1]")], 1.0, 1e-12);
    close_point(&p);
}

/* Systems of 1 to 9 states in any order: the largest real part first, a pair with the upper one
 * first, and each carried by its own states. Equal shares of a pair: it turns v and w alone. */
static void test_order(void **state)
{
    (void)state;
    for (int n = 1; n <= 9; n++)
        for (int first = 1; first <= n; first++) {
            char text[300];
            point p;
            snprintf(text, sizeof text,
                     MODEL("parameter Real k[%d] = {mod(%d*i, 10) + %d for i in 1:%d};"
                           "Real x[%d](each start = 1, each fixed = true);"
                           "Real v(start = 1, fixed = true); Real w(start = 0, fixed = true);"
                           "equation for i in 1:%d loop der(x[i]) = -k[i]*x[i]; end for;"
                           "der(v) = -4.5*v - 2*w; der(w) = 2*v - 4.5*w;"),
                     n, first % 2 ? 3 : 7, first, n, n, n);
            open_point(&p, text);
            linearise(&p, NULL);
            const dae_linearisation *s = p.linear;
            assert_int_equal(s->state_count, n + 2);
            double carried[11] = {0.0};
            for (int j = 0; j < s->state_count; j++) {
                const double *share = s->participation + (size_t)j * (size_t)s->state_count;
                for (int i = 0; i < s->state_count; i++) carried[i] += share[i];
                if (j > 0) assert_true(s->re[j] <= s->re[j - 1]);
                if (fabs(s->im[j]) > 1.0) {
                    near(s->re[j], -4.5, 1e-12);
                    near(fabs(s->im[j]), 2.0, 1e-12);
                    if (s->im[j] < 0.0) assert_true(j > 0 && s->im[j - 1] == -s->im[j]);
                    near(share[X(s, "v")], 0.5, 1e-12);
                    near(share[X(s, "w")], 0.5, 1e-12);
                    continue;
                }
                for (int i = 0; i < s->state_count; i++) {
                    const double rate = s->A[(size_t)i * (size_t)(s->state_count + 1)];
                    if (share[i] > 0.5) near(s->re[j], rate, 1e-12);
                    near(share[i], share[i] > 0.5 ? 1.0 : 0.0, 1e-12);
                }
            }
            for (int i = 0; i < s->state_count; i++) near(carried[i], 1.0, 1e-11);
            close_point(&p);
        }
}

/* No states: D alone. */
static void test_no_states(void **state)
{
    (void)state;
    point p;
    open_point(&p, MODEL("input Real u(start = 3); output Real y; equation y = u^2;"));
    linearise(&p, NULL);
    assert_int_equal(p.linear->state_count, 0);
    near(of_D(p.linear, "y", "u"), 6.0, 1e-14);
    find_steady(&p, NULL);
    near(value_of(&p, "y"), 9.0, 1e-14);
    close_point(&p);
}

/* Double integrators drift: zero eigenvalues with one vector. */
static void test_jordan_block(void **state)
{
    (void)state;
    point p;
    open_point(&p, MODEL("Real x(start = 0, fixed = true); Real v(start = 0, fixed = true);"
                         "equation der(x) = v; der(v) = 0;"));
    linearise(&p, NULL);
    assert_int_equal(p.linear->zero_count, 2);
    assert_int_equal(p.linear->stability, DAE_STABILITY_UNSTABLE);
    close_point(&p);
}

/* ---- callbacks ---- */

static double gain = 3.0;

static int decay(double t, const double *y, const double *yp, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = yp[0] + gain * y[0] * y[0];
    f[1] = y[1] - gain * y[0];
    return 0;
}

static int by_gain(double t, const double *y, const double *yp, int k, double *f, void *user)
{
    (void)t, (void)yp, (void)k, (void)user;
    f[0] = y[0] * y[0];
    f[1] = -y[0];
    return 0;
}

static void test_callbacks(void **state)
{
    (void)state;
    point p = {0};
    const double y0[] = {2.0, 6.0}, yp0[] = {-12.0, 0.0};
    assert_int_equal(
        dae_problem_from_residual(&(dae_residual){.n = 2, .f = decay}, &p.problem, &p.diag),
        DAE_OK);
    assert_int_equal(dae_solver_new(p.problem, NULL, &p.solver, &p.diag), DAE_OK);
    assert_int_equal(dae_solver_start(p.solver, 0.0, y0, yp0), DAE_OK);
    dae_linearise_request by_numbers = {.input_count = 1, .values = &gain};
    linearise(&p, &by_numbers);
    near(p.linear->A[0], -12.0, 1e-5);
    near(p.linear->B[0], -4.0, 1e-5);
    near(p.linear->D[1], 2.0, 1e-5);
    near(p.linear->input_values[0], 3.0, 0.0);
    assert_true(gain == 3.0);
    linearise(&p, &(dae_linearise_request){.input_count = 1, .derivative = by_gain});
    near(p.linear->B[0], -4.0, 1e-12);
    dae_linearisation *none = NULL;
    assert_int_equal(
        dae_linearise(p.solver, &(dae_linearise_request){.input_count = 1}, &none, &p.diag),
        DAE_ERR_ARGUMENT);
    assert_null(none);
    close_point(&p);
}

/* ---- a run that is asked ---- */

/* Steps of a run, with or without questions: values at the end, and the counters. */
static void follow(const char *text, const char *method, bool ask, double *y, dae_stats *stats)
{
    point p;
    open_by(&p, text, method);
    dae_status status = DAE_STEPPED;
    for (int k = 0; k < 60 && status > 0; k++) {
        status = dae_solver_step(p.solver, 1.0);
        if (ask && k % 3 == 0) linearise(&p, NULL);
    }
    assert_true(status >= 0);
    *stats = *dae_solver_stats(p.solver);
    assert_int_equal(dae_solver_variables(p.solver, dae_solver_time(p.solver), y), DAE_OK);
    close_point(&p);
}

static void test_same_bits(void **state)
{
    (void)state;
    const char *texts[] = {PENDULUM("-2"), OSCILLATOR,
                           MODEL("Real x(start = 1, fixed = true); Real v(start = 0, fixed = true);"
                                 "equation der(x) = v; der(v) = -9.81; when x < 0 then "
                                 "reinit(v, -0.8*pre(v)); end when;")};
    const char *methods[] = {"auto", "bdf", "radau", "rodas", "taylor", "prk", "liex"};
    for (int m = 0; m < 3; m++)
        for (int k = 0; k < 7; k++) {
            double with[MOST_VALUES] = {0}, without[MOST_VALUES] = {0};
            dae_stats asked, quiet;
            if (m == 2 && k == 6) continue;
            follow(texts[m], methods[k], true, with, &asked);
            follow(texts[m], methods[k], false, without, &quiet);
            if (memcmp(with, without, sizeof with) != 0)
                print_error("%s on model %d differs\n", methods[k], m);
            assert_memory_equal(with, without, sizeof with);
            assert_int_equal(asked.residuals, quiet.residuals);
            assert_int_equal(asked.jacobians, quiet.jacobians);
            assert_int_equal(asked.steps, quiet.steps);
        }
}

/* ---- steady states ---- */

#define CUBIC(x0)                                                                                  \
    MODEL("Real x(start = " x0 ", fixed = true); equation der(x) = -(x - 1)*(x - 2)*(x - 4);")

/* Three steady states, the one in the middle unstable: which one depends on the start. */
static void test_several(void **state)
{
    (void)state;
    const char *texts[] = {CUBIC("0.5"), CUBIC("2.1"), CUBIC("5")};
    const double rests[] = {1.0, 2.0, 4.0}, rates[] = {-3.0, 2.0, -6.0};
    for (int k = 0; k < 3; k++) {
        point p;
        open_point(&p, texts[k]);
        find_steady(&p, NULL);
        near(value_of(&p, "x"), rests[k], 1e-12);
        near(p.steady->linear->re[0], rates[k], 1e-10);
        assert_int_equal(p.steady->way, DAE_STEADY_NEWTON);
        assert_int_equal(p.steady->linear->stability,
                         k == 1 ? DAE_STABILITY_UNSTABLE : DAE_STABILITY_ASYMPTOTIC);
        assert_int_equal(p.steady->conserved_count, 0);
        near(p.steady->y[0], rests[k], 1e-12);
        near(p.steady->yp[0], 0.0, 0.0);
        close_point(&p);
    }
}

/* Stiff kinetics A <-> B <-> C that conserves mass without saying so: 2.5 in all, as at the start.
 * At rest b = a k1/k2, c = b k3/k4. */
static void test_conserved_mass(void **state)
{
    (void)state;
    point p;
    open_point(
        &p, MODEL("parameter Real k1 = 0.04; parameter Real k2 = 1e4; parameter Real k3 = 3e7;"
                  "parameter Real k4 = 1e3; Real a(start = 2, fixed = true); Real b(start = 0.5, "
                  "fixed = true); Real c(start = 0, fixed = true);"
                  "equation der(a) = -k1*a + k2*b; der(b) = k1*a - k2*b - k3*b + k4*c;"
                  "der(c) = k3*b - k4*c;"));
    find_steady(&p, NULL);
    const double b = 0.04 / 1e4, c = b * 3e4, all = 1.0 + b + c;
    near(value_of(&p, "a"), 2.5 / all, 1e-12);
    near(value_of(&p, "b"), 2.5 * b / all, 1e-17);
    near(value_of(&p, "c"), 2.5 * c / all, 1e-12);
    const dae_steady_state *s = p.steady;
    assert_int_equal(s->conserved_count, 1);
    for (int i = 0; i < 3; i++) near(s->conserved[i], 1.0, 1e-9);
    assert_int_equal(s->linear->zero_count, 1);
    assert_int_equal(s->linear->stability, DAE_STABILITY_STABLE);
    close_point(&p);
}

/* An epidemic at rest, without anybody who is ill: A has two null vectors, of which s + i + r alone
 * is conserved. Where x' = -x + z and a hidden constraint says z = x, x itself is. */
static void test_conserved_beside(void **state)
{
    (void)state;
    point p;
    open_point(&p, MODEL("Real s(start = 0.99, fixed = true), i(start = 0, fixed = true);"
                         "Real r(start = 0, fixed = true); equation der(s) = -2*s*i;"
                         "der(i) = 2*s*i - i; der(r) = i;"));
    find_steady(&p, NULL);
    assert_int_equal(p.steady->conserved_count, 1);
    for (int i = 0; i < 3; i++) near(p.steady->conserved[i], 1.0, 1e-6);
    close_point(&p);
    open_point(&p, MODEL("Real x(start = 0.3, fixed = true), y, z; equation der(x) = -x + z;"
                         "der(y) = 1 - 2*y - z; x + 2*y = 1;"));
    find_steady(&p, NULL);
    assert_int_equal(p.steady->conserved_count, 1);
    near(value_of(&p, "z"), 0.3, 1e-9);
    close_point(&p);
}

/* Robertson's reaction comes to rest at (0, 0, 1). */
static void test_robertson(void **state)
{
    (void)state;
    point p;
    open_point(&p,
               MODEL("Real y1(start = 1, fixed = true); Real y2(start = 0, fixed = true); Real y3;"
                     "equation der(y1) = -0.04*y1 + 1e4*y2*y3;"
                     "der(y2) = 0.04*y1 - 1e4*y2*y3 - 3e7*y2^2; y1 + y2 + y3 = 1;"));
    find_steady(&p, NULL);
    near(value_of(&p, "y1"), 0.0, 1e-5);
    near(value_of(&p, "y2"), 0.0, 1e-9);
    near(value_of(&p, "y3"), 1.0, 1e-5);
    assert_int_equal(p.steady->conserved_count, 0); /* a null vector at rest is none by itself */
    close_point(&p);
}

/* p' = x p + c with x = 0 at rest: nothing stops p, however small c is, and wherever it begins. */
static void test_slower_than_tolerances(void **state)
{
    (void)state;
    static const double start[] = {0.0, 0.5, 1.0, 100.0};
    for (int k = 0; k < 4; k++) {
        point p;
        char text[400];
        dae_diag diag = {0};
        snprintf(text, sizeof text,
                 MODEL("Real x(start = 1, fixed = true); Real p(start = %g, fixed = true);"
                       "equation der(x) = -x; der(p) = x*p + 1e-9;"),
                 start[k]);
        open_point(&p, text);
        assert_int_equal(dae_steady(p.solver, NULL, &p.steady, &diag), DAE_ERR_CONVERGENCE);
        assert_non_null(strstr(diag.text, "p moves by 1e-09"));
        assert_null(p.steady);
        dae_steady_request once = {.newton_only = true};
        close_point(&p);
        open_point(&p, text);
        assert_int_equal(dae_steady(p.solver, &once, &p.steady, &diag), DAE_ERR_CONVERGENCE);
        assert_non_null(strstr(diag.text, "No steady state was found"));
        close_point(&p);
    }
}

/* A pendulum of index 3 with friction that starts aside: it hangs. */
static void test_hanging(void **state)
{
    (void)state;
    point p;
    open_point(&p,
               MODEL("Real x(start = 0.6, fixed = true); Real y(start = -0.8); Real vx(start = 0, "
                     "fixed = true); Real vy; Real F; equation der(x) = vx; der(y) = vy;"
                     "der(vx) = -F*x - 0.2*vx; der(vy) = -F*y - 9.81 - 0.2*vy; x^2 + y^2 = 1;"));
    find_steady(&p, NULL);
    near(value_of(&p, "x"), 0.0, 1e-9);
    near(value_of(&p, "y"), -1.0, 1e-9);
    near(value_of(&p, "F"), 9.81, 1e-8);
    near(p.steady->linear->im[0], sqrt(9.81 - 0.01), 1e-8);
    assert_int_equal(p.steady->linear->stability, DAE_STABILITY_ASYMPTOTIC);
    close_point(&p);
}

/* The same without friction from the side, where y is the better state and x is below: states are
 * chosen where it hangs. */
static void test_other_states(void **state)
{
    (void)state;
    point p;
    open_point(&p, MODEL("Real x(start = 1); Real y(start = 0, fixed = true); Real vx; Real vy("
                         "start = 0, fixed = true); Real F; equation der(x) = vx; der(y) = vy;"
                         "der(vx) = -F*x; der(vy) = -F*y - 9.81; x^2 + y^2 = 1;"));
    find_steady(&p, NULL);
    near(value_of(&p, "x"), 0.0, 1e-8);
    near(fabs(value_of(&p, "y")), 1.0, 1e-12);
    const bool below = value_of(&p, "y") < 0.0;
    near(below ? p.steady->linear->im[0] : p.steady->linear->re[0], sqrt(9.81), 1e-7);
    assert_int_equal(p.steady->linear->state_count, 2);
    (void)X(p.steady->linear, "x");
    close_point(&p);
}

/* An event between the start and the rest: the run passes it. */
static void test_event_between(void **state)
{
    (void)state;
    point p;
    open_point(&p, MODEL("Real x(start = 0, fixed = true); equation "
                         "der(x) = if x < 1 then 2 - x else 1.5 - x;"));
    find_steady(&p, NULL);
    near(value_of(&p, "x"), 1.5, 1e-12);
    assert_int_equal(p.steady->way, DAE_STEADY_RUN);
    assert_true(p.steady->steps > 0);
    assert_true(p.steady->t > log(2.0));
    close_point(&p);
}

/* A ramp that ends at t = 1: no rest before. */
static void test_ramp(void **state)
{
    (void)state;
    point p;
    open_point(&p, MODEL("Real x(start = 0, fixed = true); equation "
                         "der(x) = (if time < 1 then time else 1) - x;"));
    find_steady(&p, NULL);
    near(value_of(&p, "x"), 1.0, 1e-12);
    assert_true(p.steady->t >= 1.0);
    close_point(&p);
}

/* Beyond its min a state does not rest: the other root of x^2 = 4. */
static void test_bounds(void **state)
{
    (void)state;
    point p;
    open_point(&p, MODEL("Real x(start = 0.5, fixed = true, min = 0); Real z(start = -1);"
                         "equation der(x) = 4 - x^2; z = -x;"));
    find_steady(&p, NULL);
    near(value_of(&p, "x"), 2.0, 1e-12);
    close_point(&p);
}

/* What never rests is named, with its rate. */
static void expect_none(const char *text, const char *name, const dae_steady_request *request)
{
    point p;
    open_point(&p, text);
    dae_status status = request ? dae_steady(p.solver, request, &p.steady, &p.diag)
                                : dae_steady(p.solver, NULL, &p.steady, &p.diag);
    assert_int_equal(status, DAE_ERR_CONVERGENCE);
    assert_null(p.steady);
    if (strcmp(p.diag.variable_name, name) != 0) print_error("%s\n", p.diag.text);
    assert_string_equal(p.diag.variable_name, name);
    assert_non_null(strstr(p.diag.text, "No steady state"));
    close_point(&p);
}

static void test_none(void **state)
{
    (void)state;
    const dae_steady_request brief = {.max_steps = 200}, newton = {.newton_only = true};
    const dae_steady_request span = {.span = 3.0};
    expect_none(MODEL("Real x(start = 0, fixed = true); Real z(start = 1, fixed = true);"
                      "equation der(x) = 2; der(z) = -z;"),
                "x", &brief);
    expect_none(MODEL("Real x(start = 0, fixed = true); equation der(x) = sin(time) - x;"), "x",
                &brief);
    expect_none(MODEL("Real x(start = 0, fixed = true); equation der(x) = cos(time) - x;"), "x",
                &brief); /* its derivative by time is 0 at the start */
    expect_none(MODEL("Real x(start = 0, fixed = true); equation "
                      "der(x) = if x < 1 then 2 - x else 1.5 - x;"),
                "x", &newton);
    expect_none(MODEL("Real x(start = 1, fixed = true); equation der(x) = x^2 + 1e-3;"), "x",
                &newton);
    expect_none(MODEL("Real x(start = 0, fixed = true); equation der(x) = 1;"), "x", &span);
    /* .. though it becomes so large that a step of 1 is less than its tolerance */
    expect_none(MODEL("Real x(start = 0, fixed = true); equation der(x) = 3;"), "x",
                &(dae_steady_request){.span = 1e12});
}

/* A conserved quantity that drives another one: v stays 1, so x moves on. */
static void test_free_motion(void **state)
{
    (void)state;
    const dae_steady_request brief = {.max_steps = 200};
    expect_none(MODEL("Real x(start = 0, fixed = true); Real v(start = 1, fixed = true);"
                      "equation der(x) = v; der(v) = 0;"),
                "x", &brief);
}

/* ---- what is refused ---- */

static void refuse(const char *text, const dae_linearise_request *request, dae_status expected,
                   const char *words)
{
    point p;
    open_point(&p, text);
    assert_int_equal(dae_linearise(p.solver, request, &p.linear, &p.diag), expected);
    assert_null(p.linear);
    if (!strstr(p.diag.text, words)) print_error("%s\n", p.diag.text);
    assert_non_null(strstr(p.diag.text, words));
    assert_int_equal(dae_solver_step(p.solver, 1.0) >= 0, true);
    close_point(&p);
}

static void test_refused(void **state)
{
    (void)state;
    const char *unknown[] = {"nobody"}, *variable[] = {"x"}, *constant[] = {"c"}, *none[] = {NULL};
    const char *integer[] = {"n"}, *flag[] = {"b"};
    const char *text = MODEL("constant Real c = 1; parameter Integer n = 2; input Boolean b = true;"
                             "Real x(start = 1, fixed = true); equation der(x) = -c*x/n;");
#define INPUT(list) (&(dae_linearise_request){.inputs = list, .input_count = 1})
#define OUTPUT(list) (&(dae_linearise_request){.outputs = list, .output_count = 1})
    refuse(text, INPUT(unknown), DAE_ERR_ARGUMENT, "nobody");
    refuse(text, INPUT(variable), DAE_ERR_ARGUMENT, "x follows from the equations");
    refuse(text, INPUT(constant), DAE_ERR_ARGUMENT, "c is a constant");
    refuse(text, INPUT(integer), DAE_ERR_ARGUMENT, "n is no Real");
    refuse(text, INPUT(flag), DAE_ERR_ARGUMENT, "b is discrete");
    refuse(text, INPUT(none), DAE_ERR_ARGUMENT, "NULL");
    refuse(text, OUTPUT(unknown), DAE_ERR_ARGUMENT, "nobody");
    refuse(text, OUTPUT(flag), DAE_ERR_ARGUMENT, "b is discrete");
    refuse(text, OUTPUT(none), DAE_ERR_ARGUMENT, "NULL");
    refuse(text, &(dae_linearise_request){.input_count = 1}, DAE_ERR_ARGUMENT, "without inputs");
    refuse(text, &(dae_linearise_request){.output_count = -1}, DAE_ERR_ARGUMENT, "without outputs");
    refuse(MODEL("Real x(start = 1, fixed = true); equation der(x) = -delay(x, 0.5);"), INPUT(none),
           DAE_ERR_UNSUPPORTED, "delayed");
}

/* Calls out of order, and an input of a model that was translated without shifts. */
static void test_order_of_calls(void **state)
{
    (void)state;
    point p = {0};
    dae_model model = {.text = OSCILLATOR, .file = "m.mo", .engine = DAE_ENGINE_TAPE};
    assert_int_equal(dae_problem_from_model(&model, &p.problem, &p.diag), DAE_OK);
    assert_int_equal(dae_solver_new(p.problem, NULL, &p.solver, &p.diag), DAE_OK);
    assert_int_equal(dae_linearise(p.solver, NULL, &p.linear, &p.diag), DAE_ERR_STATE);
    assert_int_equal(dae_steady(p.solver, NULL, &p.steady, &p.diag), DAE_ERR_STATE);
    assert_int_equal(dae_solver_start(p.solver, 0.0, NULL, NULL), DAE_OK);
    assert_int_equal(dae_linearise(p.solver, NULL, &p.linear, &p.diag), DAE_ERR_UNSUPPORTED);
    assert_non_null(strstr(p.diag.text, "shift_inputs"));
    linearise(&p, &(dae_linearise_request){.without_inputs = true});
    dae_linearisation *none = NULL;
    assert_int_equal(dae_linearise(NULL, NULL, &none, &p.diag), DAE_ERR_ARGUMENT);
    assert_int_equal(dae_linearise(p.solver, NULL, NULL, &p.diag), DAE_ERR_ARGUMENT);
    assert_int_equal(dae_steady(NULL, NULL, &p.steady, &p.diag), DAE_ERR_ARGUMENT);
    dae_steady_request bad = {.span = -1.0};
    assert_int_equal(dae_steady(p.solver, &bad, &p.steady, &p.diag), DAE_ERR_ARGUMENT);
    bad = (dae_steady_request){.max_steps = -1};
    assert_int_equal(dae_steady(p.solver, &bad, &p.steady, &p.diag), DAE_ERR_ARGUMENT);
    close_point(&p);
    dae_linearise_free(NULL);
    dae_steady_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_oscillator),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_pendulum),
        cmocka_unit_test(test_index_2),
        cmocka_unit_test(test_prescribed_motion),
        cmocka_unit_test(test_along_a_run),
        cmocka_unit_test(test_arrays),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_no_states),
        cmocka_unit_test(test_jordan_block),
        cmocka_unit_test(test_callbacks),
        cmocka_unit_test(test_same_bits),
        cmocka_unit_test(test_several),
        cmocka_unit_test(test_conserved_mass),
        cmocka_unit_test(test_conserved_beside),
        cmocka_unit_test(test_robertson),
        cmocka_unit_test(test_slower_than_tolerances),
        cmocka_unit_test(test_hanging),
        cmocka_unit_test(test_other_states),
        cmocka_unit_test(test_event_between),
        cmocka_unit_test(test_ramp),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_none),
        cmocka_unit_test(test_free_motion),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_order_of_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
