/* Models as texts: how fast they run, and how long it takes to get there.
 *
 * usage: bench_model_pipeline [largest ladder, default 100000]
 *
 * One run prints, with the targets:
 *  1. emitted C against hand-written C, residual and Jacobian of Andrews' mechanism, and the tape
 *     against emitted C: processor time of one evaluation, the least of interleaved series;
 *  2. the way from a text to the first accepted step on the tape, on the RC ladder: processor time,
 *     each run in a process of its own, the least of interleaved runs;
 *  3. the command on the pendulum, from the start of its process to its end: wall time, the least.
 * Minima, since whatever else the machine does can only add. */
#define _DEFAULT_SOURCE
#include "andrews_hand.h"
#include "base/memory.h"
#include "model/model_code.h"
#include "solve/bind/solver.h"

#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

static void give_up(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

static const char *verdict(bool met)
{
    return met ? "met" : "MISSED";
}

/* ---- Andrews' mechanism: by hand, emitted, on the tape ----------------------------------------
 */

enum { SERIES = 40 };
static const double SERIES_SECONDS = 1e-3;

/* One thing to evaluate in three ways. */
typedef struct contest {
    const char *name;
    native_function hand, native;
    const tape *tape;
    double *work; /* of the tape */
    size_t outputs;
} contest;

typedef struct point {
    double y[ANDREWS_N], yp[ANDREWS_N];
    const model_instance *instance; /* parameters and memory */
} point;

static void run_way(const contest *c, int way, const point *x, double *out)
{
    const model_instance *m = x->instance;
    if (way < 2) {
        native_function f = way == 0 ? c->hand : c->native;
        f(0.0, x->y, x->yp, NULL, m->parameters, m->memory, out);
    } else {
        tape_inputs in = {
            .values = {x->y, x->yp}, .parameters = m->parameters, .memory = m->memory};
        tape_run(c->tape, &in, c->work, out);
    }
}

/* Seconds of one evaluation, by hand, emitted and on the tape, in turns. */
static void time_ways(const contest *c, const point *x, double best[3])
{
    double *out = DAE_ARRAY(double, c->outputs);
    long n[3] = {1, 1, 1};
    if (!out) give_up(c->name, "out of memory");
    for (int way = 0; way < 3; way++) best[way] = HUGE_VAL;
    for (int k = 0; k < SERIES; k++)
        for (int way = 0; way < 3; way++) {
            double start = seconds(CLOCK_PROCESS_CPUTIME_ID);
            for (long i = 0; i < n[way]; i++) run_way(c, way, x, out);
            double each = (seconds(CLOCK_PROCESS_CPUTIME_ID) - start) / (double)n[way];
            best[way] = least(best[way], each);
            n[way] = (long)fmax(1.0, SERIES_SECONDS / best[way]);
        }
    dae_free(out);
}

/* The emitted values at the places of the hand-written ones: of a residual as they are, of a
 * Jacobian by row and column. */
static double emitted_entry(const model_form *f, const double *values, const andrews_entry *entry)
{
    int column = entry->column % ANDREWS_N;
    for (size_t k = 0; k < f->jacobian_outputs; k++) {
        bool slope = f->scatter[k] < 0;
        int place = slope ? -1 - f->scatter[k] : f->scatter[k];
        bool there = place >= f->colptr[column] && place < f->colptr[column + 1];
        if (there && f->rowind[place] == entry->row && slope == (entry->column >= ANDREWS_N))
            return values[k];
    }
    return NAN;
}

static double difference(double a, double b)
{
    double d = fabs(a - b) / (1e-3 + fabs(a) + fabs(b));
    return isnan(d) ? HUGE_VAL : d;
}

/* All ways must give the same, or there is nothing to compare. */
static void check_contest(const contest *c, const model_form *f, const point *x)
{
    double by_hand[ANDREWS_ENTRIES], emitted[ANDREWS_ENTRIES], taped[ANDREWS_ENTRIES], worst = 0.0;
    bool matrix = c->outputs == ANDREWS_ENTRIES;
    run_way(c, 0, x, by_hand);
    run_way(c, 1, x, emitted);
    run_way(c, 2, x, taped);
    if (memcmp(emitted, taped, c->outputs * sizeof *taped) != 0)
        give_up(c->name, "emitted C and the tape differ");
    for (size_t k = 0; k < c->outputs; k++) {
        double value = matrix ? emitted_entry(f, emitted, &andrews_entries[k]) : emitted[k];
        worst = fmax(worst, difference(by_hand[k], value));
    }
    if (worst > 1e-10) give_up(c->name, "hand-written and emitted C differ");
}

static void run_contest(const contest *c, const model_form *f, const point *x)
{
    double best[3];
    check_contest(c, f, x);
    time_ways(c, x, best);
    double emitted = best[1] / best[0], taped = best[2] / best[1];
    printf("%-18s %8zu %9zu %9.0f %11.0f %9.0f %10.2f %-7s %10.2f %s\n", c->name, c->outputs,
           tape_length(c->tape), 1e9 * best[0], 1e9 * best[1], 1e9 * best[2], emitted,
           verdict(emitted <= 1.2), taped, verdict(taped <= 10.0));
    fflush(stdout);
}

/* Native code for all programs of an instance, from the cache or the compiler. */
static void compile(model_instance *m)
{
    char reason[NATIVE_REASON] = "";
    model_instance *const list[] = {m};
    if (!model_code_look(list, 1, true) ||
        model_code_begin(list, 1, true, false, reason) != NATIVE_OK)
        give_up("andrews1.mo", reason);
    if (model_code_wait(m->form->code, reason) == CODE_FAILED) give_up("andrews1.mo", reason);
    model_code_adopt(m);
    if (!m->function[0] || !m->function[1]) give_up("andrews1.mo", "no native code");
}

static void run_andrews(void)
{
    dae_diag diag = {0};
    dae_problem *problem;
    if (dae_problem_from_file(BENCH_MODELS "/andrews1.mo", &problem, &diag) != DAE_OK)
        give_up("andrews1.mo", diag.text);
    const model_form *f = problem->model;
    model_instance *m = model_instance_new(f);
    if (!m) give_up("andrews1.mo", "out of memory");
    compile(m);
    if (f->n != ANDREWS_N || f->flat->parameter_count != ANDREWS_PARAMETERS ||
        f->jacobian_outputs != ANDREWS_ENTRIES)
        give_up("andrews1.mo", "the hand-written code is for another model");
    point x = {.instance = m};
    for (int i = 0; i < ANDREWS_N; i++) {
        x.y[i] = 0.3 + 0.1 * i;
        x.yp[i] = 0.7 - 0.2 * i;
    }
    printf("Andrews' mechanism (targets: emitted/hand at most 1.2, tape/emitted at most 10)\n");
    printf("%-18s %8s %9s %9s %11s %9s %10s %18s\n", "", "outputs", "instr.", "hand ns",
           "emitted ns", "tape ns", "emit/hand", "tape/emit");
    run_contest(&(contest){"residual", andrews_residual, m->function[0], f->residual.code.tape,
                           m->work_of[0], f->residual.outputs},
                f, &x);
    run_contest(&(contest){"Jacobian", andrews_jacobian, m->function[1], f->jacobian.code.tape,
                           m->work_of[1], f->jacobian.outputs},
                f, &x);
    model_instance_free(m);
    dae_problem_free(problem);
}

/* ---- from a text to the first step ------------------------------------------------------------
 */

/* Processor time of the parts, and the wall time of all. */
typedef struct pipeline_times {
    double translate, start, step, wall;
    int unknowns;
} pipeline_times;

static double total(const pipeline_times *t)
{
    return t->translate + t->start + t->step;
}

/* Read, parse, flatten, differentiate; find consistent values; take one step. */
static pipeline_times measure_pipeline(const char *file, double n)
{
    const clockid_t cpu = CLOCK_PROCESS_CPUTIME_ID, wall = CLOCK_MONOTONIC;
    dae_setting size = {"n", n};
    dae_model model = {
        .file = file, .settings = &size, .setting_count = 1, .engine = DAE_ENGINE_TAPE};
    dae_options options = dae_options_default();
    dae_diag diag = {0};
    dae_problem *problem;
    dae_solver *solver;
    pipeline_times t = {0};
    double begin = seconds(wall), t0 = seconds(cpu);
    if (dae_problem_from_model(&model, &problem, &diag) != DAE_OK) give_up(file, diag.text);
    double t1 = seconds(cpu);
    if (dae_solver_new(problem, &options, &solver, &diag) != DAE_OK) give_up(file, diag.text);
    if (dae_solver_start(solver, 0.0, NULL, NULL) != DAE_OK)
        give_up(file, dae_solver_diag(solver)->text);
    double t2 = seconds(cpu);
    if (dae_solver_step(solver, 1.0) != DAE_STEPPED) give_up(file, dae_solver_diag(solver)->text);
    double t3 = seconds(cpu);
    t = (pipeline_times){t1 - t0, t2 - t1, t3 - t2, seconds(wall) - begin, solver->bound.n};
    return t;
}

/* The same in a process of its own, so that no run finds memory that another has warmed. */
static pipeline_times measure_alone(const char *file, double n)
{
    int ends[2];
    pipeline_times t;
    if (pipe(ends) != 0) give_up(file, "no pipe");
    fflush(stdout);
    pid_t child = fork();
    if (child < 0) give_up(file, "no process");
    if (child == 0) {
        t = measure_pipeline(file, n);
        _exit(write(ends[1], &t, sizeof t) == sizeof t ? 0 : 1);
    }
    close(ends[1]);
    ssize_t got = read(ends[0], &t, sizeof t);
    close(ends[0]);
    waitpid(child, NULL, 0);
    if (got != sizeof t) give_up(file, "the run failed");
    return t;
}

static void keep_least(pipeline_times *best, const pipeline_times *t)
{
    double wall = best->wall > 0.0 ? least(best->wall, t->wall) : t->wall;
    if (best->wall == 0.0 || total(t) < total(best)) *best = *t;
    best->wall = wall;
}

static void print_pipeline(const char *name, double n, const pipeline_times *t)
{
    printf("%-10s %9.0f %9d %12.4f %9.4f %9.4f %9.4f %10.4f %10.2f", name, n, t->unknowns,
           t->translate, t->start, t->step, total(t), t->wall, 1e6 * total(t) / t->unknowns);
}

static void print_heading(const char *title)
{
    printf("\n%s\n%-10s %9s %9s %12s %9s %9s %9s %10s %10s\n", title, "", "n", "unknowns",
           "translate s", "start s", "step s", "all s", "wall s", "us/unknown");
}

enum { SIZES = 3, ROUNDS = 7 };

/* Growth of the time from size i to size j: log(T_j/T_i) / log(n_j/n_i). */
static double growth(const pipeline_times *t, int i, int j)
{
    return log(total(&t[j]) / total(&t[i])) / log((double)t[j].unknowns / t[i].unknowns);
}

static void run_ladder(int largest)
{
    pipeline_times best[SIZES] = {0};
    int sizes = 0;
    for (int n = 1000; n <= largest && sizes < SIZES; n *= 10) sizes++;
    print_heading("RC ladder, text to first step on the tape, processor time (targets: growth at "
                  "most n^1.15, under 5 s at 1e5)");
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < sizes; i++) {
            pipeline_times t = measure_alone(BENCH_MODELS "/ladder.mo", 1000.0 * pow(10.0, i));
            keep_least(&best[i], &t);
        }
    for (int i = 0; i < sizes; i++) {
        print_pipeline("ladder", 1000.0 * pow(10.0, i), &best[i]);
        if (i > 0) printf("   n^%.3f", growth(best, i - 1, i));
        printf("\n");
    }
    if (sizes < 2) return;
    double all = growth(best, 0, sizes - 1);
    printf("growth from first to last n^%.3f: %s", all, verdict(all <= 1.15));
    if (sizes == SIZES)
        printf("; largest %.2f s of processor time: %s", total(&best[sizes - 1]),
               verdict(total(&best[sizes - 1]) < 5.0));
    printf("\n");
}

