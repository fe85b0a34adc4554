/* Consistent values over all constraint levels: given, Newton, Gauss-Newton, homotopy; then the
 * conflict. */
#include "init/levels.h"

#include <limits.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"
#include "init/levels_parts.h"

static const double UNMOVED = 1e-10;  /* preferred values that moved less, in scales, need not */
static const double FOLLOWING = 1e-8; /* what others may move in exchange */
/* Given values that moved by more, in scales, may have been left for another solution; one that is
 * nearer by this factor is taken. */
static const double APART = 1e-3, NEARER = 0.5;

void level_report_free(level_report *report)
{
    dae_free_all(report->equation, report->fixed, report->other_u);
    report->other_u = NULL;
    report->equation = report->fixed = NULL;
    report->equation_count = report->fixed_count = 0;
}

/* Whether derivatives exist at the problem's point; the rank, if it is asked for. */
static engine_outcome look_at_rank(level_problem *p, int *rank)
{
    return p->work->request->count_rank ? level_rank(p, rank) : level_jacobian(p, p->u);
}

/* Whether what is left of the residual at the problem's point, whose Jacobian is known, matters to
 * no unknown. */
static bool level_near(level_problem *p)
{
    if (!p->work->request->absolute) return true;
    level_scale(p);
    return kkt_factor(p->solver, p->B, LEVEL_RANK, 0.0) == LINEAR_OK && level_close(p);
}

/* Whether preferred unknowns are where they were given and all rows are met. *known: then
 * look_at_rank would evaluate the same once more. */
static bool already_consistent(level_problem *p, bool *known)
{
    *known = false;
    for (int j = 0; j < p->n; j++)
        if (p->preferred[j] && p->u[j] != p->work->origin[p->column[j]]) return false;
    if (level_residual(p, p->u, p->r) != ENGINE_MET) return false;
    if (level_jacobian(p, p->u) != ENGINE_MET) return false;
    double misfit = level_misfit(p, p->r);
    bool suspicious = level_suspicious(p, misfit);
    if (suspicious && level_measure_noise(p, p->u, p->r) == ENGINE_MET)
        misfit = level_misfit(p, p->r);
    *known = !suspicious && !p->work->request->count_rank;
    if (!(misfit <= p->work->tolerance)) return false;
    return misfit == 0.0 || level_near(p);
}

/* The problem of the rows with core[i] == wanted, core = NULL: of all, with `held` unknowns
 * standing still, from work->u. */
static bool part_problem(level_problem *p, level_work *work, const bool *core, bool wanted,
                         const bool *held)
{
    int count = 0, *rows = DAE_ARRAY(int, work->system->m);
    for (int i = 0; rows && i < work->system->m; i++)
        if (!core || core[i] == wanted) rows[count++] = i;
    bool ok = rows && level_problem_new(p, work, count, rows, held);
    dae_free(rows);
    return ok;
}

/* Rows with core[i] == wanted from work->u, unknowns held as told; MET leaves the solution in
 * work->u. core = NULL: all rows. */
static engine_outcome solve_part(level_work *work, const bool *core, bool wanted, const bool *held,
                                 level_report *report)
{
    int rank = 0;
    level_problem p;
    level_stage stage = LEVEL_GIVEN;
    if (!part_problem(&p, work, core, wanted, held)) return ENGINE_MEMORY;
    bool known, given = already_consistent(&p, &known);
    engine_outcome outcome = given ? ENGINE_MET : level_stages(&p, &stage);
    if (outcome == ENGINE_STALLED) report->residual = level_misfit(&p, p.r);
    level_store(&p);
    if (outcome == ENGINE_MET && !(given && known)) outcome = look_at_rank(&p, &rank);
    report->iterations += p.used;
    report->rank += rank;
    if (stage > report->stage) report->stage = stage;
    level_problem_free(&p);
    return outcome;
}

/* First what binds preferred unknowns, then the rest for free unknowns alone. ENGINE_STALLED if
 * that does not work. `held` is changed. */
