/* Plots of series by gnuplot.
 *
 * All variables that are asked for are drawn. Those of one unit and of like size share a panel,
 * with the unit at its axis; panels stand above each other, on further pages of a pdf, in further
 * columns of other pictures. Of very many rows a picture gets what its pixels can show. */
#include "gnuplot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    PANEL_HEIGHT = 190, /* pixels of one of several stacked panels */
    SINGLE_HEIGHT = 520,
    WIDTH = 900,
    LEFT_MARGIN = 115,
    BOTTOM_MARGIN = 76, /* for the labels of the tics, and the time below them */
    PANEL_CURVES = 7,   /* as many as there are colours; the key has room for them */
    PAGE_PANELS = 6,    /* of a page in a pdf */
    COLUMN_PANELS = 24, /* above each other in another picture */
    MOST_COLUMNS = 6,   /* of a png, in which every pixel costs */
    AXIS_LABEL = 26,    /* characters of a label beside a panel that curves share */
    MOST_BARS = 10,     /* of a panel */
    BAR_LETTERS = 24    /* of a name beside a bar */
};

/* A curve spanning less than this fraction of its panel's range cannot be read there. */
static const double READABLE = 0.04;

/* Up to this many rows are drawn as they are; of more, first, last, lowest and highest in each of
 * SLOTS slices of the time: what a picture of WIDTH pixels shows of them, and twice that. */
enum { SLOTS = 2000, MOST_ROWS = 4 * SLOTS };

typedef struct spot {
    double t, y;
} spot;

/* One curve: which variable, in which panel, the range of its finite values, and what is collected
 * of the slot that is being read. */
typedef struct curve {
    int variable, panel;
    double low, high;
    spot first, last, lowest, highest;
    bool any, gap;
} curve;

typedef struct plot {
    const report_series *series;
    report_plot_options options;
    picture format;
    curve *curves;
    int count, panels;
    int pages, columns, rows; /* of a page */
    bool interrupted;
    double begin, end; /* time axis */
    char *omitted;     /* names without a value to draw; owned, NULL: none */
} plot;

/* ---------------------------------------------------------------------------------------------
 * What goes where
 * ------------------------------------------------------------------------------------------- */

static bool drawn(const plot *p, double t)
{
    return isfinite(t) && !(p->options.log_time && t <= 0.0);
}

/* Whether the drawing goes on at row r; asked once in a while. */
static bool goes_on(plot *p, size_t r)
{
    enum { ROWS = 16384 };
    if (r % ROWS == 0 && p->options.interrupt && p->options.interrupt(p->options.user) != 0)
        p->interrupted = true;
    return !p->interrupted;
}

/* Ranges of the time and of all curves, in one pass. */
static void find_ranges(plot *p)
{
    p->begin = INFINITY;
    p->end = -INFINITY;
    for (int k = 0; k < p->count; k++) p->curves[k].low = INFINITY, p->curves[k].high = -INFINITY;
    for (size_t r = 0; r < p->series->count && goes_on(p, r); r++) {
        double t;
        const double *y = report_series_row(p->series, r, &t);
        if (!drawn(p, t)) continue;
        p->begin = fmin(p->begin, t);
        p->end = fmax(p->end, t);
        for (int k = 0; k < p->count; k++) {
            double value = y[p->curves[k].variable];
            if (!isfinite(value)) continue;
            p->curves[k].low = fmin(p->curves[k].low, value);
            p->curves[k].high = fmax(p->curves[k].high, value);
        }
    }
}

/* The same with the points beside the curves. */
static void widen_ranges(plot *p)
{
    const report_series *points = p->options.points;
    for (size_t r = 0; points && r < points->count && goes_on(p, r); r++) {
        double t;
        const double *y = report_series_row(points, r, &t);
        if (!drawn(p, t)) continue;
        p->begin = fmin(p->begin, t);
        p->end = fmax(p->end, t);
        for (int k = 0; k < p->count; k++) {
            double value = y[p->curves[k].variable];
            if (!isfinite(value)) continue;
            p->curves[k].low = fmin(p->curves[k].low, value);
            p->curves[k].high = fmax(p->curves[k].high, value);
        }
    }
}

