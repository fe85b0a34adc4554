/* What a judge found, for people and for programs. */
#include "json_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_WIDTH = 34 };

static int least(int a, int b)
{
    return a < b ? a : b;
}

static int shown(int count, int max_rows)
{
    return max_rows > 0 ? least(count, max_rows) : count;
}

static void print_rest(FILE *stream, int count, int max_rows)
{
    int rest = count - shown(count, max_rows);
    if (rest > 0) fprintf(stream, "  .. and %d more; see all with --all, or --json\n", rest);
}

/* ---- for people ---- */

/* The first `length` bytes of a name, in a column of so many; one that does not fit ends in "..",
 * unless it is the name of a variable, which is never cut. */
static void print_column(FILE *stream, const char *name, size_t length, bool whole)
{
    char part[512], text[2048];
    if (length >= sizeof part) length = sizeof part - 1;
    memcpy(part, name, length);
    part[length] = '\0';
    for (char *c = part; *c; c++)
        if (*c == '\n' || *c == '\t') *c = ' '; /* one row each */
    (void)dae_printable(part, text, sizeof text);
    size_t end = strlen(text);
    bool cut = !whole && end > NAME_WIDTH;
    if (cut) end = NAME_WIDTH - 2;
    while (cut && end > 0 && ((unsigned char)text[end] & 0xc0) == 0x80) end--;
    int rest = NAME_WIDTH - (int)end - (cut ? 2 : 0);
    fprintf(stream, "  %.*s%s%*s", (int)end, text, cut ? ".." : "", rest > 0 ? rest : 0, "");
}

static void print_variable(FILE *stream, const char *name)
{
    print_column(stream, name, strlen(name), true);
}

static void print_run(FILE *stream, const char *label, const dae_verify_run *r)
{
    fprintf(stream, "  %-9s %s, rtol %g, atol %g", label, *r->method ? r->method : "(given)",
            r->rtol, r->atol);
    if (r->steps > 0) fprintf(stream, ": %ld steps, %.3g s", r->steps, r->seconds);
    if (r->status < 0 && isfinite(r->end)) fprintf(stream, ", failed at t = %g", r->end);
    if (r->status < 0 && !isfinite(r->end)) fprintf(stream, ", did not start");
    putc('\n', stream);
    if (r->status < 0 && *r->text) fprintf(stream, "            %s\n", r->text);
}

typedef struct ranked {
    double value;
    int index;
} ranked;

static int larger_first(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->value != y->value) return x->value < y->value ? 1 : -1;
    return (x->index > y->index) - (x->index < y->index);
}

/* The variables by their errors; NULL: memory. The caller frees it. */
static ranked *rank_variables(const dae_verify_report *r)
{
    ranked *list = calloc((size_t)r->variable_count + 1, sizeof *list);
    for (int i = 0; list && i < r->variable_count; i++) {
        double e = r->variables[i].tolerances;
        list[i] = (ranked){isnan(e) ? -1.0 : e, i};
    }
    if (list) qsort(list, (size_t)r->variable_count, sizeof *list, larger_first);
    return list;
}

static bool print_variables(FILE *stream, const dae_verify_report *r, int max_rows)
{
    ranked *list = rank_variables(r);
    if (!list) return false;
    fprintf(
        stream,
        "\nestimated errors, in units of rtol |y| + atol\n  %-*s %11s %9s %10s %12s %16s %16s\n",
        NAME_WIDTH, "variable", "tolerances", "rms", "error", "at t", "run", "judge");
    for (int k = 0; k < shown(r->variable_count, max_rows); k++) {
        const dae_verify_variable *v = &r->variables[list[k].index];
        print_variable(stream, v->name);
        if (isnan(v->tolerances))
            fputs(" not compared\n", stream);
        else
            fprintf(stream, " %11.3g %9.2g %10.2e %12.6g %16.9g %16.9g\n", v->tolerances, v->rms,
                    v->error, v->t, v->run, v->judge);
    }
    print_rest(stream, r->variable_count, max_rows);
    free(list);
    return true;
}

/* "rod" and "line 15" of "rod (pendulum.mo:15)"; other names as they are */
static void print_name(FILE *stream, const dae_verify_equation *e)
{
    char place[16] = "", end[24];
    size_t length = strlen(e->name), tail;
    tail = (size_t)snprintf(end, sizeof end, ":%d)", e->line);
    if (e->line > 0) snprintf(place, sizeof place, "line %d", e->line);
    const char *bracket = strrchr(e->name, '(');
    bool placed = e->line > 0 && bracket > e->name && length > tail &&
                  strcmp(e->name + length - tail, end) == 0;
    print_column(stream, e->name, placed ? (size_t)(bracket - e->name) - 1 : length, false);
    fprintf(stream, " %-10s", place);
}

