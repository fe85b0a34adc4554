/* Models offer mechanical, Hessenberg and quasilinear forms to methods that need them: their
 * functions against formulas, runs against references, refusals that name the equation. */
#include "model_run.h"

#include "solve/bind/solver.h"

/* ---- the corpus ---- */

enum { MOST_REFERENCES = 64, MOST_EVENTS = 32, MOST_OF_VIOLIN = 128 };

typedef struct reference {
    char name[MOST_REFERENCES][32];
    double value[MOST_REFERENCES], event[MOST_EVENTS], t;
    int count, events;
} reference;

static void model_path(char *path, size_t size, const char *name, const char *suffix)
{
    const char *slash = strrchr(__FILE__, '/');
    int length = slash ? (int)(slash - __FILE__) + 1 : 0;
    snprintf(path, size, "%.*s../models/%s%s", length, __FILE__, name, suffix);
}

static void read_reference(const char *name, reference *f)
{
    char path[1024], line[256], key[32];
    double value;
    memset(f, 0, sizeof *f);
    model_path(path, sizeof path, name, ".ref");
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "%31s %lf", key, &value) != 2 || key[0] == '#') continue;
        if (strcmp(key, "t") == 0)
            f->t = value;
        else if (strcmp(key, "event") == 0)
            f->event[f->events++] = value;
        else if (strcmp(key, "index") != 0 && strcmp(key, "accuracy") != 0 &&
                 strcmp(key, "rtol") != 0 && strcmp(key, "growth") != 0) {
            snprintf(f->name[f->count], sizeof f->name[0], "%s", key);
            f->value[f->count++] = value;
        }
    }
    fclose(file);
    assert_true(f->count > 0);
}

static char *read_text(const char *name)
{
    char path[1024];
    model_path(path, sizeof path, name, ".mo");
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    char *text = calloc(1, 65536);
    assert_non_null(text);
    assert_true(fread(text, 1, 65535, file) > 0);
    fclose(file);
    return text;
}

/* A model of the corpus with a method, started. */
static void open_model(run *r, const char *name, const char *by, double tolerance,
                       dae_engine engine)
{
    char *text = read_text(name);
    memset(r, 0, sizeof *r);
    dae_model model = {.text = text, .file = name, .engine = engine};
    assert_int_equal(dae_problem_from_model(&model, &r->problem, &r->diag), DAE_OK);
    free(text);
    r->options = dae_options_default();
    r->options.method = by;
    r->options.rtol = r->options.atol = tolerance;
    dae_status status = start_at(r, dae_problem_experiment(r->problem).start);
    if (status != DAE_OK) print_error("%s %s: %s\n", name, by, diag_of(r)->text);
    assert_int_equal(status, DAE_OK);
}

typedef struct expectation {
    const char *model, *method;
    double tolerance, error; /* of values, relative where they are above 1 */
    long steps;              /* at most */
    unsigned form;           /* the one that it takes */
} expectation;

static double worst_error(run *r, const reference *f)
{
    double values[MOST_OF_VIOLIN], worst = 0.0;
    assert_int_equal(dae_solver_variables(r->solver, f->t, values), DAE_OK);
    for (int k = 0; k < f->count; k++) {
        int i = dae_problem_find_variable(r->problem, f->name[k]);
        assert_true(i >= 0 && i < MOST_OF_VIOLIN);
        double error = fabs(values[i] - f->value[k]) / fmax(1.0, fabs(f->value[k]));
        worst = fmax(worst, error);
    }
    return worst;
}

static unsigned form_of(const dae_solver *s)
{
    const form_set *set = s->bound.form_set;
    if (!set) return FORM_RESIDUAL;
    if (set->mechanical) return FORM_MECHANICAL;
    return set->hessenberg ? FORM_HESSENBERG : FORM_QUASILINEAR;
}

