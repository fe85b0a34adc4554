/* daedal run MODEL: solve a model, tell about it, write files. */
#define _POSIX_C_SOURCE 200809L

#include "run.h"

#include "outputs.h"
#include "petsc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- checks before the work -------------------------------------------------------------------
 */

static int check_plot_name(const char *path)
{
    static const char *const endings[] = {".svg", ".png", ".pdf"};
    const char *dot = path ? strrchr(path, '.') : NULL;
    for (int i = 0; dot && i < 3; i++)
        if (strcasecmp(dot, endings[i]) == 0) return CLI_OK;
    if (!path) return CLI_OK;
    return complain(CLI_USAGE,
                    "'%s' is no picture I can draw: its name must end in .svg, .png or .pdf", path);
}

static int check_files(const request *r)
{
    const output list[] = {{"--csv", r->csv},
                           {"--json", r->json},
                           {"--output", r->mat},
                           {"--plot", r->plot},
                           {"--history", r->history},
                           {"--tableau", r->tableau},
                           {"--checkpoint", r->saves.path},
                           {"--output", r->sweep.hdf5}};
    int code = check_plot_name(r->plot);
    return code == CLI_OK ? check_outputs(r->text ? r->model_name : NULL, list, 8) : code;
}

/* Start and stop: from the words, else from the model. */
static int finish_interval(request *r, const session *s)
{
    grid *g = &r->output;
    if (s->m) {
        g->t0 = s->m->t0;
        g->tend = isnan(r->stop) ? s->m->tend : r->stop;
        return request_steps(r); /* backwards, too */
    }
    dae_experiment e = dae_problem_experiment(s->problem);
    g->t0 = !isnan(r->start) ? r->start : isnan(e.start) ? 0.0 : e.start;
    g->tend = !isnan(r->stop) ? r->stop : isnan(e.stop) ? g->t0 + 1.0 : e.stop;
    int code = request_steps(r);
    if (code != CLI_OK || g->tend >= g->t0) return code;
    return complain(CLI_USAGE, "the stop time %g lies before the start time %g", g->tend, g->t0);
}

enum { DEFAULT_POINTS = 501, SWEEP_POINTS = 101 };
static const double most_rows = 1e8, most_steps = 1e9;

/* Output points of a text that the words do not choose: prescribed steps, the model's interval, or
 * 500 of them. */
static void default_points(request *r, const session *s)
{
    grid *g = &r->output;
    double interval = dae_problem_experiment(s->problem).interval;
    if (s->m || r->every_step || r->steps || g->kind != GRID_STEPS) return;
    g->kind = interval > 0.0 && !r->log_time ? GRID_INTERVAL : GRID_LINEAR;
    g->interval = interval;
    g->count = r->command == &sweep_command ? SWEEP_POINTS : DEFAULT_POINTS;
}

/* Steps of at most h that would take days are refused at once, unless '--max-steps' ends them. */
static int check_step(const request *r, const char *option, double h)
{
    const grid *g = &r->output;
    double steps = fabs(g->tend - g->t0) / h;
    if (!(h > 0.0) || r->max_steps > 0 || steps <= most_steps) return CLI_OK;
    return complain(CLI_USAGE,
                    "option '--%s %g' needs %.2g steps from %g to %g; more than %g are refused "
                    "(unless '--max-steps' says when to give up)",
                    option, h, steps, g->t0, g->tend, most_steps);
}

static int check_steps(const request *r)
{
    int code = check_step(r, "fixed-step", r->options.fixed_step);
    return code == CLI_OK ? check_step(r, "max-step", r->options.max_step) : code;
}

/* The output times; logarithmic ones start at --first, or at 1e-12 of the interval. */
static int finish_grid(request *r, const session *s)
{
    grid *g = &r->output;
    int code = finish_interval(r, s);
    if (code != CLI_OK) return code;
    double span = fabs(g->tend - g->t0);
    default_points(r, s);
    if (g->kind == GRID_INTERVAL && span / g->interval > most_rows)
        return complain(CLI_USAGE, "an interval of %g makes %.2g rows; more than %g are refused",
                        g->interval, span / g->interval, most_rows);
    if (!r->log_time && g->first > 0.0)
        return complain(CLI_USAGE, "option '--first' goes with '--log-time'");
    if (r->log_time && g->kind == GRID_INTERVAL)
        return complain(CLI_USAGE, "options '--interval' and '--log-time' exclude each other");
    if (r->log_time && g->kind == GRID_LINEAR) g->kind = GRID_LOG;
    if (g->first == 0.0) g->first = 1e-12 * span;
    if (r->log_time && g->first >= span && span > 0.0)
        return complain(CLI_USAGE, "option '--first' must lie inside the interval of length %g",
                        span);
    if (span == 0.0) g->kind = GRID_STEPS; /* one row */
    return CLI_OK;
}