static engine_outcome solve_parts(level_work *work, const bool *core, const bool *settled,
                                  bool *held, level_report *report)
{
    const dae_tag *tag = work->request->tag;
    bool any = false;
    for (int i = 0; i < work->system->m; i++) any = any || core[i];
    engine_outcome outcome = any ? solve_part(work, core, true, held, report) : ENGINE_MET;
    for (int j = 0; j < work->system->n; j++) held[j] = tag[j] != DAE_TAG_FREE || settled[j];
    return outcome == ENGINE_MET ? solve_part(work, core, false, held, report) : outcome;
}

/* Work space of solve_all, and which rows and free unknowns belong together. */
typedef struct parts {
    bool *core, *settled, *held, *held_now;
    double *before;
    int others; /* rows that free unknowns meet */
} parts;

static void parts_free(parts *t)
{
    dae_free_all(t->core, t->settled, t->held, t->held_now, t->before);
}

static bool parts_new(parts *t, const level_work *work)
{
    const int n = work->system->n;
    *t = (parts){0};
    t->core = DAE_ARRAY(bool, work->system->m);
    t->settled = DAE_ARRAY(bool, n);
    t->held = DAE_ARRAY(bool, n);
    t->held_now = DAE_ARRAY(bool, n);
    t->before = DAE_ARRAY(double, n);
    if (!t->core || !t->settled || !t->held || !t->held_now || !t->before) return false;
    for (int j = 0; j < n; j++) t->held[j] = work->request->tag[j] == DAE_TAG_FIXED;
    t->others = level_split(work->system, work->request->tag, t->core, t->settled);
    return t->others >= 0;
}

/* All equations from work->u in parts, so that preferred unknowns move only for equations that free
 * ones cannot meet. */
static engine_outcome solve_in_parts(level_work *work, parts *t, level_report *report)
{
    const int n = work->system->n;
    report->rank = 0;
    report->in_parts = true;
    vector_copy(n, work->u, t->before);
    memcpy(t->held_now, t->held, (size_t)n * sizeof *t->held);
    engine_outcome outcome = solve_parts(work, t->core, t->settled, t->held_now, report);
    if (outcome == ENGINE_STALLED || outcome == ENGINE_UNDEFINED)
        vector_copy(n, t->before, work->u);
    return outcome;
}

/* All equations from work->u at once. */
static engine_outcome solve_at_once(level_work *work, parts *t, level_report *report)
{
    report->rank = 0;
    report->in_parts = false;
    return solve_part(work, NULL, true, t->held, report);
}

/* All equations from work->u: in parts if possible, else at once. */
static engine_outcome solve_all(level_work *work, parts *t, level_report *report)
{
    engine_outcome outcome = ENGINE_STALLED;
    if (t->others > 0) outcome = solve_in_parts(work, t, report);
    bool failed = outcome == ENGINE_STALLED || outcome == ENGINE_UNDEFINED;
    return failed ? solve_at_once(work, t, report) : outcome;
}

/* rank[i] = the highest rank among the unknowns of equation i. */
static void rank_rows(const level_work *work, int *rank)
{
    const level_system *system = work->system;
    const level_request *q = work->request;
    for (int i = 0; i < system->m; i++) rank[i] = INT_MIN;
    for (int j = 0; j < system->n; j++)
        for (int e = system->colptr[j]; e < system->colptr[j + 1]; e++)
            if (q->rank[j] > rank[system->rowind[e]]) rank[system->rowind[e]] = q->rank[j];
}

/* The least rank above `floor`; INT_MAX: none. */
static int next_rank(const level_work *work, int floor)
{
    int least = INT_MAX;
    for (int j = 0; j < work->system->n; j++) {
        int rank = work->request->rank[j];
        if (rank > floor && rank < least) least = rank;
    }
    return least;
}

/* Rank by rank the equations that have no unknown of a higher one, as long as that works: the
 * values found are then what others stay near to. [Pryce01] solves in this order, too. */
