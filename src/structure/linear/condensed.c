/* The condensed form of matrix triples, and the removal of strangeness step by step. */
#include "structure/linear/condensed.h"

#include <math.h>

#include "base/memory.h"
#include "base/vector.h"
#include "structure/linear/pencil.h"

/* Equations one after the other, each as [A_2 | A_1 | A_0 | L_0 | L_1 | ..]: A_k n and L_k m
 * numbers long. d/dt of an equation is a shift of its A, and of its L the other way. */
typedef struct row_set {
    int count;
    double *x; /* width x count; owned */
} row_set;

/* One system on its way. After a failed allocation all sets are empty. */
typedef struct reducing {
    int m, n, orders; /* L_0 .. L_{orders-1} */
    double zero, scale;
    bool failed;
    rank_gap gap;
} reducing;

static int width(const reducing *w)
{
    return CONDENSED_MATRICES * w->n + w->orders * w->m;
}

static row_set rows_new(reducing *w, int count)
{
    row_set s = {.count = count, .x = DAE_ARRAY(double, width(w) * count + 1)};
    if (s.x) return s;
    w->failed = true;
    return (row_set){0};
}

static void rows_free(row_set *s)
{
    dae_free(s->x);
    *s = (row_set){0};
}

/* S C: `count` combinations of equations, C of S.count x count */
static row_set combine(reducing *w, const row_set *s, int count, const double *C)
{
    row_set made = rows_new(w, count);
    if (made.x && s->x) dense_multiply(width(w), count, s->count, s->x, C, made.x);
    return made;
}

/* S := S - d^times/dt^times (T C), C of T.count x S.count, NULL: the identity. The last L of T are
 * zero by then. */
static void subtract_derivative(reducing *w, row_set *s, const row_set *t, const double *C,
                                int times)
{
    const int n = w->n, m = w->m, coefficients = CONDENSED_MATRICES * n, length = width(w);
    row_set moved = C ? combine(w, t, s->count, C) : (row_set){0};
    const double *by = C ? moved.x : t->x;
    for (int i = 0; by && s->x && i < s->count; i++) {
        double *to = s->x + i * length;
        const double *from = by + i * length;
        vector_axpy(coefficients - times * n, -1.0, from + times * n, to); /* A_{k+times} -= A_k */
        vector_axpy((w->orders - times) * m, -1.0, from + coefficients,
                    to + coefficients + times * m);
    }
    rows_free(&moved);
}

/* basis' A_k' of all equations (columns x count), basis of n x columns; NULL: the identity */
static double *part_of(reducing *w, const row_set *s, int k, const double *basis, int columns)
{
    const int n = w->n, at = (CONDENSED_MATRICES - 1 - k) * n;
    double *part = DAE_ARRAY(double, columns * s->count + 1);
    for (int i = 0; part && i < s->count; i++) {
        const double *row = s->x + i * width(w) + at;
        if (basis)
            dense_multiply_left(columns, 1, n, basis, row, part + i * columns);
        else
            vector_copy(n, row, part + i * columns);
    }
    if (!part) w->failed = true;
    return part;
}

/* Equations of S split by the rank of their A_k on a space: `range` has that many, `null` do not
 * have A_k there. split->U: what of the space belongs to each. */
typedef struct division {
    row_set range, null;
    rank_split split;
} division;

static void division_free(division *d)
{
    rows_free(&d->range);
    rows_free(&d->null);
    rank_split_free(&d->split);
}

static void divide(reducing *w, const row_set *s, int k, const double *basis, int columns,
                   division *d)
{
    *d = (division){0};
    double *part = w->failed ? NULL : part_of(w, s, k, basis, columns);
    if (part && !rank_split_new(&d->split, columns, s->count, part, w->zero, w->scale, &w->gap))
        w->failed = true;
    dae_free(part);
    if (w->failed) return;
    d->range = combine(w, s, d->split.rank, d->split.V);
    d->null = combine(w, s, s->count - d->split.rank, rank_null(&d->split));
}

