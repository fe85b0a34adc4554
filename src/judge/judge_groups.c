/* From the sections of a text to groups of scalar equations: loops are unrolled, branches that
 * parameters decide are chosen. A trial at the start values tells how many rows a group has. */
#include <string.h>

#include "judge/judge_parts.h"

/* ---- texts of the source ---- */

static size_t offset_of(const judge *j, source_place p)
{
    if (p.line < 1 || (size_t)p.line > j->line_count) return j->source_length;
    size_t at = j->lines[p.line - 1];
    for (int column = 1; column < p.column && at < j->source_length; column++) {
        at++;
        while (at < j->source_length && ((unsigned char)j->source[at] & 0xc0) == 0x80) at++;
    }
    return at;
}

/* Where an expression begins: a binary operator has the place of its sign. */
source_place judge_first_place(const ast_expr *e)
{
    while (e->kind == AST_BINARY) e = e->args[0];
    return e->place;
}

/* Past the quotes, brackets or comment that begin at `at`, or at + 1. */
static size_t skip_piece(const judge *j, size_t at, int *depth)
{
    const char *s = j->source;
    char c = s[at];
    if (c == '"' || c == '\'') {
        for (at++; at < j->source_length && s[at] != c; at++)
            if (s[at] == '\\') at++;
        return at + 1;
    }
    *depth += (c == '(') + (c == '[') + (c == '{') - (c == ')') - (c == ']') - (c == '}');
    return at + 1;
}

static bool stops_at(const judge *j, size_t at, const char *stop)
{
    const char *s = j->source + at;
    if (strchr(stop, *s)) return true;
    return strncmp(s, "//", 2) == 0 || strncmp(s, "/*", 2) == 0 || strncmp(s, " \"", 2) == 0;
}

/* The text from a place up to one of the characters of `stop` outside of brackets, on one line. Of
 * a condition (stop NULL): up to "then" or "loop". */
const char *judge_source_text(judge *j, source_place from, const char *stop)
{
    enum { MOST = 160 };
    size_t at = offset_of(j, from), start = at;
    int depth = 0;
    while (at < j->source_length && depth >= 0 && at - start < MOST) {
        if (depth == 0 && stops_at(j, at, stop ? stop : ";")) break;
        if (!stop && depth == 0 && strncmp(j->source + at, " then", 5) == 0) break;
        at = skip_piece(j, at, &depth);
    }
    if (at > j->source_length) at = j->source_length;
    char *text = JUDGE_TAKE(j, char, at - start + 1);
    size_t length = 0;
    for (size_t k = start; k < at; k++) {
        bool blank = strchr(" \t\r\n", j->source[k]) != NULL;
        if (blank && length && text[length - 1] == ' ') continue;
        text[length++] = blank ? ' ' : j->source[k];
    }
    while (length && text[length - 1] == ' ') text[--length] = '\0';
    return text;
}

/* ---- groups ---- */

static group *new_group(judge *j, judge_kind kind, int line)
{
    judge_grow(j, &j->groups, &j->group_capacity, j->group_count + 1, sizeof *j->groups);
    group *g = &j->groups[j->group_count++];
    *g = (group){
        .kind = kind, .line = line, .first = (int)j->equation_count, .pass_count = j->pass_count};
    g->passes = JUDGE_TAKE(j, value, j->pass_count);
    for (int k = 0; k < j->pass_count; k++) {
        g->passes[k] = j->passes[k];
        g->passes[k].cells = JUDGE_TAKE(j, cell, 1);
        *g->passes[k].cells = *j->passes[k].cells;
    }
    return g;
}

static const char *with_passes(judge *j, const char *text)
{
    for (int k = 0; k < j->pass_count; k++)
        text = judge_format(j, "%s (%s = %g)", text, j->pass_names[k], j->passes[k].cells->v);
    return text;
}

