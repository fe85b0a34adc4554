/* What sweeps keep of a run is that of closed forms, between the ends of steps too; workers that
 * crash are replaced, and only what crashes them again and again is given up; a journal that is cut
 * off at any byte, or damaged, gives back whole records and no others. */
#define _DEFAULT_SOURCE
#include "sweep.h"

#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- what is kept ---- */

static const char text[] =
    "model M\n  parameter Real w = 1;\n  Real x(start = 1, fixed = true, unit = \"m\");\n"
    "  Real v(start = 0, fixed = true), c;\n  Boolean low(start = false);\n"
    "  Integer n(start = 0, fixed = true);\n  Real 'odd name' = 2*x;\nequation\n"
    "  der(x) = w*v;\n  der(v) = -w*x;\n  c = x + 1;\n  low = x < -0.5;\n"
    "  when x < 0.5 then\n    n = pre(n) + 1;\n  end when;\nend M;\n";

static dae_problem *make_problem(void)
{
    dae_problem *problem = NULL;
    dae_diag diag = {0};
    dae_model m = {.text = text, .file = "M.mo", .engine = DAE_ENGINE_TAPE};
    if (dae_problem_from_model(&m, &problem, &diag) != DAE_OK) fail_msg("%s", diag.text);
    return problem;
}

static const double stop = 8.0;

static sweep_keep_request request_of(const char *list)
{
    static const int variables[] = {0, 1};
    static const double times[] = {0.0, 1.0, 2.5, 8.0};
    return (sweep_keep_request){.text = list,
                                .stop = stop,
                                .variables = variables,
                                .variable_count = 2,
                                .times = times,
                                .time_count = 4,
                                .rtol = 1e-9,
                                .atol = 1e-12};
}

/* One run; its values. */
static void keep_run(dae_problem *problem, sweep_keep *keep, const char *method)
{
    dae_options options = dae_options_default();
    dae_solver *solver = NULL;
    dae_status status = DAE_STEPPED;
    options.rtol = 1e-9;
    options.atol = 1e-12;
    options.stop_time = stop;
    options.method = method;
    assert_int_equal(dae_solver_new(problem, &options, &solver, NULL), DAE_OK);
    assert_int_equal(dae_solver_start(solver, 0.0, NULL, NULL), DAE_OK);
    assert_true(sweep_keep_start(keep, problem, solver) >= 0);
    while (status > 0) {
        status = dae_solver_step(solver, stop);
        assert_true(status >= 0 && sweep_keep_step(keep, solver) >= 0);
    }
    assert_true(dae_solver_finish(solver) >= 0);
    assert_true(sweep_keep_end(keep, solver) >= 0);
    dae_solver_free(solver);
}

/* x = cos t, v = -sin t on [0, 8]: what an item is, and its unit. */
typedef struct expected {
    const char *item, *unit;
    double value;
} expected;

/* One item by several methods; steps of taylor are longer than a quarter of a period. */
static void check_item(dae_problem *problem, const expected *e)
{
    static const char *const methods[] = {"auto", "bdf", "radau", "taylor"};
    sweep_keep_request request = request_of(e->item);
    sweep_keep *keep = NULL;
    report_error error = {0};
    if (sweep_keep_new(problem, &request, &keep, &error) != REPORT_OK) fail_msg("%s", error.text);
    assert_string_equal(sweep_keep_unit(keep, 0), e->unit);
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        keep_run(problem, keep, methods[m]);
        double got = sweep_keep_values(keep)[0];
        bool first = strncmp(e->item, "time", 4) == 0; /* grazing ones are sensitive */
        double allowed = strstr(e->item, "0.9999") ? 1e-4 : first ? 2e-6 : 2e-7;
        if (strstr(e->item, "time/8")) allowed = 1e-13;
        bool same = isnan(e->value) ? isnan(got) : fabs(got - e->value) <= allowed;
        if (!same) fail_msg("%s by %s: %.15g, not %.15g", e->item, methods[m], got, e->value);
    }
    sweep_keep_free(keep);
}

