/* daedal compare REFERENCE RESULT: signals of two files side by side. */
#define _POSIX_C_SOURCE 200809L
#include "json_parts.h"
#include "outputs.h"
#include "signals.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct request {
    report_tube_options tube;
    settings patterns;
    const char *from, *plot, *files[2];
    bool all, json, quiet;
} request;

enum {
    OPT_TUBE_X = 256,
    OPT_TUBE_Y,
    OPT_NOMINAL,
    OPT_SIGNALS,
    OPT_FROM,
    OPT_PLOT,
    OPT_JSON,
    OPT_ALL,
    OPT_QUIET
};

static const struct option long_options[] = {
    {"tube-x", required_argument, NULL, OPT_TUBE_X},
    {"tube-y", required_argument, NULL, OPT_TUBE_Y},
    {"nominal", required_argument, NULL, OPT_NOMINAL},
    {"signals", required_argument, NULL, OPT_SIGNALS},
    {"signals-from", required_argument, NULL, OPT_FROM},
    {"plot", required_argument, NULL, OPT_PLOT},
    {"json", no_argument, NULL, OPT_JSON},
    {"all", no_argument, NULL, OPT_ALL},
    {"quiet", no_argument, NULL, OPT_QUIET},
    {NULL, 0, NULL, 0},
};

static int read_size(const char *option, const char *text, double most, double *value)
{
    if (parse_double(text, value) && *value >= 0.0 && *value <= most) return CLI_OK;
    return most <= 1.0 ? complain(CLI_USAGE, "option '--%s' needs a number from 0 to 1, not '%s'",
                                  option, text)
                       : complain(CLI_USAGE, "option '--%s' needs a number from 0 on, not '%s'",
                                  option, text);
}

/* The two files. */
static int read_files(int argc, char **argv, request *r)
{
    if (argc - optind < 2)
        return complain(CLI_USAGE, "which files? a reference and a result (see 'daedal help "
                                   "compare')");
    if (argc - optind > 2)
        return complain(CLI_USAGE, "two files at a time; '%s' is one too many", argv[optind + 2]);
    r->files[0] = argv[optind];
    r->files[1] = argv[optind + 1];
    return CLI_OK;
}

static int read_words(int argc, char **argv, request *r)
{
    int id, code = CLI_OK;
    opterr = 0;
    optind = 1;
    while (code == CLI_OK && (id = getopt_long(argc, argv, ":", long_options, NULL)) != -1) {
        switch (id) {
        case OPT_TUBE_X: code = read_size("tube-x", optarg, 1.0, &r->tube.time); break;
        case OPT_TUBE_Y: code = read_size("tube-y", optarg, 1.0, &r->tube.value); break;
        case OPT_NOMINAL: code = read_size("nominal", optarg, HUGE_VAL, &r->tube.nominal); break;
        case OPT_SIGNALS: code = settings_push(&r->patterns, optarg); break;
        case OPT_FROM: r->from = optarg; break;
        case OPT_PLOT: r->plot = optarg; break;
        case OPT_JSON: r->json = true; break;
        case OPT_ALL: r->all = true; break;
        case OPT_QUIET: r->quiet = true; break;
        default: code = complain_option(&compare_command, argv, id, long_options);
        }
    }
    return code == CLI_OK ? read_files(argc, argv, r) : code;
}

/* ---- which signals ---- */

/* A signal that is wanted; its place in the reference and in the result, -1: not there. */
typedef struct row {
    char *name; /* owned */
    int place[2];
    report_deviation d;
} row;

typedef struct comparison {
    const request *r;
    report_curves *curves[2]; /* reference, result */
    row *rows;
    int count, missing[2], off;
} comparison;

/* Whether a name fits a pattern in which * stands for any characters and ? for one. Quotes and
 * blanks of the pattern do not count. */
