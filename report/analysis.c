/* The analysis of a model, for people and as json. */
#include "json_parts.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------------
 * For people
 * ------------------------------------------------------------------------------------------- */

typedef struct page {
    FILE *out;
    const dae_analysis *a;
    int most;  /* rows of a list, */
    int width; /* and characters of an equation */
} page;

/* text, cut with ".." where it is too long for a line; not inside a UTF-8 character */
static const char *fitted(const page *p, const char *text, char buffer[200])
{
    size_t width = (size_t)p->width;
    if (p->width == 0 || strlen(text) <= width) return text;
    size_t end = width - 2;
    while (end > 0 && ((unsigned char)text[end] & 0xC0) == 0x80) end--;
    snprintf(buffer, 200, "%.*s..", (int)end, text);
    return buffer;
}

static const char *ending(long count)
{
    return count == 1 ? "" : "s";
}

/* Rows of a list that are shown; the others are counted by `end_list`. */
static int shown(const page *p, int count)
{
    return count > p->most ? p->most : count;
}

static void end_list(const page *p, int count)
{
    if (count > p->most) fprintf(p->out, "  and %d more (--all lists them)\n", count - p->most);
}

static int widest(int so_far, const char *text)
{
    int length = (int)strlen(text);
    return length > so_far ? (length < 64 ? length : 64) : so_far;
}

/* "once", "twice", "3 times" */
static const char *times_text(int times, char text[24])
{
    snprintf(text, 24, "%d times", times);
    return times == 1 ? "once" : times == 2 ? "twice" : text;
}

static void print_sizes(const page *p)
{
    const dae_analysis *a = p->a;
    fprintf(p->out, "  equations           %d for %d unknown%s", a->equations, a->unknowns,
            ending(a->unknowns));
    if (!a->singular && a->analysed < a->unknowns)
        fprintf(p->out, "; %d when aliases and names of derivatives have left", a->analysed);
    putc('\n', p->out);
}

static void print_index(const page *p)
{
    const dae_analysis *a = p->a;
    if (a->agree)
        fprintf(p->out, "  index               %d", a->index);
    else
        fputs("  index               not known", p->out);
    if (!a->agree || a->structural_index != a->index)
        fprintf(p->out, " (structural index %d)", a->structural_index);
    putc('\n', p->out);
    if (!a->agree) return;
    fprintf(p->out, "  degrees of freedom  %d", a->freedom);
    const char *separator = ": ";
    if (a->fixed_count > 0) {
        fprintf(p->out, "%s%d fixed value%s", separator, a->fixed_count, ending(a->fixed_count));
        separator = ", ";
    }
    if (a->condition_count > 0) {
        fprintf(p->out, "%s%d initial equation%s", separator, a->condition_count,
                ending(a->condition_count));
        separator = ", ";
    }
    if (a->freedom > 0) fprintf(p->out, "%s%d to choose by start values", separator, a->to_choose);
    if (a->unsettled > 0) fprintf(p->out, "; %d too many", a->unsettled);
    putc('\n', p->out);
}

static void print_blocks(const page *p)
{
    const dae_analysis *a = p->a;
    int largest = 0, single = 0;
    for (int b = 0; b < a->block_count; b++) {
        int size = a->block_start[b + 1] - a->block_start[b];
        single += size == 1;
        if (size > largest) largest = size;
    }
    fprintf(p->out, "  blocks              %d, %d of a single equation, the largest of %d\n",
            a->block_count, single, largest);
}

static void print_certificate(const page *p)
{
    const dae_analysis *a = p->a;
    fputs("  numbers             ", p->out);
    if (!a->agree)
        fputs("disagree with the structure: equations depend on each other\n", p->out);
    else if (!a->agree_here)
        fputs("agree with the structure in general, but not at the initial point\n", p->out);
    else {
        fputs("agree with the structure", p->out);
        if (a->rewrite_count > 0) fputs(" after a rewriting", p->out);
        if (isfinite(a->condition))
            fprintf(p->out, " (reciprocal condition %.2g%s)", a->condition,
                    a->consistent ? " at the initial point" : "");
        putc('\n', p->out);
    }
}

