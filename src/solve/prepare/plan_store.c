#include "solve/prepare/plan_store.h"

#include <string.h>

#include "base/memory.h"
#include "solve/prepare/choose.h"

/* Plans beyond these go, those first that were not asked for the longest; and beyond FEW where
 * their forms have more than MOST_UNKNOWNS together: what large models need is kept for a few
 * starts. */
enum { MOST = 64, FEW = 4, MOST_UNKNOWNS = 20000 };

/* What decides about a plan beside the numbers at its point. */
typedef struct plan_key {
    const formulation *formulation;
    const method *method;
    const char *reason;      /* static */
    double parameter;        /* of the formulation */
    const method *choice[2]; /* what `auto` begins with, and its method for residual forms */
    dae_projection projection;
    bool open, loose, implicit, levels, unfolded;
    unsigned failed;
    int release; /* equations among which some are left out; 0: none are */
} plan_key;

struct kept_plan {
    plan plan; /* owned, with all that it has */
    plan_key key;
    double *numbers;             /* t, y, y', parameters and memory; owned */
    bool *release;               /* equations left out; owned, NULL: none */
    int users;                   /* the store is one */
    int mechanism;               /* it holds where the plan was made: 1, 0; -1: not looked at yet */
    graph *graph;                /* whose lock guards this */
    struct start_memory *starts; /* owned */
    struct kept_plan *next;
};

struct plan_store {
    kept_plan *first;            /* the latest used one */
    struct start_memory *starts; /* of the problem; owned */
};

/* ---- keys ---- */

static plan_key key_of(const dae_problem *problem, const mode_point *mode, const wishes *w)
{
    plan_key key = {0};
    char why[CHOICE_TEXT];
    key.formulation = w->formulation;
    key.method = w->method;
    key.reason = w->reason;
    key.parameter = w->options->formulation_parameter;
    if (w->open) key.choice[0] = choose_first(problem, w, why);
    if (w->open) key.choice[1] = choose_residual(problem, w, why);
    key.projection = w->options->projection;
    key.open = w->open;
    key.loose = w->open && choice_is_loose(w->options);
    key.implicit = w->implicit;
    key.failed = w->failed;
    key.levels = mode->levels;
    key.unfolded = w->unfolded;
    key.release = mode->release ? mode->release_count : 0;
    return key;
}

static bool same_key(const plan_key *a, const plan_key *b)
{
    return a->formulation == b->formulation && a->method == b->method &&
           strcmp(a->reason, b->reason) == 0 && a->parameter == b->parameter &&
           a->choice[0] == b->choice[0] && a->choice[1] == b->choice[1] &&
           a->projection == b->projection && a->open == b->open && a->loose == b->loose &&
           a->implicit == b->implicit && a->failed == b->failed && a->levels == b->levels &&
           a->unfolded == b->unfolded && a->release == b->release;
}

/* The numbers of a point, in parts */
typedef struct number_part {
    const double *from;
    size_t count;
} number_part;

enum { PARTS = 5 };

static size_t parts_of(const model_form *base, const model_point *at, number_part part[PARTS])
{
    size_t n = (size_t)base->n, total = 0;
    part[0] = (number_part){&at->t, 1};
    part[1] = (number_part){at->y, n};
    part[2] = (number_part){at->yp, n};
    part[3] = (number_part){at->parameters, base->flat->parameter_count};
    part[4] = (number_part){at->memory, (size_t)base->flat->memory_count};
    for (int k = 0; k < PARTS; k++) total += part[k].count;
    return total;
}

/* Whether the numbers are those of the point, bit by bit */
static bool same_numbers(const model_form *base, const model_point *at, const double *numbers)
{
    number_part part[PARTS];
    parts_of(base, at, part);
    for (int k = 0; k < PARTS; k++) {
        size_t bytes = part[k].count * sizeof *numbers;
        if (bytes > 0 && memcmp(numbers, part[k].from, bytes) != 0) return false;
        numbers += part[k].count;
    }
    return true;
}

static double *copy_numbers(const model_form *base, const model_point *at)
{
    number_part part[PARTS];
    double *numbers = DAE_ARRAY(double, parts_of(base, at, part)), *to = numbers;
    for (int k = 0; numbers && k < PARTS; k++) {
        if (part[k].count > 0) memcpy(to, part[k].from, part[k].count * sizeof *to);
        to += part[k].count;
    }
    return numbers;
}

