/* Fuzzing over options: random models, methods, parameter values and options of `daedal run`.
 *     options DAEDAL RUNS SEED MODEL.mo ..
 * RUNS is a number, or FIRST-LAST: these runs of the seed alone, so that a long study can be done
 * in parts. A run may fail, with a message; it is given 20 000 steps, since some methods need a
 * great many. It must not end with a signal, take more than 20 s of processor time, or write a
 * value that is not finite with exit code 0 and without a word about it. Each finding is printed as
 * the command that shows it. */
#include "command.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SECONDS = 20, MOST_NAMES = 200, NAME = 100, MOST_DRAWS = 20, STEPS_AT = 6 };

/* ---- chance ---- */

/* xorshift64* [Vigna 2016]: the same numbers on every machine. */
static uint64_t state;

/* The numbers of run `number` are its own (splitmix64): parts of a study can be repeated. */
static void begin_numbers(uint64_t seed, int number)
{
    uint64_t z = (seed << 32) + (uint64_t)number * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    state = (z ^ (z >> 31)) | 1u;
}

static int below(int n)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (int)((state * 2685821657736338717u >> 33) % (uint64_t)n);
}

static const char *one_of(const char *const *list)
{
    int count = 0;
    while (list[count]) count++;
    return list[below(count)];
}

/* ---- what is tried ---- */

static const char *const numbers[] = {"0",    "-1",  "1",   "1e-300", "1e300", "-1e300",
                                      "1e-9", "0.5", "2.5", "1e6",    NULL};
static const char *const tolerances[] = {"1e-3", "1e-6", "1e-10", "1e-14", "1", "0", NULL};
static const char *const lengths[] = {"1e-300", "1e-12", "1e-3", "0.1", "1",
                                      "1e9",    "1e300", "0",    NULL};
static const char *const points[] = {"2", "11", "501", "20001", NULL};
static const char *const orders[] = {"1", "2", "5", "13", NULL};
static const char *const tests[] = {"all", "differential", "filtered", NULL};
static const char *const projections[] = {"none", "position", "velocity", "both", NULL};
static const char *const solvers[] = {"dense", "banded", "sparse", "gmres", NULL};
static const char *const starts[] = {"none", "differential", "derivative", NULL};
static const char *const precisions[] = {"long", "quad", NULL};
static const char *const coordinates[] = {"ambient", "partitioned", "tangent", NULL};
static const char *const engines[] = {"tape", "native", "soon", NULL};
static const char *const baumgarte[] = {"auto", "1", "1e9", "1e-300:1e300", NULL};
static const char *const every[] = {"*=0", "*=1e-300", "*=1e300", NULL};
static const char *const threads[] = {"0", "2", NULL};
static const char *const flags[] = {NULL}; /* an option without a value */

static const struct {
    const char *option;
    const char *const *values;
} choices[] = {
    {"--rtol", tolerances},
    {"--atol", tolerances},
    {"--stop", lengths},
    {"--max-step", lengths},
    {"--fixed-step", lengths},
    {"--interval", lengths},
    {"--points", points},
    {"--max-order", orders},
    {"--error-test", tests},
    {"--projection", projections},
    {"--formulation", NULL}, /* those that the command lists */
    {"--baumgarte", baumgarte},
    {"--atol-of", every},
    {"--threads", threads},
    {"--log-time", flags},
    {"--stats", flags},
    {"--linear-solver", solvers},
    {"--init", starts},
    {"--precision", precisions},
    {"--coordinates", coordinates},
    {"--engine", engines},
    {"--start-time", numbers},
};

/* Behind a name: its modification and its value, up to the comma or semicolon. */
static const char *skip_declaration(const char *at)
{
    for (int depth = 0; *at && (depth > 0 || (*at != ',' && *at != ';')); at++)
        depth +=
            (*at == '(' || *at == '{' || *at == '[') - (*at == ')' || *at == '}' || *at == ']');
    return at;
}