static void print_mechanical(const page *p)
{
    const dae_analysis *a = p->a;
    if (a->positions == 0) return;
    fprintf(p->out, "  mechanical form     M q'' = f%s with %d position%s",
            a->multipliers > 0 ? " - G' lambda" : "", a->positions, ending(a->positions));
    if (a->multipliers > 0)
        fprintf(p->out, ", %d multiplier%s", a->multipliers, ending(a->multipliers));
    if (a->contacts > 0)
        fprintf(p->out, ", %d contact coordinate%s", a->contacts, ending(a->contacts));
    if (a->velocity_constraints > 0)
        fprintf(p->out, ", %d constraint%s on velocities", a->velocity_constraints,
                ending(a->velocity_constraints));
    fputs(a->friction ? ", f depends on lambda\n" : "\n", p->out);
}

static void print_modes(const page *p)
{
    const dae_analysis *a = p->a;
    for (int k = 0; k < shown(p, a->mode_count); k++) {
        fprintf(p->out, "%s%s is ", k ? "                      " : "  mode analysed       ",
                a->modes[k].condition);
        if (a->modes[k].value == 0.0 || a->modes[k].value == 1.0)
            fputs(a->modes[k].value != 0.0 ? "true\n" : "false\n", p->out);
        else
            fprintf(p->out, "%g\n", a->modes[k].value);
    }
    end_list(p, a->mode_count);
}

static void print_culprits(const page *p)
{
    const dae_analysis *a = p->a;
    if (a->culprit_equation_count == 0) return;
    fputs("\nEquations that depend on each other\n", p->out);
    for (int k = 0; k < shown(p, a->culprit_equation_count); k++) {
        const dae_analysis_equation *e = &a->equation[a->culprit_equations[k]];
        fprintf(p->out, "  line %-5d %s", e->line, e->text);
        char text[24];
        if (e->offset > 0) fprintf(p->out, "   (differentiated %s)", times_text(e->offset, text));
        putc('\n', p->out);
    }
    end_list(p, a->culprit_equation_count);
    fputs("  They leave open:", p->out);
    for (int k = 0; k < shown(p, a->culprit_unknown_count); k++)
        fprintf(p->out, "%s %s", k ? "," : "", a->culprit_unknowns[k]);
    if (a->culprit_unknown_count > p->most)
        fprintf(p->out, " and %d more", a->culprit_unknown_count - p->most);
    putc('\n', p->out);
    if (*a->rewrite_failure) fprintf(p->out, "  %s\n", a->rewrite_failure);
}

static void print_rewrites(const page *p)
{
    const dae_analysis *a = p->a;
    if (a->rewrite_count == 0) return;
    fputs("\nRewriting, since numbers cancel that the structure does not see\n", p->out);
    for (int k = 0; k < shown(p, a->rewrite_count); k++) fprintf(p->out, "  %s\n", a->rewrites[k]);
    end_list(p, a->rewrite_count);
}

static void print_constraints(const page *p, bool hidden)
{
    const dae_analysis *a = p->a;
    int count = hidden ? a->hidden_count : a->constraint_count - a->hidden_count;
    int first = hidden ? a->constraint_count - a->hidden_count : 0, width = 0;
    if (count == 0) return;
    fputs(hidden ? "\nHidden constraints\n" : "\nConstraints that are differentiated\n", p->out);
    for (int k = 0; k < shown(p, count); k++) width = widest(width, a->constraints[first + k].text);
    for (int k = 0; k < shown(p, count); k++) {
        const dae_analysis_constraint *c = &a->constraints[first + k];
        const dae_analysis_equation *e = &a->equation[c->equation];
        char text[24];
        char cut[200];
        fprintf(p->out, "  %-*s   line %d", width, fitted(p, c->text, cut), e->line);
        if (c->times > 0) fprintf(p->out, ", differentiated %s", times_text(c->times, text));
        int others = 0;
        for (int i = 0; i < c->line_count; i++)
            if (c->lines[i] != e->line)
                fprintf(p->out, "%s%d", others++ ? ", " : "; with ", c->lines[i]);
        putc('\n', p->out);
    }
    end_list(p, count);
}