static const char *unit_of(const plot *p, int k)
{
    return p->series->units ? p->series->units[p->curves[k].variable] : "";
}

/* Whether curve k belongs into a panel: the same unit, room for it, and all of them readable. */
static bool fits_panel(const plot *p, int k, int panel)
{
    double low = p->curves[k].low, high = p->curves[k].high;
    int size = 0;
    for (int i = 0; i < k; i++) {
        if (p->curves[i].panel != panel) continue;
        if (strcmp(unit_of(p, i), unit_of(p, k)) != 0) return false;
        low = fmin(low, p->curves[i].low);
        high = fmax(high, p->curves[i].high);
        size++;
    }
    if (size == PANEL_CURVES) return false;
    for (int i = 0; i <= k; i++) {
        double span = p->curves[i].high - p->curves[i].low;
        bool inside = i == k || p->curves[i].panel == panel;
        if (inside && span > 0.0 && span < READABLE * (high - low)) return false;
    }
    return true;
}

/* Give every curve its panel: the first that it fits into, below that of the bars. */
static void assign_panels(plot *p)
{
    int first = p->panels = p->options.bars ? 1 : 0;
    for (int k = 0; k < p->count; k++) {
        int panel = first;
        if (p->options.layout == REPORT_LAYOUT_STACKED) panel = first + k;
        if (p->options.layout == REPORT_LAYOUT_AUTO)
            while (panel < p->panels && !fits_panel(p, k, panel)) panel++;
        p->curves[k].panel = panel;
        if (panel >= p->panels) p->panels = panel + 1;
    }
}

static int divided(int a, int b)
{
    return (a + b - 1) / b;
}

/* Pages of a pdf, columns of other pictures, with as many panels in each. */
static report_status arrange(plot *p, report_error *error)
{
    bool pdf = p->format == PICTURE_PDF;
    p->pages = pdf ? divided(p->panels, PAGE_PANELS) : 1;
    p->columns = pdf ? 1 : divided(p->panels, COLUMN_PANELS);
    p->rows = divided(p->panels, p->pages * p->columns);
    if (p->format != PICTURE_PNG || p->columns <= MOST_COLUMNS) return REPORT_OK;
    return report_fail(error, REPORT_ERR_ARGUMENT,
                       "%d variables need %d panels, too many for one .png. Draw a .pdf, which has "
                       "pages, or fewer variables.",
                       p->count, p->panels);
}

/* Leave out curve k, which has no value to draw, and keep its name. */
static bool omit(plot *p, int k)
{
    const char *name = p->series->names[p->curves[k].variable];
    size_t old = p->omitted ? strlen(p->omitted) : 0;
    char *names = realloc(p->omitted, old + strlen(name) + 3);
    if (!names) return false;
    p->omitted = names;
    sprintf(names + old, "%s%s", old ? ", " : "", name);
    p->count--;
    for (int i = k; i < p->count; i++) p->curves[i] = p->curves[i + 1];
    return true;
}

static report_status omit_empty(plot *p, report_error *error)
{
    int first = p->curves[0].variable;
    for (int k = p->count - 1; k >= 0; k--)
        if (!(p->curves[k].low <= p->curves[k].high) && !omit(p, k))
            return report_fail(error, REPORT_ERR_MEMORY, "Out of memory for a plot.");
    if (p->count > 0) return REPORT_OK;
    return report_fail(error, REPORT_ERR_ARGUMENT,
                       "Cannot plot '%s': none of its %zu values can be drawn%s.",
                       p->series->names[first], p->series->count,
                       p->options.log_time ? " on a logarithmic time axis" : "");
}

