/* daedal sweep MODEL --over k=1:0.1:5: many runs of one model, one table. */
#define _POSIX_C_SOURCE 200809L

#include "sweep_work.h"

#include "module.h"
#include "outputs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- checks ---- */

/* Words of other commands that have no meaning here. */
static int check_words(const request *r)
{
    if (!r->text)
        return complain(CLI_USAGE,
                        "a sweep needs a model text, and '%s' is built in: it has no parameters",
                        r->model_name);
    const struct {
        const char *name;
        bool given;
    } words[] = {{"verify", r->verify},           {"judge", r->judge != NULL},
                 {"limit", r->limit > 0.0},       {"all", r->all},
                 {"history", r->history != NULL}, {"tableau", r->tableau != NULL}};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (words[k].given)
            return complain(CLI_USAGE, "'daedal sweep' has no option '--%s'", words[k].name);
    return CLI_OK;
}

/* The directory of whole runs is made if need be. */
static int check_runs(const request *r)
{
    const char *path = r->sweep.runs;
    struct stat info;
    if (!path) return CLI_OK;
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        return complain(CLI_FAILED, "the directory '%s' cannot be made: %s", path, strerror(errno));
    if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode) || access(path, W_OK | X_OK) != 0)
        return complain(CLI_USAGE, "'%s' (--runs) is no directory that can be written to", path);
    return CLI_OK;
}

/* ---- preparation ---- */

/* One rank speaks for all. */
static void silence(void)
{
    int nowhere = open("/dev/null", O_WRONLY);
    if (nowhere < 0) return;
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    close(nowhere);
}

/* From so many runs on a compiler pays in any case. */
enum { MANY_POINTS = 10 };

/* The times of curves, those of the output. */
static int make_times(sweep_work *w)
{
    double t;
    long count = 0;
    const grid *g = &w->r->output;
    while (grid_time(g, count, &t)) count++;
    if (count > 1000000)
        return complain(CLI_USAGE, "%ld times are too many for curves; choose with --points",
                        count);
    w->times = calloc((size_t)count + 1, sizeof *w->times);
    if (!w->times) return complain(CLI_FAILED, "out of memory");
    for (w->time_count = 0; grid_time(g, w->time_count, &t); w->time_count++)
        w->times[w->time_count] = t;
    return CLI_OK;
}

/* What a journal must agree on. */
static void identify(sweep_work *w)
{
    sweep_identity *id = &w->identity;
    const sweep_points *p = w->points;
    memset(id, 0, sizeof *id);
    snprintf(id->version, sizeof id->version, "%s", dae_version());
    id->model = sweep_hash_file(0, w->r->model_name);
    id->words = w->r->sweep.words;
    id->points = sweep_hash(0, p->value, p->count * (size_t)p->columns * sizeof *p->value);
    for (int c = 0; c < p->columns; c++) {
        id->points = sweep_hash(id->points, w->columns[c].name, strlen(w->columns[c].name));
        for (int k = 0; k < p->column[c].word_count; k++)
            id->points =
                sweep_hash(id->points, p->column[c].words[k], strlen(p->column[c].words[k]));
    }
    id->count = p->count;
    id->columns = (uint64_t)sweep_keep_columns(w->keep);
}

/* Everything that workers shall not do again: translation, plans of the first start, native code,
 * which comes with the first step; a failure is not ours. C code from outside may end the process
 * that runs it: steps with it are left to workers. */
static int prepare(sweep_work *w)
{
    int code = session_prepare(w->s, &w->r->options);
    if (code != CLI_OK || w->structural) return code;
    const dae_options options = w->r->options;
    w->r->options.message = NULL;
    w->r->options.monitor = NULL; /* a step of one run is not progress of the sweep */
    dae_solver *first = NULL;
    bool started = dae_solver_new(w->s->problem, &w->r->options, &first, NULL) == DAE_OK &&
                   dae_solver_start(first, w->r->output.t0, NULL, NULL) == DAE_OK;
    if (started && !w->r->allow_external) (void)dae_solver_step(first, w->r->output.tend);
    dae_solver_free(first);
    w->r->options = options;
    return CLI_OK;
}

static int sweep_words(sweep_work *w)
{
    request *r = w->r;
    int code = check_words(r);
    if (code == CLI_OK) code = sweep_read_points(w);
    if (code == CLI_OK) code = check_runs(r);
    if (code == CLI_OK && r->sweep.hdf5 && !module_hdf5()) code = CLI_USAGE;
    if (code != CLI_OK) return code;
    if (!r->engine_given && w->points->count >= MANY_POINTS) r->engine = DAE_ENGINE_NATIVE;
    w->unopened = *r;
    code = request_open(r, w->s);
    if (code == CLI_OK) code = sweep_bind(w);
    if (code == CLI_OK) code = make_times(w);
    if (code == CLI_OK) code = sweep_make_keep(w, r, w->s, &w->keep);
    if (code == CLI_OK) code = prepare(w);
    if (code == CLI_OK) identify(w);
    return code;
}

