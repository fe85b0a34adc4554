/* Threads inside a run: a team does every part once; runs have the same bits with 1, 2 and 3
 * threads on the tape, in native code, with the systems of radau and by differences; where no
 * thread can be had a run goes on alone and says so; a copy of the process has none. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "base/team.h"
#include "daedal.h"
#include "model/model_build.h"
#include "model/model_code.h"
#include "model/model_pieces.h"
#include "models.h"
#include "problem/residual.h"

#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "compiler_place.h"
#include "counted_threads.h"

/* ---- the team ---- */

enum { PARTS = 37 };

static void add_one(void *data, int part)
{
    ((int *)data)[part]++;
}

static void all_once(team *t)
{
    for (int round = 0; round < 500; round++) {
        int count[PARTS] = {0};
        const int parts = round % (PARTS + 1);
        team_run(t, parts, add_one, count);
        for (int k = 0; k < PARTS; k++) assert_int_equal(count[k], k < parts);
    }
}

static void test_every_part_once(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 5; threads++) {
        team *t;
        threads_made = 0;
        assert_true(team_new(&t, threads));
        assert_int_equal(threads_made, 0); /* none before there is work */
        assert_int_equal(team_threads(t), threads);
        all_once(t);
        assert_int_equal(threads_made, threads - 1);
        assert_false(team_lacks(t));
        team_free(t);
    }
}

/* The owner's own work stands between beginning and end. */
static void test_beside(void **state)
{
    (void)state;
    team *t;
    int count[PARTS] = {0};
    assert_true(team_new(&t, 3));
    for (int round = 0; round < 100; round++) {
        team_begin(t, PARTS, add_one, count);
        int own = 0;
        for (int k = 0; k < 1000; k++) own += k;
        assert_int_equal(own, 499500);
        team_end(t);
        for (int k = 0; k < PARTS; k++) assert_int_equal(count[k], round + 1);
    }
    team_free(t);
}

static void test_refused(void **state)
{
    (void)state;
    team *t;
    assert_true(team_new(&t, 4));
    threads_refused = true;
    all_once(t);
    threads_refused = false;
    assert_true(team_lacks(t));
    assert_int_equal(team_threads(t), 1);
    team_free(t);
}

