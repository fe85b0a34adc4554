/* From the syntax tree to nodes: names are resolved once, nothing else is changed. */
#include <stdio.h>
#include <string.h>

#include "judge/judge_parts.h"

node *judge_node(judge *j, node_kind kind, int line)
{
    node *n = JUDGE_TAKE(j, node, 1);
    n->kind = kind;
    n->line = line;
    n->call_slot = -1;
    return n;
}

static node *gap_node(judge *j, int line, const char *construct)
{
    node *n = judge_node(j, NODE_GAP, line);
    n->name = construct;
    judge_add_gap(j, construct, line, j->compiling, false);
    return n;
}

static node *constant_node(judge *j, const jtype *type, double v, int line)
{
    node *n = judge_node(j, NODE_CONSTANT, line);
    cell *c = JUDGE_TAKE(j, cell, 1);
    *c = (cell){.v = v, .size = fabs(v)};
    n->constant = (value){type, {0}, c};
    return n;
}

node *judge_number_node(judge *j, double v, int line)
{
    return constant_node(j, &judge_integer, v, line);
}

static node **compile_list(judge *j, const scope *s, ast_expr *const *list, size_t count)
{
    node **kids = JUDGE_TAKE(j, node *, count);
    for (size_t k = 0; k < count; k++) kids[k] = list[k] ? judge_compile(j, s, list[k]) : NULL;
    return kids;
}

static node *with_kids(judge *j, const scope *s, node_kind kind, const ast_expr *e)
{
    node *n = judge_node(j, kind, e->place.line);
    n->kids = compile_list(j, s, e->args, e->arg_count);
    n->kid_count = (int)e->arg_count;
    return n;
}

/* ---- references ---- */

static step *steps_of(judge *j, const scope *s, const ast_part *parts, size_t count, bool first,
                      int *step_count)
{
    step *steps = JUDGE_TAKE(j, step, count + 1);
    *step_count = 0;
    for (size_t k = 0; k < count; k++) {
        step p = {k == 0 && first ? NULL : parts[k].name,
                  compile_list(j, s, parts[k].subscripts, parts[k].subscript_count),
                  (int)parts[k].subscript_count};
        if (p.field || p.count) steps[(*step_count)++] = p;
    }
    return steps;
}

/* A copy of a reference with one more step. */
node *judge_with_step(judge *j, const node *n, const char *field, node **subscripts, int count)
{
    node *copy = judge_node(j, n->kind, n->line);
    *copy = *n;
    copy->steps = JUDGE_TAKE(j, step, n->step_count + 1);
    if (n->step_count) memcpy(copy->steps, n->steps, (size_t)n->step_count * sizeof *copy->steps);
    copy->steps[n->step_count] = (step){field, subscripts, count};
    copy->step_count = n->step_count + 1;
    return copy;
}

node *judge_target(judge *j, component *c, const step *steps, int count, int line)
{
    node *n = judge_node(j, NODE_COMPONENT, line);
    n->component = c;
    n->steps = (step *)(size_t)steps;
    n->step_count = count;
    return n;
}

static const char *joined(judge *j, const ast_part *parts, size_t count)
{
    const char *name = count ? parts[0].name : "";
    for (size_t k = 1; k < count; k++) name = judge_format(j, "%s.%s", name, parts[k].name);
    return name;
}

static node *slot_node(judge *j, const scope *s, int slot, const ast_part *parts, size_t count,
                       int line)
{
    node *n = judge_node(j, NODE_LOCAL, line);
    n->slot = slot;
    n->steps = steps_of(j, s, parts, count, true, &n->step_count);
    return n;
}

static int local_slot(const jfunction *f, const char *name)
{
    for (int k = 0; k < f->local_count; k++)
        if (strcmp(f->locals[k].name, name) == 0) return k;
    return -1;
}

/* A name of the innermost scopes: iterators, variables of functions, fields of a record. */
static node *inner_reference(judge *j, const scope *from, const ast_part *parts, size_t count,
                             int line)
{
    for (const scope *s = from; s; s = s->parent) {
        if (s->kind == SCOPE_ITERATOR && strcmp(s->name, parts[0].name) == 0)
            return slot_node(j, from, s->slot, parts, count, line);
        int slot = s->kind == SCOPE_FUNCTION ? local_slot(s->function, parts[0].name) : -1;
        if (slot >= 0) return slot_node(j, from, slot, parts, count, line);
        if (s->kind != SCOPE_INSTANCE) continue;
        for (int k = 0; k < s->type->field_count; k++)
            if (strcmp(s->type->fields[k].name, parts[0].name) == 0) {
                node *n = judge_with_step(
                    j, s->prefix, parts[0].name,
                    compile_list(j, from, parts[0].subscripts, parts[0].subscript_count),
                    (int)parts[0].subscript_count);
                int more;
                step *steps = steps_of(j, from, parts + 1, count - 1, false, &more);
                for (int i = 0; i < more; i++)
                    n = judge_with_step(j, n, steps[i].field, steps[i].subscripts, steps[i].count);
                return n;
            }
    }
    return NULL;
}