/* A table of failures alone is a failure. */
static int finish(sweep_work *w)
{
    bool quiet = w->r->quiet || request_streams(w->r);
    int code = sweep_write(w);
    if (!quiet && code == CLI_OK) sweep_print(w);
    if (code == CLI_OK && w->failed == w->points->count) {
        const char *why = w->text[0] ? w->text[0] : "";
        code = complain(CLI_FAILED, "all %s failed; the first: %s",
                        PLURAL((long)w->points->count, "point"), why);
    }
    return code;
}

static void work_free(sweep_work *w)
{
    for (size_t i = 0; w->text && i < w->points->count; i++) free(w->text[i]);
    sweep_journal_close(w->journal, false);
    sweep_keep_free(w->keep);
    sweep_points_free(w->points);
    free(w->columns);
    free(w->times);
    free(w->values);
    free(w->status);
    free(w->text);
    free(w->done);
    free(w->other_values);
}

static int run(int argc, char **argv)
{
    request r;
    session s = {0};
    sweep_work w = {.r = &r, .s = &s};
    bool others = false;
    if (sweep_launched_rank() > 0) silence();
    int code = request_read(&sweep_command, argc, argv, &r);
    if (code == CLI_OK && r.options.threads == 0) r.options.threads = 1; /* workers are enough */
    if (code == CLI_OK) code = sweep_words(&w);
    if (code == CLI_OK) code = sweep_all_points(&w, &others);
    if (code == CLI_OK && !others) code = finish(&w);
    work_free(&w);
    session_close(&s);
    request_free(&r);
    return code;
}

const command sweep_command = {
    .name = "sweep",
    .summary = "many runs of one model: ranges, grids, samples; one table",
    .help =
        "usage: daedal sweep MODEL [--over NAME=VALUES ..] [OPTION ...]\n"
        "\n"
        "  daedal sweep pendulum.mo --over g=1:0.1:10 --keep 'end(x),max(y)' -o g.csv\n"
        "  daedal sweep pendulum.mo --over L=1,2,5 --over g=1:1:10 --grid -o both.csv\n"
        "  daedal sweep pendulum.mo --list points.csv --keep 'time(x < 0)' -o t.json\n"
        "  daedal sweep pendulum.mo --sample 10000 'g=normal(9.81,0.1)' --keep 'end(x)' -o mc.h5\n"
        "  mpirun -n 64 daedal sweep pendulum.mo --over g=1:1e-4:10 -o g.csv\n"
        "\n"
        "Solves the model as 'daedal run' with the same options does, once for every point, and\n"
        "keeps of each run what is asked for. The model is translated and compiled once. A run\n"
        "that fails is a row that says why. The table has the same bits whoever computes it.\n"
        "\n"
        "Points: parameters, arrays' elements; variables stand for their start values\n"
        "  --over NAME=START:STEP:STOP    a range, its end included; START:*FACTOR:STOP likewise\n"
        "  --over NAME=A,B,..   values: numbers, true and false, literals, texts\n"
        "  --grid               all combinations, the last one varying fastest; without it ranges\n"
        "                       and lists go side by side and must be of one length\n"
        "  --list FILE          a line for each point; the first one has the names (csv)\n"
        "  --sample N NAME=DISTRIBUTION ..  N points: normal(mean,sigma[,low,high]),\n"
        "                       uniform(low,high), lognormal(mean,sigma), loguniform(low,high),\n"
        "                       triangular(low,mode,high), exponential(mean),\n"
        "                       weibull(shape,scale), integers(first,last), choice(x,y,..)\n"
        "  --by WHAT            random, lhs (Latin hypercube) or sobol (up to 30 names)\n"
        "  --seed K             of the sample (1); 0 with sobol: the plain sequence\n"
        "Results\n"
        "  --keep LIST          of end (all variables), and, for expressions x of variables and\n"
        "                       parameters, end(x), start(x), max(x), min(x), timemax(x), "
        "mean(x),\n"
        "                       rms(x), integral(x), at(t,x), time(x > 1): when it first holds,\n"
        "                       curve(x): at the output times (default: end)\n"
        "  -o, --output FILE    the table into a .csv, .json, .mat or .h5 file; - is csv on\n"
        "                       standard output\n"
        "  --csv FILE, --json FILE   as -o, whatever the name\n"
        "  --runs DIRECTORY     each run into a file 1.csv, 2.csv, .. as 'daedal run' writes it\n"
        "  --plot FILE          over one name as curves, over two as colours, of curve(x) the\n"
        "                       quantiles: .svg, .png or .pdf; failures are marked\n"
        "  --quiet              print nothing on success\n"
        "Work\n"
        "  --jobs N             processes (as many as there are cores; one for each rank of MPI)\n"
        "  --resume             go on with a sweep that was killed or interrupted, from the file\n"
        "                       FILE.journal beside its table\n"
        "\n",
    .more = "and all options of 'daedal run' on problem, inputs, method, tolerances and output "
            "times.\n"
            "Exit code 0: the table is complete, though some rows may tell of failures; 1: all\n"
            "runs failed, or a file could not be written; 130: interrupted, '--resume' goes on.\n"
            "docs/sweep.md tells more.\n",
    .run = run,
};