/* "as written", "differentiated once", .. */
static const char *level_text(int level)
{
    static const char *const texts[] = {"as written", "d/dt", "d2/dt2", "d3/dt3"};
    return level < 4 ? texts[level] : "higher";
}

static void print_findings(FILE *stream, const char *title, const dae_verify_equation *e, int count,
                           bool levels, int max_rows)
{
    if (count == 0) return;
    fprintf(stream, "\n%s\n  %-*s %11s %10s %11s %12s\n", title, NAME_WIDTH + (levels ? 23 : 11),
            "", "residual", "of terms", "tolerances", "at t");
    for (int i = 0; i < shown(count, max_rows); i++) {
        print_name(stream, &e[i]);
        if (levels) fprintf(stream, " %-11s", level_text(e[i].level));
        fprintf(stream, " %11.2e %10.2e", e[i].residual, e[i].relative);
        if (isnan(e[i].tolerances))
            fprintf(stream, " %11s", "-");
        else
            fprintf(stream, " %11.3g", e[i].tolerances);
        fprintf(stream, " %12.6g\n", e[i].t);
    }
    print_rest(stream, count, max_rows);
}

/* A time that one of them has not. */
static void print_time(FILE *stream, double t)
{
    if (isnan(t))
        fprintf(stream, " %17s", "none");
    else
        fprintf(stream, " %17.12g", t);
}

static void print_events(FILE *stream, const dae_verify_report *r, int max_rows)
{
    if (r->event_count == 0) return;
    fprintf(stream, "\nevents: %d in the run, %d with the judge\n  %-*s %17s %17s %10s\n",
            r->run_events, r->judge_events, NAME_WIDTH, "", "run", "judge", "apart");
    for (int i = 0; i < shown(r->event_count, max_rows); i++) {
        const dae_verify_event *e = &r->events[i];
        print_column(stream, e->name, strlen(e->name), false);
        print_time(stream, e->run);
        print_time(stream, e->judge);
        if (isnan(e->run) || isnan(e->judge))
            fprintf(stream, " %10s\n", "-");
        else
            fprintf(stream, " %10.2e\n", fabs(e->run - e->judge));
    }
    print_rest(stream, r->event_count, max_rows);
}

/* What does not agree with the text, and what could not be judged. */
static void print_text(FILE *stream, const dae_verify_report *r, int max_rows)
{
    if (r->fault_count > 0) fputs("\nnot as the equations say\n", stream);
    for (int i = 0; i < shown(r->fault_count, max_rows); i++)
        fprintf(stream, "  %s\n", r->faults[i].what);
    print_rest(stream, r->fault_count, max_rows);
    if (r->gap_count > 0) fputs("\nnot judged by the interpreter of the text\n", stream);
    for (int i = 0; i < shown(r->gap_count, max_rows); i++)
        fprintf(stream, "  line %-6d %s\n", r->gaps[i].line, r->gaps[i].what);
    print_rest(stream, r->gap_count, max_rows);
}

/* The same model in other words. */
static void print_variants(FILE *stream, const dae_verify_report *r)
{
    if (r->variant_count > 0)
        fprintf(stream, "\nthe same model in other words\n  %-*s %11s %12s %16s %16s\n", NAME_WIDTH,
                "", "tolerances", "at t", "run", "other");
    for (int i = 0; i < r->variant_count; i++) {
        const dae_verify_variant *v = &r->variants[i];
        print_column(stream, v->name, strlen(v->name), false);
        if (isnan(v->tolerances))
            fprintf(stream, " not compared: %s\n", v->text);
        else
            fprintf(stream, " %11.3g %12.6g %16.9g %16.9g  %s%s%s\n", v->tolerances, v->t, v->run,
                    v->other, v->variable, *v->text ? "; it ends early: " : "", v->text);
    }
}

static void print_invariants(FILE *stream, const dae_verify_report *r)
{
    if (r->invariant_count == 0) return;
    fprintf(stream, "\nenergy and invariants: largest change\n  %-*s %16s %11s %11s\n", NAME_WIDTH,
            "", "at the start", "run", "judge");
    for (int i = 0; i < r->invariant_count; i++) {
        const dae_verify_invariant *v = &r->invariants[i];
        print_variable(stream, v->name);
        fprintf(stream, " %16.9g %11.2e %11.2e\n", v->start, v->run, v->judge);
    }
}

