/* Plots of series by gnuplot. */
#include "gnuplot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEFAULT_VARIABLES = 12,
    PANEL_HEIGHT = 190, /* pixels of one of several stacked panels */
    SINGLE_HEIGHT = 520,
    WIDTH = 900
};

/* A curve spanning less than this fraction of its panel's range cannot be read there. */
static const double READABLE = 0.04;

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

/* ---------------------------------------------------------------------------------------------
 * The script
 * ------------------------------------------------------------------------------------------- */

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
        gnuplot_quoted(script, p->options.title);
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
    gnuplot_setting(script, "ylabel", alone ? alone : shared);
    fputs(alone ? "set key off\n"
                : "set key on at graph 1.02, graph 1 left top vertical Left reverse\n",
          script);
    fprintf(script, "set format x '%s'\n", last ? "%g" : "");
    if (last) gnuplot_setting(script, "xlabel", p->options.time_name ? p->options.time_name : time);
    const char *separator = "plot ";
    for (int k = 0; k < p->count; k++) {
        if (p->curves[k].panel != panel) continue;
        fprintf(script, "%s$data using 1:%d with lines linetype %d title ", separator, k + 2,
                k + 1);
        report_series_label_of(p->series, p->curves[k].variable, label);
        gnuplot_quoted(script, label);
        separator = ", \\\n    ";
    }
    putc('\n', script);
}

static void write_script(FILE *script, const void *context)
{
    const plot *p = context;
    gnuplot_terminal(script, p->format, picture_width(p), picture_height(p));
    write_style(script, p);
    write_data(script, p);
    write_layout(script, p);
    for (int panel = 0; panel < p->panels; panel++) write_panel(script, p, panel);
    fputs("unset multiplot\nunset output\n", script);
}

report_status report_plot(const char *path, const report_series *series,
                          const report_plot_options *options, report_error *error)
{
    plot p = {.series = series};
    if (options) p.options = *options;
    report_status status = gnuplot_format(path, &p.format, error);
    if (status == REPORT_OK) status = choose_curves(&p, error);
    if (status == REPORT_OK)
        status = gnuplot_draw(path, p.options.gnuplot, write_script, &p, error);
    free(p.curves);
    return status;
}