static engine_outcome solve_ranks(level_work *work, level_report *report)
{
    const int n = work->system->n, m = work->system->m;
    int *row_rank = DAE_ARRAY(int, m);
    bool *rows = DAE_ARRAY(bool, m), *held = DAE_ARRAY(bool, n);
    double *before = DAE_ARRAY(double, n);
    engine_outcome outcome = row_rank && rows && held && before ? ENGINE_MET : ENGINE_MEMORY;
    if (outcome == ENGINE_MET) rank_rows(work, row_rank);
    for (int rank = INT_MIN; outcome == ENGINE_MET && (rank = next_rank(work, rank)) < INT_MAX;) {
        for (int i = 0; i < m; i++) rows[i] = row_rank[i] == rank;
        for (int j = 0; j < n; j++)
            held[j] = work->request->tag[j] == DAE_TAG_FIXED || work->request->rank[j] != rank;
        vector_copy(n, work->u, before);
        outcome = solve_part(work, rows, true, held, report);
        vector_copy(n, outcome == ENGINE_MET ? work->u : before, work->u);
    }
    if (outcome == ENGINE_MET || outcome == ENGINE_STALLED || outcome == ENGINE_UNDEFINED) {
        vector_copy(n, work->u, work->origin);
        outcome = ENGINE_MET;
    }
    dae_free_all(row_rank, rows, held, before);
    return outcome;
}

/* Hold preferred unknowns that hardly moved at their given values; returns how many were moved
 * back.
 */
static int hold_unmoved(level_work *work, bool *held)
{
    int back = 0;
    for (int j = 0; j < work->system->n; j++) {
        double way = fabs(work->u[j] - work->origin[j]);
        if (work->request->tag[j] != DAE_TAG_GUESS) continue;
        if (way > UNMOVED * work->request->scale[j]) continue;
        if (way > level_allowed(work->request, j, work->u[j])) continue;
        held[j] = true;
        work->u[j] = work->origin[j];
        back += way > 0.0;
    }
    return back;
}

/* Put preferred values back that moved by rounding errors only, if the others can make up for it:
 * else work->u stays. */
static engine_outcome put_back(level_work *work, parts *t, level_report *report)
{
    const int n = work->system->n;
    level_report second = {0};
    double *solution = dae_copy(work->u, (size_t)n, sizeof *work->u);
    if (!solution) return ENGINE_MEMORY;
    engine_outcome outcome = ENGINE_MET;
    if (hold_unmoved(work, t->held) > 0) {
        outcome = solve_all(work, t, &second);
        bool near = outcome == ENGINE_MET;
        for (int j = 0; j < n && near; j++)
            near = fabs(work->u[j] - solution[j]) <=
                   FOLLOWING * fmax(work->request->scale[j], fabs(solution[j]));
        if (!near) vector_copy(n, solution, work->u);
        report->iterations += second.iterations;
    }
    dae_free(solution);
    return outcome == ENGINE_UNDEFINED || outcome == ENGINE_STALLED ? ENGINE_MET : outcome;
}

/* The end: residual and derivatives; the rank, if no stage has found it. */
static engine_outcome evaluate_end(level_problem *p, level_report *report)
{
    for (int j = 0; j < p->n; j++) p->u[j] = p->work->u[p->column[j]];
    engine_outcome outcome = level_residual(p, p->u, p->r);
    if (outcome == ENGINE_MET && report->stage == LEVEL_GIVEN)
        outcome = look_at_rank(p, &report->rank);
    else if (outcome == ENGINE_MET)
        outcome = level_jacobian(p, p->u);
    return outcome;
}

/* What there is to report; `known`: evaluated. */
static engine_outcome finish(level_problem *p, bool known, level_report *report)
{
    engine_outcome outcome = known ? ENGINE_MET : evaluate_end(p, report);
    report->redundant = p->m - report->rank;
    report->residual = level_misfit(p, p->r);
    return outcome;
}

/* How a solve may go about it. */
typedef engine_outcome (*solve_way)(level_work *work, parts *t, level_report *report);

/* All stages for the whole system; the solution, or the least squares solution, is left in work->u.
 */
