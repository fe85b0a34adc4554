/* Memory, tables and errors of the judge. An error ends an evaluation by a jump to who began it:
 * an interpreter that goes on with what is wrong says wrong things. */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "judge/judge_parts.h"

void judge_no_memory(machine *m)
{
    m->no_memory = true;
    longjmp(*m->escape, 1);
}

void judge_fail(machine *m, int line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(m->error_text, sizeof m->error_text, format, arguments);
    va_end(arguments);
    m->error = m->error_text;
    m->error_line = line;
    longjmp(*m->escape, 1);
}

double judge_undefined(machine *m, int line, const char *what)
{
    if (!m->trial) judge_fail(m, line, "%s", what);
    return NAN;
}

void *judge_take(judge *j, size_t count, size_t size)
{
    void *block =
        count > SIZE_MAX / 2 / size ? NULL : arena_alloc(j->memory, (count + !count) * size);
    if (!block) judge_no_memory(&j->machine);
    return block;
}

const char *judge_format(judge *j, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    char *text = JUDGE_TAKE(j, char, length + 1);
    va_start(arguments, format);
    vsnprintf(text, (size_t)length + 1, format, arguments);
    va_end(arguments);
    return text;
}

void judge_grow(judge *j, void *items, size_t *capacity, size_t least, size_t size)
{
    if (!dae_grow(items, capacity, least, size)) judge_no_memory(&j->machine);
}

/* Bytes on a stack, until it is put back to an earlier mark: no allocation once it is large. */
void *judge_stack_take(machine *m, stack *s, size_t bytes)
{
    bytes = (bytes + 15) & ~(size_t)15;
    while (true) {
        struct stack_chunk *c = &s->chunks[s->at.chunk];
        if (!c->memory) {
            size_t size = (size_t)1 << (16 + (s->at.chunk < 20 ? s->at.chunk : 20));
            if (size < bytes) size = bytes;
            c->memory = dae_alloc(size, 1);
            if (!c->memory) judge_no_memory(m);
            c->size = size;
        }
        if (c->size - s->at.used >= bytes) break;
        if (s->at.chunk + 1 == sizeof s->chunks / sizeof s->chunks[0]) judge_no_memory(m);
        s->at = (stack_mark){s->at.chunk + 1, 0};
    }
    void *block = s->chunks[s->at.chunk].memory + s->at.used;
    s->at.used += bytes;
    return block;
}

void judge_stack_free(stack *s)
{
    for (size_t k = 0; k < sizeof s->chunks / sizeof s->chunks[0]; k++)
        dae_free(s->chunks[k].memory);
}

/* ---- tables ---- */

static uint64_t hash_of(const char *text, const void *key, int a, int b)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325) ^ (uint64_t)(uintptr_t)key;
    for (const char *c = text; c && *c; c++) h = (h ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
    h = (h ^ (uint64_t)(unsigned)a) * UINT64_C(0x9e3779b97f4a7c15);
    h = (h ^ (uint64_t)(unsigned)b) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 29;
}

static table_entry *place_of(const table *t, const char *text, const void *key, int a, int b)
{
    size_t k = (size_t)hash_of(text, key, a, b) & (t->capacity - 1);
    for (;; k = (k + 1) & (t->capacity - 1)) {
        table_entry *e = &t->entries[k];
        if (!e->text || (e->key == key && e->a == a && e->b == b && strcmp(e->text, text) == 0))
            return e;
    }
}

table_entry *judge_table_find(const table *t, const char *text, const void *key, int a, int b)
{
    if (!t->capacity) return NULL;
    table_entry *e = place_of(t, text ? text : "", key, a, b);
    return e->text ? e : NULL;
}

static void enlarge_table(judge *j, table *t)
{
    table larger = {.capacity = t->capacity ? 2 * t->capacity : 64, .count = t->count};
    larger.entries = DAE_ARRAY(table_entry, larger.capacity);
    if (!larger.entries) judge_no_memory(&j->machine);
    for (size_t k = 0; k < t->capacity; k++) {
        const table_entry *e = &t->entries[k];
        if (e->text) *place_of(&larger, e->text, e->key, e->a, e->b) = *e;
    }
    dae_free(t->entries);
    *t = larger;
}

/* The entry; one that is there already is kept. The text is borrowed. */
table_entry *judge_table_put(judge *j, table *t, const char *text, const void *key, int a, int b,
                             void *item)
{
    if (2 * t->count >= t->capacity) enlarge_table(j, t);
    if (!text) text = "";
    table_entry *e = place_of(t, text, key, a, b);
    if (e->text) return e;
    *e = (table_entry){text, key, a, b, 0, item};
    t->count++;
    return e;
}

/* Say once that a construct cannot be judged. */
void judge_add_gap(judge *j, const char *construct, int line, int number, bool harmless)
{
    for (size_t k = 0; k < j->gap_count; k++)
        if (j->gaps[k].line == line && j->gaps[k].group == number &&
            strcmp(j->gaps[k].construct, construct) == 0)
            return;
    judge_grow(j, &j->gaps, &j->gap_capacity, j->gap_count + 1, sizeof *j->gaps);
    j->gaps[j->gap_count++] = (judge_gap){judge_format(j, "%s", construct), line, number, harmless};
}