/* How many rows the group has; one that cannot be evaluated keeps a row that says so. */
static void try_group(judge *j, const char *text)
{
    machine *m = &j->machine;
    int number = (int)j->group_count - 1;
    m->trial = true;
    m->rows = NULL;
    judge_run_group(m, number);
    m->trial = false;
    group *g = &j->groups[number];
    if (m->error) {
        bool known = false; /* what the text has that the judge does not know is a gap already */
        for (size_t k = 0; k < j->gap_count; k++) known |= j->gaps[k].group == number;
        if (!known)
            judge_add_gap(j, m->error, m->error_line ? m->error_line : g->line, number, false);
        if (g->count == 0) {
            judge_grow(j, &j->equations, &j->equation_capacity, j->equation_count + 1,
                       sizeof *j->equations);
            j->equations[j->equation_count++] =
                (judge_equation){.kind = g->kind, .group = number, .line = g->line, .variable = -1};
            g->count = 1;
        }
    }
    if (g->count == 0) j->group_count--;
    text = with_passes(j, text);
    for (int k = 0; k < g->count; k++) j->equations[g->first + k].text = text;
}

static bool known_warning(judge *j, const jitem *i)
{
    value level;
    machine *m = &j->machine;
    if (i->kind != ITEM_CALL || i->argument_count != 1 || !i->arguments[2]) return false;
    m->frame = (frame){j->passes, MODEL_SLOTS};
    return judge_try(m, i->arguments[2], &level) && judge_cells(&level) == 1 &&
           level.type->base == BASE_ENUMERATION && level.cells->v == 1.0;
}

static void item_group(judge *j, judge_kind kind, jitem *i)
{
    group *g = new_group(j, kind, i->line);
    g->item = i;
    g->warning = kind == JUDGE_ASSERT && known_warning(j, i);
    bool warning = g->warning;
    size_t first = j->equation_count;
    try_group(j, judge_source_text(j, i->source->place, ";"));
    for (size_t k = first; k < j->equation_count; k++) j->equations[k].warning = warning;
}

/* ---- equations ---- */

/* 1 or 0 if parameters decide the condition, -1 if not. */
static int known_condition(judge *j, const node *condition)
{
    machine *m = &j->machine;
    value v;
    m->touched = false;
    m->frame = (frame){j->passes, MODEL_SLOTS};
    if (!judge_try(m, condition, &v) || m->touched) return -1;
    if (v.type->base != BASE_BOOLEAN || judge_cells(&v) != 1) return -1;
    return v.cells->v != 0.0;
}

static bool has_asserts(const jitem *i)
{
    if (i->kind == ITEM_CALL) return true;
    for (int b = 0; b < i->branch_count; b++)
        for (int k = 0; k < i->branches[b].item_count; k++)
            if (has_asserts(i->branches[b].items[k])) return true;
    return false;
}

static void expand_items(judge *j, jitem **items, int count, bool initial);

static void expand_if(judge *j, jitem *i, bool initial)
{
    for (int b = 0; b < i->branch_count; b++) {
        const jbranch *at = &i->branches[b];
        int known = at->condition ? known_condition(j, at->condition) : 1;
        if (known == 0) continue;
        if (known == 1) {
            expand_items(j, at->items, at->item_count, initial);
            return;
        }
        item_group(j, initial ? JUDGE_INITIAL_EQUATION : JUDGE_EQUATION, i);
        if (has_asserts(i)) item_group(j, JUDGE_ASSERT, i);
        return;
    }
}

static void expand_for(judge *j, jitem *i, int iterator, bool initial)
{
    machine *m = &j->machine;
    value range;
    if (iterator == i->slot_count) {
        expand_items(j, i->branches[0].items, i->branches[0].item_count, initial);
        return;
    }
    stack_mark mark = m->scratch.at;
    m->touched = false;
    m->frame = (frame){j->passes, MODEL_SLOTS};
    if (!judge_try(m, i->ranges[iterator], &range) || range.shape.ndims != 1 || m->touched) {
        judge_add_gap(j, "a loop whose range is not known", i->line, (int)j->group_count, false);
        return;
    }
    int slot = i->slots[iterator];
    j->pass_names[slot] = i->source->iterators[iterator].name;
    for (int k = 0; k < range.shape.dims[0]; k++) {
        value element = {range.type, {0}, range.cells + k * range.type->cells};
        j->passes[slot] = element;
        j->pass_count = slot + 1;
        expand_for(j, i, iterator + 1, initial);
    }
    j->pass_count = slot;
    m->scratch.at = mark;
}

