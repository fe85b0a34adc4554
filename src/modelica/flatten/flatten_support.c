/* Memory, growing arrays, and questions about nodes of the graph. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "expr/loop.h"
#include "modelica/flatten/flatten_internal.h"

enum { MESSAGE_MOST = 2000 };

source_place place_in_file(const flattener *f, source_place place)
{
    return place.line == 0 ? f->library_call : place;
}

bool report(flattener *f, message_kind kind, source_place place, const char *format, ...)
{
    char text[MESSAGE_MOST];
    va_list list;
    if (graph_failed(f->g)) f->failed = true;
    if (f->failed) return false;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    message_add(f->messages, kind, place_in_file(f, place), "%s", text);
    return false;
}

/* Append " (i = 3, j = 4)", the counters of the loops around; nothing if there are none. */
static void append_counters(const flattener *f, char *text, size_t size)
{
    size_t at = strlen(text), begin = at;
    double x;
    for (size_t k = 0; k < f->local_count && at < size; k++) {
        const value *v = &f->locals[k].value;
        if (f->locals[k].assignable || v->type != VALUE_INTEGER || v->rank || v->e) continue;
        if (!graph_is_constant(f->g, v->scalar, &x)) continue;
        at += (size_t)snprintf(text + at, size - at, "%s%s = %.0f", at > begin ? ", " : " (",
                               f->locals[k].name, x);
    }
    if (at > begin && at < size) snprintf(text + at, size - at, ")");
}

bool report_pass(flattener *f, source_place place, const char *format, ...)
{
    char text[MESSAGE_MOST];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    append_counters(f, text, sizeof text);
    return report_error(f, place, "%s", text);
}

/* Count bytes of one kind; beyond the limit there is no more memory. */
static bool within_limit(flattener *f, size_t *used, size_t bytes)
{
    if (f->failed) return false;
    f->full = bytes > f->limits.bytes - *used;
    if (f->full)
        f->failed = true;
    else
        *used += bytes;
    return !f->full;
}

/* Values of one call of a function are kept until it is done, and its texts longer. */
static bool values_within_limit(flattener *f, size_t bytes)
{
    if (f->call_depth == 0 || f->failed) return true;
    size_t used = f->scratch_bytes + f->permanent_bytes - f->call_bytes;
    if (used + bytes <= f->limits.call_bytes) return true;
    report_error(f, f->at,
                 "a call of %s takes more than %zu MiB for its values, and all of them are found "
                 "before the run: does its recursion or loop end, and in few steps?",
                 f->scope.function ? f->scope.function->name : "a function",
                 f->limits.call_bytes >> 20);
    f->stop = f->failed = true;
    return false;
}

void *flatten_take(flattener *f, size_t bytes)
{
    size_t *used = f->scope.active == f->scratch ? &f->scratch_bytes : &f->permanent_bytes;
    if (!values_within_limit(f, bytes)) return NULL;
    void *block =
        within_limit(f, used, bytes) ? arena_alloc(f->scope.active, bytes ? bytes : 1) : NULL;
    if (!block) f->failed = true;
    return block;
}

char *flatten_text(flattener *f, const char *format, ...)
{
    va_list list, again;
    va_start(list, format);
    va_copy(again, list);
    int length = vsnprintf(NULL, 0, format, list);
    va_end(list);
    char *text = length < 0 ? NULL : flatten_take(f, (size_t)length + 1);
    if (text) vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}

void *model_take(flattener *f, size_t bytes)
{
    void *block = arena_alloc(f->m->texts, bytes);
    if (!block) f->failed = true;
    return block;
}

const char *path_beside_model(flattener *f, const char *name)
{
    const char *slash = f->file_name ? strrchr(f->file_name, '/') : NULL;
    if (name[0] == '/' || !slash) return name;
    return flatten_text(f, "%.*s%s", (int)(slash + 1 - f->file_name), f->file_name, name);
}

char *model_text(flattener *f, const char *text)
{
    if (!text) return NULL;
    size_t length = strlen(text);
    bool fits = within_limit(f, &f->text_bytes, length + 1);
    char *copy = fits ? arena_text(f->m->texts, text, length) : NULL;
    if (!copy) f->failed = true;
    return copy;
}

/* *items is enlarged to hold at least `needed`; false and failed if memory runs out. */
bool flatten_grow(flattener *f, void *items, size_t *capacity, size_t needed, size_t item_size)
{
    if (needed <= *capacity) return true;
    if (f->failed || !dae_grow(items, capacity, needed, item_size)) f->failed = true;
    return !f->failed;
}