static void values_at_times(void **unused)
{
    const expected list[] = {
        {"end(x)", "m", cos(8.0)},
        {"start(x)", "m", 1.0},
        {"at(2.5, v)", "", -sin(2.5)},
        {"at(0, x)", "m", 1.0},
        {"at(8, x)", "m", cos(8.0)},
        {"end(der(x) - v)", "", 0.0},
        {"end(n)", "", 2.0},
        {"end('odd name')", "", 2.0 * cos(8.0)},
        {"end(2*w + max(1, w)*(-1) + 3 - 2)", "", 2.0},
        {"end(2^3/4 - 1 - 1)", "", 0.0},
        {"end(not x > 0 or false)", "", 1.0},
    };
    (void)unused;
    dae_problem *problem = make_problem();
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) check_item(problem, &list[k]);
    dae_problem_free(problem);
}

static void extrema_and_first_times(void **unused)
{
    const double pi = acos(-1.0);
    const expected list[] = {
        {"max(v)", "", 1.0},
        {"min(x)", "m", -1.0},
        {"min(v)", "", -1.0},
        {"max(der(v))", "", 1.0},
        {"timemax(v)", "s", 1.5 * pi},
        {"timemax(-x)", "s", pi},
        {"max(x*v)", "", 0.5},
        {"max(abs(x - 0.25))", "", 1.25},
        {"time(x < 0)", "s", 0.5 * pi},
        {"time(low)", "s", 2.0 * pi / 3.0},
        {"time(v > 0.9999)", "s", pi + asin(0.9999)},
        {"time(v > 0.99999999)", "s", pi + asin(0.99999999)},
        {"time(x > 2)", "s", NAN},
        {"time(x > 0 and v > 0)", "s", 1.5 * pi},
        {"time(time >= 3)", "s", 3.0},
    };
    (void)unused;
    dae_problem *problem = make_problem();
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) check_item(problem, &list[k]);
    dae_problem_free(problem);
}

static void integrals_and_means(void **unused)
{
    const expected list[] = {
        {"integral(x)", "m.s", sin(8.0)},
        {"integral(x^2)", "", 4.0 + sin(16.0) / 4.0},
        {"mean(c)", "", 1.0 + sin(8.0) / 8.0},
        {"rms(x)", "m", sqrt((4.0 + sin(16.0) / 4.0) / 8.0)},
        {"integral((time/8)^10)", "", 8.0 / 11.0}, /* the rule is exact for it */
        {"integral(abs(x))", "", 6.0 - sin(8.0)},  /* five quarter and half waves, and a rest */
    };
    (void)unused;
    dae_problem *problem = make_problem();
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) check_item(problem, &list[k]);
    dae_problem_free(problem);
}

static const char wave_text[] =
    "model W\n  parameter Real p = 0;\n  Real x(start = sin(p), fixed = true);\n"
    "  Real v(start = cos(p), fixed = true);\nequation\n  der(x) = v;\n  der(v) = -x;\nend W;\n";

/* The time from 0 to t with sin(t) > 0.5, and the integral of |sin(t)| up to there. */
static double time_above(double t)
{
    const double pi = acos(-1.0), rest = fmod(t, 2.0 * pi), whole = (t - rest) / (2.0 * pi);
    return whole * 2.0 * pi / 3.0 + fmin(fmax(rest - pi / 6.0, 0.0), 2.0 * pi / 3.0);
}

static double sum_of_sizes(double t)
{
    const double pi = acos(-1.0), rest = fmod(t, pi);
    return 2.0 * (t - rest) / pi + 1.0 - cos(rest);
}

static void check_phase(const char *method, double p, const double *got)
{
    const double pi = acos(-1.0), high = asin(0.999999);
    double first = sin(p) > 0.999999 ? 0.0 : fmod(high - p + 2.0 * pi, 2.0 * pi);
    const double right[] = {1.0,
                            -1.0,
                            first,
                            first,
                            (time_above(p + stop) - time_above(p)) / stop,
                            sum_of_sizes(p + stop) - sum_of_sizes(p)};
    /* local errors add up to some hundred tolerances; time(..) grazes: sqrt(2e-6) divides them */
    const double allowed[] = {5e-8, 5e-8, 5e-5, 5e-5, 1e-7, 5e-7};
    for (int c = 0; c < 6; c++)
        if (!(fabs(got[c] - right[c]) <= allowed[c]))
            fail_msg("column %d by %s at phase %g: %.15g, not %.15g", c, method, p, got[c],
                     right[c]);
}

/* Peaks lie anywhere in steps, beside their ends too; so do jumps and bends of expressions. Steps
 * of taylor are half a wave long. */
