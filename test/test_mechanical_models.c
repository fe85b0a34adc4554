/* The full mechanical form [Wun05 (1.18), (1.14)] in models: contact coordinates, dynamic force
 * elements, force laws that are equations, friction, rheonomic and nonholonomic constraints are
 * recognised, and solved in all formulations that take them, against closed forms. */
#include "model_run.h"

typedef struct way {
    const char *method, *formulation;
} way;

/* At rtol 1e-8: errors of 1e-5 leave a factor of 1000 for their growth over the run; v loses a
 * factor of 10, and lambda one of 100 where the index is 3. */
static const way WAYS[] = {
    {"bdf2nd", "auto"},      {"bdf2nd", "index2"},      {"bdf2nd", "index1"},
    {"colloc2nd", "auto"},   {"colloc2nd", "index2"},   {"colloc2nd", "index1"},
    {"radau", "auto"},       {"bdf", "index2"},         {"bdf", "baumgarte"},
    {"bdf2nd", "baumgarte"}, {"colloc2nd", "baumgarte"}};
enum { WAY_COUNT = sizeof WAYS / sizeof WAYS[0] };

/* What needs constraints on positions. */
static const way LEVELS[] = {{"bdf", "ggl"},        {"bdf", "gglm"},          {"radau", "ggl"},
                             {"bdf", "ggl2"},       {"bdf2nd", "ggl2"},       {"colloc2nd", "ggl2"},
                             {"bdf", "fuehrer"},    {"bdf", "odassl"},        {"bdf", "minimal"},
                             {"bdf2nd", "minimal"}, {"colloc2nd", "minimal"}, {"bdf", "reduced"},
                             {"bdf2nd", "reduced"}, {"colloc2nd", "reduced"}};
enum { LEVEL_COUNT = sizeof LEVELS / sizeof LEVELS[0] };

/* name = value at the end, to a tolerance. */
typedef struct expected {
    const char *name;
    double value, tolerance;
} expected;

static void set_way(run *r, const way *w)
{
    r->options.method = w->method;
    r->options.formulation = w->formulation;
    r->options.rtol = 1e-8;
    r->options.atol = 1e-10;
    r->options.max_steps = 50000;
}

static void compare(run *r, const way *w, const expected *e, int count)
{
    double drift = strcmp(w->formulation, "index1") == 0 ? 10.0 : 1.0; /* no constraint is kept */
    for (int k = 0; k < count; k++) {
        double found = value(r, e[k].name), error = fabs(found - e[k].value);
        double most = drift * e[k].tolerance;
        if (!(error <= most))
            fail_msg("%s, %s: %s = %.12g, not %.12g (%.1e > %.1e)", w->method, w->formulation,
                     e[k].name, found, e[k].value, error, most);
    }
}

/* Solve to tend in one way. */
static void solve(run *r, const way *w, double tend, const expected *e, int count)
{
    set_way(r, w);
    dae_status status = dae_solver_new(r->problem, &r->options, &r->solver, &r->diag);
    if (status != DAE_OK) fail_msg("%s, %s: %s", w->method, w->formulation, r->diag.text);
    status = dae_solver_start(r->solver, 0.0, NULL, NULL);
    if (status == DAE_OK) status = dae_solver_set_stop_time(r->solver, tend);
    if (status == DAE_OK) status = step_to(r, tend);
    if (status != DAE_OK) fail_msg("%s, %s: %s", w->method, w->formulation, diag_of(r)->text);
    compare(r, w, e, count);
    dae_solver_free(r->solver);
    r->solver = NULL;
}

static void solve_all(run *r, const way *ways, int n, double tend, const expected *e, int count)
{
    for (int k = 0; k < n; k++) solve(r, &ways[k], tend, e, count);
}

/* Asking for it is refused, with these words. */
static void refuse(run *r, const way *w, const char *words)
{
    set_way(r, w);
    dae_status status = dae_solver_new(r->problem, &r->options, &r->solver, &r->diag);
    const dae_diag *diag = &r->diag;
    if (status == DAE_OK) {
        status = dae_solver_start(r->solver, 0.0, NULL, NULL);
        diag = diag_of(r);
    }
    assert_int_equal(status, DAE_ERR_UNSUPPORTED);
    WORDS(diag->text, words);
    dae_solver_free(r->solver);
    r->solver = NULL;
}

