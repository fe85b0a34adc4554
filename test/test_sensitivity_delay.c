/* Sensitivities through delays, against closed forms by the method of steps: at steps and between
 * them, behind breaks that come back and move with the delay time, within 100 tolerances. */
#include "sensitivity_trial.h"

static double power(double x, int k)
{
    double p = 1.0;
    while (k-- > 0) p *= x;
    return p;
}

static double factorial(int k)
{
    return k <= 1 ? 1.0 : k * factorial(k - 1);
}

/* Where a jump comes back values and derivatives are those of one side. */
static bool at_break(double t, double first, double every)
{
    double since = (t - first) / every;
    return since > -0.5 && fabs(since - round(since)) < 1e-9;
}

/* ---- a state that is fed back ---- */

/* y' = -p y(t - tau), y = y0 up to 0: y0 sum (-p)^k (t - (k-1) tau)^k/k!, k tau <= t + tau.
 * tau = 0.7, p = 1.3, y0 = 2. */
static void look_retarded(trial *q, double t)
{
    const double tau = 0.7, p = 1.3, y0 = 2.0;
    double by_tau = 0.0, by_p = 0.0, y = 0.0;
    for (int k = 0; k == 0 || (k - 1) * tau <= t; k++) {
        const double v = t - (k - 1) * tau, sign = k % 2 ? -y0 : y0;
        y += sign * power(p * v, k) / factorial(k);
        if (k == 0) continue;
        by_p += sign * v * power(p * v, k - 1) / factorial(k - 1);
        by_tau -= sign * p * (k - 1) * power(p * v, k - 1) / factorial(k - 1);
    }
    SLOPE(0, "y", by_tau, 4.0);
    SLOPE(1, "y", by_p, 4.0);
    SLOPE(2, "y", y / y0, 1.0);
}

static void test_retarded(void **state)
{
    (void)state;
    walk_all(MODEL("parameter Real tau = 0.7, p = 1.3;\nReal y(start = 2, fixed = true);\n"
                   "equation\nder(y) = -p*delay(y, tau);"),
             4.0, look_retarded, 3, (const char *[]){"tau", "p", "y"});
}

/* ---- a line with an echo ---- */

static const char *const echo =
    MODEL("parameter Real tau = 1, r = 0.5, t1 = 0.25;\nReal u, s, z(start = 0, fixed = true);\n"
          "Real y(start = 1, fixed = true);\nequation\n"
          "u = if time < t1 then 0 else 1 + time - t1;\ns = u + r*delay(s, tau);\nder(z) = s;\n"
          "der(y) = -delay(y, tau);");

static double echo_tau = 1.0;

/* s = sum r^k (1 + v_k), z = sum r^k (v_k + v_k^2/2), v_k = t - t1 - k tau >= 0: s jumps at all
 * echoes, and so does ds/dr; dz/dtau does as slopes of z do. */
static void look_echo(trial *q, double t)
{
    const double r = 0.5, t1 = 0.25;
    double s[3] = {0}, z[3] = {0};
    if (at_break(t, t1, echo_tau)) return;
    for (int k = 0; t - t1 - k * echo_tau >= 0.0; k++) {
        const double v = t - t1 - k * echo_tau, part = power(r, k);
        const double less = k > 0 ? k * power(r, k - 1) : 0.0;
        s[0] -= k * part;
        s[1] += less * (1.0 + v);
        s[2] -= part;
        z[0] -= k * part * (1.0 + v);
        z[1] += less * (v + 0.5 * v * v);
        z[2] -= part * (1.0 + v);
    }
    for (int k = 0; k < 3; k++) {
        SLOPE(k, "s", s[k], 1.0);
        SLOPE(k, "z", z[k], 1.0);
        SLOPE(k, "u", k == 2 && t > t1 ? -1.0 : 0.0, 1.0);
    }
}

static void test_echo(void **state)
{
    (void)state;
    static const char *const by[] = {"tau", "r", "t1"}, *const methods[] = {"bdf", "radau",
                                                                            "dopri"};
    walk_all(echo, 4.0, look_echo, 3, by);
    for (int i = 0; i < 3; i++) {
        trial q;
        open_as(&q, echo, methods[i], 1e-7, 3, by);
        walk(&q, 4.0, look_echo);
        shut(&q);
    }
}

