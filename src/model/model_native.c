/* Native code of a model: emitted, compiled, shared by its instances. */
#include "model/model_build.h"

#include <stdio.h>
#include <stdlib.h>

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
    snprintf(text, 32, "model_form_%d", k - PROGRAMS);
    return text;
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
                                       .comment = k < PROGRAMS ? PROGRAM_COMMENTS[k] : NULL,
                                       .e = p->e,
                                       .count = p->outputs};
    }
    functions[0].labels = (const char *const *)f->equation_names;
    graph_enter(f->flat->graph);
    emit_unit(text, f->flat->graph, functions, (size_t)programs, leaf_name, (void *)f);
    graph_leave(f->flat->graph);
}

/* Code of the form from another of its instances, or NULL */
static native_module *shared_code(const model_form *f)
{
    graph_enter(f->flat->graph);
    native_module *module = native_share(f->native);
    graph_leave(f->flat->graph);
    return module;
}

/* Keep the code with the form, for its next instances. */
static void share_code(model_form *f, native_module *module)
{
    graph_enter(f->flat->graph);
    if (!f->native) f->native = native_share(module);
    graph_leave(f->flat->graph);
}

/* Emit, compile and load. */
static native_status load_code(model_instance *m, char *reason)
{
    emit_text text = {0};
    model_form_emit(m->form, &text);
    native_status status =
        text.failed ? NATIVE_MEMORY : native_load(text.text, text.length, &m->native, reason);
    emit_free(&text);
    if (status == NATIVE_OK) share_code((model_form *)m->form, m->native);
    return status;
}

native_status model_instance_compile(model_instance *m, char *reason)
{
    if (m->native) return NATIVE_OK;
    m->native = shared_code(m->form);
    native_status status = m->native ? NATIVE_OK : load_code(m, reason);
    char name[32];
    for (int k = 0; k < model_program_count(m->form) && status == NATIVE_OK; k++)
        m->function[k] = native_find(m->native, program_name(k, name));
    return status;
}

/* In units of one tape instruction, about 2 ns: a compiler needs about 0.2 s to start and 50 us for
 * each instruction of the tape (bench/tape_speed.c). A long silence in the middle of a run is
 * unkind however much it pays, so large models are compiled only when asked. */
static const double COMPILER_START = 1e8, COMPILER_INSTRUCTION = 2.5e4, MOST_INSTRUCTIONS = 4e4;

bool model_instance_worth_compiling(const model_instance *m)
{
    double length = 0.0;
    for (int k = 0; k < model_program_count(m->form); k++)
        length += (double)model_program_at((model_form *)m->form, k)->code.length;
    return length <= MOST_INSTRUCTIONS &&
           m->tape_work > COMPILER_START + COMPILER_INSTRUCTION * length;
}