static report_status choose_curves(plot *p, report_error *error)
{
    const report_series *s = p->series;
    const int *chosen = p->options.variables;
    p->count = chosen ? p->options.variable_count : s->shown;
    if (p->count < 1) return report_fail(error, REPORT_ERR_ARGUMENT, "No variables to plot.");
    p->curves = calloc((size_t)p->count, sizeof *p->curves);
    if (!p->curves) return report_fail(error, REPORT_ERR_MEMORY, "Out of memory for a plot.");
    for (int k = 0; k < p->count; k++) {
        p->curves[k].variable = chosen ? chosen[k] : k;
        if (p->curves[k].variable >= 0 && p->curves[k].variable < s->n) continue;
        return report_fail(error, REPORT_ERR_ARGUMENT,
                           "Cannot plot variable %d: there are %d, counted from 0.",
                           p->curves[k].variable, s->n);
    }
    find_ranges(p);
    widen_ranges(p);
    if (p->interrupted) return gnuplot_interrupted(error);
    report_status status = omit_empty(p, error);
    if (status != REPORT_OK) return status;
    assign_panels(p);
    return arrange(p, error);
}

/* ---------------------------------------------------------------------------------------------
 * The data
 * ------------------------------------------------------------------------------------------- */

/* The slot of a time among SLOTS of the axis. */
static int slot_of(const plot *p, double t)
{
    bool log = p->options.log_time;
    double from = log ? log10(p->begin) : p->begin, to = log ? log10(p->end) : p->end;
    double place = to > from ? ((log ? log10(t) : t) - from) / (to - from) : 0.0;
    return (int)fmin(SLOTS * place, SLOTS - 1);
}

static void collect(curve *c, double t, double y)
{
    spot here = {t, y};
    if (!isfinite(y)) {
        c->gap = true;
        return;
    }
    if (!c->any) c->first = c->lowest = c->highest = here;
    if (y < c->lowest.y) c->lowest = here;
    if (y > c->highest.y) c->highest = here;
    c->last = here;
    c->any = true;
}

static void write_spot(FILE *script, bool there, spot at)
{
    char t[NUMBER_SIZE], y[NUMBER_SIZE];
    report_number(at.t, 17, t);
    report_number(at.y, 17, y);
    if (there)
        fprintf(script, " %s %s", t, y);
    else
        fputs(" NaN NaN", script);
}

/* What was collected of a slot: a line with time and value of every curve for each of its first,
 * lowest, highest and last values, in the order of time, and one for a gap. Of a slot with one row
 * one line. */
static void write_slot(FILE *script, plot *p, size_t rows)
{
    int lines = rows > 1 ? 5 : 1;
    for (int line = 0; line < lines; line++) {
        for (int k = 0; k < p->count; k++) {
            const curve *c = &p->curves[k];
            bool falls = (c->lowest.t - c->highest.t) * (c->last.t - c->first.t) > 0.0;
            const spot *extremes[2] = {falls ? &c->highest : &c->lowest,
                                       falls ? &c->lowest : &c->highest};
            const spot *at = line == 0 ? &c->first : line < 3 ? extremes[line - 1] : &c->last;
            write_spot(script, c->any && !(line == 4 && c->gap), *at);
        }
        putc('\n', script);
    }
    for (int k = 0; k < p->count; k++) p->curves[k].any = p->curves[k].gap = false;
}

/* $data: lines of t_1 y_1 t_2 y_2 .. */
static void write_data(FILE *script, plot *p)
{
    bool whole = p->series->count <= MOST_ROWS;
    int slot = -1;
    size_t collected = 0;
    fputs("$data << END_OF_DATA\n", script);
    for (size_t r = 0; r < p->series->count && goes_on(p, r); r++) {
        double t;
        const double *y = report_series_row(p->series, r, &t);
        if (!drawn(p, t)) continue;
        int here = whole ? 0 : slot_of(p, t);
        if (collected > 0 && (whole || here != slot)) {
            write_slot(script, p, collected);
            collected = 0;
        }
        slot = here;
        collected++;
        for (int k = 0; k < p->count; k++) collect(&p->curves[k], t, y[p->curves[k].variable]);
    }
    if (collected > 0) write_slot(script, p, collected);
    fputs("END_OF_DATA\n", script);
}

/* $points: lines of t y_1 y_2 .. */
static void write_points(FILE *script, plot *p)
{
    const report_series *points = p->options.points;
    if (!points) return;
    fputs("$points << END_OF_DATA\n", script);
    for (size_t r = 0; r < points->count && goes_on(p, r); r++) {
        double t;
        const double *y = report_series_row(points, r, &t);
        if (!drawn(p, t)) continue;
        for (int k = -1; k < p->count; k++) {
            char number[NUMBER_SIZE];
            double x = k < 0 ? t : y[p->curves[k].variable];
            report_number(x, 17, number);
            fprintf(script, " %s", isfinite(x) ? number : "NaN");
        }
        putc('\n', script);
    }
    fputs("END_OF_DATA\n", script);
}