/* The delay is as long as the wait for the step: what y feeds back bends, or is smoother, where s
 * jumps, and moves otherwise. */
static void test_echo_of_smooth_breaks_at_jumps(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        trial q;
        open_as(&q,
                MODEL("parameter Real tau = 0.25, r = 0.5, t1 = 0.25;\n"
                      "Real u, s, z(start = 0, fixed = true), y(start = 1, fixed = true);\n"
                      "equation\nu = if time < t1 then 0 else 1 + time - t1;\n"
                      "s = u + r*delay(s, tau);\nder(z) = s;\nder(y) = -delay(y, tau);"),
                "auto", TOLERANCES[i], 3, (const char *[]){"tau", "r", "t1"});
        echo_tau = 0.25;
        walk(&q, 2.0, look_echo);
        echo_tau = 1.0;
        shut(&q);
    }
}

/* y' = u1 + u2 - y(t - tau), with steps at t1 = 0.3 and t2 = t1 + tau: the kink of the first comes
 * back where the second jumps, and moves otherwise. y = G(t - t1) + G(t - t2), G(v) = sum (-1)^k
 * (v - k tau)^(k+1)/(k+1)!. */
static void look_two_steps(trial *q, double t)
{
    const double tau = 0.5, steps[2] = {0.3, 0.8};
    double by_tau = 0.0, by_step[2] = {0.0, 0.0};
    if (at_break(t, 0.3, tau)) return;
    for (int i = 0; i < 2; i++)
        for (int k = 0; t - steps[i] - k * tau >= 0.0; k++) {
            const double part = power(steps[i] + k * tau - t, k) / factorial(k);
            by_step[i] -= part;
            by_tau -= k * part;
        }
    SLOPE(0, "y", by_step[0], 1.0);
    SLOPE(1, "y", by_step[1], 1.0);
    SLOPE(2, "y", by_tau, 1.0);
}

static void test_kink_that_comes_back_at_a_jump(void **state)
{
    (void)state;
    static const char *const methods[] = {"auto", "bdf", "rodas"};
    for (int i = 0; i < 3; i++) {
        trial q;
        open_as(&q,
                MODEL("parameter Real t1 = 0.3, t2 = 0.8, tau = 0.5;\nReal u1, u2;\n"
                      "Real y(start = 0, fixed = true);\nequation\n"
                      "u1 = if time < t1 then 0 else 1;\nu2 = if time < t2 then 0 else 1;\n"
                      "der(y) = u1 + u2 - delay(y, tau);"),
                methods[i], 1e-8, 3, (const char *[]){"t1", "t2", "tau"});
        walk(&q, 2.7, look_two_steps);
        shut(&q);
    }
}

/* A cascade behind a step at 0.2, fed back: y' = k (u + r y(t - tau) - y). With v_m = t - 0.2 - m
 * tau, y = sum r^m P_m, P_m = 1 - exp(-k v_m) sum_{j <= m} (k v_m)^j/j!, dP_m/dv = k (k v)^m/m!
 * exp(-k v). Stiff: fast transients of S, of k, in steps that are long for y. */
static void look_stiff(trial *q, double t)
{
    const double tau = 0.5, k = 1000.0, r = 0.5;
    double by_tau = 0.0, by_r = 0.0, by_k = 0.0;
    if (at_break(t, 0.2, tau)) return;
    for (int m = 0; t - 0.2 - m * tau >= 0.0; m++) {
        const double v = t - 0.2 - m * tau, e = exp(-k * v);
        double rest = 0.0;
        for (int j = 0; j <= m; j++) rest += e * power(k * v, j) / factorial(j);
        const double density = e * power(k * v, m) / factorial(m);
        by_tau -= m * power(r, m) * k * density;
        by_k += power(r, m) * v * density;
        if (m > 0) by_r += m * power(r, m - 1) * (1.0 - rest);
    }
    SLOPE(0, "y", by_tau, 250.0);
    SLOPE(1, "y", by_r, 2.0);
    SLOPE(2, "y", by_k, 1e-3);
}

