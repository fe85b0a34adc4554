/* Functions of time alone that are short against the run: every method finds them at every
 * tolerance. Values are those of closed forms. */
#include "support/model_run.h"

static const double PI = 3.14159265358979323846;

/* Methods of every family that take equations of this form. */
static const char *const METHODS[] = {"auto",     "bdf",  "radau",   "rodas",   "sdirk",  "irk",
                                      "lobattoc", "liex", "dopri:5", "dopri:8", "taylor", "glm"};
enum { METHOD_COUNT = sizeof METHODS / sizeof *METHODS };

/* The text at t with a method and a tolerance; how many steps were taken. */
static long run_to(run *r, const char *text, const char *method, double rtol, double t)
{
    prepare(r, text);
    r->options.method = method;
    r->options.rtol = rtol;
    r->options.atol = 1e-3 * rtol;
    dae_status status = dae_solver_new(r->problem, &r->options, &r->solver, &r->diag);
    if (status == DAE_OK) status = dae_solver_start(r->solver, 0.0, NULL, NULL);
    if (status == DAE_OK) status = step_to(r, t);
    if (status != DAE_OK) fail_msg("%s, %g: %s", method, rtol, diag_of(r)->text);
    return dae_solver_stats(r->solver)->steps;
}

/* c' = -k c + exp(-((t - m)/w)^2)/w from c(0) = 0 */
static double after_pulse(double k, double m, double w, double t)
{
    const double shift = 0.5 * k * w;
    const double area = 0.5 * sqrt(PI) * (erf((t - m) / w - shift) - erf(-m / w - shift));
    return area * exp(-k * (t - m) + shift * shift);
}

static void expect_pulse(const char *method, double w, double rtol)
{
    static const double K = 0.1, M = 7.1, END = 20.0;
    char text[300];
    run r;
    snprintf(text, sizeof text,
             MODEL("Real c(start = 0, fixed = true);\nequation\n"
                   "der(c) = -%.17g*c + exp(-((time - %.17g)/%.17g)^2)/%.17g;"),
             K, M, w, w);
    run_to(&r, text, method, rtol, END);
    const double right = after_pulse(K, M, w, END), found = value(&r, "c");
    if (!(fabs(found - right) <= 100.0 * rtol * right))
        fail_msg("%s, width %g, rtol %g: %.12g, not %.12g", method, w, rtol, found, right);
    end(&r);
}

/* A pulse of a two-hundredth to a millionth of the run. */
static void pulses(void **state)
{
    (void)state;
    static const double WIDTHS[] = {0.1, 1e-3, 2e-5}, TOLERANCES[] = {1e-3, 1e-5, 1e-8};
    for (int m = 0; m < METHOD_COUNT; m++)
        for (int k = 0; k < 9; k++) expect_pulse(METHODS[m], WIDTHS[k / 3], TOLERANCES[k % 3]);
}

/* Shapes whose area is known: a rate x' of 0 but for one pulse, and its integral. */
static void shapes(void **state)
{
    (void)state;
    static const struct {
        const char *rate;
        double area, end;
    } SHAPES[] = {
        {"1/(1 + ((time - 7.3)/1e-3)^2)", 0.0, 20.0}, /* its area is set below */
        {"tanh((time - 7.3)/1e-4) - tanh((time - 7.31)/1e-4)", 0.02, 20.0},
        {"1/cosh((time - 3.17)/0.06)^2", 0.12, 20.0},
        {"sin(time)^200*exp(-0.0*time)", 0.0, 2.0 * PI},
        {"max(0, 1 - abs(time - 5.3)/1e-3)", 1e-3, 20.0},
        {"exp(50*(sin(10*time) - 1))", 0.0, 0.6 * PI},
    };
    enum { COUNT = sizeof SHAPES / sizeof *SHAPES };
    double area[COUNT];
    for (int i = 0; i < COUNT; i++) area[i] = SHAPES[i].area;
    area[0] = 1e-3 * (atan(12.7e3) + atan(7.3e3));
    area[3] = 2.0 * PI; /* times 199!!/200!! */
    for (int i = 1; i <= 100; i++) area[3] *= (2.0 * i - 1.0) / (2.0 * i);
    area[5] = 0.0; /* 0.6 pi exp(-50) I_0(50) by its series */
    for (double k = 0.0, term = exp(-50.0); k < 200.0; k++, term *= 625.0 / (k * k))
        area[5] += 0.6 * PI * term;
    for (int m = 0; m < METHOD_COUNT; m++)
        for (int i = 0; i < COUNT; i++) {
            char text[300];
            run r;
            snprintf(text, sizeof text,
                     MODEL("Real x(start = 0, fixed = true);\nequation\nder(x) = %s;"),
                     SHAPES[i].rate);
            run_to(&r, text, METHODS[m], 1e-6, SHAPES[i].end);
            if (!(fabs(value(&r, "x") - area[i]) <= 1e-4 * area[i] + 1e-7))
                fail_msg("%s, %s: %.9g, not %.9g", METHODS[m], SHAPES[i].rate, value(&r, "x"),
                         area[i]);
            end(&r);
        }
}

