/* The textbook models: every one in models/textbook/ as `daedal run` solves it, against the values
 * in its NAME.ref.
 *     textbook DAEDAL models/textbook          auto at rtol 1e-6
 *     textbook DAEDAL models/textbook every    auto at 1e-3, 1e-4 .. 1e-9, and at 1e-6 each
 *                                              method that auto may choose
 * A run is right if all values are within LIMIT tolerances, rtol |y| + atol, as docs/verify.md has
 * them: |y| is the largest value within a twentieth of the interval. auto must be right. Another
 * method may fail, too, with a message. Runs that are known to be wrong, or to fail, stand in
 * models/textbook-open.txt, a line NAME METHOD RTOL each: they are printed and counted apart. */
#include "command.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SECONDS = 20, TEXT = 1000, NAME = 64, MOST_MODELS = 400, LEAST_MODELS = 120, METHODS = 5 };

static const double LIMIT = 100.0, SLOW = 1.0 /* s, worth a line */;

/* What auto may choose for a model text (src/solve/prepare/choose.c). */
static const char *const methods[METHODS] = {"radau", "bdf", "colloc2nd", "taylor", "prk"};

typedef struct trial {
    const char *daedal, *directory;
    char csv[64], out[64], err[64];
    char *known; /* the text of textbook-open.txt; NULL: there is none */
    bool all;    /* run what is known to be wrong, too */
    int seconds, runs, failures, open;
    int right[METHODS + 1], refused[METHODS + 1]; /* by method; the last one is auto */
} trial;

/* One run of a model, and the file of its values. */
typedef struct attempt {
    const char *model, *rtol;
    int method; /* METHODS: auto */
} attempt;

static const char *method_of(const attempt *a)
{
    return a->method < METHODS ? methods[a->method] : "auto";
}

/* The largest value of a column within a twentieth of the interval around t. */
static double size_near(const table *r, int column, double t)
{
    double largest = 0.0;
    double span = r->values[(r->rows - 1) * r->columns] - r->values[0];
    for (int i = 0; i < r->rows; i++)
        if (fabs(r->values[i * r->columns] - t) <= span / 20.0)
            largest = fmax(largest, fabs(r->values[i * r->columns + column]));
    return largest;
}

/* The absolute tolerance of a variable that starts at y0, by the table in docs/command.md: whatever
 * starts small is known in its own size. */
static double absolute_tolerance(double rtol, double y0)
{
    double plain = rtol / 1000.0;
    return y0 == 0.0 ? plain : fmax(fmin(plain, rtol * fabs(y0)), 1e-15 * plain);
}

/* The error of a value in tolerances; infinite where there is no such value. */
static double error_of(const table *r, const char *name, double t, double value, double rtol)
{
    int row = table_row(r, t), column = table_column(r, name);
    if (row < 0 || column < 0) return INFINITY;
    double unit = rtol * size_near(r, column, t) + absolute_tolerance(rtol, r->values[column]);
    double error = fabs(r->values[row * r->columns + column] - value) / unit;
    return isnan(error) ? INFINITY : error;
}

/* The largest error of a table against the text of a NAME.ref; what and when in why. */
static double worst_error(const table *r, const char *reference, double rtol, char *why)
{
    double worst = 0.0, t = NAN, value;
    int values = 0, length;
    char key[NAME];
    for (const char *line = reference; *line; line += length + (line[length] == '\n')) {
        length = (int)strcspn(line, "\n");
        if (*line == '#' || sscanf(line, "%63s %lf", key, &value) != 2) continue;
        if (strcmp(key, "t") == 0) t = value;
        if (strcmp(key, "t") == 0 || strcmp(key, "index") == 0 || strcmp(key, "accuracy") == 0)
            continue;
        double error = error_of(r, key, t, value, rtol);
        values++;
        if (error <= worst) continue;
        worst = error;
        snprintf(why, TEXT, "%s(%g) is %.3g tolerances from %.12g", key, t, error, value);
    }
    if (values > 0) return worst;
    snprintf(why, TEXT, "no reference values");
    return INFINITY;
}

static double error_of_run(const trial *r, const attempt *a, char *why)
{
    char path[TEXT];
    table results;
    double worst = INFINITY;
    snprintf(path, sizeof path, "%s/%s.ref", r->directory, a->model);
    char *reference = file_text(path);
    snprintf(why, TEXT, "no table, or no %.900s", path);
    if (reference && table_read(&results, r->csv)) {
        worst = worst_error(&results, reference, atof(a->rtol), why);
        table_free(&results);
    }
    free(reference);
    return worst;
}

static ending run_model(const trial *r, const attempt *a)
{
    char model[TEXT];
    char *words[] = {(char *)(size_t)r->daedal,
                     "run",
                     model,
                     "-o",
                     (char *)(size_t)r->csv,
                     "--quiet",
                     "--rtol",
                     (char *)(size_t)a->rtol,
                     "--method",
                     (char *)(size_t)method_of(a),
                     NULL};
    snprintf(model, sizeof model, "%s/%s.mo", r->directory, a->model);
    remove(r->csv);
    return command_run(words, r->seconds, r->out, r->err);
}

