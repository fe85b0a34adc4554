/* Equations in the order in which they determine unknowns.
 *
 * Every equation is given the unknown that it determines: free unknowns first, then those whose
 * values nobody gave, then others; what is left over is known. The strongly connected components of
 * who needs whom are blocks, and each is solved where all that it needs is known: g = .. before
 * r = 1/g. A block whose search fails at its start begins elsewhere: where the Jacobian is singular
 * at a guess that nobody gave (v^2 = 2 g h at v = 0), any other guess is as good. */
#include <float.h>

#include "base/memory.h"
#include "base/vector.h"
#include "init/guesses.h"
#include "init/levels_parts.h"
#include "structure/index/components.h"

static const double MOST_WORK =
    2e7;                    /* blocks times unknowns: above that the order is not worth it */
enum { MOST_FAILURES = 8 }; /* blocks without a solution: what follows needs them */
enum { PROBES = 64 };       /* evaluations that look for poles at the start */

/* Who determines whom. */
typedef struct evaluation_order {
    level_work *work;
    signature rows; /* pattern by rows */
    int *row_of;    /* per unknown: the equation that determines it; -1: it is known */
    bool *pole;     /* per unknown: its start value is where an equation has no value */
    components blocks;
} evaluation_order;

static void order_free(evaluation_order *o)
{
    signature_free(&o->rows);
    components_free(&o->blocks);
    dae_free_all(o->row_of, o->pole);
}

/* How many rows have no value at work->u; their numbers go to `row`. */
static int count_undefined(level_work *work, int *row)
{
    const level_system *s = work->system;
    int count = 0;
    if (s->residual(s->user, work->u, work->r) == EVAL_STOP) return 0;
    for (int i = 0; i < s->m; i++)
        if (!isfinite(work->r[i])) row[count++] = i;
    return count;
}

/* Whether nobody gave unknown j its value. */
static bool is_open(const level_request *q, int j)
{
    return level_surety(q, j) <= 0;
}

/* Unknowns at 0 that nobody gave, by which a row has no value: elsewhere it has. They are left at
 * their scales, and had rather be computed than known. */
static bool leave_poles(evaluation_order *o)
{
    level_work *work = o->work;
    const signature *g = &o->rows;
    int *row = DAE_ARRAY(int, work->system->m), *less = DAE_ARRAY(int, work->system->m), probes = 0;
    bool ok = row && less;
    int count = ok ? count_undefined(work, row) : 0;
    for (int k = 0; k < count; k++)
        for (int e = g->start[row[k]]; e < g->start[row[k] + 1] && probes < PROBES; e++) {
            int j = g->column[e];
            if (work->u[j] != 0.0 || o->pole[j] || !is_open(work->request, j)) continue;
            work->u[j] = work->request->scale[j];
            probes++;
            int left = count_undefined(work, less);
            o->pole[j] = left < count;
            if (!o->pole[j]) work->u[j] = 0.0;
            if (!o->pole[j]) continue;
            count = left;
            memcpy(row, less, (size_t)left * sizeof *row);
            k = -1;
            break;
        }
    dae_free_all(row, less);
    return ok;
}

/* The order in which unknowns are given an equation: 0 first; -1: fixed ones get none. What has a
 * pole at its start had rather be computed. */
static int eagerness(const evaluation_order *o, int j)
{
    static const int of_surety[] = {0, 3, 4, -1}; /* free, not given, preferred, fixed */
    int sure = level_surety(o->work->request, j);
    if (sure < 0) return !o->pole[j];
    return sure == 0 && o->pole[j] ? 2 : of_surety[sure + 1];
}

/* How well the value of an unknown may count as known, where one must: a state of the model better
 * than what its equations determine. */
static int certainty(const evaluation_order *o, int j)
{
    const level_request *q = o->work->request;
    bool state = q->state && q->state[j] && !o->pole[j];
    return level_surety(q, j) <= 0 && state ? 4 : eagerness(o, j);
}

/* Give unknowns their equations, the eager ones first: what a matching can cover is a matroid, so
 * that greed is best. */
static bool match_unknowns(evaluation_order *o)
{
    const level_system *s = o->work->system;
    level_matching m;
    bool ok = level_matching_new(&m, s);
    for (int now = 0; ok && now <= 4; now++)
        for (int j = 0; j < s->n; j++)
            if (eagerness(o, j) == now) matching_add(&m.of, j);
    for (int j = 0; ok && j < s->n; j++) o->row_of[j] = -1;
    for (int i = 0; ok && i < s->m; i++)
        if (m.of.row_of[i] >= 0) o->row_of[m.of.row_of[i]] = i;
    level_matching_free(&m);
    return ok;
}