static void peaks_and_jumps_anywhere_in_steps(void **unused)
{
    static const char *const methods[] = {"radau", "taylor"};
    dae_problem *problem = NULL;
    dae_model m = {.text = wave_text, .file = "W.mo", .engine = DAE_ENGINE_TAPE};
    sweep_keep_request request =
        request_of("max(x), min(x), time(x > 0.999999), time(x > 0.999999 and (v < 2 or x > 3)), "
                   "mean(x > 0.5), integral(abs(x))");
    sweep_keep *keep = NULL;
    (void)unused;
    assert_int_equal(dae_problem_from_model(&m, &problem, NULL), DAE_OK);
    assert_int_equal(sweep_keep_new(problem, &request, &keep, NULL), REPORT_OK);
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++)
        for (double p = 0.0; p < 6.28; p += 0.05) {
            assert_int_equal(dae_problem_set_parameter(problem, "p", p, NULL), DAE_OK);
            keep_run(problem, keep, methods[k]);
            check_phase(methods[k], p, sweep_keep_values(keep));
        }
    sweep_keep_free(keep);
    dae_problem_free(problem);
}

static void lists_have_columns(void **unused)
{
    dae_problem *problem = make_problem();
    sweep_keep *keep = NULL;
    sweep_keep_request request = request_of("end, curve(2*x), max(v)");
    (void)unused;
    assert_int_equal(sweep_keep_new(problem, &request, &keep, NULL), REPORT_OK);
    assert_int_equal(sweep_keep_columns(keep), 7);
    assert_string_equal(sweep_keep_name(keep, 0), "end(x)");
    assert_string_equal(sweep_keep_name(keep, 4), "2*x@2.5");
    assert_string_equal(sweep_keep_name(keep, 6), "max(v)");
    assert_int_equal(sweep_keep_curves(keep), 1);
    assert_int_equal(sweep_keep_curve_column(keep, 0), 2);
    keep_run(problem, keep, "auto");
    const double *x = sweep_keep_values(keep);
    for (int k = 0; k < 4; k++) assert_true(fabs(x[2 + k] - 2.0 * cos(request.times[k])) < 1e-7);
    sweep_keep_free(keep);
    dae_problem_free(problem);
}

static void wrong_lists_are_named(void **unused)
{
    static const char *const wrong[] = {
        "",          "end,",        "max",      "max()",       "max(q)",      "at(9, x)",
        "at(-1, x)", "at(x)",       "at(1)",    "time(x)",     "max(x",       "peak(x)",
        "max(x) y",  "max(x +)",    "max(x y)", "max(foo(x))", "max(der(c))", "end(x))",
        "max((x)",   "max(max(x))", "max(1e)",  "at(nan, x)",  "max(x >> 1)"};
    (void)unused;
    dae_problem *problem = make_problem();
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        sweep_keep_request request = request_of(wrong[k]);
        sweep_keep *keep = NULL;
        report_error error = {0};
        if (sweep_keep_new(problem, &request, &keep, &error) != REPORT_ERR_ARGUMENT)
            fail_msg("'%s' is accepted", wrong[k]);
        assert_null(keep);
        assert_true(strlen(error.text) > 15);
    }
    dae_problem_free(problem);
}

/* Deep and long expressions are refused, not a crash. */
static void endless_expressions_are_refused(void **unused)
{
    enum { LENGTH = 100000 };
    static char list[LENGTH + 10];
    dae_problem *problem = make_problem();
    sweep_keep *keep = NULL;
    (void)unused;
    memset(list, '(', LENGTH);
    memcpy(list, "max(", 4);
    sweep_keep_request request = request_of(list);
    assert_int_equal(sweep_keep_new(problem, &request, &keep, NULL), REPORT_ERR_ARGUMENT);
    for (int k = 4; k < LENGTH; k++) list[k] = k % 2 ? '+' : 'x';
    list[LENGTH - 1] = ')';
    assert_int_equal(sweep_keep_new(problem, &request, &keep, NULL), REPORT_ERR_ARGUMENT);
    dae_problem_free(problem);
}

/* ---- workers ---- */

typedef struct trial {
    int taken[40], lost;
    char mark[200]; /* a file that tells whether an item was seen before */
} trial;

enum { ITEMS = 40, CRASHES = 7, KILLED_ONCE = 11, LEAVES = 23 };

