/* The corpus of traps: every line of models/traps.txt, with the method that it names or `auto`, and
 * on request with every method.
 *     traps DAEDAL TRAPS.TXT [every K N]      every: all methods, on the K-th of N shares of lines
 * A line is  NAME.mo | options of `daedal run` | expectation # why  with an expectation
 *     value VAR(T) = X +- TOL; VAR(T) = ..    exit code 0, and rows at T with these values
 *     status N "words"                        exit code N, and standard error has the words
 *     either EXPECTATION / EXPECTATION        one of the two
 * Another method than the one of the line may fail, with any message, or be right within 10 TOL.
 * What ends with a signal, takes too long, or is wrong with exit code 0 is a failure. Faults that
 * are known and not mended yet stand in TRAPS-open.txt, a line NAME.mo METHOD each: they are
 * printed and counted apart. */
#include "command.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SECONDS = 20, TEXT = 2000, WHY = 600, SLOWEST = 5, TEXT_REFUSED = 3 /* exit code */ };

/* A run among those that took longest: a trap that takes seconds is a fault on its way. */
typedef struct slow {
    double seconds;
    char what[400];
} slow;

typedef struct trial {
    const char *daedal;
    char directory[TEXT]; /* of the models */
    char scratch[64];     /* results of the run at hand: .csv, .out, .err behind it */
    int seconds;
    int runs, failures, open;
    char *known;           /* the text of TRAPS-open.txt; NULL: there is none */
    slow slowest[SLOWEST]; /* in falling order */
} trial;

/* One line of the file, its parts cut out in place. */
typedef struct trap {
    char text[TEXT];
    char *model, *options, *expectation;
    int line;
} trap;

static char *trim(char *text)
{
    while (*text == ' ' || *text == '\t') text++;
    for (size_t n = strlen(text); n > 0 && strchr(" \t\n", text[n - 1]); n--) text[n - 1] = '\0';
    return text;
}

/* NAME | options | expectation # why; false: no such line. */
static bool trap_read(trap *t)
{
    char *why = strstr(t->text, " # "), *first, *second;
    if (*trim(t->text) == '#' || *trim(t->text) == '\0') return false;
    if (why) *why = '\0';
    first = strchr(t->text, '|');
    second = first ? strchr(first + 1, '|') : NULL;
    if (!second) {
        printf("line %d: expected NAME.mo | options | expectation\n", t->line);
        exit(2);
    }
    *first = *second = '\0';
    t->model = trim(t->text);
    t->options = trim(first + 1);
    t->expectation = trim(second + 1);
    return true;
}

static void path_of(const trial *r, const char *ending_text, char *path)
{
    snprintf(path, TEXT, "%s%s", r->scratch, ending_text);
}

/* daedal run MODEL -o scratch.csv --quiet OPTIONS [--method METHOD]; `options` is cut up. */
static ending run_trap(const trial *r, const trap *t, char *options, const char *method)
{
    char model[2 * TEXT], csv[TEXT], out[TEXT], err[TEXT];
    char *words[MOST_WORDS] = {(char *)(size_t)r->daedal, "run", model, "-o", csv, "--quiet"};
    int count = 6;
    snprintf(model, sizeof model, "%s/%s", r->directory, t->model);
    path_of(r, ".csv", csv);
    path_of(r, ".out", out);
    path_of(r, ".err", err);
    remove(csv);
    for (char *word = strtok(options, " "); word && count < MOST_WORDS - 3;
         word = strtok(NULL, " "))
        words[count++] = word;
    if (method) {
        words[count++] = "--method";
        words[count++] = (char *)(size_t)method;
    }
    return command_run(words, r->seconds, out, err);
}

/* One of VAR(T) = X +- TOL; false: not so, with the reason in why. */
static bool value_holds(const table *results, const char *text, double factor, char *why)
{
    const char *open = strrchr(text, '(');
    const char *close = open ? strchr(open, ')') : NULL;
    double time, value, tolerance;
    char name[TEXT];
    if (!close || sscanf(open, "(%lf) = %lf +- %lf", &time, &value, &tolerance) != 3) {
        printf("cannot read the expectation '%s'\n", text);
        exit(2);
    }
    snprintf(name, sizeof name, "%.*s", (int)(open - text), text);
    int row = table_row(results, time), column = table_column(results, trim(name));
    if (row < 0 || column < 0) {
        snprintf(why, WHY, "no value of %s at %g", trim(name), time);
        return false;
    }
    double got = results->values[row * results->columns + column];
    bool same = isnan(value) ? isnan(got) : got == value;
    if (same || fabs(got - value) <= factor * tolerance) return true;
    snprintf(why, WHY, "%s(%g) = %.12g, not %.12g +- %g", trim(name), time, got, value, tolerance);
    return false;
}

