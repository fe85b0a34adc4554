/* Which multiplier belongs to which constraint.
 *
 * Equations may have been divided by masses: with factors s_i, s_i M_ij is symmetric and s_i C_ik =
 * factor_k G_ki. Both are relations between two of the factors, s_i = r s_j, which must be the same
 * everywhere and must not contradict each other. They are tested at a few points. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "structure/mechanical/mechanical_parts.h"

/* ---- numbers ---- */

static double random_unit(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (double)(*state >> 8) / 16777216.0; /* in [0, 1) */
}

equation_point mechanical_sample(const equation_set *set, const equation_point *at, int p,
                                 double spread, double *work, const double *x[3])
{
    size_t n = (size_t)set->n;
    unsigned state = 4711u + 97u * (unsigned)p;
    for (int order = 0; order < 3; order++) {
        x[order] = work + (size_t)order * n;
        for (int j = 0; j < set->n; j++) {
            double base = order <= at->orders ? at->x[order][j] : 0.0;
            double size = fmax(fabs(base), set->nominal[j]);
            work[(size_t)order * n + (size_t)j] =
                base + spread * size * (random_unit(&state) - 0.4);
        }
    }
    equation_point point = *at;
    point.time += 0.3 * spread * (p + 1);
    point.x = x;
    point.orders = 2;
    return point;
}

/* The entries of M, C and G, one matrix after the other, as one program. */
typedef struct entries {
    expr_code code;
    double *value;
} entries;

static bool entries_new(entries *all, const equation_set *set, const mechanical_matrix *const a[3])
{
    size_t count = 0;
    for (int k = 0; k < 3; k++) count += (size_t)a[k]->count;
    expr *e = DAE_ARRAY(expr, count);
    *all = (entries){.value = DAE_ARRAY(double, count)};
    count = 0;
    for (int k = 0; e && k < 3; k++)
        for (int i = 0; i < a[k]->count; i++) e[count++] = a[k]->entry[i].value;
    bool ok = e && all->value && code_new(&all->code, set->graph, e, count);
    dae_free(e);
    return ok;
}

static void entries_free(entries *all)
{
    if (all->code.tape) code_free(&all->code);
    dae_free(all->value);
}

/* Values of all entries at point p around s->at, `spread` of the variables' sizes away; 1, 0: they
 * cannot be evaluated, -1: memory */
static int evaluate_point(const mechanical_search *s, int p, double spread, double *work,
                          const mechanical_matrix *const a[3], entries *all, double *const value[3])
{
    const double *x[3], *from = all->value;
    equation_point point = mechanical_sample(s->set, s->at, p, spread, work, x);
    s->m->looked = true;
    int settled = mechanical_settle(s, point.time, work); /* gradients need be along only there */
    if (settled <= 0) return settled;
    mechanical_run(&all->code, &point, all->value);
    for (int k = 0; k < 3; k++) {
        double *to = value[k] + p * a[k]->count;
        for (int e = 0; e < a[k]->count; e++) {
            to[e] = *from++;
            if (!isfinite(to[e])) return 0;
        }
    }
    return 1;
}

/* M, C and G at all points, as above. */
static int evaluate(const mechanical_search *s, double *work, const mechanical_matrix *const a[3],
                    double *const value[3])
{
    entries all;
    int done = entries_new(&all, s->set, a) ? 1 : -1;
    for (int p = 0; p < MECHANICAL_POINTS && done > 0; p++) {
        double spread = MECHANICAL_SPREAD;
        while ((done = evaluate_point(s, p, spread, work, a, &all, value)) == 0) {
            spread *= 0.1;
            if (spread < MECHANICAL_NARROW) break;
        }
    }
    entries_free(&all);
    return done;
}

/* ---- relations between the factors ---- */

/* s_i = weight_i s_parent */
typedef struct factors {
    int n;
    int *parent;
    double *weight;
    int *joined; /* n: roots that got a parent, in this order */
    int joins;
} factors;