static bool same_release(const kept_plan *kept, const mode_point *mode)
{
    size_t bytes = (size_t)mode->release_count * sizeof *kept->release;
    return !mode->release || memcmp(kept->release, mode->release, bytes) == 0;
}

/* ---- users ---- */

static void discard(kept_plan *kept)
{
    if (--kept->users > 0) return;
    solve_plan_free(&kept->plan);
    start_memory_free(kept->starts);
    dae_free_all(kept->numbers, kept->release, kept);
}

void kept_plan_release(kept_plan *kept)
{
    graph *g = kept->graph;
    graph_enter(g);
    discard(kept);
    graph_leave(g);
}

graph *kept_plan_enter(kept_plan *kept)
{
    graph_enter(kept->graph);
    return kept->graph;
}

const double *kept_plan_numbers(const kept_plan *kept)
{
    return kept->numbers;
}

struct start_memory **kept_plan_starts(kept_plan *kept)
{
    return &kept->starts;
}

/* The share of a user: the form is borrowed, watches are its own. False: memory */
static bool share(kept_plan *kept, plan *result)
{
    *result = kept->plan;
    result->kept = kept;
    result->rewrites = (rewrite_list){0};
    result->basis = NULL;
    result->watch = NULL;
    result->released = NULL;
    kept->users++;
    bool ok = rank_watch_copy(kept->plan.watch, &result->watch) &&
              released_watch_copy(kept->plan.released, &result->released);
    if (!ok) solve_plan_free(result);
    return ok;
}

/* ---- the list ---- */

static void free_store(struct plan_store *store)
{
    while (store->first) {
        kept_plan *next = store->first->next;
        discard(store->first);
        store->first = next;
    }
    start_memory_free(store->starts);
    dae_free(store);
}

/* The store of a model, made if need be; NULL: memory */
static struct plan_store *store_of(model_form *base)
{
    if (!base->plans) {
        base->plans = DAE_NEW(struct plan_store);
        base->plans_free = free_store;
    }
    return base->plans;
}

struct start_memory **plan_store_starts(model_form *base)
{
    struct plan_store *store = store_of(base);
    return store ? &store->starts : NULL;
}

static void drop_oldest(struct plan_store *store)
{
    int count = 0;
    long unknowns = 0;
    for (kept_plan **at = &store->first; *at;) {
        kept_plan *kept = *at;
        unknowns += kept->plan.form ? kept->plan.form->n : 0;
        if (++count <= FEW || (count <= MOST && unknowns <= MOST_UNKNOWNS)) {
            at = &kept->next;
            continue;
        }
        *at = kept->next;
        discard(kept);
    }
}

static void put_first(struct plan_store *store, kept_plan *kept)
{
    kept->next = store->first;
    store->first = kept;
}

/* ---- plans at other points ---- */

static bool same_mode(const model_form *base, const mode_slots *slots, const kept_plan *kept,
                      const double *memory)
{
    const double *then = kept->numbers + 1 + 2 * base->n + base->flat->parameter_count;
    if (kept->plan.rewrites.count > 0) /* identities were found with these values */
        return memcmp(then, memory, (size_t)base->flat->memory_count * sizeof *then) == 0;
    for (int k = 0; k < slots->count; k++)
        if (then[slots->slot[k]] != memory[slots->slot[k]]) return false;
    return true;
}

/* Whether the mechanism of the plan is the same at a point: 1, 0, -1: memory */
static int mechanism_holds(const analysed *a, const model_point *at)
{
    enum { ORDERS = 2 };
    double **x = analysed_values(&a->set, at, ORDERS);
    if (!x) return -1;
    equation_point point = {at->t, (const double *const *)x, ORDERS, at->parameters, at->memory};
    int holds = mechanical_holds(&a->set, a->mechanism, &point);
    dae_free(x);
    return holds;
}

/* Whether the same parameters are zero as where the plan was made: equations that are no mechanism
 * may become one where a term vanishes (mechanical_without_zeros). */
static bool same_zeros(const model_form *base, const kept_plan *kept, const double *parameters)
{
    const double *then = kept->numbers + 1 + 2 * base->n;
    for (size_t k = 0; k < base->flat->parameter_count; k++)
        if ((then[k] == 0.0) != (parameters[k] == 0.0)) return false;
    return true;
}