static const char *role_text(const dae_analysis_variable *v)
{
    return v->role == DAE_ROLE_FIXED ? "fixed" : v->role == DAE_ROLE_FREE ? "free" : "implied";
}

/* "algebraic, index 3"; "= der(x)" is told by another column */
static const char *kind_text(const dae_analysis_variable *v, char text[40])
{
    if (v->unknown < 0) return "constant";
    if (v->output) return "output";
    if (v->differential) return "differential";
    if (v->index < 0) return "algebraic";
    snprintf(text, 40, "algebraic, index %d", v->index);
    return text;
}

static void print_value(FILE *out, double x, const char *none)
{
    char text[32];
    snprintf(text, sizeof text, "%.6g", x == 0.0 ? 0.0 : x);
    fprintf(out, "  %12s", isnan(x) ? none : text);
}

static void print_variables(const page *p)
{
    const dae_analysis *a = p->a;
    int width = 4, count = shown(p, a->variable_count);
    if (count == 0) return;
    for (int k = 0; k < count; k++) width = widest(width, a->variables[k].name);
    fprintf(p->out, "\nVariables\n  %-*s  %-18s  %-7s  %12s%s\n", width, "", "", "initial", "start",
            a->consistent ? "         value" : "");
    for (int k = 0; k < count; k++) {
        const dae_analysis_variable *v = &a->variables[k];
        char text[40];
        fprintf(p->out, "  %-*s  %-18s  %-7s", width, v->name, kind_text(v, text), role_text(v));
        print_value(p->out, v->start, "");
        if (a->consistent) print_value(p->out, v->value, "nan"); /* of an output */
        putc('\n', p->out);
    }
    end_list(p, a->variable_count);
}

/* Equations block by block, in the order in which they can be solved. */
static void print_equations(const page *p)
{
    const dae_analysis *a = p->a;
    int width = 10, count = shown(p, a->analysed), block = 0;
    if (count == 0) return;
    for (int k = 0; k < count; k++)
        width = widest(width, a->equation[a->block_equation[k]].determined);
    fprintf(p->out,
            "\nEquations in the order of their blocks\n"
            "  %5s  %5s  %5s  %-*s  %s\n",
            "block", "line", "der", width, "determines", "equation");
    for (int k = 0; k < count; k++) {
        const dae_analysis_equation *e = &a->equation[a->block_equation[k]];
        bool first = k == a->block_start[block];
        char number[16] = "";
        char cut[200];
        if (first) snprintf(number, sizeof number, "%d", block + 1);
        fprintf(p->out, "  %5s  %5d  %5d  %-*s  %s\n", number, e->line, e->offset, width,
                e->determined, fitted(p, e->text, cut));
        if (k + 1 == a->block_start[block + 1]) block++;
    }
    end_list(p, a->analysed);
}

static void print_eigenvalues(const page *p)
{
    const dae_pencil_report *q = p->a->pencil;
    int count = shown(p, q->finite);
    if (count == 0) return;
    fputs("  eigenvalues", p->out);
    for (int k = 0; k < count; k++) {
        double size = hypot(q->re[k], q->im[k]), re = q->re[k], im = q->im[k];
        if (fabs(re) < 1e-12 * size) re = 0.0; /* rounding */
        fprintf(p->out, "%s%.6g", k ? ", " : "  ", re);
        if (fabs(im) > 0.0) fprintf(p->out, "%+.6gi", im);
    }
    if (q->finite > count) fprintf(p->out, " and %d more", q->finite - count);
    putc('\n', p->out);
}