/* Tolerances from the words, else from the model; atol follows rtol unless it is given. */
static void finish_tolerances(request *r, const session *s)
{
    double wanted = dae_problem_experiment(s->problem).tolerance;
    if (wanted > 0.0) r->options.rtol = wanted;
    if (!isnan(r->rtol)) r->options.rtol = r->rtol;
    if (!s->m) r->options.atol = 1e-3 * r->options.rtol;
    if (!isnan(r->atol)) r->options.atol = r->atol;
}

/* ---- the work ---------------------------------------------------------------------------------
 */

/* Options that only one of texts and built-in models has. */
static int check_kind(const request *r)
{
    bool texts_only = r->parameters.count > 0 || r->driven.count > 0 || r->starts.count > 0 ||
                      !isnan(r->start) || r->engine_given || r->mat || r->allow_external;
    if (r->text && r->size > 0)
        return complain(CLI_USAGE, "option '--size' is for built-in models; try '--set n=%ld'",
                        r->size);
    if (r->text || !texts_only) return CLI_OK;
    const char *option = r->parameters.count > 0 ? "--set"
                         : r->driven.count > 0   ? "--input"
                         : r->starts.count > 0   ? "--start"
                         : !isnan(r->start)      ? "--start-time"
                         : r->engine_given       ? "--engine"
                         : r->allow_external     ? "--allow-external"
                                                 : "-o FILE.mat";
    return complain(CLI_USAGE, "option '%s' needs a model text, and '%s' is built in", option,
                    r->model_name);
}

static int open_builtin(const request *r, session *s)
{
    s->m = open_model(r->model_name, r->size);
    if (!s->m) return CLI_USAGE;
    if (r->size > 0 && !s->m->sized)
        return complain(CLI_USAGE, "model '%s' has no size to choose", s->m->name);
    return session_open_builtin(s);
}

/* A model text with its start values. */
static int open_file(const request *r, session *s)
{
    settings unknowns = {0};
    int code = tolerance_names(r, &unknowns);
    if (code == CLI_OK && !s->problem) /* else it is open already */
        code = session_open_text(s, r->model_name, &r->parameters, &r->driven, &unknowns,
                                 r->command == &optimise_command ? NULL : &r->ends, r->engine,
                                 r->allow_external);
    tolerance_names_free(&unknowns);
    for (int i = 0; i < r->starts.count && code == CLI_OK; i++)
        code = set_start(s->problem, r->starts.list[i]);
    if (code == CLI_OK && s->n == 0)
        code = complain(CLI_FAILED, "'%s' has no variables: there is nothing to solve", s->name);
    return code;
}

/* Files with data have all variables of a text, and parameters are ranked by all; else a large
 * model records a few. */
static const char *recorded_variables(const request *r)
{
    bool data = r->csv || r->json || r->mat || r->command == &sens_command;
    return !r->variables && r->text && data ? "all" : r->variables;
}

/* Integrate and report. A failed run still shows and writes what it reached. */
static int solve(const request *r, session *s)
{
    recorder rows;
    bool quiet = r->quiet || request_streams(r);
    const char *near = r->mat ? r->mat : r->json ? r->json : r->plot;
    int code = recorder_open(&rows, s, r->csv, near || (s->m && !quiet), near);
    if (code == CLI_OK) {
        code = session_integrate(s, &r->output, &rows);
        if (!quiet && rows.count > 0) results_print(r, s, &rows, code);
        if (!r->quiet && quiet) results_print_notes(r, s, stderr, "daedal: note: ");
        int written = rows.count > 0 ? results_write(r, s, &rows, NULL) : CLI_OK;
        if (!quiet && written == CLI_OK && rows.count > 0) results_print_files(r, s, &rows);
        if (code == CLI_OK) code = written;
    }
    recorder_close(&rows);
    return code;
}

