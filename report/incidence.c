/* The incidence matrix of an analysed model as a picture. */
#include "gnuplot.h"

#include <stdlib.h>
#include <string.h>

/* Systems up to LABELLED equations have names beside rows and columns; those above CELLS are drawn
 * as a grid of so many cells, each with the highest order in it. */
enum { LABELLED = 40, CELLS = 400, MOST_ORDERS = 5, MARGIN = 190, SIDE = 760, NAME_LETTERS = 30 };

typedef struct drawing {
    const dae_analysis *a;
    const char *title;
    picture format;
    int n;              /* of the system */
    int cells;          /* of the picture */
    int *row, *column;  /* place of each equation and unknown in block triangular order; owned */
    signed char *order; /* cells * cells: 1 + highest order, 0: nothing; owned */
    int orders;         /* 1 + highest order of all, at most MOST_ORDERS */
} drawing;

static int cell_of(const drawing *d, int place)
{
    return (int)((long)place * d->cells / d->n);
}

static bool prepare(drawing *d)
{
    const dae_analysis *a = d->a;
    d->n = a->analysed;
    d->cells = d->n < CELLS ? d->n : CELLS;
    d->row = calloc((size_t)d->n + 1, sizeof *d->row);
    d->column = calloc((size_t)d->n + 1, sizeof *d->column);
    d->order = calloc((size_t)d->cells * (size_t)d->cells + 1, 1);
    if (!d->row || !d->column || !d->order) return false;
    for (int k = 0; k < d->n; k++) {
        d->row[a->block_equation[k]] = k;
        d->column[a->block_unknown[k]] = k;
    }
    for (int i = 0; i < d->n; i++)
        for (int k = a->entry_start[i]; k < a->entry_start[i + 1]; k++) {
            size_t r = (size_t)cell_of(d, d->row[i]);
            size_t c = (size_t)cell_of(d, d->column[a->entry_unknown[k]]);
            signed char *cell = &d->order[r * (size_t)d->cells + c];
            int order = 1 + a->entry_order[k];
            if (order > MOST_ORDERS) order = MOST_ORDERS;
            if (order > *cell) *cell = (signed char)order;
            if (order > d->orders) d->orders = order;
        }
    return true;
}

/* One data block for each order: column, row. */
static void write_entries(FILE *script, const drawing *d)
{
    for (int order = 1; order <= d->orders; order++) {
        fprintf(script, "$order%d << END_OF_DATA\n", order);
        for (int r = 0; r < d->cells; r++)
            for (int c = 0; c < d->cells; c++)
                if (d->order[(size_t)r * (size_t)d->cells + (size_t)c] == order)
                    fprintf(script, "%d %d\n", c + 1, r + 1);
        fputs("END_OF_DATA\n", script);
    }
}

/* Outlines of blocks that are wider than a cell or, in small systems, of all. */
static void write_blocks(FILE *script, const drawing *d)
{
    const dae_analysis *a = d->a;
    int object = 1, last = -1;
    for (int b = 0; b < a->block_count; b++) {
        int from = cell_of(d, a->block_start[b]), to = cell_of(d, a->block_start[b + 1] - 1);
        bool tiny = from == to && d->n > CELLS;
        if (tiny || from == last) continue;
        last = tiny ? from : last;
        fprintf(script,
                "set object %d rectangle from first %g,%g to first %g,%g front fillstyle empty "
                "border linecolor rgb '#404040' linewidth %g\n",
                object++, from + 0.5, from + 0.5, to + 1.5, to + 1.5, d->n <= LABELLED ? 1.6 : 1.0);
    }
}

static void write_labels(FILE *script, const drawing *d)
{
    const dae_analysis *a = d->a;
    char text[LABEL_SIZE];
    if (d->n > LABELLED) {
        fprintf(script,
                "set format '%%g'\nset xlabel 'unknowns, sorted%s'\n"
                "set ylabel 'equations, sorted%s'\n",
                d->n > CELLS ? ", thinned out" : "", d->n > CELLS ? ", thinned out" : "");
        if (d->n > CELLS) fputs("unset xtics\nunset ytics\n", script);
        return;
    }
    for (int k = 0; k < d->n; k++) {
        fputs(k == 0 ? "set x2tics (" : ", ", script);
        snprintf(text, sizeof text, "%.*s", NAME_LETTERS, a->unknown[a->block_unknown[k]].name);
        gnuplot_quoted(script, text);
        fprintf(script, " %d", k + 1);
    }
    fprintf(script, ") rotate by 60 textcolor rgb '#303030'\nset x2range [0.5:%d.5]\n", d->n);
    fputs("unset xtics\n", script);
    for (int k = 0; k < d->n; k++) {
        const dae_analysis_equation *e = &a->equation[a->block_equation[k]];
        fputs(k == 0 ? "set ytics (" : ", ", script);
        snprintf(text, sizeof text, "%.34s%s  %d", e->text, strlen(e->text) > 34 ? ".." : "",
                 e->line);
        gnuplot_quoted(script, text);
        fprintf(script, " %d", k + 1);
    }
    fputs(") textcolor rgb '#303030'\n", script);
}

