/* Pictures by gnuplot.
 *
 * gnuplot is started without a shell, reads its script from an unnamed file, and writes the picture
 * to the temporary file it gets as its output. So no name or title meets a shell, no pipe can break
 * or fill up, and a picture appears under its name only if gnuplot ended well. */
#define _POSIX_C_SOURCE 200809L
#include "gnuplot.h"

#include <errno.h>
#include <spawn.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
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

/* Start `program` with its three streams on the given files. Returns 0 or an errno. */
static int start_program(const char *program, FILE *in, FILE *out, FILE *messages, pid_t *process)
{
    posix_spawn_file_actions_t actions;
    int failure = posix_spawn_file_actions_init(&actions);
    if (failure != 0) return failure;
    FILE *streams[3] = {in, out, messages};
    for (int k = 0; k < 3 && failure == 0; k++)
        failure = posix_spawn_file_actions_adddup2(&actions, fileno(streams[k]), k);
    /* -d: the user's own start files must not change the picture. */
    char *arguments[] = {(char[]){"gnuplot"}, (char[]){"-d"}, NULL};
    if (failure == 0) failure = posix_spawnp(process, program, &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    return failure;
}

static bool wait_for(pid_t process, int *state)
{
    while (waitpid(process, state, 0) < 0)
        if (errno != EINTR) return false;
    return true;
}

/* Run gnuplot on the script; its output goes to `out`. */
static report_status run_gnuplot(const char *given, FILE *script, FILE *out, FILE *messages,
                                 report_error *error)
{
    const char *program = given ? given : "gnuplot";
    pid_t process;
    int failure = start_program(program, script, out, messages, &process), state = 0;
    if (failure != 0)
        return report_fail(error, REPORT_ERR_GNUPLOT,
                           "Cannot start '%s': %s. Plots need gnuplot (Debian: gnuplot-nox).",
                           program, strerror(failure));
    struct stat info;
    bool ended = wait_for(process, &state) && WIFEXITED(state);
    if (ended && WEXITSTATUS(state) == 0 && fstat(fileno(out), &info) == 0 &&
        (info.st_size > 0 || !S_ISREG(info.st_mode)))
        return REPORT_OK;
    char complaint[600];
    read_complaint(messages, complaint, sizeof complaint);
    if (ended && WEXITSTATUS(state) == 127 && !complaint[0])
        return report_fail(error, REPORT_ERR_GNUPLOT,
                           "Cannot start '%s'. Plots need gnuplot (Debian: gnuplot-nox).", program);
    return report_fail(error, REPORT_ERR_GNUPLOT, "'%s' failed%s%s", program,
                       complaint[0] ? ": " : ".", complaint);
}

/* Write the script and let gnuplot draw it into `out`. */
static report_status draw(const char *program, gnuplot_script write, const void *context, FILE *out,
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
        if (status == REPORT_OK) status = run_gnuplot(program, script, out, messages, error);
    }
    if (script) fclose(script);
    if (messages) fclose(messages);
    return status;
}

report_status gnuplot_draw(const char *path, const char *program, gnuplot_script write,
                           const void *context, report_error *error)
{
    whole_file file;
    report_status status = whole_file_open(&file, path, error);
    if (status != REPORT_OK) return status;
    status = draw(program, write, context, file.stream, error);
    if (status == REPORT_OK) return whole_file_commit(&file, error);
    whole_file_discard(&file);
    return status;
}
