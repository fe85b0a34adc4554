/* Parameters by what they do to a solution: the table and the json. Bars are drawn by plot.c. */
#include "json_parts.h"

#include <math.h>
#include <string.h>

/* ---- for people ---- */

/* "k1", or "x (start)" of a start value, without control characters. */
static void effect_label(const report_effect *e, char text[LABEL_SIZE])
{
    (void)dae_printable(e->name, text, LABEL_SIZE - 10);
    if (e->start) strcat(text, " (start)");
}

static int widest(const report_effects *effects, bool variables)
{
    char text[LABEL_SIZE];
    int width = 9;
    for (int k = 0; k < effects->count; k++) {
        const report_effect *e = &effects->list[k];
        if (variables)
            (void)dae_printable(e->variable ? e->variable : "", text, sizeof text);
        else
            effect_label(e, text);
        if ((int)strlen(text) > width) width = (int)strlen(text);
    }
    return width < 40 ? width : 40;
}

static void write_effect(FILE *stream, const report_effect *e, int width, int moved)
{
    char name[LABEL_SIZE], variable[LABEL_SIZE], unit[LABEL_SIZE], value[NUMBER_SIZE],
        relative[NUMBER_SIZE], time[NUMBER_SIZE];
    effect_label(e, name);
    (void)dae_printable(e->unit, unit, sizeof unit);
    report_number(e->value, 6, value);
    fprintf(stream, "  %-*s  %12s %-8s  ", width, name, value, unit);
    if (!e->variable) {
        fputs("moves nothing\n", stream);
        return;
    }
    (void)dae_printable(e->variable, variable, sizeof variable);
    report_number(e->relative, 4, relative);
    report_number(e->time, 6, time);
    fprintf(stream, "%-*s  %10s  %s\n", moved, variable, relative, time);
}

report_status report_effects_table(FILE *stream, const report_effects *effects, report_error *error)
{
    int width = widest(effects, false), moved = widest(effects, true);
    fprintf(stream, "  %-*s  %12s %-8s  %-*s  %10s  %s\n", width, "parameter", "value", "", moved,
            "moves", "relative", "at time");
    for (int k = 0; k < effects->count; k++) write_effect(stream, &effects->list[k], width, moved);
    return report_check_stream(stream, error);
}

/* ---- json ---- */

static void write_statistics(FILE *stream, const dae_sensitivity_stats *s)
{
    json_object o = json_open(stream, 3);
    json_integer_member(&o, "steps", s->steps);
    json_integer_member(&o, "rejected", s->rejected);
    json_integer_member(&o, "jacobians", s->jacobians);
    json_integer_member(&o, "factorisations", s->factorisations);
    json_integer_member(&o, "solves", s->solves);
    json_integer_member(&o, "events", s->events);
    json_close(&o);
}

static void write_one(FILE *stream, const report_effect *e)
{
    json_object o = json_open(stream, 4);
    json_string_member(&o, "name", e->name);
    json_string_member(&o, "unit", e->unit);
    json_number_member(&o, "value", e->value);
    json_string_member(&o, "kind", e->start ? "start" : "parameter");
    if (e->variable) {
        json_string_member(&o, "moves", e->variable);
        json_number_member(&o, "relative", e->relative);
        json_number_member(&o, "time", e->time);
    }
    if (!isnan(e->event_derivative))
        json_number_member(&o, "event_derivative", e->event_derivative);
    json_close(&o);
}

static void write_effects(FILE *stream, const report_effects *effects)
{
    json_object o = json_open(stream, 2);
    json_string_member(&o, "columns", effects->relative ? "relative" : "absolute");
    json_member(&o, "effects");
    for (int k = 0; k < effects->count; k++) {
        fputs(k == 0 ? "[" : ", ", stream);
        write_one(stream, &effects->list[k]);
    }
    fputs(effects->count > 0 ? "]" : "[]", stream);
    if (!isnan(effects->event_time)) json_number_member(&o, "event_time", effects->event_time);
    json_member(&o, "statistics");
    write_statistics(stream, effects->stats);
    json_close(&o);
}

report_status report_effects_json(FILE *stream, const report_series *series, const dae_stats *stats,
                                  const dae_diag *diag, const report_effects *effects,
                                  report_error *error)
{
    json_object o = json_open(stream, 1);
    json_run_members(&o, series, stats, diag);
    json_member(&o, "sensitivities");
    write_effects(stream, effects);
    json_close(&o);
    putc('\n', stream);
    report_status status = series ? report_series_check(series, error) : REPORT_OK;
    return status == REPORT_OK ? report_check_stream(stream, error) : status;
}
