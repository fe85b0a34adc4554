/* Native code that comes while a run is under way: the same bits whenever it comes, whatever
 * becomes of the compiler; one code for all modes; a compiler only where it pays. */
#define _XOPEN_SOURCE 700
#include "daedal.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "compiler_place.h"

/* ---- models -----------------------------------------------------------------------------------
 */

/* Events, discrete variables and a constraint. Each test has a number of its own in the text, so
 * that it finds no other's code in this process. */
static const char bouncing[] =
    "model M parameter Real p = 1; constant Real own = %d;\n"
    "Real x(start=1, fixed=true), y(start=1), q(start=0, fixed=true); Integer n(start=0);\n"
    "Boolean up;\nequation\n"
    "der(x) = -p*x + n + sin(own*time); y^2 = 1 + x^2; der(q) = y*cos(own + time);\n"
    "up = sin(10*time) > 0.3*x;\n"
    "when {up, sample(0, 0.125)} then n = mod(pre(n) + 1, 3); reinit(x, x/2 + 0.1); end when;\n"
    "end M;";

/* Inductors in series with ideal diodes: each that blocks takes a state away, every pattern of
 * diodes that conduct is a mode with equations of its own. */
static const char commutation[] =
    "model Commutation parameter Integer n = 8; constant Real own = %d;\n"
    "Real i[n](each start = 0), v[n], s[n], u(start = 0, fixed = true);\n"
    "Boolean off[n](each start = true);\nequation\n"
    "for k in 1:n loop off[k] = s[k] < 0;\n"
    "v[k] = if off[k] then s[k] else 0; i[k] = if off[k] then 0 else s[k];\n"
    "0.02*der(i[k]) = sin(6.283185307179586*(time - k/n)) - u - v[k] - 0.1*i[k]*own/own;\n"
    "end for;\n0.1*der(u) = sum(i) - u;\nend Commutation;";

/* Long sums, so that evaluations are what a run consists of. */
static const char sums[] =
    "model Sums constant Real own = %d; parameter Integer n = 12;\n"
    "Real x[n](each start = 1, each fixed = true);\nequation\n"
    "for k in 1:n loop der(x[k]) = -x[k]*k/n + sum(x[j]*x[k]/(1 + x[j]^2 + k*own) for j in 1:n)\n"
    "- 0.3*x[k]^3 + cos(time + k + own); end for;\nend Sums;";

static dae_problem *problem_of(const char *format, int own, dae_engine engine)
{
    static char text[4096];
    dae_problem *p = NULL;
    dae_diag diag = {0};
    const char *at = strstr(format, "%d");
    snprintf(text, sizeof text, "%.*s%d%s", (int)(at - format), format, own, at + 2);
    dae_model model = {.text = text, .engine = engine};
    if (dae_problem_from_model(&model, &p, &diag) != DAE_OK) fail_msg("%s", diag.text);
    return p;
}

/* ---- runs -------------------------------------------------------------------------------------
 */

enum { MOST = 4000, VARIABLES = 8 };

/* Times and values at the ends of steps, and notes on native code. */
typedef struct record {
    double t[MOST], values[MOST][VARIABLES];
    int count, notes;
    char note[DAE_TEXT_SIZE];
    dae_engine engine; /* at the end */
} record;

static void note(const char *text, void *user)
{
    record *r = user;
    if (!strstr(text, "native code")) return;
    r->notes++;
    snprintf(r->note, sizeof r->note, "%s", text);
}

static dae_solver *solver_of(const dae_problem *p, record *r)
{
    dae_solver *s = NULL;
    dae_options options = dae_options_default();
    options.message = note;
    if (strcmp(dae_problem_name(p), "Sums") == 0) options.method = "bdf"; /* not taylor */
    options.user = r;
    *r = (record){0};
    assert_int_equal(dae_solver_new(p, &options, &s, NULL), DAE_OK);
    return s;
}

/* What happens between the steps of a run. */
typedef void (*between)(const compiler_place *p, const dae_solver *s, const record *r, int moment);

static void run(const dae_problem *p, double end, between act, const compiler_place *place,
                int moment, record *r)
{
    dae_solver *s = solver_of(p, r);
    double all[256] = {0};
    assert_true(dae_problem_variable_count(p) <= 256);
    dae_status status = dae_solver_start(s, 0.0, NULL, NULL);
    while (status >= 0 && (status = dae_solver_step(s, end)) > 0 && r->count < MOST) {
        r->t[r->count] = dae_solver_time(s);
        assert_int_equal(dae_solver_variables(s, dae_solver_time(s), all), DAE_OK);
        memcpy(r->values[r->count], all, sizeof r->values[0]);
        if (act) act(place, s, r, moment);
        r->count++;
    }
    if (status != DAE_OK)
        fail_msg("%s (%d steps, t = %g)", dae_solver_diag(s)->text, r->count, dae_solver_time(s));
    r->engine = dae_solver_engine(s);
    dae_solver_free(s);
}

