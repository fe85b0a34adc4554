/* What the data say of the parameters: errors, correlations, and directions that they do not see.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/vector.h"
#include "solve/fit/fit_parts.h"

/* A parameter with this part in directions that are not seen is named. */
static const double TAKES_PART = 0.1;

/* Covariance of the scaled parameters over the directions that are seen: V S^-2 V'. */
static double covariance(const rank_split *s, int i, int j)
{
    double sum = 0.0;
    for (int d = 0; d < s->rank; d++)
        sum += s->V[d * s->columns + i] * s->V[d * s->columns + j] / (s->sigma[d] * s->sigma[d]);
    return sum;
}

/* Part of the scaled parameters i and j in directions that are not seen: an entry of the projector,
 * which does not depend on how these directions are chosen. */
static double unseen(const rank_split *s, int i, int j)
{
    double sum = 0.0;
    for (int d = s->rank; d < s->columns; d++)
        sum += s->V[d * s->columns + i] * s->V[d * s->columns + j];
    return sum;
}

/* Parameters that no data see at all, each with the reason. */
static void tell_blind(const fit *q, dae_fit_result *r)
{
    size_t at = strlen(r->text);
    for (int k = 0; k < q->count; k++) {
        char why[260];
        const char *name = q->request.parameters[k].name;
        const double length = q->effect[k], open = fit_open(q);
        if (!q->blind[k]) continue;
        r->unidentified[k] = true;
        if (length > 0.0)
            snprintf(why, sizeof why,
                     " has no effect on the data: twice its value would move them by %.1g of their "
                     "size, and the runs are accurate to %.1g. It stays at %g: begin with another "
                     "size, take tighter tolerances, or measure something that it moves.",
                     length, open, q->x[k]);
        else
            snprintf(why, sizeof why,
                     " has no effect on the data: measure something that it moves. It stays at %g.",
                     q->x[k]);
        at = text_append(r->text, sizeof r->text, at, at ? " " : "", 1);
        at = text_append(r->text, sizeof r->text, at, name, 60);
        at = text_append(r->text, sizeof r->text, at, why, sizeof why);
    }
}

/* Parameters that make up for each other with parameter `first`, which is in no group yet. */
static void gather(const rank_split *s, int first, int group, int *groups)
{
    groups[first] = group;
    for (bool more = true; more;) {
        more = false;
        for (int i = 0; i < s->columns; i++)
            for (int j = 0; j < s->columns && !groups[i]; j++)
                if (groups[j] == group && fabs(unseen(s, i, j)) >= TAKES_PART * TAKES_PART)
                    groups[i] = group, more = true;
    }
}

static void tell_group(const fit *q, const fit_split *s, const int *groups, int group,
                       dae_fit_result *r)
{
    size_t at = strlen(r->text);
    double less = 0.0;
    int named = 0;
    char why[160];
    for (int c = 0; c < s->count; c++) {
        if (groups[c] != group) continue;
        less += unseen(&s->of, c, c);
        r->unidentified[s->at[c]] = true;
        const char *name = q->request.parameters[s->at[c]].name;
        at = text_append(r->text, sizeof r->text, at, named++ ? ", " : at ? " " : "", 2);
        at = text_append(r->text, sizeof r->text, at, name, 60);
    }
    const int count = (int)(less + 0.5);
    if (count > 1)
        snprintf(why, sizeof why,
                 " cannot be told apart: the data see %d combinations less of them. Fix %d, or "
                 "measure more.",
                 count, count);
    else
        snprintf(why, sizeof why,
                 " cannot be told apart: the data see one combination less of them. Fix one, or "
                 "measure more.");
    text_append(r->text, sizeof r->text, at, why, sizeof why);
}

/* Name the parameters of every combination that is not seen. False: memory. */
static bool tell_unseen(const fit *q, const fit_split *s, dae_fit_result *r)
{
    int *groups = DAE_ARRAY(int, s->count);
    if (!groups) return false;
    for (int c = 0, group = 0; c < s->count; c++) {
        if (groups[c] || unseen(&s->of, c, c) < TAKES_PART * TAKES_PART) continue;
        gather(&s->of, c, ++group, groups);
        tell_group(q, s, groups, group, r);
    }
    dae_free(groups);
    return true;
}

static void tell_values(const fit *q, dae_fit_result *r)
{
    vector_copy(q->count, q->x, r->values);
    r->cost = q->cost;
    r->runs = q->runs;
    r->observations = q->rows;
    for (int k = 0; k < q->count; k++)
        r->at_bound[k] = q->x[k] <= q->lower[k] || q->x[k] >= q->upper[k];
}

static bool has_sigmas(const fit *q)
{
    for (int d = 0; d < q->request.data_count; d++)
        if (!q->request.data[d].sigma && !q->request.data[d].column_sigma) return false;
    return true;
}

/* Nothing is left over by which errors could be told. */
static void tell_exact(dae_fit_result *r)
{
    static const char why[] =
        "There are no more data than combinations of parameters that they fix: they are met "
        "exactly, and nothing tells errors. Give standard deviations, or more data.";
    size_t at = text_append(r->text, sizeof r->text, strlen(r->text), *r->text ? " " : "", 1);
    text_append(r->text, sizeof r->text, at, why, sizeof why);
}

/* Without derivatives at the point nothing is known but the point. */
static dae_status report_point(const fit *q, dae_fit_result *r)
{
    tell_values(q, r);
    r->sigma = NAN;
    for (int i = 0; i < q->count; i++) r->errors[i] = NAN;
    for (int i = 0; i < q->count * q->count; i++) r->correlation[i] = NAN;
    return DAE_OK;
}

/* Errors of the parameters that are seen, and correlations between them. */
static void tell_errors(const fit *q, const fit_split *s, dae_fit_result *r)
{
    const int n = q->count;
    const double by = has_sigmas(q) ? 1.0 : r->sigma;
    for (int k = 0; k < n; k++) r->errors[k] = INFINITY;
    for (int i = 0; i < s->count; i++) {
        const double own = covariance(&s->of, i, i);
        const int k = s->at[i];
        if (!r->unidentified[k]) r->errors[k] = by * sqrt(own) / s->unit[i];
        for (int j = 0; j < s->count; j++) {
            double other = covariance(&s->of, j, j), both = sqrt(own * other);
            r->correlation[k * n + s->at[j]] = both > 0.0 ? covariance(&s->of, i, j) / both : 0.0;
        }
    }
}

dae_status fit_report(const fit *q, dae_fit_result *r, dae_diag *diag)
{
    if (!q->sloped) return report_point(q, r);
    fit_split s;
    if (!fit_split_new(&s, q, NULL))
        return diag_set(diag, DAE_ERR_MEMORY, "Out of memory for a fit.");
    tell_values(q, r);
    r->rank = s.of.rank;
    if (r->rank == 0 && r->end == DAE_FIT_CONVERGED) r->end = DAE_FIT_STUCK;
    double sum = vector_dot(q->rows, q->weighted_r, q->weighted_r);
    r->sigma = q->rows > r->rank ? sqrt(sum / (q->rows - r->rank)) : (double)NAN;
    tell_blind(q, r);
    bool ok = tell_unseen(q, &s, r);
    if (r->rank > 0 && q->rows <= r->rank && !has_sigmas(q)) tell_exact(r);
    tell_errors(q, &s, r);
    fit_split_free(&s);
    return ok ? DAE_OK : diag_set(diag, DAE_ERR_MEMORY, "Out of memory for a fit.");
}
