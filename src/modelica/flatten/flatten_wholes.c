/* Wholes of scalarised names. Exported models declare the elements of arrays and records one by
 * one, 'a.b[1].re', 'a.b[1].im', 'a.b[2].re' .., and still use the whole: f('a.b'). A whole is a
 * symbol without a declaration of its own: its value is made of the values of its elements, which
 * are the same variables. Names are cut before '.' and '[' into a tree, once a whole is first asked
 * for. */
#include <string.h>

#include "modelica/flatten/flatten_internal.h"

/* A prefix of names; its children carry on with .member or with [subscripts]. */
struct whole_name {
    const char *path;  /* "a.b[1]" */
    const char *label; /* ".b", "[1]": what it adds to its parent's path */
    symbol *element;   /* declared under this name, or NULL */
    struct whole_name *first, *last, *next;
    size_t children;
};

/* ---- the tree ---- */

/* Where the piece of a path that begins at `c` ends: before the next '.' or '[' outside brackets.
 */
static const char *end_of_piece(const char *c, const char *stop)
{
    int depth = 0;
    for (const char *at = c; at < stop; at++) {
        if (at > c && depth == 0 && (*at == '.' || *at == '[')) return at;
        depth += (*at == '[') - (*at == ']');
    }
    return stop;
}

static whole_name *child_of(flattener *f, whole_name *parent, const char *path, size_t length,
                            size_t from)
{
    const char *text = flatten_text(f, "%.*s", (int)length, path);
    whole_name *w = text ? name_find(&f->wholes, text) : NULL;
    if (w || !text) return w;
    w = flatten_take(f, sizeof *w);
    if (!w) return NULL;
    *w = (whole_name){.path = text, .label = text + from};
    name_put(f, &f->wholes, text, w);
    if (!parent) return w;
    if (parent->last)
        parent->last->next = w;
    else
        parent->first = w;
    parent->last = w;
    parent->children++;
    return w;
}

/* Enter a declared name with all its prefixes. */
static void add_name(flattener *f, symbol *s)
{
    const char *name = s->declaration->name;
    size_t length = name ? strlen(name) : 0;
    if (length < 3 || name[0] != '\'' || !strpbrk(name, ".[")) return;
    const char *path = name + 1, *stop = name + length - 1;
    whole_name *parent = NULL;
    for (const char *c = path; c < stop && !f->failed;) {
        const char *end = end_of_piece(c, stop);
        parent = child_of(f, parent, path, (size_t)(end - path), (size_t)(c - path));
        c = end;
    }
    if (parent) parent->element = s;
}

static void plant(flattener *f)
{
    arena *active = f->scope.active;
    f->scope.active = f->permanent;
    f->wholes_known = true;
    for (size_t k = 0; k < f->model_symbol_count && !f->failed; k++)
        add_name(f, &f->model_symbols[k]);
    f->scope.active = active;
}

/* A symbol for the whole of that name, entered among the others. */
static symbol *symbol_of(flattener *f, const whole_name *w, const char *name)
{
    const whole_name *leaf = w;
    while (leaf->first) leaf = leaf->first;
    arena *active = f->scope.active;
    f->scope.active = f->permanent;
    symbol *s = flatten_take(f, sizeof *s);
    ast_component *c = flatten_take(f, sizeof *c);
    if (s && c && leaf->element) {
        *c = *leaf->element->declaration;
        c->name = flatten_text(f, "%s", name);
        *s = (symbol){.declaration = c,
                      .constant = leaf->element->constant,
                      .parameter = leaf->element->parameter,
                      .first_variable = -1,
                      .whole = w};
        name_put(f, &f->symbols, c->name, s);
    }
    f->scope.active = active;
    return f->failed ? NULL : s;
}

symbol *find_symbol(flattener *f, const char *name)
{
    symbol *s = name_find(&f->symbols, name);
    size_t length = name ? strlen(name) : 0;
    if (s || length < 3 || name[0] != '\'' || f->failed) return s;
    if (!f->wholes_known) plant(f);
    const char *path = flatten_text(f, "%.*s", (int)length - 2, name + 1);
    const whole_name *w = path ? name_find(&f->wholes, path) : NULL;
    return w && w->first ? symbol_of(f, w, name) : NULL;
}

/* ---- values ---- */

static value whole_value(flattener *f, const whole_name *w, source_place place);

