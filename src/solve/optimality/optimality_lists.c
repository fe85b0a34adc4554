/* Variables, equations and texts that are added to a model. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "solve/optimality/optimality_parts.h"

bool optimality_add(flat_list *list, expr left, expr right, graph *g, const char *name)
{
    if (left == EXPR_NONE || right == EXPR_NONE) return false;
    if (!dae_grow(&list->items, &list->room, list->count + 1, sizeof *list->items)) return false;
    list->items[list->count++] = (flat_equation){.residual = graph_binary(g, EXPR_SUB, left, right),
                                                 .left = left,
                                                 .right = right,
                                                 .name = (char *)name};
    return true;
}

const char *optimality_text(optimality *q, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int length = vsnprintf(NULL, 0, format, list);
    va_end(list);
    char *text = arena_alloc(q->memory, (size_t)length + 1);
    if (!text) return NULL;
    va_start(list, format);
    vsnprintf(text, (size_t)length + 1, format, list);
    va_end(list);
    return text;
}

static bool is_taken(const optimality *q, const char *name)
{
    for (size_t k = 0; k < q->variable_count; k++)
        if (strcmp(q->variables[k].name, name) == 0) return true;
    for (size_t k = 0; k < q->form->flat->parameter_count; k++)
        if (strcmp(q->form->flat->parameters[k].name, name) == 0) return true;
    return false;
}

const flat_words *optimality_words(optimality *q, flat_words words)
{
    flat_words *own = arena_alloc(q->memory, sizeof *own);
    if (own) *own = words;
    return own;
}

int optimality_variable(optimality *q, const char *name, const char *comment)
{
    while (name && is_taken(q, name)) name = optimality_text(q, "%s_", name);
    const flat_words *words = optimality_words(q, (flat_words){.comment = (char *)comment});
    if (!name || !comment || !words ||
        !dae_grow(&q->variables, &q->variable_room, q->variable_count + 1, sizeof *q->variables))
        return -1;
    q->variables[q->variable_count] = (flat_variable){.name = (char *)name,
                                                      .type = FLAT_REAL,
                                                      .words = words,
                                                      .memory = -1,
                                                      .memory_pre = -1,
                                                      .state_select = SELECT_DEFAULT};
    return (int)q->variable_count++;
}