static bool fits(const char *pattern, const char *key)
{
    const char *star = NULL, *from = NULL; /* the last *, and where what it stands for ends */
    for (;;) {
        while (*pattern == '\'' || *pattern == ' ') pattern++;
        if (*pattern == '*') {
            star = ++pattern;
            from = key;
        } else if (*key && (*pattern == '?' || *pattern == *key)) {
            pattern++;
            key++;
        } else if (!*key && !*pattern) {
            return true;
        } else {
            if (!star || !*from) return false;
            pattern = star;
            key = ++from;
        }
    }
}

static int add_row(comparison *c, const char *name)
{
    row *more = realloc(c->rows, ((size_t)c->count + 1) * sizeof *more);
    if (more) c->rows = more;
    char *copy = more ? strdup(name) : NULL;
    if (!copy) return complain(CLI_FAILED, "out of memory");
    row *new = &more[c->count++];
    *new = (row){.name = copy};
    for (int f = 0; f < 2; f++) {
        new->place[f] = report_curves_find(c->curves[f], name);
        if (new->place[f] == REPORT_TWO_CURVES)
            return complain(CLI_USAGE, "'%s' has more than one signal %s", c->r->files[f], name);
        c->missing[f] += new->place[f] < 0;
    }
    return CLI_OK;
}

static bool fits_any(const request *r, const char *key)
{
    int k = 0;
    while (k < r->patterns.count && !fits(r->patterns.list[k], key)) k++;
    return k < r->patterns.count;
}

/* Those of the reference that fit a pattern; without patterns, all. Each pattern must fit some. */
static int add_fitting(comparison *c)
{
    const report_curves *a = c->curves[0];
    const request *r = c->r;
    int code = CLI_OK;
    for (int i = 0; i < a->n && code == CLI_OK; i++)
        if (r->patterns.count == 0 || fits_any(r, a->curves[i].key))
            code = add_row(c, a->curves[i].name);
    for (int k = 0; k < r->patterns.count && code == CLI_OK; k++) {
        int i = 0;
        while (i < a->n && !fits(r->patterns.list[k], a->curves[i].key)) i++;
        if (i == a->n)
            code = complain(CLI_USAGE, "no signal of '%s' fits '%s'", r->files[0],
                            r->patterns.list[k]);
    }
    return code;
}

/* The names of a file, one a line. The time is in every file, and no signal. */
static int add_listed(comparison *c, const char *path)
{
    char *line = NULL;
    size_t room = 0;
    FILE *file = fopen(path, "r");
    int code = CLI_OK;
    if (!file) return complain(CLI_USAGE, "'%s' cannot be read: %s", path, strerror(errno));
    while (code == CLI_OK && getline(&line, &room, file) >= 0) {
        char *name = line + strspn(line, " \t"), *end = name + strlen(name);
        while (end > name && strchr(" \t\r\n", end[-1])) *--end = '\0';
        if (*name && strcmp(name, "time") != 0) code = add_row(c, name);
    }
    if (code == CLI_OK && ferror(file))
        code = complain(CLI_USAGE, "'%s' cannot be read: %s", path, strerror(errno));
    free(line);
    fclose(file);
    return code;
}

static int choose_signals(comparison *c)
{
    const request *r = c->r;
    int code = r->from ? add_listed(c, r->from) : CLI_OK;
    if (code == CLI_OK && (r->patterns.count > 0 || !r->from)) code = add_fitting(c);
    return code;
}

/* ---- the comparison ---- */

static bool compared(const row *r)
{
    return r->place[0] >= 0 && r->place[1] >= 0;
}

/* Deviation in half widths of the tube; a reason counts above all deviations. */
static double badness(const row *r)
{
    if (!compared(r)) return -1.0;
    if (r->d.reason[0]) return INFINITY;
    return r->d.half_value > 0.0  ? r->d.deviation / r->d.half_value
           : r->d.deviation > 0.0 ? INFINITY
                                  : 0.0;
}

