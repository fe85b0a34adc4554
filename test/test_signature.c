/* The signature method against brute force, definitions and known answers. */
#include "base/memory.h"
#include "structure/index/assignment.h"
#include "structure/index/components.h"
#include "structure/index/matching.h"
#include "structure/index/signature.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SMALL = 7, ABSENT = -1 };

static uint64_t state_of_random = 88172645463325252u;

static int random_below(int n)
{
    state_of_random ^= state_of_random << 13;
    state_of_random ^= state_of_random >> 7;
    state_of_random ^= state_of_random << 17;
    return (int)((state_of_random >> 20) % (uint64_t)n);
}

/* ---- small signatures as tables ------------------------------------------------------------- */

typedef struct table {
    int m, n;
    int sigma[SMALL][SMALL]; /* ABSENT: no entry */
} table;

static signature from_table(const table *t)
{
    signature s = {.m = t->m, .n = t->n};
    s.start = DAE_ARRAY(int, t->m + 1);
    s.column = DAE_ARRAY(int, t->m * t->n);
    s.order = DAE_ARRAY(int, t->m * t->n);
    int k = 0;
    for (int i = 0; i < t->m; i++) {
        for (int j = 0; j < t->n; j++) {
            if (t->sigma[i][j] == ABSENT) continue;
            s.column[k] = j;
            s.order[k++] = t->sigma[i][j];
        }
        s.start[i + 1] = k;
    }
    return s;
}

static table random_table(int m, int n, int percent, int highest)
{
    table t = {.m = m, .n = n};
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            t.sigma[i][j] = random_below(100) < percent ? random_below(highest + 1) : ABSENT;
    return t;
}

/* Best value of a transversal of rows i .. over the columns not in `used`; -1000: none. */
static int best_value(const table *t, int i, unsigned used)
{
    int best = i == t->m ? 0 : -1000;
    for (int j = 0; i < t->m && j < t->n; j++) {
        if (t->sigma[i][j] == ABSENT || (used >> j & 1u)) continue;
        int rest = best_value(t, i + 1, used | 1u << j);
        if (rest >= 0 && rest + t->sigma[i][j] > best) best = rest + t->sigma[i][j];
    }
    return best;
}

/* Greatest number of rows among `rows` (bits) that can be matched at once. */
static int rank_of(const table *t, unsigned rows, int i, unsigned used)
{
    if (i == t->m) return 0;
    int best = rank_of(t, rows, i + 1, used);
    for (int j = 0; (rows >> i & 1u) && j < t->n; j++) {
        if (t->sigma[i][j] == ABSENT || (used >> j & 1u)) continue;
        int with = 1 + rank_of(t, rows, i + 1, used | 1u << j);
        if (with > best) best = with;
    }
    return best;
}

static void check_match(const table *t, const int *match, int *size, int *value)
{
    unsigned used = 0;
    *size = *value = 0;
    for (int i = 0; i < t->m; i++) {
        if (match[i] < 0) continue;
        assert_int_not_equal(t->sigma[i][match[i]], ABSENT);
        assert_false(used >> match[i] & 1u);
        used |= 1u << match[i];
        *value += t->sigma[i][match[i]];
        ++*size;
    }
}

static void transversals_have_the_highest_value(void **state)
{
    (void)state;
    int regular = 0;
    for (int trial = 0; trial < 20000; trial++) {
        int n = 1 + random_below(6), m = trial % 5 ? n : 1 + random_below(6);
        table t = random_table(m, n, 20 + random_below(70), random_below(5));
        signature s = from_table(&t);
        int match[SMALL], size, value;
        signature_status status = signature_transversal(&s, match);
        check_match(&t, match, &size, &value);
        int best = m == n ? best_value(&t, 0, 0) : -1000;
        assert_int_equal(status, best < 0 ? SIGNATURE_SINGULAR : SIGNATURE_OK);
        if (best >= 0) assert_int_equal(value, best);
        assert_int_equal(size, rank_of(&t, ~0u, 0, 0));
        regular += best >= 0;
        signature_free(&s);
    }
    assert_true(regular > 4000);
}

/* ---- offsets -------------------------------------------------------------------------------- */

/* Smallest c by its definition: try all c up to `most` and take the least of each component among
 * those for which d_j = max_i(sigma_ij + c_i) has the value of the transversal. */