static void test_copy_of_the_process(void **state)
{
    (void)state;
    team *t;
    assert_true(team_new(&t, 3));
    all_once(t);
    pid_t child = fork();
    if (child == 0) { /* no assertions of cmocka here */
        int count[PARTS] = {0}, wrong = team_threads(t) != 1;
        alarm(20); /* rather than waiting for threads that are not there */
        team_run(t, PARTS, add_one, count);
        for (int k = 0; k < PARTS; k++) wrong += count[k] != 1;
        team_free(t);
        _exit(wrong);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    all_once(t);
    team_free(t);
}

/* ---- runs ---- */

enum { MOST = 4000, NOTES = 400 };

typedef struct trace {
    dae_status status;
    double y[MOST];
    long steps, attempts, residuals, jacobian_residuals, factorisations, iterations;
} trace;

static char notes[NOTES];

static void keep_note(const char *text, void *user)
{
    (void)user;
    snprintf(notes, sizeof notes, "%s", text);
}

/* From values of a model of C, or from those of the text (NULL). */
static void run_to(const dae_problem *p, const model *m, double end, const char *method,
                   int threads, trace *r)
{
    memset(r, 0, sizeof *r);
    notes[0] = '\0';
    dae_options o = dae_options_default();
    o.threads = threads;
    o.method = method;
    o.message = keep_note;
    dae_solver *s;
    dae_diag diag = {0};
    if (dae_solver_new(p, &o, &s, &diag) != DAE_OK) fail_msg("%s", diag.text);
    r->status = dae_solver_start(s, 0.0, m ? m->y0 : NULL, m ? m->yp0 : NULL);
    if (r->status == DAE_OK) r->status = dae_solver_run(s, end, r->y, NULL);
    if (r->status != DAE_OK) fail_msg("%s", dae_solver_diag(s)->text);
    const dae_stats *c = dae_solver_stats(s);
    r->steps = c->steps;
    r->attempts = c->attempts;
    r->residuals = c->residuals;
    r->jacobian_residuals = c->jacobian_residuals;
    r->factorisations = c->factorisations;
    r->iterations = c->newton_iterations;
    dae_solver_free(s);
}

/* The same bits with 1, 2 and 3 threads, and others at work where there are any. */
static void same_bits(const dae_problem *p, const model *m, double end, const char *method)
{
    static trace alone, shared;
    threads_made = 0;
    run_to(p, m, end, method, 1, &alone);
    assert_int_equal(threads_made, 0);
    assert_true(alone.steps > 3);
    for (int threads = 2; threads <= 3; threads++) {
        threads_made = 0;
        run_to(p, m, end, method, threads, &shared);
        assert_int_equal(threads_made, threads - 1);
        assert_string_equal(notes, "");
        assert_memory_equal(&shared, &alone, sizeof shared);
    }
    threads_refused = true;
    run_to(p, m, end, method, 3, &shared);
    threads_refused = false;
    if (!strstr(notes, "threads")) fail_msg("no word of threads: %s", notes);
    assert_memory_equal(&shared, &alone, sizeof shared);
}

/* Each equation is a sum over all variables: 90 equations are as long a program as 8000 others. */
static const char sums[] =
    "model Sums constant Real own = %d; parameter Integer n = %d;\n"
    "Real x[n](start = {1 + k/n for k in 1:n}, each fixed = true);\nequation\n"
    "for k in 1:n loop der(x[k]) = -x[k] + sum(x[j]*x[k]/(1 + x[j]^2 + k*own) for j in 1:n)/n\n"
    "+ 0.1*sin(x[k] + time)*cos(x[k] + time) - 0.3*x[k]^3; end for;\nend Sums;";

static dae_problem *sums_of(int own, int n)
{
    char text[1024];
    dae_problem *p = NULL;
    dae_diag diag = {0};
    snprintf(text, sizeof text, sums, own, n);
    dae_model m = {.text = text, .engine = DAE_ENGINE_TAPE};
    if (dae_problem_from_model(&m, &p, &diag) != DAE_OK) fail_msg("%s", diag.text);
    return p;
}

static void test_tape(void **state)
{
    (void)state;
    dae_problem *p = sums_of(1, 90);
    same_bits(p, NULL, 0.5, "bdf");
    same_bits(p, NULL, 0.5, "radau");
    dae_problem_free(p);
}

/* Complex factors beside the real ones, exact Jacobian */
static void test_systems_of_radau(void **state)
{
    (void)state;
    model *m = model_new("heat2d", 40);
    dae_problem *p;
    assert_int_equal(dae_problem_from_residual(&m->form, &p, NULL), DAE_OK);
    assert_true(m->form.n <= MOST);
    same_bits(p, m, 0.2 * m->tend, "radau");
    dae_problem_free(p);
    model_free(m);
}

/* ---- native code ---- */

/* Some point of a model */
static void fill(int n, unsigned random, double *x)
{
    for (int i = 0; i < n; i++) {
        random = random * 1664525u + 1013904223u;
        x[i] = 0.5 + (double)(random >> 8) * 0x1p-24;
    }
}

/* F and its derivatives by an instance in pieces are those of one in one, bit by bit. */
static void same_values(model_instance *whole, model_instance *cut)
{
    const model_form *f = whole->form;
    const size_t n = (size_t)f->n, entries = (size_t)f->colptr[f->n];
    double *x = calloc(4 * n + 4 * entries, sizeof *x), *at = x + 4 * n;
    for (unsigned round = 0; round < 5; round++) {
        fill(2 * f->n, round, x);
        model_residual(0.3, x, x + n, x + 2 * n, whole);
        model_residual(0.3, x, x + n, x + 3 * n, cut);
        assert_memory_equal(x + 2 * n, x + 3 * n, n * sizeof *x);
        memset(at, 0, 4 * entries * sizeof *at);
        model_jacobian(0.3, x, x + n, at, at + entries, whole);
        model_jacobian(0.3, x, x + n, at + 2 * entries, at + 3 * entries, cut);
        assert_memory_equal(at, at + 2 * entries, 2 * entries * sizeof *at);
    }
    free(x);
}

static void test_native_pieces(void **state)
{
    place_need(state);
    char reason[NATIVE_REASON];
    team *t;
    dae_problem *p = sums_of(2, 40);
    model_instance *whole = model_instance_new(p->model), *cut = model_instance_new(p->model);
    assert_true(team_new(&t, 3));
    assert_true(model_instance_share(cut, t, 4000));
    assert_non_null(cut->pieces[0]); /* F */
    assert_non_null(cut->pieces[1]); /* its derivatives */
    same_values(whole, cut);
    assert_int_equal(model_code_begin(&cut, 1, true, false, reason), NATIVE_OK);
    model_code_wait(p->model->code, reason);
    model_code_adopt(cut);
    assert_true(cut->pieces[0]->native);
    assert_true(cut->pieces[1]->native);
    assert_null(cut->function[0]); /* pieces are compiled, not the whole */
    assert_true(cut->native);
    same_values(whole, cut);
    model_instance_free(whole);
    model_instance_free(cut);
    team_free(t);
    dae_problem_free(p);
}

/* A sine whose cosine is in another piece may differ in its last bit: no pieces there. */
static void test_pairs_stay_together(void **state)
{
    (void)state;
    static const char text[] =
        "model M parameter Integer n = 40; Real x[n](each start = 1, each fixed = true);\n"
        "equation for k in 1:n loop der(x[k]) = if k <= 20 then sin(x[k + 20])*k else\n"
        "cos(x[k])*k + sin(k*x[k - 20]); end for; end M;";
    dae_problem *p = NULL;
    dae_model m = {.text = text, .engine = DAE_ENGINE_TAPE};
    assert_int_equal(dae_problem_from_model(&m, &p, NULL), DAE_OK);
    model_instance *cut = model_instance_new(p->model);
    size_t pairs, singles;
    team *t;
    tape_sines(cut->form->residual.code.tape, &pairs, &singles);
    assert_int_equal(pairs, 20);
    assert_true(team_new(&t, 2));
    assert_true(model_instance_share(cut, t, 16));
    assert_null(cut->pieces[0]);
    model_instance_free(cut);
    team_free(t);
    dae_problem_free(p);
}

/* ---- differences ---- */

enum { UNKNOWNS = 2500 };

typedef struct ring {
    pthread_t owner;
    int others; /* calls by other threads */
} ring;

/* y_i' = (y_i-1 - 2 y_i + y_i+1)^3 - y_i on a ring */
static int ring_residual(double t, const double *y, const double *yp, double *f, void *user)
{
    ring *r = user;
    (void)t;
    if (!pthread_equal(pthread_self(), r->owner))
        __atomic_add_fetch(&r->others, 1, __ATOMIC_SEQ_CST);
    for (int i = 0; i < UNKNOWNS; i++) {
        double d = y[(i + UNKNOWNS - 1) % UNKNOWNS] - 2.0 * y[i] + y[(i + 1) % UNKNOWNS];
        f[i] = yp[i] - d * d * d + y[i];
    }
    return 0;
}

static dae_problem *ring_problem(ring *r, bool reentrant)
{
    static int colptr[UNKNOWNS + 1], rowind[3 * UNKNOWNS];
    for (int c = 0; c < UNKNOWNS; c++) {
        int a[3] = {(c + UNKNOWNS - 1) % UNKNOWNS, c, (c + 1) % UNKNOWNS};
        colptr[c + 1] = colptr[c] + 3;
        for (int k = 0; k < 3; k++)
            for (int j = k; j > 0 && a[j] < a[j - 1]; j--) {
                int held = a[j];
                a[j] = a[j - 1];
                a[j - 1] = held;
            }
        memcpy(rowind + colptr[c], a, sizeof a);
    }
    dae_residual form = {.n = UNKNOWNS,
                         .f = ring_residual,
                         .user = r,
                         .structure = DAE_STRUCTURE_SPARSE,
                         .colptr = colptr,
                         .rowind = rowind,
                         .reentrant = reentrant};
    dae_problem *p = NULL;
    dae_diag diag = {0};
    if (dae_problem_from_residual(&form, &p, &diag) != DAE_OK) fail_msg("%s", diag.text);
    return p;
}

static void test_differences(void **state)
{
    (void)state;
    static double y0[UNKNOWNS], yp0[UNKNOWNS];
    static trace shared;
    for (int i = 0; i < UNKNOWNS; i++) y0[i] = sin(0.01 * i), yp0[i] = 0.0;
    model start = {.y0 = y0, .yp0 = yp0};
    ring r = {.owner = pthread_self()};
    dae_problem *p = ring_problem(&r, true);
    same_bits(p, &start, 0.5, "bdf");
    dae_problem_free(p);
    r.others = threads_made = 0; /* not declared: nobody else calls */
    p = ring_problem(&r, false);
    run_to(p, &start, 0.5, "bdf", 3, &shared);
    assert_int_equal(r.others, 0);
    assert_int_equal(threads_made, 0);
    dae_problem_free(p);
}

static void test_bad_number(void **state)
{
    (void)state;
    dae_problem *p = sums_of(3, 3);
    dae_options o = dae_options_default();
    dae_solver *s;
    dae_diag diag = {0};
    assert_int_equal(o.threads, 0);
    o.threads = -1;
    assert_int_equal(dae_solver_new(p, &o, &s, &diag), DAE_ERR_ARGUMENT);
    assert_non_null(strstr(diag.text, "threads"));
    dae_problem_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_part_once),
        cmocka_unit_test(test_beside),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_copy_of_the_process),
        cmocka_unit_test(test_tape),
        cmocka_unit_test(test_systems_of_radau),
        cmocka_unit_test(test_native_pieces),
        cmocka_unit_test(test_pairs_stay_together),
        cmocka_unit_test(test_differences),
        cmocka_unit_test(test_bad_number),
    };
    return cmocka_run_group_tests(tests, place_set_up, place_tear_down);
}
