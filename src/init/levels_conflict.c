/* An irreducible set of equations and fixed values that cannot hold together: a deletion filter
 * [Chi08 6.1], in pieces that are halved, on the rows that the least squares solution points to. */
#include "base/memory.h"
#include "base/vector.h"
#include "init/levels_parts.h"

static const double POINTED = 1e-6; /* residuals at the minimum, against the largest */
enum { MEMBERS = 500 };             /* a larger set is not searched: it would take too long */
enum { SHAKES = 3 };                /* more starts, for sets of at most SHAKEN members */
enum { SHAKEN = 60 };

/* Equations i >= 0 and fixed unknowns j, as -1 - j. */
typedef struct conflict {
    level_work *work;
    int *member, count;
    int *rest;             /* a part of the members */
    int *rows;             /* work */
    bool *held, *chosen;   /* n, m */
    double *start, *least; /* n: two points to start from, */
    double *shaken;        /* and others: the given one is often singular (a pendulum at rest) */
} conflict;

static void conflict_free(conflict *c)
{
    dae_free_all(c->member, c->rest, c->rows, c->held, c->chosen, c->start, c->least, c->shaken);
}

static bool conflict_new(conflict *c, level_work *work)
{
    const int n = work->system->n, m = work->system->m;
    *c = (conflict){.work = work};
    c->member = DAE_ARRAY(int, n + m);
    c->rest = DAE_ARRAY(int, n + m);
    c->rows = DAE_ARRAY(int, m);
    c->held = DAE_ARRAY(bool, n);
    c->chosen = DAE_ARRAY(bool, m);
    c->start = dae_copy(work->origin, (size_t)n, sizeof(double));
    c->least = dae_copy(work->u, (size_t)n, sizeof(double));
    c->shaken = DAE_ARRAY(double, n);
    return c->shaken && c->member && c->rest && c->rows && c->held && c->chosen && c->start &&
           c->least;
}

/* All stages from one point for rows[0..m-1]; the solution is left in work->u. */
static engine_outcome solve_from(conflict *c, const double *point, int m)
{
    level_problem p;
    level_stage stage;
    vector_copy(c->work->system->n, point, c->work->u);
    if (!level_problem_new(&p, c->work, m, c->rows, c->held)) return ENGINE_MEMORY;
    engine_outcome outcome = level_stages(&p, &stage);
    level_store(&p);
    level_problem_free(&p);
    return outcome;
}

/* A start where what may move has moved by up to half its size. */
static void shake(conflict *c, unsigned seed)
{
    for (int j = 0; j < c->work->system->n; j++) {
        seed = seed * 1664525u + 1013904223u;
        double unit = (double)(seed >> 8) / 16777216.0 - 0.5; /* in [-1/2, 1/2) */
        c->shaken[j] = c->start[j] + (c->held[j] ? 0.0 : unit * c->work->request->scale[j]);
    }
}

/* Whether a set can hold together: ENGINE_MET or ENGINE_STALLED. */
static engine_outcome compatible(conflict *c, const int *set, int count)
{
    int m = 0;
    for (int j = 0; j < c->work->system->n; j++) c->held[j] = false;
    for (int k = 0; k < count; k++)
        if (set[k] >= 0)
            c->rows[m++] = set[k];
        else
            c->held[-1 - set[k]] = true;
    if (m == 0) return ENGINE_MET;
    engine_outcome outcome = solve_from(c, c->start, m);
    if (outcome == ENGINE_STALLED) outcome = solve_from(c, c->least, m);
    for (unsigned k = 1; k <= SHAKES && count <= SHAKEN && outcome == ENGINE_STALLED; k++) {
        shake(c, k);
        outcome = solve_from(c, c->shaken, m);
    }
    return outcome == ENGINE_UNDEFINED ? ENGINE_MET : outcome; /* no proof of a conflict */
}

/* rest := members without those at first .. first+count-1 */
static int without(conflict *c, int first, int count)
{
    int kept = 0;
    for (int k = 0; k < c->count; k++)
        if (k < first || k >= first + count) c->rest[kept++] = c->member[k];
    return kept;
}

/* Drop pieces of `size` members that the conflict does not need. */
static engine_outcome drop_pieces(conflict *c, int size)
{
    for (int first = 0; first < c->count;) {
        int kept = without(c, first, size);
        engine_outcome outcome = compatible(c, c->rest, kept);
        if (outcome == ENGINE_STALLED) {
            memcpy(c->member, c->rest, (size_t)kept * sizeof *c->member);
            c->count = kept;
        } else if (outcome == ENGINE_MET) {
            first += size;
        } else {
            return outcome;
        }
    }
    return ENGINE_MET;
}

