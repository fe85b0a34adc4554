#include "model/model_build.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "model/analyse.h"
#include "model/model_code.h"
#include "model/model_redundant.h"
#include "model/model_structure.h"

void build_free(build *b)
{
    signature_free(&b->contents);
    dae_free_all(b->order, b->gone, b->residuals, b->entries, b->row_start, b->column, b->is_slope);
}

dae_status build_no_memory(dae_diag *diag)
{
    return diag_set(diag, DAE_ERR_MEMORY, "Out of memory while preparing the model.");
}

/* Memory, or the limit of the graph: large models with dense derivatives. */
dae_status build_exhausted(const build *b, dae_diag *diag)
{
    const model_form *f = b->f;
    if (b->dense)
        return diag_set(diag, DAE_ERR_MEMORY,
                        "Model %s is too large: its equations have more than %d partial "
                        "derivatives.",
                        f->flat->name, MOST_ENTRIES);
    if (!graph_failed(f->flat->graph)) return build_no_memory(diag);
    diag_set(diag, DAE_ERR_MEMORY,
             "Model %s is too large: its equations and derivatives take more than %zu expression "
             "nodes, or memory is exhausted.",
             f->flat->name, graph_size(f->flat->graph) - 1);
    if (b->stopped_line > 0)
        diag_append(diag,
                    " The limit was reached at the derivatives of the equation at %s:%d. Variables "
                    "for what many equations have in common make them fewer.",
                    f->flat->file ? f->flat->file : "line", b->stopped_line);
    if (diag) diag->line = b->stopped_line;
    return DAE_ERR_MEMORY;
}

/* reinit sets states, and nothing else. */
static dae_status check_reinit(const model_form *f, const flat_action *a, dae_diag *diag)
{
    int sign, unknown = a->kind == ACTION_REINIT
                            ? f->first_unknown[model_alias_root(f, a->variable, &sign)]
                            : -1;
    if (a->kind != ACTION_REINIT || (unknown >= 0 && f->differential[unknown])) return DAE_OK;
    const flat_model *m = f->flat;
    const char *name = m->variables[a->variable].name;
    diag_variable(diag, a->variable, name);
    if (diag) diag->line = a->place.line;
    return diag_set(
        diag, DAE_ERR_MODEL,
        "%s:%d: reinit of %s, which is no state: its derivative does not appear. Set the "
        "states that it depends on.",
        m->file ? m->file : m->name, a->place.line, name);
}

static dae_status check_reinits(const model_form *f, dae_diag *diag)
{
    dae_status status = DAE_OK;
    for (size_t w = 0; w < f->flat->when_count; w++)
        for (size_t b = 0; b < f->flat->whens[w].branch_count; b++) {
            const flat_branch *q = &f->flat->whens[w].branches[b];
            for (size_t i = 0; i < q->action_count && status == DAE_OK; i++)
                status = check_reinit(f, &q->actions[i], diag);
        }
    return status;
}

/* Names of parameters and of memory as lists, for printing. */
static bool name_constants(model_form *f)
{
    const flat_model *m = f->flat;
    f->parameter_names = DAE_ARRAY(const char *, m->parameter_count);
    f->memory_names = DAE_ARRAY(const char *, m->memory_count);
    if (!f->parameter_names || !f->memory_names) return false;
    for (size_t p = 0; p < m->parameter_count; p++) f->parameter_names[p] = m->parameters[p].name;
    for (size_t v = 0; v < m->variable_count; v++)
        if (m->variables[v].discrete && m->variables[v].memory >= 0)
            f->memory_names[m->variables[v].memory] = m->variables[v].name;
    return true;
}

static dae_status build_form(build *b, dae_diag *diag)
{
    model_form *f = b->f;
    const flat_model *m = f->flat;
    f->parameters = DAE_ARRAY(double, m->parameter_count);
    f->parameter_set = DAE_ARRAY(bool, m->parameter_count);
    f->start = DAE_ARRAY(double, m->variable_count);
    f->start_moved = DAE_ARRAY(bool, m->variable_count);
    f->attribute = DAE_ARRAY(double, m->variable_count);
    if (!f->parameters || !f->parameter_set || !f->start || !f->start_moved || !f->attribute ||
        !name_constants(f))
        return build_no_memory(diag);
    for (size_t v = 0; v < m->variable_count; v++) f->start[v] = NAN;
    if (!build_split_initials(f) || !build_unknowns(b) || !build_names(f))
        return build_exhausted(b, diag);
    bool ok = build_equations(b);
    if (!ok || !build_differentiate(b, 0)) return build_exhausted(b, diag);
    dae_status status = build_check_structure(b, diag);
    if (status == DAE_OK) status = check_reinits(f, diag);
    if (status != DAE_OK) return status;
    if (!build_find_index(b) || !build_pattern(b) || !build_programs(b) || !build_followers(f, 0) ||
        !build_kinematics(f))
        return build_exhausted(b, diag);
    status = build_check_conditions(f, diag);
    if (status != DAE_OK) return status;
    if (!build_initial(f)) return build_exhausted(b, diag);
    return model_form_evaluate_parameters(f, diag);
}