int request_open(request *r, session *s)
{
    bool derivatives = r->mat && !r->variables && r->command == &run_command;
    int code = check_kind(r);
    if (code == CLI_OK) code = check_files(r);
    if (code == CLI_OK) code = r->text ? open_file(r, s) : open_builtin(r, s);
    if (code == CLI_OK) code = finish_grid(r, s);
    if (code == CLI_OK) code = check_steps(r);
    if (code == CLI_OK) code = session_record(s, recorded_variables(r), derivatives);
    if (code != CLI_OK) return code;
    finish_tolerances(r, s);
    /* built-in start values are consistent; a text is not evaluated beyond its end */
    if (s->m && !r->init_given) r->options.init = DAE_INIT_NONE;
    if (!s->m) r->options.stop_time = r->output.tend;
    s->max_steps = r->max_steps;
    return request_tolerances(r, s);
}

/* Everything after the words. */
static int run_request(request *r, session *s)
{
    int code = request_open(r, s);
    if (code == CLI_OK) code = session_prepare(s, &r->options);
    if (code == CLI_OK) code = checkpoint_open(s, &r->saves);
    if (code == CLI_OK) code = session_open_history(s, r->history);
    if (code == CLI_OK) code = session_open_tableau(s, r->tableau);
    if (code == CLI_OK) code = solve(r, s);
    if (code == CLI_OK) checkpoint_done(s);
    if (code == CLI_OK && r->verify) code = request_verify(r, s, true);
    return code;
}

static int run(int argc, char **argv)
{
    request r;
    session s = {0};
    petsc_library petsc = {0};
    int code = request_read(&run_command, argc, argv, &r);
    if (code == CLI_OK) code = petsc_open(&r, &petsc);
    if (code == CLI_OK) code = run_request(&r, &s);
    session_close(&s);
    petsc_close(&petsc, code == CLI_OK);
    request_free(&r);
    return code;
}