/* Combinations of the range of d whose A there are given: x with (range A)' x = given, columns x
 * count; rank x count. NULL: memory. */
static double *solve_range(reducing *w, const division *d, int count, const double *given)
{
    const rank_split *s = &d->split;
    double *x = DAE_ARRAY(double, s->rank *count + 1);
    if (!x) {
        w->failed = true;
        return NULL;
    }
    dense_multiply_left(s->rank, count, s->rows, s->U, given, x);
    for (int j = 0; j < count; j++)
        for (int i = 0; i < s->rank; i++) x[i + j * s->rank] /= s->sigma[i];
    return x;
}

/* ---- one step ---- */

/* The equations by what they contain, in the order of [Wun05 (3.2)]. */
typedef struct parts {
    division second;      /* A_2: range r, null without u'' */
    division first;       /* of these A_1 on ker A_2: s01 + d1 */
    division coupled;     /* of the rest A_1: s012 + s12 */
    division algebra;     /* of the rest, without derivatives, A_0 on what no derivative has: a */
    division strange1;    /* of the rest A_0 on ker A_2: s01 */
    division strange2;    /* of the rest A_0: s02 + s012; null: equations without u */
    double *open;         /* n x columns: ker A_2 and of A_1 there; owned */
    double *alpha, *beta; /* G_1' alpha = G_0' beta: s012 columns; owned */
    rank_split shared;    /* of alpha: what of `coupled` is s012, and what s12 */
    dae_characteristic c;
} parts;

static void parts_free(parts *p)
{
    division_free(&p->second);
    division_free(&p->first);
    division_free(&p->coupled);
    division_free(&p->algebra);
    division_free(&p->strange1);
    division_free(&p->strange2);
    rank_split_free(&p->shared);
    dae_free_all(p->open, p->alpha, p->beta);
}

/* The null space of [G_1' -G_0']: combinations of both that are equal */
static void find_shared(reducing *w, parts *p)
{
    const int n = w->n, g1 = p->coupled.split.rank, g0 = p->strange2.split.rank, all = g1 + g0;
    rank_split both = {0};
    double *one = part_of(w, &p->coupled.range, 1, NULL, n);
    double *zero = part_of(w, &p->strange2.range, 0, NULL, n);
    double *joined = DAE_ARRAY(double, n *all + 1);
    bool ok = one && zero && joined;
    if (ok) {
        vector_copy(n * g1, one, joined);
        vector_axpy(n * g0, -1.0, zero, joined + n * g1);
        ok = rank_split_new(&both, n, all, joined, w->zero, w->scale, &w->gap);
    }
    const int s = ok ? all - both.rank : 0;
    p->alpha = DAE_ARRAY(double, g1 *s + 1);
    p->beta = DAE_ARRAY(double, g0 *s + 1);
    ok = ok && p->alpha && p->beta;
    for (int k = 0; ok && k < s; k++) {
        vector_copy(g1, rank_null(&both) + k * all, p->alpha + k * g1);
        vector_copy(g0, rank_null(&both) + k * all + g1, p->beta + k * g0);
    }
    ok = ok && rank_split_new(&p->shared, g1, s, p->alpha, 0.0, 1.0, NULL);
    if (!ok) w->failed = true;
    p->c.s012 = s;
    rank_split_free(&both);
    dae_free_all(one, zero, joined);
}