static void test_stiff_cascade(void **state)
{
    (void)state;
    walk_all(MODEL("parameter Real tau = 0.5, r = 0.5, k = 1000;\n"
                   "Real u, y(start = 0, fixed = true);\nequation\n"
                   "u = if time < 0.2 then 0 else 1;\nder(y) = k*(u + r*delay(y, tau) - y);"),
             1.9, look_stiff, 3, (const char *[]){"tau", "r", "k"});
}

/* y' = k (t - y) begins on its smooth solution t - 1/k: steps of y are long, those of dy/dy0 =
 * exp(-k t) are short, and so are the pieces of its past, which w = y(t - tau) reads. */
static void check_hidden(trial *q, double t)
{
    const double k = 1e5, tau = 0.5, e = exp(-k * (t - tau));
    SLOPE(0, "w", t < tau ? 1.0 : e, 1.0);
    SLOPE(0, "z", t < tau ? t : tau + (1.0 - e) / k, 1.0);
    SLOPE(1, "w", t < tau ? 0.0 : -1.0, 1.0);
    SLOPE(1, "z", t < tau ? 0.0 : tau - t, 1.0);
}

static void look_hidden(trial *q, double t)
{
    if (at_break(t, 0.5, 0.5)) return;
    check_hidden(q, t);
    for (double past = 1e-6; past < 1e-4 && t > 0.5 && t < 0.6; past *= 2.0) { /* the transient */
        look_at(q, 0.5 + past);
        check_hidden(q, 0.5 + past);
    }
}

static void test_transient_of_derivatives_alone(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        trial q;
        open_with(
            &q,
            MODEL("parameter Real k = 1e5, tau = 0.5;\nReal y(start = -1/k, fixed = true), w;\n"
                  "Real z(start = 0, fixed = true);\nequation\nder(y) = k*(time - y);\n"
                  "w = delay(y, tau);\nder(z) = w;"),
            "radau", TOLERANCES[i], 0.25, 2, (const char *[]){"y", "tau"});
        walk(&q, 1.2, look_hidden);
        assert_true(dae_solver_stats(q.r.solver)->steps < 20);
        assert_true(dae_sensitivity_statistics(q.x)->steps > 20);
        shut(&q);
    }
}

/* y' = K (s^2 + 1 - y), s = sin(t), K = 1e8: errors of y times K are in its slope by the equations,
 * and dw/dtau = -y'(t - tau) must not have them. */
static const char *const very_stiff =
    MODEL("parameter Real K = 1e8, tau = 0.3;\nReal y(start = 1, fixed = true), w;\n"
          "Real z(start = 0, fixed = true), s(start = 0, fixed = true);\nequation\n"
          "der(s) = cos(time);\nder(y) = K*(s^2 + 1 - y);\nw = delay(y, tau);\nder(z) = w;");

static void look_very_stiff(trial *q, double t)
{
    const double v = fmax(0.0, t - 0.3);
    if (fabs(t - 0.3) < 1e-6) return; /* the fast transient of y has passed */
    SLOPE(0, "w", -2.0 * sin(v) * cos(v), 1.0);
    SLOPE(0, "z", -sin(v) * sin(v), 1.0);
}

static void test_slopes_of_stiff_values(void **state)
{
    (void)state;
    trial q;
    open_as(&q, very_stiff, "radau", 1e-6, 1, (const char *[]){"tau"});
    walk(&q, 2.0, look_very_stiff);
    assert_int_equal(dae_solver_finish(q.r.solver), DAE_OK);
    assert_null(strstr(q.r.messages, "slopes of what the delay"));
    shut(&q);
}

/* At 1e-9 slopes of y are off by thousands of tolerances by rodas, whose polynomials are poor. */
static void test_note_on_slopes(void **state)
{
    (void)state;
    trial q;
    open_as(&q, very_stiff, "rodas", 1e-9, 1, (const char *[]){"tau"});
    assert_int_equal(dae_solver_run(q.r.solver, 2.0, NULL, NULL), DAE_OK);
    assert_int_equal(dae_solver_finish(q.r.solver), DAE_OK);
    assert_non_null(strstr(q.r.messages, "slopes of what the delay at m.mo:8 delays"));
    shut(&q);
}

/* ---- where the run begins ---- */