static void print_pencil(const page *p)
{
    const dae_pencil_report *q = p->a->pencil;
    if (!q) return;
    bool outputs = false;
    for (int k = 0; k < p->a->variable_count; k++) outputs |= p->a->variables[k].output;
    fprintf(p->out, "\nLinear with constant coefficients%s\n",
            outputs ? ", apart from outputs" : "");
    fprintf(p->out, "  %s\n", q->text);
    print_eigenvalues(p);
}

static void print_part(const page *p, const dae_analysis_part *part)
{
    int rows = part->equation_count < 100 ? part->equation_count : 100;
    int columns = part->unknown_count < 100 ? part->unknown_count : 100;
    fprintf(p->out, "\n%s: %d equation%s for %d unknown%s\n",
            part->over ? "Too many equations" : "Too few equations", part->equation_count,
            ending(part->equation_count), part->unknown_count, ending(part->unknown_count));
    for (int k = 0; k < shown(p, rows); k++) fprintf(p->out, "  %s\n", part->equations[k]);
    end_list(p, part->equation_count);
    if (columns > 0) fputs("  unknowns", p->out);
    for (int k = 0; k < shown(p, columns); k++)
        fprintf(p->out, "%s %s", k ? "," : "", part->unknowns[k]);
    if (part->unknown_count > shown(p, columns))
        fprintf(p->out, " and %d more", part->unknown_count - shown(p, columns));
    if (columns > 0) putc('\n', p->out);
}

static void print_parts(const page *p)
{
    const dae_analysis *a = p->a;
    fputs("  structure           singular\n", p->out);
    for (int k = 0; k < shown(p, a->part_count); k++) print_part(p, &a->parts[k]);
    end_list(p, a->part_count);
}

report_status report_analysis(FILE *stream, const dae_analysis *a,
                              const report_analysis_options *options, report_error *error)
{
    page p = {.out = stream,
              .a = a,
              .most = options && options->max_rows > 0 ? options->max_rows : 1000000000};
    p.width = options && options->max_rows > 0 ? 100 : 0;
    print_sizes(&p);
    if (a->singular) {
        print_modes(&p);
        print_parts(&p);
        return report_check_stream(stream, error);
    }
    print_index(&p);
    print_blocks(&p);
    print_certificate(&p);
    print_mechanical(&p);
    print_modes(&p);
    if (*a->initial_text) fprintf(stream, "\nInitial values\n  %s\n", a->initial_text);
    print_culprits(&p);
    print_rewrites(&p);
    print_constraints(&p, false);
    print_constraints(&p, true);
    print_variables(&p);
    print_equations(&p);
    print_pencil(&p);
    return report_check_stream(stream, error);
}

/* ---------------------------------------------------------------------------------------------
 * json
 * ------------------------------------------------------------------------------------------- */

static void bool_member(json_object *o, const char *name, bool value)
{
    json_member(o, name);
    fputs(value ? "true" : "false", o->stream);
}

static void integer_list(json_object *o, const char *name, const int *list, int count, int add)
{
    json_member(o, name);
    putc('[', o->stream);
    for (int k = 0; k < count; k++) fprintf(o->stream, "%s%d", k ? "," : "", list[k] + add);
    putc(']', o->stream);
}

static void text_list(json_object *o, const char *name, const char *const *list, int count)
{
    json_member(o, name);
    putc('[', o->stream);
    for (int k = 0; k < count; k++) {
        if (k > 0) putc(',', o->stream);
        json_string(o->stream, list[k]);
    }
    putc(']', o->stream);
}

/* Begin element k of a list of objects; its end is json_close. */
static json_object element(FILE *stream, int k)
{
    fputs(k > 0 ? "," : "", stream);
    return json_open(stream, 3);
}