static int worst_first(const void *a, const void *b)
{
    double one = badness(a), other = badness(b);
    if (one != other) return one > other ? -1 : 1;
    return strcmp(((const row *)a)->name, ((const row *)b)->name);
}

/* Signal i of the result, or its times for i = -1, in a unit of the reference. */
static int convert(const comparison *c, int i, const char *unit)
{
    report_error error = {0};
    if (report_curves_convert(c->curves[1], i, unit, false, &error) == REPORT_OK) return CLI_OK;
    return complain(CLI_USAGE, "%s: %s, its unit in '%s'", c->r->files[1], error.text,
                    c->r->files[0]);
}

static int compare_all(comparison *c)
{
    report_error error = {0};
    int code = convert(c, -1, c->curves[0]->time_unit);
    if (code != CLI_OK) return code;
    for (int k = 0; k < c->count; k++) {
        row *r = &c->rows[k];
        if (signal_caught()) return complain_interrupted("during the comparison");
        if (!compared(r)) continue;
        code = convert(c, r->place[1], c->curves[0]->curves[r->place[0]].unit);
        if (code != CLI_OK) return code;
        if (report_tube(c->curves[0], r->place[0], c->curves[1], r->place[1], &c->r->tube, &r->d,
                        NULL, &error) != REPORT_OK)
            return complain(CLI_FAILED, "%s", error.text);
        c->off += !r->d.agrees;
    }
    if (c->count > 0) qsort(c->rows, (size_t)c->count, sizeof *c->rows, worst_first);
    return CLI_OK;
}

/* What the comparison means. */
static int verdict(const comparison *c)
{
    if (c->off > 0 || c->missing[1] > 0) return CLI_OFF;
    return c->missing[0] > 0 || c->count == 0 ? CLI_UNSURE : CLI_OK;
}

/* ---- for people ---- */

enum { MOST_ROWS = 20, NAME_WIDTH = 48 };

static int name_width(const comparison *c, int rows)
{
    int width = 8;
    for (int i = 0; i < rows; i++) {
        int length = (int)strlen(c->rows[i].name);
        if (length > width) width = length < NAME_WIDTH ? length : NAME_WIDTH;
    }
    return width;
}

/* "not in FILE: a, b"; of many the first. */
static void print_missing(const comparison *c, int file)
{
    int said = 0;
    if (c->missing[file] == 0) return;
    say("  not in %s:", c->r->files[file]);
    for (int k = 0; k < c->count && (c->r->all || said < MOST_ROWS); k++)
        if (c->rows[k].place[file] < 0) say("%s %s", said++ ? "," : "", c->rows[k].name);
    if (said < c->missing[file]) say(" and %d more (--all lists them)", c->missing[file] - said);
    say("\n");
}

/* Signals of the result that the reference does not have. */
static void print_unused(const comparison *c)
{
    int count = 0, said = 0;
    const report_curves *b = c->curves[1];
    if (c->r->from || c->r->patterns.count > 0) return;
    for (int j = 0; j < b->n; j++) {
        if (report_curves_find(c->curves[0], b->curves[j].name) != REPORT_NO_CURVE) continue;
        if (count++ >= MOST_ROWS && !c->r->all) continue;
        say("%s %s", said++ ? "," : "  not in the reference:", b->curves[j].name);
    }
    if (said < count) say(" and %d more (--all lists them)", count - said);
    if (count > 0) say("\n");
}