/* s = p + r s(t - tau), and before the start s was what it is there: p/(1 - r). */
static void look_constant(trial *q, double t)
{
    SLOPE(0, "s", 1.0 / (1.0 - 1.5), 2.0);
    SLOPE(1, "s", 0.8 / (0.5 * 0.5), 4.0);
    SLOPE(2, "s", 0.0, 1.0);
    SLOPE(0, "y", -2.0 * t, 4.0);
}

static void test_past_that_depends_on_itself(void **state)
{
    (void)state;
    walk_all(MODEL("parameter Real p = 0.8, r = 1.5, tau = 0.6;\nReal s(start = -1);\n"
                   "Real y(start = 0, fixed = true);\nequation\ns = p + r*delay(s, tau);\n"
                   "der(y) = s;"),
             1.5, look_constant, 3, (const char *[]){"p", "r", "tau"});
}

/* ---- a start with an event ---- */

/* Delayed values were before the run what they are before its first event, which the clock, and the
 * end of initial(), changes: u from k to 3 k^2, z' by b from 2 k^2 to k, w from 3 k to k^2, and all
 * are integrated. k = 1.2, tau = 0.3. */
static void slopes_behind_event(const trial *q, double t, const char *name, const double by_k[2],
                                double jump)
{
    const double tau = 0.3, then = fmin(t, tau);
    SLOPE(0, name, by_k[0] * then + by_k[1] * (t - then), 4.0);
    if (t != tau) SLOPE(1, name, t < tau ? 0.0 : -jump, 4.0);
}

static void look_clock_at_start(trial *q, double t)
{
    const double k = 1.2;
    slopes_behind_event(q, t, "y", (const double[]){1.0, 6.0 * k}, 3.0 * k * k - k);
    slopes_behind_event(q, t, "z", (const double[]){4.0 * k, 1.0}, k - 2.0 * k * k);
}

static void look_initial(trial *q, double t)
{
    const double k = 1.2;
    slopes_behind_event(q, t, "v", (const double[]){3.0, 2.0 * k}, k * k - 3.0 * k);
}

static void test_events_at_the_start(void **state)
{
    (void)state;
    static const char *const by[] = {"k", "tau"};
    walk_all(MODEL("parameter Real k = 1.2, tau = 0.3;\ndiscrete Real u(start = k, fixed = true);\n"
                   "Boolean b(start = false, fixed = true);\nReal y(start = 0, fixed = true);\n"
                   "Real z(start = 0, fixed = true);\nequation\nwhen sample(0, 10) then\n"
                   "u = 3*k*pre(u);\nb = true;\nend when;\nder(y) = delay(u, tau);\n"
                   "der(z) = delay(if b then k else 2*k^2, tau);"),
             1.0, look_clock_at_start, 2, by);
    walk_all(MODEL("parameter Real k = 1.2, tau = 0.3;\nReal w, v(start = 0, fixed = true);\n"
                   "equation\nw = if initial() then 3*k else k^2;\nder(v) = delay(w, tau);"),
             1.0, look_initial, 2, by);
}

/* ---- delay times that vary ---- */

/* y' = -k y(t - c - e t), y = 1 up to 0. With f = 1 - e, w = f t - c and w2 = f w - c, up to the
 * third break y = 1 - k t + k^2 w^2/(2 f) - k^3 w2^3/(6 f^3), terms with w, w2 > 0 alone. */
static void look_moving(trial *q, double t)
{
    const double c = 0.5, e = 0.25, k = 1.3, f = 1.0 - e, w = fmax(0.0, f * t - c);
    const double w2 = fmax(0.0, f * w - c), a = k * k * w / f,
                 b = k * k * k * w2 * w2 / (2 * f * f * f);
    SLOPE(0, "y", -a + b * (f + 1.0), 1.0);
    SLOPE(1, "y", -a * t + 0.5 * a * w / f + b * (w + f * t) - b * w2 / f, 1.0);
    SLOPE(2, "y", -t + k * w * w / f - k * k * w2 * w2 * w2 / (2 * f * f * f), 1.0);
}