static bool values_hold(const trial *r, ending end, const char *text, double factor, char *why)
{
    char path[TEXT], list[TEXT];
    table results;
    bool good = true;
    path_of(r, ".csv", path);
    if (end.code != 0 || !table_read(&results, path)) {
        snprintf(why, WHY, "exit code %d, not 0 with a table", end.code);
        return false;
    }
    snprintf(list, sizeof list, "%s", text);
    for (char *one = strtok(list, ";"); one && good; one = strtok(NULL, ";"))
        good = value_holds(&results, trim(one), factor, why);
    table_free(&results);
    return good;
}

/* status N "words" */
static bool status_holds(const trial *r, ending end, const char *text, char *why)
{
    char path[TEXT], words[TEXT] = "";
    int code;
    if (sscanf(text, "%d \"%1000[^\"]\"", &code, words) < 1) {
        printf("cannot read the expectation '%s'\n", text);
        exit(2);
    }
    path_of(r, ".err", path);
    char *message = file_text(path);
    bool told = message && strstr(message, words);
    if (end.code != code || !told)
        snprintf(why, WHY, "exit code %d, not %d with '%.100s': %.300s", end.code, code, words,
                 message ? message : "");
    free(message);
    return end.code == code && told;
}

static bool expectation_holds(const trial *r, ending end, const char *text, double factor,
                              char *why)
{
    if (strncmp(text, "value ", 6) == 0) return values_hold(r, end, text + 6, factor, why);
    if (strncmp(text, "status ", 7) == 0) return status_holds(r, end, text + 7, why);
    const char *slash = strstr(text, " / ");
    if (strncmp(text, "either ", 7) != 0 || !slash) {
        printf("cannot read the expectation '%s'\n", text);
        exit(2);
    }
    char first[TEXT];
    snprintf(first, sizeof first, "%.*s", (int)(slash - text - 7), text + 7);
    return expectation_holds(r, end, first, factor, why) ||
           expectation_holds(r, end, slash + 3, factor, why);
}

/* Whether the run was cut down, with the reason in why. */
static bool broke_down(ending end, char *why)
{
    if (end.timed_out)
        snprintf(why, WHY, "no end after %.0f s of processor time", end.seconds);
    else if (end.signal)
        snprintf(why, WHY, "signal %d", end.signal);
    else if (end.code > 4 && end.code != 130)
        snprintf(why, WHY, "exit code %d", end.code); /* a sanitizer's, say */
    else
        return false;
    return true;
}

/* Whether a failure of a method is on the list of open faults. */
static bool is_known(const trial *r, const trap *t, const char *method)
{
    char line[TEXT];
    if (!r->known || !method) return false;
    snprintf(line, sizeof line, "\n%.200s %.200s\n", t->model, method);
    return strstr(r->known, line) != NULL;
}

static void note_time(trial *r, const trap *t, const char *method, double seconds)
{
    int place = SLOWEST;
    while (place > 0 && r->slowest[place - 1].seconds < seconds) place--;
    if (place == SLOWEST) return;
    memmove(&r->slowest[place + 1], &r->slowest[place],
            (size_t)(SLOWEST - 1 - place) * sizeof(slow));
    r->slowest[place].seconds = seconds;
    snprintf(r->slowest[place].what, sizeof r->slowest[place].what, "%.100s %.200s %.50s", t->model,
             t->options, method ? method : "auto");
}

