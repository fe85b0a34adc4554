#include "solve/prepare/start_memory.h"

#include <string.h>

#include "base/memory.h"
#include "solve/prepare/plan_store.h"

/* Solvers of a problem seldom alternate between more starts; a start leaves up to six facts. */
enum { FACTS = 24 };
/* Keys and results of all facts, and of one: what is larger is not worth its memory. */
enum { MOST_TOGETHER = 1 << 21, MOST_BYTES = 1 << 20 };

typedef struct known_fact {
    start_fact what;
    size_t key_bytes, result_bytes;
    char *bytes; /* the key, then the result; owned, NULL: the place is free */
} known_fact;

struct start_memory {
    known_fact fact[FACTS];
    int next;     /* the place that is given away next, the oldest one */
    size_t bytes; /* of all */
};

void start_memory_free(struct start_memory *m)
{
    for (int k = 0; m && k < FACTS; k++) dae_free(m->fact[k].bytes);
    dae_free(m);
}

void fact_key_add(fact_key *key, const void *from, size_t bytes)
{
    if (bytes == 0) return;
    key->part[key->count].from = from;
    key->part[key->count++].bytes = bytes;
}

static size_t size_of(const fact_key *key)
{
    size_t bytes = 0;
    for (int k = 0; k < key->count; k++) bytes += key->part[k].bytes;
    return bytes;
}

static bool is_same(const known_fact *f, const fact_key *key)
{
    const char *at = f->bytes;
    for (int k = 0; k < key->count; at += key->part[k++].bytes)
        if (memcmp(at, key->part[k].from, key->part[k].bytes) != 0) return false;
    return true;
}

static known_fact *find(struct start_memory *m, start_fact what, const fact_key *key,
                        size_t result_bytes)
{
    size_t bytes = size_of(key);
    for (int k = 0; m && k < FACTS; k++) {
        known_fact *f = &m->fact[k];
        bool fits = f->bytes && f->what == what && f->key_bytes == bytes;
        if (fits && f->result_bytes == result_bytes && is_same(f, key)) return f;
    }
    return NULL;
}

static bool recall(struct start_memory *m, start_fact what, const fact_key *key, void *result,
                   size_t bytes)
{
    const known_fact *f = find(m, what, key, bytes);
    if (f && bytes > 0) memcpy(result, f->bytes + f->key_bytes, bytes);
    return f;
}

bool plan_recalls(const plan *p, start_fact what, const fact_key *key, void *result, size_t bytes)
{
    if (!p->kept) return false;
    graph *g = kept_plan_enter(p->kept);
    bool known = recall(*kept_plan_starts(p->kept), what, key, result, bytes);
    graph_leave(g);
    return known;
}

bool problem_recalls(const dae_problem *problem, start_fact what, const fact_key *key, void *result,
                     size_t bytes)
{
    graph *g = problem->model->flat->graph;
    graph_enter(g);
    struct start_memory **m = plan_store_starts(problem->model);
    bool known = m && recall(*m, what, key, result, bytes);
    graph_leave(g);
    return known;
}

static char *copy_bytes(const fact_key *key, size_t key_bytes, const void *result, size_t bytes)
{
    char *copy = dae_calloc(key_bytes + bytes, 1), *to = copy;
    for (int k = 0; copy && k < key->count; to += key->part[k++].bytes)
        memcpy(to, key->part[k].from, key->part[k].bytes);
    if (copy && bytes > 0) memcpy(to, result, bytes);
    return copy;
}

/* The place for the next fact, of so many bytes, is free, and there is room for it. */
static void forget_oldest(struct start_memory *m, size_t bytes)
{
    m->bytes += bytes;
    for (int k = 0; k == 0 || (k < FACTS && m->bytes > MOST_TOGETHER); k++) {
        known_fact *f = &m->fact[(m->next + k) % FACTS];
        m->bytes -= f->key_bytes + f->result_bytes;
        dae_free(f->bytes);
        *f = (known_fact){0};
    }
}

static void remember(struct start_memory **m, start_fact what, const fact_key *key,
                     const void *result, size_t bytes)
{
    size_t key_bytes = size_of(key);
    if (key_bytes + bytes > MOST_BYTES) return;
    if (!*m) *m = DAE_NEW(struct start_memory);
    char *copy = *m ? copy_bytes(key, key_bytes, result, bytes) : NULL;
    if (!copy) return;
    forget_oldest(*m, key_bytes + bytes);
    (*m)->fact[(*m)->next] = (known_fact){what, key_bytes, bytes, copy};
    (*m)->next = ((*m)->next + 1) % FACTS;
}

void plan_remembers(const plan *p, start_fact what, const fact_key *key, const void *result,
                    size_t bytes)
{
    if (!p->kept) return;
    graph *g = kept_plan_enter(p->kept);
    remember(kept_plan_starts(p->kept), what, key, result, bytes);
    graph_leave(g);
}

void problem_remembers(const dae_problem *problem, start_fact what, const fact_key *key,
                       const void *result, size_t bytes)
{
    graph *g = problem->model->flat->graph;
    graph_enter(g);
    struct start_memory **m = plan_store_starts(problem->model);
    if (m) remember(m, what, key, result, bytes);
    graph_leave(g);
}