static void work(uint64_t item, sweep_buffer *result, void *user)
{
    trial *t = user;
    if (item == CRASHES) {
        signal(SIGSEGV, SIG_DFL);
        raise(SIGSEGV);
    }
    if (item == KILLED_ONCE && open(t->mark, O_CREAT | O_EXCL | O_WRONLY, 0600) >= 0)
        raise(SIGKILL);
    if (item == LEAVES) _exit(3);
    double value = (double)item * 0.5;
    sweep_result_write(result, &(sweep_result){0, &value, "note"}, 1);
}

static void lost(uint64_t item, int number, sweep_buffer *result, void *user)
{
    double none = NAN;
    trial *t = user;
    assert_true(item == CRASHES || item == LEAVES);
    assert_int_equal(number, item == CRASHES ? SIGSEGV : 0);
    t->lost++;
    sweep_result_write(result, &(sweep_result){SWEEP_CRASHED, &none, "crashed"}, 1);
}

static report_status take(uint64_t item, const unsigned char *bytes, size_t count, void *user,
                          report_error *error)
{
    trial *t = user;
    double value;
    sweep_result result;
    (void)error;
    assert_true(sweep_result_read(bytes, count, 1, &value, &result));
    t->taken[item]++;
    bool crashed = item == CRASHES || item == LEAVES;
    assert_int_equal(result.status, crashed ? SWEEP_CRASHED : 0);
    assert_true(crashed ? isnan(value) : value == (double)item * 0.5);
    assert_string_equal(result.text, crashed ? "crashed" : "note");
    return REPORT_OK;
}

static void crashed_workers_are_replaced(void **unused)
{
    trial t = {.lost = 0};
    sweep_pool *pool = NULL;
    report_error error = {0};
    uint64_t next = 0;
    (void)unused;
    snprintf(t.mark, sizeof t.mark, "/tmp/sweep_mark_%ld", (long)getpid());
    const sweep_pool_request request = {.workers = 3, .work = work, .lost = lost, .user = &t};
    assert_int_equal(sweep_pool_new(&request, &pool, &error), REPORT_OK);
    for (int done = 0, round = 0; done < ITEMS && round < 1000; round++) {
        for (size_t wants = sweep_pool_wants(pool); wants > 0 && next < ITEMS; wants--, next++)
            assert_int_equal(sweep_pool_give(pool, &next, 1, &error), REPORT_OK);
        if (sweep_pool_take(pool, 100, take, &t, &error) != REPORT_OK) fail_msg("%s", error.text);
        done = 0;
        for (int k = 0; k < ITEMS; k++) done += t.taken[k];
    }
    for (int k = 0; k < ITEMS; k++) assert_int_equal(t.taken[k], 1);
    assert_int_equal(t.lost, 2);
    sweep_pool_free(pool);
    unlink(t.mark);
}

/* Short items come back many at a time: the one that ends a worker is known all the same, and what
 * was done before it gets through, however many there are. A whole region of them may be bad. */
enum { GOOD = 1000, MANY = 2000, EVERY = 20, BAD = 7, REGION = 1500, REGION_END = 1560 };

static bool is_bad(uint64_t item)
{
    return item > GOOD && (item % EVERY == BAD || (item >= REGION && item < REGION_END));
}

typedef struct many {
    unsigned char *visits; /* memory of all processes: so often a worker was at an item */
    int taken[MANY];
} many;

static void work_or_crash(uint64_t item, sweep_buffer *result, void *user)
{
    if (is_bad(item)) {
        ((many *)user)->visits[item]++;
        _exit(3);
    }
    double value = (double)item;
    sweep_result_write(result, &(sweep_result){0, &value, ""}, 1);
}

static void lost_one_of_many(uint64_t item, int number, sweep_buffer *result, void *user)
{
    double none = NAN;
    (void)user;
    (void)number;
    assert_true(is_bad(item));
    sweep_result_write(result, &(sweep_result){SWEEP_CRASHED, &none, "crashed"}, 1);
}

static report_status take_one_of_many(uint64_t item, const unsigned char *bytes, size_t count,
                                      void *user, report_error *error)
{
    double value;
    sweep_result result;
    (void)error;
    assert_true(item < MANY && sweep_result_read(bytes, count, 1, &value, &result));
    assert_int_equal(result.status, is_bad(item) ? SWEEP_CRASHED : 0);
    ((many *)user)->taken[item]++;
    return REPORT_OK;
}