/* A form of a flat model, which it takes over if that succeeds; *again: it did not, and may without
 * the elimination of definitions. What the equations contain is taken over anyway. */
static dae_status form_new(flat_model *flat, signature *contents, bool as_written,
                           model_form **form, bool *again, dae_diag *diag)
{
    build b = {.f = DAE_NEW(model_form), .as_written = as_written, .contents = *contents};
    *again = false;
    *contents = (signature){0};
    if (!b.f) {
        build_free(&b);
        return build_no_memory(diag);
    }
    b.f->flat = flat;
    b.f->code = model_code_new();
    bool ok = b.f->code && (b.contents.start || flat_contents(&b.contents, flat));
    dae_status status = ok ? build_form(&b, diag) : build_no_memory(diag);
    build_free(&b);
    if (status == DAE_OK) {
        *form = b.f;
        return status;
    }
    *again = status != DAE_ERR_MEMORY && b.f->definition_count > 0;
    b.f->flat = NULL;
    model_form_free(b.f);
    return status;
}

dae_status model_form_new(flat_model *flat, signature *contents, model_form **form, dae_diag *diag)
{
    bool again;
    signature found = {0};
    *form = NULL;
    dae_status status = form_new(flat, contents ? contents : &found, false, form, &again, diag);
    if (again) {
        diag_clear(diag);
        status = form_new(flat, &found, true, form, &again, diag);
    }
    if (status != DAE_OK) flat_model_free(flat);
    return status;
}

const char *build_text(model_form *f, const char *before, const char *text, const char *behind)
{
    const size_t first = strlen(before), middle = strlen(text), last = strlen(behind);
    if (!f->texts) f->texts = arena_new(0);
    char *all = f->texts ? arena_text(f->texts, NULL, first + middle + last) : NULL;
    if (!all) return NULL;
    memcpy(all, before, first);
    memcpy(all + first, text, middle);
    memcpy(all + first + middle, behind, last);
    return all;
}

void model_form_free(model_form *f)
{
    if (!f) return;
    if (f->plans) f->plans_free(f->plans);
    if (f->slots) mode_slots_free(f->slots);
    dae_free(f->slots);
    if (!f->borrowed) model_code_free(f->code);
    dae_free_all((void *)f->unknown_names, (void *)f->equation_names);
    arena_free(f->texts);
    dae_free_all(f->equation_lines, f->equation_source, f->settings, f->rounded, f->delayed,
                 f->kinematic, f->visible);
    model_form_free(f->initial);
    dae_free_all(f->slope_of, f->pinned);
    for (int k = 0; k < model_program_count(f); k++) {
        code_free(&model_program_at(f, k)->code);
        dae_free(model_program_at(f, k)->e);
    }
    dae_free_all(f->more, f->value, f->value_slope, f->seen, f->seen_at, f->follower,
                 f->follower_start, f->follower_unknown, f->alias, f->evaluated,
                 f->unknown_variable, f->unknown_order, f->first_unknown, f->differential,
                 f->colptr, f->rowind, f->scatter);
    if (!f->base) { /* a variant shares those of its base */
        dae_free_all(f->parameters, f->parameter_set, f->start, f->start_moved, f->attribute);
    }
    dae_free_all(f->parameter_names, f->memory_names);
    arena_free(f->notes);
    if (!f->borrowed) flat_model_free(f->flat);
    dae_free_all(f->place, f->place_slope);
    if (f->formulated) formulated_free(f->formulated);
    dae_free(f->formulated);
    model_form_free(f->levels);
    constraint_program_free(f->constraints);
    dae_free_all(f->level_place, f->of_level, f->of_level_slope);
    if (f->analysed && !f->analysed_borrowed) {
        analysed_free(f->analysed);
        dae_free(f->analysed);
    }
    dae_free(f);
}
