/* Whether there is another solution where the search had to leave its start. */
#include "base/memory.h"
#include "base/vector.h"
#include "init/levels_parts.h"

static const double APART = 1e-3;   /* two solutions differ by more than this, relative */
static const double NOTHING = 1e-9; /* at events values below this part of their scales are zero */
static const double MATTERS = 1e-8; /* part of a row's largest term that counts */

/* Whether the value of unknown j matters: it moves a row by a part of its largest term. The
 * Jacobian is that at work->u. */
static bool matters(const level_work *work, const double *term, int j)
{
    const level_system *s = work->system;
    for (int e = s->colptr[j]; e < s->colptr[j + 1]; e++)
        if (fabs(work->values[e] * work->u[j]) > MATTERS * term[s->rowind[e]]) return true;
    return false;
}

/* term_i = max_j |dR_i/du_j u_j| */
static void largest_terms(const level_work *work, double *term)
{
    const level_system *s = work->system;
    vector_zero(s->m, term);
    for (int j = 0; j < s->n; j++)
        for (int e = s->colptr[j]; e < s->colptr[j + 1]; e++)
            term[s->rowind[e]] = fmax(term[s->rowind[e]], fabs(work->values[e] * work->u[j]));
}

/* What a look for another solution needs. */
typedef struct other_look {
    int *rows, count;
    bool *held, *turned;
    double *term, *solution;
} other_look;

static void other_look_free(other_look *l)
{
    dae_free_all(l->rows, l->held, l->turned, l->term, l->solution);
}

static bool other_look_new(other_look *l, const level_work *work)
{
    const int n = work->system->n, m = work->system->m;
    *l = (other_look){.rows = DAE_ARRAY(int, m), .term = DAE_ARRAY(double, m)};
    l->held = DAE_ARRAY(bool, n);
    l->turned = DAE_ARRAY(bool, n);
    l->solution = dae_copy(work->u, (size_t)n, sizeof *work->u);
    return l->rows && l->term && l->held && l->turned && l->solution;
}

/* The values that the search had displaced, with their signs turned round: whether there are any.
 */
static bool turn_round(level_work *work, other_look *l)
{
    const level_request *q = work->request;
    bool any = false;
    largest_terms(work, l->term);
    for (int j = 0; j < work->system->n; j++) {
        l->held[j] = level_surety(q, j) > 0 || (q->tag[j] == DAE_TAG_GUESS && !work->displaced[j]);
        l->turned[j] = !l->held[j] && work->displaced[j] && matters(work, l->term, j);
        any = any || l->turned[j];
    }
    for (int j = 0; j < work->system->n; j++)
        if (l->turned[j]) work->u[j] = -work->u[j];
    for (int i = 0; i < work->system->m; i++) l->rows[l->count++] = i;
    return any && l->count > 0;
}

static bool any_displaced(const level_work *work)
{
    for (int j = 0; j < work->system->n; j++)
        if (work->displaced[j]) return true;
    return false;
}

/* Where the search left its start because that was singular there, a solution on the other side is
 * as good: look whether there is one. Only unknowns that nobody gave are looked at. */
engine_outcome level_another(level_work *work, level_report *report)
{
    if (!any_displaced(work)) return ENGINE_MET;
    const int n = work->system->n;
    level_problem p;
    other_look l;
    engine_outcome outcome = other_look_new(&l, work) ? ENGINE_STALLED : ENGINE_MEMORY;
    if (outcome == ENGINE_STALLED && turn_round(work, &l)) {
        bool ready = level_problem_new(&p, work, l.count, l.rows, l.held);
        outcome = ready ? level_newton(&p, LEVEL_RANK) : ENGINE_MEMORY;
        if (outcome == ENGINE_MET) level_store(&p);
        if (ready) level_problem_free(&p);
    }
    for (int j = 0; outcome == ENGINE_MET && j < n && report->other < 0; j++) {
        double way = fabs(work->u[j] - l.solution[j]);
        double least = work->request->rank ? NOTHING * work->request->scale[j] : 0.0;
        if (!l.turned[j] || way <= fmax(APART * fabs(l.solution[j]), least)) continue;
        report->other = j;
        report->other_u = dae_copy(work->u, (size_t)n, sizeof *work->u);
        if (!report->other_u) outcome = ENGINE_MEMORY;
    }
    if (l.solution) vector_copy(n, l.solution, work->u);
    other_look_free(&l);
    return engine_ends(outcome) ? outcome : ENGINE_MET;
}
