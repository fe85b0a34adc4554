/* The words after `daedal run`. */
#include "outputs.h"
#include "run.h"
#include "sweep.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum option_id {
    OPT_OUTPUT = 'o',
    OPT_SIZE = 256,
    OPT_SET,
    OPT_INPUT,
    OPT_INPUT_MODE,
    OPT_INPUT_HOLD,
    OPT_ALLOW_EXTERNAL,
    OPT_START,
    OPT_START_TIME,
    OPT_ENGINE,
    OPT_PETSC,
    OPT_METHOD,
    OPT_ORDER,
    OPT_VARIANT,
    OPT_HERK,
    OPT_INITIAL_STEP,
    OPT_TABLE,
    OPT_FORMULATION,
    OPT_RTOL,
    OPT_ATOL,
    OPT_ATOL_OF,
    OPT_RTOL_OF,
    OPT_STOP,
    OPT_POINTS,
    OPT_INTERVAL,
    OPT_LOG_TIME,
    OPT_FIRST,
    OPT_CSV,
    OPT_JSON,
    OPT_PLOT,
    OPT_VARIABLES,
    OPT_LINEAR_SOLVER,
    OPT_KRYLOV_DIMENSION,
    OPT_KRYLOV_KMP,
    OPT_MAX_ORDER,
    OPT_MAX_STEPS,
    OPT_SMALL_STEPS,
    OPT_NEWTON,
    OPT_FORMULA,
    OPT_MAX_STEP,
    OPT_FIXED_STEP,
    OPT_STEPS,
    OPT_ERROR_TEST,
    OPT_PROJECTION,
    OPT_BAUMGARTE,
    OPT_COORDINATES,
    OPT_INVARIANT,
    OPT_WATCH,
    OPT_OUTPUT_ONLY,
    OPT_PRECISION,
    OPT_THREADS,
    OPT_INIT,
    OPT_STATS,
    OPT_HISTORY,
    OPT_TABLEAU,
    OPT_CHECKPOINT,
    OPT_EVERY,
    OPT_RESUME,
    OPT_VERIFY,
    OPT_JUDGE,
    OPT_LIMIT,
    OPT_THOROUGH,
    OPT_ALL,
    OPT_BY,
    OPT_GRADIENT,
    OPT_ADJOINT,
    OPT_CHECKPOINTS,
    OPT_MEMORY,
    OPT_OF,
    OPT_RELATIVE,
    OPT_CORRECTOR,
    OPT_FIT,
    OPT_SIGMA,
    OPT_IGNORE,
    OPT_LOSS,
    OPT_LOSS_SCALE,
    OPT_ITERATIONS,
    OPT_FIT_TOLERANCE,
    OPT_SET_FILE,
    OPT_OVER,
    OPT_GRID,
    OPT_LIST,
    OPT_SAMPLE,
    OPT_SEED,
    OPT_KEEP,
    OPT_RUNS,
    OPT_JOBS,
    OPT_GO_ON,
    OPT_END,
    OPT_FREE,
    OPT_GUESS,
    OPT_INTERVALS,
    OPT_STAGES,
    OPT_MAX_INTERVALS,
    OPT_CONTROL,
    OPT_VARY,
    OPT_MINIMISE,
    OPT_MAXIMISE,
    OPT_INTEGRAL,
    OPT_PATH,
    OPT_BOUNDS,
    OPT_QUIET
};