/* What the analysis says of the form. */
typedef struct form {
    int positions, multipliers, contacts, velocity_constraints;
    bool friction;
} form;

static void expect_form(const run *r, const form *f)
{
    dae_analysis *a;
    dae_diag diag = {0};
    if (dae_problem_analyse(r->problem, 0.0, &a, &diag) != DAE_OK) fail_msg("%s", diag.text);
    assert_int_equal(a->positions, f->positions);
    assert_int_equal(a->multipliers, f->multipliers);
    assert_int_equal(a->contacts, f->contacts);
    assert_int_equal(a->velocity_constraints, f->velocity_constraints);
    assert_int_equal(a->friction, f->friction);
    dae_analysis_free(a);
}

/* ---- models with references ---- */

/* models/NAME.mo, whose end values are in models/NAME.ref; returns how many there are. */
static int open_reference(run *r, const char *name, expected *e, char (*names)[16], int most)
{
    char path[512], line[256];
    const char *slash = strrchr(__FILE__, '/');
    int length = slash ? (int)(slash - __FILE__) + 1 : 0, count = 0;
    memset(r, 0, sizeof *r);
    snprintf(path, sizeof path, "%.*s../models/%s.mo", length, __FILE__, name);
    dae_model model = {.file = path, .engine = DAE_ENGINE_TAPE};
    if (dae_problem_from_model(&model, &r->problem, &r->diag) != DAE_OK)
        fail_msg("%s", r->diag.text);
    r->options = dae_options_default();
    snprintf(path, sizeof path, "%.*s../models/%s.ref", length, __FILE__, name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    bool at_end = false;
    while (fgets(line, sizeof line, file)) {
        char word[16];
        double v;
        if (line[0] == '#' || sscanf(line, "%15s %lf", word, &v) != 2) continue;
        if (at_end && count < most) {
            snprintf(names[count], sizeof names[0], "%s", word);
            e[count] = (expected){names[count], v, 0.0};
            count++;
        }
        at_end = at_end || strcmp(word, "t") == 0;
    }
    fclose(file);
    assert_true(count > 0);
    return count;
}

static void set_bounds(expected *e, int count, double q, const char *multipliers)
{
    for (int k = 0; k < count; k++) {
        bool multiplier = strstr(multipliers, e[k].name), v = strchr("vo", e[k].name[0]);
        e[k].tolerance = multiplier ? 100.0 * q : v ? 10.0 * q : q;
    }
}

static void bead_on_a_cycloid(void **state)
{
    (void)state;
    run r;
    expected e[8];
    char names[8][16];
    int count = open_reference(&r, "cycloid", e, names, 8);
    set_bounds(e, count, 1e-5, "N");
    expect_form(&r, &(form){2, 1, 1, 0, false});
    solve_all(&r, WAYS, WAY_COUNT, 5.0, e, count);
    solve_all(&r, LEVELS, LEVEL_COUNT, 5.0, e, count);
    refuse(&r, &(way){"prk", "auto"}, "nearest point|only implicitly");
    end(&r);
}

static void wheel_on_a_road(void **state)
{
    (void)state;
    const way stabilised[] = {{"bdf", "ggl"}, {"radau", "ggl"}, {"bdf", "gglm"}};
    const way others[] = {{"bdf", "minimal"}, {"bdf", "reduced"}, {"bdf", "ggl2"},
                          {"bdf", "fuehrer"}, {"bdf", "odassl"},  {"bdf", "penalty"}};
    run r;
    expected e[12];
    char names[12][16];
    int count = open_reference(&r, "wheel", e, names, 12);
    /* the wheel runs down a slope and back: errors grow ten times as much as those of the bead */
    set_bounds(e, count, 1e-4, "N, T");
    expect_form(&r, &(form){3, 2, 1, 1, false});
    solve_all(&r, WAYS, WAY_COUNT, 5.0, e, count);
    solve_all(&r, stabilised, 3, 5.0, e, count);
    for (int k = 0; k < 6; k++) refuse(&r, &others[k], "rolling|restricts velocities");
    end(&r);
}

/* Contact equations that do not determine what they contain: s1 + s2 alone is there. */
static void contact_that_determines_nothing(void **state)
{
    (void)state;
    run r;
    prepare(&r,
            MODEL("  Real x(start = 1), y(start = 1), vx(start = 0), vy, l, s1(start = 1), s2;\n"
                  "equation\n"
                  "  der(x) = vx; der(y) = vy; der(vx) = -l*2*x; der(vy) = l - 1;\n"
                  "  x = s1 + s2 + 0.1*sin(s1 + s2) \"first\";\n"
                  "  x + y = (s1 + s2)^2 + s1 + s2 + 0.1*sin(s1 + s2) \"second\";\n"
                  "  y = (s1 + s2)^2 \"third\";\n"));
    set_way(&r, &(way){"bdf2nd", "auto"});
    dae_status status = dae_solver_new(r.problem, &r.options, &r.solver, &r.diag);
    if (status == DAE_OK) status = dae_solver_start(r.solver, 0.0, NULL, NULL);
    assert_true(status == DAE_ERR_SINGULAR || status == DAE_ERR_INITIAL ||
                status == DAE_ERR_UNSUPPORTED);
    const dae_diag *diag = r.solver ? diag_of(&r) : &r.diag;
    assert_true(strstr(diag->text, "s1") || strstr(diag->text, "s2"));
    end(&r);
}

/* ---- r and w: a spring and a damper in series, the damper with a law of its own ----
 *
 * The mass moves on the line y = x/2: with u along it u'' = 9.81 a - a k (x - r), a = 2/sqrt(5).
 * Linear dampers have a closed form; here the law is w + w^3/10 = 2 (x - r), and the reference is
 * the system of three first order equations for (x, v, r), by hand, with classical Runge-Kutta
 * steps.
 */
static void series_slope(const double *y, double *f)
{
    double c = 2.0 * (y[0] - y[2]), w = c; /* w + w^3/10 = c by Newton's method */
    for (int k = 0; k < 50; k++) w -= (w + 0.1 * w * w * w - c) / (1.0 + 0.3 * w * w);
    f[0] = y[1];
    f[1] = 0.8 * (9.81 - 4.0 * (y[0] - y[2])); /* (1 + 1/4) x'' = 9.81 - 4 (x - r) */
    f[2] = w;
}

static void series_reference(double tend, double *y)
{
    enum { STEPS = 20000 };
    double h = tend / STEPS, k[4][3], z[3];
    const double at[4] = {0.0, 0.5, 0.5, 1.0}, weight[4] = {1.0, 2.0, 2.0, 1.0};
    for (int n = 0; n < STEPS; n++) {
        for (int i = 0; i < 4; i++) {
            for (int j = 0; j < 3; j++) z[j] = y[j] + (i > 0 ? h * at[i] * k[i - 1][j] : 0.0);
            series_slope(z, k[i]);
        }
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 3; j++) y[j] += h / 6.0 * weight[i] * k[i][j];
    }
}