static bool order_new(evaluation_order *o, level_work *work)
{
    *o = (evaluation_order){.work = work};
    o->row_of = DAE_ARRAY(int, work->system->n);
    o->pole = DAE_ARRAY(bool, work->system->n);
    if (!o->row_of || !o->pole || !level_rows(work->system, &o->rows) || !leave_poles(o) ||
        !match_unknowns(o))
        return false;
    row_graph g = {.s = &o->rows, .row_of = o->row_of};
    return components_find(&o->blocks, &g);
}

/* The problem of block b: its matched rows, all unknowns held but theirs. *count: how many. */
static bool block_problem(const evaluation_order *o, int b, level_problem *p, int *count)
{
    const level_system *s = o->work->system;
    const components *k = &o->blocks;
    bool *held = DAE_ARRAY(bool, s->n), *wanted = DAE_ARRAY(bool, s->m);
    int *rows = DAE_ARRAY(int, s->m), size = 0;
    bool ok = held && wanted && rows;
    for (int e = k->start[b]; ok && e < k->start[b + 1]; e++) wanted[k->member[e]] = true;
    for (int j = 0; ok && j < s->n; j++) {
        held[j] = o->row_of[j] < 0 || !wanted[o->row_of[j]];
        if (!held[j]) rows[size++] = o->row_of[j];
    }
    *count = size;
    if (ok && size > 0) ok = level_problem_new(p, o->work, size, rows, held);
    dae_free_all(held, wanted, rows);
    return ok;
}

/* ---- other starts ---- */

/* Newton's iteration from p->u. */
static engine_outcome begin_at(level_problem *p)
{
    engine_outcome outcome = level_residual(p, p->u, p->r);
    return outcome == ENGINE_MET ? level_newton(p, LEVEL_RANK) : outcome;
}

/* The only unknown at `value`: the residual, or NAN. */
static double scalar_residual(level_problem *p, double value)
{
    p->trial[0] = value;
    return level_residual(p, p->trial, p->misfit) == ENGINE_MET ? p->misfit[0] : (double)NAN;
}

/* The middle of a and b, by their sizes where they have one sign. */
static double middle(double a, double b)
{
    return a * b > 0.0 ? copysign(sqrt(fabs(a)) * sqrt(fabs(b)), a) : 0.5 * (a + b);
}

/* Halve [a, b] with a change of sign down to where Newton's iteration is sure. */
static engine_outcome bisect(level_problem *p, double a, double ra, double b)
{
    enum { HALVINGS = 60 };
    for (int k = 0; k < HALVINGS; k++) {
        double c = middle(a, b), rc = scalar_residual(p, c);
        if (c == a || c == b || !isfinite(rc)) break;
        if ((rc > 0.0) == (ra > 0.0)) {
            a = c;
            ra = rc;
        } else {
            b = c;
        }
    }
    p->u[0] = middle(a, b);
    return begin_at(p);
}

/* A root between a and b, if the residual changes its sign there; else ENGINE_STALLED. */
static engine_outcome search_between(level_problem *p, double a, double b)
{
    double ra = scalar_residual(p, a), rb = scalar_residual(p, b);
    bool crosses = isfinite(ra) && isfinite(rb) && ra != rb && (ra > 0.0 ? rb <= 0.0 : rb >= 0.0);
    return crosses ? bisect(p, a, ra, b) : ENGINE_STALLED;
}

/* One equation for one unknown: where the residual has two signs at sizes 10^k and 10^(k+1) there
 * is a root, or a pole, which Newton's iteration tells. Sizes near the unit first, and the positive
 * side; last what lies about 0. */
static engine_outcome search_scalar(level_problem *p, double unit)
{
    enum { DECADES = 30 };
    engine_outcome outcome = ENGINE_STALLED;
    for (int step = 0; step < 4 * DECADES + 2; step++) {
        double side = (step % 2 != 0) != p->work->request->turned ? -unit : unit;
        int k = step / 2 % 2 ? -1 - step / 4 : step / 4; /* 0, -1, 1, -2, 2, .. */
        bool inner = step >= 4 * DECADES;
        double from = inner ? 0.0 : side * pow(10.0, k);
        double to = side * pow(10.0, inner ? -DECADES : k + 1);
        outcome = search_between(p, from, to);
        if (outcome == ENGINE_MET || engine_ends(outcome)) return outcome;
    }
    return outcome;
}

