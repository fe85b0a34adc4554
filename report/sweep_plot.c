/* Pictures of a sweep: quantiles of curves, values over one name, colours over two. */
#include "gnuplot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Panels of one picture, one below the other. */
enum { MOST_PANELS = 6, WIDTH = 860, PANEL = 340 };

typedef struct drawing {
    const report_sweep *s;
    picture format;
    int x, y;       /* inputs on the axes; y < 0: one only */
    int panels;     /* outputs, or curves */
    size_t failed;  /* runs */
    double *sorted; /* a value of each run; owned */
    bool lines;     /* points in the order of the input make a curve */
    double cell[2]; /* distance of neighbours on a grid; 0: it is none */
} drawing;

static bool is_failed(const report_sweep *s, size_t r)
{
    return strcmp(s->status[r], "ok") != 0;
}

static double input_of(const report_sweep *s, size_t r, int c)
{
    return s->input[r * (size_t)s->inputs + (size_t)c];
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void write_label(FILE *script, const char *axis, const report_sweep_column *column)
{
    char text[LABEL_SIZE], safe[LABEL_SIZE];
    report_label(column->name, column->unit, text);
    (void)dae_printable(text, safe, sizeof safe);
    gnuplot_setting(script, axis, safe);
}

/* Words of an input beside its axis. */
static void write_words(FILE *script, const char *axis, const report_sweep_column *column)
{
    fprintf(script, "set %s autofreq\n", axis);
    if (!column->words) return;
    fprintf(script, "set %s (", axis);
    for (int k = 0; k < column->word_count; k++) {
        if (k > 0) fputs(", ", script);
        gnuplot_quoted(script, column->words[k]);
        fprintf(script, " %d", k + column->first);
    }
    fputs(")\n", script);
}

/* ---- quantiles of curves ---- */

/* The value below which a share p of n sorted ones lies, linear between them [HF96 7]. */
static double quantile(const double *sorted, size_t n, double p)
{
    double place = p * (double)(n - 1), below = floor(place);
    size_t k = (size_t)below;
    if (k + 1 >= n) return sorted[n - 1];
    return sorted[k] + (place - below) * (sorted[k + 1] - sorted[k]);
}

/* Rows of a band: time and five quantiles. */
static void write_band(FILE *script, const drawing *d, int curve)
{
    static const double shares[] = {0.05, 0.25, 0.5, 0.75, 0.95};
    const report_sweep *s = d->s;
    for (int k = 0; k < s->time_count; k++) {
        size_t n = 0;
        for (size_t r = 0; r < s->count; r++) {
            double x = s->output[r * (size_t)s->outputs + (size_t)(s->curves[curve] + k)];
            if (isfinite(x)) d->sorted[n++] = x;
        }
        if (n == 0) continue;
        qsort(d->sorted, n, sizeof *d->sorted, ascending);
        fprintf(script, "%.9g", s->times[k]);
        for (int q = 0; q < 5; q++) fprintf(script, " %.9g", quantile(d->sorted, n, shares[q]));
        putc('\n', script);
    }
}

static void draw_band(FILE *script, const drawing *d, int curve)
{
    const report_sweep_column *first = &d->s->columns[d->s->inputs + d->s->curves[curve]];
    char name[LABEL_SIZE];
    snprintf(name, sizeof name, "%.300s", first->name);
    char *at = strrchr(name, '@');
    if (at) *at = '\0';
    fprintf(script, "$band%d << END_OF_DATA\n", curve);
    write_band(script, d, curve);
    fputs("END_OF_DATA\nset xlabel 'time [s]'\n", script);
    write_label(script, "ylabel", &(report_sweep_column){.name = name, .unit = first->unit});
    fprintf(script,
            "plot $band%d using 1:2:6 with filledcurves linecolor rgb '#c6dbef' title '90 %% of "
            "runs', $band%d using 1:3:5 with filledcurves linecolor rgb '#6baed6' title '50 %%', "
            "$band%d using 1:4 with lines linewidth 2 linecolor rgb '#08306b' title 'median'\n",
            curve, curve, curve);
}

/* ---- over one name ---- */

static void draw_over_one(FILE *script, const drawing *d, int c)
{
    const report_sweep *s = d->s;
    fprintf(script, "$ok%d << END_OF_DATA\n", c);
    for (size_t r = 0; r < s->count; r++) {
        double y = s->output[r * (size_t)s->outputs + (size_t)c];
        if (!is_failed(s, r) && isfinite(y))
            fprintf(script, "%.9g %.9g\n", input_of(s, r, d->x), y);
    }
    fputs("END_OF_DATA\n", script);
    if (d->failed > 0) {
        fprintf(script, "$failed%d << END_OF_DATA\n", c);
        for (size_t r = 0; r < s->count; r++)
            if (is_failed(s, r)) fprintf(script, "%.9g 0.02\n", input_of(s, r, d->x));
        fputs("END_OF_DATA\n", script);
    }
    write_label(script, "xlabel", &s->columns[d->x]);
    write_words(script, "xtics", &s->columns[d->x]);
    write_label(script, "ylabel", &s->columns[s->inputs + c]);
    fprintf(script, "plot $ok%d using 1:2 with %s linecolor rgb '#08519c' notitle", c,
            d->lines ? "linespoints pointtype 7 pointsize 0.3"
                     : "points pointtype 7 pointsize 0.3");
    if (d->failed > 0)
        fprintf(script,
                ", $failed%d using 1:2 axes x1y2 with points pointtype 2 linecolor rgb '#d62728' "
                "title 'failed'",
                c);
    putc('\n', script);
}

/* ---- over two names ---- */

static void write_cells(FILE *script, const drawing *d, int c)
{
    const report_sweep *s = d->s;
    fprintf(script, "$ok%d << END_OF_DATA\n", c);
    for (size_t r = 0; r < s->count; r++) {
        double z = s->output[r * (size_t)s->outputs + (size_t)c];
        if (!is_failed(s, r) && isfinite(z))
            fprintf(script, "%.9g %.9g %.9g\n", input_of(s, r, d->x), input_of(s, r, d->y), z);
    }
    fputs("END_OF_DATA\n", script);
    if (d->failed == 0) return;
    fprintf(script, "$failed%d << END_OF_DATA\n", c);
    for (size_t r = 0; r < s->count; r++)
        if (is_failed(s, r))
            fprintf(script, "%.9g %.9g\n", input_of(s, r, d->x), input_of(s, r, d->y));
    fputs("END_OF_DATA\n", script);
}

static void draw_over_two(FILE *script, const drawing *d, int c)
{
    const report_sweep *s = d->s;
    write_cells(script, d, c);
    write_label(script, "xlabel", &s->columns[d->x]);
    write_label(script, "ylabel", &s->columns[d->y]);
    write_words(script, "xtics", &s->columns[d->x]);
    write_words(script, "ytics", &s->columns[d->y]);
    write_label(script, "cblabel", &s->columns[s->inputs + c]);
    fputs("set autoscale yfix\n", script);
    if (d->cell[0] > 0.0)
        fprintf(script,
                "plot $ok%d using 1:2:($1-%.9g):($1+%.9g):($2-%.9g):($2+%.9g):3 with boxxyerror "
                "fillstyle solid noborder linecolor palette notitle",
                c, 0.5 * d->cell[0], 0.5 * d->cell[0], 0.5 * d->cell[1], 0.5 * d->cell[1]);
    else
        fprintf(script,
                "plot $ok%d using 1:2:3 with points pointtype 7 pointsize 0.7 linecolor "
                "palette notitle",
                c);
    if (d->failed > 0)
        fprintf(script,
                ", $failed%d using 1:2 with points pointtype 2 linecolor rgb '#d62728' title "
                "'failed'",
                c);
    putc('\n', script);
}

/* ---- the whole ---- */

/* The distance of neighbours among the values of an input if all are equal, but for rounding; else
 * 0. */
static double spacing(const drawing *d, int c)
{
    const report_sweep *s = d->s;
    size_t n = 0;
    double step = 0.0, *x = d->sorted;
    for (size_t r = 0; r < s->count; r++) x[r] = input_of(s, r, c);
    qsort(x, s->count, sizeof *x, ascending);
    for (size_t r = 1; r < s->count; r++) {
        double gap = x[r] - x[r - 1];
        if (gap == 0.0) continue;
        if (n++ == 0) step = gap;
        if (fabs(gap - step) > 1e-6 * step) return 0.0;
    }
    return (double)(n + 1) * 1.5 < (double)s->count ? step : 0.0;
}

/* The first two inputs that vary. */
static void choose_axes(drawing *d)
{
    const report_sweep *s = d->s;
    d->x = d->y = -1;
    for (int c = 0; c < s->inputs; c++) {
        bool varies = false;
        for (size_t r = 1; r < s->count && !varies; r++)
            varies = input_of(s, r, c) != input_of(s, 0, c);
        if (!varies) continue;
        if (d->x < 0)
            d->x = c;
        else if (d->y < 0)
            d->y = c;
    }
    if (d->x < 0) d->x = 0;
    d->lines = d->y < 0 && !s->by;
    for (size_t r = 1; r < s->count && d->lines; r++)
        d->lines = input_of(s, r, d->x) >= input_of(s, r - 1, d->x);
    if (d->y < 0) return;
    d->cell[0] = spacing(d, d->x);
    d->cell[1] = spacing(d, d->y);
    if (d->cell[0] == 0.0 || d->cell[1] == 0.0) d->cell[0] = d->cell[1] = 0.0;
}

static void write_title(FILE *script, const drawing *d)
{
    char text[LABEL_SIZE], safe[LABEL_SIZE];
    snprintf(text, sizeof text, "%.200s: %zu runs", d->s->model, d->s->count);
    if (d->failed > 0)
        snprintf(text + strlen(text), sizeof text - strlen(text), ", %zu failed", d->failed);
    (void)dae_printable(text, safe, sizeof safe);
    gnuplot_shorten(safe, GNUPLOT_LETTERS(WIDTH));
    fputs("set multiplot layout ", script);
    fprintf(script, "%d,1 title ", d->panels);
    gnuplot_quoted(script, safe);
    putc('\n', script);
}

static void write_script(FILE *script, void *context)
{
    const drawing *d = context;
    gnuplot_terminal(script, d->format, WIDTH, PANEL * d->panels + 40);
    fputs("set grid linecolor rgb '#d8d8d8'\nset y2range [0:1]\nset key above horizontal\nset "
          "autoscale xfix\n"
          "set palette defined (0 '#440154', 1 '#31688e', 2 '#35b779', 3 '#fde725')\n",
          script);
    write_title(script, d);
    for (int k = 0; k < d->panels; k++) {
        if (d->s->curve_count > 0)
            draw_band(script, d, k);
        else if (d->y < 0)
            draw_over_one(script, d, k);
        else
            draw_over_two(script, d, k);
    }
    fputs("unset multiplot\nunset output\n", script);
}

/* Whether the panels have anything in them. */
static bool has_values(const drawing *d)
{
    const report_sweep *s = d->s;
    for (size_t k = 0; k < s->count * (size_t)s->outputs; k++)
        if (isfinite(s->output[k])) return true;
    return false;
}

report_status report_sweep_plot(const char *path, const report_sweep *sweep, const char *gnuplot,
                                report_error *error)
{
    drawing d = {.s = sweep};
    int panels = sweep->curve_count > 0 ? sweep->curve_count : sweep->outputs;
    report_status status = gnuplot_format(path, &d.format, error);
    if (status != REPORT_OK) return status;
    d.panels = panels < MOST_PANELS ? panels : MOST_PANELS;
    d.sorted = calloc(sweep->count + 1, sizeof *d.sorted);
    if (!d.sorted) return report_fail(error, REPORT_ERR_MEMORY, "Out of memory for a picture.");
    for (size_t r = 0; r < sweep->count; r++) d.failed += is_failed(sweep, r);
    choose_axes(&d);
    if (d.panels == 0 || !has_values(&d))
        status = report_fail(error, REPORT_ERR_ARGUMENT,
                             "There is nothing to draw in '%s': no run has a value.", path);
    else
        status = gnuplot_draw(path, &(gnuplot_run){.program = gnuplot}, write_script, &d, error);
    free(d.sorted);
    return status;
}
