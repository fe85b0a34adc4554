/* A linear system and its eigenvalues: for people, json, csv and MAT-files. */
#include "json_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- eigenvalues ---- */

/* The states that carry an eigenvalue: those of a share above this, the largest first. */
static const double LEAST_SHARE = 0.1;
enum { MOST_CARRIERS = 4 };

/* The place of the largest share below `bound` in their order; -1: none is left. */
static int next_carrier(int n, const double *share, int before)
{
    int best = -1;
    for (int i = 0; i < n; i++) {
        bool behind =
            before < 0 || share[i] < share[before] || (share[i] == share[before] && i > before);
        if (behind && share[i] > LEAST_SHARE && (best < 0 || share[i] > share[best])) best = i;
    }
    return best;
}

static void write_carriers(FILE *stream, const dae_linearisation *s, int j)
{
    const double *share = s->participation + (size_t)j * (size_t)s->state_count;
    int count = 0;
    for (int i = next_carrier(s->state_count, share, -1); i >= 0 && count < MOST_CARRIERS;
         i = next_carrier(s->state_count, share, i)) {
        char name[LABEL_SIZE];
        (void)dae_printable(s->states[i], name, sizeof name);
        fprintf(stream, "%s%s %.0f %%", count++ ? ", " : "", name, 100.0 * share[i]);
    }
    if (count == 0) fputs("many states", stream);
}

static const char *stability_text(dae_stability stability)
{
    switch (stability) {
    case DAE_STABILITY_ASYMPTOTIC: return "stable";
    case DAE_STABILITY_STABLE:
        return "marginally stable: some eigenvalues are on the imaginary axis";
    case DAE_STABILITY_UNSTABLE: return "unstable";
    case DAE_STABILITY_NONE: break;
    }
    return "not known";
}

/* One line: of a pair the upper one stands for both. */
static void write_eigenvalue(FILE *stream, const dae_linearisation *s, int j)
{
    const double size = hypot(s->re[j], s->im[j]);
    char text[80];
    if (s->zero[j])
        snprintf(text, sizeof text, "0");
    else if (s->im[j] > 0.0)
        snprintf(text, sizeof text, "%.6g +- %.6g i", s->re[j], s->im[j]);
    else
        snprintf(text, sizeof text, "%.6g", s->re[j]);
    fprintf(stream, "  %-28s", text);
    if (s->im[j] > 0.0 && !s->zero[j])
        fprintf(stream, "  %12.6g  %10.4g", size, -s->re[j] / size + 0.0);
    else
        fprintf(stream, "  %12s  %10s", "", "");
    if (s->re[j] != 0.0 && !s->zero[j])
        fprintf(stream, "  %12.6g  ", 1.0 / fabs(s->re[j]));
    else
        fprintf(stream, "  %12s  ", "");
    write_carriers(stream, s, j);
    putc('\n', stream);
}

report_status report_linear_eigenvalues(FILE *stream, const dae_linearisation *s, int max_rows,
                                        report_error *error)
{
    int rows = 0, j = 0;
    if (s->state_count == 0) {
        fputs("\n  the model has no states: nothing moves by itself\n", stream);
        return report_check_stream(stream, error);
    }
    if (!s->re) return report_check_stream(stream, error);
    fprintf(stream, "\n  %s\n\n  %-28s  %12s  %10s  %12s  %s\n", stability_text(s->stability),
            "eigenvalue", "frequency", "damping", "time", "carried by");
    for (; j < s->state_count && (max_rows == 0 || rows < max_rows); j++) {
        if (s->im[j] < 0.0 && !s->zero[j]) continue;
        write_eigenvalue(stream, s, j);
        rows++;
    }
    if (j < s->state_count && !(j == s->state_count - 1 && s->im[j] < 0.0))
        fprintf(stream, "  and %d more (--all lists them)\n", s->state_count - j);
    return report_check_stream(stream, error);
}

/* ---- matrices ---- */

typedef struct named_matrix {
    const char *name;
    int rows, columns;
    const char *const *row_names, *const *column_names;
    const double *values; /* by columns */
} named_matrix;

