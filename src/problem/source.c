/* The text of a model and what was given with it, kept with its problem: for those who read it
 * again. */
#include <string.h>

#include "base/arena.h"
#include "problem/residual.h"

static const char *copied(arena *a, const char *text)
{
    return text ? arena_text(a, text, strlen(text)) : NULL;
}

static const char *const *copied_list(arena *a, const char *const *list, int count)
{
    const char **copy = arena_alloc(a, ((size_t)count + 1) * sizeof *copy);
    for (int i = 0; copy && i < count; i++) copy[i] = copied(a, list[i]);
    return copy;
}

static const dae_setting *copied_settings(arena *a, const dae_setting *list, int count)
{
    dae_setting *copy = arena_alloc(a, ((size_t)count + 1) * sizeof *copy);
    for (int i = 0; copy && i < count; i++)
        copy[i] = (dae_setting){copied(a, list[i].name), list[i].value};
    return copy;
}

static const dae_input *copied_inputs(arena *a, const dae_input *list, int count)
{
    dae_input *copy = arena_alloc(a, ((size_t)count + 1) * sizeof *copy);
    for (int i = 0; copy && i < count; i++) {
        copy[i] = list[i];
        copy[i].name = copied(a, list[i].name);
        copy[i].expression = copied(a, list[i].expression);
        copy[i].file = copied(a, list[i].file);
        copy[i].column = copied(a, list[i].column);
    }
    return copy;
}

bool problem_keep_source(dae_problem *problem, const dae_model *model, const char *text,
                         size_t length)
{
    arena *a = arena_new(0);
    dae_model *m = a ? arena_alloc(a, sizeof *m) : NULL;
    problem->source_texts = a;
    if (!m) return false;
    *m = *model;
    m->text = arena_text(a, text, length);
    m->length = length;
    m->file = copied(a, model->file);
    m->settings = copied_settings(a, model->settings, model->setting_count);
    m->assignments = copied_list(a, model->assignments, model->assignment_count);
    m->unknowns = copied_list(a, model->unknowns, model->unknown_count);
    m->inputs = copied_inputs(a, model->inputs, model->input_count);
    m->terminal = copied_list(a, model->terminal, model->terminal_count);
    m->message = NULL;
    m->interrupt = NULL;
    m->user = NULL;
    problem->source = m;
    return !arena_failed(a);
}
