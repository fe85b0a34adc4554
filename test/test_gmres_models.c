/* GMRES beside factors on small models in two dimensions: events, index 1, matrices that are badly
 * conditioned, not symmetric, or become singular; failures are told alike. Where GMRES is our
 * choice and fails it gives way to factors, and an interruption leaves no trace. */
#include "daedal.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 1000 };

typedef struct outcome {
    dae_status status;
    int n;
    double t, y[MOST];
    dae_stats stats;
    char text[DAE_TEXT_SIZE];
} outcome;

static dae_problem *problem_of(const char *text)
{
    dae_problem *p = NULL;
    dae_diag diag = {0};
    dae_model m = {.text = text, .engine = DAE_ENGINE_TAPE};
    if (dae_problem_from_model(&m, &p, &diag) != DAE_OK) fail_msg("%s", diag.text);
    return p;
}

static const double RTOL = 1e-6, ATOL = 1e-8;

static dae_solver *solver_of(const dae_problem *p, dae_linear_solver which, dae_options *o)
{
    dae_solver *s = NULL;
    dae_diag diag = {0};
    o->linear_solver = which;
    o->method = "bdf";
    o->rtol = RTOL, o->atol = ATOL;
    if (dae_solver_new(p, o, &s, &diag) != DAE_OK) fail_msg("%s", diag.text);
    return s;
}

static void run(const char *text, dae_linear_solver which, double end, outcome *r)
{
    dae_problem *p = problem_of(text);
    dae_options o = dae_options_default();
    dae_solver *s = solver_of(p, which, &o);
    memset(r, 0, sizeof *r);
    r->n = dae_problem_size(p);
    assert_true(r->n <= MOST);
    r->status = dae_solver_start(s, 0.0, NULL, NULL);
    if (r->status == DAE_OK) r->status = dae_solver_run(s, end, r->y, NULL);
    r->t = dae_solver_time(s);
    r->stats = *dae_solver_stats(s);
    snprintf(r->text, sizeof r->text, "%s", dae_solver_diag(s)->text);
    dae_solver_free(s);
    dae_problem_free(p);
}

/* Both runs, which must end alike; 10 tolerances apart at most */
static void compare(const char *text, double end, outcome *direct, outcome *iterated)
{
    run(text, DAE_LINEAR_SPARSE, end, direct);
    run(text, DAE_LINEAR_GMRES, end, iterated);
    if (direct->status != DAE_OK) fail_msg("%s", direct->text);
    if (iterated->status != DAE_OK) fail_msg("%s", iterated->text);
    assert_int_equal(direct->stats.linear_iterations, 0);
    assert_true(iterated->stats.linear_iterations > 0);
    for (int i = 0; i < direct->n; i++) {
        const double apart = fabs(direct->y[i] - iterated->y[i]);
        if (!(apart <= 10.0 * (RTOL * fabs(direct->y[i]) + ATOL)))
            fail_msg("unknown %d: %.12g by factors, %.12g by gmres", i, direct->y[i],
                     iterated->y[i]);
    }
}

/* A sum over the neighbours of u[i,j] on a square of n by n, 0 beyond its border */
#define AROUND(u)                                                                                  \
    "((if i > 1 then " u "[i - 1, j] else 0) + (if i < n then " u "[i + 1, j] else 0)"             \
    " + (if j > 1 then " u "[i, j - 1] else 0) + (if j < n then " u "[i, j + 1] else 0)"           \
    " - 4*" u "[i, j])"
#define FOR_ALL "for i in 1:n loop for j in 1:n loop "
#define END_ALL " end for; end for; "
#define WARM(u)                                                                                    \
    "Real " u "[n, n](start = {{sin(3.1*i*h)*sin(3.1*j*h) for j in 1:n} for i in 1:n},"            \
    " each fixed = true);\n"
#define SQUARE(name)                                                                               \
    "model " name " parameter Integer n = 12; final parameter Real h = 1/(n + 1);\n"