static bool sees_model(const scope *s)
{
    for (; s; s = s->parent)
        if (s->kind == SCOPE_MODEL) return true;
    return false;
}

static node *component_reference(judge *j, const scope *s, const ast_part *parts, size_t count,
                                 int line)
{
    bool model = sees_model(s);
    component *c = judge_component(j, parts[0].name, model);
    size_t used = 1;
    for (size_t k = 2; !c && k <= count; k++) { /* P.c of the package P */
        c = judge_component(j, joined(j, parts, k), false);
        if (!c) c = judge_component(j, parts[k - 1].name, false);
        if (c && !c->constant_) c = NULL;
        used = k;
    }
    if (!c && model) {
        c = judge_whole(j, parts[0].name);
        used = 1;
    }
    if (!c) return NULL;
    int steps;
    step *list = steps_of(j, s, parts + used - 1, count - used + 1, true, &steps);
    return judge_target(j, c, list, steps, line);
}

static node *literal_of(judge *j, const char *type, const char *name, int line)
{
    type_use t = judge_type_of(j, type, 0);
    if (!t.type || t.type->base != BASE_ENUMERATION) return NULL;
    for (int k = 0; k < t.type->literal_count; k++)
        if (strcmp(t.type->literals[k], name) == 0) return constant_node(j, t.type, k + 1, line);
    return NULL;
}

static node *function_reference(judge *j, const char *name, int line)
{
    const ast_class *c = judge_class(j, name);
    if (!c || c->kind != CLASS_FUNCTION) return NULL;
    node *n = judge_node(j, NODE_CLOSURE, line);
    n->function = judge_function_of(j, c);
    return n;
}

/* A type as a range or a size: all values of an enumeration, or of Boolean. */
static node *type_values(judge *j, const char *name, int line)
{
    type_use t = judge_type_of(j, name, line);
    bool logical = t.type == &judge_boolean;
    if (!t.type || (t.type->base != BASE_ENUMERATION && !logical)) return NULL;
    int count = logical ? 2 : t.type->literal_count;
    node *n = judge_node(j, NODE_CONSTANT, line);
    n->constant = (value){t.type, {1, {count}}, JUDGE_TAKE(j, cell, count)};
    for (int k = 0; k < count; k++) n->constant.cells[k].v = logical ? k : k + 1;
    return n;
}

static node *reference(judge *j, const scope *s, const ast_expr *e)
{
    int line = e->place.line;
    node *n = inner_reference(j, s, e->parts, e->part_count, line);
    if (!n) n = component_reference(j, s, e->parts, e->part_count, line);
    if (!n && e->part_count == 1 && strcmp(e->parts[0].name, "time") == 0)
        return judge_node(j, NODE_TIME, line);
    const ast_part *last = &e->parts[e->part_count - 1];
    if (!n && e->part_count > 1)
        n = literal_of(j, joined(j, e->parts, e->part_count - 1), last->name, line);
    if (!n) n = function_reference(j, joined(j, e->parts, e->part_count), line);
    if (!n) n = type_values(j, joined(j, e->parts, e->part_count), line);
    if (n) return n;
    return gap_node(j, line, judge_format(j, "the name '%s'", joined(j, e->parts, e->part_count)));
}

/* ---- iterators ---- */

static void note_slot(const scope *s, int slots)
{
    for (; s; s = s->parent)
        if (s->kind == SCOPE_FUNCTION && s->function->slots < slots) s->function->slots = slots;
}

/* What one more iterator sees. */
static scope iterator_scope(const scope *parent, const char *name)
{
    scope s = {SCOPE_ITERATOR, parent, name, parent->next, parent->next + 1, NULL, NULL, NULL};
    note_slot(parent, s.next);
    return s;
}