report_status report_verify(FILE *stream, const dae_verify_report *report, int max_rows,
                            report_error *error)
{
    if (!stream || !report)
        return report_fail(error, REPORT_ERR_ARGUMENT, "A stream and a report are needed.");
    const dae_verify_report *r = report;
    print_run(stream, "run", &r->run);
    for (int k = 0; k < r->judge_count; k++)
        print_run(stream, k == 0 ? "judge" : "and", &r->judges[k]);
    fprintf(stream, "  rows      %d, of these %d compared", r->rows, r->compared);
    if (r->between > 0) fprintf(stream, ", %d between the two times of an event", r->between);
    putc('\n', stream);
    if (!print_variables(stream, r, max_rows))
        return report_fail(error, REPORT_ERR_MEMORY, "Out of memory for a list of variables.");
    print_findings(stream, "equations of the run, worst first (derivatives are the interpolant's)",
                   r->equations, r->equation_count, false, max_rows);
    print_findings(stream, "constraints of the run, hidden ones too, worst first", r->constraints,
                   r->constraint_count, true, max_rows);
    print_invariants(stream, r);
    print_events(stream, r, max_rows);
    print_variants(stream, r);
    print_text(stream, r, max_rows);
    return report_check_stream(stream, error);
}

/* ---- for programs ---- */

static void write_run(FILE *stream, const dae_verify_run *r, int depth)
{
    json_object o = json_open(stream, depth);
    json_string_member(&o, "method", r->method);
    json_number_member(&o, "rtol", r->rtol);
    json_number_member(&o, "atol", r->atol);
    json_string_member(&o, "status", dae_status_name(r->status));
    json_number_member(&o, "end", r->end);
    json_integer_member(&o, "steps", r->steps);
    json_integer_member(&o, "evaluations", r->evaluations);
    json_number_member(&o, "seconds", r->seconds);
    json_string_member(&o, "text", r->text);
    json_close(&o);
}

/* Begin element k of an array. */
static void separate(FILE *stream, int k)
{
    fputs(k == 0 ? "\n    " : ",\n    ", stream);
}

static void write_variables(FILE *stream, const dae_verify_report *r)
{
    putc('[', stream);
    for (int i = 0; i < r->variable_count; i++) {
        const dae_verify_variable *v = &r->variables[i];
        separate(stream, i);
        json_object o = json_open(stream, 3);
        json_string_member(&o, "name", v->name);
        json_number_member(&o, "rtol", v->rtol);
        json_number_member(&o, "atol", v->atol);
        json_number_member(&o, "tolerances", v->tolerances);
        json_number_member(&o, "rms", v->rms);
        json_number_member(&o, "error", v->error);
        json_number_member(&o, "t", v->t);
        json_number_member(&o, "run", v->run);
        json_number_member(&o, "judge", v->judge);
        json_number_member(&o, "largest", v->largest);
        json_close(&o);
    }
    fputs("\n  ]", stream);
}

static void write_findings(FILE *stream, const dae_verify_equation *e, int count)
{
    putc('[', stream);
    for (int i = 0; i < count; i++) {
        separate(stream, i);
        json_object o = json_open(stream, 3);
        json_string_member(&o, "name", e[i].name);
        json_integer_member(&o, "line", e[i].line);
        json_integer_member(&o, "level", e[i].level);
        json_integer_member(&o, "differential", e[i].differential);
        json_number_member(&o, "residual", e[i].residual);
        json_number_member(&o, "relative", e[i].relative);
        json_number_member(&o, "tolerances", e[i].tolerances);
        json_number_member(&o, "t", e[i].t);
        json_close(&o);
    }
    fputs("\n  ]", stream);
}

static void write_faults(FILE *stream, const dae_verify_report *r)
{
    putc('[', stream);
    for (int i = 0; i < r->fault_count; i++) {
        const dae_verify_fault *f = &r->faults[i];
        separate(stream, i);
        json_object o = json_open(stream, 3);
        json_string_member(&o, "what", f->what);
        json_integer_member(&o, "line", f->line);
        json_number_member(&o, "t", f->t);
        json_number_member(&o, "left", f->left);
        json_number_member(&o, "right", f->right);
        json_number_member(&o, "allowed", f->allowed);
        json_close(&o);
    }
    fputs("\n  ]", stream);
}