/* Whether all that the plan was decided on is the same at the point: 1, 0, -1: memory */
static int plan_holds(const model_form *base, kept_plan *kept, const mode_point *mode)
{
    const plan *p = &kept->plan;
    if (!p->portable || !same_mode(base, mode->slots, kept, mode->at.memory)) return 0;
    const analysed *a = p->form ? p->form->analysed : p->basis;
    bool mechanism = a->mechanism && a->mechanism->q;
    if (mechanism && kept->mechanism < 0) {
        const double *y = kept->numbers + 1, *parameters = y + 2 * base->n;
        model_point then = {kept->numbers[0], y, y + base->n, parameters,
                            parameters + base->flat->parameter_count};
        int held = mechanism_holds(a, &then);
        if (held < 0) return -1;
        kept->mechanism = held;
    }
    if (mechanism && !kept->mechanism) return 0;
    if (!mechanism && !same_zeros(base, kept, mode->at.parameters)) return 0;
    int holds = model_analysis_holds(base, a, &mode->at);
    return holds == 1 && mechanism ? mechanism_holds(a, &mode->at) : holds;
}

/* The plan of another point that holds at this one, among the latest used; NULL: none, or, *ok
 * false, memory */
static kept_plan **find_other(const dae_problem *problem, const mode_point *mode,
                              const plan_key *key, bool *ok)
{
    enum { LOOKED_AT = 3 };
    struct plan_store *store = problem->model->plans;
    int looked = 0;
    for (kept_plan **at = &store->first; *at && looked < LOOKED_AT; at = &(*at)->next) {
        if (!same_key(&(*at)->key, key) || key->release) continue;
        int holds = plan_holds(problem->model, *at, mode);
        looked += (*at)->plan.portable;
        *ok = holds >= 0;
        if (holds == 1) return at;
        if (!*ok) break;
    }
    return NULL;
}

/* The plan of the very same point; NULL: none */
static kept_plan **find_same(const dae_problem *problem, const mode_point *mode,
                             const plan_key *key)
{
    struct plan_store *store = problem->model->plans;
    for (kept_plan **at = &store->first; *at; at = &(*at)->next)
        if (same_key(&(*at)->key, key) && same_numbers(problem->model, &mode->at, (*at)->numbers) &&
            same_release(*at, mode))
            return at;
    return NULL;
}

bool plan_store_find(const dae_problem *problem, const mode_point *mode, const wishes *w,
                     plan *result, bool *ok)
{
    struct plan_store *store = problem->model->plans;
    const plan_key key = key_of(problem, mode, w);
    *ok = true;
    if (!store) return false;
    kept_plan **at = find_same(problem, mode, &key);
    if (!at && !mode->exact) at = find_other(problem, mode, &key, ok);
    if (!at) return !*ok;
    kept_plan *kept = *at;
    *at = kept->next;
    put_first(store, kept);
    *ok = share(kept, result);
    return true;
}

static kept_plan *entry_new(const dae_problem *problem, const mode_point *mode, const wishes *w)
{
    const model_form *base = problem->model;
    kept_plan *kept = DAE_NEW(kept_plan);
    if (!kept) return NULL;
    kept->users = 1;
    kept->mechanism = -1;
    kept->graph = base->flat->graph;
    kept->key = key_of(problem, mode, w);
    kept->numbers = copy_numbers(base, &mode->at);
    if (mode->release)
        kept->release = dae_copy(mode->release, (size_t)mode->release_count, sizeof *kept->release);
    if (kept->numbers && (kept->release || !mode->release)) return kept;
    discard(kept);
    return NULL;
}

bool plan_store_add(const dae_problem *problem, const mode_point *mode, const wishes *w, plan *made)
{
    model_form *base = problem->model;
    kept_plan *kept = store_of(base) ? entry_new(problem, mode, w) : NULL;
    plan mine;
    if (!kept) return false;
    kept->plan = *made;
    bool ok = share(kept, &mine);
    if (ok) {
        *made = mine;
        put_first(base->plans, kept);
        drop_oldest(base->plans);
    } else {
        kept->plan = (plan){0};
        discard(kept);
    }
    return ok;
}