static const struct option long_options[] = {
    {"set", required_argument, NULL, OPT_SET},
    {"input", required_argument, NULL, OPT_INPUT},
    {"input-mode", required_argument, NULL, OPT_INPUT_MODE},
    {"input-hold", no_argument, NULL, OPT_INPUT_HOLD},
    {"allow-external", no_argument, NULL, OPT_ALLOW_EXTERNAL},
    {"start", required_argument, NULL, OPT_START},
    {"start-time", required_argument, NULL, OPT_START_TIME},
    {"stop", required_argument, NULL, OPT_STOP},
    {"tend", required_argument, NULL, OPT_STOP}, /* the old name */
    {"engine", required_argument, NULL, OPT_ENGINE},
    {"petsc", required_argument, NULL, OPT_PETSC},
    {"output", required_argument, NULL, OPT_OUTPUT},
    {"size", required_argument, NULL, OPT_SIZE},
    {"method", required_argument, NULL, OPT_METHOD},
    {"order", required_argument, NULL, OPT_ORDER},
    {"variant", required_argument, NULL, OPT_VARIANT},
    {"table", required_argument, NULL, OPT_TABLE},
    {"herk", required_argument, NULL, OPT_HERK},
    {"formulation", required_argument, NULL, OPT_FORMULATION},
    {"rtol", required_argument, NULL, OPT_RTOL},
    {"atol", required_argument, NULL, OPT_ATOL},
    {"atol-of", required_argument, NULL, OPT_ATOL_OF},
    {"rtol-of", required_argument, NULL, OPT_RTOL_OF},
    {"points", required_argument, NULL, OPT_POINTS},
    {"interval", required_argument, NULL, OPT_INTERVAL},
    {"log-time", no_argument, NULL, OPT_LOG_TIME},
    {"first", required_argument, NULL, OPT_FIRST},
    {"csv", required_argument, NULL, OPT_CSV},
    {"json", required_argument, NULL, OPT_JSON},
    {"plot", required_argument, NULL, OPT_PLOT},
    {"vars", required_argument, NULL, OPT_VARIABLES},
    {"variables", required_argument, NULL, OPT_VARIABLES}, /* the old name */
    {"linear-solver", required_argument, NULL, OPT_LINEAR_SOLVER},
    {"krylov-dimension", required_argument, NULL, OPT_KRYLOV_DIMENSION},
    {"krylov-kmp", required_argument, NULL, OPT_KRYLOV_KMP},
    {"max-order", required_argument, NULL, OPT_MAX_ORDER},
    {"max-steps", required_argument, NULL, OPT_MAX_STEPS},
    {"newton-iterations", required_argument, NULL, OPT_NEWTON},
    {"formula", required_argument, NULL, OPT_FORMULA},
    {"small-steps", required_argument, NULL, OPT_SMALL_STEPS},
    {"max-step", required_argument, NULL, OPT_MAX_STEP},
    {"fixed-step", required_argument, NULL, OPT_FIXED_STEP},
    {"initial-step", required_argument, NULL, OPT_INITIAL_STEP},
    {"steps", required_argument, NULL, OPT_STEPS},
    {"error-test", required_argument, NULL, OPT_ERROR_TEST},
    {"projection", required_argument, NULL, OPT_PROJECTION},
    {"baumgarte", required_argument, NULL, OPT_BAUMGARTE},
    {"coordinates", required_argument, NULL, OPT_COORDINATES},
    {"invariant", required_argument, NULL, OPT_INVARIANT},
    {"watch", no_argument, NULL, OPT_WATCH},
    {"output-only", no_argument, NULL, OPT_OUTPUT_ONLY},
    {"precision", required_argument, NULL, OPT_PRECISION},
    {"threads", required_argument, NULL, OPT_THREADS},
    {"init", required_argument, NULL, OPT_INIT},
    {"stats", no_argument, NULL, OPT_STATS},
    {"history", required_argument, NULL, OPT_HISTORY},
    {"tableau", required_argument, NULL, OPT_TABLEAU},
    {"checkpoint", required_argument, NULL, OPT_CHECKPOINT},
    {"every", required_argument, NULL, OPT_EVERY},
    {"resume", required_argument, NULL, OPT_RESUME},
    {"verify", no_argument, NULL, OPT_VERIFY},
    {"judge", required_argument, NULL, OPT_JUDGE},
    {"limit", required_argument, NULL, OPT_LIMIT},
    {"thorough", no_argument, NULL, OPT_THOROUGH},
    {"all", no_argument, NULL, OPT_ALL},
    {"by", required_argument, NULL, OPT_BY},
    {"gradient", required_argument, NULL, OPT_GRADIENT},
    {"adjoint", required_argument, NULL, OPT_ADJOINT},
    {"checkpoints", required_argument, NULL, OPT_CHECKPOINTS},
    {"memory", required_argument, NULL, OPT_MEMORY},
    {"of", required_argument, NULL, OPT_OF},
    {"relative", no_argument, NULL, OPT_RELATIVE},
    {"corrector", required_argument, NULL, OPT_CORRECTOR},
    {"fit", required_argument, NULL, OPT_FIT},
    {"sigma", required_argument, NULL, OPT_SIGMA},
    {"ignore", required_argument, NULL, OPT_IGNORE},
    {"loss", required_argument, NULL, OPT_LOSS},
    {"loss-scale", required_argument, NULL, OPT_LOSS_SCALE},
    {"iterations", required_argument, NULL, OPT_ITERATIONS},
    {"fit-tolerance", required_argument, NULL, OPT_FIT_TOLERANCE},
    {"set-file", required_argument, NULL, OPT_SET_FILE},
    {"over", required_argument, NULL, OPT_OVER},
    {"grid", no_argument, NULL, OPT_GRID},
    {"list", required_argument, NULL, OPT_LIST},
    {"sample", required_argument, NULL, OPT_SAMPLE},
    {"seed", required_argument, NULL, OPT_SEED},
    {"keep", required_argument, NULL, OPT_KEEP},
    {"runs", required_argument, NULL, OPT_RUNS},
    {"jobs", required_argument, NULL, OPT_JOBS},
    {"resume", no_argument, NULL, OPT_GO_ON},
    {"end", required_argument, NULL, OPT_END},
    {"free", required_argument, NULL, OPT_FREE},
    {"guess", required_argument, NULL, OPT_GUESS},
    {"intervals", required_argument, NULL, OPT_INTERVALS},
    {"stages", required_argument, NULL, OPT_STAGES},
    {"max-intervals", required_argument, NULL, OPT_MAX_INTERVALS},
    {"control", required_argument, NULL, OPT_CONTROL},
    {"vary", required_argument, NULL, OPT_VARY},
    {"minimise", required_argument, NULL, OPT_MINIMISE},
    {"minimize", required_argument, NULL, OPT_MINIMISE},
    {"maximise", required_argument, NULL, OPT_MAXIMISE},
    {"maximize", required_argument, NULL, OPT_MAXIMISE},
    {"integral", required_argument, NULL, OPT_INTEGRAL},
    {"path", required_argument, NULL, OPT_PATH},
    {"bounds", no_argument, NULL, OPT_BOUNDS},
    {"quiet", no_argument, NULL, OPT_QUIET},
    {NULL, 0, NULL, 0},
};