static void write_matrix(FILE *script, const drawing *d)
{
    /* Colours that most colour-blind readers can tell apart (Okabe and Ito 2008). */
    static const char *const colours[] = {"#56b4e9", "#d55e00", "#009e73", "#cc79a7", "#000000"};
    static const char *const names[] = {"x", "der(x)", "der(der(x))", "third derivative",
                                        "higher derivative"};
    const char *separator = "plot ";
    double size = d->cells <= 60 ? 0.36 : 0.5;
    for (int order = 1; order <= d->orders; order++) {
        fprintf(script,
                "%s$order%d using 1:2:(%g):(%g) with boxxyerror fillstyle solid noborder "
                "linecolor rgb '%s' title '%s'",
                separator, order, size, size, colours[order - 1], names[order - 1]);
        separator = ", \\\n    ";
    }
    putc('\n', script);
}

/* Pixels above the matrix: for the title, and names turned by 60 degrees. */
static int top_margin(const drawing *d)
{
    size_t longest = 0;
    for (int k = 0; k < d->n; k++) {
        size_t length = strlen(d->a->unknown[d->a->block_unknown[k]].name);
        if (length > longest) longest = length;
    }
    if (longest > NAME_LETTERS) longest = NAME_LETTERS;
    int top = 50 + 7 * (int)longest; /* a letter is 8 pixels long, sin 60 of which are 7 */
    return top > 150 ? top : 150;
}

static void write_script(FILE *script, void *context)
{
    const drawing *d = context;
    bool labelled = d->n <= LABELLED;
    int side = labelled && 26 * d->n + 60 < SIDE ? (26 * d->n < 240 ? 240 : 26 * d->n) : SIDE;
    int left = labelled ? 320 : 90, top = labelled ? top_margin(d) : 60;
    int width = side + left + MARGIN, height = side + top + 50;
    gnuplot_terminal(script, d->format, width, height);
    fprintf(script,
            "set lmargin at screen %.4f\nset rmargin at screen %.4f\n"
            "set tmargin at screen %.4f\nset bmargin at screen %.4f\n",
            (double)left / width, (double)(left + side) / width, 1.0 - (double)top / height,
            50.0 / height);
    fprintf(script,
            "set xrange [0.5:%d.5]\nset yrange [%d.5:0.5]\nset border linecolor rgb '#909090'\n"
            "set tics scale 0 nomirror\n"
            "set key at graph 1.03, graph 1 left top vertical Left reverse samplen 1\n",
            d->cells, d->cells);
    if (d->title) {
        char title[LABEL_SIZE];
        snprintf(title, sizeof title, "%.300s", d->title);
        gnuplot_shorten(title, GNUPLOT_LETTERS(side + 2 * (left < MARGIN ? left : MARGIN)));
        fputs("set label 1 ", script);
        gnuplot_quoted(script, title);
        fprintf(script, " at screen %.4f, screen %.4f center\n", (left + 0.5 * side) / width,
                1.0 - 22.0 / height);
    }
    write_labels(script, d);
    write_blocks(script, d);
    write_entries(script, d);
    write_matrix(script, d);
    fputs("unset output\n", script);
}

report_status report_incidence(const char *path, const dae_analysis *a, const char *title,
                               const char *gnuplot, report_error *error)
{
    drawing d = {.a = a, .title = title};
    report_status status = gnuplot_format(path, &d.format, error);
    if (status == REPORT_OK && (a->singular || a->analysed < 1))
        status = report_fail(error, REPORT_ERR_ARGUMENT,
                             "There is no sorted incidence matrix to draw: %s.",
                             a->singular ? "the equations are structurally singular"
                                         : "the model has no continuous equations");
    if (status == REPORT_OK && !prepare(&d))
        status = report_fail(error, REPORT_ERR_MEMORY, "Out of memory for a picture.");
    if (status == REPORT_OK)
        status = gnuplot_draw(path, &(gnuplot_run){.program = gnuplot}, write_script, &d, error);
    free(d.row);
    free(d.column);
    free(d.order);
    return status;
}