/* d = y(w), and the slope of y that its derivatives need: bdf has short steps at first. */
static void look_moving_value(trial *q, double t)
{
    const double c = 0.5, e = 0.25, k = 1.3, f = 1.0 - e, w = f * t - c;
    const double w2 = fmax(0.0, f * w - c), a = k * k * w2 / f;
    look_moving(q, t);
    if (fabs(w) < 1e-9) return;
    SLOPE(0, "d", w < 0.0 ? 0.0 : k - a * (f + 1.0), 1.0);
    SLOPE(1, "d", w < 0.0 ? 0.0 : k * t - a * (w + f * t) + 0.5 * a * w2 / f, 2.0);
    SLOPE(2, "d", w < 0.0 ? 0.0 : -w + k * w2 * w2 / f, 1.0);
}

static void test_delay_time_that_grows(void **state)
{
    (void)state;
    static const char *const by[] = {"c", "e", "k"}, *const methods[] = {"auto", "bdf", "rodas"};
    for (int i = 0; i < 6; i++) {
        trial q;
        open_as(&q,
                MODEL("parameter Real c = 0.5, e = 0.25, k = 1.3;\n"
                      "Real y(start = 1, fixed = true), d;\nequation\nder(y) = -k*d;\n"
                      "d = delay(y, c + e*time, 2);"),
                methods[i % 3], TOLERANCES[i / 3], 3, by);
        walk(&q, 2.5, look_moving_value);
        shut(&q);
    }
}

/* y = a t, and z' = y(t - c - e z): up to c z is 0, then with v = t - c z' = a (v - e z). */
static void look_state_dependent(trial *q, double t)
{
    const double a = 2.0, c = 0.4, e = 0.5, v = fmax(0.0, t - c), E = exp(-a * e * v);
    SLOPE(0, "z", (1.0 - E) / (a * a * e * e) - v * E / (a * e), 1.0);
    SLOPE(1, "z", -(1.0 - E) / e, 1.0);
    SLOPE(2, "z", -v / (e * e) + 2.0 * (1.0 - E) / (a * e * e * e) - v * E / (e * e), 2.0);
}

static void test_delay_time_of_the_state(void **state)
{
    (void)state;
    walk_all(MODEL("parameter Real a = 2, c = 0.4, e = 0.5;\nReal y(start = 0, fixed = true);\n"
                   "Real z(start = 0, fixed = true);\nequation\nder(y) = a;\n"
                   "der(z) = delay(y, c + e*z, 5);"),
             2.0, look_state_dependent, 3, (const char *[]){"a", "c", "e"});
}

/* x + 0.1 x^3 = b */
static double root(double b)
{
    double x = b;
    for (int i = 0; i < 50; i++) x -= (x + 0.1 * x * x * x - b) / (1.0 + 0.3 * x * x);
    return x;
}

/* w + 0.1 w^3 = r(t - c - e z), z' = 1, r + 0.1 r^3 = sin(t) - sin(0.3) from 0.3 on. dw/dz0 follows
 * from the slope of r, where steps of bdf were short, through an unknown that the delay time reads.
 */
static void look_through_unknown(trial *q, double t)
{
    const double c = 0.2, e = 0.5, then = (1.0 - e) * t - c;
    const double r = root(then < 0.3 ? 0.0 : sin(then) - sin(0.3)), w = root(r);
    const double rate = (then < 0.3 ? 0.0 : cos(then)) / (1.0 + 0.3 * r * r);
    SLOPE(0, "w", -e * rate / (1.0 + 0.3 * w * w), 0.01); /* one tolerance: no error adds up */
    SLOPE(1, "w", -rate / (1.0 + 0.3 * w * w), 0.01);
}

static void test_slope_through_an_unknown(void **state)
{
    (void)state;
    trial q;
    open_as(&q,
            MODEL("parameter Real c = 0.2, e = 0.5;\nReal y(start = 0, fixed = true), w, r, u;\n"
                  "Real z(start = 0, fixed = true), v(start = 0, fixed = true);\nequation\n"
                  "u = if time < 0.3 then 0 else cos(time);\nder(y) = u;\nder(z) = 1;\n"
                  "r + 0.1*r^3 = y;\nw + 0.1*w^3 = delay(r, c + e*z, 2);\nder(v) = w;"),
            "bdf", 1e-8, 2, (const char *[]){"z", "c"});
    for (double past = 4e-9; past < 0.5; past *= 1.5) {
        assert_int_equal(dae_solver_run(q.r.solver, 1.0 + past, NULL, NULL), DAE_OK);
        look_at(&q, 1.0 + past);
        look_through_unknown(&q, 1.0 + past);
    }
    shut(&q);
}

