/* The texts of a request: what is minimised, and conditions, which the model is translated with. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/memory.h"
#include "model/model_structure.h"
#include "solve/optimise/optimise_parts.h"

void opt_conditions_free(opt_conditions *list)
{
    for (int k = 0; k < list->count; k++) dae_free(list->list[k].text);
    dae_free(list->list);
    *list = (opt_conditions){0};
}

opt_condition *opt_add(opt_conditions *list, const char *text, double lower, double upper)
{
    if (!dae_grow(&list->list, &list->room, (size_t)list->count + 1, sizeof *list->list))
        return NULL;
    opt_condition *c = &list->list[list->count];
    *c = (opt_condition){.text = dae_strdup(text), .lower = lower, .upper = upper};
    if (!c->text) return NULL;
    list->count++;
    return c;
}

/* ---- relations ---- */

/* The next relation outside of brackets, quotes and texts: its length, 1 or 2; 0: there is none. */
static size_t next_relation(const char **at)
{
    int depth = 0;
    char quote = 0;
    for (const char *c = *at; *c; c++) {
        if (quote || *c == '\'' || *c == '"') {
            quote = !quote ? *c : *c == quote ? 0 : quote;
            continue;
        }
        depth += (strchr("([{", *c) != NULL) - (strchr(")]}", *c) != NULL);
        if (depth > 0 || !strchr("<>=", *c) || (c[0] == '<' && c[1] == '>')) continue;
        *at = c;
        return 1 + (c[1] == '=');
    }
    return 0;
}

/* Texts "left = right" for the translator, in the order of all conditions. */
typedef struct text_list {
    arena *memory;
    const char **text;
    size_t room;
    int count;
} text_list;

static bool push(text_list *l, const char *left, size_t length, const char *right,
                 size_t right_length)
{
    if (!dae_grow(&l->text, &l->room, (size_t)l->count + 1, sizeof *l->text)) return false;
    char *text = arena_alloc(l->memory, length + right_length + 8);
    if (!text) return false;
    snprintf(text, length + right_length + 8, "%.*s = %.*s", (int)length, left, (int)right_length,
             right);
    l->text[l->count++] = text;
    return true;
}

/* One relation of a condition, left op right. */
static bool push_relation(text_list *l, opt_conditions *to, const char *whole, const char *left,
                          const char *op, const char *stop)
{
    const size_t skip = 1 + (op[1] == '=');
    const double lower = *op == '<' ? -INFINITY : 0.0, upper = *op == '>' ? INFINITY : 0.0;
    return opt_add(to, whole, lower, upper) &&
           push(l, left, (size_t)(op - left), op + skip, (size_t)(stop - op) - skip);
}

/* The number that is all there is from `from` to `to`; NAN: there is more, or none. */
static double number_in(const char *from, const char *to)
{
    char *end;
    const double value = strtod(from, &end);
    while (end < to && *end == ' ') end++;
    return end == to && end > from ? value : (double)NAN;
}

/* 2 <= x <= 1 cannot hold. */
static bool is_empty(const char *text)
{
    const char *first = text, *second, *third;
    const size_t a = next_relation(&first);
    second = first + a;
    const size_t b = a ? next_relation(&second) : 0;
    third = second + b;
    if (!b || next_relation(&third) || *first == '=' || *first != *second) return false;
    const double left = number_in(text, first), right = number_in(second + b, text + strlen(text));
    return *first == '<' ? left > right : left < right;
}

static dae_status read_condition(text_list *l, opt_conditions *to, const char *text, dae_diag *diag)
{
    const char *left = text ? text : "", *op = left, *end = left + strlen(left);
    size_t length = next_relation(&op);
    if (!text || length == 0)
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "Optimisation: the condition '%s' is not of the form a = b, a <= b or "
                        "a >= b.",
                        text ? text : "(none)");
    if (is_empty(text))
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "Optimisation: the condition '%s' is empty: nothing can meet it.", text);
    while (length > 0) {
        const char *next = op + length;
        size_t more = next_relation(&next);
        const char *stop = more ? next : end;
        if (!push_relation(l, to, text, left, op, stop)) return opt_no_memory(diag);
        left = op + length;
        op = next;
        length = more;
    }
    return DAE_OK;
}

/* ---- the translation ---- */

static dae_status read_texts(dae_optimum *q, text_list *l, dae_diag *diag)
{
    const dae_optimise_request *r = &q->request;
    dae_status status = DAE_OK;
    for (int k = 0; k < q->model->terminal_count && status == DAE_OK; k++)
        status = read_condition(l, &q->end, q->model->terminal[k], diag);
    for (int k = 0; k < r->end_count && status == DAE_OK; k++)
        status = read_condition(l, &q->end, r->at_end[k], diag);
    for (int k = 0; k < r->path_count && status == DAE_OK; k++)
        status = read_condition(l, &q->path, r->path[k], diag);
    const char *wanted[] = {r->objective, r->integral};
    for (int k = 0; k < 2 && status == DAE_OK; k++)
        if (wanted[k] && !push(l, wanted[k], strlen(wanted[k]), "0.0", 3))
            status = opt_no_memory(diag);
    return status;
}