static void write_variants(FILE *stream, const dae_verify_report *r)
{
    putc('[', stream);
    for (int i = 0; i < r->variant_count; i++) {
        const dae_verify_variant *v = &r->variants[i];
        separate(stream, i);
        json_object o = json_open(stream, 3);
        json_string_member(&o, "name", v->name);
        json_string_member(&o, "text", v->text);
        json_number_member(&o, "tolerances", v->tolerances);
        json_string_member(&o, "variable", v->variable);
        json_number_member(&o, "t", v->t);
        json_number_member(&o, "run", v->run);
        json_number_member(&o, "other", v->other);
        json_close(&o);
    }
    fputs("\n  ]", stream);
}

static void write_gaps(FILE *stream, const dae_verify_report *r)
{
    putc('[', stream);
    for (int i = 0; i < r->gap_count; i++) {
        separate(stream, i);
        json_object o = json_open(stream, 3);
        json_string_member(&o, "what", r->gaps[i].what);
        json_integer_member(&o, "line", r->gaps[i].line);
        json_close(&o);
    }
    fputs("\n  ]", stream);
}

static void write_events(FILE *stream, const dae_verify_report *r)
{
    putc('[', stream);
    for (int i = 0; i < r->event_count; i++) {
        separate(stream, i);
        json_object o = json_open(stream, 3);
        json_string_member(&o, "name", r->events[i].name);
        json_number_member(&o, "run", r->events[i].run);
        json_number_member(&o, "judge", r->events[i].judge);
        json_close(&o);
    }
    fputs("\n  ]", stream);
}

static void write_invariants(FILE *stream, const dae_verify_report *r)
{
    putc('[', stream);
    for (int i = 0; i < r->invariant_count; i++) {
        separate(stream, i);
        json_object o = json_open(stream, 3);
        json_string_member(&o, "name", r->invariants[i].name);
        json_number_member(&o, "start", r->invariants[i].start);
        json_number_member(&o, "run", r->invariants[i].run);
        json_number_member(&o, "judge", r->invariants[i].judge);
        json_close(&o);
    }
    fputs("\n  ]", stream);
}

static void write_verdict(json_object *o, const dae_verify_report *r)
{
    static const char *const verdicts[] = {"good", "off", "unknown"};
    json_string_member(o, "verdict", verdicts[r->verdict]);
    json_string_member(o, "text", r->text);
    json_number_member(o, "limit", r->limit);
    json_string_member(o, "worst", r->worst >= 0 ? r->variables[r->worst].name : "");
    json_number_member(o, "worst_tolerances",
                       r->worst >= 0 ? r->variables[r->worst].tolerances : (double)NAN);
    json_number_member(o, "trusted_until", r->trusted_until);
    json_integer_member(o, "rows", r->rows);
    json_integer_member(o, "compared", r->compared);
    json_integer_member(o, "between", r->between);
}

report_status report_verify_json(FILE *stream, const dae_verify_report *report, report_error *error)
{
    if (!stream || !report)
        return report_fail(error, REPORT_ERR_ARGUMENT, "A stream and a report are needed.");
    json_object o = json_open(stream, 1);
    write_verdict(&o, report);
    json_member(&o, "run");
    write_run(stream, &report->run, 2);
    json_member(&o, "judges");
    putc('[', stream);
    for (int k = 0; k < report->judge_count; k++) {
        separate(stream, k);
        write_run(stream, &report->judges[k], 3);
    }
    fputs("\n  ]", stream);
    json_member(&o, "variables");
    write_variables(stream, report);
    json_member(&o, "equations");
    write_findings(stream, report->equations, report->equation_count);
    json_member(&o, "constraints");
    write_findings(stream, report->constraints, report->constraint_count);
    json_member(&o, "invariants");
    write_invariants(stream, report);
    json_integer_member(&o, "run_events", report->run_events);
    json_integer_member(&o, "judge_events", report->judge_events);
    json_member(&o, "events");
    write_events(stream, report);
    json_member(&o, "faults");
    write_faults(stream, report);
    json_member(&o, "gaps");
    write_gaps(stream, report);
    json_member(&o, "variants");
    write_variants(stream, report);
    json_close(&o);
    putc('\n', stream);
    return report_check_stream(stream, error);
}

report_status report_verify_json_file(const char *path, const dae_verify_report *report,
                                      report_error *error)
{
    report_file file;
    report_status status = report_file_open(&file, path, error);
    if (status != REPORT_OK) return status;
    return report_file_finish(&file, report_verify_json(file.stream, report, error), error);
}