static component *string_target(const node *n)
{
    if (n->kind != NODE_COMPONENT || n->step_count) return NULL;
    component *c = n->component;
    return c->sizes == DONE && c->type->base == BASE_STRING && c->variability > JUDGE_PARAMETER &&
                   c->shape.ndims == 0
               ? c
               : NULL;
}

/* s = ".." is the definition of a String variable. */
static bool defines_string(jitem *i)
{
    component *c = string_target(i->left);
    const node *text = i->right;
    if (!c) {
        c = string_target(i->right);
        text = i->left;
    }
    if (!c) return false;
    if (!c->definition) c->definition = (node *)(size_t)text;
    return true;
}

static void expand_one(judge *j, jitem *i, bool initial)
{
    switch (i->kind) {
    case ITEM_EQUATION:
    case ITEM_ASSIGN:
        if (!defines_string(i)) item_group(j, initial ? JUDGE_INITIAL_EQUATION : JUDGE_EQUATION, i);
        return;
    case ITEM_CALL:
        item_group(j, i->argument_count == 2 ? JUDGE_TERMINATE : JUDGE_ASSERT, i);
        return;
    case ITEM_IF: expand_if(j, i, initial); return;
    case ITEM_FOR: expand_for(j, i, 0, initial); return;
    case ITEM_WHEN: item_group(j, JUDGE_WHEN, i); return;
    default: judge_add_gap(j, "a statement among equations", i->line, -1, false);
    }
}

static void expand_items(judge *j, jitem **items, int count, bool initial)
{
    for (int k = 0; k < count; k++) expand_one(j, items[k], initial);
}

/* ---- algorithms ---- */

static void add_target(judge *j, group *g, int variable)
{
    for (int k = 0; k < g->target_count; k++)
        if (g->targets[k] == variable) return;
    if (g->target_count == g->target_capacity) {
        g->target_capacity = g->target_capacity ? 2 * g->target_capacity : 16;
        int *larger = JUDGE_TAKE(j, int, g->target_capacity);
        if (g->target_count) memcpy(larger, g->targets, (size_t)g->target_count * sizeof *larger);
        g->targets = larger;
    }
    g->targets[g->target_count++] = variable;
}

static void add_targets(machine *m, group *g, const selection *s, bool in_when)
{
    judge *j = m->j;
    int count = judge_count(&s->shape) * s->type->cells;
    for (int k = 0; k < count; k++) {
        int variable = judge_cell(s, k)->index - 1;
        if (variable < 0 || j->variables[variable].type == JUDGE_STRING) continue;
        add_target(j, g, variable);
        j->variables[variable].in_when |= in_when;
        if (in_when && j->variables[variable].variability == JUDGE_CONTINUOUS)
            j->variables[variable].variability = JUDGE_DISCRETE;
    }
}

/* What an assignment may change: the elements that its subscripts choose, or all of the variable if
 * these are known at the run only. */
static void collect_target(machine *m, group *g, const node *n, bool in_when)
{
    if (!n || n->kind != NODE_COMPONENT) return;
    judge_need_values(m, n->component, n->line);
    value v;
    m->touched = false;
    for (int k = 0; k < n->step_count; k++)
        for (int s = 0; s < n->steps[k].count; s++)
            if (n->steps[k].subscripts[s]->kind != NODE_COLON &&
                n->steps[k].subscripts[s]->kind != NODE_END &&
                !judge_try(m, n->steps[k].subscripts[s], &v))
                m->touched = true;
    node copy = *n;
    if (m->touched) copy.step_count = 0;
    selection s = judge_select(m, &copy);
    add_targets(m, g, &s, in_when);
}

static void collect(machine *m, group *g, jitem *const *items, int count, bool in_when);

static void collect_for(machine *m, group *g, const jitem *i, int iterator, bool in_when)
{
    value range;
    if (iterator == i->slot_count) {
        collect(m, g, i->branches[0].items, i->branches[0].item_count, in_when);
        return;
    }
    if (!judge_try(m, i->ranges[iterator], &range) || range.shape.ndims != 1) return;
    for (int k = 0; k < range.shape.dims[0]; k++) {
        value element = {range.type, {0}, range.cells + k * range.type->cells};
        m->frame.slots[i->slots[iterator]] = element;
        collect_for(m, g, i, iterator + 1, in_when);
    }
}