/* What does not matter in units of the tolerances costs no steps. */
static void ripples(void **state)
{
    (void)state;
    static const char *const TEXTS[] = {
        MODEL("Real x(start = 1, fixed = true);\nequation\nder(x) = -x + 1e-9*sin(1e6*time);"),
        MODEL("Real x(start = 1, fixed = true), y;\nequation\n"
              "der(x) = -x;\ny = x + 1e-9*exp(-((time - 5)/1e-3)^2);"),
    };
    for (int i = 0; i < 2; i++)
        for (int m = 0; m < METHOD_COUNT; m++) {
            run r;
            if (!strcmp(METHODS[m], "taylor")) continue; /* its series has the ripples in it */
            const long steps = run_to(&r, TEXTS[i], METHODS[m], 1e-4, 10.0);
            if (steps > 150) fail_msg("%s, text %d: %ld steps", METHODS[m], i, steps);
            expect_near(&r, "x", exp(-10.0), 1e-2 * 1e-4, __LINE__);
            end(&r);
        }
}

/* At t = 0 no step is too short for what is faster than any step: so many cuts are enough. */
static void noise(void **state)
{
    (void)state;
    static const char *const NAMES[] = {"bdf", "radau", "sdirk"};
    for (int m = 0; m < 3; m++) {
        run r;
        prepare(&r, MODEL("Real x(start = 0, fixed = true), y;\nequation\n"
                          "y = 100*sin(1e300*time + 0.1);\nder(x) = y;"));
        r.options.method = NAMES[m];
        assert_int_equal(start_at(&r, 0.0), DAE_OK);
        dae_solver_step(r.solver, 1.0);
        const long attempts = dae_solver_stats(r.solver)->attempts;
        if (attempts > 100) fail_msg("%s: %ld attempts", NAMES[m], attempts);
        end(&r);
    }
}

/* Pulses that clocks and definitions drive: all have the area sqrt(pi). */
static void driven(void **state)
{
    (void)state;
    static const char *const TEXTS[] = {
        MODEL("Real x(start = 0, fixed = true), c(start = -1, fixed = true);\nequation\n"
              "der(c) = 1;\nder(x) = exp(-((c - 7.3)/1e-3)^2)/1e-3;"),
        MODEL("Real x(start = 0, fixed = true), p(start = 0.2, fixed = true);\n"
              "Real w(start = 0.5, fixed = true);\nequation\n"
              "der(w) = 0;\nder(p) = w;\nder(x) = 0.5*exp(-((p - 4.3)/1e-3)^2)/1e-3;"),
        MODEL("Real x(start = 0, fixed = true), u, v;\nequation\n"
              "u - 3 = 2*time;\n2*v + 6 = u;\nder(x) = exp(-((v - 7.3)/1e-3)^2)/1e-3;"),
        MODEL("Real x(start = 0, fixed = true), p(start = 0, fixed = true), f;\nequation\n"
              "der(p) = 1 + 0.5*sin(time);\nf = exp(-((p - 7.3)/1e-3)^2)/1e-3;\n"
              "der(x) = f*der(p);"),
    };
    for (int i = 0; i < 4; i++)
        for (int m = 0; m < METHOD_COUNT; m++) {
            run r;
            run_to(&r, TEXTS[i], METHODS[m], 1e-6, 20.0);
            if (!(fabs(value(&r, "x") - sqrt(PI)) <= 1e-4))
                fail_msg("%s, text %d: %.9g", METHODS[m], i, value(&r, "x"));
            end(&r);
        }
}

