/* A model as a flat text in Base Modelica: every scalar with its attributes, every equation as it
 * is solved, those that were made from energies too. What reads it back gets the same model. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/interrupt.h"
#include "base/memory.h"
#include "expr/emit.h"
#include "expr/walk.h"
#include "modelica/syntax/parser.h"
#include "solve/api/model_text.h"
#include "solve/bind/solver.h"

enum { LONGEST_EXPRESSION = 1 << 24 };

typedef struct writer {
    const model_source *f;
    const flat_model *m;
    emit_text out;
    arena *texts;                     /* names */
    char **variables, **parameters;   /* as the text writes them */
    const char **slots;               /* by memory slot: what it holds; NULL: not asked for yet */
    const flat_variable **slot_owner; /* by memory slot: the variable now or before, or NULL */
    int depth;                        /* of relations inside each other */
    const char *refusal;              /* what cannot be written; NULL: nothing so far */
    source_place place, refused;      /* of what is being written, of what cannot be */
    bool failed;                      /* memory */
} writer;

static const char *refuse(writer *w, const char *what, const char *instead)
{
    if (!w->refusal) w->refused = w->place;
    w->refusal = what;
    return instead;
}

/* ---- names ---- */

static bool is_identifier(const char *name)
{
    if (!isalpha((unsigned char)*name) && *name != '_') return false;
    while (isalnum((unsigned char)*name) || *name == '_') name++;
    return *name == '\0';
}

/* One name in quotes, escapes included, and nothing after it. */
static bool is_quoted_name(const char *name)
{
    if (*name++ != '\'') return false;
    while (*name && *name != '\'') name += name[0] == '\\' && name[1] ? 2 : 1;
    return name[0] == '\'' && name[1] == '\0';
}

/* A name with dots and brackets becomes a quoted one. */
static char *written_name(writer *w, const char *name)
{
    size_t n = strlen(name), at = 0;
    if (is_quoted_name(name) || is_identifier(name)) return arena_text(w->texts, name, n);
    char *text = arena_alloc(w->texts, 2 * n + 3);
    if (!text) return NULL;
    text[at++] = '\'';
    for (size_t k = 0; k < n; k++) {
        if (name[k] == '\'' || name[k] == '\\') text[at++] = '\\';
        text[at++] = name[k];
    }
    text[at++] = '\'';
    text[at] = '\0';
    return text;
}

/* The name of a variable that the translator made, $floor1, with one more $ where a text that was
 * written before has it. */
static char *helper_name(writer *w, const char *name)
{
    char *text = written_name(w, name);
    for (size_t k = 0; text && k < w->m->variable_count; k++) {
        if (strcmp(w->m->variables[k].name, text) != 0) continue;
        size_t size = strlen(text) + 2;
        char *longer = arena_alloc(w->texts, size);
        if (longer) snprintf(longer, size, "'$%s", text + 1);
        return longer ? helper_name(w, longer) : NULL;
    }
    return text;
}

