/* Names: classes, components, and wholes of elements that are declared one by one. */
#include <stdlib.h>
#include <string.h>

#include "judge/judge_parts.h"

/* ---- classes ---- */

static void enter_class(judge *j, const char *prefix, const ast_class *c)
{
    if (!c->name) return;
    judge_table_put(j, &j->classes, c->name, NULL, 0, 0, (void *)(size_t)c);
    const char *path = c->name;
    if (prefix) {
        path = judge_format(j, "%s.%s", prefix, c->name);
        judge_table_put(j, &j->classes, path, NULL, 0, 0, (void *)(size_t)c);
    }
    for (size_t k = 0; k < c->class_count; k++) enter_class(j, path, c->classes[k]);
}

/* Classes of the model first: they hide those outside. */
void judge_enter_classes(judge *j)
{
    const ast_class *model = j->file->model;
    for (size_t k = 0; k < model->class_count; k++) enter_class(j, NULL, model->classes[k]);
    for (size_t k = 0; k < j->file->class_count; k++) enter_class(j, NULL, j->file->classes[k]);
}

const ast_class *judge_class(judge *j, const char *name)
{
    table_entry *e = judge_table_find(&j->classes, name, NULL, 0, 0);
    return e ? e->item : NULL;
}

/* ---- components ---- */

/* A component of the model, or a global constant. */
component *judge_component(judge *j, const char *name, bool model)
{
    table_entry *e = model ? judge_table_find(&j->names, name, NULL, 0, 0) : NULL;
    if (!e) e = judge_table_find(&j->constants, name, NULL, 0, 0);
    return e ? e->item : NULL;
}

/* ---- wholes ---- */

typedef struct piece { /* a component, and what is left of its name */
    component *c;
    const char *rest;
} piece;

typedef struct whole {
    const jtype *type;
    shape shape;
    cell **cells;
    int count; /* of cells */
} whole;

static size_t piece_length(const char *rest)
{
    size_t n = 1, depth = rest[0] == '[';
    for (; rest[n] && !(rest[n] == '\'' && !rest[n + 1]); n++) {
        if (depth == 0 && (rest[n] == '.' || rest[n] == '[')) break;
        if (rest[n] == ']') depth--;
    }
    return n;
}

static bool at_end(const char *rest)
{
    return rest[0] == '\'' && rest[1] == '\0';
}

static whole leaf(machine *m, component *c)
{
    judge_need_sizes(m, c, 0);
    int count = judge_count(&c->shape) * c->type->cells;
    whole w = {c->type, c->shape, JUDGE_TAKE(m->j, cell *, count), count};
    for (int k = 0; k < count; k++) w.cells[k] = c->whole ? c->whole[k] : &c->cells[k];
    return w;
}

static bool build(machine *m, const piece *list, size_t count, whole *w);

/* Those of a list that begin with the same piece as its first, moved on behind it. */
static size_t with_first(const piece *list, size_t count, const char *label, size_t length,
                         piece *into)
{
    size_t found = 0;
    for (size_t k = 0; k < count; k++)
        if (strncmp(list[k].rest, label, length) == 0 && piece_length(list[k].rest) == length)
            into[found++] = (piece){list[k].c, list[k].rest + length};
    return found;
}

/* Different first pieces, each once. */
static size_t labels_of(const piece *list, size_t count, const char **labels)
{
    size_t found = 0;
    for (size_t k = 0; k < count; k++) {
        size_t length = piece_length(list[k].rest);
        bool known = false;
        for (size_t i = found; !known && i > 0; i--)
            known = piece_length(labels[i - 1]) == length &&
                    strncmp(labels[i - 1], list[k].rest, length) == 0;
        if (!known) labels[found++] = list[k].rest;
    }
    return found;
}

static const ast_class *record_with(judge *j, const char *const *names, int count)
{
    for (size_t k = 0; k < j->classes.capacity; k++) {
        const table_entry *e = &j->classes.entries[k];
        const ast_class *c = e->text ? e->item : NULL;
        if (!c || c->kind != CLASS_RECORD || (int)c->component_count != count) continue;
        int same = 0;
        for (int i = 0; i < count; i++)
            for (int n = 0; n < count; n++) same += strcmp(c->components[i].name, names[n]) == 0;
        if (same == count) return c;
    }
    return NULL;
}