static void same_run(const record *a, const record *b)
{
    assert_int_equal(a->count, b->count);
    assert_memory_equal(a->t, b->t, sizeof a->t);
    assert_memory_equal(a->values, b->values, sizeof a->values);
}

/* ---- whenever it comes ------------------------------------------------------------------------
 */

/* At that step the compiler may go on; the run pauses until the first step after which something
 * has come of it. */
static void let_go(const compiler_place *p, const dae_solver *s, const record *r, int moment)
{
    if (r->count == moment) place_write(p->go, "");
    bool came = r->notes > 0 || dae_solver_engine(s) == DAE_ENGINE_NATIVE;
    if (r->count < moment || came) return;
    sleep_for(0.1);
}

static void test_same_bits_whenever_it_comes(void **state)
{
    const compiler_place *place = place_need(state);
    static const int moments[] = {0, 1, 5, 23, 60, 111};
    static record on_tape, mixed;
    assert_true(place_script(place, waits_then_compiles));
    for (int k = 0; k < 6; k++) {
        dae_problem *p = problem_of(bouncing, 100 + k, DAE_ENGINE_TAPE);
        run(p, 3.0, NULL, NULL, 0, &on_tape);
        dae_problem_free(p);
        unlink(place->go);
        p = problem_of(bouncing, 100 + k, DAE_ENGINE_SOON);
        run(p, 3.0, let_go, place, moments[k], &mixed);
        dae_problem_free(p);
        assert_int_equal(on_tape.engine, DAE_ENGINE_TAPE);
        assert_int_equal(mixed.engine, DAE_ENGINE_NATIVE);
        assert_int_equal(mixed.notes, 0);
        same_run(&on_tape, &mixed);
    }
}

/* What one run has compiled the next one of the process begins with, and no compiler is started. */
static void test_cached_start(void **state)
{
    const compiler_place *place = place_need(state);
    static record first, second;
    for (int k = 0; k < 2; k++) {
        dae_problem *p = problem_of(bouncing, 200, DAE_ENGINE_NATIVE);
        dae_solver *s = solver_of(p, &second);
        assert_int_equal(dae_solver_start(s, 0.0, NULL, NULL), DAE_OK);
        assert_true(dae_solver_step(s, 1.0) > 0);
        assert_int_equal(dae_solver_engine(s), DAE_ENGINE_NATIVE);
        dae_solver_free(s);
        run(p, 1.0, NULL, NULL, 0, k == 0 ? &first : &second);
        dae_problem_free(p);
    }
    same_run(&first, &second);
    assert_int_equal(place_starts(place, NULL), 1);
}

/* ---- whatever becomes of the compiler ---------------------------------------------------------
 */