static void the_right_item_is_blamed(void **unused)
{
    many m = {.visits =
                  mmap(NULL, MANY, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)};
    sweep_pool *pool = NULL;
    report_error error = {0};
    uint64_t next = 0, items[MANY];
    (void)unused;
    assert_true(m.visits != MAP_FAILED);
    const sweep_pool_request request = {
        .workers = 1, .work = work_or_crash, .lost = lost_one_of_many, .user = &m};
    assert_int_equal(sweep_pool_new(&request, &pool, &error), REPORT_OK);
    for (int done = 0, round = 0; done < MANY && round < 10000; round++) {
        size_t count = 0;
        for (size_t wants = sweep_pool_wants(pool); count < wants && next < MANY; next++)
            items[count++] = next;
        assert_int_equal(sweep_pool_give(pool, items, count, &error), REPORT_OK);
        if (sweep_pool_take(pool, 100, take_one_of_many, &m, &error) != REPORT_OK)
            fail_msg("%s", error.text);
        done = 0;
        for (int k = 0; k < MANY; k++) done += m.taken[k];
    }
    for (int k = 0; k < MANY; k++) {
        assert_int_equal(m.taken[k], 1);
        assert_int_equal(m.visits[k], is_bad((uint64_t)k) ? 2 : 0);
    }
    munmap(m.visits, MANY);
    sweep_pool_free(pool);
}

/* Workers that end before they have begun: no item is to blame, and the pool gives up. */
static void end_at_once(void *user)
{
    (void)user;
    _exit(4);
}

static void workers_that_never_begin(void **unused)
{
    many m = {.visits = NULL};
    sweep_pool *pool = NULL;
    report_error error = {0};
    const uint64_t items[] = {0, 1, 2};
    report_status status = REPORT_OK;
    (void)unused;
    const sweep_pool_request request = {.workers = 1,
                                        .begin = end_at_once,
                                        .work = work_or_crash,
                                        .lost = lost_one_of_many,
                                        .user = &m};
    assert_int_equal(sweep_pool_new(&request, &pool, &error), REPORT_OK);
    assert_int_equal(sweep_pool_give(pool, items, 3, &error), REPORT_OK);
    for (int round = 0; status == REPORT_OK && round < 1000; round++)
        status = sweep_pool_take(pool, 100, take_one_of_many, &m, &error);
    assert_int_equal(status, REPORT_ERR_FILE);
    assert_non_null(strstr(error.text, "without a result"));
    for (int k = 0; k < 3; k++) assert_int_equal(m.taken[k], 0);
    sweep_pool_free(pool);
}

/* ---- the journal ---- */

enum { RECORDS = 5 };
static int seen[RECORDS];

static report_status note(uint64_t item, const unsigned char *bytes, size_t count, void *user,
                          report_error *error)
{
    (void)user;
    (void)error;
    assert_true(item < RECORDS && count == 10 + 7 * item);
    for (size_t k = 0; k < count; k++) assert_int_equal(bytes[k], (int)(item + k) % 251);
    seen[item]++;
    return REPORT_OK;
}

static const sweep_identity identity = {"1.2.3", 11, 12, 13, RECORDS, 2};

/* A journal of all records; its size. */
static off_t write_journal(const char *path)
{
    sweep_journal *j = NULL;
    report_error error = {0};
    struct stat info;
    unlink(path);
    if (sweep_journal_create(path, &identity, &j, &error) != REPORT_OK) fail_msg("%s", error.text);
    for (uint64_t item = 0; item < RECORDS; item++) {
        unsigned char bytes[100];
        for (size_t k = 0; k < 10 + 7 * item; k++) bytes[k] = (unsigned char)((item + k) % 251);
        assert_int_equal(sweep_journal_add(j, item, bytes, 10 + 7 * item, &error), REPORT_OK);
    }
    assert_int_equal(sweep_journal_sync(j, &error), REPORT_OK);
    sweep_journal_close(j, false);
    assert_int_equal(stat(path, &info), 0);
    return info.st_size;
}