/* r, a, s012, s12, s02, s01, d2, d1, and equations and unknowns that nothing determines */
static void find_parts(reducing *w, const row_set *s, parts *p)
{
    const int n = w->n;
    *p = (parts){0};
    divide(w, s, 2, NULL, n, &p->second);
    if (w->failed) return;
    const rank_split *A2 = &p->second.split;
    const int still = n - A2->rank;
    const double *kernel = A2->U + A2->rank * n;
    divide(w, &p->second.null, 1, kernel, still, &p->first);
    if (w->failed) return;
    const rank_split *A1 = &p->first.split;
    const int open = still - A1->rank;
    p->open = DAE_ARRAY(double, n *open + 1);
    if (p->open) dense_multiply(n, open, still, kernel, A1->U + A1->rank * still, p->open);
    if (!p->open) w->failed = true;
    divide(w, &p->first.null, 1, NULL, n, &p->coupled);
    divide(w, &p->coupled.null, 0, p->open, open, &p->algebra);
    divide(w, &p->algebra.null, 0, kernel, still, &p->strange1);
    divide(w, &p->strange1.null, 0, NULL, n, &p->strange2);
    if (!w->failed) find_shared(w, p);
    dae_characteristic *c = &p->c;
    c->r = A2->rank;
    c->a = p->algebra.split.rank;
    c->s01 = p->strange1.split.rank;
    c->s02 = p->strange2.split.rank - c->s012;
    c->s12 = p->coupled.split.rank - c->s012;
    c->d1 = A1->rank - c->s01;
    c->d2 = c->r - c->s012 - c->s02 - c->s12;
    c->left = p->strange2.null.count;
    c->right = n - c->r - A1->rank - c->a;
}

/* Equations of the next step, as they are found. */
typedef struct collection {
    row_set rows;
    int used;
} collection;

/* Take over; equations with u are brought to length 1. */
static void collect(reducing *w, collection *to, row_set *s)
{
    const int length = width(w), coefficients = CONDENSED_MATRICES * w->n;
    for (int i = 0; !w->failed && i < s->count; i++) {
        double *row = to->rows.x + (to->used++) * length;
        vector_copy(length, s->x + i * length, row);
        double norm = dense_norm(coefficients, row);
        if (norm <= w->zero * w->scale) continue;
        for (int k = 0; k < length; k++) row[k] /= norm;
    }
    rows_free(s);
}

static void collect_copy(reducing *w, collection *to, const row_set *s)
{
    row_set copy = rows_new(w, s->count);
    if (copy.x && s->x) vector_copy(width(w) * s->count, s->x, copy.x);
    collect(w, to, &copy);
}

/* The combinations of a range that `used` (rank x count) leave: the differential equations */
static void collect_rest(reducing *w, collection *to, const division *d, const double *used,
                         int count)
{
    rank_split s = {0};
    row_set rest = {0};
    if (!w->failed && !rank_split_new(&s, d->split.rank, count, used, 0.0, 1.0, NULL))
        w->failed = true;
    if (!w->failed) rest = combine(w, &d->range, d->split.rank - count, s.U + count * s.rows);
    collect(w, to, &rest);
    rank_split_free(&s);
}

/* Equations of second order that lose u'': minus the second derivative of algebraic ones (s012,
 * s02), or the first of those of first order (s12); and those that keep it (d2) */
static void lower_second(reducing *w, const parts *p, const row_set *c12, collection *to)
{
    const int n = w->n, s0 = p->strange2.split.rank, s12 = p->c.s12, r = p->c.r;
    double *g = DAE_ARRAY(double, n *(s0 + s12) + 1);
    double *g0 = part_of(w, &p->strange2.range, 0, NULL, n), *g1 = part_of(w, c12, 1, NULL, n);
    if (!g) w->failed = true;
    if (!w->failed) {
        vector_copy(n * s0, g0, g);
        vector_copy(n * s12, g1, g + n * s0);
    }
    double *x = w->failed ? NULL : solve_range(w, &p->second, s0 + s12, g);
    if (x) {
        row_set twice = combine(w, &p->second.range, s0, x);
        row_set once = combine(w, &p->second.range, s12, x + r * s0);
        subtract_derivative(w, &twice, &p->strange2.range, NULL, 2);
        subtract_derivative(w, &once, c12, NULL, 1);
        collect_rest(w, to, &p->second, x, s0 + s12);
        collect(w, to, &twice);
        collect(w, to, &once);
    }
    dae_free_all(g, g0, g1, x);
}