static engine_outcome solve_whole(level_work *work, parts *t, solve_way way, level_report *report)
{
    level_problem p;
    engine_outcome outcome = ENGINE_MET;
    bool known;
    if (!part_problem(&p, work, NULL, true, t->held)) return ENGINE_MEMORY;
    vector_zero(work->system->m, work->seen);
    vector_zero(work->system->m, work->first);
    vector_zero(work->system->m, work->rough);
    bool given = already_consistent(&p, &known);
    if (!given) {
        level_store(&p);
        outcome = way(work, t, report);
        if (outcome == ENGINE_MET) outcome = put_back(work, t, report);
    }
    if (outcome == ENGINE_MET) outcome = finish(&p, given && known, report);
    level_problem_free(&p);
    return outcome;
}

/* Rows that contain one unknown alone that is not yet `known`, which is not held then. Returns how
 * many there are. */
static int next_wave(const level_work *work, const bool *known, int *open, bool *rows, bool *held)
{
    const level_system *s = work->system;
    int count = 0;
    for (int i = 0; i < s->m; i++) open[i] = rows[i] = 0;
    for (int j = 0; j < s->n; j++)
        for (int e = s->colptr[j]; !known[j] && e < s->colptr[j + 1]; e++) open[s->rowind[e]]++;
    for (int j = 0; j < s->n; j++) {
        held[j] = true;
        for (int e = s->colptr[j]; !known[j] && held[j] && e < s->colptr[j + 1]; e++) {
            if (open[s->rowind[e]] != 1) continue;
            rows[s->rowind[e]] = true;
            held[j] = false;
            count++;
        }
    }
    return count;
}

/* Unknowns one after the other, from equations that contain no other one that is not known: r =
 * sqrt(x^2 + y^2) before 1/r^3. As far as that goes from values that are fixed, then with less sure
 * ones. ENGINE_MEMORY, ENGINE_STOP, or ENGINE_MET. */
static engine_outcome substitute(level_work *work)
{
    const int n = work->system->n, m = work->system->m;
    int *open = DAE_ARRAY(int, m);
    bool *rows = DAE_ARRAY(bool, m), *held = DAE_ARRAY(bool, n), *known = DAE_ARRAY(bool, n);
    double *before = DAE_ARRAY(double, n);
    bool ready = open && rows && held && known && before;
    engine_outcome outcome = ready ? ENGINE_MET : ENGINE_MEMORY;
    for (int sure = 2; ready && sure >= 0; sure--) {
        for (int j = 0; j < n; j++) known[j] = known[j] || level_surety(work->request, j) >= sure;
        while (next_wave(work, known, open, rows, held) > 0) {
            level_report passing = {0};
            vector_copy(n, work->u, before);
            outcome = solve_part(work, rows, true, held, &passing);
            if (engine_ends(outcome)) ready = false;
            if (outcome != ENGINE_MET) vector_copy(n, before, work->u);
            if (outcome != ENGINE_MET) break;
            for (int j = 0; j < n; j++) known[j] = known[j] || !held[j];
        }
    }
    dae_free_all(open, rows, held, known, before);
    return ready ? ENGINE_MET : outcome;
}

static bool unsolved(engine_outcome outcome)
{
    return outcome == ENGINE_STALLED || outcome == ENGINE_UNDEFINED;
}

/* Points to start from, and what the first solve of everything at once left behind. */
typedef struct attempts {
    double *start, *ordered, *failed; /* n each; start owns them */
    bool in_order;                    /* `ordered` is known */
    engine_outcome outcome;           /* of the failed one */
    level_report report;
} attempts;

/* work->u := values that follow one after the other from those at the start. */
static engine_outcome solve_in_order(level_work *work, attempts *a)
{
    const int n = work->system->n;
    vector_copy(n, a->start, work->u);
    engine_outcome outcome = ENGINE_MET;
    if (!a->in_order) {
        outcome = level_blocks(work);
        if (outcome == ENGINE_STALLED) outcome = substitute(work); /* too large for blocks */
        vector_copy(n, work->u, a->ordered);
        a->in_order = true;
    }
    vector_copy(n, a->ordered, work->u);
    return outcome;
}

