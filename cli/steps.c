/* --steps FILE: prescribed steps, one number a line.
 *
 * file  = [ "times" | "steps" ] { number }, each on a line of its own; # begins a comment.
 * Times are the ends of steps; steps are their lengths, from the start on. Without a word the
 * numbers are times. */
#define _POSIX_C_SOURCE 200809L

#include "run.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct step_file {
    const char *path;
    long line;
    bool lengths; /* steps, not times */
    bool begun;   /* a word or a number was there */
    double t0, direction;
    double *times; /* owned */
    int count, room;
} step_file;

/* The word of a line without blanks and comment; empty if it has none. */
static char *word_of_line(char *line)
{
    static const char blanks[] = " \t\r\n\v\f";
    line[strcspn(line, "#")] = '\0';
    line += strspn(line, blanks);
    size_t length = strlen(line);
    while (length > 0 && strchr(blanks, line[length - 1])) length--;
    line[length] = '\0';
    return line;
}

static int add_time(step_file *f, double t)
{
    if (f->count == INT_MAX) return complain(CLI_USAGE, "%s: too many steps", f->path);
    if (f->count == f->room) {
        int room = f->room > INT_MAX / 2 ? INT_MAX : 2 * f->room + 16;
        double *longer = realloc(f->times, (size_t)room * sizeof *longer);
        if (!longer) return complain(CLI_FAILED, "out of memory");
        f->times = longer;
        f->room = room;
    }
    f->times[f->count++] = t;
    return CLI_OK;
}

/* A time, behind the last one and the start. */
static int take_time(step_file *f, double t)
{
    double before = f->count > 0 ? f->times[f->count - 1] : f->t0, step = t - before;
    if (f->count == 0 && step == 0.0) return add_time(f, t); /* the start itself */
    if (f->direction == 0.0) f->direction = step;
    if (step == 0.0)
        return complain(CLI_USAGE, "%s:%ld: %.9g repeats the time before", f->path, f->line, t);
    if (step * f->direction > 0.0) return add_time(f, t);
    if (f->count == 0)
        return complain(CLI_USAGE, "%s:%ld: the time %.9g lies before the start at %.9g", f->path,
                        f->line, t, f->t0);
    return complain(CLI_USAGE, "%s:%ld: the time %.9g goes back: the one before is %.9g", f->path,
                    f->line, t, before);
}

/* A step, which must move the time the way that the others do. */
static int take_length(step_file *f, double h)
{
    double before = f->count > 0 ? f->times[f->count - 1] : f->t0;
    if (f->direction == 0.0) f->direction = h;
    if (h * f->direction <= 0.0)
        return complain(CLI_USAGE, "%s:%ld: a step of %.9g %s", f->path, f->line, h,
                        h == 0.0 ? "goes nowhere" : "goes back");
    if (before + h == before)
        return complain(CLI_USAGE, "%s:%ld: a step of %g does not move t = %.17g", f->path, f->line,
                        h, before);
    return add_time(f, before + h);
}

static int take_word(step_file *f, const char *word)
{
    double value;
    bool lengths = strcasecmp(word, "steps") == 0, first = !f->begun;
    f->begun = true;
    if (first && (lengths || strcasecmp(word, "times") == 0)) {
        f->lengths = lengths;
        return CLI_OK;
    }
    if (!parse_double(word, &value))
        return complain(CLI_USAGE, "%s:%ld: '%.60s' is no finite number%s", f->path, f->line, word,
                        first ? ", nor the word times or steps" : "");
    return f->lengths ? take_length(f, value) : take_time(f, value);
}

static int read_lines(step_file *f, FILE *in)
{
    char *line = NULL;
    size_t room = 0;
    int code = CLI_OK;
    errno = 0;
    while (code == CLI_OK && getline(&line, &room, in) >= 0) {
        f->line++;
        const char *word = word_of_line(line);
        if (*word) code = take_word(f, word);
    }
    free(line);
    if (code == CLI_OK && ferror(in))
        code = complain(CLI_USAGE, "cannot read '%s': %s", f->path, strerror(errno));
    return code;
}

/* The steps reach from the start to the stop time that the words ask for. */
static int check_span(const request *r, const step_file *f)
{
    double last = f->count > 0 ? f->times[f->count - 1] : f->t0;
    if (f->count == 0 || last == f->t0) return complain(CLI_USAGE, "'%s' has no steps", f->path);
    if (isnan(r->stop)) return CLI_OK;
    if ((r->stop - f->t0) * f->direction < 0.0)
        return complain(CLI_USAGE, "%s:%ld: the steps go to %.9g, but the stop time is %.9g",
                        f->path, f->line, last, r->stop);
    if ((last - r->stop) * f->direction >= 0.0) return CLI_OK;
    return complain(CLI_USAGE, "%s:%ld: the steps end at %.9g, before the stop time %.9g", f->path,
                    f->line, last, r->stop);
}

int request_steps(request *r)
{
    step_file f = {.path = r->steps, .t0 = r->output.t0, .direction = r->text ? 1.0 : 0.0};
    if (!r->steps) return CLI_OK;
    if (r->options.fixed_step > 0.0 || r->options.max_step > 0.0)
        return complain(CLI_USAGE, "options '--steps' and '--%s' exclude each other",
                        r->options.fixed_step > 0.0 ? "fixed-step" : "max-step");
    FILE *in = fopen(r->steps, "r");
    if (!in) return complain(CLI_USAGE, "cannot read '%s': %s", r->steps, strerror(errno));
    int code = read_lines(&f, in);
    fclose(in);
    if (code == CLI_OK) code = check_span(r, &f);
    r->step_times = f.times;
    r->options.step_sequence = f.times;
    r->options.step_count = f.count;
    if (code == CLI_OK && isnan(r->stop)) r->output.tend = f.times[f.count - 1];
    return code;
}