/* S := S minus what of its A_1 the algebraic and the coupled equations have, so that A_1 is left in
 * d2 alone: c of their derivatives and e of them with A_1 = G_0' c + G_1' e, nearest */
static void clear_coupled(reducing *w, const parts *p, row_set *s)
{
    const int n = w->n, g0 = p->strange2.split.rank, g1 = p->coupled.split.rank, all = g0 + g1;
    rank_split both = {0};
    double *zero = part_of(w, &p->strange2.range, 0, NULL, n);
    double *one = part_of(w, &p->coupled.range, 1, NULL, n), *own = part_of(w, s, 1, NULL, n);
    double *g = DAE_ARRAY(double, n *all + 1), *x = DAE_ARRAY(double, all * s->count + 1);
    double *c = DAE_ARRAY(double, all * s->count + 1), *e = DAE_ARRAY(double, all * s->count + 1);
    bool ok = !w->failed && g && x && c && e;
    if (ok) {
        vector_copy(n * g0, zero, g);
        vector_copy(n * g1, one, g + n * g0);
        ok = rank_split_new(&both, n, all, g, w->zero, w->scale, NULL);
    }
    if (ok) {
        dense_multiply_left(both.rank, s->count, n, both.U, own, c);
        for (int j = 0; j < s->count; j++)
            for (int i = 0; i < both.rank; i++) c[i + j * both.rank] /= both.sigma[i];
        dense_multiply(all, s->count, both.rank, both.V, c, x);
        for (int j = 0; j < s->count; j++) {
            vector_copy(g0, x + j * all, c + j * g0);
            vector_copy(g1, x + j * all + g0, e + j * g1);
        }
        subtract_derivative(w, s, &p->strange2.range, c, 1);
        subtract_derivative(w, s, &p->coupled.range, e, 0);
    }
    if (!ok) w->failed = true;
    rank_split_free(&both);
    dae_free_all(zero, one, own, g, x, c, e);
}

/* Equations of first order that lose u' outside of A_2: minus derivatives of algebraic ones (s01);
 * and those that keep it (d1) */
static void lower_first(reducing *w, const parts *p, collection *to)
{
    const rank_split *A2 = &p->second.split;
    double *g = part_of(w, &p->strange1.range, 0, A2->U + A2->rank * w->n, w->n - A2->rank);
    double *x = g ? solve_range(w, &p->first, p->c.s01, g) : NULL;
    if (x) {
        row_set once = combine(w, &p->first.range, p->c.s01, x);
        subtract_derivative(w, &once, &p->strange1.range, NULL, 1);
        if (!w->failed && once.count > 0) clear_coupled(w, p, &once);
        collect(w, to, &once);
        collect_rest(w, to, &p->first, x, p->c.s01);
    }
    dae_free_all(g, x);
}

/* Coupled equations: those that derivatives of algebraic ones make algebraic (s012), and the others
 * (s12), which are used in second order, too */
static void lower_coupled(reducing *w, const parts *p, collection *to)
{
    const int g1 = p->coupled.split.rank;
    row_set once = combine(w, &p->coupled.range, p->c.s012, p->alpha);
    subtract_derivative(w, &once, &p->strange2.range, p->beta, 1);
    row_set others = combine(w, &p->coupled.range, p->c.s12, p->shared.U + p->c.s012 * g1);
    if (!w->failed) lower_second(w, p, &others, to);
    collect(w, to, &once);
    collect(w, to, &others);
}