/* ---------------------------------------------------------------------------------------------
 * The script
 * ------------------------------------------------------------------------------------------- */

static int picture_width(const plot *p)
{
    return p->options.width > 0 ? p->options.width : WIDTH * p->columns;
}

static int picture_height(const plot *p)
{
    if (p->options.height > 0) return p->options.height;
    return p->rows > 1 ? 114 + PANEL_HEIGHT * p->rows : SINGLE_HEIGHT;
}

/* Decades from one labelled tic of a logarithmic axis to the next, for at most eight labels. */
static int decades_per_tic(const plot *p)
{
    double decades = log10(p->end) - log10(p->begin);
    return decades > 8.0 ? (int)ceil(decades / 8.0) : 1;
}

static void write_style(FILE *script, const plot *p)
{
    /* Colours that most colour-blind readers can tell apart (Okabe and Ito 2008). */
    static const char *const colours[PANEL_CURVES] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                      "#e69f00", "#56b4e9", "#000000"};
    for (int k = 0; k < p->count; k++)
        fprintf(script, "set linetype %d linecolor rgb '%s' linewidth 1.8 dashtype %d\n", k + 1,
                colours[k % PANEL_CURVES], 1 + k / PANEL_CURVES % 4);
    fputs("set datafile missing 'NaN'\n"
          "set border 3 linecolor rgb '#606060'\n"
          "set tics nomirror out\n"
          "set grid linecolor rgb '#d8d8d8' linetype 1 linewidth 0.6 dashtype 1\n"
          "set autoscale fix\n"
          "set offsets graph 0, graph 0, graph 0.04, graph 0.04\n",
          script);
}