static void list_matrices(const dae_linearisation *s, named_matrix list[4])
{
    const int x = s->state_count, u = s->input_count, y = s->output_count;
    list[0] = (named_matrix){"A", x, x, s->states, s->states, s->A};
    list[1] = (named_matrix){"B", x, u, s->states, s->inputs, s->B};
    list[2] = (named_matrix){"C", y, x, s->outputs, s->states, s->C};
    list[3] = (named_matrix){"D", y, u, s->outputs, s->inputs, s->D};
}

static int width_of(int count, const char *const *names)
{
    int width = 4;
    for (int i = 0; i < count; i++)
        if ((int)strlen(names[i]) > width) width = (int)strlen(names[i]);
    return width < 40 ? width : 40;
}

static void write_matrix(FILE *stream, const named_matrix *m)
{
    const int width = width_of(m->rows, m->row_names);
    char name[LABEL_SIZE];
    fprintf(stream, "\n  %-*s", width, m->name);
    for (int j = 0; j < m->columns; j++) {
        (void)dae_printable(m->column_names[j], name, sizeof name);
        fprintf(stream, "  %12s", name);
    }
    for (int i = 0; i < m->rows; i++) {
        (void)dae_printable(m->row_names[i], name, sizeof name);
        fprintf(stream, "\n  %-*s", width, name);
        for (int j = 0; j < m->columns; j++)
            fprintf(stream, "  %12.6g", m->values[(size_t)i + (size_t)j * (size_t)m->rows] + 0.0);
    }
    putc('\n', stream);
}

report_status report_linear(FILE *stream, const dae_linearisation *s, int max_rows,
                            report_error *error)
{
    named_matrix list[4];
    list_matrices(s, list);
    fprintf(stream, "  states %d, inputs %d, outputs %d\n", s->state_count, s->input_count,
            s->output_count);
    report_status status = report_linear_eigenvalues(stream, s, max_rows, error);
    for (int k = 0; k < 4 && status == REPORT_OK; k++) {
        const named_matrix *m = &list[k];
        if (m->rows == 0 || m->columns == 0) continue;
        if (max_rows == 0 || (m->rows <= max_rows && m->columns <= max_rows))
            write_matrix(stream, m);
        else
            fprintf(stream, "\n  %s has %d rows and %d columns (--all prints it)\n", m->name,
                    m->rows, m->columns);
    }
    return status == REPORT_OK ? report_check_stream(stream, error) : status;
}

/* ---- json ---- */

static void json_names(json_object *o, const char *member, int count, const char *const *names)
{
    json_member(o, member);
    putc('[', o->stream);
    for (int i = 0; i < count; i++) {
        if (i > 0) fputs(", ", o->stream);
        json_string(o->stream, names[i]);
    }
    putc(']', o->stream);
}

static void json_numbers(json_object *o, const char *member, int count, const double *values)
{
    json_member(o, member);
    json_array(o->stream, (size_t)count, values, 1);
}

/* [[first row], ..] */
static void json_matrix(json_object *o, const named_matrix *m)
{
    json_member(o, m->name);
    putc('[', o->stream);
    for (int i = 0; i < m->rows; i++) {
        if (i > 0) fputs(",\n      ", o->stream);
        json_array(o->stream, (size_t)m->columns, m->values + i, (size_t)m->rows);
    }
    putc(']', o->stream);
}

static void json_eigenvalues(json_object *o, const dae_linearisation *s)
{
    json_member(o, "eigenvalues");
    putc('[', o->stream);
    for (int j = 0; j < s->state_count; j++) {
        const size_t n = (size_t)s->state_count;
        const double size = hypot(s->re[j], s->im[j]);
        fputs(j ? ",\n    " : "\n    ", o->stream);
        json_object e = json_open(o->stream, 3);
        json_number_member(&e, "re", s->re[j]);
        json_number_member(&e, "im", s->im[j]);
        json_number_member(&e, "frequency", size);
        json_number_member(&e, "damping", s->zero[j] ? (double)NAN : -s->re[j] / size);
        json_member(&e, "zero");
        fputs(s->zero[j] ? "true" : "false", o->stream);
        json_member(&e, "participation");
        json_array(o->stream, n, s->participation + (size_t)j * n, 1);
        json_close(&e);
    }
    putc(']', o->stream);
}