static int factor_root(factors *f, int i, double *weight)
{
    *weight = 1.0;
    while (f->parent[i] != i) {
        *weight *= f->weight[i];
        i = f->parent[i];
    }
    return i;
}

/* s_i = ratio s_j; false: that contradicts what is known. */
static bool relate(factors *f, int i, int j, double ratio)
{
    double wi, wj;
    int ri = factor_root(f, i, &wi), rj = factor_root(f, j, &wj);
    if (ri == rj) return fabs(wi - ratio * wj) <= MECHANICAL_SAME * fabs(wi);
    f->parent[ri] = rj; /* wi s_ri = ratio wj s_rj */
    f->weight[ri] = ratio * wj / wi;
    f->joined[f->joins++] = ri;
    return true;
}

/* numerator_p / denominator_p, the same at all points where it is defined; 0: it is not, or nowhere
 * defined. */
static double steady_ratio(const double *numerator, const double *denominator, int stride)
{
    double ratio = 0.0;
    for (int p = 0; p < MECHANICAL_POINTS; p++) {
        double a = numerator[p * stride], b = denominator[p * stride];
        if (isnan(a) || isnan(b) || (a == 0.0 && b == 0.0)) continue;
        if (a == 0.0 || b == 0.0) return 0.0;
        if (ratio == 0.0) ratio = a / b;
        if (fabs(a / b - ratio) > MECHANICAL_SAME * fabs(ratio)) return 0.0;
    }
    return ratio;
}

static int find_entry(const mechanical_matrix *a, const int *start, int row, int column)
{
    for (int e = start[row]; e < start[row + 1]; e++)
        if (a->entry[e].column == column) return e;
    return -1;
}

/* Entries by rows, or by columns; start: rows + 1 */
static bool sort_entries(mechanical_matrix *a, int rows, int *start)
{
    mechanical_entry *sorted = DAE_ARRAY(mechanical_entry, a->count);
    if (!sorted) return false;
    for (int i = 0; i <= rows; i++) start[i] = 0;
    for (int e = 0; e < a->count; e++) start[a->entry[e].row + 1]++;
    for (int i = 0; i < rows; i++) start[i + 1] += start[i];
    for (int e = 0; e < a->count; e++) sorted[start[a->entry[e].row]++] = a->entry[e];
    for (int i = rows; i > 0; i--) start[i] = start[i - 1];
    start[0] = 0;
    dae_free(a->entry);
    a->entry = sorted;
    a->room = (size_t)a->count;
    return true;
}

static void transpose(mechanical_matrix *a)
{
    for (int e = 0; e < a->count; e++) {
        int row = a->entry[e].row;
        a->entry[e].row = a->entry[e].column;
        a->entry[e].column = row;
    }
}

/* Whether an entry is 0 at all points: a parameter that is 0, or a product with one. Entry -1 is.
 */
static bool vanishes(const double *value, int e, int stride)
{
    for (int p = 0; e >= 0 && p < MECHANICAL_POINTS; p++) {
        double here = value[p * stride + e];
        if (here != 0.0 && !isnan(here)) return false;
    }
    return true;
}

/* s_i M_ij = s_j M_ji */
static mechanical_status relate_masses(mechanical_search *s, factors *f, const int *start,
                                       const double *value)
{
    const mechanical_matrix *M = &s->m->M;
    for (int e = 0; e < M->count; e++) {
        int i = M->entry[e].row, j = M->entry[e].column;
        int other = find_entry(M, start, j, i);
        double ratio = other < 0 ? 0.0 : steady_ratio(value + other, value + e, M->count);
        if (i == j) continue;
        if (vanishes(value, e, M->count) && vanishes(value, other, M->count)) continue;
        if (ratio == 0.0 || !relate(f, i, j, ratio))
            return mechanical_refuse(s,
                                     "the matrix of the accelerations is not symmetric: %s in "
                                     "%s against %s in %s",
                                     s->set->name[s->m->q[j]], s->set->row[s->m->dynamic[i]].name,
                                     s->set->name[s->m->q[i]], s->set->row[s->m->dynamic[j]].name);
    }
    return MECHANICAL_OK;
}