/* ---- no closed form ---- */

static const char *const mackey_glass =
    MODEL("parameter Real tau = 2, n = 9.65, beta = 2;\nReal x(start = 0.5, fixed = true), d;\n"
          "equation\nd = delay(x, tau);\nder(x) = beta*d/(1 + d^n) - x;");

enum { ROWS = 20 };
static double reference[3][ROWS];

/* x at 0.37, 0.74, .. by a run at tight tolerances with a parameter moved. */
static void tight_run(const char *name, double value, double *rows)
{
    run r;
    prepare(&r, mackey_glass);
    r.options.rtol = 1e-12;
    r.options.atol = 1e-14;
    assert_int_equal(dae_problem_set_parameter(r.problem, name, value, &r.diag), DAE_OK);
    assert_int_equal(dae_solver_new(r.problem, &r.options, &r.solver, &r.diag), DAE_OK);
    assert_int_equal(dae_solver_start(r.solver, 0.0, NULL, NULL), DAE_OK);
    for (int i = 0; i < ROWS; i++) {
        double v[MOST_VALUES], t = 0.37 * (i + 1);
        assert_int_equal(dae_solver_run(r.solver, t, NULL, NULL), DAE_OK);
        assert_int_equal(dae_solver_variables(r.solver, t, v), DAE_OK);
        rows[i] = v[dae_problem_find_variable(r.problem, "x")];
    }
    end(&r);
}

/* Differences of fourth order. */
static void take_differences(const char *name, double value, double *out)
{
    const double h = 5e-4 * value;
    double far[2][ROWS], near[2][ROWS];
    tight_run(name, value - 2.0 * h, far[0]);
    tight_run(name, value + 2.0 * h, far[1]);
    tight_run(name, value - h, near[0]);
    tight_run(name, value + h, near[1]);
    for (int i = 0; i < ROWS; i++)
        out[i] = (8.0 * (near[1][i] - near[0][i]) - (far[1][i] - far[0][i])) / (12.0 * h);
}

static void test_mackey_glass(void **state)
{
    (void)state;
    static const char *const by[] = {"tau", "n", "beta"};
    static const double value[] = {2.0, 9.65, 2.0}, scale[] = {2.0, 0.1, 2.0};
    for (int k = 0; k < 3; k++) take_differences(by[k], value[k], reference[k]);
    for (int i = 0; i < 2; i++) {
        trial q;
        open_as(&q, mackey_glass, "auto", TOLERANCES[i], 3, by);
        for (int row = 0; row < ROWS; row++) {
            const double t = 0.37 * (row + 1);
            assert_int_equal(dae_solver_run(q.r.solver, t, NULL, NULL), DAE_OK);
            look_at(&q, t);
            for (int k = 0; k < 3; k++)
                expect_slope(&q, t, k, "x", reference[k][row], scale[k], __LINE__);
        }
        shut(&q);
    }
}

/* ---- what uses them ---- */

/* y of test_retarded is data: the delay time and the rate are found again. */
static void test_fit_finds_the_delay(void **state)
{
    (void)state;
    static const double times[] = {0.5, 1.0, 1.5, 2.0};
    static const char *const column[] = {"y"};
    double values[4];
    run r;
    prepare(&r, MODEL("parameter Real tau = 0.5, p = 1;\nReal y(start = 2, fixed = true);\n"
                      "equation\nder(y) = -p*delay(y, tau);"));
    for (int i = 0; i < 4; i++) {
        values[i] = 0.0;
        for (int k = 0; k == 0 || (k - 1) * 0.7 <= times[i]; k++)
            values[i] += 2.0 * power(-1.3 * (times[i] - (k - 1) * 0.7), k) / factorial(k);
    }
    dae_fit_parameter p[] = {{.name = "tau", .start = 0.5}, {.name = "p", .start = 1.0}};
    dae_fit_data data = {
        .rows = 4, .columns = 1, .times = times, .variables = column, .values = values};
    dae_fit_request request = {
        .parameters = p, .parameter_count = 2, .data = &data, .data_count = 1};
    dae_fit_result *found = NULL;
    dae_status status = dae_fit(r.problem, &request, &found, &r.diag);
    if (status != DAE_OK) print_error("%s\n", r.diag.text);
    assert_int_equal(status, DAE_OK);
    assert_true(fabs(found->values[0] - 0.7) < 1e-5 && fabs(found->values[1] - 1.3) < 1e-5);
    dae_fit_result_free(found);
    end(&r);
}

