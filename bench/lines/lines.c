/* bench_lines: the known lines, from the model text and from callbacks, beside RADAU5, RADAU,
 * RODAS, SEULEX, HEM5, IDA and DASSL (DASRT where there are events), all in one process.
 *
 *     bench_lines [options] [line ..]
 *       -d DIGITS     5,7,10
 *       -c CODES      only these, as native,callbacks,RADAU5; all
 *       -n ROUNDS     the least of so many interleaved runs counts; 15
 *       --csv FILE    every run
 *       --quick       3 rounds, whole powers of ten
 *       --table       what is printed anyway: time of the best other code over that of Daedal
 *       --events      cost of an event in steps, in place of the table
 *       -v            every run on the way
 *
 * native and tape: a second solver of a problem that is translated, planned and compiled; first:
 * text to solution, with nothing kept; callbacks: problem and solver. Times are processor times of
 * this process and contain solver and problem from creation to release; memory of Hairer's codes is
 * there before. Digits are -log10(max|e| / max|y|) at the end, of positions for mechanisms; times
 * at equal digits are interpolated between tolerances half a power of ten apart, errors that do not
 * go down pooled. */
#include "lines.h"

#include "events.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

static void read_digits(const char *text, wishes *w)
{
    w->digit_count = 0;
    for (char *end; *text && w->digit_count < DIGITS_MOST; text = *end ? end + 1 : end)
        w->digits[w->digit_count++] = (int)strtol(text, &end, 10);
}

static void measure_line(const char *name, const wishes *w, bool events)
{
    record *records = bench_space(WAYS_MOST, sizeof *records);
    line *l = line_new(name);
    if (!l)
        fprintf(stderr, "%s: no such line\n", name);
    else if (!events) {
        line_measure(l, w, records);
        table_line(l, w, records);
    } else if (l->hybrid)
        events_line(l, w);
    line_free(l);
    free(records);
}

static bool read_options(int argc, char **argv, wishes *w, bool *events)
{
    static const struct option names[] = {{"csv", 1, NULL, 'o'},    {"quick", 0, NULL, 'q'},
                                          {"table", 0, NULL, 't'},  {"events", 0, NULL, 'e'},
                                          {"digits", 1, NULL, 'd'}, {"codes", 1, NULL, 'c'},
                                          {"rounds", 1, NULL, 'n'}, {0}};
    for (int o; (o = getopt_long(argc, argv, "d:c:n:v", names, NULL)) != -1;) switch (o) {
        case 'd': read_digits(optarg, w); break;
        case 'c': w->codes = optarg; break;
        case 'n': w->rounds = atoi(optarg); break;
        case 'v': w->verbose = true; break;
        case 'q': w->rounds = 3, w->step = 1.0; break;
        case 't': break;
        case 'e': *events = true; break;
        case 'o':
            if (!(w->csv = fopen(optarg, "w"))) return perror(optarg), false;
            break;
        default: return false;
        }
    return true;
}

int main(int argc, char **argv)
{
    wishes w = {.rounds = 15, .digits = {5, 7, 10}, .digit_count = 3, .step = 0.5};
    bool events = false;
    setvbuf(stdout, NULL, _IOLBF, 0);
    const char *missing = ways_open();
    if (!read_options(argc, argv, &w, &events)) return 2;
    if (missing) return fprintf(stderr, "%s\n", missing), 1;
    if (events)
        events_begin();
    else
        table_begin(&w);
    for (int i = optind; i < argc; i++) measure_line(argv[i], &w, events);
    for (int i = 0; optind == argc && i < line_count; i++) measure_line(line_names[i], &w, events);
    if (!events) table_end(&w);
    if (w.csv) fclose(w.csv);
    return 0;
}
