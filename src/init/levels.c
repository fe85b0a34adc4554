/* Consistent values over all constraint levels: given, Newton, Gauss-Newton, homotopy; then the
 * conflict. */
#include "init/levels.h"

#include "base/diag.h"
#include "base/memory.h"
#include "base/vector.h"
#include "init/levels_parts.h"

static const double UNMOVED = 1e-10;   /* preferred values that moved less, in scales, need not */
static const double FOLLOWING = 1e-8;  /* what others may move in exchange */
static const double RANK = 1e-11;

void level_report_free(level_report *report)
{
    dae_free(report->equation);
    dae_free(report->fixed);
    report->equation = report->fixed = NULL;
    report->equation_count = report->fixed_count = 0;
}

/* The problem of all equations with `held` unknowns standing still, from work->u. */
static bool whole_problem(level_problem *p, level_work *work, const bool *held)
{
    const int m = work->system->m;
    int *rows = DAE_ARRAY(int, m);
    if (!rows) return false;
    for (int i = 0; i < m; i++) rows[i] = i;
    bool ok = level_problem_new(p, work, m, rows, held);
    dae_free(rows);
    return ok;
}

/* Whether preferred unknowns are where they were given and all rows are met. */
static bool already_consistent(level_problem *p)
{
    for (int j = 0; j < p->n; j++)
        if (p->preferred[j] && p->u[j] != p->work->origin[p->column[j]]) return false;
    if (level_residual(p, p->u, p->r) != LEVEL_MET) return false;
    if (level_jacobian(p, p->u) != LEVEL_MET) return false;
    return level_misfit(p, p->r) <= p->work->tolerance;
}

/* Hold preferred unknowns that hardly moved at their given values; returns how many were moved back.
 */
static int hold_unmoved(const level_problem *p, bool *held)
{
    level_work *work = p->work;
    int back = 0;
    for (int j = 0; j < p->n; j++) {
        int c = p->column[j];
        double way = fabs(p->u[j] - work->origin[c]);
        if (!p->preferred[j] || way > UNMOVED * work->request->scale[c]) continue;
        held[c] = true;
        work->u[c] = work->origin[c];
        back += way > 0.0;
    }
    return back;
}

/* Put preferred values back that moved by rounding errors only, if the others can make up for it.
 */
static level_outcome put_back(level_problem *p, bool *held, double *before)
{
    level_work *work = p->work;
    const int n = work->system->n;
    level_problem q;
    level_store(p);
    vector_copy(n, work->u, before);
    if (hold_unmoved(p, held) == 0) return LEVEL_MET;
    if (!whole_problem(&q, work, held)) return LEVEL_NO_MEMORY;
    level_outcome outcome = level_newton(&q, RANK);
    bool near = outcome == LEVEL_MET;
    if (near) level_store(&q);
    for (int j = 0; j < n && near; j++)
        near = fabs(work->u[j] - before[j]) <=
               FOLLOWING * fmax(work->request->scale[j], fabs(before[j]));
    if (!near) vector_copy(n, before, work->u);
    level_problem_free(&q);
    for (int j = 0; j < p->n; j++) p->u[j] = work->u[p->column[j]];
    return outcome == LEVEL_UNDEFINED || outcome == LEVEL_STALLED ? LEVEL_MET : outcome;
}

/* Residual and rank at the end. */
static level_outcome finish(level_problem *p, level_report *report)
{
    level_outcome outcome = level_rank(p, &report->rank);
    if (outcome != LEVEL_MET) return outcome;
    report->redundant = p->m - report->rank;
    outcome = level_residual(p, p->u, p->r);
    report->residual = level_misfit(p, p->r);
    return outcome;
}

/* All stages for the whole system; the solution is left in work->u. */
static level_outcome solve_whole(level_problem *p, bool *held, level_report *report)
{
    level_outcome outcome = LEVEL_MET;
    if (already_consistent(p)) {
        report->stage = LEVEL_GIVEN;
    } else {
        double *before = DAE_ARRAY(double, p->work->system->n);
        outcome = before ? level_stages(p, &report->stage) : LEVEL_NO_MEMORY;
        if (outcome == LEVEL_MET) outcome = put_back(p, held, before);
        dae_free(before);
    }
    level_store(p);
    report->iterations = p->used;
    return outcome == LEVEL_MET ? finish(p, report) : outcome;
}

/* The irreducible conflict, told. */
static dae_status explain_conflict(level_work *work, level_report *report, dae_diag *diag)
{
    double *instead = NULL;
    level_outcome outcome = level_conflict(work, report, &instead);
    dae_status status = DAE_ERR_INITIAL;
    if (outcome == LEVEL_MET) {
        work->system->residual(work->system->user, work->u, work->r);
        status = level_conflict_message(work, report, instead, diag);
    } else {
        status = level_failure(work, outcome, diag);
        level_report_free(report);
    }
    dae_free(instead);
    return status;
}

static dae_status solve(level_work *work, bool *held, double *u, level_report *report,
                        dae_diag *diag)
{
    level_problem p;
    const int n = work->system->n;
    for (int j = 0; j < n; j++) held[j] = work->request->tag[j] == DAE_TAG_FIXED;
    if (!whole_problem(&p, work, held)) return level_failure(work, LEVEL_NO_MEMORY, diag);
    level_outcome outcome = solve_whole(&p, held, report);
    if (outcome == LEVEL_STALLED) report->residual = level_misfit(&p, p.r);
    level_problem_free(&p);
    if (outcome == LEVEL_MET) vector_copy(n, work->u, u);
    return outcome == LEVEL_STALLED ? explain_conflict(work, report, diag)
                                    : level_failure(work, outcome, diag);
}

dae_status levels_solve(const level_system *system, const level_request *request, double *u,
                        level_report *report, dae_diag *diag)
{
    level_work work;
    *report = (level_report){0};
    diag_clear(diag);
    bool ready = level_work_new(&work, system, request, u);
    bool *held = DAE_ARRAY(bool, system->n);
    dae_status status = ready && held ? solve(&work, held, u, report, diag)
                                      : level_failure(&work, LEVEL_NO_MEMORY, diag);
    dae_free(held);
    level_work_free(&work);
    return status;
}