/* S := the system in which the strangeness of this step is gone [Wun05 (3.8)] */
static void remove_strangeness(reducing *w, const parts *p, row_set *s)
{
    collection to = {.rows = rows_new(w, s->count)};
    if (!w->failed) lower_coupled(w, p, &to);
    if (!w->failed) lower_first(w, p, &to);
    if (!w->failed) {
        collect_copy(w, &to, &p->algebra.range);
        collect_copy(w, &to, &p->strange1.range);
        collect_copy(w, &to, &p->strange2.range);
        collect_copy(w, &to, &p->strange2.null);
    }
    rows_free(s);
    *s = to.rows;
}

/* ---- all steps ---- */

/* Room for two more derivatives of d. */
static void widen(reducing *w, row_set *s)
{
    enum { MORE = 2 };
    const int before = width(w);
    w->orders += MORE;
    row_set wide = rows_new(w, s->count);
    for (int i = 0; wide.x && i < s->count; i++)
        vector_copy(before, s->x + i * before, wide.x + i * width(w));
    rows_free(s);
    *s = wide;
}

/* Typical sizes: rows, columns, and a time in which all derivatives are alike. */
typedef struct triple_scaling {
    double *row, *column, unit;
} triple_scaling;

static double largest_in(const condensed *c, const double *a, int row)
{
    double most = 0.0;
    for (int j = 0; a && j < c->n; j++) most = fmax(most, fabs(a[row + j * c->m]));
    return most;
}

/* The mean over the rows of (max|A_l| / max|A_k|)^(1/(l-k)), k < l, where both are there */
static double time_unit(const condensed *c, const double *const *a)
{
    double sum = 0.0;
    int count = 0;
    for (int i = 0; i < c->m; i++)
        for (int k = 0; k < c->order; k++)
            for (int l = k + 1; l <= c->order; l++) {
                double low = largest_in(c, a[k], i), high = largest_in(c, a[l], i);
                if (low <= 0.0 || high <= 0.0) continue;
                sum += (log(high) - log(low)) / (l - k);
                count++;
            }
    return count > 0 ? exp(sum / count) : 1.0;
}

static double to_about_one(double most)
{
    int exponent;
    if (most <= 0.0) return 1.0;
    frexp(most, &exponent);
    return ldexp(1.0, -exponent);
}

static bool scaling_new(triple_scaling *t, const condensed *c, const double *const *a)
{
    t->row = DAE_ARRAY(double, c->m + 1);
    t->column = DAE_ARRAY(double, c->n + 1);
    t->unit = time_unit(c, a);
    if (!t->row || !t->column) return false;
    for (int i = 0; i < c->m; i++) {
        double most = 0.0, power = 1.0;
        for (int k = 0; k <= c->order; k++, power /= t->unit)
            most = fmax(most, power * largest_in(c, a[k], i));
        t->row[i] = to_about_one(most);
    }
    for (int j = 0; j < c->n; j++) {
        double most = 0.0, power = 1.0;
        for (int k = 0; k <= c->order; k++, power /= t->unit)
            for (int i = 0; i < c->m; i++)
                most = fmax(most, power * t->row[i] * fabs(a[k][i + j * c->m]));
        t->column[j] = to_about_one(most);
    }
    return true;
}

static row_set first_rows(reducing *w, const condensed *c, const triple_scaling *t,
                          const double *const *a)
{
    row_set s = rows_new(w, c->m);
    double power = 1.0;
    for (int k = 0; s.x && k <= c->order; k++, power /= t->unit)
        for (int i = 0; i < c->m; i++)
            for (int j = 0; j < c->n; j++)
                s.x[i * width(w) + (CONDENSED_MATRICES - 1 - k) * c->n + j] =
                    power * t->row[i] * t->column[j] * a[k][i + j * c->m];
    for (int i = 0; s.x && i < c->m; i++)
        s.x[i * width(w) + CONDENSED_MATRICES * c->n + i] = t->row[i];
    return s;
}

