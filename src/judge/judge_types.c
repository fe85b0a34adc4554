/* Types: aliases, enumerations, records. */
#include <string.h>

#include "judge/judge_parts.h"

static const char *const state_select[] = {"never", "avoid", "default", "prefer", "always"};
static const char *const assertion_level[] = {"warning", "error"};
static const jtype state_select_type = {.base = BASE_ENUMERATION,
                                        .name = "StateSelect",
                                        .cells = 1,
                                        .literals = state_select,
                                        .literal_count = 5};
static const jtype assertion_level_type = {.base = BASE_ENUMERATION,
                                           .name = "AssertionLevel",
                                           .cells = 1,
                                           .literals = assertion_level,
                                           .literal_count = 2};

static const jtype *predefined(const char *name)
{
    const jtype *known[] = {&judge_real,   &judge_integer,     &judge_boolean,
                            &judge_string, &state_select_type, &assertion_level_type};
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++)
        if (strcmp(known[k]->name, name) == 0) return known[k];
    return NULL;
}

static const jtype *enumeration(judge *j, const ast_class *c)
{
    jtype *t = JUDGE_TAKE(j, jtype, 1);
    *t = (jtype){.base = BASE_ENUMERATION,
                 .name = c->name,
                 .of = c,
                 .cells = 1,
                 .literals = c->literals,
                 .literal_count = (int)c->literal_count};
    return t;
}

/* Sizes that are written; -1: open, or what only a value tells. */
static void written_sizes(judge *j, ast_expr *const *sizes, size_t count, shape *s)
{
    for (size_t k = 0; k < count && s->ndims < MOST_DIMS; k++) {
        int size = -1;
        if (sizes[k]->kind == AST_NUMBER) size = (int)sizes[k]->value;
        if (sizes[k]->kind != AST_NUMBER && sizes[k]->kind != AST_COLON) {
            value v;
            node *n = judge_compile(j, &j->global, sizes[k]);
            if (judge_try(&j->machine, n, &v) && v.type->cells == 1 && judge_cells(&v) == 1)
                size = (int)v.cells->v;
        }
        s->dims[s->ndims++] = size;
    }
}

static void place_fields(judge *j, jtype *t)
{
    t->cells = 0;
    t->open = false;
    for (int k = 0; k < t->field_count; k++) {
        type_field *f = &t->fields[k];
        f->offset = t->cells;
        bool open = f->type->open;
        for (int d = 0; d < f->shape.ndims; d++) open |= f->shape.dims[d] < 0;
        t->open |= open;
        t->texts |= f->type->texts;
        if (open) continue;
        if (t->cells + (double)judge_count(&f->shape) * f->type->cells > 1e8)
            judge_fail(&j->machine, 0, "a record of such a size");
        t->cells += judge_count(&f->shape) * f->type->cells;
    }
}

static const jtype *record(judge *j, const ast_class *c)
{
    jtype *t = JUDGE_TAKE(j, jtype, 1);
    *t = (jtype){.base = BASE_RECORD, .name = c->name, .of = c};
    t->fields = JUDGE_TAKE(j, type_field, c->component_count);
    for (size_t k = 0; k < c->component_count; k++) {
        const ast_component *field = &c->components[k];
        type_use use = judge_type_of(j, field->type, field->place.line);
        if (!use.type) return NULL;
        type_field *f = &t->fields[t->field_count++];
        *f = (type_field){.name = field->name, .type = use.type, .declared = field};
        written_sizes(j, field->sizes, field->size_count, &f->shape);
        for (int d = 0; d < use.shape.ndims && f->shape.ndims < MOST_DIMS; d++)
            f->shape.dims[f->shape.ndims++] = use.shape.dims[d];
    }
    place_fields(j, t);
    return t;
}

/* The record with sizes of its fields as given, one shape for each field. */
const jtype *judge_closed_type(judge *j, const jtype *t, const shape *shapes)
{
    jtype *closed = JUDGE_TAKE(j, jtype, 1);
    *closed = *t;
    closed->fields = JUDGE_TAKE(j, type_field, t->field_count);
    for (int k = 0; k < t->field_count; k++) {
        closed->fields[k] = t->fields[k];
        closed->fields[k].shape = shapes[k];
    }
    place_fields(j, closed);
    return closed;
}

static const jtype *class_type(judge *j, const ast_class *c)
{
    table_entry *e = judge_table_find(&j->types, NULL, c, 0, 0);
    if (e) return e->item;
    judge_table_put(j, &j->types, NULL, c, 0, 0, NULL); /* a record that contains itself has none */
    const jtype *t = c->kind == CLASS_RECORD && !c->object ? record(j, c)
                     : c->literal_count                    ? enumeration(j, c)
                                                           : NULL;
    judge_table_find(&j->types, NULL, c, 0, 0)->item = (void *)(size_t)t;
    return t;
}

/* The type of a name as it is written; type NULL: there is none that the judge knows. */
type_use judge_type_of(judge *j, const char *name, int line)
{
    type_use use = {0};
    (void)line;
    while (name && use.alias_count < 16) {
        const ast_class *c = judge_class(j, name);
        use.type = c ? NULL : predefined(name);
        if (!c || c->kind != CLASS_TYPE || c->literal_count) {
            if (c && c->kind != CLASS_FUNCTION) use.type = class_type(j, c);
            if (c && c->kind == CLASS_FUNCTION) use.type = &judge_function_type;
            return use;
        }
        use.aliases[use.alias_count++] = c;
        written_sizes(j, c->sizes, c->size_count, &use.shape);
        name = c->base;
    }
    return use;
}