/* ---- options ----------------------------------------------------------------------------------
 */

/* Names in the order of the enum they stand for. */
static const char *const linear_solver_names[] = {"auto",   "dense", "banded",
                                                  "sparse", "gmres", NULL};
static const char *const error_test_names[] = {"auto", "all", "differential", "filtered", NULL};
static const char *const projection_names[] = {"auto",     "none", "position",
                                               "velocity", "both", NULL};

static const char *const coordinates_names[] = {"ambient", "partitioned", "tangent", NULL};
static const char *const precision_names[] = {"double", "long", "quad", NULL};
static const char *const init_names[] = {"auto", "none", "differential", "derivative", NULL};

static const char *const adjoint_names[] = {"discrete", "continuous", NULL};
static const char *const loss_names[] = {"squares", "huber", "cauchy", NULL};
static const char *const corrector_names[] = {"staggered", "simultaneous", NULL};
/* As dae_engine has them; then PETSc, which is none of equations but of steps. */
enum { ENGINE_PETSC = 4 };
static const char *const engine_names[] = {"auto", "tape", "native", "soon", "petsc", NULL};

static const char *word_of(int i, const void *user)
{
    return ((const char *const *)user)[i];
}

/* *value = the place of word in names; see: where they are told */
static int choose_of(const char *option, const char *word, const char *const *names, int *value,
                     const char *see)
{
    for (int i = 0; names[i]; i++)
        if (strcmp(names[i], word) == 0) {
            *value = i;
            return CLI_OK;
        }
    return complain_unknown(option, word, word_of, names, see);
}

static int choose(const char *option, const char *word, const char *const *names, int *value)
{
    return choose_of(option, word, names, value, "see 'daedal help run'");
}

/* Families, and after them their members and the names of earlier versions, one after the other. */
static const char *method_name(int i, const void *user)
{
    (void)user;
    if (i == 0) return "auto";
    dae_method_info info = dae_method_at((i - 1) / 3);
    const char *const names[] = {info.family, info.name, info.old_name};
    return names[(i - 1) % 3];
}

/* The name is checked here; whether it has the order and the variant, by the library. */
static int choose_method(const char *word, const char **method)
{
    size_t length = strcspn(word, ":");
    *method = word;
    for (int i = 0; method_name(i, NULL); i++) {
        const char *name = method_name(i, NULL);
        if (strlen(name) == length && strncmp(name, word, length) == 0) return CLI_OK;
    }
    return complain_unknown("method", word, method_name, NULL, "see 'daedal methods'");
}

static const char *formulation_name(int i, const void *user)
{
    (void)user;
    return i == 0 ? "auto" : i == 1 ? "residual" : dae_formulation_name(i - 2);
}

/* The name is checked here, a parameter behind a colon by the library. */
static int choose_formulation(const char *word, dae_options *options)
{
    size_t length = strcspn(word, ":");
    options->formulation = word;
    for (int i = 0; formulation_name(i, NULL); i++)
        if (strlen(formulation_name(i, NULL)) == length &&
            strncmp(formulation_name(i, NULL), word, length) == 0)
            return CLI_OK;
    return complain_unknown("formulation", word, formulation_name, NULL,
                            "see 'daedal formulations'");
}

static const char *option_text(int id)
{
    for (int i = 0; long_options[i].name; i++)
        if (long_options[i].val == id) return long_options[i].name;
    return "?";
}

/* A number above a limit (or equal, if allowed). */
static int read_number(int id, const char *text, double limit, bool equal_too, double *value)
{
    if (parse_double(text, value) && (*value > limit || (equal_too && *value == limit)))
        return CLI_OK;
    if (isinf(limit))
        return complain(CLI_USAGE, "option '--%s' needs a finite number, not '%s'", option_text(id),
                        text);
    return complain(CLI_USAGE, "option '--%s' needs a finite number %s %g, not '%s'",
                    option_text(id), equal_too ? "of at least" : "above", limit, text);
}

static int read_whole(int id, const char *text, long low, long high, long *value)
{
    if (parse_long(text, value) && *value >= low && *value <= high) return CLI_OK;
    if (high == LONG_MAX)
        return complain(CLI_USAGE, "option '--%s' needs a whole number of at least %ld, not '%s'",
                        option_text(id), low, text);
    return complain(CLI_USAGE, "option '--%s' needs a whole number from %ld to %ld, not '%s'",
                    option_text(id), low, high, text);
}

static int set_grid(request *r, grid_kind kind)
{
    if (r->every_step || (r->output.kind != GRID_STEPS && r->output.kind != kind))
        return complain(CLI_USAGE, "options '--points' and '--interval' exclude each other");
    r->output.kind = kind;
    return CLI_OK;
}

/* A file for one kind of result; a second one would be left out. */
static int take_path(const char **slot, const char *kind, const char *path)
{
    if (*slot)
        return complain(CLI_USAGE, "two files for the %s, '%s' and '%s'; give one", kind, *slot,
                        path);
    *slot = path;
    return CLI_OK;
}