/* Names of the scalar Real parameters and variables in a text, by its declarations alone. */
static int names_in(const char *text, const char *keyword, char names[][NAME])
{
    int count = 0;
    for (const char *at = strstr(text, keyword); at; at = strstr(at, keyword)) {
        at += strlen(keyword);
        for (bool more = true; more && count < MOST_NAMES; at += more) {
            at += strspn(at, " \n");
            int used = 0;
            while (isalnum((unsigned char)at[used]) || at[used] == '_') used++;
            if (used > 0 && used < NAME && at[used] != '[')
                snprintf(names[count++], NAME, "%.*s", used, at);
            at = skip_declaration(at);
            more = *at == ',';
        }
    }
    return count;
}

typedef struct fuzz {
    const char *daedal;
    char scratch[64], csv[80], out[80], err[80];
    char **methods, **formulations;
    int method_count, formulation_count, runs, findings, codes[8];
    double seconds, slowest; /* of processor time: all runs, one run */
    int slowest_run;
    char values[8][NAME + 20]; /* of --set and --start: NAME=VALUE */
} fuzz;

/* --set NAME=NUMBER or --start NAME=NUMBER for up to two names of the model. */
static int add_values(fuzz *f, const char *text, const char *option, const char *keyword,
                      char **words, int room)
{
    char names[MOST_NAMES][NAME];
    int count = names_in(text, keyword, names), added = 0;
    for (int k = below(3); k > 0 && count > 0 && added + 2 <= room; k--) {
        char *value = f->values[(strcmp(option, "--set") == 0 ? 0 : 4) + k];
        const char *name = names[below(count)], *number = one_of(numbers);
        snprintf(value, sizeof f->values[0], "%s=%s", name, number);
        words[added++] = (char *)(size_t)option;
        words[added++] = value;
    }
    return added;
}

/* Numbers of quadruple precision are made by programs, and a step with them takes a millisecond or
 * two: 20 000 of them are honest work, and no hang. */
static void shorten_quad(char **words)
{
    for (int i = 1; words[i]; i++)
        if (strcmp(words[i], "quad") == 0) words[STEPS_AT] = "1000";
}

static int random_words(fuzz *f, const char *model, char **words)
{
    int count = 0;
    char *text = file_text(model);
    words[count++] = (char *)(size_t)f->daedal;
    words[count++] = "run";
    words[count++] = (char *)(size_t)model;
    words[count++] = "-o";
    words[count++] = f->csv;
    words[count++] = "--max-steps";
    words[count++] = "20000"; /* at STEPS_AT */
    if (below(4) > 0) {
        words[count++] = "--method";
        words[count++] = f->methods[below(f->method_count)];
    }
    if (text) {
        count += add_values(f, text, "--set", "parameter Real ", words + count, 4);
        if (below(4) == 0) count += add_values(f, text, "--start", "  Real ", words + count, 4);
    }
    for (int k = below(4); k > 0; k--) {
        int which = below((int)(sizeof choices / sizeof *choices));
        words[count++] = (char *)(size_t)choices[which].option;
        if (!choices[which].values)
            words[count++] = f->formulations[below(f->formulation_count)];
        else if (choices[which].values != flags)
            words[count++] = (char *)(size_t)one_of(choices[which].values);
    }
    words[count] = NULL;
    shorten_quad(words);
    free(text);
    return count;
}

/* ---- what is wrong ---- */

/* A value that is not finite, with success, and no word of it on standard error. */
static const char *silent_nan(const fuzz *f)
{
    table results;
    if (!table_read(&results, f->csv)) return NULL;
    int row = table_first_nonfinite(&results);
    table_free(&results);
    if (row < 0) return NULL;
    char *message = file_text(f->err);
    static const char *const values[] = {" nan", " -nan", " inf", " -inf", "not finite"};
    bool told = false;
    for (size_t k = 0; message && k < sizeof values / sizeof *values; k++)
        told = told || strstr(message, values[k]);
    free(message);
    return told ? NULL : "a value that is not finite, without a word";
}