static void test_references(void **state)
{
    (void)state;
    static const expectation list[] = {
        {"pendulum", "hem:5", 1e-9, 1e-8, 1500, FORM_MECHANICAL},
        {"pendulum", "hem:4", 1e-9, 1e-7, 2000, FORM_MECHANICAL},
        {"pendulum", "phem", 1e-9, 2e-7, 400, FORM_MECHANICAL},
        {"pendulum", "herk", 1e-9, 1e-7, 110, FORM_QUASILINEAR},
        {"andrews", "hem:5", 1e-8, 1e-5, 800, FORM_MECHANICAL},
        {"andrews", "phem", 1e-9, 1e-5, 500, FORM_MECHANICAL},
        {"andrews", "herk", 1e-9, 3e-5, 150, FORM_QUASILINEAR},
        {"caraxis", "hem:5", 1e-7, 1e-5, 5000, FORM_MECHANICAL},
        {"caraxis", "phem", 1e-8, 1e-5, 3000, FORM_MECHANICAL},
        {"caraxis", "herk", 1e-8, 1e-5, 500, FORM_QUASILINEAR},
        {"pendulum", "colloc2nd", 1e-9, 1e-7, 60, FORM_MECHANICAL},
        {"andrews", "colloc2nd", 1e-9, 1e-6, 80, FORM_MECHANICAL},
        {"caraxis", "colloc2nd", 1e-9, 1e-6, 300, FORM_MECHANICAL},
        {"truck", "colloc2nd", 1e-9, 1e-7, 200, FORM_MECHANICAL},
        /* the forces of its springs, which follow from positions, are as accurate as these */
        {"truck", "phem", 1e-9, 1e-10, 2000, FORM_MECHANICAL},
        {"truck", "phem", 1e-8, 1e-9, 1500, FORM_MECHANICAL},
        {"springchain", "herk", 1e-9, 1e-8, 100, FORM_QUASILINEAR},
        {"trajectory2", "hem:5", 1e-7, 1e-6, 100, FORM_HESSENBERG},
        {"trajectory3", "herk", 1e-7, 1e-6, 50, FORM_QUASILINEAR},
        {"andrews1", "herk", 1e-9, 3e-5, 150, FORM_QUASILINEAR},
        {"rectifier", "herk", 1e-8, 1e-6, 100, FORM_QUASILINEAR},
        {"akzo", "phem", 1e-7, 1e-7, 1000, FORM_HESSENBERG},
    };
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        const expectation *e = &list[k];
        reference f;
        run r;
        read_reference(e->model, &f);
        open_model(&r, e->model, e->method, e->tolerance, DAE_ENGINE_TAPE);
        assert_int_equal(form_of(r.solver), e->form);
        OK(dae_solver_set_stop_time(r.solver, f.t)); /* errors of the method, not of its output */
        OK(step_to(&r, f.t));
        double error = worst_error(&r, &f);
        long steps = dae_solver_stats(r.solver)->steps;
        if (error > e->error || steps > e->steps)
            print_error("%s by %s: error %g in %ld steps\n", e->model, e->method, error, steps);
        assert_true(error <= e->error);
        assert_true(steps <= e->steps);
        end(&r);
    }
}

/* An ODE while the bow slips, index 2 while it sticks: 14 switches [BH93 6.3]. */
static void test_violin(void **state)
{
    (void)state;
    static const char *const methods[] = {"hem:5", "phem", "herk"};
    reference f;
    read_reference("violin", &f);
    assert_int_equal(f.events, 14);
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
        run r;
        int events = 0;
        bool both[2] = {false, false};
        dae_status status;
        open_model(&r, "violin", methods[k], 1e-9, DAE_ENGINE_TAPE);
        while ((status = dae_solver_step(r.solver, f.t)) > 0) {
            const form_set *set = r.solver->bound.form_set;
            if (set->hessenberg) both[set->hessenberg->nz] = true;
            if (status != DAE_EVENT || r.solver->hybrid->pending) continue;
            assert_true(events < f.events);
            assert_true(fabs(dae_solver_time(r.solver) - f.event[events++]) <= 1e-6);
        }
        OK(status);
        assert_int_equal(events, f.events);
        assert_true(strcmp(methods[k], "herk") == 0 || (both[0] && both[1]));
        assert_true(worst_error(&r, &f) <= 1e-5);
        end(&r);
    }
}

static void test_same_bits(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"andrews", "hem:5"}, {"caraxis", "phem"}, {"springchain", "herk"}, {"violin", "hem:4"}};
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
        double values[2][MOST_OF_VIOLIN] = {{0}};
        reference f;
        read_reference(pairs[k][0], &f);
        for (int engine = 0; engine < 2; engine++) {
            run r;
            open_model(&r, pairs[k][0], pairs[k][1], 1e-6,
                       engine ? DAE_ENGINE_NATIVE : DAE_ENGINE_TAPE);
            OK(step_to(&r, 0.1 * f.t));
            assert_int_equal(dae_solver_engine(r.solver),
                             engine ? DAE_ENGINE_NATIVE : DAE_ENGINE_TAPE);
            OK(dae_solver_variables(r.solver, 0.1 * f.t, values[engine]));
            end(&r);
        }
        assert_memory_equal(values[0], values[1], sizeof values[0]);
    }
}

/* ---- the functions of the forms ---- */