static void least_offsets(const table *t, int value, int most, int *c)
{
    int n = t->n, try[SMALL] = {0};
    for (int i = 0; i < n; i++) c[i] = INT_MAX;
    for (;;) {
        int sum = 0;
        for (int j = 0; j < n; j++) {
            int d = 0;
            for (int i = 0; i < n; i++)
                if (t->sigma[i][j] != ABSENT && t->sigma[i][j] + try[i] > d)
                    d = t->sigma[i][j] + try[i];
            sum += d - try[j];
        }
        for (int i = 0; i < n && sum == value; i++)
            if (try[i] < c[i]) c[i] = try[i];
        int at = 0;
        while (at < n && try[at] == most) try[at++] = 0;
        if (at == n) return;
        try[at]++;
    }
}

static void offsets_are_the_smallest(void **state)
{
    (void)state;
    int seen = 0;
    for (int trial = 0; trial < 3000; trial++) {
        int n = 1 + random_below(4);
        table t = random_table(n, n, 40 + random_below(50), 2);
        int value = best_value(&t, 0, 0);
        if (value < 0) continue;
        seen++;
        signature s = from_table(&t);
        int match[SMALL], c[SMALL], d[SMALL], least[SMALL];
        assert_int_equal(signature_transversal(&s, match), SIGNATURE_OK);
        assert_int_equal(signature_offsets(&s, match, NULL, c, d), SIGNATURE_OK);
        least_offsets(&t, value, 2 * (n - 1) > 6 ? 6 : 2 * (n - 1), least);
        for (int i = 0; i < n; i++) {
            assert_int_equal(c[i], least[i]);
            assert_int_equal(d[match[i]] - c[i], t.sigma[i][match[i]]);
            for (int j = 0; j < n; j++)
                if (t.sigma[i][j] != ABSENT) assert_true(d[j] - c[i] >= t.sigma[i][j]);
        }
        signature_free(&s);
    }
    assert_true(seen > 1000);
}

/* Take every transversal of highest value; its offsets must be `c`. */
static void for_all_transversals(const table *t, const signature *s, int i, unsigned used, int rest,
                                 int *match, const int *c)
{
    if (i == t->m) {
        int other[SMALL], d[SMALL];
        if (rest != 0) return;
        assert_int_equal(signature_offsets(s, match, NULL, other, d), SIGNATURE_OK);
        assert_memory_equal(other, c, (size_t)t->m * sizeof *c);
        return;
    }
    for (int j = 0; j < t->n; j++) {
        if (t->sigma[i][j] == ABSENT || (used >> j & 1u)) continue;
        match[i] = j;
        for_all_transversals(t, s, i + 1, used | 1u << j, rest - t->sigma[i][j], match, c);
    }
}

static void offsets_do_not_depend_on_the_transversal(void **state)
{
    (void)state;
    for (int trial = 0; trial < 1000; trial++) {
        int n = 2 + random_below(4), match[SMALL], c[SMALL], d[SMALL];
        table t = random_table(n, n, 60, 2);
        signature s = from_table(&t);
        if (signature_transversal(&s, match) == SIGNATURE_OK) {
            assert_int_equal(signature_offsets(&s, match, NULL, c, d), SIGNATURE_OK);
            for_all_transversals(&t, &s, 0, 0, best_value(&t, 0, 0), match, c);
        }
        signature_free(&s);
    }
}

/* A transversal that is not of highest value has no offsets: c would grow for ever. */
static void a_lesser_transversal_is_refused(void **state)
{
    (void)state;
    table t = {.m = 2, .n = 2, .sigma = {{0, 1}, {1, 0}}};
    signature s = from_table(&t);
    int match[2] = {0, 1}, c[2], d[2];
    assert_int_equal(signature_offsets(&s, match, NULL, c, d), SIGNATURE_SINGULAR);
    match[0] = -1;
    assert_int_equal(signature_offsets(&s, match, NULL, c, d), SIGNATURE_SINGULAR);
    signature_free(&s);
}

/* ---- blocks --------------------------------------------------------------------------------- */

/* Whether block q of b, whose pattern is { sigma_ij = d_j - c_i }, falls apart: some proper subset
 * of its rows has as many columns of the block as rows. */
static bool falls_apart(const table *t, const block_form *b, int q, const int *c, const int *d)
{
    int size = b->start[q + 1] - b->start[q];
    for (unsigned subset = 1; subset + 1 < 1u << size; subset++) {
        unsigned columns = 0;
        int rows = 0;
        for (int r = 0; r < size; r++) {
            if (!(subset >> r & 1u)) continue;
            int i = b->rows[b->start[q] + r];
            rows++;
            for (int w = 0; w < size; w++) {
                int j = b->columns[b->start[q] + w];
                if (t->sigma[i][j] != ABSENT && t->sigma[i][j] == d[j] - c[i]) columns |= 1u << w;
            }
        }
        if (__builtin_popcount(columns) == rows) return true;
    }
    return false;
}

