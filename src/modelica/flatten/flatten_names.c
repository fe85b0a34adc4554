/* Names: hash tables, what is declared where, and near misses. */
#include <string.h>

#include "base/memory.h"
#include "modelica/flatten/flatten_internal.h"
#include "modelica/library/library.h"
#include "modelica/syntax/parser.h"

/* FNV-1a */
static size_t name_hash(const char *name)
{
    uint64_t h = 1469598103934665603u;
    for (; *name; name++) h = (h ^ (unsigned char)*name) * 1099511628211u;
    return (size_t)(h ^ (h >> 32));
}

/* Slot of the name, or the free one where it belongs. */
static size_t name_slot(const name_map *map, const char *name)
{
    size_t k = name_hash(name) & (map->capacity - 1);
    while (map->keys[k] && strcmp(map->keys[k], name) != 0) k = (k + 1) & (map->capacity - 1);
    return k;
}

void *name_find(const name_map *map, const char *name)
{
    if (!map->capacity || !name) return NULL;
    size_t k = name_slot(map, name);
    return map->keys[k] ? map->values[k] : NULL;
}

static bool name_enlarge(flattener *f, name_map *map)
{
    name_map old = *map;
    size_t capacity = old.capacity ? 2 * old.capacity : 64;
    map->keys = dae_calloc(capacity, sizeof *map->keys);
    map->values = dae_calloc(capacity, sizeof *map->values);
    if (!map->keys || !map->values) {
        dae_free_all(map->keys, map->values);
        *map = old;
        f->failed = true;
        return false;
    }
    map->capacity = capacity;
    for (size_t k = 0; k < old.capacity; k++) {
        if (!old.keys[k]) continue;
        size_t slot = name_slot(map, old.keys[k]);
        map->keys[slot] = old.keys[k];
        map->values[slot] = old.values[k];
    }
    dae_free_all(old.keys, old.values);
    return true;
}

bool name_put(flattener *f, name_map *map, const char *name, void *entry)
{
    if (!name || f->failed) return true;
    if (2 * (map->count + 1) > map->capacity && !name_enlarge(f, map)) return true;
    size_t k = name_slot(map, name);
    if (map->keys[k]) return false;
    map->keys[k] = name;
    map->values[k] = entry;
    map->count++;
    return true;
}

void name_free(name_map *map)
{
    dae_free_all(map->keys, map->values);
    *map = (name_map){0};
}

const char *joined_name(flattener *f, const ast_part *parts, size_t count)
{
    if (count == 0) return "";
    const char *name = parts[0].name;
    for (size_t k = 1; k < count; k++) {
        name = flatten_text(f, "%s.%s", name ? name : "", parts[k].name ? parts[k].name : "");
        if (!name) return "";
    }
    return name ? name : "";
}

/* ---- registration ---- */

static void declared_twice(flattener *f, const char *name, source_place place, source_place first)
{
    report_error(f, place, "'%s' is declared twice", name);
    report_note(f, first, "first declared here");
}

static symbol *global_symbol(flattener *f, const ast_component *c)
{
    symbol *s = flatten_take(f, sizeof *s);
    if (!s) return NULL;
    s->declaration = c;
    s->constant = true;
    s->first_variable = -1;
    return s;
}

/* Enter a name and all its shorter forms: P.Q.f is also Q.f and f, if those are free. */
static void put_all_suffixes(flattener *f, name_map *map, const char *path, void *entry)
{
    bool quoted = false;
    name_put(f, map, path, entry);
    for (const char *c = path; *c; c++) {
        if (*c == '\'' && (c == path || c[-1] != '\\')) quoted = !quoted;
        if (*c == '.' && !quoted) name_put(f, map, c + 1, entry);
    }
}

static void register_class(flattener *f, const ast_class *c, const char *prefix, int depth);