/* A record of fields that are declared one by one, in the order of its class. */
static bool build_record(machine *m, const piece *list, size_t count, const char **labels,
                         size_t fields, whole *w)
{
    judge *j = m->j;
    jtype *t = JUDGE_TAKE(j, jtype, 1);
    t->fields = JUDGE_TAKE(j, type_field, fields);
    whole *parts = JUDGE_TAKE(j, whole, fields);
    const char **names = JUDGE_TAKE(j, const char *, fields);
    piece *some = JUDGE_TAKE(j, piece, count);
    for (size_t f = 0; f < fields; f++) {
        size_t length = piece_length(labels[f]);
        names[f] = judge_format(j, "%.*s", (int)length - 1, labels[f] + 1);
        size_t found = with_first(list, count, labels[f], length, some);
        if (!build(m, some, found, &parts[f])) return false;
        w->count += parts[f].count;
    }
    t->of = record_with(j, names, (int)fields);
    t->base = BASE_RECORD;
    t->name = t->of ? t->of->name : "record";
    w->cells = JUDGE_TAKE(j, cell *, w->count);
    for (size_t k = 0; k < fields; k++) {
        size_t f = k;
        for (size_t i = 0; t->of && i < fields; i++)
            if (strcmp(t->of->components[k].name, names[i]) == 0) f = i;
        t->fields[k] = (type_field){names[f], parts[f].type, parts[f].shape, t->cells, NULL};
        memcpy(w->cells + t->cells, parts[f].cells, (size_t)parts[f].count * sizeof(cell *));
        t->cells += parts[f].count;
        t->texts |= parts[f].type->texts;
    }
    t->field_count = (int)fields;
    w->type = t;
    return true;
}

static int parse_label(const char *label, int *dims)
{
    int count = 0;
    const char *c = label + 1;
    while (count < MOST_DIMS) {
        char *end;
        long n = strtol(c, &end, 10);
        if (end == c || n < 1 || n > 100000000) return 0;
        dims[count++] = (int)n;
        while (*end == ' ') end++;
        if (*end == ']') return count;
        if (*end != ',') return 0;
        c = end + 1;
    }
    return 0;
}

static int place_of_label(const char *label, const shape *s)
{
    int dims[MOST_DIMS], at = 0, count = parse_label(label, dims);
    for (int d = 0; d < count; d++) at = at * s->dims[d] + dims[d] - 1;
    return at;
}

static bool build_array(machine *m, const piece *list, size_t count, const char **labels,
                        size_t elements, whole *w)
{
    judge *j = m->j;
    shape s = {0};
    for (size_t k = 0; k < elements; k++) {
        int dims[MOST_DIMS], n = parse_label(labels[k], dims);
        if (n == 0 || (k && n != s.ndims)) return false;
        s.ndims = n;
        for (int d = 0; d < n; d++)
            if (dims[d] > s.dims[d]) s.dims[d] = dims[d];
    }
    if (judge_count(&s) != (int)elements) return false;
    piece *some = JUDGE_TAKE(j, piece, count);
    whole first = {0};
    for (size_t k = 0; k < elements; k++) {
        whole part = {0};
        size_t found = with_first(list, count, labels[k], piece_length(labels[k]), some);
        if (!build(m, some, found, &part)) return false;
        if (k == 0) {
            first = part;
            w->count = part.count * (int)elements;
            w->cells = JUDGE_TAKE(j, cell *, w->count);
        }
        if (part.count != first.count) return false;
        memcpy(w->cells + place_of_label(labels[k], &s) * part.count, part.cells,
               (size_t)part.count * sizeof(cell *));
    }
    w->type = first.type;
    for (int d = 0; d < first.shape.ndims && s.ndims < MOST_DIMS; d++)
        s.dims[s.ndims++] = first.shape.dims[d];
    w->shape = s;
    return true;
}

static bool build(machine *m, const piece *list, size_t count, whole *w)
{
    *w = (whole){0};
    if (count == 1 && at_end(list[0].rest)) {
        *w = leaf(m, list[0].c);
        return true;
    }
    for (size_t k = 0; k < count; k++)
        if (at_end(list[k].rest) || list[k].rest[0] != list[0].rest[0]) return false;
    const char **labels = JUDGE_TAKE(m->j, const char *, count);
    size_t different = labels_of(list, count, labels);
    return list[0].rest[0] == '.' ? build_record(m, list, count, labels, different, w)
                                  : build_array(m, list, count, labels, different, w);
}

/* 'a.b', where 'a.b[1]', 'a.b[2]' or 'a.b.re', 'a.b.im' are declared; NULL: there are none. */
component *judge_whole(judge *j, const char *name)
{
    size_t length = strlen(name), count = 0, capacity = 0;
    if (length < 3 || name[0] != '\'') return NULL;
    for (component *c = j->components; c; c = c->next) capacity += !c->constant_;
    piece *list = NULL;
    component **parts = NULL;
    for (component *c = j->components; c; c = c->next) {
        if (c->constant_ || c->removed || strncmp(c->name, name, length - 1) != 0) continue;
        char next = c->name[length - 1];
        if (next != '.' && next != '[') continue;
        if (!list) {
            list = JUDGE_TAKE(j, piece, capacity);
            parts = JUDGE_TAKE(j, component *, capacity);
        }
        parts[count] = c;
        list[count++] = (piece){c, c->name + length - 1};
    }
    whole w;
    if (count == 0 || !build(&j->machine, list, count, &w)) return NULL;
    component *c = JUDGE_TAKE(j, component, 1);
    *c = (component){.name = name,
                     .sizes = DONE,
                     .values = DONE,
                     .type = w.type,
                     .shape = w.shape,
                     .whole = w.cells,
                     .parts = parts,
                     .part_count = (int)count,
                     .variability = JUDGE_CONTINUOUS};
    judge_table_put(j, &j->names, name, NULL, 0, 0, c);
    return c;
}