/* A bead of mass 2 on a circle whose radius grows, and which is pulled at an angle: the force in
 * the rod and the radius are variables of their own; one equation is divided by the mass, and the
 * second velocity points the other way. */
static const char *const bead =
    MODEL("  parameter Real m = 2;\n"
          "  Real x(start = 1), y(start = 0, fixed = true), vx, down(start = -1, fixed = true);\n"
          "  Real f, fy, r;\n"
          "equation\n"
          "  der(x) = vx; der(y) = -down; fy = -3*f*y + sin(x); r = 1 + 0.1*time^2;\n"
          "  der(vx) = -3*f*x/m + vx*down/m;\n"
          "  -m*der(down) = fy - m;\n"
          "  (x^2 + y^2 - r^2)/2 = 0 \"rod\";");

static void close_to(double found, double expected, int line)
{
    if (fabs(found - expected) <= 1e-13 * fmax(1.0, fabs(expected))) return;
    print_error("line %d: %.17g, not %.17g\n", line, found, expected);
    fail();
}
#define SAME(found, expected) close_to(found, expected, __LINE__)

static void test_mechanical_functions(void **state)
{
    (void)state;
    run r;
    prepare(&r, bead);
    r.options.method = "hem:5";
    OK(start_at(&r, 0.0));
    const mechanical_form *f = r.solver->bound.form_set->mechanical;
    assert_non_null(f);
    assert_int_equal(f->nq, 2);
    assert_int_equal(f->nl, 1);
    assert_true(f->M_matrix.constant && f->M_matrix.diagonal);
    const double t = 0.7, q[2] = {0.3, -0.8}, v[2] = {1.2, 0.4};
    double M[2], F[2], G[2], rate, curvature, g, radius = 1 + 0.1 * t * t;
    assert_int_equal(f->evaluate(f->context, t, q, v, M, F, G, &rate, &curvature), EVAL_OK);
    assert_int_equal(f->g(f->context, t, q, &g), EVAL_OK);
    /* Up to one factor s a row: s M, s f, and G' lambda = s 3 (x, y) lambda. */
    double s = M[0] / 2.0;
    SAME(M[1], 2.0 * s);
    SAME(F[0], s * -v[0] * v[1]);
    SAME(F[1], s * (sin(q[0]) - 2.0));
    SAME(G[0], 3.0 * s * q[0]);
    SAME(G[1], 3.0 * s * q[1]);
    SAME(g, 1.5 * s * (q[0] * q[0] + q[1] * q[1] - radius * radius));
    SAME(rate, -3.0 * s * radius * 0.2 * t);
    SAME(curvature, 3.0 * s * (v[0] * v[0] + v[1] * v[1] - 0.04 * t * t - 0.2 * radius));
    end(&r);
}

/* Names, values and slopes of what the form does not have as unknowns. */
static void test_seen_through(void **state)
{
    (void)state;
    static const char *const methods[] = {"hem:5", "phem", "herk", "bdf"};
    double last[4][2];
    for (size_t k = 0; k < 4; k++) {
        run r;
        double y[16], yp[16];
        prepare(&r, bead);
        r.options.method = methods[k];
        OK(start_at(&r, 0.0));
        OK(step_to(&r, 0.5));
        EXACTLY("r", 1.025);
        expect_near(&r, "fy", -3.0 * value(&r, "f") * value(&r, "y") + sin(value(&r, "x")), 1e-12,
                    __LINE__);
        NEAR("x", sqrt(1.025 * 1.025 - value(&r, "y") * value(&r, "y")));
        OK(dae_solver_at(r.solver, 0.5, 0, y));
        OK(dae_solver_at(r.solver, 0.5, 1, yp));
        for (int i = 0; i < dae_problem_size(r.problem); i++) {
            const char *name = dae_problem_unknown_name(r.problem, i);
            if (strcmp(name, "r") == 0) assert_true(fabs(yp[i] - 0.1) <= 1e-6);
            if (strcmp(name, "x") == 0) assert_true(fabs(yp[i] - value(&r, "vx")) <= 1e-5);
        }
        double rates[16];
        OK(dae_solver_derivatives(r.solver, 0.5, rates));
        for (int d = 0; d < dae_problem_derivative_count(r.problem); d++)
            assert_true(isfinite(rates[d]));
        last[k][0] = value(&r, "x");
        last[k][1] = value(&r, "f");
        end(&r);
    }
    for (size_t k = 0; k < 3; k++) {
        assert_true(fabs(last[k][0] - last[3][0]) <= 1e-6);
        assert_true(fabs(last[k][1] - last[3][1]) <= 1e-5);
    }
}

/* A pendulum whose equations of motion are mixed, so that no multiplier acts along a gradient: the
 * Hessenberg form solves for the accelerations. */