static void collect(machine *m, group *g, jitem *const *items, int count, bool in_when)
{
    for (int k = 0; k < count; k++) {
        jitem *i = items[k];
        bool tuple = i->left && i->left->kind == NODE_TUPLE;
        if (i->kind == ITEM_ASSIGN || i->kind == ITEM_EQUATION) {
            if (!tuple) collect_target(m, g, i->left, in_when);
            for (int t = 0; tuple && t < i->left->kid_count; t++)
                collect_target(m, g, i->left->kids[t], in_when);
        } else if (i->kind == ITEM_FOR) {
            collect_for(m, g, i, 0, in_when);
        } else {
            for (int b = 0; b < i->branch_count; b++) {
                if (i->kind == ITEM_WHEN) (void)judge_fires(m, i, b);
                collect(m, g, i->branches[b].items, i->branches[b].item_count,
                        in_when || i->kind == ITEM_WHEN);
            }
        }
    }
}

static void collect_section(judge *j, group *g)
{
    machine *m = &j->machine;
    jmp_buf escape, *outer = m->escape;
    m->trial = true;
    m->group = (int)j->group_count - 1;
    m->error = NULL;
    judge_new_stamp(m);
    if (setjmp(escape) == 0) {
        m->escape = &escape;
        collect(m, g, g->items, g->item_count, false);
    }
    m->escape = outer;
    m->trial = false;
    m->group = -1;
    if (m->no_memory) judge_no_memory(m);
    if (m->error) judge_add_gap(j, m->error, g->line, (int)j->group_count - 1, false);
}

static void expand_algorithm(judge *j, const ast_section *section)
{
    j->compiling = (int)j->group_count;
    jitem **items = judge_compile_items(j, &j->model, section->items, section->item_count);
    group *g = new_group(j, section->initial ? JUDGE_INITIAL_ALGORITHM : JUDGE_ALGORITHM,
                         section->place.line ? section->place.line : items[0]->line);
    g->items = items;
    g->item_count = (int)section->item_count;
    j->machine.frame = (frame){j->passes, MODEL_SLOTS};
    collect_section(j, g);
    g->saved = JUDGE_TAKE(j, cell, g->target_count);
    size_t number = j->group_count - 1;
    try_group(j, "algorithm");
    if (j->group_count == number) return; /* it assigns nothing */
    g = &j->groups[number];
    for (int k = 0; k < g->count; k++) {
        judge_equation *e = &j->equations[g->first + k];
        if (e->variable >= 0)
            e->text = judge_format(j, "%s := .. (algorithm)", j->variables[e->variable].name);
    }
}

/* ---- all ---- */

static void expand_bindings(judge *j)
{
    for (component *c = j->components; c; c = c->next) {
        if (c->constant_ || c->removed || c->sizes != DONE || c->values != DONE) continue;
        if (c->variability <= JUDGE_PARAMETER && !c->follows) continue;
        if (c->type->base == BASE_STRING) continue;
        for (binding *b = c->bindings; b; b = b->next) {
            group *g = new_group(j, JUDGE_BINDING, b->line);
            g->bound = b;
            try_group(j, judge_source_text(j, c->declared->place, ";,"));
        }
    }
}

static void expand_section(judge *j, const ast_section *section)
{
    if (section->parameter || section->item_count == 0) return;
    if (section->algorithm) {
        expand_algorithm(j, section);
        return;
    }
    for (size_t k = 0; k < section->item_count; k++) {
        j->compiling = (int)j->group_count;
        const ast_expr *left = section->items[k]->left;
        bool priority = section->items[k]->kind == ITEM_CALL && left->part_count == 1 &&
                        strcmp(left->parts[0].name, "prioritize") == 0;
        if (priority) continue;
        expand_one(j, judge_compile_item(j, &j->model, section->items[k]), section->initial);
    }
}

void judge_expand(judge *j)
{
    const ast_class *model = j->file->model;
    machine *m = &j->machine;
    stack_mark mark = m->scratch.at;
    j->passes = JUDGE_TAKE(j, value, MODEL_SLOTS);
    j->pass_names = JUDGE_TAKE(j, const char *, MODEL_SLOTS);
    expand_bindings(j);
    for (size_t k = 0; k < model->section_count; k++) expand_section(j, &model->sections[k]);
    j->compiling = -1;
    m->scratch.at = mark;
    j->elaborated = true;
}