/* In an algorithm: what the element holds now, if it is assigned to there. */
static const local *overlay_of(flattener *f, const symbol *element)
{
    const local *l = f->overlays > 0 ? find_local(f, element->declaration->name) : NULL;
    return l && l->overlay ? l : NULL;
}

static value value_of_child(flattener *f, const whole_name *w, source_place place)
{
    if (!w->element) return whole_value(f, w, place);
    const local *l = overlay_of(f, w->element);
    if (l) return l->value;
    return resolve_symbol(f, w->element, place) ? w->element->value : value_error();
}

/* One subscript of a label: a number, or a literal of an enumeration. */
typedef struct written {
    const char *text;
    size_t length, number; /* number 0: it is none */
} written;

/* The subscripts of a label "[2,3]", at most VALUE_MAX_RANK; 0: too many. */
static int read_subscripts(const char *label, written *out)
{
    int rank = 0;
    for (const char *c = label; *c && *c != ']'; rank++) {
        if (rank == VALUE_MAX_RANK) return 0;
        written *s = &out[rank];
        *s = (written){.text = ++c};
        bool digits = true, quoted = false;
        for (; *c && (quoted || (*c != ',' && *c != ']')); c++, s->length++) {
            if (c[0] == '\\' && c[1] == '\'') quoted = !quoted;
            digits = digits && *c >= '0' && *c <= '9' && s->number < SIZE_MAX / 16;
            s->number = digits ? 10 * s->number + (size_t)(*c - '0') : 0;
        }
    }
    return rank;
}

static bool same_subscript(const written *a, const written *b)
{
    return a->length == b->length && memcmp(a->text, b->text, a->length) == 0;
}

/* The number of subscript k of a child. Literals have none of their own: all of them are there, in
 * the order of their enumeration, so that the number is the count of those that differ and come
 * before. */
static size_t number_of(const whole_name *w, const whole_name *child, int k)
{
    written s[VALUE_MAX_RANK], other[VALUE_MAX_RANK], last = {.text = ""};
    size_t count = 1;
    read_subscripts(child->label, s);
    if (s[k].number > 0) return s[k].number;
    for (const whole_name *c = w->first; c; c = c->next) {
        read_subscripts(c->label, other);
        if (same_subscript(&other[k], &s[k])) return count;
        if (!same_subscript(&other[k], &last)) count++;
        last = other[k];
    }
    return count;
}

/* Literals are counted by looking at all that come before: no more than this. */
enum { MOST_LITERALS = 4096 };

static int shape_of_children(const whole_name *w, size_t *dims)
{
    written s[VALUE_MAX_RANK];
    int rank = read_subscripts(w->first->label, s);
    for (const whole_name *c = w->first; c; c = c->next) {
        if (read_subscripts(c->label, s) != rank) return 0;
        for (int k = 0; k < rank; k++) {
            if (s[k].number == 0 && w->children > MOST_LITERALS) return 0;
            size_t number = number_of(w, c, k);
            if (c == w->first || number > dims[k]) dims[k] = number;
        }
    }
    return rank;
}

static size_t place_of(const whole_name *w, const whole_name *child, int rank, const size_t *dims)
{
    size_t at = 0;
    for (int k = 0; k < rank; k++) at = at * dims[k] + number_of(w, child, k) - 1;
    return at;
}

static value array_of_children(flattener *f, const whole_name *w, source_place place)
{
    size_t dims[VALUE_MAX_RANK] = {0}, count = 1;
    int rank = shape_of_children(w, dims);
    for (int k = 0; k < rank; k++) count = count <= w->children ? count * dims[k] : count;
    if (rank == 0 || count != w->children)
        return error_value(f, place,
                           "'%s' is used as a whole, but some of its elements are not declared",
                           w->path);
    value *parts = flatten_take(f, (count + 1) * sizeof *parts);
    if (!parts) return value_error();
    for (const whole_name *c = w->first; c; c = c->next) {
        size_t at = place_of(w, c, rank, dims);
        if (at >= count) return value_error();
        parts[at] = value_of_child(f, c, place);
        if (value_is_error(&parts[at])) return value_error();
    }
    return value_reshape(f, stack_values(f, parts, count, place), rank, dims);
}

/* ---- records ---- */

static const whole_name *child_named(const whole_name *w, const char *field)
{
    for (const whole_name *c = w->first; c; c = c->next)
        if (same_field(field, c->label + 1, strlen(c->label + 1))) return c;
    return NULL;
}