/* From the start given, preferred unknowns where they are if that can be; then from values that
 * follow from it in the order of evaluation; then both with preferred unknowns that move. */
static engine_outcome solve_attempts(level_work *work, parts *t, attempts *a, level_report *report)
{
    enum { PARTS_ORDERED = 1, WHOLE_GIVEN = 2, WHOLE_ORDERED = 3, ATTEMPTS };
    const size_t bytes = (size_t)work->system->n * sizeof(double);
    const level_report fresh = *report;
    engine_outcome outcome = ENGINE_STALLED;
    for (int k = t->others > 0 ? 0 : WHOLE_GIVEN; k < ATTEMPTS && unsolved(outcome); k++) {
        bool ordered = k == PARTS_ORDERED || k == WHOLE_ORDERED;
        memcpy(work->u, a->start, bytes);
        outcome = ordered ? solve_in_order(work, a) : ENGINE_MET;
        if (outcome != ENGINE_MET) return outcome;
        outcome = k == WHOLE_ORDERED ? a->outcome : ENGINE_STALLED;
        if (ordered && memcmp(a->start, a->ordered, bytes) == 0) continue;
        *report = fresh;
        outcome = solve_whole(work, t, k < WHOLE_GIVEN ? solve_in_parts : solve_at_once, report);
        if (k != WHOLE_GIVEN) continue;
        memcpy(a->failed, work->u, bytes);
        a->outcome = outcome;
        a->report = *report;
    }
    if (!unsolved(outcome) || a->outcome == ENGINE_UNDEFINED) return outcome;
    memcpy(work->u, a->failed, bytes); /* what is to be explained */
    *report = a->report;
    return a->outcome;
}

/* The way of the values that were given, over their scales: what the request asks to be small. */
static double way_of_given(const level_work *work)
{
    const level_request *q = work->request;
    double sum = 0.0;
    for (int j = 0; j < work->system->n; j++) {
        double way = (work->u[j] - work->origin[j]) / q->scale[j];
        if (q->tag[j] == DAE_TAG_GUESS && !(q->open && q->open[j])) sum += way * way;
    }
    return sqrt(sum);
}

/* Add the rank of some rows at work->u to *sum. */
static engine_outcome add_rank(level_work *work, const bool *core, bool wanted, const bool *held,
                               int *sum)
{
    level_problem p;
    int rank = 0;
    if (!part_problem(&p, work, core, wanted, held)) return ENGINE_MEMORY;
    engine_outcome outcome = level_rank(&p, &rank);
    *sum += rank;
    level_problem_free(&p);
    return outcome;
}

/* *all: the equations leave no unknown free at work->u, solved in parts or at once: solutions are
 * apart from each other then. */
static engine_outcome determines_all(level_work *work, const parts *t, bool in_parts, bool *all)
{
    const dae_tag *tag = work->request->tag;
    const bool *core = in_parts ? t->core : NULL;
    int unknowns = 0, rank = 0;
    bool any = !core;
    for (int i = 0; core && i < work->system->m; i++) any = any || core[i];
    for (int j = 0; j < work->system->n; j++) {
        t->held[j] = tag[j] == DAE_TAG_FIXED;
        t->held_now[j] = tag[j] != DAE_TAG_FREE || t->settled[j];
        unknowns += !t->held[j];
    }
    engine_outcome outcome = any ? add_rank(work, core, true, t->held, &rank) : ENGINE_MET;
    if (outcome == ENGINE_MET && in_parts)
        outcome = add_rank(work, core, false, t->held_now, &rank);
    *all = rank >= unknowns;
    return outcome;
}

/* A solution at hand that is far from what was given: Newton's iteration from values that nobody
 * gave, 0 as a rule, may have led there, as out = limit(vin), vin = out/10 from (15, 0) to 0. What
 * follows from the given values in the order of evaluation may lead to a nearer one. */