/* Local offsets by the definition: those of the block's own signature. */
static void check_local(const table *t, const block_form *b, int q, const int *c, const int *d)
{
    table own = {.m = b->start[q + 1] - b->start[q], .n = b->start[q + 1] - b->start[q]};
    for (int r = 0; r < own.m; r++)
        for (int w = 0; w < own.n; w++)
            own.sigma[r][w] = t->sigma[b->rows[b->start[q] + r]][b->columns[b->start[q] + w]];
    signature s = from_table(&own);
    int match[SMALL], own_c[SMALL], own_d[SMALL], least = INT_MAX;
    assert_int_equal(signature_transversal(&s, match), SIGNATURE_OK);
    assert_int_equal(signature_offsets(&s, match, NULL, own_c, own_d), SIGNATURE_OK);
    for (int r = 0; r < own.m; r++) {
        assert_int_equal(c[b->rows[b->start[q] + r]], own_c[r]);
        assert_int_equal(d[b->columns[b->start[q] + r]], own_d[r]);
        if (own_c[r] < least) least = own_c[r];
    }
    assert_int_equal(least, 0);
    signature_free(&s);
}

static void blocks_are_triangular_and_irreducible(void **state)
{
    (void)state;
    int several = 0;
    for (int trial = 0; trial < 4000; trial++) {
        int n = 1 + random_below(6), match[SMALL], c[SMALL], d[SMALL], lc[SMALL], ld[SMALL];
        table t = random_table(n, n, 30 + random_below(50), 2);
        signature s = from_table(&t);
        block_form b = {0};
        if (signature_transversal(&s, match) == SIGNATURE_OK) {
            signature_offsets(&s, match, NULL, c, d);
            assert_true(block_form_new(&b, &s, match, c, d));
            assert_int_equal(block_local_offsets(&s, &b, match, lc, ld), SIGNATURE_OK);
            assert_int_equal(b.start[b.count], n);
            several += b.count > 1 && b.count < n;
            for (int i = 0; i < n; i++)
                for (int j = 0; j < n; j++)
                    if (t.sigma[i][j] != ABSENT && t.sigma[i][j] == d[j] - c[i])
                        assert_true(b.of_column[j] <= b.of_row[i]);
            for (int q = 0; q < b.count; q++) {
                assert_false(falls_apart(&t, &b, q, c, d));
                check_local(&t, &b, q, lc, ld);
                /* [PNT15]: global minus local offsets are constant over a block */
                for (int w = b.start[q]; w < b.start[q + 1]; w++) {
                    assert_int_equal(b.columns[w], match[b.rows[w]]);
                    assert_int_equal(b.of_row[b.rows[w]], q);
                    assert_int_equal(c[b.rows[w]] - lc[b.rows[w]],
                                     c[b.rows[b.start[q]]] - lc[b.rows[b.start[q]]]);
                }
            }
        }
        block_form_free(&b);
        signature_free(&s);
    }
    assert_true(several > 300);
}

/* ---- singular systems ----------------------------------------------------------------------- */

static unsigned columns_of(const table *t, const singular_part *p)
{
    unsigned bits = 0;
    for (int w = 0; w < p->rows; w++)
        for (int j = 0; j < t->n; j++)
            if (t->sigma[p->row[w]][j] != ABSENT) bits |= 1u << j;
    return bits;
}

static void check_over(const table *t, const singular_part *p)
{
    unsigned all = 0, columns = 0;
    for (int w = 0; w < p->rows; w++) all |= 1u << p->row[w];
    for (int w = 0; w < p->columns; w++) columns |= 1u << p->column[w];
    assert_int_equal(p->rows, p->columns + 1);
    assert_int_equal(columns, columns_of(t, p));
    assert_int_equal(rank_of(t, all, 0, 0), p->rows - 1);
    for (int w = 0; w < p->rows; w++)
        assert_int_equal(rank_of(t, all & ~(1u << p->row[w]), 0, 0), p->rows - 1);
}

/* All equations that contain the columns of an under-determined part belong to it. */
static void check_under(const table *t, const singular_part *p)
{
    unsigned rows = 0;
    assert_true(p->rows < p->columns);
    for (int w = 0; w < p->rows; w++) rows |= 1u << p->row[w];
    for (int w = 0; w < p->columns; w++)
        for (int i = 0; i < t->m; i++)
            if (t->sigma[i][p->column[w]] != ABSENT) assert_true(rows >> i & 1u);
    assert_int_equal(rank_of(t, rows, 0, 0), p->rows);
}