static void spring_and_damper(void **state)
{
    (void)state;
    double y[3] = {1.0, 0.0, 0.2}, f[3];
    series_reference(3.0, y);
    series_slope(y, f);
    const expected e[] = {{"x", y[0], 1e-5},  {"y", 0.5 * y[0], 1e-5},
                          {"vx", y[1], 1e-4}, {"r", y[2], 1e-4},
                          {"w", f[2], 1e-4},  {"l", 0.25 * f[1], 1e-3}}; /* y'' = x''/2 = 2 l */
    run r;
    prepare(&r, MODEL("  Real x(start = 1, fixed = true), y, vx(start = 0, fixed = true), vy, l;\n"
                      "  Real r(start = 0.2, fixed = true), w(start = 1);\n"
                      "equation\n"
                      "  der(x) = vx; der(y) = vy; der(r) = w;\n"
                      "  der(vx) = 9.81 - 4*(x - r) - l;\n"
                      "  der(vy) = 2*l;\n"
                      "  w + 0.1*w^3 = 2*(x - r) \"law of the damper\";\n"
                      "  y - x/2 = 0 \"rail\";\n"));
    expect_form(&r, &(form){2, 1, 0, 0, false});
    solve_all(&r, WAYS, WAY_COUNT, 3.0, e, 6);
    solve_all(&r, LEVELS, LEVEL_COUNT, 3.0, e, 6);
    end(&r);
}

/* ---- friction on a table that moves ----
 *
 * y = a sin(t) is rheonomic; lambda = m (g - a sin t), x'' = -mu (g - a sin t). */