static void json_variables(json_object *o, const dae_analysis *a)
{
    json_member(o, "variables");
    putc('[', o->stream);
    for (int k = 0; k < a->variable_count; k++) {
        const dae_analysis_variable *v = &a->variables[k];
        json_object e = element(o->stream, k);
        json_string_member(&e, "name", v->name);
        json_integer_member(&e, "line", v->line);
        bool_member(&e, "differential", v->differential);
        json_integer_member(&e, "index", v->index);
        json_integer_member(&e, "unknown", v->unknown);
        json_integer_member(&e, "order", v->order);
        json_integer_member(&e, "sign", v->sign);
        json_string_member(&e, "role", role_text(v));
        json_number_member(&e, "start", v->start);
        json_number_member(&e, "value", v->value);
        bool_member(&e, "output", v->output);
        json_close(&e);
    }
    putc(']', o->stream);
}

static void json_unknowns(json_object *o, const dae_analysis *a)
{
    json_member(o, "unknowns");
    putc('[', o->stream);
    for (int k = 0; k < a->analysed; k++) {
        json_object e = element(o->stream, k);
        json_string_member(&e, "name", a->unknown[k].name);
        json_integer_member(&e, "offset", a->unknown[k].offset);
        json_integer_member(&e, "block", a->unknown[k].block);
        json_close(&e);
    }
    putc(']', o->stream);
}

static void json_equations(json_object *o, const dae_analysis *a)
{
    json_member(o, "equations");
    putc('[', o->stream);
    for (int k = 0; k < a->analysed; k++) {
        const dae_analysis_equation *q = &a->equation[k];
        json_object e = element(o->stream, k);
        int first = a->entry_start[k], count = a->entry_start[k + 1] - first;
        json_string_member(&e, "name", q->name);
        json_integer_member(&e, "line", q->line);
        json_string_member(&e, "text", q->text);
        json_integer_member(&e, "offset", q->offset);
        json_integer_member(&e, "block", q->block);
        json_string_member(&e, "determines", q->determined);
        integer_list(&e, "contains", a->entry_unknown + first, count, 0);
        integer_list(&e, "orders", a->entry_order + first, count, 0);
        json_close(&e);
    }
    putc(']', o->stream);
}

static void json_constraints(json_object *o, const dae_analysis *a)
{
    json_member(o, "constraints");
    putc('[', o->stream);
    for (int k = 0; k < a->constraint_count; k++) {
        const dae_analysis_constraint *c = &a->constraints[k];
        json_object e = element(o->stream, k);
        json_string_member(&e, "text", c->text);
        bool_member(&e, "hidden", c->hidden);
        json_integer_member(&e, "equation", c->equation);
        json_integer_member(&e, "line", a->equation[c->equation].line);
        json_integer_member(&e, "differentiated", c->times);
        integer_list(&e, "lines", c->lines, c->line_count, 0);
        bool_member(&e, "derivatives", c->derivatives);
        json_close(&e);
    }
    putc(']', o->stream);
}

static void json_parts(json_object *o, const dae_analysis *a)
{
    json_member(o, "parts");
    putc('[', o->stream);
    for (int k = 0; k < a->part_count; k++) {
        const dae_analysis_part *p = &a->parts[k];
        int rows = p->equation_count < 100 ? p->equation_count : 100;
        int columns = p->unknown_count < 100 ? p->unknown_count : 100;
        json_object e = element(o->stream, k);
        bool_member(&e, "over", p->over);
        json_integer_member(&e, "equation_count", p->equation_count);
        json_integer_member(&e, "unknown_count", p->unknown_count);
        text_list(&e, "equations", p->equations, rows);
        integer_list(&e, "lines", p->lines, rows, 0);
        text_list(&e, "unknowns", p->unknowns, columns);
        json_close(&e);
    }
    putc(']', o->stream);
}

