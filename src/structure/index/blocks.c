#include "structure/index/components.h"

#include "base/grouping.h"
#include "base/memory.h"

/* Rows by block, increasing within one, and their columns beside them. */
static void fill_blocks(block_form *b, const components *k, const int *match, int n)
{
    b->count = k->count;
    for (int i = 0; i < n; i++) {
        b->of_row[i] = k->of[i];
        b->of_column[match[i]] = k->of[i];
    }
    group_numbers(b->count, n, k->of, b->start, b->rows);
    for (int w = 0; w < n; w++) b->columns[w] = match[b->rows[w]];
}

bool block_form_new(block_form *b, const signature *s, const int *match, const int *c, const int *d)
{
    components k = {0};
    int n = s->n, *row_of = DAE_ARRAY(int, n);
    *b = (block_form){.start = DAE_ARRAY(int, n + 1),
                      .rows = DAE_ARRAY(int, n),
                      .columns = DAE_ARRAY(int, n),
                      .of_row = DAE_ARRAY(int, n),
                      .of_column = DAE_ARRAY(int, n)};
    bool ok = row_of && b->start && b->rows && b->columns && b->of_row && b->of_column;
    if (ok) {
        match_inverse(match, s->m, n, row_of);
        row_graph g = {.s = s, .row_of = row_of, .c = c, .d = d};
        ok = components_find(&k, &g);
    }
    if (ok)
        fill_blocks(b, &k, match, n);
    else
        block_form_free(b);
    components_free(&k);
    dae_free(row_of);
    return ok;
}

void block_form_free(block_form *b)
{
    dae_free_all(b->start, b->rows, b->columns, b->of_row, b->of_column);
    *b = (block_form){0};
}