static engine_outcome solve_nearer(level_work *work, parts *t, attempts *a, level_report *report)
{
    const int n = work->system->n;
    const double way = way_of_given(work);
    level_report nearer = {.other = -1};
    bool all = false;
    if (!(way > APART)) return ENGINE_MET;
    engine_outcome outcome = determines_all(work, t, report->in_parts, &all);
    if (outcome != ENGINE_MET || !all) return unsolved(outcome) ? ENGINE_MET : outcome;
    vector_copy(n, work->u, a->failed);
    outcome = solve_in_order(work, a);
    if (outcome == ENGINE_MET) outcome = solve_whole(work, t, solve_at_once, &nearer);
    bool found = outcome == ENGINE_MET && way_of_given(work) < NEARER * way;
    if (found)
        *report = nearer;
    else
        vector_copy(n, a->failed, work->u);
    return unsolved(outcome) ? ENGINE_MET : outcome;
}

/* Newton's iteration has gone far from guesses: a solution near them, if there is one. */
static engine_outcome solve_along(level_work *work, parts *t, attempts *a, level_report *report)
{
    enum { LARGEST = 300 };
    bool all = false;
    if (work->system->n > LARGEST || !level_left(work, a->start)) return ENGINE_MET;
    engine_outcome outcome = determines_all(work, t, report->in_parts, &all);
    if (outcome != ENGINE_MET || !all) return unsolved(outcome) ? ENGINE_MET : outcome;
    outcome = level_nearest(work, t->held, a->start, report);
    if (outcome != ENGINE_MET) return outcome;
    return determines_all(work, t, report->in_parts, &all); /* the Jacobian is that of work->u */
}

static engine_outcome solve_from_somewhere(level_work *work, parts *t, level_report *report)
{
    const size_t n = (size_t)work->system->n;
    attempts a = {.start = DAE_ARRAY(double, 3 * n)};
    if (!a.start) return ENGINE_MEMORY;
    a.ordered = a.start + n;
    a.failed = a.start + 2 * n;
    vector_copy((int)n, work->u, a.start);
    engine_outcome outcome = solve_attempts(work, t, &a, report);
    if (outcome == ENGINE_MET && !a.in_order) outcome = solve_nearer(work, t, &a, report);
    if (outcome == ENGINE_MET) outcome = solve_along(work, t, &a, report);
    dae_free(a.start);
    return outcome;
}

/* The irreducible conflict, told; or the equations that remain worst. */
static dae_status explain_conflict(level_work *work, level_report *report, dae_diag *diag)
{
    double *instead = NULL;
    engine_outcome outcome = ENGINE_STALLED;
    if (!work->request->unexplained) outcome = level_conflict(work, report, &instead);
    dae_status status = DAE_ERR_INITIAL;
    if (outcome == ENGINE_MET || outcome == ENGINE_STALLED)
        work->system->residual(work->system->user, work->u, work->r);
    if (outcome == ENGINE_MET) {
        status = level_conflict_message(work, report, instead, diag);
    } else {
        status = level_failure(work, outcome, diag);
        level_report_free(report);
    }
    dae_free(instead);
    return status;
}

dae_status levels_solve(const level_system *system, const level_request *request, double *u,
                        level_report *report, dae_diag *diag)
{
    level_work work;
    parts t = {0};
    *report = (level_report){.other = -1};
    diag_clear(diag);
    bool ready = level_work_new(&work, system, request, u) && parts_new(&t, &work);
    engine_outcome outcome = ready ? ENGINE_MET : ENGINE_MEMORY;
    if (ready && request->rank) outcome = solve_ranks(&work, report);
    if (outcome == ENGINE_MET) outcome = solve_from_somewhere(&work, &t, report);
    if (outcome == ENGINE_MET) outcome = level_another(&work, report);
    if (outcome == ENGINE_MET || outcome == ENGINE_UNDEFINED) vector_copy(system->n, work.u, u);
    dae_status status = outcome == ENGINE_STALLED ? explain_conflict(&work, report, diag)
                                                  : level_failure(&work, outcome, diag);
    parts_free(&t);
    level_work_free(&work);
    return status;
}