/* members := the chosen equations and the fixed unknowns in them */
static void take_chosen(conflict *c)
{
    const level_system *s = c->work->system;
    c->count = 0;
    for (int i = 0; i < s->m; i++)
        if (c->chosen[i]) c->member[c->count++] = i;
    for (int j = 0; j < s->n; j++) {
        if (c->work->request->tag[j] != DAE_TAG_FIXED) continue;
        for (int e = s->colptr[j]; e < s->colptr[j + 1]; e++) {
            if (!c->chosen[s->rowind[e]]) continue;
            c->member[c->count++] = -1 - j;
            break;
        }
    }
}

/* Choose the rows that share an unknown with the chosen ones, too; returns how many came. */
static int choose_neighbours(conflict *c)
{
    const level_system *s = c->work->system;
    int added = 0;
    for (int i = 0; i < s->m; i++) c->rows[i] = 0;
    for (int j = 0; j < s->n; j++) {
        bool touched = false;
        if (c->work->request->tag[j] == DAE_TAG_FIXED) continue;
        for (int e = s->colptr[j]; e < s->colptr[j + 1]; e++) touched |= c->chosen[s->rowind[e]];
        for (int e = s->colptr[j]; touched && e < s->colptr[j + 1]; e++) c->rows[s->rowind[e]] = 1;
    }
    for (int i = 0; i < s->m; i++) {
        added += c->rows[i] && !c->chosen[i];
        c->chosen[i] |= c->rows[i] != 0;
    }
    return added;
}

/* Choose the rows with large residuals at the least squares solution. */
static engine_outcome choose_pointed(conflict *c)
{
    const level_system *s = c->work->system;
    level_problem p;
    for (int i = 0; i < s->m; i++) c->rows[i] = i;
    for (int j = 0; j < s->n; j++) c->held[j] = c->work->request->tag[j] == DAE_TAG_FIXED;
    if (!level_problem_new(&p, c->work, s->m, c->rows, c->held)) return ENGINE_MEMORY;
    engine_outcome outcome = level_residual(&p, p.u, p.r);
    if (outcome == ENGINE_MET) outcome = level_jacobian(&p, p.u);
    double most = outcome == ENGINE_MET ? level_misfit(&p, p.r) : 0.0;
    for (int i = 0; i < s->m; i++)
        c->chosen[i] = outcome != ENGINE_MET || p.misfit[i] > POINTED * most;
    level_problem_free(&p);
    return outcome == ENGINE_UNDEFINED ? ENGINE_MET : outcome;
}

/* Grow the chosen rows until they conflict: at once if the least squares solution is one.
 * ENGINE_STALLED: too many. */
static engine_outcome grow(conflict *c)
{
    engine_outcome outcome = choose_pointed(c);
    while (outcome == ENGINE_MET) {
        take_chosen(c);
        if (c->count > MEMBERS) return ENGINE_STALLED;
        outcome = compatible(c, c->member, c->count);
        if (outcome == ENGINE_MET && choose_neighbours(c) == 0) return ENGINE_MET;
    }
    return outcome == ENGINE_STALLED ? ENGINE_MET : outcome;
}

/* Members to the report, with the values that fixed ones would take if free. */
static engine_outcome report_members(conflict *c, level_report *report, double *instead)
{
    for (int k = 0; k < c->count; k++) {
        if (c->member[k] >= 0) {
            report->equation[report->equation_count++] = c->member[k];
            continue;
        }
        int j = -1 - c->member[k], kept = without(c, k, 1);
        engine_outcome outcome = compatible(c, c->rest, kept);
        if (outcome != ENGINE_MET && outcome != ENGINE_STALLED) return outcome;
        instead[report->fixed_count] = outcome == ENGINE_MET ? c->work->u[j] : NAN;
        report->fixed[report->fixed_count++] = j;
    }
    return ENGINE_MET;
}

static engine_outcome filter(conflict *c, level_report *report, double **instead)
{
    engine_outcome outcome = grow(c);
    for (int size = (c->count + 1) / 2; size >= 1 && outcome == ENGINE_MET; size = (size + 1) / 2) {
        outcome = drop_pieces(c, size);
        if (size == 1) break;
    }
    if (outcome != ENGINE_MET) return outcome;
    report->equation = DAE_ARRAY(int, c->count);
    report->fixed = DAE_ARRAY(int, c->count);
    *instead = DAE_ARRAY(double, c->count);
    if (!report->equation || !report->fixed || !*instead) return ENGINE_MEMORY;
    return report_members(c, report, *instead);
}

engine_outcome level_conflict(level_work *work, level_report *report, double **instead)
{
    conflict c;
    *instead = NULL;
    engine_outcome outcome = conflict_new(&c, work) ? filter(&c, report, instead) : ENGINE_MEMORY;
    if (c.least) vector_copy(work->system->n, c.least, work->u);
    conflict_free(&c);
    return outcome;
}