/* -o: the format follows from the name */
static int read_output(request *r, const char *path)
{
    if (r->command == &sweep_command && (same_ending(path, ".h5") || same_ending(path, ".hdf5")))
        return take_path(&r->sweep.hdf5, "HDF5", path);
    if (strcmp(path, "-") == 0 || same_ending(path, ".csv")) return take_path(&r->csv, "csv", path);
    if (same_ending(path, ".json")) return take_path(&r->json, "json", path);
    if (same_ending(path, ".mat")) return take_path(&r->mat, "mat", path);
    return complain(
        CLI_USAGE, "the format of '%s' is unclear: its name must end in .csv, .json%s .mat%s", path,
        r->command == &sweep_command ? "," : " or", r->command == &sweep_command ? " or .h5" : "");
}

static int read_interval(request *r, const char *text)
{
    if (set_grid(r, GRID_INTERVAL) != CLI_OK) return CLI_USAGE;
    int status = read_number(OPT_INTERVAL, text, 0.0, true, &r->output.interval);
    r->every_step = status == CLI_OK && r->output.interval == 0.0;
    if (r->every_step) r->output.kind = GRID_STEPS;
    return status;
}

/* Words of `fit`. */
static int read_fit_option(fit_request *f, int id, const char *text)
{
    switch (id) {
    case OPT_FIT: return settings_push(&f->parameters, text);
    case OPT_SIGMA: return settings_add(&f->sigmas, "sigma", text);
    case OPT_IGNORE: return settings_push(&f->ignored, text);
    case OPT_LOSS: return choose_of("loss", text, loss_names, &f->loss, "see 'daedal help fit'");
    case OPT_LOSS_SCALE: return read_number(id, text, 0.0, false, &f->scale);
    case OPT_FIT_TOLERANCE: return read_number(id, text, 0.0, false, &f->tolerance);
    case OPT_ITERATIONS: return read_whole(id, text, 1, INT_MAX, &f->iterations);
    default: return take_path(&f->words, "settings", text);
    }
}

static int read_output_option(request *r, int id, const char *text)
{
    switch (id) {
    case OPT_FIT:
    case OPT_SIGMA:
    case OPT_IGNORE:
    case OPT_LOSS:
    case OPT_LOSS_SCALE:
    case OPT_FIT_TOLERANCE:
    case OPT_ITERATIONS:
    case OPT_SET_FILE:
        if (id == OPT_ITERATIONS && r->command == &optimise_command)
            return read_whole(id, text, 1, INT_MAX, &r->optimise.iterations);
        r->fit.given = option_text(id);
        return read_fit_option(&r->fit, id, text);
    case OPT_POINTS:
        if (set_grid(r, GRID_LINEAR) != CLI_OK) return CLI_USAGE;
        return read_whole(id, text, 2, 100000000, &r->output.count);
    case OPT_INTERVAL: return read_interval(r, text);
    case OPT_OUTPUT: return read_output(r, text);
    case OPT_LOG_TIME: r->log_time = true; return CLI_OK;
    case OPT_FIRST: return read_number(id, text, 0.0, false, &r->output.first);
    case OPT_CSV: return take_path(&r->csv, "csv", text);
    case OPT_JSON: return take_path(&r->json, "json", text);
    case OPT_PLOT: return take_path(&r->plot, "plot", text);
    case OPT_VARIABLES: r->variables = text; return CLI_OK;
    case OPT_HISTORY: return take_path(&r->history, "history", text);
    case OPT_TABLEAU: return take_path(&r->tableau, "tableau", text);
    case OPT_CHECKPOINT: return take_path(&r->saves.path, "checkpoint", text);
    case OPT_EVERY: return checkpoint_every(&r->saves, text);
    case OPT_RESUME: return take_path(&r->saves.resume, "checkpoint to resume from", text);
    case OPT_VERIFY: r->verify = true; return CLI_OK;
    case OPT_LIMIT: return read_number(id, text, 0.0, false, &r->limit);
    case OPT_THOROUGH: r->thorough = true; return CLI_OK;
    case OPT_ALL: r->all = true; return CLI_OK;
    case OPT_BY: return settings_push(&r->by, text);
    case OPT_GRADIENT: return settings_push(&r->gradients, text);
    case OPT_ADJOINT:
        r->adjoint_given = true;
        return choose_of("adjoint", text, adjoint_names, &r->adjoint, "see 'daedal help sens'");
    case OPT_CHECKPOINTS: return read_whole(id, text, 2, INT_MAX, &r->checkpoints);
    case OPT_MEMORY: return read_number(id, text, 0.0, false, &r->memory);
    case OPT_RELATIVE: r->relative = true; return CLI_OK;
    case OPT_CORRECTOR:
        r->corrector_given = true;
        return choose_of("corrector", text, corrector_names, &r->corrector,
                         "see 'daedal help sens'");
    case OPT_OF:
        r->of_given = true;
        r->variables = text;
        return CLI_OK;
    case OPT_STATS: r->stats = r->options.watch_constraints = true; return CLI_OK;
    default: r->quiet = true; return CLI_OK;
    }
}

/* Words of 'daedal optimise'. */
static int read_optimise_option(request *r, int id, const char *text)
{
    optimise_words *o = &r->optimise;
    o->given = option_text(id);
    switch (id) {
    case OPT_CONTROL: return settings_push(&o->controls, text);
    case OPT_VARY: return settings_push(&o->varied, text);
    case OPT_MINIMISE: return take_path(&o->minimise, "objective", text);
    case OPT_MAXIMISE: return take_path(&o->maximise, "objective", text);
    case OPT_INTEGRAL: return take_path(&o->integral, "integral", text);
    case OPT_PATH: return settings_push(&o->path, text);
    default: o->bounds = true; return CLI_OK;
    }
}