static const char *finding(const fuzz *f, ending end)
{
    if (end.timed_out) return "no end within its processor time";
    if (end.signal) return "ended by a signal";
    if (end.code > 4 && end.code != 130) return "an exit code that is none of the command's";
    if (end.code == 0) return silent_nan(f);
    char *message = file_text(f->err);
    bool empty = !message || !*message;
    free(message);
    return empty ? "it fails without a message" : NULL;
}

static void tell(int number, const char *what, ending end, char *const *words)
{
    printf("run %d: %s (%s %d, %.1f s):", number, what, end.signal ? "signal" : "exit code",
           end.signal ? end.signal : end.code, end.seconds);
    for (int i = 0; words[i]; i++) printf(" '%s'", words[i]);
    printf("\n");
    fflush(stdout);
}

/* One set of words; false: the command refuses them, since a method cannot do what is asked. */
static bool try_words(fuzz *f, const char *model, int number)
{
    char *words[MOST_WORDS];
    random_words(f, model, words);
    remove(f->csv);
    ending end = command_run(words, SECONDS, f->out, f->err);
    const char *what = finding(f, end);
    f->seconds += end.seconds;
    if (end.seconds > f->slowest) {
        f->slowest = end.seconds;
        f->slowest_run = number;
    }
    if (end.code >= 0 && end.code < 8) f->codes[end.code]++;
    if (what) tell(number, what, end, words);
    f->findings += what != NULL;
    return end.code != 2;
}

/* Run number `number` of the seed: refused words are drawn anew, since they try little. */
static void try_once(fuzz *f, char *const *models, int count, int number)
{
    bool taken = false;
    for (int k = 0; k < MOST_DRAWS && !taken; k++)
        taken = try_words(f, models[below(count)], number);
    f->runs += taken;
}

int main(int argc, char **argv)
{
    if (argc < 5) {
        fprintf(stderr, "usage: options DAEDAL RUNS SEED MODEL.mo ..\n");
        return 2;
    }
    static fuzz f;
    const char *dash = strchr(argv[2], '-');
    int first = dash ? atoi(argv[2]) : 1, last = atoi(dash ? dash + 1 : argv[2]);
    uint64_t seed = strtoull(argv[3], NULL, 10);
    f.daedal = argv[1];
    snprintf(f.scratch, sizeof f.scratch, "/tmp/daedal-options-%ld", (long)getpid());
    snprintf(f.csv, sizeof f.csv, "%s.csv", f.scratch);
    snprintf(f.out, sizeof f.out, "%s.out", f.scratch);
    snprintf(f.err, sizeof f.err, "%s.err", f.scratch);
    f.methods = listed_names(f.daedal, "methods", f.out, &f.method_count);
    f.formulations = listed_names(f.daedal, "formulations", f.out, &f.formulation_count);
    if (!f.methods || f.method_count == 0 || !f.formulations || f.formulation_count == 0) {
        printf("'%s' does not list its methods and formulations\n", f.daedal);
        return 2;
    }
    for (int k = first; k <= last; k++) {
        begin_numbers(seed, k);
        try_once(&f, argv + 4, argc - 4, k);
    }
    remove(f.csv);
    remove(f.out);
    remove(f.err);
    trial_names_free(f.methods, f.method_count);
    trial_names_free(f.formulations, f.formulation_count);
    printf("%.1f s of processor time, %.1f s of them for run %d\n", f.seconds, f.slowest,
           f.slowest_run);
    printf("exit codes 0: %d, 1: %d, 2 (refused, not counted): %d, 3: %d\n", f.codes[0], f.codes[1],
           f.codes[2], f.codes[3]);
    printf("%d runs, %d findings\n", f.runs, f.findings);
    return f.findings > 0;
}
