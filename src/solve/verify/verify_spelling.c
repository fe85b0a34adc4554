#include "solve/verify/verify_spelling.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "modelica/syntax/lexer.h"

/* In the place of `length` bytes at `offset`: text, or a piece of the source. */
typedef struct edit {
    size_t offset, length;
    const char *text; /* NULL: */
    size_t from, to;  /* this piece */
    int number;       /* of the edit: those at one offset keep their order */
} edit;

struct spelling {
    const char *text;
    size_t length;
    arena *memory, *words; /* tree and tokens; texts of edits */
    message_list *messages;
    ast_class *model;
    token *tokens;
    size_t token_count, token_room;
    edit *edits;
    size_t edit_count, edit_room;
    bool *changed, *spared; /* per component: it has another name; it has to keep it */
    char *out;
    bool failed, lost; /* memory; a name stands where its place does not say */
    int readings;
};

void spelling_free(spelling *x)
{
    if (!x) return;
    message_list_free(x->messages);
    arena_free(x->memory);
    arena_free(x->words);
    dae_free_all(x->tokens, x->edits, x->changed, x->spared, x->out, x);
}

/* ---- tokens ---- */

static bool read_tokens(spelling *x)
{
    lexer lx;
    lexer_start(&lx, x->memory, x->text, x->length, x->messages);
    for (;;) {
        token t = lexer_next(&lx);
        if (!dae_grow(&x->tokens, &x->token_room, x->token_count + 1, sizeof t)) return false;
        x->tokens[x->token_count++] = t;
        if (t.kind == TOK_END_OF_FILE) return true;
    }
}

static int compare_places(source_place a, source_place b)
{
    if (a.line != b.line) return a.line < b.line ? -1 : 1;
    return (a.column > b.column) - (a.column < b.column);
}

