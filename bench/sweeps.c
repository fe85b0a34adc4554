/* Many runs of one model: runs a second of Daedal against IDA and HEM5 in a loop, on one core.
 *
 *     bench_sweeps DAEDAL [RUNS [MODEL]]
 *       DAEDAL  the command, for 'daedal sweep --jobs 1' and a loop over 'daedal run'
 *       RUNS    of each kind (200); ten times as many of 'daedal sweep'
 *       MODEL   pendulum, andrews, akzo or transamp alone
 *
 * Peers have callbacks by hand, for one set of parameters; Daedal has the model's text, native
 * code, and other parameters in every run. All codes reach the same digits: of tolerances 1e-3 to
 * 1e-10, half a power of ten apart, each takes the loosest that has DIGITS of them, with which the
 * next tighter one has them, too. Time is that of the processor, the least of ROUNDS in which all
 * codes take turns. */
#define _POSIX_C_SOURCE 200809L
#include "half_explicit.h"
#include "peer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static const double DIGITS = 6.0;
enum { LOOSEST = 6, TIGHTEST = 20, ROUNDS = 5 }; /* of tolerances: half powers of ten */

typedef struct subject {
    const char *name, *file, *parameter;
    double value;
    const char *mechanism; /* of half_explicit.h; NULL: a model of the corpus */
} subject;

static const subject subjects[] = {
    {"pendulum", BENCH_ROOT "/models/pendulum.mo", "g", 1.0, "pendulum"},
    {"andrews", BENCH_ROOT "/models/andrews.mo", "m1", 0.04325, "andrews"},
    {"akzo", BENCH_ROOT "/models/akzo.mo", "k1", 18.7, NULL},
    {"transamp", BENCH_ROOT "/models/transamp.mo", "R0", 1000.0, NULL},
};

/* Seconds a run at the loosest tolerance that has the digits; NAN: none has. */
typedef struct figure {
    double seconds, rtol;
} figure;

/* The tolerances go down: *f takes the first of two in a row that have the digits. Whether it has.
 */
static bool take_tolerance(figure *f, double rtol, double digits)
{
    bool enough = digits >= DIGITS, found = enough && !isnan(f->rtol);
    if (!found) f->rtol = enough ? rtol : NAN;
    return found;
}

/* ---- peers ---- */

static double mechanism_run(const contender *c, const mechanism *m, double rtol, int runs,
                            double *digits)
{
    outcome out = {.q = bench_space((size_t)m->nq, sizeof(double))};
    double seconds = 0.0;
    for (int k = 0; k < runs; k++) {
        c->solve(c, m, rtol, &out);
        seconds += out.seconds;
    }
    *digits = out.ok ? bench_digits(m->nq, out.q, m->reference, false) : -1.0;
    free(out.q);
    return seconds / runs;
}

static double corpus_run(const model *m, double rtol, int runs, double *digits)
{
    size_t n = (size_t)m->form.n;
    double *atol = bench_space(n, sizeof *atol), seconds = 0.0;
    run out = {.y = bench_space(n, sizeof(double))};
    for (int i = 0; i < m->form.n; i++) atol[i] = rtol * model_scale(m, i);
    task t = {.model = m, .rtol = rtol, .atol = atol};
    for (int k = 0; k < runs; k++) {
        peer_ida.solve(&t, &out);
        seconds += out.seconds;
    }
    *digits = out.ok ? bench_digits(m->form.n, out.y, m->reference, false) : -1.0;
    free(atol);
    free(out.y);
    return seconds / runs;
}

/* Seconds a run of IDA or HEM5 */
static double peer_run(const subject *s, const char *code, double rtol, int runs, double *digits)
{
    mechanism *mechanics = s->mechanism ? mechanism_new(s->mechanism, 0) : NULL;
    model *m = mechanics ? NULL : model_new(s->name, 0);
    const contender *c = NULL;
    for (int k = 0; k < half_explicit_count; k++)
        if (strcmp(half_explicit_contenders[k].name, code) == 0) c = &half_explicit_contenders[k];
    double seconds = mechanics ? mechanism_run(c, mechanics, rtol, runs, digits)
                               : corpus_run(m, rtol, runs, digits);
    mechanism_free(mechanics);
    model_free(m);
    return seconds;
}

