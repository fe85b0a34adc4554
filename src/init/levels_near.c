/* Of several solutions on all levels the one near the guess: as in nearest.c. */
#include "base/memory.h"
#include "base/vector.h"
#include "init/guesses.h"
#include "init/levels_parts.h"

static const double UNMOVED = 1e-10; /* values that moved less, in scales, are where they were */

enum { MOST_FOUND = 4 };
typedef struct found_list {
    level_work *work;
    const double *start; /* the guess */
    double *u;           /* MOST_FOUND times n */
    int count, best;
    bool given; /* somebody gave some guesses: the others do not count */
} found_list;

static bool any_given(const level_request *q, int n)
{
    for (int j = 0; j < n; j++)
        if (q->guessed[j] && level_surety(q, j) == 1) return true;
    return false;
}

static bool counts(const level_request *q, bool given, int j)
{
    return q->guessed[j] && (!given || level_surety(q, j) == 1);
}

bool level_left(const level_work *work, const double *start)
{
    const level_request *q = work->request;
    const int n = q->guessed ? work->system->n : 0;
    const bool given = n > 0 && any_given(q, n);
    for (int j = 0; j < n; j++)
        if (counts(q, given, j) && guess_left(start[j], work->u[j], UNMOVED * q->scale[j]))
            return true;
    return false;
}

static nearness compare(const found_list *l, int here, int there)
{
    const level_request *q = l->work->request;
    const int n = l->work->system->n;
    nearness d = {.variable = -1};
    for (int j = 0; j < n; j++)
        if (counts(q, l->given, j))
            nearness_add(&d, j, l->start[j], l->u[here * n + j], l->u[there * n + j],
                         UNMOVED * q->scale[j]);
    return d;
}

/* work->u is a solution; report->other: that which was the best before, if this one is nearer. */
static engine_outcome add(found_list *l, level_report *report)
{
    const int k = l->count++, n = l->work->system->n;
    vector_copy(n, l->work->u, l->u + k * n);
    const nearness d = compare(l, k, l->best);
    if (k == 0 || !nearness_gained(&d)) return ENGINE_MET;
    dae_free(report->other_u);
    report->other = d.variable;
    report->other_u = dae_copy(l->u + l->best * n, (size_t)n, sizeof *l->u);
    l->best = k;
    return report->other_u ? ENGINE_MET : ENGINE_MEMORY;
}

/* What p knows of the solutions: those, and ways, of its own unknowns; NULL: memory */
static double *known_to(const level_problem *p, const found_list *l, bool *bounded)
{
    const level_request *q = l->work->request;
    const int n = l->work->system->n;
    double *known = DAE_ARRAY(double, (size_t)(MOST_FOUND + 1) * (size_t)p->n), *way = known;
    for (int i = 0; known && i < p->n; i++) {
        const int j = p->column[i];
        bounded[i] = counts(q, l->given, j);
        way[i] = q->guessed[j] ? guess_way(l->start[j], l->u[j], UNMOVED * q->scale[j]) : 0.0;
        for (int k = 0; k < l->count; k++) known[(k + 1) * p->n + i] = l->u[k * n + j];
    }
    return known;
}

/* All equations from the guess, along the curve or beside what is known. */
static engine_outcome solve_once(found_list *l, const bool *held, bool curve)
{
    level_problem p;
    level_work *work = l->work;
    vector_copy(work->system->n, l->start, work->u);
    int *rows = DAE_ARRAY(int, work->system->m);
    for (int i = 0; rows && i < work->system->m; i++) rows[i] = i;
    bool made = rows && level_problem_new(&p, work, work->system->m, rows, held);
    bool *bounded = made ? DAE_ARRAY(bool, p.n) : NULL;
    double *known = bounded ? known_to(&p, l, bounded) : NULL;
    engine_outcome outcome = known ? ENGINE_MET : ENGINE_MEMORY;
    if (known) {
        vector_copy(p.n, p.start, p.u);
        const deflation d = {l->count, known + p.n, known, bounded};
        outcome = curve ? level_followed(&p, LEVEL_RANK) : level_deflated(&p, LEVEL_RANK, &d);
    }
    if (outcome == ENGINE_MET) level_store(&p);
    if (made) level_problem_free(&p);
    dae_free_all(rows, known, bounded);
    return outcome;
}

/* The curve from the guess, then deflation as long as that finds others. */
static engine_outcome search(found_list *l, const bool *held, level_report *report)
{
    engine_outcome outcome = solve_once(l, held, true);
    if (outcome == ENGINE_MET) outcome = add(l, report);
    if (!l->given) return outcome;
    while (l->count < MOST_FOUND && !engine_ends(outcome)) {
        outcome = solve_once(l, held, false);
        if (outcome != ENGINE_MET) return outcome;
        outcome = add(l, report);
    }
    return outcome;
}

engine_outcome level_nearest(level_work *work, const bool *held, const double *start,
                             level_report *report)
{
    const int n = work->system->n;
    found_list l = {.work = work,
                    .start = start,
                    .u = DAE_ARRAY(double, MOST_FOUND *(size_t)n),
                    .given = any_given(work->request, n)};
    if (!l.u) return ENGINE_MEMORY;
    engine_outcome outcome = add(&l, report);
    if (outcome == ENGINE_MET) outcome = search(&l, held, report);
    vector_copy(n, l.u + l.best * n, work->u);
    dae_free(l.u);
    return engine_ends(outcome) ? outcome : ENGINE_MET;
}