/* Pulses that do not matter at first, and later do, since 1e-12 e^t multiplies them: x is the sum
 * of 1e-12 sqrt(pi) e^(k pi), but for w^2/4 of it. */
static void growing(void **state)
{
    (void)state;
    static const char *const TEXT =
        MODEL("Real z(start = 1, fixed = true), x(start = 0, fixed = true);\nequation\n"
              "der(z) = z;\nder(x) = 1e-9*z*exp(-(sin(time)/1e-3)^2);");
    double right = 0.5e-12 * sqrt(PI);
    for (int k = 1; k <= 12; k++) right += 1e-12 * sqrt(PI) * exp(k * PI);
    for (int m = 0; m < METHOD_COUNT; m++)
        for (double rtol = 1e-3; rtol > 1e-7; rtol *= 1e-3) {
            run r;
            run_to(&r, TEXT, METHODS[m], rtol, 39.0);
            if (!(fabs(value(&r, "x") - right) <= 100.0 * rtol * right))
                fail_msg("%s, %g: %.9g, not %.9g", METHODS[m], rtol, value(&r, "x"), right);
            end(&r);
        }
}

/* A force on a body that hangs on a rod, index 3: the pendulum stands still until it is hit. */
static void constrained(void **state)
{
    (void)state;
    run r;
    run_to(&r,
           MODEL("Real x(start = 0, fixed = true), y(start = -1);\n"
                 "Real u(start = 0, fixed = true), v, f;\nequation\n"
                 "der(x) = u;\nder(y) = v;\nx^2 + y^2 = 1;\nder(v) = -f*y - 9.81;\n"
                 "der(u) = -f*x + 1e3*exp(-((time - 5)/1e-3)^2);"),
           "auto", 1e-6, 5.01);
    /* the hit is over in 1/300 of a swing: u = sqrt(pi), and its energy is kept */
    const double energy =
        0.5 * (pow(value(&r, "u"), 2) + pow(value(&r, "v"), 2)) + 9.81 * (value(&r, "y") + 1.0);
    assert_true(fabs(energy - 0.5 * PI) <= 1e-3);
    end(&r);
}

/* Source that a diode follows once a period: a rectifier with a capacitor at the end of the second
 * charging, where steps between them are long. */
static void periods(void **state)
{
    (void)state;
    run r;
    run_to(&r,
           MODEL("Real q(start = 0, fixed = true), v;\nequation\n"
                 "v = 5*sin(314*time);\nder(q) = 1e2*exp((v - 5)/0.05);"),
           "auto", 1e-6, 0.1 * PI * 20.0 / 3.14);
    double mean = 0.0; /* exp(-100) I_0(100) by its series */
    for (double k = 0.0, term = exp(-100.0); k < 400.0; k++, term *= 2500.0 / (k * k)) mean += term;
    expect_near(&r, "q", 100.0 * mean * 0.1 * PI * 20.0 / 3.14, 100.0 * mean * 6.3 * 1e-4,
                __LINE__);
    end(&r);
}

/* vc(0.035) of a run to 0.1 */
static double value_within(const char *text, const char *method, double rtol)
{
    run r;
    prepare(&r, text);
    r.options.method = method;
    r.options.rtol = rtol;
    r.options.atol = 1e-3 * rtol;
    r.options.stop_time = 0.1;
    OK(start_at(&r, 0.0));
    while (dae_solver_time(r.solver) < 0.035) assert_true(dae_solver_step(r.solver, 0.1) > 0);
    OK(dae_solver_variables(r.solver, 0.035, r.values));
    const double found = r.values[dae_problem_find_variable(r.problem, "vc")];
    end(&r);
    return found;
}

/* A rectifier whose diode conducts for an eighth of a step of radau, between two of its stages:
 * whether a step fell there went by the order of the text. vc(0.035) by the fourth order
 * Runge-Kutta method in steps of 5 and 2.5 us, which agree in 11 digits, the diode by Newton's
 * method. */