/* C and G by multipliers and constraints: entries in the order of the positions. */
typedef struct pairing {
    const mechanical_matrix *C, *G;
    int *C_start, *G_start;
    double *C_value, *G_value;
    factors *f;
} pairing;

/* C_ik / G_li at point p; NAN where both vanish */
static double force_ratio(const pairing *q, int p, int c, int g)
{
    double force = q->C_value[p * q->C->count + c], gradient = q->G_value[p * q->G->count + g];
    if (gradient == 0.0) return force == 0.0 ? NAN : 0.0;
    return force / gradient;
}

/* Entry number `at` of column k against entry `first`: s_i / s_i0 = (C_i0 / G_i0) / (C_i / G_i),
 * which must be the same at all points; 0: it is not. */
static double factor_ratio(const pairing *q, int c0, int g0, int first, int at)
{
    double top[MECHANICAL_POINTS], bottom[MECHANICAL_POINTS];
    for (int p = 0; p < MECHANICAL_POINTS; p++) {
        top[p] = force_ratio(q, p, c0 + first, g0 + first);
        bottom[p] = force_ratio(q, p, c0 + at, g0 + at);
    }
    return steady_ratio(top, bottom, 1);
}

/* Whether force and gradient have an entry that is 0 everywhere, as parameters that are 0 make it
 */
static bool both_vanish(const pairing *q, int c, int g)
{
    return vanishes(q->C_value, c, q->C->count) && vanishes(q->G_value, g, q->G->count);
}

/* Whether multiplier k acts along the gradient of constraint l. The factors are related then. */
static bool acts_along(pairing *q, int k, int l)
{
    int c0 = q->C_start[k], g0 = q->G_start[l], count = q->C_start[k + 1] - c0;
    if (count == 0 || q->G_start[l + 1] - g0 != count) return false;
    for (int at = 0; at < count; at++)
        if (q->C->entry[c0 + at].column != q->G->entry[g0 + at].column) return false;
    int first = 0;
    while (first < count && both_vanish(q, c0 + first, g0 + first)) first++;
    for (int at = first; at < count; at++) {
        if (both_vanish(q, c0 + at, g0 + at)) continue;
        double ratio = factor_ratio(q, c0, g0, first, at);
        int i = q->C->entry[c0 + at].column, other = q->C->entry[c0 + first].column;
        if (ratio == 0.0 || (at > first && !relate(q->f, i, other, ratio))) return false;
    }
    return first < count;
}

/* Forget all relations but the first `joins`. */
static void unrelate(factors *f, int joins)
{
    while (f->joins > joins) {
        int i = f->joined[--f->joins];
        f->parent[i] = i;
    }
}

/* The constraint of multiplier k among those without one, from `first` on; -1: none */
static int constraint_of(pairing *q, int k, int first, int count, const int *multiplier)
{
    const int joins = q->f->joins;
    for (int l = first; l < count; l++) {
        if (multiplier[l] >= 0) continue;
        if (acts_along(q, k, l)) return l;
        unrelate(q->f, joins);
    }
    return -1;
}

static int compare_places(const mechanical_entry *a, const mechanical_entry *b)
{
    return a->column - b->column;
}

/* Entries of each row by columns. */
static void sort_within_rows(mechanical_matrix *a, const int *start, int rows)
{
    for (int r = 0; r < rows; r++)
        for (int e = start[r] + 1; e < start[r + 1]; e++) {
            mechanical_entry entry = a->entry[e];
            int to = e;
            for (; to > start[r] && compare_places(&entry, &a->entry[to - 1]) < 0; to--)
                a->entry[to] = a->entry[to - 1];
            a->entry[to] = entry;
        }
}