/* Words of 'daedal bvp'. */
static int read_boundary_option(request *r, int id, const char *text)
{
    switch (id) {
    case OPT_END: return settings_push(&r->ends, text);
    case OPT_FREE: return settings_push(&r->free, text);
    case OPT_GUESS: return take_path(&r->guess, "guess", text);
    case OPT_INTERVALS: return read_whole(id, text, 1, 1000000, &r->intervals);
    case OPT_STAGES: return read_whole(id, text, 1, 7, &r->stages);
    case OPT_MAX_INTERVALS: return read_whole(id, text, 1, 10000000, &r->max_intervals);
    case OPT_CONTROL:
    case OPT_VARY:
    case OPT_MINIMISE:
    case OPT_MAXIMISE:
    case OPT_INTEGRAL:
    case OPT_PATH:
    case OPT_BOUNDS: return read_optimise_option(r, id, text);
    default: return read_output_option(r, id, text);
    }
}

static int read_seed(const char *text, unsigned long long *seed)
{
    char *end;
    bool digits = text[0] >= '0' && text[0] <= '9';
    errno = 0;
    *seed = strtoull(text, &end, 10);
    if (digits && *end == '\0' && errno == 0) return CLI_OK;
    return complain(CLI_USAGE, "option '--seed' needs a whole number from 0 to 2^64 - 1, not '%s'",
                    text);
}

/* Words of 'daedal sweep'. */
static int read_sweep_option(request *r, int id, const char *text)
{
    sweep_request *w = &r->sweep;
    if (id >= OPT_OVER && id <= OPT_GO_ON) w->given = option_text(id);
    switch (id) {
    case OPT_OVER: return settings_push(&w->over, text);
    case OPT_LIST: return settings_push(&w->lists, text);
    case OPT_GRID: w->grid = true; return CLI_OK;
    case OPT_SAMPLE: return read_whole(id, text, 1, SWEEP_MOST_POINTS, &w->sample);
    case OPT_SEED: return read_seed(text, &w->seed);
    case OPT_KEEP:
        if (w->keep) return complain(CLI_USAGE, "give one '--keep', with a list: 'end,max(x)'");
        w->keep = text;
        return CLI_OK;
    case OPT_RUNS: return take_path(&w->runs, "runs", text);
    case OPT_JOBS: return read_whole(id, text, 1, 1024, &w->jobs);
    case OPT_GO_ON: w->resume = true; return CLI_OK;
    default: return read_boundary_option(r, id, text);
    }
}

/* What decides about the numbers of a sweep goes into a hash, with the files that words name. */
static void note_word(request *r, int id, const char *text)
{
    static const int neutral[] = {OPT_OUTPUT, OPT_CSV,   OPT_JSON,  OPT_PLOT,
                                  OPT_JOBS,   OPT_GO_ON, OPT_QUIET, OPT_STATS};
    for (size_t k = 0; k < sizeof neutral / sizeof *neutral; k++)
        if (id == neutral[k]) return;
    const char *name = option_text(id), *at = text ? strrchr(text, '@') : NULL;
    uint64_t hash = sweep_hash(r->sweep.words, name, strlen(name));
    if (text) hash = sweep_hash(hash, text, strlen(text));
    if (text) hash = sweep_hash_file(hash, text);
    if (at) hash = sweep_hash_file(hash, at + 1 + strspn(at + 1, " "));
    r->sweep.words = hash;
}

/* Options with a word from a list. */
static int read_choice(request *r, int id, const char *text)
{
    int choice = 0, status = CLI_OK;
    switch (id) {
    case OPT_LINEAR_SOLVER:
        status = choose("linear solver", text, linear_solver_names, &choice);
        r->options.linear_solver = (dae_linear_solver)choice;
        return status;
    case OPT_ERROR_TEST:
        status = choose("error test", text, error_test_names, &choice);
        r->options.error_test = (dae_error_test)choice;
        return status;
    case OPT_PROJECTION:
        status = choose("projection", text, projection_names, &choice);
        r->options.projection = (dae_projection)choice;
        return status;
    case OPT_COORDINATES:
        status = choose("coordinates", text, coordinates_names, &choice);
        r->options.coordinates = (dae_coordinates)choice;
        return status;
    case OPT_PRECISION:
        status = choose("precision", text, precision_names, &choice);
        r->options.precision = (dae_precision)choice;
        return status;
    case OPT_INIT:
        status = choose("initialisation", text, init_names, &choice);
        r->options.init = (dae_init)choice;
        r->init_given = true;
        return status;
    case OPT_ENGINE:
        status = choose("engine", text, engine_names, &choice);
        if (choice == ENGINE_PETSC)
            r->petsc = r->petsc ? r->petsc : "";
        else
            r->engine = (dae_engine)choice;
        r->engine_given = true;
        return status;
    case OPT_JUDGE: return choose_method(text, &r->judge);
    default:
        r->boundary_method = text; /* a name of its own */
        return r->command == &bvp_command ? CLI_OK : choose_method(text, &r->options.method);
    }
}