static void singular_parts_are_what_they_say(void **state)
{
    (void)state;
    for (int trial = 0; trial < 8000; trial++) {
        int m = 1 + random_below(6), n = 1 + random_below(6);
        table t = random_table(m, n, 10 + random_below(50), 1);
        signature s = from_table(&t);
        singular_report r;
        assert_true(signature_explain(&s, &r));
        int over = 0, missing = 0, rank = rank_of(&t, ~0u, 0, 0);
        for (int p = 0; p < r.count; p++) {
            if (r.part[p].over)
                check_over(&t, &r.part[p]);
            else
                check_under(&t, &r.part[p]);
            over += r.part[p].over;
            if (!r.part[p].over) missing += r.part[p].columns - r.part[p].rows;
            if (p == 0) continue;
            assert_true(r.part[p - 1].over >= r.part[p].over); /* too many, then too few; by size */
            if (r.part[p - 1].over == r.part[p].over)
                assert_true(r.part[p - 1].rows + r.part[p - 1].columns <=
                            r.part[p].rows + r.part[p].columns);
        }
        assert_int_equal(over, m - rank);
        assert_int_equal(missing, n - rank);
        singular_report_free(&r);
        signature_free(&s);
    }
}

/* ---- known answers -------------------------------------------------------------------------- */

static void check_table(const table *t, const int *c, const int *d)
{
    signature s = from_table(t);
    int match[SMALL], own_c[SMALL], own_d[SMALL];
    assert_int_equal(signature_transversal(&s, match), SIGNATURE_OK);
    assert_int_equal(signature_offsets(&s, match, NULL, own_c, own_d), SIGNATURE_OK);
    for (int i = 0; i < t->n; i++) {
        assert_int_equal(own_c[i], c[i]);
        assert_int_equal(own_d[i], d[i]);
    }
    signature_free(&s);
}

/* [Pryce01]: the pendulum, by itself and with a second one whose length
 * L + c lambda the first one's multiplier controls, which makes it of index 5. */
static void pendulums_of_the_literature(void **state)
{
    (void)state;
    const int o = ABSENT;
    table one = {.m = 3, .n = 3, .sigma = {{2, o, 0}, {o, 2, 0}, {0, 0, o}}};
    check_table(&one, (int[]){0, 0, 2}, (int[]){2, 2, 0});
    table two = {.m = 6,
                 .n = 6,
                 .sigma = {{2, o, 0, o, o, o},
                           {o, 2, 0, o, o, o},
                           {0, 0, o, o, o, o},
                           {o, o, o, 2, o, 0},
                           {o, o, o, o, 2, 0},
                           {o, o, 0, 0, 0, o}}};
    check_table(&two, (int[]){2, 2, 4, 0, 0, 2}, (int[]){4, 4, 2, 2, 2, 0});
    signature s = from_table(&two);
    block_form b;
    int match[6], c[6], d[6], local_c[6], local_d[6];
    signature_transversal(&s, match);
    signature_offsets(&s, match, NULL, c, d);
    assert_true(block_form_new(&b, &s, match, c, d));
    assert_int_equal(block_local_offsets(&s, &b, match, local_c, local_d), SIGNATURE_OK);
    assert_int_equal(b.count, 2); /* the first pendulum, then the second */
    assert_memory_equal(local_c, ((int[]){0, 0, 2, 0, 0, 2}), sizeof local_c);
    assert_memory_equal(local_d, ((int[]){2, 2, 0, 2, 2, 0}), sizeof local_d);
    assert_int_equal(b.of_row[0], 0);
    assert_int_equal(b.of_row[3], 1);
    block_form_free(&b);
    signature_free(&s);
}

/* ---- large ones ----------------------------------------------------------------------------- */

/* A signature to which entries are added row by row. */
typedef struct builder {
    signature s;
    int capacity;
} builder;

static builder build_new(int n, int entries)
{
    builder b = {.s = {.n = n}, .capacity = entries};
    b.s.start = DAE_ARRAY(int, n + 1);
    b.s.column = DAE_ARRAY(int, entries);
    b.s.order = DAE_ARRAY(int, entries);
    assert_true(b.s.start && b.s.column && b.s.order);
    return b;
}

static void put(builder *b, int j, int order)
{
    int k = b->s.start[b->s.m + 1] ? b->s.start[b->s.m + 1] : b->s.start[b->s.m];
    assert_true(k < b->capacity);
    b->s.column[k] = j;
    b->s.order[k] = order;
    b->s.start[b->s.m + 1] = k + 1;
}