/* ---- candidates ---- */

/* Column k of C and row l of G at the points, C_ik / G_li; false: one has an entry where the other
 * has none. */
static bool column_ratios(const mechanical *m, const double *C_value, const double *G_value, int k,
                          int l, double *ratio, signed char *has)
{
    int n = m->nq;
    memset(has, 0, (size_t)n);
    for (int e = 0; e < m->G.count; e++) {
        if (m->G.entry[e].row != l) continue;
        has[m->G.entry[e].column] = 1;
        for (int p = 0; p < MECHANICAL_POINTS; p++)
            ratio[p * n + m->G.entry[e].column] = G_value[p * m->G.count + e];
    }
    for (int e = 0; e < m->C.count; e++) {
        if (m->C.entry[e].column != k) continue;
        int i = m->C.entry[e].row;
        if (has[i] != 1) return false;
        has[i] = 2;
        for (int p = 0; p < MECHANICAL_POINTS; p++) {
            double force = C_value[p * m->C.count + e], *to = &ratio[p * n + i];
            *to = *to != 0.0 ? force / *to : force == 0.0 ? NAN : 0.0;
        }
    }
    for (int i = 0; i < n; i++)
        if (has[i] == 1) return false;
    return true;
}

/* Whether position i has a ratio at some point */
static bool has_ratio(const mechanical *m, const double *ratio, const signed char *has, int i)
{
    for (int p = 0; has[i] != 0 && p < MECHANICAL_POINTS; p++)
        if (!isnan(ratio[p * m->nq + i])) return true;
    return false;
}

static bool column_along(const mechanical *m, const double *ratio, const signed char *has)
{
    int first = 0;
    while (first < m->nq && !has_ratio(m, ratio, has, first)) first++;
    for (int i = first; i < m->nq; i++)
        if (has_ratio(m, ratio, has, i) && steady_ratio(ratio + first, ratio + i, m->nq) == 0.0)
            return false;
    return first < m->nq;
}

mechanical_status mechanical_acts_along(mechanical_search *s, bool *along)
{
    const mechanical *m = s->m;
    const mechanical_matrix *const a[3] = {&m->M, &m->C, &m->G};
    double *value[3] = {0}, *x = DAE_ARRAY(double, 3 * (size_t)s->set->n);
    double *ratio = DAE_ARRAY(double, MECHANICAL_POINTS *(size_t)m->nq);
    signed char *has = DAE_ARRAY(signed char, m->nq);
    bool ready = x && ratio && has;
    for (int k = 0; k < 3; k++) {
        value[k] = DAE_ARRAY(double, MECHANICAL_POINTS *(size_t)a[k]->count);
        ready = ready && value[k];
    }
    int known = ready ? evaluate(s, x, a, value) : -1;
    for (int k = 0; known > 0 && k < s->candidates; k++)
        for (int l = 0; !along[k] && l < m->nlambda; l++)
            along[k] = column_ratios(m, value[1], value[2], k, l, ratio, has) &&
                       column_along(m, ratio, has);
    for (int k = 0; k < 3; k++) dae_free(value[k]);
    dae_free_all(x, ratio, has);
    if (known < 0) return MECHANICAL_MEMORY;
    if (known > 0) return MECHANICAL_OK;
    return mechanical_refuse(s, "masses and gradients cannot be evaluated at the start");
}

/* ---- results ---- */

/* The factors themselves: 1 for one of each related set, positive masses. */
static void take_scales(mechanical *m, factors *f, const int *start, const double *M_value)
{
    for (int i = 0; i < m->nq; i++) {
        double weight;
        int root = factor_root(f, i, &weight), diagonal = find_entry(&m->M, start, root, root);
        bool negative = diagonal >= 0 && M_value[diagonal] < 0.0;
        m->scale[i] = negative ? -weight : weight;
    }
}