const command run_command = {
    .name = "run",
    .summary = "solve a model: results, plots, a summary",
    .help =
        "usage: daedal run MODEL [OPTION ...]\n"
        "\n"
        "  daedal run pendulum.mo                       solve it, print a summary\n"
        "  daedal run pendulum.mo -o pendulum.csv       all variables into a table\n"
        "  daedal run pendulum.mo --plot p.svg --vars x,y\n"
        "  daedal run pendulum.mo --set L=2 --start x=2 --stop 20 --rtol 1e-8\n"
        "  daedal run ladder.mo --set n=1000 -o - --vars i | head\n"
        "\n"
        "MODEL is a file in Base Modelica (.mo, .bmo), or the name of a built-in model ('daedal\n"
        "models' lists them). Start, stop, tolerance and interval come from the model's\n"
        "annotation(experiment(..)) unless they are given here.\n"
        "\n"
        "Problem\n"
        "  --set NAME=VALUE     value of a parameter: 3, true, fast, 'v={1,2}', 'v[2]=3', a text;\n"
        "                       repeat for more\n"
        "  --input FILE         inputs follow the columns that have their names; times stand in\n"
        "                       the column 'time', else in the first one; repeat for more\n"
        "  --input NAME=EXPRESSION, --input 'NAME = COLUMN @ FILE'\n"
        "                       an input follows 'sin(time)', or a column of another name\n"
        "  --input-mode MODE    linear, cubic or step: between rows, of the files behind it\n"
        "  --input-hold         of the files behind it the ends hold before and after their times\n"
        "  --allow-external     compile and call the C code of external functions; off, since "
        "such\n"
        "                       code may do whatever this program may\n"
        "  --start NAME=VALUE   start value of a variable, likewise\n"
        "  --start-time T       start of the integration (0)\n"
        "  --stop T             end of the integration (1 after the start)\n"
        "  --size N             size of a built-in model that has one\n"
        "Method\n"
        "  --rtol X, --atol X   relative and absolute tolerance (1e-6; a thousandth of rtol)\n"
        "  --atol-of NAME=X     atol of one variable, an array, or all that fit 'q*'\n"
        "  --rtol-of NAME=X     rtol, likewise\n"
        "  --method NAME        a name from 'daedal methods', or auto\n"
        "  --order K            its order, if it has several\n"
        "  --variant NAME       its variant, as 'thesis': to the letter of its source\n"
        "  --table FILE         a Butcher table of yours in place of its own (hem, herk, prk, "
        "irk)\n"
        "  --formulation NAME   how equations of index above 1 are rewritten: a name from\n"
        "                       'daedal formulations', auto, or residual (not at all)\n"
        "  --petsc WORDS        PETSc takes the steps, also under mpirun, with these of its "
        "options;\n"
        "                       '--engine petsc' does without any\n"
        "  --engine WHAT        auto, tape, native, soon: interpret the equations, compile them "
        "first,\n"
        "                       or beside the run\n"
        "  --herk NAME=X,..     options of method herk: ssc (1: the thesis' step control), beta,\n"
        "                       eps0, h0, tol, ptol, delta, Jopt, Estat, Nopt\n"
        "  --initial-step H     the first step\n"
        "  --max-step H         longest step\n"
        "  --fixed-step H       constant steps, without error control\n"
        "  --steps FILE         exactly these steps: the times at which they end, one a line, or\n"
        "                       their lengths below a line 'steps'; without error control\n"
        "  --max-steps N        give up after N steps; 0, the default, for no limit\n"
        "  --max-order K        highest order\n"
        "  --newton-iterations N  at most so many in an attempt (4, or a method's own number)\n"
        "  --formula 'A;B'      coefficients of multistep:own and oneleg:own, as '1,-1;0.5,0.5'\n"
        "  --small-steps WHAT   numbers of small steps of liex, as 1,2,4; or harmonic (1,2,3,..),\n"
        "                       romberg (1,2,4,8,..), bulirsch (2,3,4,6,8,12,..)\n"
        "  --error-test WHAT    auto, all, differential, filtered: what the error test sees\n"
        "  --projection WHAT    auto, none, position, velocity, both: what methods that project\n"
        "                       move onto the constraints\n"
        "  --baumgarte A[:B]    or auto: Baumgarte's stabilisation (dopri, prk)\n"
        "  --coordinates WHAT   ambient, partitioned, tangent (dopri, prk, bdf, radau)\n"
        "  --invariant NAME     project onto the start value of a variable, as an energy\n"
        "  --watch              do not project: tell its drift with --stats\n"
        "  --output-only        project what is printed; geometric methods step on without\n",
    .more =
        "  --precision WHAT     double, long or quad: the numbers that method taylor computes\n"
        "                       with; csv files and the summary then have all of their digits\n"
        "  --linear-solver WHAT auto, dense, banded, sparse, gmres\n"
        "  --krylov-dimension N vectors of gmres before it restarts (20)\n"
        "  --krylov-kmp N       of these the last N are made orthogonal to a new one (all)\n"
        "  --threads N          threads that share large pieces of work; 1: none, 0 (the "
        "default):\n"
        "                       as many as there are processors, where it pays; same bits for all\n"
        "  --init WHAT          auto, none, differential, derivative: which start values are made\n"
        "                       consistent (a built-in model: none, its values are)\n"
        "Output\n"
        "  -o, --output FILE    all variables into a .csv, .json or .mat file (that OpenModelica\n"
        "                       and Dymola read); - is csv on standard output\n"
        "  --interval DT        a row every DT; 0: at every step (default: 500 intervals; a\n"
        "                       built-in model: every step). Events have two rows of their own\n"
        "  --points N           N times from start to stop, both included\n"
        "  --vars A,B,..        only these variables, in files, plots and the summary: names,\n"
        "                       arrays, patterns 'q*', derivatives 'der(x)'\n"
        "  --plot FILE          draw the solution into a .svg, .png or .pdf file\n"
        "  --log-time           the start and logarithmic times, on a logarithmic axis\n"
        "  --first T            first of the logarithmic times (1e-12 of the interval)\n"
        "  --csv FILE           as -o, in csv whatever the name; - for standard output\n"
        "  --json FILE          likewise in json, with statistics and diagnostic\n"
        "  --history FILE       write every attempted step as csv\n"
        "  --tableau FILE       write the extrapolation tableau of every step of liex as csv\n"
        "  --checkpoint FILE    save the run now and then, so that it can go on if it is killed\n"
        "  --every WHAT         how often: 60s (the default), 10min, 2h, or 500steps\n"
        "  --resume FILE        go on with a run that was saved, all other words as they were\n"
        "  --verify             let a judge say how good the result is: 'daedal help verify'\n"
        "  --stats              print all counters\n"
        "  --quiet              print nothing on success\n"
        "\n"
        "Control-C and failures end the run and still write what it reached.\n"
        "'daedal help' lists the exit codes.\n"
        "Older names: --tend for --stop, --variables for --vars.\n",
    .run = run,
};