/* --baumgarte auto, ALPHA or ALPHA:BETA */
static int read_baumgarte(request *r, const char *text)
{
    char alpha[64];
    const char *colon = strchr(text, ':');
    size_t length = colon ? (size_t)(colon - text) : strlen(text);
    r->options.baumgarte = true;
    if (strcmp(text, "auto") == 0) return CLI_OK;
    if (length >= sizeof alpha) length = sizeof alpha - 1;
    memcpy(alpha, text, length);
    alpha[length] = '\0';
    int status = read_number(OPT_BAUMGARTE, alpha, 0.0, false, &r->options.baumgarte_alpha);
    if (status != CLI_OK || !colon) return status;
    return read_number(OPT_BAUMGARTE, colon + 1, 0.0, false, &r->options.baumgarte_beta);
}

/* --table FILE: coefficients of the user; the library checks them with the method. */
static int read_table(request *r, const char *path)
{
    dae_diag diag = {0};
    if (dae_table_from_file(path, &r->table, &diag) == DAE_OK) {
        r->options.table = &r->table;
        return CLI_OK;
    }
    if (diag.status == DAE_ERR_FILE) return complain(CLI_USAGE, "%s", diag.text);
    return complain(CLI_USAGE, "%s: %s", path, diag.text);
}

enum { MOST_SMALL = sizeof((dae_options){0}.small_steps) / sizeof(int) };

/* --small-steps harmonic, romberg, bulirsch, or numbers "1,2,4"; that they increase is checked by
 * the library. */
static int read_small_steps(const char *text, int *steps)
{
    static const char *const names[] = {"harmonic", "romberg", "bulirsch"};
    static const int known[][MOST_SMALL] = {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10},
                                            {1, 2, 4, 8, 16, 32, 64, 128, 256, 512},
                                            {2, 3, 4, 6, 8, 12, 16, 24, 32, 48}};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (strcmp(names[k], text) == 0) {
            memcpy(steps, known[k], sizeof known[k]);
            return CLI_OK;
        }
    const char *at = text;
    for (int i = 0; i < MOST_SMALL; i++) {
        char *end;
        long number = strtol(at, &end, 10);
        if (end == at || number < 1 || number > INT_MAX || (*end && *end != ',')) break;
        steps[i] = (int)number;
        if (!*end) return CLI_OK;
        at = end + 1;
    }
    return complain(CLI_USAGE,
                    "option '--small-steps' needs harmonic, romberg, bulirsch, or up to %d numbers "
                    "as 1,2,4; not '%s'",
                    MOST_SMALL, text);
}

enum { MOST_FORMULA = sizeof((dae_options){0}.formula_a) / sizeof(double) };

/* Numbers "1,-1" up to the character `end`. How many; 0: that is no list of numbers. */
static int read_numbers(const char *text, char end, double *numbers, const char **rest)
{
    for (int count = 1; count <= MOST_FORMULA; count++) {
        char *stop;
        numbers[count - 1] = strtod(text, &stop);
        if (stop == text || !isfinite(numbers[count - 1])) return 0;
        *rest = stop;
        if (*stop == end) return count;
        if (*stop != ',') return 0;
        text = stop + 1;
    }
    return 0;
}

/* --formula 'a_0,a_1,..;b_0,b_1,..'; that it is stable is checked by the library. */
static int read_formula(const char *text, dae_options *o)
{
    const char *rest = text;
    int a = read_numbers(text, ';', o->formula_a, &rest);
    int b = a > 0 ? read_numbers(rest + 1, '\0', o->formula_b, &rest) : 0;
    o->formula_steps = a - 1;
    if (a >= 2 && a == b) return CLI_OK;
    return complain(
        CLI_USAGE,
        "option '--formula' needs two to %d numbers a and as many b, as '1,-1;0.5,0.5'; "
        "not '%s'",
        MOST_FORMULA, text);
}

static int add_invariant(request *r, const char *name)
{
    if (r->options.invariant_count == MOST_INVARIANTS)
        return complain(CLI_USAGE, "more than %d invariants", MOST_INVARIANTS);
    r->invariants[r->options.invariant_count++] = name;
    r->options.invariants = r->invariants;
    return CLI_OK;
}

/* A whole number of at least `least` into an int. */
static int read_int(int id, const char *text, long least, long most, int *number)
{
    long whole = *number;
    int status = read_whole(id, text, least, most, &whole);
    *number = (int)whole;
    return status;
}

/* Options of the method: which one, its orders, matrices and forms. */
static int read_method_option(request *r, int id, const char *text)
{
    dae_options *o = &r->options;
    switch (id) {
    case OPT_MAX_ORDER: return read_int(id, text, 1, 100, &o->max_order);
    case OPT_ORDER: return read_int(id, text, 1, 100, &o->order);
    case OPT_NEWTON: return read_int(id, text, 1, 1000, &o->newton_iterations);
    case OPT_KRYLOV_DIMENSION: return read_int(id, text, 1, INT_MAX, &o->krylov_dimension);
    case OPT_KRYLOV_KMP: return read_int(id, text, 1, INT_MAX, &o->krylov_orthogonal);
    case OPT_THREADS: return read_int(id, text, 0, 64, &o->threads);
    case OPT_VARIANT: o->variant = text; return CLI_OK;
    case OPT_HERK: return herk_read(r, text);
    case OPT_TABLE: return read_table(r, text);
    case OPT_FORMULATION: return choose_formulation(text, o);
    case OPT_BAUMGARTE: return read_baumgarte(r, text);
    case OPT_FORMULA: return read_formula(text, o);
    case OPT_SMALL_STEPS: return read_small_steps(text, o->small_steps);
    case OPT_INVARIANT: return add_invariant(r, text);
    case OPT_WATCH: o->watch_invariants = true; return CLI_OK;
    case OPT_OUTPUT_ONLY: o->invariants_in_output = true; return CLI_OK;
    case OPT_METHOD:
    case OPT_PROJECTION:
    case OPT_COORDINATES:
    case OPT_PRECISION:
    case OPT_LINEAR_SOLVER:
    case OPT_ERROR_TEST:
    case OPT_INIT:
    case OPT_JUDGE:
    case OPT_ENGINE: return read_choice(r, id, text);
    case OPT_PETSC: r->petsc = text; return CLI_OK;
    default: return read_sweep_option(r, id, text);
    }
}

