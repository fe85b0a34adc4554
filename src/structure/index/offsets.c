#include "structure/index/components.h"

#include "base/memory.h"

#include <limits.h>

/* The smallest offsets are the least fix-point of d_j >= sigma_ij + c_i, c_i = d_j - sigma_ij on
 * the transversal [Pryce01]. */
typedef struct fixpoint {
    row_graph g;
    int *own;     /* per row: sigma on the transversal */
    int *queue;   /* rows whose c has grown; circular */
    bool *queued; /* per row */
    int head, length;
    const int *part; /* per row: its component */
    int *c, *d;
    int bound; /* no smallest offset is larger: n times the highest order */
} fixpoint;

static void push(fixpoint *f, int i)
{
    int m = f->g.s->m;
    if (f->queued[i]) return;
    f->queued[i] = true;
    f->queue[(f->head + f->length++) % m] = i;
}

static int take(fixpoint *f)
{
    int i = f->queue[f->head];
    f->head = (f->head + 1) % f->g.s->m;
    f->length--;
    f->queued[i] = false;
    return i;
}

/* d_j >= sigma_ij + c_i for the entries of row i, and the c of rows whose d has grown. False: c
 * grows beyond all bounds, so that the transversal was not one of highest value. */
static bool pass_on(fixpoint *f, int i)
{
    const signature *s = f->g.s;
    for (int k = s->start[i]; k < s->start[i + 1]; k++) {
        int r = row_needed(&f->g, i, k), j = s->column[k], need = s->order[k] + f->c[i];
        if (r < 0 || need <= f->d[j]) continue;
        f->d[j] = need;
        if (need - f->own[r] <= f->c[r]) continue;
        f->c[r] = need - f->own[r];
        if (f->c[r] > f->bound) return false;
        if (f->part[r] == f->part[i]) push(f, r); /* others wait for the turn of their component */
    }
    return true;
}

/* Component by component, those that push before those that are pushed; within one the rows go in
 * that order too as far as cycles allow, so that most are visited once. */
static signature_status iterate(fixpoint *f, const components *k)
{
    f->part = k->of;
    for (int b = k->count - 1; b >= 0; b--) {
        for (int w = k->start[b]; w < k->start[b + 1]; w++) push(f, k->member[w]);
        while (f->length > 0) {
            if (!pass_on(f, take(f))) return SIGNATURE_SINGULAR;
        }
    }
    return SIGNATURE_OK;
}

/* own_i = sigma of row i on the transversal; false: a row has none. */
static bool read_transversal(fixpoint *f, const int *match)
{
    const signature *s = f->g.s;
    int highest = 0;
    for (int i = 0; i < s->m; i++) {
        bool found = false;
        for (int k = s->start[i]; k < s->start[i + 1]; k++) {
            if (s->order[k] > highest) highest = s->order[k];
            if (s->column[k] != match[i]) continue;
            f->own[i] = s->order[k];
            found = true;
        }
        if (!found) return false;
    }
    long long bound = (long long)s->m * highest;
    f->bound = bound < INT_MAX / 2 ? (int)bound : INT_MAX / 2;
    return true;
}

static int most_of(const int *v, int n)
{
    int most = 0;
    for (int i = 0; v && i < n; i++)
        if (v[i] > most) most = v[i];
    return most;
}

/* Begin with c = 0 and d as small as allowed, and the c that these d need. */
static void start_offsets(fixpoint *f, const int *match, const int *least)
{
    for (int j = 0; j < f->g.s->n; j++) f->d[j] = least && least[j] > 0 ? least[j] : -1;
    for (int i = 0; i < f->g.s->m; i++) {
        int need = f->d[match[i]] - f->own[i];
        f->c[i] = need > 0 ? need : 0;
    }
}

/* Offsets in the entries between rows of one label (NULL: all), d_j at least least[j] (NULL: 0). */
static signature_status find_offsets(const signature *s, const int *match, const int *label,
                                     const int *least, int *c, int *d)
{
    int *work = DAE_ARRAY(int, 2 * (size_t)s->m + (size_t)s->n);
    bool *queued = DAE_ARRAY(bool, s->m);
    signature_status status = SIGNATURE_MEMORY;
    components k = {0};
    if (work && queued) {
        int *row_of = work + 2 * s->m;
        match_inverse(match, s->m, s->n, row_of);
        fixpoint f = {.g = {.s = s, .row_of = row_of, .label = label},
                      .own = work,
                      .queue = work + s->m,
                      .queued = queued,
                      .c = c,
                      .d = d};
        if (!read_transversal(&f, match)) {
            status = SIGNATURE_SINGULAR;
        } else if (components_find(&k, &f.g)) {
            start_offsets(&f, match, least);
            f.bound += most_of(least, s->n);
            status = iterate(&f, &k);
        }
    }
    dae_free_all(work, queued);
    components_free(&k);
    return status;
}

signature_status signature_offsets(const signature *s, const int *match, const int *least, int *c,
                                   int *d)
{
    if (s->m != s->n) return SIGNATURE_SINGULAR;
    return find_offsets(s, match, NULL, least, c, d);
}

signature_status block_local_offsets(const signature *s, const block_form *b, const int *match,
                                     int *local_c, int *local_d)
{
    if (s->m != s->n) return SIGNATURE_SINGULAR;
    return find_offsets(s, match, b->of_row, NULL, local_c, local_d);
}