/* lambda_l is the multiplier of constraint l; factor_l = s_i C_il / G_li. */
static bool take_pairs(mechanical *m, const pairing *q, const int *multiplier)
{
    int *lambda = dae_copy(m->lambda, (size_t)m->nlambda, sizeof *lambda);
    if (!lambda) return false;
    for (int l = 0; l < m->nlambda; l++) {
        int k = multiplier[l], c = q->C_start[k], g = q->G_start[l];
        m->lambda[l] = lambda[k];
        m->factor[l] = 1.0;
        if (m->friction) continue;
        for (; c + 1 < q->C_start[k + 1] && both_vanish(q, c, g); c++) g++;
        double scale = m->scale[q->C->entry[c].column];
        m->factor[l] = scale * force_ratio(q, 0, c, g);
        m->steady[l] = true;
        for (int p = 1; p < MECHANICAL_POINTS; p++)
            if (fabs(scale * force_ratio(q, p, c, g) - m->factor[l]) >
                MECHANICAL_SAME * fabs(m->factor[l]))
                m->steady[l] = false;
    }
    dae_free(lambda);
    return true;
}

/* Multipliers that act otherwise take the constraints that are left. */
static void pair_the_rest(int count, int *multiplier)
{
    int k = 0;
    for (int l = 0; l < count; l++) {
        if (multiplier[l] >= 0) continue;
        for (int i = 0; i < count; i++) /* the next that has none */
            if (multiplier[i] == k) {
                k++;
                i = -1;
            }
        multiplier[l] = k++;
    }
}

/* Friction, unless what acts otherwise does not determine the multipliers: then s->reason tells. */
static mechanical_status match_friction(mechanical_search *s, const pairing *q, const double *M,
                                        int *multiplier)
{
    const mechanical *m = s->m;
    for (int p = 0; p < MECHANICAL_POINTS; p++) {
        int regular = mechanical_regular(m, M + p * m->M.count, q->C_value + p * m->C.count,
                                         q->G_value + p * m->G.count);
        if (regular < 0) return MECHANICAL_MEMORY;
        if (regular == 0) return MECHANICAL_NOT;
    }
    pair_the_rest(m->nlambda, multiplier);
    return MECHANICAL_OK;
}

static mechanical_status match_multipliers(mechanical_search *s, pairing *q, const double *M,
                                           int *multiplier)
{
    mechanical *m = s->m;
    for (int l = 0; l < m->nlambda; l++) multiplier[l] = -1;
    for (int k = 0, first = 0; k < m->nlambda; k++) {
        while (first < m->nlambda && multiplier[first] >= 0) first++;
        int l = constraint_of(q, k, first, m->nlambda, multiplier);
        if (l >= 0) {
            multiplier[l] = k;
        } else if (!m->friction) {
            bool acts = q->C_start[k + 1] > q->C_start[k];
            int i = acts ? q->C->entry[q->C_start[k]].column : 0;
            mechanical_refuse(s, "%s in %s does not act along the gradient of a constraint",
                              s->set->name[m->lambda[k]], s->set->row[m->dynamic[i]].name);
            m->friction = true;
        }
    }
    return m->friction ? match_friction(s, q, M, multiplier) : MECHANICAL_OK;
}

typedef struct match_work {
    int *start; /* of M, C by columns, G */
    int *multiplier, *parent, *joined;
    double *weight, *x, *value[3];
} match_work;

static void match_work_free(match_work *w)
{
    dae_free_all(w->start, w->multiplier, w->parent, w->joined, w->weight, w->x);
    for (int k = 0; k < 3; k++) dae_free(w->value[k]);
}