static void end_row(builder *b)
{
    if (b->s.start[b->s.m + 1] == 0) b->s.start[b->s.m + 1] = b->s.start[b->s.m];
    b->s.m++;
}

/* Feasible offsets, equal on the transversal: a certificate that its value is the highest. */
static void check_optimal(const signature *s)
{
    int n = s->n, *work = DAE_ARRAY(int, 4 * (size_t)n);
    int *match = work, *c = work + n, *d = c + n, *used = d + n;
    assert_int_equal(signature_transversal(s, match), SIGNATURE_OK);
    assert_int_equal(signature_offsets(s, match, NULL, c, d), SIGNATURE_OK);
    for (int i = 0; i < n; i++) {
        int tight = 0;
        assert_int_equal(used[match[i]]++, 0);
        assert_true(c[i] >= 0);
        for (int k = s->start[i]; k < s->start[i + 1]; k++) {
            int slack = d[s->column[k]] - c[i] - s->order[k];
            assert_true(slack >= 0);
            tight += slack == 0 && s->column[k] == match[i];
        }
        assert_int_equal(tight, 1);
    }
    dae_free(work);
}

static void large_random_signatures(void **state)
{
    (void)state;
    for (int highest = 1; highest <= 4; highest++) {
        int n = 20000;
        builder b = build_new(n, 4 * n);
        for (int i = 0; i < n; i++) {
            int ring[4] = {i, (i + 1) % n, random_below(n), random_below(n)};
            for (int k = 0; k < 4; k++) {
                bool twice = false;
                for (int l = 0; l < k; l++) twice = twice || ring[l] == ring[k];
                if (!twice) put(&b, ring[k], random_below(highest + 1));
            }
            end_row(&b);
        }
        check_optimal(&b.s);
        signature_free(&b.s);
    }
}

/* x_1' = x_2, .., x_(n-1)' = x_n, x_1 = f(t): index n. Recursion or a sweep in the wrong direction
 * would not survive this. */
static void a_chain_of_integrators(void **state)
{
    (void)state;
    int n = 200000;
    for (int backwards = 0; backwards < 2; backwards++) {
        builder b = build_new(n, 2 * n);
        int *match = DAE_ARRAY(int, n), *c = DAE_ARRAY(int, n), *d = DAE_ARRAY(int, n);
        for (int i = 0; i < n - 1; i++) {
            int from = backwards ? n - 2 - i : i;
            put(&b, from, 1);
            put(&b, from + 1, 0);
            end_row(&b);
        }
        put(&b, 0, 0);
        end_row(&b);
        assert_int_equal(signature_transversal(&b.s, match), SIGNATURE_OK);
        assert_int_equal(signature_offsets(&b.s, match, NULL, c, d), SIGNATURE_OK);
        assert_int_equal(c[n - 1], n - 1);
        for (int j = 0; j < n; j++) assert_int_equal(d[j], n - 1 - j);
        dae_free(match);
        dae_free(c);
        dae_free(d);
        signature_free(&b.s);
    }
}

/* ---- matching row by row -------------------------------------------------------------------- */

static void rows_are_added_while_they_fit(void **state)
{
    (void)state;
    for (int trial = 0; trial < 5000; trial++) {
        int m = 1 + random_below(6), n = 1 + random_below(6);
        table t = random_table(m, n, 10 + random_below(60), 0);
        signature s = from_table(&t);
        size_t start[SMALL + 1];
        matching q;
        for (int i = 0; i <= m; i++) start[i] = (size_t)s.start[i];
        assert_true(matching_new(&q, start, s.column, m, n));
        unsigned taken = 0;
        for (int i = 0; i < m; i++) {
            bool fits = rank_of(&t, taken | 1u << i, 0, 0) > rank_of(&t, taken, 0, 0);
            assert_int_equal(matching_add(&q, i), fits);
            if (fits) taken |= 1u << i;
        }
        matching_free(&q);
        signature_free(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transversals_have_the_highest_value),
        cmocka_unit_test(offsets_are_the_smallest),
        cmocka_unit_test(offsets_do_not_depend_on_the_transversal),
        cmocka_unit_test(a_lesser_transversal_is_refused),
        cmocka_unit_test(blocks_are_triangular_and_irreducible),
        cmocka_unit_test(singular_parts_are_what_they_say),
        cmocka_unit_test(pendulums_of_the_literature),
        cmocka_unit_test(large_random_signatures),
        cmocka_unit_test(a_chain_of_integrators),
        cmocka_unit_test(rows_are_added_while_they_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