/* Whether a record has just these fields; those without elements may be empty arrays. */
static bool record_matches(const ast_class *record, const whole_name *w)
{
    size_t found = 0;
    for (size_t k = 0; k < record->component_count; k++) {
        if (child_named(w, record->components[k].name))
            found++;
        else if (record->components[k].size_count == 0)
            return false;
    }
    return found == w->children;
}

static const ast_class *declared_record(flattener *f, const whole_name *w)
{
    for (size_t k = 0; k < f->classes.capacity; k++) {
        const ast_class *c = f->classes.keys[k] ? f->classes.values[k] : NULL;
        if (c && c->kind == CLASS_RECORD && record_matches(c, w)) return c;
    }
    return NULL;
}

/* A record that the file does not define: its fields are what there is. */
static const ast_class *record_of_children(flattener *f, const whole_name *w)
{
    ast_class *record = flatten_take(f, sizeof *record);
    ast_component *fields = flatten_take(f, (w->children + 1) * sizeof *fields);
    if (!record || !fields) return NULL;
    size_t count = 0;
    for (const whole_name *c = w->first; c; c = c->next, count++) {
        const whole_name *leaf = c;
        while (leaf->first) leaf = leaf->first;
        fields[count] = (ast_component){.name = flatten_text(f, "'%s'", c->label + 1),
                                        .place = leaf->element->declaration->place};
    }
    *record = (ast_class){.kind = CLASS_RECORD,
                          .name = w->path,
                          .place = fields[0].place,
                          .components = fields,
                          .component_count = count};
    return record;
}

static value record_value(flattener *f, const whole_name *w, const ast_class *record,
                          source_place place)
{
    value v = {.type = VALUE_RECORD, .class_ = record, .count = 1};
    v.field_count = record->component_count;
    v.fields = flatten_take(f, (v.field_count + 1) * sizeof *v.fields);
    if (!v.fields) return value_error();
    for (size_t k = 0; k < v.field_count; k++) {
        const whole_name *c = child_named(w, record->components[k].name);
        v.fields[k] = c ? value_of_child(f, c, place) : value_array_of(f, VALUE_REAL, 0);
        if (value_is_error(&v.fields[k])) return value_error();
    }
    return v;
}

/* The records of an array are of one class: that of the first one. */
static const ast_class *record_class(flattener *f, const whole_name *w)
{
    const ast_class *known = f->last_record;
    if (known && record_matches(known, w)) return known;
    const ast_class *record = declared_record(f, w);
    return f->last_record = record ? record : record_of_children(f, w);
}

static value whole_value(flattener *f, const whole_name *w, source_place place)
{
    if (!w->first) return value_error();
    if (w->first->label[0] == '[') return array_of_children(f, w, place);
    const ast_class *record = record_class(f, w);
    return record ? record_value(f, w, record, place) : value_error();
}

value value_of_whole(flattener *f, const symbol *s, source_place place)
{
    return whole_value(f, s->whole, place);
}

/* ---- what is done with all elements ---- */

static void mark_elements(const whole_name *w)
{
    if (w->element) w->element->assigned_in_when = true;
    for (const whole_name *c = w->first; c; c = c->next) mark_elements(c);
}

void mark_whole_in_when(const symbol *s)
{
    mark_elements(s->whole);
}

/* Names of elements for parts of the cells of a whole. */
static void name_elements(flattener *f, const whole_name *w, const value *cells)
{
    if (w->element) {
        local *l = push_local(f, w->element->declaration->name);
        if (!l) return;
        l->value = *cells;
        l->assignable = l->overlay = true;
        return;
    }
    size_t dims[VALUE_MAX_RANK] = {0};
    const bool array = w->first->label[0] == '[';
    int rank = array ? shape_of_children(w, dims) : 0;
    for (const whole_name *c = w->first; c; c = c->next) {
        value part;
        if (array) {
            part = value_slice(f, cells, rank, place_of(w, c, rank, dims));
        } else {
            size_t k = 0;
            while (
                !same_field(cells->class_->components[k].name, c->label + 1, strlen(c->label + 1)))
                k++;
            part = cells->fields[k];
        }
        name_elements(f, c, &part);
    }
}

void overlay_elements(flattener *f, const symbol *s, const value *cells)
{
    name_elements(f, s->whole, cells);
}