/* Two space dimensions, start values by a function, an initial system of twice the size. */
static void run_heat(void)
{
    pipeline_times best[2] = {0};
    const double sides[2] = {50, 100};
    print_heading("heat equation, the same");
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < 2; i++) {
            pipeline_times t = measure_alone(BENCH_MODELS "/heat2d.mo", sides[i]);
            keep_least(&best[i], &t);
        }
    for (int i = 0; i < 2; i++) {
        print_pipeline("heat2d", sides[i], &best[i]);
        if (i > 0) printf("   n^%.3f", growth(best, 0, 1));
        printf("\n");
    }
}

/* ---- the command ------------------------------------------------------------------------------
 */

extern char **environ;

/* Wall and processor seconds of a process from before its start until it has ended. */
static double run_command(char *const *words, double *processor)
{
    posix_spawn_file_actions_t actions;
    struct rusage used;
    pid_t child;
    int status;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    double start = seconds(CLOCK_MONOTONIC);
    if (posix_spawn(&child, words[0], &actions, NULL, words, environ) != 0)
        give_up(words[0], "cannot be started");
    if (wait4(child, &status, 0, &used) != child || status != 0) give_up(words[0], "failed");
    double wall = seconds(CLOCK_MONOTONIC) - start;
    *processor = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                 1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
    posix_spawn_file_actions_destroy(&actions);
    return wall;
}