/* A thermostat by a relation of a state, a switch by `when`, and blows by reinit */
static void test_events(void **state)
{
    (void)state;
    static const char text[] =
        SQUARE("M") WARM("u") "discrete Real power(start = 0, fixed = true); discrete Integer "
                              "blows(start = 0, fixed = "
                              "true);\nequation\n" FOR_ALL "der(u[i, j]) = " AROUND(
                                  "u") "/h^2 + power + (if u[1, 1] > 0.05 then 1 else -2);" END_ALL
                                       "when u[6, 6] < 0.6 then power = 12; elsewhen u[6, 6] > 0.7 "
                                       "then power = 0; end when;\n"
                                       "when sample(0.05, 0.05) then reinit(u[3, 4], u[3, 4] + 1); "
                                       "blows = pre(blows) + 1; "
                                       "end when;\nend M;";
    static outcome direct, iterated;
    compare(text, 0.3, &direct, &iterated);
    assert_true(direct.stats.events >= 6);
    assert_int_equal(direct.stats.events, iterated.stats.events);
}

static void test_index_1(void **state)
{
    (void)state;
    static const char text[] =
        SQUARE("M") WARM("u") "Real p[n, n];\nequation\n" FOR_ALL "der(u[i, j]) = " AROUND(
            "u") "/h^2 + p[i, j]^2; " AROUND("p") "/h^2 = u[i, j]*p[i, j] + sin(10*time);" END_ALL
                                                  "end M;";
    static outcome direct, iterated;
    compare(text, 0.2, &direct, &iterated);
}

/* Conductivities from 1e-4 to 1e4, half of the unknowns without capacity */
static void test_badly_conditioned(void **state)
{
    (void)state;
    static const char text[] =
        SQUARE("M") "parameter Real k[n] = {10^(8*(i/n) - 4) for i in 1:n};"
                    "Real u[n, n](start = zeros(n, n), fixed = {{mod(i, 2) == 0 for j in 1:n} for "
                    "i in 1:n});"
                    "equation\n" FOR_ALL
                    "(if mod(i, 2) == 0 then der(u[i, j]) else 0) = k[i]*" AROUND(
                        "u") " + sin(5*time) - u[i, j];" END_ALL "end M;";
    static outcome direct, iterated;
    compare(text, 1.0, &direct, &iterated);
}

/* Central differences at 50 times the Peclet number at which they oscillate */
static void test_convection(void **state)
{
    (void)state;
    static const char text[] = SQUARE("M")
        WARM("u") "parameter Real a = 100/h;\nequation\n" FOR_ALL
                  "der(u[i, j]) = (" AROUND("u") "/h^2 - a*((if i < n then u[i + 1, j] else 0) - "
                                                 "(if i > 1 then u[i - 1, j] else 0))"
                                                 "/(2*h) - a*((if j < n then u[i, j + 1] else 0) - "
                                                 "(if j > 1 then u[i, j - 1] else 0))"
                                                 "/(2*h))/100;" END_ALL "end M;";
    static outcome direct, iterated;
    compare(text, 0.02, &direct, &iterated);
}

/* 8 t passes the least eigenvalue of -A, 8 - 8 cos(pi/(n+1)) over two: singular from there. */
static void test_singular(void **state)
{
    (void)state;
    static const char text[] =
        "model M parameter Integer n = 6; final parameter Real h = 1/7;\n" WARM(
            "u") "Real p[n, n];\nequation\n" FOR_ALL
                 "der(u[i, j]) = p[i, j] - u[i, j]; " AROUND(
                     "p") " + 8*time*p[i, j] = u[i, j];" END_ALL "end M;";
    const double when = (4.0 - 4.0 * cos(acos(-1.0) / 7.0)) / 8.0;
    static outcome direct, iterated;
    run(text, DAE_LINEAR_SPARSE, 0.5, &direct);
    run(text, DAE_LINEAR_GMRES, 0.5, &iterated);
    assert_int_equal(direct.status, DAE_ERR_SINGULAR);
    if (iterated.status != DAE_ERR_SINGULAR) fail_msg("%d: %s", iterated.status, iterated.text);
    assert_true(fabs(direct.t - when) < 1e-4 && fabs(iterated.t - when) < 1e-4);
    assert_non_null(strstr(iterated.text, "p["));
}

/* Three vectors do not solve these systems: what they leave over must not pass for convergence. A
 * run may fail, but not give other numbers. */