/* At most MODEL_SLOTS iterators within each other, or none. */
static bool too_deep(const scope *s, size_t more)
{
    int next = s->next;
    for (; s; s = s->parent)
        if (s->kind == SCOPE_FUNCTION) return false;
    return next + (int)more > MODEL_SLOTS;
}

/* The range of `for i loop`: of the dimension that i is a subscript of. The first such reference.
 */
static const ast_expr *deduced_in(const ast_expr *e, const char *name, size_t *part, size_t *dim)
{
    while (e) {
        for (size_t p = 0; p < e->part_count; p++)
            for (size_t d = 0; d < e->parts[p].subscript_count; d++) {
                const ast_expr *s = e->parts[p].subscripts[d];
                if (s->kind == AST_REFERENCE && s->part_count == 1 &&
                    strcmp(s->parts[0].name, name) == 0) {
                    *part = p, *dim = d;
                    return e;
                }
            }
        for (size_t k = 1; k < e->arg_count; k++) {
            const ast_expr *found = e->args[k] ? deduced_in(e->args[k], name, part, dim) : NULL;
            if (found) return found;
        }
        e = e->arg_count ? e->args[0] : NULL;
    }
    return NULL;
}

static const ast_expr *deduced_in_items(ast_item *const *items, size_t count, const char *name,
                                        size_t *part, size_t *dim)
{
    for (size_t k = 0; k < count; k++) {
        const ast_expr *e = items[k]->left ? deduced_in(items[k]->left, name, part, dim) : NULL;
        if (!e && items[k]->right) e = deduced_in(items[k]->right, name, part, dim);
        for (size_t b = 0; !e && b < items[k]->branch_count; b++)
            e = deduced_in_items(items[k]->branches[b].items, items[k]->branches[b].item_count,
                                 name, part, dim);
        if (e) return e;
    }
    return NULL;
}

static node *builtin_node(judge *j, const char *name, int line, int kids)
{
    node *n = judge_node(j, NODE_BUILTIN, line);
    const builtin *b = judge_builtin_find(name);
    n->builtin = b->call;
    n->name = b->name;
    n->kids = JUDGE_TAKE(j, node *, kids);
    n->kid_count = kids;
    return n;
}

static node *deduced_range(judge *j, const scope *s, const ast_expr *e, size_t part, size_t dim,
                           int line)
{
    if (!e) return gap_node(j, line, "an iterator without a range");
    ast_expr *array = JUDGE_TAKE(j, ast_expr, 1);
    *array = (ast_expr){.kind = AST_REFERENCE, .place = e->place};
    array->parts = JUDGE_TAKE(j, ast_part, part + 1);
    memcpy(array->parts, e->parts, (part + 1) * sizeof *array->parts);
    array->part_count = part + 1;
    array->parts[part].subscript_count = 0;
    node *n = judge_node(j, NODE_RANGE, line), *size = builtin_node(j, "size", line, 2);
    size->kids[0] = reference(j, s, array);
    size->kids[1] = judge_number_node(j, (double)dim + 1.0, line);
    n->kids = JUDGE_TAKE(j, node *, 2);
    n->kids[0] = judge_number_node(j, 1.0, line);
    n->kids[1] = size;
    n->kid_count = 2;
    return n;
}

static node *compile_range(judge *j, const scope *s, const ast_iterator *i, const ast_expr *e,
                           ast_item *const *items, size_t count)
{
    size_t part = 0, dim = 0;
    if (i->range) return judge_compile(j, s, i->range);
    const ast_expr *found = e ? deduced_in(e, i->name, &part, &dim)
                              : deduced_in_items(items, count, i->name, &part, &dim);
    return deduced_range(j, s, found, part, dim, i->place.line);
}

static node *comprehension(judge *j, const scope *s, const ast_expr *e)
{
    node *n = judge_node(j, NODE_COMPREHENSION, e->place.line);
    size_t count = e->iterator_count;
    if (too_deep(s, count)) return gap_node(j, e->place.line, "so many iterators");
    n->name = e->part_count ? joined(j, e->parts, e->part_count) : NULL;
    n->slot_count = (int)count;
    n->slots = JUDGE_TAKE(j, int, count);
    n->kids = JUDGE_TAKE(j, node *, count + 1);
    n->kid_count = (int)count + 1;
    scope *scopes = JUDGE_TAKE(j, scope, count);
    const scope *inner = s;
    for (size_t k = 0; k < count; k++) {
        n->kids[1 + k] = compile_range(j, inner, &e->iterators[k], e->args[0], NULL, 0);
        scopes[k] = iterator_scope(inner, e->iterators[k].name);
        n->slots[k] = scopes[k].slot;
        inner = &scopes[k];
    }
    n->kids[0] = judge_compile(j, inner, e->args[0]);
    return n;
}