/* Options of the problem, its interval, tolerances and steps; then all others. */
static int read_option(request *r, int id, const char *text)
{
    switch (id) {
    case OPT_SIZE: return read_whole(id, text, 1, INT_MAX, &r->size);
    case OPT_SET: return settings_add(&r->parameters, "set", text);
    case OPT_INPUT: return inputs_add(&r->driven, text);
    case OPT_INPUT_MODE: return inputs_mode(&r->driven, text);
    case OPT_INPUT_HOLD: r->driven.hold = true; return CLI_OK;
    case OPT_ALLOW_EXTERNAL: r->allow_external = true; return CLI_OK;
    case OPT_START: return settings_add(&r->starts, "start", text);
    case OPT_START_TIME: return read_number(id, text, -HUGE_VAL, false, &r->start);
    case OPT_STOP: return read_number(id, text, -HUGE_VAL, false, &r->stop);
    case OPT_RTOL: return read_number(id, text, 0.0, true, &r->rtol);
    case OPT_ATOL: return read_number(id, text, 0.0, true, &r->atol);
    case OPT_ATOL_OF: return settings_add(&r->atols, "atol-of", text);
    case OPT_RTOL_OF: return settings_add(&r->rtols, "rtol-of", text);
    case OPT_FIXED_STEP: return read_number(id, text, 0.0, false, &r->options.fixed_step);
    case OPT_STEPS: return take_path(&r->steps, "steps", text);
    case OPT_MAX_STEP: return read_number(id, text, 0.0, false, &r->options.max_step);
    case OPT_MAX_STEPS: return read_whole(id, text, 0, LONG_MAX, &r->max_steps);
    case OPT_INITIAL_STEP: return read_number(id, text, 0.0, false, &r->options.initial_step);
    default: return read_method_option(r, id, text);
    }
}

static int check_invariants(const request *r)
{
    const dae_options *o = &r->options;
    bool none = o->invariant_count == 0;
    if (o->watch_invariants && none)
        return complain(CLI_USAGE,
                        "option '--watch' needs '--invariant', which tells what to watch");
    if (o->invariants_in_output && none)
        return complain(CLI_USAGE, "option '--output-only' needs '--invariant', which tells what "
                                   "to project onto");
    if (o->invariants_in_output && o->watch_invariants)
        return complain(CLI_USAGE, "options '--output-only' and '--watch' exclude each other");
    return CLI_OK;
}

/* A first step where all steps are given says nothing. */
static int check_first_step(const request *r)
{
    const dae_options *o = &r->options;
    if (o->initial_step == 0.0 || (o->fixed_step == 0.0 && !r->steps)) return CLI_OK;
    return complain(CLI_USAGE, "options '--initial-step' and '--%s' exclude each other",
                    r->steps ? "steps" : "fixed-step");
}

/* Words that other commands have no use for. */
static int check_sensitivities(const request *r)
{
    if (r->sweep.given && r->command != &sweep_command)
        return complain(CLI_USAGE, "option '--%s' is for 'daedal sweep'", r->sweep.given);
    const char *word = r->by.count > 0 && r->command != &sweep_command ? "--by"
                       : r->gradients.count > 0                        ? "--gradient"
                       : r->adjoint_given                              ? "--adjoint"
                       : r->checkpoints > 0                            ? "--checkpoints"
                       : r->memory > 0.0                               ? "--memory"
                       : r->of_given                                   ? "--of"
                       : r->relative                                   ? "--relative"
                       : r->corrector_given                            ? "--corrector"
                                                                       : NULL;
    if (r->fit.given && r->command != &fit_command)
        return complain(CLI_USAGE, "option '--%s' is for 'daedal fit'", r->fit.given);
    bool way = r->command == &optimise_command && !r->of_given && !r->relative &&
               !r->corrector_given && !r->adjoint_given && !r->checkpoints && !(r->memory > 0.0);
    if (!word || r->command == &sens_command || way) return CLI_OK;
    return complain(CLI_USAGE, "option '%s' is for 'daedal sens'", word);
}

static int check_boundary(const request *r)
{
    const char *word = r->ends.count > 0      ? "--end"
                       : r->free.count > 0    ? "--free"
                       : r->guess             ? "--guess"
                       : r->intervals > 0     ? "--intervals"
                       : r->stages > 0        ? "--stages"
                       : r->max_intervals > 0 ? "--max-intervals"
                                              : NULL;
    if (r->optimise.given && r->command != &optimise_command)
        return complain(CLI_USAGE, "option '--%s' is for 'daedal optimise'", r->optimise.given);
    if (!word || r->command == &bvp_command) return CLI_OK;
    if (r->command == &optimise_command && r->free.count == 0) return CLI_OK;
    return complain(CLI_USAGE, "option '%s' is for 'daedal bvp'", word);
}