static void test_stalled(void **state)
{
    (void)state;
    static const char text[] = SQUARE("M")
        WARM("u") "Real p[n, n];\nequation\n" FOR_ALL "der(u[i, j]) = p[i, j] - u[i, j]; " AROUND(
            "p") "/h^2 = u[i, j] + 100*sin(10*time);" END_ALL "end M;";
    static outcome direct, iterated;
    run(text, DAE_LINEAR_SPARSE, 0.2, &direct);
    dae_problem *p = problem_of(text);
    dae_options o = dae_options_default();
    o.krylov_dimension = 3, o.krylov_restarts = 0;
    dae_solver *s = solver_of(p, DAE_LINEAR_GMRES, &o);
    iterated.status = dae_solver_start(s, 0.0, NULL, NULL);
    if (iterated.status == DAE_OK) iterated.status = dae_solver_run(s, 0.2, iterated.y, NULL);
    double most = 0.0;
    for (int i = 0; i < direct.n; i++)
        most = fmax(most, fabs(direct.y[i] - iterated.y[i]) / (RTOL * fabs(direct.y[i]) + ATOL));
    print_message("status %d, steps %ld, %g tolerances apart\n", iterated.status,
                  dae_solver_stats(s)->steps, most);
    if (iterated.status == DAE_OK && most > 10.0) fail_msg("%g tolerances apart", most);
    dae_solver_free(s);
    dae_problem_free(p);
}

/* Helmholtz' equation in the midst of its spectrum: it fails, and says whose fault that is. */
static void test_forced_failure(void **state)
{
    (void)state;
    static const char text[] =
        "model M parameter Integer n = 20; final parameter Real h = 1/21;\n" WARM(
            "u") "Real p[n, n];\nequation\n" FOR_ALL
                 "der(u[i, j]) = " AROUND("u") "/h^2 + p[i, j]; " AROUND(
                     "p") "/h^2 + 900*p[i, j] = 10*u[i, j]^2;" END_ALL "end M;";
    dae_problem *p = problem_of(text);
    dae_options o = dae_options_default();
    o.krylov_dimension = 5; /* sooner */
    dae_solver *s = solver_of(p, DAE_LINEAR_GMRES, &o);
    static double y[MOST];
    dae_status status = dae_solver_start(s, 0.0, NULL, NULL);
    const bool started = status == DAE_OK;
    if (started) status = dae_solver_run(s, 0.05, y, NULL);
    assert_true(status < 0);
    const char *said = dae_solver_diag(s)->text;
    if (started && !strstr(said, "--linear-solver sparse")) fail_msg("%s", said);
    dae_solver_free(s);
    dae_problem_free(p);
}

/* ---- interruption ---- */

static int asked, stop_at;

static int interrupt(void *user)
{
    (void)user;
    return ++asked == stop_at;
}

/* A run that is interrupted at its stop_at-th question, and goes on; 0: never. False: it was not a
 * step that was interrupted, but an allocation between steps, behind which a run starts again. */
static bool run_interrupted(const dae_problem *p, int at, outcome *r)
{
    dae_options o = dae_options_default();
    o.interrupt = interrupt;
    stop_at = 0;
    dae_solver *s = solver_of(p, DAE_LINEAR_GMRES, &o);
    if (dae_solver_start(s, 0.0, NULL, NULL) != DAE_OK) fail_msg("%s", dae_solver_diag(s)->text);
    asked = 0, stop_at = at;
    r->status = dae_solver_run(s, 0.2, r->y, NULL);
    bool goes_on = true;
    if (at > 0) {
        assert_int_equal(r->status, DAE_ERR_INTERRUPTED);
        goes_on = strstr(dae_solver_diag(s)->text, "Step again") != NULL;
        if (goes_on) assert_int_equal(asked, at); /* and nothing more */
        if (goes_on) r->status = dae_solver_run(s, 0.2, r->y, NULL);
    }
    if (goes_on && r->status != DAE_OK) fail_msg("%s", dae_solver_diag(s)->text);
    r->stats = *dae_solver_stats(s);
    dae_solver_free(s);
    return goes_on;
}