static void json_numbers(json_object *o, const dae_analysis *a)
{
    bool_member(o, "agree", a->agree);
    bool_member(o, "agree_here", a->agree_here);
    json_number_member(o, "condition", a->condition);
    integer_list(o, "culprit_equations", a->culprit_equations, a->culprit_equation_count, 0);
    text_list(o, "culprit_unknowns", a->culprit_unknowns, a->culprit_unknown_count);
    text_list(o, "rewrites", a->rewrites, a->rewrite_count);
    json_string_member(o, "rewrite_failure", a->rewrite_failure);
}

static void json_pencil(json_object *o, const dae_pencil_report *q)
{
    static const char *const stability[] = {"none", "asymptotic", "stable", "unstable"};
    json_member(o, "pencil");
    json_object e = json_open(o->stream, 2);
    bool_member(&e, "regular", q->regular);
    json_integer_member(&e, "index", q->index);
    json_integer_member(&e, "finite", q->finite);
    json_member(&e, "re");
    json_array(o->stream, (size_t)q->finite, q->re, 1);
    json_member(&e, "im");
    json_array(o->stream, (size_t)q->finite, q->im, 1);
    json_string_member(&e, "stability", stability[q->stability]);
    json_string_member(&e, "text", q->text);
    json_close(&e);
}

static void json_modes(json_object *o, const dae_analysis *a)
{
    json_member(o, "modes");
    putc('[', o->stream);
    for (int k = 0; k < a->mode_count; k++) {
        json_object e = element(o->stream, k);
        json_string_member(&e, "condition", a->modes[k].condition);
        json_number_member(&e, "value", a->modes[k].value);
        json_close(&e);
    }
    putc(']', o->stream);
}

static void json_structure(json_object *o, const dae_analysis *a)
{
    json_integer_member(o, "structural_index", a->structural_index);
    json_integer_member(o, "reduced_index", a->reduced_index);
    json_integer_member(o, "index", a->index);
    json_integer_member(o, "freedom", a->freedom);
    json_integer_member(o, "fixed_count", a->fixed_count);
    json_integer_member(o, "condition_count", a->condition_count);
    json_integer_member(o, "to_choose", a->to_choose);
    json_integer_member(o, "unsettled", a->unsettled);
    json_integer_member(o, "positions", a->positions);
    json_integer_member(o, "multipliers", a->multipliers);
    json_integer_member(o, "contacts", a->contacts);
    json_integer_member(o, "velocity_constraints", a->velocity_constraints);
    bool_member(o, "friction", a->friction);
    json_numbers(o, a);
    json_constraints(o, a);
    json_variables(o, a);
    json_unknowns(o, a);
    json_equations(o, a);
    integer_list(o, "block_start", a->block_start, a->block_count + 1, 0);
    integer_list(o, "block_equation", a->block_equation, a->analysed, 0);
    integer_list(o, "block_unknown", a->block_unknown, a->analysed, 0);
    if (a->pencil) json_pencil(o, a->pencil);
}

report_status report_analysis_json(FILE *stream, const dae_analysis *a, report_error *error)
{
    json_object o = json_open(stream, 1);
    json_string_member(&o, "model", a->model);
    json_number_member(&o, "t", a->t);
    bool_member(&o, "consistent", a->consistent);
    if (*a->initial_text) json_string_member(&o, "initial_text", a->initial_text);
    json_integer_member(&o, "equation_count", a->equations);
    json_integer_member(&o, "unknown_count", a->unknowns);
    json_integer_member(&o, "remaining", a->remaining);
    json_integer_member(&o, "analysed", a->analysed);
    bool_member(&o, "singular", a->singular);
    json_parts(&o, a);
    json_modes(&o, a);
    if (!a->singular) json_structure(&o, a);
    json_close(&o);
    putc('\n', stream);
    return report_check_stream(stream, error);
}