report_status report_linear_json(FILE *stream, const char *model, const dae_linearisation *s,
                                 report_error *error)
{
    static const char *const words[] = {[DAE_STABILITY_ASYMPTOTIC] = "stable",
                                        [DAE_STABILITY_STABLE] = "marginal",
                                        [DAE_STABILITY_UNSTABLE] = "unstable"};
    named_matrix list[4];
    json_object o = json_open(stream, model ? 1 : 2);
    list_matrices(s, list);
    if (model) json_string_member(&o, "model", model);
    json_number_member(&o, "t", s->t);
    json_names(&o, "states", s->state_count, s->states);
    json_names(&o, "inputs", s->input_count, s->inputs);
    json_names(&o, "outputs", s->output_count, s->outputs);
    json_numbers(&o, "x0", s->state_count, s->state_values);
    json_numbers(&o, "dx0", s->state_count, s->state_rates);
    json_numbers(&o, "u0", s->input_count, s->input_values);
    json_numbers(&o, "y0", s->output_count, s->output_values);
    for (int k = 0; k < 4; k++) json_matrix(&o, &list[k]);
    if (s->stability != DAE_STABILITY_NONE) {
        json_string_member(&o, "stability", words[s->stability]);
        json_eigenvalues(&o, s);
    }
    json_close(&o);
    if (model) putc('\n', stream);
    return report_check_stream(stream, error);
}

/* ---- csv and MAT ---- */

report_status report_linear_csv(FILE *stream, const dae_linearisation *s, report_error *error)
{
    named_matrix list[4];
    char text[NUMBER_SIZE];
    list_matrices(s, list);
    fputs("matrix,row,column,value\n", stream);
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < list[k].rows; i++)
            for (int j = 0; j < list[k].columns; j++) {
                fprintf(stream, "%s,", list[k].name);
                report_csv_field(stream, list[k].row_names[i]);
                putc(',', stream);
                report_csv_field(stream, list[k].column_names[j]);
                report_number(list[k].values[(size_t)i + (size_t)j * (size_t)list[k].rows], 17,
                              text);
                fprintf(stream, ",%s\n", text);
            }
    for (int j = 0; s->re && j < s->state_count; j++) {
        report_number(s->re[j], 17, text);
        fprintf(stream, "eigenvalue,%d,re,%s\n", j + 1, text);
        report_number(s->im[j], 17, text);
        fprintf(stream, "eigenvalue,%d,im,%s\n", j + 1, text);
    }
    return report_check_stream(stream, error);
}

report_status report_linear_mat(FILE *stream, const dae_linearisation *s, report_error *error)
{
    named_matrix list[4];
    const size_t x = (size_t)s->state_count, u = (size_t)s->input_count,
                 y = (size_t)s->output_count;
    list_matrices(s, list);
    for (int k = 0; k < 4; k++)
        report_mat_numbers(stream, list[k].name, (size_t)list[k].rows, (size_t)list[k].columns,
                           list[k].values);
    report_mat_numbers(stream, "t0", 1, 1, &s->t);
    report_mat_numbers(stream, "x0", x, 1, s->state_values);
    report_mat_numbers(stream, "dx0", x, 1, s->state_rates);
    report_mat_numbers(stream, "u0", u, 1, s->input_values);
    report_mat_numbers(stream, "y0", y, 1, s->output_values);
    report_mat_texts(stream, "stateNames", x, s->states);
    report_mat_texts(stream, "inputNames", u, s->inputs);
    report_mat_texts(stream, "outputNames", y, s->outputs);
    double *both = s->re ? malloc((2 * x + 1) * sizeof *both) : NULL;
    if (s->re && !both) return report_fail(error, REPORT_ERR_MEMORY, "Out of memory.");
    for (size_t j = 0; both && j < x; j++) both[j] = s->re[j], both[x + j] = s->im[j];
    if (both) report_mat_numbers(stream, "eigenvalues", x, 2, both);
    free(both);
    return report_check_stream(stream, error);
}