static void register_members(flattener *f, const ast_class *c, const char *path, int depth)
{
    for (size_t k = 0; k < c->class_count; k++)
        if (c->classes[k]) register_class(f, c->classes[k], path, depth + 1);
    if (c->kind != CLASS_PACKAGE) return;
    for (size_t k = 0; k < c->component_count; k++) {
        symbol *s = name_find(&f->globals, c->components[k].name);
        if (!s || s->declaration->place.line != c->components[k].place.line)
            s = global_symbol(f, &c->components[k]);
        const char *name = flatten_text(f, "%s.%s", path, c->components[k].name);
        if (s && name && c->components[k].name) put_all_suffixes(f, &f->globals, name, s);
    }
}

static void register_class(flattener *f, const ast_class *c, const char *prefix, int depth)
{
    if (!c->name || depth > FLATTEN_MAX_CALLS) return;
    const char *path = prefix ? flatten_text(f, "%s.%s", prefix, c->name) : c->name;
    if (!path) return;
    const ast_class *known = name_find(&f->classes, path);
    if (known && known != c) {
        declared_twice(f, c->name, c->place, known->place);
    }
    put_all_suffixes(f, &f->classes, path, (void *)(uintptr_t)c);
    register_members(f, c, path, depth);
}

static void register_constants(flattener *f)
{
    for (size_t k = 0; k < f->file->constant_count; k++) {
        const ast_component *c = &f->file->constants[k];
        symbol *s = global_symbol(f, c);
        if (!s || !c->name || name_put(f, &f->globals, c->name, s)) continue;
        const symbol *known = name_find(&f->globals, c->name);
        declared_twice(f, c->name, c->place, known->declaration->place);
    }
}

static void register_components(flattener *f, const ast_class *model)
{
    f->model_symbols = flatten_take(f, model->component_count * sizeof *f->model_symbols);
    if (!f->model_symbols) return;
    f->model_symbol_count = model->component_count;
    for (size_t k = 0; k < model->component_count; k++) {
        const ast_component *c = &model->components[k];
        symbol *s = &f->model_symbols[k];
        s->declaration = c;
        s->first_variable = -1;
        s->constant = c->variability == VAR_CONSTANT;
        s->parameter = c->variability == VAR_PARAMETER;
        if (!c->name || name_put(f, &f->symbols, c->name, s)) continue;
        const symbol *known = name_find(&f->symbols, c->name);
        declared_twice(f, c->name, c->place, known->declaration->place);
        s->state = SYMBOL_BROKEN;
    }
}

void register_names(flattener *f)
{
    register_constants(f);
    for (size_t k = 0; k < f->file->class_count; k++)
        if (f->file->classes[k]) register_class(f, f->file->classes[k], NULL, 0);
    const ast_class *model = f->file->model;
    if (!model) return;
    for (size_t k = 0; k < model->class_count; k++)
        if (model->classes[k] && !name_find(&f->classes, model->classes[k]->name))
            register_class(f, model->classes[k], NULL, 0);
    register_components(f, model);
}

/* ---- functions of the library ---- */

/* Whether the model mentions what tells an entry '*.f' from functions of that name in other
 * packages. */
static bool is_told_apart(flattener *f, const char *text, const char *name)
{
    size_t beside = 0, own = strcspn(strchr(text, '*') ? strchr(text, '*') + 1 : text, "'");
    const char *suffix = library_beside(text, &beside);
    if (!suffix) return true;
    const char *mention =
        flatten_text(f, "%.*s%.*s'", (int)(strlen(name) - 1 - own), name, (int)beside, suffix);
    return mention && message_source_has(f->messages, mention);
}

const ast_class *library_class(flattener *f, const char *name)
{
    size_t length = 0;
    const char *text = f->failed ? NULL : library_find(name, &length);
    if (!text || !is_told_apart(f, text, name)) return NULL;
    arena *active = f->scope.active;
    f->scope.active = f->permanent;
    const char *copy = flatten_text(f, "%.*s", (int)length, text);
    const char *key = flatten_text(f, "%s", name);
    f->scope.active = active;
    message_list *own = copy ? message_list_new("library", copy, length, 0) : NULL;
    ast_class *c = own && key ? parse_class_text(f->permanent, copy, own) : NULL;
    message_list_free(own);
    if (!c) {
        f->failed = true;
        return NULL;
    }
    c->name = key;
    name_put(f, &f->classes, key, c);
    return c;
}