/* Checkpoints are those of runs; of steps and tableaus nothing is kept. */
static int check_saves(const request *r)
{
    const checkpoint_words *w = &r->saves;
    const char *word = w->path ? "--checkpoint" : w->resume ? "--resume" : "--every";
    if (!w->path && !w->resume && w->seconds == 0.0 && w->steps == 0) return CLI_OK;
    if (r->command != &run_command)
        return complain(CLI_USAGE, "option '%s' is for 'daedal run'", word);
    if (r->history || r->tableau)
        return complain(CLI_USAGE, "options '%s' and '--%s' exclude each other", word,
                        r->history ? "history" : "tableau");
    return checkpoint_check(w);
}

/* PETSc takes the steps of runs alone. */
static int check_petsc(const request *r)
{
    if (!r->petsc || r->command == &run_command) return CLI_OK;
    return complain(CLI_USAGE, "option '%s' is for 'daedal run'",
                    *r->petsc ? "--petsc" : "--engine petsc");
}

enum { OPTIONS = sizeof long_options / sizeof *long_options };

/* The options as a command has them: '--resume' of a sweep goes without a file. */
static void options_of(const command *of, struct option *list)
{
    const int other = of == &sweep_command ? OPT_RESUME : OPT_GO_ON;
    int count = 0;
    for (int i = 0; i < OPTIONS; i++)
        if (!long_options[i].name || long_options[i].val != other) list[count++] = long_options[i];
}

/* What is drawn, NAME=DISTRIBUTION(..), wherever it stands: the model comes first in argv. */
static int take_samples(request *r, int argc, char **argv)
{
    char *text = NULL;
    for (int k = optind; k < argc; k++) {
        const char *equals = strchr(argv[k], '=');
        bool drawn = equals && strchr(equals, '(');
        if (!drawn && text) return complain_word(argv[k]);
        if (!drawn) text = argv[k];
        if (drawn && settings_push(&r->sweep.samples, argv[k]) != CLI_OK) return CLI_FAILED;
        if (drawn) note_word(r, OPT_SAMPLE, argv[k]);
    }
    if (!text) return complain(CLI_USAGE, "which model? (see 'daedal help sweep')");
    argv[optind] = text;
    return CLI_OK;
}

int request_read(const command *of, int argc, char **argv, request *r)
{
    int id;
    struct option list[OPTIONS];
    *r = (request){.command = of,
                   .options = dae_options_default(),
                   .rtol = NAN,
                   .atol = NAN,
                   .start = NAN,
                   .stop = NAN,
                   .sweep = {.seed = 1}};
    options_of(of, list);
    opterr = 0;
    optind = 1;
    while ((id = getopt_long(argc, argv, ":o:", list, NULL)) != -1) {
        int status = id == '?' || id == ':' ? complain_option(r->command, argv, id, list)
                                            : read_option(r, id, optarg);
        if (status == CLI_OK && of == &sweep_command) note_word(r, id, optarg);
        if (status != CLI_OK) return status;
    }
    if (optind == argc)
        return complain(CLI_USAGE,
                        "which model? (a .mo file, or a name that 'daedal models' lists; "
                        "see 'daedal help %s')",
                        r->command->name);
    if (r->command == &fit_command) {
        r->fit.files = argv + optind + 1;
        r->fit.file_count = argc - optind - 1;
    } else if (r->command == &sweep_command) {
        if (take_samples(r, argc, argv) != CLI_OK) return CLI_USAGE;
    } else if (optind + 1 < argc) {
        return complain_word(argv[optind + 1]);
    }
    if (check_first_step(r) != CLI_OK || check_sensitivities(r) != CLI_OK) return CLI_USAGE;
    if (check_boundary(r) != CLI_OK || check_saves(r) != CLI_OK) return CLI_USAGE;
    if (check_petsc(r) != CLI_OK || herk_finish(r) != CLI_OK) return CLI_USAGE;
    r->model_name = argv[optind];
    r->text = names_text(r->model_name);
    return check_invariants(r);
}

void request_free(request *r)
{
    settings_free(&r->parameters);
    inputs_free(&r->driven);
    settings_free(&r->starts);
    settings_free(&r->atols);
    settings_free(&r->rtols);
    settings_free(&r->by);
    settings_free(&r->gradients);
    settings_free(&r->fit.parameters);
    settings_free(&r->fit.sigmas);
    settings_free(&r->fit.ignored);
    settings_free(&r->sweep.over);
    settings_free(&r->sweep.lists);
    settings_free(&r->sweep.samples);
    settings_free(&r->ends);
    settings_free(&r->free);
    settings_free(&r->optimise.controls);
    settings_free(&r->optimise.varied);
    settings_free(&r->optimise.path);
    free(r->atol_values);
    free(r->rtol_values);
    free(r->step_times);
}

bool request_streams(const request *r)
{
    return is_stdout(r->csv) || is_stdout(r->json) || is_stdout(r->history) ||
           is_stdout(r->tableau);
}