/* The token that begins at a place; NULL: there is none */
static const token *token_at(const spelling *x, source_place place)
{
    size_t low = 0, high = x->token_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (compare_places(x->tokens[middle].place, place) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < x->token_count && compare_places(x->tokens[low].place, place) == 0;
    return found ? &x->tokens[low] : NULL;
}

static int depth_change(token_kind k)
{
    bool opens = k == TOK_LEFT_PAREN || k == TOK_LEFT_BRACKET || k == TOK_LEFT_BRACE;
    bool closes = k == TOK_RIGHT_PAREN || k == TOK_RIGHT_BRACKET || k == TOK_RIGHT_BRACE;
    return opens - closes;
}

/* The first ";", or "," if that will do, or a closing bracket, outside of brackets. */
static const token *end_of(const token *t, bool comma)
{
    int depth = 0;
    for (; t->kind != TOK_END_OF_FILE; t++) {
        if (depth == 0 && (t->kind == TOK_SEMICOLON || (comma && t->kind == TOK_COMMA))) return t;
        depth += depth_change(t->kind);
        if (depth < 0) return t;
    }
    return t;
}

/* ---- edits ---- */

static void add_edit(spelling *x, edit e)
{
    if (!dae_grow(&x->edits, &x->edit_room, x->edit_count + 1, sizeof e)) {
        x->failed = true;
        return;
    }
    e.number = (int)x->edit_count;
    x->edits[x->edit_count++] = e;
}

static const char *keep(spelling *x, const char *before, const char *name, const char *after)
{
    char text[512];
    snprintf(text, sizeof text, "%s%s%s", before, name, after);
    return arena_text(x->words, text, strlen(text));
}

static void replace(spelling *x, const token *t, const char *text)
{
    if (!text) x->failed = true;
    add_edit(x, (edit){.offset = t->offset, .length = t->length, .text = text});
}

static void insert(spelling *x, size_t offset, const char *text)
{
    if (!text) x->failed = true;
    add_edit(x, (edit){.offset = offset, .text = text});
}

/* Two pieces of the source change places. */
static void exchange(spelling *x, size_t a, size_t a_end, size_t b, size_t b_end)
{
    add_edit(x, (edit){.offset = a, .length = a_end - a, .from = b, .to = b_end});
    add_edit(x, (edit){.offset = b, .length = b_end - b, .from = a, .to = a_end});
}

static int by_offset(const void *a, const void *b)
{
    const edit *x = a, *y = b;
    if (x->offset != y->offset) return x->offset < y->offset ? -1 : 1;
    if ((x->length == 0) != (y->length == 0)) return x->length == 0 ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static size_t edit_size(const edit *e)
{
    return e->text ? strlen(e->text) : e->to - e->from;
}

/* The source with all edits; NULL: memory */
static char *apply_edits(spelling *x, size_t *length)
{
    size_t at = 0, used = 0, size = x->length + 1;
    for (size_t k = 0; k < x->edit_count; k++) size += edit_size(&x->edits[k]);
    qsort(x->edits, x->edit_count, sizeof *x->edits, by_offset);
    char *out = dae_alloc(size, 1);
    for (size_t k = 0; out && k < x->edit_count; k++) {
        const edit *e = &x->edits[k];
        memcpy(out + used, x->text + at, e->offset - at);
        used += e->offset - at;
        memcpy(out + used, e->text ? e->text : x->text + e->from, edit_size(e));
        used += edit_size(e);
        at = e->offset + e->length;
    }
    if (!out) return NULL;
    memcpy(out + used, x->text + at, x->length - at);
    used += x->length - at;
    out[used] = '\0';
    *length = used;
    return out;
}

/* ---- walking ---- */

/* What is done with the references to components that an expression contains. */
typedef struct walk walk;
struct walk {
    spelling *x;
    void (*visit)(walk *w, const ast_expr *reference, const ast_expr *der);
    const char *hidden[64]; /* iterators */
    int hidden_count;
    bool firm; /* in a when, an algorithm or the left of a tuple: names must stay */
};

static int find_component(const spelling *x, const char *name)
{
    for (size_t k = 0; k < x->model->component_count; k++)
        if (strcmp(x->model->components[k].name, name) == 0) return (int)k;
    return -1;
}

static void walk_expr(walk *w, const ast_expr *e, const ast_expr *der);

static void walk_subscripts(walk *w, const ast_expr *e)
{
    for (size_t p = 0; p < e->part_count; p++)
        for (size_t k = 0; k < e->parts[p].subscript_count; k++)
            walk_expr(w, e->parts[p].subscripts[k], NULL);
}

static void hide(walk *w, const ast_iterator *list, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        if (list[k].range) walk_expr(w, list[k].range, NULL);
        if (w->hidden_count < 64) w->hidden[w->hidden_count++] = list[k].name;
    }
}

static bool is_hidden(const walk *w, const char *name)
{
    for (int k = 0; k < w->hidden_count; k++)
        if (strcmp(w->hidden[k], name) == 0) return true;
    return false;
}

static bool calls(const ast_expr *e, const char *name)
{
    return e->kind == AST_CALL && e->part_count == 1 && strcmp(e->parts[0].name, name) == 0;
}

/* Left spines may be as long as the file. */
static void walk_expr(walk *w, const ast_expr *e, const ast_expr *der)
{
    for (; e && e->kind == AST_BINARY; e = e->args[0]) walk_expr(w, e->args[1], NULL);
    if (!e) return;
    int hidden = w->hidden_count;
    bool firm = w->firm;
    hide(w, e->iterators, e->iterator_count);
    if (e->kind == AST_REFERENCE && !is_hidden(w, e->parts[0].name)) w->visit(w, e, der);
    walk_subscripts(w, e);
    static const char *const names[] = {"pre", "edge", "change", "reinit", "delay", "sample"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (calls(e, names[k])) w->firm = true;
    for (size_t k = 0; k < e->arg_count; k++)
        walk_expr(w, e->args[k], calls(e, "der") && e->arg_count == 1 ? e : NULL);
    for (size_t k = 0; k < e->named_count; k++) walk_expr(w, e->named[k].value, NULL);
    w->hidden_count = hidden;
    w->firm = firm;
}

static void walk_item(walk *w, const ast_item *q)
{
    int hidden = w->hidden_count;
    bool firm = w->firm, tuple = q->left && q->left->kind == AST_TUPLE;
    hide(w, q->iterators, q->iterator_count);
    w->firm = firm || tuple || q->kind == ITEM_WHEN || q->kind == ITEM_CALL;
    walk_expr(w, q->left, NULL);
    walk_expr(w, q->right, NULL);
    for (size_t b = 0; b < q->branch_count; b++) {
        walk_expr(w, q->branches[b].condition, NULL);
        for (size_t k = 0; k < q->branches[b].item_count; k++)
            walk_item(w, q->branches[b].items[k]);
    }
    w->hidden_count = hidden;
    w->firm = firm;
}

static void walk_modifications(walk *w, const ast_modification *list, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        walk_expr(w, list[k].value, NULL);
        walk_modifications(w, list[k].nested, list[k].nested_count);
    }
}

/* All of the model but annotations. */
static void walk_model(walk *w)
{
    const ast_class *m = w->x->model;
    for (size_t k = 0; k < m->component_count; k++) {
        const ast_component *c = &m->components[k];
        w->firm = true;
        for (size_t i = 0; i < c->size_count; i++) walk_expr(w, c->sizes[i], NULL);
        walk_expr(w, c->condition, NULL);
        walk_modifications(w, c->modifications, c->modification_count);
        w->firm = false;
        walk_expr(w, c->value, NULL);
    }
    for (size_t s = 0; s < m->section_count; s++) {
        const ast_section *q = &m->sections[s];
        w->firm = q->algorithm || q->parameter;
        for (size_t k = 0; k < q->item_count; k++) walk_item(w, q->items[k]);
    }
}

/* ---- which components ---- */

static bool is_plain(const char *name)
{
    return name[0] != '\'' && strlen(name) < 200;
}

/* Whether a component may have another name at all: a variable that nothing names from outside. */
static bool may_change(const ast_component *c)
{
    return c->variability == VAR_NONE && !c->input && is_plain(c->name) && !c->condition;
}

/* Whether it may be in other units, or have a double: a scalar Real that no declaration defines. */
static bool is_simple(const ast_component *c)
{
    bool real = strcmp(c->type, "Real") == 0 && c->size_count == 0 && !c->value && !c->flow;
    for (size_t k = 0; k < c->modification_count && real; k++)
        real = !c->modifications[k].nested && c->modifications[k].value;
    return real && may_change(c);
}

static void spare(walk *w, const ast_expr *e, const ast_expr *der)
{
    int k = find_component(w->x, e->parts[0].name);
    (void)der;
    if (k >= 0 && (w->firm || e->part_count > 1 || e->parts[0].subscript_count > 0))
        w->x->spared[k] = true;
}

static void choose_simple(spelling *x)
{
    walk w = {.x = x, .visit = spare};
    memset(x->spared, 0, x->model->component_count + 1);
    walk_model(&w);
    for (size_t k = 0; k < x->model->component_count; k++)
        x->changed[k] = !x->spared[k] && is_simple(&x->model->components[k]);
}

/* ---- the ways ---- */

static const ast_component *changed_component(const spelling *x, const char *name)
{
    int k = find_component(x, name);
    return k >= 0 && x->changed[k] ? &x->model->components[k] : NULL;
}

static void rename_one(walk *w, const ast_expr *e, const ast_expr *der)
{
    const token *t = token_at(w->x, e->parts[0].place);
    (void)der;
    if (!changed_component(w->x, e->parts[0].name)) return;
    w->x->lost = w->x->lost || !t || t->kind != TOK_NAME;
    if (t) replace(w->x, t, keep(w->x, e->parts[0].name, SPELL_SUFFIX, ""));
}

static void rename_declarations(spelling *x)
{
    for (size_t k = 0; k < x->model->component_count; k++) {
        const ast_component *c = &x->model->components[k];
        const token *t = token_at(x, c->place);
        if (x->changed[k] && t) replace(x, t, keep(x, c->name, SPELL_SUFFIX, ""));
    }
}

static void rename_all(spelling *x)
{
    walk w = {.x = x, .visit = rename_one};
    for (size_t k = 0; k < x->model->component_count; k++)
        x->changed[k] =
            may_change(&x->model->components[k]) && token_at(x, x->model->components[k].place);
    rename_declarations(x);
    walk_model(&w);
}

/* y becomes (1000*y_other), der(y) (1000*der(y_other)). */
static void scale_one(walk *w, const ast_expr *e, const ast_expr *der)
{
    spelling *x = w->x;
    const char *name = e->parts[0].name;
    const token *t = token_at(x, e->parts[0].place);
    const token *d = der ? token_at(x, der->parts[0].place) : NULL;
    if (!changed_component(x, name)) return;
    x->lost = x->lost || !t || t->kind != TOK_NAME;
    if (x->lost) return;
    if (d) {
        insert(x, d->offset, "(1000.0*");
        replace(x, t, keep(x, name, SPELL_SUFFIX, ""));
        insert(x, end_of(t + 1, false)->offset, ")");
    } else {
        replace(x, t, keep(x, "(1000.0*", name, SPELL_SUFFIX ")"));
    }
}

/* Attributes that are values of the variable are in its unit. */
static void scale_attributes(spelling *x, const ast_component *c)
{
    static const char *const names[] = {"start", "min", "max", "nominal"};
    for (size_t k = 0; k < c->modification_count; k++) {
        const ast_modification *m = &c->modifications[k];
        const token *t = token_at(x, m->place);
        for (size_t i = 0; t && i < sizeof names / sizeof *names; i++) {
            if (strcmp(m->name, names[i]) != 0 || t[1].kind != TOK_EQUALS) continue;
            insert(x, t[2].offset, "(");
            insert(x, end_of(t + 2, true)->offset, ")/1000.0");
        }
    }
}

static void scale_all(spelling *x)
{
    walk w = {.x = x, .visit = scale_one};
    choose_simple(x);
    rename_declarations(x);
    for (size_t k = 0; k < x->model->component_count; k++)
        if (x->changed[k]) scale_attributes(x, &x->model->components[k]);
    walk_model(&w);
}

static void split_one(walk *w, const ast_expr *e, const ast_expr *der)
{
    const token *t = token_at(w->x, e->parts[0].place);
    if (der || !t || !changed_component(w->x, e->parts[0].name) || w->x->readings++ % 2) return;
    replace(w->x, t, keep(w->x, e->parts[0].name, SPELL_SUFFIX, ""));
}

static void split_all(spelling *x)
{
    walk w = {.x = x, .visit = split_one};
    const token *section = NULL;
    for (size_t s = 0; s < x->model->section_count && !section; s++) {
        const ast_section *q = &x->model->sections[s];
        if (!q->initial && !q->algorithm && !q->parameter && q->item_count > 0)
            section = token_at(x, q->items[0]->place);
    }
    choose_simple(x);
    x->readings = 0;
    for (size_t k = 0; section && k < x->model->component_count; k++) {
        const ast_component *c = &x->model->components[k];
        const token *t = token_at(x, c->place);
        if (!x->changed[k] || !t) continue;
        insert(x, end_of(t, false)->offset, keep(x, "; Real ", c->name, SPELL_SUFFIX));
        insert(x, section->offset, keep(x, c->name, SPELL_SUFFIX " = ", c->name));
        insert(x, section->offset, "; ");
    }
    if (section) walk_model(&w);
    memset(x->changed, 0, x->model->component_count); /* their names are there still */
}

/* The plain equations of a section, backwards. */
static void permute_items(spelling *x, const ast_section *q)
{
    size_t low = 0, high = q->item_count;
    while (low < high) {
        const ast_item *a = q->items[low], *b = q->items[high - 1];
        if (a->kind != ITEM_EQUATION) {
            low++;
        } else if (b->kind != ITEM_EQUATION) {
            high--;
        } else {
            const token *s = token_at(x, a->place), *t = token_at(x, b->place);
            if (s && t && s != t)
                exchange(x, s->offset, end_of(s, false)->offset, t->offset,
                         end_of(t, false)->offset);
            low++;
            high--;
        }
    }
}

/* Neighbours of one declaration, Real a, b. */
static void permute_declarations(spelling *x)
{
    for (size_t k = 0; k + 1 < x->model->component_count; k++) {
        const ast_component *a = &x->model->components[k], *b = a + 1;
        const token *s = token_at(x, a->place), *t = token_at(x, b->place);
        if (!s || !t || a->variability != VAR_NONE || end_of(s, true)->kind != TOK_COMMA) continue;
        if (end_of(s, true) + 1 != t) continue; /* another declaration */
        exchange(x, s->offset, end_of(s, true)->offset, t->offset, end_of(t, true)->offset);
        k++;
    }
}

static void permute_all(spelling *x)
{
    permute_declarations(x);
    for (size_t s = 0; s < x->model->section_count; s++)
        if (!x->model->sections[s].algorithm && !x->model->sections[s].parameter)
            permute_items(x, &x->model->sections[s]);
}

/* ---- */

bool spelling_changed(const spelling *x, const char *component)
{
    return changed_component(x, component) != NULL;
}

bool spelling_make(spelling *x, spelling_kind kind, const char **text, size_t *length)
{
    void (*const ways[])(spelling *) = {rename_all, permute_all, scale_all, split_all};
    x->edit_count = 0;
    x->failed = x->lost = false;
    memset(x->changed, 0, x->model->component_count);
    ways[kind](x);
    *text = NULL;
    if (x->failed || arena_failed(x->words)) return false;
    if (x->edit_count == 0 || x->lost) return true;
    dae_free(x->out);
    x->out = apply_edits(x, length);
    *text = x->out;
    return x->out;
}

bool spelling_new(const char *text, size_t length, spelling **made)
{
    spelling *x = DAE_NEW(spelling);
    *made = NULL;
    if (!x) return false;
    x->text = text;
    x->length = length;
    x->memory = arena_new(0);
    x->words = arena_new(0);
    x->messages = message_list_new("", text, length, 0);
    ast_file *tree = x->memory && x->words && x->messages
                         ? parse_file(x->memory, text, length, x->messages)
                         : NULL;
    bool ok = tree && read_tokens(x);
    x->model = tree ? tree->model : NULL;
    size_t count = x->model ? x->model->component_count : 0;
    x->changed = DAE_ARRAY(bool, count + 1);
    x->spared = DAE_ARRAY(bool, count + 1);
    ok = ok && x->changed && x->spared;
    if (ok && x->model && message_errors(x->messages) == 0) {
        *made = x;
        return true;
    }
    spelling_free(x);
    return ok;
}
