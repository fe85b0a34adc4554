/* Which components of the model a text reads: a walk over references of the syntax tree. */
#include <string.h>

#include "modelica/flatten/flatten_internal.h"

static bool is_dynamic_call(const ast_expr *e)
{
    static const char *const names[] = {"der", "pre", "edge", "change", "sample", "delay"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (e->part_count == 1 && e->parts[0].name && strcmp(e->parts[0].name, names[k]) == 0)
            return true;
    return false;
}

static bool read_parts(reading *r, const ast_expr *e)
{
    for (size_t k = 0; k < e->part_count; k++)
        for (size_t i = 0; i < e->parts[k].subscript_count; i++)
            if (!read_expression(r, e->parts[k].subscripts[i])) return false;
    if (e->kind != AST_REFERENCE || !e->part_count) return true;
    symbol *s = find_symbol(r->f, e->parts[0].name);
    return !s || r->found(r, s);
}

/* Left spines may be as long as the file: args[0] of operators in a loop. */
bool read_expression(reading *r, const ast_expr *e)
{
    for (; e; e = e->kind == AST_BINARY && e->arg_count ? e->args[0] : NULL) {
        if (r->at_rest && e->kind == AST_CALL && is_dynamic_call(e)) return false;
        if (!read_parts(r, e)) return false;
        for (size_t k = e->kind == AST_BINARY; k < e->arg_count; k++)
            if (!read_expression(r, e->args[k])) return false;
        for (size_t k = 0; k < e->named_count; k++)
            if (!read_expression(r, e->named[k].value)) return false;
        for (size_t k = 0; k < e->iterator_count; k++)
            if (!read_expression(r, e->iterators[k].range)) return false;
    }
    return true;
}

bool read_items(reading *r, ast_item *const *items, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        const ast_item *item = items[k];
        if (!item) continue;
        if (!read_expression(r, item->left) || !read_expression(r, item->right)) return false;
        for (size_t i = 0; i < item->iterator_count; i++)
            if (!read_expression(r, item->iterators[i].range)) return false;
        for (size_t b = 0; b < item->branch_count; b++)
            if (!read_expression(r, item->branches[b].condition) ||
                !read_items(r, item->branches[b].items, item->branches[b].item_count))
                return false;
    }
    return true;
}

/* ---- texts whose constants were folded ---- */

static bool mark_read(reading *r, symbol *s)
{
    (void)r;
    s->read = true;
    return true;
}

static void read_modifications(reading *r, const ast_modification *m, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        read_expression(r, m[k].value);
        read_modifications(r, m[k].nested, m[k].nested_count);
    }
}

static bool has_unit(const ast_component *c)
{
    for (size_t k = 0; k < c->modification_count; k++)
        if (c->modifications[k].name && strcmp(c->modifications[k].name, "unit") == 0) return true;
    return false;
}

/* A tool that exports a model may write the value of a parameter where the parameter stood, and
 * leave factors of 1 out. What it keeps is a parameter with a unit that nothing reads. */
static bool find_folded(flattener *f)
{
    const ast_class *model = f->file->model;
    reading r = {.f = f, .found = mark_read};
    for (size_t k = 0; k < model->section_count; k++)
        read_items(&r, model->sections[k].items, model->sections[k].item_count);
    for (size_t k = 0; k < model->component_count; k++) {
        const ast_component *c = &model->components[k];
        read_expression(&r, c->value);
        read_expression(&r, c->condition);
        read_modifications(&r, c->modifications, c->modification_count);
        for (size_t i = 0; i < c->size_count; i++) read_expression(&r, c->sizes[i]);
    }
    for (size_t k = 0; k < f->model_symbol_count; k++) {
        const symbol *s = &f->model_symbols[k];
        if ((s->parameter || s->constant) && !s->read && has_unit(s->declaration)) return true;
    }
    return false;
}

bool constants_are_folded(flattener *f)
{
    if (f->folded == FOLDED_UNKNOWN)
        f->folded = f->file->version && find_folded(f) ? FOLDED_YES : FOLDED_NO;
    return f->folded == FOLDED_YES;
}
