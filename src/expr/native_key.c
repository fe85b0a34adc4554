/* What a tape computes, as a key: programs with equal keys share native code. */
#include "expr/native_parts.h"
#include "expr/tape_code.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* What the numbers of operations mean, in the words of the table: a library with another table has
 * other keys. So has one that writes another text for the same tape: the last word counts. */
#define DESCRIBE(name, ...) #name ":" #__VA_ARGS__ ";"
static const char operations[] =
    "COPY;" EXPR_OPERATIONS(DESCRIBE) TAPE_FUSED(DESCRIBE) "SINCOS;LOOP;text 2;";

static void add_array(hash *h, const void *items, size_t count, size_t size)
{
    if (count > 0) hash_add(h, items, count * size);
}

static void add_rolled(hash *h, const tape_rolled *r);

/* Everything in a tape that decides what it computes, bodies of loops included. */
static void add_tape(hash *h, const tape *t)
{
    const uint64_t sizes[] = {
        t->constants, t->parameters, t->memories,        t->kept,     t->timed,      t->variables,
        t->registers, t->group[0],   t->group[1],        t->group[2], t->group[3],   t->group[4],
        t->group[5],  t->outputs,    t->prologue_length, t->length,   t->loop_count, t->loop_cells};
    _Static_assert(TAPE_ORDERS + 2 == 6, "all groups are part of the key");
    hash_add(h, sizes, sizeof sizes);
    add_array(h, t->constant, t->constants, sizeof *t->constant);
    add_array(h, t->parameter, t->parameters, sizeof *t->parameter);
    add_array(h, t->memory, t->memories, sizeof *t->memory);
    add_array(h, t->variable, t->variables, sizeof *t->variable);
    add_array(h, t->prologue, t->prologue_length, sizeof *t->prologue);
    add_array(h, t->body, t->length, sizeof *t->body);
    for (size_t k = 0; k < t->loop_count; k++) {
        const tape_loop *l = &t->loops[k];
        const uint64_t cells[] = {l->cells, l->changing};
        hash_add(h, cells, sizeof cells);
        add_array(h, l->cell, l->changing, sizeof *l->cell);
        add_tape(h, l->body);
    }
    const uint64_t rolled = t->rolled != NULL;
    hash_add(h, &rolled, sizeof rolled);
    if (t->rolled) add_rolled(h, t->rolled);
}

static void add_place(hash *h, const roll_place *p)
{
    hash_add(h, &p->base, sizeof p->base);
    hash_add(h, p->step, sizeof p->step);
}

/* The families of a tape, and the tape of the rest. */
static void add_rolled(hash *h, const tape_rolled *r)
{
    add_tape(h, r->rest);
    add_array(h, r->output, r->outputs, sizeof *r->output);
    for (size_t k = 0; k < r->family_count; k++) {
        const roll_family *f = &r->families[k].of;
        const uint64_t sizes[] = {f->slots, (uint64_t)f->levels};
        hash_add(h, sizes, sizeof sizes);
        add_array(h, f->count, (size_t)f->levels, sizeof *f->count);
        add_place(h, &f->out);
        for (size_t s = 0; s < f->slots; s++) {
            const unsigned char kind[] = {f->slot[s].op, f->slot[s].order};
            hash_add(h, kind, sizeof kind);
            add_place(h, &f->slot[s].place);
        }
        add_tape(h, r->families[k].body);
    }
}

/* All keys begin with the table: it is hashed once. */
static hash table;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void hash_table(void)
{
    hash_start(&table);
    hash_add(&table, operations, sizeof operations);
}

void native_key_of(const tape *t, native_key *key)
{
    pthread_once(&once, hash_table);
    hash h = table;
    add_tape(&h, t);
    hash_finish(&h, key->byte);
}

void native_key_of_numbers(const char *kind, const native_numbers *numbers, size_t count,
                           native_key *key)
{
    hash h;
    hash_start(&h);
    hash_add(&h, kind, strlen(kind) + 1);
    for (size_t k = 0; k < count; k++) {
        const uint64_t length = numbers[k].count;
        hash_add(&h, &length, sizeof length);
        add_array(&h, numbers[k].list, numbers[k].count, sizeof *numbers[k].list);
    }
    hash_finish(&h, key->byte);
}

void native_key_name(const native_key *key, char name[NATIVE_NAME])
{
    name[0] = 'p';
    name[1] = '_';
    for (int i = 0; i < (NATIVE_NAME - 3) / 2; i++)
        snprintf(name + 2 + 2 * i, 3, "%02x", key->byte[i]);
}