static void block_on_a_moving_table(void **state)
{
    (void)state;
    const double mu = 0.3, g = 9.81, a = 0.5, t = 1.2, v0 = 6.0, m = 2.0;
    const expected e[] = {
        {"x", v0 * t - mu * (0.5 * g * t * t + a * (sin(t) - t)), 1e-5},
        {"y", a * sin(t), 1e-5},
        {"vx", v0 - mu * (g * t + a * (cos(t) - 1.0)), 1e-4},
        {"vy", a * cos(t), 1e-4},
        {"lambda", m * (g - a * sin(t)), 1e-3},
    };
    run r;
    prepare(&r, MODEL("  parameter Real m = 2, mu = 0.3, g = 9.81, a = 0.5;\n"
                      "  Real x(start = 0, fixed = true), y, vx(start = 6, fixed = true), vy;\n"
                      "  Real lambda(start = 20), F;\n"
                      "equation\n"
                      "  der(x) = vx; der(y) = vy;\n"
                      "  F = -mu*abs(lambda)*tanh(1000*vx);\n"
                      "  m*der(vx) = F; m*der(vy) = lambda - m*g;\n"
                      "  y = a*sin(time) \"table\";\n"));
    expect_form(&r, &(form){2, 1, 0, 0, true});
    solve_all(&r, WAYS, WAY_COUNT, t, e, 5);
    solve_all(&r, LEVELS, LEVEL_COUNT, t, e, 5);
    refuse(&r, &(way){"bdf", "penalty"}, "lambda");
    refuse(&r, &(way){"prk", "auto"}, "lambda");
    end(&r);
}

/* The law of friction is an equation for w that contains lambda: w + w^3/100 = mu lambda + lambda^3
 * / 1000, with lambda = m g here. Which of the two is the multiplier must be found. */
static void friction_by_a_law(void **state)
{
    (void)state;
    const double load = 2.0 * 9.81, c = 0.3 * load + 0.001 * pow(load, 3.0), t = 1.0;
    double w = c;
    for (int k = 0; k < 50; k++) w -= (w + 0.01 * w * w * w - c) / (1.0 + 0.03 * w * w);
    const expected e[] = {{"x", 5.0 * t - 0.25 * w * t * t, 1e-5},
                          {"vx", 5.0 - 0.5 * w * t, 1e-4},
                          {"w", w, 1e-3},
                          {"lambda", load, 1e-3}};
    run r;
    prepare(&r, MODEL("  Real x(start = 0, fixed = true), y, vx(start = 5, fixed = true), vy;\n"
                      "  Real w(start = 5), lambda(start = 20);\n"
                      "equation\n"
                      "  der(x) = vx; der(y) = vy;\n"
                      "  2*der(vx) = -w; 2*der(vy) = lambda - 2*9.81;\n"
                      "  w + 0.01*w^3 = 0.3*lambda + 0.001*lambda^3 \"law of friction\";\n"
                      "  y = time \"table that rises\";\n"));
    expect_form(&r, &(form){2, 1, 0, 0, false});
    solve_all(&r, WAYS, WAY_COUNT, t, e, 4);
    solve_all(&r, LEVELS, LEVEL_COUNT, t, e, 4);
    end(&r);
}

/* ---- a skate on an inclined plane: a cycloid, see test_multibody.c ---- */
static void skate(void **state)
{
    (void)state;
    const double b = 3.0, omega = 1.5, t = 2.0, size = b / (2.0 * omega * omega), a = omega * t;
    const expected e[] = {
        {"x", size * sin(a) * sin(a), 5e-5},
        {"y", size * (a - 0.5 * sin(2.0 * a)), 5e-5},
        {"phi", a, 1e-6},
        {"lambda", -2.0 * b * sin(a), 1e-3}, /* along (sin, -cos), see below */
    };
    const way ways[] = {{"bdf", "auto"},      {"bdf2nd", "auto"},      {"colloc2nd", "auto"},
                        {"bdf", "index2"},    {"bdf2nd", "index2"},    {"radau", "auto"},
                        {"bdf", "baumgarte"}, {"colloc2nd", "index2"}, {"bdf2nd", "index1"}};
    run r;
    prepare(&r, MODEL("  parameter Real b = 3, omega = 1.5;\n"
                      "  Real x(start = 0, fixed = true), y(start = 0, fixed = true);\n"
                      "  Real phi(start = 0, fixed = true), vx(start = 0, fixed = true), vy;\n"
                      "  Real w(start = omega, fixed = true), lambda;\n"
                      "equation\n"
                      "  der(x) = vx; der(y) = vy; der(phi) = w;\n"
                      "  der(vx) = b + lambda*sin(phi); der(vy) = -lambda*cos(phi); der(w) = 0;\n"
                      "  vx*sin(phi) - vy*cos(phi) = 0 \"blade\";\n"));
    expect_form(&r, &(form){3, 1, 0, 1, false});
    solve_all(&r, ways, (int)(sizeof ways / sizeof ways[0]), t, e, 4);
    refuse(&r, &(way){"bdf", "ggl"}, "blade|restricts velocities, der(x)");
    refuse(&r, &(way){"bdf", "minimal"}, "blade|restricts velocities");
    end(&r);
}