static void write_time_axis(FILE *script, const plot *p)
{
    if (p->options.log_time)
        fprintf(script, "set logscale x\nset xtics 1e%d\n", decades_per_tic(p));
    /* panels share the time axis, those of curves that end early as well */
    char from[NUMBER_SIZE], to[NUMBER_SIZE];
    report_number(p->begin, 17, from);
    report_number(p->end, 17, to);
    if (p->end > p->begin) fprintf(script, "set xrange [%s:%s]\n", from, to);
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

/* Whether all curves of a panel have the unit of its first one. */
static bool one_unit(const plot *p, int panel, int first)
{
    for (int k = first; k < p->count; k++)
        if (p->curves[k].panel == panel && strcmp(unit_of(p, k), unit_of(p, first)) != 0)
            return false;
    return true;
}

/* Pixels that a key may have, beside its longest name, and those of a letter. */
enum { KEY_REST = 85, KEY_LETTER = 9, MOST_LETTERS = 64 };

static int most_key_width(const plot *p)
{
    return picture_width(p) / p->columns / 2;
}

/* The name of a curve in the key; its unit is at the axis. */
static void key_label(const plot *p, int k, bool units, char text[LABEL_SIZE])
{
    int letters = (most_key_width(p) - KEY_REST) / KEY_LETTER;
    report_label(p->series->names[p->curves[k].variable], units ? unit_of(p, k) : NULL, text);
    gnuplot_shorten(text, (size_t)(letters < MOST_LETTERS ? letters : MOST_LETTERS));
}

/* Whether the curves of a panel are named by a key: several, or one whose name is longer than the
 * panel is high. */
static bool has_key(const plot *p, int panel)
{
    int first = 0;
    char label[LABEL_SIZE];
    if (panel_size(p, panel, &first) > 1) return true;
    report_series_label_of(p->series, p->curves[first].variable, label);
    return strlen(label) > (p->panels > 1 ? AXIS_LABEL : MOST_LETTERS);
}

/* "x, y [m]", or "[m]" where the names are too many for the axis. */
static void axis_label(const plot *p, int panel, int first, char text[LABEL_SIZE])
{
    char names[LABEL_SIZE] = "";
    size_t length = 0;
    for (int k = first; k < p->count && length <= AXIS_LABEL; k++) {
        const char *name = p->series->names[p->curves[k].variable];
        if (p->curves[k].panel != panel) continue;
        if (length + strlen(name) + 2 > AXIS_LABEL) length = AXIS_LABEL;
        length += (size_t)snprintf(names + length, sizeof names - length, "%s%.40s",
                                   length ? ", " : "", name);
    }
    report_label(length <= AXIS_LABEL ? names : "", unit_of(p, first), text);
}

/* Pixels right of the panels: for the keys, if there are any. */
static int key_width(const plot *p)
{
    size_t longest = 0;
    for (int k = 0; k < p->count; k++) {
        int first = 0;
        char label[LABEL_SIZE];
        bool shared = has_key(p, p->curves[k].panel);
        panel_size(p, p->curves[k].panel, &first);
        key_label(p, k, !one_unit(p, p->curves[k].panel, first), label);
        size_t length = strlen(label);
        if (shared && length > longest) longest = length;
    }
    int width = longest > 0 ? KEY_REST + KEY_LETTER * (int)longest : 40;
    return width < most_key_width(p) ? width : most_key_width(p);
}

/* Digits, at least so many, of labels between low and high that tell one tic from the next: a tenth
 * of the way apart, or more. */
enum { VALUE_DIGITS = 4, TIME_DIGITS = 6, MOST_DIGITS = 10 };

static int axis_digits(double low, double high, int least)
{
    double size = fmax(fabs(low), fabs(high)), apart = (high - low) / 10.0;
    int digits = size > 0.0 && apart > 0.0 ? 1 + (int)ceil(log10(size / apart)) : least;
    return digits < least ? least : digits > MOST_DIGITS ? MOST_DIGITS : digits;
}

/* The range of a panel's values. One that is rounding of their size, which no label resolves, is
 * drawn as what it is: a line that does not move. Returns whether that is so. */
static bool panel_range(const plot *p, int panel, double *low, double *high)
{
    *low = HUGE_VAL, *high = -HUGE_VAL;
    for (int k = 0; k < p->count; k++) {
        if (p->curves[k].panel != panel) continue;
        *low = fmin(*low, p->curves[k].low);
        *high = fmax(*high, p->curves[k].high);
    }
    double size = fmax(fabs(*low), fabs(*high)), room = 1e-8 * size;
    bool still = isfinite(size) && room > 0.0 && *high - *low < 1e-9 * size;
    if (still) *low -= room, *high += room;
    return still;
}

static int panel_digits(const plot *p, int panel)
{
    double low, high;
    return panel_range(p, panel, &low, &high) ? MOST_DIGITS : axis_digits(low, high, VALUE_DIGITS);
}

/* How many bars there are. */
static int bar_count(const plot *p)
{
    const report_effects *bars = p->options.bars;
    return !bars ? 0 : bars->count < MOST_BARS ? bars->count : MOST_BARS;
}

static void bar_name(const plot *p, int k, char text[LABEL_SIZE])
{
    const report_effect *e = &p->options.bars->list[k];
    snprintf(text, LABEL_SIZE, "%.300s%s", e->name, e->start ? " (start)" : "");
    gnuplot_shorten(text, BAR_LETTERS);
}

/* Pixels for the names beside the bars. */
static int bar_margin(const plot *p)
{
    size_t longest = 0;
    for (int k = 0; k < bar_count(p); k++) {
        char text[LABEL_SIZE];
        bar_name(p, k, text);
        if (strlen(text) > longest) longest = strlen(text);
    }
    return 20 + KEY_LETTER * (int)longest;
}

/* Pixels left of the panels: for the labels of their tics, and their name. */
static int left_margin(const plot *p)
{
    int most = VALUE_DIGITS, bars = bar_margin(p);
    for (int panel = 0; panel < p->panels; panel++) {
        int digits = panel_digits(p, panel);
        if (digits > most) most = digits;
    }
    int margin = LEFT_MARGIN + 6 * (most - VALUE_DIGITS);
    return margin > bars ? margin : bars;
}

/* The title, which page it is, and what is not there. */
static void write_title(FILE *script, const plot *p, int page)
{
    char text[2 * LABEL_SIZE] = "";
    size_t length = 0, size = sizeof text;
    if (p->options.title) length = (size_t)snprintf(text, size, "%.300s", p->options.title);
    if (p->pages > 1)
        length += (size_t)snprintf(text + length, size - length, " (%d of %d)", page + 1, p->pages);
    if (p->omitted)
        snprintf(text + length, size - length, "%snot drawn, without a finite value: %.200s%s",
                 length ? "; " : "", p->omitted, strlen(p->omitted) > 200 ? " .." : "");
    if (!*text) return;
    gnuplot_shorten(text, GNUPLOT_LETTERS(picture_width(p)));
    fputs(" title ", script);
    gnuplot_quoted(script, text);
}

/* Panels of one size above each other, whatever their tics and keys need. */
static void write_layout(FILE *script, const plot *p, int page)
{
    double width = picture_width(p), height = picture_height(p);
    bool titled = (p->options.title && *p->options.title) || p->pages > 1 || p->omitted;
    fprintf(script,
            "set multiplot layout %d,%d columnsfirst margins screen %.4f,%.4f,%.4f,%.4f spacing "
            "%.4f,%.4f",
            p->rows, p->columns, fmin(left_margin(p) / width, 0.3), 1.0 - key_width(p) / width,
            fmin(BOTTOM_MARGIN / height, 0.3), 1.0 - (titled ? 42.0 : 16.0) / height,
            (left_margin(p) + key_width(p)) / width, 18.0 / height);
    write_title(script, p, page);
    putc('\n', script);
}

static void write_range(FILE *script, const plot *p, int panel)
{
    double low, high;
    char from[NUMBER_SIZE] = "*", to[NUMBER_SIZE] = "*";
    if (panel_range(p, panel, &low, &high)) {
        report_number(low, 17, from);
        report_number(high, 17, to);
    }
    fprintf(script, "set yrange [%s:%s]\nset format y '%%.%dg'\n", from, to,
            panel_digits(p, panel));
}

/* The axes of a panel; the last of each column shows the time. */
static void write_axes(FILE *script, const plot *p, int panel, int first, bool alone)
{
    char label[LABEL_SIZE], time[LABEL_SIZE];
    bool keyed = has_key(p, panel);
    write_range(script, p, panel);
    report_series_label_of(p->series, -1, time);
    axis_label(p, panel, first, label);
    if (!keyed) report_series_label_of(p->series, p->curves[first].variable, label);
    if (!alone && !one_unit(p, panel, first)) label[0] = '\0';
    if (!alone && p->options.value_name) report_label(p->options.value_name, NULL, label);
    gnuplot_setting(script, "ylabel", label);
    fputs(!keyed ? "set key off\n"
                 : "set key on at graph 1.02, graph 1 left top vertical Left reverse\n",
          script);
    bool last = panel == p->panels - 1 || panel % p->rows == p->rows - 1;
    if (last)
        fprintf(script, "set format x '%%.%dg'\n", axis_digits(p->begin, p->end, TIME_DIGITS));
    else
        fputs("set format x ''\n", script);
    gnuplot_setting(script, "xlabel",
                    !last                  ? ""
                    : p->options.time_name ? p->options.time_name
                                           : time);
}

static void write_panel(FILE *script, const plot *p, int panel)
{
    int first = 0, size = panel_size(p, panel, &first), place = 0;
    bool units = !one_unit(p, panel, first);
    char label[LABEL_SIZE];
    write_axes(script, p, panel, first, size == 1);
    const char *separator = "plot ";
    for (int k = 0; k < p->count; k++) {
        if (p->curves[k].panel != panel) continue;
        fprintf(script, "%s$data using %d:%d with lines linetype %d title ", separator, 2 * k + 1,
                2 * k + 2, ++place);
        key_label(p, k, units, label);
        gnuplot_quoted(script, label);
        separator = ", \\\n    ";
        if (p->options.points)
            fprintf(script,
                    "%s$points using 1:%d with points linetype %d pointtype 7 pointsize 0.6 "
                    "notitle",
                    separator, k + 2, place);
    }
    putc('\n', script);
}

/* $bars: lines of a length and what stands beside it. */
static void write_bar_data(FILE *script, const plot *p)
{
    fputs("$bars << END_OF_DATA\n", script);
    for (int k = 0; k < bar_count(p); k++) {
        char length[NUMBER_SIZE];
        report_number(fabs(p->options.bars->list[k].relative), 17, length);
        fprintf(script, "%s %d\n", length, k);
    }
    fputs("END_OF_DATA\n", script);
}

/* Names of parameters at the axis; at the end of each bar its length and the variable. */
static void write_bar_texts(FILE *script, const plot *p)
{
    char text[2 * LABEL_SIZE], name[LABEL_SIZE], number[NUMBER_SIZE];
    for (int k = 0; k < bar_count(p); k++) {
        bar_name(p, k, name);
        fputs(k == 0 ? "set ytics (" : ", ", script);
        gnuplot_quoted(script, name);
        fprintf(script, " %d", k);
    }
    fputs(")\n", script);
    for (int k = 0; k < bar_count(p); k++) {
        const report_effect *e = &p->options.bars->list[k];
        report_number(fabs(e->relative), 3, number);
        snprintf(text, sizeof text, "%s%s%.40s", e->variable ? number : "moves nothing",
                 e->variable ? "  " : "", e->variable ? e->variable : "");
        fprintf(script, "set label %d ", k + 1);
        gnuplot_quoted(script, text);
        report_number(fabs(e->relative), 17, number);
        fprintf(script, " at first %s, first %d offset character 1,0\n", number, k);
    }
}

/* The first panel: a bar for the largest relative effect of each parameter. */
static void write_bars(FILE *script, const plot *p)
{
    char most[NUMBER_SIZE];
    double longest = p->options.bars->count > 0 ? fabs(p->options.bars->list[0].relative) : 0.0;
    report_number(longest > 0.0 ? 1.35 * longest : 1.0, 17, most);
    write_bar_data(script, p);
    write_bar_texts(script, p);
    gnuplot_setting(script, "ylabel", "");
    gnuplot_setting(script, "xlabel", "");
    fprintf(script,
            "unset logscale x\nset key off\nunset grid\nset border 2\nset format y '%%g'\n"
            "unset xtics\nset xrange [0:%s]\nset yrange [%d.6:-0.6]\n"
            "plot $bars using (0):2:(0):1:($2-0.35):($2+0.35) with boxxyerror fillstyle solid 0.8 "
            "noborder linetype 1\n",
            most, bar_count(p) - 1);
    for (int k = 0; k < bar_count(p); k++) fprintf(script, "unset label %d\n", k + 1);
    fputs("set xtics\nset ytics autofreq\n", script);
    write_style(script, p);
    write_time_axis(script, p);
}

static void write_script(FILE *script, void *context)
{
    plot *p = context;
    gnuplot_terminal(script, p->format, picture_width(p), picture_height(p));
    write_style(script, p);
    write_time_axis(script, p);
    write_data(script, p);
    write_points(script, p);
    int on_page = p->rows * p->columns;
    for (int page = 0; page < p->pages; page++) {
        write_layout(script, p, page);
        for (int panel = page * on_page; panel < (page + 1) * on_page && panel < p->panels; panel++)
            if (panel == 0 && p->options.bars)
                write_bars(script, p);
            else
                write_panel(script, p, panel);
        fputs("unset multiplot\n", script);
    }
    fputs("unset output\n", script);
}

report_status report_plot(const char *path, const report_series *series,
                          const report_plot_options *options, report_error *error)
{
    plot p = {.series = series};
    if (options) p.options = *options;
    report_status status = gnuplot_format(path, &p.format, error);
    if (status == REPORT_OK) status = choose_curves(&p, error);
    gnuplot_run run = {p.options.gnuplot, p.options.interrupt, p.options.user};
    if (status == REPORT_OK) status = gnuplot_draw(path, &run, write_script, &p, error);
    if (status == REPORT_OK) status = report_series_check(series, error);
    free(p.curves);
    free(p.omitted);
    return status;
}