static bool match_work_new(match_work *w, const mechanical_search *s)
{
    const mechanical *m = s->m;
    size_t nq = (size_t)m->nq, nl = (size_t)m->nlambda;
    const mechanical_matrix *const a[3] = {&m->M, &m->C, &m->G};
    *w = (match_work){.start = DAE_ARRAY(int, nq + 2 * nl + 3),
                      .multiplier = DAE_ARRAY(int, nl),
                      .parent = DAE_ARRAY(int, nq),
                      .joined = DAE_ARRAY(int, nq),
                      .weight = DAE_ARRAY(double, nq),
                      .x = DAE_ARRAY(double, 3 * (size_t)s->set->n)};
    bool ok = w->start && w->multiplier && w->parent && w->joined && w->weight && w->x;
    for (int k = 0; k < 3; k++) {
        w->value[k] = DAE_ARRAY(double, MECHANICAL_POINTS *(size_t)a[k]->count);
        ok = ok && w->value[k];
    }
    for (int i = 0; ok && i < m->nq; i++) {
        w->parent[i] = i;
        w->weight[i] = 1.0;
    }
    return ok;
}

/* Masses that are negative at all points are none. */
static mechanical_status check_masses(mechanical_search *s, const double *M_value)
{
    const mechanical *m = s->m;
    int bad = -1;
    for (int p = 0; p < MECHANICAL_POINTS; p++) {
        bad = mechanical_bad_mass(m, M_value + p * m->M.count, false);
        if (bad == -2) return MECHANICAL_MEMORY;
        if (bad == -1) return MECHANICAL_OK;
    }
    return mechanical_refuse(s,
                             "the mass matrix is indefinite: elimination finds a negative mass at "
                             "%s, whose equation of motion is %s",
                             s->set->name[m->q[bad]], s->set->row[m->dynamic[bad]].name);
}

/* With C by columns: symmetric masses, forces along gradients. */
static mechanical_status match_forces(mechanical_search *s, match_work *w)
{
    mechanical *m = s->m;
    int *M_start = w->start, *C_start = M_start + m->nq + 1, *G_start = C_start + m->nlambda + 1;
    const mechanical_matrix *const a[3] = {&m->M, &m->C, &m->G};
    factors f = {m->nq, w->parent, w->weight, w->joined, 0};
    pairing q = {&m->C, &m->G, C_start, G_start, w->value[1], w->value[2], &f};
    if (!sort_entries(&m->M, m->nq, M_start) || !sort_entries(&m->C, m->nlambda, C_start) ||
        !sort_entries(&m->G, m->nlambda, G_start))
        return MECHANICAL_MEMORY;
    sort_within_rows(&m->C, C_start, m->nlambda);
    sort_within_rows(&m->G, G_start, m->nlambda);
    int known = evaluate(s, w->x, a, w->value);
    if (known < 0) return MECHANICAL_MEMORY;
    if (known == 0)
        return mechanical_refuse(s, "masses and gradients cannot be evaluated at the start");
    mechanical_status status = relate_masses(s, &f, M_start, w->value[0]);
    if (status == MECHANICAL_OK) status = match_multipliers(s, &q, w->value[0], w->multiplier);
    if (status != MECHANICAL_OK) return status;
    take_scales(m, &f, M_start, w->value[0]);
    status = check_masses(s, w->value[0]);
    if (status != MECHANICAL_OK) return status;
    if (!take_pairs(m, &q, w->multiplier)) return MECHANICAL_MEMORY;
    for (int l = 0; l < m->nlambda; l++) w->start[w->multiplier[l]] = l;
    mechanical_renumber(&m->C, w->start);
    return MECHANICAL_OK;
}

mechanical_status mechanical_match(mechanical_search *s)
{
    match_work w = {0};
    mechanical_status status = MECHANICAL_OK;
    if (!match_work_new(&w, s)) {
        match_work_free(&w);
        return MECHANICAL_MEMORY;
    }
    transpose(&s->m->C);
    status = match_forces(s, &w);
    transpose(&s->m->C);
    match_work_free(&w);
    return status;
}
