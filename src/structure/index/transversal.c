#include "structure/index/assignment.h"
#include "structure/index/components.h"

#include "base/memory.h"

#include <string.h>

/* Rows and columns of the components of the whole pattern. Every transversal stays within them: an
 * entry between two components is on none. */
static bool label_components(const assignment *a, components *k, int *column_label)
{
    row_graph g = {.s = a->s, .row_of = a->row_of};
    if (!components_find(k, &g)) return false;
    for (int j = 0; j < a->s->n; j++) column_label[j] = k->of[a->row_of[j]];
    return true;
}

static void forget(assignment *a)
{
    for (int i = 0; i < a->s->m; i++) a->column_of[i] = -1;
    for (int j = 0; j < a->s->n; j++) a->row_of[j] = -1;
}

/* Highest value in each component by itself, given any transversal. */
static signature_status complete_components(assignment *a)
{
    components k;
    int *column_label = DAE_ARRAY(int, a->s->n);
    if (!column_label || !label_components(a, &k, column_label)) {
        dae_free(column_label);
        return SIGNATURE_MEMORY;
    }
    a->plain = false;
    a->row_label = k.of;
    a->column_label = column_label;
    forget(a);
    assignment_start(a);
    bool ok = true;
    for (int b = 0; b < k.count && ok; b++)
        ok = assignment_complete(a, k.member + k.start[b], k.start[b + 1] - k.start[b]);
    a->row_label = a->column_label = NULL;
    dae_free(column_label);
    components_free(&k);
    return ok ? SIGNATURE_OK : SIGNATURE_SINGULAR;
}

/* First along entries without slack, which is all there is to do for most models; if rows are left,
 * along any entries, which tells whether there is a transversal at all and what its components are;
 * then highest value in each of them. */
static signature_status solve(assignment *a, const int *rows)
{
    const signature *s = a->s;
    assignment_start(a);
    int waiting = assignment_grow(a, rows, s->m);
    if (waiting == 0) return s->m == s->n ? SIGNATURE_OK : SIGNATURE_SINGULAR;
    a->plain = true;
    memcpy(a->look, s->start, (size_t)s->m * sizeof *a->look);
    waiting = assignment_grow(a, rows, s->m);
    if (waiting > 0 || s->m != s->n) return SIGNATURE_SINGULAR;
    return complete_components(a);
}

signature_status signature_transversal(const signature *s, int *match)
{
    assignment a = {0};
    int *rows = DAE_ARRAY(int, s->m);
    signature_status status = SIGNATURE_MEMORY;
    for (int i = 0; i < s->m; i++) match[i] = -1;
    if (rows && assignment_new(&a, s)) {
        for (int i = 0; i < s->m; i++) rows[i] = i;
        status = solve(&a, rows);
        if (status != SIGNATURE_MEMORY) memcpy(match, a.column_of, (size_t)s->m * sizeof *match);
    }
    dae_free(rows);
    assignment_free(&a);
    return status;
}