/* ---- lookup ---- */

/* The one enumeration that every model has [MLS 4.9.7.1]; flat_state_select has its order. */
static const char *state_select_literals[] = {"never", "avoid", "default", "prefer", "always"};
static const ast_class state_select = {.kind = CLASS_TYPE,
                                       .name = "StateSelect",
                                       .literals = state_select_literals,
                                       .literal_count = 5};

const ast_class *find_class(flattener *f, const char *name)
{
    const ast_class *c = name_find(&f->classes, name);
    return c || !name || strcmp(name, state_select.name) != 0 ? c : &state_select;
}

local *find_local(flattener *f, const char *name)
{
    if (!name) return NULL;
    for (size_t k = f->local_count; k > f->scope.local_base; k--)
        if (strcmp(f->locals[k - 1].name, name) == 0 &&
            !(f->scope.skip_overlay && f->locals[k - 1].overlay))
            return &f->locals[k - 1];
    return NULL;
}

local *push_local(flattener *f, const char *name)
{
    if (!flatten_grow(f, &f->locals, &f->local_capacity, f->local_count + 1, sizeof *f->locals))
        return NULL;
    f->locals[f->local_count] =
        (local){.name = name ? name : "", .journal_depth = f->journal_depth};
    return &f->locals[f->local_count++];
}

static size_t collect_keys(const name_map *map, const char **out, size_t count)
{
    for (size_t k = 0; k < map->capacity; k++)
        if (map->keys[k]) out[count++] = map->keys[k];
    return count;
}

const char *did_you_mean(flattener *f, const char *near)
{
    const char *text = near ? flatten_text(f, "; did you mean '%s'?", near) : NULL;
    return text ? text : "";
}

const char *nearest_symbol(flattener *f, const char *name)
{
    size_t most = f->local_count - f->scope.local_base + f->symbols.count + f->globals.count + 1;
    const char **names = dae_calloc(most, sizeof *names);
    if (!names) return NULL;
    size_t count = 0;
    for (size_t k = f->scope.local_base; k < f->local_count; k++)
        names[count++] = f->locals[k].name;
    if (!f->scope.in_function) count = collect_keys(&f->symbols, names, count);
    count = collect_keys(&f->globals, names, count);
    names[count++] = "time";
    const char *best = nearest_name(name, names, count);
    dae_free(names);
    return best;
}

const char *nearest_class(flattener *f, const char *name, ast_class_kind kind)
{
    const char **names = dae_calloc(f->classes.count + 5, sizeof *names);
    if (!names) return NULL;
    size_t count = 0;
    for (size_t k = 0; k < f->classes.capacity; k++) {
        const ast_class *c = f->classes.keys[k] ? f->classes.values[k] : NULL;
        bool type = c && (c->kind == CLASS_TYPE || c->kind == CLASS_RECORD);
        if (c && (kind == CLASS_TYPE ? type : c->kind == kind || c->kind == CLASS_RECORD))
            names[count++] = f->classes.keys[k];
    }
    static const char *const basic[] = {"Real", "Integer", "Boolean", "String"};
    for (size_t k = 0; kind == CLASS_TYPE && k < 4; k++) names[count++] = basic[k];
    const char *best = nearest_name(name, names, count);
    dae_free(names);
    return best;
}

const ast_expr *call_argument(const ast_expr *e, size_t k, const char *name)
{
    if (k < e->arg_count) return e->args[k];
    for (size_t i = 0; name && i < e->named_count; i++)
        if (e->named[i].name && strcmp(e->named[i].name, name) == 0) return e->named[i].value;
    return NULL;
}
