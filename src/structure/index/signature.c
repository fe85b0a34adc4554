#include "structure/index/signature.h"

#include "base/grouping.h"
#include "base/memory.h"
#include "expr/walk.h"

#include <string.h>

/* ---- from equations ------------------------------------------------------------------------- */

/* Entries as they are found, row by row. */
typedef struct collector {
    const equation_set *set;
    walk leaves;
    int *start;          /* m + 1; owned */
    int *column, *order; /* owned */
    int count;
    size_t capacity;
    int *place; /* per column: 1 + its entry, if that is one of this row; owned */
} collector;

static bool reserve_entry(collector *q)
{
    size_t capacity = q->capacity, needed = (size_t)q->count + 1; /* both arrays are as long */
    return dae_grow(&q->column, &capacity, needed, sizeof *q->column) &&
           dae_grow(&q->order, &q->capacity, needed, sizeof *q->order);
}

/* sigma_ij = max(sigma_ij, order) in the row that begins at `first` */
static bool note_leaf(collector *q, int first, const expr_node *leaf)
{
    int at = q->place[leaf->index] - 1;
    bool known = at >= first;
    if (known) {
        if (q->order[at] < leaf->order) q->order[at] = leaf->order;
        return true;
    }
    if (!reserve_entry(q)) return false;
    q->column[q->count] = leaf->index;
    q->order[q->count++] = leaf->order;
    q->place[leaf->index] = q->count;
    return true;
}

static bool collect_row(collector *q, int i)
{
    const graph *g = q->set->graph;
    int first = q->count;
    q->start[i] = first;
    if (!walk_from(&q->leaves, g, &q->set->row[i].residual, 1)) return false;
    for (size_t k = 0; k < q->leaves.count; k++) {
        const expr_node *n = graph_node(g, q->leaves.order[k]);
        if (n->op == EXPR_VARIABLE && !note_leaf(q, first, n)) return false;
    }
    q->start[i + 1] = q->count;
    return true;
}

/* Columns in increasing order within each row: sorted by column, then spread over the rows. */
static bool sort_entries(const collector *q, signature *s)
{
    int entries = q->count, *by_column = DAE_ARRAY(int, s->n + 1);
    int *sorted = DAE_ARRAY(int, entries), *row = DAE_ARRAY(int, entries);
    bool ok = by_column && sorted && row;
    if (ok) {
        group_numbers(s->n, entries, q->column, by_column, sorted);
        for (int i = 0; i < s->m; i++)
            for (int k = q->start[i]; k < q->start[i + 1]; k++) row[k] = i;
        memcpy(s->start, q->start, ((size_t)s->m + 1) * sizeof *s->start);
        for (int k = 0; k < entries; k++) {
            int from = sorted[k], to = s->start[row[from]]++;
            s->column[to] = q->column[from];
            s->order[to] = q->order[from];
        }
        memcpy(s->start, q->start, ((size_t)s->m + 1) * sizeof *s->start);
    }
    dae_free_all(by_column, sorted, row);
    return ok;
}

bool signature_from_equations(signature *s, const equation_set *set)
{
    collector q = {
        .set = set, .start = DAE_ARRAY(int, set->m + 1), .place = DAE_ARRAY(int, set->n)};
    bool ok = q.start && q.place;
    *s = (signature){.m = set->m, .n = set->n};
    for (int i = 0; i < set->m && ok; i++) ok = collect_row(&q, i);
    if (ok) {
        s->start = DAE_ARRAY(int, set->m + 1);
        s->column = DAE_ARRAY(int, q.count);
        s->order = DAE_ARRAY(int, q.count);
        ok = s->start && s->column && s->order && sort_entries(&q, s);
    }
    if (!ok) signature_free(s);
    walk_free(&q.leaves);
    dae_free_all(q.start, q.column, q.order, q.place);
    return ok;
}

void signature_free(signature *s)
{
    dae_free_all(s->start, s->column, s->order);
    *s = (signature){0};
}

/* ---- everything together -------------------------------------------------------------------- */

/* Structural index: max c_i, and one more if some d_j = 0 [Pryce01]. */
static int structural_index(const structure *r, const int *least)
{
    int most = 0, algebraic = 0;
    for (int i = 0; i < r->sigma.m; i++) {
        if (r->c[i] > most) most = r->c[i];
        if (r->d[i] == least[i]) algebraic = 1; /* d = 0, or a synonym is the highest derivative */
    }
    return most + algebraic;
}

/* Degrees of freedom: sum d - sum c, which is the value of the transversal. */
static int freedom(const structure *r)
{
    int sum = 0;
    for (int i = 0; i < r->sigma.m; i++) sum += r->d[i] - r->c[i];
    return sum;
}

/* Offsets, blocks and local offsets, given the transversal. */
static bool analyse_regular(structure *r, const int *least)
{
    const signature *s = &r->sigma;
    r->c = DAE_ARRAY(int, s->n);
    r->d = DAE_ARRAY(int, s->n);
    r->local_c = DAE_ARRAY(int, s->n);
    r->local_d = DAE_ARRAY(int, s->n);
    if (!r->c || !r->d || !r->local_c || !r->local_d) return false;
    if (signature_offsets(s, r->match, least, r->c, r->d) != SIGNATURE_OK) return false;
    if (!block_form_new(&r->blocks, s, r->match, r->c, r->d)) return false;
    if (block_local_offsets(s, &r->blocks, r->match, r->local_c, r->local_d) != SIGNATURE_OK)
        return false;
    r->index = structural_index(r, least);
    r->freedom = freedom(r);
    return true;
}

/* Per variable: the highest order of its synonyms, which the solution must know. NULL: memory */
static int *highest_synonyms(const equation_set *set)
{
    int *least = DAE_ARRAY(int, set->n);
    for (int k = 0; least && k < set->synonym_count; k++) {
        const equation_synonym *v = &set->synonym[k];
        if (v->order > least[v->variable]) least[v->variable] = v->order;
    }
    return least;
}

bool structure_analyse(structure *result, const equation_set *set)
{
    *result = (structure){0};
    int *least = highest_synonyms(set);
    bool ok = least && signature_from_equations(&result->sigma, set);
    if (ok) {
        result->match = DAE_ARRAY(int, set->m);
        signature_status status = SIGNATURE_MEMORY;
        if (result->match) status = signature_transversal(&result->sigma, result->match);
        result->singular = status == SIGNATURE_SINGULAR;
        ok = status != SIGNATURE_MEMORY;
        if (result->singular)
            ok = signature_explain(&result->sigma, &result->parts);
        else if (ok)
            ok = analyse_regular(result, least);
    }
    dae_free(least);
    if (!ok) structure_free(result);
    return ok;
}

void structure_free(structure *result)
{
    signature_free(&result->sigma);
    singular_report_free(&result->parts);
    dae_free_all(result->match, result->c, result->d);
    block_form_free(&result->blocks);
    dae_free_all(result->local_c, result->local_d);
    *result = (structure){0};
}
