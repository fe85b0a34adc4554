/* Pictures by gnuplot.
 *
 * gnuplot is started without a shell and reads its script from an unnamed file, so no name or title
 * meets a shell. It writes the picture into a pipe: gnuplot itself says nothing of a full disk, so
 * the file is written here, where failures are seen. A picture appears under its name only if
 * gnuplot ended well and all of it was written. */
#define _POSIX_C_SOURCE 200809L
#include "gnuplot.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

report_status gnuplot_format(const char *path, picture *format, report_error *error)
{
    const char *dot = path ? strrchr(path, '.') : NULL;
    if (dot && strcasecmp(dot, ".svg") == 0)
        *format = PICTURE_SVG;
    else if (dot && strcasecmp(dot, ".png") == 0)
        *format = PICTURE_PNG;
    else if (dot && strcasecmp(dot, ".pdf") == 0)
        *format = PICTURE_PDF;
    else
        return report_fail(error, REPORT_ERR_ARGUMENT,
                           "Cannot tell the format of the plot '%s': the name must end in .svg, "
                           ".png or .pdf.",
                           path ? path : "");
    return REPORT_OK;
}

/* text as a string expression that gnuplot takes literally, control characters blank. Within single
 * quotes gnuplot substitutes nothing. An apostrophe goes between them as a constant of its own, not
 * doubled: gnuplot 5.4 takes a doubled one at the start of a string for its end, and would run what
 * follows. */
void gnuplot_quoted(FILE *script, const char *text)
{
    putc('\'', script);
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c == '\'')
            fputs("'.\"\\047\".'", script);
        else
            putc(*c < 0x20 || *c == 0x7F ? ' ' : *c, script);
    }
    putc('\'', script);
}

void gnuplot_setting(FILE *script, const char *setting, const char *text)
{
    fprintf(script, "set %s ", setting);
    gnuplot_quoted(script, text);
    putc('\n', script);
}

void gnuplot_shorten(char *text, size_t most)
{
    enum { AT_END = 12 };
    size_t length = strlen(text), tail = length - AT_END;
    if (length <= most || most < AT_END + 4) return;
    size_t head = most - AT_END - 2;
    while (head > 0 && ((unsigned char)text[head] & 0xc0) == 0x80) head--;
    while (tail < length && ((unsigned char)text[tail] & 0xc0) == 0x80) tail++;
    memmove(text + head + 2, text + tail, length - tail + 1);
    memcpy(text + head, "..", 2);
}

void gnuplot_terminal(FILE *script, picture format, int width, int height)
{
    if (format == PICTURE_SVG)
        fprintf(script,
                "set terminal svg noenhanced size %d,%d font 'sans,13' background 'white'\n", width,
                height);
    else if (format == PICTURE_PDF)
        fprintf(script,
                "if (strstrt(GPVAL_TERMINALS, 'pdfcairo') == 0) {\n"
                "print 'this gnuplot draws no pdf (it has no terminal pdfcairo); "
                "choose .svg or .png'\nexit status 3\n}\n"
                "set terminal pdfcairo noenhanced size %.2fin,%.2fin font 'sans,11'\n",
                width / 90.0, height / 90.0);
    else
        fprintf(script,
                "if (strstrt(GPVAL_TERMINALS, 'pngcairo') > 0) {\n"
                "set terminal pngcairo noenhanced size %d,%d font 'sans,11'\n"
                "} else {\nset terminal png noenhanced size %d,%d\n}\n",
                width, height, width, height);
}

/* ---------------------------------------------------------------------------------------------
 * Running gnuplot
 * ------------------------------------------------------------------------------------------- */

/* The last lines of what gnuplot said, in one line, for a message. */
static void read_complaint(FILE *messages, char *text, size_t size)
{
    text[0] = '\0';
    if (fseek(messages, 0, SEEK_END) != 0) return;
    long length = ftell(messages), start = length > (long)size - 1 ? length - (long)size + 1 : 0;
    if (length <= 0 || fseek(messages, start, SEEK_SET) != 0) return;
    size_t got = fread(text, 1, size - 1, messages);
    text[got] = '\0';
    size_t kept = 0;
    for (size_t k = 0; k < got; k++) {
        bool blank = (unsigned char)text[k] <= ' ' || text[k] == 0x7F;
        if (blank && (kept == 0 || text[kept - 1] == ' ')) continue;
        text[kept++] = blank ? ' ' : text[k];
    }
    text[kept] = '\0';
}