/* Whether a run that ended is right, or fails as it may; why not. */
static bool holds(trial *r, const attempt *a, ending end, char *why)
{
    bool cut = end.timed_out || end.signal || end.code > 4;
    if (cut) snprintf(why, TEXT, "signal %d, exit code %d", end.signal, end.code);
    if (end.timed_out) snprintf(why, TEXT, "no end after %.0f s", end.seconds);
    if (cut) return false;
    bool ended = end.code == 0;
    if (ended && error_of_run(r, a, why) <= LIMIT) {
        r->right[a->method]++;
        return true;
    }
    if (ended) return false;
    char *message = file_text(r->err);
    snprintf(why, TEXT, "exit code %d: %.300s", end.code, message ? message : "");
    r->refused[a->method]++;
    bool told = message && *message;
    free(message);
    return told && a->method < METHODS;
}

static bool is_known(const trial *r, const attempt *a)
{
    char line[TEXT];
    snprintf(line, sizeof line, "\n%s %s %s\n", a->model, method_of(a), a->rtol);
    return r->known && strstr(r->known, line);
}

static void try_model(trial *r, const attempt *a)
{
    char why[TEXT] = "not run";
    bool known = is_known(r, a), good = false;
    r->runs++;
    if (!known || r->all) {
        ending end = run_model(r, a);
        good = holds(r, a, end, why);
        if (end.seconds > SLOW)
            printf("%.1f s: %s %s %s\n", end.seconds, a->model, method_of(a), a->rtol);
    }
    r->open += known;
    r->failures += !good && !known;
    if (known && good) snprintf(why, TEXT, "right by now: strike this line");
    if (known || !good)
        printf("%s%s %s %s: %s\n", known ? "open: " : "", a->model, method_of(a), a->rtol, why);
    fflush(stdout);
}

static void try_every(trial *r, const char *model)
{
    static const char *const rtols[] = {"1e-3", "1e-4", "1e-5", "1e-6", "1e-7", "1e-8", "1e-9"};
    for (size_t k = 0; k < sizeof rtols / sizeof *rtols; k++)
        try_model(r, &(attempt){model, rtols[k], METHODS});
    for (int m = 0; m < METHODS; m++) try_model(r, &(attempt){model, "1e-6", m});
}

static int by_name(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* The names of all models, in order; how many. */
static int find_models(const char *directory, char names[][NAME])
{
    int count = 0;
    DIR *dir = opendir(directory);
    for (struct dirent *entry; dir && (entry = readdir(dir)) && count < MOST_MODELS;) {
        size_t length = strlen(entry->d_name);
        if (length < 4 || length >= NAME || strcmp(entry->d_name + length - 3, ".mo") != 0)
            continue;
        snprintf(names[count++], NAME, "%.*s", (int)length - 3, entry->d_name);
    }
    if (dir) closedir(dir);
    qsort(names, (size_t)count, NAME, by_name);
    return count;
}

static void set_up(trial *r, char **argv, bool every)
{
    char open[TEXT];
    const char *seconds = getenv("TRIAL_SECONDS"); /* sanitized programs need more */
    *r = (trial){.daedal = argv[1], .directory = argv[2], .all = every || getenv("TRIAL_OPEN")};
    r->seconds = seconds ? atoi(seconds) : SECONDS;
    snprintf(open, sizeof open, "%s-open.txt", r->directory);
    snprintf(r->csv, sizeof r->csv, "/tmp/daedal-textbook-%ld.csv", (long)getpid());
    snprintf(r->out, sizeof r->out, "/tmp/daedal-textbook-%ld.out", (long)getpid());
    snprintf(r->err, sizeof r->err, "/tmp/daedal-textbook-%ld.err", (long)getpid());
    r->known = file_text(open);
}

static void report(const trial *r, int models)
{
    for (int m = 0; m <= METHODS; m++)
        if (r->right[m] + r->refused[m] > 0)
            printf("%-10s %4d right, %d failed with a message\n", m < METHODS ? methods[m] : "auto",
                   r->right[m], r->refused[m]);
    if (r->open > 0) printf("open faults: %d\n", r->open);
    printf("%d models, %d runs, %d failed\n", models, r->runs, r->failures);
    if (models < LEAST_MODELS) printf("there are to be %d models\n", LEAST_MODELS);
}

int main(int argc, char **argv)
{
    static char names[MOST_MODELS][NAME];
    bool every = argc == 4 && strcmp(argv[3], "every") == 0;
    trial r;
    if (argc != 3 && !every) {
        fprintf(stderr, "usage: textbook DAEDAL DIRECTORY [every]\n");
        return 2;
    }
    set_up(&r, argv, every);
    int count = find_models(r.directory, names);
    for (int i = 0; i < count; i++)
        if (every)
            try_every(&r, names[i]);
        else
            try_model(&r, &(attempt){names[i], "1e-6", METHODS});
    remove(r.csv), remove(r.out), remove(r.err);
    free(r.known);
    report(&r, count);
    return r.failures > 0 || count < LEAST_MODELS;
}
