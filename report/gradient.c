/* Numbers of a run and their derivatives by parameters: the table, csv and json. */
#include "json_parts.h"

#include <math.h>
#include <string.h>

double report_gradient_relative(const report_gradient *g, int m, int k)
{
    const double p = g->list[k].value, j = fabs(g->values[m]);
    const double by = p != 0.0 && isfinite(p) ? p : 1.0;
    return by * g->derivatives[(size_t)m * (size_t)g->count + (size_t)k] /
           (j > 0.0 && isfinite(j) ? j : 1.0);
}

/* "k1", or "x (start)" of a start value, without control characters. */
static void label_of(const report_input *p, char text[LABEL_SIZE])
{
    (void)dae_printable(p->name, text, LABEL_SIZE - 10);
    if (p->start) strcat(text, " (start)");
}

static int widest(const report_gradient *g)
{
    char text[LABEL_SIZE];
    int width = 9;
    for (int k = 0; k < g->count; k++) {
        label_of(&g->list[k], text);
        if ((int)strlen(text) > width) width = (int)strlen(text);
    }
    return width < 40 ? width : 40;
}

static void write_line(FILE *stream, const report_gradient *g, int m, int k, int width)
{
    char name[LABEL_SIZE], unit[LABEL_SIZE], value[NUMBER_SIZE], slope[NUMBER_SIZE],
        relative[NUMBER_SIZE];
    label_of(&g->list[k], name);
    (void)dae_printable(g->list[k].unit, unit, sizeof unit);
    report_number(g->list[k].value, 6, value);
    report_number(g->derivatives[(size_t)m * (size_t)g->count + (size_t)k] + 0.0, 10, slope);
    report_number(report_gradient_relative(g, m, k) + 0.0, 4, relative);
    fprintf(stream, "  %-*s  %12s %-8s  %16s  %10s\n", width, name, value, unit, slope, relative);
}

report_status report_gradient_table(FILE *stream, const report_gradient *g, int m, const int *order,
                                    report_error *error)
{
    const int width = widest(g);
    char name[LABEL_SIZE], value[NUMBER_SIZE];
    (void)dae_printable(g->names[m], name, sizeof name);
    report_number(g->values[m], 10, value);
    fprintf(stream, "%s = %s\n  %-*s  %12s %-8s  %16s  %10s\n", name, value, width, "parameter",
            "value", "", "derivative", "relative");
    for (int k = 0; k < g->count; k++) write_line(stream, g, m, order[k], width);
    return report_check_stream(stream, error);
}

report_status report_gradient_csv(FILE *stream, const report_gradient *g, report_error *error)
{
    char text[NUMBER_SIZE];
    fputs("of,is,by,at,derivative\n", stream);
    for (int m = 0; m < g->functionals; m++)
        for (int k = 0; k < g->count; k++) {
            report_csv_field(stream, g->names[m]);
            report_number(g->values[m], 17, text);
            fprintf(stream, ",%s,", text);
            char label[LABEL_SIZE];
            label_of(&g->list[k], label);
            report_csv_field(stream, label);
            report_number(g->list[k].value, 17, text);
            fprintf(stream, ",%s,", text);
            report_number(g->derivatives[(size_t)m * (size_t)g->count + (size_t)k], 17, text);
            fprintf(stream, "%s\n", text);
        }
    return report_check_stream(stream, error);
}

static void write_json_line(FILE *stream, const report_gradient *g, int m, int k)
{
    json_object o = json_open(stream, 4);
    json_string_member(&o, "name", g->list[k].name);
    json_string_member(&o, "unit", g->list[k].unit);
    json_string_member(&o, "kind", g->list[k].start ? "start" : "parameter");
    json_number_member(&o, "value", g->list[k].value);
    json_number_member(&o, "derivative", g->derivatives[(size_t)m * (size_t)g->count + (size_t)k]);
    json_number_member(&o, "relative", report_gradient_relative(g, m, k));
    json_close(&o);
}

report_status report_gradient_json(FILE *stream, const char *model, const report_gradient *g,
                                   report_error *error)
{
    json_object o = json_open(stream, 0);
    json_string_member(&o, "model", model);
    json_member(&o, "gradients");
    fputs("[", stream);
    for (int m = 0; m < g->functionals; m++) {
        if (m > 0) fputs(", ", stream);
        json_object q = json_open(stream, 2);
        json_string_member(&q, "of", g->names[m]);
        json_number_member(&q, "value", g->values[m]);
        json_member(&q, "by");
        fputs("[", stream);
        for (int k = 0; k < g->count; k++) {
            if (k > 0) fputs(", ", stream);
            write_json_line(stream, g, m, k);
        }
        fputs("]", stream);
        json_close(&q);
    }
    fputs("]", stream);
    json_close(&o);
    fputs("\n", stream);
    return report_check_stream(stream, error);
}