/* ---- calls ---- */

static int input_index(const jfunction *f, const char *name)
{
    for (int k = 0; k < f->local_count; k++)
        if (f->locals[k].input && strcmp(f->locals[k].name, name) == 0) return k;
    return -1;
}

static int input_at(const jfunction *f, int position)
{
    for (int k = 0; k < f->local_count; k++)
        if (f->locals[k].input && position-- == 0) return k;
    return -1;
}

static bool compile_arguments(judge *j, const scope *s, const ast_expr *e, const jfunction *f,
                              node *n)
{
    size_t count = e->arg_count + e->named_count;
    n->kids = JUDGE_TAKE(j, node *, count);
    n->inputs = JUDGE_TAKE(j, int, count);
    n->kid_count = (int)count;
    for (size_t k = 0; k < count; k++) {
        bool named = k >= e->arg_count;
        const ast_named *a = named ? &e->named[k - e->arg_count] : NULL;
        n->kids[k] = judge_compile(j, s, named ? a->value : e->args[k]);
        n->inputs[k] = named ? input_index(f, a->name) : input_at(f, (int)k);
        if (n->inputs[k] < 0) return false;
        for (size_t i = 0; i < k; i++)
            if (n->inputs[i] == n->inputs[k]) return false; /* given twice */
    }
    return true;
}

static node *function_call(judge *j, const scope *s, const ast_expr *e, const ast_class *c,
                           node_kind kind)
{
    node *n = judge_node(j, kind, e->place.line);
    n->function = judge_function_of(j, c);
    n->name = n->function->name;
    if (n->function->external)
        return gap_node(j, e->place.line,
                        judge_format(j, "the external function '%s'", n->function->name));
    if (!compile_arguments(j, s, e, n->function, n))
        return gap_node(j, e->place.line,
                        judge_format(j, "an argument of '%s'", n->function->name));
    return n;
}

/* A call of an input that is a function: arguments by position. */
static node *input_call(judge *j, const scope *s, const ast_expr *e, int slot)
{
    if (e->named_count)
        return gap_node(j, e->place.line, "named arguments of a function that is an input");
    node *n = with_kids(j, s, NODE_CALL, e);
    n->call_slot = slot;
    n->name = e->parts[0].name;
    return n;
}

static int parameter_index(const char *parameters, const char *name)
{
    int k = 0;
    size_t length = strlen(name);
    for (const char *c = parameters; c && *c; k++) {
        size_t width = strcspn(c, " ");
        if (width == length && strncmp(c, name, width) == 0) return k;
        c += width + (c[width] == ' ');
    }
    return -1;
}

static node *builtin_call(judge *j, const scope *s, const ast_expr *e, const builtin *b)
{
    node *n = builtin_node(j, b->name, e->place.line, e->arg_count < 8 ? 8 : (int)e->arg_count);
    n->kid_count = (int)e->arg_count;
    bool right = n->kid_count + (int)e->named_count >= b->least && n->kid_count <= b->most;
    for (int k = 0; right && k < n->kid_count; k++) n->kids[k] = judge_compile(j, s, e->args[k]);
    for (size_t k = 0; right && k < e->named_count; k++) {
        int at = parameter_index(b->parameters, e->named[k].name);
        right = at >= 0 && at < 8;
        if (!right) break;
        n->kids[at] = judge_compile(j, s, e->named[k].value);
        if (at >= n->kid_count) n->kid_count = at + 1;
    }
    if (!right)
        return gap_node(j, e->place.line, judge_format(j, "these arguments of '%s'", b->name));
    return n;
}

/* E(i): the value of the enumeration E with the number i */
static node *conversion(judge *j, const scope *s, const ast_expr *e, const ast_class *c)
{
    type_use t = judge_type_of(j, c->name, 0);
    if (!t.type || t.type->base != BASE_ENUMERATION || e->arg_count != 1)
        return gap_node(j, e->place.line, judge_format(j, "a call of '%s'", c->name));
    node *n = builtin_node(j, "Integer", e->place.line, 1);
    n->kids[0] = judge_compile(j, s, e->args[0]);
    n->constant.type = t.type;
    return n;
}