static void time_command(const char *what, char *const *words, double target)
{
    double wall = HUGE_VAL, processor = HUGE_VAL, used;
    for (int k = 0; k < 40; k++) {
        wall = least(wall, run_command(words, &used));
        processor = least(processor, used);
    }
    printf("%-34s %8.2f %14.2f", what, 1e3 * wall, 1e3 * processor);
    printf(target > 0.0 ? "   %s\n" : "\n", verdict(wall < target));
}

static void run_pendulum(void)
{
    char command[] = BENCH_COMMAND, model[] = BENCH_MODELS "/pendulum.mo";
    char run[] = "run", engine[] = "--engine", tape_engine[] = "tape", stop[] = "--stop",
         soon[] = "0.01", version[] = "--version";
    printf("\npendulum.mo by the command, from process start to its end (target: under 20 ms to "
           "the first result on the tape)\n%-34s %8s %14s\n",
           "", "wall ms", "processor ms");
    time_command("daedal --version", (char *[]){command, version, NULL}, 0.0);
    time_command("daedal run --stop 0.01",
                 (char *[]){command, run, model, engine, tape_engine, stop, soon, NULL}, 20e-3);
    time_command("daedal run (to t = 10)",
                 (char *[]){command, run, model, engine, tape_engine, NULL}, 0.0);
}

int main(int argc, char **argv)
{
    int largest = argc > 1 ? atoi(argv[1]) : 100000;
    run_andrews();
    run_ladder(largest);
    run_heat();
    run_pendulum();
    return 0;
}