static void test_interruption(void **state)
{
    (void)state;
    static const char text[] =
        "model M parameter Integer n = 6; final parameter Real h = 1/7;\n" WARM(
            "u") "Real p[n, n];\nequation\n" FOR_ALL
                 "der(u[i, j]) = " AROUND("u") "/h^2 + 3000*p[i, j]^2*(1 - u[i, j])*exp(-4*u[i, "
                                               "j]); " AROUND("p") "/h^2 = exp(3*u[i, j]*p[i, j]) "
                                                                   "- 2 + sin(30*time);" END_ALL
                                                                   "end M;";
    static outcome whole, cut;
    dae_problem *p = problem_of(text);
    const size_t bytes = (size_t)dae_problem_size(p) * sizeof(double);
    run_interrupted(p, 0, &whole);
    const int questions = asked;
    int tried = 0, went_on = 0;
    assert_true(questions > 3 * whole.stats.attempts); /* most come in the midst of an attempt */
    for (int at = 2; at < questions; at += 1 + questions / 150) {
        tried++;
        if (!run_interrupted(p, at, &cut)) continue;
        went_on++;
        if (memcmp(whole.y, cut.y, bytes) != 0) fail_msg("other bits behind question %d", at);
        assert_int_equal(cut.stats.steps, whole.stats.steps);
        assert_int_equal(cut.stats.linear_iterations, whole.stats.linear_iterations);
    }
    assert_true(went_on > tried - tried / 4);
    dae_problem_free(p);
}

/* ---- GMRES by choice ---- */

/* Helmholtz' equation on a square of SIDE points a side, with neighbours of neighbours so that its
 * factors are dear, and one decay: 0 = A (p - s cos t) + .. */
enum { SIDE = 100, POINTS = SIDE * SIDE };

typedef struct wave {
    int *colptr, *rowind, evaluations, stopped_at;
    double *value, *shape;
    bool stops;
    int noted;
    char note[DAE_TEXT_SIZE];
} wave;

static void wave_open(wave *w)
{
    static const int step[13][2] = {{-2, 0}, {-1, -1}, {-1, 0}, {-1, 1}, {0, -2}, {0, -1}, {0, 0},
                                    {0, 1},  {0, 2},   {1, -1}, {1, 0},  {1, 1},  {2, 0}};
    *w = (wave){.colptr = calloc(POINTS + 1, sizeof(int)),
                .rowind = calloc(13 * POINTS, sizeof(int)),
                .value = calloc(13 * POINTS, sizeof(double)),
                .shape = calloc(POINTS, sizeof(double))};
    for (int c = 0, at = 0; c < POINTS; c++) {
        for (int k = 0; k < 13; k++) {
            const int i = c / SIDE + step[k][0], j = c % SIDE + step[k][1];
            if (i < 0 || j < 0 || i >= SIDE || j >= SIDE) continue;
            const int distance = abs(step[k][0]) + abs(step[k][1]);
            w->rowind[at] = i * SIDE + j;
            w->value[at++] = distance == 0 ? -3.9 : distance == 1 ? 1.0 : 0.1;
        }
        w->colptr[c + 1] = at;
        w->shape[c] = sin(0.37 * (c / SIDE)) + cos(1.3 * (c % SIDE)) + 0.01 * (c % 17);
    }
}

static void wave_close(wave *w)
{
    free(w->colptr), free(w->rowind), free(w->value), free(w->shape);
}

static int wave_residual(double t, const double *y, const double *yp, double *f, void *user)
{
    wave *w = user;
    const double g = cos(t);
    w->evaluations++;
    memset(f, 0, POINTS * sizeof *f);
    for (int c = 0; c < POINTS; c++)
        for (int k = w->colptr[c]; k < w->colptr[c + 1]; k++)
            f[w->rowind[k]] += w->value[k] * (y[c] - g * w->shape[c]);
    f[0] = yp[0] + w->shape[0] * sin(t) + y[0] - g * w->shape[0];
    return 0;
}

static int wave_jacobian(double t, const double *y, const double *yp, double *dfdy, double *dfdyp,
                         void *user)
{
    const wave *w = user;
    (void)t, (void)y, (void)yp;
    for (int c = 0; c < POINTS; c++)
        for (int k = w->colptr[c]; k < w->colptr[c + 1]; k++) {
            const bool first = w->rowind[k] == 0;
            dfdy[k] = first ? (c == 0 ? 1.0 : 0.0) : w->value[k];
            dfdyp[k] = first && c == 0 ? 1.0 : 0.0;
        }
    return 0;
}

