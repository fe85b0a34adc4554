/* Parameters from data: the table and the json. */
#include "json_parts.h"

#include <math.h>
#include <string.h>

/* Correlations above this are named. */
static const double CLOSE = 0.9;

const char *report_fit_end(dae_fit_end end)
{
    static const char *const names[] = {"converged", "iterations", "stuck", "stopped"};
    return (size_t)end < sizeof names / sizeof *names ? names[end] : "?";
}

/* ---- for people ---- */

/* "k1", or "x (start)" of a start value, without control characters. */
static void label_of(const report_fit_parameter *p, char text[LABEL_SIZE])
{
    (void)dae_printable(p->name, text, LABEL_SIZE - 10);
    if (p->start) strcat(text, " (start)");
}

/* "0.1 to 10, at the upper one" */
static void bounds_of(const report_fit_parameter *p, const dae_fit_result *r, int k,
                      char text[LABEL_SIZE])
{
    char low[NUMBER_SIZE], high[NUMBER_SIZE];
    bool below = isinf(p->lower), above = isinf(p->upper);
    report_number(p->lower, 6, low);
    report_number(p->upper, 6, high);
    text[0] = '\0';
    if (below && above) return;
    const char *hit = !r->at_bound[k]            ? ""
                      : r->values[k] >= p->upper ? ", at the upper one"
                                                 : ", at the lower one";
    if (below || above)
        snprintf(text, LABEL_SIZE, "%s %s%s", below ? "at most" : "at least", below ? high : low,
                 hit);
    else
        snprintf(text, LABEL_SIZE, "%s to %s%s", low, high, hit);
}

static void error_of(const dae_fit_result *r, int k, char text[NUMBER_SIZE])
{
    if (isinf(r->errors[k]))
        snprintf(text, NUMBER_SIZE, "not seen");
    else if (isnan(r->errors[k]))
        snprintf(text, NUMBER_SIZE, "-");
    else
        report_number(r->errors[k], 3, text);
}

static void write_parameters(FILE *stream, const report_fit *fit)
{
    const dae_fit_result *r = fit->result;
    char name[LABEL_SIZE], unit[LABEL_SIZE], bounds[LABEL_SIZE];
    char value[NUMBER_SIZE], error[NUMBER_SIZE], start[NUMBER_SIZE];
    int width = 9;
    for (int k = 0; k < r->count; k++) {
        label_of(&fit->list[k], name);
        if ((int)strlen(name) > width) width = (int)strlen(name);
    }
    if (width > 40) width = 40;
    fprintf(stream, "  %-*s  %14s  %10s  %-8s  %12s  %s\n", width, "parameter", "value",
            "std. error", "unit", "start", "bounds");
    for (int k = 0; k < r->count; k++) {
        label_of(&fit->list[k], name);
        (void)dae_printable(fit->list[k].unit, unit, sizeof unit);
        bounds_of(&fit->list[k], r, k, bounds);
        error_of(r, k, error);
        report_number(r->values[k], 8, value);
        report_number(r->starts[k], 6, start);
        fprintf(stream, "  %-*s  %14s  %10s  %-8s  %12s  %s\n", width, name, value, error, unit,
                start, bounds);
    }
}

static void write_correlations(FILE *stream, const report_fit *fit)
{
    const dae_fit_result *r = fit->result;
    for (int i = 0; i < r->count; i++)
        for (int j = 0; j < i; j++) {
            char one[LABEL_SIZE], other[LABEL_SIZE];
            double c = r->correlation[i * r->count + j];
            if (!(fabs(c) > CLOSE) || r->unidentified[i] || r->unidentified[j]) continue;
            label_of(&fit->list[j], one);
            label_of(&fit->list[i], other);
            fprintf(stream, "  correlation %.4f of %s and %s: the data hardly tell them apart\n", c,
                    one, other);
        }
}

report_status report_fit_table(FILE *stream, const report_fit *fit, report_error *error)
{
    static const char *const ends[] = {
        "converged", "not converged: the iterations ran out; allow more with --iterations",
        "not converged: stuck", "stopped before its end; this is the best point so far"};
    const dae_fit_result *r = fit->result;
    char cost[NUMBER_SIZE], sigma[NUMBER_SIZE], text[DAE_TEXT_SIZE];
    write_parameters(stream, fit);
    report_number(r->cost, 8, cost);
    report_number(r->sigma, 5, sigma);
    fprintf(stream, "  cost      %s (%s)\n", cost,
            strcmp(fit->loss, "squares") == 0 ? "half the sum of squares" : fit->loss);
    if (!isnan(r->sigma) || r->rank > 0)
        fprintf(stream, "  sigma     %s (observations %d, rank %d of %d parameters)\n",
                isnan(r->sigma) ? "-" : sigma, r->observations, r->rank, r->count);
    fprintf(stream, "  work      iterations %d, runs of the model %d\n", r->iterations, r->runs);
    fprintf(stream, "  end       %s\n", ends[r->end]);
    write_correlations(stream, fit);
    (void)dae_printable(r->text, text, sizeof text);
    if (*text) fprintf(stream, "  note      %s\n", text);
    return report_check_stream(stream, error);
}

/* ---- json ---- */

static void write_one(FILE *stream, const report_fit *fit, int k)
{
    const report_fit_parameter *p = &fit->list[k];
    const dae_fit_result *r = fit->result;
    json_object o = json_open(stream, 4);
    json_string_member(&o, "name", p->name);
    json_string_member(&o, "unit", p->unit);
    json_string_member(&o, "kind", p->start ? "start" : "parameter");
    json_number_member(&o, "value", r->values[k]);
    json_number_member(&o, "error", r->errors[k]);
    json_number_member(&o, "start", r->starts[k]);
    json_number_member(&o, "lower", p->lower);
    json_number_member(&o, "upper", p->upper);
    json_member(&o, "at_bound");
    fputs(r->at_bound[k] ? "true" : "false", stream);
    json_member(&o, "unidentified");
    fputs(r->unidentified[k] ? "true" : "false", stream);
    json_close(&o);
}

static void write_fit(FILE *stream, const report_fit *fit)
{
    const dae_fit_result *r = fit->result;
    const size_t n = (size_t)r->count;
    json_object o = json_open(stream, 2);
    json_string_member(&o, "end", report_fit_end(r->end));
    json_string_member(&o, "loss", fit->loss);
    json_number_member(&o, "cost", r->cost);
    json_number_member(&o, "sigma", r->sigma);
    json_integer_member(&o, "experiments", fit->experiments);
    json_integer_member(&o, "observations", r->observations);
    json_integer_member(&o, "rank", r->rank);
    json_integer_member(&o, "iterations", r->iterations);
    json_integer_member(&o, "runs", r->runs);
    json_string_member(&o, "text", r->text);
    json_member(&o, "parameters");
    for (int k = 0; k < r->count; k++) {
        fputs(k == 0 ? "[" : ", ", stream);
        write_one(stream, fit, k);
    }
    fputs("]", stream);
    json_member(&o, "correlation");
    for (size_t k = 0; k < n; k++) {
        fputs(k == 0 ? "[" : ", ", stream);
        json_array(stream, n, r->correlation + k * n, 1);
    }
    fputs("]", stream);
    json_close(&o);
}

report_status report_fit_json(FILE *stream, const report_series *series, const report_fit *fit,
                              report_error *error)
{
    json_object o = json_open(stream, 1);
    json_run_members(&o, series, NULL, NULL);
    json_member(&o, "fit");
    write_fit(stream, fit);
    json_close(&o);
    putc('\n', stream);
    return report_check_stream(stream, error);
}