static void test_coupled_accelerations(void **state)
{
    (void)state;
    static const char *const text = MODEL(
        "  Real x(start = 1), y(start = 0, fixed = true), vx, vy(start = 0, fixed = true), f;\n"
        "equation\n  der(x) = vx; der(y) = vy;\n"
        "  der(vx) + der(vy) = -f*(x + y) - 1;\n"
        "  der(vx) - der(vy) = -f*(x - y) + 1;\n"
        "  x^2 + y^2 = 1;");
    reference f;
    read_reference("pendulum", &f);
    static const char *const methods[] = {"hem:5", "herk"};
    for (size_t k = 0; k < 2; k++) {
        run r;
        prepare(&r, text);
        r.options.method = methods[k];
        OK(start_at(&r, 0.0));
        assert_int_equal(form_of(r.solver), k == 0 ? FORM_HESSENBERG : FORM_QUASILINEAR);
        OK(step_to(&r, f.t));
        expect_near(&r, "x", f.value[0], 1e-6, __LINE__);
        expect_near(&r, "f", f.value[4], 1e-5, __LINE__);
        end(&r);
    }
}

/* An equation that gives w only implicitly, and a constraint of index 2: y, z and u. */
static void test_implicit_variable(void **state)
{
    (void)state;
    static const char *const text =
        MODEL("  Real a(start = 1, fixed = true), b, w(start = 0.5), z;\n"
              "equation\n  der(a) = z - w; der(b) = a - z;\n"
              "  w + w^3 = a + sin(z);\n  a - b = cos(time);");
    double last[3];
    static const char *const methods[] = {"hem:5", "herk", "bdf"};
    for (size_t k = 0; k < 3; k++) {
        run r;
        prepare(&r, text);
        r.options.method = methods[k];
        OK(start_at(&r, 0.0));
        if (k == 0) {
            assert_int_equal(form_of(r.solver), FORM_HESSENBERG);
            assert_int_equal(r.solver->bound.form_set->hessenberg->nu, 1);
        }
        OK(step_to(&r, 1.0));
        double w = value(&r, "w");
        assert_true(fabs(w + w * w * w - value(&r, "a") - sin(value(&r, "z"))) <= 1e-8);
        last[k] = value(&r, "a");
        end(&r);
    }
    assert_true(fabs(last[0] - last[2]) <= 1e-7);
    assert_true(fabs(last[1] - last[2]) <= 1e-7);
}

/* A pendulum that hits a wall: velocities jump, and stay on the constraint. */
static void test_impact(void **state)
{
    (void)state;
    static const char *const text =
        MODEL("  Real x(start = 0), y(start = -1), vx(start = 1, fixed = true), vy, f, s;\n"
              "  Integer hits(start = 0, fixed = true);\n"
              "initial equation\n  x = 0;\n"
              "equation\n  der(x) = vx; der(y) = vy; der(vx) = -f*x; der(vy) = -f*y - 1;\n"
              "  x^2 + y^2 = 1; s = x - 0.5;\n"
              "  when s > 0 then\n    reinit(vx, -0.5*pre(vx)); hits = pre(hits) + 1;\n"
              "  end when;");
    static const char *const methods[] = {"hem:5", "phem", "herk", "bdf"};
    double last[4];
    for (size_t k = 0; k < 4; k++) {
        run r;
        prepare(&r, text);
        r.options.method = methods[k];
        OK(start_at(&r, 0.0));
        OK(step_to(&r, 3.0));
        EXACTLY("hits", 1.0);
        NEAR("vy", -value(&r, "x") * value(&r, "vx") / value(&r, "y"));
        last[k] = value(&r, "x");
        end(&r);
    }
    for (size_t k = 0; k < 3; k++) assert_true(fabs(last[k] - last[3]) <= 1e-6);
}

/* ---- what does not fit ---- */

/* A variable without a start value is computed before it is divided by: the circular orbit of
 * Kepler's problem, x = cos t. */
static void test_start_by_substitution(void **state)
{
    static const char *const methods[] = {"dopri:5", "taylor", "herk"};
    static const char *const text =
        MODEL("Real x(start = 1, fixed = true), y(start = 0, fixed = true);"
              "Real vx(start = 0, fixed = true), vy(start = 1, fixed = true), r, e; equation "
              "r = sqrt(x^2 + y^2); e = (vx^2 + vy^2)/2 - 1/r; der(x) = vx; der(y) = vy; "
              "der(vx) = -x/r^3; der(vy) = -y/r^3;");
    (void)state;
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
        run r;
        prepare(&r, text);
        r.options.method = methods[k];
        r.options.rtol = r.options.atol = 1e-8;
        OK(start_at(&r, 0.0));
        EXACTLY("r", 1.0);
        OK(dae_solver_run(r.solver, 1.0, NULL, NULL));
        expect_near(&r, "x", cos(1.0), 1e-6, __LINE__);
        expect_near(&r, "e", -0.5, 1e-6, __LINE__);
        end(&r);
    }
}