static node *derivative(judge *j, const scope *s, const ast_expr *e)
{
    node *n = judge_derive(j, judge_compile(j, s, e->args[0]));
    return n ? n : gap_node(j, e->place.line, "a derivative of such an expression");
}

static node *call(judge *j, const scope *s, const ast_expr *e)
{
    const char *name = joined(j, e->parts, e->part_count);
    for (const scope *at = s; at && e->part_count == 1; at = at->parent) {
        int slot = at->kind == SCOPE_FUNCTION ? local_slot(at->function, name) : -1;
        if (slot >= 0 && !at->function->locals[slot].type) return input_call(j, s, e, slot);
    }
    const ast_class *c = judge_class(j, name);
    if (c && (c->kind == CLASS_FUNCTION || c->kind == CLASS_RECORD))
        return function_call(j, s, e, c, NODE_CALL);
    if (c && c->kind == CLASS_TYPE) return conversion(j, s, e, c);
    const builtin *b = judge_builtin_find(name);
    if (b && strcmp(name, "der") == 0 && e->arg_count == 1) return derivative(j, s, e);
    if (b) return builtin_call(j, s, e, b);
    return gap_node(j, e->place.line, judge_format(j, "the function '%s'", name));
}

static node *function_argument(judge *j, const scope *s, const ast_expr *e)
{
    const char *name = joined(j, e->parts, e->part_count);
    const ast_class *c = judge_class(j, name);
    if (!c || c->kind != CLASS_FUNCTION)
        return gap_node(j, e->place.line, judge_format(j, "the function '%s'", name));
    return function_call(j, s, e, c, NODE_CLOSURE);
}

/* ---- the rest ---- */

/* The left spine of a chain of operators, which may be as long as the text. */
static node *chain(judge *j, const scope *s, const ast_expr *e)
{
    size_t length = 0;
    const ast_expr *at = e;
    for (; at->kind == AST_BINARY; at = at->args[0]) length++;
    node *n = judge_node(j, NODE_CHAIN, e->place.line);
    n->kids = JUDGE_TAKE(j, node *, length + 1);
    n->ops = JUDGE_TAKE(j, ast_op, length);
    n->kid_count = (int)length + 1;
    n->kids[0] = judge_compile(j, s, at);
    for (at = e; at->kind == AST_BINARY; at = at->args[0], length--) {
        n->ops[length - 1] = at->op;
        n->kids[length] = judge_compile(j, s, at->args[1]);
    }
    return n;
}

static node *string_node(judge *j, const ast_expr *e)
{
    node *n = judge_node(j, NODE_CONSTANT, e->place.line);
    cell *c = JUDGE_TAKE(j, cell, 1);
    c->text = e->text;
    n->constant = (value){&judge_string, {0}, c};
    return n;
}

static node *with_steps(judge *j, const scope *s, const ast_expr *e)
{
    node *n = judge_node(j, NODE_STEPS, e->place.line);
    n->kids = JUDGE_TAKE(j, node *, 1);
    n->kids[0] = judge_compile(j, s, e->args[0]);
    n->kid_count = 1;
    if (e->kind == AST_MEMBER) {
        n->steps = steps_of(j, s, e->parts, e->part_count, false, &n->step_count);
        return n;
    }
    n->steps = JUDGE_TAKE(j, step, 1);
    n->steps[0] =
        (step){NULL, compile_list(j, s, e->args + 1, e->arg_count - 1), (int)e->arg_count - 1};
    n->step_count = 1;
    return n;
}

node *judge_compile(judge *j, const scope *s, const ast_expr *e)
{
    node *n;
    switch (e->kind) {
    case AST_NUMBER:
        return constant_node(j, e->integer ? &judge_integer : &judge_real, e->value, e->place.line);
    case AST_STRING: return string_node(j, e);
    case AST_BOOLEAN: return constant_node(j, &judge_boolean, e->value, e->place.line);
    case AST_REFERENCE: return reference(j, s, e);
    case AST_CALL: return call(j, s, e);
    case AST_UNARY:
        n = with_kids(j, s, NODE_UNARY, e);
        n->op = e->op;
        return n;
    case AST_BINARY: return chain(j, s, e);
    case AST_IF: return with_kids(j, s, NODE_IF, e);
    case AST_RANGE: return with_kids(j, s, NODE_RANGE, e);
    case AST_ARRAY: return with_kids(j, s, NODE_ARRAY, e);
    case AST_MATRIX: return with_kids(j, s, NODE_MATRIX, e);
    case AST_ROW: return with_kids(j, s, NODE_ROW, e);
    case AST_COMPREHENSION: return comprehension(j, s, e);
    case AST_TUPLE: return with_kids(j, s, NODE_TUPLE, e);
    case AST_COLON: return judge_node(j, NODE_COLON, e->place.line);
    case AST_END: return judge_node(j, NODE_END, e->place.line);
    case AST_SUBSCRIPT:
    case AST_MEMBER: return with_steps(j, s, e);
    case AST_FUNCTION: return function_argument(j, s, e);
    }
    return gap_node(j, e->place.line, "an expression");
}