static void print_table(const comparison *c)
{
    int pairs = 0;
    while (pairs < c->count && compared(&c->rows[pairs])) pairs++;
    int rows = c->r->all || pairs <= MOST_ROWS ? pairs : MOST_ROWS, width = name_width(c, rows);
    say("%s beside %s: %d of %s in the tube (%g of the time, %g of the range)\n", c->r->files[1],
        c->r->files[0], pairs - c->off, PLURAL(c->count, "signal"), c->r->tube.time,
        c->r->tube.value);
    if (rows > 0)
        say("\n  %-*s  %12s  %12s  %12s  %s\n", width, "", "deviation", "half width", "at t", "");
    for (int i = 0; i < rows; i++) {
        const row *r = &c->rows[i];
        say("  %-*s  %12.3g  %12.3g  %12.6g  %s%s\n", width, r->name, r->d.deviation,
            r->d.half_value, r->d.t,
            r->d.agrees      ? "agrees"
            : r->d.reason[0] ? "off: "
                             : "off",
            r->d.reason);
    }
    if (rows < pairs) say("  and %d more (--all lists them)\n", pairs - rows);
    print_missing(c, 0);
    print_missing(c, 1);
    print_unused(c);
}

/* ---- for programs ---- */

static void write_row(FILE *out, const row *r)
{
    json_object o = json_open(out, 3);
    json_string_member(&o, "name", r->name);
    json_string_member(&o, "verdict",
                       r->place[0] < 0   ? "not in the reference"
                       : r->place[1] < 0 ? "not in the result"
                       : r->d.agrees     ? "agrees"
                                         : "off");
    if (compared(r)) {
        json_number_member(&o, "deviation", r->d.deviation);
        json_number_member(&o, "half_width", r->d.half_value);
        json_number_member(&o, "half_time", r->d.half_time);
        json_number_member(&o, "t", r->d.t);
        json_number_member(&o, "reference", r->d.reference);
        json_number_member(&o, "value", r->d.value);
    }
    if (r->d.reason[0]) json_string_member(&o, "reason", r->d.reason);
    json_close(&o);
}

static void write_json(FILE *out, const void *what)
{
    const comparison *c = what;
    int code = verdict(c);
    json_object o = json_open(out, 1);
    json_string_member(&o, "verdict",
                       code == CLI_OK    ? "agrees"
                       : code == CLI_OFF ? "off"
                                         : "cannot be told");
    json_string_member(&o, "reference", c->r->files[0]);
    json_string_member(&o, "result", c->r->files[1]);
    json_member(&o, "signals");
    putc('[', out);
    for (int k = 0; k < c->count; k++) {
        fputs(k ? ",\n    " : "\n    ", out);
        write_row(out, &c->rows[k]);
    }
    fputs("\n  ]", out);
    json_close(&o);
    putc('\n', out);
}

/* ---- the picture ---- */

/* The worst signal with its tube. */
static int draw_worst(const comparison *c)
{
    static const char *const names[] = {"reference", "result", "lower edge", "upper edge"};
    report_error error = {0};
    report_series *series = NULL;
    report_deviation d;
    char title[400];
    const row *r = c->rows;
    if (c->count == 0 || !compared(r))
        return complain(CLI_FAILED, "there is no signal to draw into '%s'", c->r->plot);
    snprintf(title, sizeof title, "%.300s: %s", r->name, r->d.agrees ? "agrees" : "off");
    report_plot_options options = {.title = title,
                                   .layout = REPORT_LAYOUT_TOGETHER,
                                   .value_name = r->name,
                                   .interrupt = ask_interrupted};
    report_status status = report_series_new(4, names, &series, &error);
    if (status == REPORT_OK) status = report_series_label(series, "time", NULL, NULL, NULL, &error);
    if (status == REPORT_OK)
        status = report_tube(c->curves[0], r->place[0], c->curves[1], r->place[1], &c->r->tube, &d,
                             series, &error);
    if (status == REPORT_OK) status = report_plot(c->r->plot, series, &options, &error);
    report_series_free(series);
    return status == REPORT_OK ? CLI_OK : complain(CLI_FAILED, "%s", error.text);
}

/* ---- the command ---- */

static int open_files(comparison *c)
{
    report_error error = {0};
    for (int f = 0; f < 2; f++)
        if (report_read(c->r->files[f], &c->curves[f], &error) != REPORT_OK)
            return complain(error.status == REPORT_ERR_MEMORY ? CLI_FAILED : CLI_USAGE, "%s",
                            error.text);
    return CLI_OK;
}