static figure peer_figure(const subject *s, const char *code)
{
    figure f = {NAN, NAN};
    double digits;
    bool found = false;
    for (int p = LOOSEST; p <= TIGHTEST && !found; p++) {
        double rtol = pow(10.0, -0.5 * p);
        peer_run(s, code, rtol, 1, &digits);
        found = take_tolerance(&f, rtol, digits);
    }
    return f;
}

/* ---- Daedal ---- */

static double stop_of(const subject *s, const dae_problem *problem)
{
    double stop = dae_problem_experiment(problem).stop;
    if (!s->mechanism) return stop;
    mechanism *m = mechanism_new(s->mechanism, 0);
    stop = m->tend;
    mechanism_free(m);
    return stop;
}

/* Runs with other parameters, the last one with the model's own, whose end values are y. */
static double loop(const subject *s, double rtol, const char *method, int runs, double *y)
{
    dae_problem *problem = NULL;
    dae_solver *solver = NULL;
    dae_diag diag = {0};
    dae_model m = {.file = s->file, .engine = DAE_ENGINE_NATIVE};
    dae_options options = dae_options_default();
    if (dae_problem_from_model(&m, &problem, &diag) != DAE_OK) return NAN;
    int n = dae_problem_size(problem);
    double *atol = bench_space((size_t)n, sizeof *atol), start = 0.0;
    double stop = options.stop_time = stop_of(s, problem);
    options.rtol = rtol;
    options.atol = 1e-3 * rtol;
    options.method = method;
    dae_problem_atol(problem, rtol, options.atol, true, atol);
    options.atol_by_unknown = atol;
    dae_status status = dae_solver_new(problem, &options, &solver, &diag);
    for (int k = -1; k < runs && status == DAE_OK; k++) {
        double part = k + 1 == runs ? 0.0 : 0.02 * (k % 100) / 100.0;
        if (k == 0) start = bench_clock(); /* the first one loads the code */
        status = dae_problem_set_parameter(problem, s->parameter, s->value * (1.0 + part), &diag);
        if (status == DAE_OK) status = dae_solver_start(solver, 0.0, NULL, NULL);
        if (status == DAE_OK) status = dae_solver_run(solver, stop, NULL, NULL);
    }
    double seconds = (bench_clock() - start) / runs;
    if (status != DAE_OK && solver) diag = *dae_solver_diag(solver);
    if (status == DAE_OK) status = dae_solver_variables(solver, stop, y);
    dae_solver_free(solver);
    dae_problem_free(problem);
    free(atol);
    if (status != DAE_OK) fprintf(stderr, "%s\n", diag.text);
    return status == DAE_OK ? seconds : NAN;
}

/* Which variables count: positions of a mechanism (its first ones), or all unknowns. */
static figure daedal_figure(const subject *s)
{
    enum { MOST = 200 };
    double exact[MOST], y[MOST];
    figure f = {NAN, NAN};
    bool found = false;
    mechanism *m = s->mechanism ? mechanism_new(s->mechanism, 0) : NULL;
    model *corpus = m ? NULL : model_new(s->name, 0);
    int count = m ? m->nq : corpus->form.n;
    if (isnan(loop(s, 1e-10, m ? "auto" : "radau", 1, exact))) count = 0;
    for (int p = LOOSEST; p <= TIGHTEST && !found && count > 0; p++) {
        double rtol = pow(10.0, -0.5 * p), seconds = loop(s, rtol, "auto", 1, y);
        found =
            take_tolerance(&f, rtol, isnan(seconds) ? -1.0 : bench_digits(count, y, exact, false));
    }
    mechanism_free(m);
    model_free(corpus);
    return f;
}