/* ---- what is refused ---- */

static void expect_refused(const char *text, const char *by, const char *words, int line)
{
    run r;
    dae_sensitivity *x = NULL;
    prepare(&r, text);
    assert_int_equal(dae_solver_new(r.problem, &r.options, &r.solver, &r.diag), DAE_OK);
    dae_sensitivity_request request = {.count = 1, .names = &by};
    assert_int_equal(dae_sensitivity_new(r.solver, &request, &x, &r.diag), DAE_OK);
    dae_status status = dae_solver_start(r.solver, 0.0, NULL, NULL);
    if (status == DAE_OK) status = dae_solver_run(r.solver, 2.0, NULL, NULL);
    const bool ok = status == DAE_ERR_UNSUPPORTED && strstr(diag_of(&r)->text, words);
    if (!ok) print_error("line %d: %s: %s\n", line, dae_status_name(status), diag_of(&r)->text);
    assert_true(ok);
    dae_sensitivity_free(x);
    end(&r);
}

static void test_refusals(void **state)
{
    (void)state;
    expect_refused(MODEL("parameter Real tau = 0;\nReal x(start = 1, fixed = true);\nequation\n"
                         "der(x) = -delay(x, tau);"),
                   "tau", "the delay time at m.mo:5 is 0", __LINE__);
    expect_refused(MODEL("parameter Real c = 0.5;\nReal u, y(start = 0, fixed = true);\nequation\n"
                         "u = if time < 0.3 then 0 else 1;\n"
                         "der(y) = delay(u, c + 0.1*sin(time), 1) - y;"),
                   "c", "a jump comes back by the delay at m.mo:6", __LINE__);
    expect_refused(MODEL("parameter Real w = 2;\nReal a(start = 1, fixed = true), x, v, f;\n"
                         "Real b(start = 0, fixed = true);\nequation\nder(a) = b;\n"
                         "der(b) = -w^2*a;\nder(x) = v;\nder(v) = f;\nx = a + delay(a, 0.5);"),
                   "w", "m.mo:10 stands in a constraint that is differentiated", __LINE__);
    expect_refused(MODEL("parameter Real a = 0.5, b = 1;\nReal u, y(start = 0, fixed = true);\n"
                         "equation\nu = if time < 0.3 then 0 else 1;\n"
                         "der(y) = delay(delay(u, a), a) + delay(u, b) - y;"),
                   "a", "the delay at m.mo:6 moves otherwise", __LINE__);
}

static void test_gradients_are_refused(void **state)
{
    (void)state;
    run r;
    dae_adjoint *x = NULL;
    assert_int_equal(begin(&r, mackey_glass), DAE_OK);
    dae_adjoint_request request = {.count = 1, .functionals = 1, .names = (const char *[]){"tau"}};
    assert_int_equal(dae_adjoint_new(r.solver, &request, &x, &r.diag), DAE_ERR_UNSUPPORTED);
    assert_non_null(strstr(r.diag.text, "the model has a delay (line 5)"));
    assert_non_null(strstr(r.diag.text, "forward sensitivities"));
    end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_retarded),
        cmocka_unit_test(test_echo),
        cmocka_unit_test(test_echo_of_smooth_breaks_at_jumps),
        cmocka_unit_test(test_kink_that_comes_back_at_a_jump),
        cmocka_unit_test(test_stiff_cascade),
        cmocka_unit_test(test_transient_of_derivatives_alone),
        cmocka_unit_test(test_slopes_of_stiff_values),
        cmocka_unit_test(test_note_on_slopes),
        cmocka_unit_test(test_past_that_depends_on_itself),
        cmocka_unit_test(test_events_at_the_start),
        cmocka_unit_test(test_delay_time_that_grows),
        cmocka_unit_test(test_delay_time_of_the_state),
        cmocka_unit_test(test_slope_through_an_unknown),
        cmocka_unit_test(test_mackey_glass),
        cmocka_unit_test(test_fit_finds_the_delay),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_gradients_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