/* Inputs of the model, and controls at their guesses. */
static dae_input *list_inputs(const dae_optimum *q, arena *a)
{
    const dae_model *m = q->model;
    dae_input *list = arena_alloc(a, (size_t)(m->input_count + q->c + 1) * sizeof *list);
    for (int k = 0; list && k < m->input_count; k++) list[k] = m->inputs[k];
    for (int k = 0; list && k < q->c; k++) {
        char *text = arena_alloc(a, 40);
        if (!text) return NULL;
        snprintf(text, 40, "%.17g", q->base[k]);
        list[m->input_count + k] =
            (dae_input){.name = q->request.controls[k].name, .expression = text};
    }
    return list;
}

/* Where the k-th given text goes: conditions at the end, on the way, then what is minimised. */
static void give_expression(dae_optimum *q, int k, expr e)
{
    const int all = q->end.count + q->path.count;
    if (k < q->end.count)
        q->end.list[k].e = e;
    else if (k < all)
        q->path.list[k - q->end.count].e = e;
    else if (k == all && q->request.objective)
        q->objective = e;
    else
        q->integral = e;
}

/* Given texts as residuals over flat variables, then conditions of the annotation: given ones stand
 * where there is no line. */
static dae_status take_expressions(dae_optimum *q, int given, dae_diag *diag)
{
    const flat_model *m = q->problem->model->flat;
    const flat_equation *e = m->terminal_equations;
    int at = 0;
    for (size_t k = 0; k < m->terminal_count; k++) at += e[k].place.line == 0;
    if (at != given)
        return diag_set(diag, DAE_ERR_ARGUMENT,
                        "Optimisation: a condition or what is minimised is an array; write one "
                        "for each element.");
    at = 0;
    for (size_t k = 0; k < m->terminal_count; k++)
        if (e[k].place.line == 0) give_expression(q, at++, e[k].residual);
    for (size_t k = 0; k < m->terminal_count; k++) {
        if (e[k].place.line == 0) continue;
        char *name = flat_equation_name(m, &e[k]);
        opt_condition *c = name ? opt_add(&q->end, name, 0.0, 0.0) : NULL;
        dae_free(name);
        if (!c) return opt_no_memory(diag);
        c->e = e[k].residual;
    }
    return DAE_OK;
}

static dae_status set_starts(dae_optimum *q, dae_problem *problem, dae_diag *diag)
{
    dae_status status = DAE_OK;
    for (int k = 0; k < q->request.setting_count && status == DAE_OK; k++)
        status = dae_problem_assign_start(problem, q->request.settings[k], diag);
    return status;
}

/* min and max of variables as conditions along the path; those of controls are theirs already. */
static dae_status add_bounds(dae_optimum *q, dae_diag *diag)
{
    const model_form *f = q->problem->model;
    graph *g = f->flat->graph;
    for (int k = 0; k < f->visible_count; k++) {
        const dae_variable_info info = dae_problem_variable_info(q->problem, k);
        const char *name = dae_problem_variable(q->problem, k);
        bool control = info.discrete || info.alias < 0;
        for (int i = 0; i < q->c; i++) control = control || q->variable[i] == k;
        if (control || info.type != DAE_TYPE_REAL) continue;
        if (!(info.min > -INFINITY) && !(info.max < INFINITY)) continue;
        char text[DAE_NAME_SIZE + 40];
        snprintf(text, sizeof text, "min and max of %.*s", DAE_NAME_SIZE, name);
        opt_condition *c = opt_add(&q->path, text, isnan(info.min) ? -INFINITY : info.min,
                                   isnan(info.max) ? INFINITY : info.max);
        if (!c) return opt_no_memory(diag);
        graph_enter(g);
        c->e = graph_variable(g, f->visible[k], 0);
        graph_leave(g);
    }
    return DAE_OK;
}

/* Where controls are in the translated model. */
static dae_status find_controls(dae_optimum *q, dae_diag *diag)
{
    const model_form *f = q->problem->model;
    for (int k = 0; k < q->c; k++) {
        const char *name = q->request.controls[k].name;
        q->variable[k] = dae_problem_find_variable(q->problem, name);
        int shift = q->variable[k] < 0 ? 0 : f->flat->variables[f->visible[q->variable[k]]].shift;
        if (shift == 0)
            return diag_set(diag, DAE_ERR_ARGUMENT,
                            "Optimisation: input %s cannot be moved: its equation is not found.",
                            name);
        q->slot[k] = shift - 1;
    }
    return DAE_OK;
}

dae_status opt_translate(dae_optimum *q, dae_diag *diag)
{
    dae_model m = *q->model;
    text_list l = {.memory = arena_new(0)};
    dae_status status = l.memory ? read_texts(q, &l, diag) : opt_no_memory(diag);
    if (status == DAE_OK) {
        m.terminal = l.text;
        m.terminal_count = l.count;
        m.shift_inputs = true;
        m.inputs = list_inputs(q, l.memory);
        m.input_count = q->model->input_count + q->c;
        status = m.inputs ? dae_problem_from_model(&m, &q->problem, diag) : opt_no_memory(diag);
    }
    const int given = l.count;
    dae_free((void *)l.text);
    arena_free(l.memory);
    if (status == DAE_OK) status = take_expressions(q, given, diag);
    if (status == DAE_OK) status = find_controls(q, diag);
    if (status == DAE_OK) status = set_starts(q, q->problem, diag);
    if (status == DAE_OK && q->request.bounds) status = add_bounds(q, diag);
    return status;
}