void *flatten_push(flattener *f, void *items, size_t *count, size_t *capacity, size_t item_size)
{
    if (f->failed || !flatten_grow(f, items, capacity, *count + 1, item_size)) return NULL;
    char *first;
    memcpy(&first, items, sizeof first);
    return memset(first + (*count)++ * item_size, 0, item_size);
}

/* A call that is evaluated for ever, or nearly: two recursive calls in a function suffice. */
static bool call_within_limit(flattener *f)
{
    if (f->call_depth == 0 || f->passes - f->call_start <= f->limits.call_passes) return true;
    report_error(f, f->at,
                 "a call of %s takes more than %d operations to evaluate, and all of them are done "
                 "before the run: does its recursion or loop end, and in few steps?",
                 f->scope.function ? f->scope.function->name : "a function", f->limits.call_passes);
    f->stop = true;
    return false;
}

bool flatten_pass(flattener *f, source_place place)
{
    if (f->failed || f->stop) return false;
    if (graph_failed(f->g)) {
        f->failed = true;
        return false;
    }
    f->at = place;
    f->passes += 1.0;
    if (!call_within_limit(f)) return false;
    if (f->passes <= f->limits.passes) return true;
    f->stop = true;
    return report_error(f, place,
                        "more than %d passes through loops and functions: does this loop end?",
                        f->limits.passes);
}

bool flatten_work(flattener *f, double elements)
{
    if (f->failed || f->stop) return false;
    f->passes += elements / 16.0;
    if (!call_within_limit(f)) return false;
    if (f->passes <= f->limits.passes) return true;
    f->stop = true;
    return report_error(f, f->at,
                        "the arrays of the model take more than %.0f operations to unroll here",
                        16.0 * f->limits.passes);
}

/* ---- growing results ---- */

int new_memory(flattener *f)
{
    size_t slot = (size_t)f->m->memory_count;
    if (!flatten_grow(f, &f->slot_variable, &f->slot_capacity, slot + 1, sizeof(int))) return 0;
    if (!flatten_grow(f, &f->slot_pre, &f->slot_pre_capacity, slot + 1, sizeof(int))) return 0;
    f->slot_variable[slot] = -1;
    f->slot_pre[slot] = -1;
    return f->m->memory_count++;
}

void push_pair(flattener *f, pair_list *list, equation_pair p)
{
    if (!p.pass) p.pass = f->pass;
    if (flatten_grow(f, &list->items, &list->capacity, list->count + 1, sizeof p))
        list->items[list->count++] = p;
}

void push_action(flattener *f, action_list *list, flat_action a)
{
    if (flatten_grow(f, &list->items, &list->capacity, list->count + 1, sizeof a))
        list->items[list->count++] = a;
}

/* ---- variables of the model ---- */

flat_type flat_type_of(value_type type)
{
    static const flat_type map[] = {FLAT_REAL,    FLAT_REAL,   FLAT_INTEGER,
                                    FLAT_BOOLEAN, FLAT_STRING, FLAT_ENUMERATION};
    return map[type];
}

bool variable_room(flattener *f, size_t count)
{
    flat_model *m = f->m;
    return flatten_grow(f, &m->variables, &f->variable_capacity, m->variable_count + count,
                        sizeof *m->variables);
}

flat_variable *new_variable(flattener *f)
{
    flat_model *m = f->m;
    if (!variable_room(f, 1)) return NULL;
    flat_variable *v = &m->variables[m->variable_count++];
    *v = (flat_variable){
        .words = &flat_no_words, .memory = -1, .memory_pre = -1, .state_select = SELECT_DEFAULT};
    return v;
}

/* Memory slots of a discrete variable: now and before the event. */
void give_slots(flattener *f, flat_variable *v)
{
    int index = (int)(v - f->m->variables);
    v->discrete = true;
    v->memory = new_memory(f);
    v->memory_pre = new_memory(f);
    if (f->failed) return;
    f->slot_variable[v->memory] = index;
    f->slot_pre[v->memory_pre] = index;
}

int hidden_discrete(flattener *f, const char *name, value_type type, source_place place)
{
    char *text = model_text(f, name);
    flat_variable *v = new_variable(f);
    if (!v || !text) return -1;
    v->name = text;
    v->type = flat_type_of(type);
    v->protected_ = true;
    v->place = place;
    give_slots(f, v);
    return (int)(v - f->m->variables);
}
