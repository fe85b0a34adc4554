/* Plots by gnuplot.
 *
 * gnuplot is started without a shell, reads its script from an unnamed file, and writes the picture
 * to the temporary file it gets as its output. So no name or title meets a shell, no pipe can break
 * or fill up, and a picture appears under its name only if gnuplot ended well. */
#define _POSIX_C_SOURCE 200809L
#include "internal.h"

#include <errno.h>
#include <math.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum {
    DEFAULT_VARIABLES = 12,
    PANEL_HEIGHT = 190, /* pixels of one of several stacked panels */
    SINGLE_HEIGHT = 520,
    WIDTH = 900
};

/* A curve spanning less than this fraction of its panel's range cannot be read there. */
static const double READABLE = 0.04;

typedef enum picture { PICTURE_SVG, PICTURE_PNG, PICTURE_PDF } picture;

/* One curve: which variable, in which panel, and the range of its finite values. */
typedef struct curve {
    int variable, panel;
    double low, high;
} curve;

typedef struct plot {
    const report_series *series;
    report_plot_options options;
    picture format;
    curve *curves;
    int count, panels;
} plot;

/* ---------------------------------------------------------------------------------------------
 * What goes where
 * ------------------------------------------------------------------------------------------- */

static bool drawn(const plot *p, size_t row)
{
    double t = p->series->times[row];
    return isfinite(t) && !(p->options.log_time && t <= 0.0);
}

/* Range of the values to be drawn; false if there is none. */
static bool curve_range(const plot *p, curve *c)
{
    c->low = INFINITY;
    c->high = -INFINITY;
    for (size_t r = 0; r < p->series->count; r++) {
        double y = p->series->rows[r * (size_t)p->series->n + (size_t)c->variable];
        if (!drawn(p, r) || !isfinite(y)) continue;
        c->low = fmin(c->low, y);
        c->high = fmax(c->high, y);
    }
    return c->low <= c->high;
}

/* Whether curve k can be read in a panel, and leaves the others there readable. */
static bool fits_panel(const plot *p, int k, int panel)
{
    double low = p->curves[k].low, high = p->curves[k].high;
    for (int i = 0; i < k; i++) {
        if (p->curves[i].panel != panel) continue;
        low = fmin(low, p->curves[i].low);
        high = fmax(high, p->curves[i].high);
    }
    for (int i = 0; i <= k; i++) {
        double span = p->curves[i].high - p->curves[i].low;
        bool inside = i == k || p->curves[i].panel == panel;
        if (inside && span > 0.0 && span < READABLE * (high - low)) return false;
    }
    return true;
}

/* Give every curve its panel: the first in which it can be read. */
static void assign_panels(plot *p)
{
    for (int k = 0; k < p->count; k++) {
        int panel = 0;
        if (p->options.layout == REPORT_LAYOUT_STACKED) panel = k;
        if (p->options.layout == REPORT_LAYOUT_AUTO)
            while (panel < p->panels && !fits_panel(p, k, panel)) panel++;
        p->curves[k].panel = panel;
        if (panel >= p->panels) p->panels = panel + 1;
    }
}

static report_status choose_curves(plot *p, report_error *error)
{
    const report_series *s = p->series;
    const int *chosen = p->options.variables;
    p->count = chosen ? p->options.variable_count : s->shown;
    if (!chosen && p->count > DEFAULT_VARIABLES) p->count = DEFAULT_VARIABLES;
    if (p->count < 1) return report_fail(error, REPORT_ERR_ARGUMENT, "No variables to plot.");
    p->curves = calloc((size_t)p->count, sizeof *p->curves);
    if (!p->curves) return report_fail(error, REPORT_ERR_MEMORY, "Out of memory for a plot.");
    for (int k = 0; k < p->count; k++) {
        curve *c = &p->curves[k];
        c->variable = chosen ? chosen[k] : k;
        if (c->variable < 0 || c->variable >= s->n)
            return report_fail(error, REPORT_ERR_ARGUMENT,
                               "Cannot plot variable %d: there are %d, counted from 0.",
                               c->variable, s->n);
        if (!curve_range(p, c))
            return report_fail(error, REPORT_ERR_ARGUMENT,
                               "Cannot plot '%s': none of its %zu values can be drawn%s.",
                               s->names[c->variable], s->count,
                               p->options.log_time ? " on a logarithmic time axis" : "");
    }
    assign_panels(p);
    return REPORT_OK;
}