/* Several unknowns: all that nobody gave at one size, in some patterns of signs. */
static engine_outcome search_block(level_problem *p, bool all)
{
    const level_request *q = p->work->request;
    engine_outcome outcome = ENGINE_STALLED;
    for (int k = 0; k < GUESSES_ELSEWHERE; k++) {
        for (int j = 0; j < p->n; j++) {
            int column = p->column[j];
            double unit = fmax(q->scale[column], fabs(p->start[j]));
            bool moves = all || is_open(q, column);
            double guess = guess_elsewhere(k, j, q->turned) * unit * guess_spread(j);
            p->u[j] = moves ? guess : p->start[j];
        }
        outcome = begin_at(p);
        if (outcome == ENGINE_MET || engine_ends(outcome)) return outcome;
    }
    return outcome;
}

/* The search goes on from other starts where the one given leads nowhere. */
static engine_outcome search_elsewhere(level_problem *p)
{
    level_work *work = p->work;
    double unit = fmax(work->request->scale[p->column[0]], fabs(p->start[0]));
    engine_outcome outcome = p->n == 1 ? search_scalar(p, unit) : search_block(p, false);
    if (outcome != ENGINE_MET && !engine_ends(outcome) && p->n > 1) outcome = search_block(p, true);
    for (int j = 0; outcome == ENGINE_MET && j < p->n; j++) work->displaced[p->column[j]] = true;
    return outcome;
}

/* ---- a start within a block ---- */

/* Block b while its unknowns are computed one after the other. */
typedef struct sweep {
    const evaluation_order *o;
    int block;
    bool *open;  /* per unknown: in the block, and without a value yet */
    bool *spent; /* per row: used */
    int left;    /* unknowns without a value */
} sweep;

static bool sweep_new(sweep *w, const evaluation_order *o, int b)
{
    const level_system *s = o->work->system;
    *w = (sweep){.o = o, .block = b};
    w->open = DAE_ARRAY(bool, s->n);
    w->spent = DAE_ARRAY(bool, s->m);
    if (!w->open || !w->spent) return false;
    for (int j = 0; j < s->n; j++) {
        w->open[j] = o->row_of[j] >= 0 && o->blocks.of[o->row_of[j]] == b;
        w->left += w->open[j];
    }
    return true;
}

/* The only unknown of row i that has no value yet; -1: there are more, or none. */
static int last_open(const sweep *w, int i)
{
    const signature *g = &w->o->rows;
    int only = -1;
    for (int e = g->start[i]; e < g->start[i + 1]; e++) {
        if (!w->open[g->column[e]]) continue;
        if (only >= 0) return -1;
        only = g->column[e];
    }
    return only;
}

/* dR_i/du_j from the Jacobian at hand */
static double slope_of(const level_work *work, int i, int j)
{
    const level_system *s = work->system;
    for (int e = s->colptr[j]; e < s->colptr[j + 1]; e++)
        if (s->rowind[e] == i) return work->values[e];
    return 0.0;
}

/* How good row i is for unknown j: one that does not depend on it here, as p q = 0 at p = 0 on q,
 * comes last; the one that determines it in the order of evaluation comes first: vin = out/10
 * before out = limit(vin). */
static int fitness(const sweep *w, int i, int j)
{
    if (slope_of(w->o->work, i, j) == 0.0) return 0;
    return w->o->row_of[j] == i ? 2 : 1;
}

/* The fittest row of the block that is not used and has one unknown left, which goes to *column;
 * -1: none. */
static int next_row(const sweep *w, int *column)
{
    const components *k = &w->o->blocks;
    level_work *work = w->o->work;
    int found = -1, best = -1;
    work->system->jacobian(work->system->user, work->u, work->values);
    for (int e = k->start[w->block]; e < k->start[w->block + 1] && best < 2; e++) {
        int i = k->member[e], j = w->spent[i] ? -1 : last_open(w, i);
        int fit = j < 0 ? -1 : fitness(w, i, j);
        if (fit <= best) continue;
        best = fit;
        found = i;
        *column = j;
    }
    return found;
}