/* ---- items ---- */

jitem **judge_compile_items(judge *j, const scope *s, ast_item *const *items, size_t count)
{
    jitem **list = JUDGE_TAKE(j, jitem *, count);
    for (size_t k = 0; k < count; k++) list[k] = judge_compile_item(j, s, items[k]);
    return list;
}

/* assert, reinit, terminate: their arguments in their order; other calls stay calls. */
static void compile_call(judge *j, const scope *s, jitem *i)
{
    static const struct {
        const char *name, *parameters;
    } known[] = {
        {"assert", "condition message level"}, {"terminate", "message"}, {"reinit", "x expr"}};
    const ast_expr *e = i->source->left;
    const char *name = joined(j, e->parts, e->part_count);
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) {
        if (strcmp(name, known[k].name) != 0) continue;
        i->arguments = JUDGE_TAKE(j, node *, 4);
        for (size_t a = 0; a < e->arg_count && a < 3; a++)
            if (a != 1 || k == 2) i->arguments[a] = judge_compile(j, s, e->args[a]);
        for (size_t a = 0; a < e->named_count; a++) {
            int at = parameter_index(known[k].parameters, e->named[a].name);
            if (at >= 0 && (at != 1 || k == 2))
                i->arguments[at] = judge_compile(j, s, e->named[a].value);
        }
        i->argument_count = (int)k + 1;
        return;
    }
    i->left = judge_compile(j, s, e);
}

static void compile_branches(judge *j, const scope *s, jitem *i)
{
    const ast_item *source = i->source;
    i->branches = JUDGE_TAKE(j, jbranch, source->branch_count);
    i->branch_count = (int)source->branch_count;
    for (int b = 0; b < i->branch_count; b++) {
        const ast_branch *from = &source->branches[b];
        jbranch *to = &i->branches[b];
        *to = (jbranch){.item_count = (int)from->item_count,
                        .line = from->place.line ? from->place.line : i->line,
                        .source = from->condition};
        if (from->condition) to->condition = judge_compile(j, s, from->condition);
        to->items = judge_compile_items(j, s, from->items, from->item_count);
    }
}

static void compile_for(judge *j, const scope *s, jitem *i)
{
    const ast_item *source = i->source;
    size_t count = source->iterator_count;
    if (too_deep(s, count)) {
        *i = (jitem){.kind = ITEM_CALL, .line = i->line, .source = source};
        i->left = gap_node(j, i->line, "so many iterators");
        return;
    }
    scope *scopes = JUDGE_TAKE(j, scope, count);
    i->slots = JUDGE_TAKE(j, int, count);
    i->ranges = JUDGE_TAKE(j, node *, count);
    i->slot_count = (int)count;
    for (size_t k = 0; k < count; k++) {
        i->ranges[k] = compile_range(j, s, &source->iterators[k], NULL, source->branches[0].items,
                                     source->branches[0].item_count);
        scopes[k] = iterator_scope(s, source->iterators[k].name);
        i->slots[k] = scopes[k].slot;
        s = &scopes[k];
    }
    compile_branches(j, s, i);
}

jitem *judge_compile_item(judge *j, const scope *s, const ast_item *source)
{
    jitem *i = JUDGE_TAKE(j, jitem, 1);
    *i = (jitem){.kind = source->kind, .line = source->place.line, .source = source};
    switch (source->kind) {
    case ITEM_EQUATION:
    case ITEM_ASSIGN:
        i->left = judge_compile(j, s, source->left);
        i->right = judge_compile(j, s, source->right);
        break;
    case ITEM_CALL: compile_call(j, s, i); break;
    case ITEM_FOR: compile_for(j, s, i); break;
    case ITEM_IF:
    case ITEM_WHILE:
    case ITEM_WHEN: compile_branches(j, s, i); break;
    case ITEM_BREAK:
    case ITEM_RETURN: break;
    }
    return i;
}
