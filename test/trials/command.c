/* The command `daedal` as a user runs it: within limits, and with its tables read back. */
#define _DEFAULT_SOURCE /* wait4 */
#include "command.h"

#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- one run ---- */

static void redirect(const char *path, int to)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || dup2(file, to) < 0) _exit(126);
    close(file);
}

#ifdef TRIAL_WITHIN
int daedal_main(int argc, char **argv); /* main of cli/main.c */

/* The command without loading its libraries once more, which takes longer than most runs. */
static void become_command(char *const *words)
{
    char *copy[MOST_WORDS];
    int count = 0;
    for (; words[count]; count++) copy[count] = words[count];
    copy[count] = NULL;
    exit(daedal_main(count, copy));
}
#else
static void become_command(char *const *words)
{
    execv(words[0], words);
    _exit(127);
}
#endif

static void become(char *const *words, int seconds, const char *out, const char *err)
{
    struct rlimit cpu = {.rlim_cur = (rlim_t)seconds, .rlim_max = (rlim_t)seconds + 1};
    struct rlimit core = {0, 0};
    int nothing = open("/dev/null", O_RDONLY);
    if (nothing >= 0) dup2(nothing, STDIN_FILENO);
    redirect(out, STDOUT_FILENO);
    redirect(err, STDERR_FILENO);
    setrlimit(RLIMIT_CPU, &cpu);
    setrlimit(RLIMIT_CORE, &core);
    become_command(words);
}

/* Wait for the child; where it sleeps instead of working the clock ends it. */
static int wait_for(pid_t child, int seconds, struct rusage *used, bool *killed)
{
    int status = 0;
    const struct timespec pause = {0, 200000};
    const time_t limit = time(NULL) + 10 * seconds + 10;
    for (;;) {
        pid_t ended = wait4(child, &status, WNOHANG, used);
        if (ended == child || (ended < 0 && errno != EINTR)) return status;
        if (time(NULL) > limit && !*killed) {
            kill(child, SIGKILL);
            *killed = true;
        }
        nanosleep(&pause, NULL);
    }
}

ending command_run(char *const *words, int seconds, const char *out, const char *err)
{
    struct rusage used = {0};
    bool killed = false;
    fflush(stdout); /* or the child may write it, too */
    pid_t child = fork();
    if (child == 0) become(words, seconds, out, err);
    if (child < 0) return (ending){.code = -1};
    int status = wait_for(child, seconds, &used, &killed);
    ending end = {.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
                  .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0};
    end.seconds = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                  1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
    bool limit = end.signal == SIGXCPU || (end.signal == SIGKILL && end.seconds >= seconds);
    end.timed_out = killed || limit;
    return end;
}

/* ---- files ---- */

char *file_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    size_t used = 0, room = 1 << 16;
    char *text = malloc(room);
    while (text) {
        used += fread(text + used, 1, room - used - 1, file);
        if (used + 1 < room) break;
        room *= 2;
        char *more = realloc(text, room);
        if (!more) free(text);
        text = more;
    }
    fclose(file);
    if (text) text[used] = '\0';
    return text;
}

/* One field of csv, quoted or not, in place; *end is what followed it. */
static char *next_field(char **at, char *end)
{
    char *from = *at, *to = *at, *start = *at;
    bool quoted = *from == '"';
    if (quoted) from++;
    for (; *from; from++) {
        if (quoted && *from == '"' && from[1] != '"') {
            quoted = false;
            continue;
        }
        if (quoted && *from == '"') from++;
        if (!quoted && (*from == ',' || *from == '\n')) break;
        *to++ = *from;
    }
    *end = *from;
    *at = *from ? from + 1 : from;
    *to = '\0';
    return start;
}

/* "v [m/s]" -> "v"; subscripts have no blank before them. */
static char *without_unit(const char *text)
{
    const char *unit = strstr(text, " [");
    size_t length = unit ? (size_t)(unit - text) : strlen(text);
    char *name = malloc(length + 1);
    if (!name) return NULL;
    memcpy(name, text, length);
    name[length] = '\0';
    return name;
}

static int count_char(const char *text, char c)
{
    int count = 0;
    for (; *text; text++) count += *text == c;
    return count;
}

/* A number; what is finite in more precision, but beyond doubles, counts as the largest of them. */
static double number_of(const char *field)
{
    long double x = strtold(field, NULL);
    return isfinite(x) ? (double)fmaxl(-DBL_MAX, fminl(DBL_MAX, x)) : (double)x;
}

bool table_read(table *t, const char *path)
{
    *t = (table){0};
    char *text = file_text(path), *at = text, end = '\n';
    if (!text || !*text) {
        free(text);
        return false;
    }
    int lines = count_char(text, '\n') + 1, most = count_char(text, ',') + 1;
    t->names = calloc((size_t)most + 1, sizeof *t->names);
    do {
        t->names[t->columns++] = without_unit(next_field(&at, &end));
    } while (end == ',');
    t->values = calloc((size_t)lines * (size_t)t->columns, sizeof *t->values);
    while (*at) {
        double *row = t->values + (size_t)t->rows * (size_t)t->columns;
        int j = 0;
        do {
            const char *field = next_field(&at, &end);
            if (j < t->columns) row[j++] = number_of(field);
        } while (end == ',');
        t->rows += j == t->columns;
    }
    free(text);
    return true;
}

void table_free(table *t)
{
    trial_names_free(t->names, t->columns);
    free(t->values);
    *t = (table){0};
}

int table_column(const table *t, const char *name)
{
    for (int j = 0; j < t->columns; j++)
        if (strcmp(t->names[j], name) == 0) return j;
    return -1;
}

int table_row(const table *t, double time)
{
    for (int i = t->rows - 1; i >= 0; i--)
        if (fabs(t->values[(size_t)i * (size_t)t->columns] - time) <= 1e-12 * (1.0 + fabs(time)))
            return i;
    return -1;
}

int table_first_nonfinite(const table *t)
{
    for (int i = 0; i < t->rows; i++)
        for (int j = 0; j < t->columns; j++)
            if (!isfinite(t->values[(size_t)i * (size_t)t->columns + (size_t)j])) return i;
    return -1;
}

/* ---- lists ---- */

char **listed_names(const char *daedal, const char *list, const char *scratch, int *count)
{
    bool methods = strcmp(list, "methods") == 0; /* with all orders and variants */
    char *words[] = {(char *)(size_t)daedal, (char *)(size_t)list, methods ? "--names" : NULL,
                     NULL};
    *count = 0;
    if (command_run(words, 20, scratch, "/dev/null").code != 0) return NULL;
    char *text = file_text(scratch);
    if (!text) return NULL;
    char **names = calloc((size_t)count_char(text, '\n') + 1, sizeof *names);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        if (*line == ' ') continue; /* it goes on about the one above */
        line[strcspn(line, " ")] = '\0';
        names[(*count)++] = without_unit(line);
    }
    free(text);
    return names;
}

void trial_names_free(char **names, int count)
{
    for (int i = 0; i < count; i++) free(names[i]);
    free(names);
}