/* No file that is read is overwritten. */
static int check_files(const request *r)
{
    const output list[] = {{"--json", r->json ? "-" : NULL}, {"--plot", r->plot}};
    const char *const read[] = {r->files[0], r->files[1], r->from};
    int code = CLI_OK;
    for (int k = 0; k < 3 && code == CLI_OK; k++)
        if (read[k]) code = check_outputs(read[k], list, 2);
    return code;
}

static int show(const comparison *c)
{
    int code = c->r->plot ? draw_worst(c) : CLI_OK;
    if (code != CLI_OK) return code;
    code = verdict(c);
    if (c->r->json)
        write_json(stdout, c);
    else if (!c->r->quiet)
        print_table(c);
    if (code == CLI_OFF)
        return complain(code, "%s of %d off, %d missing in '%s'", PLURAL(c->off, "signal"),
                        c->count, c->missing[1], c->r->files[1]);
    if (c->count == 0) return complain(code, "there is no signal to compare");
    if (code == CLI_UNSURE)
        return complain(code, "%s of %d cannot be told: not in '%s'",
                        PLURAL(c->missing[0], "signal"), c->count, c->r->files[0]);
    return code;
}

static int run(int argc, char **argv)
{
    request r = {.tube = report_tube_default()};
    comparison c = {.r = &r};
    int code = read_words(argc, argv, &r);
    if (code == CLI_OK) code = check_files(&r);
    if (code == CLI_OK) code = open_files(&c);
    if (code == CLI_OK) code = choose_signals(&c);
    if (code == CLI_OK) code = compare_all(&c);
    if (code == CLI_OK) code = show(&c);
    for (int k = 0; k < c.count; k++) free(c.rows[k].name);
    free(c.rows);
    report_curves_free(c.curves[0]);
    report_curves_free(c.curves[1]);
    settings_free(&r.patterns);
    return code;
}

const command compare_command = {
    .name = "compare",
    .summary = "compare the signals of two files, within a tube around the first",
    .help =
        "usage: daedal compare REFERENCE RESULT [OPTION ...]\n"
        "\n"
        "  daedal compare reference.csv result.csv             all signals of the reference\n"
        "  daedal compare reference.csv result.mat --signals 'body.*' --plot worst.svg\n"
        "  daedal compare reference.csv result.json --signals-from comparisonSignals.txt\n"
        "\n"
        "Reads .csv, .json and .mat files (as 'daedal run -o' writes them). A signal agrees if\n"
        "its curve lies in the tube that a rectangle covers whose centre goes along the\n"
        "reference, at every point of both. Two rows at one time are the sides of a jump.\n"
        "Names are the same whatever their quotes: 'a.b' and a.b.\n"
        "\n"
        "  --tube-x X           half width of the rectangle, as part of the span of times\n"
        "                       (0.002)\n"
        "  --tube-y Y           half height, as part of the signal's range (0.002); at least\n"
        "                       1e-5 of its largest size\n"
        "  --nominal X          the least range of a signal, for those that hardly move (0.001)\n"
        "  --signals PATTERN    signals of the reference; * is any text, ? a character; repeat\n"
        "                       for more\n"
        "  --signals-from FILE  the names in a file, one a line\n"
        "  --plot FILE          draw the worst signal with its tube; .svg, .png or .pdf\n"
        "  --json               one json object on standard output\n"
        "  --all                the list in full; else 20 rows of it\n"
        "  --quiet              messages only\n"
        "\n"
        "deviation: the largest distance in value from what the reference takes within the half\n"
        "width in time.\n"
        "\n"
        "Exit codes: 0 all agree, 1 a file could not be written, 2 usage, or a file that cannot\n"
        "be read, 4 a signal is off, or missing in the result, 5 it cannot be told: a signal is\n"
        "not in the reference.\n",
    .run = run,
};