/* Unknown j from row i alone, if that can be; else it stays. */
static engine_outcome solve_one(const sweep *w, int i, int j)
{
    level_work *work = w->o->work;
    const double before = work->u[j];
    const bool displaced = work->displaced[j];
    bool *held = DAE_ARRAY(bool, work->system->n);
    level_problem p;
    for (int k = 0; held && k < work->system->n; k++) held[k] = k != j;
    bool ready = held && level_problem_new(&p, work, 1, &i, held);
    dae_free(held);
    if (!ready) return ENGINE_MEMORY;
    engine_outcome outcome = level_from_start(&p);
    if (outcome != ENGINE_MET && !engine_ends(outcome)) outcome = search_elsewhere(&p);
    level_store(&p);
    level_problem_free(&p);
    if (outcome == ENGINE_MET || engine_ends(outcome)) return outcome;
    work->u[j] = before;
    work->displaced[j] = displaced;
    return ENGINE_MET;
}

/* The unknown whose value is the surest of those that are left. */
static int surest(const sweep *w)
{
    int best = -1;
    for (int j = 0; j < w->o->work->system->n; j++)
        if (w->open[j] && (best < 0 || certainty(w->o, j) > certainty(w->o, best))) best = j;
    return best;
}

/* Values for a start of block b: its unknowns one after the other where an equation has no other;
 * where none has, the surest value counts as known. */
static engine_outcome sweep_block(const evaluation_order *o, int b)
{
    sweep w;
    engine_outcome outcome = sweep_new(&w, o, b) ? ENGINE_MET : ENGINE_MEMORY;
    while (outcome == ENGINE_MET && w.left > 0) {
        int column = -1, row = next_row(&w, &column);
        if (row < 0) column = surest(&w);
        if (row >= 0) outcome = solve_one(&w, row, column);
        if (row >= 0) w.spent[row] = true;
        w.open[column] = false;
        w.left--;
    }
    dae_free_all(w.open, w.spent);
    return outcome;
}

/* Solve the block's problem from work->u; what is found, or was there, is stored. */
static engine_outcome solve_block_from(const evaluation_order *o, int b, bool elsewhere)
{
    level_problem p;
    level_stage stage;
    int count;
    if (!block_problem(o, b, &p, &count)) return ENGINE_MEMORY;
    if (count == 0) return ENGINE_MET;
    engine_outcome outcome = p.n == 1 ? level_from_start(&p) : level_stages(&p, &stage);
    if (outcome != ENGINE_MET && !engine_ends(outcome) && elsewhere) outcome = search_elsewhere(&p);
    if (outcome != ENGINE_MET) vector_copy(p.n, p.start, p.u);
    level_store(&p);
    level_problem_free(&p);
    return outcome;
}

/* Solve one block: from values that follow one after the other, then from others; unknowns of one
 * that has no solution stay. */
static engine_outcome solve_block(const evaluation_order *o, int b)
{
    level_work *work = o->work;
    const size_t n = (size_t)work->system->n;
    const bool single = o->blocks.start[b + 1] - o->blocks.start[b] == 1;
    if (single) return solve_block_from(o, b, true);
    double *before = dae_copy(work->u, n, sizeof *before);
    bool *displaced = dae_copy(work->displaced, n, sizeof *displaced);
    engine_outcome outcome = before && displaced ? sweep_block(o, b) : ENGINE_MEMORY;
    if (outcome == ENGINE_MET) outcome = solve_block_from(o, b, false);
    if (outcome != ENGINE_MET && !engine_ends(outcome)) {
        memcpy(work->u, before, n * sizeof *before);
        memcpy(work->displaced, displaced, n * sizeof *displaced);
        outcome = solve_block_from(o, b, true);
    }
    dae_free_all(before, displaced);
    return outcome;
}

engine_outcome level_blocks(level_work *work)
{
    evaluation_order o;
    int failures = 0;
    engine_outcome outcome = order_new(&o, work) ? ENGINE_MET : ENGINE_MEMORY;
    bool worth = outcome == ENGINE_MET && (double)o.blocks.count * work->system->n <= MOST_WORK;
    for (int b = 0; worth && b < o.blocks.count && failures < MOST_FAILURES; b++) {
        outcome = solve_block(&o, b);
        failures += outcome != ENGINE_MET;
        if (engine_ends(outcome)) break;
    }
    order_free(&o);
    return engine_ends(outcome) ? outcome : worth ? ENGINE_MET : ENGINE_STALLED;
}