/* Start `program` with its three streams on the given descriptors. Returns 0 or an errno. */
static int start_program(const char *program, const int streams[3], pid_t *process)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t usual;
    int failure = posix_spawn_file_actions_init(&actions);
    if (failure != 0) return failure;
    failure = posix_spawnattr_init(&attributes);
    if (failure != 0) {
        posix_spawn_file_actions_destroy(&actions);
        return failure;
    }
    /* whoever reads no more of the pipe ends it, even if we ignore that signal */
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    failure = posix_spawnattr_setsigdefault(&attributes, &usual);
    if (failure == 0) failure = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    for (int k = 0; k < 3 && failure == 0; k++)
        failure = posix_spawn_file_actions_adddup2(&actions, streams[k], k);
    /* -d: the user's own start files must not change the picture. */
    char *arguments[] = {(char[]){"gnuplot"}, (char[]){"-d"}, NULL};
    if (failure == 0)
        failure = posix_spawnp(process, program, &actions, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return failure;
}

static bool wait_for(pid_t process, int *state)
{
    while (waitpid(process, state, 0) < 0)
        if (errno != EINTR) return false;
    return true;
}

report_status gnuplot_interrupted(report_error *error)
{
    return report_fail(error, REPORT_ERR_GNUPLOT, "Drawing was interrupted.");
}

static bool interrupted(const gnuplot_run *run)
{
    return run->interrupt && run->interrupt(run->user) != 0;
}

/* How often the interruption is asked for while nothing comes, in milliseconds. */
enum { PATIENCE = 100 };

/* Copy what comes out of a pipe to its end; bytes, or -1 if interrupted. */
static long copy_picture(int from, FILE *out, const gnuplot_run *run)
{
    char block[65536];
    long copied = 0;
    for (;;) {
        struct pollfd ready = {.fd = from, .events = POLLIN};
        if (interrupted(run)) return -1;
        if (poll(&ready, 1, PATIENCE) <= 0) continue;
        ssize_t got = read(from, block, sizeof block);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return copied;
        if (fwrite(block, 1, (size_t)got, out) == (size_t)got) copied += got;
    }
}

/* Why there is no picture. */
static report_status explain(const char *program, int state, FILE *messages, report_error *error)
{
    char complaint[600];
    read_complaint(messages, complaint, sizeof complaint);
    if (WIFEXITED(state) && WEXITSTATUS(state) == 127 && !complaint[0])
        return report_fail(error, REPORT_ERR_GNUPLOT,
                           "Cannot start '%s'. Plots need gnuplot (Debian: gnuplot-nox).", program);
    return report_fail(error, REPORT_ERR_GNUPLOT, "'%s' failed%s%s", program,
                       complaint[0] ? ": " : ".", complaint);
}

/* Run gnuplot on the script; the picture goes to `out`. */
static report_status run_gnuplot(const gnuplot_run *run, FILE *script, FILE *out, FILE *messages,
                                 report_error *error)
{
    const char *program = run->program ? run->program : "gnuplot";
    int ends[2], state = 0;
    pid_t process;
    if (pipe(ends) != 0)
        return report_fail(error, REPORT_ERR_FILE, "No pipe for gnuplot: %s.", strerror(errno));
    (void)fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    (void)fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    const int streams[3] = {fileno(script), ends[1], fileno(messages)};
    int failure = start_program(program, streams, &process);
    close(ends[1]);
    long copied = failure == 0 ? copy_picture(ends[0], out, run) : 0;
    close(ends[0]);
    if (failure != 0)
        return report_fail(error, REPORT_ERR_GNUPLOT,
                           "Cannot start '%s': %s. Plots need gnuplot (Debian: gnuplot-nox).",
                           program, strerror(failure));
    if (copied < 0) kill(process, SIGKILL);
    bool ended = wait_for(process, &state) && WIFEXITED(state);
    if (copied < 0) return gnuplot_interrupted(error);
    if (ended && WEXITSTATUS(state) == 0 && (copied > 0 || ferror(out))) return REPORT_OK;
    return explain(program, state, messages, error);
}

/* Write the script and let gnuplot draw it into `out`. */
static report_status draw(const gnuplot_run *run, gnuplot_script write, void *context, FILE *out,
                          report_error *error)
{
    FILE *script = tmpfile(), *messages = tmpfile();
    report_status status;
    if (!script || !messages) {
        status = report_fail(error, REPORT_ERR_FILE, "No temporary file for gnuplot: %s.",
                             strerror(errno));
    } else {
        write(script, context);
        status = report_check_stream(script, error);
        rewind(script);
        if (status == REPORT_OK) status = run_gnuplot(run, script, out, messages, error);
    }
    if (script) fclose(script);
    if (messages) fclose(messages);
    return status;
}

report_status gnuplot_draw(const char *path, const gnuplot_run *run, gnuplot_script write,
                           void *context, report_error *error)
{
    report_file file;
    report_status status = report_file_open(&file, path, error);
    if (status != REPORT_OK) return status;
    return report_file_finish(&file, draw(run, write, context, file.stream, error), error);
}