static void listen(const char *text, void *user)
{
    wave *w = user;
    if (!strstr(text, "gmres")) return;
    w->noted++;
    snprintf(w->note, sizeof w->note, "%s", text);
}

static int stop_wave(void *user)
{
    wave *w = user;
    if (!w->stops || w->evaluations < 100) return 0;
    if (w->stopped_at == 0) w->stopped_at = w->evaluations;
    return 1;
}

static dae_problem *wave_problem(wave *w)
{
    dae_residual form = {.n = POINTS,
                         .f = wave_residual,
                         .jacobian = wave_jacobian,
                         .user = w,
                         .structure = DAE_STRUCTURE_SPARSE,
                         .colptr = w->colptr,
                         .rowind = w->rowind};
    dae_problem *p = NULL;
    assert_int_equal(dae_problem_from_residual(&form, &p, NULL), DAE_OK);
    return p;
}

static dae_solver *wave_start(const dae_problem *p, wave *w)
{
    dae_solver *s = NULL;
    dae_options o = dae_options_default();
    double *y = calloc(2 * POINTS, sizeof *y), *yp = y + POINTS;
    for (int c = 0; c < POINTS; c++) y[c] = w->shape[c] * (c == 0 ? 1.0 : 1.5); /* to be found */
    o.message = listen, o.interrupt = stop_wave, o.user = w;
    assert_int_equal(dae_solver_new(p, &o, &s, NULL), DAE_OK);
    assert_non_null(strstr(dae_solver_linear(s), "gmres with ILU"));
    if (dae_solver_start(s, 0.0, y, yp) != DAE_OK) fail_msg("%s", dae_solver_diag(s)->text);
    free(y);
    return s;
}

/* It gives way after three attempts with two solves of 120 iterations each, and the search for
 * start values; says so once; and the numbers are right. */
static void test_gives_way(void **state)
{
    (void)state;
    wave w;
    wave_open(&w);
    dae_problem *p = wave_problem(&w);
    dae_solver *s = wave_start(p, &w);
    double *y = calloc(POINTS, sizeof *y);
    if (dae_solver_run(s, 0.2, y, NULL) != DAE_OK) fail_msg("%s", dae_solver_diag(s)->text);
    for (int c = 0; c < POINTS; c++)
        assert_true(fabs(y[c] - w.shape[c] * cos(0.2)) <= 1e-4 * (1.0 + fabs(w.shape[c])));
    assert_int_equal(w.noted, 1);
    assert_non_null(strstr(w.note, "factored"));
    assert_string_equal(dae_solver_linear(s), "");
    assert_non_null(strstr(dae_solver_choice(s), "gmres failed"));
    assert_int_equal(dae_solver_stats(s)->rejected_convergence, 3);
    if (dae_solver_stats(s)->linear_iterations > 10 * 120)
        fail_msg("%ld iterations", dae_solver_stats(s)->linear_iterations);
    free(y);
    dae_solver_free(s);
    dae_problem_free(p);
    wave_close(&w);
}

/* No evaluation but the one under way comes behind an interruption. */
static void test_stops_at_once(void **state)
{
    (void)state;
    wave w;
    wave_open(&w);
    dae_problem *p = wave_problem(&w);
    dae_solver *s = wave_start(p, &w);
    double *y = calloc(POINTS, sizeof *y);
    w.stops = true, w.evaluations = 0;
    assert_int_equal(dae_solver_run(s, 0.2, y, NULL), DAE_ERR_INTERRUPTED);
    assert_true(dae_solver_stats(s)->linear_iterations < 600); /* before it gave way */
    assert_int_equal(w.evaluations, w.stopped_at);
    free(y);
    dae_solver_free(s);
    dae_problem_free(p);
    wave_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_index_1),
        cmocka_unit_test(test_badly_conditioned),
        cmocka_unit_test(test_convection),
        cmocka_unit_test(test_singular),
        cmocka_unit_test(test_stalled),
        cmocka_unit_test(test_forced_failure),
        cmocka_unit_test(test_interruption),
        cmocka_unit_test(test_gives_way),
        cmocka_unit_test(test_stops_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