/* Returns the exit code of the run. */
static int try_line(trial *r, const trap *t, const char *method)
{
    char options[TEXT], why[WHY] = "";
    snprintf(options, sizeof options, "%s", t->options);
    ending end = run_trap(r, t, options, method);
    note_time(r, t, method, end.seconds);
    bool failed = broke_down(end, why);
    if (!failed && !method) failed = !expectation_holds(r, end, t->expectation, 1.0, why);
    if (!failed && method && end.code == 0)
        failed = !expectation_holds(r, end, t->expectation, 10.0, why);
    r->runs++;
    if (!failed) return end.code;
    bool known = is_known(r, t, method);
    r->open += known;
    r->failures += !known;
    printf("%sline %d: %s %s %s%s: %s\n", known ? "open: " : "", t->line, t->model, t->options,
           method ? "--method " : "", method ? method : "", why);
    fflush(stdout);
    return end.code;
}

/* All methods where the line does not name one itself. A text that is refused never gets as far
 * as a method. */
static void try_every(trial *r, const trap *t, char **methods, int count)
{
    char path[2 * TEXT];
    if (strstr(t->options, "--method")) return;
    snprintf(path, sizeof path, "%s/%s", r->directory, t->model);
    if (access(path, R_OK) != 0) {
        r->runs++;
        r->failures++;
        printf("line %d: %s cannot be read\n", t->line, path);
        return;
    }
    for (int m = 0; m < count; m++) {
        bool skipped = is_known(r, t, methods[m]) && !getenv("TRIAL_OPEN");
        if (!skipped) {
            if (try_line(r, t, methods[m]) == TEXT_REFUSED) return;
            continue;
        }
        r->runs++;
        r->open++;
        printf("open: line %d: %s --method %s (not run)\n", t->line, t->model, methods[m]);
    }
}

static void set_up(trial *r, const char *daedal, const char *list)
{
    const char *seconds = getenv("TRIAL_SECONDS"); /* sanitized programs need more */
    *r = (trial){.daedal = daedal, .seconds = seconds ? atoi(seconds) : SECONDS};
    snprintf(r->directory, sizeof r->directory, "%s", list);
    char *dot = strrchr(r->directory, '.');
    if (dot) *dot = '\0'; /* models/traps.txt -> models/traps */
    char open[TEXT + 16];
    snprintf(open, sizeof open, "%s-open.txt", r->directory);
    r->known = file_text(open);
    snprintf(r->scratch, sizeof r->scratch, "/tmp/daedal-traps-%ld", (long)getpid());
}

static void clean_up(const trial *r)
{
    static const char *const endings[] = {".csv", ".out", ".err"};
    char path[TEXT];
    for (int i = 0; i < 3; i++) {
        path_of(r, endings[i], path);
        remove(path);
    }
}

int main(int argc, char **argv)
{
    if (argc != 3 && argc != 6) {
        fprintf(stderr, "usage: traps DAEDAL TRAPS.TXT [every K N]\n");
        return 2;
    }
    trial r;
    trap t = {.line = 0};
    char out[TEXT];
    int count = 0, kept = 0, share = argc == 6 ? atoi(argv[4]) : 0,
        shares = argc == 6 ? atoi(argv[5]) : 1;
    set_up(&r, argv[1], argv[2]);
    path_of(&r, ".out", out);
    char **methods = argc == 6 ? listed_names(r.daedal, "methods", out, &count) : NULL;
    char *list = file_text(argv[2]); /* no file is open while runs go on: they would move its end */
    if (!list || (argc == 6 && !methods)) {
        printf("%s cannot be read, or there are no methods\n", argv[2]);
        return 2;
    }
    for (char *line = list, *end = line; *line; line = end) {
        end = line + strcspn(line, "\n");
        snprintf(t.text, sizeof t.text, "%.*s", (int)(end - line), line);
        end += *end == '\n';
        t.line++;
        if (!trap_read(&t)) continue;
        if (argc == 3) try_line(&r, &t, NULL);
        if (argc == 6 && kept++ % shares == share) try_every(&r, &t, methods, count);
    }
    free(list);
    clean_up(&r);
    trial_names_free(methods, count);
    free(r.known);
    for (int i = 0; i < SLOWEST && r.slowest[i].seconds >= 1.0; i++)
        printf("%.1f s: %s\n", r.slowest[i].seconds, r.slowest[i].what);
    if (r.open > 0) printf("open faults: %d\n", r.open);
    printf("%d passed, %d failed\n", r.runs - r.open - r.failures, r.failures);
    return r.failures > 0 || r.runs == 0;
}