static void refused(const char *text, const char *by, const char *as, const char *words, int line)
{
    run r;
    prepare(&r, text);
    r.options.method = by;
    if (as) r.options.formulation = as;
    dae_status status = start_at(&r, 0.0);
    if (status != DAE_ERR_UNSUPPORTED) print_error("line %d: %s\n", line, diag_of(&r)->text);
    assert_int_equal(status, DAE_ERR_UNSUPPORTED);
    expect_words(diag_of(&r)->text, words, line);
    end(&r);
}
#define REFUSED(text, method, formulation, words)                                                  \
    refused(text, method, formulation, words, __LINE__)

static void test_refusals(void **state)
{
    (void)state;
    char *chain = read_text("springchain");
    REFUSED(chain, "hem:5", NULL, "hem:5|mechanical, hessenberg|F in equation 4|path|bdf");
    free(chain);
    REFUSED(bead, "hem:5", "ggl", "ggl|hem:5|mechanical, hessenberg");
    REFUSED(bead, "bdf", "overdetermined", "overdetermined|herk|bdf");
    REFUSED(
        MODEL("  Real x(start = 1, fixed = true);\nequation\n  der(x)^3 + der(x) = -x \"odd\";"),
        "hem:5", NULL, "odd|not linear");
    run r;
    prepare(&r, bead);
    r.options.method = "herk";
    r.options.formulation = "overdetermined";
    OK(start_at(&r, 0.0));
    OK(step_to(&r, 0.1));
    end(&r);
}

/* One solver of the problem from its start to t = 1: the values there */
static void solve_again(const dae_problem *problem, const char *by, double *y)
{
    dae_options o = dae_options_default();
    dae_solver *s;
    o.method = by;
    o.rtol = o.atol = 1e-7;
    assert_int_equal(dae_solver_new(problem, &o, &s, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(s, 0.0, NULL, NULL), DAE_OK);
    assert_int_equal(dae_solver_run(s, 1.0, NULL, NULL), DAE_OK);
    assert_int_equal(dae_solver_variables(s, 1.0, y), DAE_OK);
    dae_solver_free(s);
}

/* Solvers of one problem share what is made for them: the same bits as a problem of one's own,
 * also after methods on other forms, other parameters and other start values, and more of them than
 * are kept. */
static void test_shared_forms(void **state)
{
    (void)state;
    static const char text[] =
        MODEL("  parameter Real L = 1;\n  Real x(start = 1, fixed = true), y, vx, "
              "vy(start = 0, fixed = true), T;\nequation\n  der(x) = vx; der(y) = vy;\n"
              "  der(vx) = -x*T; der(vy) = -y*T - 1;\n  x^2 + y^2 = L^2;");
    enum { VALUES = 5, CASES = 7 };
    static const double length[CASES] = {1.0, 2.0, 3.0, 1.5, 2.5, 1.0, 2.0};
    static const char *const used[CASES] = {"prk", "prk", "herk", "hem:5", "prk", "phem", "prk"};
    run shared;
    prepare(&shared, text);
    for (int round = 0; round < 2; round++)
        for (int k = 0; k < CASES; k++) {
            run own;
            double here[VALUES], there[VALUES], again[VALUES];
            prepare(&own, text);
            assert_int_equal(dae_problem_set_parameter(own.problem, "L", length[k], NULL), DAE_OK);
            assert_int_equal(dae_problem_set_parameter(shared.problem, "L", length[k], NULL),
                             DAE_OK);
            solve_again(own.problem, used[k], there);
            solve_again(shared.problem, used[k], here);
            solve_again(shared.problem, used[k], again);
            assert_memory_equal(here, there, sizeof here);
            assert_memory_equal(again, there, sizeof again);
            end(&own);
        }
    end(&shared);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_references),
        cmocka_unit_test(test_violin),
        cmocka_unit_test(test_same_bits),
        cmocka_unit_test(test_mechanical_functions),
        cmocka_unit_test(test_seen_through),
        cmocka_unit_test(test_coupled_accelerations),
        cmocka_unit_test(test_implicit_variable),
        cmocka_unit_test(test_impact),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_shared_forms),
        cmocka_unit_test(test_start_by_substitution),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