static void every_half_wave(void **state)
{
    (void)state;
    static const double RIGHT = 8.6682872023;
    static const char *const equations[] = {
        "vs = 10*sin(314.159265358979*time);\n", "vs = id + vd + vc;\n",
        "id = 1e-9*(exp(vd/0.026) - 1);\n", "1e-4*der(vc) = id - vc/1000;\n"};
    static const char *const methods[] = {"auto", "radau:5", "radau:9", "liex", "rodas", "sdirk"};
    for (int k = 0; k < 2 * 24; k++) {
        char text[600] = "model M\n";
        int left[] = {0, 1, 2, 3}, n = k / 2;
        strcat(text, k % 2 ? "Real vc(start = 0, fixed = true); Real vs, vd, id;\nequation\n"
                           : "Real vs, vd, id; Real vc(start = 0, fixed = true);\nequation\n");
        for (int i = 4; i > 0; n /= i, i--) { /* the permutation of number n */
            const int j = n % i;
            strcat(text, equations[left[j]]);
            left[j] = left[i - 1];
        }
        strcat(text, "end M;\n");
        for (int m = 0; m < 18; m += k == 1 ? 1 : 3) {
            const double rtol = pow(10.0, -3.0 - m % 3 * 1.5 - (k == 1 ? 0.0 : 3.0));
            const double found = value_within(text, methods[m / 3], rtol);
            if (!(fabs(found - RIGHT) <= 100.0 * rtol * RIGHT))
                fail_msg("%s, %g: vc = %.10g, not %.10g, in\n%s", methods[m / 3], rtol, found,
                         RIGHT, text);
        }
    }
}

/* A pulse that comes back by a delay: `first` tells whether it counts when it comes first, too. */
static void expect_return(const char *text, bool first, const char *method, double w, double rtol)
{
    static const double M = 0.53, LAG = 1.1, TIMES[] = {0.9, 1.645, 2.7};
    char whole[400];
    run r;
    snprintf(whole, sizeof whole, text, M, w, w);
    run_to(&r, whole, method, rtol, M);
    if (strstr(text, "Real p")) expect_near(&r, "p", 1.0 / w, 30.0 * rtol / w, __LINE__);
    for (int i = 0; i < 3; i++) {
        if (step_to(&r, TIMES[i]) != DAE_OK) fail_msg("%s, %s", method, diag_of(&r)->text);
        const double t = TIMES[i], found = value(&r, "c"), again = after_pulse(1.0, M + LAG, w, t);
        const double right = (first ? after_pulse(1.0, M, w, t) : 0.0) + again;
        if (!(fabs(found - right) <= 100.0 * rtol))
            fail_msg("%s, width %g, rtol %g: c(%g) = %.12g, not %.12g in %s", method, w, rtol, t,
                     found, right, whole);
    }
    end(&r);
}

static void delayed(void **state)
{
    (void)state;
#define PULSE "exp(-((time - %.17g)/%.17g)^2)/%.17g"
#define STATE_C "Real c(start = 0, fixed = true);\n"
    static const char *const TEXTS[] = {
        MODEL("Real p;\n" STATE_C "equation\np = " PULSE ";\nder(c) = p + delay(p, 1.1) - c;"),
        MODEL("Real p;\n" STATE_C "equation\np = " PULSE ";\nder(c) = delay(p, 1.1) - c;"),
        MODEL(STATE_C "equation\nder(c) = delay(" PULSE ", 1.1) - c;"),
    };
    static const char *const SOME[] = {"auto", "bdf", "rodas", "dopri"};
    static const double WIDTHS[] = {2e-3, 1e-5}, TOLERANCES[] = {1e-3, 1e-6, 1e-9};
    for (int i = 0; i < 3; i++)
        for (int m = 0; m < 4; m++)
            for (int k = 0; k < 6; k++)
                expect_return(TEXTS[i], i == 0, SOME[m], WIDTHS[k / 3], TOLERANCES[k % 3]);
}

/* What nothing reads is in the rows. */
static void shown(void **state)
{
    (void)state;
    for (int m = 0; m < METHOD_COUNT; m++) {
        run r;
        run_to(&r,
               MODEL("Real c(start = 1, fixed = true), p;\nequation\n"
                     "p = exp(-((time - 0.53)/1e-3)^2);\nder(c) = -c;"),
               METHODS[m], 1e-6, 0.53);
        expect_near(&r, "p", 1.0, 1e-4, __LINE__);
        end(&r);
    }
}

/* Pulses that states drive. Values by Gauss' formula of order 6, in so many pieces that twice as
 * many agree, over closed forms of the states; the last two by the fourth order Runge-Kutta method.
 */