static void runs_on_tape(void **state, int own, const char *script, const char *words)
{
    const compiler_place *place = place_need(state);
    static record on_tape, other;
    dae_problem *p = problem_of(bouncing, own, DAE_ENGINE_TAPE);
    run(p, 2.0, NULL, NULL, 0, &on_tape);
    dae_problem_free(p);
    assert_true(place_script(place, script));
    for (int k = 0; k < 2; k++) {
        p = problem_of(bouncing, own, k == 0 ? DAE_ENGINE_NATIVE : DAE_ENGINE_SOON);
        run(p, 2.0, k == 0 ? NULL : let_go, place, 0, &other);
        dae_problem_free(p);
        same_run(&on_tape, &other);
        assert_int_equal(other.engine, DAE_ENGINE_TAPE);
        assert_int_equal(other.notes, 1);
        if (!strstr(other.note, words)) fail_msg("%s", other.note);
    }
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

static void test_failing(void **state)
{
    runs_on_tape(state, 300, "touch $TMPDIR/module.so\necho 'error: no ink' >&2\nexit 1", "no ink");
}

static void test_killed(void **state)
{
    runs_on_tape(state, 301, "touch $TMPDIR/module.so\nkill -9 $$", "without a message");
}

static void test_not_a_module(void **state)
{
    runs_on_tape(state, 302, "echo nothing > $TMPDIR/module.so", "cannot be loaded");
}

/* A compiler that hangs holds nobody up, and ends with the problem. */
static void test_freed_while_compiling(void **state)
{
    const compiler_place *place = place_need(state);
    static record r;
    long process = 0;
    assert_true(place_script(place, "sleep 100 & wait"));
    dae_problem *p = problem_of(bouncing, 303, DAE_ENGINE_SOON);
    double begin = native_clock();
    run(p, 1.0, NULL, NULL, 0, &r);
    assert_true(native_clock() - begin < 20.0);
    assert_int_equal(r.engine, DAE_ENGINE_TAPE);
    while (place_starts(place, &process) == 0) sleep_for(0.01);
    assert_int_equal(kill((pid_t)process, 0), 0);
    dae_problem_free(p);
    assert_int_equal(kill((pid_t)process, 0), -1);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(place_entries(place, "", NULL), 0);
}

/* ---- several solvers --------------------------------------------------------------------------
 */

typedef struct worker {
    const dae_problem *problem;
    const compiler_place *place;
    record r;
} worker;

/* Both wait for one compiler. */
static void slow_down(const compiler_place *p, const dae_solver *s, const record *r, int moment)
{
    (void)p, (void)r, (void)moment;
    if (dae_solver_engine(s) == DAE_ENGINE_TAPE) sleep_for(0.1);
}

static void *work(void *context)
{
    worker *w = context;
    run(w->problem, 3.0, slow_down, w->place, 0, &w->r);
    return NULL;
}

static void test_threads(void **state)
{
    const compiler_place *place = place_need(state);
    static worker workers[2];
    static record on_tape;
    pthread_t threads[2];
    dae_problem *p = problem_of(bouncing, 400, DAE_ENGINE_TAPE);
    run(p, 3.0, NULL, NULL, 0, &on_tape);
    dae_problem_free(p);
    p = problem_of(bouncing, 400, DAE_ENGINE_SOON);
    for (int k = 0; k < 2; k++) {
        workers[k] = (worker){.problem = p, .place = place};
        assert_int_equal(pthread_create(&threads[k], NULL, work, &workers[k]), 0);
    }
    for (int k = 0; k < 2; k++) {
        pthread_join(threads[k], NULL);
        same_run(&on_tape, &workers[k].r);
        assert_int_equal(workers[k].r.engine, DAE_ENGINE_NATIVE);
    }
    dae_problem_free(p);
    assert_int_equal(place_starts(place, NULL), 1);
}

/* ---- modes ------------------------------------------------------------------------------------
 */

/* Some thirty modes: they are not compiled one by one. */
static void test_many_modes(void **state)
{
    const compiler_place *place = place_need(state);
    static record on_tape, native;
    dae_problem *p = problem_of(commutation, 500, DAE_ENGINE_TAPE);
    run(p, 8.0, NULL, NULL, 0, &on_tape);
    dae_problem_free(p);
    p = problem_of(commutation, 500, DAE_ENGINE_NATIVE);
    run(p, 8.0, NULL, NULL, 0, &native);
    dae_problem_free(p);
    same_run(&on_tape, &native);
    assert_in_range(place_starts(place, NULL), 1, 3);
    assert_int_equal(native.engine, DAE_ENGINE_NATIVE);
}

/* ---- where it pays ----------------------------------------------------------------------------
 */

static void test_short_runs_start_no_compiler(void **state)
{
    const compiler_place *place = place_need(state);
    static record r;
    dae_problem *p = problem_of(sums, 600, DAE_ENGINE_AUTO);
    run(p, 100.0, NULL, NULL, 0, &r);
    sleep_for(0.3); /* one that was started has said so by then */
    dae_problem_free(p);
    assert_int_equal(r.engine, DAE_ENGINE_TAPE);
    assert_int_equal(place_starts(place, NULL), 0);
}

/* A run that is forecast to take long starts one before it has taken as long as that needs; and its
 * code serves the next problem with the same equations. */
static void test_long_runs_do(void **state)
{
    const compiler_place *place = place_need(state);
    static record r;
    for (int k = 0; k < 2; k++) {
        dae_problem *p = problem_of(sums, 601, DAE_ENGINE_AUTO);
        dae_solver *s = solver_of(p, &r);
        assert_int_equal(dae_solver_start(s, 0.0, NULL, NULL), DAE_OK);
        double begin = native_clock();
        while (dae_solver_engine(s) == DAE_ENGINE_TAPE && native_clock() - begin < 300.0)
            assert_true(dae_solver_step(s, 1e6) > 0);
        assert_int_equal(dae_solver_engine(s), DAE_ENGINE_NATIVE);
        dae_solver_free(s);
        dae_problem_free(p);
    }
    assert_int_equal(place_starts(place, NULL), 1);
}

/* Many short runs are one long one. */
static void test_many_short_runs(void **state)
{
    const compiler_place *place = place_need(state);
    static record r;
    dae_problem *p = problem_of(sums, 602, DAE_ENGINE_AUTO);
    int runs = 0;
    double begin = native_clock();
    do {
        dae_solver *s = solver_of(p, &r);
        assert_int_equal(dae_solver_start(s, 0.0, NULL, NULL), DAE_OK);
        assert_int_equal(dae_solver_run(s, 1.0, NULL, NULL), DAE_OK);
        r.engine = dae_solver_engine(s);
        dae_solver_free(s);
        runs++;
    } while (r.engine == DAE_ENGINE_TAPE && native_clock() - begin < 300.0);
    dae_problem_free(p);
    assert_int_equal(r.engine, DAE_ENGINE_NATIVE);
    assert_true(runs > 2);
    assert_int_equal(place_starts(place, NULL), 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, place_set_up, place_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_same_bits_whenever_it_comes),
        TEST(test_cached_start),
        TEST(test_failing),
        TEST(test_killed),
        TEST(test_not_a_module),
        TEST(test_freed_while_compiling),
        TEST(test_threads),
        TEST(test_many_modes),
        TEST(test_short_runs_start_no_compiler),
        TEST(test_long_runs_do),
        TEST(test_many_short_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