/* ---- masses ---- */

/* A bead on y = x^2 with masses M = [a b; b c]. */
#define BEAD(a, b, c)                                                                              \
    MODEL("  Real x(start = 1, fixed = true), y(start = 1), vx(start = 0, fixed = true), vy, l;\n" \
          "equation\n  der(x) = vx; der(y) = vy;\n  " a "*der(vx) + " b "*der(vy) = -2*x*l "       \
          "\"sideways\";\n  " b "*der(vx) + " c "*der(vy) = l - 1 \"upwards\";\n"                  \
          "  y = x^2 \"curve\";")

/* Positive entries, determinant -1/2: no mass matrix, and no mechanical form. */
static void negative_mass(void **state)
{
    (void)state;
    const way ways[] = {{"bdf", "ggl"}, {"bdf", "minimal"}, {"bdf", "reduced"}, {"bdf", "fuehrer"}};
    run r;
    prepare(&r, BEAD("2", "1", "0.25"));
    expect_form(&r, &(form){0, 0, 0, 0, false});
    for (int k = 0; k < 4; k++)
        refuse(&r, &ways[k], "indefinite|negative mass at y|upwards (m.mo:6)");
    refuse(&r, &(way){"prk", "auto"}, "indefinite|negative mass at y");
    end(&r);
}

/* [1 1; 1 1] has no inverse, but mass along the curve, (1 + 2x)^2: with u = x + x^2, (1 + 2x) u'' =
 * -2x. At t = 0.5 by many small steps of x'' (1 + 2x)^2 = -2 (1 + 2x) x'^2 - 2x. */
static void singular_mass(void **state)
{
    (void)state;
    enum { STEPS = 100000 };
    double x = 1.0, v = 0.0, h = 0.5 / STEPS;
    for (int n = 0; n < STEPS; n++) { /* midpoint rule, second order */
        double xm = x + 0.5 * h * v, c = 1.0 + 2.0 * x, cm;
        double vm = v + 0.5 * h * (-2.0 * c * v * v - 2.0 * x) / (c * c);
        cm = 1.0 + 2.0 * xm;
        x += h * vm;
        v += h * (-2.0 * cm * vm * vm - 2.0 * xm) / (cm * cm);
    }
    const way ways[] = {{"bdf", "ggl"},     {"bdf", "gglm"},       {"bdf", "minimal"},
                        {"bdf2nd", "auto"}, {"colloc2nd", "auto"}, {"bdf", "index2"},
                        {"radau", "index1"}};
    const expected e[] = {{"x", x, 1e-5}, {"y", x * x, 1e-5}, {"vx", v, 1e-4}};
    run r;
    prepare(&r, BEAD("1", "1", "1"));
    expect_form(&r, &(form){2, 1, 0, 0, false});
    solve_all(&r, ways, 7, 0.5, e, 3);
    refuse(&r, &(way){"bdf", "reduced"}, "positive definite|y has no mass");
    end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bead_on_a_cycloid),
        cmocka_unit_test(wheel_on_a_road),
        cmocka_unit_test(spring_and_damper),
        cmocka_unit_test(block_on_a_moving_table),
        cmocka_unit_test(friction_by_a_law),
        cmocka_unit_test(skate),
        cmocka_unit_test(contact_that_determines_nothing),
        cmocka_unit_test(negative_mass),
        cmocka_unit_test(singular_mass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