/* The rows without strangeness, in the order of the result and in the units of the caller */
static bool write_result(condensed *c, const reducing *w, const triple_scaling *t, const row_set *s)
{
    const int m = c->m, n = c->n;
    double power = 1.0;
    c->left = DAE_ARRAY(double, m *m * w->orders + 1);
    for (int k = 0; k < CONDENSED_MATRICES; k++, power *= t->unit) {
        c->a[k] = DAE_ARRAY(double, m *n + 1);
        for (int i = 0; c->a[k] && i < m; i++)
            for (int j = 0; j < n; j++)
                c->a[k][i + j * m] = power / t->column[j] *
                                     s->x[i * width(w) + (CONDENSED_MATRICES - 1 - k) * n + j];
    }
    power = 1.0;
    for (int k = 0; c->left && k < w->orders; k++, power *= t->unit)
        for (int i = 0; i < m; i++)
            for (int j = 0; j < m; j++) {
                const double *row = s->x + i * width(w) + CONDENSED_MATRICES * n + k * m;
                c->left[k * m * m + i + j * m] = power * row[j];
                if (fabs(row[j]) > sqrt(w->zero) * t->row[j]) c->derivatives = k;
            }
    return c->left && c->a[0] && c->a[1] && c->a[2];
}

static int strangeness(const dae_characteristic *c)
{
    return c->s012 + c->s12 + c->s02 + c->s01;
}

/* For systems of first order r is the rank of A_1 */
static bool note_step(condensed *c, const parts *p)
{
    size_t room = (size_t)c->steps;
    if (!dae_grow(&c->values, &room, room + 1, sizeof *c->values)) return false;
    c->values[c->steps] = p->c;
    if (c->order == 1) c->values[c->steps].r = p->c.s01 + p->c.d1;
    c->steps++;
    return true;
}

/* The last step's equations, sorted: d2, d1, a, without u */
static void sort_rows(reducing *w, const parts *p, row_set *s)
{
    collection to = {.rows = rows_new(w, s->count)};
    if (!w->failed) {
        collect_copy(w, &to, &p->second.range);
        collect_copy(w, &to, &p->first.range);
        collect_copy(w, &to, &p->algebra.range);
        collect_copy(w, &to, &p->strange2.null);
    }
    rows_free(s);
    *s = to.rows;
}

static void run(reducing *w, condensed *c, row_set *s)
{
    const int most = 2 * (w->m + w->n) + 2; /* each step lowers the rank of a matrix */
    bool strange = true;
    while (strange && !w->failed) {
        if (c->steps > most) { /* rank decisions contradict each other */
            w->failed = c->unclear = true;
            return;
        }
        parts p = {0};
        widen(w, s);
        if (!w->failed) find_parts(w, s, &p);
        if (!w->failed && !note_step(c, &p)) w->failed = true;
        strange = strangeness(&p.c) > 0;
        if (!w->failed && strange) remove_strangeness(w, &p, s);
        if (!w->failed && !strange) sort_rows(w, &p, s);
        parts_free(&p);
    }
}

bool condense(condensed *c, int m, int n, int order, const double *const *a, double tolerance)
{
    *c = (condensed){.m = m, .n = n, .order = order};
    reducing w = {.m = m,
                  .n = n,
                  .orders = 1,
                  .scale = 1.0, /* largest entries of the scaled rows are */
                  .zero = tolerance > 0.0 ? tolerance : PENCIL_TOLERANCE,
                  .gap = RANK_GAP_NEW};
    triple_scaling t = {0};
    row_set s = {0};
    bool ok = scaling_new(&t, c, a);
    if (ok) {
        s = first_rows(&w, c, &t, a);
        run(&w, c, &s);
        ok = !w.failed && write_result(c, &w, &t, &s);
    }
    c->gap = w.gap;
    rows_free(&s);
    dae_free_all(t.row, t.column);
    bool unclear = c->unclear;
    if (!ok) condensed_free(c);
    c->unclear = unclear;
    return ok;
}

void condensed_free(condensed *c)
{
    dae_free_all(c->values, c->a[0], c->a[1], c->a[2], c->left);
    *c = (condensed){0};
}