static void by_states(void **state)
{
    (void)state;
    static const struct {
        const char *text, *name;
        double t, right;
    } CASES[] = {
        {MODEL("Real h(start = 50, fixed = true), v(start = 0, fixed = true);\n"
               "Real s(start = 0, fixed = true);\nequation\n"
               "der(h) = v;\nder(v) = -9.81;\nder(s) = 100*exp(-((h - 20)/0.01)^2);"),
         "s", 4.0, 0.07305750164},
        {MODEL("Real T(start = 400, fixed = true), c(start = 1, fixed = true), r;\nequation\n"
               "der(T) = -(T - 300)/50;\nr = 10*exp(-((T - 340)/0.05)^2);\nder(c) = -r*c;"),
         "c", 200.0, 0.3302899010},
        {MODEL("Real a(start = 0, fixed = true), b(start = 1, fixed = true);\n"
               "Real c(start = 0, fixed = true);\nequation\nder(a) = 0.05*b;\nder(b) = -0.05*a;\n"
               "der(c) = 1000*exp(-((a - 0.9)/0.005)^2) - 0.1*c;"),
         "c", 100.0, 1.226588430},
        {MODEL("Real a(start = 0, fixed = true), y(start = 0, fixed = true), p;\nequation\n"
               "p = exp(-((a - 0.6)/0.001)^2);\nder(a) = 0.1*(1 - a);\n"
               "der(y) = 100*delay(p, 20.13) - 0.1*y;"),
         "y", 50.0, 0.5587549812},
        {MODEL("Real a(start = 1, fixed = true), b(start = 0, fixed = true), u;\n"
               "Real y(start = 0, fixed = true);\nequation\nder(a) = 0.5*b;\nder(b) = -0.5*a;\n"
               "u = (1 + a)*sin(60*time);\nder(y) = 1000*max(u - 1.98, 0) - y;"),
         "y", 13.0, 0.1863751796},
        {MODEL("Real p(start = 0, fixed = true), w(start = 1, fixed = true), lift;\n"
               "Real q(start = 0, fixed = true);\nequation\nder(p) = w;\nder(w) = -0.02*sin(p);\n"
               "lift = max(cos(p) - 0.998, 0);\nder(q) = 1000*lift - 0.05*q;"),
         "q", 20.0, 0.3968532128},
        {MODEL("Real x(start = 1, fixed = true), y(start = 0.2, fixed = true);\n"
               "Real z(start = 0, fixed = true);\nequation\nder(x) = x*(1 - y);\n"
               "der(y) = y*(x - 1);\nder(z) = 100*exp(-((x - 1.5)/0.002)^2) - 0.1*z;"),
         "z", 60.0, 0.7377057147},
    };
    static const char *const SOME[] = {"auto",  "bdf",  "rodas", "gauss",
                                       "sdirk", "liex", "dopri", "dopri:8"};
    static const double TOLERANCES[] = {1e-3, 1e-4, 1e-6};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
        for (int k = 0; k < 24; k++) {
            const double rtol = TOLERANCES[k % 3], right = CASES[i].right;
            run r;
            run_to(&r, CASES[i].text, SOME[k / 3], rtol, CASES[i].t);
            const double found = value(&r, CASES[i].name);
            if (!(fabs(found - right) <= 100.0 * rtol * right))
                fail_msg("%s, %g: %s = %.10g, not %.10g, in\n%s", SOME[k / 3], rtol, CASES[i].name,
                         found, right, CASES[i].text);
            end(&r);
        }
}