static bool name_all(writer *w)
{
    const flat_model *m = w->m;
    w->variables = DAE_ARRAY(char *, m->variable_count);
    w->parameters = DAE_ARRAY(char *, m->parameter_count);
    w->slots = DAE_ARRAY(const char *, m->memory_count);
    w->slot_owner = DAE_ARRAY(const flat_variable *, m->memory_count);
    if (!w->variables || !w->parameters || !w->slots || !w->slot_owner) return false;
    for (size_t k = 0; k < m->variable_count; k++) {
        const flat_variable *v = &m->variables[k];
        w->variables[k] = v->name[0] == '$' ? helper_name(w, v->name) : written_name(w, v->name);
        if (!v->discrete) continue;
        w->slot_owner[v->memory] = w->slot_owner[v->memory_pre] = v;
    }
    for (size_t k = 0; k < m->parameter_count; k++)
        w->parameters[k] = written_name(w, m->parameters[k].name);
    return !arena_failed(w->texts);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* x[1] of an array and 'x[1]' are two names, which would become one: that name, or NULL. */
static const char *name_of_two(writer *w)
{
    const flat_model *m = w->m;
    size_t count = m->variable_count;
    char **all = arena_alloc(w->texts, (count + m->parameter_count + 1) * sizeof *all);
    if (!all) return NULL;
    memcpy(all, w->variables, m->variable_count * sizeof *all);
    for (size_t k = 0; k < m->parameter_count; k++)
        if (!w->f->omitted || !w->f->omitted[k]) all[count++] = w->parameters[k];
    qsort(all, count, sizeof *all, by_text);
    for (size_t k = 1; k < count; k++)
        if (strcmp(all[k - 1], all[k]) == 0) return all[k];
    return NULL;
}

/* ---- expressions ---- */

static const char *printed(writer *w, expr e, print_type type, bool quiet);

static print_type type_of(flat_type type)
{
    if (type == FLAT_BOOLEAN) return PRINT_TRUTH;
    return type == FLAT_REAL ? PRINT_NUMBER : PRINT_INTEGER;
}

static const char *joined(writer *w, const char *a, const char *b, const char *c, const char *d)
{
    size_t size = strlen(a) + strlen(b) + strlen(c) + strlen(d) + 1;
    char *text = arena_alloc(w->texts, size);
    if (!text) return "";
    snprintf(text, size, "%s%s%s%s", a, b, c, d);
    return text;
}

/* (crossing < 0): the same crossing function when it is read back. */
static const char *relation_text(writer *w, const flat_relation *r)
{
    return joined(w, "(", printed(w, r->crossing, PRINT_NUMBER, false),
                  r->strict ? " < " : " <= ", "0)");
}

static const char *sample_text(writer *w, const flat_sample *s)
{
    const char *start = joined(w, "sample(", printed(w, s->start, PRINT_NUMBER, true), ", ", "");
    return joined(w, start, printed(w, s->interval, PRINT_NUMBER, true), ")", "");
}

/* The first number of a piece of the past stands for the delayed value, and the others add nothing
 * to it: the text means the same when it is read. */
static const char *delay_text(writer *w, const flat_delay *d, int slot)
{
    if (slot == d->memory) return "false";
    if (slot != d->memory + DELAY_FIRST) return "0.0";
    const char *value = joined(w, "delay(", printed(w, d->value, PRINT_NUMBER, false), ", ",
                               printed(w, d->lag, PRINT_NUMBER, false));
    return joined(w, value, ", ", printed(w, d->most, PRINT_NUMBER, false), ")");
}

/* What a memory slot holds, as a text. */
static const char *slot_text(writer *w, int slot)
{
    const flat_model *m = w->m;
    const flat_variable *v = w->slot_owner[slot];
    if (slot == m->memory_initial) return "initial()";
    if (slot == m->memory_terminal) return "terminal()";
    if (v && slot == v->memory) return w->variables[v - m->variables];
    if (v) return joined(w, "pre(", w->variables[v - m->variables], ")", "");
    for (size_t k = 0; k < m->relation_count; k++)
        if (m->relations[k].memory == slot) return relation_text(w, &m->relations[k]);
    for (size_t k = 0; k < m->sample_count; k++)
        if (m->samples[k].memory == slot) return sample_text(w, &m->samples[k]);
    for (size_t k = 0; k < m->delay_count; k++)
        if (slot >= m->delays[k].memory && slot < m->delays[k].memory + DELAY_SLOTS)
            return delay_text(w, &m->delays[k], slot);
    for (size_t k = 0; k < m->sample_count; k++)
        if (m->samples[k].schedule) return refuse(w, "an input that follows a file", "0");
    return refuse(w, "a condition that has no name", "false");
}

static const char *leaf_text(void *context, const expr_node *n)
{
    writer *w = context;
    if (n->op == EXPR_VARIABLE) return w->variables[n->index];
    if (n->op == EXPR_PARAMETER) return w->parameters[n->index];
    if (n->op != EXPR_MEMORY) return NULL;
    if (!w->slots[n->index] && w->depth < 100) {
        w->depth++;
        const char *text = slot_text(w, n->index);
        w->slots[n->index] = text;
        w->depth--;
    }
    return w->slots[n->index];
}

static bool leaf_truth(void *context, const expr_node *n)
{
    const writer *w = context;
    if (n->op == EXPR_PARAMETER) return w->m->parameters[n->index].type == FLAT_BOOLEAN;
    if (n->op != EXPR_MEMORY) return false;
    const flat_variable *v = w->slot_owner[n->index];
    return v ? v->type == FLAT_BOOLEAN : !flat_is_delayed(w->m, n->index);
}

/* Loops of the run have no expression. */
static bool has_loop(writer *w, expr e)
{
    bool cell = false;
    walk nodes = {0};
    bool reached = walk_from(&nodes, w->m->graph, &e, 1);
    for (size_t k = 0; reached && k < nodes.count; k++)
        cell = cell || graph_node(w->m->graph, nodes.order[k])->op >= EXPR_OP_COUNT;
    walk_free(&nodes);
    if (!reached) w->failed = true;
    return cell;
}

/* Brackets inside each other, those in names too. */
static int nesting(const char *text)
{
    int depth = 0, most = 0;
    for (; *text; text++) {
        depth += (*text == '(') - (*text == ')');
        if (depth > most) most = depth;
    }
    return most;
}

/* Whether a translator reads an expression where it is deepest in a text: its levels are counted.
 */
static bool reads_back(writer *w, const char *text)
{
    enum { SURELY = PARSER_DEPTH / 4 }; /* a bracket may come with an if and a sign */
    if (nesting(text) <= SURELY) return true;
    const char *whole = joined(w, "model M equation when true then if true then terminate(String(",
                               text, ")); end if; end when; end M;", "");
    arena *tree = arena_new(0);
    message_list *messages = message_list_new("text", whole, strlen(whole), 1);
    bool parsed = tree && messages && parse_file(tree, whole, strlen(whole), messages);
    bool sound = parsed && message_errors(messages) == 0;
    if (!parsed) w->failed = true;
    message_list_free(messages);
    arena_free(tree);
    return sound;
}

static const char *printed(writer *w, expr e, print_type type, bool quiet)
{
    print_style style = {leaf_text, leaf_truth, w, type, quiet};
    if (e == EXPR_NONE || has_loop(w, e))
        return refuse(w, "a loop whose length the run decides, or an input by a function", "0");
    for (size_t size = 256; size <= LONGEST_EXPRESSION && !w->failed; size *= 4) {
        char *text = dae_calloc(size, 1), *kept = NULL;
        size_t length = text ? expr_print_typed(w->m->graph, e, &style, text, size) : 0;
        if (text && length < size) kept = arena_text(w->texts, text, length);
        w->failed = w->failed || !text || arena_failed(w->texts);
        dae_free(text);
        if (kept && !reads_back(w, kept))
            return refuse(w, "an expression nested too deeply to be read back", "0");
        if (kept) return kept;
    }
    return refuse(w, "an expression of more than 16 MiB", "0");
}

/* ---- declarations ---- */

/* A text as it may be shown on a terminal, between quotes. */
static const char *quoted(writer *w, const char *text)
{
    size_t n = dae_printable(text, NULL, 0), at = 0;
    char *safe = arena_alloc(w->texts, n + 1), *out = arena_alloc(w->texts, 2 * n + 3);
    if (!safe || !out) return "\"\"";
    dae_printable(text, safe, n + 1);
    out[at++] = '"';
    for (size_t k = 0; k < n; k++) {
        if (safe[k] == '"' || safe[k] == '\\') out[at++] = '\\';
        out[at++] = safe[k];
    }
    out[at++] = '"';
    out[at] = '\0';
    return out;
}

static const char *number_text(writer *w, double x, print_type type)
{
    char text[32];
    if (type == PRINT_TRUTH) return x != 0.0 ? "true" : "false";
    expr_print_number(x, type == PRINT_INTEGER, text);
    return joined(w, text, "", "", "");
}

/* (name = text, ..): the bracket opens with the first. */
static void put_attribute(writer *w, bool *open, const char *name, const char *text)
{
    if (!text) return;
    emit_append(&w->out, "%s%s = %s", *open ? ", " : "(", name, text);
    *open = true;
}

static const char *attribute_text(writer *w, expr e, print_type type)
{
    return e == EXPR_NONE ? NULL : printed(w, e, type, true);
}

static void put_units(writer *w, bool *open, const char *unit, const char *display,
                      const char *quantity)
{
    if (unit) put_attribute(w, open, "unit", quoted(w, unit));
    if (display) put_attribute(w, open, "displayUnit", quoted(w, display));
    if (quantity) put_attribute(w, open, "quantity", quoted(w, quantity));
}

static const char *type_name(flat_type type)
{
    static const char *const names[] = {[FLAT_REAL] = "Real",
                                        [FLAT_INTEGER] = "Integer",
                                        [FLAT_BOOLEAN] = "Boolean",
                                        [FLAT_STRING] = "String",
                                        [FLAT_ENUMERATION] = "Integer"};
    return names[type];
}

static void put_comment(writer *w, const char *comment)
{
    if (comment && *comment) emit_append(&w->out, " %s", quoted(w, comment));
    emit_put(&w->out, ";\n");
}

static void put_parameter(writer *w, size_t k)
{
    const flat_parameter *p = &w->m->parameters[k];
    print_type type = type_of(p->type);
    bool open = false;
    emit_append(&w->out, "  %s%s %s %s", p->final_ ? "final " : "",
                p->constant ? "constant" : "parameter", type_name(p->type), w->parameters[k]);
    put_units(w, &open, p->unit, p->display_unit, p->quantity);
    put_attribute(w, &open, "min", attribute_text(w, p->min, type));
    put_attribute(w, &open, "max", attribute_text(w, p->max, type));
    if (open) emit_put(&w->out, ")");
    if (p->type == FLAT_STRING)
        emit_append(&w->out, " = %s", quoted(w, p->text ? p->text : ""));
    else if (w->f->parameter_set[k] || p->value == EXPR_NONE)
        emit_append(&w->out, " = %s", number_text(w, w->f->parameters[k], type));
    else
        emit_append(&w->out, " = %s", printed(w, p->value, type, true));
    put_comment(w, p->comment);
}

/* An input is none any more: what it is stands among the equations. */
static void put_variable(writer *w, size_t k)
{
    static const char *const selects[] = {"never", "avoid", NULL, "prefer", "always"};
    const flat_variable *v = &w->m->variables[k];
    print_type type = type_of(v->type);
    const char *select = selects[v->state_select];
    bool open = false;
    emit_append(&w->out, "  %s%s%s %s", v->output ? "output " : "",
                v->discrete && v->type == FLAT_REAL ? "discrete " : "", type_name(v->type),
                w->variables[k]);
    put_units(w, &open, v->words->unit, v->words->display_unit, v->words->quantity);
    put_attribute(w, &open, "min", attribute_text(w, v->min, type));
    put_attribute(w, &open, "max", attribute_text(w, v->max, type));
    put_attribute(w, &open, "nominal", attribute_text(w, v->nominal, type));
    if (!isnan(w->f->start[k]))
        put_attribute(w, &open, "start", number_text(w, w->f->start[k], type));
    else if (v->has_start)
        put_attribute(w, &open, "start", attribute_text(w, v->start, type));
    if (v->fixed) put_attribute(w, &open, "fixed", "true");
    if (select) put_attribute(w, &open, "stateSelect", joined(w, "StateSelect.", select, "", ""));
    if (open) emit_put(&w->out, ")");
    put_comment(w, v->words->comment);
}

/* ---- equations ---- */

/* The type of an equation is that of a discrete variable on one of its sides; PRINT_ANY: none is
 * there. */
static print_type equation_type(const writer *w, const flat_equation *q)
{
    const expr sides[2] = {q->left, q->right};
    for (int k = 0; k < 2; k++) {
        if (sides[k] == EXPR_NONE) continue;
        const expr_node *n = graph_node(w->m->graph, sides[k]);
        const flat_variable *v = n->op == EXPR_MEMORY ? w->slot_owner[n->index] : NULL;
        if (v) return type_of(v->type);
    }
    return PRINT_ANY;
}

/* The left side of an equation: an if would begin an if-equation. */
static const char *left_side(writer *w, expr e, print_type type)
{
    const char *text = printed(w, e, type, false);
    return strncmp(text, "if ", 3) == 0 ? joined(w, "(", text, ")", "") : text;
}

/* A discrete variable alone on a side would be defined by the equation; a continuous one only uses
 * it. */
static void put_equation(writer *w, const flat_equation *q, bool initial)
{
    print_type type = equation_type(w, q);
    w->place = q->place;
    if (q->left == EXPR_NONE || q->right == EXPR_NONE || (type != PRINT_ANY && !initial))
        emit_append(&w->out, "  %s = 0", left_side(w, q->residual, PRINT_NUMBER));
    else if (type == PRINT_ANY)
        emit_append(&w->out, "  %s = %s", left_side(w, q->left, PRINT_NUMBER),
                    printed(w, q->right, PRINT_NUMBER, false));
    else
        emit_append(&w->out, "  %s = %s", left_side(w, q->left, type),
                    printed(w, q->right, type, false));
    int number;
    bool made = q->name && sscanf(q->name, "equation %d (", &number) == 1;
    put_comment(w, made ? NULL : q->name);
}

/* The options of String(..) */
static void put_format(writer *w, const flat_format *f)
{
    if (f->given) emit_append(&w->out, ", format = %s", quoted(w, f->given));
    if (f->digits > 0) emit_append(&w->out, ", significantDigits = %d", f->digits);
    if (f->least > 0) emit_append(&w->out, ", minimumLength = %d", f->least);
    if (f->right) emit_put(&w->out, ", leftJustified = false");
}

/* (if v == 1 then "a" elseif v == 2 then .. else "z"), or String(v, ..) */
static void put_hole(writer *w, const flat_hole *h)
{
    const char *value = printed(w, h->value, type_of(h->type), true);
    for (size_t k = 0; k < h->choice_count; k++) {
        if (k + 1 < h->choice_count)
            emit_append(&w->out, "%s (%s) == %zu then ", k ? " elseif" : "(if", value, k + 1);
        emit_append(&w->out, k + 1 < h->choice_count || k == 0 ? "%s" : " else %s",
                    quoted(w, h->choices[k]));
    }
    if (h->choice_count > 1) emit_put(&w->out, ")");
    if (h->choice_count > 0) return;
    emit_append(&w->out, "String(%s", value);
    put_format(w, &h->format);
    emit_put(&w->out, ")");
}

static void put_message(writer *w, const flat_action *a)
{
    const char *text = a->message ? a->message : "";
    size_t at = 0;
    for (size_t k = 0; k < a->hole_count; k++) {
        const flat_hole *h = &a->holes[k];
        char *part = arena_text(w->texts, text + at, h->offset - at);
        if (!part) return;
        emit_append(&w->out, "%s + ", quoted(w, part));
        put_hole(w, h);
        emit_put(&w->out, " + ");
        at = h->offset + h->length;
    }
    emit_put(&w->out, quoted(w, text + at));
}

static void put_assert(writer *w, const flat_action *a)
{
    w->place = a->place;
    emit_append(&w->out, "  assert(%s, ", printed(w, a->value, PRINT_TRUTH, true));
    put_message(w, a);
    emit_append(&w->out, "%s);\n", a->warning ? ", AssertionLevel.warning" : "");
}

static void put_terminate(writer *w, const flat_action *a)
{
    bool guarded = a->guard != EXPR_NONE;
    if (guarded) emit_append(&w->out, "  if %s then\n  ", printed(w, a->guard, PRINT_TRUTH, true));
    emit_put(&w->out, "  terminate(");
    put_message(w, a);
    emit_put(&w->out, guarded ? ");\n    end if;\n" : ");\n");
}

static void put_action(writer *w, const flat_action *a)
{
    w->place = a->place;
    emit_put(&w->out, "  ");
    if (a->kind == ACTION_ASSIGN)
        emit_append(&w->out, "  %s = %s;\n", w->variables[a->variable],
                    printed(w, a->value, type_of(w->m->variables[a->variable].type), true));
    else if (a->kind == ACTION_REINIT)
        emit_append(&w->out, "  reinit(%s, %s);\n", w->variables[a->variable],
                    printed(w, a->value, PRINT_NUMBER, true));
    else if (a->kind == ACTION_ASSERT)
        put_assert(w, a);
    else
        put_terminate(w, a);
}

static void put_when(writer *w, const flat_when *q)
{
    for (size_t k = 0; k < q->branch_count; k++) {
        const flat_branch *b = &q->branches[k];
        w->place = b->place;
        bool never = graph_is_number(w->m->graph, b->condition, 0.0);
        const char *condition = printed(w, b->condition, PRINT_TRUTH, false);
        if (b->at_initial)
            condition = never ? "initial()" : joined(w, "{initial(), ", condition, "}", "");
        emit_append(&w->out, "  %s %s then\n", k == 0 ? "when" : "elsewhen", condition);
        for (size_t i = 0; i < b->action_count; i++) put_action(w, &b->actions[i]);
    }
    if (q->branch_count) emit_put(&w->out, "  end when;\n");
}

static void put_sections(writer *w)
{
    const flat_model *m = w->m;
    if (m->initial_count) emit_put(&w->out, "initial equation\n");
    for (size_t k = 0; k < m->initial_count; k++) put_equation(w, &m->initial_equations[k], true);
    emit_put(&w->out, "equation\n");
    for (size_t k = 0; k < m->equation_count; k++) put_equation(w, &m->equations[k], false);
    for (size_t k = 0; k < m->discrete_count; k++) {
        const flat_discrete *d = &m->discretes[k];
        w->place = d->place;
        emit_append(&w->out, "  %s = %s;\n", w->variables[d->variable],
                    printed(w, d->value, type_of(m->variables[d->variable].type), false));
    }
    for (size_t k = 0; k < m->when_count; k++) put_when(w, &m->whens[k]);
    for (size_t k = 0; k < m->assert_count; k++) put_assert(w, &m->asserts[k]);
}

/* Whether there was anything to put. */
static bool put_experiment(writer *w)
{
    const flat_experiment *x = &w->m->experiment;
    const struct {
        const char *name;
        bool has;
        double value;
    } fields[] = {{"StartTime", x->has_start, x->start},
                  {"StopTime", x->has_stop, x->stop},
                  {"Tolerance", x->has_tolerance, x->tolerance},
                  {"Interval", x->has_interval, x->interval}};
    bool open = false;
    for (size_t k = 0; k < 4; k++) {
        if (!fields[k].has) continue;
        emit_append(&w->out, "%s%s = %s", open ? ", " : "  annotation(experiment(", fields[k].name,
                    number_text(w, fields[k].value, PRINT_NUMBER));
        open = true;
    }
    if (open) emit_put(&w->out, ")");
    return open;
}

/* Experiment and terminal conditions. */
static void put_annotation(writer *w)
{
    const flat_model *m = w->m;
    const bool open = put_experiment(w);
    for (size_t k = 0; k < m->terminal_count; k++) {
        const char *before = open ? ", " : "  annotation(";
        if (k == 0) emit_append(&w->out, "%s__Daedal(terminal = {", before);
        w->place = m->terminal_equations[k].place;
        emit_append(&w->out, "%s%s == 0", k ? ", " : "",
                    left_side(w, m->terminal_equations[k].residual, PRINT_NUMBER));
    }
    if (m->terminal_count) emit_put(&w->out, "})");
    if (open || m->terminal_count) emit_put(&w->out, ");\n");
}

static void put_all(writer *w)
{
    const flat_model *m = w->m;
    char *name = written_name(w, m->name);
    emit_append(&w->out, "// %s\n",
                w->f->head ? w->f->head
                           : "Written by daedal: one equation to a line, as they are solved.");
    emit_append(&w->out, "model %s\n", name);
    for (size_t k = 0; k < m->parameter_count; k++)
        if (!w->f->omitted || !w->f->omitted[k]) put_parameter(w, k);
    for (size_t k = 0; k < m->variable_count; k++) put_variable(w, k);
    put_sections(w);
    put_annotation(w);
    emit_append(&w->out, "end %s;\n", name);
}

/* ---- the call ---- */

char *model_write_text(const model_source *source, dae_diag *diag)
{
    writer w = {.f = source, .m = source->flat, .texts = arena_new(0)};
    char *text = NULL;
    bool named = w.texts && name_all(&w);
    const char *twice = named ? name_of_two(&w) : NULL;
    if (named && !twice) put_all(&w);
    bool whole = w.texts && !arena_failed(w.texts) && !w.failed && !w.out.failed && w.out.text;
    if (whole && !w.refusal) text = dae_strdup(w.out.text);
    if (whole && w.refusal)
        diag_set(diag, DAE_ERR_UNSUPPORTED,
                 "Model %s has no flat text: line %d has %s, which equations cannot say.",
                 source->flat->name, w.refused.line, w.refusal);
    else if (twice)
        diag_set(diag, DAE_ERR_UNSUPPORTED,
                 "Model %s has no flat text: two of its variables would have the name %s.",
                 source->flat->name, twice);
    else if (!text)
        diag_set(diag, DAE_ERR_MEMORY, "Out of memory while a model was written.");
    emit_free(&w.out);
    arena_free(w.texts);
    dae_free_all(w.variables, w.parameters, w.slots, w.slot_owner);
    return text;
}

char *dae_problem_emit_modelica(const dae_problem *p, dae_diag *diag)
{
    diag_clear(diag);
    if (!p || !p->model) {
        diag_set(diag, DAE_ERR_ARGUMENT, "Only models have a text.");
        return NULL;
    }
    interrupt_scope scope;
    interrupt_open(&scope, p->interrupt, p->interrupt_user);
    const model_form *f = p->model;
    char *text = model_write_text(&(model_source){.flat = f->flat,
                                                  .parameters = f->parameters,
                                                  .parameter_set = f->parameter_set,
                                                  .start = f->start},
                                  diag);
    if (!interrupt_close(&scope)) return text;
    dae_free(text);
    interrupt_explain(diag, "the writing of the model");
    return NULL;
}