static report_status choose_format(plot *p, const char *path, report_error *error)
{
    const char *dot = path ? strrchr(path, '.') : NULL;
    if (dot && strcasecmp(dot, ".svg") == 0)
        p->format = PICTURE_SVG;
    else if (dot && strcasecmp(dot, ".png") == 0)
        p->format = PICTURE_PNG;
    else if (dot && strcasecmp(dot, ".pdf") == 0)
        p->format = PICTURE_PDF;
    else
        return report_fail(error, REPORT_ERR_ARGUMENT,
                           "Cannot tell the format of the plot '%s': the name must end in .svg, "
                           ".png or .pdf.",
                           path ? path : "");
    return REPORT_OK;
}

/* ---------------------------------------------------------------------------------------------
 * The script
 * ------------------------------------------------------------------------------------------- */

/* text as a string expression that gnuplot takes literally, control characters blank. Within single
 * quotes gnuplot substitutes nothing. An apostrophe goes between them as a constant of its own, not
 * doubled: gnuplot 5.4 takes a doubled one at the start of a string for its end, and would run what
 * follows. */
static void write_quoted(FILE *script, const char *text)
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

static void write_setting(FILE *script, const char *setting, const char *text)
{
    fprintf(script, "set %s ", setting);
    write_quoted(script, text);
    putc('\n', script);
}

/* $data: a line t y_1 .. y_k for each row */
static void write_data(FILE *script, const plot *p)
{
    char text[NUMBER_SIZE];
    fputs("$data << END_OF_DATA\n", script);
    for (size_t r = 0; r < p->series->count; r++) {
        if (!drawn(p, r)) continue;
        report_number(p->series->times[r], 17, text);
        fputs(text, script);
        for (int k = 0; k < p->count; k++) {
            double y = p->series->rows[r * (size_t)p->series->n + (size_t)p->curves[k].variable];
            report_number(y, 17, text);
            fprintf(script, " %s", isfinite(y) ? text : "NaN");
        }
        putc('\n', script);
    }
    fputs("END_OF_DATA\n", script);
}

static int picture_width(const plot *p)
{
    return p->options.width > 0 ? p->options.width : WIDTH;
}

static int picture_height(const plot *p)
{
    if (p->options.height > 0) return p->options.height;
    return p->panels > 1 ? 100 + PANEL_HEIGHT * p->panels : SINGLE_HEIGHT;
}

static void write_terminal(FILE *script, const plot *p)
{
    int width = picture_width(p), height = picture_height(p);
    if (p->format == PICTURE_SVG)
        fprintf(script,
                "set terminal svg noenhanced size %d,%d font 'sans,13' background 'white'\n", width,
                height);
    else if (p->format == PICTURE_PDF)
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

/* Decades from one labelled tic of a logarithmic axis to the next, for at most eight labels. */
static int decades_per_tic(const plot *p)
{
    double low = INFINITY, high = 0.0;
    for (size_t r = 0; r < p->series->count; r++) {
        if (!drawn(p, r)) continue;
        low = fmin(low, p->series->times[r]);
        high = fmax(high, p->series->times[r]);
    }
    double decades = log10(high) - log10(low);
    return decades > 8.0 ? (int)ceil(decades / 8.0) : 1;
}

static void write_style(FILE *script, const plot *p)
{
    /* Colours that most colour-blind readers can tell apart (Okabe and Ito 2008). */
    static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                          "#e69f00", "#56b4e9", "#000000"};
    int available = (int)(sizeof colours / sizeof *colours);
    for (int k = 0; k < p->count; k++)
        fprintf(script, "set linetype %d linecolor rgb '%s' linewidth 1.8 dashtype %d\n", k + 1,
                colours[k % available], 1 + k / available % 4);
    fputs("set datafile missing 'NaN'\n"
          "set border 3 linecolor rgb '#606060'\n"
          "set tics nomirror out\n"
          "set grid linecolor rgb '#d8d8d8' linetype 1 linewidth 0.6 dashtype 1\n"
          "set format y '%.4g'\n"
          "set autoscale fix\n"
          "set offsets graph 0, graph 0, graph 0.04, graph 0.04\n",
          script);
    if (p->options.log_time)
        fprintf(script, "set logscale x\nset xtics 1e%d\n", decades_per_tic(p));
}

/* How many curves a panel has, and the first of them. */
static int panel_size(const plot *p, int panel, int *first)
{
    int size = 0;
    for (int k = p->count - 1; k >= 0; k--) {
        if (p->curves[k].panel != panel) continue;
        *first = k;
        size++;
    }
    return size;
}

