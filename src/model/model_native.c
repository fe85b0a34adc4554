/* A model as C text for people. */
#include "model/model_build.h"

#include <stdio.h>

#include "model/model_structure.h"

static const char *const PROGRAM_NAMES[PROGRAMS] = {"model_residual", "model_jacobian",
                                                    "model_crossing", "model_condition",
                                                    "model_output",   "model_assertion"};

static const char *const PROGRAM_COMMENTS[PROGRAMS] = {
    "F(t, y, y'): the residual of every equation",
    "nonzero partial derivatives of F, equation by equation",
    "zero crossings of the relations",
    "initial equations",
    "all variables of the model",
    "conditions of the assertions",
};

/* Name of a program; `text` takes that of one behind the common ones. */
static const char *program_name(int k, char text[32])
{
    if (k < PROGRAMS) return PROGRAM_NAMES[k];
    if (k == FOLLOWERS) return "model_followers";
    snprintf(text, 32, "model_form_%d", k - SEEN_THROUGH);
    return text;
}

static const char *program_comment(int k)
{
    if (k < PROGRAMS) return PROGRAM_COMMENTS[k];
    return k == FOLLOWERS ? "definitions, then their derivatives by the unknowns" : NULL;
}

/* Name of a leaf of the programs: an unknown, a parameter or a memory slot. */
static const char *leaf_name(void *context, const expr_node *leaf)
{
    const model_form *f = context;
    if (leaf->op == EXPR_VARIABLE) return f->unknown_names[leaf->index];
    if (leaf->op == EXPR_PARAMETER) return f->flat->parameters[leaf->index].name;
    return NULL;
}

void model_form_emit(const model_form *f, emit_text *text)
{
    emit_function functions[MOST_PROGRAMS];
    char names[MOST_PROGRAMS][32];
    int programs = model_program_count(f);
    for (int k = 0; k < programs; k++) {
        const model_program *p = model_program_at((model_form *)f, k);
        functions[k] = (emit_function){.name = program_name(k, names[k]),
                                       .comment = program_comment(k),
                                       .e = p->e,
                                       .count = p->outputs};
    }
    if (!model_name_equations(f)) text->failed = true;
    functions[0].labels = (const char *const *)f->equation_names;
    graph_enter(f->flat->graph);
    emit_unit(text, f->flat->graph, functions, (size_t)programs, leaf_name, (void *)f);
    graph_leave(f->flat->graph);
}