/* Records that come back, or -1 */
static int read_journal(const char *path, const sweep_identity *id, uint64_t *damaged, char *why)
{
    sweep_journal *j = NULL;
    report_error error = {0};
    int count = 0;
    memset(seen, 0, sizeof seen);
    report_status status = sweep_journal_resume(path, id, note, NULL, &j, damaged, &error);
    snprintf(why, 1024, "%s", error.text);
    if (status != REPORT_OK) {
        assert_null(j);
        return -1;
    }
    for (int k = 0; k < RECORDS; k++) {
        assert_true(seen[k] <= 1 && (k == 0 || seen[k] <= seen[k - 1]));
        count += seen[k];
    }
    sweep_journal_close(j, false);
    return count;
}

static void journals_survive_cuts_and_damage(void **unused)
{
    char path[] = "/tmp/sweep_journal_XXXXXX", why[1024];
    uint64_t damaged;
    int file = mkstemp(path), before = 0;
    (void)unused;
    close(file);
    off_t size = write_journal(path), head = size;
    for (int k = 0; k < RECORDS; k++) head -= 24 + 10 + 7 * k;
    assert_int_equal(read_journal(path, &identity, &damaged, why), RECORDS);
    assert_int_equal(damaged, 0);
    for (off_t cut = head; cut < size; cut++) {
        write_journal(path);
        assert_int_equal(truncate(path, cut), 0);
        int count = read_journal(path, &identity, &damaged, why);
        assert_true(count >= before && count < RECORDS);
        before = count;
        /* what was cut off is gone: the next reading finds nothing to complain about */
        assert_int_equal(read_journal(path, &identity, &damaged, why), count);
        assert_int_equal(damaged, 0);
    }
    assert_int_equal(before, RECORDS - 1);
    for (off_t at = 0; at < size; at += 3) { /* one byte is wrong */
        write_journal(path);
        unsigned char byte;
        file = open(path, O_RDWR);
        assert_int_equal(pread(file, &byte, 1, at), 1);
        byte ^= 0x10;
        assert_int_equal(pwrite(file, &byte, 1, at), 1);
        close(file);
        int count = read_journal(path, &identity, &damaged, why);
        assert_true(at < head ? count == -1 : count >= 0 && count < RECORDS);
        assert_true(at < head ? strlen(why) > 20 : damaged > 0);
    }
    unlink(path);
}

static void journals_of_others_are_refused(void **unused)
{
    char path[] = "/tmp/sweep_journal_XXXXXX", why[1024];
    uint64_t damaged;
    close(mkstemp(path));
    (void)unused;
    const struct {
        sweep_identity id;
        const char *says;
    } list[] = {{{"1.2.4", 11, 12, 13, RECORDS, 2}, "another version, 1.2.3"},
                {{"1.2.3", 0, 12, 13, RECORDS, 2}, "another model"},
                {{"1.2.3", 11, 0, 13, RECORDS, 2}, "other options"},
                {{"1.2.3", 11, 12, 0, RECORDS, 2}, "other points"},
                {{"1.2.3", 11, 12, 13, RECORDS + 1, 2}, "other points"},
                {{"1.2.3", 11, 12, 13, RECORDS, 3}, "other options"}};
    write_journal(path);
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        assert_int_equal(read_journal(path, &list[k].id, &damaged, why), -1);
        if (!strstr(why, list[k].says)) fail_msg("'%s' in: %s", list[k].says, why);
    }
    sweep_journal *j = NULL, *other = NULL;
    report_error error = {0};
    assert_int_equal(sweep_journal_resume(path, &identity, note, NULL, &j, &damaged, &error),
                     REPORT_OK);
    assert_true(sweep_journal_resume(path, &identity, note, NULL, &other, &damaged, &error) !=
                REPORT_OK);
    assert_non_null(strstr(error.text, "in use"));
    sweep_journal_close(j, true);
    assert_int_equal(access(path, F_OK), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_at_times),
        cmocka_unit_test(extrema_and_first_times),
        cmocka_unit_test(integrals_and_means),
        cmocka_unit_test(peaks_and_jumps_anywhere_in_steps),
        cmocka_unit_test(lists_have_columns),
        cmocka_unit_test(wrong_lists_are_named),
        cmocka_unit_test(endless_expressions_are_refused),
        cmocka_unit_test(crashed_workers_are_replaced),
        cmocka_unit_test(the_right_item_is_blamed),
        cmocka_unit_test(workers_that_never_begin),
        cmocka_unit_test(journals_survive_cuts_and_damage),
        cmocka_unit_test(journals_of_others_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