/* Windows that no event tells of, and those that a relation alone reads: lengths of times. */
static void windows(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double right;
    } CASES[] = {
        {MODEL("Real s, q(start = 0, fixed = true);\nequation\n"
               "s = exp(-((time - 3.5)/0.004)^2);\nder(q) = if s > 0.7 then 1 else 0;"),
         0.0}, /* 0.008 sqrt(log(1/0.7)), set below, and so the next */
        {MODEL("Real s, q(start = 0, fixed = true);\nequation\n"
               "s = exp(-((time - 3.5)/0.004)^2);\nder(q) = noEvent(if s > 0.7 then 1 else 0);"),
         0.0},
        {MODEL("Real x(start = 0, fixed = true), q(start = 0, fixed = true);\nequation\n"
               "der(x) = 1;\nder(q) = noEvent(if (x - 7)^2 < 0.01 then 1 else 0);"),
         0.2},
        {MODEL(
             "Real x(start = 0, fixed = true), q(start = 0, fixed = true);\nequation\nder(x) = 1;\n"
             "der(q) = noEvent(if x > 7 and x < 7.1 then (x - 7)*(7.1 - x) else 0);"),
         1e-3 / 6.0},
    };
    static const char *const SOME[] = {"auto", "bdf", "rodas", "gauss", "dopri"};
    static const double TOLERANCES[] = {1e-3, 1e-4, 1e-6, 1e-8};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
        for (int k = 0; k < 20; k++) {
            const double rtol = TOLERANCES[k % 4];
            const double right = i < 2 ? 0.008 * sqrt(log(1.0 / 0.7)) : CASES[i].right;
            run r;
            run_to(&r, CASES[i].text, SOME[k / 4], rtol, 20.0);
            const double found = value(&r, "q");
            if (!(fabs(found - right) <= 100.0 * rtol * right))
                fail_msg("%s, %g: q = %.10g, not %.10g, in\n%s", SOME[k / 4], rtol, found, right,
                         CASES[i].text);
            end(&r);
        }
}

/* What looks along states have used up in one run is there again for the next. */
static void runs_of_one_solver_repeat(void **state)
{
    (void)state;
    double first = 0.0;
    long steps = 0;
    run r;
    prepare(&r, MODEL("Real p(start = 0, fixed = true), q(start = 0, fixed = true);\nequation\n"
                      "der(p) = 3;\nder(q) = exp(-((sin(p)*cos(3*p) + 0.53)/0.0035)^2);"));
    r.options.method = "rodas";
    r.options.rtol = 1e-3;
    r.options.atol = 1e-6;
    for (int k = 0; k < 3; k++) {
        OK(k == 0 ? start_at(&r, 0.0) : dae_solver_start(r.solver, 0.0, NULL, NULL));
        OK(step_to(&r, 20.0));
        if (k == 0) first = value(&r, "q"), steps = dae_solver_stats(r.solver)->steps;
        assert_true(value(&r, "q") == first);
        assert_int_equal(dae_solver_stats(r.solver)->steps, (k + 1) * steps);
    }
    end(&r);
}

/* u = (1 + cos(t/2)) sin(200 t) is above 1.99 in short pieces near its peaks where cos(t/2) > 0.99:
 * each is two events. The relation alone reads u. */
static void crossings(void **state)
{
    (void)state;
    static const char *const TEXT =
        MODEL("Real a(start = 1, fixed = true), b(start = 0, fixed = true), u;\n"
              "Boolean hi;\nInteger n(start = 0, fixed = true);\nequation\n"
              "der(a) = 0.5*b;\nder(b) = -0.5*a;\nu = (1 + a)*sin(200*time);\n"
              "hi = u > 1.99;\nwhen hi then\n  n = pre(n) + 1;\nend when;");
    static const char *const SOME[] = {"auto", "bdf", "rodas"};
    for (int k = 0; k < 9; k++) {
        const double rtol = pow(10.0, -3.0 - k % 3);
        int least = 0, most = 0; /* peaks of the sine, between which the factor hardly moves */
        for (int j = 0; (2.0 * j + 0.5) * PI < 200.0 * 13.0; j++) {
            const double peak = 1.0 + cos((j + 0.25) * PI / 200.0);
            least += peak > 1.99 + 5.0 * rtol;
            most += peak > 1.99 - 5.0 * rtol;
        }
        run r;
        run_to(&r, TEXT, SOME[k / 3], rtol, 13.0);
        const double found = value(&r, "n");
        if (!(found >= least && found <= most))
            fail_msg("%s, %g: %g pulses, not %d to %d", SOME[k / 3], rtol, found, least, most);
        end(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pulses),
        cmocka_unit_test(shapes),
        cmocka_unit_test(ripples),
        cmocka_unit_test(noise),
        cmocka_unit_test(constrained),
        cmocka_unit_test(growing),
        cmocka_unit_test(driven),
        cmocka_unit_test(periods),
        cmocka_unit_test(every_half_wave),
        cmocka_unit_test(delayed),
        cmocka_unit_test(shown),
        cmocka_unit_test(by_states),
        cmocka_unit_test(runs_of_one_solver_repeat),
        cmocka_unit_test(windows),
        cmocka_unit_test(crossings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