/* Processor seconds of a command and its children. */
static double command_seconds(const char *words)
{
    struct rusage before, after;
    getrusage(RUSAGE_CHILDREN, &before);
    if (system(words) != 0) return NAN;
    getrusage(RUSAGE_CHILDREN, &after);
#define SECONDS(x) ((double)(x).tv_sec + 1e-6 * (double)(x).tv_usec)
    return SECONDS(after.ru_utime) + SECONDS(after.ru_stime) - SECONDS(before.ru_utime) -
           SECONDS(before.ru_stime);
}

/* Processor seconds a run of 'daedal sweep --jobs 1', all included, or of a loop over 'daedal run'.
 */
static double command_figure(const subject *s, const char *daedal, double rtol, int runs,
                             bool sweep)
{
    char words[2000];
    mechanism *m = s->mechanism ? mechanism_new(s->mechanism, 0) : NULL;
    char stop[60] = "";
    if (m) snprintf(stop, sizeof stop, "--stop %.17g", m->tend);
    mechanism_free(m);
    int count = sweep ? runs : 10;
    if (sweep)
        snprintf(words, sizeof words,
                 "%s sweep %s --sample %d '%s=uniform(%.17g,%.17g)' --rtol %g %s --jobs 1 --quiet "
                 "2>/dev/null",
                 daedal, s->file, count, s->parameter, s->value, 1.02 * s->value, rtol, stop);
    else
        snprintf(words, sizeof words,
                 "for i in 0 1 2 3 4 5 6 7 8 9; do %s run %s --set %s=%.17g --rtol %g %s --quiet "
                 "2>/dev/null || exit 1; done",
                 daedal, s->file, s->parameter, s->value, rtol, stop);
    return command_seconds(words) / count;
}

/* The least of this and what was measured before */
static void note(double *least, double seconds)
{
    *least = fmin(*least, seconds); /* NAN gives way */
}

static void compare(const subject *s, const char *daedal, int runs, bool hem5_there)
{
    double y[200], digits, sweep = NAN, single = NAN;
    figure ours = daedal_figure(s), ida = peer_figure(s, "IDA");
    figure hem5 = s->mechanism && hem5_there ? peer_figure(s, "HEM5") : (figure){NAN, NAN};
    for (int round = 0; round < ROUNDS; round++) {
        note(&ours.seconds, loop(s, ours.rtol, "auto", runs, y));
        note(&ida.seconds, peer_run(s, "IDA", ida.rtol, runs, &digits));
        if (!isnan(hem5.rtol)) note(&hem5.seconds, peer_run(s, "HEM5", hem5.rtol, runs, &digits));
        note(&sweep, command_figure(s, daedal, ours.rtol, 10 * runs, true));
        if (round < 2) note(&single, command_figure(s, daedal, ours.rtol, runs, false));
    }
    printf("%-10s %9.0f %9.0f %9.1f %9.0f %9.0f   %.2f   (rtol %.0e, %.0e, %.0e)\n", s->name,
           1.0 / ours.seconds, 1.0 / sweep, 1.0 / single, 1.0 / ida.seconds, 1.0 / hem5.seconds,
           fmin(ida.seconds, hem5.seconds) / sweep, ours.rtol, ida.rtol, hem5.rtol);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    const char *missing = half_explicit_open();
    int runs = argc > 2 ? atoi(argv[2]) : 200;
    if (argc < 2 || runs < 1)
        return fprintf(stderr, "usage: bench_sweeps DAEDAL [RUNS [MODEL]]\n"), 2;
    if (missing) printf("without HEM5: %s\n", missing);
    if (peer_ida.missing()) return fprintf(stderr, "%s\n", peer_ida.missing()), 1;
    printf("runs a second of the processor at %.0f digits\n", DIGITS);
    printf("%-10s %9s %9s %9s %9s %9s   %s\n", "model", "loop", "sweep", "run", "IDA", "HEM5",
           "sweep / better peer");
    for (size_t k = 0; k < sizeof subjects / sizeof *subjects; k++)
        if (argc < 4 || strcmp(argv[3], subjects[k].name) == 0)
            compare(&subjects[k], argv[1], runs, !missing);
    return 0;
}