/* Pixels right of the panels: for the keys, if there are any. */
static int key_width(const plot *p)
{
    size_t longest = 0;
    for (int k = 0; k < p->count; k++) {
        int first;
        char label[LABEL_SIZE];
        report_series_label_of(p->series, p->curves[k].variable, label);
        size_t length = strlen(label);
        if (panel_size(p, p->curves[k].panel, &first) > 1 && length > longest) longest = length;
    }
    int width = longest > 0 ? 85 + 9 * (int)(longest < 64 ? longest : 64) : 40;
    return width < picture_width(p) / 2 ? width : picture_width(p) / 2;
}

/* Panels of one size above each other, whatever their tics and keys need. */
static void write_layout(FILE *script, const plot *p)
{
    double width = picture_width(p), height = picture_height(p);
    bool titled = p->options.title && *p->options.title;
    fprintf(script, "set multiplot layout %d,1 margins screen %.4f,%.4f,%.4f,%.4f spacing %.4f",
            p->panels, fmin(115.0 / width, 0.3), 1.0 - key_width(p) / width,
            fmin(62.0 / height, 0.3), 1.0 - (titled ? 42.0 : 16.0) / height, 18.0 / height);
    if (titled) {
        fputs(" title ", script);
        write_quoted(script, p->options.title);
    }
    putc('\n', script);
}

static void write_panel(FILE *script, const plot *p, int panel)
{
    int first = 0, size = panel_size(p, panel, &first);
    char label[LABEL_SIZE], time[LABEL_SIZE];
    report_series_label_of(p->series, p->curves[first].variable, label);
    report_series_label_of(p->series, -1, time);
    const char *alone = size == 1 ? label : NULL;
    const char *shared = p->options.value_name ? p->options.value_name : "";
    bool last = panel == p->panels - 1;
    write_setting(script, "ylabel", alone ? alone : shared);
    fputs(alone ? "set key off\n"
                : "set key on at graph 1.02, graph 1 left top vertical Left reverse\n",
          script);
    fprintf(script, "set format x '%s'\n", last ? "%g" : "");
    if (last) write_setting(script, "xlabel", p->options.time_name ? p->options.time_name : time);
    const char *separator = "plot ";
    for (int k = 0; k < p->count; k++) {
        if (p->curves[k].panel != panel) continue;
        fprintf(script, "%s$data using 1:%d with lines linetype %d title ", separator, k + 2,
                k + 1);
        report_series_label_of(p->series, p->curves[k].variable, label);
        write_quoted(script, label);
        separator = ", \\\n    ";
    }
    putc('\n', script);
}

static void write_script(FILE *script, const plot *p)
{
    write_terminal(script, p);
    write_style(script, p);
    write_data(script, p);
    write_layout(script, p);
    for (int panel = 0; panel < p->panels; panel++) write_panel(script, p, panel);
    fputs("unset multiplot\nunset output\n", script);
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
static report_status run_gnuplot(const plot *p, FILE *script, FILE *out, FILE *messages,
                                 report_error *error)
{
    const char *program = p->options.gnuplot ? p->options.gnuplot : "gnuplot";
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
static report_status draw(const plot *p, FILE *out, report_error *error)
{
    FILE *script = tmpfile(), *messages = tmpfile();
    report_status status;
    if (!script || !messages) {
        status = report_fail(error, REPORT_ERR_FILE, "No temporary file for gnuplot: %s.",
                             strerror(errno));
    } else {
        write_script(script, p);
        status = report_check_stream(script, error);
        rewind(script);
        if (status == REPORT_OK) status = run_gnuplot(p, script, out, messages, error);
    }
    if (script) fclose(script);
    if (messages) fclose(messages);
    return status;
}

report_status report_plot(const char *path, const report_series *series,
                          const report_plot_options *options, report_error *error)
{
    plot p = {.series = series};
    if (options) p.options = *options;
    whole_file file;
    report_status status = choose_format(&p, path, error);
    if (status == REPORT_OK) status = choose_curves(&p, error);
    if (status == REPORT_OK) status = whole_file_open(&file, path, error);
    if (status == REPORT_OK) {
        status = draw(&p, file.stream, error);
        if (status == REPORT_OK)
            status = whole_file_commit(&file, error);
        else
            whole_file_discard(&file);
    }
    free(p.curves);
    return status;
}
